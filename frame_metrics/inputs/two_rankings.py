"""Two rankings of each query, and where they have the same documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frame_metrics.inputs.cached_arrays import CachesByKey, computed_once, make_read_only
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array, Rows, Segmented


@dataclass(eq=False)
class TwoRankings(CachesByKey):
    """Two rankings of each query, a system's and the baseline's, and where they have the same documents.

    Parameters
    ----------
    lengths : number of documents of the system's ranking and of the baseline's, shape (2, queries).
    query : the query of each document that both rankings have, ascending, shape (documents,).
    place : the position of each such document in both rankings, from 1, shape (2, documents).
    first, last : the first and the last position of its tie in both, shape (2, documents); ``place`` without ties.
    ties : for each of the two rankings, the first position of the tie of every document, query after query; None
        without ties.
    """

    lengths: Array
    query: Array
    place: Array
    first: Array
    last: Array
    ties: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        make_read_only(self)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.lengths.shape[1]

    def cut(self, k: int | None) -> TwoRankings:
        """Return the rankings down to position ``k``; a tie across ``k`` is kept whole, and counts by its chances."""
        return self if k is None else self.cached(k, lambda: self._cut(k))

    def _cut(self, k: int) -> TwoRankings:
        """Return what ``cut`` caches."""
        within = self.first.max(axis=0) <= k
        place, first, last = (values[:, within] for values in (self.place, self.first, self.last))
        return TwoRankings(np.minimum(self.lengths, k), self.query[within], place, first, last, self.ties)

    @computed_once
    def common(self) -> Array:
        """Number of documents that both rankings have, shape (queries,)."""
        return np.bincount(self.query, minlength=self.n_queries)

    @computed_once
    def one_empty(self) -> Array:
        """True where one of two rankings has no document, and the other has some, shape (queries,)."""
        return (self.lengths == 0).any(axis=0) & (self.lengths > 0).any(axis=0)

    @computed_once
    def depths(self) -> Rows:
        """Every depth from 1 to the end of the longer ranking, query after query."""
        longer = self.lengths.max(axis=0)
        query = np.repeat(np.arange(self.n_queries), longer)
        depth = Segmented(query, self.n_queries).position
        return Rows(query, depth, depth, self.n_queries)

    @computed_once
    def overlap(self) -> Array:
        """Number of common documents down to each depth, shape (depths,); with ties the mean over all orders.

        In a random order of a tie from place t to place b, a document is among the first d with the chance
        (d - t + 1) / (b - t + 1). So what a document adds to the overlap is a polynomial of d, which changes where one
        of its ties begins or ends.
        """
        if self.ties is None:
            return self._counted_from(self.place.max(axis=0), np.ones(len(self.query)))
        size, shift, each = self.last - self.first + 1.0, 1.0 - self.first, np.arange(len(self.query))
        ones, zeros, longer = np.ones(len(each)), np.zeros(len(each)), self.last.argmax(axis=0)
        # The coefficients of the polynomial, shape (3, documents): at depths in both ties, in one, and past both.
        inside_both = np.array([shift.prod(axis=0), shift.sum(axis=0), ones]) / size.prod(axis=0)
        inside_one = np.array([shift[longer, each], ones, zeros]) / size[longer, each]
        past_both = np.array([ones, zeros, zeros])
        begin, end = self.first.max(axis=0), self.last.max(axis=0)
        steps = (begin, inside_both), (np.maximum(begin, self.last.min(axis=0)), inside_one - inside_both)
        d, total = self.depths.rank, np.zeros(len(self.depths.rank))
        for at, change in (*steps, (end, past_both - inside_one)):
            total += sum(self._counted_from(at, change[power]) * d**power for power in range(3))
        return np.clip(total, 0, d)

    def _counted_from(self, depth: Array, value: Array) -> Array:
        """Sum the values of common documents, each of which counts from its depth on, shape (depths,)."""
        reached = depth <= self.depths.count[self.query]
        at = self.depths.starts[self.query[reached]] + depth[reached] - 1
        return self.depths.running(np.bincount(at, value[reached], minlength=len(self.depths.query)))

    @computed_once
    def agreement(self) -> Array:
        """The share of common documents down to each depth, shape (depths,).

        Past the end of the shorter ranking, its missing documents are assumed to agree as often as those that it has.
        """
        depths, shorter = self.depths, self.lengths.min(axis=0)
        at_end = np.where(shorter > 0, np.append(self.overlap, 0)[depths.starts + shorter - 1], 0)
        beyond = np.maximum(depths.rank - shorter[depths.query], 0)
        return (self.overlap + at_end[depths.query] * beyond / np.maximum(shorter, 1)[depths.query]) / depths.rank

    @computed_once
    def one_order(self) -> OneOrder:
        """All documents of both rankings in the order of the first; those that it lacks come last, as one tie."""
        return OneOrder.of(self)


@record
class OneOrder:
    """All documents of two rankings in the order of the first, query after query.

    Documents that a ranking lacks stand below all that it has, as one tie. Each document has counts of the documents
    above it in this order, shape (documents,).
    """

    place: Segmented  # the documents; ``position`` is the position of each, from 1
    rising: Array  # number of those above that are not below it in the baseline, tied ones included
    tied: Array  # number of those above that are tied with it in the first ranking
    tied_in_baseline: Array  # number of those above that are tied with it in the baseline
    tied_in_both: Array  # number of those above that are tied with it in both

    @classmethod
    def of(cls, two: TwoRankings) -> OneOrder:
        """Lay out the documents on a grid of queries, which is as wide as a power of two."""
        first_length, second_length = two.lengths
        n = first_length + second_length - two.common
        width, rows = 1 << max(int(n.max(initial=1)) - 1, 1).bit_length(), np.arange(two.n_queries)[:, None]
        place = np.broadcast_to(np.arange(width, dtype=np.int32), (two.n_queries, width))
        value = place.copy()  # positions in the baseline; cells past a query's last document stay as they are
        # ``alone``: documents of the first ranking that the baseline lacks; ``missing``: those of the baseline that the
        # first ranking lacks. Documents that a ranking lacks come after all that it has.
        alone, missing = (place < length[:, None] for length in (first_length, second_length))
        alone[two.query, two.place[0] - 1] = missing[two.query, two.place[1] - 1] = False
        value[alone] = (second_length[:, None] + np.cumsum(alone, axis=1) - 1)[alone]
        row, column = np.nonzero(missing)
        value[row, (first_length[:, None] + np.cumsum(missing, axis=1) - 1)[row, column]] = column
        value[two.query, two.place[0] - 1] = two.place[1] - 1
        first, second = np.minimum(place, first_length[:, None]), np.minimum(value, second_length[:, None])
        both = np.zeros_like(value)
        inside = place < n[:, None]
        # With ties, a document is sorted by the first position of its tie in both rankings.
        if two.ties is not None:
            of_ties = [place.copy(), place.copy()]
            for grid, length, top in zip(of_ties, two.lengths, two.ties, strict=True):
                grid[place < length[:, None]] = top - 1
            first = np.where(place < first_length[:, None], of_ties[0], np.where(inside, first, width))
            listed = value < second_length[:, None]
            second = np.where(listed, of_ties[1][rows, value], np.where(inside, second, width))
            order = np.lexsort((second, first), axis=1)
            first, second = first[rows, order], second[rows, order]
            value[rows, np.argsort(second, axis=1, kind="stable")] = place
            again = np.zeros_like(inside)
            again[:, 1:] = (first[:, 1:] == first[:, :-1]) & (second[:, 1:] == second[:, :-1])
            both = place - np.maximum.accumulate(np.where(again, 0, place), axis=1)
        rising = smaller_before(value)[rows, value]
        of_cells = (rising, place - first, value - second, both)
        query = np.repeat(np.arange(two.n_queries), n)
        return cls(Segmented(query, two.n_queries), *(cells[inside].astype(np.int64) for cells in of_cells))


def smaller_before(value: Array) -> Array:
    """Count, for each value of a row, the smaller values that stand before it.

    Each row is sorted bit by bit, from the highest: when the values of a stretch are split into a low and a high half,
    each high value counts the low ones before it.

    Parameters
    ----------
    value : permutations of 0, 1, 2 ..., as many as a power of two, shape (rows, width).

    Returns
    -------
    The number for each value, not for each place, shape (rows, width).
    """
    shape, half = value.shape, value.shape[1] // 2
    count = np.zeros_like(value)
    while half:
        value, count = value.reshape(-1, 2 * half), count.reshape(-1, 2 * half)
        low = (value & half) == 0
        count = count + np.where(low, 0, np.cumsum(low, axis=1, dtype=count.dtype))
        value, count = (
            np.hstack([cells[low].reshape(-1, half), cells[~low].reshape(-1, half)]) for cells in (value, count)
        )
        half //= 2
    return count.reshape(shape)
