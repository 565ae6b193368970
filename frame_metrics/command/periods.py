"""Columns of dates, made into periods."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from datetime import date

import polars as pl

from frame_metrics.backends.times import times_in, unit_of
from frame_metrics.command.texts import say
from frame_metrics.errors import BadValueError, ColumnError, listed, quote

# The unit of polars for each word that means it.
UNITS = {
    **dict.fromkeys(("h", "hour", "hours", "hourly"), "h"),
    **dict.fromkeys(("d", "day", "days", "daily"), "d"),
    **dict.fromkeys(("w", "week", "weeks", "weekly"), "w"),
    **dict.fromkeys(("mo", "ms", "me", "month", "months", "monthly"), "mo"),
    **dict.fromkeys(("q", "qs", "qe", "quarter", "quarters", "quarterly"), "q"),
    **dict.fromkeys(("y", "ys", "ye", "a", "year", "years", "yearly", "annual", "annually"), "y"),
}
UNITS |= {"M": "mo"}  # of which m may be minutes
LENGTH = re.compile(r"([1-9]\d*)? ?([A-Za-z]+)")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ](\d\d:\d\d.*))?")
TIMES = ["date", "day", "time", "timestamp", "week", "month"]  # usual names of columns of dates
MOST_ARMS = 100  # dates that are compared in pairs
FIRST_ROWS = 1_000  # rows that show which columns hold dates


def period(text: str) -> str:
    """Read the length of a period, as 1w, week or M; raise for anything else."""
    found = LENGTH.fullmatch(text)
    unit = UNITS.get(found[2]) or UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None:
        raise BadValueError(f"{text!r} is no period, as 1d, 1w, 1mo, 1q or 1y")
    return f"{found[1] or 1}{unit}"


def day(text: str) -> str:
    """Read a date, as 2026-03-01; raise for anything else."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise BadValueError(f"{text!r} is no date, as 2026-03-01") from None


def sides_of(since: str) -> tuple[str, str]:
    """Return the names of the periods before a day and since it."""
    return f"before {since}", f"since {since}"


def in_two(log: pl.LazyFrame, column: str, since: str) -> pl.LazyFrame:
    """Return the log with the names of the periods before a day, and since it, in place of the dates of a column.

    Rows without a date are in neither, and are left out.
    """
    there = log.collect_schema()
    if column not in there:  # as the roles say
        return log
    log = _with_iso_dates(log, [column] if there[column] == pl.String else [])
    _check_dates(log.select(column), f"--since {since}")
    days = pl.col(column).cast(pl.String).str.slice(0, len("2026-03-01"))
    before, after = (pl.lit(name) for name in sides_of(since))
    side = pl.when(days < since).then(before).otherwise(after)
    return _dated(log, column, "both periods").with_columns(side.alias(column))


def _check_dates(values: pl.LazyFrame, asked: str) -> None:
    """Raise if a column has other values than dates."""
    ((column, kind),) = values.collect_schema().items()
    no_date = ~pl.col(column).str.contains(f"^{DATE.pattern}$") if kind == pl.String else pl.lit(not kind.is_temporal())
    known, odd = values.drop_nulls().head(1).collect(), values.filter(no_date).drop_nulls().head(1).collect()
    if len(odd) or not len(known):
        some = kind == pl.String and not values.filter(~no_date).head(1).collect().is_empty()
        has = f"has other values too, as {quote(odd.item())}" if some else "has none"
        raise ColumnError(f"{asked} needs a column of dates, as 2026-03-01, and {column!r} {has}")


def _dated(log: pl.LazyFrame, column: str, periods: str) -> pl.LazyFrame:
    """Return the rows with a date, and say how many have none; ``periods``: words for what these are left out of."""
    n, n_null = log.select(pl.len(), n_null=pl.col(column).null_count()).collect().row(0)
    if not n_null:
        return log
    say(f"{n_null:,} of {n:,} rows have no {column!r}, and are left out of {periods}")
    return log.filter(pl.col(column).is_not_null())


def check_dates_as_arms(log: pl.LazyFrame, column: str, ways: Sequence[str]) -> None:
    """Raise if a column of arms that are compared in pairs has so many dates or times that they are no arms.

    ``ways``: the options of periods that the command has.
    """
    if column not in log.collect_schema() or not holds_dates(log.select(column).head(FIRST_ROWS).collect()[column]):
        return
    n = log.select(pl.col(column).n_unique()).collect().item()
    if n > MOST_ARMS:
        since = ", or --since with the first day of the later period" * ("since" in ways)
        problem = f"{column!r} has {n:,} dates or times, each of which would be an arm"
        raise BadValueError(f"{problem}; pass --every 1w{since}").offering(every="1w")


def in_periods(log: pl.LazyFrame, columns: Sequence[str], every: str | None, arms: Sequence[str] = ()) -> pl.LazyFrame:
    """Return the log with the first day (or hour) of its period in the place of each date of some columns.

    Columns that hold no dates stay as they are; if none holds any, it is an error. Rows without a date are a segment of
    their own, but no arm: they are left out. ``arms``: the columns of arms among these.
    """
    if every is None:
        return log
    there = log.collect_schema()
    log = _with_iso_dates(log, [one for one in columns if there.get(one) == pl.String])
    first = log.select(one for one in columns if one in there).head(FIRST_ROWS).collect()
    dates = [one for one in first if holds_dates(one)]
    if not dates:
        named = f"{listed(columns)} {'has' if len(columns) == 1 else 'have'} none" if columns else "none is named"
        likely = [one for one in there.names() if one.lower() in TIMES and not columns]
        way = f"pass --by {shlex.quote(likely[0])}" if likely else "name it with --by"
        raise ColumnError(f"--every needs a column of dates, as 2026-03-01, and {named}; {way}")
    if every.endswith("h") and (days := [one.name for one in dates if not has_times(one)]):
        raise BadValueError(f"--every {every}: {listed(days)} has no times of the day")
    for one in dates:
        log = _dated(log, one.name, "all periods") if one.name in arms else log
    return log.with_columns(_start(one, every) for one in dates)


def _with_iso_dates(log: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """Return the log with dates that are written in another single way, as 01.03.2026, as 2026-03-01."""
    for name in columns:
        rows = log.select(pl.col(name).drop_nulls())
        first = rows.head(FIRST_ROWS).collect()[name]
        if _is_of_dates(first) or unit_of(times_in(first) or ()) != "day":
            continue
        texts = rows.unique(maintain_order=True).collect()[name].to_list()
        days = times_in(texts) or ()
        iso = [date.fromordinal(int(one.number)).isoformat() for one in days if one.unit == "day"]
        log = log.with_columns(pl.col(name).replace(texts, iso)) if len(iso) == len(texts) else log
    return log


def holds_dates(values: pl.Series) -> bool:
    """Return True for dates, times, or texts that begin with a date, as 2026-03-01."""
    return values.dtype.is_temporal() or _is_of_dates(values)


def _is_of_dates(values: pl.Series) -> bool:
    """Return True for texts that begin with a date, as 2026-03-01."""
    texts = values.drop_nulls()
    return values.dtype == pl.String and len(texts) > 0 and all(map(DATE.fullmatch, texts))


def has_times(values: pl.Series) -> bool:
    """Return True for times of the day with their date, each of which would be a segment of its own."""
    if isinstance(values.dtype, pl.Datetime):
        return bool((values.dt.truncate("1d") != values).any())
    return _is_of_dates(values) and any(found[1] for one in values.drop_nulls() if (found := DATE.fullmatch(one)))


def _start(values: pl.Series, every: str) -> pl.Expr:
    """Return the first day, or hour, of the period of each value of a column, whose first values are given."""
    column = pl.col(values.name)
    if values.dtype != pl.String:
        return column.dt.truncate(every)
    if every.endswith("h"):
        hours = column.str.slice(0, len("2026-03-01T00")).str.replace("T", " ") + ":00"
        return hours.str.to_datetime("%Y-%m-%d %H:%M").dt.truncate(every).dt.to_string("%Y-%m-%dT%H:%M")
    days = column.str.slice(0, len("2026-03-01")).str.to_date("%Y-%m-%d")
    return days.dt.truncate(every).dt.to_string("%Y-%m-%d")
