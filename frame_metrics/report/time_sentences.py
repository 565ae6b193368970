"""Sentences of a summary about changes: a trend, a break, an outage, and what a change comes from."""

from __future__ import annotations

from typing import Any

from frame_metrics.report.cells import EQUAL, number_text
from frame_metrics.report.sentences import WHEN, Sentence, column, declared
from frame_metrics.report.words import name_of, of_system, p_words, share_text, signed_text


@declared(place=WHEN, claims=True)
class TimeChange(Sentence):
    """A change of the metric over time, and its test."""

    when: str = column("of")  # the first period from then on, or "first to last" of a trend or an outage
    value: float  # the level of an outage, or from a break on, or the end of a trend
    baseline_value: float  # the other level
    step: float | None = None  # that of means over the same weekdays, or periods, where that of levels is unlike it
    over: str | None  # what levels are means over, "days" or "periods"; None for queries, as change() has them
    p_adjusted: float
    correction: str | None
    of_days: bool  # whether days are compared with the same weekdays
    also: str  # words for the other systems and segments that have the same change
    over_all: str  # words for the same change of all segments together, for the end of the sentence
    unit: str  # the word for queries or rows
    n: int  # queries or rows behind the level
    baseline_n: int | None = None  # those behind the other level, or nothing for a trend
    share_rows: tuple[int | None, ...] = ()  # how many rows of each side the metric is a share of, if it is one of some

    @property
    def difference(self) -> float:
        return self.value - self.baseline_value

    @property
    def _change(self) -> float:
        return self.difference if self.step is None else self.step

    @property
    def _rose_or_fell(self) -> str:
        return f"{self.metric}{of_system(self.system)} {'rose' if self._change > 0 else 'fell'}"

    @property
    def _by(self) -> str:
        alike = " on the same weekdays" if self.of_days else " on average over periods"
        return f"by {number_text(abs(self._change))}{'' if self.step is None else alike}"

    @property
    def _from_to(self) -> str:
        return f"from {number_text(self.baseline_value)} to {number_text(self.value)}"

    @property
    def _averaged(self) -> str:
        """Words for what levels are means over, where that is not plain."""
        if self.over is None:
            return "" if self.step is None else f" over all {self.unit}"
        return f", averaged over {'' if self.step is None else 'all '}{self.over}"

    @property
    def _tested(self) -> str:
        """The p-value of a change, the numbers of queries before and after it, and the change over all segments."""
        numbers = f"{share_text(self.share_rows[::-1])}{self.baseline_n:,} and {self.n:,} {self.unit}"
        return f"(over {numbers} before and after; {p_words(self.p_adjusted)}){self.over_all}"


@declared(kind="trend")
class Trend(TimeChange):
    """A line that rises or falls."""

    why_sudden: str  # why it may be sudden, as periods are few or some lack; "" if it is steady

    def words(self) -> str:
        how, p = "" if self.why_sudden else " steadily", p_words(self.p_adjusted)
        few = f", steadily or at once, {self.why_sudden}" if self.why_sudden else ""
        return (
            f"{self._rose_or_fell}{how}{self.also}, on a line {self._from_to} ({self.when}; {p}){few}{self.over_all}."
        )


@declared(kind="break")
class LevelBreak(TimeChange):
    """A level that changed from one period to the next."""

    def words(self) -> str:
        since = f"at or near {self.when}{self.also}"
        return f"{self._rose_or_fell} {self._by} {since}, {self._from_to}{self._averaged} {self._tested}."


@declared(kind="trend or break")
class TrendOrBreak(TimeChange):
    """A change of which it is not known if it is sudden."""

    def words(self) -> str:
        how = f"either suddenly near {self.when} or gradually{self.also}"
        if self.step is not None:
            return f"{self._rose_or_fell} {self._by}, {how}, {self._from_to}{self._averaged} {self._tested}."
        return f"{self._rose_or_fell} {self._from_to}{self._averaged}, {how} {self._tested}."


@declared(kind="outage")
class Outage(TimeChange):
    """A level that was another one for a few periods."""

    def words(self) -> str:
        first, *later = self.when.split(" to ")
        one = f"On {first}" if self.of_days else f"In {'the period from ' * (len(first) >= len('2026-01-05'))}{first}"
        when = f"From {self.when}" if later else one
        other = "on the same weekdays of all other weeks" if self.of_days else "otherwise"
        side = "higher" if self.difference > 0 else "lower"
        than = f"{number_text(abs(self.difference))} {side} than {other}{self.also}"
        values = f"{number_text(self.value)} against {number_text(self.baseline_value)}{self._averaged}"
        return f"{when} {self.metric}{of_system(self.system)} was {than}: {values} {self._tested}."

    @property
    def _tested(self) -> str:
        """The p-value, the numbers of queries in the outage and otherwise, and the change over all segments."""
        numbers = f"{share_text(self.share_rows)}{self.n:,} and {self.baseline_n:,} {self.unit}"
        return f"(over {numbers}; {p_words(self.p_adjusted)}){self.over_all}"


@declared(kind="mix", place=WHEN, claims=True)
class ChangeInParts(Sentence):
    """A change between two periods or arms that is taken apart."""

    baseline: Any
    value: float
    baseline_value: float
    difference: float
    ci_low: float
    ci_high: float
    n: int
    baseline_n: int
    share: float  # the share of the queries that the parts are of
    parts: str = column("of")  # how much comes from the mix, and how much from within segments
    are_periods: bool  # whether it is known which is later

    def words(self) -> str:
        change, by = self.difference, number_text(abs(self.difference))
        name, base = name_of(self.system), name_of(self.baseline)
        own, other = number_text(self.value), number_text(self.baseline_value)
        if self.ci_low <= 0 <= self.ci_high or abs(change) <= EQUAL:
            ends = f"by {signed_text(change)} ({signed_text(self.ci_low)} to {signed_text(self.ci_high)})"
            if self.are_periods:
                return f"{self.metric} hardly moved from {base} to {name}, {ends}: {self.parts}."
            return f"{self.metric} of {name} hardly differs from that of {base}, {ends}: {self.parts}."
        if self.are_periods:  # its interval is in the answer
            verb = "rose" if change > 0 else "fell"
            return f"{self.metric} {verb} by {by} from {base} to {name} ({other} to {own}): {self.parts}."
        side = "above" if change > 0 else "below"
        return f"{name} is {side} {base} by {by} in {self.metric} ({own} against {other}): {self.parts}."
