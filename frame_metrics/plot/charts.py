"""Parts that pictures share: Altair, colours, axes, small multiples, and pictures as SVG and PNG."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import polars.selectors as cs

from frame_metrics.errors import BadValueError, check_bool, import_needed, quote
from frame_metrics.metrics.metric import Metric
from frame_metrics.plot.tidy import Key, Tidy

# Okabe and Ito's colours, those that are readable on white and on black first; yellow and black are not among them.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])  # patterns of lines, if there are more lines than colours
GOOD, BAD, NEITHER = COLORS[0], COLORS[1], "#888888"
FAINT = "#88888866"  # lines behind others
LIMIT = 320  # the most pixels of a label
WIDTH, HEIGHT = 420, 320
LETTERS_OF_TITLE, LETTERS_OF_NOTE = 38, 48  # letters of a line of the title of a chart on a phone, and of a note
WIDTH_ON_PHONE = 225  # the greatest width of a chart on a phone, beside the names on its axis
OF_PARTS = {"labelLimit": WIDTH_ON_PHONE, "offset": 8}  # pixels there of the names of parts, and above a legend
NAME_ON_PHONE = {"labelLimit": 110, "limit": 95}  # pixels of a name there: on an axis, and at the end of a line
LINE = 13  # height of a line of text
SIDE_OF_SMALL, USUAL_COLUMNS = 220, 3  # pixels of the longer side of a small multiple, and the usual number of columns
LABEL_IN_LINES = "split(datum.label, '\\n')"  # of the text over a small multiple
MOST_SERIES = 1000  # the most systems or segments of a picture; from about 1,500 on Vega's stack overflows
PIXELS = 250_000_000  # the most pixels of a PNG
IN_COLUMN = 20  # the most entries in one column of a legend
# A picture as SVG has its text, axes and lines in the colour of the text around it.
INK = "currentColor"
CUT = "axes show only a part of the scale"
_AXES = {
    "labelColor": INK,
    "titleColor": INK,
    "domainColor": INK,
    "tickColor": INK,
    "gridColor": INK,
    "gridOpacity": 0.15,
    "domainOpacity": 0.4,
    "tickOpacity": 0.4,
    "titleFontWeight": "normal",
    "labelFlush": False,
}
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML does not allow
THEME: dict[str, Any] = {  # where a chart's own configuration says nothing
    "background": "transparent",
    "padding": {"left": 5, "top": 5, "bottom": 5, "right": 16},  # room for text in a font wider than the measured one
    "axis": _AXES,
    "legend": {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal"},
    "header": {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal"},
    "title": {"color": INK, "subtitleColor": INK},
    "text": {"color": INK},
    "rule": {"color": INK},
    "view": {"stroke": INK, "strokeOpacity": 0.2},
}
LIGHT, DARK = "#1f2328", "#e6edf3"  # the text of a picture that stands alone
# Fonts as wide as the one that texts are measured with.
FONT = 'svg text{font-family:Arial,"Liberation Sans",Helvetica,"DejaVu Sans Condensed",sans-serif}'
ALONE = f"<style>{FONT}svg:root{{color:{LIGHT}}}@media(prefers-color-scheme:dark){{svg:root{{color:{DARK}}}}}</style>"


def check_drawable(key: Key | None) -> None:
    """Raise for more systems or segments than Vega, which draws a chart, can hold."""
    if key is not None and len(key.values) > MOST_SERIES:
        raise BadValueError(
            f"{key.title}: there are {len(key.values):,} values, and at most {MOST_SERIES:,} can be drawn; keep the "
            "rows of some before the picture, as those of the best or largest, or leave the column out of by="
        )


def values(table: pl.DataFrame) -> Any:
    """Return rows as data of Altair, in plain values; numbers that are not finite become null."""
    finite = table.with_columns(pl.when(cs.float().is_finite()).then(cs.float()))
    return alt.Data(values=finite.to_dicts())  # type: ignore[no-untyped-call]


def colored(key: Key | None, *, dashes: bool = False, legend: bool = True, offset: int = 18) -> dict[str, Any]:
    """Return the channels by which series differ: colour, and dashes if there are more series than colours.

    Parameters
    ----------
    dashes : True for lines, which may have dashes.
    legend, offset : True for a legend, and its distance from the picture in pixels.
    """
    check_drawable(key)
    if key is None:
        return {"color": alt.ColorValue(COLORS[0])}
    n, m = len(key.values), len(COLORS)
    symbol: Any = "stroke" if dashes else "circle"
    lines: dict[str, Any] = {"offset": offset, "symbolType": symbol, "symbolOpacity": 1, "symbolStrokeWidth": 2}
    highlighted = [*(key.values if key.highlighted is None else key.highlighted)]
    lines |= {} if key.highlighted is None else {"values": highlighted}
    listed = alt.Legend(labelLimit=LIMIT, symbolLimit=0, columns=math.ceil(len(highlighted) / IN_COLUMN), **lines)
    shared: dict[str, Any] = {"title": key.title, "sort": None, "legend": listed if legend else None}
    colors = {one: COLORS[at % m] for at, one in enumerate(highlighted)}
    paint = alt.Scale(domain=key.values, range=[colors.get(one, FAINT) for one in key.values])
    channels: dict[str, Any] = {"color": alt.Color("color:N", scale=paint, **shared)}
    if dashes and n > m and key.highlighted is None:
        dash = alt.Scale(domain=key.values, range=[DASHES[i // m % len(DASHES)] for i in range(n)])
        channels["strokeDash"] = alt.StrokeDash("color:N", scale=dash, **shared)
    return channels


def line_mark(key: Key | None, of: str = "", **options: Any) -> Any:
    """Return a chart of lines; if some are grey, the line under the pointer is thick. ``of``: a name of the panel."""
    chart = alt.Chart().mark_line(**options)
    if key is None or key.highlighted is None:
        return chart
    pointed = alt.selection_point(re.sub(r"\W", "_", f"pointed{of}"), on="pointerover", fields=["color"], empty=False)
    return chart.add_params(pointed).encode(strokeWidth=alt.condition(pointed, alt.value(5), alt.value(1.5)))


def without_overlap(heights: Sequence[float], least: float) -> list[float]:
    """Return heights for texts that are at least ``least`` apart, and as near as possible to the given ones."""
    order = np.argsort(heights, kind="stable")
    runs: list[list[float]] = []
    for at, i in enumerate(order):
        runs.append([heights[i] - least * at])
        while len(runs) > 1 and np.mean(runs[-2]) > np.mean(runs[-1]):
            runs[-2:] = [runs[-2] + runs[-1]]
    level = np.concatenate([np.full(len(run), np.mean(run)) for run in runs] or [np.empty(0)])
    found = np.empty(len(order))
    found[order] = level + least * np.arange(len(order))
    return [float(one) for one in found]


def tooltip(tidy: Tidy, columns: Mapping[str, str]) -> list[Any]:
    """Return the tooltip of marks: the keys, and those of ``columns`` that the data have, with their titles."""
    keys = [alt.Tooltip(f"{name}:N", title=getattr(tidy, name).title) for name in tidy.series]
    there = [(name, title) for name, title in columns.items() if name in tidy.table.columns]
    return [*keys, *(alt.Tooltip(name, type=_type(tidy, name), title=title) for name, title in there)]


def _type(tidy: Tidy, column: str) -> Any:
    return "nominal" if tidy.table[column].dtype == pl.String else "quantitative"


def composed(tidy: Tidy, layers: Sequence[Any], title: str, *, width: int = WIDTH) -> Any:
    """Return layers as a whole picture."""
    return with_title(in_facets(tidy, layers, width=width, height=HEIGHT), title, tidy.notes)


def in_facets(
    tidy: Tidy, layers: Sequence[Any], *, width: int, height: Any, in_rows: bool = False, small: bool = True
) -> Any:
    """Return layers as one chart or, if there are facets, as small multiples.

    Parameters
    ----------
    width, height : of the chart, in pixels.
    in_rows : True for small multiples one below the other, False for side by side.
    small : True to scale small multiples down.
    """
    check_drawable(tidy.facet)
    data = values(tidy.table)
    if tidy.facet is None:
        return alt.layer(*layers, data=data, width=width, height=height)
    axis: dict[str, Any] = {"title": tidy.facet.title, "sort": tidy.facet.values}
    if in_rows:
        header = alt.Header(labelLimit=LIMIT, labelOrient="top", labelAnchor="start", labelPadding=2)
        row = alt.Row("facet:N", header=header, **axis)
        return alt.layer(*layers, width=width, height=height).facet(row=row, data=data)
    scale = SIDE_OF_SMALL / max(width, height) if small else 1
    part = alt.layer(*layers, width=round(width * scale), height=round(height * scale))
    columns, n = n_panel_columns(len(tidy.facet.values)), len(tidy.facet.values)
    channel = alt.Facet("facet:N", header=alt.Header(labelLimit=SIDE_OF_SMALL, labelExpr=LABEL_IN_LINES), **axis)
    chart = part.facet(facet=channel, columns=columns, data=data)
    return chart.resolve_axis(x="independent") if n % columns else chart


def n_panel_columns(n: int) -> int:
    """Return the number of columns for some panels, such that few places stay empty."""
    if n < USUAL_COLUMNS:
        return n
    return 2 if n == 4 else min((USUAL_COLUMNS, USUAL_COLUMNS + 1), key=lambda columns: -n % columns)


def with_title(chart: Any, title: str, notes: Sequence[str] = ()) -> Any:
    """Return a chart with its title, and the notes under it."""
    under: dict[str, Any] = {"subtitle": list(notes)} if notes else {}
    chart.title = alt.Title(title, anchor="start", **under)  # properties() would copy the data
    return chart


def metric_scale(metric: Metric) -> Any:
    """Return the scale of a metric's axis: its range or, if that is not finite, from 0 to the values."""
    return alt.Scale(domain=list(metric.range), nice=False) if has_ends(metric) else alt.Scale(zero=True, nice=True)


def has_ends(metric: Metric) -> bool:
    """Return True if the range of a metric is finite and not empty."""
    low, high = metric.range
    return low < high and math.isfinite(low) and math.isfinite(high)


def metric_title(name: str, metric: Metric) -> str:
    """Return the title of a metric's axis, which says if higher or lower values are better."""
    return name if metric.higher is None else f"{name} ({'higher' if metric.higher else 'lower'} is better)"


def svg(chart: Any) -> str:
    """Write a picture as SVG text, which is readable on light and on dark.

    Text, axes and rules have the colour of the surrounding text (``currentColor``), and the background is transparent.
    As a separate file or in ``<img>`` that colour is dark, or light if the reader's system is dark. Colours that a
    chart sets itself, including CSS variables, stay. Numbers have two decimals.

    Parameters
    ----------
    chart : one of these pictures, or any other Altair chart.

    Raises
    ------
    FrameMetricsError
        This is not a chart, it cannot be drawn, or Altair or vl-convert is not installed.
    """
    _converter()
    if not isinstance(chart, alt.TopLevelMixin):
        raise BadValueError(
            f"chart={quote(chart)} is not a chart of Altair, as df.irm.plot.metrics('ndcg@10') or plot.metrics(frame) "
            "returns; altair.Chart.from_dict() makes one of a dict"
        )
    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    text = ILLEGAL.sub(_symbol_of_control, _rounded(_converted(_legal(chart.to_dict(validate=False)), version)))
    return re.sub(r"(<svg[^>]*>)", rf"\1{ALONE}", text, count=1)


def _converted(spec: dict[str, Any], version: str) -> str:
    """Return a specification as SVG; raise where Vega cannot draw it."""
    try:
        return str(_converter().vegalite_to_svg(spec, vl_version=version, config=THEME))
    except ValueError as error:
        what = " ".join(str(error).split("\n")[:2]).rstrip()
        deep = "; it has too many systems or segments: draw fewer of them" if "call stack" in what else ""
        raise BadValueError(f"chart: it cannot be drawn ({what}){deep}") from None


def _legal(spec: Any) -> Any:
    """Return a specification in which visible signs replace characters that SVG does not allow."""
    if isinstance(spec, dict):
        return {_legal(name): _legal(value) for name, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [_legal(value) for value in spec]
    return ILLEGAL.sub(_symbol_of_control, spec) if isinstance(spec, str) else spec


def _symbol_of_control(found: re.Match[str]) -> str:
    """Return the Unicode symbol of a control character, or that of an unknown one; Vega would undo an escape."""
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


def png(chart: Any, *, dark: bool = False, scale: float = 2) -> bytes:
    """Write a picture as PNG, on a white or a dark background.

    Parameters
    ----------
    chart : one of these pictures, or any other Altair chart.
    dark : whether the background is dark.
    scale : pixels of a unit, above 0; at most 250 million in all.

    Raises
    ------
    FrameMetricsError
        As in ``svg``, or an option has an invalid value, or gives more pixels.
    """
    check_bool("dark", dark)
    given: Any = scale
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 < float(given) < math.inf:
        raise BadValueError(f"scale={quote(scale)} is not a number above 0, as 2")
    text = svg(chart).replace(ALONE, f'<rect width="100%" height="100%" fill="{"#0d1117" if dark else "#ffffff"}"/>')
    _check_size(text, float(scale))
    png: bytes = _converter().svg_to_png(text.replace(INK, DARK if dark else LIGHT), scale=float(scale))
    return png


def size_in_pixels(svg: str) -> list[float]:
    """Return the width and the height of a picture, in pixels."""
    return [float(side) for side in re.findall(r' (?:width|height)="([\d.]+)"', svg[: svg.index(">")])]


def _check_size(text: str, scale: float) -> None:
    """Raise for a picture of less than one pixel, or of more than fit in memory."""
    sides = size_in_pixels(text)
    least, most = 1 / min(sides), math.sqrt(PIXELS / math.prod(sides))
    if not least <= scale <= most:
        raise BadValueError(
            f"scale={scale:g}: the picture is {sides[0]:g} by {sides[1]:g} units; pass {least:.2g} to {most:.4g}"
        )


def _converter() -> Any:
    """Return vl-convert, or raise with the command that installs it."""
    return import_needed("vl_convert", "SVG and PNG need vl-convert", "plot")


def _rounded(text: str) -> str:
    """Return SVG whose positions and sizes have at most two decimals."""

    def in_place(place: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d{3,}(e-?\d+)?", lambda number: f"{round(float(number[0]), 2):g}", place[0])

    return re.sub(r' (?:d|transform|[xy][12]?|width|height|r|points)="[^"]*"', in_place, text)


def untitled(chart: Any) -> Any:
    """Return a chart without its title, for a page that has one above several charts."""
    drawn = chart.copy()
    drawn.title = alt.Undefined
    return drawn


def for_phones(chart: Any) -> Any:
    """Return a chart for the width of a phone, with its legend below, and lines of its title that fit.

    Its parts stand one below the other and have fewer labels, and long names are cut.
    """
    spec = chart.to_dict(validate=False)
    title = spec.get("title", {})
    if isinstance(title, dict) and isinstance(title.get("text"), str):
        whole = title["text"].replace("(n = ", "(n\u00a0=\u00a0")  # on one line
        title["text"] = [line.replace("\u00a0", " ") for line in textwrap.wrap(whole, LETTERS_OF_TITLE)]
        notes = [line for note in title.get("subtitle", ()) for line in textwrap.wrap(note, LETTERS_OF_NOTE)]
        title |= {"subtitle": notes} if notes else {}
    _narrow(spec, 1.0)
    return with_legend_below(alt.Chart.from_dict(spec, validate=False))


def with_legend_below(chart: Any) -> Any:
    """Return a chart with its legend below, so that it is as wide as others without one."""
    spec = chart.to_dict(validate=False)
    legend = {**spec.get("config", {}).get("legend", {}), "orient": "bottom"}
    spec["config"] = {**spec.get("config", {}), "legend": legend}
    return alt.Chart.from_dict(spec, validate=False)


def _narrow(part: Any, share: float, room: float = 0) -> None:
    """Make a part of a specification narrower.

    Parameters
    ----------
    share : its new width by the old one.
    room : pixels by which its names may be longer, as it is narrower than it may be and has no numbers beside it.
    """
    if isinstance(part, list):
        for one in part:
            _narrow(one, share, room)
    if not isinstance(part, dict):
        return
    if isinstance(width := part.get("width"), int | float):
        part["width"] = min(width, WIDTH_ON_PHONE)
        places = [one.get("encoding", {}).get("x", {}).get("value", 0) for one in part.get("layer", [])]
        share, beside = part["width"] / width, max(places, default=0) > part["width"]
        room = 0 if beside else WIDTH_ON_PHONE - part["width"]
    if "hconcat" in part:
        part["vconcat"] = part.pop("hconcat")
    part |= {"columns": 1} if "columns" in part and {*part} & {"concat", "facet"} else {}
    part |= {name: min(part[name], most + room) for name, most in NAME_ON_PHONE.items() if name in part}
    if "labelAngle" in part and isinstance(labels := part.get("values"), list):
        part["values"] = labels[:: math.ceil(1 / share)]
    for name, one in part.items():
        if name == "x" and isinstance(one, dict) and isinstance(one.get("value"), int | float):
            one["value"] *= share
        if name == "y" and isinstance(one, dict) and isinstance(axis := one.get("axis"), dict):
            axis |= {mark: True for mark in ("labels", "ticks") if mark in axis}  # no part stands beside one with names
        if name in ("header", "legend") and isinstance(one, dict):
            one |= {mark: min(one[mark], most) for mark, most in OF_PARTS.items() if mark in one}
        if name not in ("data", "datasets", "header", "legend", "title"):
            _narrow(one, share, room)
