"""The units of the arms of a segment: how they are split, and notes about them, for the rows of a comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import polars as pl

from frame_metrics.backends.times import order_of_arms
from frame_metrics.errors import BadValueError, NotComputableError, listed, quote
from frame_metrics.fast.codes import codes
from frame_metrics.inputs import Array, ratio
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups
from frame_metrics.measuring.split import (
    MISMATCH_P,
    queries_are_times,
    repeated_terms,
    shares_of,
    units_of_rows,
    word_for,
)
from frame_metrics.measuring.values import Values
from frame_metrics.roles.columns import Columns
from frame_metrics.stats.exact import chi_square, split_exactly
from frame_metrics.verbs.compare.differences import UNIT_SHARES, UNJUDGED, Pair, Row
from frame_metrics.verbs.compare.options import CompareOptions

RowsOfPair: TypeAlias = Callable[[int, Pair], list[Row]]  # returns the rows of a segment and a pair of arms, by metric
USERS = "name the users who have several with cluster="
SHARE_TO_NOTE = 0.8  # if the other arm has more than this share of an arm's queries, a note says so


@record
class Splits:
    """The units of all arms in each segment."""

    columns: Columns
    noun: str  # the word for an arm
    units: Array | None  # how many units each arm has, shape (segments, arms); None with saved numbers
    # How many queries of each arm have rows and no judgment, shape (segments, arms); None if there are no queries.
    unjudged: Array | None
    p_value: Array  # of the test that arms have the wanted shares, NaN without such shares, shape (segments,)
    dependent: str = ""  # why queries are no units of their own, if it is known
    without_arm: int | None = None  # the number of the arm of units that have none, if it has no share
    are_periods: bool = False  # whether units may come back in another arm

    @classmethod
    def of(
        cls,
        units: Array,
        arms: CellGroups,
        columns: Columns,
        options: CompareOptions,
        unjudged: Array | None = None,
        dependent: str = "",
    ) -> Splits:
        """Test the shares of the arms, if ``split=`` says them.

        Parameters
        ----------
        arms, columns, options : the arms of the result, the roles, and the wanted shares.
        units, unjudged, dependent : see the class.
        """
        p_value, names, without_arm = np.full(len(units), np.nan), arms.values(str(columns.arm)), None
        if options.split is not None and options.shows_unit_shares:
            asked, shares = shares_of(options.split, names, columns)
            test = split_exactly if columns.segments else chi_square
            p_value = np.array([test(here[asked], shares) for here in units])
            without_arm = next(iter({*range(len(arms))}.difference(asked)), None)
        are_periods = options.noun == "period" or order_of_arms(names).are_periods
        return cls(columns, options.noun, units, unjudged, p_value, dependent, without_arm, are_periods)

    def with_split_columns(self, compared: RowsOfPair) -> RowsOfPair:
        """Return a function that gives the rows of ``compared`` with the columns of the split."""

        def rows(segment: int, pair: Pair) -> list[Row]:
            return [row | self.unit_columns(segment, pair, row) for row in compared(segment, pair)]

        return rows

    def unit_columns(self, segment: int, pair: Pair, row: Row) -> Row:
        """Return the columns about the units of a pair of arms; ``row``: the columns that count them."""
        row_of_units: Row = {"split_p_value": self.p_value[segment]}
        if self.unjudged is not None:
            each = self.unjudged[segment].tolist()
            row_of_units |= zip(UNJUDGED, (each[arm] for arm in pair if arm < len(each)), strict=False)
        if self.units is None:
            return row_of_units
        row_of_units |= zip(UNIT_SHARES, ratio(self.units[segment, list(pair)], self.units[segment].sum()), strict=True)
        return row_of_units | {"split_note": "; ".join(self._notes(segment, row)) or None}

    def _notes(self, segment: int, row: Row) -> list[str]:
        """Return notes about the units that a reader has to know, as clauses."""
        columns, p, notes = self.columns, self.p_value[segment], list[str]()
        if p < MISMATCH_P:
            notes.append(
                f"units were not assigned as planned, p is {p:.2g}: no difference can be trusted before it is known why"
            )
        if n := 0 if self.units is None or self.without_arm is None else self.units[segment, self.without_arm]:
            notes.append(f"{n:,} {word_for(columns)} with no {columns.arm} are left out of the split")
        if not columns.cluster:
            notes.append(f"units are {word_for(columns)}; {self.dependent or USERS}")
            fewer = min(row["n_units"], row["baseline_n_units"])
            if row["n_shared"] > SHARE_TO_NOTE * fewer:
                notes.append(
                    f"{row['n_shared']:,} of {fewer:,} queries are in both {self.noun}s, as if systems had answered "
                    f"the same ones: compare() pairs these, with system={quote(columns.arm)} in the place of arm="
                )
        elif row["n_shared"] and not self.are_periods:
            n, of = row["n_shared"], row["n_units"] + row["baseline_n_units"] - row["n_shared"]
            notes.append(f"{n:,} of {of:,} {word_for(columns)} are in both {self.noun}s, and count in each")
        return notes


def splits_of_rows(
    rows: pl.DataFrame, columns: Columns, segments: CellGroups, arms: CellGroups, options: CompareOptions
) -> Splits:
    """Count the units of rows without a query, clusters or else rows; ``segments``, ``arms``: those of the result."""
    return Splits.of(_counted_rows(rows, columns, segments, arms), arms, columns, options)


def splits_of_queries(values: Values, segments: CellGroups, arms: CellGroups, options: CompareOptions) -> Splits:
    """Count the units of a log, clusters or else queries; ``segments``, ``arms``: those of the result.

    Raises
    ------
    NotComputableError
        The units are queries, and all of them are in every arm.
    """
    units = check_not_pairs(values, segments, arms, options)
    unjudged, dependent = unjudged_of(values, segments, arms), _dependent(values)
    return Splits.of(units, arms, values.columns, options, unjudged, dependent)


def _dependent(values: Values) -> str:
    """Return why the queries are no units of their own, if their columns show it; "" if not."""
    term, n = repeated_terms(values.index, values.evaluated)
    if n:
        return f"those of one {quote(term)} are not independent: name it with cluster= too"
    if queries_are_times(values.index):
        return "they are times, of which neighbours may be alike: intervals and p-values are then too sure"
    return ""


def check_not_pairs(values: Values, segments: CellGroups, arms: CellGroups, options: CompareOptions) -> Array:
    """Return the number of units of each arm, shape (segments, arms); raise for queries that are all in every arm."""
    columns, index = values.columns, values.index
    unit = index.query if values.cluster is None else values.cluster
    at, of_arm = segments.group_of_cell[index.cell], arms.group_of_cell[index.cell]
    some = np.flatnonzero((at >= 0) & (of_arm >= 0) & ~np.isnan(unit))
    shape = len(segments), len(arms)
    units = _counted(at[some], of_arm[some], unit[some], np.ones(len(some)), shape)
    equal_counts = len(arms) > 1 and units.any() and (units == units[:, :1]).all()
    n_distinct = len(np.unique(unit[some] * len(segments) + at[some])) if equal_counts and not columns.cluster else 0
    if n_distinct and n_distinct * len(arms) == units.sum():
        arm, mix = str(columns.arm), ", so that the mix is the same" if getattr(options, "by", ()) else ""
        raise NotComputableError(
            f"every query ({listed(columns.query)}) is in every {options.noun} of {arm}, as if systems had answered "
            f"the same queries{mix}: compare() pairs these, with system={quote(arm)} in the place of arm=. If several "
            "users asked them, name the users with cluster="
        )
    return units


def splits_with_saved(values: Values, segments: CellGroups, arms: CellGroups, options: CompareOptions) -> Splits:
    """Count the queries without a judgment of arms that are compared with saved numbers, whose units are unknown."""
    columns, nothing = values.columns, np.full(len(segments), np.nan)
    return Splits(columns, options.noun, None, unjudged_of(values, segments, arms), nothing)


def without_judgment(values: Values) -> Array:
    """Mark the rankings that have rows and no judgment, and so are left out, shape (rankings,).

    Raises
    ------
    BadValueError
        No judgment of the log is 0, so that null seems to mean 0.
    """
    index, columns = values.index, values.columns
    unjudged = index.answered & ~values.evaluated
    if unjudged.any() and (columns.grade or columns.label) and not values.has_nonpositive:
        n, of = (len(np.unique(index.query[some])) for some in (unjudged, index.answered))
        raise BadValueError(
            f"{columns.grade or columns.label}: no row has a 0, and in {n:,} of {of:,} queries every row is null, "
            "which means not judged: these would be left out. If null means no click, make it 0, or pass "
            "unjudged_queries='count'; else drop their rows"
        )
    return unjudged


def unjudged_of(values: Values, segments: CellGroups, arms: CellGroups) -> Array:
    """Count the queries of each arm that have rows and no judgment, shape (segments, arms)."""
    index, counts = values.index, np.zeros((len(segments), len(arms)), np.int64)
    at, arm = segments.group_of_cell[index.cell], arms.group_of_cell[index.cell]
    some = without_judgment(values) & (at >= 0) & (arm >= 0)
    np.add.at(counts, (at[some], arm[some]), 1)
    return counts


def _counted_rows(rows: pl.DataFrame, columns: Columns, segments: CellGroups, arms: CellGroups) -> Array:
    """Count the units of rows without a query, as ``_counted`` does."""
    table, inside = units_of_rows(rows, columns), [f"by:{i}" for i in range(len(columns.segments))]
    each = pl.DataFrame([segments.values(name).alias(by) for by, name in zip(inside, columns.segments, strict=True)])
    arm = pl.DataFrame({"arm": arms.values(str(columns.arm))}).with_row_index("n_arm")
    found = table.join(arm, on="arm", nulls_equal=True)
    found = found.join(each.with_row_index("at"), on=inside, nulls_equal=True) if inside else found.with_columns(at=0)
    at, n_arm, times = (found[name].to_numpy() for name in ("at", "n_arm", "times"))
    return _counted(at, n_arm, codes(found, ["unit"])[0], times, (len(segments), len(arms)))


def _counted(segment: Array, arm: Array, unit: Array, times: Array, shape: tuple[int, int]) -> Array:
    """Return the number of units of each arm, shape (segments, arms).

    Parameters
    ----------
    segment, arm, unit : the numbers of each row; a unit may have several rows in an arm.
    times : how many units a row stands for.
    shape : the numbers of segments and of arms.
    """
    n_cells = shape[0] * shape[1]
    code = unit.astype(np.int64) * n_cells + segment.astype(np.int64) * shape[1] + arm
    distinct, first = np.unique(code, return_index=True)
    return np.bincount(distinct % n_cells, times[first], n_cells).astype(np.int64).reshape(shape)
