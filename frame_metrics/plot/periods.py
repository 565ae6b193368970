"""The picture of metrics over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from frame_metrics.backends.display import value_text
from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.time_texts import Time
from frame_metrics.backends.times import ordered_distinct, times_in, times_of, with_gaps
from frame_metrics.errors import BadValueError, ColumnError, listed
from frame_metrics.measuring.courses import is_comparable
from frame_metrics.metrics.metric import Metric
from frame_metrics.plot.averages import ENDS, level_note, n_behind, names_at_ends, scale_near
from frame_metrics.plot.charts import (
    CUT,
    HEIGHT,
    NEITHER,
    check_drawable,
    colored,
    line_mark,
    metric_title,
    n_panel_columns,
    tooltip,
    values,
)
from frame_metrics.plot.marks import NAMED, WHEN, Mark, layers_of_marks, marks_over_time
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
from frame_metrics.stats.intervals import MIN_QUERIES
from frame_metrics.stats.periods import Periods, well_filled

LABEL = 75  # pixels of the axis for each label
ROOM = 1.15  # the height of the axis of bars by that of the highest bar
POINTS = 31  # the most periods whose points are drawn; of more, only those that are partly filled
FILLED = 0.27  # the opacity of all bands together, as they cover each other
OF_ALL = "n in all"
PICTURE = "over_time draws what evaluate() returns with a column of times in by="


def over_time(
    frame: Any,
    *,
    ci: float | None = None,
    time: str | None = None,
    chosen: Names = None,
    color: Names = None,
    facet: Names = None,
    measured: Sequence[bool] | None = None,
) -> alt.Chart:
    """Draw metrics over time, a line for each system with its intervals as a band, and numbers of queries as bars.

    A missing period, or one without a value, is a gap. A line of mostly fewer than 10 queries is named and not drawn
    beside others, unless it is chosen. The first and the last period are hollow where they have less
    than half of the usual queries. Breaks are marked with their dates, and outages shaded, which need intervals: those
    that ``summary`` tells, of all lines together, up to 30. Each small multiple has its bars, on one scale.

    Parameters
    ----------
    frame : the result of ``evaluate`` with a column of days, weeks, months, quarters or times of the day among its
        segments, or of the names of weekdays or months; of any kind. Its ``ci=`` gives bands.
    ci : the level of those intervals, shown in the subtitle; the frame does not record it.
    time : the column of times, if there are several.
    chosen : lines in colour, besides the best one; all others are grey. By default the best 6 have a colour.
    color : the key columns whose values have different colours; by default the first one that is not the time.
    facet : the key columns of small multiples; by default all others.
    measured : for each row, whether its value is a measurement, in which breaks are looked for. By default those that
        stand for undefined values are none; ``irm.plot`` and reports also leave out F1 and others where a class has no
        row, and averages over classes that not all segments have.
    """
    bars, also = level_note(ci).replace("bars", "bands"), ("metric", *OF_EVALUATE, *ENDS)
    name = _time_in(frame, also, time)
    more = {"measured": _measured(frame, measured)}
    tidy = with_metric_names(
        read_tidy(frame, PICTURE, ("metric", "value"), also, color=color, facet=facet, ignored=[name], more=more)
    )
    axis = Axis.of(name, column_of(frame, name))
    tidy = axis.with_every_period(tidy, column_of(frame, name))
    marks = marks_over_time(tidy, axis)
    changed = [] if tidy.color is None else [line["color"] for mark in marks for line in mark.lines[:NAMED]]
    tidy, few = _without_small(tidy, [*changed, *([chosen] if isinstance(chosen, str) else chosen or ())])
    tidy = tidy.with_notes(bars if "ci_low" in tidy.table.columns else "", CUT if _is_cut(tidy) else "", few)
    tidy = highlight_lines(tidy, _best_first(tidy), chosen, HIGHLIGHTED, changed)
    behind = n_behind(replace(tidy, table=tidy.table.drop_nulls("value")))
    title, columns = f" by {name}{n_text(behind, 'in each')}", None if tidy.facet is None else 1
    return in_panels(tidy, partial(_panel, axis=axis, marks=marks), title, columns)


def _measured(frame: Any, given: Sequence[bool] | None) -> pl.Series:
    """Return for each row whether its value is a measurement; ``given``: as the caller says, if he does."""
    names = [name for name in ("metric", "average", "n_undefined") if name in backend_of(frame).names()]
    read = backend_of(frame).read(names)
    if given is not None and len(given) != len(read):
        raise BadValueError(f"measured= has {len(given):,} values, and the frame {len(read):,} rows; pass one for each")
    return is_comparable(read) if given is None else pl.Series(given, dtype=pl.Boolean)


def _is_cut(tidy: Tidy) -> bool:
    """Return True if the axis of some metric begins above its least value, or above 0 where there is none."""
    parts = [(part, metric_under(part, part["what"][0])) for part in tidy.table.partition_by("what")]
    ends = [(_scale(part, metric).to_dict().get("domain", (0.0,))[0], metric.range[0]) for part, metric in parts]
    return any(begin > (least if math.isfinite(least) else 0) for begin, least in ends)


def _scale(table: pl.DataFrame, metric: Metric) -> Any:
    """Return the scale of the values of one metric and their intervals."""
    return scale_near([table[column] for column in ("value", *ENDS) if column in table.columns], metric)


def _time_in(frame: Any, also: Sequence[str], time: str | None) -> str:
    """Return the key column of times; raise if there is none, or several and none is named."""
    names = backend_of(frame).names()
    keys = [name for name in names if name not in ("value", *also)]
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


WHOLE = Size(600, HEIGHT, 45, "break at or near")
MULTIPLE = Size(260, 150, 30, "break")  # of small multiples


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

    @cached_property
    def _times(self) -> dict[str, Time]:
        """When each period is; none if that is not known."""
        return dict(zip(self.texts, times_in(self.texts, self.name) or [], strict=False))

    @staticmethod
    def looked_at(table: pl.DataFrame) -> pl.DataFrame:
        """Return the periods of a line in which changes are looked for."""
        return table.filter(pl.col("value").is_not_null() & pl.col("filled") & pl.col("measured"))

    def periods(self, table: pl.DataFrame) -> Periods:
        """Return the numbers of the periods of a line, without those that are partly filled."""
        table = self.looked_at(table)
        times = [self._times[text] for text in table[WHEN]] if self._times else []
        table = table if times else table.clear()
        numbers = table.select(pl.col(name).cast(pl.Float64) for name in ("value", *ENDS, "n") if name in table.columns)
        columns = {name: column.to_numpy() for name, column in zip(numbers.columns, numbers, strict=True)}
        ends = np.array([columns[end] for end in ENDS]) if ENDS[0] in columns else None
        time = np.array([one.number for one in times])
        return Periods.of(times[0].unit if times else "", time, columns["value"], ends, columns.get("n"))


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


def _without_small(tidy: Tidy, kept: Sequence[str]) -> tuple[Tidy, str]:
    """Return the data without the values of lines of few queries beside others, and a note that names them.

    Such values go up and down between the ends of the scale, and would be seen first. Their queries stay in the bars.

    ``kept``: lines that are drawn however few their queries are.
    """
    if tidy.color is None or tidy.facet is not None or "n" not in tidy.table.columns:
        return tidy, ""
    usual = tidy.table.drop_nulls("value").group_by("color", maintain_order=True).agg(pl.col("n").median())
    small = [line for line, n in usual.rows() if n < MIN_QUERIES and line not in kept]
    if not small or len(small) == len(usual):
        return tidy, ""
    drawn, numbers = ~pl.col("color").is_in(small), [name for name in ("value", *ENDS) if name in tidy.table.columns]
    more = f" and {len(small) - NAMED:,} more" if len(small) > NAMED else ""
    note = f"not drawn: {', '.join(small[:NAMED])}{more}, mostly of fewer than {MIN_QUERIES} queries"
    return tidy.with_columns(pl.when(drawn).then(pl.col(name)).alias(name) for name in numbers), note


def _best_first(tidy: Tidy) -> list[str]:
    """Return the lines by their mean over all periods, by the first metric, the best first.

    None without colours, and if no value is better than another: as in a summary the first line comes first then.
    """
    first = tidy.table["what"][0]
    sign = metric_under(tidy.table, first).sign
    if tidy.color is None or not sign:
        return []
    weight = pl.col("n") if "n" in tidy.table.columns else pl.lit(1.0)
    mean = (pl.col("value") * weight).sum() / weight.filter(pl.col("value").is_not_null()).sum()
    means = tidy.table.filter(pl.col("what") == first).group_by("color", maintain_order=True).agg(mean * sign)
    return means.sort("value", descending=True, nulls_last=True, maintain_order=True)["color"].to_list()


def _panel(part: Tidy, key: Key, name: str, metric: Metric, *, axis: Axis, marks: Sequence[Mark]) -> Any:
    """Return a panel with a line for each series and bars of numbers, or small multiples of these."""
    title, scale = metric_title(name, metric), _scale(part.table, metric)
    y = alt.Y("value:Q", title=title, scale=scale)
    marks = [mark for mark in marks if mark.what == part.table["what"][0]]
    if part.facet is None:
        return _course(part, key, name, metric, y, axis, marks)
    check_drawable(part.facet)
    axis, columns = replace(axis, size=MULTIPLE), n_panel_columns(len(part.facet.values))
    facets = [part.table.filter(facet=value) for value in part.facet.values]
    most: Any = max(_numbers(table)[0]["n"].max() or 0 for table in facets) if "n" in part.table.columns else None
    multiples = []
    for at, value in enumerate(part.facet.values):
        own = replace(part, table=part.table.filter(facet=value))
        of_row = y if at % columns == 0 else alt.Y("value:Q", title=None, scale=scale)
        of_own = [replace(mark, lines=[line for line in mark.lines if line["facet"] == value]) for mark in marks]
        chart = _course(own, key, name, metric, of_row, axis, [mark for mark in of_own if mark.lines], most)
        lines = [f"{part.facet.title}: {line}" if "\n" not in value else line for line in value.split("\n")]
        chart.title = alt.Title(lines, anchor="start", fontSize=11, fontWeight="normal")
        multiples.append(chart)
    return alt.concat(*multiples, columns=columns, spacing=15)


def _course(
    part: Tidy,
    key: Key,
    name: str,
    metric: Metric,
    y: Any,
    axis: Axis,
    marks: Sequence[Mark],
    most: float | None = None,
) -> Any:
    """Return lines with their bands and names, their breaks and outages, and bars of numbers below.

    ``most``: the end of the axis of these; None for the highest bar.
    """
    highlighted, several = [*(key.highlighted or key.values)], len(key.values) > 1
    x, named = axis.channel(), several and part.facet is None
    channels = colored(key, dashes=True, legend=several and not named)
    titles = {"value": name, WHEN: axis.name, "ci_low": "from", "ci_high": "to", "n": "rests on"}
    tips = tooltip(part, titles)
    layers = [line_mark(key, name, strokeJoin="round").encode(x=x, y=y, **channels, tooltip=tips)]
    if "ci_low" in part.table.columns:
        band = (
            alt.Chart()
            .mark_area(opacity=min(max(FILLED / len(highlighted), 0.06), 0.15))
            .transform_filter(alt.FieldOneOfPredicate("color", highlighted))
        )
        low = y.copy()
        low.shorthand = "ci_low:Q"
        layers.insert(0, band.encode(x=x, y=low, y2=alt.Y2("ci_high:Q"), color=channels["color"]))
    layers += _points(axis, x, y, channels["color"], tips, highlighted)
    layers = layers_of_marks(axis, marks, key, x) + layers
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
    highest = highest or float(most["n"].max() or 1)  # type: ignore[arg-type]
    ticks = alt.Axis(values=[0, highest], format=".3~s")
    y = alt.Y("n:Q", title=of, scale=alt.Scale(domain=[0, ROOM * highest], nice=False), axis=ticks)
    bar = alt.Chart(values(most)).mark_bar(color=NEITHER, opacity=0.6)
    return bar.encode(
        x=axis.channel(labels=False), y=y, tooltip=[alt.Tooltip(f"{WHEN}:N", title=axis.name), alt.Tooltip("n:Q")]
    ).properties(width=axis.size.width, height=axis.size.bars)
