"""Families of pairs of arms, whose p-values and intervals hold together: the units of all are permuted at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from frame_metrics.backends.progress import Tick
from frame_metrics.errors import NotComputableError
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.stats.arm_families import ArmUnits, exchange_families
from frame_metrics.stats.significance import MIN_UNITS
from frame_metrics.verbs.compare.differences import Pair
from frame_metrics.verbs.compare.options import MAX_T, CompareOptions

Place = tuple[int, int]  # a segment and a metric


@record
class BlockOfArms:
    """The units of all arms of a segment on some metrics, and what they are called."""

    segment: int
    metrics: Sequence[int]
    arms: Array  # the number of each arm that has units enough, ascending
    pairs: Sequence[Pair]  # those that are compared, of such arms
    sums: Array  # as those of ``ArmUnits``
    size: Array
    arm: Array  # the place of the arm of each unit in ``arms``
    shared: int  # how many units are of several arms

    @classmethod
    def of(
        cls, segment: int, metrics: Sequence[int], pairs: Sequence[Pair], rows: tuple[Array, Array, Array, Array]
    ) -> BlockOfArms:
        """Keep the arms with two units or more; ``rows``: sums, size, arm and unit of each row of some arms."""
        sums, size, arm, unit = rows
        arms, n = np.unique(arm, return_counts=True)
        arms = arms[n >= MIN_UNITS]
        some = np.isin(arm, arms)
        pairs = [pair for pair in pairs if {*pair} <= {*arms.tolist()}]
        shared = int(some.sum()) - len(np.unique(unit[some]))
        return cls(segment, metrics, arms, pairs, sums[some], size[some], np.searchsorted(arms, arm[some]), shared)


@dataclass(frozen=True)
class ArmsJoint:
    """The results of families that are tested together; nothing of others."""

    wide: dict[Place, float] = field(default_factory=dict)  # how many standard errors the ends are away
    adjusted: dict[tuple[int, int, Pair], float] = field(default_factory=dict)  # by segment, metric and pair

    def wide_of(self, segment: int, metrics: Sequence[int]) -> Array:
        """Return how many standard errors the ends of intervals are away at least, shape (metrics,)."""
        return np.array([self.wide.get((segment, metric), 0.0) for metric in metrics])


def families_of_arms(blocks: Sequence[BlockOfArms], options: CompareOptions) -> list[list[BlockOfArms]]:
    """Return the blocks that are tested together, those of a segment by themselves, or with ``over="all"`` all.

    Families with a unit of several arms are not, nor are those of one p-value.

    Raises
    ------
    NotComputableError
        ``correction="max_t"`` is asked for, and a unit is in several arms.
    """
    shared = max((block.shared for block in blocks), default=0)
    if shared and options.correction == MAX_T:
        raise NotComputableError(
            f"correction='max_t' permutes units over all {options.noun}s, and {shared:,} units are in several; "
            "pass correction='holm'"
        )
    if options.over == "all":
        tests = sum(len(block.pairs) * len(block.metrics) for block in blocks)
        some = [block for block in blocks if block.pairs]
        return [some] if tests > 1 and not shared else []
    return [[block] for block in blocks if len(block.pairs) > 1 and not block.shared]


def permute_families(families: Sequence[Sequence[BlockOfArms]], options: CompareOptions, tick: Tick) -> ArmsJoint:
    """Permute the units of families of arms; a family is a metric in a segment, or with ``over="all"`` all."""
    joint = ArmsJoint()
    for blocks in families:
        each = options.over == "metric"  # each metric is a family by itself, on the same permutations
        units = []
        for block in blocks:
            family = np.arange(len(block.metrics)) if each else np.zeros(len(block.metrics), np.int64)
            pairs = np.searchsorted(block.arms, np.array(block.pairs))
            units.append(ArmUnits(block.sums, block.size, block.arm, pairs, family))
        number = len(blocks[0].metrics) if each else 1
        found = exchange_families(units, number, options.permutations, options.seed, options.ci, tick)
        for block, one, adjusted in zip(blocks, units, found.adjusted, strict=True):
            for metric, family, column in zip(block.metrics, one.family.tolist(), adjusted.T, strict=True):
                joint.wide[block.segment, metric] = float(found.wide[family])
                named = zip(block.pairs, column.tolist(), strict=True)
                joint.adjusted.update({(block.segment, metric, pair): p for pair, p in named})
    return joint
