"""The program's name, commands and version, which are printed without importing a frame library."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import fill
from typing import TypeVar

from frame_metrics.errors import FrameMetricsError

PROGRAM = "frame-metrics"
OK, FAILED, WRONG, BROKEN, UNDECIDED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 130, 143  # exit codes
EXIT_CODES = (
    f"exit codes: {OK} success; {FAILED} a gate failed; {WRONG} a wrong call or bad data;\n"
    f"{BROKEN} an internal error; {UNDECIDED} too few data for a gate to decide"
)
SHELLS = ("bash", "zsh", "tcsh")
COMMAND_TEXTS = {
    "evaluate": "average metrics over queries, for each system and segment",
    "per-query": "compute metrics for every query",
    "compare": "compare systems, or systems with saved numbers: differences, intervals, p-values",
    "leaderboard": "rank systems: which of many may be the best, and the ranks that each may have",
    "ab-test": "compare the arms of an online test, each over its own queries, and test the split of users",
    "change": "compare periods, such as two weeks, each over its own queries",
    "interleaving": "compare the teams of interleaved lists: which one users prefer",
    "similarity": "compare the rankings of systems with each other, without judgments",
    "audit": "report errors and oddities in the data, and what was not counted",
    "curve": "print the points of a curve: pr, roc, gain, calibration, or a metric at many cutoffs",
    "explain": "take a metric apart for one query: what each result adds, and what was missed",
    "bounds": "print what ties, or missing judgments, leave open",
    "confusion": "count pairs of true and predicted classes",
    "per-class": "compute precision, recall and others of each class",
    "thresholds": "print the 2x2 table, and metrics, at each threshold of the score",
    "best-threshold": "choose a threshold of the score",
    "sample-size": "tell how many queries, or users, are needed to see a difference",
    "agreement": "compare annotators: how far they agree; weighted_kappa is quadratic",
    "disagreements": "print the documents that annotators judge differently",
    "to-judge": "print the documents whose judgments would help most",
    "click-judgments": "make judgments of clicks",
    "propensities": "estimate from clicks how often each rank is examined",
    "summary": "print the findings as sentences: what is best, by how much, since when, where",
    "report": "write a page with numbers, comparisons, curves and the audit",
    "convert": "write a frame in another format, as it is",
    "trec_eval": "print what trec_eval 9 prints",
    "metrics": "list all metrics, or those with some words in their name or text",
}
Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


@contextmanager
def quiet_pipe() -> Iterator[None]:
    """Allow writes to standard output; if its reader has closed it, as ``| head`` does, end the block without error."""
    if sys.stdout is None:  # as after >&-
        raise FrameMetricsError("standard output is closed; name a file with -o, or open it")
    try:
        yield
    except BrokenPipeError:  # buffered output that Python writes at exit goes to the null device
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def printed(text: str) -> int:
    """Print a text, and return the exit code."""
    if sys.stdout is not None:  # as after >&-
        with quiet_pipe():
            print(text.rstrip("\n"), flush=True)
    return OK


def front(kind: type[Parser]) -> Parser:
    """Return the parser of the program itself, without a command; its help lists the commands."""
    lines = "".join(
        f"{fill(text, 79, initial_indent=f'  {name:<15} ', subsequent_indent=' ' * 18)}\n"
        for name, text in COMMAND_TEXTS.items()
    )
    parser = kind(
        PROGRAM,
        f"{PROGRAM} COMMAND [options]",
        "Metrics of ranked retrieval and of classification, for logs in files.",
        f"commands:\n{lines}\n{PROGRAM} COMMAND --help shows its options, with examples\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="store_true", help="print the version")
    parser.add_argument("--completion", choices=SHELLS, help="print the completion script for a shell")
    return parser
