"""Sums over units of two arms that are chosen at random: units with the same numbers are drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.resampling import MIN_REPEATS, merge_equal_rows, sums_drawn
from frame_metrics.stats.subsets import NormalSums, large_units, subset_sums

UNITS_PER_KIND = 10  # units that are drawn in the time in which the number of one kind is
MOST_DRAWN_SINGLY = 10_000  # units from which they are not drawn one by one, where that can be helped


@record
class Kinds:
    """The units of some arms by the numbers that they hold.

    Common kinds are first, then units that are drawn one by one, then those whose sum is drawn.
    """

    values: Array  # the numbers of each kind, and of each unit that is left, shape (kinds, columns)
    times: Array  # units of each kind, 1 of each unit that is left, shape (kinds,)
    common: int  # number of kinds that are common
    small: int = 0  # number of units whose sum is drawn as normal

    @classmethod
    def of(cls, values: Array, least: int = MIN_REPEATS) -> Kinds:
        """Find the kinds of units that hold these numbers, shape (units, columns).

        ``least``: the number of units from which a kind is common.
        """
        columns, times = merge_equal_rows(list(values.T), np.ones(len(values), np.int64))
        kinds, many = np.column_stack(columns), times >= least
        left = np.repeat(kinds[~many], times[~many], axis=0)
        some = np.append(times[many], np.ones(len(left), np.int64))
        return cls(np.concatenate([kinds[many], left]), some, int(many.sum()))

    @classmethod
    def alone(cls, values: Sequence[Array]) -> Kinds:
        """Take each unit as a kind by itself."""
        return cls(np.column_stack(values), np.ones(len(values[0]), np.int64), 0)

    def parted(self, share: float) -> Kinds:
        """Return the same with the few large units of ``MOST_DRAWN_SINGLY`` or more first, and the others as a sum.

        ``share``: of the units that are drawn for the arm with fewer.
        """
        if self.left < MOST_DRAWN_SINGLY:
            return self
        single = self.values[self.common :]
        large = large_units(single, share)
        if large is None:
            return self
        values = np.concatenate([self.values[: self.common], single[large], single[~large]])
        return replace(self, values=values, small=int((~large).sum()))

    @property
    def left(self) -> int:
        """The number of units that are drawn one by one."""
        return len(self.times) - self.common - self.small


@record
class DrawnSums:
    """Sums over units that are drawn at random."""

    kinds: Kinds
    common: Array  # what is summed of each common kind, shape (kinds, parts)
    single: Array  # of each unit that is drawn one by one, shape (units, parts)
    small: NormalSums | None  # over the other units

    @classmethod
    def of(cls, kinds: Kinds, parts: Array) -> DrawnSums:
        """Take the parts of each kind and unit, in the order of ``kinds``, shape (kinds, parts)."""
        common, single, small = np.split(parts, np.cumsum([kinds.common, kinds.left]))
        return cls(kinds, common, single, NormalSums.of(small) if len(small) else None)

    def draw(self, random: np.random.Generator, draws: int, less: int) -> Array:
        """Draw ``less`` units, and sum their parts, shape (draws, parts)."""
        kinds = self.kinds
        counts = np.full((draws, 1), less)
        if kinds.common or kinds.small:
            others = [kinds.left, kinds.small] if kinds.small else [kinds.left]
            colors = np.append(kinds.times[: kinds.common], others)
            counts = random.multivariate_hypergeometric(colors, less, draws, method="marginals")
        chosen = counts[:, kinds.common]
        sums = sums_drawn(self.common.T, counts[:, : kinds.common]).T
        if kinds.left >= MOST_DRAWN_SINGLY:
            return sums + subset_sums(random, self.single, chosen)
        sums = sums + sums_drawn(self.single.T, random_marks(random, chosen, kinds.left)).T
        return sums if self.small is None else sums + self.small.draw(random, counts[:, -1])


def random_marks(random: np.random.Generator, chosen: Array, n: int) -> Array:
    """Choose some of ``n`` units in each draw, as marks, shape (draws, n); ``chosen``: how many, shape (draws,)."""
    keys = random.random((len(chosen), n))
    marks = np.zeros(keys.shape, bool)
    for some in np.unique(chosen[chosen > 0]).tolist():
        of = chosen == some
        marks[of] = keys[of] <= np.partition(keys[of], some - 1, axis=1)[:, some - 1, None]
    return marks
