"""Averages over queries, and their intervals: sums of columns within groups, and what becomes of the sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from frame_metrics.inputs import Array, Confusion
from frame_metrics.metrics.metric import Metric

FLOOR = 1e-5  # the least value in a geometric mean, as in trec_eval


@dataclass(frozen=True, eq=False)
class Tally:
    """One averaged metric: columns that are summed over queries, and the value that the sums give."""

    average: str  # what the result's column says
    columns: tuple[Array, ...]  # what is summed, each of shape (queries,)
    finish: Callable[[Array], Array]  # sums of the columns, shape (columns, groups), to values, shape (groups,)
    defined: Array  # whether each query counts, shape (queries,)
    undefined: Array  # whether the metric was undefined for each query, shape (queries,)


def _quotient(sums: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums[0] / sums[1]


def average_of(metric: Metric, average: str | None, *, weighted: bool) -> str:
    """Return the average over queries that a metric has, whatever the data: as its name says it, or the call.

    Parameters
    ----------
    average : the one that is asked for; None for the sum of a count, and else the mean.
    weighted : whether queries have weights.
    """
    if metric.average or average not in (None, "micro"):
        return metric.average or str(average)
    if metric.summed:
        return "sum"
    return average or ("weighted" if weighted else "macro")


def tally(raw: Array, filled: Array, average: str, weight: Array | None) -> Tally:
    """Name the sums that an average over queries is made of.

    Parameters
    ----------
    raw : values, NaN where undefined, shape (queries,).
    filled : the same, NaN only where they are left out of the mean.
    average : "sum", "macro", in which no weight enters, "weighted" or "gmean".
    """
    undefined = np.isnan(raw)
    defined = ~np.isnan(filled) if undefined.any() else ~undefined
    values = np.where(defined, filled, 0) if undefined.any() else filled
    if average == "sum":
        return Tally("sum", (values,), lambda sums: sums[0], defined, undefined)
    if average == "gmean":
        values = np.log(np.maximum(values, FLOOR)) * defined
    plain = weight is None or average == "macro"
    columns = (values, defined) if plain else (values * weight, defined * weight)
    if average == "gmean":
        return Tally("gmean", columns, lambda sums: np.exp(_quotient(sums)), defined, undefined)
    return Tally(average, columns, _quotient, defined, undefined)


def pooled(metric: Metric, counts: Array, fill: float | None, raw: Array) -> Tally:
    """Name the sums of the micro average: counts of the 2x2 table, on which the metric is computed once."""

    def finish(sums: Array) -> Array:
        own = {name: value for name, value in metric.params.items() if name in metric.options}
        with np.errstate(divide="ignore", invalid="ignore"):
            values = metric.kernel(Confusion.of_counts(sums), **own)
        return values if fill is None else np.where(np.isnan(values), fill, values)

    here = np.ones(counts.shape[1], bool)
    return Tally("sum" if metric.summed else "micro", tuple(counts), finish, here, np.isnan(raw))


def within(group: Array | None, n: int, columns: Sequence[Array] | Array) -> Array:
    """Return the sums of columns within groups, shape (columns, n); all in one group where ``group`` is None.

    A group's rows are summed side by side, so that its sum is the same to the last bit whatever other groups there are.
    Rows of group -1 are in none.
    """
    out = np.zeros((len(columns), n))
    order: slice | Array = slice(None)
    there = first = np.zeros(1, np.int64)
    if group is not None:
        order = np.argsort(group, kind="stable")
        order = order[np.count_nonzero(group < 0) :]
        there, first = np.unique(group[order], return_index=True)
    for i, column in enumerate(columns):
        if len(there) and len(column):
            out[i, there] = np.add.reduceat(column[order], first, dtype=np.float64)
    return out


def numbered(cluster: Array | None) -> Array | None:
    """Number the clusters of queries or rows as they first appear; None where each has its own, which is no cluster."""
    if cluster is None:
        return None
    _, first, code = np.unique(cluster, return_index=True, return_inverse=True)
    if len(first) == len(cluster):
        return None
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[code]


def intervals(
    tallies: list[Tally],
    group: Array | None,
    n: int,
    level: float,
    resamples: int,
    seed: int,
    cluster: Array | None = None,
    queries: Array | None = None,
) -> Array:
    """Return the ends of percentile bootstrap intervals over the queries of each group, shape (2, tallies, n).

    Every group draws from the same seed, so that a group's interval does not depend on the others. An end is NaN for
    fewer than two queries, or clusters.

    Parameters
    ----------
    tallies : what is averaged.
    group : the number of each query's group, -1 for none, shape (queries,); None for one group of all.
    n : number of groups.
    level : of the interval, as 0.95.
    cluster : the number of each query's cluster, shape (queries,); whole clusters are then drawn.
    queries : the order in which queries are drawn, shape (queries,); None for their own.
    """
    out = np.full((2, len(tallies), n), np.nan)
    columns = np.array([column for t in tallies for column in t.columns], dtype=np.float64)
    group = np.zeros(columns.shape[1], np.int64) if group is None else group
    ends = np.cumsum([len(t.columns) for t in tallies])[:-1]
    tails = [(1 - level) / 2, (1 + level) / 2]
    order = np.argsort(group, kind="stable") if queries is None else queries[np.argsort(group[queries], kind="stable")]
    edges = np.searchsorted(group[order], np.arange(n + 1))
    for g in range(n):
        members = order[edges[g] : edges[g + 1]]
        if len(members) < 2:
            continue
        units = columns[:, members]
        of = None if cluster is None else numbered(cluster[members])
        if of is not None:
            units = within(of, int(of.max()) + 1, units)
        draws = resampled(units, resamples, seed)
        for i, (one, sums) in enumerate(zip(tallies, np.split(draws, ends), strict=True)):
            values = one.finish(sums)
            values = values[~np.isnan(values)]
            defined = one.defined[members] if of is None else np.bincount(of, one.defined[members]) > 0
            if len(values) and defined.sum() >= 2:
                out[:, i, g] = np.quantile(values, tails)
    return out


def resampled(columns: Array, resamples: int, seed: int) -> Array:
    """Return the sums of columns over resampled queries or clusters, shape (columns, resamples).

    Parameters
    ----------
    columns : shape (columns, units).
    """
    size = columns.shape[1]
    step = max((1 << 20) // size, 1)
    random = np.random.default_rng(seed)
    pieces = []
    for begin in range(0, resamples, step):
        m = min(step, resamples - begin)
        drawn = random.integers(0, size, (m, size)) + np.arange(m)[:, None] * size
        often = np.bincount(drawn.ravel(), minlength=m * size).reshape(m, size)
        pieces.append(columns @ often.T.astype(np.float64))
    return np.concatenate(pieces, axis=1)


def resampled_means(columns: Array, weight: Array | None, cluster: Array | None, resamples: int, seed: int) -> Array:
    """Return the means of columns over resampled queries, shape (columns, resamples); NaN where what is drawn weighs 0.

    Parameters
    ----------
    columns : shape (columns, queries).
    weight : of each query in the mean, shape (queries,); None where all count alike.
    cluster : the number of each query's cluster, shape (queries,); whole clusters are then drawn, and a mean is over
        the queries drawn.
    """
    if weight is None and cluster is None:
        return resampled(columns, resamples, seed) / columns.shape[1]
    each = np.ones(columns.shape[1]) if weight is None else weight
    units = np.vstack([columns * each, each])
    if cluster is not None:
        units = within(cluster, int(cluster.max()) + 1, units)
    sums = resampled(units, resamples, seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums[:-1] / sums[-1]
