"""Contingency tables of decisions and truth, of two classes or of several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frame_metrics.errors import BadValueError, FrameMetricsError, NotComputableError
from frame_metrics.inputs.kept import kept, seal, sealed
from frame_metrics.inputs.rows import Array


@dataclass(eq=False)
class FullConfusion:
    """The 2x2 table of each query or segment: what was retrieved, or predicted, against what is relevant.

    Parameters
    ----------
    tp, fp, fn : true positives, false positives, false negatives, of the documents that are decided, shape (n,).
    empty : places up to the cutoff that were not filled, shape (n,); 0 without a cutoff.
    size : documents in the collection, shape (n,); None where it is not known, and then tn is an error.
    undecided : relevant and other documents without a decision, shape (n,) each, which are in none of tp, fp, fn and
        tn; empty if all are decided.
    rest : the true negatives, if they were counted; None if they are what remains of ``size``, shape (n,).
    said : the size of the collection as given, and the number of documents that are known of it, for the error if it is
        too small, shape (n,) each.
    totals : the numbers of relevant, of other, and of all documents, if these are known already, shape (n,) each.
    """

    tp: Array
    fp: Array
    fn: Array
    empty: Array
    size: Array | None = None
    undecided: tuple[Array, ...] = ()
    rest: Array | None = None
    said: tuple[Array, Array] | None = None
    totals: tuple[Array, Array, Array] | None = None

    def __post_init__(self) -> None:
        seal(self)
        self.undecided = tuple(map(sealed, self.undecided)) or (sealed(np.zeros(len(self.tp))),) * 2

    @property
    def n_queries(self) -> int:
        """Number of tables, one for each query or segment."""
        return len(self.tp)

    @property
    def up(self) -> Array:
        """Undecided positives: relevant documents without a decision, shape (n,)."""
        return self.undecided[0]

    @property
    def un(self) -> Array:
        """Undecided negatives: other documents without a decision, shape (n,)."""
        return self.undecided[1]

    @kept
    def tn(self) -> Array:
        """True negatives: the rest of the collection, shape (n,)."""
        if self.rest is not None:
            return self.rest
        if self.size is None:
            raise NotComputableError("true negatives need collection_size=")
        rest = self.size - self.tp - self.fp - self.fn - self.up - self.un
        size, known = self.said or (self.size, self.size - rest)
        few = (known > size) & ((size > 0) | (rest < 0))  # an empty collection gives undefined values, not an error
        if few.any():
            raise BadValueError(
                f"collection_size: {int(size[few][0])} documents are fewer than the {int(known[few][0])} that are "
                "known of a query, retrieved or judged"
            )
        return rest

    @kept
    def predicted(self) -> Array:
        """Documents that were retrieved, with the places that were not filled, shape (n,)."""
        return self.tp + self.fp + self.empty

    @kept
    def actual(self) -> Array:
        """Relevant documents, shape (n,)."""
        return self.tp + self.fn + self.up if self.totals is None else self.totals[0]

    @kept
    def negative(self) -> Array:
        """Documents that are not relevant, shape (n,)."""
        return self.fp + self.tn + self.un if self.totals is None else self.totals[1]

    @kept
    def population(self) -> Array:
        """All documents, N, shape (n,): the sum of the six cells."""
        return self.actual + self.negative if self.totals is None else self.totals[2]

    @property
    def decided(self) -> Array:
        """Documents with a decision, shape (n,)."""
        return self.tp + self.fn + (self.fp + self.tn)

    @property
    def agreement(self) -> Array:
        """N² times (observed agreement - agreement by chance), the numerator of kappa, shape (n,)."""
        return self.negative * (self.tp - self.fn) + self.actual * (self.tn - self.fp)

    @kept
    def inverse(self) -> FullConfusion:
        """The table with the two classes exchanged: relevant documents become negatives."""
        nothing = np.zeros(len(self.tp))
        return FullConfusion(self.tn, self.fn, self.fp, nothing, self.size, self.undecided[::-1], self.tp)

    @property
    def counts(self) -> tuple[Array, ...]:
        """All counts that are summed when queries are pooled; NaN for unknown ones."""
        unknown = np.full(len(self.tp), np.nan)
        size, rest = (unknown if values is None else values for values in (self.size, self.rest))
        return (self.tp, self.fp, self.fn, self.empty, *self.undecided, size, rest)

    def part(self, at: slice) -> FullConfusion:
        """Return some of the tables."""
        size, rest = (None if values is None else values[at] for values in (self.size, self.rest))
        undecided = tuple(values[at] for values in self.undecided)
        return FullConfusion(self.tp[at], self.fp[at], self.fn[at], self.empty[at], size, undecided, rest)

    @classmethod
    def of_counts(cls, counts: Array) -> FullConfusion:
        """Return the table of summed counts, as ``counts`` gives them."""
        tp, fp, fn, empty, up, un = counts[:6]
        size, rest = (None if np.isnan(values).any() else values for values in counts[6:])
        return cls(tp, fp, fn, empty, size, (up, un), rest)


class Classes:
    """The table of several classes of each segment: how often each class was predicted where each one is true.

    Parameters
    ----------
    found : number of rows by true class and prediction, shape (n, K, F + 1). A prediction is one of F found clusters,
        or of the classes (then F is K); the last column is for rows without a prediction.
    seen : which classes take part, shape (n, K); None for those that are true or predicted somewhere.
    taken : the class that each cluster stands for, -1 for none, shape (n, F); None if classes were predicted.
    apart : the error to raise if clusters are not matched to classes; None if predictions are classes or matched.
    """

    def __init__(
        self,
        found: Array,
        seen: Array | None = None,
        taken: Array | None = None,
        apart: FrameMetricsError | None = None,
    ) -> None:
        self.found, self.taken, self.apart = found, taken, apart
        self.n, self.k = found.shape[:2]
        self.seen = (self.actual + self.predicted > 0) if seen is None else seen
        seal(self)

    @property
    def n_queries(self) -> int:
        """Number of tables, one for each segment."""
        return self.n

    def drawn(self, g: int, found: Array) -> Classes:
        """Return tables of resamples of segment ``g``; clusters stand for the same classes as in the segment.

        ``found``: the counts of each resample.
        """
        n = len(found)
        taken = None if self.taken is None else np.repeat(self.taken[g][None], n, axis=0)
        return Classes(found, np.repeat(self.seen[g][None], n, axis=0), taken, self.apart)

    @kept
    def counts(self) -> Array:
        """Rows by true and predicted class, shape (n, K, K + 1); the last column is for rows without a prediction."""
        if self.apart is not None:
            raise self.apart
        if self.taken is None:
            return self.found
        to = np.column_stack([self.taken, np.full(self.n, -1)])  # no class: index -1, the last column
        return np.asarray(self.found @ np.eye(self.k + 1)[to])

    def pairs(self) -> tuple[Array, Array, Array, Array]:
        """Count pairs of rows with a prediction, shape (n,) each: all; equal in class, in prediction, and in both."""
        rows = self.found[:, :, :-1]
        same_class, same_found = (_pairs(rows.sum(axis=axis)).sum(axis=1) for axis in (2, 1))
        return _pairs(rows.sum(axis=(1, 2))), same_class, same_found, _pairs(rows).sum(axis=(1, 2))

    @kept
    def actual(self) -> Array:
        """Rows of each class, shape (n, K)."""
        return self.counts.sum(axis=2)

    @kept
    def predicted(self) -> Array:
        """Rows predicted to be of each class, shape (n, K)."""
        return self.counts[:, :, :-1].sum(axis=1)

    @kept
    def hits(self) -> Array:
        """Rows of each class that were predicted rightly, shape (n, K)."""
        return np.einsum("naa->na", self.counts[:, :, :-1])

    @kept
    def undecided(self) -> Array:
        """Rows of each class without a prediction, shape (n, K)."""
        return self.counts[:, :, -1]

    @kept
    def size(self) -> Array:
        """All rows, shape (n,)."""
        return self.actual.sum(axis=1)

    @kept
    def is_whole(self) -> bool:
        """True if all counts are whole, so that differences of their sums are exact."""
        return bool((self.counts == np.floor(self.counts)).all())

    def rest(self, c: int) -> FullConfusion:
        """Return the 2x2 tables of one class against the rest."""
        return self.against_rest.part(slice(c * self.n, (c + 1) * self.n))

    @kept
    def against_rest(self) -> FullConfusion:
        """The 2x2 tables of each class against the rest, those of the first class first, shape (K * n,)."""
        hits, up = self.hits, self.undecided
        if self.is_whole:
            un = up.sum(axis=1, keepdims=True) - up
            fp, fn = self.predicted - hits, self.actual - up - hits
            tn = self.predicted.sum(axis=1, keepdims=True) - hits - fp - fn
        else:  # differences of sums that are not whole would leave something where there is nothing
            apart = self.counts[:, :, :-1] * (1 - np.eye(self.k))
            rows = _others(self.counts[:, :, :-1]) * (1 - np.eye(self.k))
            un, fp, fn, tn = _others(up), apart.sum(axis=1), apart.sum(axis=2), rows.sum(axis=1)
        tp, fp, fn, tn, up, un = (cell.T.ravel() for cell in (hits, fp, fn, tn, up, un))
        return FullConfusion(tp, fp, fn, np.zeros(len(tp)), np.tile(self.size, self.k), (up, un), tn)


def _others(values: Array) -> Array:
    """Return the sum of all values along the last axis but each one, without taking any from their sum."""
    before, after = np.zeros(values.shape), np.zeros(values.shape)
    before[..., 1:] = np.cumsum(values, axis=-1)[..., :-1]
    after[..., :-1] = np.cumsum(values[..., ::-1], axis=-1)[..., -2::-1]
    return before + after


def _pairs(n: Array) -> Array:
    """Return the number of pairs among ``n`` rows."""
    return np.maximum(n * (n - 1) / 2, 0)
