"""Rows per second of processor time on Spark: ten metrics of this package beside what else Spark has, on two cores.

    python tests/bench/bench_spark.py [rows, 5_000_000] [rounds, 3]

All read the same Parquet file, in alternation. The table has the least time of each: of the clock, and of the
processors that Spark and its workers used, which other work on the machine disturbs less. The native query, the
functions of applyInPandas and applyInArrow, and RankingMetrics compute ndcg@10 and nothing else, the last three of a
tenth of the rows, as they take long.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import frame_metrics  # noqa: F401  (for the accessor)

QUERY_ROWS = 100
TEN = ("ndcg@10", "ndcg", "ap", "rr", "precision@10", "recall@10", "success@10", "dcg@10", "rbp(p=0.8)", "r_precision")
DCG = "sum(case when {rank} <= 10 then grade / log2({rank} + 1) else 0 end)"
NATIVE = f"""
    select avg(case when ideal > 0 then gained / ideal else 0 end) as value from (
        select query, {DCG.format(rank="place")} as gained, {DCG.format(rank="best")} as ideal from (
            select query, grade, row_number() over (partition by query order by score desc) as place,
                row_number() over (partition by query order by grade desc) as best
            from logged)
        group by query)
"""


def made_log(rows: int, path: Path) -> None:
    """Write a log of queries of 100 rows, shuffled, with integer ids."""
    random = np.random.default_rng(0)
    query = random.permutation(np.repeat(np.arange(rows // QUERY_ROWS), QUERY_ROWS))
    grade = random.choice([0, 0, 0, 0, 1, 2, 3], rows).astype(np.int8)
    pl.DataFrame({"query": query, "score": random.random(rows), "grade": grade}).write_parquet(path)


def ndcg(score: Any, grade: Any) -> float:
    """Return ndcg@10 of one query, in numpy."""
    discount = np.log2(np.arange(2, 12))
    best = (np.sort(grade)[::-1][:10] / discount[: len(grade)]).sum()
    return float((grade[np.argsort(-score)[:10]] / discount[: len(grade)]).sum() / best) if best else 0.0


def ours(log: Any) -> float:
    """Ten metrics of this package; the value of the first."""
    return float(log.irm.evaluate(*TEN).where("metric = 'ndcg@10'").collect()[0]["value"])


def native(log: Any) -> float:
    """Window functions of SQL."""
    log.createOrReplaceTempView("logged")
    return float(log.sparkSession.sql(NATIVE).collect()[0]["value"])


def in_pandas(log: Any) -> float:
    """A function of a pandas frame for each query."""

    def each(frame: Any) -> Any:
        import pandas as pd

        return pd.DataFrame({"value": [ndcg(frame["score"].to_numpy(), frame["grade"].to_numpy())]})

    return float(log.groupBy("query").applyInPandas(each, "value double").agg({"value": "avg"}).collect()[0][0])


def in_arrow(log: Any) -> float:
    """A function of an Arrow table for each query."""

    def each(table: Any) -> Any:
        import pyarrow as pa

        return pa.table({"value": [ndcg(table["score"].to_numpy(), table["grade"].to_numpy())]})

    return float(log.groupBy("query").applyInArrow(each, "value double").agg({"value": "avg"}).collect()[0][0])


def ranking_metrics(log: Any) -> float:
    """Spark's own class, which takes lists of ids; it has no grades, so that its value is another one."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions

    lists = log.selectExpr("query", "score", "grade", "cast(monotonically_increasing_id() as double) as doc")
    both = lists.groupBy("query").agg(
        functions.expr("transform(array_sort(collect_list(struct(-score as s, doc as d))), x -> x.d)"),
        functions.expr("collect_list(case when grade > 0 then doc end)"),
    )
    return float(RankingMetrics(both.drop("query").rdd.map(tuple)).ndcgAt(10))


SIDES: dict[str, tuple[Callable[[Any], float], float]] = {
    "ten metrics here": (ours, 1.0),
    "ndcg@10, window functions of SQL": (native, 1.0),
    "ndcg@10, RankingMetrics": (ranking_metrics, 0.1),
    "ndcg@10, applyInArrow": (in_arrow, 0.1),
    "ndcg@10, applyInPandas": (in_pandas, 0.1),
}


def processor_time() -> float:
    """Return the seconds that this process and all below it have worked, as Linux counts them."""
    spent, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        spent[int(stat.parent.name)] = sum(map(int, fields[11:15]))
    mine = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(spent[one] for one in mine) / os.sysconf("SC_CLK_TCK")


def measured(rows: int, rounds: int) -> pl.DataFrame:
    """Return the rows per second of each side, and how many times that of the others ours is."""
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as folder:
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.memory", "4g")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "8")
            .getOrCreate()
        )
        logs = {}
        for share in {share for _, share in SIDES.values()}:
            path = Path(folder) / f"{share}.parquet"
            made_log(int(rows * share), path)
            logs[share] = session.read.parquet(str(path))
        clock: dict[str, float] = {}
        busy: dict[str, float] = {}
        values = {}
        for _ in range(rounds):
            for name, (side, share) in SIDES.items():
                start, worked = time.perf_counter(), processor_time()
                values[name] = side(logs[share])
                passed, worked = time.perf_counter() - start, processor_time() - worked
                clock[name] = max(rows * share / passed, clock.get(name, 0))
                busy[name] = max(rows * share / worked, busy.get(name, 0))
                print(f"{name}: {passed:.1f} s, {worked:.1f} s of processors, {values[name]}", file=sys.stderr)
        session.stop()
    mine = "ten metrics here"
    return pl.DataFrame(
        {
            "what": list(clock),
            "rows per second": [round(rate) for rate in clock.values()],
            "here so many times": [round(clock[mine] / rate, 2) for rate in clock.values()],
            "rows per processor second": [round(rate) for rate in busy.values()],
            "here so many times it": [round(busy[mine] / rate, 2) for rate in busy.values()],
            "value": [round(values[name], 6) for name in clock],
        }
    )


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    arguments = [int(argument) for argument in sys.argv[1:]]
    with pl.Config(tbl_cols=-1, fmt_str_lengths=60, tbl_width_chars=140):
        print(measured(*(arguments + [5_000_000, 3][len(arguments) :])))
