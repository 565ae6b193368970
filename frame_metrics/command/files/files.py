"""Files that are read: errors that name them, and several files joined to one frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from frame_metrics.backends.files import Unchanged
from frame_metrics.backends.polars import LazyPolars
from frame_metrics.command.files.text_lines import EXACT, PlainText
from frame_metrics.errors import BadValueError, ColumnError, FrameMetricsError, listed
from frame_metrics.roles.series import TEXTS


@dataclass(frozen=True)
class File:
    """A file that is read."""

    name: str  # as the caller wrote it
    kind: str  # its format
    plan: pl.LazyFrame
    text: PlainText | None  # None if it is not text, or not a file of this machine
    unchanged: Unchanged

    def check(self) -> None:
        """Read the whole file, and raise if that fails; for a text file the error names the line."""
        self.unchanged.check()
        with file_errors(self.name, self.kind):
            types = self.plan.collect_schema()
            if self.text is not None:
                self.text.check_all(types)
            for _ in LazyPolars(self.plan).batches(types.names()):
                pass


@contextmanager
def file_errors(name: str, kind: str, text: PlainText | None = None) -> Iterator[None]:
    """Replace errors of other libraries by errors that name the file and, if ``text`` is given, the line."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, OSError) and error.strerror:  # from the system, as for a file that may not be opened
            raise
        if text is not None:
            text.check_all({})
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise FrameMetricsError(f"{name}: it cannot be read as {kind}: {reason}") from None


def checked(plan: pl.LazyFrame, check: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.LazyFrame:
    """Return a plan that runs a check on the rows that are read; columns that are not needed are still not read."""
    return plan.map_batches(check, streamable=True, validate_output_schema=False)


def read_all(files: Sequence[File]) -> pl.LazyFrame:
    """Return the rows of all files, one below the other; columns are matched by name.

    Raises
    ------
    FrameMetricsError
        The columns of a file differ from those of the first, in their names or in the kind of their values.
    """
    first, *others = files
    types, floats = first.plan.collect_schema(), set[str]()
    for file in files:
        floats |= {column for column, kind in file.plan.collect_schema().items() if kind.is_float()}
    for file in others:
        _check_same(file, first.name, types)
    plans = (checked(file.plan.select(types.names()), partial(_check_whole, file.name, floats)) for file in files)
    return pl.concat(plans, how="vertical_relaxed")


def _check_same(file: File, first: str, types: pl.Schema) -> None:
    """Raise for a file whose columns differ from those of the first, in names or in the kind of values."""
    its = file.plan.collect_schema()
    lacks, more = [one for one in types if one not in its], [one for one in its if one not in types]
    differences = [f"it has no column {listed(lacks)}"] * bool(lacks) + [f"it alone has {listed(more)}"] * bool(more)
    if differences:  # a column of the files' names is of none of them
        theirs = [one for one in types if one != "file" or one in lacks]
        raise ColumnError(f"{file.name}: {', and '.join(differences)}, where {first} has {listed(theirs)}")
    for column, kind in its.items():
        if _sort_of(kind) != _sort_of(types[column]) and pl.Null not in (kind, types[column]):
            raise ColumnError(f"{file.name}: {column} is {kind}, and {types[column]} in {first}; make them of one type")


def _check_whole(name: str, floats: set[str], frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows unchanged; raise for an integer that would be rounded, as another file has floats in its column."""
    for values in frame.iter_columns():
        if values.name in floats and values.dtype.is_integer() and (values.abs() > EXACT).any():
            problem = (
                "has whole numbers past 2**53, and in another file numbers with a fraction, which cannot hold them"
            )
            raise BadValueError(f"{name}: {values.name} {problem}; write ids as text")
    return frame


def _sort_of(kind: Any) -> Any:
    """Return the kind of values of a type; columns of one kind can be joined."""
    if kind.is_numeric():
        return "number"
    return "text" if isinstance(kind, TEXTS) else kind.base_type()
