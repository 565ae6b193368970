"""Arrays that metrics share: a kernel reads them, and cannot write in them, which would change the other metrics."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

T = TypeVar("T")


class kept(cached_property[T]):
    """Property that is worked out once; an array that it gives cannot be written in."""

    if not TYPE_CHECKING:  # where it has the types of what it stands for

        def __get__(self, owner: Any, kind: type | None = None) -> Any:
            if owner is None:
                return self
            value = self.func(owner)  # no lock, as cached_property has one: a block is worked on by one thread
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            owner.__dict__[self.attrname] = value
            return value


class Remembers:
    """An object that remembers what it worked out, each under a key; ``kept`` is for what there is one of."""

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """Return what is made at the first call with this key; an array cannot be written in."""
        made: dict[Any, T] = self.__dict__.setdefault("_made", {})
        value: Any = made.get(key, made)
        if value is made:  # where nothing is
            made[key] = value = make()
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        return value


def seal(owner: Any) -> None:
    """Put views that cannot be written in, in the place of an object's arrays."""
    held = vars(owner)
    for name, value in held.items():
        if isinstance(value, np.ndarray) and value.flags.writeable:
            view = held[name] = value.view()
            view.flags.writeable = False


def sealed(values: Any) -> Any:
    """Return a view of an array that cannot be written in; whoever made the array still can write in it."""
    view = values.view()
    view.setflags(write=False)
    return view
