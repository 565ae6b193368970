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
# Units that people must judge, and units among them that must differ: with fewer, a t-test with a machine loses power.
SURE, DIFFERING = 25, 4


def spreads(sums: Array, sizes: Array, resamples: int, seed: int, share: float = 0.5) -> Array:
    """Return n times the variance of a difference of means of n units per arm: as observed, then in each resample.

    The mean of an arm is r = sum S / sum m over its G units, and a unit has the part psi = (S - m r) / sum m of it. The
    number is the sum of (g psi - g' psi')^2 over the units of both arms, with g = G / sqrt(G - 1); NaN where an arm has
    fewer than two. Of one arm, whose units have a difference each, it is the variance of these, where all weigh alike.
    Of arms of unequal size n is their mean, and psi is divided by the root of twice the arm's share of the units.

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
    deviations = (
        sums - sizes * (sums.sum(axis=1) / sizes.sum(axis=1))[:, None]
    )  # squares of small numbers lose fewer digits
    each = np.concatenate([deviations, sizes])
    one, other = np.triu_indices(2 * arms)
    columns = np.concatenate([each, sizes > 0, each[one] * each[other]])
    drawn = np.column_stack([columns.sum(axis=1), resampled(columns, resamples, seed)])
    total, size, units, products = np.split(drawn, [arms, 2 * arms, 3 * arms])
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.array([[(2 * share) ** -0.5], [-((2 - 2 * share) ** -0.5)]])[:arms]
        pull = units / np.sqrt(units - 1) / size * scale
        parts = np.concatenate([pull, -pull * total / size])
        twice = np.where(one == other, 1, 2)[:, None]
        found = np.maximum((parts[one] * parts[other] * products * twice).sum(axis=0), 0)
    return np.where(np.isfinite(found[0]), found, np.nan)  # a unit that is drawn twice counts as two units


@record
class Proxied:
    """The variances in a pilot in which people judged some units, and a machine all."""

    units: int  # number of units that there will be
    proxy: float  # the variance of the machine's values
    joint: Array  # their covariance with people's values: as observed, then in each resample
    least: float  # the least number of units that people judge, unless people alone need fewer

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
        some = (machine_spread > least) & (machine > least)
        joint = np.where(
            some, (people + machine_spread - residual) / 2 * np.sqrt(machine / np.where(some, machine_spread, 1)), 0
        )
        rare = DIFFERING * len(sizes) / max(int(np.count_nonzero(judged[0])), 1)  # units to judge until 4 differ
        return cls(len(size) if units is None else units, machine if machine > least else 0.0, joint, max(SURE, rare))

    def judged(self, spread: Array, factor: float, beyond: float) -> Array:
        """Return the least number n of units for people to judge, at which the variance times ``factor`` is 1.

        Infinity if there is none.

        The variance is (s - 2 lambda c + lambda^2 v / (1 - n / N)) / (n - ``beyond``) with the lambda of ``ppi_mean``,
        of the variances s by people and v by the machine and their covariance c. It is the mean over the lambda that n
        units may fit, as c is fitted with a variance of (s v + c^2) / n. Of few units that says too
        little: n is no less than ``least``, or than people alone need.
        """
        few, many = np.full(len(spread), beyond), np.full(len(spread), float(self.units))
        while (many - few > WIDTH_TO_STOP * many).any():
            n = (few + many) / 2
            rest = np.maximum(1 - n / self.units, CLOSE)
            fitted = self.joint + FITS * np.sqrt((spread * self.proxy + self.joint**2) / n)
            tuned = np.clip(fitted / (self.proxy or 1) * rest, 0, 1)
            variance = (spread - 2 * tuned * self.joint + tuned**2 * self.proxy / rest).mean(axis=0)
            enough = factor * variance <= n - beyond
            few, many = np.where(enough, few, n), np.where(enough, n, many)
        least = np.maximum(np.minimum(spread * factor + beyond, self.least), FEWEST)
        return np.where(many < self.units, np.maximum(many, least), np.inf)


def units_needed(
    spread: Array,
    arms: int,
    detect: float,
    power: float,
    level: float,
    proxied: Proxied | None = None,
    share: float = 0.5,
) -> Array:
    """Return how many units of the first arm detect a difference, at least two; infinity if no number will do.

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
    """Return the least number of units of which a test that flips signs can reach a level: 1 + log2(1 / (1 - level)).

    Of n units the least p-value is 2 / 2^n, those of all pairs of a family that are tested together too.
    """
    return int(np.ceil(1 - np.log2(1 - level) - WIDTH_TO_STOP))


def fewest_of_arm(level: float, share: float) -> int:
    """Return the least number of units of an arm of which a test that exchanges units can reach a level.

    The least p-value is 1 / (ways to choose n of N units), and twice that of arms of equal size.

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
    """Return the least difference that ``units`` units can detect; infinity for too few units, see ``more``."""
    many = units - more(level)
    return detectable(level, power) * (spread / many) ** 0.5 if many > 0 else np.inf
