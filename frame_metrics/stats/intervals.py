"""Intervals of averages over queries: by draws, or by a formula for shares, quantiles, and values that hardly vary."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import rows_by_group
from frame_metrics.stats.averages import (
    FLOOR,
    Tally,
    by_tally,
    cluster_numbers,
    geometric,
    quotient,
    sums_within,
    to_sum,
    total,
)
from frame_metrics.stats.exact import expanded_level
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.quantiles import order_statistics, quantile_drawn
from frame_metrics.stats.resampling import (
    FEW_UNITS,
    MIN_RESAMPLES_OF_FEW,
    Units,
    draws,
    enough_resamples,
    percentile_interval,
    percentiles,
    resampled,
    sums_drawn,
)
from frame_metrics.stats.shares import are_shares, effective, kish, wilson_on_range

# For an interval by draws: the fewest units, and the fewest units that differ from the commonest value.
MIN_VARIED = 5
MIN_QUERIES = 10  # with fewer queries a mean is uncertain


def intervals(
    tallies: list[Tally],
    group: Array | None,
    n: int,
    level: float,
    resamples: int,
    seed: int,
    cluster: Array | None = None,
    drawing_order: Array | None = None,
    *,
    formulas: bool = True,
) -> Array:
    """Return the ends of the intervals of averages over the queries of each group, shape (2, tallies, n).

    - Shares, as the values of all groups together show (``are_shares``): Wilson's.
    - Quantiles: order statistics; with clusters percentiles of draws.
    - Fewer than ``MIN_VARIED`` units, or fewer that differ from the value that most have: Wilson's formula at the mean,
      on the range of the metric; NaN if that has no end.
    - All others: percentiles of resampled averages at the expanded level of so many units.

    Every group draws from the same seed, so that a group's interval does not depend on the draws of others. An end is
    NaN for fewer than two queries, or clusters.

    Parameters
    ----------
    tallies : what is averaged.
    group : the number of each query's group, -1 for none, shape (queries,); None for one group of all.
    n : number of groups.
    level : of the interval, as 0.95.
    cluster : the number of each query's cluster, shape (queries,); whole clusters are then drawn.
    drawing_order : the queries in the order in which random draws go to them, shape (queries,); it depends on the keys
        alone (``Index.drawing_order``). None: the order of the queries as they are.
    formulas : whether there are intervals by formulas; else all are percentiles of draws.
    """
    out = np.full((2, len(tallies), n), np.nan)
    group = np.zeros(len(tallies[0].counted), np.int64) if group is None else group
    zero_one: dict[int, bool] = {}  # by the id of an array of values, as several tallies may share it
    for tally in tallies:
        if id(tally.each) not in zero_one:
            zero_one[id(tally.each)] = are_shares(tally.each, tally.value_range)
    for g, members in enumerate(rows_by_group(group, n, drawing_order)):
        if len(members) < 2:
            continue
        cluster_of = None if cluster is None else cluster_numbers(cluster[members])
        by_draws: list[tuple[int, UnitsAndEnds]] = []
        for i, tally in enumerate(tallies):
            found = _units_and_ends(tally, members, cluster_of, level, zero_one=zero_one[id(tally.each)])
            if found.ends is None or not (formulas or found is TOO_FEW_UNITS):
                by_draws.append((i, found))
            else:
                out[:, i, g] = found.ends
        # Averages with the same number of resamples are drawn together.
        for n_resamples in {enough_resamples(resamples, found.n_units) for _, found in by_draws}:
            some = [(i, found) for i, found in by_draws if enough_resamples(resamples, found.n_units) == n_resamples]
            shifted = [_without_offset(tallies[i], members) for i, _ in some]
            sums = _draws([tally for tally, _ in shifted], members, cluster_of, n_resamples, seed)
            for (i, found), (tally, offset), sums_of_tally in zip(some, shifted, sums, strict=True):
                with np.errstate(divide="ignore", invalid="ignore"):
                    drawn = _averages_drawn(tally, members, sums_of_tally)
                    # Quantiles have an interval even if no draw differs: that of many values may always be the same.
                    find = percentile_interval if tally.quantile is None else percentiles
                    out[:, i, g] = find(drawn, expanded_level(level, found.n_effective)) + offset
    return out


def _averages_drawn(tally: Tally, members: Array, sums: Array) -> Array:
    """Return the average in each resample, shape (resamples,).

    It is NaN, to be left out, for a resample in which it is undefined, though it is defined in the data.

    ``sums``: the sums of the columns in each resample.
    """
    if tally.raw is None:
        return tally.finish(sums)
    in_data = tally.raw(np.array([[column[members].sum()] for column in tally.columns], np.float64))
    return tally.finish(sums) if np.isnan(in_data).any() else tally.raw(sums)


@record
class UnitsAndEnds:
    """The units that an average rests on, and its interval if a formula gives it."""

    n_units: int  # how many queries, or clusters, are in the average
    n_effective: float  # the same; if they have weights Kish's effective number
    ends: tuple[float, float] | None  # of the interval by a formula, NaN for too few units; None if draws give it


TOO_FEW_UNITS = UnitsAndEnds(0, 0, (np.nan, np.nan))


def _units_and_ends(
    tally: Tally, members: Array, cluster_of: Array | None, level: float, *, zero_one: bool
) -> UnitsAndEnds:
    """Return the number of units of an average, and the interval if a formula gives it.

    Parameters
    ----------
    tally : what is averaged.
    members : the queries of the group, shape (queries,).
    cluster_of : the number of each one's cluster, shape (queries,); None without clusters.
    level : of the interval.
    zero_one : whether the values of the metric ``are_shares``.
    """
    values = tally.each[members]
    weight = None if tally.weight is None else tally.weight[members]
    # Leave out queries that are in no mean: undefined ones, and those that weigh nothing. Equal weights are none.
    known = ~np.isnan(values) if weight is None else ~np.isnan(values) & (weight > 0)
    if not known.all():
        values, members = values[known], members[known]
        weight, cluster_of = (None if one is None else one[known] for one in (weight, cluster_of))
    if weight is not None and len(weight) and (weight == weight[0]).all():
        weight = None
    if cluster_of is not None:
        cluster_of = cluster_numbers(cluster_of)
    n_units = len(values) if cluster_of is None else int(cluster_of.max(initial=-1)) + 1
    if n_units < 2:
        return TOO_FEW_UNITS
    # Quantiles have order statistics, shares of 0 and 1 Wilson's interval. Means have draws, unless too few units vary.
    if tally.quantile is not None:
        return UnitsAndEnds(n_units, n_units, _of_order(values, tally.quantile, level) if cluster_of is None else None)
    n = float(n_units) if weight is None else kish(weight if cluster_of is None else np.bincount(cluster_of, weight))
    if zero_one and (tally.finish is quotient or (tally.finish is total and cluster_of is None)):
        return UnitsAndEnds(n_units, n, _of_share(tally, values, weight, cluster_of, level))
    if zero_one and tally.average == "micro":
        return UnitsAndEnds(n_units, n, _of_pooled_shares(tally, members, cluster_of, level))
    if n_units >= MIN_VARIED and _enough_vary(values, cluster_of, n_units):
        return UnitsAndEnds(n_units, n, None)
    return UnitsAndEnds(n_units, n, _on_range(tally, values, weight, members, n, level))


def _of_order(values: Array, quantile: float, level: float) -> tuple[float, float]:
    """Return the order statistics that are the ends of the interval of a quantile."""
    rising = np.sort(values)
    low, high = order_statistics(len(values), quantile, level)
    return np.nan if low is None else float(rising[low]), np.nan if high is None else float(rising[high])


def _of_share(
    tally: Tally, values: Array, weight: Array | None, cluster_of: Array | None, level: float
) -> tuple[float, float]:
    """Return Wilson's interval of a share of queries, or of how many they are.

    With weights or clusters it is that of as many independent queries of equal weight as would be as informative.
    """
    n_queries = len(values)
    each = np.ones(n_queries) if weight is None else weight
    share = float((values * each).sum() / each.sum())
    n = float(n_queries)
    if weight is not None or cluster_of is not None:
        residual, weight_of_unit = each * (values - share), each
        if cluster_of is not None:
            residual, weight_of_unit = (np.bincount(cluster_of, one).astype(np.float64) for one in (residual, each))
        variance = np.square(residual / each.sum()).sum()
        n = float(effective(share, variance, kish(weight_of_unit), kish(each), level, clustered=cluster_of is not None))
    low, high = wilson_on_range(share, n, level).tolist()
    return (low * n_queries, high * n_queries) if tally.finish is total else (low, high)


def _of_pooled_shares(tally: Tally, members: Array, cluster_of: Array | None, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of summed counts; its variance is that of the jackknife.

    The jackknife computes the share without each query, or cluster. If each query has one row, the interval is that of
    a mean over queries.
    """
    counts = np.array([column[members] for column in tally.columns], np.float64)
    units = counts if cluster_of is None else sums_within(cluster_of, int(cluster_of.max()) + 1, counts)
    whole, n = units.sum(axis=1, keepdims=True), units.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share, without_unit = float(tally.finish(whole)[0]), tally.finish(whole - units)
    variance = np.square(without_unit - np.nanmean(without_unit)).sum() * ((n - 1) / n) ** 2
    rows = effective(share, variance, n, len(members), level, clustered=cluster_of is not None)
    low, high = wilson_on_range(share, rows, level).tolist()
    return low, high


def _enough_vary(values: Array, cluster_of: Array | None, n_units: int) -> bool:
    """Return True if ``MIN_VARIED`` units differ from the median, or at least as many units as have its value."""
    median = np.partition(values, len(values) // 2)[len(values) // 2]  # if most values are equal, it is this value
    differs = values != median
    n_differing = int(np.count_nonzero(differs if cluster_of is None else np.bincount(cluster_of, differs)))
    return n_differing >= min(MIN_VARIED, n_units - n_differing)


def _on_range(
    tally: Tally, values: Array, weight: Array | None, members: Array, n: float, level: float
) -> tuple[float, float]:
    """Return Wilson's formula at the mean of values that hardly vary, stretched to the range of the metric."""
    ends = tally.value_range
    if len(values) and (values.min() < ends[0] or values.max() > ends[1]):  # numbers of another metric with that name
        return np.nan, np.nan
    if tally.average == "micro":
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = float(tally.finish(np.array([[column[members].sum()] for column in tally.columns]))[0])
        low, high = wilson_on_range(mean, n, level, ends).tolist()
        return low, high
    if tally.finish is geometric:
        values, ends = np.log(values), (np.log(max(ends[0], FLOOR)), np.log(max(ends[1], FLOOR)))
    each = np.ones(len(values)) if weight is None else weight
    low, high = wilson_on_range((values * each).sum() / each.sum(), n, level, ends).tolist()
    if tally.finish is geometric:
        return float(np.exp(low)), float(np.exp(high))
    size = len(values) if tally.finish is total else 1
    return low * size, high * size


def _without_offset(tally: Tally, members: Array) -> tuple[Tally, float]:
    """Return the tally of a mean with the ``offsets`` of some queries subtracted from their values; and the offset."""
    if tally.weight is not None:  # intervals do not read the squares of weights
        tally = replace(tally, columns=tally.columns[:2])
    if (
        tally.least_and_most is None
        or tally.finish is not quotient
        or not (low := float(offsets(tally.least_and_most[0][members])))
    ):
        return tally, 0.0
    values, weight = tally.columns
    return replace(tally, columns=(values - low * weight, weight)), low


def _draws(tallies: list[Tally], members: Array, cluster_of: Array | None, resamples: int, seed: int) -> list[Array]:
    """Return the sums of each tally's columns over resampled queries, or its quantiles, (columns, resamples) each.

    Parameters
    ----------
    tallies : the averages.
    members : the queries to resample, in the order of random draws, shape (queries,).
    cluster_of : the number of each one's cluster, shape (queries,); None without clusters.
    resamples, seed : the number of resamples, and the seed.
    """
    columns, edges = to_sum(tallies)
    units = np.array([column[members] for column in columns], np.float64).reshape(-1, len(members))
    if cluster_of is not None:
        units = sums_within(cluster_of, int(cluster_of.max()) + 1, units)
    quantiles = [(i, tally, tally.quantile) for i, tally in enumerate(tallies) if tally.quantile is not None]
    rising = [(i, level, *_rising(tally, members)) for i, tally, level in quantiles]
    if not rising:
        # Draws of few units are cached; with more units or draws the cache would take too much memory.
        n_units = units.shape[1]
        if n_units < FEW_UNITS and resamples <= MIN_RESAMPLES_OF_FEW:
            return by_tally(sums_drawn(units, _counts_of_few(n_units, resamples, seed)), edges)
        return by_tally(resampled(units, resamples, seed), edges)
    pieces = []
    for often in draws(Units.without_values(units.shape[1]), resamples, seed):
        each = by_tally(sums_drawn(units, often), edges)
        for i, level, values, at in rising:
            often_of_values = often.take(at if cluster_of is None else cluster_of[at], axis=1)
            each[i] = quantile_drawn(values, often_of_values, level)[None]
        pieces.append(each)
    return [np.concatenate(sums, axis=1) for sums in zip(*pieces, strict=True)]


@lru_cache(maxsize=FEW_UNITS)
def _counts_of_few(n: int, resamples: int, seed: int) -> Array:
    """Return how often each of a few units is in each resample, (resamples, units); cached, as many groups share it."""
    return np.concatenate([often.astype(np.float64) for often in draws(Units.without_values(n), resamples, seed)])


def _rising(tally: Tally, members: Array) -> tuple[Array, Array]:
    """Return the values that count of some queries, ascending, and the positions of these values among the queries."""
    some = np.flatnonzero(tally.counted[members])
    values = tally.columns[0][members[some]]
    order = np.argsort(values, kind="stable")
    return values[order], some[order]
