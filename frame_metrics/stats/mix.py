"""A change between two arms taken apart: how much comes from the mix of segments, and how much from within them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, ratio, rows_by_group
from frame_metrics.stats.averages import averages_within, sums_within, tally
from frame_metrics.stats.exact import expanded_level
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.resampling import Units, draws, enough_resamples, percentile_interval, units_of
from frame_metrics.stats.shares import kish_within
from frame_metrics.stats.significance import CLOSE, without_rounding
from frame_metrics.stats.two_arms import commonest

# The fewest with which a part has an interval: queries of each arm; units of each arm; and for from_within, units of
# both arms with another value than the commonest.
MIN_PER_ARM = 20
LEAST_UNITS = 2
FEWEST = 3
MIX_PARTS = ("change", "from_mix", "from_within")


def decompose(size: Array, total: Array) -> Array:
    """Return what each segment adds to the difference of two means: ``MIX_PARTS``, shape (3, ..., segments).

    With p the share of a segment in its arm, and v its mean, in arms 1 and 0, it adds

        mix = (p1 - p0) ((v1 + v0) / 2 - c) by its share, within = (v1 - v0) (p1 + p0) / 2 by its mean,

    where c is the mean of the means of both arms. A segment that only one arm has adds no within; in mix its one mean
    stands for both. The sum over segments is the difference of the means. NaN if an arm has no queries.

    Parameters
    ----------
    size, total : the sums of weights, and of weights times values, of each arm and segment, (..., 2, segments).

    Source: E. M. Kitagawa, Components of a difference between two rates, Journal of the American Statistical
    Association 50, 1955.
    """
    whole = size.sum(axis=-1, keepdims=True)
    share, value = ratio(size, np.broadcast_to(whole, size.shape)), ratio(total, size)
    value = np.where(size > 0, value, value[..., ::-1, :])  # in a segment that an arm lacks, the mean of the other arm
    value = np.where(np.isnan(value), 0, value)  # a segment that both arms lack adds 0
    mean_of_means = ratio(total.sum(axis=-1), whole[..., 0]).mean(axis=-1)[..., None]
    new, old = share[..., 0, :], share[..., 1, :]
    mix = (new - old) * (value.mean(axis=-2) - mean_of_means)
    within = (value[..., 0, :] - value[..., 1, :]) * (new + old) / 2
    return np.array([mix + within, mix, within])


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
    in_first: Array  # whether each query is of the first arm
    segment: Array  # the number of the segment of each query
    unit: Array  # the number of the unit of each query, the same in both arms
    segments: int  # the number of segments

    def arm_and_group(self, grouping: Grouping) -> Array:
        """Return one number for the arm and the group of each query: first the groups of the first arm."""
        return np.where(self.in_first, 0, grouping.n) + grouping.group_of[self.segment]

    @cached_property
    def _each_segment(self) -> Grouping:
        """Each segment as a group by itself."""
        return Grouping(np.arange(self.segments), self.segments)

    @cached_property
    def _columns(self) -> Sequence[Array]:
        """The columns that are summed: weights, and weights times values less their offset; differences have none."""
        low = offsets(self.values) if len(self.values) else 0.0
        return self.weight, (self.values - low) * self.weight

    @cached_property
    def parts(self) -> Array:
        """The parts that each segment adds to the difference, shape (3, segments)."""
        sums = sums_within(self.arm_and_group(self._each_segment), 2 * self.segments, self._columns)
        return decompose(*sums.reshape(2, 2, self.segments))

    def counted(self, grouping: Grouping) -> dict[str, Array]:
        """Return values, shares, and numbers of queries and units of groups in both arms, shape (2, groups) each."""
        group, n = self.arm_and_group(grouping), 2 * grouping.n
        all_and_none = np.ones(len(group), bool), np.zeros(len(group), bool)
        weight = None if (self.weight == 1).all() else self.weight
        means = tally(None, self.values, "weighted", weight, all_and_none, (-np.inf, np.inf))
        value, n_queries = (one[0].reshape(2, grouping.n) for one in averages_within([means], group, n)[:2])
        size = sums_within(group, n, [self.weight])[0].reshape(2, grouping.n)
        share = ratio(size, np.broadcast_to(size.sum(axis=1, keepdims=True), size.shape))
        return {"share": share, "value": value, "n": n_queries, "n_units": self._units_within(group, n)}

    def _units_within(self, group: Array, n: int) -> Array:
        """Return Kish's number of the units of each group in both arms, shape (2, groups)."""
        unit_and_group, at = np.unique(self.unit * n + group, return_inverse=True)
        mass = np.bincount(at, self.weight)
        return np.nan_to_num(kish_within(unit_and_group % n, mass, mass**2, n)).reshape(2, -1)

    def hardly_vary(self, grouping: Grouping) -> Array:
        """Return True for groups in which fewer than ``FEWEST`` units differ from the value of most, (groups,)."""
        groups = rows_by_group(grouping.group_of[self.segment], grouping.n)
        return np.array([_hardly_vary(self.values[rows], self.unit[rows]) for rows in groups], bool)

    def drawn(self, resamples: int, seed: int) -> Array:
        """Return the parts of segments over resampled units, shape (3, resamples, segments).

        If some units are in both arms, units are drawn with their queries of both arms. Else each arm is drawn by
        itself, the one with the first query by the first random numbers. Resamples without a query of an arm are left
        out.
        """
        if np.intersect1d(self.unit[self.in_first], self.unit[~self.in_first]).size:
            sums = self._drawn(np.ones(len(self.in_first), bool), resamples, [seed])
        else:
            arms = self.in_first, ~self.in_first
            first, other = (self._drawn(arm, resamples, [seed, int(not arm[0])]) for arm in arms)
            sums = first + other
        size, total = np.moveaxis(sums.reshape(-1, 2, 2, self.segments), 1, 0)
        has_both_arms = (size.sum(axis=-1) > 0).all(axis=-1)
        return decompose(size[has_both_arms], total[has_both_arms])

    def _drawn(self, some: Array, resamples: int, seeds: Sequence[int]) -> Array:
        """Return the sums of columns by arm and segment over some queries, in each resample.

        Shape (resamples, 2, arms and segments).
        """
        columns = [one[some] for one in (self.arm_and_group(self._each_segment), *self._columns)]
        once = np.ones(len(columns[0]), np.int64)
        units = units_of(columns, once, self.unit[some]) or Units(columns, once)
        return np.concatenate([*_sums_in_draws(units, resamples, seeds, 2 * self.segments)])

    @property
    def _fewest_units(self) -> int:
        """The number of units of the arm that has fewer."""
        return min(len(np.unique(self.unit[arm])) for arm in (self.in_first, ~self.in_first))

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
        parts = np.concatenate([grouping.summed(self.parts) for grouping in groupings], axis=1)
        parts = without_rounding(parts, np.abs(self.values).max(initial=0))
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
        for name, part, (low, high) in zip(MIX_PARTS, parts, ends, strict=True):
            out |= {name: part, f"{name}_low": np.minimum(low, part), f"{name}_high": np.maximum(high, part)}
        return out


def _hardly_vary(values: Array, unit: Array) -> bool:
    """Return True if most of some values are equal, and fewer than ``FEWEST`` units have another value."""
    if not len(values):
        return True
    most, common = commonest(values)
    other = np.abs(values - common) > CLOSE * np.abs(values).max()
    return 2 * most > len(values) and len(np.unique(unit[other])) < FEWEST


def _sums_in_draws(units: Units, resamples: int, seeds: Sequence[int], n: int) -> Iterator[Array]:
    """Yield blocks of sums of weights, and of weights times values, in ``n`` groups, shape (draws, 2, n).

    The first column of the units is their group, by which they are sorted.
    """
    group, *columns = units.columns
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    for often in draws(units, resamples, [*seeds]):
        block = np.zeros((len(often), len(columns), n))
        for at, column in enumerate(columns):
            block[:, at, group[starts].astype(np.int64)] = np.add.reduceat(often * column, starts, axis=1)
        yield block
