"""Conventions: what is done where the field disagrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from frame_metrics.metrics.metric import Metric

UNDEFINED = {"zero": 0.0, "one": 1.0, "null": None, "raise": None}


@dataclass(frozen=True, eq=False)
class Conventions:
    """What is done where the field disagrees."""

    rel: float = 1
    ties: str = "worst"
    undefined: str | None = None
    unjudged: str | None = None
    duplicates: str | None = None
    size: float | bool | None = None
    positive: Any = None
    classes: tuple[Any, ...] | None = None
    threshold: float | None = None
    abstain: tuple[Any, ...] = ()
    match: str | None = None

    def fill(self, metric: Metric) -> float | None:
        """What an undefined value becomes; None for null."""
        return metric.undefined if self.undefined is None else UNDEFINED[self.undefined]

    def variant(self, metric: Metric) -> tuple[float, bool]:
        """The relevance level of a metric, and whether its lists are condensed."""
        return metric.variant(self.rel, self.unjudged == "drop")
