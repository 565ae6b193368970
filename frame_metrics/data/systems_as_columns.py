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
    differing: list[pl.DataFrame]  # for each system the columns that differ: "system", and scores, ranks or decisions

    def table(self, ready: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of all systems; ``ready``: those of the first, with everything joined."""
        return pl.concat([ready.with_columns(columns) for columns in self.differing], rechunk=False)

    def rankings(self, one: RankingRows) -> RankingRows:
        """Return the rankings of all systems, from those of the first."""
        n_rows, n_systems = len(self.first), len(self.differing)
        first_row_of_system = n_rows * np.arange(n_systems)[:, None]
        values: dict[str, Any] = {name: Concatenated([array] * n_systems) for name, array in one.values.items()}
        for name in self.differing[0].columns[1:]:
            each = (to_array(columns[name]) for columns in self.differing)
            values[name] = Concatenated([array if one.row is None else array[one.row] for array in each])
        return replace(
            one,
            first_row=(one.first_row + first_row_of_system).ravel(),
            starts=(one.starts + first_row_of_system).ravel(),
            lengths=np.tile(one.lengths, n_systems),
            row=None if one.row is None else Concatenated([one.row.astype(np.int64, copy=False)] * n_systems, n_rows),  # type: ignore[arg-type]
            values=values,
        )


def systems_of(log: pl.DataFrame, columns: Columns) -> Systems:
    """Split the checked rows, which are one system after the other, into those of each system."""
    n_systems = len(columns.shape.per_system)
    n = len(log) // n_systems
    stacked = (role for role in PER_SYSTEM if columns.by_role.get(role) == columns.shape.stacked_column)
    differing = ["system", *stacked]
    parts = [log[i * n : (i + 1) * n] for i in range(n_systems)]
    return Systems(parts[0], [part[differing] for part in parts])
