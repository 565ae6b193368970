"""The example of a job on Spark: what it writes, and its gate."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import frame_metrics
from helpers import ROOT, made_log

JOB = ROOT / "examples" / "spark_job.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the job as a program of its own."""
    settings = "--conf spark.ui.enabled=false --conf spark.driver.host=127.0.0.1 --master local[2] pyspark-shell"
    package = str(Path(frame_metrics.__file__).parents[1])
    own = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": package, "PYSPARK_SUBMIT_ARGS": settings}
    command = [sys.executable, str(JOB), *arguments]
    return subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=600)


@pytest.mark.slow
def test_the_gate(tmp_path: Path) -> None:
    """A system that is surely worse makes the exit code 3; values and comparisons are those of one machine."""
    log = made_log(queries=60).select("query", "doc", "score", "grade", "segment").with_columns(system=pl.lit("a"))
    backwards = pl.when(pl.col("score").is_not_null()).then(-pl.col("grade").fill_null(0.0))
    both = pl.concat([log, log.with_columns(system=pl.lit("b"), score=backwards)])
    both.write_parquet(tmp_path / "log.parquet")
    done = run(str(tmp_path / "log.parquet"), str(tmp_path / "out"), "--baseline", "a", "--partitions", "3")
    assert done.returncode == 3, done.stderr
    assert "b is worse than a in rr: -0." in done.stdout
    values = pl.read_parquet(tmp_path / "out" / "values" / "*.parquet")
    expected = both.irm(system="system").evaluate("ndcg@10", "rr", "recall@10", ci=0.95)
    assert values.drop("ci_low", "ci_high").equals(expected.drop("ci_low", "ci_high"))
    good = run(str(tmp_path / "log.parquet"), str(tmp_path / "out"), "--baseline", "b", "--by", "segment")
    assert good.returncode == 0, good.stderr
    assert "no system is surely worse" in good.stdout
