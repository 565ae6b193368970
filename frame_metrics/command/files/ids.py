"""Ids of the log and of frames beside it, made of one type if one side has texts and the other integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import polars as pl

F = TypeVar("F", pl.DataFrame, pl.LazyFrame)


def as_texts(log: pl.LazyFrame, others: Iterable[tuple[pl.DataFrame, Mapping[str, str]]]) -> pl.LazyFrame:
    """Return the log with integer ids as texts, if another frame has ids that are not the plain text of an integer.

    An example is the text "01": beside it, the number 1 of the log becomes the text "1".

    Parameters
    ----------
    others : other frames, each with a mapping from its id columns to those of the log.
    """
    types = log.collect_schema()
    pairs = [(other[its], own) for other, columns in others for its, own in columns.items() if its in other.columns]
    texts = {own for ids, own in pairs if own in types and types[own].is_integer() and not _are_plain(ids, types[own])}
    return log.with_columns(pl.col(sorted(texts)).cast(pl.String)) if texts else log


def _are_plain(ids: pl.Series, kind: pl.DataType) -> bool:
    """Return True unless some id is a text that integers of this type are not written as, such as "01" or "+1"."""
    return ids.dtype != pl.String or bool(ids.cast(kind, strict=False).cast(pl.String).eq_missing(ids).all())


def matching(other: F, log: pl.LazyFrame, columns: Mapping[str, str]) -> F:
    """Return a frame with ids of the log's type, where one side has texts and the other integers.

    Such pairs are common, as a text file does not say the types of its columns.

    Parameters
    ----------
    log : the log as ``as_texts`` returns it, so that a cast of texts to its integers loses nothing.
    columns : the id columns of the frame -> those of the log.
    """
    types, own = log.collect_schema(), other.collect_schema()
    pairs = {column: (own[column], types[its]) for column, its in columns.items() if column in own and its in types}
    return other.with_columns(
        pl.col(column).cast(kind)
        for column, (ids, kind) in pairs.items()
        if (kind == pl.String and ids.is_integer()) or (ids == pl.String and kind.is_integer())
    )
