"""narwhals: frames that wrap a frame of another library; answers are wrapped in the same way."""

from __future__ import annotations

import sys
from typing import Any

from frame_metrics.backends.arrow import ArrowTable
from frame_metrics.backends.pandas import PandasFrame
from frame_metrics.backends.polars import PolarsFrame
from frame_metrics.backends.protocol import Backend, Request
from frame_metrics.inputs.records import record


def is_narwhals(frame: Any) -> bool:
    """Return True for a frame of narwhals whose rows are in memory."""
    return type(frame).__module__.split(".")[0] == "narwhals" and type(frame).__name__ == "DataFrame"


@record
class Wrapped(Backend):
    """A frame in memory that narwhals wraps."""

    module: Any  # narwhals, or one of its stable versions: the module that the caller's frame comes from

    @property
    def native(self) -> Any:
        return self.module.from_native(self.frame)

    def answer(self, request: Request) -> Any:
        return self.module.from_native(super().answer(request))


class WrappedPolars(Wrapped, PolarsFrame):
    """A DataFrame of polars that narwhals wraps."""


class WrappedPandas(Wrapped, PandasFrame):
    """A DataFrame of pandas that narwhals wraps."""


class WrappedArrow(Wrapped, ArrowTable):
    """A pyarrow Table that narwhals wraps."""


def wrapped(frame: Any, native: Backend) -> Backend:
    """Return the backend of a frame of narwhals; its answers are frames of narwhals too.

    Parameters
    ----------
    native : the backend of the wrapped frame. It is returned itself if it is of a kind that is not wrapped here.
    """
    for kind in (WrappedPolars, WrappedPandas, WrappedArrow):
        if issubclass(kind, type(native)):
            return kind(native.frame, sys.modules[type(frame).__module__.removesuffix(".dataframe")])
    return native
