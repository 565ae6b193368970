"""An answer: what a verb returns before the border makes a frame of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from frame_metrics.inputs import Array


@dataclass(frozen=True, eq=False)
class Answer:
    """A result: columns, and key columns as rows of the caller's frame that hold their values, or as the values.

    A row of -1 is null, one past the frame's end is a row of the judgments.
    """

    keys: Mapping[str, Array | pl.Series]  # by the caller's name, the row of each result row, or the value
    columns: dict[str, pl.Series]
    aliases: Mapping[str, str] = field(default_factory=dict)  # the caller's name of a key column that has another here

    def source(self, name: str) -> str:
        """Return what the caller calls the column that a key column is taken from."""
        return self.aliases.get(name, name)
