"""Numbers that were computed elsewhere (``value=``), one per query and metric, which verbs average and compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.log import Log, WholeLogFacts
from frame_metrics.data.saved_numbers import read_saved_numbers
from frame_metrics.errors import BadValueError, NotComputableError, UnknownNameError, listed, quote, type_name
from frame_metrics.hidden import TIMES
from frame_metrics.inputs.records import record
from frame_metrics.keys.index import Index
from frame_metrics.keys.leading_zeros import check_leading_zeros_of_parts
from frame_metrics.measuring.all_pieces import measure_in_pieces
from frame_metrics.measuring.on_cluster import Finish, distributed_answer
from frame_metrics.measuring.pieces import OF_SAVED, Measuring, work_of
from frame_metrics.measuring.queries import role_values
from frame_metrics.measuring.sums import need_sums_alone, summed_rows, with_sums_of
from frame_metrics.measuring.values import Values, without_values_at
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, Metrics
from frame_metrics.metrics.saved_names import metric_of, read_elsewhere
from frame_metrics.plan.checks import check_average
from frame_metrics.plan.source import InPieces, Source, check_shared
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.series import TEXTS, refuse
from frame_metrics.stats.averages import Averages

MOST_LISTED = 20  # names that an error lists


def asked_of(metrics: Sequence[Metrics], columns: Columns) -> Asked | None:
    """Return the metrics to compute: those asked for, else all that the columns have.

    None for all if a column "metric" names them, so that they are known only when it is read.
    """
    asked = unfilled(read_elsewhere(metrics)) if metrics else None
    if columns.metric:
        return asked
    found = _of_columns(columns.value)
    positions_of_metrics(asked or found, found, "value=")
    return asked or found


def unfilled(asked: Asked) -> Asked:
    """Return metrics without a substitute for undefined values: whoever computed the numbers has chosen one."""
    return [(name, replace(metric, undefined=None)) for name, metric in asked]


def _of_columns(names: Sequence[str]) -> Asked:
    """Return the metrics that the names of columns stand for; raise if two stand for one metric."""
    metrics = unfilled([(name, metric_of(name)) for name in names])
    for i, (name, metric) in enumerate(metrics):
        for other, before in metrics[:i]:
            if metric == before:
                raise BadValueError(
                    f"the columns {quote(other)} and {quote(name)} are one metric, {metric}; leave one out"
                )
    return metrics


def positions_of_metrics(asked: Asked, available: Asked, where: str) -> list[int]:
    """Return the position in ``available`` of each metric that is asked for; two names of one metric are equal.

    ``where``: the option or column with the numbers, for the error.
    """
    known = {str(metric): i for i, (_, metric) in enumerate(available)}
    found = []
    for name, metric in asked:
        at = known.get(str(metric), known.get(str(replace(metric, average=None))))
        if at is None:
            names = [text for text, _ in available]
            more = ", ..." if len(names) > MOST_LISTED else ""
            raise UnknownNameError(
                f"{where} has no numbers of {quote(name)}; it has {listed(names[:MOST_LISTED])}{more}"
            )
        found.append(at)
    return found


def check_layout(asked: Asked | None, layout: str) -> None:
    """Raise for a wide result of a lazy frame, if its columns are not known before it runs."""
    if asked is None and layout == "wide":
        raise NotComputableError(
            "layout='wide' has a column per metric, and which there are is not known before a lazy frame is collected; "
            "name the metrics, or pass layout='long'"
        )


def check_averages_of_saved(asked: Asked, averages: Averages, columns: Columns) -> None:
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


def saved_values_of(
    source: Source,
    asked: Asked | None,
    averages: Averages = (None,),
    *,
    queries: bool = True,
    audited: bool = False,
) -> Values:
    """Read numbers as the values of metrics, or, in pieces, only their sums, if no single ranking is needed.

    Parameters
    ----------
    source : the rows, in memory or in pieces.
    asked : the metrics; None for all that there are.
    averages : the averages that will be needed.
    queries : whether single queries will be shown or resampled.
    audited : whether faults of the whole frame are left to the audit: a system that shares no query with others, and
        a frame without rows.
    """
    metrics, metric_of_text = _metrics_in(source)
    if not metrics and not audited:
        raise BadValueError(f"{_where(source.call.columns)}: the frame has no rows, and so no metrics")
    if isinstance(source, InPieces):
        wanted = metrics if asked is None else asked
        sums = not queries and need_sums_alone(source.call.conventions, wanted, averages)
        return measure_in_pieces(_work(source, metrics, metric_of_text, asked, averages, sums=sums), source)
    found = _read(source, len(metrics), metric_of_text)[1]
    if not audited:
        check_leading_zeros_of_parts(found.index, None)
        check_shared(found.index)
    return _choose_metrics(found, metrics, asked)


def per_query_of(source: InPieces, asked: Asked | None, finish: Finish) -> Answer:
    """Return an answer that is made of the numbers of single queries where the rows are; see ``distributed_answer``."""
    return distributed_answer(_work(source, *_metrics_in(source), asked), source, finish)


def _where(columns: Columns) -> str:
    """Return the option or the column that names the metrics, for errors."""
    return columns.metric or "value="


def _metrics_in(source: Source) -> tuple[Asked, dict[str, int] | None]:
    """Return all metrics of a frame, and the number of the metric that each text means, if a column names them."""
    columns = source.call.columns
    return _of_texts(source, columns) if columns.metric else (_of_columns(columns.value), None)


def _choose_metrics(found: Values, available: Asked, asked: Asked | None) -> Values:
    """Return the values of the metrics ``asked`` out of all that were read, ``available``; None for all."""
    wanted = available if asked is None else asked
    at = positions_of_metrics(wanted, available, _where(found.columns))
    saved: Any = {name: None if (values := getattr(found, name)) is None else values[at] for name in OF_SAVED}
    found = replace(found, asked=wanted, value=found.value[at], **saved)
    if found.conventions.unanswered == "drop":
        answered = found.index.answered
        return without_values_at(found, ~answered, evaluated=answered)
    return found


def _read(
    source: Source, n: int, metric_of_text: dict[str, int] | None, whole_log: WholeLogFacts | None = None
) -> tuple[Log, Values]:
    """Read the numbers of rows in memory, or of a piece.

    Parameters
    ----------
    source : the rows.
    n : number of metrics.
    metric_of_text : the number of the metric that each text means; None if each column of values is a metric.
    whole_log : see ``read_log``.
    """
    columns, code = source.call.columns, None
    if metric_of_text is not None:
        code = _texts(source.table, columns).replace_strict(metric_of_text, return_dtype=pl.Int64).to_numpy()
    log, values, without_value, fills = read_saved_numbers(
        source.table, columns, source.call.conventions, code, n, whole_log
    )
    evaluated = np.ones(values.shape[1], bool)  # all rankings; ``without_value`` says which have no number
    fields: Any = {"without_value": without_value, "fills": fills}
    return log, Values(log.index, [], values, evaluated, ~log.answered, **fields, **role_values(log))


@record
class Saved(Measuring):
    """The numbers of each ranking of a piece. Metrics are sent as texts: a worker may know no more than their names."""

    available: Sequence[str]  # all metrics of the frame
    metric_of_text: dict[str, int] | None  # see ``_read``
    wanted: Sequence[str] | None  # those that are asked for; None for all
    sums: bool  # whether sums over rankings are enough

    def answer(self, source: Source, whole_log: WholeLogFacts, *, ordered: bool) -> Answer:
        log, found = _read(source, len(self.available), self.metric_of_text, whole_log)
        if not self.sums:
            return self.to_table(log, found, ordered=ordered)
        found = _choose_metrics(found, _named(self.available), self._asked)
        return summed_rows(self.to_table(log, found, ordered=ordered), found, self.averages)

    def one_by_one(self) -> Measuring:
        return replace(self, sums=False)

    def from_table(self, index: Index, table: pl.DataFrame) -> Values:
        available = _named(self.available)
        if not self.sums:
            found = Measuring.from_table(replace(self, asked=available), index, table)
            return _choose_metrics(found, available, self._asked)
        asked = available if self._asked is None else self._asked
        return with_sums_of(Measuring.from_table(replace(self, asked=asked), index, table), table, self.averages)

    @property
    def _asked(self) -> Asked | None:
        """The metrics that are asked for; None for all."""
        return None if self.wanted is None else _named(self.wanted)


def _named(texts: Sequence[str]) -> Asked:
    """Return metrics by their texts; of a metric that a worker does not know, the name is enough."""
    return unfilled([(text, metric_of(text)) for text in texts])


def _work(
    source: InPieces,
    available: Asked,
    metric_of_text: dict[str, int] | None,
    asked: Asked | None,
    averages: Averages = (None,),
    *,
    sums: bool = False,
) -> Saved:
    """Return the work for each piece of a frame; raise for a metric of which it has no numbers."""
    if not available:
        raise BadValueError(f"{_where(source.call.columns)}: the frame has no rows, and so no metrics")
    if asked is not None:
        positions_of_metrics(asked, available, _where(source.call.columns))
    wanted = None if asked is None else [name for name, _ in asked]
    work: Saved = work_of(
        Saved, source, [], averages, [name for name, _ in available], metric_of_text, wanted, sums=sums
    )
    return work


def _texts(table: pl.DataFrame, columns: Columns) -> pl.Series:
    """Return the column of metrics as texts; raise for other values."""
    column, text = str(columns.metric), table[str(columns.metric)]
    if not isinstance(text.dtype, (*TEXTS, pl.Null)):
        raise BadValueError(f"{column}: a metric is a text, and this column is {type_name(text.dtype)}; rename it")
    refuse(column, text.is_null(), "have no metric", "drop them, or give them one")
    return text.cast(pl.String)


def _of_texts(source: Source, columns: Columns) -> tuple[Asked, dict[str, int]]:
    """Return the metrics that the column of metrics names, by first appearance, and the number of each text's metric.

    Rows of a cluster have no order: there they are in the order of their names.
    """
    table = source.table
    if isinstance(source, InPieces):
        named = [str(columns.metric), *([columns.k] if columns.k else [])]
        table = source.pieces.counted(named).drop(TIMES).drop_nulls(named[0])  # each piece raises for nulls itself
        table = table if source.pieces.ordered else table.sort(named)
    text = _texts(table, columns)
    names = text.unique(maintain_order=True).to_list()
    read_as = {name: metric_of(name) for name in names}
    _check_cutoffs(text, table, columns, read_as)
    metrics: dict[Metric, tuple[str, Metric]] = {}
    for name, metric in read_as.items():
        metrics.setdefault(metric, (name, metric))
    number = {metric: i for i, metric in enumerate(metrics)}
    return unfilled(list(metrics.values())), {name: number[metric] for name, metric in read_as.items()}


def named_in(rows: pl.DataFrame, columns: Columns) -> Asked | None:
    """Return the metrics that the column of metrics names, without checks of the other columns; None for none."""
    names = rows[str(columns.metric)].drop_nulls().unique(maintain_order=True).cast(pl.String)
    return [(name, metric_of(name)) for name in names] or None


def _check_cutoffs(text: pl.Series, table: pl.DataFrame, columns: Columns, read_as: dict[str, Metric]) -> None:
    """Raise if the column of cutoffs differs from the cutoff in a metric's name, such as "ndcg" and 10.

    Numbers with two cutoffs would then count as one metric.
    """
    if columns.k is None or not (table[columns.k].dtype.is_numeric() or isinstance(table[columns.k].dtype, TEXTS)):
        return
    k = table[columns.k]
    k = k.cast(pl.String).str.strip_chars() if isinstance(k.dtype, TEXTS) else k
    pairs = pl.DataFrame({"metric": text, "k": k.cast(pl.Float64, strict=False)}).unique(maintain_order=True)
    for name, given in pairs.drop_nulls().filter(pl.col("k").is_not_nan()).rows():
        cutoff = read_as[name].k
        if cutoff != given:
            if given < 1 or given != given // 1:
                what = "which is no cutoff;"
            elif cutoff is None:
                what = f"which it does not say; write it in the name, as '{name}@{given:g}', or"
            else:
                what = "another cutoff; correct one of them, or"
            where = f"{quote(name)} is in a row with {columns.k} = {given:g}"
            raise BadValueError(f"{columns.metric}: {where}, {what} rename the column {columns.k!r}")
