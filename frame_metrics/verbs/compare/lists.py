"""Metrics of all lists together compared: two systems exchange their lists query by query."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs import Array
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
    measured, shown = pairing.measured, pairing.measured.shown
    grid, (_, one) = measured.log.grid, measured.asked[metric]
    row: Row = {"test": options.test, "n": 0, "n_unpaired": 0, "n_undefined": 0}
    if shown is None:
        return row
    side = np.select([grid.system == system for system in pair], [0, 1], -1)
    here = (side >= 0) & (grid.segment == segment) & (np.bincount(shown.ranking, minlength=len(side)) > 0)
    lists = np.bincount(grid.pair[here], minlength=pairing.n_queries)  # of each query, 2 where both have one
    row["n_unpaired"] = int((lists == 1).sum())
    used = lists > (options.unanswered == "drop")
    row["n"] = int(used.sum())
    some = np.flatnonzero((here & used[grid.pair])[shown.ranking])
    unit = _units(pairing, used)[grid.pair[shown.ranking[some]]]
    results, units = shown.at(some), int(unit.max(initial=-1)) + 1

    def differences(exchange: Array) -> Array:
        """The difference of the metric in some draws, by whether each unit exchanges its lists, shape (draws,)."""
        n = len(exchange)
        placed = np.arange(n)[:, None] * 2 + (side[results.ranking] ^ exchange[:, unit])
        return one.compute(results.lists(one, placed, 2 * n, measured.weight)).reshape(n, 2) @ [1, -1]

    plain = np.zeros((1, units), np.int64)
    values = one.compute(results.lists(one, side[results.ranking][None], 2, measured.weight))
    row |= zip(EACH, map(float, (*values, values[0] - values[1])), strict=True)
    if units > 1 and np.isfinite(values).all():
        step = max(ROOM // max(len(some), 2 * results.documents[1]), 1)
        row["p_value"] = exchanged(
            differences, float(differences(plain)[0]), units, options.permutations, options.seed, step
        )
    return row


def _units(pairing: Pairing, used: Array) -> Array:
    """The number of the unit that exchanges its lists at once, of each query, in the order in which they are drawn."""
    drawn, cluster = pairing.drawn[used[pairing.drawn]], pairing.measured.cluster
    unit = np.zeros(pairing.n_queries, np.int64)
    unit[drawn] = np.arange(len(drawn))
    if cluster is not None:
        of_query = np.zeros(pairing.n_queries)
        of_query[pairing.measured.log.grid.pair] = cluster
        own = numbered(of_query[drawn])
        unit[drawn] = unit[drawn] if own is None else own
    return unit
