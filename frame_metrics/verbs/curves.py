"""Curves as frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.groups import Segments, segments_of
from frame_metrics.data.segments import scored
from frame_metrics.errors import BadValueError, check_apart, check_choice
from frame_metrics.inputs import Array, Scores, ratio
from frame_metrics.metrics.names import read
from frame_metrics.metrics.ranking import iprec
from frame_metrics.roles.needs import Needs
from frame_metrics.verbs.measure import check_asked, check_probability, measure
from frame_metrics.verbs.points import EQUAL, Points, points_of, thinned
from frame_metrics.verbs.request import Reading, Request, one_of
from frame_metrics.verbs.thresholds import check_no_threshold
from frame_metrics.verbs.tidy import averaged, each_query, number, whole

COLUMNS = {
    "roc": ("threshold", "fpr", "tpr"),
    "pr": ("threshold", "recall", "precision"),
    "gain": ("threshold", "share", "gain"),
    "calibration": ("predicted", "observed", "n"),
}


Per = Literal["query"]


def curve(
    request: Request,
    kind: str,
    *,
    per: Per | None,
    levels: int | Sequence[float] | None,
    interpolated: bool,
    points: int | None,
    bins: int | None,
    cutoffs: int | Sequence[int] | None,
) -> Any:
    """Answer ``irm.curve``, which has the parameters."""
    options = {"levels": levels, "interpolated": interpolated or None, "points": points, "bins": bins}
    check(kind, options | {"cutoffs": cutoffs})
    if not isinstance(interpolated, bool):
        raise BadValueError(f"interpolated={interpolated!r} is not True or False")
    if per is not None:
        check_choice("per", per, get_args(Per))
    if kind not in COLUMNS:
        return _by_cutoff(request, kind, per, 10 if cutoffs is None else cutoffs)
    at = recall_levels(levels)
    plan = request.plan(Needs(score=True, query=per is not None or request.judged))
    plan.check_pooled(COLUMNS[kind])
    check_no_threshold(plan.conventions)
    query = [f"query:{i}" for i in range(len(plan.columns.query))] if per else []

    def compute(rows: Reading) -> Answer:
        return drawn(
            rows.binary(),
            kind,
            query=query,
            levels=at,
            interpolated=interpolated,
            points=points,
            bins=bins or 10,
        )

    columns: dict[str, Any] = dict.fromkeys(COLUMNS[kind], pl.Float64)
    if kind == "calibration" and not (plan.columns.weight and not plan.columns.query):
        columns["n"] = pl.Int64
    keys = plan.columns.keys if per and at is None else None
    return plan.answer_of_segments(compute, lambda types: columns, keys)


def _by_cutoff(request: Request, kind: str, per: Per | None, cutoffs: int | Sequence[int]) -> Any:
    """A ranked metric at each cutoff."""
    ((_, metric),) = one_of(read([kind[:-2]]))
    asked = [(f"{kind[:-2]}@{k}", metric @ k) for k in cutoffs_of(cutoffs)]
    plan = request.plan(request.needs(asked))
    check_asked(asked, plan)
    check_apart(plan.columns.keys, ("k", "value"))

    def compute(rows: Reading) -> Answer:
        found = measure(rows.log(), asked)
        whole = each_query(found, "long") if per else averaged(found, "macro", layout="long")
        return Answer(whole.keys, {name: whole.columns[name] for name in ("k", "value")})

    columns = {"k": pl.Int64, "value": pl.Float64}
    return plan.answer_of_segments(compute, lambda types: columns, plan.columns.keys if per else None)


def check(kind: str, options: dict[str, Any]) -> None:
    """Raise for a curve that does not exist, or an option that another curve has."""
    if not isinstance(kind, str) or not kind.endswith("@k"):
        check_choice("curve", kind, list(COLUMNS))
    of = {"levels": ("pr",), "interpolated": ("pr",), "points": ("roc", "pr", "gain"), "bins": ("calibration",)}
    for name, value in options.items():
        if value is None:
            continue
        if kind in COLUMNS if name == "cutoffs" else kind not in of[name]:
            raise BadValueError(f"{name}= is not for the curve {kind!r}")
        least = {"points": 3, "bins": 1}.get(name)
        if least and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise BadValueError(f"{name}={value!r} is not a whole number from {least}")
    if options["levels"] is not None and (options["points"] or options["interpolated"]):
        raise BadValueError("levels= reads off an interpolated curve, and leaves nothing to points= or interpolated=")


def drawn(
    cases: Cases,
    kind: str,
    *,
    query: Sequence[str] = (),
    levels: Sequence[float] | None = None,
    interpolated: bool = False,
    points: int | None = None,
    bins: int = 10,
) -> Answer:
    """Return the points of a curve for each segment, or each query.

    Parameters
    ----------
    query : the columns that tell the queries apart, where each has a curve.
    levels : recall levels at which precision is read off, the curves of queries then being averaged.
    """
    segments = segments_of(cases, query=query)
    if kind == "calibration":
        check_probability("curve('calibration')", cases.rows["score"], str(cases.columns.score))
        return _calibration(cases, segments, bins)
    every = points_of(cases, segments, scored_only=kind == "pr")
    if levels is not None:
        if not query:
            return _at_levels(segments, levels, *_heights(every, levels))
        return _mean_at_levels(cases, segments, every, levels)
    x, y = _axes(every, kind, interpolated=interpolated)
    if points is not None:
        arc = np.nan_to_num(x) + (np.log1p(every.tp + every.fp) if kind == "pr" else np.nan_to_num(y))
        at = thinned(every, arc, points)
        every, x, y = every.kept(at), x[at], y[at]
    return _answer(kind, segments, every.segment, pl.Series(every.threshold), number(x), number(y))


def _answer(kind: str, segments: Segments, segment: Array, *columns: pl.Series) -> Answer:
    """A curve's columns, each row with the keys of its segment."""
    return Answer(segments.key_rows(segment), dict(zip(COLUMNS[kind], columns, strict=True)))


def _axes(points: Points, kind: str, *, interpolated: bool) -> tuple[Array, Array]:
    """The two columns of a curve beside the threshold."""
    recall, rows = ratio(points.tp, points.each(points.positives)), points.tp + points.fp
    if kind == "roc":
        return ratio(points.fp, points.each(points.negatives)), recall
    if kind == "gain":
        return ratio(rows, points.each(points.positives + points.negatives)), recall
    precision = ratio(points.tp, rows)
    precision[points.first] = 1.0
    for part in points.spans() if interpolated else []:
        precision[part] = np.maximum.accumulate(precision[part][::-1])[::-1]
    return recall, precision


def _heights(points: Points, levels: Sequence[float]) -> tuple[Array, Array]:
    """The greatest precision at each recall level or a higher one, and its threshold, shape (segments, levels).

    Precision is 0 where recall does not get that far, NaN where nothing is relevant.
    """
    wanted, n = np.asarray(levels, np.float64), len(points.positives)
    height, threshold = np.zeros((n, len(wanted))), np.full((n, len(wanted)), np.nan)
    for part in points.spans():
        i = int(points.segment[part.start])
        tp, rows = points.tp[part][1:], (points.tp + points.fp)[part][1:]
        if not len(tp) or not points.positives[i]:
            continue
        precision = tp / rows
        best = np.maximum.accumulate(precision[::-1])[::-1]
        reached = np.searchsorted(tp, wanted * points.positives[i] * (1 - EQUAL))
        some = reached < len(tp)
        height[i, some] = best[reached[some]]
        source = np.minimum.accumulate(np.where(precision == best, np.arange(len(tp)), len(tp))[::-1])[::-1]
        threshold[i, some] = points.threshold[part][1:][source[reached[some]]]
    height[points.positives == 0] = np.nan
    return height, threshold


def _at_levels(segments: Segments, levels: Sequence[float], height: Array, threshold: Array) -> Answer:
    """A row for each segment and recall level."""
    level = pl.Series(np.tile(np.asarray(levels, np.float64), len(segments)))
    segment = np.repeat(np.arange(len(segments)), len(levels))
    return _answer("pr", segments, segment, number(threshold.ravel()), level, number(height.ravel()))


def _mean_at_levels(cases: Cases, queries: Segments, points: Points, levels: Sequence[float]) -> Answer:
    """The mean of the curves of queries, which has no thresholds."""
    segments = segments_of(cases)
    height, place = _heights(points, levels)[0], segments.place(queries.table)
    fill = cases.conventions.fill(iprec)
    height[points.positives == 0] = np.nan if fill is None else fill
    defined = ~np.isnan(height[:, 0])
    total = np.zeros((len(segments), len(levels)))
    np.add.at(total, place[defined], height[defined])
    mean = ratio(total, np.bincount(place[defined], minlength=len(segments))[:, None])
    return _at_levels(segments, levels, mean, np.full(mean.shape, np.nan))


def _calibration(cases: Cases, segments: Segments, bins: int) -> Answer:
    """Mean score and share of relevant rows, in bins of equal width; empty bins are left out."""
    sums = np.zeros((3, len(segments) * bins))
    edges = np.linspace(0, 1, bins + 1)[1:-1]

    def work(at: Array, scores: Scores) -> None:
        place = at[scores.query] * bins + np.searchsorted(edges, scores.probability)
        rows = scores.pos + scores.neg
        for i, values in enumerate((rows * scores.score, scores.pos, rows)):
            np.add.at(sums[i], place, values)

    scored(cases, segments, work)
    at = np.flatnonzero(sums[2])
    amount = number if cases.weighted else whole
    columns = (number(sums[0, at] / sums[2, at]), number(sums[1, at] / sums[2, at]), amount(sums[2, at]))
    return _answer("calibration", segments, at // bins, *columns)


def recall_levels(levels: Any) -> Sequence[float] | None:
    """Return recall levels: so many equal steps from 0 to 1, or as they are given."""
    if levels is None:
        return None
    if isinstance(levels, int) and not isinstance(levels, bool) and levels > 1:
        return [float(x) for x in np.linspace(0, 1, levels)]
    several = isinstance(levels, Sequence) and not isinstance(levels, str) and len(levels) > 0
    if several and all(isinstance(x, int | float) and math.isfinite(x) and 0 <= x <= 1 for x in levels):
        return [float(x) for x in levels]
    raise BadValueError(f"levels={levels!r} is not a number of recall levels from 2, or a list of some between 0 and 1")


def cutoffs_of(cutoffs: Any) -> Sequence[int]:
    """Return cutoffs: all up to a last one, or as they are given."""
    several = isinstance(cutoffs, Sequence) and not isinstance(cutoffs, str)
    if isinstance(cutoffs, bool) or not (several or isinstance(cutoffs, int)):
        raise BadValueError(f"cutoffs={cutoffs!r} is not a cutoff, or a list of them")
    ks: Sequence[int] = cutoffs if several else range(1, cutoffs + 1)
    if not len(ks) or len(set(ks)) < len(ks):
        raise BadValueError(f"cutoffs={cutoffs!r} names {'a cutoff twice' if len(ks) else 'no cutoff'}")
    return ks
