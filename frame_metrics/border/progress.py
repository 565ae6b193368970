"""A bar that shows how long work gets on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeAlias

Tick: TypeAlias = Callable[[int], None]


@contextmanager
def progress(total: int | Callable[[], int | None] | None, unit: str, *, long: bool = True) -> Iterator[Tick]:
    """Show a bar for ``long`` work on a terminal, if tqdm is installed.

    Parameters
    ----------
    total : units of the whole work, which tell how much time is left; None where it is not known. A function is called
        where there is a bar.
    unit : what a unit is called.

    Yields
    ------
    A function to call with the number of units that are done.
    """
    if not (long and sys.stderr.isatty() and find_spec("tqdm")):
        yield lambda done: None
        return
    from tqdm import tqdm  # type: ignore[import-untyped]

    n = total() if callable(total) else total
    with tqdm(total=n, unit=unit, unit_scale=callable(total)) as bar:
        yield lambda done: bar.update(done) and None
