"""Combine the judgments of several annotators into one for each document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from frame_metrics.fast.equal_rows import first_equal_rows
from frame_metrics.roles.columns import judgment_columns_in

ANY_JUDGMENT = "first"  # a rule for us alone, which takes little memory, where the values do not matter
RULES = {
    # In float64, like all computations. Sorted, so that the order of the rows does not change the last digit. Clipped,
    # because sums are rounded, and the mean of equal grades has to be that grade.
    "mean": lambda value: value.cast(pl.Float64).sort().mean().clip(value.min(), value.max()),
    "median": lambda value: value.cast(pl.Float64).median(),
    "max": lambda value: value.max(),
    "majority": lambda value: value.drop_nulls().mode().min(),
}


def combine_judgments(table: pl.DataFrame, pair: Sequence[str], rule: str) -> pl.DataFrame:
    """Combine the judgments of each document of a query into one; a null grade or label is no judgment.

    Parameters
    ----------
    table : checked judgments.
    pair : columns that identify a document of a query (and, with subtopics, a subtopic).
    rule : "mean", "median", "max" or "majority" (the most frequent value; of several such, the lowest), or
        ``ANY_JUDGMENT``.
    """
    if rule == ANY_JUDGMENT:
        return table.filter(pl.Series(first_equal_rows(table, pair) == np.arange(len(table))))
    values = judgment_columns_in(table)
    rest = [name for name in table.columns if name not in (*pair, *values, "annotator")]
    each = [RULES[rule](pl.col(value)).alias(value) for value in values]
    return table.group_by(pair, maintain_order=True).agg(pl.col(rest).first(), *each)
