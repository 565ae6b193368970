"""Two classes of which one side has no row: what stands for recall there is no measurement, and has no difference."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

FEW: dict[str, Any] = {"resamples": 100}
CHANGES = {"trend", "break", "outage", "trend or break"}


def marked(chart: Any) -> int:
    """The number of breaks and outages that a picture over time marks."""
    return len({*re.findall(r'"label": "(.*)"', chart.to_json())})


def rows_of(week: str, part: str, relevant: tuple[int, int], others: tuple[int, int]) -> list[tuple[Any, ...]]:
    """Rows of a week and a part; of each class their number, and how many are predicted."""
    sides = zip((True, False), (relevant, others), strict=True)
    return [(week, part, label, at < found) for label, (n, found) in sides for at in range(n)]


ROWS = [
    *(rows_of("w1", "x", (50, 40), (100, 10)) + rows_of("w2", "x", (50, 25), (100, 10))),
    *(rows_of("w1", "none", (0, 0), (100, 10)) + rows_of("w2", "none", (0, 0), (100, 20))),
    *(rows_of("w1", "one side", (0, 0), (100, 10)) + rows_of("w2", "one side", (50, 40), (100, 20))),
]
LOG = pl.DataFrame(ROWS, schema=["week", "part", "label", "predicted"], orient="row")
ARMS = LOG.irm(arm="week", by="part", query=None)


@pytest.mark.parametrize("verb", ["ab_test", "change"])
@pytest.mark.parametrize(
    ("metric", "lacks"),
    [
        ("recall", True),
        ("miss_rate", True),
        ("f1", True),
        ("precision", True),
        ("balanced_accuracy", True),
        ("accuracy", False),
    ],
)
def test_a_segment_without_relevant_rows_has_no_difference(verb: str, metric: str, lacks: bool) -> None:
    """Nor does it count among the tests for which p-values are corrected; the values stay."""
    irm = ARMS if verb == "ab_test" else ARMS(by=None)
    if verb == "change":
        for part in ("none", "one side"):
            (found,) = LOG.filter(part=part).irm(arm="week", query=None).change(metric, **FEW).to_dicts()
            assert (found["difference"] is None) == (found["p_value"] is None) == lacks
        return
    found = irm.ab_test(metric, **FEW, over="all").sort("part")
    assert found["difference"].is_null().to_list() == [lacks, lacks, False]
    assert found["value"].is_not_null().all()
    assert found["n_tests"].to_list() == [1 if lacks else 3] * 3


def test_systems_on_the_same_rows() -> None:
    """Both lack the class; where one merely predicts nothing, they are compared."""
    frame = LOG.with_columns(other=pl.col("predicted") & (pl.int_range(pl.len()) % 5 > 0))
    irm = frame.irm(predicted=["predicted", "other"], by="part", query=None)
    found = irm.compare("recall", baseline="predicted", **FEW).sort("part")
    assert found["difference"].is_null().to_list() == [True, False, False]
    silent = frame.filter(part="x").with_columns(other=pl.lit(False)).irm(predicted=["predicted", "other"], query=None)
    assert silent.compare("precision", baseline="predicted", **FEW)["difference"].is_not_null().all()


def test_a_summary_does_not_tell_it() -> None:
    """It names the segment that changed, not the one whose first week has no relevant row."""
    (told,) = ARMS.summary("recall").filter(place=4)["sentence"]
    assert told.startswith("For x (part), w2 is below w1: recall 0.500 against 0.800")
    said = LOG.filter(part="one side").irm(arm="week", query=None).summary("recall")["sentence"].to_list()
    assert "w2 and w1 are not compared by recall: on one side no row counts for it." in said


def test_a_summary_says_why_f1_is_not_compared() -> None:
    said = LOG.filter(part="one side").irm(arm="week", query=None).summary("f1")["sentence"].to_list()
    assert "w2 and w1 are not compared by f1: one side has no row of some class." in said


DAYS_LACKING = ("recall", "f1", "average_precision")


@pytest.mark.parametrize("metric", DAYS_LACKING)
def test_days_without_relevant_rows_are_no_outage(metric: str) -> None:
    """They have no recall, and are left out of its course, in sentences and in pictures."""
    days = [
        row
        for day in range(1, 29)
        for row in rows_of(f"2026-02-{day:02}", "", (0 if 9 < day < 14 else 20, 15), (40, 4))
    ]
    frame = pl.DataFrame(days, schema=LOG.columns, orient="row").with_columns(
        predicted=pl.col("predicted") & (pl.int_range(pl.len()) % 7 > 0)
    )
    frame = frame.with_columns(score=pl.col("predicted") + (pl.int_range(pl.len()) % 5) / 10)
    irm = frame.irm(by="week", query=None)
    assert not CHANGES & {*irm.summary(metric)["kind"]}
    assert marked(irm.plot.over_time(metric, **FEW)) == 0
    lost = frame.with_columns(
        predicted=pl.col("predicted") & ~pl.col("week").is_between(pl.lit("2026-02-15"), pl.lit("2026-02-22"))
    )
    if metric == "f1":  # here they were lost on days with relevant rows, which is an outage
        irm = lost.irm(by="week", query=None)
        assert "outage" in {*irm.summary(metric)["kind"]}
        assert marked(irm.plot.over_time(metric, **FEW)) == 1


def test_averages_over_other_classes_have_no_mark() -> None:
    """As the summary looks for none; an average over the same classes has its mark in both."""
    rows = [
        (f"2026-02-{day:02}", one, one if at % 10 < (8 if day < 15 else 4) else "a")
        for day in range(1, 29)
        for one in ("a", "b", *("c" * (day < 15)))
        for at in range(30)
    ]
    frame = pl.DataFrame(rows, schema=["day", "label", "predicted"], orient="row")
    for one, n in ((frame, 0), (frame.with_columns(pl.col("label", "predicted").replace("c", "d")), 0)):
        irm = one.irm(by="day", query=None)
        assert ("break" in {*irm.summary("balanced_accuracy")["kind"]}) == bool(n)
        assert marked(irm.plot.over_time("balanced_accuracy", **FEW)) == n
    same = frame.filter(pl.col("label") != "c").irm(by="day", query=None, classes=["a", "b"])
    assert "break" in {*same.summary("balanced_accuracy")["kind"]}
    assert marked(same.plot.over_time("balanced_accuracy", **FEW)) == 1
