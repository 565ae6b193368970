"""The verb judgments: a grade for each query and document from what users clicked, by closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.border.pieces import ORDER
from frame_metrics.data.blocks import codes
from frame_metrics.data.log import Block, Log, Piece
from frame_metrics.data.misread import SHARES, check_level, undecided, undecided_shares
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    bad_rows,
    check_apart,
    check_choice,
    check_parts,
    check_whole,
    shown,
)
from frame_metrics.inputs import Array
from frame_metrics.measuring.pieces import GRADE, Work, facts, gather, work_of
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plan.needs import RANKED
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import InPieces, Source, answer_of
from frame_metrics.roles.resolve import absent
from frame_metrics.roles.roles import names_as_text
from frame_metrics.roles.series import largest_grade

Model = Literal["ctr", "coec", "sdbn"]
RESULT = {"grade": pl.Float64, "impressions": pl.Int64, "clicks": pl.Int64}
# Beside the caller's columns: the row of the log, the segment of a system, the first row of the impression, the rank
# (0: not shown), whether it was shown, the click, whether the user looked so far, the lowest click, and what clicks are
# counted against.
INSIDE = ("\0row", "\0arm", "\0first", "\0rank", "\0shown", "\0clicked", "\0examined", "\0last", "\0exposed")
ROW, ARM, FIRST, RANK, SHOWN, CLICKED, EXAMINED, LAST, EXPOSED = INSIDE
SUMMED = (SHOWN, CLICKED, EXAMINED, LAST)


def judgments(irm: Plan, model: str, *, of: str | Sequence[str] | None, smoothing: float, min_impressions: int) -> Any:
    """Answer ``irm.judgments``, which has the parameters."""
    check_choice("model", model, get_args(Model))
    check_whole("min_impressions", min_impressions, 1)
    if not is_number(smoothing) or not 0 <= smoothing < np.inf:
        raise BadValueError(f"smoothing={shown(smoothing)} is not a number from 0")
    plan = irm.asking(RANKED)
    _check_roles(plan)
    named = _named(of)
    plan = plan.but(columns=replace(plan.columns, of=named))
    columns = plan.columns
    queries, doc = named or columns.query, str(columns.doc)
    keys = (*columns.by, *queries, doc)
    check_parts([*(("by", name) for name in columns.by), *(("of", name) for name in named), ("doc", doc)])
    check_apart(keys, RESULT)

    def compute(source: Source) -> Answer:
        if isinstance(source, InPieces):
            log, rows = None, _gathered(source)
        else:
            log = source.log(arms=True)
            rows = _impressions(log, source, keys)
            check_level(undecided_shares(log), log.judgment_name)
        each = _graded(rows, model, keys, columns.by, smoothing)
        if named in ((), columns.query) and each["impressions"].max() == 1:
            raise ColumnError(
                f"{', '.join(columns.query)}: no document stands twice in one query, so that no rate can be "
                "counted; if each value is one impression, name the column of what was searched with of="
            )
        rare = pl.col("impressions") < min_impressions
        each = each.with_columns(grade=pl.when(~rare).then("grade"))
        each = each.with_columns(pl.min(ROW).over(*columns.by, *queries).alias(ARM))
        each = each.sort(*columns.by, ARM, ROW, nulls_last=True)
        at = each[ROW].to_numpy().astype(np.int64)
        held = dict.fromkeys(keys, at if log is None else log.rows(at))
        counts = {name: each[name].cast(kind) for name, kind in RESULT.items()}
        return Answer(held, counts, table=rows if log is None else None)

    return answer_of(plan, compute, lambda types: {key: types[key] for key in keys} | RESULT, in_pieces=True)


@dataclass(frozen=True, eq=False)
class Counting(Work):
    """What a piece shows of each query and document at each rank, and what was clicked; it adds up over pieces."""

    named: tuple[str, ...]  # the columns of segments, systems, queries and documents

    def answer(self, source: Source, piece: Piece, *, ordered: bool) -> Answer:
        log = source.log(arms=True, piece=piece)
        rows = _impressions(log, source, self.named).group_by(*self.named, RANK, maintain_order=True)
        each = rows.agg(pl.sum(*SUMMED), pl.min(ROW))
        at = log.rows(each[ROW].to_numpy().astype(np.int64))
        keys = dict.fromkeys((*self.named, ORDER) if ordered else self.named, at)
        return Answer(keys, each.select(RANK, *SUMMED).to_dict() | facts(log, len(each), self))


def _gathered(source: InPieces) -> pl.DataFrame:
    """Return what all pieces show, in the order of the frame, or without one in that of the names."""
    columns = source.plan.columns
    arms = columns.as_arms().by
    named = (*arms, *(columns.of or columns.query), str(columns.doc))
    table, _ = gather(work_of(Counting, source, named, arms=True), source)
    if not columns.label:
        shares = undecided(int(table[SHARES].sum()), largest_grade(table[GRADE]), source.plan.conventions)
        check_level(shares, str(columns.grade))
    table = table.sort(ORDER if ORDER in table.columns else named, nulls_last=True, maintain_order=True)
    return table.with_columns(pl.Series(ARM, codes(table, arms)[0])).with_row_index(ROW)


def _named(of: Any) -> tuple[str, ...]:
    """Return the columns of ``of=``; raise for what is no name."""
    named = names_as_text(of)
    several = () if named is None else tuple(named) if isinstance(named, list | tuple) else (named,)
    for name in several:
        if not isinstance(name, str):
            raise BadValueError(f"judgments: of={shown(of)} is not the name of a column, nor a list of some")
    return several


def _check_roles(plan: Plan) -> None:
    """Raise where the log has no clicks, documents or positions of its own."""
    if plan.has_judgments:
        raise ColumnError(
            "judgments() reads the clicks of the log, and judgments stand beside it; ask for it before judge(), and "
            "say relevant=None"
        )
    if plan.columns.per_system:
        raise ColumnError(
            f"rank={list(plan.columns.per_system)} are ranks of several systems, and a result was clicked at one; "
            "name that"
        )
    for role in ("doc", "rank"):
        if getattr(plan.columns, role) is None:
            raise ColumnError(f"judgments() reads what was shown where: {absent((role,), plan.roles, plan.available)}")


def _impressions(log: Log, source: Source, named: Sequence[str]) -> pl.DataFrame:
    """Return of each row that was shown some columns, its segment, rank, click, and what is seen of its impression.

    What is examined are the rows down to the lowest click of their impression, or all where there is none.
    """
    kinds = {ARM: np.int32, FIRST: np.int64, RANK: np.int64, CLICKED: bool, EXAMINED: bool, LAST: bool}
    out = {name: np.zeros(len(log.table), kind) for name, kind in kinds.items()}
    unknown = np.zeros(len(log.table), bool)

    def work(block: Block) -> None:
        run, grid = block.ranking(), log.grid
        every = np.arange(len(run.grade))
        of, at = run.query_of(every), block.rows.frame_rows(grid.rankings, every)
        place = every - run.starts[of]
        rank = np.where(place < run.n_ret[of], place + 1 if run.shown is None else run.shown, 0)
        lowest = run.relevant.reduce(np.maximum, run.rank)[of]  # 0 where nothing was clicked
        values = [grid.segment[block.at][of], grid.rankings.first_row[block.at][of], rank, run.good]
        values += [(rank <= lowest) | (lowest == 0), run.good & (rank == lowest)]
        for name, value in zip(kinds, values, strict=True):
            out[name][at] = value
        unknown[at] = (rank > 0) & ~run.judged

    log.each_block(work)
    _check_clicks(log, unknown, out[CLICKED] & (out[RANK] == 0))
    n, table = len(log.table), source.table.select(named)
    table = table[log.rows(np.arange(n))] if log.origin else table.head(n)  # without bare queries
    table = table.hstack(pl.DataFrame(out).with_row_index(ROW))
    _check_constant(log, table)
    return table.filter(pl.col(RANK) > 0).with_columns(pl.lit(1, pl.Int64).alias(SHOWN))


def _check_clicks(log: Log, unknown: Array, nowhere: Array) -> None:
    """Raise for clicks that are missing, or of what was not shown, or no clicks at all."""
    name, total = log.judgment_name, len(log.table)
    with log.rows_of_the_frame():
        if unknown.any():
            what = f"have a {log.columns.rank} and are null"
            raise bad_rows(name, np.flatnonzero(unknown), total, what, "say 0 where nobody clicked")
        if nowhere.any():
            what = f"have a click and no {log.columns.rank}"
            raise bad_rows(name, np.flatnonzero(nowhere), total, what, "give each the position at which it was shown")
        if "grade" in log.table.columns and (negative := (log.table["grade"] < 0).fill_null(False)).any():
            rows = negative.arg_true().to_numpy()
            raise bad_rows(name, rows, total, "are negative", "a click is 0 or 1, or a count from 0")


def _check_constant(log: Log, table: pl.DataFrame) -> None:
    """Raise for a column of ``of=`` that has two values in one impression."""
    for name in log.columns.of:
        differs = table[name].ne_missing(table[name].gather(table[FIRST]))
        if differs.any():
            query, rows = ", ".join(log.columns.query), differs.arg_true().to_numpy()
            with log.rows_of_the_frame():
                what = f"have another value than the first row of their {query}"
                raise bad_rows(name, rows, len(table), what, "of= names what is the same in an impression")


def _graded(rows: pl.DataFrame, model: str, keys: Sequence[str], by: Sequence[str], smoothing: float) -> pl.DataFrame:
    """Return a row for each query and document of a segment, with its grade, impressions, clicks and first row."""
    exposed = {
        "ctr": pl.col(SHOWN).cast(pl.Float64),
        "coec": pl.col(SHOWN) * (pl.sum(CLICKED) / pl.sum(SHOWN)).over(ARM, RANK),
        "sdbn": pl.col(EXAMINED).cast(pl.Float64),
    }[model]
    sums = [pl.sum(SHOWN).alias("impressions"), pl.sum(CLICKED).alias("clicks"), pl.sum(LAST, EXPOSED)]
    each = rows.with_columns(exposed.alias(EXPOSED)).group_by(*keys, maintain_order=True).agg(*sums, pl.min(ROW))

    def rate(some: str, whole: str) -> pl.Expr:
        mean = pl.sum(some) / pl.sum(whole)
        more = smoothing * (mean.over(*by) if by else mean) if smoothing else 0.0
        return (pl.col(some) + more) / (pl.col(whole) + smoothing)

    grade = rate("clicks", EXPOSED)
    if model == "sdbn":  # where nothing was clicked, nothing is known of satisfaction, and nothing is needed
        grade = grade * rate(LAST, "clicks").fill_nan(0.0)
    return each.with_columns(grade=pl.when(pl.col(EXPOSED) > 0).then(grade))
