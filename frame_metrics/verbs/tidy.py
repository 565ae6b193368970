"""Tidy rows of values: groups and margins, long and wide, in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
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

    average: str | None = None
    ci: float | None = None
    margins: bool = False
    layout: str = "long"
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class Wide:
    """Facts of all metrics of a row, known before anything is read."""

    average: bool  # whether it is the same for all, and said
    counted: Sequence[bool]  # whether each metric may leave queries out, so that how many it rests on stands beside it

    def of_metrics(self, asked: Asked, ci: float | None) -> list[tuple[str, Any]]:
        """Return the columns of each metric, and their types."""
        columns: list[tuple[str, Any]] = []
        for (name, _), counted in zip(asked, self.counted, strict=True):
            columns += [(name, pl.Float64), *([(f"{name}_n", pl.Int64)] if counted else [])]
            columns += [] if ci is None else [(f"{name}_low", pl.Float64), (f"{name}_high", pl.Float64)]
        return columns

    def columns(self, asked: Asked, ci: float | None) -> dict[str, Any]:
        """Return the columns beside the keys, and their types."""
        average = {"average": pl.String} if self.average else {}
        return average | {"n": pl.Int64} | dict(self.of_metrics(asked, ci))


@dataclass(frozen=True, eq=False)
class Averaged:
    """The values of metrics in groups."""

    asked: Asked
    tables: list[list[Array]]  # of segments, then each total: value, n, n_undefined (, low, high) of (metrics, groups)
    averages: list[str]  # of each metric
    evaluated: list[Array]  # of segments, then each total: queries or rows that are evaluated, shape (groups,)


def averaged(measured: Measured, options: Options | None = None, wide: Wide | None = None) -> Answer:
    """Return one row per group and metric, or one per group with a column per metric."""
    options = options or Options()
    log, some = measured.log, measured.evaluated
    groups, cell = groups_of(log.cells, options.margins), log.grid.cell[some]
    sums = tallies(measured, options.average)
    cluster = None if measured.cluster is None else measured.cluster[some]
    order = None if options.ci is None else log.drawing_order(some)
    counted = [*(one.defined for one in sums), *(one.undefined for one in sums)]
    columns = [*counted, *(column for one in sums for column in one.columns)]
    ends = np.cumsum([len(sums), len(sums), *(len(one.columns) for one in sums)])[:-1]
    tables: list[list[Array]] = []
    evaluated: list[Array] = []
    for segments in groups.each:
        count = len(segments)
        member = segments.place[cell] if count > 1 or log.grid.placed is not None else None
        n, undefined, *each = np.split(within(member, count, columns), ends)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.stack([one.finish(own) for one, own in zip(sums, each, strict=True)])
        table = [np.where(n == 0, np.nan, value), n, undefined]
        if options.ci is not None:
            table += [*intervals(sums, member, count, options.ci, options.resamples, options.seed, cluster, order)]
        tables.append(table)
        evaluated.append(np.array([len(cell)]) if member is None else np.bincount(member[member >= 0], minlength=count))
    return tidied(Averaged(measured.asked, tables, [one.average for one in sums], evaluated), options, groups, wide)


def tidied(each: Averaged, options: Options, groups: Groups, wide: Wide | None) -> Answer:
    """Return one row per group and metric, or with ``wide`` one per group with a column per metric."""
    tables = (np.concatenate(some, axis=1) for some in zip(*each.tables, strict=True))
    value, n, undefined, *ends = (table[:, groups.order] for table in tables)
    keys, count, m = groups.key_rows(), value.shape[1], len(each.asked)
    total = {"total_over": groups.total_over()} if options.margins else {}
    if wide is not None:
        evaluated = np.concatenate(each.evaluated)[groups.order]
        columns = _columns(each, evaluated, [value, n, *ends])
        return Answer(keys, total | {name: columns[name] for name in wide.columns(each.asked, options.ci)})
    at, group = np.tile(np.arange(m), count), np.repeat(np.arange(count), m)
    long = {name: names[group] for name, names in total.items()}
    long |= labels(each.asked, at) | {"average": pl.Series(each.averages, dtype=pl.String)[at]}
    long |= {"value": number(value.T.ravel()), "n": whole(n.T.ravel()), "n_undefined": whole(undefined.T.ravel())}
    if ends:
        long["ci_low"], long["ci_high"] = number(ends[0].T.ravel()), number(ends[1].T.ravel())
    return Answer({name: rows[group] for name, rows in keys.items()}, long)


def _columns(each: Averaged, evaluated: Array, table: list[Array]) -> dict[str, pl.Series]:
    """All columns that a row of several metrics may have."""
    average = pl.Series(each.averages[:1], dtype=pl.String).new_from_index(0, len(evaluated))
    columns = {"average": average, "n": whole(evaluated)}
    for name, lay, values in zip(("", "_n", "_low", "_high"), (number, whole, number, number), table, strict=False):
        columns |= {metric + name: lay(own) for (metric, _), own in zip(each.asked, values, strict=True)}
    return columns


def labels(asked: Asked, at: Array) -> dict[str, pl.Series]:
    """Return the columns metric and k, of the metric that each row is about."""
    names = pl.Series([name for name, _ in asked], dtype=pl.String)
    ks = pl.Series([metric.k for _, metric in asked], dtype=pl.Int64)
    return {"metric": names[at], "k": ks[at]}


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


def schema(asked: Asked, options: Options, wide: Wide | None) -> dict[str, Any]:
    """Return the columns of averages beside the keys, and their types, known before anything is read."""
    total = {"total_over": pl.String} if options.margins else {}
    if wide is not None:
        return total | wide.columns(asked, options.ci)
    metric = {"metric": pl.String, "k": pl.Int64, "average": pl.String}
    value = {"value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64}
    return total | metric | value | ({} if options.ci is None else {"ci_low": pl.Float64, "ci_high": pl.Float64})
