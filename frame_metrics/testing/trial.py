"""A trial of a metric on small cases, and the laws that it is tried by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from frame_metrics.errors import FrameMetricsError
from frame_metrics.inputs import Array, Confusion, Ranking
from frame_metrics.metrics.metric import Metric
from frame_metrics.testing.cases import Case, Family

CLOSE = 1e-9
Law = Callable[["Trial"], Iterator[str]]
SAYS: dict[Any, str] = {}  # what each law says; the function gives what breaks it, in words


def law(says: str) -> Callable[[Law], Law]:
    """Make a function a law, which is tried in the order of its file."""

    def put(tried: Law) -> Law:
        SAYS[tried] = says
        return tried

    return put


class Trial:
    """A metric and the cases that it is tried on."""

    def __init__(self, metric: Metric, family: Family) -> None:
        self.metric, self.family = metric, family
        self.cases: list[Any] = family.cases()
        self.cause: FrameMetricsError | None = None  # of an example that is an error

    @cached_property
    def values(self) -> Array:
        """The metric of each case."""
        return self.of(self.cases)

    def of(self, cases: Sequence[Case], metric: Metric | None = None) -> Array:
        """Return the metric, or another one, of some cases."""
        return (metric or self.metric).compute(self.family.source(cases))

    @property
    def ranked(self) -> list[Metric]:
        """The metric of rankings, as it is and cut; nothing where it is of no ranking."""
        own = self.metric
        if own.input not in (Ranking, Confusion) or own.columns:
            return []
        whole = [own] if own.input is Ranking or own.cutoff is not None else []
        return whole + ([own @ 1, own @ 2] if own.at == "k" and own.cutoff is None else [])


def same(one: Array, other: Array) -> Array:
    """True where two values are equal but for rounding, or both undefined."""
    with np.errstate(invalid="ignore"):
        close = np.abs(one - other) <= CLOSE * np.maximum(1, np.abs(one))
    return close | (one == other) | (np.isnan(one) & np.isnan(other))


def shown_value(value: float) -> str:
    return "no value" if math.isnan(value) else f"{value:.12g}"
