"""Bounds of differences from a baseline over missing judgments, and how much each judgment narrows bounds.

A document that several systems list gets one judgment, for all of them. The proofs are in
docs/developers/bounds_proofs.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.answer import Answer
from frame_metrics.data.log import Log
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, quote
from frame_metrics.fast.blocks import each_block
from frame_metrics.fast.codes import codes
from frame_metrics.inputs import Array, FullConfusion, Rows
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE, spans
from frame_metrics.keys.index import Index
from frame_metrics.measuring.baseline import is_frame
from frame_metrics.measuring.pairs import all_filled, number_if_any, pair_systems
from frame_metrics.measuring.values import Values
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.call import Call
from frame_metrics.roles.columns import Columns, judgment_columns_in
from frame_metrics.roles.conventions import Conventions
from frame_metrics.stats.significance import CLOSE
from frame_metrics.verbs.bounds.unjudged import (
    Gains,
    Pair,
    TrialJudgments,
    best_alone,
    open_rows,
    ratio_of,
    with_gain_table,
)

NO_POSITION = 1 << 40  # the position of a document that is not in an order
RATIOS = ("ndcg", "recall")  # ratios of a sum over documents and an ideal; each document adds its own part to both
OF_PAIRS = {**dict.fromkeys(("difference", "lower", "upper"), pl.Float64), "can_turn": pl.Boolean, "exact": pl.Boolean}


def check_baseline(asked: Asked, call: Call, baseline: Any) -> None:
    """Raise for a bad baseline, for systems without common document ids, and for averages; nothing is read."""
    columns = call.columns
    if columns.system is None:
        likely = columns.likely_system_text
        raise ColumnError(
            f"baseline={quote(baseline)} is a system, and no column says which row is whose; name system={likely}"
        ).offering(**({"system": columns.shape.likely_systems[0]} if likely else {}))
    # A system may be a list.
    are_lists = columns.system in call.plan.available and call.plan.backend.holds_lists(columns.system)
    if is_frame(baseline) or (isinstance(baseline, list | tuple) and not are_lists):
        raise BadValueError("baseline= is one system here, whose judgments are missing too; name one")
    if columns.systems_have_rows and not columns.doc:
        raise ColumnError("no document is named to tell which rows of two systems are the same; name doc=")
    for name, metric in asked:
        if metric.average is not None:
            raise NotComputableError(f"{name} is an average, and the differences are those of the values of queries")


def of_differences(log: Log, all_values: Values, max_grade: float | None, baseline: Any, ends: Pair) -> list[Array]:
    """Return the four stacked values of differences from a baseline, see ``STACKED`` in bounds.py.

    Parameters
    ----------
    all_values : the values of every ranking.
    baseline : the system that is the baseline.
    ends : the bounds of the values. They give bounds of differences, which are exact if one of the two systems has no
        uncertain value.
    """
    asked, base = all_values.asked, base_ranking(log.index, baseline)
    values, (lower, upper) = np.array(all_filled(all_values)), ends
    least, greatest = lower - upper[:, base], upper - lower[:, base]
    loose = (lower < upper) & (lower < upper)[:, base]
    exact = [i for i, (_, metric) in enumerate(asked) if is_exact(metric, log.columns, log.conventions)]
    loose[exact] = False

    def take(one: WeightsOfUnjudged) -> None:
        least[exact[one.metric], one.at], greatest[exact[one.metric], one.at] = one.bounds()

    each_weights(log, [asked[i] for i in exact], max_grade, number_of_baseline(log.index, baseline), take)
    now = values - values[:, base]
    # The bounds include the difference by the present judgments, to the last bit.
    return [now, np.minimum(least, now), np.maximum(greatest, now), loose.astype(np.float64)]


def base_ranking(index: Index, baseline: Any) -> Array:
    """Return, for each ranking, the number of the baseline's ranking of the same (segment, query) pair."""
    mine, of_pair = (
        np.flatnonzero(index.system == number_of_baseline(index, baseline)),
        np.zeros(index.n_segment_queries, np.int64),
    )
    of_pair[index.segment_query[mine]] = mine
    return of_pair[index.segment_query]


def rows_of_pairs(
    columns: dict[str, pl.Series], rows: Answer, index: Index, baseline: Any
) -> tuple[dict[str, pl.Series], Answer]:
    """Leave out the rows of the baseline itself, and add the column "can_turn" and the key "baseline".

    Returns the columns, and the answer with the keys of the remaining rows.
    """
    system = str(index.columns.system)
    base = index.systems.frame_rows[system][system_of(index, baseline)]
    others = rows.keys[system] != base
    now, lower, upper = (columns[name] for name in ("difference", "lower", "upper"))
    columns["can_turn"] = ((now > -CLOSE) & (lower < -CLOSE)) | ((now < CLOSE) & (upper > CLOSE))
    keys = {name: held[others] for name, held in rows.keys.items()}
    keys["baseline"] = np.full(others.sum(), base)
    answer = replace(rows, keys=keys, aliases={"baseline": system})
    return {name: values.filter(others) for name, values in columns.items()}, answer


def is_exact(metric: Metric, columns: Columns, conventions: Conventions) -> bool:
    """Return True if the bounds of a metric's differences are exact.

    They are for a sum to which each document adds its own part, divided by nothing, or by what all systems share.
    """
    decided = columns.predicted is not None or conventions.threshold is not None
    decided &= metric.input is FullConfusion and metric.k is None
    return (metric.adds is True or metric.name in RATIOS) and metric.average is None and not decided


@record
class WeightsOfUnjudged:
    """The weights of unjudged documents in a metric of some rankings, or in its difference from a baseline."""

    metric: int  # the position of the metric
    at: Array  # the numbers of the rankings
    start: Array  # the value (of a ratio: the sum) without the unjudged documents, shape (rankings,)
    weights: Rows  # the weights of each ranking's documents, the greatest first
    doc: Array  # the number of each weight's document
    gains: Gains | None  # for a ratio; None if the metric is a sum

    def bounds(self) -> Pair:
        """Return the least and the greatest value of each ranking."""
        if self.gains is not None:
            return self.gains.bounds()
        falls, rises = (self.weights.total(ufunc(self.weights.value, 0)) for ufunc in (np.minimum, np.maximum))
        return self.start + falls, self.start + rises

    def narrowed(self, position: Array, count: Array) -> Array:
        """Return how much the judgment of a single document narrows the bounds, for each document.

        It is the mean of two cases: the document has no gain, or the greatest.

        Parameters
        ----------
        position : the position, from 0, of each weight's document among those of its ranking; NO_POSITION for none.
        count : the number of documents of each ranking, with those without a weight.

        Returns
        -------
        A value for each document of the first ranking, in their order, then of the second ...
        """
        rows, n_ways = self.weights, self.weights.count + 1
        if self.gains is None:  # each judgment takes away its own part
            narrowed, rest = np.abs(rows.value), np.zeros(rows.n_queries)
        else:
            lower, upper = self.gains.bounds()
            width = np.maximum(
                np.repeat(upper - lower, n_ways) - self._mean_width_after_two(rows.position, n_ways, _judge_one), 0
            )
            first = np.cumsum(n_ways) - n_ways  # way 0 of each ranking judges a document without a weight
            narrowed, rest = np.delete(width, first), np.where(self.gains.outside > 0, width[first], 0)
        each, first, there = np.repeat(rest, count), np.cumsum(count) - count, position < NO_POSITION
        each[first[rows.query[there]] + position[there]] = narrowed[there]
        return each

    def narrowed_in_turn(self, position: Array, count: Array) -> Array:
        """Return how much each judgment narrows the bounds further, after those of the documents before it.

        It is the mean of two sequences of judgments: no gain, the greatest, no gain ...; and the reverse. Parameters
        and result are those of ``narrowed``.
        """
        width = self._mean_width_after_two(position, count + 1, _judge_first)
        return -np.diff(width)[spans(np.zeros_like(count), count + 1)[1:] > 0]

    def _mean_width_after_two(
        self, position: Array, n_ways: Array, judgments_of: Callable[..., TrialJudgments]
    ) -> Array:
        """Return the mean width that two cases leave in each way: ``judgments_of`` with ``begin`` 0 and 1."""
        ways = spans(np.zeros_like(n_ways), n_ways)
        no_gain, highest = (
            self.width_after(position, n_ways, ways, partial(judgments_of, begin=begin)) for begin in (0, 1)
        )
        return (no_gain + highest) / 2

    def width_after(
        self, position: Array, n_ways: Array, ways: Array, judgments_of: Callable[[Array, Array], TrialJudgments]
    ) -> Array:
        """Return the width of the bounds after documents are judged, for several ways to judge them, shape (ways,).

        Parameters
        ----------
        position : as in ``narrowed``.
        n_ways, ways : the number of ways for each ranking, and the numbers of the ways, ranking by ranking.
        judgments_of : returns the judgments of some ways, shape (ways, 1), for documents at positions, shape (ways,
            weights); see ``Gains.judged``.
        """
        gains = cast(Gains, self.gains)  # never None here: for a sum, a judgment narrows by its weight in any case
        place, at = self.weights.grid(position, NO_POSITION), np.repeat(np.arange(len(n_ways)), n_ways)
        width, step = np.zeros(len(at)), max(threads.BLOCK // (place.shape[1] + 1), 1)
        for first in range(0, len(at), step):
            part = slice(first, first + step)
            judgments = judgments_of(ways[part, None], place[at[part]])
            least, greatest = gains.judged(at[part], *judgments).bounds()
            width[part] = greatest - least
        return width


def _judge_one(way: Array, place: Array, begin: int) -> TrialJudgments:
    """Return the judgments of ways in which one document is judged: no gain (``begin=0``), or the greatest (1)."""
    n = np.ones(len(way), np.int64)
    return (place == way) * (1 + begin), n, n * begin


def _judge_first(way: Array, place: Array, begin: int) -> TrialJudgments:
    """Return the judgments of ways in which the first ``way`` documents are judged.

    They alternate between no gain and the greatest; ``begin``: 0 if no gain comes first, else 1.
    """
    return (place < way) * (1 + (place + begin) % 2), way[:, 0], (way[:, 0] + begin) // 2


def each_weights(
    log: Log, asked: Asked, top: float | None, base: int | None, take: Callable[[WeightsOfUnjudged], None]
) -> None:
    """Call ``take`` with the unjudged documents of all systems, for some queries and one metric at a time, in threads.

    Parameters
    ----------
    asked : metrics for which ``is_exact`` is True.
    top : the highest grade, see ``extremes``.
    base : the number of the baseline; None for the values of the systems themselves.
    """
    grid, doc, n_elsewhere = log.grid, number_documents(log), n_unjudged_elsewhere(log)
    by_pair = np.lexsort((grid.system, grid.segment_query)).reshape(-1, max(len(grid.system_row), 1))

    def work(some: slice | Array) -> None:
        at = by_pair[some].ravel()
        block = log.block(at, order="documents")  # the rank of each document matters here, also of unjudged ones
        whole = block.ranking(scored=any("score" in metric.reads for _, metric in asked))
        docs = doc[block.view.log_rows(grid.rankings, np.arange(len(whole.grade)))]
        for i, (name, metric) in enumerate(asked):
            run = whole.variant(log.conventions.variant(metric)[0], False)
            scaled, highest = with_gain_table(name, metric, run, top)
            rows, n_open = open_rows(scaled, run)
            ratio = ratio_of(scaled, run, highest) if metric.name in RATIOS else None
            weight = best_alone(scaled, run, rows, highest) if ratio is None else ratio.discount(rows.rank)
            start = np.nan_to_num(scaled.compute(run)) if ratio is None else ratio.start
            weights = rows.query, docs[rows.value.astype(np.int64)], weight
            if base is not None:
                weights = _with_baseline(*weights, base, by_pair.shape[1])
                start = start - start.reshape(-1, by_pair.shape[1])[:, base].repeat(by_pair.shape[1])
            falling, doc_of_weight = _falling(*weights, run.n_queries)
            outside = n_open + n_elsewhere[at] - falling.count
            gains = None if ratio is None else Gains.of(ratio, start, falling, outside)
            take(WeightsOfUnjudged(i, at, start, falling, doc_of_weight, gains))

    each_block(grid.size[by_pair].sum(axis=1), work)


def _with_baseline(item: Array, doc: Array, weight: Array, base: int, systems: int) -> tuple[Array, Array, Array]:
    """Add the baseline's weights, with the opposite sign, to those of each system's ranking of a query.

    ``item``: the ranking of each weight; the rankings of a query, one for each of the ``systems``, are adjacent.
    """
    mine = np.flatnonzero(item % systems == base)
    others = (item[mine, None] - base + np.arange(systems)).ravel()
    doc = np.append(doc, doc[mine].repeat(systems))
    return np.append(item, others), doc, np.append(weight, -weight[mine].repeat(systems))


def _falling(item: Array, doc: Array, weight: Array, n: int) -> tuple[Rows, Array]:
    """Sum the weights of each document in each ranking, drop sums of 0, and sort them, the greatest first.

    Returns the sums, and the number of each one's document.
    """
    _, first, which = np.unique(item * (doc.max(initial=0) + 1) + doc, return_index=True, return_inverse=True)
    item, doc, weight = item[first], doc[first], np.bincount(which, weight, len(first))
    order = np.lexsort((-weight, item))
    order = order[weight[order] != 0]
    return Rows(item[order], np.zeros(len(order)), weight[order], n), doc[order]


def n_unjudged_elsewhere(log: Log) -> Array:
    """Count, for each ranking, the unjudged documents that only other systems list for its query."""
    grid = log.grid
    if log.separate_judgments is None:
        return np.zeros(len(grid.segment_query), np.int64)
    judgments = judgment_columns_in(log.table)
    rows = log.table.filter(pl.all_horizontal(pl.col(judgments).is_nan()))
    count = rows.group_by(log.separate_judgments.keys).agg(pl.col("doc").n_unique().alias("open"))
    every = log.index.joined(count, log.separate_judgments.keys)
    unjudged = np.all([np.isnan(grid.rankings.values[name]) for name in judgments], axis=0)
    return every["open"].fill_null(0).to_numpy().astype(np.int64) - grid.rankings.count(unjudged)


def system_of(index: Index, baseline: Any) -> int:
    """Return the number of the baseline; raise if it is no system, or the only one."""
    names = index.system_names
    return pair_systems(range(len(names)), names, baseline, str(index.columns.system))[0][1]


def number_of_baseline(index: Index, baseline: Any) -> int:
    """Return the number of the baseline; in a piece without it, that of the system that stands for all others."""
    if not (index.systems.log_row == NONE).any():
        return system_of(index, baseline)
    at = number_if_any(baseline, names := index.system_names)
    return len(names) if at is None else at  # whether the baseline exists is checked for all pieces later


def keys_of_judgments(log: Log) -> list[str]:
    """Return the internal names of the columns that a judgment belongs to: query, and ``by`` that judgments have."""
    _, by, query = log.columns.internal_by_role
    return [*by, *query] if log.separate_judgments is None else log.separate_judgments.keys


def number_documents(log: Log) -> Array:
    """Return the number of each row's document, equal for one document of one query in all systems."""
    if "doc" in log.table.columns:
        return codes(log.table, [*keys_of_judgments(log), "doc"])[0]
    return np.arange(len(log.table)) % max(len(log.table) // max(len(log.columns.shape.per_system), 1), 1)
