"""Two arms of a test, each with units of its own: means that are ratios of sums, their errors, intervals, p-values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from math import comb

import numpy as np

from frame_metrics.inputs.rows import Array, ratio
from frame_metrics.stats.averages import resampled
from frame_metrics.stats.exact import detectable, normal, normal_quantile
from frame_metrics.stats.resampling import AT_ONCE
from frame_metrics.stats.significance import CLOSE, Tick, scipy_stats
from frame_metrics.threads import in_threads

Quantile = Callable[[Array], Array]  # variances of two means, shape (2, columns), to how many errors an end is away


@dataclass(frozen=True, eq=False)
class Arms:
    """The units of two arms, queries or clusters of them, side by side in the order in which they are drawn."""

    sums: Array  # of the values of a unit's queries, times their weights, shape (units, columns)
    size: Array  # the weight of a unit's queries, above 0, shape (units,)
    mine: Array  # whether a unit is of the first arm, and not of the other, shape (units,)
    covariate: Array | None = None  # of each unit, shape (units,)

    @cached_property
    def n(self) -> tuple[int, int]:
        """The number of units of each arm."""
        return int(self.mine.sum()), int((~self.mine).sum())

    @cached_property
    def scale(self) -> Array:
        """The size of values, beside which a difference is only what is left by adding floats, shape (columns,)."""
        most = np.abs(self.sums / self.size[:, None]).max(axis=0, initial=0)
        return most + np.abs(self.slope) * np.abs(self._centred).max(initial=0)

    @cached_property
    def _centred(self) -> Array:
        """The covariate less its mean over the units of both arms; 0 where there is none, or where it is constant."""
        if self.covariate is None or not len(self.covariate) or np.ptp(self.covariate) == 0:
            return np.zeros(len(self.size))
        return self.covariate - self.covariate.mean()

    @cached_property
    def slope(self) -> Array:
        """The slope of values by the covariate, theta, over the units of both arms together, shape (columns,)."""
        x = self._centred
        return x @ _linear(self.sums, self.size) / (x @ x) if x.any() else np.zeros(self.sums.shape[1])

    @cached_property
    def held(self) -> Array:
        """All that is summed of a unit: its sums, its size and its covariate, shape (units, columns + 2)."""
        return np.column_stack([self.sums, self.size, self._centred])

    def mean(self, totals: Array, n: int) -> Array:
        """Return the mean of ``n`` units, less what their covariate explains, from totals of what they hold.

        Parameters
        ----------
        totals : shape (columns + 2,) or (draws, columns + 2).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return totals[..., :-2] / totals[..., -2:-1] - self.slope * totals[..., -1:] / np.float64(n)

    @cached_property
    def means(self) -> Array:
        """The means of both arms, NaN for an arm without units; 0 where floats left only a rest, shape (2, columns)."""
        each = zip((self.mine, ~self.mine), self.n, strict=True)
        means = np.array([self.mean(self.held[arm].sum(axis=0), n) for arm, n in each])
        return np.where(np.abs(means) < CLOSE * self.scale, 0, means)

    @cached_property
    def variances(self) -> Array:
        """The variances of these means, for arms of two units or more, shape (2, columns).

        That of r = sum S / sum m over G units is G / (G - 1) sum (S - m r)^2 / (sum m)^2. With a covariate x, theta
        (x - mean x) of the arm is taken from each (S - m r) / mean m.

        Source: A. Deng, U. Knoblich, J. Lu, Applying the delta method in metric analytics: a practical guide with novel
        ideas, KDD 2018. A. Deng, Y. Xu, R. Kohavi, T. Walker, Improving the sensitivity of online controlled
        experiments by utilizing pre-experiment data, WSDM 2013.
        """
        found = []
        for arm, n in zip((self.mine, ~self.mine), self.n, strict=True):
            x = self._centred[arm]
            apart = _linear(self.sums[arm], self.size[arm]) - (x - x.mean())[:, None] * self.slope
            found.append((apart**2).sum(axis=0) / (n - 1) / n)
        return np.where(np.array(found) < (CLOSE * self.scale) ** 2, 0, found)

    @property
    def difference(self) -> Array:
        """The difference of the means, 0 where they differ by the adding of floats only, shape (columns,)."""
        difference = self.means[0] - self.means[1]
        return np.where(np.abs(difference) < CLOSE * self.scale, 0, difference)


def _linear(sums: Array, size: Array) -> Array:
    """The part of each unit in the ratio of sums: its distance from it, by the mean size, shape (units, columns)."""
    return (sums - size[:, None] * (sums.sum(axis=0) / size.sum())) / size.mean()


def compared(
    arms: Arms, test: str, level: float, power: float, drawn: tuple[int, int, int], tick: Tick
) -> dict[str, Array]:
    """Return means, differences, intervals and p-values of two arms, shape (columns,) each.

    Only the means and their difference are known where an arm has fewer than two units.

    Parameters
    ----------
    test : "randomization" exchanges units between the arms; "t" is Welch's, "z" the normal one; "bootstrap".
    level : of the intervals.
    power : how likely the smallest difference that can be detected (mde) is to be seen.
    drawn : permutations, resamples and the seed.
    tick : told how many permutations are done.
    """
    permutations, resamples, seed = drawn
    value, base = arms.means
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(base == 0, np.nan, (value - base) / np.abs(base))
    out = {"value": value, "baseline_value": base, "difference": value - base, "relative": relative}
    if min(arms.n) < 2:
        return out
    error = np.sqrt(arms.variances.sum(axis=0))
    out["mde"] = detectable(level, power) * error
    if test == "bootstrap":
        return out | drawn_ends(_drawn(arms, resamples, seed), arms.means, arms.scale, level)
    wide = _quantile(arms, test, level)
    out["ci_low"], out["ci_high"] = value - base + np.array([[-1], [1]]) * wide(arms.variances) * error
    out["relative_low"], out["relative_high"] = relative_ends(arms.means, arms.variances, wide)
    if test == "randomization":
        return out | {"p_value": permuted(arms, permutations, seed, tick)}
    variance = error**2
    if test == "z":
        return out | {"p_value": np.array([normal(*pair) for pair in zip(arms.difference, variance, strict=True)])}
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * scipy_stats(test).t.sf(np.abs(arms.difference) / error, freedom(arms.variances, arms.n))
    return out | {"p_value": np.where(variance > 0, p, np.where(arms.difference == 0, 1, np.nan))}


def freedom(variances: Array, n: tuple[int, int]) -> Array:
    """Return Welch's degrees of freedom of the difference of two means, 1 where neither varies, shape (columns,)."""
    one, other = variances
    parts = one**2 / (n[0] - 1) + other**2 / (n[1] - 1)
    return np.where(parts > 0, ratio((one + other) ** 2, parts), 1)


def _quantile(arms: Arms, test: str, level: float) -> Quantile:
    """The distance of an interval's ends in standard errors: that of Welch's t, or of a normal difference."""
    if test == "t":
        t = scipy_stats(test).t
        return lambda variances: t.ppf((1 + level) / 2, freedom(variances, arms.n))
    return as_normal(level)


def as_normal(level: float) -> Quantile:
    """Return the distance of the ends of normal intervals in standard errors."""
    z = normal_quantile(level)
    return lambda variances: np.full(variances.shape[1], z)


def relative_ends(means: Array, variances: Array, wide: Quantile) -> Array:
    """Return the ends of the relative difference, by the delta method on the logarithm of the ratio of means.

    Unknown where one mean is above 0 and the other is not; an end that floats do not reach is unknown too.

    Parameters
    ----------
    means, variances : of two arms, shape (2, columns).
    wide : how many standard errors the ends are away, by the relative variances.
    """
    value, base = means
    some = value * base > 0
    ends = np.full((2, len(value)), np.nan)
    share, relative = value[some] / base[some], variances[:, some] / means[:, some] ** 2
    with np.errstate(over="ignore"):
        factor = np.exp(wide(relative) * np.sqrt(relative.sum(axis=0)))
        ends[:, some] = np.sort((np.array([share / factor, share * factor]) - 1) * np.sign(base[some]), axis=0)
    return np.where(np.isinf(ends), np.nan, ends)


def permuted(arms: Arms, permutations: int, seed: int, tick: Tick) -> Array:
    """Return the p-values of exchanging units between two arms at random, two-sided, shape (columns,).

    If an arm makes no difference, any other units could just as well have been in it. Where there are no more ways to
    choose its units than ``permutations``, each is counted; else so many are drawn, and what was seen counts as one of
    them: (b + 1) / (n + 1), which is never 0. The units of the smaller arm are chosen, so that it makes no difference
    which arm is the baseline.
    """
    (less, more), total = sorted(arms.n), arms.held.sum(axis=0)
    enough = np.abs(arms.means[0] - arms.means[1]) - CLOSE * arms.scale

    def reached(chosen: Array) -> Array:
        here = chosen.astype(np.float64) @ arms.held
        apart = arms.mean(here, less) - arms.mean(total - here, more)
        return np.count_nonzero(np.abs(apart) >= enough, axis=0)

    units = less + more
    if less < permutations.bit_length() and (ways := comb(units, less)) <= permutations:  # at least 2 ** less
        return sum(map(reached, _every_choice(units, less)), np.zeros(len(enough))) / ways
    step = max(AT_ONCE // units, 1)
    counts: dict[int, Array] = {}

    def work(begin: int) -> None:
        some = min(step, permutations - begin)
        keys = np.random.default_rng([seed, begin]).random((some, units))
        counts[begin] = reached(keys <= np.partition(keys, less - 1, axis=1)[:, less - 1, None])
        tick(some)

    in_threads(range(0, permutations, step), work)
    return (np.sum(list(counts.values()), axis=0) + 1) / (permutations + 1)


def _every_choice(n: int, chosen: int) -> Iterator[Array]:
    """Give every way to choose so many of ``n`` units, some ways at a time, shape (ways, n) each."""
    ways = combinations(range(n), chosen)
    while some := list(islice(ways, max(AT_ONCE // n, 1))):
        marks = np.zeros((len(some), n), bool)
        np.put_along_axis(marks, np.array(some), True, axis=1)
        yield marks


def _drawn(arms: Arms, resamples: int, seed: int) -> list[Array]:
    """The means of both arms, whose units are resampled by themselves, shape (resamples, columns) each.

    The arm that has the first unit has the first draws, so that it makes no difference which one is the baseline.
    """
    each = zip((arms.mine, ~arms.mine), arms.n, strict=True)
    return [arms.mean(resampled(arms.held[arm].T, resamples, [seed, int(not arm[0])]).T, n) for arm, n in each]


def drawn_ends(drawn: Sequence[Array], means: Array, scale: Array | float, level: float) -> dict[str, Array]:
    """Return percentile intervals of differences of draws, and the share that are as far from what was seen as 0 is.

    Parameters
    ----------
    drawn : the draws of two arms, shape (draws, columns) each.
    means : what was seen, shape (2, columns).
    scale : the size of values.
    """
    (value, base), seen, tails = drawn, means[0] - means[1], [(1 - level) / 2, (1 + level) / 2]
    apart = value - base
    low, high = np.quantile(apart, tails, axis=0)
    one_sided = (base * np.sign(means[1]) > 0).all(axis=0)
    ends = np.full((2, len(one_sided)), np.nan)
    ends[:, one_sided] = np.quantile(apart[:, one_sided] / np.abs(base[:, one_sided]), tails, axis=0)
    far = np.abs(apart - seen) >= np.abs(seen) - CLOSE * scale
    p = (far.sum(axis=0) + 1) / (len(apart) + 1)
    return {"ci_low": low, "ci_high": high, "relative_low": ends[0], "relative_high": ends[1], "p_value": p}


def effect_size(difference: float, values: Array, weight: Array, mine: Array) -> float:
    """Return a difference by the standard deviation of queries' values from the mean of their arm; NaN where it is 0.

    Parameters
    ----------
    values, weight : of each query, shape (queries,).
    mine : whether it is of the first arm, shape (queries,).
    """
    apart = free = 0.0
    for arm in (mine, ~mine):
        if (heavy := weight[arm]).any():
            apart += float(heavy @ (values[arm] - np.average(values[arm], weights=heavy)) ** 2)
            free += float(heavy.sum() - heavy @ heavy / heavy.sum())
    spread = (apart / free) ** 0.5 if free > 0 else 0.0
    return difference / spread if spread > CLOSE * np.abs(values).max(initial=0) else np.nan
