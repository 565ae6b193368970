"""Rows in bins of their scores: how far mean scores are from observed shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs.rows import Array, ratio


@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Sums over the rows whose score is in a bin of equal width, shape (queries, bins) each."""

    n: Array  # rows
    score: Array  # their scores
    relevant: Array  # those that are relevant

    @classmethod
    def of(cls, query: Array, score: Array, rows: Array, came: Array, shape: tuple[int, int]) -> CalibrationBins:
        """Put scores in bins; a score on an edge is in the lower one.

        Parameters
        ----------
        query, score : of each element, shape (elements,).
        rows, came : the rows of each element, and those of them that are relevant, shape (elements,).
        shape : the numbers of queries and of bins.
        """
        place = query * shape[1] + np.searchsorted(np.linspace(0, 1, shape[1] + 1)[1:-1], score)
        each = (rows, rows * score, came)
        return cls(*(np.bincount(place, one, shape[0] * shape[1]).reshape(shape) for one in each))

    def distance(self, norm: int, debiased: bool) -> Array:
        """Return the distance of mean scores to shares, shape (queries,)."""
        if debiased and norm != 2:
            raise BadValueError("ece: debiased=True is for squared distances; pass norm=2 too")
        n, predicted, came = self.n, self.score, self.relevant
        if norm == 1:
            return ratio(np.abs(predicted - came).sum(axis=1), n.sum(axis=1))
        some = n > 1 if debiased else n > 0
        rows = np.where(some, n, 2)
        share = came / rows
        square = (predicted / rows - share) ** 2 - (share * (1 - share) / (rows - 1) if debiased else 0)
        mean = ratio((square * rows * some).sum(axis=1), (n * some).sum(axis=1))
        return np.sqrt(np.maximum(mean, 0))

    def by_chance(self, norm: int, debiased: bool) -> Array:
        """Return the distance that calibrated scores have in the mean, NaN for a debiased one, shape (queries,)."""
        n = self.n
        if debiased:
            return np.full(len(n), np.nan)
        p = self.score / np.where(n > 0, n, 1)
        variance = np.maximum(p * (1 - p), 0)
        if norm == 1:
            return ratio((np.sqrt(n * variance * 2 / np.pi)).sum(axis=1), n.sum(axis=1))
        return np.sqrt(ratio((variance * (n > 0)).sum(axis=1), n.sum(axis=1)))

    def lone(self, debiased: bool) -> Array:
        """Return the number of bins of one row, which a debiased distance leaves out, shape (queries,)."""
        return ((self.n > 0) & (self.n <= 1)).sum(axis=1) * float(debiased)
