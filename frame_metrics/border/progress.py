"""A bar that shows how long work gets on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeAlias

Tick: TypeAlias = Callable[[int], None]
LONG = 1_000_000_000  # flips of queries from which on the work is worth a bar


@contextmanager
def progress(total: int | Callable[[], int | None] | None, unit: str, work: float = LONG) -> Iterator[Tick]:
    """Show a bar for long work on a terminal, if tqdm is installed.

    Parameters
    ----------
    total : units of the whole work, which tell how much time is left; None where it is not known. A function is called
        where there is a bar.
    unit : what a unit is called.
    work : that many flips of queries take as long.

    Yields
    ------
    A function to call with the number of units that are done.
    """
    if not (work >= LONG and sys.stderr.isatty() and find_spec("tqdm")):
        yield lambda done: None
        return
    from tqdm import tqdm  # type: ignore[import-untyped]

    n = total() if callable(total) else total
    with tqdm(total=n, unit=unit, unit_scale=callable(total)) as bar:
        yield lambda done: bar.update(done) and None
