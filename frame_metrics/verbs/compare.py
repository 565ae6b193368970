"""Systems compared query by query: paired differences, and whether they are more than chance."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.log import Log
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    NotComputableError,
    check_apart,
    check_choice,
    check_level,
    check_whole,
    closest,
    listed,
)
from frame_metrics.inputs.rows import Array
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import read
from frame_metrics.roles.columns import Columns, key_names
from frame_metrics.roles.needs import Needs
from frame_metrics.stats.averages import numbered
from frame_metrics.stats.significance import (
    Tick,
    adjusted,
    bootstrap,
    classical,
    in_clusters,
    randomization,
    sureness,
    tukey,
)
from frame_metrics.verbs.measure import Measured, check_asked, filled, measure
from frame_metrics.verbs.request import Reading, Request
from frame_metrics.verbs.tidy import number, whole

CLUSTERED = ("randomization", "bootstrap", "tukey")  # tests that can take clusters as independent
LONG = 1_000_000_000  # flips of queries from which on the work is worth a progress bar
FOUND = (
    "value",
    "baseline_value",
    "difference",
    "relative",
    "ci_low",
    "ci_high",
    "p_value",
    "p_adjusted",
    "effect_size",
)
EACH = ("value", "baseline_value", "difference")
COUNTS = ("wins", "ties", "losses", "n", "n_unpaired", "n_undefined")
SCHEMA: dict[str, Any] = dict.fromkeys(FOUND, pl.Float64) | dict.fromkeys(COUNTS, pl.Int64)
SCHEMA |= {"mde": pl.Float64, "test": pl.String, "correction": pl.String}


@dataclass(frozen=True, eq=False)
class Options:
    """How systems are compared; see the verb."""

    baseline: Any
    test: str
    correction: str
    over: str
    unanswered: str
    ci: float
    permutations: int
    resamples: int
    seed: int
    power: float = 0.8


Test = Literal["randomization", "t", "wilcoxon", "sign", "bootstrap", "tukey"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
Over = Literal["metric", "all"]
Unanswered = Literal["zero", "drop"]
CHOICES = {"test": Test, "correction": Correction, "over": Over, "unanswered": Unanswered}


def compare(request: Request, metrics: Sequence[str | Metric], options: Options, *, per_query: bool) -> Any:
    """Answer ``irm.compare``, which has the parameters."""
    for name, choices in CHOICES.items():
        check_choice(name, getattr(options, name), get_args(choices))
    check_level(options.ci)
    check_whole("permutations", options.permutations, 1)
    check_whole("resamples", options.resamples, 1)
    check_whole("seed", options.seed, 0)
    if options.test == "tukey" and options.baseline is not None:
        raise NotComputableError("test='tukey' tests all pairs together; say baseline=None")
    asked = read(metrics)
    plan = request.plan(request.needs(asked) | Needs(query=True))
    check_asked(asked, plan)
    system = check_system(plan.columns, options.test)
    for name, metric in asked:
        if metric.average is not None:
            raise NotComputableError(f"{name} is an average, and compare() pairs the values of queries")
    check_apart(plan.columns.keys, ("baseline", "metric", "k", *SCHEMA))

    def compute(rows: Reading) -> Answer:
        found = measure(rows.log(), asked)
        return each(found, options) if per_query else compared(found, options)

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        keys = (*plan.columns.by, *(plan.columns.query if per_query else ()), system)
        columns = {name: SCHEMA[name] for name in SCHEMA if not per_query or name in EACH}
        found = {name: types[name] for name in keys} | {"baseline": types[system]}
        return found | {"metric": pl.String, "k": pl.Int64} | columns

    return plan.answer(compute, schema)


@dataclass(frozen=True, eq=False)
class Paired:
    """The values of one metric on the queries of one segment.

    Parameters
    ----------
    pairs : the numbers of its queries, shape (queries,).
    values : NaN where undefined, shape (queries, systems).
    answered : whether the system has results, shape (queries, systems).
    undefined : whether the metric was a/0, shape (queries, systems).
    cluster : of each query; None where queries are independent.
    """

    pairs: Array
    values: Array
    answered: Array
    undefined: Array
    cluster: Array | None

    def alone(self, use: Array) -> bool:
        """Whether some queries are of fewer than two clusters, which leaves nothing to draw."""
        return self.cluster is not None and len(np.unique(self.cluster[use])) < 2

    def clusters(self, use: Array) -> Array | None:
        """Number the clusters of some queries; None where each has its own."""
        return None if self.cluster is None else numbered(self.cluster[use])


def check_system(columns: Columns, test: str) -> str:
    """Return the column of systems, or raise for what they cannot be compared by."""
    if columns.system is None:
        raise ColumnError("compare() pairs systems query by query; name their column with system=")
    if columns.weight is not None:
        raise ColumnError("compare() counts every query alike; say weight=None")
    if columns.cluster is not None and test not in CLUSTERED:
        raise NotComputableError(
            f"test={test!r} takes every query as independent, and {columns.cluster} says which belong together; "
            f"say test= as one of {listed(CLUSTERED)}, or cluster=None"
        )
    return columns.system


def compared(measured: Measured, options: Options) -> Answer:
    """Return one row per segment, metric and pair of systems."""
    log = measured.log
    order, segments = _in_order(log)
    pairs = _pairs(log, order, options.baseline)
    rows: list[dict[str, float]] = []
    families: list[tuple[int, ...]] = []
    queries = (len(measured.asked) if options.test == "tukey" else 1) * (int(log.grid.pair.max(initial=-1)) + 1)
    with _progress(queries * options.permutations, queries) as tick:
        for segment in segments:
            ones = _paired(measured, segment)
            rows += _tested(ones, pairs, options, tick)
            for i in range(len(ones)):
                families += [(segment, i) if options.over == "metric" else (0, 0)] * len(pairs)
    p = np.array([row["p_value"] for row in rows])
    corrected = np.full(len(p), np.nan)
    for family in dict.fromkeys(families):
        at = np.array([f == family for f in families])
        corrected[at] = p[at] if options.test == "tukey" else adjusted(p[at], options.correction)
    for row, value in zip(rows, corrected, strict=True):
        row["p_adjusted"] = float(value)
    segment = np.repeat(segments, len(measured.asked) * len(pairs))
    metric = np.tile(np.repeat(np.arange(len(measured.asked)), len(pairs)), len(segments))
    pair = np.tile(np.arange(len(pairs)), len(segments) * len(measured.asked))
    columns = {name: number(np.array([row[name] for row in rows])) for name in (*FOUND, "mde")}
    columns |= {name: whole(np.array([row[name] for row in rows])) for name in COUNTS}
    said = {"test": options.test, "correction": "tukey" if options.test == "tukey" else options.correction}
    columns |= {name: pl.Series([text], dtype=pl.String).new_from_index(0, len(rows)) for name, text in said.items()}
    return _answer(measured, pairs, segment, metric, pair, {name: columns[name] for name in SCHEMA})


def _in_order(log: Log) -> tuple[Array, Array]:
    """The numbers of the systems, and of the segments, sorted by their values, nulls last."""
    found = []
    for keys, rows in zip(key_names(log.columns)[:2], (log.grid.system_row, log.grid.segment_row), strict=True):
        if not keys:
            found.append(np.zeros(1, np.int64))
            continue
        values = log.keys_at(keys, rows).with_row_index("at")
        found.append(values.sort(keys, nulls_last=True, maintain_order=True)["at"].to_numpy().astype(np.int64))
    return found[0], found[1]


def _pairs(log: Log, order: Array, baseline: Any) -> list[tuple[int, int]]:
    """Each system and what it is compared with: the baseline, or every system before it."""
    names = log.keys_at(["system"], log.grid.system_row).to_series().to_list()
    column = log.columns.system
    if len(names) < 2:
        there = f"one system, {listed(names)}" if names else "no systems"
        raise NotComputableError(f"{column} has {there}; two are needed to compare")
    if baseline is None:
        return [(int(one), int(other)) for i, one in enumerate(order) for other in order[:i]]
    if baseline not in names:
        raise BadValueError(
            f"baseline={baseline!r} is not among the systems of {column}: {listed(names[:5])}{closest(baseline, names)}"
        )
    base = names.index(baseline)
    return [(int(one), base) for one in order if one != base]


def _paired(measured: Measured, segment: int) -> list[Paired]:
    """Lay out the values of each metric by query and system."""
    grid = measured.log.grid
    here = np.flatnonzero(grid.segment == segment)
    pairs, place = np.unique(grid.pair[here], return_inverse=True)

    def laid(values: Array, fill: Any) -> Array:
        cells = np.full((len(pairs), len(grid.system_row)), fill)
        cells[place, grid.system[here]] = values[here]
        return cells

    some = laid(measured.evaluated, False).all(axis=1)
    answered = laid(_retrieved(measured.log) > 0, False)[some]
    cluster = None
    if measured.cluster is not None:
        cluster = np.zeros(len(pairs))
        cluster[place] = measured.cluster[here]
        cluster = cluster[some]
    found = []
    for i, raw in enumerate(measured.values):
        values, undefined = laid(filled(measured, i), np.nan)[some], laid(np.isnan(raw), False)[some]
        found.append(Paired(pairs[some], values, answered, undefined, cluster))
    return found


def _retrieved(log: Log) -> Array:
    """How many results each ranking has."""
    rankings = log.grid.rankings
    place = rankings.values.get("rank", rankings.values.get("score"))
    return rankings.lengths if place is None else rankings.count(~np.isnan(place))


def _tested(ones: list[Paired], pairs: list[tuple[int, int]], options: Options, tick: Tick) -> list[dict[str, float]]:
    """Compare the pairs of systems on every metric in one segment; those with the same queries share what is drawn."""
    rows: list[dict[str, float]] = []
    differences: list[Array] = []
    used: list[Array] = []
    groups: dict[bytes, list[int]] = {}
    for one in ones:
        alone, together = _together(one, pairs, options)
        for (system, base), unpaired, use in zip(pairs, alone, together, strict=True):
            row = _described(one.values[use, system], one.values[use, base])
            row["n_unpaired"] = float(unpaired.sum())
            row["n_undefined"] = float(one.undefined[:, [system, base]].any(axis=1).sum())
            groups.setdefault(use.tobytes(), []).append(len(rows))
            rows.append(row)
            used.append(use)
            differences.append(one.values[use, system] - one.values[use, base])
        if options.test == "tukey":
            _tested_together(one, together[0], pairs, options, tick, rows[-len(pairs) :])
    for some in groups.values():
        each, use = np.column_stack([differences[at] for at in some]), used[some[0]]
        if not len(each):
            continue
        found = _found(each, ones[0].clusters(use), alone=ones[0].alone(use), options=options, tick=tick)
        for i, at in enumerate(some):
            rows[at] |= {name: float(values[i]) for name, values in found.items()}
    return rows


def _together(one: Paired, pairs: list[tuple[int, int]], options: Options) -> tuple[list[Array], list[Array]]:
    """Of each pair: the queries that only one of them answered, and those that are compared."""
    alone: list[Array] = [one.answered[:, system] != one.answered[:, base] for system, base in pairs]
    together: list[Array] = []
    for (system, base), unpaired in zip(pairs, alone, strict=True):
        known: Array = ~np.isnan(one.values[:, system] - one.values[:, base])
        together.append(known & ~unpaired if options.unanswered == "drop" else known)
    if options.test == "tukey":  # which looks at all systems of a query at once
        together = [np.all(together, axis=0)] * len(pairs)
    return alone, together


def _described(value: Array, base: Array) -> dict[str, float]:
    """What two systems have, and by how much they differ."""
    difference, n = value - base, len(value)
    row = dict.fromkeys((*FOUND, "mde"), np.nan)
    row |= {"wins": (difference > 0).sum(), "ties": (difference == 0).sum(), "losses": (difference < 0).sum(), "n": n}
    if not n:
        return row
    mean = difference.mean()
    row |= {"value": value.mean(), "baseline_value": base.mean(), "difference": mean}
    row["relative"] = mean / abs(base.mean()) if base.mean() else np.nan
    return row


def _found(differences: Array, cluster: Array | None, *, alone: bool, options: Options, tick: Tick) -> dict[str, Array]:
    """Return intervals and p-values of differences, shape (queries, columns), one of each column."""
    found: dict[str, Array] = {}
    if len(differences) > 1:
        found |= sureness(differences, cluster, options.ci, options.power, options.resamples, options.seed)
    if alone or options.test == "tukey":
        return found
    if options.test == "randomization":
        p = randomization(in_clusters(differences, cluster), options.permutations, options.seed, tick)
    elif options.test == "bootstrap":
        p = bootstrap(differences, options.resamples, options.seed, cluster)
    else:
        p = classical(differences, options.test)
    return found | {"p_value": p}


def _tested_together(
    one: Paired, use: Array, pairs: list[tuple[int, int]], options: Options, tick: Tick, rows: list[dict[str, float]]
) -> None:
    """Test all pairs of systems at once, on the queries that all are compared on."""
    if not use.any() or one.alone(use):
        return
    systems = sorted({system for pair in pairs for system in pair})
    p = tukey(in_clusters(one.values[use][:, systems], one.clusters(use)), options.permutations, options.seed, tick)
    for row, (system, base) in zip(rows, pairs, strict=True):
        row["p_value"] = float(p[systems.index(system), systems.index(base)])


@contextmanager
def _progress(work: int, queries: int) -> Iterator[Tick]:
    """A bar for long work on a terminal, if tqdm is there."""
    if work < LONG or not sys.stderr.isatty():
        yield lambda done: None
        return
    try:
        from tqdm import tqdm  # type: ignore[import-untyped]
    except ImportError:
        yield lambda done: None
        return
    with tqdm(total=queries, unit="query") as bar:
        yield lambda done: bar.update(done) and None


def _answer(
    measured: Measured,
    pairs: list[tuple[int, int]],
    segment: Array,
    metric: Array,
    pair: Array,
    columns: dict[str, Any],
) -> Answer:
    """Rows with the keys of their segment and systems."""
    log = measured.log
    system, base = np.array(pairs).T
    keys = dict.fromkeys(log.columns.by, log.rows(log.grid.segment_row[segment]))
    keys[str(log.columns.system)] = log.rows(log.grid.system_row[system[pair]])
    keys["baseline"] = log.rows(log.grid.system_row[base[pair]])
    names = pl.Series([name for name, _ in measured.asked], dtype=pl.String)
    ks = pl.Series([one.k for _, one in measured.asked], dtype=pl.Int64)
    found = {"metric": names.gather(metric), "k": ks.gather(metric), **columns}
    return Answer(keys, found, {"baseline": str(log.columns.system)})


def each(measured: Measured, options: Options) -> Answer:
    """Return one row per segment, metric, pair of systems and query, the greatest differences first."""
    log = measured.log
    order, segments = _in_order(log)
    pairs = _pairs(log, order, options.baseline)
    found: list[Array] = []
    for segment in segments:
        for i, one in enumerate(_paired(measured, segment)):
            together = _together(one, pairs, options)[1]
            for at, (system, base) in enumerate(pairs):
                value, other = one.values[:, system], one.values[:, base]
                use = together[at]
                value, other, query = value[use], other[use], one.pairs[use]
                first = np.argsort(-np.abs(value - other), kind="stable")
                n = len(first)
                labels = (np.full(n, segment), np.full(n, i), np.full(n, at), query[first])
                found.append(np.stack([*labels, value[first], other[first]]))
    segment, metric, pair, query = (column.astype(np.int64) for column in np.concatenate(found, axis=1)[:4])
    value, other = np.concatenate(found, axis=1)[4:]
    columns = dict(zip(EACH, map(number, (value, other, value - other)), strict=True))
    answer = _answer(measured, pairs, segment, metric, pair, columns)
    row_of = np.zeros(int(log.grid.pair.max(initial=-1)) + 1, np.int64)
    row_of[log.grid.pair] = log.grid.query_row[log.grid.query]
    rows = log.rows(row_of[query])
    keys = {name: answer.keys[name] for name in log.columns.by} | dict.fromkeys(log.columns.query, rows)
    return Answer(keys | answer.keys, answer.columns, answer.aliases)
