"""Read some queries of a frame in pieces: collect their rows from all pieces, and read them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.backends.protocol import Gathering
from frame_metrics.data.log import Log
from frame_metrics.hidden import MATCHED, MINE, ORDER, ZERO_DOCS, ZEROS
from frame_metrics.measuring.pieces import check_flags, check_leading_zeros_of_pieces, refuse_unmatched
from frame_metrics.measuring.work import TEXT_LISTS, PieceWork
from frame_metrics.plan.source import InPieces
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.series import grade_column, same_as


def is_query(rows: pl.DataFrame, values: Sequence[Any], columns: Sequence[str]) -> pl.Series:
    """Mark the rows of one query.

    Parameters
    ----------
    rows : the query columns.
    values : the value of each column.
    columns : the caller's names of the columns, for errors.
    """
    equal = pl.Series([True]).new_from_index(0, len(rows))
    for key, value, column in zip(rows, values, columns, strict=True):
        equal &= same_as(key, value, column).fill_null(False)
    return equal


def _taken(columns: Columns, queries: Sequence[tuple[Any, ...]], piece: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of some queries in a piece, and some facts about the whole piece as further rows.

    Some further rows have only a grade (see ``_extreme_grades``). Others have only a system: all systems of the piece.
    The column ``MINE`` is True for rows of the queries, False for those with a grade, null for those with a system.

    Parameters
    ----------
    columns : the roles of the columns.
    queries : the queries, each as a value for each query column.
    """
    query = columns.query
    keys = piece.select(ORDER if name in columns.shape.made else name for name in query)
    wanted = reduce(or_, (is_query(keys, values, query) for values in queries))
    parts = [piece.filter(wanted).with_columns(pl.lit(True).alias(MINE))]
    if (grade := columns.grade) in piece.columns:
        parts.append(_extreme_grades(piece[grade]).to_frame().with_columns(pl.lit(False).alias(MINE)))
    if (system := columns.system) in piece.columns:
        parts.append(piece.select(pl.col(system).unique()))
    return pl.concat(parts, how="diagonal")


def _extreme_grades(values: pl.Series) -> pl.Series:
    """Return the grades of a piece that checks need: the least positive one and the greatest, or all that are words.

    Grades in lists are returned in lists again.
    """
    lists = isinstance(values.dtype, pl.List | pl.Array)
    each = values.explode() if lists else values
    if each.dtype.is_numeric():
        least = each.filter((each > 0).fill_null(False)).min()
        each = pl.Series(each.name, [least, each.max()], dtype=each.dtype)
    each = each.unique().drop_nulls()
    if not lists:
        return each
    times = values.dtype.size if isinstance(values.dtype, pl.Array) else 1
    return each.to_frame().select(pl.concat_list([pl.first()] * times).cast(values.dtype)).to_series()


def run_on_queries(work: PieceWork, source: InPieces, queries: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """Run work on the rows of some queries, with all judgments.

    Parameters
    ----------
    work : the work, which has a field ``grades`` for the grades of the whole frame, see ``_extreme_grades``.
    source : the frame in pieces.
    queries : the queries, each as a value for each query column.
    """
    pieces, columns = source.pieces, work.call.columns
    types = dict(work.empty.schema) | {MINE: pl.Boolean}
    rows = pieces.gathered(Gathering(columns.needed, [], partial(_taken, columns, queries), types))
    of_queries = rows.filter(MINE).drop(MINE)
    of_queries = of_queries.sort(ORDER) if pieces.ordered else of_queries
    grades = rows.filter(~pl.col(MINE))[columns.grade] if columns.grade in rows.columns else None
    if work.systems_unknown:
        work = replace(work, systems=rows.filter(pl.col(MINE).is_null())[str(columns.system)].unique())
    table = replace(work, grades=grades).run(of_queries, work.judgments)  # type: ignore[call-arg]
    check_flags(table, work)
    if work.judgments is not None:
        if not table[MATCHED].any():
            refuse_unmatched(work, source)
        if zeros := work.other_zeros(work.queries_in(of_queries)):  # rare, so that all queries are then read again
            used = work.judged_rows(work.queries_in(pieces.counted(work.keys)))
            without_rows = np.setdiff1d(np.arange(len(work.judgments)), used.to_numpy())
            facts = {ZEROS: pl.Series([zeros], dtype=TEXT_LISTS), ZERO_DOCS: pl.Series([[]], dtype=TEXT_LISTS)}
            check_leading_zeros_of_pieces(pl.DataFrame(facts), without_rows, work, pieces)
    return table


def with_grades(log: Log, grades: pl.Series | None) -> Log:
    """Return a log for checks, with grades of the whole frame as its judgments.

    It is unchanged if there are separate judgments. ``grades``: as the caller has them; None: leave the log as it is.
    """
    if grades is None or not log.judged_in_rows:
        return log
    column, scale = str(log.columns.grade), log.conventions.scale
    each = grades.explode() if isinstance(grades.dtype, pl.List | pl.Array) else grades
    table = pl.DataFrame({"grade": grade_column(each, column, scale)})
    labels = {"label": pl.lit(None, pl.Int8)} if log.columns.label else {}
    return replace(
        log, table=table.with_columns(**labels), separate_judgments=None, columns=log.columns.changed(per_system=())
    )
