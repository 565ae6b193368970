"""Match rows of a log with judgments of the same query and document: by hashes, or, if they are few, by a dict.

Hashes only find candidates. Two rows match if their ids are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.fast.codes import codes
from frame_metrics.fast.equal_rows import differ, run_starts
from frame_metrics.fast.take_rows import row_numbers, rows_at
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.roles.series import TEXTS

SLOTS = 4  # slots for each judgment in a hash table
LOOKED_UP = 1 << 16  # rows that are looked up at a time


@record
class ByQuery:
    """The rows of a table of judgments, query by query."""

    names: pl.DataFrame  # the keys of each query
    starts: Array  # where the rows of each query begin, shape (queries,)
    lengths: Array  # number of rows of each query, shape (queries,)
    order: Array | None  # the row at each position; None where they are the same


def are_few(log: pl.DataFrame, judgments: pl.DataFrame | None) -> bool:
    """Return True if ids of log and judgments should be compared as values of Python, not by hashes.

    They should if there are few rows, because polars computes hashes in threads, and starting them slows small calls;
    and if Python compares values of their types as polars does.
    """
    both = [log] if judgments is None else [log, judgments]
    plain = (pl.Boolean, pl.Date, pl.Null, *TEXTS)  # no times: those of Python have no nanoseconds
    return sum(map(len, both)) <= threads.ONE_BY_ONE and all(
        kind.is_numeric() or isinstance(kind, plain) for table in both for kind in table.dtypes
    )


def id_hash(ids: pl.Series, seed: int = 0) -> pl.Series:
    """Return a hash of each id that depends on the id alone; that of a category is the hash of its text."""
    ids = ids if ids.dtype == pl.String or not isinstance(ids.dtype, TEXTS) else ids.cast(pl.String)
    return ids.to_frame().hash_rows(seed)  # the same as hash(), which is a plan of polars


def joined_few(ours: pl.DataFrame, theirs: pl.DataFrame, keys: list[str]) -> tuple[Array, Array]:
    """Return pairs of a row of one table and the row of the other with equal ids, which are distinct there."""
    mine, other = (zip(*(table[key].to_list() for key in keys), strict=True) for table in (ours, theirs))
    place = {ids: at for at, ids in enumerate(other)}
    found = np.array([place.get(ids, NONE) for ids in mine], np.int64)
    at = np.flatnonzero(found >= 0)
    return at, found[at]


def joined(ours: pl.DataFrame, theirs: pl.DataFrame, by_query: ByQuery) -> tuple[Array, Array]:
    """Return pairs of rows with equal ids, in any order, of large tables with the hash of each document ("hash")."""
    keys, order, lengths = by_query.names.columns, by_query.order, by_query.lengths
    hashes, others = (table["hash"] for table in (ours, theirs))
    query = _queries(ours, by_query)
    if query is None:
        for seed, key in enumerate(keys, start=1):
            hashes, others = hashes ^ id_hash(ours[key], seed), others ^ id_hash(theirs[key], seed)
    hashed, other = hashes.to_numpy(), others.to_numpy()
    other = other if order is None else other[order]
    if query is None:
        at, place = _of_equal_hash(hashed, other)
    else:
        at, place = _looked_up(query, hashed, lengths, other)
    # Keep the pairs whose ids are really equal: hashes of different ids may be.
    judgment = place if order is None else order[place]
    one, two = row_numbers(at), row_numbers(judgment)
    odd = np.any([differ(ours[key][one], theirs[key][two]) for key in (*keys, "doc")], axis=0)
    return (at[~odd], judgment[~odd]) if odd.any() else (at, judgment)


def _of_equal_hash(ours: Array, theirs: Array) -> tuple[Array, Array]:
    """Return pairs of positions in two arrays of hashes that are equal."""
    some = _likely(ours, theirs)
    mine, other = (pl.DataFrame({"hash": hashes}).with_row_index("at") for hashes in (ours[some], theirs))
    pairs = mine.join(other, on="hash", suffix=" of theirs")
    return some[pairs["at"].to_numpy()], pairs["at of theirs"].to_numpy()


def _looked_up(query: Array, ours: Array, lengths: Array, theirs: Array) -> tuple[Array, Array]:
    """Return pairs of positions in two arrays of hashes that are equal, in one query.

    It takes half the time of a join, for a million rows of which those of a query are adjacent.

    Parameters
    ----------
    query : the number of the query of each of our hashes; that of a query without judgments is ``len(lengths)``.
    lengths : how many of their hashes each query has, which stand query by query.
    """
    of, at, left = np.repeat(np.arange(len(lengths)), lengths), np.arange(len(ours)), np.arange(len(theirs))
    ours, theirs = np.maximum(ours, 1), np.maximum(theirs, 1)  # 0 marks a free slot
    found = [np.zeros((2, 0), np.int64)]
    while len(left) and len(at):
        table = _HashTable(of[left], theirs[left], len(lengths))
        hit, place, rest = table.look_up(query, ours)
        found.append(np.stack([at[hit], left[place]]))
        at, query, ours, left = at[rest], query[rest], ours[rest], left[table.lost]
    at, place = np.concatenate(found, axis=1)
    return at, place


def _queries(ours: pl.DataFrame, by_query: ByQuery) -> Array | None:
    """Return the number of each row's query, one more than the last for queries without judgments.

    None if the rows of a query are not adjacent: then numbering queries takes longer than hashes of them.
    """
    names, n = by_query.names, len(ours)
    starts = run_starts(ours, names.columns)
    if starts is None or 2 * len(starts) > n:
        return None
    each = codes(pl.concat([names, rows_at(ours, names.columns, starts)]), names.columns)[0][len(names) :]
    return np.repeat(np.minimum(each, len(names)), np.diff(starts, append=n))


def _likely(ours: Array, theirs: Array) -> Array:
    """Return the positions in ``ours`` whose hash may be in ``theirs``, by the lowest bits of the hashes."""
    low = np.uint64((1 << max(16 * len(theirs), 1024).bit_length()) - 1)
    marked = np.zeros(int(low) + 1, bool)
    marked[theirs & low] = True
    rows: list[Array] = [np.zeros(0, np.int64)] * (-(-len(ours) // threads.BLOCK) or 1)

    def work(block: int) -> None:
        begin = block * threads.BLOCK
        rows[block] = np.flatnonzero(marked[ours[begin : begin + threads.BLOCK] & low]) + begin

    threads.in_threads(range(len(rows)), work)
    return np.concatenate(rows)


class _HashTable:
    """Hashes of judgments, those of a query side by side.

    So rows of a query that are adjacent are looked up in a small part of the table, in the cache. Each judgment has
    one slot. Of several with the same slot the last one is in the table; the others are ``lost``, and go into another.

    Parameters
    ----------
    queries, hashes : the number of each judgment's query, ascending, and its hash, which is not 0.
    n : number of queries.
    """

    def __init__(self, queries: Array, hashes: Array, n: int) -> None:
        each = np.arange(len(queries))
        self._width = SLOTS * np.bincount(queries, minlength=n + 1)
        # A query without judgments, as that of rows of no judged query, has the last slot, which stays free.
        self._begin = np.where(self._width > 0, self._width.cumsum() - self._width, SLOTS * len(each))
        self._place, self._hash = (np.zeros(SLOTS * len(each) + 1, kind) for kind in (np.int64, np.uint64))
        slot = self._slots(queries, hashes)
        self._place[slot], self._hash[slot] = each, hashes
        self.lost = np.flatnonzero(self._place[slot] != each)
        self._twice = bool((self._hash[slot[self.lost]] == hashes[self.lost]).any())

    def _slots(self, queries: Array, hashes: Array) -> Array:
        """Return the slot of each hash, by its lowest 32 bits, among the slots of its query."""
        slot = hashes & np.uint64(0xFFFFFFFF)
        slot *= self._width[queries].view(np.uint64)
        slot >>= np.uint64(32)
        return slot.view(np.int64) + self._begin[queries]

    def look_up(self, queries: Array, hashes: Array) -> tuple[Array, Array, Array]:
        """Return the rows whose hash is in the table, its place among the judgments, and the rows to look up further.

        The last are the rows that found another hash; if two judgments of a query have equal hashes, also those that
        found theirs, as it may be that of another id.
        """
        blocks: list[Any] = [(np.zeros(0, np.int64),) * 3] * (-(-len(queries) // LOOKED_UP) or 1)

        def work(block: int) -> None:
            begin = block * LOOKED_UP
            rows = slice(begin, begin + LOOKED_UP)
            slot, hashed = self._slots(queries[rows], hashes[rows]), hashes[rows]
            there = self._hash[slot]
            hit = np.flatnonzero(there == hashed)
            on = (there > 0) & (self._twice | (there != hashed)) if len(self.lost) else there[:0]
            blocks[block] = hit + begin, self._place[slot[hit]], np.flatnonzero(on) + begin

        threads.in_threads(range(len(blocks)), work)
        hit, place, rest = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return hit, place, rest
