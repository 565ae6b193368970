"""The verb curve: points of curves over thresholds (roc, pr ...), and of ranking metrics over cutoffs (ndcg@k)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.segments import each_scored_block
from frame_metrics.errors import (
    BadValueError,
    NotComputableError,
    check_bool,
    check_choice,
    check_key_names,
    check_once,
    check_whole,
    listed,
    quote,
)
from frame_metrics.inputs import Array, FullScores, ratio
from frame_metrics.inputs.bins import N_BINS, QUANTILE
from frame_metrics.keys.groups import CellGroups, segments_of
from frame_metrics.measuring.decided import binary_read
from frame_metrics.measuring.points import EQUAL, Points, points_of
from frame_metrics.measuring.probabilities import check_scores
from frame_metrics.measuring.results import (
    EvaluateOptions,
    IntervalOptions,
    averaged,
    float_column,
    integer_column,
    query_rows,
)
from frame_metrics.measuring.values_of_source import values_of_source
from frame_metrics.metrics.metric import TAKES_TOP, Metric
from frame_metrics.metrics.names import read
from frame_metrics.metrics.parameters import is_number, plain
from frame_metrics.metrics.ranking import iprec
from frame_metrics.plan.call import bind
from frame_metrics.plan.checks import check_asked, single_metric
from frame_metrics.plan.declared import CURVE_OF_CUTOFFS, CURVE_OF_SCORES
from frame_metrics.plan.needs import Needs, needs_of
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.plan.verb import check_options
from frame_metrics.stats.averages import sums_within

COLUMNS_OF_CURVES = {
    "roc": ("threshold", "fpr", "tpr"),
    "pr": ("threshold", "recall", "precision"),
    "gain": ("threshold", "share", "gain"),
    "calibration": ("predicted", "observed", "n"),
    "distribution": ("bin", "low", "high", "label", "n"),
}
TYPES = {"k": pl.Int64, "bin": pl.Int64, "label": pl.Boolean, "n": pl.Int64}  # types of columns that are not floats
OF_SCORES = ("calibration", "distribution")  # curves that need scores, not ranks
CTR = "position_ctr@k"  # the metric of the curve "ctr"
LABELS = (False, True, None)  # labels of rows; None: unjudged
BINS = 10
MOST_LEVELS = MOST_CUTOFFS = 10**6
PerQuery = Literal["query"]


@dataclass(frozen=True, kw_only=True)
class CurveOptions(IntervalOptions):
    """Options of ``curve``, which documents them."""

    per: PerQuery | None = None
    levels: int | Sequence[float] | None = None
    interpolated: bool = False
    points: int | None = None
    bins: int | Literal["quantile"] | None = None
    cutoffs: int | Sequence[int] | None = None

    def __post_init__(self) -> None:
        """Raise for values that the options cannot have, and for two that do not go together; nothing is read."""
        check_bool("interpolated", self.interpolated)
        for name, least in (("points", 3), ("bins", 1)):
            if getattr(self, name) is not None and (name, getattr(self, name)) != ("bins", QUANTILE):
                check_whole(name, getattr(self, name), least)
        if self.per is not None:
            check_choice("per", self.per, get_args(PerQuery))
        super().__post_init__()


def curve(plan: Plan, kinds: Sequence[str], options: CurveOptions) -> Any:
    """Implement ``irm.curve``, whose docstring has the parameters."""
    counted = len(kinds) == 1 and _is_ctr(kinds[0]) and options.per is None
    kinds = [CTR if _is_ctr(kind) else kind for kind in kinds]
    for kind in kinds:
        _check(kind, options)
    check_options(CURVE_OF_CUTOFFS, options)
    of_cutoffs = [kind for kind in kinds if kind not in COLUMNS_OF_CURVES]
    _check_curves(kinds, of_cutoffs)
    if of_cutoffs:
        return _by_cutoff(plan, kinds, options, counted=counted)
    kind, per, levels = kinds[0], options.per is not None, _recall_levels(options.levels)
    # If only ranks are named, not scores, a point is a cutoff in ranks instead of a threshold.
    ranked = kind not in OF_SCORES and plan.columns.score is None and plan.columns.rank is not None
    query = per or ranked or plan.judgments_not_in_rows
    call = bind(plan, Needs(query=query, order=ranked, score=not ranked, verb=CURVE_OF_SCORES))
    types: dict[str, Any] = {name: TYPES.get(name, pl.Float64) for name in _columns(kind, ranked=ranked)}
    check_key_names(call.columns.keys, types)
    if kind in OF_SCORES and call.columns.weight:
        types["n"] = pl.Float64

    def compute(source: Source) -> Answer:
        cases = binary_read(source, queries=per, ranks=ranked, unjudged=kind == "distribution")
        return _points_of_curve(cases, kind, options, levels)

    keys = call.columns.keys if per and levels is None else call.columns.cell_keys
    return answer_of(call, compute, lambda _: types, keys=keys)


def _is_ctr(kind: Any) -> bool:
    return isinstance(kind, str) and kind == "ctr"


def _columns(kind: str, *, ranked: bool) -> tuple[str, ...]:
    """Return the columns of a curve; ``ranked``: whether it has cutoffs "k" instead of thresholds."""
    return ("k", *COLUMNS_OF_CURVES[kind][1:]) if ranked else COLUMNS_OF_CURVES[kind]


def _by_cutoff(plan: Plan, kinds: Sequence[str], options: CurveOptions, *, counted: bool) -> Any:
    """Return ranking metrics at each cutoff; ``counted``: whether a column has the number of queries with a value."""
    cutoffs = _cutoffs(10 if options.cutoffs is None else options.cutoffs)
    asked: list[tuple[str, Metric]] = []
    of: dict[str, str] = {}
    for kind in kinds:
        ((_, metric),) = single_metric(read([kind[:-2]]))
        if metric.at == "recall" or metric.cutoff is not None:
            has = "@ sets its recall level" if metric.at == "recall" else "it has a cutoff already"
            raise BadValueError(f"curve({quote(kind)}): {has}; k is each cutoff in ranks, as in 'ndcg@k'")
        mine = [(f"{kind[:-2]}@{k}", metric @ k) for k in cutoffs]
        asked, of = asked + mine, of | {name: kind for name, _ in mine}
    check_once("cutoffs", cutoffs)
    call = bind(plan, needs_of(plan, asked) | Needs(verb=CURVE_OF_CUTOFFS))
    check_asked(asked, call)
    # The columns of the result.
    columns: dict[str, Any] = {} if len(kinds) == 1 else {"metric": pl.String}
    columns |= {"k": pl.Int64, "value": pl.Float64} | ({"n": pl.Int64} if counted else {})
    columns |= {} if options.ci is None else {"ci_low": pl.Float64, "ci_high": pl.Float64}
    check_key_names(call.columns.keys, columns)
    averages = EvaluateOptions(ci=options.ci, resamples=options.resamples, seed=options.seed)

    def compute(source: Source) -> Answer:
        measured = values_of_source(source, asked, queries=options.per is not None or options.ci is not None)
        rows = query_rows(measured) if options.per else averaged(measured, averages)
        values = {**rows.columns, "metric": rows.columns["metric"].replace_strict(of, return_dtype=pl.String)}
        return replace(rows, columns={name: values[name] for name in columns})

    keys = call.columns.keys if options.per else call.columns.cell_keys
    return answer_of(call, compute, lambda types: columns, keys=keys)


def _check_curves(kinds: Sequence[str], of_cutoffs: Sequence[str]) -> None:
    """Raise for no curve, for curves whose columns do not fit into one frame, and for one that is named twice."""
    if not of_cutoffs and len(kinds) != 1:
        wrong = f"{quote(list(kinds))} have columns of their own" if kinds else "no curve is named"
        raise BadValueError(f"curve: {wrong}; ask for one, or for metrics at cutoffs as 'ndcg@k', 'recall@k'")
    if of_cutoffs and len(of_cutoffs) < len(kinds):
        other = next(kind for kind in kinds if kind in COLUMNS_OF_CURVES)
        raise BadValueError(f"curve: {quote(other)} has columns of its own; ask for it apart from {of_cutoffs[0]!r}")
    check_once("curve", kinds)


def _check(kind: str, options: CurveOptions) -> None:
    """Raise for an unknown curve, and for an option of another curve."""
    if not isinstance(kind, str) or not kind.endswith("@k"):
        if isinstance(kind, str) and kind.lower() in TAKES_TOP and kind not in COLUMNS_OF_CURVES:
            raise NotComputableError(
                f"curve({quote(kind)}): a curve is one of {listed([*COLUMNS_OF_CURVES])}; {quote(kind)} at each "
                f"threshold is thresholds({quote(kind)})"
            )
        check_choice("curve", kind, [*COLUMNS_OF_CURVES, "ctr", "ndcg@k"])
    of = {"levels": ("pr",), "interpolated": ("pr",), "points": ("roc", "pr", "gain"), "bins": OF_SCORES}
    for name in (*of, "cutoffs", "ci"):
        given = options.interpolated if name == "interpolated" else getattr(options, name) is not None
        meant = kind in of[name] if name in of else kind not in COLUMNS_OF_CURVES
        if given and not meant:
            raise BadValueError(f"{name}= is not for the curve {quote(kind)}")
    if options.bins == QUANTILE and kind != "calibration":
        raise BadValueError(f"bins='quantile' is for the curve 'calibration'; give {quote(kind)} a number of bins")


def _points_of_curve(cases: Cases, kind: str, options: CurveOptions, levels: Sequence[float] | None) -> Answer:
    """Return the points of a curve over thresholds, for each segment or each query.

    With ``levels`` the curve is read off at these recall levels; with ``per="query"`` too, the curves are averaged.
    """
    segments = segments_of(cases.cells, queries=options.per is not None)
    if kind == "calibration":
        check_scores("curve('calibration')", cases)
        if options.bins == QUANTILE and cases.weighted:
            raise NotComputableError(
                f"bins='quantile' counts rows, and {cases.columns.weight} weighs them; pass weight=None, or bins={BINS}"
            )
        return _calibration(cases, segments, options.bins or BINS)
    if kind == "distribution":
        return _distribution(cases, segments, int(options.bins or BINS))
    points = points_of(cases, segments, scored_only=kind == "pr")
    if levels is not None:
        height, threshold = _precision_at_levels(points, levels)
        if options.per is not None:
            segments, height, threshold = _averaged(cases, segments, height)
        segment, level = np.repeat(np.arange(len(segments)), len(levels)), np.tile(levels, len(segments))
        return _points_as_answer("pr", segments, segment, threshold.ravel(), level, height.ravel())
    x, y = _axes(points, kind, interpolated=options.interpolated)
    if options.points is not None:
        arc = np.nan_to_num(x) + (np.log1p(points.tp + points.fp) if kind == "pr" else np.nan_to_num(y))
        at = _evenly_chosen(points, arc, options.points)
        points, x, y = points.select(at), x[at], y[at]
    return _points_as_answer(kind, segments, points.segment, points.threshold, x, y)


def _evenly_chosen(points: Points, arc: Array, most: int) -> Array:
    """Choose at most ``most`` points of each segment, evenly along the curve.

    The curve is cut into stretches of equal length of ``arc``, and the last point of each is kept.

    Parameters
    ----------
    arc : a coordinate that rises along the curve of each segment, shape (points,).
    most : the number of points to keep at most.

    Returns
    -------
    The positions of the points that are kept.
    """
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


def _points_as_answer(kind: str, segments: CellGroups, segment: Array, threshold: Array, x: Array, y: Array) -> Answer:
    """Return the points of a curve as an answer.

    If only ranks are named, thresholds become cutoffs: 0 where nothing is predicted, null where all rows are.

    Parameters
    ----------
    segment : the number of the segment of each point.
    threshold, x, y : the coordinates of each point.
    """
    ranked, reached = segments.cells.columns.score is None, float_column(threshold)
    if ranked:
        cutoff = np.where(threshold == np.inf, 0, -threshold)
        reached = float_column(np.where(np.isfinite(cutoff), cutoff, np.nan)).cast(pl.Int64)
    return _answer(_columns(kind, ranked=ranked), segments, segment, reached, float_column(x), float_column(y))


def _answer(names: Sequence[str], segments: CellGroups, segment: Array, *columns: pl.Series) -> Answer:
    """Return named columns of a curve as an answer, with the keys of the segment of each row."""
    return Answer(segments.key_rows(segment), dict(zip(names, columns, strict=True)), table=segments.cells.key_table)


def _axes(points: Points, kind: str, *, interpolated: bool) -> tuple[Array, Array]:
    """Return the two coordinates of a curve at each point, such as fpr and tpr."""
    recall = ratio(points.tp, points.each(points.positives))
    if kind == "roc":
        return ratio(points.fp, points.each(points.negatives)), recall
    rows = points.tp + points.fp
    if kind == "gain":
        return ratio(rows, points.each(points.positives + points.negatives)), recall
    precision = ratio(points.tp, rows)
    precision[points.first] = 1.0
    for span in points.spans() if interpolated else []:
        precision[span] = np.maximum.accumulate(precision[span][::-1])[::-1]
    return recall, precision


def _precision_at_levels(points: Points, levels: Sequence[float]) -> tuple[Array, Array]:
    """Return the interpolated precision at recall levels, and its threshold, shape (segments, levels) each.

    It is the greatest precision at the level or at a higher recall; 0 if that recall is never reached, NaN if nothing
    is relevant.
    """
    wanted, n = np.asarray(levels, np.float64), len(points.positives)
    height, threshold = np.zeros((n, len(wanted))), np.full((n, len(wanted)), np.nan)
    for span in points.spans():
        i = int(points.segment[span.start])
        tp, fp = points.tp[span][1:], points.fp[span][1:]
        if not len(tp) or not points.positives[i]:
            continue
        precision = tp / (tp + fp)
        best = np.maximum.accumulate(precision[::-1])[::-1]
        reached = np.searchsorted(tp, wanted * points.positives[i] * (1 - EQUAL))
        some = reached < len(tp)
        height[i, some] = best[reached[some]]
        source = np.minimum.accumulate(np.where(precision == best, np.arange(len(tp)), len(tp))[::-1])[::-1]
        threshold[i, some] = points.threshold[span][1:][source[reached[some]]]
    height[points.positives == 0] = np.nan
    return height, threshold


def _averaged(cases: Cases, queries: CellGroups, height: Array) -> tuple[CellGroups, Array, Array]:
    """Average the curves of queries in each segment.

    Parameters
    ----------
    cases : the documents of the queries.
    queries : the queries, each as a group.
    height : the precision of each query at each level, NaN if nothing is relevant, shape (queries, levels).

    Returns
    -------
    The segments, the mean precision, and NaN for thresholds, which a mean does not have; shape (segments, levels) each.
    """
    segments = segments_of(cases.cells)
    of_levels = [cases.conventions.filled("curve('pr')", iprec, level, whose="queries") for level in height.T]
    height, place = np.stack(of_levels, axis=1), segments.group_of_cell[queries.first]
    defined = ~np.isnan(height[:, 0])
    total = sums_within(place[defined], len(segments), height[defined].T).T
    mean = ratio(total, np.bincount(place[defined], minlength=len(segments))[:, None])
    return segments, mean, np.full(mean.shape, np.nan)


def _calibration(cases: Cases, segments: CellGroups, bins: int | str) -> Answer:
    """Return the mean score and the share of relevant rows in bins; empty bins are left out."""
    sums = np.zeros((3, len(segments), N_BINS if isinstance(bins, str) else bins))

    def work(at: Array, scores: FullScores) -> None:
        binned = scores.bins(bins)
        sums[:, at] = binned.score, binned.relevant, binned.n

    each_scored_block(cases, segments, work)
    segment, at = np.nonzero(sums[2])
    score, relevant, n = sums[:, segment, at]
    amount = float_column if cases.weighted else integer_column
    columns = (float_column(score / n), float_column(relevant / n), amount(n))
    return _answer(COLUMNS_OF_CURVES["calibration"], segments, segment, *columns)


def _distribution(cases: Cases, segments: CellGroups, bins: int) -> Answer:
    """Count rows by bin of their score and by label; the last bin is for rows without a score."""
    rows = cases.counted_rows
    score, place = rows["score"].cast(pl.Float64).fill_null(np.nan).to_numpy(), segments.of(rows)
    edges = _edges(score[(place >= 0) & ~np.isnan(score)], bins)
    at = np.where(np.isnan(score), bins, np.searchsorted(edges[1:-1], score))
    label = rows["actual"].cast(pl.Int64).fill_null(2).to_numpy()
    cell = ((place * (bins + 1) + at) * len(LABELS) + label)[place >= 0]
    weight = rows["weight"].to_numpy()[place >= 0] if cases.sums_weights else None
    shape = len(segments), bins + 1, len(LABELS)
    n = np.bincount(cell, weight, minlength=math.prod(shape)).reshape(shape)
    counted = n > 0
    counted[:, :bins, :2] = True  # every bin has a row for each of the two labels, even with a count of 0
    counted[:, :bins, 2] = counted[:, :, 2].any()
    segment, at, label = np.nonzero(counted)
    low, high = (float_column(np.append(ends, np.nan)[at]) for ends in (edges[:-1], edges[1:]))
    which = pl.Series(LABELS, dtype=pl.Boolean).gather(label)
    numbers = integer_column(at + 1).set(pl.Series(at == bins), None)
    rows_of = (float_column if cases.weighted else integer_column)(n[counted])
    return _answer(COLUMNS_OF_CURVES["distribution"], segments, segment, numbers, low, high, which, rows_of)


def _edges(score: Array, bins: int) -> Array:
    """Return the edges of bins of equal width, from the least score to the greatest, shape (bins + 1,)."""
    low, high = (score.min(), score.max()) if len(score) else (0.0, 1.0)
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return 2 * np.linspace(low / 2, high / 2, bins + 1)  # halved, because high - low may overflow


def _recall_levels(given: Any) -> Sequence[float] | None:
    """Return the recall levels of ``levels=``: a number of them means equal steps from 0 to 1."""
    levels = plain(given)
    if levels is None:
        return None
    if isinstance(levels, int) and not isinstance(levels, bool) and 1 < levels <= MOST_LEVELS:
        return [float(x) for x in np.linspace(0, 1, levels)]
    if _is_list(levels) and len(levels) and all(is_number(x) and 0 <= x <= 1 for x in levels):
        check_once("levels", levels)
        return [float(x) for x in levels]
    raise BadValueError(
        f"levels={quote(given)} is not a number of recall levels from 2, or a list of some between 0 and 1"
    )


def _cutoffs(given: Any) -> Sequence[int]:
    """Return the cutoffs of ``cutoffs=``: a single number means all up to it."""
    cutoffs = plain(given)
    if isinstance(cutoffs, bool) or not (_is_list(cutoffs) or isinstance(cutoffs, int)):
        raise BadValueError(f"cutoffs={quote(given)} is not a cutoff, or a list of them")
    if isinstance(cutoffs, int) and cutoffs > MOST_CUTOFFS:
        raise BadValueError(f"cutoffs={quote(given)} are more than 10**6; give a list of some")
    ks: Sequence[int] = range(1, cutoffs + 1) if isinstance(cutoffs, int) else cutoffs
    if not len(ks):
        raise BadValueError(f"cutoffs={quote(cutoffs)} names no cutoff")
    return ks


def _is_list(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str)
