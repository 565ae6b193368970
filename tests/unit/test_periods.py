"""The course over days, weeks and other periods: trends, breaks, weekdays, and the sentences about them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from frame_metrics import IRM
from frame_metrics.backends.times import time_of
from frame_metrics.stats.periods import Periods, course
from helpers import as_polars

FIRST = date(2026, 6, 1)  # a Monday
WEEKEND = np.array([0, 0, 0, 0, 0, 1.0, 1.5])


def periods(values: Any, *, days: bool = False, ends: Any = None) -> Periods:
    n = len(values)
    return Periods(np.asarray(values, float), np.arange(n, dtype=float), np.arange(n) % 7 if days else None, ends)


def log_of(values: Any, many: Any = 10, step: int = 1) -> pl.DataFrame:
    """Queries of days, all those of a day with the value of the day."""
    many = np.broadcast_to(many, len(values))
    days = [FIRST + timedelta(days=step * i) for i in range(len(values))]
    rows = [
        (f"{i}-{j}", day, float(value))
        for i, (day, value, n) in enumerate(zip(days, values, many, strict=True))
        for j in range(n)
    ]
    return pl.DataFrame(rows, ["query", "day", "rr"], orient="row")


def told(frame: Any, **roles: Any) -> list[str]:
    """The sentences about time."""
    found = as_polars(IRM(frame, query="query", value="rr", **{"by": "day"} | roles).summary())
    return [
        row["sentence"]
        for row in found.rows(named=True)
        if row["kind"] in ("trend", "break", "trend or break", "outage", "absent")
    ]


# What is told


def test_a_trend_is_the_slope_of_the_means() -> None:
    """Its p-value is that of a line through the means; of few periods it is the only test."""
    values = [0.5, 0.48, 0.47, 0.41, 0.42, 0.38]
    found, line = course(periods(values)), stats.linregress(range(6), values)
    assert (found.kind, found.p) == ("trend", pytest.approx(line.pvalue))
    assert line.intercept > values[0]  # no end is farther out than any mean
    assert (found.before, found.after) == pytest.approx((values[0], line.intercept + 5 * line.slope))
    assert course(periods(values[:3])).kind == "none"
    assert course(periods([0.5] * 20)).kind == "none"
    assert course(periods([0.5, 0.48, 0.5, 0.49, 0.48, 0.5])).kind == "none"


def test_a_break_is_found_where_it_is() -> None:
    """The levels are the means before and from it on, and p counts permutations with a step as large."""
    rng = np.random.default_rng(0)
    values = np.where(np.arange(20) < 13, 0.5, 0.4) + rng.normal(0, 0.02, 20)
    found = course(periods(values))
    assert (found.kind, found.cut) == ("break", 13)
    assert (found.before, found.after) == pytest.approx((values[:13].mean(), values[13:].mean()))
    assert 2 / 2001 <= found.p < 0.01  # twice the least one of 2,000 permutations

    few = np.where(np.arange(20) < 10, 0.5, 0.487) + rng.normal(0, 0.02, 20)
    drawn = np.stack([few, *(rng.permutation(few) for _ in range(400))])
    before = np.cumsum(drawn, axis=1)[:, 2:17]
    n, rest = np.arange(3, 18), drawn.sum(axis=1, keepdims=True) - before
    far = np.abs((rest / (20 - n) - before / n) * np.sqrt(n * (20 - n) / 20)).max(axis=1)
    share = np.mean(far[1:] >= far[0])
    own = course(periods(few))
    assert own.kind == "none"
    assert share > 0.025  # which is why


def test_weekdays_are_no_break_and_hide_none() -> None:
    """Days are judged beside their weekday: a weekend is no change, and a fall beside large weekends is found."""
    rng = np.random.default_rng(1)
    pattern = WEEKEND[np.arange(28) % 7]
    noise = rng.normal(0, 0.1, 28)
    assert course(periods(pattern + noise, days=True)).kind == "none"
    found = course(periods(pattern + noise - 0.3 * (np.arange(28) >= 17), days=True))
    assert (found.kind, found.cut) == ("break", 17)
    assert found.after - found.before == pytest.approx(-0.3, abs=0.1)
    assert course(periods(pattern + noise - 0.3 * (np.arange(28) >= 17))).kind != "break"


def test_of_neighbours_that_move_together_nothing_is_told() -> None:
    """A slow wave is no break and no trend, though it would be one of independent periods."""
    wave = np.sin(np.arange(24) / 6) + np.random.default_rng(2).normal(0, 0.1, 24)
    assert course(periods(wave)).kind == "together"
    assert course(periods(np.random.default_rng(2).permutation(wave))).kind == "none"


@pytest.mark.parametrize(("begin", "end"), [(30, 31), (20, 23), (20, 34), (20, 40), (58, 60)])
def test_an_outage_is_found_from_its_first_to_its_last_day(begin: int, end: int) -> None:
    """Also a single day, and the last two; it has to be beyond the scatter of queries, and is no break."""
    rng = np.random.default_rng(0)
    at = np.arange(60)
    values = WEEKEND[at % 7] + rng.normal(0, 0.1, 60) - 1.0 * ((at >= begin) & (at < end))
    known, unsure = (np.stack([values - half, values + half]) for half in (0.1, 5))
    found = course(periods(values, days=True, ends=known))
    assert (found.kind, found.cut, found.end) == ("outage", begin, end)
    assert found.after - found.before == pytest.approx(-1, abs=0.15)
    assert found.p == pytest.approx(3 / 2001)  # three times the least one of 2,000 draws
    assert course(periods(values, days=True, ends=unsure)).kind != "outage"
    assert course(periods(values, days=True)).kind != "outage"


def test_an_outage_of_one_period_has_the_p_value_of_the_farthest_of_normal_numbers() -> None:
    """Of nine periods, of which three may be an outage, its t is that of a step against the other ones."""
    rng = np.random.default_rng(3)
    values = np.array([0.5, 0.51, 0.49, 0.5, 0.44, 0.5, 0.51, 0.49, 0.5])
    found = course(periods(values, ends=np.stack([values, values])))

    def farthest(rows: Any) -> Any:
        best = np.zeros(len(rows))
        for length in (1, 2, 3):
            for begin in range(9 - length + 1):
                if length < 3 or 0 < begin < 6:
                    inside = np.isin(np.arange(9), range(begin, begin + length))
                    gap = rows[:, inside].mean(axis=1) - rows[:, ~inside].mean(axis=1)
                    both = [rows[:, some] for some in (inside, ~inside)]
                    rest = sum(((one - one.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) for one in both)
                    best = np.maximum(best, np.abs(gap) / np.sqrt(rest / 7 * (1 / length + 1 / (9 - length))))
        return best

    assert (found.kind, found.cut, found.end) == ("outage", 4, 5)
    share = np.mean(farthest(rng.normal(size=(4000, 9))) >= farthest(values[None]) * 0.999)
    assert found.p == pytest.approx(3 * share, abs=0.01)


# Sentences


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-01-05", ("day", date(2026, 1, 5).toordinal())),
        ("2026-01-05 12:00:00", ("day", date(2026, 1, 5).toordinal() + 0.5)),
        ("2026-01-05T00:00:00+00:00", ("day", date(2026, 1, 5).toordinal())),
        ("2026-01-05/2026-01-11", ("day", date(2026, 1, 5).toordinal())),
        ("2026-W02", ("day", date(2026, 1, 5).toordinal())),
        ("2026-W02-3", ("day", date(2026, 1, 7).toordinal())),
        ("2026-03", ("month", 12 * 2026 + 3)),
        ("2026Q1", ("quarter", 4 * 2026 + 1)),
        ("2026-Q4", ("quarter", 4 * 2026 + 4)),
        *((text, None) for text in ("2026-13", "2026-W60", "2026", "mon", "", "1-2", "2026-02-30", "W2", "05/01/2026")),
        ("05.01.2026", ("day", date(2026, 1, 5).toordinal())),
        *(
            (text, ("day", date(2026, 1, 5).toordinal()))
            for text in ("2026-W2", "W2 2026", "week 2/2026", "KW 02, 2026")
        ),
        *((text, ("month", 12 * 2026 + 3)) for text in ("3/2026", "2026/03", "Mar 2026", "2026 march")),
        *((text, ("quarter", 4 * 2026 + 1)) for text in ("Q1 2026", "2026 q1", "Q1/2026")),
        ("H2 2026", ("half", 2 * 2026 + 2)),
    ],
)
def test_times_are_read(text: str, time: Any) -> None:
    """Days, times, weeks, months and quarters as text, and no other text."""
    assert time_of(text) == time


def test_the_day_of_a_break_is_named() -> None:
    """In dates, times, texts and pandas' periods, of any number of days, with both levels."""
    rng = np.random.default_rng(3)
    log = log_of(np.where(np.arange(60) < 40, 0.5, 0.25) + rng.normal(0, 0.01, 60))
    first = told(log)
    assert len(first) == 1
    fell = r"rr fell by 0\.2\d\d at or near 2026-07-11, from 0\.500 to 0\.250 "
    expected = fell + r"\(over 400 and 200 queries before and after; p < 0\.001\)\."
    assert re.fullmatch(expected, first[0])
    assert told(log.with_columns(pl.col("day").cast(pl.Datetime))) == first
    assert told(log.with_columns(pl.col("day").cast(pl.String))) == first
    pandas = log.to_pandas()
    assert told(pandas.assign(day=pandas["day"].astype("datetime64[ns]").dt.to_period("D"))) == first
    assert told(log.sample(fraction=1, shuffle=True, seed=1)) == first
    assert told(log.with_columns(pl.col("day").dt.strftime("day %j"))) != first


@pytest.mark.parametrize(("days", "weekend", "unlike"), [(22, 0.4, True), (28, 0.1, False)])
def test_levels_of_a_break_are_those_of_change(days: int, weekend: float, unlike: bool) -> None:
    """They are means over all queries, also of a partly filled day; a step that is another one by weekdays is told."""
    at, n = np.arange(days), np.where(np.arange(days) == days - 1, 4, 10)
    values = 0.5 + weekend * (at % 7 >= 5) + np.random.default_rng(3).normal(0, 0.01, days) - 0.2 * (at >= 17)
    log = log_of(values, n)
    (row,) = log.irm(query="query", value="rr", by="day").summary().filter(kind="break").to_dicts()
    arms = log.with_columns(side=(pl.col("day") >= date(2026, 6, 18)).cast(pl.String))
    (change,) = arms.irm(query="query", value="rr", arm="side").change("rr", baseline="false").to_dicts()
    for name in ("value", "baseline_value", "n", "baseline_n"):
        assert row[name] == pytest.approx(change[name])
    by, over = (r" by 0\.19\d on the same weekdays", " over all queries") if unlike else (r" by 0\.18\d", "")
    levels = f"from {row['baseline_value']:.3f} to {row['value']:.3f}{over}"
    words = rf"rr fell{by} at or near 2026-06-18, {levels} \(over 170 and {row['n']} queries before and after; p .*\)\."
    assert re.fullmatch(words, row["sentence"])


@pytest.mark.parametrize("metric", ["accuracy", "precision", "recall", "f1"])
def test_levels_of_shares_of_rows_are_those_of_change(metric: str) -> None:
    """Also where days have other numbers of rows; of what is no share of rows they are means over days."""
    rng, day = np.random.default_rng(0), np.repeat(np.arange(28), np.where(np.arange(28) % 4, 60, 120))
    label, right = rng.random(len(day)) < 0.4, rng.random(len(day)) < np.where(day < 17, 0.9, 0.6)
    rows = pl.DataFrame({"day": [FIRST + timedelta(days=int(i)) for i in day], "label": label, "guess": label == right})
    (row,) = rows.irm(label="label", predicted="guess", by="day").summary(metric).filter(kind="break").to_dicts()
    arms = rows.with_columns(side=(pl.col("day") >= date.fromisoformat(row["of"])).cast(pl.String))
    (change,) = arms.irm(label="label", predicted="guess", arm="side").change(metric, baseline="false").to_dicts()
    same = [row[name] == pytest.approx(change[name], abs=1e-9) for name in ("value", "baseline_value")]
    assert same == [metric != "f1"] * 2
    assert (", averaged over days " in row["sentence"]) == (metric == "f1")


def test_the_line_through_a_step_is_no_steeper_than_it_looks() -> None:
    """Of two weeks the slope beside weekdays is that of one week to the other, drawn out over both."""
    few = np.array([0.5, 0.51, 0.49, 0.5, 0.25, 0.24, 0.26, 0.25])
    found = course(periods(few))
    assert (found.kind, found.before, found.after) == ("trend", 0.51, 0.24)
    rng = np.random.default_rng(14)
    values = np.array([np.mean(rng.random(30) < (0.5 if day < 7 else 0.25)) for day in range(14)])
    found = course(periods(values, days=True))
    ends = np.polyval(np.polyfit(range(14), values, 1), [0, 13])
    assert (found.kind, (found.before, found.after)) == ("trend", pytest.approx(tuple(ends)))


def test_an_outage_is_said_from_when_to_when() -> None:
    """Of days and of weeks, low or high."""
    rng = np.random.default_rng(3)
    inside = (np.arange(30) >= 16) & (np.arange(30) < 18)
    scatter = 0.01 * (pl.int_range(pl.len()) % 2)  # of the queries of a day
    log = log_of(0.5 + rng.normal(0, 0.01, 30) - 0.2 * inside).with_columns(pl.col("rr") + scatter)
    (said,) = told(log)
    assert re.fullmatch(
        r"From 2026-06-17 to 2026-06-18 rr was 0\.2\d\d lower than on the same weekdays of all other weeks: 0\.\d+ "
        r"against 0\.\d+, averaged over days \(over 20 and 60 queries; p = 0\.001\)\.",
        said,
    )
    high = log_of(0.5 + rng.normal(0, 0.01, 30) + 0.2 * (np.arange(30) == 16))
    (one,) = told(high.with_columns(pl.col("rr") + scatter))
    assert one.startswith("On 2026-06-17 rr was 0.2")
    assert " higher than on the same weekdays of all other weeks: " in one
    week = log_of(0.5 + rng.normal(0, 0.01, 30) - 0.2 * (np.arange(30) == 16), step=7)
    (weekly,) = told(week.with_columns(pl.col("rr") + scatter, pl.col("day").dt.strftime("%G-W%V")))
    assert weekly.startswith("In 2026-W39 rr was 0.1")
    (weekly,) = told(week.with_columns(pl.col("rr") + scatter))
    assert weekly.startswith("In the period from 2026-09-21 rr was 0.1")


def test_levels_of_days_are_means_over_the_same_weekdays() -> None:
    """Working days of .9 beside weekends of .2 do not make the level of three working days of .04 negative."""
    weekday = np.where(np.arange(56) % 7 < 5, 0.9, 0.2)
    values = np.where(np.isin(np.arange(56), [21, 22, 23]), 0.04, weekday + 0.02 * (np.arange(56) * 7 % 5 - 2))
    found = course(periods(values, days=True, ends=np.stack([values, values])))
    assert (found.kind, found.cut, found.end) == ("outage", 21, 24)
    assert np.allclose([found.after, found.before], [0.04, 0.9])


def test_days_of_few_queries_are_no_outage() -> None:
    """The interval of a few queries that happen to agree is narrow."""
    rng = np.random.default_rng(1)
    n = np.where(np.arange(42) % 7 < 5, 40.0, 2.0)
    values = 0.5 + rng.normal(0, 0.2, 42) / np.sqrt(n)
    values[12] = 0.05
    half = 0.4 / np.sqrt(n)
    half[12] = 0.001
    ends = np.stack([values - half, values + half])
    assert course(replace(periods(values, days=True, ends=ends), n=n)).kind == "none"
    assert course(periods(values, days=True, ends=ends)).kind == "outage"


@pytest.mark.parametrize("begin", [6, 356])
def test_a_few_days_near_an_end_of_a_year_are_an_outage(begin: int) -> None:
    """They explain less of the scatter of 365 days than they would of 28."""
    values = 0.5 + np.random.default_rng(2).normal(0, 0.03, 365)
    values[begin : begin + 3] -= 0.2
    found = course(periods(values, days=True, ends=np.stack([values, values])))
    assert (found.kind, found.cut, found.end) == ("outage", begin, begin + 3)


def test_a_steady_fall_over_weeks_is_told() -> None:
    """Weeks as text, months, and dates a week apart have no weekdays; a line has its ends."""
    rng = np.random.default_rng(4)
    log = log_of(np.linspace(0.5, 0.3, 12) + rng.normal(0, 0.02, 12), step=7)
    (first,) = told(log)
    assert first.startswith("rr fell steadily, on a line from 0.4")
    assert first.endswith("(2026-06-01 to 2026-08-17; p < 0.001).")
    (weeks,) = told(log.with_columns(pl.col("day").dt.strftime("%G-W%V")))
    assert weeks == first.replace("2026-06-01", "2026-W23").replace("2026-08-17", "2026-W34")
    for lack in (3, 6):  # weeks that lack in the middle, in which it may have fallen at once
        later = (pl.col("day") > date(2026, 7, 10)).cast(pl.Int64) * lack * 7
        (gap,) = told(log.with_columns(day=pl.col("day") + pl.duration(days=later)))
        assert gap.startswith("rr fell" if lack == 6 else "rr fell steadily")
        end = ", steadily or at once, as nothing is known between 2026-07-06 and 2026-08-24." if lack == 6 else "."
        assert gap.endswith(f"001){end}")
    few = log_of(np.linspace(0.5, 0.3, 8) + rng.normal(0, 0.01, 8), step=7)
    (sudden,) = (one for one in told(few) if " on a line " in one)
    assert sudden.startswith("rr fell, on a line from 0.")
    assert sudden.endswith(
        "(2026-06-01 to 2026-07-20; p < 0.001), steadily or at once, which so few periods cannot tell."
    )


def test_part_filled_ends_are_left_out_and_few_days_are_too_few() -> None:
    """A last day of a few queries is no change, and the sentence says so; thirteen days are too few for weekdays."""
    rng = np.random.default_rng(5)
    values = 0.5 + rng.normal(0, 0.01, 29)
    values[-1] = 0.1
    many = np.full(29, 10)
    many[-1] = 3
    left_out = "2026-06-29 (day) is left out of the trend: it has 3 of the usual 10 queries."
    assert told(log_of(values, many)) == [left_out]
    devices = [log_of(values, many).with_columns(pl.col("query") + name, device=pl.lit(name)) for name in "ab"]
    assert told(pl.concat(devices), by=["day", "device"]) == [
        left_out.replace("3 of the usual 10", "6 of the usual 20")
    ]
    (few,) = told(log_of(values[:13]))
    assert few == "No trend is looked for: days differ by their weekday, and 13 are too few; 14 are needed."
    assert told(log_of(values[:3], step=7)) == []  # three weeks are segments like others


def test_neighbouring_days_that_do_not_move_together_are_not_said_to() -> None:
    """A fall of three days makes neighbours alike, though the other days are independent."""
    for seed in range(40):
        values = np.random.default_rng(seed).normal(0.5, 0.05, 56)
        values[21:24] -= 0.11
        found = course(periods(values, days=True, ends=np.stack([values, values])))
        if found.kind == "together":
            break
    assert (found.kind, found.correlated) == ("together", False)
    assert course(periods(0.5 + 0.1 * np.sin(np.arange(21) / 5), days=True)).correlated


def test_neighbouring_days_that_move_together_are_said() -> None:
    """The last week stands beside the one before, weekday by weekday, without a test."""
    values = 0.5 + 0.1 * np.sin(np.arange(21) / 5)
    together, beside = told(log_of(values))
    assert together.startswith("Not told from chance: a trend, a break or an outage; neighbouring days move together")
    assert beside.startswith("In the last 7 days, from 2026-06-15, rr is ")
    assert beside.endswith(f" than in the 7 days before: {values[7:14].mean():.3f}.")


def test_sums_have_no_trend() -> None:
    """They depend on how many queries a period has."""
    rows = {
        "query": range(120),
        "score": 1.0,
        "label": True,
        "day": [FIRST + timedelta(days=i % 20) for i in range(120)],
    }
    found = pl.DataFrame(rows).irm(query="query", score="score", label="label", by="day").summary("num_rel")
    assert not {"trend", "break", "trend or break"} & {*found["kind"]}


@pytest.mark.parametrize("form", ["2024-{:02}", "20{:02}Q1", "20{:02}-01-01"])
def test_months_and_years_have_no_weekday(form: str) -> None:
    """They are counted by ones as days are, and twelve of them are enough for a trend."""
    rng = np.random.default_rng(0)
    time = np.repeat([form.format(i) for i in range(1, 13)], 30)
    value = np.repeat(np.arange(12) / 50, 30) + rng.normal(0.4, 0.1, 360)
    said = pl.DataFrame({"query": range(360), "time": time, "ndcg": value}).irm(by="time", value="ndcg").summary()
    assert any(" rose steadily" in sentence for sentence in said["sentence"])


def found_by_week(shares: list[float], systems: int = 1) -> IRM:
    """Searches of weeks, of which such shares found something; of each system."""
    rows = [
        (f"2026-W{32 + at}", f"{at}-{i}", "abc"[system], float(i < share * 119))
        for system in range(systems)
        for at, share in enumerate(shares)
        for i in range(119)
    ]
    frame = pl.DataFrame(rows, ["week", "query", "system", "found"], orient="row")
    return IRM(frame, query="query", value="found", by="week", system="system" if systems > 1 else None)


def test_weeks_too_few_for_an_outage_are_said_to_be() -> None:
    """The hole is in a sentence, which says what is not known; the p-value of what was looked for is there."""
    shares = [0.70, 0.69, 0.70, 0.62, 0.62, 0.65, 0.32, 0.47, 0.59, 0.55]
    for systems, whose in ((1, ""), (2, " of a")):
        irm = found_by_week(shares, systems)
        every = irm.summary()["sentence"].to_list()
        few = "10 periods are too few to tell that from how periods vary anyway; shorter ones may be enough."
        off = f"2026-W38 to 2026-W39 are farther off than queries scatter (found{whose} 0.399 against 0.645), but {few}"
        assert off in every
        assert any(one.startswith("Looked for and not found: a trend, a break or an outage") for one in every)
        assert any("an outage (p = 0.4" in one for one in every) == (systems == 1)
    calm = [0.70, 0.69, 0.70, 0.62, 0.62, 0.65, 0.62, 0.67, 0.59, 0.65]
    assert not any("farther off" in one for one in found_by_week(calm).summary()["sentence"])


def test_the_p_value_of_what_is_not_found() -> None:
    """That of the surest of the three, corrected for them; of few periods that of a trend."""
    noise = np.random.default_rng(4).normal(size=6)
    assert 1 > course(periods(noise)).p > stats.linregress(range(6), noise).pvalue  # neighbours may be alike
    assert all(course(periods(np.random.default_rng(seed).normal(size=12))).p >= 0.05 for seed in (1, 2, 3))
