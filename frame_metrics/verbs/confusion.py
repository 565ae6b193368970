"""The verb confusion: how often each class was predicted where each one is true."""

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
from frame_metrics.verbs.request import Reading, Request
from frame_metrics.verbs.tidy import number, whole


def confusion(request: Request) -> Any:
    """Answer ``irm.confusion``."""
    needs = decision_of(request.roles, request.available, "confusion()", judged=False, retrieved=False)
    plan = request.plan(needs)
    plan.check_pooled(("predicted", "matched", "actual", "n"))
    columns, match = plan.columns, plan.conventions.match
    if match is not None and columns.predicted is None:
        raise ColumnError("match= is about predicted clusters; name predicted=")

    def compute(rows: Reading) -> Answer:
        return confusions(rows.cases(named=True))

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        kind = type_of_classes(types, plan)
        predicted = {"predicted": kind}
        if match is not None:
            predicted = {"predicted": class_type(types[str(columns.predicted)]), "matched": kind}
        return predicted | {"actual": kind, "n": pl.Float64 if columns.weight else pl.Int64}

    return plan.answer_of_segments(compute, schema)


def confusions(cases: Cases) -> Answer:
    """Return one row per segment and pair of a predicted and a true class, zeros included."""
    segments = segments_of(cases)
    if cases.classes is None:
        raise NotComputableError("the classes have no names")
    counts = crossed(cases, segments)[0]  # segments, actual, predicted
    values = cases.classes if cases.clusters is None else cases.clusters
    silent = counts[:, :, -1].any()
    if not silent:
        counts = counts[:, :, :-1]
    n, k, width = counts.shape
    segment, rest = np.divmod(np.arange(n * k * width), k * width)
    said, true = np.divmod(rest, k)
    names = values.extend_constant(None, 1) if silent else values
    columns = {"predicted": names.gather(said)}
    if cases.conventions.match is not None:
        full = counts if silent else np.concatenate([counts, np.zeros((n, k, 1))], axis=2)
        taken = np.column_stack([matched(full, cases.conventions.match)[1], np.full((n, 1), -1)])
        at = pl.Series(taken[segment, said])
        columns["matched"] = cases.classes.gather(at.set(at < 0, None))
    amounts = counts[segment, true, said]
    columns |= {"actual": cases.classes.gather(true), "n": number(amounts) if cases.weighted else whole(amounts)}
    return Answer(segments.key_rows(segment), columns)
