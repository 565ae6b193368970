"""The verbs thresholds and best_threshold: the 2x2 table at every threshold, and the choice of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.errors import BadValueError, NotComputableError, check_key_names, quote
from frame_metrics.inputs import Array, FullConfusion
from frame_metrics.keys.groups import CellGroups, segments_of
from frame_metrics.measuring.decided import binary_read
from frame_metrics.measuring.points import EQUAL, Points, points_of
from frame_metrics.measuring.results import float_column, integer_column
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.metrics.parameters import is_number, plain
from frame_metrics.plan.call import bind
from frame_metrics.plan.checks import check_parameters, check_wide, single_metric
from frame_metrics.plan.declared import THRESHOLDS
from frame_metrics.plan.needs import Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import answer_of
from frame_metrics.roles.conventions import Conventions
from frame_metrics.threads import in_threads

COUNTS_OF_TABLE = ("tp", "fp", "fn", "tn")
STEP = 1 << 15  # thresholds that are computed at a time, so that their tables stay in the cache
Limits: TypeAlias = Mapping[str, tuple[Metric, float]]  # by name: a metric, and the value that it has to reach


def thresholds(plan: Plan, metrics: Sequence[Metrics]) -> Any:
    """Implement ``irm.thresholds``, whose docstring has the parameters."""
    asked = read(metrics) if metrics else []
    return _answer_of_points(plan, asked, _all_thresholds)


def best_threshold(plan: Plan, metric: str | Metric, subject_to: Mapping[str | Metric, float] | None) -> Any:
    """Implement ``irm.best_threshold``, whose docstring has the parameters."""
    ((name, wanted),) = single_metric(read([metric]))
    if subject_to is not None and not isinstance(subject_to, Mapping):
        raise BadValueError(f"subject_to={quote(subject_to)} is not a mapping from metrics to values")
    limits = {}
    for given, end in (subject_to or {}).items():
        ((text, limit),) = single_metric(read([given]))
        if text in limits:
            raise BadValueError(f"subject_to= names {quote(text)} twice")
        end = plain(end)
        if not is_number(end) or end != end:
            raise BadValueError(f"subject_to: {text}={quote(end)} is not a number")
        limits[text] = (limit, float(end))
    asked = [(name, wanted), *((text, limit) for text, (limit, _) in limits.items() if text != name)]
    for text, one in asked:
        if one.higher is None:
            raise NotComputableError(f"{text}: no value of it is better than another")
    return _answer_of_points(plan, asked, partial(_best, limits=limits))


def _answer_of_points(plan: Plan, asked: Asked, made: Callable[[Cases, Asked], Answer]) -> Any:
    """Check the call, and return the answer; ``made``: makes it from the rows, with the columns of ``thresholds``."""
    call = bind(plan, Needs(score=True, query=plan.judgments_not_in_rows, verb=THRESHOLDS))
    _check_thresholds(asked, call.conventions)
    check_key_names(call.columns.keys, ("threshold", *COUNTS_OF_TABLE))
    for name, _ in asked:
        if name in ("threshold", *COUNTS_OF_TABLE):
            raise BadValueError(f"{name!r} is a column of the result already")
    check_wide([name for name, _ in asked], call.columns)
    count = pl.Float64 if call.columns.weight else pl.Int64
    types = {"threshold": pl.Float64} | dict.fromkeys(COUNTS_OF_TABLE, count) | {name: pl.Float64 for name, _ in asked}
    keys = call.columns.cell_keys
    return answer_of(call, lambda source: made(binary_read(source), asked), lambda _: types, keys=keys)


def _check_thresholds(asked: Asked, conventions: Conventions) -> None:
    """Raise for a metric that is not computed from the 2x2 table at a threshold."""
    for name, metric in asked:
        if metric.input is not FullConfusion or metric.k is not None:
            raise NotComputableError(f"{name} cannot be computed from a threshold")
        check_parameters(name, metric)
        if metric.average is not None or {"rel", "judged_only"} & set(metric.params):
            raise NotComputableError(f"{name}: gm_, rel= and judged_only= are for the results of queries")
    if conventions.undefined == "raise":
        raise NotComputableError(
            "undefined='raise': at the first threshold nothing is predicted; pass 'null' or 'zero'"
        )


def _all_thresholds(cases: Cases, asked: Asked) -> Answer:
    """Return the answer of ``thresholds``: a row for each segment and threshold."""
    segments = segments_of(cases.cells)
    points = points_of(cases, segments, scored_only=True)
    values, empty = _at_points(points, asked, cases.conventions), _empty(points)
    return _rows(cases, segments, points, asked, np.where(empty, np.nan, values) if empty.any() else values)


def _at_points(points: Points, asked: Asked, conventions: Conventions) -> Array:
    """Compute metrics of the 2x2 table at every point, NaN for null, shape (metrics, points)."""
    out = np.empty((len(asked), len(points.tp)))

    def work(span: slice) -> None:
        table = points.table(span)
        for i, (name, metric) in enumerate(asked):
            out[i, span] = conventions.filled(name, metric, metric.compute(table))

    in_threads((slice(a, a + STEP) for a in range(0, len(points.tp), STEP)), work)
    return out


def _rows(cases: Cases, segments: CellGroups, points: Points, asked: Asked, values: Array) -> Answer:
    """Return points as an answer: the threshold, the 2x2 table, and the ``values`` of metrics."""
    positives, negatives = points.each(points.positives), points.each(points.negatives)
    counts = (points.tp, points.fp, positives - points.tp, negatives - points.fp)
    columns = {"threshold": float_column(points.threshold)}
    columns |= dict(zip(COUNTS_OF_TABLE, map(float_column if cases.weighted else integer_column, counts), strict=True))
    columns |= {name: float_column(value) for (name, _), value in zip(asked, values, strict=True)}
    return Answer(segments.key_rows(points.segment), columns, table=segments.cells.key_table)


def _best(cases: Cases, asked: Asked, limits: Limits) -> Answer:
    """Return the answer of ``best_threshold``: the threshold of each segment where the first metric is best.

    Of equally good thresholds it is the highest. A segment without rows gets nulls. Without a relevant row a metric
    that is the same at every threshold, as f1, chooses none: the threshold is null, and the table that of the highest.
    ``limits``: from ``subject_to=``.
    """
    (_, metric), segments = asked[0], segments_of(cases.cells)
    points = points_of(cases, segments, scored_only=True)
    values = _at_points(points, asked, cases.conventions)
    meets = [_meets(values[i], *limits[one]) for i, (one, _) in enumerate(asked) if one in limits]
    allowed = np.all([np.ones(len(points.tp), bool), *meets], axis=0)
    score = values[0] if metric.sign == 1 else values[0] * metric.sign
    nothing = points.positives + points.negatives == 0
    # The highest of the best usable thresholds of each segment.
    chosen, failed, alike = [], [], []
    for span in points.spans():
        segment = int(points.segment[span.start])
        usable = allowed[span] & ~np.isnan(score[span])
        if nothing[segment] or not usable.any():
            chosen.append(span.start)
            if not nothing[segment]:
                failed.append((segment, span))
            continue
        top = score[span][usable].max()
        known = score[span][~np.isnan(score[span])]  # of all thresholds, whatever limits they meet
        if not points.positives[segment] and np.ptp(known) <= EQUAL:
            alike.append(len(chosen))
        chosen.append(span.start + int(np.argmax(usable & (score[span] >= top - EQUAL))))
    if failed:
        first = {segment: _why_none(values, asked, limits, span, allowed) for segment, span in failed[:3]}
        raise _no_threshold(first, len(failed), segments)
    best = points.select(np.array(chosen, np.int64))
    empty = _empty(best)
    threshold = np.where(empty, np.nan, best.threshold)
    threshold[alike] = np.nan
    best = replace(best, threshold=threshold)
    return _rows(cases, segments, best, asked, np.where(empty, np.nan, values[:, chosen]))


def _empty(points: Points) -> Array:
    """Return True for each point of a segment without rows."""
    return (points.positives + points.negatives == 0)[points.segment]


def _no_threshold(first: Mapping[int, str], failed: int, segments: CellGroups) -> NotComputableError:
    """Return the error that counts the segments without a usable threshold, with the reasons of the first three."""
    if not segments.keys:
        return NotComputableError(first[0])
    reasons = [f"{segments.text(segment)}: {why}" for segment, why in first.items()]
    more = ["..."] if failed > 3 else []
    many = "1 segment has" if failed == 1 else f"{failed} of {len(segments)} segments have"
    return NotComputableError(f"{many} no such threshold ({'; '.join([*reasons, *more])})")


def _meets(values: Array, metric: Metric, bound: float) -> Array:
    return values >= bound - EQUAL if metric.higher else values <= bound + EQUAL


def _why_none(values: Array, asked: Asked, limits: Limits, span: slice, allowed: Array) -> str:
    """Return why a segment has no usable threshold: the limits, and the best value of each where the others are met.

    Parameters
    ----------
    values : values of the metrics at all points, shape (metrics, points).
    asked, limits : the metrics and the limits.
    span : the points of the segment.
    allowed : whether all limits are met at each point. If they are at some, the metric is undefined at these.
    """
    values = values[:, span]
    if allowed[span].any():
        beside = f" that meets {', '.join(limits)}" if limits else ""
        return f"{asked[0][0]} is undefined at every threshold{beside}"
    by_name = dict(zip([name for name, _ in asked], values, strict=True))
    meets = {name: _meets(by_name[name], *limit) for name, limit in limits.items()}
    texts = []
    for name, (limit, end) in limits.items():
        others = np.all([np.ones(len(meets[name]), bool), *(meets[one] for one in limits if one != name)], axis=0)
        here = by_name[name][others] if others.any() else by_name[name]
        here = here[~np.isnan(here)]
        best = "undefined" if not len(here) else f"{here.max() if limit.higher else here.min():.6g}"
        texts.append(f"{name} {'>=' if limit.higher else '<='} {end:g} (the best that can be had is {best})")
    each = ", each where the others hold" if len(texts) > 1 else ""
    return f"no threshold meets {' and '.join(texts)}{each}"
