"""Values become rows: groups and margins, long and wide, in a fixed order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.groups import groups_of_rankings
from frame_metrics.inputs import Array
from frame_metrics.metrics.names import Asked
from frame_metrics.stats.averages import intervals, within
from frame_metrics.verbs.measure import Measured, filled, tallies


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
    groups, places = groups_of_rankings(measured.log, margins)
    sums = tallies(measured, average)
    some = measured.evaluated
    cluster = None if measured.cluster is None else measured.cluster[some]
    columns: list[list[Array]] = []
    for segments, place in zip(groups.each, places, strict=True):
        count = len(segments)
        member = None if place is None or count == 1 else place[some]
        n = within(member, count, [one.defined for one in sums])
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.stack([one.finish(within(member, count, one.columns)) for one in sums])
        undefined = within(member, count, [one.undefined for one in sums])
        ends: list[Array] = [] if ci is None else list(intervals(sums, member, count, ci, resamples, seed, cluster))
        columns.append([np.where(n == 0, np.nan, value), n, undefined, *ends])
    tables = [np.concatenate(table, axis=1)[:, groups.order] for table in zip(*columns, strict=True)]
    averages = [one.average for one in sums]
    total = groups.total if margins else None
    return tidied(
        measured.asked, Averages(groups.key_rows(), total, tables, averages, _wide(measured, averages)), layout
    )


@dataclass(frozen=True, eq=False)
class Averages:
    """Averages that are to become rows.

    Parameters
    ----------
    keys : as an answer's, a row per group.
    total : which groups are totals; None without margins.
    tables : value, n, n_undefined and, with intervals, their ends, shape (metrics, groups) each.
    long : what each metric's rows say of its average.
    wide : what a row says that has them all.
    """

    keys: dict[str, Array]
    total: Array | None
    tables: list[Array]
    long: list[str]
    wide: str


def tidied(asked: Asked, averages: Averages, layout: str) -> Answer:
    """Return one row per group and metric, or one per group with a column per metric."""
    value, n, undefined, *ends = averages.tables
    groups, m = value.shape[1], len(asked)
    total = {} if averages.total is None else {"total": pl.Series("total", averages.total)}
    if layout == "wide":
        said = pl.Series([averages.wide]).new_from_index(0, groups)
        columns: dict[str, pl.Series] = {**total, "average": said, "n": whole(n.max(axis=0) if m else n)}
        for i, (name, _) in enumerate(asked):
            columns[name] = number(value[i])
            if ends:
                columns[f"{name}_low"], columns[f"{name}_high"] = number(ends[0][i]), number(ends[1][i])
        return Answer(averages.keys, columns)
    said = pl.Series(averages.long, dtype=pl.String)
    long = {
        **{name: pl.Series(np.repeat(marks.to_numpy(), m)) for name, marks in total.items()},
        **labels(asked, groups),
        "average": said if groups == 1 else said.gather(np.tile(np.arange(m), groups)),
        "value": number(value.T.ravel()),
        "n": whole(n.T.ravel()),
        "n_undefined": whole(undefined.T.ravel()),
    }
    if ends:
        long["ci_low"], long["ci_high"] = number(ends[0].T.ravel()), number(ends[1].T.ravel())
    return Answer({name: np.repeat(rows, m) for name, rows in averages.keys.items()}, long)


def _wide(measured: Measured, used: list[str]) -> str:
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
    log, grid = measured.log, measured.log.grid
    at = np.flatnonzero(measured.evaluated)
    (place,) = groups_of_rankings(log, margins=False)[1]
    if place is not None:
        at = at[np.lexsort((grid.query[at], place[at]))]
    keys = log.key_rows(system=grid.system[at], segment=grid.segment[at], query=grid.query[at])
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
    first = {name: types[name] for name in keys} | ({"total": pl.Boolean} if margins else {})
    ends = ("", "_low", "_high") if ci else ("",)
    wide = {name + end: pl.Float64 for name, _ in asked for end in ends}
    metric = {"metric": pl.String, "k": pl.Int64}
    if each_query:
        return first | (wide if layout == "wide" else metric | {"value": pl.Float64})
    if layout == "wide":
        return first | {"average": pl.String, "n": pl.Int64} | wide
    long = {"average": pl.String, "value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64}
    return first | metric | long | (dict.fromkeys(["ci_low", "ci_high"], pl.Float64) if ci else {})
