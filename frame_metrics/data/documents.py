"""Facts about documents, regardless of queries: how often each was chosen, and which could be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.protocol import Backend
from frame_metrics.errors import BadValueError, ColumnError, listed, prefix_errors
from frame_metrics.keys.ids import in_common_type
from frame_metrics.roles.columns import EXTRA, Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import amount_column, doc_column, refuse

DOCUMENT_TABLES = ("popularity", "catalogue")  # conventions that may be a frame of documents
COUNTS = ("count", "counts", "len", "n", "frequency")  # usual names of a column of counts
# Columns with a number of each document: how often it was chosen, and -log2 of its share of all choices.
CHOSEN, SURPRISE = "popularity", "popularity=surprise"


def tables_of(conventions: Conventions, columns: Columns, *, lists: bool) -> Conventions:
    """Return the conventions with the frames and mappings of ``popularity=`` and ``catalogue=`` read, as polars.

    A frame that no metric of the call needs is not read. It is dropped, so that it is not sent to other processes.

    Parameters
    ----------
    lists : whether the catalogue is needed. If not, it is not read, and True marks that one was given.

    Raises
    ------
    ColumnError, BadValueError
        A frame has no column of documents, or no document was ever chosen.
    """
    popularity, catalogue, doc = conventions.popularity, conventions.catalogue, str(columns.doc)
    if popularity is not None and not isinstance(popularity, str):
        needed = {f"{CHOSEN}=", SURPRISE} & {*columns.document_facts}
        popularity = _choices_by_document(popularity, doc) if needed else None
    if catalogue is not None and not isinstance(catalogue, int | float):
        catalogue = _read("catalogue", _backend("catalogue", catalogue, doc), doc)[doc].unique() if lists else True
    return replace(conventions, popularity=popularity, catalogue=catalogue)


def _backend(role: str, frame: Any, doc: str) -> Backend:
    """Return the backend of a caller's frame; its column of documents must have the name ``doc``, as in the log."""
    backend = backend_of(frame)
    names = backend.names()
    if doc not in names:
        raise ColumnError(f"{role}=: the frame has {listed(names)}, and no column {doc!r}, as the log has it")
    return backend


def _read(role: str, backend: Backend, doc: str, *others: str) -> pl.DataFrame:
    """Read the column of documents of a frame, and other columns; a missing document is an error."""
    table = backend.in_memory([doc, *others]).read([doc, *others])
    with prefix_errors(f"{role}="):
        doc_column(table[doc], doc)
    return table


def _choices(backend: Backend, doc: str) -> pl.DataFrame:
    """Read the documents of a frame, with the number of choices in each row as "popularity", if a column has it.

    That column is called "popularity", or is the only number with a usual name of counts, such as "n". Without it each
    row is one choice.

    Raises
    ------
    ColumnError
        It is unclear whether a column holds numbers of choices. Counting rows could then give a wrong popularity.
    """
    others = [name for name in backend.names() if name != doc]
    named = [name for name in others if str(name).lower() in COUNTS]
    count_columns = (
        [CHOSEN] if CHOSEN in others else [name for name in named if backend.types([name])[name].is_numeric()]
    )
    table = _read("popularity", backend, doc, *count_columns)
    unclear = count_columns if len(count_columns) > 1 else []
    if not count_columns and table[doc].is_unique().all():  # rows that are choices seldom have each document once
        with prefix_errors("popularity="):
            unclear = [name for name, kind in backend.types(others).items() if name in named or kind.is_numeric()]
    if unclear:
        raise ColumnError(
            f"popularity=: {listed(unclear)} may hold how often each document was chosen; rename the column that does "
            f"to {CHOSEN!r}, or drop what does not, to count rows"
        )
    return table.rename(dict.fromkeys(count_columns, CHOSEN))


def _choices_by_document(given: Any, doc: str) -> pl.DataFrame:
    """Sum up the choices of each document, and add its surprise, -log2 of its share of all choices.

    A document with 0 choices has the surprise of the least chosen one.
    """
    if isinstance(given, Mapping):
        given = pl.DataFrame({doc: [*given], CHOSEN: [*map(float, given.values())]}, strict=False)
    table = _choices(_backend("popularity", given, doc), doc)
    times = amount_column(table[CHOSEN], CHOSEN, CHOSEN) if CHOSEN in table.columns else pl.lit(1.0).alias(CHOSEN)
    table = table.with_columns(times).group_by(doc).agg(pl.sum(CHOSEN))
    some = table[CHOSEN].filter(table[CHOSEN] > 0)
    if not len(some):
        raise BadValueError("popularity=: all popularities are 0; at least one document must have been chosen")
    share = pl.max_horizontal(CHOSEN, pl.lit(some.min())) / some.sum()
    return table.with_columns((0 - share.log(2)).alias(SURPRISE))


def with_documents(log: pl.DataFrame, columns: Columns, conventions: Conventions) -> pl.DataFrame:
    """Return the log with the facts of its documents that metrics read, as extra columns."""
    popularity, document_facts = conventions.popularity, columns.document_facts
    if isinstance(popularity, pl.DataFrame):
        log = _with_table(log, popularity, str(columns.doc))
    elif SURPRISE in document_facts:
        share, way = log[CHOSEN], "novelty reads shares of all choices: give popularity= a frame or a mapping of counts"
        refuse(popularity, share > 1, "are not between 0 and 1", way)
        refuse(
            popularity, share <= 0, "are not above 0", "give what was never chosen the share of what was chosen least"
        )
        log = log.with_columns((0 - share.log(2)).alias(SURPRISE))
    return log.rename({name.removesuffix("="): EXTRA + name for name in document_facts})


def _with_table(log: pl.DataFrame, table: pl.DataFrame, doc: str) -> pl.DataFrame:
    """Join the columns of the table to the log, by document; a document that the table lacks has 0 choices."""
    ours, ids = in_common_type(log["doc"], table[doc], f"{doc} of the log", f"{doc} of {CHOSEN}=")
    theirs = table.select(ids.alias("doc"), CHOSEN, SURPRISE)
    found = ours.to_frame().join(theirs, on="doc", how="left", maintain_order="left")
    return log.with_columns(found[CHOSEN].fill_null(0.0), found[SURPRISE].fill_null(pl.lit(theirs[SURPRISE].max())))
