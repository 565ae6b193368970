"""Measures of scores against the truth: of their order, and of scores that are probabilities.

A document that was not retrieved has no score and stands below all others. Equal scores are one step: nothing here
depends on their order.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from frame_metrics.inputs import Array, Scores, ratio
from frame_metrics.metrics.metric import metric
from frame_metrics.metrics.parameters import Count, PartOfAll, Share


@metric(undefined=None, slope=1, also=("auc", "auroc", "roc", "roc_auc_score"))
def roc_auc(scores: Scores, max_fpr: PartOfAll | None = None, multi: Literal["ovr", "ovo"] = "ovr") -> Array:
    """Probability that a relevant row has a higher score than one that is not: the area under the ROC curve.

    Formula: the share of pairs of a relevant row and another in which the relevant one has the higher score, equal
        scores counting one half. With max_fpr = m: A, the area up to the fallout m, made to be 1/2 for chance and 1 for
        perfect, (1 + (A - m^2 / 2) / (m - m^2 / 2)) / 2. Of several classes: ovr, of each against the rest; ovo, the
        mean over all pairs of classes of the areas of each against the other. `gauc` (group AUC) is the mean over
        queries, each weighted by its rows.
    Undefined: no row is relevant, or every row is.
    Parameters: max_fpr, the greatest fallout that counts, above 0, 1 for all; multi, what several classes are
        compared by.
    Source: D. K. McClish, Analyzing a portion of the ROC curve, 1989; D. J. Hand, R. J. Till, A simple generalisation
        of the area under the ROC curve for multiple class classification problems, 2001; gauc: H. Zhu et al., Optimized
        cost per click in Taobao display advertising, KDD 2017.
    """
    if max_fpr is None or max_fpr == 1:
        return scores.area
    wide, high = scores.each(scores.negatives), scores.each(scores.positives)
    left, fpr = ratio(scores.before(scores.fp), wide), ratio(scores.fp, wide)
    inside = np.clip(max_fpr - left, 0, fpr - left)
    rise = np.where(fpr > left, ratio(scores.pos, high) * ratio(inside, fpr - left), 0)
    area = scores.total(inside * (ratio(scores.before(scores.tp), high) + rise / 2))
    least = max_fpr * max_fpr / 2
    scaled = (1 + (area - least) / (max_fpr - least)) / 2
    return np.where((scores.positives > 0) & (scores.negatives > 0), scaled, np.nan)


@metric(range=(-1, 1), undefined=None, slope=2, also=("somers_d",))
def gini(scores: Scores) -> Array:
    """Distance of the order of the scores from chance: the area between the ROC curve and the diagonal, doubled.

    Formula: 2 roc_auc - 1.
    Undefined: no row is relevant, or every row is.
    Source: D. J. Hand, R. J. Till, A simple generalisation of the area under the ROC curve for multiple class
        classification problems, 2001.
    """
    return 2 * roc_auc(scores) - 1


@metric(also=("average_precision_score", "pr_auc", "auprc"))
def average_precision(scores: Scores) -> Array:
    """Precision averaged over recall: the sum of the precisions at each distinct score, by the recall that it adds.

    Formula: sum over the distinct scores, from the greatest, of (r_i - r_(i-1)) p_i. Rows with equal scores are
        taken together; `ap` orders them. What was not retrieved adds nothing.
    Undefined: no row is relevant.
    Source: scikit-learn, average_precision_score.
    """
    precision = ratio(scores.tp, scores.tp + scores.fp)
    counts = (scores.pos > 0) & scores.retrieved
    return ratio(scores.total(np.where(counts, scores.pos * precision, 0)), scores.positives)


@metric(undefined=None, also=("kolmogorov_smirnov",))
def ks(scores: Scores) -> Array:
    """Greatest distance between the shares of relevant and of other rows that reach a score (Kolmogorov-Smirnov).

    Formula: max over the scores of |recall - fallout|.
    Undefined: no row is relevant, or every row is.
    """
    apart = ratio(scores.tp, scores.each(scores.positives)) - ratio(scores.fp, scores.each(scores.negatives))
    both = (scores.positives > 0) & (scores.negatives > 0)
    return np.where(both, scores.reduce(np.maximum, np.abs(apart)), np.nan)


@metric()
def max_precision(scores: Scores, min_recall: Share) -> Array:
    """Greatest precision of the thresholds at which recall is high enough.

    Formula: max over the scores with recall >= min_recall of precision, a row being retrieved at or above the score; 0
        if no score has it.
    Undefined: no row is relevant.
    Parameters: min_recall, the least recall that will do.
    """
    enough = scores.retrieved & (scores.tp >= min_recall * scores.each(scores.positives) * (1 - 1e-12))
    best = scores.reduce(np.maximum, np.where(enough, ratio(scores.tp, scores.tp + scores.fp), 0))
    return np.where(scores.positives > 0, best, np.nan)


@metric()
def max_recall(scores: Scores, min_precision: Share) -> Array:
    """Greatest recall of the thresholds at which precision is high enough.

    Formula: max over the scores with precision >= min_precision of recall; 0 if no threshold has it.
    Undefined: no row is relevant.
    Parameters: min_precision, the least precision that will do.
    """
    enough = scores.retrieved & (scores.tp >= min_precision * (scores.tp + scores.fp) * (1 - 1e-12))
    return ratio(scores.reduce(np.maximum, np.where(enough, scores.tp, 0)), scores.positives)


@metric(best=0, undefined=None, also=("brier_score", "brier_score_loss"))
def brier(scores: Scores) -> Array:
    """Mean squared distance of a probability to what came true.

    Formula: the mean over the rows of (score - relevant)^2. Of several classes: of the sum over the classes, so that
        it goes up to 2.
    Undefined: there are no rows.
    Source: G. W. Brier, Verification of forecasts expressed in terms of probability, 1950.
    """
    p = scores.probability
    return ratio(scores.total(scores.pos * (1 - p) ** 2 + scores.neg * p**2), scores.positives + scores.negatives)


@metric(range=(0, np.inf), best=0, undefined=None, also=("logloss", "cross_entropy", "mn_log_loss"))
def log_loss(scores: Scores) -> Array:
    """Mean surprise at what came true, in nats.

    Formula: the mean over the rows of -log(p), p being the probability that the score gives to what came true, at
        least 2.2e-16 and at most 1 - 2.2e-16.
    Undefined: there are no rows.
    Source: scikit-learn, log_loss.
    """
    least = np.finfo(np.float64).eps
    p = np.clip(scores.probability, least, 1 - least)
    loss = -scores.pos * np.log(p) - scores.neg * np.log1p(-p)
    return ratio(scores.total(loss), scores.positives + scores.negatives)


@metric(best=0, undefined=None, also=("expected_calibration_error",))
def ece(scores: Scores, bins: Count = 10) -> Array:
    """Distance of probabilities to the shares that came true, bin by bin (expected calibration error).

    Formula: sum over bins of equal width of n_b / N |mean score - share of relevant rows|; a score on an edge is in
        the lower bin. Of several classes: of the greatest score of each row, and whether its class is the true one.
    Undefined: there are no rows.
    Parameters: bins, how many.
    Source: M. P. Naeini, G. F. Cooper, M. Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning,
        2015.
    """
    p = scores.probability
    place = scores.query * bins + np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], p)
    apart = np.bincount(place, (scores.pos + scores.neg) * p - scores.pos, minlength=scores.n_queries * bins)
    return ratio(np.abs(apart).reshape(scores.n_queries, bins).sum(axis=1), scores.positives + scores.negatives)
