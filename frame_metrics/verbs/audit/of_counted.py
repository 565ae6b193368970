"""A check of tables that were counted already, of which no role names the counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from frame_metrics.errors import quote
from frame_metrics.hidden import TIMES
from frame_metrics.roles.columns import Columns
from frame_metrics.verbs.audit.checks import Seen, check

USUAL_NAMES = ("count", "len", "n", "size", "counts", "cnt", "freq", "frequency", "times", "n_rows", "count_star()")


def with_unnamed_count(columns: Columns, available: Sequence[str]) -> Columns:
    """Return the columns of an audit, with one that is called as counts are and has no role, of rows with decisions."""
    counted = columns.query or columns.count or columns.weight or columns.value or columns.score
    if counted or not (columns.label and columns.predicted):
        return columns
    known = {str(name).strip().lower(): name for name in available if name not in columns.needed}
    name = next((known[usual] for usual in USUAL_NAMES if usual in known), None)
    return columns if name is None else columns.changed(unnamed_count=name)


class CountedRows(NamedTuple):
    """Rows with decisions, of which a column is called as counts are."""

    rows: pl.DataFrame
    columns: Columns


@check("warning", "rows")
def table_that_seems_to_be_counted_already(read: CountedRows) -> Seen:
    """each pair of {label} and {predicted} has one row, and {column} has whole numbers, {total:,} in all: if they
    say how often each occurs, pass count={column}, as now each row counts once
    """
    rows, columns = read.rows, read.columns
    name, n = str(columns.unnamed_count), len(rows)
    counts, keys = rows[name], [*columns.cell_keys, str(columns.label), str(columns.predicted)]
    if TIMES in rows.columns or n < 2 or not counts.dtype.is_integer() or rows.select(keys).is_duplicated().any():
        return Seen(0, n)
    least, most = counts.min(), counts.max()
    if counts.null_count() or not isinstance(least, int) or not isinstance(most, int) or least < 0 or most < 2:
        return Seen(0, n)
    words = {"label": columns.label, "predicted": columns.predicted, "column": quote(name), "total": counts.sum()}
    return Seen(n, n, None, words)
