"""Compare ids of two tables: the common type of both, and hashes that do not depend on the table."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

import polars as pl

from frame_metrics.errors import BadValueError, StrangeIdsError, type_name
from frame_metrics.keys.spelling import in_quotes, nearly_equal
from frame_metrics.roles.series import TEXTS

# Ends of errors about ids of which none are equal: what to look at, or the cure.
SAME_WAY = "do both write ids the same way?"
ALMOST = "they differ in case, spaces or zeros only: write them alike"
IN_ONE_FORM = "they print alike, and differ in Unicode form: bring both into one with .str.normalize('NFC')"
TIME_UNITS = ("ms", "us", "ns")  # units of time, the finest last


def kind_of_ids(dtype: pl.DataType) -> Any:
    """Return the kind of ids of a type. Ids of different kinds are never equal."""
    if isinstance(dtype, TEXTS):
        return "text"
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "number"
    if isinstance(dtype, pl.Datetime):
        return "moment", dtype.time_zone
    if isinstance(dtype, pl.Struct):
        return "fields", [field.name for field in dtype.fields]
    return type(dtype)


def wider_type(ours: pl.DataType, theirs: pl.DataType) -> pl.DataType:
    """Return a type that holds the ids of both types if they are of one kind, else the first type."""
    if ours == pl.Null:
        return theirs
    if ours == theirs or kind_of_ids(ours) != kind_of_ids(theirs):
        return ours
    if isinstance(ours, TEXTS):
        return pl.String()
    if ours.is_integer():
        return _wider_integer(ours, theirs)
    if isinstance(ours, pl.Decimal) and isinstance(theirs, pl.Decimal):
        return pl.Decimal(38, max(ours.scale, theirs.scale))
    if ours.is_numeric():
        return pl.Float64()
    if isinstance(ours, pl.Datetime | pl.Duration) and isinstance(theirs, pl.Datetime | pl.Duration):
        return ours if TIME_UNITS.index(ours.time_unit) >= TIME_UNITS.index(theirs.time_unit) else theirs
    return ours


def _wider_integer(ours: pl.DataType, theirs: pl.DataType) -> pl.DataType:
    """Return a type of integers that holds both, of 128 bits only if needed: few other libraries have such types."""
    if ours.is_unsigned_integer() and theirs.is_unsigned_integer():
        return pl.UInt128() if pl.UInt128 in (ours, theirs) else pl.UInt64()
    return pl.Int128() if any(kind in (pl.UInt64, pl.Int128, pl.UInt128) for kind in (ours, theirs)) else pl.Int64()


def cast_exactly(ids: pl.Series, kind: Any) -> pl.Series | None:
    """Return ids cast to another type of their kind; None if a cast would change one of them."""
    try:
        as_kind = ids.cast(kind)
        is_exact = kind_of_ids(as_kind.dtype) in ("text", "integer")  # a cast to these is exact, or fails
        return as_kind if is_exact or as_kind.cast(ids.dtype).eq_missing(ids).all() else None
    except pl.exceptions.InvalidOperationError:
        return None


def in_type_of(ids: pl.Series, kind: pl.DataType, name: str, other: str, other_type: pl.DataType) -> pl.Series:
    """Return the ids of one column cast to a type that suits another column, none of them changed.

    Parameters
    ----------
    ids : the column.
    kind : the type to cast to.
    name, other : names of the column and of the other one, for errors.
    other_type : the type of the other column, for errors.

    Raises
    ------
    BadValueError
        The types are of different kinds, so that no ids are equal, or ``kind`` cannot hold all of the ids.
    """
    if pl.Null not in (ids.dtype, kind) and kind_of_ids(ids.dtype) != kind_of_ids(kind):
        kinds = kind_of_ids(ids.dtype), kind_of_ids(other_type)
        text_and_integer = "text" in kinds and "integer" in kinds
        way = "give both one type" + ", integers if the texts have leading zeros" * text_and_integer
        raise BadValueError(f"{name} is {type_name(ids.dtype)}, and {other} is {type_name(other_type)}; {way}")
    as_kind = ids if kind in (pl.Null, ids.dtype) else cast_exactly(ids, kind)
    if as_kind is None:
        raise BadValueError(f"{name} has ids that {other} ({type_name(other_type)}) cannot hold; give both one type")
    return as_kind


def in_common_type(ours: pl.Series, theirs: pl.Series, name: str, other: str) -> tuple[pl.Series, pl.Series]:
    """Return the ids of two tables in a common type, categories as text.

    ``name``, ``other``: names of the two columns, for errors.

    Raises
    ------
    BadValueError
        There is no such type.
    """
    kind = wider_type(ours.dtype, theirs.dtype)
    kind = pl.String() if isinstance(kind, TEXTS) else kind
    converted = in_type_of(theirs, kind, other, name, ours.dtype)
    return in_type_of(ours, kind, name, other, theirs.dtype), converted


def check_castable(docs: pl.Series, kind: Any, column: str, what: str) -> None:
    """Raise if a column of the caller's type ``kind`` cannot hold these documents of the judgments.

    ``what``: a word for these documents, for the error.
    """
    if len(docs) and (kind == pl.Null or cast_exactly(docs, kind) is None):
        raise BadValueError(
            f"{column}: {what} of the judgments do not fit its type, {type_name(kind)}; give both one type"
        )


def check_id_overlap(log: pl.DataFrame, judgments: pl.DataFrame, keys: list[str], name: str) -> None:
    """Raise if no id of the log is among those of the judgments: they are probably written in two ways.

    A log or judgments without rows are no error.
    """
    if not len(log) or not len(judgments):
        return
    ours, theirs = log.select(keys).unique(maintain_order=True), judgments.select(keys).unique(maintain_order=True)
    if not len(ours.join(theirs, on=keys, how="semi", nulls_equal=True)):
        examples = repr(ours[keys[0]][0]), repr(theirs[keys[0]][0])
        one, other, way = first_nearly_equal(ours, theirs) or (*examples, SAME_WAY)
        raise StrangeIdsError(
            f"{name}: no id of the log is among those of the judgments (the log has {one}, the judgments {other}); "
            f"{way}",
            check="ids that no judgment has",
            n=len(ours),
        )


def first_nearly_equal(ours: pl.DataFrame, theirs: pl.DataFrame) -> tuple[str, str, str] | None:
    """Return an id of each table that differ in Unicode form, case, spaces or zeros only, as text, and the cure.

    ``ours``, ``theirs``: ids of which none are equal. Texts of two Unicode forms would print alike, and so show their
    code points. None if there are no such ids.
    """
    for sides in zip(ours.iter_columns(), theirs.iter_columns(), strict=True):
        if not all(isinstance(one.dtype, TEXTS) for one in sides):
            continue
        some, others = (dict.fromkeys(one.cast(pl.String).drop_nulls().to_list()) for one in sides)
        by_form = {normalize("NFC", one): one for one in others if not one.isascii()}
        for one in (one for one in some if one not in others) if by_form else ():
            if (like := by_form.get(normalize("NFC", one))) is not None:
                return ascii(one), ascii(like), IN_ONE_FORM
    if pairs := nearly_equal(ours, theirs):
        return *in_quotes(ours.row(pairs[0][0]), theirs.row(pairs[1][0])), ALMOST
    return None
