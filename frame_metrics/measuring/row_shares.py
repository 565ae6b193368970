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
    if metric.input is ClassScores:  # the metric is 0 or 1 for each row: top-k accuracy
        segment = inputs.segments.of(cases.rows)
        return np.where(np.isnan(value), np.nan, _of_marks(inputs, segment, _of_each_row(cases, metric), level)[1:])
    made = made_of(metric, average if c is None else None, binary=binary)
    independent = not (cases.weighted or cases.columns.cluster)
    if made is None or inputs.table is None or not (independent or cases.conventions.collection_size_number is None):
        return None
    if made.of_decided and inputs.tables.undecided.any():
        return None
    against = c if c is not None else 1 if binary else None
    find = _of_table if independent else _of_rows
    found = np.array([find(inputs, marks, against, level) for marks in made.marks])  # (shares, 3, segments)
    correlation: Array | float = 0.0
    if len(made.marks) == 2 and against is not None and not independent:
        correlation = _correlation(inputs, made, against, found[:, 0])
    ends = _combined_ends(made, found[:, 0], found[:, 1:], correlation)
    return np.where(np.isnan(value), np.nan, ends)


def _combined_ends(made: MadeOf, parts: Array, ends: Array, correlation: Array | float = 0.0) -> Array:
    """Return the ends of what is made of shares, shape (2, segments).

    ``parts``: the shares, shape (shares, segments); ``ends``: those of their intervals, shape (shares, 2, segments).
    """
    if made.is_f1:
        return f1_of_jaccard(ends[0])
    if made.costs is not None:
        return with_costs(parts, ends, made.costs, correlation)
    if len(parts) == 1:
        return np.asarray(ends[0])
    both, unknown = hybrid(parts, ends, made.start, made.slopes, correlation), np.isnan(parts)
    for i, other in ((0, 1), (1, 0)):  # if one share has no rows, a mean of both is the other one
        both = np.where(unknown[i] & ~unknown[other], ends[other], both)
    return both


def _of_table(inputs: Inputs, marks: Array, c: int | None, level: float) -> Array:
    """Return a share of rows that count one each, and the ends of its interval, shape (3, segments)."""
    # The number of rows in each cell of the table, and the mark of the cell: 1 for the share, 0 against it, else NaN.
    if c is None:
        table, mark = inputs.tables, marks[0, [0, 1, N_CLASSES_TRIED]]
        right, undecided = table.hits.sum(axis=1), table.undecided.sum(axis=1)
        cells = np.array([right, table.size - right - undecided, undecided])
    else:
        against, mark = two_by_two(inputs, c), marks.ravel()
        cells = np.array([against.tn, against.fp, against.un, against.fn, against.tp, against.up])
    n = (cells * ~np.isnan(mark)[:, None]).sum(axis=0)
    share = ratio((cells * np.nan_to_num(mark)[:, None]).sum(axis=0), n)
    return np.array([share, *wilson_on_range(share, np.where(n > 1, n, np.nan), level)])


def _of_each_row(cases: Cases, metric: Metric) -> Array:
    """Return a metric of the scores of classes for each row by itself, shape (rows,)."""
    n, (score, actual) = len(cases.rows), rows_of_class_scores(cases)
    return metric.compute(
        ClassScores(np.arange(n), actual.astype(np.int64), score, np.ones(n), n, np.ones(score.shape, bool))
    )


def _of_rows(inputs: Inputs, marks: Array, c: int | None, level: float) -> Array:
    """Return a share of rows with weights or in clusters, and the ends of its interval, shape (3, segments)."""
    segment = inputs.segments.of(inputs.cases.rows)
    return _of_marks(inputs, segment, _marks_of_share(inputs, segment, marks, c), level)


def _of_marks(inputs: Inputs, segment: Array, row_marks: Array, level: float) -> Array:
    """Return a share of rows, and the ends of its interval, shape (3, segments).

    In a segment in which each row is a cluster by itself there are no clusters.

    Parameters
    ----------
    segment : the segment of each row, -1 for none, shape (rows,).
    row_marks : 1 for rows that count for the share, 0 against it, NaN for others, shape (rows,).
    """
    cases, size = inputs.cases, len(inputs.segments)
    some = np.flatnonzero((segment >= 0) & ~np.isnan(row_marks) & (cases.row_weight > 0) & (cases.times > 0))
    segment, row_marks, weight, times = segment[some], row_marks[some], cases.row_weight[some], cases.times[some]
    total, n = np.bincount(segment, times * weight, size), np.bincount(segment, times, size)
    share = ratio(np.bincount(segment, times * weight * row_marks, size), total)
    # The variance of the share by its residuals; then how many independent rows without weights would have as much,
    # for which the interval is computed. With clusters the same from the residuals of whole clusters.
    residual = weight * (row_marks - share[segment])
    n_rows = kish_within(segment, times * weight, times * weight**2, size)
    variance, n_units = ratio(np.bincount(segment, times * residual**2, size), total**2), n_rows
    n_effective = effective(share, variance, n_rows, n_rows, level, clustered=False) if cases.weighted else n_rows
    if cases.columns.cluster:
        segment_of_cluster, cluster = _clusters(inputs, segment, some)
        n_clusters = len(segment_of_cluster)
        squares = np.bincount(cluster, times * residual, n_clusters) ** 2
        variance = ratio(np.bincount(segment_of_cluster, squares, size), total**2)
        mass = np.bincount(cluster, times * weight, n_clusters)
        kish_clusters = kish_within(segment_of_cluster, mass, mass**2, size)
        clustered = np.bincount(segment_of_cluster, minlength=size) < n
        n_units = np.where(clustered, kish_clusters, n_units)
        of_clusters = effective(share, variance, kish_clusters, n_rows, level, clustered=True)
        n_effective = np.where(clustered, of_clusters, n_effective)
    return np.array([share, *wilson_on_range(share, np.where(n_units > 1, n_effective, np.nan), level)])


def _clusters(inputs: Inputs, segment: Array, some: Array) -> tuple[Array, Array]:
    """Return the segment of each cluster, and the cluster of each of ``some`` rows; ``segment``: that of these rows.

    A cluster in several segments is one in each of them.
    """
    cluster = inputs.cases.rows["cluster"].to_numpy()[some]
    code = segment * (int(cluster.max(initial=0)) + 1) + cluster
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    return segment[first], number


def _correlation(inputs: Inputs, made: MadeOf, c: int, shares: Array) -> Array:
    """Return the correlation of two shares of rows in clusters, by the clusters, shape (segments,); 0 without clusters.

    ``shares``: shape (2, segments).
    """
    cases, size = inputs.cases, len(inputs.segments)
    if not cases.columns.cluster:
        return np.zeros(size)
    segment = inputs.segments.of(cases.rows)
    some = np.flatnonzero(segment >= 0)
    segment_of_cluster, cluster = _clusters(inputs, segment[some], some)
    mass, residuals = (cases.times * cases.row_weight)[some], []
    for marks, share in zip(made.marks, shares, strict=True):
        row_marks = _marks_of_share(inputs, segment, marks, c)[some]
        of_rows = mass * np.nan_to_num(row_marks - share[segment[some]])
        residuals.append(np.bincount(cluster, of_rows, len(segment_of_cluster)))
    first, second = residuals
    both, one, other = (
        np.bincount(segment_of_cluster, product, size) for product in (first * second, first**2, second**2)
    )
    return np.clip(np.nan_to_num(ratio(both, np.sqrt(one * other))), -1, 1)


def _marks_of_share(inputs: Inputs, segment: Array, marks: Array, c: int | None) -> Array:
    """Return the mark of each row: 1 if it counts for a share, 0 against it, NaN for neither, shape (rows,)."""
    rows, taken = inputs.cases.rows, inputs.tables.class_of_cluster
    actual, predicted = (
        rows["actual"].cast(pl.Int64).to_numpy(),
        rows["predicted"].cast(pl.Int64).fill_null(-1).to_numpy(),
    )
    if taken is not None:  # found clusters that stand for classes
        predicted = np.where(predicted < 0, -1, taken[segment, predicted])
    if c is None:
        right, wrong, undecided = marks[0, [0, 1, N_CLASSES_TRIED]]
        return np.where(predicted < 0, undecided, np.where(predicted == actual, right, wrong))
    return marks[(actual == c).astype(np.int64), np.where(predicted < 0, 2, predicted == c)]
