"""What is predicted at every threshold: the points that curves and choices of a threshold are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from frame_metrics.data.blocks import to_array
from frame_metrics.data.cases import Cases
from frame_metrics.data.groups import Segments
from frame_metrics.data.segments import reached, scored
from frame_metrics.inputs import Array, Confusion, Scores

EQUAL = 1e-12  # values that differ by less are equal


@dataclass(frozen=True, eq=False)
class Points:
    """What is predicted at every threshold, segment after segment, thresholds falling.

    Parameters
    ----------
    segment : of each point, ascending, shape (points,).
    threshold : infinite at the first point of a segment, where nothing is predicted, shape (points,).
    tp, fp : relevant and other rows at or above it, shape (points,).
    positives, negatives : relevant and other rows of each segment, shape (segments,).
    """

    segment: Array
    threshold: Array
    tp: Array
    fp: Array
    positives: Array
    negatives: Array

    @cached_property
    def first(self) -> Array:
        """Where the points of each segment that has any begin."""
        return np.concatenate([np.zeros(min(len(self.segment), 1), int), np.flatnonzero(np.diff(self.segment)) + 1])

    @cached_property
    def one(self) -> bool:
        """Whether there is one segment, as is often so with many points."""
        return len(self.positives) == 1

    def each(self, of_segment: Array) -> Array:
        """Return a segment's value at each of its points."""
        return np.broadcast_to(of_segment, len(self.tp)) if self.one else of_segment[self.segment]

    def table(self, part: slice) -> Confusion:
        """Return the 2x2 table at some points."""
        tp, fp = self.tp[part].astype(np.float64), self.fp[part].astype(np.float64)
        positives, size = self.each(self.positives)[part], self.each(self.positives + self.negatives)[part]
        rest = self.each(self.negatives)[part] - fp
        return Confusion(tp, fp, positives - tp, np.zeros(len(tp)), size, (), rest)

    def kept(self, at: Array) -> Points:
        """Return some of the points."""
        return Points(self.segment[at], self.threshold[at], self.tp[at], self.fp[at], self.positives, self.negatives)

    def spans(self) -> list[slice]:
        """Return the points of each segment that has any."""
        if not len(self.segment):
            return []
        ends = [*self.first[1:].tolist(), len(self.segment)]
        return [slice(a, b) for a, b in zip(self.first.tolist(), ends, strict=True)]


def points_of(cases: Cases, segments: Segments, *, scored_only: bool) -> Points:
    """Find every threshold of every segment.

    Parameters
    ----------
    scored_only : whether to end at the least score; else at minus infinity, where rows without a score are predicted.
    """
    pieces: list[tuple[Array, ...]] = []
    totals = np.zeros((2, len(segments)), np.float64 if cases.weighted else np.int64)

    def work(at: Array, scores: Scores) -> None:
        totals[0, at], totals[1, at] = scores.positives, scores.negatives
        columns: tuple[Array, ...] = scores.query, scores.score, scores.tp, scores.fp
        if scored_only and len(scores.score) and scores.score.min() == -np.inf:
            columns = tuple(values[scores.score > -np.inf] for values in columns)
        begin = np.searchsorted(columns[0], np.arange(scores.n_queries)) if scores.n_queries > 1 else 0
        query = np.insert(columns[0], begin, np.arange(scores.n_queries))
        starts = (np.inf, 0, 0)
        pieces.append((at[query], *(np.insert(v, begin, start) for v, start in zip(columns[1:], starts, strict=True))))

    if not segments.keys and not cases.weighted and len(cases.rows):
        return _one_segment(cases, scored_only)
    scored(cases, segments, work)
    if not pieces:
        empty = np.zeros(0)
        return Points(empty.astype(int), empty, empty, empty, *totals)
    columns = pieces[0] if len(pieces) == 1 else tuple(np.concatenate(pieces) for pieces in zip(*pieces, strict=True))
    if len(segments) > 1 and (np.diff(columns[0]) < 0).any():
        order = np.argsort(columns[0], kind="stable")
        columns = tuple(values[order] for values in columns)
    return Points(*columns, *totals)


def _one_segment(cases: Cases, scored_only: bool) -> Points:
    """Every threshold of all rows together."""
    score, tp, fp = reached(to_array(cases.rows["score"]), cases.rows["actual"].to_numpy())
    totals = tp[-1:], fp[-1:]
    if scored_only and score[-1] == -np.inf:
        score, tp, fp = score[:-1], tp[:-1], fp[:-1]
    return Points(np.zeros(len(tp), np.int64), score, tp, fp, *totals)


def thinned(points: Points, arc: Array, most: int) -> Array:
    """Choose at most so many points of each segment: the last of each of equal stretches of an arc that never falls."""
    kept = []
    for part in points.spans():
        here = arc[part]
        if len(here) <= most:
            kept.append(np.arange(part.start, part.stop))
            continue
        width = (here[-1] - here[0]) / (most - 2)
        stretch = np.minimum(((here - here[0]) / width).astype(np.int64), most - 3)
        last = np.append(np.flatnonzero(np.diff(stretch)), len(here) - 1)
        kept.append(part.start + np.unique(np.concatenate([[0], last])))
    return np.concatenate(kept) if kept else np.zeros(0, np.int64)
