"""Intervals of pooled rows by a formula: of shares, and of metrics that are made of one or two shares."""

from __future__ import annotations

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases
from frame_metrics.data.segments import rows_of_class_scores
from frame_metrics.inputs import Array, ClassScores, ratio
from frame_metrics.measuring.rows import Inputs, two_by_two
from frame_metrics.metrics.made_of_shares import MadeOf, f1_of_jaccard, made_of
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.shares import N_CLASSES_TRIED
from frame_metrics.stats.shares import effective, hybrid, kish_within, wilson_on_range, with_costs


def ends_by_shares(
    inputs: Inputs, metric: Metric, average: str | None, value: Array, level: float, c: int | None = None
) -> Array | None:
    """Return the ends of the intervals of a metric that is made of shares, shape (2, segments); None for another.

    Parameters
    ----------
    inputs : tables of the segments.
    metric, average : the metric, and its average over classes.
    value : of the metric in each segment, NaN where it has none, shape (segments,).
    level : of the intervals.
    c : the class that is set against the rest; None for the metric of all rows.
    """
    cases, binary = inputs.cases, c is not None or inputs.cases.binary
    if metric.input is ClassScores:  # of which each row is 0 or 1
        place = inputs.segments.of(cases.rows)
        return np.where(np.isnan(value), np.nan, _of_marks(inputs, place, _alone(cases, metric), level)[1:])
    made = made_of(metric, average if c is None else None, binary=binary)
    plain = not (cases.weighted or cases.columns.cluster)
    if made is None or inputs.table is None or not (plain or cases.conventions.collection_size_number is None):
        return None
    if made.of_decided and inputs.tables.undecided.any():
        return None
    against = c if c is not None else 1 if binary else None
    find = _of_table if plain else _of_rows
    found = np.array([find(inputs, marks, against, level) for marks in made.marks])  # (shares, 3, segments)
    correlation: Array | float = 0.0
    if len(made.marks) == 2 and against is not None and not plain:
        correlation = _correlation(inputs, made, against, found[:, 0])
    ends = _combined_ends(made, found[:, 0], found[:, 1:], correlation)
    return np.where(np.isnan(value), np.nan, ends)


def _combined_ends(made: MadeOf, parts: Array, ends: Array, correlation: Array | float = 0.0) -> Array:
    """Return the ends of what is made of shares: of ``parts``, (shares, segments), with ``ends``, (shares, 2, ...)."""
    if made.is_f1:
        return f1_of_jaccard(ends[0])
    if made.costs is not None:
        return with_costs(parts, ends, made.costs, correlation)
    if len(parts) == 1:
        return np.asarray(ends[0])
    both, lacking = hybrid(parts, ends, made.start, made.slopes, correlation), np.isnan(parts)
    for i, other in ((0, 1), (1, 0)):  # where one share has no rows, a mean of both is the other one
        both = np.where(lacking[i] & ~lacking[other], ends[other], both)
    return both


def _of_table(inputs: Inputs, marks: Array, c: int | None, level: float) -> Array:
    """Return a share of rows that count one each, and the ends of its interval, shape (3, segments)."""
    if c is None:
        table, counted = inputs.tables, marks[0, [0, 1, N_CLASSES_TRIED]]
        right, nothing = table.hits.sum(axis=1), table.undecided.sum(axis=1)
        cells = np.array([right, table.size - right - nothing, nothing])
    else:
        rest, counted = two_by_two(inputs, c), marks.ravel()
        cells = np.array([rest.tn, rest.fp, rest.un, rest.fn, rest.tp, rest.up])
    n = (cells * ~np.isnan(counted)[:, None]).sum(axis=0)
    share = ratio((cells * np.nan_to_num(counted)[:, None]).sum(axis=0), n)
    return np.array([share, *wilson_on_range(share, np.where(n > 1, n, np.nan), level)])


def _alone(cases: Cases, metric: Metric) -> Array:
    """Return a metric of the scores of classes for each row alone, shape (rows,)."""
    n, (score, actual) = len(cases.rows), rows_of_class_scores(cases)
    return metric.compute(
        ClassScores(np.arange(n), actual.astype(np.int64), score, np.ones(n), n, np.ones(score.shape, bool))
    )


def _of_rows(inputs: Inputs, marks: Array, c: int | None, level: float) -> Array:
    """Return a share of rows with weights or in clusters, and the ends of its interval, shape (3, segments)."""
    place = inputs.segments.of(inputs.cases.rows)
    return _of_marks(inputs, place, _marks_of_share(inputs, place, marks, c), level)


def _of_marks(inputs: Inputs, place: Array, row_marks: Array, level: float) -> Array:
    """Return a share of rows, and the ends of its interval, shape (3, segments).

    Clusters of one row each are no clusters.

    ``place``: the segment of each row, and ``row_marks``: 1 if it counts, 0 if not, NaN for no part, shape (rows,).
    """
    cases, size = inputs.cases, len(inputs.segments)
    some = np.flatnonzero((place >= 0) & ~np.isnan(row_marks) & (cases.row_weight > 0) & (cases.times > 0))
    place, row_marks, each, times = place[some], row_marks[some], cases.row_weight[some], cases.times[some]
    total, n = np.bincount(place, times * each, size), np.bincount(place, times, size)
    share = ratio(np.bincount(place, times * each * row_marks, size), total)
    # The variance of the share by its residuals; then the number of equal rows without weights that would have as much,
    # which is what the interval is computed for. With clusters the same from the residuals of whole clusters.
    rest, alone = each * (row_marks - share[place]), kish_within(place, times * each, times * each**2, size)
    variance, units = ratio(np.bincount(place, times * rest**2, size), total**2), alone
    rows = effective(share, variance, alone, alone, level, clustered=False) if cases.weighted else alone
    if cases.columns.cluster:
        at, of = _clusters(inputs, place, some)
        many = len(at)
        within_cluster = ratio(np.bincount(at, np.bincount(of, times * rest, many) ** 2, size), total**2)
        mass = np.bincount(of, times * each, many)
        clusters = kish_within(at, mass, mass**2, size)
        grouped = np.bincount(at, minlength=size) < n
        units = np.where(grouped, clusters, units)
        rows = np.where(grouped, effective(share, within_cluster, clusters, alone, level, clustered=True), rows)
    return np.array([share, *wilson_on_range(share, np.where(units > 1, rows, np.nan), level)])


def _clusters(inputs: Inputs, place: Array, some: Array) -> tuple[Array, Array]:
    """Return the segment of each pair of segment and cluster, and the pair of each of ``some`` rows, in ``place``."""
    cluster = inputs.cases.rows["cluster"].to_numpy()[some]
    code = place * (int(cluster.max(initial=0)) + 1) + cluster
    _, first, of = np.unique(code, return_index=True, return_inverse=True)
    return place[first], of


def _correlation(inputs: Inputs, made: MadeOf, c: int, shares: Array) -> Array:
    """Return the correlation of two shares of rows in clusters, by the clusters, shape (segments,); 0 without clusters.

    ``shares``: shape (2, segments).
    """
    cases, size = inputs.cases, len(inputs.segments)
    if not cases.columns.cluster:
        return np.zeros(size)
    place = inputs.segments.of(cases.rows)
    some = np.flatnonzero(place >= 0)
    at, of = _clusters(inputs, place[some], some)
    mass, rests = (cases.times * cases.row_weight)[some], []
    for marks, share in zip(made.marks, shares, strict=True):
        row_marks = _marks_of_share(inputs, place, marks, c)[some]
        rests.append(np.bincount(of, mass * np.nan_to_num(row_marks - share[place[some]]), len(at)))
    both, one, other = (np.bincount(at, x * y, size) for x, y in ((rests[0], rests[1]), *[(r, r) for r in rests]))
    return np.clip(np.nan_to_num(ratio(both, np.sqrt(one * other))), -1, 1)


def _marks_of_share(inputs: Inputs, place: Array, marks: Array, c: int | None) -> Array:
    """Return what each row is to a share: 1 for it, 0 against it, NaN for no part of it, shape (rows,)."""
    rows, taken = inputs.cases.rows, inputs.tables.class_of_cluster
    actual, predicted = (
        rows["actual"].cast(pl.Int64).to_numpy(),
        rows["predicted"].cast(pl.Int64).fill_null(-1).to_numpy(),
    )
    if taken is not None:  # found clusters that stand for classes
        predicted = np.where(predicted < 0, -1, taken[place, predicted])
    if c is None:
        right, wrong, nothing = marks[0, [0, 1, N_CLASSES_TRIED]]
        return np.where(predicted < 0, nothing, np.where(predicted == actual, right, wrong))
    return marks[(actual == c).astype(np.int64), np.where(predicted < 0, 2, predicted == c)]
