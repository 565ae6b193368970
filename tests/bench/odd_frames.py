"""Small frames of odd types, drawn at random: pandas, polars, lazy, and what gives Arrow."""

from __future__ import annotations

import datetime as dt
import uuid
import warnings
from collections.abc import Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

DAY = dt.date(2024, 3, 1)
NOON = dt.datetime(2024, 3, 1, 12)
# Values by their sort; each has ordinary ones and those at an end.
POOLS: dict[str, Sequence[Any]] = {
    "small": (0, 1, 2, 3),
    "int": (0, 1, 2, -1, 255, 2**31, 2**53 + 1, 2**63 - 1),
    "huge": (0, 1, 2**64 - 1, 2**63),
    "float": (0.0, -0.0, 0.5, 1.0, 2.0, -1.5, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324),
    "plain float": (0.0, 0.25, 0.5, 1.0, 2.0),
    "bool": (True, False),
    "text": ("a", "b", "c", "", " ", "0", "1", "true", "metric", "é", "e\u0301", "\x00", "\U0001f50d", "x" * 300),
    "metric": ("rr", "MRR", "ap", "ndcg@5", "gm_ap", "mine", "mine@3"),
    "date": (DAY, DAY + dt.timedelta(1), dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    "moment": (NOON, NOON + dt.timedelta(hours=1), NOON + dt.timedelta(microseconds=1), dt.datetime(1970, 1, 1)),
    "duration": (dt.timedelta(0), dt.timedelta(1), dt.timedelta(microseconds=-1)),
    "time": (dt.time(0), dt.time(23, 59, 59, 999999)),
    "decimal": (Decimal("0"), Decimal("1.10"), Decimal("-2.5"), Decimal(1)),
    "bytes": (b"", b"a", b"b", b"\xff\x00"),
    "list": ([], [1], [1, 2], [None]),
    "struct": ({"a": 1}, {"a": 2}, {"a": None}),
    "none": (None,),
    "interval": ((1, 2, 3), (0, 0, 0)),
    "object": (object(), Decimal(1), "a", 1, (1, 2), 1.5, uuid.UUID(int=1), {"a"}, DAY, float("nan"), b"a", 10**30),
}
POLARS: tuple[tuple[Any, str], ...] = (
    *((t, "small") for t in (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)),
    *((t, "int") for t in (pl.Int64, pl.Int128)),
    *((t, "float") for t in (pl.Float32, pl.Float64)),
    *((t, "metric") for t in (pl.String, pl.Categorical)),
    *((t, "text") for t in (pl.String, pl.Categorical, pl.Enum(sorted(POOLS["text"], reverse=True)))),
    *((pl.Datetime(unit), "moment") for unit in ("ms", "us", "ns")),
    *((pl.Datetime("us", zone), "moment") for zone in ("UTC", "Europe/Vienna")),
    *((pl.Duration(unit), "duration") for unit in ("ms", "us", "ns")),
    (pl.UInt64, "huge"),
    (pl.Boolean, "bool"),
    (pl.Date, "date"),
    (pl.Time, "time"),
    (pl.Decimal(20, 2), "decimal"),
    (pl.Binary, "bytes"),
    (pl.List(pl.Int64), "list"),
    (pl.List(pl.List(pl.Float32)), "none"),
    (pl.Array(pl.Int8, 2), "none"),
    (pl.Struct({"a": pl.Int64}), "struct"),
    (pl.Null, "none"),
    (pl.Object, "object"),
)
ARROW: tuple[tuple[Any, str], ...] = (
    *((t, "small") for t in (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16(), pa.uint32())),
    *((t, "float") for t in (pa.float16(), pa.float32(), pa.float64())),
    *((t, "metric") for t in (pa.string(), pa.dictionary(pa.int8(), pa.string()))),
    *((t, "text") for t in (pa.string(), pa.large_string(), pa.string_view())),
    *((pa.dictionary(i, v), "text") for i in (pa.int8(), pa.uint16(), pa.int64()) for v in (pa.string(),)),
    *((pa.timestamp(unit), "moment") for unit in ("s", "ms", "us", "ns")),
    *((pa.timestamp("us", zone), "moment") for zone in ("UTC", "+05:30", "Europe/Vienna")),
    *((pa.duration(unit), "duration") for unit in ("s", "ms", "us", "ns")),
    *((t, "date") for t in (pa.date32(), pa.date64())),
    *((t, "decimal") for t in (pa.decimal128(20, 2), pa.decimal256(60, 2), pa.decimal128(38, 30))),
    *((t, "bytes") for t in (pa.binary(), pa.large_binary(), pa.binary_view())),
    *((t, "list") for t in (pa.list_(pa.int64()), pa.large_list(pa.int8()), pa.list_view(pa.int64()))),
    (pa.int64(), "int"),
    (pa.uint64(), "huge"),
    (pa.bool_(), "bool"),
    (pa.time32("s"), "time"),
    (pa.time64("ns"), "time"),
    (pa.list_(pa.int8(), 2), "none"),
    (pa.map_(pa.string(), pa.int64()), "none"),
    (pa.struct([("a", pa.int64())]), "struct"),
    (pa.struct([("a", pa.decimal256(40, 2))]), "none"),
    (pa.dictionary(pa.int8(), pa.int64()), "small"),
    (pa.dictionary(pa.int8(), pa.timestamp("us", "+05:30")), "moment"),
    (pa.run_end_encoded(pa.int16(), pa.string()), "text"),
    (pa.run_end_encoded(pa.int32(), pa.float64()), "float"),
    (pa.month_day_nano_interval(), "interval"),
    (pa.null(), "none"),
)
PANDAS: tuple[tuple[Any, str], ...] = (
    *((t, "small") for t in ("int8", "int32", "uint8", "uint32", "Int8", "UInt16", "Int64", "category")),
    *((t, "float") for t in ("float16", "float32", "float64", "Float32", "Float64")),
    *((t, "bool") for t in ("bool", "boolean", "object")),
    *((t, "metric") for t in ("object", "category")),
    *((t, "text") for t in ("string", "string[python]", "object", "category", "str")),
    *(
        (t, "moment")
        for t in ("datetime64[s]", "datetime64[ns]", "datetime64[us, Europe/Vienna]", "period[h]", "period[D]")
    ),
    *((t, "object") for t in ("object", "category")),
    *((t, "date") for t in ("object", "category")),
    *((t, "int") for t in ("int64", "Int64", "object")),
    ("uint64", "huge"),
    ("timedelta64[ns]", "duration"),
    ("object", "decimal"),
    ("object", "bytes"),
    ("object", "list"),
    ("object", "none"),
    ("float64", "none"),
    ("Sparse[float64]", "plain float"),
    ("Sparse[int64]", "small"),
    ("interval[left]", "small"),
    ("complex128", "plain float"),
    ("interval", "small"),
    *((pd.ArrowDtype(t), pool) for t, pool in ARROW),
)
# What a part of this name is made of where it is to be read; a sort of POOLS, and types that hold it in each library.
SANE: dict[str, tuple[str, ...]] = {
    "query": ("small", "text", "bool"),
    "score": ("plain float", "small"),
    "other score": ("plain float", "small"),
    "rank": ("small",),
    "label": ("bool", "bool", "bool", "bool", "text", "small"),
    "grade": ("small", "plain float"),
    "predicted": ("bool", "bool", "text", "small"),
    "doc": ("text", "small"),
    "system": ("text", "small"),
    "by": ("text", "bool"),
    "weight": ("plain float", "small"),
    "count": ("small",),
    "cluster": ("text", "small"),
    "n_relevant": ("small",),
    "value": ("plain float", "small", "bool"),
    "metric": ("metric",),
}
ODD_NAMES: tuple[Any, ...] = (
    *("", " ", "metric", "value", "k", "n", "average", "total_over", "class", "threshold", "tp", "check", "row"),
    *(
        "\0bare",
        "\0order",
        "a.b",
        'a"b',
        "é",
        "query:0",
        "hash",
        "index",
        "len",
        "literal",
        "position",
        "__x",
        "*",
        "^a.*$",
        "0",
        "system",
    ),
)
NULLS = 0.06  # of the columns of any role have nulls
KINDS = ("polars", "lazy", "pandas", "pandas", "arrow", "arrow", "dataset", "reader", "stream")


class Stream:
    """What exports Arrow, and nothing else is known of it."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def drawn(rng: Random, roles: Sequence[str], odd: float) -> tuple[Any, dict[str, Any]]:
    """Draw a frame, and return it with the name of each role's column.

    Parameters
    ----------
    roles : each has a column; there are other ones too.
    odd : share of its columns that are of any type, or have another name than their role's.
    """
    kind, n = rng.choice(KINDS), rng.choice((0, 1, 2, 3, 4, 6, 8, 8, 12))
    query = [rng.randrange(3) for _ in range(n)]
    more = ["other"] * rng.choice((0, 0, 1, 2))
    named = {role: rng.choice(ODD_NAMES) if rng.random() < odd / 2 else role for role in roles}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what libraries say of the values that are drawn
        columns = [
            (named.get(role, rng.choice(ODD_NAMES)), _column(rng, kind, role, query, odd)) for role in [*roles, *more]
        ]
        return FRAMES[kind](rng, columns), named


def _column(rng: Random, kind: str, role: str, query: Sequence[int], odd: float) -> Any:
    """Draw a column of a kind of frame: most often values that can play its part, else of any type."""
    library = {"polars": "polars", "lazy": "polars", "pandas": "pandas"}.get(kind, "arrow")
    types, made = {"polars": (POLARS, _of_polars), "pandas": (PANDAS, _of_pandas), "arrow": (ARROW, _of_arrow)}[library]
    if role not in SANE or rng.random() < odd:
        dtype, sort = rng.choice(types)
        return made(_values(rng, POOLS[sort], query, nulls=0.15), dtype)
    sort = rng.choice(SANE[role])
    pool = rng.sample(POOLS[sort], min(3, len(POOLS[sort])))
    fitting = [dtype for dtype, of in types if of == sort or (of == "float" and sort == "plain float")]
    nulls = 0.1 if role in ("grade", "label", "score", "predicted") and rng.random() < 0.5 else 0
    nulls = nulls or (0.2 if rng.random() < NULLS else 0)
    by_query = role in ("weight", "cluster", "n_relevant", "by") and rng.random() < 0.8
    values = [pool[i % len(pool)] for i in query] if by_query or role == "query" else None
    if role == "rank" or (role == "doc" and rng.random() < 0.8):
        values = rng.sample(range(1, len(query) + 1), len(query))
        values = [str(value) for value in values] if sort == "text" else values
    if values and nulls and rng.random() < 0.5:
        values = [None if rng.random() < nulls else value for value in values]
    return made(values or _values(rng, pool, query, nulls), rng.choice(fitting) if rng.random() < 0.4 else None)


def _values(rng: Random, pool: Sequence[Any], query: Sequence[int], nulls: float) -> list[Any]:
    return [None if rng.random() < nulls else rng.choice(pool) for _ in query]


def _of_polars(values: list[Any], dtype: Any) -> pl.Series:
    try:
        return pl.Series(values, dtype=dtype, strict=dtype is None)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series([None] * len(values), dtype=dtype or pl.Null)


def _of_arrow(values: list[Any], dtype: Any) -> Any:
    try:
        if dtype is not None and pa.types.is_run_end_encoded(dtype):
            return pc.run_end_encode(pa.array(values, dtype.value_type), dtype.run_end_type)
        return pa.array(values, dtype)
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return pa.nulls(len(values), pa.int64())


def _of_pandas(values: list[Any], dtype: Any) -> pd.Series:
    try:
        if dtype in ("interval", "interval[left]"):
            closed = "right" if dtype == "interval" else "left"
            left, right = [v or 0 for v in values], [5] * len(values)
            return pd.Series(pd.arrays.IntervalArray.from_arrays(left, right, closed=closed))
        if isinstance(dtype, pd.ArrowDtype):
            return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([_of_arrow(values, dtype.pyarrow_dtype)])))
        if dtype == "object":
            held = np.empty(len(values), dtype=object)
            held[:] = values
            return pd.Series(held, dtype=object)
        return pd.Series(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        held = np.empty(len(values), dtype=object)
        held[:] = values
        return pd.Series(held, dtype=object)


def _polars(rng: Random, columns: Sequence[tuple[Any, pl.Series]]) -> pl.DataFrame:
    frame = pl.DataFrame(dict(columns))
    return frame[: len(frame) // 2].vstack(frame[len(frame) // 2 :]) if rng.random() < 0.2 else frame


def _pandas(rng: Random, columns: Sequence[tuple[Any, pd.Series]]) -> pd.DataFrame:
    frame = pd.DataFrame(dict(enumerate(values for _, values in columns)))
    frame.columns = pd.Index([name for name, _ in columns], dtype=object)
    if rng.random() < 0.03:
        frame.columns = pd.Index([rng.choice((0, 1, 1.5, None, ("a", 1), DAY, name)) for name, _ in columns])
    if len(frame) and rng.random() < 0.2:
        frame.index = pd.Index([rng.randrange(2) for _ in range(len(frame))], name=rng.choice(("query", None)))
    if rng.random() < 0.02:
        frame.columns = pd.MultiIndex.from_tuples([(name, i % 2) for i, (name, _) in enumerate(columns)])
    return frame


def _arrow(rng: Random, columns: Sequence[tuple[Any, Any]]) -> pa.Table:
    table = pa.table([values for _, values in columns], names=[name for name, _ in columns])
    half = len(table) // 2
    views = any(pa.types.is_run_end_encoded(kind) for kind in table.schema.types)
    return pa.concat_tables([table[:half], table[half:]]) if rng.random() < 0.2 and not views else table


FRAMES: dict[str, Callable[[Random, Any], Any]] = {
    "polars": _polars,
    "lazy": lambda rng, columns: _polars(rng, columns).lazy(),
    "pandas": _pandas,
    "arrow": _arrow,
    "dataset": lambda rng, columns: ds.dataset(_arrow(rng, columns)),
    "reader": lambda rng, columns: _arrow(rng, columns).to_reader(),
    "stream": lambda rng, columns: Stream(_arrow(rng, columns)),
}


def told(frame: Any) -> str:
    """Return all that a frame holds as text, so that a change of it shows; "" for what can be read once."""
    if isinstance(frame, pd.DataFrame):
        columns = [(frame.dtypes.iloc[i], list(frame.iloc[:, i])) for i in range(frame.shape[1])]
        return repr(
            (list(frame.columns), frame.columns.names, list(frame.index), frame.index.names, frame.attrs, columns)
        )
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return repr((frame.schema, frame.rows()))
    if isinstance(frame, Stream):
        frame = frame.table
    return repr((frame.schema, [str(column) for column in frame.columns])) if isinstance(frame, pa.Table) else ""
