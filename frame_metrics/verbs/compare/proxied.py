"""Systems compared by the judgments of people on some queries, and of a machine on all: prediction-powered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frame_metrics.answer import Answer
from frame_metrics.inputs import Array
from frame_metrics.measuring.pairs import Pairing, QueryValues, paired_systems
from frame_metrics.measuring.proxies import both_of
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.source import Source
from frame_metrics.stats.exact import detectable
from frame_metrics.stats.proxies import Powered, powered
from frame_metrics.verbs.compare.differences import Pair, Row, places, tabled
from frame_metrics.verbs.compare.options import CompareOptions


def paired_both(source: Source, asked: Asked, options: CompareOptions) -> tuple[Pairing, bool]:
    """Pair systems by their values of both kinds, and say if queries were drawn with chances of their own.

    The values are those by the machine of each metric, then those by people, whether these are undefined, whether
    people judged some document of the query, and its chance.
    """
    both = both_of(source, asked)
    chance = np.ones(both.proxy.shape[1]) if both.chance is None else both.chance
    values = [*both.proxy, *both.human, *both.undefined.astype(float), both.judged.astype(float), chance]
    return replace(paired_systems(both.measured, options.baseline), values=values), both.chance is not None


def sides(here: QueryValues, metric: int, metrics: int, pair: Pair) -> Array:
    """Return what two systems have by the machine, by people, and undefined, shape (3, queries, 2).

    By people it is NaN where they did not judge all that the metric reads.
    """
    return here.values[metric : 3 * metrics : metrics][:, :, pair]


def proxied(source: Source, asked: Asked, options: CompareOptions) -> Answer:
    """Return one row per segment, metric and pair of systems."""
    pairing, drawn = paired_both(source, asked, options)
    m, n_pairs, rows = len(asked), len(pairing.pairs), []
    for here, (_, number, i), _ in pairing.each(options.unanswered):
        pair, chance = pairing.pairs[i], here.values[-1, :, 0] if drawn else None
        rows.append(_row(here, sides(here, number, m, pair), pair, chance, options))
    segment, metric, of = places(len(rows), m, n_pairs)
    return pairing.answer(pairing.segments[segment], metric, of, tabled(rows, m, n_pairs, options))


def _row(here: QueryValues, values: Array, pair: Pair, chance: Array | None, options: CompareOptions) -> Row:
    """Compare two systems by one metric, by its values as ``sides`` returns them."""
    machine, people, undefined = values
    use, way = np.ones(len(machine), bool), "t" if options.test == "t" else "normal"
    both = people[:, 0] - people[:, 1]

    def mean(human: Array, proxy: Array, tuned: float | None = None) -> Powered:
        return powered(human, proxy, here.weights(use), chance, here.clusters(use), tuned=tuned)

    found = mean(both, machine[:, 0] - machine[:, 1])
    row: Row = {"difference": found.value, "lambda": found.tuned, "proxy_difference": found.proxy, "test": options.test}
    row |= {"n": found.n, "n_proxy": found.n_proxy, "n_unpaired": here.unpaired(0, pair).sum()}
    row["n_undefined"] = (undefined.any(axis=1) & ~np.isnan(both)).sum()
    if np.isnan(found.value):
        return row
    base = mean(np.where(np.isnan(both), np.nan, people[:, 1]), machine[:, 1], found.tuned).value
    low, high = found.ends(options.ci, way)
    mde = detectable(options.ci) * found.errors[way != "t"]
    row |= {"value": base + found.value, "baseline_value": base, "ci_low": low, "ci_high": high, "mde": mde}
    return row | {"p_value": found.p_value(way)}
