"""Sentences of a summary about differences: which system beats another one, and what loss is excluded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from frame_metrics.measuring.split import MISMATCH_P
from frame_metrics.metrics.saved_names import metric_of
from frame_metrics.report.cells import ALPHA, number_text, plain_text, sign_of
from frame_metrics.report.sentences import ANSWER, NEXT, WHEN, WHERE, Sentence, column, declared
from frame_metrics.report.words import (
    LONGEST_NAME,
    at_text,
    capital,
    claimed_at_least,
    first_of,
    has_interval_of_p,
    judged_by,
    level_text,
    name_of,
    over_text,
    p_words,
    percent,
    range_of,
    share_text,
    signed_text,
)
from frame_metrics.verbs.compare.margins import loss_left, unknown_why

Own = TypeVar("Own", bound="OfPair")


@declared()
class OfPair(Sentence):
    """A sentence about the difference of two systems or arms: a row of a comparison."""

    baseline: Any = None
    value: float | None = None
    baseline_value: float | None = None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    level: float | None = None  # of the interval
    p_adjusted: float | None = None
    correction: str | None = None
    n_tests: int | None = None  # the number of tests for which ``p_adjusted`` is corrected
    wins: int | None = None
    losses: int | None = None
    # Queries or rows behind it, of arms those of the system and of the baseline, and then units of these.
    n: int | None = None
    n_proxy: int | None = None  # queries that only a machine judged
    baseline_n: int | None = None
    n_units: int | None = None
    baseline_n_units: int | None = None
    # How many rows of each side the metric is a share of; None where it is one of all, or no share.
    share_rows: tuple[int | None, ...] = ()
    mde: float | None = None
    p_not_worse: float | None = None

    @property
    def is_significant(self) -> bool:
        """True if the test shows a difference; the interval comes from other draws, and may disagree near .05."""
        return bool(self.p_adjusted is not None and self.difference and self.p_adjusted < ALPHA)

    @property
    def gap(self) -> float:
        """The difference, 0 if it is not known."""
        return self.difference or 0.0

    def swapped(self: Own) -> Own:
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
    def _names(self) -> tuple[str, str]:
        return name_of(self.system), name_of(self.baseline)

    @property
    def _difference_text(self) -> str:
        """The difference as text, the least that can be claimed, and its interval, with the same near end.

        Differences that are all equal have no interval.
        """
        ends = [signed_text(end) for end in (self.ci_low, self.ci_high)]
        least = claimed_at_least(vars(self), self.level or 0)
        if least:
            ends[least.startswith("-")] = least
        claim = f", at least {f'{least[1:]} less' if least.startswith('-') else least}" if least else ""
        interval = "" if self.ci_low is None else f", {percent(self.level)} interval {' to '.join(ends)}"
        return f"{signed_text(self.difference)}{claim}{interval}"

    @property
    def _tested(self) -> str:
        return f"; {p_words(self.p_adjusted)}{self._after}"

    @property
    def _after(self) -> str:
        """Words for the correction of a p-value, "" for none."""
        several = "several" if self.n_tests is None else f"{self.n_tests:,}"
        return f", corrected for {several} comparisons" if self.correction else ""


def _minus(number: float | None) -> float | None:
    return None if number is None else 0.0 - number


@declared(kind="difference")
class Difference(OfPair):
    """Who beats whom, or why neither is known to be better."""

    segment: str | None = column("of", default=None)  # the segment or class, as "column = value", or nothing for all
    segment_in_words: str = ""
    unit: str  # the word for queries or rows, and those for units of these, as "by", "users"
    clusters: tuple[str, str] = ("of", "clusters")
    threshold: float | None = None  # the caller's, for metrics of decisions
    adjusted: str | None = None  # the columns by which means of arms are adjusted
    split_p_value: float | None = None  # the p-value of the split of units between arms; None where no shares are known
    p_floor: float | None = None  # the least p-value that so few units can have, if it is not below 0.05
    few_units_text: str | None = None  # words for these units
    all_names: str | None = None  # of all systems, if no pair of them is compared
    has_winner: bool = True  # False for periods, and for classes by another metric than the one that was asked for
    can_turn: bool | None = None  # whether judgments of unjudged results could put the other system ahead, if known

    @property
    def place(self) -> int | None:
        return WHERE if self.segment else ANSWER

    @property
    def claims(self) -> bool:
        return self.is_significant or bool(self.more)

    @property
    def name_and_size(self) -> str:
        """The segment or the system, and by how much it differs."""
        return f"{self.segment_in_words or name_of(self.system)} by {number_text(abs(self.gap))}"

    def words(self) -> str:
        alone = self.ci_low is None and self.n == 1  # no interval, and a p-value of 1
        if alone or self.p_adjusted is None or self.difference is None:
            return self._untested
        if self.wins == self.losses == 0:
            same = f"{self.metric}{at_text(self.threshold)} in each of {self._counted}: {number_text(self.value)}"
            return f"{' and '.join(self._names)} have the same {same}."
        return self._significant if self.is_significant else self._not_significant

    @property
    def _counted(self) -> str:
        """Words for the number of queries or rows behind the difference; of a share of some rows also for these."""
        some = share_text(self.share_rows, one_if_equal=self.baseline_n is None)
        if self.baseline_n is None:
            return f"{some}{judged_by(self.n or 0, self.unit, self.n_proxy)}"
        numbers = (self.n_units, self.baseline_n_units)
        many = None not in numbers and numbers != (self.n, self.baseline_n)
        before, units = self.clusters
        of = f" {before} {self.n_units:,} and {self.baseline_n_units:,} {units}" if many else ""
        return f"{some}{self.n:,} and {self.baseline_n:,} {self.unit}{of}"

    @property
    def _values(self) -> str:
        """Both values as text, the first against that of the baseline."""
        if self.value is None:  # of people and a machine: the pair has other means than each system by itself
            return f"difference in {self.metric}"
        of = f"{self.metric} {number_text(self.value)} against {number_text(self.baseline_value)}"
        return of if self.adjusted is None else f"{of}, adjusted by {plain_text(self.adjusted, LONGEST_NAME)}"

    @property
    def _as_planned(self) -> str:
        planned = self.split_p_value is None or self.split_p_value >= MISMATCH_P
        return "" if planned else ", but units were not assigned as planned"

    @property
    def _significant(self) -> str:
        """The sentence of a significant difference."""
        (name, base), gap, other = self._names, self.gap, self.baseline_value
        sign = sign_of(self.metric) * gap if self.has_winner else 0
        verb = "beats" if sign > 0 else "loses to" if sign < 0 else "is above" if gap > 0 else "is below"
        by = f"; {gap / abs(other):+.0%}".replace("%", " %") if other else ""
        where = f"For {self.segment_in_words}, " if self.segment_in_words else ""
        where = where or ("As judged so far, " if self.can_turn else "")
        turned = ", but judging what is unjudged could turn it" if self.can_turn else ""
        pair = f"{where}{name} {verb} {base}{at_text(self.threshold)}: {self._values} ({self._difference_text}{by})"
        return f"{pair}{self._better_in}{self._tested}{self._as_planned}{turned}."

    @property
    def _better_in(self) -> str:
        """Words for how many queries are better, and worse; of a metric without a direction, for how many there are."""
        if not sign_of(self.metric) or self.wins is None or self.losses is None:
            return f", {over_text(self.n_proxy)} {self._counted}"
        better, worse = f", better in {self.wins:,}", f" and worse in {self.losses:,}"
        of_some = bool(share_text(self.share_rows))
        return f"{better}{worse}, over {self._counted}" if of_some else f"{better} of {self._counted}{worse}"

    @property
    def _not_significant(self) -> str:
        """The sentence of two systems that cannot be told apart: which difference would show, or why none can."""
        (name, base), at = self._names, at_text(self.threshold)
        if self.few_units_text is not None:
            floor = f"with {self.few_units_text} no p can be below {self.p_floor:.3g}{self._after}"
            floor = f"{floor}: so few cannot show any difference{self._as_planned}"
            return f"{name} and {base}{at}: {self._values} ({self._difference_text}); {floor}."
        shows = ""
        if (self.ci_low or 0) > 0 or (self.ci_high or 0) < 0:
            shows = self._tested  # only the interval shows a difference, as when many pairs are tested
        elif self.mde:
            # mde of other tests has no correction
            alone = "" if self.correction in (None, "max_t") else " in a test of this pair alone"
            above = f"only differences above about {number_text(self.mde)} are likely to show"
            shows = f"; with {self._counted}, {above}{alone}{level_text(self.level)}"
        values = f"cannot be told apart{at}: {self._values} ({self._difference_text})"
        return f"{name} and {base} {values}{shows}{self._as_planned}."

    @property
    def _untested(self) -> str:
        """The sentence of a difference without a test, as of a single query."""
        name, base = self._names
        if self.few_units_text is not None and self.p_floor is None:
            return f"{self.all_names or f'{name} and {base}'} are not compared: {self.few_units_text}."
        if self.value is None or self.baseline_value is None:
            return f"{name} and {base} are not compared: no {self.unit} have {self.metric} on both sides."
        if self.difference is None and 0 in self.share_rows:
            return f"{name} and {base} are not compared by {self.metric}: on one side no row counts for it."
        if self.difference is None:
            return f"{name} and {base} are not compared by {self.metric}: one side has no row of some class."
        values = f"{number_text(self.value)} against {number_text(self.baseline_value)} of {base}"
        over = f"{at_text(self.threshold)}, over {self._counted}"
        return f"{self.metric} of {name} is {values}{over}: too few to test the difference."


@declared(kind="winner", place=None)
class Winner(Difference):
    """The difference of the best two systems, where others are compared with a baseline."""

    baselines: str | None = column("of")  # the named baselines, neither of the two

    @property
    def claims(self) -> bool:
        return self.is_significant

    def words(self) -> str:
        beside = "The" if self.baselines is None else f"Apart from {self.baselines}, the"
        return f"{beside} best and the next best: {super().words()}"


@declared(kind="not worse", place=NEXT)  # whether to take it
class NotWorse(OfPair):
    """A difference that is compared with a margin: which loss is excluded, or is not."""

    margin: float

    @property
    def claims(self) -> bool:
        return (self.p_not_worse is not None and self.p_not_worse < ALPHA) or self.is_lost

    @property
    def is_lost(self) -> bool:
        """True if the whole interval of the difference, if it is at the level of p, is a loss above the margin."""
        end = self.ci_high if sign_of(self.metric) > 0 else self.ci_low
        known = self.p_not_worse is not None and has_interval_of_p(vars(self), self.level or 0) and end is not None
        return known and -sign_of(self.metric) * (end or 0.0) > self.margin

    def words(self) -> str:
        if self.difference is None:
            return ""
        (name, base), margin = self._names, f"{self.margin:g}"
        known = f"{name} is not worse than {base} by more than {margin} in {self.metric}"
        sure = f" ({p_words(self.p_not_worse)})"
        if self.p_not_worse is None:
            return f"Whether {known} cannot be told: {unknown_why(vars(self))}."
        if self.p_not_worse < ALPHA:
            return f"{known}{sure}."
        if self.is_lost:
            ends = f"the difference is {range_of(self.ci_low, self.ci_high, signed=True)}{level_text(self.level)}"
            return f"{name} is worse than {base} by more than {margin} in {self.metric}: {ends}."
        loss = number_text(loss_left(vars(self), metric_of(str(self.metric)), self.margin))
        return f"It is not shown that {known}{sure}: a loss of up to {loss} is not excluded{level_text(self.level)}."


@declared(kind="reversal", place=WHEN)
class Reversal(OfPair):
    """A difference within segments that has the other sign than that over all."""

    segments: str = column("of")  # the columns of segments

    @property
    def claims(self) -> bool:
        return self.is_significant

    def words(self) -> str:
        (name, base), values = self._names, f"{self._difference_text}{self._tested}"
        within = f"{name} is above {base} in {self.metric} within segments of {self.segments} ({values})"
        return f"{within}, although it is below {base} over all: the two have different mixes of {self.segments}."


def surely(pairs: Sequence[Difference], lower: str, higher: str, sign: int) -> str:
    """Return words for those of some differences that are significant, the lower ones first; "" for none.

    Parameters
    ----------
    lower, higher : the words for both sides, as "surely worse than old".
    sign : -1 if a difference above 0 is on the lower side, as where that is the worse one.
    """
    sure = sorted((one for one in pairs if one.is_significant), key=lambda one: -abs(one.gap))
    sides = {word: [one for one in sure if way * one.gap > 0] for word, way in ((lower, -sign), (higher, sign))}
    words = [f"{word}: {first_of([one.name_and_size for one in some])}" for word, some in sides.items() if some]
    return capital("; ".join(words))


def the_greatest(sure: Sequence[Difference], pair: Difference | None) -> Difference:
    """Return the greatest of significant differences of segments or classes, which says of the others that they are.

    Those in the direction of the pair over all come first, if that differs significantly.
    """
    way = _improvement(pair) if pair is not None and pair.is_significant else 0.0
    most, *others = sorted(sure, key=lambda one: (_improvement(one) * way < 0, -abs(one.gap)))
    return replace(most, more=surely_too(others, most.gap))


def _improvement(one: Difference) -> float:
    return (sign_of(one.metric) or 1) * one.gap


def surely_too(others: Sequence[Difference], gap: float) -> str:
    """Return words for the other segments or classes that surely differ, those in the direction of ``gap`` first."""
    same, opposite = ("higher", "lower") if gap > 0 else ("lower", "higher")
    return surely(others, f"surely {same} too", f"on the other hand surely {opposite}", -1 if gap > 0 else 1)
