"""DuckDB: relations, of which only the needed columns are computed; answers are relations of the same connection."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from glob import glob
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.backends.arrow import as_polars, narrow
from frame_metrics.backends.files import Unchanged
from frame_metrics.backends.pieces import Streamed
from frame_metrics.backends.polars import PolarsFrame
from frame_metrics.backends.protocol import Backend, Request
from frame_metrics.errors import BadValueError, NotComputableError
from frame_metrics.hidden import TIMES
from frame_metrics.inputs.records import record

if TYPE_CHECKING:
    from frame_metrics.answer import Answer

UNREADABLE = ("BIT", "TIME WITH TIME ZONE", "UHUGEINT")  # types that DuckDB exports with a loss
ENTRY = "_irm_relation_"  # the name of a relation while a query on it runs
# Settings that have to be on for a result to become a relation: DuckDB then finds the Python variable that holds it.
REPLACEMENTS = ("python_enable_replacements", "enable_external_access")
_LOCK = RLock()
_MADE = count()  # numbers for the names of the relations that are made here; in a join names have to differ


@contextmanager
def _alone() -> Iterator[None]:
    """Keep other threads of this package from using a connection at the same time.

    DuckDB 1 would mix the rows of two queries on one connection; DuckDB 2 refuses the second.

    Raises
    ------
    NotComputableError
        The caller's own code is using the connection.
    """
    try:
        with _LOCK:  # one lock for all connections, as a relation does not say which connection it has
            yield
    except (OSError, sys.modules["duckdb"].Error) as error:  # OSError if Arrow was reading
        if "Resource In Use" not in str(error):
            raise
        raise NotComputableError(
            "the relation's connection is at work elsewhere, for another thread or a result that is being read; "
            "give each its own connection, as cursor() does"
        ) from None


def is_duckdb(frame: Any) -> bool:
    """Return True for a relation of DuckDB."""
    return type(frame).__module__.split(".")[0] in ("duckdb", "_duckdb") and hasattr(frame, "project")


class DuckDBFrame(Streamed):
    """A relation of DuckDB: its columns are known before it runs, and it computes only the needed ones."""

    way_to_make_column = "make it one: relation.project('*, -distance as score')"
    numbered = False
    ignores_case = True
    engine_memory = 100_000_000  # measured, DuckDB 2.0, two threads

    @cached_property
    @_alone()
    def _names(self) -> list[str]:
        return list(self.frame.columns)

    def names(self) -> list[Any]:
        return self._names.copy()

    @_alone()
    def type_of(self, column: str) -> Any:
        """Return DuckDB's type of a column; as text it is SQL."""
        return self.frame.types[self._names.index(column)]

    def check(self, columns: Sequence[str]) -> None:
        super().check(columns)
        for column in columns:
            if (kind := str(self.type_of(column))) in UNREADABLE:
                raise BadValueError(f"{column}: the column is {kind}, which cannot be read; cast it to another type")

    @_alone()
    def projected(self, columns: Sequence[str]) -> Any:
        """Return a relation of the named columns, chosen by position, as to DuckDB "a" and "A" are one name."""
        self.check(columns)
        return self.frame.project(_renamed([self._names.index(column) for column in columns], columns))

    @_alone()
    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        return dict(next(_batches(self.projected(columns).limit(0))).schema)

    def holds_lists(self, column: str) -> bool:
        return column in self._names and self.type_of(column).id in ("list", "array")

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        return pl.concat(self.batches(columns))

    def with_rows(self, table: pl.DataFrame) -> Backend:
        return FetchedRows(table, self)

    @_alone()
    def n_rows(self, column: str) -> int:
        return int(self.frame.aggregate("count(*)").fetchall()[0][0])

    def batches(self, columns: Sequence[str], memory: int | None = None) -> Generator[pl.DataFrame, None, None]:
        """Yield the rows of the named columns in batches, as DuckDB computes them.

        Until the last batch nothing else may run on the relation's connection: DuckDB 1 would end the rows early, and
        DuckDB 2 raises.
        """
        with _alone():
            yield from _batches(self.projected(columns))

    def counts(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield the distinct rows of the named columns, counted by DuckDB, in the order of their first appearance."""
        with _alone():
            numbered = self.projected(columns).project("*, row_number() over ()")
            alike = ", ".join(f"#{i + 1}" for i in range(len(columns)))
            grouped = numbered.aggregate(f"{alike}, count(*), min(#{len(columns) + 1})", alike).order(
                f"#{len(columns) + 2}"
            )
            names = [*columns, TIMES]
            places = [f"c{i}" for i in range(len(names))]  # since the last name is not valid in SQL
            for batch in _batches(grouped.project(_renamed(range(len(names)), places))):
                yield batch.rename(dict(zip(places, names, strict=True)))

    def answer(self, request: Request) -> Any:
        _check_connection(self.frame)
        with Unchanged(_files(self.frame.sql_query())).kept():
            return super().answer(request)


@record
class FetchedRows(PolarsFrame):
    """Rows of a relation that were read; answers are relations of its connection."""

    origin: DuckDBFrame

    def to_native(self, answer: Answer) -> Any:
        keys = {name: answer.source_column(name) for name in answer.keys}
        types = {
            name: str(self.origin.type_of(source)) for name, source in keys.items() if source in self.origin.names()
        }
        found = super().to_native(answer)
        return _relation(self.origin.frame, found.select(map(narrow, found.get_columns())).to_arrow(), types)


@_alone()
def _relation(frame: Any, table: Any, types: dict[str, str]) -> Any:
    """Return a pyarrow Table as a relation of the same connection as another relation.

    Parameters
    ----------
    frame : the other relation.
    table : the rows.
    types : the types of columns as SQL, by name. A column gets its type if the type holds every value; they restore
        types that Arrow does not have: UUID, HUGEINT, ENUM.
    """
    columns = [f"c{i}" for i in range(table.num_columns)]  # as to DuckDB "a" and "A" are one name
    made = _run(frame, "select * from _irm_answer_", table.rename_columns(columns))
    casts = {}
    for column, name, kind in zip(columns, table.column_names, map(str, made.types), strict=True):
        wanted = types.get(name, kind)
        lost = f"count({column}) > count(try_cast({column} as {wanted}))"
        casts[name] = column if wanted == kind or made.aggregate(lost).fetchall()[0][0] else f"{column}::{wanted}"
    selected = ", ".join(f"{value} as {_quoted(name)}" for name, value in casts.items())
    return made.set_alias(f"irm_{next(_MADE)}").project(selected)


@_alone()
def _check_connection(frame: Any) -> None:
    """Raise if a result cannot become a relation of the connection of ``frame``."""
    instead = "or give the relation's to_arrow_table()"
    if _version() < (1, 5, 4):  # the entry goes into the user's database, or is not found again
        own = sys.modules["duckdb"].__version__
        raise BadValueError(
            f"DuckDB {own} is too old for a result to become a relation: install 1.5.4 or later, {instead}"
        )
    settings = ", ".join(f"current_setting('{name}')" for name in REPLACEMENTS)
    for name, on in zip(REPLACEMENTS, _run(frame, f"select {settings}").fetchall()[0], strict=True):
        if not on:
            way = "set it true" if name == REPLACEMENTS[0] else "open the database with it"
            what = f"{name} is off, without which a result cannot become a relation of the connection"
            raise BadValueError(f"{what}: {way}, {instead}")


def _run(relation: Any, sql: str, _irm_answer_: Any = None) -> Any:
    """Run SQL on the connection of a relation.

    The SQL may read ``_irm_answer_``: DuckDB finds no table of this name, and so takes the Python variable.
    """
    found = relation.query(ENTRY, sql)
    if _version() < (2,):  # which leaves the entry there
        relation.query(ENTRY, f"drop view temp.{ENTRY}")
    return found


def _version() -> tuple[int, ...]:
    """Return the parts of DuckDB's version as integers; as text, 1.10 would come before 1.5."""
    return tuple(map(int, re.findall(r"\d+", sys.modules["duckdb"].__version__)))


def _batches(relation: Any) -> Iterator[pl.DataFrame]:
    """Run a relation, and yield its rows in batches; a relation without rows gives one empty batch."""
    import pyarrow as pa

    with pa.RecordBatchReader.from_stream(relation) as reader:
        batch = None
        for batch in reader:
            yield as_polars(pa.Table.from_batches([batch]))
        if batch is None:
            yield as_polars(reader.schema.empty_table())


def _renamed(places: Iterable[int], names: Sequence[str]) -> str:
    """Return SQL that selects the columns at some places, counted from 0, and gives them new names."""
    return ", ".join(f"#{place + 1} as {_quoted(name)}" for place, name in zip(places, names, strict=True))


def _files(sql: str) -> list[str]:
    """Return the existing files whose names, or patterns, are string literals of a query, or names of tables in it."""
    named = re.findall(r"""(['"])((?:(?!\1).|\1\1)+)\1""", sql, re.DOTALL)
    return [file for quote, text in named for file in glob(text.replace(quote * 2, quote))]


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))
