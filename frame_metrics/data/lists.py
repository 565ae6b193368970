"""The documents of rankings in rank order, as codes, for comparing rankings with each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from frame_metrics.data.log import Block, Log
from frame_metrics.fast.codes import sparse_codes
from frame_metrics.inputs import Array, TwoRankings
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import spans


@record
class RankedDocuments:
    """The documents that each ranking retrieved, in rank order.

    The last ranking is empty. Its index -1 stands for a ranking that a system lacks.
    """

    starts: Array  # where each ranking begins in ``doc``, shape (rankings + 1,)
    lengths: Array  # number of documents that each ranking retrieved, shape (rankings + 1,)
    doc: Array  # the code of each document, equal for equal ids, shape (rows,)
    first: Array | None  # the first rank of each document's tie, shape (rows,); None if there are no ties

    def pairs(self, one: Array, other: Array) -> TwoRankings:
        """Find the documents common to the rankings of each pair; ``one``, ``other``: their indices, pair by pair."""
        (rows, keys), (their_rows, their_keys) = self._rows(one), self._rows(other)
        order = np.argsort(their_keys)
        known = np.append(their_keys[order], -1)  # -1 is the key of no document
        at = np.searchsorted(known[:-1], keys)
        common = np.flatnonzero(known[at] == keys)
        query, rank, first, last = np.stack([rows[:, common], their_rows[:, order[at[common]]]], axis=1)
        ties = None if self.first is None else (rows[2], their_rows[2])
        return TwoRankings(np.array([self.lengths[one], self.lengths[other]]), query[0], rank, first, last, ties)

    def are_disjoint(self, n: int) -> bool:
        """Return True if the first ``n`` rankings and the rest both have documents, and none in common."""
        parts = (slice(n), slice(n, None))
        ours, theirs = (self.doc[spans(self.starts[part], self.lengths[part])] for part in parts)
        in_first = np.zeros(int(self.doc.max(initial=0)) + 1, bool)
        in_first[ours] = True
        return bool(len(ours) and len(theirs) and not in_first[theirs].any())

    def _rows(self, rankings: Array) -> tuple[Array, Array]:
        """Describe each document of some rankings.

        Returns
        -------
        The ranking (as a position in ``rankings``), the rank, and the first and last rank of the tie of each document,
        shape (4, documents); and a code of ranking and document together, shape (documents,).
        """
        lengths = self.lengths[rankings]
        query, at = np.repeat(np.arange(len(rankings)), lengths), spans(self.starts[rankings], lengths)
        key = query * (int(self.doc.max(initial=0)) + 1) + self.doc[at]
        rank = at - np.repeat(self.starts[rankings], lengths) + 1
        if self.first is None:
            return np.array([query, rank, rank, rank]), key
        first, row = self.first[at], np.arange(len(at))
        first_row = row - (rank - first)  # of each row's tie
        size_of_tie = np.bincount(first_row, minlength=len(at))  # of the tie that begins in a row
        return np.array([query, rank, first, first + size_of_tie[first_row] - 1]), key


def lists_of(logs: Sequence[Log], docs: Sequence[pl.Series]) -> RankedDocuments:
    """Return the rankings of some logs, log after log; equal scores are ordered by the tie rule of each log.

    ``docs``: the document ids of the rows of each log, all of one type.
    """
    ends = np.cumsum([0, *map(len, docs)])
    doc, listed = sparse_codes(pl.concat(docs)).to_numpy(), np.zeros((2, ends[-1]), np.int64)
    tied, lengths = [], []
    for log, begin, end in zip(logs, ends[:-1], ends[1:], strict=True):
        lengths.append(np.zeros(len(log.grid.rankings.lengths), np.int64))
        tied.append(_fill(listed[:, begin:end], lengths[-1], log, doc[begin:end]))
    starts = [log.grid.rankings.starts + begin for log, begin in zip(logs, ends[:-1], strict=True)]
    first = listed[1] if any(tied) else None
    return RankedDocuments(np.concatenate([*starts, [0]]), np.concatenate([*lengths, [0]]), listed[0], first)


def _fill(listed: Array, n_ret: Array, log: Log, doc: Array) -> bool:
    """Fill ``listed`` (documents, and first ranks of their ties) and ``n_ret`` (number of documents of each ranking).

    Returns True if some retrieved documents are tied; this is looked for only with ``ties="expected"``.
    """
    rankings, expected = log.grid.rankings, log.conventions.ties == "expected"
    doc_at_place = doc if rankings.row is None else doc[rankings.row]
    tied: list[bool] = []

    def work(block: Block) -> None:
        view, at = block.view, rankings.places(block.rankings)
        docs, n_ret[block.rankings] = view.ordered(doc_at_place[at]), view.n_ret
        row = np.arange(len(docs))
        if expected and (equal := view.equal_to_next()).any():
            tied.append(True)
            row[1:] = np.maximum.accumulate(np.where(equal, 0, row[1:]))
        listed[:, at] = docs, row - np.repeat(np.cumsum(view.lengths) - view.lengths, view.lengths) + 1

    log.for_each_sorted_block(work, order="documents")
    return bool(tied)
