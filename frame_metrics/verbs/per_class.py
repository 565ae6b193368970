"""The verbs per_class and confusion: measures of each class against the rest, and counts of every pair of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.classes import class_type, matched
from frame_metrics.data.groups import segments_of
from frame_metrics.data.segments import crossed
from frame_metrics.errors import ColumnError, NotComputableError
from frame_metrics.inputs import Confusion, Scores
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, read
from frame_metrics.roles.needs import decision_of
from frame_metrics.verbs.pooled import check_cases, check_pooled, each_class, inputs_of
from frame_metrics.verbs.request import Plan, Request
from frame_metrics.verbs.tidy import labels, number, whole


def per_class(request: Request, metrics: Sequence[str | Metric]) -> Any:
    """Answer ``irm.per_class``, which has the parameters."""
    asked = read(metrics)
    plan = request.plan(request.needs(asked))
    check_pooled(asked)
    plan.check_pooled(("class", "metric", "value", "n", "n_undefined"))
    columns = {"metric": pl.String, "value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64}
    return plan.answer_of_segments(
        lambda reading: _by_class(reading.cases(named=True), asked),
        lambda types: {"class": _type_of_classes(types, plan)} | columns,
    )


def _type_of_classes(types: dict[str, Any], plan: Plan) -> Any:
    """Return the type of the classes, known before anything is read."""
    columns = plan.columns
    if not columns.label or plan.conventions.positive is not None:
        return pl.Boolean
    matched = columns.predicted is None or plan.conventions.match is not None
    kind = class_type(types[columns.label], None if matched else types[str(columns.predicted)])
    if columns.query:
        return kind if kind.is_numeric() else pl.Boolean
    named = plan.conventions.classes or [value for value, _ in columns.class_scores]
    return pl.Series(list(named), strict=False).dtype if kind == pl.Null else kind


def _by_class(cases: Cases, asked: Asked) -> Answer:
    """Return one row per segment, class and metric."""
    check_cases(asked, cases)
    for name, metric in asked:
        if metric.input not in (Confusion, Scores):
            raise NotComputableError(f"{name} is of all classes together, and of none alone; evaluate() has it")
    inputs = inputs_of(cases, segments_of(cases.cells))
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
    columns = {
        "class": cases.classes.gather(c),
        "metric": labels(asked, m)["metric"],
        "value": number(value.transpose(2, 1, 0).ravel()[at]),
        "n": whole(inputs.segments.n[segment]),
        "n_undefined": whole(np.isnan(raw.transpose(2, 1, 0).ravel()[at])),
    }
    return Answer(inputs.segments.key_rows(segment), columns)


def confusion(request: Request) -> Any:
    """Answer ``irm.confusion``."""
    needs = decision_of(request.columns, request.roles, request.available, "confusion()", retrieved=False)
    plan = request.plan(needs)
    plan.check_pooled(("predicted", "matched", "actual", "n"))
    columns, match = plan.columns, plan.conventions.match
    if match is not None and columns.predicted is None:
        raise ColumnError("match= is about predicted clusters; name predicted=")

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        kind = _type_of_classes(types, plan)
        predicted = {"predicted": kind}
        if match is not None:
            predicted = {"predicted": class_type(types[str(columns.predicted)]), "matched": kind}
        return predicted | {"actual": kind, "n": pl.Float64 if columns.weight else pl.Int64}

    return plan.answer_of_segments(lambda reading: _counts(reading.cases(named=True)), schema)


def _counts(cases: Cases) -> Answer:
    """Return one row per segment and pair of a predicted and a true class, zeros included."""
    segments = segments_of(cases.cells)
    if cases.classes is None:
        raise NotComputableError("the classes have no names")
    counts = crossed(cases, segments)[0]  # segments, actual, predicted
    names = cases.classes if cases.clusters is None else cases.clusters
    undecided = counts[:, :, -1].any()
    shown = counts if undecided else counts[:, :, :-1]
    segment, predicted, actual = (at.ravel() for at in np.indices(shown.swapaxes(1, 2).shape))
    columns = {"predicted": (names.extend_constant(None, 1) if undecided else names).gather(predicted)}
    if cases.conventions.match is not None:
        taken = np.column_stack([matched(counts, cases.conventions.match)[1], np.full((len(counts), 1), -1)])
        at = pl.Series(taken[segment, predicted])
        columns["matched"] = cases.classes.gather(at.set(at < 0, None))
    amounts = shown[segment, actual, predicted]
    columns |= {"actual": cases.classes.gather(actual), "n": number(amounts) if cases.weighted else whole(amounts)}
    return Answer(segments.key_rows(segment), columns)
