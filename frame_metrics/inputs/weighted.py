"""Rankings whose results have weights, by which metrics that add over results correct for what was shown to whom."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from frame_metrics.inputs.kept import kept
from frame_metrics.inputs.ranking import Ranking
from frame_metrics.inputs.rows import Array, Rows


class Weighted(Ranking):
    """A ranking in which each result counts as many times as its weight says.

    A metric that adds up over the results what stands there has the weighted sum as its value here. What is counted of
    documents that need not be retrieved stays as it is.

    Parameters
    ----------
    run : the ranking.
    worth : the weight of each row, shape (rows,).
    """

    def __init__(self, run: Ranking, worth: Array) -> None:
        super().__init__(**{field.name: getattr(run, field.name) for field in fields(run)})
        self._run = run
        self.worth = worth if run.clip is None else np.minimum(worth, run.clip)

    @property
    def unweighted(self) -> Ranking:
        return self._run

    def rows(self, row: Array, value: Array) -> Rows:
        return super().rows(row, value * self.worth[row])

    def total(self, values: Array) -> Array:
        return self.relevant.total(values * self.relevant.value)

    def hits(self, k: int | None = None) -> Array:
        return self.relevant.total_within(k, self.relevant.value)

    def effective(self, k: int | None, *, off_policy: bool) -> Array:
        """Return the sums of weights and of their squares up to rank ``k``, of which is made an effective sample size.

        Over queries, the square of the first sum over the second is it: that of relevant results, or off policy of
        lists, of which each result is a share.

        Returns
        -------
        Shape (2, queries).
        """
        seen = self.every if off_policy else self.relevant
        sums = np.stack([seen.total_within(k, seen.value), seen.total_within(k, seen.value**2)])
        return sums / np.maximum(seen.reached(k), 1) if off_policy else sums

    @kept
    def every(self) -> Rows:
        """The results, with their weights."""
        return self.rows(np.arange(len(self.grade)), np.ones(len(self.grade)))


def own(run: Ranking) -> Array:
    """Return the weight of each row by itself, shape (rows,)."""
    return np.ones(len(run.grade)) if run.ratio is None else run.ratio


def cumulated(run: Ranking) -> Array:
    """Return the product of the weights of each row and all above it, shape (rows,)."""
    every = Rows(run.query_of(np.arange(len(run.grade))), np.arange(len(run.grade)), run.grade, run.n_queries)
    return every.running(own(run), np.multiply, fill=1.0)


def of_the_list(run: Ranking) -> Array:
    """Return the product of the weights of all results of a row's list, shape (rows,)."""
    return np.repeat(cumulated(run)[np.cumsum(run.lengths)[run.lengths > 0] - 1], run.lengths[run.lengths > 0])
