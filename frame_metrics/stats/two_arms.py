"""The units of two arms of a test: the means, which are ratios of sums, and the variance of their difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, all_equal
from frame_metrics.stats.averages import cluster_numbers
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.shares import kish
from frame_metrics.stats.significance import CLOSE, MIN_UNITS, variance_left

KINDS = 3  # kinds of values, whose variance does not follow from their mean, as that of two kinds does
# Units that do not have the commonest value: with fewer an arm's variance is far too small by chance.
MIN_DIFFERING = 10
SKEWED = 20  # the same at many looks, of values of more than two kinds, whose size adds to the chance


@record
class Arms:
    """The units of two arms, queries or clusters of queries, in the order of random draws.

    A unit in both arms has two rows, one for each arm. Numbers of units: ``n``, of each arm; ``n_first_other_both``, in
    the first alone, in the other alone, and in both; ``n_effective``, these by Kish if weights differ;
    ``n_for_freedom``, these for degrees of freedom; ``kish``, of each arm by Kish.
    """

    sums: Array  # sums of the values of a unit's queries less the offset, times their weights, shape (rows, columns)
    size: Array  # the sum of the weights of a unit's queries, above 0, shape (rows,)
    mine: Array  # whether a row is of the first arm, shape (rows,)
    covariate: Array | None = None  # the covariate of each row, shape (rows,)
    unit: Array | None = None  # the number of each row's unit, shape (rows,); None if no unit is in both arms
    offset: Array = field(default_factory=lambda: np.zeros(1))  # what was taken from all values, shape (columns,)
    limits: Array | None = None  # the least and the greatest value there can be, shape (2, columns); None: not known
    zero_one: Array | None = (
        None  # whether all values are 0 or 1, shape (columns,); None: those of these units are asked
    )
    rows: tuple[float, float] | None = None  # the number of queries of each arm, by Kish if they have weights
    clustered: bool = False  # whether some unit has several queries
    weighted: bool = False  # whether queries have unlike weights

    @cached_property
    def n(self) -> tuple[int, int]:
        """The number of units of each arm."""
        return int(self.mine.sum()), int((~self.mine).sum())

    @property
    def strata(self) -> Sequence[Arms]:
        """The units of each stratum: these, as one stratum."""
        return (self,)

    @property
    def mix(self) -> Array:
        """The share of each stratum, shape (strata,)."""
        return np.ones(1)

    @property
    def even(self) -> bool:
        """True if both arms have as many units, in each stratum."""
        return self.n[0] == self.n[1]

    def without_weights(self) -> Arms:
        """Return these arms with each weight read as the size of its unit."""
        return replace(self, weighted=False)

    def raised(self, by: Array) -> Arms:
        """Return these arms with ``by`` added to every value of the first arm; ``by``: shape (columns,)."""
        return replace(self, sums=self.sums + self.mine[:, None] * self.size[:, None] * by)

    @property
    def pooled_error(self) -> Array:
        """The standard error of a difference of shares if both arms have the same; NaN of others, shape (columns,)."""
        pooled = self.mine.mean() * self.means[0] + (~self.mine).mean() * self.means[1]
        pooled = np.where(self.of_shares, pooled, np.nan)
        return np.asarray(np.sqrt(pooled * (1 - pooled) * (1 / self.kish).sum()))

    @property
    def widest(self) -> Array | float:
        """The greatest difference that there can be, shape (columns,); infinite where it is not known."""
        wide = np.inf if self.limits is None else self.limits[1] - self.limits[0]
        return np.where(np.isnan(wide), np.inf, wide)

    @cached_property
    def n_first_other_both(self) -> tuple[int, int, int]:
        """The number of units of the first arm alone, of the other alone, and of both."""
        both = self.shared.shape[1]
        return self.n[0] - both, self.n[1] - both, both

    @cached_property
    def n_for_freedom(self) -> tuple[float, ...]:
        """``n_first_other_both`` for degrees of freedom: Kish's if weights differ, NaN if an arm has too few."""
        return (np.nan,) * 3 if self.weighted and (self.kish < MIN_UNITS).any() else self.n_effective

    @cached_property
    def n_effective(self) -> tuple[float, ...]:
        """The numbers of ``n_first_other_both``, those of Kish if weights differ, however few they are."""
        if not self.weighted:
            return self.n_first_other_both
        alone = [kish(self.size[arm & self.alone]) for arm in (self.mine, ~self.mine)]
        return *alone, min(kish(self.size[row]) for row in self.shared)

    @cached_property
    def _place(self) -> Array:
        """The row of each unit in the first arm, and in the other; -1 where it has none, shape (2, units)."""
        number = None if self.unit is None else cluster_numbers(self.unit)
        number = np.arange(len(self.mine)) if number is None else number
        place = np.full((2, int(number.max(initial=-1)) + 1), -1)
        place[np.where(self.mine, 0, 1), number] = np.arange(len(number))
        return place

    @cached_property
    def shared(self) -> Array:
        """The rows of the units that are in both arms, those of the first arm first, shape (2, shared)."""
        return self._place[:, (self._place >= 0).all(axis=0)]

    @cached_property
    def alone(self) -> Array:
        """True where the unit of a row is in one arm only, shape (rows,)."""
        alone = np.ones(len(self.mine), bool)
        alone[self.shared] = False
        return alone

    def side_by_side(self, rows: Array) -> Array:
        """Return the values of each unit in either arm, shape (2, units, columns); 0 in an arm that it is not in.

        Parameters
        ----------
        rows : shape (rows, columns).
        """
        return np.vstack([rows, np.zeros((1, rows.shape[1]))])[self._place]

    @cached_property
    def scale(self) -> Array:
        """The size of values, shape (columns,); a difference that is tiny in comparison is only rounding."""
        return self._size_of(np.ones(len(self.mine), bool))

    def _size_of(self, arm: Array, *, without_offset: bool = False) -> Array:
        """Return the size of the values of an arm, shape (columns,); ``without_offset``: beside their own offset.

        With a covariate it is that of both arms, because they share the slope.
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

        If some units are in both arms, what a unit has in both says little about the difference of the arms. So theta
        is then the slope of the units' parts in the difference of means, by their parts in the difference of mean
        covariates. It is 0 if the mean covariates cannot differ, because each unit is in both arms.
        """
        x = self.centred
        if not self.shared.size:
            return x @ linear(self.sums, self.size) / (x @ x) if x.any() else np.zeros(self.sums.shape[1])
        value, covariate = self._parts_of_rows
        each = self.side_by_side(np.column_stack([value, covariate]) / np.where(self.mine, *self.n)[:, None])
        difference = each[0] - each[1]
        x = difference[:, -1]
        varies = x @ x > CLOSE * (each[:, :, -1] ** 2).sum()
        return x @ difference[:, :-1] / (x @ x) if varies else np.zeros(self.sums.shape[1])

    @cached_property
    def summed_columns(self) -> Array:
        """All columns of a row that are summed: its sums, size and covariate, shape (rows, columns + 2)."""
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
        """The means of both arms, shape (2, columns); NaN for an arm without units, 0 for what is only rounding."""
        return self._means + self.offset

    @cached_property
    def _means(self) -> Array:
        """The means of both arms less the offset, with which sums are computed, shape (2, columns)."""
        each = zip((self.mine, ~self.mine), self.n, strict=True)
        means = np.array([self.mean(self.summed_columns[arm].sum(axis=0), n) for arm, n in each])
        size = np.array([self._size_of(arm) for arm in (self.mine, ~self.mine)])
        return np.where(np.abs(means) < CLOSE * size, 0, means)

    @property
    def raw_difference(self) -> Array:
        """The difference of the means, shape (columns,)."""
        return self._means[0] - self._means[1]

    @property
    def difference(self) -> Array:
        """The difference of the means, 0 where it is only rounding, shape (columns,)."""
        return np.where(np.abs(self.raw_difference) < CLOSE * self.scale, 0, self.raw_difference)

    @cached_property
    def _parts_of_rows(self) -> tuple[Array, Array]:
        """The part of each row in the mean of its arm, and in the arm's mean covariate, times the units of the arm."""
        value, x = np.empty(self.sums.shape), self.centred.copy()
        for arm in (self.mine, ~self.mine):
            value[arm] = linear(self.sums[arm], self.size[arm])
            x[arm] -= x[arm].mean()
        return value, x

    @cached_property
    def contributions(self) -> Array:
        """The part of each row in the difference of the means, less what its covariate explains, (rows, columns)."""
        value, x = self._parts_of_rows
        return (value - x[:, None] * self.slope) / np.where(self.mine, *self.n)[:, None]

    @cached_property
    def of_units(self) -> Array:
        """The mean value of each row less the offset, shape (rows, columns)."""
        return self.sums / self.size[:, None]

    @cached_property
    def of_shares(self) -> Array:
        """True for columns that are shares of two arms without a unit in both or a covariate, shape (columns,)."""
        if self.shared.size or self.centred.any():
            return np.zeros(self.sums.shape[1], bool)
        if self.zero_one is not None:
            return self.zero_one
        return np.array([np.isin(one, (0, 1)).all() for one in (self.of_units + self.offset).T])

    @cached_property
    def of_two(self) -> Array:
        """True for columns in which units of one size have at most two values, such as 0 and 1, shape (columns,)."""
        one_size = all_equal(self.size)
        return np.array([one_size and len(of_kinds(values)) < KINDS for values in self.of_units.T])

    @cached_property
    def most(self) -> Array:
        """The number of units of each arm that have its commonest value, shape (2, columns)."""
        return np.array([[of_kinds(own).max() for own in self.of_units[arm].T] for arm in (self.mine, ~self.mine)])

    @cached_property
    def few(self) -> Array:
        """True for arms and columns whose variance is not known, as few units do not have the arm's commonest value.

        These are fewer than ``MIN_DIFFERING``, and fewer than half of the arm. Shape (2, columns).
        """
        return few_differ(np.array(self.n)[:, None], self.most)

    @cached_property
    def few_at_looks(self) -> Array:
        """True for columns in which an arm has so few units that its variance may be wrong at some look, (columns,)."""
        n = np.array(self.n)[:, None]
        return np.asarray(few_differ(n, self.most, np.where(self.of_two, MIN_DIFFERING, SKEWED)).any(axis=0))

    @cached_property
    def kish(self) -> Array:
        """The effective number of units of each arm, by Kish, shape (2,)."""
        return np.array([kish(self.size[arm]) for arm in (self.mine, ~self.mine)])

    def variances(self, over: Array | None = None) -> Array:
        """Return the variance of the difference of the means in three parts, for arms of two units or more.

        They are of the units of the first arm alone, of the other alone, and of both. With psi = (S - m r) / sum m, the
        part of a unit in r = sum S / sum m over the G units of an arm, and f = G / (G - 1), they are sum f psi^2 for
        the first two, and for the third the sum of (sqrt(f_A) psi_A - sqrt(f_B) psi_B)^2. Of queries with unlike
        weights 1 / f is that of ``variance_left``. With a covariate x, theta (x - mean x) / G of the arm is taken from
        each psi.

        Source: A. Deng, U. Knoblich, J. Lu, Applying the delta method in metric analytics: a practical guide with novel
        ideas, KDD 2018. A. Deng, Y. Xu, R. Kohavi, T. Walker, Improving the sensitivity of online controlled
        experiments by utilizing pre-experiment data, WSDM 2013.

        Parameters
        ----------
        over : divisors of the means, before the difference is taken, shape (2, columns); None: 1.

        Returns
        -------
        Shape (3, columns).
        """
        value, x = self._parts_of_rows
        residuals = value - x[:, None] * self.slope
        over = np.ones((2, residuals.shape[1])) if over is None else over
        # Units of one arm only, arm by arm. A variance that is only rounding is 0.
        found = []
        both = [*zip(self.shared, self.n, strict=True)]
        for arm, n, by in zip((self.mine, ~self.mine), self.n, over, strict=True):
            square = residuals[arm & self.alone] ** 2
            if self.weighted:
                of_one_arm = (square / self._left[arm & self.alone, None]).sum(axis=0) / n**2
            else:
                of_one_arm = square.sum(axis=0) / (n - 1) / n
            least = (CLOSE * self._size_of(arm, without_offset=True)) ** 2
            found.append(np.where(of_one_arm < least, 0, of_one_arm) / by**2)
        # Units of both arms: what they add to one mean less what they add to the other, so that covariance is in it.
        each = [np.sqrt(self._left[row, None]) * n if self.weighted else ((n - 1) * n) ** 0.5 for row, n in both]
        pull = [residuals[row] / part / by for row, part, by in zip(self.shared, each, over, strict=True)]
        shared = ((pull[0] - pull[1]) ** 2).sum(axis=0)
        return np.array([*found, np.where(shared < (CLOSE * self.scale / np.abs(over).min(axis=0)) ** 2, 0, shared)])

    @cached_property
    def _left(self) -> Array:
        """The part that is left of the variance of each row in its arm, as ``variance_left`` has it, shape (rows,)."""
        left = np.empty(len(self.size))
        for arm in (self.mine, ~self.mine):
            left[arm] = variance_left(self.size[arm])
        return left


def linear(sums: Array, size: Array) -> Array:
    """Return the part of each unit in the ratio of sums: its distance from it, by the mean size, shape (rows, columns).

    Parameters
    ----------
    sums : shape (rows, columns).
    size : shape (rows,).
    """
    return (sums - size[:, None] * (sums.sum(axis=0) / size.sum())) / size.mean()


def of_kinds(values: Array) -> Array:
    """Return how many numbers there are of each value, in ascending order; those that differ by rounding are one."""
    rising = np.sort(values)
    if not len(rising):
        return np.zeros(0, np.int64)
    near = CLOSE * max(abs(rising[0]), abs(rising[-1]))
    starts = np.flatnonzero(np.append(True, np.diff(rising) > near))
    return np.diff(np.append(starts, len(rising)))


def commonest(values: Array) -> tuple[int, float]:
    """Return how many of some numbers have the most frequent value, and this value; of several the least."""
    kinds = of_kinds(values)
    most = int(kinds.argmax())
    return int(kinds[most]), float(np.sort(values)[int(kinds[:most].sum())])


def few_differ(n: Array, most: Array, few: Array | int = MIN_DIFFERING) -> Array:
    """Return whether fewer than ``few`` of ``n`` units do not have the commonest value, which ``most`` of them have.

    Shapes are those of the numbers that are given.
    """
    return (n - most < few) & (2 * most > n)
