"""Sentences of the summary of a report, each made of its own figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from frame_metrics.measuring.split import MISMATCH
from frame_metrics.metrics.elsewhere import metric_of
from frame_metrics.metrics.parameters import is_number
from frame_metrics.report.cells import ALPHA, EQUAL, counted, number_text, p_text, plain_text, sign_of
from frame_metrics.verbs.audit.of_weights import FEW
from frame_metrics.verbs.compare.margins import loss_left, unknown_why

LONGEST = 60  # the most letters of a name


@dataclass(frozen=True, kw_only=True)
class Said:
    """Figures of one sentence; those that the sentence does not need are None."""

    about: str  # a key of ``SENTENCES``
    unit: str  # queries or rows; of undefined values: queries, classes, or "" for the value itself
    threshold: float | None = None  # the caller's, for metrics of decisions
    adjusted: str | None = None  # the column by which means of arms are adjusted
    offers: str | None = None  # the word for the unanswered queries that may be left out; None for none
    split: float | None = None  # the p-value of the split of units between arms; None where no shares are known
    clicks: bool | None = None  # True if the undefined queries are those without a relevant row, as without a click
    # Depends on ``about``: a segment, the first and the last time of a trend, the first time after a break, the
    # findings of the audit, what happens to undefined values or unanswered queries, how units are split, the label that
    # scores are probabilities of, what is missing, or what is absent and why.
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
    def told(self) -> bool:
        """True if the test shows a difference; the interval comes from other draws, and may part from it near .05."""
        return bool(self.p_adjusted is not None and self.difference and self.p_adjusted < ALPHA)

    @property
    def misses(self) -> bool:
        """True if the interval of a share does not hold the value that the share should have."""
        low, high, value = self.ci_low, self.ci_high, self.baseline_value
        return low is not None and high is not None and value is not None and not low <= value <= high

    def turned(self) -> Said:
        """Return the same difference, with the system and the baseline exchanged."""
        sizes: dict[str, Any] = {}
        if self.baseline_n is not None:  # each arm has its own numbers
            sizes = {"n": self.baseline_n, "n_units": self.baseline_n_units}
            sizes |= {"baseline_n": self.n, "baseline_n_units": self.n_units}
        return replace(
            self,
            **sizes,
            difference=_minus(self.difference),
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
        return SENTENCES[self.about](self)


def _minus(number: float | None) -> float | None:
    return None if number is None else 0.0 - number


def _name(system: Any) -> str:
    """Return the name of a system; before a name that looks like a number stands the word "system"."""
    if system is None:
        return "this frame"
    text = plain_text(system, LONGEST)
    return f"system {text}" if is_number(system) or text.isdecimal() else text


def _of_system(said: Said) -> str:
    """Return words for whose the figures are; "" without systems."""
    return "" if said.system is None else f" of {_name(said.system)}"


def _range(said: Said, *, signed: bool = False) -> str:
    """Return an interval as text; ``signed``: whether ends above 0 have a plus sign."""
    return " to ".join((_signed if signed else number_text)(end) for end in (said.ci_low, said.ci_high))


def _apart(said: Said) -> str:
    """Return a difference as text, and its interval, which differences that are all equal have not."""
    interval = "" if said.ci_low is None else f", interval {_range(said, signed=True)}"
    return f"{_signed(said.difference)}{interval}"


def _signed(number: float | None) -> str:
    text = number_text(number)
    return f"+{text}" if number is not None and number > EQUAL else text


def _counted(said: Said) -> str:
    """Return words for the number of queries or rows behind the figures."""
    if said.baseline_n is not None:
        units = (said.n_units, said.baseline_n_units)
        many = None not in units and units != (said.n, said.baseline_n)
        of = f" of {said.n_units:,} and {said.baseline_n_units:,} clusters" if many else ""
        return f"{said.n:,} and {said.baseline_n:,} {said.unit}{of}"
    return counted(said.n or 0, said.unit)


def _difference(said: Said) -> str:
    alone = said.ci_low is None and said.n == 1  # no interval, and a p-value of 1
    if alone or said.p_adjusted is None or said.difference is None:
        return _untested(said)
    of = f"{said.metric} {number_text(said.value)} against {number_text(said.baseline_value)}"
    of += "" if said.adjusted is None else f", adjusted by {plain_text(said.adjusted, LONGEST)}"
    sure = tested = f"; p {p_text(said.p_adjusted)}{f' after {said.correction}' if said.correction else ''}"
    pair = f"{_name(said.system)} and {_name(said.baseline)}"
    if said.wins == said.losses == 0:
        return f"{pair} have the same {said.metric}{_at(said)} in each of {_counted(said)}: {number_text(said.value)}."
    sure += "" if said.split is None or said.split >= MISMATCH else ", but units were not assigned as planned"
    if not said.told:
        single = "" if said.correction in (None, "max_t") else " in a single test"  # mde of others has no correction
        shows = "" if not said.mde else f"; {_counted(said)} would show {number_text(said.mde)}{single}"
        if (said.ci_low or 0) > 0 or (said.ci_high or 0) < 0:
            shows = sure  # only the interval shows a difference, as when many pairs are tested
        shows += "" if shows == sure else sure[len(tested) :]
        return f"No difference between {pair} can be told{_at(said)}: {of} ({_apart(said)}){shows}."
    sign = sign_of(said.metric) * said.difference
    verb = "beats" if sign > 0 else "loses to" if sign < 0 else "is above" if said.difference > 0 else "is below"
    base = said.baseline_value
    by = f"; {said.difference / abs(base):+.0%}".replace("%", " %") if base else ""
    if sign and said.wins is not None and said.losses is not None:
        most = f", better in {said.wins:,} of {_counted(said)} and worse in {said.losses:,}"
    else:
        most = f", over {_counted(said)}"
    pair = f"{f'In {said.of}, ' if said.of else ''}{_name(said.system)} {verb} {_name(said.baseline)}"
    return f"{pair}{_at(said)}: {of} ({_apart(said)}{by}){most}{sure}."


def _not_worse(said: Said) -> str:
    """Return the sentence of a difference that is held against a margin: what loss is excluded, or is not."""
    if said.margin is None or said.difference is None:
        return ""
    margin, name, base = f"{said.margin:g}", _name(said.system), _name(said.baseline)
    known = f"{name} is not worse than {base} by more than {margin} in {said.metric}"
    sure = f" (p {p_text(said.p_not_worse)})"
    if said.p_not_worse is None:
        return f"Whether {known} cannot be told: {unknown_why(vars(said))}."
    if said.p_not_worse < ALPHA:
        return f"{known}{sure}."
    loss = number_text(loss_left(vars(said), metric_of(said.metric), said.margin))
    return f"It is not shown that {known}{sure}: a loss of up to {loss} is not excluded."


def _untested(said: Said) -> str:
    """Return the sentence for a difference without a test, as of a single query."""
    name, base = _name(said.system), _name(said.baseline)
    if said.value is None or said.baseline_value is None:
        return f"{name} and {base} are not compared: no {said.unit} have {said.metric} on both sides."
    values = f"{number_text(said.value)} against {number_text(said.baseline_value)} of {base}"
    return f"{said.metric} of {name} is {values}{_at(said)}, over {_counted(said)}: too few to test the difference."


def _as_it_is(said: Said) -> str:
    return f"{said.of}."


def _value(said: Said) -> str:
    if said.value is None:
        return ""
    of = _of_system(said)
    between = "" if said.ci_low is None else f" ({_range(said)})"
    return f"{said.metric}{of} is {number_text(said.value)}{between}{_at(said)}, over {_counted(said)}."


def _at(said: Said) -> str:
    return "" if said.threshold is None else f" at threshold {said.threshold:.4g}"


def _weighted(said: Said) -> str:
    of = _of_system(said)
    few = "" if said.value is None or said.value >= FEW else f"; fewer than {FEW} are too few for an interval"
    return (
        f"Values are weighted by propensity=: the {said.of} behind {said.metric}{of} are as informative as "
        f"{number_text(said.value, 1)} of equal weight{few}."
    )


def _weights(said: Said) -> str:
    of = _of_system(said)
    return (
        f"{said.unit.capitalize()} are weighted by {said.of}: the {_counted(said)} behind {said.metric}{of} are as "
        f"informative as {number_text(said.value, 1)} of equal weight."
    )


def _unjudged(said: Said) -> str:
    if not said.share and not said.baseline_value:
        return ""
    of = _of_system(said)
    other = "" if said.baseline_value is None else f", and {said.baseline_value:.1%} of {_name(said.baseline)}'s"
    return f"{said.share:.1%} of the top {said.n}{of} are unjudged{other}, on average over queries.".replace("%", " %")


def _undefined(said: Said) -> str:
    of = _of_system(said)
    what = "" if said.of is None else f", which {said.of}"
    if not said.unit:  # the value itself
        return f"{said.metric}{of} is undefined{what}."
    some = f"{said.n:,} of {said.baseline_n:,} {said.unit}" if said.baseline_n else counted(said.n or 0, said.unit)
    if said.clicks:  # they are no fault of the data
        does = "has" if said.n == 1 else "have"
        return f"{some} {does} no relevant row{'' if said.of is None else f' and {said.of}'}{of and f', for{of[3:]}'}."
    return f"{said.metric}{of} is undefined in {some}{what}."


def _unanswered(said: Said) -> str:
    lacks = f"{_name(said.system)} has no rows for {said.n:,} of {counted(said.baseline_n or 0, said.unit)}"
    if said.of is None:
        return f"{lacks}, which are left out."
    has = said.value is not None
    rest = f"Over the {said.n_units:,} that it has, {said.metric} is {number_text(said.value)}. " if has else ""
    way = f"If it was not asked {said.offers}: unanswered='drop'." if said.offers else ""
    return f"{lacks}; they {said.of}. {rest}{way}".strip()


def _calibration(said: Said) -> str:
    scores = f"scores{'' if said.system is None else f' of {_name(said.system)}'}"
    if not said.misses:
        return f"Read as probabilities, {scores} are nowhere surely off ({said.metric} {number_text(said.value)})."
    off = f"off by {number_text(said.value)} in the mean ({said.metric})"
    some = f"{counted(said.n or 0, said.unit)} with a mean score of {number_text(said.baseline_value)}"
    came = f"{number_text(said.share)} are {said.of} ({_range(said)})"
    return f"Read as probabilities, {scores} are {off}: of {some}, {came}."


def _arms(said: Said) -> str:
    return f"Each {plain_text(said.of, LONGEST)} has {said.unit} of its own, and is measured over these."


def _split(said: Said) -> str:
    return f"No difference can be trusted before it is known why the split is off: {said.of}."


def _distance(said: Said) -> str:
    of = str(said.of)
    return f"{of[0].upper()}{of[1:]}."


def _cut(said: Said) -> str:
    return f"{said.of}; each part counts as a search."


def _audit(said: Said) -> str:
    return f"The audit found {said.of}."


def _segment(said: Said) -> str:
    values = f"{said.metric} {number_text(said.value)} ({_range(said)})"
    whose = "" if said.system is None else f" for {_name(said.system)}"
    return f"{said.of} stands out{whose}: {values}, {number_text(said.baseline_value)} over all."


def _moved(said: Said) -> str:
    return f"{said.metric}{_of_system(said)} {'rose' if (said.difference or 0) > 0 else 'fell'}"


def _from_to(said: Said) -> str:
    return f"from {number_text(said.baseline_value)} to {number_text(said.value)}"


def _trend(said: Said) -> str:
    return f"{_moved(said)} steadily, on a line {_from_to(said)} ({said.of}; p {p_text(said.p_adjusted)})."


def _break(said: Said) -> str:
    levels = f"{number_text(said.value)} from then on, {number_text(said.baseline_value)} before"
    return f"{_moved(said)} at or near {said.of}: {levels} (p {p_text(said.p_adjusted)})."


def _either(said: Said) -> str:
    how = f"at once near {said.of} or step by step"
    return f"{_moved(said)}, {how}, {_from_to(said)} (p {p_text(said.p_adjusted)})."


SENTENCES: Mapping[str, Callable[[Said], str]] = {
    "arms": _arms,
    "split": _split,
    "absent": _as_it_is,
    "unanswered": _unanswered,
    "difference": _difference,
    "not worse": _not_worse,
    "value": _value,
    "weighted": _weighted,
    "weights": _weights,
    "unjudged": _unjudged,
    "undefined": _undefined,
    "missing": _as_it_is,
    "calibration": _calibration,
    "distance": _distance,
    "cut": _cut,
    "audit": _audit,
    "segment": _segment,
    "trend": _trend,
    "break": _break,
    "trend or break": _either,
}
