"""Averages over classes of two sides: whether they are over the same classes, so that differences say something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frame_metrics.data.cases import Cases
from frame_metrics.errors import listed
from frame_metrics.inputs import Array
from frame_metrics.measuring.rows import Inputs, NotComparedError, average_of, class_sizes, values_in_mean
from frame_metrics.metrics.metric import MEANS_OF_CLASSES, Metric
from frame_metrics.metrics.shares import is_fixed_without

ACCURACY, BRIER = "ask for accuracy, a share of rows", "ask for brier, a mean over rows"


class OtherClassesError(NotComparedError):
    """An average over classes that two sides have over different classes."""


class OtherClasses(NamedTuple):
    """The classes of which only one of two sides has a value in its average over classes."""

    classes: list[int]  # their numbers
    side: int  # the side that has the first of them, 0 or 1
    there: bool  # whether the other side has rows that are, or are predicted to be, of the first one
    true: bool  # whether the side that has it has rows whose true class it is
    shared: list[int]  # the classes of both sides


def is_mean_of_classes(metric: Metric, *, binary: bool) -> bool:
    """Return True if the default value of a metric of rows is a mean over classes, each of which counts once."""
    if binary:
        return False
    if metric.form_for_classes is not None:
        return metric.name in MEANS_OF_CLASSES
    return average_of(metric, None, binary=False) == "macro"


def classes_in_mean(inputs: Inputs, name: str, metric: Metric) -> Array | None:
    """Return which classes a metric is averaged over in each segment, shape (K, segments); None if over none."""
    cases = inputs.cases
    if not is_mean_of_classes(metric, binary=cases.binary) or not cases.k:
        return None
    if metric.form_for_classes is not None:
        return (class_sizes(cases, inputs.segments) > 0).T
    return ~np.isnan(values_in_mean(inputs, name, metric))


def other_classes(inputs: Inputs, in_mean: Array | None, sides: Sequence[int]) -> OtherClasses | None:
    """Return in which classes the averages of two sides differ; None if in none.

    They differ in a class that is in one of the averages, and in one that is true in rows of one side only: what counts
    as its value on the other side is no measurement.

    Parameters
    ----------
    in_mean : as ``classes_in_mean`` returns it.
    sides : the segments of the two sides; of fewer there is no difference.
    """
    if in_mean is None or len(sides) < 2:
        return None
    true = (class_sizes(inputs.cases, inputs.segments) > 0).T[:, [*sides]]
    own = in_mean[:, [*sides]]
    differs = (own[:, 0] != own[:, 1]) | (own.all(axis=1) & (true[:, 0] != true[:, 1]))
    if not differs.any():
        return None
    first = int(differs.argmax())
    side = int((own[first] if own[first, 0] != own[first, 1] else true[first]).argmax())
    of = inputs.tables.seen if inputs.table is not None else inputs.class_scores.seen
    there = bool(of[sides[1 - side], first]) and bool(true[first, 1 - side] or not true[first, side])
    shared = np.flatnonzero(own.all(axis=1) & ~differs).tolist()
    return OtherClasses(np.flatnonzero(differs).tolist(), side, there, bool(true[first, side]), shared)


def lack_rows(inputs: Inputs, metric: Metric, n_undefined: Array, sides: Sequence[int]) -> bool:
    """Return True if a side has rows of one of two classes only, and a metric says nothing about these.

    The 0 that stands for recall without a relevant row is no measurement, nor is that of F1, which nothing can change.

    Parameters
    ----------
    n_undefined : whether the metric is undefined in each segment, shape (segments,).
    sides : the segments of the sides.
    """
    if not inputs.cases.binary:
        return False
    lacks = class_sizes(inputs.cases, inputs.segments)[[*sides]] == 0
    if (lacks.any(axis=1) & (n_undefined[[*sides]] > 0)).any():
        return True
    return any(lacks[:, c].any() and says_nothing_without(metric, c) for c in (0, 1))


def says_nothing_without(metric: Metric, c: int) -> bool:
    """Return True if the value of a metric of two classes says nothing about predictions where class ``c`` has no row.

    It is the same whatever is predicted, or a mean over both classes.
    """
    return metric.name in MEANS_OF_CLASSES or is_fixed_without(metric, c)


def error_of_classes(name: str, found: OtherClasses, cases: Cases, sides: Sequence[str]) -> OtherClassesError:
    """Return the error for a difference of averages over different classes.

    Parameters
    ----------
    name : of the metric.
    sides : words for both sides.
    """
    names = cases.classes.to_list()
    one, more = names[found.classes[0]], len(found.classes) - 1
    has, lacks = sides[found.side], sides[1 - found.side]
    others = f" (and so {more:,} more)" if more else ""
    if found.there:
        why = f"{one} has no value in {lacks}{others}; pass undefined='zero' to count it as 0"
    elif found.true:
        why = f"{one} has rows in {has}, and none in {lacks}{others}; drop the rows with it"
        decided = len(found.shared) > 1 and cases.columns.predicted
        why += f" and pass classes={code_of(names, found.shared)}" if decided else ""
    else:
        why = f"{one} is predicted in {has} only, and never true{others}; pass abstain=[{one!r}] if it is no decision"
        why += f", classes={code_of(names, range(len(names)))} to have it in both"
    way = ACCURACY if cases.columns.predicted else BRIER
    both = f"{name} of {sides[0]} and of {sides[1]}"
    return OtherClassesError(f"{both} are averages over different classes: {why}, or {way}")


def code_of(names: Sequence[object], some: Sequence[int]) -> str:
    """Return a list of classes as text, as code has it; of many the first."""
    shown = [names[at] for at in some]
    return f"[{listed(shown[:5])}{', ...' * (len(shown) > 5)}]"
