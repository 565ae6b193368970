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
from frame_metrics.stats.flips import counted_all
from frame_metrics.stats.offsets import offsets, scales
from frame_metrics.stats.significance import in_clusters, weigh_unlike, weighted_values
from frame_metrics.verbs.compare.options import CompareOptions
from frame_metrics.verbs.compare.pair_groups import PairGroup

MIN_PAIRS_PER_SYSTEM = 2  # times as many pairs as systems, from which on the values of systems are flipped


@record
class FamilyTests:
    """The p-values and quantiles of the families of some groups."""

    adjusted: list[Array]  # the corrected p-value of each column, for each group
    n_errors: list[Array]  # how many standard errors the ends of its interval are away, for each group
    p_value: Array | None  # of each column by itself, if all are of one group: of the same flips
    # For each group, if the verb needs them: one-sided bounds in standard errors, shape (2, columns). Row 0 holds for
    # all pairs of the system that is worse if the difference is above 0, row 1 for all pairs of the better one.
    bounds: list[Array]


def flip_families(groups: Sequence[PairGroup], options: CompareOptions, tick: Tick) -> FamilyTests:
    """Flip the signs of all units of some groups; a family is a metric in a segment, or with ``over="all"`` all."""
    family = [column.metric_at if options.over == "metric" else 0 for one in groups for column in one.comparisons]
    _, number = np.unique(family, return_inverse=True)
    of_group = np.split(number, np.cumsum([len(one.comparisons) for one in groups])[:-1])
    blocks, units = _blocks(groups, of_group)
    sides = _sides(groups) if options.one_sided else np.zeros((2, 0), np.int64)
    against = np.split(sides, np.cumsum([len(block.family) for block in blocks])[:-1], axis=1) if sides.size else []
    given = options.permutations, options.seed, tick
    found = maxima(blocks, units, int(number.max()) + 1, *given, against)
    adjusted = np.concatenate([found.adjusted(block) for block in blocks])
    n_errors, p_value = found.n_errors(options.ci), None
    if len(groups) == 1:
        exact = np.full(len(adjusted), np.nan) if found.every else counted_all(blocks[0].whole, options.permutations)
        p_value = np.where(np.isnan(exact), found.p_values(found.reached[0]), exact)
    ends = np.cumsum([len(one.comparisons) for one in groups])[:-1]
    bounds = np.split(quantile_of_flips(found.against, options.ci, every=found.every)[sides], ends, axis=1)
    return FamilyTests(
        np.split(adjusted, ends), [n_errors[families_of_group] for families_of_group in of_group], p_value, bounds
    )


def _sides(groups: Sequence[PairGroup]) -> Array:
    """Return the number of the system that each column is against, where it is above 0 and below, shape (2, columns).

    The same system has a number of its own in each metric.
    """
    columns = [column for one in groups for column in one.comparisons]
    pairs = [(column.pair[::-1] if column.metric.sign > 0 else column.pair) for column in columns]
    each = np.array(
        [[(column.metric_at, pair[side]) for column, pair in zip(columns, pairs, strict=True)] for side in (0, 1)]
    )
    return np.unique(each.reshape(-1, 2), axis=0, return_inverse=True)[1].reshape(2, -1)


def _blocks(groups: Sequence[PairGroup], family: Sequence[Array]) -> tuple[list[FlipBlock], int]:
    """Return the columns of groups by segment, in their order, and the number of units.

    Units are numbered by first appearance: a cluster, or a query, that is in several segments is one unit.
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
    several = cluster_numbers(ids)
    number = np.arange(len(ids)) if several is None else several
    each = np.split(number, np.cumsum([np.count_nonzero(use) for use in used])[:-1])
    blocks = []
    for groups_of_segment, use, of in zip(segments, used, each, strict=True):
        place, unit = np.unique(of, return_inverse=True)
        parts = [_sums(groups[i], unit[groups[i].use[use]], len(place)) for i in groups_of_segment]
        sums, sizes, offset = zip(*parts, strict=True)
        pattern = np.repeat(np.arange(len(groups_of_segment)), [len(groups[i].comparisons) for i in groups_of_segment])
        families = np.concatenate([family[i] for i in groups_of_segment])
        weighted = np.array([weigh_unlike(groups[i].weight) for i in groups_of_segment])
        block = FlipBlock(
            place, np.hstack(sums), np.column_stack(sizes), pattern, np.concatenate(offset), families, weighted
        )
        sides = _sides_of(groups[groups_of_segment[0]], unit, len(place)) if len(groups_of_segment) == 1 else None
        made = sides is not None and sides.reproduces(block.sums)
        blocks.append(replace(block, sides=sides) if made else block)
    return blocks, int(number.max()) + 1


def _sides_of(group: PairGroup, unit: Array, units: int) -> OfSides | None:
    """Return the systems of the pairs of a group, in each metric; None if they are not far fewer than the pairs.

    ``unit``: the number of the unit of each query that is used; ``units``: how many there are.
    """
    keys = [[(column.metric_at, system) for system in column.pair] for column in group.comparisons]
    each, pair = np.unique(np.reshape(keys, (-1, 2)), axis=0, return_inverse=True)
    if MIN_PAIRS_PER_SYSTEM * len(each) > len(keys):
        return None
    values = group.values.values[each[:, 0], :, each[:, 1]][:, group.use].T
    first = np.searchsorted(each[:, 0], each[:, 0])  # the first system in the same metric
    rows = weighted_values(values - values[:, first], group.weight)
    return OfSides(in_clusters(rows, unit) if len(unit) > units else rows, pair.reshape(-1, 2).T)


def _sums(group: PairGroup, unit: Array, units: int) -> tuple[Array, Array, Array]:
    """Return the sums of weighted differences in each unit, less the offset, the weight of each, and the offset.

    Differences are divided by what ``scales`` returns, which changes no statistic.

    ``unit``: the number of the unit of each query that is used.
    """
    scale = scales(group.differences)
    differences = group.differences / scale
    offset = offsets(differences, group.size / scale)
    centred, each = differences - offset, np.ones(len(unit)) if group.weight is None else group.weight
    sums, sizes = weighted_values(centred, group.weight), each[:, None]
    if len(unit) > len(np.unique(unit)):
        sums, sizes = in_clusters(sums, unit), in_clusters(sizes, unit)
        unit = np.arange(len(sums))
    if len(sums) == units:
        return sums, sizes[:, 0], offset
    every = np.zeros((units, sums.shape[1] + 1))
    every[unit] = np.column_stack([sums, sizes])
    return every[:, :-1], every[:, -1], offset
