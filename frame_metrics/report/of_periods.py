"""Sentences of a summary about time: whether the first metric rose or fell over days, weeks or other periods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from frame_metrics.backends.display import value_text
from frame_metrics.backends.times import Time, time_of, unit_of
from frame_metrics.report.cells import number_text
from frame_metrics.report.sentences import Figures
from frame_metrics.report.stated import SentenceWriter
from frame_metrics.report.words import when_text
from frame_metrics.stats.periods import (
    MIN_DAYS,
    MIN_PERIODS,
    MIN_PERIODS_OF_BREAK,
    WEEK,
    Course,
    Periods,
    course,
    weekdays,
    well_filled,
)

ABOUT = {"trend": "trend", "break": "break", "either": "trend or break"}


def are_times(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Return True if a column of segments has times of one unit, two or more."""
    values = {*(value_text(row[name]) for row in rows if row[name] is not None)}
    return len(values) > 1 and unit_of(map(time_of, values)) is not None


class PeriodSentences(SentenceWriter):
    """Sentences about time."""

    @cached_property
    def rows(self) -> list[tuple[float, Mapping[str, Any]]]:
        """The periods of the best system, in the order of time; none if its segments are no periods."""
        return sorted(((when, row) for (_, when), row in self._timed), key=lambda one: one[0])

    @cached_property
    def _timed(self) -> list[tuple[Time, Mapping[str, Any]]]:
        """The same, with the unit of time."""
        by = self.content.by
        rows = [row for row in self.segments_of_best if row[by[0]] is not None] if len(by) == 1 else []
        timed = [(time_of(value_text(row[by[0]])), row) for row in rows]
        if unit_of(time for time, _ in timed) is None:
            return []
        return [(time, row) for time, row in timed if time is not None]

    def periods(self, nothing: list[str]) -> Iterator[Figures]:
        """Yield how the first metric changed over time; first and last periods that are partly filled are left out.

        ``nothing``: takes what was looked for and is not there.
        """
        every = [one for one in self.rows if one[1]["value"] is not None]
        some = well_filled(np.array([row["n"] for _, row in every]))
        filled = [one for one, is_filled in zip(every, some, strict=True) if is_filled]
        time = np.array([when for when, _ in filled])
        n = len(filled)
        if n < MIN_PERIODS:
            yield self._sentence(
                "absent", {}, of=f"No trend is looked for: of periods {MIN_PERIODS} are needed, and {n} are there"
            )
            return
        weekday = weekdays(self._timed[0][0].unit, time)
        days = weekday is not None
        if days and n < MIN_DAYS:
            why = f"days differ by their weekday, and {n} are too few; {MIN_DAYS} are needed"
            yield self._sentence("absent", {}, of=f"No trend is looked for: {why}")
            return
        for row in (one[1] for one in every if one not in filled):
            few = f"it has {row['n']:,} of the usual {self._usual(every):,} {self.content.unit}"
            yield self._sentence("absent", {}, of=f"{self._of(row)} is left out of the trend: {few}")
        # The course of the values: a trend, a break, or nothing that is significant.
        values = np.array([row["value"] for _, row in filled])
        found = course(Periods(values, time, weekday))
        if found.kind == "together":
            yield from self._dependent_periods([row for _, row in filled], time, days=days)
        elif found.kind == "none":
            nothing.append("a trend or a break" if days or n >= MIN_PERIODS_OF_BREAK else "a trend")
        else:
            yield self._changed(found, [row for _, row in filled], days=days)

    def _when(self, row: Mapping[str, Any]) -> str:
        """Return the period of a row as text."""
        return when_text(row[self.content.by[0]])

    def _usual(self, rows: Sequence[tuple[float, Mapping[str, Any]]]) -> int:
        return int(np.median([row["n"] for _, row in rows]))

    def _changed(self, found: Course, rows: Sequence[Mapping[str, Any]], *, days: bool) -> Figures:
        """Return the sentence about a trend, a break, or either."""
        of = (
            f"{self._when(rows[0])} to {self._when(rows[-1])}" if found.kind == "trend" else self._when(rows[found.cut])
        )
        levels: dict[str, Any] = {
            "value": found.after,
            "baseline_value": found.before,
            "difference": found.after - found.before,
        }
        tests: dict[str, Any] = {"p_adjusted": found.p, "correction": "holm" if days or found.cut else None}
        n = sum(row["n"] for row in rows)
        return self._sentence(ABOUT[found.kind], {}, system=self.best, of=of, n=n, **levels, **tests)

    def _dependent_periods(self, rows: Sequence[Mapping[str, Any]], time: Any, *, days: bool) -> Iterator[Figures]:
        """Yield that neighbouring periods are alike, and for days the last week and the one before."""
        unit = "days" if days else "periods"
        why = f"neighbouring {unit} move together, so that chance makes such changes too"
        of = f"No trend or break can be told from chance: {why}"
        yield self._sentence("absent", {}, of=of)
        if not days or any(later - earlier != 1 for earlier, later in pairwise(time[-2 * WEEK :])):
            return
        before, after = ([row["value"] for row in some] for some in (rows[-2 * WEEK : -WEEK], rows[-WEEK:]))
        lower = sum(new < old for old, new in zip(before, after, strict=True))
        higher = sum(new > old for old, new in zip(before, after, strict=True))
        side = f"lower on {lower}" if lower >= higher else f"higher on {higher}"
        begin = self._when(rows[-WEEK])
        new, old = (number_text(float(np.mean(some))) for some in (after, before))
        of = (
            f"In the last {WEEK} days, from {begin}, {self.content.first} is {new} on average over days, {side} of "
            f"{WEEK} weekdays than in the {WEEK} days before: {old}"
        )
        yield self._sentence("absent", {}, of=of)
