"""Systems compared by the judgments of people on some queries, and of a machine on all: prediction-powered."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from frame_metrics.answer import Answer
from frame_metrics.inputs import Array
from frame_metrics.measuring.pairs import Pairing, QueryValues, paired_systems
from frame_metrics.measuring.proxies import both_of
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.source import Source
from frame_metrics.stats.exact import detectable
from frame_metrics.stats.margins import above, normally_above
from frame_metrics.stats.proxies import Powered, powered
from frame_metrics.stats.units import FEW
from frame_metrics.verbs.compare.differences import Pair, Row, places, tabled
from frame_metrics.verbs.compare.margins import margins_of, told_of_error
from frame_metrics.verbs.compare.options import CompareOptions


def paired_both(source: Source, asked: Asked, options: CompareOptions) -> tuple[Pairing, bool]:
    """Pair systems query by query, with values by the machine and by people.

    Returns
    -------
    The pairs, and True if queries were drawn with different chances. The values of a query are, one after the other:
    those by the machine for each metric, those by people for each metric, 1 for each metric that is undefined, 1 if
    people judged some document of the query, and the chance that the query was drawn.
    """
    both = both_of(source, asked)
    chance = np.ones(both.proxy.shape[1]) if both.chance is None else both.chance
    values = [*both.proxy, *both.human, *both.undefined.astype(float), both.judged.astype(float), chance]
    return replace(paired_systems(both.measured, options.baseline), values=values), both.chance is not None


def sides(here: QueryValues, metric: int, metrics: int, pair: Pair) -> Array:
    """Return the values of two systems for one metric, shape (3, queries, 2): by the machine, by people, and undefined.

    A value by people is NaN if they did not judge all that the metric reads.
    """
    return here.values[metric : 3 * metrics : metrics][:, :, pair]


def proxied(source: Source, asked: Asked, options: CompareOptions) -> Answer:
    """Return one row per segment, metric and pair of systems."""
    pairing, drawn = paired_both(source, asked, options)
    m, n_pairs, rows, margins = len(asked), len(pairing.pairs), list[Row](), margins_of(options.margin, asked)
    for here, (_, number, i), _ in pairing.each():
        pair, chance = pairing.pairs[i], here.values[-1, :, 0] if drawn else None
        rows.append(
            _row(here, sides(here, number, m, pair), pair, chance, options, (asked[number][1], margins[number]))
        )
    segment, metric, of = places(len(rows), m, n_pairs)
    return pairing.answer(pairing.segments[segment], metric, of, tabled(rows, m, n_pairs, options))


def _row(
    here: QueryValues,
    values: Array,
    pair: Pair,
    chance: Array | None,
    options: CompareOptions,
    held: tuple[Metric, float],
) -> Row:
    """Compare two systems on one metric.

    Parameters
    ----------
    values : as ``sides`` returns them.
    chance : of each query.
    held : the metric, and its margin, NaN for none.
    """
    machine, people, undefined = values
    use, way = np.ones(len(machine), bool), "t" if options.test == "t" else "normal"
    both = people[:, 0] - people[:, 1]

    def mean(human: Array, proxy: Array, tuned: float | None = None) -> Powered:
        return powered(human, proxy, here.weights(use), chance, here.clusters(use), tuned=tuned)

    found = mean(both, machine[:, 0] - machine[:, 1])
    row: Row = {"difference": found.value, "lambda": found.tuned, "proxy_difference": found.proxy, "test": options.test}
    row |= {"n": found.n, "n_proxy": found.n_proxy, "n_unpaired": here.unpaired(0, pair).sum()}
    row["n_unanswered"] = here.unanswered[:, pair].any(axis=1).sum()
    row["n_undefined"] = (undefined.any(axis=1) & ~np.isnan(both)).sum()
    if np.isnan(found.value):
        return row
    base = mean(np.where(np.isnan(both), np.nan, people[:, 1]), machine[:, 1], found.tuned).value
    low, high = found.ends(options.ci, way)
    mde = detectable(options.ci) * found.errors[way != "t"]
    row |= {"value": base + found.value, "baseline_value": base, "ci_low": low, "ci_high": high, "mde": mde}
    if np.count_nonzero(both[~np.isnan(both)]) >= FEW:
        row |= _held(found, way, *held)
    return row | {"p_value": found.p_value(way)}


def _held(found: Powered, way: str, metric: Metric, margin: float) -> Row:
    """Return the columns of a difference held against a margin, NaN for none."""
    error = found.errors[way != "t"]
    if not error > 0 or np.isnan(margin):
        return {}
    p_of = partial(above, df=found.freedom) if way == "t" else normally_above
    return told_of_error(float(found.value), float(error), metric, margin, p_of)
