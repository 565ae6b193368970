"""Processes that are forked: one that has no threads of polars raises, and waits for none; others go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import ROOT

SCRIPT = """
import multiprocessing, os, sys, warnings
import numpy as np, pandas as pd
import frame_metrics
warnings.simplefilter("ignore")  # of Python 3.12 and later, about forks beside threads

def log(n):
    return pd.DataFrame({{"query": np.arange(n) // 4, "score": np.arange(n) % 97, "grade": np.arange(n) % 3}})

def told(call):
    try:
        return type(call()).__name__
    except frame_metrics.FrameMetricsError as error:
        return f"{{type(error).__name__}}: {{error}}"

def work(i):
    return told(lambda: CALLS[i]())

CALLS = [{calls}]
if __name__ == "__main__":
    {before}
    with multiprocessing.get_context({method!r}).Pool(1) as pool:
        for gave in pool.map(work, range(len(CALLS))):
            print(gave)
"""
LARGE, SMALL = "lambda: log(40_000).irm.evaluate('precision@1')", "lambda: log(8).irm.evaluate('rr')"
AUDIT = "lambda: log(8).irm.audit()"
RUN = "lambda: frame_metrics.read_run('no.run')"
PICTURE = "lambda: frame_metrics.plot.metrics(pd.DataFrame({'metric': ['rr'], 'value': [1.0]}))"
LAZY = "lambda: __import__('polars').LazyFrame({'query': [1], 'score': [1.0], 'grade': [1]}).irm.evaluate('rr')"
LOST = "this process was forked from one in which polars had started its threads"

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="the system does not list threads")


def told(calls: list[str], before: str, method: str = "fork", path: Path | None = None) -> list[str]:
    """Return what each call gives in a process that is started in one that did something before."""
    script = SCRIPT.format(calls=", ".join(calls), before=before, method=method)
    own = {**os.environ, "PYTHONPATH": str(ROOT), "POLARS_MAX_THREADS": "2"}
    if path is not None:  # a new process imports it
        path.write_text(script)
    given = ["-c", script] if path is None else [str(path)]
    found = subprocess.run([sys.executable, *given], capture_output=True, text=True, timeout=240, env=own)
    assert not found.stderr
    return found.stdout.splitlines()


def test_a_forked_process_without_threads_of_polars_raises_and_does_not_hang() -> None:
    """Large frames are refused at once, small ones go on where they need no thread, and others after a while."""
    calls = [LARGE, SMALL, LAZY, AUDIT, RUN, PICTURE]
    large, small, lazy, audit, run, picture = told(calls, "told(lambda: CALLS[0]())")
    assert small == "DataFrame"
    for gave, what in (
        (large, "evaluate()"),
        (lazy, "evaluate()"),
        (audit, "audit()"),
        (run, "reading no.run"),
        (picture, "a picture"),
    ):
        assert gave.startswith(f"FrameMetricsError: {what}: {LOST}")
        assert "multiprocessing.get_context('spawn') or 'forkserver'" in gave


def test_a_forked_process_goes_on_if_polars_had_no_threads() -> None:
    """Nothing is refused there: polars starts its threads in the child, and our threads are made anew."""
    ours = "from frame_metrics.threads import in_threads; in_threads([1, 2, 3], lambda part: None)"
    assert told([LARGE, SMALL, AUDIT], ours) == ["DataFrame"] * 3


@pytest.mark.slow
def test_a_process_that_is_started_otherwise_goes_on(tmp_path: Path) -> None:
    """The way out of the message works."""
    assert told([LARGE, AUDIT], "told(lambda: CALLS[0]())", "spawn", tmp_path / "script.py") == ["DataFrame"] * 2
