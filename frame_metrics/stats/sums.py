"""Sums that are rounded once, so that no order of their terms, and no split of them into pieces, changes a digit."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from frame_metrics.inputs.rows import Array

ADDED_SINGLY = 512  # so many numbers are added one by one, which is faster
DIGITS = 53  # binary ones of a float
N_PARTS = 3  # the digits of each number are split into so many parts, summed separately; few have digits beyond them
CHUNK = 1 << 14  # numbers that are worked on at a time, so that they stay in the cache
MIN_LENGTH_FOR_CHUNKS = 64  # the mean length of groups from which on chunks pay off
GREATEST = 970  # a greater power of 2 might overflow


def sum_of(values: list[float]) -> float:
    """Return the exact sum of numbers, rounded; what floats give if it is not finite."""
    rough = sum(values)
    return math.fsum(values) if math.isfinite(rough) else rough


def sums_of(values: Array, starts: Array) -> Array:
    """Return the exact sum of the numbers of each group, rounded to a float, shape (groups,).

    If a number is not finite, or as large as 1e290, the sums are those of floats, in the order of the numbers.

    Parameters
    ----------
    values : shape (numbers,).
    starts : the positions at which groups begin, ascending, the first 0, shape (groups,).
    """
    return sums_and_remainders(values, starts, remainders=False)[0]


def sums_and_remainders(values: Array, starts: Array, *, remainders: bool = True) -> tuple[Array, Array]:
    """Return the same sums, and what each lost when it was rounded: with it, sums of sums are as exact.

    Nothing is lost where the sums are those of floats. Without ``remainders`` what is lost is not computed.
    """
    none = np.zeros(len(starts))
    if len(values) <= ADDED_SINGLY:
        listed, edges = values.tolist(), [*starts.tolist(), len(values)]
        groups = [listed[begin:end] for begin, end in pairwise(edges)]
        sums = np.array([*map(sum_of, groups)])
        return sums, np.array([*map(_rest_of, groups, sums.tolist())]) if remainders else none
    if values.dtype.kind != "f" or not (most := max(values.max(), -values.min())) < 2.0**GREATEST:
        return np.add.reduceat(values, starts, dtype=np.float64), none  # whole numbers are exact as floats
    # Sums of parts of the digits are exact; the parts are then added up, and rounded once.
    parts, more = _parts(values, starts, math.frexp(most)[1])
    high, low = parts[:2]
    sums = high + low
    if not parts[2:].any():
        back = sums - high  # what the sum has of the lower part; these differences are exact
        return sums, (high - (sums - back)) + (low - back) if remainders else none
    listed = parts.T.tolist()  # of each group
    sums, edges = np.array([*map(math.fsum, listed)]), [*starts.tolist(), len(values)]
    lost = np.array([*map(_rest_of, listed, sums.tolist())]) if remainders else none
    for group in np.flatnonzero(more).tolist():
        of_group = values[edges[group] : edges[group + 1]].tolist()
        sums[group] = sum_of(of_group)
        lost[group] = _rest_of(of_group, sums[group]) if remainders else 0
    return sums, lost


def _rest_of(values: list[float], rounded: float) -> float:
    """Return what the sum of numbers lost when it was rounded; 0 if it is not finite."""
    return math.fsum([*values, -rounded]) if len(values) > 1 and math.isfinite(rounded) else 0.0


def _parts(values: Array, starts: Array, exponent: int) -> tuple[Array, Array]:
    """Return the sums of parts of all numbers, shape (parts, groups), and whether a group has digits beyond them.

    The first part of a number are its digits above a power of 2 that is the same for all: so far above the last digit
    of a float that no sum of these parts is rounded. The second part are digits of the rest, and so on.

    Parameters
    ----------
    exponent : of a power of 2 above all numbers.
    """
    room = int(np.diff(starts, append=len(values)).max()).bit_length() + 1
    chunk = min(CHUNK, len(values)) if MIN_LENGTH_FOR_CHUNKS * len(starts) < len(values) else len(values)
    cuts = starts if chunk == len(values) else np.union1d(starts, np.arange(0, len(values), chunk))
    sums, more, high = np.zeros((N_PARTS, len(cuts))), np.zeros(len(cuts), bool), np.empty(chunk)
    for begin in range(0, len(values), chunk):
        here = slice(*np.searchsorted(cuts, (begin, begin + chunk)))
        rest, some, above = values[begin : begin + chunk], cuts[here] - begin, exponent
        for part in sums[:, here]:
            shift = math.ldexp(1.5, above + room)  # beside it floats have no digits below that power
            high_digits = np.add(rest, shift, out=high[: len(rest)])
            high_digits -= shift
            np.add.reduceat(high_digits, some, out=part)
            rest, above = rest - high_digits, above + room - DIGITS
            if not rest.any():
                break
        else:
            more[here] = np.logical_or.reduceat(rest != 0, some)
    if cuts is starts:
        return sums, more
    first = np.searchsorted(cuts, starts)
    return np.add.reduceat(sums, first, axis=1), np.logical_or.reduceat(more, first)
