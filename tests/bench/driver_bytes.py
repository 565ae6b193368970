"""Bytes that pass the driver of Spark: counted for means, intervals, values of queries and comparisons.

``python tests/bench/driver_bytes.py ROWS WORKERS`` prints a row for each. The log has queries of ten results, in two
systems; what is sent to tasks is the work, what comes back are tables.
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

import frame_metrics
from frame_metrics.backends import spark
from frame_metrics.backends.versioned import Sent

ROWS_OF_A_FILE = 10_000_000
METRICS = ("ndcg@10", "ap", "rr", "precision@5", "recall@5")
CASES: dict[str, Callable[[Any], Any]] = {
    "means": lambda irm: irm.evaluate(*METRICS),
    "means by 5 segments": lambda irm: irm(by="segment").evaluate(*METRICS),
    "intervals": lambda irm: irm.evaluate(*METRICS, ci=0.95, resamples=100),
    "per_query": lambda irm: irm.per_query(*METRICS).write.format("noop").mode("overwrite").save(),
    "compare": lambda irm: irm.compare(*METRICS, permutations=100),
}


def rows_of_log(begin: int, end: int) -> pl.DataFrame:
    """Return these rows of the log, from the first to before the second."""
    row = np.arange(begin, end)
    query, doc = row // 20, row % 10
    score = np.random.default_rng(begin).random(end - begin)
    grade = ((query * 31 + doc * 7) % 4).astype(np.int8)  # judgments are shared by the systems
    columns = {"query": query, "system": row // 10 % 2, "doc": doc, "score": score, "grade": grade}
    return pl.DataFrame(columns | {"segment": (query % 5).astype(np.int8)})


def main(n: int, workers: int) -> None:
    """Print, for each case, the seconds, the bytes and rows that came to the driver, and the bytes of the work."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(Path(frame_metrics.__file__).parents[1])
    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.sql.shuffle.partitions", "8")
    session = (
        builder.config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.maxResultSize", "8g")
        .config("spark.driver.memory", "8g")
        .getOrCreate()
    )
    path = Path(tempfile.gettempdir()) / f"driver_bytes_{n}.parquet"
    if not path.exists():
        path.mkdir()
        for part, begin in enumerate(range(0, n, ROWS_OF_A_FILE)):
            rows_of_log(begin, min(n, begin + ROWS_OF_A_FILE)).write_parquet(path / f"{part:03}.parquet")
    frame = session.read.parquet(str(path))
    came: list[tuple[int, int]] = []
    sent: list[int] = []
    fetched, reduced = spark.SparkFrame.fetched, Sent.__reduce__

    def counted(self: Any, asked: Any) -> pl.DataFrame:
        table = fetched(self, asked)
        came.append((table.to_arrow().nbytes, len(table)))
        return table

    def weighed(self: Any) -> Any:
        made = reduced(self)
        sent.append(len(made[1][1]))
        return made

    spark.SparkFrame.fetched, Sent.__reduce__ = counted, weighed  # type: ignore[method-assign]
    for name, ask in CASES.items():
        came.clear()
        sent.clear()
        begin = time.perf_counter()
        found = ask(frame.irm(grade="grade", doc="doc", system="system"))
        seconds = time.perf_counter() - begin
        came_in, rows = (sum(each) for each in zip(*came, strict=True)) if came else (0, 0)
        print(f"| {name} | {n:,} | {workers} | {seconds:.1f} s | {came_in:,} | {rows:,} | {sum(sent):,} |", flush=True)
        del found


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
