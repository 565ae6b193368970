"""The rows that a call is about: those for which conditions on columns hold."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from frame_metrics.command.options import literal
from frame_metrics.command.periods import DATE, FIRST_ROWS, holds_dates
from frame_metrics.errors import BadRowsError, BadValueError, ColumnError, listed, no_column, quote

CONDITION = re.compile(r"\s*([^=<>!]+?)\s*(==?|!=|<=?|>=?)\s*(?:(['\"])(.*)\3|(.+?))\s*")
AND = re.compile(r"\s+and\s+|\s*&&?\s*", re.IGNORECASE)
SIGNS: dict[str, Any] = {
    "=": operator.eq,
    "!=": pl.Expr.ne_missing,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MOST_VALUES = 8  # of a column that an error lists


class Condition(NamedTuple):
    """A comparison of a column with a value, as text."""

    column: str
    sign: str
    value: str

    @property
    def text(self) -> str:
        """The condition as it is typed."""
        return f"{self.column}{self.sign}{self.value}"

    def holds(self, rows: pl.LazyFrame) -> pl.Expr:
        """Return whether it holds for each row; a null is equal to nothing."""
        column, kind, value = pl.col(self.column), rows.collect_schema()[self.column], self.value
        if kind.is_nested():
            raise ColumnError(f"--where {self.text}: {self.column!r} has lists, and a condition reads single values")
        if kind == pl.Boolean or not (kind.is_numeric() or self._orders_numbers(kind)):
            left, right = self._as_texts(rows, kind)
        elif (number := _number(value)) is None:
            raise BadValueError(f"--where {self.text}: {value!r} is no number, and {self.column!r} has numbers")
        else:
            left, right = column.cast(pl.Float64, strict=False) if kind == pl.String else column, pl.lit(number)
        holds: pl.Expr = SIGNS[self.sign](left, right)
        return holds.fill_null(False)

    def _orders_numbers(self, kind: pl.DataType) -> bool:
        """Return True for a number that texts are greater or less than, which are then read as numbers too."""
        return kind == pl.String and self.sign not in ("=", "!=") and _number(self.value) is not None

    def _as_texts(self, rows: pl.LazyFrame, kind: pl.DataType) -> tuple[pl.Expr, pl.Expr]:
        """Return both sides as texts; of times only as much as the value says, as the day."""
        left, value = pl.col(self.column).cast(pl.String), self.value
        if DATE.fullmatch(value):
            value = value.replace("T", " ")
            left = left.str.replace("T", " ", literal=True).str.slice(0, len(value))
        if self.sign not in ("=", "!=") and not (DATE.fullmatch(value) and self._has_dates(rows)):
            raise ColumnError(
                f"--where {self.text}: {self.sign} compares numbers, or dates as 2026-03-01, and {self.column!r} has "
                "others"
            )
        return left, pl.lit(value.lower() if kind == pl.Boolean else value)

    def _has_dates(self, rows: pl.LazyFrame) -> bool:
        return holds_dates(rows.select(self.column).head(FIRST_ROWS).collect()[self.column])


def _number(text: str) -> float | None:
    value = literal(text)
    return None if isinstance(value, str | bool) else value


def conditions(texts: Sequence[str]) -> list[Condition]:
    """Read conditions, as device=phone or day>=2026-03-01; raise for anything else."""
    found = list[Condition]()
    for text in texts:
        parts = [CONDITION.fullmatch(one) for one in AND.split(text)]
        parts = parts if all(parts) else [CONDITION.fullmatch(text)]
        if not all(parts):
            raise BadValueError(f"{text!r} is no condition, as device=phone, score!=0 or day>=2026-03-01")
        found += [Condition(one[1], "=" if one[2] == "==" else one[2], one[4] or one[5] or "") for one in parts if one]
    return found


def chosen(rows: pl.LazyFrame, asked: Sequence[Condition]) -> pl.LazyFrame:
    """Return the rows for which conditions hold; raise if there is none.

    Of several values that one column is to be equal to, any is enough.
    """
    if not asked:
        return rows
    there = rows.collect_schema().names()
    for one in asked:
        if one.column not in there:
            raise no_column(f"--where {one.text}", one.column, there)
    equal = [one for one in asked if one.sign == "="]
    each = [[one for one in equal if one.column == column] for column in dict.fromkeys(one.column for one in equal)]
    each += [[one] for one in asked if one.sign != "="]
    found = rows.filter(pl.any_horizontal(one.holds(rows) for one in some) for some in each)
    if found.head(1).collect().is_empty() and not rows.head(1).collect().is_empty():
        raise _none_left(rows, asked)
    return found


def _none_left(rows: pl.LazyFrame, asked: Sequence[Condition]) -> BadRowsError:
    """Return the error about conditions that hold for no row, with the values that columns have."""
    has = list[str]()
    for column in dict.fromkeys(one.column for one in asked):
        values = rows.select(pl.col(column).cast(pl.String).drop_nulls().unique().sort()).collect()[column]
        more = f" and {len(values) - MOST_VALUES:,} more" if len(values) > MOST_VALUES else ""
        has.append(f"{quote(column)} has {listed(values.head(MOST_VALUES))}{more}")
    return BadRowsError(f"--where {as_typed(asked)}: no row has that; {'; '.join(has)}")


def as_typed(asked: Sequence[Condition]) -> str:
    """Return conditions as they are typed, with "and" between them."""
    return " and ".join(one.text for one in asked)


def of_queries(rows: pl.LazyFrame, asked: Sequence[Condition], query: Sequence[str]) -> list[Condition]:
    """Return the conditions on columns that have one value in all rows of a query, as its device."""
    others = {one.column for one in asked}.difference(query)
    if not {*query, *others} <= {*rows.collect_schema()}:  # whose error lists what is there
        return []
    n = [pl.col(name).n_unique() for name in others]
    most = rows.group_by(query).agg(n).select(pl.col(*others).max()).collect() if others else pl.DataFrame()
    return [one for one in asked if one.column in query or most[one.column].item() == 1]


def queries_with(logs: Sequence[pl.LazyFrame], asked: Sequence[Condition], query: Sequence[str]) -> pl.DataFrame:
    """Return the queries of logs for which conditions hold, as texts; a log without the columns has none."""
    needed = {*query, *(one.column for one in asked)}
    found = [
        chosen(log, asked).select(pl.col(*query).cast(pl.String)) for log in logs if needed <= {*log.collect_schema()}
    ]
    return pl.concat(found).unique().collect()
