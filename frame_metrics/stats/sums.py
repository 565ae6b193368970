"""Sums that are rounded once, so that no order of their terms, and no split of them into pieces, changes a digit."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from frame_metrics.inputs.rows import Array

FEW = 512  # so many numbers are added one by one, which is faster
DIGITS = 53  # binary ones of a float
PARTS = 3  # of the digits of numbers, which are added apart; digits beyond these are seldom
CHUNK = 1 << 14  # numbers that are worked on at a time, so that they stay in the cache
LONG = 64  # the mean length of groups from which on chunks pay off
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
    if len(values) <= FEW:
        listed, edges = values.tolist(), [*starts.tolist(), len(values)]
        return np.array([sum_of(listed[begin:end]) for begin, end in pairwise(edges)])
    if values.dtype.kind != "f" or not (most := max(values.max(), -values.min())) < 2.0**GREATEST:
        return np.add.reduceat(values, starts, dtype=np.float64)  # whole numbers are exact as floats
    parts, more = _parts(values, starts, math.frexp(most)[1])
    if not parts[2:].any():
        return parts[0] + parts[1]
    sums = [*map(math.fsum, parts.T.tolist())]
    edges = [*starts.tolist(), len(values)]
    for group in np.flatnonzero(more).tolist():
        sums[group] = sum_of(values[edges[group] : edges[group + 1]].tolist())
    return np.array(sums)


def rests_of(values: Array, starts: Array, sums: Array) -> Array:
    """Return what the sums of groups lost when they were rounded: with it, sums of sums are as exact.

    The parameters are those of ``sums_of``, and its sums.
    """
    if values.dtype.kind != "f" or len(starts) == len(values) or not np.isfinite(sums).all():
        return np.zeros(len(starts))
    ends = np.append(starts[1:], len(values))
    return sums_of(np.insert(values, ends, -sums), starts + np.arange(len(starts)))


def _parts(values: Array, starts: Array, exponent: int) -> tuple[Array, Array]:
    """Return the sums of parts of all numbers, shape (parts, groups), and whether a group has digits beyond them.

    The first part of a number are its digits above a power of 2 that is the same for all: so far above the last digit
    of a float that no sum of these parts is rounded. The second part are digits of the rest, and so on.

    Parameters
    ----------
    exponent : of a power of 2 above all numbers.
    """
    room = int(np.diff(starts, append=len(values)).max()).bit_length() + 1
    chunk = min(CHUNK, len(values)) if LONG * len(starts) < len(values) else len(values)
    cuts = starts if chunk == len(values) else np.union1d(starts, np.arange(0, len(values), chunk))
    sums, more, high = np.zeros((PARTS, len(cuts))), np.zeros(len(cuts), bool), np.empty(chunk)
    for begin in range(0, len(values), chunk):
        here = slice(*np.searchsorted(cuts, (begin, begin + chunk)))
        rest, some, above = values[begin : begin + chunk], cuts[here] - begin, exponent
        for part in sums[:, here]:
            shift = math.ldexp(1.5, above + room)  # beside it floats have no digits below that power
            own = np.add(rest, shift, out=high[: len(rest)])
            own -= shift
            np.add.reduceat(own, some, out=part)
            rest, above = rest - own, above + room - DIGITS
            if not rest.any():
                break
        else:
            more[here] = np.logical_or.reduceat(rest != 0, some)
    if cuts is starts:
        return sums, more
    first = np.searchsorted(cuts, starts)
    return np.add.reduceat(sums, first, axis=1), np.logical_or.reduceat(more, first)
