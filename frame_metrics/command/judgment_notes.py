"""Notes on metrics that count relevant documents, where only the rows of the log itself are judged."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import polars as pl

from frame_metrics.command.call import FILE
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.names import read_text
from frame_metrics.roles.columns import ROLES, Columns

THESE_ARE_ALL = "--collection-size true if no other document is relevant"
FIRST_ROWS = 100_000  # rows that are looked at


def note_on_systems(log: pl.LazyFrame, columns: Columns, metrics: Sequence[str]) -> str:
    """Return a note if each system is measured by its own rows, or each file by those of all too; "" if not."""
    if not columns.systems_have_rows or columns.n_relevant or columns.relevant or columns.value:
        return ""
    if columns.doc and not columns.query:  # of rows that are decided about, those of both are compared
        return _moved(log, columns.doc, columns.by) if columns.by and columns.system == FILE else ""
    concerned = ", ".join(filter(_counts_unfound, metrics))
    if columns.doc:
        if not concerned or columns.system != FILE or not _differ(log, [*columns.by, *columns.query, columns.doc]):
            return ""
        what = f"{concerned}: documents that are judged in one file count in all"
        return f"{what}, so that values may be below those of a file alone"
    likely = shlex.quote(next(iter(ROLES["doc"].among(log.collect_schema().names())), "COLUMN"))
    what = f"{concerned}: each system is measured by the relevant documents in its own rows, as none are named"
    return f"{what}; pass --doc {likely} to measure all by the same documents" if concerned else ""


def _moved(log: pl.LazyFrame, doc: str, by: Sequence[str]) -> str:
    """Return a note if rows have another segment in another file, so that they are not compared; "" if not."""
    rows, n_files = log.select(doc, *by, FILE).unique().collect(), pl.col(FILE).n_unique()
    moved = rows.filter(n_files.over(doc, *by) < n_files.over(doc))[doc].n_unique()
    what = f"rows have another {' or '.join(by)} in another file, and are left out (n_unpaired)"
    return f"{moved:,} of {rows[doc].n_unique():,} {what}" if moved else ""


def _differ(log: pl.LazyFrame, keys: Sequence[str]) -> bool:
    """Return True if some document of a query is not in all files."""
    n_files = log.select(pl.col(FILE).n_unique()).collect().item()
    files = log.group_by(keys).agg(n=pl.col(FILE).n_unique())
    return not files.filter(pl.col("n") < n_files).head(1).collect().is_empty()


def note_on_judgments(log: pl.LazyFrame, columns: Columns, metrics: Sequence[str]) -> str:
    """Return a note if the judgments of a log may be too few for some metrics; "" if not.

    It is for systems that are named as segments, and for lists of one length, below which other documents may be.
    """
    order = columns.score or columns.rank
    single = columns.query and order and not columns.system and not columns.unfolds
    if not single or columns.n_relevant or not (concerned := ", ".join(filter(_counts_unfound, metrics))):
        return ""
    if systems := ROLES["system"].among(columns.by):
        what = f"{concerned}: each {systems[0]} is a segment, in which only documents of its own rows can be relevant"
        return f"{what}; pass --system {systems[0]} to measure all on the same documents"
    if not _one_length(log, columns.keys, str(order)):
        return ""
    qrels = "--qrels FILE" if columns.doc else "--qrels FILE and --doc COLUMN"
    return f"{concerned} may be too high, as only the rows of the log are judged: pass {qrels}, or {THESE_ARE_ALL}"


def note_on_queries(log: pl.LazyFrame, qrels: pl.DataFrame, queries: Mapping[str, str]) -> str:
    """Return a note if queries of a log have no judgment, so that they are left out; "" if not.

    ``queries``: the columns of the query, each with that of the judgments.
    """
    if not queries or not {*queries.values()} <= {*qrels.columns}:
        return ""
    ids = log.select(pl.col(list(queries)).cast(pl.String)).unique().collect()
    judged = qrels.select(pl.col(its).cast(pl.String).alias(own) for own, its in queries.items()).unique()
    n = len(ids.join(judged, on=list(queries), how="anti"))
    way = "--unjudged-queries count takes them in"
    return f"{n:,} of {len(ids):,} queries have no judgment, and are left out; {way}" if n else ""


def _counts_unfound(metric: str) -> bool:
    try:
        return any(one.counts_unfound for _, one in read_text(metric))
    except FrameMetricsError:
        return False


def _one_length(log: pl.LazyFrame, keys: Sequence[str], order: str) -> int:
    """Return the length of all rankings; 0 if they differ, if it is one, or if documents are there that none found."""
    rows = log.select(*keys, order).head(FIRST_ROWS).collect()
    each = rows.group_by(keys, maintain_order=True).len()["len"]
    whole = each[:-1] if len(rows) == FIRST_ROWS else each
    return 0 if len(whole) < 2 or whole.n_unique() > 1 or rows[order].null_count() else int(whole[0])
