"""The verb curve: the points of curves of scores, and of ranked metrics by cutoff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.groups import Segments, segments_of
from frame_metrics.data.segments import scored
from frame_metrics.errors import BadValueError, check_apart, check_choice, shown
from frame_metrics.inputs import Array, Scores, ratio
from frame_metrics.metrics.names import read
from frame_metrics.metrics.ranking import iprec
from frame_metrics.roles.needs import Needs
from frame_metrics.verbs.measure import check_asked, check_probability, measure
from frame_metrics.verbs.request import Reading, Request, one_of
from frame_metrics.verbs.thresholds import EQUAL, Points, check_no_threshold, points_of
from frame_metrics.verbs.tidy import averaged, each_query, number, whole

COLUMNS = {
    "roc": ("threshold", "fpr", "tpr"),
    "pr": ("threshold", "recall", "precision"),
    "gain": ("threshold", "share", "gain"),
    "calibration": ("predicted", "observed", "n"),
}
MOST_LEVELS = MOST_CUTOFFS = 10**6
Per = Literal["query"]


@dataclass(frozen=True)
class Options:
    """Options of curves; the verb has the parameters."""

    per: Per | None
    levels: int | Sequence[float] | None
    interpolated: bool
    points: int | None
    bins: int | None
    cutoffs: int | Sequence[int] | None


def curve(request: Request, kind: str, options: Options) -> Any:
    """Answer ``irm.curve``, which has the parameters."""
    _check(kind, options)
    if kind not in COLUMNS:
        return _by_cutoff(request, kind, options)
    levels = _recall_levels(options.levels)
    per = options.per is not None
    plan = request.plan(Needs(score=True, query=per or request.judged))
    plan.check_pooled(COLUMNS[kind])
    check_no_threshold(plan.conventions)
    columns: dict[str, Any] = dict.fromkeys(COLUMNS[kind], pl.Float64)
    if kind == "calibration" and not (plan.columns.weight and not plan.columns.query):
        columns["n"] = pl.Int64
    keys = plan.columns.keys if per and levels is None else None
    return plan.answer_of_segments(
        lambda reading: _drawn(reading.binary(queries=per), kind, options, levels), lambda types: columns, keys
    )


def _by_cutoff(request: Request, kind: str, options: Options) -> Any:
    """A ranked metric at each cutoff."""
    ((_, metric),) = one_of(read([kind[:-2]]))
    asked = [(f"{kind[:-2]}@{k}", metric @ k) for k in _cutoffs(10 if options.cutoffs is None else options.cutoffs)]
    plan = request.plan(request.needs(asked))
    check_asked(asked, plan)
    columns = {"k": pl.Int64, "value": pl.Float64}
    check_apart(plan.columns.keys, columns)

    def compute(reading: Reading) -> Answer:
        measured = measure(reading.log(), asked)
        rows = each_query(measured) if options.per else averaged(measured)
        return Answer(rows.keys, {name: rows.columns[name] for name in columns})

    return plan.answer_of_segments(compute, lambda types: columns, plan.columns.keys if options.per else None)


def _check(kind: str, options: Options) -> None:
    """Raise for a curve that does not exist, or an option that another curve has."""
    if not isinstance(kind, str) or not kind.endswith("@k"):
        check_choice("curve", kind, list(COLUMNS))
    of = {"levels": ("pr",), "interpolated": ("pr",), "points": ("roc", "pr", "gain"), "bins": ("calibration",)}
    for name in (*of, "cutoffs"):
        value = getattr(options, name)
        if value is None or (name == "interpolated" and not value):
            continue
        if kind in COLUMNS if name == "cutoffs" else kind not in of[name]:
            raise BadValueError(f"{name}= is not for the curve {kind!r}")
        least = {"points": 3, "bins": 1}.get(name)
        if least and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise BadValueError(f"{name}={value!r} is not a whole number from {least}")
    if options.levels is not None and (options.points or options.interpolated):
        raise BadValueError("levels= reads off an interpolated curve, and leaves nothing to points= or interpolated=")
    if not isinstance(options.interpolated, bool):
        raise BadValueError(f"interpolated={options.interpolated!r} is not True or False")
    if options.per is not None:
        check_choice("per", options.per, get_args(Per))


def _drawn(cases: Cases, kind: str, options: Options, levels: Sequence[float] | None) -> Answer:
    """Return the points of a curve for each segment, or each query; at ``levels`` of recall the curves are averaged."""
    segments = segments_of(cases.cells, queries=options.per is not None)
    if kind == "calibration":
        check_probability("curve('calibration')", cases.rows["score"], str(cases.columns.score))
        return _calibration(cases, segments, options.bins or 10)
    points = points_of(cases, segments, scored_only=kind == "pr")
    if levels is not None:
        if options.per is None:
            return _at_levels(segments, levels, *_heights(points, levels))
        return _mean_at_levels(cases, segments, points, levels)
    x, y = _axes(points, kind, interpolated=options.interpolated)
    if options.points is not None:
        arc = np.nan_to_num(x) + (np.log1p(points.tp + points.fp) if kind == "pr" else np.nan_to_num(y))
        at = _thinned(points, arc, options.points)
        points, x, y = points.kept(at), x[at], y[at]
    return _answer(kind, segments, points.segment, pl.Series(points.threshold), number(x), number(y))


def _thinned(points: Points, arc: Array, most: int) -> Array:
    """Choose at most so many points of each segment: the last in each of equal stretches of a rising arc."""
    kept = []
    for span in points.spans():
        here = arc[span]
        if len(here) <= most:
            kept.append(np.arange(span.start, span.stop))
            continue
        width = (here[-1] - here[0]) / (most - 2)
        stretch = np.minimum(((here - here[0]) / width).astype(np.int64), most - 3)
        last = np.append(np.flatnonzero(np.diff(stretch)), len(here) - 1)
        kept.append(span.start + np.unique(np.concatenate([[0], last])))
    return np.concatenate(kept) if kept else np.zeros(0, np.int64)


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
    for span in points.spans() if interpolated else []:
        precision[span] = np.maximum.accumulate(precision[span][::-1])[::-1]
    return recall, precision


def _heights(points: Points, levels: Sequence[float]) -> tuple[Array, Array]:
    """The greatest precision at each recall level or a higher one, and its threshold, shape (segments, levels).

    Precision is 0 where recall does not get that far, NaN where nothing is relevant.
    """
    wanted, n = np.asarray(levels, np.float64), len(points.positives)
    height, threshold = np.zeros((n, len(wanted))), np.full((n, len(wanted)), np.nan)
    for span in points.spans():
        i = int(points.segment[span.start])
        tp, rows = points.tp[span][1:], (points.tp + points.fp)[span][1:]
        if not len(tp) or not points.positives[i]:
            continue
        precision = tp / rows
        best = np.maximum.accumulate(precision[::-1])[::-1]
        reached = np.searchsorted(tp, wanted * points.positives[i] * (1 - EQUAL))
        some = reached < len(tp)
        height[i, some] = best[reached[some]]
        source = np.minimum.accumulate(np.where(precision == best, np.arange(len(tp)), len(tp))[::-1])[::-1]
        threshold[i, some] = points.threshold[span][1:][source[reached[some]]]
    height[points.positives == 0] = np.nan
    return height, threshold


def _at_levels(segments: Segments, levels: Sequence[float], height: Array, threshold: Array) -> Answer:
    """A row for each segment and recall level."""
    level = pl.Series(np.tile(np.asarray(levels, np.float64), len(segments)))
    segment = np.repeat(np.arange(len(segments)), len(levels))
    return _answer("pr", segments, segment, number(threshold.ravel()), level, number(height.ravel()))


def _mean_at_levels(cases: Cases, queries: Segments, points: Points, levels: Sequence[float]) -> Answer:
    """The mean of the curves of queries, which has no thresholds."""
    segments = segments_of(cases.cells)
    height, place = _heights(points, levels)[0], segments.place[queries.first]
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


def _recall_levels(levels: Any) -> Sequence[float] | None:
    """Return recall levels: as many in equal steps from 0 to 1, or those given."""
    if levels is None:
        return None
    if isinstance(levels, int) and not isinstance(levels, bool) and 1 < levels <= MOST_LEVELS:
        return [float(x) for x in np.linspace(0, 1, levels)]
    several = isinstance(levels, Sequence) and not isinstance(levels, str) and len(levels) > 0
    if several and all(isinstance(x, int | float) and 0 <= x <= 1 for x in levels):
        return [float(x) for x in levels]
    raise BadValueError(
        f"levels={shown(levels)} is not a number of recall levels from 2, or a list of some between 0 and 1"
    )


def _cutoffs(cutoffs: Any) -> Sequence[int]:
    """Return cutoffs: all up to the last one, or those given."""
    several = isinstance(cutoffs, Sequence) and not isinstance(cutoffs, str)
    if isinstance(cutoffs, bool) or not (several or isinstance(cutoffs, int)):
        raise BadValueError(f"cutoffs={shown(cutoffs)} is not a cutoff, or a list of them")
    if not several and cutoffs > MOST_CUTOFFS:
        raise BadValueError(f"cutoffs={shown(cutoffs)} are more than 10**6; give a list of some")
    ks: Sequence[int] = cutoffs if several else range(1, cutoffs + 1)
    if not len(ks) or len(set(ks)) < len(ks):
        raise BadValueError(f"cutoffs={cutoffs!r} names {'a cutoff twice' if len(ks) else 'no cutoff'}")
    return ks
