"""The course of means over periods of time: a straight trend, a break, or neither."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.exact import student
from frame_metrics.stats.significance import CLOSE, adjusted

Kind = Literal["trend", "break", "either", "together", "none"]

MIN_PERIODS, MIN_PERIODS_OF_BREAK, MIN_DAYS = 4, 9, 14  # periods of a trend, of a break, and of either for days
LEAST_SIDE = 3  # the least periods on either side of a break
WEEK = 7  # days
FILLED = 0.5  # share of the median number of queries that the first and the last period need
DRAWS, AT_ONCE, CUTS = 2000, 10_000_000, 400  # permutations, numbers that are kept at once, places that are tried
ALPHA = 0.05
LOWERED, MOST = 4, 0.9  # by how much fitting lowers the correlation of neighbours, in 1 / periods; and the most
SAME_FIT = 0.8  # of two models, quotient of the squares that they leave above which neither fits better


@dataclass(frozen=True)
class Course:
    """The sentence that some periods allow, and its figures."""

    kind: Kind  # "together": neighbours move together, so that no change is significant
    p: float  # corrected for both tests
    cut: int  # the first period of the new level
    before: float  # the level before it; of a trend the begin of the line
    after: float  # the level from it on; of a trend the end of the line


@record
class Periods:
    """The means of periods, and when they are.

    Parameters
    ----------
    values : the mean of each period, shape (periods,).
    time : when each period is, ascending, shape (periods,).
    weekday : the number of each day's weekday, whose mean is taken out; None for periods that are no days.
    """

    values: Array
    time: Array
    weekday: Array | None

    def adjusted(self, values: Array) -> Array:
        """Return values less the mean of their weekday, or of all, shape (..., periods)."""
        out = np.array(values, float)
        kinds = np.zeros(len(self.time)) if self.weekday is None else self.weekday
        for one in np.unique(kinds):
            out[..., kinds == one] -= out[..., kinds == one].mean(axis=-1, keepdims=True)
        return out

    @cached_property
    def residuals(self) -> Array:
        """The values less the mean of their weekday."""
        return self.adjusted(self.values)

    @cached_property
    def free(self) -> int:
        """The degrees of freedom of what a trend leaves."""
        kinds = 1 if self.weekday is None else len(np.unique(self.weekday))
        return len(self.values) - kinds - 1

    @cached_property
    def line(self) -> Array:
        """Time, less its weekday's mean, of length 1, shape (1, periods)."""
        return _of_length_1(self.adjusted(self.time[None]))

    @cached_property
    def cuts(self) -> Array:
        """The periods at which a new level may begin."""
        places = np.arange(LEAST_SIDE, len(self.values) - LEAST_SIDE + 1)
        return places[:: -(-len(places) // CUTS) or 1]

    @cached_property
    def steps(self) -> Array:
        """For each of ``cuts`` a step there, less the mean of its weekday, of length 1, shape (cuts, periods)."""
        return _of_length_1(self.adjusted(np.arange(len(self.values)) >= self.cuts[:, None]))

    def drawn(self, random: np.random.Generator, draws: int) -> Array:
        """Permute the values, days among the same weekday, shape (draws, periods)."""
        n = len(self.values)
        order = np.empty((draws, n), np.int64)
        kinds = np.zeros(n) if self.weekday is None else self.weekday
        for one in np.unique(kinds):
            at = np.flatnonzero(kinds == one)
            order[:, at] = at[random.random((draws, len(at))).argsort(axis=1)]
        return self.residuals[order]


def well_filled(n: Array) -> Array:
    """Return False for the first and the last period if these have far fewer queries than others, shape (periods,).

    ``n``: the number of queries of each period, in the order of time.
    """
    filled = np.ones(len(n), bool)
    if len(n) > 2:
        filled[[0, -1]] = n[[0, -1]] >= FILLED * float(np.median(n))
    return filled


def in_days(time: Array) -> bool:
    """Return True for times of most days, one after the other; ``time``: in days, ascending."""
    return len(time) > 1 and bool((time % 1 == 0).all()) and float(np.median(np.diff(time))) == 1


def weekdays(unit: str, time: Array) -> Array | None:
    """Return the number of the weekday of each of most days, one after the other; None for other periods.

    Months and quarters are counted by ones too, and are no days.
    """
    return time % WEEK if unit == "day" and in_days(time) else None


def _of_length_1(rows: Array) -> Array:
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return rows / np.where(length > 0, length, 1)


def course(periods: Periods, seed: int = 0) -> Course:
    """Return whether the means of periods rise or fall: along a line, or at once.

    The trend is the slope of the means on time, by Student's t. The break is the largest step over all places, in
    standard errors, by permutations of the periods (of days among the same weekday). Both are one family (Holm). If
    both are significant, it is the one that leaves the smaller squares, or either if they leave nearly the same.

    Neighbours that are correlated know less than so many independent ones. Both statistics t are divided by
    sqrt((1 + r) / (1 - r)), with r the correlation of neighbours that the better of the two leaves, plus 4 / periods,
    by which fitting lowers it. What is significant only without that division counts as neither: neighbours
    move together.

    Source: of a break at an unknown place, D. W. K. Andrews, Econometrica 61(4), 1993; of correlated neighbours,
    G. V. Bayley, J. M. Hammersley, Journal of the Royal Statistical Society, Supplement 8(2), 1946.
    """
    n, residuals, days = len(periods.values), periods.residuals, periods.weekday is not None
    nothing, whole = Course("none", 1.0, 0, np.nan, np.nan), float(residuals @ residuals)
    if n < (MIN_DAYS if days else MIN_PERIODS) or whole <= (CLOSE * np.abs(periods.values).max()) ** 2 * n:
        return nothing
    parts: dict[Kind, Array] = {"trend": (periods.line @ residuals)[0] * periods.line[0]}
    cut = 0
    if days or n >= MIN_PERIODS_OF_BREAK:
        steps = periods.steps @ residuals
        at = int(np.abs(steps).argmax())
        cut, parts["break"] = int(periods.cuts[at]), steps[at] * periods.steps[at]
    # The squares that each leaves, and its t. The trend and the break are tested as if neighbours were independent,
    # then with t divided for their correlation: both have to be significant.
    left = {name: float(((residuals - part) ** 2).sum()) for name, part in parts.items()}
    better = min(left, key=left.__getitem__)
    t = {name: _t_of(1 - rest / whole, periods.free) for name, rest in left.items()}
    reached = _reached(periods, seed) if "break" in t else None
    plain, sure = (_p_values(periods, t, reached, by) for by in (1.0, _inflated(residuals - parts[better])))
    if min(plain.values()) >= ALPHA:
        return nothing
    significant = [name for name, p in sure.items() if p < ALPHA]
    if not significant:
        return Course("together", 1.0, 0, np.nan, np.nan)
    undecided = len(significant) > 1 and left[better] > SAME_FIT * max(left.values())
    kind: Kind = "either" if undecided else better if len(significant) > 1 else significant[0]
    ends = _ends_of_line(periods) if kind == "trend" else _levels(periods, cut)
    return Course(kind, float(min(sure.values())), 0 if kind == "trend" else cut, *ends)


def _t_of(explained: Array | float, free: int) -> Any:
    """Return Student's t of a share of the squares that is explained."""
    share = np.clip(explained, 0, 1 - CLOSE)
    return np.sqrt(share * free / (1 - share))


def _inflated(rest: Array) -> float:
    """Return by how much standard errors of correlated neighbours are greater; ``rest``: what is left of the values."""
    squares = float(rest @ rest)
    r = (float(rest[1:] @ rest[:-1]) / squares if squares > 0 else 0.0) + LOWERED / len(rest)
    r = min(max(r, 0.0), MOST)
    return float(((1 + r) / (1 - r)) ** 0.5)


def _reached(periods: Periods, seed: int) -> Array:
    """Return the greatest t of a step of each permutation, ascending, shape (draws,)."""
    whole, n, found = float(periods.residuals @ periods.residuals), len(periods.values), []
    random, some = np.random.default_rng(seed), max(AT_ONCE // (n + len(periods.cuts)), 1)
    for begin in range(0, DRAWS, some):
        drawn = periods.drawn(random, min(some, DRAWS - begin))
        found.append(np.abs(drawn @ periods.steps.T).max(axis=1))
    return np.sort(_t_of(np.concatenate(found) ** 2 / whole, periods.free))


def _p_values(periods: Periods, t: dict[Kind, float], reached: Array | None, by: float) -> dict[Kind, float]:
    """Return the p-values of trend and break, corrected for both; ``by``: what standard errors are multiplied by."""
    p: dict[Kind, float] = {"trend": student(t["trend"] / by, periods.free)}
    if reached is not None:
        far = len(reached) - int(np.searchsorted(reached, t["break"] / by * (1 - CLOSE)))
        p["break"] = (far + 1) / (len(reached) + 1)
    return dict(zip(p, adjusted(np.array([*p.values()]), "holm").tolist(), strict=True))


def _ends_of_line(periods: Periods) -> tuple[float, float]:
    """Return the begin and the end of the line through the means."""
    time = periods.adjusted(periods.time)
    slope = float(time @ periods.residuals) / float(time @ time)
    middle = periods.values.mean() - slope * periods.time.mean()
    return float(middle + slope * periods.time[0]), float(middle + slope * periods.time[-1])


def _levels(periods: Periods, cut: int) -> tuple[float, float]:
    """Return the levels before and from a period on, of an average weekday."""
    later = (np.arange(len(periods.values)) >= cut).astype(float)
    values = periods.adjusted(later)
    step = float(values @ periods.residuals) / float(values @ values)
    before = float(periods.values.mean() - step * later.mean())
    return before, before + step
