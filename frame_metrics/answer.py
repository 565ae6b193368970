"""An answer: what a verb returns before the border makes a frame of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from frame_metrics.inputs import Array


@dataclass(frozen=True, eq=False)
class Answer:
    """A result: columns, and key columns as rows of the caller's frame that hold their values, or as the values.

    A row of -1 is null, one past the frame's end is a row of the judgments.
    """

    keys: Mapping[str, Array | pl.Series]  # by the caller's name, the row of each result row, or the value
    columns: dict[str, pl.Series]
    aliases: Mapping[str, str] = field(default_factory=dict)  # the caller's name of a key column that has another here
    table: Any = None  # polars, whose rows the key rows are; None for what was read of the frame
    beside: Any = None  # the judgments, where the keys of rows past the end of the table stand

    def of_rows(self, table: pl.DataFrame, beside: Any) -> Answer:
        """Return the answer with the tables that its key rows are of; one that knows its own table keeps it."""
        return replace(self, table=table if self.table is None else self.table, beside=beside)

    def source(self, name: str) -> str:
        """Return what the caller calls the column that a key column is taken from."""
        return self.aliases.get(name, name)


def frame_of(columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Return columns of one length as a frame, under the names that they have here."""
    each = [values if values.name == name else values.alias(name) for name, values in columns.items()]
    return each[0].to_frame().hstack(each[1:]) if each else pl.DataFrame()  # the plain way costs a small call more
