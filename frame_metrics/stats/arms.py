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
MIN_SHARED_FOR_WELCH = 20  # the fewest units of each arm with which Welch's t may replace exchanges if units are shared
MIN_UNITS_FOR_WELCH = 10_000  # the fewest units of each arm with which Welch's t may replace exchanges otherwise
POWER = 0.8  # the chance with which a difference of ``mde`` is detected
DOMINANT = 0.001  # if a unit has a greater share in the variance of a difference, the difference may not be normal


def compared(
    arms: Arms | Strata,
    test: str,
    level: float,
    drawn: DrawSizes,
    tick: Tick,
    information: float | None = None,
    least_n_errors: Array | float = 0.0,
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
    information : for a test with several looks: how many times as much is known as at the first look. The interval and
        the p-value are then those of a confidence sequence, whichever test is named. 0 before the first look: no
        interval, and a p-value of 1. None for a single look.
    least_n_errors : for a family of exchanges: how many standard errors the ends of intervals are at least from the
        difference, shape (columns,); infinite if there are no intervals.
    """
    if test in PLAIN and information is None:
        arms = arms.without_weights()
    value, base = arms.means
    difference = arms.raw_difference
    out = {"value": value, "baseline_value": base, "difference": difference}
    if information is not None:
        out["p_value"] = np.where(np.isnan(difference), np.nan, 1)
    else:
        out["test"] = np.full(len(difference), test, object)
    if min(arms.n) < 2 or information == 0:
        return out
    variances = arms.variances()
    if information is not None:
        return out | _at_all_looks(arms, variances, level, information)
    error = np.sqrt(variances.sum(axis=0))
    if test == "randomization":
        least = np.broadcast_to(least_n_errors, len(difference))
        return out | _by_exchanges(arms, variances, level, drawn, tick, least)
    # For the bootstrap ``mde`` is that of t.
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


def _by_exchanges(
    arms: Arms | Strata, variances: Array, level: float, drawn: DrawSizes, tick: Tick, least_n_errors: Array
) -> dict[str, Array]:
    """Return p-values of exchanging units, and the intervals that belong to them.

    Intervals of shares are Newcombe's, and others Welch's. If a variance is not known, because few units do not have
    the commonest value, they are Newcombe's on the range of the values, or null. Large arms without units that dominate
    are tested by Welch's t, if exchanges would take long. In a family all intervals have the width of the family.

    ``least_n_errors``: as for ``compared``, shape (columns,).
    """
    permutations, _, seed = drawn
    free, error = freedom(variances, arms.n_for_freedom), np.sqrt(variances.sum(axis=0))
    has_interval = np.isfinite(least_n_errors)
    least = np.where(has_interval, least_n_errors, 0)
    levels = np.array([max(level, level_of_errors(one)) for one in least.tolist()])
    n_errors_for_power = np.array([t_quantile(POWER, df) for df in free.tolist()])
    out = {"test": np.full(len(free), "randomization", object)}
    out["mde"] = error * (np.maximum(_n_errors_of_t(level, free), least) + n_errors_for_power)
    p = permuted(arms, permutations, seed, tick, taken_by_welch(arms))
    for column in np.flatnonzero(np.isnan(p)):
        p[column] = student(float(arms.difference[column] / error[column]), float(free[column]))
        out["test"][column] = "t"
    out |= {"p_value": p} | _ends(arms, "t", level, variances, least)
    # Newcombe's ends for shares, and if too few units differ from the commonest value for a variance to be known.
    too_few, share = arms.too_few_differ.any(axis=0), arms.of_shares
    ends, (low, high) = np.array([out["ci_low"], out["ci_high"]]), newcombe_intervals(arms, variances, levels)
    out["ci_low"], out["ci_high"] = np.where(too_few | share, [low, high], ends)
    for name in ("relative_low", "relative_high"):
        out[name] = np.where(too_few & ~share, np.nan, out[name])
    pooled = arms.pooled_error
    n_errors_of_mde = np.array([detectable(one) for one in levels.tolist()])
    out["mde"] = np.where(too_few, np.where(pooled > 0, pooled * n_errors_of_mde, np.nan), out["mde"])
    # If there are so few units that no exchange has a p-value below 1 - level, no difference can be detected.
    if least_p_of_arms(arms, permutations) > 1 - level:
        out["mde"] = np.where(out["test"] == "t", out["mde"], np.nan)
    for name in ("ci_low", "ci_high", "relative_low", "relative_high", "mde"):
        out[name] = np.where(has_interval, out[name], np.nan)
    return out


def taken_by_welch(arms: Arms | Strata) -> Array:
    """Return True for columns in which Welch's t may replace exchanges, shape (columns,).

    It may if the arms are large, and no unit has a great share in the variance of the difference: the difference is
    normal then, so that t gives the same p-value, and much faster.

    It also does if some units are in both arms, and one arm has more of the others. Each exchange keeps the numbers of
    these others. If they differ from the units in both arms, then so do the arms in every exchange, and no exchange
    shows the difference of arms with one mean. But fewer than ``MIN_SHARED_FOR_WELCH`` units, and units of which a
    variance is not known, are exchanged all the same.
    """
    never: Array = np.zeros(len(arms.raw_difference), bool)
    if arms.shared.size:
        first, other, _ = arms.strata[0].n_first_other_both
        if first == other or min(arms.n) < MIN_SHARED_FOR_WELCH:
            return never
        return np.asarray(~arms.too_few_differ.any(axis=0))
    if min(arms.n) < MIN_UNITS_FOR_WELCH:
        return never
    square = arms.contributions**2
    return square.max(axis=0) < DOMINANT * square.sum(axis=0)


def newcombe_intervals(
    arms: Arms | Strata, variances: Array, levels: Array | float, some: Sequence[int] | None = None
) -> Array:
    """Return Newcombe's hybrid intervals of the differences of two arms, shape (2, columns).

    The interval of an arm is Wilson's at its mean, on the range of the values; NaN without a range. For values of 0 and
    1, which vary as much as values in a range can, it takes Kish's number of units. For other values, or units of
    several sizes, it takes as many units as would give the mean its variance, if this is known. With strata the squares
    of all are added up, and ends are no nearer than normal ones.

    Parameters
    ----------
    levels : of the intervals, one or that of each column.
    some : the columns whose intervals are needed, NaN for others; None for all.
    """
    out, levels = np.full((2, len(variances[0])), np.nan), np.broadcast_to(levels, len(variances[0]))
    for column in range(len(variances[0])) if some is None else some:
        is_share = bool(arms.of_shares[column])
        ends = (0.0, 1.0) if is_share or arms.limits is None else (*arms.limits[:, column].tolist(),)
        if not np.isfinite(ends).all() or (arms.limits is None and not is_share):
            continue
        level = float(levels[column])
        of_arms = [
            _wilson_of_arm(part, arm, column, ends, variances[3 * i + arm, column] / share**2, level)
            for i, (part, share) in enumerate(zip(arms.strata, arms.mix.tolist(), strict=True))
            for arm in range(2)
        ]
        means = np.concatenate([part.means[:, column] for part in arms.strata])
        slopes = tuple(sign * share for share in arms.mix.tolist() for sign in (1.0, -1.0))
        out[:, column] = hybrid(means, np.array(of_arms), 0.0, slopes)
    return _widened(out, arms, variances, levels) if len(arms.strata) > 1 else out


def _widened(ends: Array, arms: Arms | Strata, variances: Array, levels: Array) -> Array:
    """Return ends that are at least as far from the difference as normal ones, and within the possible range.

    Wilson's interval of few units is too narrow at a share of 0 or 1, as shares of small strata often are.
    """
    half = np.sqrt(variances.sum(axis=0)) * np.array([normal_quantile(level) for level in levels])
    half, widest = np.where(np.isnan(half), 0, half), np.asarray(arms.widest)
    low, high = arms.raw_difference - half, arms.raw_difference + half
    return np.clip([np.minimum(ends[0], low), np.maximum(ends[1], high)], -widest, widest)


def _wilson_of_arm(arms: Arms, arm: int, column: int, ends: tuple[float, ...], variance: float, level: float) -> Array:
    """Return Wilson's interval of the mean of an arm, on a range of values; ``variance``: of this mean."""
    least, most = ends
    mean, units = float(np.clip(arms.means[arm, column], least, most)), float(arms.kish[arm])
    as_share = arms.of_shares[column] and arms.has_two_values[column]
    if most > least and variance > 0 and not (as_share or arms.too_few_differ[arm, column] or arms.shared.size):
        variance = variance * (arms.n[arm] - 1) / arms.n[arm] / (most - least) ** 2
        rows = arms.rows[arm] if arms.of_shares[column] and arms.rows is not None else np.inf
        share = (mean - least) / (most - least)
        units = float(effective(share, variance, units, rows, level, clustered=arms.clustered))
    return wilson_on_range(mean, units, level, (least, most))


def _at_all_looks(arms: Arms | Strata, variances: Array, level: float, information: float) -> dict[str, Array]:
    """Return intervals and p-values that hold at all looks; ``information``: see ``compared``.

    If a variance is not known, because few units do not have the commonest value, there is no interval, and p is 1.
    """
    level, error = as_level(level, information), np.sqrt(variances.sum(axis=0))
    out = {"mde": detectable(level) * error} | _ends(arms, "z", level, variances)
    each = zip(arms.difference, variances.sum(axis=0), strict=True)
    too_few = arms.too_few_differ_at_looks
    out = {name: np.where(too_few, np.nan, values) for name, values in out.items()}
    return out | {"p_value": np.where(too_few, 1, [_p_at_all_looks(*one, information) for one in each])}


def _ends(
    arms: Arms | Strata, test: str, level: float, variances: Array, least: Array | float = 0.0
) -> dict[str, Array]:
    """Return the ends of intervals of differences and of relative differences, by Welch's t or normal ones.

    ``least``: how many standard errors the ends are at least from the difference, shape (columns,).
    """
    error = np.sqrt(variances.sum(axis=0))
    n_errors = np.maximum(_n_errors(arms, test, level, variances), least)
    low, high = arms.raw_difference + np.array([[-1], [1]]) * n_errors * error
    # The variances of the logarithms of the means; if a mean is 0, the result is not used.
    of_logs = arms.variances(np.where(arms.means == 0, 1, arms.means))
    n_errors = np.maximum(_n_errors(arms, test, level, of_logs), least)
    ends = relative_ends(arms.means, of_logs.sum(axis=0), n_errors)
    return {"ci_low": low, "ci_high": high, "relative_low": ends[0], "relative_high": ends[1]}


def _p_at_all_looks(difference: float, variance: float, information: float) -> float:
    """Return the p-value of a normal difference at all looks; ``information``: see ``compared``."""
    if variance <= 0:
        return normal(difference, variance)
    return ever_left(difference**2 / variance - log(information))


def p_above_at_all_looks(arms: Arms | Strata, gain: Array, variances: Array, information: float) -> Array:
    """Return the p-values of gains above 0, valid at all looks; 1 for gains that are not, or if nothing is known.

    Parameters
    ----------
    gain : the gain in each column, shape (columns,).
    information : see ``compared``.
    """
    each = zip(gain.tolist(), variances.sum(axis=0).tolist(), strict=True)
    p = np.array([_p_at_all_looks(*one, information) if one[0] > 0 and one[1] > 0 else 1.0 for one in each])
    return np.where(arms.too_few_differ_at_looks, 1.0, p)


def freedom(variances: Array, n: Sequence[float]) -> Array:
    """Return the degrees of freedom of a sum of variances by Welch and Satterthwaite, 1 if all are 0.

    Parameters
    ----------
    variances : the parts of the sum, shape (parts, columns).
    n : the number of units of each part; a part of fewer than two counts with one degree of freedom. If it is NaN, so
        is the result.
    """
    parts = (variances**2 / np.maximum(np.array(n) - 1, 1)[:, None]).sum(axis=0)
    return np.where(parts == 0, 1, ratio(variances.sum(axis=0) ** 2, parts))


def _n_errors(arms: Arms | Strata, test: str, level: float, variances: Array) -> Array:
    """Return how many standard errors the ends of an interval are from the difference, by Welch's t or normally."""
    if test == "t":
        return _n_errors_of_t(level, freedom(variances, arms.n_for_freedom))
    return np.full(variances.shape[1], normal_quantile(level))


def _n_errors_of_t(level: float, free: Array) -> Array:
    """Return how many standard errors the ends of an interval by t are from the difference, shape (columns,)."""
    return np.array([t_quantile((1 + level) / 2, df) for df in free.tolist()])


def _detectable(level: float, free: Array) -> Array:
    """Return the smallest differences that t-tests detect, in standard errors, shape (columns,)."""
    return np.array([detectable(level, df=df) for df in free.tolist()])


def relative_ends(means: Array, variance: Array, n_errors: Array) -> Array:
    """Return the ends of the relative difference, by the delta method on the logarithm of the ratio of means.

    It is NaN unless both means have one sign, and for an end that overflows. Shape (2, columns).

    Parameters
    ----------
    means : the means of the two arms, shape (2, columns).
    variance : the variance of the logarithm, shape (columns,).
    n_errors : how many standard errors the ends are from the logarithm, shape (columns,).
    """
    value, base = means
    some = np.sign(value) * np.sign(base) > 0
    ends = np.full((2, len(value)), np.nan)
    share = value[some] / base[some]
    with np.errstate(over="ignore"):
        factor = np.exp(n_errors[some] * np.sqrt(variance[some]))
        ends[:, some] = np.sort((np.array([share / factor, share * factor]) - 1) * np.sign(base[some]), axis=0)
    return np.where(np.isinf(ends), np.nan, ends)


def relative(difference: Array, base: Array) -> Array:
    """Return differences divided by the absolute value of the baseline, NaN if that is 0."""
    return ratio(difference, np.abs(base))


def drawn_means(arms: Arms | Strata, resamples: int, seed: int) -> list[Array]:
    """Return the means of both arms over resampled units, less the offset, shape (resamples, columns) each.

    If some units are in both arms, the units of both arms are resampled together, each with its values in both arms;
    resamples without a unit of one arm are left out. Otherwise each arm is resampled by itself, and the arm with the
    first unit gets the first random numbers, so that it does not matter which arm is the baseline. Strata are resampled
    one by one.
    """
    if not isinstance(arms, Strata):
        return _drawn(arms, resamples, [seed])
    each = [_drawn(stratum, resamples, [seed, at]) for at, stratum in enumerate(arms.strata)]
    n = min(len(drawn[0]) for drawn in each)
    return [np.einsum("s,sdc->dc", arms.mix, np.array([drawn[arm][:n] for drawn in each])) for arm in range(2)]


def _drawn(arms: Arms, resamples: int, seeds: list[int]) -> list[Array]:
    """Return the means of both arms over the resampled units of one stratum, as ``drawn_means`` does."""
    if arms.shared.size:
        both = arms.side_by_side(np.column_stack([arms.summed_columns, np.ones(len(arms.in_first))]))
        drawn = [resampled(arm.T, resamples, seeds).T for arm in both]
        has_units = (np.array(drawn)[:, :, -1] > 0).all(axis=0)  # the last column counts units
        return [arms.mean(arm[has_units, :-1], arm[has_units, -1:]) for arm in drawn]
    each = zip((arms.in_first, ~arms.in_first), arms.n, strict=True)
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
    keeps_sign = (base * np.sign(means[1]) > 0).all(axis=0)
    ends = np.full((2, len(keeps_sign)), np.nan)
    shares = relative((value - base)[:, keeps_sign], base[:, keeps_sign])
    ends[:, keeps_sign] = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return {"relative_low": ends[0], "relative_high": ends[1]}


def effect_size(difference: float, values: Array, weight: Array, in_first: Array) -> float:
    """Return a difference divided by the pooled standard deviation of queries within their arms; NaN if that is 0.

    Parameters
    ----------
    difference : the difference of the means.
    values, weight : value and weight of each query, shape (queries,).
    in_first : whether a query is of the first arm, shape (queries,).
    """
    squares = degrees = 0.0
    for arm in (in_first, ~in_first):
        if (of_arm := weight[arm]).any():
            squares += float(of_arm @ (values[arm] - np.average(values[arm], weights=of_arm)) ** 2)
            degrees += float(of_arm.sum() - of_arm @ of_arm / of_arm.sum())
    spread = (squares / degrees) ** 0.5 if degrees > 0 else 0.0
    return difference / spread if spread > CLOSE * np.abs(values).max(initial=0) else np.nan
