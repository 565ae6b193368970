"""Bounds of unjudged rows: the least and the greatest value that a metric could have once all are judged.

The proofs of these formulas are in docs/developers/bounds_proofs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from frame_metrics.errors import BadValueError, NotComputableError, quote
from frame_metrics.inputs import Array, FullConfusion, FullRanking, Rows, gain_of, ratio
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import begins_run
from frame_metrics.metrics.metric import REGISTRY, Metric
from frame_metrics.metrics.parameters import is_number
from frame_metrics.metrics.ranking import dcg

Pair: TypeAlias = tuple[Array, Array]
# Judgments that documents could get: 1 for no gain, 2 for the highest, 0 for none; how many are judged; and how many
# have the highest.
TrialJudgments: TypeAlias = tuple[Array, Array, Array]
Scan: TypeAlias = Callable[[Metric, FullRanking, Array, float | None], Pair]


def check_bounded(name: str, metric: Metric, top: float | None = None, highest: float | None = None) -> None:
    """Raise for a metric whose bounds are not known, or that needs ``top`` (``max_grade=``, the highest grade).

    ``highest``: the highest grade of ``scale=``, which the error then names.
    """
    if metric.unjudged is None or metric.excepted:
        known = sorted(other.name for other in REGISTRY.values() if other.unjudged)
        raise NotComputableError(f"{name} has no bounds of unjudged rows; these have: {', '.join(known)}")
    if metric.top is not None:
        raise NotComputableError(
            f"{name}: bounds of unjudged rows are known at a cutoff; ask for one, as {metric.name}@10"
        )
    if metric.columns:
        raise NotComputableError(
            f"{name} reads run.column({metric.columns[0]!r}), and bounds of unjudged rows are about judgments alone"
        )
    if metric.params.get("judged_only"):
        raise NotComputableError(f"{name} leaves unjudged rows out; bounds of them need judged_only=False")
    whole = is_number(top) and 1 <= top < np.inf and top == int(top)
    if top is not None and not whole:
        raise BadValueError(f"max_grade={quote(top)} is not a whole number from 1")
    own = metric.params.get("max_grade")
    if top is not None and own is not None and top > own:
        raise BadValueError(f"{name}: its highest grade is {own:g}, and max_grade={top:g}; give both the same")
    scaled = "max_grade" in metric.options or not isinstance(metric.params.get("gain"), Mapping)
    if metric.graded and scaled and top is None and own is None:
        grade = ", the greatest grade that a document can get" if highest is None else f"{highest:g}"
        problem = f"{name}: bounds of unjudged rows need the scale; pass max_grade={grade}"
        raise NotComputableError(problem).offering(max_grade=...)


def extremes(
    name: str, metric: Metric, run: FullRanking, n_elsewhere: Array, top: float | None, fill: float = 0
) -> Pair:
    """Return the least and the greatest value of each query over all judgments of its unjudged rows, shape (n,) each.

    The order of the rows stays.

    Parameters
    ----------
    name : the metric as the caller wrote it.
    run : the rankings; a row is unjudged if its grade, or for metrics of relevance its label, is NaN.
    n_elsewhere : number of documents of each query that are neither in the ranking nor judged, shape (n,). If judged
        relevant, they count in R and in the ideal ranking.
    top : the highest grade that an unjudged row could get, for metrics of gains; None: the metric's ``max_grade``.
    fill : the substitute for an undefined value: 0, or 1 for a complement.
    """
    n_elsewhere = n_elsewhere.astype(np.int64) + _n_unlisted_without_value(run, graded=metric.graded)
    metric, top = with_gain_table(name, metric, run, top)
    plain = _value(metric, run, fill)
    if metric.unjudged == "scan":
        least, greatest = SCANS[metric.name](metric, run, n_elsewhere, top)
    elif metric.unjudged == "rises":
        least, greatest = plain, _value(metric, _best(metric, run, n_elsewhere, top))
    else:
        least, greatest = _two_extremes(metric, run, n_elsewhere, fill)
    # The bounds include the value with every unjudged row not relevant, to the last bit.
    return np.minimum(least, plain), np.maximum(greatest, plain)


def with_gain_table(name: str, metric: Metric, run: FullRanking, top: float | None) -> tuple[Metric, float | None]:
    """Return a metric, and the highest grade that an unjudged row could get; raise if some grade is higher.

    In the metric, a gain that is a function becomes a mapping of all grades up to the highest.
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


def _value(metric: Metric, run: FullRanking, fill: float = 0) -> Array:
    return np.nan_to_num(metric.compute(run), nan=fill)


def _share(a: Array, b: Array) -> Array:
    """Return a / b, 0 where it is undefined."""
    return np.nan_to_num(ratio(a, b))


def _best(metric: Metric, run: FullRanking, n_elsewhere: Array, top: float | None) -> FullRanking:
    """Return the rankings with each unjudged document relevant, or each row without a grade at the greatest gain."""
    if not metric.graded:
        relevant = run.n_relevant + _n_open(run, ~run.judged) + n_elsewhere
        return _completed(run, run.good | ~run.judged, relevant)
    gain = metric.params.get("gain")
    best = max(_known(gain, top), key=gain.__getitem__, default=0) if isinstance(gain, Mapping) else top
    return replace(run, grade=np.where(np.isnan(run.grade), float(best or 0), run.grade))


def _known(gain: Mapping[float, float], top: float | None) -> list[float]:
    """Return the grades of a mapping, up to the highest that is allowed."""
    return [grade for grade in gain if top is None or grade <= top]


def _completed(run: FullRanking, good: Array, r: Array) -> FullRanking:
    """Return the rankings with the rows ``good`` relevant, the others not, and ``r`` relevant documents in all."""
    label = good.astype(np.float64)
    return replace(run, grade=label, label=label, pool=None, n_relevant_given=r)


def _n_open(run: FullRanking, unjudged: Array) -> Array:
    return run.count_of(unjudged, None, retrieved=False)


def open_rows(metric: Metric, run: FullRanking) -> tuple[Rows, Array]:
    """Return the unjudged rows up to the cutoff, and the number of unjudged documents of each query, shape (n,).

    The value of a row is its position among all rows. The number does not include ``n_elsewhere``, the documents that
    only other systems list.
    """
    unjudged = np.isnan(run.grade) if metric.graded else ~run.judged
    listed = _n_open(run, unjudged)
    unlisted = _n_unlisted_without_value(run, graded=metric.graded)
    return _marked(run, unjudged, np.arange(len(unjudged)), metric.k), listed + unlisted


def best_alone(metric: Metric, run: FullRanking, rows: Rows, top: float | None) -> Array:
    """Return how much each row would add to a metric that is a sum, if it got the greatest gain, shape (rows,)."""
    n = len(rows.query)
    alone = FullRanking(np.full(n, np.nan), np.ones(n, np.int64), run.n_ret[rows.query], logged_rank=rows.rank)
    return _value(metric, _best(metric, alone, np.zeros(n, np.int64), top))


def _two_extremes(metric: Metric, run: FullRanking, n_elsewhere: Array, fill: float) -> Pair:
    """Return the bounds of a metric whose extremes are two cases.

    Either only the predicted ones of the unjudged documents are relevant, or only the others. Of the others, only their
    number matters, which is part of R, and which of them have no decision.
    """
    found = rest = ~run.judged
    if metric.input is FullConfusion and metric.k is None and run.decision is not None:
        found, rest = found & (run.decision == 1), rest & np.isnan(run.decision)
        predicted = _n_open(run, found)
    else:
        predicted, rest = run.count_of(found, metric.k), np.zeros(len(rest), bool)
    others = _n_open(run, ~run.judged) - predicted + n_elsewhere
    one = _value(metric, _completed(run, run.good | found, run.n_relevant + predicted), fill)
    other = _value(metric, _completed(run, run.good | rest, run.n_relevant + others), fill)
    return np.minimum(one, other), np.maximum(one, other)


# Scans look for bounds over all candidates. A grid has a row for each query, and a column for each of its relevant or
# unjudged rows, in rank order.


def _from(values: Array) -> Array:
    """Return the sum of each column and all columns after it."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _after(first: Array | float, columns: Array) -> Array:
    """Return columns with a first one put before them."""
    return np.column_stack([np.broadcast_to(first, len(columns)), columns])


def _marked(run: FullRanking, rows: Array, value: Array, k: int | None) -> Rows:
    """Return the marked rows that were retrieved at ranks up to ``k``, with their values."""
    at = np.flatnonzero(rows)
    seen = run.rows(at, value[at].astype(np.float64))
    if k is None:
        return seen
    kept = seen.rank <= k
    return Rows(seen.query[kept], seen.rank[kept], seen.value[kept], run.n_queries)


def _rprec(metric: Metric, run: FullRanking, n_elsewhere: Array, top: float | None) -> Pair:
    """Return the bounds of R-precision.

    Let x of the unjudged documents be relevant; then the first R + x ranks count. While that rank is between two rows
    that are relevant or unjudged, the best value rises with x until x is the number of unjudged rows above, and then
    falls. The worst value falls as long as all x documents can be below, and then rises. So one candidate for x in each
    stretch is enough.
    """
    seen = _marked(run, run.good | ~run.judged, run.good, None)
    good, rank = seen.grid(seen.value), seen.grid(seen.rank, np.inf)
    hits, inside = _after(0, np.cumsum(good, axis=1)), _after(0, np.cumsum(seen.has_row & (good == 0), axis=1))
    r, unjudged = run.n_relevant[:, None], (_n_open(run, ~run.judged) + n_elsewhere)[:, None]
    below = unjudged - inside
    low = np.maximum(_after(0, rank) - r, 0)
    high = np.minimum(np.column_stack([rank, np.full(run.n_queries, np.inf)]) - 1 - r, unjudged)
    there = low <= high
    most, fewest = np.clip(inside, low, high), np.clip(below, low, high)
    greatest = np.where(there, _share(hits + np.minimum(most, inside), r + most), -np.inf)
    least = np.where(there, _share(hits + np.maximum(fewest - below, 0), r + fewest), np.inf)
    return least.min(axis=1), greatest.max(axis=1)


def _ap(metric: Metric, run: FullRanking, n_elsewhere: Array, top: float | None) -> Pair:
    """Return the bounds of average precision.

    It is greatest if the unjudged rows down to some rank are relevant, and least if all from some rank on are.
    """
    k = metric.k
    seen = _marked(run, run.good | ~run.judged, run.good, k)
    good, rank = seen.grid(seen.value), seen.grid(seen.rank, np.inf)
    unjudged = (seen.has_row & (good == 0)).astype(np.float64)
    above, so_far = np.cumsum(good, axis=1), np.cumsum(unjudged, axis=1)
    each, other = good / rank, unjudged / rank
    below = _from(each) - each
    start = (above * each).sum(axis=1)
    rising = np.cumsum(unjudged * ((above + so_far) / rank + below), axis=1)
    falling = _from(unjudged * ((above + 1) / rank + below + _from(other) - other))
    inside = unjudged.sum(axis=1)
    outside = _n_open(run, ~run.judged) - inside + n_elsewhere

    def share(total: Array, more: Array) -> Array:
        relevant = run.n_relevant[:, None] + more
        places = relevant if metric.params.get("norm", "R") == "R" or k is None else np.minimum(relevant, k)
        return _share(_after(start, start[:, None] + total), places)

    last = inside[:, None] - so_far + unjudged
    least = share(falling, _after(outside, outside[:, None] + last)).min(axis=1)
    return least, share(rising, _after(0, so_far)).max(axis=1)


def _ndcg(metric: Metric, run: FullRanking, n_elsewhere: Array, top: float | None) -> Pair:
    ratio, unjudged = ratio_of(metric, run, top), np.isnan(run.grade)
    rows = _marked(run, unjudged, unjudged, metric.k)
    weights = rows.with_values(ratio.discount(rows.rank))
    return Gains.of(ratio, ratio.start, weights, _n_open(run, unjudged) - rows.count + n_elsewhere).bounds()


@record
class Ratio:
    """The parts of a metric that is a sum of discounted gains, divided by the same sum of the ideal ranking."""

    levels: Array  # the positive gains that an unjudged document could have, rising; [0] if there are none
    start: Array  # the sum over the judged documents, shape (n,)
    discount: Callable[[Array], Array]  # from ranks to their discounts
    steps: tuple[Array, Array, Array]  # the steps of the judged gains, see ``_steps``
    k: int | None  # number of ranks of the ideal ranking; None for all


def ratio_of(metric: Metric, run: FullRanking, top: float | None) -> Ratio:
    """Return the parts of nDCG, or of recall, whose gains and discounts are 1 and whose ideal finds everything."""
    n, gain = run.n_queries, metric.params.get("gain", "linear")
    if metric.name == "recall":
        one = np.ones((n, 1), np.int64)
        return Ratio(np.ones(1), run.hits(metric.k), np.ones_like, (one, run.n_relevant[:, None], one > 0), None)
    if isinstance(gain, Mapping):
        gains = np.array([gain[grade] for grade in _known(gain, top)], dtype=np.float64)
    else:
        # Only whole grades next to a judged grade are needed, and the highest: see ``_steps``.
        judged = run.grade if run.pool is None else run.pool.grade
        near = judged[judged > 0]
        gains = gain_of(np.unique(np.concatenate([np.floor(near), np.ceil(near), [float(top or 0)]])), gain)
    levels = np.unique(gains[gains > 0]) if (gains > 0).any() else np.zeros(1)
    start = replace(metric, kernel=dcg.kernel).compute(run)
    return Ratio(levels, start, partial(_discount, metric), _steps(run.ideal(gain), levels), metric.k)


@record
class Gains:
    """The weights of unjudged documents and the ideal that their gains raise, from which bounds of a ratio follow.

    A weight is the discount at the document's rank in a ranking; for differences, less the discount in the baseline's.
    """

    levels: Array  # as in ``Ratio``
    start: Array  # the sum over the judged documents, shape (n,)
    sums: Array  # in column j: the sum of the j greatest weights; past the number of weights, the sum of all
    added: Array  # the number of weights in each of these sums
    above: Array  # number of weights above 0, shape (n,)
    outside: Array  # number of unjudged documents without a weight, shape (n,)
    width: Array  # this and the next two: the steps of the judged gains, see ``_steps``
    reach: Array
    ends: Array
    best: Array  # at j: the sum of the first j discounts of the ideal ranking

    @classmethod
    def of(cls, ratio: Ratio, start: Array, weights: Rows, outside: Array) -> Gains:
        """Return the object for documents with these weights, the greatest of each query first, none of them 0."""
        width, reach, ends = ratio.steps
        sums = _after(0, np.cumsum(weights.grid(weights.value), axis=1))
        added = np.minimum(np.arange(sums.shape[1]), weights.count[:, None])
        longest = int((reach.max(axis=1, initial=0) + outside + weights.count).max(initial=0))
        places = np.arange(1, (longest if ratio.k is None else min(longest, ratio.k)) + 1)
        best = _after(0, np.cumsum(ratio.discount(places))[None])[0]
        above = np.bincount(weights.query[weights.value > 0], minlength=weights.n_queries)
        return cls(ratio.levels, start, sums, added, above, outside, width, reach, ends, best)

    def _ideal(self, step: int, more: Array) -> Array:
        """Return what one step of gain adds to the ideal, if ``more`` unjudged documents reach that gain too."""
        place = np.minimum(self.reach[:, step, None] + more, len(self.best) - 1)
        return self.width[:, step, None] * self.best[place]

    def bounds(self) -> Pair:
        """Return the least and the greatest value of each query."""
        rest = (self.sums - self.sums[:, -1:])[:, ::-1], (self.added[:, -1:] - self.added)[:, ::-1]
        below = self.added[:, -1] - self.above
        negated = replace(self, start=-self.start, sums=rest[0], added=rest[1], above=below)
        return 0.0 - negated._greatest(), self._greatest()

    def _greatest(self) -> Array:
        """Return the greatest value of each query.

        If it is not below 0, only documents that raise the sum have a gain. If it is below 0, a greater ideal helps:
        all documents that raise the sum have the highest gain, and perhaps further documents.
        """
        more = self.added + self.outside[:, None]
        ideal = sum((self._ideal(step, more) for step in range(self.width.shape[1])), np.zeros(more.shape))
        values = _share(self.start[:, None] + self.levels[-1] * self.sums, ideal)
        share = np.minimum(np.where(self.added < self.above[:, None], -np.inf, values).max(axis=1), 0)
        while True:  # Dinkelbach's method: each round finds a greater value, and there are finitely many
            reached = np.where(share < 0, share, _share(*self._best_at(share)))
            if not (reached > share).any():
                return share
            share = np.maximum(share, reached)

    def _best_at(self, share: Array) -> Pair:
        """Return the sum and the ideal for which the sum less ``share`` times the ideal is greatest."""
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

    def judged(self, at: Array, judgments: Array, n: Array, tops: Array) -> Gains:
        """Return the gains of some queries after some documents of each are judged: no gain, or the highest.

        Parameters
        ----------
        at : the numbers of the queries, which may repeat.
        judgments : for each weight's document: 1 for no gain, 2 for the highest, 0 for unjudged, (queries, weights).
        n, tops : number of documents that are judged, and that have the highest gain, with those without a weight.
        """
        done, top = judgments > 0, self.levels[-1]
        gone = np.where(done, np.diff(self.sums[at], axis=1), 0)
        return replace(
            self,
            start=self.start[at] + top * (gone * (judgments == 2)).sum(axis=1),
            sums=self.sums[at] - _after(0, np.cumsum(gone, axis=1)),
            added=self.added[at] - _after(0, np.cumsum(done, axis=1)),
            above=self.above[at] - (gone > 0).sum(axis=1),
            outside=np.maximum(self.outside[at] + done.sum(axis=1) - n, 0),
            width=self.width[at],
            reach=self.reach[at] + (tops * (top > 0))[:, None],
            ends=self.ends[at],
        )


def _discount(metric: Metric, rank: Array) -> Array:
    """Return the discount of each rank: the DCG of a single document with a gain of 1 at that rank."""
    one = np.ones(len(rank), np.int64)
    params = {name: value for name, value in metric.params.items() if name in ("discount", "base")}
    return dcg(**params).compute(FullRanking(one, one, one, logged_rank=rank.astype(np.int64)))


def _n_unlisted_without_value(run: FullRanking, *, graded: bool) -> Array:
    """Count the judged documents that are not listed and lack what a metric reads, shape (n,).

    They have a label but no grade (``graded``), or a grade but no label.
    """
    if run.pool is None or run.pool.label is None or run.label is None:
        return np.zeros(run.n_queries, np.int64)
    grade, label = (run.pool.grade, run.grade), (run.pool.label, run.label)
    here, there = (grade, label) if graded else (label, grade)
    lacking, listed = (np.isnan(one) & ~np.isnan(other) for one, other in zip(here, there, strict=True))
    without = run.pool.count(lacking, run.n_queries)
    return np.maximum(without - _n_open(run, listed), 0)


def _steps(best: Rows, levels: Array) -> tuple[Array, Array, Array]:
    """Cut the axis of gains into steps in which the number of judged documents, and the best choice, do not change.

    Gains of unjudged rows (``levels``) without a judged gain between them are one step, because the best choice for one
    of them is best for the others.

    Parameters
    ----------
    best : the ideal ranking of the judged documents.
    levels : as in ``Ratio``.

    Returns
    -------
    Grids with a value for each query and step: the width of the step, the number of judged documents with a gain that
    high, and whether the step ends at a gain that an unjudged row could have.
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
    new = begins_run(query, gain)
    steps = Rows(query[new], query[new], gain[new], best.n_queries)
    docs = np.bincount(np.cumsum(new) - 1, count)
    before = np.where(steps.position == 1, 0, np.roll(steps.value, 1))
    reach = _from(steps.grid(docs)).astype(np.int64)
    ends = steps.grid(np.isin(steps.value, levels)) > 0
    return steps.grid(steps.value - before), reach, ends


# The functions that compute bounds of metrics that declare ``unjudged="scan"``.
SCANS: dict[str, Scan] = {"rprec": _rprec, "ap": _ap, "ndcg": _ndcg}
