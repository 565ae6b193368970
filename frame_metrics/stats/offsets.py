"""The part that numbers with a small spread have in common, subtracted before they are squared or summed."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs.rows import Array

MOST_SPREAD_OF_OFFSET = 1e-8  # numbers whose spread is a smaller share of their size are an offset and a measurement
SQUARED = 1e-100, 1e100  # sizes between which squares, and their sums, are floats with all digits
ROUNDING = 2.0**-48  # 16 times the precision of a float: a smaller spread, as a share of the size, is only rounding


def offsets(values: Array, magnitude: Array | float | None = None) -> Array:
    """Return the least number of each column if its numbers differ by little compared with their size; else 0.

    The caller subtracts this offset, which floats do exactly. Then sums and squares of what is left keep all digits,
    and limits for what is only rounding are as small as what varies. Columns whose spread is only rounding have no
    offset.

    Parameters
    ----------
    values : shape (numbers,) or (numbers, columns); NaN is left out.
    magnitude : if the numbers are differences: the greatest absolute value that was subtracted or subtracted from, by
        which rounding is judged, shape (columns,). None: that of the numbers.

    Returns
    -------
    Shape () or (columns,).
    """
    if not len(values):
        return np.zeros(values.shape[1:])
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    greatest = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(invalid="ignore"):  # infinite numbers have no offset
        spread = high - low
        some = (spread < MOST_SPREAD_OF_OFFSET * greatest) & (
            spread > ROUNDING * (greatest if magnitude is None else np.maximum(greatest, magnitude))
        )
    return np.where(some, low, 0.0)


def scales(values: Array) -> Array:
    """Return the powers of two by which columns are divided before they are squared, 1 for most, shape (columns,).

    Parameters
    ----------
    values : shape (numbers, columns).
    """
    most = np.abs(values).max(axis=0, initial=0)
    far = (most > 0) & ((most < SQUARED[0]) | (most > SQUARED[1]))
    return np.where(far, np.ldexp(1.0, np.where(far, np.frexp(most)[1] - 1, 0)), 1.0)
