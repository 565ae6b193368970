"""The pictures of a report, as SVG within the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from frame_metrics import plot
from frame_metrics.backends.times import ordered_distinct
from frame_metrics.measuring.results import PPI_COLUMNS, PPI_ENDS
from frame_metrics.plot.charts import ALONE, CUT, for_phones, size_in_pixels, untitled, with_legend_below
from frame_metrics.report.blocks import Picture
from frame_metrics.report.cells import plain_text
from frame_metrics.report.chosen_rows import foremost
from frame_metrics.report.content import Content
from frame_metrics.report.of_breaks import time_of_lines
from frame_metrics.report.words import LONGEST_NAME, percent

AREAS = {"roc": "roc_auc", "pr": "average_precision"}  # the metric whose values are written beside the lines of a curve
WIDEST, HIGHEST = 400, 640  # of a picture whose letters, of 10 pixels, have 9 on a phone
SMALL_CHARTS = ("metrics", "segments")  # pictures of several small charts
# Paths that draw nothing; and attributes that a picture in a page does not need.
UNSEEN = re.compile(r'<path(?: class="background" d="[^"]*"|[^>]* display="none")/>')
NOT_IN_PAGE = re.compile(
    r' (?:(?:aria-[a-z]+|role|version|xmlns:xlink|pointer-events|font-family)="[^"]*"'
    r'|(?:opacity|stroke-width)="1"|[xy]2="0"|font-weight="normal"|transform="translate\(0,0\)")'
)
MOST_SERIES = 30  # the most systems, or segments, of a picture; more cannot be told apart
OF_MANY = 12  # the systems of a picture where there are more
BESIDE = 330  # the greatest width of small charts of which three stand beside each other
BOLD = 'font-weight="bold"'
LARGEST = 1.3  # the most times that a picture is larger than it is drawn, with letters of 10 pixels
USUAL_HEIGHT = 480  # of pictures in a page, in pixels; higher ones are not made smaller


def drawn(content: Content) -> dict[str, Picture]:
    """Draw the pictures of a report.

    Returns
    -------
    The pictures by the names of their places.
    """
    found = {}
    for name, title, charts in _charts(content):
        every = [*charts]
        notes = [CUT] if name in SMALL_CHARTS else _notes(every[0].title) if len(every) == 1 else []
        every = [untitled(chart) for chart in every] if len(every) == 1 else every
        if svgs := [svg for i, chart in enumerate(every) for svg in _for_both(chart, f"{name}-{i}")]:
            note = "" if name == "curve scores" else " The numbers are in the table."
            if name == "segments" and any(BOLD in svg for svg in svgs):  # the table has none: its values are over all
                notes = [*notes, "in bold: the best"]
            small = name in SMALL_CHARTS and max(size_in_pixels(svg)[0] for svg in svgs) <= BESIDE
            found[name] = Picture(title, f"Picture: {title}.{note}", svgs, notes, small)
    if "differences" in found and {"confusion", "thresholds"} & {*found}:  # two pictures are open
        found["all differences"] = found.pop("differences")
    return found


def _notes(title: Any) -> list[str]:
    """Return what the title of a chart says beside its name: how many queries there are, and notes."""
    n = re.search(r"\((n = .*)\)$", getattr(title, "text", ""))
    under = getattr(title, "subtitle", [])
    return [*([n[1]] if n else []), *(under if isinstance(under, list) else [])]


def _for_both(chart: Any, name: str) -> list[str]:
    """Return a chart as SVG, and one more for phones if its letters would be too small there."""
    wide = _svg(chart, name)
    width, height = size_in_pixels(wide)
    if height > USUAL_HEIGHT:
        wide = wide.replace('style="', f'style="--high:{height:.0f}px;', 1)
    if width <= WIDEST and height <= HIGHEST:
        return [wide]
    both = {"wide": wide, "narrow": _svg(for_phones(chart), f"{name}-narrow")}
    return [svg.replace("<svg ", f'<svg class="{kind}" ', 1) for kind, svg in both.items()]


def _charts_of_metrics(frame: pl.DataFrame, ci: float | None) -> list[Any]:
    """Return a chart of each metric that differs, without a title: its axis has the name.

    The rows of all stand in the order of the frame, which is that of the table, so that one can look across.
    """
    frame = frame.drop(*PPI_COLUMNS, *PPI_ENDS, strict=False)  # of people and a machine
    texts = [column for column in frame[:, : frame.columns.index("metric")] if column.dtype == pl.String]
    frame = frame.with_columns(
        column.cast(pl.Enum(column.drop_nulls().unique(maintain_order=True)))
        for column in texts
        if ordered_distinct(column) is None
    )
    parts = [part for part in _by_metric(frame) if part["value"].n_unique() > 1]
    charts = [plot.metrics(part, ci=ci) for part in parts]
    return [untitled(chart) for chart in charts]


def _charts(content: Content) -> Iterator[tuple[str, str, Iterable[Any]]]:
    """Yield the place, the title and the charts of each picture that has data, and not too many series."""
    level = f" with {percent(content.ci)} intervals" if content.ci else ""
    if content.segments is not None and (time := time_of_lines(content)):
        periods, of = _foremost_systems(content, content.of_segments)
        lines = [name for name in content.by if name != time]
        if periods["value"].count() and (not lines or _is_drawable(periods, lines)):
            frame, measured = periods.drop("measured"), periods["measured"].to_list()
            chart = plot.over_time(frame, ci=content.ci, color=lines or None, measured=measured)
            yield "over time", f"{content.first} by {time}{of}", [chart]
    results, of = _foremost_systems(content, content.results)
    if content.system and _is_drawable(results, content.keys):  # of one system they would show what the table says
        yield "metrics", f"Metrics{level}{of}", _charts_of_metrics(results, content.ci)
    yield from _segments(content, level)
    curve, of = _foremost_systems(content, content.curves.get("cutoffs", pl.DataFrame({"value": []})))
    if _is_drawable(curve, content.keys):
        yield "curve cutoffs", f"Metrics at cutoffs{of}", map(plot.cutoffs, _by_metric(curve))
    of_best = {kind: _foremost_systems(content, curve) for kind, curve in content.curves.items() if kind != "cutoffs"}
    if of_best:
        of = next(iter(of_best.values()))[1]
        some = {kind: curve for kind, (curve, _) in of_best.items()}
        yield "thresholds", f"Precision and recall by threshold{of}", _by_threshold(content, some.get("pr"))
        yield "curve scores", f"Curves of the scores: {', '.join(of_best)}{of}", _of_scores(content, some)
    # Of two classes it would show what the table says.
    confusion = content.decisions.confusion
    if (
        confusion is not None
        and confusion["actual"].n_unique() > 2
        and _is_drawable(confusion, content.system_and_segments, "n")
    ):
        yield "confusion", "Predicted and true classes", [plot.confusion(confusion)]
    if content.compared.leaderboard is not None:
        board, of = _foremost_systems(content, content.compared.leaderboard)
        if board["value"].count():
            yield "leaderboard", f"Systems in order{of}", [plot.leaderboard(board, ci=content.ci)]
    yield from _differences(content)
    if content.queries.values is not None:
        # Over all segments, as the table beside it.
        values, of = _foremost_systems(content, content.queries.values.drop(content.by))
        if _is_drawable(values, content.system_and_segments):
            yield "queries", f"{content.first} over {content.unit}{of}", [plot.queries(values, query=[*content.query])]


def _segments(content: Content, level: str) -> Iterator[tuple[str, str, Iterable[Any]]]:
    """Yield the picture of the first metric in the segments of one system."""
    frame = content.segments
    if frame is None or content.n_systems > 1 or not _is_drawable(content.of_first(frame), content.keys):
        return
    yield "segments", f"Metrics by {', '.join(content.by)}{level}", _charts_of_metrics(frame, content.ci)


def _differences(content: Content) -> Iterator[tuple[str, str, Iterable[Any]]]:
    """Yield the picture of differences: query by query, or for arms and rows without a query those of means."""
    if pairs := content.pairs.each:
        means = content.compared.differences
        charts = [plot.differences(pair, means=means, query=[*content.query]) for pair in pairs]
        title = f"Differences of {content.first_compared} query by query"
        yield "differences", title, charts[:1]
        yield "other differences", title, charts[1:]
        return
    means = content.differences_over_all
    if means is not None and _is_drawable(means, [content.system, "baseline"], "difference"):
        chart = plot.comparison(means.drop_nulls("difference"), ci=content.ci or 0.95)
        bases = means["baseline"].unique()
        against = f" from {plain_text(bases[0], LONGEST_NAME)}" if len(bases) == 1 and bases[0] is not None else ""
        yield "differences", f"Differences{against}", [chart]


def _by_threshold(content: Content, curve: pl.DataFrame | None) -> list[Any]:
    """Return the picture of precision and recall by threshold, with the chosen one, if there are scores."""
    if curve is None:
        return []
    keys = [name for name in content.system_and_segments if name in curve.columns]
    curve = curve.select(*keys, "threshold", "precision", "recall")
    return [plot.thresholds(curve, threshold=content.decisions.chosen)]


def _of_scores(content: Content, curves: Mapping[str, pl.DataFrame]) -> Iterator[Any]:
    """Yield the curves of scores, and their distribution with the chosen threshold."""
    for kind, curve in curves.items():
        if kind == "distribution":
            scores = plot.scores(curve, threshold=content.decisions.chosen, positive=content.decisions.positive)
            yield with_legend_below(scores)
        else:
            values = content.results.filter(pl.col("metric") == AREAS.get(kind, ""))
            options = {"values": values} if len(values) else {}
            yield getattr(plot, kind)(curve, positive=content.decisions.positive, **options)


def _foremost_systems(content: Content, frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return the rows of all systems, or of the best of many and the baseline, and words for these."""
    systems = frame[content.system].unique(maintain_order=True) if content.system in frame.columns else pl.Series()
    if len(systems) <= MOST_SERIES:
        return frame, ""
    best = systems[list(foremost(systems.to_list(), content.places, OF_MANY))]
    baseline = ", and the baseline" if content.has_baseline else ""
    words = f", the best {OF_MANY} of {len(systems):,} systems by {content.first}{baseline}"
    return frame.filter(pl.col(systems.name).is_in(best.implode(), nulls_equal=True)), words


def _is_drawable(frame: pl.DataFrame, keys: Sequence[str | None], value: str = "value") -> bool:
    """Return True if a picture has values, and at most ``MOST_SERIES`` series."""
    series = [name for name in frame.columns if name in keys]
    return frame[value].count() > 0 and (not series or frame.select(series).n_unique() <= MOST_SERIES)


def _by_metric(frame: pl.DataFrame) -> list[pl.DataFrame]:
    parts = frame.partition_by("metric", maintain_order=True)
    return [part for part in parts if part["value"].count()]


def _svg(chart: Any, name: str) -> str:
    """Return a chart as SVG; its ids contain ``name``, so that they differ from those of other charts on the page."""
    own = re.sub(r"\W", "-", name)

    def in_tag(found: re.Match[str]) -> str:
        """Return a tag without what nobody sees, and without labels of single marks: the whole picture has one."""
        tag = NOT_IN_PAGE.sub("", found[0])
        if UNSEEN.fullmatch(tag):
            return ""
        tag = re.sub(r' class="[^"]*"', "", tag)
        return re.sub(r"url\(#([^)]+)\)", rf"url(#{own}-\1)", re.sub(r' id="([^"]+)"', rf' id="{own}-\1"', tag))

    text = re.sub(r"<[a-zA-Z][^>]*>", in_tag, plot.svg(chart).replace(ALONE, "", 1))
    # In line with text and tables, and with letters that are hardly larger than theirs.
    widest = f"max-width:{LARGEST * size_in_pixels(text)[0]:.0f}px"
    return text.replace("<svg ", f'<svg preserveAspectRatio="xMinYMid" style="{widest}" ', 1)
