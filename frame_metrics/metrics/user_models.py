"""Measures of users who read down a ranking: the mean gain of a document read (the C/W/L framework, as in cwl_eval).

A. Moffat, P. Bailey, F. Scholer, P. Thomas, Incorporating user expectations and behavior into the measurement of search
effectiveness, ACM TOIS 35(3), 2017; L. Azzopardi, P. Thomas, A. Moffat, cwl_eval: an evaluation tool for information
retrieval, SIGIR 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs import Array, FullRanking, Rows, top_gain
from frame_metrics.metrics.parameters import GainName, Goal, Positive, Share
from frame_metrics.metrics.registry import metric

Top: TypeAlias = Positive | None  # the highest grade
MOST_RANKS_READ = 1000  # ranks that are read at most, as in cwl_eval
QUERIES_AT_ONCE = 256  # number of queries in one grid of queries and ranks

_fixed = partial(metric, monotone=True, expected=True, unjudged="rises", adds=True)  # the same ranks, whatever is there
_adaptive = partial(metric, monotone=True, unjudged="rises")  # the user goes by what was found


def _depth(k: int | None) -> int:
    return MOST_RANKS_READ if k is None else min(k, MOST_RANKS_READ)


def _shares(run: FullRanking, gain: GainName, max_grade: Top) -> Rows:
    """The documents that have a gain, with its share of that of the highest grade."""
    seen, top = run.gains(gain), top_gain(max_grade, gain)
    if (most := run.unweighted.gains(gain).value.max(initial=0)) > top:
        raise BadValueError(f"a gain is {most:g}, more than that of max_grade, {top.item():g}")
    return seen.with_values(seen.value / top)


def _by_rank(
    run: FullRanking, weight: Callable[[Array], Array], k: int | None, gain: GainName, max_grade: Top
) -> Array:
    """Mean gain of the ranks, as shares of the highest, each with its weight."""
    seen, every = _shares(run, gain, max_grade), weight(np.arange(1, _depth(k) + 1))
    return seen.total_within(_depth(k), seen.value * seen.by_rank(weight)) / every.sum()


def _by_user(
    run: FullRanking, goes_on: Callable[[Array, Array, Array], Array], k: int | None, gain: GainName, max_grade: Top
) -> Array:
    """Mean gain of the ranks that are read, as shares of the highest.

    Parameters
    ----------
    goes_on : the chance to read the next rank as well, of a rank, its gain, and the gain of it and all above it; shapes
        (ranks,), (queries, ranks) and (queries, ranks).
    """
    seen, value, rank = _shares(run, gain, max_grade), np.zeros(run.n_queries), np.arange(1.0, _depth(k) + 1)
    for first in range(0, run.n_queries, QUERIES_AT_ONCE):
        here = np.arange(*np.searchsorted(seen.query, (first, first + QUERIES_AT_ONCE)))
        here = here[seen.rank[here] <= len(rank)]
        gains = np.zeros((len(value[first : first + QUERIES_AT_ONCE]), len(rank)))
        gains[seen.query[here] - first, seen.rank[here] - 1] = seen.value[here]
        read = np.ones(gains.shape)
        np.cumprod(goes_on(rank, gains, np.cumsum(gains, axis=1))[:, :-1], axis=1, out=read[:, 1:])
        value[first : first + QUERIES_AT_ONCE] = (read * gains).sum(axis=1) / read.sum(axis=1)
    return value


def _patience(rank: Array, until: Array | float) -> Array:
    """Chance to go on from each rank: the longer the user expects to read, ``until`` and the rank, the higher."""
    return np.square(1 - 1 / (rank + until))


@_fixed(also=("scaled_dcg", "scaled_discounted_cumulative_gain"))
def sdcg(run: FullRanking, k: int | None = None, gain: GainName = "linear", max_grade: Top = None) -> Array:
    """Scaled discounted cumulated gain: dcg as a share of that of k documents of the highest grade.

    Formula: sum over r <= k of g(r) / log2(r + 1), over the sum over r <= k of 1 / log2(r + 1); g(r) is gain(r) /
        gain(max_grade). k is at most 1000, and 1000 without a cutoff.
    Undefined: never.
    Parameters: gain, as in cg; max_grade, the highest grade of the scale.
    Source: C/W/L, as in cwl_eval 1.0.12. It is not the session DCG that is abbreviated alike.
    """
    return _by_rank(run, lambda r: 1 / np.log2(r + 1.0), k, gain, max_grade)


@_fixed()
def insq(
    run: FullRanking, k: int | None = None, target: Positive = 1.0, gain: GainName = "linear", max_grade: Top = None
) -> Array:
    """Mean gain of a user who wants T documents, and reads further for a greater T, whatever is found.

    Formula: sum over r <= k of w(r) g(r), over the sum over r <= k of w(r), with w(r) = 1 / (1 + (r - 1) / 2T)^2; g
        and k as in sdcg.
    Undefined: never.
    Parameters: target, T; gain and max_grade, as in sdcg.
    Source: A. Moffat, F. Scholer, P. Thomas, Models and metrics: IR evaluation as a user process, ADCS 2012.
    """
    return _by_rank(run, lambda r: (1 + (r - 1) / (2 * target)) ** -2.0, k, gain, max_grade)


@_fixed(also=("time_biased_gain",))
def tbg(
    run: FullRanking, k: int | None = None, halflife: Positive = 224.0, gain: GainName = "linear", max_grade: Top = None
) -> Array:
    """Time-biased gain for documents that take equally long: after each half-life, half of the users have left.

    Formula: sum over r <= k of w(r) g(r), over the sum over r <= k of w(r), with w(r) = 2^(-(r - 1) / halflife); g and
        k as in sdcg. It is rbp with p = 2^(-1 / halflife), except for the ranks past k.
    Undefined: never.
    Parameters: halflife, the time after which half of the users have left, in units of the time for one document; gain
        and max_grade, as in sdcg.
    Source: M. D. Smucker, C. L. A. Clarke, Time-based calibration of effectiveness measures, SIGIR 2012, who add up
        gains of documents of any length; as a mean, cwl_eval 1.0.12.
    """
    return _by_rank(run, lambda r: np.exp2((1.0 - r) / halflife), k, gain, max_grade)


@_fixed()
def u_measure(
    run: FullRanking, k: int | None = None, length: Positive = 1000.0, gain: GainName = "linear", max_grade: Top = None
) -> Array:
    """U-measure for documents of equal length: a gain counts less the more text was read before it.

    Formula: sum over r <= k of w(r) g(r), over the sum over r <= k of w(r), with w(r) = max(0, 1 - (r - 1) / length); g
        and k as in sdcg.
    Undefined: never.
    Parameters: length, the amount of text after which nobody reads on, in units of the length of one document; gain and
        max_grade, as in sdcg.
    Source: T. Sakai, Z. Dou, Summaries, ranked retrieval and sessions: a unified framework for information access
        evaluation, SIGIR 2013, who add up gains of documents of any length; as a mean, cwl_eval 1.0.12.
    """
    return _by_rank(run, lambda r: np.maximum(1 - (r - 1) / length, 0), k, gain, max_grade)


@_adaptive()
def inst(
    run: FullRanking, k: int | None = None, target: Goal = 1.0, gain: GainName = "linear", max_grade: Top = None
) -> Array:
    """Mean gain of a user who wants T documents, and reads further the more of them are still missing.

    Formula: the sum over r <= k of w(r) g(r), over the sum over r <= k of w(r); w(1) = 1, and w(r + 1) = c(r) w(r) with
        c(r) = ((r + 2T - G(r) - 1) / (r + 2T - G(r)))^2, where G(r) is the sum of g up to rank r; g and k as in sdcg.
    Undefined: never.
    Parameters: target, T; gain and max_grade, as in sdcg.
    Source: A. Moffat, P. Bailey, F. Scholer, P. Thomas, INST: an adaptive metric for information retrieval evaluation,
        ADCS 2015.
    """
    return _by_user(run, lambda r, _, found: _patience(r, 2 * target - found), k, gain, max_grade)


@metric(also=("bejeweled_player_model",))
def bpm(
    run: FullRanking, k: int | None = None, target: Positive = 1.0, gain: GainName = "linear", max_grade: Top = None
) -> Array:
    """Mean gain of a user who stops at rank k, or once enough is found: the static Bejeweled player model.

    Formula: G(s) / s, where G(s) is the sum of g up to rank s, and s is the first rank with G(s) >= T, at most k; g and
        k as in sdcg.
    Undefined: never.
    Parameters: target, T, in gains of the highest grade; gain and max_grade, as in sdcg.
    Source: F. Zhang, Y. Liu, X. Li, M. Zhang, Y. Xu, S. Ma, Evaluating web search with a Bejeweled player model, SIGIR
        2017.
    """
    return _by_user(run, lambda r, _, found: (found < target - 1e-9).astype(float), k, gain, max_grade)


@_adaptive()
def nerr8(run: FullRanking, k: int | None = None, gain: GainName = "linear", max_grade: Top = None) -> Array:
    """Mean gain of a user who stops at each document with a chance equal to its gain, or at rank k.

    Formula: as inst, with c(r) = 1 - g(r).
    Undefined: never.
    Parameters: gain and max_grade, as in sdcg.
    Source: L. Azzopardi, J. Mackenzie, A. Moffat, ERR is not C/W/L: exploring the relationship between expected
        reciprocal rank and other metrics, ICTIR 2021, equation 8.
    """
    return _by_user(run, lambda r, g, _: 1 - g, k, gain, max_grade)


@_adaptive()
def nerr9(run: FullRanking, k: int | None = None, gain: GainName = "linear", max_grade: Top = None) -> Array:
    """Mean gain of a user who stops as in nerr8, and looks less at lower ranks.

    Formula: as inst, with c(r) = (1 - g(r)) r / (r + 1).
    Undefined: never.
    Parameters: gain and max_grade, as in sdcg.
    Source: as nerr8, equation 9.
    """
    return _by_user(run, lambda r, g, _: r / (r + 1) * (1 - g), k, gain, max_grade)


@_adaptive()
def nerr10(
    run: FullRanking, k: int | None = None, p: Share = 0.9, gain: GainName = "linear", max_grade: Top = None
) -> Array:
    """Mean gain of a user who stops as in nerr8, and has the patience of rbp.

    Formula: as inst, with c(r) = (1 - g(r)) p.
    Undefined: never.
    Parameters: p, the persistence; gain and max_grade, as in sdcg.
    Source: as nerr8, equation 10.
    """
    return _by_user(run, lambda r, g, _: p * (1 - g), k, gain, max_grade)


@_adaptive()
def nerr11(
    run: FullRanking, k: int | None = None, target: Positive = 1.0, gain: GainName = "linear", max_grade: Top = None
) -> Array:
    """Mean gain of a user who stops as in nerr8, and has the patience of insq.

    Formula: as inst, with c(r) = (1 - g(r)) ((r + 2T - 1) / (r + 2T))^2.
    Undefined: never.
    Parameters: target, T; gain and max_grade, as in sdcg.
    Source: as nerr8, equation 11.
    """
    return _by_user(run, lambda r, g, _: _patience(r, 2 * target) * (1 - g), k, gain, max_grade)
