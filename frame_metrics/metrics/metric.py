"""Metrics as values: a kernel, its parameters and a cutoff; the registry; what a kernel reads."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints, overload

import numpy as np

from frame_metrics.errors import BadValueError, NotComputableError, UnknownNameError, closest, listed
from frame_metrics.inputs import Array, Classes, ClassScores, Confusion, Gain, Ranking, Scores
from frame_metrics.inputs.rows import LARGEST
from frame_metrics.metrics.probe import WatchedRanking, WatchedScores

REGISTRY: dict[str, Metric] = {}
FORMS: dict[str, Callable[..., Array]] = {}  # kernels for several classes, by the name of the metric for two

# The range that a parameter may take stands in its annotation, where checks and docs read it.
Share: TypeAlias = Annotated[float, "between 0 and 1"]
Positive: TypeAlias = Annotated[float, "above 0"]
NotNegative: TypeAlias = Annotated[float, "0 or more"]
PartOfAll: TypeAlias = Annotated[float, "above 0, at most 1"]
LogBase: TypeAlias = Annotated[float, "above 1"]
Count: TypeAlias = Annotated[int, "a whole number from 1"]
GainName: TypeAlias = Annotated[Gain, "'linear', 'exp' or a mapping from grades to gains"]

Source: TypeAlias = Ranking | Confusion | Classes | Scores | ClassScores

_RULES: dict[str, Callable[[float], bool]] = {
    "between 0 and 1": lambda x: 0 <= x <= 1,
    "above 0": lambda x: x > 0,
    "above 0, at most 1": lambda x: 0 < x <= 1,
    "0 or more": lambda x: x >= 0,
    "a whole number from 1": lambda x: 1 <= x < math.inf and x == int(x),
    "above 1": lambda x: 1 < x < math.inf,
}


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric: one function from an input to one number per query, with its parameters and cutoff.

    Calling it with parameters gives the metric with those parameters, ``@`` gives it a cutoff, and ``str`` gives the
    text that reads back to it.

    Examples
    --------
    >>> from frame_metrics import metrics
    >>> metrics.ndcg(gain="exp") @ 10
    ndcg(gain='exp')@10
    """

    name: str
    kernel: Callable[..., Array] = field(repr=False)
    range: tuple[float, float] = (0, 1)
    best: float | None = 1
    undefined: float | None = 0
    monotone: bool | None = True
    summed: bool = False
    expected: bool = False
    also: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    cutoff: float | None = None
    average: str | None = None

    @cached_property
    def input(self) -> type:
        """What the kernel reads: the annotation of its first parameter."""
        return _hints(self.kernel)[next(iter(self.signature))]

    @cached_property
    def signature(self) -> Mapping[str, inspect.Parameter]:
        """The kernel's parameters, its input first."""
        return _signature(self.kernel)

    @cached_property
    def at(self) -> str | None:
        """The parameter that ``@`` sets: a cutoff ``k``, a ``recall`` level, or none."""
        if self.input is Confusion:
            return "k"
        return next((name for name in ("k", "recall") if name in self.signature), None)

    @cached_property
    def options(self) -> dict[str, inspect.Parameter]:
        """The parameters that a caller may give in parentheses."""
        own = list(self.signature.items())[1:]
        return {name: p for name, p in own if name != "k"}

    @property
    def k(self) -> int | None:
        """The cutoff in ranks, if the metric has one."""
        return int(self.cutoff) if self.cutoff is not None and self.at == "k" else None

    @property
    def higher(self) -> bool | None:
        """Whether a greater value is better; None where no value is better than another."""
        if self.best is None:
            return True if self.range[0] == -math.inf else None  # gains without an end: more is better
        return self.best > self.range[0]

    @property
    def of_classes(self) -> Metric | None:
        """The metric's own form for several classes, if it has one; else it is averaged over them."""
        if self.input in (Classes, ClassScores):
            return self
        form = FORMS.get(self.name)
        by_pairs = "multi" not in self.options or self.params.get("multi") == "ovo"
        return replace(self, kernel=form) if form is not None and by_pairs else None

    @property
    def bounded(self) -> bool:
        """Whether the worst and the best order of equal scores bound the metric."""
        return self.cutoff is None if self.monotone is None else self.monotone

    def orders(self, ties: str) -> bool:
        """Return whether the metric can be had of equal scores in the order, or orders, that a rule gives."""
        if ties == "expected":
            unordered = self.cutoff is None and (self.monotone is None or self.input is Confusion)
            return self.expected or unordered
        return self.bounded or ties not in ("worst", "best")

    @property
    def missing(self) -> list[str]:
        """Parameters without a value."""
        given = {*self.params, self.at if self.cutoff is not None else ""}
        return [name for name, p in self.options.items() if p.default is p.empty and name not in given]

    @overload
    def __call__(self, input: Source, /, *args: Any, **params: Any) -> Array: ...
    @overload
    def __call__(self, /, **params: Any) -> Metric: ...
    def __call__(self, /, *args: Any, **params: Any) -> Any:
        if args:
            return self.kernel(*args, **params)
        params = {name: plain(value) for name, value in params.items()}
        for name, value in params.items():
            self._check(name, value)
            if _hints(self.kernel).get(name) is Count:
                params[name] = int(value)
        if self.cutoff is not None and self.at in params:
            raise self._said_twice(self.cutoff)
        return replace(self, params=MappingProxyType({**self.params, **params}))

    def _said_twice(self, cutoff: float) -> BadValueError:
        return BadValueError(f"{self.name}@{cutoff!r}: {self.at}= and @ say the same; give one of them")

    def _check(self, name: str, value: Any) -> None:
        if name == "rel" and isinstance(value, int | float) and not isinstance(value, bool):
            return
        if name == "judged_only" and isinstance(value, bool):
            return
        if name in ("rel", "judged_only"):
            raise BadValueError(
                f"{self.name}: {name}={value!r} is not {'a grade' if name == 'rel' else 'True or False'}"
            )
        if name not in self.options:
            known = [*self.options, "rel", "judged_only"]
            raise UnknownNameError(
                f"{self.name} has no parameter {name!r}; it has {listed(known)}"
                + (f"; write the cutoff as {self.name}@{value}" if name == self.at == "k" else closest(name, known))
            )
        if not _fits(value, _hints(self.kernel)[name]):
            raise BadValueError(f"{self.name}: {name}={value!r} is not {self.expects(name)}")

    def expects(self, name: str) -> str:
        """Return what a parameter may be, in words."""
        hint = _hints(self.kernel)[name]
        if type(None) in get_args(hint):
            hint = _not_none(hint)
        if get_origin(hint) is Annotated:
            return str(hint.__metadata__[0])
        return "one of " + listed(get_args(hint)) if get_origin(hint) is Literal else "a number"

    def __matmul__(self, cutoff: float) -> Metric:
        if self.at is None:
            raise BadValueError(f"{self.name} takes no cutoff: {self.name}@{cutoff!r}")
        if self.at in self.params:
            raise self._said_twice(cutoff)
        number = isinstance(cutoff, int | float | np.integer) and not isinstance(cutoff, bool)
        if self.at == "recall":
            if not number or not 0 <= cutoff <= 1:
                raise BadValueError(f"{self.name}@{cutoff!r}: the recall level is not between 0 and 1")
        elif not number or not math.isfinite(cutoff) or cutoff < 1 or cutoff != int(cutoff) or cutoff > 2**53:
            most = " to 2**53" if number and 2**53 < cutoff < math.inf else ""
            raise BadValueError(f"{self.name}@{cutoff!r}: the cutoff is not a whole number from 1{most}")
        return replace(self, cutoff=cutoff if self.at == "recall" else int(cutoff))

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(self.params.items()))
        geometric = "gm_" if self.average == "gmean" else ""
        return (
            geometric + self.name + (f"({given})" if given else "") + ("" if self.cutoff is None else f"@{self.cutoff}")
        )

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.name, dict(self.params), self.cutoff, self.average)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def doc(self) -> str:
        """The kernel's documentation."""
        return inspect.getdoc(self.kernel) or ""

    def variant(self, rel: float, condensed: bool) -> tuple[float, bool]:
        """Return the relevance level and whether unjudged rows are dropped: what the input has to be built with."""
        return self.params.get("rel", rel), self.params.get("judged_only", condensed)

    def compute(self, source: Source) -> Array:
        """Return the metric of each query or segment, NaN where it is undefined.

        Parameters
        ----------
        source : what the kernel reads, or a ranking that it can be had from.
        """
        own = {name: value for name, value in self.params.items() if name in self.options}
        if self.input is Ranking and self.cutoff is not None:
            own[str(self.at)] = self.cutoff
        if isinstance(source, Ranking) and self.input is Confusion:
            source = source.confusion(self.k)
        elif isinstance(source, Ranking) and self.input is Scores:
            source = source.scores
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.kernel(source, **own)

    @cached_property
    def reads(self) -> frozenset[str]:
        """Which facts of the input the kernel reads, seen by trying it on one row."""
        if self.missing:
            return replace(self, params={**self.params, **dict.fromkeys(self.missing, 1)}).reads
        if self.input is Classes:
            return frozenset()
        watched = WatchedScores() if self.input is Scores else WatchedRanking()
        try:
            self.compute(watched)
        except NotComputableError:
            mapped = self.params.get("gain")
            top = max(mapped) if isinstance(mapped, Mapping) else 1
            filled = replace(self, params={**self.params, "max_grade": top})
            return filled.reads | {"max_grade"}
        return frozenset(watched.seen)


def _restored(name: str, params: dict[str, Any], cutoff: float | None, average: str | None) -> Metric:
    """A metric from what is kept of it when it is pickled."""
    return replace(REGISTRY[name], params=MappingProxyType(params), cutoff=cutoff, average=average)


@cache
def _hints(kernel: Callable[..., Array]) -> dict[str, Any]:
    return get_type_hints(kernel, include_extras=True)


@cache
def _signature(kernel: Callable[..., Array]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(kernel).parameters


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is what a parameter's annotation says."""
    if hint is GainName:
        return value in ("linear", "exp") if isinstance(value, str) else _is_gain_table(value)
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if hint is not float and get_origin(hint) is not Annotated and type(None) in get_args(hint):
        return value is None or _fits(value, _not_none(hint))
    rule = _RULES[hint.__metadata__[0]] if get_origin(hint) is Annotated else lambda x: True
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value) and rule(value)


def _is_gain_table(value: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    numbers = [*value, *value.values()]
    real = all(isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= LARGEST for x in numbers)
    return real and min(value.values()) >= 0


def _not_none(hint: Any) -> Any:
    return next(a for a in get_args(hint) if a is not type(None))


def plain(value: Any) -> Any:
    """Return a number, or what a mapping has, as plain Python, so that it prints as it is read."""
    if isinstance(value, Mapping):
        return {plain(grade): plain(gain) for grade, gain in value.items()}
    return value.item() if isinstance(value, np.number | np.bool_) else value


def metric(
    *,
    range: tuple[float, float] = (0, 1),
    best: float | None = 1,
    undefined: float | None = 0,
    monotone: bool | None = True,
    summed: bool = False,
    expected: bool = False,
    also: tuple[str, ...] = (),
) -> Callable[[Callable[..., Array]], Metric]:
    """Put a kernel in the registry under its own name.

    Parameters
    ----------
    range : least and greatest value that the metric can take.
    best : the value of a perfect ranking or table; None where no value is better than another.
    undefined : what the metric's reference gives where it is a/0; None leaves the query out of the mean.
    monotone : moving a better document up never makes the metric worse, so that tie orders bound it; None, without a
        cutoff only, where the order is not looked at.
    summed : the metric counts, and is summed over queries where others are averaged.
    expected : the value of rows that share what their tie has is the mean over all orders of equal scores, as where
        gains are added up by rank and divided by what no order changes.
    also : other names of the same function.
    """

    def register(kernel: Callable[..., Array]) -> Metric:
        made = Metric(kernel.__name__, kernel, range, best, undefined, monotone, summed, expected, also)
        REGISTRY[made.name] = made
        return made

    return register


def for_classes(name: str) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Give the metric of two classes that has this name its own form for several."""

    def register(kernel: Callable[..., Array]) -> Callable[..., Array]:
        FORMS[name] = kernel
        return kernel

    return register


def metrics_of(family: type) -> Iterator[Metric]:
    """Give the registered metrics that read an input, in the order of their definition."""
    yield from (m for m in REGISTRY.values() if m.input is family)
