"""Columns of single and half precision: computed in float64, compared as pandas and polars compare them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM
from helpers import as_kind, as_polars

SCORES = [0.9, 0.7, 0.3, 0.1, 0.6999, 0.7001]
LOG = pl.DataFrame(
    {
        "query": [1, 1, 1, 2, 2, 2],
        "doc": ["a", "b", "c", "d", "e", "f"],
        "score": pl.Series(SCORES, dtype=pl.Float32),
        "label": [0, 1, 0, 1, 0, 1],
    }
)
GRADED = LOG.select("query", "doc", "score", grade=pl.Series([0.9, 0.7, 0.1, 0.2, 0.1, 0.7], dtype=pl.Float32))


def column(result: Any, name: str = "value") -> list[Any]:
    """Return a column of a result of any kind of frame."""
    found: list[Any] = as_polars(result)[name].to_list()
    return found


@pytest.mark.parametrize("threshold", [0.7, 0.1, 0.3, np.float32(0.7), float(np.float32(0.1)), 0.70000001])
def test_a_threshold_is_rounded_to_the_type_of_the_scores(kind: str, threshold: float) -> None:
    """The rows at or above it are those that `>=` of polars marks, pooled, by query, and with judgments beside."""
    above = LOG["score"] >= float(np.float32(threshold))
    tp, fp = int((above & (LOG["label"] == 1)).sum()), int((above & (LOG["label"] == 0)).sum())
    assert above.to_list() == (LOG["score"].to_pandas() >= threshold).tolist()
    log = as_kind(LOG, kind)
    beside = IRM(as_kind(LOG.drop("label"), kind), query="query", doc="doc").judge(LOG.drop("score"), label="label")
    for irm in (IRM(log, query=None), IRM(log, query="query"), beside):
        assert column(irm(threshold=threshold).evaluate("tp", "fp")) == [tp, fp]
    for irm in (IRM(log, query=None), IRM(log, query="query")):
        cells = as_polars(irm(threshold=threshold).confusion())
        assert cells.filter(predicted=True).sort("actual")["n"].to_list() == [fp, tp]


@pytest.mark.parametrize("rel", [0.7, 0.1, 0.2, 0.9])
def test_rel_is_rounded_to_the_type_of_the_grades(kind: str, rel: float) -> None:
    """Relevant is what `>=` marks, by convention and within a metric, in the log and beside it."""
    relevant = int((GRADED["grade"] >= np.float32(rel)).sum())
    log, qrels = as_kind(GRADED, kind), as_kind(GRADED.drop("score"), kind)
    beside = IRM(as_kind(GRADED.drop("grade"), kind), query="query", doc="doc").judge(qrels)
    run = IRM(as_kind(GRADED.with_columns(run=pl.lit("x")), kind), query="query", doc="doc", system="run")
    for irm in (IRM(log, query="query"), IRM(log, query="query", doc="doc"), beside, run):
        for ties in ("worst", "best", "expected") if kind == "polars" else ("expected",):
            assert column(irm(rel=rel, ties=ties).evaluate("num_rel", "num_rel_ret")) == [relevant] * 2
            assert column(irm(ties=ties).evaluate(f"num_rel(rel={rel})", f"tp(rel={rel})")) == [relevant] * 2
        assert column(irm(rel=rel, unjudged="drop").evaluate("tp", "num_rel")) == [relevant] * 2
    pooled = IRM(log, query=None, rel=rel, threshold=0)
    assert column(pooled.evaluate("tp")) == [relevant]
    assert as_polars(pooled.audit()).filter(check="relevant rows")["n"].to_list() == [relevant]
    assert (
        as_polars(IRM(log, query="query", rel=rel).audit()).filter(check="relevant documents")["n"].item() == relevant
    )


@pytest.mark.parametrize("top", [0.7, 0.2, 0.9])
def test_the_highest_grade_reaches_itself(top: float) -> None:
    """A grade of `rel` is relevant, and not out of reach."""
    log = GRADED.filter(pl.col("grade") <= np.float32(top))
    for irm in (log.irm(query="query", rel=top), log.irm(query=None, rel=top, threshold=0)):
        assert "grades that do not reach rel" not in irm.audit()["check"].to_list()
    assert log.irm.evaluate(f"precision(rel={top})@1")["value"].item() >= 0
    beside = log.drop("grade").irm(doc="doc", rel=top).judge(log.drop("score"))
    assert beside.evaluate("num_rel")["value"].item() == (log["grade"] == log["grade"].max()).sum()


FRAMES: dict[str, Callable[[list[float]], Any]] = {
    "polars float16": lambda x: pl.DataFrame({"score": pl.Series(x, dtype=pl.Float16)}),
    "polars float32": lambda x: pl.DataFrame({"score": pl.Series(x, dtype=pl.Float32)}),
    "polars float64": lambda x: pl.DataFrame({"score": x}),
    "lazy float32": lambda x: pl.DataFrame({"score": pl.Series(x, dtype=pl.Float32)}).lazy(),
    "pandas float16": lambda x: pd.DataFrame({"score": np.array(x, np.float16)}),
    "pandas float32": lambda x: pd.DataFrame({"score": np.array(x, np.float32)}),
    "pandas float64": lambda x: pd.DataFrame({"score": x}),
    "pandas Float32": lambda x: pd.DataFrame({"score": pd.array(x, dtype="Float32")}),
    "pandas Arrow float": lambda x: pd.DataFrame({"score": pd.Series(x, dtype="float[pyarrow]")}),
    "pandas objects": lambda x: pd.DataFrame({"score": pd.Series([np.float32(v) for v in x], dtype=object)}),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_every_type_of_floats_is_rounded_to(frame: str) -> None:
    """A score is at or above a threshold that is written as it was."""
    values = [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]
    for place, threshold in enumerate(values):
        log = FRAMES[frame](values)
        if isinstance(log, pl.DataFrame | pl.LazyFrame):
            log = log.with_columns(query=pl.lit(1), label=pl.Series([1] * 6))
        else:
            log = log.assign(query=1, label=1)
        for query in ("query", None):
            found = IRM(log, query=query, threshold=threshold).evaluate("tp")
            assert column(found) == [6 - place]


def test_whole_scores_are_compared_with_a_fraction() -> None:
    """An integer is not rounded, and nothing is rounded to integers."""
    log = LOG.with_columns(score=pl.Series([0, 1, 2, 0, 1, 2]))
    for query in ("query", None):
        assert column(log.irm(query=query, threshold=0.7).evaluate("tp", "fp")) == [2, 2]


@pytest.mark.parametrize("threshold", [-1, 0, 300])
def test_a_threshold_that_the_type_of_the_scores_does_not_hold(threshold: float) -> None:
    """It is above or below all scores, in the audit of queries too."""
    log = pl.DataFrame({"query": [1, 1], "score": pl.Series([1, 3], dtype=pl.UInt8), "label": [1, 0]})
    irm = log.irm(query="query", threshold=threshold)
    assert irm.evaluate("precision")["value"].to_list() == [0.5 if threshold < 1 else 0.0]
    wide = log.cast({"score": pl.Int64}).irm(query="query", threshold=threshold)
    assert irm.audit().rows() == wide.audit().rows()


def test_metrics_of_single_precision_are_computed_in_double() -> None:
    """As if the caller had cast the column, to the last bit."""
    rng = np.random.default_rng(0)
    n = 3000
    log = pl.DataFrame(
        {
            "query": np.sort(rng.integers(0, 40, n)),
            "score": rng.random(n).astype(np.float32),
            "grade": rng.choice([0, 0.1, 0.3, 0.7, 1], n).astype(np.float32),
        }
    )
    log = log.with_row_index("doc").with_columns(label=(pl.col("grade") > 0.5).cast(pl.Int8))
    names = [
        "brier",
        "log_loss",
        "roc_auc",
        "ece",
        "ndcg",
        "dcg",
        "cg",
        "ndcg(gain='exp')@10",
        "err(max_grade=1)@5",
        "ap",
    ]
    double = log.with_columns(pl.col("score", "grade").cast(pl.Float64))
    for roles in ({"label": "label", "grade": "grade"}, {"grade": "grade", "rel": 0.25}):
        for query in ("query", None):
            asked = names if query else names[:4]
            one, other = (frame.irm(query=query, **roles).evaluate(*asked) for frame in (log, double))
            assert one.equals(other)
        one, other = (
            frame.drop("grade", "label")
            .irm(query="query", doc="doc", **({"rel": 0.25} if "rel" in roles else {}))
            .judge(frame.drop("score"), **{role: name for role, name in roles.items() if role != "rel"})
            .per_query(*names)
            for frame in (log, double)
        )
        assert one.equals(other)


def test_amounts_of_single_precision_are_added_in_double() -> None:
    """Weights, numbers of relevant documents and sizes of collections."""
    rng = np.random.default_rng(0)
    log = pl.DataFrame({"query": range(500), "score": 1.0, "grade": rng.integers(0, 2, 500)}).with_columns(
        weight=pl.Series(rng.random(500), dtype=pl.Float32),
        total=pl.Series(rng.integers(1, 9, 500), dtype=pl.Float32),
        size=pl.Series(rng.integers(20, 99, 500), dtype=pl.Float32),
    )
    roles = {"query": "query", "weight": "weight", "n_relevant": "total", "collection_size": "size"}
    double = log.with_columns(pl.col(pl.Float32).cast(pl.Float64))
    one, other = (f.irm(**roles).evaluate("recall", "rprec", "tn", average="weighted") for f in (log, double))
    assert one.equals(other)


def test_n_relevant_counts_at_the_rounded_level() -> None:
    """The same level, said of all metrics and of one, is one level."""
    log = GRADED.with_columns(n=pl.lit(3))
    found = log.irm(query="query", n_relevant="n", rel=np.float32(0.7)).evaluate("recall(rel=0.7)")
    assert found["value"].to_list() == [(2 / 3 + 1 / 3) / 2]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int16, pl.UInt64], ids=str)
def test_large_grades_of_small_integers_are_the_same_numbers(dtype: type[pl.DataType]) -> None:
    """The gains of grades up to 127 do not wrap around, in the ideal ranking either; here the ideal is found."""
    log = pl.DataFrame({"query": [1] * 3, "score": [3.0, 2.0, 1.0], "grade": pl.Series([127, 100, 64], dtype=dtype)})
    found = log.irm.per_query("precision", "cg", "ndcg", "dcg", layout="wide").drop("answered").row(0)[1:]
    assert found == pytest.approx((1, 127 + 100 + 64, 1, 127 + 100 / np.log2(3) + 64 / 2))


def test_scores_of_classes_of_single_precision_are_computed_in_double() -> None:
    """What is computed of probabilities is the same to the last bit as of the same numbers in double precision."""
    share = {"p_a": [0.1, 0.3, 0.7], "p_b": [0.2, 0.6, 0.2], "p_c": [0.7, 0.1, 0.1]}
    frame = pl.DataFrame({"label": ["a", "b", "c"], **share})
    single = frame.with_columns(pl.col(list(share)).cast(pl.Float32))
    roles: dict[str, Any] = {"score": {name: f"p_{name}" for name in "abc"}}
    asked = ("brier", "log_loss", "ece", "roc_auc")
    double = single.with_columns(pl.col(list(share)).cast(pl.Float64))
    assert column(single.irm(**roles).evaluate(*asked)) == column(double.irm(**roles).evaluate(*asked))
