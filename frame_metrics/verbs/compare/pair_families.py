"""Families of pairs of systems, whose p-values and intervals hold together: the signs of all are flipped at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from frame_metrics.backends.progress import Tick
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.stats.averages import cluster_numbers
from frame_metrics.stats.families import FlipBlock, OfSides, maxima, quantile_of_flips
from frame_metrics.stats.flips import p_values_of_all_flips
from frame_metrics.stats.offsets import offsets, scales
from frame_metrics.stats.significance import in_clusters, weigh_unlike, weighted_values
from frame_metrics.verbs.compare.options import CompareOptions
from frame_metrics.verbs.compare.pair_groups import PairGroup

# If pairs are at least so many times as many as systems, values of systems are flipped, not differences of pairs.
MIN_PAIRS_PER_SYSTEM = 2


@record
class FamilyTests:
    """The p-values and quantiles of the families of some groups, for each group."""

    adjusted: list[Array]  # the corrected p-values, shape (comparisons,) each
    n_errors: list[Array]  # how many standard errors the ends of intervals are from the means, (comparisons,) each
    p_value: Array | None  # uncorrected, of the same flips, shape (comparisons,); None if there are several groups
    # If the verb needs them: bounds of one side in standard errors, shape (2, comparisons) each. Row 0 is for a
    # difference above 0, row 1 for one below. A bound holds for all comparisons of a system in which this is the worse
    # one.
    bounds: list[Array]


def flip_families(groups: Sequence[PairGroup], options: CompareOptions, tick: Tick) -> FamilyTests:
    """Flip the signs of all units of some groups; a family is a metric in a segment, or with ``over="all"`` all."""
    family = [pair.metric_at if options.over == "metric" else 0 for group in groups for pair in group.comparisons]
    _, number = np.unique(family, return_inverse=True)
    edges = np.cumsum([len(group.comparisons) for group in groups])[:-1]
    families_of_groups = np.split(number, edges)
    blocks, units = _blocks(groups, families_of_groups)
    worse = _worse_systems(groups) if options.one_sided else np.zeros((2, 0), np.int64)
    of_blocks = np.split(worse, np.cumsum([len(block.family) for block in blocks])[:-1], axis=1) if worse.size else []
    given = options.permutations, options.seed, tick
    found = maxima(blocks, units, int(number.max()) + 1, *given, of_blocks)
    adjusted = np.concatenate([found.adjusted(block) for block in blocks])
    n_errors, p_value = found.n_errors(options.ci), None
    if len(groups) == 1:
        exact = np.full(len(adjusted), np.nan)
        if not found.every:
            exact = p_values_of_all_flips(blocks[0].with_offset, options.permutations)
        p_value = np.where(np.isnan(exact), found.p_values(found.n_as_extreme[0]), exact)
    bounds = np.split(quantile_of_flips(found.one_sided_t, options.ci, every=found.every)[worse], edges, axis=1)
    n_errors_of_groups = [n_errors[families_of_group] for families_of_group in families_of_groups]
    return FamilyTests(np.split(adjusted, edges), n_errors_of_groups, p_value, bounds)


def _worse_systems(groups: Sequence[PairGroup]) -> Array:
    """Return the worse system of each comparison if its difference is above 0 (row 0), and if it is below (row 1).

    The shape is (2, comparisons). Systems are numbered anew: the same system has another number in each metric.
    """
    comparisons = [comparison for group in groups for comparison in group.comparisons]
    pairs = [(one.pair[::-1] if one.metric.sign > 0 else one.pair) for one in comparisons]
    worse = [
        [(comparison.metric_at, pair[row]) for comparison, pair in zip(comparisons, pairs, strict=True)]
        for row in (0, 1)
    ]
    return np.unique(np.reshape(worse, (-1, 2)), axis=0, return_inverse=True)[1].reshape(2, -1)


def _blocks(groups: Sequence[PairGroup], family: Sequence[Array]) -> tuple[list[FlipBlock], int]:
    """Return a block of columns for each segment, in the order of groups, and the number of units.

    Units are numbered by first appearance: a cluster, or a query, that is in several segments is one unit.

    ``family``: for each group, the families of its comparisons.
    """
    segments: list[list[int]] = []
    for i, group in enumerate(groups):
        if not i or groups[i - 1].values is not group.values:
            segments.append([])
        segments[-1].append(i)
    used = [np.any([groups[i].use for i in groups_of_segment], axis=0) for groups_of_segment in segments]
    ids = np.concatenate(
        [groups[groups_of_segment[0]].values.unit[use] for groups_of_segment, use in zip(segments, used, strict=True)]
    )
    repeated = cluster_numbers(ids)  # None if each unit has one query
    number = np.arange(len(ids)) if repeated is None else repeated
    unit_of_query = np.split(number, np.cumsum([np.count_nonzero(use) for use in used])[:-1])
    blocks = []
    for groups_of_segment, use, of_query in zip(segments, used, unit_of_query, strict=True):
        # The units of the block, and the position of each query's unit among them.
        units, at = np.unique(of_query, return_inverse=True)
        parts = [_sums(groups[i], at[groups[i].use[use]], len(units)) for i in groups_of_segment]
        sums, sizes, offset = zip(*parts, strict=True)
        pattern = np.repeat(np.arange(len(groups_of_segment)), [len(groups[i].comparisons) for i in groups_of_segment])
        families = np.concatenate([family[i] for i in groups_of_segment])
        weighted = np.array([weigh_unlike(groups[i].weight) for i in groups_of_segment])
        block = FlipBlock(
            units, np.hstack(sums), np.column_stack(sizes), pattern, np.concatenate(offset), families, weighted
        )
        sides = _sides_of(groups[groups_of_segment[0]], at, len(units)) if len(groups_of_segment) == 1 else None
        use_sides = sides is not None and sides.reproduces(block.sums)
        blocks.append(replace(block, sides=sides) if use_sides else block)
    return blocks, int(number.max()) + 1


def _sides_of(group: PairGroup, unit: Array, n_units: int) -> OfSides | None:
    """Return the systems of the pairs of a group, in each metric; None if they are not far fewer than the pairs.

    ``unit``: the position of the unit of each query that is used, among ``n_units``.
    """
    keys = [[(comparison.metric_at, system) for system in comparison.pair] for comparison in group.comparisons]
    sides, pair = np.unique(np.reshape(keys, (-1, 2)), axis=0, return_inverse=True)  # (metric, system) of each side
    if MIN_PAIRS_PER_SYSTEM * len(sides) > len(keys):
        return None
    values = group.values.values[sides[:, 0], :, sides[:, 1]][:, group.use].T
    first = np.searchsorted(sides[:, 0], sides[:, 0])  # the first side of the same metric
    rows = weighted_values(values - values[:, first], group.weight)
    return OfSides(in_clusters(rows, unit) if len(unit) > n_units else rows, pair.reshape(-1, 2).T)


def _sums(group: PairGroup, unit: Array, n_units: int) -> tuple[Array, Array, Array]:
    """Return for a group: the sums of each unit's weighted differences less the offset, its weight, and the offset.

    Shapes are (units, comparisons), (units,) and (comparisons,). Differences are divided by what ``scales`` returns,
    which changes no statistic.

    ``unit``: the position of the unit of each query that is used, among ``n_units``.
    """
    scale = scales(group.differences)
    differences = group.differences / scale
    offset = offsets(differences, group.magnitude / scale)
    centred, each = differences - offset, np.ones(len(unit)) if group.weight is None else group.weight
    sums, sizes = weighted_values(centred, group.weight), each[:, None]
    if len(unit) > len(np.unique(unit)):
        sums, sizes = in_clusters(sums, unit), in_clusters(sizes, unit)
        unit = np.arange(len(sums))
    if len(sums) == n_units:
        return sums, sizes[:, 0], offset
    every = np.zeros((n_units, sums.shape[1] + 1))  # 0 for units that the group does not have
    every[unit] = np.column_stack([sums, sizes])
    return every[:, :-1], every[:, -1], offset
