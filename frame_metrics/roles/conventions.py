"""Conventions: what is done where the field disagrees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frame_metrics.metrics.metric import Metric

FLOATS: dict[str, Any] = {"Float16": np.float16, "Float32": np.float32}  # columns that round what meets them
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
    grade_type: str = "Float64"

    def fill(self, metric: Metric) -> float | None:
        """What an undefined value becomes; None for null."""
        return metric.undefined if self.undefined is None else UNDEFINED[self.undefined]

    def variant(self, metric: Metric) -> tuple[float, bool]:
        """The relevance level of a metric, and whether its lists are condensed."""
        rel, condensed = metric.variant(self.rel, self.unjudged == "drop")
        return as_held(rel, self.grade_type), condensed

    def in_types(self, score: str, grade: str) -> Conventions:
        """Return the same with threshold and rel as columns of scores and grades of these types hold them."""
        threshold = None if self.threshold is None else as_held(self.threshold, score)
        return replace(self, rel=as_held(self.rel, grade), threshold=threshold, grade_type=grade)


def as_held(value: float, dtype: str) -> float:
    """Return a number as a column of this type of floats holds it."""
    if dtype not in FLOATS:
        return value
    with np.errstate(over="ignore"):
        return float(FLOATS[dtype](value))
