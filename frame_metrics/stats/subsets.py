"""Sums over random subsets of many units, each of a given size, without a random number for each unit."""

from __future__ import annotations

from math import ceil

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.byte_sums import BITS, chosen_sums

RANDOM_BYTES = 1 << 26  # random bytes that are kept at a time
SUBSETS_AT_ONCE = 1125  # subsets that are drawn together: 8 times makes the 9,000 that follow the first 1,000 of 10,000
LEVELS = 256  # the chance of a unit to be drawn is a multiple of 1 / LEVELS
SKEWNESS, KURTOSIS = 0.05, 0.005  # the most of a sum that counts as normal: its chances are wrong by .002 at most
FEW_LARGE = 16  # the sum of small units is drawn as normal only if at most one in so many units is large


def subsets_at_once(units: int) -> int:
    """Return how many subsets of so many units are drawn together."""
    return max(min(RANDOM_BYTES // max(units // 8, 1), SUBSETS_AT_ONCE), 1)


def subset_sums(random: np.random.Generator, rows: Array, chosen: Array) -> Array:
    """Return the sums of rows over random subsets, each of the given size, shape (subsets, columns).

    First each unit is put into a subset with about the right chance, eight units at a time: a random byte chooses from
    a table of the sums of these eight. Then a few random units are taken out, or added, until the size is right. All
    units are equally likely at each step, so that all subsets of a size are equally likely.

    Parameters
    ----------
    rows : what is summed of each unit, shape (units, columns).
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
            units = _draw_units(random, n, bytes_[:, i], abs(more), inside=more < 0)
            total[i] += np.sign(more) * padded[units].sum(axis=0)
    return total


def large_units(values: Array, share: float) -> Array | None:
    """Mark the large units, without which the sum over a random subset of the others is normal, shape (units,).

    They are as few as possible, and farthest from the median. None if they are more than one in ``FEW_LARGE``.

    Parameters
    ----------
    values : the numbers that are summed, shape (units, columns).
    share : the size of a subset, divided by the number of all units.
    """
    n = len(values)
    deviations = values - np.median(values, axis=0)
    spread = np.abs(deviations).mean(axis=0)
    deviations /= np.where(spread > 0, spread, 1)
    order = np.argsort(np.abs(deviations).max(axis=1), kind="stable")
    normal = _normal_without(deviations[order], share)[n - 1 - n // FEW_LARGE :]
    if not normal.any():
        return None
    large = np.zeros(n, bool)
    large[order[n - int(np.argmax(normal[::-1])) :]] = True
    return large


def _normal_without(deviations: Array, share: float) -> Array:
    """Return for each unit whether the sum over a random subset of the units up to it is normal, shape (units,).

    This is decided by the skewness and the excess kurtosis of the sum.

    Parameters
    ----------
    deviations : the values of units less the median of each column, ascending by distance, shape (units, columns).
    share : as for ``large_units``.
    """
    n, ways = np.arange(1.0, len(deviations) + 1)[:, None], share * (1 - share)
    first, *raw = (np.cumsum(deviations**power, axis=0) / n for power in range(1, 5))
    second = raw[0] - first**2
    third = raw[1] - 3 * first * raw[0] + 2 * first**3
    fourth = raw[2] - 4 * first * raw[1] + 6 * first**2 * raw[0] - 3 * first**4
    some = second > 0
    variance = np.where(some, second, 1)
    skewness = np.abs(third) / variance**1.5 * abs(1 - 2 * share) / np.sqrt(n * ways)
    kurtosis = np.abs(fourth / variance**2 - 3) * abs(1 - 6 * ways) / (n * ways)
    return np.asarray((~some | ((skewness <= SKEWNESS) & (kurtosis <= KURTOSIS))).all(axis=1))


@record
class NormalSums:
    """Sums over random subsets of units, none of which is large: drawn as normal numbers.

    Their means, variances and correlations are those of all subsets of a size.
    """

    n: int  # the number of units
    mean: Array  # the mean of units, shape (columns,)
    root: Array  # a root of the matrix of covariances, shape (columns, columns)

    @classmethod
    def of(cls, rows: Array) -> NormalSums:
        """Return the sums over subsets of these rows, shape (units, columns), two rows at least."""
        mean = rows.mean(axis=0)
        deviations = rows - mean
        spread = np.sqrt((deviations**2).sum(axis=0) / (len(rows) - 1))
        deviations /= np.where(spread > 0, spread, 1)
        return cls(len(rows), mean, spread[:, None] * root_of(deviations.T @ deviations / (len(rows) - 1)))

    def draw(self, random: np.random.Generator, chosen: Array) -> Array:
        """Draw sums, shape (subsets, columns); ``chosen``: the size of each subset, shape (subsets,)."""
        factor = np.sqrt(chosen * (1 - chosen / self.n))[:, None]
        return chosen[:, None] * self.mean + factor * (random.normal(size=(len(chosen), len(self.mean))) @ self.root.T)


def root_of(correlations: Array) -> Array:
    """Return the symmetric root of a matrix of correlations: other roots are not the same on every machine."""
    value, vector = np.linalg.eigh(correlations)
    return np.asarray(np.einsum("ik,k,jk->ij", vector, np.sqrt(np.maximum(value, 0)), vector))


def _bytes(random: np.random.Generator, shape: tuple[int, int], chance: int) -> Array:
    """Draw bytes whose bits are independent, and 1 with the chance ``chance`` / 256."""
    drawn = np.zeros(shape, np.uint8)
    for bit in range((chance & -chance).bit_length() - 1, 8):
        more = np.frombuffer(random.bytes(shape[0] * shape[1]), np.uint8).reshape(shape)
        drawn = drawn | more if chance >> bit & 1 else drawn & more
    return drawn


def _draw_units(random: np.random.Generator, n: int, bytes_: Array, n_wanted: int, *, inside: bool) -> Array:
    """Draw ``n_wanted`` different units out of ``n`` at random, all ``inside`` a subset or all outside, (n_wanted,).

    ``bytes_``: a bit for each unit, 1 if it is in the subset.
    """
    found = np.zeros(0, np.int64)
    tries_per_unit = 2.0
    while len(found) < n_wanted:
        tried = random.integers(0, n, ceil(tries_per_unit * (n_wanted - len(found))) + 8)
        fits = (bytes_[tried >> 3] >> (tried & 7).astype(np.uint8) & 1).astype(bool) == inside
        found = np.concatenate([found, tried[fits]])
        found = found[np.sort(np.unique(found, return_index=True)[1])]
        tries_per_unit = min(tries_per_unit * 2, 64.0)
    return found[:n_wanted]
