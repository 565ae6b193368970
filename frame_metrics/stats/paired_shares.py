"""Differences of two shares of the same queries or rows: McNemar's mid-p test, and Newcombe's interval."""

from __future__ import annotations

from math import exp, isfinite, lgamma, log, nan, sqrt

import numpy as np

from frame_metrics.inputs.rows import Array
from frame_metrics.stats.exact import mcnemar, wilson
from frame_metrics.stats.shares import hybrid


def mid_p(wins: int, losses: int) -> float:
    """Return the two-sided p-value of McNemar's mid-p test: the exact one, less half the chance of the data.

    In small samples the exact test has far fewer false alarms than its level allows; this one has about as many.

    Parameters
    ----------
    wins, losses : how many queries, or rows, have 1 for one side only, and for the other side only.

    Source: M. W. Fagerland, S. Lydersen, P. Laake, The McNemar test for binary matched-pairs data: mid-p and asymptotic
    are better than exact conditional, BMC Medical Research Methodology 13:91, 2013.
    """
    n = int(wins + losses)
    if not n:
        return 1.0
    few, many = sorted((wins, losses))
    chance = exp(lgamma(n + 1) - lgamma(few + 1) - lgamma(many + 1) - n * log(2))  # of the data, on one side
    return 1 - chance / 2 if wins == losses else max(mcnemar(few, many) - chance, 0.0)


def table_of_pairs(value: Array, base: Array, times: Array | None = None) -> Array:
    """Return how many pairs of values have 1 in both, in the first only, in the second only, in neither, shape (4,).

    ``times``: how many pairs each one stands for; None: one.
    """
    return np.bincount((3 - 2 * value - base).astype(np.int64), times, minlength=4)


def newcombe(table: Array, z: float) -> tuple[float, float]:
    """Return the ends of Newcombe's interval of the difference of two paired shares (his method 10).

    Formula: with D = (b - c) / n, and Wilson's intervals (l1, u1) and (l2, u2) of both shares p1 and p2, the ends are D
    - sqrt((p1 - l1)^2 - 2 phi (p1 - l1)(u2 - p2) + (u2 - p2)^2) and D + sqrt((p2 - l2)^2 - 2 phi (p2 - l2)(u1 - p1) +
    (u1 - p1)^2). phi is the correlation of the two, 0 if one of them never varies. If it is above 0, its numerator
    ad - bc is made less by n / 2, but not below 0.

    Parameters
    ----------
    table : the numbers a, b, c and d of queries that have 1 for both, for the first only, for the second only, and for
        neither, shape (4,); n in all.
    z : how many standard errors the ends of Wilson's intervals are from the shares; infinite for an interval of all
        values.

    Source: R. G. Newcombe, Improved confidence intervals for the difference between binomial proportions based on
    paired data, Statistics in Medicine 17, 1998.
    """
    if not isfinite(z):
        return -1.0, 1.0
    a, b, c, d = (float(count) for count in table)
    n = a + b + c + d
    parts = np.array([a + b, a + c]) / n
    sides = (a + b) * (c + d) * (a + c) * (b + d)
    agree = a * d - b * c
    phi = (max(agree - n / 2, 0) if agree > 0 else agree) / sqrt(sides) if sides else 0.0
    ends = np.clip(wilson(parts, n, z), 0, 1).T
    low, high = hybrid(parts, ends, 0.0, (1.0, -1.0), phi).tolist()
    return low, high


def standard_errors(table: Array) -> tuple[float, float]:
    """Return the standard errors of the difference of two paired shares, and of the logarithm of their ratio.

    Both are NaN for fewer than two queries, and the second is if a share is 0.

    Parameters
    ----------
    table : as ``newcombe`` takes it.
    """
    a, b, c, d = (float(count) for count in table)
    n = a + b + c + d
    if n < 2:
        return nan, nan
    first, second = a + b, a + c
    variance = max((b + c) / n - ((b - c) / n) ** 2, 0) / (n - 1)
    of_log = nan
    if first and second:
        of_log = max(n / first + n / second - 2 * a * n / (first * second), 0) / (n - 1)
    return sqrt(variance), sqrt(of_log)
