# pyright: strict
"""Uses of the package: a type checker refuses the lines whose error is ignored, and no other; mypy runs in .ci/run."""

from typing import Any, assert_type

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

import frame_metrics
from frame_metrics import IRM, Confusion, FrameMetricsError, Metric, Ranking, Scores, metric, metrics


class Exporter:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


def of_pandas(frame: pd.DataFrame, qrels: pl.DataFrame) -> None:
    log = IRM(frame, query=["day", "text"], score="bm25", grade="rating", by="device", rel=2, collection_size=True)
    assert_type(log(weight="visits", cluster="user"), IRM[pd.DataFrame])
    assert_type(log, IRM[pd.DataFrame])
    assert_type(log(rel=2), IRM[pd.DataFrame])
    assert_type(log(by=None, ties="worst", collection_size="docs"), IRM[pd.DataFrame])
    assert_type(log.judge(qrels, doc="docid", label=True), IRM[pd.DataFrame])
    assert_type(log.evaluate("ndcg@10", metrics.ndcg(gain="exp") @ 10), pd.DataFrame)
    assert_type(log.evaluate("rr", average="micro", ci=0.95, margins=True, layout="wide", seed=1), pd.DataFrame)
    assert_type(log.evaluate(["rr", metrics.ndcg @ 10], ("map",), average=["macro", "median", "q0.9"]), pd.DataFrame)
    names = ["rr", "map"]
    assert_type(log.per_query(names, layout="wide"), pd.DataFrame)
    assert_type(log.compare(names), pd.DataFrame)
    assert_type(log.bounds(names, of="ties"), pd.DataFrame)
    assert_type(log.to_judge(5, baseline="a"), pd.DataFrame)
    assert_type(log.per_class(names, average=["macro", "weighted"], layout="wide"), pd.DataFrame)
    assert_type(log.confusion(margins=True, shares=True), pd.DataFrame)
    assert_type(log.thresholds(names), pd.DataFrame)
    assert_type(log.click_judgments("coec", query_text="text", smoothing=1), pd.DataFrame)
    assert_type(log.audit(), pd.DataFrame)
    assert_type(log.audit(split={"A": 0.5, "B": 0.5}), pd.DataFrame)
    assert_type(log.ab_test("rr", test="z", split="equal", covariate="before"), pd.DataFrame)
    assert_type(log.interleaving("clicks", baseline="a", test="sign"), pd.DataFrame)
    assert_type(log.judge(qrels)(rel=1).evaluate("rr"), pd.DataFrame)
    assert_type(log(scale={"good": 2, "bad": None}, rel="good"), IRM[pd.DataFrame])
    assert_type(log.judge(qrels, annotator="who", several="median"), IRM[pd.DataFrame])
    log.evaluate("rr").groupby("metric")


def of_polars(frame: pl.DataFrame, qrels: pd.DataFrame) -> None:
    log = IRM(frame)
    assert_type(log, IRM[pl.DataFrame])
    assert_type(log(query="q", score=None).judge(qrels).evaluate("rr"), pl.DataFrame)
    assert_type(log.per_query("rr"), pl.DataFrame)
    assert_type(log.audit(), pl.DataFrame)


def of_plans(frame: pl.LazyFrame) -> None:
    assert_type(IRM(frame, query="q"), IRM[pl.LazyFrame])
    assert_type(IRM(frame)(rel=2).evaluate("rr"), pl.LazyFrame)
    assert_type(IRM(frame).per_query("rr").collect(), pl.DataFrame)


def of_arrow(table: pa.Table, other: Exporter, logs: ds.Dataset) -> None:
    assert_type(IRM(table).evaluate("rr"), pa.Table)
    assert_type(IRM(logs).evaluate("rr"), pa.Table)
    assert_type(IRM(logs.scanner()).evaluate("rr"), pa.Table)
    assert_type(IRM(other, query="q")(rel=2).per_query("rr"), pa.Table)


def of_duckdb(log: duckdb.DuckDBPyRelation) -> None:
    assert_type(IRM(log, query="q")(rel=2).per_query("rr"), duckdb.DuckDBPyRelation)


def of_dask(log: dd.DataFrame) -> None:
    assert_type(IRM(log, query="q")(rel=2).per_query("rr"), dd.DataFrame)


def of_metrics() -> None:
    assert_type(metrics.ndcg, Metric)
    assert_type(metrics.rbp(p=0.8) @ 10, Metric)
    assert_type(str(metrics.ndcg @ 10), str)
    assert issubclass(FrameMetricsError, ValueError)
    assert frame_metrics.IRM is IRM


def wrong(frame: pd.DataFrame, table: pa.Table, qrels: pl.DataFrame, log: IRM[pl.DataFrame]) -> None:
    IRM(frame, querry="q")  # type: ignore[call-overload]
    IRM(table, grades="g")  # type: ignore[call-overload]
    IRM(frame, score=5.5)  # type: ignore[call-overload]
    IRM(frame, score=["a", 5.5])  # type: ignore[list-item]
    IRM(frame, rel=["good"])  # type: ignore[call-overload]
    IRM(frame, scale=["good"])  # type: ignore[call-overload]
    IRM(frame, scale={"good": "2"})  # type: ignore[dict-item]
    log.judge(qrels, several="most")  # type: ignore[arg-type]
    IRM(frame, "q")  # type: ignore[call-overload]
    IRM({"query": [1]})  # type: ignore[dict-item]
    IRM(np.zeros(2))  # type: ignore[call-overload]
    log(querry="q")  # type: ignore[call-arg]
    log(by=5.5)  # type: ignore[arg-type]
    log.judge(qrels, dok="d")  # type: ignore[call-arg]
    log.judge(qrels, "q")  # type: ignore[call-arg]
    log.evaluate(5)  # type: ignore[arg-type]
    log.evaluate("rr", average="marco")  # type: ignore[arg-type]
    log.evaluate("rr", average=["macro", "q9"])  # type: ignore[list-item]
    log.evaluate(["rr", 5])  # type: ignore[list-item]
    log.per_class("f1", average="median")  # type: ignore[arg-type]
    log.evaluate("rr", layout="wid")  # type: ignore[arg-type]
    log.evaluate("rr", ci="0.95")  # type: ignore[arg-type]
    log.evaluate("rr").groupby("metric")  # type: ignore[attr-defined]
    log.per_query("rr", margins=True)  # type: ignore[call-arg]
    log.frame = qrels  # type: ignore[misc]
    metrics.ndcg @ "10"  # type: ignore[operator]
    print(metrics.no_such_metric)  # type: ignore[attr-defined]


Array = np.ndarray[Any, np.dtype[Any]]


@metric(best=None)
def late(run: Ranking, k: int | None = None, after: int = 3) -> Array:
    price = run.column("price", relevant=True)
    return run.total(run.relevant * (run.rank > after) * run.within(k) + price) / run.hits(k)


@metric(undefined=None)
def decided(table: Confusion) -> Array:
    return (table.tp + table.tn) / table.population


@metric()
def first(scores: Scores) -> Array:
    return scores.total(scores.pos * scores.score) / scores.positives


def of_own_metrics(frame: pl.DataFrame) -> None:
    assert_type(late, Metric)
    assert_type(IRM(frame).evaluate(late(after=2) @ 5, decided, first), pl.DataFrame)
    run = Ranking([0, 1, 2], [3], rel=2, columns={"price": [1.0, 2.0, 3.0]})
    assert_type(late(run, k=2), Array)
    assert_type(run.ideal(lambda rank: 1 / rank, k=2), Array)
    print(run.n_ret)  # type: ignore[attr-defined]
    run.rank = np.zeros(3)  # type: ignore[misc]
    print(Confusion([1], [1], [0], [2]).size)  # type: ignore[attr-defined]
    Scores([0.5], [1], [1]).column("price")  # type: ignore[attr-defined]
