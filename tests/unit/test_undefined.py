"""Undefined values seen query by query: the column ``undefined`` of per_query() and explain()."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from frame_metrics import IRM, ColumnError
from helpers import KINDS, as_kind, as_polars, error, made_log
from inside import in_pieces

METRICS = ("ndcg@5", "recall", "specificity", "precision@3")
LOG = pl.DataFrame({"query": [*"aabbc"], "score": [2.0, 1.0] * 2 + [1.0], "grade": [0, 1, 0, 0, 1]})


@pytest.mark.parametrize("undefined", [None, "zero", "one", "null"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_marks_what_null_would_leave_out(kind: str, undefined: Any) -> None:
    """Whatever stands for an undefined value, the rows are marked that are null under undefined="null"."""
    irm = IRM(as_kind(made_log(), kind), doc="doc", rank=None, collection_size=100, undefined=undefined)
    found = irm.per_query(*METRICS)
    null = as_polars(irm(undefined="null").per_query(*METRICS))
    assert as_polars(found)["undefined"].equals(null["value"].is_null().rename("undefined"))
    assert null["undefined"].equals(null["value"].is_null().rename("undefined"))
    assert null["undefined"].any()
    assert "undefined" not in as_polars(irm.per_query(*METRICS, layout="wide")).columns
    if kind == "lazy":
        assert found.collect_schema() == found.collect().schema


@pytest.mark.slow
def test_it_is_the_same_in_pieces() -> None:
    """A frame that is read in pieces says it too."""
    irm = IRM(made_log(), doc="doc", rank=None)
    for call in (lambda one: one.per_query("ndcg@5", "recall"), lambda one: one.explain("ndcg", query="q00")):
        assert call(in_pieces(irm)).collect().equals(call(irm))


def test_the_worst_queries_leave_it_out() -> None:
    """A query without a relevant document is no bad answer."""
    each = LOG.irm.per_query("rr")
    keys = each.select("query", "metric", "value", "undefined").rows()
    assert keys == [("a", "rr", 0.5, False), ("b", "rr", 0.0, True), ("c", "rr", 1.0, False)]
    assert each.filter(~pl.col("undefined")).sort("value")["query"].to_list() == ["a", "c"]


def test_explain_says_it() -> None:
    """The rows of a ranking are marked whose metric is undefined, whatever stands for it."""
    for rule in (None, "one"):
        irm = LOG.irm(undefined=rule)
        assert irm.explain("rr", query="b").select("contribution", "undefined").rows() == [(None, True)] * 2
        assert irm.explain("rr", query="a").select("contribution", "undefined").rows() == [(0, False), (0.5, False)]


def test_saved_numbers_with_the_column_are_taken(tmp_path: Path) -> None:
    """What per_query() returned is averaged and compared as without the column, which counts what is undefined."""
    each = LOG.irm.per_query("rr", "recall")
    path = tmp_path / "saved.csv"
    each.write_csv(path)
    for saved in (each, pl.read_csv(path)):
        old = saved.drop("undefined")
        irm, without = saved.irm(value="value"), old.irm(value="value")
        assert irm.evaluate().drop("n_undefined").equals(without.evaluate().drop("n_undefined"))
        assert irm.evaluate()["n_undefined"].to_list() == LOG.irm.evaluate("rr", "recall")["n_undefined"].to_list()
        assert irm.per_query().drop("undefined").equals(without.per_query().drop("undefined"))
        assert irm.per_query()["undefined"].equals(saved["undefined"])
        assert irm.audit().equals(without.audit())
        for verb in (LOG.irm, LOG.irm(system=None)):
            assert verb.compare("rr", baseline=saved).equals(verb.compare("rr", baseline=old))
            assert verb.audit(baseline=saved).equals(verb.audit(baseline=old))
        assert LOG.irm.compare("rr", baseline=irm).equals(LOG.irm.compare("rr", baseline=without))


def test_numbers_that_are_null_are_undefined() -> None:
    """Of numbers from elsewhere those are marked that are null, whatever undefined= puts there."""
    frame = pl.DataFrame({"query": [1, 2], "ms": [None, 3.0]})
    assert frame.irm(value="ms").per_query().select("value", "undefined").rows() == [(None, True), (3.0, False)]
    zero = frame.irm(value="ms", undefined="zero").per_query()
    assert zero.select("value", "undefined").rows() == [(0.0, True), (3.0, False)]


def test_a_key_that_is_called_so() -> None:
    """A segment called as the column is an error where the column stands, and nowhere else."""
    irm = LOG.with_columns(undefined=pl.lit("x")).irm(by="undefined")
    for call in (lambda: irm.per_query("rr"), lambda: irm.explain("rr", query="a")):
        assert error(call, ColumnError) == "'undefined' is a column of the result as well; rename the frame's column"
    assert irm.per_query("rr", layout="wide").columns == ["undefined", "query", "rr", "answered"]
    assert irm.evaluate("rr")["value"].to_list() == [0.5]
