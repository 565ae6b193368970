"""Facts of a log, what of it is not read, and the words of messages about logs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from frame_metrics.data.facts import Facts
from frame_metrics.data.log import Log
from frame_metrics.errors import quote
from frame_metrics.keys.groups import as_text
from frame_metrics.keys.index import Index
from frame_metrics.stats.intervals import MIN_QUERIES
from frame_metrics.verbs.audit import of_cuts, of_few, of_logs, of_systems
from frame_metrics.verbs.audit.checks import TOP_RANKS, About, Counted, Keys, Seen, cells_in_words, check, in_unit
from frame_metrics.verbs.audit.of_judgments import grades_in_words
from frame_metrics.verbs.audit.of_nulls import about_nulls
from frame_metrics.verbs.audit.of_spelling import about_names

ORDER = {
    "doc": "ties= orders them by document, descending",
    "worst": "ties= orders them with the worst judgment first",
    "best": "ties= orders them with the best judgment first",
    "order": "ties= orders them as in the frame",
    "expected": "ties= takes the mean over all orders",
}


@check("warning", "rows")
def repeated_documents(log: Log) -> Seen:
    """rows that are left out: duplicates='first' keeps only the best-placed row of each document in a query"""
    if log.origin is None:
        return Seen(0, log.n_rows)
    of = log.origin.n or 0
    lost = np.setdiff1d(np.arange(of), log.rows(np.arange(log.n_rows)))
    return Seen(len(lost), of, log.first_repeated_query, at=int(lost[0]))


@check("info", "rows")
def documents_listed_twice(log: Log) -> Seen:
    """rows of documents that their list shows more than once; each counts at its own rank. duplicates='first' keeps the
    best place of each
    """
    if log.repeats is None or not len(log.repeats):
        return Seen(0, log.n_rows)
    query = as_text(log.table.select(log.columns.internal_by_role[2]), int(log.repeats[0]))
    return Seen(len(log.repeats), log.n_rows, query, at=int(log.rows(log.repeats[:1])[0]))


class SetAside(NamedTuple):
    """The log's columns of judgments that are not read, since there are judgments beside it."""

    names: list[str]  # those that would be found by name
    named: dict[str, str]  # those that the caller named, by role


@check("info", "columns")
def judgments_of_the_log_set_aside(unread: SetAside) -> Seen:
    """columns of the log that are not read, because judge() gave the judgments"""
    return Seen(len(unread.names), None, ", ".join(unread.names))


@check("warning", "columns")
def named_judgments_not_used(unread: SetAside) -> Seen | None:
    """{said} of the frame {are} not used: judge() gave the judgments, and only these count. If this is meant, pass
    {none}; if the columns of the frame are right, leave judge() out
    """
    said = ", ".join(f"{role}={column!r}" for role, column in unread.named.items())
    words = {"said": said, "none": ", ".join(f"{role}=None" for role in unread.named)}
    return Seen(len(unread.named), None, said, words) if unread.named else None


@check("fact", "queries")
def queries(counts: Counted) -> Seen:
    """queries that are evaluated: {which}{in_a_segment}"""
    n, of = (in_unit(counts.index, "queries", some) for some in (counts.evaluated, np.ones(len(counts.evaluated))))
    return Seen(n, of)


@check("fact", "results")
def results_judged(counts: Counted) -> Seen | None:
    """results of the evaluated queries that have a judgment"""
    return counts.complement_of(of_logs.unjudged_results)


@check("fact", "results", name=f"judged in the top {TOP_RANKS}")
def judged_in_the_top(counts: Counted) -> Seen | None:
    """results at ranks up to {top} that have a judgment"""
    return counts.complement_of(of_logs.unjudged_in_the_top)


@check("fact", "documents")
def relevant_documents(counts: Counted) -> Seen:
    """documents that are relevant, found or not, of all that are judged{in_each_segment}"""
    only_counted = counts.log.columns.n_relevant
    each = (counts[name] * counts.evaluated for name in ("relevant", "judged"))
    n, of = (in_unit(counts.index, "documents", values) for values in each)
    return Seen(n, None if only_counted else of)


@check("fact", "rows")
def rows_not_retrieved(log: Log) -> Seen | None:
    """rows without a {rank_or_score}: known documents that were not retrieved"""
    place = "rank" if log.columns.rank else "score"
    return Seen(log.table[place].null_count(), len(log.table)) if place in log.table.columns else None


# Checks of queries cut by by=.
OF_SEGMENTS = {
    of_systems.queries_in_several_segments.name,
    of_cuts.rankings_split_over_segments.name,
    of_cuts.searches_cut_by_segments.name,
}
# Checks that say nothing where no result of any query is judged.
OF_JUDGED = (
    *(of_logs.queries_without_relevant_documents, of_logs.unjudged_in_the_top, of_logs.unjudged_results),
    *(of_logs.only_results_are_judged, results_judged, judged_in_the_top, relevant_documents),
)


def about(log: Facts, index: Index, subject: Any, **words: str) -> list[About]:
    """Return subjects of checks: the systems and segments of a log, their names, and ``subject``.

    Parameters
    ----------
    log : the log, or the facts about its pieces.
    index : its rankings.
    subject : the object that checks read, as the ``Counted`` of the log.
    words : more words that messages leave open.
    """
    keys = Keys(index.columns, len(index.systems), len(index.segments))
    words = _words(log) | words
    names = about_names(index.columns, index.cells.values)
    return [About(keys, words), *names, *about_nulls(index), About(subject, words)]


def _words(log: Facts) -> dict[str, Any]:
    """Return the words to fill in the messages of checks of a log."""
    columns, conventions = log.columns, log.conventions
    not_relevant = " and are not relevant; bpref, infap and unjudged='drop' treat them as not judged"
    counted = "counted as not relevant; unjudged='drop' leaves them out"
    return {
        "log": log,
        "columns": columns,
        "by": ", ".join(columns.by),
        "order_role": (columns.shape.likely_order or ("rank",))[0],
        "order_column": quote((columns.shape.likely_order or ("",))[-1]),
        **grades_in_words(log),
        "top": TOP_RANKS,
        "below": TOP_RANKS + 1,
        "few": MIN_QUERIES,
        "few_clusters": of_few.CLUSTERS,
        "found": "documents that some system found" if columns.system and columns.doc else "retrieved documents",
        "rank_or_score": "rank" if columns.rank else "score",
        "order": "rank orders them" if columns.rank else ORDER[conventions.ties],
        "unjudged": "left out of the rankings" if conventions.unjudged == "drop" else counted,
        "unless_labelled": "" if "label" in log.judgments.columns else not_relevant,
        **cells_in_words(columns),
        "in_each_segment": ", in each segment" if columns.by else "",
        "in_a_segment": ", in at least one segment" if columns.by else "",
        "in_a_ranking": ", in at least one ranking" if columns.by or columns.system else "",
    }
