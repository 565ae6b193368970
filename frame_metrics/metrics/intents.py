"""The measures of rankings for queries of several intents, from judgments of documents for single subtopics."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from frame_metrics.errors import KernelError
from frame_metrics.inputs import Array, FullRanking, Rows, ratio
from frame_metrics.metrics.parameters import Share
from frame_metrics.metrics.registry import metric

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
LONGEST = 10**7  # terms of a sum over ranks
Weight = Callable[[Array], Array]  # of ranks


def _logarithmic(rank: Array) -> Array:
    return 1 / np.log2(np.maximum(rank, 1) + 1)


def _reciprocal(rank: Array) -> Array:
    return 1 / np.maximum(rank, 1)


def _novel(rows: Rows, k: int | None, alpha: float, weight: Weight) -> Array:
    """Sum over the documents and subtopics at ranks up to k of (1 - alpha)^c weight(r), shape (queries,)."""
    return rows.total_within(k, (1 - alpha) ** rows.value * rows.by_rank(weight))


def _of_all(run: FullRanking, k: int | None, alpha: float, weight: Weight) -> Array:
    """Sum what k documents would gain if each was relevant to all subtopics, shape (queries,)."""
    places = run.retrieved() if k is None else np.full(run.n_queries, k)
    most = int(places.max(initial=0))
    most = min(most, int(80 / alpha)) if alpha > 80 / LONGEST else most  # (1 - alpha)^(80 / alpha) adds nothing
    if most > LONGEST:
        raise KernelError(f"a sum of {most} terms is too long; give a cutoff of at most {LONGEST}")
    rank = np.arange(1.0, most + 1)
    sums = np.append(0, np.cumsum((1 - alpha) ** (rank - 1) * weight(rank)))
    return run.intents.count * sums[np.minimum(places, most)]


def _share_of_best(run: FullRanking, k: int | None, alpha: float, weight: Weight) -> Array:
    """The sum divided by that of the ideal ranking, shape (queries,)."""
    best = run.intents.ideal(alpha, k)
    return ratio(_novel(run.intents.seen, k, alpha, weight), _novel(best, k, alpha, weight))


@metric(also=(f"{ALPHA}_dcg", f"{ALPHA}dcg"))
def alpha_dcg(run: FullRanking, k: int | None = None, alpha: Share = 0.5) -> Array:
    """Discounted cumulated novelty: a document gains less for a subtopic that more documents above it had.

    Formula: sum over r <= k and the subtopics of the document at r of (1 - alpha)^c / log2(r + 1), over S sum over r <=
        k of (1 - alpha)^(r - 1) / log2(r + 1); c is the number of documents above that are relevant to the same
        subtopic, S the number of subtopics with a relevant document. Without a cutoff, k is the number of retrieved
        documents.
    Undefined: no document is relevant to a subtopic; without a cutoff, also if nothing was retrieved.
    Parameters: alpha, the share of the gain that a subtopic loses with each document that has it.
    Source: C. L. A. Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008; the divisor:
        ndeval 4.5.
    """
    return ratio(_novel(run.intents.seen, k, alpha, _logarithmic), _of_all(run, k, alpha, _logarithmic))


# The order found rank by rank is seldom worse than the best one; if it is, a value may be above 1.
_of_the_ideal = partial(metric, range=(0, np.inf))


@_of_the_ideal(also=(f"{ALPHA}_ndcg", f"{ALPHA}ndcg"))
def alpha_ndcg(run: FullRanking, k: int | None = None, alpha: Share = 0.5) -> Array:
    """Discounted cumulated novelty divided by that of the ideal ranking of all judged documents.

    Formula: the first sum of alpha_dcg, over the same sum for the ideal ranking. The ideal ranking has at each rank the
        document that gains most after those above it; of equal ones, the one with the last id. Another order may gain
        more, so a value can be above 1.
    Undefined: no document is relevant to a subtopic.
    Parameters: as in alpha_dcg.
    Source: C. L. A. Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008.
    """
    return _share_of_best(run, k, alpha, _logarithmic)


@metric()
def err_ia(run: FullRanking, k: int | None = None, alpha: Share = 0.5) -> Array:
    """Intent-aware expected reciprocal rank: each subtopic has readers whom its documents may satisfy.

    Formula: sum over r <= k and the subtopics of the document at r of (1 - alpha)^c / r, over
        S sum over r <= k of (1 - alpha)^(r - 1) / r; c and S as in alpha_dcg. Without a cutoff, k is the number of
        retrieved documents.
    Undefined: no document is relevant to a subtopic; without a cutoff, also if nothing was retrieved.
    Parameters: alpha, the probability that a document satisfies a reader whose subtopic it is relevant to.
    Source: O. Chapelle, S. Ji, C. Liao, E. Velipasaoglu, L. Lai, S.-L. Wu, Intent-based diversification of web search
        results: metrics and algorithms, Information Retrieval 14(6), 2011; the divisor, and alpha: ndeval 4.5.
    """
    return ratio(_novel(run.intents.seen, k, alpha, _reciprocal), _of_all(run, k, alpha, _reciprocal))


@_of_the_ideal()
def nerr_ia(run: FullRanking, k: int | None = None, alpha: Share = 0.5) -> Array:
    """Intent-aware expected reciprocal rank divided by that of the ideal ranking of all judged documents.

    Formula: the first sum of err_ia, over the same sum for the ideal ranking of alpha_ndcg.
    Undefined: no document is relevant to a subtopic.
    Parameters: as in err_ia.
    Source: ndeval 4.5.
    """
    return _share_of_best(run, k, alpha, _reciprocal)


def _patient(beta: float) -> Weight:
    return lambda rank: beta ** np.maximum(rank - 1.0, 0)


@metric()
def nrbp(run: FullRanking, alpha: Share = 0.5, beta: Share = 0.5) -> Array:
    """Novelty- and rank-biased precision: novelty for a reader who goes on to the next rank with probability beta.

    Formula: (1 - (1 - alpha) beta) / S, times the sum over r and the subtopics of the document at r of
        (1 - alpha)^c beta^(r - 1); c and S as in alpha_dcg.
    Undefined: no document is relevant to a subtopic.
    Parameters: alpha, as in alpha_dcg; beta, the patience.
    Source: C. L. A. Clarke, M. Kolla, O. Vechtomova, An effectiveness measure for ambiguous and underspecified queries,
        ICTIR 2009.
    """
    novelty = _novel(run.intents.seen, None, alpha, _patient(beta))
    return ratio((1 - (1 - alpha) * beta) * novelty, run.intents.count)


@_of_the_ideal()
def nnrbp(run: FullRanking, alpha: Share = 0.5, beta: Share = 0.5) -> Array:
    """Novelty- and rank-biased precision divided by that of the ideal ranking of all judged documents.

    Formula: nrbp, over nrbp of the ideal ranking of alpha_ndcg.
    Undefined: no document is relevant to a subtopic.
    Parameters: as in nrbp.
    Source: ndeval 4.5.
    """
    return _share_of_best(run, None, alpha, _patient(beta))


@metric(also=("ap_ia", "intent_aware_map"))
def map_ia(run: FullRanking) -> Array:
    """Intent-aware average precision: the mean over the subtopics of the average precision for each.

    Formula: sum over r and the subtopics of the document at r of (c + 1) / (r R(s)), over S; R(s) is the number of
        documents that are relevant to the subtopic, c and S as in alpha_dcg.
    Undefined: no document is relevant to a subtopic.
    Source: R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong, Diversifying search results, WSDM 2009; subtopics count
        alike.
    """
    seen = run.intents.seen
    return ratio(seen.total((seen.value + 1) / seen.rank / run.intents.relevant), run.intents.count)


@metric(also=("precision_ia", "intent_aware_precision"))
def p_ia(run: FullRanking, k: int | None = None) -> Array:
    """Intent-aware precision: the mean over the subtopics of the precision for each.

    Formula: sum over r <= k of the number of subtopics of the document at r, over k S; S is the number of subtopics
        with a relevant document. Without a cutoff, k is the number of retrieved documents.
    Undefined: no document is relevant to a subtopic; without a cutoff, also if nothing was retrieved.
    Source: R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong, Diversifying search results, WSDM 2009; subtopics count
        alike.
    """
    places = run.retrieved() if k is None else np.full(run.n_queries, k)
    return ratio(run.intents.seen.count_within(k).astype(np.float64), run.intents.count * places)


@metric(also=("strec", "subtopic_recall", "s_recall"))
def strecall(run: FullRanking, k: int | None = None) -> Array:
    """Subtopic recall: the share of the subtopics that the first k documents are relevant to.

    Formula: subtopics with a relevant document at ranks up to k, over all subtopics with a relevant document.
    Undefined: no document is relevant to a subtopic.
    Source: C. Zhai, W. W. Cohen, J. Lafferty, Beyond independent relevance: methods and evaluation metrics for subtopic
        retrieval, SIGIR 2003.
    """
    seen = run.intents.seen
    return ratio(seen.total_within(k, (seen.value == 0).astype(np.float64)), run.intents.count)
