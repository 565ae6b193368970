"""Metrics of all lists together compared: two systems exchange their lists query by query."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs import Array, Lists
from frame_metrics.measuring.lists import EVERY
from frame_metrics.measuring.pairs import Pairing
from frame_metrics.stats.averages import numbered
from frame_metrics.stats.significance import exchanged
from frame_metrics.verbs.compare.differences import EACH, Pair, Row
from frame_metrics.verbs.compare.options import CompareOptions

ROOM = 1 << 21  # results that are counted at a time


def lists_compared(pairing: Pairing, segment: int, metric: int, pair: Pair, options: CompareOptions) -> Row:
    """Return what is known of two systems by a metric of all their lists in a segment.

    The p-value is that of Fisher's randomization test: if nothing differs between two systems, either could have given
    each of two lists. Each draw exchanges the lists of some queries, or clusters of them, and has the metric anew.
    """
    measured, shown = pairing.measured, pairing.measured.results
    grid, (_, one), n_queries = measured.log.grid, measured.asked[metric], pairing.n_queries
    side = np.select([grid.system == system for system in pair], [0, 1], -1)
    here = (side >= 0) & (grid.segment == segment) & (np.bincount(shown.ranking, minlength=len(side)) > 0)
    lists = np.bincount(grid.pair[here], minlength=n_queries)  # of each query, 2 where both have one
    used = lists > (options.unanswered == "drop")
    some = np.flatnonzero((here & used[grid.pair])[shown.ranking] & (shown.rank <= (one.k or EVERY)))
    of_query, ranking, doc = _units(pairing, used), shown.ranking[some], shown.doc[some]
    unit, units, mine = of_query[grid.pair[ranking]], int(of_query.max(initial=-1)) + 1, side[ranking]
    weight = None if measured.weight is None else measured.weight[ranking]

    def values(exchange: Array) -> Array:
        """The metric of both in some draws, by what units exchange in each, shape (draws, 2)."""
        n = len(exchange)
        placed = np.arange(0, 2 * n, 2)[:, None] + (mine ^ exchange[:, unit])
        every = None if weight is None else np.tile(weight, n)
        lists = Lists.of_results(placed.ravel(), np.tile(doc, n), every, (2 * n, shown.size), shown.catalogue)
        return one.compute(lists).reshape(n, 2)

    value, base = values(np.zeros((1, units), np.int64))[0]
    row: Row = dict(zip(EACH, map(float, (value, base, value - base)), strict=True)) | {"test": options.test}
    row |= {"n": int(used.sum()), "n_unpaired": int((lists == 1).sum()), "n_undefined": int(np.isnan(value - base))}
    if units > 1 and np.isfinite(value - base):
        step = max(ROOM // max(len(some), 2 * shown.size), 1)
        row["p_value"] = exchanged(values, value - base, units, options.permutations, options.seed, step)
    return row


def _units(pairing: Pairing, used: Array) -> Array:
    """The number of the unit that exchanges its lists at once, of each query, in the order in which they are drawn."""
    drawn, cluster, unit = pairing.drawn[used[pairing.drawn]], pairing.measured.cluster, np.zeros(len(used), np.int64)
    of_query = np.zeros(len(used))
    if cluster is not None:
        of_query[pairing.measured.log.grid.pair] = cluster
    own = None if cluster is None else numbered(of_query[drawn])
    unit[drawn] = np.arange(len(drawn)) if own is None else own
    return unit
