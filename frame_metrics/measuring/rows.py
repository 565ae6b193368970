"""Measures of pooled rows: of two classes, of each of several, and averaged over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.drawn import Draws
from frame_metrics.data.groups import Segments, groups_of
from frame_metrics.data.segments import class_scores, scored, tables
from frame_metrics.errors import ColumnError, NotComputableError, listed
from frame_metrics.inputs import Array, Classes, ClassScores, Confusion, Scores
from frame_metrics.measuring.queries import COUNTED, check_probabilities, check_probability
from frame_metrics.measuring.results import Averaged, Options, Wide, tidied
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.checks import check_parameters
from frame_metrics.plan.plan import Plan
from frame_metrics.roles.series import refuse
from frame_metrics.stats.averages import Averages, no_further
from frame_metrics.stats.delong import area_variance, around

Wanted: TypeAlias = tuple[str, Metric, str]  # a name, its metric, and an average that it has
OverClasses = Literal["macro", "weighted", "micro", "predicted"]
CLOSE = 1e-6  # probabilities may be rounded so far
BOOTSTRAP = "say method='bootstrap'"


@dataclass(frozen=True, eq=False)
class Inputs:
    """Tables and scores that the metrics of some segments are computed from."""

    cases: Cases
    segments: Segments
    table: Classes | None  # true and predicted classes; None where nothing is predicted
    by_class: ClassScores | None  # the scores of several classes; None where there are none
    of_scores: dict[Metric | None, Array] = field(default_factory=dict)  # of two classes; None: how their area varies
    of_class: dict[int, Confusion] = field(default_factory=dict)  # each class against the rest, known already


@dataclass(frozen=True, eq=False)
class Values:
    """A metric's values."""

    value: Array  # NaN where null, shape (segments,)
    undefined: Array  # how often the metric was undefined, shape (segments,)
    average: str  # as the result names it


def average_of(metric: Metric, average: str | None, *, binary: bool) -> str:
    """Return the average that a metric of pooled rows has: over classes, unless it is of the whole table.

    Parameters
    ----------
    average : the one that is asked for; None for the mean over classes.
    binary : whether there are two classes, one of which is the relevant one.
    """
    if metric.summed and average in (None, "micro", "sum"):
        return "sum"
    return "pooled" if binary or metric.of_classes is not None else average or "macro"


def averages_of(asked: Asked, averages: Averages, *, binary: bool) -> tuple[list[int], list[Wanted]]:
    """Return each metric with each average that it has, and its place among those asked for."""
    of, wanted = [], []
    for i, (name, metric) in enumerate(asked):
        for said in dict.fromkeys(average_of(metric, average, binary=binary) for average in averages):
            of.append(i)
            wanted.append((name, metric, said))
    return of, wanted


def one_average(asked: Asked, average: str | None, plan: Plan) -> bool:
    """Return True where all metrics have the same average, however many classes the data turn out to have."""
    columns, conventions = plan.columns, plan.conventions
    several = conventions.classes is not None or columns.class_scores or conventions.match is not None
    two = conventions.positive is not None or conventions.threshold is not None or columns.label is None
    two = two or conventions.documents is not None or any(metric.input is Scores for _, metric in asked)
    several = several or average is not None
    kinds = [False] if several else [True] if two else [True, False]
    return all(len({average_of(metric, average, binary=binary) for _, metric in asked}) == 1 for binary in kinds)


def check_pooled(asked: Asked, averages: Averages = (None,)) -> None:
    """Raise for a metric or an average that rows without a query do not have; nothing is read."""
    for average in averages:
        if average not in (None, *get_args(OverClasses)):
            raise NotComputableError(f"average={average!r} is over queries; name query=")
    for name, metric in asked:
        check_parameters(name, metric)
        if metric.average is not None:
            raise NotComputableError(f"{name} is an average over queries; name query=")
        if "judged_only" in metric.params or "rel" in metric.params:
            raise NotComputableError(
                f"{name}: rel= and judged_only= are for queries; say rel= or unjudged= of all rows"
            )


def check_delong(asked: Asked, plan: Plan, method: str | None) -> None:
    """Raise where DeLong's interval is asked for, and there is none; nothing is read."""
    if method != "delong":
        return
    for name, metric in asked:
        if metric.of_area is None:
            raise NotComputableError(f"{name} has no interval by DeLong, which is of roc_auc and gini; {BOOTSTRAP}")
    for role in ("weight", "cluster"):
        if column := getattr(plan.columns, role):
            raise NotComputableError(
                f"{column} is the {role} of rows, and method='delong' is for independent rows that count one each; "
                f"say {role}=None, or {BOOTSTRAP.removeprefix('say ')}"
            )


def check_cases(asked: Asked, cases: Cases, averages: Averages = (None,), options: Options | None = None) -> None:
    """Raise for a metric that two classes, or several, do not have; with no average it is of each against the rest."""
    if cases.binary:
        if named := [average for average in averages if average is not None]:
            raise NotComputableError(
                f"average={named[0]!r} is over several classes, and the rows of two are pooled here; "
                "say average=None, or classes= to average both"
            )
        if cases.columns.score:
            check_probabilities(asked, cases.rows, cases.columns)
        return
    if cases.conventions.documents is not None:
        raise NotComputableError("collection_size= is for two classes: documents that are listed nowhere have no class")
    if options is not None and options.method == "delong":
        raise NotComputableError(f"there are {cases.k} classes, and method='delong' is for two; {BOOTSTRAP}")
    for name, metric in asked:
        _check_of_classes(name, metric, cases, averages)


def _check_of_classes(name: str, metric: Metric, cases: Cases, averages: Averages) -> None:
    """Raise for a metric that several classes do not have."""
    own = metric.of_classes
    of_scores = metric.input is Scores or (own is not None and own.input is ClassScores)
    if of_scores and not cases.columns.class_scores:
        raise ColumnError(
            f"{name}: there are {cases.k} classes; name the score of each, score={{class: column}}, "
            "or the relevant one with positive="
        )
    lacks = [average for average in averages if average in ("micro", "predicted")]
    if of_scores and own is None and lacks:
        raise NotComputableError(f"{name} has no {lacks[0]} average over classes: macro and weighted it has")
    if wrong := [one for one in metric.params if own is not None and one not in own.options]:
        raise NotComputableError(f"{name}: of several classes it takes no {wrong[0]}=")
    if averages and metric.params.get("weights") and cases.alphabetic:
        raise _without_order(name, cases)
    if "probability" in metric.reads:
        _check_probabilities(name, cases)


def _without_order(name: str, cases: Cases) -> NotComputableError:
    """The error for mistakes weighed by the order of classes that are text, and so in alphabetical order."""
    known = [] if cases.classes is None else cases.classes.to_list()
    return NotComputableError(
        f"{name} weighs a mistake by how far apart two classes are, and texts of {cases.columns.label} have no order; "
        f"list {listed(known[:5])}{', ...' * (len(known) > 5)} from one end to the other with classes=, or make both "
        "columns ordered categories (pandas) or one Enum (polars)"
    )


def _check_probabilities(name: str, cases: Cases) -> None:
    """Raise where the scores of the classes are not their probabilities."""
    columns = dict(cases.columns.class_scores)
    order = [] if cases.classes is None else cases.classes.to_list()
    for i, value in enumerate(order):
        check_probability(name, cases.rows[f"score:{i}"], columns[value])
    total = cases.rows.select(pl.sum_horizontal(f"score:{i}" for i in range(len(order)))).to_series()
    refuse(", ".join(columns.values()), (total - 1).abs() > CLOSE, "do not add up to 1", f"{name} needs probabilities")


def inputs_of(cases: Cases, segments: Segments) -> Inputs:
    """Count and sort the rows of some segments."""
    table = tables(cases, segments) if "predicted" in cases.rows.columns else None
    if not cases.columns.class_scores:
        return Inputs(cases, segments, table, None)
    seen = np.ones((len(segments), cases.k), bool)
    by_class = class_scores(cases, segments, seen)
    by_class.seen = seen if cases.conventions.classes is not None else by_class.there
    return Inputs(cases, segments, table, by_class)


def two_by_two(inputs: Inputs, c: int) -> Confusion:
    """Return the table of one class against the rest, in the collection if its size is given."""
    if c not in inputs.of_class:
        rest, documents = _table(inputs).rest(c), inputs.cases.conventions.documents
        if documents is not None:
            size = np.full(len(rest.tp), documents)
            rest = Confusion(rest.tp, rest.fp, rest.fn, rest.empty, size, rest.undecided)
        inputs.of_class[c] = rest
    return inputs.of_class[c]


def each_class(inputs: Inputs, metric: Metric) -> Array:
    """Return a metric of each class against the rest, NaN where undefined, shape (K, segments)."""
    k = inputs.cases.k
    if not k:
        return np.zeros((0, len(inputs.segments)))
    if metric.input is Scores:
        if inputs.by_class is None:
            raise NotComputableError("there are no scores of classes")
        return np.stack([metric.compute(inputs.by_class.rest(c)) for c in range(k)])
    return np.stack([metric.compute(two_by_two(inputs, c)) for c in range(k)])


def _table(inputs: Inputs) -> Classes:
    if inputs.table is None:
        raise ColumnError("nothing says what is predicted; name predicted=, or say threshold=")
    return inputs.table


def one_metric(inputs: Inputs, name: str, metric: Metric, average: str | None) -> Values:
    """Return a metric of every segment."""
    there, own = inputs.segments.n > 0, metric if inputs.cases.binary else metric.of_classes
    said = average_of(metric, average, binary=inputs.cases.binary)
    if own is None:
        return _over_classes(inputs, name, metric, said)
    raw = np.where(there, _whole(inputs, own), np.nan)
    value = inputs.cases.conventions.filled(name, metric, raw, there)
    return Values(value, (np.isnan(raw) & there).astype(np.int64), said)


def _whole(inputs: Inputs, metric: Metric) -> Array:
    """A metric of the whole table, or of the scores."""
    if metric.input is Classes:
        return metric.compute(_table(inputs))
    if metric.input is Confusion:
        return metric.compute(two_by_two(inputs, 1))
    if metric.input is ClassScores and inputs.by_class is not None:
        return metric.compute(inputs.by_class)
    if metric not in inputs.of_scores:
        sort_scores(inputs, [metric])
    return inputs.of_scores[metric]


def sort_scores(inputs: Inputs, wanted: Sequence[Metric], *, vary: bool = False) -> None:
    """Compute metrics of the scores of two classes, and if asked for how the area under the curve varies, in one pass.

    They are kept in ``inputs.of_scores``.
    """
    kernels: dict[Metric | None, Callable[[Scores], Array]] = {
        metric: metric.compute for metric in wanted if metric.input is Scores
    }
    kernels |= {None: area_variance} if vary else {}
    new = {metric: np.full(len(inputs.segments), np.nan) for metric in kernels}

    def work(at: Array, scores: Scores) -> None:
        for metric, kernel in kernels.items():
            new[metric][at] = kernel(scores)

    if kernels:
        scored(inputs.cases, inputs.segments, work)
        inputs.of_scores.update(new)


def _over_classes(inputs: Inputs, name: str, metric: Metric, average: str) -> Values:
    """The average over classes of a metric of each against the rest."""
    source = inputs.by_class if metric.input is Scores and inputs.by_class is not None else _table(inputs)
    seen, raw = source.seen.T, each_class(inputs, metric)
    values = np.where(seen, inputs.cases.conventions.filled(name, metric, raw, seen), np.nan)
    undefined = (np.isnan(raw) & seen).sum(axis=0)
    held, known = values, ~np.isnan(values)
    values = np.where(known, values, 0)
    if average == "sum":
        return Values(values.sum(axis=0), undefined, average)
    if average == "micro":
        return Values(_micro(inputs, name, metric), undefined, "micro")
    weight = seen.astype(np.float64)
    if average == "weighted":
        weight = (source.support if isinstance(source, ClassScores) else source.actual).T
    elif average == "predicted":
        weight = _table(inputs).predicted.T
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (values * weight * known).sum(axis=0) / (weight * known).sum(axis=0)
    return Values(no_further(mean, held), undefined, average)


def _micro(inputs: Inputs, name: str, metric: Metric) -> Array:
    """A metric of the summed tables of the classes that are seen."""
    table = _table(inputs)
    sums = np.zeros((COUNTED, table.n))
    for c in range(table.k):
        sums += np.where(table.seen[:, c], np.array(two_by_two(inputs, c).counts), 0)
    raw = metric.compute(Confusion.of_counts(sums))
    return inputs.cases.conventions.filled(name, metric, raw, inputs.segments.n > 0)


def evaluated(cases: Cases, asked: Asked, options: Options, wide: Wide | None) -> Answer:
    """Return one row per segment and metric, or one per segment with a column per metric."""
    check_cases(asked, cases, options.averages, options)
    groups = groups_of(cases.cells, options.margins)
    of, wanted = averages_of(asked, options.averages, binary=cases.binary)
    normal = _by_delong(cases, wanted, options)
    tables: list[list[Array]] = []
    for segments in groups.each:
        inputs = inputs_of(cases, segments)
        if cases.binary:
            sort_scores(inputs, [metric for _, metric in asked], vary=bool(normal))
        values = [one_metric(inputs, *one) for one in wanted]
        n, undefined = np.tile(segments.n, (len(wanted), 1)), np.stack([one.undefined for one in values])
        table = [np.where(n, [one.value for one in values], np.nan), n, undefined]
        if options.ci is not None:
            ends = _drawn_ends(inputs, [i for i in range(len(wanted)) if i not in normal], wanted, options, options.ci)
            for i, slope in normal.items():
                ends[:, i] = around(table[0][i], slope**2 * inputs.of_scores[None], options.ci, wanted[i][1].range)
            table += [*ends]
        tables.append(table)
    said = [average for _, _, average in wanted]
    each = Averaged(asked, of, said, tables, [segments.n for segments in groups.each])
    return tidied(each, options, groups, wide)


def _by_delong(cases: Cases, wanted: Sequence[Wanted], options: Options) -> dict[int, float]:
    """The metrics whose intervals are DeLong's, and how much each rises with the area under the ROC curve."""
    independent = cases.binary and not (cases.weighted or cases.columns.cluster)
    if options.ci is None or options.method == "bootstrap" or not independent:
        return {}
    return {i: metric.of_area for i, (_, metric, _) in enumerate(wanted) if metric.of_area is not None}


def _drawn_ends(
    inputs: Inputs, places: Sequence[int], wanted: Sequence[Wanted], options: Options, level: float
) -> Array:
    """Percentile intervals over resampled rows, or clusters; NaN for fewer than two; shape (2, values, segments)."""
    out = np.full((2, len(wanted), len(inputs.segments)), np.nan)
    by_source: dict[type, list[int]] = {}
    for i in places:
        by_source.setdefault(input_of(inputs.cases, wanted[i][1]), []).append(i)
    for source, some in by_source.items():
        pieces: dict[tuple[int, int], list[Array]] = {}
        for g, here in resampled(inputs, source, [wanted[i][1] for i in some], options):
            for i in some:
                pieces.setdefault((i, g), []).append(one_metric(here, *wanted[i]).value)
        for at, drawn in pieces.items():
            values = np.concatenate(drawn)
            values = values[~np.isnan(values)]
            if len(values):
                out[:, *at] = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return out


def input_of(cases: Cases, metric: Metric) -> type:
    """Return the input that is drawn for a metric: the table of all classes, or the scores of two, or of several."""
    own = metric if cases.binary else metric.of_classes or metric
    if own.input in (Scores, ClassScores):
        return Scores if cases.binary else ClassScores
    return Classes


def without_errors(cases: Cases) -> Cases:
    """Return cases of which an undefined value is null where it would be an error: a resample may have some."""
    if cases.conventions.undefined != "raise":
        return cases
    return replace(cases, conventions=replace(cases.conventions, undefined="null"))


def resampled(
    inputs: Inputs, source: type, metrics: Sequence[Metric], options: Options, group: Array | None = None
) -> Iterator[tuple[int, Inputs]]:
    """Give segments and what some of their resamples are measured from, each resample as a segment.

    Parameters
    ----------
    group : the number of each segment's group, whose rows are drawn together, shape (segments,); None for none.
    """
    cases = without_errors(inputs.cases)
    draws = Draws(inputs.cases, inputs.segments, options.resamples, options.seed, group)

    def like(g: int, n: int) -> Segments:
        return replace(inputs.segments, n=np.repeat(inputs.segments.n[g], n))

    if source is Classes:
        for g, table in draws.tables(_table(inputs)):
            yield g, Inputs(cases, like(g, table.n), table, None)
    elif source is Scores:
        for g, scores in draws.scores():
            known: dict[Metric | None, Array] = {metric: metric.compute(scores) for metric in metrics}
            yield g, Inputs(cases, like(g, scores.n_queries), None, None, known)
    elif inputs.by_class is not None:
        for g, several in draws.class_scores(inputs.by_class):
            yield g, Inputs(cases, like(g, several.n_queries), None, several)
