"""Parts of rows in a metric of pooled rows, and the correlation of two arms that share clusters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import sqrt

import numpy as np

from frame_metrics.inputs import Array, Classes, ClassScores, ratio
from frame_metrics.measuring.resampled_rows import columns_read
from frame_metrics.measuring.row_shares import marks_of_share, of_each_row
from frame_metrics.measuring.row_tables import effects_of_cells, measured
from frame_metrics.measuring.rows import Inputs, one_metric
from frame_metrics.metrics.made_of_shares import made_of
from frame_metrics.metrics.metric import Metric
from frame_metrics.stats.averages import sums_within


def correlation_of_arms(inputs: Inputs, metric: Metric, at: list[int]) -> float:
    """Return the correlation of a metric of two segments, the arms, which share clusters.

    It is that of the sums over clusters of what rows add, ``less_for_pairs``.
    """
    share, effect = inputs.cached(("effects", metric), lambda: _effects(inputs, metric))
    place, cluster = inputs.segments.of(inputs.cases.rows), inputs.cases.rows["cluster"].to_numpy()
    some = np.flatnonzero(np.isin(place, at))
    there, number = np.unique(cluster[some], return_inverse=True)
    each = np.array([sums_within(number, len(there), [effect[some] * (place[some] == arm)])[0] for arm in at])
    both, *squares = sums_within(None, 1, [each[0] * each[1], *np.square(each)])[:, 0].tolist()
    return less_for_pairs(both, squares, share[at])


def less_for_pairs(covariance: float, variances: Sequence[float] | Array, share: Array) -> float:
    """Return a correlation, one above 0 made less by 1 / (2 n sqrt(p (1 - p) q (1 - q))), but not below 0.

    So does Newcombe, of n pairs of shares p and q; here n is how many have these variances. It is 0 if one is 0.

    ``share``: both values as shares of the range, shape (2,).

    Source: R. G. Newcombe, Improved confidence intervals for the difference between binomial proportions based on
    paired data, Statistics in Medicine 17, 1998, method 10.
    """
    error, spread = sqrt(variances[0] * variances[1]), float(np.prod(share * (1 - share)))
    if not (error > 0 and spread > 0):
        return 0.0
    found = covariance / error
    return max(found - error / (2 * spread), 0.0) if found > 0 else max(found, -1.0)


def _effects(inputs: Inputs, metric: Metric) -> tuple[Array, Array]:
    """Return a metric as a share of its range, shape (segments,), and what each row adds to that, shape (rows,).

    Of a metric that is made of one share they are those of the share. Rows of no segment add 0.
    """
    cases, size = inputs.cases, len(inputs.segments)
    place, mass = inputs.segments.of(cases.rows), cases.times * cases.row_weight
    made = None if metric.input is ClassScores else made_of(metric, None, binary=cases.binary)
    if metric.input is ClassScores or (made is not None and len(made.marks) == 1):
        against = 1 if cases.binary else None
        marks = of_each_row(cases, metric) if made is None else marks_of_share(inputs, made.marks[0], against)
        counts = np.where(np.isnan(marks), 0, mass)
        total, right = sums_within(place, size, [counts, counts * np.nan_to_num(marks)])
        share = ratio(right, total)
        effect = ratio(counts, total[place]) * (np.nan_to_num(marks) - share[place])
        return share, np.where(place < 0, 0, np.nan_to_num(effect))
    width, columns = metric.range[1] - metric.range[0], inputs.tables.f + 1
    actual, found = (column.astype(np.int64) for column in columns_read(cases, Classes))
    code = actual * columns + found
    effect = np.zeros(len(place))
    for segment in range(size):
        some = np.flatnonzero((place == segment) & (mass > 0))
        cell, number = np.unique(code[some], return_inverse=True)
        amount = sums_within(number, len(cell), [mass[some]])[0]
        of_cells = effects_of_cells(cell, amount, partial(measured, inputs, metric, None, segment))[1]
        effect[some] = mass[some] * of_cells[number] / width
    return (one_metric(inputs, metric.name, metric, None).value - metric.range[0]) / width, effect
