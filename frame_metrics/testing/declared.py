"""Laws about the declarations of a metric, and about the text that it prints as."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, permutations, product

import numpy as np

from frame_metrics.errors import FrameMetricsError
from frame_metrics.inputs import FullScores
from frame_metrics.inputs.expected import Expected
from frame_metrics.metrics.metric import REGISTRY, Metric
from frame_metrics.metrics.names import read
from frame_metrics.testing.cases import OneRanking, Rankings, better
from frame_metrics.testing.trial import VALUE_TOL, Trial, law, same, shortened


@law("monotone=True: a better document moved up makes the value no worse")
def monotone(trial: Trial) -> Iterator[str]:
    if trial.metric.monotone is not True or trial.metric.excepted:
        return
    pairs, family = list(better(Rankings(trial.metric).cases())), Rankings(trial.metric)
    for own in trial.ranked:
        before, after = (own.compute(family.source(side)) for side in zip(*pairs, strict=True))
        rise = np.nan_to_num(after - before)
        sign = {True: 1, False: -1, None: np.sign(rise[np.argmax(np.abs(rise) > VALUE_TOL)])}[own.higher]
        for i in np.flatnonzero(rise * sign < -VALUE_TOL):
            yield f"{own} of {pairs[i][0]} is {shortened(before[i])}, and of {pairs[i][1]} {shortened(after[i])}"


@law("expected=True: the value of rows that share what their tie has is the mean over all orders of equal scores")
def expected(trial: Trial) -> Iterator[str]:
    if not trial.metric.expected or trial.metric.excepted:
        return
    family = trial.family if isinstance(trial.family, Rankings) else Rankings(trial.metric)
    random = np.random.default_rng(1)
    for sizes in ((2,), (3,), (1, 2), (2, 1), (2, 2)):
        n = sum(sizes)
        every = product((math.nan, *family.grades[-2:]), repeat=n)
        cases = [family.filled(OneRanking(grades, n), random) for grades in every]
        for own in trial.ranked or [trial.metric]:
            yield from _over_orders(own, family, cases, sizes)


def _over_orders(custom: Metric, family: Rankings, cases: Sequence[OneRanking], sizes: Sequence[int]) -> Iterator[str]:
    """Yield a sentence for each ranking whose value is not the mean over the orders of its ties.

    Parameters
    ----------
    cases : rankings, in which the results are tied in groups of the given sizes.
    """
    ends = np.cumsum([0, *sizes]).tolist()
    within = product(*(permutations(range(*pair)) for pair in pairwise(ends)))
    orders = [[i for tie in order for i in tie] for order in within]
    ordered = [case.reordered(order) for case in cases for order in orders]
    mean = custom.compute(family.source(ordered)).reshape(len(cases), -1).mean(axis=1)
    run = family.source(cases, tie=np.repeat(np.arange(len(cases) * len(sizes)), np.tile(sizes, len(cases))))
    found = custom.compute(Expected(run, np.zeros(0) if run.tie is None else run.tie))
    for i in np.flatnonzero(~(same(mean, found) | np.isnan(mean))).tolist():
        over = f"and the mean over the orders is {shortened(mean[i])}"
        yield f"{custom} of {cases[i]}, in ties of {list(sizes)}, is {shortened(found[i])}, {over}"


@law('unjudged="rises": an unjudged row that turns out relevant makes the value no smaller')
def unjudged(trial: Trial) -> Iterator[str]:
    family = trial.family
    rises = trial.metric.unjudged == "rises" and not trial.metric.excepted
    if not rises or not isinstance(family, Rankings) or trial.metric.columns:
        return
    top = float(family.grades[-1])
    pairs = [
        (case, replace(case, grades=(*case.grades[:i], top, *case.grades[i + 1 :])))
        for case in trial.cases
        for i in range(case.n_ret)
        if math.isnan(case.grades[i])
    ]
    before, after = (np.nan_to_num(trial.of(side)) for side in zip(*pairs, strict=True))
    for i in np.flatnonzero(after < before - VALUE_TOL):
        yield f"{pairs[i][0]} has {shortened(before[i])}, and {pairs[i][1]} {shortened(after[i])}"


@law("slope=: the value is a straight line of the area under the ROC curve")
def slope(trial: Trial) -> Iterator[str]:
    source = trial.family.source(trial.cases)
    if trial.metric.slope_by_area is None or not isinstance(source, FullScores):
        return
    rest = trial.values - trial.metric.slope_by_area * source.area
    known = np.flatnonzero(~np.isnan(rest))
    for i in known[~same(rest[known], rest[known[:1]])]:
        first = known[0]
        pair = (f"{shortened(trial.values[j])} and the area {shortened(source.area[j])}" for j in (first, i))
        yield f"{trial.cases[first]} has {next(pair)}, and {trial.cases[i]} {next(pair)}"


@law("completes=: the value and that of the metric it completes add up to 1, or neither has one")
def completes(trial: Trial) -> Iterator[str]:
    if trial.metric.completes is None:
        return
    whole = REGISTRY[trial.metric.completes]
    other = trial.of(trial.cases, whole if trial.metric.cutoff is None else whole @ trial.metric.cutoff)
    for i in np.flatnonzero(~same(trial.values, 1 - other)):
        yield f"{trial.cases[i]} has {shortened(trial.values[i])}, and {whole} is {shortened(other[i])}"


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
