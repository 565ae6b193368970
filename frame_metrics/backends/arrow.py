"""Arrow: tables, datasets and other objects that export Arrow, read to their end; answers are pyarrow Tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from frame_metrics.backends.exporters import arrow_schema, arrow_table
from frame_metrics.backends.polars import FIRST_ROWS, key_values
from frame_metrics.backends.protocol import Backend
from frame_metrics.errors import BadValueError

if TYPE_CHECKING:
    from frame_metrics.answer import Answer

DIGITS = 38  # the most digits of a decimal of 128 bits


class ArrowFrame(Backend):
    """A dataset or a scanner of pyarrow, or anything that exports Arrow."""

    way_to_make_column = "a pyarrow Table takes expressions"
    numbered = False

    @cached_property
    def _schema(self) -> Any:
        return arrow_schema(self.frame)

    def names(self) -> list[Any]:
        return list(self._schema.names)

    def check(self, columns: Sequence[str]) -> None:
        super().check(columns)
        if hasattr(self.frame, "scanner"):  # which reads nothing if any two columns have one name
            super().check(self.names())

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        self.check(columns)
        return as_polars(arrow_table(self.frame, columns))

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        self.check(columns)
        return dict(as_polars(self._schema.empty_table().select(list(columns))).schema)

    def holds_lists(self, column: str) -> bool:
        import pyarrow as pa

        at = self._schema.get_field_index(column)  # -1 if two columns have this name
        is_list = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
        return at >= 0 and any(one(self._schema.field(at).type) for one in is_list)

    @property
    def unchanged(self) -> bool:
        return False  # unknown: some frames can be asked for their names only once

    def in_memory(self, columns: Sequence[str]) -> Backend:
        self.check(columns)
        return ArrowTable(arrow_table(self.frame, columns))

    def to_native(self, answer: Answer) -> Any:
        import pyarrow as pa

        out, table, judgments = {}, answer.table, answer.judgments
        for name, rows in answer.keys.items():
            source = answer.source_column(name)
            if isinstance(rows, pl.Series) or source not in table.columns:
                out[name] = narrow(key_values(table, source, rows, judgments)).to_arrow()
                continue
            column = self.frame.column(source)
            beyond = len(rows) > 0 and int(rows.max()) >= len(column)
            if beyond or not has_rows(column.type):
                out[name] = as_type(key_values(table, source, rows, judgments), column.type)
            else:
                out[name] = column.take(pa.array(rows, mask=rows < 0))
        return pa.table(out | {name: narrow(values).to_arrow() for name, values in answer.columns.items()})


class ArrowTable(ArrowFrame):
    """A pyarrow Table, or a batch of rows."""

    way_to_make_column = ""
    numbered = True

    @property
    def n_rows_in_memory(self) -> int | None:
        return len(self.frame)

    def with_columns(self, columns: dict[str, Any]) -> ArrowFrame:
        table = self.frame
        for name, values in columns.items():
            made, at = narrow(pl.Series(name, values)), table.schema.get_field_index(name)
            field = made.to_frame().to_arrow().schema.field(0)  # its metadata keep the order of an Enum
            column = made.to_arrow()
            table = table.append_column(field, column) if at < 0 else table.set_column(at, field, column)
        return replace(self, frame=table)

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        self.check(columns)
        return dict(as_polars(self.frame.select(list(columns)).slice(0, 0)).schema)  # a dictionary's type is its texts

    def as_enums(self, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        return rows.with_columns(as_enum(rows[name], self.frame.column(name)) for name in columns)

    @property
    def unchanged(self) -> bool:
        return True

    def first_of(self, column: str) -> Any:
        return next(
            (one for one in self.frame.slice(0, FIRST_ROWS).column(column).to_pylist() if one is not None), None
        )

    def head_and_height(self, n: int) -> tuple[Backend, int] | None:
        return ArrowTable(self.frame.slice(0, n)), int(self.frame.num_rows)


def as_polars(table: Any) -> pl.DataFrame:
    """Return a pyarrow Table as polars."""
    import pyarrow as pa

    columns = [readable(field.name, column) for field, column in zip(table.schema, table.columns, strict=True)]
    fields = [_field(field, column.type) for field, column in zip(table.schema, columns, strict=True)]
    whole = pa.table(columns, schema=pa.schema(fields))
    if any(pa.types.is_fixed_size_list(field.type) for field in fields):  # in chunks, they would be slices
        whole = whole.combine_chunks()
    read = pl.from_arrow(whole)
    read = read if isinstance(read, pl.DataFrame) else read.to_frame()
    marked = [_marked(values, field.type) for values, field in zip(read, table.schema, strict=True)]
    return read.with_columns(values for values in marked if values is not None)


def as_enum(values: pl.Series, column: Any) -> pl.Series:
    """Return texts that were read from an ordered dictionary as an Enum.

    Other values stay as they are. So do texts that are not all in it, or whose order differs from chunk to chunk.
    """
    import pyarrow as pa

    if values.dtype != pl.Categorical or not getattr(column.type, "ordered", False):
        return values
    levels, *others = [chunk.dictionary for chunk in getattr(column, "chunks", [column])] or [pa.array([], pa.string())]
    texts = levels.to_pylist()
    if None in texts or len({*texts}) < len(texts) or not all(map(levels.equals, others)):
        return values
    as_categories = values.cast(pl.Enum(texts), strict=False)
    return as_categories if as_categories.null_count() == values.null_count() else values


def _marked(values: pl.Series, kind: Any) -> pl.Series | None:
    """Return intervals and periods of pandas as structs; None for values of other types.

    The names of a struct's fields say which sides of an interval are closed, or the frequency of a period. So intervals
    closed on different sides, and periods of different frequencies, have different types and are never equal.
    """
    extension = getattr(kind, "extension_name", None)
    if extension == "pandas.interval":
        left = "[" if kind.closed in ("left", "both") else "("
        right = "]" if kind.closed in ("right", "both") else ")"
        return values.struct.rename_fields([f"{left}left", f"right{right}"])
    if extension == "pandas.period":
        struct = pl.struct(values.alias(f"period[{kind.freq}]"))
        return pl.select(pl.when(values.is_not_null()).then(struct).alias(values.name)).to_series()
    return None


def _unmarked(values: pl.Series, kind: Any) -> pl.Series:
    """Undo ``_marked``: give the fields of a struct the names that the stored type has, or take its only field."""
    if not isinstance(values.dtype, pl.Struct):
        return values
    return values.struct.rename_fields([field.name for field in kind]) if kind.num_fields else values.struct[0]


def as_series(name: str, column: Any) -> pl.Series:
    """Return a column of Arrow as polars; it is read in a table, as polars 1.36 misreads large lists of text alone."""
    import pyarrow as pa

    return as_polars(pa.table({name: column})).to_series()


def readable(name: str, column: Any) -> Any:
    """Return a column of Arrow in a type that polars can read.

    Run-end encoding is undone, decimals of 256 bits become decimals of 128, times with a fixed offset become UTC, and
    extension types become their storage types.

    Raises
    ------
    BadValueError
        polars has no such type, or a value does not fit.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    try:
        if pa.types.is_run_end_encoded(kind):
            return readable(name, pc.run_end_decode(column))  # type: ignore[attr-defined]
        if pa.types.is_dictionary(kind) and _type_to_read(kind.value_type) != kind.value_type:
            return readable(name, column.cast(kind.value_type))
        if (wanted := _type_to_read(kind)) != kind:  # a cast to its own type breaks a list of nulls
            column = column.cast(wanted)
        if pa.types.is_fixed_size_list(column.type):  # polars cannot read a slice of it that has nulls
            column = column.take(np.arange(len(column)))
        if _holds_wide_decimals(column.type) or "month_day_nano" in str(kind):  # polars panics at these
            raise NotImplementedError
        pl.from_arrow(pa.nulls(1, column.type))
    except (pa.ArrowException, pl.exceptions.PolarsError, NotImplementedError):
        raise BadValueError(f"{name}: the column is {kind}, which cannot be read; cast it to another type") from None
    if "decimal128" in str(kind):
        _check_digits(name, column)
    return column


def _check_digits(name: str, column: Any) -> None:
    """Raise for a decimal of too many digits, at which polars panics; DuckDB exports a HUGEINT as a decimal."""
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raise BadValueError(f"{name}: the column has numbers of more than {DIGITS} digits; cast it to text") from None


def narrow(values: pl.Series) -> pl.Series:
    """Return integers of 128 bits, which other libraries lack, in a smaller type that holds them, or as decimals."""
    if values.dtype not in (pl.Int128, pl.UInt128):
        return values
    for kind in (pl.Int64, pl.UInt64):
        narrowed = values.cast(kind, strict=False)
        if narrowed.null_count() == values.null_count():
            return narrowed
    return values.cast(pl.Decimal(38, 0))


def _type_to_read(kind: Any) -> Any:
    """Return the type to which a column of a type is cast before polars reads it."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if pa.types.is_decimal256(kind) and kind.scale <= DIGITS:
        return pa.decimal128(DIGITS, kind.scale)
    if pa.types.is_timestamp(kind) and kind.tz is not None and kind.tz[:1] in ("+", "-"):
        return pa.timestamp(kind.unit, "UTC")
    return kind


def _holds_wide_decimals(kind: Any) -> bool:
    """Return True for decimals of 256 bits, and for types that contain them."""
    import pyarrow as pa

    inner = [kind.field(i).type for i in range(kind.num_fields)]
    if pa.types.is_dictionary(kind):
        inner = [kind.value_type]
    return pa.types.is_decimal256(kind) or any(map(_holds_wide_decimals, inner))


def _field(field: Any, kind: Any) -> Any:
    """Return a field with another type; of its metadata, as the order of an Enum, all is kept but extension types."""
    said = field.metadata or {}
    return field.with_type(kind).with_metadata(
        {key: value for key, value in said.items() if not key.startswith(b"ARROW:extension")}
    )


def has_rows(kind: Any) -> bool:
    """Return False for types whose rows Arrow cannot select: views of text and run-ends; and for the type null."""
    import pyarrow as pa

    of_text = pa.types.is_string_view(kind) or pa.types.is_binary_view(kind)
    return not (of_text or pa.types.is_run_end_encoded(kind) or pa.types.is_null(kind))


def as_type(values: pl.Series, kind: Any) -> Any:
    """Return values as an Arrow array of the given type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(kind, pa.BaseExtensionType):
        return as_type(_unmarked(values, kind.storage_type), kind.storage_type).cast(kind)
    if pa.types.is_run_end_encoded(kind):
        plain = as_type(values, kind.value_type)
        return pc.run_end_encode(plain, run_end_type=kind.run_end_type)  # type: ignore[attr-defined]
    if pa.types.is_dictionary(kind):
        coded = as_type(values, kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(
            coded.indices.cast(kind.index_type), coded.dictionary, ordered=kind.ordered
        )
    if pa.types.is_null(kind):
        return narrow(values).to_arrow()
    return values.to_arrow().cast(kind) if has_rows(kind) else pa.array(values.to_list(), type=kind)
