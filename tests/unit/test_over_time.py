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
        "bands: 95% intervals",
    ]


def test_the_break_of_the_summary_is_marked() -> None:
    """With its date, and only where summary() says so."""
    for fall, said in ((24, True), (99, False)):
        frame = made(days=40, fall=fall)
        summary = IRM(frame, query="query", value="success", by="day").summary()
        (text,) = summary.filter(kind="break")["of"].to_list() or [None]
        marked = [
            one
            for part in spec(over_time(frame))["vconcat"][0]["layer"]
            for one in part.get("data", {}).get("values", [])
        ]
        assert bool(marked) is said
        if said:
            assert text == marked[0]["when"]
            assert marked[0]["label"] == f"break at or near {marked[0]['when']}"


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


@pytest.mark.slow
@pytest.mark.parametrize("best", ["a", "b"])
@pytest.mark.parametrize("metric", ["rr", "brier"])
@pytest.mark.parametrize("falls", [True, False], ids=["the best breaks", "the other breaks"])
def test_the_break_is_that_of_the_best_line_as_in_the_summary(best: str, metric: str, *, falls: bool) -> None:
    """Not of the first by name; the best of a metric like brier is the lowest."""
    rng, sign, rows = np.random.default_rng(0), 1 if metric == "rr" else -1, []
    for system in ("a", "b"):
        for day in range(40):
            level = 0.5 + sign * (0.2 * (system == best) - 0.15 * ((system == best) is falls and day >= 24))
            some = level + rng.normal(0, 0.05, 20)
            rows += [(system, datetime(2026, 5, 1) + day * DAY, f"{day}-{i}", one) for i, one in enumerate(some)]
    frame = pl.DataFrame(rows, schema=["system", "day", "query", metric], orient="row")
    irm = IRM(frame, query="query", system="system", value=metric, by="day")
    (lines, _) = spec(plot.over_time(irm.evaluate()))["vconcat"]
    drawn = [row for part in lines["layer"] for row in part.get("data", {}).get("values", [])]
    marked = [row["when"] for row in drawn if row.get("label", "").startswith("break")]
    broken = irm.summary().filter(kind="break").select("of", "system").rows()
    assert broken == ([("2026-05-25", best)] if falls else [])
    assert {*marked} == {of for of, _ in broken}


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
    assert [one["encoding"]["y"]["scale"] for one in bars] == [{"domain": [0, 30]}] * 2
    assert [one["data"]["values"][0]["n"] for one in bars] == [30, 20]


def test_of_many_lines_the_best_six_are_in_colour() -> None:
    """The others are grey, and have no band."""
    chart = over_time(made(systems=8, days=5))
    scale = next(one for one in spec(chart)["vconcat"][0]["layer"] if one["mark"]["type"] == "line")["encoding"][
        "color"
    ]["scale"]
    assert sum(color == "#88888866" for color in scale["range"]) == 2
    assert "in colour: the best 6 of 8" in spec(chart)["title"]["subtitle"]


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
