"""Systems compared by the judgments of people on some queries, and of a machine on all: prediction-powered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frame_metrics.answer import Answer
from frame_metrics.inputs import Array
from frame_metrics.measuring.pairs import QueryValues, paired_systems
from frame_metrics.measuring.proxies import both_of
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.source import Source
from frame_metrics.stats.exact import detectable
from frame_metrics.stats.proxies import Powered, powered
from frame_metrics.verbs.compare.differences import Pair, Row, places, tabled
from frame_metrics.verbs.compare.options import CompareOptions


def proxied(source: Source, asked: Asked, options: CompareOptions) -> Answer:
    """Return one row per segment, metric and pair of systems."""
    both, m = both_of(source, asked), len(asked)
    pairing = paired_systems(both.measured, options.baseline)
    chance = np.ones(both.proxy.shape[1]) if both.chance is None else both.chance
    pairing = replace(pairing, values=[*both.proxy, *both.human, *both.undefined.astype(float), chance])
    rows: list[Row] = []
    for segment in pairing.segments:
        here = pairing.laid(segment)
        drawn = None if both.chance is None else here.values[-1, :, 0]
        rows += [_row(here, range(i, 3 * m, m), pair, drawn, options) for i in range(m) for pair in pairing.pairs]
    segment, metric, pair = places(len(rows), m, len(pairing.pairs))
    return pairing.answer(pairing.segments[segment], metric, pair, tabled(rows, m, len(pairing.pairs), options))


def _row(here: QueryValues, at: range, pair: Pair, chance: Array | None, options: CompareOptions) -> Row:
    """Compare two systems by one metric; ``at``: where its values by the machine, by people, and its gaps stand."""
    machine, people, undefined = here.values[list(at)][:, :, pair]
    use, way = np.ones(len(machine), bool), "t" if options.test == "t" else "normal"
    both = people[:, 0] - people[:, 1]  # NaN where people did not judge all that the metric reads of both systems

    def mean(human: Array, proxy: Array, tuned: float | None = None) -> Powered:
        return powered(human, proxy, here.weights(use), chance, here.clusters(use), tuned=tuned)

    found = mean(both, machine[:, 0] - machine[:, 1])
    row: Row = {"difference": found.value, "lambda": found.tuned, "proxy_difference": found.proxy, "test": options.test}
    row |= {"n": found.n, "n_proxy": found.n_proxy, "n_unpaired": here.unpaired(pair).sum()}
    row["n_undefined"] = (undefined.any(axis=1) & ~np.isnan(both)).sum()
    if np.isnan(found.value):
        return row
    base = mean(np.where(np.isnan(both), np.nan, people[:, 1]), machine[:, 1], found.tuned).value
    low, high = found.ends(options.ci, way)
    mde = detectable(options.ci, options.power) * found.errors[way != "t"]
    row |= {"value": base + found.value, "baseline_value": base, "ci_low": low, "ci_high": high, "mde": mde}
    return row | {"p_value": found.p_value(way)}
