"""The distance of the means of two arms whose units are exchanged, from sums over the units of each arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, all_equal
from frame_metrics.stats.significance import CLOSE
from frame_metrics.stats.two_arms import KINDS, linear, of_kinds

# A function from marks of the rows of one arm, shape (draws, rows), to the distance of the means, (draws, columns).
DistanceOfMarks = Callable[[Array], Array]
# If fewer units of the smaller arm are expected to differ from the commonest value, the plain difference is exchanged.
EXPECTED = 30
LEFT = 1e-14  # a variance that is a smaller share of the squares, from which it is a remainder, is only rounding


@record
class Distance:
    """The distance of the means of two arms in one metric, in standard errors, for units in any arms.

    The standard error is that of the two arms, computed anew from their units (studentised). If the distance is
    ``plain``, it is that of all units, which no exchange changes: the test is then that of the plain difference.

    Parameters
    ----------
    unit_values : the numbers of each unit, shape (units, 1 to 3). If units have one size, what the unit adds to the
        mean of all (``linear``), less what its covariate explains. Else what it adds, its size divided by the mean
        size, and the covariate if there is one.
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
        """Return what is summed over the units of an arm, shape (units, parts); ``values``: ``unit_values`` of some.

        These are the values and, unless the distance is ``plain``, the products of each two of them.
        """
        if self.plain:
            return values
        k = values.shape[1]
        return np.column_stack([values, *(values[:, i] * values[:, j] for i in range(k) for j in range(i, k))])

    @cached_property
    def _spread(self) -> float:
        """The standard deviation over all units of what each adds to the mean."""
        values = self.unit_values
        added = values[:, 0] - (self.slope * values[:, 2] if values.shape[1] > 2 else 0)
        return float(added.std(ddof=1))

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
        """Return the differences of the means of two arms, their variances, and the squares behind these.

        A variance is a remainder of squares, which are returned to tell rounding from variance. Shape (draws,) each;
        ``plain`` distances have no variance. The parameters are those of ``between``.
        """
        each = [self._mean_and_variance(sums, many) for sums, many in zip((first, second), n, strict=True)]
        return each[0][0] - each[1][0], each[0][1] + each[1][1], each[0][2] + each[1][2]

    def among(self, sums: Array, n: Array, pairs: Array) -> Array:
        """Return the distances of pairs of several arms, shape (draws, pairs).

        The standard error of a ``plain`` distance is that of the units of both arms of a pair together, as if there
        was no other arm: an arm that differs from all others does not change the distance of two others.

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
        n_both, both = n[first] + n[second], sums[:, first] + sums[:, second]
        factor = (1 / n[first] + 1 / n[second]) / (n_both - 1)
        square = both[..., -1]
        return in_errors(distance, (square - both[..., 0] ** 2 / n_both) * factor, square * factor, self.scale)

    def parts_of_several(self, values: Array) -> Array:
        """Return what is summed for ``among``, shape (units, parts); ``values``: ``unit_values`` of some units."""
        return np.column_stack([values, values[:, 0] ** 2]) if self.plain else self.parts(values)

    def _mean_and_variance(self, sums: Array, n: int | Array) -> Sequence[Array]:
        """Return the mean of an arm, its variance, and the squares behind it (see ``signed``), shape (draws,) each.

        With the sums of several arms, shape (draws, arms, parts), shapes are (draws, arms); ``n`` is then of each.

        A unit adds psi = (y - w rho) / mean w - theta (x - mean x) to the error of the mean. The variance is that of
        the mean of psi, sum psi^2 / n / (n - 1), computed from the sums of y, w, x and their products.
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
    """Return absolute differences, 0 for those that are only rounding; ``scale``: the size of values."""
    distance = np.abs(difference)
    return np.where(distance <= CLOSE * scale, 0, distance)


def in_errors(distance: Array, variance: Array, whole: Array, scale: float | Array) -> Array:
    """Return distances in standard errors; infinite, or 0 for a distance of 0, if the variance is only rounding.

    ``whole``: the squares from which the variance is a remainder.
    """
    no_variance = variance <= (CLOSE * scale) ** 2 + LEFT * whole
    in_errors_of_others = distance / np.sqrt(np.where(no_variance, 1, variance))
    return np.where(no_variance, np.where(distance > 0, np.inf, 0), in_errors_of_others)


def distances(
    sums: Array,
    size: Array,
    least: int,
    covariate: Array | None = None,
    slope: Array | None = None,
    plain: Array | None = None,
) -> list[Distance]:
    """Return the distance of the means of arms in each column, for an exchange of units among two or more arms.

    It is studentised, with two exceptions. If there are at most two different values, such as 0 and 1, and units have
    one size, equal shares have equal variances. If other values than the commonest are rare, so that fewer than
    ``EXPECTED`` of them can be expected in the smallest arm, this arm often has none of them, and a standard error of
    its own would hide a difference. Both are decided by all units together, which no exchange changes.

    Parameters
    ----------
    sums : sums of the values of each unit, shape (units, columns).
    size : the weight of each, shape (units,).
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
            counts = of_kinds(mean)
            is_plain = is_rare(len(mean), counts.max(initial=0), least) or (one_size and len(counts) < KINDS)
        else:
            is_plain = bool(plain[column])
        scale = np.abs(mean).max(initial=0) + abs(theta) * np.abs(x).max(initial=0)
        found.append(Distance(np.column_stack(columns), theta, is_plain, float(scale)))
    return found


def is_rare(n: int, n_commonest: int, least: int) -> bool:
    """Return True if values other than the commonest one are rare in the smallest arm.

    Parameters
    ----------
    n : the number of units of all arms.
    n_commonest : how many of them have the commonest value.
    least : the number of units of the smallest arm.
    """
    return 2 * n_commonest > n and (n - n_commonest) * least < EXPECTED * n


def plain_over(values: Sequence[Array], sizes: Sequence[Array], in_first: Sequence[Array]) -> bool:
    """Return True if a metric is ``plain`` in all strata: the same decision for all, as ``distances`` makes for one.

    Values are rare if they are rare in all strata together; another value may be the commonest in each.

    Parameters
    ----------
    values, sizes, in_first : for each stratum: the mean value and the weight of each unit, and whether it is of the
        first arm, shape (units,) each.
    """
    n, n_commonest, expected, all_simple = 0, 0, np.zeros(2), True
    for means, size, of_first in zip(values, sizes, in_first, strict=True):
        counts = of_kinds(means)
        all_simple &= all_equal(size) and len(counts) < KINDS
        most = int(counts.max())
        n, n_commonest = n + len(means), n_commonest + most
        expected += (len(means) - most) * np.array([of_first.mean(), 1 - of_first.mean()])
    return all_simple or (2 * n_commonest > n and bool(expected.min() < EXPECTED))


def over_strata(
    each: Sequence[Distance], mix: Array, sign: Array, signed: Sequence[tuple[Array, Array, Array]]
) -> Array:
    """Return the distances of means over strata, in standard errors unless they are ``plain``, shape (draws,).

    Parameters
    ----------
    each, mix : the distance in each stratum, all ``plain`` or none, and the share of the stratum.
    sign : 1 or -1 for each stratum, by which its difference is multiplied.
    signed : what ``Distance.signed`` returns for each stratum.
    """
    difference, variance, whole = (np.zeros(1),) * 3
    for share, one_sign, (of_stratum, its_variance, its_whole) in zip(mix.tolist(), sign.tolist(), signed, strict=True):
        difference = difference + one_sign * share * of_stratum
        variance, whole = variance + share**2 * its_variance, whole + share**2 * its_whole
    scale = max(one.scale for one in each)
    distance = absolute(difference, scale)
    return distance if each[0].plain else in_errors(distance, variance, whole, scale)
