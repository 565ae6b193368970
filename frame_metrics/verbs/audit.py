"""The verb audit: findings about the data, among them the rows whose values are bad."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import cases_of
from frame_metrics.data.log import Log, read_log
from frame_metrics.data.unfolding import BARE
from frame_metrics.errors import (
    BadRowsError,
    BadValueError,
    FrameMetricsError,
    NotComputableError,
    bad_rows,
    check_choice,
    shown,
)
from frame_metrics.inputs import Array
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.needs import audited
from frame_metrics.verbs import annotators, guards, log_checks, saved, value_checks
from frame_metrics.verbs.checks import Finding, run_checks
from frame_metrics.verbs.request import Plan, Reading, Request
from frame_metrics.verbs.split import check_split, split_of_queries, split_of_rows
from frame_metrics.verbs.values import asked_of, measured, named_in, plan_of

SEVERITIES = ("error", "warning", "info", "fact")  # the gravest first
SCHEMA = {
    "check": pl.String,
    "severity": pl.String,
    "n": pl.Int64,
    "share": pl.Float64,
    "example": pl.String,
    "message": pl.String,
}
# The word for the values of a role; that of the others is the role with an s.
VALUES = {
    "query": "queries",
    "by": "segments",
    "predicted": "predictions",
    "class_scores": "scores",
    "extra": "values",
    "n_relevant": "counts of relevant documents",
    "collection_size": "collection sizes",
}
Severity = Literal["error", "warning", "info"]


def audit(request: Request, fail_on: Severity | None, baseline: Any, split: Mapping[Any, float] | None) -> Any:
    """Answer ``irm.audit``, which has the parameters."""
    if fail_on is not None:
        check_choice("fail_on", fail_on, get_args(Severity))
    plan = plan_of(request) if request.of_values else request.plan(audited(request.columns, request.roles))
    if split is not None:
        check_split(split, plan.columns, alone=baseline is None)
    columns, conventions, rule = plan.columns, _conventions(plan), plan.conventions.several
    beside = None if baseline is None else _baseline(baseline, plan)
    decided = columns.predicted is not None or conventions.threshold is not None

    def compute(reading: Reading) -> Answer:
        qrels = reading.qrels()
        there = None if beside is None else saved.read_saved(beside(reading.table)).log

        def turned(log: Log) -> Iterable[Finding]:
            return () if there is None else run_checks({}, saved.matched(log, there).turnover())

        def with_arms(seen: list[Finding], log: Log) -> list[Finding]:
            return seen if split is None else _of_arms(seen, split_of_queries(log, columns, split))

        def look(rows: pl.DataFrame) -> list[Finding]:
            if columns.value:
                numbers = measured(replace(reading, table=rows), None, audited=True, arms=split is not None)
                return with_arms([*value_checks.findings(numbers), *turned(numbers.log)], numbers.log)
            if not columns.query:
                return _of_rows(rows, columns, conventions, split)
            log = read_log(rows, columns, conventions, qrels, single=decided, arms=split is not None)
            seen = [*guards.of_sides(rows, columns, conventions), *log_checks.findings(log)]
            seen += [*annotators.findings(log, rule), *turned(log)]
            seen += guards.guarded(cases_of(log)) if decided else []
            return with_arms(seen, log)

        return _report(fail_on, _of_good_rows(reading, look))

    def unreadable(error: BadRowsError) -> Answer:
        n, row = len(error.rows), int(error.rows[0])
        return _report(fail_on, [Finding(f"rows that {error.what}", "error", n, None, f"row {row}", str(error))])

    table = plan.answer(compute, lambda types: dict(SCHEMA), unreadable)
    return table if fail_on is None else request.border.at_once(table)


def _conventions(plan: Plan) -> Conventions:
    """The conventions, with a rule for annotators who differ, which is then a finding."""
    if plan.judged is not None and plan.judged.annotator and plan.conventions.several is None:
        return replace(plan.conventions, several="majority")
    return plan.conventions


def _of_rows(
    rows: pl.DataFrame, columns: Columns, conventions: Conventions, split: Mapping[Any, float] | None
) -> list[Finding]:
    """The findings about rows without a query, and about their split."""
    seen = guards.findings(rows, columns, conventions)
    return seen if split is None else [*seen, *split_of_rows(rows, columns, split)]


def _baseline(baseline: Any, plan: Plan) -> Callable[[pl.DataFrame], Plan]:
    """Find the columns of saved numbers, whose queries are looked at beside those of the frame.

    Returns
    -------
    From the rows of the frame, which may say the metrics, the columns.
    """
    if not plan.columns.query:
        raise NotComputableError("baseline= is one number per query, and there is no query; name query=")
    if not saved.is_frame(baseline):
        raise BadValueError(f"audit(): baseline={shown(baseline)} is not a frame of saved numbers")
    if plan.columns.metric:
        return lambda rows: saved.plan_of(baseline, plan, named_in(rows, plan.columns), audited=True)
    found = saved.plan_of(baseline, plan, asked_of((), plan.columns) if plan.columns.value else None, audited=True)
    return lambda rows: found


def _of_arms(seen: list[Finding], split: Iterable[Finding]) -> list[Finding]:
    """Return the findings of a log whose systems are segments, and those about its split: units of several arms."""
    there = [one for one in seen if one.check != log_checks.queries_in_several_segments.name]
    return [*there, *split]


def _of_good_rows(reading: Reading, look: Callable[[pl.DataFrame], list[Finding]]) -> list[Finding]:
    """Return the rows whose values are bad as findings, and the findings about the others.

    ``look`` raises for rows that are bad in one way. They are left out, and it looks again, until no row is bad. An
    error that names no rows is raised, or is a finding if rows were left out before.
    """
    frame = reading.table
    left, rows = np.arange(len(frame)), frame
    bad: dict[tuple[str, str], tuple[BadRowsError, list[Array]]] = {}
    while True:
        try:
            seen = look(rows)
        except BadRowsError as error:
            good = np.ones(len(rows), bool)
            good[error.rows] = False
            if reading.unfolded is not None:
                good = reading.unfolded.in_every_system(good, rows)
            bad.setdefault((error.column, error.what), (error, []))[1].append(left[np.asarray(error.rows)])
            left, rows = left[good], rows.filter(pl.Series(good))
            continue
        except FrameMetricsError as error:
            if not bad:
                raise
            seen = [Finding("rows that cannot be read", "error", len(rows), len(frame), None, str(error))]
        found_bad = [_bad_values(error, np.sort(np.concatenate(at)), reading) for error, at in bad.values()]
        what = "results in the lists" if reading.plan.columns.lists else "rows of the frame"
        message = f"{what} without errors: everything else is about these"
        systems = max(len(reading.plan.columns.per_system), 1)  # which have the same rows
        n, of = ((len(some) - _bare(some)) // systems for some in (rows, frame))
        return [*found_bad, Finding("rows", "fact", n, of, None, message), *seen]


def _bare(rows: pl.DataFrame) -> int:
    """Count the rows that stand for queries without results."""
    return int(rows[BARE].sum()) if BARE in rows.columns else 0


def _bad_values(error: BadRowsError, rows: Array, reading: Reading) -> Finding:
    """Rows of the caller's frame that have a bad value."""
    columns, total = reading.plan.columns, len(reading.table)
    what = error.what.split(",")[0]
    check = f"{_values(error.column, columns) if what.startswith(('are ', 'differ ')) else 'rows'} that {what}"
    said = bad_rows(error.column, rows, total, error.what, error.remedy)
    if reading.unfolded is not None:
        said = reading.unfolded.told_of_the_frame(error, rows)
    return Finding(check, "error", len(rows), total, f"row {said.rows[0]}", str(said))


def _values(column: str, columns: Columns) -> str:
    """The word for the values of a column, by its role."""
    for role, named in vars(columns).items():
        several = (
            dict(named).values()
            if role in ("class_scores", "extra")
            else named
            if isinstance(named, tuple)
            else (named,)
        )
        if column in several:
            return VALUES.get(role, f"{role}s")
    return column


def _report(fail_on: str | None, findings: list[Finding]) -> Answer:
    """Return findings as rows, the gravest first and facts last; raise if one is as grave as ``fail_on``."""
    grave = [] if fail_on is None else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    rows = [one for one in findings if one.n or one.severity == "fact"]
    rows.sort(key=lambda one: SEVERITIES.index(one.severity))
    failed = [_in_words(one) for one in rows if one.severity in grave]
    if failed:
        count = "1 finding" if len(failed) == 1 else f"{len(failed)} findings"
        raise BadValueError("\n".join([f"audit(fail_on={fail_on!r}): {count}", *failed]))
    return Answer({}, {name: pl.Series(name, [getattr(f, name) for f in rows], dtype=t) for name, t in SCHEMA.items()})


def _in_words(one: Finding) -> str:
    """A finding as a line of an error."""
    more = ", ..." if one.n > 1 else ""
    return f"{one.check}: {one.n}{f' ({one.example}{more})' if one.example else ''}; {one.message}"
