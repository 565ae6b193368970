"""Columns become rankings: the rows of each query found, and cut into blocks of whole queries."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from typing import Any

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.answer import frame_of
from frame_metrics.data.laying import by_number
from frame_metrics.errors import bad_rows
from frame_metrics.inputs import Array, Pool
from frame_metrics.inputs.rows import EXACT, as_grid, spans, sums_between
from frame_metrics.roles.series import TEXTS

LOOKED_AT = 1 << 20  # rows that are compared at a time
INDEX = np.uint32 if pl.get_index_type() == pl.UInt32 else np.uint64  # the numbers of rows in polars


@dataclass(frozen=True, eq=False)
class RankingRows:
    """Every ranking's rows, laid end to end, in the order of the rankings' first appearance."""

    first_row: Array  # row of the frame where each ranking first appears, shape (rankings,)
    starts: Array  # where each ranking's rows begin below, shape (rankings,)
    lengths: Array  # how many there are, shape (rankings,)
    row: Array | None  # row of the frame of each row below, shape (rows,); None where they are the same
    values: dict[str, Array]  # columns of rows by name, shape (rows,) each; NaN is null
    # Values by name of rankings without rows, NaN of the others, shape (rankings,).
    said: dict[str, Array] = field(default_factory=dict)

    def rows_of(self, places: Array) -> Array:
        """Return the rows of the frame at places below."""
        return places if self.row is None else self.row[places]

    def places(self, block: slice | Array) -> slice | Array:
        """Return the places below of the rows of some rankings; neighbours stand together."""
        lengths, starts = self.lengths[block], self.starts[block]
        if not isinstance(block, slice):
            return spans(starts, lengths)
        begin = int(starts[0]) if len(starts) else 0
        return slice(begin, begin + int(lengths.sum()))

    def with_bare(self, bare: pl.DataFrame, place: Array) -> RankingRows:
        """Return these rankings, and one without rows for each row of ``bare``, in the order of their places.

        ``place`` is that of each row below and then of each of ``bare``.
        """
        n, m = len(place) - len(bare), len(self.first_row)
        first = np.append(self.first_row, n + np.arange(len(bare)))
        order = np.argsort(place[first], kind="stable")
        lengths = np.append(self.lengths, np.zeros(len(bare), np.int64))[order]
        nothing = np.full(m, np.nan)
        said = {name: np.append(nothing, to_array(bare[name]))[order] for name in self.values if name in bare.columns}
        return replace(self, first_row=first[order], starts=lengths.cumsum() - lengths, lengths=lengths, said=said)

    def count(self, rows: Array) -> Array:
        """Count the marked rows below that each ranking has, shape (rankings,)."""
        return sums_between(rows, self.starts, self.starts + self.lengths)


@dataclass(frozen=True, eq=False)
class Pools:
    """The judged documents of each ranking's query, where they are kept beside the results."""

    starts: Array  # where each ranking's documents begin below, shape (rankings,)
    lengths: Array  # how many there are, shape (rankings,)
    grade: Array  # of each document below
    label: Array | None  # of each document below; None where the grade decides
    document: Array | None = None  # its number among those of ``Subtopics``; None where there are none

    def of(self, block: slice | Array) -> Pool:
        """Return the judged documents of some rankings."""
        lengths = self.lengths[block]
        at = spans(self.starts[block], lengths)
        label, document = (None if held is None else held[at] for held in (self.label, self.document))
        return Pool(np.repeat(np.arange(len(lengths)), lengths), in_double(self.grade[at]), label, document)


def find_rankings(
    frame: pl.DataFrame, keys: Sequence[str], values: Sequence[str], *, rows: bool = False
) -> RankingRows:
    """Lay the rows of each ranking end to end.

    A log whose equal keys all stand together is taken as it is.

    Parameters
    ----------
    frame : the checked columns.
    keys : columns that make a ranking.
    values : columns to lay out.
    rows : whether single rows will be asked for.
    """
    n, laid_out = len(frame), {name: to_array(frame.get_column(name)) for name in values}
    starts = None if keys and n <= threads.ONE_BY_ONE else run_starts(frame, keys)
    if starts is not None and (not keys or _all_differ(frame, keys, starts)):
        return RankingRows(starts, starts, np.append(starts[1:], n) - starts, None, laid_out)
    slot, number, starts = _numbered(frame, keys)
    held = laid_out | ({"": np.arange(n, dtype=INDEX)} if rows else {})
    lengths, laid_out = by_number(slot, number, len(starts), held)
    return RankingRows(starts, lengths.cumsum() - lengths, lengths, laid_out.pop("", None), laid_out)


def to_array(values: pl.Series) -> Array:
    """Return a column as an array, null as NaN."""
    out = values.to_numpy()
    return out.astype(np.float64) if out.dtype == object else out


def in_double(values: Array) -> Array:
    """Return floats as float64, in which everything is computed; what else there is as it is."""
    return values.astype(np.float64, copy=False) if values.dtype.kind == "f" else values


def rows_at(frame: pl.DataFrame, names: Iterable[str], rows: Array) -> pl.DataFrame:
    """Return rows of some columns, taken one by one: those of all at once start threads, which costs a small call."""
    at = places(rows)
    return frame_of({name: frame.get_column(name)[at] for name in names})


def places(rows: Array) -> pl.Series:
    """Return numbers of rows in the type in which polars takes them: of an array it makes that anew for each column."""
    return pl.Series(rows.astype(INDEX, copy=False))


def run_starts(frame: pl.DataFrame, keys: Sequence[str]) -> Array | None:
    """Return the rows where the keys change; None where they change too often for equal keys to stand together."""
    n = len(frame)
    if not keys or not n:
        return np.zeros(min(n, 1), np.int64)
    changed = reduce(np.logical_or, (differ(key.slice(1), key.slice(0, n - 1)) for key in map(frame.get_column, keys)))
    if n >= 1000 and np.count_nonzero(changed) * 2 > n:
        return None
    return np.concatenate([[0], np.flatnonzero(changed) + 1])


def differ(one: pl.Series, other: pl.Series) -> Array:
    """True where values of two columns of one type differ; nulls are alike, bool, shape (rows,)."""
    dtype = one.dtype
    if dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128) and not (one.null_count() or other.null_count()):
        return one.to_numpy() != other.to_numpy()
    plain = dtype.is_numeric() or dtype.is_temporal() or isinstance(dtype, (*TEXTS, pl.Boolean))
    if not plain or one.null_count() or other.null_count():
        return one.ne_missing(other).to_numpy()
    return (one != other).to_numpy()  # no expression, which costs a small call more


def _all_differ(frame: pl.DataFrame, keys: Sequence[str], rows: Array) -> bool:
    """Return True where the keys of some rows are all different."""
    # one column is several times as fast; a frame's own n_unique is a plan, which may run within one of the caller's
    own = frame[keys[0]][places(rows)] if len(keys) == 1 else frame[list(keys)][rows].to_struct()
    return own.n_unique() == len(rows)


def codes(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[Array, Array]:
    """Number the values of columns in the order of their first appearance; without columns all rows are alike.

    Returns
    -------
    The number of each row, shape (rows,), and the row where each number first appears.
    """
    if not columns:
        return np.zeros(len(frame), np.int64), np.zeros(1, np.int64)
    slot, number, first = _numbered(frame, columns)
    return number[slot].astype(np.int64), first


def _numbered(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[Array, Array, Array]:
    """Number the values of columns, of which each has a slot.

    Returns
    -------
    The slot of each row, shape (rows,), the number of each slot, and the row where each number first appears.
    """
    n, key = len(frame), frame.get_column(columns[0])
    near = None if n <= threads.SMALL or len(columns) > 1 or key.null_count() else _from_zero(key, 2 * n)
    slot = first_alike(frame, columns) if near is None else near.to_numpy()
    first = np.flatnonzero(slot == np.arange(n)) if near is None else _first_rows(slot)
    number = np.zeros(int(slot.max(initial=-1)) + 1, np.min_scalar_type(len(first)))
    number[slot[first]] = np.arange(len(first))
    return slot, number, first


def _first_rows(slot: Array) -> Array:
    """The row where each slot that has one first appears, ascending; those of few slots stand near the beginning."""
    size, n = int(slot.max()) + 1, len(slot)
    held, n = (np.count_nonzero(np.bincount(slot)), max(n >> 5, threads.BLOCK)) if size < n >> 3 else (1, n)
    begin, first = np.empty(size, INDEX), slot[:0]
    while len(first) < held:
        some = slot[:n]
        row = np.arange(len(some), dtype=INDEX)
        begin[some[::-1]] = row[::-1]  # of rows in one slot the first is written last, and stays
        first, n = np.flatnonzero(begin[some] == row), 8 * n
    return first


def first_alike(frame: pl.DataFrame, columns: Sequence[str]) -> Array:
    """Return for each row the first one that has the same values of some columns, shape (rows,)."""
    n, keys = len(frame), [frame.get_column(name) for name in columns]
    if n <= threads.SMALL and all(key.dtype.is_integer() or isinstance(key.dtype, TEXTS) for key in keys):
        place: dict[Any, int] = {}
        rows = zip(*(key.to_list() for key in keys), strict=True)
        return np.array([place.setdefault(row, at) for at, row in enumerate(rows)], np.int64)
    slot = _hash_slots(frame[list(columns)])
    begin, first, row = np.empty(int(slot.max(initial=0)) + 1, INDEX), np.empty(n, np.int64), np.arange(n, dtype=INDEX)
    while len(row):
        begin[slot[::-1]] = row[::-1]
        held = begin[slot]
        first[slice(None) if len(row) == n else row] = held
        # Rows of other values wait for the next round; the first of a slot never does, so that this ends.
        wait = np.flatnonzero(_others(keys, row, held) & (row != held))
        row, slot = row[wait], slot[wait]
    return first


def _others(keys: Sequence[pl.Series], row: Array, held: Array) -> Array:
    """True where rows and others differ in some column, looked at by parts so that few values stand in memory twice."""
    out, every = np.empty(len(row), bool), len(row) == len(keys[0])
    for part in (slice(a, a + LOOKED_AT) for a in range(0, len(row), LOOKED_AT)):
        one, other = part if every else places(row[part]), places(held[part])
        out[part] = reduce(np.logical_or, (differ(key[one], key[other]) for key in keys))
    return out


def _hash_slots(keys: pl.DataFrame) -> Array:
    """A number for each row, below some four times their number: equal for equal rows, and seldom for others."""
    bits = max((2 * len(keys)).bit_length(), 1)
    return (keys.hash_rows().to_numpy() >> np.uint64(64 - bits)).view(np.int64)


def numbers(values: pl.Series) -> pl.Series:
    """Return different numbers for different values, none of which is past what a float64 tells apart."""
    near = _from_zero(values, EXACT)
    return pl.Series(values.name, codes(values.to_frame(), [values.name])[0]) if near is None else near


def n_different(values: pl.Series, hashes: pl.Series) -> int:
    """Count the different ones of fewer than 2^32 values, by half of their hashes, in whose order equal ones meet.

    Of many texts that takes a quarter of what ``n_unique`` takes, and a half of what numbering them takes.
    """
    key = np.sort((hashes.to_numpy().astype(np.uint64) << 32) | np.arange(len(values), dtype=np.uint64))
    row, key = key.astype(np.uint32), key >> 32
    near = np.flatnonzero(key[1:] == key[:-1])
    # Where neighbours differ, and have one hash all the same, equal ones need not be neighbours.
    odd = np.unique(key[near[differ(values[places(row[near])], values[places(row[near + 1])])]])
    start, end = (np.searchsorted(key, odd, side) for side in ("left", "right"))
    return len(key) - len(near) - len(odd) + values[places(row[spans(start, end - start)])].n_unique()


def _from_zero(values: pl.Series, most: int) -> pl.Series | None:
    """Integers from 0 for values that are stored as integers, null where null; None where they exceed ``most``."""
    plain = values if values.dtype.is_integer() else values.to_physical()
    if plain.dtype.is_integer() and plain.dtype not in (pl.Int128, pl.UInt128):
        low, high = plain.min(), plain.max()
        if isinstance(low, int) and isinstance(high, int) and high - low <= most:
            plain = plain if plain.dtype == pl.UInt64 else plain.cast(pl.Int64)
            return (plain - low if low else plain).cast(pl.Int64)
    return None


def _cut(size: Array) -> tuple[Array | None, list[tuple[int, int]]]:
    """Cut rankings into blocks.

    Returns
    -------
    An order of the rankings, None for their own, and the blocks as slices of it. Rankings of one block are of
    similar size, so that a grid as wide as its longest ranking is never much larger than the block.
    """
    n = len(size)
    if not n:
        return None, []
    most = max(int(size.max()), 1)
    if n * most <= threads.BLOCK:
        return None, [(0, n)]
    room = threads.block_of(int(size.sum()))
    if most <= 1.5 * max(int(size.min()), 1) + 8:
        step = max(room // most, 1)
        return None, [(a, min(a + step, n)) for a in range(0, n, step)]
    order = np.argsort(size, kind="stable")
    ascending = size[order].tolist()
    blocks, a = [], 0
    while a < n:
        # as many as have room in a grid, which is as wide as the last of them
        b = a + max(bisect_right(range(a + 1, n + 1), room, key=lambda b: (b - a) * ascending[b - 1]), 1)
        blocks.append((a, b))
        a = b
    return order, blocks


@cache
def _keep_memory() -> None:
    """Let go of a large array once, after which the allocator of Linux keeps what arrays of blocks had for the next.

    Without it each gives its pages back and takes new ones, which can take as long as all that is worked out.
    """
    np.empty(1 << 24, np.uint8)


def each_block(size: Array, work: Callable[[slice | Array], None]) -> None:
    """Call ``work`` with the rankings of each block, blocks side by side."""
    _keep_memory()
    order, blocks = _cut(size)
    threads.in_threads((slice(a, b) if order is None else order[a:b] for a, b in blocks), work)


def find_duplicates(rankings: RankingRows, frame: pl.DataFrame, keys: Sequence[str]) -> Array:
    """Return the rows of the frame that repeat a document of their ranking, which ``keys`` make, ascending.

    Of many rows ``hash`` is among the values.
    """
    if "hash" not in rankings.values:
        return np.flatnonzero(first_alike(frame, [*keys, "doc"]) != np.arange(len(frame)))
    doc = frame["doc"]
    again: list[Array] = []

    def work(block: slice | Array) -> None:
        lengths, starts = rankings.lengths[block], rankings.starts[block]
        low = rankings.values["hash"][rankings.places(block)] >> 1
        none = np.iinfo(low.dtype).max
        grid = as_grid(low, lengths, none)
        grid.sort(axis=1)
        equal = (grid[:, 1:] == grid[:, :-1]) & (grid[:, 1:] != none)
        suspects = np.flatnonzero(equal.any(axis=1))
        if len(suspects):
            rows = rankings.rows_of(spans(starts[suspects], lengths[suspects]))
            seen = pl.DataFrame({"query": np.repeat(suspects, lengths[suspects]), "doc": doc.gather(rows)})
            again.append(rows[~seen.select(pl.struct("query", "doc").is_first_distinct()).to_series().to_numpy()])

    each_block(rankings.lengths, work)
    return np.sort(np.concatenate(again)) if again else np.zeros(0, np.int64)


def constant(values: Array, rankings: RankingRows, column: str) -> Array:
    """Return the one value that each ranking's rows have, NaN for a ranking without rows, or where none says it."""
    first = np.full(len(rankings.lengths), np.nan)
    some = rankings.lengths > 0
    first[some] = values[rankings.starts[some]]
    at = spans(rankings.starts, rankings.lengths)
    differs = np.flatnonzero(values[at] != np.repeat(first, rankings.lengths))
    wrong = at[differs[~np.isnan(values[at[differs]])]]
    if len(wrong):
        rows = np.sort(rankings.rows_of(wrong))
        raise bad_rows(column, rows, len(values), "differ from another row of their query", "give each query one value")
    return first
