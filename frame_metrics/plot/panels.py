"""Panels of a picture: one for each metric, with its own axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import altair as alt
import polars as pl

from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.saved_names import metric_of
from frame_metrics.plot.charts import has_ends, n_panel_columns, with_title
from frame_metrics.plot.tidy import PANELS, Key, Tidy

NAMED = 3  # metrics in a title
METRIC = ("metric",)  # the key of a panel whose rows or lines are metrics
Build: TypeAlias = Callable[[Tidy, Key, str, Metric], Any]  # makes a panel of rows, a key, a name and a metric


def with_metric_names(tidy: Tidy) -> Tidy:
    """Add a column "what": the name of the metric, with its average if it has several."""
    table, what = tidy.table, pl.col("metric")
    if "average" in table.columns:
        both = pl.concat_str("metric", pl.col("average").fill_null("of each"), separator=", ")
        what = pl.when(pl.col("average").n_unique().over("metric") > 1).then(both).otherwise("metric")
    return tidy.with_columns(what=what)


def in_panels(tidy: Tidy, build: Build, title: str, columns: int | None = None) -> Any:
    """Return a panel for each metric; without a key, metrics with the same range and direction share a panel.

    Parameters
    ----------
    build : the function that makes a panel.
    title : text after the names of the metrics.
    columns : how many panels stand side by side, each as wide as it needs; None: so many that few places stay empty.
    """
    names = tidy.table["what"].unique(maintain_order=True).to_list()
    meant = {name: metric_under(tidy.table, name) for name in names}
    groups: dict[Any, list[str]] = {}
    for name, metric in meant.items():
        separate = tidy.color is not None or not has_ends(metric)
        groups.setdefault(name if separate else (metric.range, metric.higher), []).append(name)
    panels: list[Any] = []
    if len(groups) > PANELS:
        tidy = tidy.with_notes(f"the first {PANELS} of {len(groups)} panels; name fewer metrics for the others")
    for group in [*groups.values()][:PANELS]:
        part = replace(tidy, table=tidy.table.filter(pl.col("what").is_in(group)))
        key = tidy.color or Key(METRIC, group)
        if tidy.color is None:
            part = replace(part.with_columns(color="what"), color=key)
        panels.append(build(part, key, group[0] if len(group) == 1 else "value", meant[group[0]]))
    wrapped: dict[str, Any] = {"columns": columns, "spacing": 15, "align": "each"}
    wrapped = {"columns": n_panel_columns(len(panels)), "spacing": 30} if columns is None else wrapped
    chart = panels[0] if len(panels) == 1 else alt.concat(*panels, **wrapped)
    metrics = f"{', '.join(names[:NAMED])}{f' and {len(names) - NAMED} more' if names[NAMED:] else ''}"
    return with_title(chart, f"{metrics}{title}", tidy.notes)


def metric_under(table: pl.DataFrame, what: str) -> Metric:
    """Return the metric that is drawn under a name; for the cutoff k, the metric at cutoff 1."""
    name = table.filter(pl.col("what") == what)["metric"][0]
    return metric_of(f"{name[:-1]}1" if name.endswith(("@k", "_k")) else name, of_result=True)
