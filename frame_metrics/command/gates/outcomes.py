"""Outcomes of gates, and the lines about those that passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from frame_metrics.backends.display import cell_text
from frame_metrics.metrics.saved_names import metric_of

short = partial(cell_text, digits=3)  # a number for people


class Passed(NamedTuple):
    """A difference from before with which a gate passed."""

    metric: str
    lost: float  # how much worse it is than before
    words: str
    accepted: float  # the loss that is accepted


@dataclass(frozen=True)
class Outcome:
    """The outcome of one gate for one row of a result."""

    name: str  # the gate and the row
    sentence: str  # the sentence with the numbers that is printed
    failed: bool
    noted: str = ""  # a remark that is printed if the gate passes
    undecided: bool = False  # whether it did not pass because the data are too few
    passed: Passed | None = None  # the difference, where one was compared and nothing failed


def worst_passed(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a line for each metric whose differences pass, about the greatest loss; none if something failed."""
    passed = [one.passed for one in outcomes if one.passed]
    for metric in dict.fromkeys(one.metric for one in passed if not any(one.failed for one in outcomes)):
        each = [one for one in passed if one.metric == metric]
        others = f", the worst of {len(each)}" * (len(each) > 1)
        worst = max(each, key=lambda one: one.lost)
        accepted = f"; up to {short(worst.accepted)} worse is accepted" * bool(worst.accepted)
        yield f"gate passed: {worst.words}{others}{accepted}"


def passed_with(
    metric: str,
    value: float,
    before: float,
    where: str,
    ends: tuple[float | None, float | None] = (None, None),
    more: str = "",
    *,
    accepted: float = 0,
    sides: str = "",
) -> Passed:
    """Return a difference from before, with the ends of its interval, if it has one, and ``more`` words.

    ``accepted``: the loss that is accepted; ``sides``: words for both sides, if they are not the two values.
    """
    low, high = map(short, ends)
    sides = sides or f"{short(value)} against {short(before)}"
    words = f"{metric} {sides}{where}: a difference of {short(value - before)}"
    words += f" ({low} to {high})" * bool(low and high) + more
    return Passed(metric, (before - value) * metric_of(metric).sign, words, accepted)
