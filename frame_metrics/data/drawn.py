"""Resampled rows without queries: the tables and the scores of each draw."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases
from frame_metrics.data.groups import Segments
from frame_metrics.inputs import Array, Classes, ClassScores, Scores
from frame_metrics.inputs.scores import DrawnScores, drawn_levels
from frame_metrics.stats.resampling import Units, drawn, units_of


@dataclass(frozen=True, eq=False)
class Draws:
    """Rows of some segments that are drawn again; a segment of fewer than two rows, or clusters, has no draws."""

    cases: Cases
    segments: Segments
    resamples: int
    seed: int

    def tables(self, table: Classes) -> Iterator[tuple[int, Classes]]:
        """Give segments and the tables of some of their draws; ``table`` has those of all segments."""
        shape, cell = table.found.shape[1:], None
        if self.cases.weighted or self.cases.columns.cluster:
            actual, predicted = (self.cases.rows[name].cast(pl.Int64) for name in ("actual", "predicted"))
            cell = (actual * shape[1] + predicted.fill_null(shape[1] - 1)).to_numpy()
        for g, units in self._counted(table) if cell is None else self._units([cell]):
            cells, weight = units.columns
            starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
            for often in drawn(units, self.resamples, self.seed):
                found = np.zeros((len(often), math.prod(shape)))
                found[:, cells[starts]] = np.add.reduceat(often * weight, starts, axis=1)
                yield g, table.drawn(g, found.reshape(-1, *shape))

    def scores(self) -> Iterator[tuple[int, Scores]]:
        """Give segments and the levels of some of their draws, of two classes."""
        rows = self.cases.rows
        score = rows["score"].fill_null(-np.inf).to_numpy()
        for g, units in self._units([rows["actual"].to_numpy(), score]):
            actual, score, weight = units.columns
            order = np.argsort(-score, kind="stable")
            for often in drawn(units, self.resamples, self.seed):
                yield g, drawn_levels(score[order], actual[order] == 1, (often * weight)[:, order])

    def class_scores(self, scores: ClassScores) -> Iterator[tuple[int, ClassScores]]:
        """Give segments and the scores of some of their draws, of several classes; ``scores`` has those of all."""
        rows, k = self.cases.rows, self.cases.k
        for g, units in self._units([rows[name].to_numpy() for name in ("actual", *(f"score:{i}" for i in range(k)))]):
            actual, *each, weight = units.columns
            own = ClassScores(np.zeros(len(actual), np.int64), actual, np.stack(each, 1), weight, 1, scores.seen[[g]])
            for often in drawn(units, self.resamples, self.seed):
                yield g, DrawnScores(own, often)

    def _counted(self, table: Classes) -> Iterator[tuple[int, Units]]:
        """Give segments and the cells of their tables, which is all there is to know of their rows."""
        for g in np.flatnonzero(self.segments.n > 1):
            counts = table.found[g].ravel()
            yield int(g), Units([np.arange(len(counts)), np.ones(len(counts))], counts, None)

    def _units(self, columns: list[Array]) -> Iterator[tuple[int, Units]]:
        """Give segments and their rows by what they hold, last the weight of one row."""
        rows = self.cases.rows
        one = np.ones(len(rows))
        times = rows["count"].to_numpy() if "count" in rows.columns else one
        weight = rows["each" if "each" in rows.columns else "weight"].to_numpy() if self.cases.weighted else one
        cluster = rows["cluster"].to_numpy() if self.cases.columns.cluster else None
        place = self.segments.of(rows)
        order = np.argsort(place, kind="stable")
        edges = np.searchsorted(place[order], np.arange(len(self.segments) + 1))
        for g in range(len(self.segments)):
            mine = order[edges[g] : edges[g + 1]]
            own = [column[mine] for column in (*columns, weight)]
            units = units_of(own, times[mine], None if cluster is None else cluster[mine]) if len(mine) else None
            if units is not None:
                yield g, units
