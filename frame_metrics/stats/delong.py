"""Variances and covariances of areas under ROC curves, and intervals around them, by their structural components."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs import Array, FullScores, ratio
from frame_metrics.inputs.scores import sorted_levels
from frame_metrics.stats.exact import normal_quantile


def area_variance(scores: FullScores) -> Array:
    """Return the variance of the area under the ROC curve, NaN for fewer than two rows of either kind.

    The component of a relevant row is the share of the others that it beats, of another row the share of the relevant
    ones that beat it, ties counting one half. The variance of the area is that of the components of the relevant rows
    over their number, plus that of the others over theirs; both divide by the number less one.

    Parameters
    ----------
    scores : sorted rows that count one each.

    Returns
    -------
    Variances, shape (queries,).

    Source: E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach, Biometrics 44(3), 1988.
    """
    beats, beaten = components(scores)
    area = scores.each(scores.area)
    total = np.zeros(scores.n_queries)
    for rows, component, n in ((scores.pos, beats, scores.positives), (scores.neg, beaten, scores.negatives)):
        total = total + ratio(scores.total(rows * (component - area) ** 2), n * np.where(n < 2, 0, n - 1))
    return total


def components(scores: FullScores) -> tuple[Array, Array]:
    """Return the components of a relevant row, and of another row, with each score, shape (levels,) each.

    They are defined in ``area_variance``.
    """
    beats = ratio(scores.each(scores.negatives) - scores.fp + scores.neg / 2, scores.each(scores.negatives))
    beaten = ratio(scores.tp - scores.pos / 2, scores.each(scores.positives))
    return beats, beaten


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
    area, every = np.full(len(score), np.nan), np.empty((len(score), len(good)))
    for i, each in enumerate(score):
        scores = sorted_levels(np.zeros(len(each), np.int64), each, good * times, times, 1)
        level = np.searchsorted(-scores.score, -each)
        beats, beaten = components(scores)
        area[i] = scores.area[0]
        every[i] = np.where(good, beats[level], beaten[level]) - area[i]
    covariance = np.zeros((len(score), len(score)))
    for side in (good, ~good):
        n = times[side].sum()
        covariance += every[:, side] * times[side] @ every[:, side].T / (n * (n - 1)) if n > 1 else np.nan
    return area, covariance


def around(value: Array, variance: Array, level: float, ends: tuple[float, float] = (0, 1)) -> Array:
    """Return normal intervals, clipped to the range ``ends`` of the values, shape (2, values)."""
    wide = normal_quantile(level) * np.sqrt(variance)
    return np.clip([value - wide, value + wide], *ends)
