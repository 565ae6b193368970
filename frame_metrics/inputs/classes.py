"""Contingency tables of several classes: only the cells that occur are held, so that many classes cost no more."""

from __future__ import annotations

import numpy as np

from frame_metrics.errors import FrameMetricsError
from frame_metrics.inputs.cached_arrays import computed_once, make_read_only
from frame_metrics.inputs.rows import Array, others
from frame_metrics.inputs.tables import FullConfusion


class Classes:
    """The table of several classes of each segment: how often each class was predicted where each one is true.

    Cells in which there are no rows may be left out. Resamples of one segment have the same cells.

    Parameters
    ----------
    table, true, found : the table of each cell, ascending, its true class and its prediction, shape (cells,) each. A
        prediction is one of F found clusters, or of the classes (then F is K); F is for rows without a prediction.
    amount : number of rows in each cell, shape (1, cells); of resamples shape (n, cells), and then ``table`` is 0.
    shape : the number of tables n, of classes K, and of found clusters F.
    seen : which classes take part, shape (n, K); None for those that are true or predicted somewhere.
    taken : the class that each cluster stands for, -1 for none, shape (n, F), of resamples
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
        taken: Array | None = None,
        cluster_error: FrameMetricsError | None = None,
    ) -> None:
        self.table, self.true, self.found, self.amount, self.taken, self.cluster_error = (
            table,
            true,
            found,
            amount,
            taken,
            cluster_error,
        )
        self.n, self.k, self.f = shape
        self.seen = (self.actual + self.predicted > 0) if seen is None else seen
        make_read_only(self)

    @classmethod
    def of_grid(cls, found: Array, seen: Array | None = None) -> Classes:
        """Return tables of all their cells, of shape (n, K, K + 1), the last column without a prediction."""
        table, true, predicted = (at.ravel() for at in np.indices(found.shape))
        return cls(table, true, predicted, found.reshape(1, -1), (*found.shape[:2], found.shape[2] - 1), seen)

    @property
    def n_queries(self) -> int:
        """Number of tables, one for each segment."""
        return self.n

    def cells_of(self, g: int) -> tuple[Array, Array, Array]:
        """Return true class, prediction and number of rows of the cells of segment ``g`` that have some."""
        at = slice(*np.searchsorted(self.table, [g, g + 1]))
        some = np.flatnonzero(self.amount[0, at])
        return self.true[at][some], self.found[at][some], self.amount[0, at][some]

    def drawn(self, g: int, true: Array, found: Array, amount: Array) -> Classes:
        """Return tables of resamples of segment ``g``; clusters stand for the same classes as in the segment.

        Parameters
        ----------
        g : the segment.
        true, found : the class and the prediction of each cell, shape (cells,) each.
        amount : the number of rows of each cell in each resample, shape (resamples, cells).
        """
        n, none = len(amount), np.zeros(len(true), np.int64)
        taken = None if self.taken is None else self.taken[[g]]
        seen = np.repeat(self.seen[g][None], n, axis=0)
        return Classes(none, true, found, amount, (n, self.k, self.f), seen, taken, self.cluster_error)

    @computed_once
    def predicted_class(self) -> Array:
        """The class that each cell's prediction stands for, K for none, shape (cells,)."""
        if self.cluster_error is not None:
            raise self.cluster_error
        if self.taken is None:
            return self.found
        stands = np.where(self.taken < 0, self.k, self.taken)
        to = np.concatenate([stands, np.full((len(stands), 1), self.k)], axis=1)  # F: no prediction
        return np.asarray(to[self.table, self.found])

    def total(self, values: Array) -> Array:
        """Return the sum over each table's cells, shape (n,).

        ``values``: shape (1, cells), or (n, cells) of resamples.
        """
        return self.by(np.zeros(len(self.table), np.int64), 1, values)[:, 0]

    def by(self, of: Array, width: int, values: Array, some: Array | None = None) -> Array:
        """Return the sums of values over the cells of each table by their ``of``, 0 ... width - 1, shape (n, width).

        ``some``: marks of the cells that are added up; None: all.
        """
        key = self.table * width + of
        if some is not None:
            key, values = key[some], values[:, some]
        if len(values) != 1:  # of resamples
            key = key + np.arange(len(values))[:, None] * width
        sums = np.bincount(key.ravel(), values.ravel(), self.n * width)
        return sums.reshape(self.n, width).astype(np.float64, copy=False)  # of no values at all it is of integers

    def each(self, of_table: Array, of: Array) -> Array:
        """Return for each cell the value of its table at ``of``, in the shape of ``amount``.

        ``of_table``: shape (n, width).
        """
        return of_table[:, of] if len(self.amount) != 1 else of_table[self.table, of][None]

    @computed_once
    def decided(self) -> Array:
        """The cells with a prediction, or a cluster, shape (cells,)."""
        return self.found < self.f

    @computed_once
    def shares(self) -> tuple[Array, Array, Array]:
        """The shares of the rows with a prediction: of each cell, of its class, and of its prediction, 0 without any.

        Each has the shape of ``amount``.
        """
        rows = self.amount * self.decided
        sums = [self.by(self.true, self.k, rows), self.by(self.found, self.f + 1, rows)]
        every = self.each(self.total(rows)[:, None], np.zeros(len(self.table), np.int64))
        of = [rows, self.each(sums[0], self.true), self.each(sums[1], self.found)]
        share, true, found = (values / np.where(every > 0, every, 1) for values in of)
        return share, true, found

    def pairs(self) -> tuple[Array, Array, Array, Array]:
        """Count pairs of rows with a prediction, shape (n,) each: all; equal in class, in prediction, and in both."""
        rows = self.amount * self.decided
        same_class = _pairs(self.by(self.true, self.k, rows)).sum(axis=1)
        same_found = _pairs(self.by(self.found, self.f + 1, rows)).sum(axis=1)
        return _pairs(self.total(rows)), same_class, same_found, self.total(_pairs(rows))

    @computed_once
    def actual(self) -> Array:
        """Rows of each class, shape (n, K)."""
        return self.by(self.true, self.k, self.amount, self.predicted_class >= 0)

    @computed_once
    def predicted(self) -> Array:
        """Rows predicted to be of each class, shape (n, K)."""
        return self.by(self.predicted_class, self.k, self.amount, self.predicted_class < self.k)

    @computed_once
    def hits(self) -> Array:
        """Rows of each class that were predicted rightly, shape (n, K)."""
        return self.by(self.true, self.k, self.amount, self.predicted_class == self.true)

    @computed_once
    def undecided(self) -> Array:
        """Rows of each class without a prediction, shape (n, K)."""
        return self.by(self.true, self.k, self.amount, self.predicted_class == self.k)

    @computed_once
    def answered(self) -> Array:
        """Rows of each class with a prediction, shape (n, K)."""
        return self.by(self.true, self.k, self.amount, self.predicted_class < self.k)

    @computed_once
    def size(self) -> Array:
        """All rows, shape (n,)."""
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
                others(up),
                *(self.by(of, self.k, self.amount, wrong) for of in (self.predicted_class, self.true)),
            )
            tn = self._of_neither(hits + fp + fn)
        tp, fp, fn, tn, up, un = (cell.T.ravel() for cell in (hits, fp, fn, tn, up, un))
        return FullConfusion(tp, fp, fn, np.zeros(len(tp)), np.tile(self.size, self.k), (up, un), tn)

    def _of_neither(self, near: Array) -> Array:
        """Return for each class the rows of other classes that are not predicted to be of it either, shape (n, K).

        For most classes this is the number of rows with a prediction less ``near``. Where little would remain, floats
        would lose digits, and the rows are added up instead. A row is near two classes at most, its own and the
        predicted one, so less than a quarter can remain for two classes of a table: those with the greatest ``near``.

        ``near``: rows of each class, or predicted to be, of those with a prediction, shape (n, K).
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
