"""Conventions: what is done where the field disagrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frame_metrics.errors import NotComputableError
from frame_metrics.inputs import Array
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

    def filled(
        self, name: str, metric: Metric, values: Array, there: Array | None = None, of: str = "segments"
    ) -> Array:
        """Return a metric's values with the undefined ones replaced, NaN where they stay null.

        Parameters
        ----------
        there : whether there is something to measure, of the shape of the values; the others stay as they are.
        of : the plural of what the values belong to, for the error.

        Raises
        ------
        NotComputableError
            A value is undefined, and ``undefined="raise"``.
        """
        undefined = np.isnan(values) if there is None else np.isnan(values) & there
        if not undefined.any():
            return values
        if self.undefined == "raise":
            n = undefined.size if there is None else int(there.sum())
            raise NotComputableError(f"{name} is undefined for {int(undefined.sum())} of {n} {of}")
        fill = self.fill(metric)
        return values if fill is None else np.where(undefined, fill, values)

    def variant(self, metric: Metric) -> tuple[float, bool]:
        """The relevance level of a metric, and whether its lists are condensed."""
        return metric.variant(self.rel, self.unjudged == "drop")
