"""Sums over units that are drawn at random for one of two arms; of units with equal numbers only a count is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.resampling import MIN_REPEATS, merge_equal_rows, sums_drawn
from frame_metrics.stats.subsets import NormalSums, large_units, subset_sums

UNITS_PER_KIND = 10  # so many units are drawn one by one in the time of drawing a count of one kind
MOST_DRAWN_SINGLY = 10_000  # so many units, or more, are not drawn one by one if that can be avoided


@record
class Kinds:
    """The units of some arms by the numbers that are summed of them; units with equal numbers are of one kind.

    Rows are, in this order: the common kinds; units that are drawn one by one; and units whose sum is drawn.
    """

    values: Array  # the numbers of each row, shape (rows, columns)
    times: Array  # how many units each row stands for, 1 but for common kinds, shape (rows,)
    n_common: int  # how many kinds are common
    n_small: int = 0  # how many units are small, so that their sum is drawn as a normal number

    @classmethod
    def of(cls, values: Array, least: int = MIN_REPEATS) -> Kinds:
        """Find the kinds of units with the numbers ``values``, shape (units, columns).

        ``least``: how many units a kind has at least to be common.
        """
        columns, times = merge_equal_rows(list(values.T), np.ones(len(values), np.int64))
        kinds, is_common = np.column_stack(columns), times >= least
        single = np.repeat(kinds[~is_common], times[~is_common], axis=0)
        times_of_rows = np.append(times[is_common], np.ones(len(single), np.int64))
        return cls(np.concatenate([kinds[is_common], single]), times_of_rows, int(is_common.sum()))

    @classmethod
    def single_units(cls, values: Sequence[Array]) -> Kinds:
        """Return units that are all drawn one by one; ``values``: columns of their numbers."""
        return cls(np.column_stack(values), np.ones(len(values[0]), np.int64), 0)

    def with_sum_of_small(self, share: float) -> Kinds:
        """Return the same; but of ``MOST_DRAWN_SINGLY`` single units or more only the large ones are drawn one by one.

        Of the others the sum is drawn. ``share``: the share of the units that is drawn.
        """
        if self.n_single < MOST_DRAWN_SINGLY:
            return self
        single = self.values[self.n_common :]
        large = large_units(single, share)
        if large is None:
            return self
        values = np.concatenate([self.values[: self.n_common], single[large], single[~large]])
        return replace(self, values=values, n_small=int((~large).sum()))

    @property
    def n_single(self) -> int:
        """The number of units that are drawn one by one."""
        return len(self.times) - self.n_common - self.n_small


@record
class DrawnSums:
    """Sums over units that are drawn at random."""

    kinds: Kinds
    common: Array  # what is summed of a unit of each common kind, shape (kinds, parts)
    single: Array  # what is summed of each unit that is drawn one by one, shape (units, parts)
    small: NormalSums | None  # the sums over the small units

    @classmethod
    def of(cls, kinds: Kinds, parts: Array) -> DrawnSums:
        """Return the sums of ``parts``: what is summed of a unit of each row of ``kinds``, shape (rows, parts)."""
        common, single, small = np.split(parts, np.cumsum([kinds.n_common, kinds.n_single]))
        return cls(kinds, common, single, NormalSums.of(small) if len(small) else None)

    def draw(self, random: np.random.Generator, draws: int, n_chosen: int) -> Array:
        """Draw ``n_chosen`` units, and sum their parts, shape (draws, parts)."""
        kinds = self.kinds
        # How many units of each common kind, of the single units, and of the small units are in each draw.
        counts = np.full((draws, 1), n_chosen)
        if kinds.n_common or kinds.n_small:
            others = [kinds.n_single, kinds.n_small] if kinds.n_small else [kinds.n_single]
            colors = np.append(kinds.times[: kinds.n_common], others)
            counts = random.multivariate_hypergeometric(colors, n_chosen, draws, method="marginals")
        chosen = counts[:, kinds.n_common]
        sums = sums_drawn(self.common.T, counts[:, : kinds.n_common]).T
        if kinds.n_single >= MOST_DRAWN_SINGLY:
            return sums + subset_sums(random, self.single, chosen)
        sums = sums + sums_drawn(self.single.T, random_marks(random, chosen, kinds.n_single)).T
        return sums if self.small is None else sums + self.small.draw(random, counts[:, -1])


def random_marks(random: np.random.Generator, chosen: Array, n: int) -> Array:
    """Choose some of ``n`` units in each draw, as marks, shape (draws, n); ``chosen``: how many, shape (draws,)."""
    keys = random.random((len(chosen), n))
    marks = np.zeros(keys.shape, bool)
    for some in np.unique(chosen[chosen > 0]).tolist():
        of = chosen == some
        marks[of] = keys[of] <= np.partition(keys[of], some - 1, axis=1)[:, some - 1, None]
    return marks
