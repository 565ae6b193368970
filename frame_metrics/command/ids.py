"""Ids of the log and of frames beside it, where one has texts and the other whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl


def as_texts(log: pl.LazyFrame, others: Iterable[tuple[pl.DataFrame, Mapping[str, str]]]) -> pl.LazyFrame:
    """Return the log, its whole numbers as texts where ids of other frames are texts that are not written as numbers.

    Beside the text 01, the number 1 is the text 1.

    Parameters
    ----------
    others : other frames, each with the columns of the ids in the log by theirs.
    """
    types = log.collect_schema()
    pairs = [(other[its], own) for other, columns in others for its, own in columns.items() if its in other.columns]
    texts = {own for ids, own in pairs if own in types and types[own].is_integer() and not _are_plain(ids, types[own])}
    return log.with_columns(pl.col(sorted(texts)).cast(pl.String)) if texts else log


def _are_plain(ids: pl.Series, kind: pl.DataType) -> bool:
    """Return False for texts of which one is not written as a number of this type is, as 01 and +1 are not."""
    return ids.dtype != pl.String or bool(ids.cast(kind, strict=False).cast(pl.String).eq_missing(ids).all())


def matching(other: pl.DataFrame, log: pl.LazyFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """Return a frame whose ids have the type of those of the log, where one side has texts and the other whole numbers.

    A file of text does not say the types of its columns.

    Parameters
    ----------
    log : as ``as_texts`` returns it: where it has numbers, texts of the other frame are written as numbers.
    columns : those of the ids in the log, by theirs in the other frame.
    """
    types = log.collect_schema()
    for column, its in columns.items():
        if column not in other.columns or its not in types:
            continue
        ids, own = other.schema[column], types[its]
        if (own == pl.String and ids.is_integer()) or (ids == pl.String and own.is_integer()):
            other = other.with_columns(pl.col(column).cast(own))
    return other
