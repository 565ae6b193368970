"""Rows of many queries, laid end to end, and the arithmetic on them that kernels share."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np

from frame_metrics.inputs.kept import Remembers, kept, seal, sealed

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]  # as numpy.typing.NDArray[Any], which takes long to import
EXACT = 2**53  # all integers up to this are exact as a float64
NONE = -1  # stands for no row of the caller's frame, so that the key is null
FEW = 4  # number of cutoffs up to which each is counted separately


def ratio(a: Array, b: Array) -> Array:
    """Return a / b, NaN where b is 0: the measure is undefined there."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient, nothing = a / b, b == 0
    return np.where(nothing, np.nan, quotient) if np.count_nonzero(nothing) else quotient


def code_of(text: str) -> float:
    """Return a hash of a text as a number, the same in every process."""
    return float(int.from_bytes(blake2b(text.encode(), digest_size=6).digest()))


def by_rank(f: Callable[[Array], Array], rank: Array) -> Array:
    """Return ``f(rank)``, looked up in a table of all ranks if that is not much longer than ``rank``."""
    top = int(rank.max(initial=0))
    if top > 4 * len(rank) + 64:
        return f(rank)
    return f(np.arange(top + 1))[rank]


def marks(codes: Array, n: int) -> Array:
    """Return a mark for each of the numbers 0 ... n - 1 that is among the codes, shape (n,).

    Where codes are dense this takes a small part of the time of ``np.unique``, which hashes or sorts them.
    """
    out = np.zeros(n, bool)
    out[codes] = True
    return out


def all_alike(codes: Array) -> bool:
    """Return True for codes of fewer than two different values."""
    return not len(codes) or bool(codes.min() == codes.max())


def sums_between(values: Array, starts: Array, ends: Array) -> Array:
    """Return the sum of the values from each start up to each end."""
    running = np.concatenate([[0], values])  # makes numbers of booleans: these are added up several times as fast
    np.cumsum(running, out=running)
    return running[ends] - running[starts]


def spans(starts: Array, lengths: Array) -> Array:
    """Return the positions in slices, slice after slice: 3, 4, 8, 9 for starts 3, 8 and lengths 2, 2."""
    return np.repeat(starts - (lengths.cumsum() - lengths), lengths) + np.arange(int(lengths.sum()))


def as_grid(values: Array, lengths: Array, fill: float) -> Array:
    """Return the values of queries as a grid with a row for each query, filled up with ``fill``."""
    shape = len(lengths), int(lengths.max(initial=0))
    if shape[0] * shape[1] == len(values):
        return values.reshape(shape)
    grid = np.full(shape, fill, values.dtype)
    grid[np.arange(shape[1]) < lengths[:, None]] = values
    return grid


class Segmented(Remembers):
    """Elements of queries (or of segments), laid end to end.

    Parameters
    ----------
    query : the query (or segment) of each element, ascending, shape (elements,).
    n_queries : number of queries, those without elements included.
    """

    def __init__(self, query: Array, n_queries: int) -> None:
        self.query, self.n_queries = query, n_queries
        seal(self)

    @kept
    def count(self) -> Array:
        """Elements of each query, shape (queries,)."""
        return np.bincount(self.query, minlength=self.n_queries)

    @kept
    def starts(self) -> Array:
        """Start of each query's elements, shape (queries,)."""
        return self.count.cumsum() - self.count

    @kept
    def filled(self) -> Array | None:
        """The queries that have elements, ascending; None where all have some."""
        return None if np.count_nonzero(self.count) == self.n_queries else np.flatnonzero(self.count)

    @kept
    def begins(self) -> Array:
        """Start of the elements of each query that has any, shape (filled queries,)."""
        return self.starts if self.filled is None else self.starts[self.filled]

    def spread(self, of_filled: Array, empty: float = 0.0) -> Array:
        """Return values of the filled queries, with ``empty`` for the others, shape (queries,)."""
        if self.filled is None:
            return of_filled.astype(np.float64, copy=False)
        out = np.full(self.n_queries, empty)
        out[self.filled] = of_filled
        return out

    def reduce(self, ufunc: np.ufunc, values: Array, empty: float = 0.0) -> Array:
        """Return ``ufunc`` over each query's values, ``empty`` where it has none, shape (queries,)."""
        if not len(self.begins):
            return np.full(self.n_queries, empty)
        return self.spread(ufunc.reduceat(values, self.begins, dtype=np.float64), empty)

    def total(self, values: Array) -> Array:
        """Return the sum of each query's values, shape (queries,)."""
        return self.reduce(np.add, values)

    def last(self, values: Array) -> Array:
        """Return the last of each query's values, 0 where it has none, shape (queries,)."""
        counted = self.count if self.filled is None else self.count[self.filled]
        return self.spread(values[self.begins + counted - 1])

    def each(self, of_query: Array) -> Array:
        """Repeat the value of each query for all of its elements, shape (elements,)."""
        return of_query[self.query]

    @kept
    def position(self) -> Array:
        """The position of each element in its query, from 1, shape (elements,)."""
        return np.arange(1, len(self.query) + 1) - self.starts[self.query]


class Rows(Segmented):
    """Some rows of each query, laid end to end, within a query in the order of their ranks.

    Parameters
    ----------
    query : the query of each row, ascending, shape (rows,).
    rank : the rank of each row, from 1, shape (rows,).
    value : the gain of each row, shape (rows,).
    n_queries : number of queries, those without rows included.
    """

    in_order = False  # whether totals are added up one by one from the first rank, not pairwise as numpy does

    def __init__(self, query: Array, rank: Array, value: Array, n_queries: int) -> None:
        self.rank, self.value = rank, value
        self._made: dict[Any, Array] = {}
        self._reached: dict[int, Array] = {}
        self._places: dict[int, Array] = {}
        self._sums: dict[int, tuple[Array, Array | None]] = {}
        super().__init__(query, n_queries)

    def like(self, value: Array, rank: Array | None = None) -> Rows:
        """Return the same rows with other values (and ranks); cached facts about the queries are kept."""
        other = object.__new__(Rows)
        vars(other).update(vars(self), value=value, _made={}, _sums={})
        if rank is not None:
            vars(other).update(rank=rank, _reached={}, _places={})
        seal(other)
        return other

    def reached(self, k: int | None) -> Array:
        """Count the rows of each query at ranks up to ``k`` (None: all), shape (queries,)."""
        if k is None or k >= self._deepest:
            return self.count
        if self.rank is self.__dict__.get("position"):  # as in an ideal ranking
            return np.minimum(self.count, k)
        if k not in self._reached:
            self._reached |= self._reached_at(k)
        return self._reached[k]

    @kept
    def _deepest(self) -> int:
        """The greatest rank."""
        return int(self.rank.max(initial=0))

    def _reached_at(self, k: int) -> dict[int, Array]:
        """Return the counts at cutoff ``k``, by cutoff.

        After the first few cutoffs, those at many cutoffs are counted together, which takes the time of five.
        """
        n, deep = self.n_queries, min(1 << max(k.bit_length(), 5), self._deepest)
        if len(self._reached) < FEW or deep * n > 16 * len(self.rank):
            return {k: sealed(np.bincount(self.query[self._up_to(k)], minlength=n))}
        cells = np.bincount(np.minimum(self.rank, deep + 1) * n + self.query, minlength=(deep + 2) * n)
        return dict(enumerate(sealed(np.cumsum(cells.reshape(-1, n)[: deep + 1], axis=0))))

    def total(self, values: Array) -> Array:
        """Return the sum of each query's values, shape (queries,)."""
        return self._added_up(self.query, values) if self.in_order else self.reduce(np.add, values)

    def _added_up(self, query: Array, values: Array) -> Array:
        """Return the sum of each query's values, added up from the first to the last, shape (queries,)."""
        return np.bincount(query, values, self.n_queries).astype(np.float64, copy=False)  # without rows: integers

    def total_within(self, k: int | None, values: Array) -> Array:
        """Return the sum of each query's values at ranks up to ``k`` (None: all), shape (queries,)."""
        if k is None or k >= self._deepest:
            return self.total(values)
        running, reached = self._running_sums(values), self.reached(k)
        if running is None:
            at = self._up_to(k)
            sums = self._added_up(self.query[at], values[at])
        else:
            sums = running[reached, self._each_query]
        # If a query has no rows past k, its sum is its total, to the last bit; the total is added up in another order.
        whole = reached == self.count
        if not whole.any():
            return sums
        # A read-only array will have the same values next time, and ``_sums`` keeps it, so that its id stays its own.
        total = self.total(values) if values.flags.writeable else self.once(id(values), lambda: self.total(values))
        return np.where(whole, total, sums)

    def _up_to(self, k: int) -> Array:
        """Return the positions of the rows at ranks up to ``k``."""
        if k not in self._places:
            self._places[k] = np.flatnonzero(self.rank <= k)
        return self._places[k]

    def _running_sums(self, values: Array) -> Array | None:
        """Return the sums of the first 0, 1, 2 ... values of each query, shape (most values + 1, queries).

        None at the first cutoff that is asked for with these values: a single sum is faster then. Values are added up
        from the first to the last, as for a single cutoff, so that a metric does not depend on what else is asked. Two
        hundred metrics at many cutoffs then take 4 times as long as ten, not 8 times.
        """
        if values.flags.writeable:  # they may have changed next time
            return None
        if id(values) not in self._sums:
            self._sums[id(values)] = values, None  # keeps the values, so that no other array gets their id
            return None
        if self._sums[id(values)][1] is None:
            cells = np.zeros((int(self.count.max(initial=0)) + 1, self.n_queries))
            cells[self.position, self.query] = values
            self._sums[id(values)] = values, np.add.accumulate(cells, axis=0)
        return self._sums[id(values)][1]

    @kept
    def _each_query(self) -> Array:
        return np.arange(self.n_queries)

    @kept
    def inside(self) -> Array:
        """Marks of the cells of a (queries x longest query) grid that have a row."""
        return np.arange(int(self.count.max(initial=0))) < self.count[:, None]

    def grid(self, values: Array, fill: float = 0.0) -> Array:
        """Return the values as a (queries x longest query) grid, ``fill`` after the end of each query."""
        cells = np.full(self.inside.shape, fill)
        cells[self.inside] = values
        return cells

    def running(self, values: Array, ufunc: np.ufunc = np.add, fill: float = 0.0) -> Array:
        """Accumulate values with ``ufunc`` from each query's first row on, shape (rows,)."""
        return ufunc.accumulate(self.grid(values, fill), axis=1)[self.inside]

    def at(self, place: Array, values: Array, outside: float) -> Array:
        """Return the value of one row of each query, by its position from 1; ``outside`` for none, shape (queries,)."""
        there = (place >= 1) & (place <= self.count)
        out = np.full(self.n_queries, outside)
        out[there] = values[self.starts[there] + place[there] - 1]
        return out


def falling(rows: Rows) -> Array:
    """Return the values of rows, sorted in each query from the greatest to the least."""
    value = rows.value
    if len(value) < 64:  # for few rows this is faster than the ways below
        return value[np.lexsort((-value, rows.query))]
    if not len(value) or value.min() == value.max():
        return value
    top = int(value.max())
    if top < 64 and (value == np.floor(value)).all():
        level = rows.query * (top + 1) + (top - value.astype(np.int64))
        count = np.bincount(level, minlength=rows.n_queries * (top + 1))
        return np.repeat(np.tile(np.arange(top, -1, -1.0), rows.n_queries), count)
    cells = rows.grid(-value)
    cells.sort(axis=1)
    return -cells[rows.inside]
