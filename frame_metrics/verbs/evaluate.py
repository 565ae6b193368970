"""The verbs evaluate and per_query: metrics of queries, averaged over them or one by one, or of pooled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, check_choice, check_level, check_whole
from frame_metrics.inputs import Confusion
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, read
from frame_metrics.roles.needs import Needs
from frame_metrics.stats.averages import average_of
from frame_metrics.verbs import pooled
from frame_metrics.verbs.measure import check_asked, measure
from frame_metrics.verbs.request import Plan, Reading, Request, check_wide
from frame_metrics.verbs.tidy import Options, Wide, averaged, each_query, schema

Average = Literal["macro", "weighted", "micro", "gmean", "predicted"]
Layout = Literal["long", "wide"]
Interval = Literal["delong", "bootstrap"]


def evaluate(request: Request, metrics: Sequence[str | Metric], options: Options) -> Any:
    """Answer ``irm.evaluate``, which has the parameters."""
    average, layout, margins, ci = options.average, options.layout, options.margins, options.ci is not None
    if average is not None:
        check_choice("average", average, get_args(Average))
    check_choice("layout", layout, get_args(Layout))
    _check_interval(options)
    asked = read(metrics)
    plan = request.plan(request.needs(asked))
    if plan.columns.query:
        check_asked(asked, plan, average)
        if options.method == "delong":
            raise NotComputableError("method='delong' is for rows without a query, and these are averaged over queries")
    else:
        pooled.check_pooled(asked, average)
        pooled.check_delong(asked, plan, options.method)
    if not isinstance(margins, bool):
        raise BadValueError(f"margins={margins!r} is not True or False")
    if margins and not plan.columns.by:
        raise ColumnError("margins=True adds the totals over segments; name the segments with by=")
    wide = _wide(asked, average, plan) if layout == "wide" else None
    if wide is not None:
        check_wide([name for name, _ in wide.of_metrics(asked, options.ci)], plan.columns)

    def compute(reading: Reading) -> Answer:
        if not plan.columns.query:
            return pooled.evaluated(reading.cases(), asked, options, wide)
        log = reading.log(queries=ci, totals=margins)  # what is drawn is drawn in the order of the queries' names
        return averaged(measure(log, asked, average), options, wide)

    return plan.answer_of_segments(compute, lambda types: schema(asked, options, wide))


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


def _wide(asked: Asked, average: str | None, plan: Plan) -> Wide:
    """Return what a wide row says of its metrics, which depends on what is asked and not on the data."""
    if not plan.columns.query:
        return Wide(pooled.one_average(asked, average, plan), [False] * len(asked))
    weighted, conventions = plan.columns.weight is not None, plan.conventions
    averages, counted = set(), []
    for _, metric in asked:
        averages.add(average_of(metric, average, weighted=weighted))
        pools = average == "micro" and metric.input is Confusion and not metric.average
        counted.append(not pools and conventions.undefined != "raise" and conventions.fill(metric) is None)
    return Wide(len(averages) == 1, counted)


def per_query(request: Request, metrics: Sequence[str | Metric], *, layout: Layout) -> Any:
    """Answer ``irm.per_query``, which has the parameters."""
    check_choice("layout", layout, get_args(Layout))
    asked = read(metrics)
    plan = request.plan(request.needs(asked) | Needs(query=True))
    check_asked(asked, plan)
    if layout == "wide":
        check_wide([name for name, _ in asked], plan.columns)
    long = {"metric": pl.String, "k": pl.Int64, "value": pl.Float64}
    columns: dict[str, Any] = {name: pl.Float64 for name, _ in asked} if layout == "wide" else long
    return plan.answer_of_segments(
        lambda reading: each_query(measure(reading.log(), asked), layout), lambda types: columns, plan.columns.keys
    )
