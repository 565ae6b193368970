"""What is said of documents, and not of results: how often each is chosen, and which could be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.border.frames import border_of
from frame_metrics.data.chances import alike
from frame_metrics.errors import BadValueError, ColumnError, listed, shown
from frame_metrics.roles.columns import EXTRA, Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import TEXTS, popularity_column, refuse

TABLES = ("popularity", "catalogue")
CHOSEN, SURPRISE = "popularity", "surprise"  # columns of a table of documents: how often, and -log2 of the share


def tables_of(conventions: Conventions, columns: Columns, *, lists: bool) -> Conventions:
    """Return the conventions with what frames and mappings say of documents as tables of polars, where it is read.

    ``lists``: whether the catalogue is. A frame that is not read is not held either, as it may go to other processes.

    Raises
    ------
    ColumnError, BadValueError
        A frame has no documents, or says two things of one.
    """
    chosen, catalogue = conventions.popularity, conventions.catalogue
    if chosen is not None and not isinstance(chosen, str):
        read = {CHOSEN, SURPRISE} & {*columns.about}
        conventions = replace(conventions, popularity=_chosen(chosen, str(columns.doc)) if read else None)
    if catalogue is not None and not isinstance(catalogue, int | float):
        read_it = lists and columns.doc
        items = _read("catalogue", catalogue, str(columns.doc), [])[str(columns.doc)] if read_it else None
        conventions = replace(conventions, catalogue=True if items is None else items.drop_nulls().unique())
    return conventions


def _read(role: str, frame: Any, doc: str, more: list[str]) -> pl.DataFrame:
    """Some columns of a frame of documents, which calls them as the log does."""
    border = border_of(frame)
    if doc not in border.names():
        raise ColumnError(f"{role}=: the frame has {listed(border.names())}, and no column {doc!r}, as the log has it")
    names = [doc, *(name for name in more if name in border.names())]
    return border.in_memory(names).read(names)


def _chosen(said: Any, doc: str) -> pl.DataFrame:
    """How often each document was chosen: as said, or counted where a frame has a row for each time."""
    if isinstance(said, Mapping):
        table = pl.DataFrame({doc: [*said], CHOSEN: [*map(float, said.values())]}, strict=False)
    else:
        table = _read("popularity", said, doc, [CHOSEN])
        if CHOSEN not in table.columns:
            table = table.drop_nulls().group_by(doc).agg(pl.len().cast(pl.Float64).alias(CHOSEN))
    table = table.with_columns(popularity_column(table[CHOSEN], CHOSEN))
    if len(again := table[doc].filter(table[doc].is_duplicated())):
        n = int((again == again[0]).sum())
        raise BadValueError(
            f"popularity=: {doc} {shown(again[0])} has {n} rows, each with a {CHOSEN}; keep one of each"
        )
    some = table[CHOSEN].filter(table[CHOSEN] > 0)
    if not len(some):
        raise BadValueError("popularity=: no document was ever chosen, and a share of nothing says nothing")
    share = pl.max_horizontal(CHOSEN, pl.lit(some.min())) / some.sum()
    return table.with_columns((0 - share.log(2)).alias(SURPRISE))


def in_type_of(ids: pl.Series, docs: pl.Series, role: str, column: str) -> pl.Series:
    """Return ids of documents in the type that the log has them in; raise where they could not be alike."""
    if not alike(ids.dtype, docs.dtype):
        raise ColumnError(f"{role}=: {column} is {ids.dtype} there, and {docs.dtype} in the log; give both one type")
    return ids.cast(pl.String if docs.dtype in TEXTS else docs.dtype, strict=False)


def with_documents(log: pl.DataFrame, columns: Columns, conventions: Conventions) -> pl.DataFrame:
    """Return the log with the columns that metrics read of its documents."""
    said, about = conventions.popularity, columns.about
    if {CHOSEN, SURPRISE} & {*about}:
        log = _of_column(log, said, about) if isinstance(said, str) else _of_table(log, said, str(columns.doc))
    return log.rename({name: EXTRA + name for name in about})


def _of_column(log: pl.DataFrame, column: str, about: tuple[str, ...]) -> pl.DataFrame:
    """The log with the self-information of shares that it has itself."""
    share = log[CHOSEN]
    if SURPRISE not in about:
        return log
    way = "novelty reads the share of all choices; give popularity= a frame of choices, or a mapping, which are counted"
    refuse(column, share > 1, "are not between 0 and 1", way)
    refuse(column, share <= 0, "are not above 0", "give what was never chosen the share of what was chosen least")
    return log.with_columns((0 - share.log(2)).alias(SURPRISE))


def _of_table(log: pl.DataFrame, table: pl.DataFrame, doc: str) -> pl.DataFrame:
    """The log with what a table says of its documents; one that it lacks was never chosen."""
    own = log["doc"].cast(pl.String) if log["doc"].dtype in TEXTS else log["doc"]
    theirs = table.select(in_type_of(table[doc], log["doc"], CHOSEN, doc).alias("doc"), CHOSEN, SURPRISE)
    found = own.to_frame().join(theirs, on="doc", how="left", maintain_order="left")
    rarest = float(np.float64(theirs[SURPRISE].max()))
    return log.with_columns(found[CHOSEN].fill_null(0.0), found[SURPRISE].fill_null(rarest))
