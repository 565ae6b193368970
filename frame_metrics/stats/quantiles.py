"""Quantiles: their levels by name, quantiles within groups, and quantiles of resampled values."""

from __future__ import annotations

import re
from functools import cache, lru_cache

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.stats.exact import binomial_cdf

NAMED = {"median": 0.5, "min": 0.0, "max": 1.0}


@cache
def quantile_level(average: str) -> float | None:
    """Return the level of a quantile by its name, such as .9 for "q0.9"; None for any other average."""
    if average in NAMED:
        return NAMED[average]
    level = re.fullmatch(r"q(\d+\.?\d*|\.\d+)", average)
    return float(level[1]) if level is not None and float(level[1]) <= 1 else None


def quantile_within(values: Array, defined: Array, group: Array | None, n: int, level: float) -> Array:
    """Return the quantile of the defined values of each group, NaN if there are none, shape (n,).

    Parameters
    ----------
    values, defined : the value of each query, and whether it is defined, shape (queries,).
    group : the number of each query's group, -1 for none, shape (queries,); None for one group of all.
    n : number of groups.
    level : between 0 and 1; between two values the quantile is interpolated.
    """
    group = np.zeros(len(values), np.int64) if group is None else group
    some = np.flatnonzero(defined & (group >= 0))
    order = some[np.lexsort((values[some], group[some]))]
    rising = np.append(values[order], np.nan)  # NaN at the end, where an empty last group begins
    size = np.bincount(group[some], minlength=n)
    place, start = np.maximum(size - 1, 0) * level, np.cumsum(size) - size
    low, high = (rising[start + whole(place).astype(np.int64)] for whole in (np.floor, np.ceil))
    return np.where(size > 0, _between(low, high, place), np.nan)


def quantile_drawn(values: Array, times: Array, level: float) -> Array:
    """Return the quantile of the values in each resample, NaN if a resample has none, shape (resamples,).

    Parameters
    ----------
    values : ascending, shape (values,).
    times : how often each value is in each resample, shape (resamples, values).
    """
    if not len(values):
        return np.full(len(times), np.nan)
    running = np.cumsum(times, axis=1)
    size = running[:, -1]
    place = np.maximum(size - 1, 0) * level
    low, high = (values[(running > whole(place)[:, None]).argmax(axis=1)] for whole in (np.floor, np.ceil))
    return np.where(size > 0, _between(low, high, place), np.nan)


@lru_cache(maxsize=1024)
def order_statistics(n: int, at: float, level: float) -> tuple[int | None, int | None]:
    """Return which of ``n`` ascending values, counted from 0, are the ends of the interval of a quantile.

    The number of values below the quantile is binomial, whatever their distribution. The quantile is outside each end
    with a chance of at most (1 - level) / 2. An end is None if n values are too few for it.

    Parameters
    ----------
    at : the level of the quantile, between 0 and 1.
    level : of the interval, as 0.95.

    Source: W. R. Thompson, On confidence ranges for the median and other expectation distributions, The Annals of
    Mathematical Statistics 7(3), 1936.
    """
    first, up_to = binomial_cdf(n, at)  # of the values first, first + 1 ... , the chance of no more
    low = first + int(np.searchsorted(up_to, (1 - level) / 2, side="right")) - 1
    high = first + int(np.searchsorted(up_to, (1 + level) / 2, side="left"))
    return low if low >= 0 else None, high if high < n else None


def _between(low: Array, high: Array, place: Array) -> Array:
    """Interpolate between the values at the whole numbers below and above each position; they may be infinite."""
    with np.errstate(invalid="ignore"):
        return np.where(low == high, low, low + (high - low) * (place - np.floor(place)))
