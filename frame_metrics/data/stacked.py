"""Rankings of several systems, each a column of one frame: all have the same rows, which are not copied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.data.blocks import RankingRows, to_array
from frame_metrics.inputs import Array
from frame_metrics.roles.columns import PER_SYSTEM, Columns


@dataclass(frozen=True, eq=False)
class Stacked:
    """A view of arrays of equal length as one long array, an array for each system, without a copy.

    With ``step``, i * step is added to the values of array i, as to row numbers.
    """

    parts: Sequence[Array]
    step: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return np.result_type(*self.parts)

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __getitem__(self, at: slice | Array) -> Array:
        n = max(len(self.parts[0]), 1)
        if isinstance(at, slice):
            begin, end, _ = at.indices(len(self))
            if end <= begin:
                return self._part(0, slice(0))
            some = range(begin // n, (end - 1) // n + 1)
            held = [self._part(i, slice(max(begin - i * n, 0), end - i * n)) for i in some]
            return held[0] if len(held) == 1 else np.concatenate(held)
        part = at // n
        first = int(part[0]) if len(part) else 0
        if (part == first).all():
            return self._part(first, at - first * n)
        out = np.empty(len(at), self.dtype)
        for i in np.unique(part):
            mine = part == i
            out[mine] = self._part(int(i), at[mine] - i * n)
        return out

    def _part(self, i: int, at: Array | slice = slice(None)) -> Array:
        values = self.parts[i][at]
        return values + i * self.step if self.step else values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return a copy of all values; only rare operations need it."""
        return np.concatenate([self._part(i) for i in range(len(self.parts))]).astype(dtype or self.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class Systems:
    """The checked rows of systems that are columns; the rows of the first are processed for all."""

    first: pl.DataFrame  # the rows of the first system
    own: list[pl.DataFrame]  # the columns that differ, of each system: "system", and its scores, ranks or predictions

    def table(self, ready: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of all systems; ``ready``: those of the first, with everything joined."""
        return pl.concat([ready.with_columns(own) for own in self.own], rechunk=False)

    def rankings(self, one: RankingRows) -> RankingRows:
        """Return the rankings of all systems, from those of the first."""
        n, count = len(self.first), len(self.own)
        times = np.arange(count)
        values: dict[str, Any] = {name: Stacked([array] * count) for name, array in one.values.items()}
        for name in self.own[0].columns[1:]:
            each = (to_array(part[name]) for part in self.own)
            values[name] = Stacked([part if one.row is None else part[one.row] for part in each])
        return replace(
            one,
            first_row=(one.first_row + n * times[:, None]).ravel(),
            starts=(one.starts + n * times[:, None]).ravel(),
            lengths=np.tile(one.lengths, count),
            row=None if one.row is None else Stacked([one.row.astype(np.int64, copy=False)] * count, n),  # type: ignore[arg-type]
            values=values,
        )


def systems_of(log: pl.DataFrame, columns: Columns) -> Systems:
    """Split the checked rows, which are one system after the other, into those of each system."""
    count = len(columns.shape.per_system)
    n = len(log) // count
    own = ["system", *(role for role in PER_SYSTEM if columns.single.get(role) == columns.shape.together)]
    parts = [log[i * n : (i + 1) * n] for i in range(count)]
    return Systems(parts[0], [part[own] for part in parts])
