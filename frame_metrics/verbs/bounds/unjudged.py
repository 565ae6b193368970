"""Bounds of unjudged rows: the least and the greatest value that a metric could have once all are judged.

The arguments for these formulas stand in docs/bounds.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from frame_metrics.errors import BadValueError, NotComputableError, shown
from frame_metrics.inputs import Array, Confusion, Ranking, Rows, gain_of, ratio
from frame_metrics.metrics.metric import REGISTRY, Metric
from frame_metrics.metrics.parameters import is_number
from frame_metrics.metrics.ranking import dcg

Pair: TypeAlias = tuple[Array, Array]
Given: TypeAlias = tuple[Array, Array, Array]  # of documents: what is said of some, how many are judged, and highest
Scan: TypeAlias = Callable[[Metric, Ranking, Array, float | None], Pair]


def check_bounded(name: str, metric: Metric, top: float | None = None, highest: float | None = None) -> None:
    """Raise for a metric whose bounds are not known, or that needs ``top``, the highest grade there can be.

    ``highest`` is the highest grade of a scale of words, which the error then names.
    """
    if metric.unjudged is None:
        known = sorted(other.name for other in REGISTRY.values() if other.unjudged)
        raise NotComputableError(f"{name} has no bounds of unjudged rows; these have: {', '.join(known)}")
    if metric.columns:
        raise NotComputableError(
            f"{name} reads run.column({metric.columns[0]!r}), and bounds of unjudged rows are about judgments alone"
        )
    if metric.params.get("judged_only"):
        raise NotComputableError(f"{name} leaves unjudged rows out; bounds of them need judged_only=False")
    whole = is_number(top) and 1 <= top < np.inf and top == int(top)
    if top is not None and not whole:
        raise BadValueError(f"max_grade={shown(top)} is not a whole number from 1")
    own = metric.params.get("max_grade")
    if top is not None and own is not None and top > own:
        raise BadValueError(f"{name}: its highest grade is {own:g}, and max_grade={top:g}; give both the same")
    scaled = "max_grade" in metric.options or not isinstance(metric.params.get("gain"), Mapping)
    if metric.graded and scaled and top is None and own is None:
        said = "" if highest is None else f"{highest:g}"
        raise NotComputableError(f"{name}: bounds of unjudged rows need the scale; say max_grade={said}")


def extremes(name: str, metric: Metric, run: Ranking, spare: Array, top: float | None, fill: float = 0) -> Pair:
    """Return the least and the greatest value of each query over all judgments of its unjudged rows, shape (n,) each.

    The order of the rows stays.

    Parameters
    ----------
    name : the metric as the caller wrote it.
    run : the rankings, with an unjudged row wherever a grade, or for metrics of relevance a label, is NaN.
    spare : documents of each query that stand neither in the ranking nor among the judgments, shape (n,). Judged
        relevant they count in R and in the ideal ranking.
    top : the highest grade an unjudged row could get, for metrics of gains; None for the metric's own ``max_grade``.
    fill : what an undefined value counts as: 0, or of a complement 1.
    """
    spare = spare.astype(np.int64) + _undecided(run, graded=metric.graded)
    metric, top = fitted(name, metric, run, top)
    plain = _value(metric, run, fill)
    if metric.unjudged == "scan":
        least, greatest = SCANS[metric.name](metric, run, spare, top)
    elif metric.unjudged == "rises":
        least, greatest = plain, _value(metric, _best(metric, run, spare, top))
    else:
        least, greatest = _turned(metric, run, spare, fill)
    # With every unjudged row at 0 the value is the plain one, to the last bit.
    return np.minimum(least, plain), np.maximum(greatest, plain)


def fitted(name: str, metric: Metric, run: Ranking, top: float | None) -> tuple[Metric, float | None]:
    """Return a metric, and the highest grade an unjudged row could get; raise for a higher one.

    A gain that is a function becomes a mapping, of all grades up to the highest.
    """
    if not metric.graded:
        return metric, top
    top = metric.params.get("max_grade") if top is None else top
    grades = [run.grade] if run.pool is None else [run.grade, run.pool.grade]
    for grade in grades:
        if top is not None and (higher := grade > top).any():
            raise BadValueError(f"{name}: max_grade={top:g}, but a grade is {grade[higher].max():g}")
    gain = metric.params.get("gain")
    if callable(gain):
        known = np.unique(np.concatenate([*grades, np.arange(float(top or 0) + 1)]))
        known = known[known >= 0]
        metric = metric(gain=dict(zip(known.tolist(), gain_of(known, gain).tolist(), strict=True)))
    return metric, top


def _value(metric: Metric, run: Ranking, fill: float = 0) -> Array:
    return np.nan_to_num(metric.compute(run), nan=fill)


def _share(a: Array, b: Array) -> Array:
    """A ratio, 0 where it is undefined."""
    return np.nan_to_num(ratio(a, b))


def _best(metric: Metric, run: Ranking, spare: Array, top: float | None) -> Ranking:
    """The rankings with each unjudged document relevant, or each row without a grade at the greatest gain."""
    if not metric.graded:
        relevant = run.n_relevant + _n_open(run, ~run.judged) + spare
        return _completed(run, run.good | ~run.judged, relevant)
    gain = metric.params.get("gain")
    best = max(_known(gain, top), key=gain.__getitem__, default=0) if isinstance(gain, Mapping) else top
    return replace(run, grade=np.where(np.isnan(run.grade), float(best or 0), run.grade))


def _known(gain: Mapping[float, float], top: float | None) -> list[float]:
    """The grades of a mapping, up to the highest that there is to be."""
    return [grade for grade in gain if top is None or grade <= top]


def _completed(run: Ranking, good: Array, r: Array) -> Ranking:
    """The rankings with these rows relevant, of so many relevant documents."""
    label = good.astype(np.float64)
    return replace(run, grade=label, label=label, pool=None, known_relevant=r)


def _n_open(run: Ranking, unjudged: Array) -> Array:
    return run.count_of(unjudged, None, retrieved=False)


def open_in(metric: Metric, run: Ranking) -> tuple[Rows, Array]:
    """Return the unjudged rows up to the cutoff, with their places, and how many documents of a query are unjudged.

    The latter has shape (n,), and is without the spare ones.
    """
    unjudged = np.isnan(run.grade) if metric.graded else ~run.judged
    listed = _n_open(run, unjudged)
    return _marked(run, unjudged, np.arange(len(unjudged)), metric.k), listed + _undecided(run, graded=metric.graded)


def best_alone(metric: Metric, run: Ranking, rows: Rows, top: float | None) -> Array:
    """Return what each row adds to a metric that adds up once it is judged, with the greatest gain, shape (rows,)."""
    n = len(rows.query)
    alone = Ranking(np.full(n, np.nan), np.ones(n, np.int64), run.n_ret[rows.query], shown=rows.rank)
    return _value(metric, _best(metric, alone, np.zeros(n, np.int64), top))


def _turned(metric: Metric, run: Ranking, spare: Array, fill: float) -> Pair:
    """Bounds of a metric that is extreme where the predicted unjudged rows alone are relevant, or where the others are.

    Of the others the number matters, as they enter by the number of relevant documents, and which have no decision.
    """
    found = rest = ~run.judged
    if metric.input is Confusion and metric.k is None and run.decision is not None:
        found, rest = found & (run.decision == 1), rest & np.isnan(run.decision)
        predicted = _n_open(run, found)
    else:
        predicted, rest = run.count_of(found, metric.k), np.zeros(len(rest), bool)
    others = _n_open(run, ~run.judged) - predicted + spare
    one = _value(metric, _completed(run, run.good | found, run.n_relevant + predicted), fill)
    other = _value(metric, _completed(run, run.good | rest, run.n_relevant + others), fill)
    return np.minimum(one, other), np.maximum(one, other)


# Scans. A grid has a row for each query and a column for each of its rows that matter, in rank order.


def _from(values: Array) -> Array:
    """The sum of a column's value and those after it."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _after(first: Array | float, columns: Array) -> Array:
    """Columns after a first one."""
    return np.column_stack([np.broadcast_to(first, len(columns)), columns])


def _marked(run: Ranking, rows: Array, value: Array, k: int | None) -> Rows:
    """The marked rows that were retrieved at ranks up to ``k``, with their values."""
    at = np.flatnonzero(rows)
    seen = run.rows(at, value[at].astype(np.float64))
    if k is None:
        return seen
    kept = seen.rank <= k
    return Rows(seen.query[kept], seen.rank[kept], seen.value[kept], run.n_queries)


def _rprec(metric: Metric, run: Ranking, spare: Array, top: float | None) -> Pair:
    """Bounds of R-precision.

    With a relevant unjudged rows the first R' = R + a ranks count. Between two ranks with a row that is relevant or
    unjudged the best value rises with a up to the unjudged rows so far and falls then; the worst falls as long as
    there is room below and rises then. So one candidate from each stretch is enough.
    """
    seen = _marked(run, run.good | ~run.judged, run.good, None)
    good, rank = seen.grid(seen.value), seen.grid(seen.rank, np.inf)
    hits, inside = _after(0, np.cumsum(good, axis=1)), _after(0, np.cumsum(seen.inside & (good == 0), axis=1))
    r, unjudged = run.n_relevant[:, None], (_n_open(run, ~run.judged) + spare)[:, None]
    below = unjudged - inside
    low = np.maximum(_after(0, rank) - r, 0)
    high = np.minimum(np.column_stack([rank, np.full(run.n_queries, np.inf)]) - 1 - r, unjudged)
    there = low <= high
    most, fewest = np.clip(inside, low, high), np.clip(below, low, high)
    greatest = np.where(there, _share(hits + np.minimum(most, inside), r + most), -np.inf)
    least = np.where(there, _share(hits + np.maximum(fewest - below, 0), r + fewest), np.inf)
    return least.min(axis=1), greatest.max(axis=1)


def _ap(metric: Metric, run: Ranking, spare: Array, top: float | None) -> Pair:
    """Bounds of average precision: the unjudged rows up to some rank relevant, or all from some rank on."""
    k = metric.k
    seen = _marked(run, run.good | ~run.judged, run.good, k)
    good, rank = seen.grid(seen.value), seen.grid(seen.rank, np.inf)
    unjudged = (seen.inside & (good == 0)).astype(np.float64)
    above, so_far = np.cumsum(good, axis=1), np.cumsum(unjudged, axis=1)
    each, other = good / rank, unjudged / rank
    below = _from(each) - each
    start = (above * each).sum(axis=1)
    rising = np.cumsum(unjudged * ((above + so_far) / rank + below), axis=1)
    falling = _from(unjudged * ((above + 1) / rank + below + _from(other) - other))
    inside = unjudged.sum(axis=1)
    outside = _n_open(run, ~run.judged) - inside + spare

    def share(total: Array, more: Array) -> Array:
        relevant = run.n_relevant[:, None] + more
        places = relevant if metric.params.get("norm", "R") == "R" or k is None else np.minimum(relevant, k)
        return _share(_after(start, start[:, None] + total), places)

    last = inside[:, None] - so_far + unjudged
    least = share(falling, _after(outside, outside[:, None] + last)).min(axis=1)
    return least, share(rising, _after(0, so_far)).max(axis=1)


def _ndcg(metric: Metric, run: Ranking, spare: Array, top: float | None) -> Pair:
    ratio, unjudged = ratio_of(metric, run, top), np.isnan(run.grade)
    rows = _marked(run, unjudged, unjudged, metric.k)
    weights = rows.like(ratio.discount(rows.rank))
    return Gains.of(ratio, ratio.start, weights, _n_open(run, unjudged) - rows.count + spare).bounds()


@dataclass(frozen=True, eq=False)
class Ratio:
    """A metric that is a sum of discounted gains over the greatest that there could be."""

    levels: Array  # the positive gains that an unjudged document could have, rising; 0 where there is none
    start: Array  # the sum over the judged documents, shape (n,)
    discount: Callable[[Array], Array]  # of ranks
    steps: tuple[Array, Array, Array]  # of the judged gains, see _steps
    k: int | None  # places of the ideal ranking; None for all


def ratio_of(metric: Metric, run: Ranking, top: float | None) -> Ratio:
    """Return the parts of nDCG, or of recall, whose gains are 1 and whose ideal ranking finds everything."""
    n, gain = run.n_queries, metric.params.get("gain", "linear")
    if metric.name == "recall":
        one = np.ones((n, 1), np.int64)
        return Ratio(np.ones(1), run.hits(metric.k), np.ones_like, (one, run.n_relevant[:, None], one > 0), None)
    if isinstance(gain, Mapping):
        gains = np.array([gain[grade] for grade in _known(gain, top)], dtype=np.float64)
    else:
        # Whole grades that no judged one is next to are not looked at by themselves, as _steps says.
        judged = run.grade if run.pool is None else run.pool.grade
        near = judged[judged > 0]
        gains = gain_of(np.unique(np.concatenate([np.floor(near), np.ceil(near), [float(top or 0)]])), gain)
    levels = np.unique(gains[gains > 0]) if (gains > 0).any() else np.zeros(1)
    start = replace(metric, kernel=dcg.kernel).compute(run)
    return Ratio(levels, start, partial(_discount, metric), _steps(run.ideal(gain), levels), metric.k)


@dataclass(frozen=True, eq=False)
class Gains:
    """Weights of unjudged documents, and the ideal that their gains raise: what the bounds of a ratio are made of.

    The weights are the discounts of one system, or those less the ones of another that shares the documents.
    """

    levels: Array  # as of Ratio
    start: Array  # what the judged documents give, shape (n,)
    sums: Array  # of none of the weights that are not 0, the greatest, the two greatest ...; past the end, of all
    added: Array  # how many these are
    above: Array  # how many weights are above 0, shape (n,)
    outside: Array  # how many documents have no weight, shape (n,)
    width: Array  # the steps of the judged gains, see _steps
    reach: Array
    ends: Array
    best: Array  # the sum of no discount of the ideal ranking, the first, the first two ...

    @classmethod
    def of(cls, ratio: Ratio, start: Array, weights: Rows, outside: Array) -> Gains:
        """Return the gains of documents with these weights, of each query the greatest first, none of them 0."""
        width, reach, ends = ratio.steps
        sums = _after(0, np.cumsum(weights.grid(weights.value), axis=1))
        added = np.minimum(np.arange(sums.shape[1]), weights.count[:, None])
        longest = int((reach.max(axis=1, initial=0) + outside + weights.count).max(initial=0))
        places = np.arange(1, (longest if ratio.k is None else min(longest, ratio.k)) + 1)
        best = _after(0, np.cumsum(ratio.discount(places))[None])[0]
        above = np.bincount(weights.query[weights.value > 0], minlength=weights.n_queries)
        return cls(ratio.levels, start, sums, added, above, outside, width, reach, ends, best)

    def _ideal(self, step: int, more: Array) -> Array:
        """Addition of one step of gain to the ideal, with so many unjudged rows reaching it; as many columns."""
        place = np.minimum(self.reach[:, step, None] + more, len(self.best) - 1)
        return self.width[:, step, None] * self.best[place]

    def bounds(self) -> Pair:
        """Return the least and the greatest value of each query."""
        rest = (self.sums - self.sums[:, -1:])[:, ::-1], (self.added[:, -1:] - self.added)[:, ::-1]
        below = self.added[:, -1] - self.above
        turned = replace(self, start=-self.start, sums=rest[0], added=rest[1], above=below)
        return 0.0 - turned._greatest(), self._greatest()

    def _greatest(self) -> Array:
        """The greatest value: where it is below 0, all that raise the sum are at the top, and more, to raise the ideal.

        Else those alone have a gain.
        """
        more = self.added + self.outside[:, None]
        ideal = sum((self._ideal(step, more) for step in range(self.width.shape[1])), np.zeros(more.shape))
        values = _share(self.start[:, None] + self.levels[-1] * self.sums, ideal)
        share = np.minimum(np.where(self.added < self.above[:, None], -np.inf, values).max(axis=1), 0)
        while True:  # Dinkelbach: each round finds a greater value, and there are finitely many
            reached = np.where(share < 0, share, _share(*self._best_at(share)))
            if not (reached > share).any():
                return share
            share = np.maximum(share, reached)

    def _best_at(self, share: Array) -> Pair:
        """The sum and the ideal whose difference, ideal times share, is greatest."""
        total, ideal = self.start.copy(), np.zeros(len(share))
        gained, cost = np.zeros(len(share)), np.zeros(self.added.shape)
        each = np.arange(len(share))
        for step in range(self.width.shape[1]):
            gained += self.width[:, step]
            cost += self._ideal(step, self.added)
            column = np.argmax(gained[:, None] * self.sums - share[:, None] * cost, axis=1)
            done = self.ends[:, step]
            total += np.where(done, gained * self.sums[each, column], 0)
            ideal += np.where(done, cost[each, column], 0)
            gained[done], cost[done] = 0, 0
        return total, ideal

    def judged(self, at: Array, given: Array, n: Array, tops: Array) -> Gains:
        """Return the gains of some queries, once documents of each are judged: of no gain, or of the highest.

        Parameters
        ----------
        at : the queries, which may repeat.
        given : of the document of each weight of these, 1 for no gain, 2 for the highest, and 0 where it is not judged,
            shape (queries, weights).
        n, tops : how many documents are judged, and have the highest gain, those without a weight included.
        """
        done, top = given > 0, self.levels[-1]
        gone = np.where(done, np.diff(self.sums[at], axis=1), 0)
        return replace(
            self,
            start=self.start[at] + top * (gone * (given == 2)).sum(axis=1),
            sums=self.sums[at] - _after(0, np.cumsum(gone, axis=1)),
            added=self.added[at] - _after(0, np.cumsum(done, axis=1)),
            above=self.above[at] - (gone > 0).sum(axis=1),
            outside=np.maximum(self.outside[at] + done.sum(axis=1) - n, 0),
            width=self.width[at],
            reach=self.reach[at] + (tops * (top > 0))[:, None],
            ends=self.ends[at],
        )


def _discount(metric: Metric, rank: Array) -> Array:
    """The discount of each rank: the dcg of one document with a gain of 1 there."""
    one = np.ones(len(rank), np.int64)
    params = {name: value for name, value in metric.params.items() if name in ("discount", "base")}
    return dcg(**params).compute(Ranking(one, one, one, shown=rank.astype(np.int64)))


def _undecided(run: Ranking, *, graded: bool) -> Array:
    """Documents among the judgments that are not listed and have a label but no grade, or the reverse, shape (n,)."""
    if run.pool is None or run.pool.label is None or run.label is None:
        return np.zeros(run.n_queries, np.int64)
    grade, label = (run.pool.grade, run.grade), (run.pool.label, run.label)
    here, there = (grade, label) if graded else (label, grade)
    lacking, listed = (np.isnan(one) & ~np.isnan(other) for one, other in zip(here, there, strict=True))
    without = run.pool.count(lacking, run.n_queries)
    return np.maximum(without - _n_open(run, listed), 0)


def _steps(best: Rows, levels: Array) -> tuple[Array, Array, Array]:
    """The axis of gain in steps over which neither the judged documents nor the choice of rows can change.

    Returns
    -------
    For each query and step, grids: how wide the step is, how many judged documents have a gain that high, and whether
    the step ends at a gain that an unjudged row could have. Levels between which no judged gain lies are one step, as
    what is best for one of them is best for the others.
    """
    above = np.minimum(np.searchsorted(levels, best.value), len(levels) - 1)
    under = np.append(levels, 0)[np.searchsorted(levels, best.value, side="right") - 1]
    every, nothing = np.arange(best.n_queries), np.zeros(len(best.value))
    query = np.concatenate([best.query, best.query, best.query, every])
    gain = np.concatenate([best.value, levels[above], under, np.full(best.n_queries, levels[-1])])
    count = np.concatenate([nothing + 1, nothing, nothing, np.zeros(best.n_queries)])
    order = np.lexsort((gain, query))
    order = order[gain[order] > 0]
    query, gain, count = query[order], gain[order], count[order]
    new = np.append(True, (query[1:] != query[:-1]) | (gain[1:] != gain[:-1]))[: len(gain)]
    steps = Rows(query[new], query[new], gain[new], best.n_queries)
    docs = np.bincount(np.cumsum(new) - 1, count)
    before = np.where(steps.position == 1, 0, np.roll(steps.value, 1))
    reach = _from(steps.grid(docs)).astype(np.int64)
    ends = steps.grid(np.isin(steps.value, levels)) > 0
    return steps.grid(steps.value - before), reach, ends


# The functions that look for the bounds of metrics that declare a scan.
SCANS: dict[str, Scan] = {"rprec": _rprec, "ap": _ap, "ndcg": _ndcg}
