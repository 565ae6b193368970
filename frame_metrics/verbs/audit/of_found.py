"""Checks of columns that may be something else: a query that was only found by name, a distance as score."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from frame_metrics.data.misread import found_query_text, has_single_rows, single_rows_text
from frame_metrics.inputs import Array
from frame_metrics.stats.significance import adjusted
from frame_metrics.verbs.audit.checks import SURE, Counted, Seen, check, in_unit

MIN_QUERIES_FOR_SPREAD = 10  # with fewer queries, the spread of their areas is too uncertain


class FoundQuery(NamedTuple):
    """A log whose column "query" was only found by name, and in which nothing else says that rows are rankings."""

    counts: Counted

    @property
    def every(self) -> int:
        """The number of queries."""
        return in_unit(self.counts.index, "queries", np.ones(len(self.counts.evaluated)))


@check("error", "queries")
def queries_of_one_row(found: FoundQuery) -> Seen:
    """{why}"""
    log = found.counts.log
    return Seen(
        found.every if has_single_rows(log) else 0, found.every, None, {"why": single_rows_text(log, pooled=True)}
    )


@check("info", "queries")
def query_found_by_name(found: FoundQuery) -> Seen | None:
    """{why}"""
    counts = found.counts
    if not (counts.log.columns.score and counts.evaluated.any() and found.every > 1):
        return None
    one_class = in_unit(counts.index, "queries", counts.evaluated & (counts["pairs"] == 0))
    why = found_query_text(counts.log, "metrics of scores, as roc_auc, raise an error", one_class)
    return Seen(0 if has_single_rows(counts.log) else found.every, found.every, None, {"why": why})


@check("warning", "{word}")
def scores_worse_than_chance_in_rankings(counts: Counted) -> Seen | None:
    """the mean area under the ROC curve of {n} queries{whose} is {area:.3f}, and chance gives 0.5: relevant results
    have lower scores than others, more clearly than chance explains. Is {score} a distance? Of negatives mined from its
    own top this is expected
    """
    log = counts.log
    if not log.columns.score:
        return None
    means, errors, n = _areas(counts)
    there = n >= MIN_QUERIES_FOR_SPREAD
    with np.errstate(divide="ignore", invalid="ignore"):
        sure = [NormalDist().cdf(-distance) for distance in np.nan_to_num((0.5 - means[there]) / errors[there])]
    turned = np.flatnonzero(there)[adjusted(np.array(sure), "holm") < NormalDist().cdf(-SURE)]
    words: dict[str, Any] = {"word": f"values of {log.columns.system}" if log.columns.system else ""}
    if not len(turned):
        return Seen(0, int(there.sum()), None, words)
    first = int(turned[0])
    name = str(counts.index.system_names[first]) if log.columns.system else None
    score = name if log.columns.shape.per_system else log.columns.score
    words |= {"n": int(n[first]), "area": float(means[first]), "score": score, "whose": f" of {name}" if name else ""}
    return Seen(len(turned), int(there.sum()), name, words)


def _areas(counts: Counted) -> tuple[Array, Array, Array]:
    """Return the mean area of each system's queries, its standard error, and the number of queries, (systems,) each.

    The area of a query in several segments is the mean of its areas there.
    """
    index, pairs = counts.index, counts["pairs"]
    some = np.flatnonzero(pairs > 0)
    query, ranking = np.unique(np.stack([index.system[some], index.query[some]]), axis=1, return_inverse=True)
    area, ranking = counts["twice_won"][some] / 2 / pairs[some], ranking.ravel()
    area = np.bincount(ranking, area) / np.bincount(ranking)
    systems = max(len(index.systems), 1)
    n = np.bincount(query[0], minlength=systems)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.bincount(query[0], area, systems) / n
        spread = np.bincount(query[0], (area - means[query[0]]) ** 2, systems)
        return means, np.sqrt(spread / (n - 1) / n), n
