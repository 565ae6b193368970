"""The verb per_class: metrics of each class against the rest, and their averages over classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.errors import NotComputableError, check_choice, check_key_names, listed
from frame_metrics.inputs import Array, FullScores
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups, segments_of
from frame_metrics.measuring import rows as pooled_rows
from frame_metrics.measuring.decided import cases_read, in_caller_type, type_of_classes
from frame_metrics.measuring.each_class import check_each_class
from frame_metrics.measuring.resampled_rows import RowDraws
from frame_metrics.measuring.results import (
    ENDS,
    WIDE_SUFFIXES,
    EvaluateOptions,
    IntervalOptions,
    ends_around_value,
    float_column,
    integer_column,
    metric_columns,
)
from frame_metrics.measuring.row_ends import ends_of_rows
from frame_metrics.measuring.row_tables import ends_by_formula
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.plan.call import bind
from frame_metrics.plan.checks import Layout, check_averages, check_wide
from frame_metrics.plan.declared import PER_CLASS
from frame_metrics.plan.needs import Needs, needs_of
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.stats.averages import Averages


@dataclass(frozen=True, kw_only=True)
class PerClassOptions(IntervalOptions):
    """Options of ``per_class``, which documents them."""

    average: Any = None
    layout: str = "long"

    def __post_init__(self) -> None:
        """Raise for values that the options cannot have; nothing is read."""
        check_choice("layout", self.layout, get_args(Layout))
        super().__post_init__()


def per_class(plan: Plan, metrics: Sequence[Metrics], options: PerClassOptions) -> Any:
    """Implement ``irm.per_class``, whose docstring has the parameters."""
    averages = [] if options.average is None else check_averages(options.average)
    layout, ci = options.layout, options.ci
    over = get_args(pooled_rows.OverClasses)
    for one in averages:
        if one not in over:
            raise NotComputableError(f"average={one!r} is over queries; over classes there are {listed(over)}")
    asked = read(metrics)
    decides = plan.roles.get("threshold") is not None  # then scores are needed, whatever the metrics
    call = bind(plan, needs_of(plan, asked) | Needs(score=decides, verb=PER_CLASS))
    pooled_rows.check_pooled(asked)
    pooled_rows.check_biased(asked, ci)
    # The columns of the result, in the long and in the wide layout.
    amount = pl.Float64 if call.columns.weight else pl.Int64
    average = {"average": pl.String} if averages else {}
    columns = {"metric": pl.String, "value": pl.Float64, "support": amount, "n": pl.Int64, "n_undefined": pl.Int64}
    columns |= {} if ci is None else dict.fromkeys(ENDS, pl.Float64)
    if layout == "wide":
        columns = {"support": amount, "n": pl.Int64}
        ends = ("",) if ci is None else ("", *(WIDE_SUFFIXES[end] for end in ENDS))
        wide = [name + end for name, _ in asked for end in ends]
        check_wide(wide, call.columns, ("class", *average, *columns))
        columns |= dict.fromkeys(wide, pl.Float64)
    columns = average | columns
    check_key_names(call.columns.keys, ("class", *columns))

    def compute(source: Source) -> Answer:
        lines = _by_class(cases_read(source, named=True), asked, averages, options)
        return in_caller_type(_answer(lines, asked, ["class", *columns], layout), source)

    return answer_of(
        call,
        compute,
        lambda types: {"class": type_of_classes(types, call)} | columns,
        keys=call.columns.cell_keys,
    )


@record
class Lines:
    """The values of metrics by line; the lines of a segment are its classes, then the averages over classes."""

    cases: Cases
    segments: CellGroups
    averages: list[str]
    value: Array  # NaN for null, shape (metrics, lines, segments)
    undefined: Array  # how often the metric was undefined, of the same shape
    in_result: Array  # whether the result has the value (a class may not be in a segment), of the same shape
    support: Array  # number of rows of the class, for an average of all classes, shape (lines, segments)
    ends: dict[str, Array]  # with ci=: the ends of the intervals, by name, in the shape of ``value``


def _by_class(cases: Cases, asked: Asked, averages: Averages, options: PerClassOptions) -> Lines:
    """Compute metrics for each class, and the averages over classes."""
    pooled_rows.check_cases(asked, cases, ())
    check_each_class(asked, cases)
    inputs = pooled_rows.inputs_of(cases, segments_of(cases.cells), [metric for _, metric in asked])
    several = replace(inputs, cases=replace(cases, binary=False))  # so that two classes are averaged like several
    if averages:
        pooled_rows.check_cases(asked, several.cases, averages)
    # Arrays of all values: the lines of a segment are its classes, then the averages that were asked for.
    of, wanted = pooled_rows.averages_of_rows(asked, averages, binary=False)
    ordered = list(dict.fromkeys(sorted((one for _, _, one in wanted), key=[*averages, "sum", "pooled"].index)))
    shape = len(asked), cases.k + len(ordered), len(inputs.segments)
    value, undefined, there = (np.full(shape, empty) for empty in (np.nan, 0, False))
    some = inputs.segments.n > 0
    for i, (name, metric) in enumerate(asked):
        raw, read_by = (
            pooled_rows.each_class(inputs, metric),
            inputs.by_class if metric.input is FullScores else inputs.table,
        )
        seen = np.zeros(raw.shape, bool) if read_by is None else read_by.seen.T
        value[i, : cases.k] = cases.conventions.filled(name, metric, raw, seen)
        undefined[i, : cases.k], there[i, : cases.k] = np.isnan(raw) & some, seen | ~some
        value[i, : cases.k, ~some] = np.nan
    # Averages over classes follow the classes.
    for i, one in zip(of, wanted, strict=True):
        own, line = pooled_rows.one_metric(several, *one), cases.k + ordered.index(one[2])
        value[i, line] = np.where(some, own.value, np.nan)
        undefined[i, line], there[i, line] = own.n_undefined, True
    support = _support(inputs).T
    every = np.tile(support.sum(axis=0), (len(ordered), 1))
    # Intervals: of each class by shares or draws, of averages by draws.
    ends = np.full((2, *shape), np.nan)
    if options.ci is not None:
        ends[:, :, : cases.k] = _ends_of_classes(inputs, asked, value[:, : cases.k], options)
        over = EvaluateOptions(ci=options.ci, resamples=options.resamples, seed=options.seed)
        lines = [cases.k + ordered.index(one[2]) for one in wanted]
        for i, line, found in zip(of, lines, _over_classes(several, wanted, value[of, lines], over), strict=True):
            ends[:, i, line] = found
    both = {} if options.ci is None else ends_around_value(ends, value)
    return Lines(cases, inputs.segments, ordered, value, undefined, there, np.concatenate([support, every]), both)


def _over_classes(
    inputs: pooled_rows.Inputs, wanted: Sequence[pooled_rows.Wanted], value: Array, options: EvaluateOptions
) -> Array:
    """Return the ends of the intervals of averages over classes, shape (averages, 2, segments)."""
    return ends_of_rows(inputs, wanted, value, {}, options).transpose(1, 0, 2) if wanted else np.zeros((0, 2, 0))


def _ends_of_classes(inputs: pooled_rows.Inputs, asked: Asked, value: Array, options: PerClassOptions) -> Array:
    """Return the ends of the intervals of metrics of each class: by a formula for shares, else by draws of rows.

    ``value``: shape (metrics, K, segments). The ends have the shape (2, metrics, K, segments).
    """
    ends, drawn = np.full((2, *value.shape), np.nan), {}
    for i, (_, metric) in enumerate(asked):
        each = [ends_by_formula(inputs, metric, None, own, float(options.ci or 0), c) for c, own in enumerate(value[i])]
        if all(one is not None for one in each):
            ends[:, i] = np.array(each).transpose(1, 0, 2).reshape(ends[:, i].shape)
        else:
            drawn[i] = metric
    rows = RowDraws(inputs, options.resamples, options.seed)
    for (i, g), found in rows.ends_of_classes(drawn, float(options.ci or 0)).items():
        ends[:, i, :, g] = found
    return ends


def _support(inputs: pooled_rows.Inputs) -> Array:
    """Return the number of rows of each class, shape (segments, K)."""
    if inputs.table is not None:
        return inputs.table.actual
    nothing = np.zeros((len(inputs.segments), inputs.cases.k))
    return nothing if inputs.by_class is None else inputs.by_class.support


def _answer(lines: Lines, asked: Asked, names: Sequence[str], layout: str) -> Answer:
    """Return the answer: a row for each segment, line and metric; in the wide layout for each segment and line."""
    classes = lines.cases.classes
    there = lines.in_result.transpose(2, 1, 0)  # segments, lines, metrics
    at = np.nonzero(there if layout == "long" else there.any(axis=2))
    segment, line = at[0], at[1]
    support, place = lines.support[line, segment], pl.Series(line)
    columns = {
        "class": classes.gather(place.set(place >= len(classes), None)),
        "average": pl.Series(lines.averages, dtype=pl.String).gather(_from(place, len(classes))),
        "support": float_column(support) if lines.cases.weighted else integer_column(support),
        "n": integer_column(lines.segments.n[segment]),
    }
    if layout == "long":
        columns["metric"] = metric_columns(asked, at[2])["metric"]
        columns["value"] = float_column(lines.value[at[2], line, segment])
        columns["n_undefined"] = integer_column(lines.undefined[at[2], line, segment])
        columns |= {name: float_column(own[at[2], line, segment]) for name, own in lines.ends.items()}
    else:
        for name, each in {"value": lines.value, **lines.ends}.items():
            values = np.where(lines.in_result, each, np.nan)
            columns |= {
                f"{one}{WIDE_SUFFIXES[name]}": float_column(own[line, segment])
                for (one, _), own in zip(asked, values, strict=True)
            }
    return Answer(
        lines.segments.key_rows(segment), {name: columns[name] for name in names}, table=lines.cases.cells.key_table
    )


def _from(place: pl.Series, first: int) -> pl.Series:
    """Return positions less ``first``, null for those before it."""
    return (place - first).set(place < first, None)
