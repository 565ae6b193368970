"""The base class of backends: a backend reads columns of a frame, and makes a frame of the same kind from an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import polars as pl

from frame_metrics.backends.reordering import moving_function, without_groups
from frame_metrics.errors import BadValueError, ColumnError, class_name, closest, listed, quote
from frame_metrics.hidden import COMPUTED
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record

if TYPE_CHECKING:
    from frame_metrics.answer import Answer

Schema: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
PieceFunction: TypeAlias = Callable[[pl.DataFrame], pl.DataFrame]
ComputeFromRows: TypeAlias = "Callable[[pl.DataFrame | Pieces], Answer]"  # from rows, or a frame in pieces


@record
class Gathering:
    """A function to run on each piece of whole queries; its tables are put one below the other."""

    columns: Sequence[str]  # the columns of a piece
    keys: Sequence[str]  # the columns that identify a query; none where each row is a query
    work: PieceFunction  # from a piece to a table; it can be pickled
    schema: Mapping[str, Any]  # the types of that table's columns
    reduce: PieceFunction | None = None  # from the tables of several pieces to a smaller one


class Pieces(ABC):
    """A frame whose rows are not all in memory: it runs functions on pieces of whole queries, or counts rows."""

    ordered: ClassVar[bool] = False  # True if pieces have a column ``ORDER``, the numbers of their rows
    distributes: ClassVar[bool] = False  # True if an answer may be ``DistributedAnswer``

    @abstractmethod
    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the polars type of each named column."""

    @abstractmethod
    def gathered(self, gathering: Gathering) -> pl.DataFrame:
        """Run a function on all pieces, and return its tables, one below the other."""

    @abstractmethod
    def counted(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the distinct rows of some columns, and their counts in a last column ``TIMES``."""


@dataclass(frozen=True)
class Limits:
    """Memory and temporary files that a large frame may use."""

    memory: int | None = None  # bytes; None for half of the free memory
    folder: Any = None  # the path of a folder for temporary files; None for the folder of the system


@record
class Request:
    """A call of a verb that a backend has to answer."""

    columns: Sequence[str]  # the columns to read
    compute: ComputeFromRows  # from the rows that were read to an answer
    schema: Schema  # from the types of the columns to those of the result, for a plan that has not run
    limits: Limits  # of memory, for rows that may not fit in it
    in_pieces: bool  # True if ``compute`` also takes a frame in pieces
    classes: Sequence[str] = ()  # the columns to read that hold classes, of which the order of categories counts


@record
class Backend(ABC):
    """A frame of one kind."""

    frame: Any  # the caller's
    way_to_make_column: ClassVar[str] = ""  # a way to make a column, for kinds of frames that take no expressions
    numbered: ClassVar[bool] = True  # True if its rows have numbers; those of a stream have none
    ignores_case: ClassVar[bool] = False  # True where "Value" and "value" name one column
    # The way to make a list of each value of a column, as relevant= takes it; {} is the name. "" if there is none.
    as_lists: ClassVar[str] = ""

    @property
    def n_rows_in_memory(self) -> int | None:
        """Number of rows in memory; None for those that have to be read."""
        return None

    @property
    def native(self) -> Any:
        """The frame in the kind that the caller uses."""
        return self.frame

    @abstractmethod
    def names(self) -> list[Any]:
        """Return the names of the columns; nothing is read."""

    @abstractmethod
    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the named columns as polars; no other column is read."""

    @abstractmethod
    def to_native(self, answer: Answer) -> Any:
        """Return an answer as a frame of this kind."""

    def answer(self, request: Request) -> Any:
        """Read columns, compute, and return the answer as a frame of this kind, or as a plan that has not run."""
        own = self.in_memory(request.columns)
        return own.to_native(request.compute(own.as_enums(own.read(request.columns), request.classes)))

    def in_memory(self, columns: Sequence[str]) -> Backend:
        """Return the backend of a frame that can be read more than once: a plan is run, a stream is read to its end."""
        return self

    def rows_of(self, columns: Sequence[str], keys: pl.DataFrame) -> pl.DataFrame:
        """Return the named columns of the rows whose keys are among ``keys``; a large frame never has all in memory."""
        return same_keys(self.read(columns), keys)

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the polars type of each named column."""
        return dict(self.read(columns).schema)

    def as_enums(self, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        """Return rows that were read, with the named columns as Enums where an ordered dictionary of Arrow holds them.

        Its texts have an order as classes. As ids they have none: other frames may have more of them.
        """
        return rows

    def holds_lists(self, column: str) -> bool:
        """Return True for a column whose values are lists; as little as possible is read."""
        return isinstance(self.types([column])[column], pl.List | pl.Array)

    def container(self, column: str) -> str:
        """Return the kind of a column's values: "list", or "tuple" or "set" of Python, else ""."""
        return "list" if self.holds_lists(column) else ""

    def first_of(self, column: str) -> Any:
        """Return a value of a column that stands among the first; None if that is not known without reading it."""
        return None

    def with_lists(self, columns: Sequence[str]) -> Backend:
        """Return this backend, which reads the values of some columns as lists, though they are tuples or sets."""
        return self

    def evaluate_expression(self, given: Any, limits: Limits) -> tuple[str | None, Any]:
        """Evaluate an expression, or a function of the frame, that describes a column; return its name and values.

        The name is the expression's alias, or else the name of the only column that it reads. It is None if the values
        that a function returns have no name.

        Parameters
        ----------
        given : an expression of polars, an expression of pandas 3, or a function of the frame.
        limits : of memory, for a frame that is read in batches.
        """
        if self.way_to_make_column:
            raise BadValueError(f"a {class_name(self.frame)} takes names of columns; {self.way_to_make_column}")
        values = given if isinstance(given, pl.Expr) else self.call_function(given)
        if isinstance(values, pl.Expr):
            if (way := moving_function(values)) is not None:
                raise BadValueError(
                    f"{way}() moves values to other rows; give a value for each row, in their order (a column of the "
                    "frame, if the new order is meant)"
                )
            return _name_of(values), self.computed(values, limits)
        known = self.head_and_height(0)
        if not hasattr(values, "__len__") or isinstance(values, str | dict | set) or getattr(values, "ndim", 1) != 1:
            raise BadValueError(f"it gives {quote(values)}; expected is a column, with a value for each row")
        if known is not None and len(values) != known[1]:
            raise BadValueError(f"it gives {len(values)} values, and the frame has {known[1]} rows")
        name = getattr(values, "name", None)
        return None if name is None else str(name), values

    def call_function(self, function: Any) -> Any:
        """Call a user's function with the frame, and return its result."""
        return function(self.frame)

    def computed(self, expression: pl.Expr, limits: Limits) -> Any:
        """Return the values of an expression of polars; of a plan that has not run, the checked expression."""
        roots = list(dict.fromkeys(expression.meta.root_names()))
        return self.read(roots or self.names()[:1]).with_columns(expression.alias(COMPUTED))[COMPUTED].alias("")

    def with_columns(self, columns: dict[str, Any]) -> Backend:
        """Return the frame with computed columns; one that has the name of an existing column replaces it."""
        raise NotImplementedError

    @property
    def unchanged(self) -> bool:
        """True if the frame still has the same columns as when this backend was made.

        Frames of some kinds can be changed in place.
        """
        return replace(self).names() == self.names()

    def head_and_height(self, n: int) -> tuple[Backend, int] | None:
        """Return the first ``n`` rows, and the number of all rows; None if the rows are not in memory."""
        return None

    def collected(self, answer: Any) -> Any:
        """Compute an answer that is still a plan, and return a frame of the same kind; any other answer unchanged."""
        return answer

    def hint(self, column: Any) -> str:
        """Return a hint for the error about a column that does not exist."""
        return closest(column, self.names())

    def check(self, columns: Sequence[str]) -> None:
        """Raise for a column that does not exist, that exists twice, or whose name polars reads as a pattern."""
        names = self.names()
        there = dict.fromkeys(names, 1)
        there = there if len(there) == len(names) else Counter(names)  # in rare frames names repeat
        for column in columns:
            if not isinstance(column, str):
                raise ColumnError(f"a column is called {quote(column)}, which is no text; rename it")
            if column not in there:
                raise ColumnError(f"there is no column {quote(column)} among {listed(self.names())}{self.hint(column)}")
            if there[column] > 1:
                raise ColumnError(f"there are {there[column]} columns called {quote(column)}; rename all but one")
            if column == "*" or (column.startswith("^") and column.endswith("$")):
                raise ColumnError(f"polars takes the name {quote(column)} for a pattern of names; rename the column")


def _name_of(expression: pl.Expr) -> str:
    """Return the alias of an expression, or else the name of the only column that it reads; ``over`` names none."""
    meta = expression.meta
    if meta.has_multiple_outputs():
        raise BadValueError("it makes several columns; give an expression for each")
    if not meta.eq(meta.undo_aliases()):
        return meta.output_name()
    roots = list(dict.fromkeys(without_groups(expression).meta.root_names()))
    if len(roots) != 1:
        made_of = f"the columns {listed(roots)}" if roots else "no column"
        raise BadValueError(f"it is made of {made_of}; name it with .alias()")
    return roots[0]


def same_keys(table: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a table whose keys are among ``keys``; null is a key like any other."""
    alike = keys.cast({name: table.schema[name] for name in keys.columns})
    return table.join(alike, on=keys.columns, how="semi", nulls_equal=True, maintain_order="left")


@record
class SeparateJudgments:
    """The judgments beside a frame, read once. Row numbers past the frame's end are rows of the judgments."""

    backend: Backend | None  # of the judgments, in memory; None if there are no judgments beside the frame
    columns: dict[str, str]  # the name of each key column of the log -> its name in the judgments

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return columns of the judgments as polars."""
        return pl.DataFrame() if self.backend is None else self.backend.read(columns)

    def rows(self, rows: Array, n: int) -> Array:
        """Turn row numbers past the end of a frame of ``n`` rows into rows of the judgments; -1 stays."""
        return np.where(rows < 0, rows, rows - n)

    def key(self, name: str) -> pl.Series:
        """Return a key column of the judgments; ``name`` is its name in the log."""
        own = self.columns[name]
        return self.read([own])[own]


NO_JUDGMENTS = SeparateJudgments(None, {})
