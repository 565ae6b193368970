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
    arms: Array  # the numbers of the arms that have enough units, ascending
    pairs: Sequence[Pair]  # the pairs of such arms that are compared
    sums: Array  # ``sums`` and ``size`` as in ``ArmUnits``
    size: Array
    arm: Array  # the position in ``arms`` of the arm of each unit
    n_shared: int  # how many units are in several arms

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
        n_shared = int(some.sum()) - len(np.unique(unit[some]))
        return cls(segment, metrics, arms, pairs, sums[some], size[some], np.searchsorted(arms, arm[some]), n_shared)


@dataclass(frozen=True)
class ArmsJoint:
    """The results of families that are tested together; other families are not in it."""

    n_errors: dict[Place, float] = field(default_factory=dict)  # see ``ArmFamilyTests``, by segment and metric
    adjusted: dict[tuple[int, int, Pair], float] = field(default_factory=dict)  # by segment, metric and pair

    def n_errors_of(self, segment: int, metrics: Sequence[int]) -> Array:
        """Return how many standard errors the ends are at least from the differences, 0 for no family, (metrics,)."""
        return np.array([self.n_errors.get((segment, metric), 0.0) for metric in metrics])


def families_of_arms(blocks: Sequence[BlockOfArms], options: CompareOptions) -> list[list[BlockOfArms]]:
    """Return the blocks that are tested together: each block by itself, or with ``over="all"`` all of them.

    Families with a unit in several arms are left out, and so are those of one p-value.

    Raises
    ------
    NotComputableError
        ``correction="max_t"`` is asked for, and a unit is in several arms.
    """
    n_shared = max((block.n_shared for block in blocks), default=0)
    if n_shared and options.correction == MAX_T:
        raise NotComputableError(
            f"correction='max_t' permutes units over all {options.noun}s, and {n_shared:,} units are in several; "
            "pass correction='holm'"
        )
    if options.over == "all":
        n_tests = sum(len(block.pairs) * len(block.metrics) for block in blocks)
        some = [block for block in blocks if block.pairs]
        return [some] if n_tests > 1 and not n_shared else []
    return [[block] for block in blocks if len(block.pairs) > 1 and not block.n_shared]


def permute_families(families: Sequence[Sequence[BlockOfArms]], options: CompareOptions, tick: Tick) -> ArmsJoint:
    """Permute the units of families of arms; a family is a metric in a segment, or with ``over="all"`` all."""
    joint = ArmsJoint()
    for blocks in families:
        by_metric = options.over == "metric"  # each metric is a family by itself, on the same permutations
        units = []
        for block in blocks:
            family = np.arange(len(block.metrics)) if by_metric else np.zeros(len(block.metrics), np.int64)
            pairs = np.searchsorted(block.arms, np.array(block.pairs))
            units.append(ArmUnits(block.sums, block.size, block.arm, pairs, family))
        n_families = len(blocks[0].metrics) if by_metric else 1
        found = exchange_families(units, n_families, options.permutations, options.seed, options.ci, tick)
        for block, one, adjusted in zip(blocks, units, found.adjusted, strict=True):
            for metric, family, column in zip(block.metrics, one.family.tolist(), adjusted.T, strict=True):
                joint.n_errors[block.segment, metric] = float(found.n_errors[family])
                of_pairs = zip(block.pairs, column.tolist(), strict=True)
                joint.adjusted.update({(block.segment, metric, pair): p for pair, p in of_pairs})
    return joint
