"""Find the rows of each ranking, lay them end to end, and cut the rankings into blocks of whole queries."""

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
INDEX = np.uint32 if pl.get_index_type() == pl.UInt32 else np.uint64  # the type in which polars numbers rows


@dataclass(frozen=True, eq=False)
class RankingRows:
    """The rows of all rankings, laid end to end, in the order in which the rankings first appear.

    A *place* is a position in ``row`` and in the arrays of ``values``. A *row* is a row number of the frame.
    """

    first_row: Array  # row of the frame where each ranking first appears, shape (rankings,)
    starts: Array  # the first place of each ranking, shape (rankings,)
    lengths: Array  # number of rows of each ranking, shape (rankings,)
    row: Array | None  # row of the frame at each place, shape (rows,); None where row and place are the same
    values: dict[str, Array]  # columns by name, a value for each place, shape (rows,) each; NaN is null
    # By the name of a column: the value that a ranking without rows has, NaN for rankings with rows, shape (rankings,).
    said: dict[str, Array] = field(default_factory=dict)

    def rows_of(self, places: Array) -> Array:
        """Return the row of the frame at each place."""
        return places if self.row is None else self.row[places]

    def places(self, block: slice | Array) -> slice | Array:
        """Return the places of the rows of some rankings, ranking by ranking; a slice for a slice."""
        lengths, starts = self.lengths[block], self.starts[block]
        if not isinstance(block, slice):
            return spans(starts, lengths)
        begin = int(starts[0]) if len(starts) else 0
        return slice(begin, begin + int(lengths.sum()))

    def with_bare(self, bare: pl.DataFrame, place: Array) -> RankingRows:
        """Return these rankings and, for each row of ``bare``, a ranking without rows, ordered by ``place``.

        Parameters
        ----------
        bare : a row for each query without results.
        place : a sort key of each row of the log, then of each row of ``bare``: where it stood in the caller's frame.
        """
        n, m = len(place) - len(bare), len(self.first_row)
        first = np.append(self.first_row, n + np.arange(len(bare)))
        order = np.argsort(place[first], kind="stable")
        lengths = np.append(self.lengths, np.zeros(len(bare), np.int64))[order]
        nothing = np.full(m, np.nan)
        said = {name: np.append(nothing, to_array(bare[name]))[order] for name in self.values if name in bare.columns}
        return replace(self, first_row=first[order], starts=lengths.cumsum() - lengths, lengths=lengths, said=said)

    def count(self, rows: Array) -> Array:
        """Count the marked rows of each ranking, shape (rankings,); ``rows``: the marks, one for each place."""
        return sums_between(rows, self.starts, self.starts + self.lengths)


@dataclass(frozen=True, eq=False)
class Pools:
    """The judged documents of each ranking's query, laid end to end, where they are kept beside the results.

    Rankings of one query share its documents, so that their starts are equal.
    """

    starts: Array  # where each ranking's documents begin in the arrays of documents, shape (rankings,)
    lengths: Array  # number of judged documents of each ranking, shape (rankings,)
    grade: Array  # of each document
    label: Array | None  # of each document; None where the grade decides what is relevant
    document: Array | None = None  # the number of each document in ``Subtopics``; None where there are no subtopics

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

    Where the rows of each ranking already stand together, the columns are used as they are.

    Parameters
    ----------
    frame : the checked columns.
    keys : columns whose values, together, identify a ranking.
    values : columns to lay out.
    rows : whether row numbers of the frame will be needed later, as errors need them.
    """
    n, laid_out = len(frame), {name: to_array(frame.get_column(name)) for name in values}
    if keys and n <= threads.ONE_BY_ONE:  # a call of ten rows takes 4 % less than by the way of large logs
        alike = first_alike(frame, keys)
        starts = np.flatnonzero(alike == np.arange(n))
        lengths = np.bincount(alike)[starts]
        if not np.count_nonzero(alike[1:] < alike[:-1]):
            return RankingRows(starts, starts, lengths, None, laid_out)
        order = alike.argsort(kind="stable")
        laid_out = {name: held[order] for name, held in laid_out.items()}
        return RankingRows(starts, lengths.cumsum() - lengths, lengths, order if rows else None, laid_out)
    run = run_starts(frame, keys)
    if run is not None and (not keys or _all_differ(frame, keys, run)):
        return RankingRows(run, run, np.append(run[1:], n) - run, None, laid_out)
    slot, number, starts = _numbered(frame, keys)
    held = laid_out | ({"": np.arange(n, dtype=INDEX)} if rows else {})
    lengths, laid_out = by_number(slot, number, len(starts), held)
    return RankingRows(starts, lengths.cumsum() - lengths, lengths, laid_out.pop("", None), laid_out)


def to_array(values: pl.Series) -> Array:
    """Return a column as an array, null as NaN."""
    out = values.to_numpy()
    return out.astype(np.float64) if out.dtype == object else out


def in_double(values: Array) -> Array:
    """Return floats as float64, the type of all computations; other types unchanged."""
    return values.astype(np.float64, copy=False) if values.dtype.kind == "f" else values


def rows_at(frame: pl.DataFrame, names: Iterable[str], rows: Array) -> pl.DataFrame:
    """Return some rows of some columns.

    Column by column: polars takes rows of a whole frame in threads, and starting them slows small calls.
    """
    at = places(rows)
    return frame_of({name: frame.get_column(name)[at] for name in names})


def places(rows: Array) -> pl.Series:
    """Return row numbers in the type that polars needs, so that it does not convert the array for each column."""
    return pl.Series(rows.astype(INDEX, copy=False))


def run_starts(frame: pl.DataFrame, keys: Sequence[str]) -> Array | None:
    """Return the rows where a run of equal keys begins.

    None if there are 1,000 rows or more and over half of them begin a run: then equal keys hardly stand together.
    """
    n = len(frame)
    if not keys or not n:
        return np.zeros(min(n, 1), np.int64)
    changed = reduce(np.logical_or, (differ(key.slice(1), key.slice(0, n - 1)) for key in map(frame.get_column, keys)))
    if n >= 1000 and np.count_nonzero(changed) * 2 > n:
        return None
    return np.concatenate([[0], np.flatnonzero(changed) + 1])


def differ(one: pl.Series, other: pl.Series) -> Array:
    """Mark the rows where two columns of one type differ, bool, shape (rows,); a null equals a null."""
    dtype = one.dtype
    if dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128) and not (one.null_count() or other.null_count()):
        return one.to_numpy() != other.to_numpy()
    plain = dtype.is_numeric() or dtype.is_temporal() or isinstance(dtype, (*TEXTS, pl.Boolean))
    if not plain or one.null_count() or other.null_count():
        return one.ne_missing(other).to_numpy()
    return (one != other).to_numpy()  # no expression, which costs a small call more


def _all_differ(frame: pl.DataFrame, keys: Sequence[str], rows: Array) -> bool:
    """Return True if no two of some rows have equal keys."""
    # A single column is several times as fast. n_unique of a frame is avoided: it runs a plan of polars, perhaps within
    # a plan of the caller.
    own = frame[keys[0]][places(rows)] if len(keys) == 1 else frame[list(keys)][rows].to_struct()
    return own.n_unique() == len(rows)


def codes(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[Array, Array]:
    """Number the distinct values of columns by first appearance; without columns all rows have number 0.

    Returns
    -------
    The number of each row, shape (rows,), and the row where each number first appears.
    """
    if not columns:
        return np.zeros(len(frame), np.int64), np.zeros(1, np.int64)
    slot, number, first = _numbered(frame, columns)
    return number[slot].astype(np.int64), first


def _numbered(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[Array, Array, Array]:
    """Number the distinct values of columns by first appearance, by way of slots.

    Rows with equal values have one slot. Slots are found fast, but have gaps and no order: a slot is the value itself,
    counted from the smallest, for integers that lie close together; otherwise the first row with the same values.

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
    """Return the first row of each slot that is used, ascending.

    If there are few slots, their first rows are likely to stand near the beginning. So the beginning is searched first,
    and then 8 times as many rows, until every used slot is found.
    """
    size, n = int(slot.max()) + 1, len(slot)
    held, n = (np.count_nonzero(np.bincount(slot)), max(n >> 5, threads.BLOCK)) if size < n >> 3 else (1, n)
    begin, first = np.empty(size, INDEX), slot[:0]
    while len(first) < held:
        some = slot[:n]
        row = np.arange(len(some), dtype=INDEX)
        begin[some[::-1]] = row[::-1]  # backwards, so that the first row of a slot is written last, and stays
        first, n = np.flatnonzero(begin[some] == row), 8 * n
    return first


def first_alike(frame: pl.DataFrame, columns: Sequence[str]) -> Array:
    """Return for each row the first row with the same values in some columns, shape (rows,)."""
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
        # Rows whose values differ from those of the first row in their slot (a hash collision) wait for the next round.
        # That first row itself never waits, so each round settles a row at least, and the loop ends.
        wait = np.flatnonzero(_others(keys, row, held) & (row != held))
        row, slot = row[wait], slot[wait]
    return first


def _others(keys: Sequence[pl.Series], row: Array, held: Array) -> Array:
    """Mark the rows that differ from their counterpart in some column, bool, shape (len(row),).

    Parameters
    ----------
    keys : the columns.
    row, held : rows to compare: ``row[i]`` with ``held[i]``. They are compared in parts, so that little is copied.
    """
    out, every = np.empty(len(row), bool), len(row) == len(keys[0])
    for part in (slice(a, a + LOOKED_AT) for a in range(0, len(row), LOOKED_AT)):
        one, other = part if every else places(row[part]), places(held[part])
        out[part] = reduce(np.logical_or, (differ(key[one], key[other]) for key in keys))
    return out


def _hash_slots(keys: pl.DataFrame) -> Array:
    """Return a short hash of each row, below about four times the number of rows: equal for equal rows."""
    bits = max((2 * len(keys)).bit_length(), 1)
    return (keys.hash_rows().to_numpy() >> np.uint64(64 - bits)).view(np.int64)


def numbers(values: pl.Series) -> pl.Series:
    """Return a number for each value: equal for equal values only, and small enough to be exact as a float64."""
    near = _from_zero(values, EXACT)
    return pl.Series(values.name, codes(values.to_frame(), [values.name])[0]) if near is None else near


def n_different(values: pl.Series, hashes: pl.Series) -> int:
    """Count the distinct ones of fewer than 2^32 values, by sorting half of their hashes: equal ones become neighbours.

    For many texts this takes a quarter of the time of ``n_unique``, and half the time of numbering them.
    """
    key = np.sort((hashes.to_numpy().astype(np.uint64) << 32) | np.arange(len(values), dtype=np.uint64))
    row, key = key.astype(np.uint32), key >> 32
    near = np.flatnonzero(key[1:] == key[:-1])
    # If different neighbours have equal hashes (a collision), equal values with this hash need not be neighbours.
    odd = np.unique(key[near[differ(values[places(row[near])], values[places(row[near + 1])])]])
    start, end = (np.searchsorted(key, odd, side) for side in ("left", "right"))
    return len(key) - len(near) - len(odd) + values[places(row[spans(start, end - start)])].n_unique()


def _from_zero(values: pl.Series, most: int) -> pl.Series | None:
    """Return values that are stored as integers (numbers, dates ...) less the smallest of them; null stays null.

    None if they are not stored as integers, or if the largest would exceed ``most``.
    """
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
    An order of the rankings (None: as they are), and the begin and end of each block in that order. Rankings of one
    block are of similar size, so that a grid with a row for each ranking, as wide as the longest, has few empty cells.
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
        # As many rankings as fit into a grid of ``room`` cells. It is as wide as the last of them, the longest.
        b = a + max(bisect_right(range(a + 1, n + 1), room, key=lambda b: (b - a) * ascending[b - 1]), 1)
        blocks.append((a, b))
        a = b
    return order, blocks


@cache
def _keep_memory() -> None:
    """Allocate and free a large array once, which makes the allocator of Linux keep freed memory for later arrays.

    Without this, the arrays of each block give their memory back to the system and ask for it anew, which can take as
    long as the computation.
    """
    np.empty(1 << 24, np.uint8)


def each_block(size: Array, work: Callable[[slice | Array], None]) -> None:
    """Cut rankings of these sizes into blocks, and call ``work`` with the rankings of each block, in threads."""
    _keep_memory()
    order, blocks = _cut(size)
    threads.in_threads((slice(a, b) if order is None else order[a:b] for a, b in blocks), work)


def find_duplicates(rankings: RankingRows, frame: pl.DataFrame, keys: Sequence[str]) -> Array:
    """Return the rows of the frame that repeat a document of their ranking, ascending.

    If ``rankings`` have the column ``hash``, as those of large logs do, documents are compared only in rankings where
    two hashes are equal.

    Parameters
    ----------
    rankings : the rows, laid out.
    frame : the same rows, with the column "doc".
    keys : columns that identify a ranking.
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
    """Return the value that all rows of a ranking share, shape (rankings,).

    NaN if the ranking has no rows, or if they are all NaN.

    Parameters
    ----------
    values : of each row, as laid out in ``rankings``.
    column : the caller's name of the column, for the error.

    Raises
    ------
    BadRowsError
        Rows of one ranking have different values.
    """
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
