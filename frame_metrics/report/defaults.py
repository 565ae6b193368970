"""Metrics and cutoffs of a report where nobody names any: they suit the roles, and end where the rankings do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from frame_metrics.errors import FrameMetricsError
from frame_metrics.report.cells import here

GRADED = ("ndcg@10", "ap", "rr", "precision@10")
LABELLED = ("ap", "rr", "ndcg@10", "precision@10")
WEIGHTED = ("dcg@10", "precision@10")  # what adds up over results
SHOWN = ("novelty@10", "average_popularity@10")  # what needs no judgment
DECIDED = ("accuracy", "precision", "recall", "f1", "mcc")
SCORED = ("roc_auc", "average_precision")
FOUND_SETS = ("precision", "recall", "f1")
CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def default_metrics(columns: Any, depth: int | None, *, graded: bool, threshold: bool, weighted: bool) -> Sequence[str]:
    """Return metrics that suit the roles that are played; none where the frame says them itself.

    A cutoff past the longest ranking, and past the usual 10, is that ranking's length. ``graded``: whether judgments
    beside the frame have grades; ``weighted``: whether results are weighted by their propensities.
    """
    decided = threshold or columns.predicted is not None
    if columns.value:
        return ()
    if columns.query:
        if columns.score or columns.rank:
            if weighted:
                return WEIGHTED
            deep = 100 if depth is None else min(100, max(10, depth))
            return (*(GRADED if columns.grade or graded else LABELLED), f"recall@{deep}")
        return FOUND_SETS
    if columns.class_scores and not decided:
        return SCORED[:1]
    scored = SCORED if columns.score else ()
    return (*DECIDED, *scored) if decided else scored or DECIDED


def depth_of(irm: Any, columns: Any) -> int | None:
    """Return the length of the longest ranking, or where ranks have gaps a cutoff that none goes past.

    None where there are no rankings, or where they go past all cutoffs, or cannot be measured, which other verbs say.
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


def shown_cutoffs(top: int, depth: int | None) -> list[int]:
    """Return the cutoffs of a curve up to ``top``, and to the depth of the rankings: past it, nothing is retrieved."""
    last = top if depth is None else min(top, depth)
    return sorted({*(k for k in CUTOFFS if k <= last), last})
