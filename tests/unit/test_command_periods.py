"""Periods of dates, and gates on the loss of a mean, on the command line."""

from __future__ import annotations

import polars as pl
import pytest

from command_line import error, out, read, write
from frame_metrics.command import main
from helpers import called

pytestmark = pytest.mark.usefixtures("alone")

DAYS = ["2026-03-02", "2026-03-08T23:59:00", "2026-03-09 01:00", "2026-03-31"]
# What --every is, the days of DAYS that it makes, and what else it may be called.
EVERY = {
    "1w": ["2026-03-02", "2026-03-02", "2026-03-09", "2026-03-30"],
    "week": ["2026-03-02", "2026-03-02", "2026-03-09", "2026-03-30"],
    "M": ["2026-03-01"] * 4,
    "1d": ["2026-03-02", "2026-03-08", "2026-03-09", "2026-03-31"],
    "quarter": ["2026-01-01"] * 4,
}


def log(days: list[str]) -> pl.DataFrame:
    """Return four queries with one relevant document each, on some days."""
    return pl.DataFrame({"query": [1, 2, 3, 4], "doc": list("wxyz"), "score": [1.0] * 4, "grade": [1] * 4, "day": days})


@pytest.mark.parametrize("every", EVERY)
def test_dates_become_periods(every: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The first day of its period stands for each date; columns that hold no dates stay as they are."""
    write(log(DAYS).with_columns(side=pl.lit("a")), "log.csv")
    found = read(out(capsys, "evaluate", "log.csv", "rr", "--by", "day", "--by", "side", "--every", every))
    write(log(EVERY[every]).with_columns(side=pl.lit("a")), "log.csv")
    assert found.rows() == read(out(capsys, "evaluate", "log.csv", "rr", "--by", "day", "--by", "side")).rows()


@pytest.mark.parametrize("written", ["%d.%m.%Y", "%m/%d/%Y"])
def test_dates_in_other_ways_become_periods(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Dates that can be read in one way alone are those of the calendar, as in a summary."""
    days = pl.Series(["2026-03-02", "2026-03-08", "2026-03-13", "2026-03-31"]).str.to_date()
    call = ("evaluate", "log.csv", "rr", "--by", "day", "--every", "1w")
    write(log(days.dt.to_string("%Y-%m-%d").to_list()), "log.csv")
    as_iso = out(capsys, *call)
    write(log(days.dt.to_string(written).to_list()), "log.csv")
    assert out(capsys, *call) == as_iso
    write(log(["01.02.2026", "02.02.2026", "soon", "03.02.2026"]), "log.csv")
    assert "'day' has none" in error(capsys, *call)


def test_times_of_parquet_and_arms_become_periods(capsys: pytest.CaptureFixture[str]) -> None:
    """Times of Parquet are truncated as texts are, and arms as segments are."""
    days = pl.Series([f"{day[:10]}T05:10" for day in DAYS]).str.to_datetime()
    log(DAYS).with_columns(days.alias("day")).write_parquet("log.parquet")
    write(log([f"{day[:10]}T05:10" for day in DAYS]), "log.csv")
    for every, column in (("1w", "day"), ("2h", "day")):
        one, other = (
            read(out(capsys, "evaluate", name, "rr", "--by", column, "--every", every))["n"].to_list()
            for name in ("log.csv", "log.parquet")
        )
        assert one == other
    arms = read(out(capsys, "evaluate", "log.csv", "rr", "--arm", "day", "--every", "1w"))
    assert arms["day"].to_list() == ["2026-03-02", "2026-03-09", "2026-03-30"]


def test_what_is_no_period_or_no_date(capsys: pytest.CaptureFixture[str]) -> None:
    """The error says what was given, and what is expected."""
    write(log(DAYS), "log.csv")
    assert "--every: 'fortnight' is no period, as 1d, 1w, 1mo, 1q or 1y" in error(
        capsys, "evaluate", "log.csv", "rr", "--by", "day", "--every", "fortnight"
    )
    no_dates = "--every needs a column of dates, as 2026-03-01, and"
    assert f"{no_dates} 'doc' has none; name it with --by" in error(
        capsys, "evaluate", "log.csv", "rr", "--by", "doc", "--every", "1w"
    )
    *_, whole = error(capsys, "evaluate", "log.csv", "rr", "--weekly").splitlines()
    assert whole == "    frame-metrics evaluate log.csv rr --every 1w --by day"
    for name in ("when.csv", "then.csv"):
        write(log(DAYS).rename({"day": "when"}), name)
    assert f"{no_dates} none is named; name it with --by" in error(capsys, "change", "when.csv", "then.csv", "--weekly")
    write(log([day[:10] for day in DAYS]), "log.csv")
    assert "--every 1h: 'day' has no times of the day" in error(
        capsys, "evaluate", "log.csv", "rr", "--by", "day", "--every", "hour"
    )


def test_times_of_the_day_lead_to_days(capsys: pytest.CaptureFixture[str]) -> None:
    """A trend over times of the day is one over days."""
    write(log([f"{day[:10]}T05:10" for day in DAYS]), "log.csv")
    _, _, first, _, last = error(capsys, "trend", "log.csv", "rr", "--time", "day").splitlines()
    assert first == "    frame-metrics evaluate log.csv rr --by day --every 1d"
    assert last == "    frame-metrics summary log.csv rr --by day --every 1d"
    assert main(first.split()[1:]) == 0


RANKED = pl.DataFrame({"query": [1, 1, 2, 2], "doc": list("abab"), "score": [2, 1, 2, 1], "grade": [1, 0, 0, 1]})


@pytest.mark.parametrize("saving", ["evaluate", "per-query"])
@pytest.mark.parametrize(("limit", "code"), [("rr=0.25", 0), ("0.24", 1), ("0.3", 0)])
def test_the_loss_of_a_mean_is_limited(saving: str, limit: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The mean fell from 0.75 to 0.5; a limit of just that passes, and saved means do as saved values of queries."""
    write(RANKED, "old.csv")
    write(RANKED.with_columns(grade=pl.Series([0, 1, 0, 1])), "new.csv")
    assert main([saving, "old.csv", "rr", "-o", "base.csv"]) == 0
    for command in ("evaluate", "compare")[: 1 + (saving == "per-query")]:
        asked = [command, "new.csv", "rr", "--fail-if-worse-than", "base.csv", "--max-drop", limit]
        assert main(asked) == code
        told = capsys.readouterr().err
        assert ("rr is 0.5 against 0.75" in told) == (code == 1)
    assert main(["evaluate", "old.csv", "rr", "--fail-if-worse-than", "base.csv", "--max-drop", "0"]) == 0


def test_saved_means_of_segments_and_of_classifiers(capsys: pytest.CaptureFixture[str]) -> None:
    """Each segment has its own saved value; one without a saved value fails."""
    rows = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.1, 0.8, 0.2], "side": list("aabb")})
    write(rows, "old.csv")
    write(rows.with_columns(score=pl.Series([0.1, 0.9, 0.8, 0.2])), "new.csv")
    assert main(["evaluate", "old.csv", "roc_auc", "--by", "side", "-o", "base.csv"]) == 0
    asked = ["evaluate", "new.csv", "roc_auc", "--by", "side", "--fail-if-worse-than", "base.csv"]
    assert main([*asked, "--max-drop", "0.1"]) == 1
    told = capsys.readouterr().err
    assert "roc_auc is 0.0 against 1.0 (side a, average pooled): 1.0 worse, and up to 0.1 worse is accepted" in told
    assert "side b" not in told
    assert "it has means, as evaluate writes them, of which no test is made; pass --max-drop" in error(capsys, *asked)
    write(rows.with_columns(side=pl.Series(list("aacc"))), "new.csv")
    assert main([*asked, "--max-drop", "0.1"]) == 1
    assert "roc_auc has no saved value (side c" in capsys.readouterr().err
    compared = ["compare", "new.csv", "roc_auc", "--fail-if-worse-than", "base.csv", "--max-drop", "0.1"]
    assert "a gate on means is that of evaluate with --max-drop" in error(capsys, *compared)


def test_means_that_stand_for_undefined_ones_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """The recall of a week without a relevant row is no baseline, and no recall."""
    rows = pl.DataFrame({"label": [1, 0, 1, 0], "predicted": [1, 0, 0, 1]})
    write(rows, "some.csv")
    write(rows.with_columns(label=0), "none.csv")
    for old, new, said in (("none", "some", "recall has no saved value"), ("some", "none", "recall is undefined")):
        assert main(["evaluate", f"{old}.csv", "recall", "--positive", "1", "-o", "base.csv"]) == 0
        gate = ["--positive", "1", "--fail-if-worse-than", "base.csv", "--max-drop", "0.9"]
        assert main(["evaluate", f"{new}.csv", "recall", *gate]) == 1
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--max-drop 0.1", "--max-drop requires --fail-if-worse-than, with the log of before, or"),
        ("--fail-if-worse-than b.csv --max-drop rr=-1", "--max-drop takes losses of at least 0, as ndcg@10=0.02"),
    ],
)
def test_wrong_limits_of_a_loss(flags: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A limit without saved numbers, or below 0, is an error."""
    write(RANKED, "log.csv")
    assert said in error(capsys, "evaluate", "log.csv", "rr", *flags.split())


def two_weeks(days: list[str]) -> pl.DataFrame:
    """Return thirty queries, a half in each of two weeks, on two devices."""
    places = [1 + n % 2 + (n > 14) for n in range(30)]
    rows = {"query": [f"q{n}" for n in range(30)], "rank": places, "label": [1] * 30, "device": ["a", "b"] * 15}
    return pl.DataFrame(rows).with_columns(date=pl.Series(days))


def test_two_periods_are_those_before_a_day_and_since(capsys: pytest.CaptureFixture[str]) -> None:
    """As of a column that says so; the earlier one is the baseline, and times are of their days."""
    days = [f"2026-03-{1 + n:02}" for n in range(30)]
    log = two_weeks(days)
    sides = log.with_columns(
        pl.when(pl.col("date") < "2026-03-16").then(pl.lit("A")).otherwise(pl.lit("B")).alias("date")
    )
    write(sides, "sides.csv")
    asked, since = ("rr", "--arm", "date"), ("--since", "2026-03-16")
    expected = read(out(capsys, "change", "sides.csv", *asked, "--by", "device"))
    for name, frame in (
        ("log.csv", log),
        ("log.parquet", log.with_columns(pl.col("date").str.to_datetime())),
        ("other.csv", log.with_columns(pl.col("date").str.to_date().dt.to_string("%d.%m.%Y"))),
    ):
        write(frame, name)
        found = read(out(capsys, "change", name, *asked, *since, "--by", "device"))
        assert found["date"].unique().to_list() == ["since 2026-03-16"]
        assert found["baseline"].unique().to_list() == ["before 2026-03-16"]
        assert found.drop("date", "baseline").equals(expected.drop("date", "baseline"))
    assert "rr 0.411 against 0.767" in out(capsys, "summary", "log.csv", *asked, *since)


def test_wrong_days_and_columns_of_periods(capsys: pytest.CaptureFixture[str]) -> None:
    """A day is no text, and the arm is a column of dates, which the error names."""
    write(two_weeks([f"2026-03-{1 + n:02}" for n in range(30)]), "log.csv")
    call = ["change", "log.csv", "rr", "--since"]
    assert "'soon' is no date, as 2026-03-01" in error(capsys, *call, "soon", "--arm", "date")
    assert "and 'device' has none" in error(capsys, *call, "2026-03-16", "--arm", "device")
    told = error(capsys, *call, "2026-03-16")
    assert "--since requires the column of dates as the arm; name it with --arm; date has dates" in told
    assert told.endswith("    frame-metrics change log.csv rr --since 2026-03-16 --arm date\n")
    told = error(capsys, "change", "log.csv", "rr", "--by", "device")
    assert "pass --arm date with --every 1w, or with --since and the first day of the later period" in told
    assert told.endswith("    frame-metrics change log.csv rr --by device --arm date --every 1w\n")


def test_rows_without_a_date_are_in_neither_period(capsys: pytest.CaptureFixture[str]) -> None:
    """They are left out, and said; a text that is no date is an error, as is a column that is not there."""
    log, since = two_weeks([f"2026-03-{1 + n:02}" for n in range(30)]), ("--since", "2026-03-16")
    asked = ("change", "log.csv", "rr", "--arm", "date")
    for name, more, periods, flags in (
        ("log.csv", [None, None], "both", since),
        ("log.parquet", [None], "both", since),
        ("log.parquet", [None], "all", ("--every", "1w")),
    ):
        write(log, "log.csv")
        expected = out(capsys, *asked, *flags)
        rows = [(f"x{n}", 1, 1, "a", day) for n, day in enumerate(more)]
        extra = pl.DataFrame(rows, schema=log.schema, orient="row")
        both = pl.concat([log, extra])
        write(both if name == "log.csv" else both.with_columns(pl.col("date").str.to_date()), name)
        code, found, said = called(capsys, "change", name, *asked[2:], *flags)
        assert (code, found) == (0, expected)
        assert said == [
            f"frame-metrics: {len(more)} of {30 + len(more)} rows have no 'date', and are left out of {periods} periods"
        ]
    write(log.with_columns(date=pl.Series([*log["date"][:-1], "unknown"])), "log.csv")
    assert "and 'date' has other values too, as 'unknown'" in error(capsys, *asked, *since)
    assert "--arm dat: there is no such column" in error(capsys, "change", "log.csv", "rr", "--arm", "dat", *since)


def test_each_of_many_times_is_no_arm(capsys: pytest.CaptureFixture[str]) -> None:
    """A comparison of each two of them would take long, and answer nothing."""
    rows = {"query": [f"q{n}" for n in range(120)], "rank": [1 + n % 3 for n in range(120)], "label": [1] * 120}
    times = pl.Series([f"2026-03-{1 + n // 8:02}T{n % 8:02}:00:00" for n in range(120)])
    write(pl.DataFrame(rows).with_columns(ts=times), "log.csv")
    for command in (["sample-size", "--detect", "0.1"], ["change"], ["ab-test"]):
        asked = [command[0], "log.csv", "rr", *command[1:], "--arm", "ts"]
        told = error(capsys, *asked)
        assert "'ts' has 120 dates or times, each of which would be an arm; pass --every 1w, or --since with" in told
        assert told.endswith(f"    frame-metrics {' '.join(asked)} --every 1w\n")
        assert len(read(called(capsys, *asked, "--every", "1w")[1])) == 3
        assert len(read(called(capsys, *asked, "--since", "2026-03-09")[1])) == 1
    write(pl.read_csv("log.csv").head(100), "log.csv")
    assert len(read(out(capsys, "change", "log.csv", "rr", "--arm", "ts", "--baseline", times[0]))) == 99


def test_no_line_leaves_a_day_out(capsys: pytest.CaptureFixture[str]) -> None:
    """It would answer another question, as where two columns have dates."""
    log = two_weeks([f"2026-03-{1 + n:02}" for n in range(30)])
    write(log.with_columns(seen="date"), "log.csv")
    for typed in (
        "evaluate log.csv rr --since 2026-03-16",
        "leaderboard log.csv rr --system device --from-date 2026-03-16",
        "change log.csv rr --arm date --since 16.3.2026",
    ):
        assert "    frame-metrics" not in error(capsys, *typed.split())
