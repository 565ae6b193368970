"""Checks of the judgments of a log, and of scores that may be ranks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from frame_metrics.data.cases import n_marked
from frame_metrics.data.classes import is_fractional, none_reaches
from frame_metrics.data.facts import GradeFacts
from frame_metrics.data.log import Log
from frame_metrics.data.misread import all_relevant, n_unclear_grades
from frame_metrics.fast.take_rows import rows_at
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.groups import as_text
from frame_metrics.roles.conventions import Conventions
from frame_metrics.verbs.audit.checks import NO_ROWS, SURE, Counted, Seen, check, in_unit


@record
class Grades(GradeFacts):
    """The grades of rows without a query and without labels."""

    table: pl.DataFrame  # one column, "grade"
    conventions: Conventions
    times: pl.Series | None  # number of rows that each row stands for; None for 1 each
    numbered: bool  # True if rows have numbers

    @property
    def judgments(self) -> pl.DataFrame:
        """The table with the column of grades."""
        return self.table

    def marked(self, marks: pl.Series) -> Seen:
        """Count the marked rows, among those with a grade; the example is the first of them."""
        n, of = (n_marked(self.times, some, len(marks)) for some in (marks, self.table["grade"].is_not_null()))
        return Seen(n, of, f"row {marks.arg_true()[0]}" if n and self.numbered else None)


def grades_in_words(judged: GradeFacts) -> dict[str, str]:
    """Return the words about grades, and about the metrics that they do not determine."""
    conventions, alone = judged.conventions, isinstance(judged, Grades)
    return {
        "rel": conventions.in_words(conventions.rel),
        "largest": conventions.in_words(judged.top_grade),
        "binary_fail": "every metric raises an error" if alone else "binary metrics raise errors",
        "relevant_fail": "every metric raises an error" if alone else "metrics of relevance raise errors",
    }


def _graded(log: Log | Grades, marks: Callable[[pl.Series], pl.Series]) -> Seen | None:
    """Count the judgments whose grade ``marks`` selects; the example is the first of them. None without grades."""
    grade = log.judgments.get_column("grade", default=None)
    if grade is None:
        return None
    return log.marked(marks(grade)) if isinstance(log, Grades) else _judgments(log, marks(grade), grade)


def _judgments(log: Log, marked: pl.Series, values: pl.Series) -> Seen:
    """Count the marked judgments, among those whose value is not null; the example has the keys of the first."""
    table = log.judgments
    keys = [key for names in (*log.columns.internal_by_role, ["doc"]) for key in names if key in table.columns]
    first = np.flatnonzero(marked.to_numpy())[:1]  # a null is no mark
    row = table["row"].to_numpy()[first] if "row" in table.columns else first
    at = row_in_frame(log, row, separate=not log.judged_in_rows)
    return Seen(int(marked.sum()), len(table) - values.null_count(), as_text(rows_at(table, keys, first)), at=at)


def row_in_frame(log: Log, row: Array, *, separate: bool) -> int:
    """Return the row number in the frame of a row of the log; -1 without a row.

    With ``separate`` it is a row of the judgments beside the log; their numbers follow those of the log's rows.
    """
    at = row.astype(np.int64) + (log.n_rows if separate else 0)
    return int(log.rows(at).max(initial=NONE))


def _without_labels(log: Log | Grades, marks: Callable[[pl.Series], pl.Series]) -> Seen | None:
    """Count the judgments whose grade is marked, as ``_graded`` does; None if labels say what is relevant."""
    return None if "label" in log.judgments.columns else _graded(log, marks)


def _none_reaches_rel(log: Log | Grades) -> bool:
    return none_reaches(log.judgments["grade"], log.conventions.rel)


@check("warning", "labels")
def labels_and_grades_that_contradict(log: Log) -> Seen:
    """the label says relevant where the grade is below rel={rel}, or the reverse; the label decides what is relevant,
    the grade what is gained
    """
    table = log.judgments
    if not {"label", "grade"} <= {*table.columns}:
        return Seen(0)
    return _judgments(log, (table["label"] > 0) == (table["grade"] < log.conventions.rel), table["label"])


@check("error", "query")
def nothing_to_evaluate(counts: Counted) -> Seen:
    """{why}, so every mean is null, and n is 0"""
    why = "no query has a judgment" if len(counts.evaluated) else f"{NO_ROWS} and no query"
    return Seen(int(not counts.evaluated.any()), words={"why": why})


@check("error", "grades", only=_none_reaches_rel)
def grades_that_do_not_reach_rel(judged: Log | Grades) -> Seen | None:
    """nothing is relevant at rel={rel}, because the largest grade is {largest}; {binary_fail}: set a lower rel="""
    return _without_labels(judged, lambda grade: grade > 0)


@check("error", "grades", only=n_unclear_grades)
def grades_between_0_and_1(judged: Log | Grades) -> Seen | None:
    """others reach 1, so these may be prices or shares, and nothing tells whether they are relevant; {relevant_fail}:
    set rel= to the lowest relevant grade
    """
    return _without_labels(judged, is_fractional)


@check("warning", "grades", only=all_relevant)
def no_grade_below_rel(judged: Log | Grades) -> Seen | None:
    """everything judged is relevant at rel={rel}, though grades differ: set rel= to the lowest grade that is relevant,
    for example rel=4 for ratings from 1 to 5
    """
    return _without_labels(judged, lambda grade: grade.is_not_null())


@check("error", "rankings")
def positions_given_as_scores(counts: Counted) -> Seen:
    """{columns.score} counts up from 1 or 0 in each ranking, as a rank does, so every metric raises an error: name it
    with rank=, or rename the column if it is a score
    """
    return Seen(len(counts.index) if counts.log.rank_scores else 0, len(counts.index))


@check("warning", "rankings")
def scores_that_count_from_1(counts: Counted) -> Seen:
    """the scores of every ranking are 1, 2, 3 ... in some order, and the relevant documents have low ones more often
    than chance explains: if {columns.score} is a position, name it with rank=
    """
    some = counts["results"] > 0
    if not counts["numbered"][some].all():
        return Seen(0, int(some.sum()))
    n, good = counts["results"][some].astype(np.float64), counts["hits"][some].astype(np.float64)
    # Sums of ranks, as in the test of Mann and Whitney (1947).
    above = (counts["ranks"][some] - good * (n + 1) / 2).sum()
    spread = np.sqrt((good * (n - good) * (n + 1) / 12).sum())
    return Seen(int(some.sum()) if spread and above > SURE * spread else 0, int(some.sum()))


@check("warning", "queries")
def nothing_found_that_is_relevant(counts: Counted) -> Seen | None:
    """no result of these queries is in their lists of relevant documents: are ids written the same way in both?"""
    if not counts.log.columns.relevant or not (counts["results"].any() and counts["relevant"].any()):
        return None
    n = in_unit(counts.index, "queries", np.ones(len(counts["hits"])))
    return Seen(0 if counts["hits"].any() else n, n)


@check("warning", "grades")
def grades_below_0(log: Log) -> Seen | None:
    """they add no gain{unless_labelled}"""
    return _graded(log, lambda grade: grade < 0)


@check("info", "grades")
def grades_with_a_fraction(log: Log) -> Seen | None:
    """counted as they are; trec_eval cuts them to whole numbers, so its values may differ"""
    if not log.judgments.schema.get("grade", pl.Null).is_float():
        return None
    return _graded(log, lambda grade: grade != grade.floor())


@check("info", "judgments")
def judgments_of_a_subtopic_without_a_value(log: Log) -> Seen | None:
    """their grade or label is null, so they judge nothing: the document counts as not relevant to that subtopic"""
    if log.separate_judgments is None or log.separate_judgments.subtopics is None:
        return None
    lost = log.separate_judgments.unjudged
    n, known = 0 if lost is None else len(lost), len(log.separate_judgments.subtopics.grade)
    return Seen(
        n, n + known, as_text(lost.select(*log.separate_judgments.keys, "doc")) if lost is not None and n else None
    )
