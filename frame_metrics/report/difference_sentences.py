"""Sentences of a summary about differences: which system beats another one, and what loss is excluded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frame_metrics.measuring.split import MISMATCH_P
from frame_metrics.metrics.saved_names import metric_of
from frame_metrics.report.cells import ALPHA, EQUAL, number_text, plain_text, sign_of
from frame_metrics.report.words import (
    LONGEST_NAME,
    at_text,
    counted_of,
    level_text,
    name_of,
    no_more,
    p_words,
    percent,
    range_of,
    share_rows_text,
    signed_text,
)
from frame_metrics.verbs.compare.margins import loss_left, unknown_why

if TYPE_CHECKING:
    from frame_metrics.report.sentences import Figures


def _difference_text(figures: Figures) -> str:
    """Return a difference as text, the least that can be claimed, and its interval, with the same near end.

    Differences that are all equal have no interval.
    """
    ends, least = [signed_text(end) for end in (figures.ci_low, figures.ci_high)], _claimed_at_least(figures)
    if least:
        ends[least.startswith("-")] = least
    claim = f", at least {f'{least[1:]} less' if least.startswith('-') else least}" if least else ""
    interval = "" if figures.ci_low is None else f", {percent(figures.level)} interval {' to '.join(ends)}"
    return f"{signed_text(figures.difference)}{claim}{interval}"


def difference(figures: Figures) -> str:
    """Return the sentence of a difference: who beats whom, or why neither is known to be better."""
    alone = figures.ci_low is None and figures.n == 1  # no interval, and a p-value of 1
    if alone or figures.p_adjusted is None or figures.difference is None:
        return _untested(figures)
    if figures.wins == figures.losses == 0:
        pair, at = f"{name_of(figures.system)} and {name_of(figures.baseline)}", at_text(figures)
        same = f"{figures.metric}{at} in each of {counted_of(figures)}: {number_text(figures.value)}"
        return f"{pair} have the same {same}."
    return _significant(figures) if figures.is_significant else _not_significant(figures)


def _values(figures: Figures) -> str:
    """Return both values as text, the first against that of the baseline."""
    if figures.value is None:  # of people and a machine: the pair has other means than each system by itself
        return f"difference in {figures.metric}"
    of = f"{figures.metric} {number_text(figures.value)} against {number_text(figures.baseline_value)}"
    return of if figures.adjusted is None else f"{of}, adjusted by {plain_text(figures.adjusted, LONGEST_NAME)}"


def _tested(figures: Figures) -> str:
    return f"; {p_words(figures.p_adjusted)}{_after(figures)}"


def _after(figures: Figures) -> str:
    """Return words for the correction of a p-value, "" for none."""
    several = "several" if figures.n_tests is None else f"{figures.n_tests:,}"
    return f", corrected for {several} comparisons" if figures.correction else ""


def _as_planned(figures: Figures) -> str:
    return (
        ""
        if figures.split_p_value is None or figures.split_p_value >= MISMATCH_P
        else ", but units were not assigned as planned"
    )


def _as_judged(figures: Figures) -> str:
    return ", but judging what is unjudged could turn it" if figures.can_turn else ""


def _not_significant(figures: Figures) -> str:
    """Return the sentence of two systems that cannot be told apart: which difference would show, or why none can."""
    name, base, at = name_of(figures.system), name_of(figures.baseline), at_text(figures)
    if figures.few_units_text is not None:
        floor = f"with {figures.few_units_text} no p can be below {figures.p_floor:.3g}{_after(figures)}"
        floor = f"{floor}: so few cannot show any difference{_as_planned(figures)}"
        return f"{name} and {base}{at}: {_values(figures)} ({_difference_text(figures)}); {floor}."
    shows = ""
    if (figures.ci_low or 0) > 0 or (figures.ci_high or 0) < 0:
        shows = _tested(figures)  # only the interval shows a difference, as when many pairs are tested
    elif figures.mde:
        above = f"only differences above about {number_text(figures.mde)} are likely to show{_of_tests(figures)}"
        shows = f"; with {counted_of(figures)}, {above}"
    shows += _as_planned(figures)
    return f"{name} and {base} cannot be told apart{at}: {_values(figures)} ({_difference_text(figures)}){shows}."


def _of_tests(figures: Figures) -> str:
    """Return words for the tests that ``mde`` is of, if they are others than that of the sentence."""
    # mde of other tests has no correction
    single = "" if figures.correction in (None, "max_t") else " in a test of this pair alone"
    return f"{single}{level_text(figures)}"


def _significant(figures: Figures) -> str:
    """Return the sentence of a significant difference."""
    gap, base = figures.difference or 0.0, figures.baseline_value
    sign = 0 if figures.are_periods else sign_of(figures.metric) * gap  # periods do not win
    verb = "beats" if sign > 0 else "loses to" if sign < 0 else "is above" if gap > 0 else "is below"
    by = f"; {gap / abs(base):+.0%}".replace("%", " %") if base else ""
    if sign_of(figures.metric) and figures.wins is not None and figures.losses is not None:
        of, over = counted_of(figures), share_rows_text(figures)
        worse = f" and worse in {figures.losses:,}"
        most = f", better in {figures.wins:,}{f'{worse}, over' if over else ' of'} {of}{'' if over else worse}"
    else:
        most = f", over {counted_of(figures)}"
    where = f"For {figures.segment}, " if figures.segment else "As judged so far, " if figures.can_turn else ""
    pair = f"{where}{name_of(figures.system)} {verb} {name_of(figures.baseline)}"
    sure = f"{_tested(figures)}{_as_planned(figures)}{_as_judged(figures)}"
    return f"{pair}{at_text(figures)}: {_values(figures)} ({_difference_text(figures)}{by}){most}{sure}."


def _claimed_at_least(figures: Figures) -> str:
    """Return the least difference that can be claimed, "" for none: the near end of an interval at the level of p.

    That is an interval of 95 % or more that is of one pair, or of all pairs together.
    """
    near = figures.ci_low if (figures.difference or 0) > 0 else figures.ci_high
    sure = (
        figures.is_significant and figures.correction in (None, "max_t") and (figures.level or 0) >= 1 - ALPHA - EQUAL
    )
    if not sure or near is None or near * (figures.difference or 0) <= 0:
        return ""
    return no_more(near)


def highest(figures: Figures) -> str:
    """Return the sentence of the highest and the lowest of several systems, where it is not known what is better."""
    metric, of = f"{figures.metric}{at_text(figures)}", f"{figures.baseline_n_units:,} {figures.unit}"
    adjusted = "" if figures.adjusted is None else f" (differences are adjusted by {figures.adjusted})"
    value = number_text(figures.value)
    return f"{name_of(figures.system)} has the highest {metric} of {of}, {value}{figures.of}{adjusted}."


def sentence_of_margin(figures: Figures) -> str:
    """Return the sentence of a difference that is compared with a margin: which loss is excluded, or is not."""
    if figures.margin is None or figures.difference is None:
        return ""
    margin, name, base = f"{figures.margin:g}", name_of(figures.system), name_of(figures.baseline)
    known = f"{name} is not worse than {base} by more than {margin} in {figures.metric}"
    sure = f" ({p_words(figures.p_not_worse)})"
    if figures.p_not_worse is None:
        return f"Whether {known} cannot be told: {unknown_why(vars(figures))}."
    if figures.p_not_worse < ALPHA:
        return f"{known}{sure}."
    if lost(figures):
        ends = f"the difference is {range_of(figures, signed=True)}{level_text(figures)}"
        return f"{name} is worse than {base} by more than {margin} in {figures.metric}: {ends}."
    loss = number_text(loss_left(vars(figures), metric_of(figures.metric), figures.margin))
    return f"It is not shown that {known}{sure}: a loss of up to {loss} is not excluded{level_text(figures)}."


def lost(figures: Figures) -> bool:
    """Return True if the whole interval of a difference, if it is at the level of p, is a loss above the margin."""
    if figures.margin is None or figures.p_not_worse is None:
        return False
    end = figures.ci_high if sign_of(figures.metric) > 0 else figures.ci_low
    sure = figures.correction in (None, "max_t") and (figures.level or 0) >= 1 - ALPHA - EQUAL
    return sure and end is not None and -sign_of(figures.metric) * end > figures.margin


def reversal(figures: Figures) -> str:
    """Return the sentence of a difference within segments that has the other sign than that over all."""
    name, base = name_of(figures.system), name_of(figures.baseline)
    values = f"{_difference_text(figures)}{_tested(figures)}"
    within = f"{name} is above {base} in {figures.metric} within segments of {figures.of} ({values})"
    return f"{within}, although it is below {base} over all: the two have different mixes of {figures.of}."


def _untested(figures: Figures) -> str:
    """Return the sentence for a difference without a test, as of a single query."""
    name, base = name_of(figures.system), name_of(figures.baseline)
    if figures.few_units_text is not None and figures.p_floor is None:
        return f"{name} and {base} are not compared: {figures.few_units_text}."
    if figures.value is None or figures.baseline_value is None:
        return f"{name} and {base} are not compared: no {figures.unit} have {figures.metric} on both sides."
    if figures.difference is None and 0 in figures.share_rows:
        return f"{name} and {base} are not compared by {figures.metric}: on one side no row counts for it."
    if figures.difference is None:
        return f"{name} and {base} are not compared by {figures.metric}: one side has no row of some class."
    values = f"{number_text(figures.value)} against {number_text(figures.baseline_value)} of {base}"
    over = f"{at_text(figures)}, over {counted_of(figures)}"
    return f"{figures.metric} of {name} is {values}{over}: too few to test the difference."


def mix(figures: Figures) -> str:
    """Return the sentence of a change that is taken apart."""
    change, by = figures.difference or 0.0, number_text(abs(figures.difference or 0.0))
    low, high = figures.ci_low or 0.0, figures.ci_high or 0.0
    name, base = name_of(figures.system), name_of(figures.baseline)
    own, other = number_text(figures.value), number_text(figures.baseline_value)
    if low <= 0 <= high or abs(change) <= EQUAL:
        ends = f"by {signed_text(change)} ({signed_text(low)} to {signed_text(high)})"
        if figures.are_periods:
            return f"{figures.metric} hardly moved from {base} to {name}, {ends}: {figures.of}."
        return f"{figures.metric} of {name} hardly differs from that of {base}, {ends}: {figures.of}."
    if figures.are_periods:  # its interval is in the answer
        verb = "rose" if change > 0 else "fell"
        return f"{figures.metric} {verb} by {by} from {base} to {name} ({other} to {own}): {figures.of}."
    side = "above" if change > 0 else "below"
    return f"{name} is {side} {base} by {by} in {figures.metric} ({own} against {other}): {figures.of}."
