"""Sentences of a summary about time: whether the first metric rose or fell over days, weeks or other periods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.backends.time_texts import Time
from frame_metrics.backends.times import times_in
from frame_metrics.inputs import Array
from frame_metrics.metrics.shares import share_marks
from frame_metrics.report.cells import ALPHA, number_text, plain_text
from frame_metrics.report.frame_code import CODE
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import Sentence
from frame_metrics.report.time_sentences import LevelBreak, Outage, TimeChange, Trend, TrendOrBreak
from frame_metrics.report.words import first_of, name_of, names_in_words, of_system, p_words, signed_text, when_text
from frame_metrics.stats.changes import MOST_LINES, MOST_TOLD, Change, changes
from frame_metrics.stats.outages import USUAL
from frame_metrics.stats.periods import (
    MIN_DAYS,
    MIN_PERIODS,
    MIN_PERIODS_OF_BREAK,
    WEEK,
    Course,
    Periods,
    well_filled,
)

KINDS = {"trend": Trend, "break": LevelBreak, "outage": Outage, "either": TrendOrBreak}
MANY = 26  # periods, from which on an outage of a few is usually told from chance
# A time without values is told if it is so many times the usual one between periods, and such a share of the whole.
LONG, SHARE = 5, 0.1
MOST_NAMED = 3  # the most systems that are named as having the same change
UNLIKE = 0.2  # of the step that is tested, as on the same weekdays: if levels differ from it by more, both are told


@dataclass(frozen=True)
class Line:
    """The periods of one system, or of a segment of it, in the order of time."""

    system: Any
    part: Mapping[str, Any]  # the values of the columns of segments that are no times
    unit: str
    timed: Sequence[tuple[float, Mapping[str, Any]]]  # the row of each period with a value, and when it is

    @cached_property
    def filled(self) -> list[tuple[float, Mapping[str, Any]]]:
        """The periods without first and last ones that are partly filled."""
        some = well_filled(np.array([row["n"] for _, row in self.timed]))
        return [one for one, is_filled in zip(self.timed, some, strict=True) if is_filled]

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """The rows of these."""
        return [row for _, row in self.filled]

    @cached_property
    def periods(self) -> Periods:
        """The numbers of these."""
        time, ends = np.array([when for when, _ in self.filled]), ("ci_low", "ci_high")
        numbers = np.array([[row.get(name) for name in ("value", "n", *ends)] for row in self.rows], float)
        values, n, *between = numbers.reshape(-1, 4).T
        return Periods.of(self.unit, time, values, np.array(between), n)


@dataclass(frozen=True)
class PeriodSentences(SentenceWriter):
    """Sentences about time."""

    time: str  # the column of times

    @cached_property
    def lines(self) -> list[Line]:
        """The periods of each system, of queries also of all segments, and of each segment by the other columns.

        Those of the best system come first.
        """
        found = dict[Any, list[tuple[Time, Mapping[str, Any]]]]()
        rows = self.content.of_segments.filter("measured").drop_nulls(self.time).to_dicts()
        totals = self._totals.drop_nulls(self.time).to_dicts()
        times = times_in([row[self.time] for row in [*totals, *rows]], self.time) or []
        for at, (time, row) in enumerate(zip(times, [*totals, *rows], strict=False)):
            part = [] if at < len(totals) else [(name, row[name]) for name in self._others]
            key = (self._system(row), *part)
            found.setdefault(key, []).append((time, row))
        lines = [self._line(system, dict(part), timed) for (system, *part), timed in found.items()]
        if len(lines) > MOST_LINES:  # then those of segments alone may be few enough
            lines = [line for line in lines if not self._is_whole(line)]
        return sorted(lines, key=lambda line: line.system != self.content.best)

    @property
    def are_enough_for_breaks(self) -> bool:
        """True if some line has periods enough for a break."""
        return any("break" in line.periods.looked_for for line in self.lines)

    @property
    def _others(self) -> list[str]:
        return [name for name in self.content.by if name != self.time]

    def _is_whole(self, line: Line) -> bool:
        """Return True for the periods of all segments together."""
        return bool(self._others) and not line.part

    @property
    def _totals(self) -> pl.DataFrame:
        """The values of each period over all segments by the other columns, of queries."""
        if not (self.content.query and self._others) or self.content.totals is None:
            return self.content.results.clear().with_columns(pl.lit(None).alias(self.time))
        return self.content.of_first(self.content.totals.filter(total_over=", ".join(self._others)))

    def _line(self, system: Any, part: Mapping[str, Any], timed: Sequence[tuple[Time, Mapping[str, Any]]]) -> Line:
        there = [(time.number, row) for time, row in timed if row["value"] is not None]
        return Line(system, part, timed[0][0].unit, sorted(there, key=lambda one: one[0]))

    def all(self) -> Iterator[Sentence]:
        """Yield how the first metric changed over time; first and last periods that are partly filled are left out."""
        if not self.lines:
            return
        longest = max(self.lines, key=lambda line: (not self._is_whole(line), len(line.filled)))
        if why := self._single_times(longest):
            yield self._plain("absent", f"No trend, break or outage is looked for: {why}")
            return
        if few := self._too_few(longest):
            yield self._plain("absent", few)
        if not longest.periods.looked_for:
            return
        if (many := sum(bool(line.periods.looked_for) for line in self.lines)) > MOST_LINES:
            why = f"{many:,} courses over time are there, and at most {MOST_LINES} are looked at"
            yield self._plain("absent", f"No trend, break or outage is looked for: {why}")
            return
        lines = [line for line in self.lines if self._is_whole(line)] if self._others else self.lines
        yield from self._partly_filled(lines[0]) if lines else ()
        wholes = [at for at, line in enumerate(self.lines) if self._is_whole(line)]
        found = changes([line.periods for line in self.lines], wholes)
        yield from (self._changed(change) for change in found[:MOST_TOLD])
        if more := sum(len(change.lines) for change in found[MOST_TOLD:]):
            yield self._plain("absent", f"{self.content.first} changed in {more:,} more courses over time")
        if found:
            return
        yield from self._far_but_few()
        yield from self._break_without_weekdays()
        alone = self.lines[0].periods.course if len({line.system for line in self.lines}) == len(self.lines) else None
        if alone is not None and alone.kind == "together":
            yield from self._dependent_periods(self.lines[0])
        else:
            each = [line.periods.course.p for line in self.lines if line.periods.looked_for]
            sure = p_words(min(1.0, min(each) * len(each)))
            yield self._plain("nothing", f"{self._not_found(longest.periods.looked_for)} ({sure})")

    def _single_times(self, line: Line) -> str:
        """Return that most times are of one query alone, as they were logged, "" if they are not."""
        of_day = line.unit == "day" and any(when % 1 for when, _ in line.timed)
        if not of_day or float(np.median([row["n"] for _, row in line.timed])) > 1:
            return ""
        lines = [one for one in self.lines if one.system == line.system and not self._is_whole(one)]
        every = [timed for one in lines for timed in one.timed]
        times, n = len({when for when, _ in every}), sum(row["n"] for _, row in every)
        some = f"{plain_text(self.time)} has {times:,} times of day for {n:,} {self.content.unit}"
        words = CODE.get(self.content.basis.kind)
        if words is None:
            return f"{some}; group them by day"
        day = words.day_of_text if isinstance(line.timed[0][1][self.time], str) else words.day
        code = day.format(repr(self.time))
        code = f"[{', '.join([code, *map(repr, self._others)])}]" if self._others else code
        return f"{some}; group them by day, as by={code}"

    def _too_few(self, line: Line) -> str:
        """Return what the periods of a line are too few for, "" for nothing."""
        n, days = len(line.filled), line.periods.weekday is not None
        if n < MIN_PERIODS:
            return f"No trend is looked for: of periods {MIN_PERIODS} are needed, and {n} are there"
        if days and n < MIN_DAYS:
            why = f"days differ by their weekday, and {n} are too few; {MIN_DAYS} are needed"
            return f"No trend is looked for: {why}"
        few = f"of periods {MIN_PERIODS_OF_BREAK} are needed, and {n} are there"
        if n < MIN_PERIODS_OF_BREAK:
            return f"No break or outage is looked for: {few}"
        if line.periods.has_usual_days:
            return ""
        why = "days differ by their weekday, and of two with the same either may be the unusual one"
        hardly = "No outage is looked for, and other changes are hardly seen"
        return f"{hardly}: {why}; {USUAL} of each weekday are needed, and {n} days are there"

    def _partly_filled(self, line: Line) -> Iterator[Sentence]:
        usual = int(np.median([row["n"] for _, row in line.timed]))
        for row in (one[1] for one in line.timed if one not in line.filled):
            few = f"it has {row['n']:,} of the usual {usual:,} {self.content.unit}"
            when = self._in_words({self.time: row[self.time]})
            yield self._plain("absent", f"{when} is left out of the trend: {few}")

    def _not_found(self, looked_for: Sequence[str]) -> str:
        """Return words for changes that are not there, and for whose they would be."""
        every = [f"{'an' if one == 'outage' else 'a'} {one}" for one in looked_for]
        whose = f" of any of {self.content.n_systems:,} {self.content.systems}" if self.content.n_systems > 1 else ""
        whose = f" in a segment{whose}" if self._others else whose
        return f"{' or '.join(filter(None, [', '.join(every[:-1]), every[-1]]))}{whose}"

    def _far_but_few(self) -> Iterator[Sentence]:
        """Yield the first run that is farther off than queries scatter, if periods are too few to tell it from chance.

        How far periods vary by themselves is known from these alone; days are many, or may be.
        """
        for line in self.lines:
            periods = line.periods
            n = len(line.rows)
            if "outage" not in periods.looked_for or periods.weekday is not None or n >= MANY or not periods.is_far:
                continue
            begin, end = periods.farthest
            first, last = self._when(line.rows[begin]), self._when(line.rows[end - 1])
            when, are = (first, "is") if first == last else (f"{first} to {last}", "are")
            before, after = map(number_text, periods.levels_of_farthest)
            far = f"{when} {are} farther off than {self.content.unit} scatter"
            values = f"{self.content.first}{of_system(line.system)} {after} against {before}"
            few = f"{n} periods are too few to tell that from how periods vary anyway; shorter ones may be enough"
            of = f"{far} ({values}), but {few}"
            yield self._plain("absent", of, within=self._in_words(line.part) or None)
            return

    def _break_without_weekdays(self) -> Iterator[Sentence]:
        """Yield the first break that there would be if days did not differ by their weekday, of too few weeks."""
        for line in self.lines:
            course = replace(line.periods, weekday=None).course
            p, is_break = min(1.0, course.p * len(self.lines)), course.kind in ("break", "either")
            if line.periods.has_usual_days or not is_break or p >= ALPHA:
                continue
            way, levels = "fell" if course.after < course.before else "rose", self._figures(course, line)
            before, after = (number_text(levels[name]) for name in ("baseline_value", "value"))
            change = f"{way} near {self._when(line.rows[course.cut])}, from {before} to {after} ({p_words(p)})"
            few = f"{len(line.rows)} days are too few to tell"
            of = f"If all weekdays were alike, {self.content.first}{of_system(line.system)} {change}; {few}"
            yield self._plain("absent", of, within=self._in_words(line.part) or None)
            return

    def _when(self, row: Mapping[str, Any]) -> str:
        """Return the period of a row as text."""
        return when_text(row[self.time])

    def _changed(self, change: Change) -> TimeChange:
        """Return the sentence about a trend, a break or an outage."""
        found, line = change.course, self.lines[change.lines[0]]
        first, last = self._when(line.rows[found.cut]), self._when(line.rows[found.end - 1])
        several = len(line.periods.looked_for) * len(self.lines) > 1
        more: dict[str, Any] = self._figures(found, line)
        if found.kind == "trend":
            few = "break" not in line.periods.looked_for or not line.periods.has_usual_days
            more["why_sudden"] = "which so few periods cannot tell" if few else self._gap(line)
        return KINDS[found.kind](
            metric=self.content.first,
            system=line.system,
            within=self._in_words(line.part) or None,
            when=first if found.kind in ("break", "either") or first == last else f"{first} to {last}",
            p_adjusted=change.p,
            correction="holm" if several else None,
            of_days=line.periods.weekday is not None,
            also=self._also(change),
            over_all=self._over_all(change),
            unit=self.content.unit,
            **more,
        )

    def _gap(self, line: Line) -> str:
        """Return words for a long time without values inside a line, "" for none."""
        apart = np.diff(line.periods.time)
        at = int(apart.argmax())
        if apart[at] < LONG * float(np.median(apart)) or apart[at] < SHARE * apart.sum():
            return ""
        return f"as nothing is known between {self._when(line.rows[at])} and {self._when(line.rows[at + 1])}"

    def _figures(self, found: Course, line: Line) -> dict[str, Any]:
        """Return the two levels of a change, the numbers of queries behind them, and what they are means over.

        Levels of an outage are means over the same weekdays, so that the other days of the week do not count. Those of
        a break are means over all queries before and from then on, as ``change`` has them, of metrics that are such
        means; of others they are means over periods.
        """
        over = "periods" if line.periods.weekday is None else "days"
        levels = {"baseline_value": found.before, "value": found.after, "over": over}
        if found.kind == "trend":
            return levels | {"n": sum(row["n"] for row in line.rows)}
        if found.kind == "outage":
            at = np.arange(len(line.rows))
            within = (at >= found.cut) & (at < found.end)
            alike = line.periods.kinds[line.periods.kinds_on_both_sides(within)].any(axis=0)
            return levels | self._counts(line, line.rows, [~within & alike, within & alike])
        weights = self._weights(line)
        timed = line.filled if weights is None else line.timed
        later = np.array([when >= line.filled[found.cut][0] for when, _ in timed])
        rows, sides = [row for _, row in timed], [~later, later]
        values, each = np.array([row["value"] for row in rows]), np.ones(len(rows)) if weights is None else weights
        before, after = (float(np.average(values[side], weights=each[side])) for side in sides)
        levels |= {"baseline_value": before, "value": after, "over": over if weights is None else None}
        step = found.after - found.before
        unlike = {"step": step} if abs(after - before - step) > UNLIKE * abs(step) else {}
        return levels | unlike | self._counts(line, rows, sides)

    def _counts(self, line: Line, rows: Sequence[Mapping[str, Any]], sides: Sequence[Array]) -> dict[str, Any]:
        """Return the numbers of queries, or rows, behind both levels; ``sides``: the rows of each."""
        before, after = ([row for row, is_of in zip(rows, side, strict=True) if is_of] for side in sides)
        share = [[self._share_rows(self.content.first, row, line.system) for row in side] for side in (after, before)]
        return {
            "n": sum(row["n"] for row in after),
            "baseline_n": sum(row["n"] for row in before),
            "share_rows": tuple(None if None in side else sum(n or 0 for n in side) for side in share),
        }

    def _weights(self, line: Line) -> Array | None:
        """Return how many queries or rows the value of each period is a mean over; None if it is no such mean."""
        content, roles = self.content, self.work.irm.roles
        if content.n_proxy or any(roles.get(name) is not None for name in ("weight", "propensity", "collection_size")):
            return None
        share = [self._share_rows(content.first, row, line.system) for _, row in line.timed]
        if None not in share:
            return np.array(share)
        is_mean, metric = content.query and self.best_row["average"] == "macro", content.asked[0][1]
        if not content.query and self.best_row["average"] == "pooled" and metric.top is None:
            mark = share_marks(metric, binary=True)
            is_mean = mark is not None and not np.isnan(mark).any()  # a share of all rows, as accuracy
        return np.array([row["n"] for _, row in line.timed]) if is_mean else None

    def _also(self, change: Change) -> str:
        """Return words for the other systems and segments that have the same change."""
        first, *others = (self.lines[at] for at in change.lines)
        systems = [line.system for line in others if line.part == first.part]
        parts = [line.part for line in others if line.part and line.part != first.part]
        n, found = self.content.n_systems, []
        if systems:
            of_all = f"of {'both' if n == 2 else f'all {n:,}'} {self.content.systems}"
            found.append(of_all if len(systems) == n - 1 else f"of {first_of([*map(name_of, systems)], MOST_NAMED)}")
        if parts:
            distinct, every = ({*map(self._of, some)} - {""} for some in (parts, [line.part for line in self.lines]))
            some = f"{len(distinct):,}{' more' if first.part else ''} of {len(every):,} segments"
            if not first.part and len(distinct) == len(every):
                some = f"each of {len(every):,} segments"
            elif not first.part and len(distinct) <= MOST_NAMED:
                some = names_in_words([*dict.fromkeys(map(self._in_words, parts))])
            found.append(f"in {some}")
        return f", as {' and '.join(found)}" if found else ""

    def _over_all(self, change: Change) -> str:
        """Return words for the same change of all segments together, if a sentence is of some of them."""
        first, *others = (self.lines[at] for at in change.lines)
        whole = next((line for line in others if first.part and not line.part), None)
        if whole is None:
            return ""
        figures = self._figures(whole.periods.course, whole)
        by = signed_text(figures["value"] - figures["baseline_value"])
        return f", which shows over all {self.content.unit} too ({by})"

    def _dependent_periods(self, line: Line) -> Iterator[Sentence]:
        """Yield that neighbouring periods are alike, and for days the last week and the one before."""
        time, days, rows = line.periods.time, line.periods.weekday is not None, line.rows
        move = f"neighbouring {'days' if days else 'periods'} move together, so that "
        why = f"{move if line.periods.course.correlated else ''}chance makes such changes too"
        of = f"Not told from chance: {self._not_found(line.periods.looked_for)}; {why}"
        yield self._plain("absent", of)
        if not days or any(later - earlier != 1 for earlier, later in pairwise(time[-2 * WEEK :])):
            return
        before, after = ([row["value"] for row in some] for some in (rows[-2 * WEEK : -WEEK], rows[-WEEK:]))
        lower = sum(new < old for old, new in zip(before, after, strict=True))
        higher = sum(new > old for old, new in zip(before, after, strict=True))
        side = f"lower on {lower}" if lower >= higher else f"higher on {higher}"
        begin = self._when(rows[-WEEK])
        new, old = (number_text(float(np.mean(some))) for some in (after, before))
        of = (
            f"In the last {WEEK} days, from {begin}, {self.content.first}{of_system(line.system)} is {new} on average "
            f"over days, {side} of {WEEK} weekdays than in the {WEEK} days before: {old}"
        )
        yield self._plain("absent", of)
