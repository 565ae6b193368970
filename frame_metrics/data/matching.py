"""Match the rows of a log with the separate judgments, by query and document."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.answer import frame_of
from frame_metrics.data.blocks import differ, places, rows_at, run_starts
from frame_metrics.data.ids import id_hash, refuse_strangers
from frame_metrics.data.judgments import Judged
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE
from frame_metrics.roles.columns import Columns, judging


def lend(log: pl.DataFrame, judged: Judged) -> pl.DataFrame:
    """Return the log with its ids cast to the types of the judgments, and with segment columns that only these have.

    Such a column is null for a query without judgments.
    """
    kinds = {name: judged.pairs.get_column(name).dtype for name in (*judged.keys, "doc")}
    others: Any = {name: kinds[name] for name, kind in log.schema.items() if kinds.get(name, kind) != kind}
    log = log.cast(others) if others else log
    own = [key for key in judged.keys if key in log.columns]
    if len(own) == len(judged.keys):
        return log
    return log.join(judged.names.select(judged.keys), on=own, how="left", nulls_equal=True, maintain_order="left")


def match(
    log: pl.DataFrame, judged: Judged, query: list[str], columns: Columns, *, whole: bool, few: bool
) -> pl.DataFrame:
    """Return the log with the grade and label of each row from the judgments, NaN for an unjudged row.

    With subtopics it also gets the column "document", the number of the row's judgment.

    Parameters
    ----------
    query : inside names of the query columns.
    columns : the caller's names, for errors.
    whole : whether this is the whole log, not a piece of it. Then it is an error if no id matches.
    few : whether ids are compared without hashes, see ``are_few``.
    """
    values = judging(judged.pairs)
    keys = [*judged.keys, "doc"]
    log = frame_of({values.name: values for values in log.get_columns() if values.name not in ("grade", "label")})
    at, judgment = _of_few(log, judged, keys) if few else _of_many(log, judged, keys)
    if whole and not len(at) and not columns.relevant:  # with relevant=, it is possible that no document was found
        listed = judged.listed
        refuse_strangers(log, listed, query, ", ".join(columns.query))
        refuse_strangers(log, listed, ["doc"], str(columns.doc))
    out = {name: np.full(len(log), np.nan) for name in values}
    for name, column in out.items():
        column[at] = judged.pairs[name].to_numpy()[judgment]
    if judged.subtopics is not None:
        out["document"] = np.full(len(log), -1)
        out["document"][at] = judgment
    return log.hstack([pl.Series(name, column) for name, column in out.items()])


def _of_few(log: pl.DataFrame, judged: Judged, keys: list[str]) -> tuple[Array, Array]:
    """Return the judged rows of the log, and the row of the judgment of each."""
    ours, theirs = (zip(*(table[key].to_list() for key in keys), strict=True) for table in (log, judged.pairs))
    place = {ids: at for at, ids in enumerate(theirs)}
    found = np.array([place.get(ids, NONE) for ids in ours], np.int64)
    at = np.flatnonzero(found >= 0)
    return at, found[at]


def _of_many(log: pl.DataFrame, judged: Judged, keys: list[str]) -> tuple[Array, Array]:
    """Return the same by hashes; candidates with equal hashes are kept if their ids are equal."""
    at, judgment = _in_runs(log, judged) or _by_hash(log, judged)
    rows, theirs = places(at), places(judgment)
    odd = np.any([differ(log[key][rows], judged.pairs[key][theirs]) for key in keys], axis=0)
    return (at[~odd], judgment[~odd]) if odd.any() else (at, judgment)


def _by_hash(log: pl.DataFrame, judged: Judged) -> tuple[Array, Array]:
    """Return pairs of a row of the log and a judgment with equal hashes of query and document."""
    ours, theirs = (_pair_hash(table, judged.keys) for table in (log, judged.pairs))
    row = _likely(ours, theirs)
    at, judgment = _joined(ours[row], theirs)
    return row[at], judgment


def _in_runs(log: pl.DataFrame, judged: Judged) -> tuple[Array, Array] | None:
    """Return the same as ``_by_hash``, in half the time for a million rows, if the rows of a query stand together.

    There is one hash table with four slots for each judgment. Those of a query are side by side, and the hash of the
    document chooses one of them. So the lookups for one query stay in a small part of the table, in the cache. None if
    the rows of a query do not stand together, or if two judgments in one slot have the same hash.
    """
    starts, pool = run_starts(log, judged.keys), judged.pool
    if starts is None or not len(log) or 2 * len(starts) > len(log) or not len(judged.pairs):
        return None
    named = judged.names[judged.keys].with_row_index("judged")
    runs = rows_at(log, judged.keys, starts).join(
        named, on=judged.keys, how="left", nulls_equal=True, maintain_order="left"
    )
    query = np.nan_to_num(runs["judged"].to_numpy(), nan=len(named)).astype(np.int64)
    begin, many = np.append(pool.starts, 0), np.append(pool.lengths, 0)
    ours, theirs = log["hash"].to_numpy(), judged.pairs["hash"].to_numpy()
    theirs = theirs if judged.order is None else theirs[judged.order]
    of = np.repeat(np.arange(len(named)), pool.lengths)  # the query of each judgment
    each, slot = np.arange(len(of)), _slots(theirs, 4 * begin[of], 4 * many[of])
    table, held = np.full(4 * len(of), -1), np.zeros(4 * len(of), np.uint64)
    table[slot] = each
    held[slot] = theirs
    # Of several judgments in one slot the last is kept. The others are ``lost``, and looked up by hash in the end.
    lost = np.flatnonzero(table[slot] != each)
    if (held[slot[lost]] == theirs[lost]).any() or not theirs.all():  # a hash of 0 would look like a free slot
        return None
    found, unsure = [np.zeros((2, 0), np.int64)], [np.zeros((2, 0), np.int64)]

    def work(some: slice) -> None:
        length = np.diff(np.append(starts[some], starts[some.stop] if some.stop < len(starts) else len(log)))
        first, own = int(starts[some.start]), np.repeat(query[some], length)
        mine = ours[first : first + len(own)]
        slot = _slots(mine, np.repeat(4 * begin[query[some]], length), np.repeat(4 * many[query[some]], length))
        there = held[slot]
        row = np.flatnonzero(there == mine)
        place = table[slot[row]]
        row, place = (values[(place >= 0) & (of[place] == own[row])] for values in (row, place))
        found.append(np.stack([row + first, place]))
        if len(lost):
            rest = np.flatnonzero((there != mine) & (there > 0))
            unsure.append(np.stack([rest + first, own[rest]]))

    step = max(len(starts) * (threads.BLOCK >> 2) // max(len(log), 1), 1)
    threads.in_threads((slice(a, min(a + step, len(starts))) for a in range(0, len(starts), step)), work)
    row, own = np.concatenate(unsure, axis=1)
    if len(row):
        mixed, others = ours[row] ^ _mixed(own), theirs[lost] ^ _mixed(of[lost])
        few = _likely(mixed, others)
        at, judgment = _joined(mixed[few], others)
        same = own[few[at]] == of[lost[judgment]]
        found.append(np.stack([row[few[at]], lost[judgment]])[:, same])
    at, place = np.concatenate(found, axis=1)
    return at, place if judged.order is None else judged.order[place]


def _slots(hashes: Array, begin: Array, many: Array) -> Array:
    """Return a slot for each hash, from ``begin`` to ``begin + many`` - 1."""
    slot = hashes & np.uint64(0xFFFFFFFF)
    slot *= many.view(np.uint64)
    slot >>= np.uint64(32)
    return slot.view(np.int64) + begin


def _mixed(number: Array) -> Array:
    """Spread the bits of numbers, so that they can be combined with hashes by xor."""
    return number.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


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


def _joined(ours: Array, theirs: Array) -> tuple[Array, Array]:
    """Return all pairs of positions in two arrays that have equal hashes."""
    both = (pl.DataFrame({"hash": hashes}).with_row_index("at") for hashes in (ours, theirs))
    pairs = next(both).join(next(both), on="hash", how="inner", suffix="_theirs")
    return pairs["at"].to_numpy(), pairs["at_theirs"].to_numpy()
