"""Lines of the simulation about sentences on time: a trend, a break or an outage of weeks and days, false and true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtri
from trials import Line

from frame_metrics.stats.averages import tally
from frame_metrics.stats.intervals import intervals
from frame_metrics.stats.periods import Course, Periods, course

AT_MOST = (0.0, 0.065)
WEEKS, DAYS = (6, 12, 26), (14, 28, 56, 90)
WEEKEND = np.array([0, 0, 0, 0, 0, 1.0, 1.5])  # what Saturday and Sunday have more, in standard deviations of a day
CORRELATED = (0.0, 0.3, 0.5)  # of neighbouring periods
FURTHER = {"a fall at once of 1.5 sd": 1.5, "a steady fall of 3 sd": 3.0}
OUTAGES = {1: 5.0, 3: 3.0, 7: 2.0, 14: 1.5, 20: 1.5}  # periods of an outage, and its standard deviations
OF_OUTAGES = (28, 56)  # days in which it is
BURNT = 50  # periods before the first one
# Days of queries in which nothing changes: queries of a day, how much its level varies in standard errors, users.
QUERIES = {
    "like a bell, 20 of a day": (20, 0, 0),
    "like a bell, 20 of a day, days vary as much": (20, 1, 0),
    "like a bell, 30 of a day, in very unequal numbers": (30, 0, 0),
    "like a bell, 20 of a day, of 100 users who come back": (20, 0, 100),
    "lognormal, 20 of a day": (20, 0, 0),
    "lognormal, 20 of a day, days vary as much": (20, 1, 0),
    "lognormal, 20 of a day, of 100 users who come back": (20, 0, 100),
    "success of .02, 50 of a day": (50, 0, 0),
    "success of .02, 50 of a day, days vary as much": (50, 1, 0),
    "success of .02, 5 of a day": (5, 0, 0),
    "like a bell, 40 of a day, 2 on days of the weekend": (40, 0, 0),
}


def noise(n: int, correlated: float, rng: Any) -> Any:
    """Draw periods of variance 1 whose neighbours are correlated (AR(1))."""
    drawn = rng.normal(size=n + BURNT) * (1 - correlated**2) ** 0.5
    for i in range(1, n + BURNT):
        drawn[i] += correlated * drawn[i - 1]
    return drawn[BURNT:]


def told(values: Any, *, days: bool, ends: Any = None, outages: bool = True, sizes: Any = None) -> Course:
    """Return what is told of periods of so many queries; ``ends``: of intervals, of no width where not given."""
    n = len(values)
    ends = np.stack([values, values]) if ends is None else ends
    weekday = np.arange(n) % 7 if days else None
    return course(Periods(values, np.arange(n, dtype=float), weekday, ends if outages else None, sizes))


def is_told(found: Course) -> bool:
    """Return whether something is told."""
    return found.kind not in ("none", "together")


def over_time(rows: Any, trials: int) -> Iterator[Line]:
    """Count sentences about a change over time, where there is none, and where there is one."""
    del rows
    for unit, sizes in (("weeks", WEEKS), ("days", DAYS)):
        days = unit == "days"
        for n in sizes:
            pattern = WEEKEND[np.arange(n) % 7] if days else np.zeros(n)
            for correlated in CORRELATED:
                happened = 0
                for trial in range(trials):
                    rng = np.random.default_rng([48, n, days, int(10 * correlated), trial])
                    happened += is_told(told(pattern + noise(n, correlated, rng), days=days))
                of = f", neighbours correlated by {correlated:g}" if correlated else ""
                asked = AT_MOST if days or not correlated else None
                yield Line("false alarm: trend, break or outage", f"{n} {unit}{of}", trials, happened, asked)
            for name, size in FURTHER.items():
                fall = size * np.linspace(0, 1, n) if "steady" in name else size * (np.arange(n) >= n // 2)
                every = [_of_fall(n, fall, [49, n, days, trial], days=days) for trial in range(trials)]
                setting, seen = f"{n} {unit}, {name}", sum(map(is_told, every))
                yield Line("change seen: trend, break or outage", setting, trials, seen, None)
                called = sum(found.kind == "outage" for found in every)
                yield Line("a lasting change is called an outage", setting, trials, called, AT_MOST)
    yield from _of_outages(trials)
    yield from _of_queries(trials)


def _of_fall(n: int, fall: Any, seed: list[int], *, days: bool = True, outages: bool = True) -> Course:
    """Return what is told of independent periods, with weekends, less a fall."""
    pattern = WEEKEND[np.arange(n) % 7] if days else np.zeros(n)
    return told(pattern + noise(n, 0, np.random.default_rng(seed)) - fall, days=days, outages=outages)


def _of_outages(trials: int) -> Iterator[Line]:
    """Count how often an outage is told as one, and whether a trend or a break was told without looking for it."""
    for n in OF_OUTAGES:
        for length, size in OUTAGES.items():
            if length > n / 3:
                continue
            at = np.arange(n)
            fall = size * ((at >= n // 3) & (at < n // 3 + length))
            ours = [_of_fall(n, fall, [50, n, trial]) for trial in range(trials)]
            before = [_of_fall(n, fall, [50, n, trial], outages=False) for trial in range(trials)]
            setting = f"{n} days, {size:g} sd lower on {length}"
            named = sum(found.kind == "outage" for found in ours)
            yield Line("outage seen, and called so", setting, trials, named, None)
            yield Line("outage seen: trend or break alone", setting, trials, sum(map(is_told, before)), None)


def _of_queries(trials: int, n: int = 56) -> Iterator[Line]:
    """Count sentences about days of queries in which nothing changes."""
    for at, (setting, (many, varies, users)) in enumerate(QUERIES.items()):
        happened = 0
        for trial in range(trials):
            rng = np.random.default_rng([51, at, trial])
            sizes = (
                rng.lognormal(np.log(many), 0.8, n).astype(int) + 3
                if "unequal" in setting
                else rng.poisson(many, n) + 1
            )
            if "weekend" in setting:
                sizes = np.where(WEEKEND[np.arange(n) % 7] > 0, 2, sizes)
            day = np.repeat(np.arange(n), sizes)
            latent, user = rng.normal(size=len(day)), None
            if users:
                user = rng.integers(0, users, len(day))
                latent = 0.6**0.5 * rng.normal(size=users)[user] + 0.4**0.5 * latent
            own = latent if "bell" in setting else np.exp(latent) if "lognormal" in setting else latent < ndtri(0.02)
            own = own + varies * own.std() / many**0.5 * rng.normal(size=n)[day]
            happened += _is_told_of(own, day, user, n)
        yield Line("false alarm: trend, break or outage", f"{n} days, {setting}", trials, happened, AT_MOST)


def _is_told_of(values: Any, day: Any, user: Any, n: int) -> bool:
    """Return whether something is told of queries; their intervals are drawn where these matter."""
    means = np.bincount(day, values) / np.bincount(day)
    found = told(means, days=True)
    if found.kind != "outage":
        return is_told(found)
    order = np.arange(len(day))
    own = tally(None, values, "macro", None, (order >= 0, order < 0), (-np.inf, np.inf))
    ends = intervals([own], day, n, 0.95, 1000, 0, user, drawing_order=order)[:, 0]
    return is_told(told(means, days=True, ends=ends, sizes=np.bincount(day)))
