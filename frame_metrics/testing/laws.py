"""Laws of every metric: its result, its range, its best value, and the independence of queries from each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from frame_metrics.errors import FrameMetricsError
from frame_metrics.inputs import Array, FullRanking
from frame_metrics.metrics.metric import Metric
from frame_metrics.testing.cases import Case, OneRanking, Rankings, SomeScores
from frame_metrics.testing.trial import VALUE_TOL, Trial, law, same, shortened

LONG_SCALE = 20  # a highest grade at which, by expected reciprocal rank, all but one of a million users are satisfied


@law("the result is an array of floats, one for each query, without an error, also where there is no query")
def result(trial: Trial) -> Iterator[str]:
    alone = {str(case): [case] for case in trial.cases}
    for name, cases in {"no query at all": [], **alone, "many queries": trial.cases}.items():
        try:
            trial.of(cases)
        except FrameMetricsError as error:
            trial.cause = error
            yield f"{name}: {error}"


@law("what the metric reads stays as it was: other metrics read it too")
def unchanged(trial: Trial) -> Iterator[str]:
    if any(_touched(trial, trial.cases)):
        yield from (f"{case}: {what}" for case in trial.cases for what in _touched(trial, [case]))
        yield "many queries"


def _touched(trial: Trial, cases: Sequence[Case]) -> Iterator[str]:
    """Yield a sentence for each array of its input that a metric changes."""
    source = trial.family.source(cases)
    before = {name: values.copy() for name, values in _arrays(source)}
    trial.metric.compute(source)
    for name, values in _arrays(source):
        if name in before and not np.array_equal(before[name], values, equal_nan=values.dtype.kind == "f"):
            yield f"{name} was {before[name].tolist()}, and is {values.tolist()}"


def _arrays(source: Any) -> list[tuple[str, Array]]:
    held = {**vars(source), **getattr(source, "extra", {})}
    return [(name, values) for name, values in held.items() if isinstance(values, np.ndarray)]


@law("the same queries have the same values again")
def repeated(trial: Trial) -> Iterator[str]:
    first, *more = (trial.of(trial.cases) for _ in range(3))
    for again in more:
        for i in np.flatnonzero(~same(first, again)):
            yield f"{trial.cases[i]} has {shortened(first[i])}, and then {shortened(again[i])}"


@law("a query has the value that it has alone, whichever other queries stand before or after it")
def apart(trial: Trial) -> Iterator[str]:
    turned = trial.of(trial.cases[::-1])[::-1]
    for i in (*range(min(100, len(trial.cases))), *range(len(trial.cases) - 20, len(trial.cases))):
        case = trial.cases[i]
        alone = trial.of([case])
        if not (same(alone, trial.values[[i]]) & same(alone, turned[[i]])).all():
            yield from _other_values(trial, case, alone)
            yield f"{case} has {shortened(alone[0])} alone, and {shortened(trial.values[i])} among many queries"


def _other_values(trial: Trial, case: Case, alone: Array) -> Iterator[str]:
    """Yield a sentence for each query that changes the value of a case, the smallest first."""
    for other in trial.cases[:100]:
        for word, pair, at in (("after", [other, case], 1), ("before", [case, other], 0)):
            value = trial.of(pair)[[at]]
            if not same(alone, value).all():
                yield f"{case} has {shortened(alone[0])} alone, and {shortened(value[0])} {word} {other}"


@law("every value that is defined lies in the range that is declared")
def in_range(trial: Trial) -> Iterator[str]:
    low, high = trial.metric.range
    for i in np.flatnonzero((trial.values < low - VALUE_TOL) | (trial.values > high + VALUE_TOL)):
        yield f"{trial.cases[i]} has {shortened(trial.values[i])}, and the range is {trial.metric.range}"


@law("what stands for an undefined value lies in the range too, or is None")
def undefined(trial: Trial) -> Iterator[str]:
    (low, high), fill = trial.metric.range, trial.metric.undefined
    if fill is not None and not low <= fill <= high:
        for i in np.flatnonzero(np.isnan(trial.values)):
            yield f"{trial.cases[i]} has no value, undefined={fill:g} is put there, and the range is {(low, high)}"


@law("all that is relevant and nothing else, in a long list and on a long scale, has the best value that is declared")
def best(trial: Trial) -> Iterator[str]:
    own = _on_a_long_scale(trial.metric)
    family = Rankings(own) if isinstance(trial.family, Rankings) else trial.family
    perfect = family.perfect()
    if own.best is None or math.isinf(own.best) or own.columns:
        return
    if own.k is not None and isinstance(perfect[0], OneRanking):
        own = replace(own, cutoff=len(perfect[0].grades))
    (value, _) = own.compute(family.source(perfect))
    if not abs(value - own.best) <= 1e-6:
        yield f"{_of_perfect(perfect[0])} has {shortened(value)}, and the best is {own.best:g}"


def _on_a_long_scale(custom: Metric) -> Metric:
    """Return a metric with ``max_grade`` of at least ``LONG_SCALE``, if it has one and its gains are not a mapping."""
    gain = custom.params.get("gain", "linear")
    if custom.params.get("max_grade") is None or not isinstance(gain, str):
        return custom
    return custom(max_grade=max(custom.params["max_grade"], LONG_SCALE))


def _of_perfect(case: Case) -> str:
    if isinstance(case, OneRanking):
        return f"a ranking of {case.n_ret} documents with grade {case.grades[0]:g}"
    return f"{str(case)[:60]} ..." if isinstance(case, SomeScores) else str(case)


@law("what stands below the cutoff makes no difference")
def cutoff(trial: Trial) -> Iterator[str]:
    own = trial.metric
    if own.input is not FullRanking or own.at != "k" or own.params.get("judged_only"):
        return  # without its unjudged rows a list is cut further down
    for k in (1, 2) if own.k is None else (own.k,):
        cut = replace(own, cutoff=k)
        cases = [case for case in trial.cases if case.n_ret > k + 1]
        turned = [case.reordered([*range(k), *range(case.n_ret - 1, k - 1, -1)]) for case in cases]
        one, other = trial.of(cases, cut), trial.of(turned, cut)
        for i in np.flatnonzero(~same(one, other)):
            turned_round = f"with what is below turned round {shortened(other[i])}"
            yield f"{cases[i]} has {shortened(one[i])} at {k}, and {turned_round}"


@law("grades that are integers, of any size, have the values of the same floats")
def types_of_grades(trial: Trial) -> Iterator[str]:
    family = trial.family
    if not isinstance(family, Rankings):
        return
    whole = [i for i, case in enumerate(trial.cases) if all(grade == grade // 1 for grade in case.grades)]
    for dtype in (np.int64, np.int8, np.uint8):
        values = trial.metric.compute(family.source([trial.cases[i] for i in whole], dtype))
        for at in np.flatnonzero(~same(trial.values[whole], values)):
            i = whole[at]
            values_given = f"{shortened(trial.values[i])}, and {shortened(values[at])} where they are {dtype.__name__}"
            yield f"{trial.cases[i]} has {values_given}"
