"""Checks of a call before anything is read: metrics, averages, and columns of wide results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    NotComputableError,
    UnknownNameError,
    check_choice,
    check_once,
    did_you_mean,
    quote,
)
from frame_metrics.inputs import Classes, ClassScores, FullConfusion, Lists
from frame_metrics.metrics.metric import Metric, try_kernel
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.call import Call
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.resolve import RESULT
from frame_metrics.stats.averages import Averages
from frame_metrics.stats.quantiles import quantile_level

Named = Literal["macro", "weighted", "micro", "gmean", "median", "min", "max", "rows", "predicted"]
# Every level of a quantile is allowed. These are listed for type checkers, which should find misspelt averages.
Low = Literal["q0.01", "q0.05", "q0.1", "q0.2", "q0.25", "q0.3", "q0.4", "q0.5"]
High = Literal["q0.6", "q0.7", "q0.75", "q0.8", "q0.9", "q0.95", "q0.99"]
Average = Named | Low | High
Layout = Literal["long", "wide"]
RELEVANCE_INPUTS = {"relevant", "n_relevant", "gains", "ideal", "tn", "score"}  # values of ``Metric.reads``
IntervalMethod = Literal["delong", "bootstrap", "t", "normal"]


def check_averages(average: Any) -> Averages:
    """Return the averages of ``average=`` as a list; raise for an unknown one, and for one that is named twice."""
    is_list = isinstance(average, list | tuple)
    averages = list(average) if is_list else [average]
    if not averages:
        raise BadValueError("average=[] names no average; name one, or pass average=None")
    for one in averages:
        if isinstance(one, str) and one == "mean":
            raise UnknownNameError(
                "average='mean' is called 'macro', or 'weighted' where queries or classes have weights"
            )
        if isinstance(one, str) and (percentile := re.fullmatch(r"[pP](\d*\.?\d+)", one)):
            hint = _hint_at_quantile(float(percentile[1]))
            raise UnknownNameError(f"average={quote(one)} is the name of no average{hint}")
        quantile = isinstance(one, str) and quantile_level(one) is not None
        if isinstance(one, str) and one.startswith("q") and not quantile:
            raise BadValueError(f"average={quote(one)} is no quantile from q0 to q1, as q0.9")
        if not quantile and (one is not None or is_list):
            check_choice("average", one, (*get_args(Named), "q0.9"))
    check_once("average", averages)
    return averages


def _hint_at_quantile(percent: float) -> str:
    """Return a hint at the quantile for a percentile: "q0.95" for 95, and for .95."""
    level = percent / 100 if percent >= 1 else percent
    return did_you_mean(f"q{level:g}") if level <= 1 else "; a quantile is from q0 to q1, as q0.9"


def check_asked(asked: Asked, call: Call, averages: Averages = (None,)) -> None:
    """Raise for a metric or average that cannot be computed with these columns and conventions; nothing is read."""
    for average in filter(None, averages):
        check_average(average, f"average={quote(average)}", call.columns)
    for name, metric in asked:
        check_parameters(name, metric)
        _check_weighted(name, metric, call, [metric.average] if metric.average else averages)
        _check_reads(name, metric, call)
        if metric.input is Lists:
            _check_lists(name, metric, call, averages)
            continue
        check_average(metric.average, name, call.columns)
        if "micro" in averages and not (metric.pooled_sums or metric.summed or metric.average):
            raise NotComputableError(
                f"{name} has no micro average; measures of the 2x2 table have one, as precision or recall@10"
            )


def check_average(average: str | None, named: str, columns: Columns) -> None:
    """Raise for an average over queries that does not go with these columns; ``named``: what errors call it."""
    if average == "predicted":
        raise NotComputableError(f"{named} is over several classes, and the mean here is over queries")
    if average == "weighted" and not columns.weight:
        raise ColumnError(f"{named} needs the weights of the queries; name their column with weight=")
    takes_none = {
        "micro": "sums over all queries before it divides, and no weight enters",
        "rows": f"weighs queries by their rows, and {columns.weight} would weigh them too",
    }
    ordered = average is not None and quantile_level(average) is not None
    why = "puts the values of queries in order, and no weight enters" if ordered else takes_none.get(str(average))
    if columns.weight and why:
        raise ColumnError(f"{named} {why}; pass weight=None")


def _check_weighted(name: str, metric: Metric, call: Call, averages: Averages) -> None:
    """Raise for a metric or an average that weights by propensity do not correct, or for missing propensities."""
    conventions, decided = call.conventions, call.columns.predicted or call.conventions.threshold is not None
    if metric.off_policy and conventions.target_propensity is None:
        raise ColumnError(
            f"{name} requires the chances of two policies: name propensity= and target_propensity=, the "
            "chances with which each of them places a result"
        )
    if metric.off_policy and "micro" in averages and metric.k is None:
        raise NotComputableError(f"{name} is self-normalised position by position; give a cutoff, as {name}@10")
    if conventions.propensity is None or not metric.reads & RELEVANCE_INPUTS:
        return
    biased = next((average for average in averages if average not in (None, "macro", "weighted", "micro")), None)
    if biased:
        raise NotComputableError(
            f"{name}: the {biased} of values weighted by propensity= is biased: only their mean comes near to that of "
            "what users would click if they saw all; pass average='macro', or propensity=None"
        )
    # A metric that adds up over the results of a ranking, and not the table of decisions about rows.
    adds = metric.adds and metric.top is None and not (metric.input is FullConfusion and metric.k is None and decided)
    if not adds and not (metric.micro is not None and set(averages) == {"micro"}):
        way = (
            "pass average='micro' in evaluate()" if metric.micro else "ask for one that does, as dcg@10 or precision@10"
        )
        raise NotComputableError(
            f"{name} does not add up over the results of a ranking, so that weights of 1 / propensity do not correct "
            f"it; {way}, or pass propensity=None"
        )
    if conventions.variant(metric)[1]:
        raise NotComputableError(f"{name}: condensed lists have other ranks than were shown; pass unjudged=None")


def _check_reads(name: str, metric: Metric, call: Call) -> None:
    """Raise for a metric that reads something that the columns do not have."""
    columns, conventions = call.columns, call.conventions
    judgments = columns if call.judgment_columns is None else call.judgment_columns
    decided = conventions.threshold is not None or columns.predicted is not None
    sized = conventions.collection_size is not None or columns.collection_size
    if metric.input in (Classes, ClassScores):
        raise NotComputableError(
            f"{name} has one value for the rows of a segment, and none for a query; pass query=None, or name "
            "its column with by="
        )
    if metric.of_subtopics and not judgments.subtopic:
        raise ColumnError(
            f"{name} is about subtopics of queries; name their column in judge(qrels, subtopic=), which of a file "
            "read_qrels(path, subtopic=True) reads"
        )
    if "tn" in metric.reads and not sized and (metric.k or metric.top or not decided):
        raise NotComputableError(
            f"{name} counts true negatives, and so needs collection_size=: a number, a column, "
            "or True if the frame lists all, set before, as search(collection_size=1000)"
        )
    _check_level(name, metric, call, judgments)


def _check_level(name: str, metric: Metric, call: Call, judgments: Columns) -> None:
    """Raise for ``rel=`` where labels say what is relevant, or where the metric does not read relevance."""
    columns, conventions = call.columns, call.conventions
    if judgments.label and ("rel" in metric.params or conventions.rel != 1):
        raise NotComputableError(f"{name}: rel= is a grade, and {judgments.label} says already what is relevant")
    if "rel" in metric.params and "rel" not in metric.reads:
        way = ", or give gain= a mapping, as gain={1: 0, 2: 1, ...}" if "gain" in metric.options else ""
        read = "gains" if metric.graded else "nothing of that"
        raise NotComputableError(
            f"{name}: rel= says what is relevant, and this metric reads {read}; leave rel= out{way}"
        )
    counted = columns.n_relevant and "n_relevant" in metric.reads
    if counted and np.float32(conventions.variant(metric)[0]) != np.float32(conventions.rel):
        raise NotComputableError(
            f"{name}: {columns.n_relevant} counts what is relevant at rel={conventions.in_words(conventions.rel)} only"
        )


def _check_lists(name: str, metric: Metric, call: Call, averages: Averages) -> None:
    """Raise for a metric of sets of lists that cannot be computed with these columns and conventions."""
    conventions = call.conventions
    if any(averages):
        raise NotComputableError(
            f"{name} has one value for all lists together, and no average over queries; pass average=None"
        )
    if "catalogue" in metric.reads and conventions.catalogue is None:
        raise NotComputableError(
            f"{name} counts what no list shows too, and so needs catalogue=: the number of documents that could be "
            "shown, or a frame of them"
        )
    if metric.k is not None and conventions.ties in ("worst", "best", "expected"):
        raise NotComputableError(
            f"{name} counts documents, and ties={conventions.ties!r} does not say which of those with equal scores "
            "stand in the first places; pass ties=None, or 'order'"
        )
    if conventions.propensity is not None:
        raise NotComputableError(f"{name} cannot be weighted by propensity=; pass propensity=None")
    if conventions.variant(metric)[1]:
        raise NotComputableError(f"{name} counts what is shown, judged or not; pass unjudged=None")


def check_parameters(name: str, metric: Metric) -> None:
    """Raise for a missing parameter of a metric, and for parameters that contradict each other."""
    if metric.missing:
        needed = metric.missing[0]
        example = metric.examples[needed]
        raise NotComputableError(f"{name} needs {needed}=, as in {metric.name}({needed}={example!r})")
    try_kernel(metric)


def check_margins(margins: bool, call: Call) -> None:
    """Raise for ``margins=True`` without segments."""
    if margins and not call.columns.by:
        raise ColumnError("margins=True adds the totals over segments; name the segments with by=")


def check_wide(names: Sequence[str], columns: Columns, others: Sequence[str] = RESULT) -> None:
    """Raise if two columns of a wide result would have one name.

    Parameters
    ----------
    names : the columns of metrics, and those beside them, such as "ndcg@10_n".
    columns : the roles, whose keys are columns of the result.
    others : further columns of the result.
    """
    for i, name in enumerate(names):
        if name in (*columns.keys, *others):
            raise ColumnError(
                f"a column {quote(name)} for the metric would be twice in the wide result; rename the frame's column"
            )
        if name in names[:i]:
            raise ColumnError(
                f"a column {quote(name)} would be twice in the wide result, for a metric and beside one; "
                "ask for one of the two, or pass layout='long'"
            )


def single_metric(asked: Asked) -> Asked:
    """Return the metric as it is, if one is asked for; raise for several."""
    if len(asked) > 1:
        raise BadValueError(f"{asked[0][0]!r} and {asked[1][0]!r} are two metrics; name one")
    return asked
