"""Means over rows of what scores say of each, as the Brier score: units of two arms, which are exchanged."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs import Array, ClassScores, FullScores
from frame_metrics.inputs.scores import sorted_levels
from frame_metrics.measuring.resampled_rows import columns_read
from frame_metrics.measuring.row_shares import of_each_row
from frame_metrics.measuring.rows import Inputs
from frame_metrics.metrics.metric import Metric
from frame_metrics.stats.averages import sums_within
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.shares import kish
from frame_metrics.stats.significance import CLOSE, weigh_unlike
from frame_metrics.stats.two_arms import Arms


def losses_of_rows(inputs: Inputs, metric: Metric, value: Array) -> Array | None:
    """Return a metric of each row by itself, shape (rows,), if its mean is the metric; None otherwise.

    None too if rows stand for several, which are not written out.

    ``value``: of the metric in each segment, shape (segments,).
    """
    cases, size = inputs.cases, len(inputs.segments)
    form = metric if cases.binary else metric.form_for_classes or metric
    if "probability" not in metric.reads or form.input not in (FullScores, ClassScores) or (cases.times != 1).any():
        return None
    n = len(cases.rows)
    if cases.binary:
        actual, score = columns_read(cases, FullScores)
        each = form.compute(sorted_levels(np.arange(n), score, (actual == 1) * 1.0, np.ones(n), n))
    else:
        each = of_each_row(cases, form)
    place, weight = inputs.segments.of(cases.rows), cases.row_weight
    with np.errstate(invalid="ignore", divide="ignore"):
        sums, total = sums_within(place, size, [each * weight, weight])
        mean = sums / total
    return each if np.allclose(mean, value, rtol=CLOSE**0.5, atol=CLOSE, equal_nan=True) else None


def arms_of_losses(inputs: Inputs, metric: Metric, each: Array, at: list[int]) -> Arms:
    """Return the rows, or clusters, of two arms with the sums of a metric of each row; those without weight left out.

    Units stand in an order of their sums, so that neither the order of the rows nor which arm is first changes a draw.

    Parameters
    ----------
    each : the metric of each row, shape (rows,).
    at : the segments of the two arms, shape (2,).
    """
    cases, place = inputs.cases, inputs.segments.of(inputs.cases.rows)
    some = np.flatnonzero(np.isin(place, at) & (cases.row_weight > 0))
    loss, weight, first = each[some], cases.row_weight[some], place[some] == at[0]
    offset = float(offsets(loss))
    unit = cases.rows["cluster"].to_numpy()[some] if cases.columns.cluster else np.arange(len(some))
    _, unit = np.unique(unit, return_inverse=True)
    code, row = np.unique(2 * unit + first, return_inverse=True)
    sums, size = sums_within(row, len(code), [(loss - offset) * weight, weight])
    unit, in_first = code // 2, code % 2 == 1
    of_unit = sums_within(unit, int(unit.max(initial=-1)) + 1, [sums, size])[:, unit]
    order = np.lexsort((size, sums, *of_unit))
    return Arms(
        sums[order, None],
        size[order],
        in_first[order],
        unit=unit[order] if cases.columns.cluster else None,
        offset=np.array([offset]),
        limits=np.array(metric.range, np.float64)[:, None],
        rows=(kish(weight[first]), kish(weight[~first])),
        clustered=len(code) < len(some),
        weighted=weigh_unlike(weight),
    )
