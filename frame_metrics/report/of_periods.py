"""Sentences of a summary about time: whether the first metric rose or fell over days, weeks or other periods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from frame_metrics.backends.display import value_text
from frame_metrics.backends.time_texts import Time
from frame_metrics.backends.times import times_in
from frame_metrics.report.cells import number_text
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import Figures
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

ABOUT = {"trend": "trend", "break": "break", "outage": "outage", "either": "trend or break"}


def are_times(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Return True if a column of segments has times of one unit, two or more."""
    values = {*(value_text(row[name]) for row in rows if row[name] is not None)}
    return len(values) > 1 and times_in(values, name) is not None


@dataclass(frozen=True)
class PeriodSentences(SentenceWriter):
    """Sentences about time.

    Parameters
    ----------
    part : the values of the other columns of segments, whose periods are looked at; None without these.
    """

    part: Mapping[str, Any] | None = None

    @cached_property
    def rows(self) -> list[tuple[float, Mapping[str, Any]]]:
        """The periods of the best system, in the order of time; none if its segments are no periods."""
        return sorted(((when, row) for (_, when), row in self._timed), key=lambda one: one[0])

    @cached_property
    def _timed(self) -> list[tuple[Time, Mapping[str, Any]]]:
        """The same, with the unit of time."""
        part, name = self.part or {}, self._time
        rows = self.segments_of_best if len(self.content.by) == len(part) + 1 else []
        rows = [row for row in rows if row[name] is not None and all(row[one] == is_ for one, is_ in part.items())]
        return [*zip(times_in([row[name] for row in rows], name) or [], rows, strict=False)]

    @property
    def _time(self) -> str:
        """The column of times, which is the only one, or the one that ``part`` has not."""
        return next(name for name in self.content.by if name not in (self.part or {}))

    @cached_property
    def _every(self) -> list[tuple[float, Mapping[str, Any]]]:
        return [one for one in self.rows if one[1]["value"] is not None]

    @cached_property
    def _filled(self) -> list[tuple[float, Mapping[str, Any]]]:
        """The periods with a value, without first and last ones that are partly filled."""
        some = well_filled(np.array([row["n"] for _, row in self._every]))
        return [one for one, is_filled in zip(self._every, some, strict=True) if is_filled]

    @cached_property
    def _periods(self) -> Periods:
        time, ends = np.array([when for when, _ in self._filled]), ("ci_low", "ci_high")
        between = np.array([[row.get(end) for end in ends] for _, row in self._filled], float).T
        return Periods(
            np.array([row["value"] for _, row in self._filled], float),
            time,
            weekdays(self._timed[0][0].unit, time),
            between if np.isfinite(between).any() else None,
            np.array([row["n"] for _, row in self._filled], float),
        )

    @property
    def _are_days(self) -> bool:
        return self._periods.weekday is not None

    @cached_property
    def looked_for(self) -> list[str]:
        """The changes that there are periods enough for."""
        n, days = len(self._filled), bool(self._filled) and self._are_days
        if n < (MIN_DAYS if days else MIN_PERIODS):
            return []
        every = ["a trend", "a break", *["an outage"] * (self._periods.ends is not None)]
        return every if n >= MIN_PERIODS_OF_BREAK else every[:1]

    @cached_property
    def course(self) -> Course:
        """The course of the values: a trend, a break, an outage, or nothing that is significant."""
        return course(self._periods)

    def periods(self, nothing: list[str]) -> Iterator[Figures]:
        """Yield how the first metric changed over time; first and last periods that are partly filled are left out.

        ``nothing``: takes what was looked for and is not there.
        """
        n = len(self._filled)
        if n < MIN_PERIODS:
            yield self._sentence(
                "absent", {}, of=f"No trend is looked for: of periods {MIN_PERIODS} are needed, and {n} are there"
            )
            return
        if not self.looked_for:
            why = f"days differ by their weekday, and {n} are too few; {MIN_DAYS} are needed"
            yield self._sentence("absent", {}, of=f"No trend is looked for: {why}")
            return
        if n < MIN_PERIODS_OF_BREAK:
            few = f"of periods {MIN_PERIODS_OF_BREAK} are needed, and {n} are there"
            yield self._sentence("absent", {}, of=f"No break or outage is looked for: {few}")
        for row in (one[1] for one in self._every if one not in self._filled):
            few = f"it has {row['n']:,} of the usual {self._usual:,} {self.content.unit}"
            yield self._sentence("absent", {}, of=f"{self._of(row)} is left out of the trend: {few}")
        if self.course.kind == "together":
            yield from self._dependent_periods()
        elif self.course.kind == "none":
            nothing.extend(self.looked_for)
        else:
            yield self.changed()

    def _when(self, row: Mapping[str, Any]) -> str:
        """Return the period of a row as text."""
        return when_text(row[self._time])

    @property
    def _usual(self) -> int:
        return int(np.median([row["n"] for _, row in self._every]))

    def changed(self, times: int = 1) -> Figures:
        """Return the sentence about a trend, a break or an outage; ``times``: so many courses were looked at."""
        found, rows = self.course, [row for _, row in self._filled]
        first, last = self._when(rows[found.cut]), self._when(rows[found.end - 1])
        of = first if found.kind in ("break", "either") or first == last else f"{first} to {last}"
        levels: dict[str, Any] = {
            "value": found.after,
            "baseline_value": found.before,
            "difference": found.after - found.before,
        }
        several = len(self.looked_for) * times > 1
        tests: dict[str, Any] = {"p_adjusted": found.p * times, "correction": "holm" if several else None}
        tests |= {"within": None if self.part is None else self._of(self.part), "of_days": self._are_days}
        n = sum(row["n"] for row in rows)
        return self._sentence(ABOUT[found.kind], {}, system=self.best, of=of, n=n, **levels, **tests)

    def _dependent_periods(self) -> Iterator[Figures]:
        """Yield that neighbouring periods are alike, and for days the last week and the one before."""
        time, days, rows = self._periods.time, self._periods.weekday is not None, [row for _, row in self._filled]
        unit = "days" if days else "periods"
        why = f"neighbouring {unit} move together, so that chance makes such changes too"
        of = f"Not told from chance: {', '.join(self.looked_for)}; {why}"
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
