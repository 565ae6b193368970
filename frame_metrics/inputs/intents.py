"""Documents that are relevant to the single subtopics of queries: where they stand, and the best order of them."""

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
    starts : where the judgments of each document begin below, shape (documents,).
    lengths : how many there are, shape (documents,).
    number : the subtopic of each judgment, among those of its query from 0, rising within a document.
    grade : of each judgment, NaN where only its label is known.
    label : 1 relevant, 0 not, NaN where only its grade is known; None where the grade decides.
    name : the place of each document's id among all, shape (documents,).
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
        """Return the subtopics that documents are relevant to: the place of each one's document, and its number."""
        length = self.lengths[document]
        at = spans(self.starts[document], length)
        good = self.grade[at] >= rel if self.label is None else self.label[at] == 1
        return np.repeat(np.arange(len(document)), length)[good], self.number[at[good]]


class Intents(Remembers):
    """Relevance to the subtopics of each query; a row stands for a document and one subtopic.

    A subtopic that no document is relevant to is none.

    Parameters
    ----------
    found : the retrieved documents with each subtopic that they are relevant to, its number as the value.
    query : the query of each relevant document and subtopic, retrieved or not, shape (rows,).
    document : a number of the document, the same for its rows, which stand together, shape (rows,).
    number : of the subtopic, among those of its query, shape (rows,).

    Of each query those come first whose ids are the last.
    """

    def __init__(self, found: Rows, query: Array, document: Array, number: Array) -> None:
        self._width = int(number.max(initial=0)) + 1
        self._query, self._document, self._cell = query, document, query * self._width + number
        self._found = found
        self._seen_cell = found.query * self._width + found.value.astype(np.int64)
        self._relevant = np.bincount(self._cell, minlength=found.n_queries * self._width)

    @kept
    def seen(self) -> Rows:
        """The retrieved documents with each subtopic that they are relevant to.

        The value is how many documents above are relevant to the same subtopic.
        """
        order = np.argsort(self._seen_cell, kind="stable")
        cell = self._seen_cell[order]
        above = np.empty(len(order))
        above[order] = np.arange(len(order)) - np.searchsorted(cell, cell)
        return self._found.like(above)

    @kept
    def relevant(self) -> Array:
        """Documents that are relevant to the subtopic of each row of ``seen``, retrieved or not, shape (rows,)."""
        return self._relevant[self._seen_cell]

    @kept
    def count(self) -> Array:
        """Subtopics that a document is relevant to, shape (queries,)."""
        return np.count_nonzero(self._relevant.reshape(-1, self._width), axis=1)

    def ideal(self, alpha: float, k: int | None = None) -> Rows:
        """Return the order that has the most gain at each rank in turn, of ranks up to ``k`` (None: all) at least.

        The value is as in ``seen``, and (1 - alpha) to the power of it the gain of a row. Of documents with equal gains
        the one with the last id comes first. Another order may be better; the best is not found in a short time.
        """
        depth = None if k is None else 1 << max((k - 1).bit_length(), 4)
        return self.once((alpha, depth), lambda: self._greedy(alpha, depth))

    def _greedy(self, alpha: float, depth: int | None) -> Rows:
        """The order of at most ``depth`` documents, found rank by rank for all queries at once."""
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
