"""Values of single queries, computed and kept where the rows are (on a cluster); only facts about pieces come here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import polars as pl

from frame_metrics.answer import Answer, DistributedAnswer
from frame_metrics.backends.polars import PolarsFrame
from frame_metrics.errors import BadValueError
from frame_metrics.hidden import (
    EVALUATED,
    HAS_ROW,
    LACKED,
    MATCHED,
    STRANGE,
    SYSTEM_NAME,
    SYSTEM_NUMBER,
    UNANSWERED,
    ZEROS,
)
from frame_metrics.keys.ids import check_id_overlap
from frame_metrics.keys.leading_zeros import check_leading_zeros_of_parts, queries_of_index
from frame_metrics.measuring import pieces
from frame_metrics.measuring.indexed import indexed, with_systems_numbered
from frame_metrics.measuring.values import Values
from frame_metrics.measuring.work import TEXT_LISTS, cast_or_null, in_first
from frame_metrics.plan.source import InPieces

Finish = Callable[[Values], Answer]


def distributed_answer(work: pieces.Measuring, source: InPieces, finish: Finish) -> Answer:
    """Return an answer with the functions that compute values of single queries where the rows are.

    See ``DistributedAnswer``.

    Parameters
    ----------
    work : the work for each piece.
    source : the frame.
    finish : makes the rows of the result from the values of some queries; it can be pickled.
    """
    pieces.check_judgments(work, source)
    pieces.check_max_grade(work, source)
    without_judgments = replace(work, judgments=None)  # the judgments are sent once, with ``work``
    steps = _first_rows, partial(_check_facts, without_judgments), partial(_rows, without_judgments, finish)
    given = work.call.columns.needed, work.keys, _judged_queries(work), partial(_reduce, work)
    return Answer({}, {}, distributed=DistributedAnswer(*given, *steps))


def _judged_queries(work: pieces.Measuring) -> pl.DataFrame | None:
    """Return the judged queries, in the types of the log; None without separate judgments."""
    if work.judgments is None or work.call.judgment_columns is None:
        return None
    names = zip(work.keys, work.call.judgment_columns.query, strict=True)
    return pl.DataFrame(
        [cast_or_null(work.judgments[name], work.empty.schema[own]).alias(own) for own, name in names]
    ).unique()


def _reduce(work: pieces.Measuring, piece: pl.DataFrame) -> pl.DataFrame:
    """Reduce a piece to a row for each ranking; it may have judged queries without rows, see ``HAS_ROW``."""
    if work.judgments is None:
        table = work.run(piece, None)
        _check_systems(work, table)
        return table
    rows = piece.filter(HAS_ROW).drop(HAS_ROW)
    queries = work.queries_in(piece)
    table = work.run(rows, work.judgments[work.judged_rows(queries)])
    _check_systems(work, table)
    errors = [*_overlap_errors(work, rows)] if len(rows) and not table[MATCHED].any() else None
    without_rows = piece.join(rows, on=work.keys, how="anti", nulls_equal=True, maintain_order="left")
    facts = (
        pl.Series(STRANGE, [errors], dtype=pl.List(pl.String)),
        pl.Series(ZEROS, [work.other_zeros(queries)], dtype=TEXT_LISTS),
        pl.Series(LACKED, [work.judged_rows(work.queries_in(without_rows))], dtype=pl.List(pl.Int64)),
    )
    return table.with_columns(in_first(len(table), fact) for fact in facts)


def _check_systems(work: pieces.Measuring, table: pl.DataFrame) -> None:
    """Raise for queries of a piece that one system writes with other leading zeros; such queries are in one piece."""
    columns, beside = work.columns, work.judgments is not None
    if not columns.system or work.call.conventions.unanswered == "drop":  # only all pieces together show it
        return
    index, rows = indexed(*with_systems_numbered(table, work))
    index = replace(index, columns=columns.changed(by=()))
    judged = (rows[EVALUATED] | (rows[UNANSWERED] > 0)).to_numpy() if beside else None
    if judged is None or not queries_of_index(index, judged):  # else ``_check_facts`` raises
        check_leading_zeros_of_parts(index, judged)


def _overlap_errors(work: pieces.Measuring, rows: pl.DataFrame) -> Iterator[str | None]:
    """Yield, for queries and then for documents, the error that no id matches the judgments; None if some do."""
    for ids in pieces.ids_of(work, lambda columns: rows.select(columns).unique(maintain_order=True)):
        try:
            check_id_overlap(*ids)
        except BadValueError as error:
            yield str(error)
        else:
            yield None


def _first_rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return the first row of each system of a piece, with the counts of the system; the first row has all facts."""
    return table.filter(pl.col(SYSTEM_NUMBER).is_first_distinct())


def _check_facts(work: pieces.Measuring, facts: pl.DataFrame) -> pl.DataFrame:
    """Check the facts about all pieces, and return all systems, if pieces know only their own; else an empty frame."""
    pieces.check_flags(facts, work)
    if STRANGE in facts.columns and not facts[MATCHED].any():
        reasons = facts[STRANGE].drop_nulls()
        for at in (0, 1):
            each = reasons.list.get(at, null_on_oob=True)
            if len(each) and not each.null_count():
                raise BadValueError(each[0])
    if ZEROS in facts.columns:
        without_rows = facts[LACKED].drop_nulls().explode().drop_nulls().to_numpy()
        pieces.check_leading_zeros_of_pieces(facts, without_rows, work)
    table, numbered = with_systems_numbered(facts, work)
    pieces.check_whole_frame(table, numbered)
    return pl.DataFrame() if numbered.systems is None else numbered.systems.to_frame(SYSTEM_NAME)


def _rows(work: pieces.Measuring, finish: Finish, table: pl.DataFrame, checked: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the result for a piece; ``checked``: what ``_check_facts`` returned."""
    systems = checked[SYSTEM_NAME] if work.systems_unknown else None
    table, work = with_systems_numbered(table, work, systems)
    return PolarsFrame(None).to_native(finish(work.from_table(*indexed(table, work))))
