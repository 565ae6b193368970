"""Checks of the judgments beside a log: those without a grade or a segment, and ids that are written otherwise."""

from __future__ import annotations

import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.data.other_spellings import (
    documents_of,
    like_judged,
    queries_of,
    unjudged_rows,
)
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import mark_codes
from frame_metrics.keys.groups import as_text
from frame_metrics.keys.leading_zeros import Pairs, queries_of_index
from frame_metrics.keys.spelling import are_texts, form_of_ids, quoted_values
from frame_metrics.keys.zeros_of_parts import NO_PART, OfPart, queries_of_part
from frame_metrics.roles.columns import order_column_in
from frame_metrics.verbs.audit.checks import Counted, Seen, check
from frame_metrics.verbs.audit.other_spellings import OtherSpelling, most_otherwise, written_otherwise


@check("info", "judgments")
def judgments_without_a_grade(log: Log) -> Seen:
    """judgments without a {log.judgment_name}: their documents count as not judged"""
    if log.separate_judgments is None or log.judged_in_rows:
        return Seen(0)
    unjudged, of = log.separate_judgments.unjudged, len(log.separate_judgments.listed)
    if unjudged is None:
        return Seen(0, of)
    return Seen(len(unjudged), of, as_text(unjudged.select(*log.separate_judgments.keys, "doc")))


@check("warning", "queries")
def queries_without_a_grade(log: Log) -> Seen:
    """none of their judgments has a {log.judgment_name}, so they count as not judged, and no mean has them"""
    if log.separate_judgments is None or log.judged_in_rows:
        return Seen(0)
    query = log.columns.internal_by_role[2]
    every = log.separate_judgments.listed.select(query).unique(maintain_order=True)
    lost = every.join(
        log.separate_judgments.queries.select(query), on=query, how="anti", nulls_equal=True, maintain_order="left"
    )
    return Seen(len(lost), len(every), as_text(lost))


@check("warning", "judgments")
def judgments_without_a_segment(log: Log) -> Seen:
    """{n} of {of} judgments have no {by}, and the log has their query in other segments only: null is a segment of its
    own, so that no result is judged by them. Give them the segment of their query, or leave {by} out of the judgments
    """
    if log.separate_judgments is None or log.judged_in_rows:
        return Seen(0)
    by = [name for name in log.columns.internal_by_role[1] if name in log.separate_judgments.keys]
    if not by:
        return Seen(0)
    keys, pairs = log.separate_judgments.keys, log.separate_judgments.documents
    null = pairs.filter(pl.any_horizontal(pl.col(by).is_null()))
    ours = log.key_source.keys_at(keys, log.grid.rankings.first_row) if len(null) else null.select(keys)
    known = null.join(ours, on=log.columns.internal_by_role[2], how="semi", nulls_equal=True, maintain_order="left")
    lost = known.join(ours, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    return Seen(len(lost), len(pairs), as_text(lost.select(*keys, "doc")))


@check("error", "queries")
def queries_judged_with_other_leading_zeros(counts: Counted) -> Seen:
    """{n} of {of} queries of {whose} are in the judgments with other leading zeros, as {said}, and would count as not
    judged. Write all ids alike first, or put a letter before all if they are different ids
    """
    return Seen(0) if counts.log.judged_in_rows else _queries_of(counts)


@check("error", "queries")
def queries_of_systems_with_other_leading_zeros(counts: Counted) -> Seen | None:
    """{n} of {of} queries of {whose} are those of other systems with other leading zeros, as {said}, and would count as
    other queries. Write all ids alike first, or put a letter before all if they are different ids
    """
    return _queries_of(counts) if counts.log.judged_in_rows and counts.log.columns.system else None


def _queries_of(counts: Counted) -> Seen:
    """Count the queries that are judged, or that other systems have, with other leading zeros."""
    index, (whose, pairs) = counts.index, _with_other_zeros(counts)
    of = int(mark_codes(index.query[index.of_log], len(index.queries)).sum())
    seen = _pairs(pairs, of)
    return seen._replace(words={**seen.words, "whose": whose}) if pairs else seen


@check("warning", "queries")
def queries_written_otherwise_in_the_judgments(counts: Counted) -> Seen:
    """{n} of {of} queries of {whose} are judged under another spelling{others}: {said}. They differ in case, spaces,
    zeros or Unicode form only, and count as not judged in the log, and as without results in the judgments.
    {way}
    """
    found = {} if counts.log.judged_in_rows else queries_in_two_ways(counts)
    return Seen(0) if found and _with_other_zeros(counts).pairs else most_otherwise(counts.index, found)


@check("warning", "queries")
def queries_that_systems_write_otherwise(counts: Counted) -> Seen | None:
    """{n} of {of} queries of {whose} are those of other systems under another spelling{others}: {said}. They differ in
    case, spaces, zeros or Unicode form only, and count as different queries, of which the other systems have no
    rows. {way}
    """
    if not counts.log.judged_in_rows or not counts.log.columns.system:
        return None
    found = queries_in_two_ways(counts)
    return Seen(0) if found and _with_other_zeros(counts).pairs else most_otherwise(counts.index, found)


def queries_in_two_ways(counts: Counted) -> dict[int, OtherSpelling]:
    """Return the queries of each system that it has under another spelling than the judgments, or other systems."""
    index = counts.index
    judged = mark_codes(index.query[_judged(counts)], len(index.queries))
    return written_otherwise(index, None if counts.log.judged_in_rows else judged)


def _with_other_zeros(counts: Counted) -> OfPart:
    """Return the queries of a log or of its pieces that have other leading zeros than those of the judgments.

    Without judgments beside the log: than those of other systems.
    """
    log, index = counts.log, counts.index
    if log.judged_in_rows:
        return queries_of_part(index, None) or NO_PART
    judged = _judged(counts)
    if pairs := queries_of(log) if isinstance(log, Log) else queries_of_index(index, judged):
        return OfPart("the log", pairs)
    return queries_of_part(index, judged) or NO_PART


def _judged(counts: Counted) -> Array:
    """Mark the rankings whose query is judged."""
    return counts["unanswered"] + counts.evaluated > 0


def _pairs(pairs: Pairs, of: int) -> Seen:
    """Return what a check saw: ids of the log, and those of the judgments that they are like."""
    if not pairs:
        return Seen(0, of)
    example = " and ".join(pairs[0])
    return Seen(len(pairs), of, example, {"said": example})


@check("error", "results")
def results_judged_with_other_leading_zeros(log: Log) -> Seen:
    """{n} of {of} results are judged in their query with other leading zeros, as {said}, and would count as not judged.
    Write all ids alike first, or put a letter before all if they are different ids
    """
    return (
        Seen(0) if log.separate_judgments is None or log.judged_in_rows else _pairs(documents_of(log), _retrieved(log))
    )


@check("warning", "results")
def documents_written_otherwise_in_the_judgments(log: Log) -> Seen:
    """{n} of {of} results are judged in their query under another spelling, as {said}. They differ in case, spaces,
    zeros or Unicode form only, and count as not judged. Write ids alike first
    """
    if log.separate_judgments is None or log.judged_in_rows or not are_texts(log.table["doc"]):
        return Seen(0)
    form = form_of_ids(log.table["doc"], log.judgments["doc"])
    rows, like = like_judged(log, unjudged_rows(log), form)
    if not len(rows) or documents_of(log):
        return Seen(0, _retrieved(log))
    example = " and ".join(quoted_values([log.table["doc"][int(rows[0])], like[0]]))
    return Seen(len(rows), _retrieved(log), example, {"said": example}, int(log.rows(rows[:1])[0]))


def _retrieved(log: Log) -> int:
    """Return the number of results."""
    place = order_column_in(log.table)
    return len(log.table) if place is None else len(log.table) - log.table[place].null_count()
