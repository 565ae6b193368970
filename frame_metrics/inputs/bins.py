"""Rows in bins of their scores: how far mean scores are from observed shares."""

from __future__ import annotations

import math

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, begins_run, ratio

QUANTILE = "quantile"  # bins of equally many rows
N_BINS = 10  # number of bins of equally many rows
POINTS = 50  # number of points at which ``_mean_greatest`` evaluates its integral
ERF = np.frompyfunc(math.erf, 1, 1)


@record
class CalibrationBins:
    """Sums over the rows of each bin, of bins of equal width or of equally many rows, shape (queries, bins) each."""

    n: Array  # the number of rows, or their weight
    score: Array  # the sum of their scores
    relevant: Array  # the number, or weight, of the relevant rows

    @classmethod
    def of(
        cls, query: Array, score: Array, rows: Array, relevant: Array, n_queries: int, bins: int | str
    ) -> CalibrationBins:
        """Put scores in bins; a score on an edge is in the lower one.

        Parameters
        ----------
        query, score : query and score of each element, which are one or more rows of equal score, shape (elements,).
        rows, relevant : number of rows of each element, and of its relevant rows, shape (elements,) each.
        bins : the number of bins of equal width, or "quantile".
        """
        if isinstance(bins, str):
            shape, at = (n_queries, N_BINS), _quantile_bin(query, score, rows, n_queries)
        else:
            shape, at = (n_queries, bins), np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], score)
        each = (rows, rows * score, relevant)
        return cls(*(np.bincount(query * shape[1] + at, one, shape[0] * shape[1]).reshape(shape) for one in each))

    def distance(self, norm: int | str, debiased: bool) -> Array:
        """Return the distance of mean scores from the shares of relevant rows, shape (queries,)."""
        if debiased and norm != 2:
            raise BadValueError("ece: debiased=True is for squared distances; pass norm=2 too")
        n, predicted, relevant = self.n, self.score, self.relevant
        if norm == "max":
            return np.where(n.any(axis=1), np.nan_to_num(ratio(np.abs(predicted - relevant), n)).max(axis=1), np.nan)
        if norm == 1:
            return ratio(np.abs(predicted - relevant).sum(axis=1), n.sum(axis=1))
        has_rows = n > 1 if debiased else n > 0
        rows = np.where(has_rows, n, 2)
        share = relevant / rows
        square = (predicted / rows - share) ** 2 - (share * (1 - share) / (rows - 1) if debiased else 0)
        mean = ratio((square * rows * has_rows).sum(axis=1), (n * has_rows).sum(axis=1))
        return np.sqrt(np.maximum(mean, 0))

    def by_chance(self, norm: int | str, debiased: bool) -> Array:
        """Return the distance that calibrated scores have in the mean, NaN for a debiased one, shape (queries,)."""
        n = self.n
        if debiased:
            return np.full(len(n), np.nan)
        p = self.score / np.where(n > 0, n, 1)
        variance = np.maximum(p * (1 - p), 0)
        if norm == "max":
            return np.where(n.any(axis=1), _mean_greatest(np.sqrt(variance / np.where(n > 0, n, np.inf))), np.nan)
        if norm == 1:
            return ratio((np.sqrt(n * variance * 2 / np.pi)).sum(axis=1), n.sum(axis=1))
        return np.sqrt(ratio((variance * (n > 0)).sum(axis=1), n.sum(axis=1)))

    def n_left_out(self, debiased: bool) -> Array:
        """Return the number of bins of one row, which a debiased distance leaves out, shape (queries,)."""
        return ((self.n > 0) & (self.n <= 1)).sum(axis=1) * float(debiased)


def _quantile_bin(query: Array, score: Array, rows: Array, n_queries: int) -> Array:
    """Return the bin of each element, from 0, shape (elements,); equal scores are in one bin.

    The edges are the quantiles of a query's scores, interpolated between two rows (type 7 of Hyndman and Fan). If b of
    the N rows have lower scores than a row, this row is above the edges i with i (N - 1) / bins < b.
    """
    order = np.lexsort((score, query))
    query, score, rows = query[order], score[order], rows[order]
    new = begins_run(query, score)
    n_rows = np.bincount(query, rows, n_queries)
    n_lower = (np.cumsum(rows) - rows)[np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))]
    n_lower = n_lower - (np.cumsum(n_rows) - n_rows)[query]
    bin_of_element = np.ceil(n_lower * N_BINS / np.maximum(n_rows[query] - 1, 1)) - 1
    out = np.zeros(len(order), np.int64)
    out[order] = np.clip(bin_of_element, 0, N_BINS - 1).astype(np.int64)
    return out


def _mean_greatest(deviation: Array) -> Array:
    """Return the mean of the greatest of several absolute normal numbers with mean 0, shape (queries,).

    It is the integral over t of the chance that one of them is greater than t, by Gauss and Legendre.

    ``deviation``: their standard deviations, 0 for none, shape (queries, numbers).
    """
    half = 3.5 * deviation.max(axis=1, initial=0)
    out = np.zeros(len(deviation))
    with np.errstate(divide="ignore", invalid="ignore"):
        for point, weight in zip(*np.polynomial.legendre.leggauss(POINTS), strict=True):
            below = ERF(((1 + point) * half)[:, None] / (np.sqrt(2) * deviation)).astype(np.float64)
            out += weight * (1 - np.where(deviation > 0, below, 1).prod(axis=1))
    return out * half
