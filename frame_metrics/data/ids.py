"""Ids of two tables: the types in which they can be compared, and hashes that are equal where they are."""

from __future__ import annotations

from typing import Any

import polars as pl

from frame_metrics import threads
from frame_metrics.errors import BadValueError
from frame_metrics.roles.series import TEXTS

UNITS = ("ms", "us", "ns")  # of time, the finest last


def kind_of_ids(dtype: pl.DataType) -> Any:
    """A name for ids of a type: those of two kinds are never equal."""
    if isinstance(dtype, TEXTS):
        return "text"
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "number"
    if isinstance(dtype, pl.Datetime):
        return "moment", dtype.time_zone
    if isinstance(dtype, pl.Struct):
        return "fields", [field.name for field in dtype.fields]
    return type(dtype)


def wider(ours: pl.DataType, theirs: pl.DataType) -> pl.DataType:
    """The type that holds ids of both types, if they are of one kind; else the first."""
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
        return ours if UNITS.index(ours.time_unit) >= UNITS.index(theirs.time_unit) else theirs
    return ours


def _wider_integer(ours: pl.DataType, theirs: pl.DataType) -> pl.DataType:
    """The least type of integers that holds both; of 128 bits, which few other libraries have, only where it must."""
    if ours.is_unsigned_integer() and theirs.is_unsigned_integer():
        return pl.UInt128() if pl.UInt128 in (ours, theirs) else pl.UInt64()
    return pl.Int128() if any(kind in (pl.UInt64, pl.Int128, pl.UInt128) for kind in (ours, theirs)) else pl.Int64()


def held_in(ids: pl.Series, kind: Any) -> pl.Series | None:
    """Return ids in another type of their kind; None where it cannot hold every one of them unchanged."""
    try:
        held = ids.cast(kind)
        known = kind_of_ids(held.dtype) in ("text", "integer")  # of which a cast is exact or fails
        return held if known or held.cast(ids.dtype).eq_missing(ids).all() else None
    except pl.exceptions.InvalidOperationError:
        return None


def in_type_of(ids: pl.Series, kind: pl.DataType, name: str, other: str, said: pl.DataType) -> pl.Series:
    """Return ids in a type of the kind of another column's, unchanged.

    Parameters
    ----------
    name, other : what errors call the column, and the other one.
    said : the other one's own type, which they name.

    Raises
    ------
    BadValueError
        No id of one type is equal to one of the other, or the type cannot hold every one.
    """
    if pl.Null not in (ids.dtype, kind) and kind_of_ids(ids.dtype) != kind_of_ids(kind):
        raise BadValueError(f"{name} is {ids.dtype}, and {other} is {said}; give both one type")
    held = ids if kind in (pl.Null, ids.dtype) else held_in(ids, kind)
    if held is None:
        raise BadValueError(f"{name} has ids that {other} ({said}) cannot hold")
    return held


def in_common_type(ours: pl.Series, theirs: pl.Series, name: str, other: str) -> tuple[pl.Series, pl.Series]:
    """Return ids of two tables in a type that holds both, of text as text; ``name``, ``other``: as errors call them.

    Raises
    ------
    BadValueError
        There is no such type.
    """
    kind = wider(ours.dtype, theirs.dtype)
    kind = pl.String() if isinstance(kind, TEXTS) else kind
    held = in_type_of(theirs, kind, other, name, ours.dtype)
    return in_type_of(ours, kind, name, other, theirs.dtype), held


def check_held(docs: pl.Series, kind: Any, column: str, what: str) -> None:
    """Raise for documents of the judgments that a column of the caller's type cannot show; ``what``: they are."""
    if len(docs) and (kind == pl.Null or held_in(docs, kind) is None):
        raise BadValueError(f"{column}: {what} of the judgments do not fit its type, {kind}; give both one type")


def refuse_strangers(log: pl.DataFrame, judgments: pl.DataFrame, keys: list[str], name: str) -> None:
    """Raise if log and judgments, which have rows, have no id in common: then the ids are written in two ways."""
    if not len(log) or not len(judgments):
        return
    ours, theirs = log.select(keys).unique(maintain_order=True), judgments.select(keys).unique(maintain_order=True)
    if not len(ours.join(theirs, on=keys, how="semi", nulls_equal=True)):
        raise BadValueError(
            f"{name}: no id of the log is among those of the judgments (the log has {ours[keys[0]][0]!r}, "
            f"the judgments {theirs[keys[0]][0]!r}); do both write ids the same way?"
        )


def are_few(log: pl.DataFrame, judgments: pl.DataFrame | None) -> bool:
    """Return True where ids of log and judgments are told apart in Python: they are few, and what it tells apart too.

    Of many there are hashes, for which polars starts threads, which costs a small call more.
    """
    both = [log] if judgments is None else [log, judgments]
    plain = (pl.Boolean, pl.Date, pl.Null, *TEXTS)  # moments of Python have no nanoseconds
    return sum(map(len, both)) <= threads.ONE_BY_ONE and all(
        kind.is_numeric() or isinstance(kind, plain) for table in both for kind in table.dtypes
    )


def id_hash(ids: pl.Series, seed: int = 0) -> pl.Series:
    """Return a hash of ids, the same in every frame: of categories by their text."""
    ids = ids if ids.dtype == pl.String or not isinstance(ids.dtype, TEXTS) else ids.cast(pl.String)
    return ids.to_frame().hash_rows(seed)  # the same as hash(), which is a plan of polars
