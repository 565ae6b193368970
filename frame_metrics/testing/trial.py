"""The trial of a metric on small cases, and the decorator of laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from frame_metrics.errors import FrameMetricsError
from frame_metrics.inputs import Array, FullConfusion, FullRanking
from frame_metrics.metrics.metric import Metric
from frame_metrics.testing.cases import Case, Family

VALUE_TOL = 1e-9
Law = Callable[["Trial"], Iterator[str]]
SAYS: dict[Any, str] = {}  # the sentence of each law; the law is a function that yields the faults of a trial, in words


def law(says: str) -> Callable[[Law], Law]:
    """Make a function a law; laws are tried in the order of their files.

    Parameters
    ----------
    says : the law as a sentence.
    """

    def put(tried: Law) -> Law:
        SAYS[tried] = says
        return tried

    return put


class Trial:
    """A metric, and the cases on which it is tried."""

    def __init__(self, metric: Metric, family: Family) -> None:
        self.metric, self.family = metric, family
        self.cases: list[Any] = family.cases()
        self.cause: FrameMetricsError | None = None  # the error, if a law is broken by one

    @cached_property
    def values(self) -> Array:
        """The value of the metric for each case."""
        return self.of(self.cases)

    def of(self, cases: Sequence[Case], metric: Metric | None = None) -> Array:
        """Return the values of the metric, or of another one, for some cases."""
        return (metric or self.metric).compute(self.family.source(cases))

    @property
    def ranked(self) -> list[Metric]:
        """The metric as it is and with cutoffs 1 and 2, as far as these measure rankings; [] for other metrics."""
        own = self.metric
        if own.input not in (FullRanking, FullConfusion) or own.columns:
            return []
        whole = [own] if own.input is FullRanking or own.cutoff is not None else []
        return whole + ([own @ 1, own @ 2] if own.at == "k" and own.cutoff is None else [])


def same(one: Array, other: Array) -> Array:
    """Mark the values that are equal but for rounding, or both undefined."""
    with np.errstate(invalid="ignore"):
        close = np.abs(one - other) <= VALUE_TOL * np.maximum(1, np.abs(one))
    return close | (one == other) | (np.isnan(one) & np.isnan(other))


def shortened(value: float) -> str:
    return "no value" if math.isnan(value) else f"{value:.12g}"
