"""The lists of metrics and of goals as frames."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

import polars as pl

from frame_metrics.backends.frames import LIBRARIES, given_as
from frame_metrics.errors import FrameMetricsError, UnknownNameError, check_choice, check_text, closest
from frame_metrics.inputs import Classes, ClassScores, FullConfusion, FullRanking, FullScores, Lists, TwoRankings
from frame_metrics.metrics.goals import ADVICE, Advice
from frame_metrics.metrics.metric import OF_DOCUMENTS, Metric, metrics_of
from frame_metrics.metrics.names import read_text

FAMILIES = {
    FullRanking: "ranking",
    FullConfusion: "2x2 table",
    FullScores: "scores",
    Classes: "several classes",
    ClassScores: "scores of several classes",
    Lists: "lists",
}
FAMILIES |= {TwoRankings: "two rankings"}
MIN_LETTERS = 3  # letters of the name of a metric that are looked for in texts
CHANCES = ("propensity", "target_propensity")
READS = {"tn": "collection_size", "probability": "probabilities", "max_grade": "max_grade", "catalogue": "catalogue"}


def list_metrics(*words: str, library: str = "polars") -> Any:
    """Return every metric with its range and its needs, including users' metrics, or those that some words are about.

    Parameters
    ----------
    words : names of metrics, in any spelling, of which any is returned first; or words that are all in the name, the
        family, the parameters or the text of a metric. None for every metric.
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
        There is no such library, or no metric that the words are about.

    Examples
    --------
    >>> import frame_metrics
    >>> frame_metrics.list_metrics().filter(name="ndcg").select("family", "cutoff", "lowest", "highest").rows()
    [('ranking', 'k', 0.0, 1.0)]
    """
    check_choice("library", library, LIBRARIES)
    rows = [_row(metric, family) for kind, family in FAMILIES.items() for metric in metrics_of(kind)]
    schema = {"lowest": pl.Float64, "highest": pl.Float64, "undefined": pl.Float64}
    return given_as(library, _about(pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None), words))


def _about(metrics: pl.DataFrame, words: Sequence[str]) -> pl.DataFrame:
    """Return the metrics that have all of some words, or any of them if these are names; raise if there are none."""
    for word in words:
        check_text("words", word)
    text = pl.concat_str("name", "family", "also", "about", "parameters", separator=" ", ignore_nulls=True)
    texts = metrics.select(text.str.to_lowercase()).to_series()
    several = len(words) > 1 and all(map(_names_of, words))
    each = [_having(texts, word) for word in words]
    found = metrics.filter(reduce(or_ if several else and_, each, texts.is_not_null()))
    if found.is_empty():
        near = closest("_".join(words), metrics["name"].to_list()) or "; frame_metrics.list_metrics() lists all"
        raise UnknownNameError(f"there is no metric with {' and '.join(map(repr, words))} in its name or text{near}")
    named = [name for word in words for name in _names_of(word)]
    return found.sort(pl.col("name").is_in(named), descending=True, maintain_order=True)


def _names_of(word: str) -> list[str]:
    """Return the names of the metrics that a word names; none if it names none."""
    try:
        return [metric.name for _, metric in read_text(word)]
    except FrameMetricsError:
        return []


def _having(texts: pl.Series, word: str) -> pl.Series:
    """Return which texts have a word; of a metric that is its name, without cutoff and parameters, or else our name."""
    names = _names_of(word)
    plain = re.split("[@(]", word)[0] if names else word
    if names and len(plain) < MIN_LETTERS:  # as P
        return texts.str.starts_with(f"{names[0]} ")
    found = texts.str.contains(plain.lower(), literal=True)
    return found if found.any() or not names else texts.str.contains(names[0], literal=True)


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
