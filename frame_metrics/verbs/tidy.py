"""Tidy rows of values: groups and margins, long and wide, in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.groups import Groups, groups_of, segments_of
from frame_metrics.inputs import Array
from frame_metrics.metrics.names import Asked
from frame_metrics.stats.averages import intervals, within
from frame_metrics.verbs.measure import Measured, filled, tallies


@dataclass(frozen=True)
class Options:
    """Options of averages; the verb evaluate has the parameters."""

    average: str = "macro"
    ci: float | None = None
    margins: bool = False
    layout: str = "long"
    resamples: int = 1000
    seed: int = 0


def averaged(measured: Measured, options: Options | None = None) -> Answer:
    """Return one row per group and metric, or one per group with a column per metric."""
    options = options or Options()
    log, some = measured.log, measured.evaluated
    groups, cell = groups_of(log.cells, options.margins), log.grid.cell[some]
    sums = tallies(measured, options.average)
    cluster = None if measured.cluster is None else measured.cluster[some]
    counted = [*(one.defined for one in sums), *(one.undefined for one in sums)]
    columns = [*counted, *(column for one in sums for column in one.columns)]
    ends = np.cumsum([len(sums), len(sums), *(len(one.columns) for one in sums)])[:-1]
    tables: list[list[Array]] = []
    for segments in groups.each:
        count = len(segments)
        member = None if count == 1 else segments.place[cell]
        n, undefined, *each = np.split(within(member, count, columns), ends)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.stack([one.finish(own) for one, own in zip(sums, each, strict=True)])
        table = [np.where(n == 0, np.nan, value), n, undefined]
        if options.ci is not None:
            table += [*intervals(sums, member, count, options.ci, options.resamples, options.seed, cluster)]
        tables.append(table)
    averages = [one.average for one in sums]
    return tidied(measured.asked, options, groups, tables, averages, _wide(measured, averages))


def tidied(
    asked: Asked, options: Options, groups: Groups, tables: list[list[Array]], averages: list[str], wide: str
) -> Answer:
    """Return one row per group and metric, or one per group with a column per metric.

    Parameters
    ----------
    tables : of the segments, then of the totals over them: value, n, n_undefined and, with intervals, their ends, shape
        (metrics, groups) each.
    averages : the average of each metric.
    wide : the average of a row that holds all metrics.
    """
    value, n, undefined, *ends = (np.concatenate(table, axis=1)[:, groups.order] for table in zip(*tables, strict=True))
    keys, count, m = groups.key_rows(), value.shape[1], len(asked)
    total = {"total": pl.Series("total", groups.total)} if options.margins else {}
    if options.layout == "wide":
        said = pl.Series([wide]).new_from_index(0, count)
        columns: dict[str, pl.Series] = {**total, "average": said, "n": whole(n.max(axis=0) if m else n)}
        for i, (name, _) in enumerate(asked):
            columns[name] = number(value[i])
            if ends:
                columns[f"{name}_low"], columns[f"{name}_high"] = number(ends[0][i]), number(ends[1][i])
        return Answer(keys, columns)
    at = np.tile(np.arange(m), count)
    long = {name: pl.Series(np.repeat(marks.to_numpy(), m)) for name, marks in total.items()}
    long |= labels(asked, at, averages)
    long |= {"value": number(value.T.ravel()), "n": whole(n.T.ravel()), "n_undefined": whole(undefined.T.ravel())}
    if ends:
        long["ci_low"], long["ci_high"] = number(ends[0].T.ravel()), number(ends[1].T.ravel())
    return Answer({name: np.repeat(rows, m) for name, rows in keys.items()}, long)


def _wide(measured: Measured, used: list[str]) -> str:
    """The average of a wide row: beside it counts are summed, and a metric's own name may say another average."""
    plain = [a for a, (_, metric) in zip(used, measured.asked, strict=True) if a != "sum" and not metric.average]
    return next((a for a in (*plain, *used) if a != "sum"), "sum")


def labels(asked: Asked, at: Array, averages: list[str] | None = None) -> dict[str, pl.Series]:
    """Return the columns metric and k, and average if there are any, of the metric that each row is about."""
    each = {"metric": [name for name, _ in asked], "k": [metric.k for _, metric in asked]}
    each |= {} if averages is None else {"average": averages}
    return pl.DataFrame(each, schema_overrides={"metric": pl.String, "k": pl.Int64})[at].to_dict()


def number(values: Array) -> pl.Series:
    """Return numbers, NaN as null."""
    return pl.Series(np.ascontiguousarray(values, dtype=np.float64), nan_to_null=True)


def whole(values: Array) -> pl.Series:
    """Return counts."""
    return pl.Series(np.ascontiguousarray(values).astype(np.int64, copy=False))


def each_query(measured: Measured, layout: str = "long") -> Answer:
    """Return one row per evaluated ranking and metric, or one per ranking with a column per metric."""
    log, grid = measured.log, measured.log.grid
    at = np.flatnonzero(measured.evaluated)
    if log.columns.groups:
        at = at[np.lexsort((grid.query[at], segments_of(log.cells).place[grid.cell[at]]))]
    keys = log.key_rows(system=grid.system[at], segment=grid.segment[at], query=grid.query[at])
    values = [filled(measured, i)[at] for i in range(len(measured.asked))]
    if layout == "wide":
        return Answer(keys, {name: number(v) for (name, _), v in zip(measured.asked, values, strict=True)})
    metric = np.tile(np.arange(len(values)), len(at))
    long = labels(measured.asked, metric) | {"value": number(np.stack(values).T.ravel())}
    return Answer({name: np.repeat(rows, len(values)) for name, rows in keys.items()}, long)


def schema(asked: Asked, options: Options) -> dict[str, Any]:
    """Return the columns of averages beside the keys, and their types, known before anything is read."""
    total = {"total": pl.Boolean} if options.margins else {}
    if options.layout == "wide":
        ends = ("",) if options.ci is None else ("", "_low", "_high")
        wide = {name + end: pl.Float64 for name, _ in asked for end in ends}
        return total | {"average": pl.String, "n": pl.Int64} | wide
    metric = {"metric": pl.String, "k": pl.Int64, "average": pl.String}
    value = {"value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64}
    return total | metric | value | ({} if options.ci is None else {"ci_low": pl.Float64, "ci_high": pl.Float64})
