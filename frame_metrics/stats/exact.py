"""Exact tests of counts: of two shares of the same rows, of a 2x2 table, of a share; tests of splits; quantiles."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import erfc, exp, inf, lgamma, log, log1p, nan, pi, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from frame_metrics.inputs import Array

EQUAL = 1e-7  # probabilities that differ relatively by less are equal, because they are rounded sums of logarithms
MIN_DEGREES_OF_SERIES = 1000  # with so many degrees of freedom a series gives quantiles of t to the last digits
STEPS, TERMS, CLOSEST = 100, 10_000, 1e-15  # the most steps of Newton's method and terms of a fraction; where they end
FARTHEST = 300.0  # a quantile of t with a greater logarithm counts as infinite; it takes far less than one degree
WHERE_ZERO = (40, 1000)  # farther from the mean than 40 standard deviations plus 1000, a chance is 0 in floats


def mcnemar(wins: float, losses: float) -> float:
    """Return the two-sided p-value of McNemar's exact test: each side is equally likely to win a row that differs.

    It is the exact binomial test of one half, and the randomization test of the rows' differences.

    Parameters
    ----------
    wins, losses : how many rows have 1 for one side only, and for the other side only.

    Source: Q. McNemar, Note on the sampling error of the difference between correlated proportions or percentages,
    Psychometrika 12(2), 1947.
    """
    return binomial(int(wins), int(wins + losses), 0.5)


def fisher(table: Array) -> float:
    """Return the two-sided p-value of Fisher's exact test: of all tables with the same margins, those no likelier.

    Parameters
    ----------
    table : counts, shape (2, 2).

    Source: R. A. Fisher, The logic of inductive inference, Journal of the Royal Statistical Society 98(1), 1935.
    """
    (a, b), (c, d) = (int(count) for count in table[0]), (int(count) for count in table[1])
    row, rest, column, other = a + b, c + d, a + c, b + d
    mean = row * column / max(row + rest, 1)
    spread = sqrt(mean * rest / max(row + rest, 1) * other / max(row + rest - 1, 1))

    def step(x: Array) -> Array:
        return np.log((row - x) * (column - x) / ((x + 1) * (rest - column + x + 1)))

    return _no_likelier(a, step, (max(0, column - rest), min(row, column)), mean, spread)


def binomial(count: int, n: int, share: float) -> float:
    """Return the two-sided p-value of the exact binomial test: the chance of a count no likelier than this one.

    Parameters
    ----------
    count, n : ``count`` of ``n`` rows.
    share : the expected share, between 0 and 1.
    """
    return _no_likelier(count, *_binomial(n, share))


def binomial_cdf(n: int, share: float) -> tuple[int, Array]:
    """Return the least binomial count that is likely at all, and the chances of at most this, at most the next, ...

    Counts farther from the mean than ``WHERE_ZERO`` are left out: their chance is 0 in floats.

    Parameters
    ----------
    n, share : how many trials there are, and the chance of each to count, between 0 and 1.
    """
    if share in (0, 1):
        return round(n * share), np.ones(1)
    low, chance = _chances(*_binomial(n, share))
    return low, np.minimum(np.cumsum(chance) / chance.sum(), 1.0)


def _binomial(n: int, share: float) -> tuple[Callable[[Array], Array], tuple[int, int], float, float]:
    """Return what ``_chances`` takes of a binomial count."""
    mean, odds = n * share, share / (1 - share)
    return lambda x: np.log((n - x) / (x + 1) * odds), (0, n), mean, sqrt(mean * (1 - share))


def _chances(step: Callable[[Array], Array], ends: tuple[int, int], mean: float, spread: float) -> tuple[int, Array]:
    """Return the least outcome that is likely at all, and numbers proportional to the chances of it and the next ones.

    Outcomes are whole numbers. Those farther from the mean than ``WHERE_ZERO`` have a chance of 0 in floats, and are
    left out.

    Parameters
    ----------
    step : a function from x to the logarithm of the chance of x + 1, divided by that of x.
    ends : the least and the greatest outcome.
    mean, spread : the mean and the standard deviation of outcomes.
    """
    far = WHERE_ZERO[0] * spread + WHERE_ZERO[1]
    low, high = max(ends[0], int(mean - far)), min(ends[1], int(mean + far))
    each = np.append(0.0, np.cumsum(step(np.arange(low, high, dtype=np.float64))))
    return low, np.exp(each - each.max())


def _no_likelier(at: int, *given: Any) -> float:
    """Return the chance of all outcomes that are no likelier than ``at``; ``given``: the parameters of ``_chances``."""
    low, chance = _chances(*given)
    if not low <= at < low + len(chance):
        return 0.0
    return float(chance[chance <= chance[at - low] * (1 + EQUAL)].sum() / chance.sum())


def normal(difference: float, variance: float) -> float:
    """Return the two-sided p-value of a normal difference; NaN for a difference without a (known) variance above 0."""
    if variance > 0:
        return erfc(abs(difference) / sqrt(2 * variance))
    return 1.0 if difference == variance == 0 else np.nan


def normal_quantile(level: float) -> float:
    """Return how many standard errors the ends of a normal interval with this level are from the middle."""
    return NormalDist().inv_cdf((1 + level) / 2)


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t distribution; NaN without degrees of freedom.

    Parameters
    ----------
    p : between 0 and 1.
    df : the degrees of freedom, above 0, not necessarily whole.

    Source: M. Abramowitz, I. A. Stegun, Handbook of mathematical functions, 1964, 26.7.5 (many degrees of freedom), and
    26.7.1 with 26.5.8, solved by Newton's method.
    """
    if not df > 0:
        return nan
    if p < 0.5:
        return -t_quantile(1 - p, df)
    tail = 1 - p
    if tail in (0, 0.5):
        return 0.0 if tail else inf
    if df >= MIN_DEGREES_OF_SERIES:
        return _by_series(NormalDist().inv_cdf(p), df)
    at = log(_by_series(NormalDist().inv_cdf(p), max(df, 4.0)))  # the logarithm of the quantile
    for _ in range(STEPS):
        if at > FARTHEST:
            return inf
        beyond = _t_tail(exp(at), df)
        slope = exp(lgamma((df + 1) / 2) - lgamma(df / 2) + at - (df + 1) / 2 * log1p(exp(2 * at) / df))
        step = (log(beyond) - log(tail)) * beyond * sqrt(df * pi) / slope
        at += min(max(step, -5.0), 5.0)
        if abs(step) < 100 * CLOSEST:
            break
    return exp(at)


def _by_series(z: float, df: float) -> float:
    """Return a quantile of t by that of the normal distribution, in powers of 1 / df."""
    square = z * z
    terms = (
        (square + 1) / 4,
        ((5 * square + 16) * square + 3) / 96,
        (((3 * square + 19) * square + 17) * square - 15) / 384,
        ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return z * (1 + sum(term / df**power for power, term in enumerate(terms, 1)))


def _t_tail(t: float, df: float) -> float:
    """Return the chance that Student's t exceeds ``t``, which is above 0, by the incomplete beta function."""
    a, b, square = df / 2, 0.5, t * t
    x = df / (df + square) if square < inf else 0.0
    front = lgamma(a + b) - lgamma(a) - lgamma(b) - a * log1p(square / df) + b * (log(square) - log(df + square))
    if x < (a + 1) / (a + b + 2):
        return exp(front) * _fraction(x, a, b) / a / 2
    return (1 - exp(front) * _fraction(square / (df + square), b, a) / b) / 2


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, evaluated from its front (Lentz)."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            c, d = 1 + term / c, 1 / (1 + term * d)
            value *= c * d
        if abs(c * d - 1) < CLOSEST:
            break
    return value


def expanded_level(level: float, n: float, df: float | None = None) -> float:
    """Return the level of a percentile interval that holds the mean of few units as often as Student's t would.

    Resampled means spread too little, by sqrt((n - 1) / n), and their tails are those of the normal distribution; the
    level makes up for both. It is 2 Phi(sqrt(n / (n - 1)) t) - 1, where t is the quantile of Student's t with n - 1
    degrees of freedom at (1 + level) / 2.

    Parameters
    ----------
    level : of the interval, as 0.95.
    n : the number of units, or Kish's; for 1 and less the level is 1.
    df : the degrees of freedom, if they are not n - 1.

    Source: T. C. Hesterberg, What teachers should know about the bootstrap, The American Statistician 69(4), 2015.
    """
    if not n > 1:
        return 1.0
    return 1 - erfc(sqrt(n / (n - 1)) * t_quantile((1 + level) / 2, n - 1 if df is None else df) / sqrt(2))


def wilson_interval(p: Any, n: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Return the ends of Wilson's interval of a share p of n rows, of numbers or of columns.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association 22, 1927.
    """
    return wilson(p, n, normal_quantile(level))


def wilson(p: Any, n: Any, z: Any) -> tuple[Any, Any]:
    """Return the ends of Wilson's interval of a share p of n rows, at z standard errors."""
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * (p * (1 - p) / n + (z / (2 * n)) ** 2) ** 0.5
    return centre - half, centre + half


def student(t: float, df: float) -> float:
    """Return the two-sided p-value of Student's t with these degrees of freedom."""
    return min(1.0, 2 * _t_tail(abs(t), df)) if t else 1.0


def detectable(level: float, power: float = 0.8, df: float = inf) -> float:
    """Return the smallest detectable difference (mde) in standard errors, for a level and a power.

    ``df``: the degrees of freedom of a t-test; those of the normal distribution are infinite.
    """
    if df != inf:
        return t_quantile((1 + level) / 2, df) + t_quantile(power, df)
    return normal_quantile(level) + NormalDist().inv_cdf(power)


def chi_square(counts: Array, shares: Array) -> float:
    """Return the p-value of the chi-square test that units were assigned to groups with these shares.

    Parameters
    ----------
    counts : number of units in each group, shape (groups,).
    shares : the expected shares, above 0, with a sum of 1, shape (groups,).

    Source: K. Pearson, On the criterion that a given system of deviations from the probable in the case of a correlated
    system of variables is such that it can be reasonably supposed to have arisen from random sampling, Philosophical
    Magazine 50(302), 1900.
    """
    expected = counts.sum() * shares
    half = float(((counts - expected) ** 2 / expected).sum()) / 2 if counts.any() else 0.0
    if half == 0:
        return 1.0
    odd = len(counts) % 2 == 0  # whether the degrees of freedom, groups - 1, are odd
    place = np.arange((len(counts) - 1) // 2) + odd / 2
    terms = (exp(i * log(half) - half - lgamma(i + 1)) for i in place.tolist())
    return min(1.0, sum(terms, erfc(sqrt(half)) if odd else 0.0))


def split_exactly(counts: Array, shares: Array) -> float:
    """Return the p-value that units were assigned to groups with these shares; exact for few units and rare groups too.

    Each group is tested against the others by the exact binomial test, with a Bonferroni correction. The parameters are
    those of ``chi_square``.
    """
    n = int(counts.sum())
    groups = range(len(counts) if len(counts) > 2 else 1)  # if there are two groups, testing one is enough
    return min(1.0, len(groups) * min(binomial(int(counts[i]), n, float(shares[i])) for i in groups))
