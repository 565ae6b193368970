"""Numbers that were computed elsewhere (``value=``), one per query and metric, which verbs average and compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from frame_metrics.data.values import read_values
from frame_metrics.errors import BadValueError, NotComputableError, UnknownNameError, listed, said, shown
from frame_metrics.inputs import Array
from frame_metrics.measuring.queries import said_of
from frame_metrics.measuring.values import Values, without
from frame_metrics.metrics.elsewhere import metric_of, read_elsewhere
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, Metrics
from frame_metrics.plan.checks import check_average
from frame_metrics.plan.source import Source, check_shared
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.series import TEXTS, refuse
from frame_metrics.stats.averages import Averages

LISTED = 20  # names that an error lists


def asked_of(metrics: Sequence[Metrics], columns: Columns) -> Asked | None:
    """Return the metrics to compute: those asked for, else all that the columns have.

    None for all if a column "metric" names them, so that they are known only when it is read.
    """
    asked = unfilled(read_elsewhere(metrics)) if metrics else None
    if columns.metric:
        return asked
    held = _of_columns(columns.value)
    places(asked or held, held, "value=")
    return asked or held


def unfilled(asked: Asked) -> Asked:
    """Return metrics without a substitute for undefined values: it was chosen where the numbers were computed."""
    return [(name, replace(metric, undefined=None)) for name, metric in asked]


def _of_columns(names: Sequence[str]) -> Asked:
    """Return the metrics that the names of columns stand for; raise if two stand for one metric."""
    held = unfilled([(name, metric_of(name)) for name in names])
    for i, (name, metric) in enumerate(held):
        for other, before in held[:i]:
            if metric == before:
                raise BadValueError(
                    f"the columns {shown(other)} and {shown(name)} are one metric, {metric}; leave one out"
                )
    return held


def places(asked: Asked, held: Asked, where: str) -> list[int]:
    """Return the position in ``held`` of each metric that is asked for; two names of one metric are equal.

    ``where``: the option or column with the numbers, for the error.
    """
    known = {str(metric): i for i, (_, metric) in enumerate(held)}
    found = []
    for name, metric in asked:
        at = known.get(str(metric), known.get(str(replace(metric, average=None))))
        if at is None:
            names = [text for text, _ in held]
            more = ", ..." if len(names) > LISTED else ""
            raise UnknownNameError(f"{where} has no numbers of {shown(name)}; it has {listed(names[:LISTED])}{more}")
        found.append(at)
    return found


def check_layout(asked: Asked | None, layout: str) -> None:
    """Raise for a wide result of a lazy frame, if its columns are not known before it runs."""
    if asked is None and layout == "wide":
        raise NotComputableError(
            "layout='wide' has a column per metric, and which there are is not known before a lazy frame is collected; "
            "name the metrics, or pass layout='long'"
        )


def check_averages(asked: Asked, averages: Averages, columns: Columns) -> None:
    """Raise for averages that the numbers of queries do not determine: "micro" (unless of sums) and "rows"."""
    for average in averages:
        check_average(average, f"average={average!r}", columns)
    for name, metric in asked:
        check_average(metric.average, name, columns)
        for average in (metric.average,) if metric.average else averages:
            if average == "rows" or (average == "micro" and not metric.summed):
                what = "rows of a query" if average == "rows" else "counts of its 2x2 table"
                raise NotComputableError(
                    f"{name}: average={average!r} needs the {what}, and value= has its number only"
                )


def measured(source: Source, asked: Asked | None, *, audited: bool = False) -> Values:
    """Read numbers as the values of metrics.

    Parameters
    ----------
    source : the rows.
    asked : the metrics; None for all that there are.
    audited : whether faults of the whole frame are left to the audit: a system that shares no query with others, and
        a frame without rows.
    """
    columns, where = source.call.columns, "value="
    held, code = _of_columns(columns.value), None
    if columns.metric:
        held, code = _of_rows(source.table, columns)
        where = columns.metric
    if not held and not audited:
        raise BadValueError(f"{where}: the frame has no rows, and so no metrics")
    at = places(held if asked is None else asked, held, where)
    log, values, absent = read_values(source.table, columns, source.call.conventions, code, len(held))
    if not audited:
        check_shared(log.index)
    asked, every, answered = held if asked is None else asked, np.ones(values.shape[1], bool), log.answered
    found = Values(log.index, asked, values[at], every, ~answered, absent=absent[at], **said_of(log))
    if source.call.conventions.unanswered == "drop":
        return replace(without(found, ~answered), evaluated=answered)
    return found


def _of_rows(table: pl.DataFrame, columns: Columns) -> tuple[Asked, Array]:
    """Return the metrics that the column of metrics names, by first appearance, and the number of each row's metric."""
    column, text = str(columns.metric), table[str(columns.metric)]
    if not isinstance(text.dtype, (*TEXTS, pl.Null)):
        raise BadValueError(f"{column}: a metric is a text, and this column is {said(text.dtype)}; rename it")
    refuse(column, text.is_null(), "have no metric", "drop them, or give them one")
    text = text.cast(pl.String)
    names = text.unique(maintain_order=True).to_list()
    read_as = {name: metric_of(name) for name in names}
    _check_cutoffs(text, table, columns, read_as)
    held: dict[Metric, tuple[str, Metric]] = {}
    for name, metric in read_as.items():
        held.setdefault(metric, (name, metric))
    number = {metric: i for i, metric in enumerate(held)}
    code = text.replace_strict(names, [number[read_as[name]] for name in names], return_dtype=pl.Int64)
    return unfilled(list(held.values())), code.to_numpy()


def named_in(rows: pl.DataFrame, columns: Columns) -> Asked | None:
    """Return the metrics that the column of metrics names, without checks of the other columns; None for none."""
    names = rows[str(columns.metric)].drop_nulls().unique(maintain_order=True).cast(pl.String)
    return [(name, metric_of(name)) for name in names] or None


def _check_cutoffs(text: pl.Series, table: pl.DataFrame, columns: Columns, read_as: dict[str, Metric]) -> None:
    """Raise if the column of cutoffs differs from the cutoff in a metric's name, such as "ndcg" beside 10.

    Otherwise numbers with two cutoffs would count as one metric.
    """
    if columns.k is None or not (table[columns.k].dtype.is_numeric() or isinstance(table[columns.k].dtype, TEXTS)):
        return
    k = table[columns.k]
    k = k.cast(pl.String).str.strip_chars() if isinstance(k.dtype, TEXTS) else k
    pairs = pl.DataFrame({"metric": text, "k": k.cast(pl.Float64, strict=False)}).unique(maintain_order=True)
    for name, given in pairs.drop_nulls().filter(pl.col("k").is_not_nan()).rows():
        own = read_as[name].k
        if own != given:
            if given < 1 or given != given // 1:
                what = "which is no cutoff;"
            elif own is None:
                what = f"which it does not say; write it in the name, as '{name}@{given:g}', or"
            else:
                what = "another cutoff; correct one of them, or"
            where = f"{shown(name)} stands beside {columns.k} = {given:g}"
            raise BadValueError(f"{columns.metric}: {where}, {what} rename the column {columns.k!r}")
