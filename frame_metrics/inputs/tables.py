"""The contingency table of decisions and truth, of two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frame_metrics.errors import BadValueError, NotComputableError
from frame_metrics.inputs.cached_arrays import computed_once, make_read_only, read_only_view
from frame_metrics.inputs.rows import Array


@dataclass(eq=False)
class FullConfusion:
    """The 2x2 table of each query or segment: what was retrieved, or predicted, against what is relevant.

    Parameters
    ----------
    tp, fp, fn : number of true positives, false positives and false negatives, of documents with a decision, (n,) each.
    empty : number of places up to the cutoff that were not filled, shape (n,); 0 without a cutoff.
    size : number of documents in the collection, shape (n,); None if unknown: then ``tn`` raises.
    undecided : number of relevant and of other documents without a decision, which are in none of tp, fp, fn and tn,
        shape (n,) each; an empty tuple if all are decided.
    rest : number of true negatives, if they were counted, shape (n,); None if they are what remains of ``size``.
    given_size : the size of the collection as given, and the number of documents that are known of it, for the error
        about a size that is too small, shape (n,) each.
    totals : number of relevant, of other, and of all documents, if these are known already, shape (n,) each.
    """

    tp: Array
    fp: Array
    fn: Array
    empty: Array
    size: Array | None = None
    undecided: tuple[Array, ...] = ()
    rest: Array | None = None
    given_size: tuple[Array, Array] | None = None
    totals: tuple[Array, Array, Array] | None = None

    def __post_init__(self) -> None:
        make_read_only(self)
        self.undecided = tuple(map(read_only_view, self.undecided)) or (read_only_view(np.zeros(len(self.tp))),) * 2

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

    @computed_once
    def tn(self) -> Array:
        """True negatives: the rest of the collection, shape (n,)."""
        if self.rest is not None:
            return self.rest
        if self.size is None:
            raise NotComputableError("true negatives need collection_size=")
        rest = self.size - self.tp - self.fp - self.fn - self.up - self.un
        size, known = self.given_size or (self.size, self.size - rest)
        too_small = (known > size) & ((size > 0) | (rest < 0))  # an empty collection gives undefined values, no error
        if too_small.any():
            raise BadValueError(
                f"collection_size: {int(size[too_small][0])} documents are fewer than the {int(known[too_small][0])} "
                "that are known of a query, retrieved or judged"
            )
        return rest

    @computed_once
    def predicted(self) -> Array:
        """Number of documents that were retrieved or predicted, with the places that were not filled, shape (n,)."""
        return self.tp + self.fp + self.empty

    @computed_once
    def actual(self) -> Array:
        """Number of relevant documents, shape (n,)."""
        return self.tp + self.fn + self.up if self.totals is None else self.totals[0]

    @computed_once
    def negative(self) -> Array:
        """Number of documents that are not relevant, shape (n,)."""
        return self.fp + self.tn + self.un if self.totals is None else self.totals[1]

    @computed_once
    def population(self) -> Array:
        """N, the number of all documents, shape (n,): the sum of tp, fp, fn, tn, up and un."""
        return self.actual + self.negative if self.totals is None else self.totals[2]

    @property
    def decided(self) -> Array:
        """Number of documents with a decision, shape (n,)."""
        return self.tp + self.fn + (self.fp + self.tn)

    @property
    def agreement(self) -> Array:
        """N² times (observed agreement - agreement by chance), the numerator of kappa, shape (n,)."""
        return self.negative * (self.tp - self.fn) + self.actual * (self.tn - self.fp)

    @computed_once
    def inverse(self) -> FullConfusion:
        """The table with the two classes exchanged: relevant documents become negatives."""
        empty = np.zeros(len(self.tp))
        return FullConfusion(self.tn, self.fn, self.fp, empty, self.size, self.undecided[::-1], self.tp)

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
