"""Changes over time of several lines, as of systems or segments: those that are told, of a summary and of a picture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from frame_metrics.stats.periods import ALPHA, Course, Periods

OF_CHANCE = ("none", "together")  # kinds of courses without a change that is told
MOST_LINES = 30  # the most lines that are looked at
MOST_TOLD = 3  # the most changes that are told


@dataclass(frozen=True)
class Change:
    """A change over time that is surely no chance."""

    course: Course
    p: float  # corrected for all lines
    lines: tuple[int, ...]  # those that have it, the surest first


def changes(lines: Sequence[Periods], wholes: Collection[int] = ()) -> list[Change]:
    """Return the changes of lines over time, the surest first; equal ones of several lines are one.

    Changes are equal if they have the same kind and sign, and begin and end at the same times. P-values are multiplied
    by the number of lines that have periods enough (Bonferroni). Of more than ``MOST_LINES`` of these there are none.

    Parameters
    ----------
    lines : the periods of each line.
    wholes : the lines that are of others together. Of equally sure changes theirs come first, unless a single one of
        the others has changed in that direction, which is then where they come from.
    """
    some = [at for at, line in enumerate(lines) if line.looked_for]
    if len(some) > MOST_LINES:
        return []
    courses = {at: lines[at].course for at in some}
    sure = {at: one for at, one in courses.items() if one.kind not in OF_CHANCE and one.p * len(some) < ALPHA}
    found: dict[Any, list[int]] = {}
    for at, one in sure.items():
        found.setdefault((one.kind, one.rises, *_when(one, lines[at])), []).append(at)

    def rank(at: int) -> int:
        same = sum(other not in wholes and sure[other].rises == sure[at].rises for other in sure)
        return 1 if at not in wholes else 2 if same == 1 else 0

    def place(at: int) -> tuple[float, ...]:
        return sure[at].p, rank(at), -abs(sure[at].after - sure[at].before), at

    groups = [sorted(group, key=lambda at: (rank(at), place(at))) for group in found.values()]
    groups.sort(key=lambda group: place(group[0]))
    return [Change(sure[group[0]], sure[group[0]].p * len(some), tuple(group)) for group in groups]


def _when(of: Course, line: Periods) -> list[float]:
    """Return when a break is, or when an outage begins and ends; a trend is at no time."""
    at = {"outage": [of.cut, of.end - 1], "trend": []}.get(of.kind, [of.cut])
    return [float(line.time[one]) for one in at]
