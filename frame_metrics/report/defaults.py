"""Default metrics and cutoffs of a report; they suit the roles, and cutoffs end at the longest ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from frame_metrics.backends.frames import here
from frame_metrics.errors import ColumnError, FrameMetricsError, quote

GRADED = ("ndcg@10", "ap", "rr", "precision@10")
LABELLED = ("ap", "rr", "ndcg@10", "precision@10")
CLICKED = ("success", "rr")
WEIGHTED = ("dcg@10", "precision@10")  # metrics that add up over results
WITHOUT_JUDGMENTS = ("novelty@10", "average_popularity@10")  # metrics that need no judgments
DECIDED = ("accuracy", "precision", "recall", "f1", "mcc")
SCORED = ("roc_auc", "average_precision")
FOUND_SETS = ("precision", "recall", "f1")
CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def default_metrics(plan: Any, depth: int | None) -> Sequence[str]:
    """Return metrics that suit the roles.

    The cutoff of recall is the depth of the rankings, but at least 10 and at most 100; 100 if the depth is unknown.
    """
    columns, roles = plan.columns, plan.roles
    if plan.only_describes_lists:
        if roles.get("popularity") is None:
            raise ColumnError(
                "nothing is judged; name label= or grade=, or ask for metrics of each list, as novelty@10 with "
                "popularity=, or of all lists together, as catalogue_coverage@10 with catalogue="
            )
        return WITHOUT_JUDGMENTS
    decided = roles.get("threshold") is not None or columns.predicted is not None
    if columns.query and not (columns.score or columns.rank):
        if columns.shape.likely_order:
            role, column = columns.shape.likely_order
            raise ColumnError(
                f"no column is named that orders the results of a query, and {quote(column)} is called as a {role} is; "
                f"pass {role}={quote(column)}, or {role}=None if the rows of a query are a set"
            )
        return FOUND_SETS
    if columns.query:
        if is_click_log(plan) and roles.get("propensity") is None:
            return CLICKED
        deep = 100 if depth is None else min(100, max(10, depth))
        ranked = (*(GRADED if columns.grade or _graded(plan) else LABELLED), f"recall@{deep}")
        return ranked if roles.get("propensity") is None else WEIGHTED
    likely = columns.shape.likely_query
    if likely and columns.system:  # which rank documents for queries that they share
        raise ColumnError(
            f"no query is named, and {quote(likely)} is called as one is; pass query={quote(likely)}, or query=None if "
            "all rows are one list, as those of a classifier"
        )
    scored = SCORED if columns.score else SCORED[:1] if columns.class_scores else ()
    return (*DECIDED, *scored) if decided else scored or DECIDED


def is_click_log(plan: Any) -> bool:
    """Return True if the frame says what was shown at each rank and whether it was clicked: a rank and a label."""
    columns = plan.columns
    own = columns.query and columns.rank and columns.label and not columns.score
    return bool(own) and not columns.grade and not columns.relevant and plan.given.judgments_backend is None


def _graded(plan: Any) -> bool:
    """Return True if the judgments beside the frame have grades."""
    if plan.given.judgments_backend is None:
        return False
    columns = plan.given.judgments[1]
    return bool(columns["grade"] or ("grade" in plan.given.judgments_backend.names() and not columns["label"]))


def depth_of(irm: Any, columns: Any) -> int | None:
    """Return the length of the longest ranking; with a rank column, the first cutoff that holds all results.

    None if there are no rankings, if they are longer than all cutoffs, or if they cannot be measured; in that case
    another verb raises the error.
    """
    if not columns.query or columns.value or not (columns.score or columns.rank):
        return None
    names = ["num_ret", *(f"num_ret@{k}" for k in CUTOFFS)]
    try:
        most = here(irm(weight=None).evaluate(*names, average="max"))
    except FrameMetricsError:
        return None
    of = dict(most.group_by("metric").agg(pl.col("value").max()).iter_rows())
    if not of.get("num_ret"):
        return None
    reached = next((k for k in CUTOFFS if of[f"num_ret@{k}"] == of["num_ret"]), None)
    return reached if columns.rank else int(of["num_ret"])


def curve_cutoffs(top: int, depth: int | None) -> list[int]:
    """Return the cutoffs of a curve up to ``top``, and to the depth of the rankings: past it, nothing is retrieved."""
    last = top if depth is None else min(top, depth)
    return sorted({*(k for k in CUTOFFS if k <= last), last})
