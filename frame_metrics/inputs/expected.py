"""Rankings for ``ties="expected"``: what kernels read is the mean over all orders of tied rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np

from frame_metrics.errors import NotComputableError
from frame_metrics.inputs import Array, FullRanking, Gain, Rows, gain_of
from frame_metrics.inputs.cached_arrays import computed_once
from frame_metrics.inputs.rows import sums_between


class Expected(FullRanking):
    """A ranking in which each row of a tie has the mean of the tie's values, as any row of it may be at its place.

    For example, two tied rows, one of which is relevant, are two rows of relevance 1/2. So a metric that is a sum over
    ranks, divided by a number that no order changes, has its mean over all orders as its value here. What is not such a
    sum (the first relevant document, the relevant documents above another one) is averaged over orders by properties
    below. The ideal ranking and the number of relevant documents do not depend on the order.

    Parameters
    ----------
    run : the ranking in any of its orders.
    tie : the code of each row's tie, ascending.

    Source: F. McSherry, M. Najork, Computing information retrieval performance measures efficiently in the presence of
    tied scores, ECIR 2008.
    """

    def __init__(self, run: FullRanking, tie: Array) -> None:
        super().__init__(**{field.name: getattr(run, field.name) for field in fields(run)})
        self.run, self.tie_code = run, tie

    @property
    def n_relevant(self) -> Array:
        return self.run.n_relevant

    @property
    def listed_relevant(self) -> Array:
        return self.run.listed_relevant

    @computed_once
    def _n_rows_of_tie(self) -> Array:
        """Number of rows of each tie."""
        return np.bincount(self.tie_code)

    @computed_once
    def _n_relevant_of_tie(self) -> Array:
        """Number of relevant rows of each tie."""
        return np.bincount(self.tie_code, self.good)

    def rows_with(self, values: Array) -> Rows:
        """Return the retrieved rows whose tie has a value other than 0, with the mean of the tie."""
        mean = (np.bincount(self.tie_code, values) / np.maximum(self._n_rows_of_tie, 1))[self.tie_code]
        row = np.flatnonzero(mean)
        return self.rows(row, mean[row])

    @computed_once
    def relevant(self) -> Rows:
        """Rows that may hold a relevant document, with the share of the orders in which they do."""
        rows = self.rows_with(self.good)
        # Added up one by one, shares whose sum is 1 give exactly 1.
        return Rows(rows.query, rows.rank, rows.value, self.n_queries, cutoffs=self.cutoffs, one_by_one=True)

    @computed_once
    def _relevant_places(self) -> tuple[Array, Array, Array]:
        """The retrieved rows where a relevant document may stand, the tie of each, and the first such row of its tie.

        The last is an index into these rows. Shape (relevant rows,) each.
        """
        row = np.flatnonzero(self._n_relevant_of_tie[self.tie_code])
        query = self.query_of(row)
        row = row[row - self.starts[query] < self.n_ret[query]]
        tie = self.tie_code[row]
        return row, tie, np.searchsorted(tie, tie)

    def total(self, values: Array) -> Array:
        return self.relevant.total(values * self.relevant.value)

    def hits(self, k: int | None = None) -> Array:
        return self.run.hits() if k is None else self.count_of(self.good, k)

    def _gainful(self, gain: Gain) -> Rows:
        return self.rows_with(gain_of(self.grade, gain))

    def _valued(self, value: Array, rows: Array | None, call: str) -> Rows:
        lacking = np.bincount(self.tie_code, np.isnan(value))
        if ((lacking > 0) & (lacking < self._n_rows_of_tie)).any():
            raise NotComputableError(
                f"{call}: of rows with equal scores some have no value, and ties='expected' takes their "
                "mean; fill the nulls, or name doc= to order equal scores by document"
            )
        some = np.ones(len(value), bool) if rows is None else rows
        mean = np.bincount(self.tie_code, np.where(some, value, 0)) / np.maximum(self._n_rows_of_tie, 1)
        row = np.flatnonzero(np.bincount(self.tie_code, some)[self.tie_code])
        return self.rows(row, mean[self.tie_code][row])

    def ideal(self, gain: Gain = "linear") -> Rows:
        return self.run.ideal(gain)

    def count_of(self, rows: Array, k: int | Array | None, *, retrieved: bool = True) -> Array:
        if k is None:
            return super().count_of(rows, k, retrieved=retrieved)
        # Rows of whole ties are counted; of the tie across the cutoff, a share is counted.
        n_seen = np.minimum(self.n_ret, k).astype(np.int64)
        some = np.flatnonzero(n_seen)
        end = self.starts[some] + n_seen[some]
        last = self.tie_code[end - 1]
        begin = np.searchsorted(self.tie_code, last)
        counted = np.zeros(self.n_queries)
        counted[some] = sums_between(rows, self.starts[some], begin)
        counted[some] += np.bincount(self.tie_code, rows)[last] * ((end - begin) / self._n_rows_of_tie[last])
        return counted

    def mass(self, weight: Callable[[Array], Array], rows: Array, k: int | None = None) -> Array:
        seen = self.rows_with(rows)
        return seen.total_within(k, seen.value * seen.by_rank(weight))

    @computed_once
    def precision(self) -> Array:
        """The mean over all orders of the precision at each rank, counted as 0 if no relevant document stands there.

        Given a relevant document at the rank, those above it are all of the ties above, and on average an equal share
        of the other relevant documents of its own tie for each place of the tie above it.
        """
        row, tie, begin = self._relevant_places
        n_above_in_tie, n_others = np.arange(len(row)) - begin, np.maximum(self._n_rows_of_tie[tie] - 1, 1)
        in_ties_above = sums_between(self.good, self.starts[self.relevant.query], row[begin])
        above = in_ties_above + n_above_in_tie * (self._n_relevant_of_tie[tie] - 1) / n_others
        return self.relevant.value * (above + 1) / self.relevant.rank

    @computed_once
    def is_first(self) -> Array:
        """The share of the orders in which the first relevant document stands at a row, shape (relevant rows,).

        It stands in the first tie with a relevant document. If the tie has n rows, m of them relevant, and none of its
        first x - 1 places has a relevant document, the x-th place has one with the chance m / (n - x + 1).
        """
        _, tie, begin = self._relevant_places
        n_left = self._n_rows_of_tie[tie] - (np.arange(len(tie)) - begin)
        in_first_tie = begin == self.relevant.starts[self.relevant.query]
        chance = np.where(in_first_tie, np.minimum(self._n_relevant_of_tie[tie] / n_left, 1), 0.0)
        not_yet = self.relevant.running(1 - chance, np.multiply, fill=1.0)
        is_top = self.relevant.position == 1
        share = chance * np.where(is_top, 1.0, np.roll(not_yet, 1))
        before = np.where(is_top, 0.0, np.roll(self.relevant.running(share), 1))
        return np.where((chance == 1) & (share > 0), 1 - before, share)  # so that the shares add up to exactly 1
