"""Measures of scores against the truth: of their order, and of scores that are probabilities.

A document that was not retrieved has no score and stands below all others. Equal scores are one step: nothing here
depends on their order.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs import Array, FullScores, ratio
from frame_metrics.metrics.parameters import Bins, Norm, PartOfAll, Share, Stretch
from frame_metrics.metrics.registry import companion_of, metric


@metric(
    undefined=None,
    slope=1,
    also=("auc", "auroc", "roc", "roc_auc_score", "c_statistic", "concordance", "area_under_the_curve"),
)
def roc_auc(
    scores: FullScores,
    max_fpr: PartOfAll | None = None,
    fpr: Stretch | None = None,
    tpr: Stretch | None = None,
    correction: Literal["mcclish"] | None = "mcclish",
    multi: Literal["ovr", "ovo"] = "ovr",
) -> Array:
    """Probability that a relevant row has a higher score than one that is not: the area under the ROC curve.

    Formula: the share of pairs of a relevant row and another row in which the relevant one has the higher score; equal
        scores count one half. With fpr = [a, b]: (1 + (A - c) / (b - a - c)) / 2, which is 1/2 for chance and 1 for
        perfect scores; A is the area under the curve between the fallouts a and b, and c = (b^2 - a^2) / 2 is this area
        for chance. With tpr = [a, b]: the same for the area right of the curve between the recalls a and b, where c = b
        - a - (b^2 - a^2) / 2. Of several classes: ovr compares each class with the rest; ovo is the mean over all pairs
        of classes of the areas of each against the other. `gauc` (group AUC) is the mean over queries, each weighted by
        its rows.
    Undefined: no row is relevant, or every row is.
    Parameters: fpr, the two fallouts between which the area counts; max_fpr, the same from 0 on, where 1 is the whole
        area; tpr, the two recalls between which the area counts; correction, None for A itself, which is needed if the
        corrected value could be below 0 (fpr with a + b > 1, tpr with a + b < 1); multi, how several classes are
        compared.
    Source: D. K. McClish, Analyzing a portion of the ROC curve, 1989; Y. Jiang, C. E. Metz, R. M. Nishikawa, A receiver
        operating characteristic partial area index for highly sensitive diagnostic tests, 1996; D. J. Hand, R. J. Till,
        A simple generalisation of the area under the ROC curve for multiple class classification problems, 2001; gauc:
        H. Zhu et al., Optimized cost per click in Taobao display advertising, KDD 2017.
    """
    if sum(part is not None for part in (max_fpr, fpr, tpr)) > 1:
        raise BadValueError("roc_auc: max_fpr=, fpr= and tpr= each name a part of the curve; give one of them")
    low, high = tpr or fpr or (0, 1 if max_fpr is None else max_fpr)
    if (low, high) == (0, 1):
        return scores.area
    over_recall = tpr is not None
    if correction and (low + high < 1 if over_recall else low + high > 1):
        name = "tpr" if over_recall else "fpr"
        raise BadValueError(
            f"roc_auc: corrected between {low:g} and {high:g} of {name} it could be below 0; pass correction=None"
        )
    area = _part(scores, low, high, over_recall=over_recall)
    if correction:
        below = (high**2 - low**2) / 2
        chance = high - low - below if over_recall else below
        area = (1 + (area - chance) / (high - low - chance)) / 2
    return np.where((scores.positives > 0) & (scores.negatives > 0), area, np.nan)


def _part(scores: FullScores, low: float, high: float, *, over_recall: bool) -> Array:
    """The area below the ROC curve between two fallouts, or right of it between two recalls, shape (queries,)."""
    fallout, recall = (
        [ratio(rows, scores.each(total)) for rows in (scores.before(reached), reached)]
        for reached, total in ((scores.fp, scores.negatives), (scores.tp, scores.positives))
    )
    (start, end), (first, last) = (recall, [1 - x for x in fallout]) if over_recall else (fallout, recall)
    begin, stop = np.clip(start, low, high), np.clip(end, low, high)
    inside = np.where(end > start, ratio((begin + stop) / 2 - start, end - start), 0)
    return scores.total(np.nan_to_num((stop - begin) * (first + (last - first) * inside)))


@metric(range=(-1, 1), undefined=None, slope=2, also=("somers_d", "somers'_d", "gini_coefficient"))
def gini(scores: FullScores) -> Array:
    """Twice the area between the ROC curve and the diagonal: 0 for a random order of the scores, 1 for a perfect one.

    Formula: 2 roc_auc - 1. If catalogue= is given, ask for somers_d, because catalogue_gini is a Gini index too.
    Undefined: no row is relevant, or every row is.
    Source: D. J. Hand, R. J. Till, A simple generalisation of the area under the ROC curve for multiple class
        classification problems, 2001.
    """
    return 2 * roc_auc(scores) - 1


@metric(also=("average_precision_score", "average_precision_of_scores", "pr_auc", "auprc"))
def average_precision(scores: FullScores, area: Literal["step", "trapezoid"] = "step") -> Array:
    """Precision averaged over recall: at each distinct score, the precision times the recall that it adds.

    Formula: sum over the distinct scores, the greatest first, of (r_i - r_(i-1)) p_i, where r_i is the recall and p_i
        the precision at the score. Rows with equal scores are taken together; `ap` puts them in order. Rows that were
        not retrieved add nothing. With area="trapezoid": sum of (r_i - r_(i-1)) (p_i + p_(i-1)) / 2, where p_0 = 1.
    Undefined: no row is relevant.
    Parameters: area, 'step', or 'trapezoid' for the area below straight lines between the points of `curve("pr")`. No
        threshold has the values on such a line, and between equal scores they are too high: if all scores are equal,
        the area is (1 + prevalence) / 2 instead of the prevalence.
    Source: scikit-learn, average_precision_score; J. Davis, M. Goadrich, The relationship between precision-recall and
        ROC curves, 2006.
    """
    steps = scores.steps
    if area == "trapezoid":
        precision = ratio(scores.tp, scores.tp + scores.fp)
        above = scores.before(precision)
        above[scores.starts_of_filled] = 1
        steps = np.where(steps > 0, scores.pos * ((precision + above) / 2), 0)
    return ratio(scores.total(steps), scores.positives)


@metric(undefined=None, also=("kolmogorov_smirnov", "ks_statistic"), biased=True)
def ks(scores: FullScores) -> Array:
    """Greatest distance between the shares of relevant and other rows that reach a score (Kolmogorov-Smirnov).

    Formula: max over the scores of |recall - fallout|. There is no interval, as chance makes it greater, and more so of
        few rows.
    Undefined: no row is relevant, or every row is.
    """
    distance = ratio(scores.tp, scores.each(scores.positives)) - ratio(scores.fp, scores.each(scores.negatives))
    both = (scores.positives > 0) & (scores.negatives > 0)
    return np.where(both, scores.reduce(np.maximum, np.abs(distance)), np.nan)


@metric()
def max_precision(scores: FullScores, min_recall: Share) -> Array:
    """Greatest precision among the thresholds at which recall is high enough.

    Formula: the greatest precision over the scores with recall >= min_recall, where rows at or above the score are
        retrieved; 0 if no score reaches this recall.
    Undefined: no row is relevant.
    Parameters: min_recall, the lowest recall that is allowed.
    """
    enough = scores.retrieved & (scores.tp >= min_recall * scores.each(scores.positives) * (1 - 1e-12))
    best = scores.reduce(np.maximum, np.where(enough, ratio(scores.tp, scores.tp + scores.fp), 0))
    return np.where(scores.positives > 0, best, np.nan)


@metric()
def max_recall(scores: FullScores, min_precision: Share) -> Array:
    """Greatest recall among the thresholds at which precision is high enough.

    Formula: the greatest recall over the scores with precision >= min_precision, where rows at or above the score are
        retrieved; 0 if no score reaches this precision.
    Undefined: no row is relevant.
    Parameters: min_precision, the lowest precision that is allowed.
    """
    enough = scores.retrieved & (scores.tp >= min_precision * (scores.tp + scores.fp) * (1 - 1e-12))
    return ratio(scores.reduce(np.maximum, np.where(enough, scores.tp, 0)), scores.positives)


@metric(best=0, undefined=None, also=("brier_score", "brier_score_loss"))
def brier(scores: FullScores) -> Array:
    """Mean squared distance between the probability and the outcome, by calibration and by order.

    Formula: the mean over the rows of (score - relevant)^2. Of several classes: the mean over the rows of its sum over
        the classes, which is at most 2.
    Undefined: there are no rows.
    Source: G. W. Brier, Verification of forecasts expressed in terms of probability, 1950.
    """
    p = scores.probability
    return ratio(scores.total(scores.pos * (1 - p) ** 2 + scores.neg * p**2), scores.positives + scores.negatives)


@metric(range=(0, np.inf), best=0, undefined=None, also=("logloss", "cross_entropy", "mn_log_loss"))
def log_loss(scores: FullScores) -> Array:
    """Mean surprise at the outcome, in nats, by calibration and by order.

    Formula: the mean over the rows of -log(p), where p is the probability that the score gives to the true outcome,
        kept between 2.2e-16 and 1 - 2.2e-16.
    Undefined: there are no rows.
    Source: scikit-learn, log_loss.
    """
    least = np.finfo(np.float64).eps
    p = np.clip(scores.probability, least, 1 - least)
    loss = -scores.pos * np.log(p) - scores.neg * np.log1p(-p)
    return ratio(scores.total(loss), scores.positives + scores.negatives)


@metric(best=0, undefined=None, also=("expected_calibration_error",), biased=True, unless={"debiased": True})
def ece(scores: FullScores, bins: Bins = 10, norm: Norm = 1, debiased: bool = False) -> Array:
    """Distance between probabilities and observed shares, bin by bin (expected calibration error).

    Formula: sum over bins of equal width of n_b / N |mean score - share of relevant rows|; n_b of the N rows are in the
        bin, and a score on an edge is in the lower bin. With bins="quantile": ten bins of equally many rows, whose
        edges are the deciles of the scores; equal scores share a bin. With norm="max": the greatest of the distances
        (maximum calibration error). With norm=2: the square root of the sum of n_b / N (mean score - share)^2. With
        debiased=True: the square root of max(0, sum of n_b / N ((mean score - share)^2 - share (1 - share) / (n_b -
        1))), over the bins of two rows and more, N being their rows. Of several classes: the score of a row is its
        greatest one, and the row counts as relevant if the class of this score is the true one. There is no interval,
        as chance makes the error of calibrated scores greater than 0. Without a query `if_calibrated` stands beside the
        value: what calibrated scores of as many rows would have, sum of n_b / N sqrt(2 / pi) sqrt(p_b (1 - p_b) / n_b),
        p_b being the mean score; with norm=2 sqrt(sum of p_b (1 - p_b) / N); with norm="max" the mean of the greatest
        of absolute normal numbers with the variances p_b (1 - p_b) / n_b, which is too large where a bin has few rows.
    Undefined: there are no rows; with debiased=True no bin has two.
    Parameters: bins, the number of bins, or 'quantile'; norm, 2 for the root of the mean square, 'max' for the greatest
        distance; debiased, with norm=2, to subtract what chance adds: bins of one row are left out, and `n_undefined`
        counts them. Neither debiased nor bins='quantile' is for weighted rows.
    Source: M. P. Naeini, G. F. Cooper, M. Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning,
        2015, also the greatest distance; quantiles: scikit-learn, calibration_curve; debiased: A. Kumar, P. Liang, T.
        Ma, Verified uncertainty calibration, NeurIPS 2019.
    """
    return scores.bins(bins).distance(norm, debiased)


@companion_of("ece", "calibrated", FullScores)
def _calibrated(scores: FullScores, bins: Bins = 10, norm: Norm = 1, debiased: bool = False) -> Array:
    """The error that calibrated scores have."""
    return scores.bins(bins).by_chance(norm, debiased)


@companion_of("ece", "bins_left_out", FullScores)
def _bins_left_out(scores: FullScores, bins: Bins = 10, norm: Norm = 1, debiased: bool = False) -> Array:
    """The number of bins that are left out."""
    return scores.bins(bins).n_left_out(debiased)
