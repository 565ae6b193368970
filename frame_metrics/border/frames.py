"""The border: pandas, polars, lazy and Arrow frames in, the same kind out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from frame_metrics.errors import BadValueError, ColumnError, closest, listed
from frame_metrics.inputs.rows import NONE, Array

if TYPE_CHECKING:
    from frame_metrics.answer import Answer

Run = Callable[[pl.DataFrame, "Past"], "Answer"]


def _is_pandas(frame: Any) -> bool:
    """Whether a frame is pandas', asked without importing pandas: if it is, someone has."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(frame, pandas.DataFrame)


def check_frame(frame: Any) -> None:
    """Raise unless the frame is of a kind that can be read."""
    if isinstance(frame, pl.DataFrame | pl.LazyFrame) or _is_pandas(frame):
        return
    if type(frame).__name__ == "RecordBatchReader":
        raise BadValueError("a RecordBatchReader can be read once only; give the table of its read_all()")
    if hasattr(frame, "__arrow_c_stream__") and type(frame).__name__ not in ("Series", "ChunkedArray"):
        return
    raise BadValueError(
        f"a {type(frame).__name__} is not a frame: give a pandas or polars DataFrame, a LazyFrame or an Arrow table"
    )


def columns_of(frame: Any) -> list[Any]:
    """Return the names of a frame's columns; nothing is read."""
    check_frame(frame)
    if isinstance(frame, pl.LazyFrame):
        return frame.collect_schema().names()
    if isinstance(frame, pl.DataFrame) or _is_pandas(frame):
        return list(frame.columns)
    return list(_arrow_reader(frame).schema.names)


def missing_hint(frame: Any, column: Any) -> str:
    """Return what may help where a column is not there."""
    if _is_pandas(frame) and column in frame.index.names:
        return "; it is a level of the index: reset_index() makes it a column"
    return closest(column, columns_of(frame))


def check_columns(frame: Any, columns: Sequence[str]) -> None:
    """Raise for a column that is not there, or that stands twice."""
    there = columns_of(frame)
    for column in columns:
        if column not in there:
            raise ColumnError(f"there is no column {column!r} among {listed(there)}{missing_hint(frame, column)}")
        if there.count(column) > 1:
            raise ColumnError(f"there are {there.count(column)} columns called {column!r}; rename all but one")


def to_polars(frame: Any, columns: Sequence[str]) -> pl.DataFrame:
    """Return the named columns of any frame as a polars DataFrame; no other column is touched.

    Parameters
    ----------
    frame : pandas, polars or lazy, or anything that exports Arrow.
    columns : their names, each once.

    Raises
    ------
    ColumnError
        A column is not there, or stands twice.
    """
    check_columns(frame, columns)
    if isinstance(frame, pl.LazyFrame):
        return frame.select(columns).collect()
    if isinstance(frame, pl.DataFrame):
        return frame.select(columns)
    if _is_pandas(frame):
        return pl.DataFrame({name: _from_pandas(name, frame[name]) for name in columns})
    return _from_arrow(_arrow_table(frame, columns))


def in_memory(frame: Any, columns: Sequence[str]) -> Any:
    """Return the named columns of a frame so that they can be read again: a plan is run, a stream read to its end."""
    check_columns(frame, columns)
    if isinstance(frame, pl.LazyFrame):
        return frame.select(columns).collect()
    return frame if isinstance(frame, pl.DataFrame) or _is_pandas(frame) else _arrow_table(frame, columns)


def _arrow_reader(frame: Any) -> Any:
    import pyarrow as pa

    return frame if isinstance(frame, pa.Table) else pa.RecordBatchReader.from_stream(frame)


def _arrow_table(frame: Any, columns: Sequence[str]) -> Any:
    source = _arrow_reader(frame)
    table = source if hasattr(source, "select") else source.read_all()
    return table.select(list(columns))


def _from_arrow(table: Any) -> pl.DataFrame:
    read = pl.from_arrow(table)
    return read if isinstance(read, pl.DataFrame) else read.to_frame()


def _from_pandas(name: str, values: Any) -> pl.Series:
    """Return a pandas column as polars: NaN of numpy floats is null, an int column is not copied."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        array = values.to_numpy()
        return pl.Series(
            name, array.astype(np.float32) if dtype == np.float16 else array, nan_to_null=dtype.kind == "f"
        )
    if type(dtype).__name__ == "CategoricalDtype":
        return _from_categories(name, values)
    try:
        if type(dtype).__name__ == "StringDtype":
            return _from_text(name, values)
        if dtype.name == "object":
            return _from_objects(name, values)
        return pl.Series(name, pl.from_pandas(values, nan_to_null=False))
    except UnicodeEncodeError:
        raise BadValueError(f"{name}: the column has text that is not Unicode; decode it") from None
    except (TypeError, ValueError, OverflowError, NotImplementedError, pl.exceptions.PolarsError):
        return _as_text(name, values)


def _from_text(name: str, values: Any) -> pl.Series:
    """Return a text column; as views, which is how polars keeps text, so that no text is copied."""
    import pyarrow as pa

    try:
        text = values.array.__arrow_array__().cast(pa.string_view())
    except (AttributeError, pa.ArrowNotImplementedError):  # pyarrow before 18
        return pl.Series(name, pl.from_pandas(values))
    return pl.Series(name, pl.from_arrow(text)).rechunk()


def _from_categories(name: str, values: Any) -> pl.Series:
    """Return categories as their values; as an Enum where they have an order that their values have not."""
    levels = _from_pandas(name, values.cat.categories.to_series())
    code = pl.Series(name, values.cat.codes.to_numpy().astype(np.int64))
    if values.cat.ordered and not (levels.dtype.is_numeric() and levels.is_sorted()):
        texts = [str(level) for level in values.cat.categories]
        levels = pl.Series(texts, dtype=pl.Enum(texts))
    return levels.gather(code.set(code < 0, None)).rename(name)


def _from_objects(name: str, values: Any) -> pl.Series:
    """Return Python objects as polars, if polars holds every one of them unchanged."""
    from pandas.api.types import infer_dtype

    array: Array = values.to_numpy()
    absent = values.isna().to_numpy()
    if absent.any():
        array = array.copy()
        array[absent] = None
    if infer_dtype(values, skipna=True) == "string":
        read = pl.Series(name, array)
        return read if read.dtype == pl.String else pl.Series(name, array.tolist(), dtype=pl.String)
    objects = array.tolist()
    read = pl.Series(name, objects, strict=False)
    if read.dtype == pl.Object or read.to_list() != objects:
        raise TypeError
    return read


def _as_text(name: str, values: Any) -> pl.Series:
    """Return values that polars cannot hold as their text, where the text tells them apart."""
    import pandas as pd

    try:
        code, distinct = pd.factorize(values)
    except TypeError as error:
        raise BadValueError(f"{name}: the column's values cannot be told apart ({error}); make them text") from None
    texts = [str(value) for value in distinct]
    if len(set(texts)) < len(texts):
        raise BadValueError(
            f"{name}: the column mixes types, and different values read the same as text; give it one type"
        )
    numbers = pl.Series(code.astype(np.int64))
    return pl.Series(name, texts, dtype=pl.String).gather(numbers.set(numbers < 0, None))


@dataclass(frozen=True, eq=False)
class Past:
    """The judgments, where the key values of rows past a frame's end stand.

    Parameters
    ----------
    frame : of any kind, in memory.
    columns : its column for each key column of the log.
    """

    frame: Any
    columns: dict[str, str]

    def polars(self, name: str, dtype: pl.DataType) -> pl.Series:
        """Return a key column in the type of the log's."""
        own = self.columns[name]
        values = to_polars(self.frame, [own])[own]
        return values if dtype == pl.Null else values.cast(dtype)

    def pandas(self, name: str) -> Any:
        """Return a key column as pandas."""
        import pandas as pd

        own = self.columns[name]
        return self.frame[own] if _is_pandas(self.frame) else pd.Series(to_polars(self.frame, [own])[own].to_list())


def apply(
    frame: Any,
    columns: Sequence[str],
    run: Run,
    schema: Callable[[dict[str, Any]], dict[str, Any]],
    judgments: Callable[[], Past],
) -> Any:
    """Run an eager function on the named columns and return its answer as a frame of the caller's kind.

    Parameters
    ----------
    frame : the caller's.
    columns : the columns that are read.
    run : columns, and judgments that were read, to answer.
    schema : key types to the types of the result, for a plan that has not run.
    judgments : reads the judgments, for rows past the frame's end; called once for each time that ``run`` is.
    """
    check_columns(frame, columns)
    if isinstance(frame, pl.LazyFrame):
        types = frame.select(columns).collect_schema()
        return frame.select(columns).map_batches(
            lambda eager: _to_polars(run(eager, past := judgments()), eager, past),
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
            schema=pl.Schema(schema(dict(types))),
        )
    past = judgments()
    if isinstance(frame, pl.DataFrame):
        return _to_polars(run(frame.select(columns), past), frame, past)
    if _is_pandas(frame):
        return _to_pandas(run(to_polars(frame, columns), past), frame, past)
    table = _arrow_table(frame, columns)
    eager = _from_arrow(table)
    return _to_arrow(run(eager, past), table, eager, past)


def _keys(name: str, rows: Array, own: pl.Series, past: Past) -> pl.Series:
    """The values of a key column at rows of the frame, or of the judgments past its end; -1 is null."""
    n = len(own)
    if len(rows) and int(rows.max()) >= n:
        later = past.polars(name, own.dtype)
        own = pl.concat([own.cast(later.dtype), later])
    at = pl.Series(rows)
    return own.gather(at.set(at < 0, None) if len(rows) and int(rows.min()) < 0 else at)


def _to_polars(answer: Answer, frame: pl.DataFrame, past: Past) -> pl.DataFrame:
    keys = {n: _keys(answer.source(n), rows, frame[answer.source(n)], past) for n, rows in answer.keys.items()}
    return pl.DataFrame({name: values.rename(name) for name, values in (keys | answer.columns).items()})


def _to_pandas(answer: Answer, frame: Any, past: Past) -> Any:
    import pandas as pd

    out = {n: _pandas_keys(answer.source(n), r, frame[answer.source(n)], past) for n, r in answer.keys.items()}
    for name, values in answer.columns.items():
        if values.dtype.is_integer() and (name == "k" or values.null_count()):
            mask = values.is_null().to_numpy()
            nullable: Any = str(values.dtype)
            out[name] = pd.array(values.fill_null(0).to_numpy(), dtype=nullable)
            out[name][mask] = pd.NA
        elif values.dtype == pl.Boolean and values.null_count():
            out[name] = pd.array(values.to_list(), dtype="boolean")
        elif values.dtype == pl.String:
            out[name] = values.to_list() if len(values) else pd.Series(["text"]).iloc[:0]
        else:
            out[name] = values.to_numpy(writable=True)
    return pd.DataFrame(out)


def _pandas_keys(name: str, rows: Array, own: Any, past: Past) -> Any:
    import pandas as pd

    later = rows >= len(own)
    if later.any():
        here = own.iloc[rows[(rows >= 0) & ~later]]
        there = past.pandas(name).iloc[rows[later] - len(own)]
        if type(own.dtype).__name__ == "CategoricalDtype":
            here = here.cat.add_categories(
                [c for c in there.unique() if c not in own.cat.categories and not pd.isna(c)]
            )
        values = pd.concat([here, there.astype(here.dtype)], ignore_index=True)
        place = np.full(len(rows), NONE)
        place[(rows >= 0) & ~later] = np.arange(len(here))
        place[later] = len(here) + np.arange(len(there))
    else:
        values, place = own, rows
    absent = place < 0
    if len(values):
        values = values.iloc[np.where(absent, 0, place)].reset_index(drop=True)
    else:
        values = values.reset_index(drop=True).reindex(range(len(place)))
    if absent.any() and isinstance(values.dtype, np.dtype) and values.dtype.kind in "iub":
        nullable = {"b": "boolean", "i": f"Int{8 * values.dtype.itemsize}", "u": f"UInt{8 * values.dtype.itemsize}"}
        values = values.astype(nullable[values.dtype.kind])
    return values.mask(absent) if absent.any() else values


def _to_arrow(answer: Answer, table: Any, eager: pl.DataFrame, past: Past) -> Any:
    import pyarrow as pa

    out = {}
    for name, rows in answer.keys.items():
        source = answer.source(name)
        own = table.column(source)
        if len(rows) and int(rows.max()) >= len(own):
            out[name] = _keys(source, rows, eager[source], past).to_arrow().cast(own.type)
        elif pa.types.is_string_view(own.type) or pa.types.is_binary_view(own.type):  # which Arrow cannot take rows of
            out[name] = pa.array(_keys(source, rows, eager[source], past).to_list(), type=own.type)
        else:
            out[name] = own.take(pa.array(rows, mask=rows < 0))
    return pa.table(out | {name: values.to_arrow() for name, values in answer.columns.items()})
