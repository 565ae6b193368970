"""The laws, one function each, and the verb that tries a metric on all of them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.accessor import IRM
from frame_metrics.border.frames import LIBRARIES, given_as
from frame_metrics.errors import BrokenLawError, FrameMetricsError, KernelError, NotComputableError
from frame_metrics.inputs import Array, Confusion, Ranking, Scores
from frame_metrics.inputs.expected import Expected
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import read
from frame_metrics.testing.cases import SIZE, Case, Family, OneRanking, Rankings, SomeScores, better, family_of

CLOSE = 1e-9
Law = Callable[["Trial"], Iterator[str]]
LAWS: dict[str, tuple[str, Law]] = {}  # what each law says, and what breaks it, in words


def law(says: str) -> Callable[[Law], Law]:
    """Give a law its place among those that are tried, in the order of the file."""

    def put(tried: Law) -> Law:
        LAWS[tried.__name__.replace("_", " ")] = says, tried
        return tried

    return put


def check_metric(metric: str | Metric) -> None:
    """Try a metric on small cases, and raise where it breaks a law.

    The laws are about the result (an array of floats, one per query), its range, undefined values, the best value, the
    cutoff, queries beside each other, and what is declared of equal scores and of unjudged rows. They are tried on all
    rankings of up to three documents, all tables of small counts, or all of up to three scores, and some larger ones.

    Parameters
    ----------
    metric : the metric, or its name; with the parameters that it cannot do without.

    Raises
    ------
    BrokenLawError
        The metric breaks a law: its ``law`` is the name of the law, its ``example`` the smallest case that was found.
    NotComputableError
        The metric needs a parameter.

    Examples
    --------
    >>> import frame_metrics
    >>> from frame_metrics.testing import check_metric
    >>> check_metric("ndcg@10")
    >>> @frame_metrics.metric()
    ... def twice_precise(table: frame_metrics.Confusion):
    ...     return 2 * table.tp / (table.tp + table.fp)
    >>> check_metric(twice_precise)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    frame_metrics.errors.BrokenLawError: twice_precise breaks the law 'in range': every value ...
    """
    for name, own in read([metric]):
        _check_one(name, own)


def _check_one(name: str, own: Metric) -> None:
    """Raise where one metric breaks a law."""
    if own.missing:
        raise NotComputableError(f"{name} needs {own.missing[0]}=; check it with one")
    try:
        _ = own.reads
    except KernelError as error:
        raise _broken(name, "result", str(error)) from error
    if "max_grade" in own.reads and own.params.get("max_grade") is None:
        raise NotComputableError(f"{name} needs max_grade=; check it with one, of a long scale, as 20")
    family = family_of(own)
    if family is None:
        raise NotComputableError(f"{name}: laws are about rankings, 2x2 tables, scores and tables of classes")
    trial = Trial(own, family)
    for title, (_, tried) in LAWS.items():
        example = next(tried(trial), None)
        if example is not None:
            raise _broken(name, title, example) from trial.cause


def _broken(name: str, title: str, example: str) -> BrokenLawError:
    return BrokenLawError(f"{name} breaks the law {title!r}: {LAWS[title][0]}; {example}", law=title, example=example)


class Trial:
    """A metric and the cases that it is tried on."""

    def __init__(self, metric: Metric, family: Family) -> None:
        self.metric, self.family = metric, family
        self.cases: list[Any] = family.cases()
        self.cause: FrameMetricsError | None = None  # of an example that is an error

    @cached_property
    def values(self) -> Array:
        """The metric of each case."""
        return self.of(self.cases)

    def of(self, cases: Sequence[Case], metric: Metric | None = None) -> Array:
        """Return the metric, or another one, of some cases."""
        return (metric or self.metric).compute(self.family.source(cases))

    def error(self, cases: Sequence[Case]) -> FrameMetricsError | None:
        """Return the error that some cases lead to, if any."""
        try:
            self.of(cases)
        except FrameMetricsError as error:
            return error
        return None

    @property
    def ranked(self) -> list[Metric]:
        """The metric of rankings, as it is and cut; nothing where it is of no ranking."""
        own = self.metric
        if own.input not in (Ranking, Confusion) or own.columns:
            return []
        whole = [own] if own.input is Ranking or own.cutoff is not None else []
        return whole + ([own @ 1, own @ 2] if own.at == "k" and own.cutoff is None else [])


def _same(one: Array, other: Array) -> Array:
    """True where two values are equal but for rounding, or both undefined."""
    with np.errstate(invalid="ignore"):
        close = np.abs(one - other) <= CLOSE * np.maximum(1, np.abs(one))
    return close | (one == other) | (np.isnan(one) & np.isnan(other))


def _number(value: float) -> str:
    return "no value" if math.isnan(value) else f"{value:.12g}"


@law("the result is an array of floats, one for each query, without an error, also where there is no query")
def result(trial: Trial) -> Iterator[str]:
    alone = {str(case): [case] for case in trial.cases}
    for said, cases in {"no query at all": [], **alone, "many queries": trial.cases}.items():
        if error := trial.error(cases):
            trial.cause = error
            yield f"{said}: {error}"


@law("what the metric reads stays as it was: other metrics read it too")
def unchanged(trial: Trial) -> Iterator[str]:
    if any(_touched(trial, trial.cases)):
        yield from (f"{case}: {what}" for case in trial.cases for what in _touched(trial, [case]))
        yield "many queries"


def _touched(trial: Trial, cases: Sequence[Case]) -> Iterator[str]:
    """Arrays that a metric changes."""
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
        for i in np.flatnonzero(~_same(first, again)):
            yield f"{trial.cases[i]} has {_number(first[i])}, and then {_number(again[i])}"


@law("a query has the value that it has alone, whichever other queries stand before or after it")
def apart(trial: Trial) -> Iterator[str]:
    turned = trial.of(trial.cases[::-1])[::-1]
    for i in (*range(min(100, len(trial.cases))), *range(len(trial.cases) - 20, len(trial.cases))):
        case = trial.cases[i]
        alone = trial.of([case])
        if not (_same(alone, trial.values[[i]]) & _same(alone, turned[[i]])).all():
            yield from _beside(trial, case, alone)
            yield f"{case} has {_number(alone[0])} alone, and {_number(trial.values[i])} among many queries"


def _beside(trial: Trial, case: Case, alone: Array) -> Iterator[str]:
    """Queries beside which one has another value, the smallest first."""
    for other in trial.cases[:100]:
        for word, pair, at in (("after", [other, case], 1), ("before", [case, other], 0)):
            value = trial.of(pair)[[at]]
            if not _same(alone, value).all():
                yield f"{case} has {_number(alone[0])} alone, and {_number(value[0])} {word} {other}"


@law("every value that is defined lies in the range that is declared")
def in_range(trial: Trial) -> Iterator[str]:
    low, high = trial.metric.range
    for i in np.flatnonzero((trial.values < low - CLOSE) | (trial.values > high + CLOSE)):
        yield f"{trial.cases[i]} has {_number(trial.values[i])}, and the range is {trial.metric.range}"


@law("what stands for an undefined value lies in the range too, or is None")
def undefined(trial: Trial) -> Iterator[str]:
    (low, high), fill = trial.metric.range, trial.metric.undefined
    if fill is not None and not low <= fill <= high:
        for i in np.flatnonzero(np.isnan(trial.values)):
            yield f"{trial.cases[i]} has no value, undefined={fill:g} is put there, and the range is {(low, high)}"


@law("all that is relevant and nothing else has the best value that is declared")
def best(trial: Trial) -> Iterator[str]:
    own, perfect = trial.metric, trial.family.perfect()
    if own.best is None or math.isinf(own.best) or own.columns:
        return
    own = own @ len(perfect[0].grades) if own.k is not None and isinstance(perfect[0], OneRanking) else own
    (value, _) = trial.of(perfect, own)
    if not abs(value - own.best) <= 1e-6:
        yield f"{_of_perfect(perfect[0])} has {_number(value)}, and the best is {own.best:g}"


def _of_perfect(case: Case) -> str:
    if isinstance(case, OneRanking):
        return f"a ranking of {case.n_ret} documents with grade {case.grades[0]:g}"
    return f"{str(case)[:60]} ..." if isinstance(case, SomeScores) else str(case)


@law("what stands below the cutoff makes no difference")
def cutoff(trial: Trial) -> Iterator[str]:
    own = trial.metric
    if own.input is not Ranking or own.at != "k" or own.params.get("judged_only"):
        return  # without its unjudged rows a list is cut further down
    for k in (1, 2) if own.k is None else (own.k,):
        cut = replace(own, cutoff=k)
        cases = [case for case in trial.cases if case.n_ret > k + 1]
        turned = [case.in_order([*range(k), *range(case.n_ret - 1, k - 1, -1)]) for case in cases]
        one, other = trial.of(cases, cut), trial.of(turned, cut)
        for i in np.flatnonzero(~_same(one, other)):
            yield f"{cases[i]} has {_number(one[i])} at {k}, and with what is below turned round {_number(other[i])}"


@law("grades that are integers, of any size, have the values of the same floats")
def types_of_grades(trial: Trial) -> Iterator[str]:
    family = trial.family
    if not isinstance(family, Rankings):
        return
    whole = [i for i, case in enumerate(trial.cases) if all(grade == grade // 1 for grade in case.grades)]
    for dtype in (np.int64, np.int8, np.uint8):
        values = trial.metric.compute(family.source([trial.cases[i] for i in whole], dtype))
        for at in np.flatnonzero(~_same(trial.values[whole], values)):
            i = whole[at]
            said = f"{_number(trial.values[i])}, and {_number(values[at])} where they are {dtype.__name__}"
            yield f"{trial.cases[i]} has {said}"


@law("monotone=True: a better document moved up makes the value no worse")
def monotone(trial: Trial) -> Iterator[str]:
    if trial.metric.monotone is not True:
        return
    pairs, family = list(better(Rankings(trial.metric).cases())), Rankings(trial.metric)
    for own in trial.ranked:
        before, after = (own.compute(family.source(side)) for side in zip(*pairs, strict=True))
        rise = np.nan_to_num(after - before)
        sign = {True: 1, False: -1, None: np.sign(rise[np.argmax(np.abs(rise) > CLOSE)])}[own.higher]
        for i in np.flatnonzero(rise * sign < -CLOSE):
            yield f"{own} of {pairs[i][0]} is {_number(before[i])}, and of {pairs[i][1]} {_number(after[i])}"


@law("expected=True: the value of rows that share what their tie has is the mean over all orders of equal scores")
def expected(trial: Trial) -> Iterator[str]:
    if not trial.metric.expected:
        return
    family = Rankings(trial.metric)
    random = np.random.default_rng(1)
    for sizes in ((2,), (3,), (1, 2), (2, 1), (2, 2)):
        n = sum(sizes)
        every = product((math.nan, *family.grades[-2:]), repeat=n)
        cases = [family.filled(OneRanking(grades, n), random) for grades in every]
        for own in trial.ranked or [trial.metric]:
            yield from _over_orders(own, family, cases, sizes)


def _over_orders(own: Metric, family: Rankings, cases: Sequence[OneRanking], sizes: Sequence[int]) -> Iterator[str]:
    """Rankings with ties of these sizes of which the value is not the mean over the orders."""
    ends = np.cumsum([0, *sizes]).tolist()
    within = product(*(permutations(range(*pair)) for pair in pairwise(ends)))
    orders = [[i for tie in order for i in tie] for order in within]
    ordered = [case.in_order(order) for case in cases for order in orders]
    mean = own.compute(family.source(ordered)).reshape(len(cases), -1).mean(axis=1)
    run = family.source(cases, tie=np.repeat(np.arange(len(cases) * len(sizes)), np.tile(sizes, len(cases))))
    found = own.compute(Expected(run, np.zeros(0) if run.tie is None else run.tie))
    for i in np.flatnonzero(~(_same(mean, found) | np.isnan(mean))).tolist():
        over = f"and the mean over the orders is {_number(mean[i])}"
        yield f"{own} of {cases[i]}, in ties of {list(sizes)}, is {_number(found[i])}, {over}"


@law('unjudged="rises": an unjudged row that turns out relevant makes the value no smaller')
def unjudged(trial: Trial) -> Iterator[str]:
    family = trial.family
    if trial.metric.unjudged != "rises" or not isinstance(family, Rankings) or trial.metric.columns:
        return
    top = float(family.grades[-1])
    pairs = [
        (case, replace(case, grades=(*case.grades[:i], top, *case.grades[i + 1 :])))
        for case in trial.cases
        for i in range(case.n_ret)
        if math.isnan(case.grades[i])
    ]
    before, after = (np.nan_to_num(trial.of(side)) for side in zip(*pairs, strict=True))
    for i in np.flatnonzero(after < before - CLOSE):
        yield f"{pairs[i][0]} has {_number(before[i])}, and {pairs[i][1]} {_number(after[i])}"


@law("slope=: the value is a straight line of the area under the ROC curve")
def slope(trial: Trial) -> Iterator[str]:
    source = trial.family.source(trial.cases)
    if trial.metric.of_area is None or not isinstance(source, Scores):
        return
    rest = trial.values - trial.metric.of_area * source.area
    known = np.flatnonzero(~np.isnan(rest))
    for i in known[~_same(rest[known], rest[known[:1]])]:
        first = known[0]
        yield (
            f"{trial.cases[first]} has {_number(trial.values[first])} and the area {_number(source.area[first])}, and "
            f"{trial.cases[i]} {_number(trial.values[i])} and {_number(source.area[i])}"
        )


@law("the text that it prints as reads back to it")
def name(trial: Trial) -> Iterator[str]:
    own = trial.metric
    if own.functions:
        return  # which have no text
    try:
        ((_, other),) = read([str(own)])
    except FrameMetricsError as error:
        yield f"{str(own)!r}: {error}"
    else:
        if other != own:
            yield f"{str(own)!r} is another metric, which was defined after it"


@law("frames of every kind have the values of the arrays, whatever the order of their rows")
def frames(trial: Trial) -> Iterator[str]:
    made = _framed(trial)
    if made is None:
        return
    frame, roles, known = made
    shuffled = frame.sample(fraction=1, shuffle=True, seed=0)
    loaded = [library for library in LIBRARIES if library in sys.modules]
    kinds = {"lazy": shuffled.lazy(), **{library: given_as(library, shuffled) for library in loaded}}
    for kind, one in kinds.items():
        irm: Any = IRM(one, undefined="null", **roles)
        found = irm.per_query(trial.metric) if roles["query"] else irm.evaluate(trial.metric)
        found = found.collect() if kind == "lazy" else found
        values = dict(zip(np.array(found["case"]).tolist(), np.array(found["value"], np.float64), strict=True))
        for i in known:
            if not _same(trial.values[[i]], values[i]).all():
                yield f"{trial.cases[i]} has {_number(trial.values[i])}, and {_number(values[i])} in a frame of {kind}"


def _framed(trial: Trial) -> tuple[pl.DataFrame, dict[str, Any], list[int]] | None:
    """The cases as a frame, the roles of its columns, and the cases that have a value there; None for what has none."""
    own, family = trial.metric, trial.family
    rows: list[tuple[Any, ...]] = []
    if own.input is Confusion and own.k is None:
        cells = ((1, 1), (0, 1), (1, 0), (0, 0))  # the label and the prediction of each
        every = [(i, *pair) for i, case in enumerate(trial.cases) for pair in zip(cells, case.cells, strict=True)]
        rows = [(i, *cell, int(n)) for i, cell, n in every if n]
        return _of_segments(rows, {"label": "label", "predicted": "predicted", "count": "n"})
    if own.input is Scores:
        rows = [(i, y, s) for i, case in enumerate(trial.cases) for s, y in case.rows]
        return _of_segments(rows, {"label": "label", "score": "score"})
    if not isinstance(family, Rankings):
        return None
    for i, case in enumerate(trial.cases):
        for place, grade in enumerate(case.grades):
            score = 1 / (place + 2) if place < case.n_ret else None
            known = None if math.isnan(grade) else grade
            rows.append((i, score, known, *(values[place] for values in case.columns)))
    columns = [f"column {i}" for i, _ in enumerate(own.columns)]
    frame = pl.DataFrame(rows, schema=["case", "score", "grade", *columns], orient="row")
    judged = frame.filter(pl.col("grade").is_not_null())["case"].unique().sort().to_list()
    roles = {"query": "case", "score": "score", "grade": "grade", "collection_size": SIZE}
    return frame, roles | ({"extra": dict(zip(own.columns, columns, strict=True))} if columns else {}), judged


def _of_segments(rows: list[Any], names: dict[str, str]) -> tuple[pl.DataFrame, dict[str, Any], list[int]]:
    """Rows without a query, a segment for each case."""
    frame = pl.DataFrame(rows, schema=["case", *names.values()], orient="row")
    return frame, {"query": None, "by": "case", **names}, frame["case"].unique().sort().to_list()
