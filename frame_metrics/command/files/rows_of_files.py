"""Rows in errors about several files, with the file that each is of."""

from __future__ import annotations

import re
from itertools import accumulate, groupby

import polars as pl

from frame_metrics.command.frames import Frames
from frame_metrics.errors import FrameMetricsError

ROWS = re.compile(r"\brows? (\d+(?:, \d+)*)(?=\))")
OF_ALL = re.compile(r"of ([\d,]+) rows")


def with_files(frames: Frames, error: FrameMetricsError) -> FrameMetricsError:
    """Return an error in which rows of several files, one below the other, are those of each file, with its name."""
    message, before = str(error), frames.before
    of_judgments = "of the judgments" in message or message.startswith("proxy: ")
    of_one = of_judgments or (before is not None and message.startswith(before.where))
    if not ROWS.search(message) or of_one:
        return error
    files = [*frames.log_input.files, *(before.input.files if before and before.joins_logs else [])]
    counts = [one.plan.select(pl.len()).collect().item() for one in files] if len(files) > 1 else []
    every = OF_ALL.search(message)
    if not counts or (every and int(every[1].replace(",", "")) not in accumulate(counts)):
        return error
    starts = [0, *accumulate(counts)]

    def named(found: re.Match[str]) -> str:
        rows = [
            (max(at for at in range(len(files)) if starts[at] <= row), row) for row in map(int, found[1].split(", "))
        ]
        groups = [(at, [row - starts[at] for _, row in its]) for at, its in groupby(rows, lambda one: one[0])]
        return ", ".join(
            f"row{'s' * (len(its) > 1)} {', '.join(map(str, its))} of {files[at].name}" for at, its in groups
        )

    error.args = (ROWS.sub(named, message),)
    return error
