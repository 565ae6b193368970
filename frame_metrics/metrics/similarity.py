"""The measures of two rankings, which need no judgments; and how near a ranking comes to the ideal one."""

from __future__ import annotations

from typing import Literal

import numpy as np

from frame_metrics.inputs import Array, FullRanking, Rows, TwoRankings, ratio
from frame_metrics.metrics.parameters import Inside, Share
from frame_metrics.metrics.registry import for_two_rankings, metric


@metric(undefined=None, expected=True, also=("rank_biased_overlap",))
def rbo(two: TwoRankings, k: int | None = None, p: Share = 0.9) -> Array:
    """Rank-biased overlap: the share of common documents down to each depth, with most weight at the top.

    It is extrapolated: past the ends of the rankings they go on to agree as they did.

    Formula: (1 - p) sum over the depths d <= l of p^(d - 1) A(d), plus p^l A(l); l is the length of the longer ranking,
        s that of the shorter, and X(d) the number of documents among the first d of both. Up to s, A(d) = X(d) / d, and
        past s, A(d) = (X(d) + (d - s) X(s) / s) / d. If one ranking has no documents, the value is 0.
    Undefined: neither ranking has a document.
    Parameters: p, the probability that a reader goes on to the next depth.
    Source: W. Webber, A. Moffat, J. Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4), 2010, equation
        32; ties, X(d) as in RBO^a of M. Corsi, J. Urbano, The treatment of ties in rank-biased overlap, SIGIR 2024.
    """
    two = two.cut(k)
    depths, last = two.depths, two.depths.rank == two.depths.count[two.depths.query]
    weight = depths.by_rank(lambda d: p ** (d - 1.0)) * np.where(last, 1, 1 - p)
    return np.minimum(ratio(depths.total(weight * two.agreement), depths.total(weight)), 1)


@metric(best=0, undefined=None)
def rbo_residual(two: TwoRankings, k: int | None = None, p: Inside = 0.9) -> Array:
    """Uncertainty of rank-biased overlap: its greatest value minus its least, over all continuations of both rankings.

    Formula: p^s + p^l - p^f - (1 - p) / p (s H(s, f) + l H(l, f) + X H(f, infinity)), where H(a, b) is the sum of p^d /
        d over a < d <= b; s and l are the lengths of the shorter and the longer ranking, X is the number of documents
        in both, and f = s + l - X.
    Undefined: neither ranking has a document.
    Parameters: p, as in rbo, greater than 0 and less than 1.
    Source: W. Webber, A. Moffat, J. Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4), 2010, equation
        30.
    """
    two = two.cut(k)
    shorter, longer = np.sort(two.lengths, axis=0)
    all_met = shorter + longer - two.common
    depth = np.arange(1.0, all_met.max(initial=0) + 1)
    h = np.append(0, np.cumsum(p**depth / depth))
    beyond = shorter * (h[all_met] - h[shorter]) + longer * (h[all_met] - h[longer])
    beyond += two.common * (-np.log1p(-p) - h[all_met])
    left = p**shorter + p**longer - p**all_met - (1 - p) / p * beyond
    return np.where(longer > 0, np.clip(left, 0, 1), np.nan)


@metric(undefined=None, expected=True)
def overlap(two: TwoRankings, k: int | None = None) -> Array:
    """Share of the first k documents that both rankings have; for shorter rankings, of the longer one's.

    Formula: number of documents among the first k of both rankings, over the length of the longer ranking, at most k.
    Undefined: neither ranking has a document.
    Source: W. Webber, A. Moffat, J. Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4), 2010, where it
        is called agreement.
    """
    two = two.cut(k)
    return ratio(two.depths.last(two.overlap), two.depths.count)


@for_two_rankings("jaccard")
def jaccard_of_rankings(two: TwoRankings, k: int | None = None) -> Array:
    """Documents that are among the first k of both rankings, over those of either; without any it is undefined."""
    two = two.cut(k)
    return ratio(two.common, two.lengths.sum(axis=0) - two.common)


@metric(range=(-1, 1), undefined=None, also=("kendall", "kendalls_tau", "tau"))
def kendall_tau(two: TwoRankings, k: int | None = None, variant: Literal["a", "b"] = "a") -> Array:
    """Kendall's tau: pairs of documents in the same order minus those in the opposite order, as a share of all pairs.

    Documents that a ranking lacks stand below all that it has, in no order.

    Formula: (C - D) / P; of the P pairs of documents of either ranking, C are in the same order in both and D in
        opposite orders. This is the mean over all orders of tied documents. 'b': (C - D) / sqrt((P - T) (P - U)), where
        T pairs are tied in one ranking and U in the other. If one ranking has no documents, the value is 0.
    Undefined: neither ranking has a document, or both have only the same one; with 'b', also if all documents of one
        are tied.
    Parameters: variant, 'a', or 'b', as in scipy's kendalltau.
    Source: M. G. Kendall, Rank correlation methods, 1948; documents that are lacking, as with p = 1/2 in R. Fagin, R.
        Kumar, D. Sivakumar, Comparing top k lists, SIAM Journal on Discrete Mathematics 17(1), 2003.
    """
    two = two.cut(k)
    order, place = two.one_order, two.one_order.place
    pairs, rising, tied, other = map(
        place.total, (place.position - 1, order.rising, order.tied, order.tied_in_baseline)
    )
    more = 2 * rising - pairs - tied - other + place.total(order.tied_in_both)
    value = ratio(more, pairs if variant == "a" else np.sqrt((pairs - tied) * (pairs - other)))
    return np.where(two.one_empty, 0, value)


@metric(range=(-1, 1), undefined=None, also=("tau_average_precision", "ap_correlation"))
def tau_ap(two: TwoRankings, k: int | None = None) -> Array:
    """AP correlation: Kendall's tau with most weight at the top of the ranking; the baseline is the right order.

    Documents that a ranking lacks stand below all that it has, in no order.

    Formula: 2 / (n - 1) times the sum over the places i = 2 ... n of C(i) / (i - 1), minus 1; n is the number of
        documents in either ranking, and C(i) the number of documents above place i that are above its document in the
        baseline too. This is the mean over all orders of tied documents. If one ranking has no documents, the value is
        0.
    Undefined: neither ranking has a document, or both have only the same one.
    Source: E. Yilmaz, J. A. Aslam, S. Robertson, A new rank correlation coefficient for information retrieval, SIGIR
        2008; ties, J. Urbano, M. Marrero, The treatment of ties in AP correlation, ICTIR 2017.
    """
    two = two.cut(k)
    order, place = two.one_order, two.one_order.place
    right = order.rising - order.tied - (order.tied_in_baseline - order.tied_in_both) / 2
    tie = np.arange(len(right)) - order.tied  # where the tie of each document begins
    mean = (np.bincount(tie, right) / np.maximum(np.bincount(tie), 1))[tie] if len(tie) else right
    share = (mean + order.tied / 2) / np.maximum(place.position - 1, 1)
    return np.where(two.one_empty, 0, ratio(2 * place.total(share), place.count - 1.0 * (place.count > 0)) - 1)


@metric(monotone=True, also=("compat",))
def compatibility(run: FullRanking, p: Share = 0.95, normalize: bool = True) -> Array:
    """Rank-biased overlap with the nearest ideal ranking, in which documents of one grade keep their order here.

    Formula: sum over the depths d of p^(d - 1) times the share of d documents that are among the first d of both, over
        the same sum for the ideal ranking compared with itself; d goes to the end of the longer ranking. The ideal
        ranking has all documents with a gain, the highest grade first.
    Undefined: no document has a gain.
    Parameters: p, as in rbo; normalize, False to divide by the sum of p^(d - 1) instead.
    Source: C. L. A. Clarke, A. Vtyurina, M. D. Smucker, Assessing top-k preferences, ACM TOIS 39(3), 2021, as in
        ir_measures.
    """
    seen, best = run.gains(), run.ideal()
    # Numbers that rise from query to query, and within one from the highest grade to the lowest.
    gain = np.unique(np.concatenate([seen.value, best.value]), return_inverse=True)[1]
    level = (gain.max(initial=0) - gain) + np.concatenate([seen.query, best.query]) * (gain.max(initial=0) + 1)
    mine, ideal = np.split(level, [len(seen.value)])
    # The first result of a grade takes the first place of that grade in the ideal ranking, the second the second ...
    order = np.argsort(mine, kind="stable")
    above = np.arange(len(mine)) - np.searchsorted(mine[order], mine[order])  # results of its grade
    place = np.empty(len(mine), np.int64)
    place[order] = above + np.searchsorted(ideal, mine[order]) - best.starts[seen.query[order]] + 1
    end = np.maximum(run.last_rank, best.count).astype(np.int64)
    d = np.arange(1.0, end.max(initial=0) + 1)
    weight, user = np.append(0, np.cumsum(p ** (d - 1) / d)), np.append(0, np.cumsum(p ** (d - 1)))

    def met(rows: Rows, depth: Array) -> Array:
        """The sum over the depths from that at which each document is in both, down to the end."""
        return rows.total(weight[end[rows.query]] - weight[depth.astype(np.int64) - 1])

    whole = met(best, best.position)
    return np.where(
        whole > 0, ratio(met(seen, np.maximum(place, seen.rank)), whole if normalize else user[end]), np.nan
    )
