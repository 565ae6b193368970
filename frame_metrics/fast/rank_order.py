"""Sort the scores of many rankings, exactly: packed with their positions into integers, some rankings at a time."""

from __future__ import annotations

import numpy as np
import polars as pl

from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import as_grid

MIN_LENGTH_FOR_ARGSORT = 1 << 16  # length of a ranking from which on argsort beats sorting packed values
ROWS_SORTED_IN_CACHE = 1 << 16  # number of rows sorted at a time: they fit into the caches of a core, a block does not
KEYS_SORTED = 1 << 21  # number of keys that are sorted at a time
ALL_BUT_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)  # all bits but the sign


def rank_order(score: Array, lengths: Array) -> tuple[Array | None, bool]:
    """Sort the rows of each ranking of a block by falling score.

    Returns
    -------
    The positions of the rows in rank order, None if the rows already are in it; tied rows are in any order. And True
    if some scores of a ranking may be equal.
    """
    starts = lengths.cumsum() - lengths
    # Logs are mostly written in rank order: then nothing is sorted. The first score of a ranking may be higher than the
    # last one of the ranking before, so that it counts as falling.
    falls, later_starts = score[1:] < score[:-1], starts[(starts > 0) & (starts < len(score))]
    falls[later_starts - 1] = True
    if falls.all():
        return None, False
    if (falls | (score[1:] == score[:-1])).all():
        return None, True
    order, equal = np.empty(len(score), np.int64), False
    # Some rankings at a time, which fit into the cache, in a grid with a row for each ranking.
    step = max(ROWS_SORTED_IN_CACHE // int(lengths.max()), 1)
    for some in (slice(a, a + step) for a in range(0, len(lengths), step)):
        some_starts, some_lengths = starts[some], lengths[some]
        rows = slice(int(some_starts[0]), int(some_starts[-1] + some_lengths[-1]))
        columns, may_be_equal = _descending(as_grid(score[rows], some_lengths, -np.inf))
        columns += some_starts[:, None]
        equal_lengths = columns.size == rows.stop - rows.start
        order[rows] = columns.ravel() if equal_lengths else columns[np.arange(columns.shape[1]) < some_lengths[:, None]]
        equal |= may_be_equal
    return order, equal


def _descending(score: Array) -> tuple[Array, bool]:
    """Return the order of the columns of each row of a grid by falling score, and whether some may be equal.

    Each score becomes an integer that sorts like it, and the lowest bits of the integer are replaced by the column
    number. So one fast sort of these integers gives the columns too. If two neighbours agree in the remaining bits, and
    their scores differ, the replaced bits mattered: their row of the grid is sorted again, by the scores themselves.
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
    equal_to_next = np.flatnonzero(key.ravel()[1:] == key.ravel()[:-1])
    # The last cell of a row of the grid has no neighbour: the next cell is the first of another row.
    equal_to_next = equal_to_next[equal_to_next % n < n - 1] if len(equal_to_next) else equal_to_next
    if not len(equal_to_next):
        return order, False
    row, column = np.divmod(equal_to_next, n)
    score_here = score[row, order[row, column]]
    differ = score_here != score[row, order[row, column + 1]]
    again = np.unique(row[differ])
    order[again] = np.argsort(-score[again], axis=1, kind="stable")
    return order, bool((differ | (score_here > -np.inf)).any())


def falling_bits(score: Array, out: Array | None = None) -> Array:
    """Return integers that sort in the reverse order of the scores, made of their bits; -0.0 and 0.0 give the same.

    ``out``: an array of floats that is overwritten with the integers; None for a new one.
    """
    key = np.subtract(0.0, score, out=out).view(np.int64)
    key ^= (key >> 63) & ALL_BUT_SIGN
    return key


def scores_of_bits(key: Array) -> Array:
    """Return the scores from their ``falling_bits``, which are overwritten."""
    key ^= (key >> 63) & ALL_BUT_SIGN
    return 0.0 - key.view(np.float64)


def sort_keys(key: Array) -> None:
    """Sort integers in place.

    Polars sorts three times as fast as numpy, but makes a copy. So many keys are cut into parts, each with greater keys
    than the one before, and the parts are sorted one by one.
    """
    cuts = range(KEYS_SORTED, len(key), KEYS_SORTED)
    if cuts:
        key.partition(cuts)
    for a in range(0, len(key), KEYS_SORTED):
        key[a : a + KEYS_SORTED] = pl.Series(key[a : a + KEYS_SORTED]).sort().to_numpy()
