"""Compare two arms of a test: means that are ratios of sums, their differences, intervals and p-values."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from frame_metrics.inputs.rows import Array, ratio
from frame_metrics.stats.exact import detectable, normal, normal_quantile, student, t_quantile
from frame_metrics.stats.exchange import least_p_of_arms, permuted
from frame_metrics.stats.resampling import resampled
from frame_metrics.stats.sequence import as_level, ever_left, level_of_errors
from frame_metrics.stats.shares import effective, hybrid, wilson_on_range
from frame_metrics.stats.significance import CLOSE, Tick, interval_and_p_value_of_draws, scipy_stats
from frame_metrics.stats.strata import Strata
from frame_metrics.stats.two_arms import Arms

DrawSizes = tuple[int, int, int]  # permutations, resamples and the seed
PLAIN = ("t", "z")  # tests that take weights as other packages do, as sizes of units
FOR_T = 20  # units of each arm from which Welch's t may stand for exchanges of arms that share units
MIN_UNITS_FOR_WELCH = 10_000  # units of each arm from which Welch's t may stand for exchanges
POWER = 0.8  # with which mde is detected
DOMINANT = 0.001  # share of one unit in the variance of a difference from which that may not be normal


def compared(
    arms: Arms | Strata,
    test: str,
    level: float,
    drawn: DrawSizes,
    tick: Tick,
    grown: float | None = None,
    wide: Array | float = 0.0,
) -> dict[str, Array]:
    """Return means, differences, intervals and p-values of two arms, shape (columns,) each, and the test of each.

    If an arm has fewer than two units, there are only the means and their difference.

    Parameters
    ----------
    arms : the units.
    test : "randomization" (exchanges units between the arms), "t" (Welch's), "z" (normal) or "bootstrap".
    level : the level of the intervals.
    drawn : permutations, resamples and the seed.
    tick : called with the number of permutations that are done.
    grown : for a test with several looks, how many times as much is known as at the first look: interval and p-value
        are then those of a confidence sequence, whatever the test. 0 before the first look: no interval, and a p-value
        of 1. None for a single look.
    wide : how many standard errors the ends of the intervals of a family of exchanges are away at least, shape
        (columns,); infinite where there are none.
    """
    if test in PLAIN and grown is None:
        arms = arms.without_weights()
    value, base = arms.means
    difference = arms.raw_difference
    out = {"value": value, "baseline_value": base, "difference": difference}
    if grown is not None:
        out["p_value"] = np.where(np.isnan(difference), np.nan, 1)
    else:
        out["test"] = np.full(len(difference), test, object)
    if min(arms.n) < 2 or grown == 0:
        return out
    # With several looks the interval is that of a confidence sequence, whichever test was named.
    variances = arms.variances()
    if grown is not None:
        return out | _of_looks(arms, variances, level, grown)
    error = np.sqrt(variances.sum(axis=0))
    if test == "randomization":
        return out | _exchanged(arms, variances, level, drawn, tick, np.broadcast_to(wide, len(difference)))
    # What remains are t, z and the bootstrap. The smallest difference that would show is that of the formula for each.
    free = freedom(variances, arms.n_for_freedom)
    out["mde"] = error * (detectable(level) if test == "z" else _detectable(level, free))
    if test == "bootstrap":
        draws = drawn_means(arms, drawn[1], drawn[2])
        ends = interval_and_p_value_of_draws(draws[0] - draws[1], difference, arms.scale, level)
        return out | ends | drawn_relative_ends([arm + arms.offset for arm in draws], arms.means, level)
    out |= _ends(arms, test, level, variances)
    variance = error**2
    if test == "z":
        each = zip(arms.difference, variance, strict=True)
        return out | {"p_value": np.array([normal(*pair) for pair in each])}
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * scipy_stats(test).t.sf(np.abs(arms.difference) / error, free)
    return out | {"p_value": np.where(variance > 0, p, np.where(arms.difference == 0, 1, np.nan))}


def _exchanged(
    arms: Arms | Strata, variances: Array, level: float, drawn: DrawSizes, tick: Tick, wide: Array
) -> dict[str, Array]:
    """Return p-values of exchanging units, and the intervals that belong to them.

    They are Newcombe's of shares, and else Welch's; where a variance is not known, as few units do not have the
    commonest value, they are Newcombe's on the range of the values, or null. Large arms without units that dominate are
    tested by Welch's t, where exchanges would take long. In a family all have the width of the family.
    """
    permutations, _, seed = drawn
    free, error = freedom(variances, arms.n_for_freedom), np.sqrt(variances.sum(axis=0))
    known, far = np.isfinite(wide), np.where(np.isfinite(wide), wide, 0)
    levels = np.array([max(level, level_of_errors(one)) for one in far.tolist()])
    more = np.array([t_quantile(POWER, df) for df in free.tolist()])
    out = {"test": np.full(len(free), "randomization", object)}
    out["mde"] = error * (np.maximum(_away(level, free), far) + more)
    p = permuted(arms, permutations, seed, tick, taken_by_welch(arms))
    for column in np.flatnonzero(np.isnan(p)):
        p[column] = student(float(arms.difference[column] / error[column]), float(free[column]))
        out["test"][column] = "t"
    out |= {"p_value": p} | _ends(arms, "t", level, variances, far)
    # Ends: Newcombe's for shares, and where too few units differ from the commonest value for a variance to be known.
    few, share = arms.few.any(axis=0), arms.of_shares
    ends, (low, high) = np.array([out["ci_low"], out["ci_high"]]), newcombe_intervals(arms, variances, levels)
    out["ci_low"], out["ci_high"] = np.where(few | share, [low, high], ends)
    for name in ("relative_low", "relative_high"):
        out[name] = np.where(few & ~share, np.nan, out[name])
    spread = arms.pooled_error
    normal_away = np.array([detectable(one) for one in levels.tolist()])
    out["mde"] = np.where(few, np.where(spread > 0, spread * normal_away, np.nan), out["mde"])
    # So few units that no permutation could reach the level: no difference would ever show.
    if least_p_of_arms(arms, permutations) > 1 - level:
        out["mde"] = np.where(out["test"] == "t", out["mde"], np.nan)
    for name in ("ci_low", "ci_high", "relative_low", "relative_high", "mde"):
        out[name] = np.where(known, out[name], np.nan)
    return out


def taken_by_welch(arms: Arms | Strata) -> Array:
    """Return whether Welch's t may stand for exchanges, shape (columns,).

    So it may if a difference is normal, since no unit of its large arms has a great part in its variance: t is the same
    then, and much faster. And so it does if some units are in both arms, and of the others one arm has more. These keep
    their number in every exchange. If they differ from those in both arms, so do the arms of every exchange, and no
    exchange says what the difference would be if the arms had one mean. Fewer than ``FOR_T`` units, and those of which
    a variance is not known, are exchanged all the same.
    """
    never: Array = np.zeros(len(arms.raw_difference), bool)
    if arms.shared.size:
        first, other, _ = arms.strata[0].n_first_other_both
        return never if first == other or min(arms.n) < FOR_T else np.asarray(~arms.few.any(axis=0))
    if min(arms.n) < MIN_UNITS_FOR_WELCH:
        return never
    square = arms.contributions**2
    return square.max(axis=0) < DOMINANT * square.sum(axis=0)


def newcombe_intervals(
    arms: Arms | Strata, variances: Array, levels: Array | float, some: Sequence[int] | None = None
) -> Array:
    """Return Newcombe's hybrid intervals of the differences of two arms, shape (2, columns).

    The interval of an arm is Wilson's at its mean, on the range of the values; NaN without a range. Its number of units
    is that by Kish, with which values vary as much as they can, as those of 0 and 1 do; where other values, or units of
    several sizes, have a known variance, it is the number with which they vary as they do. With strata the squares of
    all are added up, and ends are no nearer than normal ones.

    Parameters
    ----------
    levels : of the intervals, one or that of each column.
    some : the columns whose intervals are needed, NaN for others; None for all.
    """
    out, levels = np.full((2, len(variances[0])), np.nan), np.broadcast_to(levels, len(variances[0]))
    for column in range(len(variances[0])) if some is None else some:
        known = bool(arms.of_shares[column])
        ends = (0.0, 1.0) if known or arms.limits is None else (*arms.limits[:, column].tolist(),)
        if not np.isfinite(ends).all() or (arms.limits is None and not known):
            continue
        level = float(levels[column])
        of_arms = [
            _of_arm(part, arm, column, ends, variances[3 * i + arm, column] / share**2, level)
            for i, (part, share) in enumerate(zip(arms.strata, arms.mix.tolist(), strict=True))
            for arm in range(2)
        ]
        means = np.concatenate([part.means[:, column] for part in arms.strata])
        slopes = tuple(sign * share for share in arms.mix.tolist() for sign in (1.0, -1.0))
        out[:, column] = hybrid(means, np.array(of_arms), 0.0, slopes)
    return _widened(out, arms, variances, levels) if len(arms.strata) > 1 else out


def _widened(ends: Array, arms: Arms | Strata, variances: Array, levels: Array) -> Array:
    """Return ends that are as far away as normal ones at least, and within the range.

    Wilson's interval of few units is too narrow at a share of 0 or 1, as those of small strata often are.
    """
    far = np.sqrt(variances.sum(axis=0)) * np.array([normal_quantile(level) for level in levels])
    far, widest = np.where(np.isnan(far), 0, far), np.asarray(arms.widest)
    wider = np.array([np.minimum(ends[0], arms.raw_difference - far), np.maximum(ends[1], arms.raw_difference + far)])
    return np.clip(wider, -widest, widest)


def _of_arm(arms: Arms, arm: int, column: int, ends: tuple[float, ...], variance: float, level: float) -> Array:
    """Return Wilson's interval of the mean of an arm, on a range of values; ``variance``: of this mean."""
    least, most = ends
    mean, units = float(np.clip(arms.means[arm, column], least, most)), float(arms.kish[arm])
    as_share = arms.of_shares[column] and arms.of_two[column]
    if most > least and variance > 0 and not (as_share or arms.few[arm, column] or arms.shared.size):
        variance = variance * (arms.n[arm] - 1) / arms.n[arm] / (most - least) ** 2
        rows = arms.rows[arm] if arms.of_shares[column] and arms.rows is not None else np.inf
        share = (mean - least) / (most - least)
        units = float(effective(share, variance, units, rows, level, clustered=arms.clustered))
    return wilson_on_range(mean, units, level, (least, most))


def _of_looks(arms: Arms | Strata, variances: Array, level: float, grown: float) -> dict[str, Array]:
    """Return intervals and p-values that hold at all looks; ``grown``: see ``compared``.

    Where a variance is not known, as few units do not have the commonest value, there is no interval, and p is 1.
    """
    level, error = as_level(level, grown), np.sqrt(variances.sum(axis=0))
    out = {"mde": detectable(level) * error} | _ends(arms, "z", level, variances)
    each = zip(arms.difference, variances.sum(axis=0), strict=True)
    few = arms.few_at_looks
    out = {name: np.where(few, np.nan, values) for name, values in out.items()}
    return out | {"p_value": np.where(few, 1, [_of_normal(*pair, grown) for pair in each])}


def _ends(
    arms: Arms | Strata, test: str, level: float, variances: Array, least: Array | float = 0.0
) -> dict[str, Array]:
    """Return the ends of intervals of differences and of relative differences, by Welch's t or normal ones.

    ``least``: how many standard errors they are away at least, shape (columns,).
    """
    error = np.sqrt(variances.sum(axis=0))
    far = np.maximum(_errors_away(arms, test, level, variances), least)
    low, high = arms.raw_difference + np.array([[-1], [1]]) * far * error
    parts = arms.variances(np.where(arms.means == 0, 1, arms.means))  # with a mean of 0 the result is not used
    wide = np.maximum(_errors_away(arms, test, level, parts), least)
    ends = relative_ends(arms.means, parts.sum(axis=0), wide)
    return {"ci_low": low, "ci_high": high, "relative_low": ends[0], "relative_high": ends[1]}


def _of_normal(difference: float, variance: float, grown: float) -> float:
    """Return the p-value of a normal difference at all looks; ``grown``: see ``compared``."""
    if variance <= 0:
        return normal(difference, variance)
    return ever_left(difference**2 / variance - log(grown))


def by_looks(arms: Arms | Strata, gain: Array, variances: Array, grown: float) -> Array:
    """Return the p-values that gains are above 0, valid at all looks, 1 where they are not or nothing is known.

    Parameters
    ----------
    gain : of each column, shape (columns,).
    grown : see ``compared``.
    """
    each = zip(gain.tolist(), variances.sum(axis=0).tolist(), strict=True)
    p = np.array([_of_normal(*one, grown) if one[0] > 0 and one[1] > 0 else 1.0 for one in each])
    return np.where(arms.few_at_looks, 1.0, p)


def freedom(variances: Array, n: Sequence[float]) -> Array:
    """Return the degrees of freedom of a sum of variances by Welch and Satterthwaite, 1 if all are 0.

    Parameters
    ----------
    variances : the parts of the sum, shape (parts, columns).
    n : the number of units of each part; a part of fewer than two counts with one degree of freedom. NaN if nothing is
        known: then the result is.
    """
    parts = (variances**2 / np.maximum(np.array(n) - 1, 1)[:, None]).sum(axis=0)
    return np.where(parts == 0, 1, ratio(variances.sum(axis=0) ** 2, parts))


def _errors_away(arms: Arms | Strata, test: str, level: float, variances: Array) -> Array:
    """Return how many standard errors the ends of an interval are away, by Welch's t or by the normal distribution."""
    if test == "t":
        return _away(level, freedom(variances, arms.n_for_freedom))
    return np.full(variances.shape[1], normal_quantile(level))


def _away(level: float, free: Array) -> Array:
    """Return how many standard errors the ends of an interval by t with these degrees of freedom are away."""
    return np.array([t_quantile((1 + level) / 2, df) for df in free.tolist()])


def _detectable(level: float, free: Array) -> Array:
    """Return the smallest detectable differences in standard errors by t-tests with these degrees of freedom."""
    return np.array([detectable(level, df=df) for df in free.tolist()])


def relative_ends(means: Array, variance: Array, wide: Array) -> Array:
    """Return the ends of the relative difference, by the delta method on the logarithm of the ratio of means.

    NaN unless both means are above 0 or both below; and for an end that overflows.

    Parameters
    ----------
    means : the means of the two arms, shape (2, columns).
    variance : the variance of the logarithm, shape (columns,).
    wide : how many standard errors the ends are away, shape (columns,).
    """
    value, base = means
    some = np.sign(value) * np.sign(base) > 0
    ends = np.full((2, len(value)), np.nan)
    share = value[some] / base[some]
    with np.errstate(over="ignore"):
        factor = np.exp(wide[some] * np.sqrt(variance[some]))
        ends[:, some] = np.sort((np.array([share / factor, share * factor]) - 1) * np.sign(base[some]), axis=0)
    return np.where(np.isinf(ends), np.nan, ends)


def relative(difference: Array, base: Array) -> Array:
    """Return differences divided by the absolute value of the baseline, NaN if that is 0."""
    return ratio(difference, np.abs(base))


def drawn_means(arms: Arms | Strata, resamples: int, seed: int) -> list[Array]:
    """Return the means of both arms over resampled units, less the offset, shape (resamples, columns) each.

    If some units are in both arms, the units of both arms are resampled together, each with its values in either arm;
    resamples without a unit of one arm are left out. Otherwise each arm is resampled by itself, and the arm with the
    first unit gets the first random numbers, so that it does not matter which arm is the baseline. Strata are resampled
    one by one.
    """
    if not isinstance(arms, Strata):
        return _drawn(arms, resamples, [seed])
    each = [_drawn(part, resamples, [seed, at]) for at, part in enumerate(arms.strata)]
    most = min(len(drawn[0]) for drawn in each)
    return [np.einsum("s,sdc->dc", arms.mix, np.array([drawn[arm][:most] for drawn in each])) for arm in range(2)]


def _drawn(arms: Arms, resamples: int, seeds: list[int]) -> list[Array]:
    """Return the means of both arms over the resampled units of one stratum, as ``drawn_means`` does."""
    if arms.shared.size:
        both = arms.side_by_side(np.column_stack([arms.summed_columns, np.ones(len(arms.mine))]))
        drawn = [resampled(arm.T, resamples, seeds).T for arm in both]
        some = (np.array(drawn)[:, :, -1] > 0).all(axis=0)
        return [arms.mean(arm[some, :-1], arm[some, -1:]) for arm in drawn]
    each = zip((arms.mine, ~arms.mine), arms.n, strict=True)
    return [
        arms.mean(resampled(arms.summed_columns[arm].T, resamples, [*seeds, int(not arm[0])]).T, n) for arm, n in each
    ]


def drawn_relative_ends(drawn: Sequence[Array], means: Array, level: float) -> dict[str, Array]:
    """Return percentile intervals of relative differences; NaN if a resampled baseline changes its sign.

    Parameters
    ----------
    drawn : the resampled means of the two arms, shape (draws, columns) each.
    means : the observed means, shape (2, columns).
    """
    value, base = drawn
    one_sided = (base * np.sign(means[1]) > 0).all(axis=0)
    ends = np.full((2, len(one_sided)), np.nan)
    shares = relative((value - base)[:, one_sided], base[:, one_sided])
    ends[:, one_sided] = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return {"relative_low": ends[0], "relative_high": ends[1]}


def effect_size(difference: float, values: Array, weight: Array, mine: Array) -> float:
    """Return a difference divided by the pooled standard deviation of queries within their arms; NaN if that is 0.

    Parameters
    ----------
    difference : the difference of the means.
    values, weight : value and weight of each query, shape (queries,).
    mine : whether a query is of the first arm, shape (queries,).
    """
    squares = free = 0.0
    for arm in (mine, ~mine):
        if (heavy := weight[arm]).any():
            squares += float(heavy @ (values[arm] - np.average(values[arm], weights=heavy)) ** 2)
            free += float(heavy.sum() - heavy @ heavy / heavy.sum())
    spread = (squares / free) ** 0.5 if free > 0 else 0.0
    return difference / spread if spread > CLOSE * np.abs(values).max(initial=0) else np.nan
