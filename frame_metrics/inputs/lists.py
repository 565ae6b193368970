"""The documents that all lists of a segment show, each with how often it is shown: the input of metrics of lists."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from frame_metrics.inputs.cached_arrays import computed_once
from frame_metrics.inputs.rows import EXACT, Array, Segmented

MOST_CELLS = 1 << 20  # size of a table of counts that is allowed however few results there are


class Lists(Segmented):
    """The documents that the lists of each segment show together, whatever the query, and how often each is shown.

    Parameters
    ----------
    segment, document, weight : the numbers of each result, and the weight of its query, shape (results,) each.
    shape : the number of segments, with those without lists, and the number of documents.
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
        self._cell = document if shape[0] == 1 else segment * shape[1] + document
        self._weight, self._shape, self.n_queries, self.catalogue = weight, shape, shape[0], catalogue
        self._different = different

    @computed_once
    def count(self) -> Array:
        """Number of documents that are shown in each segment, shape (segments,)."""
        return super().count if self._different is None else self._different

    @cached_property
    def _counted(self) -> tuple[Array, Array]:
        """A number for each segment and document shown in it, ascending, and how often, shape (documents,) each."""
        cell, size, there = self._cell, self._shape[0] * self._shape[1], None
        if size > 4 * len(cell) + MOST_CELLS:
            there, cell = np.unique(cell, return_inverse=True)
        times = np.bincount(cell, self._weight, size if there is None else len(there))
        some = np.flatnonzero(times > 0)  # the list of a query of weight 0 shows nothing
        return some if there is None else there[some], times[some]

    @computed_once
    def query(self) -> Array:
        """The segment of each document that is shown there, ascending, shape (documents,)."""
        return self._counted[0] // max(self._shape[1], 1)

    @computed_once
    def n_lists(self) -> Array:
        """The number of lists of its segment that show each document, weighted by their queries, (documents,)."""
        return self._counted[1].astype(np.float64)

    @computed_once
    def sorted_shares(self) -> Array:
        """The share of each document in all showings of its segment, sorted ascending in each, shape (documents,)."""
        most = self.n_lists.max(initial=0) + 1
        # Whole counts are sorted as one integer with the segment, which is fast.
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
