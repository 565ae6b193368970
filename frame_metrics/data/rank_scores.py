"""Detect ranks that were given as scores, by the names of columns and by their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import polars as pl

from frame_metrics.data.grid import Grid
from frame_metrics.errors import ColumnError, quote
from frame_metrics.hidden import POSITIONS, SCORES
from frame_metrics.roles.columns import ROLES, Columns

CALLED_RANK = {"rank", *ROLES["rank"].names}
SHARED: tuple[Literal["min", "max", "dense"], ...] = ("min", "max", "dense")  # usual ways to number tied ranks


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
    found: tuple[set[str], set[str]] = set(), set()
    rankings = grid.rankings
    for name in called_positions(columns) if "score" in rankings.values else ():
        some = np.arange(len(rankings.lengths))
        if columns.shape.per_system:
            mine = system_names().cast(pl.String) == name
            some = np.flatnonzero(np.isin(grid.system, mine.arg_true().to_numpy()))
        score = rankings.values["score"][rankings.places(some)].astype(np.float64)
        scores = pl.DataFrame({"ranking": np.repeat(some, rankings.lengths[some]), "score": score})
        one = pl.col("score")
        from_1 = one + (one.min() == 0)
        # Ranks are whole, from 1 or 0, and each occurs once, or equal scores share one.
        each = (
            scores.filter(one.is_not_nan())
            .group_by("ranking")
            .agg(
                once=one.n_unique() == pl.len(),
                several=one.max() > one.min(),
                alone=(one == one.floor()).all()
                & ((one.min() >= 1) | ((one.min() == 0) & (one.max() == pl.len() - 1))),
                shared=pl.any_horizontal((from_1 == from_1.rank(method)).all() for method in SHARED),
            )
        )
        is_rank = pl.when("once").then("alone").otherwise("shared")
        if not each.select(is_rank.all()).item():
            found[1].add(name)
        elif each.select((pl.col("once") | pl.col("several")).any()).item():  # if all are equal, they tell nothing
            found[0].add(name)
    return found


def positions_in(table: pl.DataFrame, columns: Columns) -> list[str]:
    """Return the score columns that are ranks, by the facts of all pieces."""
    positions, scores = ({*table[name].drop_nulls().explode().drop_nulls()} for name in (POSITIONS, SCORES))
    return [name for name in called_positions(columns) if name in positions - scores]


def check_positions(named: list[str]) -> None:
    """Raise for ranks that were given as scores: the worst result would be first."""
    if named:
        given = named[0] if len(named) == 1 else named
        raise ColumnError(
            f"score={quote(given)}: its values count up from 1 or 0 in each ranking, as positions do; the best "
            f"result needs the highest score, and has the lowest position: pass rank={quote(given)}, from 1, or "
            "rename the column if it is a score"
        )
