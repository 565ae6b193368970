"""An answer: what a verb returns before the border makes a frame of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from frame_metrics.inputs import Array


@dataclass(frozen=True, eq=False)
class Answer:
    """A result: columns, and key columns as rows of the caller's frame that hold their values.

    Parameters
    ----------
    keys : for each key column, by the caller's name, the row of each result row; -1 is null, past the frame's end
        it is a row of the judgments.
    columns : the other columns.
    aliases : for key columns that have another name in the caller's frame, that name.
    """

    keys: dict[str, Array]
    columns: dict[str, pl.Series]
    aliases: Mapping[str, str] = field(default_factory=dict)

    def source(self, name: str) -> str:
        """Return what the caller calls the column that a key column is taken from."""
        return self.aliases.get(name, name)
