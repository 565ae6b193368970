"""Inputs of one row that note what a kernel reads of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from frame_metrics.inputs import Array, FullConfusion, FullRanking, FullScores, Gain, Lists, Rows


class WatchedRanking(FullRanking):
    """A ranking of one relevant row that notes what is read of it."""

    def __init__(self) -> None:
        super().__init__(np.ones(1), np.ones(1, int), np.ones(1, int), score=np.ones(1))
        self.seen: set[str] = set()
        self.named: dict[str, None] = {}  # columns besides those of roles

    def _gainful(self, gain: Gain) -> Rows:
        return Rows(np.zeros(1, int), np.ones(1, int), np.ones(1), 1)

    _best_first = _gainful

    def __getattribute__(self, name: str) -> Any:
        if name in ("relevant", "n_relevant", "gains", "ideal", "score", "rel", "intents"):
            self.seen.add(name)
        return super().__getattribute__(name)

    def _extra(self, name: str) -> Array:
        self.named[name] = None
        return np.ones(1)

    def grades(self) -> Rows:
        self.seen.add("gains")  # they are read off the same column
        return super().grades()

    def confusion(self, k: int | None = None, top: float | None = None) -> FullConfusion:
        return WatchedTable(super().confusion(k, top), self.seen)


class WatchedTable(FullConfusion):
    """The table of that row, which notes whether its true negatives are read."""

    def __init__(self, table: FullConfusion, seen: set[str]) -> None:
        super().__init__(table.tp, table.fp, table.fn, table.empty)
        self.seen = seen

    @cached_property
    def tn(self) -> Array:
        self.seen.add("tn")
        return np.ones(1)


class WatchedLists(Lists):
    """A list of one document that notes whether a metric reads how often each document is shown."""

    def __init__(self) -> None:
        super().__init__(np.zeros(1, int), np.zeros(1, int), None, (1, 1), different=np.ones(1, int))
        self.seen: set[str] = set()

    @cached_property
    def _counted(self) -> tuple[Array, Array]:
        self.seen.add("often")
        return super()._counted


class WatchedScores(FullScores):
    """One relevant document with a score, that notes whether it is read as a probability."""

    def __init__(self) -> None:
        super().__init__(np.zeros(1, int), np.ones(1), np.ones(1), np.zeros(1), 1)
        self.seen: set[str] = {"relevant", "rel"}
        self.named: dict[str, None] = {}

    @property
    def probability(self) -> Array:
        self.seen.add("probability")
        return self.score
