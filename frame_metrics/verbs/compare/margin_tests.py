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
        has_margin = [not np.isnan(margins[comparison.metric_at]) for comparison in group.comparisons]
        if not any(has_margin) or not group.tested:
            continue
        some = group.only(has_margin)
        spread = some.spread
        if spread is None:
            continue
        margin = np.array([margins[comparison.metric_at] for comparison in some.comparisons])
        for comparison, one in zip(some.comparisons, margin.tolist(), strict=True):
            if np.isfinite(comparison.ends[1]):
                check_possible(str(comparison.metric), comparison.metric.range, one)
        p = _p_values(some, spread, margin, options)
        for comparison, both in zip(some.comparisons, p.T, strict=True):
            comparison.row.update(margin_columns(both, comparison.metric))


def _p_values(group: PairGroup, spread: SpreadOfPairs, margin: Array, options: CompareOptions) -> Array:
    """Return the p-values that losses, and that gains, are less than the margins, shape (2, comparisons)."""
    sign = np.array([comparison.metric.sign for comparison in group.comparisons])
    by_table = group.zero_one & (options.test in ("randomization", MID_P))
    p = np.full((2, len(sign)), np.nan)
    for i in np.flatnonzero(by_table).tolist():
        table = group.comparisons[i].win_table
        if table is not None:
            p[:, i] = margin_p_of_shares(table, float(margin[i]), int(sign[i]))
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
    """Return the p-values that losses, and that gains, are less than the margins, by resampling, (2, comparisons)."""
    resamples = enough_resamples(options.resamples, units)
    means = resampled_means(gains.T, group.weight, group.cluster, resamples, options.seed).T
    return margin_p_of_draws(means[~np.isnan(means[:, 0])], margin, units)
