"""Contingency tables of several classes: only cells with rows are stored, so that many classes cost no more."""

from __future__ import annotations

import numpy as np

from frame_metrics.errors import FrameMetricsError
from frame_metrics.inputs.cached_arrays import computed_once, make_read_only
from frame_metrics.inputs.rows import Array, sum_of_others
from frame_metrics.inputs.tables import FullConfusion


class Classes:
    """The tables of several classes, one for each segment: how often each class was predicted for rows of each class.

    Cells in which there are no rows may be left out. Resamples of one segment have the same cells.

    Parameters
    ----------
    table, true, found : the index of each cell's table, ascending, its true class and its prediction, shape (cells,)
        each. A prediction is one of F found clusters, or of the classes (then F is K); F stands for no prediction.
    amount : number of rows in each cell, shape (1, cells); of resamples shape (n, cells), and then ``table`` is 0.
    shape : number of tables n, of classes K, and of found clusters F.
    seen : True for classes that take part, shape (n, K); None for those that are true or predicted somewhere.
    class_of_cluster : the class that each cluster stands for, -1 for none, shape (n, F), of resamples
        (1, F); None if classes were predicted.
    cluster_error : the error to raise if clusters are not matched to classes; None if predictions are classes or
        matched.
    """

    def __init__(
        self,
        table: Array,
        true: Array,
        found: Array,
        amount: Array,
        shape: tuple[int, int, int],
        seen: Array | None = None,
        class_of_cluster: Array | None = None,
        cluster_error: FrameMetricsError | None = None,
    ) -> None:
        self.table, self.true, self.found, self.amount = table, true, found, amount
        self.class_of_cluster, self.cluster_error = class_of_cluster, cluster_error
        self.n, self.k, self.f = shape
        self.seen = (self.actual + self.predicted > 0) if seen is None else seen
        make_read_only(self)

    @classmethod
    def of_grid(cls, amount: Array, seen: Array | None = None) -> Classes:
        """Return tables from the numbers of rows of all their cells, shape (n, K, K + 1).

        The last column is for rows without a prediction.
        """
        table, true, predicted = (at.ravel() for at in np.indices(amount.shape))
        return cls(table, true, predicted, amount.reshape(1, -1), (*amount.shape[:2], amount.shape[2] - 1), seen)

    @property
    def n_queries(self) -> int:
        """Number of tables, one for each segment."""
        return self.n

    def cells_of(self, g: int) -> tuple[Array, Array, Array]:
        """Return true class, prediction and number of rows of each cell of segment ``g`` that has rows."""
        at = slice(*np.searchsorted(self.table, [g, g + 1]))
        with_rows = np.flatnonzero(self.amount[0, at])
        return self.true[at][with_rows], self.found[at][with_rows], self.amount[0, at][with_rows]

    def drawn(self, g: int, true: Array, found: Array, amount: Array) -> Classes:
        """Return tables of resamples of segment ``g``; clusters stand for the same classes as in the segment.

        Parameters
        ----------
        g : the segment.
        true, found : the class and the prediction of each cell, shape (cells,) each.
        amount : number of rows of each cell in each resample, shape (resamples, cells).
        """
        n, zeros = len(amount), np.zeros(len(true), np.int64)
        class_of_cluster = None if self.class_of_cluster is None else self.class_of_cluster[[g]]
        seen = np.repeat(self.seen[g][None], n, axis=0)
        return Classes(zeros, true, found, amount, (n, self.k, self.f), seen, class_of_cluster, self.cluster_error)

    @computed_once
    def predicted_class(self) -> Array:
        """The class that each cell's prediction stands for, K for none, shape (cells,)."""
        if self.cluster_error is not None:
            raise self.cluster_error
        if self.class_of_cluster is None:
            return self.found
        stands_for = np.where(self.class_of_cluster < 0, self.k, self.class_of_cluster)
        stands_for = np.concatenate([stands_for, np.full((len(stands_for), 1), self.k)], axis=1)  # F: no prediction
        return np.asarray(stands_for[self.table, self.found])

    def total(self, values: Array) -> Array:
        """Return the sum over each table's cells, shape (n,).

        ``values``: shape (1, cells), or (n, cells) of resamples.
        """
        return self.sum_by(np.zeros(len(self.table), np.int64), 1, values)[:, 0]

    def sum_by(self, code: Array, width: int, values: Array, cells: Array | None = None) -> Array:
        """Return the sums of values over the cells of each table with equal codes, shape (n, width).

        Parameters
        ----------
        code : a code of each cell, 0 ... width - 1, such as its true class, shape (cells,).
        width : number of codes.
        values : as for ``total``.
        cells : True for the cells to add up, shape (cells,); None for all.
        """
        key = self.table * width + code
        if cells is not None:
            key, values = key[cells], values[:, cells]
        if len(values) != 1:  # of resamples
            key = key + np.arange(len(values))[:, None] * width
        sums = np.bincount(key.ravel(), values.ravel(), self.n * width)
        return sums.reshape(self.n, width).astype(np.float64, copy=False)  # bincount of no values returns integers

    def each(self, of_table: Array, code: Array) -> Array:
        """Return for each cell the value of its table at its code, in the shape of ``amount``.

        ``of_table``: the values, shape (n, width); ``code``: 0 ... width - 1, shape (cells,).
        """
        return of_table[:, code] if len(self.amount) != 1 else of_table[self.table, code][None]

    @computed_once
    def decided(self) -> Array:
        """True for cells of rows with a prediction, or a cluster, shape (cells,)."""
        return self.found < self.f

    @computed_once
    def shares(self) -> tuple[Array, Array, Array]:
        """The shares of the rows with a prediction: of each cell, of its class, and of its prediction, 0 without any.

        Each has the shape of ``amount``.
        """
        rows = self.amount * self.decided
        of_class, of_found = self.sum_by(self.true, self.k, rows), self.sum_by(self.found, self.f + 1, rows)
        every = self.each(self.total(rows)[:, None], np.zeros(len(self.table), np.int64))
        sums = rows, self.each(of_class, self.true), self.each(of_found, self.found)
        share, true, found = (values / np.where(every > 0, every, 1) for values in sums)
        return share, true, found

    def pairs(self) -> tuple[Array, Array, Array, Array]:
        """Count pairs of rows with a prediction, shape (n,) each: all; equal in class, in prediction, and in both."""
        rows = self.amount * self.decided
        same_class = _pairs(self.sum_by(self.true, self.k, rows)).sum(axis=1)
        same_found = _pairs(self.sum_by(self.found, self.f + 1, rows)).sum(axis=1)
        return _pairs(self.total(rows)), same_class, same_found, self.total(_pairs(rows))

    @computed_once
    def actual(self) -> Array:
        """Number of rows of each class, shape (n, K)."""
        return self.sum_by(self.true, self.k, self.amount, self.predicted_class >= 0)

    @computed_once
    def predicted(self) -> Array:
        """Number of rows predicted to be of each class, shape (n, K)."""
        return self.sum_by(self.predicted_class, self.k, self.amount, self.predicted_class < self.k)

    @computed_once
    def hits(self) -> Array:
        """Number of rows of each class that were predicted rightly, shape (n, K)."""
        return self.sum_by(self.true, self.k, self.amount, self.predicted_class == self.true)

    @computed_once
    def undecided(self) -> Array:
        """Number of rows of each class without a prediction, shape (n, K)."""
        return self.sum_by(self.true, self.k, self.amount, self.predicted_class == self.k)

    @computed_once
    def answered(self) -> Array:
        """Number of rows of each class with a prediction, shape (n, K)."""
        return self.sum_by(self.true, self.k, self.amount, self.predicted_class < self.k)

    @computed_once
    def size(self) -> Array:
        """Number of all rows, shape (n,)."""
        return self.actual.sum(axis=1)

    @computed_once
    def is_whole(self) -> bool:
        """True if all counts are whole, so that differences of their sums are exact."""
        return bool((self.amount == np.floor(self.amount)).all())

    def rest(self, c: int) -> FullConfusion:
        """Return the 2x2 tables of one class against the rest."""
        return self.against_rest.part(slice(c * self.n, (c + 1) * self.n))

    @computed_once
    def against_rest(self) -> FullConfusion:
        """The 2x2 tables of each class against the rest, those of the first class first, shape (K * n,)."""
        hits, up = self.hits, self.undecided
        if self.is_whole:
            un = up.sum(axis=1, keepdims=True) - up
            fp, fn = self.predicted - hits, self.actual - up - hits
            tn = self.predicted.sum(axis=1, keepdims=True) - hits - fp - fn
        else:  # differences of sums that are not whole would leave something where there is nothing
            wrong = (self.predicted_class < self.k) & (self.predicted_class != self.true)
            un, fp, fn = (
                sum_of_others(up),
                *(self.sum_by(of, self.k, self.amount, wrong) for of in (self.predicted_class, self.true)),
            )
            tn = self._of_neither(hits + fp + fn)
        tp, fp, fn, tn, up, un = (cell.T.ravel() for cell in (hits, fp, fn, tn, up, un))
        return FullConfusion(tp, fp, fn, np.zeros(len(tp)), np.tile(self.size, self.k), (up, un), tn)

    def _of_neither(self, near: Array) -> Array:
        """Return, for each class, the rows with a prediction that are neither of it nor predicted to be, shape (n, K).

        For most classes this is the number of rows with a prediction less ``near``. Where little would remain, floats
        would lose digits, and the rows are added up instead. A row is near two classes at most, its own and the
        predicted one. So less than a quarter of the rows can remain for two classes of a table at most: those with the
        greatest ``near``.

        ``near``: the rows with a prediction that are of each class or predicted to be, shape (n, K).
        """
        rows, tables, none = self.predicted_class < self.k, np.arange(self.n), np.zeros(len(self.table), np.int64)
        out = np.maximum(self.answered.sum(axis=1, keepdims=True) - near, 0)
        for at in np.argsort(-near, axis=1, kind="stable")[:, :2].T:
            one = self.each(at[:, None], none)
            out[tables, at] = self.total(self.amount * (rows & (self.true != one) & (self.predicted_class != one)))
        return out


def _pairs(n: Array) -> Array:
    """Return the number of pairs among ``n`` rows."""
    return np.maximum(n * (n - 1) / 2, 0)
