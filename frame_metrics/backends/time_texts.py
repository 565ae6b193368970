"""Texts that name a period of time, read one by one: dates, weeks, months, quarters, with a year or without."""

from __future__ import annotations

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Callable
from datetime import date, datetime
from typing import Any, NamedTuple

# Times as ISO 8601 writes them, and quarters: 2026-01-05 10:00, 2026-01-05/2026-01-11, 2026-W02-3, 2026-01, 2026Q1.
WEEKS = re.compile(r"(\d{4})-?W(\d\d)(?:-(\d))?")
MONTHS = re.compile(r"(\d{4})-(\d\d)")
QUARTERS = re.compile(r"(\d{4})-?Q([1-4])")
# Other ways to write them: 5.1.2026; 2026-W2, W2 2026, week 2/2026; 1/2026, 2026/1; Q1 2026; Jan 2026, 2026 January.
YEAR, GAP, WEEK_WORD = r"((?:19|20)\d\d)", r"[ ,./-]*", r"(?:w|wk|kw|cw|week|weeks)[. ]*"
DATE = re.compile(rf"(\d\d?)\.(\d\d?)\.{YEAR}")
WEEK_OF_YEAR = (
    re.compile(rf"{YEAR}{GAP}{WEEK_WORD}(\d\d?)", re.I),
    re.compile(rf"{WEEK_WORD}(\d\d?)[ ,./-]+{YEAR}", re.I),
)
MONTH_OF_YEAR = re.compile(rf"{YEAR}[/-](\d\d?)"), re.compile(rf"(\d\d?)[./-]{YEAR}")
PART_OF_YEAR = re.compile(rf"{YEAR}{GAP}([qh])([1-4])", re.I), re.compile(rf"([qh])([1-4]){GAP}{YEAR}", re.I)
NAMED_MONTH = re.compile(rf"{YEAR}{GAP}([a-z]+)", re.I), re.compile(rf"([a-z]+){GAP}{YEAR}", re.I)
SLASHED = re.compile(rf"(\d\d?)([/-])(\d\d?)\2{YEAR}")
# Without a year: week 9, W9, Q4; and whole numbers in a column that is named for what it holds.
NUMBERED = re.compile(r"(w|wk|kw|cw|week|q|quarter|month|year)[. _-]*(\d+)", re.I)
WORDS = {"w": "week", "wk": "week", "kw": "week", "cw": "week", "q": "quarter"}
COLUMNS = {one: one for one in ("week", "month", "quarter", "year")}
COLUMNS |= dict.fromkeys(("iso_week", "isoweek", "week_of_year", "calendar_week", "kw", "cw"), "week")
MOST = {"week": 53, "month": 12, "quarter": 4}  # of a year
NAMES_OF: dict[str, Any] = {"weekday": (day_name, day_abbr), "month": (month_name, month_abbr)}
# Names of weekdays and of months, each with its place.
NAMES = [
    (unit, {str(name).lower(): at for at, name in enumerate(names) if name})
    for unit, each in NAMES_OF.items()
    for names in each
]
NAMES.append(("month", {**NAMES[-1][1], "sept": 9}))  # as English has it beside "sep"
MONTH_NUMBERS = {name: at for unit, names in NAMES if unit == "month" for name, at in names.items()}


class Time(NamedTuple):
    """When a period begins, as a number in a unit."""

    unit: str  # "day", "month", "quarter", "half", "year"; without a year "weekday", "a week", "a month", "a quarter"
    number: float


def time_of(text: str) -> Time | None:
    """Return the unit of a time that is written as text, and its number in this unit; None for another text.

    Only texts with a year that can be read in one way are times.
    """
    return iso_time(text) or _other_time(text)


def iso_time(text: str) -> Time | None:
    """Return the same of a text as ISO 8601 has it, or of a quarter as 2026Q1."""
    if found := WEEKS.fullmatch(text):
        year, week, day = (int(one or 1) for one in found.groups())
        return _in_days(lambda: date.fromisocalendar(year, week, day))
    if found := MONTHS.fullmatch(text):
        return _month(found[1], found[2])
    if found := QUARTERS.fullmatch(text):
        return Time("quarter", 4.0 * int(found[1]) + int(found[2]))
    return _in_days(lambda: datetime.fromisoformat(text.split("/")[0]))


def _other_time(text: str) -> Time | None:
    """Return the same of a text in another way to write it."""
    if found := DATE.fullmatch(text):
        day, month, year = map(int, found.groups())
        return _in_days(lambda: date(year, month, day))
    if groups := _matched(WEEK_OF_YEAR, text):
        of_year, number = int(groups[0]), int(groups[1])
        return _in_days(lambda: date.fromisocalendar(of_year, number, 1))
    if groups := _matched(MONTH_OF_YEAR, text):
        return _month(*groups)
    if groups := _matched(PART_OF_YEAR, text):
        unit, n = ("quarter", 4) if groups[1].lower() == "q" else ("half", 2)
        return Time(unit, float(n * int(groups[0]) + int(groups[2]))) if int(groups[2]) <= n else None
    groups = _matched(NAMED_MONTH, text)
    return _month(groups[0], MONTH_NUMBERS.get(groups[1].lower(), 0)) if groups else None


def _matched(patterns: tuple[re.Pattern[str], re.Pattern[str]], text: str) -> tuple[str, ...] | None:
    """Return the groups of the pattern that matches, the year first; the second pattern has it last."""
    first, last = patterns
    if found := first.fullmatch(text):
        return found.groups()
    if found := last.fullmatch(text):
        *others, year = found.groups()
        return (year, *others)
    return None


def _month(year: Any, month: Any) -> Time | None:
    return Time("month", 12.0 * int(year) + int(month)) if 1 <= int(month) <= 12 else None


def _in_days(made: Callable[[], Any]) -> Time | None:
    try:
        when = made()
    except ValueError:
        return None
    seconds = 0.0 if not isinstance(when, datetime) else when.hour * 3600 + when.minute * 60 + when.second
    return Time("day", when.toordinal() + seconds / 86400)


def slashed_date(text: str, *, day_first: bool) -> Time | None:
    """Return the time of a date as 15/02/2026 or 15-02-2026, or with the month first; None for another text."""
    if not (found := SLASHED.fullmatch(text)):
        return None
    one, _, other, year = found.groups()
    day, month = (one, other) if day_first else (other, one)
    return _in_days(lambda: date(int(year), int(month), int(day)))


def numbered_time(text: str, column: str) -> Time | None:
    """Return the time of a week, month or quarter without its year, or of a year; None for another text.

    Parameters
    ----------
    text : as "W9", "week 9" or "Q4"; or a whole number in a column that is named for what it holds, as "week".
    column : the name of the column.
    """
    found = NUMBERED.fullmatch(text)
    word = found[1].lower() if found else COLUMNS.get(column.lower(), "")
    number = found[2] if found else text.removesuffix(".0")
    unit = WORDS.get(word, word)
    if not unit or not (number.isascii() and number.isdigit()):
        return None
    least, most = (1900, 2100) if unit == "year" else (1, MOST[unit])
    if not least <= int(number) <= most:
        return None
    return Time(unit if unit == "year" else f"a {unit}", float(number))
