"""Evaluate a log on Spark: Parquet in, tidy Parquet out, and a gate.

The log has a row for each result, with the columns query, doc, score and grade, and a
column for the system. A row for each system and metric is written, with the ends of
intervals, and a row for each comparison with the baseline. The exit code is 3 if a
system is surely worse than the baseline in a metric, so that a pipeline stops; a
failure has another.

    spark-submit examples/spark_job.py LOG RESULT [--system COLUMN] [--baseline NAME]
                                       [--by COLUMN] [--partitions N]

Without `spark-submit`,
`PYSPARK_PYTHON=$(which python) python examples/spark_job.py ...` runs it on all cores
of one machine. The workers need the package, and no pandas.
"""

import argparse
import sys
from collections.abc import Sequence

from pyspark.sql import DataFrame, Row, SparkSession

import frame_metrics  # noqa: F401  (gives frames of Spark their `irm`)

METRICS = ("ndcg@10", "rr", "recall@10")
WORSE = 3  # an exit code that neither Python nor Spark has for a failure


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read what the job is called with."""
    parser = argparse.ArgumentParser(description="Evaluate a log on Spark.")
    parser.add_argument(
        "log", help="Parquet, a folder or a file, wherever Spark reads it"
    )
    parser.add_argument(
        "result",
        help="the folder of Parquet that is written; what is there is replaced",
    )
    parser.add_argument(
        "--system", default="system", help="the column that names the systems"
    )
    parser.add_argument(
        "--baseline",
        help="the system that others are compared with; by default the first by name",
    )
    parser.add_argument(
        "--by", help="a column of segments, each of which has rows of its own"
    )
    parser.add_argument(
        "--partitions",
        type=int,
        help="how many partitions rows are moved to; more need less memory",
    )
    return parser.parse_args(arguments)


def run(session: SparkSession, said: argparse.Namespace) -> list[str]:
    """Evaluate and compare, write both, and return what is surely worse."""
    if said.partitions:
        session.conf.set("spark.sql.shuffle.partitions", str(said.partitions))
    log = session.read.parquet(said.log)
    columns = {"query": "query", "doc": "doc", "score": "score", "grade": "grade"}
    irm = log.irm(**columns, system=said.system, by=said.by)
    values = irm.evaluate(*METRICS, ci=0.95)
    values.coalesce(1).write.mode("overwrite").parquet(f"{said.result}/values")
    compared = irm.compare(*METRICS, baseline=said.baseline)
    compared.coalesce(1).write.mode("overwrite").parquet(f"{said.result}/compared")
    values.show(100, truncate=False)
    return [told(row, said.system) for row in worse(compared).collect()]


def worse(compared: DataFrame) -> DataFrame:
    """Keep where a system is surely worse, by p-values corrected over the run."""
    return compared.where("p_adjusted < 0.05 and difference < 0")


def told(row: Row, system: str) -> str:
    """Say a comparison in one line."""
    baseline, metric, difference = row["baseline"], row["metric"], row["difference"]
    return f"{row[system]} is worse than {baseline} in {metric}: {difference:+.4f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job, and return its exit code."""
    session = SparkSession.builder.appName("frame_metrics").getOrCreate()
    lines = run(session, read_arguments(arguments))
    print("\n".join(lines) or "no system is surely worse than the baseline")
    return WORSE if lines else 0


if __name__ == "__main__":
    sys.exit(main())
