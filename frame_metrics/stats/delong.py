"""Variances and covariances of areas under ROC curves by their structural components, and intervals of areas."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs import Array, FullScores, ratio
from frame_metrics.inputs.records import record
from frame_metrics.inputs.scores import sorted_levels
from frame_metrics.stats.exact import normal_quantile

HALVINGS = 54  # so many halvings of a part of the range of areas give the last bit of a float


def area_variance(scores: FullScores) -> Array:
    """Return the variance of the area under the ROC curve, NaN for fewer than two rows of either kind.

    The component of a relevant row is the share of the other rows that it beats. That of another row is the share of
    the relevant rows that beat it. Ties count one half. The variance of the area is the variance of the components of
    relevant rows divided by their number, plus that of other rows divided by theirs; both are variances of samples.

    Parameters
    ----------
    scores : sorted rows that count one each.

    Returns
    -------
    Variances, shape (queries,).

    Source: E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach, Biometrics 44(3), 1988.
    """
    positives, negatives, area = scores.positives, scores.negatives, scores.area

    def of_relevant(some: FullScores) -> Array:
        return some.pos * (beats(some, negatives) - some.each(area)) ** 2

    def of_others(some: FullScores) -> Array:
        return some.neg * (beaten(some, positives) - some.each(area)) ** 2

    total = np.zeros(scores.n_queries)
    for squares, n in ((of_relevant, positives), (of_others, negatives)):
        total = total + ratio(scores.total_of(squares), n * np.where(n < 2, 0, n - 1))
    return total


def beats(scores: FullScores, negatives: Array) -> Array:
    """Return the component of a relevant row with each score, as ``area_variance`` defines it, shape (levels,).

    ``negatives``: the number of other rows of each query.
    """
    return ratio(scores.each(negatives) - scores.fp + scores.neg / 2, scores.each(negatives))


def beaten(scores: FullScores, positives: Array) -> Array:
    """Return the component of another row; ``positives``: the number of relevant rows of each query."""
    return ratio(scores.tp - scores.pos / 2, scores.each(positives))


def areas(score: Array, relevant: Array, times: Array | None = None) -> tuple[Array, Array]:
    """Return the areas under the ROC curves of several systems on the same rows, and the covariances of the areas.

    It takes O(rows log rows) for each system: rows are sorted, and not paired (X. Sun, W. Xu, Fast implementation of
    DeLong's algorithm for comparing the areas under correlated receiver operating characteristic curves, IEEE Signal
    Processing Letters 21(11), 2014).

    Parameters
    ----------
    score : of each row, by each system, shape (systems, rows); a row without a score (minus infinity) is below all.
    relevant : True, or 1, for the relevant rows, shape (rows,).
    times : how many rows each one stands for, shape (rows,); None for one.

    Returns
    -------
    Areas, shape (systems,), NaN where all rows are relevant or none is, and covariances, shape (systems, systems), NaN
    for fewer than two rows of either kind.
    """
    good = np.asarray(relevant) == 1
    times = np.ones(len(good)) if times is None else np.asarray(times, np.float64)
    area, deviations = np.full(len(score), np.nan), np.empty((len(score), len(good)))
    for i, of_system in enumerate(score):
        scores = sorted_levels(np.zeros(len(of_system), np.int64), of_system, good * times, times, 1)
        level = np.searchsorted(-scores.score, -of_system)
        of_relevant, of_others = beats(scores, scores.negatives), beaten(scores, scores.positives)
        area[i] = scores.area[0]
        deviations[i] = np.where(good, of_relevant[level], of_others[level]) - area[i]
    covariance = np.zeros((len(score), len(score)))
    for kind in (good, ~good):
        n, of_kind = times[kind].sum(), deviations[:, kind]
        covariance += of_kind * times[kind] @ of_kind.T / (n * (n - 1)) if n > 1 else np.nan
    return area, covariance


def around(value: Array, variance: Array, level: float, ends: tuple[float, float] = (0, 1)) -> Array:
    """Return normal intervals, clipped to the range ``ends`` of the values, shape (2, values)."""
    half = normal_quantile(level) * np.sqrt(variance)
    return np.clip([value - half, value + half], *ends)


def area_between(area: Array, variance: Array, positives: Array, negatives: Array, level: float) -> Array:
    """Return intervals of areas under ROC curves: Newcombe's, widened if DeLong's variance is greater.

    The ends are the areas t with (A - t)^2 = z^2 f V(t), where V(t) = t (1 - t) / (m n) (2 N - 1 - (3 N - 3) /
    ((2 - t) (1 + t))) is the variance for m relevant rows and n others, and N the mean of m and n. V assumes a
    distribution of scores; the factor f allows for others: max(1, DeLong's variance / V(A)), and 1 if A is 0 or 1.

    (A - t) / sqrt(V(t)) falls with t, so that there is one end on each side of A, which is found by halving.

    Parameters
    ----------
    area, variance : the areas, and their variances by DeLong; an unknown one gives no interval, shape (areas,) each.
    positives, negatives : the numbers of relevant rows and of others, shape (areas,) each.
    level : of the intervals.

    Returns
    -------
    Shape (2, areas).

    Source: R. G. Newcombe, Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part 2:
    asymptotic methods and evaluation, Statistics in Medicine 25, 2006, method 5.
    """
    pairs, half = np.maximum(positives * negatives, 1), (positives + negatives) / 2

    def assumed(t: Array) -> Array:
        return t * (1 - t) / pairs * (2 * half - 1 - (3 * half - 3) / ((2 - t) * (1 + t)))

    known = ~np.isnan(area + variance)
    factor = normal_quantile(level) ** 2 * np.fmax(ratio(variance, assumed(area)), 1)
    inner, outer = np.array([area, area]), np.array([np.zeros(len(area)), np.ones(len(area))])
    for _ in range(HALVINGS):
        middle = (inner + outer) / 2
        within = (area - middle) ** 2 <= factor * assumed(middle)
        inner, outer = np.where(within, middle, inner), np.where(within, outer, middle)
    return np.where(known, np.where(area == [[0], [1]], area, inner), np.nan)


@record
class Areas:
    """Areas under ROC curves, with what their intervals need, shape (areas,) each."""

    area: Array
    variance: Array  # DeLong's, NaN for fewer than two rows of either kind
    positives: Array
    negatives: Array

    @classmethod
    def of(cls, scores: FullScores) -> Areas:
        """Return the areas of sorted scores of rows that count one each."""
        return cls(scores.area, area_variance(scores), scores.positives, scores.negatives)

    @property
    def stacked(self) -> Array:
        """The fields, one below the other, shape (4, areas)."""
        return np.stack([self.area, self.variance, self.positives, self.negatives])

    def ends(self, level: float, method: str | None, slope: float) -> Array:
        """Return how far the ends of intervals of a metric are from its values, shape (2, areas).

        Parameters
        ----------
        level : of the intervals.
        method : "delong" for normal intervals; None for Newcombe's, widened.
        slope : how much the metric rises with the area.
        """
        if method == "delong":
            ends = around(self.area, self.variance, level)
        else:
            ends = area_between(self.area, self.variance, self.positives, self.negatives, level)
        return slope * (ends - self.area)
