"""The documents that the lists of a segment show together, each with how often."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs.kept import kept
from frame_metrics.inputs.rows import EXACT, Array, Segmented

ROOM = 1 << 20  # cells that are counted in a table, however few results there are


class Lists(Segmented):
    """The documents that the lists of each segment show together, whatever the query, and how often each is shown.

    Parameters
    ----------
    query : the segment of each document that is shown there, ascending, shape (documents,).
    shown : in how many lists of the segment it stands, times the weights of their queries, shape (documents,).
    n_queries : number of segments, those without lists included.
    catalogue : number of documents that could have been shown; NaN where it was not said.
    """

    def __init__(self, query: Array, shown: Array, n_queries: int, catalogue: float = np.nan) -> None:
        self.shown, self.catalogue = shown, catalogue
        super().__init__(query, n_queries)

    @classmethod
    def of_results(
        cls, segment: Array, document: Array, weight: Array | None, shape: tuple[int, int], catalogue: float
    ) -> Lists:
        """Count the results of lists.

        Parameters
        ----------
        segment, document, weight : the numbers of each result, and the weight of its query, shape (results,) each.
        shape : how many segments and documents there are.
        """
        cell = document if shape[0] == 1 else segment * shape[1] + document
        size = shape[0] * shape[1]
        if size > 4 * len(cell) + ROOM:
            there, cell = np.unique(cell, return_inverse=True)
            shown = np.bincount(cell, weight, len(there))
        else:
            shown = np.bincount(cell, weight, size)
            there = np.flatnonzero(shown)
            shown = shown[there]
        some = shown > 0  # where a query weighs 0, its list counts for nothing
        return cls(there[some] // max(shape[1], 1), shown[some].astype(np.float64), shape[0], catalogue)

    @kept
    def rising(self) -> Array:
        """Shares of documents in all that a segment shows, rising within each segment, shape (documents,)."""
        most = self.shown.max(initial=0) + 1
        if (self.shown == np.floor(self.shown)).all() and most * self.n_queries < EXACT:  # sorted in one, which is fast
            shown = _sorted((self.query * most + self.shown).astype(np.int64), int(most) * self.n_queries)
            shown = shown - self.query * most
        else:
            shown = self.shown[np.lexsort((self.shown, self.query))]
        return shown / self.each(self.total(shown))


def _sorted(numbers: Array, size: int) -> Array:
    """Sort whole numbers below a size; those that are dense are counted."""
    if size > 4 * len(numbers) + ROOM:
        return np.sort(numbers)
    return np.repeat(np.arange(size), np.bincount(numbers, minlength=size))
