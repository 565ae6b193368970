"""The 2x2 tables that functions of users' metrics read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs.rows import Array
from frame_metrics.inputs.tables import FullConfusion
from frame_metrics.inputs.views import Narrow

if TYPE_CHECKING:  # it takes long to import
    from numpy.typing import ArrayLike


class Confusion(Narrow[FullConfusion]):
    """The 2x2 table of each query or segment: what was retrieved, or predicted, against what is relevant.

    This is what the function of an own metric gets if its first parameter is annotated so. Each name has one number for
    each table; ``table.tp`` etc. are arrays of floats, read-only. At a cutoff, the documents up to it are those
    predicted. To try a function, make one: ``critical_success(Confusion([2], [1], [1]))``.

    Parameters
    ----------
    tp, fp, fn : true positives, false positives, false negatives, of the documents with a decision, shape (tables,).
    tn : true negatives, shape (tables,); None if they are not known, and then reading them is an error.
    up, un : relevant and other documents without a decision, shape (tables,); None for none.
    empty : places up to the cutoff that are not filled, shape (tables,); None for none.

    Examples
    --------
    >>> from frame_metrics import Confusion
    >>> table = Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3])
    >>> table.tp / table.actual
    array([0.66666667, 0.        ])
    """

    __slots__ = ()

    def __init__(
        self,
        tp: ArrayLike,
        fp: ArrayLike,
        fn: ArrayLike,
        tn: ArrayLike | None = None,
        *,
        up: ArrayLike | None = None,
        un: ArrayLike | None = None,
        empty: ArrayLike | None = None,
    ) -> None:
        cells = [
            None if cell is None else np.array(cell, np.float64, ndmin=1) for cell in (tp, fp, fn, tn, up, un, empty)
        ]
        if len({cell.shape for cell in cells if cell is not None}) > 1:
            raise BadValueError("Confusion: tp, fp, fn and the other cells have one number for each table")
        tps, fps, fns, rest, *others = cells
        zeros = np.zeros_like(tps)
        ups, uns, gaps = (zeros if cell is None else cell for cell in others)
        self._inside = FullConfusion(tps, fps, fns, gaps, undecided=(ups, uns), rest=rest)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"<Confusion: {self.n_queries} tables; it has {', '.join(dir(self))}>"

    @property
    def tp(self) -> Array:
        """True positives: relevant documents that are retrieved, or predicted to be relevant.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3]).tp
        array([2., 0.])
        """
        return self._inside.tp

    @property
    def fp(self) -> Array:
        """False positives: other documents that are retrieved, or predicted to be relevant.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3]).fp
        array([1., 0.])
        """
        return self._inside.fp

    @property
    def fn(self) -> Array:
        """False negatives: relevant documents that are not retrieved, or predicted not to be relevant.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3]).fn
        array([1., 3.])
        """
        return self._inside.fn

    @property
    def tn(self) -> Array:
        """True negatives: the other documents that are not retrieved, or predicted not to be relevant.

        Raises
        ------
        NotComputableError
            The size of the collection is not known: ``collection_size=`` is needed.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3], tn=[6, 7]).tn
        array([6., 7.])
        """
        return self._inside.tn

    @property
    def up(self) -> Array:
        """Undecided positives: relevant documents without a decision, which are not among fn.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3], up=[1, 0]).up
        array([1., 0.])
        """
        return self._inside.up

    @property
    def un(self) -> Array:
        """Undecided negatives: other documents without a decision, which are not among tn.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3], un=[0, 2]).un
        array([0., 2.])
        """
        return self._inside.un

    @property
    def empty(self) -> Array:
        """Places up to the cutoff that are not filled; 0 without a cutoff.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3], empty=[0, 3]).empty
        array([0., 3.])
        """
        return self._inside.empty

    @property
    def predicted(self) -> Array:
        """Documents predicted to be relevant, with the places that are not filled: tp + fp + empty.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3], empty=[0, 3]).predicted
        array([3., 3.])
        """
        return self._inside.predicted

    @property
    def actual(self) -> Array:
        """Relevant documents: tp + fn + up.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3]).actual
        array([3., 3.])
        """
        return self._inside.actual

    @property
    def negative(self) -> Array:
        """Documents that are not relevant: fp + tn + un. Raises as ``tn`` does.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3], tn=[6, 7]).negative
        array([7., 7.])
        """
        return self._inside.negative

    @property
    def population(self) -> Array:
        """All documents, N: the sum of tp, fp, fn, tn, up and un. Raises as ``tn`` does.

        Examples
        --------
        >>> Confusion(tp=[2, 0], fp=[1, 0], fn=[1, 3], tn=[6, 7]).population
        array([10., 10.])
        """
        return self._inside.population
