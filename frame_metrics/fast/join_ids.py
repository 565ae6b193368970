"""Match rows of a log ("ours") with judgments ("theirs") of the same query and document.

A few rows are matched by a dict, others by hashes of their ids. Hashes only find candidates: two rows match if their
ids are equal.
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

SLOTS = 4  # number of slots for each judgment in a hash table
ROWS_LOOKED_UP = 1 << 16  # number of rows that are looked up at a time


@record
class ByQuery:
    """The rows of a table of judgments, query by query."""

    keys: pl.DataFrame  # the key values of each query, a row for each
    starts: Array  # where the rows of each query begin, shape (queries,)
    lengths: Array  # number of rows of each query, shape (queries,)
    order: Array | None  # the row at each position; None where they are the same


def can_compare_in_python(log: pl.DataFrame, judgments: pl.DataFrame | None) -> bool:
    """Return True if ids of log and judgments should be compared as values of Python, not by hashes.

    This needs few rows, for which the threads that compute hashes in polars take longer to start than to work; and
    types whose values Python compares as polars does.
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


def pairs_of_few_rows(ours: pl.DataFrame, theirs: pl.DataFrame, keys: list[str]) -> tuple[Array, Array]:
    """Return the rows of two small tables with equal ids, in pairs; the ids of ``theirs`` have to be distinct."""
    our_ids, their_ids = (zip(*(table[key].to_list() for key in keys), strict=True) for table in (ours, theirs))
    row_of = {ids: row for row, ids in enumerate(their_ids)}
    found = np.array([row_of.get(ids, NONE) for ids in our_ids], np.int64)
    at = np.flatnonzero(found >= 0)
    return at, found[at]


def pairs_of_rows(ours: pl.DataFrame, theirs: pl.DataFrame, by_query: ByQuery) -> tuple[Array, Array]:
    """Return the rows of two large tables with equal ids, in pairs, in any order.

    Both tables have the hash of each document in the column "hash".
    """
    keys, order, lengths = by_query.keys.columns, by_query.order, by_query.lengths
    our_hashes, their_hashes = (table["hash"] for table in (ours, theirs))
    query = _query_codes(ours, by_query)
    if query is None:
        for seed, key in enumerate(keys, start=1):
            our_hashes, their_hashes = our_hashes ^ id_hash(ours[key], seed), their_hashes ^ id_hash(theirs[key], seed)
    some, others = our_hashes.to_numpy(), their_hashes.to_numpy()
    others = others if order is None else others[order]
    at, place = _pairs_by_join(some, others) if query is None else _pairs_by_table(query, some, lengths, others)
    # Keep the pairs whose ids are equal: different ids may have equal hashes.
    judgment = place if order is None else order[place]
    our_rows, their_rows = row_numbers(at), row_numbers(judgment)
    unequal = np.any([differ(ours[key][our_rows], theirs[key][their_rows]) for key in (*keys, "doc")], axis=0)
    return (at[~unequal], judgment[~unequal]) if unequal.any() else (at, judgment)


def _pairs_by_join(ours: Array, theirs: Array) -> tuple[Array, Array]:
    """Return the positions of equal hashes in two arrays, in pairs."""
    some = _rows_likely_equal(ours, theirs)
    our_table, their_table = (pl.DataFrame({"hash": hashes}).with_row_index("at") for hashes in (ours[some], theirs))
    pairs = our_table.join(their_table, on="hash", suffix=" of theirs")
    return some[pairs["at"].to_numpy()], pairs["at of theirs"].to_numpy()


def _pairs_by_table(query: Array, ours: Array, lengths: Array, theirs: Array) -> tuple[Array, Array]:
    """Return the positions of hashes in two arrays that are equal and of one query, in pairs.

    It takes half the time of a join, for a million rows of which those of a query are adjacent.

    Parameters
    ----------
    query : the code of the query of each of our hashes; that of a query without judgments is ``len(lengths)``.
    lengths : how many of their hashes each query has.
    theirs : their hashes, query by query.
    """
    their_query = np.repeat(np.arange(len(lengths)), lengths)
    # Positions of our hashes that are still to look up, and of their hashes that were in no table yet.
    at, left = np.arange(len(ours)), np.arange(len(theirs))
    ours, theirs = np.maximum(ours, 1), np.maximum(theirs, 1)  # 0 marks a free slot
    found = [np.zeros((2, 0), np.int64)]
    while len(left) and len(at):
        table = _HashTable(their_query[left], theirs[left], len(lengths))
        hit, place, rest = table.look_up(query, ours)
        found.append(np.stack([at[hit], left[place]]))
        at, query, ours, left = at[rest], query[rest], ours[rest], left[table.lost]
    at, place = np.concatenate(found, axis=1)
    return at, place


def _query_codes(ours: pl.DataFrame, by_query: ByQuery) -> Array | None:
    """Return the code of each row's query; all queries without judgments have one more than the last code.

    None if the rows of a query are not adjacent: then finding the codes takes longer than hashing the queries.
    """
    keys, n = by_query.keys, len(ours)
    starts = run_starts(ours, keys.columns)
    if starts is None or 2 * len(starts) > n:
        return None
    each = codes(pl.concat([keys, rows_at(ours, keys.columns, starts)]), keys.columns)[0][len(keys) :]
    return np.repeat(np.minimum(each, len(keys)), np.diff(starts, append=n))


def _rows_likely_equal(ours: Array, theirs: Array) -> Array:
    """Return the positions in ``ours`` whose hash may be in ``theirs``, by the lowest bits of the hashes."""
    mask = np.uint64((1 << max(16 * len(theirs), 1024).bit_length()) - 1)
    is_theirs = np.zeros(int(mask) + 1, bool)
    is_theirs[theirs & mask] = True
    rows: list[Array] = [np.zeros(0, np.int64)] * (-(-len(ours) // threads.BLOCK) or 1)

    def work(block: int) -> None:
        begin = block * threads.BLOCK
        rows[block] = np.flatnonzero(is_theirs[ours[begin : begin + threads.BLOCK] & mask]) + begin

    threads.in_threads(range(len(rows)), work)
    return np.concatenate(rows)


class _HashTable:
    """Hashes of judgments, those of a query side by side.

    Rows of a query that are adjacent are therefore looked up in a small part of the table, in the cache. Each judgment
    has one slot. Of several with the same slot the last one is in the table; the others are ``lost``: they go into the
    table of the next round.

    Parameters
    ----------
    queries, hashes : the code of each judgment's query, ascending, and its hash, which is not 0.
    n : number of queries.
    """

    def __init__(self, queries: Array, hashes: Array, n: int) -> None:
        each = np.arange(len(queries))
        self._width = SLOTS * np.bincount(queries, minlength=n + 1)  # number of slots of each query
        # A query without judgments, such as code n of all unjudged queries, has the last slot, which stays free.
        self._begin = np.where(self._width > 0, self._width.cumsum() - self._width, SLOTS * len(each))
        self._place, self._hash = (np.zeros(SLOTS * len(each) + 1, kind) for kind in (np.int64, np.uint64))
        slot = self._slots(queries, hashes)
        self._place[slot], self._hash[slot] = each, hashes
        self.lost = np.flatnonzero(self._place[slot] != each)
        self._equal_hashes = bool((self._hash[slot[self.lost]] == hashes[self.lost]).any())

    def _slots(self, queries: Array, hashes: Array) -> Array:
        """Return the slot of each hash, by its lowest 32 bits, among the slots of its query."""
        slot = hashes & np.uint64(0xFFFFFFFF)
        slot *= self._width[queries].view(np.uint64)
        slot >>= np.uint64(32)
        return slot.view(np.int64) + self._begin[queries]

    def look_up(self, queries: Array, hashes: Array) -> tuple[Array, Array, Array]:
        """Return the rows whose hash is in the table, its place among the judgments, and the rows to look up further.

        To look up further are the rows that met another hash in their slot; and, if two judgments of a query have
        equal hashes, the rows that met their own too, since it may be the hash of another id.
        """
        blocks: list[Any] = [(np.zeros(0, np.int64),) * 3] * (-(-len(queries) // ROWS_LOOKED_UP) or 1)

        def work(block: int) -> None:
            begin = block * ROWS_LOOKED_UP
            rows = slice(begin, begin + ROWS_LOOKED_UP)
            slot, hashed = self._slots(queries[rows], hashes[rows]), hashes[rows]
            met = self._hash[slot]
            hit = np.flatnonzero(met == hashed)
            further = (met > 0) & (self._equal_hashes | (met != hashed)) if len(self.lost) else met[:0]
            blocks[block] = hit + begin, self._place[slot[hit]], np.flatnonzero(further) + begin

        threads.in_threads(range(len(blocks)), work)
        hit, place, rest = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return hit, place, rest
