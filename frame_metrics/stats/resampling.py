"""Resample rows, of which equal ones are stored once. Callers give queries in the order of ``Index.drawing_order``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import begins_run
from frame_metrics.threads import in_threads

NUMBERS_AT_ONCE = 1 << 20  # random numbers that are drawn together
CACHED = 1 << 15  # the most units whose counts stay in the cache; more units are drawn in blocks of this size
# With fewer units there are at least ``MIN_RESAMPLES_OF_FEW`` resamples: their intervals have greater levels, and few
# resamples reach their ends.
FEW_UNITS = 20
MIN_RESAMPLES_OF_FEW = 10_000
ROUNDED = 1e-12  # relative differences between resamples that rounding makes
MIN_REPEATS = 8  # with more rows per unit, on average, counts of units are drawn instead of single rows


@record
class Units:
    """Distinct rows, each with the number of rows that are equal to it.

    Equal rows (with clusters, equal rows of one cluster) are stored once, as one unit. Elsewhere a unit is what is
    drawn; here single rows are drawn, or whole clusters. Units are sorted by their values, column by column.
    """

    columns: list[Array]  # the values of each unit, shape (units,) each
    times: Array  # how many rows each unit stands for, shape (units,)
    cluster: Array | None = None  # the number of each unit's cluster, shape (units,); None without clusters

    @property
    def n_drawn(self) -> int:
        """The number of rows, or clusters, that a resample draws: as many as there are."""
        return int(self.times.sum()) if self.cluster is None else int(self.cluster.max(initial=-1)) + 1

    @classmethod
    def without_values(cls, n: int) -> Units:
        """Return ``n`` units without values, each of which stands for one row."""
        return cls([], np.ones(n, np.int64))


def units_of(columns: Sequence[Array], times: Array, cluster: Array | None) -> Units | None:
    """Return the units of rows; None for fewer than two rows, or clusters.

    Clusters are numbered in the order of the values of their rows, so that neither the names of the clusters nor the
    order of the rows matters. If each row is a cluster by itself, there are no clusters.

    Parameters
    ----------
    columns : the values by which rows are equal or not, shape (rows,) each.
    times : how many rows each row stands for, shape (rows,).
    cluster : the cluster of each row, shape (rows,); None without clusters.
    """
    if not len(times):
        return None
    if cluster is not None:
        (*columns_of_units, cluster_of_unit), times_of_unit = merge_equal_rows([*columns, cluster], times)
        number = _number_clusters(columns_of_units, times_of_unit, cluster_of_unit)
        n_clusters = number.max(initial=0) + 1
        if n_clusters < times.sum():
            return Units(columns_of_units, times_of_unit, number) if n_clusters > 1 else None
    columns_of_units, times_of_unit = merge_equal_rows(columns, times)
    return Units(columns_of_units, times_of_unit) if times.sum() > 1 else None


def merge_equal_rows(columns: Sequence[Array], times: Array) -> tuple[list[Array], Array]:
    """Sort rows by their columns, merge equal ones, and add up their times."""
    order = np.lexsort(columns[::-1])
    in_order = [column[order] for column in columns]
    starts = np.flatnonzero(begins_run(*in_order))
    return [column[starts] for column in in_order], np.add.reduceat(times[order], starts)


def _number_clusters(columns: Sequence[Array], times: Array, cluster: Array) -> Array:
    """Number clusters by the values of their rows, and return the number of the cluster of each unit, shape (units,).

    Clusters are sorted by the list of their rows: for each unit of the cluster which of the distinct rows it is, and
    how many times.

    Parameters
    ----------
    columns, times : of the units, which are sorted by their columns.
    cluster : the cluster of each unit, by any numbers.
    """
    # As bytes such a list can be compared at once; big-endian bytes sort as their numbers do.
    row_and_times = np.stack([np.cumsum(begins_run(*columns)), times], axis=1).astype(">i8")
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(begins_run(cluster[order]))
    keys = [row_and_times[units].tobytes() for units in np.split(order, starts[1:])]
    number = np.empty(len(keys), np.int64)
    number[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    number_of_unit = np.empty(len(times), np.int64)
    number_of_unit[order] = np.repeat(number, np.diff(np.append(starts, len(order))))
    return number_of_unit


def enough_resamples(resamples: int, units: float) -> int:
    """Return how many resamples are drawn: as many as asked for, and of few units at least ``MIN_RESAMPLES_OF_FEW``."""
    return max(resamples, MIN_RESAMPLES_OF_FEW) if units < FEW_UNITS else resamples


def draws(units: Units, resamples: int, seed: int | Sequence[int]) -> Iterator[Array]:
    """Yield blocks of resamples: how often each unit is in each, shape (resamples, units).

    Each resample draws as many rows (or clusters) as there are, with replacement. Each block has its own random
    numbers, which do not depend on other blocks.
    """
    times, n_units, n_columns = units.times.astype(np.int64), len(units.times), len(units.columns)
    n_rows = int(times.sum())
    single_rows = units.cluster is None and n_rows <= MIN_REPEATS * n_units
    for _, m, random in _blocks(max(n_rows if single_rows else 0, n_units * n_columns), resamples, seed):
        if units.cluster is not None:
            yield _draw_counts(int(units.cluster.max()) + 1, m, random)[:, units.cluster] * times
        elif single_rows:
            often = _draw_counts(n_rows, m, random)
            if (times != 1).any():  # add up the counts of the rows of each unit, which are adjacent
                running = np.cumsum(np.pad(often, ((0, 0), (1, 0))), axis=1)
                often = np.diff(running[:, np.append(0, np.cumsum(times))], axis=1)
            yield often
        else:
            yield random.multinomial(n_rows, times / n_rows, m)


def resampled(
    columns: Array, resamples: int, seed: int | Sequence[int], tick: Callable[[int], None] = lambda done: None
) -> Array:
    """Return the sums of columns over resampled units, of which each is drawn by itself, shape (columns, resamples).

    The draws are those of ``draws``, without units that stand for several rows.

    Parameters
    ----------
    columns : shape (columns, units).
    resamples, seed : the number of resamples, and the seed.
    tick : called with how much of the work is done; the calls add up to the number of units.
    """
    n, out = columns.shape[1], np.zeros((len(columns), resamples))

    def work(block: tuple[int, int, np.random.Generator]) -> None:
        begin, m, random = block
        if n <= CACHED:
            out[:, begin : begin + m] = sums_drawn(columns, _draw_counts(n, m, random))
        else:  # ``sums_drawn`` would copy the columns of a tile for each draw
            for row, some, often in _tiles(n, m, random):
                out[:, begin + row] += np.einsum("cu,u->c", columns[:, some], often.astype(np.float64))
        tick((begin + m) * n // resamples - begin * n // resamples)

    in_threads(_blocks(n, resamples, seed), work)
    return out


def sums_drawn(columns: Array, often: Array) -> Array:
    """Return the sums of columns over the units of each draw, shape (columns, draws).

    A matrix product is not used: the threads of its library and ours would wait for each other.

    Parameters
    ----------
    columns : shape (columns, units).
    often : how often each draw has each unit, shape (draws, units).
    """
    return np.einsum("cu,du->cd", np.ascontiguousarray(columns), often.astype(np.float64))


def _blocks(width: int, resamples: int, seed: int | Sequence[int]) -> Iterator[tuple[int, int, np.random.Generator]]:
    """Yield the first resample of each block, how many resamples it has, and its random generator.

    ``width``: how many random numbers a resample takes; a block takes about ``NUMBERS_AT_ONCE``.
    """
    seeds, step = seed if isinstance(seed, Sequence) else [seed], max(NUMBERS_AT_ONCE // width, 1)
    for block, begin in enumerate(range(0, resamples, step)):
        yield begin, min(step, resamples - begin), np.random.default_rng([*seeds, block])


def _draw_counts(n: int, m: int, random: np.random.Generator) -> Array:
    """Return how often each of ``n`` units is in each of ``m`` resamples of ``n`` units, shape (m, n)."""
    if n <= CACHED:
        chosen = random.integers(0, n, (m, n)) + np.arange(m)[:, None] * n
        return np.bincount(chosen.ravel(), minlength=m * n).reshape(m, n)
    out = np.empty((m, n), np.int64)
    for row, some, often in _tiles(n, m, random):
        out[row, some] = often
    return out


def _tiles(n: int, m: int, random: np.random.Generator) -> Iterator[tuple[int, slice, Array]]:
    """Yield for each of ``m`` resamples and each block of units: resample, block, how often each unit is drawn."""
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


def shuffled(random: np.random.Generator, draws: int, values: Array) -> Array:
    """Return values in random orders, shape (draws, values)."""
    return random.permuted(np.broadcast_to(values, (draws, len(values))), axis=1)


def percentiles(values: Array, level: float) -> Array:
    """Return the ends of the percentile interval of resampled values, shape (2,); NaN if all are undefined."""
    known = values[~np.isnan(values)]
    return np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if len(known) else np.full(2, np.nan)


def percentile_interval(values: Array, level: float) -> Array:
    """Return the percentile interval of resampled values, shape (2,); NaN too if all resamples are equal.

    What never varies does not say how far it is from the truth: if all rows are right, so are those of each resample.
    """
    return percentiles(values, level) if vary(values) else np.full(2, np.nan)


def vary(values: Array) -> bool:
    """Return True if some values differ by more than rounding; NaN is left out."""
    known = values[~np.isnan(values)]
    if not len(known) or (least := known.min()) == (most := known.max()):
        return False
    return bool(most - least > ROUNDED * max(abs(least), abs(most)))
