"""Differences of pairs of systems, query by query: means, intervals, tests, and the differences themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from frame_metrics.answer import Answer
from frame_metrics.border.progress import Tick, progress
from frame_metrics.inputs import Array, Lists
from frame_metrics.measuring.baseline import paired_with, plan_of
from frame_metrics.measuring.pairs import Pairing, QueryValues, paired_systems
from frame_metrics.measuring.queries import Measured, without
from frame_metrics.measuring.results import number
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import check_shared
from frame_metrics.stats import significance
from frame_metrics.stats.averages import means_of
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.significance import in_clusters, sureness, times, tukey
from frame_metrics.verbs.compare.differences import EACH, Pair, Row, places, tabled
from frame_metrics.verbs.compare.lists import HEAVIER, by_cutoff, lists_compared
from frame_metrics.verbs.compare.options import CompareOptions

WINS = ("wins", "ties", "losses")
ROUNDED = 1e-14  # share of a sum that the rounding of its terms may leave


def paired_by(plan: Plan, asked: Asked | None, options: CompareOptions) -> Callable[[Measured], Pairing]:
    """Return a function that pairs the values of systems; a saved baseline is checked before anything is read."""
    beside = plan_of(options.baseline, plan, asked) if options.saved and asked else None

    def paired(measured: Measured) -> Pairing:
        if measured.log.conventions.unanswered == "drop":
            judged = measured.evaluated | (measured.unanswered > 0)
            check_shared(measured.log, paired=not options.saved)
            measured = replace(without(measured, ~measured.evaluated), evaluated=judged)
        if options.saved:
            return paired_with(measured, beside or plan_of(options.baseline, plan, measured.asked))
        return paired_systems(measured, options.baseline)

    return paired


def pairs_tested(pairing: Pairing, options: CompareOptions) -> Answer:
    """Return the answer: a row for each segment, metric and pair of systems."""
    m, segments, pairs = len(pairing.measured.asked), pairing.segments, pairing.pairs
    rows: list[Row] = []
    of_lists = [*product(by_cutoff(pairing.measured.asked), enumerate(pairs))]
    with progress(*_work(pairing, options, len(of_lists))) as tick:
        for segment in segments:
            tested = dict(enumerate(_tested(pairing.laid(segment), pairing.measured.asked, pairs, options, tick)))
            for metrics, (at, two) in of_lists:
                found = lists_compared(pairing, segment, metrics, two, options, tick)
                tested |= {i * len(pairs) + at: row for i, row in zip(metrics, found, strict=True)}
            rows += tested.values()
    if pairing.measured.log.conventions.propensity is not None:  # of weighted values only means are unbiased, not wins
        rows = [{name: said for name, said in row.items() if name not in WINS} for row in rows]
    segment, metric, pair = places(len(rows), m, len(pairs))
    return pairing.answer(segments[segment], metric, pair, tabled(rows, m, len(pairs), options))


def _work(pairing: Pairing, options: CompareOptions, exchanges: int) -> tuple[int, str, int]:
    """Return the number of queries, the word for them in the progress bar, and the work, in sign flips of a query.

    ``exchanges``: the number of exchange tests of lists in each segment.
    """
    flipped = options.test in ("randomization", "tukey")  # whether signs are flipped, beside the resampling
    alone = sum(metric.input is not Lists for _, metric in pairing.measured.asked)
    queries = (bool(alone) + (alone if options.together else bool(alone) * flipped)) * pairing.n_queries
    work = queries * (options.permutations if flipped else options.resamples) * (HEAVIER if options.together else 1)
    results = pairing.measured.results.ranking.size if exchanges else 0
    work += HEAVIER * options.permutations * exchanges * results
    return queries + exchanges * pairing.n_queries, "query", work


def _tested(values: QueryValues, asked: Asked, pairs: list[Pair], options: CompareOptions, tick: Tick) -> list[Row]:
    """Compare all pairs of systems on every metric in one segment; those on the same queries share random draws."""
    rows: list[Row] = []
    groups: dict[bytes, list[tuple[Row, Array, float]]] = {}
    alike: dict[bytes, list[int]] = {}  # metrics with values on the same queries
    for i, (_, metric) in enumerate(asked):
        compared = values.compared(i, pairs, together=options.together)
        for pair, use in zip(pairs, compared, strict=True):
            value, base = values.values[i, use][:, pair].T
            weight = None if values.weight is None else values.weight[use]
            difference = _apart(value, base)
            row = _described(value, base, difference * metric.sign, weight) | {"test": options.test}
            row["n_unpaired"] = values.unpaired(i, pair).sum() + values.beyond
            row["n_unanswered"] = values.unanswered[:, pair].any(axis=1).sum()
            counted = ~values.left_out(i, pair)
            row["n_undefined"] = (values.undefined[i][:, pair].any(axis=1) & counted).sum()
            moved = np.sign(difference) * metric.sign / 2 if options.of_wins else difference
            size = np.abs(value).max(initial=0) if moved is difference else 0.0
            groups.setdefault(use.tobytes(), []).append((row, moved, size))
            rows.append(row)
        if options.together:
            alike.setdefault(compared[0].tobytes(), []).append(i)
    for used, metrics in alike.items():
        each_p = _tested_together(values, metrics, np.frombuffer(used, bool), pairs, options, tick)
        _fill([rows[i * len(pairs) + at] for i in metrics for at in range(len(pairs))], {"p_value": each_p})
    for used, some in groups.items():
        use = np.frombuffer(used, bool)
        weight = values.weights(use)
        if use.any() and (weight is None or weight.any()):
            found, each, size = zip(*some, strict=True)
            columns, cluster, alone = np.column_stack(each), values.clusters(use), values.alone(use)
            inferred = _inferred(columns, np.array(size), weight, cluster, alone=alone, options=options, tick=tick)
            _fill(found, inferred)
    return rows


def _fill(rows: Sequence[Row], inferred: Mapping[str, Array]) -> None:
    """Put each column's values of ``inferred`` into its row."""
    for i, row in enumerate(rows):
        row.update((name, float(found[i])) for name, found in inferred.items())


def _apart(value: Array, base: Array) -> Array:
    """Return differences of values, 0 for those that are only rounding."""
    difference, offset = value - base, offsets(np.concatenate([value, base]))
    return np.where(np.abs(difference) < ROUNDED * np.abs(base - offset), 0, difference)


def _described(value: Array, base: Array, better: Array, weight: Array | None) -> Row:
    """Return the means of two systems on the same queries, their difference, and the numbers of wins and losses.

    ``better``: the difference of each query, above 0 if the first system is better.
    """
    n = len(value)
    row: Row = {"wins": (better > 0).sum(), "ties": (better == 0).sum(), "losses": (better < 0).sum(), "n": n}
    if n and (weight is None or weight.any()):
        means = means_of(np.stack([value, base, value - base, np.sign(better) / 2]), weight)
        row |= zip((*EACH, "preference"), means.tolist(), strict=True)
    return row


def _inferred(
    differences: Array,
    size: Array,
    weight: Array | None,
    cluster: Array | None,
    *,
    alone: bool,
    options: CompareOptions,
    tick: Tick,
) -> dict[str, Array]:
    """Return intervals and p-values for each column of differences, shape (queries, columns).

    ``size``: the size of the values that differ, for rounding. ``alone``: whether there are fewer than two clusters, so
    that nothing can be tested.
    """
    inferred = {"p_value": np.ones(differences.shape[1])}
    if np.count_nonzero(np.ones(len(differences)) if weight is None else weight) > 1:
        drawn = options.resamples, options.seed, tick
        inferred |= sureness(differences, weight, cluster, options.ci, *drawn, size)
    if alone or options.together:
        del inferred["p_value"]
    elif options.test == "randomization":
        moved = in_clusters(times(differences, weight), cluster)
        inferred["p_value"] = significance.randomization(moved, options.permutations, options.seed, tick)
    elif options.test != "bootstrap":
        inferred["p_value"] = significance.classical(differences, str(options.test))
    return inferred


def _tested_together(
    values: QueryValues, metrics: list[int], use: Array, pairs: list[Pair], options: CompareOptions, tick: Tick
) -> Array:
    """Test all pairs of systems together (Tukey), on the queries of all; NaN if there are too few to exchange.

    Returns
    -------
    The p-values of each metric and pair, shape (metrics * pairs,).
    """
    weight = values.weights(use)
    if not use.any() or values.alone(use) or (weight is not None and not weight.any()):
        return np.full(len(metrics) * len(pairs), np.nan)
    systems, cluster = sorted({system for pair in pairs for system in pair}), values.clusters(use)
    own = (values.values[metric, use][:, systems] for metric in metrics)
    each = (times(one - offsets(one.ravel()), weight) for one in own)
    p = tukey(np.array([in_clusters(one, cluster) for one in each]), options.permutations, options.seed, tick)
    return p[(slice(None), *np.searchsorted(systems, np.array(pairs).T))].ravel()


def each_query(pairing: Pairing) -> Answer:
    """Return the answer with ``per_query=True``: a row for each comparison and query, greatest differences first."""
    labels: list[Array] = []
    values: list[Array] = []
    for here, (segment, metric, i), use in pairing.each():
        both, query = here.values[metric, use][:, pairing.pairs[i]], here.pair[use]
        first = np.lexsort((query, -np.abs(both[:, 0] - both[:, 1])))
        of = np.broadcast_to([[segment], [metric], [i]], (3, len(first)))
        labels.append(np.vstack([of, query[first]]))
        values.append(both[first].T)
    segments, metrics, pairs, queries = np.concatenate(labels, axis=1)
    value, base = np.concatenate(values, axis=1)
    columns = dict(zip(EACH, map(number, (value, base, _apart(value, base))), strict=True))
    return pairing.answer(segments, metrics, pairs, columns, pairing.query_of(queries))
