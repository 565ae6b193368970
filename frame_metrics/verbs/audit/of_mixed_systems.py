"""Checks of rows of several systems, or queries, that are read as one, because no role names their column."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.errors import quote
from frame_metrics.hidden import TIMES
from frame_metrics.keys.groups import as_text
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.roles import Roles
from frame_metrics.verbs.audit.checks import Seen, check


def with_unnamed(columns: Columns, roles: Roles) -> Columns:
    """Return the columns of an audit, with one that is called as one of systems, or queries, is if no role names it.

    ``roles``: what the caller named; ``system=None`` says that the rows of a query are one list.
    """
    name, shape = columns.likely_mixed, columns.shape
    if shape.likely_query and not (columns.predicted or columns.class_scores or columns.value):
        return columns.changed(unnamed_query=shape.likely_query)
    if not name or "system" in roles or shape.per_system:
        return columns
    return columns.changed(unnamed_system=name)


@check("warning", "queries")
def queries_with_rows_of_several_systems(log: Log) -> Seen:
    """{n} of {of} queries have rows of several systems in one list, as {said}. Pass system= to measure each system, or
    system=None if the rows of a query are one list
    """
    name, keys = log.columns.unnamed_system, log.columns.internal_keys
    if name is None or log.table["unnamed_system"].dtype.is_nested():
        return Seen(0)
    rows = log.table.select(*keys, "unnamed_system").with_row_index("at").drop_nulls("unnamed_system")
    each = rows.group_by(keys, maintain_order=True).agg(
        pl.col("at").first(), pl.col("unnamed_system").unique().sort().head(2)
    )
    mixed = each.filter(pl.col("unnamed_system").list.len() > 1)
    if not len(mixed):
        return Seen(0, len(each))
    one, other = map(quote, mixed["unnamed_system"][0].to_list())
    said = {"said": f"{one} and {other} in the column {quote(name)}"}
    return Seen(len(mixed), len(each), as_text(mixed.select(keys)), said, int(log.rows(mixed["at"][:1].to_numpy())[0]))


class RowsOfQueries(NamedTuple):
    """Rows without a query, of which a column is called as one is."""

    rows: pl.DataFrame
    columns: Columns


@check("warning", "rows")
def rows_of_queries_measured_as_one_list(read: RowsOfQueries) -> Seen:
    """{n} of {of} rows share {said} with other rows, and no query is named: all rows are measured as one list, as those
    of a classifier. Pass query={column} to measure each query, or query=None if one list is meant
    """
    name, columns = str(read.columns.unnamed_query), read.columns
    keys = [*columns.cell_keys, name]
    if read.rows[name].dtype.is_nested():
        return Seen(0, len(read.rows))
    again = read.rows.select(marks=pl.col(name).is_not_null() & (pl.len().over(keys) > 1))["marks"]
    if not again.any():
        return Seen(0, len(again))
    first = read.rows[name].filter(again).min()
    words = {"said": f"a value of {quote(name)}, as {quote(first)},", "column": quote(name)}
    return Seen(int(again.sum()), len(again), str(first), words)


class RowsOfDocuments(NamedTuple):
    """Rows without a query, of which a column has the documents that systems decide about."""

    rows: pl.DataFrame
    columns: Columns


@check("warning", "documents")
def documents_that_have_several_rows(read: RowsOfDocuments) -> Seen:
    """{n} of {of} documents have several rows{each}, as {said}, and all of them count: {way}"""
    doc, columns = str(read.columns.doc), read.columns
    times = pl.col(TIMES) if TIMES in read.rows.columns else pl.lit(1)
    rows = read.rows.filter(pl.col(doc).is_not_null())
    each = rows.group_by([*columns.cell_keys, doc], maintain_order=True).agg(n=pl.len(), times=times.first())
    again = each.filter(pl.col("n") > 1)
    if not len(again):
        return Seen(0, int(each["times"].sum()))
    first = again[doc].min()
    alone = "drop them, or pass system= if several systems decided about each document"
    words = {"said": quote(first), "way": "drop them" if columns.system else alone}
    words["each"] = f" with the same {', '.join(columns.cell_keys)}" if columns.cell_keys else ""
    return Seen(int(again["times"].sum()), int(each["times"].sum()), str(first), words)
