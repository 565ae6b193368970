"""The verb audit: findings about the data, among them the rows whose values are bad."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.protocol import NO_JUDGMENTS, Request
from frame_metrics.data.cases import cases_of
from frame_metrics.data.facts import FactsOfPieces
from frame_metrics.data.reading import read_log
from frame_metrics.errors import (
    BadValueError,
    FrameMetricsError,
    NotComputableError,
    ReportedError,
    about_the_call,
    brief,
    cut,
    quote,
)
from frame_metrics.hidden import TIMES
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.keys.index import Index
from frame_metrics.measuring import baseline as saved
from frame_metrics.measuring.saved_values import asked_of, named_in, saved_values_of
from frame_metrics.measuring.split import Shares, check_split
from frame_metrics.measuring.values import as_saved
from frame_metrics.plan.call import Call, bind, call_of_every_role
from frame_metrics.plan.given import Given
from frame_metrics.plan.needs import needs_of_audit
from frame_metrics.plan.plan import plan_of, unused_judgments
from frame_metrics.plan.source import InPieces, Source, answer_of
from frame_metrics.roles.conventions import Conventions
from frame_metrics.verbs.audit import of_rows
from frame_metrics.verbs.audit.bad_rows import notes_of, of_error, row_findings, skip_bad_rows, unread
from frame_metrics.verbs.audit.checks import About, Finding
from frame_metrics.verbs.audit.facts import OF_JUDGED, OF_SEGMENTS, SetAside, about
from frame_metrics.verbs.audit.gate import SEVERITIES, bound_in_words, gate_of
from frame_metrics.verbs.audit.listed import findings, run_checks
from frame_metrics.verbs.audit.of_annotators import about_annotators
from frame_metrics.verbs.audit.of_counted import CountedRows, with_unnamed_count
from frame_metrics.verbs.audit.of_cuts import kept_whole
from frame_metrics.verbs.audit.of_found import FoundQuery
from frame_metrics.verbs.audit.of_mixed_systems import RowsOfDocuments, RowsOfQueries, with_unnamed
from frame_metrics.verbs.audit.of_proxies import NOT_BY_PEOPLE, about_chosen, about_proxies, marked
from frame_metrics.verbs.audit.pieces import Audited, Unmatched, decided, judgment_labels, of_pieces
from frame_metrics.verbs.audit.split import RELEVANT, about_unnamed_units, split_of_queries, split_of_rows

SCHEMA = {
    "check": pl.String,
    "severity": pl.String,
    "n": pl.Int64,
    "share": pl.Float64,
    "example": pl.String,
    "message": pl.String,
}


def audit(given: Given, fail_on: Any, baseline: Any, split: Shares | None) -> Any:
    """Implement ``irm.audit``, whose docstring has the parameters."""
    if fail_on is not None:
        gate_of(fail_on)
    try:
        plan = plan_of(given)
        call = call_of_every_role(plan) if plan.has_saved_numbers else bind(plan, needs_of_audit(plan))
    except ReportedError as error:  # checks would not know what to look at
        return _alone(given, fail_on, of_error(error))
    if split is not None:
        check_split(split, call.columns)
    several = call.conventions.several
    call = replace(
        call,
        columns=with_unnamed_count(with_unnamed(call.columns, call.roles, call.plan.available), call.plan.available),
        conventions=_conventions(call),
        judgment_columns=marked(call),
    )
    saved_call = None if baseline is None else _baseline(baseline, call)

    def compute(source: Source) -> Answer:
        with about_the_call():
            saved_index = None if saved_call is None else saved.read_saved(saved_call(source.table)).index
        looking = _Auditor(source, several, split, saved_index)
        if isinstance(source, InPieces):
            return _report(fail_on, looking.at_pieces(source))
        readable = skip_bad_rows(source, looking.at_rows)
        notes = notes_of(readable, source)
        seen = readable.seen if readable.error is None else [unread(notes, readable.error)]
        rows = row_findings(notes, source.call.columns, readable=readable.error is None)
        return _report(fail_on, [*rows, *seen])

    def unreadable(error: FrameMetricsError) -> Answer:
        return _report(fail_on, [of_error(error)])

    in_pieces = not plan.has_saved_numbers
    try:
        table = answer_of(
            call,
            compute,
            lambda types: dict(SCHEMA),
            on_unreadable=unreadable,
            in_pieces=in_pieces,
            by_document=_documents_are_counted(call),
        )
    except FrameMetricsError as error:  # as of columns of pandas that polars cannot hold
        if error.of_call:
            raise
        found = unreadable(error).of_rows(pl.DataFrame(), NO_JUDGMENTS)
        return plan.backend.collected(plan.backend.to_native(found))
    return table if fail_on is None else plan.backend.collected(table)


def _documents_are_counted(call: Call) -> bool:
    """Return True if rows without a query are each about a document, unless ``system=None`` says what they are."""
    columns = call.columns
    meant = columns.system is None and "system" in call.roles
    return bool(columns.doc and columns.count in (None, TIMES) and not (columns.query or columns.value or meant))


def _alone(given: Given, fail_on: Any, finding: Finding) -> Any:
    """Return an audit of one finding, for columns that are not read, as a frame of the caller's kind."""
    nothing = pl.DataFrame(), NO_JUDGMENTS
    request = Request(
        given.available[:1],
        lambda _: _report(fail_on, [finding]).of_rows(*nothing),
        lambda _: dict(SCHEMA),
        given.limits,
        in_pieces=True,
    )
    table = given.backend.answer(request)
    return table if fail_on is None else given.backend.collected(table)


@record
class _Auditor:
    """An audit of a source: its methods run the checks, on all rows of a frame or on its pieces."""

    source: Source
    several: str | None  # ``several=``, as the caller gave it
    split: Shares | None  # ``split=``: the share that each arm should have
    saved_index: Index | None  # the index of a baseline's saved numbers; None without a baseline

    def at_rows(self, rows: pl.DataFrame, unlabelled: bool) -> list[Finding]:
        """Return the findings about rows; raise for rows that are bad, for one kind of error at a time.

        ``unlabelled``: whether rows without a label are known, and left out of counts of relevant rows and decisions.
        """
        source, call = replace(self.source, table=rows), self.source.call
        columns, conventions = call.columns, call.conventions
        if columns.value:
            numbers = as_saved(saved_values_of(source, None, audited=True))
            values = {name: each for (name, _), each in zip(numbers.asked, numbers.value, strict=True)}
            index, facts = numbers.index, FactsOfPieces(pl.DataFrame(), columns, conventions, "")
            every = about(facts, index, numbers, metrics=", ".join(values))
            return self._with_arms(findings(*every, *self._turnover(index)), index, numbers.cluster, values)
        if not columns.query:
            reached = findings(*of_rows.about_grades(rows, columns, conventions))
            queries = [About(RowsOfQueries(rows, columns))] if columns.unnamed_query else []
            queries += [About(RowsOfDocuments(rows, columns))] if _documents_are_counted(call) else []
            queries += [About(CountedRows(rows, columns))] if columns.unnamed_count else []
            if lost := [finding for finding in reached if finding.n and finding.severity == "error"]:
                return lost  # nothing else can be computed
            parts = [*split_of_rows(rows, columns, self.split), *about_unnamed_units(columns, call.plan.available)]
            about_them = of_rows.about_rows(rows, columns, conventions, unlabelled)
            return [*reached, *findings(*parts, *queries, *about_them)]
        log = read_log(rows, columns, conventions, source.judgments_as_polars(), keep_row_numbers=decided(call))
        sides = of_rows.about_sides(rows, columns, conventions, judgment_labels=judgment_labels(source))
        found = Audited(run_checks(log), sides, log, cases_of(log) if decided(call) else None)
        if source.proxy is not None:
            source = replace(source, proxy=replace(source.proxy, table=rows))
        return self._of_log(found, source)

    def at_pieces(self, source: InPieces) -> list[Finding]:
        """Return the findings about a log that is read in pieces, and about its bad rows."""
        try:
            found, call = of_pieces(source), source.call
        except FrameMetricsError as error:
            if error.of_call:
                raise
            return [of_error(error)]
        if isinstance(found, Unmatched):
            return [*row_findings(found.notes, call.columns, readable=False), unread(found.notes, found.error)]
        try:
            seen = self._of_log(found, source)
        except FrameMetricsError as error:
            if error.of_call:
                raise
            return [*row_findings(found.notes, call.columns, readable=False), unread(found.notes, error)]
        return [*row_findings(found.notes, call.columns), *seen]

    def _of_log(self, found: Audited, source: Source) -> list[Finding]:
        """Return the findings about a log.

        Parameters
        ----------
        found : the log and its counts.
        source : its rows without errors, and the judgments of a machine if there are any.
        """
        counts = found.counts
        judgments_optional = source.call.needs is not None and source.call.needs.judgments_optional
        which = "all, as nothing is judged" if judgments_optional else "those with a judgment"
        which += " by people" if source.proxy else ""
        whole = kept_whole(source.call.columns, source.call.plan.given.expressed)
        every = [*found.sides, *about(counts.log, counts.index, counts, which=which, whole=whole)]
        every += about_annotators(found.judged, self.several)
        every += self._turnover(counts.index)
        every += [About(FoundQuery(counts))] if source.call.plan.ranking_is_guessed else []
        every += about_proxies(source)
        every += [About(_set_aside(self.source.call)), *about_chosen(source)]
        every += [] if found.cases is None else [of_rows.about_decisions(found.cases)]
        values = {RELEVANT: np.where(counts.evaluated, counts["hits"], np.nan)}
        seen = self._with_arms(findings(*every), counts.index, counts.amounts.get("cluster"), values)
        without = (*(NOT_BY_PEOPLE if source.proxy else ()), *(OF_JUDGED if judgments_optional else ()))
        not_found = {one.name for one in without}
        return [finding for finding in seen if finding.check not in not_found]

    def _turnover(self, index: Index) -> list[About]:
        return [] if self.saved_index is None else [About(saved.match_saved(index, self.saved_index).turnover())]

    def _with_arms(
        self, seen: list[Finding], index: Index, cluster: Array | None, values: Mapping[str, Array]
    ) -> list[Finding]:
        """Add the findings about the split of units between arms, and leave out those about queries of several arms.

        Parameters
        ----------
        seen : the findings so far.
        index : the rankings.
        cluster : the number of each ranking's cluster; None without clusters.
        values : numbers of each ranking, by name.
        """
        columns = self.source.call.columns
        kept = seen if columns.arm is None else [finding for finding in seen if finding.check not in OF_SEGMENTS]
        units = about_unnamed_units(columns, self.source.call.plan.available)
        return [*findings(*split_of_queries(index, cluster, self.split, values), *units), *kept]


def _set_aside(call: Call) -> SetAside:
    """Return the columns of the frame that would be read as judgments if ``judge`` had not given any."""
    columns, lists = call.columns, call.plan.backend.holds_lists
    if call.judgment_columns is None:
        return SetAside([], {})
    free = {*call.plan.available}.difference(call.roles, columns.needed)
    in_lists = {"label": bool(columns.shape.list_columns), "grade": bool(columns.shape.list_columns), "relevant": True}
    found = [name for name, as_lists in in_lists.items() if name in free and lists(name) == as_lists]
    return SetAside(found, unused_judgments(call.plan))


def _conventions(call: Call) -> Conventions:
    """Return the conventions of an audit, which reports what the caller's conventions would settle.

    Queries without a judgment are not evaluated. Annotators who differ are no error: the majority decides.
    """
    bare = replace(call.conventions, unjudged_queries=None)
    if call.judgment_columns is not None and call.judgment_columns.annotator and call.conventions.several is None:
        return replace(bare, several="majority")
    return bare


def _baseline(baseline: Any, call: Call) -> Callable[[pl.DataFrame], Call]:
    """Check a baseline of saved numbers, and find the roles of its columns.

    Returns
    -------
    A function from the rows of the frame, which may name the metrics, to the call of the saved numbers.
    """
    if not call.columns.query:
        raise NotComputableError("baseline= is one number per query, and there is no query; name query=")
    if not saved.is_frame(baseline):
        raise BadValueError(f"audit(): baseline={quote(baseline)} is not a frame of saved numbers")
    if call.columns.metric:
        return lambda rows: saved.saved_call(baseline, call, named_in(rows, call.columns), audited=True)
    found = saved.saved_call(baseline, call, asked_of((), call.columns) if call.columns.value else None, audited=True)
    return lambda rows: found


def _report(fail_on: Any, findings: list[Finding]) -> Answer:
    """Return findings as an answer, the gravest first and facts last; raise if they break the gate ``fail_on``.

    What is long in them is cut, as in errors.
    """
    rows = [
        one._replace(message=brief(one.message), example=None if one.example is None else cut(one.example))
        for one in findings
        if one.n or one.severity == "fact"
    ]
    rows.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    failed = [] if fail_on is None else [_in_words(finding, bound) for finding, bound in gate_of(fail_on).failed(rows)]
    if failed:
        count = "1 finding" if len(failed) == 1 else f"{len(failed)} findings"
        with about_the_call():
            raise BadValueError("\n".join([f"audit(fail_on={quote(fail_on)}): {count}", *failed]))
    return Answer({}, {name: pl.Series(name, [getattr(f, name) for f in rows], dtype=t) for name, t in SCHEMA.items()})


def _in_words(finding: Finding, bound: Any) -> str:
    """Return a finding above its bound as a line of an error message."""
    of = f" of {finding.of}" if isinstance(bound, float) and finding.of else ""
    example = f" ({finding.example}{', ...' if finding.n > 1 else ''})" if finding.example else ""
    return f"{finding.check}: {finding.n}{of}{bound_in_words(bound)}{example}; {finding.message}"
