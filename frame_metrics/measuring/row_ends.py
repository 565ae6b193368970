"""Intervals of pooled rows: of areas and of tables of classes by a formula, of everything else by draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from frame_metrics.data.cases import Cases
from frame_metrics.inputs import Array
from frame_metrics.measuring.resampled_rows import RowDraws
from frame_metrics.measuring.results import EvaluateOptions
from frame_metrics.measuring.row_tables import ends_by_formula
from frame_metrics.measuring.rows import Inputs, Wanted, without_interval


def ends_of_rows(
    inputs: Inputs, wanted: Sequence[Wanted], value: Array, areas: Mapping[int, float], options: EvaluateOptions
) -> Array:
    """Return the ends of the intervals of metrics in each segment, shape (2, metrics, segments).

    Parameters
    ----------
    inputs : tables and scores of the segments.
    wanted : the metrics.
    value : their values, shape (metrics, segments).
    areas : the metrics with an interval of areas, as ``of_areas`` returns them.
    options : the level, method, resamples and seed.
    """
    ends, ci = np.full((2, *value.shape), np.nan), float(options.ci or 0)
    for i, slope in areas.items():
        ends[:, i] = np.clip(value[i] + inputs.areas.ends(ci, options.method, slope), *wanted[i][1].range)
    drawn = {}
    for i, (name, metric, average) in enumerate(wanted):
        if without_interval(name, metric, in_clusters=inputs.cases.columns.cluster is not None):
            continue
        known = None if options.method == "bootstrap" else ends_by_formula(inputs, metric, average, value[i], ci)
        if known is not None:
            ends[:, i] = known
        elif i not in areas:
            drawn[i] = name, metric, average
    draws = RowDraws(inputs, options.resamples, options.seed, percentiles=options.method == "bootstrap")
    for at, ends_of_one in draws.ends(drawn, value, ci).items():
        ends[:, *at] = ends_of_one
    return ends


def of_areas(cases: Cases, wanted: Sequence[Wanted], options: EvaluateOptions) -> dict[int, float]:
    """Return the metrics with an interval of areas under ROC curves, by position, each with its slope by the area."""
    if options.ci is None or options.method == "bootstrap" or not (cases.binary and cases.independent):
        return {}
    return {i: metric.slope_by_area for i, (_, metric, _) in enumerate(wanted) if metric.slope_by_area is not None}
