"""Pictures of averages: metrics by system with their intervals, bounds, and metrics at cutoffs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import count, takewhile
from typing import Any, TypeAlias

import altair as alt
import polars as pl

from frame_metrics.backends.display import JOINT, simultaneous_words, small_text
from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import check_bool, check_ci
from frame_metrics.hidden import TEXT_OF_PANEL
from frame_metrics.metrics.metric import Metric
from frame_metrics.plot.charts import (
    COLORS,
    CUT,
    HEIGHT,
    LIMIT,
    LINE,
    WIDTH,
    check_drawable,
    colored,
    has_ends,
    in_facets,
    line_mark,
    metric_scale,
    metric_title,
    tooltip,
    values,
    without_overlap,
)
from frame_metrics.plot.panels import METRIC, in_panels, metric_under, with_metric_names
from frame_metrics.plot.tidy import OF_EVALUATE, Key, Names, Tidy, highlight_lines, n_text, read_tidy

HEIGHT_OF_ROW = 22  # height of a row, in pixels
PANEL, NUMBERS, PAGE = 170, 65, 780  # widths: of a panel, of the numbers to its right, of a notebook
BAR = COLORS[-1]  # visible on light and on dark
WIDTH_AMONG_PANELS = 300  # width of a panel of lines, if there are several panels
LETTER = 6.5  # width of a letter
EQUAL, LEAST = 1e-12, 0.0005  # differences that are 0 but for rounding, and the least that three digits show
NEAREST = 0.1  # the least share of a metric's scale that an axis shows
MIN_RATIO_OF_LOG_AXIS = 100  # if the highest cutoff is so many times the lowest, the axis is logarithmic
Ends: TypeAlias = tuple[str, str] | None  # the columns of an interval
ENDS = ("ci_low", "ci_high")
# The title of an axis of names stands above them: beside them it would touch long ones in another font.
ABOVE_NAMES: Any = {
    "titleAngle": 0,
    "titleAlign": "right",
    "titleAnchor": "end",
    "titleBaseline": "bottom",
    "titleX": -9,
    "titleY": -4,
}
RANKS, LEADS = ("rank", "rank_low", "rank_high"), "may_be_best"  # the columns of a leaderboard


def metrics(
    frame: Any, *, ci: float | None = None, whole: bool = False, color: Names = None, facet: Names = None
) -> alt.Chart:
    """Draw metrics with their intervals, a row for each system or segment, the best on top and its number in bold.

    Each metric has a panel, whose axis covers the values. Without systems and segments a row is a metric, and metrics
    with the same range share a panel.

    Parameters
    ----------
    frame : the result of ``evaluate`` or ``per_class`` in the long layout, of any kind; its ``ci=`` gives intervals.
    ci : the level of those intervals, shown in the subtitle; the frame does not record it.
    whole : whether axes show all possible values of the metric.
    color : the key columns that have a row for each value; by default the first one.
    facet : the key columns of small multiples; by default all others.
    """
    picture = "metrics draws what evaluate() and per_class() return in the long layout"
    also = (*OF_EVALUATE, *ENDS)
    check_bool("whole", whole)
    bars = level_note(ci)
    tidy = with_metric_names(read_tidy(frame, picture, ("metric", "value"), also, color=color, facet=facet))
    ends = ENDS if "ci_low" in tidy.table.columns else None
    tidy = tidy.with_notes("" if ends is None else bars)
    return _in_rows(tidy.with_notes("" if whole else CUT), ends, whole)


def level_note(ci: float | None) -> str:
    """Return a note that bars are intervals, with their level if it is given; raise for a wrong level."""
    if ci is not None:
        check_ci(ci)
    return f"bars: {'' if ci is None else f'{100 * ci:g} % '}intervals"


def comparison(frame: Any, *, ci: float | None = None, color: Names = None, facet: Names = None) -> alt.Chart:
    """Draw mean differences between systems, or arms, with their intervals: a row for each system, a line at 0.

    Of teams it draws how much users prefer them, from -1/2 to 1/2.

    Parameters
    ----------
    frame : the result of ``compare``, ``ab_test``, ``change`` or ``interleaving``, of any kind.
    ci, facet : as in ``metrics``; several baselines have separate rows.
    color : the key columns that have a row for each value; by default that of the systems.
    """
    backend = backend_of(frame)
    bars, names = level_note(ci), backend.names()
    if {*JOINT} <= {*names} and (joint := simultaneous_words(backend.read(JOINT))):
        bars += f", which {joint}"
    preferred = "preference" in names
    drawn = "preference" if preferred else "difference"
    needs = ("baseline", "metric", drawn, *ENDS)
    keys = [*takewhile(lambda name: name not in needs, names)]
    also = [name for name in ("n", "baseline_n") if name in names]
    ignored = [name for name in names if name not in (*keys, *needs, *also)]
    color = keys[-1:] if color is None and facet is None else color
    picture = "comparison draws what compare(), ab_test(), change() and interleaving() return"
    tidy = with_metric_names(read_tidy(frame, picture, needs, also, color=color, facet=facet, ignored=ignored))
    baselines = tidy.table["baseline"].unique(maintain_order=True).to_list()
    against = f"{' over' if preferred else 's to'} {baselines[0]}" if len(baselines) == 1 else "s" * (not preferred)
    if len(baselines) > 1:
        systems = [] if tidy.color is None else [pl.col("color")]
        tidy = tidy.with_columns(color=pl.concat_str(*systems, "baseline", separator=" against "))
        columns = () if tidy.color is None else tidy.color.columns
        tidy = replace(
            tidy, color=Key((*columns, "baseline"), tidy.table["color"].unique(maintain_order=True).to_list())
        )
    tidy = replace(tidy, table=tidy.table.rename({drawn: "value"}))
    best = 0.5 if preferred else None
    return _in_rows(tidy.with_notes(bars), ENDS, whole=False, title_end=f": {drawn}{against}", zero=True, best=best)


def leaderboard(frame: Any, *, ci: float | None = None, color: Names = None, facet: Names = None) -> alt.Chart:
    """Draw a leaderboard, the best system on top: means with their intervals, and the ranks that each may have.

    The numbers of all systems that may be the best are in bold.

    Parameters
    ----------
    frame : the result of ``leaderboard``, of any kind.
    ci : the level of the intervals, shown in the subtitle.
    color, facet : as in ``metrics``.
    """
    picture, needs = "leaderboard draws what leaderboard() returns", ("metric", "value", *ENDS, *RANKS, LEADS)
    bars, also = level_note(ci), (*OF_EVALUATE, "reliability")
    tidy = with_metric_names(read_tidy(frame, picture, needs, also, color=color, facet=facet))
    notes = (f"{bars} of means", "in bold: may be the best", "in brackets: possible ranks")
    return _in_rows(tidy.with_notes(*notes), ENDS)


def bounds(frame: Any, *, color: Names = None, facet: Names = None) -> alt.Chart:
    """Draw how low and how high metrics could be, as bars, with their values as points.

    Parameters
    ----------
    frame : the result of ``bounds``, of any kind.
    color, facet : as in ``metrics``.
    """
    needs = ("metric", "value", "lower", "upper")
    also = (*OF_EVALUATE, "tied", "judged")
    tidy = with_metric_names(
        read_tidy(frame, "bounds draws what bounds() returns without baseline=", needs, also, color=color, facet=facet)
    )
    of = "equal scores in another order" if "tied" in tidy.table.columns else "other judgments of unjudged results"
    return _in_rows(tidy.with_notes("bars: the values that are possible with", of), ("lower", "upper"), whole=True)


def cutoffs(
    frame: Any, *, metric: str = "value", chosen: Names = None, color: Names = None, facet: Names = None
) -> alt.Chart:
    """Draw metrics against the cutoff, a line for each system or segment, with their intervals as bands.

    Parameters
    ----------
    frame : the result of ``curve("ndcg@k")``, or of ``evaluate`` with metrics at several cutoffs, of any kind.
    metric : the name of the metric, if the frame has no column ``metric``.
    chosen : lines in colour, besides the best one; all others are grey. By default all lines have a colour, or with
        more than 12 lines the best 6 at the last cutoff.
    color : the key columns whose values have different colours; by default the first one, and without keys the metrics.
    facet : the key columns of small multiples; by default all others.
    """
    also = ("metric", *OF_EVALUATE, *ENDS)
    picture = "cutoffs draws what curve('ndcg@k') returns"
    tidy = read_tidy(frame, picture, ("k", "value"), also, color=color, facet=facet)
    table = tidy.table if "metric" in tidy.table.columns else tidy.table.with_columns(metric=pl.lit(metric))
    lacking = table["k"].null_count()
    table = table.drop_nulls("k")
    stems = [_stem(*row) for row in table.select("metric", "k").iter_rows()]
    tidy = replace(tidy, table=table.with_columns(pl.Series("metric", stems, dtype=pl.String)))
    tidy = with_metric_names(tidy.with_notes(f"{lacking} values without a cutoff are not drawn" if lacking else ""))
    width = WIDTH if tidy.table["what"].n_unique() == 1 else WIDTH_AMONG_PANELS
    tidy = _highlight_by_first_metric(tidy, chosen)
    return in_panels(tidy, partial(_lines, width=width), f" by cutoff{n_text(n_behind(tidy))}")


def _stem(name: str, k: float) -> str:
    """Return the name of a metric with the letter k for its cutoff, as "ndcg@k" for "ndcg@10"."""
    ends = next((joint for joint in "@_" if name.endswith(f"{joint}{k:g}")), None)
    return name if ends is None else f"{name.removesuffix(f'{k:g}')}k"


def n_behind(tidy: Tidy) -> pl.Series:
    """Return the number of queries, or rows, behind each value; null if it is unknown."""
    return tidy.table["n"] if "n" in tidy.table.columns else pl.Series([None])


def _in_rows(
    tidy: Tidy, ends: Ends, whole: bool = False, title_end: str = "", *, zero: bool = False, best: float | None = None
) -> Any:
    """Return a picture of panels with a row for each value.

    If rows are systems or segments, they have the same order in all panels, and only the first panel of each line of
    panels shows their names.

    Parameters
    ----------
    ends : the columns of intervals, which are drawn as bars; None for no bars.
    whole : whether axes show all possible values of the metric.
    title_end : text after the names of the metrics in the title.
    zero : True if values are differences; there is a line at 0 then.
    best : the best value where values are not those of the metric, and -best the worst; None where they are.
    """
    ends_of_values = () if ends is None else tidy.table.drop_nulls("value")[ends[0]]
    tidy = tidy.with_notes("diamonds: no interval" if None in ends_of_values else "")
    of_arms = [tidy.table[name].alias("") for name in ("n", "baseline_n") if "baseline_n" in tidy.table.columns]
    behind = n_text(pl.concat(of_arms), "in each") if of_arms else n_text(n_behind(tidy))
    order, places = list[str](), count()
    longest = 0 if tidy.color is None else max(map(len, (*tidy.color.values, tidy.color.title)))
    columns = max(1, int((PAGE - min(LIMIT, longest * LETTER)) // (PANEL + NUMBERS)))

    def panel(part: Tidy, key: Key, name: str, metric: Metric) -> Any:
        metric = metric if best is None else replace(metric, range=(-best, best), best=best)
        if not order or tidy.color is None:
            order[:] = _best_first(part.table, key, metric)
        first = tidy.color is None or next(places) % columns == 0
        return _row_panel(part, key, name, metric, order, ends, whole=whole, first=first, zero=zero)

    return in_panels(tidy, panel, f"{title_end}{behind}", columns)


def _best_first(table: pl.DataFrame, key: Key, metric: Metric) -> list[str]:
    """Return the names of the rows of a panel, from top to bottom; the best is first if the metric has a direction."""
    if metric.higher is None or key.columns == METRIC or key.ordered:
        return key.values
    means = table.group_by("color", maintain_order=True).agg((pl.col("value") * metric.sign).mean())
    return means.sort("value", descending=True, nulls_last=True, maintain_order=True)["color"].to_list()


def _row_panel(
    part: Tidy,
    key: Key,
    name: str,
    metric: Metric,
    order: list[str],
    ends: Ends,
    *,
    whole: bool,
    first: bool,
    zero: bool,
) -> Any:
    """Return a panel with a row for each value, and its number beside it.

    Parameters
    ----------
    order : the names of the rows, from top to bottom.
    ends, whole, zero : as in ``_in_rows``.
    first : True if the panel is the first of a line, where rows have their names.
    """
    part = replace(part, table=_with_numbers(part, metric, "+.3f" if zero else ""))
    of_metrics = key.columns == METRIC
    y = alt.Y(
        "color:N",
        title=key.title if first and not of_metrics else None,
        sort=order,
        axis=alt.Axis(labelLimit=LIMIT, maxExtent=LIMIT + 20, labels=first, ticks=first, **ABOVE_NAMES),
    )
    check_drawable(key)
    title, axis = metric_title(name, metric), alt.Axis(tickCount=3 if zero else 4)
    if zero:
        metric = replace(metric, range=(-math.inf, math.inf))
    drawn = [part.table[column] for column in ("value", *(ends or ()))]
    scale = metric_scale(metric) if whole else scale_near([*drawn, pl.Series([0.0])] if zero else drawn, metric)
    shared = {"y": y, "tooltip": tooltip_of(part, name, ends)}
    x = alt.X("value:Q", title=title, scale=scale, axis=axis)
    point = alt.Chart().mark_point(fill="#ffffff", stroke=COLORS[0], size=30, opacity=1).encode(x=x, **shared)
    layers = [point]
    if ends is not None:
        without = alt.condition(f"datum.{ends[0]} === null", alt.value("diamond"), alt.value("circle"))
        layers = [point.encode(shape=without)]
        low = alt.X(f"{ends[0]}:Q", title=title, scale=scale, axis=axis)
        bar = alt.Chart().mark_rule(strokeWidth=9, opacity=0.6, color=BAR)
        layers.insert(0, bar.encode(x=low, x2=alt.X2(f"{ends[1]}:Q"), **shared))
    if zero:
        layers.insert(0, alt.Chart().mark_rule(strokeDash=[3, 3], opacity=0.6).encode(x=alt.XDatum(0)))
    part = part if first or part.facet is None else replace(part, facet=replace(part.facet, columns=("",)))
    layers += [_numbers(y, "other", "normal"), _numbers(y, "best", "bold")]
    return in_facets(part, layers, width=PANEL, height=alt.Step(HEIGHT_OF_ROW), in_rows=True)


def scale_near(drawn: list[pl.Series], metric: Metric) -> Any:
    """Return a scale that covers the drawn values, and at least a tenth of the metric's range.

    So small differences do not look large. If the range has no ends, the greatest absolute value stands for it.
    """
    numbers = pl.concat([one.alias("") for one in drawn]).drop_nulls()
    least, most = numbers.min(), numbers.max()
    if least is None or most is None or not math.isfinite(least) or not math.isfinite(most):  # type: ignore[arg-type]
        return metric_scale(metric)
    low, high = (float(end) for end in (least, most))  # type: ignore[arg-type]
    span = metric.range[1] - metric.range[0] if has_ends(metric) else max(abs(low), abs(high))
    room = max(0.05 * (high - low), (NEAREST * span - (high - low)) / 2)
    ends = max(low - room, metric.range[0]), min(high + room, metric.range[1])
    return alt.Scale(domain=ends, nice=False, zero=False) if ends[0] < ends[1] else metric_scale(metric)


def _numbers(y: Any, text: str, weight: Any) -> Any:
    """Return a layer with numbers to the right of a panel; ``text``: the column that holds them."""
    return (
        alt.Chart()
        .mark_text(align="left", fontWeight=weight)
        .encode(y=y, x=alt.value(PANEL + 8), text=alt.Text(f"{text}:N"))
    )


def _with_numbers(part: Tidy, metric: Metric, form: str) -> pl.DataFrame:
    """Return the rows of a panel with their values as texts, in the columns "best" and "other".

    "best" has the texts of the rows of each small multiple that are printed as the best one, "other" those of all
    other rows.
    """
    table, color = part.table, part.color
    written = [_written(value, metric.summed, form) for value in table["value"].to_list()]
    if LEADS in table.columns:
        return _with_ranks(table, written)
    table, text = table.with_columns(pl.Series(TEXT_OF_PANEL, written, dtype=pl.String)), pl.col(TEXT_OF_PANEL)
    most = text.sort_by(pl.col("value") * metric.sign, descending=True, nulls_last=True).first()
    best = pl.col("value").is_not_null() & (text == (most if part.facet is None else most.over("facet")))
    differ = text.n_unique() > 1  # as in tables, values that are printed alike are equally good
    best &= differ if part.facet is None else differ.over("facet")
    compared = color is not None and color.columns != METRIC and len(color.values) > 1 and metric.higher is not None
    is_best = best.fill_null(False) if compared else pl.lit(False)
    columns = {"best": is_best, "other": ~is_best}
    texts = [pl.when(when).then(text).otherwise(pl.lit("")).alias(name) for name, when in columns.items()]
    return table.with_columns(texts).drop(TEXT_OF_PANEL)


def _with_ranks(table: pl.DataFrame, written: list[str]) -> pl.DataFrame:
    """Return the rows of a leaderboard with texts: "best" has those of systems that may be the best."""
    ends = table.select("rank_low", "rank_high").rows()
    texts = [
        one if low is None else f"{one} ({low:g}{'' if low == high else f' to {high:g}'})"
        for one, (low, high) in zip(written, ends, strict=True)
    ]
    leads = pl.col(LEADS).fill_null(0) == 1
    each = {"best": leads, "other": ~leads}
    columns = [
        pl.when(when).then(pl.lit(pl.Series(texts))).otherwise(pl.lit("")).alias(name) for name, when in each.items()
    ]
    return table.with_columns(columns)


def _written(value: float | None, summed: bool, form: str) -> str:
    """Return the text of a value; ``form``: a format specification, "" for the usual format."""
    if value is None:
        return "undefined"
    if form:
        return small_text(value, "+") if EQUAL < abs(value) < LEAST else format(value, form)
    return f"{value:,.0f}" if abs(value) >= 1000 or (summed and value == round(value)) else f"{value:.3f}"


def tooltip_of(part: Tidy, name: str, ends: Ends) -> list[Any]:
    """Return the texts that are shown for the value under the pointer."""
    columns = {"value": name, "k": "k"} | ({} if ends is None else {ends[0]: "from", ends[1]: "to"}) | {"n": "rests on"}
    return tooltip(part, columns)


def _at_ends(table: pl.DataFrame) -> pl.DataFrame:
    """Return the last point of each line whose value is defined."""
    return table.drop_nulls("value").sort("k", maintain_order=True).unique("color", keep="last", maintain_order=True)


def _highlight_by_first_metric(tidy: Tidy, chosen: Names) -> Tidy:
    """Return data with only some lines in colour, if there are too many lines or some are chosen.

    All panels have the same lines in colour. The best lines are those at the last cutoff, by the first metric.
    """
    if tidy.color is None or tidy.facet is not None:
        return highlight_lines(tidy, None, chosen)
    last = _at_ends(tidy.table.filter(pl.col("what") == tidy.table["what"][0]))
    sign = metric_under(tidy.table, tidy.table["what"][0]).sign or 1
    return highlight_lines(tidy, last.sort(pl.col("value") * sign, descending=True)["color"].to_list(), chosen)


def _lines(part: Tidy, key: Key, name: str, metric: Metric, *, width: int) -> Any:
    """Return a panel with a line for each series, its values against the cutoff, and its name at the end."""
    last = _at_ends(part.table)
    ks = part.table["k"].to_list()
    far = max(ks, default=1) >= MIN_RATIO_OF_LOG_AXIS * max(min(ks, default=1), 1)
    x_scale = alt.Scale(type="log") if far else alt.Scale(zero=False, nice=False, padding=8)
    x = alt.X("k:Q", title="Cutoff k", scale=x_scale, axis=alt.Axis(format="d", tickMinStep=1))
    title, scale = metric_title(name, metric), metric_scale(metric)
    several, in_colour = len(key.values) > 1, key.highlighted is None
    channels = colored(key, dashes=True, legend=several and part.facet is not None)
    line = line_mark(key, name, point=alt.OverlayMarkDef(size=25) if in_colour else False)
    y = alt.Y("value:Q", title=title, scale=scale)
    layers = [line.encode(x=x, y=y, **channels, tooltip=tooltip_of(part, name, None))]
    if "ci_low" in part.table.columns and in_colour:
        low = alt.Y("ci_low:Q", title=title, scale=scale)
        band = alt.Chart().mark_area(opacity=0.15)
        layers.insert(0, band.encode(x=x, y=low, y2=alt.Y2("ci_high:Q"), color=channels["color"]))
    last = last.filter(pl.col("color").is_in([*(key.highlighted or key.values)]))
    if several and part.facet is None and len(last):
        layers.append(names_at_ends(last, x, y, metric, channels["color"]))
    return in_facets(part, layers, width=width, height=HEIGHT)


def names_at_ends(last: pl.DataFrame, x: Any, y: Any, metric: Metric, color: Any) -> Any:
    """Return a layer with the names of lines, to the right of their last points; names do not overlap.

    A dot before each name has the colour of its line, and the name has that of text, which is easier to read.

    Parameters
    ----------
    last : the last point of each line, with its place in the column that ``x`` shows.
    """
    heights = last["value"].to_list()
    span = metric.range[1] - metric.range[0] if has_ends(metric) else max(map(abs, heights)) or 1
    place = str(x.shorthand).partition(":")[0]
    ends = last.select("color", pl.col(place).max(), height=pl.Series(without_overlap(heights, span * LINE / HEIGHT)))
    named = alt.Chart(values(ends))
    text, dot = (
        named.mark_text(align="left", dx=17, limit=LIMIT),
        named.mark_point(filled=True, size=40, xOffset=11, opacity=1),
    )
    height = y.copy()
    height.shorthand = "height:Q"
    return alt.layer(dot.encode(x=x, y=height, color=color), text.encode(x=x, y=height, text=alt.Text("color:N")))
