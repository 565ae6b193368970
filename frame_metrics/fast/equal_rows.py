"""Find equal rows of frames: runs of equal keys, and for each row the first row that is equal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.fast.take_rows import INDEX, row_numbers
from frame_metrics.inputs import Array
from frame_metrics.roles.series import TEXTS

ROWS_COMPARED = 1 << 20  # number of rows that are compared at a time


def run_starts(frame: pl.DataFrame, keys: Sequence[str]) -> Array | None:
    """Return the rows where a run of equal keys begins.

    None if there are 1,000 rows or more and over half of them begin a run: then equal keys are seldom adjacent.
    """
    n = len(frame)
    if not keys or not n:
        return np.zeros(min(n, 1), np.int64)
    changed = _changed(frame, keys)
    if n >= 1000 and np.count_nonzero(changed) * 2 > n:
        return None
    return np.concatenate([[0], np.flatnonzero(changed) + 1])


def run_codes(frame: pl.DataFrame, keys: Sequence[str]) -> Array:
    """Return the code of the run of equal keys that each row is in, from 0, shape (rows,)."""
    n = len(frame)
    out = np.zeros(n, np.int32 if n < 1 << 31 else np.int64)
    if keys and n:
        np.cumsum(_changed(frame, keys), out=out[1:])
    return out


def _changed(frame: pl.DataFrame, keys: Sequence[str]) -> Array:
    """Mark the rows after the first whose keys differ from those of the row before, shape (rows - 1,)."""
    n, columns = len(frame), map(frame.get_column, keys)
    return reduce(np.logical_or, (differ(key.slice(1), key.slice(0, n - 1)) for key in columns))


def differ(one: pl.Series, other: pl.Series) -> Array:
    """Mark the rows where two columns of one type differ, bool, shape (rows,); a null equals a null."""
    dtype = one.dtype
    if dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128) and not (one.null_count() or other.null_count()):
        return one.to_numpy() != other.to_numpy()
    comparable = dtype.is_numeric() or dtype.is_temporal() or isinstance(dtype, (*TEXTS, pl.Boolean))
    if not comparable or one.null_count() or other.null_count():
        return one.ne_missing(other).to_numpy()
    return (one != other).to_numpy()  # ne_missing() runs an expression, which would slow small calls


def first_equal_rows(frame: pl.DataFrame, columns: Sequence[str]) -> Array:
    """Return for each row the first row with the same values in some columns, shape (rows,)."""
    n, keys = len(frame), [frame.get_column(name) for name in columns]
    if n <= threads.FEW_ROWS and all(key.dtype.is_integer() or isinstance(key.dtype, TEXTS) for key in keys):
        first_row: dict[Any, int] = {}
        rows = zip(*(key.to_list() for key in keys), strict=True)
        return np.array([first_row.setdefault(row, at) for at, row in enumerate(rows)], np.int64)
    slot = _hash_slots(frame[list(columns)])
    first_of_slot, first = np.empty(int(slot.max(initial=0)) + 1, INDEX), np.empty(n, np.int64)
    row = np.arange(n, dtype=INDEX)  # the rows whose first equal row is not found yet
    while len(row):
        first_of_slot[slot[::-1]] = row[::-1]  # backwards, so that the first row of a slot stays
        firsts = first_of_slot[slot]
        first[slice(None) if len(row) == n else row] = firsts
        # Rows whose values differ from those of the first row in their slot (a hash collision) wait for the next round.
        # That first row itself never waits. So each round settles at least one row, and the loop ends.
        wait = np.flatnonzero(_differ_from(keys, row, firsts) & (row != firsts))
        row, slot = row[wait], slot[wait]
    return first


def all_differ(frame: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Return True if no two rows have the same values in some columns; it takes less memory than grouping by them."""
    return bool((first_equal_rows(frame, columns) == np.arange(len(frame))).all())


def _differ_from(keys: Sequence[pl.Series], row: Array, others: Array) -> Array:
    """Mark the rows that differ from their counterpart in some column, bool, shape (len(row),).

    Parameters
    ----------
    keys : the columns.
    row, others : rows to compare, ``row[i]`` with ``others[i]``; in parts, so that little is copied at a time.
    """
    out, all_rows = np.empty(len(row), bool), len(row) == len(keys[0])  # then ``row`` is 0, 1, 2 ...
    for part in (slice(a, a + ROWS_COMPARED) for a in range(0, len(row), ROWS_COMPARED)):
        one, other = part if all_rows else row_numbers(row[part]), row_numbers(others[part])
        out[part] = reduce(np.logical_or, (differ(key[one], key[other]) for key in keys))
    return out


def _hash_slots(keys: pl.DataFrame) -> Array:
    """Return a short hash of each row, below about four times the number of rows: equal for equal rows."""
    bits = max((2 * len(keys)).bit_length(), 1)
    return (keys.hash_rows().to_numpy() >> np.uint64(64 - bits)).view(np.int64)
