"""The distance of the means of two arms whose units are exchanged, from sums over the units of each arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, all_equal
from frame_metrics.stats.significance import CLOSE
from frame_metrics.stats.two_arms import KINDS, linear, of_kinds

# From marks of the rows of one arm, shape (draws, rows), to the distance of the means, shape (draws, columns).
DistanceOfMarks = Callable[[Array], Array]
EXPECTED = 30  # units of the smaller arm with a rare value, below which the plain difference is exchanged
LEFT = 1e-14  # a variance below this share of the squares that it is left of is only rounding


@record
class Distance:
    """The distance of the means of two arms in one metric, in standard errors, for units in any arms.

    The standard error is that of the two arms, computed anew from their units (studentised). Where it is ``plain``, it
    is that of all units, which no exchange changes: the test is then that of the plain difference.

    Parameters
    ----------
    unit_values : the numbers of each unit, shape (units, 1 to 3): what it adds to the ratio of sums over all units,
        less what its covariate explains; or, if units have several sizes, what it adds, its size by the mean size, and
        the covariate if there is one.
    slope : of the covariate.
    plain : whether the standard error is that of all units.
    scale : the size of values; a difference that is tiny in comparison is only rounding.

    Source: A. Janssen, Studentized permutation tests for non-i.i.d. hypotheses and the generalized Behrens-Fisher
    problem, Statistics & Probability Letters 36(1), 1997; E. Chung, J. P. Romano, Exact and asymptotically robust
    permutation tests, Annals of Statistics 41(2), 2013.
    """

    unit_values: Array
    slope: float
    plain: bool
    scale: float

    def parts(self, values: Array) -> Array:
        """Return what is summed over the units of an arm, shape (units, parts); ``values``: of some units."""
        if self.plain:
            return values
        k = values.shape[1]
        return np.column_stack([values, *(values[:, i] * values[:, j] for i in range(k) for j in range(i, k))])

    @cached_property
    def _spread(self) -> float:
        """The standard deviation of all units' contributions."""
        held = self.unit_values
        each = held[:, 0] - (self.slope * held[:, 2] if held.shape[1] > 2 else 0)
        return float(each.std(ddof=1))

    def between(self, first: Array, second: Array, n: tuple[int, int]) -> Array:
        """Return the distances of the means of two arms, shape (draws,).

        It is infinite where the means differ and neither arm varies, 0 where they do not differ.

        Parameters
        ----------
        first, second : the sums of ``parts`` over the units of either arm, shape (draws, parts).
        n : the number of units of each arm, two at least.
        """
        difference, variance, whole = self.signed(first, second, n)
        distance = absolute(difference, self.scale)
        if self.plain:
            return distance / (self._spread * (1 / n[0] + 1 / n[1]) ** 0.5) if self._spread > 0 else distance
        return in_errors(distance, variance, whole, self.scale)

    def signed(self, first: Array, second: Array, n: tuple[int, int]) -> tuple[Array, Array, Array]:
        """Return the differences of the means of two arms, their variances, and the squares that these are left of.

        Shape (draws,) each; those that are ``plain`` have no variance. The parameters are those of ``between``.
        """
        each = [self._mean_and_variance(sums, many) for sums, many in zip((first, second), n, strict=True)]
        return each[0][0] - each[1][0], each[0][1] + each[1][1], each[0][2] + each[1][2]

    def among(self, sums: Array, n: Array, pairs: Array) -> Array:
        """Return the distances of pairs of several arms, shape (draws, pairs).

        Where they are ``plain``, the standard error is that of the units of both arms of a pair together, as if no
        other arm was there: arms that differ from others do not hide or raise what differs between these two.

        Parameters
        ----------
        sums : the sums of ``parts_of_several`` over the units of each arm, shape (draws, arms, parts).
        n : the number of units of each arm, two at least, shape (arms,).
        pairs : the numbers of the arms of each pair, shape (pairs, 2).
        """
        first, second = pairs.T
        mean, variance, whole = self._mean_and_variance(sums, n)
        distance = absolute(mean[:, first] - mean[:, second], self.scale)
        if not self.plain:
            variances = variance[:, first] + variance[:, second]
            return in_errors(distance, variances, whole[:, first] + whole[:, second], self.scale)
        many, both = n[first] + n[second], sums[:, first] + sums[:, second]
        times = (1 / n[first] + 1 / n[second]) / (many - 1)
        square = both[..., -1]
        return in_errors(distance, (square - both[..., 0] ** 2 / many) * times, square * times, self.scale)

    def parts_of_several(self, values: Array) -> Array:
        """Return what ``among`` needs the sums of, shape (units, parts); ``values``: of some units."""
        return np.column_stack([values, values[:, 0] ** 2]) if self.plain else self.parts(values)

    def _mean_and_variance(self, sums: Array, n: int | Array) -> Sequence[Array]:
        """Return the mean of an arm, its variance, and the squares that this is left of, shape (draws,) each.

        With the sums of several arms, shape (draws, arms, parts), shapes are (draws, arms); ``n`` is then of each.

        With psi = (y - w rho) / mean w - theta (x - mean x), the contribution of a unit, the variance is that of the
        mean of psi, sum psi^2 / n / (n - 1), from the sums of y, w, x and their products.
        """
        k = self.unit_values.shape[1]
        y = sums[..., 0]
        w = sums[..., 1] if k > 1 else np.asarray(n, np.float64)
        x = sums[..., 2] / n if k > 2 else np.float64(0)
        rho = y / w
        mean = rho - self.slope * x if k > 2 else rho
        if self.plain:
            return mean, np.zeros(1), np.zeros(1)
        square = np.moveaxis(sums[..., k:], -1, 0)
        if k == 1:
            left, whole = square[0] - n * rho**2, square[0]
        else:
            # In the order of ``parts``: yy, yw, ww, or yy, yw, yx, ww, wx, xx.
            yy, yw, ww = square[[0, 1, k]]
            left, whole = (yy - 2 * rho * yw + rho**2 * ww) * (n / w) ** 2, yy * (n / w) ** 2
            if k > 2:
                explained = self.slope**2 * (square[5] - n * x**2)
                left = left - 2 * self.slope * (square[2] - rho * square[4]) * (n / w) + explained
                whole = whole + self.slope**2 * square[5]
        return mean, left / n / (n - 1), whole / n / (n - 1)


def absolute(difference: Array, scale: float | Array) -> Array:
    """Return absolute differences, 0 where they are only rounding; ``scale``: the size of values."""
    apart = np.abs(difference)
    return np.where(apart <= CLOSE * scale, 0, apart)


def in_errors(difference: Array, variance: Array, whole: Array, scale: float | Array) -> Array:
    """Return differences in standard errors; ``whole``: the squares that the variance is left of."""
    sure = variance <= (CLOSE * scale) ** 2 + LEFT * whole
    return np.where(sure, np.where(difference > 0, np.inf, 0), difference / np.sqrt(np.where(sure, 1, variance)))


def distances(
    sums: Array,
    size: Array,
    least: int,
    covariate: Array | None = None,
    slope: Array | None = None,
    plain: Array | None = None,
) -> list[Distance]:
    """Return the distance of the means of arms in each column, for an exchange of units among two or more arms.

    It is studentised, but for values of two kinds, such as 0 and 1, of units of one size: equal shares have equal
    variances. Nor for rare values: where most units have the same value, and fewer than ``EXPECTED`` of the others can
    be expected in the smallest arm, that arm often holds none of them, and a standard error of its own would hide what
    differs. What is decided here depends on all units together, which no exchange changes.

    Parameters
    ----------
    sums : sums of the values of each unit, shape (units, columns).
    size : how much is summed in each, shape (units,).
    least : the number of units of the smallest arm.
    covariate : of each unit less its mean, shape (units,); None without one.
    slope : of values by the covariate, shape (columns,).
    plain : whether columns are not studentised, shape (columns,); None: it is decided from these units.
    """
    x = np.zeros(len(size)) if covariate is None else covariate
    one_size, known, found = all_equal(size), bool(x.any()), []
    for column, value in enumerate(linear(sums, size).T):
        theta = float(slope[column]) if known and slope is not None else 0.0
        mean = sums[:, column] / size
        columns = [value - theta * x] if known and one_size else [value]
        if not one_size:
            columns += [size / size.mean(), *([x] if known else [])]
        if plain is None:
            different = of_kinds(mean)
            simple = is_rare(len(mean), different.max(initial=0), least) or (one_size and len(different) < KINDS)
        else:
            simple = bool(plain[column])
        scale = np.abs(mean).max(initial=0) + abs(theta) * np.abs(x).max(initial=0)
        found.append(Distance(np.column_stack(columns), theta, simple, float(scale)))
    return found


def is_rare(n: int, most: int, least: int) -> bool:
    """Return whether values other than the commonest one are rare in the smallest arm.

    Parameters
    ----------
    n : the number of units of all arms.
    most : how many of them have the commonest value.
    least : the number of units of the smallest arm.
    """
    return 2 * most > n and (n - most) * least < EXPECTED * n


def plain_over(values: Sequence[Array], sizes: Sequence[Array], mine: Sequence[Array]) -> bool:
    """Return whether a metric is not studentised in any stratum, as ``distances`` decides it of one.

    Values are rare if they are in all strata together; the commonest one may be another in each.

    Parameters
    ----------
    values, sizes, mine : of the units of each stratum, their means, how much they hold, and whether they are of the
        first arm, shape (units,) each.
    """
    n, most, expected, simple = 0, 0, np.zeros(2), True
    for means, size, first in zip(values, sizes, mine, strict=True):
        different = of_kinds(means)
        times = int(different.max())
        simple &= all_equal(size) and len(different) < KINDS
        n, most = n + len(means), most + times
        expected += (len(means) - times) * np.array([first.mean(), 1 - first.mean()])
    return simple or (2 * most > n and bool(expected.min() < EXPECTED))


def over_strata(
    each: Sequence[Distance], mix: Array, sign: Array, signed: Sequence[tuple[Array, Array, Array]]
) -> Array:
    """Return the distances of means that are sums over strata, in standard errors but for ``plain`` ones, (draws,).

    Parameters
    ----------
    each, mix : the distance in each stratum, all ``plain`` or none, and the share of each.
    sign, signed : what ``Distance.signed`` returns in each, and by what its difference is multiplied.
    """
    difference, variance, whole = (np.zeros(1),) * 3
    for share, turn, (own, own_variance, own_whole) in zip(mix.tolist(), sign.tolist(), signed, strict=True):
        difference = difference + turn * share * own
        variance, whole = variance + share**2 * own_variance, whole + share**2 * own_whole
    scale = max(one.scale for one in each)
    far = absolute(difference, scale)
    return far if each[0].plain else in_errors(far, variance, whole, scale)
