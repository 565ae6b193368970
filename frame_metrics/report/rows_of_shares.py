"""The number of rows that a metric is a share of, where these are not all rows: recall rests on relevant ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.metrics.shares import share_marks
from frame_metrics.report.calls import Calls
from frame_metrics.report.content import Content

# The cells of the table in the order of marks: by true class, and prediction (the last is none).
CELLS = (("tn", "fp", "un"), ("fn", "tp", "up"))


def rows_of_shares(content: Content, work: Calls) -> Mapping[str, Mapping[tuple[str, ...], int]]:
    """Return, for each metric that is a share of some rows only, their number for each system and segment.

    The key of a number is that of the system and the values of the columns of segments, over all of these of the system
    alone.
    Rows with weights, and those of a larger collection, are not counted.
    """
    roles = work.irm.roles
    if content.query or any(roles.get(one) is not None for one in ("weight", "propensity", "collection_size", "value")):
        return {}
    pooled = {*content.results.filter(pl.col("average") == "pooled")["metric"]}
    marks = {name: share_marks(metric, binary=True) for name, metric in content.asked if metric.top is None}
    cells = {
        name: np.array(CELLS)[~np.isnan(mark)].tolist()
        for name, mark in marks.items()
        if name in pooled and mark is not None and np.isnan(mark).any()
    }
    names = sorted({cell for some in cells.values() for cell in some})
    found = work.quietly(work.irm.evaluate, *names, margins=bool(content.by)) if names else None
    return {} if found is None else {name: _numbers(content, found, some) for name, some in cells.items()}


def key_of(*values: Any) -> tuple[str, ...]:
    """Return the key of a system and a segment, whose values may be structs, as pandas' periods are."""
    return tuple(map(repr, values))


def _numbers(content: Content, found: pl.DataFrame, cells: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Return the sums of some cells by system and segment; ``found``: the cells, as ``evaluate`` returns them."""
    some = found.filter(pl.col("metric").is_in(cells))
    segments = some.filter(pl.col("total_over").is_null()) if content.by else some.clear()
    numbers: dict[tuple[str, ...], int] = {}
    for rows, by in ((segments, content.by), (content.over_all(some), ())):
        for row in rows.iter_rows(named=True):
            key = key_of(row[content.system] if content.system else None, *(row[name] for name in by))
            numbers[key] = numbers.get(key, 0) + int(row["value"] or 0)
    return numbers
