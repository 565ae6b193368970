"""The verb per_class: measures of each class against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.classes import class_type
from frame_metrics.data.groups import segments_of
from frame_metrics.errors import NotComputableError
from frame_metrics.inputs import Confusion, Scores
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, read
from frame_metrics.verbs.pooled import check_cases, check_pooled, each_class, inputs_of
from frame_metrics.verbs.request import Plan, Reading, Request
from frame_metrics.verbs.tidy import number, whole


def per_class(request: Request, metrics: Sequence[str | Metric]) -> Any:
    """Answer ``irm.per_class``, which has the parameters."""
    asked = read(metrics)
    plan = request.plan(request.needs(asked))
    check_pooled(asked, "macro")
    plan.check_pooled(("class", "metric", "value", "n", "n_undefined"))

    def compute(rows: Reading) -> Answer:
        return by_class(rows.cases(named=True), asked)

    columns = {"metric": pl.String, "value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64}
    return plan.answer_of_segments(compute, lambda types: {"class": type_of_classes(types, plan)} | columns)


def type_of_classes(types: dict[str, Any], plan: Plan) -> Any:
    """Return the type of the classes, known before anything is read."""
    columns = plan.columns
    if not columns.label:
        return pl.Boolean
    matched = columns.predicted is None or plan.conventions.match is not None
    return class_type(types[columns.label], None if matched else types[str(columns.predicted)])


def by_class(cases: Cases, asked: Asked) -> Answer:
    """Return one row per segment, class and metric."""
    check_cases(asked, cases, "macro")
    for name, metric in asked:
        if metric.input not in (Confusion, Scores):
            raise NotComputableError(f"{name} is of all classes together, and of none alone; evaluate() has it")
    inputs = inputs_of(cases, segments_of(cases))
    if cases.binary and any(metric.input is Scores for _, metric in asked):
        raise NotComputableError("scores of two classes rank one of them; evaluate() has their metrics")
    if cases.classes is None:
        raise NotComputableError("the classes have no names")
    raw = np.stack([each_class(inputs, metric) for _, metric in asked])  # metrics, classes, segments
    read_by = [inputs.by_class if metric.input is Scores else inputs.table for _, metric in asked]
    seen = np.stack([np.zeros((0, 0)) if one is None else one.seen.T for one in read_by])
    value = np.stack([cases.conventions.filled(*asked[i], raw[i], seen[i]) for i in range(len(asked))])
    keep = seen.transpose(2, 1, 0).ravel().astype(bool) & np.repeat(inputs.segments.n > 0, len(asked) * cases.k)
    at = np.flatnonzero(keep)
    segment, rest = np.divmod(at, cases.k * len(asked))
    c, m = np.divmod(rest, len(asked))
    names = pl.Series([name for name, _ in asked], dtype=pl.String)
    columns = {
        "class": cases.classes.gather(c),
        "metric": names.gather(m),
        "value": number(value.transpose(2, 1, 0).ravel()[at]),
        "n": whole(inputs.segments.n[segment]),
        "n_undefined": whole(np.isnan(raw.transpose(2, 1, 0).ravel()[at])),
    }
    return Answer(inputs.segments.key_rows(segment), columns)
