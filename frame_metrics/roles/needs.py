"""Needs of metrics: the columns they read, and the source of the 2x2 table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from frame_metrics.errors import ColumnError, listed
from frame_metrics.inputs import ClassScores, Confusion, Ranking, Scores
from frame_metrics.metrics.names import Asked


@dataclass(frozen=True)
class Needs:
    """Roles that the metrics that are asked for cannot do without."""

    query: bool = False
    order: bool = False
    score: bool = False
    predicted: bool = False

    def __or__(self, other: Needs) -> Needs:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Needs(*(one or another for one, another in pairs))


def needs_of(asked: Asked, roles: Mapping[str, Any], available: list[str], *, judged: bool) -> Needs:
    """Return the needs of metrics; the 2x2 table at a cutoff is that of a ranking."""
    needs = Needs(query=judged)
    for name, metric in asked:
        own = metric.of_classes
        if metric.input is Ranking or metric.k is not None:
            needs |= Needs(query=True, order=True)
        elif metric.input is Scores or (own is not None and own.input is ClassScores):
            needs |= Needs(score=True)
        else:
            needs |= decision_of(roles, available, name, judged=judged, retrieved=metric.input is Confusion)
    return needs


def decision_of(roles: Mapping[str, Any], available: list[str], name: str, *, judged: bool, retrieved: bool) -> Needs:
    """Return the needs of the 2x2 table without a cutoff: threshold, prediction, or retrieved set; no score alone."""
    if roles.get("threshold") is not None:
        return Needs(score=True)
    if roles.get("predicted") is not None:
        return Needs(predicted=True)
    if retrieved and (judged or roles.get("query") is not None):
        return Needs(query=True)
    if retrieved and {"predicted", "query"} <= set(available):
        raise ColumnError(
            f"{name}: both 'predicted' and 'query' are columns; name predicted= for the prediction, or "
            "query= for what a query retrieved"
        )
    if "predicted" in available:
        return Needs(predicted=True)
    if retrieved and "query" in available:
        return Needs(query=True)
    ways = ", or name query= for the retrieved set, or give it a cutoff" if retrieved else ""
    raise ColumnError(
        f"{name}: nothing says what is predicted among {listed(available)}; name predicted=, or say threshold={ways}"
    )


def audited(roles: Mapping[str, Any], available: list[str], *, judged: bool) -> Needs:
    """Return the needs of an audit: the results of queries, or else rows that are decided or scored."""
    decided = roles.get("threshold") is not None or roles.get("predicted") is not None
    of_queries = judged or roles.get("query") is not None or (not decided and "query" in available)
    named = isinstance(roles.get("score"), Mapping)
    scored = not named and (roles.get("score") is not None or "score" in available)
    if decided:
        return Needs(
            of_queries, score=roles.get("threshold") is not None or scored, predicted=roles.get("threshold") is None
        )
    if of_queries:  # a score beside a rank is looked at too
        return Needs(query=True, score=roles.get("rank") is not None and roles.get("score") is not None and not named)
    return Needs(score=scored, predicted="predicted" in available)
