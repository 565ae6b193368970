"""Sentences of a summary about changes over time: a trend, a break, or an outage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frame_metrics.report.cells import number_text
from frame_metrics.report.words import counted_of, of_system, p_words

if TYPE_CHECKING:
    from frame_metrics.report.sentences import Figures


def _rose_or_fell(figures: Figures) -> str:
    return f"{figures.metric}{of_system(figures)} {'rose' if (figures.difference or 0) > 0 else 'fell'}"


def _from_to(figures: Figures) -> str:
    return f"from {number_text(figures.baseline_value)} to {number_text(figures.value)}"


def _averaged(figures: Figures) -> str:
    """Return what levels are means over: means over queries, as ``change`` has them, may be others."""
    return f", averaged over {'days' if figures.of_days else 'periods'}"


def _tests(figures: Figures) -> str:
    """Return the p-value of a change, and the numbers of queries behind both levels, in the order of these."""
    p = p_words(figures.p_adjusted)
    if figures.kind == "outage":
        return f"(over {counted_of(figures)}; {p})"
    return f"(over {counted_of(figures.swapped())} before and after; {p})"


def trend(figures: Figures) -> str:
    how, p = "" if figures.may_be_sudden else " steadily", p_words(figures.p_adjusted)
    few = ", steadily or at once, which so few periods cannot tell" if figures.may_be_sudden else ""
    return f"{_rose_or_fell(figures)}{how}{figures.also}, on a line {_from_to(figures)} ({figures.of}; {p}){few}."


def level_break(figures: Figures) -> str:
    by, tests = number_text(abs(figures.difference or 0.0)), _tests(figures)
    levels = f"{_from_to(figures)}{_averaged(figures)}"
    return f"{_rose_or_fell(figures)} by {by} at or near {figures.of}{figures.also}, {levels} {tests}."


def outage(figures: Figures) -> str:
    first, *later = str(figures.of).split(" to ")
    one = f"On {first}" if figures.of_days else f"In {'the period from ' * (len(first) >= len('2026-01-05'))}{first}"
    when = f"From {figures.of}" if later else one
    other = "on the same weekdays of all other weeks" if figures.of_days else "otherwise"
    by, side = number_text(abs(figures.difference or 0.0)), "higher" if (figures.difference or 0) > 0 else "lower"
    values = f"{number_text(figures.value)} against {number_text(figures.baseline_value)}"
    than = f"{by} {side} than {other}{figures.also}"
    return f"{when} {figures.metric}{of_system(figures)} was {than}: {values}{_averaged(figures)} {_tests(figures)}."


def trend_or_break(figures: Figures) -> str:
    how = f"either suddenly near {figures.of} or gradually{figures.also}"
    return f"{_rose_or_fell(figures)} {_from_to(figures)}{_averaged(figures)}, {how} {_tests(figures)}."
