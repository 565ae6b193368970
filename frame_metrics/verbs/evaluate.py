"""The verbs evaluate and per_query: metrics averaged over queries, or of pooled rows, and of each query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.errors import NotComputableError, check_choice, check_key_names
from frame_metrics.inputs import Array, Lists
from frame_metrics.keys.groups import groups_of
from frame_metrics.measuring import rows as pooled_rows
from frame_metrics.measuring import saved_values
from frame_metrics.measuring.decided import cases_read
from frame_metrics.measuring.on_cluster import distributed_answer
from frame_metrics.measuring.pieces import Measuring, work_of
from frame_metrics.measuring.proxies import check_means, ppi_means
from frame_metrics.measuring.results import (
    ANSWERED_COLUMN,
    PER_QUERY_COLUMNS,
    Averaged,
    EvaluateOptions,
    Wide,
    averaged,
    counts_answers,
    ends_around_value,
    query_rows,
    schema,
    tidied,
    weighs,
)
from frame_metrics.measuring.row_ends import ends_of_rows, of_areas
from frame_metrics.measuring.values_of_source import planned, values_of_source
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.metrics.shares import are_row_shares
from frame_metrics.plan.call import Call, bind
from frame_metrics.plan.checks import Layout, check_asked, check_margins, check_wide
from frame_metrics.plan.declared import EVALUATE, PER_QUERY
from frame_metrics.plan.needs import Needs, needs_of
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import InPieces, Source, answer_of
from frame_metrics.plan.verb import check_options
from frame_metrics.stats.averages import averages_of

OTHER_COLUMNS = ("total_over", "average", "n", "n_unanswered")  # columns beside those of metrics in a wide result


def evaluate(plan: Plan, metrics: Sequence[Metrics], options: EvaluateOptions) -> Any:
    """Implement ``irm.evaluate``, whose docstring has the parameters."""
    if plan.has_saved_numbers:
        return _of_values(plan, metrics, options)
    asked = read(metrics)
    # As text, since a list of averages has no hash; resamples= and seed= change neither checks nor columns.
    key = (*asked, repr((options.average, options.margins, options.layout, options.method, options.ci)))
    call, wide = plan.cached(key, lambda: _checked(plan, asked, options))

    def compute(source: Source) -> Answer:
        if not call.columns.query:
            # ``only_correctness`` is called only if there are too many classes for a table, and returns whether the
            # metrics do without it.
            only_correctness = partial(are_row_shares, asked)
            return _of_rows(cases_read(source, only_correctness=only_correctness), asked, options, wide)
        if call.proxy is not None:
            return ppi_means(source, asked, options)
        # Intervals draw single queries, so that sums over queries do not suffice.
        measured = values_of_source(
            source, asked, options.averages, queries=options.ci is not None, totals=options.margins
        )
        return averaged(measured, options, wide, counts_unanswered=counts_answers(call))

    return answer_of(call, compute, lambda types: schema(asked, options, wide, call), keys=call.columns.cell_keys)


def _checked(plan: Plan, asked: Asked, options: EvaluateOptions) -> tuple[Call, Wide | None]:
    """Return the call for some metrics, and the columns of a wide result; raise for what cannot be computed."""
    check_options(EVALUATE, options, plan)
    call = bind(plan, needs_of(plan, asked) | Needs(verb=EVALUATE))
    _check_intervals(asked, options, call)
    if call.columns.query:
        check_asked(asked, call, options.averages)
    else:
        pooled_rows.check_pooled(asked, options.averages)
        pooled_rows.check_delong(asked, call, options.method)
    if call.proxy is not None:
        check_means(asked, call, options)
    check_margins(options.margins, call)
    if options.layout != "wide":
        return call, None
    wide = _wide(asked, options, call)
    check_wide([name for name, _ in wide.of_metrics(asked, options.ci)], call.columns)
    return call, wide


def _of_values(plan: Plan, metrics: Sequence[Metrics], options: EvaluateOptions) -> Any:
    """Implement ``irm.evaluate`` for saved numbers; if ``metrics`` is empty, for all metrics that they are of."""
    check_options(EVALUATE, options, plan)
    call, named = planned(plan, metrics, Needs(verb=EVALUATE))
    check_margins(options.margins, call)

    def wide_of(asked: Asked) -> Wide | None:
        saved_values.check_averages_of_saved(asked, options.averages, call.columns)
        wide = _wide(asked, options, call) if options.layout == "wide" else None
        if wide is not None:
            check_wide([name for name, _ in wide.of_metrics(asked, options.ci)], call.columns, OTHER_COLUMNS)
        return wide

    wide = wide_of(named or ())

    def compute(source: Source) -> Answer:
        measured = values_of_source(source, named, options.averages, queries=options.ci is not None)
        wide_of_all = wide if named else wide_of(measured.asked)
        return averaged(measured, options, wide_of_all, counts_unanswered=counts_answers(call))

    def types(_: dict[str, Any]) -> dict[str, Any]:
        saved_values.check_layout(named, options.layout)
        return schema(named or (), options, wide, call)

    return answer_of(call, compute, types, keys=call.columns.cell_keys)


def _of_rows(cases: Cases, asked: Asked, options: EvaluateOptions, wide: Wide | None) -> Answer:
    """Compute metrics of pooled rows: a row for each segment and metric; with ``wide`` a row for each segment."""
    pooled_rows.check_cases(asked, cases, options.averages, options)
    groups = groups_of(cases.cells, options.margins)
    metric_of_value, wanted = pooled_rows.averages_of_rows(asked, options.averages, binary=cases.binary)
    areas = of_areas(cases, wanted, options)
    tables: list[dict[str, Array]] = []
    for segments in groups.each:
        inputs = pooled_rows.inputs_of(cases, segments, [metric for _, metric in asked], with_intervals=bool(areas))
        values = [pooled_rows.one_metric(inputs, *one) for one in wanted]
        n, n_undefined = np.tile(segments.n, (len(wanted), 1)), np.stack([one.n_undefined for one in values])
        value = np.where(n, [one.value for one in values], np.nan)
        tables.append({"value": value, "n": n, "n_undefined": n_undefined})
        if cases.weighted:
            tables[-1]["n_effective"] = np.tile(pooled_rows.effective_rows(inputs), (len(wanted), 1))
        if any("calibrated" in metric.companions for _, metric in asked):
            tables[-1]["if_calibrated"] = np.stack(
                [pooled_rows.if_calibrated(inputs, metric) for _, metric, _ in wanted]
            )
        if options.ci is not None:
            tables[-1] |= ends_around_value(ends_of_rows(inputs, wanted, value, areas, options), value)
    each = Averaged(
        asked, metric_of_value, [average for _, _, average in wanted], tables, [segments.n for segments in groups.each]
    )
    return tidied(each, options, groups, wide)


def _check_intervals(asked: Asked, options: EvaluateOptions, call: Call) -> None:
    """Raise if no metric has an interval, or if one has none beside a machine; else its ends are null."""
    in_clusters = call.columns.cluster is not None and not call.columns.query
    each = [pooled_rows.without_interval(*one, in_clusters=in_clusters) for one in asked if options.ci is not None]
    if any(each) and (all(each) or call.proxy is not None):
        raise NotComputableError(next(filter(None, each)))


def _wide(asked: Asked, options: EvaluateOptions, call: Call) -> Wide:
    """Return the columns of a wide result. The call determines them, as a lazy frame has to know its schema."""
    averages = options.averages
    if not call.columns.query:
        has_average_column = options.averages_given_as_list or pooled_rows.one_average(asked, averages[0], call)
        return Wide(has_average_column, weighs(call), [False] * len(asked), counts_unanswered=False, calibrated=True)
    weighted, conventions = call.columns.weight is not None, call.conventions
    metrics_over_queries = [metric for _, metric in asked if metric.input is not Lists]
    # None stands for metrics of sets of lists, which have no average.
    averages_shown = {None} if len(metrics_over_queries) < len(asked) else set[str | None]()
    averages_shown |= {
        average for metric in metrics_over_queries for average in averages_of(metric, averages, weighted=weighted)
    }
    has_n_column = []
    for _, metric in asked:
        is_pooled = set(averages) == {"micro"} and metric.of_table and not metric.average
        leaves_out = conventions.undefined != "raise" and conventions.fill(metric) is None
        has_n_column.append(leaves_out and not is_pooled)
    # Without a list each row has all metrics, so that the column can name an average only if all have the same.
    has_average_column = options.averages_given_as_list or len(averages_shown) == 1
    return Wide(has_average_column, weighs(call), has_n_column, counts_answers(call))


def per_query(plan: Plan, metrics: Sequence[Metrics], *, layout: Layout) -> Any:
    """Implement ``irm.per_query``, whose docstring has the parameters."""
    check_choice("layout", layout, get_args(Layout))
    call, asked = planned(plan, metrics, Needs(verb=PER_QUERY))
    if layout == "long":
        check_key_names(call.columns.keys, (*PER_QUERY_COLUMNS, *ANSWERED_COLUMN))
    elif not call.has_saved_numbers:
        check_wide([*(name for name, _ in asked or ()), *ANSWERED_COLUMN], call.columns)

    def compute(source: Source) -> Answer:
        if isinstance(source, InPieces) and source.pieces.distributes:
            finish = partial(query_rows, layout=layout, answers=True)
            if call.has_saved_numbers:
                return saved_values.per_query_of(source, asked, finish)
            return distributed_answer(work_of(Measuring, source, asked or (), (None,)), source, finish)
        measured = values_of_source(source, asked)
        if layout == "wide" and call.has_saved_numbers:
            check_wide([*(name for name, _ in measured.asked), *ANSWERED_COLUMN], call.columns, ())
        return query_rows(measured, layout, answers=True)

    def types(_: dict[str, Any]) -> dict[str, Any]:
        saved_values.check_layout(asked, layout)
        columns = {name: pl.Float64 for name, _ in asked or ()} if layout == "wide" else PER_QUERY_COLUMNS
        return columns | ANSWERED_COLUMN

    return answer_of(call, compute, types, keys=call.columns.keys)
