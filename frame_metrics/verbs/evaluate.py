"""The verbs evaluate and per_query: metrics of queries, averaged over them or one by one, or of pooled rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    NotComputableError,
    UnknownNameError,
    check_apart,
    check_bool,
    check_choice,
    check_level,
    check_whole,
    did_you_mean,
)
from frame_metrics.inputs import Confusion
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.roles.needs import Needs
from frame_metrics.stats.averages import Averages, averages_of
from frame_metrics.stats.quantiles import level_of
from frame_metrics.verbs import pooled, values
from frame_metrics.verbs.counted import cases_read
from frame_metrics.verbs.measure import check_asked
from frame_metrics.verbs.pieces import measured_of
from frame_metrics.verbs.request import Plan, Reading, Request, check_wide
from frame_metrics.verbs.tidy import Options, Wide, averaged, each_query, schema

Named = Literal["macro", "weighted", "micro", "gmean", "median", "min", "max", "rows", "predicted"]
# Every level is read; these are known to type checkers, which could not tell a misspelt average from any text.
Low = Literal["q0.01", "q0.05", "q0.1", "q0.2", "q0.25", "q0.3", "q0.4", "q0.5"]
High = Literal["q0.6", "q0.7", "q0.75", "q0.8", "q0.9", "q0.95", "q0.99"]
Average = Named | Low | High
Layout = Literal["long", "wide"]
Interval = Literal["delong", "bootstrap"]


LONG = {"metric": pl.String, "k": pl.Int64, "value": pl.Float64, "undefined": pl.Boolean}  # what per_query() returns
BESIDE = ("total_over", "average", "n")  # columns beside those of metrics in a wide result


def evaluate(request: Request, metrics: Sequence[Metrics], options: Options) -> Any:
    """Answer ``irm.evaluate``, which has the parameters."""
    layout, margins, ci = options.layout, options.margins, options.ci is not None
    check_averages(options.average)
    check_choice("layout", layout, get_args(Layout))
    _check_interval(options)
    if request.of_values:
        return _of_values(request, metrics, options)
    asked = read(metrics)
    plan = request.plan(request.needs(asked))
    if plan.columns.query:
        check_asked(asked, plan, options.averages)
        if options.method == "delong":
            raise NotComputableError("method='delong' is for rows without a query, and these are averaged over queries")
    else:
        pooled.check_pooled(asked, options.averages)
        pooled.check_delong(asked, plan, options.method)
    _check_margins(margins, plan)
    wide = _wide(asked, options, plan) if layout == "wide" else None
    if wide is not None:
        check_wide([name for name, _ in wide.of_metrics(asked, options.ci)], plan.columns)

    def compute(reading: Reading) -> Answer:
        if not plan.columns.query:
            return pooled.evaluated(cases_read(reading), asked, options, wide)
        # What is drawn is drawn in the order of the queries' names.
        measured = measured_of(reading, asked, options.averages, queries=ci, totals=margins)
        return averaged(measured, options, wide)

    return plan.answer_of_segments(compute, lambda types: schema(asked, options, wide), in_pieces=True)


def _of_values(request: Request, metrics: Sequence[Metrics], options: Options) -> Any:
    """Average numbers that were computed elsewhere; without names, of all metrics that there are."""
    plan = values.plan_of(request)
    named = values.asked_of(metrics, plan.columns)
    _check_margins(options.margins, plan)
    if options.method == "delong":
        raise NotComputableError("method='delong' is for rows without a query, and these are averaged over queries")

    def wide_of(asked: Asked) -> Wide | None:
        values.check_averages(asked, options.averages, plan.columns)
        wide = _wide(asked, options, plan) if options.layout == "wide" else None
        if wide is not None:
            check_wide([name for name, _ in wide.of_metrics(asked, options.ci)], plan.columns, BESIDE)
        return wide

    wide = wide_of(named or ())

    def compute(reading: Reading) -> Answer:
        measured = values.measured(reading, named)
        return averaged(measured, options, wide if named else wide_of(measured.asked))

    def types(_: dict[str, Any]) -> dict[str, Any]:
        values.check_layout(named, options.layout)
        return schema(named or (), options, wide)

    return plan.answer_of_segments(compute, types)


def _check_margins(margins: bool, plan: Plan) -> None:
    """Raise for totals over no segments."""
    check_bool("margins", margins)
    if margins and not plan.columns.by:
        raise ColumnError("margins=True adds the totals over segments; name the segments with by=")


def check_averages(average: Any) -> Averages:
    """Return the averages that are asked for; raise for what is none, and for one that is asked for twice."""
    several = isinstance(average, list | tuple)
    averages = list(average) if several else [average]
    if not averages:
        raise BadValueError("average=[] names no average; name one, or say average=None")
    for one in averages:
        if averages.count(one) > 1:
            raise BadValueError(f"average={one!r} is asked for twice")
        if one == "mean":
            raise UnknownNameError(
                "average='mean' is called 'macro', or 'weighted' where queries or classes have weights"
            )
        if isinstance(one, str) and (percentile := re.fullmatch(r"[pP](\d*\.?\d+)", one)):
            raise UnknownNameError(f"average={one!r} is the name of no average{_quantile(float(percentile[1]))}")
        quantile = isinstance(one, str) and level_of(one) is not None
        if isinstance(one, str) and one.startswith("q") and not quantile:
            raise BadValueError(f"average={one!r} is no quantile from q0 to q1, as q0.9")
        if not quantile and (one is not None or several):
            check_choice("average", one, (*get_args(Named), "q0.9"))
    return averages


def _quantile(percent: float) -> str:
    """A hint that names the quantile of a percentile, as of 95 or, of what is no percent, .95."""
    level = percent / 100 if percent >= 1 else percent
    return did_you_mean(f"q{level:g}") if level <= 1 else "; a quantile is from q0 to q1, as q0.9"


def _check_interval(options: Options) -> None:
    """Raise for options that no interval has."""
    if options.ci is not None:
        check_level(options.ci)
    check_whole("resamples", options.resamples, 1)
    check_whole("seed", options.seed, 0)
    if options.method is not None:
        check_choice("method", options.method, get_args(Interval))
        if options.ci is None:
            raise BadValueError(f"method={options.method!r} is that of an interval; say ci=0.95 too")


def _wide(asked: Asked, options: Options, plan: Plan) -> Wide:
    """Return what a wide row says of its metrics, which depends on what is asked and not on the data."""
    averages = options.averages
    if not plan.columns.query:
        one = options.several or pooled.one_average(asked, averages[0], plan)
        return Wide(one, [False] * len(asked))
    weighted, conventions = plan.columns.weight is not None, plan.conventions
    own = {average for _, metric in asked for average in averages_of(metric, averages, weighted=weighted)}
    counted = []
    for _, metric in asked:
        pools = set(averages) == {"micro"} and metric.input is Confusion and not metric.average
        counted.append(not pools and conventions.undefined != "raise" and conventions.fill(metric) is None)
    return Wide(options.several or len(own) == 1, counted)


def per_query(request: Request, metrics: Sequence[Metrics], *, layout: Layout) -> Any:
    """Answer ``irm.per_query``, which has the parameters."""
    check_choice("layout", layout, get_args(Layout))
    if request.of_values:
        return _each_value(request, metrics, layout)
    asked = read(metrics)
    plan = request.plan(request.needs(asked) | Needs(query=True))
    check_asked(asked, plan)
    if layout == "wide":
        check_wide([name for name, _ in asked], plan.columns)
    else:
        check_apart(plan.columns.keys, LONG)
    columns = _columns(asked, layout)
    return plan.answer_of_segments(
        lambda reading: each_query(measured_of(reading, asked), layout),
        lambda types: columns,
        plan.columns.keys,
        in_pieces=True,
    )


def _columns(asked: Asked, layout: Layout) -> dict[str, Any]:
    """The columns of values beside the keys, and their types."""
    return {name: pl.Float64 for name, _ in asked} if layout == "wide" else LONG


def _each_value(request: Request, metrics: Sequence[Metrics], layout: Layout) -> Any:
    """Return numbers that were computed elsewhere as they are."""
    plan = values.plan_of(request)
    named = values.asked_of(metrics, plan.columns)
    if layout == "long":
        check_apart(plan.columns.keys, LONG)

    def compute(reading: Reading) -> Answer:
        measured = values.measured(reading, named)
        if layout == "wide":
            check_wide([name for name, _ in measured.asked], plan.columns, ())
        return each_query(measured, layout)

    def types(_: dict[str, Any]) -> dict[str, Any]:
        values.check_layout(named, layout)
        return _columns(named or (), layout)

    return plan.answer_of_segments(compute, types, plan.columns.keys)
