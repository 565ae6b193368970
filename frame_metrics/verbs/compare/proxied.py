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
from frame_metrics.stats.exact import detectable, normal_quantile
from frame_metrics.stats.margins import normally_above
from frame_metrics.stats.paired_shares import newcombe, table_of_pairs
from frame_metrics.stats.proxies import PpiMean, bias_of, ppi_mean
from frame_metrics.stats.shares import are_shares
from frame_metrics.stats.significance import CLOSE
from frame_metrics.stats.skewness import above
from frame_metrics.stats.two_arms import MIN_DIFFERING
from frame_metrics.verbs.compare.differences import P_OF_BIAS, Pair, Row, numbers_of_rows, tabled
from frame_metrics.verbs.compare.margins import margin_columns_of_error, margins_of
from frame_metrics.verbs.compare.options import CompareOptions


def paired_both(source: Source, asked: Asked, options: CompareOptions) -> Pairing:
    """Pair systems query by query, with values by the machine and by people."""
    both = both_of(source, asked)
    return replace(pairing_of_systems(both.all_values, options.baseline), people=both.people)


def proxied(source: Source, asked: Asked, options: CompareOptions) -> Answer:
    """Return the answer: a row for each segment, metric and pair of systems."""
    pairing = paired_both(source, asked, options)
    m, n_pairs, rows, margins = len(asked), len(pairing.pairs), list[Row](), margins_of(options.margin, asked)
    for here, (_, at, i), _ in pairing.each():
        rows.append(_row(here, at, pairing.pairs[i], options, (asked[at][1], margins[at])))
    segment, metric, pair_at = numbers_of_rows(len(rows), m, n_pairs)
    return pairing.answer(pairing.segments[segment], metric, pair_at, tabled(rows, m, n_pairs, options))


def _row(here: QueryValues, at: int, pair: Pair, options: CompareOptions, margin: tuple[Metric, float]) -> Row:
    """Compare two systems on one metric, in one segment.

    Parameters
    ----------
    at : the position of the metric.
    margin : the metric, and its margin, NaN for none.
    """
    by_people: ByPeople = here.people  # type: ignore[assignment]
    machine, people = here.values[at][:, pair], by_people.values[at][:, pair]
    undefined, chance = by_people.undefined[at][:, pair], by_people.chance
    chance = None if chance is None else chance[:, 0]  # the same for all systems
    use, distribution = np.ones(len(machine), bool), "t" if options.test == "t" else "normal"
    difference = people[:, 0] - people[:, 1]  # NaN where people did not judge the query

    def mean(human: Array, proxy: Array, tuned: float | None = None) -> PpiMean:
        return ppi_mean(human, proxy, here.weights(use), chance, here.clusters(use), tuned=tuned)

    found = mean(difference, machine[:, 0] - machine[:, 1])
    row: Row = {"difference": found.value, "lambda": found.tuned, "proxy_difference": found.proxy, "test": options.test}
    n_unpaired = here.answered_by_one(0, pair).sum()  # of the first metric: it is the same for all, as none is saved
    row |= {"n": found.n, "n_proxy": found.n_proxy, "n_unpaired": n_unpaired}
    row["n_unanswered"] = here.unanswered[:, pair].any(axis=1).sum()
    row["n_undefined"] = (undefined.any(axis=1) & ~np.isnan(difference)).sum()
    if np.isnan(found.value):
        return row
    judged_both = np.where(np.isnan(difference)[:, None], np.nan, people)
    base = mean(judged_both[:, 1], machine[:, 1], found.tuned).value
    row |= _columns_of_bias(judged_both, machine, here.weights(use), chance, here.clusters(use))
    low, high = found.ends(options.ci, distribution)
    plain = chance is None and here.weights(use) is None and here.clusters(use) is None
    if np.isnan(low) and plain and are_shares(by_people.values[at], margin[0].range):
        table = table_of_pairs(*people[~np.isnan(difference)].T)
        low, high = newcombe(table, normal_quantile(options.ci))
    mde = detectable(options.ci) * found.error(distribution) or np.nan
    row |= {"value": base + found.value, "baseline_value": base, "ci_low": low, "ci_high": high, "mde": mde}
    if np.count_nonzero(difference[~np.isnan(difference)]) >= MIN_DIFFERING:
        row |= _margin_columns(found, distribution, *margin)
    return row | {"p_value": found.p_value(distribution)}


def _columns_of_bias(people: Array, machine: Array, *of_queries: Array | None) -> Row:
    """Return the machine's bias for both systems, and the p-value that it is the same for both.

    There is no p-value if fewer than ``MIN_DIFFERING`` queries differ in it: few queries may lack the rare large ones.

    Parameters
    ----------
    people, machine : the values by each, NaN where people did not judge both systems, shape (queries, 2).
    of_queries : weights, chances and clusters, as ``ppi_mean`` takes them.
    """
    own, base = (bias_of(people[:, side], machine[:, side], *of_queries).value for side in (0, 1))
    row: Row = {"proxy_bias": own, "baseline_proxy_bias": base}
    ours, theirs = (side[:, 0] - side[:, 1] for side in (people, machine))
    n_differing = (np.abs(theirs - ours) > CLOSE).sum()  # NaN is not
    return row | ({P_OF_BIAS: bias_of(ours, theirs, *of_queries).p_of_skewed()} if n_differing >= MIN_DIFFERING else {})


def _margin_columns(found: PpiMean, distribution: str, metric: Metric, margin: float) -> Row:
    """Return the columns of a difference that is compared with a margin; none if there is no margin (NaN)."""
    error = found.error(distribution)
    if not error > 0 or np.isnan(margin):
        return {}
    p_of = partial(above, df=found.freedom) if distribution == "t" else normally_above
    return margin_columns_of_error(float(found.value), float(error), metric, margin, p_of)
