"""The choice of the backend for a frame, by its kind."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import polars as pl

from frame_metrics.backends.arrow import ArrowFrame, ArrowTable
from frame_metrics.backends.dask import DaskFrame
from frame_metrics.backends.duckdb import DuckDBFrame, is_duckdb
from frame_metrics.backends.exporters import gives_arrow
from frame_metrics.backends.narwhals import is_narwhals, wrapped
from frame_metrics.backends.pandas import PandasFrame
from frame_metrics.backends.polars import LazyPolars, PolarsFrame
from frame_metrics.backends.protocol import Backend
from frame_metrics.backends.spark import SparkFrame
from frame_metrics.errors import BadValueError, class_name, quote

LIBRARIES = ("polars", "pandas", "pyarrow")  # the libraries whose frames ``given_as`` makes
KINDS = (
    "frames are DataFrames of pandas, polars, Dask, Spark and narwhals, LazyFrames of polars, relations of DuckDB, and "
    "what exports Arrow, as tables and datasets of pyarrow and tables of Ibis"
)
OF_COLUMNS = ("query", "doc", "score", "rank", "label", "grade")  # keys by which a dict has columns, and no queries
READERS = {  # the function of polars that reads files of each extension
    ".parquet": "scan_parquet",
    ".ndjson": "scan_ndjson",
    ".jsonl": "scan_ndjson",
    ".json": "read_json",
    ".arrow": "scan_ipc",
    ".feather": "scan_ipc",
    ".xlsx": "read_excel",
}
# The code that makes a frame from an object that is not one, by its library.
WAYS = {
    "cudf": "its to_pandas() or to_arrow()",
    "ray": "its select_columns(...).to_pandas()",
    "modin": "its modin.to_pandas()",
    "narwhals": "its to_native()",
    "duckdb": "its table('log') or sql('from log')",
    "frame_metrics": "its .frame",
}


def backend_of(frame: Any) -> Backend:
    """Return the backend of a frame; raise for an object that is not a frame, or of a kind that cannot be read."""
    if isinstance(frame, pl.DataFrame):
        return PolarsFrame(frame)
    if isinstance(frame, pl.LazyFrame):
        return LazyPolars(frame)
    if _is_of("pandas", frame):
        return PandasFrame(frame)
    if _is_of("pyspark.sql.dataframe", frame):
        return SparkFrame(frame)
    if type(frame).__module__.startswith("pyspark.pandas"):  # which may export Arrow
        raise BadValueError(f"a {class_name(frame)} of pandas on Spark is not read: give what its to_spark() returns")
    if _is_of("dask.dataframe", frame):
        return DaskFrame(frame)
    if is_duckdb(frame):
        return DuckDBFrame(frame)
    if is_narwhals(frame):
        return wrapped(frame, backend_of(frame.to_native()))
    if gives_arrow(frame):
        return ArrowTable(frame) if hasattr(frame, "append_column") else ArrowFrame(frame)
    raise BadValueError(f"a {class_name(frame)} is not a frame{_way_to_one(frame)}; {KINDS}")


def here(frame: Any) -> pl.DataFrame:
    """Return a frame of any kind as polars; a lazy one is run."""
    backend = backend_of(frame)
    return backend.read(backend.names())


def _is_of(module: str, frame: Any) -> bool:
    """Return True for a DataFrame of the named module.

    The module is not imported here: if the frame is from it, it has been imported already. A module that another
    thread is still importing may not have the class yet.
    """
    return isinstance(frame, getattr(sys.modules.get(module), "DataFrame", ()))


def _way_to_one(given: Any) -> str:
    """Return a hint with code that makes a frame from an object; "" if there is none."""
    way = WAYS.get(type(given).__module__.split(".")[0].lstrip("_"))
    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        reader = READERS.get(os.path.splitext(path)[1] if isinstance(path, str) else "", "read_csv")
        trec = f"of TREC frame_metrics.read_run({quote(path)}), or read_qrels of judgments,"
        way = f"polars.{reader}({quote(path)}), or of a file {trec}"
    if isinstance(given, Mapping):
        way = "polars.DataFrame(...) or pandas.DataFrame(...)"
        if not {*given} & {*OF_COLUMNS}:
            return f": if its keys are columns, {way} makes it one; {_of_queries(given)}"
    return "" if way is None else f": {way} makes it one"


def _of_queries(given: Mapping[Any, Any]) -> str:
    """Return how a dict would be of queries, with the first one of this as example."""
    query, docs = next(iter(given.items()), ("q1", ["d1", "d2"]))
    docs = docs if isinstance(docs, list | tuple) and all(isinstance(one, str | int) for one in docs) else ["d1", "d2"]
    each = {doc: len(docs[:2]) - at for at, doc in enumerate(docs[:2])}
    return f"if they are queries, give each a dict of its documents with scores or grades, as {quote({query: each})}"


def given_as(library: str, table: pl.DataFrame) -> Any:
    """Return a table as a frame of a library: "polars", "pandas" or "pyarrow"."""
    return table.to_pandas() if library == "pandas" else table.to_arrow() if library == "pyarrow" else table
