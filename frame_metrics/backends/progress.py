"""A progress bar for long work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeAlias
from warnings import catch_warnings

Tick: TypeAlias = Callable[[int], None]
LONG_WORK = 1_000_000_000  # work that takes as long as so many sign flips of queries gets a bar


@contextmanager
def progress(total: int | Callable[[], int | None] | None, unit: str, work: float = LONG_WORK) -> Iterator[Tick]:
    """Show a bar for long work on a terminal or in a notebook, if tqdm is installed.

    Parameters
    ----------
    total : number of units of the whole work, from which the bar computes the time left; None if it is not known. A
        function is called only if the bar is shown.
    unit : the name of a unit.
    work : size of the work, as the number of sign flips of queries that take as long.

    Yields
    ------
    A function to call with the number of units that were done since its last call.
    """
    if not (work >= LONG_WORK and (sys.stderr.isatty() or "ipykernel" in sys.modules) and find_spec("tqdm")):
        yield lambda done: None
        return
    with catch_warnings(action="ignore"):  # in a notebook without widgets it warns, and writes a bar of text
        from tqdm.auto import tqdm  # type: ignore[import-untyped]

    n = total() if callable(total) else total
    with tqdm(total=n, unit=unit, unit_scale=callable(total)) as bar:
        yield lambda done: bar.update(done) and None
