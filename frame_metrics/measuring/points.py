"""Counts of relevant and other rows at every threshold."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np

from frame_metrics.data.cases import Cases
from frame_metrics.data.segments import counts_at_scores, each_scored_block
from frame_metrics.fast.take_rows import to_array
from frame_metrics.inputs import Array, FullConfusion, FullScores
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups

EQUAL = 1e-12  # values that differ by less are equal


@record
class Points:
    """The counts of rows at every threshold: a point for each, segment after segment, with falling thresholds."""

    segment: Array  # number of each point's segment, ascending, shape (points,)
    threshold: Array  # infinite at the first point of a segment, where nothing is predicted, shape (points,)
    tp: Array  # number of relevant rows at or above the threshold, shape (points,)
    fp: Array  # number of other rows at or above it, shape (points,)
    positives: Array  # number of relevant rows of each segment, shape (segments,)
    negatives: Array  # number of other rows of each segment, shape (segments,)

    @cached_property
    def first(self) -> Array:
        """The index of the first point of each segment that has points."""
        if len(self.positives) == 1:
            return np.zeros(min(len(self.segment), 1), int)
        return np.concatenate([np.zeros(min(len(self.segment), 1), int), np.flatnonzero(np.diff(self.segment)) + 1])

    def each(self, of_segment: Array) -> Array:
        """Repeat the value of each segment for all of its points."""
        one = len(of_segment) == 1  # often the case if there are many points
        return np.broadcast_to(of_segment, len(self.tp)) if one else of_segment[self.segment]

    def table(self, span: slice) -> FullConfusion:
        """Return the 2x2 table at some points."""
        tp, fp = self.tp[span].astype(np.float64), self.fp[span].astype(np.float64)
        positives, negatives, size = (self.each(total)[span] for total in self._totals)
        # Sums of whole numbers are exact: the table need not add them up again.
        known = (positives, negatives, size) if self.tp.dtype.kind == "i" else None
        return FullConfusion(tp, fp, positives - tp, np.zeros(len(tp)), size, rest=negatives - fp, totals=known)

    @cached_property
    def _totals(self) -> tuple[Array, Array, Array]:
        """Relevant, other, and all rows of each segment, shape (segments,) each."""
        both = self.positives + self.negatives
        return self.positives.astype(np.float64), self.negatives.astype(np.float64), both.astype(np.float64)

    def select(self, at: Array) -> Points:
        """Return the points at the indices ``at``."""
        return Points(self.segment[at], self.threshold[at], self.tp[at], self.fp[at], self.positives, self.negatives)

    def spans(self) -> list[slice]:
        """Return the indices of the points of each segment that has points."""
        return [slice(a, b) for a, b in pairwise([*self.first.tolist(), len(self.segment)])]


def points_of(cases: Cases, segments: CellGroups, *, scored_only: bool) -> Points:
    """Count rows at every threshold of every segment.

    The last threshold of a segment is minus infinity if it has rows without a score, unless ``scored_only``. A segment
    without rows of positive weight has only the first point.
    """
    pieces: list[tuple[Array, ...]] = []
    totals = np.zeros((2, len(segments)), np.float64 if cases.sums_weights else np.int64)

    def work(at: Array, scores: FullScores) -> None:
        totals[0, at], totals[1, at] = scores.positives, scores.negatives
        columns: tuple[Array, ...] = scores.query, scores.score, scores.tp, scores.fp
        if scored_only and len(scores.score) and scores.score.min() == -np.inf:
            columns = tuple(values[scores.score > -np.inf] for values in columns)
        # The first point of each segment is where nothing is predicted. (In ``scores`` segments are queries.)
        begin = np.searchsorted(columns[0], np.arange(scores.n_queries)) if scores.n_queries > 1 else 0
        segment = np.insert(columns[0], begin, np.arange(scores.n_queries))
        first = (np.inf, 0, 0)
        pieces.append((at[segment], *(np.insert(v, begin, one) for v, one in zip(columns[1:], first, strict=True))))

    if not segments.keys and not cases.sums_weights and len(cases.rows):
        return _one_segment(cases, scored_only)
    each_scored_block(cases, segments, work)
    # Segments without rows that count have this point only; then sort by segment.
    without = np.setdiff1d(np.arange(len(segments)), np.concatenate([np.zeros(0, int), *(one[0] for one in pieces)]))
    none = np.zeros(len(without), totals.dtype)
    pieces.append((without, np.full(len(without), np.inf), none, none))
    columns = tuple(np.concatenate(pieces) for pieces in zip(*pieces, strict=True))
    if len(segments) > 1 and (np.diff(columns[0]) < 0).any():
        order = np.argsort(columns[0], kind="stable")
        columns = tuple(values[order] for values in columns)
    return Points(*columns, *totals)


def _one_segment(cases: Cases, scored_only: bool) -> Points:
    """Return the points of all rows, faster than block by block; for one segment without weights."""
    kind = np.int32 if len(cases.rows) < 1 << 31 else np.int64
    score, tp, fp = counts_at_scores(to_array(cases.rows["score"]), cases.rows["actual"].to_numpy(), kind)
    totals = tp[-1:].astype(np.int64), fp[-1:].astype(np.int64)
    if scored_only and score[-1] == -np.inf:
        score, tp, fp = score[:-1], tp[:-1], fp[:-1]
    return Points(np.broadcast_to(np.int64(0), len(tp)), score, tp, fp, *totals)
