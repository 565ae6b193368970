"""Runs of neighbouring periods that may be an outage: a level that comes and goes."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.significance import CLOSE

SHORT, LONGEST = 1 / 3, 28  # the greatest share of the periods, and the most periods
USUAL = 3  # days of a weekday of which one is told from the others
LASTING = 3  # periods at the begin or the end that are a level of their own
FAR = 2  # half intervals of its mean that an outage is away from the other periods
AT_ONCE = 3_000_000  # numbers that are kept at once


@record
class Runs:
    """The runs that may be an outage.

    Parameters
    ----------
    kinds : whether a period is of each weekday, whose means are taken out, shape (weekdays, periods).
    """

    kinds: Array

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """The first period of each run, and the first one after it, shape (runs,); what lasts at an end is a break."""
        n = self.kinds.shape[1]
        longest = max(min(int(n * SHORT), LONGEST), 1)
        begin, end = np.hstack([[np.arange(n - i + 1), np.arange(i, n + 1)] for i in range(1, longest + 1)])
        some = ((end - begin < LASTING) | ((begin > 0) & (end < n))) & (self._lengths(begin, end) > CLOSE)
        some &= 2 * _within(~self.known, begin, end) <= end - begin
        return begin[some], end[some]

    @cached_property
    def known(self) -> Array:
        """True for periods of a weekday with a usual day: of two days either may be the unusual one, (periods,)."""
        return np.asarray((self.kinds & (self.kinds.sum(axis=1) >= USUAL)[:, None]).any(axis=0))

    @cached_property
    def lengths(self) -> Array:
        """The length of a step within each run, less the means of its weekdays, shape (runs,)."""
        return self._lengths(*self.ends)

    def _lengths(self, begin: Array, end: Array) -> Array:
        within, every = _within(self.kinds, begin, end), self.kinds.sum(axis=1)[:, None]
        return np.sqrt(np.maximum((within - within**2 / every).sum(axis=0), 0))

    def products(self, residuals: Array) -> Array:
        """Return the products of residuals with a step of length 1 in each run, shape (..., runs)."""
        return _within(residuals, *self.ends) / self.lengths


def _within(rows: Array, begin: Array, end: Array) -> Array:
    """Return the sums of rows within runs of their numbers, shape (..., runs)."""
    total = np.concatenate([np.zeros((*rows.shape[:-1], 1)), rows.cumsum(axis=-1)], axis=-1)
    return np.asarray(total[..., end] - total[..., begin])


def centred(values: Array, kinds: Array) -> Array:
    """Return values, shape (..., periods), less the mean of their kind; ``kinds``: as ``Runs`` has them."""
    out = np.array(values, float)
    for one in kinds:
        out[..., one] -= out[..., one].mean(axis=-1, keepdims=True)
    return out


@lru_cache(maxsize=16)
def farthest_by_chance(kinds: bytes, n: int, draws: int) -> Array:
    """Return the share of the squares that the farthest run of normal numbers explains, ascending, shape (draws,).

    Parameters
    ----------
    kinds : the bytes of those of ``Runs``.
    n : the number of periods.
    """
    runs = Runs(np.frombuffer(kinds, bool).reshape(-1, n))
    random, some, found = np.random.default_rng(0), max(AT_ONCE // len(runs.lengths), 1), []
    for begin in range(0, draws, some):
        drawn = centred(random.normal(size=(min(some, draws - begin), n)), runs.kinds)
        found.append(np.abs(runs.products(drawn)).max(axis=1) ** 2 / np.einsum("dp,dp->d", drawn, drawn))
    return np.sort(np.concatenate(found))


def is_far(within: Array, before: float, after: float, values: Array, ends: Array, n: Array) -> bool:
    """Return True if the level of an outage is beyond what queries scatter: ``FAR`` half intervals of its mean.

    The interval of a few queries says little. So a period has at least the usual half interval, times the root of the
    quotient of numbers of queries; one without an interval has that too.

    Parameters
    ----------
    within : the numbers of its periods, shape (periods,).
    before, after : the level of other periods, and within the outage.
    values : the mean of each period, shape (periods,).
    ends : the low and the high end of the interval of each mean, NaN without one, shape (2, periods).
    n : the number of queries of each period, shape (periods,).
    """
    low, high = ends
    half = high - values if after < before else values - low
    known = np.isfinite(half)
    if not known.any():
        return False
    usual = np.median(half[known] * np.sqrt(n[known])) / np.sqrt(n)
    half = np.where(known, np.fmax(half, usual), usual)[within]
    return bool(abs(after - before) > FAR * np.sqrt((half**2).sum()) / len(within))
