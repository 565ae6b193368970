"""Saved numbers as the baseline of a comparison: those of another frame, matched to this one's by segment and query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.border.frames import border_of
from frame_metrics.border.protocol import Beside
from frame_metrics.data.grid import Grid, with_another
from frame_metrics.data.groups import as_text
from frame_metrics.data.judgments import kind_of_ids, wider
from frame_metrics.data.log import Log
from frame_metrics.errors import BadRowsError, BadValueError, ColumnError, FrameMetricsError, listed
from frame_metrics.inputs import Array
from frame_metrics.metrics.names import Asked, metric_of
from frame_metrics.roles.columns import Columns, key_names
from frame_metrics.roles.roles import Roles
from frame_metrics.verbs import values
from frame_metrics.verbs.measure import Measured
from frame_metrics.verbs.pairs import Pairing, all_filled, in_order
from frame_metrics.verbs.request import Plan, Reading, Request

NAME = "saved"  # the baseline's, where no column says its system


def is_frame(baseline: Any) -> bool:
    """Return True for a baseline that is a frame of saved numbers, or one with its roles, and no system."""
    if isinstance(baseline, list | tuple) and any(map(is_frame, baseline)):
        raise BadValueError("baseline= is a system, a list of systems, or one frame of saved numbers; give one frame")
    try:
        return isinstance(baseline, Request) or bool(border_of(baseline))
    except FrameMetricsError:
        return False


@contextmanager
def _of_the_baseline() -> Iterator[None]:
    """Let errors say that they are about the baseline, whose rows are not those of the frame."""
    try:
        yield
    except FrameMetricsError as error:
        cause = BadValueError if isinstance(error, BadRowsError) else type(error)
        raise cause(f"baseline: {error}") from None


def plan_of(baseline: Any, plan: Plan, asked: Asked) -> Plan:
    """Find the columns of saved numbers: called as those of the frame, or else as the roles, or as their roles say.

    Parameters
    ----------
    baseline : the frame, or a request that has its roles too.
    plan : that of the frame that is compared.
    asked : the metrics that are compared.
    """
    with _of_the_baseline():
        if isinstance(baseline, Request):
            request = _checked(baseline, plan.columns)
        else:
            request = Request(baseline, _roles(border_of(baseline).names(), plan, asked), None)
        values.asked_of([name for name, _ in asked], request.columns)
        return values.plan_of(request)


def _checked(request: Request, own: Columns) -> Request:
    """The request of a baseline, if it has numbers, and as many columns of a query as the frame."""
    if not request.of_values:
        raise ColumnError(
            "it has no value=, and compare() takes numbers that were computed; give what per_query() returned"
        )
    theirs = request.columns
    if len(theirs.query) != len(own.query):
        raise ColumnError(f"its query is {len(theirs.query)} columns, and that of the frame {len(own.query)}")
    if theirs.by != own.by:
        raise ColumnError(f"its segments are by={list(theirs.by)}, and those of the frame by={list(own.by)}")
    return request


def _roles(available: list[str], plan: Plan, asked: Asked) -> Roles:
    """The roles of the columns of a frame of saved numbers."""
    own, alone = plan.columns, "query" in available and len(plan.columns.query) == 1
    query = own.query if set(own.query) <= set(available) else ("query",) if alone else own.query
    lacking = [column for column in (*query, *own.by) if column not in available]
    if lacking and "total_over" not in available:
        role = "query" if lacking[0] in query else "by"
        raise ColumnError(
            f"it has no column {lacking[0]!r} among {listed(available)}, which is the frame's {role}; "
            f"it has to be what per_query() returned, or name its columns, as baseline=saved.irm({role}=..., value=...)"
        )
    system = own.system or "system"
    said: Roles = {"query": list(query), "value": _value(available, {*query, *own.by, system}, asked)}
    if own.by:
        said["by"] = list(own.by)
    if system in available and system not in (*query, *own.by):
        said["system"] = system
    if undefined := plan.request.roles.get("undefined"):
        said["undefined"] = undefined
    return said


def _value(available: list[str], keys: set[str], asked: Asked) -> list[str]:
    """The columns of numbers: that of a long frame, or those that are called as the metrics."""
    if {"metric", "value"} <= set(available):
        return ["value"]
    wanted = {str(replace(metric, average=None)) for _, metric in asked}
    found = [column for column in available if column not in keys and str(metric_of(column)) in wanted]
    if not found:
        raise ColumnError(
            f"nothing has the numbers of {asked[0][0]!r} among {listed(available)}; it has to be what per_query() "
            "returned, with columns 'metric' and 'value', or with one for each metric"
        )
    return found


def paired_with(here: Measured, plan: Plan) -> Pairing:
    """Pair each system with saved numbers, query by query.

    Queries that only one side has are not compared, and counted.
    """
    with _of_the_baseline():
        there = _read(plan, here.asked)
    at, beyond = _matched(here.log, there.log)
    grid, n = here.log.grid, len(at)
    first = np.unique(grid.pair, return_index=True)[1]

    def on_pairs(ours: Array, theirs: Array, fill: Any) -> Array:
        return np.append(ours, np.where(at < 0, fill, np.append(theirs, fill)[at]))

    pairs = zip(here.values, there.values, strict=True)
    known = here.evaluated if here.absent is None else here.evaluated & ~here.absent
    both = replace(
        here,
        log=replace(here.log, grid=with_another(grid)),
        values=np.array([on_pairs(ours, theirs, np.nan) for ours, theirs in pairs]),
        evaluated=np.append(here.evaluated, np.ones(n, bool)),
        weight=None if here.weight is None else np.append(here.weight, here.weight[first]),
        cluster=None if here.cluster is None else np.append(here.cluster, here.cluster[first]),
        absent=np.append(np.zeros(len(grid.pair), bool) if here.absent is None else here.absent, at < 0),
    )
    filled = zip(all_filled(here), all_filled(there), strict=True)
    order, segments = in_order(here.log)
    return Pairing(
        both,
        [on_pairs(ours, theirs, np.nan) for ours, theirs in filled],
        np.append(known, at >= 0),
        segments,
        [(int(system), len(grid.system_row)) for system in order],
        _name(there.log),
        beyond,
    )


def _read(plan: Plan, asked: Asked) -> Measured:
    """Read saved numbers of one system."""
    border, needed = plan.request.border, plan.columns.needed
    table = border.in_memory(needed).read(needed)
    there = values.measured(Reading(plan, table, Beside(None, {})), values.unfilled(asked))
    if len(there.log.grid.system_row) > 1:
        names = there.log.keys_at(["system"], there.log.grid.system_row)["system"].to_list()
        raise BadValueError(
            f"{plan.columns.system}: it has several systems, {listed(names[:5])}, and each query is compared with one "
            "number; keep the rows of one system"
        )
    return there


def _name(log: Log) -> str:
    """The name of a saved baseline: that of its system, where a column says it."""
    rows = log.grid.system_row
    if log.columns.system is None or not len(log.table):
        return NAME
    return as_text(log.keys_at(["system"], rows))


def _keys(log: Log, first: Array) -> pl.DataFrame:
    """The segment and query of some rankings."""
    grid, (_, by, query) = log.grid, key_names(log.columns)
    keys = log.keys_at(query, grid.query_row[grid.query[first]])
    return keys.hstack(log.keys_at(by, grid.segment_row[grid.segment[first]])) if by else keys


def _matched(here: Log, there: Log) -> tuple[Array, Array]:
    """Match saved numbers to the queries of the frame.

    Returns
    -------
    The ranking of the saved numbers for each pair of a segment and a query of the frame, -1 for none, shape (pairs,),
    and the number of queries that only the saved numbers have, shape (segments,).
    """
    grid = here.grid
    first = np.unique(grid.pair, return_index=True)[1]
    ours, theirs = _alike(
        _keys(here, first), _keys(there, np.arange(len(there.grid.pair))), here.columns, there.columns
    )
    keys = ours.columns
    found = ours.join(theirs.with_row_index("at"), on=keys, how="left", nulls_equal=True, maintain_order="left")["at"]
    if len(ours) and len(theirs) and found.null_count() == len(found):
        raise BadValueError(
            f"baseline: it shares no {'segment and query' if here.columns.by else 'query'} with the frame "
            f"(the frame has ({as_text(ours)}), the baseline ({as_text(theirs)})); do both write ids the same way?"
        )
    rest = theirs.join(ours, on=keys, how="anti", nulls_equal=True)
    return found.cast(pl.Int64).fill_null(-1).to_numpy(), _by_segment(rest, ours, grid, first, here.columns)


def _by_segment(rest: pl.DataFrame, ours: pl.DataFrame, grid: Grid, first: Array, columns: Columns) -> Array:
    """The number of rows of each segment; raise for one that the frame does not have."""
    by, n = key_names(columns)[1], len(grid.segment_row)
    if not by:
        return np.full(n, len(rest))
    known = ours.select(by).with_columns(segment=pl.Series(grid.segment[first])).unique(by)
    segment = rest.join(known, on=by, how="left", nulls_equal=True, maintain_order="left")["segment"]
    if segment.null_count():
        odd = rest.filter(segment.is_null()).select(by)
        raise BadValueError(
            f"baseline: {odd.n_unique()} of its segments stand not in the frame, as {', '.join(columns.by)} = "
            f"{as_text(odd)}; leave their rows out, or say by=None"
        )
    return np.bincount(segment.to_numpy(), minlength=n)


def _alike(ours: pl.DataFrame, theirs: pl.DataFrame, own: Columns, saved: Columns) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Keys of both in types that are compared; raise for types that are never equal."""
    names = dict(zip(ours.columns, zip((*own.query, *own.by), (*saved.query, *saved.by), strict=True), strict=True))
    for key, (name, other) in names.items():
        one, two = ours.schema[key], theirs.schema[key]
        if pl.Null not in (one, two) and kind_of_ids(one) != kind_of_ids(two):
            raise BadValueError(f"baseline: its {other} is {two}, and {name} of the frame is {one}; give both one type")
        held = two if one == pl.Null else one if two == pl.Null else wider(one, two)
        ours, theirs = (table.with_columns(pl.col(key).cast(held)) for table in (ours, theirs))
    return ours, theirs
