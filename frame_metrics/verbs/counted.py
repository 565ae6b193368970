"""What an audit counts in each ranking, in one pass over the log."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from frame_metrics.data.log import Block, Log, rows_of_the_frame
from frame_metrics.data.sorting import Sorted
from frame_metrics.errors import BadRowsError, bad_rows
from frame_metrics.inputs import Array, Ranking

TOP = 10  # the cutoff that is looked at


@dataclass(frozen=True, eq=False)
class Counted:
    """What is known of each ranking, shape (rankings,) each: counts as whole numbers, the rest as bool.

    Parameters
    ----------
    judged, relevant, retrieved : documents of each ranking's query that are judged, relevant; retrieved by the system.
    unjudged : results without a judgment.
    top, top_unjudged : results at ranks up to 10, and those of them without a judgment.
    contradicted : rows whose label and grade do not say the same.
    tied : whether the results at ranks 10 and 11 have equal scores.
    gaps : whether a rank is missing among those shown.
    constant : whether all results, two or more, have one score.
    listed : whether the ideal is that of the results alone.
    late : whether the first rank that is shown is not 1.
    disordered : whether a score rises where the rank, which orders the results, goes down.
    overfull : whether more relevant documents are listed than the query is said to have.
    outgrown : whether more documents are known than the collection is said to have.
    unweighted, unclustered : whether queries have weights, or clusters, and this one has none.
    """

    judged: Array
    relevant: Array
    retrieved: Array
    unjudged: Array
    top: Array
    top_unjudged: Array
    contradicted: Array
    tied: Array
    gaps: Array
    constant: Array
    listed: Array
    late: Array
    disordered: Array
    overfull: Array
    outgrown: Array
    unweighted: Array
    unclustered: Array

    @property
    def evaluated(self) -> Array:
        """Which rankings are evaluated: those of judged queries."""
        return self.judged > 0


COUNTS = ("judged", "relevant", "retrieved", "unjudged", "top", "top_unjudged", "contradicted")


def counted(log: Log) -> Counted:
    """Look at every ranking once.

    Raises
    ------
    BadRowsError
        Values are bad that show in rank order only, or beside others of their query; with the rows of the frame that
        the log was read from.
    """
    n = len(log.grid.pair)
    counts = Counted(**{one.name: np.zeros(n, np.int64 if one.name in COUNTS else bool) for one in fields(Counted)})
    broken: list[BadRowsError] = []

    def work(block: Block) -> None:
        at = block.at
        try:
            sheet = block.rows
        except BadRowsError as error:
            broken.append(error)
            return
        by_score = "score" in sheet.cells and "rank" not in sheet.cells
        run = block.ranking(scored=by_score)
        counts.tied[at] = run.tied_at(TOP) if by_score else False
        _look_at_results(counts, at, run)
        _look_at_scores(counts, at, run, sheet)
        if "label" in sheet.cells and "grade" in sheet.cells:
            grade, label = sheet.judgments()
            wrong = (label == (grade < log.conventions.rel)) & ~np.isnan(grade)
            counts.contradicted[at] = run.count_of(wrong, None, retrieved=False)

    with rows_of_the_frame(log):
        _look_at_queries(counts, log)
        log.each_block(work)
        _raise(broken, len(log.table))
    if log.judged is not None or "n_relevant" in log.grid.rankings.values:
        counts.listed[:] = False
    return counts


def _look_at_queries(counts: Counted, log: Log) -> None:
    """Look at what is said of whole queries: is it the same in all rows, and is it said of every query?"""
    log.sizes(slice(None))
    _ = log.known_relevant
    for role, lacking in (("weight", counts.unweighted), ("cluster", counts.unclustered)):
        values = log.said_of_queries(role)
        if values is not None:
            lacking[:] = np.isnan(values)


def _raise(broken: list[BadRowsError], total: int) -> None:
    """Raise the error that blocks have in common, with the rows of all."""
    if broken:
        first = min(broken, key=lambda error: error.what)
        odd = np.zeros(total, bool)
        for error in broken:
            odd[error.rows] |= error.what == first.what
        raise bad_rows(first.column, np.flatnonzero(odd), total, first.what, first.remedy)


def _look_at_results(counts: Counted, at: slice | Array, run: Ranking) -> None:
    """Count documents, and look at how their number goes with what is said of the query."""
    counts.judged[at], counts.relevant[at], counts.retrieved[at] = run.n_judged, run.n_relevant, run.n_ret
    counts.unjudged[at] = run.n_ret - run.count_of(run.judged, None)
    counts.top[at] = run.retrieved(TOP)
    counts.top_unjudged[at] = run.retrieved(TOP) - run.count_of(run.judged, TOP)
    counts.gaps[at], counts.late[at] = run.gaps, run.late
    counts.listed[at] = run.n_ret == (run.n_judged if run.pool is not None else run.lengths)
    counts.overfull[at] = run.listed_relevant > run.n_relevant if run.known_relevant is not None else False
    if run.size is not None:
        counts.outgrown[at] = run.size < run.n_ret + run.n_relevant - run.hits()


def _look_at_scores(counts: Counted, at: slice | Array, run: Ranking, sheet: Sorted) -> None:
    """Look for scores that are equal where it matters, or that say another order than the ranks."""
    if sheet.score is None:
        return
    by_rank = "rank" in sheet.cells
    if by_rank and "score" not in sheet.cells:
        return
    score = sheet.ordered(sheet.cells["score"] if by_rank else sheet.score)
    inner = np.ones(len(score), bool)
    inner[run.starts[run.starts < len(score)]] = False
    inner &= np.arange(len(score)) < np.repeat(run.starts + run.n_ret, run.lengths)
    equal, rises = np.zeros((2, len(score)), bool)  # than the row before
    equal[1:], rises[1:] = score[1:] == score[:-1], score[1:] > score[:-1]
    level = run.count_of(inner & equal, None)
    counts.constant[at] = (run.n_ret > 1) & (level == run.n_ret - 1)
    if by_rank:
        counts.disordered[at] = run.count_of(inner & rises, None) > 0
