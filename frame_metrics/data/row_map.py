"""Map rows of a table that was made here back to the rows that they were made of, in answers and in errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import BadRowsError, bad_rows_message
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE


@record
class Origin:
    """The source row of each row of a table, which was made by dropping, unfolding, cutting or counting rows."""

    row: Array | None  # the source row of each row, shape (rows,); None if source rows have no numbers
    n: int | None  # number of source rows; None if unknown
    times: Array | None = None  # number of source rows that each row stands for, shape (rows,); None: one each
    # If several columns were stacked into one: the column that each row's value came from. The series has the name of
    # the stacked column.
    parts: pl.Series | None = None

    def rows(self, at: Array) -> Array:
        """Map rows to source rows; -1 stays -1, which is no row.

        A number past the end of the table is a row of the judgments, and becomes a number past the end of the source.
        """
        if self.row is None or self.n is None:
            return at
        n = len(self.row)
        source_row = np.append(self.row, [0, NONE])  # index -1 finds NONE; the 0, for rows past the end, is not used
        return np.where(at < n, source_row[np.minimum(at, n)], at - n + self.n)

    def answer(self, answer: Answer) -> Answer:
        """Return an answer with key rows mapped to source rows."""
        keys = {name: at if isinstance(at, pl.Series) else self.rows(at) for name, at in answer.keys.items()}
        return replace(answer, keys=keys)

    def error(self, error: BadRowsError, at: Array) -> BadRowsError:
        """Return an error about rows of the table as an error about their source rows.

        If several columns were stacked, the new error is about the first of them with bad rows. ``at``: the bad rows.
        """
        column = error.column
        if self.parts is not None and column == self.parts.name:
            part = self.parts[at].cast(pl.String)
            column, at = part[0], at[(part == part[0]).to_numpy()]
        rows = at if self.row is None else np.unique(self.row[at])
        n = len(rows) if self.times is None else int(self.times[at].sum())
        rows = rows[:0] if self.row is None else rows
        fields: dict[str, Any] = {"what": error.what, "remedy": error.remedy, "where": error.where}
        return BadRowsError(
            bad_rows_message(column, n, rows[:3], self.n, **fields), column=column, rows=rows, n=n, **fields
        )

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors about rows of the table into errors about their source rows."""
        try:
            yield
        except BadRowsError as error:
            raise self.error(error, np.asarray(error.rows, np.int64)) from None
