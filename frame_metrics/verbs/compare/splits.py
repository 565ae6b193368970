"""The split of units between the arms of a segment, beside the differences of these arms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl

from frame_metrics.data.groups import Segments
from frame_metrics.data.log import Log
from frame_metrics.errors import NotComputableError, listed, shown
from frame_metrics.inputs import Array, ratio
from frame_metrics.measuring.split import shares_of, units_of_log, units_of_rows, word_for
from frame_metrics.roles.columns import Columns
from frame_metrics.stats.exact import chi_square, split_exactly
from frame_metrics.verbs.compare.differences import Pair, Row
from frame_metrics.verbs.compare.options import CompareOptions

Compared: TypeAlias = Callable[[int, Pair], list[Row]]  # returns the rows of a segment and a pair of arms, by metric


@dataclass(frozen=True, eq=False)
class Splits:
    """The units of all arms in each segment."""

    units: Array  # number of units of each arm, shape (segments, arms)
    p_value: Array  # of the test that arms have the wanted shares, NaN without such shares, shape (segments,)
    note: str | None  # what a reader of the p-value has to know

    @classmethod
    def of(cls, units: Array, several: int, arms: Segments, columns: Columns, options: CompareOptions) -> Splits:
        """Test the shares of the arms, if ``split=`` says them.

        Parameters
        ----------
        units : number of units of each arm, shape (segments, arms).
        several : how many times a unit is in one arm more.
        arms, columns, options : the arms of the result, the roles, and the wanted shares.
        """
        p_value, note = np.full(len(units), np.nan), None
        if options.split is not None:
            asked, shares = shares_of(options.split, arms.values(str(columns.arm)), columns)
            test = split_exactly if columns.segments else chi_square
            p_value = np.array([test(here[asked], shares) for here in units])
            if not columns.cluster:
                note = f"units are {word_for(columns)}; name the users who have several with cluster="
            elif several:
                note = f"{word_for(columns)} of several arms count in each: {several} times"
        return cls(units, p_value, note)

    def beside(self, compared: Compared) -> Compared:
        """Return a function that gives the rows of ``compared`` with the columns of the split."""

        def rows(segment: int, pair: Pair) -> list[Row]:
            share, base = ratio(self.units[segment, list(pair)], self.units[segment].sum())
            split: Row = {"unit_share": share, "baseline_unit_share": base, "split_note": self.note}
            split["split_p_value"] = self.p_value[segment]
            return [row | split for row in compared(segment, pair)]

        return rows


def splits_of_rows(
    rows: pl.DataFrame, columns: Columns, segments: Segments, arms: Segments, options: CompareOptions
) -> Splits:
    """Count the units of rows without a query, clusters or else rows; ``segments``, ``arms``: those of the result."""
    return Splits.of(*_counted(units_of_rows(rows, columns), columns, segments, arms), arms, columns, options)


def splits_of_queries(log: Log, segments: Segments, arms: Segments, options: CompareOptions) -> Splits:
    """Count the units of a log, clusters or else queries; ``segments``, ``arms``: those of the result.

    Raises
    ------
    NotComputableError
        The units are queries, and all of them are in every arm.
    """
    columns = log.columns
    units, several = _counted(units_of_log(log).drop_nulls("unit"), columns, segments, arms)
    alike = len(arms) > 1 and units.any() and (units == units[:, :1]).all()
    if not columns.cluster and alike and (units.sum() - several) * len(arms) == units.sum():
        arm = str(columns.arm)
        raise NotComputableError(
            f"every query ({listed(columns.query)}) is in every arm of {arm}, as if systems had answered the same "
            f"queries: compare() pairs these, with system={shown(arm)} in the place of arm=. If several users asked "
            "them, name the users with cluster="
        )
    return Splits.of(units, several, arms, columns, options)


def _counted(table: pl.DataFrame, columns: Columns, segments: Segments, arms: Segments) -> tuple[Array, int]:
    """Return the number of units of each arm, shape (segments, arms), and how many times a unit is in one arm more.

    ``table``: the units, as ``units_of_rows`` returns them; one may stand several times.
    """
    inside = [f"by:{i}" for i in range(len(columns.segments))]
    each = pl.DataFrame([segments.values(name).alias(by) for by, name in zip(inside, columns.segments, strict=True)])
    arm = pl.DataFrame({"arm": arms.values(str(columns.arm))}).with_row_index("n_arm")
    found = table.unique(maintain_order=True).join(arm, on="arm", nulls_equal=True)
    found = found.join(each.with_row_index("at"), on=inside, nulls_equal=True) if inside else found.with_columns(at=0)
    several = len(found) - len(found.select("at", "unit").unique())
    cells = found.group_by("at", "n_arm").agg(pl.col("times").sum())
    units = np.zeros((len(segments), len(arms)), np.int64)
    units[cells["at"].to_numpy(), cells["n_arm"].to_numpy()] = cells["times"].to_numpy()
    return units, several
