"""Checks of rows of several systems, or queries, that are read as one, because no role names their column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.errors import quote
from frame_metrics.hidden import TIMES
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.groups import as_text
from frame_metrics.roles.columns import CALLED_DOC, CALLED_RANK, UNNAMED_RESULT, UNNAMED_SYSTEM, Columns
from frame_metrics.roles.roles import Roles
from frame_metrics.roles.series import names_something
from frame_metrics.verbs.audit.checks import Seen, check

# Ties share a place too, but hardly two in a row; and documents have several passages, but hardly most of them.
FIRST_PLACES, SHARE_REPEATED = 2, 0.5
SOME_MOVED = 0.05  # the share of documents in another segment from which on it is a warning


def with_unnamed(columns: Columns, roles: Roles, available: Sequence[str]) -> Columns:
    """Return the columns of an audit, with those whose names are usual for systems, queries or ranks and have no role.

    ``roles``: what the caller named; ``system=None`` says that the rows of a query are one list, ``rank=None`` that no
    column has ranks. ``available``: the columns of the frame.
    """
    names, shape = columns.likely_mixed, columns.shape
    if shape.likely_query and not (columns.predicted or columns.class_scores or columns.value):
        return columns.changed(unnamed_query=shape.likely_query)
    if columns.query and columns.score and not (columns.team or columns.unfolds):
        looked = [names for role, names in (("rank", CALLED_RANK), ("doc", CALLED_DOC)) if role not in roles]
        others = (name for name in available if name not in columns.needed)
        named = tuple(name for name in others if any(str(name).strip().lower() in names for names in looked))
        columns = columns.changed(unnamed_results=named)
    return columns if "system" in roles or shape.per_system else columns.changed(unnamed_systems=names)


@check("warning", "queries")
def queries_with_rows_of_several_systems(log: Log) -> Seen:
    """{n} of {of} queries have rows of several systems in one list, as {said}. Pass system= to measure each system, or
    system=None if the rows of a query are one list
    """
    keys, by_name = log.columns.internal_keys, dict[str, pl.DataFrame]()
    results = [pl.col(name).is_not_null() for name in ("score", "rank") if name in log.table.columns]
    for i, name in enumerate(log.columns.unnamed_systems):
        value = log.table[f"{UNNAMED_SYSTEM}{i}"]
        if not value.dtype.is_nested():
            named = names_something(value.name, value.dtype)
            rows = log.table.with_row_index("at").filter(named, *results[:1]).group_by(keys, maintain_order=True)
            by_name[name] = rows.agg(pl.col("at").first(), value=pl.col(value.name).unique().sort().head(2))
    mixed = {name: each.filter(pl.col("value").list.len() > 1) for name, each in by_name.items()}
    n, of = (_n_keys(tables.values(), keys) for tables in (mixed, by_name))
    if not n:
        return Seen(0, of)
    name, first = min(((name, each) for name, each in mixed.items() if len(each)), key=lambda one: one[1]["at"][0])
    one, other = map(quote, first["value"][0].to_list())
    said = {"said": f"{one} and {other} in the column {quote(name)}"}
    return Seen(n, of, as_text(first.select(keys)), said, int(log.rows(first["at"][:1].to_numpy())[0]))


@check("warning", "rankings")
def rankings_that_seem_to_be_of_several_searches(log: Log) -> Seen:
    """{n} of {of} rankings have {said} several times, as if the query was asked several times, and are measured as one
    list by score. Name what tells the searches apart in query= too, as query=[query, date], or pass rank=None, doc=None
    if one list is meant
    """
    keys, seen = log.columns.internal_keys, Seen(0)
    for i, name in enumerate(log.columns.unnamed_results):
        column, places = pl.col(f"{UNNAMED_RESULT}{i}"), name.strip().lower() in CALLED_RANK
        kind = log.table.schema[f"{UNNAMED_RESULT}{i}"]
        if seen.n or kind.is_nested() or (places and not kind.is_numeric()):
            continue
        rows = log.table.with_row_index("at").filter(column.is_not_null())
        often = rows.group_by(*keys, column).agg(pl.len().alias("n"), pl.col("at").min()).sort(column)
        several = pl.col("n").head(FIRST_PLACES).min() > 1 if places else (pl.col("n") > 1).mean() >= SHARE_REPEATED
        each = often.group_by(keys).agg(pl.col("at").min(), several=several).sort("at")
        again = each.filter("several")
        first = as_text(again.select(keys)) if len(again) else None
        at = int(log.rows(again["at"][:1].to_numpy())[0]) if len(again) else NONE
        what = f"{'the first place' if places else 'a document'} in {quote(name)}"
        seen = Seen(len(again), len(each), first, {"said": what}, at)
    return seen


def _n_keys(tables: Iterable[pl.DataFrame], keys: Sequence[str]) -> int:
    """Count the keys that some table has."""
    each = [table.select(keys) for table in tables]
    return len(pl.concat(each).unique()) if each else 0


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
    keys = [pl.col(name).alias(str(i)) for i, name in enumerate([doc, *columns.cell_keys])]
    each = rows.group_by(keys, maintain_order=True).agg(n=pl.len(), times=times.first())
    again = each.filter(pl.col("n") > 1)
    if not len(again):
        return Seen(0, int(each["times"].sum()))
    first = again["0"].min()
    alone = "drop them, or pass system= if several systems decided about each document"
    words = {"said": quote(first), "way": "drop them" if columns.system else alone}
    words["each"] = f" with the same {', '.join(columns.cell_keys)}" if columns.cell_keys else ""
    return Seen(int(again["times"].sum()), int(each["times"].sum()), str(first), words)


@check("info", "documents", rises=(SOME_MOVED, "warning"))
def documents_in_other_segments(read: RowsOfDocuments) -> Seen | None:
    """{n} of {of} documents ({share}) {have} another {by} with another {system}, and differences in each {by} leave
    them out (n_unpaired)
    """
    doc, system, by = str(read.columns.doc), read.columns.system, read.columns.segments
    if not system or not by:
        return None
    times = pl.col(TIMES) if TIMES in read.rows.columns else pl.lit(1)
    rows = read.rows.filter(pl.col(doc).is_not_null()).select(doc=doc, system=system, by=pl.struct(by), times=times)
    of = rows.group_by("doc").agg(pl.col("times").first())
    several = rows.select("doc", "by").unique().filter(pl.col("doc").is_duplicated())
    some = rows.join(several.select("doc").unique(), on="doc", how="semi")  # of one segment for each none is moved
    n_systems = some.group_by("doc").agg(pl.col("system").n_unique(), pl.col("times").first())
    here = some.group_by("doc", "by").agg(here=pl.col("system").n_unique()).group_by("doc").agg(pl.col("here").min())
    moved = n_systems.join(here, on="doc").filter(pl.col("here") < pl.col("system"))
    words = {"by": " or ".join(by), "system": system}
    example = str(moved["doc"].min()) if len(moved) else None
    return Seen(int(moved["times"].sum()), int(of["times"].sum()), example, words)
