"""Tables that were counted already: a row that stands for many is measured as so many rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import polars.testing
import pytest

from frame_metrics import IRM, BadValueError, ColumnError
from helpers import KINDS, as_kind, as_polars, error, facts

# 30 are ill, of whom the test finds 20; of 2,000 who are not, it calls 180 ill.
TEST = pl.DataFrame({"label": [1, 1, 0, 0], "predicted": [1, 0, 1, 0], "n": [20, 10, 180, 1820]})


def expanded(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each row as often as it stands for one."""
    return rows.filter(pl.col("n") > 0).select(pl.all().repeat_by("n")).explode(pl.all()).drop("n")


def drawn(kind: str, seed: int = 0, rows: int = 60) -> pl.DataFrame:
    """Rows of two classes, or of three, some unjudged or undecided, with scores, days and how many each stands for."""
    random = np.random.default_rng(seed)
    classes = [0, 1] if kind == "two" else ["a", "b", "c"]
    said = [*classes, None]
    return pl.DataFrame(
        {
            "label": pl.Series(random.choice(classes, rows)),
            "predicted": pl.Series([said[i] for i in random.integers(0, len(said), rows)]),
            "score": random.integers(0, 9, rows) / 8,
            "day": random.integers(0, 3, rows),
            "w": random.integers(0, 5, rows) / 2,
            "n": random.integers(0, 5, rows),
        }
    )


def test_a_counted_table_is_the_rows_it_stands_for() -> None:
    """By hand: recall 20/30 and Wilson's interval of 30 rows, not of two."""
    found = TEST.irm(count="n").evaluate("recall", "precision", "accuracy", "tp", ci=0.95)
    assert found["value"].to_list() == [20 / 30, 20 / 200, 1840 / 2030, 20]
    assert set(found["n"]) == {2030}
    assert found.filter(metric="recall").select(pl.col("ci_low", "ci_high").round(4)).row(0) == (0.4878, 0.8077)
    assert TEST.irm(count="n").confusion()["n"].to_list() == [1820, 10, 180, 20]


VERBS: dict[str, Callable[[IRM[Any]], Any]] = {
    "evaluate": lambda irm: irm.evaluate("precision", "recall", "accuracy", "mcc", "tp", "roc_auc", "brier"),
    "scores": lambda irm: irm(predicted=None).evaluate("roc_auc", "average_precision", "ks", "ece"),
    "interval": lambda irm: irm(score=None).evaluate("precision", "f1", "fn", ci=0.9, resamples=200),
    "segments": lambda irm: irm(by="day", score=None).evaluate("f1", "tp", ci=0.9, resamples=50, margins=True),
    "threshold": lambda irm: irm(predicted=None, threshold=0.5).evaluate("recall", "fp"),
    "thresholds": lambda irm: irm(by="day").thresholds("f1"),
    "best_threshold": lambda irm: irm.best_threshold("f1"),
    "roc": lambda irm: irm.curve("roc"),
    "calibration": lambda irm: irm(by="day").curve("calibration"),
    "confusion": lambda irm: irm(by="day").confusion(),
    "several": lambda irm: irm(classes=[0, 1], score=None).evaluate("kappa", "f1", "accuracy", average="weighted"),
    "per_class": lambda irm: irm(classes=[0, 1], score=None).per_class("recall", "f1"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("verb", VERBS)
def test_counted_rows_give_what_as_many_rows_give(verb: str, seed: int) -> None:
    """Values, n and intervals, to the same draws, in every verb."""
    rows = drawn("two", seed).drop("w")
    mine = VERBS[verb](rows.irm(count="n"))
    pl.testing.assert_frame_equal(mine, VERBS[verb](expanded(rows).irm), abs_tol=1e-12)


def test_counted_rows_of_several_classes() -> None:
    """Measures of the whole table and of each class, with undecided rows."""
    rows = drawn("three").drop("w", "score")
    for verb in (
        lambda irm: irm.evaluate("accuracy", "kappa", "f1", ci=0.9, resamples=200),
        lambda irm: irm(by="day").per_class("precision", "recall"),
        lambda irm: irm.confusion(),
    ):
        pl.testing.assert_frame_equal(verb(rows.irm(count="n")), verb(expanded(rows).irm), abs_tol=1e-12)


def test_counts_times_weights() -> None:
    """Where both are named each of the rows has the weight; intervals draw those rows."""
    rows = drawn("two", rows=200)
    names = ("precision", "recall", "tp")
    mine = rows.irm(count="n", weight="w", score=None).evaluate(*names, ci=0.9, resamples=4000)
    many = expanded(rows).irm(weight="w", score=None).evaluate(*names, ci=0.9, resamples=4000)
    assert mine["value"].to_list() == pytest.approx(many["value"].to_list())
    assert mine["n"].to_list() == many["n"].to_list()
    for end in ("ci_low", "ci_high"):
        assert mine[end].to_list() == pytest.approx(many[end].to_list(), rel=0.03)
    auc = [
        irm.evaluate("roc_auc")["value"].item()
        for irm in (rows.irm(count="n", weight="w"), expanded(rows).irm(weight="w"))
    ]
    assert auc[0] == pytest.approx(auc[1])


def test_counted_rows_of_clusters() -> None:
    """Whole clusters are drawn, as of the rows one by one."""
    rows = drawn("two").with_columns(user=pl.int_range(60) // 4)
    mine, many = (
        irm(cluster="user", score=None).evaluate("recall", ci=0.9) for irm in (rows.irm(count="n"), expanded(rows).irm)
    )
    pl.testing.assert_frame_equal(mine, many)


def test_the_audit_counts_the_rows_too() -> None:
    """Facts are about the rows that a row stands for."""
    assert facts(TEST.irm(count="n"))["relevant rows"] == (30, 30 / 2030)
    rows = drawn("two").drop("w").with_columns(label=pl.when(pl.int_range(60) % 7 > 0).then("label"))
    mine, many = facts(rows.irm(count="n")), facts(expanded(rows).irm)
    assert {name: held for name, held in mine.items() if name != "rows"} == {
        name: held for name, held in many.items() if name != "rows"
    }


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([20, -1, 1, 1], "n: 1 of 4 rows is negative (row 1)"),
        ([20, None, 1, 1], "n: 1 of 4 rows has no count (row 1)"),
        ([20, 0.5, 1, 1], "n: 1 of 4 rows is not whole (row 1)"),
        ([20, 2.0**60, 1, 1], "n: 1 of 4 rows is past 2**53 (row 1)"),
        (["a", "b", "c", "d"], "n: a count is a number"),
    ],
)
def test_what_is_no_count_is_an_error(counts: list[Any], said: str) -> None:
    """A count is a whole number from 0."""
    frame = TEST.with_columns(n=pl.Series(counts, strict=False))
    assert error(lambda: frame.irm(count="n").evaluate("recall"), BadValueError).startswith(said)


def test_queries_are_not_counted() -> None:
    """A result stands for itself."""
    frame = TEST.with_columns(query=1)
    said = error(lambda: frame.irm(query="query", count="n").evaluate("recall"), ColumnError)
    assert said == "count= is about the rows of a segment; pass query=None"


def test_grades_of_no_row_are_no_scale() -> None:
    """Neither one between 0 and 1, nor the largest."""
    counts = {"twice": [2, 2, 2, 2], "whole": [0, 0, 1, 1], "shares": [1, 1, 0, 1]}
    graded = pl.DataFrame({"grade": [0.2, 0.5, 1.0, 0.0], "score": [1.0, 2.0, 4.0, 3.0]} | counts).irm
    assert "4 grades lie between 0 and 1" in error(lambda: graded(count="twice").evaluate("roc_auc"))
    assert graded(count="whole").evaluate("roc_auc")["value"].item() == 1
    said = error(lambda: graded(count="shares").evaluate("roc_auc"))
    assert said == "no grade in grade reaches rel=1; the largest is 0.5: set rel= lower"


def test_a_table_of_nothing() -> None:
    """Where every count is 0 there is no row."""
    found = TEST.with_columns(n=0).irm(count="n").evaluate("recall", "tp", ci=0.9)
    assert found.select("value", "n", "ci_low").rows() == [(None, 0, None)] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_counted_table_is_a_warning_unless_count_is_named(kind: str) -> None:
    """Each row would count once: accuracy of 4 rows, not of 2,030."""
    check = "table that seems to be counted already"
    irm = IRM(as_kind(TEST, kind))
    (found,) = as_polars(irm.audit()).filter(check=check).to_dicts()
    assert (found["severity"], found["n"]) == ("warning", 4)
    assert "each pair of label and predicted has one row, and 'n' has whole numbers, 2,030 in all" in found["message"]
    assert "pass count='n', as now each row counts once" in found["message"]
    assert as_polars(irm(count="n").audit()).filter(check=check).is_empty()


@pytest.mark.parametrize(
    "frame",
    [
        TEST.with_columns(n=1),
        TEST.with_columns(pl.col("n") / 7),
        TEST.with_columns(n=pl.Series([1, 2, None, 4])),
        pl.concat([TEST, TEST]),
        TEST.rename({"n": "age"}),
        TEST[:1],
    ],
    ids=["ones", "shares", "nulls", "pairs twice", "another name", "one row"],
)
def test_rows_that_are_no_counted_table(frame: pl.DataFrame) -> None:
    """What is named like counts may be something else."""
    found = frame.irm.audit().filter(check="table that seems to be counted already")
    assert not found["n"].sum()
