"""The results of many queries in rank order, laid end to end, and the judgments they are measured against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from frame_metrics.inputs.cached_arrays import CachesByKey, computed_once, make_read_only, read_only_view
from frame_metrics.inputs.gains import Gain, gain_of
from frame_metrics.inputs.intents import Intents, Subtopics
from frame_metrics.inputs.pool import Pool
from frame_metrics.inputs.rows import Array, Rows, Sums, falling, n_of_share, sums_between
from frame_metrics.inputs.scores import DistinctScores, FullScores, sorted_levels
from frame_metrics.inputs.tables import FullConfusion

BY_ROW = ("grade", "label", "decision", "score", "tie", "ratio", "document")  # fields with a value for each row


class Extra(dict[str, Array]):
    """Values of the columns that ``extra=`` names, by name; a kernel asks for them with ``run.column``."""

    def __missing__(self, name: str) -> Array:
        raise LookupError(
            f"the ranking has no column {name!r}; call run.column({name!r}) whatever the rows are, and name "
            f"it with extra={{{name!r}: ...}}"
        )


@dataclass(eq=False)
class FullRanking(CachesByKey):
    """The results of each query in rank order, and the judged documents they are measured against.

    Parameters
    ----------
    grade : grade of each row, the rows of a query in rank order, those not retrieved last; NaN is unjudged.
    lengths : number of rows of each query, shape (queries,).
    n_ret : number of retrieved rows of each query, shape (queries,).
    rel : the least grade that is relevant.
    label : 1 relevant, 0 not, NaN not judged; None where the grade decides.
    logged_rank : rank of each row as it was shown; None for 1, 2, 3 ...
    pool : every judged document of the queries; None if only rows are judged.
    n_relevant_given : number of relevant documents of each query, if the caller only counts them (n_relevant=),
        shape (queries,).
    size : number of documents in the collection, shape (queries,).
    decision : 1 for each row that is predicted positive, 0 for the others, NaN without a prediction; None if the
        retrieved rows are the predicted ones.
    score : score of each row, NaN for none; None if no metric reads scores.
    tie : the code of each row's tie, ascending, with ties="expected"; else None.
    extra : by name, the values of each row in columns that only some metrics read; NaN is null.
    relevance_known : True for queries that are judged even without a judged document, such as one whose list of
        relevant documents is empty, shape (queries,); None: a query is judged if a document is.
    size_before_condensing : for condensed rankings, the collection size as given, and the number of known documents
        before any was dropped, shape (queries,) each.
    ratio : weight of each row, 1 / propensity or target propensity / propensity; None if none is named.
    clip : the largest weight that counts; None for any.
    document : index of each row's document in ``subtopics``, -1 for an unjudged one.
    subtopics : the judgments by subtopic; None without subtopics.
    cutoffs : the cutoffs of the metrics that are asked for, ascending.

    Notes
    -----
    The properties ``rank``, ``query``, ``position`` and ``precision`` have a value for each relevant document, not for
    each row.
    """

    grade: Array
    lengths: Array
    n_ret: Array
    _: KW_ONLY
    rel: float = 1
    label: Array | None = None
    logged_rank: Array | None = None
    pool: Pool | None = None
    n_relevant_given: Array | None = None
    size: Array | None = None
    decision: Array | None = None
    score: Array | None = None
    tie: Array | None = None
    extra: Mapping[str, Array] = field(default_factory=dict)
    relevance_known: Array | None = None
    size_before_condensing: tuple[Array, Array] | None = None
    ratio: Array | None = None
    clip: float | None = None
    document: Array | None = None
    subtopics: Subtopics | None = None
    cutoffs: Sequence[int] = ()

    def __post_init__(self) -> None:
        make_read_only(self)
        self.extra = Extra({name: read_only_view(values) for name, values in self.extra.items()})

    @property
    def n_queries(self) -> int:
        """Number of queries, those without rows included."""
        return len(self.lengths)

    @computed_once
    def starts(self) -> Array:
        """Start of each query's rows, shape (queries,)."""
        return self.lengths.cumsum() - self.lengths

    @computed_once
    def everything_retrieved(self) -> bool:
        """True if every row was retrieved."""
        return np.count_nonzero(self.n_ret == self.lengths) == self.n_queries

    @computed_once
    def _equal_lengths(self) -> bool:
        """True if all queries have the same number of rows, above 0."""
        return bool(self.n_queries and self.lengths[0] and (self.lengths == self.lengths[0]).all())

    def query_of(self, row: Array) -> Array:
        """Return the query of each of the given rows, ascending, shape (rows,)."""
        if self._equal_lengths:
            return row // self.lengths[0]
        return np.searchsorted(self.starts, row, side="right") - 1

    def rows(self, row: Array, value: Array) -> Rows:
        """Return those of the given rows that were retrieved, in order, with their values."""
        query = self.query_of(row)
        rank = row - self.starts[query] + 1
        if not self.everything_retrieved:
            kept = rank <= self.n_ret[query]
            row, query, rank, value = row[kept], query[kept], rank[kept], value[kept]
        rank = rank if self.logged_rank is None else self.logged_rank[row]
        return Rows(query, rank, value, self.n_queries, cutoffs=self.cutoffs)

    def rows_with(self, values: Array) -> Rows:
        """Return the retrieved rows whose value is other than 0, with these values."""
        row = np.flatnonzero(values)
        return self.rows(row, values[row])

    @property
    def _position_of_row(self) -> Array:
        """The position of each row in its query: 1 for the first row, 2 for the second ..., shape (rows,)."""
        begin = self.starts.repeat(self.lengths)
        return np.arange(1, len(begin) + 1) - begin

    @computed_once
    def _row_rank(self) -> Array:
        """Rank of every row; infinite for the rows that were not retrieved, shape (rows,)."""
        place = self._position_of_row
        not_retrieved = place > self.n_ret.repeat(self.lengths)
        return np.where(not_retrieved, np.inf, place if self.logged_rank is None else self.logged_rank)

    def count_of(self, rows: Array, k: int | Array | None, *, retrieved: bool = True) -> Array:
        """Count the marked rows of each query at ranks up to ``k``, shape (queries,).

        Parameters
        ----------
        rows : True for the rows to count, shape (rows,).
        k : one number, or one for each query; None for any rank.
        retrieved : whether only retrieved rows are counted.
        """
        if retrieved and not (k is None and self.everything_retrieved):
            last = np.finfo(float).max if k is None else np.repeat(k, self.lengths) if isinstance(k, np.ndarray) else k
            rows = rows & (self._row_rank <= last)
        return sums_between(rows, self.starts, self.starts + self.lengths)

    def retrieved(self, k: int | Array | None = None) -> Array:
        """Count the retrieved documents at ranks up to ``k``, shape (queries,); ``k`` is as in ``count_of``."""
        if k is None:
            return self.n_ret
        if self.logged_rank is None:
            return np.minimum(self.n_ret, k)
        return self.count_of(np.ones(len(self.logged_rank), bool), k)

    def _logged_rank_at(self, place: Array | int) -> Array:
        """Return the shown rank of one row of each query, by its position from 1; 0 if nothing was retrieved."""
        rank = np.zeros(self.n_queries, np.int64)
        if self.logged_rank is not None:
            some = self.n_ret > 0
            rank[some] = self.logged_rank[(self.starts + place - 1)[some]]
        return rank

    @property
    def last_rank(self) -> Array:
        """The last rank at which something was shown, 0 where nothing was retrieved, shape (queries,)."""
        return self.n_ret if self.logged_rank is None else self._logged_rank_at(self.n_ret)

    @property
    def has_gaps(self) -> Array:
        """True where a rank is missing among those shown, shape (queries,)."""
        return self.last_rank > self.n_ret

    @property
    def starts_late(self) -> Array:
        """True where the first rank that is shown is not 1, shape (queries,)."""
        return self._logged_rank_at(1) > 1

    def tied_at(self, k: int | Array | None) -> Array:
        """Return True where the results at ranks k and k + 1 have equal scores, shape (queries,).

        ``k``: one number, or one for each query; None for any two neighbours.
        """
        score = np.zeros(0) if self.score is None else self.score
        equal = np.append(score[1:] == score[:-1], False)[: len(score)]
        if k is None:
            return self.count_of(equal & (self._position_of_row < np.repeat(self.n_ret, self.lengths)), None) > 0
        tied, last = np.zeros(self.n_queries, bool), np.broadcast_to(k, self.n_queries).astype(np.int64)
        deep = (self.n_ret > last) & (last > 0)
        tied[deep] = equal[(self.starts + last)[deep] - 1]
        return tied

    def last_of(self, top: float) -> Array:
        """The last rank of the share ``top`` of each list, shape (queries,)."""
        return n_of_share(self.last_rank, top)

    def variant(self, rel: float, condensed: bool) -> FullRanking:
        """Return the rankings at another level of relevance, without unjudged rows if they are to be condensed."""
        run = self if rel == self.rel else replace(self, rel=rel)
        return run.condensed() if condensed else run

    def condensed(self) -> FullRanking:
        """Return the rankings without their unjudged rows, which then are in no cell of a 2x2 table.

        Where grades decide, a row with a negative grade is unjudged here too, though ``judged`` is True for it.

        The collection loses the unjudged rows that were retrieved. Unjudged rows that were not retrieved still count in
        it, like documents without a row.
        """
        keep = self.grade >= 0 if self.label is None else self.judged
        lengths, n_ret = (sums_between(keep, self.starts, self.starts + n) for n in (self.lengths, self.n_ret))
        by_row = ((name, getattr(self, name)) for name in BY_ROW)
        rows: dict[str, Any] = {name: None if values is None else values[keep] for name, values in by_row}
        return replace(
            self,
            lengths=lengths,
            n_ret=n_ret,
            logged_rank=None,
            extra={name: values[keep] for name, values in self.extra.items()},
            size=None if self.size is None else self.size - (self.n_ret - n_ret),
            size_before_condensing=self._given_size,
            pool=None if self.pool is None else self.pool.condensed(),
            **rows,
        )

    @computed_once
    def judged(self) -> Array:
        """True for the rows that have a judgment, also for a negative grade, bool, shape (rows,)."""
        judgment = self.grade if self.label is None else self.label
        return ~np.isnan(judgment) if judgment.dtype.kind == "f" else np.ones(len(judgment), bool)

    @computed_once
    def n_judged(self) -> Array:
        """Number of judged documents of each query, retrieved or not, shape (queries,)."""
        if self.pool is not None:
            return self.pool.count(self.pool.judged, self.n_queries)
        if (self.grade if self.label is None else self.label).dtype.kind != "f":
            return self.lengths
        return self.count_of(self.judged, None, retrieved=False)

    @computed_once
    def evaluated(self) -> Array:
        """True for the judged queries, bool, shape (queries,); ``Block.evaluated`` says which count in averages."""
        judged = self.n_judged > 0
        return judged if self.relevance_known is None else judged | self.relevance_known

    @computed_once
    def fully_judged(self) -> bool:
        """True if every row was retrieved, and is judged relevant or not relevant."""
        known = (self.grade if self.label is None else self.label) >= min(self.rel, 0)
        return self.everything_retrieved and bool(known.all())

    @computed_once
    def _positive(self) -> tuple[Array, Array]:
        """The rows with a positive grade, and their grades."""
        row = np.flatnonzero(self.grade > 0)
        return row, self.grade[row]

    @computed_once
    def _relevant_row(self) -> Array:
        """The relevant rows, ascending."""
        if self.label is not None:
            return np.flatnonzero(self.label == 1)
        if self.rel <= 0:
            return np.flatnonzero(self.grade >= self.rel)
        row, grade = self._positive
        enough = grade >= self.rel
        return row if np.count_nonzero(enough) == len(row) else row[enough]

    @computed_once
    def good(self) -> Array:
        """True for the relevant rows, bool, shape (rows,)."""
        good = np.zeros(len(self.grade), bool)
        good[self._relevant_row] = True
        return good

    @computed_once
    def n_relevant(self) -> Array:
        """R, the number of relevant documents of each query, retrieved or not, shape (queries,)."""
        if self.n_relevant_given is not None:
            return self.n_relevant_given
        if self.pool is not None:
            return self.pool.count(self.pool.relevant(self.rel), self.n_queries)
        return self.listed_relevant

    @computed_once
    def listed_relevant(self) -> Array:
        """Number of relevant rows of each query, retrieved or not, shape (queries,)."""
        if self.everything_retrieved:
            return self.relevant.count
        return np.bincount(self.query_of(self._relevant_row), minlength=self.n_queries)

    @computed_once
    def nonrelevant(self) -> Array:
        """True for the rows that are judged not relevant, bool, shape (rows,); a negative grade is no judgment."""
        return (self.grade >= 0) & (self.grade < self.rel) if self.label is None else self.label == 0

    @computed_once
    def n_nonrelevant(self) -> Array:
        """N, the number of documents judged not relevant, retrieved or not, shape (queries,)."""
        if self.pool is not None:
            return self.pool.count(self.pool.nonrelevant(self.rel), self.n_queries)
        if self.fully_judged:
            return self.lengths - self.listed_relevant
        return self.count_of(self.nonrelevant, None, retrieved=False)

    @computed_once
    def n_rows(self) -> Array:
        """Number of documents of each query that are rows or judged, shape (queries,)."""
        if self.pool is None:
            return self.lengths
        return self.lengths + self.n_judged - self.count_of(self.judged, None, retrieved=False)

    @computed_once
    def n_known(self) -> Array:
        """Number of documents of each query that are rows, judged, or counted as relevant, shape (queries,)."""
        known_relevant = self.listed_relevant
        if self.pool is not None:
            known_relevant = self.pool.count(self.pool.relevant(self.rel), self.n_queries)
        return self.n_rows + np.maximum(self.n_relevant - known_relevant, 0)

    @property
    def _given_size(self) -> tuple[Array, Array] | None:
        """The collection size as given, and the number of known documents before any was dropped; None if unknown."""
        if self.size_before_condensing or self.size is None:
            return self.size_before_condensing
        return self.size, self.n_known

    @computed_once
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

    @computed_once
    def precision(self) -> Array:
        """Precision at the rank of each relevant document, shape (relevant rows,)."""
        return self.position / self.rank

    @computed_once
    def is_first(self) -> Array:
        """True where a relevant document is the first of its query, shape (relevant rows,)."""
        return self.position == 1

    @computed_once
    def precisions(self) -> Sums:
        """The sums of the precisions at the ranks of relevant documents."""
        return Sums(self.relevant, self.precision)

    @computed_once
    def firsts(self) -> Sums:
        """The sums that count the first relevant document."""
        return Sums(self.relevant, self.is_first)

    @computed_once
    def first_reciprocals(self) -> Sums:
        """The sums of the reciprocal rank of the first relevant document."""
        return Sums(self.relevant, self.is_first / self.rank)

    @computed_once
    def interpolated(self) -> Array:
        """The greatest precision at this relevant document or a later one, shape (relevant rows,)."""
        backwards = np.maximum.accumulate(self.relevant.grid(self.precision)[:, ::-1], axis=1)
        return backwards[:, ::-1][self.relevant.has_row]

    @computed_once
    def nonrelevant_above(self) -> Array:
        """Number of documents judged not relevant above each relevant document, shape (relevant rows,)."""
        if self.fully_judged:
            return self._relevant_row - self.starts[self.query] + 1 - self.position
        return self.above(self.nonrelevant)

    def above(self, rows: Array) -> Array:
        """Count the marked rows above each relevant document, shape (relevant rows,); ``rows``: the marks, (rows,)."""
        row = self._relevant_row
        query = self.query_of(row)
        if not self.everything_retrieved:
            kept = row - self.starts[query] < self.n_ret[query]
            row, query = row[kept], query[kept]
        return sums_between(rows, self.starts[query], row)

    def total(self, values: Array) -> Array:
        """Return the sum of values of the relevant rows, query by query, shape (queries,)."""
        return self.relevant.total(values)

    def hits(self, k: int | None = None) -> Array:
        """Count the relevant documents at ranks up to ``k`` (None: retrieved), shape (queries,)."""
        return self.relevant.count_within(k).astype(np.float64)

    def mass(self, weight: Callable[[Array], Array], rows: Array, k: int | None = None) -> Array:
        """Return the sum of the weights of the marked rows of each query, up to rank ``k``, shape (queries,).

        ``weight``: a function from ranks to weights; ``rows``: the marks, (rows,).
        """
        row = np.flatnonzero(rows)
        seen = self.rows(row, np.ones(len(row)))
        return seen.total_within(k, seen.by_rank(weight))

    @property
    def unweighted(self) -> FullRanking:
        """The same ranking, in which each result counts once."""
        return self

    def gains(self, gain: Gain = "linear") -> Rows:
        """Return the retrieved documents that have a gain."""
        return self.cached(("gains", _key(gain)), partial(self._gainful, gain))

    def _gainful(self, gain: Gain) -> Rows:
        """Return what ``gains`` caches."""
        if not isinstance(gain, str):
            return self.rows_with(gain_of(self.grade, gain))
        row, grade = self._positive
        if gain == "linear" and self.everything_retrieved and row is self._relevant_row:
            return self.relevant.with_values(self.relevant.value * gain_of(grade, gain))
        return self.rows(row, gain_of(grade, gain))

    def ideal(self, gain: Gain = "linear") -> Rows:
        """Return the documents with a positive gain in the best order, retrieved or not."""
        return self.cached(("ideal", _key(gain)), partial(self._best_first, gain))

    def _best_first(self, gain: Gain) -> Rows:
        """Return what ``ideal`` caches."""
        if self.n_relevant_given is not None:
            query = np.repeat(np.arange(self.n_queries), self.n_relevant_given.astype(np.int64))
            whole = Rows(query, query, np.full(len(query), float(gain_of(np.ones(1), gain)[0])), self.n_queries)
        elif self.pool is not None:
            value = gain_of(self.pool.grade, gain)
            some = value > 0
            query = self.pool.query[some]
            whole = Rows(query, query, value[some], self.n_queries)
        elif self.everything_retrieved and isinstance(gain, str):
            whole = self.gains(gain)
        else:
            value = gain_of(self.grade, gain)
            row = np.flatnonzero(value > 0)
            whole = Rows(self.query_of(row), row, value[row], self.n_queries)
        rank, value = whole.position, falling(whole)
        return Rows(whole.query, rank, value, self.n_queries, cutoffs=self.cutoffs, consecutive=True, like=whole)

    @computed_once
    def intents(self) -> Intents:
        """Relevance to the subtopics of each query; without subtopics each query has one."""
        subtopics, pool = self.subtopics, self.pool
        if subtopics is None or pool is None or pool.document is None or self.document is None:
            seen, query = self.relevant, np.repeat(np.arange(self.n_queries), self.n_relevant.astype(np.int64))
            with_subtopic_0 = seen.with_values(np.zeros(len(seen.query)))
            return Intents(with_subtopic_0, query, np.arange(len(query)), np.zeros_like(query))
        row = np.flatnonzero(self.document >= 0)
        at, found = subtopics.relevant(self.document[row], self.rel)
        order = np.lexsort((-subtopics.id_rank[pool.document], pool.query))
        document, subtopic = subtopics.relevant(pool.document[order], self.rel)
        return Intents(self.rows(row[at], found), pool.query[order][document], document, subtopic)

    def column(self, name: str, rows: Array | None = None) -> Rows:
        """Return the retrieved rows with their values of a column that ``extra=`` names; NaN is null.

        Parameters
        ----------
        name : the name that ``extra=`` gives the column.
        rows : True for the rows that are asked for, bool, such as ``good`` for the relevant rows; None for all.
        """
        return self._valued(self._extra(name), rows, f"run.column({name!r})")

    def grades(self) -> Rows:
        """Return the retrieved rows with their grades; NaN is unjudged."""
        return self._valued(self.grade, None, "run.grade")

    def _valued(self, value: Array, rows: Array | None, call: str) -> Rows:
        """Return the retrieved rows with their values; ``call``: the kernel's call, for an error of ``Expected``."""
        row = np.arange(len(value)) if rows is None else np.flatnonzero(rows)
        return self.rows(row, value[row])

    def _extra(self, name: str) -> Array:
        return self.extra[name]

    def confusion(self, k: int | None = None, top: float | None = None) -> FullConfusion:
        """Return the 2x2 table of the first ``k`` documents; without ``k`` of what was predicted, or else retrieved.

        ``top``: the share of each list that is taken, in the place of ``k``.
        """
        if top is not None:
            return self.cached(("top", top), lambda: self._of_retrieved(self.last_of(top)))
        decision = self.decision if k is None else None
        return self.cached(k, lambda: self._of_retrieved(k) if decision is None else self._decided(decision))

    def _of_retrieved(self, k: int | Array | None) -> FullConfusion:
        """Return the 2x2 table of what was retrieved at ranks up to ``k``, as in ``count_of``."""
        tp = self.count_of(self.good, k) if isinstance(k, np.ndarray) else self.hits(k)
        seen = self.retrieved(k).astype(np.float64)
        empty = np.zeros(self.n_queries) if k is None else k - seen
        return FullConfusion(tp, seen - tp, self.n_relevant - tp, empty, self.size, given_size=self._given_size)

    def _decided(self, decision: Array) -> FullConfusion:
        """Return the 2x2 table of predictions, over all documents that are known."""
        positive = decision == 1
        cells = [positive & self.good, positive & ~self.good]
        if decision.dtype.kind == "f":
            is_undecided = np.isnan(decision)
            cells += [is_undecided & self.good, is_undecided & ~self.good]
        tp, fp, *undecided = (self.count_of(rows, None, retrieved=False).astype(np.float64) for rows in cells)
        size = (self.n_known if self.size is None else self.size).astype(np.float64)
        fn = self.n_relevant - tp - sum(undecided[:1])
        empty = np.zeros(self.n_queries)
        return FullConfusion(tp, fp, fn, empty, size, tuple(undecided), given_size=self._given_size)

    def _all_differ(self, score: Array) -> bool:
        """Return True if all rows were retrieved in the order of their scores, and no two of a query are equal."""
        if self.logged_rank is not None or not self.everything_retrieved:
            return False
        last = np.cumsum(self.lengths[self.lengths > 0]) - 1
        falls = score[1:] < score[:-1]  # False where either is NaN
        falls[last[:-1]] = True
        return bool(falls.all() and (score[last] > -np.inf).all())

    @computed_once
    def scores(self) -> FullScores:
        """The distinct scores of each query; documents without a score stand below all others."""
        lacking = np.maximum(self.n_known - self.lengths, 0)
        if self.score is not None and self._all_differ(self.score) and not lacking.any():
            return DistinctScores(self.score, self.lengths, self.relevant)
        score = np.full(len(self.grade), -np.inf) if self.score is None else self.score
        score = np.where(np.isnan(score), -np.inf, score)
        query, good = np.repeat(np.arange(self.n_queries), self.lengths), self.good
        if lacking.any():  # known documents that are no rows, of each query the relevant ones first
            unlisted = np.repeat(np.arange(self.n_queries), lacking.astype(np.int64))
            place = np.arange(len(unlisted)) - np.searchsorted(unlisted, unlisted)
            query, score = np.concatenate([query, unlisted]), np.append(score, np.full(len(unlisted), -np.inf))
            good = np.concatenate([good, place < (self.n_relevant - self.listed_relevant)[unlisted]])
        return sorted_levels(query, score, good, np.ones(len(score)), self.n_queries)


def _key(gain: Gain) -> Any:
    """Return a key for a gain: its text, or the function itself."""
    return gain if callable(gain) else repr(gain)
