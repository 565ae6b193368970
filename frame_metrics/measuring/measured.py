"""Metrics of what is read: in memory at once, else in pieces, which send sums where averages need no more."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.inputs import Lists
from frame_metrics.measuring import pieces
from frame_metrics.measuring.queries import Measured, answered, measure, tallies, unfilled
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.source import InPieces, Source
from frame_metrics.stats.averages import Averages, averages_of, numbers_within, of_numbers, within
from frame_metrics.stats.quantiles import level_of

SUM = "\0sum:"  # columns of what is gathered, of each system and segment


def measured_of(
    source: Source,
    asked: Asked,
    averages: Averages = (None,),
    *,
    queries: bool = True,
    totals: bool = False,
    arms: bool = False,
) -> Measured:
    """Compute metrics for every ranking of what is read, or where nothing needs single ones, their sums.

    Parameters
    ----------
    averages : those that will be asked for, which need counts of some metrics.
    queries : whether single queries will be named, or drawn.
    totals, arms : see ``read_log``.
    """
    if not isinstance(source, InPieces):
        return measure(source.log(queries=queries, totals=totals, arms=arms), asked, averages)
    kind = Summing if not queries and _need_sums_alone(source, asked, averages) else pieces.Measuring
    return pieces.gathered_of(pieces.work_of(kind, source, asked, averages, totals=totals, arms=arms), source)


def _need_sums_alone(source: InPieces, asked: Asked, averages: Averages) -> bool:
    """Return True where sums are sent: averages, columns and errors need no single rankings.

    Those of a file come here one piece after the other, and give the averages of a frame in memory to the last bit.
    """
    conventions = source.plan.conventions
    if source.pieces.ordered or conventions.undefined == "raise" or conventions.propensity is not None:
        return False
    each = [name for _, metric in asked for name in averages_of(metric, averages, weighted=False)]
    return all(level_of(name) is None for name in each) and all(metric.input is not Lists for _, metric in asked)


@dataclass(frozen=True, eq=False)
class Summing(pieces.Measuring):
    """Sums over the rankings of each system and segment of a piece; the first ranking stands for all of them."""

    def kept(self, measured: Measured, *, ordered: bool) -> Answer:
        log, grid = measured.log, measured.log.grid
        _, first, cell = np.unique(grid.cell, return_index=True, return_inverse=True)
        evaluated = within(cell, len(first), [measured.evaluated])
        sums = numbers_within(tallies(measured, self.averages)[1], cell[measured.evaluated], len(first))
        at = np.sort(first)  # what is known of the piece stays in its first row
        own = {pieces.ANSWERED: answered(measured)} | pieces.counts_of_systems(log, grid.system)
        each = pieces.of_rankings(log, self, own, ordered=ordered)
        columns = {name: values[at] for name, values in each.columns.items()}
        names = (pieces.EVALUATED, *(f"{SUM}{i}" for i in range(len(sums))))
        added = zip(names, np.concatenate([evaluated, sums])[:, cell[at]], strict=True)
        columns |= {name: pl.Series(values) for name, values in added}
        return replace(each, keys={name: rows[at] for name, rows in each.keys.items()}, columns=columns)

    def together(self, table: pl.DataFrame) -> Measured:
        log, table = pieces.restored(table, self)
        numbers = table.select(name for name in table.columns if name.startswith(SUM)).to_numpy().T
        n = len(table)
        weight = np.zeros(n) if self.plan.columns.weight else None
        blank = replace(unfilled(log, self.asked, self.averages, np.zeros(n, bool)), weight=weight)
        of, sums = tallies(blank, self.averages)  # of no ranking
        many = table[pieces.EVALUATED].to_numpy()
        return replace(blank, evaluated=np.ones(n, bool), sums=(of, of_numbers(sums, numbers)), many=many)
