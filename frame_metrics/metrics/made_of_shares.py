"""Metrics of rows that are shares of rows, or are made of shares, found by trying them on tables."""

from __future__ import annotations

from functools import cache

import numpy as np

from frame_metrics.errors import NotComputableError
from frame_metrics.inputs import Array, Classes, FullConfusion
from frame_metrics.inputs.records import record
from frame_metrics.metrics.metric import N_COUNTS, REGISTRY, Metric
from frame_metrics.metrics.shares import N_CLASSES_TRIED, share_marks

FIT_TOL = 1e-9
PAIRS = ("recall", "specificity"), ("precision", "npv")
MISTAKES = ("recall", "precision"), ("specificity", "npv")  # those that count one kind of rows right, by what they lack


@record
class MadeOf:
    """The way a metric is made of shares of rows.

    It is start + slopes * shares, or 2 J / (1 + J) of one share J, or J / (J + c (1 - J)) of a share J of rows that are
    right, where a mistake costs c = a r + b (1 - r) on average, and r is the share of mistakes of the first kind.

    Parameters
    ----------
    marks : for each share how it counts the rows of each cell, as ``share_of`` returns them.
    of_decided : whether it is so only where every row has a decision.
    """

    marks: tuple[Array, ...]
    start: float = 0.0
    slopes: tuple[float, ...] = (1.0,)
    is_f1: bool = False  # whether it is 2 J / (1 + J)
    of_decided: bool = False
    costs: tuple[float, float] | None = None  # a and b, where the shares are J and r


def f1_of_jaccard(share: Array) -> Array:
    """Return the F1 of a Jaccard index."""
    return 2 * share / (1 + share)


@cache
def made_of(metric: Metric, average: str | None, *, binary: bool) -> MadeOf | None:
    """Return how a metric of rows is made of shares; None if it is not.

    Parameters
    ----------
    metric : the metric.
    average : over classes, of a metric of each class against the rest; None, or "pooled", for one of the whole table.
    binary : whether there are two classes, the second of which is the relevant one.
    """
    form = metric if binary or average in ("micro", "weighted") else metric.form_for_classes
    if form is None or metric.summed or form.input not in (FullConfusion, Classes):
        return None
    for decided in (False, True):
        tables = _tables(2 if binary else N_CLASSES_TRIED, decided=decided)
        try:
            values = _values(form, tables, None if binary else average)
        except NotComputableError:  # a measure that refuses rows without a decision
            continue
        found = _one_share(values, tables, binary=binary, decided=decided)
        for find in (_two_shares, _of_mistakes) if binary else ():
            found = found or find(values, tables, decided=decided)
        if found is not None:
            return found
    return None


def _tables(k: int, *, decided: bool) -> Array:
    """Return tables of rows by true class and prediction, the last for none, shape (tables, k, k + 1)."""
    tables = np.random.default_rng(0).integers(1, 9, (6, k, k + 1)).astype(np.float64)
    tables[:, :, -1] *= not decided
    return tables


def _values(metric: Metric, tables: Array, average: str | None) -> Array:
    """Return the values of a metric of tables, NaN where undefined, shape (tables,)."""
    table = Classes.of_grid(tables, np.ones(tables.shape[:2], bool))
    if metric.input is Classes:
        return metric.compute(table)
    if average not in ("micro", "weighted"):
        return metric.compute(table.rest(1))
    rest = [table.rest(c) for c in range(table.k)]
    if average == "micro":
        sums = np.sum([np.array(one.counts) for one in rest], axis=0)
        return metric.compute(FullConfusion.of_counts(sums.reshape(N_COUNTS, -1)))
    each = np.array([metric.compute(one) for one in rest])
    return (each * table.actual.T).sum(axis=0) / table.size


def _one_share(values: Array, tables: Array, *, binary: bool, decided: bool) -> MadeOf | None:
    """Return the one share that has these values, or whose F1 has; None if there is none."""
    for marks in _candidates(binary=binary):
        share = _share(marks, tables)
        for is_f1 in (False, True):
            if np.allclose(f1_of_jaccard(share) if is_f1 else share, values, rtol=FIT_TOL, atol=0):
                return MadeOf((marks,), is_f1=is_f1, of_decided=decided)
    return None


@cache
def _candidates(*, binary: bool) -> tuple[Array, ...]:
    """Return the shares that metrics may be: those of the registry, as marks."""
    own = [metric for metric in REGISTRY.values() if metric.input in (FullConfusion, Classes)]
    marks = (share_marks(metric, binary=binary) for metric in own)
    return tuple({one.tobytes(): one for one in marks if one is not None}.values())


def _share(marks: Array, tables: Array) -> Array:
    return (tables * np.nan_to_num(marks)).sum(axis=(1, 2)) / (tables * ~np.isnan(marks)).sum(axis=(1, 2))


def _two_shares(values: Array, tables: Array, *, decided: bool) -> MadeOf | None:
    """Return the two shares of which the values are a weighted sum, apart from a constant; None if there are none."""
    for names in PAIRS:
        marks = tuple(share_marks(REGISTRY[name], binary=True) for name in names)
        shares = [_share(one, tables) for one in marks if one is not None]
        columns = np.stack([np.ones(len(tables)), *shares], axis=1)
        solved = np.linalg.lstsq(columns, values, rcond=None)[0]
        if np.allclose(columns @ solved, values, rtol=0, atol=FIT_TOL) and (np.abs(solved[1:]) > FIT_TOL).all():
            rounded: list[float] = [round(float(one), 12) for one in solved]
            both = tuple(one for one in marks if one is not None)
            return MadeOf(both, rounded[0], tuple(rounded[1:]), of_decided=decided)
    return None


def _of_mistakes(values: Array, tables: Array, *, decided: bool) -> MadeOf | None:
    """Return the share of right rows and that of mistakes of one kind of which the values are made; None if of none."""
    for names in MISTAKES:
        one, other = (share_marks(REGISTRY[name], binary=True) for name in names)
        if one is None or other is None:
            continue
        right, first, second = (one == 1) & (other == 1), one == 0, other == 0
        hits, *kinds = ((tables * which).sum(axis=(1, 2)) for which in (right, first, second))
        with np.errstate(divide="ignore", invalid="ignore"):
            lack = hits / values - hits
        columns = np.stack(kinds, axis=1)
        if not np.isfinite(lack).all():
            continue
        costs = np.linalg.lstsq(columns, lack, rcond=None)[0]
        if np.allclose(columns @ costs, lack, rtol=FIT_TOL, atol=0) and (costs > FIT_TOL).all():
            marks = tuple(
                np.where(yes, 1.0, np.where(no, 0.0, np.nan)) for yes, no in ((right, first | second), (first, second))
            )
            rounded: list[float] = [round(float(cost), 12) for cost in costs]
            return MadeOf(marks, of_decided=decided, costs=(rounded[0], rounded[1]))
    return None
