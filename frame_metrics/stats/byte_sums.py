"""Sums over many rows by a random byte for each eight of them, which chooses from a table of 256 sums."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs.rows import Array

TABLES = 64  # tables, of eight rows each, that are made together
BITS = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.float64)  # the bits of each byte, shape (256, 8)


def chosen_sums(eights: Array, chosen: Array, factors: Array) -> Array:
    """Return the sums of rows, each times the factor that a byte has for it, shape (draws, columns).

    Parameters
    ----------
    eights : the rows, eight by eight, shape (eights, 8, columns).
    chosen : the byte for each eight in each draw, shape (eights, draws).
    factors : the factors of eight rows by the byte for them, shape (256, 8).
    """
    shape = chosen.shape[1], eights.shape[2]
    total, each = np.zeros(shape), np.empty(shape)
    for begin in range(0, len(eights), TABLES):
        some = slice(begin, begin + TABLES)
        for table, byte in zip(factors @ eights[some], chosen[some], strict=True):
            table.take(byte, axis=0, out=each, mode="clip")  # with "clip" numpy needs no buffer
            total += each
    return total
