"""Families of paired differences: p-values and intervals that hold together, by the greatest statistic of each flip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, ratio
from frame_metrics.stats.flips import every_flip, extreme_from, flipped, numbers_at_once, p_value_of_count
from frame_metrics.stats.significance import CLOSE, Tick, variance_left

BYTES_AT_ONCE = 100_000_000  # bytes of flipped sums that are kept at a time
# A column is not the difference of two sides if it is off by more than this share of its mean size.
SIDES_TOL = 1e-14
SLACK = 1e-9  # relative tolerance of rounded numbers; t is infinite if u**2 equals the number of units up to this


@record
class OfSides:
    """The values of single systems (sides), of which the columns are differences.

    If few systems make many pairs, it takes less time to flip the sums of each side, and then to subtract these.
    """

    rows: Array  # the sums of each unit's weighted values, less those of one of the sides, shape (units, sides)
    pair: Array  # the two sides of each column, of which the second is subtracted, shape (2, columns)

    def reproduces(self, sums: Array) -> bool:
        """Return True if each column is the difference of its sides, so that flips of both are equal but for rounding.

        ``sums``: the columns, shape (units, columns).
        """
        first, second = self.pair
        return all(
            bool(
                (np.abs(self.rows[:, first[i]] - self.rows[:, second[i]] - one) <= SIDES_TOL * np.abs(one).mean()).all()
            )
            for i, one in enumerate(sums.T)
        )


@record
class FlipBlock:
    """Columns of paired differences whose units are flipped together, such as those of a segment.

    A column is a pair of systems on one metric. Columns that use the same queries have the same pattern.
    """

    unit: Array  # the numbers of the units, ascending, shape (units,)
    # The sum of the weighted differences of each unit, less the offset; 0 for a unit that is not in the column. Shape
    # (units, columns).
    sums: Array
    sizes: Array  # the weight of each unit in each pattern, shape (units, patterns)
    pattern: Array  # the pattern of each column, shape (columns,)
    offset: Array  # what was subtracted from the differences of each column, shape (columns,)
    family: Array  # the number of each column's family, shape (columns,)
    weighted: Array  # whether the queries of a pattern have unlike weights, shape (patterns,)
    sides: OfSides | None = None  # if flips of these take less time

    @cached_property
    def unit_unless_all(self) -> Array | None:
        """The numbers of the units; None if the block has all units."""
        return None if self.unit[-1] + 1 == len(self.unit) else self.unit

    @cached_property
    def with_offset(self) -> Array:
        """The sums of the weighted differences, offset included, shape (units, columns)."""
        return self.sums + self.sizes[:, self.pattern] * self.offset if self.offset.any() else self.sums

    @cached_property
    def centre(self) -> Array:
        """The means of the differences, less the offset, shape (columns,)."""
        return self.sums.sum(axis=0) / self.sizes.sum(axis=0)[self.pattern]

    @cached_property
    def deviations(self) -> Array:
        """The sum of the weighted distances from the mean in each unit, shape (units, columns)."""
        return self.sums - self.sizes[:, self.pattern] * self.centre

    @cached_property
    def spread(self) -> Array:
        """The root of the sum of squared ``deviations``, 0 if it is only rounding, shape (columns,)."""
        least = CLOSE * np.abs(self.sums).max(axis=0, initial=0) * np.sqrt(self.units)
        found = _norm(self.deviations)
        return np.where((found <= least) | (self.units < 2), 0, found)

    @cached_property
    def share_left(self) -> Array:
        """The share that is left of the variance of each unit, see ``variance_left``, shape (units, patterns)."""
        return np.column_stack([variance_left(size) for size in self.sizes.T])

    @cached_property
    def units(self) -> Array:
        """The number of units of each column, shape (columns,)."""
        return np.count_nonzero(self.sizes, axis=0)[self.pattern]

    @cached_property
    def observed(self) -> Array:
        """The statistic u of the data in each column, 0 if all differences are 0, shape (columns,)."""
        return np.nan_to_num(ratio(np.abs(self.with_offset.sum(axis=0)), _norm(self.with_offset)))


def _norm(sums: Array) -> Array:
    """Return the root of the sum of squares of each column."""
    return np.sqrt((sums**2).sum(axis=0))


@record
class Maxima:
    """The greatest statistics of the columns of each family, in each flip of the signs of all units."""

    u: Array  # the greatest u of the differences, shape (families, flips)
    t: Array  # the greatest t of their distances from the mean, shape (families, flips)
    n_as_extreme: list[Array]  # for each block: in how many flips a column is as extreme as the data, shape (columns,)
    every: bool  # whether the flips are all that there are
    # For comparisons with the best: the greatest t of one side, shape (families of one side, flips).
    one_sided_t: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def p_values(self, n_as_extreme: Array) -> Array:
        """Return p-values from the number of flips that are at least as extreme as the data."""
        return p_value_of_count(n_as_extreme, self.u.shape[1], every=self.every)

    def adjusted(self, block: FlipBlock) -> Array:
        """Return the corrected p-value of each column, shape (columns,).

        It is the share of flips whose greatest statistic is at least that of the column in the data.
        """
        least = block.observed - CLOSE * np.sqrt(block.units)
        n_as_extreme = np.zeros(len(least))
        for family in np.unique(block.family):
            rising, in_family = np.sort(self.u[family]), block.family == family
            n_as_extreme[in_family] = len(rising) - np.searchsorted(rising, least[in_family])
        return np.where(block.observed > 0, self.p_values(n_as_extreme), 1.0)

    def n_errors(self, level: float) -> Array:
        """Return how many standard errors the ends of joint intervals are from the means, shape (families,)."""
        return quantile_of_flips(self.t, level, every=self.every)


def quantile_of_flips(t: Array, level: float, *, every: bool) -> Array:
    """Return the quantile of the greatest statistics of flips, shape (families,).

    It is infinite if the flips are too few for the level: if no p-value of random flips can be as small as 1 - level,
    or the least p-value of all flips (2 of so many, one for each side) is above twice 1 - level.

    Parameters
    ----------
    t : shape (families, flips).
    every : whether the flips are all that there are.
    """
    flips = t.shape[1]
    if every:
        at = int(np.ceil(level * (flips - 1) - SLACK))
        known = 2 / flips <= 2 * (1 - level) + SLACK
    else:
        at = int(np.ceil(level * (flips + 1) - SLACK)) - 1
        known = at < flips
    return np.sort(t, axis=1)[:, at] if known else np.full(len(t), np.inf)


def maxima(
    blocks: Sequence[FlipBlock],
    units: int,
    families: int,
    permutations: int,
    seed: int,
    tick: Tick,
    one_sided_families: Sequence[Array] = (),
) -> Maxima:
    """Flip the signs of units, and keep the greatest statistic of the columns of each family (Westfall, Young).

    For p-values the statistic of a column is u = |sum_c S_c| / sqrt(sum_c S_c**2), where S_c is the weighted sum of the
    differences of unit c. It grows with Student's t, and no flip changes its denominator. For intervals the same is
    computed from the distances from the mean, S_c - W_c mean, where W_c is the weight of a unit, and turned into
    t = u sqrt((G - 1) / (G - u**2)), for G units. If weights are unlike, t has the standard error of the flipped
    distances instead. A column without differences is in no maximum.

    Parameters
    ----------
    blocks : the columns.
    units : the number of all units.
    families : the number of families.
    permutations : how many random flips are drawn; if there are no more flips in all, each is counted instead.
    seed : of random flips.
    tick : called with how many units are done.
    one_sided_families : for each block, two families of one side for each column, shape (2, columns): the column is in
        the first with its own sign, in the second with the opposite sign. The greatest t of one side of each family is
        kept: of all comparisons of a system with others, above 0 where it is the worse one (Hsu). () for none.

    Source: P. H. Westfall, S. S. Young, Resampling-based multiple testing, 1993 (single-step max T). J. C. Hsu,
    Multiple comparisons: theory and methods, 1996, chapter 4 (comparisons with the best).
    """
    every = every_flip(units, permutations)
    flips = 1 << units if every else permutations
    n_one_sided = max((int(of_block.max()) + 1 for of_block in one_sided_families), default=0)
    u, t, one_sided_t = (np.zeros((n, flips)) for n in (families, families, n_one_sided))
    n_as_extreme = []
    for i, block in enumerate(blocks):
        counts, flip_columns = np.zeros(len(block.family), np.int64), _flipping(block, Flips(flips, seed, every), tick)
        for columns in _columns_that_fit(block, flips):
            sums, sizes = flip_columns(columns)
            family = block.family[columns]
            # For p-values: the flipped sums, with their offset.
            sums_for_p = np.abs(sums + block.offset[columns] * sizes if block.offset[columns].any() else sums)
            counts[columns] = (sums_for_p >= extreme_from(block.with_offset[:, columns])).sum(axis=0)
            _update_greatest(u, family, sums_for_p, _norm(block.with_offset[:, columns]))
            # For intervals: the flipped distances from the mean, as t.
            distance = sums - block.centre[columns] * sizes
            _update_greatest_t(t, block, columns, distance, family, Flips(flips, seed, every))
            if one_sided_families:
                of_columns = one_sided_families[i]
                _update_one_sided(one_sided_t, block, columns, distance, of_columns, Flips(flips, seed, every))
        n_as_extreme.append(counts)
    return Maxima(u, t, n_as_extreme, every, one_sided_t)


def _silent(done: int) -> None:
    """Show no progress."""


def _columns_that_fit(block: FlipBlock, flips: int) -> Iterator[slice]:
    """Yield the columns, as many at a time as have flipped sums that fit into memory."""
    n = len(block.family)
    each = 8 * flips * (numbers_at_once(int(block.unit[-1]) + 1, flips) + 3) * (1 + block.weighted.any())
    step = max(BYTES_AT_ONCE // (each * (1 + (block.sizes.shape[1] > 1))), 1)
    for begin in range(0, n, step):
        yield slice(begin, min(begin + step, n))


class Flips(NamedTuple):
    """Flips of signs."""

    n: int  # how many there are
    seed: int  # of random flips
    every: bool  # whether they are all combinations of signs


def _flipping(block: FlipBlock, flips: Flips, tick: Tick) -> Callable[[slice], tuple[Array, Array]]:
    """Return a function from columns to their flipped sums, and to the flipped weights of their units.

    It returns arrays of shapes (flips, columns), and (flips, columns) or (flips, 1).
    """
    tick_once = [tick]  # the first flip shows progress; others flip the same units again, for other columns

    def flip(rows: Array) -> Array:
        show = tick_once.pop() if tick_once else _silent
        return flipped(rows, flips.n, flips.seed, show, block.unit_unless_all, every=flips.every)

    if block.sides is not None:
        (first, second), of_sides = block.sides.pair, flip(np.column_stack([block.sides.rows, block.sizes[:, 0]]))
        return lambda columns: (of_sides[:, first[columns]] - of_sides[:, second[columns]], of_sides[:, -1:])

    def flip_columns(columns: slice) -> tuple[Array, Array]:
        patterns, at = np.unique(block.pattern[columns], return_inverse=True)
        found = flip(np.column_stack([block.sums[:, columns], block.sizes[:, patterns]]))
        sums, sizes = np.split(found, [len(at)], axis=1)
        return sums, sizes if len(patterns) == 1 else sizes[:, at]

    return flip_columns


def _update_greatest_t(
    t: Array, block: FlipBlock, columns: slice, distance: Array, family: Array, flips: Flips, side: int = 0
) -> None:
    """Update the greatest t of families from flipped distances from the mean.

    Parameters
    ----------
    t : shape (families, flips); changed.
    columns, distance : some columns, and their sums of flipped distances, shape (flips, columns).
    family : the family of each of these columns, shape (columns,).
    side : 1 for the sign of the column, -1 for the opposite sign, 0 for both.
    """
    weighted = block.weighted[block.pattern[columns]]
    if weighted.any():
        found, vary = _t_of_weighted(block, np.flatnonzero(weighted) + columns.start, distance[:, weighted], flips)
        _update_greatest(t, family[weighted], _of_side(found, side), vary.astype(np.float64))
    distance = _of_side(distance, side)
    # Columns with equally many units are turned into t together.
    for n in np.unique(block.units[columns][~weighted]):
        some = (block.units[columns] == n) & ~weighted
        _update_greatest(t, family[some], distance[:, some], block.spread[columns][some], int(n))


def _update_one_sided(
    t: Array, block: FlipBlock, columns: slice, distance: Array, families: Array, flips: Flips
) -> None:
    """Update the greatest t of one side; ``families``: the ``one_sided_families`` of the block, see ``maxima``."""
    for side, family in zip((1, -1), families, strict=True):
        _update_greatest_t(t, block, columns, distance, family[columns], flips, side)


def _of_side(values: Array, side: int) -> Array:
    """Return values with the sign of a side, or without signs; ``side``: see ``_update_greatest_t``."""
    return side * values if side else np.abs(values)


def _t_of_weighted(block: FlipBlock, columns: Array, distance: Array, flips: Flips) -> tuple[Array, Array]:
    """Return t of columns of queries with unlike weights, shape (flips, columns), and which of these columns vary.

    t is the flipped distance divided by the standard error of the flipped values. With signs s, distances S_c, weights
    W_c and the f_c of ``variance_left``, the flipped mean is m = sum_c s_c S_c / W, and the squared error of W m is
    sum_c (s_c S_c - W_c m)^2 / f_c.

    Parameters
    ----------
    columns : the numbers of the columns.
    distance : their sums of flipped distances, shape (flips, columns).
    """
    deviations, pattern = block.deviations[:, columns], block.pattern[columns]
    size, left = block.sizes[:, pattern], block.share_left[:, pattern]
    # The squared error, multiplied out: only the middle term depends on the signs of units.
    products = flipped(deviations * size / left, flips.n, flips.seed, _silent, block.unit_unless_all, every=flips.every)
    mean, squares = distance / size.sum(axis=0), (deviations**2 / left).sum(axis=0)
    squared_error = squares - 2 * mean * products + mean**2 * (size**2 / left).sum(axis=0)
    infinite = squared_error <= SLACK * squares
    t = np.where(infinite, np.copysign(np.inf, distance), distance / np.sqrt(np.where(infinite, 1, squared_error)))
    return t, block.spread[columns] > 0


def _update_greatest(greatest: Array, family: Array, sums: Array, norm: Array, units: int | None = None) -> None:
    """Update the greatest statistics of families.

    Parameters
    ----------
    greatest : shape (families, flips); changed.
    family : the family of each column, shape (columns,).
    sums, norm : the numerator of the statistic, shape (flips, columns), and its denominator, shape (columns,); columns
        whose denominator is 0 are left out.
    units : the number of units, to turn u into Student's t; None: the statistic is taken as it is.
    """
    for number in np.unique(family):
        members = (family == number) & (norm > 0)
        if not members.any():
            continue
        u = (sums[:, members] / norm[members]).max(axis=1)
        if units is not None:
            rest = units - u**2
            infinite = rest <= SLACK * units
            u = np.where(infinite, np.inf, u * np.sqrt((units - 1) / np.where(infinite, 1, rest)))
        np.maximum(greatest[number], u, out=greatest[number])
