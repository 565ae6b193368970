"""Sentences of a summary about differences: which system beats another one, and what loss is excluded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frame_metrics.measuring.split import MISMATCH
from frame_metrics.metrics.elsewhere import metric_of
from frame_metrics.report.cells import ALPHA, number_text, p_text, plain_text, sign_of
from frame_metrics.report.words import LONGEST, at_text, counted_of, name_of, range_of, signed_text
from frame_metrics.verbs.compare.margins import loss_left, unknown_why

if TYPE_CHECKING:
    from frame_metrics.report.sentences import Said


def _apart(said: Said) -> str:
    """Return a difference as text, and its interval, which differences that are all equal have not."""
    interval = "" if said.ci_low is None else f", interval {range_of(said, signed=True)}"
    return f"{signed_text(said.difference)}{interval}"


def difference(said: Said) -> str:
    alone = said.ci_low is None and said.n == 1  # no interval, and a p-value of 1
    if alone or said.p_adjusted is None or said.difference is None:
        return _untested(said)
    of = f"{said.metric} {number_text(said.value)} against {number_text(said.baseline_value)}"
    of += "" if said.adjusted is None else f", adjusted by {plain_text(said.adjusted, LONGEST)}"
    sure = tested = f"; p {p_text(said.p_adjusted)}{f' after {said.correction}' if said.correction else ''}"
    pair = f"{name_of(said.system)} and {name_of(said.baseline)}"
    if said.wins == said.losses == 0:
        same = f"{said.metric}{at_text(said)} in each of {counted_of(said)}: {number_text(said.value)}"
        return f"{pair} have the same {same}."
    sure += "" if said.split is None or said.split >= MISMATCH else ", but units were not assigned as planned"
    if not said.told:
        single = "" if said.correction in (None, "max_t") else " in a single test"  # mde of others has no correction
        shows = "" if not said.mde else f"; {counted_of(said)} would show {number_text(said.mde)}{single}"
        if (said.ci_low or 0) > 0 or (said.ci_high or 0) < 0:
            shows = sure  # only the interval shows a difference, as when many pairs are tested
        shows += "" if shows == sure else sure[len(tested) :]
        return f"No difference between {pair} can be told{at_text(said)}: {of} ({_apart(said)}){shows}."
    sign = sign_of(said.metric) * said.difference
    verb = "beats" if sign > 0 else "loses to" if sign < 0 else "is above" if said.difference > 0 else "is below"
    base = said.baseline_value
    by = f"; {said.difference / abs(base):+.0%}".replace("%", " %") if base else ""
    if sign and said.wins is not None and said.losses is not None:
        most = f", better in {said.wins:,} of {counted_of(said)} and worse in {said.losses:,}"
    else:
        most = f", over {counted_of(said)}"
    pair = f"{f'In {said.of}, ' if said.of else ''}{name_of(said.system)} {verb} {name_of(said.baseline)}"
    return f"{pair}{at_text(said)}: {of} ({_apart(said)}{by}){most}{sure}."


def not_worse(said: Said) -> str:
    """Return the sentence of a difference that is held against a margin: what loss is excluded, or is not."""
    if said.margin is None or said.difference is None:
        return ""
    margin, name, base = f"{said.margin:g}", name_of(said.system), name_of(said.baseline)
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
    name, base = name_of(said.system), name_of(said.baseline)
    if said.value is None or said.baseline_value is None:
        return f"{name} and {base} are not compared: no {said.unit} have {said.metric} on both sides."
    values = f"{number_text(said.value)} against {number_text(said.baseline_value)} of {base}"
    over = f"{at_text(said)}, over {counted_of(said)}"
    return f"{said.metric} of {name} is {values}{over}: too few to test the difference."
