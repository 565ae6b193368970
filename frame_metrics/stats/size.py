"""Sample sizes: the number of units that can detect a difference, from the variance in a pilot."""

from __future__ import annotations

from bisect import bisect_left
from math import ceil, lgamma, log
from statistics import NormalDist

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.stats.exact import detectable, normal_quantile
from frame_metrics.stats.proxies import FEWEST
from frame_metrics.stats.resampling import resampled
from frame_metrics.stats.significance import CLOSE

FITS = np.array([[NormalDist().inv_cdf((i + 0.5) / 20)] for i in range(20)])  # 20 equally likely normal numbers
WIDTH_TO_STOP = 1e-11  # relative width at which a bisection for a number of units stops; finer than a unit
# The fewest units that people must judge, and the fewest of these that must differ: with fewer, a t-test that also uses
# a machine's judgments loses power.
MIN_JUDGED, MIN_JUDGED_DIFFERING = 25, 4


def spreads(sums: Array, sizes: Array, resamples: int, seed: int, share: float = 0.5) -> Array:
    """Return n times the variance of a difference of means of n units per arm: in the data, then in each resample.

    The mean of an arm is r = sum S / sum m over its G units, and a unit adds psi = (S - m r) / sum m to its error. The
    result is the sum of (g psi - g' psi')^2 over the units of both arms, with g = G / sqrt(G - 1); NaN if an arm has
    fewer than two units. For one arm, whose units have a difference each, it is the variance of the differences, if all
    have one weight. If arms differ in size, n is the mean of both, and psi is divided by the root of twice the arm's
    share of the units.

    Parameters
    ----------
    sums, sizes : S and m of each unit in each of one or two arms, shape (arms, units); 0 where it is not of the arm.
    resamples, seed : the number of resamples, and their seed.
    share : the first arm's share of the units of both.

    Returns
    -------
    Shape (1 + resamples,).
    """
    arms = len(sums)
    if not sizes.sum(axis=1).all():
        return np.full(1 + resamples, np.nan)
    # Deviations instead of sums: squares of small numbers lose fewer digits.
    deviations = sums - sizes * (sums.sum(axis=1) / sizes.sum(axis=1))[:, None]
    each = np.concatenate([deviations, sizes])
    one, other = np.triu_indices(2 * arms)
    columns = np.concatenate([each, sizes > 0, each[one] * each[other]])
    drawn = np.column_stack([columns.sum(axis=1), resampled(columns, resamples, seed)])
    total, size, units, products = np.split(drawn, [arms, 2 * arms, 3 * arms])
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.array([[(2 * share) ** -0.5], [-((2 - 2 * share) ** -0.5)]])[:arms]
        # What S and m of a unit are multiplied by in the sum that is squared; and the products, each pair twice.
        factor_of_sum = units / np.sqrt(units - 1) / size * scale
        factors = np.concatenate([factor_of_sum, -factor_of_sum * total / size])
        twice = np.where(one == other, 1, 2)[:, None]
        found = np.maximum((factors[one] * factors[other] * products * twice).sum(axis=0), 0)
    return np.where(np.isfinite(found[0]), found, np.nan)  # a unit that is drawn twice counts as two units


@record
class Proxied:
    """The variances in a pilot in which people judged some units, and a machine all."""

    units: int  # number of units that there will be
    proxy: float  # the variance of the machine's values
    covariance: Array  # of the machine's and people's values: in the data, then in each resample
    least: float  # the fewest units that people judge, unless fewer are enough without the machine

    @classmethod
    def of(cls, judged: Array, sizes: Array, every: Array, units: int | None, drawn: tuple[int, int]) -> Proxied:
        """Estimate how the values of a machine vary with those of people.

        The correlation is that over the units that people judged; the variance is that over all units.

        Parameters
        ----------
        judged : the sums by people, and by the machine, of each unit that people judged, shape (2, units).
        sizes : the sizes of these units, shape (units,).
        every : the sums by the machine, and the sizes, of all units, shape (2, all units).
        units : the number of units that there will be; None: as many as in the pilot.
        drawn : the number of resamples, and the seed.
        """
        people, machine_spread, residual = (
            spreads(side[None], sizes[None], *drawn) for side in (*judged, judged[0] - judged[1])
        )
        sums, size = every
        machine = float(spreads(sums[None], size[None], 0, 0)[0])
        least = (CLOSE * np.abs(sums / size).max(initial=0)) ** 2  # a smaller variance is only rounding
        varies = (machine_spread > least) & (machine > least)
        to_all_units = np.sqrt(machine / np.where(varies, machine_spread, 1))
        covariance = np.where(varies, (people + machine_spread - residual) / 2 * to_all_units, 0)
        n_units, proxy = len(size) if units is None else units, machine if machine > least else 0.0
        # As many units as hold so many that differ, if they are as frequent as in the pilot.
        until_enough_differ = MIN_JUDGED_DIFFERING * len(sizes) / max(int(np.count_nonzero(judged[0])), 1)
        return cls(n_units, proxy, covariance, max(MIN_JUDGED, until_enough_differ))

    def judged(self, spread: Array, factor: float, beyond: float) -> Array:
        """Return the least number n of units for people to judge, at which the variance times ``factor`` is 1.

        Infinity if there is none.

        The variance is (s - 2 lambda c + lambda^2 v / (1 - n / N)) / (n - ``beyond``), with the variances s by people
        and v by the machine, their covariance c, and the lambda of ``ppi_mean``. It is the mean over the lambdas that n
        units may give, as c is estimated with a variance of (s v + c^2) / n. For few units this is too optimistic: n is
        no less than ``least``, or than what is enough without the machine.
        """
        too_few, enough = np.full(len(spread), beyond), np.full(len(spread), float(self.units))
        while (enough - too_few > WIDTH_TO_STOP * enough).any():
            n = (too_few + enough) / 2
            rest = np.maximum(1 - n / self.units, CLOSE)
            fitted = self.covariance + FITS * np.sqrt((spread * self.proxy + self.covariance**2) / n)
            tuned = np.clip(fitted / (self.proxy or 1) * rest, 0, 1)
            variance = (spread - 2 * tuned * self.covariance + tuned**2 * self.proxy / rest).mean(axis=0)
            is_enough = factor * variance <= n - beyond
            too_few, enough = np.where(is_enough, too_few, n), np.where(is_enough, n, enough)
        least = np.maximum(np.minimum(spread * factor + beyond, self.least), FEWEST)
        return np.where(enough < self.units, np.maximum(enough, least), np.inf)


def units_needed(
    spread: Array,
    arms: int,
    detect: float,
    power: float,
    level: float,
    proxied: Proxied | None = None,
    share: float = 0.5,
) -> Array:
    """Return how many units of the first arm detect a difference, at least two; infinity if no number does.

    Parameters
    ----------
    spread : as ``spreads`` returns it.
    arms : 1 if each unit has a difference (paired), else 2.
    detect, power, level : the difference, the power and the level of the test.
    proxied : for prediction-powered differences; the number is then that of units that people judge.
    share : the first arm's share of the units of both; the degrees of freedom are Welch's, of arms that vary alike.

    Source: W. C. Guenther, Sample size formulas for normal theory t tests, The American Statistician 35(4), 1981.
    """
    beyond = more(level) if arms == 1 else more(level) / 2 * ((1 - share) ** 2 / share + share**2 / (1 - share))
    with np.errstate(over="ignore", invalid="ignore"):  # of a difference next to 0
        factor = np.square(np.float64(max(detectable(level, power), 0)) / detect)
        many = spread * factor + beyond if proxied is None else proxied.judged(spread, factor, beyond)
    return np.maximum(np.ceil(2 * share * many - 1e-9), 2)


def fewest(level: float) -> int:
    """Return the fewest units with which a test that flips signs can be significant at a level.

    It is 1 + log2(1 / (1 - level)): with n units the least p-value is 2 / 2^n, also if a family is tested together.
    """
    return int(np.ceil(1 - np.log2(1 - level) - WIDTH_TO_STOP))


def fewest_of_arm(level: float, share: float) -> int:
    """Return the fewest units of an arm with which a test that exchanges units can be significant at a level.

    The least p-value is 1 / (ways to choose n of N units), and twice that if arms have equal sizes.

    Parameters
    ----------
    share : the arm's share of the units of both; the other has two units or more.
    """

    def reached(n: int) -> bool:
        other = max(ceil(n * (1 - share) / share - WIDTH_TO_STOP), 2)
        ways = lgamma(n + other + 1) - lgamma(n + 1) - lgamma(other + 1)
        return log(1 + (n == other)) - ways <= log(1 - level) + WIDTH_TO_STOP

    many = 2
    while not reached(many):
        many *= 2
    return bisect_left(range(many), x=True, lo=2, key=reached)


def more(level: float) -> float:
    """Return how many units more a t-test of differences needs than a normal test."""
    return normal_quantile(level) ** 2 / 2


def seen_by(units: int, spread: float, power: float, level: float) -> float:
    """Return the least difference that ``units`` units can detect; infinity if this is too few, see ``more``."""
    n = units - more(level)
    return detectable(level, power) * (spread / n) ** 0.5 if n > 0 else np.inf
