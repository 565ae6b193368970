"""The course of means over periods of time: a straight trend, a break, an outage, or none of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.exact import student
from frame_metrics.stats.outages import Runs, centred, farthest_by_chance, is_far
from frame_metrics.stats.significance import CLOSE, adjusted

Kind = Literal["trend", "break", "outage", "either", "together", "none"]

MIN_PERIODS, MIN_PERIODS_OF_BREAK, MIN_DAYS = 4, 9, 14  # periods of a trend, of a break, and of either for days
LEAST_SIDE = 3  # the least periods on either side of a break
WEEK = 7  # days
FILLED = 0.5  # share of the median number of queries that the first and the last period need
DRAWS, AT_ONCE, CUTS = 2000, 10_000_000, 400  # permutations, numbers that are kept at once, places that are tried
ALPHA = 0.05
# By how much fitting lowers the correlation of neighbours, in 1 / periods, also of the farthest run; and the most.
LOWERED, LOWERED_BY_RUN, MOST = 4, 8, 0.9
SAME_FIT = 0.8  # of two models, quotient of the squares that they leave above which neither fits better
SURE = 1.645  # standard errors, 1 / sqrt(periods), from which on neighbours are called correlated
MOST_KNOWN = 1 / 2  # of days, the share of those of weekdays with a usual day, above which an outage is looked for
CLEARLY = 10  # by how many times the scatter of a period an outage of few of many periods leaves less than a break


@dataclass(frozen=True)
class Course:
    """The sentence that some periods allow, and its figures."""

    kind: Kind  # "together": neighbours move together, so that no change is significant
    p: float  # corrected for all tests
    cut: int  # the first period of the new level
    before: float  # the level before it, of an outage that of other periods; of a trend the begin of the line
    after: float  # the level from it on, of an outage its own; of a trend the end of the line
    end: int = 0  # the first period after an outage
    correlated: bool = False  # of "together", whether neighbours surely are, beside what changed

    @property
    def rises(self) -> bool:
        """True if the level from the cut on, or in an outage, is the higher one."""
        return self.after > self.before


@record
class Periods:
    """The means of periods, and when they are.

    Parameters
    ----------
    values : the mean of each period, shape (periods,).
    time : when each period is, ascending, shape (periods,).
    weekday : the number of each day's weekday, whose mean is taken out; None for periods that are no days.
    ends : the low and the high end of the interval of each mean, NaN without one, shape (2, periods); None: no outage
        is looked for.
    n : the number of queries of each period, shape (periods,); None: equal numbers.
    """

    values: Array
    time: Array
    weekday: Array | None
    ends: Array | None = None
    n: Array | None = None

    @classmethod
    def of(cls, unit: str, time: Array, values: Array, ends: Array | None, n: Array | None) -> Periods:
        """Return periods of a unit of time; ``ends``: as above, of periods of which some have no interval."""
        known = ends is not None and np.isfinite(ends).any()
        return cls(values, time, weekdays(unit, time), ends if known else None, n)

    @property
    def looked_for(self) -> list[Kind]:
        """The changes that there are periods enough for."""
        n = len(self.values)
        if n < (MIN_PERIODS if self.weekday is None else MIN_DAYS):
            return []
        every: list[Kind] = ["trend", "break"]
        every += [] if self.ends is None or not self.has_usual_days else ["outage"]
        return every if n >= MIN_PERIODS_OF_BREAK else every[:1]

    @property
    def has_usual_days(self) -> bool:
        """True unless most days are of weekdays without a usual day, so that of two either may be the unusual one."""
        return self.weekday is None or bool(self.runs.known.mean() > MOST_KNOWN)

    @cached_property
    def kinds(self) -> Array:
        """True for the periods of each weekday; all are of one kind if they are no days, shape (kinds, periods)."""
        kinds = np.zeros(len(self.time)) if self.weekday is None else self.weekday
        return np.asarray(kinds == np.unique(kinds)[:, None])

    @cached_property
    def runs(self) -> Runs:
        """The runs that may be an outage."""
        return Runs(self.kinds)

    @cached_property
    def course(self) -> Course:
        """The trend, break or outage in them, if there is one."""
        return course(self)

    @cached_property
    def products(self) -> Array:
        """The products of the residuals with a step of length 1 in each run, shape (runs,)."""
        return self.runs.products(self.residuals)

    @cached_property
    def farthest(self) -> tuple[int, int]:
        """The begin and the end of the run that is farthest from all others."""
        at = int(np.abs(self.products).argmax())
        begin, end = (int(some[at]) for some in self.runs.ends)
        return begin, end

    @cached_property
    def levels_of_farthest(self) -> tuple[float, float]:
        """The level of the others, and of the run that is farthest."""
        return _levels(self, *self.farthest)

    @cached_property
    def is_far(self) -> bool:
        """True if that run is farther off than queries scatter."""
        if self.ends is None:
            return False
        n = np.ones(len(self.values)) if self.n is None else self.n
        return is_far(np.arange(*self.farthest), *self.levels_of_farthest, self.values, self.ends, n)

    def kinds_on_both_sides(self, within: Array) -> Array:
        """Mark the kinds that have periods among some and among the others, shape (kinds,)."""
        return np.asarray((self.kinds & within).any(axis=1) & (self.kinds & ~within).any(axis=1))

    def adjusted(self, values: Array) -> Array:
        """Return values less the mean of their weekday, or of all, shape (..., periods)."""
        return centred(values, self.kinds)

    @cached_property
    def residuals(self) -> Array:
        """The values less the mean of their weekday."""
        return self.adjusted(self.values)

    @cached_property
    def free(self) -> int:
        """The degrees of freedom of what a trend leaves."""
        return len(self.values) - len(self.kinds) - 1

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
        for one in self.kinds:
            at = np.flatnonzero(one)
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


def course(periods: Periods) -> Course:
    """Return whether the means of periods rise or fall: along a line, at once, or for a while.

    The trend is the slope of the means on time, by Student's t. The break is the largest step over all places, in
    standard errors, by permutations of the periods (of days among the same weekday). The outage is the run of
    neighbouring periods, at most a third of them, that is farthest from all others in standard errors of the others'
    scatter, beside the farthest run of independent normal numbers: one unusual day stays one in each permutation. It
    has to be beyond the scatter of queries too: two half intervals of its mean. All are one family (Holm).

    Of several that are significant it is the one that leaves the smallest squares; a trend or a break unless an outage
    leaves clearly less, and either of these if they leave nearly the same.

    Neighbours that are correlated know less than so many independent ones. All statistics t are divided by
    sqrt((1 + r) / (1 - r)), with r the correlation of neighbours that the better of trend and break leaves (an outage:
    that it leaves itself), plus 4 / periods, by which fitting lowers it. What is significant only without that division
    counts as none: neighbours move together.

    Source: of a break at an unknown place, D. W. K. Andrews, Econometrica 61(4), 1993; of the farthest run (a scan
    statistic), J. Glaz, J. Naus, S. Wallenstein, Scan statistics, 2001; of correlated neighbours, G. V. Bayley, J. M.
    Hammersley, Journal of the Royal Statistical Society, Supplement 8(2), 1946.
    """
    n, residuals = len(periods.values), periods.residuals
    nothing, whole = Course("none", 1.0, 0, np.nan, np.nan), float(residuals @ residuals)
    if not periods.looked_for or whole <= (CLOSE * np.abs(periods.values).max()) ** 2 * n:
        return nothing
    parts: dict[Kind, Array] = {"trend": (periods.line @ residuals)[0] * periods.line[0]}
    places: dict[Kind, tuple[int, int]] = {"trend": (0, n)}
    reached: dict[Kind, Array] = {}
    if "break" in periods.looked_for:
        steps = periods.steps @ residuals
        at = int(np.abs(steps).argmax())
        places["break"], parts["break"] = (int(periods.cuts[at]), n), steps[at] * periods.steps[at]
        reached["break"] = _reached(periods)
    # The squares that each leaves, and its t. All are tested as if neighbours were independent, then with t divided for
    # their correlation: both have to be significant.
    left = {name: _squares(residuals - part) for name, part in parts.items()}
    lasting = min(left, key=left.__getitem__)
    by = dict.fromkeys(parts, _inflated(residuals - parts[lasting], LOWERED))
    if "outage" in periods.looked_for and periods.ends is not None:
        places["outage"], own = periods.farthest, _without_farthest(periods)
        begin, end = periods.farthest
        left["outage"], by["outage"] = _squares(own), _inflated(own, LOWERED_BY_RUN, end - begin)
        reached["outage"] = _t_of(farthest_by_chance(periods.kinds.tobytes(), n, DRAWS), periods.free)
    t = {name: _t_of(1 - rest / whole, periods.free) for name, rest in left.items()}
    plain, sure = (_p_values(periods, t, reached, some) for some in (dict.fromkeys(t, 1.0), by))
    if min(plain.values()) >= ALPHA:
        return replace(nothing, p=min(max(plain[name], sure[name]) for name in plain))
    significant = [name for name, p in sure.items() if p < ALPHA]
    if not significant:
        rest = residuals - parts[lasting]
        if "outage" in plain and plain["outage"] < ALPHA:  # which itself makes neighbours alike
            rest = residuals[np.r_[: places["outage"][0], places["outage"][1] : n]]
        return Course("together", 1.0, 0, np.nan, np.nan, correlated=_correlation(rest) * len(rest) ** 0.5 > SURE)
    most = max(SAME_FIT, 1 / (1 + CLEARLY / periods.free)) * left[lasting]
    if len(significant) > 1 and left.get("outage", 0) > most:
        significant = [name for name in significant if name != "outage"]
    better = min(significant, key=left.__getitem__)
    p = min(sure[name] for name in significant)
    if len(significant) > 1 and better != "outage" and left[better] > SAME_FIT * max(left["trend"], left["break"]):
        return Course("either", p, places["break"][0], *_levels(periods, *places["break"]))
    begin, end = places[better]
    levels = _ends_of_line(periods) if better == "trend" else _levels(periods, begin, end)
    return Course(better, p, begin, *levels, end)


def _squares(rest: Array) -> float:
    return float(rest @ rest)


def _without_farthest(periods: Periods) -> Array:
    """Return what the farthest run leaves: all if queries scatter as far."""
    if not periods.is_far:
        return periods.residuals
    begin, end = periods.farthest
    at, most = np.arange(len(periods.values)), np.abs(periods.products).argmax()
    step = periods.adjusted((at >= begin) & (at < end))
    return periods.residuals - periods.products[most] / periods.runs.lengths[most] * step


def _t_of(explained: Array | float, free: int) -> Any:
    """Return Student's t of a share of the squares that is explained."""
    share = np.clip(explained, 0, 1 - CLOSE)
    return np.sqrt(share * free / (1 - share))


def _correlation(rest: Array) -> float:
    """Return the correlation of neighbours."""
    squares = _squares(rest)
    return float(rest[1:] @ rest[:-1]) / squares if squares > 0 else 0.0


def _inflated(rest: Array, lowered: float, within: int | None = None) -> float:
    """Return by how much standard errors of correlated neighbours are greater.

    Parameters
    ----------
    rest : what is left of the values, shape (periods,).
    lowered : by how much fitting lowers the correlation, in 1 / periods.
    within : the number of neighbours of a mean; None for many.
    """
    r = min(max(_correlation(rest) + lowered / len(rest), 0.0), MOST)
    if within is None:
        return float(((1 + r) / (1 - r)) ** 0.5)
    k = np.arange(1, within)
    return float((1 + 2 * ((1 - k / within) * r**k).sum()) ** 0.5)


def _reached(periods: Periods) -> Array:
    """Return the greatest t of a step of each permutation, ascending, shape (draws,)."""
    whole, n, found = _squares(periods.residuals), len(periods.values), []
    random, some = np.random.default_rng(0), max(AT_ONCE // (n + len(periods.cuts)), 1)
    for begin in range(0, DRAWS, some):
        drawn = periods.drawn(random, min(some, DRAWS - begin))
        found.append(np.abs(drawn @ periods.steps.T).max(axis=1))
    return np.sort(_t_of(np.concatenate(found) ** 2 / whole, periods.free))


def _p_values(
    periods: Periods, t: Mapping[Kind, float], reached: Mapping[Kind, Array], by: Mapping[Kind, float]
) -> dict[Kind, float]:
    """Return the p-values of trend, break and outage, corrected for all; ``by``: what standard errors are times by."""
    p: dict[Kind, float] = {"trend": student(t["trend"] / by["trend"], periods.free)}
    for name, every in reached.items():
        far = len(every) - int(np.searchsorted(every, t[name] / by[name] * (1 - CLOSE)))
        p[name] = (far + 1) / (len(every) + 1)
    return dict(zip(p, adjusted(np.array([*p.values()]), "holm").tolist(), strict=True))


def _ends_of_line(periods: Periods) -> tuple[float, float]:
    """Return the begin and the end of the line through the means, no farther out than any of these.

    A step of few days is steeper beside the means of weekdays. So the slope is that of the means themselves, unless it
    has another sign.
    """
    values, time, sides = periods.values, periods.time, []
    for y, x in ((values, time), (periods.residuals, periods.adjusted(time))):
        centre = x - x.mean()
        sides.append(float(centre @ y) / float(centre @ centre))
    own, beside_weekdays = sides
    slope = own if own * beside_weekdays > 0 else beside_weekdays
    ends = values.mean() + slope * (time[[0, -1]] - time.mean())
    begin, end = ends.clip(values.min(), values.max()).tolist()
    return begin, end


def _levels(periods: Periods, begin: int, end: int) -> tuple[float, float]:
    """Return the means of the periods outside some and within them, over the same weekdays with the same weights.

    Their difference is the step that is fitted beside the means of weekdays, and each is a mean of values.
    """
    at = np.arange(len(periods.values))
    within = (at >= begin) & (at < end)
    kinds = periods.kinds[periods.kinds_on_both_sides(within)]
    counts = np.array([(kinds & side).sum(axis=1) for side in (~within, within)])
    sums = np.array([kinds @ (periods.values * side) for side in (~within, within)])
    weight = counts.prod(axis=0) / counts.sum(axis=0)
    outside, inside = (sums / counts @ weight / weight.sum()).tolist()
    return outside, inside
