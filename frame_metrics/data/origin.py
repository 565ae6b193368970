"""The way back from rows that were made here to those that they were made of, of answers and of errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import BadRowsError, about_rows
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE


@dataclass(frozen=True, eq=False)
class Origin:
    """The rows that those of a table were made of: by leaving some out, unfolding lists, cutting pieces or counting."""

    row: Array | None  # the row that each was made of, shape (rows,); None where these have no numbers
    n: int | None  # how many there were; None where that is not known
    times: Array | None = None  # how many rows each stands for, shape (rows,); None for one each
    # Called as a column that was made of several, the one that each row has its value of; None where there is none.
    parts: pl.Series | None = None

    def rows(self, at: Array) -> Array:
        """Return the rows that some were made of: one past the end is of the judgments and stays so, -1 is none."""
        if self.row is None or self.n is None:
            return at
        here = len(self.row)
        every = np.append(self.row, [0, NONE])  # the last is that of -1; past the end stands anything
        return np.where(at < here, every[np.minimum(at, here)], at - here + self.n)

    def answer(self, answer: Answer) -> Answer:
        """Return an answer whose keys are rows of the table with the rows that these were made of."""
        keys = {name: at if isinstance(at, pl.Series) else self.rows(at) for name, at in answer.keys.items()}
        return replace(answer, keys=keys)

    def error(self, error: BadRowsError, at: Array) -> BadRowsError:
        """Return the error about some rows of the table as one about those that they were made of.

        Of several columns that were made one it is about the first that is bad.
        """
        column = error.column
        if self.parts is not None and column == self.parts.name:
            part = self.parts[at].cast(pl.String)
            column, at = part[0], at[(part == part[0]).to_numpy()]
        rows = at if self.row is None else np.unique(self.row[at])
        n = len(rows) if self.times is None else int(self.times[at].sum())
        rows = rows[:0] if self.row is None else rows
        message = about_rows(column, n, rows[:3], self.n, error.what, error.remedy)
        return BadRowsError(message, column=column, rows=rows, n=n, what=error.what, remedy=error.remedy)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Let errors be about the rows that those of the table were made of."""
        try:
            yield
        except BadRowsError as error:
            raise self.error(error, np.asarray(error.rows, np.int64)) from None
