"""Rankings of several systems, each a column of one frame: all have the same rows, which are not copied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.data.ranking_rows import RankingRows
from frame_metrics.fast.concatenated import Concatenated
from frame_metrics.fast.take_rows import to_array
from frame_metrics.inputs.records import record
from frame_metrics.roles.columns import PER_SYSTEM, Columns


@record
class Systems:
    """The checked rows of systems that are columns; the rows of the first are processed for all."""

    first: pl.DataFrame  # the rows of the first system
    differing: list[
        pl.DataFrame
    ]  # the columns that differ, of each system: "system", and its scores, ranks or predictions

    def table(self, ready: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of all systems; ``ready``: those of the first, with everything joined."""
        return pl.concat([ready.with_columns(own) for own in self.differing], rechunk=False)

    def rankings(self, one: RankingRows) -> RankingRows:
        """Return the rankings of all systems, from those of the first."""
        n, count = len(self.first), len(self.differing)
        times = np.arange(count)
        values: dict[str, Any] = {name: Concatenated([array] * count) for name, array in one.values.items()}
        for name in self.differing[0].columns[1:]:
            each = (to_array(part[name]) for part in self.differing)
            values[name] = Concatenated([part if one.row is None else part[one.row] for part in each])
        return replace(
            one,
            first_row=(one.first_row + n * times[:, None]).ravel(),
            starts=(one.starts + n * times[:, None]).ravel(),
            lengths=np.tile(one.lengths, count),
            row=None if one.row is None else Concatenated([one.row.astype(np.int64, copy=False)] * count, n),  # type: ignore[arg-type]
            values=values,
        )


def systems_of(log: pl.DataFrame, columns: Columns) -> Systems:
    """Split the checked rows, which are one system after the other, into those of each system."""
    count = len(columns.shape.per_system)
    n = len(log) // count
    own = ["system", *(role for role in PER_SYSTEM if columns.by_role.get(role) == columns.shape.stacked_column)]
    parts = [log[i * n : (i + 1) * n] for i in range(count)]
    return Systems(parts[0], [part[own] for part in parts])
