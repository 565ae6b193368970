"""The backend: every kind of frame, key and value type gives the same numbers, and comes back as it went in."""

import copy
import datetime as dt
import gc
import sys
import uuid
import weakref
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import dask.dataframe as dd
import duckdb
import narwhals
import narwhals.stable.v1
import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from frame_metrics import IRM, BadValueError, ColumnError, FrameMetricsError
from helpers import VERBS as EVERY_VERB
from helpers import as_kind, as_polars, error
from inside import small_blocks

DAY, NOON = dt.date(2024, 3, 1), dt.datetime(2024, 3, 1, 12)
DAYS = [DAY + dt.timedelta(i) for i in range(4)]
HOURS = [NOON + dt.timedelta(hours=i) for i in range(4)]

# A small log that no two of its keys measure alike; what stands in for a key is the code of its value, 0 to 3.
LOG = {
    "query": [0, 0, 1, 1, 2, 2, 3, 3, 0, 1],
    "score": [3.0, 1.0, 2.0, 5.0, 4.0, 3.0, 1.0, 2.0, 2.0, 1.0],
    "grade": [0, 2, 1, 0, 1, 1, 0, 3, 1, 2],
}
CODES = {"query": LOG["query"], "by": LOG["query"], "system": [0, 1, 2, 2, 0, 0, 1, 3, 0, 3]}

POLARS_KEYS = {
    **{str(t): pl.Series([1, 2, 3, 4], dtype=t) for t in (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)},
    "Int64": pl.Series([2**63 - 1, 2**63 - 2, 2**63 - 3, -(2**63)], dtype=pl.Int64),
    "UInt64": pl.Series([2**64 - 1, 2**64 - 2, 2**64 - 3, 0], dtype=pl.UInt64),
    "Float32": pl.Series([0.1, 0.2, 0.3, 1e30], dtype=pl.Float32),
    "Float64": pl.Series([0.1, 0.1 + 2**-54, -0.3, 1e300]),
    "Boolean": pl.Series([True, False]),
    "String": pl.Series(["b", "a", "ü", ""]),
    "Categorical": pl.Series(["b", "a", "ü", "c"], dtype=pl.Categorical),
    "Enum": pl.Series(["b", "a", "ü", "c"], dtype=pl.Enum(["c", "b", "not there", "ü", "a"])),
    "Date": pl.Series(DAYS),
    **{f"Datetime {unit}": pl.Series(HOURS, dtype=pl.Datetime(unit)) for unit in ("ms", "us", "ns")},
    "Datetime zone": pl.Series(HOURS).dt.replace_time_zone("Europe/Vienna"),
    "Duration": pl.Series([dt.timedelta(hours=i) for i in range(4)]),
    "Time": pl.Series([dt.time(i) for i in range(4)]),
    "Decimal": pl.Series([Decimal("1.10"), Decimal("1.20"), Decimal("1.30"), Decimal("2")]),
    "Binary": pl.Series([b"a", b"b", b"c", b"\xff"]),
    "Struct": pl.Series([{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}]),
    "List": pl.Series([[1], [2], [1, 2], []]),
}

ARROW_KEYS = {
    "large_string": pa.array(["b", "a", "c", ""], pa.large_string()),
    "string_view": pa.array(["b", "a", "c", ""], pa.string_view()),
    "dictionary": pa.array(["b", "a", "c", ""]).dictionary_encode(),
    "date64": pa.array(DAYS, pa.date64()),
    "timestamp s": pa.array(HOURS, pa.timestamp("s")),
    "fixed binary": pa.array([b"aa", b"bb", b"cc", b"dd"], pa.binary(2)),
    "dictionary of int": pa.array([5, 3, 4, 1]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.int64())),
    "decimal256": pa.array([Decimal(i) / 4 for i in range(4)], pa.decimal256(50, 2)),
    "fixed offset": pa.array(HOURS, pa.timestamp("us", "+05:30")),
    "dictionary of fixed offset": pa.array(HOURS, pa.timestamp("us", "+05:30")).dictionary_encode(),
    "run ends": pc.run_end_encode(pa.array(["b", "a", "c", ""]), run_end_type=pa.int16()),
}
UNREADABLE = {
    "decimal256": pa.array([Decimal(10) ** 50] * 2, pa.decimal256(60, 2)),
    "decimal256 of a wide scale": pa.array([Decimal(0)] * 2, pa.decimal256(60, 50)),
    "month_day_nano": pa.array([(1, 2, 3)] * 2, pa.month_day_nano_interval()),
    "list_view": pa.array([[1], [2]], pa.list_view(pa.int64())),
    "struct of decimal256": pa.array([{"a": Decimal(1)}] * 2, pa.struct([("a", pa.decimal256(40, 2))])),
    "no zone": pa.array([0, 1], pa.timestamp("us", "Not/A_Zone")),
    "union": pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]),
}


def _objects(*values: Any) -> pd.Series:
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return pd.Series(held, dtype=object)


PANDAS_KEYS = {
    **{t: pd.Series([1, 2, 3, 4], dtype=t) for t in ("int8", "int16", "int32", "uint8", "uint16", "uint32", "Int8")},
    "int64": pd.Series([2**63 - 1, 2**63 - 2, 2**63 - 3, -(2**63)]),
    "uint64": pd.Series([2**64 - 1, 2**64 - 2, 2**64 - 3, 0], dtype="uint64"),
    "Int64": pd.Series([2**63 - 1, 2**63 - 2, 2**63 - 3, -(2**63)], dtype="Int64"),
    "UInt64": pd.Series([2**64 - 1, 2**64 - 2, 2**64 - 3, 0], dtype="UInt64"),
    **{t: pd.Series([1, 2, 3, 4], dtype=t) for t in ("float16", "float32", "float64", "Float32", "Float64")},
    "bool": pd.Series([True, False]),
    "boolean": pd.Series([True, False], dtype="boolean"),
    "string": pd.Series(["b", "a", "c", ""], dtype="string"),
    "string[python]": pd.Series(["b", "a", "c", ""], dtype="string[python]"),
    "default string": pd.Series(["b", "a", "c", ""]),
    "category": pd.Series(["b", "a", "c", "d"], dtype="category"),
    "ordered": pd.Series(
        pd.Categorical(["b", "a", "c", "d"], categories=["d", "c", "not there", "b", "a"], ordered=True)
    ),
    "category of int": pd.Series([5, 3, 4, 1], dtype="category"),
    "ordered int": pd.Series(pd.Categorical([5, 3, 4, 1], categories=[4, 5, 3, 1], ordered=True)),
    "category of float": pd.Series([0.5, 0.3, 0.4, 0.1], dtype="category"),
    "category of date": pd.Series(pd.Categorical(DAYS)),
    "category of timestamp": pd.Series(pd.Categorical(HOURS)),
    "cut": pd.cut(pd.Series([1, 5, 15, 25]), [0.0, 2.0, 10.0, 20.0, 30.0]),
    **{f"datetime {u}": pd.Series(HOURS).dt.as_unit(u) for u in ("s", "ms", "us", "ns")},
    "datetime zone": pd.Series(HOURS).dt.tz_localize("Europe/Vienna"),
    "datetime offset": pd.Series(HOURS).dt.tz_localize(dt.timezone(dt.timedelta(hours=2))),
    **{
        f"timedelta {u}": pd.Series(pd.to_timedelta([1, 2, 3, 4], unit="s")).dt.as_unit(u)
        for u in ("s", "ms", "us", "ns")
    },
    "period": pd.Series(pd.period_range("2024-01", periods=4, freq="M")),
    "interval": pd.Series(pd.interval_range(0.0, 4.0, closed="left")),
    "sparse": pd.Series(pd.arrays.SparseArray([1.5, 0.0, 2.0])),
    "object of str": _objects("b", "a", "c", "d"),
    "object of int": _objects(5, 3, -4, 1),
    "object of huge int": _objects(2**64 - 1, 2**64 - 2, 3, 4),
    "object of uuid": _objects(*(uuid.UUID(int=i) for i in range(4))),
    "object of date": _objects(*DAYS),
    "object of time": _objects(*(dt.time(i) for i in range(4))),
    "object of decimal": _objects(*(Decimal(i) / 3 for i in range(4))),
    "object of float": _objects(0.1, 0.2, 0.3, 0.4),
    "object of int and float": _objects(1, 2.5, 3, 4),
    "object of bool": _objects(True, False),
    "object of bytes": _objects(b"a", b"b", b"c", b"\xff"),
    "object of tuple": _objects((1, 2), (1, 3), (2,), ()),
    "object of timestamp": _objects(*(pd.Timestamp(2024, 3, i) for i in (1, 2, 3, 4))),
    "object of mixed types": _objects("a", 1, 2.5, DAY),
    **{
        f"arrow {t}": pd.Series(pd.array(values, dtype=pd.ArrowDtype(t)))
        for t, values in (
            (pa.int8(), [1, 2, 3, 4]),
            (pa.uint64(), [2**64 - 1, 2, 3, 4]),
            (pa.string(), ["a", "b", "c", "d"]),
            (pa.large_string(), ["a", "b", "c", "d"]),
            (pa.bool_(), [True, False]),
            (pa.date32(), DAYS),
            (pa.timestamp("ns", "Europe/Vienna"), list(pd.Series(HOURS).dt.tz_localize("Europe/Vienna"))),
            (pa.duration("us"), [dt.timedelta(i) for i in range(4)]),
            (pa.decimal128(10, 2), [Decimal(i) for i in range(4)]),
            (pa.time64("us"), [dt.time(i) for i in range(4)]),
            (pa.binary(), [b"a", b"b", b"c", b"d"]),
        )
    },
}


def _values(frame: Any, column: str) -> list[Any]:
    """The values of a column as Python has them, null as None."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame[column].to_list()
    if isinstance(frame, pd.DataFrame):
        return [None if absent else value for value, absent in zip(frame[column], frame[column].isna(), strict=True)]
    return frame.column(column).to_pylist()


def _type(frame: Any, column: str) -> Any:
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return frame.collect_schema()[column]
    return frame[column].dtype if isinstance(frame, pd.DataFrame) else frame.schema.field(column).type


def _ask(frame: Any, role: str, **options: Any) -> Any:
    if role == "query":
        return IRM(frame, query="key", score="score", grade="grade").per_query("ndcg", "rr")
    return IRM(frame, query="query", score="score", grade="grade", **{role: "key"}).evaluate("ndcg", "rr", **options)


def _answers(result: Any) -> dict[tuple[str, str], float]:
    """The value of each key and metric; keys as text, for Python holds 1 and True equal."""
    columns = zip(_values(result, "key"), _values(result, "metric"), _values(result, "value"), strict=True)
    rows = [((repr(key), metric), value) for key, metric, value in columns]
    assert len(dict(rows)) == len(rows)
    return dict(rows)


@cache
def _of_numbers(role: str, n: int) -> list[tuple[int, str, float]]:
    """Key, metric and value of the log with numbers for keys, n of them at most."""
    codes = [code % n for code in CODES[role]]
    return _ask(pl.DataFrame({**LOG, "key": codes}), role).select("key", "metric", "value").rows()


def _expected(role: str, distinct: list[Any]) -> dict[tuple[str, str], float]:
    """The answers to the same log with numbers for keys, and then the keys in place of the numbers."""
    return {(repr(distinct[code]), metric): value for code, metric, value in _of_numbers(role, len(distinct))}


def _taken(role: str, values: Any) -> list[int]:
    return [code % len(values) for code in CODES[role]]


def _pandas_frame(role: str, values: pd.Series) -> pd.DataFrame:
    return pd.DataFrame({**LOG, "key": values.iloc[_taken(role, values)].reset_index(drop=True)})


@pytest.mark.parametrize("role", CODES)
@pytest.mark.parametrize("name", POLARS_KEYS)
@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow"])
def test_polars_keys(name: str, role: str, kind: str) -> None:
    """A key column of any polars type gives what numbers in its place give, and keeps its type."""
    values = POLARS_KEYS[name]
    frame = as_kind(pl.DataFrame({**LOG, "key": values.gather(_taken(role, values))}), kind)
    distinct = values.to_arrow().to_pylist() if kind == "pyarrow" else values.to_list()
    result = _ask(frame, role)
    assert _answers(result) == _expected(role, distinct)
    assert _type(result, "key") == _type(frame, "key")


@pytest.mark.parametrize("role", CODES)
def test_wide_integer_keys(role: str) -> None:
    """Integers of 128 bits are keys too."""
    values = pl.Series([2**127 - 1, 2**127 - 2, 2**63, -(2**127)], dtype=pl.Int128)
    frame = pl.DataFrame({**LOG, "key": values.gather(_taken(role, values))})
    result = _ask(frame, role)
    assert _answers(result) == _expected(role, values.to_list())
    assert result["key"].dtype == pl.Int128


@pytest.mark.parametrize("role", CODES)
@pytest.mark.parametrize("name", ARROW_KEYS)
def test_arrow_keys(name: str, role: str) -> None:
    """A key column of an Arrow type that polars reads as another comes back as the type it was."""
    values = ARROW_KEYS[name]
    frame = pa.table({**LOG, "key": _arrow_taken(values, _taken(role, values))})
    result = _ask(frame, role)
    assert _answers(result) == _expected(role, values.to_pylist())
    assert result.schema.field("key").type == values.type


def _arrow_taken(values: Any, at: list[int]) -> Any:
    """Rows of an array, of types too that Arrow cannot take rows of."""
    kind = values.type
    plain = values.dictionary_decode() if pa.types.is_dictionary(kind) else values
    taken = pa.array([plain[code].as_py() for code in at], getattr(kind, "value_type", kind))
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(taken, run_end_type=kind.run_end_type)
    if pa.types.is_dictionary(kind):
        coded = taken.dictionary_encode()
        return pa.DictionaryArray.from_arrays(coded.indices.cast(kind.index_type), coded.dictionary)
    return taken


@pytest.mark.parametrize("name", ARROW_KEYS)
def test_arrow_keys_from_the_judgments(name: str) -> None:
    """A query that only the judgments have is named in the result, in the Arrow type of the log's queries."""
    values = ARROW_KEYS[name]
    log, qrels = map(pa.table, _judged_frames(lambda code: _arrow_taken(values, code)))
    result = IRM(log, query="key").judge(qrels).per_query("recall", "rr")
    assert _answers(result) == _judged_answers(values.to_pylist())
    assert result.schema.field("key").type == values.type


@pytest.mark.parametrize("role", ["query", "by", "doc"])
@pytest.mark.parametrize("name", UNREADABLE)
def test_arrow_types_that_cannot_be_read(name: str, role: str) -> None:
    """A column of a type that cannot be read, or with a value that does not fit, is named with its type."""
    values = UNREADABLE[name]
    columns = {"query": [1, 2], "score": [1.0, 2.0], "grade": [1, 0]}
    said = error(lambda: IRM(pa.table(columns | {"key": values}), **{role: "key"}).evaluate("rr"), BadValueError)
    assert said == f"key: the column is {values.type}, which cannot be read; cast it to another type"


@pytest.mark.parametrize("name", ["decimal256", "fixed offset", "run ends", "string_view"])
def test_arrow_types_in_pandas(name: str) -> None:
    """What is read of Arrow is read where pandas holds it, and keeps its type."""
    values = ARROW_KEYS[name]
    taken = pd.arrays.ArrowExtensionArray(_arrow_taken(values, _taken("query", values)))
    result = _ask(pd.DataFrame({**LOG, "key": taken}), "query")
    assert result["key"].dtype == taken.dtype
    assert _answers(result) == _expected("query", list(pd.Series(pd.arrays.ArrowExtensionArray(values))))


@pytest.mark.parametrize("name", ["run ends", "string_view"])
def test_arrow_types_in_pandas_from_the_judgments(name: str) -> None:
    """A query that only the judgments have is named, where pandas cannot take rows of either column too."""
    values = ARROW_KEYS[name]
    log, qrels = _judged_frames(lambda code: pd.arrays.ArrowExtensionArray(_arrow_taken(values, code)))
    result = IRM(pd.DataFrame(log), query="key").judge(pd.DataFrame(qrels)).per_query("recall", "rr")
    assert _answers(result) == _judged_answers(values.to_pylist())
    assert result["key"].dtype == pd.DataFrame(log)["key"].dtype
    text = IRM(pd.DataFrame({**log, "key": [str(key) for key in log["key"]]}), query="key")
    assert _answers(text.judge(pd.DataFrame(qrels)).per_query("recall", "rr")) == _judged_answers(values.to_pylist())


def test_arrow_types_in_pandas_that_cannot_be_read() -> None:
    """A column of pandas that is of such a type is named with it."""
    values = UNREADABLE["month_day_nano"]
    frame = pd.DataFrame({"score": [1.0, 2.0], "grade": [1, 0]})
    frame["key"] = pd.arrays.ArrowExtensionArray(values)
    said = error(lambda: IRM(frame, query="key").evaluate("rr"), BadValueError)
    assert said.startswith(f"key: the column is {values.type}, which cannot be read")


def test_keys_without_a_type_beside_judgments(kind: str) -> None:
    """A log without a row, whose query has no type, names judged queries in the judgments' type; a plan knows it."""
    log = as_kind(pl.DataFrame({"query": [], "doc": [], "score": []}, schema_overrides={"score": pl.Float64}), kind)
    qrels = as_kind(pl.DataFrame({"query": ["a", "b"], "doc": ["x", "x"], "grade": [1, 1]}), kind)
    result = IRM(log).judge(qrels).per_query("rr")
    assert as_polars(result).select("query", "value").rows() == [("a", 0.0), ("b", 0.0)]
    if kind == "lazy":
        assert result.collect_schema() == result.collect().schema


EXTENSIONS = {
    "of pyarrow": pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int8(), [2]), pa.array([[i, 0] for i in range(4)], pa.list_(pa.int8(), 2))
    ),
    "unknown": pa.array(["b", "a", "c", ""]),
}


@pytest.mark.parametrize("role", CODES)
@pytest.mark.parametrize("name", EXTENSIONS)
def test_extension_types_of_arrow(name: str, role: str) -> None:
    """An extension type is read as what is stored, whether pyarrow knows it or its field says it, and comes back."""
    values = EXTENSIONS[name]
    says = {"ARROW:extension:name": "no.such", "ARROW:extension:metadata": ""} if name == "unknown" else None
    key = pa.chunked_array([pa.array(values).take(pa.array(_taken(role, values)))])
    schema = pa.schema([*pa.table(LOG).schema, pa.field("key", values.type, metadata=says)])
    result = _ask(pa.table([*pa.table(LOG).columns, key], schema=schema), role)
    assert _answers(result) == _expected(role, values.to_pylist())
    assert result.schema.field("key").type == values.type


@pytest.mark.parametrize("kind", ["pyarrow", "pandas-arrow"])
def test_slices_of_lists_of_one_size(kind: str) -> None:
    """A slice of a column of lists of one size, some of them null, is read as any other."""
    lists = pa.array([[9, 9], [1, 2], None, [1, 2]], pa.list_(pa.int8(), 2))
    table = pa.table({"query": [0, 1, 1, 1], "by": lists, "score": [1.0] * 4, "label": [1, 0, 1, 1]})[1:]
    frame = table if kind == "pyarrow" else table.to_pandas(types_mapper=pd.ArrowDtype)
    assert _values(IRM(frame, by="by").evaluate("num_rel"), "value") == [1.0, 1.0]
    if kind == "pyarrow":
        parts = pa.concat_tables([table[:1], table[1:].combine_chunks()])
        assert IRM(parts, by="by").evaluate("num_rel").column("value").to_pylist() == [1.0, 1.0]


ZONED = pd.to_datetime(["2026-01-01T00:00+02:00", "2026-02-01T00:00+02:00"])
# Two names, and how the second may be called.
NAMES: dict[str, tuple[Any, list[Any]]] = {
    "months": (pd.period_range("2026-01", periods=2, freq="M"), [pd.Period("2026-02", "M"), "2026-02"]),
    "weeks": (pd.period_range("2026-01", periods=2, freq="W"), [pd.Period("2026-01-07", "W")]),
    "intervals": (pd.interval_range(0, 2, closed="left"), [pd.Interval(1, 2, closed="left"), "[1, 2)"]),
    "intervals of moments": (
        pd.interval_range(ZONED[0], periods=2),
        [pd.Interval(*ZONED[0] + pd.to_timedelta([1, 2], "D"))],
    ),
    "moments of an offset": (ZONED, [ZONED[1], ZONED[1].tz_convert("UTC"), ZONED[1].to_pydatetime()]),
    "32 bits": (pd.Index([0.5, 0.1], dtype="float32"), [0.1, np.float32(0.1), float(np.float32(0.1))]),
}


@pytest.mark.parametrize("name", NAMES)
def test_values_that_name_what_pandas_holds(name: str) -> None:
    """As a baseline, as an arm and as a query; another of the kind is none of them, in words of the caller's."""
    values, called = NAMES[name]
    log = pd.DataFrame({"query": [1, 1] * 2, "doc": ["a", "b"] * 2, "score": [2.0, 1, 1, 2], "grade": [1, 0] * 2})
    log["run"] = values.repeat(2)
    for one in called:
        compared = log.irm(system="run").compare("rr", baseline=one)
        assert compared["baseline"].tolist() == [values[1]]
        assert log.irm(system="run").similarity("rbo", baseline=[one])["baseline"].tolist() == [values[1]]
        assert log.irm(system="run").bounds("rr", of="unjudged", baseline=one)["run"].tolist() == [values[0]]
        arms = log.assign(query=[1, 2, 3, 4]).irm(arm="run")
        assert arms.change("rr", baseline=one)["baseline"].tolist() == [values[1]]
        assert "units split" in arms.audit(split={values[0]: 0.5, one: 0.5})["check"].tolist()
    for one in (one for one in called if not isinstance(one, str)):
        assert set(log.irm(query="run").explain("rr", query=one)["run"]) == {values[1]}
    said = error(lambda: log.irm(system="run").compare("rr", baseline=pd.Period("2026-02", "D")))
    assert "is not among the systems of run: " in said
    assert "{" not in said
    said = error(lambda: log.irm(query="run").explain("rr", query=pd.Period("2026-02", "D")))
    assert "cannot be one of its values, which are " in said
    assert "Struct" not in said


def test_intervals_of_pandas() -> None:
    """Intervals are keys, and no classes; nothing warns of them."""
    intervals = pd.Series(pd.arrays.IntervalArray.from_tuples([(0, 1), (0, 2), (0, 1), None]))
    frame = pd.DataFrame({"key": intervals, "query": [1, 2, 3, 4], "score": [1.0] * 4, "label": [1, 0, 1, 0]})
    result = IRM(frame, query="query", by="key").evaluate("num_rel")
    assert result["key"].dtype == intervals.dtype
    values = dict(zip(map(str, result["key"]), result["value"], strict=True))
    assert values == {"(0.0, 1.0]": 2.0, "(0.0, 2.0]": 0.0, "nan": 0.0}
    said = error(lambda: IRM(frame[["score"]].assign(label=intervals)).evaluate("roc_auc"))
    assert said.startswith("label: values of type interval (left, right] are no classes")
    assert said.endswith("are no classes; make them text")


OF_PANDAS = {
    **{f"closed {closed}": pd.interval_range(0, 3, closed=closed) for closed in ("left", "right", "both", "neither")},
    **{f"every {freq}": pd.period_range("2024", periods=3, freq=freq) for freq in ("D", "2D", "M", "h", "min")},
}


@pytest.mark.parametrize(("kind", "other"), [*product(("pandas", "pyarrow"), repeat=2), ("dask", "pandas")])
@pytest.mark.parametrize(("own", "beside"), [*product(OF_PANDAS, repeat=2)])
def test_ids_that_only_pandas_has(own: str, beside: str, kind: str, other: str) -> None:
    """Intervals closed on other sides, and periods of another frequency, are no ids in common; others are joined."""
    log = pd.DataFrame({"query": OF_PANDAS[own][:2], "doc": "x", "score": 1.0})
    qrels = pd.DataFrame({"query": OF_PANDAS[beside], "doc": "x", "grade": 1})
    made = {"pandas": lambda f: f, "pyarrow": pa.Table.from_pandas, "dask": lambda f: dd.from_pandas(f, npartitions=2)}

    def measured() -> Any:
        return IRM(made[kind](log)).judge(made[other](qrels)).per_query("rr", layout="wide")

    if own != beside:
        said = error(measured, BadValueError)
        assert said.startswith("query of the judgments is ")
        assert said.endswith("; give both one type")
        return
    found = measured()
    found = found.compute() if kind == "dask" else found if kind == "pandas" else found.to_pandas()
    assert list(found["query"]) == list(OF_PANDAS[own])
    assert found["query"].dtype == OF_PANDAS[own].dtype
    assert list(found["rr"]) == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("docs", "what"),
    [
        ([[1, "a"], ["b"]], "the column's lists have values of several types; give them one type"),
        ([[1], ["b"]], "the column's lists have values of several types; give them one type"),
        ([[[1], 2], [1]], "the column's lists have values of several types; give them one type"),
        ([[1], 5], "some rows hold lists and others do not; give every row a list"),
        ([[1], None], None),
        ([[1], (2,)], None),
    ],
)
def test_lists_of_mixed_types(docs: list[Any], what: str | None) -> None:
    """Lists whose values are of several types are told apart from rows that hold no list."""
    frame = pd.DataFrame({"query": [1, 2], "doc": _objects(*docs), "relevant": [[1], [2]]})
    if what is None:
        assert _values(IRM(frame).per_query("rr"), "value")[0] == 1.0
    else:
        assert error(lambda: IRM(frame).per_query("rr"), BadValueError) == f"doc: {what}"


def test_numbers_that_only_numpy_has() -> None:
    """Numbers of the other byte order are keys as others; one of more than 64 bits is refused by name."""
    log = pd.DataFrame({"query": [1, 2], "score": [2.0, 1.0], "grade": [1, 0]})
    swapped = log.assign(query=np.array([1, 2], ">i4"), score=np.array([2.0, 1.0], ">f8"))
    assert IRM(swapped).per_query("rr").equals(IRM(log.astype({"query": "int32"})).per_query("rr"))
    long = log["query"].to_numpy().astype(np.longdouble)
    if long.dtype.itemsize > 8:  # as most systems have it
        with pytest.raises(FrameMetricsError, match=r"^query: the column is float\d+, which cannot be read; cast it"):
            IRM(log.assign(query=long)).per_query("rr")


@pytest.mark.parametrize("role", ["score", "grade", "weight"])
def test_sparse_numbers(role: str) -> None:
    """Numbers that pandas keeps sparse are numbers."""
    columns: Any = {"query": [1, 1, 2], "score": [2.0, 1.0, 1.0], "grade": [0, 1, 1], "weight": [2.0, 2.0, 0.0]}
    sparse = pd.DataFrame(columns).astype({role: pd.SparseDtype(float, 0.0)})
    assert _values(IRM(sparse, weight="weight").evaluate("rr"), "value") == [0.5]


def test_extension_types_of_polars() -> None:
    """A column of polars that is of an extension type, which it cannot compare, is named with it."""
    if not hasattr(pl, "Extension"):
        assert not hasattr(pl.Series, "ext")  # such a version has none
        return
    kind = pl.Extension("no.such", pl.Int64)
    frame = pl.DataFrame({"query": [1, 2], "score": [1.0, 2.0], "label": [1, 0]})
    frame = frame.with_columns(pl.col("query").ext.to(kind).alias("key"))
    said = error(lambda: IRM(frame, query="key").evaluate("rr"), BadValueError)
    assert said.startswith("key: the column is Extension")


@pytest.mark.parametrize("name", ["*", "^a.*$", "^$"])
def test_names_that_are_patterns(name: str, kind: str) -> None:
    """A column whose name polars takes for a pattern is refused by name, in every kind of frame."""
    frame = as_kind(pl.DataFrame({"query": [1, 2], "score": [1.0, 2.0], "label": [1, 0]}), kind)
    frame = _called(frame, "query", name)
    said = error(lambda: IRM(frame, query=name).evaluate("rr"))
    assert said == f"polars takes the name {name!r} for a pattern of names; rename the column"
    assert as_polars(IRM(frame).evaluate("roc_auc"))["value"].to_list() == [0.0]


@pytest.mark.parametrize("name", ["\0", "\0bare", "\0order", "\0times", "\0mine"])
@pytest.mark.parametrize("verb", EVERY_VERB)
def test_names_of_our_own(verb: str, name: str, kind: str) -> None:
    """Columns whose names begin as those of our own columns are refused in every verb and part; others do no harm."""
    rows, call, needed = EVERY_VERB[verb]
    for column in needed:
        if column != "run":
            frame = _called(as_kind(pl.DataFrame(rows), kind), column, name)
            in_c = kind == "pyarrow"  # where the null character ends a name
            said_of = f"{column}={name!r}: there is no such column" if in_c else f"a column is called {name!r}; "
            irm = IRM(frame, **{column: name})
            if verb == "audit" and not in_c:  # where it is data that cannot be read
                assert as_polars(call(irm))["message"][0].startswith(said_of)
            elif verb == "audit that fails" and not in_c:  # which lists what cannot be read
                assert said_of in error(lambda: call(irm))  # noqa: B023
            else:
                assert error(lambda: call(irm), ColumnError).startswith(said_of)  # noqa: B023
    as_polars(call(IRM(_called(as_kind(pl.DataFrame(rows).with_columns(other=1), kind), "other", name))))


def test_names_of_our_own_in_judgments() -> None:
    """Judgments too have no column of such a name."""
    qrels = pl.DataFrame({"query": [1], "\0doc": ["x"], "grade": [1]})
    log = pl.DataFrame({"query": [1], "doc": ["x"], "score": [1.0]})
    for frame in (log, log.lazy()):
        assert "'\\x00doc'" in error(lambda: frame.irm.judge(qrels, doc="\0doc").evaluate("rr"), ColumnError)  # noqa: B023


def _called(frame: Any, column: str, name: str) -> Any:
    """Return a frame of any kind in which a column has another name."""
    if isinstance(frame, pd.DataFrame):
        return frame.rename(columns={column: name})
    if isinstance(frame, pa.Table):
        return frame.rename_columns([name if one == column else one for one in frame.column_names])
    return frame.rename({column: name})


@pytest.mark.parametrize("role", ["by", "system", "query", "doc", "cluster"])
@pytest.mark.parametrize("lazy", [False, True])
def test_python_objects_are_no_keys(role: str, lazy: bool) -> None:
    """A column of Python objects that polars cannot compare is refused by name, whatever part it plays."""
    columns = {"query": [1, 2], "score": [1.0, 2.0], "label": [1, 0]}
    frame = pl.DataFrame({**columns, "key": pl.Series([object()] * 2, dtype=pl.Object)})
    expected = "key: the column is Object, whose values cannot be compared; make them text or numbers"
    assert error(lambda: IRM(frame.lazy() if lazy else frame, **{role: "key"}).evaluate("rr")) == expected


@pytest.mark.parametrize("least", [1, -1])
def test_classes_of_two_integer_types(least: int) -> None:
    """Classes of signed and unsigned integers, which only 128 bits hold, have a type that pandas and Arrow know."""
    frame = pd.DataFrame({"label": [least, 2, 3], "predicted": np.array([2**64 - 1, 1, 2], dtype=np.uint64)})
    classes = sorted({least, 1, 2, 3, 2**64 - 1})
    pairs = [(one, other) for one in classes for other in classes]
    for table in (frame, pa.Table.from_pandas(frame), pl.from_pandas(frame), pl.from_pandas(frame).lazy()):
        irm = IRM(table, query=None)
        counted, each = irm.confusion(), irm.per_class("recall")
        assert list(zip(_values(counted, "predicted"), _values(counted, "actual"), strict=True)) == pairs
        assert _values(each, "class") == classes


@pytest.mark.parametrize("role", CODES)
@pytest.mark.parametrize("name", PANDAS_KEYS)
def test_pandas_keys(name: str, role: str) -> None:
    """A key column of any pandas type gives what numbers in its place give, and keeps its type and values."""
    values = PANDAS_KEYS[name]
    frame = _pandas_frame(role, values)
    result = _ask(frame, role)
    assert _answers(result) == _expected(role, list(values))
    assert result["key"].dtype == frame["key"].dtype


def _sides(role: str, values: Any) -> list[int]:
    """Which key each row of two systems has: its segment's, or its system's, of two."""
    return _taken("by", values) * 2 if role == "by" else [0] * len(LOG["query"]) + [1] * len(LOG["query"])


def _of_sides(keys: Any) -> dict[str, Any]:
    """Two systems with the same queries, the second in the other order, with keys."""
    return {
        **{name: LOG[name] * 2 for name in ("query", "grade")},
        "score": [*LOG["score"], *(-one for one in LOG["score"])],
        "side": ["a"] * len(LOG["query"]) + ["b"] * len(LOG["query"]),
        "key": keys,
    }


def _compared(frame: Any, role: str) -> tuple[Any, set[Any]]:
    """Compare the systems; each difference with its segment, or without its sign with both systems."""
    roles = {"by": "key", "system": "side"} if role == "by" else {"system": "key"}
    result = IRM(frame, query="query", score="score", grade="grade", **roles).compare("rr", "ndcg")
    keys, differences = map(repr, _values(result, "key")), _values(result, "difference")
    if role == "by":
        return result, {*zip(keys, _values(result, "metric"), differences, strict=True)}
    pairs = map(frozenset, zip(keys, map(repr, _values(result, "baseline")), strict=True))
    return result, {*zip(pairs, _values(result, "metric"), map(abs, differences), strict=True)}


@cache
def _compared_by_numbers(role: str, n: int) -> set[Any]:
    """The same, of numbers in the place of keys, n of them."""
    return _compared(pl.DataFrame(_of_sides(_sides(role, range(n)))), role)[1]


def _as_numbers(found: set[Any], distinct: list[Any]) -> set[Any]:
    """The differences with the number of each key in its place."""
    place = {repr(key): repr(code) for code, key in enumerate(distinct)}
    named = {
        (place[key] if isinstance(key, str) else frozenset(place[one] for one in key), *more) for key, *more in found
    }
    assert (len(named), len(place)) == (len(found), len(distinct))
    return named


@pytest.mark.parametrize("role", ["by", "system"])
@pytest.mark.parametrize("name", POLARS_KEYS)
def test_polars_keys_of_comparisons(name: str, role: str) -> None:
    """Segments and systems that are compared are named in the type of their column."""
    values = POLARS_KEYS[name]
    frame = pl.DataFrame(_of_sides(values.gather(_sides(role, values))))
    result, found = _compared(frame, role)
    assert _as_numbers(found, values.to_list()) == _compared_by_numbers(role, len(values))
    assert {result[one].dtype for one in ("key", "baseline")[: 1 + (role == "system")]} == {values.dtype}


@pytest.mark.parametrize("role", ["by", "system"])
@pytest.mark.parametrize("name", PANDAS_KEYS)
def test_pandas_keys_of_comparisons(name: str, role: str) -> None:
    """In pandas they come back as they were too, mixed objects, tuples and texts of Arrow among them."""
    values = PANDAS_KEYS[name]
    frame = pd.DataFrame(_of_sides(values.iloc[_sides(role, values)].reset_index(drop=True)))
    result, found = _compared(frame, role)
    assert _as_numbers(found, list(values)) == _compared_by_numbers(role, len(values))
    assert {str(result[one].dtype) for one in ("key", "baseline")[: 1 + (role == "system")]} == {str(values.dtype)}


NULLABLE = [
    name for name, keys in PANDAS_KEYS.items() if not (isinstance(keys.dtype, np.dtype) and keys.dtype.kind in "biu")
]
ODD_KEYS = {
    "text and int": _objects("1", 1, 2, "2"),
    "past 128 bits": _objects(2**200, 2**201, 3, 4),
    "a uuid's int": _objects(*(2**127 + i for i in range(4))),
    "int past 2**53 and float": _objects(2**53, 2**53 + 1, 2.5, 3),
    "wide decimal": _objects(Decimal("1e20"), Decimal("1e21"), Decimal("1e-20"), Decimal("1e-21")),
    "nanoseconds": _objects(*(pd.Timestamp(2024, 3, 1, nanosecond=i) for i in range(4))),
    "short nanoseconds": _objects(*(pd.Timedelta(i, "ns") for i in range(4))),
    "date and datetime": _objects(DAY, dt.datetime(2024, 3, 1)),
    "with and without zone": _objects(dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, tzinfo=dt.UTC)),
    "lone surrogate": _objects("a\ud800", "b"),
    "list": _objects([1], [2], [1, 2], []),
    "dict": _objects({"a": 1}, {"a": 2}),
    "set": _objects({1}, {2}),
}


@pytest.mark.parametrize("role", CODES)
@pytest.mark.parametrize("name", ODD_KEYS)
def test_odd_pandas_keys(name: str, role: str) -> None:
    """Objects that are hard to tell apart are told apart all the same, or refused by name; never taken for one."""
    values = ODD_KEYS[name]
    told_apart, refused = None, "key: "
    try:
        told_apart = _answers(_ask(_pandas_frame(role, values), role))
    except FrameMetricsError as error:
        refused = str(error)
    assert told_apart in (None, _expected(role, list(values)))
    assert refused.startswith("key: ")


@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("role", ["by", "system"])
@pytest.mark.parametrize("name", NULLABLE)
def test_pandas_null_keys(name: str, role: str, place: int) -> None:
    """In pandas a missing key is a segment of its own, the last, whatever the type."""
    held, absent = PANDAS_KEYS[name].iloc[1:], pd.Series([None], dtype=PANDAS_KEYS[name].dtype)
    keys = pd.concat([absent, held] if place == 0 else [held, absent], ignore_index=True)
    frame = _pandas_frame(role, keys)
    result = _ask(frame, role)
    distinct = [None if i == place % len(keys) else key for i, key in enumerate(keys)]
    assert _answers(result) == _expected(role, distinct)
    assert result["key"].dtype == frame["key"].dtype
    assert result["key"].isna().tolist() == [False] * (2 * len(keys) - 2) + [True, True]


@pytest.mark.parametrize("role", ["by", "system"])
@pytest.mark.parametrize("name", POLARS_KEYS)
@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow"])
def test_null_keys(name: str, role: str, kind: str) -> None:
    """A null in a key column is a segment of its own, the last, in every kind of frame."""
    values = POLARS_KEYS[name]
    code = [c % len(values) for c in CODES[role]]
    absent = code[-1]
    keys = pl.DataFrame({**LOG, "key": values.gather(code)}).with_columns(
        pl.when(pl.Series(code) == absent).then(None).otherwise(pl.col("key")).alias("key")
    )
    frame = as_kind(keys, kind)
    result = _ask(frame, role)
    distinct = values.to_arrow().to_pylist() if kind == "pyarrow" else values.to_list()
    distinct[absent] = None
    assert _answers(result) == _expected(role, distinct)
    assert _type(result, "key") == _type(frame, "key")
    assert [key is None for key in _values(result, "key")].index(True) == len(_values(result, "key")) - 2


@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow"])
@pytest.mark.parametrize("name", POLARS_KEYS)
def test_margins_of_keys(name: str, kind: str) -> None:
    """The totals' keys are null, in the type of the key column, and the segments' keys are as without them."""
    values = POLARS_KEYS[name]
    frame = as_kind(pl.DataFrame({**LOG, "key": values.gather(_taken("by", values))}), kind)
    plain, result = _ask(frame, "by"), _ask(frame, "by", margins=True)
    assert _values(result, "key") == [*_values(plain, "key"), None, None]
    assert _values(result, "total_over") == [None] * len(_values(plain, "key")) + ["key", "key"]
    assert _type(result, "key") == _type(frame, "key")


@pytest.mark.parametrize("name", PANDAS_KEYS)
def test_pandas_margins_of_keys(name: str) -> None:
    """In pandas the totals' keys are missing and the segments' as without them; integers and bools become nullable."""
    values = PANDAS_KEYS[name]
    frame = _pandas_frame("by", values)
    plain, result = _ask(frame, "by"), _ask(frame, "by", margins=True)
    assert _values(result, "key") == [*_values(plain, "key"), None, None]
    same = pd.array([True], dtype="boolean").dtype if values.dtype == bool else values.dtype
    if name not in NULLABLE and values.dtype != bool:
        same = pd.array([1], dtype=values.dtype.name.replace("int", "Int").replace("u", "U")).dtype
    assert result["key"].dtype == same


# Queries that only the judgments have

JUDGED_LOG, JUDGED = [0, 0, 1, 1], [0, 0, 1, 2, 3, 3]


def _judged_frames(take: Callable[[list[int]], Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    log = {"key": take(JUDGED_LOG), "doc": ["x", "y", "x", "z"], "score": [2.0, 1.0, 2.0, 1.0]}
    return log, {"key": take(JUDGED), "doc": ["x", "w", "z", "x", "x", "y"], "grade": [1, 2, 1, 1, 0, 1]}


def _judged_answers(distinct: list[Any]) -> dict[tuple[str, str], float]:
    return {
        (repr(distinct[i]), metric): value
        for i, values in enumerate(((0.5, 1.0), (1.0, 0.5), (0.0, 0.0), (0.0, 0.0)))
        for metric, value in zip(("recall", "rr"), values, strict=True)
    }


@pytest.mark.parametrize("name", [name for name in POLARS_KEYS if len(POLARS_KEYS[name]) == 4])
@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow"])
def test_keys_from_the_judgments(name: str, kind: str) -> None:
    """A query that only the judgments have is named in the result, in the type of the log's queries."""
    values = POLARS_KEYS[name]
    log, qrels = (as_kind(pl.DataFrame(frame), kind) for frame in _judged_frames(values.gather))
    result = IRM(log, query="key").judge(qrels).per_query("recall", "rr")
    distinct = values.to_arrow().to_pylist() if kind == "pyarrow" else values.to_list()
    assert _answers(result) == _judged_answers(distinct)
    assert list(_answers(result)) == list(_judged_answers(distinct))
    assert _type(result, "key") == _type(log, "key")


@pytest.mark.parametrize("name", [name for name in PANDAS_KEYS if len(PANDAS_KEYS[name]) == 4])
def test_pandas_keys_from_the_judgments(name: str) -> None:
    """In pandas a query that only the judgments have is named by the judgments' own value."""
    values = PANDAS_KEYS[name]
    log, qrels = map(pd.DataFrame, _judged_frames(lambda code: values.iloc[code].reset_index(drop=True)))
    result = IRM(log, query="key").judge(qrels).per_query("recall", "rr")
    assert _answers(result) == _judged_answers(list(values))
    assert list(_answers(result)) == list(_judged_answers(list(values)))
    assert result["key"].dtype == log["key"].dtype


def test_segments_from_the_judgments(kind: str) -> None:
    """A segment that only the judgments name has its row, in every kind of frame; a null one stays null."""
    for one, other in (("de", "en"), (1, 2), (False, True)):
        log = as_kind(pl.DataFrame({"query": [1], "doc": ["x"], "score": [1.0], "lang": [one]}), kind)
        qrels = pl.DataFrame({"query": [1, 2, 3], "doc": [*"xxy"], "grade": [1, 1, 1], "lang": [one, other, None]})
        result = as_polars(IRM(log, by="lang").judge(qrels).evaluate("rr", "recall", margins=True))
        assert result.select("lang", "total_over", "metric", "value", "n").rows() == [
            (one, None, "rr", 1.0, 1),
            (one, None, "recall", 1.0, 1),
            (other, None, "rr", 0.0, 1),
            (other, None, "recall", 0.0, 1),
            (None, None, "rr", 0.0, 1),
            (None, None, "recall", 0.0, 1),
            (None, "lang", "rr", 1 / 3, 3),
            (None, "lang", "recall", 1 / 3, 3),
        ]


@pytest.mark.parametrize("other", ["polars", "lazy", "pandas", "pandas-arrow", "pyarrow"])
def test_judgments_of_another_kind(kind: str, other: str) -> None:
    """Log and judgments need not be of one kind; the result is of the log's."""
    log, qrels = map(pl.DataFrame, _judged_frames(list))
    judged = IRM(as_kind(log, kind), query="key").judge(as_kind(qrels, other))
    result = judged.per_query("recall", "rr")
    assert _answers(result) == _judged_answers([0, 1, 2, 3])
    assert type(result) is type(as_kind(log, kind))


# Equal numbers in every kind


def test_kinds_agree(kind: str) -> None:
    """Every kind of frame gives the same result, of its own kind, for each verb and layout."""
    log = pl.DataFrame(
        {
            "q": [1, 1, 2, 2, 3],
            "part": ["u", "u", "u", "u", "v"],
            "doc": list("abaca"),
            "score": [2.0, 1.0, 1.0, 3.0, None],
            "grade": [1, 0, None, 2, 1],
            "device": ["m", None, "m", "m", None],
            "run": [None, None, "r", None, "r"],
        }
    )
    frame = as_kind(log, kind)
    roles: Any = {"query": ["q", "part"], "doc": "doc", "by": "device", "system": "run"}
    for verb, options in (
        ("evaluate", {"margins": True, "ci": 0.9}),
        ("evaluate", {"layout": "wide", "ci": 0.9}),
        ("evaluate", {"average": "micro"}),
        ("per_query", {}),
        ("per_query", {"layout": "wide"}),
        ("audit", {}),
    ):
        metrics = () if verb == "audit" else ("precision@2", "recall")
        result = getattr(IRM(frame, **roles), verb)(*metrics, **options)
        expected = getattr(IRM(log, **roles), verb)(*metrics, **options)
        assert type(result) is type(frame)
        pl.testing.assert_frame_equal(as_polars(result), expected, check_dtypes=kind in ("polars", "lazy"))


def test_several_query_columns(kind: str) -> None:
    """A query of several columns is named by all of them, each in its own type."""
    log = pl.DataFrame(
        {"day": [DAYS[0], DAYS[0], DAYS[1]], "text": ["a", "b", "a"], "score": [1.0, 1.0, 1.0], "label": [1, 0, 1]}
    )
    frame = as_kind(log, kind)
    result = IRM(frame, query=["day", "text"]).per_query("success", layout="wide")
    assert as_polars(result).rows() == [
        (*row, value, True)
        for row, value in zip(as_polars(frame).select("day", "text").rows(), (1.0, 0.0, 1.0), strict=True)
    ]
    assert [_type(result, name) for name in ("day", "text")] == [_type(frame, name) for name in ("day", "text")]


def test_results_of_pandas_are_plain() -> None:
    """A pandas result has a plain index, numpy numbers, and k as a nullable integer."""
    frame = pd.DataFrame({**LOG}, index=[7] * 10)
    result = IRM(frame).evaluate("ndcg@5", "rr", ci=0.9)
    assert result.index.equals(pd.RangeIndex(2))
    text = pd.Series(["text"]).dtype
    assert dict(result.dtypes) == {
        "metric": text,
        "k": pd.Int64Dtype(),
        "average": text,
        **dict.fromkeys(["value", "ci_low", "ci_high"], np.dtype("float64")),
        **dict.fromkeys(["n", "n_undefined"], np.dtype("int64")),
    }
    assert result["k"].tolist() == [5, pd.NA]


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_small_call_makes_no_plan_of_polars(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call with few rows runs no lazy query of polars, which would start its threads."""
    table = pl.DataFrame({**LOG, "doc": [*"abcdefghij"]})
    alone, log, qrels = (as_kind(one, library) for one in (table.drop("doc"), table.drop("grade"), table.drop("score")))
    plans: list[pl.LazyFrame] = []
    collect = pl.LazyFrame.collect
    monkeypatch.setattr(pl.LazyFrame, "collect", lambda plan, **options: plans.append(plan) or collect(plan, **options))
    for irm in (IRM(alone), IRM(log).judge(qrels)):
        for metrics in (["ndcg@10"], ["ap", "rr", "precision@5", "bpref"]):
            irm.evaluate(*metrics)
    assert not plans


def test_a_result_that_is_written_in_changes_no_other() -> None:
    """Writing in a result leaves what the next call returns as it was."""
    metrics = ("ndcg@5", "rr")
    expected = pl.DataFrame(LOG).irm.evaluate(*metrics)
    result = pl.DataFrame(LOG).irm.evaluate(*metrics)
    result["metric"][0], result["k"][0] = "other", 7
    of_pandas = pd.DataFrame(LOG).irm.evaluate(*metrics)
    of_pandas.loc[0, ["metric", "k", "average"]] = ["other", 7, "other"]
    for table in (pl.DataFrame(LOG).irm.evaluate(*metrics), as_polars(pd.DataFrame(LOG).irm.evaluate(*metrics))):
        pl.testing.assert_frame_equal(table, expected)


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_documents_that_are_moments(unit: Any) -> None:
    """Documents named by moments are told apart by the finest part of their type, in small logs as in large ones."""
    docs = pl.Series([1, 2, 3, 1001]).cast(pl.Datetime(unit))
    log = pl.DataFrame({"query": [1, 1, 1, 1], "doc": docs, "score": [4.0, 3.0, 2.0, 1.0]})
    qrels = pl.DataFrame({"query": [1, 1], "doc": docs[[1, 3]], "grade": [1, 2]})
    result = IRM(log).judge(qrels).evaluate("precision@1", "precision@2", "recall")
    assert result["value"].to_list() == [0, 0.5, 1]


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([3, 3, 3, 3, 3, 1, 1, 1, 1, 1]),
        pd.MultiIndex.from_arrays([[1] * 10, [2] * 10], names=["a", "b"]),
        pd.Index(range(9, -1, -1)),
        pd.date_range("2024", periods=10),
    ],
    ids=["repeated", "levels", "falling", "dates"],
)
def test_the_index_does_not_matter(index: pd.Index) -> None:
    """A pandas index, whatever it holds, changes nothing."""
    plain = pd.DataFrame({**LOG, "key": CODES["system"]})
    other = plain.set_axis(index, axis=0)
    for role in CODES:
        pd.testing.assert_frame_equal(_ask(other, role), _ask(plain, role))


def test_chunks_do_not_matter() -> None:
    """A frame in many chunks gives what it gives in one."""
    whole = pl.DataFrame({**LOG, "key": CODES["system"]})
    parts = pl.concat([whole[:3], whole[3:4], whole[4:]], rechunk=False)
    table = pa.concat_tables([whole[i : i + 1].to_arrow() for i in range(10)])
    assert parts.n_chunks() == 3
    for role in CODES:
        pl.testing.assert_frame_equal(_ask(parts, role), _ask(whole, role))
        assert _ask(table, role).equals(_ask(whole.to_arrow(), role))


def test_rows_are_sorted_by_segment_in_every_kind(kind: str) -> None:
    """Segments come in ascending order with null last, whatever the order of the rows."""
    keys = ["b", None, "a", "Z", "ü", "b", None, "a", "Z", "ü"]
    frame = as_kind(pl.DataFrame({**LOG, "key": keys}), kind)
    assert _values(_ask(frame, "by"), "key")[::2] == ["Z", "a", "b", "ü", None]


@pytest.mark.parametrize("name", ["ordered", "ordered int", "cut", "period", "category of timestamp"])
def test_ordered_categories_sort_in_their_order(name: str) -> None:
    """Segments of an ordered pandas category come in the order of its categories."""
    values = PANDAS_KEYS[name]
    result = _ask(_pandas_frame("by", values), "by")
    assert list(result["key"][::2]) == list(values.sort_values())


# Values


NUMBERS: dict[str, Any] = {
    **{str(t): pl.Series([3, 1, 2, 0, 1], dtype=t) for t in (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128)},
    **{str(t): pl.Series([3, 1, 2, 0, 1], dtype=t) for t in (pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)},
    **{str(t): pl.Series([3, 1, 2, 0, 1], dtype=t) for t in (pl.Float32, pl.Float64)},
    "Decimal": pl.Series([3, 1, 2, 0, 1]).cast(pl.Decimal(10, 2)),
    **{
        t: pd.Series([3, 1, 2, 0, 1], dtype=t)
        for t in ("int8", "uint64", "float16", "float32", "Int64", "UInt8", "Float64")
    },
    **{t: pd.Series([3, 1, 2, 0, 1], dtype=t) for t in ("double[pyarrow]", "int32[pyarrow]", "object")},
    "object of float": pd.Series([3.0, 1, 2, 0, 1], dtype=object),
    "object of decimal": pd.Series([Decimal(i) for i in (3, 1, 2, 0, 1)], dtype=object),
}


@pytest.mark.parametrize("role", ["score", "grade", "rank"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_any_type(name: str, role: str) -> None:
    """Scores, ranks and grades of any number type give equal results."""
    values = NUMBERS[name]
    columns: dict[str, Any] = {"query": [1, 1, 1, 2, 2], "score": [2.0, 3.0, 1.0, 1.0, 2.0], "grade": [0, 1, 2, 1, 0]}
    if role == "rank":
        values = NUMBERS[name].__class__([3, 1, 2, 2, 1], dtype=NUMBERS[name].dtype)
        del columns["score"]
    make = pl.DataFrame if isinstance(values, pl.Series) else pd.DataFrame
    result = IRM(make({**columns, role: values})).per_query("ndcg", "rr", "map")
    plain = values.to_list() if isinstance(values, pl.Series) else [float(value) for value in values]
    expected = IRM(pl.DataFrame({**columns, role: [float(value) for value in plain]})).per_query("ndcg", "rr", "map")
    assert _values(result, "value") == expected["value"].to_list()


@pytest.mark.parametrize(
    "label",
    [
        pl.Series([1, None, 0, 1, 0], dtype=pl.Int8),
        pl.Series([True, None, False, True, False]),
        pl.Series([1.0, None, 0.0, 1.0, 0.0]),
        pd.Series([1.0, np.nan, 0.0, 1.0, 0.0]),
        pd.Series([1, None, 0, 1, 0], dtype="Int64"),
        pd.Series([True, None, False, True, False], dtype="boolean"),
        pd.Series([True, None, False, True, False], dtype="bool[pyarrow]"),
        pd.Series([True, None, False, True, False], dtype=object),
        pd.Series([1, None, 0, 1, 0], dtype=object),
        pd.Series([1, pd.NA, 0, 1, 0], dtype=object),
    ],
    ids=lambda label: f"{type(label).__module__.split('.')[0]} {label.dtype}",
)
def test_labels_of_any_type(label: Any) -> None:
    """Labels may be bool or 0 and 1 in any type, missing where not judged."""
    columns = {"query": [1, 1, 1, 2, 2], "score": [2.0, 3.0, 1.0, 1.0, 2.0], "label": label}
    frame = pl.DataFrame(columns) if isinstance(label, pl.Series) else pd.DataFrame(columns)
    result = IRM(frame).per_query("rr", "judged@2", layout="wide")
    assert (_values(result, "rr"), _values(result, "judged@2")) == ([0.5, 0.5], [0.5, 1.0])


@pytest.mark.parametrize("role", ["score", "grade", "label"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "object"])
def test_nan_is_missing_in_pandas_numpy_columns(role: str, dtype: str) -> None:
    """NaN in a numpy column of pandas means what null means in polars."""
    columns = {"query": [1, 1, 2], "score": [2.0, 1.0, 1.0], "label" if role == "label" else "grade": [1.0, 0.0, 1.0]}
    columns[role] = [columns[role][0], np.nan, 1.0]
    frame = pd.DataFrame(columns).astype({role: dtype})
    nulls = pl.DataFrame(columns).with_columns(pl.col(role).fill_nan(None))
    metrics = ("rr" if role == "label" else "ndcg", "judged@2", "num_ret")
    assert _values(IRM(frame).per_query(*metrics), "value") == IRM(nulls).per_query(*metrics)["value"].to_list()


def _masked(values: list[float]) -> Any:
    return pd.arrays.FloatingArray(np.array(values), np.zeros(len(values), bool))  # type: ignore[attr-defined]


@pytest.mark.parametrize("role", ["score", "grade"])
@pytest.mark.parametrize(
    "make",
    [
        lambda columns, role: pl.DataFrame(columns),
        lambda columns, role: pl.DataFrame(columns).lazy(),
        lambda columns, role: pl.DataFrame(columns).to_arrow(),
        lambda columns, role: pd.DataFrame({**columns, role: _masked(columns[role])}),
        lambda columns, role: pd.DataFrame(
            {**columns, role: pd.arrays.ArrowExtensionArray(pa.array(columns[role], from_pandas=False))}
        ),
    ],
    ids=["polars", "lazy", "pyarrow", "Float64", "ArrowDtype"],
)
def test_nan_is_an_error_elsewhere(make: Any, role: str) -> None:
    """NaN is a value in polars, Arrow and pandas' nullable columns, and no score or grade."""
    columns = {"query": [1, 1, 2], "score": [2.0, 1.0, 1.0], "grade": [1.0, 0.0, 1.0]}
    columns[role] = [columns[role][0], float("nan"), 1.0]
    frame = make(columns, role)
    with pytest.raises(FrameMetricsError, match=rf"^{role}: 1 of 3 rows is NaN \(row 1\)"):
        as_polars(IRM(frame).evaluate("rr"))


# Small frames

VERBS: list[tuple[str, dict[str, Any]]] = [
    ("evaluate", {}),
    ("evaluate", {"layout": "wide", "ci": 0.9}),
    ("per_query", {}),
    ("per_query", {"layout": "wide"}),
]


@pytest.mark.parametrize(("verb", "options"), VERBS)
@pytest.mark.parametrize("roles", [{}, {"by": "key"}, {"system": "key"}, {"by": ["day", "shop"], "system": "key"}])
def test_an_empty_frame(kind: str, verb: str, options: dict[str, Any], roles: Any) -> None:
    """A frame without rows gives the columns, and their types, that one with rows gives."""
    log = pl.DataFrame({**LOG, "key": list("abcdeabcde"), "doc": list("abcdefghij")}).with_columns(
        day=1, shop=pl.lit("x")
    )
    empty, full = as_kind(log.clear(), kind), as_kind(log, kind)
    result = getattr(IRM(empty, **roles), verb)("ndcg@5", "rr", **options)
    assert _schema(result) == _schema(getattr(IRM(full, **roles), verb)("ndcg@5", "rr", **options))
    keyless = verb == "evaluate" and not roles
    assert len(as_polars(result)) == (0 if not keyless else 1 if options else 2)
    if keyless:
        assert set(as_polars(result)["n"]) == {0}


def test_a_total_of_an_empty_frame_of_arrow_categories() -> None:
    """A total's key is null, which pandas cannot set in an empty column of these."""
    kind = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    log = pd.DataFrame({"score": [0.5], "label": [1], "by": pd.Series(["x"], dtype=kind)}).iloc[:0]
    total = log.irm(by="by").evaluate("roc_auc", margins=True)
    assert total["by"].isna().tolist() == [True]
    assert total["n"].tolist() == [0]


@pytest.mark.parametrize("ordered", [False, True])
def test_queries_of_the_judgments_beside_arrow_categories(ordered: bool) -> None:
    """Queries that only judgments have follow those of the frame, whose categories may have an order in Arrow."""
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string(), ordered=ordered))
    log = pd.DataFrame({"query": pd.Series(["a"], dtype=kind), "doc": ["x"], "score": [1.0]})
    qrels = pd.DataFrame({"query": pd.Categorical(["a", "b"]), "doc": ["x", "x"], "grade": [1, 1]})
    found = log.irm.judge(qrels).per_query("rr")
    assert dict(zip(found["query"].tolist(), found["value"], strict=True)) == {"a": 1, "b": 0}
    assert found["query"].dtype == log["query"].dtype  # pandas 2.2 forgets the order as it makes the column


def test_segments_of_an_ordered_dictionary() -> None:
    """Segments of an ordered dictionary of Arrow stand in the order of their texts, with other judgments too."""
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["z", "a"]), ordered=True)
    log = pa.table({"query": [1, 1], "day": coded, "doc": ["x", "y"], "score": [2.0, 1.0], "grade": [1, 0]})
    beside = IRM(log.drop_columns("grade")).judge(log.drop_columns("score"))
    for irm in (IRM(log), beside):
        assert irm(by="day").evaluate("cg", margins=False)["day"].to_pylist() == ["a", "z"]


def _schema(frame: Any) -> dict[str, Any]:
    names = frame.collect_schema().names() if isinstance(frame, pl.LazyFrame) else getattr(frame, "column_names", None)
    return {name: _type(frame, name) for name in (list(frame.columns) if names is None else names)}


def test_an_empty_log_with_judgments(kind: str) -> None:
    """Judged queries without any result are measured, even if the log is empty."""
    log = pl.DataFrame({"query": ["a"], "doc": ["x"], "score": [1.0]})
    judged = IRM(as_kind(log.clear(), kind)).judge(as_kind(log.select("query", "doc", grade=pl.lit(1)), kind))
    found = as_polars(judged.per_query("ndcg@5", "rr")).rows()
    assert found == [("a", "ndcg@5", 5, 0.0, False, False), ("a", "rr", None, 0.0, False, False)]


@pytest.mark.parametrize("make", [pl.DataFrame, lambda columns: pd.DataFrame(columns, dtype=object)])
def test_a_log_without_types(make: Any) -> None:
    """Where a key column of the log holds nothing, the keys of the judgments stand in the result."""
    qrels = {"query": ["a", "b"], "doc": ["x", "x"], "grade": [1, 1], "lang": ["de", "en"]}
    empty = IRM(make({"query": [], "doc": [], "score": []})).judge(make(qrels)).per_query("rr")
    assert _values(empty, "query") == ["a", "b"]
    nowhere = make({"query": ["a"], "doc": ["x"], "score": [1.0], "lang": [None]})
    result = IRM(nowhere, by="lang").judge(make(qrels)).evaluate("recall")
    assert dict(zip(_values(result, "lang"), _values(result, "value"), strict=True)) == {
        "de": 0.0,
        "en": 0.0,
        None: None,  # a segment of its own, which has no judgments
    }


def test_empty_judgments(kind: str) -> None:
    """Without any judgment nothing is evaluated."""
    log = pl.DataFrame({"query": ["a"], "doc": ["x"], "score": [1.0]})
    judged = IRM(as_kind(log, kind)).judge(as_kind(log.select("query", "doc", grade=pl.lit(1)).clear(), kind))
    assert as_polars(judged.evaluate("rr")).rows() == [("rr", None, "macro", None, 0, 0, 0)]
    assert as_polars(judged.per_query("rr")).rows() == []


def test_one_row(kind: str) -> None:
    """A single row is a ranking; its interval is null."""
    result = IRM(as_kind(pl.DataFrame({"query": ["a"], "score": [0.5], "grade": [2]}), kind)).evaluate("rr", ci=0.9)
    assert as_polars(result).rows() == [("rr", None, "macro", 1.0, 1, 0, None, None)]


@pytest.mark.parametrize(
    "frame",
    [[1], 5, None, np.zeros((2, 2)), pl.Series([1]), pd.Series([1]), pa.array([1]), pd],
    ids=lambda frame: type(frame).__name__,
)
def test_what_is_no_frame(frame: Any) -> None:
    """What is not a frame is refused when it is named, by its library and class."""
    library, name = type(frame).__module__.split(".")[0], type(frame).__name__
    kind = name if library == "builtins" else f"{library}.{name}"
    assert error(lambda: IRM(frame)) == f"a {kind} is not a frame; {EVERY_KIND}"


DUCKDB = "its table('log') or sql('from log')"
EVERY_KIND = (
    "frames are DataFrames of pandas, polars, Dask, Spark and narwhals, LazyFrames of polars, relations of DuckDB, and "
    "what exports Arrow, as tables and datasets of pyarrow and tables of Ibis"
)


def _made(module: str, name: str) -> Any:
    """An object of a class of a library that is not here."""
    return type(name, (), {"__module__": module})()


OF_TREC = "of TREC frame_metrics.read_run({!r}), or read_qrels of judgments,"


@pytest.mark.parametrize(
    ("made", "kind", "way"),
    [
        (lambda: {"query": [1]}, "dict", "polars.DataFrame(...) or pandas.DataFrame(...)"),
        (lambda: "a.csv", "str", f"polars.read_csv('a.csv'), or of a file {OF_TREC.format('a.csv')}"),
        (
            lambda: Path("b.parquet"),
            f"pathlib.{type(Path()).__name__}",
            f"polars.scan_parquet('b.parquet'), or of a file {OF_TREC.format('b.parquet')}",
        ),
        (lambda: _made("ray.data.dataset", "Dataset"), "ray.Dataset", "its select_columns(...).to_pandas()"),
        (lambda: _made("cudf.core.dataframe", "DataFrame"), "cudf.DataFrame", "its to_pandas() or to_arrow()"),
        (lambda: _made("modin.pandas.dataframe", "DataFrame"), "modin.DataFrame", "its modin.to_pandas()"),
        (lambda: narwhals.from_native(pl.LazyFrame()), "narwhals.LazyFrame", "its to_native()"),
        (duckdb.connect, "duckdb.DuckDBPyConnection", DUCKDB),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_the_line_that_makes_a_frame(made: Callable[[], Any], kind: str, way: str) -> None:
    """What is not a frame, and can be made one, is refused with the line that does it, and with every kind."""
    assert error(lambda: IRM(made())) == f"a {kind} is not a frame: {way} makes it one; {EVERY_KIND}"


@pytest.mark.parametrize("module", [narwhals, narwhals.stable.v1])
@pytest.mark.parametrize("native", ["polars", "pandas", "pyarrow"])
def test_frames_of_narwhals(native: str, module: Any) -> None:
    """A DataFrame of narwhals comes back as one, over the library that it wraps, with the numbers of that."""
    log = pl.DataFrame({"query": [1, 1, 2], "doc": [1, 2, 1], "score": [1.0, 2.0, 3.0], "grade": [1, 0, 1]})
    frame, qrels = as_kind(log, native), as_kind(log.drop("score"), native)
    for call in (lambda irm: irm.evaluate("rr", ci=0.9), lambda irm: irm.audit(), lambda irm: irm.per_query("rr")):
        found = call(IRM(module.from_native(frame)))
        assert type(found) is type(module.from_native(frame))
        assert type(found.to_native()) is type(frame)
        assert as_polars(found.to_native()).equals(as_polars(call(IRM(frame))))
        judged = call(IRM(module.from_native(frame), grade=None).judge(module.from_native(qrels)))
        assert as_polars(judged.to_native()).equals(as_polars(call(IRM(frame, grade=None).judge(qrels))))
    assert repr(IRM(module.from_native(frame))).startswith("IRM of a narwhals.DataFrame, 3 rows")


def test_a_library_that_is_still_being_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that another thread is still importing, and has no frames yet, does no harm."""
    for name in ("pandas", "dask.dataframe", "pyspark.sql.dataframe"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert IRM(pa.table(LOG), query=None).evaluate("roc_auc").num_rows == 1


def test_a_frame_of_spark_is_not_pulled_to_one_machine() -> None:
    """A frame that is spread over a cluster is refused, though it exports Arrow, and the way out is said."""

    class DataFrame:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            raise AssertionError("it was read")

    DataFrame.__module__ = "pyspark.pandas.frame"
    said = error(lambda: IRM(DataFrame()))
    assert said == "a pyspark.DataFrame of pandas on Spark is not read: give what its to_spark() returns"


def test_columns_that_are_called_by_integers() -> None:
    """Integers name the columns of a pandas frame that has them, of the judgments too, and stay their names."""
    frame = pd.DataFrame([["a", 2.0, 0, "x"], ["a", 1.0, 1, "y"], ["b", 1.0, 1, "x"]])
    irm = IRM(frame, query=0, score=1, grade=2)
    expected = pl.DataFrame({"query": ["a", "a", "b"], "score": [2.0, 1.0, 1.0], "grade": [0, 1, 1]}).irm
    assert irm.evaluate("rr")["value"].tolist() == expected.evaluate("rr")["value"].to_list()
    each = irm(query=[0], by=3, doc=None).per_query("rr")
    assert list(each.columns) == [3, 0, "metric", "k", "value", "undefined", "answered"]
    assert each[[3, 0, "value"]].to_numpy().tolist() == [["x", "a", 0.0], ["x", "b", 1.0], ["y", "a", 1.0]]
    qrels = pd.DataFrame([["a", "y", 1], ["c", "y", 1]])
    judged = IRM(frame[[0, 1, 3]], query=0, score=1, doc=3).judge(qrels, query=0, doc=1, grade=2).per_query("rr")
    assert judged[[0, "value"]].to_numpy().tolist() == [["a", 0.5], ["c", 0.0]]
    assert error(lambda: irm(grade=9).evaluate("rr")).startswith("grade='9': there is no such column among '0', '1'")
    twice = frame.assign(**{"0": 1})
    assert error(lambda: IRM(twice, query=0, score=1, grade=2).evaluate("rr")) == (
        "there are 2 columns called '0'; rename all but one"
    )


# Lazy frames


def _fails(frame: pl.DataFrame) -> pl.DataFrame:
    raise RuntimeError("the frame was read")


@pytest.mark.parametrize(("verb", "options"), VERBS)
def test_a_lazy_frame_stays_a_plan(verb: str, options: dict[str, Any]) -> None:
    """A LazyFrame is not run before its result is collected."""
    log = pl.DataFrame({**LOG, "key": CODES["system"]})
    plan = log.lazy().map_batches(_fails, schema=log.schema)
    result = getattr(plan.irm(by="key"), verb)("ndcg@5", "rr", **options)
    assert isinstance(result, pl.LazyFrame)
    with pytest.raises(RuntimeError, match="the frame was read"):
        result.collect()


@pytest.mark.parametrize(
    ("verb", "options"), [*VERBS, ("audit", {}), ("evaluate", {"margins": True, "average": "gmean"})]
)
@pytest.mark.parametrize("name", POLARS_KEYS)
def test_the_schema_of_a_plan(name: str, verb: str, options: dict[str, Any]) -> None:
    """The schema that a lazy result declares is the schema that it has."""
    values = POLARS_KEYS[name]
    frame = pl.LazyFrame({**LOG, "key": values.gather(_taken("by", values)), "run": CODES["system"]})
    metrics = () if verb == "audit" else ("ndcg@5", "num_rel")
    result = getattr(frame.irm(by="key", system="run"), verb)(*metrics, **options)
    assert result.collect_schema() == result.collect().schema


AFTER: dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]] = {
    "filter by key": lambda result: result.filter(pl.col("key") == 1),
    "filter by value": lambda result: result.filter(pl.col("rr") > 0.5).select("key", "n"),
    "select": lambda result: result.select("rr"),
    "select a sum": lambda result: result.select(pl.col("rr").sum(), pl.len()),
    "count": lambda result: result.select(pl.len()),
    "head": lambda result: result.head(1),
    "slice": lambda result: result.slice(1, 2),
    "tail": lambda result: result.tail(1),
    "drop": lambda result: result.drop("key").filter(pl.col("n") > 1),
    "with columns": lambda result: result.with_columns(pl.col("rr") * 2, double=pl.col("ndcg@5") * 2),
    "sort": lambda result: result.sort("rr", "key", descending=True).head(2),
    "group by": lambda result: result.group_by("n").agg(pl.col("rr").max()).sort("n"),
    "join": lambda result: result.join(result.select("key", other="rr"), on="key", maintain_order="left"),
    "row index": lambda result: result.with_row_index().filter(pl.col("index") == 2),
    "unique": lambda result: result.unique("n").sort("n").select("n"),
}


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("name", AFTER)
def test_what_follows_a_lazy_result(name: str, engine: Any) -> None:
    """What is asked of a lazy result gives what it gives on the collected result, in both engines."""
    frame = pl.LazyFrame({**LOG, "key": CODES["system"]})
    result = frame.irm(by="key").evaluate("ndcg@5", "rr", layout="wide")
    expected = AFTER[name](result.collect().lazy()).collect()
    pl.testing.assert_frame_equal(AFTER[name](result).collect(engine=engine), expected, check_exact=True)


def test_what_comes_before_a_lazy_result() -> None:
    """A plan that filters and joins first is the frame that it would be when collected."""
    names = pl.LazyFrame({"query": [0, 1, 2, 3], "key": list("abab")})
    plan = pl.LazyFrame(LOG).filter(pl.col("query") != 2).join(names, on="query", maintain_order="left")
    pl.testing.assert_frame_equal(_ask(plan, "by").collect(), _ask(plan.collect(), "by"))


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_only_needed_columns_are_scanned(tmp_path: Path, engine: Any) -> None:
    """A scanned file gives only the columns that are needed: nothing is made of the others."""
    path = tmp_path / "log.parquet"
    pl.DataFrame({**LOG, "key": CODES["system"], "text": ["long"] * 10, "rest": [1] * 10}).write_parquet(path)
    plan = pl.scan_parquet(path).with_columns(pl.col("text").cast(pl.Int64))
    with pytest.raises(pl.exceptions.InvalidOperationError):
        plan.collect(engine=engine)
    assert len(plan.irm(by="key").evaluate("rr").collect(engine=engine)) == 4


def test_errors_in_a_plan_come_unwrapped() -> None:
    """A bad value in a LazyFrame is the same error as in a DataFrame, once it is collected."""
    result = pl.LazyFrame({**LOG, "score": [float("inf")] * 10}).irm.evaluate("rr")
    for engine in ("in-memory", "streaming"):
        with pytest.raises(FrameMetricsError, match=r"^score: 10 of 10 rows are infinite"):
            result.collect(engine=engine)


# What is not touched


class Untouchable:
    """An object that cannot be read in any way."""

    def _refuse(self, *args: Any) -> Any:
        raise AssertionError("a column that is not needed was touched")

    __repr__ = __str__ = __hash__ = __eq__ = __array__ = __float__ = __bool__ = _refuse  # type: ignore[assignment]


def test_only_needed_columns_are_touched_in_pandas() -> None:
    """A pandas column of objects that cannot be read is not looked at."""
    frame = pd.DataFrame({**LOG, "key": CODES["system"]})
    held = np.empty(10, dtype=object)
    for i in range(10):
        held[i] = Untouchable()
    frame["other"] = held
    judged = frame[["query", "key", "grade", "other"]].iloc[[0, 1, 2, 3]]
    for role in CODES:
        assert len(_ask(frame, role)) == 8
    log = frame[["query", "score", "other"]].assign(doc=range(10))
    assert len(IRM(log).judge(judged.assign(doc=[0, 1, 2, 3])).per_query("rr")) == 2


def test_only_needed_columns_are_touched_in_a_plan() -> None:
    """A column of a LazyFrame that cannot be computed is not computed."""
    touched = pl.col("query").map_batches(_fails, return_dtype=pl.Int64)
    frame = pl.LazyFrame({**LOG, "key": CODES["system"]}).with_columns(other=touched)
    for role in CODES:
        assert len(_ask(frame, role).collect()) == 8
    judged = pl.LazyFrame({"query": [0], "doc": [1], "grade": [1]}).with_columns(other=touched)
    log = pl.LazyFrame({"query": [0], "doc": [1], "score": [1.0]})
    assert IRM(log).judge(judged).per_query("rr").collect()["value"].to_list() == [1.0]


def test_only_needed_columns_are_touched_in_arrow() -> None:
    """An Arrow column of a type that polars does not have is no hindrance if it is not needed."""
    union = pa.UnionArray.from_sparse(pa.array([0] * 10, pa.int8()), [pa.array(range(10))])
    with pytest.raises(Exception, match=r".+"):
        pl.from_arrow(pa.table({"other": union}))
    frame = pa.table({**LOG, "key": CODES["system"], "other": union})
    for role in CODES:
        assert _ask(frame, role).num_rows == 8


def test_columns_called_alike() -> None:
    """Two columns of one name are an error only if they are needed."""
    frame = pd.DataFrame([[1, 1.0, 1, "x", "y"]], columns=["query", "score", "grade", "other", "other"])
    assert IRM(frame).evaluate("rr")["value"].tolist() == [1.0]
    with pytest.raises(FrameMetricsError, match=r"^there are 2 columns called 'other'; rename all but one$"):
        IRM(frame, by="other").evaluate("rr")


def test_a_frame_with_other_names() -> None:
    """Columns whose names are no text are left alone."""
    frame = pd.DataFrame([[1, 1.0, 1, 2, 3]], columns=["query", "score", "grade", 0, ("a", 1)])
    assert IRM(frame).evaluate("rr")["value"].tolist() == [1.0]


@pytest.mark.parametrize("make", ["polars", "lazy", "pandas", "pandas-arrow", "objects", "pyarrow"])
def test_a_frame_is_not_kept_alive(make: str) -> None:
    """A frame is freed when its last name goes, with the collector off, whatever was asked of it."""
    log = pl.DataFrame({**LOG, "key": [str(code) for code in CODES["system"]]})
    gc.collect()
    gc.disable()
    try:
        frame = log.to_pandas().astype(object) if make == "objects" else as_kind(log.clone(), make)
        kept = weakref.ref(frame)
        if make != "pyarrow":
            assert frame.irm is not frame.irm
            repr(frame.irm(by="key"))
        for role in CODES:
            as_polars(_ask(frame, role))
        judged = IRM(frame, doc="key").judge(frame, grade="grade")
        with pytest.raises(FrameMetricsError, match="two judgments") as caught:
            as_polars(judged.evaluate("rr"))
        del judged, caught
        del frame
        assert kept() is None
    finally:
        gc.enable()


def test_the_source_is_not_modified(kind: str) -> None:
    """Neither the log nor the judgments change, and a result that is changed does not change them."""
    log = pl.DataFrame({**LOG, "doc": list("abcdefghij"), "key": ["m", None] * 5})
    frame, qrels = as_kind(log, kind), as_kind(log.select("query", "doc", "grade"), kind)
    before = copy.deepcopy((frame, qrels))
    results = [IRM(frame, by="key").evaluate("rr", margins=True, ci=0.9), IRM(frame, doc="doc").per_query("ndcg")]
    results.append(IRM(frame, doc="doc", duplicates="first", unjudged="drop").judge(qrels).per_query("rr"))
    for result in results:
        if isinstance(result, pl.LazyFrame):
            result = result.collect()
        if isinstance(result, pd.DataFrame):
            result.iloc[:, :] = result.iloc[::-1].to_numpy()
    for old, new in zip(before, (frame, qrels), strict=True):
        if isinstance(old, pd.DataFrame):
            pd.testing.assert_frame_equal(old, new)
        else:
            pl.testing.assert_frame_equal(as_polars(old), as_polars(new))


# The same numbers however the rows lie


def _random_log(seed: int, rows: int = 400) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    query = random.zipf(1.5, rows).clip(max=40)
    log = pl.DataFrame(
        {
            "query": query,
            "doc": random.integers(0, 10_000, rows).astype(str),
            "run": random.choice(["one", "two"], rows),
            "key": query % 3,
            "score": random.integers(0, 4, rows).astype(float),
            "grade": random.integers(-1, 4, rows),
        }
    ).with_columns(pl.when(pl.col("doc").hash() % 7 == 0).then(None).otherwise("grade").alias("grade"))
    return log.with_columns(pl.col("grade").first().over("query", "doc")).unique(
        ["run", "query", "doc"], maintain_order=True
    )


METRICS = ("ndcg@5", "ap", "rr", "recall@10", "bpref", "judged@5", "rbp", "num_rel_ret")


def test_order_of_queries_and_segments() -> None:
    """Queries come in the order of their first appearance, within systems and segments in ascending order."""
    frame = pl.DataFrame(
        {
            "query": ["z", "a", "m", "z", "a"],
            "run": ["two", "two", "one", "one", "one"],
            "key": [2, 1, 1, 2, 1],
            "score": [1.0] * 5,
            "label": [1, 1, 1, 1, 1],
        }
    )
    assert frame.irm.per_query("rr")["query"].to_list() == ["z", "a", "m"]
    assert frame.irm(system="run", by="key").per_query("rr").select("run", "key", "query").rows() == [
        ("one", 1, "a"),
        ("one", 1, "m"),
        ("one", 2, "z"),
        ("two", 1, "a"),
        ("two", 1, "m"),
        ("two", 2, "z"),
    ]
    assert frame.irm.evaluate("rr", "map", "ap@3", "p@1")["metric"].to_list() == ["rr", "map", "ap@3", "p@1"]


def test_kinds_agree_to_the_bit(kind: str) -> None:
    """A longer log gives the same bits in every kind of frame, and when it is asked again."""
    log = _random_log(3)
    roles: Any = {"doc": "doc", "system": "run", "by": "key"}
    ours, plain = IRM(as_kind(log, kind), **roles), log.irm(**roles)
    for ask in (lambda irm: irm.evaluate(*METRICS, margins=True, ci=0.9), lambda irm: irm.per_query(*METRICS)):
        pl.testing.assert_frame_equal(as_polars(ask(ours)), ask(plain), check_exact=True, check_dtypes=False)


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
@pytest.mark.parametrize("beside", [False, True], ids=["own grades", "judged beside"])
@pytest.mark.parametrize("roles", [{"doc": "doc"}, {"doc": "doc", "system": "run", "by": "key"}])
def test_the_size_of_a_block_does_not_matter(size: int, beside: bool, roles: Any) -> None:
    """However the queries are cut into blocks, every bit is the same."""
    log = _random_log(4)
    if "system" not in roles:
        log = log.unique(["query", "doc"], maintain_order=True)
    asked = log.irm(**roles)
    if beside:
        qrels = log.select("query", "doc", "grade").drop_nulls().unique(maintain_order=True)
        asked = log.drop("grade").irm(**roles).judge(qrels)
    expected = asked.per_query(*METRICS), asked.evaluate(*METRICS, ci=0.9)
    with small_blocks(size):
        results = asked.per_query(*METRICS), asked.evaluate(*METRICS, ci=0.9)
    for result, old in zip(results, expected, strict=True):
        pl.testing.assert_frame_equal(result, old, check_exact=True)


@pytest.mark.parametrize("order", ["rank order", "shuffled"])
@pytest.mark.parametrize("beside", [False, True], ids=["own grades", "judged beside"])
@pytest.mark.parametrize("to", [pl.DataFrame.clone, pl.DataFrame.to_pandas], ids=["polars", "pandas"])
def test_a_small_call_runs_no_plan_of_polars(order: str, beside: bool, to: Callable[[pl.DataFrame], Any]) -> None:
    """Ten rows with ids of text are measured without a plan of polars, whose threads take longer than they do."""
    doc = [f"d{i}" for i in range(5)] * 2
    log = pl.DataFrame(
        {"query": ["a"] * 5 + ["b"] * 5, "doc": doc, "score": np.arange(10.0)[::-1], "grade": [0, 1] * 5}
    )
    log = log if order == "rank order" else log[[4, 9, 1, 0, 7, 3, 8, 2, 6, 5]]
    qrels, frame = to(log.drop("score")), to(log.drop("grade") if beside else log)
    collected: list[str] = []

    def note(_: Any, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ in ("collect", "collect_schema"):
            collected.append(called.__qualname__)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        irm: Any = IRM(frame)
        (irm.judge(qrels) if beside else irm).evaluate("ndcg@10", "ap")
    finally:
        sys.setprofile(before)
    assert collected == []
