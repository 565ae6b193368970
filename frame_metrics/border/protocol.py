"""The border of every kind of frame: it gives its columns, and takes an answer back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import polars as pl

from frame_metrics.errors import BadValueError, ColumnError, closest, kind_of, listed, shown
from frame_metrics.inputs import Array

if TYPE_CHECKING:
    from frame_metrics.answer import Answer

MADE = "\0made"  # the column of an expression while it is computed
Schema: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
Work: TypeAlias = Callable[[pl.DataFrame], pl.DataFrame]
Compute: TypeAlias = "Callable[[pl.DataFrame | Pieces], Answer]"  # from rows that were read, or what works on pieces


@dataclass(frozen=True, eq=False)
class Gathering:
    """Something that is gathered of pieces of whole queries: what work gives of each, one below the other."""

    columns: Sequence[str]  # of a piece
    keys: Sequence[str]  # those of them that rows of one query agree in; none where each row is a query
    work: Work  # a function of a piece; it can be pickled
    schema: Mapping[str, Any]  # the types of the columns that it returns
    together: Work | None = None  # makes less of what was returned for several pieces, where it may be much


class Pieces(ABC):
    """A frame whose rows are not in memory together: pieces of whole queries are worked on, or rows are counted."""

    ordered: ClassVar[bool] = False  # whether pieces have the numbers of their rows, under the name ``ORDER``
    spreads: ClassVar[bool] = False  # whether an answer may be ``Spread``

    @abstractmethod
    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the types of columns, as polars has them."""

    @abstractmethod
    def gathered(self, asked: Gathering) -> pl.DataFrame:
        """Return what is gathered of all pieces."""

    @abstractmethod
    def counted(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the distinct rows of some columns, and in a last column, ``TIMES``, how often each stands."""


@dataclass(frozen=True)
class Limits:
    """Memory and temporary files that a large frame may use."""

    memory: int | None = None  # bytes; None for half of what is free
    folder: Any = None  # the path of one, for temporary files; None for the system's own


@dataclass(frozen=True, eq=False)
class Request:
    """A call of a verb, as a border answers it."""

    columns: Sequence[str]  # those that are read
    compute: Compute  # what was read to an answer
    schema: Schema  # the types of the columns to those of the result, for a plan that has not run
    limits: Limits  # of memory, where the rows do not fit in it
    in_pieces: bool  # whether ``compute`` also takes what works on pieces of the frame


@dataclass(frozen=True, eq=False)
class Border(ABC):
    """A frame of one kind."""

    frame: Any  # the caller's
    selects: ClassVar[str] = ""  # what to do instead, of a frame that makes no columns of expressions
    numbered: ClassVar[bool] = True  # whether its rows have numbers, which those of a stream have not

    @property
    def given(self) -> Any:
        """The frame as the caller has such frames."""
        return self.frame

    @abstractmethod
    def names(self) -> list[Any]:
        """Return the names of the columns; nothing is read."""

    @abstractmethod
    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the named columns as polars; no other column is touched."""

    @abstractmethod
    def given_back(self, answer: Answer) -> Any:
        """Return an answer as a frame of this kind."""

    def answer(self, request: Request) -> Any:
        """Read columns, compute, and return the answer as a frame of this kind, or as a plan that has not run."""
        own = self.in_memory(request.columns)
        return own.given_back(request.compute(own.read(request.columns)))

    def in_memory(self, columns: Sequence[str]) -> Border:
        """Return the named columns so that they can be read again: a plan is run, a stream read to its end."""
        return self

    def rows_of(self, columns: Sequence[str], keys: pl.DataFrame) -> pl.DataFrame:
        """Return some columns of the rows whose keys stand in a table; others are not held together."""
        return same_keys(self.read(columns), keys)

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the types of columns, as polars has them."""
        return dict(self.read(columns).schema)

    def holds_lists(self, column: str) -> bool:
        """Return True for a column whose values are lists; no more is read than tells."""
        return isinstance(self.types([column])[column], pl.List | pl.Array)

    def made(self, given: Any, limits: Limits) -> tuple[str | None, Any]:
        """Return the name and the values of the column that an expression, or a function of the frame, makes.

        The name is that of an alias, else of the one column that an expression is made of; None where a function gives
        none. ``limits``: of memory, in which rows are read in batches.
        """
        if self.selects:
            raise BadValueError(f"a {kind_of(self.frame)} takes names of columns; {self.selects}")
        values = given if isinstance(given, pl.Expr) else self.called(given)
        if isinstance(values, pl.Expr):
            return _name_of(values), self.computed(values, limits)
        looked_at = self.looked_at(0)
        if not hasattr(values, "__len__") or isinstance(values, str | dict | set) or getattr(values, "ndim", 1) != 1:
            raise BadValueError(f"it gives {shown(values)}; expected is a column, with a value for each row")
        if looked_at is not None and len(values) != looked_at[1]:
            raise BadValueError(f"it gives {len(values)} values, and the frame has {looked_at[1]} rows")
        name = getattr(values, "name", None)
        return None if name is None else str(name), values

    def called(self, function: Any) -> Any:
        """Return what a function of the caller's gives for the frame."""
        return function(self.frame)

    def computed(self, expression: pl.Expr, limits: Limits) -> Any:
        """Return the values of an expression of polars, or what they will be in a plan that has not run."""
        roots = list(dict.fromkeys(expression.meta.root_names()))
        return self.read(roots or self.names()[:1]).with_columns(expression.alias(MADE))[MADE].alias("")

    def with_columns(self, columns: dict[str, Any]) -> Border:
        """Return the frame with columns that were made; one that is called as its own stands in the place of that."""
        raise NotImplementedError

    @property
    def unchanged(self) -> bool:
        """True where the frame still has the columns that it had, as some kinds may be changed in place."""
        return replace(self).names() == self.names()

    def looked_at(self, n: int) -> tuple[Border, int] | None:
        """Return the first ``n`` rows, and how many there are; None where the rows are not in memory."""
        return None

    def at_once(self, answer: Any) -> Any:
        """Return an answer that has been computed: that of a plan is run, and stays of its kind."""
        return answer

    def hint(self, column: Any) -> str:
        """Return a hint where a column is not there."""
        return closest(column, self.names())

    def check(self, columns: Sequence[str]) -> None:
        """Raise for a column that is not there, that stands twice, or whose name polars takes for a pattern."""
        there = self.names()
        for column in columns:
            if not isinstance(column, str):
                raise ColumnError(f"a column is called {column!r}, which is no text; rename it")
            if column not in there:
                raise ColumnError(f"there is no column {column!r} among {listed(there)}{self.hint(column)}")
            if there.count(column) > 1:
                raise ColumnError(f"there are {there.count(column)} columns called {column!r}; rename all but one")
            if column == "*" or (column.startswith("^") and column.endswith("$")):
                raise ColumnError(f"polars takes the name {column!r} for a pattern of names; rename the column")


def _name_of(expression: pl.Expr) -> str:
    """The alias of an expression, else the name of the one column that it is made of."""
    meta = expression.meta
    if meta.has_multiple_outputs():
        raise BadValueError("it makes several columns; give an expression for each")
    if not meta.eq(meta.undo_aliases()):
        return meta.output_name()
    roots = list(dict.fromkeys(meta.root_names()))
    if len(roots) != 1:
        made_of = f"the columns {listed(roots)}" if roots else "no column"
        raise BadValueError(f"it is made of {made_of}; say what it is called, with .alias()")
    return roots[0]


def same_keys(table: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a table whose keys stand in another one; null is a key like others."""
    alike = keys.cast({name: table.schema[name] for name in keys.columns})
    return table.join(alike, on=keys.columns, how="semi", nulls_equal=True, maintain_order="left")


@dataclass(frozen=True, eq=False)
class Beside:
    """The judgments beside a frame, read once: where the keys of rows past the frame's end stand."""

    border: Border | None  # of a frame in memory; None where there are no judgments beside the frame
    columns: dict[str, str]  # its column for each key column of the log

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return columns of the judgments as polars."""
        return pl.DataFrame() if self.border is None else self.border.read(columns)

    def rows(self, rows: Array, n: int) -> Array:
        """Return rows of the judgments that are counted past the end of a frame of ``n``; -1 stays."""
        return np.where(rows < 0, rows, rows - n)

    def key(self, name: str) -> pl.Series:
        """Return a key column, by its name in the log."""
        own = self.columns[name]
        return self.read([own])[own]
