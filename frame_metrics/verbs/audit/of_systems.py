"""Checks of the segments and the systems of a log."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import mark_codes
from frame_metrics.keys.groups import as_text
from frame_metrics.keys.index import Index
from frame_metrics.verbs.audit.checks import Counted, Seen, check, in_unit, seen_of
from frame_metrics.verbs.audit.of_judgments import row_in_frame
from frame_metrics.verbs.audit.of_separate_judgments import queries_in_two_ways
from frame_metrics.verbs.audit.of_spelling import folded_segments
from frame_metrics.verbs.audit.other_spellings import OtherSpelling

ALMOST_NONE = 0.1  # systems with a smaller share of common queries were asked different ones
SOME_QUERIES, MOST_QUERIES = 0.05, 0.5  # the shares of queries from which on a system without rows for them is reported


@check("warning", "queries")
def judged_queries_of_no_known_segment(log: Log) -> Seen:
    """they have no results, and the judgments do not say their segment, so they count in totals only: add {by} to the
    judgments
    """
    judged = log.separate_judgments
    if judged is None or set(log.columns.internal_by_role[1]) <= set(judged.keys):
        return Seen(0)
    names = judged.queries.select(judged.keys)
    known = log.key_source.keys_at(judged.keys, log.grid.rankings.first_row)
    lost = names.join(known, on=judged.keys, how="anti", nulls_equal=True, maintain_order="left")
    row = names.with_columns(row=pl.Series(judged.row)).join(lost, on=judged.keys, how="semi", nulls_equal=True)["row"]
    n, of = (queries.select(log.columns.internal_by_role[2]).n_unique() for queries in (lost, names))
    return Seen(n, of, as_text(lost), at=row_in_frame(log, row[:1].to_numpy(), separate=True))


@check("warning", "queries")
def segments_that_judgments_name_otherwise(log: Log) -> Seen:
    """the log has {n} of {of} queries in other segments than the judgments have, so none of their results is judged
    there: check that {by} is written the same way in both
    """
    judged, (_, by, query) = log.separate_judgments, log.columns.internal_by_role
    if judged is None or log.judged_in_rows or not set(by) & set(judged.keys):
        return Seen(0)
    theirs = judged.queries.select(judged.keys)
    ours = log.key_source.keys_at(judged.keys, log.grid.rankings.first_row).unique(maintain_order=True)
    ours = ours.join(theirs, on=query, how="semi", nulls_equal=True, maintain_order="left")
    agree = ours.join(theirs, on=judged.keys, how="semi", nulls_equal=True)
    each = ours.select(query).unique(maintain_order=True)
    odd = each.join(agree, on=query, how="anti", nulls_equal=True, maintain_order="left")
    return Seen(len(odd), len(each), as_text(odd))


def sharing(index: Index, least: float, most: float) -> Seen | None:
    """Count the pairs of systems that share few queries.

    Parameters
    ----------
    least, most : a pair counts if its common queries, divided by the queries of the system with fewer, are at least
        ``least`` and below ``most``. One of almost no common queries counts as of few if both share more of theirs with
        other systems, as runs do that are pooled with a third one.
    """
    if not index.columns.system or index.conventions.unanswered == "drop":
        return None
    common = index.n_common
    queries_of = np.diag(common)
    one, other = np.triu_indices(len(queries_of), 1)
    share = common[one, other] / np.minimum(queries_of[one], queries_of[other]).clip(min=1)
    most_shared = np.zeros(len(queries_of))  # the share of each system with that to which it is nearest
    for side in (one, other):
        np.maximum.at(most_shared, side, share)
    through = np.minimum(most_shared[one], most_shared[other]) >= ALMOST_NONE  # each has queries of a third system
    share = np.where(through, np.maximum(share, ALMOST_NONE), share)
    few = np.flatnonzero((share >= least) & (share < most))
    if not len(few):
        return Seen(0, len(share))
    pair = [one[few[0]], other[few[0]]]
    names = [as_text(index.systems.values, int(at)) for at in pair]
    words = {"one": names[0], "other": names[1], "common": common[*pair], "fewer": queries_of[pair].min()}
    return Seen(len(few), len(share), ", ".join(names), words)


@check("info", "queries")
def queries_in_several_segments(counts: Counted) -> Seen | None:
    """each segment has its own ranking for them, and totals count them once per segment. {cause}"""
    index = counts.index
    if (seen := in_several_segments(index)) is None or not seen.n:
        return seen
    by = ", ".join(index.columns.by)
    cause = f"If {by} describes documents, it cuts rankings into parts: leave it out of by="
    if not _several(index, index.segment[index.of_log], index.query[index.of_log]).any():
        cause = f"The judgments have other values of {by} than the log has for them"
    elif not _several(index, folded_segments(index)[index.segment], index.query).any():
        cause = f"Their values of {by} differ in case or spaces only: make them alike"
    return seen._replace(words={"cause": cause})


def in_several_segments(index: Index) -> Seen | None:
    """Count the queries that have rows, or judgments, in several segments; None without ``by``."""
    if not index.columns.by:
        return None
    query = index.query[index.in_known_segment]
    several = np.flatnonzero(_several(index, index.segment[index.in_known_segment], query))
    example = as_text(index.queries.values[several[:1]])
    return Seen(len(several), int(mark_codes(query, len(index.queries)).sum()), example)


def _several(index: Index, segment: Array, query: Array) -> Array:
    """Mark the queries that are in several segments; ``segment``, ``query``: their numbers, for each ranking."""
    n = max(len(index.segments), 1)
    pairs = np.flatnonzero(mark_codes(query * n + segment, n * len(index.queries)))
    several: Array = np.bincount(pairs // n, minlength=len(index.queries)) > 1
    return several


def _no_column_says_which_documents(counts: Counted) -> bool:
    """Return True if each system has rows of its own, which alone say what is relevant to a query."""
    columns, conventions = counts.log.columns, counts.log.conventions
    elsewhere = columns.doc or columns.relevant or columns.n_relevant or not counts.log.judged_in_rows
    return columns.systems_have_rows and not elsewhere and conventions.collection_size is not True


@check("warning", "queries", only=_no_column_says_which_documents)
def systems_whose_documents_are_not_named(counts: Counted) -> Seen:
    """each system has another number of relevant documents, that in its own rows, as no column says which documents are
    the same: so recall, ap and ndcg of the systems cannot be compared. Name the column of documents with doc=
    """
    index, relevant = counts.index, counts["relevant"]
    answered = counts["results"] > 0
    most = np.zeros(index.n_segment_queries, np.int64)
    least = np.full(index.n_segment_queries, np.iinfo(np.int64).max)
    np.maximum.at(most, index.segment_query[answered], relevant[answered])
    np.minimum.at(least, index.segment_query[answered], relevant[answered])
    marked = answered & (most > least)[index.segment_query]
    return seen_of(index, "queries", marked, counts["evaluated"])


@check("error", "pairs of systems")
def systems_that_share_almost_no_query(counts: Counted) -> Seen | None:
    """{one} and {other} share {common} queries, of the {fewer} of the one that has fewer, and should share most. Each
    is measured on all queries, and counts as 0 where it has no results. If each query belonged to one system, name
    {columns.system} with arm= in the place of system=, with cluster= for users who have queries of both: ab_test() and
    change() compare arms
    """
    return sharing(counts.index, 0, ALMOST_NONE)


@check("warning", "pairs of systems")
def systems_that_share_few_queries(counts: Counted) -> Seen | None:
    """{one} and {other} share {common} queries, of the {fewer} of the one that has fewer, and should share most. Each
    is measured on all queries, and counts as 0 where it has no results: keep only the queries that all systems have, or
    pass unanswered='drop' if they were not asked the same
    """
    return sharing(counts.index, ALMOST_NONE, 0.5)


@check("error", "queries")
def systems_without_rows_for_most_queries(counts: Counted) -> Seen | None:
    """{system} has no rows for {lacking} of {queries} queries{others}; they count as 0. {way}"""
    return _lacking(counts, MOST_QUERIES, 1)


@check("warning", "queries")
def systems_without_rows_for_some_queries(counts: Counted) -> Seen | None:
    """{system} has no rows for {lacking} of {queries} queries{others}; they count as 0. {way}"""
    return _lacking(counts, SOME_QUERIES, MOST_QUERIES)


def _lacking(counts: Counted, least: float, most: float) -> Seen | None:
    """Count as ``lacking`` does, and add the word for what to do about it."""
    seen = lacking(counts.index, counts["unanswered"], counts.evaluated, least, most)
    if seen is None or not seen.n:
        return seen
    spelled = queries_in_two_ways(counts).get(seen.words["system_number"])
    way = what_to_do(seen.n, spelled, "pass unanswered='drop'; if it found nothing, 0 is right")
    return seen._replace(words={**seen.words, "way": way})


def what_to_do(n: int, spelled: OtherSpelling | None, drop: str) -> str:
    """Return what to do about queries that a system lacks.

    Parameters
    ----------
    n : how many it lacks.
    spelled : those that it has under another spelling; None for none.
    drop : the words on those that it was not asked.
    """
    if spelled is None:
        return f"If it was not asked them, {drop}"
    here = f"The log has {spelled.lost:,} of them under another spelling, as {spelled.example}: {spelled.way}"
    return here if spelled.lost >= n else f"{here}. If it was not asked the others, {drop}"


def lacking(index: Index, unanswered: Array, evaluated: Array, least: float, most: float) -> Seen | None:
    """Count the queries of which a system has no row, for the system that lacks most of them.

    Without systems the log is one. None if unanswered queries are left out.

    Parameters
    ----------
    unanswered, evaluated : marks of the rankings that have no row, and of those that count.
    least, most : a system counts if its share of unanswered queries is above ``least``, and at most ``most``.
    """
    n = max(len(index.systems), 1)
    if index.conventions.unanswered == "drop":
        return None
    unanswered = (unanswered > 0) & ~_in_another_segment(index)
    lacks, of = (np.bincount(index.system, marks, n) for marks in (unanswered, evaluated))
    share = lacks / of.clip(min=1)
    some = np.flatnonzero((share > least) & (share <= most))
    if not len(some):
        return Seen(0, int(of.max(initial=0)))
    first = some[share[some].argmax()]
    marked, whole = (in_unit(index, "queries", marks * (index.system == first)) for marks in (unanswered, evaluated))
    name = as_text(index.systems.values, int(first)) if index.columns.system else None
    more = len(some) - 1
    others = f", and {more} more {'system lacks' if more == 1 else 'systems lack'} some" if more else ""
    words: dict[str, Any] = {
        "system": name or "the log",
        "lacking": f"{marked:,}",
        "queries": f"{whole:,}",
        "others": others,
    }
    return Seen(marked, whole, name, words | {"system_number": int(first)})


def _in_another_segment(index: Index) -> Array:
    """Mark the rankings whose query the system answered, in a segment that only the judgments name, (rankings,).

    No system has a row of them there: it is not known that a system lacks something.
    """
    if not index.columns.by:
        return np.zeros(len(index), bool)
    search = index.query * max(len(index.systems), 1) + index.system
    by_some, by_this = (np.bincount(key, index.answered) > 0 for key in (index.segment_query, search))
    marked: Array = ~by_some[index.segment_query] & by_this[search]
    return marked


@check("info", "rankings")
def unanswered_queries(counts: Counted) -> Seen | None:
    """left out by unanswered='drop': the frame has no row for them"""
    if counts.log.conventions.unanswered != "drop":
        return None
    marked = counts["unanswered"]
    return seen_of(counts.index, "rankings", marked, marked + counts.evaluated)
