"""The lists of metrics and of goals as frames."""

from __future__ import annotations

from typing import Any

import polars as pl

from frame_metrics.backends.frames import LIBRARIES, given_as
from frame_metrics.errors import FrameMetricsError, check_choice
from frame_metrics.inputs import Classes, ClassScores, FullConfusion, FullRanking, FullScores, Lists, TwoRankings
from frame_metrics.metrics.goals import ADVICE, Advice
from frame_metrics.metrics.metric import OF_DOCUMENTS, Metric, metrics_of

FAMILIES = {
    FullRanking: "ranking",
    FullConfusion: "2x2 table",
    FullScores: "scores",
    Classes: "several classes",
    ClassScores: "scores of several classes",
    Lists: "lists",
}
FAMILIES |= {TwoRankings: "two rankings"}
CHANCES = ("propensity", "target_propensity")
READS = {"tn": "collection_size", "probability": "probabilities", "max_grade": "max_grade", "catalogue": "catalogue"}


def list_metrics(*, library: str = "polars") -> Any:
    """Return every metric with its range and its needs, including users' metrics.

    Parameters
    ----------
    library : the library of the frame: "polars", "pandas" or "pyarrow".

    Returns
    -------
    A row per metric: name, family, cutoff ("k" or "recall", what ``@`` sets; null without one), lowest, highest
    (values; null without an end), better ("higher", "lower", or null if neither is better), undefined (the substitute
    for an undefined value; null is left out of the mean), parameters (those in parentheses), needs (what it requires
    besides a ranking, a table or scores), also (other names), about (its definition).

    Raises
    ------
    FrameMetricsError
        There is no such library.

    Examples
    --------
    >>> import frame_metrics
    >>> frame_metrics.list_metrics().filter(name="ndcg").select("family", "cutoff", "lowest", "highest").rows()
    [('ranking', 'k', 0.0, 1.0)]
    """
    check_choice("library", library, LIBRARIES)
    rows = [_row(metric, family) for kind, family in FAMILIES.items() for metric in metrics_of(kind)]
    schema = {"lowest": pl.Float64, "highest": pl.Float64, "undefined": pl.Float64}
    return given_as(library, pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None))


def list_goals(*, library: str = "polars") -> Any:
    """Return goals of an evaluation, and the metrics that serve each.

    Parameters
    ----------
    library : the library of the frame: "polars", "pandas" or "pyarrow".

    Returns
    -------
    A row per goal and metric: goal, metric (a name to ask for), says (what the metric shows), hides (what it does not).

    Raises
    ------
    FrameMetricsError
        There is no such library.

    Examples
    --------
    >>> import frame_metrics
    >>> goals = frame_metrics.list_goals()
    >>> goals.filter(goal="few judgments")["metric"].to_list()
    ['bpref', 'infap', 'judged@10', 'rbp_residual(p=0.8)']
    """
    check_choice("library", library, LIBRARIES)
    return given_as(library, pl.DataFrame(ADVICE, schema=list(Advice._fields), orient="row"))


def _other_needs(metric: Metric) -> list[str]:
    """Return the options and columns that a metric needs besides its input; [] for a user's metric that fails."""
    try:
        return [need for fact, need in READS.items() if fact in metric.reads] + [
            one.partition("=")[0] if one in OF_DOCUMENTS else f"extra {one}" for one in metric.columns
        ]
    except FrameMetricsError:
        return []


def _row(metric: Metric, family: str) -> dict[str, Any]:
    low, high = (None if abs(end) == float("inf") else float(end) for end in metric.range)
    return {
        "name": metric.name,
        "family": family,
        "cutoff": metric.at,
        "lowest": low,
        "highest": high,
        "better": None if metric.higher is None else "higher" if metric.higher else "lower",
        "undefined": metric.undefined,
        "parameters": ", ".join(name for name in metric.options if name != metric.at),
        "needs": ", ".join([*metric.missing, *CHANCES * metric.off_policy, *_other_needs(metric)]),
        "also": ", ".join(metric.also),
        "about": metric.doc.partition("\n")[0],
    }
