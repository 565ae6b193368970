"""Compute metrics for a source: in memory at once, else in pieces, which send only sums if averages need no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.log import Log
from frame_metrics.hidden import SUMS, UNANSWERED
from frame_metrics.inputs import Lists
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.index import Index
from frame_metrics.measuring import pieces
from frame_metrics.measuring import saved_values as values
from frame_metrics.measuring.found_query import check_found
from frame_metrics.measuring.queries import measure
from frame_metrics.measuring.values import Values, summed_within, with_sums
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.plan.call import Call, bound, of_every_role
from frame_metrics.plan.checks import check_asked
from frame_metrics.plan.needs import Needs, needs_of
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import InPieces, Source
from frame_metrics.plan.verb import check_roles
from frame_metrics.stats.averages import Averages, averages_of
from frame_metrics.stats.quantiles import level_of
from frame_metrics.threads import BLOCK

FEW = 6  # with fewer rankings than this, their values take less room than their sums


def planned(plan: Plan, metrics: Sequence[Metrics], more: Needs) -> tuple[Call, Asked | None]:
    """Return the call for some metrics, and the metrics, read from their names.

    None for the metrics: all those of ``value=``, if only the data name them. ``more``: needs beyond those of metrics.
    """
    if plan.of_values:
        if more.verb is not None:
            check_roles(plan, more.verb)
        of_values = of_every_role(plan)
        return of_values, values.asked_of(metrics, of_values.columns)
    asked = read(metrics)
    call = bound(plan, needs_of(plan, asked) | more)
    if call.columns.query:
        check_asked(asked, call)
    return call, asked


def measured_of(
    source: Source,
    asked: Asked | None,
    averages: Averages = (None,),
    *,
    queries: bool = True,
    totals: bool = False,
) -> Values:
    """Compute metrics for every ranking of a source, or only their sums, if no single ranking is needed.

    Numbers of ``value=`` are taken as they are.

    Parameters
    ----------
    source : the rows, in memory or in pieces.
    asked : the metrics; None for all those of ``value=``.
    averages : the averages that will be needed: "micro" needs the counts of each query, "rows" its number of rows.
    queries : whether single queries will be shown or resampled.
    totals : see ``read_log``.
    """
    if asked is None or source.call.of_values:
        return values.measured(source, asked)
    large = isinstance(source, InPieces) or len(source.table) > BLOCK
    sums = large and not queries and _need_sums_alone(source, asked, averages)
    if not isinstance(source, InPieces):
        log = source.log(totals=totals)
        check_found(source.call, log, asked, averages)
        return measure(log, asked, averages, sums=sums and _take_less_room(log))
    kind = Summing if sums else pieces.Measuring
    return pieces.gathered_of(pieces.work_of(kind, source, asked, averages, totals=totals), source)


def _take_less_room(log: Log) -> bool:
    """Return True if sums of each cell and block take less room than values of each ranking."""
    rankings, cells = len(log.grid.pair), len(log.index.systems) * len(log.index.segments)
    return rankings * BLOCK > FEW * cells * len(log.table)


def _need_sums_alone(source: Source, asked: Asked, averages: Averages) -> bool:
    """Return True if sums over rankings are enough: no average, column or error needs single ones."""
    conventions = source.call.conventions
    if conventions.undefined == "raise" or conventions.propensity is not None:
        return False
    each = [name for _, metric in asked for name in averages_of(metric, averages, weighted=False)]
    return all(level_of(name) is None for name in each) and all(metric.input is not Lists for _, metric in asked)


@dataclass(frozen=True, eq=False)
class Summing(pieces.Measuring):
    """Sums over the rankings of each system and segment of a piece; the row of the first ranking has the sums.

    Where a segment has few rankings, they are sent as they are, which is less than their sums.
    """

    def kept(self, log: Log, measured: Values, *, ordered: bool) -> Answer:
        cell = measured.index.cell
        many = np.bincount(cell) >= FEW
        group, n = np.where(many, np.cumsum(many) - 1, -1)[cell], int(many.sum())
        here, first = np.unique(group, return_index=True)
        sums = summed_within(measured, self.averages, group, n, first[here >= 0]).numbers.T.tolist()
        stays = group < 0
        stays[first] = True  # among them the first row, with the facts of the piece
        each, at = super().kept(log, measured, ordered=ordered), np.flatnonzero(stays)
        columns = {name: values[at] for name, values in each.columns.items()}
        lacking = np.bincount(group + 1, measured.unanswered, n + 1)  # of each group; first of those in none
        columns[UNANSWERED] = pl.Series(np.where(group < 0, measured.unanswered, lacking[group + 1])[at]).cast(pl.Int64)
        columns[SUMS] = pl.Series([sums[i] if i >= 0 else None for i in group[at].tolist()], dtype=pl.List(pl.Float64))
        return replace(each, keys={name: rows[at] for name, rows in each.keys.items()}, columns=columns)

    def combined(self, index: Index, table: pl.DataFrame) -> Values:
        measured, summed = super().combined(index, table), table[SUMS].is_not_null().to_numpy()
        if not summed.any():
            return measured
        alone = np.flatnonzero(measured.evaluated & ~summed)
        group = np.full(len(summed), NONE)
        group[alone] = np.arange(len(alone))
        single = summed_within(measured, self.averages, group, len(alone), alone)
        numbers = table[SUMS].drop_nulls().explode().to_numpy().reshape(-1, len(single.numbers)).T
        return with_sums(measured, [single, replace(single, at=np.flatnonzero(summed), numbers=numbers)])
