"""Find documents and queries that the judgments have in another spelling, and refuse those with other leading zeros."""

from __future__ import annotations

import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.keys.leading_zeros import (
    Pairs,
    check_leading_zeros_of_parts,
    ids_of_parts,
    other_zeros,
    queries_of_index,
)
from frame_metrics.keys.spelling import (
    Form,
    are_texts,
    has_leading_zeros,
    may_differ_in_zeros,
    nearly_equal,
    quoted_values,
    without_zeros,
)
from frame_metrics.roles.columns import judgment_columns_in, order_column_in

QUERIES, DOCUMENTS = "some queries of the log are in the judgments", "some results are judged in their query"


def check_leading_zeros(log: Log) -> None:
    """Raise for documents that are judged with other leading zeros in their query, and for such queries.

    Ids lose zeros where a program takes them for numbers. Ids without leading zeros still match, so that nothing else
    shows the loss.

    Parameters
    ----------
    log : a whole log. Pieces are checked when all are known, as rows of a query may still come.
    """
    if pairs := queries_of(log):
        there = ids_of_parts(log.index, None if log.separate_judgments is None else log.separate_judgments.queries)
        raise other_zeros(", ".join(log.columns.query), QUERIES, pairs, there=there)
    check_leading_zeros_of_parts(log.index, judged_rankings(log))
    if pairs := documents_of(log):
        raise other_zeros(str(log.columns.doc), DOCUMENTS, pairs)


def judged_rankings(log: Log) -> Array | None:
    """Mark the rankings whose query is separately judged, shape (rankings,); None without separate judgments."""
    pool = log.grid.pool
    return None if log.separate_judgments is None or log.judged_in_rows or pool is None else pool.lengths > 0


def queries_of(log: Log) -> Pairs:
    """Return the queries of a log that are judged with other leading zeros; of the judged query the log has no rows."""
    judged, pool, query = log.separate_judgments, log.grid.pool, log.columns.internal_by_role[2]
    if judged is None or pool is None or log.judged_in_rows or not any(are_texts(judged.queries[key]) for key in query):
        return ()
    # The judged queries of the index would not do: it lacks those without rows whose segment, or arm, is unknown.
    return queries_of_index(log.index, pool.lengths > 0, judged.queries)


def documents_of(log: Log) -> Pairs:
    """Return the documents of a log that are judged in their query with other leading zeros; they are found once."""
    return log.cached("documents with other zeros", lambda: _documents_of(log))


def _documents_of(log: Log) -> Pairs:
    """Return what ``documents_of`` caches."""
    judged, docs = log.separate_judgments, log.table.get_column("doc", default=None)
    if judged is None or log.judged_in_rows or docs is None or not may_differ_in_zeros(docs, judged.documents["doc"]):
        return ()
    at = unjudged_rows(log)
    # Leave most rows out first: of two ids that are meant one has leading zeros, and both go on in the same way.
    (ours, had_zeros), (theirs, they_had_zeros) = (
        _without_any_zeros(ids.cast(pl.String)) for ids in (docs[at], judged.documents["doc"])
    )
    some = ours.is_in(theirs.filter(they_had_zeros).unique().implode())
    if had_zeros.any():
        some |= had_zeros & ours.is_in(theirs.unique().implode())
    rows, like = like_judged(log, at[some.to_numpy()], without_zeros)
    return [(quoted_values([one])[0], quoted_values([other])[0]) for one, other in zip(docs[rows], like, strict=True)]


def _without_any_zeros(ids: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return ids without leading zeros, whatever follows, and which of them had some."""
    return ids.str.strip_chars_start("0"), has_leading_zeros(ids)


def unjudged_rows(log: Log) -> Array:
    """Return the rows of retrieved documents that no separate judgment is about; they are found once."""
    return log.cached("unjudged rows", lambda: _unjudged_rows(log))


def _unjudged_rows(log: Log) -> Array:
    """Return what ``unjudged_rows`` caches."""
    table, place = log.table, order_column_in(log.table)
    matched = pl.any_horizontal(pl.col(judgment_columns_in(table)).cast(pl.Float64).fill_nan(None).is_not_null())
    matched = pl.col("label") > 0 if log.columns.relevant else matched  # label 0: a result that is not in the list
    unjudged = table.select(unjudged=~matched)["unjudged"].fill_null(True)
    return (unjudged if place is None else unjudged & table[place].is_not_null()).arg_true().to_numpy()


def like_judged(log: Log, at: Array, form: Form) -> tuple[Array, pl.Series]:
    """Return the rows of the log that are like a judged document of their query, and these judged documents.

    A judged document is not meant by a row if the ranking has this document too, or several documents like it: there,
    spelling tells documents apart.

    Parameters
    ----------
    log : a log with separate judgments.
    at : rows without a judgment.
    form : returns ids without the differences that are set aside.
    """
    pairs = log.judgments
    at = at[form(log.table["doc"][at]).is_in(form(pairs["doc"]).unique().implode()).to_numpy()]
    judged = [name for name in log.columns.internal_keys if name in pairs.columns]
    ours = log.table[at].select(*log.columns.internal_keys, "doc")
    found = nearly_equal(ours.select(*judged, "doc"), pairs.select(*judged, "doc"), ["doc"], form=form)
    if found is None:
        return at[:0], pairs["doc"][:0]
    first, other = (one.to_numpy() for one in found)
    meant = ours[first].with_columns(pairs["doc"][other])
    meant = meant.with_row_index("at").filter(meant.is_unique())
    here = log.table.filter(log.table["doc"].is_in(meant["doc"].unique().implode())).select(ours.columns)
    meant = meant.join(here, on=ours.columns, how="anti", nulls_equal=True, maintain_order="left")
    return at[first[meant["at"].to_numpy()]], meant["doc"]
