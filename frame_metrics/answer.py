"""An answer: what a verb returns before the backend makes a frame of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import polars as pl

from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record

NOTHING = pl.DataFrame()


@record
class Answer:
    """A result: its columns, and its keys.

    A key column holds the values themselves, or *key rows*: the rows of the caller's frame that have these values. A
    key row of -1 is null, one past the frame's end is a row of the judgments.
    """

    keys: Mapping[str, Array | pl.Series]  # by the caller's name: a key row for each result row, or its value
    columns: dict[str, pl.Series]
    # For a key column that has another name here, such as "baseline": the caller's name of the column.
    aliases: Mapping[str, str] = field(default_factory=dict)
    table: Any = None  # the polars table that key rows count in; None: the caller's frame as it was read
    judgments: Any = None  # the judgments, where the keys of rows past the end of the table stand
    distributed: DistributedAnswer | None = None  # instead of all that: how to make the rows elsewhere
    # For a column of classes, the caller's columns that it was made of, to restore their type.
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def of_rows(self, table: pl.DataFrame, judgments: Any) -> Answer:
        """Return the answer with the tables that its key rows are of; one that knows its own table keeps it."""
        table = table if self.table is None else self.table
        return Answer(self.keys, self.columns, self.aliases, table, judgments, self.distributed, self.classes)

    def source_column(self, name: str) -> str:
        """Return what the caller calls the column that a key column is taken from."""
        return self.aliases.get(name, name)


@record
class DistributedAnswer:
    """A result that is made where the rows are, piece by piece; its functions can be sent to other processes.

    1. ``each`` reduces a piece, and ``facts`` reduces that to a few facts.
    2. ``known`` gets the facts of all pieces, one after the other.
    3. ``rows`` gets a reduced piece, and what ``known`` returned, and makes the rows of the piece.
    """

    columns: Sequence[str]  # those of a piece
    keys: Sequence[str]  # those of them that rows of one query agree in
    queries: pl.DataFrame | None  # keys that are in a piece, maybe without rows: ``HAS_ROW`` is false in these
    each: Callable[[pl.DataFrame], pl.DataFrame]  # what a piece is reduced to
    facts: Callable[[pl.DataFrame], pl.DataFrame]  # of that, the little that is to be known of all pieces
    # From the facts of all pieces: what each result needs. It raises if the facts show a fault.
    known: Callable[[pl.DataFrame], pl.DataFrame]
    rows: Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]  # of what a piece is reduced to, and what is known


def frame_of(columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Return columns of one length as a frame, under the names that they have here."""
    each = [values if values.name == name else values.alias(name) for name, values in columns.items()]
    return each[0].to_frame().hstack(each[1:]) if each else NOTHING  # the plain way costs a small call more
