"""Read numbers that were computed elsewhere (``value=``): a value for each metric and ranking."""

from __future__ import annotations

import numpy as np
import polars as pl

from frame_metrics.data.grid import build_grid
from frame_metrics.data.judgments import number_clusters
from frame_metrics.data.log import NO_PIECE, Log, WholeLogFacts
from frame_metrics.data.ranking_rows import RankingRows, shared_value
from frame_metrics.errors import bad_rows, listed
from frame_metrics.fast.group_rows import group_rows
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import spans
from frame_metrics.roles.columns import QUERY_ROLES, Columns, checked_columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import answered_column, undefined_column, value_column

# The remedy in an error; {query} is the list of the query columns.
REPEATED_REMEDY = (
    "name the column that tells them apart with system= or by=, or in {query}; where each row is a query of its own, "
    "add a column that numbers the rows, and name it with query=; else keep one of each, or add them up"
)


def read_saved_numbers(
    frame: pl.DataFrame,
    columns: Columns,
    conventions: Conventions,
    metric: Array | None,
    n: int,
    whole_log: WholeLogFacts | None,
) -> tuple[Log, Array, Array, Array]:
    """Check the columns, and find the value of every metric for every ranking.

    Parameters
    ----------
    frame : the caller's columns, as polars.
    columns : the roles of the columns.
    conventions : those of the call, for undefined values.
    metric : the index of each row's metric, shape (rows,); None if each column of values is a metric.
    n : number of metrics.
    whole_log : facts about the whole frame, if this is a piece of it; None if it is whole.

    Returns
    -------
    A log with a ranking for each (system, segment, query); and three arrays of shape (n, rankings): the values, NaN if
    null, absent or undefined; True if no row gives a value; and the number that stood for an undefined value, else NaN.

    Raises
    ------
    BadRowsError
        A value is bad, or a ranking has two values of one metric, or was both answered and not.
    """
    table = checked_columns(frame, columns, judged_elsewhere=True, scores_later=False)
    names = [f"value:{i}" for i in range(len(columns.value))]
    numbers = (value_column(frame[column], column) for column in columns.value)
    table = table.with_columns(column.alias(name) for name, column in zip(names, numbers, strict=True))
    if metric is not None:
        table = table.with_columns(pl.Series("metric", metric))
    if columns.cluster:
        table, _ = number_clusters(table, None)
    if columns.answered:
        table = table.with_columns(answered_column(frame[columns.answered], columns.answered).alias("answered"))
    if columns.was_undefined:
        marks = undefined_column(frame[columns.was_undefined], columns.was_undefined)
        table = table.with_columns(marks.alias("was_undefined"))
    roles = (*QUERY_ROLES, "metric", "answered", "was_undefined", *names)
    to_lay_out = [name for name in roles if name in table.columns]
    rankings = RankingRows(*group_rows(table, columns.internal_keys, to_lay_out, rows=True))
    facts = whole_log or NO_PIECE
    grid = build_grid(table, rankings, columns, None, systems=facts.systems, other_systems=facts.other_systems)
    # Before other checks: if several systems are not named, a repeated number is the clearest error.
    each = _by_metric(grid.rankings, columns, names, n)
    answered = grid.of_log
    if columns.answered:
        answered = shared_value(grid.rankings.values["answered"], grid.rankings, columns.answered) > 0
    log = Log(table, columns, conventions, "", grid, answered_by_column=answered)
    return log, *each


def _by_metric(rankings: RankingRows, columns: Columns, names: list[str], n: int) -> tuple[Array, Array, Array]:
    """Return the last three items of ``read_saved_numbers``, shape (metrics, rankings) each.

    ``names``: the columns of values; ``n``: number of metrics.
    """
    count, places = len(rankings.lengths), spans(rankings.starts, rankings.lengths)
    ranking = np.repeat(np.arange(count), rankings.lengths)
    metric = rankings.values["metric"][places].astype(np.int64) if columns.metric else np.zeros(len(places), np.int64)
    cell = ranking * n + metric
    if len(cell) and np.bincount(cell).max() > 1:
        again = ~pl.Series(cell).is_first_distinct().to_numpy()
        what = "repeat a metric of their query" if columns.metric else "repeat a query"
        way = REPEATED_REMEDY.format(query=f"query=[{listed(columns.query)}, ...]")
        raise bad_rows(columns.value[0], np.sort(rankings.rows_of(places[again])), len(places), what, way)
    values, absent = np.full((n, count), np.nan), np.ones((n, count), bool)
    if columns.metric:
        values[metric, ranking], absent[metric, ranking] = rankings.values[names[0]][places], False
    else:
        values[:, ranking], absent[:, ranking] = [rankings.values[name][places] for name in names], False
    undefined = np.zeros(values.shape, bool)
    if columns.was_undefined:
        undefined[metric, ranking] = rankings.values["was_undefined"][places] > 0
    return np.where(undefined, np.nan, values), absent, np.where(undefined, values, np.nan)
