"""Resample rows: equal ones are drawn together. Callers give queries in the order of ``Index.drawing_order``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.threads import in_threads

NUMBERS_AT_ONCE = 1 << 20  # random numbers that are drawn together
CACHED = 1 << 15  # units whose counts stay in the cache; more units are drawn in blocks of this size
FEW_UNITS = 20  # of fewer units, whose ends are far out, there are at least ``MIN_RESAMPLES_OF_FEW`` resamples
MIN_RESAMPLES_OF_FEW = 10_000
ROUNDED = 1e-12  # relative differences between resamples that rounding makes
MIN_REPEATS = 8  # from so many rows to a unit, on average, counts of units are drawn instead of single rows


@record
class Units:
    """Rows to resample, without repeats: all equal rows are one unit here, though rows, or clusters, are drawn.

    Units are sorted by their values, column by column.
    """

    columns: list[Array]  # the values of each unit, shape (units,) each
    times: Array  # how many rows each unit stands for, shape (units,)
    cluster: Array | None = None  # the number of each unit's cluster, shape (units,); None without clusters

    @property
    def number(self) -> int:
        """Number of rows, or of clusters, that are drawn."""
        return int(self.times.sum()) if self.cluster is None else int(self.cluster.max(initial=-1)) + 1

    @classmethod
    def without_values(cls, n: int) -> Units:
        """Return ``n`` units without values, each of which stands for one row."""
        return cls([], np.ones(n, np.int64))


def units_of(columns: Sequence[Array], times: Array, cluster: Array | None = None) -> Units | None:
    """Return the units of rows; None for fewer than two rows, or clusters.

    Clusters are numbered in the order of the values of their rows, so that neither the names of the clusters nor the
    order of the rows matters. If each row is a cluster by itself, there are no clusters.

    Parameters
    ----------
    columns : the numbers of each row that matter, shape (rows,) each.
    times : how many rows each row stands for, shape (rows,).
    cluster : the cluster of each row, shape (rows,); None without clusters.
    """
    if not len(times):
        return None
    if cluster is not None:
        (*columns_of_units, of), counted = merge_equal_rows([*columns, cluster], times)
        place = _number_clusters(columns_of_units, counted, of)
        if place.max(initial=0) + 1 < times.sum():
            return Units(columns_of_units, counted, place) if place.any() else None
    columns_of_units, counted = merge_equal_rows(columns, times)
    return Units(columns_of_units, counted) if times.sum() > 1 else None


def merge_equal_rows(columns: Sequence[Array], times: Array) -> tuple[list[Array], Array]:
    """Sort rows by their columns, merge equal ones, and add up their times."""
    order = np.lexsort(columns[::-1])
    rising = [column[order] for column in columns]
    starts = _starts(rising)
    return [column[starts] for column in rising], np.add.reduceat(times[order], starts)


def _starts(columns: Sequence[Array]) -> Array:
    """Return the rows that differ from the row before in some column, and the first row."""
    new = np.ones(len(columns[0]), bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.flatnonzero(new)


def _number_clusters(columns: Sequence[Array], times: Array, cluster: Array) -> Array:
    """Number clusters by the values of their rows, shape (rows,); the rows are sorted by their columns."""
    value = np.zeros(len(times), np.int64)
    value[_starts(columns)] = 1
    running = np.stack([np.cumsum(value), times], axis=1).astype(">i8")  # big-endian: bytes sort like the numbers
    order = np.argsort(cluster, kind="stable")
    starts = _starts([cluster[order]])
    texts = [running[rows].tobytes() for rows in np.split(order, starts[1:])]
    number = np.empty(len(texts), np.int64)
    number[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    place = np.empty(len(times), np.int64)
    place[order] = np.repeat(number, np.diff(np.append(starts, len(order))))
    return place


def enough_resamples(resamples: int, units: float) -> int:
    """Return how many resamples are drawn of some units: of few, whose ends are far out, more."""
    return max(resamples, MIN_RESAMPLES_OF_FEW) if units < FEW_UNITS else resamples


def draws(units: Units, resamples: int, seed: int | Sequence[int]) -> Iterator[Array]:
    """Yield blocks of resamples: how often each unit is in each, shape (resamples, units).

    Each resample draws as many rows (or clusters) as there are, with replacement. Each block has its own random
    numbers, which do not depend on other blocks.
    """
    times, width, n_columns = units.times.astype(np.int64), len(units.times), len(units.columns)
    total = int(times.sum())
    few = units.cluster is None and total <= MIN_REPEATS * width
    for _, m, random in _blocks(max(total if few else 0, width * n_columns), resamples, seed):
        if units.cluster is not None:
            yield _evenly(int(units.cluster.max()) + 1, m, random)[:, units.cluster] * times
        elif few:
            often = _evenly(total, m, random)
            if (times != 1).any():
                reached = np.cumsum(np.pad(often, ((0, 0), (1, 0))), axis=1)
                often = np.diff(reached[:, np.append(0, np.cumsum(times))], axis=1)
            yield often
        else:
            yield random.multinomial(total, times / total, m)


def resampled(
    columns: Array, resamples: int, seed: int | Sequence[int], tick: Callable[[int], None] = lambda done: None
) -> Array:
    """Return the sums of columns over resampled units, as ``draws`` gives them, shape (columns, resamples).

    Parameters
    ----------
    columns : shape (columns, units).
    resamples, seed : the number of resamples, and the seed.
    tick : called with the part of the work that is done, in units; the calls add up to the number of units.
    """
    n, out = columns.shape[1], np.zeros((len(columns), resamples))

    def work(block: tuple[int, int, np.random.Generator]) -> None:
        begin, m, random = block
        if n <= CACHED:
            out[:, begin : begin + m] = sums_drawn(columns, _evenly(n, m, random))
        for row, some, often in _tiles(n, m, random) if n > CACHED else ():
            # sums_drawn would copy the columns of a tile for each draw.
            out[:, begin + row] += np.einsum("cu,u->c", columns[:, some], often.astype(np.float64))
        tick((begin + m) * n // resamples - begin * n // resamples)

    in_threads(_blocks(n, resamples, seed), work)
    return out


def sums_drawn(columns: Array, often: Array) -> Array:
    """Sum columns over draws, shape (columns, draws), without a library of linear algebra: its threads wait for ours.

    Parameters
    ----------
    columns : shape (columns, units).
    often : how often each draw has each unit, shape (draws, units).
    """
    return np.einsum("cu,du->cd", np.ascontiguousarray(columns), often.astype(np.float64))


def _blocks(width: int, resamples: int, seed: int | Sequence[int]) -> Iterator[tuple[int, int, np.random.Generator]]:
    """Yield the begin of each block of resamples, its size, and its random generator.

    ``width``: random numbers for each resample, which determine the size.
    """
    seeds, step = seed if isinstance(seed, Sequence) else [seed], max(NUMBERS_AT_ONCE // width, 1)
    for block, begin in enumerate(range(0, resamples, step)):
        yield begin, min(step, resamples - begin), np.random.default_rng([*seeds, block])


def _evenly(n: int, m: int, random: np.random.Generator) -> Array:
    """Draw ``n`` of ``n`` units with replacement, ``m`` times, and count how often each is drawn, shape (m, n)."""
    if n <= CACHED:
        chosen = random.integers(0, n, (m, n)) + np.arange(m)[:, None] * n
        return np.bincount(chosen.ravel(), minlength=m * n).reshape(m, n)
    out = np.empty((m, n), np.int64)
    for row, some, often in _tiles(n, m, random):
        out[row, some] = often
    return out


def _tiles(n: int, m: int, random: np.random.Generator) -> Iterator[tuple[int, slice, Array]]:
    """Yield, for each of ``m`` resamples and each block of units: resample, block, and the counts of its units."""
    begins = np.arange(0, n, CACHED)
    sizes = np.minimum(n - begins, CACHED)
    for row in range(m):
        for begin, size, drawn in zip(begins.tolist(), sizes.tolist(), random.multinomial(n, sizes / n), strict=True):
            yield row, slice(begin, begin + size), np.bincount(_places(random, drawn, size), minlength=size)


def _places(random: np.random.Generator, n: int, size: int) -> Array:
    """Draw ``n`` positions in a block of ``size`` units.

    In a full block a position is 15 random bits, and a random number of 64 bits gives four of them.
    """
    if size < CACHED:
        return random.integers(0, size, n)
    numbers = random.integers(0, 1 << 64, -(-n // 4), dtype=np.uint64).astype("<u8", copy=False)
    return (numbers.view("<u2")[:n] & np.uint16(CACHED - 1)).astype(np.int64)


def percentiles(values: Array, level: float) -> Array:
    """Return the ends of the percentile interval of resampled values, shape (2,); NaN if all are undefined."""
    known = values[~np.isnan(values)]
    return np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if len(known) else np.full(2, np.nan)


def percentile_interval(values: Array, level: float) -> Array:
    """Return the percentile interval of resampled values, NaN too where no resample differs, but for rounding.

    What never varies does not say how far it is from the truth: of rows that are all right each resample is all right.
    """
    return percentiles(values, level) if vary(values) else np.full(2, np.nan)


def vary(values: Array) -> bool:
    """Return True if some values differ, by more than rounding makes; values of NaN are left out."""
    known = values[~np.isnan(values)]
    if not len(known) or (least := known.min()) == (most := known.max()):
        return False
    return bool(most - least > ROUNDED * max(abs(least), abs(most)))
