"""Values of single queries that are made where the rows are; only what must be known of all is put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import polars as pl

from frame_metrics.answer import Answer, Spread
from frame_metrics.border.pieces import HAS_ROW
from frame_metrics.border.polars import PolarsFrame
from frame_metrics.data.ids import refuse_strangers
from frame_metrics.data.misread import check_positions, positions
from frame_metrics.errors import BadValueError
from frame_metrics.measuring.pieces import (
    MATCHED,
    OWN,
    PLACED,
    Measuring,
    check_flags,
    check_judgments,
    check_scale,
    ids_of,
    in_first,
    in_type,
    restored,
    restored_values,
    with_systems,
    with_systems_numbered,
    work_of,
)
from frame_metrics.measuring.queries import Measured, check_grades
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.source import InPieces, apart_from_all

STRANGE = "\0strange"  # of a piece in which no judgment was found: why not, for its queries and its documents
COUNTS, NAME, RANKINGS, SHARED = "\0counts", "\0name", "\0rankings", "\0shared"  # of each system of a piece
Finish = Callable[[Measured], Answer]


def spread_of(source: InPieces, asked: Asked, finish: Finish) -> Answer:
    """Return values of single queries as an answer that is made where the rows are.

    Parameters
    ----------
    finish : makes the rows of some queries; it can be pickled.
    """
    work = work_of(Measuring, source, asked, (None,))
    check_judgments(work, source)
    check_scale(work, source)
    alone = replace(work, judgments=None)  # which are sent once
    steps = partial(_told, alone), partial(_known, alone), partial(_rows, alone, finish)
    return Answer(
        {}, {}, spread=Spread(work.plan.columns.needed, work.keys, _queries(work), partial(_each, work), *steps)
    )


def _queries(work: Measuring) -> pl.DataFrame | None:
    """The judged queries, in the types of the log."""
    if work.judgments is None or work.plan.judged is None:
        return None
    names = zip(work.keys, work.plan.judged.query, strict=True)
    return pl.DataFrame(
        [in_type(work.judgments[name], work.empty.schema[own]).alias(own) for own, name in names]
    ).unique()


def _each(work: Measuring, piece: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each ranking of a piece, the judged queries that have no rows among them."""
    if work.judgments is None:
        return work.run(piece, None)
    rows = piece.filter(HAS_ROW).drop(HAS_ROW)
    table = work.run(rows, work.judgments[work.judged_rows(piece)])
    strange = [*_strange(work, rows)] if len(rows) and not table[MATCHED].any() else None
    return table.with_columns(in_first(len(table), pl.Series(STRANGE, [strange], dtype=pl.List(pl.String))))


def _strange(work: Measuring, rows: pl.DataFrame) -> Iterator[str | None]:
    """Yield why no id is among those of the judgments, of queries and of documents; None where some are."""
    for ids in ids_of(work, lambda columns: rows.select(columns).unique(maintain_order=True)):
        try:
            refuse_strangers(*ids)
        except BadValueError as error:
            yield str(error)
        else:
            yield None


def _told(work: Measuring, table: pl.DataFrame) -> pl.DataFrame:
    """Return one row of a piece, which has its facts, and how many rankings each system has, and shares with others."""
    columns = work.plan.columns
    if columns.system is None or not len(table):
        return table.head(1)
    own = with_systems(*with_systems_numbered(table, work)).filter(OWN)
    shared = pl.len().over(*columns.by, PLACED, *columns.query) > 1
    each = own.select(pl.col(columns.system).alias(NAME), shared.alias(SHARED)).group_by(NAME)
    counts = each.agg(pl.len().cast(pl.Int64).alias(RANKINGS), pl.sum(SHARED).cast(pl.Int64))
    return table.head(1).with_columns(counts.select(pl.struct(pl.all()).implode()).to_series().alias(COUNTS))


def _known(work: Measuring, told: pl.DataFrame) -> pl.DataFrame:
    """Return all systems, where pieces know their own; raise for what is wrong with the whole frame."""
    check_flags(told, work)
    if STRANGE in told.columns and not told[MATCHED].any():
        reasons = told[STRANGE].drop_nulls()
        for at in (0, 1):
            each = reasons.list.get(at, null_on_oob=True)
            if len(each) and not each.null_count():
                raise BadValueError(each[0])
    table, numbered = with_systems_numbered(told, work)
    log, _ = restored(table, numbered)
    if COUNTS in told.columns:
        _check_shared(work, told[COUNTS].explode().struct.unnest().drop_nulls(RANKINGS))
    check_positions(positions(log))
    check_grades(work.asked, log)
    return pl.DataFrame() if numbered.systems is None else numbered.systems.to_frame(NAME)


def _check_shared(work: Measuring, counts: pl.DataFrame) -> None:
    """Raise for a system that shares no query with another."""
    each = counts.group_by(NAME).agg(pl.sum(RANKINGS, SHARED)).sort(NAME, nulls_last=True)
    apart = each.filter(pl.col(SHARED) == 0)
    if len(each) > 1 and len(apart):
        raise apart_from_all(work.plan.columns, str(apart[NAME][0]), apart[RANKINGS][0])


def _rows(work: Measuring, finish: Finish, table: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the result of a piece, with the systems of all pieces."""
    systems = known[NAME] if work.unnumbered else None
    answer = finish(restored_values(*with_systems_numbered(table, work, systems)))
    return PolarsFrame(None).given_back(answer)
