"""A refusal of rows of several systems that would be read as one list, because no option names their column."""

from __future__ import annotations

import polars as pl

from frame_metrics.errors import ColumnError, quote
from frame_metrics.roles.columns import Columns

# Commands that read no lists, or that only report what is in the rows.
WITHOUT = ("audit", "agreement", "disagreements")


def refuse_mixed_systems(log: pl.LazyFrame, columns: Columns) -> None:
    """Raise if the rows of a query have several values in a column that is called as one of systems is.

    Documents of several systems in one list make one number of all, without a word, unless a document repeats.
    """
    name = columns.likely_mixed
    if not name:
        return
    keys = [key for key in columns.keys if key in log.collect_schema()]
    values = log.filter(pl.col(name).is_not_null()).group_by(keys).agg(pl.col(name).unique().sort())
    several = pl.col(name).list.len() > 1
    seen = values.select(of=pl.len(), n=several.sum(), pair=pl.col(name).filter(several).list.head(2).first())
    of, n, pair = seen.collect(engine="streaming").row(0)
    if not n:
        return
    one, other = pair
    raise ColumnError(
        f"{quote(name)} is a column of several systems, as {quote(one)} and {quote(other)}, in {n:,} of {of:,} "
        f"queries; pass system={quote(name)} to measure each, or --no-system if the rows of a "
        "query are one list"
    )
