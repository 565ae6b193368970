"""Checks of decisions and scores: warnings from the literature, segment by segment, and facts about the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases, n_marked, read_cases
from frame_metrics.data.classes import NULL_IF_UNJUDGED, distinct_values, unmatched_error
from frame_metrics.errors import closest, listed
from frame_metrics.hidden import TIMES
from frame_metrics.inputs import Array, FullConfusion, ratio
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import EXACT
from frame_metrics.keys.groups import segments_of
from frame_metrics.measuring.rows import Inputs, each_class, inputs_of, one_metric, two_by_two
from frame_metrics.metrics.metric import REGISTRY
from frame_metrics.roles.columns import Columns, role_columns, type_of
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import grade_column, is_one_of
from frame_metrics.verbs.audit.checks import (
    NO_ROWS,
    POOR,
    RARE_SHARE,
    SURE,
    About,
    Keys,
    Seen,
    cells_in_words,
    check,
    seen_in,
)
from frame_metrics.verbs.audit.of_judgments import Grades, grades_in_words
from frame_metrics.verbs.audit.of_missing import SHARE_TO_WARN, about_missing
from frame_metrics.verbs.audit.of_nulls import about_nulls
from frame_metrics.verbs.audit.of_spelling import about_names, about_positive

MIN_EXPECTED = 5.0  # rows that chance puts in each cell of a 2x2 table, so that the standard error holds
AREA = "roc_auc"
FAR_RATIO = 2.0  # a bias so many times the prevalence, or so many times less, is far from it


class LabelsAndPredictions(NamedTuple):
    """The values of labels and of predictions, and the number of rows that each row stands for."""

    label: pl.Series
    predicted: pl.Series
    named: list[Any]  # predictions that need not be labels: those of positive= and abstain=
    times: pl.Series | None


@check("warning", "rows")
def classes_predicted_and_never_true(sides: LabelsAndPredictions) -> Seen:
    """{said} has {lost}, which {true} never has ({known}); {so}. Correct it, or name it with abstain= if it is no
    decision{hint}
    """
    known = distinct_values(sides.label).to_list()
    lost = [one for one in distinct_values(sides.predicted).to_list() if one not in {*known, *sides.named}]
    if not lost:
        return Seen(0, sides.label.len())
    marks = is_one_of(sides.predicted, lost, sides.predicted.name).fill_null(False)
    n, of = (n_marked(sides.times, some, len(marks)) for some in (marks, sides.predicted.is_not_null()))
    words = {
        "lost": listed(lost[:3]),
        "known": f"there are {listed(known[:5])}" if known else "there is none",
        "hint": closest(lost[0], known),
    }
    return Seen(n, of, str(lost[0]), words)


class Positives(NamedTuple):
    """Marks of the rows whose label, or prediction, is one that ``positive=`` names."""

    marks: list[pl.Series]
    times: pl.Series | None  # number of rows that each row stands for


@check("warning", "rows")
def no_positive_in_any_row(positives: Positives) -> Seen | None:
    """no label and no prediction is {positive}; there are {known}: check the spelling in positive="""
    rows = n_marked(positives.times, None, len(positives.marks[0]))
    return Seen(rows, rows) if rows and not any(mark.any() for mark in positives.marks) else None


@record
class Pooled:
    """Rows with decisions or scores, and the inputs of their metrics, pooled in each segment."""

    cases: Cases
    inputs: Inputs

    def value(self, name: str) -> Array:
        """Return a metric of each segment."""
        return one_metric(self.inputs, name, REGISTRY[name], "macro").value

    @property
    def decided(self) -> bool:
        """True if rows have decisions."""
        return self.inputs.table is not None

    @cached_property
    def prevalence(self) -> Array:
        """The share of relevant rows of each segment."""
        if self.decided:
            return self.value("prevalence")
        rows, n = self.cases.rows, len(self.inputs.segments)
        weight = rows["weight"].to_numpy() if self.cases.sums_weights else np.ones(len(rows))
        place = self.inputs.segments.of(rows)
        good = np.bincount(place, weight * rows["actual"].to_numpy(), minlength=n)
        with np.errstate(invalid="ignore"):
            return good / np.bincount(place, weight, minlength=n)

    @cached_property
    def of_classes(self) -> Array:
        """The informedness of each class against the rest, shape (K, segments); binary: only of the relevant class."""
        each = each_class(self.inputs, REGISTRY["informedness"])
        return each[1:] if self.cases.binary else each

    @cached_property
    def below_chance(self) -> Array:
        """Marks of classes whose decisions are surely worse than chance, in the shape of ``of_classes``."""
        classes = range(int(self.cases.binary), self.cases.k)
        sure = [_below_chance(two_by_two(self.inputs, c), self.rows_in_one) for c in classes]
        return np.reshape(sure, self.of_classes.shape).astype(bool) & (self.of_classes < 0)

    @cached_property
    def rows_in_one(self) -> Array:
        """The rows that a weight of one is worth in each segment: 1 where rows have no weights, shape (segments,)."""
        if not (self.cases.weighted and self.cases.sums_weights):  # the weight of a query is not a weight of its rows
            return np.ones(len(self.inputs.segments))
        rows, place, n = self.cases.rows, self.inputs.segments.of(self.cases.rows), len(self.inputs.segments)
        weight = rows["weight"].to_numpy()
        each = weight / rows["count"].to_numpy() if "count" in rows.columns else weight
        return ratio(*(np.bincount(place, amount, minlength=n) for amount in (weight, weight * each)))

    @cached_property
    def deviation_by_chance(self) -> Array:
        """The standard deviation of roc_auc by chance, NaN for one class only, shape (segments,).

        Of P relevant rows and N others it is sqrt((P + N + 1) / (12 P N)), as in the test of Mann and Whitney (1947).
        """
        rows, n = self.cases.rows, len(self.inputs.segments)
        times = rows["count"].to_numpy() if "count" in rows.columns else None
        cell = self.inputs.segments.of(rows) * 2 + rows["actual"].to_numpy()
        others, relevant = np.bincount(cell, times, minlength=2 * n).reshape(n, 2).T
        return np.sqrt(ratio(others + relevant + 1, 12 * others * relevant))

    def segments(self, marked: Array, **values: Array) -> Seen:
        """Count the marked segments, among those with rows; the message gets the values of the first."""
        segments = self.inputs.segments
        return seen_in(segments, marked, segments.n > 0, values)

    def classes(self, marked: Array, looked_at: Array, **values: Array) -> Seen:
        """Count the marked classes of segments, among those in ``looked_at``; the message has values of the first."""
        at = np.argwhere((marked & looked_at).T)
        if not len(at):
            return Seen(0, int(looked_at.sum()))
        segment, c = (int(place) for place in at[0])
        name = str(self.cases.classes[c])
        words = {name: float(value[c, segment]) for name, value in values.items()} | {"name": name}
        text = self.inputs.segments.text(segment)
        return Seen(len(at), int(looked_at.sum()), name if text is None else f"{text}, {name}", words)


def _below_chance(table: FullConfusion, rows_in_one: Array) -> Array:
    """Mark tables with enough decided rows whose decisions agree with the truth less than by chance."""
    decided = FullConfusion(table.tp, table.fp, table.fn, table.empty, rest=table.tn)
    n, (actual, predicted) = decided.population, (decided.actual, decided.predicted)
    least = ratio(np.minimum(actual, n - actual) * np.minimum(predicted, n - predicted), n)
    return (least * rows_in_one >= MIN_EXPECTED) & (REGISTRY["mcc"].compute(decided) * np.sqrt(n * rows_in_one) < -SURE)


def _two(pooled: Pooled) -> bool:
    return pooled.cases.binary and pooled.decided


def _several(pooled: Pooled) -> bool:
    return pooled.decided and not pooled.cases.binary


def _two_scored(pooled: Pooled) -> bool:
    return pooled.cases.binary and "score" in pooled.cases.rows.columns


@check("warning", "{cells}", only=lambda pooled: _two(pooled) or _two_scored(pooled))
def prevalence_near_0_or_1(pooled: Pooled) -> Seen:
    """{prevalence:.2%} of the rows are relevant, so giving every row the same answer has an accuracy of {same:.2%};
    look at precision, recall and informedness
    """
    same = np.maximum(pooled.prevalence, 1 - pooled.prevalence)
    return pooled.segments(same > 1 - RARE_SHARE, prevalence=pooled.prevalence, same=same)


@check("warning", "{cells}", only=_two_scored)
def only_one_class(pooled: Pooled) -> Seen:
    """every row with a label is {which}: metrics that compare relevant rows with others, as roc_auc, have no value"""
    one = (pooled.prevalence == 0) | (pooled.prevalence == 1)
    seen = pooled.segments(one)
    which = "relevant" if seen.n and pooled.prevalence[one][0] == 1 else "not relevant"
    return seen._replace(words={"which": which})


@check("warning", "rows", only=_two_scored)
def threshold_outside_the_scores(pooled: Pooled) -> Seen | None:
    """threshold={threshold:g} is {where} all values of {score}, {least:g} to {most:g}, and every row gets the same
    answer: is it a percentage, or the threshold of other scores?
    """
    cases, threshold = pooled.cases, pooled.cases.conventions.threshold
    scores = cases.rows["score"].drop_nulls().to_numpy()
    if threshold is None or isinstance(threshold, str) or not len(scores):  # of a column, each row has its own
        return None
    least, most = float(scores.min()), float(scores.max())
    below = threshold < least and not cases.columns.query  # of a ranking it takes all results, which may be meant
    outside = below or threshold > most
    words = {"threshold": threshold, "least": least, "most": most, "where": "below" if below else "above"}
    return Seen(cases.count_rows() if outside else 0, cases.count_rows(), None, words)


@check("warning", "{cells}", only=lambda pooled: pooled.decided)
def accuracy_below_the_majority_class(pooled: Pooled) -> Seen:
    """accuracy is {accuracy:.2%}, less than the {most:.2%} of always predicting the most frequent class; look at
    confusion()
    """
    table = pooled.inputs.tables
    right, most = table.hits.sum(axis=1), table.actual.max(axis=1, initial=0)
    return pooled.segments(right < most, accuracy=ratio(right, table.size), most=ratio(most, table.size))


@check("warning", "{cells}", only=_two)
def accuracy_that_hides_the_recall(pooled: Pooled) -> Seen:
    """accuracy is {accuracy:.2%}, and recall {recall:.1%}: predicting nothing has an accuracy of {nothing:.2%}, because
    few rows are relevant; look at recall, precision and informedness
    """
    values = {name: pooled.value(name) for name in ("accuracy", "recall")}
    marked = (values["accuracy"] > 1 - RARE_SHARE) & (values["recall"] < POOR)
    return pooled.segments(marked & (pooled.prevalence > 0), nothing=1 - pooled.prevalence, **values)


@check("warning", "{cells}", only=lambda pooled: pooled.decided)
def decisions_worse_than_chance(pooled: Pooled) -> Seen:
    """informedness is {informedness:.3f}, and chance gives 0: {said} and {true} agree less often than at random. Is the
    other class the relevant one (positive=), or are the values reversed?
    """
    informedness = pooled.value("informedness")
    return pooled.segments((informedness < 0) & pooled.below_chance.any(axis=0), informedness=informedness)


@check("warning", "{classes}", only=_several)
def classes_worse_than_chance(pooled: Pooled) -> Seen:
    """informedness of {name} is {informedness:.3f}, and chance gives 0: {said} is {name} less often where {true} is
    {name} than elsewhere; confusion() shows what is predicted instead
    """
    return pooled.classes(pooled.below_chance, pooled.inputs.tables.seen.T, informedness=pooled.of_classes)


@check("warning", "classes", only=_several)
def rare_classes_among_several(pooled: Pooled) -> Seen:
    """{name} is {share:.2%} of all rows, less than a fifth of an equal share: accuracy and averages weighted by rows
    hardly depend on it, but the macro average counts it as much as any other class; look at per_class()
    """
    rows = pooled.inputs.tables.actual.sum(axis=0)  # of all segments: a class that is rare in one of them is not rare
    n, share = int((rows > 0).sum()), ratio(rows, rows.sum())
    rare = np.flatnonzero((rows > 0) & (share < 2 * RARE_SHARE / max(n, 1)))
    if not len(rare):
        return Seen(0, n)
    first = int(rare[share[rare].argmin()])
    name = str(pooled.cases.classes[first])
    return Seen(len(rare), n, name, {"name": name, "share": float(share[first])})


@check("warning", "{cells}", only=_two)
def bias_far_from_prevalence(pooled: Pooled) -> Seen:
    """{bias:.2%} of the rows are predicted relevant, but {prevalence:.2%} are relevant: precision and recall then show
    this difference as much as the quality of the decisions; look at informedness
    """
    bias, prevalence = pooled.value("bias"), pooled.prevalence
    sides = ((bias, prevalence), (prevalence, bias), (1 - bias, 1 - prevalence), (1 - prevalence, 1 - bias))
    far = np.any([one > FAR_RATIO * other for one, other in sides], axis=0)
    return pooled.segments(far, bias=bias, prevalence=prevalence)


@check("warning", "{cells}", only=_two_scored)
def score_worse_than_chance(pooled: Pooled) -> Seen:
    """roc_auc is {auc:.3f}, and chance gives 0.5: relevant rows have lower scores than others, more clearly than chance
    explains. Is {score} a distance, or the score of another class?
    """
    auc = pooled.value(AREA)
    return pooled.segments(auc < 0.5 - SURE * pooled.deviation_by_chance, auc=auc)


class RowLabels(NamedTuple):
    """The labels, or grades, of rows, and how many rows each stands for."""

    values: pl.Series
    times: pl.Series | None


@check("error", "row")
def nothing_to_evaluate(judgments: RowLabels) -> Seen:
    """{why}, so there is nothing to measure"""
    n = len(judgments.values)
    return Seen(int(judgments.values.null_count() == n), words={} if n else {"why": NO_ROWS})


@check("fact", "rows")
def rows_judged(judgments: RowLabels) -> Seen:
    """rows with a {judgment}{others}"""
    values, times = judgments
    return Seen(n_marked(times, values.is_not_null(), len(values)), n_marked(times, None, len(values)))


@check("fact", "rows")
def relevant_rows(cases: Cases) -> Seen | None:
    """rows that are relevant: the prevalence, without weights"""
    return Seen(cases.count_rows(cases.rows["actual"]), cases.count_rows()) if cases.binary else None


@check("fact", "classes")
def classes(cases: Cases) -> Seen | None:
    """different classes"""
    return None if cases.binary else Seen(cases.k)


@check("warning", "rows")
def rows_without_a_prediction(cases: Cases) -> Seen | None:
    """{system} has no prediction in {n} of {of} rows ({share}), and {other} in {fewer} of {others}: recall counts
    such rows as missed, and precision leaves them out, so that differences are of these, too
    """
    systems, _ = cases.cells.by_system(cases.columns.side)
    if "predicted" not in cases.rows.columns or len(systems) < 2:
        return None
    place, lacking = systems.of(cases.rows), cases.rows["predicted"].is_null().to_numpy()
    lost, every = (np.bincount(place, cases.times * some, minlength=len(systems)) for some in (lacking, 1))
    share = np.nan_to_num(ratio(lost, every))
    most, least = int(share.argmax()), int(share.argmin())
    names = {"system": systems.text(most), "other": systems.text(least)}
    words = names | {"fewer": f"{int(lost[least]):,}", "others": f"{int(every[least]):,}"}
    n = int(lost[most]) if share[most] - share[least] >= SHARE_TO_WARN else 0
    return Seen(n, int(every[most]), names["system"], words)


@check("fact", "rows")
def rows_decided(cases: Cases) -> Seen | None:
    """rows with a prediction"""
    predicted = cases.rows.get_column("predicted", default=None)
    return None if predicted is None else Seen(cases.count_rows(predicted.is_not_null()), cases.count_rows())


@check("fact", "rows")
def rows_predicted_relevant(cases: Cases) -> Seen | None:
    """rows that are predicted relevant: the bias"""
    predicted = cases.rows.get_column("predicted", default=None)
    return None if predicted is None or not cases.binary else Seen(cases.count_rows(predicted), cases.count_rows())


@check("warning", "rows", name="rows of equal scores past 2**53")
def equal_scores_of_rows(cases: Cases) -> Seen | None:
    """rows with the score of another row, so large that float64 rounds whole numbers: do the exact scores differ?"""
    if "score" not in cases.rows.columns or not cases.binary:
        return None
    scores = cases.rows.select("cell", "score")
    equal = scores.is_duplicated() & (scores["score"].abs() >= EXACT).fill_null(False)
    return Seen(cases.count_rows(equal), cases.count_rows())


@check("fact", "rows")
def rows_without_a_score(cases: Cases) -> Seen | None:
    """rows without a score, which are below every threshold"""
    score = cases.rows.get_column("score", default=None)
    return None if score is None else Seen(cases.count_rows(score.is_null()), cases.count_rows())


def about_grades(rows: pl.DataFrame, columns: Columns, conventions: Conventions) -> Iterator[About]:
    """Yield the subject of checks of grades, if there are no labels."""
    if columns.grade and not columns.label:
        conventions = conventions.in_types(type_of(rows, columns.score), type_of(rows, columns.grade))
        times = role_columns(rows, columns, ("count",)).get("count")
        table = pl.DataFrame(
            {"grade": grade_column(rows[columns.grade], columns.grade, conventions.scale, NULL_IF_UNJUDGED)}
        )
        grades = Grades(table, conventions, times, TIMES not in rows.columns)
        yield About(grades, grades_in_words(grades))


def about_rows(
    rows: pl.DataFrame, columns: Columns, conventions: Conventions, unlabelled: bool = False
) -> Iterator[About]:
    """Yield the subjects of checks of rows without a query; raise for bad values.

    ``unlabelled``: whether some rows have no label, which is known. They are left out of counts of relevant rows and of
    decisions.
    """
    known = replace(conventions, unjudged="drop") if unlabelled else conventions
    times, cases = role_columns(rows, columns, ("count",)).get("count"), read_cases(rows, columns, known, audited=True)
    system = (columns.system,) if columns.system else ()
    count = (cases.cells.values.select(names).n_unique() if names else 0 for names in (system, columns.by))
    words = cells_in_words(columns) | {
        "columns": columns,
        "by": ", ".join(columns.by),
        "judgment": (judgment := "label" if columns.label else "grade"),
        "why": f"no row without errors has a {judgment}",
        "others": ", to which counts of relevant rows and of decisions refer" * unlabelled,
    }
    yield from about_sides(rows, columns, conventions, times, several=not cases.binary)
    yield about_decisions(cases)
    for subject in (Keys(columns, *count), RowLabels(rows[str(columns.label or columns.grade)], times), cases):
        yield About(subject, words)
    yield from about_names(columns, cases.cells.values, None if cases.binary else cases.classes)
    yield from about_nulls(cases)
    yield from about_missing(rows, columns, conventions, words)


def about_sides(
    rows: pl.DataFrame,
    columns: Columns,
    conventions: Conventions,
    times: pl.Series | None = None,
    *,
    several: bool = False,
    judgment_labels: pl.Series | None = None,
) -> Iterator[About]:
    """Yield the subjects of checks of the values of labels and predictions.

    There are some with ``positive=``, or with ``several``, if there are several classes. ``judgment_labels``: the
    labels of separate judgments.
    """
    positive = conventions.positive
    both = [rows[column] if column else None for column in (columns.label, columns.predicted)]
    yield from about_positive(both, times, judgment_labels, conventions)
    sides = [side for side in both if side is not None]
    if positive is not None and sides:
        marks = [is_one_of(side, positive, side.name) for side in sides]
        known = dict.fromkeys(value for side in sides for value in side.drop_nulls().unique().sort()[:5].to_list())
        yield About(Positives(marks, times), {"positive": listed(positive), "known": listed(known)})
    if len(sides) < 2 or not (several or positive is not None) or conventions.match is not None:
        return
    label, predicted = sides
    if any(side.dtype.is_nested() for side in sides) or unmatched_error(label, predicted, columns) is not None:
        return
    so = "without true rows its precision is 0, also in macro averages" if several else "it counts as not positive"
    words = {"said": columns.predicted, "true": columns.label, "so": so}
    yield About(LabelsAndPredictions(label, predicted, [*(positive or ()), *conventions.abstain], times), words)


def about_decisions(cases: Cases) -> About:
    """Return the subject of checks of decisions and scores, pooled in each segment."""
    columns, threshold = cases.columns, cases.conventions.threshold
    decided_by = (
        columns.predicted if threshold is None else f"{columns.score} >= {columns.threshold or format(threshold, 'g')}"
    )
    words = cells_in_words(columns) | {
        "score": columns.score,
        "said": decided_by,
        "true": columns.label or columns.grade or "the judgments",
    }
    return About(Pooled(cases, inputs_of(cases, segments_of(cases.cells), [REGISTRY[AREA]])), words)
