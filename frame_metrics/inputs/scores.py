"""Scores against the truth: how many relevant rows and others stand at or above each distinct score."""

from __future__ import annotations

from typing import Never

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs.kept import kept, seal
from frame_metrics.inputs.rows import Array, Rows, Segmented, no_rows, ratio


class Scores(Segmented):
    """The distinct scores of each query or segment, greatest first, with the rows that reach them.

    Parameters
    ----------
    query : the query (or segment) of each distinct score, ascending, shape (levels,).
    score : the scores, falling within a query, shape (levels,); minus infinity for documents that were not retrieved.
    tp, fp : relevant and other rows of the query with at least this score, shape (levels,).
    n_queries : number of queries, those without rows included.
    """

    def __init__(self, query: Array, score: Array, tp: Array, fp: Array, n_queries: int) -> None:
        self.score, self.tp, self.fp = score, tp, fp
        super().__init__(query, n_queries)

    def before(self, values: Array) -> Array:
        """Return the values of the level above, 0 above a query's first, shape (levels,)."""
        shifted = np.concatenate([np.zeros(min(len(values), 1), values.dtype), values[:-1]])
        shifted[self.begins] = 0
        return shifted

    def column(self, name: str) -> Never:
        """Raise: only a ``Ranking`` has rows that a column could be read of."""
        raise no_rows(name)

    @kept
    def retrieved(self) -> Array:
        """True for levels that are scores, and not what stands below all of them, bool, shape (levels,)."""
        return self.score > -np.inf

    @kept
    def pos(self) -> Array:
        """Relevant rows with exactly this score, shape (levels,)."""
        return self.tp - self.before(self.tp)

    @kept
    def neg(self) -> Array:
        """Other rows with exactly this score, shape (levels,)."""
        return self.fp - self.before(self.fp)

    @kept
    def positives(self) -> Array:
        """Relevant rows of each query, shape (queries,)."""
        return self.last(self.tp)

    @kept
    def negatives(self) -> Array:
        """Other rows of each query, shape (queries,)."""
        return self.last(self.fp)

    @kept
    def area(self) -> Array:
        """The area under the ROC curve, NaN where no row is relevant or every row is, shape (queries,)."""
        pairs = self.total(self.neg * (self.before(self.tp) + self.pos / 2))
        return ratio(pairs, self.positives * self.negatives)

    @kept
    def steps(self) -> Array:
        """Precision at each score times the relevant rows that have it; 0 below all scores, shape (levels,)."""
        precision = ratio(self.tp, self.tp + self.fp)
        return np.where((self.pos > 0) & self.retrieved, self.pos * precision, 0)

    @kept
    def probability(self) -> Array:
        """The scores, known to lie between 0 and 1."""
        return _between_0_and_1(self.score)


class DistinctScores(Scores):
    """The scores of rows in rank order, no two of a query alike: each row is a level.

    Areas are then had from the relevant rows alone, which are few, and what they rest on is counted only if it is read.

    Parameters
    ----------
    score : of each row, falling within a query, shape (rows,).
    lengths : rows of each query, shape (queries,).
    relevant : the relevant rows; the rank of each is its place.
    """

    def __init__(self, score: Array, lengths: Array, relevant: Rows) -> None:
        self.score, self.count, self.relevant, self.n_queries = score, lengths, relevant, len(lengths)
        seal(self)

    @kept
    def query(self) -> Array:
        """The query of each row, shape (rows,)."""
        return np.repeat(np.arange(self.n_queries), self.count)

    @kept
    def tp(self) -> Array:
        """Relevant rows of the query from the first to this one, shape (rows,)."""
        at = np.zeros(len(self.score))
        at[self._row] = 1
        return np.cumsum(at) - np.repeat(self.relevant.starts, self.count)

    @kept
    def fp(self) -> Array:
        """Other rows of the query from the first to this one, shape (rows,)."""
        return self.position - self.tp

    @kept
    def positives(self) -> Array:
        return self.relevant.count.astype(np.float64)

    @kept
    def negatives(self) -> Array:
        return self.count - self.positives

    @property
    def _row(self) -> Array:
        """The place of each relevant row among all, shape (relevant rows,)."""
        return self.relevant.each(self.starts) + self.relevant.rank - 1

    @kept
    def area(self) -> Array:
        few = self.relevant
        pairs = few.total(few.each(self.negatives) + few.position - few.rank)  # others below each relevant row
        return ratio(pairs, self.positives * self.negatives)

    @kept
    def steps(self) -> Array:
        out = np.zeros(len(self.score))
        out[self._row] = self.relevant.position / self.relevant.rank
        return out


def _between_0_and_1(score: Array) -> Array:
    outside = (score < 0) | (score > 1)
    if outside.any():
        wrong = float(score[outside][0])
        what = "a document that was not retrieved has no score" if np.isinf(wrong) else f"{wrong:g} is a score"
        raise BadValueError(f"the scores have to be probabilities, between 0 and 1, and {what}")
    return score


class ClassScores:
    """The scores of several classes for each row, and its true class.

    Parameters
    ----------
    query : the segment of each row, ascending, shape (rows,).
    actual : the number of its true class, shape (rows,).
    score : a column per class, shape (rows, K).
    weight : of each row, shape (rows,).
    n_queries : number of segments.
    seen : True for the classes that take part, shape (queries, K).
    """

    def __init__(self, query: Array, actual: Array, score: Array, weight: Array, n_queries: int, seen: Array) -> None:
        self.query, self.n_queries, self.seen = query, n_queries, seen
        self.actual, self.score, self.weight = actual, score, weight
        seal(self)

    @kept
    def support(self) -> Array:
        """Weight of the rows of each class, shape (queries, K)."""
        return self._summed(self.weight)

    @kept
    def there(self) -> Array:
        """True for the classes that have rows, shape (queries, K)."""
        return self._summed(None) > 0

    def _summed(self, weight: Array | None) -> Array:
        shape = self.n_queries, self.score.shape[1]
        return np.bincount(self.query * shape[1] + self.actual, weight, minlength=shape[0] * shape[1]).reshape(shape)

    def rest(self, c: int) -> Scores:
        """Return the scores of one class against the rest."""
        return self._against(c, self.weight > 0)

    def pair(self, a: int, b: int) -> Scores:
        """Return the scores of class ``a`` among the rows of classes ``a`` and ``b``."""
        return self._against(a, (self.weight > 0) & ((self.actual == a) | (self.actual == b)))

    def _against(self, c: int, some: Array) -> Scores:
        """The scores of a class among some rows."""
        weight, good = self.weight[some], self.actual[some] == c
        return sorted_levels(self.query[some], self.score[some, c], good * weight, weight, self.n_queries)

    @kept
    def falling(self) -> Array:
        """The rows of one segment in the falling order of the scores of each class, shape (K, rows)."""
        return np.argsort(-self.score, axis=0, kind="stable").T

    @kept
    def probability(self) -> Array:
        """The scores, known to lie between 0 and 1, shape (rows, K)."""
        return _between_0_and_1(self.score)

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of the rows' values, NaN for a segment without weight, shape (queries,)."""
        weight = np.bincount(self.query, self.weight, minlength=self.n_queries)
        with np.errstate(invalid="ignore"):
            return np.bincount(self.query, self.weight * values, minlength=self.n_queries) / weight


class DrawnScores(ClassScores):
    """The scores of some resamples of the rows of one segment, which are sorted once.

    Parameters
    ----------
    rows : the rows, sorted once for each class.
    often : how often each row is in each resample, shape (resamples, rows).
    """

    def __init__(self, rows: ClassScores, often: Array) -> None:
        self.rows, self.often = rows, often * rows.weight
        draw, row = np.nonzero(self.often)
        seen = np.repeat(rows.seen, len(often), axis=0)
        super().__init__(draw, rows.actual[row], rows.score[row], self.often[draw, row], len(often), seen)

    def rest(self, c: int) -> Scores:
        return self._of(c, self.rows.falling[c])

    def pair(self, a: int, b: int) -> Scores:
        falling, actual = self.rows.falling[a], self.rows.actual
        return self._of(a, falling[(actual[falling] == a) | (actual[falling] == b)])

    def _of(self, c: int, falling: Array) -> Scores:
        """The scores of a class, of rows in their falling order."""
        return drawn_levels(self.rows.score[falling, c], self.rows.actual[falling] == c, self.often[:, falling])


def sorted_levels(query: Array, score: Array, good: Array, weight: Array, n_queries: int) -> Scores:
    """Gather rows in any order into levels; the parameters are those of ``levels``."""
    falls = (query[1:] > query[:-1]) | ((query[1:] == query[:-1]) & (score[1:] <= score[:-1]))
    if not falls.all():
        order = np.lexsort((-score, query))
        query, score, good, weight = query[order], score[order], good[order], weight[order]
    return levels(query, score, good, weight, n_queries)


def levels(query: Array, score: Array, good: Array, weight: Array, n_queries: int) -> Scores:
    """Gather rows into levels.

    Parameters
    ----------
    query, score : rows sorted by query, within a query by falling score, shape (rows,).
    good, weight : weight of each row if it is relevant, else 0, and its weight, shape (rows,).
    n_queries : number of queries.
    """
    if not len(score):
        return Scores(query, score, np.zeros(0), np.zeros(0), n_queries)
    new = np.ones(len(score), bool)
    new[1:] = (score[1:] != score[:-1]) | (query[1:] != query[:-1])
    end = np.append(np.flatnonzero(new)[1:], len(score)) - 1
    tp, fp = np.cumsum(good, dtype=np.float64)[end], np.cumsum(weight - good, dtype=np.float64)[end]
    scores = Scores(query[end], score[end], tp, fp, n_queries)
    if n_queries > 1:  # sums start anew with each query
        begins, counted = scores.begins, scores.count[scores.count > 0]
        for values in (tp, fp):
            values -= np.repeat(np.concatenate([[0], values[begins[1:] - 1]]), counted)
    return scores


def drawn_levels(score: Array, good: Array, weight: Array) -> Scores:
    """Gather resamples of the same rows into levels, a query for each resample.

    Parameters
    ----------
    score, good : of the rows, by falling score, and whether each is relevant, shape (rows,).
    weight : the weight that each row has in each resample, shape (resamples, rows).
    """
    draw, row = np.nonzero(weight)
    kept = weight[draw, row]
    return levels(draw, score[row], good[row] * kept, kept, len(weight))
