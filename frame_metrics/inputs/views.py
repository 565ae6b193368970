"""Views of inputs with a few documented names, for functions of users' metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NoReturn, Self, TypeVar

import numpy as np

from frame_metrics.errors import KernelError, closest
from frame_metrics.inputs.ranking import FullRanking
from frame_metrics.inputs.rows import Array, Segmented
from frame_metrics.inputs.scores import FullScores
from frame_metrics.inputs.tables import FullConfusion

if TYPE_CHECKING:  # it takes long to import
    from numpy.typing import ArrayLike

T = TypeVar("T", FullRanking, FullConfusion, FullScores)


class Narrow(Generic[T]):
    """A view of an input with a few names; any other name is an error that lists them."""

    __slots__ = ("_inside",)
    _inside: T

    @classmethod
    def _of(cls, inside: T) -> Self:
        """Return a view of an input."""
        view = object.__new__(cls)
        view._inside = inside
        return view

    @property
    def n_queries(self) -> int:
        """Number of queries (or segments), those without rows included: how many values a metric returns.

        Examples
        --------
        >>> from frame_metrics import Ranking
        >>> Ranking(grade=[0, 2, 1], lengths=[2, 1, 0]).n_queries
        3
        """
        return self._inside.n_queries

    def __dir__(self) -> list[str]:
        return names_of(type(self))

    if not TYPE_CHECKING:  # for type checkers no other name exists

        def __getattr__(self, name: str) -> NoReturn:
            names, class_name = names_of(type(self)), type(self).__name__
            if name.startswith("_"):
                raise AttributeError(f"{class_name!r} object has no attribute {name!r}")
            others = sorted(kind.__name__ for kind in Narrow.__subclasses__() if name in names_of(kind))
            way = f"; annotate the first parameter as {' or '.join(others)} to read it" if others else ""
            way = way or closest(name, names)
            raise AttributeError(f"a {class_name} has no {name!r}; it has {', '.join(names)}{way}")


def names_of(kind: type) -> list[str]:
    """Return the public names of a class, in the order of their definition; those of ``Narrow`` come last."""
    return [name for one in kind.__mro__ for name in vars(one) if not name.startswith("_")]


def checked_values(values: ArrayLike, name: str, what: str, n: int) -> Array:
    """Return values as an array; raise unless there are ``n``.

    Parameters
    ----------
    values : what a user's function passed.
    name : the method to which it passed them, for the error.
    what : the plural of what has a value each, for the error.
    n : number of values that are expected.
    """
    array = np.asarray(values, np.float64)
    if array.shape != (n,):
        raise KernelError(f"{name}() takes one value for each of the {n} {what}, and was given shape {array.shape}")
    return array


def total_of(elements: Segmented, values: Array) -> Array:
    """Return the sum of each query's values, added up from the first to the last, shape (queries,)."""
    return np.bincount(elements.query, values, elements.n_queries).astype(np.float64, copy=False)
