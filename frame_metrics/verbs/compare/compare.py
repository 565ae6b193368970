"""The verb compare: differences between systems, query by query, with intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.border.progress import Tick, progress
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, check_apart, listed, shown
from frame_metrics.inputs.rows import Array
from frame_metrics.measuring import elsewhere as values
from frame_metrics.measuring.baseline import is_frame, paired_with, plan_of
from frame_metrics.measuring.pairs import Paired, Pairing, paired_systems
from frame_metrics.measuring.pieces import measured_of
from frame_metrics.measuring.queries import Measured
from frame_metrics.measuring.results import number
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.plan.checks import check_asked
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.roles.columns import Columns
from frame_metrics.stats import significance
from frame_metrics.stats.averages import no_further
from frame_metrics.stats.significance import in_clusters, sureness, times, tukey
from frame_metrics.verbs.compare.arms import arms_compared, check_arms
from frame_metrics.verbs.compare.differences import (
    EACH,
    NUMBERS,
    RESULT,
    SCHEMA,
    OfArms,
    OfQueries,
    Options,
    check_options,
    places,
    tabled,
)

FLEXIBLE = ("randomization", "bootstrap", "tukey")  # tests that can take weights, and clusters as independent
LONG = 1_000_000_000  # flips of queries from which on the work is worth a progress bar


def compare(irm: Plan, metrics: Sequence[Metrics], options: Options, *, per_query: bool) -> Any:
    """Answer ``irm.compare``, which has the parameters."""
    check_options(options)
    plan, asked = _planned(irm, metrics)
    elsewhere = is_frame(options.baseline)
    if not options.paired:
        check_arms(plan, options, per_query=per_query, elsewhere=elsewhere)
    if asked is not None and not plan.columns.query:
        return _of_rows(plan, asked, options, per_query=per_query, elsewhere=elsewhere)
    options = replace(options, test=options.test or "randomization")
    if options.paired:
        _check_system(plan.columns, options, elsewhere=elsewhere)
    _check_no_average(asked or (), "pairs" if options.paired else "takes")
    if not options.paired:
        return arms_compared(plan, asked, options, _progress)
    check_apart(plan.columns.keys, RESULT)
    beside = plan_of(options.baseline, plan, asked) if elsewhere and asked else None

    def compute(source: Source) -> Answer:
        own = _measured(source, asked)
        if elsewhere:
            pairing = paired_with(own, beside or plan_of(options.baseline, plan, own.asked))
        else:
            pairing = paired_systems(own, options.baseline)
        return _each_query(pairing, options) if per_query else _compared(pairing, options)

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        system = plan.columns.system
        keys = (*plan.columns.by, *(plan.columns.query if per_query else ()), *([system] if system else []))
        columns = {name: SCHEMA[name] for name in SCHEMA if not per_query or name in EACH}
        first = {name: types[name] for name in keys} | {"baseline": pl.String if elsewhere else types[str(system)]}
        return first | {"metric": pl.String, "k": pl.Int64} | columns

    return answer_of(plan, compute, schema, in_pieces=not irm.of_values)


def _of_rows(plan: Plan, asked: Asked, options: Options, *, per_query: bool, elsewhere: bool) -> Any:
    """Compare systems where there is no query."""
    if not options.paired:
        from frame_metrics.verbs.compare.arm_rows import arm_rows_compared

        return arm_rows_compared(plan, asked, options)
    from frame_metrics.verbs.compare.rows import rows_compared

    if elsewhere:
        raise NotComputableError("baseline= as a frame is one number per query, and there is no query; name query=")
    return rows_compared(plan, asked, options, per_query=per_query)


def _measured(source: Source, asked: Asked | None) -> Measured:
    """The values of metrics, computed here or elsewhere."""
    if source.plan.of_values:
        return values.measured(source, asked)
    return measured_of(source, asked or ())


def _check_no_average(asked: Asked, verb: str) -> None:
    """Raise for a metric that is an average over queries."""
    for name, metric in asked:
        if metric.average is not None:
            raise NotComputableError(f"{name} is an average, and compare() {verb} the values of queries")


def _planned(irm: Plan, metrics: Sequence[Metrics]) -> tuple[Plan, Asked | None]:
    """The columns to read, and the metrics to compare; None for all those of numbers from elsewhere."""
    if irm.of_values:
        plan = values.plan_of(irm)
        return plan, values.asked_of(metrics, plan.columns)
    asked = read(metrics)
    plan = irm.asking(irm.needs_of(asked))
    if plan.columns.query:
        check_asked(asked, plan)
    return plan, asked


def _check_system(columns: Columns, options: Options, *, elsewhere: bool) -> None:
    """Raise for what systems, or one and a baseline from ``elsewhere``, cannot be compared by."""
    test = options.test
    if options.against is not None:
        raise NotComputableError(
            f"against={options.against!r} tests rows that are counted together, and there is a query; "
            "say query=None to pool them, or compare systems without against="
        )
    if columns.system is None and not elsewhere and _holds_several(options.baseline):
        raise BadValueError(
            f"baseline={shown(options.baseline)} is no frame, nor a system; give what per_query() returned, a frame "
            "with a row per query and metric"
        )
    if columns.system is None and not elsewhere:
        raise ColumnError(
            "compare() pairs systems query by query; name their column with system=, "
            "or give what per_query() returned of another one, as baseline=saved"
        )
    if test not in get_args(OfQueries):
        what, way = ("arms", "paired=False") if test in get_args(OfArms) else ("rows without a query", "query=None")
        raise NotComputableError(
            f"test={test!r} is of {what}; say {way}, or test= as one of {listed(get_args(OfQueries))}"
        )
    if columns.weight is not None and test not in FLEXIBLE:
        raise NotComputableError(
            f"test={test!r} counts every query alike, and {columns.weight} is their weight; "
            f"say test= as one of {listed(FLEXIBLE)}, or weight=None"
        )
    if columns.cluster is not None and test not in FLEXIBLE:
        raise NotComputableError(
            f"test={test!r} takes every query as independent, and {columns.cluster} says which belong together; "
            f"say test= as one of {listed(FLEXIBLE)}, or cluster=None"
        )


def _holds_several(baseline: Any) -> bool:
    """Return True for a mapping, a series or an array, which may be meant as saved numbers."""
    return hasattr(baseline, "__len__") and not isinstance(baseline, str | bytes | list | tuple)


def _compared(pairing: Pairing, options: Options) -> Answer:
    """Return one row per segment, metric and pair of systems."""
    m, segments, pairs = len(pairing.measured.asked), pairing.segments, pairing.pairs
    rows: list[dict[str, Any]] = []
    queries = (m if options.test == "tukey" else 1) * pairing.n_queries
    with _progress(queries * options.permutations, queries) as tick:
        for segment in segments:
            rows += _tested(pairing.laid(segment), pairs, options, tick)
    segment, metric, pair = places(len(rows), m, len(pairs))
    return pairing.answer(segments[segment], metric, pair, tabled(rows, m, len(pairs), options))


def _tested(ones: list[Paired], pairs: list[tuple[int, int]], options: Options, tick: Tick) -> list[dict[str, Any]]:
    """Compare the pairs of systems on every metric in one segment; those with the same queries share what is drawn."""
    rows: list[dict[str, Any]] = []
    groups: dict[bytes, list[tuple[dict[str, Any], Array]]] = {}
    for one in ones:
        alone, left_out, together = one.together(pairs, options.unanswered, options.test)
        for (system, base), unpaired, left, use in zip(pairs, alone, left_out, together, strict=True):
            row = _described(one.values[use, system], one.values[use, base], one.weights(use), one.sign)
            row |= {"test": options.test, "n_unpaired": float(unpaired.sum() + one.beyond)}
            row["n_undefined"] = float((one.undefined[:, [system, base]].any(axis=1) & ~left).sum())
            groups.setdefault(use.tobytes(), []).append((row, one.values[use, system] - one.values[use, base]))
            rows.append(row)
        if options.test == "tukey":
            _tested_together(one, together[0], pairs, options, tick, rows[-len(pairs) :])
    for used, some in groups.items():
        each, use = np.column_stack([difference for _, difference in some]), np.frombuffer(used, bool)
        weight = ones[0].weights(use)
        if not len(each) or (weight is not None and not weight.any()):
            continue
        inferred = _inferred(each, weight, ones[0].clusters(use), alone=ones[0].alone(use), options=options, tick=tick)
        for i, (row, _) in enumerate(some):
            row.update((name, float(values[i])) for name, values in inferred.items())
    return rows


def _described(value: Array, base: Array, weight: Array | None, sign: int) -> dict[str, Any]:
    """Means of two systems on the same queries, their difference, and how often it has the sign of the better one."""
    difference, n = value - base, len(value)
    better = difference * sign
    row: dict[str, Any] = dict.fromkeys((*NUMBERS, "mde"), np.nan)
    row |= {"wins": (better > 0).sum(), "ties": (better == 0).sum(), "losses": (better < 0).sum(), "n": n}
    if not n or (weight is not None and not weight.any()):
        return row
    each = np.stack([value, base, difference])
    row |= zip(EACH, map(float, no_further(np.average(each, axis=1, weights=weight), each.T)), strict=True)
    row["relative"] = row["difference"] / abs(row["baseline_value"]) if row["baseline_value"] else np.nan
    return row


def _inferred(
    differences: Array, weight: Array | None, cluster: Array | None, *, alone: bool, options: Options, tick: Tick
) -> dict[str, Array]:
    """Return intervals and p-values of differences, shape (queries, columns), one of each column."""
    inferred: dict[str, Array] = {}
    if np.count_nonzero(np.ones(len(differences)) if weight is None else weight) > 1:
        inferred |= sureness(differences, weight, cluster, options.ci, options.power, options.resamples, options.seed)
    if alone or options.test == "tukey":
        return inferred
    if options.test == "randomization":
        moved = in_clusters(times(differences, weight), cluster)
        p = significance.randomization(moved, options.permutations, options.seed, tick)
    elif options.test == "bootstrap":
        p = significance.bootstrap(differences, options.resamples, options.seed, cluster, weight)
    else:
        p = significance.classical(differences, str(options.test))
    return inferred | {"p_value": p}


def _tested_together(
    one: Paired, use: Array, pairs: list[tuple[int, int]], options: Options, tick: Tick, rows: list[dict[str, Any]]
) -> None:
    """Test all pairs of systems at once, on the queries that all are compared on."""
    weight = one.weights(use)
    if not use.any() or one.alone(use) or (weight is not None and not weight.any()):
        return
    systems = sorted({system for pair in pairs for system in pair})
    values = in_clusters(times(one.values[use][:, systems], weight), one.clusters(use))
    p = tukey(values, options.permutations, options.seed, tick)
    for row, (system, base) in zip(rows, pairs, strict=True):
        row["p_value"] = float(p[systems.index(system), systems.index(base)])


def _progress(work: int, total: int, unit: str = "query") -> AbstractContextManager[Tick]:
    """Show a bar for so many flips of queries, if they are many."""
    return progress(total, unit, long=work >= LONG)


def _each_query(pairing: Pairing, options: Options) -> Answer:
    """Return one row per segment, metric, pair of systems and query, the greatest differences first."""
    labels: list[Array] = []
    values: list[Array] = []
    for segment in pairing.segments:
        for metric, one in enumerate(pairing.laid(segment)):
            for pair, use in enumerate(one.together(pairing.pairs, options.unanswered, options.test)[2]):
                both = one.values[:, list(pairing.pairs[pair])][use]
                query = one.pair[use]
                first = np.lexsort((query, -np.abs(both[:, 0] - both[:, 1])))
                of = np.broadcast_to([[segment], [metric], [pair]], (3, len(first)))
                labels.append(np.vstack([of, query[first]]))
                values.append(both[first].T)
    segments, metrics, pairs, queries = np.concatenate(labels, axis=1)
    value, base = np.concatenate(values, axis=1)
    columns = dict(zip(EACH, map(number, (value, base, value - base)), strict=True))
    return pairing.answer(segments, metrics, pairs, columns, pairing.query_of(queries))
