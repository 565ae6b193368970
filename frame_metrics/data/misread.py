"""Detect columns that were given for something else: ranks given as scores, shares given as grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from frame_metrics.data.classes import SCALE, check_relevance, none_below, shares_among, undecided
from frame_metrics.data.log import Log, WithJudgments
from frame_metrics.errors import ColumnError, shown
from frame_metrics.hidden import (
    GROUPS,
    HEIGHT,
    LONGEST,
    LOWEST,
    NEGATIVE,
    POSITIONS,
    QUERIES,
    SCORES,
    SHARES,
    SIZES,
    SPELLED,
)
from frame_metrics.keys.spelling import SIDES, check_positive
from frame_metrics.roles.columns import EXTRA, ROLES, Columns, judging
from frame_metrics.roles.conventions import Conventions

SHARED: tuple[Literal["min", "max", "dense"], ...] = ("min", "max", "dense")  # usual ways to number tied ranks


@dataclass(frozen=True, eq=False)
class Facts(WithJudgments):
    """The facts about each piece of a log in pieces, which checks read in the place of its rows."""

    table: pl.DataFrame  # the columns ``FACTS``; and the largest grades, or empty columns, in the place of judgments
    columns: Columns
    conventions: Conventions
    judgment_name: str
    judged: ClassVar[None] = None

    @property
    def judgments(self) -> pl.DataFrame:
        """The table with grades and labels."""
        return self.table


def _called_positions(columns: Columns) -> list[str]:
    """Return the score columns with a name of ranks, such as "position"; none if ``rank=`` is named."""
    if columns.rank or not columns.score or not columns.query:
        return []
    names = columns.shape.per_system if columns.score == columns.shape.together else (columns.score,)
    return [name for name in names if name.strip().lower() in ("rank", *ROLES["rank"].names)]


def _by_values(log: Log) -> tuple[set[str], set[str]]:
    """Split the columns of ``_called_positions`` by their values: those that look like ranks, and the others.

    Values look like ranks if, in every ranking, they are different whole numbers from 1 or 0 on, or ranks with ties,
    where tied results share the lowest or highest of their ranks, or are numbered densely.
    """
    found: tuple[set[str], set[str]] = set(), set()
    grid, rankings = log.grid, log.grid.rankings
    for name in _called_positions(log.columns) if "score" in rankings.values else ():
        own = np.arange(len(rankings.lengths))
        if log.columns.shape.per_system:
            mine = log.index.system_names.cast(pl.String) == name
            own = np.flatnonzero(np.isin(grid.system, mine.arg_true().to_numpy()))
        score = rankings.values["score"][rankings.places(own)].astype(np.float64)
        held = pl.DataFrame({"ranking": np.repeat(own, rankings.lengths[own]), "score": score})
        one = pl.col("score")
        place = one + (one.min() == 0)
        each = (
            held.filter(one.is_not_nan())
            .group_by("ranking")
            .agg(
                once=one.n_unique() == pl.len(),
                several=one.max() > one.min(),
                alone=(one == one.floor()).all()
                & ((one.min() >= 1) | ((one.min() == 0) & (one.max() == pl.len() - 1))),
                shared=pl.any_horizontal((place == place.rank(method)).all() for method in SHARED),
            )
        )
        is_place = pl.when("once").then("alone").otherwise("shared")
        if not each.select(is_place.all()).item():
            found[1].add(name)
        elif each.select((pl.col("once") | pl.col("several")).any()).item():  # if all are equal, they tell nothing
            found[0].add(name)
    return found


def positions_in(table: pl.DataFrame, columns: Columns) -> list[str]:
    """Return the score columns that are ranks, by the facts of all pieces."""
    positions, scores = ({*table[name].drop_nulls().explode().drop_nulls()} for name in (POSITIONS, SCORES))
    return [name for name in _called_positions(columns) if name in positions - scores]


def positions(log: Log | Facts) -> list[str]:
    """Return the score columns that are ranks."""
    named = _called_positions(log.columns)
    if named and isinstance(log, Facts):
        return positions_in(log.table, log.columns)
    found = _by_values(log)[0] if named and isinstance(log, Log) else ()
    return [name for name in named if name in found]


def check_positions(named: list[str]) -> None:
    """Raise for ranks that were given as scores: the worst result would be first."""
    if named:
        given = named[0] if len(named) == 1 else named
        raise ColumnError(
            f"score={shown(given)}: its values count up from 1 or 0 in each ranking, as positions do; the best "
            f"result needs the highest score, and has the lowest position: pass rank={shown(given)}, from 1, or "
            "rename the column if it is a score"
        )


def has_single_rows(log: Log | Facts) -> bool:
    """Return True if there are several rankings, and none has two rows."""
    return n_rows(log) > 1 and sizes(log)[0] == 1


def sizes(log: Log | Facts) -> tuple[int, int, int]:
    """Return the number of rows of the longest ranking, of all rows, and of the queries."""
    if isinstance(log, Facts):
        longest: Any = log.table[LONGEST].max() or 0
        return int(longest), int(log.table[HEIGHT].sum()), int(log.table[QUERIES].sum())
    lengths = log.grid.rankings.lengths
    return int(lengths.max(initial=0)), int(lengths.sum()), len(np.unique(log.grid.query))


def n_rows(log: Log | Facts) -> int:
    """Return the number of rows of the caller's frame, in which each system may be a column."""
    return sizes(log)[1] // max(len(log.columns.shape.per_system), 1)


def found_query(log: Log | Facts, name: str, one_class: int = 0) -> str:
    """Return the words about a metric of scores where "query" was only found by name.

    Parameters
    ----------
    name : the metric.
    one_class : number of queries whose rows are all of one class, 0 also if it is unknown.
    """
    some = f" ({one_class:,} {'has' if one_class == 1 else 'have'} one class only)" if one_class else ""
    return (
        f"{name}: 'query' was found by name. query='query' gives the mean over {sizes(log)[2]:,} "
        f"queries{some}; query=None gives one value over all {n_rows(log):,} rows, as scikit-learn does"
    )


def single_rows(log: Log | Facts, *, pooled: bool) -> str:
    """Return the words about a log without two rows of one ranking, where "query" was only found by name.

    ``pooled``: whether the metrics can be computed for rows without a query.
    """
    together = f"; query=None takes all {n_rows(log):,} rows together" if pooled else ""
    of = " of one system" if log.columns.own_rows else ""
    return (
        f"'query' was found by name, and no query has two rows{of}. query='query' takes each row for a ranking of its "
        f"own{together}; if another column says which rows belong together, name it with query="
    )


def n_shares(log: Log | Facts) -> int:
    """Return how many judgments of a log are grades strictly between 0 and 1."""
    if isinstance(log, Facts):
        return int(log.table[SHARES].sum())
    grade = log.judgments.get_column("grade", default=None)
    return 0 if grade is None or not grade.dtype.is_float() else int(shares_among(grade).sum())


def undecided_shares(log: Log | Facts) -> int:
    """Return the number of such grades, if it is unclear whether they are relevant, see ``undecided``; else 0."""
    if log.conventions.rel_given or "label" in log.judgments.columns:  # then it is clear what is relevant
        return 0
    return undecided(n_shares(log), log.top_grade, log.conventions)


def check_relevant(log: Log | Facts) -> None:
    """Raise where the grades of a log do not say what is relevant."""
    if "label" not in log.judgments.columns:
        check_relevance(log.judgments["grade"], n_shares(log), log.judgment_name, log.conventions)


def _lowest(log: Log | Facts) -> pl.Series:
    """Return the lowest distinct grades of a log, up to ``SCALE`` of them."""
    if isinstance(log, Facts):
        return log.table[LOWEST].drop_nulls().explode().unique()
    grades = log.judgments.get_column("grade", default=pl.Series([], dtype=pl.Float64))
    distinct = grades.cast(pl.Float64).unique().to_numpy()
    return pl.Series(np.sort(distinct[~np.isnan(distinct)])[:SCALE], dtype=pl.Float64)


def groups(log: Log | Facts) -> set[float]:
    """Return the numbers of the groups that documents of a log belong to."""
    if isinstance(log, Facts):
        return {*log.table[GROUPS].drop_nulls().explode()}
    return {*log.table.get_column(f"{EXTRA}group=", default=pl.Series([], dtype=pl.Float64)).drop_nulls().unique()}


def has_negatives(log: Log | Facts) -> bool:
    """Return True if some judgment is 0 or below, so that a null is no way to say it."""
    if isinstance(log, Facts):
        return bool(log.table[NEGATIVE].any())
    return any((log.judgments[name] <= 0).any() for name in judging(log.judgments))


def all_relevant(log: Log | Facts) -> bool:
    """Return True if there are three distinct grades or more and none is below ``rel``."""
    return "label" not in log.judgments.columns and none_below(_lowest(log), log.conventions.rel)


def facts_of(log: Log) -> dict[str, pl.Series]:
    """Return the facts about a piece, one value for each of ``FACTS``."""
    called = [pl.Series([sorted(names)], dtype=pl.List(pl.String)) for names in _by_values(log)]
    facts = dict(zip((POSITIONS, SCORES), called, strict=True)) | {SHARES: pl.Series([n_shares(log)], dtype=pl.Int64)}
    facts |= {name: pl.Series([size], dtype=pl.Int64) for name, size in zip(SIZES, sizes(log), strict=True)}
    known = {LOWEST: _lowest(log), GROUPS: pl.Series([*groups(log)], dtype=pl.Float64)}
    facts[NEGATIVE] = pl.Series([has_negatives(log)], dtype=pl.Boolean)
    facts[SPELLED] = pl.Series([[*log.spelled]], dtype=pl.List(pl.List(pl.String)))
    return facts | {name: pl.Series([values], dtype=pl.List(pl.Float64)) for name, values in known.items()}


def check_positive_in(table: pl.DataFrame, word: str | None) -> None:
    """Raise if ``positive=`` is written otherwise than the values, by the facts of all pieces."""
    if word is not None:
        pieces = table[SPELLED].drop_nulls().to_list()
        sides = [[own for piece in pieces for own in piece[at : at + 1]] for at in range(len(SIDES))]
        check_positive([sorted({one for own in side for one in own}) for side in sides], word)
