"""The units of two arms of a test: the means, which are ratios of sums, and the variance of their difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, all_equal
from frame_metrics.stats.averages import cluster_numbers
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.shares import kish
from frame_metrics.stats.significance import CLOSE, MIN_UNITS, variance_left, without_rounding

KINDS = 3  # with so many different values, or more, the variance does not follow from the mean
# The fewest units that do not have the commonest value: with fewer an arm's variance may be far too small by chance.
MIN_DIFFERING = 10
SKEWED = 20  # the same at many looks, if there are more than two different values, which may be skewed


class DifferenceOfArms:
    """Properties that the units of two arms have, in one stratum or in several."""

    @property
    def difference(self: Any) -> Array:
        """The difference of the means, 0 where it is only rounding, shape (columns,)."""
        return without_rounding(self.raw_difference, self.scale)

    @cached_property
    def too_few_differ(self: Any) -> Array:
        """True for arms and columns in which so few units differ from the commonest value that a variance is unknown.

        These are fewer than ``MIN_DIFFERING``, and fewer than half of the arm. Shape (2, columns).
        """
        return few_differ(np.array(self.n)[:, None], self.n_commonest)

    @cached_property
    def too_few_differ_at_looks(self: Any) -> Array:
        """True for columns in which so few units of an arm differ that a variance may be wrong at a look."""
        least = np.where(self.has_two_values, MIN_DIFFERING, SKEWED)
        return np.asarray(few_differ(np.array(self.n)[:, None], self.n_commonest, least).any(axis=0))


@record
class Arms(DifferenceOfArms):
    """The units of two arms, queries or clusters of queries, in the order of random draws.

    A unit in both arms has two rows, one for each arm. How many units there are:

    - ``n``: in each arm; ``kish``: the same by Kish.
    - ``n_first_other_both``: in the first arm alone, in the other alone, and in both; ``n_effective``: the same by Kish
      if weights differ; ``n_for_freedom``: the same for degrees of freedom.
    """

    sums: Array  # sums of the values of a unit's queries less the offset, times their weights, shape (rows, columns)
    size: Array  # the sum of the weights of a unit's queries, above 0, shape (rows,)
    in_first: Array  # whether a row is of the first arm, shape (rows,)
    covariate: Array | None = None  # the covariate of each row, shape (rows,)
    unit: Array | None = None  # the number of each row's unit, shape (rows,); None if no unit is in both arms
    offset: Array = field(default_factory=lambda: np.zeros(1))  # what was subtracted from all values, shape (columns,)
    limits: Array | None = None  # the least and the greatest value there can be, shape (2, columns); None: not known
    zero_one: Array | None = None  # whether values are shares, shape (columns,); None: found from these units
    rows: tuple[float, float] | None = None  # how many queries each arm has, by Kish if they have weights
    clustered: bool = False  # whether some unit has several queries
    weighted: bool = False  # whether queries have unlike weights

    @cached_property
    def n(self) -> tuple[int, int]:
        """The number of units of each arm."""
        return int(self.in_first.sum()), int((~self.in_first).sum())

    @property
    def strata(self) -> Sequence[Arms]:
        """The units of each stratum: these, as one stratum."""
        return (self,)

    @property
    def mix(self) -> Array:
        """The share of each stratum: 1, shape (1,)."""
        return np.ones(1)

    @property
    def equal_in_size(self) -> bool:
        """True if both arms have as many units, in each stratum."""
        return self.n[0] == self.n[1]

    def without_weights(self) -> Arms:
        """Return these arms with each weight read as the size of its unit."""
        return replace(self, weighted=False)

    def raised(self, by: Array) -> Arms:
        """Return these arms with ``by`` added to every value of the first arm; ``by``: shape (columns,)."""
        return replace(self, sums=self.sums + self.in_first[:, None] * self.size[:, None] * by)

    @property
    def pooled_error(self) -> Array:
        """The standard error of a difference of shares if both arms have one share; NaN of others, shape (columns,)."""
        pooled = self.in_first.mean() * self.means[0] + (~self.in_first).mean() * self.means[1]
        pooled = np.where(self.of_shares, pooled, np.nan)
        return np.asarray(np.sqrt(pooled * (1 - pooled) * (1 / self.kish).sum()))

    @property
    def widest(self) -> Array | float:
        """The greatest difference that there can be, shape (columns,); infinite if it is not known."""
        widest = np.inf if self.limits is None else self.limits[1] - self.limits[0]
        return np.where(np.isnan(widest), np.inf, widest)

    @cached_property
    def n_first_other_both(self) -> tuple[int, int, int]:
        """The number of units of the first arm alone, of the other alone, and of both."""
        both = self.shared.shape[1]
        return self.n[0] - both, self.n[1] - both, both

    @cached_property
    def n_for_freedom(self) -> tuple[float, ...]:
        """``n_effective`` for degrees of freedom: NaN if weights differ, and an arm has fewer than ``MIN_UNITS``."""
        return (np.nan,) * 3 if self.weighted and (self.kish < MIN_UNITS).any() else self.n_effective

    @cached_property
    def n_effective(self) -> tuple[float, ...]:
        """``n_first_other_both``; Kish's numbers if weights differ."""
        if not self.weighted:
            return self.n_first_other_both
        of_one_arm = [kish(self.size[arm & self.in_one_arm]) for arm in (self.in_first, ~self.in_first)]
        return *of_one_arm, min(kish(self.size[rows]) for rows in self.shared)

    @cached_property
    def _row_of_unit(self) -> Array:
        """The row of each unit in the first arm, and in the other; -1 if it is not in the arm, shape (2, units)."""
        number = None if self.unit is None else cluster_numbers(self.unit)
        number = np.arange(len(self.in_first)) if number is None else number
        row = np.full((2, int(number.max(initial=-1)) + 1), -1)
        row[np.where(self.in_first, 0, 1), number] = np.arange(len(number))
        return row

    @cached_property
    def shared(self) -> Array:
        """The rows of the units that are in both arms, those of the first arm first, shape (2, shared)."""
        return self._row_of_unit[:, (self._row_of_unit >= 0).all(axis=0)]

    @cached_property
    def in_one_arm(self) -> Array:
        """True for rows of units that are in one arm only, shape (rows,)."""
        in_one_arm = np.ones(len(self.in_first), bool)
        in_one_arm[self.shared] = False
        return in_one_arm

    def side_by_side(self, rows: Array) -> Array:
        """Return rows, shape (rows, columns), by arm and unit, shape (2, units, columns); 0 if a unit has no row."""
        return np.vstack([rows, np.zeros((1, rows.shape[1]))])[self._row_of_unit]

    @cached_property
    def scale(self) -> Array:
        """The size of values, shape (columns,); a difference that is tiny in comparison is only rounding."""
        return self._size_of(np.ones(len(self.in_first), bool))

    def _size_of(self, arm: Array, *, without_offset: bool = False) -> Array:
        """Return the greatest absolute value of an arm, shape (columns,); of both arms with a covariate: one slope.

        ``without_offset``: whether the arm's own offset is subtracted before.
        """
        some = slice(None) if self.centred.any() else arm
        each = self.sums[some] / self.size[some, None]
        most = np.abs(each - offsets(each) if without_offset else each).max(axis=0, initial=0)
        return most + np.abs(self.slope) * np.abs(self.centred).max(initial=0)

    @cached_property
    def centred(self) -> Array:
        """The covariate less its mean over the rows of both arms, shape (rows,); 0 if there is none, or no variance."""
        if self.covariate is None or not len(self.covariate) or np.ptp(self.covariate) == 0:
            return np.zeros(len(self.size))
        return self.covariate - self.covariate.mean()

    @cached_property
    def slope(self) -> Array:
        """The slope theta of values by the covariate, over the units of both arms together, shape (columns,).

        If some units are in both arms, what a unit has in common in both says little about the difference of the arms.
        Then theta is the slope of the units' contributions to the difference of means, by their contributions to the
        difference of mean covariates. It is 0 if the mean covariates cannot differ, because each unit is in both arms.
        """
        x = self.centred
        if not self.shared.size:
            return x @ linear(self.sums, self.size) / (x @ x) if x.any() else np.zeros(self.sums.shape[1])
        value, covariate = self._contributions_to_means
        by_arm = self.side_by_side(np.column_stack([value, covariate]) / np.where(self.in_first, *self.n)[:, None])
        difference = by_arm[0] - by_arm[1]
        x = difference[:, -1]
        varies = x @ x > CLOSE * (by_arm[:, :, -1] ** 2).sum()
        return x @ difference[:, :-1] / (x @ x) if varies else np.zeros(self.sums.shape[1])

    @cached_property
    def summed_columns(self) -> Array:
        """The values that are summed of each row: its sums, size and centred covariate, shape (rows, columns + 2)."""
        return np.column_stack([self.sums, self.size, self.centred])

    def mean(self, totals: Array, n: Array | int) -> Array:
        """Return the mean of ``n`` units, less what their covariate explains.

        Parameters
        ----------
        totals : the totals of ``summed_columns`` over the units, shape (columns + 2,) or (draws, columns + 2).
        n : the number of units, or one for each draw, shape (draws, 1).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return totals[..., :-2] / totals[..., -2:-1] - self.slope * totals[..., -1:] / np.float64(n)

    @cached_property
    def means(self) -> Array:
        """The means of both arms, shape (2, columns); NaN for an arm without units."""
        return self._means + self.offset

    @cached_property
    def _means(self) -> Array:
        """The means of both arms less the offset, 0 for what is only rounding, shape (2, columns)."""
        each = zip((self.in_first, ~self.in_first), self.n, strict=True)
        means = np.array([self.mean(self.summed_columns[arm].sum(axis=0), n) for arm, n in each])
        size = np.array([self._size_of(arm) for arm in (self.in_first, ~self.in_first)])
        return without_rounding(means, size)

    @property
    def raw_difference(self) -> Array:
        """The difference of the means, shape (columns,)."""
        return self._means[0] - self._means[1]

    @cached_property
    def _contributions_to_means(self) -> tuple[Array, Array]:
        """The part of each row in the mean of its arm, and to the mean covariate, times the number of units of the arm.

        Shapes are (rows, columns) and (rows,).
        """
        value, x = np.empty(self.sums.shape), self.centred.copy()
        for arm in (self.in_first, ~self.in_first):
            value[arm] = linear(self.sums[arm], self.size[arm])
            x[arm] -= x[arm].mean()
        return value, x

    @cached_property
    def contributions(self) -> Array:
        """The part of each row in the mean of its arm, less what its covariate explains, shape (rows, columns)."""
        value, x = self._contributions_to_means
        return (value - x[:, None] * self.slope) / np.where(self.in_first, *self.n)[:, None]

    @cached_property
    def row_means(self) -> Array:
        """The mean value of each row less the offset, shape (rows, columns)."""
        return self.sums / self.size[:, None]

    @cached_property
    def of_shares(self) -> Array:
        """True for columns of 0 and 1, shape (columns,); False if a unit is in both arms, or there is a covariate."""
        if self.shared.size or self.centred.any():
            return np.zeros(self.sums.shape[1], bool)
        if self.zero_one is not None:
            return self.zero_one
        return np.array([np.isin(one, (0, 1)).all() for one in (self.row_means + self.offset).T])

    @cached_property
    def has_two_values(self) -> Array:
        """True for columns with at most two different values, if all units have one size, shape (columns,)."""
        one_size = all_equal(self.size)
        return np.array([one_size and len(of_kinds(values)) < KINDS for values in self.row_means.T])

    @cached_property
    def n_commonest(self) -> Array:
        """The number of units of each arm that have its commonest value, shape (2, columns)."""
        arms = self.in_first, ~self.in_first
        return np.array([[of_kinds(values).max() for values in self.row_means[arm].T] for arm in arms])

    @cached_property
    def kish(self) -> Array:
        """The effective number of units of each arm, by Kish, shape (2,)."""
        return np.array([kish(self.size[arm]) for arm in (self.in_first, ~self.in_first)])

    def variances(self, over: Array | None = None) -> Array:
        """Return the variance of the difference of the means in three parts, for arms of two units or more.

        They are of the units of the first arm alone, of the other alone, and of both. The mean of an arm of G units is
        r = sum S / sum m, and a unit adds psi = (S - m r) / sum m to its error. With f = G / (G - 1) the first two
        parts are sum f psi^2, and the third is the sum of (sqrt(f_A) psi_A - sqrt(f_B) psi_B)^2. If queries have unlike
        weights, 1 / f is ``variance_left``. With a covariate x, theta (x - mean x) / G is subtracted from each psi.

        Source: A. Deng, U. Knoblich, J. Lu, Applying the delta method in metric analytics: a practical guide with novel
        ideas, KDD 2018. A. Deng, Y. Xu, R. Kohavi, T. Walker, Improving the sensitivity of online controlled
        experiments by utilizing pre-experiment data, WSDM 2013.

        Parameters
        ----------
        over : what each mean is divided by before the difference is taken, shape (2, columns); None: 1.

        Returns
        -------
        Shape (3, columns).
        """
        value, x = self._contributions_to_means
        residuals = value - x[:, None] * self.slope
        over = np.ones((2, residuals.shape[1])) if over is None else over
        # Units of one arm only, arm by arm. A variance that is only rounding is 0.
        of_arms = []
        for arm, n, by in zip((self.in_first, ~self.in_first), self.n, over, strict=True):
            square = residuals[arm & self.in_one_arm] ** 2
            if self.weighted:
                of_one_arm = (square / self._share_left[arm & self.in_one_arm, None]).sum(axis=0) / n**2
            else:
                of_one_arm = square.sum(axis=0) / (n - 1) / n
            least = (CLOSE * self._size_of(arm, without_offset=True)) ** 2
            of_arms.append(np.where(of_one_arm < least, 0, of_one_arm) / by**2)
        # Units of both arms: what they add to one mean less what they add to the other, so that covariance is in it.
        divisors = [
            np.sqrt(self._share_left[rows, None]) * n if self.weighted else ((n - 1) * n) ** 0.5
            for rows, n in zip(self.shared, self.n, strict=True)
        ]
        psi = [residuals[rows] / part / by for rows, part, by in zip(self.shared, divisors, over, strict=True)]
        of_both = ((psi[0] - psi[1]) ** 2).sum(axis=0)
        least = (CLOSE * self.scale / np.abs(over).min(axis=0)) ** 2
        return np.array([*of_arms, np.where(of_both < least, 0, of_both)])

    @cached_property
    def _share_left(self) -> Array:
        """The share that is left of the variance of each row in its arm, see ``variance_left``, shape (rows,)."""
        left = np.empty(len(self.size))
        for arm in (self.in_first, ~self.in_first):
            left[arm] = variance_left(self.size[arm])
        return left


def linear(sums: Array, size: Array) -> Array:
    """Return what each row adds to the ratio of sums, times the number of rows, shape (rows, columns).

    It is (S - m r) / mean m, with r = sum S / sum m.

    Parameters
    ----------
    sums, size : S and m of each row, shape (rows, columns) and (rows,).
    """
    return (sums - size[:, None] * (sums.sum(axis=0) / size.sum())) / size.mean()


def of_kinds(values: Array) -> Array:
    """Return how often each distinct value occurs, in ascending order; values that differ by rounding are one."""
    rising = np.sort(values)
    if not len(rising):
        return np.zeros(0, np.int64)
    near = CLOSE * max(abs(rising[0]), abs(rising[-1]))
    starts = np.flatnonzero(np.append(True, np.diff(rising) > near))
    return np.diff(np.append(starts, len(rising)))


def commonest(values: Array) -> tuple[int, float]:
    """Return how often the most frequent of some values occurs, and this value; the least of several."""
    kinds = of_kinds(values)
    most = int(kinds.argmax())
    return int(kinds[most]), float(np.sort(values)[int(kinds[:most].sum())])


def few_differ(n: Array, n_commonest: Array, least: Array | int = MIN_DIFFERING) -> Array:
    """Return True where fewer than ``least`` of ``n`` units differ from the commonest value, and fewer than half do.

    ``n_commonest``: how many units have this value. Shapes are those of the numbers that are given.
    """
    return (n - n_commonest < least) & (2 * n_commonest > n)
