"""Periods of time among the values of a column: when they are, and their order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

from frame_metrics.backends.display import value_text
from frame_metrics.backends.time_texts import (
    NAMES,
    WEEKS,
    Time,
    iso_time,
    numbered_time,
    slashed_date,
    time_of,
)

MOST_PERIODS = 1000  # periods; of more, those that lack are not looked for
CYCLES = {"a week": 52, "a month": 12, "a quarter": 4, "weekday": 7}  # units without a year, after which they repeat
# Names in the order of time, and texts of a number that grows in time, as "v10", "release 2.1" and "2026".
IN_TURN = [
    *(("before", "during", "after"), ("pre", "post"), ("earlier", "later"), ("yesterday", "today", "tomorrow")),
    *(("old", "new"), ("previous", "current", "next"), ("last", "this", "next")),
]
PERIODS = 4  # so many of these are of periods, the others also of what was made, as rankers
COUNTED = re.compile(
    r"(v|version|release|sprint|iteration|phase|wave|round|period|day)[. _-]*\d[\d.]*|(?:19|20)\d\d", re.I
)
VERSION = re.compile(r"(?:v|version|release)[. _-]*\d[\d.]*", re.I)
NUMBERS = re.compile(r"\d+(?:\.\d+)*")
MOST_DIGITS = 300  # of a number that is compared with others
FIRST = ("baseline", "control")  # names of the arm that stands before all others


class ArmOrder(NamedTuple):
    """The order of arms."""

    places: list[int]  # the numbers of the arms, in their order
    in_time: bool  # whether this is known to be the order of time
    are_periods: bool = False  # whether the arms are periods, and not what was made one after the other, as releases


def unit_of(times: Iterable[Time | None]) -> str | None:
    """Return the unit that all times have; None if they have several, or some is no time, or there are none."""
    units = {None if time is None else time.unit for time in times}
    return units.pop() if len(units) == 1 else None


def times_in(values: Iterable[Any], name: str = "") -> list[Time] | None:
    """Return when each of some values is, in one unit; None if they are no times, or if their order is not known.

    Without a year the first one is not known where the turn of the year may lie between two of them, as between
    December and January. So it may, unless the longest stretch without a value is that over the turn of the year, or
    all weeks, months or quarters of a year are there. Weekdays come again each week, and have no such order.

    ``name``: that of their column: whole numbers are weeks, months, quarters or years only if it says so.
    """
    found = _read([value_text(value) for value in values], name)
    if found is None or found[0].unit == "weekday":
        return None
    cycle, numbers = CYCLES.get(found[0].unit), sorted({time.number for time in found})
    if cycle is not None and len(numbers) < cycle:
        steps = [later - earlier for earlier, later in pairwise(numbers)]
        if max(steps, default=0) >= cycle - (numbers[-1] - numbers[0]):
            return None
    return found


def are_times(values: Iterable[Any], name: str) -> bool:
    """Return True if a column has times of one unit, two or more; nulls are none."""
    texts = {value_text(value) for value in values if value is not None}
    return len(texts) > 1 and times_in(texts, name) is not None


def times_of(values: Iterable[Any], name: str) -> list[float] | None:
    """Return when each of some values is, as numbers in one unit; None if they are no times of one unit.

    Weekdays, and months without a year, are times too, if all values are: in the order of the calendar.
    """
    found = _read([value_text(value) for value in values], name)
    return None if found is None else [time.number for time in found]


def _read(texts: Sequence[str], name: str) -> list[Time] | None:
    """Return the times of texts, all written in one way that is the only one; else None."""
    ways: list[Callable[[str], Time | None]] = [time_of, partial(numbered_time, column=name)]
    ways += [partial(_named, unit=unit, names=names) for unit, names in NAMES]
    if (found := next(filter(None, (_read_all(texts, way) for way in ways)), None)) is not None:
        return found
    slashed = [partial(slashed_date, day_first=first) for first in (True, False)]
    both = [*filter(None, (_read_all(texts, way) for way in slashed))]
    return both[0] if len(both) == 1 else None


def _named(text: str, unit: str, names: dict[str, int]) -> Time | None:
    at = names.get(text.lower())
    return None if at is None else Time(unit if unit in CYCLES else f"a {unit}", float(at))


def _read_all(texts: Sequence[str], way: Callable[[str], Time | None]) -> list[Time] | None:
    """Return the times of all texts; None if one has none, or they have several units."""
    found: list[Time] = []
    for text in texts:
        time = way(text)
        if time is None or time.unit != (found or [time])[0].unit:
            return None
        found.append(time)
    return found or None


def order_of_arms(names: pl.Series) -> ArmOrder:
    """Return the order of arms: that of time where it is known.

    Else a control or baseline is the first, the others have the order of the calendar if they are weekdays or months
    without a year, and texts are in the order of the numbers in them, and of the alphabet.

    Parameters
    ----------
    names : the distinct names of the arms, in the order of names, null last; the name of the series is their column's.
    """
    values = names.drop_nulls().to_list()
    last = [at for at, is_null in enumerate(names.is_null()) if is_null]
    some = [at for at in range(len(names)) if at not in last]
    texts = [value_text(value) for value in values]
    times = times_in(values, names.name)
    if names.dtype == pl.Enum or len(some) < 2:
        return ArmOrder([*some, *last], names.dtype == pl.Enum, times is not None)
    key = [time.number for time in times] if times is not None else _counted(texts)
    in_time = key is not None
    if key is None and names.dtype in (pl.String, pl.Categorical):
        control = [text.lower() not in FIRST for text in texts]
        key = [*zip(control, times_of(values, names.name) or map(_with_numbers, texts), strict=True)]
    if key is not None:
        some = [at for _, at in sorted(zip(key, some, strict=True))]
    are_periods = times is not None or any({text.lower() for text in texts} <= {*turn} for turn in IN_TURN[:PERIODS])
    return ArmOrder([*some, *last], in_time, are_periods)


def _counted(texts: Sequence[str]) -> list[Any] | None:
    """Return sort keys of names that say their order in time, as "before" and "after", or "v9" and "v10"; else None."""
    lower = [text.lower() for text in texts]
    for turn in IN_TURN:
        if {*lower} <= {*turn}:
            return [turn.index(text) for text in lower]
    found = [COUNTED.fullmatch(text) for text in texts]
    words = {None if one is None else (one[1] or "year").lower() for one in found}
    return [*map(_with_numbers, texts)] if len(words) == 1 and None not in words else None


def _with_numbers(text: str) -> tuple[Any, ...]:
    """Return a sort key of a text, by which "group 9" is before "group 10"; numbers with one point are decimals."""
    is_version = VERSION.fullmatch(text) is not None
    numbers: list[tuple[float, ...]] = []
    for one in NUMBERS.findall(text):
        parts = [part[:MOST_DIGITS] for part in one.split(".")]
        numbers.append((float(one),) if len(parts) == 2 and not is_version else tuple(map(int, parts)))
    return (*(part for pair in zip(NUMBERS.split(text), [*numbers, ()], strict=True) for part in pair), text)


def ordered_distinct(values: pl.Series) -> list[Any] | None:
    """Return the distinct values of a column in the order of time, null last; None if they are no times.

    An ordered category keeps its own order.
    """
    distinct = values.drop_nulls().unique(maintain_order=True)
    last = [None] if values.null_count() else []
    if distinct.dtype == pl.Enum:
        return [*distinct.sort().to_list(), *last]
    times = times_of(distinct.to_list(), values.name) if len(distinct) > 1 else None
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
    found = [iso_time(text) for text in texts]  # what is written in another way cannot be written for those that lack
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
