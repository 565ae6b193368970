"""The distance of the means of two arms that share units, from sums over the rows of each arm."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.distances import DistanceOfMarks, absolute, in_errors
from frame_metrics.stats.resampling import sums_drawn
from frame_metrics.stats.significance import CLOSE
from frame_metrics.stats.two_arms import Arms, linear


def studentised(arms: Arms) -> tuple[DistanceOfMarks, int]:
    """Return a function from marks of the rows of one arm to the distance of the means, and the numbers of a draw.

    The distance is in standard errors; some units are in both arms. With y the sum of a unit's values in an arm, w its
    size and x its covariate, the mean of the arm is r = Σ y / Σ w. A unit adds psi = (y - r w) / Σ w to the error of
    the mean, and xi = (x - Σ x / n) / n to that of the mean covariate. With n' = n / (n - 1) of each arm the variance
    of the difference of the means is

        n'₁ Σ₁ psi² + n'₂ Σ₂ psi² - 2 √(n'₁ n'₂) Σ psi₁ psi₂,

    where the last sum is over the units of both arms. With xi it is the variance of the difference of mean covariates.
    Both variances, and the covariance, follow from sums of products of y, w, 1 and x, which are all that an exchange
    changes. What the covariate explains is subtracted from the difference; the slope is the covariance divided by the
    variance of the covariate.
    """
    n = len(arms.in_first)
    further = [arms.size / arms.size.mean(), np.ones(n), *([arms.centred] if arms.centred.any() else [])]
    # y, w, 1 (and x) of each row, for each column.
    numbers = np.stack([np.column_stack([y, *further]) for y in linear(arms.sums, arms.size).T], axis=1)
    in_other_arm = np.zeros_like(numbers)  # the same of the row's unit in the other arm
    in_other_arm[arms.shared] = numbers[arms.shared[::-1]]
    both = (numbers, in_other_arm)
    products = np.stack([np.einsum("rci,rcj->rcij", numbers, factors) for factors in both], axis=1)
    total, shape, flat = products[:, 0].sum(axis=0), (-1, *products.shape[1:]), products.reshape(n, -1)

    def distance(marks: Array) -> Array:
        sums = sums_drawn(flat.T, marks).T.reshape(shape)
        return _Exchange(ArmSums(sums[:, 0]), ArmSums(total - sums[:, 0]), sums[:, 1]).distance(arms.scale)

    return distance, max(flat.shape)


@record
class ArmSums:
    """The sums over the rows of an arm in each draw: of products of each two of y, w, 1 (and x)."""

    products: Array  # shape (draws, columns, numbers, numbers)

    @property
    def n(self) -> Array:
        """The number of rows."""
        return self.products[..., 2, 2]

    @property
    def mean(self) -> Array:
        """The ratio of the sums of values and sizes."""
        return self.products[..., 0, 2] / self.products[..., 1, 2]

    @property
    def covariate(self) -> Array:
        """The mean of the covariate."""
        return self.products[..., 3, 2] / self.n

    @property
    def psi(self) -> Array:
        """The factors of y, w, 1 (and x) in psi, shape (draws, columns, numbers)."""
        size, nothing = self.products[..., 1, 2], np.zeros_like(self.n)
        factors = [1 / size, -self.products[..., 0, 2] / size**2, nothing, nothing]
        return np.stack(factors[: self.products.shape[-1]], axis=-1)

    @property
    def xi(self) -> Array:
        """The factors of y, w, 1 and x in xi, shape (draws, columns, numbers)."""
        nothing = np.zeros_like(self.n)
        return np.stack([nothing, nothing, -self.products[..., 3, 2] / self.n**2, 1 / self.n], axis=-1)


@record
class _Exchange:
    """Two arms in each draw."""

    first: ArmSums
    second: ArmSums
    crossed: Array  # sums of products of the numbers of rows of the first arm with those of their units in the second

    def distance(self, scale: Array) -> Array:
        """Return the distance of the means, shape (draws, columns); ``scale``: the size of values, shape (columns,)."""
        first, second = self.first, self.second
        psi = first.psi, second.psi
        within, across = self._sums(psi, psi)
        difference, variance, whole = first.mean - second.mean, self._corrected(within, across), within.sum(axis=0)
        if first.products.shape[-1] > 3:
            xi = first.xi, second.xi
            of_both, of_covariate = self._sums(psi, xi), self._sums(xi, xi)
            covariance, variance_of_x = (each.sum(axis=0) - twice for each, twice in (of_both, of_covariate))
            varies = variance_of_x > CLOSE * of_covariate[0].sum(axis=0)
            slope = np.where(varies, covariance / np.where(varies, variance_of_x, 1), 0)
            difference = difference - slope * (first.covariate - second.covariate)
            variance = variance - 2 * slope * self._corrected(*of_both) + slope**2 * self._corrected(*of_covariate)
        return in_errors(absolute(difference, scale), variance, whole, scale)

    def _sums(self, these: tuple[Array, Array], those: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the sums of products of what units add to two errors, in each arm and across both.

        The shapes are (2, draws, columns) and (draws, columns). ``these``, ``those``: ``psi`` or ``xi`` of both arms.
        """
        arms = self.first.products, self.second.products
        within = [_product(a, arm, b) for a, arm, b in zip(these, arms, those, strict=True)]
        across = _product(these[0], self.crossed, those[1]) + _product(those[0], self.crossed, these[1])
        return np.stack(within), across

    def _corrected(self, within: Array, across: Array) -> Array:
        """Return the variance, or covariance, of a difference, with the factor n / (n - 1) of each arm."""
        first, second = (arm.n / (arm.n - 1) for arm in (self.first, self.second))
        return np.asarray(first * within[0] + second * within[1] - np.sqrt(first * second) * across)


def _product(these: Array, products: Array, those: Array) -> Array:
    """Return the sum over rows of the products of two sums of factors times numbers, shape (draws, columns)."""
    return np.asarray(np.einsum("dci,dcij,dcj->dc", these, products, those))
