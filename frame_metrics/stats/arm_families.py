"""Families of pairs of arms: p-values and intervals that hold together, by the greatest distance of each exchange."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.arms import DOMINANT, MIN_UNITS_FOR_WELCH
from frame_metrics.stats.distances import Distance, distances
from frame_metrics.stats.exchange import FIRST_EXCHANGES, LIKELY_P, STATISTIC_TOL
from frame_metrics.stats.families import Maxima
from frame_metrics.stats.kinds import MOST_DRAWN_SINGLY, Kinds
from frame_metrics.stats.resampling import shuffled, sums_drawn
from frame_metrics.stats.significance import Tick
from frame_metrics.stats.subsets import root_of
from frame_metrics.stats.two_arms import linear
from frame_metrics.threads import in_threads

UNITS_PER_KIND_AND_ARM = 5  # so many units are drawn one by one in the time of drawing a count of one kind in one arm
CACHED = 1 << 15  # about so many units are drawn together


@record
class ArmUnits:
    """Units of several arms, each in one of them, and metrics that are defined for the same ones."""

    sums: Array  # sums of the values of a unit's queries less the offset, times their weights, shape (units, columns)
    size: Array  # the sum of the weights of a unit's queries, above 0, shape (units,)
    arm: Array  # the number of the arm of each unit; each has two or more, shape (units,)
    pairs: Array  # the numbers of the arms that are compared, shape (pairs, 2)
    family: Array  # the number of the family of each column, shape (columns,)

    @cached_property
    def rank(self) -> Array:
        """The rank of each arm by its number of units, then by its first unit, so that names do not matter."""
        _, first, n = np.unique(self.arm, return_index=True, return_counts=True)
        rank = np.empty(len(n), np.int64)
        rank[np.lexsort((first, n))] = np.arange(len(n))
        return rank

    @cached_property
    def n(self) -> Array:
        """The number of units of each arm, by rank, shape (arms,)."""
        return np.sort(np.bincount(self.arm))


@record
class ArmFamilyTests:
    """The p-values and quantiles of families of arms."""

    adjusted: list[Array]  # the corrected p-value of each pair and column, for each block, shape (pairs, columns)
    n_errors: Array  # how many standard errors the ends of joint intervals are from the differences, shape (families,)


def exchange_families(
    blocks: Sequence[ArmUnits], families: int, permutations: int, seed: int, level: float, tick: Tick
) -> ArmFamilyTests:
    """Permute units over all arms at once, and keep the greatest distance of each family of pairs (Westfall, Young).

    The statistic of a pair is ``Distance``; whether it is plain is decided by all units of a block. For intervals it is
    computed from what units add to the error of the mean of their own arm; plain ones are the same for both. Each block
    is permuted by itself, as if the blocks were independent: if they are not, that is conservative (Royen). If no unit
    dominates, means are normal: for intervals they are then drawn as normal numbers, in large arms for p-values too.

    Parameters
    ----------
    blocks : the units.
    families : the number of families.
    permutations : how many exchanges are drawn. If ``MOST_DRAWN_SINGLY`` units or more are drawn one by one,
        ``FIRST_EXCHANGES`` are drawn, and the rest only if a p-value is below ``LIKELY_P``, or the level needs more.
    level : the level of the intervals.
    tick : called with how many permutations are done.

    Source: P. H. Westfall, S. S. Young, Resampling-based multiple testing, 1993 (single-step max T). E. Chung, J. P.
    Romano, Multivariate and multiple permutation tests, Journal of Econometrics 193(1), 2016. T. Royen, A simple proof
    of the Gaussian correlation conjecture extended to some multivariate gamma distributions, Far East Journal of
    Theoretical Statistics 48(2), 2014.
    """
    each = [Exchanges(block, seed, i) for i, block in enumerate(blocks)]
    costly = any(one.cost >= MOST_DRAWN_SINGLY for one in each)
    first = min(FIRST_EXCHANGES, permutations) if costly else permutations
    found = _maxima(each, families, range(first), tick)
    if first < permutations:
        known = np.isfinite(found.n_errors(level)).all()
        if known and not any((one.adjusted(found) < LIKELY_P).any() for one in each):
            tick(permutations - first)
        else:
            rest = _maxima(each, families, range(first, permutations), tick)
            found = Maxima(np.hstack([found.u, rest.u]), np.hstack([found.t, rest.t]), [], every=False)
    return ArmFamilyTests([one.adjusted(found) for one in each], found.n_errors(level))


@record
class Exchanges:
    """Random exchanges of the units of a block."""

    block: ArmUnits
    seed: int
    number: int  # the number of the block, which has random numbers of its own

    @cached_property
    def for_p(self) -> list[Distance]:
        """The distance in each column, for p-values."""
        return distances(self.block.sums, self.block.size, int(self.block.n[0]))

    @cached_property
    def for_ends(self) -> list[Distance]:
        """The distance in each column, for intervals: of what units add to the error of the mean of their own arm."""
        block = self.block
        added: Array = np.empty(block.sums.shape)
        for arm in range(len(block.n)):
            some = block.arm == arm
            added[some] = linear(block.sums[some], block.size[some])
        pairs = zip(self.for_p, added.T, strict=True)
        return [
            one if one.plain else Distance(values[:, None], 0.0, plain=False, scale=one.scale) for one, values in pairs
        ]

    @cached_property
    def all_drawn(self) -> list[Distance]:
        """The distances that are drawn: those for p-values, then those for intervals that are others and not normal."""
        return [*self.for_p, *(() if self.smooth else (one for one in self.for_ends if not one.plain))]

    @cached_property
    def pairs(self) -> Array:
        """The ranks of the arms of each pair, shape (pairs, 2)."""
        return self.block.rank[self.block.pairs]

    @cached_property
    def observed(self) -> Array:
        """The distance of each pair and column in the data, shape (pairs, columns)."""
        rank, found = self.block.rank[self.block.arm], []
        for one in self.for_p:
            parts = one.parts_of_several(one.unit_values)
            sums = np.array([parts[rank == arm].sum(axis=0) for arm in range(len(self.block.n))])
            found.append(one.among(sums[None], self.block.n, self.pairs)[0])
        return np.column_stack(found)

    def adjusted(self, found: Maxima) -> Array:
        """Return the share of exchanges whose greatest distance is at least that of each pair, (pairs, columns)."""
        n_as_extreme = np.zeros(self.observed.shape)
        for column, family in enumerate(self.block.family.tolist()):
            rising, least = np.sort(found.u[family]), self.observed[:, column] * (1 - STATISTIC_TOL)
            n_as_extreme[:, column] = len(rising) - np.searchsorted(rising, least)
        return np.where(self.observed > 0, found.p_values(n_as_extreme), 1.0)

    @cached_property
    def _kinds(self) -> Kinds:
        """The kinds of units, if drawing counts of these is faster; else single units."""
        values = [one.unit_values for one in self.all_drawn]
        found = Kinds.of(np.column_stack(values), 2 * UNITS_PER_KIND_AND_ARM * len(self.block.n))
        return Kinds.single_units(values) if 2 * self._cost(found) > int(found.times.sum()) else found

    def _cost(self, kinds: Kinds) -> int:
        """Return the time of one exchange, as a number of units that are drawn one by one."""
        return kinds.n_single + UNITS_PER_KIND_AND_ARM * len(self.block.n) * kinds.n_common

    @cached_property
    def smooth(self) -> bool:
        """True if no unit has a great share in the variance of a mean, so that means are normal."""
        squares = (one.unit_values[:, 0] ** 2 for one in (*self.for_p, *self.for_ends))
        most = DOMINANT * 2 * int(self.block.n[0])  # for a pair of the smallest arms
        return all(square.max() < most * square.mean() for square in squares)

    @cached_property
    def normal(self) -> bool:
        """True for large arms with normal means, whose units are of many kinds: only normal numbers are drawn."""
        is_large = int(self.block.n[0]) >= MIN_UNITS_FOR_WELCH
        return self.smooth and is_large and self._cost(self._kinds) >= MOST_DRAWN_SINGLY

    @property
    def cost(self) -> int:
        """The time of one exchange, as a number of units that are drawn one by one; 0 for normal numbers."""
        return 0 if self.normal else self._cost(self._kinds)

    @cached_property
    def _parts(self) -> tuple[Array, list[slice]]:
        """The values summed of a unit of each kind, shape (kinds, parts), and which parts are of each distance."""
        ends = np.cumsum([0, *(one.unit_values.shape[1] for one in self.all_drawn)])
        values = self._kinds.values
        parts = [
            one.parts_of_several(values[:, begin:end])
            for one, (begin, end) in zip(self.all_drawn, pairwise(ends), strict=True)
        ]
        ends = np.cumsum([0, *(part.shape[1] for part in parts)])
        return np.column_stack(parts), [slice(*some) for some in pairwise(ends.tolist())]

    @property
    def step(self) -> int:
        """The number of exchanges that are drawn together."""
        pairs = len(self.pairs) * (len(self.all_drawn) if self.smooth else 1)
        return max(CACHED // max(0 if self.normal else len(self._kinds.times), pairs), 1)

    def greatest(self, begin: int, draws: int) -> tuple[Array, Array]:
        """Return the greatest distances of exchanges for p-values and for intervals, shape (columns, draws) each.

        ``begin``: the number of the first exchange, which its random numbers depend on.
        """
        random = np.random.default_rng([self.seed, begin, self.number])
        if self.normal:
            return (self._as_normal(random, draws),) * 2
        sums, (_, slices) = self._sums(random, draws), self._parts
        greatest = [
            one.among(sums[..., some], self.block.n, self.pairs).max(axis=1)
            for one, some in zip(self.all_drawn, slices, strict=True)
        ]
        if self.smooth:
            return np.array(greatest), self._as_normal(random, draws)
        for_p, rest = greatest[: len(self.for_p)], iter(greatest[len(self.for_p) :])
        for_ends = [same if one.plain else next(rest) for one, same in zip(self.for_p, for_p, strict=True)]
        return np.array(for_p), np.array(for_ends)

    def _sums(self, random: np.random.Generator, draws: int) -> Array:
        """Return the sums of parts over the units of each arm, shape (draws, arms, parts)."""
        kinds, (parts, _), n = self._kinds, self._parts, self.block.n
        n_common, n_single = kinds.n_common, kinds.n_single
        if not n_common:
            order = shuffled(random, draws, np.arange(n_single))
            return np.add.reduceat(parts.take(order, axis=0), np.cumsum(n) - n, axis=1)
        counts = _dealt(random, draws, np.append(kinds.times[:n_common], n_single), n)
        sums = sums_drawn(parts[:n_common].T, counts[..., :-1].reshape(-1, n_common)).T.reshape(draws, len(n), -1)
        if not n_single:
            return sums
        # Shuffle the single units, deal them to the arms in this order, and take differences of running sums.
        running = np.zeros((draws, n_single + 1, parts.shape[1]))
        order = shuffled(random, draws, np.arange(n_single))
        np.cumsum(parts[n_common:].take(order, axis=0), axis=1, out=running[:, 1:])
        ends = np.cumsum(counts[..., -1], axis=1)[..., None]
        return sums + np.diff(np.take_along_axis(running, np.pad(ends, ((0, 0), (1, 0), (0, 0))), axis=1), axis=1)

    @cached_property
    def _root(self) -> Array:
        """A root of the matrix of correlations of all columns."""
        values = np.array([one.unit_values[:, 0] for one in self.for_p])
        spread = values.std(axis=1)
        return root_of(np.einsum("iu,ju->ij", values, values) / len(values[0]) / np.outer(spread, spread))

    def _as_normal(self, random: np.random.Generator, draws: int) -> Array:
        """Return the greatest distances of means that are drawn as normal numbers, shape (columns, draws)."""
        n, (first, second) = self.block.n, self.pairs.T
        means = np.einsum("dak,ck->dac", random.normal(size=(draws, len(n), len(self._root))), self._root)
        means /= np.sqrt(n)[:, None]
        error = np.sqrt(1 / n[first] + 1 / n[second])[:, None]
        return np.asarray((np.abs(means[:, first] - means[:, second]) / error).max(axis=1).T)


def _maxima(each: Sequence[Exchanges], families: int, these: range, tick: Tick) -> Maxima:
    """Draw exchanges of all blocks, and keep the greatest distances of each family."""
    u, t = np.zeros((2, families, len(these)))
    for one in each:

        def work(begin: int, one: Exchanges = one) -> None:
            some = min(one.step, these.stop - begin)
            at = slice(begin - these.start, begin - these.start + some)
            for greatest, found in zip((u, t), one.greatest(begin, some), strict=True):
                for family, distance in zip(one.block.family.tolist(), found, strict=True):
                    np.maximum(greatest[family, at], distance, out=greatest[family, at])
            tick(some)

        in_threads(range(these.start, these.stop, one.step), work)
    return Maxima(u, t, [], every=False)


def _dealt(random: np.random.Generator, draws: int, times: Array, n: Array) -> Array:
    """Deal units of some kinds to arms at random; return how many of each kind each arm gets, (draws, arms, kinds).

    Parameters
    ----------
    times : the number of units of each kind, shape (kinds,).
    n : the number of units of each arm, shape (arms,).
    """
    left, counts = np.tile(times, (draws, 1)), np.empty((draws, len(n), len(times)), np.int64)
    for arm, most in enumerate(n[:-1].tolist()):
        need, rest = np.full(draws, most), left.sum(axis=1)
        for kind in range(len(times) - 1):
            rest = rest - left[:, kind]
            counts[:, arm, kind] = random.hypergeometric(left[:, kind], rest, need)
            need = need - counts[:, arm, kind]
        counts[:, arm, -1] = need
        left = left - counts[:, arm]
    counts[:, -1] = left
    return counts
