"""Pictures of queries: their differences between two systems, and the distribution of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import BadValueError, ColumnError, check_whole
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.saved_names import metric_of
from frame_metrics.plot.charts import (
    BAD,
    COLORS,
    GOOD,
    NEITHER,
    composed,
    has_ends,
    in_facets,
    metric_title,
    tooltip,
)
from frame_metrics.plot.panels import METRIC, in_panels, with_metric_names
from frame_metrics.plot.tidy import Key, Names, Tidy, n_text, named_keys, read_tidy

OUTCOMES = ("better", "equal", "worse")
OF_COMPARE = ("k", "value", "baseline_value")
ROW_HEIGHT = 70  # height of a distribution, in pixels
ROOM = 1.35  # the height of its axis by that of the highest bar: the number of the mean stands above the bars
BARS = 1000  # the most bars of a picture of differences
MAX_LETTERS = 34  # the most characters of a line over a small multiple
IN_ROWS = 3  # up to so many distributions stand one below the other


def differences(frame: Any, *, means: Any = None, query: Names = None) -> alt.Chart:
    """Draw the differences between two systems query by query, the greatest first, with their mean, and count them.

    Parameters
    ----------
    frame : the result of ``compare(..., per_query=True)``, of any kind. Each metric, system, baseline and segment has a
        small multiple.
    means : the result of ``compare`` on the same data: its differences and their intervals are drawn and named.
    query : the columns of the query; by default ``query``, or the key column with the most values.
    """
    picture = "differences draws what compare(per_query=True) returns"
    needs = ("baseline", "metric", "difference")
    tidy = read_tidy(frame, picture, needs, OF_COMPARE, color=_query(frame, query, (*needs, *OF_COMPARE)))
    one_metric = tidy.table["metric"].n_unique() == 1
    every = len(_each(tidy))
    tidy = replace(tidy, table=tidy.table.drop_nulls("difference"))
    if tidy.table.is_empty():
        raise BadValueError(f"{picture}; in this frame all differences are undefined")
    parts = [_ranked(part, one_metric=one_metric) for part in _each(_with_means(tidy, means))]
    labels = [part["facet"][0] for part in parts]
    thin = [_spaced(part) for part in parts]
    drawn, n = sum(map(len, thin)), sum(map(len, parts))
    tidy = replace(tidy, table=pl.concat(thin), facet=Key(("",), labels) if len(parts) > 1 else None)
    tidy = tidy.with_notes(*([] if len(parts) > 1 else labels[0].split("\n")))
    none = every - len(parts)
    tidy = tidy.with_notes(
        f"{none:,} of {every:,} pairs have no difference that is defined, and no place" if none else ""
    )
    tidy = tidy.with_notes(f"shape from {drawn:,} of {n:,} queries" if drawn < n else "")
    paint = alt.Scale(domain=list(OUTCOMES), range=[GOOD, NEITHER, BAD])
    sided: dict[str, Any] = {"scale": paint, "sort": list(OUTCOMES), "title": None}
    few: dict[str, Any] = {"values": [0, 1, 2]} if n <= 2 * len(parts) else {}  # no half queries
    axis, scale = alt.Axis(format=",d", **few), alt.Scale(nice=False, zero=True)
    x = alt.X("low:Q", title="Queries, the greatest difference first", scale=scale, axis=axis)
    # The outline closes the gaps that would else be seen between bars as stripes.
    bars = alt.Chart().mark_bar(binSpacing=0, aria=False, strokeWidth=0.75).encode(
        x=x,
        x2=alt.X2("high:Q"),
        y=alt.Y("difference:Q", title="Difference to the baseline"),
        y2=alt.Y2("zero:Q"),
        color=alt.Color("side:N", **sided),
        stroke=alt.Stroke("side:N", **sided),
        tooltip=tooltip(tidy, {"metric": "metric", "difference": "difference"}),
    )  # fmt: skip
    title = f"{', '.join(dict.fromkeys(tidy.table['metric']))}: differences{n_text(pl.Series(map(len, parts)))}"
    return composed(tidy, [bars, *_mean_lines(tidy)], title)


def _with_means(tidy: Tidy, means: Any) -> Tidy:
    """Add the mean difference of each small multiple and its interval, null where they are not known."""
    ends = ("mean", "mean_low", "mean_high")
    if means is None:
        return tidy.with_columns(*(pl.lit(None, pl.Float64).alias(name) for name in ends))
    facet = [] if tidy.facet is None else tidy.facet.columns
    needs = ("baseline", "metric", "difference", "ci_low", "ci_high")
    others = [name for name in backend_of(means).names() if name not in (*needs, *facet)]
    read = read_tidy(means, "means= is what compare() returns", needs, color=[], facet=facet, ignored=others)
    table = read.table.rename(dict(zip(needs[2:], ends, strict=True)))
    return replace(tidy, table=tidy.table.join(table, on=_multiples(tidy), how="left", maintain_order="left"))


def _mean_lines(tidy: Tidy) -> list[Any]:
    """Return a line at the mean difference, and a band for its interval."""
    if tidy.table["mean"].is_null().all():
        return []
    low, mean = (alt.Y(f"mean({name}):Q", title="") for name in ("mean_low", "mean"))
    band = alt.Chart().mark_rect(color=NEITHER, opacity=0.35, aria=False)
    line = alt.Chart().mark_rule(strokeDash=[5, 3], strokeWidth=1.5)
    return [band.encode(y=low, y2=alt.Y2("mean(mean_high):Q")), line.encode(y=mean)]


def _each(tidy: Tidy) -> list[pl.DataFrame]:
    """Return the rows of each small multiple."""
    return tidy.table.partition_by(_multiples(tidy), maintain_order=True)


def _multiples(tidy: Tidy) -> list[str]:
    """Return the columns by which small multiples differ."""
    return ["metric", "baseline", *(["facet"] if tidy.facet is not None else [])]


def _query(frame: Any, query: Names, known: Sequence[str]) -> list[str]:
    """Return the columns of the query: the named ones, or else "query", or the key column with the most values."""
    backend = backend_of(frame)
    keys = [name for name in backend.names() if name not in known]
    if (columns := named_keys("query", query, keys)) is not None:
        return columns
    if "query" in keys:
        return ["query"]
    if not keys:
        raise ColumnError("the frame has no column of queries")
    table = backend.read(keys)
    return [max(keys, key=lambda name: table[name].n_unique())]


def _ranked(part: pl.DataFrame, *, one_metric: bool) -> pl.DataFrame:
    """Return the rows of a small multiple, the greatest difference first, with their positions, sides and label."""
    metric = metric_of(part["metric"][0])
    part = part.sort("difference", descending=True, maintain_order=True)
    won = pl.col("difference") * metric.sign
    side = pl.when(won > 0).then(pl.lit("better")).when(won < 0).then(pl.lit("worse")).otherwise(pl.lit("equal"))
    part = part.with_columns(side=side, zero=0.0, low=pl.int_range(pl.len()), high=pl.int_range(1, pl.len() + 1))
    counts = ", ".join(f"{int((part['side'] == side).sum()):,} {side}" for side in OUTCOMES)
    system = f"{part['facet'][0]} " if "facet" in part.columns else ""
    name, baseline = part["metric"][0], part["baseline"][0]
    several = "" if one_metric else f"{name}, "
    lines = [f"{several}{system}against {baseline}", counts]
    lines = [f"{several}{system}".strip(), f"against {baseline}", counts] if len(lines[0]) > MAX_LETTERS else lines
    mean, low, high = part.select("mean", "mean_low", "mean_high").row(0)
    of_mean = "" if mean is None else f"mean {mean:+.3f}{'' if low is None else f' (band: {low:+.3f} to {high:+.3f})'}"
    return part.with_columns(facet=pl.lit("\n".join(filter(None, (*lines, of_mean)))))


def _spaced(part: pl.DataFrame) -> pl.DataFrame:
    """Return at most ``BARS`` rows, evenly spaced, with the first and the last; each bar extends to the next one."""
    n = len(part)
    if n <= BARS:
        return part
    kept = part[np.unique(np.linspace(0, n - 1, BARS).round().astype(np.int64))]
    return kept.with_columns(high=pl.col("low").shift(-1, fill_value=n))


def queries(frame: Any, *, query: Names = None, bins: int = 20, facet: Names = None) -> alt.Chart:
    """Draw the distribution of a metric over queries, for each system or segment, with its mean.

    The best mean comes first. A few panels are stacked; more than 3 of one metric also stand side by side.

    Parameters
    ----------
    frame : the result of ``per_query`` in the long layout, of any kind.
    query : the columns of the query; by default ``query``, or the key column with the most values.
    bins : how many bins of equal width, over the metric's range, or over the values if that range has no ends.
    facet : the other key columns, in their order; by default all.
    """
    check_whole("bins", bins, 1)
    picture = "queries draws what per_query() returns in the long layout"
    columns = _query(frame, query, ("metric", "k", "value", "undefined", "answered"))
    tidy = with_metric_names(
        read_tidy(
            frame, picture, ("metric", "value"), ("k",), color=columns, facet=facet, ignored=("undefined", "answered")
        )
    )
    undefined = tidy.table["value"].null_count()
    tidy = replace(tidy, color=tidy.facet, facet=None)
    tidy = tidy.with_notes(f"{undefined:,} undefined values are not drawn" if undefined else "")
    tidy = tidy.with_notes("line: the mean of the values shown, each query counted once")
    source = pl.col("what" if tidy.color is None else "facet")
    each = tidy.table.group_by("what", *(["facet"] if tidy.color else [])).agg(pl.col("value").count())["value"]
    build = partial(_histogram, bins=bins, alone=tidy.color is None or tidy.table["what"].n_unique() == 1)
    return in_panels(tidy.with_columns(color=source), build, f" over queries{n_text(each)}")


def _histogram(part: Tidy, color: Key, name: str, metric: Metric, *, bins: int, alone: bool) -> Any:
    """Return a panel with a histogram for each system or segment.

    If the panel is ``alone``, more than ``IN_ROWS`` histograms stand side by side.
    """
    defined = part.table.filter(pl.col("value").is_finite())
    ends = metric.range if has_ends(metric) or not len(defined) else (defined["value"].min(), defined["value"].max())
    least, most = (0.0, 1.0) if ends[0] != ends[0] else (float(ends[0]), float(ends[1]))  # type: ignore[arg-type]
    edges = np.linspace(least, most if most > least else least + 1, bins + 1)
    at = np.clip(np.searchsorted(edges, defined["value"].to_numpy(), side="right") - 1, 0, bins - 1)
    rows = defined.select("color", bin=pl.Series(at)).group_by("color", "bin", maintain_order=True).len("n")
    low, high = (pl.Series(ends).gather(rows["bin"]) for ends in (edges[:-1], edges[1:]))
    means = defined.group_by("color", maintain_order=True).agg(mean=pl.col("value").mean())
    rows = rows.with_columns(low=low, high=high, zero=0.0).join(means, on="color", maintain_order="left")
    several = color.columns != METRIC or len(color.values) > 1
    best = means.sort(pl.col("mean") * metric.sign, descending=True, maintain_order=True)["color"].to_list()
    order = color.values if color.columns == METRIC else [*dict.fromkeys([*best, *color.values])]
    key = Key(("",) if color.columns == METRIC else color.columns, order)
    drawn = Tidy(rows.rename({"color": "facet"}), None, key if several else None)
    x = alt.X("low:Q", title=metric_title(name, metric), scale=alt.Scale(domain=[edges[0], edges[-1]], nice=False))
    bars = alt.Chart().mark_bar(color=COLORS[0], opacity=0.8, binSpacing=1)
    tips = tooltip(drawn, {"low": "from", "high": "to", "n": "queries", "mean": "mean"})
    most = float(rows["n"].max() or 1)  # type: ignore[arg-type]
    scale = alt.Scale(domain=[0, ROOM * most], nice=False)
    y = alt.Y("n:Q", title="Queries", scale=scale, axis=alt.Axis(tickCount=3, tickMinStep=1))
    bar = bars.encode(x=x, x2=alt.X2("high:Q"), y=y, y2=alt.Y2("zero:Q"), tooltip=tips)
    mean = alt.X("mean(mean):Q", title="")
    number = alt.Chart().mark_text(align="left", dx=4, dy=4, baseline="top")
    number = number.encode(x=mean, y=alt.value(0), text=alt.Text("mean(mean):Q", format=".3f"))
    line = alt.Chart().mark_rule(strokeWidth=1.5).encode(x=mean)
    in_rows = not alone or len(key.values) <= IN_ROWS
    return in_facets(drawn, [bar, line, number], width=260, height=ROW_HEIGHT, in_rows=in_rows, small=False)
