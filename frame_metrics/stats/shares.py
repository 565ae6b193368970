"""Intervals of shares, and of what is made of shares: Wilson's, with an effective number of rows, and Newcombe's."""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_metrics.inputs import Array, ratio
from frame_metrics.stats.exact import normal_quantile, t_quantile, wilson_interval

MIN_ROWS = 0.01  # the least effective number of rows; of so few Wilson's interval holds nearly all shares


def kish(weight: Array) -> float:
    """Return Kish's effective number of units: how many with equal weights would be as informative; 0 for none.

    Parameters
    ----------
    weight : the weight of each unit, shape (units,).

    Source: L. Kish, Survey sampling, 1965.
    """
    top = weight.max(initial=0)
    if not top > 0:
        return 0.0
    part = weight / top  # squares of tiny and of huge weights would be 0 or infinite
    return float(part.sum() ** 2 / (part * part).sum())


def kish_within(group: Array, mass: Array, square: Array, n: int) -> Array:
    """Return Kish's effective number of the units of each group, shape (n,); NaN for a group without weight.

    Parameters
    ----------
    group : the group of each unit, shape (units,).
    mass, square : the weight of each unit, and its square; for a row that stands for several units, times their number;
        shape (units,).
    """
    return ratio(np.bincount(group, mass, n) ** 2, np.bincount(group, square, n))


def are_shares(values: Array, value_range: tuple[float, float]) -> bool:
    """Return True if a mean of values is a share: all are 0 or 1, and these are the ends of the range, or both occur.

    Values of another metric may happen to be all 1, as positions and seconds. NaN is left out.

    Parameters
    ----------
    value_range : the least and the greatest value that the metric may have.
    """
    known = values[~np.isnan(values)]
    if not ((known == 0) | (known == 1)).all():
        return False
    return tuple(value_range) == (0, 1) or bool(known.min(initial=1) < known.max(initial=0))


def wilson_on_range(mean: Any, n: Any, level: float, ends: tuple[float, float] = (0, 1)) -> Array:
    """Return Wilson's interval at the mean of n values between two ends; NaN if n is 0, or an end is infinite.

    Values between two ends vary most if they lie at the ends, as the values 0 and 1 of a share do. So the interval of a
    share is not too narrow for other values.

    Parameters
    ----------
    mean, n : numbers, or arrays of one shape.

    Returns
    -------
    The ends, shape (2, ...).
    """
    low, width = ends[0], ends[1] - ends[0]
    n, mean = np.asarray(n, np.float64), np.asarray(mean, np.float64)
    if not np.isfinite(width):
        return np.full((2, *mean.shape), np.nan)
    if width == 0:  # all values are one number
        return np.stack([mean, mean])
    share = np.clip((mean - low) / width, 0, 1)
    both = wilson_interval(share, np.where(n > 0, n, np.nan), level)
    return low + width * np.clip(both, 0, 1)


def effective(share: Any, variance: Any, units: Any, n: Any, level: float, *, clustered: bool) -> Array:
    """Return how many independent rows would be as informative about a share as rows in clusters, or with weights.

    It is n* = p (1 - p) / v, because independent rows have v = p (1 - p) / n. For clusters it is multiplied by the
    squared ratio of the quantiles of the normal and of Student's t distribution. It is at most the number of rows, or
    Kish's number if they have weights: the variance that few large weights show is often far too small. For a share of
    0 or 1, which shows no variance, it is the number of units.

    Parameters
    ----------
    share : the estimate p. This and the next three are numbers, or arrays of one shape.
    variance : its variance v, computed from the units without a correction for their number.
    units : the number of clusters, or Kish's.
    n : the number of rows, or Kish's.
    clustered : whether some clusters hold several rows.

    Source: E. L. Korn, B. I. Graubard, Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data, Survey Methodology 24(2), 1998.
    """
    share, variance, units, n = (np.asarray(one, np.float64) for one in (share, variance, units, n))
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = share * (1 - share) / variance
        if clustered and level > 0:  # at 0 both ends are the estimate, whatever the number of rows
            some, at = np.unique(units, return_inverse=True)
            t = np.array([t_quantile((1 + level) / 2, one - 1) for one in some.tolist()])[at].reshape(units.shape)
            rows = rows * (units - 1) / units * (normal_quantile(level) / t) ** 2
        return np.where((share > 0) & (share < 1), np.maximum(np.minimum(rows, n), MIN_ROWS), np.minimum(units, n))


def hybrid(
    parts: Array, ends: Array, start: float, slopes: tuple[float, ...], correlation: Array | float = 0.0
) -> Array:
    """Return Newcombe's interval of a weighted sum of two shares, from the interval of each.

    The squared distance of each end from the sum is the sum of the squared distances of the ends of both shares on that
    side from the shares, and of twice the product of these distances, times the correlation of the two summands.

    Parameters
    ----------
    parts : the shares, shape (2, ...).
    ends : the ends of the interval of each, shape (2, 2, ...).
    start, slopes : the sum is start + slopes * shares.
    correlation : of the two shares, 0 of independent ones.

    Returns
    -------
    The ends, shape (2, ...).

    Source: R. G. Newcombe, Interval estimation for the difference between independent proportions: comparison of eleven
    methods, Statistics in Medicine 17, 1998, method 10; of paired ones the same, Improved confidence intervals for the
    difference between binomial proportions based on paired data.
    """
    each = np.array(slopes).reshape(-1, *[1] * (parts.ndim - 1))
    on_its_side = np.where(each[:, None] < 0, ends[:, ::-1], ends)  # a negative slope exchanges the ends
    deviations = each[:, None] * (on_its_side - parts[:, None])
    square = (
        np.square(deviations).sum(axis=0) + 2 * np.sign(np.prod(slopes)) * correlation * deviations[0] * deviations[1]
    )
    far = np.sqrt(np.maximum(square, 0))
    whole = start + (each * parts).sum(axis=0)
    return np.array([whole - far[0], whole + far[1]])


def relative_hybrid(parts: Array, ends: Array, correlation: float) -> tuple[float, float]:
    """Return the ends of the relative difference of two values by the rule of ``hybrid``, NaN for those it cannot give.

    They are the ratios R, less 1, at which the interval of the first value less R times the other ends at 0. So both
    exclude 0 if the interval of the difference does. They are NaN unless the interval of the other value does.

    Parameters
    ----------
    parts : the value, and what it is compared with, shape (2,).
    ends : the ends of the interval of each, shape (2, 2).

    Source: A. Donner, G. Y. Zou, Closed-form confidence intervals for functions of the normal mean and standard
    deviation, Statistical Methods in Medical Research 21(4), 2012.
    """
    sign = float(np.sign(parts[1]))
    (value, base), (mine, other) = parts * sign, np.sort(ends * sign, axis=1)
    if not other[0] > 0:
        return np.nan, np.nan
    found = []
    for side, end in ((-1.0, mine[0]), (1.0, mine[1])):
        # Below a ratio of 0 the other end of the base is the far one.
        far, of_base = max(side * (end - value), 0.0), abs(other[int((end < 0) == (side > 0))] - base)
        first, both, second = base**2 - of_base**2, value * base - correlation * far * of_base, value**2 - far**2
        root = side * float(np.sqrt(max(both**2 - first * second, 0.0)))
        # Of the two forms of the root the one in which nothing is subtracted
        if both * root > 0 and first > 0:
            found.append((both + root) / first - 1)
        elif both != root:
            found.append(second / (both - root) - 1)
        else:
            found.append(np.nan if second else -1.0)
    low, high = sorted(sign * one for one in found)
    return low, high


def with_costs(parts: Array, ends: Array, costs: tuple[float, float], correlation: Array | float) -> Array:
    """Return the interval of J / (J + c (1 - J)), with c = a r + b (1 - r), from the intervals of the shares J and r.

    The logarithm of its odds is the logarithm of the odds of J, less that of c; the ends of both are combined by
    ``hybrid``. The number of mistakes says nothing about their kind, so J and r are independent if rows are. If there
    is no mistake, or one, the kind of mistakes is not known, and if no row is right the odds have no logarithm. Then c
    is the greatest that it may be, for the upper end the least.

    Parameters
    ----------
    parts : J, the share of rows that are right, and r, of mistakes of the first kind, shape (2, ...).
    ends : the ends of the interval of each, shape (2, 2, ...).
    costs : a and b, both above 0: what a mistake of each kind costs.
    correlation : of J and r, 0 of independent ones.

    Returns
    -------
    The ends, shape (2, ...).
    """
    right, kind = parts
    unknown = np.isnan(ends[1]).any(axis=0)
    cost = np.stack(
        [costs[0] * one + costs[1] * (1 - one) for one in (kind, *np.where(unknown, [[0.0], [1.0]], ends[1]))]
    )
    between_costs = np.sort(cost[1:], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(np.stack([right, *ends[0]])) - np.log1p(-np.stack([right, *ends[0]]))
        odds_and_costs = np.stack([odds[1:], np.log(between_costs)])
        rho = correlation * np.sign(costs[0] - costs[1])
        low, high = 1 / (
            1 + np.exp(-hybrid(np.stack([odds[0], np.log(cost[0])]), odds_and_costs, 0.0, (1.0, -1.0), rho))
        )
    low = np.where(right < 1, low, ends[0, 0] / (ends[0, 0] + between_costs[1] * (1 - ends[0, 0])))
    high = np.where(right > 0, high, ends[0, 1] / (ends[0, 1] + between_costs[0] * (1 - ends[0, 1])))
    return np.array([np.where(right > 0, low, ends[0, 0]), np.where(right < 1, high, ends[0, 1])])
