"""Sentences of a summary about time: whether the first metric rose or fell over days, weeks or other periods."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from frame_metrics.backends.display import value_text
from frame_metrics.report.cells import number_text, plain_text
from frame_metrics.report.sentences import Said
from frame_metrics.report.stated import Stated
from frame_metrics.stats.periods import LEAST, LEAST_OF_BREAK, LEAST_OF_DAYS, WEEK, Course, Periods, course

# Times as text: 2026-01-05, 2026-01-05 10:00, 2026-01-05/2026-01-11, 2026-W02, 2026-W02-3, 2026-01, 2026Q1.
WEEKS = re.compile(r"(\d{4})-?W(\d\d)(?:-(\d))?")
MONTHS = re.compile(r"(\d{4})-(\d\d)")
QUARTERS = re.compile(r"(\d{4})-?Q([1-4])")
FILLED = 0.5  # share of the median number of queries that the first and the last period need
MIDNIGHT = " 00:00:00"
ABOUT = {"trend": "trend", "break": "break", "either": "trend or break"}


def time_of(text: str) -> tuple[str, float] | None:
    """Return the unit of a time that is written as text, and its number in this unit; None for another text."""
    if found := WEEKS.fullmatch(text):
        year, week, day = (int(one or 1) for one in found.groups())
        return _in_days(lambda: date.fromisocalendar(year, week, day))
    if found := MONTHS.fullmatch(text):
        year, month = map(int, found.groups())
        return ("month", 12.0 * year + month) if 1 <= month <= 12 else None
    if found := QUARTERS.fullmatch(text):
        return "quarter", 4.0 * int(found[1]) + int(found[2])
    return _in_days(lambda: datetime.fromisoformat(text.split("/")[0]))


def _in_days(made: Any) -> tuple[str, float] | None:
    try:
        when = made()
    except ValueError:
        return None
    seconds = 0.0 if not isinstance(when, datetime) else when.hour * 3600 + when.minute * 60 + when.second
    return "day", when.toordinal() + seconds / 86400


def are_times(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Return True if a column of segments has times of one unit, two or more."""
    values = {*(value_text(row[name]) for row in rows if row[name] is not None)}
    return len(values) > 1 and unit_of(map(time_of, values)) is not None


def unit_of(times: Iterable[tuple[str, float] | None]) -> str | None:
    """Return the unit that all times have; None if they have several, or some is no time, or there are none."""
    units = {None if time is None else time[0] for time in times}
    return units.pop() if len(units) == 1 else None


class OfPeriods(Stated):
    """Sentences about time."""

    @cached_property
    def rows(self) -> list[tuple[float, Mapping[str, Any]]]:
        """The periods of the best system, in the order of time; none if its segments are no periods."""
        return sorted(((when, row) for (_, when), row in self._timed), key=lambda one: one[0])

    @cached_property
    def _timed(self) -> list[tuple[tuple[str, float], Mapping[str, Any]]]:
        """The same, with the unit of time."""
        by = self.content.by
        rows = [row for row in self.segments_of_best if row[by[0]] is not None] if len(by) == 1 else []
        timed = [(time_of(value_text(row[by[0]])), row) for row in rows]
        if unit_of(time for time, _ in timed) is None:
            return []
        return [(time, row) for time, row in timed if time is not None]

    def _are_days(self, time: Any) -> bool:
        """Return True for times of most days, one after the other; months and quarters are counted by ones too."""
        whole = len(time) > 1 and self._timed[0][0][0] == "day" and bool((time % 1 == 0).all())
        return whole and float(np.median(np.diff(time))) == 1

    def periods(self, nothing: list[str]) -> Iterator[Said]:
        """Yield how the first metric changed over time; first and last periods that are partly filled are left out.

        ``nothing``: takes what was looked for and is not there.
        """
        every = [one for one in self.rows if one[1]["value"] is not None]
        filled = _filled(every)
        time = np.array([when for when, _ in filled])
        days = self._are_days(time)
        n = len(filled)
        if n < LEAST:
            yield self._sentence(
                "absent", {}, of=f"No trend is looked for: of periods {LEAST} are needed, and {n} are there"
            )
            return
        if days and n < LEAST_OF_DAYS:
            why = f"days differ by their weekday, and {n} are too few; {LEAST_OF_DAYS} are needed"
            yield self._sentence("absent", {}, of=f"No trend is looked for: {why}")
            return
        for row in (one[1] for one in every if one not in filled):
            few = f"it has {row['n']:,} of the usual {self._usual(every):,} {self.content.unit}"
            yield self._sentence("absent", {}, of=f"{self._at(row)} is left out of the trend: {few}")
        values = np.array([row["value"] for _, row in filled])
        found = course(Periods(values, time, (time % WEEK) if days else None))
        if found.kind == "together":
            yield from self._dependent_periods([row for _, row in filled], time, days=days)
        elif found.kind == "none":
            nothing.append("a trend or a break" if days or n >= LEAST_OF_BREAK else "a trend")
        else:
            yield self._changed(found, [row for _, row in filled], days=days)

    def _at(self, row: Mapping[str, Any]) -> str:
        """Return the period of a row as text; the beginning of a day is the day."""
        return self._of(row).removesuffix(MIDNIGHT)

    def _usual(self, rows: Sequence[tuple[float, Mapping[str, Any]]]) -> int:
        return int(np.median([row["n"] for _, row in rows]))

    def _changed(self, found: Course, rows: Sequence[Mapping[str, Any]], *, days: bool) -> Said:
        """Return the sentence about a trend, a break, or either."""
        of = f"{self._at(rows[0])} to {self._at(rows[-1])}" if found.kind == "trend" else self._at(rows[found.cut])
        levels: dict[str, Any] = {
            "value": found.after,
            "baseline_value": found.before,
            "difference": found.after - found.before,
        }
        tests: dict[str, Any] = {"p_adjusted": found.p, "correction": "holm" if days or found.cut else None}
        n = sum(row["n"] for row in rows)
        return self._sentence(ABOUT[found.kind], {}, system=self.best, of=of, n=n, **levels, **tests)

    def _dependent_periods(self, rows: Sequence[Mapping[str, Any]], time: Any, *, days: bool) -> Iterator[Said]:
        """Yield that neighbouring periods are alike, and of days the last week beside the one before."""
        unit = "days" if days else "periods"
        of = f"No trend or break is told: neighbouring {unit} move together, so that chance makes such changes too"
        yield self._sentence("absent", {}, of=of)
        if not days or any(later - earlier != 1 for earlier, later in pairwise(time[-2 * WEEK :])):
            return
        before, after = ([row["value"] for row in some] for some in (rows[-2 * WEEK : -WEEK], rows[-WEEK:]))
        lower = sum(new < old for old, new in zip(before, after, strict=True))
        higher = sum(new > old for old, new in zip(before, after, strict=True))
        side = f"lower on {lower}" if lower >= higher else f"higher on {higher}"
        begin = plain_text(rows[-WEEK][self.content.by[0]], 60).removesuffix(MIDNIGHT)
        new, old = (number_text(float(np.mean(some))) for some in (after, before))
        of = (
            f"In the last {WEEK} days, from {begin}, {self.content.first} is {new} on average over days, {side} of "
            f"{WEEK} weekdays than in the {WEEK} days before: {old}"
        )
        yield self._sentence("absent", {}, of=of)


def _filled(rows: Sequence[tuple[float, Mapping[str, Any]]]) -> list[tuple[float, Mapping[str, Any]]]:
    """Return periods without the first and the last one, where these have far fewer queries than others."""
    if len(rows) < 3:
        return [*rows]
    least = FILLED * float(np.median([row["n"] for _, row in rows]))
    first, last = (int(rows[end][1]["n"] < least) for end in (0, -1))
    return [*rows[first : len(rows) - last]]
