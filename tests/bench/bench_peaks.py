"""Peak memory of every verb, in times of what it reads: the part "peaks" of the table of bench.py."""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from every_verb import PAIRED, ROWS, VERBS, Size
from timing import apart, row, status

QUERY = 100  # rows of each query
MANY = (2_000_000, 20_000_000)
PEAK = 4  # times what is read that are asked


def left_out_peaks() -> dict[str, str]:
    """Return that nothing can be measured, and why."""
    return {} if Path("/proc/self/clear_refs").exists() else {"peaks": "it is read from /proc"}


def size_of(name: str, rows: int) -> Size:
    """Return the size of the frame of a verb that has so many rows in all."""
    systems = 2 if name in PAIRED else 1
    if name in ROWS:
        return Size(rows=rows // systems, systems=systems, ci=True)
    if name == "compare of saved numbers":
        return Size(queries=rows // systems, systems=systems)
    shares = 3 if name in ("agreement", "agreement with one", "disagreements") else 2 if name == "judge" else systems
    return Size(rows=QUERY, queries=rows // shares // QUERY, systems=systems, ci=True)


def peak(name: str, rows: int) -> tuple[int, int, float]:
    """Return the bytes that a verb reads, those that it adds at most, and its seconds of processor time."""
    VERBS[name](replace(size_of(name, rows), **({"rows": 1000} if name in ROWS else {"queries": 400})))[0]()
    call, read = VERBS[name](size_of(name, rows))
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # what building the frame took and does not hold is given back,
    time.sleep(2 if rows >= MANY[0] else 0)  # by polars after a while
    Path("/proc/self/clear_refs").write_text("5")  # lets the peak begin anew
    before, begin = status("VmHWM:"), time.process_time()
    found = call()
    seconds = time.process_time() - begin
    del found
    return read, max(status("VmHWM:") - before, 0), seconds  # the kernel counts pages per processor: a few may lack


def peaks(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure each verb in a process of its own, at 2 and at 20 million rows."""
    for rows in options.rows[:1] if options.quick else MANY:
        for name in (name for name in VERBS if name != "to_judge, no cutoff"):  # of which to_judge says as much
            read, grown, seconds = apart(peak, name, rows, here=options.quick)
            figures = [
                f"{read / 1e6:,.0f} MB read",
                f"{grown / 1e6:,.0f} MB, {grown / rows:.0f} a row, {seconds:.1f} s",
            ]
            yield row("peaks", name, rows, figures, grown / read, PEAK)
