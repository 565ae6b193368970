"""Tests of paired differences, intervals around them, and corrections for testing many at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from frame_metrics.errors import NotComputableError, import_needed
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, all_equal, ratio
from frame_metrics.stats.averages import resampled_means, sums_within
from frame_metrics.stats.exact import expanded_level, t_quantile
from frame_metrics.stats.offsets import offsets, scales
from frame_metrics.stats.resampling import enough_resamples
from frame_metrics.stats.shares import kish

CLOSE = 1e-12  # sums that differ by less, relative to the size of their terms, are equal: floats are rounded
MIN_UNITS = 2  # the fewest units that show a variance; if they have weights, by Kish's effective number
Tick = Callable[[int], None]  # a progress bar: called with how many units are done


def in_clusters(values: Array, cluster: Array | None) -> Array:
    """Return the sums of queries' values within clusters, shape (clusters, columns), 0 where only rounding is left.

    Without clusters the values are returned as they are.

    Parameters
    ----------
    values : shape (queries, columns).
    cluster : the number of each query's cluster, shape (queries,).
    """
    if cluster is None:
        return values
    n = int(cluster.max()) + 1
    sums, most = sums_within(cluster, n, values.T), sums_within(cluster, n, np.abs(values.T))
    return without_rounding(sums, most).T


def without_rounding(values: Array, size: Array | float) -> Array:
    """Return values, 0 for those that are only what rounding leaves of terms of a size."""
    return np.where(np.abs(values) < CLOSE * size, 0, values)


def weighted_values(values: Array, weight: Array | None) -> Array:
    """Return the values of queries times their weights, shape (queries, columns)."""
    return values if weight is None else values * weight[:, None]


@record
class SpreadOfPairs:
    """Effect sizes and standard errors of the means of paired differences, before anything is drawn."""

    effect_size: Array  # the mean divided by the standard deviation of queries, shape (columns,)
    error: Array  # the standard error of the mean, 0 if it is only rounding, NaN if there is one cluster, (columns,)
    units: float  # how many units there are, as ``effective_units`` counts them


def spread_of_pairs(
    differences: Array, weight: Array | None, cluster: Array | None, magnitude: Array | None
) -> SpreadOfPairs:
    """Return effect sizes and standard errors of paired differences.

    Parameters
    ----------
    differences : of two queries or more, shape (queries, columns).
    weight : of each query, of which two or more are above 0, shape (queries,); None where all count alike.
    cluster : the number of each query's cluster, shape (queries,).
    magnitude : the greatest absolute value that was subtracted, see ``offsets``, shape (columns,).
    """
    scale = scales(differences)
    differences, magnitude = differences / scale, None if magnitude is None else magnitude / scale
    offset, each = offsets(differences, magnitude), np.ones(len(differences)) if weight is None else weight
    centred, n = differences - offset, len(differences)
    least = CLOSE * np.abs(centred).max(axis=0)  # a smaller spread is what rounding leaves
    centre = np.average(centred, axis=0, weights=weight)
    spread = deviation(centred, each, np.ones(n))
    spread = np.where(spread < least, 0, spread)
    effect = ratio(centre + offset, spread)
    if cluster is not None and all_equal(cluster[each > 0]):
        return SpreadOfPairs(effect, np.full(len(effect), np.nan), 1.0)
    units = effective_units(n, weight, cluster)
    error = spread / np.sqrt(n)
    if weight is not None or cluster is not None:
        error = _robust_error(weighted_values(centred - centre, weight), each, cluster, weighted=weigh_unlike(weight))
    return SpreadOfPairs(effect, np.where(error * np.sqrt(n) < least, 0, error * scale), units)


def effective_units(n: int, weight: Array | None, cluster: Array | None) -> float:
    """Return the number of queries, or clusters; if they have weights, Kish's effective number (``kish``)."""
    if weight is None:
        return float(n if cluster is None else int(cluster.max()) + 1)
    return kish(in_clusters(weight[:, None], cluster)[:, 0])


def interval_and_p_value(
    differences: Array,
    weight: Array | None,
    cluster: Array | None,
    level: float,
    resamples: int,
    seed: int,
    tick: Tick = lambda done: None,
    magnitude: Array | None = None,
) -> dict[str, Array]:
    """Return the columns "ci_low", "ci_high" and "p_value" of the bootstrap, shape (columns,) each.

    Only "p_value", of 1, if no resample has a mean.

    The interval is that of percentiles, at the level that few units need (``expanded_level``). For the p-value the
    resampled means are moved by the observed mean, so that they lie around 0: it is the share of them that are at least
    as far from 0 as the observed mean.

    Parameters
    ----------
    differences, weight, cluster, magnitude : as for ``spread_of_pairs``; there are two clusters or more. All columns
        are resampled by the same draws.
    level : of the interval.
    resamples, seed : the number of resamples (of few units there are more, see ``enough_resamples``), and the seed.
    tick : called with how many queries, or clusters, are resampled.
    """
    offset = offsets(differences, magnitude)
    centred, units = differences - offset, effective_units(len(differences), weight, cluster)
    means = resampled_means(centred.T, weight, cluster, enough_resamples(resamples, units), seed, tick)
    means = means[:, ~np.isnan(means[0])].T + offset
    mean = np.average(centred, axis=0, weights=weight) + offset
    scale = np.average(np.abs(differences), axis=0, weights=weight)
    if not len(means):
        return {"p_value": np.ones(len(mean))}
    return interval_and_p_value_of_draws(means, mean, scale, expanded_level(level, units))


def interval_and_p_value_of_draws(drawn: Array, seen: Array, scale: Array | float, level: float) -> dict[str, Array]:
    """Return percentile intervals of resampled differences, and p-values, as columns by name.

    A p-value is the share of resamples that are at least as far from the observed difference as 0 is.

    Parameters
    ----------
    drawn : the resampled differences, shape (draws, columns).
    seen : the observed differences, shape (columns,).
    scale : the size of values, by which rounding is judged, shape (columns,).
    level : the level of the intervals.
    """
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    far = np.abs(drawn - seen) >= np.abs(seen) - CLOSE * scale
    return {"ci_low": low, "ci_high": high, "p_value": (far.sum(axis=0) + 1) / (len(drawn) + 1)}


def deviation(values: Array, weight: Array, times: Array) -> Array:
    """Return the standard deviation of values, shape (columns,).

    It is that of a sample: with equal weights the sum of squares is divided by n - 1.

    Parameters
    ----------
    values : of queries or rows, shape (queries, columns).
    weight : the weight of each query in the mean, shape (queries,).
    times : how many queries each one stands for, shape (queries,).
    """
    heavy = weight * times
    deviations = values - np.average(values, axis=0, weights=heavy)
    return np.sqrt(
        ratio(weighted_values(deviations**2, heavy).sum(axis=0), heavy.sum() - (heavy * weight).sum() / heavy.sum())
    )


def weigh_unlike(weight: Array | None) -> bool:
    """Return True if weights above 0 differ."""
    return weight is not None and not all_equal(weight[weight > 0])


def variance_left(weight: Array) -> Array:
    """Return the expected squared distance of each unit from the weighted mean, as a share of its variance, (units,).

    It is less than 1, as a unit of great weight draws the mean to itself. For units with equal variances it is
    (1 - h_c)^2 + sum_d h_d^2 over the other units d, with h = w / W. If all weights are equal it is (G - 1) / G.

    Parameters
    ----------
    weight : the weight of each unit, of which two or more are above 0, shape (units,).

    Source: J. G. MacKinnon, H. White, Some heteroskedasticity-consistent covariance matrix estimators with improved
    finite sample properties, Journal of Econometrics 29, 1985 (HC2, here for a mean of any weights).
    """
    part = weight / weight.sum()
    square = part**2
    return (1 - part) ** 2 + np.maximum(square.sum() - square, np.finfo(np.float64).tiny)


def errors_away(level: float, units: float) -> float:
    """Return how many standard errors the ends of a t interval are from the mean; infinite for fewer than two units."""
    return t_quantile((1 + level) / 2, units - 1) if units >= MIN_UNITS else np.inf


def _robust_error(deviations: Array, weight: Array, cluster: Array | None, *, weighted: bool) -> Array:
    """Return the standard error of the weighted mean of queries, which may be in G clusters, shape (columns,).

    It is sqrt(sum_c S_c^2 / f_c) / W. S_c is the sum over the queries of a cluster of weight times distance from the
    mean, W the sum of all weights, and f_c is (G - 1) / G, or with unlike weights ``variance_left``. If all weights are
    equal and each query is a cluster, this is the standard deviation divided by the square root of their number.

    Parameters
    ----------
    deviations : the weight times the distance from the mean, shape (queries, columns).
    weighted : whether weights differ.
    """
    sums, size = in_clusters(deviations, cluster), in_clusters(weight[:, None], cluster)
    if weighted:
        return np.sqrt((sums**2 / variance_left(size[:, 0])[:, None]).sum(axis=0)) / weight.sum()
    units = np.count_nonzero(size)
    return np.sqrt(units / (units - 1) * (sums**2).sum(axis=0)) / weight.sum()


def classical(differences: Array, test: str) -> Array:
    """Return the p-values of scipy's paired t-test, Wilcoxon's signed rank test or the sign test, two-sided."""
    stats = scipy_stats(test)
    p = []
    for column in (differences / scales(differences)).T:
        moved = column[column != 0]
        if not len(moved) or (test == "t" and len(column) < 2):
            p.append(1.0 if len(column) > 1 or test != "t" else np.nan)
        elif test == "sign":
            p.append(float(stats.binomtest(int((moved > 0).sum()), len(moved)).pvalue))
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scipy warns of zeros and constant differences, which are usual here
                found = stats.wilcoxon(column) if test == "wilcoxon" else stats.ttest_1samp(column, 0)
            p.append(float(found.pvalue))
    return np.array(p)


def scipy_stats(test: str) -> Any:
    """Return scipy.stats; raise for a test that needs it if it is not installed."""
    return import_needed("scipy.stats", f"test={test!r} needs scipy", "stats", NotComputableError)


def adjusted(p: Array, correction: str) -> Array:
    """Return p-values corrected for multiple tests. NaN stays NaN, and is not counted as a test.

    Parameters
    ----------
    correction : "holm" and "bonferroni" bound the chance of any false alarm, "bh" (Benjamini and Hochberg) the expected
        share of false ones among all alarms; "none".
    """
    out = np.array(p, np.float64)
    at = np.flatnonzero(~np.isnan(out))
    known, m = out[at], len(at)
    if correction == "none" or not m:
        return out
    if correction == "bonferroni":
        out[at] = np.minimum(known * m, 1)
        return out
    order = np.argsort(known, kind="stable")
    rank = np.arange(m)
    if correction == "holm":
        steps = np.maximum.accumulate(known[order] * (m - rank))
    else:
        steps = np.minimum.accumulate((known[order] * m / (rank + 1))[::-1])[::-1]
    out[at[order]] = np.minimum(steps, 1)
    return out
