"""Compare two arms of a test: means that are ratios of sums, their differences, intervals and p-values."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from frame_metrics.inputs.rows import Array, ratio
from frame_metrics.stats.exact import detectable, normal, normal_quantile
from frame_metrics.stats.exchange import permuted
from frame_metrics.stats.resampling import resampled
from frame_metrics.stats.sequence import as_level, ever_left
from frame_metrics.stats.significance import CLOSE, Tick, drawn_ends, scipy_stats
from frame_metrics.stats.units import Arms

Drawn = tuple[int, int, int]  # permutations, resamples and the seed


def compared(
    arms: Arms, test: str, level: float, drawn: Drawn, tick: Tick, grown: float | None = None
) -> dict[str, Array]:
    """Return means, differences, intervals and p-values of two arms, shape (columns,) each.

    If an arm has fewer than two units, there are only the means and their difference.

    Parameters
    ----------
    arms : the units.
    test : "randomization" (exchanges units between the arms), "t" (Welch's), "z" (normal) or "bootstrap".
    level : the level of the intervals.
    drawn : permutations, resamples and the seed.
    tick : called with the number of permutations that are done.
    grown : for a test with several looks, how many times as much is known as at the first look: interval and p-value
        are then those of a confidence sequence, whatever the test. 0 before the first look: no interval, and a p-value
        of 1. None for a single look.
    """
    permutations, resamples, seed = drawn
    if grown:
        test, level = "z", as_level(level, grown)
    value, base = arms.means
    apart = arms.apart
    out = {"value": value, "baseline_value": base, "difference": apart}
    if grown is not None:
        out["p_value"] = np.where(np.isnan(apart), np.nan, 1)
    if min(arms.n) < 2 or grown == 0:
        return out
    variances = arms.variances()
    error = np.sqrt(variances.sum(axis=0))
    out["mde"] = detectable(level) * error
    if test == "bootstrap":
        draws = _drawn(arms, resamples, seed)
        ends = drawn_ends(draws[0] - draws[1], apart, arms.scale, level)
        return out | ends | drawn_relative_ends([arm + arms.offset for arm in draws], arms.means, level)
    wide = _errors_away(arms, test, level, variances)
    out["ci_low"], out["ci_high"] = apart + np.array([[-1], [1]]) * wide * error
    parts = arms.variances(np.where(arms.means == 0, 1, arms.means))  # with a mean of 0 the result is not used
    wide = _errors_away(arms, test, level, parts)
    out["relative_low"], out["relative_high"] = relative_ends(arms.means, parts.sum(axis=0), wide)
    if test == "randomization":
        return out | {"p_value": permuted(arms, permutations, seed, tick)}
    variance = error**2
    if test == "z":
        each = zip(arms.difference, variance, strict=True)
        return out | {"p_value": np.array([_of_normal(*pair, grown) for pair in each])}
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * scipy_stats(test).t.sf(np.abs(arms.difference) / error, freedom(variances, arms.n_parts))
    return out | {"p_value": np.where(variance > 0, p, np.where(arms.difference == 0, 1, np.nan))}


def _of_normal(difference: float, variance: float, grown: float | None) -> float:
    """Return the p-value of a normal difference, at a single look or at all looks (``grown``, see ``compared``)."""
    if grown is None or variance <= 0:
        return normal(difference, variance)
    return ever_left(difference**2 / variance - log(grown))


def freedom(variances: Array, n: Sequence[int]) -> Array:
    """Return the degrees of freedom of a sum of variances by Welch and Satterthwaite, 1 if all are 0.

    Parameters
    ----------
    variances : the parts of the sum, shape (parts, columns).
    n : the number of units of each part; a part of fewer than two counts with one degree of freedom.
    """
    parts = (variances**2 / np.maximum(np.array(n) - 1, 1)[:, None]).sum(axis=0)
    return np.where(parts > 0, ratio(variances.sum(axis=0) ** 2, parts), 1)


def _errors_away(arms: Arms, test: str, level: float, variances: Array) -> Array:
    """Return how many standard errors the ends of an interval are away, by Welch's t or by the normal distribution."""
    if test == "t":
        return np.asarray(scipy_stats(test).t.ppf((1 + level) / 2, freedom(variances, arms.n_parts)))
    return np.full(variances.shape[1], normal_quantile(level))


def relative_ends(means: Array, variance: Array, wide: Array) -> Array:
    """Return the ends of the relative difference, by the delta method on the logarithm of the ratio of means.

    NaN unless both means are above 0 or both below; and for an end that overflows.

    Parameters
    ----------
    means : the means of the two arms, shape (2, columns).
    variance : the variance of the logarithm, shape (columns,).
    wide : how many standard errors the ends are away, shape (columns,).
    """
    value, base = means
    some = value * base > 0
    ends = np.full((2, len(value)), np.nan)
    share = value[some] / base[some]
    with np.errstate(over="ignore"):
        factor = np.exp(wide[some] * np.sqrt(variance[some]))
        ends[:, some] = np.sort((np.array([share / factor, share * factor]) - 1) * np.sign(base[some]), axis=0)
    return np.where(np.isinf(ends), np.nan, ends)


def relative(difference: Array, base: Array) -> Array:
    """Return differences divided by the absolute value of the baseline, NaN if that is 0."""
    return ratio(difference, np.abs(base))


def _drawn(arms: Arms, resamples: int, seed: int) -> list[Array]:
    """Return the means of both arms over resampled units, less the offset, shape (resamples, columns) each.

    If some units are in both arms, the units of both arms are resampled together, each with its values in either arm;
    resamples without a unit of one arm are left out. Otherwise each arm is resampled by itself, and the arm with the
    first unit gets the first random numbers, so that it does not matter which arm is the baseline.
    """
    if arms.shared.size:
        both = arms.side_by_side(np.column_stack([arms.held, np.ones(len(arms.mine))]))
        drawn = [resampled(arm.T, resamples, seed).T for arm in both]
        some = (np.array(drawn)[:, :, -1] > 0).all(axis=0)
        return [arms.mean(arm[some, :-1], arm[some, -1:]) for arm in drawn]
    each = zip((arms.mine, ~arms.mine), arms.n, strict=True)
    return [arms.mean(resampled(arms.held[arm].T, resamples, [seed, int(not arm[0])]).T, n) for arm, n in each]


def drawn_relative_ends(drawn: Sequence[Array], means: Array, level: float) -> dict[str, Array]:
    """Return percentile intervals of relative differences; NaN if a resampled baseline changes its sign.

    Parameters
    ----------
    drawn : the resampled means of the two arms, shape (draws, columns) each.
    means : the observed means, shape (2, columns).
    """
    value, base = drawn
    one_sided = (base * np.sign(means[1]) > 0).all(axis=0)
    ends = np.full((2, len(one_sided)), np.nan)
    shares = relative((value - base)[:, one_sided], base[:, one_sided])
    ends[:, one_sided] = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return {"relative_low": ends[0], "relative_high": ends[1]}


def effect_size(difference: float, values: Array, weight: Array, mine: Array) -> float:
    """Return a difference divided by the pooled standard deviation of queries within their arms; NaN if that is 0.

    Parameters
    ----------
    difference : the difference of the means.
    values, weight : value and weight of each query, shape (queries,).
    mine : whether a query is of the first arm, shape (queries,).
    """
    apart = free = 0.0
    for arm in (mine, ~mine):
        if (heavy := weight[arm]).any():
            apart += float(heavy @ (values[arm] - np.average(values[arm], weights=heavy)) ** 2)
            free += float(heavy.sum() - heavy @ heavy / heavy.sum())
    spread = (apart / free) ** 0.5 if free > 0 else 0.0
    return difference / spread if spread > CLOSE * np.abs(values).max(initial=0) else np.nan
