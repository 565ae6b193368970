"""What kernels read: the rows of many queries, sorted, grouped and laid end to end.

Everything here is about one *block*: some whole queries. A query is its index in the block, from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from frame_metrics.inputs.results import Results
from frame_metrics.inputs.rows import Array, Gain, Rows, by_rank, falling, gain_of
from frame_metrics.inputs.scores import Scores, levels
from frame_metrics.inputs.tables import Confusion


class Ranking(Results):
    """The results of each query in rank order, and the judged documents they are measured against."""

    @cached_property
    def _confusions(self) -> dict[int | None, Confusion]:
        return {}

    @cached_property
    def _gains(self) -> dict[str, Rows]:
        return {}

    @cached_property
    def _ideals(self) -> dict[str, Rows]:
        return {}

    @property
    def rank(self) -> Array:
        """Rank of each relevant document that was retrieved, shape (relevant rows,)."""
        return self.relevant.rank

    @property
    def query(self) -> Array:
        """Query of each relevant document that was retrieved, shape (relevant rows,)."""
        return self.relevant.query

    @property
    def position(self) -> Array:
        """1 for the first relevant document of a query, 2 for the second ..., shape (relevant rows,)."""
        return self.relevant.position

    @cached_property
    def precision(self) -> Array:
        """Precision at the rank of each relevant document, shape (relevant rows,)."""
        return self.position / self.rank

    @property
    def is_first(self) -> Array:
        """Whether each relevant document is the first of its query, shape (relevant rows,)."""
        return self.position == 1

    @cached_property
    def interpolated(self) -> Array:
        """The greatest precision at this relevant document or a later one, shape (relevant rows,)."""
        backwards = np.maximum.accumulate(self.relevant.grid(self.precision)[:, ::-1], axis=1)
        return backwards[:, ::-1][self.relevant.inside]

    def total(self, values: Array) -> Array:
        """Return the sum of values of the relevant rows, query by query, shape (n,)."""
        return self.relevant.total(values)

    def hits(self, k: int | None = None) -> Array:
        """Return how many relevant documents are at ranks up to ``k`` (None: retrieved), shape (n,)."""
        return self.relevant.count.astype(np.float64) if k is None else self.total(self.rank <= k)

    def gains(self, gain: Gain = "linear") -> Rows:
        """Return the retrieved documents that have a gain."""
        key = repr(gain)
        if key not in self._gains:
            self._gains[key] = self._gainful(gain)
        return self._gains[key]

    def _gainful(self, gain: Gain) -> Rows:
        if isinstance(gain, Mapping):
            value = gain_of(self.grade, gain)
            row = np.flatnonzero(value)
            return self.rows(row, value[row])
        row, grade = self._positive
        if gain == "linear" and "relevant" in self.__dict__ and row is self._relevant_row and self.everything_retrieved:
            return self.relevant.like(grade.astype(np.float64))
        return self.rows(row, gain_of(grade, gain))

    def ideal(self, gain: Gain = "linear") -> Rows:
        """Return the documents with a positive gain in the best order, retrieved or not."""
        key = repr(gain)
        if key not in self._ideals:
            self._ideals[key] = self._best_first(gain)
        return self._ideals[key]

    def _best_first(self, gain: Gain) -> Rows:
        if self.known_relevant is not None:
            query = np.repeat(np.arange(self.n), self.known_relevant.astype(np.int64))
            whole = Rows(query, query, np.full(len(query), float(gain_of(np.ones(1), gain)[0])), self.n)
        elif self.pool is not None:
            value = gain_of(self.pool[1], gain)
            some = value > 0
            whole = Rows(self.pool[0][some], self.pool[0][some], value[some], self.n)
        elif self.everything_retrieved and not isinstance(gain, Mapping):
            whole = self.gains(gain)
        else:
            value = gain_of(self.grade, gain)
            row = np.flatnonzero(value > 0)
            whole = Rows(self.query_of(row), row, value[row], self.n)
        return whole.like(falling(whole), rank=whole.position)

    @cached_property
    def nonrelevant_above(self) -> Array:
        """How many documents judged not relevant stand above each relevant document, shape (relevant rows,)."""
        if self.fully_judged:
            return self._relevant_row - self.start[self.query] + 1 - self.position
        return self.above(self.nonrelevant)

    def above(self, rows: Array) -> Array:
        """Return how many of the marked rows stand above each relevant document, shape (relevant rows,)."""
        row = self._relevant_row
        query = self.query_of(row)
        if not self.everything_retrieved:
            kept = row - self.start[query] < self.n_ret[query]
            row, query = row[kept], query[kept]
        down = np.concatenate([[0], np.cumsum(rows)])
        return down[row] - down[self.start[query]]

    def mass(self, weight: Callable[[Array], Array], rows: Array, k: int | None = None) -> Array:
        """Return the sum of the weights of the ranks of the marked rows, up to ``k``, shape (n,)."""
        row = np.flatnonzero(rows)
        seen = self.rows(row, np.ones(len(row)))
        return seen.total_within(k, by_rank(weight, seen.rank))

    def confusion(self, k: int | None = None) -> Confusion:
        """Return the 2x2 table of the first ``k`` documents; without ``k`` of what was predicted, or else retrieved."""
        if k not in self._confusions:
            if k is None and self.decision is not None:
                self._confusions[k] = self._decided(self.decision)
                return self._confusions[k]
            tp, seen = self.hits(k), self.retrieved(k).astype(np.float64)
            empty = np.zeros(self.n) if k is None else k - seen
            self._confusions[k] = Confusion(tp, seen - tp, self.n_relevant - tp, empty, self.size)
        return self._confusions[k]

    def _decided(self, decision: Array) -> Confusion:
        """The 2x2 table of predictions, over all documents that are known."""
        yes = decision == 1
        tp = self._everywhere(yes & self.good)
        silent = None
        if decision.dtype.kind == "f":
            unsaid = np.isnan(decision)
            silent = (self._everywhere(unsaid & self.good), self._everywhere(unsaid & ~self.good))
        size = self.n_known if self.size is None else self.size
        return Confusion(
            tp, self._everywhere(yes) - tp, self.n_relevant - tp, np.zeros(self.n), size.astype(np.float64), silent
        )

    @cached_property
    def scores(self) -> Scores:
        """The distinct scores of each query; documents without a score stand below all others."""
        score = np.full(len(self.grade), -np.inf) if self.score is None else self.score
        score = np.where(np.isnan(score), -np.inf, score)
        query, good = np.repeat(np.arange(self.n), self.length), self.good
        lacking = np.maximum(self.n_known - self.length, 0)
        if lacking.any():  # judged elsewhere, and not listed
            rest = np.repeat(np.arange(self.n), lacking.astype(np.int64))
            place = np.arange(len(rest)) - np.searchsorted(rest, rest)
            query, score = np.concatenate([query, rest]), np.concatenate([score, np.full(len(rest), -np.inf)])
            good = np.concatenate([good, place < (self.n_relevant - self.listed_relevant)[rest]])
        falls = (query[1:] > query[:-1]) | (score[1:] <= score[:-1])
        if not falls.all() or lacking.any():
            order = np.lexsort((-score, query))
            query, score, good = query[order], score[order], good[order]
        return levels(query, score, good, np.ones(len(score)), self.n)
