"""Measures of lists other than their relevance: of the catalogue, of popularity, and of groups of documents."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from frame_metrics.inputs import Array, FullRanking, Lists, ratio
from frame_metrics.inputs.rows import hash_of_text
from frame_metrics.metrics.registry import metric

Attention = Literal["log2", "equal"]


@metric(undefined=None, also=("catalog_coverage", "item_coverage"))
def catalogue_coverage(lists: Lists) -> Array:
    """Share of the catalogue that the lists of a segment show together.

    Formula: number of different documents at ranks up to k of all lists, over the number of documents in the catalogue
        (catalogue=). A list whose query has a weight of 0 is not counted.
    Undefined: no list shows anything.
    Source: G. Shani, A. Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook, Springer 2011.
    """
    return ratio(lists.count, lists.catalogue * (lists.count > 0))


@metric(range=(0, np.inf), best=np.inf, undefined=None, also=("item_entropy",))
def distributional_coverage(lists: Lists) -> Array:
    """Entropy, in bits, of the documents in all lists of a segment: 0 if all show the same one document.

    Formula: - sum over documents of p log2(p), where p is the share of a document in all results at ranks up to k.
    Undefined: no list shows anything.
    Source: G. Shani, A. Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook, Springer 2011.
    """
    return lists.reduce(np.add, 0 - lists.sorted_shares * np.log2(lists.sorted_shares), np.nan)


@metric(best=0, undefined=None, also=("gini_index", "item_gini"))
def catalogue_gini(lists: Lists) -> Array:
    """Gini index of how often each document of the catalogue is shown: 0 if all equally, 1 if only one is.

    Formula: sum over j = 1 ... n of (2j - n - 1) p(j) / (n - 1), where p(1) <= ... <= p(n) are the shares of the n
        documents of the catalogue (catalogue=) in all results at ranks up to k; a document that no list shows has a
        share of 0.
    Undefined: no list shows anything, or the catalogue has one document.
    Source: G. Shani, A. Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook, Springer 2011.
    """
    n = lists.catalogue
    place = n - lists.each(lists.count) + lists.position
    return ratio(
        lists.reduce(np.add, (2 * place - n - 1) * lists.sorted_shares, np.nan), np.full(lists.n_queries, n - 1)
    )


def _column_sums(name: str, run: FullRanking, k: int | None = None) -> tuple[Array, Array]:
    """The sum of a column over the results at ranks up to k, and their number, shape (1, queries) each."""
    seen = run.column(name)
    return seen.total_within(k, seen.value)[None], seen.count_within(k)[None]


_mean = partial(metric, range=(0, np.inf), best=None, undefined=None)


@_mean(micro=partial(_column_sums, "popularity=surprise"), also=("surprisal", "mean_self_information"))
def novelty(run: FullRanking, k: int | None = None) -> Array:
    """Mean self-information of the results, in bits: high if they are rarely chosen.

    Formula: mean over ranks up to k of -log2(p), where p is the share of a document in all choices. Each row of
        popularity= is one choice; if it has a column popularity (or count, counts, len, n, frequency), this column is
        the number of choices, and the rows of a document are added up. A document that was never chosen counts like the
        one that was chosen least. With average="micro", the mean is over the results of all lists.
    Undefined: nothing was retrieved.
    Source: P. Castells, S. Vargas, J. Wang, Novelty and diversity metrics for recommender systems: choice, discovery
        and relevance, ECIR 2011 workshop.
    """
    return ratio(*(part[0] for part in _column_sums("popularity=surprise", run, k)))


@_mean(micro=partial(_column_sums, "popularity="), also=("arp", "average_recommendation_popularity"))
def average_popularity(run: FullRanking, k: int | None = None) -> Array:
    """Mean popularity of the results.

    Formula: mean over ranks up to k of how often a document was chosen, counted as in novelty, but 0 for a document
        that was never chosen. With average="micro", the mean is over the results of all lists.
    Undefined: nothing was retrieved.
    Source: H. Yin, B. Cui, J. Li, J. Yao, C. Chen, Challenging the long tail recommendation, PVLDB 5(9), 2012.
    """
    return ratio(*(part[0] for part in _column_sums("popularity=", run, k)))


def _exposure(run: FullRanking, of: str, k: int | None = None, attention: Attention = "log2") -> tuple[Array, Array]:
    """Attention to the documents of a group at ranks up to k, and to all, shape (1, queries) each."""
    seen = run.column("group=")
    looks = np.ones(len(seen.rank)) if attention == "equal" else 1 / np.log2(seen.rank + 1)
    theirs = looks * (seen.value == hash_of_text(of))
    return seen.total_within(k, theirs)[None], seen.total_within(k, looks)[None]


@metric(best=None, undefined=None, micro=_exposure, also=("group_exposure", "attention_weighted_group_share"))
def exposure_share(run: FullRanking, of: str, k: int | None = None, attention: Attention = "log2") -> Array:
    """Share of the attention in a list that goes to the documents of a group (group=).

    There is demographic parity where it is the share of the group among the documents that could be shown.

    Formula: sum of v(r) over the ranks r <= k of the group's documents, over the sum of v(r) over all results at these
        ranks; v(r) = 1 / log2(r + 1), or 1 with attention="equal". With average="micro", both sums are over all lists.
    Undefined: nothing was retrieved.
    Parameters: of, the group, as text; attention, how attention falls with the rank.
    Source: A. Singh, T. Joachims, Fairness of exposure in rankings, KDD 2018. P. Sapiezynski, W. Zeng, R. Robertson, A.
        Mislove, C. Wilson, Quantifying the impact of user attention on fair group representation in ranked lists, WWW
        2019 companion.
    """
    return ratio(*(part[0] for part in _exposure(run, of, k, attention)))
