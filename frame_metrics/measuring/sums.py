"""Pieces that send sums over their rankings, where averages need no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.log import Log
from frame_metrics.hidden import LENGTHS, SUMS, UNANSWERED
from frame_metrics.inputs import Lists
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.index import Index
from frame_metrics.keys.zeros_of_parts import lengths_of_digits
from frame_metrics.measuring.pieces import Measuring
from frame_metrics.measuring.values import Values, summed_within, with_sums
from frame_metrics.measuring.work import in_first
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.conventions import Conventions
from frame_metrics.stats.averages import Averages, averages_of
from frame_metrics.stats.quantiles import quantile_level

MIN_TO_SUM = 6  # with fewer rankings than this, their values take less room than their sums


def need_sums_alone(conventions: Conventions, asked: Asked, averages: Averages) -> bool:
    """Return True if sums over rankings are enough: no average, column or error needs single ones."""
    if conventions.undefined == "raise" or conventions.propensity is not None:
        return False
    each = [name for _, metric in asked for name in averages_of(metric, averages, weighted=False)]
    return all(quantile_level(name) is None for name in each) and all(metric.input is not Lists for _, metric in asked)


def summed_rows(each: Answer, values: Values, averages: Averages) -> Answer:
    """Sum the rankings of each system and segment of a piece; the row of the first ranking has the sums.

    Where a segment has few rankings, they are sent as they are, which is less than their sums.

    Parameters
    ----------
    each : a row for each ranking.
    values : the values of these rankings.
    averages : those that will be needed.
    """
    cell = values.index.cell
    many = np.bincount(cell) >= MIN_TO_SUM
    group, n = np.where(many, np.cumsum(many) - 1, NONE)[cell], int(many.sum())
    here, first = np.unique(group, return_index=True)
    sums = summed_within(values, averages, group, n, first[here >= 0]).sums.T.tolist()
    stays = group < 0
    stays[first] = True  # among them the first row, with the facts of the piece
    at = np.flatnonzero(stays)
    columns = {name: values[at] for name, values in each.columns.items()}
    lacking = np.bincount(group + 1, values.unanswered, n + 1)  # of each group; first of those in none
    columns[UNANSWERED] = pl.Series(np.where(group < 0, values.unanswered, lacking[group + 1])[at]).cast(pl.Int64)
    columns[SUMS] = pl.Series([sums[i] if i >= 0 else None for i in group[at].tolist()], dtype=pl.List(pl.Float64))
    columns[LENGTHS] = in_first(len(at), pl.Series([lengths_of_digits(values.index)], dtype=pl.List(pl.Int64)))
    return replace(each, keys={name: rows[at] for name, rows in each.keys.items()}, columns=columns)


def with_sums_of(values: Values, table: pl.DataFrame, averages: Averages) -> Values:
    """Return the values of all pieces with the sums that ``summed_rows`` made; ``table``: the rows of all pieces."""
    summed = table[SUMS].is_not_null().to_numpy()
    if not summed.any():
        return values
    alone = np.flatnonzero(values.evaluated & ~summed)
    group = np.full(len(summed), NONE)
    group[alone] = np.arange(len(alone))
    single = summed_within(values, averages, group, len(alone), alone)
    numbers = table[SUMS].drop_nulls().explode().to_numpy().reshape(-1, len(single.sums)).T
    return with_sums(values, [single, replace(single, representative=np.flatnonzero(summed), sums=numbers)])


@record
class Summing(Measuring):
    """Sums over the rankings of each system and segment of a piece."""

    def to_table(self, log: Log, all_values: Values, *, ordered: bool) -> Answer:
        return summed_rows(super().to_table(log, all_values, ordered=ordered), all_values, self.averages)

    def one_by_one(self) -> Measuring:
        return Measuring(self.call, self.empty, self.judgments, self.systems, self.totals, [], (None,))

    def from_table(self, index: Index, table: pl.DataFrame) -> Values:
        return with_sums_of(super().from_table(index, table), table, self.averages)
