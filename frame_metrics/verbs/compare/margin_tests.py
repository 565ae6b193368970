"""Paired differences compared with margins: the p-values of "not worse" and "equivalent" of pairs of systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.plan.compared import MID_P
from frame_metrics.stats.averages import resampled_means
from frame_metrics.stats.margins import Shifted, margin_p_of_draws, margin_p_of_pairs, margin_p_of_shares
from frame_metrics.stats.resampling import enough_resamples
from frame_metrics.stats.significance import SpreadOfPairs, in_clusters, weighted_values
from frame_metrics.verbs.compare.margins import check_possible, margin_columns
from frame_metrics.verbs.compare.options import CompareOptions
from frame_metrics.verbs.compare.pair_groups import PairGroup


def add_margin_columns(groups: Sequence[PairGroup], margins: Array, options: CompareOptions) -> None:
    """Fill the columns of margins into the rows of groups; ``margins``: of each metric, NaN for none."""
    for group in groups if options.margin is not None else ():
        some = [not np.isnan(margins[column.metric_at]) for column in group.comparisons]
        if not any(some) or not group.tested:
            continue
        family = group.only(some)
        spread = family.spread
        if spread is None:
            continue
        margin = np.array([margins[column.metric_at] for column in family.comparisons])
        for column, one in zip(family.comparisons, margin.tolist(), strict=True):
            if np.isfinite(column.ends[1]):
                check_possible(str(column.metric), column.metric.range, one)
        p = _p_values(family, spread, margin, options)
        for column, one in zip(family.comparisons, p.T, strict=True):
            column.row.update(margin_columns(one, column.metric))


def _p_values(group: PairGroup, spread: SpreadOfPairs, margin: Array, options: CompareOptions) -> Array:
    """Return the p-values that losses, and that gains, are less than the margins, shape (2, columns)."""
    sign = np.array([column.metric.sign for column in group.comparisons])
    by_table = group.zero_one & (options.test in ("randomization", MID_P))
    p = np.full((2, len(sign)), np.nan)
    for i in np.flatnonzero(by_table).tolist():
        table = group.comparisons[i].win_table
        if table is not None:
            p[:, i] = margin_p_of_shares(table, float(margin[i]))[:: int(sign[i])]
    rest = np.flatnonzero(~by_table)
    if not len(rest):
        return p
    gains = group.differences[:, rest] * sign[rest]
    each = np.ones((len(gains), 1)) if group.weight is None else group.weight[:, None]
    size = in_clusters(each, group.cluster)[:, 0]
    sums = in_clusters(weighted_values(gains, group.weight), group.cluster)
    widest = np.array([group.comparisons[i].ends[1] for i in rest.tolist()])
    shifted = Shifted(sums[size > 0], size[size > 0], margin[rest], spread.error[rest], spread.units, widest)
    if options.test == "bootstrap":
        p[:, rest] = np.where(shifted.known, _drawn(group, gains, margin[rest], spread.units, options), np.nan)
    else:
        p[:, rest] = margin_p_of_pairs(shifted, options.permutations, options.seed, str(options.test))
    return p


def _drawn(group: PairGroup, gains: Array, margin: Array, units: float, options: CompareOptions) -> Array:
    """Return the p-values that losses, and that gains, are less than the margins, by resampling, (2, columns)."""
    often = enough_resamples(options.resamples, units)
    means = resampled_means(gains.T, group.weight, group.cluster, often, options.seed).T
    return margin_p_of_draws(means[~np.isnan(means[:, 0])], margin, units)
