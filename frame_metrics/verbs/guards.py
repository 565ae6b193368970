"""Checks of decisions and scores: warnings from the literature, segment by segment, and facts about the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases, number_of, read_cases
from frame_metrics.data.classes import out_of_reach
from frame_metrics.data.groups import segments_of
from frame_metrics.errors import listed
from frame_metrics.inputs import Array
from frame_metrics.metrics.metric import REGISTRY
from frame_metrics.roles.columns import Columns, largest_grade, number_column, one_of, role_columns, type_of
from frame_metrics.roles.conventions import Conventions
from frame_metrics.verbs.checks import Finding, Keys, Seen, check, run_checks
from frame_metrics.verbs.pooled import Inputs, inputs_of, one_metric

RARE = 0.1  # with less than this share, or more than the rest, accuracy says little
FAR = 2.0  # a bias so many times the prevalence, or so many times less, is far from it


class Grades(NamedTuple):
    """The grades of rows that have no labels."""

    values: pl.Series
    rel: float


@check("error")
def grades_that_do_not_reach_rel(grades: Grades) -> Seen | None:
    """nothing is relevant at rel={rel:g}, as the largest is {largest:g}; every metric is an error"""
    values, good = grades.values, grades.values > 0
    if not out_of_reach(values, grades.rel):
        return None
    return Seen(int(good.sum()), len(values) - values.null_count(), f"row {good.arg_true()[0]}")


class Positives(NamedTuple):
    """Marks of the rows whose label, or prediction, is one that ``positive=`` names."""

    marks: list[pl.Series]


@check("warning")
def no_positive_in_any_row(positives: Positives) -> Seen | None:
    """no label and no prediction is {positive}; there are {known}: is it spelled so?"""
    rows = len(positives.marks[0])
    return Seen(rows, rows) if rows and not any(mark.any() for mark in positives.marks) else None


@dataclass(frozen=True, eq=False)
class Pooled:
    """Rows with decisions or scores, and the inputs of their metrics, pooled in each segment."""

    cases: Cases
    inputs: Inputs

    def value(self, name: str) -> Array:
        """Return a metric of each segment."""
        return one_metric(self.inputs, name, REGISTRY[name], "macro").value

    @cached_property
    def prevalence(self) -> Array:
        """The share of relevant rows of each segment."""
        if self.inputs.table is not None:
            return self.value("prevalence")
        rows, n = self.cases.rows, len(self.inputs.segments)
        weight = rows["weight"].to_numpy() if self.cases.summed else np.ones(len(rows))
        place = self.inputs.segments.of(rows)
        good = np.bincount(place, weight * rows["actual"].to_numpy(), minlength=n)
        with np.errstate(invalid="ignore"):
            return good / np.bincount(place, weight, minlength=n)

    def segments(self, marked: Array) -> Seen:
        """Return marked segments, of those with rows."""
        segments = self.inputs.segments
        at = np.flatnonzero(marked & (segments.n > 0))
        return Seen(len(at), int((segments.n > 0).sum()), segments.text(int(at[0])) if len(at) else None)


@check("warning")
def prevalence_near_0_or_1(pooled: Pooled) -> Seen | None:
    """less than {rare:.0%} of the rows are relevant, or are not: always saying the same has a high accuracy; look at
    precision, recall and informedness
    """
    if not pooled.cases.binary or (pooled.inputs.table is None and "score" not in pooled.cases.rows.columns):
        return None
    return pooled.segments((pooled.prevalence < RARE) | (pooled.prevalence > 1 - RARE))


@check("warning")
def accuracy_below_the_majority_class(pooled: Pooled) -> Seen | None:
    """always saying the most frequent class would be right more often"""
    table = pooled.inputs.table
    return None if table is None else pooled.segments(table.hits.sum(axis=1) < table.actual.max(axis=1, initial=0))


@check("warning")
def bias_far_from_prevalence(pooled: Pooled) -> Seen | None:
    """much more or fewer rows are predicted relevant than are; precision and recall then say as much of the bias as
    of the decisions: look at informedness
    """
    if not pooled.cases.binary or pooled.inputs.table is None:
        return None
    bias, prevalence = pooled.value("bias"), pooled.prevalence
    sides = ((bias, prevalence), (prevalence, bias), (1 - bias, 1 - prevalence), (1 - prevalence, 1 - bias))
    return pooled.segments(np.any([one > FAR * other for one, other in sides], axis=0))


@check("warning")
def score_worse_than_chance(pooled: Pooled) -> Seen | None:
    """roc_auc < 0.5: relevant rows have lower scores than others; is the score a distance, or another class's?"""
    if not pooled.cases.binary or "score" not in pooled.cases.rows.columns:
        return None
    return pooled.segments(pooled.value("roc_auc") < 0.5)


class Judgments(NamedTuple):
    """The labels, or grades, of rows, and how many rows each stands for."""

    values: pl.Series
    times: pl.Series | None


@check("error")
def nothing_to_evaluate(judgments: Judgments) -> Seen:
    """no row has a {judgment}: there is nothing to measure"""
    return Seen(int(judgments.values.null_count() == len(judgments.values)))


@check("fact")
def rows_judged(judgments: Judgments) -> Seen:
    """rows with a {judgment}"""
    values, times = judgments
    return Seen(number_of(times, values.is_not_null(), len(values)), number_of(times, None, len(values)))


@check("fact")
def relevant_rows(cases: Cases) -> Seen | None:
    """rows that are relevant: the prevalence, without weights"""
    return Seen(cases.number(cases.rows["actual"]), cases.number()) if cases.binary else None


@check("fact")
def classes(cases: Cases) -> Seen | None:
    """different classes"""
    return None if cases.binary else Seen(cases.k)


@check("fact")
def rows_decided(cases: Cases) -> Seen | None:
    """rows with a prediction"""
    said = cases.rows.get_column("predicted", default=None)
    return None if said is None else Seen(cases.number(said.is_not_null()), cases.number())


@check("fact")
def rows_predicted_relevant(cases: Cases) -> Seen | None:
    """rows that are predicted relevant: the bias"""
    said = cases.rows.get_column("predicted", default=None)
    return None if said is None or not cases.binary else Seen(cases.number(said), cases.number())


@check("fact")
def rows_without_a_score(cases: Cases) -> Seen | None:
    """rows that stand below every threshold"""
    score = cases.rows.get_column("score", default=None)
    return None if score is None else Seen(cases.number(score.is_null()), cases.number())


def findings(rows: pl.DataFrame, columns: Columns, conventions: Conventions) -> list[Finding]:
    """Return the findings about rows without a query, those of nothing and plain facts too; raise for bad values."""
    conventions = conventions.in_types(type_of(rows, columns.score), type_of(rows, columns.grade))
    if columns.grade and not columns.label:
        grades = number_column(rows[columns.grade], columns.grade, "grade")
        reach = {"rel": conventions.rel, "largest": largest_grade(grades)}
        if lost := [*run_checks(reach, Grades(grades, conventions.rel))]:
            return lost  # nothing else can be computed
    cases = read_cases(rows, columns, conventions)
    system = (columns.system,) if columns.system else ()
    count = (cases.cells.values.select(names).n_unique() if names else 0 for names in (system, columns.by))
    keys = Keys(columns, *count)
    times = role_columns(rows, columns, ("count",)).get("count")
    judgments = Judgments(rows[str(columns.label or columns.grade)], times)
    words = {"columns": columns, "by": ", ".join(columns.by), "judgment": "label" if columns.label else "grade"}
    return [*of_positives(rows, columns, conventions), *guarded(cases), *run_checks(words, keys, judgments, cases)]


def of_positives(rows: pl.DataFrame, columns: Columns, conventions: Conventions) -> Iterator[Finding]:
    """Give the findings about ``positive=``, where it was said."""
    sides = [rows[column] for column in (columns.label, columns.predicted) if column]
    if conventions.positive is not None and sides:
        marks = [one_of(side, conventions.positive, side.name) for side in sides]
        known = dict.fromkeys(value for side in sides for value in side.drop_nulls().unique().sort()[:5].to_list())
        yield from run_checks({"positive": listed(conventions.positive), "known": listed(known)}, Positives(marks))


def guarded(cases: Cases) -> Iterator[Finding]:
    """Give the findings about decisions and scores, pooled in each segment."""
    return run_checks({"rare": RARE}, Pooled(cases, inputs_of(cases, segments_of(cases.cells))))
