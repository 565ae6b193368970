"""Read a click log as impressions: for each result that was shown, its rank, its click and facts of its impression."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.log import Block, Log, WholeLogFacts
from frame_metrics.data.misread import check_relevant
from frame_metrics.errors import BadValueError, ColumnError, check_key_names, check_one_role_each, quote
from frame_metrics.fast.codes import codes
from frame_metrics.hidden import INSIDE, ORDER
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.weighted import row_weights
from frame_metrics.measuring.pieces import check_relevant_of_pieces, fact_columns, gather, work_of
from frame_metrics.measuring.work import PieceWork
from frame_metrics.plan.call import Call
from frame_metrics.plan.source import InPieces, Source
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.missing import likely_roles, missing_text
from frame_metrics.roles.roles import names_as_text
from frame_metrics.roles.series import refuse

ROW, ARM, FIRST, RANK, SHOWN, CLICKED, EXAMINED, LAST, CHANCE = INSIDE

SUMMED = (SHOWN, CLICKED, EXAMINED, LAST)
FEWEST = 10  # if a log has so many clicks or more, and no other row, the rows without a click are lost


def impressions_call(call: Call, verb: str, query_text: Any, result: Collection[str], *, doc: bool = True) -> Call:
    """Return the call with the columns of ``query_text=``; raise for a log without its own clicks, documents and ranks.

    Parameters
    ----------
    call : the call of the log.
    verb : the name of the verb, for errors.
    query_text : the option of the verb: columns that identify what was searched, the same in all rows of an impression.
    result : the columns of the verb's result, which no key may have as a name.
    doc : whether the result has a column of documents too.
    """
    _check_roles(call, verb)
    named = _named(verb, query_text)
    columns = call.columns.changed(query_text=named, needs_documents=True)
    roles = {"by": columns.by, "query_text": named, "doc": (str(columns.doc),)}
    check_one_role_each([(role, name) for role, names in roles.items() for name in names])
    check_key_names((*columns.by, *((*(named or columns.query), str(columns.doc)) if doc else ())), result)
    return replace(call, columns=columns)


def impression_results(
    source: Source, named: Sequence[str]
) -> tuple[pl.DataFrame, Callable[[Array], Array], pl.DataFrame | None]:
    """Return the shown results, or their counts in all pieces, with the columns ``named`` of the caller.

    Returns
    -------
    The rows; what maps their numbers, ``ROW``, to key rows of an answer; and the table of these, None for the caller's
    frame.
    """
    if isinstance(source, InPieces):
        rows = rows_of_pieces(source)
        return rows, lambda at: at, rows
    log = source.log()
    rows = rows_of(log, source, named)
    check_relevant(log)
    return rows, log.rows, None


def rows_of(log: Log, source: Source, named: Sequence[str]) -> pl.DataFrame:
    """Return a row for each shown result, with the columns ``named`` of the caller and those of ``INSIDE``."""
    rows, n, table = _impressions(log), len(log.table), source.table.select(named)
    table = table[log.rows(np.arange(n))] if log.origin else table.head(n)  # without queries that have no results
    table = table.hstack(rows)
    _check_constant(log, table)
    return table.filter(pl.col(RANK) > 0).with_columns(pl.lit(1, pl.Int64).alias(SHOWN))


def check_unclicked(rows: pl.DataFrame, columns: Columns) -> None:
    """Raise if every shown result was clicked, so that all click rates would be 1; ``rows``: as ``rows_of`` says."""
    if rows[CLICKED].sum() == rows[SHOWN].sum() >= FEWEST:
        raise BadValueError(
            f"{columns.label or columns.grade}: every row is a click, as in a log of clicks alone; what was shown and "
            "not clicked is needed too: add these rows, with 0"
        )


def _named(verb: str, query_text: Any) -> tuple[str, ...]:
    """Return the columns of ``query_text=``; raise if one is not a name."""
    named = names_as_text(query_text)
    several = () if named is None else tuple(named) if isinstance(named, list | tuple) else (named,)
    for name in several:
        if not isinstance(name, str):
            raise BadValueError(
                f"{verb}: query_text={quote(query_text)} is not the name of a column, nor a list of some"
            )
    return several


def _check_roles(call: Call, verb: str) -> None:
    """Raise unless clicks, documents and ranks are in the log, one of each in a row."""
    if call.plan.judgments_not_in_rows:
        raise ColumnError(
            f"{verb}() reads the clicks of the log, and there are other judgments; call it before judge(), and "
            "pass relevant=None"
        )
    if call.columns.shape.per_system:
        raise ColumnError(
            f"rank={list(call.columns.shape.per_system)} are ranks of several systems, and a result was clicked at "
            "one; name that"
        )
    for role in ("doc", "rank"):
        if call.columns.by_role.get(role) is None:
            lacking = missing_text((role,), call.roles, call.plan.available)
            options = likely_roles([(role,)], call.roles, call.plan.available)
            raise ColumnError(f"{verb}() reads what was shown where: {lacking}").offering(**options)


def _impressions(log: Log) -> pl.DataFrame:
    """Return the columns of ``INSIDE`` for each row of the log; the rank of a row that was not shown is 0.

    The user is assumed to have examined the results down to the lowest click of the impression, or all without a click.
    """
    kinds: dict[str, Any] = {ARM: np.int32, FIRST: np.int64, RANK: np.int64, CLICKED: bool, EXAMINED: bool, LAST: bool}
    kinds |= {CHANCE: float} if log.conventions.propensity is not None else {}
    out = {name: np.zeros(len(log.table), kind) for name, kind in kinds.items()}
    unknown = np.zeros(len(log.table), bool)

    def work(block: Block) -> None:
        run, grid = block.ranking(), log.grid
        rows = np.arange(len(run.grade))
        query, at = run.query_of(rows), block.view.log_rows(grid.rankings, rows)
        place = rows - run.starts[query]
        rank = np.where(place < run.n_ret[query], place + 1 if run.logged_rank is None else run.logged_rank, 0)
        lowest = run.relevant.reduce(np.maximum, run.rank)[query]  # the rank of the lowest click, 0 if there is none
        values = [grid.segment[block.rankings][query], grid.rankings.first_row[block.rankings][query], rank, run.good]
        values += [(rank <= lowest) | (lowest == 0), run.good & (rank == lowest), 1 / row_weights(run)]
        for name, value in zip(kinds, values, strict=False):
            out[name][at] = value
        unknown[at] = (rank > 0) & ~run.judged

    log.for_each_sorted_block(work)
    _check_clicks(log, unknown, out[CLICKED] & (out[RANK] == 0))
    return pl.DataFrame(out).with_row_index(ROW)


def _check_clicks(log: Log, unknown: Array, nowhere: Array) -> None:
    """Raise for shown rows without a label (``unknown``), clicks on other rows (``nowhere``), and negative grades."""
    name, rank = log.judgment_name, log.columns.rank
    with log.errors_name_frame_rows():
        refuse(name, pl.Series(unknown), f"have a {rank} and are null", "write 0 where nobody clicked")
        way = "give each the position at which it was shown"
        refuse(name, pl.Series(nowhere), f"have a click and no {rank}", way)
        if "grade" in log.table.columns:
            refuse(name, log.table["grade"] < 0, "are negative", "a click is 0 or 1, or a count from 0")


def _check_constant(log: Log, table: pl.DataFrame) -> None:
    """Raise for a column of ``query_text=`` with two values in one impression."""
    for name in log.columns.query_text:
        differs = table[name].ne_missing(table[name].gather(table[FIRST]))
        what = f"have another value than the first row of their {', '.join(log.columns.query)}"
        with log.errors_name_frame_rows():
            refuse(name, differs, what, "query_text= names what is the same in an impression")


@record
class ClickCounts(PieceWork):
    """Counts of impressions and clicks of each query and document at each rank; they are added up over pieces."""

    named: tuple[str, ...]  # the columns of segment, system, query and document

    def answer(self, source: Source, whole_log: WholeLogFacts, *, ordered: bool) -> Answer:
        log = source.log(whole_log=whole_log)
        rows = rows_of(log, source, self.named).group_by(*self.named, RANK, maintain_order=True)
        summed = [*SUMMED, *([CHANCE] if log.conventions.propensity is not None else [])]
        each = rows.agg(pl.sum(*summed), pl.min(ROW))
        at = log.rows(each[ROW].to_numpy().astype(np.int64))
        keys = dict.fromkeys((*self.named, ORDER) if ordered else self.named, at)
        return Answer(keys, each.select(RANK, *summed).to_dict() | fact_columns(log, len(each), self))


def rows_of_pieces(source: InPieces) -> pl.DataFrame:
    """Return the counts of all pieces, in the order of the frame; if it has no order, sorted by the keys."""
    columns = source.call.columns
    named = (*columns.by, *(columns.query_text or columns.query), str(columns.doc))
    work = work_of(ClickCounts, source, named)
    table, _ = gather(work, source)
    check_relevant_of_pieces(table, work)
    table = table.sort(ORDER if ORDER in table.columns else named, nulls_last=True, maintain_order=True)
    return table.with_columns(pl.Series(ARM, codes(table, columns.by)[0])).with_row_index(ROW)
