"""Pairs of systems, query by query: which queries moved most, and which lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from frame_metrics.inputs.records import record
from frame_metrics.report.cells import sign_of

PAIRS, MOST_MOVED = 3, 5  # the most pairs of systems whose moved queries are shown; and queries in each direction
MOST_LOSERS = 10  # the most queries that are listed as those that lost most


@record
class Pairs:
    """The pairs that are drawn and listed, those of the best systems."""

    each: Sequence[pl.DataFrame]  # the differences of each query, a frame for each pair, the best first
    metric: str
    system: str | None  # the column of systems
    has_baseline: bool  # whether a baseline was named

    def sides(self, part: pl.DataFrame) -> tuple[Any, Any]:
        """Return the system and the baseline of differences of one pair."""
        return (part[self.system][0] if self.system in part.columns else None), part["baseline"][0]

    def moved(self) -> list[pl.DataFrame]:
        """Return the queries on which the systems of each pair differ most, up or down, the greatest difference first.

        Of the first pair there are more of those that lost.
        """
        pairs = [pair.filter(pl.col("difference") != 0) for pair in self.each]
        pairs = [pair.sort("difference", descending=True, maintain_order=True) for pair in pairs if len(pair)]
        lost = (MOST_LOSERS, MOST_MOVED) if sign_of(self.metric) < 0 else (MOST_MOVED, MOST_LOSERS)
        found = []
        for at, pair in enumerate(pairs):
            top, low = lost if at == 0 else (MOST_MOVED, MOST_MOVED)
            up, down = pair.filter(pl.col("difference") > 0), pair.filter(pl.col("difference") < 0)
            found.append(pl.concat([up.head(top), down.tail(low)]))
        return found

    def worst_changes(self, system: Any, baseline: Any, n: int) -> pl.DataFrame:
        """Return the queries on which a system lost most against a baseline; no rows for a pair that is not here.

        By a metric without a direction they are those that changed most, up or down.
        """
        part = next((part for part in self.each if {*self.sides(part)} == {system, baseline}), None)
        if part is None:
            return pl.DataFrame()
        if self.sides(part) != (system, baseline):
            part = part.with_columns(-pl.col("difference"), value="baseline_value", baseline_value="value")
        loss = pl.col("difference") * sign_of(self.metric) if sign_of(self.metric) else -pl.col("difference").abs()
        return part.filter(loss < 0).sort(loss, maintain_order=True).head(n)

    @property
    def lost_most(self) -> str:
        """Words for what these queries did."""
        return "lost most" if sign_of(self.metric) else "changed most"

    def has_losses(self) -> bool:
        """Return True if some query of the first pair lost against a baseline that the caller named."""
        pairs = self.each if self.has_baseline else []
        return bool(pairs) and len(self.worst_changes(*self.sides(pairs[0]), 1)) > 0
