"""Checks of how the units of an online test were split between its arms."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, listed, shown
from frame_metrics.inputs import Array
from frame_metrics.roles.columns import Columns, key_names, role_columns
from frame_metrics.stats.exact import chi_square
from frame_metrics.verbs.checks import Seen, check

MISMATCH = 0.001  # a p-value below it is no chance: each test is looked at many times
NEAR = 1e-6  # shares may add up to 1 but for their rounding


class Split(NamedTuple):
    """Units of each arm of a test, and the shares that they should have."""

    arms: list[Any]
    units: Array  # of each arm, shape (arms,)
    shares: Array  # shape (arms,)
    several: int  # units that are of more than one arm
    known: int  # units in all
    word: str  # what the units are

    @property
    def told(self) -> dict[str, Any]:
        """The words of messages: each arm's units, and the p-value."""
        each = ", ".join(f"{arm} has {n:,}" for arm, n in zip(self.arms, self.units.tolist(), strict=True))
        shares = ", ".join(f"{share:.6g}" for share in self.shares.tolist())
        return {"each": each, "word": self.word, "shares": shares, "p": chi_square(self.units, self.shares)}


@check("warning")
def sample_ratio_mismatch(split: Split) -> Seen:
    """{each} {word}, and their shares should be {shares}: p is {p:.2g}; arms that are split otherwise than they were
    meant to differ in more than the system: find out why before you compare them
    """
    told, total = split.told, int(split.units.sum())
    over = split.units - total * split.shares
    n = max(round(float(over.clip(0).sum())), 1) if told["p"] < MISMATCH else 0
    return Seen(n, total, str(split.arms[int(np.argmax(over))]), told)


@check("warning")
def units_of_several_arms(split: Split) -> Seen:
    """{word} that stand in more than one arm: compare(paired=False) takes them for others in each, and the effect of
    one arm is in the other
    """
    return Seen(split.several, split.known, None, {"word": split.word})


@check("fact")
def units_split(split: Split) -> Seen:
    """{each} {word}, and their shares should be {shares}: p is {p:.2g} (chi-square test)"""
    return Seen(int(split.units.sum()), None, None, split.told)


def check_split(split: Any, columns: Columns, *, alone: bool) -> None:
    """Raise for shares that are none, and for a frame without systems; ``alone``: no saved numbers stand beside it."""
    if not isinstance(split, Mapping) or len(split) < 2:
        raise BadValueError(f"split={shown(split)} is not a share for each of two systems, as {{'A': 0.5, 'B': 0.5}}")
    for arm, share in split.items():
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:  # type: ignore[operator]
            raise BadValueError(f"split: {arm!r} has {shown(share)}, and a share is a number between 0 and 1")
    if abs(sum(map(float, split.values())) - 1) > NEAR:
        raise BadValueError(f"split: shares add up to {sum(split.values()):g}, and should add up to 1")
    if columns.system is None:
        raise ColumnError("split= is of the arms of a test; name their column with system=")
    if not alone:
        raise NotComputableError("split= looks at each arm over its own queries, and baseline= at all; say one of them")


def split_of_rows(rows: pl.DataFrame, columns: Columns, split: Mapping[Any, float]) -> Split:
    """Count the units of rows without a query: clusters, or else the rows that they stand for."""
    held = role_columns(rows, columns, ("cluster", "count"))
    table = pl.DataFrame(
        {"system": rows[str(columns.system)], "unit": held.get("cluster", pl.Series(range(len(rows))))}
    )
    if "cluster" in held or "count" not in held:
        return _split(table.unique(maintain_order=True), columns, "rows", split)
    return _split(table.with_columns(times=held["count"]), columns, "rows", split)


def split_of_queries(log: Log, columns: Columns, split: Mapping[Any, float]) -> Split:
    """Count the units of a log whose systems have each their own queries: clusters, or else the queries."""
    grid, cluster = log.grid, log.said_of_queries("cluster")
    arm = log.keys_at([key_names(log.columns)[1][-1]], grid.segment_row[grid.segment]).to_series()
    unit = pl.Series(grid.query if cluster is None else cluster, nan_to_null=True)
    return _split(
        pl.DataFrame({"system": arm, "unit": unit}).drop_nulls("unit").unique(maintain_order=True),
        columns,
        "queries",
        split,
    )


def _split(table: pl.DataFrame, columns: Columns, word: str, split: Mapping[Any, float]) -> Split:
    """Count the units of each arm.

    Parameters
    ----------
    table : each unit of each system once, in the columns system and unit, and how many it stands for, in times.
    """
    times = pl.col("times").sum() if "times" in table.columns else pl.len()
    arms, units = table.group_by("system", maintain_order=True).agg(times.alias("times"))
    names, asked = arms.to_list(), list(split)
    for arm in asked:
        if arm not in names:
            raise BadValueError(
                f"split: {shown(arm)} is not among the systems of {columns.system}: {listed(names[:5])}"
            )
    if lacking := [arm for arm in names if arm not in asked]:
        raise BadValueError(f"split: {listed(lacking[:5])} of {columns.system} has no share; give each system one")
    several, known = len(table) - table["unit"].n_unique(), table["unit"].n_unique()
    shares = np.array([float(share) for share in split.values()])
    word = f"clusters ({columns.cluster})" if columns.cluster else word
    n = units.to_numpy().astype(np.int64)[[names.index(arm) for arm in asked]]
    return Split(asked, n, shares / shares.sum(), several, known, word)
