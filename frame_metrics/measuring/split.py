"""The split of units between arms: how many each arm has, and should have."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from frame_metrics.backends.times import times_in
from frame_metrics.errors import BadValueError, ColumnError, about_the_call, listed, quote
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import mark_codes
from frame_metrics.keys.index import Index
from frame_metrics.measuring.pairs import number_of_system
from frame_metrics.roles.columns import Columns, role_columns
from frame_metrics.stats.exact import chi_square

EQUAL: Literal["equal"] = "equal"
Shares: TypeAlias = Mapping[Any, float] | Literal["equal"]  # the share of each arm; "equal": all have the same
MISMATCH_P = 0.001  # a smaller p-value is a mismatch; so small, as each test is looked at many times
FEWEST_TERMS, FEWEST_OF_TERM = 3, 1.5  # fewer values of a column of the query are no terms; queries of each on average
SHARE_OF_CROSSING = 0.5  # how many of all pairs of terms and others are queries, if terms are asked again and again
MIN_ARMS = 2  # with fewer there is nothing to compare
SPLIT_TOL = 1e-6  # shares that add up to 1 within this are rounded


class Split(NamedTuple):
    """The numbers of units of the arms of a test, and the shares that they should have."""

    arms: list[Any]
    units: Array  # how many units each arm has, shape (arms,)
    shares: Array  # the share of each arm, shape (arms,)
    word: str  # the word for the units

    @property
    def words(self) -> dict[str, Any]:
        """The words of messages: each arm's units, and the p-value."""
        each = ", ".join(f"{arm} has {n:,}" for arm, n in zip(self.arms, self.units.tolist(), strict=True))
        shares = ", ".join(f"{share:.6g}" for share in self.shares.tolist())
        return {"each": each, "word": self.word, "shares": shares, "p": chi_square(self.units, self.shares)}

    @property
    def over(self) -> Array:
        """The number of units more than expected in each arm, negative if it has fewer, shape (arms,)."""
        return self.units - self.units.sum() * self.shares

    @property
    def off(self) -> int:
        """The number of units above those expected, in the arms that have more; at least 1."""
        return max(round(float(self.over.clip(0).sum())), 1)


def check_split(split: Any, columns: Columns) -> None:
    """Raise for an invalid ``split=``, and for a frame without arms."""
    equal = isinstance(split, str) and split == EQUAL
    if not equal and (not isinstance(split, Mapping) or len(split) < 2):
        raise BadValueError(
            f"split={quote(split)} is not a share for each of two arms, as {{'A': 0.5, 'B': 0.5}}, nor 'equal'"
        )
    for arm, share in () if equal else split.items():
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:  # type: ignore[operator]
            raise BadValueError(f"split: {quote(arm)} has {quote(share)}, and a share is a number between 0 and 1")
    if not equal and abs(sum(map(float, split.values())) - 1) > SPLIT_TOL:
        raise BadValueError(f"split: shares add up to {sum(split.values()):g}, and should add up to 1")
    if columns.arm is None:
        instead = f" in the place of system={columns.system!r}" if columns.systems_have_rows else ""
        raise ColumnError(f"split= requires arm=, the arms of a test; name their column with arm={instead}")


def units_of_rows(rows: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Return the units of rows without a query, clusters or else rows.

    Returns
    -------
    The columns of segments as "by:0" ..., then arm, unit and times, the number of rows that a row stands for.
    """
    by_role = role_columns(rows, columns, ("cluster", "count"))
    keys = {f"by:{i}": rows[name] for i, name in enumerate(columns.segments)} | {"arm": rows[str(columns.arm)]}
    table = pl.DataFrame(keys | {"unit": by_role.get("cluster", pl.Series(range(len(rows))))})
    counts_rows = "count" in by_role and "cluster" not in by_role
    return table.with_columns(times=by_role["count"] if counts_rows else pl.lit(1, pl.Int64))


def units_of_queries(index: Index, cluster: Array | None) -> pl.DataFrame:
    """Return the units of queries, clusters or else queries, as ``units_of_rows`` does; a row for each ranking.

    The unit of a query without a cluster is null.
    """
    internal = index.columns.internal_by_role[1]
    unit = pl.Series("unit", index.query if cluster is None else cluster, nan_to_null=True)
    named = {internal[0]: "arm"} | {name: f"by:{i}" for i, name in enumerate(internal[1:])}
    table = index.keys_of(internal).rename(named).select(*[*named.values()][1:], "arm")
    return table.with_columns(unit, times=pl.lit(1, pl.Int64))


def word_for(columns: Columns) -> str:
    """Return the word for the units: the clusters with their column, else queries, else rows."""
    if columns.cluster:
        return f"clusters ({columns.cluster})"
    return "queries" if columns.query else "rows"


def repeated_terms(index: Index, evaluated: Array) -> tuple[str, int]:
    """Return the column of ``query=`` with terms that are asked again and again, as every day, and how many queries.

    They are no units of their own: those of one term are alike. Without such a column, or with clusters, there are 0.

    ``evaluated``: the rankings that are looked at, as marks or positions.
    """
    if len(index.columns.query) == 1 or index.columns.cluster:
        return "", 0
    names = index.columns.internal_by_role[2]
    some = mark_codes(index.query[evaluated], len(index.queries))
    values = index.queries.values.filter(some[: len(index.queries.values)])
    # Of two columns the terms are those with more values, and no times.
    found = [
        (values[name].n_unique(), column, name)
        for name, column in zip(names, index.columns.query, strict=True)
        if times_in(values[name].unique(), column) is None
    ]
    terms, column, name = max(found, default=(0, "", ""))
    others = values.drop(name).n_unique() if found else 0
    crossed = len(values) >= max(SHARE_OF_CROSSING * terms * others, FEWEST_OF_TERM * terms)
    return column, len(values) if terms >= FEWEST_TERMS and others > 1 and crossed else 0


def queries_are_times(index: Index) -> bool:
    """Return True if the queries are times, as the days of a segment; a hundred of them are read."""
    columns, (name, *others) = index.columns.query, index.columns.internal_by_role[2]
    return not others and times_in(index.queries.values[name].head(100), columns[0]) is not None


def split_of(table: pl.DataFrame, columns: Columns, split: Shares) -> Split:
    """Count the units of each arm; raise if an arm has no share.

    Parameters
    ----------
    table : the arm and the times of distinct units, as ``units_of_rows`` returns them.
    """
    arms, units = table.group_by("arm", maintain_order=True).agg(pl.col("times").sum())
    asked, shares = shares_of(split, arms, columns)
    return Split(arms.gather(asked).to_list(), units.to_numpy().astype(np.int64)[asked], shares, word_for(columns))


def null_is_an_arm(arms: pl.Series, split: Shares | None) -> bool:
    """Return True if what has no arm is one in the split: ``split=`` names it, or it is needed for two.

    ``arms``: the distinct arms.
    """
    return arms.drop_nulls().len() < MIN_ARMS or (isinstance(split, Mapping) and None in split)


def shares_of(split: Shares, arms: pl.Series, columns: Columns) -> tuple[list[int], Array]:
    """Return the numbers of the arms that ``split=`` names, in its order, and their shares, which add up to 1.

    What has no arm is left out, unless it ``null_is_an_arm``.

    Raises
    ------
    BadValueError
        It names an arm that does not exist, or lacks one.
    """
    some = [at for at, arm in enumerate(arms) if arm is not None or null_is_an_arm(arms, split)]
    if isinstance(split, str):
        return some, np.full(len(some), 1 / max(len(some), 1))
    with about_the_call():
        asked = [number_of_system(arm, arms, str(columns.arm), "split: ", "arm") for arm in split]
        if lacking := [arms[at] for at in some if at not in asked]:
            raise BadValueError(f"split: {listed(lacking[:5])} of {columns.arm} has no share; give each arm one")
    shares = np.array([float(share) for share in split.values()])
    return asked, shares / shares.sum()
