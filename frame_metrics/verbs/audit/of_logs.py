"""Checks of queries and their results: of each ranking, and of a log as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.cases import number_of
from frame_metrics.data.classes import out_of_reach, shares_among
from frame_metrics.data.groups import as_text
from frame_metrics.data.log import Log
from frame_metrics.data.misread import all_relevant, positions, undecided_shares
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import EXACT, NONE, marks
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import largest_grade
from frame_metrics.verbs.audit import of_cuts
from frame_metrics.verbs.audit.checks import (
    SURE,
    TOP,
    About,
    Counted,
    Keys,
    RankedBlock,
    Seen,
    cells_in_words,
    check,
    in_unit,
    seen_of,
)

FEW = 10  # a segment with fewer queries is small
ALMOST_NONE = 0.1  # systems with a smaller share of common queries were asked different ones
SOME, MOST = 0.05, 0.5  # the shares of queries from which on a system without rows for them is reported
ORDER = {
    "doc": "ties= orders them by document, descending",
    "worst": "ties= orders them with the worst judgment first",
    "best": "ties= orders them with the best judgment first",
    "order": "ties= orders them as in the frame",
    "expected": "ties= takes the mean over all orders",
}


@check("warning", "queries")
def queries_without_judgments(block: RankedBlock) -> Array:
    """not evaluated: none of their documents is judged{in_a_segment}"""
    return ~block.run.evaluated


@check("warning", "queries", of="evaluated")
def queries_without_results(block: RankedBlock) -> Array:
    """evaluated as if nothing was found{in_a_ranking}"""
    return block.run.n_ret == 0


def _labelled_throughout(counts: Counted) -> bool:
    """Return True if every row has a label of its own and nothing else says what is relevant, as in a log of clicks."""
    columns, conventions = counts.log.columns, counts.log.conventions
    elsewhere = columns.grade or columns.relevant or columns.n_relevant
    if not columns.label or elsewhere or not counts.log.judges_itself or conventions.unjudged is not None:
        return False
    return not (counts["queries without judgments"].any() or counts["unjudged results"].any())


@check("warning", "queries", of="evaluated", only=lambda counts: not _labelled_throughout(counts))
def queries_without_relevant_documents(block: RankedBlock) -> Array:
    """metrics that divide by the number of relevant documents are undefined{in_a_ranking}; undefined= sets what they
    count as
    """
    return block.run.n_relevant == 0


@check("info", "queries", name="queries without relevant documents", only=_labelled_throughout)
def searches_without_a_relevant_row(counts: Counted) -> Seen:
    """all their rows have a label, and none is relevant{in_a_ranking}, as in searches without a click; undefined= sets
    what they count as, by default 0 in most metrics of rankings
    """
    return seen_of(counts.log, "queries", counts["queries without relevant documents"], counts["evaluated"])


@check("warning", "results", of="top of evaluated", name=f"unjudged in the top {TOP}")
def unjudged_in_the_top(block: RankedBlock) -> Array:
    """results {unjudged}"""
    return block.run.retrieved(TOP) - block.run.count_of(block.run.judged, TOP)


@check("info", "results", of="results of evaluated")
def unjudged_results(block: RankedBlock) -> Array:
    """{unjudged}"""
    return block.run.n_ret - block.run.count_of(block.run.judged, None)


@check("warning", "rankings", of="evaluated", name=f"ties across rank {TOP}")
def ties_across_the_top(block: RankedBlock) -> Array | None:
    """rankings whose results at ranks {top} and {below} have equal scores; {order}"""
    by_score = "score" in block.rows.cells and "rank" not in block.rows.cells
    return block.run.tied_at(TOP) if by_score else None


@check("warning", "results", of="results", name="equal scores past 2**53")
def equal_scores_that_may_be_rounded(block: RankedBlock) -> Array | None:
    """results with the same score as the one above, so large that float64 rounds whole numbers: if the exact scores
    differ, name their order with rank=
    """
    return None if "rank" in block.rows.cells else block.neighbours(lambda s, above: (s == above) & (abs(s) >= EXACT))


@check("info", "rankings", of="evaluated")
def ideal_from_the_results_alone(block: RankedBlock) -> Array | None:
    """rankings in which only {found} are judged, so recall, ap and ndcg may be too high; judge() adds other
    judgments, and n_relevant the number of relevant documents
    """
    if block.log.conventions.collection_size is True:  # the results are all documents
        return None
    if "beyond" in block.of_queries and "n_relevant" not in block.of_queries:
        return ~block.of_queries["beyond"]
    if block.log.judged is not None or "n_relevant" in block.of_queries:
        return None
    return block.run.count_of(block.run.judged, None) == block.run.n_judged


@check("info", "rankings")
def ranks_with_gaps(block: RankedBlock) -> Array:
    """rankings with positions that the frame does not list; what stood there counts as not relevant"""
    return block.run.gaps


@check("info", "rankings")
def ranks_that_begin_late(block: RankedBlock) -> Array:
    """rankings that do not list rank 1; what stood there counts as not relevant"""
    return block.run.late


@check("warning", "rankings")
def scores_out_of_rank_order(block: RankedBlock) -> Array | None:
    """the rank orders the results, but in these rankings a result has a higher score than the one above it: do rank and
    score belong together?
    """
    rises = block.neighbours(np.greater) if "rank" in block.rows.cells else None
    return None if rises is None else rises > 0


@check("warning", "labels")
def labels_and_grades_that_contradict(log: Log) -> Seen:
    """the label says relevant where the grade is below rel={rel}, or the reverse; the label decides what is relevant,
    the grade what is gained
    """
    table = log.judgments
    if not {"label", "grade"} <= {*table.columns}:
        return Seen(0)
    return _judgments(log, (table["label"] > 0) == (table["grade"] < log.conventions.rel), table["label"])


@check("warning", "results", of="hits")
def clipped_weights(block: RankedBlock) -> Array | None:
    """relevant results that weigh more than clip={log.conventions.clip:g} count with that weight; this biases values"""
    ratio, clip = block.run.ratio, block.run.clip
    return None if ratio is None or clip is None else block.run.count_of(block.run.good & (ratio > clip), None)


@check("warning", "rankings")
def constant_scores(block: RankedBlock) -> Array | None:
    """rankings whose results all have the same score; {order}"""
    level, n_ret = block.neighbours(np.equal), block.run.n_ret
    return None if level is None else (n_ret > 1) & (level == n_ret - 1)


@check("error", "queries", name="more relevant documents than n_relevant")
def more_relevant_documents_than_said(block: RankedBlock) -> Array | None:
    """more relevant documents are listed than {columns.n_relevant} says there are{in_a_ranking}; correct the column"""
    return block.run.listed_relevant > block.of_queries["n_relevant"] if "n_relevant" in block.of_queries else None


@check("error", "rankings", name="more documents than collection_size")
def more_documents_than_said(block: RankedBlock) -> Array | None:
    """rankings with more retrieved or judged documents than collection_size= says there are: true negatives would be
    too few
    """
    return block.run.n_known > block.of_queries["size"] if "size" in block.of_queries else None


@check("error", "queries", of="evaluated")
def queries_without_a_weight(block: RankedBlock) -> Array | None:
    """judged queries without results have no {columns.weight}: add this column to the judgments too"""
    return np.isnan(block.of_queries["weight"]) if "weight" in block.of_queries else None


@check("error", "queries", of="evaluated")
def queries_without_a_cluster(block: RankedBlock) -> Array | None:
    """judged queries without results have no {columns.cluster}: add this column to the judgments too"""
    return np.isnan(block.of_queries["cluster"]) if "cluster" in block.of_queries else None


@check("error", "queries", of="evaluated")
def queries_without_a_collection_size(block: RankedBlock) -> Array | None:
    """judged queries without results have no {columns.collection_size}: add this column to the judgments too"""
    return np.isnan(block.of_queries["size"]) if "size" in block.of_queries else None


@dataclass(frozen=True, eq=False)
class Grades:
    """The grades of rows without a query and without labels, with the attributes by which checks read a ``Log``."""

    table: pl.DataFrame  # one column, "grade"
    conventions: Conventions
    times: pl.Series | None  # number of rows that each row stands for; None for 1 each
    numbered: bool  # True if rows have numbers

    @property
    def judgments(self) -> pl.DataFrame:
        """The table with the column of grades."""
        return self.table

    @property
    def top_grade(self) -> float:
        """The largest grade, NaN if there is none."""
        return largest_grade(self.table["grade"])

    def marked(self, marks: pl.Series) -> Seen:
        """Count the marked rows, among those with a grade; the example is the first of them."""
        n, of = (number_of(self.times, some, len(marks)) for some in (marks, self.table["grade"].is_not_null()))
        return Seen(n, of, f"row {marks.arg_true()[0]}" if n and self.numbered else None)


def _graded(log: Log | Grades, marks: Callable[[pl.Series], pl.Series]) -> Seen | None:
    """Count the judgments whose grade ``marks`` selects; the example is the first of them. None without grades."""
    grade = log.judgments.get_column("grade", default=None)
    if grade is None:
        return None
    return log.marked(marks(grade)) if isinstance(log, Grades) else _judgments(log, marks(grade), grade)


def _judgments(log: Log, marked: pl.Series, values: pl.Series) -> Seen:
    """Count the marked judgments, among those whose value is not null; the example has the keys of the first."""
    table = log.judgments
    keys = [key for names in (*log.columns.key_names, ["doc"]) for key in names if key in table.columns]
    first = marked.arg_true()[:1]
    row = table["row"][first] if "row" in table.columns else first
    at = _place(log, row, beside=not log.judges_itself)
    return Seen(int(marked.sum()), len(table) - values.null_count(), as_text(table.select(keys)[first]), at=at)


@check("error", "query")
def nothing_to_evaluate(counts: Counted) -> Seen:
    """no query has a judgment: every mean is null, and n is 0"""
    return Seen(int(not counts.evaluated.any()))


def _place(log: Log, row: pl.Series, *, beside: bool) -> int:
    """Return the row number in the frame of a row of the log; -1 without a row.

    With ``beside`` it is a row of the judgments beside the log; their numbers follow those of the log's rows.
    """
    at = row.to_numpy().astype(np.int64) + (log.n_rows if beside else 0)
    return int(log.rows(at).max(initial=NONE))


def _without_labels(log: Log | Grades, marks: Callable[[pl.Series], pl.Series]) -> Seen | None:
    """Count the judgments whose grade is marked, as ``_graded`` does; None if labels say what is relevant."""
    return None if "label" in log.judgments.columns else _graded(log, marks)


def _none_reaches_rel(log: Log | Grades) -> bool:
    return out_of_reach(log.judgments["grade"], log.conventions.rel)


@check("error", "grades", only=_none_reaches_rel)
def grades_that_do_not_reach_rel(judged: Log | Grades) -> Seen | None:
    """nothing is relevant at rel={rel}, because the largest grade is {largest}; {binary_fail}: set a lower rel="""
    return _without_labels(judged, lambda grade: grade > 0)


@check("error", "grades", only=undecided_shares)
def grades_between_0_and_1(judged: Log | Grades) -> Seen | None:
    """others reach 1, so these may be prices or shares, and nothing tells whether they are relevant; {relevant_fail}:
    set rel= to the lowest relevant grade
    """
    return _without_labels(judged, shares_among)


@check("warning", "grades", only=all_relevant)
def no_grade_below_rel(judged: Log | Grades) -> Seen | None:
    """everything judged is relevant at rel={rel}, though grades differ: set rel= to the lowest grade that is relevant,
    for example rel=4 for ratings from 1 to 5
    """
    return _without_labels(judged, lambda grade: grade.is_not_null())


@check("error", "rankings")
def positions_given_as_scores(counts: Counted) -> Seen:
    """{columns.score} counts up from 1 or 0 in each ranking, as a rank does, so every metric raises an error: name it
    with rank=, or rename the column if it is a score
    """
    return Seen(len(counts.log.grid.pair) if positions(counts.log) else 0, len(counts.log.grid.pair))


@check("warning", "rankings")
def scores_that_count_from_1(counts: Counted) -> Seen:
    """the scores of every ranking are 1, 2, 3 ... in some order, and the relevant documents have low ones more often
    than chance explains: if {columns.score} is a position, name it with rank=
    """
    some = counts["results"] > 0
    if not counts["numbered"][some].all():
        return Seen(0, int(some.sum()))
    n, good = counts["results"][some].astype(np.float64), counts["hits"][some].astype(np.float64)
    # Sums of ranks, as in the test of Mann and Whitney (1947).
    above = (counts["ranks"][some] - good * (n + 1) / 2).sum()
    spread = np.sqrt((good * (n - good) * (n + 1) / 12).sum())
    return Seen(int(some.sum()) if spread and above > SURE * spread else 0, int(some.sum()))


@check("warning", "queries")
def nothing_found_that_is_relevant(counts: Counted) -> Seen | None:
    """no result of these queries is in their lists of relevant documents: are ids written the same way in both?"""
    if not counts.log.columns.relevant or not (counts["results"].any() and counts["relevant"].any()):
        return None
    n = in_unit(counts.log, "queries", np.ones(len(counts["hits"])))
    return Seen(0 if counts["hits"].any() else n, n)


@check("warning", "grades")
def grades_below_0(log: Log) -> Seen | None:
    """they add no gain{unless_labelled}"""
    return _graded(log, lambda grade: grade < 0)


@check("info", "grades")
def grades_with_a_fraction(log: Log) -> Seen | None:
    """counted as they are; trec_eval cuts them to whole numbers, so its values may differ"""
    if not log.judgments.schema.get("grade", pl.Null).is_float():
        return None
    return _graded(log, lambda grade: grade != grade.floor())


@check("warning", "queries")
def judged_queries_of_no_known_segment(log: Log) -> Seen:
    """they have no results, and the judgments do not say their segment, so they count in totals only: add {by} to the
    judgments
    """
    judged = log.judged
    if judged is None or set(log.columns.key_names[1]) <= set(judged.keys):
        return Seen(0)
    names = judged.names.select(judged.keys)
    known = log.keys_at(judged.keys, log.grid.rankings.first_row)
    lost = names.join(known, on=judged.keys, how="anti", nulls_equal=True, maintain_order="left")
    row = names.with_columns(row=pl.Series(judged.row)).join(lost, on=judged.keys, how="semi", nulls_equal=True)["row"]
    n, of = (queries.select(log.columns.key_names[2]).n_unique() for queries in (lost, names))
    return Seen(n, of, as_text(lost), at=_place(log, row[:1], beside=True))


@check("warning", "queries")
def segments_that_judgments_name_otherwise(log: Log) -> Seen:
    """the log has these queries in other segments than the judgments have, so none of their results is judged there: is
    {by} written the same way in both?
    """
    judged, (_, by, query) = log.judged, log.columns.key_names
    if judged is None or log.judges_itself or not set(by) & set(judged.keys):
        return Seen(0)
    theirs = judged.names.select(judged.keys)
    ours = log.keys_at(judged.keys, log.grid.rankings.first_row).unique(maintain_order=True)
    ours = ours.join(theirs, on=query, how="semi", nulls_equal=True, maintain_order="left")
    agree = ours.join(theirs, on=judged.keys, how="semi", nulls_equal=True)
    each = ours.select(query).unique(maintain_order=True)
    odd = each.join(agree, on=query, how="anti", nulls_equal=True, maintain_order="left")
    return Seen(len(odd), len(each), as_text(odd[:1]))


@check("warning", "segments")
def segments_of_few_queries(counts: Counted) -> Seen:
    """fewer than {few} evaluated queries: their mean is uncertain, and ci= shows how much"""
    return few_queries(counts.log, counts.evaluated)


def few_queries(log: Log, evaluated: Array) -> Seen:
    """Count the segments with fewer than ``FEW`` evaluated queries; ``evaluated``: a mark for each ranking."""
    by = log.columns.key_names[1]
    if not by:
        return Seen(0)
    first = log.grid.first_of_pairs[marks(log.grid.pair[evaluated], log.grid.n_pairs)]
    queries = np.bincount(log.grid.segment[first], minlength=len(log.grid.segment_row))
    small = np.flatnonzero(queries < FEW)
    return Seen(len(small), len(queries), as_text(log.keys_at(by, log.grid.segment_row[small[:1]])))


def sharing(log: Log, least: float, most: float) -> Seen | None:
    """Count the pairs of systems that share few queries.

    Parameters
    ----------
    least, most : a pair counts if its common queries, divided by the queries of the system with fewer, are at least
        ``least`` and below ``most``. One of almost no common queries counts as of few if both share more of theirs with
        other systems, as runs do that are pooled with a third one.
    """
    if not log.columns.system or log.conventions.unanswered == "drop":
        return None
    common = log.grid.common
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
    names = [as_text(log.keys_at(["system"], log.grid.system_row[[at]])) for at in pair]
    words = {"one": names[0], "other": names[1], "common": common[*pair], "fewer": queries_of[pair].min()}
    return Seen(len(few), len(share), ", ".join(names), words)


@check("info", "queries")
def queries_in_several_segments(counts: Counted) -> Seen | None:
    """each segment has its own ranking for them, and totals count them once per segment. If {by} describes documents,
    it cuts rankings into parts: leave it out of by=
    """
    return in_several_segments(counts.log)


def in_several_segments(log: Log) -> Seen | None:
    """Count the queries that have rankings with rows in several segments; None without ``by``."""
    grid = log.grid
    if not log.columns.by:
        return None
    listed = grid.rankings.lengths > 0
    first = grid.first_of_pairs[marks(grid.pair[listed], grid.n_pairs)]
    times = np.bincount(grid.query[first], minlength=len(grid.query_row))
    several = np.flatnonzero(times > 1)
    example = as_text(log.keys_at(log.columns.key_names[2], grid.query_row[several[:1]]))
    return Seen(len(several), int((times > 0).sum()), example)


@check("error", "pairs of systems")
def systems_that_share_almost_no_query(counts: Counted) -> Seen | None:
    """{one} and {other} share {common} queries, of the {fewer} of the one that has fewer, and should share most. Each
    is measured on all queries, and counts as 0 where it has no results. If each query belonged to one system, use
    audit(split=) and compare(paired=False), with cluster= for users who have queries of both; or name {columns.system}
    with by= instead of system=
    """
    return sharing(counts.log, 0, ALMOST_NONE)


@check("warning", "pairs of systems")
def systems_that_share_few_queries(counts: Counted) -> Seen | None:
    """{one} and {other} share {common} queries, of the {fewer} of the one that has fewer, and should share most. Each
    is measured on all queries, and counts as 0 where it has no results: keep only the queries that all systems have, or
    pass unanswered='drop' if they were not asked the same
    """
    return sharing(counts.log, ALMOST_NONE, 0.5)


@check("error", "queries")
def systems_without_rows_for_most_queries(counts: Counted) -> Seen | None:
    """{system} has no rows for {lacking} of {queries} queries{others}; they count as 0. If it was not asked them, pass
    unanswered='drop'; if it found nothing, 0 is right
    """
    return lacking(counts.log, counts["unanswered"], counts.evaluated, MOST, 1)


@check("warning", "queries")
def systems_without_rows_for_some_queries(counts: Counted) -> Seen | None:
    """{system} has no rows for {lacking} of {queries} queries{others}; they count as 0. If it was not asked them, pass
    unanswered='drop'; if it found nothing, 0 is right
    """
    return lacking(counts.log, counts["unanswered"], counts.evaluated, SOME, MOST)


def lacking(log: Log, unanswered: Array, evaluated: Array, least: float, most: float) -> Seen | None:
    """Count the queries of which a system has no row, for the system that lacks most of them.

    None without systems, and if unanswered queries are left out.

    Parameters
    ----------
    unanswered, evaluated : marks of the rankings that have no row, and of those that count.
    least, most : a system counts if its share of unanswered queries is above ``least``, and at most ``most``.
    """
    grid, n = log.grid, len(log.grid.system_row)
    if not log.columns.system or log.conventions.unanswered == "drop":
        return None
    lacks, of = (np.bincount(grid.system, marks, n) for marks in (unanswered, evaluated))
    share = lacks / of.clip(min=1)
    some = np.flatnonzero((share > least) & (share <= most))
    if not len(some):
        return Seen(0, int(of.max(initial=0)))
    first = some[share[some].argmax()]
    marked, whole = (in_unit(log, "queries", marks * (grid.system == first)) for marks in (unanswered, evaluated))
    name, more = as_text(log.keys_at(["system"], grid.system_row[[first]])), len(some) - 1
    others = f", and {more} more {'system lacks' if more == 1 else 'systems lack'} some" if more else ""
    words = {"system": name, "lacking": f"{marked:,}", "queries": f"{whole:,}", "others": others}
    return Seen(marked, whole, name, words)


@check("info", "rankings")
def unanswered_queries(counts: Counted) -> Seen | None:
    """left out by unanswered='drop': the frame has no row for them"""
    if counts.log.conventions.unanswered != "drop":
        return None
    marked = counts["unanswered"]
    return seen_of(counts.log, "rankings", marked, marked + counts.evaluated)


@check("warning", "rows")
def repeated_documents(log: Log) -> Seen:
    """rows that are left out: duplicates='first' keeps only the best-placed row of each document in a query"""
    if log.origin is None:
        return Seen(0, log.n_rows)
    of = log.origin.n or 0
    lost = np.setdiff1d(np.arange(of), log.rows(np.arange(log.n_rows)))
    return Seen(len(lost), of, log.repeated, at=int(lost[0]))


class SetAside(NamedTuple):
    """The names of the log's columns of judgments that are not read, since there are judgments beside it."""

    names: list[str]


@check("info", "columns")
def judgments_of_the_log_set_aside(columns: SetAside) -> Seen:
    """columns of the log that are not read, because judge() gave the judgments"""
    return Seen(len(columns.names), None, ", ".join(columns.names))


@check("fact", "queries")
def queries(counts: Counted) -> Seen:
    """queries that are evaluated: {which}{in_a_segment}"""
    n, of = (in_unit(counts.log, "queries", some) for some in (counts.evaluated, np.ones(len(counts.evaluated))))
    return Seen(n, of)


@check("fact", "results")
def results_judged(counts: Counted) -> Seen | None:
    """results of the evaluated queries that have a judgment"""
    return counts.but_for(unjudged_results)


@check("fact", "results", name=f"judged in the top {TOP}")
def judged_in_the_top(counts: Counted) -> Seen | None:
    """results at ranks up to {top} that have a judgment"""
    return counts.but_for(unjudged_in_the_top)


@check("fact", "documents")
def relevant_documents(counts: Counted) -> Seen:
    """documents that are relevant, found or not, of all that are judged{in_each_segment}"""
    only_counted = counts.log.columns.n_relevant
    each = (counts[name] * counts.evaluated for name in ("relevant", "judged"))
    n, of = (in_unit(counts.log, "documents", values) for values in each)
    return Seen(n, None if only_counted else of)


@check("fact", "rows")
def rows_not_retrieved(log: Log) -> Seen | None:
    """rows without a {place}: known documents that were not retrieved"""
    place = "rank" if log.columns.rank else "score"
    return Seen(log.table[place].null_count(), len(log.table)) if place in log.table.columns else None


OF_SEGMENTS = {
    queries_in_several_segments.name,
    of_cuts.rankings_split_over_segments.name,
    of_cuts.searches_cut_by_segments.name,
}  # checks of queries cut by by=
# Checks that say nothing where no result of any query is judged.
OF_JUDGED = (
    *(queries_without_relevant_documents, unjudged_in_the_top, unjudged_results, ideal_from_the_results_alone),
    *(results_judged, judged_in_the_top, relevant_documents),
)


def about(log: Log, subject: Any, **words: str) -> list[About]:
    """Return two subjects of checks: the systems and segments of a log, and ``subject``, both with the log's words.

    Parameters
    ----------
    subject : the object that checks read, as the ``Counted`` of the log.
    words : more words that messages leave open.
    """
    keys = Keys(log.columns, len(log.grid.system_row), len(log.grid.segment_row))
    words = _words(log) | words
    return [About(keys, words), About(subject, words)]


def grades_in_words(judged: Log | Grades) -> dict[str, str]:
    """Return the words about grades, and about the metrics that they do not determine."""
    conventions, alone = judged.conventions, isinstance(judged, Grades)
    return {
        "rel": conventions.in_words(conventions.rel),
        "largest": conventions.in_words(judged.top_grade),
        "binary_fail": "every metric raises an error" if alone else "binary metrics raise errors",
        "relevant_fail": "every metric raises an error" if alone else "metrics of relevance raise errors",
    }


def _words(log: Log) -> dict[str, Any]:
    """Return the words to fill in the messages of checks of a log."""
    columns, conventions = log.columns, log.conventions
    not_relevant = " and are not relevant; bpref, infap and unjudged='drop' treat them as not judged"
    counted = "counted as not relevant; unjudged='drop' leaves them out"
    return {
        "log": log,
        "columns": columns,
        "by": ", ".join(columns.by),
        **grades_in_words(log),
        "top": TOP,
        "below": TOP + 1,
        "few": FEW,
        "found": "documents that some system found" if columns.system and columns.doc else "retrieved documents",
        "place": "rank" if columns.rank else "score",
        "order": "rank orders them" if columns.rank else ORDER[conventions.ties],
        "unjudged": "left out of the rankings" if conventions.unjudged == "drop" else counted,
        "unless_labelled": "" if "label" in log.judgments.columns else not_relevant,
        **cells_in_words(columns),
        "in_each_segment": ", in each segment" if columns.by else "",
        "in_a_segment": ", in at least one segment" if columns.by else "",
        "in_a_ranking": ", in at least one ranking" if columns.by or columns.system else "",
    }
