"""Decisions at every threshold, and the choice of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.blocks import to_array
from frame_metrics.data.cases import Cases
from frame_metrics.data.groups import Segments, segments_of
from frame_metrics.data.segments import reached, scored
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, shown
from frame_metrics.inputs import Array, Confusion, Scores
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.metrics.parameters import is_number
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.needs import Needs
from frame_metrics.threads import in_threads
from frame_metrics.verbs.counted import binary_read
from frame_metrics.verbs.measure import check_parameters
from frame_metrics.verbs.request import Plan, Request, check_wide, one_of
from frame_metrics.verbs.tidy import number, whole

EQUAL = 1e-12  # values that differ by less are equal
COUNTS = ("tp", "fp", "fn", "tn")
STEP = 1 << 15  # thresholds: what their tables need stays in cache
Limits: TypeAlias = Mapping[str, tuple[Metric, float]]  # by name, a metric and the value to reach, or not to pass


def thresholds(request: Request, metrics: Sequence[Metrics]) -> Any:
    """Answer ``irm.thresholds``, which has the parameters."""
    asked = read(metrics) if metrics else []
    plan = _plan(request, asked)
    return plan.answer_of_segments(
        lambda reading: _every(binary_read(reading), asked), lambda types: _schema(asked, plan.columns), in_pieces=True
    )


def best_threshold(request: Request, metric: str | Metric, subject_to: Mapping[str | Metric, float] | None) -> Any:
    """Answer ``irm.best_threshold``, which has the parameters."""
    ((name, wanted),) = one_of(read([metric]))
    if subject_to is not None and not isinstance(subject_to, Mapping):
        raise BadValueError(f"subject_to={subject_to!r} is not a mapping from metrics to values")
    limits = {}
    for given, bound in (subject_to or {}).items():
        ((text, limit),) = one_of(read([given]))
        if not is_number(bound) or bound != bound:
            raise BadValueError(f"subject_to: {text}={shown(bound)} is not a number")
        limits[text] = (limit, float(bound))
    asked = [(name, wanted), *((text, limit) for text, (limit, _) in limits.items() if text != name)]
    for text, one in asked:
        if one.higher is None:
            raise NotComputableError(f"{text}: no value of it is better than another")
    plan = _plan(request, asked)
    return plan.answer_of_segments(
        lambda reading: _best(binary_read(reading), asked, limits),
        lambda types: _schema(asked, plan.columns),
        in_pieces=True,
    )


def _plan(request: Request, asked: Asked) -> Plan:
    plan = request.plan(Needs(score=True, query=request.judged))
    _check_thresholds(asked, plan.conventions)
    check_no_threshold(plan.conventions)
    plan.check_pooled(("threshold", *COUNTS))
    for name, _ in asked:
        if name in ("threshold", *COUNTS):
            raise BadValueError(f"{name!r} is a column of the result already")
    check_wide([name for name, _ in asked], plan.columns)
    return plan


def check_no_threshold(conventions: Conventions) -> None:
    """Raise for one threshold where every threshold is looked at."""
    if conventions.threshold is not None:
        raise ColumnError("threshold= is one threshold, and every threshold is looked at; say threshold=None")


def _check_thresholds(asked: Asked, conventions: Conventions) -> None:
    """Raise for a metric that no threshold decides."""
    for name, metric in asked:
        if metric.input is not Confusion or metric.k is not None:
            raise NotComputableError(f"{name} is no measure of the 2x2 table, which a threshold makes")
        check_parameters(name, metric)
        if metric.average is not None or {"rel", "judged_only"} & set(metric.params):
            raise NotComputableError(f"{name}: gm_, rel= and judged_only= are for the results of queries")
    if conventions.undefined == "raise":
        raise NotComputableError("undefined='raise': at the first threshold nothing is predicted; say 'null' or 'zero'")


def _every(cases: Cases, asked: Asked) -> Answer:
    """Return one row per segment and threshold, with its table and the metrics."""
    segments = segments_of(cases.cells)
    points = points_of(cases, segments, scored_only=True)
    return _rows(cases, segments, points, asked, _at_points(points, asked, cases.conventions))


def _at_points(points: Points, asked: Asked, conventions: Conventions) -> Array:
    """Compute measures of the 2x2 table at every point, NaN where they stay null, shape (metrics, points)."""
    out = np.empty((len(asked), len(points.tp)))

    def work(span: slice) -> None:
        table = points.table(span)
        for i, (name, metric) in enumerate(asked):
            out[i, span] = conventions.filled(name, metric, metric.compute(table))

    in_threads((slice(a, a + STEP) for a in range(0, len(points.tp), STEP)), work)
    return out


def _rows(cases: Cases, segments: Segments, points: Points, asked: Asked, values: Array) -> Answer:
    """Points, their tables and metrics, as columns."""
    positives, negatives = points.each(points.positives), points.each(points.negatives)
    counts = (points.tp, points.fp, positives - points.tp, negatives - points.fp)
    columns = {"threshold": number(points.threshold)}
    columns |= dict(zip(COUNTS, map(number if cases.weighted else whole, counts), strict=True))
    columns |= {name: number(value) for (name, _), value in zip(asked, values, strict=True)}
    return Answer(segments.key_rows(points.segment), columns)


def _schema(asked: Asked, columns: Columns) -> dict[str, Any]:
    """The types of the columns beside the keys."""
    count = pl.Float64 if columns.weight and not columns.query else pl.Int64
    return {"threshold": pl.Float64} | dict.fromkeys(COUNTS, count) | {name: pl.Float64 for name, _ in asked}


def _best(cases: Cases, asked: Asked, limits: Limits) -> Answer:
    """Return the threshold of each segment where the first metric is best, of equal ones the highest."""
    (_, metric), segments = asked[0], segments_of(cases.cells)
    points = points_of(cases, segments, scored_only=True)
    values = _at_points(points, asked, cases.conventions)
    meets = [_meets(values[i], *limits[one]) for i, (one, _) in enumerate(asked) if one in limits]
    allowed = np.all([np.ones(len(points.tp), bool), *meets], axis=0)
    score = values[0] * metric.sign
    nothing = points.positives + points.negatives == 0
    chosen, failed = [], {}
    for span in points.spans():
        segment = int(points.segment[span.start])
        usable = allowed[span] & ~np.isnan(score[span])
        if nothing[segment] or not usable.any():
            chosen.append(span.start)
            if not nothing[segment]:
                failed[segment] = _unmet(values[:, span], asked, limits, met=bool(allowed[span].any()))
            continue
        top = score[span][usable].max()
        chosen.append(span.start + int(np.argmax(usable & (score[span] >= top - EQUAL))))
    if failed:
        raise _without(failed, segments)
    at = np.array(chosen, np.int64)
    empty = nothing[points.segment[at]]
    best = replace(points.kept(at), threshold=np.where(empty, np.nan, points.threshold[at]))
    return _rows(cases, segments, best, asked, np.where(empty, np.nan, values[:, at]))


def _without(failed: dict[int, str], segments: Segments) -> NotComputableError:
    """Return the error that counts the segments without a threshold, and says why of the first three."""
    texts = {segments.text(segment): why for segment, why in failed.items()}
    if None in texts:
        return NotComputableError(texts[None])
    said = [f"{text}: {why}" for text, why in list(texts.items())[:3]]
    more = ["..."] if len(texts) > 3 else []
    many = "1 segment has" if len(texts) == 1 else f"{len(texts)} of {len(segments)} segments have"
    return NotComputableError(f"{many} no such threshold ({'; '.join([*said, *more])})")


def _meets(values: Array, metric: Metric, bound: float) -> Array:
    return values >= bound - EQUAL if metric.higher else values <= bound + EQUAL


def _unmet(values: Array, asked: Asked, limits: Limits, *, met: bool) -> str:
    """Say why a segment has no threshold: the limits, and the best value of each where the others are met.

    Parameters
    ----------
    values : of the metrics at the points of the segment, shape (metrics, points).
    met : whether the limits are met somewhere, so that the metric is undefined there.
    """
    if met:
        beside = f" that meets {', '.join(limits)}" if limits else ""
        return f"{asked[0][0]} is undefined at every threshold{beside}"
    by_name = dict(zip([name for name, _ in asked], values, strict=True))
    meets = {name: _meets(by_name[name], *limit) for name, limit in limits.items()}
    said = []
    for name, (limit, bound) in limits.items():
        others = np.all([np.ones(len(meets[name]), bool), *(meets[one] for one in limits if one != name)], axis=0)
        here = by_name[name][others] if others.any() else by_name[name]
        here = here[~np.isnan(here)]
        best = "undefined" if not len(here) else f"{here.max() if limit.higher else here.min():.6g}"
        said.append(f"{name} {'>=' if limit.higher else '<='} {bound:g} (the best that can be had is {best})")
    each = ", each where the others hold" if len(said) > 1 else ""
    return f"no threshold meets {' and '.join(said)}{each}"


@dataclass(frozen=True, eq=False)
class Points:
    """Counts of what is predicted at every threshold, segment after segment, thresholds falling."""

    segment: Array  # of each point, ascending, shape (points,)
    threshold: Array  # infinite at the first point of a segment, where nothing is predicted, shape (points,)
    tp: Array  # relevant rows at or above it, shape (points,)
    fp: Array  # other rows at or above it, shape (points,)
    positives: Array  # relevant rows of each segment, shape (segments,)
    negatives: Array  # other rows of each segment, shape (segments,)

    @cached_property
    def first(self) -> Array:
        """The first point of each segment that has any."""
        return np.concatenate([np.zeros(min(len(self.segment), 1), int), np.flatnonzero(np.diff(self.segment)) + 1])

    def each(self, of_segment: Array) -> Array:
        """Return a segment's value at each of its points."""
        one = len(of_segment) == 1  # as is often so with many points
        return np.broadcast_to(of_segment, len(self.tp)) if one else of_segment[self.segment]

    def table(self, span: slice) -> Confusion:
        """Return the 2x2 table at some points."""
        tp, fp = self.tp[span].astype(np.float64), self.fp[span].astype(np.float64)
        positives, negatives, size = (self.each(total)[span] for total in self._totals)
        table = Confusion(tp, fp, positives - tp, np.zeros(len(tp)), size, (), negatives - fp)
        if self.tp.dtype.kind == "i":  # then these sums are exact, and known
            table.actual, table.negative, table.population = positives, negatives, size
        return table

    @cached_property
    def _totals(self) -> tuple[Array, Array, Array]:
        """Relevant, other, and all rows of each segment, shape (segments,) each."""
        both = self.positives + self.negatives
        return self.positives.astype(np.float64), self.negatives.astype(np.float64), both.astype(np.float64)

    def kept(self, at: Array) -> Points:
        """Return some of the points."""
        return Points(self.segment[at], self.threshold[at], self.tp[at], self.fp[at], self.positives, self.negatives)

    def spans(self) -> list[slice]:
        """Return the points of each segment that has any."""
        return [slice(a, b) for a, b in pairwise([*self.first.tolist(), len(self.segment)])]


def points_of(cases: Cases, segments: Segments, *, scored_only: bool) -> Points:
    """Find every threshold of every segment, down to minus infinity, or to the least score if ``scored_only``.

    A segment without rows that count has the first point only.
    """
    pieces: list[tuple[Array, ...]] = []
    totals = np.zeros((2, len(segments)), np.float64 if cases.summed else np.int64)

    def work(at: Array, scores: Scores) -> None:
        totals[0, at], totals[1, at] = scores.positives, scores.negatives
        columns: tuple[Array, ...] = scores.query, scores.score, scores.tp, scores.fp
        if scored_only and len(scores.score) and scores.score.min() == -np.inf:
            columns = tuple(values[scores.score > -np.inf] for values in columns)
        begin = np.searchsorted(columns[0], np.arange(scores.n_queries)) if scores.n_queries > 1 else 0
        query = np.insert(columns[0], begin, np.arange(scores.n_queries))
        starts = (np.inf, 0, 0)
        pieces.append((at[query], *(np.insert(v, begin, start) for v, start in zip(columns[1:], starts, strict=True))))

    if not segments.keys and not cases.summed and len(cases.rows):
        return _one_segment(cases, scored_only)
    scored(cases, segments, work)
    lacking = np.setdiff1d(np.arange(len(segments)), np.concatenate([np.zeros(0, int), *(one[0] for one in pieces)]))
    none = np.zeros(len(lacking), totals.dtype)
    pieces.append((lacking, np.full(len(lacking), np.inf), none, none))  # segments without rows that count
    columns = tuple(np.concatenate(pieces) for pieces in zip(*pieces, strict=True))
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
