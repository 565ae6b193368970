"""How calls are timed, and the rows of the table of figures."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def clock(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call takes, and its result."""
    begin, result = time.perf_counter(), call()
    return time.perf_counter() - begin, result


def by_turns(calls: Sequence[Callable[[], Any]], runs: int) -> list[float]:
    """Return the median seconds of each call; they run by turns, and the first turn does not count."""
    turns = [[clock(call)[0] for call in calls] for _ in range(runs + 1)]
    return [float(seconds) for seconds in np.median(turns[1:], axis=0)]


def apart(call: Callable[..., Any], *arguments: Any, here: bool = False) -> Any:
    """Return what a call gives in a process of its own, whose memory begins anew; or here, to see that it runs."""
    if here:
        return call(*arguments)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, arguments)


def status(name: str) -> int:
    """Return the bytes that this process has, by the name of a line: "VmRSS:" now, "VmHWM:" at most."""
    return int(Path("/proc/self/status").read_text().split(name)[1].split()[0]) << 10


def show(seconds: float) -> str:
    """Return a time as text."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


WORK = [500_000]  # numbers that the fixed piece of work sorts; few where one sees only that everything runs


def loop() -> float:
    """Return the seconds of a fixed piece of work, in Python and in numpy, by which tables of two days are compared."""
    numbers = np.arange(WORK[0], dtype=np.uint64) * np.uint64(2654435761) % np.uint64(1 << 32)
    return by_turns([lambda: (sum(i & 7 for i in range(WORK[0] * 2 // 5)), np.sort(numbers))], 3)[0]


def row(part: str, case: object, rows: int, figures: Sequence[str], ratio: float, asked: float | None) -> list[str]:
    """Return a row of the table; what is asked is that ratio at most, of the peers at least; NO where it is not.

    The last cell is how long a fixed loop takes now.
    """
    least = part in ("peers", "scores")
    met = asked is None or (ratio >= asked if least else ratio <= asked)
    limit = "" if asked is None else f"{'>=' if least else '<='}{asked:.3g}"
    times = f"{ratio:.{2 if ratio < 10 else 0}f}" if ratio >= 0.1 else f"{ratio:.2g}"  # small, and yet not 0
    return [part, str(case), f"{rows:,}", *figures, times, limit + " NO" * (not met), show(loop())]
