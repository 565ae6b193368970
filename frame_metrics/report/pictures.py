"""The pictures of a report, as SVG within the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from frame_metrics import plot
from frame_metrics.report.content import Content
from frame_metrics.report.foremost import of_the_best
from frame_metrics.report.layout import Picture

AREAS = {"roc": "roc_auc", "pr": "average_precision"}  # whose values stand beside lines
MOST = 30  # systems, or segments, of a picture; more cannot be told apart


def drawn(content: Content) -> dict[str, Picture]:
    """Draw what a report holds.

    Returns
    -------
    By the name of its place, each picture.
    """
    found = {}
    for name, title, charts in _charts(content):
        svgs = [_svg(chart, f"{name}-{i}") for i, chart in enumerate(charts)]
        if svgs:
            beside = "" if name == "curve scores" else " The numbers are in the table."
            found[name] = Picture(title, f"Picture: {title}.{beside}", svgs)
    return found


def _charts(content: Content) -> Iterator[tuple[str, str, Iterable[Any]]]:
    """The name, the title and the charts of each picture, of what is there and not too much to be seen."""
    level = f" with {content.ci:.0%} intervals" if content.ci else ""
    results, of = _of_the_best(content, content.results)
    if content.system and _few(content, results):  # of one system they would show what the table says
        parts = [part for part in _by_metric(results) if part["value"].n_unique() > 1]
        charts = [plot.metrics(pl.concat(parts), ci=content.ci)] if parts else []
        yield "metrics", f"Metrics{level}{of}", charts
    curve, of = _of_the_best(content, content.curves.get("cutoffs", pl.DataFrame({"value": []})))
    if _few(content, curve):
        yield "curve cutoffs", f"Metrics at cutoffs{of}", map(plot.cutoffs, _by_metric(curve))
    shown = {kind: _of_the_best(content, curve) for kind, curve in content.curves.items() if kind != "cutoffs"}
    if shown:
        of = next(iter(shown.values()))[1]
        drawn = _of_scores(content, {kind: curve for kind, (curve, _) in shown.items()})
        yield "curve scores", f"Curves of the scores: {', '.join(shown)}{of}", drawn
    # Of two classes it would show what the table says.
    if (
        content.confusion is not None
        and content.confusion["actual"].n_unique() > 2
        and _few(content, content.confusion.with_columns(value="n"), content.groups)
    ):
        yield "confusion", "Predicted and true classes", [plot.confusion(content.confusion)]
    if pairs := content.foremost_pairs():
        means, query = content.comparison, [*content.query]
        charts = [plot.differences(pair, means=means, query=query) for pair in pairs]
        yield "differences", f"Differences of {content.first} query by query", charts
    elif content.comparison is not None and not {*content.by} & {*content.comparison.columns}:
        yield "differences", f"Differences{level}", _compared(content, content.comparison)
    if content.values is not None:
        # Over all segments, as the table beside it.
        values, of = _of_the_best(content, content.values.drop(content.by))
        if _few(content, values, content.groups):
            yield "queries", f"{content.first} over queries{of}", [plot.queries(values, query=[*content.query])]


def _compared(content: Content, comparison: pl.DataFrame) -> list[Any]:
    """The differences of arms, or of rows, where they are not too many."""
    keys = [name for name in (content.system, "baseline") if name in comparison.columns]
    few = comparison["difference"].count() and comparison.select(keys).n_unique() <= MOST
    return [plot.comparison(comparison.drop_nulls("difference"), ci=content.ci or 0.95)] if few else []


def _of_scores(content: Content, curves: Mapping[str, pl.DataFrame]) -> Iterator[Any]:
    """The curves of scores, how these lie, and what each threshold gives, with that which was said or is best."""
    chosen = content.best_threshold if content.threshold is None else content.threshold
    for kind, curve in curves.items():
        if kind == "distribution":
            yield plot.scores(curve, threshold=chosen, positive=content.positive)
        else:
            values = content.results.filter(pl.col("metric") == AREAS.get(kind, ""))
            options = {"values": values} if len(values) else {}
            yield getattr(plot, kind)(curve, positive=content.positive, **options)
        if kind == "pr":
            keys = [name for name in content.groups if name in curve.columns]
            yield plot.thresholds(curve.select(*keys, "threshold", "precision", "recall"), threshold=chosen)


def _of_the_best(content: Content, frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The rows of as many systems as can be told apart, the best and the baseline among them, and words for them."""
    shown = of_the_best(frame, content.system, content.places, MOST)
    if len(shown) == len(frame):
        return frame, ""
    n = frame[str(content.system)].n_unique()
    baseline = ", and the baseline" if content.named else ""
    return shown, f", the best {MOST} of {n:,} systems by {content.first}{baseline}"


def _few(content: Content, frame: pl.DataFrame, keys: Sequence[str] | None = None) -> bool:
    """Return True where a picture has values, and not too many series."""
    series = [name for name in (content.keys if keys is None else keys) if name in frame.columns]
    return frame["value"].count() > 0 and (not series or frame.select(series).n_unique() <= MOST)


def _by_metric(frame: pl.DataFrame) -> list[pl.DataFrame]:
    parts = frame.partition_by("metric", maintain_order=True)
    return [part for part in parts if part["value"].count()]


def _svg(chart: Any, name: str) -> str:
    """SVG of a chart, with ids that are its own in a page of several."""
    own = re.sub(r"\W", "-", name)

    def in_tag(found: re.Match[str]) -> str:
        """A tag without what is said of each mark, as one label is there for the whole picture."""
        tag = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", found[0])
        return re.sub(r"url\(#([^)]+)\)", rf"url(#{own}-\1)", re.sub(r' id="([^"]+)"', rf' id="{own}-\1"', tag))

    return re.sub(r"<[a-zA-Z][^>]*>", in_tag, plot.svg(chart))
