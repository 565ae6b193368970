"""The verb confusion: counts of every pair of a predicted and a true class, their totals and shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.classes import class_type, matched
from frame_metrics.data.groups import segments_of
from frame_metrics.data.segments import crossed
from frame_metrics.errors import ColumnError, NotComputableError
from frame_metrics.roles.needs import decision_of
from frame_metrics.verbs.per_class import type_of_classes
from frame_metrics.verbs.request import Request
from frame_metrics.verbs.tidy import number, whole


def confusion(request: Request) -> Any:
    """Answer ``irm.confusion``."""
    needs = decision_of(request.columns, request.roles, request.available, "confusion()", retrieved=False)
    plan = request.plan(needs)
    plan.check_pooled(("predicted", "matched", "actual", "n"))
    columns, match = plan.columns, plan.conventions.match
    if match is not None and columns.predicted is None:
        raise ColumnError("match= is about predicted clusters; name predicted=")

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        kind = type_of_classes(types, plan)
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
    if cases.apart is not None:
        raise cases.apart
    counts = crossed(cases, segments)[0]  # segments, actual, predicted
    names = cases.classes if cases.clusters is None else cases.clusters
    undecided = counts[:, :, -1].any()
    shown = counts if undecided else counts[:, :, :-1]
    segment, predicted, actual = (at.ravel() for at in np.indices(shown.swapaxes(1, 2).shape))
    columns = {"predicted": (names.extend_constant(None, 1) if undecided else names).gather(predicted)}
    if cases.conventions.match is not None:
        taken = np.column_stack([matched(counts, cases.conventions.match), np.full((len(counts), 1), -1)])
        at = pl.Series(taken[segment, predicted])
        columns["matched"] = cases.classes.gather(at.set(at < 0, None))
    amounts = shown[segment, actual, predicted]
    columns |= {"actual": cases.classes.gather(actual), "n": number(amounts) if cases.weighted else whole(amounts)}
    return Answer(segments.key_rows(segment), columns)
