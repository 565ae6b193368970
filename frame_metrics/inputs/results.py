"""The rows of many queries as they were listed and judged, laid end to end.

Everything here is about one *block*: some whole queries. A query is its index in the block, from 0.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from frame_metrics.inputs.rows import Array, Rows


class Results:
    """The results of each query in rank order, and the judged documents they are measured against.

    Parameters
    ----------
    grade : grade of each row, the rows of a query in rank order, those not retrieved last; NaN is unjudged.
    length : rows of each query, shape (n,).
    n_ret : retrieved rows of each query, shape (n,).
    rel : the least grade that is relevant.
    label : 1 relevant, 0 not, NaN not judged; None where the grade decides.
    shown : rank of each row as it was shown; None for 1, 2, 3 ...
    pool : query and grade (and label) of every judged document of the queries, where the rows are not all there is.
    known_relevant : relevant documents of each query where they are counted and not listed, shape (n,).
    size : documents in the collection, shape (n,).
    decision : 1 for each row that is predicted positive, 0 for the others, NaN without a prediction; None where what
        was retrieved is what was predicted.
    score : of each row, NaN where it has none; None where no metric reads scores.
    tie : the number of each row's tie, ascending, where equal scores are to stand in every order; else None.
    """

    def __init__(
        self,
        grade: Array,
        length: Array,
        n_ret: Array,
        *,
        rel: float = 1,
        label: Array | None = None,
        shown: Array | None = None,
        pool: tuple[Array, Array, Array | None] | None = None,
        known_relevant: Array | None = None,
        size: Array | None = None,
        decision: Array | None = None,
        score: Array | None = None,
        tie: Array | None = None,
    ) -> None:
        self.decision, self.score, self.tie = decision, score, tie
        self.grade, self.length, self.n_ret, self.rel = grade, length, n_ret, rel
        self.label, self.shown, self.pool = label, shown, pool
        self.known_relevant, self.size = known_relevant, size
        self.n = len(length)

    @cached_property
    def start(self) -> Array:
        """Where each query's rows begin, shape (n,)."""
        return np.cumsum(self.length) - self.length

    @cached_property
    def everything_retrieved(self) -> bool:
        return bool((self.n_ret == self.length).all())

    def query_of(self, row: Array) -> Array:
        """Return the query of each of the given rows, ascending, shape (rows,)."""
        if self.n and (self.length == self.length[0]).all() and self.length[0]:
            return row // self.length[0]
        return np.searchsorted(self.start, row, side="right") - 1

    def rows(self, row: Array, value: Array) -> Rows:
        """Return the retrieved ones of the given rows, in order, with their values."""
        query = self.query_of(row)
        rank = row - self.start[query] + 1
        if not self.everything_retrieved:
            kept = rank <= self.n_ret[query]
            row, query, rank, value = row[kept], query[kept], rank[kept], value[kept]
        return Rows(query, rank if self.shown is None else self.shown[row], value, self.n)

    @cached_property
    def _positive(self) -> tuple[Array, Array]:
        """Rows with a positive grade, and the grades."""
        row = np.flatnonzero(self.grade > 0)
        return row, self.grade[row]

    @cached_property
    def _relevant_row(self) -> Array:
        if self.label is not None:
            return np.flatnonzero(self.label == 1)
        if self.rel <= 0:
            return np.flatnonzero(self.grade >= self.rel)
        row, grade = self._positive
        enough = grade >= self.rel
        return row if enough.all() else row[enough]

    @cached_property
    def relevant(self) -> Rows:
        """The relevant documents that were retrieved."""
        row = self._relevant_row
        return self.rows(row, np.ones(len(row)))

    @cached_property
    def n_relevant(self) -> Array:
        """R: relevant documents of each query, retrieved or not, shape (n,)."""
        if self.known_relevant is not None:
            return self.known_relevant
        if self.pool is not None:
            query, grade, label = self.pool
            yes = grade >= self.rel if label is None else label == 1
            return np.bincount(query[yes], minlength=self.n)
        return self.listed_relevant

    @cached_property
    def listed_relevant(self) -> Array:
        """Relevant documents among the rows, retrieved or not, shape (n,)."""
        return (
            self.relevant.count
            if self.everything_retrieved
            else np.bincount(self.query_of(self._relevant_row), minlength=self.n)
        )

    @cached_property
    def _row_rank(self) -> Array:
        """Rank of every row; infinite for the rows that were not retrieved, shape (rows,)."""
        place: Array = np.arange(len(self.grade)) - np.repeat(self.start, self.length) + 1
        gone = place > np.repeat(self.n_ret, self.length)
        return np.where(gone, np.inf, place if self.shown is None else self.shown)

    @property
    def gaps(self) -> Array:
        """Whether a rank is missing among those shown, shape (n,)."""
        if self.shown is None:
            return np.zeros(self.n, bool)
        last = np.zeros(self.n, np.int64)
        some = self.n_ret > 0
        last[some] = self.shown[self.start[some] + self.n_ret[some] - 1]
        return last > self.n_ret

    @property
    def late(self) -> Array:
        """Whether the first rank that is shown is not 1, shape (n,)."""
        if self.shown is None:
            return np.zeros(self.n, bool)
        begins = np.zeros(self.n, bool)
        some = self.n_ret > 0
        begins[some] = self.shown[self.start[some]] > 1
        return begins

    @cached_property
    def judged(self) -> Array:
        """Which rows have a judgment, bool, shape (rows,)."""
        judgment = self.grade if self.label is None else self.label
        return ~np.isnan(judgment) if judgment.dtype.kind == "f" else np.ones(len(judgment), bool)

    @cached_property
    def fully_judged(self) -> bool:
        """Whether every row is judged relevant or not relevant, and all were retrieved."""
        known = (self.grade if self.label is None else self.label) >= min(self.rel, 0)
        return self.everything_retrieved and bool(known.all())

    @cached_property
    def nonrelevant(self) -> Array:
        """Which rows are judged not relevant, bool; a negative grade says nothing, shape (rows,)."""
        return (self.grade >= 0) & (self.grade < self.rel) if self.label is None else self.label == 0

    @cached_property
    def n_nonrelevant(self) -> Array:
        """N: documents judged not relevant, retrieved or not, shape (n,)."""
        if self.pool is None:
            if self.fully_judged:
                return self.length - self.listed_relevant
            return self.count_of(self.nonrelevant, None, retrieved=False)
        query, grade, label = self.pool
        no = (grade >= 0) & (grade < self.rel) if label is None else label == 0
        return np.bincount(query[no], minlength=self.n)

    def count_of(self, rows: Array, k: int | None, *, retrieved: bool = True) -> Array:
        """Return how many of the marked rows are at ranks up to ``k`` (None: any rank), shape (n,)."""
        if retrieved and not (k is None and self.everything_retrieved):
            rows = rows & (self._row_rank <= (k or np.finfo(float).max))
        down = np.concatenate([[0], np.cumsum(rows)])
        return down[self.start + self.length] - down[self.start]

    def tied_at(self, k: int | None) -> Array:
        """Return whether the results at ranks k and k + 1 have equal scores (None: any two results), shape (n,)."""
        score = np.zeros(0) if self.score is None else self.score
        equal = np.append(score[1:] == score[:-1], False)[: len(score)]
        if k is None:
            place = np.arange(len(score)) - np.repeat(self.start, self.length) + 1
            return self.count_of(equal & (place < np.repeat(self.n_ret, self.length)), None) > 0
        tied, deep = np.zeros(self.n, bool), self.n_ret > k
        tied[deep] = equal[self.start[deep] + k - 1]
        return tied

    def retrieved(self, k: int | None = None) -> Array:
        """Return how many documents are at ranks up to ``k`` (None: retrieved), shape (n,)."""
        if k is None:
            return self.n_ret
        return np.minimum(self.n_ret, k) if self.shown is None else self.count_of(np.ones(len(self.grade), bool), k)

    @cached_property
    def n_judged(self) -> Array:
        """Judged documents of each query, retrieved or not, shape (n,)."""
        if self.pool is not None:
            known = self.pool[1] if self.pool[2] is None else self.pool[2]
            return np.bincount(self.pool[0][~np.isnan(known)], minlength=self.n)
        if (self.grade if self.label is None else self.label).dtype.kind != "f":
            return self.length
        return self.count_of(self.judged, None, retrieved=False)

    def _everywhere(self, rows: Array) -> Array:
        """How many of the marked rows each query has, retrieved or not, shape (n,)."""
        return self.count_of(rows, None, retrieved=False).astype(np.float64)

    @cached_property
    def good(self) -> Array:
        """Which rows are relevant, bool, shape (rows,)."""
        good = np.zeros(len(self.grade), bool)
        good[self._relevant_row] = True
        return good

    @cached_property
    def n_known(self) -> Array:
        """Documents that are listed or judged, shape (n,)."""
        if self.pool is None:
            return np.maximum(self.length, self.n_relevant + self.length - self.listed_relevant)
        return self.length + self.n_judged - self._everywhere(self.judged)
