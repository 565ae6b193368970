"""The picture of metrics over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from frame_metrics.backends.display import value_text
from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.times import ordered_distinct, times_in, times_of, with_gaps
from frame_metrics.errors import ColumnError, listed
from frame_metrics.metrics.metric import Metric
from frame_metrics.plot.averages import ENDS, level_note, n_behind, names_at_ends, scale_near
from frame_metrics.plot.charts import (
    CUT,
    HEIGHT,
    INK,
    NEITHER,
    check_drawable,
    colored,
    line_mark,
    metric_title,
    n_panel_columns,
    tooltip,
    values,
)
from frame_metrics.plot.panels import in_panels, metric_under, with_metric_names
from frame_metrics.plot.tidy import (
    HIGHLIGHTED,
    OF_EVALUATE,
    Key,
    Names,
    Tidy,
    column_of,
    highlight_lines,
    n_text,
    named_keys,
    read_tidy,
)
from frame_metrics.stats.periods import ALPHA, Periods, course, weekdays, well_filled

LABEL = 75  # pixels of the axis for each label
POINTS = 31  # the most periods whose points are drawn; of more, only those that are partly filled
CLEAR = 3  # the most bands that are as clear as one
OF_ALL = "n in all"
WHEN = "when"  # the column of periods, as texts
PICTURE = "over_time draws what evaluate() returns with a column of times in by="


def over_time(
    frame: Any,
    *,
    ci: float | None = None,
    time: str | None = None,
    chosen: Names = None,
    color: Names = None,
    facet: Names = None,
) -> alt.Chart:
    """Draw metrics over time, a line for each system with its intervals as a band, and numbers of queries as bars.

    A missing period, or one without a value, is a gap. The first and the last period are hollow where they have less
    than half of the usual queries. A break is marked with its date, and an outage shaded, which needs intervals: it is
    that of ``summary``, of the best system, or of the segment that is farthest from chance. Each small multiple has its
    bars, on one scale, and its break.

    Parameters
    ----------
    frame : the result of ``evaluate`` with a column of days, weeks, months, quarters or times of the day among its
        segments, or of the names of weekdays or months; of any kind. Its ``ci=`` gives bands.
    ci : the level of those intervals, shown in the subtitle; the frame does not record it.
    time : the column of times, if there are several.
    chosen : lines in colour, besides the best one; all others are grey. By default the best 6 have a colour.
    color : the key columns whose values have different colours; by default the first one that is not the time.
    facet : the key columns of small multiples; by default all others.
    """
    bars, also = level_note(ci).replace("bars", "bands"), ("metric", *OF_EVALUATE, *ENDS)
    name = _time_in(frame, ("metric", "value"), also, time)
    tidy = with_metric_names(
        read_tidy(frame, PICTURE, ("metric", "value"), also, color=color, facet=facet, ignored=[name])
    )
    axis = Axis.of(name, column_of(frame, name))
    tidy = axis.with_every_period(tidy, column_of(frame, name))
    tidy = tidy.with_notes(bars if "ci_low" in tidy.table.columns else "", CUT)
    tidy = highlight_lines(tidy, _best_first(tidy), chosen, HIGHLIGHTED)
    title, columns = f" by {name}{n_text(n_behind(tidy), 'in each')}", None if tidy.facet is None else 1
    return in_panels(tidy, partial(_panel, axis=axis), title, columns)


def _time_in(frame: Any, needs: Sequence[str], also: Sequence[str], time: str | None) -> str:
    """Return the key column of times; raise if there is none, or several and none is named."""
    names = backend_of(frame).names()
    keys = [name for name in names if name not in (*needs, *also)]
    if time is not None:
        named_keys("time", time, keys)
    found = [name for name in keys if times_of(column_of(frame, name).drop_nulls().to_list(), name) is not None]
    some = [name for name in found if time in (None, name)]
    if len(some) == 1:
        return some[0]
    if time is not None:
        raise ColumnError(
            f"time={time!r} holds no times, as days, weeks or months; pass time= as one of {listed(found or keys)}"
        )
    if some:
        raise ColumnError(f"{listed(some)} hold times; pass time= as one of them")
    raise ColumnError(f"{PICTURE}; there are no times in {listed(keys)}, as days, weeks or months")


@dataclass(frozen=True)
class Size:
    """The size of a picture of lines over bars, in pixels."""

    width: int
    height: int  # of the lines
    bars: int  # the height of the bars of numbers
    label: str  # the words before the date of a break
    late: float  # the share of the axis behind which these words stand to the left of the break


WHOLE = Size(600, HEIGHT, 45, "break at or near", late=0.75)
MULTIPLE = Size(260, 150, 30, "break", late=0.5)  # of small multiples


@dataclass(frozen=True)
class Axis:
    """The periods of a picture."""

    name: str
    texts: list[str]  # in the order of time, with those that are not there
    size: Size = WHOLE

    @classmethod
    def of(cls, name: str, column: pl.Series) -> Axis:
        """Return the periods of a column."""
        order = [value for value in ordered_distinct(column) or column.unique(maintain_order=True) if value is not None]
        return cls(name, with_gaps([value_text(value) for value in order]))

    def with_every_period(self, tidy: Tidy, column: pl.Series) -> Tidy:
        """Return the data with a row for each line and period; missing ones have null values."""
        texts = pl.Series(WHEN, [None if value is None else value_text(value) for value in column], dtype=pl.String)
        table = tidy.table.with_columns(texts)
        lacking = table.filter(pl.col(WHEN).is_null())
        if "total_over" in table.columns:
            lacking = lacking.filter(pl.col("total_over").is_null())
        table, lines = table.drop_nulls(WHEN), ["what", *tidy.series]
        every = table.select("metric", *lines).unique(lines, maintain_order=True)
        every = every.join(pl.DataFrame({WHEN: self.texts}).with_row_index("at"), how="cross")
        table = every.join(table.drop("metric"), on=[*lines, WHEN], how="left", nulls_equal=True, maintain_order="left")
        note = f"{len(lacking):,} values without a {self.name} are not drawn" if len(lacking) else ""
        table = _with_alone(_with_filled(table, lines), lines)
        few = "hollow: fewer than half of the usual queries" if not table["filled"].all() else ""
        return replace(tidy, table=table).with_notes(note, few)

    def channel(self, *, labels: bool = True) -> Any:
        """Return the horizontal axis."""
        step = math.ceil(len(self.texts) * LABEL / self.size.width)
        labelled = alt.Axis(values=self.texts[::step], labelAngle=0, labels=labels, ticks=labels)
        scale = alt.Scale(type="band", domain=self.texts, padding=0.2)
        title = self.name if labels and self.size == WHOLE else None  # small multiples have it in the title of all
        return alt.X(f"{WHEN}:O", title=title, scale=scale, axis=labelled)

    def change_of(self, table: pl.DataFrame) -> tuple[float, list[str]]:
        """Return the p-value of the course of a line, as in a summary, and where its level changes.

        That is the period of a break, or the first and the last one of an outage.
        """
        table = table.drop_nulls("value").filter("filled")
        if (times := times_in(table[WHEN], self.name)) is None:
            return 1.0, []
        unit, time = times[0].unit, np.array([one.number for one in times])
        ends = table.select(ENDS).cast(pl.Float64).to_numpy().T if ENDS[0] in table.columns else None
        n = table["n"].to_numpy()
        found = course(Periods(table["value"].to_numpy(), time, weekdays(unit, time), ends, n))
        at = {"break": [found.cut], "outage": [found.cut, found.end - 1]}.get(found.kind, [])
        return found.p, table[WHEN][at].to_list()


def _with_filled(table: pl.DataFrame, lines: Sequence[str]) -> pl.DataFrame:
    """Add a column "filled": false for the first or the last period of a line if it has few queries."""
    if "n" not in table.columns:
        return table.with_columns(filled=pl.lit(True))
    parts = []
    for part in table.partition_by(lines, maintain_order=True):
        there = part["value"].is_not_null().to_numpy()
        filled = np.ones(len(part), bool)
        filled[there] = well_filled(part["n"].to_numpy()[there])
        parts.append(part.with_columns(filled=pl.Series(filled)))
    return pl.concat(parts)


def _with_alone(table: pl.DataFrame, lines: Sequence[str]) -> pl.DataFrame:
    """Add a column "alone": true for a period between gaps, to which no line goes."""
    there = pl.col("value").is_not_null()
    has_neighbour = there.shift(1).fill_null(False) | there.shift(-1).fill_null(False)
    return table.with_columns(alone=(there & ~has_neighbour).over(lines))


def _best_first(tidy: Tidy) -> list[str]:
    """Return the lines by their mean over all periods, by the first metric, the best first."""
    if tidy.color is None:
        return []
    first = tidy.table["what"][0]
    sign = metric_under(tidy.table, first).sign or 1
    weight = pl.col("n") if "n" in tidy.table.columns else pl.lit(1.0)
    mean = (pl.col("value") * weight).sum() / weight.filter(pl.col("value").is_not_null()).sum()
    means = tidy.table.filter(pl.col("what") == first).group_by("color", maintain_order=True).agg(mean * sign)
    return means.sort("value", descending=True, nulls_last=True, maintain_order=True)["color"].to_list()


def _panel(part: Tidy, key: Key, name: str, metric: Metric, *, axis: Axis) -> Any:
    """Return a panel with a line for each series and bars of numbers, or small multiples of these."""
    drawn = [part.table[column] for column in ("value", *ENDS) if column in part.table.columns]
    title, scale = metric_title(name, metric), scale_near(drawn, metric)
    y = alt.Y("value:Q", title=title, scale=scale)
    if part.facet is None:
        return _course(part, key, name, metric, y, axis)
    check_drawable(part.facet)
    axis, columns = replace(axis, size=MULTIPLE), n_panel_columns(len(part.facet.values))
    facets = [part.table.filter(facet=value) for value in part.facet.values]
    most: Any = max(_numbers(table)[0]["n"].max() or 0 for table in facets) if "n" in part.table.columns else None
    multiples = []
    for at, value in enumerate(part.facet.values):
        own = replace(part, table=part.table.filter(facet=value))
        of_row = y if at % columns == 0 else alt.Y("value:Q", title=None, scale=scale)
        chart = _course(own, key, name, metric, of_row, axis, most)
        lines = [f"{part.facet.title}: {line}" if "\n" not in value else line for line in value.split("\n")]
        chart.title = alt.Title(lines, anchor="start", fontSize=11, fontWeight="normal")
        multiples.append(chart)
    return alt.concat(*multiples, columns=columns, spacing=15)


def _course(part: Tidy, key: Key, name: str, metric: Metric, y: Any, axis: Axis, most: float | None = None) -> Any:
    """Return lines with their bands and names, the break or outage of the best one, and bars of numbers below.

    ``most``: the end of the axis of these; None for the highest bar.
    """
    highlighted, several = [*(key.highlighted or key.values)], len(key.values) > 1
    x, named = axis.channel(), several and part.facet is None
    channels = colored(key, dashes=True, legend=several and not named)
    titles = {"value": name, WHEN: axis.name, "ci_low": "from", "ci_high": "to", "n": "rests on"}
    tips = tooltip(part, {column: title for column, title in titles.items() if column in part.table.columns})
    layers = [line_mark(key, name).encode(x=x, y=y, **channels, tooltip=tips)]
    if "ci_low" in part.table.columns:
        band = (
            alt.Chart()
            .mark_area(opacity=0.15 if len(highlighted) <= CLEAR else 0.06)
            .transform_filter(alt.FieldOneOfPredicate("color", highlighted))
        )
        low = y.copy()
        low.shorthand = "ci_low:Q"
        layers.insert(0, band.encode(x=x, y=low, y2=alt.Y2("ci_high:Q"), color=channels["color"]))
    layers += _points(axis, x, y, channels["color"], tips, highlighted)
    layers = _marked(axis, part, highlighted, x) + layers
    last = part.table.drop_nulls("value").unique("color", keep="last", maintain_order=True)
    last = last.filter(pl.col("color").is_in(highlighted)).with_columns(pl.lit(axis.texts[-1]).alias(WHEN))
    if named and len(last):
        layers.append(names_at_ends(last, x, y, metric, channels["color"]))
    lines = alt.layer(*layers, data=values(part.table), width=axis.size.width, height=axis.size.height)
    return alt.vconcat(lines, _bars_of(part, axis, most), spacing=8) if "n" in part.table.columns else lines


def _points(axis: Axis, x: Any, y: Any, color: Any, tips: Any, highlighted: Sequence[str]) -> list[Any]:
    """Return layers of points: those of periods that are partly filled are hollow."""
    chosen = alt.Chart().transform_filter(alt.FieldOneOfPredicate("color", [*highlighted]))
    drawn = "datum.filled && datum.value !== null" if len(axis.texts) <= POINTS else "datum.filled && datum.alone"
    full = chosen.transform_filter(drawn).mark_point(filled=True, size=25, opacity=1)
    hollow = chosen.transform_filter("!datum.filled && datum.value !== null")
    hollow = hollow.mark_point(size=55, strokeWidth=2, fill="#ffffff", opacity=1)
    return [layer.encode(x=x, y=y, color=color, tooltip=tips) for layer in (full, hollow)]


def _change(axis: Axis, part: Tidy, highlighted: Sequence[str]) -> tuple[list[str], str]:
    """Return where the level of a line changes, and words for whose it is.

    Of systems it is the best line; of segments, whose queries differ, the one farthest from chance, of all together.
    """
    best = [line for line in _best_first(part) if line in highlighted]
    of_parts = len(best) > 1 and "n" in part.table.columns and _numbers(part.table)[1] == OF_ALL
    lines = {line: axis.change_of(part.table.filter(color=line)) for line in (best if of_parts else best[:1])}
    line, (p, marked) = min(lines.items(), key=lambda one: one[1][0], default=("", (1.0, [])))
    return ([], "") if p * len(lines) >= ALPHA else (marked, f"{line}: " if of_parts else "")


def _marked(axis: Axis, part: Tidy, highlighted: Sequence[str], x: Any) -> list[Any]:
    """Return layers that mark the break of a line with its date, or shade its outage; none without either."""
    marked, whose = _change(axis, part, highlighted)
    if not marked:
        return []
    (first, last), outage = (marked[0], marked[-1]), len(marked) > 1
    label = whose + (" to ".join(dict.fromkeys(marked)) if outage else f"{axis.size.label} {first}")
    begin, end = axis.texts.index(first), axis.texts.index(last) + 1
    data = values(pl.DataFrame({WHEN: [first], "label": [label]}))
    if outage:
        every = values(pl.DataFrame({WHEN: axis.texts[begin:end]}))
        bar = alt.Chart(every).mark_bar(opacity=0.25, color=NEITHER, width={"band": 1.25})  # without gaps
        shown = bar.encode(x=x, y=alt.value(0), y2=alt.value(axis.size.height))
    else:
        shown = alt.Chart(data).mark_rule(strokeDash=[4, 4], opacity=0.6, color=INK).encode(x=x)
    late = begin > len(axis.texts) * axis.size.late
    side: dict[str, Any] = {"align": "right", "dx": -5} if late else {"align": "left", "dx": 5}
    text = alt.Chart(data).mark_text(**side, baseline="top", dy=3, color=INK)
    return [shown, text.encode(x=x, y=alt.value(0), text=alt.Text("label:N"))]


def _numbers(table: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return how many queries each period has, and whose they are.

    Lines of the same queries, as of systems, mostly have as many in a period; others, as of segments, are added up.
    """
    periods = table.drop_nulls("n").group_by(WHEN, maintain_order=True)
    equal = periods.agg(pl.col("n").n_unique() == 1)["n"].to_list()
    alike = sum(equal) / max(len(equal), 1)
    every = table.group_by(WHEN, maintain_order=True).agg(pl.col("n").max() if alike > 0.5 else pl.col("n").sum())
    several = table["color"].n_unique() > 1 if "color" in table.columns else False
    return every, ("n of each" if alike > 0.5 else OF_ALL) if several else "n"


def _bars_of(part: Tidy, axis: Axis, highest: float | None) -> Any:
    """Return bars of how many queries the values of each period rest on."""
    most, of = _numbers(part.table)
    scale = alt.Scale() if highest is None else alt.Scale(domain=[0, highest])
    y = alt.Y("n:Q", title=of, scale=scale, axis=alt.Axis(tickCount=2, format="~s", tickMinStep=1))
    bar = alt.Chart(values(most)).mark_bar(color=NEITHER, opacity=0.6)
    return bar.encode(
        x=axis.channel(labels=False), y=y, tooltip=[alt.Tooltip(f"{WHEN}:N", title=axis.name), alt.Tooltip("n:Q")]
    ).properties(width=axis.size.width, height=axis.size.bars)
