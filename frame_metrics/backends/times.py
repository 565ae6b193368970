"""Periods of time among the values of a column: when they are, and their order."""

from __future__ import annotations

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

from frame_metrics.backends.display import value_text

# Times as text: 2026-01-05, 2026-01-05 10:00, 2026-01-05/2026-01-11, 2026-W02, 2026-W02-3, 2026-01, 2026Q1.
WEEKS = re.compile(r"(\d{4})-?W(\d\d)(?:-(\d))?")
MONTHS = re.compile(r"(\d{4})-(\d\d)")
QUARTERS = re.compile(r"(\d{4})-?Q([1-4])")
# Names of weekdays and of months, each with its place.
NAMES = [{str(name).lower(): at for at, name in enumerate(names)} for names in (day_name, day_abbr)]
NAMES += [{str(name).lower(): at for at, name in enumerate(names) if name} for names in (month_name, month_abbr)]
MOST_PERIODS = 1000  # periods; of more, those that lack are not looked for


class Time(NamedTuple):
    """When a period begins, as a number in a unit."""

    unit: str  # "day", "month" or "quarter"
    number: float


def time_of(text: str) -> Time | None:
    """Return the unit of a time that is written as text, and its number in this unit; None for another text."""
    if found := WEEKS.fullmatch(text):
        year, week, day = (int(one or 1) for one in found.groups())
        return _in_days(lambda: date.fromisocalendar(year, week, day))
    if found := MONTHS.fullmatch(text):
        year, month = map(int, found.groups())
        return Time("month", 12.0 * year + month) if 1 <= month <= 12 else None
    if found := QUARTERS.fullmatch(text):
        return Time("quarter", 4.0 * int(found[1]) + int(found[2]))
    return _in_days(lambda: datetime.fromisoformat(text.split("/")[0]))


def _in_days(made: Callable[[], Any]) -> Time | None:
    try:
        when = made()
    except ValueError:
        return None
    seconds = 0.0 if not isinstance(when, datetime) else when.hour * 3600 + when.minute * 60 + when.second
    return Time("day", when.toordinal() + seconds / 86400)


def unit_of(times: Iterable[Time | None]) -> str | None:
    """Return the unit that all times have; None if they have several, or some is no time, or there are none."""
    units = {None if time is None else time.unit for time in times}
    return units.pop() if len(units) == 1 else None


def times_of(values: Iterable[Any]) -> list[float] | None:
    """Return when each of some values is, as numbers in one unit; None if they are no times of one unit.

    Names of weekdays and of months are times too, if all values are such names.
    """
    texts = [value_text(value) for value in values]
    found = [time_of(text) for text in texts]
    if unit_of(found) is not None:
        return [time.number for time in found if time is not None]
    names = next((one for one in NAMES if texts and {text.lower() for text in texts} <= {*one}), None)
    return None if names is None else [float(names[text.lower()]) for text in texts]


def ordered_distinct(values: pl.Series) -> list[Any] | None:
    """Return the distinct values of a column in the order of time, null last; None if they are no times.

    An ordered category keeps its own order.
    """
    distinct = values.drop_nulls().unique(maintain_order=True)
    last = [None] if values.null_count() else []
    if distinct.dtype == pl.Enum:
        return [*distinct.sort().to_list(), *last]
    times = times_of(distinct.to_list()) if len(distinct) > 1 else None
    if times is None:
        return None
    return [value for _, value in sorted(zip(times, distinct.to_list(), strict=True), key=lambda one: one[0])] + last


def with_gaps(texts: Sequence[str]) -> list[str]:
    """Return the texts of periods in order, and between them those of periods that are not there.

    Parameters
    ----------
    texts : of the periods, in the order of time. Where their distances are no multiples of the least one, as of times
        of the day, nothing is added.
    """
    found = [time_of(text) for text in texts]
    times = [time for time in found if time is not None]
    if unit_of(found) is None or len(times) < 2 or len({*times}) < len(times):
        return [*texts]
    steps = [later.number - earlier.number for earlier, later in pairwise(times)]
    step = min(steps)
    n = round((times[-1].number - times[0].number) / step) + 1
    if step != round(step) or any(one % step for one in steps) or not len(times) < n <= MOST_PERIODS:
        return [*texts]
    there = {time.number: text for time, text in zip(times, texts, strict=True)}
    every = [times[0].number + step * at for at in range(n)]
    return [there.get(number) or _text_at(Time(times[0].unit, number), texts[0]) for number in every]


def _text_at(time: Time, like: str) -> str:
    """Return a time as text; ``like``: the text of another one."""
    number = int(time.number)
    if time.unit == "month":
        return f"{(number - 1) // 12}-{(number - 1) % 12 + 1:02}"
    if time.unit == "quarter":
        return f"{(number - 1) // 4}{like[4:-1]}{(number - 1) % 4 + 1}"
    when = date.fromordinal(number)
    if not WEEKS.fullmatch(like):
        return when.isoformat()
    year, week, day = when.isocalendar()
    return f"{year}{'-' if like[4] == '-' else ''}W{week:02}{f'-{day}' if like[-2] == '-' else ''}"
