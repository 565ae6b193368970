"""Arrange values as tidy rows: by group, with totals, long or wide, in a fixed order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import check_bool, check_choice, check_ci, check_whole
from frame_metrics.fast.take_rows import row_numbers
from frame_metrics.inputs import Array, Lists
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups, ResultGroups, groups_of, segments_of
from frame_metrics.measuring.values import Values, effective_sizes, filled, tallies_of
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.call import Call
from frame_metrics.plan.checks import IntervalMethod, Layout, check_averages
from frame_metrics.stats.averages import Averages, Tally, averages_within
from frame_metrics.stats.intervals import intervals

# The columns of per_query() besides the keys.
PER_QUERY_COLUMNS = {"metric": pl.String, "k": pl.Int64, "value": pl.Float64, "undefined": pl.Boolean}
ANSWERED_COLUMN = {"answered": pl.Boolean}  # the last column of per_query()
UNANSWERED_COLUMN = {"n_unanswered": pl.Int64}  # the column that counts queries without a row of the system
PPI_COLUMNS = {
    "n_proxy": pl.Int64,
    **dict.fromkeys(("lambda", "people_value", "proxy_value", "proxy_bias"), pl.Float64),
}  # columns of prediction-powered means
PPI_ENDS = dict.fromkeys(("proxy_bias_low", "proxy_bias_high"), pl.Float64)  # and of their intervals
UNPAIRED_COLUMN = {"n_unpaired": pl.Int64}  # of similarity() with a baseline in another frame
ENDS = ("ci_low", "ci_high")
CALIBRATED = "if_calibrated"  # the column of the value that calibrated scores would have
COUNT_COLUMNS = ("n", "n_undefined", "n_unanswered", "n_proxy", "n_unpaired")
# Suffixes of the columns of a metric in a wide result.
WIDE_SUFFIXES = {
    "value": "",
    "n": "_n",
    "n_undefined": "_undefined",
    "n_effective": "_n_effective",
    CALIBRATED: f"_{CALIBRATED}",
}
WIDE_SUFFIXES |= dict(zip(ENDS, ("_low", "_high"), strict=True))


@dataclass(frozen=True, kw_only=True)
class IntervalOptions:
    """Options of intervals, for all verbs that have them."""

    always_has_intervals: ClassVar[bool] = False  # whether the verb has intervals even without ci=
    ci: float | None = None
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise for values that the options cannot have; nothing is read."""
        if self.ci is not None or self.always_has_intervals:
            check_ci(self.ci)
        check_whole("resamples", self.resamples, 1)
        check_whole("seed", self.seed, 0, math.inf)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(IntervalOptions):
    """Options of ``evaluate``, which documents them."""

    average: str | Sequence[str] | None = None
    margins: bool = False
    layout: str = "long"
    method: str | None = None

    def __post_init__(self) -> None:
        """Raise for values that the options cannot have; nothing is read."""
        if self.average is not None:
            check_averages(self.average)
        check_choice("layout", self.layout, get_args(Layout))
        check_bool("margins", self.margins)
        super().__post_init__()
        if self.method is not None:
            check_choice("method", self.method, get_args(IntervalMethod))

    @property
    def averages_given_as_list(self) -> bool:
        """True if averages were given as a list, even a list of one."""
        return isinstance(self.average, list | tuple)

    @property
    def averages(self) -> Averages:
        """The averages as a list; None in it stands for each metric's default."""
        return list(self.average) if isinstance(self.average, list | tuple) else [self.average]  # type: ignore[list-item]


@dataclass(frozen=True)
class Wide:
    """The columns of a wide result, known before anything is read."""

    average: bool  # whether there is a column "average": only if it is the same for all metrics
    weighted: bool  # whether each metric has a column of its effective sample size
    has_n_column: Sequence[bool]  # whether each metric has its own column of n, because it may leave queries out
    counts_unanswered: bool  # whether there is a column "n_unanswered"
    calibrated: bool = False  # whether metrics that have a value if calibrated have a column ``CALIBRATED``

    def of_metrics(self, asked: Asked, ci: float | None) -> list[tuple[str, Any]]:
        """Return the columns of each metric, and their types."""
        columns: list[tuple[str, Any]] = []
        for (name, metric), has_n_column in zip(asked, self.has_n_column, strict=True):
            columns += [(name, pl.Float64), *([(f"{name}_n", pl.Int64)] if has_n_column else [])]
            columns += [(f"{name}_undefined", pl.Int64)]
            columns += [(f"{name}_n_effective", pl.Float64)] if self.weighted else []
            calibrated = self.calibrated and "calibrated" in metric.companions
            columns += [(f"{name}_{CALIBRATED}", pl.Float64)] if calibrated else []
            columns += [] if ci is None else [(f"{name}_low", pl.Float64), (f"{name}_high", pl.Float64)]
        return columns

    def columns(self, asked: Asked, ci: float | None) -> dict[str, Any]:
        """Return the columns that are not keys, and their types."""
        average = {"average": pl.String} if self.average else {}
        counts = {"n": pl.Int64} | (UNANSWERED_COLUMN if self.counts_unanswered else {})
        return average | counts | dict(self.of_metrics(asked, ci))


@record
class Averaged:
    """The values of metrics in groups: the cells, and with ``margins=True`` the totals over each set of keys.

    A value is one metric with one average.
    """

    asked: Asked
    metric_of_value: list[int]  # the position in ``asked`` of each value's metric
    averages: list[str | None]  # the average of each value; None for a metric of sets of lists
    # For the cells, then for the totals over each set of keys: columns of numbers by name, shape (values, groups) each.
    tables: list[dict[str, Array]]
    n_evaluated: list[Array]  # for the same: how many queries or rows are evaluated, shape (groups,)


def averaged(
    values: Values, options: EvaluateOptions | None = None, wide: Wide | None = None, *, counts_unanswered: bool = False
) -> Answer:
    """Average metrics in segments and totals: a row for each group and metric; with ``wide`` a row for each group.

    ``counts_unanswered``: whether to count the queries that each system did not answer.
    """
    options = options or EvaluateOptions()
    index, some = values.index, values.evaluated
    groups = groups_of(index.cells, options.margins)
    metric_of_tally, tallies = tallies_of(values, options.averages)
    cluster = None if values.cluster is None else values.cluster[some]
    order = None if options.ci is None else index.drawing_order(some)
    tables: list[dict[str, Array]] = []
    n_evaluated: list[Array] = []
    for segments in groups.each:
        count = len(segments)
        # The group of each evaluated ranking. None if all are in one group: counting by group slows small calls.
        by_group = count > 1 or index.segment_known is not None or values.n_summed is not None
        group = segments.group_of_cell[index.cell[some]] if by_group else None
        tables.append(_within(values, metric_of_tally, tallies, segments, group, counts_unanswered=counts_unanswered))
        if options.ci is not None:
            given, formulas = (options.ci, options.resamples, options.seed), options.method != "bootstrap"
            units = cluster if cluster is not None or segments is groups.each[0] else _queries(index.query[some], group)
            ends = intervals(tallies, group, count, *given, units, order, formulas=formulas)
            ends = _of_all(values, metric_of_tally, ends)
            tables[-1] |= ends_around_value(ends, tables[-1]["value"])
        n = np.array([np.count_nonzero(some)])
        if group is not None:
            n = np.bincount(group + 1, values.n_summed, count + 1)[1:]
        n_evaluated.append(n)
    averages: list[str | None] = [tally.average for tally in tallies]
    metric_of_value = metric_of_tally
    if values.list_results is not None:
        order_asked, lists = _order_of_metrics(values, metric_of_tally)
        metric_of_value = [[*metric_of_tally, *lists][i] for i in order_asked]
        averages = [[*averages, *[None] * len(lists)][i] for i in order_asked]
    return tidied(Averaged(values.asked, metric_of_value, averages, tables, n_evaluated), options, groups, wide)


def _of_all(values: Values, metric_of_tally: Sequence[int], ends: Array) -> Array:
    """Return the ends of all values as they were asked for, NaN for metrics that have no interval."""
    biased = [values.asked[i][1].biased for i in metric_of_tally]
    ends = np.where(np.array(biased, dtype=bool)[:, None], np.nan, ends)
    if values.list_results is None:
        return ends
    order, lists = _order_of_metrics(values, metric_of_tally)
    return np.concatenate([ends, np.full((2, len(lists), ends.shape[2]), np.nan)], axis=1)[:, order]


def _queries(query: Array, group: Array | None) -> Array | None:
    """Return the queries as clusters if one is several times in a group, as in a total over segments; else None.

    ``query``: the number of the query of each evaluated ranking; ``group``: as ``_within`` takes it.
    """
    pairs = query if group is None else np.stack([group, query])
    return query.astype(np.float64) if np.unique(pairs, axis=-1).shape[-1] < len(query) else None


def ends_around_value(ends: Array, value: Array) -> dict[str, Array]:
    """Return intervals as columns, by name, widened to hold their values: those of skewed draws may not.

    ``ends``: shape (2, values, groups).
    """
    with np.errstate(invalid="ignore"):
        both = np.minimum(ends[0], value), np.maximum(ends[1], value)
    return dict(zip(ENDS, both, strict=True))


def _order_of_metrics(values: Values, metric_of_tally: Sequence[int]) -> tuple[Array, list[int]]:
    """Return the metrics of sets of lists, and the order that sorts all values as they were asked for.

    Returns
    -------
    The indices of values that sort tallies, followed by the metrics of sets of lists, by metric; and these metrics.
    """
    lists = [i for i, (_, metric) in enumerate(values.asked) if metric.input is Lists]
    return np.argsort([*metric_of_tally, *lists], kind="stable"), lists


def _within(
    values: Values,
    metric_of_tally: Sequence[int],
    tallies: list[Tally],
    segments: CellGroups,
    group: Array | None,
    *,
    counts_unanswered: bool,
) -> dict[str, Array]:
    """Return the columns of numbers for some groups, by name: "value", "n", "n_undefined" ...

    Parameters
    ----------
    metric_of_tally, tallies : as ``tallies_of`` returns them.
    group : the group of each evaluated ranking; None for one group of all.
    counts_unanswered : as for ``averaged``.
    """
    count = len(segments)
    numbers = averages_within(tallies, group, count) if tallies else np.zeros((4, 0, count))
    if values.list_results is not None:
        order_asked, lists = _order_of_metrics(values, metric_of_tally)
        found = values.list_results.within(values, lists, segments.group_of_cell[values.index.cell], count)
        numbers = np.concatenate([numbers, found], axis=1)[:, order_asked]
    value, n, undefined, effective = numbers
    table = {"value": value, "n": n, "n_undefined": undefined}
    if counts_unanswered:
        table["n_unanswered"] = np.tile(n_unanswered(values, segments), (len(effective), 1))
    if values.weights:
        table["n_effective"] = effective_sizes(values, metric_of_tally, tallies, group, count)
    elif values.index.columns.weight:
        table["n_effective"] = effective
    if values.n_unpaired is not None:
        n_unpaired = np.bincount(segments.group_of_cell, values.n_unpaired, minlength=count)
        table["n_unpaired"] = np.tile(n_unpaired, (len(metric_of_tally), 1))
    return table


def n_unanswered(values: Values, segments: CellGroups) -> Array:
    """Count the rankings of judged queries that have no row, in each group, shape (groups,)."""
    group = segments.group_of_cell[values.index.cell]
    return np.bincount(group + 1, values.unanswered, len(segments) + 1)[1:]


def tidied(each: Averaged, options: EvaluateOptions, groups: ResultGroups, wide: Wide | None) -> Answer:
    """Return averages as an answer: a row for each group, metric and average; with ``wide`` a row for each group."""
    table = {name: groups.in_result_order([one[name] for one in each.tables]) for name in each.tables[0]}
    n_values, count = table["value"].shape
    # The group of each row. Wide: a row for each group, and for each average if several were asked. Else a row for each
    # group and value.
    if wide is not None:
        averages = list(dict.fromkeys(each.averages)) if options.averages_given_as_list else each.averages[:1]
        group = np.repeat(np.arange(count), len(averages))
        columns = _side_by_side(each, table, averages, by_average=options.averages_given_as_list)
        columns["n"] = integer_column(groups.in_result_order(each.n_evaluated)[group])
        if wide.counts_unanswered:
            columns["n_unanswered"] = integer_column(table["n_unanswered"][0][group])
        columns = {name: columns[name] for name in wide.columns(each.asked, options.ci)}
    else:
        group, at = np.arange(count).repeat(n_values), None if count == 1 else np.tile(np.arange(n_values), count)
        columns = metric_columns([each.asked[i] for i in each.metric_of_value], at, average=each.averages)
        for name, values in table.items():
            columns[name] = (integer_column if name in COUNT_COLUMNS else float_column)(values.T.ravel(), name)
    if options.margins:
        columns = {"total_over": groups.total_over()[group]} | columns
    return Answer(groups.key_rows(group), columns, table=groups.key_table)


def _side_by_side(
    each: Averaged, table: dict[str, Array], averages: Sequence[str | None], *, by_average: bool
) -> dict[str, pl.Series]:
    """Return the columns of a wide result, each metric with its own.

    Parameters
    ----------
    each : the values.
    table : "value", "n" ... by name, shape (values, groups) each.
    averages : those with a row of their own in each group; a metric without that average is null in this row.
    by_average : whether a list of averages was asked for; otherwise each group has one row for all metrics.
    """
    at = [averages.index(average) if by_average else 0 for average in each.averages]
    count = table["value"].shape[1]
    columns = {"average": pl.Series([*averages] * count, dtype=pl.String)}
    for name in (name for name in table if name in WIDE_SUFFIXES):
        by_metric = np.full((len(each.asked), count, len(averages)), np.nan)
        by_metric[each.metric_of_value, :, at] = table[name]
        for (metric, _), numbers in zip(each.asked, by_metric, strict=True):
            columns[metric + WIDE_SUFFIXES[name]] = float_column(numbers.ravel()).cast(
                pl.Int64 if name in COUNT_COLUMNS else pl.Float64
            )
    return columns


def metric_columns(asked: Asked, at: Array | None, **more: Sequence[str | None]) -> dict[str, pl.Series]:
    """Return the columns "metric" and "k", and ``more`` columns of text.

    ``at``: the position of each row's metric in ``asked``; None: a row for each metric.
    """
    by_name: dict[str, Any] = {"metric": [name for name, _ in asked], "k": [metric.k for _, metric in asked]} | more
    columns = {name: _column(name, *values) for name, values in by_name.items()}
    if at is None:
        return columns
    rows = row_numbers(at)
    return {name: values[rows] for name, values in columns.items()}


@lru_cache(maxsize=64)
def _column(name: str, *values: Any) -> pl.Series:
    """Return names, cutoffs or counts as a column; cached, because calls in a loop need the same ones."""
    return pl.Series(name, values, dtype=pl.String if name in ("metric", "average") else pl.Int64)


def float_column(values: Array, name: str = "") -> pl.Series:
    """Return numbers as a column, NaN as null. A single number is not given as an array, which slows small calls."""
    if len(values) == 1:
        value = float(values[0])
        return pl.Series(name, [None if math.isnan(value) else value], dtype=pl.Float64)
    return pl.Series(name, np.ascontiguousarray(values, dtype=np.float64), nan_to_null=True)


def integer_column(values: Array, name: str = "") -> pl.Series:
    """Return counts as a column of integers. That of a single count is cached: small calls in a loop have the same."""
    if len(values) == 1:
        return _column(name, int(values[0]))
    return pl.Series(name, np.ascontiguousarray(values).astype(np.int64, copy=False))


def query_rows(all_values: Values, layout: str = "long", *, answers: bool = False) -> Answer:
    """Return a row for each evaluated ranking and metric; with ``layout="wide"`` a row for each ranking.

    ``answers``: whether there is a last column "answered".
    """
    index, at = all_values.index, np.flatnonzero(all_values.evaluated)
    if index.columns.cell_keys:
        at = at[np.lexsort((index.query[at], segments_of(index.cells).group_of_cell[index.cell[at]]))]
    keys = index.key_rows(system=index.system[at], segment=index.segment[at], query=index.query[at])
    values = [filled(all_values, i)[at] for i in range(len(all_values.asked))]
    answered = {"answered": all_values.unanswered[at] == 0} if answers else {}
    if layout == "wide":
        wide = {name: float_column(v) for (name, _), v in zip(all_values.asked, values, strict=True)}
        wide |= {name: pl.Series(marks) for name, marks in answered.items()}
        return Answer(keys, wide, table=index.key_table)
    metric = np.tile(np.arange(len(values)), len(at))
    undefined = np.isnan(all_values.value[:, at])
    long = metric_columns(all_values.asked, metric) | {"value": float_column(np.stack(values).T.ravel())}
    long["undefined"] = pl.Series(undefined.T.ravel())
    ranking = np.repeat(np.arange(len(at)), len(values))  # of each row of the result
    long |= {name: pl.Series(marks[ranking]) for name, marks in answered.items()}
    return Answer({name: rows[ranking] for name, rows in keys.items()}, long, table=index.key_table)


def schema(
    asked: Asked,
    options: EvaluateOptions,
    wide: Wide | None,
    call: Call | None = None,
    *,
    paired: bool = False,
    weighted: bool = False,
) -> dict[str, Any]:
    """Return the columns of averages that are not keys, and their types, before anything is read.

    Parameters
    ----------
    paired : whether two frames are compared, so that there is a column of unpaired queries.
    weighted : whether queries have weights, if there is no ``call`` that says so.
    """
    total = {"total_over": pl.String} if options.margins else {}
    if wide is not None:
        return total | wide.columns(asked, options.ci)
    metric = {"metric": pl.String, "k": pl.Int64, "average": pl.String}
    value = {"value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64}
    value |= UNANSWERED_COLUMN if call is not None and counts_answers(call) else {}
    value |= {"n_effective": pl.Float64} if weighted or (call is not None and weighs(call)) else {}
    if call is not None and not call.columns.query and any("calibrated" in metric.companions for _, metric in asked):
        value[CALIBRATED] = pl.Float64
    value |= ppi_columns(options) if call is not None and call.proxy is not None else {}
    value |= UNPAIRED_COLUMN if paired else {}
    return total | metric | value | ({} if options.ci is None else {"ci_low": pl.Float64, "ci_high": pl.Float64})


def ppi_columns(options: EvaluateOptions) -> dict[str, Any]:
    """Return the columns that prediction-powered means have beside others, and their types."""
    return PPI_COLUMNS | ({} if options.ci is None else PPI_ENDS)


def weighs(call: Call) -> bool:
    """Return True if averages have an effective sample size, because results, queries or rows have weights."""
    return call.conventions.propensity is not None or (call.columns.weight is not None and call.proxy is None)


def counts_answers(call: Call) -> bool:
    """Return True if queries without a row are counted: if systems are named, or there are separate judgments."""
    columns = call.columns
    return bool(columns.query) and (
        columns.system is not None or call.judgment_columns is not None or bool(columns.answered)
    )
