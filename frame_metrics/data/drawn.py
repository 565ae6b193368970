"""Resampled rows without queries: the tables and the scores of each draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases
from frame_metrics.data.groups import Segments
from frame_metrics.inputs import Array, Classes, ClassScores, Scores
from frame_metrics.inputs.scores import DrawnScores, drawn_levels
from frame_metrics.stats.resampling import Units, drawn, units_of

T = TypeVar("T")
Group: TypeAlias = tuple[dict[int, int], Units]  # where the units of each segment begin, and the units of all


@dataclass(frozen=True, eq=False)
class Draws:
    """Rows of some segments that are drawn again; a segment of fewer than two rows, or clusters, has no draws."""

    cases: Cases
    segments: Segments
    resamples: int
    seed: int
    group: Array | None = None  # the number of each segment's group, whose rows are drawn together, shape (segments,)

    def tables(self, table: Classes) -> Iterator[tuple[int, Classes]]:
        """Give segments and the tables of some of their draws; ``table`` has those of all segments."""
        shape, cell = table.found.shape[1:], None
        if self.cases.weighted or self.cases.columns.cluster:
            actual, predicted = (self.cases.rows[name].cast(pl.Int64) for name in ("actual", "predicted"))
            cell = (actual * shape[1] + predicted.fill_null(shape[1] - 1)).to_numpy()

        def made(g: int, columns: list[Array]) -> Callable[[Array], Classes]:
            cells, weight = columns
            starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))

            def drawn_tables(often: Array) -> Classes:
                found = np.zeros((len(often), math.prod(shape)))
                found[:, cells[starts]] = np.add.reduceat(often * weight, starts, axis=1)
                return table.drawn(g, found.reshape(-1, *shape))

            return drawn_tables

        return self._drawn(self._counted(table) if cell is None else self._units([cell]), made)

    def scores(self) -> Iterator[tuple[int, Scores]]:
        """Give segments and the levels of some of their draws, of two classes."""
        rows = self.cases.rows

        def made(_: int, columns: list[Array]) -> Callable[[Array], Scores]:
            actual, score, weight = columns
            order = np.argsort(-score, kind="stable")
            return lambda often: drawn_levels(score[order], actual[order] == 1, (often * weight)[:, order])

        return self._drawn(self._units([rows["actual"].to_numpy(), rows["score"].fill_null(-np.inf).to_numpy()]), made)

    def class_scores(self, scores: ClassScores) -> Iterator[tuple[int, ClassScores]]:
        """Give segments and the scores of some of their draws, of several classes; ``scores`` has those of all."""
        rows, k = self.cases.rows, self.cases.k

        def made(g: int, columns: list[Array]) -> Callable[[Array], ClassScores]:
            actual, *each, weight = columns
            own = ClassScores(np.zeros(len(actual), np.int64), actual, np.stack(each, 1), weight, 1, scores.seen[[g]])
            return lambda often: DrawnScores(own, often)

        names = ("actual", *(f"score:{i}" for i in range(k)))
        return self._drawn(self._units([rows[name].to_numpy() for name in names]), made)

    def _drawn(
        self, groups: Iterator[Group], made: Callable[[int, list[Array]], Callable[[Array], T]]
    ) -> Iterator[tuple[int, T]]:
        """Give segments and what is made of some of their draws; of several drawn together those that all are in.

        Parameters
        ----------
        made : takes a segment and the columns of its units; what it returns takes how often each is drawn.
        """
        for edges, units in groups:
            cuts = [slice(*pair) for pair in pairwise([*edges.values(), len(units.times)])]
            parts = [(cut, made(g, [c[cut] for c in units.columns])) for g, cut in zip(edges, cuts, strict=True)]
            for often in drawn(units, self.resamples, self.seed):
                if len(cuts) > 1:
                    often = often[np.all([often[:, cut].any(axis=1) for cut in cuts], axis=0)]
                for g, (cut, of_part) in zip(edges, parts, strict=True):
                    yield g, of_part(often[:, cut])

    def _counted(self, table: Classes) -> Iterator[Group]:
        """Give segments and the cells of their tables, which is all there is to know of their rows."""
        for g in np.flatnonzero(self.segments.n > 1):
            counts = table.found[g].ravel()
            yield {int(g): 0}, Units([np.arange(len(counts)), np.ones(len(counts))], counts, None)

    def _units(self, columns: list[Array]) -> Iterator[Group]:
        """Give segments, or groups of them, and their rows by what they hold, last the weight of one row."""
        rows = self.cases.rows
        one = np.ones(len(rows))
        times = rows["count"].to_numpy() if "count" in rows.columns else one
        weight = rows["each" if "each" in rows.columns else "weight"].to_numpy() if self.cases.weighted else one
        cluster = rows["cluster"].to_numpy() if self.cases.columns.cluster else None
        place, n = self.segments.of(rows), len(self.segments)
        group = place if self.group is None else np.append(self.group, -1)[place]
        order = np.argsort(group, kind="stable")
        edges = np.searchsorted(group[order], np.arange(n + 1))
        for g in range(n):
            mine = order[edges[g] : edges[g + 1]]
            segments = np.unique(place[mine])
            own = [column[mine] for column in ([place] if len(segments) > 1 else []) + [*columns, weight]]
            units = units_of(own, times[mine], None if cluster is None else cluster[mine]) if len(mine) else None
            if units is not None:
                starts = np.zeros(1, np.int64)
                if len(segments) > 1:
                    starts = np.searchsorted(units.columns.pop(0), segments)
                yield dict(zip(segments.tolist(), starts.tolist(), strict=True)), units
