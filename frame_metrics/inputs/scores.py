"""Scores against the truth: the numbers of relevant and of other rows at or above each distinct score (a level)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs.bins import CalibrationBins
from frame_metrics.inputs.cached_arrays import CachesByKey, computed_once, make_read_only
from frame_metrics.inputs.rows import Array, Rows, Segmented, begins_run, n_of_share, ratio
from frame_metrics.inputs.tables import FullConfusion

LEVELS_AT_ONCE = 1 << 16  # levels that are computed at a time where there are many


class FullScores(Segmented):
    """The distinct scores of each query or segment, greatest first, with the rows that reach them.

    Parameters
    ----------
    query : the query (or segment) of each distinct score, ascending, shape (levels,).
    score : the scores, falling within a query, shape (levels,); minus infinity for documents that were not retrieved.
    tp, fp : number of relevant and of other rows of the query with at least this score, shape (levels,).
    n_queries : number of queries, those without rows included.
    """

    def __init__(self, query: Array, score: Array, tp: Array, fp: Array, n_queries: int) -> None:
        self.score, self.tp, self.fp = score, tp, fp
        super().__init__(query, n_queries)

    def before(self, values: Array) -> Array:
        """Return the values shifted by a level: each level gets that of the one before, a query's first level 0."""
        shifted = np.concatenate([np.zeros(min(len(values), 1), values.dtype), values[:-1]])
        shifted[self.starts_of_filled] = 0
        return shifted

    def total_of(self, values: Callable[[FullScores], Array]) -> Array:
        """Return the sum of each query's values, shape (queries,); ``values``: a function from levels to their values.

        The values of one query with many levels are computed part by part, so that they take little memory.
        """
        if self.n_queries != 1 or len(self.tp) <= LEVELS_AT_ONCE:
            return self.total(values(self))
        sums = np.zeros(1)
        for a in range(0, len(self.tp), LEVELS_AT_ONCE):
            at = slice(a, a + LEVELS_AT_ONCE)
            part = FullScores(self.query[at], self.score[at], self.tp[at], self.fp[at], 1)
            before = [counts[a - 1] if a else 0 for counts in (self.tp, self.fp)]
            part.above = np.append(before[0], part.tp[:-1])
            part.pos, part.neg = part.tp - part.above, np.diff(part.fp, prepend=before[1])
            sums += part.total(values(part))
        return sums

    @computed_once
    def above(self) -> Array:
        """Number of relevant rows with a greater score, shape (levels,)."""
        return self.before(self.tp)

    @computed_once
    def retrieved(self) -> Array:
        """True for levels of real scores, False for the level of documents without a score, bool, shape (levels,)."""
        return self.score > -np.inf

    @computed_once
    def pos(self) -> Array:
        """Number of relevant rows with exactly this score, shape (levels,)."""
        return self.tp - self.above

    @computed_once
    def neg(self) -> Array:
        """Number of other rows with exactly this score, shape (levels,)."""
        return self.fp - self.before(self.fp)

    @computed_once
    def positives(self) -> Array:
        """Number of relevant rows of each query, shape (queries,)."""
        return self.last(self.tp)

    @computed_once
    def negatives(self) -> Array:
        """Number of other rows of each query, shape (queries,)."""
        return self.last(self.fp)

    def bins(self, n: int | str) -> CalibrationBins:
        """Return the rows in ``n`` bins of their probability; "quantile": in bins of equally many rows."""
        elements = self.query, self.probability, self.pos + self.neg, self.pos
        return self.cached(("bins", n), lambda: CalibrationBins.of(*elements, self.n_queries, n))

    def confusion_of_top(self, top: float) -> FullConfusion:
        """Return the 2x2 table of the share ``top`` of each query's rows with the highest scores.

        Of equal scores across the end of this share, each row is taken with the same chance, so that cells are means
        over all orders.
        """
        amount = self.positives + self.negatives
        return self.cached(("first", top), lambda: self._confusion_of_first(n_of_share(amount, top)))

    def _confusion_of_first(self, amount: Array) -> FullConfusion:
        """Return the 2x2 table of the first rows of each query; ``amount``: how many, shape (queries,)."""
        tp, some = np.zeros(self.n_queries), np.flatnonzero(amount)
        if len(some):
            n_reaching = self.tp + self.fp
            # The level across the end, its relevant rows, its rows, and how many of these are taken.
            level = (self.starts + self.total(n_reaching < self.each(amount)).astype(np.int64))[some]
            pos, n = self.pos[level], (self.pos + self.neg)[level]
            taken = amount[some] - (n_reaching[level] - n)
            tp[some] = self.tp[level] - pos + pos * (taken / n)
        fp, empty = amount - tp, np.zeros(self.n_queries)
        return FullConfusion(tp, fp, self.positives - tp, empty, rest=self.negatives - fp)

    @computed_once
    def area(self) -> Array:
        """The area under the ROC curve, NaN where no row is relevant or every row is, shape (queries,)."""
        pairs = self.total_of(lambda some: some.neg * (some.above + some.pos / 2))
        return ratio(pairs, self.positives * self.negatives)

    @computed_once
    def steps(self) -> Array:
        """Precision at each score times the number of relevant rows with it, 0 where there is no score, (levels,)."""
        precision = ratio(self.tp, self.tp + self.fp)
        return np.where((self.pos > 0) & self.retrieved, self.pos * precision, 0)

    @computed_once
    def probability(self) -> Array:
        """The scores; raises unless all lie between 0 and 1."""
        return _between_0_and_1(self.score)


class DistinctScores(FullScores):
    """The scores of rows in rank order, all different in a query, so that each row is a level.

    The area is then computed from the relevant rows alone, which are few; counts are computed only if they are read.

    Parameters
    ----------
    score : the score of each row, falling within a query, shape (rows,).
    lengths : number of rows of each query, shape (queries,).
    relevant : the relevant rows; the rank of each is its position in the query.
    """

    def __init__(self, score: Array, lengths: Array, relevant: Rows) -> None:
        self.score, self.count, self.relevant, self.n_queries = score, lengths, relevant, len(lengths)
        make_read_only(self)

    @computed_once
    def query(self) -> Array:
        """The query of each row, shape (rows,)."""
        return np.repeat(np.arange(self.n_queries), self.count)

    @computed_once
    def tp(self) -> Array:
        """Number of relevant rows of the query down to each row, shape (rows,)."""
        is_relevant = np.zeros(len(self.score))
        is_relevant[self._row] = 1
        return np.cumsum(is_relevant) - np.repeat(self.relevant.starts, self.count)

    @computed_once
    def fp(self) -> Array:
        """Number of other rows of the query down to each row, shape (rows,)."""
        return self.position - self.tp

    @computed_once
    def positives(self) -> Array:
        return self.relevant.count.astype(np.float64)

    @computed_once
    def negatives(self) -> Array:
        return self.count - self.positives

    @property
    def _row(self) -> Array:
        """The position of each relevant row among all rows, shape (relevant rows,)."""
        return self.relevant.each(self.starts) + self.relevant.rank - 1

    @computed_once
    def area(self) -> Array:
        relevant = self.relevant
        others_below = relevant.each(self.negatives) + relevant.position - relevant.rank  # each relevant row
        pairs = relevant.total(others_below)
        return ratio(pairs, self.positives * self.negatives)

    @computed_once
    def steps(self) -> Array:
        out = np.zeros(len(self.score))
        out[self._row] = self.relevant.position / self.relevant.rank
        return out


def _between_0_and_1(score: Array) -> Array:
    """Return the scores; raise unless all lie between 0 and 1."""
    outside = (score < 0) | (score > 1)
    if outside.any():
        wrong = float(score[outside][0])
        what = "a document that was not retrieved has no score" if np.isinf(wrong) else f"{wrong:g} is a score"
        raise BadValueError(f"the scores have to be probabilities, between 0 and 1, and {what}")
    return score


class ClassScores(CachesByKey):
    """The scores of several classes for each row, and its true class.

    Parameters
    ----------
    query : the segment of each row, ascending, shape (rows,).
    actual : the code of each row's true class, shape (rows,).
    score : the score of each class for each row, shape (rows, K).
    weight : the weight of each row, shape (rows,).
    n_queries : number of segments.
    seen : True for the classes that take part, shape (queries, K); None for those that have rows.
    """

    def __init__(
        self, query: Array, actual: Array, score: Array, weight: Array, n_queries: int, seen: Array | None
    ) -> None:
        self.query, self.n_queries = query, n_queries
        self.actual, self.score, self.weight = actual, score, weight
        self.seen = self._summed(None) > 0 if seen is None else seen
        make_read_only(self)

    @computed_once
    def support(self) -> Array:
        """Weight of the rows of each class, shape (queries, K)."""
        return self._summed(self.weight)

    @computed_once
    def has_rows(self) -> Array:
        """True for the classes that have rows, shape (queries, K)."""
        return self._summed(None) > 0

    def _summed(self, weight: Array | None) -> Array:
        """Return the sum of the weights of the rows of each class, shape (queries, K); None for their number."""
        shape = self.n_queries, self.score.shape[1]
        return np.bincount(self.query * shape[1] + self.actual, weight, minlength=shape[0] * shape[1]).reshape(shape)

    def rest(self, c: int) -> FullScores:
        """Return the scores of one class against the rest."""
        return self._against(c, self.weight > 0)

    def pair(self, a: int, b: int) -> FullScores:
        """Return the scores of class ``a`` among the rows of classes ``a`` and ``b``."""
        return self._against(a, (self.weight > 0) & ((self.actual == a) | (self.actual == b)))

    def _against(self, c: int, some: Array) -> FullScores:
        """Return the scores of class ``c`` against the others, among the rows ``some``."""
        weight, good = self.weight[some], self.actual[some] == c
        return sorted_levels(self.query[some], self.score[some, c], good * weight, weight, self.n_queries)

    @computed_once
    def n_classes_before(self) -> Array:
        """Number of classes that each row's scores place before its true class, shape (rows,).

        These are classes with higher scores, and later ones with the same score.
        """
        true, later = self.score[np.arange(len(self.score)), self.actual][:, None], self.actual[:, None]
        equal = (self.score == true) & (np.arange(self.score.shape[1]) > later)
        return ((self.score > true) | equal).sum(axis=1)

    @computed_once
    def falling(self) -> Array:
        """The order of the rows by falling score of each class, if there is one segment, shape (K, rows)."""
        return np.argsort(-self.score, axis=0, kind="stable").T

    @computed_once
    def probability(self) -> Array:
        """The scores, shape (rows, K); raises unless all lie between 0 and 1."""
        return _between_0_and_1(self.score)

    def bins(self, n: int | str) -> CalibrationBins:
        """Return the rows in bins of their greatest probability; a row whose class has it counts as relevant."""

        def make() -> CalibrationBins:
            greatest, is_right = self.probability.max(axis=1), self.probability.argmax(axis=1) == self.actual
            return CalibrationBins.of(self.query, greatest, self.weight, self.weight * is_right, self.n_queries, n)

        return self.cached(("bins", n), make)

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of the rows' values, NaN for a segment without weight, shape (queries,)."""
        weight = np.bincount(self.query, self.weight, minlength=self.n_queries)
        with np.errstate(invalid="ignore"):
            return np.bincount(self.query, self.weight * values, minlength=self.n_queries) / weight


class DrawnScores(ClassScores):
    """The scores of several classes in resamples of one segment; the rows are sorted only once.

    Parameters
    ----------
    rows : the rows, sorted once for each class.
    times : how often each row is in each resample, shape (resamples, rows).
    """

    def __init__(self, rows: ClassScores, times: Array) -> None:
        self.rows, self.weights = rows, times * rows.weight
        draw, row = np.nonzero(self.weights)
        seen = np.repeat(rows.seen, len(times), axis=0)
        super().__init__(draw, rows.actual[row], rows.score[row], self.weights[draw, row], len(times), seen)

    def rest(self, c: int) -> FullScores:
        return self._of(c, self.rows.falling[c])

    def pair(self, a: int, b: int) -> FullScores:
        falling, actual = self.rows.falling[a], self.rows.actual
        return self._of(a, falling[(actual[falling] == a) | (actual[falling] == b)])

    def _of(self, c: int, falling: Array) -> FullScores:
        """Return the scores of class ``c`` against the rest; ``falling``: some rows, by falling score of the class."""
        return FallingRows(self.rows.score[:, c], self.rows.actual == c, falling).drawn(self.weights)


def sorted_levels(query: Array, score: Array, good: Array, weight: Array, n_queries: int) -> FullScores:
    """Count rows at each distinct score, as ``levels`` does, of rows in any order."""
    falls = (query[1:] > query[:-1]) | ((query[1:] == query[:-1]) & (score[1:] <= score[:-1]))
    if not falls.all():
        order = np.lexsort((-score, query))
        query, score, good, weight = query[order], score[order], good[order], weight[order]
    return levels(query, score, good, weight, n_queries)


def levels(query: Array, score: Array, good: Array, weight: Array, n_queries: int) -> FullScores:
    """Count rows at each distinct score.

    Parameters
    ----------
    query, score : query and score of each row, sorted by query, within a query by falling score, shape (rows,).
    good : the weight of each relevant row, 0 for other rows, shape (rows,).
    weight : the weight of each row, shape (rows,).
    """
    if not len(score):
        return FullScores(query, score, np.zeros(0), np.zeros(0), n_queries)
    end = np.append(np.flatnonzero(begins_run(score, query))[1:], len(score)) - 1
    tp, fp = np.cumsum(good, dtype=np.float64)[end], np.cumsum(weight - good, dtype=np.float64)[end]
    scores = FullScores(query[end], score[end], tp, fp, n_queries)
    if n_queries > 1:  # sums start anew with each query
        starts, n_levels = scores.starts_of_filled, scores.count[scores.count > 0]
        for values in (tp, fp):
            values -= np.repeat(np.concatenate([[0], values[starts[1:] - 1]]), n_levels)
    return scores


class FallingRows:
    """Rows by falling score, which are sorted once and counted at each distinct score in many resamples.

    Parameters
    ----------
    score, good : the score of each row, in any order, and True for relevant rows, shape (rows,) each.
    order : the order of the rows by falling score; None to find it.
    merged : whether successive scores that no relevant row has become one, which changes no measure of the order alone.
    """

    def __init__(self, score: Array, good: Array, order: Array | None = None, *, merged: bool = False) -> None:
        self.order = np.argsort(-score, kind="stable") if order is None else order
        falling, self.good = score[self.order], good[self.order]
        starts = np.flatnonzero(begins_run(falling))
        if merged and len(starts):
            any_good = np.logical_or.reduceat(self.good, starts)
            starts = starts[np.append(True, any_good[1:] | any_good[:-1] | (falling[starts[1:]] == -np.inf))]
        self.starts, self.score = starts, falling[starts]

    def drawn(self, weight: Array) -> FullScores:
        """Count the rows of resamples at each distinct score; each resample is a query.

        ``weight``: the weight of each row in each resample, 0 where it is not drawn, shape (resamples, rows).
        """
        weight, n = np.take(weight, self.order, axis=1), len(weight)
        both = [np.add.reduceat(weight * side, self.starts, axis=1) for side in (self.good, ~self.good)]
        was_drawn = both[0] + both[1] > 0
        at, n_levels = np.flatnonzero(was_drawn), np.count_nonzero(was_drawn, axis=1)
        draw, before = np.repeat(np.arange(n), n_levels), np.cumsum(n_levels) - n_levels
        tp, fp = (np.append(0, np.cumsum(side.ravel()[at])) for side in both)
        tp, fp = (sums[1:] - sums[before].repeat(n_levels) for sums in (tp, fp))  # sums start anew with each resample
        return FullScores(draw, self.score[at - draw * len(self.score)], tp, fp, n)


class DrawnRows:
    """The scores of two classes in resamples.

    Parameters
    ----------
    rows, merged : the rows by falling score: with all scores; and with successive scores that no relevant row has as
        one.
    weight : the weight of each row in each resample, shape (resamples, rows).
    """

    def __init__(self, rows: FallingRows, merged: FallingRows, weight: Array) -> None:
        self.rows, self.merged, self.weight, self.n_queries = rows, merged, weight, len(weight)

    @computed_once
    def scores(self) -> FullScores:
        """Counts at each score."""
        return self.rows.drawn(self.weight)

    @computed_once
    def order_scores(self) -> FullScores:
        """Counts for measures of the order alone; successive scores that no relevant row has are one."""
        return self.merged.drawn(self.weight)
