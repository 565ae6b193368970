"""Checks of the judgments beside a log: those without a grade or a segment, and ids that are written otherwise."""

from __future__ import annotations

import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import mark_codes
from frame_metrics.keys.groups import as_text
from frame_metrics.keys.spelling import are_texts, nearly_equal, plain_ids, quoted_values
from frame_metrics.roles.columns import judgment_columns_in
from frame_metrics.verbs.audit.checks import Counted, Seen, check
from frame_metrics.verbs.audit.other_spellings import OtherSpelling, most_otherwise, written_otherwise


@check("info", "judgments")
def judgments_without_a_grade(log: Log) -> Seen:
    """judgments without a {log.judgment_name}: their documents count as not judged"""
    if log.separate_judgments is None or log.judges_itself:
        return Seen(0)
    unjudged, of = log.separate_judgments.unjudged, len(log.separate_judgments.listed)
    if unjudged is None:
        return Seen(0, of)
    return Seen(len(unjudged), of, as_text(unjudged.select(*log.separate_judgments.keys, "doc")[:1]))


@check("warning", "queries")
def queries_without_a_grade(log: Log) -> Seen:
    """none of their judgments has a {log.judgment_name}, so they count as not judged, and no mean has them"""
    if log.separate_judgments is None or log.judges_itself:
        return Seen(0)
    query = log.columns.key_names[2]
    every = log.separate_judgments.listed.select(query).unique(maintain_order=True)
    lost = every.join(
        log.separate_judgments.queries.select(query), on=query, how="anti", nulls_equal=True, maintain_order="left"
    )
    return Seen(len(lost), len(every), as_text(lost[:1]))


@check("warning", "judgments")
def judgments_without_a_segment(log: Log) -> Seen:
    """{n} of {of} judgments have no {by}, and the log has their query in other segments only: null is a segment of its
    own, so that no result is judged by them. Give them the segment of their query, or leave {by} out of the judgments
    """
    if log.separate_judgments is None or log.judges_itself:
        return Seen(0)
    by = [name for name in log.columns.key_names[1] if name in log.separate_judgments.keys]
    if not by:
        return Seen(0)
    keys, pairs = log.separate_judgments.keys, log.separate_judgments.pairs
    null = pairs.filter(pl.any_horizontal(pl.col(by).is_null()))
    ours = log.key_source.keys_at(keys, log.grid.rankings.first_row) if len(null) else null.select(keys)
    known = null.join(ours, on=log.columns.key_names[2], how="semi", nulls_equal=True, maintain_order="left")
    lost = known.join(ours, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    return Seen(len(lost), len(pairs), as_text(lost.select(*keys, "doc")[:1]))


@check("warning", "queries")
def queries_written_otherwise_in_the_judgments(counts: Counted) -> Seen:
    """{n} of {of} queries of {whose} are judged under another spelling{others}: {said}. They differ in case, spaces,
    leading zeros or Unicode form only, and count as not judged in the log, and as without results in the judgments.
    {way}
    """
    return Seen(0) if counts.log.judges_itself else most_otherwise(counts.index, queries_in_two_ways(counts))


@check("warning", "queries")
def queries_that_systems_write_otherwise(counts: Counted) -> Seen | None:
    """{n} of {of} queries of {whose} are those of other systems under another spelling{others}: {said}. They differ in
    case, spaces, leading zeros or Unicode form only, and count as different queries, of which the other systems have no
    rows. {way}
    """
    if not counts.log.judges_itself or not counts.log.columns.system:
        return None
    return most_otherwise(counts.index, queries_in_two_ways(counts))


def queries_in_two_ways(counts: Counted) -> dict[int, OtherSpelling]:
    """Return the queries of each system that it has under another spelling than the judgments, or other systems."""
    index = counts.index
    judged = mark_codes(index.query[counts["unanswered"] + counts.evaluated > 0], len(index.queries))
    return written_otherwise(index, None if counts.log.judges_itself else judged)


@check("warning", "results")
def documents_written_otherwise_in_the_judgments(log: Log) -> Seen:
    """{n} of {of} results are judged in their query under another spelling, as {said}. They differ in case, spaces,
    leading zeros or Unicode form only, and count as not judged. Write ids alike first
    """
    if log.separate_judgments is None or log.judges_itself or not are_texts(log.table["doc"]):
        return Seen(0)
    table, place = log.table, next((name for name in ("rank", "score") if name in log.table.columns), None)
    there = None if place is None else table[place].is_not_null()
    of = len(table) if there is None else int(there.sum())
    matched = pl.any_horizontal(pl.col(judgment_columns_in(table)).cast(pl.Float64).fill_nan(None).is_not_null())
    lost = table.select(lost=~(pl.col("label") > 0 if log.columns.relevant else matched))["lost"].fill_null(True)
    at = (lost if there is None else lost & there).arg_true().to_numpy()
    at = at[
        plain_ids(table["doc"][at]).is_in(plain_ids(log.separate_judgments.pairs["doc"]).unique().implode()).to_numpy()
    ]
    rows, like = _like_judged(log, log.separate_judgments.pairs, at) if len(at) else (at, pl.Series())
    if not len(rows):
        return Seen(0, of)
    example = " and ".join(quoted_values([table["doc"][int(rows[0])], like[0]]))
    return Seen(len(rows), of, example, {"said": example}, int(log.rows(rows[:1])[0]))


def _like_judged(log: Log, pairs: pl.DataFrame, at: Array) -> tuple[Array, pl.Series]:
    """Return the rows of the log that are like a judged document of their query, and these documents.

    A document that the ranking has itself is not the one that is meant, nor is one that several of its documents are
    like: there, case tells documents apart.

    Parameters
    ----------
    pairs : the judgments.
    at : rows of the log without a judgment.
    """
    judged = [name for name in log.columns.internal_keys if name in pairs.columns]
    ours = log.table[at].select(*log.columns.internal_keys, "doc")
    found = nearly_equal(ours.select(*judged, "doc"), pairs.select(*judged, "doc"), ["doc"])
    if found is None:
        return at[:0], pairs["doc"][:0]
    first, other = (one.to_numpy() for one in found)
    meant = ours[first].with_columns(pairs["doc"][other])
    meant = meant.with_row_index("at").filter(meant.is_unique())
    here = log.table.filter(log.table["doc"].is_in(meant["doc"].unique().implode())).select(ours.columns)
    meant = meant.join(here, on=ours.columns, how="anti", nulls_equal=True, maintain_order="left")
    return at[first[meant["at"].to_numpy()]], meant["doc"]
