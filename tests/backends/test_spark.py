"""Spark: queries are measured by its tasks, the same as on one machine, in classic sessions and in those of Connect."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics
from frame_metrics import BadRowsError, BadValueError, ColumnError, KernelError, NotComputableError
from helpers import CELL, ROOT, error, made_log, output_of, script, spark_session
from inside import (
    REGISTRY,
    TIMES,
    Gathering,
    SparkFrame,
    few_distinct_rows,
    of_version,
    rows_brought,
    small_pieces_of_spark,
    whole_queries,
)

KEYS = ["query", "day"]
SUMS = {"query": pl.String, "day": pl.String, "n": pl.UInt32, "total": pl.Float64}


def rows_of(n: int, queries: int = 7) -> pl.DataFrame:
    """Rows of queries on two days, in no order; a query and a day are null."""
    at = pl.int_range(n, eager=True)
    return pl.DataFrame(
        {
            "query": (at * 7919 % queries).cast(pl.String).replace("3", None),
            "day": pl.Series(["mo", None])[(at % 2).cast(pl.UInt32)],
            "score": (at * 31 % 101) / 7,
        }
    )


def summing() -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Work that gives a row for each query of a piece: how many rows it has, and their sum.

    It is made inside a function so that it travels to the workers by value, as they cannot import the tests.
    """
    keys = KEYS

    def work(piece: pl.DataFrame) -> pl.DataFrame:
        return piece.group_by(keys).agg(n=pl.len(), total=pl.col("score").sum())

    return work


# Without Spark


@pytest.mark.parametrize("size", [1, 3, 10, 1000])
@pytest.mark.parametrize("rows", [1, 4, 50, 10_000])
def test_pieces_have_whole_queries(size: int, rows: int) -> None:
    """No query stands in two pieces, whatever the batches; a piece has about the rows asked for, or a query more."""
    log = rows_of(200, 11).sort(KEYS)
    pieces = list(whole_queries(log.iter_slices(size), KEYS, rows))
    assert pl.concat(pieces).equals(log)
    assert sum(piece.n_unique(KEYS) for piece in pieces) == log.n_unique(KEYS)
    longest = log.group_by(KEYS).len()["len"].max()
    assert max(map(len, pieces)) < 2 * rows + longest


def test_pieces_are_not_much_smaller_than_asked() -> None:
    """Short queries are put together."""
    log = rows_of(1000, 100).sort(KEYS)
    assert len(list(whole_queries(log.iter_slices(10), KEYS, 100))) <= 12


def test_pieces_of_nothing() -> None:
    """A stream may have no rows; without keys each row is a query."""
    log = rows_of(20)
    assert list(whole_queries([], KEYS, 5)) == []
    assert list(whole_queries([log[:0], log[:0]], KEYS, 5)) == []
    pieces = list(whole_queries([log[:0], log[:9], log[:0], log[9:]], [], 5))
    assert pl.concat(pieces).equals(log)
    assert max(map(len, pieces)) < 10


# With Spark


@pytest.fixture(scope="module", params=["classic", "connect"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session of Spark, of one kind or the other, whose tasks may fail once."""
    with spark_session(request.param) as session:
        yield session


def spread(session: Any, table: pl.DataFrame, partitions: int = 3) -> SparkFrame:
    """A table in partitions of Spark."""
    return SparkFrame(session.createDataFrame(table.to_arrow()).repartition(partitions))


def of_connect(session: Any) -> bool:
    """Whether a session is one of Connect."""
    return "connect" in type(session).__module__


def spreads(session: Any) -> Iterator[int]:
    """Set partitions and batches, one after the other, and give how many partitions; of Connect one will do.

    Sessions of both kinds send the same work to the same tasks.
    """
    for partitions, batch in ((3, 1000),) if of_connect(session) else ((3, 1000), (1, 100_000), (7, 100_000)):
        session.conf.set("spark.sql.shuffle.partitions", str(partitions))
        session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(batch))
        yield partitions


@pytest.mark.slow
def test_tasks_work_on_whole_queries(session: Any) -> None:
    """Whatever the partitions and batches, a piece has whole queries, those whose key is null too."""
    log = rows_of(20_000, 5003)
    expected = summing()(log).sort(KEYS)
    for partitions in spreads(session):
        frame = spread(session, log, partitions)
        with small_pieces_of_spark(2000):
            found = frame.gathered(Gathering(log.columns, KEYS, summing(), SUMS)).sort(KEYS)
        assert found.drop("total").equals(expected.drop("total"))
        assert (found["total"] - expected["total"]).abs().max() < 1e-9


@pytest.mark.slow
def test_errors_of_tasks(session: Any) -> None:
    """What this package raises in a task is raised with its class and message; other errors stay Spark's."""
    from pyspark.errors import PythonException

    def raising(error: Exception) -> Any:
        def work(piece: pl.DataFrame) -> pl.DataFrame:
            raise error

        return work

    log = rows_of(10)
    frame = spread(session, log, 1)
    own: Exception = BadRowsError("score: 1 row is infinite;\nsay 'nothing' of it")
    if of_connect(session):
        own = KernelError("own: division\n by zero")
    with pytest.raises(type(own)) as caught:
        frame.gathered(Gathering(log.columns, KEYS, raising(own), SUMS))
    assert str(caught.value) == str(own)
    with pytest.raises(PythonException, match="RuntimeError: of the caller"):
        frame.gathered(Gathering(log.columns, KEYS, raising(RuntimeError("of the caller")), SUMS))
    if of_connect(session):
        return  # its tasks are the same, and each that fails takes a worker with it
    lacking = ModuleNotFoundError("No module named 'polars'")
    with pytest.raises(NotComputableError, match="cannot import polars: install frame_metrics for the Python of"):
        frame.gathered(Gathering(log.columns, KEYS, raising(lacking), SUMS))


@pytest.mark.slow
def test_workers_of_another_version(session: Any) -> None:
    """A worker with another version raises instead of measuring, and the error has both."""
    frame = spread(session, pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [0, 1]})).frame
    with of_version("0.0.7"):
        said = error(lambda: frame.irm.evaluate("rr").toPandas(), NotComputableError)
    assert said.startswith(
        f"a worker has frame_metrics {frame_metrics.__version__}, and was sent work by frame_metrics"
    )
    assert said.endswith(" 0.0.7; install one version for both")


@pytest.mark.slow
@pytest.mark.parametrize("value", ["map('a', 1)", "parse_json('1')", "named_struct('a', map('a', 1))"])
def test_types_that_spark_does_not_compare(session: Any, value: str) -> None:
    """A column of a type that has no order in Spark is refused where it is needed, and left alone elsewhere."""
    frame = session.sql(f"select {value} as day, 1 as query, 1.0D as score, 1 as label")
    said = error(lambda: frame.irm(by="day").evaluate("rr"), BadValueError)
    assert said.startswith("day: the column is ")
    assert said.endswith(", which cannot be read; cast it to another type")
    assert frame.irm.evaluate("rr").toArrow().column("value").to_pylist() == [1.0]


@pytest.mark.slow
def test_what_spark_does_not_bring(session: Any) -> None:
    """More than the driver takes, and a stream without an end, are told with the setting and the way out."""
    many = session.range(150_000).selectExpr("cast(id as string) as query", "rand() as score", "1 as grade")
    said = error(lambda: many.irm.evaluate("rr", ci=0.9), NotComputableError)
    assert said.startswith("what comes to the driver takes more than spark.driver.maxResultSize allows: ")
    assert many.irm.evaluate("rr").toArrow().column("n").to_pylist() == [150_000]  # sums are few
    stream = session.readStream.format("rate").load().selectExpr("value as query", "1.0D as score", "1 as grade")
    said = error(lambda: stream.irm.evaluate("rr"), NotComputableError)
    assert said.startswith("a streaming DataFrame has no end to measure; write it ")


@pytest.mark.slow
def test_a_task_that_fails_once(session: Any, tmp_path: Path) -> None:
    """A task that is run again gives its rows once."""
    mark, work = str(tmp_path / "failed"), summing()

    def failing(piece: pl.DataFrame) -> pl.DataFrame:
        if not os.path.exists(mark):
            with open(mark, "w"):
                raise OSError("the disk is gone")
        return work(piece)

    log = rows_of(1000)
    frame = spread(session, log)
    found = frame.gathered(Gathering(log.columns, KEYS, failing, SUMS))
    assert mark in map(str, tmp_path.iterdir())
    assert found.select(*KEYS, "n").sort(KEYS).equals(work(log).select(*KEYS, "n").sort(KEYS))


@pytest.mark.slow
def test_workers_import_no_pandas(session: Any) -> None:
    """A task reads and gives rows without pandas."""

    def work(piece: pl.DataFrame) -> pl.DataFrame:

        return pl.DataFrame({"pandas": ["pandas" in sys.modules], "own": ["frame_metrics" in sys.modules]})

    log = rows_of(10)
    frame = spread(session, log, 1)
    told = frame.gathered(Gathering(log.columns, KEYS, work, {"pandas": pl.Boolean, "own": pl.Boolean}))
    assert not told["pandas"].any()
    assert told["own"].all()


@pytest.mark.slow
def test_partitions_without_rows(session: Any) -> None:
    """A partition, or a frame, without rows gives none."""
    log = rows_of(10)
    frame = spread(session, log, 17)
    empty = SparkFrame(frame.frame.where("score < 0"))
    assert empty.gathered(Gathering(log.columns, KEYS, summing(), SUMS)).columns == [*SUMS]
    assert len(empty.read(log.columns)) == len(empty.counted(["query"])) == 0
    one = SparkFrame(frame.frame.where("query = '1'"))
    assert len(one.gathered(Gathering(log.columns, ["query"], summing(), SUMS))) == 1


@pytest.mark.slow
def test_counted_rows(session: Any) -> None:
    """Equal rows are counted, null and NaN as values; more distinct ones than one machine bears are an error."""
    log = rows_of(1000).with_columns(score=pl.Series([0.0, -0.0, float("nan"), None] * 250))
    frame = spread(session, log)
    found = frame.counted(["query", "score"])
    expected = log.group_by("query", "score").agg(pl.len().cast(pl.Int64).alias(TIMES))
    assert found.equals(expected.sort("query", "score"))
    with few_distinct_rows(5), pytest.raises(NotComputableError, match=r"more than 5 rows differ.* round the scores"):
        frame.counted(["query", "score"])


@pytest.mark.slow
def test_columns_of_any_name_and_type(session: Any) -> None:
    """Columns are read by their names as they are, with the types that were told before."""
    frame = SparkFrame(
        session.sql("""
            select id % 2 as `a.b`, id as `c``d`, cast(id as decimal(9, 2)) as D, string(id) as d, array(id) as list,
                date'2026-01-02' as day, timestamp'2026-01-02 03:04:05' as at,
                timestamp_ntz'2026-01-02 03:04:05' as naive, make_interval(1, 2, 3) as odd, id as twice, id as twice
            from range(4)""")
    )
    names = ["at", "d", "a.b", "c`d", "D", "list", "day", "naive"]
    read = frame.read(names)
    assert frame.types(names) == dict(read.schema)
    assert read["a.b"].to_list() == [0, 1, 0, 1]
    assert read["d"].to_list() == [*"0123"]
    assert read["at"].dt.convert_time_zone("Europe/Paris").dt.hour().to_list() == [3] * 4
    assert frame.holds_lists("list")
    assert not frame.holds_lists("d")
    copied = frame.gathered(Gathering(names, ["a.b"], lambda piece: piece, frame.types(names)))
    assert copied.sort("d").equals(read.sort("d"))
    with pytest.raises(BadValueError, match="odd: the column is interval, which cannot be read; cast it"):
        frame.types(["odd"])
    with pytest.raises(ColumnError, match="2 columns called 'twice'"):
        frame.read(["twice"])


@pytest.mark.slow
def test_tables_given_back(session: Any) -> None:
    """A small table becomes a frame of Spark, of types that Spark has."""
    table = pl.DataFrame(
        {
            "name": pl.Series(["a", None], dtype=pl.Enum(["a", "b"])),
            "n": pl.Series([1, 2], dtype=pl.UInt32),
            "at": [datetime(2026, 1, 2, 3), None],
            "value": [0.5, None],
        }
    )
    frame = spread(session, rows_of(2))
    back = frame.to_spark(table)
    assert [kind for _, kind in back.dtypes] == ["string", "bigint", "timestamp_ntz", "double"]
    assert SparkFrame(back).read(table.columns).rows() == table.rows()
    assert frame.to_spark(table[:0]).columns == table.columns


@pytest.mark.slow
def test_a_query_of_many_rows(session: Any) -> None:
    """A query fifty times as long as a piece is one piece."""
    work, n = summing(), 250_000
    rows = session.range(n + 100_000).selectExpr(
        f"case when id < {n} then 'long' else string(id % 1000) end as query", "'mo' as day", "1d as score"
    )
    frame = SparkFrame(rows)
    with small_pieces_of_spark(n // 50):
        found = frame.gathered(Gathering(["query", "day", "score"], KEYS, work, SUMS))
    assert len(found) == 1001
    assert found.filter(query="long")["n"].to_list() == [n]
    assert found["total"].sum() == n + 100_000


# The verbs, as on one machine


def log_of_runs() -> pl.DataFrame:
    """Two systems, rows without an order, and queries that only one of them has."""
    log = made_log(queries=60).drop("rank").with_columns(run=pl.lit("a"))
    other = log.filter(pl.col("query") != "q07").with_columns(run=pl.lit("b"), score=pl.col("score") * 7 % 5)
    return pl.concat([log, other]).sample(fraction=1, shuffle=True, seed=3)


RANKED: dict[str, Callable[[Any], Any]] = {
    "evaluate": lambda irm: irm.evaluate(*TEN, average=["macro", "median"]),
    "evaluate by": lambda irm: irm(by="segment").evaluate(*TEN, ci=0.9, margins=True),
    "evaluate wide": lambda irm: irm(weight="weight").evaluate(*TEN, layout="wide"),
    "micro": lambda irm: irm.evaluate("precision@5", "recall@5", average="micro"),
    "per_query": lambda irm: irm.per_query(*TEN),
    "compare": lambda irm: irm.compare("ndcg@10", "rr", ci=0.9),
    "similarity": lambda irm: irm.similarity("rbo", "tau_ap", baseline="a", ci=0.9),
    "explain": lambda irm: irm.explain("ndcg@10", query="q07"),
    "audit": lambda irm: irm(by="segment").audit(),
    "bounds": lambda irm: irm(by="segment").bounds("ndcg@10", "rr", of="ties"),
}
MEANS: dict[str, Callable[[Any], Any]] = {
    "means": lambda irm: irm.evaluate(*TEN),
    "segments": lambda irm: irm(by="segment", weight="weight").evaluate(*TEN, average=["macro", "gmean"], margins=True),
    "micro": RANKED["micro"],
}
FEW = ("evaluate by", "per_query", "compare", "audit")
TEN = ("ndcg@10", "ndcg", "rr", "ap", "precision@5", "recall@5", "success@1", "dcg@3", "rbp(p=0.8)", "recall(top=0.3)")
DECIDED: dict[str, Callable[[Any], Any]] = {
    "confusion": lambda irm: irm(score=None).confusion(),
    "per_class": lambda irm: irm(score=None, by="place").per_class("precision", "f1"),
    "evaluate": lambda irm: irm(score=None, by="day").evaluate("accuracy", "f1", ci=0.9),
    "thresholds": lambda irm: irm(predicted=None).thresholds("f1", "recall"),
    "roc": lambda irm: irm(predicted=None).curve("roc"),
    "area": lambda irm: irm(predicted=None).evaluate("roc_auc", "lift(top=0.1)", ci=0.9),
    "compare": lambda irm: irm(score=None, doc="case", system="run").compare("accuracy", "f1"),
}


def decisions(seed: int = 0, n: int = 500) -> pl.DataFrame:
    """Rows of two classes, with scores to two decimals and predictions, on days and in places."""
    random = np.random.default_rng(seed)
    score, case = (random.random(n) * 100).round() / 100, np.arange(n) // 2
    return pl.DataFrame(
        {
            "label": (random.random(n) < score).astype(np.int8)[case],
            "score": score,
            "predicted": (score > 0.6).astype(np.int8),
            "day": [["mo", "tu", None][i] for i in random.integers(0, 3, n)],
            "place": random.integers(0, 2, n),
            "case": case,
            "run": np.arange(n) % 2,
        }
    )


def check_equal(found: Any, expected: pl.DataFrame) -> None:
    """Raise unless a frame of Spark has the rows of a frame in memory, numbers within 1e-12."""
    if "example" in expected.columns:  # of an audit, the first of what was found: rows of a cluster have no order
        expected = expected.drop("example", "message")
    table = SparkFrame(found).read(expected.columns)
    keys = [name for name, kind in expected.schema.items() if not kind.is_float()]
    assert_frame_equal(
        table.sort(keys), expected.sort(keys), check_dtypes=False, rel_tol=1e-12, abs_tol=1e-12, categorical_as_str=True
    )


def computed(session: Any, table: pl.DataFrame, partitions: int) -> tuple[Any, Callable[[], int]]:
    """A frame of Spark, and how many of its rows were computed until now; 0 of Connect, where nothing counts them."""
    frame = spread(session, table, partitions).frame
    if of_connect(session):
        return frame, lambda: 0
    read = session.sparkContext.accumulator(0)

    def counted(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            read.add(batch.num_rows)
            yield batch

    return frame.mapInArrow(counted, frame.schema), lambda: read.value


@pytest.mark.slow
def test_rankings_are_measured_as_on_one_machine(session: Any) -> None:
    """Whatever the partitions, the batches and the order of the rows: values, intervals and p-values are equal.

    No verb computes the frame twice, to know the systems.
    """
    log = log_of_runs()
    roles = {"query": "query", "doc": "doc", "score": "score", "grade": "grade", "system": "run"}
    asked = {3: FEW if of_connect(session) else RANKED, 1: FEW[::2], 7: FEW[1::2]}
    for partitions in spreads(session):
        frame, n_computed = computed(session, log, partitions)
        with small_pieces_of_spark(100):
            for name in asked[partitions]:
                ask, before = RANKED[name], n_computed()
                check_equal(ask(frame.irm(**roles)), ask(log.irm(**roles)))
                assert n_computed() - before == (0 if of_connect(session) else len(log))


@pytest.mark.slow
@pytest.mark.parametrize("beside", ["spark", "polars"])
def test_judgments_beside(session: Any, beside: str) -> None:
    """Judgments are joined by the tasks, wherever they are kept; judged queries without results are measured too.

    No verb computes the frame twice, to know which judged queries have no results.
    """
    log = log_of_runs()
    judged = log.select("query", "doc", "grade").drop_nulls().unique(maintain_order=True)
    judged = pl.concat([judged, pl.DataFrame({"query": ["none"], "doc": ["d1"], "grade": [2.0]})])
    results = log.drop("grade").drop_nulls("score")
    theirs = spread(session, judged).frame if beside == "spark" else judged
    frame, n_computed = computed(session, results, 3)
    every = ("evaluate", "micro", "per_query", "compare", "explain")
    for name in ("evaluate", "compare") if of_connect(session) else every:
        before = n_computed()
        check_equal(
            RANKED[name](frame.irm(system="run").judge(theirs)), RANKED[name](results.irm(system="run").judge(judged))
        )
        assert n_computed() - before == (0 if of_connect(session) else len(results))


@pytest.mark.slow
@pytest.mark.parametrize("session", ["classic"], indirect=True)
def test_tasks_send_sums(session: Any) -> None:
    """What comes to the driver for means, a row for each system and segment of a piece, grows with no query."""
    brought: dict[int, list[int]] = {}
    for queries in (200, 500):
        log = made_log(queries=queries).drop("rank")
        log = pl.concat(
            [log.with_columns(run=pl.lit(run), score=pl.col("score") * at) for at, run in enumerate("ab", 1)]
        )
        frame = spread(session, log).frame
        with rows_brought() as brought[queries]:
            for ask in MEANS.values():
                check_equal(ask(frame.irm(system="run", doc="doc")), ask(log.irm(system="run", doc="doc")))
    assert brought[200] == brought[500]
    assert max(brought[200]) <= 3 * 3 * 4  # in three partitions two systems, and what stands for others, in segments


@pytest.mark.slow
@pytest.mark.parametrize("session", ["classic"], indirect=True)
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_values_of_queries_stay_on_the_cluster(session: Any, layout: str) -> None:
    """Values of single queries are a plan of Spark: nothing runs before the caller collects; keys keep their types."""
    log = log_of_runs().with_columns(query=pl.col("query").str.slice(1).cast(pl.Int16))
    day = datetime(2026, 1, 2, 3)
    log = log.with_columns(day=pl.when(pl.col("query") % 2 == 0).then(pl.lit(day)))
    judged = log.select("query", "doc", "grade").drop_nulls().unique(maintain_order=True)
    judged = pl.concat([judged, pl.DataFrame({"query": [999], "doc": ["d1"], "grade": [2.0]}, schema=judged.schema)])
    results = log.drop("grade").drop_nulls("score").with_columns(value=pl.lit("called as one of the result"))
    frame = spread(session, results).frame
    frame = frame.withColumn("day", frame["day"].cast("timestamp_ntz"))
    tracker = session.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(None))
    found = frame.irm(system="run", by="day").judge(judged).per_query(*TEN, layout=layout)
    assert len(tracker.getJobIdsForGroup(None)) == before
    kinds = dict(frame.dtypes)
    assert found.dtypes[:3] == [(name, kinds[name]) for name in ("run", "day", "query")]
    expected = results.irm(system="run", by="day").judge(judged).per_query(*TEN, layout=layout)
    assert found.columns == expected.columns
    check_equal(found, expected)
    assert len(tracker.getJobIdsForGroup(None)) > before


@pytest.mark.slow
@pytest.mark.parametrize("session", ["classic"], indirect=True)
@pytest.mark.parametrize("odd", ["query", "doc", "apart", "grade", "zeros", "lost"])
def test_errors_of_values_that_stay_on_the_cluster(session: Any, odd: str) -> None:
    """What is wrong with the whole frame is an error where the plan runs, the same as on one machine."""
    log = log_of_runs()
    judged = log.select("query", "doc", "grade").drop_nulls().unique(maintain_order=True)
    if odd == "grade":
        judged = judged.with_columns(grade=pl.col("grade") / 100)
    elif odd == "apart":
        log = log.with_columns(query=pl.col("run") + pl.col("query"))
        judged = log.select("query", "doc", "grade").drop_nulls().unique(maintain_order=True)
    elif odd == "zeros":  # of one query alone
        log, judged = (one.with_columns(pl.col("query").rank("dense").cast(pl.String)) for one in (log, judged))
        judged = judged.with_columns(pl.col("query").replace("1", "001"))
    elif odd == "lost":  # by one system, of all queries
        number = pl.col("query").rank("dense").cast(pl.String)
        log, judged = (one.with_columns(number.str.zfill(3)) for one in (log, judged))
        log = log.with_columns(
            pl.when(run=log["run"].max())
            .then(pl.col("query").str.strip_chars_start("0"))
            .otherwise("query")
            .alias("query")
        )
    else:
        judged = judged.with_columns(pl.concat_str(pl.lit("x"), odd).alias(odd))
    results = log.drop("grade").drop_nulls("score").sort("query", "doc", "run")
    found = spread(session, results, 1).frame.irm(system="run").judge(judged).per_query("rr")
    with pytest.raises(Exception, match=r"frame_metrics\.errors\.") as caught:
        found.collect()
    said = error(lambda: results.irm(system="run").judge(judged).per_query("rr"), Exception)
    told = re.sub(r"'[^']*'", "", said)  # examples are of the first rows, and rows of a cluster have no order
    assert told in re.sub(r"'[^']*'", "", str(caught.value))


@pytest.mark.slow
def test_rows_without_a_query_are_counted_by_spark(session: Any) -> None:
    """Measures of rows are those of one machine, from the rows that differ and how often each stands."""
    table = decisions()
    frame = spread(session, table).frame
    for name in ("per_class", "roc", "compare") if of_connect(session) else DECIDED:
        check_equal(DECIDED[name](frame.irm), DECIDED[name](table.irm))


@pytest.mark.slow
def test_what_a_cluster_does_not_do(session: Any) -> None:
    """What needs the order of the rows, or the whole frame at once, is refused with the way out."""
    frame = spread(session, log_of_runs()).frame
    irm = frame.irm(query="query", score="score", grade="grade", system="run")
    assert "leave ties= out" in error(lambda: irm(doc=None, ties="order").evaluate("rr"))
    numbers = spread(session, pl.DataFrame({"query": ["a", "b"], "value": [0.5, 1.0]})).frame
    (said,) = SparkFrame(numbers.irm(value="value").audit()).read(["message"])["message"]
    assert "give what its toArrow() returns, of the columns" in said
    bad = spread(session, log_of_runs().with_columns(score=pl.lit(float("inf")))).frame
    assert "score: at least" in error(lambda: bad.irm(system="run", doc="doc").evaluate("rr"), BadRowsError)


@pytest.mark.slow
def test_a_metric_of_a_notebook(session: Any) -> None:
    """A function of a notebook travels to the workers."""
    log = made_log(queries=60).select("query", "doc", "score", "grade").drop_nulls("score")
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec(CELL, cell)
    try:
        asked = ["found_below", cell["found_below"](after=2)]
        check_equal(*(frame.irm.evaluate(*asked, ci=0.9) for frame in (spread(session, log).frame, log)))
    finally:
        del REGISTRY["found_below"]


# The example of a job


@pytest.mark.slow
@pytest.mark.parametrize("session", ["classic"], indirect=True)
@pytest.mark.usefixtures("session")  # the job takes it as its own
def test_the_gate_of_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A system that is surely worse makes the exit code 3; values and comparisons are those of one machine."""
    job = script(ROOT / "examples" / "spark_job.py")
    log = made_log(queries=60).select("query", "doc", "score", "grade", "segment").with_columns(system=pl.lit("a"))
    backwards = pl.when(pl.col("score").is_not_null()).then(-pl.col("grade").fill_null(0.0))
    both = pl.concat([log, log.with_columns(system=pl.lit("b"), score=backwards)])
    both.write_parquet(tmp_path / "log.parquet")
    called = [str(tmp_path / "log.parquet"), str(tmp_path / "result"), "--partitions", "3", "--baseline"]
    assert job.main([*called, "a"]) == 3
    stopped = capsys.readouterr().out
    assert "b is worse than a in rr: -0." in stopped
    values = pl.read_parquet(tmp_path / "result" / "values" / "*.parquet")
    expected = both.irm(system="system").evaluate("ndcg@10", "rr", "recall@10", ci=0.95)
    assert values.drop("ci_low", "ci_high").equals(expected.drop("ci_low", "ci_high"))
    assert rounded(output_of("spark_job")) == rounded(stopped), stopped
    assert job.main([*called, "b", "--by", "segment"]) == 0
    assert capsys.readouterr().out.endswith("no system is surely worse than the baseline\n")


def rounded(text: str) -> list[str]:
    """The words of a table, without its backends; numbers to nine digits, as the last ones depend on the machine."""
    words = re.sub(r"\d\.\d{9,}", lambda number: f"{float(number[0]):.9f}", text.replace("|", " ")).split()
    return [word for word in words if set(word) - {*"+-"}]
