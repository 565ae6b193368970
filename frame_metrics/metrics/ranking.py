"""The measures of a ranking. Each reads like its definition: r is a rank from 1, R the number of relevant documents."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs import Array, FullRanking, Rows, Sums, ratio, top_gain, values_of_function
from frame_metrics.metrics.parameters import Discount, GainName, Levels, LogBase, Positive, Share
from frame_metrics.metrics.registry import metric

_count = partial(metric, range=(0, np.inf), best=None, summed=True, monotone=True, expected=True)
_gain = partial(metric, range=(0, np.inf), best=None, monotone=True, expected=True, unjudged="rises", adds=True)
ELEVEN = [tenth / 10 for tenth in range(11)]  # levels of recall


def _defined(run: FullRanking, values: Array) -> Array:
    """Values, NaN for queries without a relevant document."""
    return np.where(run.n_relevant > 0, values, np.nan)


def _discount(rank: Array, discount: Discount, base: float) -> Array:
    if callable(discount):
        if base != 2:
            raise BadValueError("discount= is a function, and base= requires a logarithm; give one of them")
        return values_of_function("discount", discount, np.maximum(rank, 1), rising=False)
    return (
        1 / np.maximum(np.log(np.maximum(rank, 1)) / np.log(base), 1)
        if discount == "jk"
        else np.log2(base) / np.log2(rank + 1)
    )


def _down_to(seen: Rows, best: Rows, running: Array) -> Array:
    """The running sum of the ideal ranking at the rank of each row, or at its end if that comes before."""
    place = np.minimum(seen.rank, best.count[seen.query]).astype(np.int64)
    return running[best.starts[seen.query] + place - 1]


def _discounted(seen: Rows, discount: Discount, base: float) -> Sums:
    weigh = partial(_discount, discount=discount, base=base)
    return seen.cached((discount, base), lambda: Sums(seen, seen.value * seen.by_rank(weigh)))


@_gain(weights="cg", also=("cumulative_gain", "cumulated_gain"))
def cg(run: FullRanking, k: int | None = None, gain: GainName = "linear") -> Array:
    """Cumulated gain: the sum of the gains of the first k documents.

    Formula: sum over r <= k of gain(r).
    Undefined: never.
    Parameters: gain, 'linear' (the grade), 'exp' (2^grade - 1), a mapping from grades to gains, a list of the gains of
        the grades 0, 1, 2 ..., as [0, 1, 3, 7], or a function of one grade, which gives a number from 0 and never
        falls.
    Source: K. Jarvelin, J. Kekalainen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002.
    """
    return run.gains(gain).sums.within(k)


@metric(monotone=True, expected=True, unjudged="rises", adds=True)
def ncg(run: FullRanking, k: int | None = None, max_grade: Positive | None = None, gain: GainName = "linear") -> Array:
    """Cumulated gain as a share of that of k documents of the highest grade.

    Formula: cg@k / (k gain(max_grade)); without a cutoff, k is the number of retrieved documents.
    Undefined: nothing was retrieved (without a cutoff).
    Parameters: max_grade, the highest grade of the scale; gain, as in cg.
    """
    places = run.retrieved() if k is None else np.full(run.n_queries, k)
    return ratio(cg(run, k, gain), top_gain(max_grade, gain) * places)


@_gain(weights="dcg", also=("discounted_cumulative_gain",))
def dcg(
    run: FullRanking, k: int | None = None, gain: GainName = "linear", discount: Discount = "log2", base: LogBase = 2.0
) -> Array:
    """Discounted cumulated gain of the first k documents.

    Formula: sum over r <= k of gain(r) / log_base(r + 1); with discount 'jk', gain(r) for r <= base and
        gain(r) / log_base(r) after.
    Undefined: never.
    Parameters: gain, as in cg; discount, 'log2', 'jk' (Jarvelin and Kekalainen's own), or a function of one rank, which
        gives a number from 0 and never rises; base, the base of the logarithm.
    Source: K. Jarvelin, J. Kekalainen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002; the
        exponential gain: C. Burges et al., Learning to rank using gradient descent, ICML 2005.
    """
    return _discounted(run.gains(gain), discount, base).within(k)


@metric(range=(0, np.inf), best=None, monotone=True, expected=True, also=("ideal_dcg",))
def idcg(
    run: FullRanking, k: int | None = None, gain: GainName = "linear", discount: Discount = "log2", base: LogBase = 2.0
) -> Array:
    """Discounted cumulated gain of the ideal ranking of all judged documents, retrieved or not.

    Formula: dcg@k of the judged documents in the order of their gains, the highest first.
    Undefined: never.
    Parameters: as in dcg.
    Source: K. Jarvelin, J. Kekalainen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002.
    """
    return _discounted(run.ideal(gain), discount, base).within(k)


@metric(monotone=True, expected=True, unjudged="scan", weights="dcg", also=("normalized_discounted_cumulative_gain",))
def ndcg(
    run: FullRanking, k: int | None = None, gain: GainName = "linear", discount: Discount = "log2", base: LogBase = 2.0
) -> Array:
    """Discounted cumulated gain divided by that of the ideal ranking of all judged documents.

    Formula: dcg@k / ideal dcg@k.
    Undefined: no document has a gain.
    Parameters: as in dcg.
    Source: K. Jarvelin, J. Kekalainen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002.
    """
    return ratio(dcg(run, k, gain, discount, base), idcg(run, k, gain, discount, base))


@metric()
def ndcg_rel(run: FullRanking, gain: GainName = "linear") -> Array:
    """nDCG averaged over the ranks of the documents with a gain.

    Formula: the mean over these documents of ndcg@r, where r is the rank of the document; one that was not retrieved
        counts with the ndcg of the whole ranking.
    Undefined: no document has a gain.
    Parameters: gain, as in cg.
    Source: trec_eval 9, m_ndcg_rel.c.
    """
    seen, best = run.gains(gain), run.ideal(gain)
    down, ideal = (_discounted(rows, "log2", 2).values for rows in (seen, best))
    at_rank = _down_to(seen, best, best.running(ideal))
    missed = (best.count - seen.count) * ratio(seen.total(down), best.total(ideal))
    return ratio(seen.total(seen.running(down) / at_rank) + missed, best.count)


@metric()
def q_measure(run: FullRanking, k: int | None = None, beta: Positive = 1.0, gain: GainName = "linear") -> Array:
    """Average precision for graded documents: at each, the number and gain found so far, as a share of the best.

    Formula: sum over the ranks r <= k of documents with a gain of (c(r) + beta cg@r) / (r + beta ideal cg@r), over the
        number of documents with a gain; c(r) is the number of these at ranks up to r.
    Undefined: no document has a gain.
    Parameters: beta, the weight of gain beside number; gain, as in cg.
    Source: T. Sakai, On the reliability of information retrieval metrics based on graded relevance, Information
        Processing and Management 43(2), 2007.
    """
    seen, best = run.gains(gain), run.ideal(gain)
    ideal = _down_to(seen, best, best.running(best.value))
    share = (seen.position / beta + seen.running(seen.value)) / (seen.rank / beta + ideal)
    return ratio(seen.total_within(k, share), best.count)


@metric()
def rndcg(run: FullRanking, gain: GainName = "linear") -> Array:
    """nDCG averaged over the ranks at which the ideal ranking's gain falls.

    Formula: the mean of ndcg at the cutoffs n1, n1 + n2, ..., where n1 documents have the highest gain, n2 the next
        one, and so on. If the ranking has at least 2 documents more than the ideal one, this mean includes one more
        value: dcg over ideal dcg at the end of the ranking.
    Undefined: no document is relevant, or none has a gain.
    Parameters: gain, as in cg.
    Source: trec_eval 9, m_Rndcg.c.
    """
    seen, best = run.gains(gain), run.ideal(gain)
    ideal = best.running(_discounted(best, "log2", 2).values)
    last = best.position == best.count[best.query]
    falls = np.flatnonzero(last | (best.value != np.append(best.value[1:], -1)))
    steps = Rows(best.query[falls], best.position[falls], ideal[falls], run.n_queries)
    # The dcg at a cutoff is the running dcg of the last document with a gain at or above it.
    dcg_here = np.concatenate([[0.0], seen.running(_discounted(seen, "log2", 2).values)])
    width = int(max(seen.rank.max(initial=0), steps.rank.max(initial=0))) + 1
    before = np.searchsorted(seen.query * width + seen.rank, steps.query * width + steps.rank, side="right")
    here = np.where(before > seen.starts[steps.query], dcg_here[before], 0)
    longer = run.retrieved() >= best.count + 2
    end = np.where(
        longer, ratio(_discounted(seen, "log2", 2).within(None), steps.total(np.where(last[falls], ideal[falls], 0))), 0
    )
    return _defined(run, ratio(steps.total(here / steps.value) + end, steps.count + (longer & (steps.count > 0))))


@metric()
def g_trec(run: FullRanking, gain: GainName = "linear") -> Array:
    """trec_eval's G: a gain counts more if little gain has been missed so far.

    Formula: sum over r of gain(r) / log2(2 + c(r) - g(r)), over the sum of all gains; g(r) is the gain of the first r
        documents, and c(r) that of the first r ranks of the ideal ranking, of which each counts at least 1.
    Undefined: no document has a gain.
    Parameters: gain, as in cg.
    Source: trec_eval 9, m_G.c.
    """
    seen, best = run.gains(gain), run.ideal(gain)
    cost = seen.rank + _down_to(seen, best, best.running(np.maximum(best.value - 1, 0)))
    return ratio(seen.total(seen.value / np.log2(2 + cost - seen.running(seen.value))), best.total(best.value))


@metric(monotone=True)
def bin_g(run: FullRanking) -> Array:
    """trec_eval's binary G: a relevant document counts less for each other document above it.

    Formula: sum over the relevant documents of 1 / log2(2 + n), over R; n is the number of documents above that are not
        relevant.
    Undefined: no document is relevant.
    Source: trec_eval 9, m_binG.c.
    """
    return ratio(run.total(1 / np.log2(2 + run.rank - run.position)), run.n_relevant)


@metric(
    monotone=True,
    expected=True,
    unjudged="scan",
    also=("map", "mean_average_precision", "average_precision_of_a_ranking"),
    pooled="average_precision",
    unless={"norm": "found"},
)
def ap(run: FullRanking, k: int | None = None, norm: Literal["R", "min(k, R)", "found"] = "R") -> Array:
    """Average precision: the mean over the relevant documents of the precision at their ranks, 0 if not retrieved.

    Formula: sum over the relevant r <= k of precision@r, over R.
    Undefined: no document is relevant.
    Parameters: norm, the divisor: 'R'; 'min(k, R)', the number of relevant documents that k places can hold; or
        'found', the number of relevant documents at ranks up to k, so that missed ones do not count (0 if none is
        found).
    Source: C. D. Manning, P. Raghavan, H. Schuetze, Introduction to Information Retrieval, 2008, ch. 8; 'found': Ragas,
        context precision.
    """
    total = run.precisions.within(k)
    if norm == "found":
        return _defined(run, total / np.maximum(run.hits(k), 1))
    return ratio(total, run.n_relevant if norm == "R" or k is None else np.minimum(run.n_relevant, k))


@metric(
    monotone=True,
    expected=True,
    unjudged="rises",
    also=("mrr", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
)
def rr(run: FullRanking, k: int | None = None) -> Array:
    """Reciprocal rank of the first relevant document, 0 past the cutoff.

    Formula: 1 / rank of the first relevant document.
    Undefined: no document is relevant.
    Source: E. M. Voorhees, The TREC-8 question answering track report, 1999.
    """
    return _defined(run, run.first_reciprocals.within(k))


@metric(monotone=True, expected=True, unjudged="scan", also=("r-precision", "r_precision"))
def rprec(run: FullRanking) -> Array:
    """R-precision: precision at rank R, where R is the number of relevant documents.

    Formula: relevant documents at ranks up to R, over R.
    Undefined: no document is relevant.
    Source: C. D. Manning, P. Raghavan, H. Schuetze, Introduction to Information Retrieval, 2008, ch. 8.
    """
    return ratio(run.total(run.rank <= run.n_relevant[run.query]), run.n_relevant)


@metric(monotone=True, expected=True)
def rprec_mult(run: FullRanking, multiple: Positive) -> Array:
    """Precision after a multiple of the number of relevant documents.

    Formula: relevant documents at ranks up to c, over c, with c = floor(multiple R + 0.9).
    Undefined: c = 0, as for a query without relevant documents.
    Parameters: multiple, the factor of R.
    Source: trec_eval 9, m_Rprec_mult.c.
    """
    places = np.floor(multiple * run.n_relevant + 0.9)
    return ratio(run.total(run.rank <= places[run.query]), places)


@metric(monotone=True)
def precision_at_recall(run: FullRanking, recall: Share) -> Array:
    """Precision at the first rank that reaches a recall level, 0 if none does.

    Formula: precision@r, where r is the rank of the ceil(recall R)-th relevant document, at least of the first.
    Undefined: no document is relevant.
    Parameters: recall, the level; ``precision_at_recall@0.5`` sets it too.
    Source: Weber, Multimedia Retrieval, ch. 2, where it is called R-precision.
    """
    place = np.maximum(np.ceil(recall * run.n_relevant - 1e-9), 1).astype(np.int64)
    return _defined(run, run.relevant.at(place, run.precision, outside=0.0))


@metric(monotone=True, also=("iprec_at_recall", "interpolated_precision"))
def iprec(run: FullRanking, recall: Share) -> Array:
    """Interpolated precision at a recall level: the greatest precision at that level or a higher one.

    Formula: the greatest precision@r over all r >= s, where s is the rank of the floor(recall R + 0.9)-th relevant
        document, at least of the first.
    Undefined: no document is relevant.
    Parameters: recall, the level; ``iprec@0.1`` sets it too.
    Source: trec_eval 9, m_iprec_at_recall.c.
    """
    place = np.maximum(np.floor(recall * run.n_relevant + 0.9), 1).astype(np.int64)
    return _defined(run, run.relevant.at(place, run.interpolated, outside=0.0))


@metric(monotone=True, also=("11pt_avg", "11_point_average"))
def iprec_avg(run: FullRanking, recalls: Levels = ELEVEN) -> Array:
    """Mean of the interpolated precision at recall levels, by default the eleven levels 0, 0.1, ..., 1.

    Formula: the mean of iprec over the levels.
    Undefined: no document is relevant.
    Parameters: recalls, the levels.
    Source: C. D. Manning, P. Raghavan, H. Schuetze, Introduction to Information Retrieval, 2008, ch. 8.
    """
    return sum((iprec(run, recall) for recall in recalls), np.zeros(run.n_queries)) / len(recalls)


@metric(monotone=True, expected=True, unjudged="rises", also=("hit_rate", "hit", "hr"), pooled="recall")
def success(run: FullRanking, k: int | None = None) -> Array:
    """Presence of a relevant document at ranks up to k.

    Formula: 1 if there is one, else 0.
    Undefined: no document is relevant.
    Source: as hit rate, M. Deshpande, G. Karypis, Item-based top-N recommendation algorithms, ACM TOIS 22(1), 2004.
    """
    return _defined(run, np.minimum(run.firsts.within(k), 1))


@metric(monotone=True, also=("binary_preference",))
def bpref(run: FullRanking) -> Array:
    """Binary preference: how rarely judged non-relevant documents are above relevant ones; unjudged ones are ignored.

    Formula: 1 / R times the sum over the relevant retrieved documents of 1 - min(n, R) / min(N, R), or of 1 if n = 0; n
        is the number of judged non-relevant documents above, N the number of all judged non-relevant documents.
    Undefined: no document is relevant.
    Source: C. Buckley, E. M. Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004, as in trec_eval 9.
    """
    r = run.n_relevant
    above = np.minimum(run.nonrelevant_above, r[run.query])
    least = np.minimum(run.n_nonrelevant, r)[run.query]
    return ratio(run.total(1 - above / np.maximum(least, 1)), r)


@metric(also=("inferred_ap",))
def infap(run: FullRanking) -> Array:
    """Inferred average precision, if the judged documents are a random sample of a pool.

    Formula: the mean over the relevant documents of 1 / r + p / r (a + e) / (a + n + 2 e), with e = 1e-5; above rank r
        are p documents of the pool, of which a are judged relevant and n judged not relevant. A negative grade means
        that the document is in the pool and was not judged.
    Undefined: no document is relevant.
    Source: E. Yilmaz, J. A. Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006, as
        in trec_eval 9.
    """
    pooled, wrong, right = run.above(run.judged), run.nonrelevant_above, run.position - 1
    expected = (right + 1e-5) / (right + wrong + 2e-5)
    return ratio(run.total((1 + pooled * expected) / run.rank), run.n_relevant)


@metric(monotone=True, expected=True, unjudged="rises", weights="rbp", adds=True, also=("rank_biased_precision",))
def rbp(
    run: FullRanking,
    k: int | None = None,
    p: Share = 0.8,
    gain: GainName | None = None,
    max_grade: Positive | None = None,
) -> Array:
    """Rank-biased precision: the share of gain seen by a user who goes on to the next rank with probability p.

    Formula: (1 - p) sum over r <= k of p^(r - 1) rel(r); with a gain, rel(r) = gain(r) / gain(max_grade).
    Undefined: never.
    Parameters: p, the persistence: the probability to go on to the next rank; gain, as in cg, by default binary
        relevance; max_grade, the highest grade of the scale, needed with gain.
    Source: A. Moffat, J. Zobel, Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 27(1), 2008.
    """
    seen = run.relevant if gain is None else run.gains(gain)
    top = 1.0 if gain is None else top_gain(max_grade, gain)
    return (1 - p) * seen.total_within(k, seen.value * seen.by_rank(lambda r: p ** (r - 1.0))) / top


@metric(best=0, expected=True)
def rbp_residual(run: FullRanking, k: int | None = None, p: Share = 0.8) -> Array:
    """Rise of rank-biased precision if every unjudged or unseen document were relevant.

    Formula: 1 - (1 - p) sum over the judged r <= k of p^(r - 1).
    Undefined: never.
    Parameters: p, the persistence.
    Source: A. Moffat, J. Zobel, Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 27(1), 2008.
    """
    return 1 - (1 - p) * run.mass(lambda r: p ** (r - 1.0), run.judged, k)


@metric(monotone=True, unjudged="rises", pooled="error_rate", also=("expected_reciprocal_rank",))
def err(run: FullRanking, k: int | None = None, max_grade: Positive | None = None) -> Array:
    """Expected reciprocal rank of the document that satisfies a user who reads down the ranking.

    Formula: sum over r <= k of 1 / r s(r) times the product over i < r of 1 - s(i), where s = (2^grade - 1) /
        2^max_grade.
    Undefined: never.
    Parameters: max_grade, the highest grade of the scale.
    Source: O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009.
    """
    seen = run.gains("exp")
    satisfied = seen.value / (top_gain(max_grade, "exp") + 1)
    down = seen.running(1 - satisfied, np.multiply, fill=1.0)
    still_reading = np.where(seen.position == 1, 1.0, np.roll(down, 1))
    return seen.total_within(k, satisfied * still_reading / seen.rank)


@metric(best=None, monotone=None, expected=True)
def judged(run: FullRanking, k: int | None = None) -> Array:
    """Share of the first k retrieved documents that have a judgment.

    Formula: judged documents at ranks up to k, over the documents that were retrieved there: min(k, retrieved) if ranks
        have no gaps. As in any metric, queries without a single judgment are left out of the mean;
        unjudged_queries="count" counts them as 0.
    Undefined: nothing was retrieved at ranks up to k.
    """
    return ratio(run.count_of(run.judged, k), run.retrieved(k))


@metric(best=0, monotone=None, expected=True, also=("unj",))
def unjudged(run: FullRanking, k: int | None = None) -> Array:
    """Share of the first k places with an unjudged document; an unfilled place has none.

    Formula: documents without a judgment at ranks up to k, over k; without a cutoff, over those that were retrieved.
    Undefined: nothing was retrieved (without a cutoff).
    Source: trec_eval 10, where it is called unj.
    """
    return ratio(run.retrieved(k) - run.count_of(run.judged, k), run.retrieved() if k is None else np.array(k))


@metric(monotone=True, also=("system_efficiency",))
def efficiency(run: FullRanking, k: int | None = None) -> Array:
    """System efficiency: how close the precision-recall points come to the corner where both are 1.

    Formula: 1 - d / sqrt(2), where d is the least distance of a point (precision@r, recall@r), r <= k, to (1, 1).
    Undefined: no document is relevant.
    Source: Weber, Multimedia Retrieval, ch. 2.
    """
    distance = np.hypot(1 - run.precision, 1 - run.position / np.maximum(run.n_relevant[run.query], 1))
    if k is not None:
        distance = np.where(run.rank <= k, distance, np.sqrt(2))
    return _defined(run, 1 - run.relevant.reduce(np.minimum, distance, empty=np.sqrt(2)) / np.sqrt(2))


@metric(range=(1, 1), best=None, summed=True, monotone=True, expected=True, also=("numq",))
def num_q(run: FullRanking) -> Array:
    """Number of queries that were evaluated.

    Formula: count; 1 per query.
    Undefined: never.
    """
    return np.ones(run.n_queries)


@_count(also=("numret",))
def num_ret(run: FullRanking, k: int | None = None) -> Array:
    """Number of retrieved documents at ranks up to k.

    Formula: count.
    Undefined: never.
    """
    return run.retrieved(k).astype(np.float64)


@_count(unjudged="rises", also=("numrel",))
def num_rel(run: FullRanking) -> Array:
    """Number of relevant documents, retrieved or not: R.

    Formula: count.
    Undefined: never.
    """
    return run.n_relevant.astype(np.float64)


@_count(unjudged="rises", adds=True, also=("hits", "numrelret"), pooled="tp")
def num_rel_ret(run: FullRanking, k: int | None = None) -> Array:
    """Number of relevant documents that were retrieved at ranks up to k.

    Formula: count.
    Undefined: never.
    """
    return run.hits(k)


@metric(range=(0, np.inf), best=None, summed=True, monotone=None, expected=True)
def num_nonrel_judged_ret(run: FullRanking, k: int | None = None) -> Array:
    """Number of retrieved documents at ranks up to k that are judged not relevant.

    Formula: count; a document with a negative grade is not counted.
    Undefined: never.
    Source: trec_eval 9, m_num_nonrel_judged_ret.c.
    """
    return run.count_of(run.nonrelevant, k).astype(np.float64)
