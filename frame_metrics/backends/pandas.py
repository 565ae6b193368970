"""pandas: DataFrames, whose keys come back with their own types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.backends.arrow import as_enum, as_series, as_type, has_rows, narrow
from frame_metrics.backends.polars import key_values
from frame_metrics.backends.protocol import Backend, SeparateJudgments
from frame_metrics.errors import BadValueError, quote
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE

if TYPE_CHECKING:
    from frame_metrics.answer import Answer

MOST_TEXTS_ONE_BY_ONE = 1 << 10  # texts, up to which the way by views costs more than it saves
# The kinds of values that hold several others.
CONTAINERS: dict[str, tuple[type, ...]] = {"list": (list, np.ndarray), "tuple": (tuple,), "set": (set, frozenset)}
EXTENSIONS = ("IntervalDtype", "PeriodDtype")  # types that are stored in Arrow as an extension of another type


class PandasFrame(Backend):
    """A pandas DataFrame."""

    as_lists = "lambda f: f[{}].map(lambda d: [d])"  # for errors: how to make lists of a column
    _as_lists: frozenset[str] = frozenset()  # columns whose tuples, or sets, are read as lists

    @property
    def n_rows_in_memory(self) -> int | None:
        return len(self.frame)

    @cached_property
    def _names(self) -> list[Any]:
        return [str(name) if _is_integer(name) else name for name in self.frame.columns]

    def names(self) -> list[Any]:
        return self._names.copy()

    def column(self, name: str) -> Any:
        """Return a column by its name; the name of an integer label is its text."""
        return self.frame[self.label(name)]

    def label(self, name: str) -> Any:
        """Return the caller's label of a column; an integer label has its text as a name here."""
        labels = self.frame.columns
        numbers = () if name in labels else (label for label in labels if _is_integer(label))
        return next((label for label in numbers if str(label) == name), name)

    def hint(self, column: Any) -> str:
        if column in self.frame.index.names:
            return "; it is a level of the index: reset_index() makes it a column"
        if self.frame.columns.nlevels > 1:
            way = "frame.columns = ['_'.join(map(str, one)) for one in frame.columns]"
            return f"; its columns have several levels, of which this makes one: {way}"
        return super().hint(column)

    def as_enums(self, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        held = {name: self.column(name) for name in columns}
        of_arrow = [name for name in held if hasattr(held[name].dtype, "pyarrow_dtype")]
        in_order = [as_enum(rows[name], held[name].array.__arrow_array__()) for name in of_arrow]
        return rows.with_columns(in_order) if in_order else rows

    def holds_lists(self, column: str) -> bool:
        return column in self._as_lists or self.container(column) == "list"  # else a tuple is a value

    def container(self, column: str) -> str:
        kind = getattr(self.column(column), "dtype", None)  # two columns of one name are a frame, without a dtype
        if type(kind).__name__ == "ArrowDtype":
            return "list" if super().holds_lists(column) else ""
        first = self.first_of(column) if kind == np.dtype(object) else None
        return next((name for name, kinds in CONTAINERS.items() if isinstance(first, kinds)), "")

    def first_of(self, column: str) -> Any:
        values = self.column(column)
        return next((one for one in getattr(values, "array", ()) if not _is_absent(one)), None)

    def with_lists(self, columns: Sequence[str]) -> PandasFrame:
        held = [name for name in columns if name in self._names and self.column(name).dtype == np.dtype(object)]
        other = replace(self)
        vars(other)["_as_lists"] = frozenset(held)
        return other

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        self.check(columns)
        return frame_of({name: self._read(name) for name in columns})

    def _read(self, name: str) -> pl.Series:
        values = self.column(name)
        if name not in self._as_lists:
            return _as_series(name, values)
        return _from_lists(name, np.array([_as_list(one) for one in values.array] + [None], dtype=object)[:-1])

    def call_function(self, function: Any) -> Any:
        is_expression = hasattr(type(function), "_eval_expression")  # pd.col()
        values = function._eval_expression(self.frame) if is_expression else function(self.frame)
        if is_expression and values.name is None:
            raise BadValueError("it is made of several columns; name it with .rename()")
        if hasattr(values, "index") and hasattr(values, "iloc") and not values.index.equals(self.frame.index):
            raise BadValueError("its index is not that of the frame; give a value for each row, in their order")
        return values

    def with_columns(self, columns: dict[str, Any]) -> PandasFrame:
        frame = self.frame.copy(deep=False)
        for name, values in columns.items():
            if isinstance(values, pl.Series):
                values = values.to_pandas().array.as_ordered() if values.dtype == pl.Enum else _as_pandas(name, values)
            frame[self.label(name)] = values
        return replace(self, frame=frame)

    def head_and_height(self, n: int) -> tuple[Backend, int] | None:
        return PandasFrame(self.frame.head(n)), len(self.frame)

    def to_native(self, answer: Answer) -> Any:
        import pandas as pd

        keys = {}
        for name, at in answer.keys.items():
            if isinstance(at, pl.Series):
                keys[name] = _as_pandas(name, at)
                continue
            called = name if name in answer.aliases else self.label(name)
            keys[called] = self._key(answer.source_column(name), at, answer.table, answer.judgments)
        columns = {name: _as_pandas(name, values) for name, values in answer.columns.items()}
        for name, whose in answer.classes.items():
            if sides := [self.column(own) for own in whose if own in self._names]:
                columns[name] = _like(sides, answer.columns[name], columns[name])
        return pd.DataFrame(keys | columns, copy=False)  # each array was made for the frame, so that it needs no copy

    def _key(self, name: str, at: Array, table: pl.DataFrame, judgments: SeparateJudgments) -> Any:
        """Return the values of a key column at rows of the frame; row numbers past its end are of the judgments."""
        if name not in table.columns:
            return _key_values(name, _key_column(name, judgments, None), judgments.rows(at, len(table)), judgments)
        own = self.column(name)
        if _has_rows(own):
            return _key_values(name, own, at, judgments)
        return of_pandas(key_values(table, name, at, judgments), own.dtype)


def _is_absent(value: Any) -> bool:
    """Return True for a value that pandas treats as missing."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


def _is_integer(name: Any) -> bool:
    """Return True for an integer label of a column; a frame made from an array has such labels."""
    return isinstance(name, int | np.integer) and not isinstance(name, bool)


def _as_series(name: str, values: Any) -> pl.Series:
    """Return a pandas column as polars."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return _from_numbers(name, values.to_numpy())
    if type(dtype).__name__ == "CategoricalDtype":
        return _from_categories(name, values)
    if type(dtype).__name__ in ("ArrowDtype", *EXTENSIONS):
        return as_series(name, values.array.__arrow_array__())
    if type(dtype).__name__ == "SparseDtype":
        return _as_series(name, values.sparse.to_dense())
    try:
        if type(dtype).__name__ == "StringDtype":
            return _from_text(name, values)
        if dtype.name == "object":
            return _from_objects(name, values)
        return pl.Series(name, pl.from_pandas(values, nan_to_null=False))
    except BadValueError:  # which is a ValueError too
        raise
    except UnicodeEncodeError:
        raise BadValueError(f"{name}: the column has text that is not Unicode; decode it") from None
    except (TypeError, ValueError, OverflowError, NotImplementedError, pl.exceptions.PolarsError):
        return _as_text(name, values)


def _from_numbers(name: str, array: Array) -> pl.Series:
    """Return a numpy array of numbers as polars: NaN becomes null, and integers are not copied."""
    if array.itemsize > 8:  # polars has no floats of more bytes
        raise BadValueError(f"{name}: the column is {array.dtype}, which cannot be read; cast it to another type")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)  # in the byte order of this machine
    if array.dtype == np.float16:
        return pl.Series(name, array.astype(np.float32), nan_to_null=True).cast(pl.Float16)
    return pl.Series(name, array, nan_to_null=array.dtype.kind == "f")


def _from_text(name: str, values: Any) -> pl.Series:
    """Return a text column. Many texts become views, as polars stores text, so that none is copied."""
    import pyarrow as pa

    text = values.array.__arrow_array__()
    if len(text) > MOST_TEXTS_ONE_BY_ONE:
        with suppress(pa.ArrowNotImplementedError):  # pyarrow before 18
            text = text.cast(pa.string_view())
    return pl.Series(name, pl.from_arrow(text)).rechunk()


def _from_categories(name: str, values: Any) -> pl.Series:
    """Return a categorical column as polars.

    Categories become their values. Ordered ones become an Enum, unless they are numbers or truth values that ascend or
    descend.
    """
    levels = _as_series(name, values.cat.categories.to_series())
    code = pl.Series(name, values.cat.codes.to_numpy().astype(np.int64))
    in_order = levels.is_sorted() or levels.is_sorted(descending=True)
    if values.cat.ordered and not (in_order and (levels.dtype.is_numeric() or levels.dtype == pl.Boolean)):
        texts = [str(level) for level in values.cat.categories]
        levels = pl.Series(texts, dtype=pl.Enum(texts))
    return levels.gather(code.set(code < 0, None)).rename(name)


def _from_objects(name: str, values: Any) -> pl.Series:
    """Return a column of Python objects as polars; raise ``TypeError`` if polars would change any of them."""
    from pandas.api.types import infer_dtype

    array = values.to_numpy()
    absent = values.isna().to_numpy()
    if absent.any():
        array = array.copy()
        array[absent] = None
    # Texts are common, and need no comparison with what polars made of them.
    if infer_dtype(values, skipna=True) == "string":
        read = pl.Series(name, array)
        return read if read.dtype == pl.String else pl.Series(name, array.tolist(), dtype=pl.String)
    if isinstance(next((value for value in array if value is not None), None), list | np.ndarray):
        return _from_lists(name, array)
    objects = array.tolist()
    read = pl.Series(name, objects, strict=False)
    if read.dtype == pl.Object or read.to_list() != objects:
        raise TypeError
    return read


def _as_list(value: Any) -> Any:
    """Return a tuple or a set as a list, and null for a missing value; the order of a set does not depend on chance."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=lambda one: (str(type(one)), str(one)))
    return list(value) if isinstance(value, tuple) else None if _is_absent(value) else value


def _from_lists(name: str, values: Any) -> pl.Series:
    """Return a column of lists or arrays as lists of polars, with null for missing values in them.

    A tuple in a list is an id, and becomes text, as in a column of such ids.
    """
    import pyarrow as pa

    some = next((one[0] for one in values if isinstance(one, list | np.ndarray) and len(one)), None)
    if isinstance(some, tuple):
        values = np.array([_of_texts(one) for one in values] + [None], dtype=object)[:-1]
    try:
        return as_series(name, pa.array(values, from_pandas=True))
    except (pa.ArrowException, pl.exceptions.PolarsError):
        if not all(value is None or isinstance(value, list | tuple | np.ndarray) for value in values):
            raise BadValueError(f"{name}: some rows hold lists and others do not; give every row a list") from None
        raise BadValueError(f"{name}: the column's lists have values of several types; give them one type") from None


def _of_texts(value: Any) -> Any:
    """Return a list of tuples as a list of their texts; another value unchanged."""
    if not isinstance(value, list | np.ndarray):
        return value
    return [None if _is_absent(one) else str(one) if isinstance(one, tuple) else one for one in value]


def _as_text(name: str, values: Any) -> pl.Series:
    """Return values that polars cannot hold as text; raise if different values have the same text."""
    import pandas as pd

    try:
        code, distinct = pd.factorize(values)
    except TypeError as error:
        if any(isinstance(value, list | np.ndarray) for value in values):  # though the first value is not a list
            raise BadValueError(f"{name}: some rows hold lists and others do not; give every row a list") from None
        if any(isinstance(value, set) for value in values):
            raise BadValueError(f"{name}: the column holds sets, which have no order; make them lists") from None
        raise BadValueError(f"{name}: the column's values cannot be compared ({error}); make them text") from None
    texts = [str(value) for value in distinct]
    if len(set(texts)) < len(texts):
        repeated = Counter(texts).most_common(1)[0][0]
        two = [quote(value) for value, text in zip(distinct, texts, strict=True) if text == repeated]
        raise BadValueError(
            f"{name}: the column mixes types, and {' and '.join(two[:2])} read the same as text; give it one type, "
            "with .astype('string') if they are the same"
        )
    numbers = pl.Series(code.astype(np.int64))
    return pl.Series(name, texts, dtype=pl.String).gather(numbers.set(numbers < 0, None))


def _as_pandas(name: str, values: pl.Series) -> Any:
    """Return a column of an answer as an array, or a list, from which pandas makes a column."""
    import pandas as pd

    values = narrow(values)
    if values.dtype.is_integer() and (name == "k" or values.null_count()):
        if not values.null_count():
            return pd.arrays.IntegerArray(values.to_numpy(writable=True), np.zeros(len(values), bool))
        return getattr(pd, f"{values.dtype}Dtype")().__from_arrow__(values.to_arrow())  # faster than by name
    if values.dtype == pl.Boolean and values.null_count():
        return pd.array(values.to_list(), dtype="boolean")
    if values.dtype == pl.String:
        return values.to_list() if len(values) else pd.Series(["text"]).iloc[:0]
    if isinstance(values.dtype, pl.Struct | pl.Array):  # numpy would make an array of two dimensions
        return pd.Series(values.to_list(), dtype=object).array
    if getattr(values.dtype, "time_zone", None) is not None:  # numpy has no time zones
        return values.to_pandas().array
    return values.to_numpy(writable=True)


def _like(sides: Sequence[Any], values: pl.Series, made: Any) -> Any:
    """Return classes in the type that they have in the caller's frame.

    Parameters
    ----------
    sides : the caller's columns of classes; the first decides. A categorical column counts as one of its values.
    values : the classes, as polars.
    made : the same from ``_as_pandas``; it is returned if that is already their type.
    """
    import pandas as pd

    sides = [side.cat.categories.to_series() if hasattr(side, "cat") else side for side in sides]
    kind = sides[0].dtype
    if kind == np.dtype(object):
        originals: dict[Any, Any] = {}
        for known in (side.dropna().drop_duplicates() for side in sides[::-1] if side.dtype == kind):
            originals |= dict(zip(_as_series("", known), known, strict=True))
        return pd.Series([originals.get(value, value) for value in values], dtype=object)
    is_plain = str(kind) == "str" or (isinstance(kind, np.dtype) and kind.kind in "biuf")  # the type of ``made``
    return made if is_plain else in_pandas_type(pd.Series(made), values, kind)


def _key_values(name: str, column: Any, rows: Array, judgments: SeparateJudgments) -> Any:
    """Return the values of a key column at some rows.

    Parameters
    ----------
    column : the key column of the frame, or of the judgments if only they have it.
    rows : row numbers of ``column``; those past its end are rows of the judgments, and -1 gives null.
    """
    import pandas as pd

    values, later = column, rows >= len(column)
    if later.any():
        some = (rows >= 0) & ~later
        here, there = column.iloc[rows[some]], _key_column(name, judgments, column).iloc[rows[later] - len(column)]
        if type(there.dtype).__name__ == "CategoricalDtype":  # Arrow makes no ordered dictionary from it
            there = there.astype(object)
        if there.isna().any() and isinstance(here.dtype, np.dtype) and here.dtype.kind in "iub":
            here = here.convert_dtypes()  # to those that have a null
        if type(column.dtype).__name__ == "CategoricalDtype":
            new = [c for c in there.unique() if c not in column.cat.categories and not pd.isna(c)]
            here = here.cat.add_categories(new)
        values = pd.concat([here, there.astype(here.dtype)], ignore_index=True)
        place = np.full(len(rows), NONE)
        place[some], place[later] = np.arange(len(here)), len(here) + np.arange(len(there))
        rows = place
    if (rows < 0).any() and isinstance(values.dtype, np.dtype) and values.dtype.kind in "iub":
        values = values.convert_dtypes()  # to those that have a null
    if isinstance(values.dtype, np.dtype) and not values.dtype.isnative:  # pandas cannot take rows of it
        values = values.astype(values.dtype.newbyteorder("="))
    taken = values.array.take(rows, allow_fill=True)  # intervals of integers become intervals of floats beside a null
    return pd.Series(taken, dtype=taken.dtype)  # without a dtype, pandas would infer that of objects


def of_pandas(values: pl.Series, dtype: Any) -> Any:
    """Return values that were read from a column of intervals, of periods or of an Arrow type in that pandas type."""
    import pandas as pd

    if hasattr(dtype, "pyarrow_dtype"):  # which may be Arrow's type null
        return pd.Series(pd.arrays.ArrowExtensionArray(as_type(values, dtype.pyarrow_dtype)))
    kind = pd.Series([], dtype=dtype).array.__arrow_array__().type
    return pd.Series(dtype.__from_arrow__(as_type(values, kind)))


def in_pandas_type(values: Any, read: pl.Series, dtype: Any) -> Any:
    """Return values in a type of pandas if it holds every one of them, else unchanged.

    Parameters
    ----------
    values : a pandas column.
    read : the same values as polars.
    """
    if type(dtype).__name__ in EXTENSIONS:
        return of_pandas(read, dtype)
    try:
        converted = of_pandas(read, dtype) if hasattr(dtype, "pyarrow_dtype") else values.astype(dtype)
    except (TypeError, ValueError, NotImplementedError):
        return values
    return converted if converted.isna().sum() == values.isna().sum() else values


def period_text(number: int, freq: str) -> str:
    """Return a period as the text that pandas writes; ``number``: the stored integer."""
    import pandas as pd

    return str(pd.Period(ordinal=number, freq=freq))


def _has_rows(values: Any) -> bool:
    """Return False if the column has an Arrow type whose rows pandas cannot select."""
    return type(values.dtype).__name__ != "ArrowDtype" or has_rows(values.dtype.pyarrow_dtype)


def _key_column(name: str, judgments: SeparateJudgments, column: Any) -> Any:
    """Return a key column of the judgments as pandas; ``column``: the same column of the frame, None if it has none."""
    import pandas as pd

    if isinstance(judgments.backend, PandasFrame) and _has_rows(
        theirs := judgments.backend.column(judgments.columns[name])
    ):
        return theirs
    if column is not None and type(column.dtype).__name__ in EXTENSIONS:
        return of_pandas(judgments.key(name), column.dtype)
    return pd.Series(_as_pandas(name, judgments.key(name)))
