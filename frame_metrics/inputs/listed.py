"""The rows of many queries as a system listed them, laid end to end in rank order."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs.kept import Remembers, kept
from frame_metrics.inputs.rows import Array, Rows, sums_between


class Listed(Remembers):
    """The rows of each query in rank order; judgments, which ``Ranking`` adds, are not looked at."""

    lengths: Array
    n_ret: Array
    shown: Array | None
    score: Array | None

    @property
    def n_queries(self) -> int:
        """Number of queries, those without rows included."""
        return len(self.lengths)

    @kept
    def starts(self) -> Array:
        """Start of each query's rows, shape (queries,)."""
        return np.cumsum(self.lengths) - self.lengths

    @kept
    def everything_retrieved(self) -> bool:
        """True where no row is only known, and not retrieved."""
        return bool((self.n_ret == self.lengths).all())

    def query_of(self, row: Array) -> Array:
        """Return the query of each of the given rows, ascending, shape (rows,)."""
        if self.n_queries and (self.lengths == self.lengths[0]).all() and self.lengths[0]:
            return row // self.lengths[0]
        return np.searchsorted(self.starts, row, side="right") - 1

    def rows(self, row: Array, value: Array) -> Rows:
        """Return the retrieved ones of the given rows, in order, with their values."""
        query = self.query_of(row)
        rank = row - self.starts[query] + 1
        if not self.everything_retrieved:
            kept = rank <= self.n_ret[query]
            row, query, rank, value = row[kept], query[kept], rank[kept], value[kept]
        return Rows(query, rank if self.shown is None else self.shown[row], value, self.n_queries)

    @property
    def _place(self) -> Array:
        """1 for the first row of each query, 2 for the second ..., shape (rows,)."""
        begin = np.repeat(self.starts, self.lengths)
        return np.arange(1, len(begin) + 1) - begin

    @kept
    def _row_rank(self) -> Array:
        """Rank of every row; infinite for the rows that were not retrieved, shape (rows,)."""
        place = self._place
        gone = place > np.repeat(self.n_ret, self.lengths)
        return np.where(gone, np.inf, place if self.shown is None else self.shown)

    def count_of(self, rows: Array, k: int | None, *, retrieved: bool = True) -> Array:
        """Count the marked rows at ranks up to ``k`` (None: any rank), shape (queries,)."""
        if retrieved and not (k is None and self.everything_retrieved):
            rows = rows & (self._row_rank <= (k or np.finfo(float).max))
        return sums_between(rows, self.starts, self.starts + self.lengths)

    def retrieved(self, k: int | None = None) -> Array:
        """Count the documents at ranks up to ``k`` (None: retrieved), shape (queries,)."""
        if k is None:
            return self.n_ret
        return np.minimum(self.n_ret, k) if self.shown is None else self.count_of(np.ones(len(self.shown), bool), k)

    def _shown_at(self, place: Array | int) -> Array:
        """The rank shown at a place (from 1) of each query, 0 where nothing was retrieved, shape (queries,)."""
        rank = np.zeros(self.n_queries, np.int64)
        if self.shown is not None:
            some = self.n_ret > 0
            rank[some] = self.shown[(self.starts + place - 1)[some]]
        return rank

    @property
    def gaps(self) -> Array:
        """True where a rank is missing among those shown, shape (queries,)."""
        return self._shown_at(self.n_ret) > self.n_ret

    @property
    def late(self) -> Array:
        """True where the first rank that is shown is not 1, shape (queries,)."""
        return self._shown_at(1) > 1

    def tied_at(self, k: int | None) -> Array:
        """Return True where the results at ranks k and k + 1 have equal scores (None: any two), shape (queries,)."""
        score = np.zeros(0) if self.score is None else self.score
        equal = np.append(score[1:] == score[:-1], False)[: len(score)]
        if k is None:
            return self.count_of(equal & (self._place < np.repeat(self.n_ret, self.lengths)), None) > 0
        tied, deep = np.zeros(self.n_queries, bool), self.n_ret > k
        tied[deep] = equal[self.starts[deep] + k - 1]
        return tied
