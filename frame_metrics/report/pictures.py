"""The pictures of a report, as SVG within the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from frame_metrics import plot
from frame_metrics.report.content import Content
from frame_metrics.report.layout import Picture
from frame_metrics.report.needed import needed

MOST = 30  # systems, or segments, of a picture; more cannot be told apart
NUMBERS = "The numbers are in the table"


def drawn(content: Content) -> dict[str, Picture]:
    """Draw what a report holds.

    Returns
    -------
    By the name of its place, each picture.
    """
    found = {}
    for name, title, charts in _charts(content):
        svgs = [_alone(chart, f"{name}-{i}") for i, chart in enumerate(charts)]
        if svgs:
            found[name] = Picture(title, f"Picture: {title}. {NUMBERS}.", svgs)
    return found


def _charts(content: Content) -> Iterator[tuple[str, str, Iterable[Any]]]:
    """The name, the title and the charts of each picture, of what is there and not too much to be seen."""
    level = f" with {content.ci:.0%} intervals" if content.ci else ""
    if _few(content, content.results):
        parts = [content.results] if content.system is None else _by_metric(content.results)
        yield "metrics", f"Metrics{level}", map(plot.metrics, parts)
    if "cutoffs" in content.curves and _few(content, content.curves["cutoffs"]):
        yield "curve cutoffs", "Metrics at cutoffs", map(plot.cutoffs, _by_metric(content.curves["cutoffs"]))
    known = {kind: curve for kind, curve in content.curves.items() if kind != "cutoffs" and hasattr(plot, kind)}
    scores = [getattr(plot, kind)(curve) for kind, curve in known.items()]
    yield "curve scores", f"Curves of the scores: {', '.join(content.curves)}", scores


def _few(content: Content, frame: pl.DataFrame) -> bool:
    """Return True where a picture has values, and not too many series."""
    series = [name for name in content.keys if name in frame.columns]
    return frame["value"].count() > 0 and (not series or frame.select(series).n_unique() <= MOST)


def _by_metric(frame: pl.DataFrame) -> list[pl.DataFrame]:
    parts = frame.partition_by("metric", maintain_order=True)
    return [part for part in parts if part["value"].count()]


def _alone(chart: Any, name: str) -> str:
    """SVG of a chart without its title, with ids that are its own in a page of several."""
    chart["title"] = needed("altair").Undefined
    svg = plot.svg(chart)
    own = re.sub(r"\W", "-", name)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{own}-\1"', svg)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{own}-\1)", svg)
