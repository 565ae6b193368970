"""A change between two arms taken apart: how much comes from the mix of segments, and how much from within them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, ratio
from frame_metrics.stats.averages import averages_within, sums_within, tally
from frame_metrics.stats.exact import expanded_level
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.resampling import Units, draws, enough_resamples, percentile_interval, units_of
from frame_metrics.stats.shares import kish_within
from frame_metrics.stats.significance import CLOSE
from frame_metrics.stats.two_arms import commonest

MIN_PER_ARM = 20  # queries of each arm below which a part has no interval
LEAST_UNITS = 2  # the same of units
FEWEST = 3  # units of both arms with another value than the commonest below which from_within has no interval
MIX_PARTS = ("change", "from_mix", "from_within")


def decompose(size: Array, total: Array) -> Array:
    """Return what each segment adds to the difference of two means: ``MIX_PARTS``, shape (3, ..., segments).

    With p the share of a segment in its arm, and v its mean, in arms 1 and 0, it adds

        mix = (p1 - p0) ((v1 + v0) / 2 - c) by its share, within = (v1 - v0) (p1 + p0) / 2 by its mean,

    where c is the mean of the means of both arms. A segment of one arm has within 0, and its one mean for both in mix.
    The sum over segments is the difference of the means. NaN where an arm has nothing.

    Parameters
    ----------
    size, total : the sums of weights, and of values times weights, of each segment in both arms, (..., 2, segments).

    Source: E. M. Kitagawa, Components of a difference between two rates, Journal of the American Statistical
    Association 50, 1955.
    """
    whole = size.sum(axis=-1, keepdims=True)
    share, value = ratio(size, np.broadcast_to(whole, size.shape)), ratio(total, size)
    value = np.where(size > 0, value, value[..., ::-1, :])  # of a segment of one arm, its one mean
    value = np.where(np.isnan(value), 0, value)  # of a segment of neither arm, which adds 0
    middle = ratio(total.sum(axis=-1), whole[..., 0]).mean(axis=-1)[..., None]
    new, old = share[..., 0, :], share[..., 1, :]
    mix = (new - old) * (value.mean(axis=-2) - middle)
    inside = (value[..., 0, :] - value[..., 1, :]) * (new + old) / 2
    return np.array([mix + inside, mix, inside])


@record
class Grouping:
    """Groups of segments: each by itself, or those with one value in some columns."""

    group_of: Array  # the number of the group of each segment, shape (segments,)
    n: int  # the number of groups

    def summed(self, each: Array) -> Array:
        """Return sums over the segments of each group, shape (..., n); ``each``: shape (..., segments)."""
        return np.asarray(each @ (self.group_of[:, None] == np.arange(self.n)))


@record
class TwoMixes:
    """The queries of two arms that a metric is defined for, in the order of random draws."""

    values: Array  # shape (queries,)
    weight: Array  # the weight of each query
    mine: Array  # whether each query is of the first arm
    segment: Array  # the number of the segment of each query
    unit: Array  # the number of the unit of each query, the same in both arms
    segments: int  # their number

    def place(self, grouping: Grouping) -> Array:
        """Return the number of arm and group of each query."""
        return np.where(self.mine, 0, grouping.n) + grouping.group_of[self.segment]

    @cached_property
    def _each(self) -> Grouping:
        return Grouping(np.arange(self.segments), self.segments)

    @cached_property
    def _columns(self) -> Sequence[Array]:
        """The columns that are summed: weights, and weighted values less their offset, which no difference has."""
        low = offsets(self.values) if len(self.values) else 0.0
        return self.weight, (self.values - low) * self.weight

    @cached_property
    def parts(self) -> Array:
        """The parts that each segment adds to the difference, shape (3, segments)."""
        sums = sums_within(self.place(self._each), 2 * self.segments, self._columns)
        return decompose(*sums.reshape(2, 2, self.segments))

    def counted(self, grouping: Grouping) -> dict[str, Array]:
        """Return values, shares, and numbers of queries and units of groups in both arms, shape (2, groups) each."""
        of, n = self.place(grouping), 2 * grouping.n
        every = np.ones(len(of), bool), np.zeros(len(of), bool)
        weight = None if (self.weight == 1).all() else self.weight
        means = tally(None, self.values, "weighted", weight, every, (-np.inf, np.inf))
        value, number = (one[0].reshape(2, grouping.n) for one in averages_within([means], of, n)[:2])
        size = sums_within(of, n, [self.weight])[0].reshape(2, grouping.n)
        share = ratio(size, np.broadcast_to(size.sum(axis=1, keepdims=True), size.shape))
        return {"share": share, "value": value, "n": number, "n_units": self._units_within(of, n)}

    def _units_within(self, of: Array, n: int) -> Array:
        """Return Kish's number of the units of each group in both arms, shape (2, groups)."""
        held, at = np.unique(self.unit * n + of, return_inverse=True)
        mass = np.bincount(at, self.weight)
        return np.nan_to_num(kish_within(held % n, mass, mass**2, n)).reshape(2, -1)

    def hardly_vary(self, grouping: Grouping) -> Array:
        """Return True for groups of whose units hardly any has another value than most, shape (groups,)."""
        of = grouping.group_of[self.segment]
        order = np.argsort(of, kind="stable")
        groups = np.split(order, np.searchsorted(of[order], np.arange(1, grouping.n)))
        return np.array([_hardly_vary(self.values[rows], self.unit[rows]) for rows in groups], bool)

    def drawn(self, resamples: int, seed: int) -> Array:
        """Return the parts of segments over resampled units, shape (3, resamples, segments).

        If some units are in both arms, units are drawn with what they have in either, else each arm by itself, the one
        with the first query by the first random numbers. Resamples without a query of an arm are left out.
        """
        if np.intersect1d(self.unit[self.mine], self.unit[~self.mine]).size:
            sums = self._drawn(np.ones(len(self.mine), bool), resamples, [seed])
        else:
            own, other = (self._drawn(arm, resamples, [seed, int(not arm[0])]) for arm in (self.mine, ~self.mine))
            sums = own + other
        size, total = np.moveaxis(sums.reshape(-1, 2, 2, self.segments), 1, 0)
        some = (size.sum(axis=-1) > 0).all(axis=-1)
        return decompose(size[some], total[some])

    def _drawn(self, some: Array, resamples: int, seeds: Sequence[int]) -> Array:
        """Return the sums of columns by arm and segment in each resample, shape (resamples, 2, places)."""
        columns = [one[some] for one in (self.place(self._each), *self._columns)]
        once = np.ones(len(columns[0]), np.int64)
        units = units_of(columns, once, self.unit[some]) or Units(columns, once)
        return np.concatenate([*_by_draw(units, resamples, seeds, 2 * self.segments)])

    @property
    def _fewest_units(self) -> int:
        """The number of units of the arm that has fewer."""
        return min(len(np.unique(self.unit[arm])) for arm in (self.mine, ~self.mine))

    def columns_of(self, groupings: Sequence[Grouping], ci: float, resamples: int, seed: int) -> dict[str, Array]:
        """Return numbers of groups as columns, those of each grouping one after the other, shape (groups,) each.

        Parameters
        ----------
        groupings : the segments, and totals over them.
        ci, resamples, seed : of the intervals.
        """
        each = [self.counted(grouping) for grouping in groupings]
        ends = np.full((len(MIX_PARTS), 2, sum(grouping.n for grouping in groupings)), np.nan)
        counts = {name: np.concatenate([one[name] for one in each], axis=1) for name in each[0]}
        summed = np.concatenate([grouping.summed(self.parts) for grouping in groupings], axis=1)
        summed[np.abs(summed) < CLOSE * np.abs(self.values).max(initial=0)] = 0  # what is only rounding
        some = np.flatnonzero((counts["n"] >= MIN_PER_ARM).all(axis=0) & (counts["n_units"] >= LEAST_UNITS).all(axis=0))
        if len(some):
            drawn = self.drawn(enough_resamples(resamples, self._fewest_units), seed)
            drawn = np.concatenate([grouping.summed(drawn) for grouping in groupings], axis=2)
            for at, units in zip(some.tolist(), counts["n_units"][:, some].min(axis=0).tolist(), strict=True):
                level = expanded_level(ci, units)
                ends[:, :, at] = [percentile_interval(part, level) for part in drawn[:, :, at]]
            ends[-1, :, np.concatenate([self.hardly_vary(grouping) for grouping in groupings])] = np.nan
        out = {name: counts[name][0] for name in ("share", "value", "n")}
        out |= {f"baseline_{name}": counts[name][1] for name in out}
        for name, own, (low, high) in zip(MIX_PARTS, summed, ends, strict=True):
            out |= {name: own, f"{name}_low": np.minimum(low, own), f"{name}_high": np.maximum(high, own)}
        return out


def _hardly_vary(values: Array, unit: Array) -> bool:
    """Return True if most of some values are equal, and fewer than ``FEWEST`` units have another value."""
    if not len(values):
        return True
    most, common = commonest(values)
    other = np.abs(values - common) > CLOSE * np.abs(values).max()
    return 2 * most > len(values) and len(np.unique(unit[other])) < FEWEST


def _by_draw(units: Units, resamples: int, seeds: Sequence[int], places: int) -> Iterator[Array]:
    """Yield blocks of sums of weights, and of values times weights, by place, shape (draws, 2, places)."""
    place, *columns = units.columns
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    for often in draws(units, resamples, [*seeds]):
        block = np.zeros((len(often), len(columns), places))
        for at, each in enumerate(columns):
            block[:, at, place[starts].astype(np.int64)] = np.add.reduceat(often * each, starts, axis=1)
        yield block
