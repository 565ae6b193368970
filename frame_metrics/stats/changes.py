"""Changes over time of several lines, as of systems or segments: those that are told, of a summary and of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from frame_metrics.stats.periods import ALPHA, Course, Periods

MOST_LINES = 30  # the most lines that are looked at
MOST_TOLD = 3  # the most changes that are told


@dataclass(frozen=True)
class Change:
    """A change over time that is surely no chance."""

    course: Course
    p: float  # corrected for all lines
    lines: tuple[int, ...]  # those that have it, the surest first


def changes(lines: Sequence[Periods]) -> list[Change]:
    """Return the changes of lines over time, the surest first; equal ones of several lines are one.

    Changes are equal if they have the same kind and sign, and begin and end at the same times. P-values are multiplied
    by the number of lines that have periods enough (Bonferroni). Of more than ``MOST_LINES`` of these there are none.
    """
    some = [at for at, line in enumerate(lines) if line.looked_for]
    if len(some) > MOST_LINES:
        return []
    found: dict[Any, list[tuple[float, float, int, Course]]] = {}
    for at in some:
        one = lines[at].course
        if one.kind not in ("none", "together") and one.p * len(some) < ALPHA:
            change = one.after - one.before
            sure = (one.p * len(some), -abs(change), at, one)
            found.setdefault((one.kind, change > 0, *_when(one, lines[at])), []).append(sure)
    groups = [sorted(group, key=lambda sure: sure[:3]) for group in found.values()]
    groups.sort(key=lambda group: group[0][:3])
    return [Change(group[0][3], group[0][0], tuple(at for _, _, at, _ in group)) for group in groups]


def _when(of: Course, line: Periods) -> list[float]:
    """Return when a break is, or when an outage begins and ends; a trend is at no time."""
    at = {"outage": [of.cut, of.end - 1], "trend": []}.get(of.kind, [of.cut])
    return [float(line.time[one]) for one in at]
