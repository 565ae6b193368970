"""Take rows of frames without starting the threads of polars, which slows small calls."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.inputs import Array

INDEX = np.uint32 if pl.get_index_type() == pl.UInt32 else np.uint64  # the type in which polars numbers rows


def rows_at(frame: pl.DataFrame, names: Iterable[str], rows: Array) -> pl.DataFrame:
    """Return some rows of some columns.

    They are taken column by column: polars takes rows of a whole frame in threads, and starting them slows small calls.
    """
    at = row_numbers(rows)
    return frame_of({name: frame.get_column(name)[at] for name in names})


def row_numbers(rows: Array) -> pl.Series:
    """Return row numbers in the type of polars, so that they are converted once, not for each column."""
    return pl.Series(rows.astype(INDEX, copy=False))


def to_array(values: pl.Series) -> Array:
    """Return a column as an array, null as NaN."""
    out = values.to_numpy()
    return out.astype(np.float64) if out.dtype == object else out


def in_double(values: Array) -> Array:
    """Return floats as float64, the type of all computations; other types unchanged."""
    return values.astype(np.float64, copy=False) if values.dtype.kind == "f" else values
