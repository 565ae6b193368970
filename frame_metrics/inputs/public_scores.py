"""The distinct scores that functions of users' metrics read, and sums of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs.rows import Array
from frame_metrics.inputs.scores import FullScores, sorted_levels
from frame_metrics.inputs.views import Narrow, checked_values, total_of

if TYPE_CHECKING:  # it takes long to import
    from numpy.typing import ArrayLike


class Scores(Narrow[FullScores]):
    """The distinct scores of each query or segment, greatest first, with the rows that have or reach them.

    This is what the function of an own metric gets if its first parameter is annotated so. ``score``, ``probability``,
    ``tp``, ``fp``, ``pos`` and ``neg`` have one value for each distinct score of a query, the first query first;
    ``total`` adds such values up, to one for each query. Documents without a score stand below all others, at minus
    infinity. All arrays are read-only. To try a function, make one: ``best_first(Scores([0.9, 0.4], [1, 0], [2]))``.

    Parameters
    ----------
    score : score of each row, in any order within a query, shape (rows,).
    relevant : 1 for each relevant row, 0 for the others, shape (rows,).
    lengths : number of rows of each query, shape (queries,).

    Raises
    ------
    BadValueError
        The numbers of rows differ.

    Examples
    --------
    >>> from frame_metrics import Scores
    >>> scores = Scores(score=[0.9, 0.4, 0.4, 0.7], relevant=[1, 1, 0, 0], lengths=[3, 1])
    >>> scores.total(scores.pos * scores.score) / scores.lengths
    array([0.65, 0.  ])
    """

    __slots__ = ()

    def __init__(self, score: ArrayLike, relevant: ArrayLike, lengths: ArrayLike) -> None:
        levels, good = np.array(score, np.float64, ndmin=1), np.array(relevant, np.float64, ndmin=1)
        counts = np.array(lengths, np.int64, ndmin=1)
        if not len(levels) == len(good) == counts.sum():
            shapes = f"{len(levels)} scores, {len(good)} values of relevant, and lengths that add up to {counts.sum()}"
            raise BadValueError(f"Scores: {shapes}; expected is one of each for every row")
        query = np.repeat(np.arange(len(counts)), counts)
        self._inside = sorted_levels(query, levels, good, np.ones(len(levels)), len(counts))

    def __repr__(self) -> str:
        return f"<Scores: {len(self.score)} scores of {self.n_queries} queries; it has {', '.join(dir(self))}>"

    @property
    def lengths(self) -> Array:
        """Number of distinct scores of each query, shape (queries,).

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).lengths
        array([2, 1])
        """
        return self._inside.count

    @property
    def score(self) -> Array:
        """The distinct scores of each query, falling, shape (scores,).

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).score
        array([0.9, 0.4, 0.7])
        """
        return self._inside.score

    @property
    def probability(self) -> Array:
        """The distinct scores, which have to lie between 0 and 1, shape (scores,).

        Raises
        ------
        BadValueError
            A score is no probability.

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).probability
        array([0.9, 0.4, 0.7])
        """
        return self._inside.probability

    @property
    def tp(self) -> Array:
        """Relevant rows of the query with this score or a greater one, shape (scores,).

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).tp
        array([1., 2., 0.])
        """
        return self._inside.tp

    @property
    def fp(self) -> Array:
        """Other rows of the query with this score or a greater one, shape (scores,).

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).fp
        array([0., 1., 1.])
        """
        return self._inside.fp

    @property
    def pos(self) -> Array:
        """Relevant rows of the query with exactly this score, shape (scores,).

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).pos
        array([1., 1., 0.])
        """
        return self._inside.pos

    @property
    def neg(self) -> Array:
        """Other rows of the query with exactly this score, shape (scores,).

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).neg
        array([0., 1., 1.])
        """
        return self._inside.neg

    @property
    def positives(self) -> Array:
        """Relevant rows of each query, shape (queries,).

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).positives
        array([2., 0.])
        """
        return self._inside.positives

    @property
    def negatives(self) -> Array:
        """Other rows of each query, shape (queries,).

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).negatives
        array([1., 1.])
        """
        return self._inside.negatives

    @property
    def area(self) -> Array:
        """Area under the ROC curve, NaN where no row is relevant or every row is, shape (queries,).

        Examples
        --------
        >>> Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1]).area
        array([0.75,  nan])
        """
        return self._inside.area

    def total(self, values: ArrayLike) -> Array:
        """Return the sum of the values of each query's distinct scores, shape (queries,).

        Parameters
        ----------
        values : one for each distinct score, shape (scores,).

        Raises
        ------
        KernelError
            There are more or fewer values than distinct scores.

        Examples
        --------
        >>> scores = Scores([0.9, 0.4, 0.4, 0.7], [1, 1, 0, 0], [3, 1])
        >>> scores.total(scores.neg * scores.score)
        array([0.4, 0.7])
        """
        return total_of(self._inside, checked_values(values, "total", "distinct scores", len(self.score)))
