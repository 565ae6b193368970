"""Words that several sentences of a summary share: names, intervals, and what is counted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from frame_metrics.backends.display import WRITTEN, rounded_down
from frame_metrics.measuring.baseline import THIS
from frame_metrics.metrics.parameters import is_number
from frame_metrics.report.cells import ALPHA, EQUAL, SIDE, counted, no_value, number_text, p_text, plain_text

if TYPE_CHECKING:
    from frame_metrics.metrics.metric import Metric

LONGEST_NAME = 60  # the most letters of a name
MILLION = 1_000_000
BESIDE = 3  # the most systems, or segments, that are named beside the first
PEOPLE, MACHINE = "people", "LLM judge"  # who judged
# The words for units by the usual names of their column, as in "searches by users"; other units are called clusters.
UNIT_WORDS = {
    **{name: ("by", f"{name}s") for name in ("user", "visitor", "customer", "member")},
    "session": ("in", "sessions"),
}


def name_of(system: Any) -> str:
    """Return the name of a system; before a name that looks like a number stands the word "system"."""
    text = side_text(system, LONGEST_NAME)
    if system is None:
        return text
    return f"system {text}" if is_number(system) or text.isdecimal() else text


def side_text(system: Any, longest: int) -> str:
    """Return a system as captions write it: the frame itself beside saved numbers, and a null by its column."""
    side = SIDE.get()
    if system is None:
        return THIS.get() if side is None else no_value(side)
    return plain_text(system, longest)


def when_text(value: Any) -> str:
    """Return the value of a column of times as sentences and captions write it."""
    return plain_text(value, LONGEST_NAME)


def judged_by(n: int, unit: str, n_proxy: int | None) -> str:
    """Return the number of queries or rows behind a figure, with those that only a machine judged, if there are any."""
    some = counted(n, unit)
    return f"{some} judged by {PEOPLE} and {n_proxy:,} by the {MACHINE} alone" if n_proxy else some


def over_text(n_proxy: int | None) -> str:
    """Return the words before that number: what a machine helps to know is estimated."""
    return "estimated from" if n_proxy else "over"


def of_system(system: Any) -> str:
    """Return words for whose the figures are; "" without systems."""
    return "" if system is None else f" of {name_of(system)}"


def p_words(p: float | None) -> str:
    """Return a p-value in words, as "p = 0.02" or "p < 0.001"."""
    text = p_text(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def range_of(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Return an interval as text; ``signed``: whether ends above 0 have a plus sign."""
    ends, text = (low, high), signed_text if signed else number_text
    small = [abs(end) for end in ends if end is not None and EQUAL < abs(end) < 0.0005]
    if len(small) == 1 and small[0] >= WRITTEN and all(end is not None and abs(end) < 1000 for end in ends):
        digits = math.ceil(-math.log10(small[0]) - 1e-9)  # as many in both, so that the smaller end is not 0
        return " to ".join(f"{end:{'+' if signed and (end or 0) > EQUAL else ''}.{digits}f}" for end in ends)
    return " to ".join(text(end) for end in ends)


def signed_text(number: float | None) -> str:
    text = number_text(number)
    return f"+{text}" if number is not None and number > EQUAL else text


def units_in_words(column: str | None) -> tuple[str, str]:
    """Return the words for units by their column, as "by" and "users"; for other columns "of" and "clusters"."""
    name = re.sub(r"[\W_]*id$", "", str(column or "").lower())
    return UNIT_WORDS.get(name, ("of", "clusters"))


def share_text(rows: Sequence[int | None], *, one_if_equal: bool = False) -> str:
    """Return words for the rows that a metric is a share of, on one side or both, as "55 and 43 of ".

    "" if it is a share of all rows, or none. ``one_if_equal``: whether one number stands for two that are equal.
    """
    some = [*dict.fromkeys(rows)] if one_if_equal else rows
    return "" if None in some or not some else f"{' and '.join(f'{n:,}' for n in some)} of "


def at_text(threshold: float | None) -> str:
    return "" if threshold is None else f" at threshold {rounded_down(threshold, 4)}"


def names_in_words(names: Sequence[str]) -> str:
    """Return names as a list in words, as "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def first_of(names: Sequence[str], most: int = BESIDE) -> str:
    """Return the first names in words, and how many more there are."""
    more = len(names) - most
    return names_in_words([*names[:most], *([f"{more:,} more"] if more > 0 else [])])


def roughly(number: float) -> str:
    """Return a number rounded up to two digits, as "1,300" and "21 million"."""
    step = 10 ** max(math.floor(math.log10(number)) - 1, 0)
    rounded = math.ceil(number / step) * step
    return f"{rounded:,}" if rounded < MILLION else f"{f'{rounded / MILLION:,.1f}'.removesuffix('.0')} million"


def no_more(number: float) -> str:
    """Return a number as ``signed_text``, but rounded towards 0, so that it says no more; "" where that is 0."""
    digits = 1 if abs(number) >= 1000 else 3  # as in number_text
    whole = math.floor(abs(number) * 10**digits + EQUAL) if math.isfinite(number) else 0
    return signed_text(math.copysign(whole / 10**digits, number)) if whole else ""


def has_interval_of_p(row: Mapping[str, Any], level: float) -> bool:
    """Return True if the interval of a row of a comparison, of 95 % or more, is of one pair or of all, as p is."""
    return row["correction"] in (None, "max_t") and level >= 1 - ALPHA - EQUAL


def claimed_at_least(row: Mapping[str, Any], level: float) -> str:
    """Return the least difference that a row claims, with its sign: the near end of its interval; "" for none."""
    difference, p = row["difference"] or 0, row["p_adjusted"]
    near = row["ci_low"] if difference > 0 else row["ci_high"]
    sure = p is not None and p < ALPHA and has_interval_of_p(row, level)
    return no_more(near) if sure and near is not None and near * difference > 0 else ""


def metric_words(metric: Metric, *, clicks: bool, positive: str | None) -> str:
    """Return the first line of a metric's docstring, with its cutoff.

    Parameters
    ----------
    clicks : True if relevant means clicked.
    positive : the word for positive rows, if words of rankings become words of decisions; None for rankings.
    """
    text = metric.doc.partition("\n")[0].rstrip(".")
    k = "" if metric.k is None else f" up to rank {metric.k}"
    text = re.sub(r"(, 0 past| at ranks up to| of the first) (the cutoff|k\b)( documents)?", k, text)
    words = {"documents": "results", "document": "result", "relevant": "clicked"} if clicks else {}
    if positive is not None:
        words = {"retrieved documents": f"rows predicted {positive}", "retrieved": f"predicted {positive}"}
        words |= {"relevant documents": f"{positive} rows", "documents": "rows", "relevant": positive}
    for word, other in words.items():
        text = text.replace(word, other)
    return text[:1].lower() + text[1:]


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return f"{text[:1].upper()}{text[1:]}"


def percent(level: float | None) -> str:
    """Return the level of an interval as text, "95 %" if it is not known."""
    return f"{100 * (level or 1 - ALPHA):g} %"


def level_text(level: float | None) -> str:
    """Return words for the level of an interval and what belongs to it, if it is not the usual one."""
    return "" if level is None or abs(level - (1 - ALPHA)) < EQUAL else f" at a level of {1 - level:.3g}"
