"""The judged documents of queries, also those that a system does not list."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs.cached_arrays import make_read_only
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array


@record
class Pool:
    """The judged documents of the queries of a block, in any order.

    Parameters
    ----------
    query : the query of each document, shape (documents,).
    grade : the grade of each document, NaN if only its label is known, shape (documents,).
    label : the label of each document: 1 relevant, 0 not, NaN if only its grade is known; None if grades decide.
    document : the index of each document in ``Subtopics``; None without subtopics.
    """

    query: Array
    grade: Array
    label: Array | None = None
    document: Array | None = None

    def __post_init__(self) -> None:
        make_read_only(self)

    @property
    def judged(self) -> Array:
        """True for the documents that are known to be relevant or not, bool, shape (documents,)."""
        return ~np.isnan(self.grade if self.label is None else self.label)

    def relevant(self, rel: float) -> Array:
        """Mark the relevant documents, bool, shape (documents,)."""
        return self.grade >= rel if self.label is None else self.label == 1

    def nonrelevant(self, rel: float) -> Array:
        """Mark the documents judged not relevant, bool, shape (documents,); a negative grade is no judgment."""
        return (self.grade >= 0) & (self.grade < rel) if self.label is None else self.label == 0

    def with_others(self, query: Array) -> Pool:
        """Return these documents and others that are not relevant; ``query``: the query of each of the others."""
        zeros = np.zeros(len(query))
        label = None if self.label is None else np.append(self.label, zeros)
        return Pool(np.append(self.query, query), np.append(self.grade, zeros), label)

    def condensed(self) -> Pool:
        """Return the documents that condensed rankings keep; a negative grade is no judgment there."""
        kept = self.grade >= 0 if self.label is None else self.judged
        label, document = (None if values is None else values[kept] for values in (self.label, self.document))
        return Pool(self.query[kept], self.grade[kept], label, document)

    def count(self, marked: Array, n_queries: int) -> Array:
        """Count the marked documents that each of ``n_queries`` queries has, shape (queries,)."""
        return np.bincount(self.query[marked], minlength=n_queries)
