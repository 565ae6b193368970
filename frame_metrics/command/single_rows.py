"""A refusal of results without a single value, of queries that have one row each."""

from __future__ import annotations

import polars as pl

from frame_metrics.command.frames import Frames
from frame_metrics.errors import BadValueError, listed


def refuse_single_rows(frames: Frames, result: pl.DataFrame) -> None:
    """Raise if no metric has a value because each query has one row, as where each is a case of a classifier."""
    if not {"metric", "value"} <= {*result.columns} or result.is_empty() or result["value"].null_count() < len(result):
        return
    columns = frames.irm._plan.columns
    keys = [one for one in columns.keys if one in frames.log.collect_schema()]
    if not columns.query or columns.unfolds or "qrels" in frames.call.set_options:
        return
    rows, queries = frames.log.select(pl.len(), pl.struct(keys).n_unique().alias("queries")).collect().row(0)
    if rows != queries:
        return
    names = listed(result["metric"].unique(maintain_order=True)).replace("'", "")
    problem = f"{names} of one row is undefined, and each of {queries:,} queries ({listed(columns.query)}) has one"
    if frames.call.name == "per-query":
        raise BadValueError(f"{problem}; the value of all rows together is that of evaluate: pass --no-query")
    raise BadValueError(f"{problem}; pass --no-query to measure all rows together")
