"""A refusal of results without a single value, of queries that have one row each."""

from __future__ import annotations

import polars as pl

from frame_metrics.command.frames import Frames
from frame_metrics.command.offers.named_metrics import is_metric
from frame_metrics.errors import BadValueError, listed
from frame_metrics.metrics.names import read_text


def refuse_single_rows(frames: Frames, result: pl.DataFrame) -> None:
    """Raise if no metric has a value because each query has one row, as where each is a case of a classifier."""
    if not {"metric", "value"} <= {*result.columns} or result.is_empty() or result["value"].null_count() < len(result):
        return
    columns = frames.irm._plan.columns
    keys = [one for one in columns.keys if one in frames.log.collect_schema()]
    names = result["metric"].unique(maintain_order=True).to_list()
    if not columns.query or columns.unfolds or not all(map(_reads_scores, names)):
        return
    rows, queries = frames.log.select(pl.len(), pl.struct(keys).n_unique().alias("queries")).collect().row(0)
    if rows != queries or not rows:
        return
    each = f"each of {queries:,} queries ({listed(columns.query)}) has one"
    problem = f"{', '.join(names)} of one row is undefined, and {each}"
    if frames.call.name == "per-query":
        way = "the value of all rows together is that of evaluate: pass --no-query"
        raise BadValueError(f"{problem}; {way}").offering({"per-query": ["evaluate"], "query=": []}, query=None)
    raise BadValueError(f"{problem}; pass --no-query to measure all rows together").offering({"query=": []}, query=None)


def _reads_scores(name: str) -> bool:
    """Return True for a metric that compares the scores of rows, as roc_auc."""
    return is_metric(name) and all(metric.input.__name__ == "FullScores" for _, metric in read_text(name))
