"""Compare metrics of sets of lists: a randomization test in which two systems exchange their lists, query by query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frame_metrics.backends.progress import Tick
from frame_metrics.inputs import Array, Lists
from frame_metrics.measuring.lists import EVERY
from frame_metrics.measuring.pairs import Pairing
from frame_metrics.metrics.names import Asked
from frame_metrics.stats.averages import cluster_numbers
from frame_metrics.stats.flips import exchanged
from frame_metrics.verbs.compare.differences import VALUE_COLUMNS, Pair, Row
from frame_metrics.verbs.compare.options import CompareOptions

RESULTS_AT_ONCE = 1 << 21  # number of results that are exchanged at a time
HEAVIER = 40  # for the progress bar: the exchange of a result takes as long as 40 sign flips of a query


def by_cutoff(asked: Asked) -> list[list[int]]:
    """Return the positions of metrics of sets of lists, grouped by cutoff."""
    groups: dict[int | None, list[int]] = {}
    for i, (_, metric) in enumerate(asked):
        if metric.input is Lists:
            groups.setdefault(metric.k, []).append(i)
    return [*groups.values()]


def lists_compared(
    pairing: Pairing, segment: int, metrics: Sequence[int], pair: Pair, options: CompareOptions, tick: Tick
) -> list[Row]:
    """Compare two systems in a segment by metrics of sets of lists, which have one cutoff.

    The p-value is that of Fisher's randomization test: if the systems do not differ, either could have returned each of
    the two lists of a query. Each draw exchanges the lists of some queries, or clusters, and computes the metric anew.
    """
    all_values, results = pairing.all_values, pairing.all_values.results
    index, asked, n_queries = all_values.index, [all_values.asked[i][1] for i in metrics], pairing.n_queries
    # The rankings of the two systems in the segment, and those of them that have results.
    side = np.select([index.system == system for system in pair], [0, 1], -1)
    of_pair, drops = (side >= 0) & (index.segment == segment), all_values.conventions.unanswered == "drop"
    with_results = of_pair & (np.bincount(results.ranking, minlength=len(side)) > 0)
    # How many of the two systems have results, or an answer, for each query; and the queries that are used.
    n_lists = np.bincount(index.segment_query[with_results], minlength=n_queries)
    n_answers = np.bincount(index.segment_query[of_pair & index.answered], minlength=n_queries)
    used = n_answers == 2 if drops else n_lists > 0
    # The results of these lists up to the cutoff.
    of_used = (with_results & used[index.segment_query])[results.ranking]
    some = np.flatnonzero(of_used & (results.rank <= (asked[0].k or EVERY)))
    ranking, doc, unit_of_query = results.ranking[some], results.doc[some], _units(pairing, used)
    unit, n_units = unit_of_query[index.segment_query[ranking]], int(unit_of_query.max(initial=-1)) + 1
    side = side[ranking]
    weight = None if all_values.weight is None else all_values.weight[ranking]

    def values(exchange: Array) -> Array:
        """Compute the metrics of both systems, shape (draws, metrics, 2); ``exchange``: 1 or 0, by draw and unit."""
        n = len(exchange)
        group = np.arange(0, 2 * n, 2)[:, None] + (side ^ exchange[:, unit])  # two groups for each draw
        tiled_weight = None if weight is None else np.tile(weight, n)
        lists = Lists(group.ravel(), np.tile(doc, n), tiled_weight, (2 * n, results.size), results.catalogue)
        return np.stack([metric.compute(lists).reshape(n, 2) for metric in asked], axis=1)

    # The rows, without a test.
    value, base = values(np.zeros((1, n_units), np.int64))[0].T
    unanswered = np.unique(index.segment_query[of_pair & (all_values.unanswered > 0)])
    counts = {"n": int(used.sum()), "n_unpaired": int((n_lists == 1).sum()), "n_unanswered": len(unanswered)}
    rows: list[Row] = []
    for numbers in zip(value.tolist(), base.tolist(), (value - base).tolist(), strict=True):
        row: Row = dict(zip(VALUE_COLUMNS, numbers, strict=True)) | {"test": options.test} | counts
        rows.append(row | {"n_undefined": int(np.isnan(row["difference"]))})
    # The randomization test, if there is something that can differ.
    if n_units > 1 and np.isfinite(value - base).any():
        step = max(RESULTS_AT_ONCE // max(len(some), 2 * results.size), 1)
        drawn = options.permutations, options.seed, step, tick
        p_values = exchanged(lambda exchange: np.diff(values(exchange))[..., 0], value - base, n_units, *drawn)
        for row, p in zip(rows, p_values, strict=True):
            row |= {"p_value": p} if np.isfinite(row["difference"]) else {}
    return rows


def _units(pairing: Pairing, used: Array) -> Array:
    """Return the number of each query's unit, a query or a cluster, in the order of random draws."""
    order, cluster = pairing.segment_queries_in_drawing_order, pairing.all_values.cluster
    queries, unit = order[used[order]], np.zeros(len(used), np.int64)
    cluster_of_query = np.zeros(len(used))
    if cluster is not None:
        cluster_of_query[pairing.all_values.index.segment_query] = cluster
    numbers = None if cluster is None else cluster_numbers(cluster_of_query[queries])
    unit[queries] = np.arange(len(queries)) if numbers is None else numbers
    return unit
