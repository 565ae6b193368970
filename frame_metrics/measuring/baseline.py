"""Saved numbers in another frame, as the baseline of a comparison: matched by segment and query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.protocol import Backend
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    FrameMetricsError,
    NotComputableError,
    UnknownNameError,
    listed,
    prefix_errors,
)
from frame_metrics.inputs import Array, name_of_function
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups, as_text, rows_in
from frame_metrics.keys.ids import SAME_WAY, first_nearly_equal, in_common_type
from frame_metrics.keys.index import Index
from frame_metrics.keys.leading_zeros import other_zeros, queries_with_other_zeros
from frame_metrics.keys.spelling import in_quotes, nearly_equal
from frame_metrics.measuring import saved_values
from frame_metrics.measuring.pairs import Pairing, all_filled
from frame_metrics.measuring.values import Values
from frame_metrics.metrics.names import Asked
from frame_metrics.metrics.saved_names import is_known, metric_of
from frame_metrics.plan.call import Call, call_of_every_role
from frame_metrics.plan.declared import BASELINE
from frame_metrics.plan.given import Given, given_of
from frame_metrics.plan.plan import Plan, plan_of
from frame_metrics.plan.source import read_whole
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.resolve import ROW
from frame_metrics.roles.roles import Roles

LAMBDA = "<lambda>"  # Python's name of a function without a name
THIS: ContextVar[str] = ContextVar("THIS", default="this frame")  # the name of the frame beside saved numbers
NAME = "saved"  # the name of the baseline in results, if no column names its system


def is_frame(baseline: Any) -> bool:
    """Return True if ``baseline=`` is a frame (or a frame with roles), False if it names a system."""
    if baseline is None:
        return False
    if isinstance(baseline, list | tuple) and any(map(is_frame, baseline)):
        raise BadValueError("baseline= is a system, a list of systems, or one frame of saved numbers; give one frame")
    try:
        return isinstance(baseline, Given) or bool(backend_of(baseline))
    except FrameMetricsError:
        return False


def saved_call(baseline: Any, call: Plan | Call, asked: Asked | None, *, audited: bool = False) -> Call:
    """Return the call of a frame of saved numbers.

    Its columns have the names of the caller's columns, or the names of roles, unless the baseline has roles itself.

    Parameters
    ----------
    baseline : the frame, or a frame with roles.
    call : the plan or call of the frame that is compared with it.
    asked : the metrics to compare; None for all.
    audited : whether only queries are matched, so that a metric may be missing.
    """
    for name, metric in asked or ():
        if any(name_of_function(function) == LAMBDA for function in metric.functions.values()):
            raise NotComputableError(f"{name}: a saved number does not say which function it is of; name it with def")
    with prefix_errors("baseline"):
        if ROW in call.columns.shape.made:
            raise ColumnError(
                "the frame has no query, and its row numbers do not match those of another frame; "
                "name query=, a column that both have"
            )
        if isinstance(baseline, Given):
            conventions: Any = {name: value for name in ("unanswered",) if (value := call.roles.get(name))}
            plan = _checked(
                baseline.without_judgments(baseline.roles | conventions) if conventions else baseline, call.columns
            )
        else:
            plan = plan_of(given_of(baseline, _roles(backend_of(baseline), call, asked)))
        if asked is not None and not audited:
            _check_asked(asked, plan.columns)
        return call_of_every_role(plan)


def _check_asked(asked: Asked, columns: Columns) -> None:
    """Raise for a metric of which the baseline has no column."""
    try:
        saved_values.asked_of([name for name, _ in asked], columns)
    except UnknownNameError as error:
        alone = len(asked) == len(columns.value) == 1
        way = f"; if they are one metric, rename {columns.value[0]!r} to {asked[0][0]!r}" if alone else ""
        raise UnknownNameError(f"{error}{way}") from None


def _checked(baseline: Given, frame_columns: Columns) -> Plan:
    """Return the plan of a baseline with roles; raise if it has no ``value=``, or other keys than the frame."""
    if not baseline.has_saved_numbers:
        raise ColumnError(
            "it has no value=, and only numbers that were computed can be a baseline; give what per_query() returned"
        )
    plan = plan_of(baseline)
    check_theirs(baseline.roles, plan.columns, frame_columns)
    return plan


def check_theirs(roles: Roles, theirs: Columns, frame_columns: Columns) -> None:
    """Raise if a baseline has a role that it cannot have, or other keys than the frame.

    Parameters
    ----------
    roles : the roles of the baseline, as they were named.
    theirs, frame_columns : the roles of the columns of the baseline, and of the frame.
    """
    BASELINE.kinds["numbers"].refuse(roles)
    if len(theirs.query) != len(frame_columns.query):
        raise ColumnError(f"its query is {len(theirs.query)} columns, and that of the frame {len(frame_columns.query)}")
    if theirs.by != frame_columns.by:
        shared = {*theirs.by} & {*frame_columns.by}
        odd = [pair for pair in zip(theirs.by, frame_columns.by, strict=False) if not shared & {*pair}]
        own, wanted = odd[0] if odd else ("", "")
        way = f"; give them one name, as with by=pl.col({own!r}).alias({wanted!r}) there" if odd else ""
        raise ColumnError(
            f"its segments are by={list(theirs.by)}, and those of the frame by={list(frame_columns.by)}{way}"
        )


def _roles(backend: Backend, call: Plan | Call, asked: Asked | None) -> Roles:
    """Return the roles of the columns of a frame of saved numbers that was given without roles."""
    available = backend.names()
    of_frame, query = call.columns, call.columns.query
    if not set(query) <= set(available) and "query" in available and len(query) == 1:
        query = ("query",)
    lacking = [column for column in (*query, *of_frame.by) if column not in available]
    if lacking and "total_over" not in available:
        role, there = ("query" if lacking[0] in query else "by"), f"{listed(available)}{backend.hint(lacking[0])}"
        raise ColumnError(
            f"it has no column {lacking[0]!r}, the frame's {role}, among {there}; it has to be what per_query() "
            f"returned, or name its columns, as baseline=saved.irm({role}=..., value=...)"
        )
    system = of_frame.system or "system"
    roles: Roles = {"query": list(query), "value": _value(available, {*query, *of_frame.by, system}, asked)}
    if of_frame.by:
        roles["by"] = list(of_frame.by)
    if system in available and system not in (*query, *of_frame.by):
        roles["system"] = system
    conventions: Any = {name: call.roles[name] for name in ("undefined", "unanswered") if call.roles.get(name)}
    return roles | conventions


def _value(available: list[str], keys: set[str], asked: Asked | None) -> list[str]:
    """Return the columns of numbers: "value" of a long frame, or the columns that have the names of metrics.

    ``keys``: the key columns, which hold no numbers of metrics.
    """
    if {"metric", "value"} <= set(available):
        return ["value"]
    wanted = None if asked is None else {str(replace(metric, average=None)) for _, metric in asked}
    named = {column: metric_of(column) for column in available if column not in keys and isinstance(column, str)}
    found = [one for one, metric in named.items() if (is_known(metric) if wanted is None else str(metric) in wanted)]
    if not found:
        of = repr(asked[0][0]) if asked else "a metric"
        raise ColumnError(
            f"nothing has the numbers of {of} among {listed(available)}; it has to be what per_query() "
            "returned, with columns 'metric' and 'value', or with a column called as each metric"
        )
    return found


def paired_with(here: Values, call: Call) -> Pairing:
    """Pair each system with the saved numbers, query by query.

    The saved numbers become one more system of ``here``, the last. Queries that only one side has are not compared, but
    counted. ``call``: the call of the saved numbers.
    """
    there = read_saved(call, saved_values.unfilled(here.asked))
    index = here.index
    if index.columns.system and not len(index.systems):
        raise NotComputableError(f"{index.columns.system} has no systems to compare with a baseline")
    match = match_saved(index, there.index)
    n_only_in_baseline, at, first = match.n_only_in_baseline(), match.at, index.first_of_segment_queries

    # The rankings of ``both`` are those of the log, then one of the saved system for each (segment, query) of the log.
    def with_same(values: Array | None) -> Array | None:
        """Append what the log has for the query: the saved system has no weights and clusters of its own."""
        return None if values is None else np.append(values, values[first])

    def with_saved(ours: Array, theirs: Array, fill: Any) -> Array:
        """Append what the saved system has for the query, ``fill`` if it lacks the query."""
        return np.append(ours, np.where(at < 0, fill, np.append(theirs, fill)[at]))

    without_value, saved_without_value = (
        np.zeros(side.value.shape, bool) if side.without_value is None else side.without_value for side in (here, there)
    )
    both = replace(
        here,
        index=index.with_one_more_system(),
        value=np.array([with_saved(*sides, np.nan) for sides in zip(here.value, there.value, strict=True)]),
        evaluated=np.append(here.evaluated, np.ones(len(at), bool)),
        weight=with_same(here.weight),
        cluster=with_same(here.cluster),
        fills=None,  # ``filled`` below has them already
        without_value=np.array(
            [with_saved(*sides, True) for sides in zip(without_value, saved_without_value, strict=True)]
        ),
        unanswered=with_saved(here.unanswered, there.unanswered, True),
    )
    with prefix_errors("baseline"):
        filled = list(zip(all_filled(here), all_filled(there), strict=True))
    return Pairing(
        both,
        [with_saved(*sides, np.nan) for sides in filled],
        index.segments.by_value,
        [(int(system), len(index.systems)) for system in index.systems.by_value],
        name_of_saved(there.index),
        n_only_in_baseline,
    )


def read_saved(call: Call, asked: Asked | None = None) -> Values:
    """Read the saved numbers, which must be of one system; ``asked=None``: of all metrics that it has."""
    with prefix_errors("baseline"):
        there = saved_values.saved_values_of(read_whole(call), asked)
        check_one_system(there.index, call)
        return there


def check_one_system(there: Index, call: Call) -> None:
    """Raise for a baseline of several systems."""
    if len(there.systems) > 1:
        raise BadValueError(
            f"{call.columns.system}: it has several systems, {listed(there.system_names[:5])}, and each query is "
            "compared with one number; keep the rows of one system"
        )


def name_of_saved(index: Index) -> str:
    """Return the name of a saved baseline: the value of its system column, else "saved"."""
    if index.columns.system is None or not len(index):
        return NAME
    return as_text(index.systems.values)


@record
class Match:
    """Saved numbers matched to the queries of a frame."""

    here: Index
    ours: pl.DataFrame  # the distinct (segment, query) pairs of the frame
    theirs: pl.DataFrame  # the segment and the query of each ranking with saved numbers
    at: Array  # the index of the saved ranking that matches each pair of the frame, -1 for none, shape (pairs,)

    @cached_property
    def only_in_baseline(self) -> pl.DataFrame:
        """The saved rankings without a match in the frame, as segment and query."""
        keys = self.ours.columns
        return self.theirs.join(self.ours, on=keys, how="anti", nulls_equal=True, maintain_order="left")

    def n_only_in_baseline(self) -> Array:
        """Count the saved rankings without a match in each segment, shape (segments,).

        Raises
        ------
        BadValueError
            Nothing matches, ids have other leading zeros, or a saved segment is not in the frame.
        """
        columns, index = self.here.columns, self.here
        if len(self.ours) and len(self.theirs) and (self.at < 0).all():
            raise no_common_id(self.ours, self.theirs, "segment and query" if columns.by else "query")
        self._check_leading_zeros()
        by, n = columns.internal_by_role[1], len(index.segments)
        if not by:
            return np.full(max(n, 1), len(self.only_in_baseline))
        number, first = np.unique(index.segment[index.first_of_segment_queries], return_index=True)
        at = _segments_of(self.only_in_baseline.select(by), self.ours.select(by)[first], columns.by)
        return np.bincount(number[at], minlength=n)

    def _check_leading_zeros(self) -> None:
        """Raise for queries that the saved numbers have with other leading zeros only."""
        query = self.here.columns.internal_by_role[2]
        only_here, only_there = (
            table.select(query)
            .join(other, on=query, how="anti", nulls_equal=True, maintain_order="left")
            .unique(maintain_order=True)
            for table, other in ((self.ours.filter(self.at < 0), self.theirs), (self.only_in_baseline, self.ours))
        )
        if found := queries_with_other_zeros(only_here, only_there):
            with prefix_errors("baseline"):
                name = ", ".join(self.here.columns.query)
                raise other_zeros(name, "some queries of the frame are in it", found[1], "unpaired")

    def n_unpaired(self) -> Array:
        """Count the unmatched queries of both sides in each segment; raise as ``n_only_in_baseline`` does."""
        only_there, index = self.n_only_in_baseline(), self.here
        only_here = index.segment[index.first_of_segment_queries][self.at < 0]
        return only_there + np.bincount(only_here, minlength=len(only_there))

    def turnover(self) -> Turnover:
        """Count the distinct queries that match in some segment, and those of each side that do not in some segment."""
        only_here, only_there = self.ours.filter(self.at < 0), self.only_in_baseline
        query = self.here.columns.internal_by_role[2]
        tables = (self.ours.filter(self.at >= 0), self.ours, self.theirs, only_here, only_there)
        common, here, there, *only = (table.select(query).n_unique() for table in tables)
        ours, theirs = (table.select(query).unique(maintain_order=True) for table in (only_here, only_there))
        example = 0, ""
        if (near := nearly_equal(ours, theirs)) is not None:
            once = near[1].is_unique()  # a query that is like several others differs from them by case, on purpose
            pairs = [pair.filter(once) for pair in near]
            if len(pairs[0]):
                example = len(pairs[0]), " and ".join(in_quotes(ours.row(pairs[0][0]), theirs.row(pairs[1][0])))
        return Turnover(common, here, there, (only[0], as_text(only_here)), (only[1], as_text(only_there)), example)


def _segments_of(rows: pl.DataFrame, segments: pl.DataFrame, by: Sequence[str]) -> Array:
    """Return the number of each saved row's segment; raise for one that is not in the frame.

    Parameters
    ----------
    rows : the segment of each row.
    segments : the segments of the frame.
    by : the caller's names of the columns, for the error.
    """
    at = rows_in(segments, rows)
    if (at < 0).any():
        odd = rows.filter(pl.Series(at < 0))
        some = f"{n} saved segment is" if (n := odd.n_unique()) == 1 else f"{n} saved segments are"
        raise BadValueError(
            f"baseline: {some} not in the frame, as {', '.join(by)} = {as_text(odd)}; leave their rows out, or pass "
            "by=None"
        )
    return at


def same_segment(segments: CellGroups, there: Index) -> Array:
    """Return the number of the frame's segment for each saved segment; raise for one that is not in the frame.

    ``segments``: those of the frame, by the columns that the saved numbers have too.
    """
    by, theirs = segments.keys, there.columns.internal_by_role[1]
    if not by:
        return np.zeros(len(there.segments), np.int64)
    saved = there.segments.values
    ours = pl.DataFrame({own: segments.values(name) for own, name in zip(theirs, by, strict=True)})
    names = dict(zip(theirs, zip(by, there.columns.by, strict=True), strict=True))
    ours, saved = in_common_types(ours, saved, names)
    return _segments_of(saved, ours, by)


def every_segment(segments: CellGroups, there: Index) -> tuple[Array, pl.DataFrame]:
    """Return the number of each saved segment, and all segments: those of the frame, then those only saved.

    Raises
    ------
    BadValueError
        A saved segment is not in the frame, and its value is none that the frame's column can hold.
    """
    ours = pl.DataFrame({name: segments.values(name) for name in segments.keys})
    saved = there.segments.values.rename(dict(zip(there.columns.internal_by_role[1], ours.columns, strict=True)))
    names = dict(zip(ours.columns, zip(segments.keys, there.columns.by, strict=True), strict=True))
    of_frame, saved = in_common_types(ours, saved, names)
    new = saved.join(of_frame, on=of_frame.columns, how="anti", nulls_equal=True).unique(maintain_order=True)
    try:
        values = pl.concat([ours, new.cast(dict(ours.schema))])  # type: ignore[arg-type]
    except pl.exceptions.PolarsError:
        return _segments_of(saved, of_frame, segments.keys), ours
    return _segments_of(saved, pl.concat([of_frame, new]), segments.keys), values


def same_query(here: Index, there: Index) -> Array:
    """Return the number of the frame's query for each saved query, -1 for one that the frame has not."""
    own, theirs = here.columns.internal_by_role[2], there.columns.internal_by_role[2]
    ours, saved = here.queries.values, there.queries.values
    names = dict(zip(own, zip(here.columns.query, there.columns.query, strict=True), strict=True))
    ours, saved = in_common_types(ours, saved.rename(dict(zip(theirs, own, strict=True))), names)
    return rows_in(ours, saved)


def no_common_id(ours: pl.DataFrame, theirs: pl.DataFrame, what: str) -> BadValueError:
    """Return the error for a frame and a baseline without a common id; ``what``: the kind of ids."""
    more = "; change() compares a period with saved numbers of other queries" if what == "query" else ""
    one, other, way = first_nearly_equal(ours, theirs) or (as_text(ours), as_text(theirs), SAME_WAY)
    return BadValueError(
        f"baseline: it shares no {what} with the frame (the frame has ({one}), the baseline ({other})); {way}{more}"
    )


def match_saved(here: Index, there: Index) -> Match:
    """Match saved numbers to the (segment, query) pairs of a frame; raise if the types of their ids cannot match."""
    _, by, query = here.columns.internal_by_role
    ours, theirs = here.keys_of([*query, *by], here.first_of_segment_queries), there.keys_of([*query, *by])
    own, saved_as = here.columns, there.columns
    names = zip((*own.query, *own.by), (*saved_as.query, *saved_as.by), strict=True)
    ours, theirs = in_common_types(ours, theirs, dict(zip(ours.columns, names, strict=True)))
    return Match(here, ours, theirs, rows_in(theirs, ours))


def in_common_types(
    ours: pl.DataFrame, theirs: pl.DataFrame, names: Mapping[str, tuple[str | None, str | None]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the key columns of both, each cast to a common type; raise if there is none.

    ``names``: for each column its name in the frame and in the baseline, for errors.
    """
    for key, (name, other) in names.items():
        mine, saved = in_common_type(ours[key], theirs[key], f"{name} of the frame", f"{other} of the baseline")
        ours, theirs = ours.with_columns(mine), theirs.with_columns(saved)
    return ours, theirs


class Turnover(NamedTuple):
    """Counts of distinct queries in a frame and in its saved baseline.

    A query may match in one segment and not in another; then it counts as common and as unmatched.
    """

    common: int  # in both
    here: int  # in the frame
    there: int  # in the baseline
    only_here: tuple[int, str]  # only in the frame: their number, and the first with its segment
    only_there: tuple[int, str]  # only in the baseline: the same
    near: tuple[int, str]  # those only in the frame that the baseline spells otherwise: their number, and the first
