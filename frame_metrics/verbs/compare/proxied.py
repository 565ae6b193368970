"""Systems compared by the judgments of people on some queries, and of a machine on all: prediction-powered."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from frame_metrics.answer import Answer
from frame_metrics.inputs import Array
from frame_metrics.measuring.pairs import ByPeople, Pairing, QueryValues, pairing_of_systems
from frame_metrics.measuring.proxies import both_of
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.source import Source
from frame_metrics.stats.exact import detectable
from frame_metrics.stats.margins import above, normally_above
from frame_metrics.stats.proxies import PpiMean, ppi_mean
from frame_metrics.stats.two_arms import MIN_DIFFERING
from frame_metrics.verbs.compare.differences import Pair, Row, numbers_of_rows, tabled
from frame_metrics.verbs.compare.margins import margin_columns_of_error, margins_of
from frame_metrics.verbs.compare.options import CompareOptions


def paired_both(source: Source, asked: Asked, options: CompareOptions) -> Pairing:
    """Pair systems query by query, with values by the machine and by people."""
    both = both_of(source, asked)
    return replace(pairing_of_systems(both.all_values, options.baseline), people=both.people)


def proxied(source: Source, asked: Asked, options: CompareOptions) -> Answer:
    """Return one row per segment, metric and pair of systems."""
    pairing = paired_both(source, asked, options)
    m, n_pairs, rows, margins = len(asked), len(pairing.pairs), list[Row](), margins_of(options.margin, asked)
    for here, (_, number, i), _ in pairing.each():
        rows.append(_row(here, number, pairing.pairs[i], options, (asked[number][1], margins[number])))
    segment, metric, of = numbers_of_rows(len(rows), m, n_pairs)
    return pairing.answer(pairing.segments[segment], metric, of, tabled(rows, m, n_pairs, options))


def _row(here: QueryValues, number: int, pair: Pair, options: CompareOptions, margin: tuple[Metric, float]) -> Row:
    """Compare two systems on one metric.

    Parameters
    ----------
    number : the position of the metric.
    margin : the metric, and its margin, NaN for none.
    """
    by_people: ByPeople = here.people  # type: ignore[assignment]
    machine, people = here.values[number][:, pair], by_people.values[number][:, pair]
    undefined, chance = by_people.undefined[number][:, pair], by_people.chance
    chance = None if chance is None else chance[:, 0]  # the same for all systems
    use, way = np.ones(len(machine), bool), "t" if options.test == "t" else "normal"
    both = people[:, 0] - people[:, 1]

    def mean(human: Array, proxy: Array, tuned: float | None = None) -> PpiMean:
        return ppi_mean(human, proxy, here.weights(use), chance, here.clusters(use), tuned=tuned)

    found = mean(both, machine[:, 0] - machine[:, 1])
    row: Row = {"difference": found.value, "lambda": found.tuned, "proxy_difference": found.proxy, "test": options.test}
    row |= {"n": found.n, "n_proxy": found.n_proxy, "n_unpaired": here.answered_by_one(0, pair).sum()}
    row["n_unanswered"] = here.unanswered[:, pair].any(axis=1).sum()
    row["n_undefined"] = (undefined.any(axis=1) & ~np.isnan(both)).sum()
    if np.isnan(found.value):
        return row
    base = mean(np.where(np.isnan(both), np.nan, people[:, 1]), machine[:, 1], found.tuned).value
    low, high = found.ends(options.ci, way)
    mde = detectable(options.ci) * found.errors[way != "t"]
    row |= {"value": base + found.value, "baseline_value": base, "ci_low": low, "ci_high": high, "mde": mde}
    if np.count_nonzero(both[~np.isnan(both)]) >= MIN_DIFFERING:
        row |= _margin_columns(found, way, *margin)
    return row | {"p_value": found.p_value(way)}


def _margin_columns(found: PpiMean, way: str, metric: Metric, margin: float) -> Row:
    """Return the columns of a difference compared with a margin, NaN for none."""
    error = found.errors[way != "t"]
    if not error > 0 or np.isnan(margin):
        return {}
    p_of = partial(above, df=found.freedom) if way == "t" else normally_above
    return margin_columns_of_error(float(found.value), float(error), metric, margin, p_of)
