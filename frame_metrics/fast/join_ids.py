"""Match rows of a log with judgments of the same query and document: by hashes, or, if they are few, by a dict.

Hashes only find candidates. Two rows match if their ids are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.fast.equal_rows import differ, run_starts
from frame_metrics.fast.take_rows import places, rows_at
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE, spans
from frame_metrics.roles.series import TEXTS

JOINED = 1 << 16  # about how many rows and judgments are joined at a time: the hash table of polars stays in cache


@dataclass(frozen=True, eq=False)
class ByQuery:
    """The rows of a table of judgments, query by query."""

    names: pl.DataFrame  # the keys of each query
    starts: Array  # where the rows of each query begin, shape (queries,)
    lengths: Array  # number of rows of each query, shape (queries,)
    order: Array | None  # the row at each position; None where they are the same

    def rows(self, queries: Array) -> Array:
        """Return the rows of some queries."""
        at = spans(self.starts[queries], self.lengths[queries])
        return at if self.order is None else self.order[at]


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
    """Return the same, in any order, for tables of many rows, in which "hash" is the hash of each document.

    If the rows of a query stand together, blocks of whole queries are joined one by one, in half the time or less.
    """
    query = by_query.names.columns
    hashes, others = (_pair_hash(table, query) for table in (ours, theirs))
    found = [np.zeros((2, 0), np.int64)]

    def work(block: tuple[slice, Array | slice]) -> None:
        rows, judgments = block
        mine, other = hashes[rows], others[judgments]
        likely = _likely(mine, other)
        at, judgment = _equal(mine[likely], other)
        at, judgment = likely[at] + rows.start, judgment if isinstance(judgments, slice) else judgments[judgment]
        found.append(np.stack([at, judgment]))

    threads.in_threads(_blocks(ours, by_query), work)
    at, judgment = np.concatenate(found, axis=1)
    one, other = places(at), places(judgment)
    odd = np.any([differ(ours[key][one], theirs[key][other]) for key in (*query, "doc")], axis=0)
    return (at[~odd], judgment[~odd]) if odd.any() else (at, judgment)


def _blocks(ours: pl.DataFrame, by_query: ByQuery) -> list[tuple[slice, Array | slice]]:
    """Return the rows of each block, and those of the other table with the same queries.

    All in one block if the rows of a query do not stand together, or the judgments would be joined many times.
    """
    whole: list[tuple[slice, Array | slice]] = [(slice(0, len(ours)), slice(None))]
    names, starts = by_query.names, run_starts(ours, by_query.names.columns)
    if starts is None or len(ours) <= JOINED:
        return whole
    runs = rows_at(ours, names.columns, starts)
    at = runs.join(names.with_row_index("at"), on=names.columns, how="left", nulls_equal=True, maintain_order="left")
    query = at["at"].fill_null(len(names)).to_numpy().astype(np.int64)
    many = np.append(by_query.lengths, 0)[query]
    if many.sum() > max(2 * by_query.lengths.sum(), len(ours)):
        return whole
    ends = np.append(starts[1:], len(ours))
    block = (ends + many.cumsum()) // JOINED
    first = np.flatnonzero(np.append(True, block[1:] != block[:-1]))
    queries = (np.unique(some[some < len(names)]) for some in np.split(query, first[1:]))
    rows = zip(starts[first].tolist(), ends[np.append(first[1:], len(ends)) - 1].tolist(), strict=True)
    return [(slice(*some), by_query.rows(own)) for some, own in zip(rows, queries, strict=True)]


def _pair_hash(frame: pl.DataFrame, keys: list[str]) -> Array:
    """Return a hash of the keys and the document of each row."""
    mixed = frame["hash"]
    for seed, key in enumerate(keys, start=1):
        mixed = mixed ^ id_hash(frame[key], seed)
    return mixed.to_numpy()


def _likely(ours: Array, theirs: Array) -> Array:
    """Return the positions in ``ours`` whose hash may be in ``theirs``, by the lowest bits of the hashes.

    This fast filter leaves few rows for the join.
    """
    low = np.uint64((1 << max(16 * len(theirs), 1024).bit_length()) - 1)
    marked = np.zeros(int(low) + 1, bool)
    marked[theirs & low] = True
    rows: list[Array] = [np.zeros(0, np.int64)] * (len(ours) // threads.BLOCK + 1)

    def work(block: int) -> None:
        begin = block * threads.BLOCK
        rows[block] = np.flatnonzero(marked[ours[begin : begin + threads.BLOCK] & low]) + begin

    threads.in_threads(range(len(rows)), work)
    return np.concatenate(rows)


def _equal(ours: Array, theirs: Array) -> tuple[Array, Array]:
    """Return all pairs of positions in two arrays that have equal hashes."""
    both = (pl.DataFrame({"hash": hashes}).with_row_index("at") for hashes in (ours, theirs))
    pairs = next(both).join(next(both), on="hash", how="inner", suffix="_theirs")
    return pairs["at"].to_numpy(), pairs["at_theirs"].to_numpy()
