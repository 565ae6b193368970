"""Put a block of rankings in rank order: sort by score, exactly, then settle ties by the tie rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.data.ranking_rows import RankingRows
from frame_metrics.errors import BadRowsError, BadValueError, bad_rows
from frame_metrics.fast.rank_order import rank_order
from frame_metrics.fast.take_rows import in_double
from frame_metrics.inputs import Array
from frame_metrics.inputs.cached_arrays import computed_once
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import sums_between
from frame_metrics.roles.columns import Columns, order_column_in
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import MAKE_FINITE, NULL_IF_NOT_RETRIEVED, refuse_infinite

RankOrder: TypeAlias = Literal["none", "judgments", "documents"]  # how far ties are settled, see ``Sorter.sort``


@record
class Sorter:
    """Sorts blocks of rankings by rank or score, and tied rows by the tie rule (``ties=``)."""

    rankings: RankingRows
    table: pl.DataFrame  # the checked columns; each has the name of its role
    columns: Columns
    conventions: Conventions

    @computed_once
    def has_nulls(self) -> bool:
        """True if any score or rank is null."""
        name = order_column_in(self.table)
        return name is not None and self.table.get_column(name).null_count() > 0

    def sort(self, block: slice | Array, *, order: RankOrder = "judgments") -> SortedView:
        """Sort the rows of some rankings.

        Parameters
        ----------
        block : the indices of the rankings.
        order : for what the order by rank or score has to be exact. "judgments" leaves tied rows with equal judgments
            as they are. "documents" orders them too with ``ties="doc"``, which only metrics of documents need. "none",
            if no metric looks at the order: nothing is sorted, and scores, none of which may be null, are only checked.
        """
        lengths, places = self.rankings.lengths[block], self.rankings.places(block)
        values = {name: in_double(column[places]) for name, column in self.rankings.values.items()}
        n_ret = lengths
        score = -values["rank"].astype(np.float64) if "rank" in values else values.get("score")
        if score is None:
            return SortedView(values, lengths, n_ret, None, places, None)
        score = score.astype(np.float64, copy=False)
        if self.has_nulls and (absent := np.isnan(score)).any():
            score = np.where(absent, -np.inf, score)
            end = lengths.cumsum()
            n_ret = lengths - sums_between(absent, end - lengths, end)
        rank_places, equal = (None, False) if order == "none" else rank_order(score, lengths)
        # If the rows are in rank order already (``rank_places`` is None), an infinite or NaN score is the first or the
        # last of its ranking: only these are checked.
        check_all = rank_places is not None or order == "none" or len(score) <= threads.FEW_ROWS
        to_check = score if check_all else score[_ends(lengths)]
        # With nulls, and with ranks, they were checked when the columns were read.
        if not (self.has_nulls or np.isfinite(to_check).all() or "rank" in self.table.columns):
            refuse_infinite(self.table["score"], str(self.columns.score), NULL_IF_NOT_RETRIEVED, infinite=MAKE_FINITE)
        view = SortedView(values, lengths, n_ret, rank_places, places, score)
        by_document = order == "documents" and self.conventions.ties == "doc"
        return self._settled(view, all_ties=by_document) if equal else view

    def _settled(self, view: SortedView, *, all_ties: bool) -> SortedView:
        """Order tied rows by the tie rule; only with ``all_ties`` also rows that metrics cannot tell apart."""
        tied = view.equal_to_next()
        if not tied.any():
            return view
        if "rank" in view.values:
            raise self._repeated(view.log_rows(self.rankings, np.flatnonzero(tied) + 1))
        unjudged, relevant, worth = self._compared_judgments(view)
        judgments_differ = (worth[1:] != worth[:-1]) | (unjudged[1:] != unjudged[:-1]) | (relevant[1:] != relevant[:-1])
        judgments_differ &= tied
        extras_differ = tied & self._differs_from_next(view)
        if not (judgments_differ.any() or extras_differ.any() or all_ties):
            return view
        # Some ties matter: give ties codes, and sort the rows of those that matter by the keys of the tie rule.
        tie = np.concatenate([[0], np.cumsum(~tied)])
        view = replace(view, judgments_differ=bool(judgments_differ.any()), extras_differ=bool(extras_differ.any()))
        if self.conventions.ties == "expected":
            return replace(view, tie=tie)
        judgments_differ |= extras_differ
        matters = np.zeros(tie[-1] + 1, bool)
        matters[tie[1:][tied if all_ties else judgments_differ]] = True
        rows = np.flatnonzero(matters[tie])
        # By grade, then relevance, for "worst" the lowest first; of equal ones judged rows come before unjudged ones.
        if self.conventions.ties in ("worst", "best"):
            sign = 1.0 if self.conventions.ties == "worst" else -1.0
            keys = [unjudged[rows], sign * relevant[rows], sign * worth[rows]]
        else:
            keys = [self._tie_keys(view.log_rows(self.rankings, rows))]
        new = rows[np.lexsort((*keys, tie[rows]))]
        order = np.arange(len(tie)) if view.order is None else view.order
        settled = order.copy()
        settled[rows] = order[new]
        return replace(view, order=settled)

    def _differs_from_next(self, view: SortedView) -> Array:
        """Mark each row that differs from the next one in a column that only some metrics read, shape (rows - 1,)."""
        out = np.zeros(max(int(view.lengths.sum()) - 1, 0), bool)
        for name in (*self.columns.extra_names, *(one for one in ("ratio", "document") if one in view.values)):
            value = view.ordered(view.values[name])
            out |= (value[1:] != value[:-1]) & ~(np.isnan(value[1:]) & np.isnan(value[:-1]))
        return out

    def _compared_judgments(self, view: SortedView) -> tuple[Array, Array, Array]:
        """Return what the tie rules compare: True if unjudged, True if relevant, and the grade; shape (rows,) each."""
        grade, label = view.judgments()
        unjudged = np.isnan(grade if label is None else label)
        worth = np.where(np.isnan(grade), 0, grade)
        return unjudged, (worth >= self.conventions.rel) & ~unjudged if label is None else label == 1, worth

    def _repeated(self, rows: Array) -> BadRowsError:
        """Return the error for rows that repeat a rank of their ranking."""
        columns, total = self.columns, len(self.rankings.values["rank"])
        ways = [] if columns.system else [f"name system={columns.likely_system_text} if several systems gave them"]
        ways += [columns.repeated_query_text]
        ways += [f"pass score= with the negative of {columns.rank} if equal places are meant"]
        what = "repeat a rank of their query"
        return bad_rows(str(columns.rank), rows, total, what, f"a query has each rank once: {', '.join(ways)}")

    def _tie_keys(self, rows: Array) -> Array:
        """Return sort keys of tied rows: the row number, or with ``ties="doc"`` the document id, descending."""
        if self.conventions.ties != "doc":
            return rows
        doc = self.table["doc"].gather(rows)
        try:
            text = doc.cast(pl.String)
        except pl.exceptions.PolarsError:
            raise BadValueError(
                f"documents of type {doc.dtype} have no text to order equal scores by; pass ties='worst' or 'order'"
            ) from None
        return -text.rank("dense").to_numpy().astype(np.int64)


def _ends(lengths: Array) -> Array:
    """Return the positions of the first and the last row of each ranking that has rows."""
    stop = lengths[lengths > 0].cumsum()
    return np.concatenate([[0], stop[:-1], stop - 1])


@record
class SortedView:
    """The rows of a block, and the order that puts each ranking in rank order."""

    values: dict[str, Array]  # columns of the rows by name, not yet ordered, shape (rows,) each
    lengths: Array  # number of rows of each ranking, shape (rankings,)
    n_ret: Array  # number of retrieved rows of each ranking, shape (rankings,)
    order: Array | None  # positions of the rows in rank order; None if they already are in rank order
    places: slice | Array  # places of the rows among those of all rankings, see ``RankingRows``
    score: Array | None  # the sort key: the score, or minus the rank; None if there is neither
    judgments_differ: bool = False  # whether tied rows have different judgments
    # whether tied rows differ in a column that only some metrics read (extra columns, ratio ...)
    extras_differ: bool = False
    tie: Array | None = None  # if some ties matter, and with ties="expected": the code of each row's tie, in rank order

    def ordered(self, values: Array) -> Array:
        """Return values of the block's rows in rank order."""
        return values if self.order is None else values[self.order]

    def column(self, name: str) -> Array | None:
        """Return a column in rank order; None if there is none of this name."""
        return self.ordered(self.values[name]) if name in self.values else None

    def equal_to_next(self) -> Array:
        """Mark each retrieved row that has the score of the next row of its ranking, shape (rows - 1,)."""
        score = self.ordered(np.zeros(0) if self.score is None else self.score)
        equal = (score[1:] == score[:-1]) & (score[1:] > -np.inf)
        ends = self.lengths.cumsum()[:-1] - 1
        equal[ends[(ends >= 0) & (ends < len(equal))]] = False
        return equal

    def judgments(self) -> tuple[Array, Array | None]:
        """Return grades and labels in rank order; without grades the labels stand for them."""
        grade, label = self.column("grade"), self.column("label")
        if grade is not None:
            return grade, label
        return np.full(int(self.lengths.sum()), np.nan) if label is None else label, label

    def log_rows(self, rankings: RankingRows, rows: Array) -> Array:
        """Return rows of the log for rows in rank order."""
        places = rows if self.order is None else self.order[rows]
        return rankings.rows_of(places + self.places.start if isinstance(self.places, slice) else self.places[places])

    def logged_ranks(self) -> Array | None:
        """Return the shown ranks, in rank order; None if there are none, or if they have no gaps."""
        rank = self.column("rank")
        if rank is None:
            return None
        last = (self.lengths.cumsum() - self.lengths + self.n_ret - 1)[self.n_ret > 0]
        if (rank[last] == self.n_ret[self.n_ret > 0]).all():
            return None
        return np.where(np.isnan(rank), 0, rank).astype(np.int64)
