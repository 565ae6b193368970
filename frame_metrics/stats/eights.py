"""Sums over many rows by a random byte for each eight of them, which chooses from a table of 256 sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frame_metrics.inputs.rows import Array

TABLES = 64  # tables of eight rows that are made together


def chosen_sums(eights: Array, chosen: Array, tables: Callable[[Array], Array]) -> Array:
    """Return the sums of what bytes choose, shape (draws, columns).

    Parameters
    ----------
    eights : rows by eight, shape (eights, 8, columns).
    chosen : the byte of each eight in each draw, shape (eights, draws).
    tables : returns the sums of some eights for each byte, shape (eights, 256, columns).
    """
    shape = chosen.shape[1], eights.shape[2]
    total, each = np.zeros(shape), np.empty(shape)
    for begin in range(0, len(eights), TABLES):
        some = slice(begin, begin + TABLES)
        for table, byte in zip(tables(eights[some]), chosen[some], strict=True):
            table.take(byte, axis=0, out=each, mode="clip")  # with "clip" numpy needs no buffer
            total += each
    return total
