"""narwhals: frames that wrap one of another library; answers are wrapped as these are."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from frame_metrics.border.arrow import ArrowFrame
from frame_metrics.border.pandas import PandasFrame
from frame_metrics.border.polars import PolarsFrame
from frame_metrics.border.protocol import Border, Compute, Limits, Schema


def is_narwhals(frame: Any) -> bool:
    """Return True for a frame of narwhals whose rows are in memory."""
    return type(frame).__module__.split(".")[0] == "narwhals" and type(frame).__name__ == "DataFrame"


@dataclass(frozen=True, eq=False)
class Wrapped(Border):
    """A frame of a library in memory that narwhals wraps."""

    module: Any  # of narwhals, or of a version of it that is kept stable

    @property
    def given(self) -> Any:
        return self.module.from_native(self.frame)

    def answer(
        self, columns: Sequence[str], compute: Compute, schema: Schema, limits: Limits, *, in_pieces: bool
    ) -> Any:
        native = super().answer(columns, compute, schema, limits, in_pieces=in_pieces)
        return self.module.from_native(native)


class WrappedPolars(Wrapped, PolarsFrame):
    """A DataFrame of polars that narwhals wraps."""


class WrappedPandas(Wrapped, PandasFrame):
    """A DataFrame of pandas that narwhals wraps."""


class WrappedArrow(Wrapped, ArrowFrame):
    """A pyarrow Table that narwhals wraps."""


KINDS: dict[type[Border], type[Wrapped]] = {
    PolarsFrame: WrappedPolars,
    PandasFrame: WrappedPandas,
    ArrowFrame: WrappedArrow,
}


def wrapped(frame: Any, native: Border) -> Border:
    """Return the border of a frame of narwhals, whose answers are frames of narwhals; ``native`` is that of its own."""
    kind = KINDS.get(type(native))
    return (
        native if kind is None else kind(native.frame, sys.modules[type(frame).__module__.removesuffix(".dataframe")])
    )
