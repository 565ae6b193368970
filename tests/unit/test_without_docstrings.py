"""``python -OO``, which keeps no docstrings: messages, headings and help are the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

SAID = """
import sys, polars as pl
import frame_metrics as f
from frame_metrics.command.run import run
log = pl.DataFrame({"query": [1, 1, 2, 2, 3], "doc": [*"ababa"], "score": [4.0, 3, 2, 1, 3],
                    "grade": [1, 0, 0, 0, 2], "system": [*"aabbb"]})
irm = log.irm(system=None)
print(irm.audit().rows(), irm.summary().rows(), f.list_metrics()["about"].to_list(), f.metrics.ndcg.doc)
import frame_metrics.verbs.audit.listed as listed
print([check.message for check in listed.CHECKS])
irm.report(sys.argv[1])
print(*(line for line in open(sys.argv[1], encoding="utf-8") if " UTC" not in line))
for command in ("evaluate", "report", "trec_eval", "convert"):
    run([command, "--help"])
"""


def said(tmp_path: object, *flags: str) -> str:
    """What a process with some flags prints of an audit, a summary, a report, the metrics and the command's help."""
    page = f"{tmp_path}/page.md"
    done = subprocess.run([sys.executable, *flags, "-c", SAID, page], capture_output=True, text=True, check=True)
    return done.stdout


def test_texts_do_not_need_docstrings(tmp_path: object) -> None:
    """Messages of checks, headings of a report, the lines of metrics and the help of commands stay."""
    plain, without = said(tmp_path), said(tmp_path, "-OO")
    assert len(plain) > 10_000
    assert "None\n" not in without
    assert without.splitlines() == plain.splitlines()


@pytest.mark.slow
def test_pictures_say_that_altair_needs_docstrings() -> None:
    """Altair itself cannot be imported then, which is our error and not its own."""
    code = "import frame_metrics as f, polars as pl; pl.DataFrame({'query': [1], 'score': [1.0]}).irm.plot.metrics"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("frame_metrics.errors.FrameMetricsError: pictures need altair, which cannot be imported")
    assert last.endswith("run Python without -OO")
