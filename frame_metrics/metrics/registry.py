"""The decorator that puts a kernel in the registry, ours and users', and what it refuses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Literal, Never, get_args, get_type_hints

from frame_metrics.errors import BadValueError, FrameMetricsError, UnknownNameError, listed, quote
from frame_metrics.inputs import Array, Classes, ClassScores, FullRanking
from frame_metrics.inputs.public import PUBLIC
from frame_metrics.metrics.metric import (
    CLASS_KERNELS,
    COMPANIONS,
    MEANS_OF_CLASSES,
    PAIR_KERNELS,
    REGISTRY,
    SHARED_PARAMS,
    TAKES_TOP,
    Metric,
    Unjudged,
    Weigh,
)
from frame_metrics.metrics.names import aliases, plain_name, read_text
from frame_metrics.metrics.parameters import is_number, meaning
from frame_metrics.metrics.pickling import OURS

INPUTS = (*PUBLIC, *PUBLIC.values(), Classes, ClassScores)
SESSION = "__main__"  # of a notebook, whose functions move to modules later


def metric(
    *kernels: Never,
    range: tuple[float, float] = (0, 1),
    best: float | None = 1,
    undefined: float | None = 0,
    monotone: bool | None = False,
    expected: bool = False,
    unjudged: Unjudged | None = None,
    weights: str | None = None,
    summed: bool = False,
    also: str | Sequence[str] = (),
    pooled: str | None = None,
    slope: float | None = None,
    completes: str | None = None,
    adds: bool | Weigh = False,
    micro: Callable[..., tuple[Array, Array]] | None = None,
    unless: Mapping[str, Any] | None = None,
    biased: bool = False,
) -> Callable[[Callable[..., Array]], Metric]:
    """Register a kernel as a metric under its own name.

    A kernel is a function from its first parameter, annotated as a ``Ranking``, a ``Confusion`` or ``Scores``, to an
    array of floats, one per query, NaN where undefined. Each of these three has a dozen names, which ``help()``
    explains. Its other parameters, each with an annotation, may be set in brackets; ``k: int | None = None`` is the
    cutoff that ``@`` sets. You then ask for the metric by its name, or by the function's name as a value. If the same
    function is defined again, for example by running a notebook cell twice, it replaces the first one.

    Features that are not declared are refused: the worst and the best order of equal scores, the mean over their
    orders, bounds of unjudged rows.

    Parameters
    ----------
    range : least and greatest value that the metric can take.
    best : the value of a perfect ranking or table, or its limit for ever longer lists and scales of grades; None if
        neither direction is better.
    undefined : the substitute of the metric's reference for an undefined value; None leaves the query out of the mean.
    monotone : True if moving a better document up never makes the metric worse, so that the worst and the best order of
        equal scores bound it; None if the order makes no difference without a cutoff, but may with one.
    expected : True if the value of rows that share their tie's values is the mean over all orders of equal scores, as
        when gains are added up by rank and divided by something that no order changes.
    unjudged : how the value changes if unjudged rows turn out relevant, which gives its bounds (docs/bounds.md).
        "rises": it never falls. "turns": it goes one way with those that count as found, and stays or goes the other
        way with the rest. "scan": a separate function, in ``verbs/bounds/unjudged.py``, searches for its bounds.
    weights : the metric that is the sum of this one's weights by rank if every gain is 1; it may be the metric itself.
    summed : True for a count, which is summed over queries where others are averaged.
    also : other names of the same function.
    pooled : for a metric of rankings, the metric of rows without a query with the same name.
    slope : for a metric that is a linear function of the area under the ROC curve, unless a parameter changes it: how
        much it rises with the area. It then has the interval of an area.
    completes : the metric that this one is 1 minus, if every document has a decision. ``best`` and ``undefined`` are
        then 1 minus its own, so that the two also add up to 1 where they are undefined.
    adds : True if the value is a sum over the relevant results, divided by something that no result changes, so that
        weighting each by 1 / propensity corrects it. For metrics off policy, a function that gives the weights of all
        rows, from ``ratio`` of the ``FullRanking`` behind the ``Ranking``.
    micro : for a metric of rankings, a function like the kernel that gives two arrays of shape (parts, queries), each
        summed over queries: the micro average is the sum over the parts of the first over the second.
    unless : a value of a parameter, by its name, with which ``monotone``, ``expected`` and ``unjudged`` do not hold,
        and differences of a ``biased`` metric are tested.
    biased : True if chance moves the value one way, and further the fewer rows there are, as it does a greatest
        distance. The metric then has no interval and no test of a difference, and no change of it is looked for.

    Raises
    ------
    FrameMetricsError
        The name is taken, or means another metric; the function, or a declaration, is not valid for a metric.

    Examples
    --------
    >>> import numpy as np, polars as pl, frame_metrics
    >>> from frame_metrics import Ranking
    >>> @frame_metrics.metric(best=None)
    ... def found_late(run: Ranking, after: int = 3) -> np.ndarray:
    ...     'Share of the relevant results that stand below a rank.'
    ...     return run.total(run.relevant * (run.rank > after)) / run.hits()
    >>> log = pl.DataFrame({"query": 5 * ["a"], "score": [5.0, 4.0, 3.0, 2.0, 1.0], "label": [1, 0, 0, 1, 0]})
    >>> log.irm.evaluate("found_late", found_late(after=4))["value"].to_list()
    [0.5, 0.0]
    """
    if kernels:
        raise BadValueError("write the decorator with brackets: @metric()")

    def register(kernel: Callable[..., Array]) -> Metric:
        ours = str(getattr(kernel, "__module__", "")).startswith(OURS)
        if not ours:
            _check_kernel(kernel)
        name = kernel.__name__
        others = (also,) if isinstance(also, str) else tuple(also)
        value = (range, best, undefined, monotone, expected, unjudged)
        further = (slope, completes, adds, micro, dict(unless or {}), biased)
        made = Metric(name, kernel, *value, weights, summed, others, pooled, *further)
        if completes in REGISTRY or (ours and completes):  # which has to be there: its direction would be a default's
            made = _completing(made)
        if ours:
            REGISTRY[name] = made
        else:
            _check_declared(made)
            _put(made)
        return made

    return register


def _completing(made: Metric) -> Metric:
    """The metric with the best and the undefined value that go with those of the one that it completes."""
    of = REGISTRY[str(made.completes)]
    best, undefined = (None if value is None else 1 - value for value in (of.best, of.undefined))
    return replace(made, best=best, undefined=undefined)


def takes_top(of: Literal["predicted", "actual"]) -> Callable[[Metric], Metric]:
    """Let a measure of the 2x2 table take ``top=``; ``of``: the documents of which it is a share, see ``TAKES_TOP``."""

    def register(made: Metric) -> Metric:
        TAKES_TOP[made.name] = of
        return made

    return register


def for_classes(name: str, *, mean: bool = False) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Register a kernel for several classes, the form that the metric of this name has there.

    ``mean``: whether it is a mean over classes, each of which counts once.
    """
    MEANS_OF_CLASSES.update([name] * mean)
    return partial(_kept, CLASS_KERNELS, name)


def companion_of(name: str, what: str, of: type) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Register a kernel that accompanies the metric of this name: see ``COMPANIONS``."""
    return partial(_kept, COMPANIONS, (name, what, of))


def for_two_rankings(name: str) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Register a kernel for two rankings, without judgments, the form that the metric of this name has there."""
    return partial(_kept, PAIR_KERNELS, name)


def _kept(forms: dict[Any, Callable[..., Array]], name: Any, kernel: Callable[..., Array]) -> Callable[..., Array]:
    """Register a kernel as the form of a metric, by the metric's name."""
    forms[name] = kernel
    return kernel


def _check_kernel(kernel: Any) -> None:
    """Raise for what is no function of an input with parameters that can be checked."""
    name = getattr(kernel, "__name__", None)
    if not inspect.isfunction(kernel) or name is None or not name.isidentifier():
        what = "a lambda, which has no name" if name == "<lambda>" else quote(kernel)
        raise BadValueError(f"metric(): a kernel is a function with a name, defined with def, and this is {what}")
    try:
        hints = get_type_hints(kernel, include_extras=True)
    except Exception as error:
        raise BadValueError(
            f"{name}: its annotations cannot be read, {error}; import what they name at the top of the module"
        ) from error
    parameters = list(inspect.signature(kernel).parameters.values())
    if not parameters or hints.get(parameters[0].name) not in INPUTS:
        annotation = quote(hints[parameters[0].name]) if parameters and parameters[0].name in hints else "nothing"
        raise BadValueError(
            f"{name}: the annotation of its first parameter says what it reads, frame_metrics.Ranking, Confusion or "
            f"Scores, and it says {annotation}"
        )
    for parameter in parameters[1:]:
        _check_parameter(name, parameter, hints, hints[parameters[0].name])


def _check_parameter(name: str, parameter: inspect.Parameter, hints: dict[str, Any], source: type) -> None:
    """Raise for a parameter of a kernel that could not be given, or whose values could not be checked."""
    option = parameter.name
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise BadValueError(f"{name}: its parameter {option} has to be one that is given by name")
    if option in SHARED_PARAMS:
        raise BadValueError(f"{name}: every metric has {option}= already; rename its parameter")
    of_ranking = PUBLIC.get(source, source) is FullRanking
    if option == "k" and (not of_ranking or parameter.default is not None):
        way = "write k: int | None = None" if of_ranking else f"a {source.__name__} is cut before it is read"
        raise BadValueError(f"{name}: k is the cutoff that @ sets; {way}")
    if option == "k":
        return
    if option not in hints or meaning(hints[option]) is None:
        found = f"it is {quote(hints[option])}" if option in hints else "there is none"
        raise BadValueError(
            f"{name}: the annotation of {option} says which values may be given, as float, int, bool, str or "
            f"Literal['a', 'b'], each with | None or without, and {found}"
        )


def _check_declared(made: Metric) -> None:
    """Raise for declarations of a metric that are invalid or contradict each other."""
    for wrong in chain(_wrong_numbers(made), _wrong_words(made)):
        raise BadValueError(f"{made.name}: {wrong}")
    for option in ("weights", "pooled", "completes"):
        other = getattr(made, option)
        if other is not None and other not in (made.name, *REGISTRY):
            raise UnknownNameError(f"{made.name}: {option}={quote(other)} is no metric")


def _wrong_numbers(made: Metric) -> Iterator[str]:
    """Faults of the numbers that are declared."""
    ends = made.range
    two = isinstance(ends, tuple | list) and len(ends) == 2 and all(map(is_number, ends))
    if not two or not ends[0] <= ends[1]:
        yield f"range={quote(ends)} is not a least and a greatest value, as (0, 1)"
    if made.best is not None and (not is_number(made.best) or made.best not in ends):
        yield f"best={quote(made.best)} is not an end of its range {ends}, nor None"
    for option in ("undefined", "slope"):
        value = getattr(made, option)
        if value is not None and not (is_number(value) and abs(value) < float("inf")):
            yield f"{option}={quote(value)} is not a number, nor None"
    if made.undefined is not None and not ends[0] <= made.undefined <= ends[1]:
        yield f"undefined={quote(made.undefined)} is not in its range {ends}, nor None"


def _wrong_words(made: Metric) -> Iterator[str]:
    """Faults of the other things that are declared."""
    for option in ("monotone", "expected", "summed", "biased"):
        value = getattr(made, option)
        if not isinstance(value, bool) and not (option == "monotone" and value is None):
            yield f"{option}={quote(value)} is not True or False"
    known = [way for way in get_args(Unjudged) if way != "scan"]  # whose function is ours
    if made.unjudged not in (None, *known):
        yield f"unjudged={quote(made.unjudged)} is not one of {listed(known)}, nor None"
    if odd := next((name for name in made.unless if name not in made.options), None):
        yield f"unless={quote(made.unless)}: it has no parameter {quote(odd)}"
    if not all(isinstance(one, str) and one for one in made.also):
        yield f"also={quote(made.also)} are not names"


def _put(made: Metric) -> None:
    """Put a user's metric in the registry; it replaces the same function, or one of its name from a notebook."""
    before = REGISTRY.get(made.name)
    if before is not None and _defined_at(before) != _defined_at(made) and before.kernel.__module__ != SESSION:
        raise UnknownNameError(f"there is a metric {_whose(before)} already; rename the function")
    names = (made.name, *made.also)
    others = aliases(other for other in REGISTRY.values() if other is not before)
    for name in names:
        if plain_name(name) in others:
            other = REGISTRY[others[plain_name(name)]]
            raise UnknownNameError(f"{name!r} is a name of {_whose(other)}; choose another")
    REGISTRY[made.name] = made
    read_text.cache_clear()
    if odd := [name for name in names if not _reads_as(name, made)]:
        del REGISTRY[made.name]
        if before is not None:
            REGISTRY[made.name] = before
        read_text.cache_clear()
        raise UnknownNameError(f"{odd[0]!r} reads as something else, as 'gm_ap' and 'f2' do; choose another name")


def _defined_at(made: Metric) -> tuple[str, str]:
    """The module and the place in it of a metric's kernel."""
    return made.kernel.__module__, made.kernel.__qualname__


def _whose(made: Metric) -> str:
    """Return words for who defined a metric."""
    module = made.kernel.__module__
    return f"{made.name!r} of frame_metrics" if module.startswith(OURS) else f"{made.name!r} of the module {module!r}"


def _reads_as(name: str, made: Metric) -> bool:
    """Return True where a text is read as a metric."""
    try:
        return read_text(name)[0][1] is made
    except FrameMetricsError:
        return False
