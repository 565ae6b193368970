"""What kernels read: the rows of many queries, sorted, grouped and laid end to end.

Everything here is about one *block*: some whole queries. A query is its index in the block, from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from frame_metrics.errors import BadValueError, NotComputableError
from frame_metrics.rows import Array, Gain, Rows, by_rank, falling, gain_of, ratio, top_gain

__all__ = ["Array", "Confusion", "Gain", "Ranking", "Rows", "by_rank", "gain_of", "ratio", "top_gain"]


class Confusion:
    """The 2x2 table of each query: what was retrieved against what is relevant.

    Parameters
    ----------
    tp, fp, fn : true positives, false positives, false negatives, shape (n,).
    empty : places up to the cutoff that were not filled, shape (n,); 0 without a cutoff.
    size : documents in the collection, shape (n,); None where it is not known, and then tn is an error.
    """

    def __init__(self, tp: Array, fp: Array, fn: Array, empty: Array, size: Array | None = None) -> None:
        self.tp, self.fp, self.fn, self.empty, self.size = tp, fp, fn, empty, size

    @cached_property
    def tn(self) -> Array:
        """True negatives: the rest of the collection, shape (n,)."""
        if self.size is None:
            raise NotComputableError("true negatives need collection_size=")
        rest: Array = self.size - self.tp - self.fp - self.fn
        if (rest < 0).any():
            raise BadValueError(
                f"collection_size: {int(self.size[rest < 0][0])} documents are fewer than the "
                f"{int((self.size - rest)[rest < 0][0])} that a query retrieved or has relevant"
            )
        return rest

    @property
    def counts(self) -> tuple[Array, ...]:
        """Everything that is summed when queries are pooled."""
        known = (self.tp, self.fp, self.fn, self.empty)
        return known if self.size is None else (*known, self.size)


class Ranking:
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
    ) -> None:
        self.grade, self.length, self.n_ret, self.rel = grade, length, n_ret, rel
        self.label, self.shown, self.pool = label, shown, pool
        self.known_relevant, self.size = known_relevant, size
        self.n = len(length)
        self._confusions: dict[int | None, Confusion] = {}
        self._gains: dict[str, Rows] = {}
        self._ideals: dict[str, Rows] = {}

    # Rows that matter, cut out of all rows

    @cached_property
    def start(self) -> Array:
        """Where each query's rows begin, shape (n,)."""
        begin: Array = np.cumsum(self.length) - self.length
        return begin

    @cached_property
    def everything_retrieved(self) -> bool:
        return bool((self.n_ret == self.length).all())

    def query_of(self, row: Array) -> Array:
        """Return the query of each of the given rows, ascending, shape (rows,)."""
        if self.n and (self.length == self.length[0]).all() and self.length[0]:
            same: Array = row // self.length[0]
            return same
        found: Array = np.searchsorted(self.start, row, side="right") - 1
        return found

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

    # The relevant rows: what binary metrics read

    @cached_property
    def relevant(self) -> Rows:
        """The relevant documents that were retrieved."""
        row = self._relevant_row
        return self.rows(row, np.ones(len(row)))

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
        share: Array = self.position / self.rank
        return share

    @cached_property
    def interpolated(self) -> Array:
        """The greatest precision at this relevant document or a later one, shape (relevant rows,)."""
        backwards = np.maximum.accumulate(self.relevant.grid(self.precision)[:, ::-1], axis=1)
        greatest: Array = backwards[:, ::-1][self.relevant.inside]
        return greatest

    def total(self, values: Array) -> Array:
        """Return the sum of values of the relevant rows, query by query, shape (n,)."""
        return self.relevant.total(values)

    def hits(self, k: int | None = None) -> Array:
        """Return how many relevant documents are at ranks up to ``k`` (None: retrieved), shape (n,)."""
        return self.relevant.count.astype(np.float64) if k is None else self.total(self.rank <= k)

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

    # The graded rows: what gain metrics read

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

    # All rows: what metrics of judged and unjudged documents read

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

    @cached_property
    def judged(self) -> Array:
        """Which rows have a judgment, bool, shape (rows,)."""
        judgment = self.grade if self.label is None else self.label
        known: Array = ~np.isnan(judgment) if judgment.dtype.kind == "f" else np.ones(len(judgment), bool)
        return known

    @cached_property
    def fully_judged(self) -> bool:
        """Whether every row is judged relevant or not relevant, and all were retrieved."""
        known = (self.grade if self.label is None else self.label) >= min(self.rel, 0)
        return self.everything_retrieved and bool(known.all())

    @cached_property
    def nonrelevant(self) -> Array:
        """Which rows are judged not relevant, bool; a negative grade says nothing, shape (rows,)."""
        no: Array = (self.grade >= 0) & (self.grade < self.rel) if self.label is None else self.label == 0
        return no

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
        counted: Array = down[self.start + self.length] - down[self.start]
        return counted

    @cached_property
    def nonrelevant_above(self) -> Array:
        """How many documents judged not relevant stand above each relevant document, shape (relevant rows,)."""
        if self.fully_judged:
            others: Array = self._relevant_row - self.start[self.query] + 1 - self.position
            return others
        return self.above(self.nonrelevant)

    def above(self, rows: Array) -> Array:
        """Return how many of the marked rows stand above each relevant document, shape (relevant rows,)."""
        row = self._relevant_row
        query = self.query_of(row)
        if not self.everything_retrieved:
            kept = row - self.start[query] < self.n_ret[query]
            row, query = row[kept], query[kept]
        down = np.concatenate([[0], np.cumsum(rows)])
        higher: Array = down[row] - down[self.start[query]]
        return higher

    def retrieved(self, k: int | None = None) -> Array:
        """Return how many documents are at ranks up to ``k`` (None: retrieved), shape (n,)."""
        if k is None:
            return self.n_ret
        return np.minimum(self.n_ret, k) if self.shown is None else self.count_of(np.ones(len(self.grade), bool), k)

    def mass(self, weight: Callable[[Array], Array], rows: Array, k: int | None = None) -> Array:
        """Return the sum of the weights of the ranks of the marked rows, up to ``k``, shape (n,)."""
        row = np.flatnonzero(rows)
        seen = self.rows(row, np.ones(len(row)))
        return seen.total_within(k, by_rank(weight, seen.rank))

    @cached_property
    def n_judged(self) -> Array:
        """Judged documents of each query, retrieved or not, shape (n,)."""
        if self.pool is not None:
            known = self.pool[1] if self.pool[2] is None else self.pool[2]
            return np.bincount(self.pool[0][~np.isnan(known)], minlength=self.n)
        if (self.grade if self.label is None else self.label).dtype.kind != "f":
            return self.length
        return self.count_of(self.judged, None, retrieved=False)

    def confusion(self, k: int | None = None) -> Confusion:
        """Return the 2x2 table of the first ``k`` documents (None: of all that were retrieved)."""
        if k not in self._confusions:
            tp, seen = self.hits(k), self.retrieved(k).astype(np.float64)
            empty = np.zeros(self.n) if k is None else k - seen
            self._confusions[k] = Confusion(tp, seen - tp, self.n_relevant - tp, empty, self.size)
        return self._confusions[k]
