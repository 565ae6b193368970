"""Judgments of several annotators: made one for each document."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from frame_metrics.roles.columns import judging

ANNOTATOR = "\0annotator"  # what a key column is called here that holds who judged
RULES = {
    # In float64, as all is computed. Sorted, so that the order of the rows does not show in the last digit; sums are
    # rounded, and the mean of equal grades is that grade.
    "mean": lambda value: value.cast(pl.Float64).sort().mean().clip(value.min(), value.max()),
    "median": lambda value: value.cast(pl.Float64).median(),
    "max": lambda value: value.max(),
    "majority": lambda value: value.drop_nulls().mode().min(),
}


def made_one(table: pl.DataFrame, pair: Sequence[str], rule: str) -> pl.DataFrame:
    """Make one judgment of those of each document; nulls are none.

    Parameters
    ----------
    table : checked judgments.
    pair : columns that make a document of a query.
    rule : "mean", "median", "max" or "majority": the value that was given most often, the least of several such.
    """
    values = judging(table)
    rest = [name for name in table.columns if name not in (*pair, *values, "annotator")]
    each = [RULES[rule](pl.col(value)).alias(value) for value in values]
    return table.group_by(pair, maintain_order=True).agg(pl.col(rest).first(), *each)


def once_each(table: pl.DataFrame, pair: Sequence[str]) -> pl.DataFrame:
    """Keep one of the judgments that an annotator gave twice; they are known to be equal."""
    own = [*pair, "annotator"]
    if not table.select(pl.struct(own).is_duplicated().any()).item():
        return table
    return made_one(table, own, "max")
