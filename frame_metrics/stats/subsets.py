"""Sums over random subsets of many units, each of a given size, without a random number for each unit."""

from __future__ import annotations

from math import ceil

import numpy as np

from frame_metrics.inputs.rows import Array
from frame_metrics.stats.eights import BITS, chosen_sums

HELD = 1 << 26  # random bytes that are kept at a time
MOST = 1125  # subsets that are drawn together: an even number of times makes the 9,000 that follow the first ones
LEVELS = 256  # chances of a unit that a draw can have, besides 0 and 1


def subsets_at_once(units: int) -> int:
    """Return how many subsets of so many units are drawn together."""
    return max(min(HELD // max(units // 8, 1), MOST), 1)


def subset_sums(random: np.random.Generator, rows: Array, chosen: Array) -> Array:
    """Return the sums of rows over random subsets, each of the given size, shape (subsets, columns).

    Units are first in a subset with a chance near the one that they should have, eight at a time: a random byte
    chooses from a table of the sums of each eight. Then a few random units are taken out, or added, until the size is
    right. No unit is more likely than another at any step, so all subsets of a size are equally likely.

    Parameters
    ----------
    rows : shape (units, columns).
    chosen : the size of each subset, shape (subsets,).
    """
    n, columns = rows.shape
    groups, chance = -(-n // 8), int(np.clip(round(LEVELS * float(chosen.mean()) / n), 1, LEVELS - 1))
    padded = np.zeros((groups * 8, columns))
    padded[:n] = rows
    bytes_ = _bytes(random, (groups, len(chosen)), chance)
    bytes_[-1] &= (1 << n - 8 * (groups - 1)) - 1  # the last eight may have fewer units
    total = chosen_sums(padded.reshape(groups, 8, columns), bytes_, BITS)
    for i, more in enumerate((chosen - np.bitwise_count(bytes_).sum(axis=0, dtype=np.int64)).tolist()):
        if more:
            units = _some(random, n, bytes_[:, i], abs(more), inside=more < 0)
            total[i] += np.sign(more) * padded[units].sum(axis=0)
    return total


def _bytes(random: np.random.Generator, shape: tuple[int, int], chance: int) -> Array:
    """Draw bytes of whose bits each is 1 with the chance ``chance`` / 256, independent of the others."""
    drawn = np.zeros(shape, np.uint8)
    for bit in range((chance & -chance).bit_length() - 1, 8):
        more = np.frombuffer(random.bytes(shape[0] * shape[1]), np.uint8).reshape(shape)
        drawn = drawn | more if chance >> bit & 1 else drawn & more
    return drawn


def _some(random: np.random.Generator, n: int, bytes_: Array, some: int, *, inside: bool) -> Array:
    """Draw so many different units of ``n`` at random, of those ``inside`` a subset or of those outside, (some,)."""
    found = np.zeros(0, np.int64)
    share = 2.0
    while len(found) < some:
        tried = random.integers(0, n, ceil(share * (some - len(found))) + 8)
        right = (bytes_[tried >> 3] >> (tried & 7).astype(np.uint8) & 1).astype(bool) == inside
        found = np.concatenate([found, tried[right]])
        found = found[np.sort(np.unique(found, return_index=True)[1])]
        share = min(share * 2, 64.0)
    return found[:some]
