"""Tests that a loss is less than a margin: p-values of "not worse", and of both sides together, "equivalent"."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import erfc, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.arms import (
    PLAIN,
    DrawSizes,
    drawn_means,
    freedom,
    newcombe_intervals,
    p_above_at_all_looks,
    taken_by_welch,
)
from frame_metrics.stats.exchange import least_p_of_arms, permuted
from frame_metrics.stats.flips import every_flip, flipped, p_value_of_count
from frame_metrics.stats.paired_shares import newcombe
from frame_metrics.stats.sequence import level_of_errors
from frame_metrics.stats.significance import CLOSE, MIN_UNITS, adjusted
from frame_metrics.stats.skewness import above, skewness, straightened
from frame_metrics.stats.strata import Strata
from frame_metrics.stats.two_arms import MIN_DIFFERING, Arms

SIGNS_OF_MARGIN = (1.0, -1.0)  # by which gains are multiplied: to exclude a loss of the margin, or a gain of it
FARTHEST = 6.0  # a bound is searched within so many standard errors: p-values below 1e-9 are all the same
STEPS, NEAR = 100, 1e-14  # the most steps of a search for a bound, and the distance at which it ends
COLUMNS_AT_ONCE = 32  # of differences that are flipped at a time


@record
class Shifted:
    """Gains of one system over another, above 0 if it is better, and the margins that they are compared with."""

    improvements: Array  # the sum of the weighted gains of each unit, shape (units, columns)
    size: Array  # the weight of each unit, above 0, shape (units,)
    margin: Array  # NaN for none, shape (columns,)
    error: Array | None = None  # the standard error of the mean, shape (columns,); None to compute it (equal weights)
    units: float | None = None  # the number of units, Kish's if they have weights; None to count them
    widest: Array | None = None  # the greatest difference that a unit can have, shape (columns,); None: not known

    @property
    def mean(self) -> Array:
        """The mean gain, shape (columns,)."""
        return self.improvements.sum(axis=0) / self.size.sum()

    @property
    def n_moved(self) -> Array:
        """The number of units whose difference is not 0, shape (columns,)."""
        return np.count_nonzero(self.improvements, axis=0)

    @property
    def known(self) -> Array:
        """True where the differences say how they vary, and a margin is given, shape (columns,)."""
        return (
            (self.n_moved >= MIN_DIFFERING) & (self.errors > 0) & ~np.isnan(self.margin) & (self.count > MIN_UNITS - 1)
        )

    @property
    def p_of_unmoved(self) -> Array:
        """The p-value of columns in which no unit moved, if units have one weight; NaN of others, shape (columns,)."""
        if self.widest is None or np.ptp(self.size) > CLOSE * self.size.max(initial=0):
            return np.full(len(self.margin), np.nan)
        p = none_moved(np.minimum(self.margin / self.widest, 1), len(self.size))
        return np.where((self.n_moved == 0) & np.isfinite(self.widest), p, np.nan)

    @property
    def count(self) -> float:
        """The number of units, Kish's if they have weights."""
        return float(len(self.size)) if self.units is None else self.units

    @property
    def errors(self) -> Array:
        """The standard error of the mean, 0 if the differences show no variance, shape (columns,)."""
        if self.error is not None:
            return self.error
        n = len(self.improvements)
        spread = np.asarray(self.improvements.std(axis=0, ddof=1))
        return np.where(spread > CLOSE * np.abs(self.improvements).max(axis=0), spread / sqrt(n), 0)

    @property
    def skew(self) -> Array:
        """The skewness of the mean gain: that of units, divided by the root of their number; shape (columns,)."""
        return skewness(self.improvements - self.size[:, None] * self.mean)


def none_moved(share: Any, n: float) -> Any:
    """Return the greatest chance that none of n drawn units moves, if the mean loss is a share of the greatest loss.

    At least this share of all units loses then, so that a unit does not move with a chance of at most 1 - share.
    """
    return (1 - share) ** n


def normally_above(z: float) -> float:
    """Return the one-sided p-value of a normal statistic, for a mean above 0."""
    return erfc(z / sqrt(2)) / 2


def margin_p_of_pairs(shifted: Shifted, permutations: int, seed: int, test: str) -> Array:
    """Return the p-values that a loss, and that a gain, is less than a margin, one-sided, shape (2, columns).

    By "t" they are Student's, of gains to which the margin was added. By "randomization" they are the greatest of
    three: of flipping the signs of these sums, of Student's t, and of Student's t without the skewness
    (``straightened``). Flips alone would overlook a loss if few units lose much, and t would if losses are skewed.

    They are NaN if fewer than ``MIN_DIFFERING`` units moved, as the sample may lack those that lose much; and if all
    gains are equal. If no unit moved, they are ``p_of_unmoved``.

    Parameters
    ----------
    shifted : the differences; of two units or more.
    permutations, seed : of random flips; all are counted if there are no more.
    """
    error, df, known = shifted.errors, shifted.count - 1, shifted.known
    p = np.full((2, len(error)), np.nan)
    mean, skew = shifted.mean, shifted.skew
    for column in np.flatnonzero(known):
        for side, sign in enumerate(SIGNS_OF_MARGIN):
            t = float((sign * mean[column] + shifted.margin[column]) / error[column])
            p[side, column] = above(t, df)
            if test != "t":
                p[side, column] = max(p[side, column], above(straightened(t, sign * float(skew[column])), df))
    if test != "t":
        some = np.flatnonzero(known)
        p[:, some] = np.maximum(p[:, some], _by_flips(shifted, some, permutations, seed))
    return np.where(shifted.n_moved == 0, shifted.p_of_unmoved, p)


def _by_flips(shifted: Shifted, some: Array, permutations: int, seed: int) -> Array:
    """Return the p-values of flipping the signs of gains to which the margin was added, shape (2, some columns).

    A flipped sum is that of the gains and, times the margin, that of the weights: one pass gives both sides.
    """
    size, p = shifted.size, np.full((2, len(some)), np.nan)
    every = every_flip(len(size), permutations)
    flips = 1 << len(size) if every else permutations
    for begin in range(0, len(some), COLUMNS_AT_ONCE):
        at = some[begin : begin + COLUMNS_AT_ONCE]
        gains, margin = shifted.improvements[:, at], shifted.margin[at]
        scale = np.maximum(np.abs(gains).max(axis=0), margin * size.max())
        found = flipped(np.column_stack([gains / scale, size]), flips, seed, lambda done: None, every=every)
        of_gains, of_margins = found[:, :-1], found[:, -1:] * (margin / scale)
        gain_in_data, margin_in_data = (gains / scale).sum(axis=0), size.sum() * margin / scale
        rounding = CLOSE * (np.abs(gains / scale).sum(axis=0) + margin_in_data)
        for side, sign in enumerate(SIGNS_OF_MARGIN):
            least = sign * gain_in_data + margin_in_data - rounding
            n_as_extreme = (sign * of_gains + of_margins >= least).sum(axis=0)
            p[side, begin : begin + COLUMNS_AT_ONCE] = p_value_of_count(n_as_extreme, flips, every=every)
    return p


def margin_p_of_shares(table: Array, margin: float, sign: int) -> Array:
    """Return the p-values that a loss, and that a gain, of two paired shares is less than a margin, shape (2,).

    They are the levels at which the bound of Newcombe's interval reaches the margin. NaN if fewer than
    ``MIN_DIFFERING`` rows have different values; if no row has, (1 - margin)^n.

    Parameters
    ----------
    table : how many rows are 1 for both systems, for the first only, for the second only, and for neither.
    sign : -1 if less is better.
    """
    if table[1] + table[2] == 0:
        return np.full(2, none_moved(margin, float(np.sum(table))))
    if not table[1] + table[2] >= MIN_DIFFERING or np.isnan(margin):
        return np.full(2, np.nan)
    return margin_p_of_ends(partial(newcombe, table), margin, sign)


def margin_p_of_ends(ends: Callable[[float], tuple[float, float]], margin: float, sign: float) -> Array:
    """Return the p-values that a loss, and that a gain, is less than a margin, by bounds of an interval, shape (2,).

    Parameters
    ----------
    ends : the interval of a difference, as ``by_bound`` takes it.
    sign : -1 if less is better.
    """

    def of_gain(z: float, way: float) -> tuple[float, float]:
        low, high = ends(z)
        return (low, high) if way > 0 else (-high, -low)

    return np.array([by_bound(partial(of_gain, way=side * sign), -margin) for side in SIGNS_OF_MARGIN])


def by_bound(ends: Callable[[float], tuple[float, float]], least: float) -> float:
    """Return the one-sided p-value for an estimate above ``least``: where the bound of its interval reaches this value.

    Parameters
    ----------
    ends : a function from z to the ends of the interval of z standard errors; at 0 both are the estimate.
    least : the value that is to be exceeded.
    """
    sign = 1.0 if ends(0.0)[0] > least else -1.0  # 1 if the lower end comes down to it, -1 if the upper end comes up

    def away(z: float) -> float:
        """Return how far the bound still is from the value; negative beyond it."""
        return sign * (ends(z)[0 if sign > 0 else 1] - least)

    low, high = (0.0, away(0.0)), (FARTHEST, away(FARTHEST))
    if high[1] > 0:
        return normally_above(sign * FARTHEST)
    z, before = 0.0, 0.0
    for _ in range(STEPS if low[1] > 0 else 0):
        z = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
        found = away(z)
        if abs(found) < NEAR or high[0] - low[0] < NEAR:
            break
        # If one end of the search stays twice, its distance is halved, so that it does not stay for ever (Illinois).
        if found > 0:
            low, high = (z, found), (high[0], high[1] / (2 if before > 0 else 1))
        else:
            low, high = (low[0], low[1] / (2 if before < 0 else 1)), (z, found)
        before = found
    return normally_above(sign * z)


def margin_p_of_draws(drawn: Array, margin: Array, units: float | None = None, df: float | None = None) -> Array:
    """Return the p-values by the share of resamples that lose, or gain, the margin or more, shape (2, columns).

    They agree with percentile intervals, which are at the level of ``expanded_level``.

    Parameters
    ----------
    drawn : resampled mean gains, shape (draws, columns).
    units : how many units were resampled, by which p-values are expanded; None to leave them as they are.
    df : the degrees of freedom, if they are not one less.
    """
    p = np.full((2, drawn.shape[1]), np.nan)
    for side, sign in enumerate(SIGNS_OF_MARGIN):
        share = ((sign * drawn + margin <= 0).sum(axis=0) + 1) / (len(drawn) + 1)
        p[side] = np.where(np.isnan(margin), np.nan, share)
    if units is None:
        return p
    if not units > 1:
        return np.full(p.shape, np.nan)
    normal, narrow = NormalDist(), sqrt((units - 1) / units)
    for at in np.argwhere(~np.isnan(p)):
        z = -normal.inv_cdf(min(float(p[tuple(at)]), 1 - CLOSE))
        p[tuple(at)] = above(z * narrow, units - 1 if df is None else df)
    return p


def margin_p_of_arms(
    arms: Arms | Strata,
    margin: Array,
    test: str,
    drawn: DrawSizes,
    sign: Array,
    information: float | None = None,
) -> Array:
    """Return the p-values that a loss, and that a gain, of an arm is less than a margin, one-sided, shape (2, columns).

    By "randomization" they are the greatest of three: of exchanging units, after the margin was added to those of the
    arm (half the two-sided p-value), of Welch's t, and of Welch's t without the skewness. For shares they are those of
    the bound of Newcombe's interval. For others they are NaN if fewer than ``MIN_DIFFERING`` units of an arm differ
    from its commonest value.

    Parameters
    ----------
    margin : of each column, NaN for none.
    test, drawn, information : as ``compared`` takes them; with several looks a p-value of 1 where nothing is known yet.
    sign : -1 for columns of which less is better, shape (columns,).
    """
    if test in PLAIN and information is None:
        arms = arms.without_weights()
    p = np.full((2, len(margin)), np.nan)
    asked = ~np.isnan(margin) & ~np.isnan(arms.raw_difference)
    if information is not None and (min(arms.n) < 2 or information == 0):
        return np.where(asked, 1.0, p)
    if min(arms.n) < 2:
        return p
    variances, free = arms.variances(), None
    error = np.sqrt(variances.sum(axis=0))
    if information is not None:
        for side, side_sign in enumerate(SIGNS_OF_MARGIN):
            gain = side_sign * sign * arms.raw_difference + margin
            p[side] = np.where(asked, p_above_at_all_looks(arms, gain, variances, information), np.nan)
        return p
    free = freedom(variances, arms.n_for_freedom)
    # Shares have the bound of Newcombe's interval; all others need a known standard error.
    share = arms.of_shares & (test == "randomization")
    known = asked & ~share & (error > 0) & ~arms.too_few_differ.any(axis=0)
    for column in np.flatnonzero(asked & share).tolist():
        ends = partial(_newcombe_ends, arms, variances, column)
        p[:, column] = margin_p_of_ends(ends, float(margin[column]), float(sign[column]))
    if test == "bootstrap":
        each = drawn_means(arms, drawn[1], drawn[2])
        return np.where(known, margin_p_of_draws(sign * (each[0] - each[1]), margin), p)
    skew = sign * _skewness_of_arms(arms)
    for side, side_sign in enumerate(SIGNS_OF_MARGIN):
        t = np.divide(side_sign * sign * arms.raw_difference + margin, error, out=np.zeros(len(margin)), where=known)
        for column in np.flatnonzero(known).tolist():
            p[side, column] = _above(float(t[column]), float(free[column]), side_sign * float(skew[column]), test)
    if test == "randomization" and known.any():
        p = np.where(known, np.fmax(p, _by_exchanges(arms, np.where(known, margin, 0), sign, drawn)), p)
    return p


def _above(t: float, df: float, skew: float, test: str) -> float:
    """Return the one-sided p-value of a statistic for a mean above 0, by a test of arms."""
    if test == "z":
        return normally_above(t)
    return above(t, df) if test == "t" else max(above(t, df), above(straightened(t, skew), df))


def _newcombe_ends(arms: Arms | Strata, variances: Array, column: int, z: float) -> tuple[float, float]:
    """Return the ends of Newcombe's interval of a difference of two shares of arms, ``z`` standard errors away."""
    low, high = newcombe_intervals(arms, variances, level_of_errors(z), [column])[:, column].tolist()
    return low, high


def _skewness_of_arms(arms: Arms | Strata) -> Array:
    """Return the skewness of the difference of two means, shape (columns,); a unit of both arms is one part of it."""
    parts = arms.contributions * np.where(arms.in_first, 1, -1)[:, None]
    if arms.shared.size:
        both = parts[arms.shared[0]] + parts[arms.shared[1]]
        parts = np.concatenate([parts[arms.in_one_arm], both])
    return skewness(parts)


def _by_exchanges(arms: Arms | Strata, margin: Array, sign: Array, drawn: DrawSizes) -> Array:
    """Return half the two-sided p-values of exchanging units, after the margin was added to the first arm.

    Shape (2, columns); NaN where Welch's t stands for them.
    """
    permutations, _, seed = drawn
    by_t, found = taken_by_welch(arms), []
    least = least_p_of_arms(arms, permutations) / (1 + arms.equal_in_size)
    for side_sign in SIGNS_OF_MARGIN:
        # Progress is not shown: that of the two-sided p-value is.
        p = permuted(arms.raised(side_sign * sign * margin), permutations, seed, lambda done: None, by_t) / 2
        found.append(np.maximum(np.where(side_sign * sign * arms.raw_difference + margin > 0, p, 1 - p), least))
    return np.array(found)


def margin_p_of_candidates(p: Array, family: Array, correction: str) -> Array:
    """Return p-values of several candidates of which one is to be chosen, corrected; NaN stays.

    A candidate without a p-value counts too: it could have passed.

    Parameters
    ----------
    family : the number of the family of each, shape (candidates,).
    correction : as ``adjusted`` takes it.
    """
    out = np.full(len(p), np.nan)
    for number in np.unique(family[~np.isnan(p)]):
        in_family = family == number
        out[in_family] = adjusted(np.where(np.isnan(p[in_family]), 1.0, p[in_family]), correction)
    return np.where(np.isnan(p), np.nan, out)
