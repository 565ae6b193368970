"""Sizes of samples: how many units show a difference, by how much those of a pilot vary."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.stats.exact import detectable, normal_quantile
from frame_metrics.stats.proxies import FEWEST
from frame_metrics.stats.resampling import resampled
from frame_metrics.stats.significance import CLOSE

FITS = np.array([[NormalDist().inv_cdf((i + 0.5) / 20)] for i in range(20)])  # chances of a normal number, alike
NEAR = 1e-11  # ends of an interval that holds a number of units, as a share of it: nearer than a unit can tell
SURE, DIFFERING = 25, 4  # units that people judge, and that differ: of fewer, a t-test with a machine sees less


def spreads(sums: Array, sizes: Array, resamples: int, seed: int) -> Array:
    """Return n times the variance of a difference of means by n units an arm: what was seen first, then resamples.

    The mean of an arm is r = sum S / sum m over its G units, and a unit has the part psi = (S - m r) / sum m of it. The
    number is the sum of (g psi - g' psi')^2 over the units of both arms, with g = G / sqrt(G - 1); NaN where an arm has
    fewer than two. Of one arm, whose units have a difference each, it is the variance of these, where all weigh alike.

    Parameters
    ----------
    sums, sizes : S and m of each unit in each of one or two arms, shape (arms, units); 0 where it is not of the arm.

    Returns
    -------
    Shape (1 + resamples,).
    """
    arms = len(sums)
    if not sizes.sum(axis=1).all():
        return np.full(1 + resamples, np.nan)
    apart = sums - sizes * (sums.sum(axis=1) / sizes.sum(axis=1))[:, None]  # so that squares are of small numbers
    each = np.concatenate([apart, sizes])
    one, other = np.triu_indices(2 * arms)
    columns = np.concatenate([each, sizes > 0, each[one] * each[other]])
    drawn = np.column_stack([columns.sum(axis=1), resampled(columns, resamples, seed)])
    total, size, units, products = np.split(drawn, [arms, 2 * arms, 3 * arms])
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = units / np.sqrt(units - 1) / size * np.array([[1], [-1]])[:arms]
        parts = np.concatenate([pull, -pull * total / size])
        twice = np.where(one == other, 1, 2)[:, None]
        found = np.maximum((parts[one] * parts[other] * products * twice).sum(axis=0), 0)
    return np.where(np.isfinite(found[0]), found, np.nan)  # though a unit that is drawn twice counts as two


@dataclass(frozen=True, eq=False)
class Proxied:
    """Units of which people judge some, and a machine all."""

    units: int  # how many there are
    machine: float  # the variance of the machine's values
    joint: Array  # their covariance with those of people, what was seen first, then resamples
    least: float  # units that people judge at the least, where people alone need more

    @classmethod
    def of(cls, judged: Array, sizes: Array, every: Array, units: int | None, drawn: tuple[int, int]) -> Proxied:
        """Measure how the values of a machine vary with those of people.

        The correlation is that of the units that people judged, and the variance that of all.

        Parameters
        ----------
        judged : the sums by people, and by the machine, of each unit that people judged, shape (2, units).
        sizes : of these, shape (units,).
        every : the sums by the machine, and the sizes, of all units, shape (2, all units).
        units : how many units there will be; None for as many as here.
        drawn : resamples and the seed.
        """
        people, own, apart = (spreads(side[None], sizes[None], *drawn) for side in (*judged, judged[0] - judged[1]))
        sums, size = every
        machine = float(spreads(sums[None], size[None], 0, 0)[0])
        least = (CLOSE * np.abs(sums / size).max(initial=0)) ** 2  # what is less is left by adding floats
        some = (own > least) & (machine > least)
        joint = np.where(some, (people + own - apart) / 2 * np.sqrt(machine / np.where(some, own, 1)), 0)
        rare = DIFFERING * len(sizes) / max(int(np.count_nonzero(judged[0])), 1)  # units to judge until so many differ
        return cls(len(size) if units is None else units, machine if machine > least else 0.0, joint, max(SURE, rare))

    def judged(self, spread: Array, factor: float, beyond: float) -> Array:
        """Return the least number n that people judge for which the variance times ``factor`` is 1; infinite for none.

        The variance is (s - 2 lambda c + lambda^2 v / (1 - n / N)) / (n - ``beyond``) with the lambda of ``powered``,
        of the variances s by people and v by the machine and their covariance c. It is the mean over the lambda that n
        units may fit, as c is fitted with a variance of (s v + c^2) / n. Of few units that says too
        little: n is no less than ``least``, or than people alone need.
        """
        few, many = np.full(len(spread), beyond), np.full(len(spread), float(self.units))
        while (many - few > NEAR * many).any():
            n = (few + many) / 2
            rest = np.maximum(1 - n / self.units, CLOSE)
            fitted = self.joint + FITS * np.sqrt((spread * self.machine + self.joint**2) / n)
            tuned = np.clip(fitted / (self.machine or 1) * rest, 0, 1)
            variance = (spread - 2 * tuned * self.joint + tuned**2 * self.machine / rest).mean(axis=0)
            enough = factor * variance <= n - beyond
            few, many = np.where(enough, few, n), np.where(enough, n, many)
        least = np.maximum(np.minimum(spread * factor + beyond, self.least), FEWEST)
        return np.where(many < self.units, np.maximum(many, least), np.inf)


def needed(spread: Array, arms: int, detect: float, power: float, level: float, beside: Proxied | None = None) -> Array:
    """Return how many units of each arm show a difference, at least two; infinite where there are not so many.

    Parameters
    ----------
    spread : as ``spreads`` returns it.
    arms : 1 where each unit has a difference, else 2.
    beside : of prediction-powered differences; the number is that of the units that people judge.

    Source: W. C. Guenther, Sample size formulas for normal theory t tests, The American Statistician 35(4), 1981.
    """
    beyond = more(level) / arms
    with np.errstate(over="ignore", invalid="ignore"):  # of a difference next to 0
        factor = np.square(np.float64(max(detectable(level, power), 0)) / detect)
        many = spread * factor + beyond if beside is None else beside.judged(spread, factor, beyond)
    return np.maximum(np.ceil(many - 1e-9), 2)


def more(level: float) -> float:
    """Return how many units a t-test of differences needs beyond a normal one."""
    return normal_quantile(level) ** 2 / 2


def seen_by(units: int, spread: float, power: float, level: float) -> float:
    """Return the least difference that so many units show; infinite for no more than a t-test is beyond another."""
    many = units - more(level)
    return detectable(level, power) * (spread / many) ** 0.5 if many > 0 else np.inf
