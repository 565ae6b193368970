"""Differences from a baseline: what missing judgments leave open of them, and what each of these moves.

A document that several systems list gets one judgment, for all of them. The arguments stand in docs/bounds.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.answer import Answer
from frame_metrics.data import blocks
from frame_metrics.data.blocks import codes
from frame_metrics.data.log import Block, Log
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, shown
from frame_metrics.inputs import Array, Confusion, Rows
from frame_metrics.inputs.rows import NONE, spans
from frame_metrics.measuring.baseline import is_frame
from frame_metrics.measuring.pairs import all_filled, number_if_any, pairs_of
from frame_metrics.measuring.queries import Measured
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.plan import Plan
from frame_metrics.roles.columns import Columns, judging
from frame_metrics.roles.conventions import Conventions
from frame_metrics.stats.significance import CLOSE
from frame_metrics.verbs.bounds.unjudged import Gains, Given, Pair, best_alone, fitted, open_in, ratio_of

UNTURNED = 1 << 40  # the place in an order of what is not in it
RATIOS = ("ndcg", "recall")  # whose sum and whose ideal are moved by each document alone
OF_PAIRS = {**dict.fromkeys(("difference", "lower", "upper"), pl.Float64), "can_turn": pl.Boolean, "exact": pl.Boolean}


def check_baseline(asked: Asked, plan: Plan, baseline: Any) -> None:
    """Raise for systems whose documents are not known to be the same, and for what is no system; nothing is read."""
    columns = plan.columns
    if columns.system is None:
        raise ColumnError(
            f"baseline={shown(baseline)} is a system, and no column says which row is whose; name system="
        )
    named = columns.system in plan.available and plan.border.holds_lists(columns.system)  # a system may be a list
    if is_frame(baseline) or (isinstance(baseline, list | tuple) and not named):
        raise BadValueError("baseline= is one system here, whose judgments are missing too; name one")
    if columns.own_rows and not columns.doc:
        raise ColumnError("no document is named to tell which rows of two systems are the same; name doc=")
    for name, metric in asked:
        if metric.average is not None:
            raise NotComputableError(f"{name} is an average, and the differences are those of the values of queries")


def of_differences(measured: Measured, max_grade: float | None, baseline: Any, ends: Pair) -> list[Array]:
    """Return differences from a baseline, the least and the greatest they could be, and 1 where none may reach these.

    Parameters
    ----------
    ends : the bounds of the metrics, which give those of differences where one of two systems has nothing open.
    """
    log, grid, asked = measured.log, measured.log.grid, measured.asked
    base, values, (lower, upper) = place_of(log, baseline), np.array(all_filled(measured)), ends
    of_base = np.zeros(grid.n_pairs, np.int64)
    of_base[grid.pair[grid.system == base]] = np.flatnonzero(grid.system == base)
    of_base = of_base[grid.pair]
    least, greatest = lower - upper[:, of_base], upper - lower[:, of_base]
    loose = (lower < upper) & (lower < upper)[:, of_base]
    exact = [i for i, (_, metric) in enumerate(asked) if is_exact(metric, log.columns, log.conventions)]
    loose[exact] = False

    def take(one: Shared) -> None:
        least[exact[one.metric], one.at], greatest[exact[one.metric], one.at] = one.bounds()

    each_shared(log, [asked[i] for i in exact], max_grade, base, take)
    now = values - values[:, of_base]
    # As the judgments are now, the difference is the plain one, to the last bit.
    return [now, np.minimum(least, now), np.maximum(greatest, now), loose.astype(np.float64)]


def of_pairs(
    columns: dict[str, pl.Series], rows: Answer, log: Log, baseline: Any
) -> tuple[dict[str, pl.Series], Answer]:
    """Return the columns of the systems beside that of a baseline, with whether the order can turn, and their keys."""
    system = str(log.columns.system)
    base = log.rows(log.grid.system_row)[system_of(log, baseline)]
    others = rows.keys[system] != base
    now, lower, upper = (columns[name] for name in ("difference", "lower", "upper"))
    columns["can_turn"] = ((now > -CLOSE) & (lower < -CLOSE)) | ((now < CLOSE) & (upper > CLOSE))
    keys = {name: held[others] for name, held in rows.keys.items()}
    keys["baseline"] = np.full(others.sum(), base)
    answer = replace(rows, keys=keys, aliases={"baseline": system})
    return {name: values.filter(others) for name, values in columns.items()}, answer


def is_exact(metric: Metric, columns: Columns, conventions: Conventions) -> bool:
    """Return True for a metric of a sum to which each document adds its own, over what all systems have in common."""
    decided = columns.predicted is not None or conventions.threshold is not None
    decided &= metric.input is Confusion and metric.k is None
    return (metric.adds is True or metric.name in RATIOS) and metric.average is None and not decided


@dataclass(frozen=True, eq=False)
class Shared:
    """Unjudged documents with a weight for a metric of a ranking, or for its difference from that of a baseline."""

    metric: int  # its number among those asked
    at: Array  # the rankings
    start: Array  # the value, or the sum of a ratio, without the unjudged documents, shape (rankings,)
    weights: Rows  # of each ranking, the greatest first
    doc: Array  # the number of the document that each weight is of
    gains: Gains | None  # None where the value is the sum

    def bounds(self) -> Pair:
        """Return the least and the greatest value of each ranking."""
        if self.gains is not None:
            return self.gains.bounds()
        falls, rises = (self.weights.total(ufunc(self.weights.value, 0)) for ufunc in (np.minimum, np.maximum))
        return self.start + falls, self.start + rises

    def narrowed(self, turn: Array, count: Array) -> Array:
        """Return by how much the judgment of each document, alone, narrows the bounds.

        It is the mean of what they narrow by if the document has no gain, and if it has the greatest.

        Parameters
        ----------
        turn : the place, from 0, of the document of each weight among those of its ranking; UNTURNED: it is not there.
        count : how many documents of each ranking there are, those without a weight included.

        Returns
        -------
        A value for each document of the first ranking, in their order, then of the second ...
        """
        rows, n_ways = self.weights, self.weights.count + 1
        if self.gains is None:  # each judgment takes away its own part
            moved, rest = np.abs(rows.value), np.zeros(rows.n_queries)
        else:
            lower, upper = self.gains.bounds()
            left = np.maximum(np.repeat(upper - lower, n_ways) - self._left_by_two(rows.position, n_ways, _one), 0)
            first = np.cumsum(n_ways) - n_ways  # what is judged first has no place, and no weight
            moved, rest = np.delete(left, first), np.where(self.gains.outside > 0, left[first], 0)
        each, first, there = np.repeat(rest, count), np.cumsum(count) - count, turn < UNTURNED
        each[first[rows.query[there]] + turn[there]] = moved[there]
        return each

    def narrowed_in_turn(self, turn: Array, count: Array) -> Array:
        """Return by how much each judgment narrows the bounds once those of the documents before it are there.

        It is the mean of two ways to judge them in turn: no gain, the greatest, no gain ..., and the reverse.
        Parameters and result are those of ``narrowed``.
        """
        left = self._left_by_two(turn, count + 1, _first)
        return -np.diff(left)[spans(np.zeros_like(count), count + 1)[1:] > 0]

    def _left_by_two(self, turn: Array, n_ways: Array, said: Callable[..., Given]) -> Array:
        """The mean of what two sorts of ways leave, each numbered from 0."""
        ways = spans(np.zeros_like(n_ways), n_ways)
        no_gain, highest = (self.left(turn, n_ways, ways, partial(said, begin=begin)) for begin in (0, 1))
        return (no_gain + highest) / 2

    def left(self, turn: Array, n_ways: Array, ways: Array, said: Callable[[Array, Array], Given]) -> Array:
        """Return how wide the bounds are once documents are judged, in several ways, shape (ways,).

        Parameters
        ----------
        turn : as of ``narrowed``.
        n_ways, ways : how many ways there are for each ranking, and the numbers of them, end to end.
        said : the judgments of some ways, of the documents at these places, shape (ways, 1) and (ways, weights); see
            ``Gains.judged``.
        """
        gains = cast(Gains, self.gains)  # of sums each judgment takes away its own part, whatever the others are
        place, at = self.weights.grid(turn, UNTURNED), np.repeat(np.arange(len(n_ways)), n_ways)
        left, step = np.zeros(len(at)), max(threads.BLOCK // (place.shape[1] + 1), 1)
        for first in range(0, len(at), step):
            part = slice(first, first + step)
            given = said(ways[part, None], place[at[part]])
            least, greatest = gains.judged(at[part], *given).bounds()
            left[part] = greatest - least
        return left


def _one(way: Array, place: Array, begin: int) -> Given:
    """The judgment of one document: of no gain, or of the greatest."""
    n = np.ones(len(way), np.int64)
    return (place == way) * (1 + begin), n, n * begin


def _first(way: Array, place: Array, begin: int) -> Given:
    """The judgments of so many first documents in turn: no gain, the greatest, no gain ..., or the reverse."""
    return (place < way) * (1 + (place + begin) % 2), way[:, 0], (way[:, 0] + begin) // 2


def each_shared(log: Log, asked: Asked, top: float | None, base: int | None, take: Callable[[Shared], None]) -> None:
    """Call ``take`` with the unjudged documents of all systems of some queries, and of each metric, side by side.

    Parameters
    ----------
    asked : metrics of which ``is_exact`` is true.
    top : see ``extremes``.
    base : the number of the system that the others are compared with; None for the systems by themselves.
    """
    grid, doc, spare = log.grid, number_documents(log), spare_of(log)
    together = np.lexsort((grid.system, grid.pair)).reshape(-1, max(len(grid.system_row), 1))

    def work(some: slice | Array) -> None:
        at = together[some].ravel()
        block = Block(log, at, alike=True)  # which document is where matters here, also among the unjudged
        whole = block.ranking(scored=any("score" in metric.reads for _, metric in asked))
        docs = doc[block.rows.frame_rows(grid.rankings, np.arange(len(whole.grade)))]
        for i, (name, metric) in enumerate(asked):
            run = whole.variant(log.conventions.variant(metric)[0], False)
            scaled, highest = fitted(name, metric, run, top)
            rows, n_open = open_in(scaled, run)
            ratio = ratio_of(scaled, run, highest) if metric.name in RATIOS else None
            weight = best_alone(scaled, run, rows, highest) if ratio is None else ratio.discount(rows.rank)
            start = np.nan_to_num(scaled.compute(run)) if ratio is None else ratio.start
            weights = rows.query, docs[rows.value.astype(np.int64)], weight
            if base is not None:
                weights = _apart(*weights, base, together.shape[1])
                start = start - start.reshape(-1, together.shape[1])[:, base].repeat(together.shape[1])
            falling, own = _falling(*weights, run.n_queries)
            outside = n_open + spare[at] - falling.count
            gains = None if ratio is None else Gains.of(ratio, start, falling, outside)
            take(Shared(i, at, start, falling, own, gains))

    blocks.each_block(grid.size[together].sum(axis=1), work)


def _apart(item: Array, doc: Array, weight: Array, base: int, systems: int) -> tuple[Array, Array, Array]:
    """The weights of rankings, those of each query side by side, and the baseline's with the other sign at each."""
    mine = np.flatnonzero(item % systems == base)
    others = (item[mine, None] - base + np.arange(systems)).ravel()
    doc = np.append(doc, doc[mine].repeat(systems))
    return np.append(item, others), doc, np.append(weight, -weight[mine].repeat(systems))


def _falling(item: Array, doc: Array, weight: Array, n: int) -> tuple[Rows, Array]:
    """Sums of the weights of each document that are not 0, of each ranking the greatest first, and the documents."""
    _, first, which = np.unique(item * (doc.max(initial=0) + 1) + doc, return_index=True, return_inverse=True)
    item, doc, weight = item[first], doc[first], np.bincount(which, weight, len(first))
    order = np.lexsort((-weight, item))
    order = order[weight[order] != 0]
    return Rows(item[order], np.zeros(len(order)), weight[order], n), doc[order]


def spare_of(log: Log) -> Array:
    """Return how many documents of each ranking's query others list and it does not, without a judgment."""
    grid = log.grid
    if log.judged is None:
        return np.zeros(len(grid.pair), np.int64)
    judgments = judging(log.table)
    rows = log.table.filter(pl.all_horizontal(pl.col(judgments).is_nan()))
    count = rows.group_by(log.judged.keys).agg(pl.col("doc").n_unique().alias("open"))
    every = log.joined(count, log.judged.keys)
    unjudged = np.all([np.isnan(grid.rankings.values[name]) for name in judgments], axis=0)
    return every["open"].fill_null(0).to_numpy().astype(np.int64) - grid.rankings.count(unjudged)


def system_of(log: Log, baseline: Any) -> int:
    """Return the number of a baseline; raise where it is no system, or the only one."""
    return pairs_of(range(len(log.systems)), log.systems, baseline, str(log.columns.system))[0][1]


def place_of(log: Log, baseline: Any) -> int:
    """Return the number of a baseline; where a piece of a log does not have it, that of a system without rows."""
    if not (log.grid.system_row == NONE).any():
        return system_of(log, baseline)
    at = number_if_any(baseline, log.systems)
    return len(log.systems) if at is None else at  # the systems of all pieces are looked at later


def keys_of(log: Log) -> list[str]:
    """Return the owner of a judgment of a document: a query, and its segment where judgments say it."""
    _, by, query = log.columns.key_names
    return [*by, *query] if log.judged is None else log.judged.keys


def number_documents(log: Log) -> Array:
    """Return a number for the document of a query, of each row; where systems are columns, their rows are the same."""
    if "doc" in log.table.columns:
        return codes(log.table, [*keys_of(log), "doc"])[0]
    return np.arange(len(log.table)) % max(len(log.table) // max(len(log.columns.per_system), 1), 1)
