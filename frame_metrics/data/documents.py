"""Facts of documents, and not of results: how often each is chosen, and which could be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.border.frames import border_of
from frame_metrics.border.protocol import Border
from frame_metrics.data.ids import in_common_type
from frame_metrics.errors import BadValueError, ColumnError, listed, told_of
from frame_metrics.roles.columns import EXTRA, Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import amount_column, doc_column, refuse

TABLES = ("popularity", "catalogue")
COUNTS = ("count", "counts", "len", "n", "frequency")  # what a column of counted rows is called
CHOSEN, SURPRISE = "popularity", "popularity=surprise"  # of documents: how often, and -log2 of the share


def tables_of(conventions: Conventions, columns: Columns, *, lists: bool) -> Conventions:
    """Return the conventions with what frames and mappings say of documents as tables of polars, where it is read.

    ``lists``: whether the catalogue is. A frame that is not read is not held either, as it may go to other processes.

    Raises
    ------
    ColumnError, BadValueError
        A frame has no documents, or nothing was chosen.
    """
    chosen, catalogue, doc = conventions.popularity, conventions.catalogue, str(columns.doc)
    if chosen is None and catalogue is None:
        return conventions
    if chosen is not None and not isinstance(chosen, str):
        chosen = _chosen(chosen, doc) if {f"{CHOSEN}=", SURPRISE} & {*columns.about} else None
    if catalogue is not None and not isinstance(catalogue, int | float):
        catalogue = _read("catalogue", _border("catalogue", catalogue, doc), doc)[doc].unique() if lists else True
    return replace(conventions, popularity=chosen, catalogue=catalogue)


def _border(role: str, frame: Any, doc: str) -> Border:
    """The border of a frame that calls its documents as the log does."""
    border = border_of(frame)
    there = border.names()
    if doc not in there:
        raise ColumnError(f"{role}=: the frame has {listed(there)}, and no column {doc!r}, as the log has it")
    return border


def _read(role: str, border: Border, doc: str, *others: str) -> pl.DataFrame:
    """The documents of a frame, none missing, and other columns."""
    table = border.in_memory([doc, *others]).read([doc, *others])
    with told_of(f"{role}="):
        doc_column(table[doc], doc)
    return table


def _choices(border: Border, doc: str) -> pl.DataFrame:
    """The documents of a frame, and how often each row says that its own is chosen, if a column says it.

    Raises
    ------
    ColumnError
        Columns may say it that are not called so, and to count rows would be another popularity.
    """
    others = [name for name in border.names() if name != doc]
    named = [name for name in others if str(name).lower() in COUNTS]
    held = [CHOSEN] if CHOSEN in others else [name for name in named if border.types([name])[name].is_numeric()]
    table = _read("popularity", border, doc, *held)
    unclear = held if len(held) > 1 else []
    if not held and table[doc].is_unique().all():  # which the rows of choices seldom are
        with told_of("popularity="):
            unclear = [name for name, kind in border.types(others).items() if name in named or kind.is_numeric()]
    if unclear:
        raise ColumnError(
            f"popularity=: {listed(unclear)} may say how often each document was chosen; call the column that does "
            f"{CHOSEN!r}, or drop what does not, to count rows"
        )
    return table.rename(dict.fromkeys(held, CHOSEN))


def _chosen(said: Any, doc: str) -> pl.DataFrame:
    """Choices of each document, and its self-information: what the rows of a document say is added up."""
    if isinstance(said, Mapping):
        said = pl.DataFrame({doc: [*said], CHOSEN: [*map(float, said.values())]}, strict=False)
    table = _choices(_border("popularity", said, doc), doc)
    often = amount_column(table[CHOSEN], CHOSEN, CHOSEN) if CHOSEN in table.columns else pl.lit(1.0).alias(CHOSEN)
    table = table.with_columns(often).group_by(doc).agg(pl.sum(CHOSEN))
    some = table[CHOSEN].filter(table[CHOSEN] > 0)
    if not len(some):
        raise BadValueError("popularity=: no document was ever chosen, and a share of nothing says nothing")
    share = pl.max_horizontal(CHOSEN, pl.lit(some.min())) / some.sum()
    return table.with_columns((0 - share.log(2)).alias(SURPRISE))


def with_documents(log: pl.DataFrame, columns: Columns, conventions: Conventions) -> pl.DataFrame:
    """Return the log with the columns that metrics read of its documents."""
    said, about = conventions.popularity, columns.about
    if not about:
        return log
    if isinstance(said, pl.DataFrame):
        log = _with_table(log, said, str(columns.doc))
    elif SURPRISE in about:
        share, way = log[CHOSEN], "novelty reads shares of all choices: give popularity= a frame or a mapping of counts"
        refuse(said, share > 1, "are not between 0 and 1", way)
        refuse(said, share <= 0, "are not above 0", "give what was never chosen the share of what was chosen least")
        log = log.with_columns((0 - share.log(2)).alias(SURPRISE))
    return log.rename({name.removesuffix("="): EXTRA + name for name in about})


def _with_table(log: pl.DataFrame, table: pl.DataFrame, doc: str) -> pl.DataFrame:
    """The log with what a table says of its documents; one that it lacks was never chosen."""
    ours, ids = in_common_type(log["doc"], table[doc], f"{doc} of the log", f"{doc} of {CHOSEN}=")
    theirs = table.select(ids.alias("doc"), CHOSEN, SURPRISE)
    found = ours.to_frame().join(theirs, on="doc", how="left", maintain_order="left")
    return log.with_columns(found[CHOSEN].fill_null(0.0), found[SURPRISE].fill_null(pl.lit(theirs[SURPRISE].max())))
