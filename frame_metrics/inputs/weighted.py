"""Rankings whose results are weighted by propensities, for metrics that add up over results."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from frame_metrics.inputs.cached_arrays import computed_once
from frame_metrics.inputs.ranking import FullRanking
from frame_metrics.inputs.rows import Array, Rows


class Weighted(FullRanking):
    """A ranking in which each result counts with its weight.

    A metric that is a sum over results has the weighted sum as its value here. Counts of documents that need not be
    retrieved, such as R, are not weighted.

    ``row_weight``: that of each row, not clipped yet, shape (rows,).
    """

    def __init__(self, run: FullRanking, row_weight: Array) -> None:
        super().__init__(**{field.name: getattr(run, field.name) for field in fields(run)})
        self._run = run
        self.row_weight = row_weight if run.clip is None else np.minimum(row_weight, run.clip)

    @property
    def unweighted(self) -> FullRanking:
        return self._run

    def rows(self, row: Array, value: Array) -> Rows:
        return super().rows(row, value * self.row_weight[row])

    def total(self, values: Array) -> Array:
        return self.relevant.total(values * self.relevant.value)

    def hits(self, k: int | None = None) -> Array:
        return self.relevant.sums.within(k)

    def effective(self, k: int | None, *, off_policy: bool) -> Array:
        """Return the sums of weights and of squared weights up to rank ``k``, shape (2, queries).

        With both summed over queries, the square of the first divided by the second is the effective sample size. It
        counts relevant results; off policy it counts lists, of which each result is an equal share.
        """
        results = self.every if off_policy else self.relevant
        sums = np.stack([results.sums.within(k), results.total_within(k, results.value**2)])
        return sums / np.maximum(results.count_within(k), 1) if off_policy else sums

    @computed_once
    def every(self) -> Rows:
        """All results, with their weights."""
        return self.rows(np.arange(len(self.grade)), np.ones(len(self.grade)))


def row_weights(run: FullRanking) -> Array:
    """Return the weight of each row, shape (rows,)."""
    return np.ones(len(run.grade)) if run.ratio is None else run.ratio


def cumulated(run: FullRanking) -> Array:
    """Return the product of the weight of each row and those of all rows above it, shape (rows,)."""
    every = Rows(run.query_of(np.arange(len(run.grade))), np.arange(len(run.grade)), run.grade, run.n_queries)
    return every.running(row_weights(run), np.multiply, fill=1.0)


def of_the_list(run: FullRanking) -> Array:
    """Return the product of the weights of all results of a row's list, shape (rows,)."""
    return np.repeat(cumulated(run)[np.cumsum(run.lengths)[run.lengths > 0] - 1], run.lengths[run.lengths > 0])
