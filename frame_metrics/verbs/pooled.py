"""Measures of pooled rows: of two classes, of each of several, and on average over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.segments import Segments, class_scores, drawn_counts, margins_of, scored, segments, tables
from frame_metrics.errors import ColumnError, NotComputableError
from frame_metrics.inputs import Array, Classes, ClassScores, Confusion, Scores
from frame_metrics.inputs.rows import NONE
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.columns import refuse
from frame_metrics.roles.conventions import Conventions
from frame_metrics.verbs.measure import COUNTED, check_parameters, check_probabilities, check_probability
from frame_metrics.verbs.tidy import Laid, laid

CLOSE = 1e-6  # probabilities may be rounded so far
OVER_CLASSES = ("macro", "weighted", "micro", "predicted")


@dataclass(frozen=True, eq=False)
class Source:
    """What the metrics of some segments are computed from.

    Parameters
    ----------
    of : the segments.
    table : true and predicted classes; None where nothing is predicted.
    by_class : the scores of several classes; None where there are none.
    of_scores : metrics of the scores of two classes that are known already.
    of_class : the tables of each class against the rest that are known already.
    """

    cases: Cases
    of: Segments
    table: Classes | None
    by_class: ClassScores | None
    of_scores: dict[Metric, Array] = field(default_factory=dict)
    of_class: dict[int, Confusion] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Found:
    """A metric's values: of each segment, or of each segment and class.

    Parameters
    ----------
    value : NaN where null.
    undefined : how often the metric was a/0.
    average : what the result's column says.
    """

    value: Array
    undefined: Array
    average: str


def check_pooled(asked: Asked, average: str, *, ci: bool = False) -> None:
    """Raise for a metric or an average that rows without a query do not have; nothing is read."""
    if average == "gmean":
        raise NotComputableError("average='gmean' is over queries; name query=")
    for name, metric in asked:
        check_parameters(name, metric)
        if metric.average is not None:
            raise NotComputableError(f"{name} is averaged geometrically over queries; name query=")
        if "judged_only" in metric.params or "rel" in metric.params:
            raise NotComputableError(
                f"{name}: rel= and judged_only= are for queries; say rel= or unjudged= of all rows"
            )
        if ci and metric.input is Scores:
            raise NotComputableError(f"{name}: ci= resamples queries, or decided rows; name query=, or say ci=None")


def check_cases(asked: Asked, cases: Cases, average: str, *, ci: bool = False) -> None:
    """Raise for a metric that two classes, or several, do not have."""
    if ci and cases.conventions.match is not None and cases.weighted:
        raise NotComputableError("ci= with match= resamples rows, and they have weights; say weight=None or ci=None")
    if ci and cases.conventions.match is not None and cases.columns.cluster:
        raise NotComputableError("ci= with match= resamples rows, and they have a cluster; say cluster=None or ci=None")
    if cases.binary:
        if average not in ("macro", "micro"):
            raise NotComputableError(
                f"average={average!r} is over several classes, and rows are pooled here; say classes= to average both"
            )
        if cases.columns.score:
            check_probabilities(asked, cases.rows, cases.columns)
        return
    if cases.conventions.documents is not None:
        raise NotComputableError("collection_size= is for two classes: documents that are listed nowhere have no class")
    for name, metric in asked:
        own = metric.of_classes
        of_scores = metric.input is Scores or (own is not None and own.input is ClassScores)
        if of_scores and not cases.columns.class_scores:
            raise ColumnError(
                f"{name}: there are {cases.k} classes; name the score of each, score={{class: column}}, "
                "or the relevant one with positive="
            )
        if of_scores and own is None and average in ("micro", "predicted"):
            raise NotComputableError(f"{name} has no {average} average over classes: macro and weighted it has")
        if own is not None and not set(metric.params) <= set(own.options):
            wrong = next(one for one in metric.params if one not in own.options)
            raise NotComputableError(f"{name}: of several classes it takes no {wrong}=")
        if "probability" in metric.reads:
            _check_probabilities(name, cases)


def _check_probabilities(name: str, cases: Cases) -> None:
    """Raise where the scores of the classes are not their probabilities."""
    columns = dict(cases.columns.class_scores)
    order = [] if cases.classes is None else cases.classes.to_list()
    for i, value in enumerate(order):
        check_probability(name, cases.rows[f"score:{i}"], columns[value])
    total = cases.rows.select(pl.sum_horizontal(f"score:{i}" for i in range(len(order)))).to_series()
    refuse(", ".join(columns.values()), (total - 1).abs() > CLOSE, "do not add up to 1", f"{name} needs probabilities")


def source_of(cases: Cases, keys: list[str]) -> Source:
    """Count and sort the rows of the segments that some keys make."""
    of = segments(cases, keys)
    table, by_class = None, None
    seen = np.ones((len(of), cases.k), bool)
    if "predicted" in cases.rows.columns:
        table = tables(cases, of)
    if cases.columns.class_scores:
        by_class = class_scores(cases, of, seen)
        by_class.seen = seen if cases.conventions.classes is not None else by_class.there
    return Source(cases, of, table, by_class)


def two_by_two(source: Source, c: int) -> Confusion:
    """Return the table of one class against the rest, in the collection if its size is given."""
    if c not in source.of_class:
        found = _table(source).rest(c)
        if source.cases.conventions.documents is not None:
            size = np.full(len(found.tp), source.cases.conventions.documents)
            found = Confusion(found.tp, found.fp, found.fn, found.empty, size, found.silent)
        source.of_class[c] = found
    return source.of_class[c]


def each_class(source: Source, metric: Metric) -> Array:
    """Return a metric of each class against the rest, NaN where undefined, shape (K, segments)."""
    k = source.cases.k
    if not k:
        return np.zeros((0, len(source.of)))
    if metric.input is Scores:
        if source.by_class is None:
            raise NotComputableError("there are no scores of classes")
        return np.stack([metric.compute(source.by_class.rest(c)) for c in range(k)])
    return np.stack([metric.compute(two_by_two(source, c)) for c in range(k)])


def _table(source: Source) -> Classes:
    if source.table is None:
        raise ColumnError("nothing says what is predicted; name predicted=, or say threshold=")
    return source.table


def filled(name: str, metric: Metric, raw: Array, there: Array, conventions: Conventions) -> Array:
    """Return values with the undefined ones replaced, NaN where they stay null."""
    undefined = np.isnan(raw) & there
    if conventions.undefined == "raise" and undefined.any():
        raise NotComputableError(f"{name} is undefined for {int(undefined.sum())} of {int(there.sum())} segments")
    fill = conventions.fill(metric)
    return raw if fill is None else np.where(undefined, fill, raw)


def one_metric(source: Source, name: str, metric: Metric, average: str) -> Found:
    """Return a metric of every segment."""
    there = source.of.n > 0
    own = metric.of_classes
    if source.cases.binary or own is not None:
        raw = _whole(source, metric if source.cases.binary or own is None else own)
        raw = np.where(there, raw, np.nan)
        value = filled(name, metric, raw, there, source.cases.conventions)
        return Found(value, (np.isnan(raw) & there).astype(np.int64), "sum" if metric.summed else "pooled")
    return _over_classes(source, name, metric, average)


def _whole(source: Source, metric: Metric) -> Array:
    """A metric of the whole table, or of the scores."""
    if metric.input is Classes:
        return metric.compute(_table(source))
    if metric.input is Confusion:
        return metric.compute(two_by_two(source, 1))
    if metric.input is ClassScores and source.by_class is not None:
        return metric.compute(source.by_class)
    if metric not in source.of_scores:
        sort_scores(source, [metric])
    return source.of_scores[metric]


def sort_scores(source: Source, wanted: Sequence[Metric]) -> None:
    """Compute metrics of the scores of two classes, all in one pass."""
    found = {metric: np.full(len(source.of), np.nan) for metric in wanted if metric.input is Scores}

    def work(at: Array, scores: Scores) -> None:
        for metric, values in found.items():
            values[at] = metric.compute(scores)

    if found:
        scored(source.cases, source.of, work)
        source.of_scores.update(found)


def _over_classes(source: Source, name: str, metric: Metric, average: str) -> Found:
    """The average over classes of a metric of each against the rest."""
    of_scores = metric.input is Scores
    seen = (source.by_class if of_scores and source.by_class is not None else _table(source)).seen.T
    raw = each_class(source, metric)
    values = np.where(seen, filled(name, metric, raw, seen, source.cases.conventions), np.nan)
    undefined = (np.isnan(raw) & seen).sum(axis=0)
    known = ~np.isnan(values)
    values = np.where(known, values, 0)
    if metric.summed:
        return Found(values.sum(axis=0), undefined, "sum")
    if average == "micro":
        return Found(_micro(source, name, metric), undefined, "micro")
    weight = seen.astype(np.float64)
    if average == "weighted":
        weight = (source.by_class.support if of_scores and source.by_class is not None else _table(source).actual).T
    elif average == "predicted":
        weight = _table(source).predicted.T
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (values * weight * known).sum(axis=0) / (weight * known).sum(axis=0)
    return Found(mean, undefined, average)


def _micro(source: Source, name: str, metric: Metric) -> Array:
    """A metric of the tables of the classes that take part, summed."""
    table = _table(source)
    sums = np.zeros((COUNTED, table.n))
    for c in range(table.k):
        counts = np.array(two_by_two(source, c).counts)
        sums += np.where(table.seen[:, c], counts, 0)
    raw = metric.compute(Confusion.of_counts(sums))
    return filled(name, metric, raw, source.of.n > 0, source.cases.conventions)


def evaluated(
    cases: Cases,
    asked: Asked,
    average: str,
    *,
    margins: bool,
    ci: float | None,
    resamples: int,
    seed: int,
    layout: str,
) -> Answer:
    """Return one row per segment and metric, or one per segment with a column per metric."""
    check_cases(asked, cases, average, ci=ci is not None)
    system, by = cases.keys
    levels = [by, *margins_of(by)] if margins else [by]
    sources = [source_of(cases, [*system, *keys]) for keys in levels]
    for source in sources:
        if cases.binary:
            sort_scores(source, [metric for _, metric in asked])
    found = [[one_metric(source, name, metric, average) for name, metric in asked] for source in sources]
    for source, row in zip(sources, found, strict=True):
        for one in row:
            one.value[source.of.n == 0] = np.nan
    value = np.concatenate([[one.value for one in row] for row in found], axis=1)
    undefined = np.concatenate([[one.undefined for one in row] for row in found], axis=1)
    n = np.concatenate([source.of.n for source in sources])
    ends = None
    if ci is not None:
        columns = [_ends(source, asked, average, ci, resamples, seed) for source in sources]
        ends = np.concatenate(columns, axis=2)
    keys, order, total = key_rows(cases, sources)
    tables = [value, np.tile(n, (len(asked), 1)), undefined, *([] if ends is None else ends)]
    averages = [one.average for one in found[0]]
    said = next((a for a in (*OVER_CLASSES, "pooled") if a in averages), "sum")
    groups = Laid(keys, total[order] if margins else None, [t[:, order] for t in tables], averages, said)
    return laid(asked, groups, layout)


def key_rows(cases: Cases, sources: list[Source]) -> tuple[dict[str, Array], Array, Array]:
    """Return the key rows of all segments and margins, their order (by system, margins last), which are margins."""
    system, by = cases.keys
    names = dict(zip([*system, *by], [*([cases.columns.system] if system else []), *cases.columns.by], strict=True))
    tables = [
        source.of.table.with_columns(
            pl.lit(level).alias("level"),
            pl.int_range(pl.len()).alias("at"),
            *(pl.lit(None).alias(key) for key in by if key not in source.of.keys),
        )
        for level, source in enumerate(sources)
    ]
    columns = [*system, "level", "at"]
    all_rows = pl.concat([t.select(columns) for t in tables]).with_row_index("row")
    order = all_rows.sort(columns, nulls_last=True, maintain_order=True)["row"].to_numpy()
    rows = {}
    for key, name in names.items():
        own = [
            source.of.table[f"row:{key}"].to_numpy() if key in source.of.keys else np.full(len(source.of), NONE)
            for source in sources
        ]
        rows[str(name)] = np.concatenate(own)[order]
    return rows, order, all_rows["level"].to_numpy() > 0


def _ends(source: Source, asked: Asked, average: str, level: float, resamples: int, seed: int) -> Array:
    """Percentile intervals over resampled rows, or clusters; NaN for fewer than two; shape (2, metrics, segments)."""
    out = np.full((2, len(asked), len(source.of)), np.nan)
    table, n, conventions = _table(source), source.of.n, source.cases.conventions
    if conventions.undefined == "raise":
        conventions = replace(conventions, undefined="null")
    cases = replace(source.cases, conventions=conventions)
    for g, counts in drawn_counts(source.cases, source.of, table, resamples, seed):
        drawn = Classes(counts, np.repeat(table.seen[g][None], resamples, axis=0))
        of = Segments([], pl.DataFrame({"n": np.repeat(n[g], resamples)}))
        here = Source(cases, of, drawn, None)
        for i, (name, metric) in enumerate(asked):
            values = one_metric(here, name, metric, average).value
            values = values[~np.isnan(values)]
            if len(values):
                out[:, i, g] = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return out
