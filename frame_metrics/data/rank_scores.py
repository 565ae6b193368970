"""Detect ranks that were given as scores, by the names of columns and by their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import polars as pl

from frame_metrics.data.grid import Grid
from frame_metrics.errors import ColumnError, quote
from frame_metrics.hidden import POSITIONS, SCORES
from frame_metrics.roles.columns import CALLED_RANK, Columns

RANKS_OF_TIES: tuple[Literal["min", "max", "dense"], ...] = ("min", "max", "dense")  # usual ways to number tied rows


def called_positions(columns: Columns) -> list[str]:
    """Return the score columns with a name of ranks, such as "position"; none if ``rank=`` is named."""
    if columns.rank or not columns.score or not columns.query:
        return []
    names = columns.shape.per_system if columns.score == columns.shape.stacked_column else (columns.score,)
    return [name for name in names if name.strip().lower() in CALLED_RANK]


def split_by_looks(columns: Columns, grid: Grid, system_names: Callable[[], pl.Series]) -> tuple[set[str], set[str]]:
    """Split the columns of ``called_positions`` by their values: those that look like ranks, and the others.

    Values look like ranks if, in every ranking, they are different whole numbers from 1 or 0 on, or ranks with ties,
    where tied results share the lowest or highest of their ranks, or are numbered densely.

    Parameters
    ----------
    columns, grid : the roles of the columns, and the rankings of the log.
    system_names : returns the name of each system, where each is a column.
    """
    ranks: set[str] = set()
    scores: set[str] = set()
    rankings = grid.rankings
    for name in called_positions(columns) if "score" in rankings.values else ():
        rankings_of_column = np.arange(len(rankings.lengths))
        if columns.shape.per_system:
            of_column = system_names().cast(pl.String) == name
            rankings_of_column = np.flatnonzero(np.isin(grid.system, of_column.arg_true().to_numpy()))
        score = rankings.values["score"][rankings.places(rankings_of_column)].astype(np.float64)
        ranking = np.repeat(rankings_of_column, rankings.lengths[rankings_of_column])
        table, value = pl.DataFrame({"ranking": ranking, "score": score}), pl.col("score")
        from_1 = value + (value.min() == 0)
        is_whole = (value == value.floor()).all()
        from_1_or_0 = (value.min() >= 1) | ((value.min() == 0) & (value.max() == pl.len() - 1))
        each = (
            table.filter(value.is_not_nan())
            .group_by("ranking")
            .agg(
                all_differ=value.n_unique() == pl.len(),
                all_equal=value.max() == value.min(),
                like_ranks=is_whole & from_1_or_0,
                like_tied_ranks=pl.any_horizontal((from_1 == from_1.rank(method)).all() for method in RANKS_OF_TIES),
            )
        )
        if not each.select(pl.when("all_differ").then("like_ranks").otherwise("like_tied_ranks").all()).item():
            scores.add(name)
        elif each.select((pl.col("all_differ") | ~pl.col("all_equal")).any()).item():
            ranks.add(name)  # not if all values of each ranking are equal, which tells nothing
    return ranks, scores


def positions_in(table: pl.DataFrame, columns: Columns) -> list[str]:
    """Return the score columns that are ranks, by the facts of all pieces."""
    positions, scores = ({*table[name].drop_nulls().explode().drop_nulls()} for name in (POSITIONS, SCORES))
    return [name for name in called_positions(columns) if name in positions - scores]


def check_positions(named: list[str]) -> None:
    """Raise for ranks that were given as scores, so that the worst result would be first; ``named``: their columns."""
    if named:
        given = named[0] if len(named) == 1 else named
        raise ColumnError(
            f"score={quote(given)}: its values count up from 1 or 0 in each ranking, as positions do; the best "
            f"result needs the highest score, and has the lowest position: pass rank={quote(given)}, from 1, or "
            "rename the column if it is a score"
        )
