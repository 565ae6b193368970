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
from frame_metrics.verbs.compare.options import CompareOptions
from frame_metrics.verbs.compare.pair_families import flip_families
from frame_metrics.verbs.compare.pair_groups import PairDifferences, PairGroup

BOUNDS = "bounds"  # where a row has those of one side, which are no column of a result
POWER = 0.8  # with which mde is detected
# With fewer units intervals are not made by resampling: resampled means never leave the few observed values.
MIN_UNITS_TO_RESAMPLE = 10


def infer(groups: Sequence[PairGroup], options: CompareOptions, tick: Tick, *, n_tested_elsewhere: int = 0) -> None:
    """Fill in the intervals and p-values of groups, of one segment or, with ``over="all"``, of all.

    ``n_tested_elsewhere``: with ``over="all"``, the number of rows of the family that have another test. If there
    are such rows, each pair is tested by itself.
    """
    families = [
        [comparison.metric_at if options.over == "metric" else 0 for comparison in one.comparisons] for one in groups
    ]
    counts: Counter[int] = Counter()
    for group, own in zip(groups, families, strict=True):
        counts.update(own if group.tested else ())
    joint = {family for family, n in counts.items() if n > 1 and options.tests_families and not n_tested_elsewhere}
    # Families of the same queries are flipped at once: the result of a family does not depend on others.
    families_of_groups: dict[tuple[int, ...], set[int]] = {}
    for family in joint:
        families_of_groups.setdefault(tuple(i for i, own in enumerate(families) if family in own), set()).add(family)
    for group, own in zip(groups, families, strict=True):
        alone = [not (family in joint and group.tested) for family in own]
        if any(alone):
            sizes = [counts[family] + n_tested_elsewhere for family, one in zip(own, alone, strict=True) if one]
            _infer_single(group.only(alone), sizes, options, tick)
    for at, several in families_of_groups.items():
        some = [groups[i].only([family in several for family in families[i]]) for i in at if groups[i].tested]
        _infer_families(some, options, tick)


def _infer_single(group: PairGroup, family_sizes: Sequence[int], options: CompareOptions, tick: Tick) -> None:
    """Fill in what is inferred of pairs by themselves.

    ``family_sizes``: the number of p-values in the family of each comparison.
    """
    by_draws, spread = options.test == "bootstrap", group.spread
    n_errors, p_value = np.full(len(group.comparisons), np.nan), None
    ends = np.full((2, len(n_errors)), np.nan)
    if spread is not None:
        n_errors[:] = errors_away(options.ci, spread.units)
    if group.tested:
        p_value = _p_values(group, options, tick)
    if group.tested and spread is not None:
        known = np.where(group.zero_one, normal_quantile(options.ci), n_errors)
        ends = ends_around(group, spread, known)
        vary = (spread.error > 0) | (np.array([comparison.mean for comparison in group.comparisons]) == 0)
        some = np.flatnonzero(by_draws | (~group.zero_one & vary & (spread.units >= MIN_UNITS_TO_RESAMPLE)))
        if len(some):
            given = options.ci, options.resamples, options.seed, tick, group.size[some]
            found = interval_and_p_value(group.differences[:, some], group.weight, group.cluster, *given)
            ends[:, some] = [found.get(name, np.full(len(some), np.nan)) for name in ("ci_low", "ci_high")]
            p_value = found["p_value"] if by_draws else p_value
    p_multipliers = family_sizes if options.multiplied else [1] * len(family_sizes)
    _fill(group, p_value, ends, n_errors, p_multipliers, options)


def _infer_families(groups: Sequence[PairGroup], options: CompareOptions, tick: Tick) -> None:
    """Fill in what is inferred of families of pairs."""
    found = flip_families(groups, options, tick)
    for group, adjusted, n_errors, bounds in zip(groups, found.adjusted, found.n_errors, found.bounds, strict=True):
        p_value = _p_values(group, options, tick, found.p_value)
        ends = np.full((2, len(n_errors)), np.nan)
        if group.spread is not None:  # no interval of a family is shorter than that of one pair
            single = errors_away(options.ci, group.spread.units)
            n_errors = np.maximum(n_errors, np.where(group.zero_one, normal_quantile(options.ci), single))
            ends = ends_around(group, group.spread, n_errors)
        _fill(group, p_value, ends, n_errors, [1] * len(n_errors), options)
        for comparison, own, p in zip(group.comparisons, adjusted, p_value, strict=True):
            comparison.row["p_adjusted"] = float(max(own, p))
        for comparison, bound in zip(group.comparisons, bounds.T, strict=False):  # of leaderboard()
            comparison.row[BOUNDS] = bound


def ends_around(group: PairGroup, spread: SpreadOfPairs, n_errors: Array) -> Array:
    """Return the ends of intervals within what means may be, shape (2, comparisons).

    Differences that are all equal, and not 0, show no variance: null.

    Parameters
    ----------
    n_errors : how many standard errors the ends are away, shape (columns,).
    """
    ends = np.empty((2, len(n_errors)))
    for i, comparison in enumerate(group.comparisons):
        if comparison.win_table is not None:
            ends[:, i] = newcombe(comparison.win_table, float(n_errors[i]))
            continue
        mean, error, (least, most) = comparison.mean, float(spread.error[i]), comparison.ends
        if not error and mean:
            ends[:, i] = np.nan
            continue
        far = float(n_errors[i]) * error if error else 0.0
        ends[:, i] = np.clip([mean - far, mean + far], min(least, mean), max(most, mean))
    return np.where(np.isinf(ends), np.nan, ends)


def _p_values(group: PairGroup, options: CompareOptions, tick: Tick, drawn: Array | None = None) -> Array:
    """Return the p-value of each comparison by itself, shape (columns,).

    ``drawn``: those of the randomization test, if they are known.
    """
    if options.test == "bootstrap":
        return np.ones(len(group.comparisons))
    if options.test not in ("randomization", MID_P):
        return classical(group.differences, str(options.test))
    of_shares = ((comparison.win_table, _test(comparison, options) == MID_P) for comparison in group.comparisons)
    out = np.array([mid_p(int(one[1]), int(one[2])) if one is not None and mid else np.nan for one, mid in of_shares])
    rest = np.isnan(out)
    if rest.any() and drawn is not None:
        out[rest] = drawn[rest]
    elif rest.any():
        moved = in_clusters(weighted_values(group.differences[:, rest], group.weight), group.cluster)
        out[rest] = randomization(moved, options.permutations, options.seed, tick)
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
    n_errors : how many standard errors the ends of other intervals are away, shape (columns,).
    times_p : by what the least possible p-value of each comparison is multiplied before it is compared with 1 - ``ci``.
    """
    spread = group.spread
    more = np.nan if spread is None else t_quantile(POWER, spread.units - 1)
    relative = None if spread is None or options.tests_preference else _relative(group, n_errors)
    for i, comparison in enumerate(group.comparisons):
        row, test = comparison.row, _test(comparison, options)
        row |= {"test": test} if p_value is None else {"test": test, "p_value": float(p_value[i])}
        if spread is None:
            continue
        row["effect_size"] = float(spread.effect_size[i])
        row["ci_low"], row["ci_high"] = ends[:, i].tolist()
        far, error = float(n_errors[i]) + more, float(spread.error[i])
        reached = least_p(test, group.units, options.permutations) * times_p[i] <= 1 - options.ci + CLOSE
        known = reached and np.isfinite(far) and (error or not comparison.mean) and far * error <= comparison.ends[1]
        row["mde"] = far * error if known else np.nan
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
    known = np.where(np.isfinite(n_errors), n_errors, 0)
    return np.where(np.isfinite(n_errors), relative_ends(means, group.relative_error() ** 2, known), np.nan)
