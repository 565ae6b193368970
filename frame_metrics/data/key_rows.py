"""The rows from which the keys of a log are read."""

from __future__ import annotations

import numpy as np
import polars as pl

from frame_metrics.data.judgments import JudgmentTable
from frame_metrics.data.row_map import Origin
from frame_metrics.fast.take_rows import rows_at
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.roles.columns import Columns


@record
class KeyRows:
    """The rows from which the keys of a log are read.

    One count of rows goes through the table of the log, ``empty_queries`` and the frame of the judgments.
    """

    columns: Columns
    table: pl.DataFrame
    empty_queries: pl.DataFrame  # a row for each query without results
    separate_judgments: JudgmentTable | None
    origin: Origin | None  # maps rows of the log to rows of the caller's frame; None where they are the same

    @property
    def n_rows(self) -> int:
        """Number of rows before those of the judgments."""
        return len(self.table) + len(self.empty_queries)

    def keys_at(self, keys: list[str], rows: Array) -> pl.DataFrame:
        """Return key values at some rows: of the log, or, past its end, of the judgments."""
        n, of_log = self.n_rows, self.table
        if len(self.empty_queries):
            of_log = pl.concat([of_log.select(keys), self.empty_queries.select(keys)])
        if self.separate_judgments is None or not (rows >= n).any():
            return rows_at(of_log, keys, rows)
        # Keys of judgments are read from ``queries``, which has one row for each judged query.
        position = n + np.searchsorted(self.separate_judgments.row, np.maximum(rows - n, 0))
        judged = self.separate_judgments.queries
        unknown = (pl.lit(None, of_log.schema[key]).alias(key) for key in keys if key not in judged.columns)
        both = pl.concat([of_log.select(keys), judged.with_columns(unknown).select(keys)])
        return both[np.where(rows < n, rows, position)]

    def key_rows(self, name: str, rows: Array) -> Array:
        """Return rows of the caller's frame, or of its judgments, with the values of a key column at some rows.

        ``name``: the caller's name of the column; only judgments have it if it is among ``from_judgments``.
        """
        at = self._judgment_rows(name, rows) if name in self.columns.shape.from_judgments else rows
        return at if self.origin is None else self.origin.rows(at)

    def _judgment_rows(self, name: str, rows: Array) -> Array:
        """Return rows of the judgments, past the end of the log, with the values of a segment column at some rows."""
        internal = self.columns.internal_by_role[1][self.columns.by.index(name)]
        values = self.keys_at([internal], rows)
        if self.separate_judgments is None or not len(values):
            return rows
        theirs = self.separate_judgments.queries.select(internal, at=pl.Series(self.separate_judgments.row)).unique(
            internal, keep="first"
        )
        at = values.join(theirs, on=internal, how="left", nulls_equal=True, maintain_order="left")["at"]
        return (at + self.n_rows).fill_null(NONE).to_numpy()
