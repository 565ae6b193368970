"""The example of a job on Spark: what it writes, and its gate."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import frame_metrics
from helpers import ROOT, made_log, output_of

JOB = ROOT / "examples" / "spark_job.py"


# Both calls as programs, in one process, as Spark takes long to start.
CODE = """
import runpy, sys
job, folder = sys.argv[1:]
for more in (["--baseline", "a"], ["--baseline", "b", "--by", "segment"]):
    sys.argv = [job, f"{folder}/log.parquet", f"{folder}/{more[1]}", *more, "--partitions", "3"]
    try:
        runpy.run_path(job, run_name="__main__")
    except SystemExit as end:
        print(f"exit code {end.code}")
"""


def run(folder: Path) -> list[tuple[str, str]]:
    """What the job prints on a log, and its exit code, with one system as the baseline and then with the other."""
    settings = "--conf spark.ui.enabled=false --conf spark.driver.host=127.0.0.1 --master local[2] "
    settings += "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"  # of a short run
    package = str(Path(frame_metrics.__file__).parents[1])
    own = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": package, "PYSPARK_SUBMIT_ARGS": settings}
    command = [sys.executable, "-c", CODE, str(JOB), str(folder)]
    done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return re.findall(r"(.*?)exit code (\d+)\n", done.stdout, re.DOTALL)


@pytest.mark.slow
def test_the_gate(tmp_path: Path) -> None:
    """A system that is surely worse makes the exit code 3; values and comparisons are those of one machine."""
    log = made_log(queries=60).select("query", "doc", "score", "grade", "segment").with_columns(system=pl.lit("a"))
    backwards = pl.when(pl.col("score").is_not_null()).then(-pl.col("grade").fill_null(0.0))
    both = pl.concat([log, log.with_columns(system=pl.lit("b"), score=backwards)])
    both.write_parquet(tmp_path / "log.parquet")
    (stopped, code), (went_on, other_code) = run(tmp_path)
    assert (code, other_code) == ("3", "0")
    assert "b is worse than a in rr: -0." in stopped
    assert went_on.endswith("no system is surely worse than the baseline\n")
    values = pl.read_parquet(tmp_path / "a" / "values" / "*.parquet")
    expected = both.irm(system="system").evaluate("ndcg@10", "rr", "recall@10", ci=0.95)
    assert values.drop("ci_low", "ci_high").equals(expected.drop("ci_low", "ci_high"))
    assert rounded(output_of("spark_job")) == rounded(stopped), stopped


def rounded(text: str) -> list[str]:
    """The words of a table, without its borders; numbers to nine digits, as the last ones depend on the machine."""
    words = re.sub(r"\d\.\d{9,}", lambda number: f"{float(number[0]):.9f}", text).split()
    return [word for word in words if set(word) - {*"+-"}]
