"""Averages over queries, and their intervals: columns are summed within groups, and the sums give the averages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np

from frame_metrics import threads
from frame_metrics.inputs import Array, FullConfusion, ratio
from frame_metrics.inputs.records import record
from frame_metrics.metrics.metric import Metric
from frame_metrics.stats.quantiles import quantile_level, quantile_within
from frame_metrics.stats.resampling import resampled
from frame_metrics.stats.sums import ADDED_SINGLY, sum_of, sums_and_remainders, sums_of

FLOOR = 1e-5  # the least value in a geometric mean, as in trec_eval
Averages: TypeAlias = Sequence[str | None]  # those asked for; None for the default of each metric


@record
class Tally:
    """An average of a metric, as columns that are summed over queries and a function of the sums."""

    average: str  # its name, as in the column "average" of a result
    columns: tuple[Array, ...]  # the columns to sum, shape (queries,) each
    finish: Callable[[Array], Array]  # from the sums, shape (columns, groups), to averages, shape (groups,)
    counted: Array  # whether each query counts in the average, shape (queries,)
    undefined: Array  # whether the metric is undefined for each query, shape (queries,)
    quantile: float | None = None  # of a quantile, its level: the column is then sorted, and not summed
    # For a mean: the least and the greatest value of each query (equal, unless the query stands for several), NaN where
    # undefined, shape (queries,) each. The mean is clipped to them.
    least_and_most: tuple[Array, Array] | None = None
    # If the columns are sums over several queries: what each sum lost when it was rounded, shape (queries,) each.
    remainders: tuple[Array, ...] = ()
    # For intervals: the value of each query, NaN if it does not count, shape (queries,); the least and the greatest
    # possible value; and the weight of each query, shape (queries,), None if all are 1.
    each: Array = field(default_factory=lambda: np.zeros(0))
    value_range: tuple[float, float] = (-np.inf, np.inf)
    weight: Array | None = None
    raw: Callable[[Array], Array] | None = None  # of a micro average: ``finish`` without substitute, NaN if undefined


def total(sums: Array) -> Array:
    """Return the sum of a column, of which there is one."""
    return sums[0]


def quotient(sums: Array) -> Array:
    """Return a mean: the sum of values divided by that of weights. (A third sum, of squared weights, is not used.)"""
    return sums[0] / sums[1]


def geometric(sums: Array) -> Array:
    """Return a geometric mean, from the sum of logarithms and that of weights."""
    return np.exp(quotient(sums))


def within_values(mean: Array, values: Array) -> Array:
    """Clip means to the least and the greatest of their values, which rounded sums may exceed.

    So a mean of equal values is exactly that value, and is within limits that hold for all of them.

    Parameters
    ----------
    mean : shape (means,).
    values : the values of each mean, NaN for those that are left out, shape (values, means).
    """
    ends = (ufunc.reduce(values, axis=0, initial=np.nan) for ufunc in (np.fmin, np.fmax))
    return np.clip(mean, *ends)


def means_of(columns: Array, weight: Array | None) -> Array:
    """Return the means of columns over all queries, shape (columns,); to the last bit those of ``averages_within``.

    Parameters
    ----------
    columns : shape (columns, queries), none of them undefined.
    weight : the weight of each query, of which one is above 0, shape (queries,); None: 1.
    """
    each = np.ones(columns.shape[1], bool) if weight is None else weight
    sums = sums_within(None, 1, [*(columns if weight is None else columns * weight), each])[:, 0]
    return within_values(sums[:-1] / sums[-1], columns.T)


def averages_of(metric: Metric, averages: Averages, *, weighted: bool) -> list[str]:
    """Return the averages over queries of a metric: the one in its name, else those of the call.

    Parameters
    ----------
    averages : those of the call; None stands for the sum of a count, and for the mean of any other metric.
    weighted : whether queries have weights.
    """
    mean = "weighted" if weighted else "macro"
    if metric.average:
        return [metric.average]
    if metric.summed:
        return list(dict.fromkeys("sum" if average in (None, "micro") else average for average in averages))
    return [average or mean for average in averages]


def tally(
    undefined: Array | None,
    filled: Array,
    average: str,
    weight: Array | None,
    all_and_none: tuple[Array, Array],
    value_range: tuple[float, float],
    squared: Array | None = None,
) -> Tally:
    """Return the tally of an average over queries.

    Parameters
    ----------
    undefined : whether the metric is undefined for each query, shape (queries,); None if it is for none.
    filled : values with undefined ones replaced, NaN for those that are left out of the mean, shape (queries,).
    average : "sum", "macro" (which ignores weights), "weighted", "gmean", "rows" or a quantile.
    weight : the weight of each query, for "rows" its number of rows, shape (queries,); None: 1.
    all_and_none : an array of True, and one of False, shape (queries,). Metrics that are defined for all queries share
        them, so that they are summed only once.
    value_range : the least and the greatest value that the metric may have.
    squared : the squares of weights, shape (queries,), which metrics may share; None: they are computed.
    """
    counted, values = all_and_none[0], filled
    if undefined is None:
        undefined = all_and_none[1]
    else:
        counted = ~np.isnan(filled)
        values = np.where(counted, filled, 0)
    level = quantile_level(average)
    if average == "sum" or level is not None:
        return Tally(average, (values,), total, counted, undefined, level, each=filled, value_range=value_range)
    each = filled
    if average == "gmean":
        each = np.maximum(filled, FLOOR)
        values = np.log(np.maximum(values, FLOOR)) * counted
    used_weight = None if average == "macro" else weight
    columns: tuple[Array, ...] = (values, counted)
    if used_weight is not None:
        # The squares are for Kish's number. If all queries count, metrics share the arrays of weights.
        all_count = counted is all_and_none[0] and squared is not None
        counted_weight = used_weight if all_count else counted * used_weight
        squares = squared if all_count and squared is not None else counted_weight * used_weight
        columns = values * used_weight, counted_weight, squares
    finish = geometric if average == "gmean" else quotient
    return Tally(
        average,
        columns,
        finish,
        counted,
        undefined,
        least_and_most=(each, each),
        each=each,
        value_range=value_range,
        weight=used_weight,
    )


def pooled(metric: Metric, counts: Array, fill: float | None, raw: Array) -> Tally:
    """Return the tally of the micro average: counts are summed, and the metric is computed from the sums.

    A query counts as undefined if the metric of that query alone is undefined.

    Parameters
    ----------
    counts : the counts of each query, such as those of the 2x2 table, shape (counts, queries).
    fill : the substitute for an undefined value; None for null.
    raw : the values of single queries, NaN where undefined, shape (queries,).
    """

    def raw_of(sums: Array) -> Array:
        if metric.micro is not None:
            return _sum_of_ratios(*np.split(sums, 2))
        options = {name: value for name, value in metric.params.items() if name in metric.signature}
        with np.errstate(divide="ignore", invalid="ignore"):
            return metric.apply(FullConfusion.of_counts(sums), **options)

    def finish(sums: Array) -> Array:
        values = raw_of(sums)
        return values if fill is None or metric.micro is not None else np.where(np.isnan(values), fill, values)

    all_count = np.ones(counts.shape[1], bool)
    each = raw if metric.micro is None else _sum_of_ratios(*np.split(counts, 2))
    undefined = np.isnan(each)
    return Tally("micro", tuple(counts), finish, all_count, undefined, each=each, value_range=metric.range, raw=raw_of)


def _sum_of_ratios(numerators: Array, denominators: Array) -> Array:
    """Return the sum over axis 0 of numerators / denominators, shape (groups,); NaN if one ratio is undefined."""
    return ratio(numerators, denominators).sum(axis=0)


def averages_within(tallies: list[Tally], group: Array | None, n: int) -> tuple[Array, Array, Array, Array]:
    """Compute averages in groups.

    Parameters
    ----------
    tallies : the averages.
    group : the number of each query's group, -1 for none, shape (queries,); None for one group of all.
    n : number of groups.

    Returns
    -------
    The averages (NaN for one over no query), how many queries they rest on, for how many queries the metric is
    undefined, and Kish's effective numbers, shape (tallies, n) each.
    """
    columns, edges = to_sum(tallies)
    n_counted, undefined, sums, (least, most), _ = _summed_within(tallies, columns, group, n, remainders=False)
    each = by_tally(sums, edges)
    for i, one_tally in enumerate(tallies):
        if one_tally.quantile is not None:
            each[i] = quantile_within(one_tally.columns[0], one_tally.counted, group, n, one_tally.quantile)[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.array([one_tally.finish(rows) for one_tally, rows in zip(tallies, each, strict=True)])
    means = [i for i, one_tally in enumerate(tallies) if one_tally.least_and_most is not None]
    at = slice(None) if len(means) == len(tallies) else means  # a slice is faster
    value[at] = np.minimum(np.maximum(value[at], least), most)  # sums are rounded: see ``within_values``
    is_empty = n_counted == 0
    value[is_empty] = np.nan
    effective = np.where(is_empty, np.nan, n_counted)
    for i, (one_tally, rows) in enumerate(zip(tallies, each, strict=True)):
        if one_tally.weight is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                effective[i] = ratio(rows[1] ** 2, rows[2])
    return value, n_counted, undefined, effective


def partial_sums_within(tallies: list[Tally], group: Array | None, n: int) -> Array:
    """Return the sums of each group from which ``tallies_of_sums`` can continue, shape (sums, n); not for quantiles.

    What rounding lost of each sum is among them, so that averages are those of all queries at once, to the last bit.

    The parameters are those of ``averages_within``.
    """
    n_counted, undefined, sums, ends, remainders = _summed_within(
        tallies, to_sum(tallies)[0], group, n, remainders=True
    )
    return np.concatenate([n_counted, undefined, sums, *ends, remainders])


def tallies_of_sums(tallies: list[Tally], partial_sums: Array) -> list[Tally]:
    """Return tallies whose queries are groups of queries; ``partial_sums``: as ``partial_sums_within`` returned them.

    What only intervals read is left out.
    """
    columns, edges = to_sum(tallies)
    means = sum(one.least_and_most is not None for one in tallies)
    sizes = [len(tallies), len(tallies), len(columns), means, means]
    n_counted, undefined, sums, least, most, remainders = np.split(partial_sums, [*accumulate(sizes)])
    ends = zip(least, most, strict=True)
    parts = zip(tallies, by_tally(sums, edges), by_tally(remainders, edges), n_counted, undefined, strict=True)
    none = np.zeros(0)
    return [
        replace(
            one,
            columns=tuple(rows),
            remainders=tuple(lost),
            counted=n,
            undefined=lacking,
            least_and_most=one.least_and_most and next(ends),
            each=none,
            weight=None if one.weight is None else none,
        )
        for one, rows, lost, n, lacking in parts
    ]


def _summed_within(
    tallies: list[Tally], columns: list[Array], group: Array | None, n: int, *, remainders: bool
) -> tuple[Array, Array, Array, tuple[Array, Array], Array]:
    """Sum the columns of tallies within groups; ``columns``: as ``to_sum`` returns them.

    Returns
    -------
    The numbers of queries that count, and of undefined ones, shape (tallies, n) each; the sums of the columns of all
    tallies, shape (columns, n); the least and the greatest values of each mean; and with ``remainders`` what rounding
    lost of each sum, shape (columns, n).
    """
    marks = [*(one_tally.counted for one_tally in tallies), *(one_tally.undefined for one_tally in tallies)]
    given = [remainder for one_tally in tallies for remainder in one_tally.remainders]
    added, group_of_added = [*marks, *columns], group
    if given:  # remainders are added as further rows, in the columns of their sums
        nothing = np.zeros(len(given[0]))
        added = [np.append(*both) for both in zip(added, [*[nothing] * len(marks), *given], strict=True)]
        group_of_added = None if group is None else np.tile(group, 2)
    if remainders:
        table, lost = exactly_within(group_of_added, n, added)
    else:
        table, lost = sums_within(group_of_added, n, added), np.zeros((0, n))
    ends = [one_tally.least_and_most for one_tally in tallies if one_tally.least_and_most is not None]
    least = sums_within(group, n, [low for low, _ in ends], np.fmin)
    most = sums_within(group, n, [high for _, high in ends], np.fmax)
    m, of_columns = len(tallies), 2 * len(tallies)
    return table[:m], table[m:of_columns], table[of_columns:], (least, most), lost[of_columns:]


def to_sum(tallies: list[Tally]) -> tuple[list[Array], list[int]]:
    """Return the columns to sum of all tallies, and the edges: where those of each tally begin, then the end of all.

    Quantiles have no columns to sum.
    """
    summed = [() if one_tally.quantile is not None else one_tally.columns for one_tally in tallies]
    return [column for columns in summed for column in columns], [0, *accumulate(map(len, summed))]


def by_tally(sums: Array, edges: list[int]) -> list[Array]:
    """Split the rows of sums by tally; ``edges``: as ``to_sum`` returns them."""
    return [sums[begin:end] for begin, end in pairwise(edges)]


def sums_within(group: Array | None, n: int, columns: Sequence[Array] | Array, ufunc: np.ufunc = np.add) -> Array:
    """Return the sums of columns within groups, shape (columns, n).

    Sums are exact, and rounded once: neither the order of the rows nor another group changes a digit of them.

    Parameters
    ----------
    group : the number of each row's group, -1 for none; None for one group of all rows.
    n : number of groups.
    columns : the columns, shape (rows,) each.
    ufunc : what to compute instead of the sum. A group without rows has the sum 0, and NaN for another function.
    """
    columns = list(columns)
    adds, n_rows = ufunc is np.add, len(columns[0]) if columns else 0
    # Of few rows calls of numpy take most of the time, so that there is one for all columns, or none.
    if group is None and adds and 0 < n_rows <= ADDED_SINGLY:
        return np.array([sum_of(column.tolist()) for column in columns])[:, None]
    few = not adds and 0 < n_rows <= threads.FEW_ROWS
    if few and group is None:
        return ufunc.reduceat(np.array(columns, np.float64), np.zeros(1, np.int64), axis=1)
    if few:
        out, (order, with_rows, first) = np.full((len(columns), n), np.nan), _order_by_group(group)
        out[:, with_rows] = ufunc.reduceat(np.array(columns, np.float64)[:, order], first, axis=1)
        return out
    numbers, empty = (sums_of, 0.0) if adds else (partial(ufunc.reduceat, dtype=np.float64), np.nan)
    return _each_within(group, n, columns, numbers, empty)[0]


def exactly_within(group: Array | None, n: int, columns: Sequence[Array]) -> Array:
    """Return the sums of columns within groups, and what rounding lost of each, shape (2, columns, n)."""
    return _each_within(group, n, columns, sums_and_remainders, 0.0, 2)


def _each_within(
    group: Array | None,
    n: int,
    columns: Sequence[Array],
    numbers: Callable[[Array, Array], Array | tuple[Array, Array]],
    empty: float,
    n_numbers: int = 1,
) -> Array:
    """Return one or more numbers of each column and group, shape (n_numbers, columns, n).

    Parameters
    ----------
    numbers : the function that returns them, of a column whose groups are adjacent, and of where these begin.
    empty : the number of a group without rows.
    n_numbers : how many numbers the function returns.
    """
    out, (order, with_rows, first) = np.full((n_numbers, len(columns), n), empty), _order_by_group(group)
    first_of_array: dict[int, int] = {}  # by the id of an array: metrics may share one, which is summed once
    for i, column in enumerate(columns):
        if (before := first_of_array.setdefault(id(column), i)) < i:
            out[:, i] = out[:, before]
        elif len(with_rows) and len(column):
            out[:, i, with_rows] = numbers(column[order], first)
    return out


def _order_by_group(group: Array | None) -> tuple[slice | Array, Array, Array]:
    """Return the order that brings the rows of groups together, the groups that have rows, and where each begins."""
    if group is None:
        return slice(None), np.zeros(1, np.int64), np.zeros(1, np.int64)
    order = np.argsort(group, kind="stable")
    order = order[np.count_nonzero(group < 0) :]
    return order, *np.unique(group[order], return_index=True)


def cluster_numbers(cluster: Array | None) -> Array | None:
    """Number clusters by first appearance; None if each query (or row) is a cluster by itself, as without clusters."""
    if cluster is None:
        return None
    _, first, code = np.unique(cluster, return_index=True, return_inverse=True)
    if len(first) == len(cluster):
        return None
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[code]


def resampled_means(
    columns: Array,
    weight: Array | None,
    cluster: Array | None,
    resamples: int,
    seed: int,
    tick: Callable[[int], None] = lambda done: None,
) -> Array:
    """Return the means of columns over resampled queries, shape (columns, resamples); NaN if the weights are all 0.

    Parameters
    ----------
    columns : shape (columns, queries).
    weight : the weight of each query in the mean, shape (queries,); None if all are equal.
    cluster : the number of each query's cluster, shape (queries,). Then whole clusters are drawn, and a mean is over
        all queries in them. None without clusters.
    resamples, seed : the number of resamples, and the seed.
    tick : called with the number of queries, or clusters, that are done.
    """
    if weight is None and cluster is None:
        return resampled(columns, resamples, seed, tick) / columns.shape[1]
    each = np.ones(columns.shape[1]) if weight is None else weight
    units = np.vstack([columns * each, each])
    if cluster is not None:
        units = sums_within(cluster, int(cluster.max()) + 1, units)
    sums = resampled(units, resamples, seed, tick)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums[:-1] / sums[-1]
