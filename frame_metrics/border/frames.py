"""The border of a frame, by its kind."""

from __future__ import annotations

import sys
from typing import Any

import polars as pl

from frame_metrics.border.arrow import ArrowFrame
from frame_metrics.border.dask import DaskFrame
from frame_metrics.border.duckdb import DuckDBFrame, is_duckdb
from frame_metrics.border.exporters import gives_arrow
from frame_metrics.border.pandas import PandasFrame
from frame_metrics.border.polars import LazyPolars, PolarsFrame
from frame_metrics.border.protocol import Border
from frame_metrics.border.spark import SparkFrame
from frame_metrics.errors import BadValueError, kind_of

LIBRARIES = ("polars", "pandas", "pyarrow")  # of the frames that are made here


def border_of(frame: Any) -> Border:
    """Return the border of a frame, or raise for what is of no kind that can be read."""
    if isinstance(frame, pl.DataFrame):
        return PolarsFrame(frame)
    if isinstance(frame, pl.LazyFrame):
        return LazyPolars(frame)
    if _is_of("pandas", frame):
        return PandasFrame(frame)
    if _is_of("pyspark.sql.dataframe", frame):
        return SparkFrame(frame)
    if type(frame).__module__.startswith("pyspark.pandas"):
        raise BadValueError(f"a {kind_of(frame)} of pandas on Spark is not read: give what its to_spark() returns")
    if _is_of("dask.dataframe", frame):
        return DaskFrame(frame)
    if is_duckdb(frame):
        return DuckDBFrame(frame)
    if gives_arrow(frame):
        return ArrowFrame(frame)
    raise BadValueError(
        f"a {kind_of(frame)} is not a frame: give a pandas or polars DataFrame, a polars LazyFrame or an Arrow table"
    )


def _is_of(module: str, frame: Any) -> bool:
    """Return True for a DataFrame of a module, which is not imported for it: if the frame is of it, someone has.

    A module that another thread is still importing may not have the class yet.
    """
    return isinstance(frame, getattr(sys.modules.get(module), "DataFrame", ()))


def given_as(library: str, table: pl.DataFrame) -> Any:
    """Return a table as a frame of "polars", "pandas" or "pyarrow"."""
    return table.to_pandas() if library == "pandas" else table.to_arrow() if library == "pyarrow" else table
