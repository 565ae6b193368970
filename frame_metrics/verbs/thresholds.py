"""Decisions at every threshold, and the choice of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.groups import Segments, segments_of
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError
from frame_metrics.inputs import Array, Confusion
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, read
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.needs import Needs
from frame_metrics.threads import in_threads
from frame_metrics.verbs.measure import check_parameters
from frame_metrics.verbs.points import EQUAL, Points, points_of
from frame_metrics.verbs.request import Plan, Reading, Request, check_wide, one_of
from frame_metrics.verbs.tidy import number, whole

COUNTS = ("tp", "fp", "fn", "tn")
STEP = 1 << 15  # thresholds: what their tables need stays in cache


def thresholds(request: Request, metrics: Sequence[str | Metric]) -> Any:
    """Answer ``irm.thresholds``, which has the parameters."""
    asked = read(metrics) if metrics else []
    plan = _plan(request, asked)

    def compute(rows: Reading) -> Answer:
        return every(rows.binary(), asked)

    return plan.answer_of_segments(compute, lambda types: schema(asked, plan.columns))


def best_threshold(request: Request, metric: str | Metric, subject_to: Mapping[str | Metric, float] | None) -> Any:
    """Answer ``irm.best_threshold``, which has the parameters."""
    ((name, wanted),) = one_of(read([metric]))
    limits = {}
    if subject_to is not None and not isinstance(subject_to, Mapping):
        raise BadValueError(f"subject_to={subject_to!r} is not a mapping from metrics to values")
    for given, bound in (subject_to or {}).items():
        ((text, limit),) = one_of(read([given]))
        if isinstance(bound, bool) or not isinstance(bound, int | float) or bound != bound:
            raise BadValueError(f"subject_to: {text}={bound!r} is not a number")
        limits[text] = (limit, float(bound))
    asked = [(name, wanted), *((text, limit) for text, (limit, _) in limits.items() if text != name)]
    for text, one in asked:
        if one.higher is None:
            raise NotComputableError(f"{text}: no value of it is better than another")
    plan = _plan(request, asked)

    def compute(rows: Reading) -> Answer:
        return best(rows.binary(), name, wanted, limits)

    return plan.answer_of_segments(compute, lambda types: schema(asked, plan.columns))


def _plan(request: Request, asked: Asked) -> Plan:
    """The columns that a threshold is compared with."""
    plan = request.plan(Needs(score=True, query=request.judged))
    check_thresholds(asked, plan.conventions)
    check_no_threshold(plan.conventions)
    plan.check_pooled(("threshold", *COUNTS))
    for name, _ in asked:
        if name in ("threshold", *COUNTS):
            raise BadValueError(f"{name!r} is a column of the result already")
    check_wide(asked, plan.columns, "wide")
    return plan


def check_no_threshold(conventions: Conventions) -> None:
    """Raise for one threshold where every threshold is looked at."""
    if conventions.threshold is not None:
        raise ColumnError("threshold= is one threshold, and every threshold is looked at; say threshold=None")


def check_thresholds(asked: Asked, conventions: Conventions) -> None:
    """Raise for a metric that no threshold decides."""
    for name, metric in asked:
        if metric.input is not Confusion or metric.k is not None:
            raise NotComputableError(f"{name} is no measure of the 2x2 table, which a threshold makes")
        check_parameters(name, metric)
        if metric.average is not None or {"rel", "judged_only"} & set(metric.params):
            raise NotComputableError(f"{name}: gm_, rel= and judged_only= are for the results of queries")
    if conventions.undefined == "raise":
        raise NotComputableError("undefined='raise': at the first threshold nothing is predicted; say 'null' or 'zero'")


def every(cases: Cases, asked: Asked) -> Answer:
    """Return one row per segment and threshold, with its table and the metrics."""
    segments = segments_of(cases)
    points = points_of(cases, segments, scored_only=True)
    values = at_thresholds(points, asked, cases.conventions)
    return _rows(cases.weighted, segments, points, asked, values)


def at_thresholds(points: Points, asked: Asked, conventions: Conventions) -> Array:
    """Compute measures of the 2x2 table at every point, NaN where they stay null, shape (metrics, points)."""
    out = np.empty((len(asked), len(points.tp)))

    def work(part: slice) -> None:
        table = points.table(part)
        for i, (name, metric) in enumerate(asked):
            out[i, part] = conventions.filled(name, metric, metric.compute(table))

    in_threads((slice(a, a + STEP) for a in range(0, len(points.tp), STEP)), work)
    return out


def _rows(weighted: bool, segments: Segments, points: Points, asked: Asked, values: Array) -> Answer:
    """Points, their tables and metrics, as columns."""
    positives, negatives = points.each(points.positives), points.each(points.negatives)
    counts = {"tp": points.tp, "fp": points.fp, "fn": positives - points.tp, "tn": negatives - points.fp}
    amount = number if weighted else whole
    columns = {"threshold": pl.Series(points.threshold), **{name: amount(count) for name, count in counts.items()}}
    columns |= {name: number(value) for (name, _), value in zip(asked, values, strict=True)}
    return Answer(segments.key_rows(points.segment), columns)


def best(cases: Cases, name: str, metric: Metric, limits: Mapping[str, tuple[Metric, float]]) -> Answer:
    """Return the best threshold of each segment, of equal ones the highest.

    Parameters
    ----------
    limits : for each constraint its metric and the value to reach, or not to pass, by the metric's own direction.
    """
    segments = segments_of(cases)
    points = points_of(cases, segments, scored_only=True)
    asked = [(name, metric), *((other, limit) for other, (limit, _) in limits.items() if other != name)]
    values = at_thresholds(points, asked, cases.conventions)
    by_name = dict(zip([one for one, _ in asked], values, strict=True))
    score = values[0] if metric.higher else -values[0]
    allowed = np.ones(len(score), bool)
    for other, (limit, bound) in limits.items():
        allowed &= by_name[other] >= bound - EQUAL if limit.higher else by_name[other] <= bound + EQUAL
    chosen = []
    for part in points.spans():
        usable = allowed[part] & ~np.isnan(score[part])
        if not usable.any():
            text = segments.text(int(points.segment[part.start]))
            where = "" if text is None else f" in segment {text}"
            if allowed[part].any():
                beside = f" that meets {', '.join(limits)}" if limits else ""
                raise NotComputableError(f"{name} is undefined at every threshold{beside}{where}")
            raise _unmet({other: v[part] for other, v in by_name.items()}, limits, where)
        top = score[part][usable].max()
        chosen.append(part.start + int(np.argmax(usable & (score[part] >= top - EQUAL))))
    at = np.array(chosen, np.int64)
    return _rows(cases.weighted, segments, points.kept(at), asked, values[:, at])


def _unmet(values: dict[str, Array], limits: Mapping[str, tuple[Metric, float]], where: str) -> NotComputableError:
    """The error that says what is asked of the thresholds, and the best that can be had of each beside the others."""
    meets = {
        other: values[other] >= bound - EQUAL if limit.higher else values[other] <= bound + EQUAL
        for other, (limit, bound) in limits.items()
    }
    said = []
    for other, (limit, bound) in limits.items():
        beside = np.all([meets[one] for one in limits if one != other] or [np.ones(len(meets[other]), bool)], axis=0)
        here = values[other][beside] if beside.any() else values[other]
        here = here[~np.isnan(here)]
        best = "undefined" if not len(here) else f"{here.max() if limit.higher else here.min():.6g}"
        said.append(f"{other} {'>=' if limit.higher else '<='} {bound:g} (the best that can be had is {best})")
    each = ", each where the others hold" if len(said) > 1 else ""
    return NotComputableError(f"no threshold meets {' and '.join(said)}{each}{where}")


def schema(asked: Asked, columns: Columns) -> dict[str, Any]:
    """Return the columns of a result and their polars types, known before anything is read."""
    count = pl.Float64 if columns.weight and not columns.query else pl.Int64
    return {"threshold": pl.Float64} | dict.fromkeys(COUNTS, count) | {name: pl.Float64 for name, _ in asked}
