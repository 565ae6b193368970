"""Compute metrics of pooled rows: of two classes, of each of several classes, and averages over classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from frame_metrics.data.cases import Cases
from frame_metrics.data.segments import class_scores, each_scored_block, tables
from frame_metrics.errors import ColumnError, NotComputableError, listed
from frame_metrics.inputs import Array, Classes, ClassScores, FullConfusion, FullScores, Lists
from frame_metrics.inputs.bins import QUANTILE
from frame_metrics.inputs.cached_arrays import CachesByKey
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups
from frame_metrics.measuring.probabilities import check_probabilities, check_scores
from frame_metrics.measuring.queries import of_probabilities
from frame_metrics.measuring.results import EvaluateOptions
from frame_metrics.metrics.metric import BY_CHANCE, N_COUNTS, Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.metrics.shares import counts_rows
from frame_metrics.plan.call import Call
from frame_metrics.plan.checks import check_parameters
from frame_metrics.stats.averages import Averages, within_values
from frame_metrics.stats.delong import Areas
from frame_metrics.stats.shares import kish_within

Wanted: TypeAlias = tuple[str, Metric, str]  # a name, its metric, and one of its averages
OverClasses = Literal["macro", "weighted", "micro", "predicted"]
BOOTSTRAP = "pass method='bootstrap'"


@record
class Inputs(CachesByKey):
    """The tables and scores of some segments, from which metrics are computed."""

    cases: Cases
    segments: CellGroups
    table: Classes | None  # true and predicted classes; None without predictions
    by_class: ClassScores | None  # the scores of several classes; None without such scores
    metrics: Sequence[Metric] = ()  # those of the scores of two classes that are asked for
    with_intervals: bool = False  # whether intervals of areas under ROC curves are asked for
    # If these are resamples of a segment, each in place of a segment: the inputs that they are drawn from, and the
    # segment. None: they are no resamples.
    drawn_from: tuple[Inputs, int] | None = None
    # Of resamples: the values of metrics of scores in each.
    values_drawn: Mapping[Metric, Array] = field(default_factory=dict)

    @property
    def tables(self) -> Classes:
        """The tables of true and predicted classes; raise without predictions."""
        if self.table is None:
            raise ColumnError("predictions are needed; name predicted=, or pass threshold=")
        return self.table

    @cached_property
    def against_rest(self) -> FullConfusion:
        """The 2x2 tables of each class against the rest, those of the first class first, shape (K * segments,).

        With ``collection_size=`` they are of the whole collection.
        """
        found, size = self.tables.against_rest, self.cases.conventions.collection_size_number
        if size is None:
            return found
        return FullConfusion(found.tp, found.fp, found.fn, found.empty, np.full(len(found.tp), size), found.undecided)

    def of_scores(self, metric: Metric) -> Array:
        """Return a metric of the scores of two classes, NaN where undefined, shape (segments,)."""
        return self.values_drawn[metric] if self.drawn_from is not None else self._scored[0][metric]

    @property
    def areas(self) -> Areas:
        """The areas under ROC curves, with what their intervals need."""
        return self._scored[1]

    @cached_property
    def _scored(self) -> tuple[dict[Metric, Array], Areas]:
        """The values of each metric of the scores of two classes, and the areas, computed in one pass."""
        n = len(self.segments)
        values, areas = {metric: np.full(n, np.nan) for metric in self.metrics}, np.full((4, n), np.nan)

        def work(at: Array, scores: FullScores) -> None:
            for metric, value in values.items():
                value[at] = metric.compute(scores)
            if self.with_intervals:
                areas[:, at] = Areas.of(scores).stacked

        each_scored_block(self.cases, self.segments, work)
        return values, Areas(*areas)

    @property
    def class_scores(self) -> ClassScores:
        """The scores of several classes; raise without such scores."""
        if self.by_class is None:
            raise NotComputableError("there are no scores of classes")
        return self.by_class


@record
class SegmentValues:
    """The values of a metric in segments."""

    value: Array  # NaN for null, shape (segments,)
    # 1 where the metric was undefined, else 0. Of an average over classes: how many of them it was undefined for. Of a
    # debiased calibration error: also how many bins it leaves out. Shape (segments,).
    n_undefined: Array


def average_of(metric: Metric, average: str | None, *, binary: bool) -> str:
    """Return the average over classes of a metric of pooled rows.

    "pooled" for a metric of the whole table, and for two classes; "sum" for a count.

    Parameters
    ----------
    average : the one that is asked for; None for the metric's default.
    binary : whether there are two classes, one of which is relevant.
    """
    if metric.summed and average in (None, "micro", "sum"):
        return "sum"
    return "pooled" if binary or metric.form_for_classes is not None else average or "macro"


def averages_of_rows(asked: Asked, averages: Averages, *, binary: bool) -> tuple[list[int], list[Wanted]]:
    """Return the values that are wanted, a triple for each metric and average; before them, the metric of each.

    A metric is given by its position in ``asked``.
    """
    metric_of_value, wanted = [], []
    for i, (name, metric) in enumerate(asked):
        for average in dict.fromkeys(average_of(metric, given, binary=binary) for given in averages):
            metric_of_value.append(i)
            wanted.append((name, metric, average))
    return metric_of_value, wanted


def one_average(asked: Asked, average: str | None, call: Call) -> bool:
    """Return True if all metrics have the same average, whether the data turn out to have two classes or several."""
    columns, conventions = call.columns, call.conventions
    must_be_several = (
        conventions.classes is not None or columns.class_scores or conventions.match is not None or average is not None
    )
    must_be_two = (
        conventions.positive is not None
        or conventions.threshold is not None
        or columns.label is None
        or conventions.collection_size_number is not None
        or any(metric.input is FullScores for _, metric in asked)
    )
    possible = [False] if must_be_several else [True] if must_be_two else [True, False]  # whether there are two classes
    return all(len({average_of(metric, average, binary=binary) for _, metric in asked}) == 1 for binary in possible)


def check_pooled(asked: Asked, averages: Averages = (None,)) -> None:
    """Raise for metrics and averages that need queries, where there are none; nothing is read."""
    for average in averages:
        if average not in (None, *get_args(OverClasses)):
            raise NotComputableError(f"average={average!r} is over queries; name query=")
    for name, metric in asked:
        check_parameters(name, metric)
        if metric.average is not None:
            raise NotComputableError(f"{name} is an average over queries; name query=")
        if "judged_only" in metric.params or "rel" in metric.params:
            raise NotComputableError(
                f"{name}: rel= and judged_only= are for queries; pass rel= or unjudged= of all rows"
            )


def check_delong(asked: Asked, call: Call, method: str | None) -> None:
    """Raise if ``method="delong"`` is asked for and does not apply; nothing is read."""
    if method != "delong":
        return
    for name, metric in asked:
        if metric.slope_by_area is None:
            raise NotComputableError(f"{name} has no interval by DeLong, but roc_auc and gini have one; {BOOTSTRAP}")
    for role in ("weight", "cluster"):
        if column := call.columns.by_role.get(role):
            raise NotComputableError(
                f"{column} is the {role} of rows, and method='delong' is for independent rows that count one each; "
                f"pass {role}=None, or {BOOTSTRAP.removeprefix('pass ')}"
            )


def check_cases(
    asked: Asked, cases: Cases, averages: Averages = (None,), options: EvaluateOptions | None = None
) -> None:
    """Raise for metrics and averages that do not go with the number of classes.

    ``averages``: those asked for; empty if metrics are of each class against the rest.
    """
    if cases.binary:
        if named := [average for average in averages if average is not None]:
            both = ", or classes= to average both" if cases.columns.predicted else ""
            raise NotComputableError(
                f"average={named[0]!r} is over several classes, and the rows of two are pooled here; "
                f"pass average=None{both}"
            )
        name = of_probabilities(asked)
        if of_several := next((one for one, metric in asked if metric.input is ClassScores), None):
            raise ColumnError(
                f"{of_several} reads a score of each class; name them, score={{class: column}}, or pass threshold= and "
                "ask for accuracy"
            )
        _check_counted(asked, cases)
        if name and cases.columns.score:
            check_scores(name, cases)
        return
    if cases.conventions.collection_size_number is not None:
        raise NotComputableError("collection_size= is for two classes: documents that are listed nowhere have no class")
    if options is not None and options.method == "delong":
        raise NotComputableError(f"there are {cases.k} classes, and method='delong' is for two; {BOOTSTRAP}")
    _check_counted(asked, cases)
    for name, metric in asked:
        _check_of_classes(name, metric, cases, averages)


def check_biased(asked: Asked, ci: float | None) -> None:
    """Raise for the interval of a metric that chance moves one way: of rows that are drawn again it moves twice."""
    if ci is not None and (name := next((name for name, metric in asked if metric.biased), "")):
        raise NotComputableError(without_interval(name, dict(asked)[name], in_clusters=False))


def without_interval(name: str, metric: Metric, *, in_clusters: bool) -> str:
    """Return why a metric has no interval, and what to do instead; "" if it has one.

    ``in_clusters``: whether rows without a query are in clusters, of which those with the highest scores may be few.
    """
    if metric.biased:
        shown = "calibrated" in metric.companions and not metric.params.get("debiased")
        beside = ", and compare the value with the column if_calibrated" if shown else ""
        return f"{name} has no interval: {BY_CHANCE}; pass ci=None{beside}"
    if metric.input is Lists:
        return (
            f"{name} has no interval: of queries that are drawn again some come twice, so that their lists show fewer "
            "documents than all do; leave ci= out, or compare() systems, whose lists are exchanged"
        )
    if metric.top is not None and in_clusters:
        return (
            f"{name} has no interval of rows in clusters: those with the highest scores may be of few; leave ci= out, "
            "or pass cluster=None for rows that are independent"
        )
    return ""


class NotComparedError(NotComputableError):
    """A metric that is not compared, whatever is asked for beside it."""


def check_compared_rows(asked: Asked, *, arms: bool) -> None:
    """Raise for a metric of which rows have no difference to test: one with ``top=``, or of arms a count.

    ``top=`` takes the rows with the highest scores, which are others in each system; each arm has its number of rows.
    """
    if name := next((name for name, metric in asked if metric.top is not None), None):
        raise NotComparedError(
            f"{name} is compared over queries only: of rows, systems have different rows with the highest scores; ask "
            "evaluate() for the value of each, or compare roc_auc or average_precision"
        )
    if name := next((name for name, metric in asked if arms and counts_rows(metric)), None):
        raise NotComparedError(
            f"{name} is a sum, which depends on how many rows an arm has; compare a share of them, as recall or "
            "precision, or ask evaluate() for the value of each"
        )


def _check_counted(asked: Asked, cases: Cases) -> None:
    """Raise for a metric that counts rows, if these have weights."""
    for name, metric in asked if cases.weighted else ():
        if metric.top is not None:
            raise NotComputableError(
                f"{name} counts the rows with the highest scores, and {cases.columns.weight} weighs them; pass "
                "weight=None, or count= for rows that stand for several"
            )
        ways = {"debiased": metric.params.get("debiased"), "bins": metric.params.get("bins") == QUANTILE}
        if option := next((option for option, counts in ways.items() if counts), None):
            raise NotComputableError(
                f"{name} counts the rows of each bin, and {cases.columns.weight} weighs them; pass weight=None, or "
                f"leave {option}= out"
            )


def _check_of_classes(name: str, metric: Metric, cases: Cases, averages: Averages) -> None:
    """Raise if a metric does not go with several classes; the parameters are those of ``check_cases``."""
    if metric.top is not None:
        raise NotComputableError(
            f"{name} takes the rows with the highest scores, and each of {cases.k} classes has its own; name the "
            "score of one, score=, and the class, positive="
        )
    form = metric.form_for_classes
    of_scores = metric.input is FullScores or (form is not None and form.input is ClassScores)
    if of_scores and not cases.columns.class_scores:
        raise ColumnError(
            f"{name}: there are {cases.k} classes; name the score of each, score={{class: column}}, "
            "or the relevant one with positive="
        )
    lacks = [average for average in averages if average in ("micro", "predicted")]
    if of_scores and form is None and lacks:
        raise NotComputableError(f"{name} has no {lacks[0]} average over classes; it has macro and weighted")
    if wrong := [option for option in metric.params if form is not None and option not in form.options]:
        raise NotComputableError(f"{name}: of several classes it takes no {wrong[0]}=")
    if averages and metric.params.get("weights") and cases.unordered_text:
        raise _without_order(name, cases)
    if "probability" in metric.reads:
        check_probabilities(name, cases)


def _without_order(name: str, cases: Cases) -> NotComputableError:
    """Return the error for a metric that weighs mistakes by the order of classes, if these are unordered text."""
    known = cases.classes.to_list()
    return NotComputableError(
        f"{name} weighs a mistake by how far apart two classes are, and texts of {cases.columns.label} have no order; "
        f"list {listed(known[:5])}{', ...' * (len(known) > 5)} from one end to the other with classes=, or make both "
        "columns ordered categories (pandas), one Enum (polars) or one ordered dictionary (Arrow)"
    )


def inputs_of(cases: Cases, segments: CellGroups, metrics: Sequence[Metric], *, with_intervals: bool = False) -> Inputs:
    """Prepare the inputs of metrics for some segments; ``with_intervals``: for intervals of areas of ROC curves too."""
    table = tables(cases, segments) if "predicted" in cases.rows.columns else None
    if cases.columns.class_scores:
        return Inputs(cases, segments, table, class_scores(cases, segments))
    each = (one for metric in metrics for one in (metric, *metric.companions.values()))
    of_scores = tuple(dict.fromkeys(one for one in each if one.input is FullScores))
    return Inputs(cases, segments, table, None, of_scores, with_intervals)


def class_sizes(cases: Cases, segments: CellGroups) -> Array:
    """Return the number of rows whose actual class it is, of each class in each segment, shape (segments, K)."""
    cell, k = class_cells(cases, segments), max(cases.k, 1)
    here = cell >= 0
    return np.bincount(cell[here], cases.times[here], len(segments) * k).reshape(-1, k)


def class_cells(cases: Cases, segments: CellGroups) -> Array:
    """Return the cell of each row in a table of segments and true classes, -1 for a row of no segment, (rows,).

    Cells are numbered segment by segment.
    """
    place = segments.of(cases.rows)
    return np.where(place < 0, place, place * max(cases.k, 1) + cases.rows["actual"].to_numpy())


def effective_rows(inputs: Inputs) -> Array:
    """Return Kish's effective number of weighted rows in each segment, shape (segments,); NaN if weights are 0."""
    cases, n = inputs.cases, len(inputs.segments)
    place = inputs.segments.of(cases.rows)
    some = place >= 0
    mass = (cases.times * cases.row_weight)[some]
    return kish_within(place[some], mass, mass * cases.row_weight[some], n)


def two_by_two(inputs: Inputs, c: int) -> FullConfusion:
    """Return the 2x2 tables of class ``c`` against the rest, one for each segment."""
    n = len(inputs.segments)
    return inputs.against_rest.part(slice(c * n, (c + 1) * n))


def each_class(inputs: Inputs, metric: Metric) -> Array:
    """Return the value of a metric for each class against the rest, NaN where undefined, shape (K, segments)."""
    k = inputs.cases.k
    if not k:
        return np.zeros((0, len(inputs.segments)))
    if metric.input is FullScores:
        rests = (inputs.class_scores.rest(c) for c in range(k))
        return inputs.cached(metric, lambda: np.stack([metric.compute(rest) for rest in rests]))
    return inputs.cached(metric, lambda: metric.compute(inputs.against_rest).reshape(k, -1))


def one_metric(inputs: Inputs, name: str, metric: Metric, average: str | None) -> SegmentValues:
    """Return the value of a metric in every segment, averaged over classes if it is a metric of two classes."""
    has_rows, form = inputs.segments.n > 0, metric if inputs.cases.binary else metric.form_for_classes
    if form is None:
        return _over_classes(inputs, name, metric, average_of(metric, average, binary=False))
    raw = np.where(has_rows, _whole(inputs, form), np.nan)
    value = _filled(inputs, name, metric, raw, has_rows, lambda drawn_from: _whole(drawn_from, form))
    n_undefined = (np.isnan(raw) & has_rows).astype(np.int64)
    if inputs.drawn_from is None and "bins_left_out" in form.companions:
        n_undefined += np.nan_to_num(_whole(inputs, form.companions["bins_left_out"])).astype(np.int64)
    return SegmentValues(value, n_undefined)


def if_calibrated(inputs: Inputs, metric: Metric) -> Array:
    """Return the value of a metric if the scores were calibrated, NaN where it is not known, shape (segments,)."""
    form = metric if inputs.cases.binary else metric.form_for_classes or metric
    if "calibrated" not in form.companions or inputs.cases.weighted:
        return np.full(len(inputs.segments), np.nan)
    return np.where(inputs.segments.n > 0, _whole(inputs, form.companions["calibrated"]), np.nan)


def _filled(
    inputs: Inputs, name: str, metric: Metric, raw: Array, measured: Array, compute: Callable[[Inputs], Array]
) -> Array:
    """Return values with undefined ones replaced as the conventions say.

    A value that is undefined in a resample, though defined in the rows that it is drawn from, stays NaN and is left
    out: that a class was not drawn must not make it count as 0.

    Parameters
    ----------
    inputs, name, metric : the inputs, and the metric and its name.
    raw : its values, NaN where undefined, shape (..., segments).
    measured : marks of the values that were measured, of the same shape.
    compute : the function that computed ``raw``, to compute it from the inputs that resamples are drawn from.
    """
    value = inputs.cases.conventions.filled(name, metric, raw, measured)
    if inputs.drawn_from is None or not np.isnan(raw).any():
        return value
    drawn_from, segment = inputs.drawn_from
    is_defined = ~np.isnan(compute(drawn_from)[..., segment, None])
    return np.where(np.isnan(raw) & is_defined, np.nan, value)


def _whole(inputs: Inputs, metric: Metric) -> Array:
    """Return the value of a metric in every segment, computed from the whole table or from the scores."""
    if metric.input is Classes:
        return metric.compute(inputs.tables)
    if metric.input is FullConfusion:
        return metric.compute(two_by_two(inputs, 1))
    if metric.input is ClassScores:
        return metric.compute(inputs.class_scores)
    return inputs.of_scores(metric)


def _over_classes(inputs: Inputs, name: str, metric: Metric, average: str) -> SegmentValues:
    """Return the average over classes of a metric of each class against the rest."""
    of_classes, filled = _classes_of(inputs, metric), values_in_mean(inputs, name, metric)
    seen = of_classes.seen.T
    n_undefined = (np.isnan(each_class(inputs, metric)) & seen).sum(axis=0)
    counts = ~np.isnan(filled)
    values = np.where(counts, filled, 0)
    if average == "sum":
        return SegmentValues(values.sum(axis=0), n_undefined)
    if average == "micro":
        return SegmentValues(_micro(inputs, name, metric), n_undefined)
    # The weights of classes: equal, by their rows, or by how often they are predicted.
    weight = seen.astype(np.float64)
    if average == "weighted":
        weight = (of_classes.support if isinstance(of_classes, ClassScores) else of_classes.actual).T
    elif average == "predicted":
        weight = inputs.tables.predicted.T
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (values * weight * counts).sum(axis=0) / (weight * counts).sum(axis=0)
    return SegmentValues(within_values(mean, filled), n_undefined)


def _classes_of(inputs: Inputs, metric: Metric) -> Classes | ClassScores:
    """Return what a metric of each class against the rest is computed from."""
    return inputs.by_class if metric.input is FullScores and inputs.by_class is not None else inputs.tables


def values_in_mean(inputs: Inputs, name: str, metric: Metric) -> Array:
    """Return the values of classes that an average is over, NaN for a class that is in none, shape (K, segments)."""
    seen, raw = _classes_of(inputs, metric).seen.T, each_class(inputs, metric)
    filled = _filled(inputs, name, metric, raw, seen, lambda drawn_from: each_class(drawn_from, metric))
    return np.where(seen, filled, np.nan)


def _micro(inputs: Inputs, name: str, metric: Metric) -> Array:
    """Return the micro average: the metric of the 2x2 tables summed over the classes that are seen in a segment."""
    raw = _pooled(inputs, metric)
    return _filled(inputs, name, metric, raw, inputs.segments.n > 0, lambda drawn_from: _pooled(drawn_from, metric))


def _pooled(inputs: Inputs, metric: Metric) -> Array:
    """Return the metric of the summed tables, NaN where undefined."""
    counts = np.array(inputs.against_rest.counts).reshape(N_COUNTS, inputs.cases.k, -1)
    return metric.compute(FullConfusion.of_counts(np.where(inputs.tables.seen.T, counts, 0).sum(axis=1)))


def input_of(cases: Cases, metric: Metric) -> type:
    """Return the class of the input to resample for a metric: ``Classes``, ``FullScores`` or ``ClassScores``."""
    form = metric if cases.binary else metric.form_for_classes or metric
    if form.input in (FullScores, ClassScores):
        return FullScores if cases.binary else ClassScores
    return Classes
