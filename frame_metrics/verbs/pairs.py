"""Pairs of systems to compare, and the values of each metric by query and system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.log import Log
from frame_metrics.errors import BadValueError, NotComputableError, closest, listed
from frame_metrics.inputs import Array
from frame_metrics.roles.columns import key_names
from frame_metrics.stats.averages import numbered
from frame_metrics.verbs.measure import Measured, filled
from frame_metrics.verbs.tidy import labels


@dataclass(frozen=True, eq=False)
class Paired:
    """The values of one metric on the queries of one segment, in the order in which they are drawn."""

    pair: Array  # the number of each query's segment and query together, shape (queries,)
    values: Array  # NaN where undefined, shape (queries, systems)
    answered: Array  # whether the system has results, shape (queries, systems)
    undefined: Array  # whether the metric was undefined, shape (queries, systems)
    cluster: Array | None  # of each query; None where queries are independent

    def alone(self, use: Array) -> bool:
        """Return whether some queries are of fewer than two clusters, which leaves nothing to draw."""
        return self.cluster is not None and len(np.unique(self.cluster[use])) < 2

    def clusters(self, use: Array) -> Array | None:
        """Number the clusters of some queries; None where each has its own."""
        return None if self.cluster is None else numbered(self.cluster[use])

    def together(self, pairs: Sequence[tuple[int, int]], unanswered: str, test: str) -> tuple[list[Array], list[Array]]:
        """Find the queries of each pair of systems that only one of them answered, and those that are compared.

        Parameters
        ----------
        unanswered : "drop" where queries that only one of them answered are left out.
        test : "tukey" compares a query for all pairs or for none.
        """
        unpaired = [self.answered[:, system] != self.answered[:, base] for system, base in pairs]
        known = [~np.isnan(self.values[:, system] - self.values[:, base]) for system, base in pairs]
        if unanswered == "drop":
            known = [one & ~other for one, other in zip(known, unpaired, strict=True)]
        return unpaired, [np.all(known, axis=0)] * len(pairs) if test == "tukey" else known


@dataclass(frozen=True, eq=False)
class Pairing:
    """Systems to compare."""

    measured: Measured  # the values of metrics for every ranking
    segments: Array  # their numbers in the order of the result
    pairs: list[tuple[int, int]]  # each system and the one that it is compared with, in the order of the result

    @property
    def n_queries(self) -> int:
        """The number of queries, each counted in every segment that it stands in."""
        return int(self.measured.log.grid.pair.max(initial=-1)) + 1

    def query_of(self, pair: Array) -> Array:
        """Return the number of the query of each pair of a segment and a query."""
        grid = self.measured.log.grid
        query = np.zeros(self.n_queries, np.int64)
        query[grid.pair] = grid.query
        return query[pair]

    @cached_property
    def drawn(self) -> Array:
        """The pairs of a segment and a query in the order in which they are drawn, whatever the order of the rows."""
        grid = self.measured.log.grid
        first = np.zeros(len(grid.pair), bool)
        first[np.unique(grid.pair, return_index=True)[1]] = True
        return grid.pair[first][self.measured.log.drawing_order(first)]

    @cached_property
    def _turn(self) -> Array:
        """The place of each pair of a segment and a query in that order."""
        turn = np.empty(len(self.drawn), np.int64)
        turn[self.drawn] = np.arange(len(turn))
        return turn

    def laid(self, segment: int) -> list[Paired]:
        """Lay out the values of each metric by query and system, of the queries that are evaluated for all systems."""
        measured, grid = self.measured, self.measured.log.grid
        here = np.flatnonzero(grid.segment == segment)
        turn, place = np.unique(self._turn[grid.pair[here]], return_inverse=True)
        pair = self.drawn[turn]

        def cells(values: Array, fill: Any) -> Array:
            out = np.full((len(pair), len(grid.system_row)), fill)
            out[place, grid.system[here]] = values[here]
            return out

        some = cells(measured.evaluated, False).all(axis=1)
        answered = cells(_retrieved(measured.log) > 0, False)[some]
        cluster = None
        if measured.cluster is not None:
            cluster = np.zeros(len(pair))
            cluster[place] = measured.cluster[here]
            cluster = cluster[some]
        metrics = []
        for i, raw in enumerate(measured.values):
            values, undefined = cells(filled(measured, i), np.nan)[some], cells(np.isnan(raw), False)[some]
            metrics.append(Paired(pair[some], values, answered, undefined, cluster))
        return metrics

    def answer(
        self, segment: Array, metric: Array, pair: Array, columns: dict[str, pl.Series], query: Array | None = None
    ) -> Answer:
        """Return columns with the keys of their rows, by the numbers of each row's segment, metric, pair and query."""
        log = self.measured.log
        system, base = (log.key_rows(system=side[pair]) for side in np.array(self.pairs).T)
        column = str(log.columns.system)
        keys = log.key_rows(segment=segment, query=query) | system | {"baseline": base[column]}
        return Answer(keys, labels(self.measured.asked, metric) | columns, {"baseline": column})


def paired_systems(measured: Measured, baseline: Any) -> Pairing:
    """Pair each system with the baseline, or without one with every system before it."""
    log = measured.log
    system, by, _ = key_names(log.columns)
    order, segments = _in_order(log, system, log.grid.system_row), _in_order(log, by, log.grid.segment_row)
    names = log.keys_at(system, log.grid.system_row).to_series().to_list()
    column = log.columns.system
    if len(names) < 2:
        there = f"one system, {listed(names)}" if names else "no systems"
        raise NotComputableError(f"{column} has {there}; two are needed to compare")
    if baseline is None:
        pairs = [(int(one), int(other)) for i, one in enumerate(order) for other in order[:i]]
        return Pairing(measured, segments, pairs)
    if baseline not in names:
        raise BadValueError(
            f"baseline={baseline!r} is not among the systems of {column}: {listed(names[:5])}{closest(baseline, names)}"
        )
    base = names.index(baseline)
    return Pairing(measured, segments, [(int(one), base) for one in order if one != base])


def _in_order(log: Log, keys: list[str], rows: Array) -> Array:
    """The numbers of systems, or of segments, sorted by their values, nulls last."""
    if not keys:
        return np.zeros(1, np.int64)
    values = log.keys_at(keys, rows).with_row_index("at")
    return values.sort(keys, nulls_last=True, maintain_order=True)["at"].to_numpy().astype(np.int64)


def _retrieved(log: Log) -> Array:
    """The number of results of each ranking."""
    rankings = log.grid.rankings
    place = rankings.values.get("rank", rankings.values.get("score"))
    return rankings.lengths if place is None else rankings.count(~np.isnan(place))
