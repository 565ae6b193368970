"""Kinds of frames, and the way between them and polars."""

from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, settings

# Machines are shared: how long an example takes says nothing.
settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")

KINDS = ("polars", "lazy", "pandas", "pandas-arrow", "pyarrow")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Every kind of frame, one after the other."""
    return str(request.param)


def as_kind(frame: pl.DataFrame, kind: str) -> Any:
    """Return a polars frame as a frame of a kind."""
    if kind == "lazy":
        return frame.lazy()
    if kind in ("pandas", "pandas-arrow"):
        return frame.to_pandas(use_pyarrow_extension_array=kind == "pandas-arrow")
    return frame.to_arrow() if kind == "pyarrow" else frame


def as_polars(frame: Any) -> pl.DataFrame:
    """Return a frame of any kind as polars, NaN of pandas' numpy columns as null."""
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame
    read = pl.from_pandas(frame) if hasattr(frame, "iloc") else pl.from_arrow(frame)
    assert isinstance(read, pl.DataFrame)
    return read
