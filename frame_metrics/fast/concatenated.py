"""Several arrays as one long array, without a copy of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record


@record
class Concatenated:
    """Arrays of equal length, one for each system, that are read as one long array, without a copy."""

    parts: Sequence[Array]
    step: int = 0  # i * step is added to the values of array i, such as row numbers

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
            found = [self._part(i, slice(max(begin - i * n, 0), end - i * n)) for i in some]
            return found[0] if len(found) == 1 else np.concatenate(found)
        part = at // n
        first = int(part[0]) if len(part) else 0
        if (part == first).all():
            return self._part(first, at - first * n)
        out = np.empty(len(at), self.dtype)
        for i in np.unique(part):
            from_array = part == i
            out[from_array] = self._part(int(i), at[from_array] - i * n)
        return out

    def _part(self, i: int, at: Array | slice = slice(None)) -> Array:
        """Return values of array i; ``at``: positions in it."""
        values = self.parts[i][at]
        return values + i * self.step if self.step else values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return a copy of all values; only rare operations need it."""
        return np.concatenate([self._part(i) for i in range(len(self.parts))]).astype(dtype or self.dtype, copy=False)
