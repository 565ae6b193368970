"""Measures of several classes: the forms that measures of two classes take, and what is defined of the whole table.

A row without a prediction is not right, and is in none of the predicted classes. Where clusters are predicted, measures
of ``table.shares`` and of pairs are those of the clusters themselves, whatever classes they are taken for.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from frame_metrics.errors import NotComputableError, quote
from frame_metrics.inputs import Array, Classes, ClassScores, geometric_mean, ratio, sum_of_others
from frame_metrics.metrics.parameters import Bins, Norm
from frame_metrics.metrics.registry import companion_of, for_classes, metric


@metric(undefined=None)
def coverage(table: Classes) -> Array:
    """Share of the rows that have a prediction.

    Formula: n / N, with n the rows with a prediction and N all rows.
    Undefined: there are no rows.
    """
    return ratio(table.predicted.sum(axis=1), table.size)


@metric(range=(0, np.inf), best=0, undefined=None, also=("equivocation",), biased=True)
def conditional_entropy(table: Classes) -> Array:
    """Uncertainty about the true class that remains once the prediction is known, in bits.

    Formula: - sum over predicted classes l of P(l) sum over true classes c of P(c|l) log2 P(c|l), over the rows with
        a prediction. There is no interval, as chance makes it less, and more so of few rows and many classes.
    Undefined: no row has a prediction.
    Source: C. E. Shannon, A mathematical theory of communication, 1948.
    """
    joint, _, found = table.shares
    bits = -table.total(joint * _log2(ratio(joint, found)))
    return np.where(table.total(joint) > 0, np.maximum(bits, 0), np.nan)


@metric(range=(1, np.inf), best=1, undefined=None, biased=True)
def perplexity(table: Classes) -> Array:
    """Number of equally likely classes with the same uncertainty as the true class once the prediction is known.

    Formula: 2 to the power of conditional_entropy, which has no interval either.
    Undefined: no row has a prediction.
    Source: F. Jelinek, R. L. Mercer, L. R. Bahl, J. K. Baker, Perplexity: a measure of the difficulty of speech
        recognition tasks, 1977.
    """
    return np.exp2(conditional_entropy(table))


@metric(range=(0, np.inf), best=None, undefined=None, biased=True)
def mutual_information(table: Classes) -> Array:
    """Information that the prediction gives about the true class, in bits.

    Formula: sum over predicted classes l and true classes c of P(l, c) log2(P(l, c) / (P(l) P(c))), over the rows
        with a prediction. There is no interval, as chance makes it greater, and more so of few rows and many classes.
    Undefined: no row has a prediction.
    Source: C. E. Shannon, A mathematical theory of communication, 1948.
    """
    joint, true, found = table.shares
    bits = table.total(joint * _log2(ratio(joint, true * found)))
    return np.where(table.total(joint) > 0, np.maximum(bits, 0), np.nan)


def _log2(share: Array) -> Array:
    """The logarithm of shares, 0 for those of nothing."""
    return np.log2(np.where(share > 0, share, 1))


@metric(undefined=None, also=("rand_score", "rand"))
def rand_index(table: Classes) -> Array:
    """Share of the pairs of rows that predictions and true classes treat alike: together in both, or apart in both.

    Formula: (S + (P - A - B + S)) / P with P all pairs of rows with a prediction, A the pairs within a true class, B
        the pairs within a predicted class or cluster, and S the pairs within both. n rows make n (n - 1) / 2 pairs. If
        rows have weights, n is the sum of their weights, and a group whose sum is below 1 makes no pairs.
    Undefined: fewer than two rows have a prediction, or their weights sum to no more than 1.
    Source: W. M. Rand, Objective criteria for the evaluation of clustering methods, 1971.
    """
    pairs, same_class, same_found, both = table.pairs()
    return ratio(pairs - same_class - same_found + 2 * both, pairs)


@metric(range=(-1, 1), undefined=None, also=("adjusted_rand_score", "adjusted_rand", "ari"))
def adjusted_rand_index(table: Classes) -> Array:
    """The Rand index beyond chance: on average 0 if rows are put at random into clusters of these sizes.

    Formula: (S - e) / ((A + B) / 2 - e) with e = A B / P; P, A, B and S as in rand_index.
    Undefined: as in rand_index; also if all rows are in one class and one cluster, or each row is alone in its class
        and in its cluster.
    Source: L. Hubert, P. Arabie, Comparing partitions, 1985.
    """
    pairs, same_class, same_found, both = table.pairs()
    chance = ratio(same_class * same_found, pairs)
    return ratio(both - chance, (same_class + same_found) / 2 - chance)


@for_classes("accuracy")
def _accuracy(table: Classes) -> Array:
    """Share of the rows whose class is predicted."""
    return ratio(table.hits.sum(axis=1), table.size)


@for_classes("error_rate")
def _error_rate(table: Classes) -> Array:
    """Share of the rows whose class is not predicted."""
    return ratio(table.size - table.hits.sum(axis=1), table.size)


@for_classes("balanced_accuracy", mean=True)
def _balanced_accuracy(table: Classes) -> Array:
    """Mean of the recalls of the classes that have rows."""
    recall = ratio(table.hits, table.actual)
    return ratio(np.nansum(recall, axis=1), (table.actual > 0).sum(axis=1))


@metric(undefined=None, also=("top_k_accuracy_score",))
def top_k_accuracy(scores: ClassScores, k: int | None = None) -> Array:
    """Share of the rows whose true class is among the k classes with the highest scores.

    Formula: the share of rows with fewer than k classes before the true one: of higher scores, and of equal scores
        those that are later in the order of the classes. Without a cutoff k is 1. From k classes on it is 1.
    Undefined: there are no rows.
    Source: scikit-learn, top_k_accuracy_score.
    """
    return scores.mean((scores.n_classes_before < (1 if k is None else k)).astype(np.float64))


@for_classes("kappa")
def _kappa(table: Classes, weights: Literal["linear", "quadratic"] | None = None) -> Array:
    """Agreement beyond chance, mistakes weighing by how far apart the classes are in their order."""
    if weights is not None and table.undecided.any():
        raise NotComputableError(f"weights={quote(weights)} has no place for rows without a prediction; drop them")
    decided, undecided = table.predicted_class < table.k, table.undecided.sum(axis=1)
    places = np.cumsum(table.seen, axis=1)  # among the classes that take part
    if weights is None:
        worth = table.predicted_class != table.true
        by_chance = (table.actual * sum_of_others(table.predicted)).sum(axis=1)
    else:
        predicted = np.where(decided, table.predicted_class, table.true)
        distance = np.abs(table.each(places, table.true) - table.each(places, predicted))
        worth = distance if weights == "linear" else distance**2
        by_chance = (_far if weights == "linear" else _squared)(table.actual, table.predicted, places)
    wrong = table.total(table.amount * (worth * decided)) + undecided
    return 1 - ratio(wrong * table.size, by_chance + table.size * undecided)


def _far(actual: Array, predicted: Array, places: Array) -> Array:
    """Sum the distances of the places of all pairs of an actual and a predicted row, shape (n,)."""
    steps = np.diff(places, axis=1)  # each is part of the distance of what lies on either side of it
    true, said = (np.cumsum(rows, axis=1)[:, :-1] for rows in (actual, predicted))
    beyond, ahead = (np.cumsum(rows[:, ::-1], axis=1)[:, ::-1][:, 1:] for rows in (actual, predicted))
    return np.asarray((steps * (true * ahead + beyond * said)).sum(axis=1))


def _squared(actual: Array, predicted: Array, places: Array) -> Array:
    """Sum the squared distances in the same way."""
    total, predicted_total = actual.sum(axis=1), predicted.sum(axis=1)
    middle = np.rint(np.nan_to_num(ratio((actual * places).sum(axis=1), total)))  # so that little is lost in rounding
    place = places - middle[:, None]
    squares = predicted_total * (actual * place**2).sum(axis=1) + total * (predicted * place**2).sum(axis=1)
    return np.asarray(squares - 2 * (actual * place).sum(axis=1) * (predicted * place).sum(axis=1))


@for_classes("mcc")
def _mcc(table: Classes) -> Array:
    """Correlation of predicted and true classes, no prediction being a class of its own."""
    undecided = table.undecided.sum(axis=1)
    agreement = table.hits.sum(axis=1) * table.size - (table.actual * table.predicted).sum(axis=1)
    spread_true = table.size**2 - (table.actual**2).sum(axis=1)
    spread_predicted = table.size**2 - (table.predicted**2).sum(axis=1) - undecided**2
    return ratio(agreement, geometric_mean(spread_true, spread_predicted))


@for_classes("informedness")
def _informedness(table: Classes) -> Array:
    """Recall less fallout of each class among the decided rows, each prediction adding its own, over all rows."""
    decided = table.answered
    won = np.where(table.hits > 0, ratio(table.hits, decided), 0)
    lost = ratio(table.predicted - table.hits, decided.sum(axis=1, keepdims=True) - decided)
    gain = np.where(table.predicted > 0, table.predicted * (won - lost), 0).sum(axis=1)
    return np.where((decided > 0).sum(axis=1) > 1, ratio(gain, table.size), np.nan)


@for_classes("payoff")
def _payoff(table: Classes) -> Array:
    """Mean gain of a prediction at the bookmaker's fair odds."""
    return _informedness(table)


@for_classes("roc_auc", mean=True)
def _roc_auc(scores: ClassScores, multi: Literal["ovr", "ovo"] = "ovo") -> Array:
    """Mean over all pairs of classes of the areas under the ROC curves of each against the other."""
    areas = np.full((scores.n_queries, 0), np.nan)
    for a in range(scores.score.shape[1]):
        for b in range(a):
            areas = np.column_stack([areas, (scores.pair(a, b).area + scores.pair(b, a).area) / 2])
    known = ~np.isnan(areas)
    return ratio(np.where(known, areas, 0).sum(axis=1), known.sum(axis=1))


@for_classes("brier")
def _brier(scores: ClassScores) -> Array:
    """Mean squared distance of the probabilities to what came true, summed over the classes."""
    p = scores.probability
    true = p[np.arange(len(p)), scores.actual]
    return scores.mean((p**2).sum(axis=1) - 2 * true + 1)


@for_classes("log_loss")
def _log_loss(scores: ClassScores) -> Array:
    """Mean surprise at the true class, in nats."""
    p = scores.probability
    least = np.finfo(np.float64).eps
    true = np.clip(p, least, 1 - least)[np.arange(len(p)), scores.actual]
    return scores.mean(-np.log(true))


@for_classes("ece")
def _ece(scores: ClassScores, bins: Bins = 10, norm: Norm = 1, debiased: bool = False) -> Array:
    """Distance of the greatest probabilities to the shares in which their class is true, bin by bin."""
    return scores.bins(bins).distance(norm, debiased)


@companion_of("ece", "calibrated", ClassScores)
def _calibrated(scores: ClassScores, bins: Bins = 10, norm: Norm = 1, debiased: bool = False) -> Array:
    """The error that calibrated probabilities have."""
    return scores.bins(bins).by_chance(norm, debiased)


@companion_of("ece", "bins_left_out", ClassScores)
def _bins_left_out(scores: ClassScores, bins: Bins = 10, norm: Norm = 1, debiased: bool = False) -> Array:
    """The number of bins that are left out."""
    return scores.bins(bins).n_left_out(debiased)
