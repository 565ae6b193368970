"""Lines of the simulation about sentences on time: a trend or a break of weeks and days, false and true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from trials import Line

from frame_metrics.stats.periods import Periods, course

AT_MOST = (0.0, 0.065)
WEEKS, DAYS = (6, 12, 26), (14, 28, 56, 90)
WEEKEND = np.array([0, 0, 0, 0, 0, 1.0, 1.5])  # what Saturday and Sunday have more, in standard deviations of a day
CORRELATED = (0.0, 0.3, 0.5)  # of neighbouring periods
FURTHER = {"a fall at once of 1.5 sd": 1.5, "a steady fall of 3 sd": 3.0}
BURNT = 50  # periods before the first one


def noise(n: int, correlated: float, rng: Any) -> Any:
    """Draw periods of variance 1 whose neighbours are correlated (AR(1))."""
    drawn = rng.normal(size=n + BURNT) * (1 - correlated**2) ** 0.5
    for i in range(1, n + BURNT):
        drawn[i] += correlated * drawn[i - 1]
    return drawn[BURNT:]


def told(values: Any, *, days: bool) -> bool:
    """Return whether something is told of periods."""
    n = len(values)
    periods = Periods(values, np.arange(n, dtype=float), np.arange(n) % 7 if days else None)
    return course(periods).kind not in ("none", "together")


def over_time(rows: Any, trials: int) -> Iterator[Line]:
    """Count sentences about a trend or a break, where there is none, and where there is one."""
    del rows
    for unit, sizes in (("weeks", WEEKS), ("days", DAYS)):
        days = unit == "days"
        for n in sizes:
            pattern = WEEKEND[np.arange(n) % 7] if days else np.zeros(n)
            for correlated in CORRELATED:
                happened = 0
                for trial in range(trials):
                    rng = np.random.default_rng([48, n, days, int(10 * correlated), trial])
                    happened += told(pattern + noise(n, correlated, rng), days=days)
                of = f", neighbours correlated by {correlated:g}" if correlated else ""
                asked = AT_MOST if days or not correlated else None
                yield Line("false alarm: trend or break", f"{n} {unit}{of}", trials, happened, asked)
            for name, size in FURTHER.items():
                fall = size * np.linspace(0, 1, n) if "steady" in name else size * (np.arange(n) >= n // 2)
                happened = 0
                for trial in range(trials):
                    rng = np.random.default_rng([49, n, days, trial])
                    happened += told(pattern + noise(n, 0, rng) - fall, days=days)
                yield Line("change seen: trend or break", f"{n} {unit}, {name}", trials, happened, None)
