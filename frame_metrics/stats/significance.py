"""Tests of paired differences, intervals around them, and corrections for testing many at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from frame_metrics.errors import NotComputableError, needed
from frame_metrics.inputs.rows import Array, all_alike, ratio
from frame_metrics.stats.averages import resampled_means, within
from frame_metrics.stats.exact import detectable
from frame_metrics.stats.offsets import offsets
from frame_metrics.threads import in_threads

CLOSE = 1e-12  # sums that differ by less, relative to the size of their terms, are equal: floats are rounded
BYTES = 1 << 22  # random bytes that are drawn at a time: a block
ATONCE = 16  # blocks that are processed before their sums are added up
TABLES = 64  # tables of eight rows that are made together
PARTS = 16  # parts into which the draws of a step are split, so that each stays in the cache
Tick = Callable[[int], None]


def in_clusters(values: Array, cluster: Array | None) -> Array:
    """Return the sums of queries' values within clusters, shape (clusters, columns), 0 where they cancel.

    Without clusters the values are returned as they are.

    Parameters
    ----------
    values : shape (queries, columns).
    cluster : the number of each query's cluster, shape (queries,).
    """
    if cluster is None:
        return values
    n = int(cluster.max()) + 1
    sums, most = within(cluster, n, values.T), within(cluster, n, np.abs(values.T))
    return np.where(np.abs(sums) < CLOSE * most, 0, sums).T


def times(values: Array, weight: Array | None) -> Array:
    """Return the values of queries times their weights, shape (queries, columns)."""
    return values if weight is None else values * weight[:, None]


def sureness(
    differences: Array,
    weight: Array | None,
    cluster: Array | None,
    level: float,
    resamples: int,
    seed: int,
    tick: Tick = lambda done: None,
    size: Array | None = None,
) -> dict[str, Array]:
    """Return effect sizes, intervals, p-values of the bootstrap and smallest differences that can be detected.

    The p-value is that of resampled differences whose mean was moved to 0: the share of their means that are at least
    as far from 0 as what was seen. All have the shape (columns,).

    Parameters
    ----------
    differences : of two queries or more, shape (queries, columns); all columns are resampled by the same draws.
    weight : of each query, of which two or more are above 0, shape (queries,); None where all count alike.
    cluster : the number of each query's cluster, shape (queries,). Of one cluster alone only the effect size is known.
    level : of the interval.
    tick : told how many queries, or clusters, are resampled.
    size : the size of what the differences are of, shape (columns,), for rounding; None: their own.
    """
    offset = offsets(differences, size)
    apart, n = differences - offset, len(differences)
    least = CLOSE * np.abs(apart).max(axis=0)  # what is nearer to 0 is left by adding floats
    centre, each = np.average(apart, axis=0, weights=weight), np.ones(n) if weight is None else weight
    mean, spread = centre + offset, deviation(apart, each, np.ones(n))
    spread = np.where(spread < least, 0, spread)
    out = {"effect_size": ratio(mean, spread)}
    if cluster is not None and all_alike(cluster[each > 0]):
        return out
    means = resampled_means(apart.T, weight, cluster, resamples, seed, tick)
    means = means[:, ~np.isnan(means[0])].T + offset
    scale = np.average(np.abs(differences), axis=0, weights=weight)
    out |= drawn_ends(means, mean, scale, level) if len(means) else {"p_value": np.ones(len(mean))}
    error = spread / np.sqrt(n)
    if weight is not None or cluster is not None:
        error = _robust_error(times(apart - centre, weight), each, cluster)
    out["mde"] = np.where(error * np.sqrt(n) < least, 0, detectable(level) * error)
    return out


def drawn_ends(drawn: Array, seen: Array, scale: Array | float, level: float) -> dict[str, Array]:
    """Return percentile intervals of resampled differences, and p-values.

    A p-value is the share of resamples whose distance from the observed difference is at least that of 0.

    Parameters
    ----------
    drawn : the resampled differences, shape (draws, columns).
    seen : the observed differences, shape (columns,).
    scale : the size of values, for rounding.
    level : the level of the intervals.
    """
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    far = np.abs(drawn - seen) >= np.abs(seen) - CLOSE * scale
    return {"ci_low": low, "ci_high": high, "p_value": (far.sum(axis=0) + 1) / (len(drawn) + 1)}


def deviation(values: Array, weight: Array, often: Array) -> Array:
    """Return the standard deviation of values, shape (columns,): what is lost to their own mean is allowed for.

    Parameters
    ----------
    values : shape (queries, columns), or rows.
    weight : of each in their mean, shape (queries,).
    often : how many each one stands for, shape (queries,).
    """
    heavy = weight * often
    apart = values - np.average(values, axis=0, weights=heavy)
    return np.sqrt(ratio(times(apart**2, heavy).sum(axis=0), heavy.sum() - (heavy * weight).sum() / heavy.sum()))


def _robust_error(apart: Array, weight: Array, cluster: Array | None) -> Array:
    """Return the standard error of the weighted mean of queries, or of those in G clusters, shape (columns,).

    It is sqrt(G / (G - 1) sum_c S_c^2) / W, where S_c is the sum over the queries of a cluster of the weight times the
    distance from the mean, and W that of all weights. Where all weigh alike and each is a cluster, it is the standard
    deviation over the square root of their number.
    """
    sums, size = in_clusters(apart, cluster), in_clusters(weight[:, None], cluster)
    units = np.count_nonzero(size)
    return np.sqrt(units / (units - 1) * (sums**2).sum(axis=0)) / weight.sum()


def randomization(differences: Array, permutations: int, seed: int, tick: Tick) -> Array:
    """Return the p-values of flipping the signs of paired differences at random (Fisher's test), two-sided.

    If nothing differs between two systems, a query's difference is as likely to be positive as negative. Where there
    are no more ways to flip than ``permutations``, each is counted; else so many are drawn, and what was seen counts as
    one of them: (b + 1) / (n + 1), which is never 0.

    Parameters
    ----------
    differences : shape (queries, columns), or their sums within clusters; all columns are tested by the same flips.
    tick : told how many queries are done.
    """
    p = np.ones(differences.shape[1])
    moved = (differences != 0).sum(axis=0)
    few = moved <= min(np.log2(permutations), 62)
    for column in np.flatnonzero(few):
        p[column] = _every_flip(differences[differences[:, column] != 0, column])
    many = np.flatnonzero(~few)
    if len(many):
        sums = _flipped(differences[:, many], permutations, seed, tick)
        reached = np.abs(sums) >= _enough(differences[:, many])
        p[many] = (reached.sum(axis=0) + 1) / (permutations + 1)
    return p


def exchanged(
    differences: Callable[[Array], Array],
    seen: Array,
    units: int,
    permutations: int,
    seed: int,
    step: int,
    tick: Tick,
) -> Array:
    """Return the p-values of exchanging what two systems have of each unit, two-sided, as ``randomization`` has them.

    Parameters
    ----------
    differences : gives those of some draws, shape (draws, columns), by what each exchanges, 1 or 0, shape (draws,
        units).
    seen : those where nothing is exchanged, shape (columns,).
    step : draws that are made at a time.
    tick : told how many units are done, as many in all as there are.
    """
    every = units <= min(np.log2(permutations), 62)
    n, enough = 1 << units if every else permutations, np.abs(seen) - CLOSE * np.maximum(np.abs(seen), 1)
    reached: list[Array] = []

    def work(begin: int) -> None:
        draws = np.arange(begin, min(begin + step, n))
        if every:
            exchange = draws[:, None] >> np.arange(units) & 1
        else:
            exchange = np.random.default_rng([seed, begin // step]).integers(0, 2, (len(draws), units))
        few = max(step // PARTS, 1)
        for some in np.split(exchange, range(few, len(draws), few)):
            reached.append((~(np.abs(differences(some)) < enough)).sum(axis=0))  # an undefined one too
        tick((begin + len(draws)) * units // n - begin * units // n)

    in_threads(range(0, n, step), work)
    return np.sum(reached, axis=0) / n if every else (np.sum(reached, axis=0) + 1) / (n + 1)


def _enough(differences: Array) -> Array:
    """Return the distance from 0 from which a sum counts as extreme: the observed one, less rounding."""
    return np.abs(differences.sum(axis=0)) - CLOSE * np.abs(differences).sum(axis=0)


def _every_flip(moved: Array) -> float:
    """Return the p-value over all ways to flip signs: the share of sums at least as far from 0 as the observed one."""
    sums = np.zeros(1)
    for difference in moved:
        sums = np.concatenate([sums + difference, sums - difference])
    return float((np.abs(sums) >= _enough(moved)).mean())


def _flipped(rows: Array, permutations: int, seed: int, tick: Tick) -> Array:
    """Return the sums of rows with random signs, shape (permutations, columns).

    Eight rows are flipped at a time: a table has their sum for each of the 256 combinations of signs, and a random byte
    chooses one. Blocks are added up in their order, so that the number of threads does not change the last digit.
    """
    groups, columns = -(-len(rows) // 8), rows.shape[1]
    padded = np.zeros((groups * 8, columns))
    padded[: len(rows)] = rows
    eights = padded.reshape(groups, 8, columns)
    step = max(BYTES // permutations, 1)
    begins = range(0, groups, step)
    pieces: dict[int, Array] = {}

    def work(i: int) -> None:
        some = eights[begins[i] : begins[i] + step]
        chosen = np.frombuffer(np.random.default_rng([seed, i]).bytes(len(some) * permutations), np.uint8)
        total, each = np.zeros((permutations, columns)), np.empty((permutations, columns))
        tables = (table for at in range(0, len(some), TABLES) for table in _sums(some[at : at + TABLES]))
        for table, byte in zip(tables, chosen.reshape(len(some), permutations), strict=True):
            table.take(byte, axis=0, out=each, mode="clip")  # with "clip" numpy needs no buffer
            total += each
        pieces[i] = total
        tick(8 * len(some))

    whole = np.zeros((permutations, columns))
    for begin in range(0, len(begins), ATONCE):  # a few blocks at a time, so that few sums are in memory
        these = range(begin, min(begin + ATONCE, len(begins)))
        in_threads(these, work)
        for i in these:
            whole += pieces.pop(i)
    return whole


def _sums(eights: Array) -> Array:
    """Return the sums of each eight rows for all 256 combinations of signs, shape (eights, 256, columns)."""
    sums = np.zeros((len(eights), 256, eights.shape[2]))
    for i, sign in enumerate((1.0 - 2.0 * (np.arange(256)[:, None] >> np.arange(8) & 1)).T):
        sums += sign[:, None] * eights[:, i, None]
    return sums


def tukey(values: Array, permutations: int, seed: int, tick: Tick) -> Array:
    """Exchange the systems of each query at random, and look at the widest gap between them (randomised Tukey HSD).

    The p-value of a pair is the share of draws in which the greatest difference of any two means is at least theirs,
    what was seen counting as one of them, so that the pairs of all systems are tested together. What is exchanged are
    a query's values in ascending order, so that neither the names nor the order of the systems matter.

    Parameters
    ----------
    values : of each metric, shape (metrics, queries, systems), or their sums within clusters; all metrics are tested by
        the same exchanges.
    tick : told how many queries are done, in all as often as there are metrics.

    Returns
    -------
    p-values of each system against each, shape (metrics, systems, systems).

    Source: B. Carterette, Multiple testing in statistical analysis of systems-based information retrieval experiments,
    ACM TOIS 30(1), 2012.
    """
    metrics, n, systems = values.shape
    means = np.array([of_metric.sum(axis=0) for of_metric in values])
    gap = np.abs(means[:, :, None] - means[:, None])
    ascending, sums = np.sort(values, axis=2), np.zeros((metrics, permutations, systems))
    step = max(BYTES // (permutations * systems), 1)
    for i, begin in enumerate(range(0, n, step)):
        some = ascending[:, begin : begin + step]
        order = np.random.default_rng([seed, i]).random((permutations, some.shape[1], systems)).argsort(axis=2)
        for total, of_metric in zip(sums, some, strict=True):
            total += np.take_along_axis(of_metric[None], order, axis=2).sum(axis=1)
        tick(some.shape[1] * metrics)
    widest = sums.max(axis=2) - sums.min(axis=2)
    enough = gap - CLOSE * np.array([np.abs(of_metric).sum() for of_metric in values])[:, None, None]
    return ((widest[:, :, None, None] >= enough[:, None]).sum(axis=1) + 1) / (permutations + 1)


def classical(differences: Array, test: str) -> Array:
    """Return the p-values of scipy's paired t-test, Wilcoxon's signed rank test or the sign test, two-sided."""
    stats = scipy_stats(test)
    p = []
    for column in differences.T:
        moved = column[column != 0]
        if not len(moved) or (test == "t" and len(column) < 2):
            p.append(1.0 if len(column) > 1 or test != "t" else np.nan)
        elif test == "sign":
            p.append(float(stats.binomtest(int((moved > 0).sum()), len(moved)).pvalue))
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about zeros and constant differences, which are nothing odd here
                run = stats.wilcoxon(column) if test == "wilcoxon" else stats.ttest_1samp(column, 0)
            p.append(float(run.pvalue))
    return np.array(p)


def scipy_stats(test: str) -> Any:
    """Return scipy.stats; raise for a test that needs it if it is not installed."""
    return needed("scipy.stats", f"test={test!r} needs scipy", "stats", NotComputableError)


def adjusted(p: Array, correction: str) -> Array:
    """Return p-values corrected for multiple tests; NaN stays, and is not counted.

    Parameters
    ----------
    correction : "holm" and "bonferroni" bound the chance of any false alarm, "bh" (Benjamini and Hochberg) the expected
        share of false ones among all alarms; "none".
    """
    out = np.array(p, np.float64)
    at = np.flatnonzero(~np.isnan(out))
    known, m = out[at], len(at)
    if correction == "none" or not m:
        return out
    if correction == "bonferroni":
        out[at] = np.minimum(known * m, 1)
        return out
    order = np.argsort(known, kind="stable")
    rank = np.arange(m)
    if correction == "holm":
        steps = np.maximum.accumulate(known[order] * (m - rank))
    else:
        steps = np.minimum.accumulate((known[order] * m / (rank + 1))[::-1])[::-1]
    out[at[order]] = np.minimum(steps, 1)
    return out
