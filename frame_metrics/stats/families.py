"""Families of paired differences: p-values and intervals that hold together, by the greatest statistic of each flip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, ratio
from frame_metrics.stats.flips import enough, every_flip, flipped, numbers_at_once, p_value_of_count
from frame_metrics.stats.significance import CLOSE, Tick, variance_left

BYTES_AT_ONCE = 100_000_000  # bytes of flipped sums that are kept at a time
ROUNDED = 1e-14  # share of the mean size of differences from which they are made otherwise
SLACK = 1e-9  # relative tolerance of rounded numbers; t is infinite if u**2 is the number of units but for this


@record
class OfSides:
    """The systems whose differences the columns are.

    With few systems in many pairs it takes less time to flip the sums of the systems, and to subtract these.
    """

    rows: Array  # sums of a unit's weighted values, less those of one side, shape (units, sides)
    pair: Array  # the side of each column, and the side that is taken from it, shape (2, columns)

    def reproduces(self, sums: Array) -> bool:
        """Return True if columns are the differences of two sides, and flipped sums of both are equal but for rounding.

        ``sums``: the columns, shape (units, columns).
        """
        first, second = self.pair
        return all(
            bool((np.abs(self.rows[:, first[i]] - self.rows[:, second[i]] - one) <= ROUNDED * np.abs(one).mean()).all())
            for i, one in enumerate(sums.T)
        )


@record
class FlipBlock:
    """Columns of paired differences whose units are flipped together, as those of a segment."""

    place: Array  # the numbers of the units, ascending, shape (units,)
    sums: Array  # sums of a unit's weighted differences less the offset, shape (units, columns); 0 where it has none
    sizes: Array  # the weight of each unit, for each pattern of missing queries, shape (units, patterns)
    pattern: Array  # the pattern of each column, shape (columns,)
    offset: Array  # what was taken from the differences of each column, shape (columns,)
    family: Array  # the number of each column's family, shape (columns,)
    weighted: Array  # whether the queries of a pattern have unlike weights, shape (patterns,)
    sides: OfSides | None = None  # what the columns are differences of, where flips of these take less time

    @cached_property
    def row_place(self) -> Array | None:
        """The numbers of the units; None if they are all units."""
        return None if self.place[-1] + 1 == len(self.place) else self.place

    @cached_property
    def whole(self) -> Array:
        """The sums with their offset, shape (units, columns)."""
        return self.sums + self.sizes[:, self.pattern] * self.offset if self.offset.any() else self.sums

    @cached_property
    def centre(self) -> Array:
        """The means of the differences less their offset, shape (columns,)."""
        return self.sums.sum(axis=0) / self.sizes.sum(axis=0)[self.pattern]

    @cached_property
    def deviations(self) -> Array:
        """The sums of weighted distances from the mean, shape (units, columns)."""
        return self.sums - self.sizes[:, self.pattern] * self.centre

    @cached_property
    def spread(self) -> Array:
        """The root of the sum of squared distances from the mean, 0 where that is only rounding, shape (columns,)."""
        least = CLOSE * np.abs(self.sums).max(axis=0, initial=0) * np.sqrt(self.units)
        found = _norm(self.deviations)
        return np.where((found <= least) | (self.units < 2), 0, found)

    @cached_property
    def left(self) -> Array:
        """The part that is left of the variance of each unit, as ``variance_left`` has it, shape (units, patterns)."""
        return np.column_stack([variance_left(size) for size in self.sizes.T])

    @cached_property
    def units(self) -> Array:
        """The number of units of each column, shape (columns,)."""
        return np.count_nonzero(self.sizes, axis=0)[self.pattern]

    @cached_property
    def seen(self) -> Array:
        """The observed statistic of each column, 0 where all its differences are, shape (columns,)."""
        return np.nan_to_num(ratio(np.abs(self.whole.sum(axis=0)), _norm(self.whole)))


def _norm(sums: Array) -> Array:
    return np.sqrt((sums**2).sum(axis=0))


@record
class Maxima:
    """The greatest statistics of the columns of each family, in each flip of the signs of all units."""

    u: Array  # of the differences, shape (families, flips)
    t: Array  # of their distances from the mean, as Student's t, shape (families, flips)
    reached: list[Array]  # for each block, in how many flips the sum of a column is as extreme as what was seen
    every: bool  # whether the flips are all that there are
    # Of one side, of the columns with the same system, shape (their families, flips).
    against: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def p_values(self, far: Array) -> Array:
        """Return the p-values from the number of flips at least as extreme as the data."""
        return p_value_of_count(far, self.u.shape[1], every=self.every)

    def adjusted(self, block: FlipBlock) -> Array:
        """Return the share of flips whose greatest statistic is at least that of each column, shape (columns,)."""
        least = block.seen - CLOSE * np.sqrt(block.units)
        far = np.zeros(len(least))
        for family in np.unique(block.family):
            rising, own = np.sort(self.u[family]), block.family == family
            far[own] = len(rising) - np.searchsorted(rising, least[own])
        return np.where(block.seen > 0, self.p_values(far), 1.0)

    def n_errors(self, level: float) -> Array:
        """Return how many standard errors the ends of intervals that hold together are away, shape (families,)."""
        return quantile_of_flips(self.t, level, every=self.every)


def quantile_of_flips(t: Array, level: float, *, every: bool) -> Array:
    """Return the quantile of the greatest statistics of flips, shape (families,).

    Infinite where the flips are too few for the level: no p-value of random ones can be as small as 1 - level, and no
    p-value of all of them (2 of so many flips, for both sides) is below twice that.

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
    against: Sequence[Array] = (),
) -> Maxima:
    """Flip the signs of units, and keep the greatest statistic of the columns of each family (Westfall, Young).

    The statistic of a column is u = |sum_c S_c| / sqrt(sum_c S_c**2), where S_c is the weighted sum of the differences
    of unit c. It grows with Student's t, and no flip changes its denominator. For intervals it is made of S_c - W_c
    mean, where W_c is the weight of a unit, and turned into t = u sqrt((G - 1) / (G - u**2)), for G units. Of queries
    with weights t has the standard error of the flipped distances themselves. A column without differences is in no
    maximum.

    Parameters
    ----------
    blocks : the columns.
    units : the number of all units.
    families : the number of families.
    permutations : random flips that are drawn, unless there are no more than so many: then each is counted.
    tick : called with how many units are done.
    against : for each block, the families of one side that a column is against where it is above 0, and where it is
        below, shape (2, columns): of each the greatest one-sided t is kept, the distribution of the greatest of several
        comparisons with the same system (Hsu); () for none.

    Source: P. H. Westfall, S. S. Young, Resampling-based multiple testing, 1993 (single-step max T). J. C. Hsu,
    Multiple comparisons: theory and methods, 1996, chapter 4 (comparisons with the best).
    """
    every = every_flip(units, permutations)
    flips = 1 << units if every else permutations
    u, t, reached = np.zeros((families, flips)), np.zeros((families, flips)), []
    one_sided = np.zeros((max((int(families_of_side.max()) + 1 for families_of_side in against), default=0), flips))
    for i, block in enumerate(blocks):
        far, move = np.zeros(len(block.family), np.int64), _moving(block, Flips(flips, seed, every), tick)
        for columns in _some(block, flips):
            sums, sizes = move(columns)
            here = block.family[columns]
            moved = np.abs(sums + block.offset[columns] * sizes if block.offset[columns].any() else sums)
            far[columns] = (moved >= enough(block.whole[:, columns])).sum(axis=0)
            # For p-values: the flipped sums as they are. For intervals: their distance from the mean, as t.
            _keep(u, here, moved, _norm(block.whole[:, columns]))
            distance = sums - block.centre[columns] * sizes
            _keep_t(t, block, columns, distance, here, Flips(flips, seed, every))
            if against:
                _keep_sides(one_sided, block, columns, distance, against[i], Flips(flips, seed, every))
        reached.append(far)
    return Maxima(u, t, reached, every, one_sided)


def _silent(done: int) -> None:
    """Show no progress: columns that follow flip the same units."""


def _some(block: FlipBlock, flips: int) -> Iterator[slice]:
    """Yield parts of the columns of which the flipped sums fit into memory."""
    n = len(block.family)
    each = 8 * flips * (numbers_at_once(int(block.place[-1]) + 1, flips) + 3) * (1 + block.weighted.any())
    step = max(BYTES_AT_ONCE // (each * (1 + (block.sizes.shape[1] > 1))), 1)
    for begin in range(0, n, step):
        yield slice(begin, min(begin + step, n))


class Flips(NamedTuple):
    """Flips of signs: their number, the seed of random ones, and whether they are all."""

    n: int
    seed: int
    every: bool


def _moving(block: FlipBlock, flips: Flips, tick: Tick) -> Callable[[slice], tuple[Array, Array]]:
    """Return a function from columns to their flipped sums, and to those of the sizes of their units.

    Shapes: (flips, columns), and (flips, columns) or (flips, 1).
    """
    seen, given = [tick], (flips.n, flips.seed)

    def flip(rows: Array) -> Array:
        known = seen.pop() if seen else _silent  # columns that follow flip the same units
        return flipped(rows, *given, known, block.row_place, every=flips.every)

    if block.sides is not None:
        (first, second), whole = block.sides.pair, flip(np.column_stack([block.sides.rows, block.sizes[:, 0]]))
        return lambda columns: (whole[:, first[columns]] - whole[:, second[columns]], whole[:, -1:])

    def move(columns: slice) -> tuple[Array, Array]:
        patterns, at = np.unique(block.pattern[columns], return_inverse=True)
        found = flip(np.column_stack([block.sums[:, columns], block.sizes[:, patterns]]))
        sums, sizes = np.split(found, [len(at)], axis=1)
        return sums, sizes if len(patterns) == 1 else sizes[:, at]

    return move


def _keep_t(
    t: Array, block: FlipBlock, columns: slice, distance: Array, family: Array, flips: Flips, side: int = 0
) -> None:
    """Update the greatest t of families from flipped distances from the mean.

    Parameters
    ----------
    t : shape (families, flips); changed.
    columns, distance : some columns, and their sums of flipped distances, shape (flips, columns).
    family : of each of them, shape (columns,).
    side : 1 or -1 for one side, 0 for both.
    """
    heavy = block.weighted[block.pattern[columns]]
    if heavy.any():
        columns_of_size = np.flatnonzero(heavy) + columns.start
        found, some = _weighted(block, columns_of_size, distance[:, heavy], flips)
        _keep(t, family[heavy], _of_side(found, side), some)
    distance = _of_side(distance, side)
    for n in np.unique(block.units[columns][~heavy]):
        columns_of_size = (block.units[columns] == n) & ~heavy
        _keep(t, family[columns_of_size], distance[:, columns_of_size], block.spread[columns][columns_of_size], int(n))


def _keep_sides(t: Array, block: FlipBlock, columns: slice, distance: Array, against: Array, flips: Flips) -> None:
    """Update the greatest t of one side; the parameters are those of ``_keep_t`` and ``maxima``."""
    for side, family in zip((1, -1), against, strict=True):
        _keep_t(t, block, columns, distance, family[columns], flips, side)


def _of_side(values: Array, side: int) -> Array:
    return side * values if side else np.abs(values)


def _weighted(block: FlipBlock, columns: Array, distance: Array, flips: Flips) -> tuple[Array, Array]:
    """Return flipped distances in standard errors of the flipped values, (flips, columns), and which there are.

    With signs s, distances S_c, weights W_c and the f_c of ``variance_left``, the flipped mean is m = sum_c s_c S_c /
    W, and the squared error of W m is sum_c (s_c S_c - W_c m)^2 / f_c.

    Parameters
    ----------
    columns : the numbers of the columns, of queries with weights.
    distance : the sums of flipped distances.
    """
    deviations, pattern = block.deviations[:, columns], block.pattern[columns]
    size, left = block.sizes[:, pattern], block.left[:, pattern]
    pulled = flipped(deviations * size / left, flips.n, flips.seed, _silent, block.row_place, every=flips.every)
    mean, whole = distance / size.sum(axis=0), (deviations**2 / left).sum(axis=0)
    square = whole - 2 * mean * pulled + mean**2 * (size**2 / left).sum(axis=0)
    some = block.spread[columns] > 0
    sure = square <= SLACK * whole
    found = np.where(sure, np.copysign(np.inf, distance), distance / np.sqrt(np.where(sure, 1, square)))
    return found, some.astype(np.float64)


def _keep(greatest: Array, family: Array, sums: Array, norm: Array, units: int | None = None) -> None:
    """Update the greatest statistics of families; with the number of units they are turned into Student's t.

    Parameters
    ----------
    greatest : shape (families, flips); changed.
    family : of each column, shape (columns,).
    sums, norm : numerator, shape (flips, columns), and denominator; columns whose denominator is 0 are left out.
    """
    for number in np.unique(family):
        members = (family == number) & (norm > 0)
        if not members.any():
            continue
        u = (sums[:, members] / norm[members]).max(axis=1)
        if units is not None:
            rest = units - u**2
            sure = rest <= SLACK * units
            u = np.where(sure, np.inf, u * np.sqrt((units - 1) / np.where(sure, 1, rest)))
        np.maximum(greatest[number], u, out=greatest[number])
