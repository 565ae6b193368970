"""Sentences of a summary about values: that over all, those of the best systems, and those that stand out."""

from __future__ import annotations

from typing import Any

from frame_metrics.report.cells import counted, number_text, sign_of
from frame_metrics.report.sentences import ANSWER, WHERE, Sentence, column, declared
from frame_metrics.report.words import (
    MACHINE,
    PEOPLE,
    at_text,
    judged_by,
    level_text,
    name_of,
    of_system,
    over_text,
    p_words,
    percent,
    range_of,
    share_text,
    signed_text,
)


@declared(kind="value", place=ANSWER)
class ValueOverAll(Sentence):
    """The value of the best or only system, and its interval."""

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    level: float | None = None  # of the interval
    threshold: float | None = None  # the caller's, for metrics of decisions
    unit: str  # the word for queries or rows, and how many there are
    n: int
    n_proxy: int | None = None  # queries that only a machine judged
    share_rows: tuple[int | None, ...] = ()
    of_segments: bool  # whether it is that of all segments together
    others: str  # words for the values of other systems

    def words(self) -> str:
        if self.value is None:
            return ""
        ends = range_of(self.ci_low, self.ci_high)
        between = "" if self.ci_low is None else f" ({percent(self.level)} interval {ends})"
        value = f"{self.metric}{of_system(self.system)} is {number_text(self.value)}{between}{at_text(self.threshold)}"
        over = f"{share_text(self.share_rows)}{judged_by(self.n, self.unit, self.n_proxy)}"
        return f"{'In all, ' if self.of_segments else ''}{value}, {over_text(self.n_proxy)} {over}{self.others}."


@declared(kind="best", place=ANSWER)
class BestSystems(Sentence):
    """The systems that may be the best, with the figures of the first of them."""

    names: str = column("of")  # those that may be the best
    n_best: int = column("n_units")  # how many these are
    n_systems: int = column("baseline_n_units")  # how many systems there are
    untold: str  # words for others that a test of both sides does not tell from the best
    level: float | None
    can_turn: bool | None = None  # whether judgments of unjudged results could put another system ahead, if known
    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int | None = None

    @property
    def claims(self) -> bool:
        return self.n_best != self.n_systems

    def words(self) -> str:
        every, level = f"{self.n_systems:,} systems", level_text(self.level)
        if not self.claims:
            return f"Any of {every} may be the best by {self.metric}{level}."
        one = "one of " if self.n_best > 1 else ""
        begin = "As judged so far, the" if self.can_turn else "The"
        sure = f"({percent(self.level)} sure){self.untold}"
        return f"{begin} best of {every} by {self.metric} is {one}{self.names} {sure}."


@declared(kind="highest", place=ANSWER)
class HighestSystem(Sentence):
    """The highest and the lowest of several systems, where it is not known what is better."""

    value: float  # the highest value
    lowest: Any = column("baseline")  # the lowest system
    value_of_lowest: float = column("baseline_value")  # the lowest value
    called: str  # "systems" or "arms"
    n_systems: int = column("baseline_n_units")  # how many there are
    n_differing: int = column("n_units")  # how many surely differ from the highest or the lowest
    around: str = column("of")  # those surely below the highest, the lowest, and those surely above it
    threshold: float | None  # the caller's, for metrics of decisions
    adjusted: str | None  # the columns by which differences are adjusted

    @property
    def claims(self) -> bool:
        return bool(self.n_differing)

    def words(self) -> str:
        most = f"the highest {self.metric}{at_text(self.threshold)} of {self.n_systems:,} {self.called}"
        adjusted = "" if self.adjusted is None else f" (differences are adjusted by {self.adjusted})"
        return f"{name_of(self.system)} has {most}, {number_text(self.value)}{self.around}{adjusted}."


@declared(kind="segment", place=WHERE, claims=True)
class OutstandingSegment(Sentence):
    """A segment whose value, or difference of two systems, is unusually high or low."""

    segment: str = column("of")  # the segment, as "column = value"
    segment_in_words: str
    baseline: Any = None  # the other system, where a difference stands out
    value: float
    baseline_value: float  # the value over all, or that which other columns let one expect
    reference: str  # words for what that is
    ci_low: float | None = None
    ci_high: float | None = None
    p_adjusted: float | None = None
    correction: str | None = None
    n: int | None = None

    @property
    def difference(self) -> float:
        return self.value - self.baseline_value

    def words(self) -> str:
        is_difference = self.baseline is not None  # whether it is a difference that stands out
        text = signed_text if is_difference else number_text
        between = "" if self.ci_low is None else f" ({range_of(self.ci_low, self.ci_high, signed=is_difference)})"
        of = f"{self.metric} minus that of {name_of(self.baseline)} is" if is_difference else self.metric
        sure = "" if self.p_adjusted is None else f" ({p_words(self.p_adjusted)})"
        whose = "" if self.system is None else f" for {name_of(self.system)}"
        values = f"{of} {text(self.value)}{between}, {text(self.baseline_value)} {self.reference}"
        sign = sign_of(self.metric)
        side, worse = "high" if self.difference > 0 else "low", "better" if self.difference * sign > 0 else "worse"
        which = f", which is {worse}" if sign else ""
        return f"{self.segment_in_words} is unusually {side}{which}{whose}: {values}{sure}."


@declared(kind="favours", place=WHERE, claims=True)
class FavouredSystem(Sentence):
    """A system that the machine puts higher against people than another one, on the same queries."""

    baseline: Any  # the other system
    value: float  # by how much the machine's value is above that of people
    baseline_value: float  # the same for the other system
    p_adjusted: float  # that both are equal
    correction: str | None
    n: int  # queries that people judged
    unit: str

    @property
    def difference(self) -> float:
        return self.value - self.baseline_value

    def words(self) -> str:
        names = name_of(self.system), name_of(self.baseline)
        own, other = (
            f"of {name} {number_text(abs(bias))} {'above' if bias > 0 else 'below'}"
            for name, bias in zip(names, (self.value, self.baseline_value), strict=True)
        )
        over = f"over {counted(self.n, self.unit)} that both judged ({p_words(self.p_adjusted)})"
        puts = f"it puts {self.metric} {own} {PEOPLE} and {other} them, {over}"
        return f"The {MACHINE} favours {' over '.join(names)}: {puts}. Means and differences here allow for that."


@declared(kind="calibration")
class Calibration(Sentence):
    """Scores as probabilities beside the share that came true, in the bin that is farthest off or of all rows."""

    value: float  # the ece
    share: float  # the share of the label among the rows
    ci_low: float  # the interval of this share
    ci_high: float
    mean_score: float = column("baseline_value")  # their mean score
    unit: str
    n: int  # the rows of the bin that is farthest off, or all
    of_all_rows: bool  # whether it is not that of a bin
    label: str = column("of")  # the label that scores are probabilities of
    n_segments_off: int | None = column("n_units")  # how many segments are off
    n_segments: int | None = column("baseline_n_units")  # how many were looked at

    @property
    def claims(self) -> bool:
        return not self.ci_low <= self.mean_score <= self.ci_high

    @property
    def place(self) -> int | None:
        return WHERE if self.claims else None

    def words(self) -> str:
        scores = f"scores{of_system(self.system)}"
        ece = number_text(self.value)
        if not self.claims:
            return f"Read as probabilities, {scores} are nowhere surely off ({self.metric} {ece})."
        parts = [100 * max(one, 0) for one in (self.share, self.ci_low, self.ci_high)]
        digits = 1 if max(parts) >= 1 else 3  # as many in all
        share, low, high = (f"{one:.{digits}f} %" for one in parts)
        rows, mean = counted(self.n, self.unit), number_text(self.mean_score)
        some = f"all {rows}, whose mean score is {mean}" if self.of_all_rows else f"{rows} with a mean score of {mean}"
        return (
            f"Read as probabilities, {scores} are off{self._also}: of {some}, {share} are {self.label} ({low} to "
            f"{high}); bin by bin they are off by {ece} on average ({self.metric})."
        )

    @property
    def _also(self) -> str:
        """Words for the other segments in which scores are off."""
        others, every = (self.n_segments_off or 1) - 1, self.n_segments or 1
        more = f"{others:,} more of {every:,} segments"
        if others == every - 1:
            more = {1: "the other segment", 2: "both others"}.get(others, f"all {others:,} others")
        return f", as in {more}" if others else ""
