"""Intervals of pooled rows by a formula: of shares, and of metrics that are made of one or two shares."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases
from frame_metrics.data.segments import rows_of_class_scores
from frame_metrics.inputs import Array, ClassScores, ratio
from frame_metrics.measuring.rows import Inputs, two_by_two
from frame_metrics.metrics.made_of_shares import MadeOf, f1_of_jaccard, made_of
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.shares import N_CLASSES_TRIED
from frame_metrics.stats.averages import sums_within
from frame_metrics.stats.shares import effective, hybrid, wilson_on_range, with_costs


def ends_by_shares(
    inputs: Inputs, metric: Metric, average: str | None, value: Array, level: float, c: int | None
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
        found = inputs.cached(("share", metric), lambda: share_of_marks(inputs, of_each_row(cases, metric)))
        return np.where(np.isnan(value), np.nan, _with_ends(found, level, cases)[1:])
    made = made_of(metric, average if c is None else None, binary=binary)
    if made is None or inputs.table is None:
        return None
    unlisted = not cases.independent and cases.conventions.collection_size_number is not None
    if unlisted or (made.of_decided and inputs.tables.undecided.any()):
        return None
    against = c if c is not None else 1 if binary else None
    find = _of_table if cases.independent else _of_rows
    found = np.array([find(inputs, marks, against, level) for marks in made.marks])  # (shares, 3, segments)
    correlation: Array | float = 0.0
    if len(made.marks) == 2 and against is not None and not cases.independent:
        of_both = partial(_correlation, inputs, made, against, found[:, 0])
        correlation = inputs.cached(("correlation", metric, average, c), of_both)
    ends = _combined_ends(made, found[:, 0], found[:, 1:], correlation)
    return np.where(np.isnan(value), np.nan, ends)


def _combined_ends(made: MadeOf, parts: Array, ends: Array, correlation: Array | float) -> Array:
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


def of_each_row(cases: Cases, metric: Metric) -> Array:
    """Return a metric of the scores of classes for each row by itself, shape (rows,)."""
    n, (score, actual) = len(cases.rows), rows_of_class_scores(cases)
    return metric.compute(
        ClassScores(np.arange(n), actual.astype(np.int64), score, np.ones(n), n, np.ones(score.shape, bool))
    )


def _of_rows(inputs: Inputs, marks: Array, c: int | None, level: float) -> Array:
    """Return a share of rows with weights or in clusters, and the ends of its interval, shape (3, segments)."""
    key = "share", marks.tobytes(), c
    found = inputs.cached(key, lambda: share_of_marks(inputs, marks_of_share(inputs, marks, c)))
    return _with_ends(found, level, inputs.cases)


def _with_ends(found: Array, level: float, cases: Cases) -> Array:
    """Return shares of rows and the ends of their intervals, shape (3, segments); ``found``: of ``share_of_marks``."""
    share, n_rows, of_rows, n_clusters, of_clusters = found
    n, units = n_rows, np.where(np.isnan(n_clusters), n_rows, n_clusters)
    if cases.weighted:
        n = effective(share, of_rows, n_rows, n_rows, level, clustered=False)
    if not np.isnan(n_clusters).all():
        in_clusters = effective(share, of_clusters, units, n_rows, level, clustered=True)
        n = np.where(np.isnan(n_clusters), n, in_clusters)
    return np.array([share, *wilson_on_range(share, np.where(units > 1, n, np.nan), level)])


def share_of_marks(inputs: Inputs, row_marks: Array) -> Array:
    """Return a share of rows, and what its interval needs, shape (5, segments).

    These are the number of rows, Kish's if they have weights, the variance of the share by its residuals, and the same
    of clusters, NaN in a segment in which each row is a cluster by itself, or without clusters.

    ``row_marks``: 1 for rows that count for the share, 0 against it, NaN for others, shape (rows,).
    """
    cases, size = inputs.cases, len(inputs.segments)
    segment = inputs.segments.of(cases.rows)
    some = np.flatnonzero((segment >= 0) & ~np.isnan(row_marks) & (cases.row_weight > 0) & (cases.times > 0))
    segment, row_marks, weight, times = segment[some], row_marks[some], cases.row_weight[some], cases.times[some]
    mass = times * weight
    total, n, right, heavy = sums_within(segment, size, [mass, times, mass * row_marks, mass * weight])
    share = ratio(right, total)
    residual = weight * (row_marks - share[segment])
    variance = ratio(sums_within(segment, size, [times * residual**2])[0], total**2)
    of_clusters = np.full((2, size), np.nan)
    if cases.columns.cluster:
        segment_of_cluster, cluster = _clusters(inputs, segment, some)
        each = sums_within(cluster, len(segment_of_cluster), [mass, times * residual])
        squares = sums_within(segment_of_cluster, size, np.square(each))
        clustered = np.bincount(segment_of_cluster, minlength=size) < n
        of_clusters = np.where(clustered, [ratio(total**2, squares[0]), ratio(squares[1], total**2)], np.nan)
    return np.array([share, ratio(total**2, heavy), variance, *of_clusters])


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
        row_marks = marks_of_share(inputs, marks, c)[some]
        of_rows = mass * np.nan_to_num(row_marks - share[segment[some]])
        residuals.append(sums_within(cluster, len(segment_of_cluster), [of_rows])[0])
    first, second = residuals
    both, one, other = sums_within(segment_of_cluster, size, [first * second, first**2, second**2])
    return np.clip(np.nan_to_num(ratio(both, np.sqrt(one * other))), -1, 1)


def marks_of_share(inputs: Inputs, marks: Array, c: int | None) -> Array:
    """Return the mark of each row: 1 if it counts for a share, 0 against it, NaN for neither, shape (rows,)."""
    rows, taken = inputs.cases.rows, inputs.tables.class_of_cluster
    actual, predicted = (
        rows["actual"].cast(pl.Int64).to_numpy(),
        rows["predicted"].cast(pl.Int64).fill_null(-1).to_numpy(),
    )
    if taken is not None:  # found clusters that stand for classes
        predicted = np.where(predicted < 0, -1, taken[inputs.segments.of(rows), predicted])
    if c is None:
        right, wrong, undecided = marks[0, [0, 1, N_CLASSES_TRIED]]
        return np.where(predicted < 0, undecided, np.where(predicted == actual, right, wrong))
    return marks[(actual == c).astype(np.int64), np.where(predicted < 0, 2, predicted == c)]
