"""Relevance of documents to the subtopics of queries, and the ideal order of documents by it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frame_metrics.inputs.cached_arrays import CachesByKey, computed_once, make_read_only
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, Rows, begins_run, spans

MASKED = 63  # number of subtopics from which on a set of them is no single integer, and each document is a group
MOST_UNGROUPED = 64  # number of relevant documents of a query up to which each is a group


@record
class Subtopics:
    """The judgments of documents for single subtopics of their queries, document by document.

    Parameters
    ----------
    starts : where the judgments of each document begin in the arrays of judgments, shape (documents,).
    lengths : number of judgments of each document, shape (documents,).
    subtopic : the code of each judgment's subtopic, from 0 in each query, rising within a document.
    grade : the grade of each judgment, NaN if only its label is known.
    label : the label of each judgment: 1 relevant, 0 not, NaN if only its grade is known; None if grades decide.
    id_rank : the sort rank of each document's id among all ids, shape (documents,).
    """

    starts: Array
    lengths: Array
    subtopic: Array
    grade: Array
    label: Array | None
    id_rank: Array

    def __post_init__(self) -> None:
        make_read_only(self)

    def relevant(self, document: Array, rel: float) -> tuple[Array, Array]:
        """Return a row for each document and subtopic that it is relevant to.

        ``document``: indices of documents, positions in ``starts``; ``rel``: the least relevant grade.

        Returns
        -------
        Of each row the position of its document in ``document``, and the code of its subtopic.
        """
        length = self.lengths[document]
        at = spans(self.starts[document], length)
        good = self.grade[at] >= rel if self.label is None else self.label[at] == 1
        return np.repeat(np.arange(len(document)), length)[good], self.subtopic[at[good]]


class Intents(CachesByKey):
    """Relevance to the subtopics of each query; a row is a document and a subtopic that it is relevant to.

    A subtopic without a relevant document is not counted.

    Parameters
    ----------
    found : the rows of retrieved documents; their value is the code of the subtopic.
    query : the query of each row of all relevant documents, retrieved or not, shape (rows,).
    document : the code of each such row's document, shape (rows,). Rows of a document are adjacent, and the documents
        of a query are in the descending order of their ids.
    subtopic : the code of each such row's subtopic, among those of its query, shape (rows,).
    """

    def __init__(self, found: Rows, query: Array, document: Array, subtopic: Array) -> None:
        self._n_subtopics = int(subtopic.max(initial=0)) + 1
        # A cell is a subtopic of a query, of which ``_relevant`` counts the relevant documents.
        self._query, self._document, self._cell = query, document, query * self._n_subtopics + subtopic
        self._found = found
        self._seen_cell = found.query * self._n_subtopics + found.value.astype(np.int64)
        self._relevant = np.bincount(self._cell, minlength=found.n_queries * self._n_subtopics)

    @computed_once
    def seen(self) -> Rows:
        """The rows of retrieved documents; the value counts documents above that are relevant to the same subtopic."""
        order = np.argsort(self._seen_cell, kind="stable")
        cell = self._seen_cell[order]
        above = np.empty(len(order))
        above[order] = np.arange(len(order)) - np.searchsorted(cell, cell)
        return self._found.with_values(above)

    @computed_once
    def relevant(self) -> Array:
        """Number of documents, retrieved or not, relevant to the subtopic of each row of ``seen``, shape (rows,)."""
        return self._relevant[self._seen_cell]

    @computed_once
    def count(self) -> Array:
        """Number of subtopics of each query that have a relevant document, shape (queries,)."""
        return np.count_nonzero(self._relevant.reshape(-1, self._n_subtopics), axis=1)

    def ideal(self, alpha: float, k: int | None = None) -> Rows:
        """Return the greedy ideal order, down to rank ``k`` at least (None: all).

        Each rank gets the document with the greatest gain of those left; of equal ones, that with the last id. Values
        are as in ``seen``; the gain of a row is (1 - alpha) to the power of its value. The greedy order need not be the
        best one, which would take too long to find.
        """
        depth = None if k is None else 1 << max((k - 1).bit_length(), 4)
        return self.cached((alpha, depth), lambda: self._greedy(alpha, depth))

    def _greedy(self, alpha: float, depth: int | None) -> Rows:
        """Return the order of at most ``depth`` documents of each query, found rank by rank for all queries at once.

        Documents that are relevant to the same subtopics gain the same, and are one group, from which they are taken by
        falling id. So the time for a rank grows with the number of groups, not of documents.
        """
        groups = _Groups.of(self._query, self._document, self._cell, self._n_subtopics)
        above = np.zeros_like(self._relevant)  # number of documents taken so far for each subtopic of each query
        gain_by_value = np.multiply.accumulate(np.append(1.0, np.full(int(self._relevant.max(initial=0)), 1 - alpha)))
        parts, rank = [], 0
        while len(groups.query) and rank != depth:
            rank += 1
            chosen = groups.best(np.bincount(groups.group, gain_by_value[above[groups.cell]]))
            taken = groups.cell[chosen[groups.group]]
            parts.append(np.stack([taken, np.full(len(taken), rank), above[taken]]))
            above[taken] += 1
            groups = groups.without(chosen)
        taken, ranks, before = np.concatenate([np.zeros((3, 0), np.int64), *parts], axis=1)
        order = np.argsort(query := taken // self._n_subtopics, kind="stable")
        return Rows(query[order], ranks[order], before[order].astype(np.float64), self._found.n_queries)


@record
class _Groups:
    """Documents of queries that are relevant to the same subtopics, as long as some of them are left."""

    query: Array  # the query of each group, rising, shape (groups,)
    next: Array  # the place in ``documents`` of the next document of each group, shape (groups,)
    end: Array  # the place after the last document of each group, shape (groups,)
    documents: Array  # the documents group by group, as numbers; of documents with equal gains the least is taken first
    cell: Array  # the subtopics of each group's documents, a code of query and subtopic each, shape (rows,)
    group: Array  # the group of each of these subtopics, rising, shape (rows,)

    @classmethod
    def of(cls, query: Array, document: Array, cell: Array, n_subtopics: int) -> _Groups:
        """Group documents; the parameters are those of ``Intents``, with ``cell`` for query and subtopic."""
        starts = np.flatnonzero(begins_run(document))
        query_of_document = query[starts]
        order = subtopics = np.arange(len(starts))
        if n_subtopics < MASKED and np.bincount(query_of_document).max(initial=0) > MOST_UNGROUPED:
            subtopics = np.bitwise_or.reduceat(np.int64(1) << (cell - query * n_subtopics), starts)
            order = np.lexsort((subtopics, query_of_document))
        begin = np.flatnonzero(begins_run(query_of_document[order], subtopics[order]))
        first, lengths = order[begin], np.diff(starts, append=len(cell))
        cells = cell[spans(starts[first], lengths[first])]
        group = np.repeat(np.arange(len(first)), lengths[first])
        return cls(query_of_document[first], begin, np.append(begin[1:], len(order)), order, cells, group)

    def best(self, gain: Array) -> Array:
        """Mark the group of each query that gains most; of equal ones, that whose next document comes first.

        ``gain``: the gain of each group, shape (groups,).
        """
        starts = np.flatnonzero(begins_run(self.query))
        most = np.flatnonzero(gain == np.repeat(np.maximum.reduceat(gain, starts), np.diff([*starts, len(gain)])))
        first, begins = self.documents[self.next[most]], np.searchsorted(most, starts)
        least = np.repeat(np.minimum.reduceat(first, begins), np.diff([*begins, len(most)]))
        out = np.zeros(len(gain), bool)
        out[most[first == least]] = True
        return out

    def without(self, chosen: Array) -> _Groups:
        """Return the groups that are left when the next document of the chosen groups is taken; ``chosen``: marks."""
        after = self.next + chosen
        left = after < self.end
        if left.all():
            return replace(self, next=after)
        stays = left[self.group]
        group = (np.cumsum(left) - 1)[self.group[stays]]
        return replace(
            self, query=self.query[left], next=after[left], end=self.end[left], cell=self.cell[stays], group=group
        )
