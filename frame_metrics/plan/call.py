"""A call: a plan with the columns that a verb reads, and the conventions; no value is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.protocol import NO_JUDGMENTS, Backend, SeparateJudgments
from frame_metrics.data.chances import CHANCES, propensities_by_rank
from frame_metrics.data.documents import DOCUMENT_TABLES, tables_of
from frame_metrics.errors import ColumnError, NotComputableError, prefix_errors
from frame_metrics.inputs.cached_arrays import computed_once
from frame_metrics.plan.needs import Needs, needed_columns
from frame_metrics.plan.plan import PROXY_ERROR_PREFIX, Plan
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions, conventions
from frame_metrics.roles.resolve import resolve_judgments
from frame_metrics.roles.roles import Roles

NOTHING = pl.DataFrame()  # what other processes have in the place of the caller's frame


@dataclass(frozen=True, eq=False, kw_only=True)
class Call:
    """The columns that a call reads of a frame and of separate judgments, and its conventions."""

    plan: Plan
    needs: Needs | None  # None for a call that reads every role, of numbers that were computed elsewhere
    columns: Columns  # of the frame
    judgment_columns: Columns | None  # of the frame that was given to ``judge``; None without ``judge``
    conventions: Conventions
    judgments_backend: Backend | None  # of the same frame; it reads columns of tuples as lists
    # Whether rows have to be made: a row of the frame is not one result of one system, as with lists, or a row of the
    # judgments is not one judgment.
    unfolds: bool
    proxy: Call | None  # the same call with the judgments of a machine (``proxy=``)

    @property
    def roles(self) -> Roles:
        """The roles and conventions as the caller gave them."""
        return self.plan.roles

    @property
    def has_saved_numbers(self) -> bool:
        """True if the frame has numbers that were computed elsewhere (``value=``)."""
        return self.plan.has_saved_numbers

    @computed_once
    def to_read(self) -> list[str]:
        """The columns to read from the frame of ``judge``; with ``label=True`` not the label, which is made."""
        return [] if self.judgment_columns is None else self.judgment_columns.needed

    @property
    def judgment_keys(self) -> dict[str, str]:
        """The columns of the frame of ``judge`` that can be key columns of a result, by their names in the result."""
        if self.judgment_columns is None:
            return {}
        ours, theirs = self.columns, self.judgment_columns
        pairs = zip((*ours.query, ours.doc), (*theirs.query, theirs.doc), strict=True)
        renamed = {name: other for name, other in pairs if name and other}
        cluster = {str(ours.cluster): theirs.cluster} if theirs.cluster else {}
        others = (*theirs.by, *([theirs.subtopic] if theirs.subtopic else []))
        return renamed | cluster | {name: name for name in others} | dict(theirs.extra)

    def with_frames_read(self) -> Call:
        """Return the call with the frames of propensities, popularity and catalogue read, as polars."""
        conventions = self.conventions
        if conventions.popularity is not None or conventions.catalogue is not None:
            lists = self.needs is not None and self.needs.sets_of_lists
            conventions = tables_of(conventions, self.columns, lists=lists)
        if conventions.propensity is not None:
            by = [name for name in self.columns.by if name not in self.columns.shape.from_judgments]
            read = {role: propensities_by_rank(role, getattr(self.conventions, role), by) for role in CHANCES}
            conventions = replace(conventions, **read)
        return self if conventions is self.conventions else replace(self, conventions=conventions)

    def judgments_in_memory(self) -> SeparateJudgments:
        """Return the separate judgments in memory, as a frame of the caller's kind.

        They are read once: a lazy frame or a stream may give its rows in another order next time.
        """
        if self.judgments_backend is None or self.judgment_columns is None:
            return NO_JUDGMENTS
        return SeparateJudgments(self.judgments_backend.in_memory(self.to_read), self.judgment_keys)

    def without_frames(self) -> Call:
        """Return the call without frames, to send to other processes, which get pieces of the frames."""
        given, empty_backend = self.plan.given, backend_of(NOTHING)
        # The conventions have the frames of these roles, already read.
        roles: Any = {**given.roles, **dict.fromkeys((*CHANCES, *DOCUMENT_TABLES))}
        judgments = None if given.judgments is None else (None, {**given.judgments[1], "proxy": None})
        given = replace(
            given,
            frame=NOTHING,
            roles=roles,
            judgments=judgments,
            backend=empty_backend,
            judgments_backend=None,
            proxy=None,
        )
        plan = replace(self.plan, given=given, backend=empty_backend, available=[], proxy=None)
        return replace(self, plan=plan, judgments_backend=None, proxy=None)


def bind(plan: Plan, needs: Needs) -> Call:
    """Return the call with these needs; raise for columns and conventions that do not go together.

    A plan caches its calls. A call has a copy of the plan: with the plan itself, a reference cycle would keep the
    caller's frame alive.
    """
    return plan.cached(needs, lambda: _checked(_unchecked(replace(plan), needs), needs))


def call_of_every_role(plan: Plan) -> Call:
    """Return the call that reads every role; raise for conventions that contradict each other."""
    return plan.cached(None, lambda: _call_of(replace(plan), None, plan.columns, None, plan.given.judgments_backend))


def _checked(call: Call, needs: Needs) -> Call:
    """Return a call as it is; raise for metrics that the verb cannot compute."""
    if needs.sets_of_lists and not (needs.verb is not None and needs.verb.takes_lists):
        raise NotComputableError(
            "catalogue_coverage, distributional_coverage and catalogue_gini have one value for all lists of a segment "
            "together, and none for a single query: use evaluate(), or compare() for systems"
        )
    return call


def _unchecked(plan: Plan, needs: Needs) -> Call:
    """Return the call with these needs; its metrics are not checked yet."""
    columns, given = needed_columns(plan, needs), plan.given
    if given.judgments is None or given.judgments_backend is None:
        return _call_of(plan, needs, columns, None, None)
    judgment_columns = resolve_judgments(given.judgments[1], given.judgments_backend.names(), given.roles, columns)
    return _call_of(
        plan, needs, columns, judgment_columns, _with_tuples(plan, columns, judgment_columns, given.judgments_backend)
    )


def _call_of(
    plan: Plan, needs: Needs | None, columns: Columns, judgment_columns: Columns | None, backend: Backend | None
) -> Call:
    """Return the call that reads these columns, with the same call of a machine's judgments, if there are such."""
    judgments = plan.given.judgments
    rule: Any = {} if judgments is None else {"several": judgments[1]["several"]}
    call = Call(
        plan=plan,
        needs=needs,
        columns=columns,
        judgment_columns=judgment_columns,
        conventions=conventions({**plan.roles, **rule}, columns, judgment_columns),
        judgments_backend=backend,
        unfolds=columns.unfolds or _holds_lists(judgment_columns, backend),
        proxy=None,
    )
    return call if plan.proxy is None or needs is None else replace(call, proxy=_of_proxy(plan.proxy, needs, columns))


def _holds_lists(columns: Columns | None, backend: Backend | None) -> bool:
    """Return True if a row of the separate judgments has lists of documents."""
    return columns is not None and backend is not None and backend.holds_lists(str(columns.doc))


def _of_proxy(plan: Plan, needs: Needs, columns: Columns) -> Call:
    """Return the call with the judgments of a machine; ``columns``: those of the call with the judgments of people."""
    with prefix_errors(PROXY_ERROR_PREFIX):
        call = _unchecked(plan, needs)
        if odd := sorted({*columns.shape.from_judgments} ^ {*call.columns.shape.from_judgments}):
            raise ColumnError(f"{odd[0]!r} is a column of the judgments of one side only; give both sides that column")
    return call


def _with_tuples(plan: Plan, columns: Columns, judgment_columns: Columns, backend: Backend) -> Backend:
    """Return the backend of the judgments; if their tuples are lists of documents, not ids, it reads them as lists."""
    named = [
        one
        for one in (judgment_columns.doc, judgment_columns.label, judgment_columns.grade)
        if one and one not in judgment_columns.shape.made
    ]
    tuples = [one for one in named if backend.container(one) == "tuple"]
    are_lists = (
        judgment_columns.doc not in tuples  # labels or grades are no ids
        or len(tuples) > 1  # documents, and a judgment of each
        # The label is made: all listed documents are relevant. The log has ids of another kind.
        or (judgment_columns.shape.made and not _ids_are_tuples(plan, columns))
    )
    return backend.with_lists(tuples) if tuples and are_lists else backend


def _ids_are_tuples(plan: Plan, columns: Columns) -> bool:
    """Return True if ids of the log are tuples."""
    doc = str(columns.doc)
    first = plan.backend.first_of(doc)
    first = next(iter(first), None) if doc in columns.shape.list_columns and first is not None else first
    return isinstance(first, tuple)
