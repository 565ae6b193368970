"""What the literature warns about in decisions and scores, looked for in each segment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases, read_cases
from frame_metrics.data.classes import out_of_reach
from frame_metrics.data.groups import segments_of
from frame_metrics.inputs import Array
from frame_metrics.metrics.metric import REGISTRY
from frame_metrics.roles.columns import Columns, grade_column, largest_grade
from frame_metrics.roles.conventions import Conventions
from frame_metrics.verbs import facts
from frame_metrics.verbs.findings import Finding, found
from frame_metrics.verbs.pooled import Inputs, inputs_of, one_metric

RARE = 0.1  # with less than this share, or more than the rest, accuracy says little
FAR = 2.0  # a bias so many times the prevalence, or so many times less, is far from it


def findings(rows: pl.DataFrame, columns: Columns, conventions: Conventions) -> list[Finding]:
    """Return what is found in rows without a query, checks that find nothing and plain facts too.

    Raises
    ------
    FrameMetricsError
        A value is not what its role can hold, or what is relevant is not said.
    """
    if columns.grade and not columns.label:
        grade = grade_column(rows[columns.grade], columns.grade)
        if out_of_reach(grade, conventions.rel):
            return [_lost(grade, conventions)]
    cases = read_cases(rows, columns, conventions)
    return [*guarded(cases), *facts.of_cases(cases, rows)]


def _lost(grade: pl.Series, conventions: Conventions) -> Finding:
    """Grades of which none is relevant: then nothing can be computed."""
    good = grade > 0
    return found(
        "grades that do not reach rel",
        "error",
        int(good.sum()),
        len(grade) - grade.null_count(),
        f"row {good.arg_true()[0]}",
        f"nothing is relevant at rel={conventions.rel:g}, as the largest is {largest_grade(grade):g}; "
        "every metric is an error",
    )


def guarded(cases: Cases) -> list[Finding]:
    """Return the findings about decisions and scores, pooled in each segment."""
    inputs = inputs_of(cases, segments_of(cases))
    there = inputs.segments.n > 0
    rows = []
    for name, severity, bad, message in _checks(inputs, cases):
        at = np.flatnonzero(bad & there)
        example = inputs.segments.text(int(at[0])) if len(at) else None
        rows.append(found(name, severity, len(at), int(there.sum()), example, message))
    return rows


def _checks(inputs: Inputs, cases: Cases) -> Iterator[tuple[str, str, Array, str]]:
    """Give each check: its name, severity, which segments have it, and what follows."""
    if not cases.binary:
        if inputs.table is not None:
            yield _majority(inputs.table.hits.sum(axis=1), inputs.table.actual.max(axis=1))
        return

    def value(name: str) -> Array:
        return one_metric(inputs, name, REGISTRY[name], "macro").value

    if inputs.table is not None:
        prevalence, bias = value("prevalence"), value("bias")
        yield _prevalence(prevalence)
        yield _majority(inputs.table.hits.sum(axis=1), inputs.table.actual.max(axis=1))
        sides = ((bias, prevalence), (prevalence, bias), (1 - bias, 1 - prevalence), (1 - prevalence, 1 - bias))
        far = np.any([one > FAR * other for one, other in sides], axis=0)
        yield (
            "bias far from prevalence",
            "warning",
            far,
            "much more or fewer rows are predicted relevant than are; precision and recall then say as much of the "
            "bias as of the decisions: look at informedness",
        )
    if "score" in cases.rows.columns:
        if inputs.table is None:
            yield _prevalence(_share(inputs))
        yield (
            "score worse than chance",
            "warning",
            value("roc_auc") < 0.5,
            "roc_auc < 0.5: relevant rows have lower scores than others; is the score a distance, or another class's?",
        )


def _share(inputs: Inputs) -> Array:
    """The share of relevant rows of each segment."""
    rows = inputs.cases.rows
    weight = rows["weight"].to_numpy() if inputs.cases.weighted else np.ones(len(rows))
    place = inputs.segments.place(rows)
    good = np.bincount(place, weight * rows["actual"].to_numpy(), minlength=len(inputs.segments))
    with np.errstate(invalid="ignore"):
        share: Array = good / np.bincount(place, weight, minlength=len(inputs.segments))
    return share


def _prevalence(prevalence: Array) -> tuple[str, str, Array, str]:
    return (
        "prevalence near 0 or 1",
        "warning",
        (prevalence < RARE) | (prevalence > 1 - RARE),
        f"less than {RARE:.0%} of the rows are relevant, or are not: always saying the same has a high accuracy; look "
        "at precision, recall and informedness",
    )


def _majority(right: Array, most: Array) -> tuple[str, str, Array, str]:
    return (
        "accuracy below the majority class",
        "warning",
        right < most,
        "always saying the most frequent class would be right more often",
    )
