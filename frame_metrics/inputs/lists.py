"""The documents that all lists of a segment show, each with how often it is shown: the input of metrics of lists."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from frame_metrics.inputs.cached_arrays import computed_once
from frame_metrics.inputs.rows import EXACT, Array, Segmented

MOST_CELLS = 1 << 20  # number of cells up to which a table of counts is made however few results there are


class Lists(Segmented):
    """The documents that the lists of each segment show together, whatever the query, and how often each is shown.

    Parameters
    ----------
    segment, document, weight : of each result the code of its segment, the code of its document, and the weight of its
        query, shape (results,) each.
    shape : number of segments, those without lists included, and of documents.
    catalogue : number of documents that could have been shown; NaN if unknown.
    different : number of distinct documents of each segment, if only these are known, shape (segments,).
    """

    def __init__(
        self,
        segment: Array,
        document: Array,
        weight: Array | None,
        shape: tuple[int, int],
        catalogue: float = np.nan,
        different: Array | None = None,
    ) -> None:
        self._key = document if shape[0] == 1 else segment * shape[1] + document
        self._weight, self._shape, self.n_queries, self.catalogue = weight, shape, shape[0], catalogue
        self._different = different

    @computed_once
    def count(self) -> Array:
        """Number of documents that are shown in each segment, shape (segments,)."""
        return super().count if self._different is None else self._different

    @cached_property
    def _counted(self) -> tuple[Array, Array]:
        """The key of each segment and document shown in it, ascending, and how often it is, shape (documents,) each."""
        key, size, distinct = self._key, self._shape[0] * self._shape[1], None
        if size > 4 * len(key) + MOST_CELLS:
            distinct, key = np.unique(key, return_inverse=True)
        times = np.bincount(key, self._weight, size if distinct is None else len(distinct))
        some = np.flatnonzero(times > 0)  # the list of a query of weight 0 shows nothing
        return some if distinct is None else distinct[some], times[some]

    @computed_once
    def query(self) -> Array:
        """The segment of each document that is shown there, ascending, shape (documents,)."""
        return self._counted[0] // max(self._shape[1], 1)

    @computed_once
    def n_lists(self) -> Array:
        """Number of lists of its segment that show each document, each with its query's weight, shape (documents,)."""
        return self._counted[1].astype(np.float64)

    @computed_once
    def sorted_shares(self) -> Array:
        """The share of each document in all showings of its segment, sorted ascending in each, shape (documents,)."""
        most = self.n_lists.max(initial=0) + 1
        # Segment and whole count are sorted as one integer, which is fast.
        if (self.n_lists == np.floor(self.n_lists)).all() and most * self.n_queries < EXACT:
            counts = _sorted((self.query * most + self.n_lists).astype(np.int64), int(most) * self.n_queries)
            counts = counts - self.query * most
        else:
            counts = self.n_lists[np.lexsort((self.n_lists, self.query))]
        return counts / self.each(self.total(counts))


def _sorted(numbers: Array, size: int) -> Array:
    """Sort whole numbers below ``size``: by counting, if they are dense."""
    if size > 4 * len(numbers) + MOST_CELLS:
        return np.sort(numbers)
    return np.repeat(np.arange(size), np.bincount(numbers, minlength=size))
