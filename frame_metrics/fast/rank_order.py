"""Sort the scores of many rankings, exactly: packed with their positions into integers, some rankings at a time."""

from __future__ import annotations

import numpy as np
import polars as pl

from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import as_grid

MIN_LENGTH_FOR_ARGSORT = 1 << 16  # length of a ranking from which argsort beats sorting packed values
STRIP = 1 << 16  # rows that are sorted at a time: they fit into the caches of a core, which a block does not
KEYS = 1 << 21  # keys that are sorted at a time
SIGN = np.int64(0x7FFFFFFFFFFFFFFF)  # all bits but the sign


def rank_order(score: Array, lengths: Array) -> tuple[Array | None, bool]:
    """Sort the rows of each ranking of a block by falling score.

    Returns
    -------
    The positions of the rows in rank order, None if they already are in it; tied rows are in any order. And whether
    some scores of a ranking may be equal.
    """
    starts = lengths.cumsum() - lengths
    # Logs are mostly written in rank order: then nothing is sorted. A first row of a ranking need not fall.
    falls, inner = score[1:] < score[:-1], starts[(starts > 0) & (starts < len(score))]
    falls[inner - 1] = True
    if falls.all():
        return None, False
    if (falls | (score[1:] == score[:-1])).all():
        return None, True
    order, equal = np.empty(len(score), np.int64), False
    # Strips of rankings that fit into the cache, each laid out as a grid with a row for each ranking.
    step = max(STRIP // int(lengths.max()), 1)
    for some in (slice(a, a + step) for a in range(0, len(lengths), step)):
        start, many = starts[some], lengths[some]
        rows = slice(int(start[0]), int(start[-1] + many[-1]))
        columns, near = _descending(as_grid(score[rows], many, -np.inf))
        columns += start[:, None]
        even = columns.size == rows.stop - rows.start
        order[rows] = columns.ravel() if even else columns[np.arange(columns.shape[1]) < many[:, None]]
        equal |= near
    return order, equal


def _descending(score: Array) -> tuple[Array, bool]:
    """Return the order of the columns of each row of a grid by falling score, and whether some may be equal.

    Each score becomes an integer that sorts like it, and its lowest bits are replaced by the column number. So one fast
    sort of values also gives the columns. If two neighbours agree in the remaining bits and their scores differ, the
    replaced bits mattered, and their row of the grid is sorted again by the scores themselves.
    """
    n = score.shape[1]
    if n >= MIN_LENGTH_FOR_ARGSORT:
        return np.argsort(-score, axis=1), True
    low = np.int64((1 << max(n - 1, 1).bit_length()) - 1)
    key = falling_bits(score)
    key &= ~low
    key |= np.arange(n)
    key.sort(axis=1)
    order = key & low
    key ^= order
    near = np.flatnonzero(key.ravel()[1:] == key.ravel()[:-1])
    near = near[near % n < n - 1] if len(near) else near  # not the last of a row with the first of the next row
    if not len(near):
        return order, False
    row, column = np.divmod(near, n)
    here = score[row, order[row, column]]
    differ = here != score[row, order[row, column + 1]]
    again = np.unique(row[differ])
    order[again] = np.argsort(-score[again], axis=1, kind="stable")
    return order, bool((differ | (here > -np.inf)).any())


def falling_bits(score: Array, out: Array | None = None) -> Array:
    """Return integers that sort in the reverse order of the scores, from their bits; -0.0 and 0.0 give the same.

    ``out``: an array of floats in whose place they are made.
    """
    key = np.subtract(0.0, score, out=out).view(np.int64)
    key ^= (key >> 63) & SIGN
    return key


def scores_of(key: Array) -> Array:
    """Return the scores from their ``falling_bits``, which are overwritten."""
    key ^= (key >> 63) & SIGN
    return 0.0 - key.view(np.float64)


def sort_keys(key: Array) -> None:
    """Sort integers in their place.

    Polars sorts them three times as fast as numpy, and makes a copy: so parts follow each other where they are many.
    """
    cuts = range(KEYS, len(key), KEYS)
    if cuts:
        key.partition(cuts)
    for a in range(0, len(key), KEYS):
        key[a : a + KEYS] = pl.Series(key[a : a + KEYS]).sort().to_numpy()
