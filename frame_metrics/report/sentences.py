"""Sentences of the summary of a report, each made of its own figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from frame_metrics.report.cells import ALPHA, counted, number_text, plain_text, sign_of
from frame_metrics.report.difference_sentences import difference, highest, lost, mix, reversal, sentence_of_margin
from frame_metrics.report.time_sentences import level_break, outage, trend, trend_or_break
from frame_metrics.report.words import (
    LONGEST_NAME,
    at_text,
    counted_of,
    level_text,
    name_of,
    of_system,
    p_words,
    percent,
    range_of,
    signed_text,
)
from frame_metrics.verbs.audit.of_weights import MIN_RESULTS

LEAST_SHARE = 0.0005  # shares below it are written as 0.0 %


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Figures of one sentence; those that the sentence does not need are None."""

    kind: str  # a key of ``SENTENCES``
    # What else may make the answer wrong, as "And 3 more warnings"; of a difference, which others surely differ.
    more: str = ""
    unit: str  # queries or rows; of undefined values: queries, classes, or "" for the value itself
    clusters: tuple[str, str] = ("of", "clusters")  # the words for them, as "by", "users"
    threshold: float | None = None  # the caller's, for metrics of decisions
    adjusted: str | None = None  # the columns by which means of arms are adjusted
    word_for_unasked: str | None = None  # "them" or "the others", see ``AuditSentences``; or None
    split_p_value: float | None = None  # the p-value of the split of units between arms; None where no shares are known
    # How many of the rows the metric is a share of, on both sides; None where it is one of all, or no share.
    share_rows: tuple[int | None, int | None] = (None, None)
    level: float | None = None  # of the interval of a difference
    n_tests: int | None = None  # the number of tests for which ``p_adjusted`` is corrected
    p_floor: float | None = None  # the least p-value that so few units can have, if it is not below 0.05
    few_units_text: str | None = None  # words for these units
    segment: str = ""  # that of the figures in words
    within: str | None = None  # the segment that the whole sentence is about, in words
    also: str = ""  # words for the other systems and segments that have the same change over time, or undefined values
    of_all: bool = False  # whether a share is that of all rows, not of a bin of scores; or a value that of all segments
    of_days: bool = False  # whether an outage is one of days, beside the same weekdays
    may_be_sudden: bool = False  # whether a trend is of too few periods to look for a break
    are_periods: bool = False  # whether the system and the baseline are periods
    warned: bool = False  # whether the audit warns of it
    can_turn: bool | None = None  # whether judgments of unjudged results could put the other system ahead, if known
    clicks: str | None = None  # what undefined queries have not, "relevant row" or "click"; None where it is not known
    # The following fields depend on ``kind``. Of "best" ``n_units`` of ``baseline_n_units`` systems may be the best. Of
    # "unanswered" ``n`` of ``baseline_n`` queries have no row, and ``value`` is that of the ``n_units`` others. ``of``:
    # a segment, the first and the last time of a trend or an outage, the first time after a break, the findings of the
    # audit, what happens to undefined values or unanswered queries, how units are split, the label that scores are
    # probabilities of, what is missing, what is absent and why, or the parts of a change.
    of: str | None = None
    system: Any = None
    baseline: Any = None
    metric: str
    value: float | None = None
    baseline_value: float | None = None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p_adjusted: float | None = None
    correction: str | None = None
    wins: int | None = None
    losses: int | None = None
    n: int | None = None
    baseline_n: int | None = None
    n_units: int | None = None
    baseline_n_units: int | None = None
    share: float | None = None
    mde: float | None = None
    margin: float | None = None
    p_not_worse: float | None = None

    @property
    def is_significant(self) -> bool:
        """True if the test shows a difference; the interval comes from other draws, and may disagree near .05."""
        return bool(self.p_adjusted is not None and self.difference and self.p_adjusted < ALPHA)

    @property
    def claims(self) -> bool:
        """True if the sentence says what only a test shows, so that chance makes it wrong in a few of many reports."""
        return SENTENCES[self.kind].claims(self)

    @property
    def place(self) -> int | None:
        """The place in the first block that the sentence may take; None for a note."""
        place = SENTENCES[self.kind].place
        return place(self) if callable(place) else place

    @property
    def misses(self) -> bool:
        """True if the interval of a share does not hold the value that the share should have."""
        low, high, value = self.ci_low, self.ci_high, self.baseline_value
        return low is not None and high is not None and value is not None and not low <= value <= high

    def swapped(self) -> Figures:
        """Return the same difference, with the system and the baseline exchanged."""
        sizes: dict[str, Any] = {}
        if self.baseline_n is not None:  # each arm has its own numbers
            sizes = {"n": self.baseline_n, "n_units": self.baseline_n_units}
            sizes |= {"baseline_n": self.n, "baseline_n_units": self.n_units}
        return replace(
            self,
            **sizes,
            difference=_minus(self.difference),
            share_rows=self.share_rows[::-1],
            system=self.baseline,
            baseline=self.system,
            value=self.baseline_value,
            baseline_value=self.value,
            ci_low=_minus(self.ci_high),
            ci_high=_minus(self.ci_low),
            wins=self.losses,
            losses=self.wins,
        )

    @property
    def sentence(self) -> str:
        """The figures as a sentence; "" if they are not enough for one."""
        text = SENTENCES[self.kind].words(self)
        text = f"For {self.within}, {text[0].lower()}{text[1:]}" if text and self.within else text
        text = f"T{text[1:]}" if text.startswith("this frame ") else text
        return f"{text} {self.more}." if text and self.more else text


def _minus(number: float | None) -> float | None:
    return None if number is None else 0.0 - number


def _as_it_is(figures: Figures) -> str:
    return f"{figures.of}."


def _value(figures: Figures) -> str:
    if figures.value is None:
        return ""
    of = of_system(figures)
    between = "" if figures.ci_low is None else f" ({percent(figures.level)} interval {range_of(figures)})"
    value = f"{figures.metric}{of} is {number_text(figures.value)}{between}{at_text(figures)}"
    return f"{'In all, ' if figures.of_all else ''}{value}, over {counted_of(figures)}."


def _weighted(figures: Figures) -> str:
    of = of_system(figures)
    few = f"; fewer than {MIN_RESULTS} are too few for an interval"
    few = "" if figures.value is None or figures.value >= MIN_RESULTS else few
    return (
        f"Values are weighted by propensity: the {figures.of} behind {figures.metric}{of} are as informative as "
        f"{number_text(figures.value, 1)} of equal weight{few}."
    )


def _weights(figures: Figures) -> str:
    of = of_system(figures)
    return (
        f"{figures.unit.capitalize()} are weighted by {figures.of}: the {counted_of(figures)} behind "
        f"{figures.metric}{of} are as informative as {number_text(figures.value, 1)} of equal weight."
    )


def _unjudged(figures: Figures) -> str:
    if max(figures.share or 0, figures.baseline_value or 0) < LEAST_SHARE:  # a mean of weights may be 1e-16
        return ""
    of = of_system(figures)
    other = (
        "" if figures.baseline_value is None else f", and {figures.baseline_value:.1%} of {name_of(figures.baseline)}'s"
    )
    sizes = [f"{n:,}" for n in (figures.n_units, figures.baseline_n_units) if n is not None]
    over = f"the {' and '.join(sizes)} queries with results" if sizes else "queries"
    return f"{figures.share:.1%} of the top {figures.n}{of} are unjudged{other}, on average over {over}.".replace(
        "%", " %"
    )


def _undefined(figures: Figures) -> str:
    of = of_system(figures)
    what = "" if figures.of is None else f", which {figures.of}"
    if not figures.unit:  # the value itself
        return f"{figures.metric}{of} is undefined{what}."
    some = (
        f"{figures.n:,} of {figures.baseline_n:,} {figures.unit}"
        if figures.baseline_n
        else counted(figures.n or 0, figures.unit)
    )
    if figures.clicks:  # they are no fault of the data
        does = "has" if figures.n == 1 else "have"
        also = "" if figures.of is None else f" and {figures.of}"
        return f"{some} {does} no {figures.clicks}{also}{of and f', for{of[3:]}'}{figures.also}."
    return f"{figures.metric}{of} is undefined in {some}{what}{figures.also}."


def _unanswered(figures: Figures) -> str:
    lacks = (
        f"{name_of(figures.system)} has no rows for {figures.n:,} of {counted(figures.baseline_n or 0, figures.unit)}"
    )
    if figures.of is None:
        return f"{lacks}, which are left out."
    has = figures.value is not None
    rest = (
        f"Over the {figures.n_units:,} that it has, {figures.metric} is {number_text(figures.value)}. " if has else ""
    )
    way = f"If it was not asked {figures.word_for_unasked}: unanswered='drop'." if figures.word_for_unasked else ""
    return f"{lacks}; they {figures.of}. {rest}{way}".strip()


def _left_out(figures: Figures) -> str:
    own, other = name_of(figures.system), name_of(figures.baseline)
    what = "row" if figures.unit == "rows" else figures.metric
    some = f"{figures.n:,} of {counted(figures.baseline_n or 0, figures.unit)} of {own}"
    does = "has" if figures.n == 1 else "have"
    over = f"; over all {figures.baseline_n:,} {figures.metric} of {own} is {number_text(figures.value)}"
    over = "" if figures.value is None else over
    return f"{some} {does} no {what} of {other}, and the comparison leaves them out{over}."


def _calibration(figures: Figures) -> str:
    scores = f"scores{'' if figures.system is None else f' of {name_of(figures.system)}'}"
    if not figures.misses:
        return (
            f"Read as probabilities, {scores} are nowhere surely off ({figures.metric} {number_text(figures.value)})."
        )
    parts = [100 * max(one or 0, 0) for one in (figures.share, figures.ci_low, figures.ci_high)]
    digits = 1 if max(parts) >= 1 else 3  # as many in all
    share, low, high = (f"{one:.{digits}f} %" for one in parts)
    rows, mean = counted(figures.n or 0, figures.unit), number_text(figures.baseline_value)
    some = f"all {rows}, whose mean score is {mean}" if figures.of_all else f"{rows} with a mean score of {mean}"
    others, every = (figures.n_units or 1) - 1, figures.baseline_n_units or 1
    more = f"{others:,} more of {every:,} segments"
    if others == every - 1:
        more = "the other segment" if others == 1 else f"all {others:,} others"
    also = f", as in {more}" if others else ""
    return (
        f"Read as probabilities, {scores} are off{also}: of {some}, {share} are {figures.of} ({low} to {high}); bin "
        f"by bin they are off by {number_text(figures.value)} on average ({figures.metric})."
    )


def _arms(figures: Figures) -> str:
    return f"Each {plain_text(figures.of, LONGEST_NAME)} has {figures.unit} of its own, and is measured over these."


def _split(figures: Figures) -> str:
    return f"No difference can be trusted before it is known why the split is off: {figures.of}."


def _as_given(figures: Figures) -> str:
    of = str(figures.of)
    return f"{of[0].upper()}{of[1:]}{'' if of.endswith('?') else '.'}"


def _cut(figures: Figures) -> str:
    return f"{figures.of}; each part counts as a search."


def _segment(figures: Figures) -> str:
    is_difference = figures.baseline is not None  # whether it is a difference that stands out
    text = signed_text if is_difference else number_text
    between = "" if figures.ci_low is None else f" ({range_of(figures, signed=is_difference)})"
    of = f"{figures.metric} minus that of {name_of(figures.baseline)} is" if is_difference else figures.metric
    sure = "" if figures.p_adjusted is None else f" ({p_words(figures.p_adjusted)})"
    whose = "" if figures.system is None else f" for {name_of(figures.system)}"
    values = f"{of} {text(figures.value)}{between}, {text(figures.baseline_value)} over all"
    gap, sign = figures.difference or 0.0, sign_of(figures.metric)
    side, worse = "high" if gap > 0 else "low", "better" if gap * sign > 0 else "worse"
    return f"{figures.segment} is unusually {side}{f', which is {worse}' if sign else ''}{whose}: {values}{sure}."


def _best(figures: Figures) -> str:
    """Return the sentence of the systems that may be the best: ``n_units`` of so many."""
    which = f"{figures.baseline_n_units:,} systems"
    if figures.n_units == figures.baseline_n_units:
        return f"Any of {which} may be the best by {figures.metric}{level_text(figures)}."
    one = "one of " if (figures.n_units or 0) > 1 else ""
    begin = "As judged so far, the" if figures.can_turn else "The"
    sure = f"by tests of one side{level_text(figures)}{figures.also}"
    return f"{begin} best of {which} by {figures.metric} is {one}{figures.of}, {sure}."


def _winner(figures: Figures) -> str:
    beside = "The" if figures.of is None else f"Apart from {figures.of}, the"
    return f"{beside} best and the next best: {difference(replace(figures, of=None, segment=''))}"


def _tests(figures: Figures) -> str:
    each, every = (f"{100 * (one or 0):.3g} %" for one in (figures.value, figures.share))
    together = f"one or more of them in up to {every}"
    each = f"each is wrong in at most {each} of such reports"
    return f"{figures.n:,} of these sentences rest on tests: {each}, and {together}."


@dataclass(frozen=True)
class Sentence:
    """A sentence as it is declared: its words, made of a row of figures, its place, and when it claims something."""

    words: Callable[[Figures], str]
    place: int | Callable[[Figures], int | None] | None = None  # in the first block; None for a note
    claims: Callable[[Figures], bool] = lambda figures: False  # whether it says what only a test shows


def _significant(figures: Figures) -> bool:
    return figures.is_significant


def _some_differ(figures: Figures) -> bool:
    """Return True if a difference is significant, or others are of which the sentence says so, too."""
    return figures.is_significant or bool(figures.more)


def _always(figures: Figures) -> bool:
    return True


def _bounded(figures: Figures) -> bool:
    """Return True if a loss is excluded, or shown."""
    return (figures.p_not_worse is not None and figures.p_not_worse < ALPHA) or lost(figures)


def _if_it_misses(figures: Figures) -> int | None:
    return WHERE if figures.misses else None


def _some_are_not(figures: Figures) -> bool:
    """Return True if some system cannot be the best."""
    return figures.n_units != figures.baseline_n_units


# Places of the first block: what may make the answer wrong, the answer, since when, where, and what to do next.
DOUBT, ANSWER, WHEN, WHERE, NEXT = 1, 2, 3, 4, 5
SENTENCES: Mapping[str, Sentence] = {
    "arms": Sentence(_arms),
    "split": Sentence(_split, DOUBT),
    "absent": Sentence(_as_it_is),
    "unanswered": Sentence(_unanswered, DOUBT),
    "left out": Sentence(_left_out, lambda figures: DOUBT if figures.warned else None),
    "best": Sentence(_best, ANSWER, _some_are_not),
    "difference": Sentence(difference, lambda figures: WHERE if figures.of else ANSWER, _some_differ),
    "highest": Sentence(highest, ANSWER, lambda figures: bool(figures.n_units)),
    "winner": Sentence(_winner, claims=_significant),
    "not worse": Sentence(sentence_of_margin, NEXT, _bounded),  # whether to take it
    "reversal": Sentence(reversal, WHEN, _significant),
    "mix": Sentence(mix, WHEN, _always),
    "value": Sentence(_value, ANSWER),
    "weighted": Sentence(_weighted),
    "weights": Sentence(_weights),
    "unjudged": Sentence(_unjudged, lambda figures: DOUBT if figures.warned else None),
    "undefined": Sentence(_undefined),
    "missing": Sentence(_as_it_is, DOUBT),
    "calibration": Sentence(_calibration, _if_it_misses, lambda figures: figures.misses),
    "distance": Sentence(_as_given, DOUBT),
    "cut": Sentence(_cut, DOUBT),
    "audit": Sentence(_as_given, DOUBT),
    "agreement": Sentence(_as_it_is),
    "segment": Sentence(_segment, WHERE, _always),
    "nothing": Sentence(_as_it_is),
    "trend": Sentence(trend, WHEN, _always),
    "break": Sentence(level_break, WHEN, _always),
    "trend or break": Sentence(trend_or_break, WHEN, _always),
    "outage": Sentence(outage, WHEN, _always),
    "next": Sentence(_as_it_is, NEXT),
    "code": Sentence(_as_it_is),
    "tests": Sentence(_tests),
}
