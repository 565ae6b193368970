"""Arrays that metrics share: computed once, and read-only, so that no kernel changes what another one reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

T = TypeVar("T")


class computed_once(cached_property[T]):
    """A property that is computed once; if it is an array, it is read-only.

    Unlike ``cached_property`` before Python 3.12 it has no lock: threads that ask at once may each compute it.
    """

    if not TYPE_CHECKING:  # for type checkers it is a cached_property

        def __get__(self, owner: Any, kind: type | None = None) -> Any:
            if owner is None:
                return self
            value = self.func(owner)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            owner.__dict__[self.attrname] = value
            return value


class CachesByKey:
    """An object that remembers computed values by a key; ``computed_once`` is for a value without a key."""

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """Return the value that ``make`` returned at the first call with this key; an array becomes read-only."""
        made: dict[Any, T] = self.__dict__.setdefault("_made", {})
        value: Any = made.get(key, made)  # ``made`` itself stands for a new key, as None may be a value
        if value is made:
            made[key] = value = make()
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        return value


def make_read_only(owner: Any) -> None:
    """Replace the arrays of an object by read-only views of them."""
    fields = vars(owner)
    for name, value in fields.items():
        if isinstance(value, np.ndarray) and value.flags.writeable:
            fields[name] = read_only_view(value)


def read_only_view(values: Any) -> Any:
    """Return a read-only view of an array; the array itself stays writable."""
    view = values.view()
    view.setflags(write=False)
    return view
