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
    measured, results = pairing.all_values, pairing.all_values.results
    index, asked, n_queries = measured.index, [measured.asked[i][1] for i in metrics], pairing.n_queries
    # The queries of both systems, and the results of their lists up to the cutoff.
    side = np.select([index.system == system for system in pair], [0, 1], -1)
    there, drops = (side >= 0) & (index.segment == segment), measured.conventions.unanswered == "drop"
    here = there & (np.bincount(results.ranking, minlength=len(side)) > 0)
    lists = np.bincount(index.segment_query[here], minlength=n_queries)  # of each query, 2 where both have one
    answers = np.bincount(index.segment_query[there & index.answered], minlength=n_queries)
    used = answers == 2 if drops else lists > 0
    some = np.flatnonzero((here & used[index.segment_query])[results.ranking] & (results.rank <= (asked[0].k or EVERY)))
    of_query, ranking, doc = _units(pairing, used), results.ranking[some], results.doc[some]
    unit, units, mine = of_query[index.segment_query[ranking]], int(of_query.max(initial=-1)) + 1, side[ranking]
    weight = None if measured.weight is None else measured.weight[ranking]

    def values(exchange: Array) -> Array:
        """Compute the metrics of both systems, shape (draws, metrics, 2); ``exchange``: 1 or 0, by draw and unit."""
        n = len(exchange)
        placed = np.arange(0, 2 * n, 2)[:, None] + (mine ^ exchange[:, unit])
        every = None if weight is None else np.tile(weight, n)
        lists = Lists(placed.ravel(), np.tile(doc, n), every, (2 * n, results.size), results.catalogue)
        return np.stack([one.compute(lists).reshape(n, 2) for one in asked], axis=1)

    # The rows, without a test.
    value, base = values(np.zeros((1, units), np.int64))[0].T
    lacking = np.unique(index.segment_query[there & (measured.unanswered > 0)])
    known = {"test": options.test, "n": int(used.sum()), "n_unpaired": int((lists == 1).sum())}
    known |= {"n_unanswered": len(lacking)}
    each = zip(value.tolist(), base.tolist(), (value - base).tolist(), strict=True)
    rows = [
        dict(zip(VALUE_COLUMNS, one, strict=True)) | known | {"n_undefined": int(np.isnan(one[-1]))} for one in each
    ]
    # The randomization test, where something can differ.
    if units > 1 and np.isfinite(value - base).any():
        step = max(RESULTS_AT_ONCE // max(len(some), 2 * results.size), 1)
        drawn = options.permutations, options.seed, step, tick
        p = exchanged(lambda exchange: np.diff(values(exchange))[..., 0], value - base, units, *drawn)
        for row, one in zip(rows, p, strict=True):
            row |= {"p_value": one} if np.isfinite(row["difference"]) else {}
    return rows


def _units(pairing: Pairing, used: Array) -> Array:
    """Return the number of each query's unit, a query or a cluster, in the order of random draws."""
    order, cluster = pairing.segment_queries_in_drawing_order, pairing.all_values.cluster
    drawn, unit = order[used[order]], np.zeros(len(used), np.int64)
    of_query = np.zeros(len(used))
    if cluster is not None:
        of_query[pairing.all_values.index.segment_query] = cluster
    own = None if cluster is None else cluster_numbers(of_query[drawn])
    unit[drawn] = np.arange(len(drawn)) if own is None else own
    return unit
