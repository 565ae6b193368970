"""Periods in the order of time, and the picture of metrics over time."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM, ColumnError, plot
from frame_metrics.backends.display import value_text
from frame_metrics.backends.times import ordered_distinct, with_gaps
from helpers import KINDS, as_kind, error

DAY = timedelta(days=1)


def made(systems: int = 1, days: int = 20, lacks: int | None = 7, n: int = 30, fall: int = 99) -> pl.DataFrame:
    """Successes of each day, of which one lacks, and the last has few queries; from one day on they are rarer."""
    rng = np.random.default_rng(0)
    rows = [
        (
            f"s{s}",
            datetime(2026, 5, 1) + day * DAY,
            f"{day}-{i}",
            float(rng.random() < 0.6 + 0.03 * s - 0.3 * (day >= fall)),
        )
        for s in range(systems)
        for day in range(days)
        if day != lacks
        for i in range(n if day < days - 1 else 5)
    ]
    return pl.DataFrame(rows, schema=["system", "day", "query", "success"], orient="row")


def over_time(frame: Any, **options: Any) -> Any:
    """The picture of successes by day."""
    irm = IRM(frame, query="query", system="system", value="success")
    return irm.plot.over_time(by="day", **{"resamples": 20} | options)


def spec(chart: Any) -> dict[str, Any]:
    """What Altair makes of a chart."""
    return dict(json.loads(json.dumps(chart.to_dict(validate=False), allow_nan=False)))


def points(chart: Any) -> list[dict[str, Any]]:
    """The rows that lines are drawn of."""
    return list(spec(chart)["vconcat"][0]["data"]["values"])


ORDERS: list[tuple[list[Any], list[Any] | None]] = [
    (["Tue", "Mon", "Sun"], ["Mon", "Tue", "Sun"]),
    (["friday", "Monday"], ["Monday", "friday"]),
    (["Mar", "Jan", None], ["Jan", "Mar", None]),
    (["2026-W10", "2026-W9"], ["2026-W9", "2026-W10"]),
    (["2026-W10", "2025-W51"], ["2025-W51", "2026-W10"]),
    (["2026-02", "2025-11"], ["2025-11", "2026-02"]),
    (["2026Q2", "2025Q4"], ["2025Q4", "2026Q2"]),
    (["b", "a"], None),
    (["Mon", "a"], None),
    ([date(2026, 2, 1), date(2026, 1, 5)], [date(2026, 1, 5), date(2026, 2, 1)]),
]


@pytest.mark.parametrize(("values", "order"), ORDERS)
def test_values_in_the_order_of_time(values: list[Any], order: list[Any] | None) -> None:
    """Days, weeks, months, quarters, and names of weekdays and months; others have no order."""
    assert ordered_distinct(pl.Series(values)) == order


def test_an_ordered_category_keeps_its_own_order() -> None:
    """Also where its values are names of weekdays."""
    own = pl.Series(["Tue", "Sun", "Mon"], dtype=pl.Enum(["Sun", "Mon", "Tue"]))
    assert ordered_distinct(own) == ["Sun", "Mon", "Tue"]


@pytest.mark.parametrize(
    ("texts", "every"),
    [
        (["2026-W52", "2027-W02"], ["2026-W52", "2027-W02"]),
        (["2026-W51", "2026-W52", "2027-W01"], ["2026-W51", "2026-W52", "2026-W53", "2027-W01"]),
        (["2026-01", "2026-02", "2026-04"], ["2026-01", "2026-02", "2026-03", "2026-04"]),
        (["2025Q4", "2026Q1", "2026Q3"], ["2025Q4", "2026Q1", "2026Q2", "2026Q3"]),
        (["2026-02-27", "2026-02-28", "2026-03-02"], ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]),
        (["2026-01-01 10:00:00", "2026-01-01 12:00:00"], ["2026-01-01 10:00:00", "2026-01-01 12:00:00"]),
        (["Mon", "Wed"], ["Mon", "Wed"]),
    ],
)
def test_periods_that_lack_stand_between_the_others(texts: list[str], every: list[str]) -> None:
    """Where the distances are multiples of the least one."""
    assert with_gaps(texts) == every


def test_the_beginning_of_a_day_is_the_day() -> None:
    """Of polars and of pandas; another time of the day is shown."""
    assert value_text(datetime(2026, 6, 25)) == "2026-06-25"
    assert value_text(pd.Timestamp("2026-06-25")) == "2026-06-25"
    assert value_text(datetime(2026, 6, 25, 1)) == "2026-06-25 01:00:00"


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_show_periods_in_order(kind: str) -> None:
    """Rows, colours and small multiples; not the best first."""
    frame = made(days=3, lacks=None).with_columns(
        weekday=pl.col("day").dt.strftime("%a"), value=-pl.col("day").rank("dense").cast(pl.Float64)
    )
    irm = IRM(as_kind(frame, kind), query="query", value="value")
    for by, order in (("weekday", ["Fri", "Sat", "Sun"]), ("day", ["2026-05-01", "2026-05-02", "2026-05-03"])):
        told = spec(plot.metrics(irm(by=by).evaluate()))
        assert told["layer"][0]["encoding"]["y"]["sort"] == order


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_with_its_gap_its_band_and_its_numbers(kind: str) -> None:
    """The day that lacks is a row without a value, the last day is not filled, and bars show n."""
    chart = over_time(as_kind(made(), kind))
    rows = points(chart)
    assert [row["when"] for row in rows] == [f"2026-05-{day:02}" for day in range(1, 21)]
    assert [row["when"] for row in rows if row["value"] is None] == ["2026-05-08"]
    assert [row["when"] for row in rows if not row["filled"]] == ["2026-05-20"]
    lines, bars = spec(chart)["vconcat"]
    assert [part["mark"]["type"] for part in lines["layer"]] == ["area", "line", "point", "point"]
    assert bars["data"]["values"][0] == {"when": "2026-05-01", "n": 30.0}
    assert spec(chart)["title"]["text"] == "success by day (n = 5 to 30 in each)"
    assert spec(chart)["title"]["subtitle"][:2] == [
        "hollow: fewer than half of the usual queries",
        "bands: 95 % intervals",
    ]


@pytest.mark.parametrize(
    ("size", "kind", "label"),
    [
        ({"days": 40, "fall": 24}, "break", "break at or near {}"),
        ({"days": 30, "fall": 15, "n": 10}, "trend or break", "sudden near {}, or gradual"),
        ({"days": 40}, None, ""),
    ],
)
def test_the_break_of_the_summary_is_marked(size: dict[str, int], kind: str | None, label: str) -> None:
    """With its date, and only where summary() says so."""
    frame = made(**size)
    told = IRM(frame, query="query", value="success", by="day").summary()
    told = told.filter(pl.col("kind").is_in(["break", "trend or break"]))
    assert told["kind"].to_list() == [kind] * (kind is not None)
    layers = spec(over_time(frame))["vconcat"][0]["layer"]
    marked = [one for part in layers for one in part.get("data", {}).get("values", [])]
    assert [(one["when"], one["label"]) for one in marked[:1]] == [(day, label.format(day)) for day in told["of"]]


@pytest.mark.slow
def test_the_outage_of_the_summary_is_shaded() -> None:
    """From its first to its last day, with its dates; it needs intervals."""
    rng = np.random.default_rng(0)
    frame = made(days=40).with_columns(success=pl.Series(rng.normal(0.5, 0.05, len(made(days=40)))))
    days = frame["day"].unique().sort()
    frame = frame.with_columns(pl.col("success") - 0.3 * pl.col("day").is_in(days[20:23].implode()))
    irm = IRM(frame, query="query", value="success", by="day")
    (text,) = irm.summary().filter(kind="outage")["of"]
    band, words = (
        part["data"]["values"] for part in spec(plot.over_time(irm.evaluate(ci=0.95)))["vconcat"][0]["layer"][:2]
    )
    assert [row["when"] for row in band] == [str(day)[:10] for day in days[20:23]]
    assert words == [{"when": band[0]["when"], "label": text}]
    assert "data" not in spec(plot.over_time(irm.evaluate()))["vconcat"][0]["layer"][0]


def drawn(chart: Any) -> list[str]:
    """The words of the marks of a picture."""
    layers = spec(chart)["vconcat"][0]["layer"]
    return [row["label"] for part in layers for row in part.get("data", {}).get("values", []) if "label" in row]


DAYS = 40


def of_lines(levels: dict[str, Any], name: str = "rr", n: int = 20) -> pl.DataFrame:
    """Values of lines, by their levels of each day."""
    rng = np.random.default_rng(0)
    rows = [
        (line, datetime(2026, 5, 1) + day * DAY, f"{day}-{i}", one)
        for line, level in levels.items()
        for day in range(DAYS)
        for i, one in enumerate(level[day] + rng.normal(0, 0.05, n))
    ]
    return pl.DataFrame(rows, schema=["line", "day", "query", name], orient="row")


def segments_of(irm: Any) -> Any:
    """The same lines as segments, each with queries of its own."""
    own = irm.frame.with_columns(query=pl.format("{}-{}", "line", "query"))
    return IRM(own, query="query", value=irm.frame.columns[-1], by=["line", "day"])


def level(at: float, *low: int) -> Any:
    """A level of each day, and one that is .15 lower on some."""
    return at - 0.15 * np.isin(np.arange(DAYS), low)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["rr", "brier", "v"])
@pytest.mark.parametrize("falls", ["a", "b"])
@pytest.mark.parametrize("of", ["system", "by"])
def test_what_the_summary_tells_is_marked_of_whichever_line(of: str, falls: str, metric: str) -> None:
    """Of the best system or another one, or a segment, whether or not more is better; each with its name."""
    broken = level(0.5, *range(24, DAYS))
    irm = IRM(of_lines({"a": level(0.7), "b": level(0.3)} | {falls: broken}, metric), query="query", value=metric)
    irm = irm(system="line", by="day") if of == "system" else segments_of(irm)
    (row,) = irm.summary().filter(kind="break").to_dicts()
    assert row["of"] == "2026-05-25"
    assert (
        (f" of {falls} " in row["sentence"]) if of == "system" else row["sentence"].startswith(f"For {falls} (line), ")
    )
    end = row["sentence"].rpartition("before and after")[2]
    assert (", which shows over all queries too (-0.07" in end) == (of == "by")
    assert {*drawn(plot.over_time(irm.evaluate()))} == {f"{falls}: break at or near 2026-05-25"}


@pytest.mark.slow
def test_equal_changes_are_one_and_others_stand_beside() -> None:
    """An outage of all systems, or of several segments, is one sentence and one mark."""
    both = {name: level(at, 20, 21, 22) for name, at in {"a": 0.7, "b": 0.4}.items()}
    irm = IRM(of_lines(both), query="query", value="rr", system="line", by="day")
    (row,) = irm.summary().filter(kind="outage").to_dicts()
    assert " lower than on the same weekdays of all other weeks, as of both systems: " in row["sentence"]
    assert (row["n"], row["baseline_n"]) == (60, 280)  # 14 days of the same weekdays
    assert {*drawn(plot.over_time(irm.evaluate(ci=0.95)))} == {"both: 2026-05-21 to 2026-05-23"}
    (row,) = segments_of(irm).summary().filter(kind="outage").to_dicts()
    assert " on the same weekdays of all other weeks, as in each of 2 segments: " in row["sentence"]
    several = both | {"c": level(0.6, 20, 21, 22), "d": level(0.6, 9, 10, 11), "e": level(0.5)}
    irm = IRM(of_lines(several), query="query", value="rr", system="line", by="day")
    other, three = sorted(irm.summary().filter(kind="outage")["sentence"].to_list())
    assert other.startswith("From 2026-05-10 to 2026-05-12 rr of d was 0.1")
    assert [words in three for words in (" as of ", " and ", "rr of d", "rr of e")] == [True, True, False, False]
    labels = sorted({*drawn(plot.over_time(irm.evaluate(ci=0.95)))})
    assert [label.endswith(" and 1 more: 2026-05-21 to 2026-05-23") for label in labels] == [True, False]
    assert labels[1] == "d: 2026-05-10 to 2026-05-12"
    calm = IRM(of_lines({"a": level(0.7), "b": level(0.4)}), query="query", value="rr", system="line", by="day")
    (row,) = calm.summary().filter(kind="nothing").to_dicts()
    assert " a trend, a break or an outage of any of 2 systems (p = " in row["sentence"]


def test_a_line_that_is_told_has_a_colour() -> None:
    """Beside the best of many."""
    lines = {f"s{i}": level(0.5 + 0.05 * i) for i in range(8)} | {"low": level(0.3, *range(24, DAYS))}
    irm = IRM(of_lines(lines, n=3), query="query", value="rr", system="line", by="day")
    chart = spec(plot.over_time(irm.evaluate()))
    assert "in colour: the best 5 and low of 9" in chart["title"]["subtitle"]


def test_the_note_on_the_axis_stands_where_a_part_is_shown() -> None:
    """Not over an axis that begins at the least value."""
    for low, cut in ((0.0, False), (0.3, True)):
        irm = IRM(of_lines({"a": np.linspace(low, 0.6, DAYS)}, n=1), query="query", value="rr", by="day")
        irm = irm(value=pl.col("rr").clip(low, 0.6).alias("rr"))
        notes = spec(plot.over_time(irm.evaluate()))["title"].get("subtitle", [])
        assert ("axes show only a part of the scale" in notes) is cut


@pytest.mark.slow
def test_small_multiples_have_their_own_bars_and_breaks() -> None:
    """They are as high as those beside them, and only the one whose line breaks is marked."""
    frame = pl.concat(
        made(days=40, fall=fall, n=n).with_columns(device=pl.lit(device), query=pl.col("query") + device)
        for device, fall, n in (("desktop", 99, 30), ("mobile", 24, 20))
    )
    irm = IRM(frame, query="query", value="success", by=["day", "device"])
    every = spec(plot.over_time(irm.evaluate(), facet="device", color=[]))["concat"]
    assert [one["title"]["text"] for one in every] == [["device: desktop"], ["device: mobile"]]
    marks = [
        [row["label"] for part in one["vconcat"][0]["layer"] for row in part.get("data", {}).get("values", [])]
        for one in every
    ]
    (day,) = {label.removeprefix("break ") for label in marks[1]}
    alone = IRM(frame.filter(device="mobile"), query="query", value="success", by="day").summary()
    assert (marks[0], day) == ([], alone.filter(kind="break")["of"][0])
    bars = [one["vconcat"][1] for one in every]
    assert [one["encoding"]["y"]["scale"] for one in bars] == [{"domain": [0, 34.5], "nice": False}] * 2
    assert [one["encoding"]["y"]["axis"]["values"] for one in bars] == [[0, 30]] * 2
    assert [one["data"]["values"][0]["n"] for one in bars] == [30, 20]


def test_of_many_lines_the_best_six_are_in_colour() -> None:
    """The others are grey, and have no band."""
    chart = over_time(made(systems=8, days=5))
    scale = next(one for one in spec(chart)["vconcat"][0]["layer"] if one["mark"]["type"] == "line")["encoding"][
        "color"
    ]["scale"]
    assert sum(color == "#88888866" for color in scale["range"]) == 2
    assert "in colour: the best 6 of 8" in spec(chart)["title"]["subtitle"]


def test_a_line_of_few_queries_is_named_and_not_drawn() -> None:
    """Its values of 0 and 1 would be the loudest; its queries are in the bars, and a caller may choose it."""
    days, by = [f"2026-05-{day:02}" for day in range(1, 11)], ["web"] * 20 + [None] * 2
    log = pl.DataFrame({"day": [day for day in days for _ in by], "device": by * len(days)}).with_row_index("query")
    irm = IRM(log.with_columns(rr=pl.col("query") % 2), query="query", value="rr", by=["device", "day"])
    result = irm.evaluate("rr")
    few, every = plot.over_time(result, time="day"), plot.over_time(result, time="day", chosen="null")
    shown = [{one["color"] for one in points(chart) if one["value"] is not None} for chart in (few, every)]
    assert shown == [{"web"}, {"web", "null"}]
    assert "not drawn: null, mostly of fewer than 10 queries" in spec(few)["title"]["subtitle"]
    assert {row["n"] for row in spec(few)["vconcat"][1]["data"]["values"]} == {22}


def test_a_period_between_gaps_has_a_point() -> None:
    """No line goes to it."""
    frame = made(days=60, lacks=None).filter(~pl.col("day").dt.day().is_in([9, 11]) | (pl.col("day").dt.month() > 5))
    assert [row["when"] for row in points(over_time(frame)) if row["alone"]] == ["2026-05-10"]


def test_bad_input() -> None:
    """Each error says which columns there are, and how to name one."""
    irm = IRM(made(days=3), query="query", value="success")
    said = error(lambda: irm.plot.over_time(by="system"), ColumnError)
    assert said.endswith("there are no times in 'system', as days, weeks or months")
    both = IRM(made(days=3).with_columns(week=pl.lit("2026-W02")), query="query", value="success", by=["day", "week"])
    assert error(lambda: plot.over_time(both.evaluate())) == "'day', 'week' hold times; pass time= as one of them"
    assert spec(plot.over_time(both.evaluate(), time="day"))["title"]["text"].startswith("success by day")
    other = IRM(made(days=3), query="query", value="success", by=["day", "system"]).evaluate()
    said = error(lambda: plot.over_time(other, time="system"))
    assert said == "time='system' holds no times, as days, weeks or months; pass time= as one of 'day'"
    assert spec(plot.over_time(other, time="day"))["title"]["text"].startswith("success by day")
    assert "is no key column" in error(lambda: plot.over_time(other, time="nope"))
