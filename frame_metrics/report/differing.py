"""Sentences of a summary about differences: which system beats another one, and what loss is excluded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frame_metrics.measuring.split import MISMATCH
from frame_metrics.metrics.saved_names import metric_of
from frame_metrics.report.cells import ALPHA, EQUAL, number_text, plain_text, sign_of
from frame_metrics.report.words import (
    LONGEST,
    at_text,
    counted_of,
    level_text,
    name_of,
    no_more,
    p_words,
    range_of,
    signed_text,
)
from frame_metrics.verbs.compare.margins import loss_left, unknown_why

if TYPE_CHECKING:
    from frame_metrics.report.sentences import Said


def _difference_text(said: Said) -> str:
    """Return a difference as text, and its interval, which differences that are all equal have not."""
    interval = "" if said.ci_low is None else f", interval {range_of(said, signed=True)}"
    return f"{signed_text(said.difference)}{_least(said)}{interval}"


def difference(said: Said) -> str:
    """Return the sentence of a difference: who beats whom, or why nobody is told from the other."""
    alone = said.ci_low is None and said.n == 1  # no interval, and a p-value of 1
    if alone or said.p_adjusted is None or said.difference is None:
        return _untested(said)
    if said.wins == said.losses == 0:
        pair, at = f"{name_of(said.system)} and {name_of(said.baseline)}", at_text(said)
        same = f"{said.metric}{at} in each of {counted_of(said)}: {number_text(said.value)}"
        return f"{pair} have the same {same}."
    return _significant(said) if said.is_significant else _not_told(said)


def _values(said: Said) -> str:
    """Return both values as text, the first against that of the baseline."""
    of = f"{said.metric} {number_text(said.value)} against {number_text(said.baseline_value)}"
    return of if said.adjusted is None else f"{of}, adjusted by {plain_text(said.adjusted, LONGEST)}"


def _tested(said: Said) -> str:
    return f"; {p_words(said.p_adjusted)}{_after(said)}"


def _after(said: Said) -> str:
    """Return words for the correction of a p-value, "" for none."""
    several = "several" if said.n_tests is None else f"{said.n_tests:,}"
    return f", corrected for {several} comparisons" if said.correction else ""


def _as_planned(said: Said) -> str:
    return "" if said.split is None or said.split >= MISMATCH else ", but units were not assigned as planned"


def _not_told(said: Said) -> str:
    """Return the sentence of two systems that are not told apart: what would have shown, or why nothing could."""
    name, base, at = name_of(said.system), name_of(said.baseline), at_text(said)
    if said.few is not None:
        floor = f"with {said.few} no p can be below {said.least:.3g}{_after(said)}: so few cannot show any difference"
        return f"{name} beside {base}{at}: {_values(said)} ({_difference_text(said)}); {floor}{_as_planned(said)}."
    shows = ""
    if (said.ci_low or 0) > 0 or (said.ci_high or 0) < 0:
        shows = _tested(said)  # only the interval shows a difference, as when many pairs are tested
    elif said.mde:
        above = f"only differences above about {number_text(said.mde)} are likely to show{_of_tests(said)}"
        shows = f"; with {counted_of(said)}, {above}"
    shows += _as_planned(said)
    return f"{name} and {base} cannot be told apart{at}: {_values(said)} ({_difference_text(said)}){shows}."


def _of_tests(said: Said) -> str:
    """Return words for the tests that ``mde`` is of, if they are others than that of the sentence."""
    # mde of other tests has no correction
    single = "" if said.correction in (None, "max_t") else " in a test of this pair alone"
    return f"{single}{level_text(said)}"


def _significant(said: Said) -> str:
    """Return the sentence of a difference that is told."""
    apart, base = said.difference or 0.0, said.baseline_value
    sign = sign_of(said.metric) * apart
    verb = "beats" if sign > 0 else "loses to" if sign < 0 else "is above" if apart > 0 else "is below"
    by = f"; {apart / abs(base):+.0%}".replace("%", " %") if base else ""
    if sign and said.wins is not None and said.losses is not None:
        most = f", better in {said.wins:,} of {counted_of(said)} and worse in {said.losses:,}"
    else:
        most = f", over {counted_of(said)}"
    pair = f"{f'In {said.of}, ' if said.of else ''}{name_of(said.system)} {verb} {name_of(said.baseline)}"
    sure = f"{_tested(said)}{_as_planned(said)}"
    return f"{pair}{at_text(said)}: {_values(said)} ({_difference_text(said)}{by}){most}{sure}."


def _least(said: Said) -> str:
    """Return the least difference that can be claimed, "" for none: the near end of an interval that is as sure as p.

    That is an interval of 95 % or more that is of one pair, or of all pairs together.
    """
    near = said.ci_low if (said.difference or 0) > 0 else said.ci_high
    sure = said.is_significant and said.correction in (None, "max_t") and (said.level or 0) >= 1 - ALPHA - EQUAL
    if not sure or near is None or near * (said.difference or 0) <= 0:
        return ""
    text = no_more(near)
    return text and f", at least {text if near > 0 else f'{text[1:]} less'}"


def not_worse(said: Said) -> str:
    """Return the sentence of a difference that is held against a margin: what loss is excluded, or is not."""
    if said.margin is None or said.difference is None:
        return ""
    margin, name, base = f"{said.margin:g}", name_of(said.system), name_of(said.baseline)
    known = f"{name} is not worse than {base} by more than {margin} in {said.metric}"
    sure = f" ({p_words(said.p_not_worse)})"
    if said.p_not_worse is None:
        return f"Whether {known} cannot be told: {unknown_why(vars(said))}."
    if said.p_not_worse < ALPHA:
        return f"{known}{sure}."
    if lost(said):
        ends = f"the difference is {range_of(said, signed=True)}{level_text(said)}"
        return f"{name} is worse than {base} by more than {margin} in {said.metric}: {ends}."
    loss = number_text(loss_left(vars(said), metric_of(said.metric), said.margin))
    return f"It is not shown that {known}{sure}: a loss of up to {loss} is not excluded{level_text(said)}."


def lost(said: Said) -> bool:
    """Return whether the whole interval of a difference, if it is as sure as p, is a loss above the margin."""
    if said.margin is None or said.p_not_worse is None:
        return False
    end = said.ci_high if sign_of(said.metric) > 0 else said.ci_low
    sure = said.correction in (None, "max_t") and (said.level or 0) >= 1 - ALPHA - EQUAL
    return sure and end is not None and -sign_of(said.metric) * end > said.margin


def reversal(said: Said) -> str:
    """Return the sentence of a difference within segments that has the other sign than that over all."""
    name, base = name_of(said.system), name_of(said.baseline)
    values = f"{_difference_text(said)}{_tested(said)}"
    within = f"{name} is above {base} in {said.metric} within segments of {said.of} ({values})"
    return f"{within}, although it is below {base} over all: the two have different mixes of {said.of}."


def _untested(said: Said) -> str:
    """Return the sentence for a difference without a test, as of a single query."""
    name, base = name_of(said.system), name_of(said.baseline)
    if said.value is None or said.baseline_value is None:
        return f"{name} and {base} are not compared: no {said.unit} have {said.metric} on both sides."
    values = f"{number_text(said.value)} against {number_text(said.baseline_value)} of {base}"
    over = f"{at_text(said)}, over {counted_of(said)}"
    return f"{said.metric} of {name} is {values}{over}: too few to test the difference."


def mix(said: Said) -> str:
    """Return the sentence of a change that is taken apart."""
    change = said.difference or 0.0
    low, high = said.ci_low or 0.0, said.ci_high or 0.0
    if low <= 0 <= high or abs(change) <= EQUAL:
        moved = f"hardly moved, by {signed_text(change)} ({signed_text(low)} to {signed_text(high)})"
    else:
        ends = sorted((abs(low), abs(high)))
        moved = (
            f"{'rose' if change > 0 else 'fell'} by {number_text(abs(change))} ({' to '.join(map(number_text, ends))})"
        )
    sides = "" if said.baseline is None else f" from {name_of(said.baseline)} to {name_of(said.system)}"
    return f"{said.metric} {moved}{sides}: {said.of}."
