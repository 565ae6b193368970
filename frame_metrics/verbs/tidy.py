"""Values become rows: groups and margins, long and wide, in a fixed order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.columns import key_names
from frame_metrics.stats.averages import intervals, within
from frame_metrics.verbs.measure import Measured, filled, tallies


@dataclass(frozen=True, eq=False)
class Groups:
    """Rankings put together: a segment of a system, or a margin.

    Parameters
    ----------
    members : for each level (segments, then margins), the group of each ranking, shape (rankings,).
    counts : groups of each level.
    order : the groups of all levels in the order of the result.
    keys : for each key column the row that holds each group's value, in the order of the result.
    total : which groups are margins, in the order of the result.
    """

    members: list[Array]
    counts: list[int]
    order: Array
    keys: dict[str, Array]
    total: Array


def _rank_of(log: Log, keys: list[str], rows: Array) -> Array:
    """The place of each row when the rows are sorted by their key values, nulls last."""
    if not keys or not len(rows):
        return np.zeros(len(rows), np.int64)
    order = (
        log.keys_at(keys, rows).with_row_index("at").sort(keys, nulls_last=True, maintain_order=True)["at"].to_numpy()
    )
    rank = np.empty(len(rows), np.int64)
    rank[order] = np.arange(len(rows))
    return rank


def group(log: Log, margins: bool) -> Groups:
    """Return the groups that are averaged, in the order of the result: by system, segments before their margins."""
    grid, columns = log.grid, log.columns
    system_keys, by, _ = key_names(columns)
    systems, segments = len(grid.system_row) if columns.system else 1, len(grid.segment_row) if columns.by else 1
    system_rank = _rank_of(log, system_keys, grid.system_row) if system_keys else np.zeros(1, np.int64)
    segment_rank = _rank_of(log, by, grid.segment_row) if by else np.zeros(1, np.int64)
    segment_of = [np.arange(segments)]
    first_of = [np.arange(segments)]
    kept: list[set[str]] = [set(by)]
    if margins:
        for name in by if len(by) > 1 else []:
            code, at = _margin(log, name)
            segment_of.append(code)
            first_of.append(at)
            kept.append({name})
        segment_of.append(np.zeros(segments, np.int64))
        first_of.append(np.zeros(1, np.int64))
        kept.append(set())
    members, counts, sort_keys = [], [], []
    rows: dict[str, list[Array]] = {name: [] for name in (*([columns.system] if columns.system else []), *columns.by)}
    for level, (codes, first, names) in enumerate(zip(segment_of, first_of, kept, strict=True)):
        groups = len(first)
        members.append(grid.system * groups + codes[grid.segment] if segments else grid.system)
        counts.append(systems * groups)
        system, segment = np.divmod(np.arange(systems * groups), max(groups, 1))
        rank = segment_rank[segment] if level == 0 and segments else segment
        sort_keys.append(np.stack([system_rank[system], np.full(len(system), level), rank]))
        if columns.system:
            rows[columns.system].append(grid.system_row[system])
        for inside, name in zip(by, columns.by, strict=True):
            at = grid.segment_row[first][segment] if segments else segment
            rows[name].append(at if inside in names else np.full(len(at), NONE))
    keys = np.concatenate(sort_keys, axis=1)
    order = np.lexsort(keys[::-1])
    return Groups(
        members, counts, order, {k: log.rows(np.concatenate(v)[order]) for k, v in rows.items()}, keys[1][order] > 0
    )


def _margin(log: Log, key: str) -> tuple[Array, Array]:
    """Number the values of one segment column, over the segments."""
    rank = _rank_of(log, [key], log.grid.segment_row)
    order = np.argsort(rank)
    ordered = log.keys_at([key], log.grid.segment_row[order]).to_series()
    new = ordered.ne_missing(ordered.shift()).to_numpy().copy()
    new[:1] = True
    code = np.empty(len(order), np.int64)
    code[order] = np.cumsum(new) - 1
    return code, order[np.flatnonzero(new)]


def averaged(
    measured: Measured,
    average: str,
    *,
    layout: str,
    margins: bool = False,
    ci: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Answer:
    """Return one row per group and metric, or one per group with a column per metric."""
    groups = group(measured.log, margins)
    sums = tallies(measured, average)
    some = measured.evaluated
    cluster = None if measured.cluster is None else measured.cluster[some]
    value, n, undefined, low, high = [], [], [], [], []
    for member, count in zip(groups.members, groups.counts, strict=True):
        of = None if count == 1 else member[some]
        here = within(of, count, [t.defined for t in sums])
        with np.errstate(divide="ignore", invalid="ignore"):
            value.append(np.stack([t.finish(within(of, count, t.columns)) for t in sums]))
        value[-1][here == 0] = np.nan
        n.append(here)
        undefined.append(within(of, count, [t.undefined for t in sums]))
        if ci is not None:
            ends = intervals(sums, of, count, ci, resamples, seed, cluster)
            low.append(ends[0])
            high.append(ends[1])
    tables = [np.concatenate(t, axis=1)[:, groups.order] for t in (value, n, undefined, low, high) if t]
    shared = [t.average for t in sums]
    total = groups.total if margins else None
    return laid(measured.asked, Laid(groups.keys, total, tables, shared, _asked(measured, shared)), layout)


@dataclass(frozen=True, eq=False)
class Laid:
    """Averages that are to become rows.

    Parameters
    ----------
    keys : as an answer's, a row per group.
    total : which groups are margins; None without margins.
    tables : value, n, n_undefined and, with intervals, their ends, shape (metrics, groups) each.
    averages : what each metric's rows say of its average.
    said : what a row says that has them all.
    """

    keys: dict[str, Array]
    total: Array | None
    tables: list[Array]
    averages: list[str]
    said: str


def laid(asked: Asked, found: Laid, layout: str) -> Answer:
    """Return one row per group and metric, or one per group with a column per metric."""
    value, n, undefined, *ends = found.tables
    groups, m = value.shape[1], len(asked)
    total = {} if found.total is None else {"total": pl.Series("total", found.total)}
    if layout == "wide":
        said = pl.Series([found.said]).new_from_index(0, groups)
        columns: dict[str, pl.Series] = {**total, "average": said, "n": whole(n.max(axis=0) if m else n)}
        for i, (name, _) in enumerate(asked):
            columns[name] = number(value[i])
            if ends:
                columns[f"{name}_low"], columns[f"{name}_high"] = number(ends[0][i]), number(ends[1][i])
        return Answer(found.keys, columns)
    averages = pl.Series(found.averages, dtype=pl.String)
    long = {
        **{name: pl.Series(np.repeat(marks.to_numpy(), m)) for name, marks in total.items()},
        **labels(asked, groups),
        "average": averages if groups == 1 else averages.gather(np.tile(np.arange(m), groups)),
        "value": number(value.T.ravel()),
        "n": whole(n.T.ravel()),
        "n_undefined": whole(undefined.T.ravel()),
    }
    if ends:
        long["ci_low"], long["ci_high"] = number(ends[0].T.ravel()), number(ends[1].T.ravel())
    return Answer({k: np.repeat(v, m) for k, v in found.keys.items()}, long)


def _asked(measured: Measured, used: list[str]) -> str:
    """The average of a wide row: beside it counts are summed, and a metric's own name may say another average."""
    plain = [a for a, (_, metric) in zip(used, measured.asked, strict=True) if a != "sum" and not metric.average]
    return next((a for a in (*plain, *used) if a != "sum"), "sum")


def labels(asked: Asked, times: int) -> dict[str, pl.Series]:
    """Return the columns metric and k, repeated."""
    names = pl.Series([name for name, _ in asked], dtype=pl.String)
    k = pl.Series([metric.k for _, metric in asked], dtype=pl.Int64)
    if times == 1:
        return {"metric": names, "k": k}
    at = np.tile(np.arange(len(names)), times)
    return {"metric": names.gather(at), "k": k.gather(at)}


def number(values: Array) -> pl.Series:
    """Return numbers, NaN as null."""
    return pl.Series(np.ascontiguousarray(values, dtype=np.float64), nan_to_null=True)


def whole(values: Array) -> pl.Series:
    """Return counts."""
    return pl.Series(np.ascontiguousarray(values).astype(np.int64, copy=False))


def each_query(measured: Measured, layout: str) -> Answer:
    """Return one row per evaluated ranking and metric, or one per ranking with a column per metric."""
    log = measured.log
    grid, columns = log.grid, log.columns
    at = np.flatnonzero(measured.evaluated)
    system_keys, by, _ = key_names(columns)
    if system_keys or by:
        system = _rank_of(log, system_keys, grid.system_row)[grid.system[at]] if system_keys else np.zeros(len(at))
        segment = _rank_of(log, by, grid.segment_row)[grid.segment[at]] if by else np.zeros(len(at))
        at = at[np.lexsort((grid.query[at], segment, system))]
    keys = {columns.system: grid.system_row[grid.system[at]]} if columns.system else {}
    if by:
        keys |= dict.fromkeys(columns.by, grid.segment_row[grid.segment[at]])
    keys |= dict.fromkeys(columns.query, grid.query_row[grid.query[at]])
    keys = {str(name): log.rows(rows) for name, rows in keys.items()}
    values = [filled(measured, i)[at] for i in range(len(measured.asked))]
    if layout == "wide":
        return Answer(keys, {name: number(v) for (name, _), v in zip(measured.asked, values, strict=True)})
    m = len(values)
    long = {**labels(measured.asked, len(at)), "value": number(np.stack(values).T.ravel())}
    return Answer({k: np.repeat(v, m) for k, v in keys.items()}, long)


def schema(
    asked: Asked,
    keys: Sequence[str],
    types: Mapping[str, Any],
    *,
    layout: str,
    ci: bool = False,
    margins: bool = False,
    each_query: bool = False,
) -> dict[str, Any]:
    """Return the columns of a result and their polars types, known before anything is read.

    Parameters
    ----------
    keys : the key columns.
    types : the types of the caller's columns.
    each_query : whether queries are rows; else they are averaged.
    """
    found = {name: types[name] for name in keys} | ({"total": pl.Boolean} if margins else {})
    ends = ("", "_low", "_high") if ci else ("",)
    wide = {name + end: pl.Float64 for name, _ in asked for end in ends}
    metric = {"metric": pl.String, "k": pl.Int64}
    if each_query:
        return found | (wide if layout == "wide" else metric | {"value": pl.Float64})
    if layout == "wide":
        return found | {"average": pl.String, "n": pl.Int64} | wide
    long = {"average": pl.String, "value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64}
    return found | metric | long | (dict.fromkeys(["ci_low", "ci_high"], pl.Float64) if ci else {})
