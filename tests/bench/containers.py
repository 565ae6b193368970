"""Values as callers may hold them: containers of every kind, and scalars that look like text or a number."""

from __future__ import annotations

import inspect
from collections import Counter, OrderedDict, UserDict, UserList, UserString, deque, namedtuple
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from enum import Enum, StrEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from random import Random
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Pair = namedtuple("Pair", "one other")
Word = type("Word", (str,), {})
Whole = type("Whole", (int,), {})
# Of a list of values, what holds them. One that cannot hold them raises, and the list itself is taken.
CONTAINERS: tuple[Callable[[list[Any]], Any], ...] = (
    *(list, tuple, set, frozenset, deque, iter, enumerate, UserList, dict.fromkeys, Counter),
    *(np.array, pd.Series, pd.Index, pl.Series, pa.array, pd.Categorical, pd.DataFrame, memoryview, pl.DataFrame),
    lambda values: (value for value in values),
    lambda values: map(str, values),
    lambda values: [values],
    lambda values: ((tuple(values),), *values),
    lambda values: dict.fromkeys(values).keys(),
    lambda values: dict(enumerate(values)).values(),
    lambda values: {value: value for value in values},
    lambda values: {"a": values[0], "b": values[-1]},
    lambda values: OrderedDict(enumerate(values)),
    lambda values: MappingProxyType(dict(enumerate(values))),
    lambda values: UserDict(dict(enumerate(values))),
    lambda values: Pair(values[0], values[-1]),
    lambda values: np.array(values, dtype=object),
    lambda values: np.array(values[0]),
    lambda values: np.array([values, values], dtype=object),
    lambda values: np.ma.masked_all(len(values)),
    lambda values: pd.MultiIndex.from_tuples([(value, value) for value in values]),
    lambda values: pd.arrays.SparseArray(values),
    lambda values: pa.table({"a": values}),
    lambda values: pa.scalar(values[0]),
    lambda values: pl.lit(values[0]),
    lambda values: pl.LazyFrame({"a": values}),
    lambda values: pl.Series([values]),
    lambda values: " ".join(map(str, values)),
    lambda values: str(values),
    lambda values: str(values[0]).encode(),
    lambda values: bytearray(str(values[0]).encode()),
    lambda values: Path(str(values[0])),
    lambda values: PurePosixPath(str(values[0])),
    lambda values: Word(values[0]),
    lambda values: UserString(str(values[0])),
    lambda values: Whole(values[0]),
    lambda values: np.str_(values[0]),
    lambda values: np.float64(values[0]),
    lambda values: np.int64(values[0]),
    lambda values: np.bool_(values[0]),
    lambda values: Fraction(values[0]),
    lambda values: Decimal(values[0]),
    lambda values: complex(values[0]),
    lambda values: StrEnum("Names", {"a": values[0]}).a,
    lambda values: Enum("Names", {"a": values[0]}).a,
    lambda values: StrEnum("Names", {"a": str(values[0]), "b": str(values[-1])}),
    lambda values: SimpleNamespace(a=values[0]),
    lambda values: lambda: values[0],
    lambda values: lambda frame: values[0],
    lambda values: lambda frame: frame[values[0]],
    lambda values: [*values, *values],
    lambda values: [*values, None],
    lambda values: [*values, ""],
    lambda values: [*values, 1.5],
    lambda values: [*values, float("nan")],
    lambda values: [*values, pd.NA],
    lambda values: [*values, {}],
    lambda values: [StrEnum("Names", {"a": value}).a for value in values],
    lambda values: values * 1001,
)
EMPTY: tuple[Callable[[], Any], ...] = (
    *(list, tuple, set, dict, frozenset, str, bytes, deque, object, Counter),
    lambda: iter(()),
    lambda: range(0),
    lambda: np.array([]),
    lambda: pd.Series([], dtype=object),
    lambda: pd.DataFrame(),
    lambda: pl.Series(),
    lambda: pl.DataFrame(),
    lambda: pl.LazyFrame(),
    lambda: pa.table({}),
    lambda: None,
    lambda: ...,
    lambda: NotImplemented,
    lambda: pd.NA,
    lambda: pd.NaT,
    lambda: np.nan,
    lambda: Decimal("nan"),
    lambda: np.datetime64("NaT", "ns"),
    lambda: -1,
    lambda: 0,
    lambda: True,
    lambda: 10**400,
    lambda: 10**5000,
    lambda: str,
    lambda: Enum,
    lambda: Random,
    lambda: range(10**12),
    lambda: "x" * 5000,
    lambda: "\ud800",
    lambda: "\0",
    lambda: [[[[[]]]]],
)
SHARE = 0.25  # of the containers that are empty, or hold something else


def held(rng: Random, value: Any) -> Any:
    """Return a value, or those in a list, in a container that is drawn."""
    if rng.random() < SHARE:
        return rng.choice(EMPTY)()
    values = list(value) if isinstance(value, list | tuple | set) else [value]
    try:
        return rng.choice(CONTAINERS)(values or [None])
    except Exception:  # the container cannot hold such a value
        return values


class Held:
    """An object of a frame whose verbs get an argument in a container: one that was given, or one more."""

    def __init__(self, irm: Any, rng: Random, names: Sequence[Any]) -> None:
        self._irm, self._rng, self._names = irm, rng, [*names, "rr", "recall@3", "f1", 0.5, 1, "a"]

    def __repr__(self) -> str:
        return repr(self._irm)

    @property
    def roles(self) -> Any:
        """The roles of the object."""
        return self._irm.roles

    def __call__(self, **roles: Any) -> Held:
        """Return the object with other roles."""
        return Held(self._irm(**roles), self._rng, self._names)

    def __getattr__(self, verb: str) -> Any:
        method = getattr(self._irm, verb)
        return lambda *given, **options: method(*self._given(given, options, method), **options)

    def _given(self, given: Sequence[Any], options: dict[str, Any], method: Any) -> list[Any]:
        """Return the arguments by place with one of them in a container; or change one of the options so."""
        rng, places = self._rng, [*given]
        takes = list(_options(method))
        if places and rng.random() < 0.4:
            at = rng.randrange(len(places))
            places[at] = held(rng, places[at])
        elif options and rng.random() < 0.4:
            name = rng.choice([*options])
            options[name] = held(rng, options[name])
        elif takes:
            options[rng.choice(takes)] = held(rng, rng.sample(self._names, rng.choice((1, 1, 2))))
        return places


def _options(method: Any) -> Iterator[str]:
    parameters = inspect.signature(method).parameters.values()
    return (one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY and one.name != "resamples")
