"""The measures of the 2x2 table: of a prediction, at a threshold, at a cutoff, on the retrieved set, on summed counts.

A false positive is ``fp``, a false negative ``fn``; "type I" and "type II" are used both ways, and not here. Places up
to a cutoff that are not filled are wrong in precision. A document without a decision is in ``up`` or ``un``, and in
no other cell.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs import Array, FullConfusion, geometric_mean, ratio
from frame_metrics.metrics.parameters import NotNegative, Share
from frame_metrics.metrics.registry import metric, takes_top

# Measures that a better order never makes worse, and whose value of mean rows is the mean over all orders of a tie.
_share = partial(metric, monotone=True, expected=True)
_rate = partial(_share, undefined=None)  # those of them that are left out of means where they are undefined
_count = partial(_share, range=(0, np.inf), summed=True)  # the cells of the table, which are summed over queries


@_count(best=None, unjudged="rises", adds=True, also=("true_positives",))
def tp(table: FullConfusion) -> Array:
    """Number of relevant documents that were retrieved: true positives.

    Formula: count.
    Undefined: never.
    """
    return table.tp


@_count(best=0, unjudged="turns", also=("false_positives", "false_alarms"))
def fp(table: FullConfusion) -> Array:
    """Number of retrieved documents that are not relevant: false positives.

    Formula: count.
    Undefined: never.
    """
    return table.fp


@_count(best=0, unjudged="turns", also=("false_negatives", "misses"))
def fn(table: FullConfusion) -> Array:
    """Number of relevant documents that were not retrieved: false negatives.

    Formula: count.
    Undefined: never.
    """
    return table.fn


@_count(best=None, also=("true_negatives", "correct_rejections"))
def tn(table: FullConfusion) -> Array:
    """Number of documents that are not relevant and were not retrieved: true negatives.

    Formula: N - tp - fp - fn - up - un.
    Undefined: never.
    """
    return table.tn


@_count(best=0, unjudged="rises", also=("undecided_positives",))
def up(table: FullConfusion) -> Array:
    """Number of relevant documents without a decision: undecided positives.

    Formula: count; 0 where the decision is a cutoff, a threshold or the retrieved set.
    Undefined: never.
    """
    return table.up


@_count(best=0, unjudged="turns", also=("undecided_negatives",))
def un(table: FullConfusion) -> Array:
    """Number of documents that are not relevant and have no decision: undecided negatives.

    Formula: count; 0 where the decision is a cutoff, a threshold or the retrieved set.
    Undefined: never.
    """
    return table.un


@_rate(also=("acc", "proportion_correct", "fraction_correct", "percent_agreement", "rand_accuracy", "subset_accuracy"))
def accuracy(table: FullConfusion) -> Array:
    """Share of all documents with a right decision.

    Formula: (tp + tn) / N.
    Undefined: N = 0.
    """
    return ratio(table.tp + table.tn, table.population)


@_share(completes="accuracy", also=("error", "misclassification_rate", "zero_one_loss", "hamming_loss"))
def error_rate(table: FullConfusion) -> Array:
    """Share of all documents with a wrong decision.

    Formula: (fp + fn + up + un) / N = 1 - accuracy.
    Undefined: N = 0.
    """
    return ratio(table.fp + table.fn + table.up + table.un, table.population)


@takes_top("predicted")
@_share(
    unjudged="rises",
    adds=True,
    also=(
        "p",
        "ppv",
        "positive_predictive_value",
        "set_p",
        "setp",
        "confidence",
        "confidence_of_a_rule",
        "true_positive_accuracy",
    ),
)
def precision(table: FullConfusion) -> Array:
    """Share of the retrieved documents that are relevant.

    Formula: tp / (tp + fp); at a cutoff k, tp / k; places without a document count too.
    Undefined: nothing was retrieved (without a cutoff).
    Parameters: top, a share in the place of a cutoff. Of n rows without a query it takes the first ceil(top n) by
        score; of equal scores at the border each row has the same chance, so that the value is the mean over all
        orders. Of a ranking it takes the results down to rank ceil(top l), where l is its last rank; ties= orders them.
    Source: C. D. Manning, P. Raghavan, H. Schuetze, Introduction to Information Retrieval, 2008, ch. 8.
    """
    return ratio(table.tp, table.predicted)


@takes_top("actual")
@_share(
    unjudged="turns",
    also=("r", "tpr", "true_positive_rate", "sensitivity", "set_recall", "setr", "probability_of_detection"),
)
def recall(table: FullConfusion) -> Array:
    """Share of the relevant documents that were retrieved.

    Formula: tp / (tp + fn + up).
    Undefined: no document is relevant.
    Parameters: top, a share of the rows or of each ranking, as for precision; this recall is the cumulative gain.
    Source: C. D. Manning, P. Raghavan, H. Schuetze, Introduction to Information Retrieval, 2008, ch. 8.
    """
    return ratio(table.tp, table.actual)


@_rate(also=("tnr", "true_negative_rate", "inverse_recall", "invrecall", "selectivity"))
def specificity(table: FullConfusion) -> Array:
    """Share of the non-relevant documents that were not retrieved: the recall of the negatives.

    Formula: tn / (tn + fp + un).
    Undefined: every document is relevant.
    """
    return recall(table.inverse)


@_rate(also=("inverse_precision", "negative_predictive_value"))
def npv(table: FullConfusion) -> Array:
    """Share of the documents not retrieved that are not relevant: the precision of the negatives.

    Formula: tn / (tn + fn).
    Undefined: nothing was left out.
    """
    return precision(table.inverse)


@_share(
    completes="specificity",
    also=("fall_out", "fpr", "false_positive_rate", "false_alarm_rate", "probability_of_false_alarm"),
)
def fallout(table: FullConfusion) -> Array:
    """Share of the non-relevant documents that were retrieved.

    Formula: fp / (fp + tn + un); where every document has a decision, 1 - specificity.
    Undefined: every document is relevant.
    Source: C. J. van Rijsbergen, Information Retrieval, 2nd edition, 1979, ch. 7.
    """
    return ratio(table.fp, table.negative)


@_share(completes="recall", unjudged="turns", also=("fnr", "false_negative_rate", "inverse_fallout"))
def miss_rate(table: FullConfusion) -> Array:
    """Share of the relevant documents that were not retrieved.

    Formula: (fn + up) / (tp + fn + up) = 1 - recall.
    Undefined: no document is relevant.
    """
    return ratio(table.fn + table.up, table.actual)


@_share(completes="precision", unjudged="turns", also=("false_discovery_rate",))
def fdr(table: FullConfusion) -> Array:
    """Share of the retrieved documents that are not relevant.

    Formula: 1 - precision.
    Undefined: nothing was retrieved (without a cutoff).
    """
    return ratio(table.fp + table.empty, table.predicted)


@_share(completes="npv", also=("false_omission_rate", "for"))
def fomr(table: FullConfusion) -> Array:
    """Share of the documents not retrieved that are relevant.

    Formula: fn / (fn + tn) = 1 - npv.
    Undefined: nothing was left out.
    """
    return fdr(table.inverse)


@_rate(best=None, also=("base_rate", "generality"))
def prevalence(table: FullConfusion) -> Array:
    """Share of all documents that are relevant.

    Formula: (tp + fn + up) / N.
    Undefined: N = 0.
    """
    return ratio(table.actual, table.population)


@_rate(best=None, also=("predicted_prevalence",))
def bias(table: FullConfusion) -> Array:
    """Share of all documents that were retrieved.

    Formula: (tp + fp) / N.
    Undefined: N = 0.
    """
    return ratio(table.tp + table.fp, table.population)


@_share(unjudged="turns", also=("f", "f_score", "f_measure", "setf", "set_f"))
def fbeta(table: FullConfusion, beta: NotNegative | None = None, alpha: Share | None = None) -> Array:
    """Harmonic mean of precision and recall, with recall ``beta`` times as important.

    Formula: 1 / (alpha / precision + (1 - alpha) / recall) with alpha = 1 / (1 + beta^2).
    Undefined: nothing was retrieved and no document is relevant (without a cutoff).
    Parameters: beta, by default 1; 0 gives precision, infinity gives recall; or instead alpha, the weight of precision
        (in some papers alpha is the weight of recall).
    Source: C. J. van Rijsbergen, Information Retrieval, 2nd edition, 1979, ch. 7.
    """
    if beta is not None and alpha is not None:
        raise BadValueError(f"F with beta={beta:g} and alpha={alpha:g}: they mean the same; pass one of them")
    if alpha is not None:
        return ratio(table.tp, alpha * table.predicted + (1 - alpha) * table.actual)
    square = 1.0 if beta is None else float(f"{beta * beta:.15g}")  # of a root, as that of set_F.2, the number itself
    if square == np.inf:
        return ratio(table.tp, table.actual)
    return ratio((1 + square) * table.tp, table.predicted + square * table.actual)


@_share(
    unjudged="turns", also=("dice", "sorensen_dice", "f1_score", "f1_measure", "f_factor", "balanced_f", "czekanowski")
)
def f1(table: FullConfusion) -> Array:
    """Harmonic mean of precision and recall.

    Formula: 2 tp / (2 tp + fp + fn + up); at a cutoff k, 2 tp / (k + R).
    Undefined: nothing was retrieved and no document is relevant (without a cutoff).
    Source: C. J. van Rijsbergen, Information Retrieval, 2nd edition, 1979, ch. 7.
    """
    return fbeta(table)


@_rate()
def inverse_f1(table: FullConfusion) -> Array:
    """F1 of the negatives: harmonic mean of inverse precision and inverse recall.

    Formula: 2 tn / (2 tn + fp + fn + un).
    Undefined: nothing was left out and every document is relevant.
    """
    return fbeta(table.inverse)


@_rate(also=("inverse_f",))
def inverse_fbeta(table: FullConfusion, beta: NotNegative | None = None, alpha: Share | None = None) -> Array:
    """F of the negatives, with inverse recall ``beta`` times as important as inverse precision.

    Formula: 1 / (alpha / npv + (1 - alpha) / specificity) with alpha = 1 / (1 + beta^2).
    Undefined: nothing was left out and every document is relevant.
    Parameters: beta, by default 1; 0 gives npv, infinity gives specificity; or instead alpha, the weight of npv.
    """
    return fbeta(table.inverse, beta, alpha)


@metric(undefined=None, monotone=True, also=("avf",))
def avg_f(table: FullConfusion) -> Array:
    """Harmonic mean of F1 and inverse F1, each weighted by the share of its predictions.

    Formula: 1 / (bias / f1 + (1 - bias) / inverse_f1); a class that is never predicted is left out of the mean.
    Undefined: N = 0, or inverse_f1 is undefined and a document has no decision.
    Source: D. M. W. Powers, Recall & Precision versus The Bookmaker, 2003.
    """
    share, yes, no = bias(table), f1(table), inverse_f1(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        weighted = np.where(share > 0, share / yes, 0) + np.where(share < 1, (1 - share) / no, 0)
    return ratio(np.ones(len(share)), weighted)


@_rate(unjudged="turns")
def g_measure(table: FullConfusion) -> Array:
    """Geometric mean of precision and recall.

    Formula: sqrt(precision * recall).
    Undefined: nothing was retrieved, or no document is relevant.
    Source: of pairs, E. B. Fowlkes, C. L. Mallows, A method for comparing two hierarchical clusterings, 1983.
    """
    return np.sqrt(precision(table) * recall(table))


@_rate(also=("ig",))
def inverse_g(table: FullConfusion) -> Array:
    """Geometric mean of inverse precision and inverse recall.

    Formula: sqrt(npv * specificity).
    Undefined: nothing was left out, or every document is relevant.
    """
    return g_measure(table.inverse)


@metric(undefined=None, monotone=True, also=("avg",))
def avg_g(table: FullConfusion) -> Array:
    """Geometric mean of G and inverse G, each weighted by the share of its predictions.

    Formula: g_measure^bias * inverse_g^(1 - bias); a class of which the share is 0 is left out of the mean.
    Undefined: one of them is undefined and its share is not 0.
    Source: D. M. W. Powers, Recall & Precision versus The Bookmaker, 2003.
    """
    share = bias(table)
    yes = np.where(share > 0, g_measure(table), 1) ** share
    return yes * np.where(share < 1, inverse_g(table), 1) ** (1 - share)


@metric(
    monotone=True,
    unjudged="turns",
    also=("tanimoto", "iou", "intersection_over_union", "critical_success_index", "csi", "threat_score"),
)
def jaccard(table: FullConfusion) -> Array:
    """Documents that are retrieved and relevant, as a share of those that are at least one of the two.

    Formula: tp / (tp + fp + fn + up).
    Undefined: nothing was retrieved and no document is relevant.
    Source: P. Jaccard, The distribution of the flora in the alpine zone, 1912.
    """
    return ratio(table.tp, table.fp + table.actual)


@_rate(
    range=(-1, 1),
    also=(
        *("youden_j", "youden's_j", "youden_index", "true_skill_statistic", "peirce_skill_score", "delta_p'"),
        *("hanssen_kuipers_discriminant", "bookmaker", "bookmaker_informedness"),
    ),
)
def informedness(table: FullConfusion) -> Array:
    """Degree to which the decision is informed, against chance, of the decided documents, times their share.

    Formula: (tp / (tp + fn) - fp / (fp + tn)) (tp + fp + fn + tn) / N; where every document has a decision, recall -
        fallout = recall + specificity - 1.
    Undefined: of the documents with a decision none is relevant, or every one is.
    Source: D. M. W. Powers, Recall & Precision versus The Bookmaker, 2003; of two classes, C. S. Peirce, The
        numerical measure of the success of predictions, 1884; W. J. Youden, Index for rating diagnostic tests, 1950.
    """
    informed = ratio(table.tp, table.tp + table.fn) - ratio(table.fp, table.fp + table.tn)
    return informed * ratio(table.decided, table.population)


@_rate(range=(-1, 1), also=("delta_p",))
def markedness(table: FullConfusion) -> Array:
    """Degree to which the decision marks the truth, against chance.

    Formula: precision + npv - 1.
    Undefined: nothing was retrieved, or nothing was left out.
    Source: D. M. W. Powers, Evaluation: from precision, recall and F-measure to ROC, informedness, markedness and
        correlation, Journal of Machine Learning Technologies 2(1), 2011.
    """
    return precision(table) + npv(table) - 1


@_share(range=(-1, 1), also=("matthews", "matthews_correlation", "phi", "phi_coefficient"))
def mcc(table: FullConfusion) -> Array:
    """Correlation of decision and truth (Matthews), with no decision as a separate answer.

    Formula: where every document has a decision, (tp tn - fp fn) / sqrt((tp + fp) (tp + fn) (tn + fp) (tn + fn)); in
        general, (S (tp - fn) + R (tn - fp)) / (2 sqrt(R S (Y Z + Y U + Z U))) with S = N - R, Y = tp + fp, Z = tn + fn,
        U = up + un.
    Undefined: all documents are of one class, or all have the same decision, or none has one.
    Source: B. W. Matthews, Comparison of the predicted and observed secondary structure of T4 phage lysozyme, 1975.
    """
    yes, no, undecided = table.tp + table.fp, table.tn + table.fn, table.up + table.un
    spread = geometric_mean(table.actual * table.negative, yes * no + yes * undecided + no * undecided)
    return ratio(table.agreement, 2.0 * spread)


@_rate(range=(-1, 1), also=("cohen_kappa", "cohen's_kappa", "heidke_skill_score"))
def kappa(table: FullConfusion, weights: Literal["linear", "quadratic"] | None = None) -> Array:
    """Agreement of decision and truth beyond chance agreement (Cohen).

    Formula: (accuracy - e) / (1 - e) with e = bias prevalence + (1 - prevalence) (tn + fn) / N. Of several classes: e
        is the sum over them of predicted share times prevalence.
    Undefined: all documents are of one class, and all decisions are for this class.
    Parameters: weights, of a mistake between two of several classes in order: how many places they are apart (linear),
        or the square of this (quadratic); by default all mistakes weigh the same. With two classes it makes no
        difference.
    Source: J. Cohen, A coefficient of agreement for nominal scales, 1960.
    """
    yes, actual, size = table.tp + table.fp, table.actual, table.population
    no = table.tn + table.fn
    return ratio(table.agreement, actual * (size - yes) + table.negative * (size - no))


@_rate(also=("average_accuracy", "macro_recall"))
def balanced_accuracy(table: FullConfusion, sensitivity: Share = 0.5) -> Array:
    """Mean of recall and specificity, with equal or given weights.

    Formula: s recall + (1 - s) specificity with s = 1 / 2. If all documents are of one class, its recall alone, which
        is specificity if none is relevant. Of several classes: the mean of the recalls of the classes that have rows.
    Undefined: N = 0, or only one class has documents, and its weight is 0.
    Parameters: sensitivity, the weight s of recall.
    """
    shares = np.stack([recall(table), specificity(table)])
    weights = np.array([[sensitivity], [1 - sensitivity]]) * ~np.isnan(shares)  # a class without documents has none
    return ratio((weights * np.nan_to_num(shares)).sum(axis=0), weights.sum(axis=0))


@metric(range=(0, np.sqrt(2)), best=0, undefined=None, monotone=True, also=("closest",))
def corner_distance(table: FullConfusion) -> Array:
    """Distance of the decision from the ideal corner of the ROC plane.

    Formula: sqrt(miss_rate^2 + fallout^2).
    Undefined: no document is relevant, or every document is.
    """
    return np.hypot(miss_rate(table), fallout(table))


@_rate(range=(0, np.inf), best=0, also=("expected_cost",))
def cost(table: FullConfusion, fp: NotNegative = 1.0, fn: NotNegative = 1.0) -> Array:
    """Mean cost of wrong decisions, over all documents.

    Formula: (cost(fp) fp + cost(fn) (fn + up)) / N; where every document has a decision, costs of 1 give the error
        rate.
    Undefined: N = 0.
    Parameters: fp, fn, the cost of one such mistake.
    """
    return ratio(fp * table.fp + fn * (table.fn + table.up), table.population)


@takes_top("actual")
@metric(
    range=(0, np.inf),
    best=np.inf,
    undefined=None,
    monotone=True,
    expected=True,
    also=("enrichment_factor", "lift_score"),
)
def lift(table: FullConfusion) -> Array:
    """Factor by which the retrieved documents are relevant more often than all documents.

    Formula: precision / prevalence = tp N / ((tp + fp) (tp + fn + up)); at a cutoff k, tp N / (k (tp + fn + up)).
    Undefined: nothing was retrieved, or no document is relevant.
    Parameters: top, a share of the rows or of each ranking, as for precision; top=0.1 is the lift in the top decile.
    Source: S. Brin, R. Motwani, J. D. Ullman, S. Tsur, Dynamic itemset counting and implication rules for market basket
        data, 1997 (as interest).
    """
    return ratio(table.tp * table.population, table.predicted * table.actual)


@metric(range=(0, np.inf), best=np.inf, undefined=None, monotone=True, also=("lr+", "positive_likelihood_ratio"))
def lr_positive(table: FullConfusion) -> Array:
    """Factor by which a positive decision raises the odds that a document is relevant.

    Formula: recall / fallout.
    Undefined: fallout is 0 or undefined, or no document is relevant.
    """
    return ratio(recall(table), fallout(table))


@metric(range=(0, np.inf), best=0, undefined=None, monotone=True, also=("lr-", "negative_likelihood_ratio"))
def lr_negative(table: FullConfusion) -> Array:
    """Factor by which a negative decision lowers the odds that a document is relevant.

    Formula: miss_rate / specificity.
    Undefined: specificity is 0 or undefined, or no document is relevant.
    """
    return ratio(miss_rate(table), specificity(table))


@metric(range=(0, np.inf), best=np.inf, undefined=None, monotone=True, also=("diagnostic_odds_ratio", "dor"))
def odds_ratio(table: FullConfusion) -> Array:
    """Odds of being relevant among the retrieved documents, relative to those among the rest.

    Formula: tp tn / (fp (fn + up)).
    Undefined: fp = 0 or fn + up = 0.
    """
    return ratio(table.tp * table.tn, table.fp * (table.fn + table.up))


@metric(range=(-np.inf, np.inf), best=None, undefined=None, expected=True)
def payoff(
    table: FullConfusion,
    tp: float | None = None,
    fp: float | None = None,
    fn: float | None = None,
    tn: float | None = None,
) -> Array:
    """Mean gain of a decision, at given payoffs or at the bookmaker's fair odds.

    Formula: with worths, (worth(tp) tp + worth(fp) fp + worth(fn) fn + worth(tn) tn) / N; at fair odds, informedness.
        This is the sum over the classes l of P(l) G(l), times the share of documents with a decision. Only documents
        with a decision count in what follows. P(l) is the share of them that is decided to be l. G(l), which is
        recall(l) - fallout(l), is what those win together, over the number of all: a document that is l wins 1 /
        prevalence(l), another one loses 1 / (1 - prevalence(l)).
    Undefined: N = 0; at fair odds, where informedness is.
    Parameters: tp, fp, fn, tn, the worth of one document in that cell; a worth that is not given is 0, and a document
        without a decision is worth nothing.
    Source: D. M. W. Powers, Recall & Precision versus The Bookmaker, 2003.
    """
    if tp is fp is fn is tn is None:
        return informedness(table)
    return ratio(_worth(table, tp or 0, fp or 0, fn or 0, tn or 0), table.population)


@metric(range=(-np.inf, np.inf), best=None, expected=True)
def utility(table: FullConfusion, tp: float = 1.0, fp: float = -1.0, fn: float = 0.0, tn: float = 0.0) -> Array:
    """Total value of the retrieved set, with a value for each cell of the table.

    Formula: worth(tp) tp + worth(fp) fp + worth(fn) (fn + up) + worth(tn) tn; trec_eval's defaults are 1, -1, 0, 0.
    Undefined: never.
    Parameters: tp, fp, fn, tn, the worth of one document in that cell; tn other than 0 needs the collection's size.
    Source: trec_eval 9, m_utility.c.
    """
    return _worth(table, tp, fp, fn, tn) + fn * table.up


def _worth(table: FullConfusion, tp: float, fp: float, fn: float, tn: float) -> Array:
    """Worth of the decided documents; true negatives are only read where they are worth something."""
    worth = tp * table.tp + fp * table.fp + fn * table.fn
    return worth + tn * table.tn if tn else worth


@_share(unjudged="turns", also=("relative_p", "set_relative_p", "setrelp"))
def relative_precision(table: FullConfusion) -> Array:
    """Precision as a share of the greatest possible precision with this number of relevant documents.

    Formula: tp / min(tp + fp, R); at a cutoff k, tp / min(k, R).
    Undefined: nothing was retrieved, or no document is relevant.
    Source: trec_eval 9, m_rel_P.c and m_set_rel_P.c.
    """
    return ratio(table.tp, np.minimum(table.predicted, table.actual))


@metric(monotone=True, unjudged="turns", also=("set_map", "setap"))
def set_ap(table: FullConfusion) -> Array:
    """Average precision of a set, with every order equally likely.

    Formula: precision * recall = tp^2 / ((tp + fp) (tp + fn + up)); at a cutoff k, tp^2 / (k (tp + fn + up)).
    Undefined: nothing was retrieved, or no document is relevant.
    Source: trec_eval 9, m_set_map.c.
    """
    return ratio(table.tp * table.tp, table.predicted * table.actual)  # divided once, so that equal shares are equal
