"""Work done block by block, side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import local
from typing import TypeVar

Part = TypeVar("Part")
BLOCK = 1 << 18  # rows that are worked on at a time: what they need stays in cache
FEW_ROWS = 1 << 11  # rows, up to which they are gone through one by one: polars starts threads
ONE_BY_ONE = 1 << 9  # rows up to which a dict of ids is faster than arrays, even where equal ids are adjacent

_within = local()  # what this thread is within
_here = {"alone": False}  # whether this process works in one thread


def block_of(rows: int) -> int:
    """Return how many of some rows are worked on at a time: of many twice as many, as threads wait for each other."""
    return BLOCK << (rows > 8 * BLOCK * (os.cpu_count() or 1))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count())


def restart(*, alone: bool) -> None:
    """Start other threads: in a forked process there are none; ``alone``: none at all, one part after the other."""
    _threads.cache_clear()
    _within.work = False
    _here["alone"] = alone


def in_threads(items: Iterable[Part], work: Callable[[Part], None]) -> None:
    """Call ``work`` with each part, side by side; one after the other where this is a part of such work itself."""
    todo = list(items)
    if len(todo) == 1 or _here["alone"] or getattr(_within, "work", False):  # else threads might all wait for others
        for item in todo:
            work(item)
        return

    def marked(item: Part) -> None:
        _within.work = True
        try:
            work(item)
        finally:
            _within.work = False

    try:
        done = _threads().map(marked, todo)
    except RuntimeError as error:
        if "shutdown" not in str(error):
            raise
        done = map(work, todo)  # the interpreter is about to exit, and starts no thread any more
    for _ in done:
        pass
