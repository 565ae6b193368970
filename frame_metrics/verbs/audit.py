"""What an audit looks for in rankings: one check per thing that may be wrong or odd."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.border.frames import Past
from frame_metrics.data.classes import out_of_reach
from frame_metrics.data.log import Log, read_log
from frame_metrics.data.query_cases import cases_of
from frame_metrics.errors import check_choice
from frame_metrics.inputs import Array
from frame_metrics.roles.columns import key_names
from frame_metrics.roles.needs import audited
from frame_metrics.verbs import facts, guards
from frame_metrics.verbs.counted import TOP, Counted, counted
from frame_metrics.verbs.findings import SCHEMA, Finding, found, of_good_rows, report
from frame_metrics.verbs.request import Request

FEW = 10  # a segment with fewer queries is small


Severity = Literal["error", "warning", "info"]


def audit(request: Request, fail_on: Severity | None) -> Any:
    """Answer ``irm.audit``, which has the parameters."""
    if fail_on is not None:
        check_choice("fail_on", fail_on, get_args(Severity))
    plan = request.plan(audited(request.roles, request.available, judged=request.judged))
    columns, conventions = plan.columns, plan.conventions
    decided = columns.predicted is not None or conventions.threshold is not None

    def compute(table: pl.DataFrame, past: Past) -> Answer:
        qrels = plan.qrels(past)

        def look(rows: pl.DataFrame) -> list[Finding]:
            if not columns.query:
                return guards.findings(rows, columns, conventions)
            log = read_log(rows, columns, conventions, qrels)
            seen = findings(log)
            return [*seen, *guards.guarded(cases_of(log))] if decided else seen

        return report(fail_on, of_good_rows(table, columns, look))

    return plan.answer(compute, lambda types: dict(SCHEMA))


@dataclass(frozen=True, eq=False)
class Check:
    """One thing to look for.

    Parameters
    ----------
    rows : how much of it each ranking has, of what was counted; bool or counts.
    of : what the share is of.
    message : what follows from it.
    """

    name: str
    severity: str
    rows: Callable[[Counted], Array]
    of: Callable[[Counted], Array]
    message: str


def _every(counts: Counted) -> Array:
    return np.ones(len(counts.judged), bool)


def _evaluated(counts: Counted) -> Array:
    return counts.evaluated


LEFT_OUT = "left out of the rankings"
ORDER = {
    "doc": "by document, descending",
    "worst": "the worst judgment first",
    "best": "the best judgment first",
    "order": "as in the frame",
    "expected": "in every way, of which the mean is taken",
}
CHECKS = (
    Check(
        "queries without judgments",
        "warning",
        lambda c: c.judged == 0,
        _every,
        "not evaluated: none of their documents is judged",
    ),
    Check(
        "queries without results",
        "warning",
        lambda c: _evaluated(c) & (c.retrieved == 0),
        _evaluated,
        "evaluated as if nothing was found",
    ),
    Check(
        "queries without relevant documents",
        "warning",
        lambda c: _evaluated(c) & (c.relevant == 0),
        _evaluated,
        "metrics that divide by the relevant documents are undefined; undefined= says what they become",
    ),
    Check(
        f"unjudged in the top {TOP}",
        "warning",
        lambda c: np.where(_evaluated(c), c.top_unjudged, 0),
        lambda c: np.where(_evaluated(c), c.top, 0),
        "{left_out}",
    ),
    Check(
        "unjudged results",
        "info",
        lambda c: np.where(_evaluated(c), c.unjudged, 0),
        lambda c: np.where(_evaluated(c), c.retrieved, 0),
        "{left_out}",
    ),
    Check(
        f"ties across rank {TOP}",
        "warning",
        lambda c: _evaluated(c) & c.tied,
        _evaluated,
        f"equal scores at ranks {TOP} and {TOP + 1} are ordered {{order}}",
    ),
    Check(
        "ideal from the results alone",
        "info",
        lambda c: _evaluated(c) & c.listed,
        _evaluated,
        "relevant documents that were not retrieved are unknown; recall, ap and ndcg may be too high",
    ),
    Check(
        "ranks with gaps",
        "info",
        lambda c: c.gaps,
        _every,
        "positions that the frame does not list count as not relevant",
    ),
    Check(
        "ranks that begin late",
        "info",
        lambda c: c.late,
        _every,
        "the first position is missing, and counts as not relevant",
    ),
    Check(
        "scores out of rank order",
        "warning",
        lambda c: c.disordered,
        _every,
        "the rank orders the results, and a result has a higher score than one above it",
    ),
    Check(
        "labels and grades that contradict",
        "warning",
        lambda c: c.contradicted,
        lambda c: c.judged,
        "the label decides what is relevant, the grade what is gained; they disagree about rel={rel:g}",
    ),
    Check(
        "constant scores",
        "warning",
        lambda c: c.constant,
        _every,
        "all results of a query have one score, and are ordered {order}",
    ),
    Check(
        "more relevant documents than n_relevant",
        "error",
        lambda c: c.overfull,
        _every,
        "{n_relevant} says how many relevant documents a query has, and more are listed",
    ),
    Check(
        "more documents than collection_size",
        "error",
        lambda c: c.outgrown,
        _every,
        "a query retrieved, or has relevant, more documents than there are; true negatives would be less than 0",
    ),
    Check(
        "queries without a weight",
        "error",
        lambda c: _evaluated(c) & c.unweighted,
        _evaluated,
        "judged queries without results have no {weight}; give the judgments such a column too",
    ),
    Check(
        "queries without a cluster",
        "error",
        lambda c: _evaluated(c) & c.unclustered,
        _evaluated,
        "judged queries without results have no {cluster}; give the judgments such a column too",
    ),
)


def findings(log: Log) -> list[Finding]:
    """Return what is found in a log, checks that find nothing and plain facts too.

    Raises
    ------
    BadRowsError
        Values are bad that show in rank order only, or beside others of their query.
    """
    counts = counted(log)
    return [*_checks(log, counts), *facts.of_log(log, counts)]


def _checks(log: Log, counts: Counted) -> Iterator[Finding]:
    words = {
        "left_out": LEFT_OUT
        if log.conventions.unjudged == "drop"
        else "counted as not relevant; unjudged='drop' leaves them out",
        "order": "by rank" if log.columns.rank else ORDER[log.conventions.ties],
        "rel": log.conventions.rel,
        "n_relevant": log.columns.n_relevant,
        "weight": log.columns.weight,
        "cluster": log.columns.cluster,
    }
    for check in CHECKS:
        rows, of = check.rows(counts), check.of(counts)
        example = _name(log, int(np.argmax(rows > 0))) if rows.any() else None
        yield found(check.name, check.severity, rows.sum(), of.sum(), example, check.message.format(**words))
    yield from _of_grades(log)
    yield _unknown_segments(log)
    yield _small_segments(log, counts)
    dropped = 0 if log.row is None else log.frame_rows - len(log.row)
    message = "left out: duplicates='first' keeps the best place of each document of a query"
    yield found("repeated documents", "warning", dropped, log.frame_rows, log.repeated, message)


def _of_grades(log: Log) -> Iterator[Finding]:
    """Grades that mean something else than they seem to, of all judgments."""
    table = log.judgments
    if "grade" not in table.columns:
        return
    grade, labelled = table["grade"], "label" in table.columns
    nothing = "they gain nothing"
    if not labelled:
        nothing += " and are not relevant; bpref, infap and unjudged='drop' take them for not judged"
        rel = log.conventions.rel
        message = f"nothing is relevant at rel={rel:g}, as the largest is {log.top_grade:g}; binary metrics are errors"
        lost = (grade > 0) & out_of_reach(grade, rel)
        yield _of_judgments(log, "grades that do not reach rel", "error", lost, message)
    yield _of_judgments(log, "grades below 0", "warning", grade < 0, nothing)
    if grade.dtype.is_float():
        message = "counted as they are; trec_eval cuts them to whole numbers"
        yield _of_judgments(log, "grades with a fraction", "info", grade != grade.floor(), message)


def _of_judgments(log: Log, check: str, severity: str, marked: pl.Series, message: str) -> Finding:
    """Marked judgments as a finding, with the keys of the first."""
    table, example = log.judgments, None
    if marked.any():
        keys = [key for names in (*key_names(log.columns), ["doc"]) for key in names if key in table.columns]
        example = ", ".join(map(str, table.select(keys).row(int(marked.arg_true()[0]))))
    return found(check, severity, int(marked.sum()), len(table) - table["grade"].null_count(), example, message)


def _small_segments(log: Log, counts: Counted) -> Finding:
    """Segments with so few queries that a mean over them means little."""
    grid, by = log.grid, key_names(log.columns)[1]
    count = len(grid.segment_row) if by else 0
    queries = np.zeros(count, np.int64)
    if by:
        seen = np.unique(np.stack([grid.segment, grid.query])[:, counts.evaluated], axis=1)
        queries = np.bincount(seen[0], minlength=count)
    small = np.flatnonzero(queries < FEW)
    rows = log.keys_at(by, grid.segment_row[small[:1]]).row(0) if len(small) else ()
    return found(
        "segments of few queries",
        "warning",
        len(small),
        count,
        ", ".join(map(str, rows)),
        f"fewer than {FEW} evaluated queries: their mean says little; ci= says how little",
    )


def _unknown_segments(log: Log) -> Finding:
    """Judged queries of which no row says which segment they belong to."""
    by, judged, lost = key_names(log.columns)[1], log.judged, pl.DataFrame()
    if judged is not None and not set(by) <= set(judged.keys):
        names = judged.names.select(judged.keys)
        lost = names.join(log.table, on=judged.keys, how="anti", nulls_equal=True, maintain_order="left")
    example = ", ".join(str(value) for value in lost.row(0)) if len(lost) else None
    return found(
        "judged queries of no known segment",
        "warning",
        len(lost),
        0 if judged is None else len(judged.names),
        example,
        "not evaluated: no result has them, and the judgments have no column that says their segment",
    )


def _name(log: Log, ranking: int) -> str:
    """The keys of a ranking as text."""
    grid, (system, by, query) = log.grid, key_names(log.columns)
    columns = [(system, grid.system_row[grid.system[ranking]])] if system else []
    columns += [(by, grid.segment_row[grid.segment[ranking]])] if by else []
    columns += [(query, grid.query_row[grid.query[ranking]])]
    return ", ".join(str(value) for keys, row in columns for value in log.keys_at(keys, np.array([row])).row(0))
