"""Intervals and p-values of paired differences: of pairs by themselves, and of families of pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from frame_metrics.backends.progress import Tick
from frame_metrics.inputs import Array
from frame_metrics.plan.compared import MID_P
from frame_metrics.stats.arms import relative_ends
from frame_metrics.stats.exact import normal_quantile, t_quantile
from frame_metrics.stats.flips import least_p, randomization
from frame_metrics.stats.paired_shares import mid_p, newcombe
from frame_metrics.stats.significance import (
    CLOSE,
    SpreadOfPairs,
    classical,
    errors_away,
    in_clusters,
    interval_and_p_value,
    weighted_values,
)
from frame_metrics.verbs.compare.differences import MIN_UNITS_TO_RESAMPLE
from frame_metrics.verbs.compare.options import CompareOptions
from frame_metrics.verbs.compare.pair_families import flip_families
from frame_metrics.verbs.compare.pair_groups import PairDifferences, PairGroup

BOUNDS = "bounds"  # the key of a row under which ``leaderboard`` finds bounds of one side; no column of a result
POWER = 0.8  # the chance with which a difference of ``mde`` is detected


def infer(groups: Sequence[PairGroup], options: CompareOptions, tick: Tick, *, n_tested_elsewhere: int = 0) -> None:
    """Fill in the intervals and p-values of groups: those of one segment, or with ``over="all"`` of all segments.

    ``n_tested_elsewhere``: with ``over="all"``, the number of rows of the family that have another test. If there
    are such rows, each pair is tested by itself.
    """
    families = [  # of each group, the family of each comparison
        [comparison.metric_at if options.over == "metric" else 0 for comparison in one.comparisons] for one in groups
    ]
    counts: Counter[int] = Counter()
    for group, of_group in zip(groups, families, strict=True):
        counts.update(of_group if group.tested else ())
    # The families whose comparisons are tested together; those of other families are tested each by itself.
    joint = {family for family, n in counts.items() if n > 1 and options.tests_families and not n_tested_elsewhere}
    # Families in the same groups are flipped at once: the result of a family does not depend on others.
    families_by_groups: dict[tuple[int, ...], set[int]] = {}
    for family in joint:
        indices = tuple(i for i, of_group in enumerate(families) if family in of_group)
        families_by_groups.setdefault(indices, set()).add(family)
    for group, of_group in zip(groups, families, strict=True):
        by_itself = [not (family in joint and group.tested) for family in of_group]
        if any(by_itself):
            sizes = [
                counts[family] + n_tested_elsewhere for family, one in zip(of_group, by_itself, strict=True) if one
            ]
            _infer_single(group.only(by_itself), sizes, options, tick)
    for indices, together in families_by_groups.items():
        some = [groups[i].only([family in together for family in families[i]]) for i in indices if groups[i].tested]
        _infer_families(some, options, tick)


def _infer_single(group: PairGroup, family_sizes: Sequence[int], options: CompareOptions, tick: Tick) -> None:
    """Fill in the intervals and p-values of pairs that are tested each by itself.

    ``family_sizes``: the number of p-values in the family of each comparison.
    """
    by_draws, spread = options.test == "bootstrap", group.spread
    # How many standard errors the ends of each interval are from the mean. For values of 0 and 1 only the relative
    # interval takes these; the other is Newcombe's, by the normal quantile.
    n_errors, p_value = np.full(len(group.comparisons), np.nan), None
    ends = np.full((2, len(n_errors)), np.nan)
    if spread is not None:
        n_errors[:] = errors_away(options.ci, spread.units)
    if group.tested:
        p_value = _p_values(group, options, tick)
    if group.tested and spread is not None:
        # By a formula; then by resampling, if there are enough units whose values vary.
        ends = ends_around(group, spread, np.where(group.zero_one, normal_quantile(options.ci), n_errors))
        vary = spread.error > 0
        by_resampling = np.flatnonzero(by_draws | (~group.zero_one & vary & (spread.units >= MIN_UNITS_TO_RESAMPLE)))
        if len(by_resampling):
            given = options.ci, options.resamples, options.seed, tick, group.magnitude[by_resampling]
            found = interval_and_p_value(group.differences[:, by_resampling], group.weight, group.cluster, *given)
            drawn = [found.get(name, np.full(len(by_resampling), np.nan)) for name in ("ci_low", "ci_high")]
            ends[:, by_resampling] = np.where(vary[by_resampling], drawn, np.nan)
            p_value = found["p_value"] if by_draws else p_value
    p_multipliers = family_sizes if options.multiplied else [1] * len(family_sizes)
    _fill(group, p_value, ends, n_errors, p_multipliers, options)


def _infer_families(groups: Sequence[PairGroup], options: CompareOptions, tick: Tick) -> None:
    """Fill in the intervals and p-values of families of pairs, which hold together."""
    found = flip_families(groups, options, tick)
    for group, adjusted, n_errors, bounds in zip(groups, found.adjusted, found.n_errors, found.bounds, strict=True):
        p_value = _p_values(group, options, tick, found.p_value)
        ends = np.full((2, len(n_errors)), np.nan)
        if group.spread is not None:  # no interval of a family is shorter than that of one pair
            single = errors_away(options.ci, group.spread.units)
            n_errors = np.maximum(n_errors, np.where(group.zero_one, normal_quantile(options.ci), single))
            ends = ends_around(group, group.spread, n_errors)
        _fill(group, p_value, ends, n_errors, [1] * len(n_errors), options)
        for comparison, corrected, p in zip(group.comparisons, adjusted, p_value, strict=True):
            comparison.row["p_adjusted"] = float(max(corrected, p))
        for comparison, bound in zip(group.comparisons, bounds.T, strict=False):  # of leaderboard()
            comparison.row[BOUNDS] = bound


def ends_around(group: PairGroup, spread: SpreadOfPairs, n_errors: Array) -> Array:
    """Return the ends of intervals, within the least and the greatest possible mean, shape (2, comparisons).

    They are NaN for differences that are all equal, which show no variance, but for those of shares.

    Parameters
    ----------
    n_errors : how many standard errors the ends are from the mean, shape (comparisons,).
    """
    ends = np.empty((2, len(n_errors)))
    for i, comparison in enumerate(group.comparisons):
        if comparison.win_table is not None:
            ends[:, i] = newcombe(comparison.win_table, float(n_errors[i]))
            continue
        mean, error, (least, most) = comparison.mean, float(spread.error[i]), comparison.ends
        if not error:
            ends[:, i] = np.nan
            continue
        far = float(n_errors[i]) * error
        ends[:, i] = np.clip([mean - far, mean + far], min(least, mean), max(most, mean))
    return np.where(np.isinf(ends), np.nan, ends)


def _p_values(group: PairGroup, options: CompareOptions, tick: Tick, drawn: Array | None = None) -> Array:
    """Return the p-value of each comparison by itself, shape (comparisons,).

    ``drawn``: those of the randomization test, if they are known.
    """
    if options.test == "bootstrap":  # 1 if nothing can be drawn, else ``_infer_single`` replaces them
        return np.ones(len(group.comparisons))
    if options.test not in ("randomization", MID_P):
        return classical(group.differences, str(options.test))
    of_shares = ((comparison.win_table, _test(comparison, options) == MID_P) for comparison in group.comparisons)
    out = np.array(
        [mid_p(int(table[1]), int(table[2])) if table is not None and mid else np.nan for table, mid in of_shares]
    )
    rest = np.isnan(out)
    if rest.any() and drawn is not None:
        out[rest] = drawn[rest]
    elif rest.any():
        sums = in_clusters(weighted_values(group.differences[:, rest], group.weight), group.cluster)
        out[rest] = randomization(sums, options.permutations, options.seed, tick)
    return out


def _fill(
    group: PairGroup,
    p_value: Array | None,
    ends: Array,
    n_errors: Array,
    times_p: Sequence[int],
    options: CompareOptions,
) -> None:
    """Put what is inferred of each comparison into its row.

    Parameters
    ----------
    p_value : of each comparison; None if nothing can be tested.
    ends : of the intervals, shape (2, comparisons).
    n_errors : how many standard errors the ends of relative intervals are from the mean, shape (comparisons,).
        ``mde`` reads the same number as the distance from 0 at which a difference is just significant.
    times_p : by what a correction multiplies the p-value of each comparison. If even the least possible p-value is then
        above 1 - ``ci``, no difference can be detected.
    """
    spread = group.spread
    n_errors_for_power = np.nan if spread is None else t_quantile(POWER, spread.units - 1)
    relative = None if spread is None or options.tests_preference else _relative(group, n_errors)
    for i, comparison in enumerate(group.comparisons):
        row, test = comparison.row, _test(comparison, options)
        row |= {"test": test} if p_value is None else {"test": test, "p_value": float(p_value[i])}
        if spread is None:
            continue
        row["effect_size"] = float(spread.effect_size[i])
        row["ci_low"], row["ci_high"] = ends[:, i].tolist()
        n_errors_of_mde, error = float(n_errors[i]) + n_errors_for_power, float(spread.error[i])
        detectable = least_p(test, group.units, options.permutations) * times_p[i] <= 1 - options.ci + CLOSE
        known = detectable and np.isfinite(n_errors_of_mde) and error
        known = known and n_errors_of_mde * error <= comparison.ends[1]  # no mean can be greater
        row["mde"] = n_errors_of_mde * error if known else np.nan
        if relative is not None:
            row["relative_low"], row["relative_high"] = relative[:, i].tolist()


def _test(comparison: PairDifferences, options: CompareOptions) -> str:
    """Return the test of a comparison: of values of 0 and 1 by default McNemar's mid-p."""
    return MID_P if options.by_default and comparison.win_table is not None else str(options.test)


def _relative(group: PairGroup, n_errors: Array) -> Array:
    """Return the ends of relative differences, shape (2, comparisons)."""
    means = np.array(
        [[comparison.row["value"], comparison.row["baseline_value"]] for comparison in group.comparisons]
    ).T
    error = group.relative_error()
    known = np.isfinite(n_errors) & (error > 0)
    ends = relative_ends(means, error**2, np.where(known, n_errors, 0))
    return np.where(known, ends, np.nan)
