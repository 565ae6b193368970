"""Rows of many queries, laid end to end, and the arithmetic on them that kernels share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from hashlib import blake2b
from typing import Any, TypeAlias
from weakref import ref

import numpy as np

from frame_metrics.inputs.cached_arrays import CachesByKey, computed_once, make_read_only, read_only_view

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]  # as numpy.typing.NDArray[Any], which takes long to import
EXACT = 2**53  # all integers up to this are exact as a float64
NONE = -1  # stands for no row of the caller's frame, so that the key is null
PLACES_PER_CODE = 4  # a table of all codes from 0 to n - 1 may have so many places for each code that is counted
MOST_CUTOFFS_ONE_BY_ONE = 4  # number of cutoffs up to which each is counted and summed separately


def ratio(a: Array, b: Array) -> Array:
    """Return a / b, NaN where b is 0, so that a measure is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient, nothing = np.asarray(a / b), b == 0
    if np.count_nonzero(nothing):
        np.copyto(quotient, np.nan, where=nothing)
    return quotient


def geometric_mean(a: Array, b: Array) -> Array:
    """Return the root of a b, numbers of at least 0; of two equal ones it is exactly these."""
    most = np.maximum(a, b)
    return np.asarray(most * np.sqrt(np.minimum(a, b) / np.where(most > 0, most, 1)))


def hash_of_text(text: str) -> float:
    """Return a hash of a text as a number, the same in every process."""
    return float(int.from_bytes(blake2b(text.encode(), digest_size=6).digest()))


def mark_codes(codes: Array, n: int) -> Array:
    """Return True for each of the numbers 0 ... n - 1 that is among the codes, shape (n,).

    If most numbers are, this takes a small part of the time of ``np.unique``, which hashes or sorts the codes.
    """
    out = np.zeros(n, bool)
    out[codes] = True
    return out


def count_codes(codes: Array, n: int) -> tuple[Array, Array]:
    """Return the distinct codes, rising, and how often each occurs, as floats; codes are from 0 to ``n`` - 1.

    If ``n`` is not much more than the number of codes, they are counted in a table of all possible codes.
    """
    if n <= PLACES_PER_CODE * len(codes) + 1024:
        every = np.zeros(n, np.int64)
        step = max(n, 1 << 16)  # so that little is copied
        for begin in range(0, len(codes), step):
            every += np.bincount(codes[begin : begin + step], minlength=n)
        at = np.flatnonzero(every)
        return at, every[at].astype(np.float64)
    at, times = np.unique(codes, return_counts=True)
    return at, times.astype(np.float64)


def ones(n: int) -> Array:
    """Return a one for each of ``n`` rows, read-only and in the memory of a single number."""
    return np.broadcast_to(np.float64(1), n)


def all_equal(codes: Array) -> bool:
    """Return True for codes of fewer than two different values."""
    return not len(codes) or bool(codes.min() == codes.max())


def n_of_share(size: Array, top: float) -> Array:
    """Return the number of rows in the share ``top`` of ``size`` rows, rounded up, as floats.

    It is 0 only for 0 rows. A product that misses a whole number by a rounding error is that number: .07 of 100 is 7.
    """
    return np.ceil(size * (top * (1 - 1e-12)))


def sums_between(values: Array, starts: Array, ends: Array) -> Array:
    """Return the sum of the values from each start up to each end."""
    running = np.concatenate([[0], values])  # booleans become numbers, which are added up several times as fast
    np.cumsum(running, out=running)
    return running[ends] - running[starts]


def sum_of_others(values: Array) -> Array:
    """Return for each value the sum of all others along the last axis; no subtraction, which would lose digits."""
    before, after = np.zeros(values.shape), np.zeros(values.shape)
    before[..., 1:] = np.cumsum(values, axis=-1)[..., :-1]
    after[..., :-1] = np.cumsum(values[..., ::-1], axis=-1)[..., -2::-1]
    return before + after


def spans(starts: Array, lengths: Array) -> Array:
    """Return the positions in slices, slice after slice: 3, 4, 8, 9 for starts 3, 8 and lengths 2, 2."""
    return np.repeat(starts - (lengths.cumsum() - lengths), lengths) + np.arange(int(lengths.sum()))


def begins_run(*columns: Array) -> Array:
    """Return True for the first row, and for each that differs from the row before in some column, shape (rows,)."""
    out = np.ones(len(columns[0]), bool)
    out[1:] = reduce(np.logical_or, (column[1:] != column[:-1] for column in columns))
    return out


def rows_by_group(group: Array, n: int, rows: Array | None = None) -> list[Array]:
    """Return the rows of each of ``n`` groups, in their order; ``group``: of each row, -1 for none; ``rows``: some."""
    rows = np.arange(len(group)) if rows is None else rows
    order = rows[np.argsort(group[rows], kind="stable")]
    return np.split(order, np.searchsorted(group[order], np.arange(n + 1)))[1:-1]


def as_grid(values: Array, lengths: Array, fill: float) -> Array:
    """Return the values of queries as a grid with a row for each query, filled up with ``fill``."""
    shape = len(lengths), int(lengths.max(initial=0))
    if shape[0] * shape[1] == len(values):
        return values.reshape(shape)
    grid = np.full(shape, fill, values.dtype)
    grid[np.arange(shape[1]) < lengths[:, None]] = values
    return grid


class Segmented(CachesByKey):
    """Elements of queries (or of segments), laid end to end.

    Parameters
    ----------
    query : the query (or segment) of each element, ascending, shape (elements,).
    n_queries : number of queries, those without elements included.
    """

    def __init__(self, query: Array, n_queries: int) -> None:
        self.query, self.n_queries = query, n_queries
        make_read_only(self)

    @computed_once
    def count(self) -> Array:
        """Number of elements of each query, shape (queries,)."""
        if self.n_queries == 1:
            return np.array([len(self.query)])
        return np.bincount(self.query, minlength=self.n_queries)

    @computed_once
    def starts(self) -> Array:
        """Start of each query's elements, shape (queries,)."""
        return self.count.cumsum() - self.count

    @computed_once
    def filled(self) -> Array | None:
        """The queries that have elements, ascending; None if all have some."""
        return None if np.count_nonzero(self.count) == self.n_queries else np.flatnonzero(self.count)

    @computed_once
    def starts_of_filled(self) -> Array:
        """Start of the elements of each query that has any, shape (filled queries,)."""
        return self.starts if self.filled is None else self.starts[self.filled]

    def to_all_queries(self, of_filled: Array, empty: float = 0.0) -> Array:
        """Return values of the filled queries, with ``empty`` for the others, shape (queries,)."""
        if self.filled is None:
            return of_filled.astype(np.float64, copy=False)
        out = np.full(self.n_queries, empty)
        out[self.filled] = of_filled
        return out

    def reduce(self, ufunc: np.ufunc, values: Array, empty: float = 0.0) -> Array:
        """Return ``ufunc`` over each query's values, ``empty`` where it has none, shape (queries,)."""
        if not len(self.starts_of_filled):
            return np.full(self.n_queries, empty)
        return self.to_all_queries(ufunc.reduceat(values, self.starts_of_filled, dtype=np.float64), empty)

    def total(self, values: Array) -> Array:
        """Return the sum of each query's values, shape (queries,)."""
        return self.reduce(np.add, values)

    def last(self, values: Array) -> Array:
        """Return the last of each query's values, 0 where it has none, shape (queries,)."""
        count_of_filled = self.count if self.filled is None else self.count[self.filled]
        return self.to_all_queries(values[self.starts_of_filled + count_of_filled - 1])

    def each(self, of_query: Array) -> Array:
        """Repeat the value of each query for all of its elements, shape (elements,)."""
        return of_query[self.query]

    @computed_once
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
    cutoffs : the cutoffs of the metrics that are asked for.
    consecutive : whether the ranks of a query are 1, 2, 3 ..., as in an ideal ranking.
    one_by_one : whether totals are added up one by one from the first rank, not pairwise as numpy does.
    like : other rows, of which each query has as many as of these, so that these need not be counted again; or None.
    """

    def __init__(
        self,
        query: Array,
        rank: Array,
        value: Array,
        n_queries: int,
        *,
        cutoffs: Sequence[int] = (),
        consecutive: bool = False,
        one_by_one: bool = False,
        like: Rows | None = None,
    ) -> None:
        self.query, self.rank, self.value = read_only_view(query), read_only_view(rank), read_only_view(value)
        self.n_queries, self.cutoffs, self.consecutive, self.one_by_one = n_queries, cutoffs, consecutive, one_by_one
        if like is not None:
            self.count, self.starts = like.count, like.starts
            self.filled, self.starts_of_filled = like.filled, like.starts_of_filled
            return
        self.count = count = read_only_view(np.bincount(query, minlength=n_queries))
        self.starts = starts = read_only_view(count.cumsum() - count)
        self.filled = None if np.count_nonzero(count) == n_queries else read_only_view(np.flatnonzero(count))
        self.starts_of_filled = starts if self.filled is None else read_only_view(starts[self.filled])

    def with_values(self, value: Array) -> Rows:
        """Return these rows with other values."""
        given = self.query, self.rank, value, self.n_queries
        consecutive, one_by_one = self.consecutive, self.one_by_one
        return Rows(*given, cutoffs=self.cutoffs, consecutive=consecutive, one_by_one=one_by_one, like=self)

    def by_rank(self, f: Callable[[Array], Array]) -> Array:
        """Return ``f(rank)`` for each row, shape (rows,).

        It is looked up in a table of all ranks, if these are not many more than the rows.
        """
        if self.deepest > 4 * len(self.rank) + 64:
            return f(self.rank)
        return f(np.arange(self.deepest + 1))[self.rank]

    def count_within(self, k: int | None) -> Array:
        """Count the rows of each query at ranks up to ``k`` (None: all), shape (queries,)."""
        if k is None or k >= self.deepest:
            return self.count
        if self.consecutive:
            return np.minimum(self.count, k)
        if self.counts_all_cutoffs and k <= self.cutoffs[-1]:
            return self._counts_within[k]
        return self.cached(k, lambda: np.bincount(self.query[self.up_to(k)], minlength=self.n_queries))

    @computed_once
    def deepest(self) -> int:
        """The greatest rank."""
        return int(self.rank.max(initial=0))

    @computed_once
    def counts_all_cutoffs(self) -> bool:
        """True if counts and sums at all cutoffs should be computed together, which takes the time of five of them.

        This makes a grid of ranks and queries, so most of its cells must have a row.
        """
        return len(self.cutoffs) > MOST_CUTOFFS_ONE_BY_ONE and self.last_cutoff * self.n_queries <= 16 * len(self.rank)

    @property
    def last_cutoff(self) -> int:
        """The last cutoff, or the last rank if it is smaller."""
        return min([*self.cutoffs[-1:], self.deepest])

    @computed_once
    def _counts_within(self) -> Array:
        """Number of rows of each query at ranks up to 0, 1, 2 ..., shape (last cutoff + 1, queries)."""
        n, deep = self.n_queries, self.last_cutoff
        cells = np.bincount(np.minimum(self.rank, deep + 1) * n + self.query, minlength=(deep + 2) * n)
        return np.cumsum(cells.reshape(-1, n)[: deep + 1], axis=0)

    def total(self, values: Array) -> Array:
        """Return the sum of each query's values, shape (queries,)."""
        return self._added_up(self.query, values) if self.one_by_one else self.reduce(np.add, values)

    def _added_up(self, query: Array, values: Array) -> Array:
        """Return the sum of each query's values, added up from the first to the last, shape (queries,)."""
        sums = np.bincount(query, values, self.n_queries)
        return sums.astype(np.float64, copy=False)  # bincount of no rows returns integers

    def total_within(self, k: int | None, values: Array) -> Array:
        """Return the sum of each query's values at ranks up to ``k`` (None: all), shape (queries,)."""
        if k is None or k >= self.deepest:
            return self.total(values)
        at, is_whole = self.up_to(k), self.count_within(k) == self.count
        sums = self._added_up(self.query[at], values[at])
        # If a query has no rows past k, its sum has to equal its total to the last bit. Totals are added up in another
        # order, so the total is taken.
        return np.where(is_whole, self.total(values), sums) if is_whole.any() else sums

    def up_to(self, k: int) -> Array:
        """Return the positions of the rows at ranks up to ``k``."""
        return self.cached(("up to", k), lambda: np.flatnonzero(self.rank <= k))

    @computed_once
    def position(self) -> Array:
        return self.rank if self.consecutive else super().position

    @computed_once
    def sums(self) -> Sums:
        """The sums of the values of the rows."""
        return Sums(self, self.value)

    @computed_once
    def has_row(self) -> Array:
        """True for the cells of a (queries x longest query) grid that have a row."""
        return np.arange(int(self.count.max(initial=0))) < self.count[:, None]

    def grid(self, values: Array, fill: float = 0.0) -> Array:
        """Return the values as a (queries x longest query) grid, ``fill`` after the end of each query."""
        cells = np.full(self.has_row.shape, fill)
        cells[self.has_row] = values
        return cells

    def running(self, values: Array, ufunc: np.ufunc = np.add, fill: float = 0.0) -> Array:
        """Accumulate values with ``ufunc`` from each query's first row on, shape (rows,)."""
        return ufunc.accumulate(self.grid(values, fill), axis=1)[self.has_row]

    def at(self, place: Array, values: Array, outside: float) -> Array:
        """Return the value of one row of each query, shape (queries,); ``outside`` where there is no such row.

        ``place``: the position of the row in its query, from 1, shape (queries,); ``values``: of all rows, (rows,).
        """
        exists = (place >= 1) & (place <= self.count)
        out = np.full(self.n_queries, outside)
        out[exists] = values[self.starts[exists] + place[exists] - 1]
        return out


class Sums:
    """The sums of some values of rows at ranks up to cutoffs, for values that are asked for at several cutoffs.

    Rows cache their ``Sums``, and ``Sums`` have only a weak reference to their rows. In a reference cycle, the arrays
    of a block would stay in memory until Python looks for cycles, which may be many blocks later.

    Parameters
    ----------
    rows : the rows; whoever asks for sums has to keep them.
    values : the values, shape (rows,).
    """

    def __init__(self, rows: Rows, values: Array) -> None:
        """Make the values read-only, as metrics share them."""
        self._rows_ref, self.values = ref(rows), read_only_view(values)

    @property
    def rows(self) -> Rows:
        """The rows."""
        rows = self._rows_ref()
        if rows is None:
            raise ReferenceError("the rows of these sums are gone; hold them while you ask for sums")
        return rows

    def within(self, k: int | None) -> Array:
        """Return the sum of each query's values at ranks up to ``k`` (None: all), shape (queries,).

        Values are added up as in ``Rows.total_within``, so that a metric does not depend on what else is asked. Two
        hundred metrics at many cutoffs take 4 times as long as ten, not 8 times.
        """
        rows = self.rows
        if k is None or k >= rows.deepest or not rows.counts_all_cutoffs:
            return rows.total_within(k, self.values)
        n, (running, total) = rows.count_within(k), self._running
        return np.where(n == rows.count, total, running[n, np.arange(rows.n_queries)])

    @computed_once
    def _running(self) -> tuple[Array, Array]:
        """The sums of the first 0, 1, 2 ... values of each query, shape (values + 1, queries), and of all of them."""
        rows, at = self.rows, self.rows.up_to(self.rows.last_cutoff)
        cells = np.zeros((rows.last_cutoff + 1, rows.n_queries))
        cells[rows.position[at], rows.query[at]] = self.values[at]
        return np.add.accumulate(cells, axis=0), rows.total(self.values)


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
    return -cells[rows.has_row]
