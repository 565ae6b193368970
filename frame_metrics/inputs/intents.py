"""Relevance of documents to the subtopics of queries, and the ideal order of documents by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frame_metrics.inputs.kept import Remembers, kept, seal
from frame_metrics.inputs.rows import Array, Rows, spans


@dataclass(frozen=True, eq=False)
class Subtopics:
    """The judgments of documents for single subtopics of their queries, document by document.

    Parameters
    ----------
    starts : where the judgments of each document begin in the arrays of judgments, shape (documents,).
    lengths : number of judgments of each document, shape (documents,).
    number : the number of each judgment's subtopic, from 0 in each query, rising within a document.
    grade : the grade of each judgment, NaN if only its label is known.
    label : 1 relevant, 0 not, NaN if only its grade is known; None if the grade decides.
    name : the sort rank of each document's id among all ids, shape (documents,).
    """

    starts: Array
    lengths: Array
    number: Array
    grade: Array
    label: Array | None
    name: Array

    def __post_init__(self) -> None:
        seal(self)

    def relevant(self, document: Array, rel: float) -> tuple[Array, Array]:
        """Return a row for each document and subtopic that it is relevant to.

        ``document``: numbers of documents, as positions in ``starts``; ``rel``: the least relevant grade.

        Returns
        -------
        The position of the document in ``document``, and the number of the subtopic.
        """
        length = self.lengths[document]
        at = spans(self.starts[document], length)
        good = self.grade[at] >= rel if self.label is None else self.label[at] == 1
        return np.repeat(np.arange(len(document)), length)[good], self.number[at[good]]


class Intents(Remembers):
    """Relevance to the subtopics of each query; a row is a document and a subtopic that it is relevant to.

    A subtopic without a relevant document is not counted.

    Parameters
    ----------
    found : the rows of retrieved documents; the value is the number of the subtopic.
    query : the query of each row, of all relevant documents, retrieved or not, shape (rows,).
    document : the number of each row's document; rows of a document stand together, shape (rows,). In a query,
        documents are in the descending order of their ids.
    number : the number of each row's subtopic, among those of its query, shape (rows,).
    """

    def __init__(self, found: Rows, query: Array, document: Array, number: Array) -> None:
        self._width = int(number.max(initial=0)) + 1
        self._query, self._document, self._cell = query, document, query * self._width + number
        self._found = found
        self._seen_cell = found.query * self._width + found.value.astype(np.int64)
        self._relevant = np.bincount(self._cell, minlength=found.n_queries * self._width)

    @kept
    def seen(self) -> Rows:
        """The rows of retrieved documents; the value counts the documents above, relevant to the same subtopic."""
        order = np.argsort(self._seen_cell, kind="stable")
        cell = self._seen_cell[order]
        above = np.empty(len(order))
        above[order] = np.arange(len(order)) - np.searchsorted(cell, cell)
        return self._found.like(above)

    @kept
    def relevant(self) -> Array:
        """Number of documents, retrieved or not, relevant to the subtopic of each row of ``seen``, shape (rows,)."""
        return self._relevant[self._seen_cell]

    @kept
    def count(self) -> Array:
        """Number of subtopics of each query that have a relevant document, shape (queries,)."""
        return np.count_nonzero(self._relevant.reshape(-1, self._width), axis=1)

    def ideal(self, alpha: float, k: int | None = None) -> Rows:
        """Return the greedy ideal order, down to rank ``k`` at least (None: all).

        Each rank gets the document with the greatest gain left; of equal ones the one with the last id. Values are
        defined as in ``seen``; the gain of a row is (1 - alpha) to the power of its value. The greedy order need not be
        the best one, which would take too long to find.
        """
        depth = None if k is None else 1 << max((k - 1).bit_length(), 4)
        return self.once((alpha, depth), lambda: self._greedy(alpha, depth))

    def _greedy(self, alpha: float, depth: int | None) -> Rows:
        """Return the order of at most ``depth`` documents of each query, found rank by rank for all queries at once."""
        cell, new = self._cell, np.diff(self._document, prepend=-1) != 0
        document, of = np.cumsum(new) - 1, self._query[new]
        above, parts = np.zeros(len(self._relevant), np.int64), []
        worth = np.multiply.accumulate(np.append(1.0, np.full(int(self._relevant.max(initial=0)), 1 - alpha)))
        rank = 0
        while len(of) and rank != depth:
            rank += 1
            gain = np.bincount(document, worth[above[cell]])
            starts = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
            most = np.flatnonzero(gain == np.repeat(np.maximum.reduceat(gain, starts), np.diff([*starts, len(of)])))
            left = np.ones(len(of), bool)
            left[most[np.searchsorted(most, starts)]] = False
            stays = left[document]
            taken = cell[~stays]
            parts.append(np.stack([taken, np.full(len(taken), rank), above[taken]]))
            above[taken] += 1
            document, cell, of = (np.cumsum(left) - 1)[document[stays]], cell[stays], of[left]
        taken, ranks, before = np.concatenate([np.zeros((3, 0), np.int64), *parts], axis=1)
        order = np.argsort(query := taken // self._width, kind="stable")
        return Rows(query[order], ranks[order], before[order].astype(np.float64), self._found.n_queries)
