"""The rows of a comparison: their columns, their order, and the correction of their p-values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import comb, sqrt
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.times import order_of_arms
from frame_metrics.inputs import Array
from frame_metrics.keys.groups import CellGroups
from frame_metrics.measuring.decided import type_of_classes
from frame_metrics.measuring.pairs import pair_systems
from frame_metrics.measuring.results import UNANSWERED_COLUMN, float_column, integer_column, metric_columns
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.call import Call
from frame_metrics.roles.columns import Columns
from frame_metrics.stats.arms import drawn_relative_ends, freedom, relative, relative_ends
from frame_metrics.stats.delong import around
from frame_metrics.stats.exact import detectable, expanded_level, normal, student, t_quantile
from frame_metrics.stats.flips import least_p
from frame_metrics.stats.margins import margin_p_of_candidates, margin_p_of_draws, normally_above
from frame_metrics.stats.resampling import vary
from frame_metrics.stats.significance import CLOSE, adjusted, interval_and_p_value_of_draws
from frame_metrics.verbs.compare.margins import OF_MARGIN, margin_columns, margin_columns_of_error
from frame_metrics.verbs.compare.options import HOLM, MAX_T, CompareOptions

Row: TypeAlias = dict[str, Any]  # the known values of a row of the result, by column; others are null
Pair: TypeAlias = tuple[int, int]  # the numbers of a system and of its baseline

# Fewer units than this count as so many when a level is expanded: with one the interval would have no ends.
MIN_UNITS_TO_EXPAND = 2
# With fewer units intervals are not made by resampling: no resampled mean is outside the few values of the data.
MIN_UNITS_TO_RESAMPLE = 10
MIN_UNITS_FOR_ANY_P = 1000  # units of each arm from which on a p-value may be as small as floats are
VALUE_COLUMNS = ("value", "baseline_value", "difference")
INFERENCE = ("ci_low", "ci_high", "p_value", "p_adjusted", "effect_size")
TESTED = {"mde": pl.Float64, "test": pl.String, "n_tests": pl.Int64, "correction": pl.String}
RELATIVE = ("relative", "relative_low", "relative_high")
UNIT_COLUMNS = ("n_units", "baseline_n_units", "n_shared")
SUPPORT = ("support", "baseline_support")  # the rows of a class
UNJUDGED = ("n_unjudged", "baseline_n_unjudged")
_FIGURES: dict[str, Any] = dict.fromkeys((*VALUE_COLUMNS, *RELATIVE, *INFERENCE), pl.Float64)
_PAIRED = _FIGURES | dict.fromkeys(("wins", "ties", "losses", "n", "n_unpaired", "n_undefined"), pl.Int64)
_OF_TEAMS = {"preference" if name == "difference" else name: kind for name, kind in _PAIRED.items()}
PAIR_COLUMNS = _PAIRED | TESTED
QUERY_PAIR_COLUMNS = _PAIRED | UNANSWERED_COLUMN | TESTED
TEAM_COLUMNS = (
    {name: kind for name, kind in _OF_TEAMS.items() if name not in RELATIVE} | {"n_unjudged": pl.Int64} | TESTED
)
ARM_COLUMNS = _FIGURES | dict.fromkeys(("n", "baseline_n", *UNIT_COLUMNS, "n_undefined", *UNJUDGED), pl.Int64) | TESTED
UNIT_SHARES = ("unit_share", "baseline_unit_share")
SPLIT_COLUMNS: dict[str, Any] = dict.fromkeys((*UNIT_SHARES, "split_p_value"), pl.Float64)
NOTE_COLUMN: dict[str, Any] = {"split_note": pl.String}
PROXY_COLUMNS: dict[str, Any] = dict.fromkeys((*VALUE_COLUMNS, "relative", *INFERENCE[:-1]), pl.Float64)
P_OF_BIAS = "p_proxy_bias"  # that the machine's bias is the same for both systems
OF_BIAS = ("proxy_bias", "baseline_proxy_bias", P_OF_BIAS)
PROXY_COLUMNS |= {"n": pl.Int64, "n_proxy": pl.Int64} | dict.fromkeys(("lambda", "proxy_difference"), pl.Float64)
PROXY_COLUMNS |= dict.fromkeys(OF_BIAS, pl.Float64)
PROXY_COLUMNS |= {"n_unpaired": pl.Int64, "n_undefined": pl.Int64} | UNANSWERED_COLUMN | TESTED
CORRECTED = ("p_adjusted", "n_tests", "correction")


def keys_of_pairs(options: CompareOptions) -> tuple[str, ...]:
    """Return the columns behind the caller's keys that say what is compared."""
    return "baseline", *(["class"] if options.per_class else []), "metric", "k"


def columns_of(options: CompareOptions) -> dict[str, Any]:
    """Return the columns that are not keys, and their types."""
    if options.per_query:
        return {name: PAIR_COLUMNS[name] for name in VALUE_COLUMNS}
    if options.tests_preference:
        return TEAM_COLUMNS
    arms = ARM_COLUMNS | (SPLIT_COLUMNS if options.shows_unit_shares else {}) | NOTE_COLUMN
    each = {"queries": QUERY_PAIR_COLUMNS, "proxies": PROXY_COLUMNS, "rows": PAIR_COLUMNS}
    return _with_support(_with_margin(each.get(options.kind, arms), options), options)


def _with_support(columns: dict[str, Any], options: CompareOptions) -> dict[str, Any]:
    """Return the columns of a comparison; of one of classes, with the rows of the class on each side before "n"."""
    if not options.per_class:
        return columns
    names, at = [*columns], [*columns].index("n")
    own = [name for name in SUPPORT if not options.paired or name == "support"]
    return {name: columns.get(name, pl.Int64) for name in (*names[:at], *own, *names[at:])}


def _with_margin(columns: dict[str, Any], options: CompareOptions) -> dict[str, Any]:
    """Return the columns of a comparison; with ``margin=`` its p-values stand behind the others."""
    if options.margin is None:
        return columns
    at = [*columns].index("p_adjusted") + 1
    names = [*columns][:at] + [*OF_MARGIN] + [*columns][at:]
    return {name: columns.get(name, pl.Float64) for name in names}


def schema_of(
    columns: Columns,
    options: CompareOptions,
    result_columns: Mapping[str, Any] | None = None,
    call: Call | None = None,
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function from the types of the frame's columns to the types of the result's columns.

    Parameters
    ----------
    result_columns : the columns that are not keys; None for those of ``compare``.
    call : that of a comparison of classes.
    """
    queries = columns.query if options.per_query else ()
    keys = (*columns.segments, *queries, *([columns.side] if columns.side else []))
    named = options.saved or options.against is not None  # whether the baseline is a text, not a system of the frame

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        baseline = pl.String if named else types[str(columns.side)]
        first = {name: types[name] for name in keys} | {"baseline": baseline}
        first |= {} if call is None or not options.per_class else {"class": type_of_classes(types, call)}
        first |= {"metric": pl.String, "k": pl.Int64}
        return first | (columns_of(options) if result_columns is None else dict(result_columns))

    return schema


def numbers_of_rows(n: int, metrics: int, pairs: int, each: int = 1) -> tuple[Array, Array, Array]:
    """Return the numbers of segment, metric and pair of each of ``n`` rows; ``each``: rows for one comparison."""
    at = np.arange(n) // each
    return at // (metrics * pairs), at // pairs % metrics, at % pairs


def tabled(
    rows: Sequence[Row], metrics: int, pairs: int, options: CompareOptions, classes: int = 1
) -> dict[str, pl.Series]:
    """Return rows as columns, with corrected p-values; a value that a row does not have is null.

    The rows are by segment, then class, then metric, then pair of systems; those of all classes are corrected together.
    """
    segment, place, _ = numbers_of_rows(len(rows), classes * metrics, pairs)
    metric = place % metrics
    family = segment * metrics + metric if options.over == "metric" else np.zeros(len(rows), np.int64)
    schema = columns_of(options)
    known = {name: np.array([row.get(name, np.nan) for row in rows]) for name in schema if schema[name] != pl.String}
    if "relative" in known:
        known["relative"] = relative(known["difference"], known["baseline_value"])
    columns = {name: float_column(values).cast(schema[name]) for name, values in known.items()}
    columns |= corrected(columns["p_value"], family, options.corrected_by, columns.get("p_adjusted"))
    if P_OF_BIAS in columns:
        columns[P_OF_BIAS] = corrected(columns[P_OF_BIAS], family, options.corrected_by)["p_adjusted"]
    if options.margin is not None:
        columns |= corrected_for_candidates(columns, segment * classes * metrics + place, options.corrected_by)
    texts = [name for name, kind in schema.items() if kind == pl.String and name not in columns]
    columns |= {name: pl.Series([row.get(name) for row in rows], dtype=pl.String) for name in texts}
    return {name: columns[name] for name in schema}


def by_area(
    difference: float,
    metric: Metric,
    covariance: Array,
    options: CompareOptions,
    ends: tuple[float, float],
    margin: float,
) -> Row:
    """Return interval and p-value of a difference of areas under ROC curves, by DeLong.

    Parameters
    ----------
    difference : the difference of the metric.
    metric : the metric, whose slope by the area is known.
    covariance : the covariance of the areas of the system and of its baseline, shape (2, 2); only the variance of the
        system's area if the baseline is a constant, shape (1, 1).
    options : the level of the interval.
    ends : the least and the greatest possible difference.
    margin : of the metric, NaN for none.
    """
    sign = np.array([1.0, -1.0])[: len(covariance)] * float(metric.slope_by_area or 1)
    variance = float(sign @ covariance @ sign)
    variance = 0.0 if variance < CLOSE * np.trace(covariance) else variance
    difference = 0.0 if abs(difference) < CLOSE else difference
    row: Row = {"p_value": normal(difference, variance)}
    if not variance > 0:  # nothing varies
        return row
    row["ci_low"], row["ci_high"] = around(np.array(difference), np.array(variance), options.ci, ends)
    if not np.isnan(margin):
        row |= margin_columns_of_error(difference, variance**0.5, metric, margin, normally_above)
    return row | {"mde": detectable(options.ci) * float(np.sqrt(variance))}


def by_draws(
    values: Sequence[float],
    drawn: Array,
    options: CompareOptions,
    units: Sequence[float],
    metric: Metric,
    margin: float = np.nan,
) -> Row:
    """Return intervals and p-value of the difference of two values by the bootstrap.

    The level is expanded, as few units need it (``expanded_level``); with fewer than ``MIN_UNITS_TO_RESAMPLE`` they are
    Student's t. Where no draw differs from another there is no
    interval, and the p-value is the least that so many units can have if their sides are exchanged.

    Parameters
    ----------
    values : the two values.
    drawn : their values in the resamples, shape (2, draws).
    options : the level of the intervals.
    units : how many units were resampled, or Kish's number; of two arms those of each.
    metric, margin : the metric, and its margin if the difference is to be compared with it.
    """
    with np.errstate(invalid="ignore"):  # values may be infinite, as odds are
        drawn = drawn[:, ~np.isnan(drawn[0] - drawn[1])]
        if not drawn.shape[1] or np.isnan(values[0] - values[1]):
            return {}
        n, df = _effective_n(drawn, units)
        level = expanded_level(options.ci, n, df)
        means, draws = np.array(values)[:, None], [*drawn[:, :, None]]
        differences = drawn[0] - drawn[1]
        ends = interval_and_p_value_of_draws(draws[0] - draws[1], means[0] - means[1], np.abs(means).max(), level)
        ends |= drawn_relative_ends(draws, means, level)
        row = {name: float(end[0]) for name, end in ends.items()}
        row["mde"] = detectable(options.ci) * float(differences.std())
        if len(units) > 1 and vary(differences):  # of arms p is the level at which this interval ends at 0
            row["p_value"] = min(2 * margin_p_of_draws(differences[:, None], np.zeros(1), n, df).min(), 1.0)
        if min(units) < MIN_UNITS_TO_RESAMPLE and np.isfinite(drawn).all() and np.isfinite(values).all():
            row |= _by_t(values, drawn, n, df, options.ci, metric)
        if np.isfinite([*values, margin]).all() and vary(differences):
            known = margin_p_of_draws(metric.sign * differences[:, None], np.array([margin]), n, df)
            row |= margin_columns(known[:, 0], metric)
    if not vary(differences):
        row |= dict.fromkeys(("ci_low", "ci_high", "relative_low", "relative_high", "mde"), np.nan)
    least = least_of_units(units)
    if least > 1 - options.ci + CLOSE:  # nothing can be detected
        row["mde"] = np.nan
    row["p_value"] = max(row["p_value"], least)
    return row if np.isfinite(values).all() else row | {"p_value": np.nan}


def _by_t(values: Sequence[float], drawn: Array, n: float, df: float, level: float, metric: Metric) -> Row:
    """Return intervals and p-value of a difference by Student's t, with the spread of draws as its standard error.

    ``values``, ``drawn``: as in ``by_draws``; ``n``, ``df``: as ``_effective_n`` returns them.
    """
    if not (n > 1 and df >= 1):
        return dict.fromkeys(("ci_low", "ci_high", "relative_low", "relative_high", "mde"), np.nan)
    difference, n_errors, widened = values[0] - values[1], t_quantile((1 + level) / 2, df), n / (n - 1)
    error, widest = sqrt(widened * float((drawn[0] - drawn[1]).var())), metric.range[1] - metric.range[0]
    low, high = np.clip([difference - n_errors * error, difference + n_errors * error], -widest, widest).tolist()
    mde = detectable(level, df=df) * error
    row: Row = {"ci_low": low, "ci_high": high, "mde": mde if mde <= widest else np.nan}
    row |= {"p_value": student(difference / error, df)} if error else {}
    signs = np.sign(drawn)
    of_logs = widened * np.log(drawn[0] / drawn[1]).var() if signs.all() and (signs == signs[0, 0]).all() else np.nan
    ends = relative_ends(np.array(values)[:, None], np.array([of_logs]), np.array([n_errors]))
    return row | dict(zip(RELATIVE[1:], ends[:, 0].tolist(), strict=True))


def _effective_n(drawn: Array, units: Sequence[float]) -> tuple[float, float]:
    """Return the number of units by which the level of draws is expanded, and the degrees of freedom.

    Of pairs: the number of units n, and n - 1. Of two arms: the size n of a single sample whose bootstrap variance is
    too small by the same factor, (n - 1) / n; and Welch's degrees of freedom.
    """
    n = np.asarray(units, np.float64)
    if len(n) == 1:
        return float(n[0]), float(n[0]) - 1
    n, variances = np.maximum(n, MIN_UNITS_TO_EXPAND), drawn.var(axis=1)
    if not (np.isfinite(variances).all() and variances.any()):
        return float(n.min()), float(n.min()) - 1
    variance_kept = float(variances.sum() / (variances * n / (n - 1)).sum())  # this is (n - 1) / n of the result n
    return 1 / (1 - variance_kept), float(freedom(variances[:, None], n.tolist())[0])


def least_of_units(units: Sequence[float], shared: int = 0) -> float:
    """Return the least p-value of exchanging the sides of units: of one system and the other, or of two arms.

    ``shared``: how many units are of both arms.
    """
    if len(units) == 1:
        return least_p("sign", int(units[0]), 0)
    one, other = (int(n) - shared for n in units)
    return (1 + (one == other)) / (comb(one + other, one) << shared) if min(units) < MIN_UNITS_FOR_ANY_P else 0.0


def sorted_rows(segments: int, pairs: Sequence[Any], compared: Callable[[int, Any], list[Any]]) -> list[Any]:
    """Return rows by segment, then metric, then pair; ``compared`` returns those of a segment and pair, by metric."""
    rows: list[Row] = []
    for segment in range(segments):
        each = [compared(segment, pair) for pair in pairs]
        rows += [row for of_metric in zip(*each, strict=True) for row in of_metric]
    return rows


def pairs_among(systems: CellGroups, options: CompareOptions) -> list[Pair]:
    """Return the pairs of systems to compare; raise if there are none."""
    (column,) = systems.keys
    names = systems.values(column)
    if not systems.n.any():  # no rows: no systems
        names = names[:0]
    order = range(len(names)) if options.noun == "system" else order_of_arms(names).places
    order = [at for at in order if options.null_is_an_arm or names[at] is not None]
    return pair_systems(order, names, options.baseline, column, options.noun)


def pairs_compared(
    asked: Asked,
    segments: CellGroups,
    systems: CellGroups,
    pairs: Sequence[Pair],
    options: CompareOptions,
    compared: Callable[[int, Pair], list[Row]],
    saved: str | None = None,
    classes: pl.Series | None = None,
) -> Answer:
    """Compare pairs of systems; ``compared`` returns the rows of a segment and pair, by metric.

    Parameters
    ----------
    saved : the name of a baseline that is not among the systems.
    classes : if each is compared by itself; ``compared`` returns the rows by class, then metric.
    """
    rows, k = sorted_rows(len(segments), pairs, compared), 1 if classes is None else len(classes)
    columns = tabled(rows, len(asked), len(pairs), options, k)
    segment, place, pair = numbers_of_rows(len(rows), k * len(asked), len(pairs))
    if classes is not None:
        columns = {"class": classes.gather(place // len(asked))} | columns
    return answer_with(columns, (segment, place % len(asked), pair), asked, segments, systems, pairs, saved)


def answer_with(
    columns: Mapping[str, pl.Series],
    places: Sequence[Array],
    asked: Asked,
    segments: CellGroups,
    systems: CellGroups,
    pairs: Sequence[Pair],
    saved: str | None = None,
) -> Answer:
    """Return columns as an answer, with the keys of each row.

    ``places``: its segment, metric and pair of systems. ``saved``: the name of a baseline that is no system of
    the log.
    """
    at, metric, pair = places
    mine, base = np.array(pairs).T
    keys = segments.key_rows(at, totalled=False) | systems.key_rows(mine[pair], totalled=False)
    if saved is not None:
        name = pl.Series([saved], dtype=pl.String).new_from_index(0, len(pair))
        return Answer(
            keys, {"baseline": name} | metric_columns(asked, metric) | dict(columns), {}, segments.cells.key_table
        )
    (column,) = systems.keys
    keys["baseline"] = systems.key_rows(base[pair])[column]
    first = {name: columns[name] for name in ("class",) if name in columns}
    table = segments.cells.key_table
    return Answer(keys, first | metric_columns(asked, metric) | dict(columns), {"baseline": column}, table)


def corrected_for_candidates(
    columns: Mapping[str, pl.Series] | pl.DataFrame, family: Array, correction: str
) -> dict[str, pl.Series]:
    """Return the p-values of differences compared with a margin, corrected for the number of candidates.

    They are not corrected for the number of metrics: a candidate has to pass on each metric anyway.

    Parameters
    ----------
    family : the number of the segment and metric of each row.
    """
    each = {name: columns[name].to_numpy() for name in OF_MARGIN}
    return {name: float_column(margin_p_of_candidates(p, family, correction)) for name, p in each.items()}


def corrected(
    p_value: pl.Series, family: Array, correction: str, joint_p_values: pl.Series | None = None
) -> dict[str, pl.Series]:
    """Return corrected p-values, the number of p-values in each family, and the correction, as columns.

    With one p-value in a family nothing is corrected, and the correction is null.

    Parameters
    ----------
    p_value : of each row.
    family : the number of each row's family.
    correction : of families that are not tested together.
    joint_p_values : the corrected p-values of rows that are tested together with their family, null for others.
    """
    p = p_value.to_numpy()  # null is NaN
    out = np.full(len(p), np.nan) if joint_p_values is None else joint_p_values.to_numpy().copy()
    joint = np.bincount(family, ~np.isnan(out), minlength=1) > 0
    for number_of_family in np.unique(family):
        if not joint[number_of_family]:
            here = family == number_of_family
            out[here] = adjusted(p[here], correction)
    n_tests = np.bincount(family, ~np.isnan(p), minlength=1)[family]
    named = np.where(joint[family], MAX_T, correction)
    by = pl.Series(named, dtype=pl.String).set(pl.Series(n_tests < 2), None)
    return dict(zip(CORRECTED, (float_column(out), integer_column(n_tests), by), strict=True))


def corrected_over(result: pl.DataFrame, systems: Sequence[str], options: Mapping[str, Any]) -> pl.DataFrame:
    """Correct the p-values of all systems, in each segment and metric or, with ``over="all"``, together.

    ``systems``: the columns that say which system a row is of.
    """
    keys = [name for name in result.columns[: result.columns.index("metric") + 1] if name not in (*systems, "baseline")]
    rows = result.select(keys).rows()
    numbers = {key: number for number, key in enumerate(dict.fromkeys(rows))}
    group = np.array([numbers[row] for row in rows], np.int64)
    family = np.zeros(len(group), np.int64) if options.get("over") == "all" else group
    correction = options.get("correction") or HOLM
    result = result.with_columns(**corrected(result["p_value"], family, correction))
    if options.get("margin") is None:
        return result
    return result.with_columns(**corrected_for_candidates(result, group, correction))
