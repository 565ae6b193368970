"""The skewness of sums, and Student's t without what comes from it."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs.rows import Array
from frame_metrics.stats.exact import student


def skewness(parts: Array) -> Array:
    """Return the skewness of a sum of independent parts, 0 if no part varies, shape (columns,).

    Parameters
    ----------
    parts : the distance of each part from its mean, shape (units, columns).
    """
    most = np.abs(parts).max(axis=0, initial=0)
    each = parts / np.where(most > 0, most, 1)
    square = np.square(each).sum(axis=0)
    return np.where(square > 0, (each**3).sum(axis=0) / np.where(square > 0, square, 1) ** 1.5, 0)


def straightened(t: float, skew: float) -> float:
    """Return Student's t without what comes from skewed values, which t would take for a gain or a loss.

    Formula: t + a (2 t^2 + 1) / 6 + a^2 t^3 / 27, where a is the skewness of the mean. It grows with t.

    Source: P. Hall, On the removal of skewness by transformation, Journal of the Royal Statistical Society B 54(1),
    1992.
    """
    return t + skew * (2 * t * t + 1) / 6 + skew**2 * t**3 / 27


def above(t: float, df: float) -> float:
    """Return the one-sided p-value of Student's t, for a mean above 0."""
    p = student(t, df) / 2
    return p if t > 0 else 1 - p
