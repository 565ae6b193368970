"""Pictures of curves: precision and recall, ROC, gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import BadValueError, check_choice, quote
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plot.charts import (
    GOOD,
    HEIGHT,
    INK,
    LIMIT,
    LINE,
    NEITHER,
    colored,
    composed,
    line_mark,
    tooltip,
    without_overlap,
)
from frame_metrics.plot.charts import values as values_of
from frame_metrics.plot.extra_values import TABLE, pairs_of, with_prevalence, with_threshold, with_values
from frame_metrics.plot.tidy import Names, Tidy, column_of, n_text, only_at, read_tidy, thinned

RELEVANT = "relevant"  # the word in titles that the caller may replace
TITLES = {  # of axes, in one line or two
    "recall": ["Recall:", "share of the relevant that is found"],
    "precision": ["Precision:", "share of what is found that is relevant"],
    "fpr": ["False positive rate:", "share of the others that is found"],
    "tpr": ["True positive rate:", "share of the relevant that is found"],
    "share": ["Share of all rows,", "the highest scores first"],
    "gain": ["Share of the relevant rows", "that is among them"],
    "predicted": ["Mean score"],
    "observed": ["Share of relevant rows"],
}
DASHED: dict[str, Any] = {"strokeDash": [4, 4], "strokeWidth": 1}
ROC_POINT = ("fallout", "recall")
MOST_MARKS_WITH_TEXT = 3  # the most marks that have texts; those of more would overlap
NOTHING = "nothing is predicted"  # the text at the first point of a curve
TEXT_ROOM = 60  # pixels between a picture and its legend, for texts at the right ends of lines
COST_LINES = (0.0, 0.2, 0.4, 0.6, 0.8)  # heights at which lines of equal cost begin, on the left


def pr(
    frame: Any,
    *,
    interpolated: bool = False,
    f: Sequence[float] = (0.2, 0.4, 0.6, 0.8),
    beta: float = 1,
    threshold: Any = None,
    values: Any = None,
    chosen: Names = None,
    color: Names = None,
    facet: Names = None,
    positive: str = RELEVANT,
) -> alt.Chart:
    """Draw precision against recall, with lines of equal F, and a line at the share of relevant rows.

    Parameters
    ----------
    frame : the result of ``curve("pr")``, of any kind.
    interpolated : whether precision is the greatest at that recall or higher, so that the curve has steps.
    f : values of F, each with a line.
    beta : of F, how much more recall counts than precision.
    threshold : a number, or the result of ``best_threshold``. It marks the point of each curve with all scores of at
        least this number, at the least such score of the frame. If that score is another number, the label names both,
        as "0.82 (score 0.9)". A thinned frame (``points=``) may lack the point itself.
    values : the result of ``evaluate("average_precision")`` on the same data: the names of the lines include it.
    chosen : lines in colour, besides the best one; all others are grey. By default all lines have a colour, or with
        more than 12 lines the best 6, by ``values`` or else the first.
    color : the key columns shown by colour; by default the first one.
    facet : the key columns of small multiples; by default all others.
    positive : a word for the positive class.
    """
    tidy, x, y = _read("pr", ("recall", "precision"), frame, threshold, color, facet, positive)
    tidy, n = with_values(tidy, values, "AP", chosen), _n_of(values)
    tidy, whole = _with_shares(tidy, positive, y)
    layers = [_curve(tidy, x, y, interpolate="step-before" if interpolated else "linear"), *_marks(tidy, x, y)]
    layers = [*equal_f(f, beta, x, y), *whole, *layers]
    return composed(tidy, layers, f"Precision and recall{n}", width=HEIGHT)


def roc(
    frame: Any,
    *,
    costs: Mapping[str, float] | None = None,
    prevalence: float | None = None,
    threshold: Any = None,
    values: Any = None,
    odds: float | None = 10,
    chosen: Names = None,
    color: Names = None,
    facet: Names = None,
    positive: str = RELEVANT,
) -> alt.Chart:
    """Draw the true positive rate against the false positive rate, with the line of chance.

    Parameters
    ----------
    frame : the result of ``curve("roc")``, of any kind; for models without scores the result of ``evaluate("fallout",
        "recall")`` in the long layout: each is a point with its name. The method of a frame with decisions and no
        scores draws these.
    costs : of a mistake, as ``{"fp": 1, "fn": 5}``: lines of equal cost are drawn, and the cheapest point is marked.
    prevalence : the share of relevant rows, on which the cost depends.
    values : the result of ``evaluate("roc_auc", ci=0.95)`` on the same data: the names of the lines include it.
    odds : of models without scores, the factor that is enough to rule in or out. Two areas are grey: of rule-in, where
        a positive raises the odds by more than this (lr_positive), and of rule-out, where a negative lowers them by
        more (lr_negative). By default 10, which R. Jaeschke, G. H. Guyatt, D. L. Sackett, Users' guides to the medical
        literature III, JAMA 271(9), 1994, call a large change. None for no areas.
    threshold, chosen, color, facet, positive : as in ``pr``.
    """
    if decided := "metric" in backend_of(frame).names():
        tidy, x, y = _decided(frame, color, positive)
    else:
        tidy, x, y = _read("roc", ("fpr", "tpr"), frame, threshold, color, facet, positive)
        tidy = with_values(tidy, values, "AUC", chosen)
    layers = [diagonal(x, y)]
    if costs is not None:
        each = _costs(costs, prevalence)
        tidy = _with_cheapest(tidy, *each, of_all_lines=decided)
        layers += _equal_costs(*each, x, y)
        layers.append(ring(x, y, "cheapest", 160))
        share = f"{100 * float(prevalence or 0):.3g} % {positive}"
        amounts = f"false alarm {float(costs['fp']):g}, miss {float(costs['fn']):g}, {share}"
        cheapest = "decision" if decided else "threshold"
        tidy = tidy.with_notes(f"dotted: points of equal cost ({amounts})", f"ring: the cheapest {cheapest}")
    if decided and odds is not None:
        layers = [*_areas(odds, x, y), *layers]
        tidy = tidy.with_notes(f"grey: areas of rule-in (LR+ above {odds:g}) and rule-out (LR- below {1 / odds:.3g})")
    layers += _points(tidy, x, y) if decided else [_curve(tidy, x, y), *_marks(tidy, x, y)]
    return composed(tidy, layers, "ROC points" if decided else f"ROC curve{_n_of(values)}", width=HEIGHT)


def gain(
    frame: Any,
    *,
    prevalence: Any = None,
    threshold: Any = None,
    chosen: Names = None,
    color: Names = None,
    facet: Names = None,
    positive: str = RELEVANT,
) -> alt.Chart:
    """Draw the share of relevant rows found against the share of rows looked at, with the ideal and the line of chance.

    Parameters
    ----------
    frame : the result of ``curve("gain")``, of any kind.
    prevalence : the share of relevant rows, a number or a frame with tp, fp, fn and tn of each line, as
        ``best_threshold`` returns: the ideal is drawn, in which all relevant rows come first.
    threshold, chosen, color, facet, positive : as in ``pr``.
    """
    tidy, x, y = _read("gain", ("share", "gain"), frame, threshold, color, facet, positive)
    tidy = with_values(tidy, None, "", chosen)
    layers = []
    if prevalence is not None:
        tidy = _with_ideal(tidy, prevalence).with_notes("grey: the ideal; dashed: chance")
        ideal = alt.Chart().transform_filter("datum.ideal_x != null").mark_line(color=NEITHER, strokeWidth=1.5)
        x_of, y_of = axis_of("X", "share", positive, "ideal_x"), axis_of("Y", "gain", positive, "ideal_y")
        detail = alt.Detail("ideal:N")
        layers.append(ideal.encode(x=x_of, y=y_of, order=alt.Order("order:Q"), detail=detail))
    layers += [diagonal(x, y), _curve(tidy, x, y), *_marks(tidy, x, y)]
    tables = None if prevalence is None or is_number(prevalence) else prevalence
    n = pl.Series([None]) if tables is None else pl.DataFrame([column_of(tables, c) for c in TABLE]).sum_horizontal()
    return composed(tidy, layers, f"Cumulated gain{n_text(n)}", width=HEIGHT)


def _decided(frame: Any, color: Names, positive: str) -> tuple[Tidy, Any, Any]:
    """Return the rates of models without scores, a point for each model, and both axes."""
    picture = "roc draws what curve('roc') returns, or what evaluate('fallout', 'recall') returns in the long layout"
    tidy = pairs_of(picture, frame, ROC_POINT, color)
    tidy = replace(tidy, table=tidy.table.rename(dict(zip(ROC_POINT, ("fpr", "tpr"), strict=True))))
    return tidy, axis_of("X", "fpr", positive), axis_of("Y", "tpr", positive)


def _areas(odds: float, x: Any, y: Any) -> list[Any]:
    """Return the areas of the ROC plane in which a positive rules in, and in which a negative rules out.

    ``odds``: the factor of the odds: recall / fallout is above it, or (1 - recall) / (1 - fallout) below its inverse.
    """
    if not is_number(odds) or not 1 < odds < np.inf:
        raise BadValueError(f"odds={quote(odds)} is not a factor above 1, as 10")
    layers = []
    for name, right, low in (("rule-in", 1 / odds, (0.0, 1.0)), ("rule-out", 1.0, (1 - 1 / odds, 1.0))):
        area = pl.DataFrame({_field(x): [0.0, right], _field(y): low, "top": 1.0, "area": name})
        mark = alt.Chart(values_of(area)).mark_area(color=NEITHER, opacity=0.2)
        layers.append(mark.encode(x=x, y=y, y2=alt.Y2("top:Q"), tooltip=alt.Tooltip("area:N")))
    return layers


def _points(tidy: Tidy, x: Any, y: Any) -> list[Any]:
    """Return layers with a point for each model without scores, and its name."""
    point = alt.Chart().mark_point(filled=True, size=70, opacity=1, color=GOOD)
    name = alt.Chart().mark_text(align="left", dx=8, limit=LIMIT)
    layers = [point.encode(x=x, y=y, tooltip=tooltip(tidy, {"fpr": "fpr", "tpr": "tpr"}))]
    return layers if tidy.color is None else [*layers, name.encode(x=x, y=y, text=alt.Text("color:N"))]


def _n_of(values: Any) -> str:
    """Return for a title the number of rows behind the values in the names of lines; "" if it is unknown."""
    return "" if values is None or "n" not in backend_of(values).names() else n_text(column_of(values, "n"))


def _with_shares(tidy: Tidy, positive: str, y: Any) -> tuple[Tidy, list[Any]]:
    """Add a note about the share of relevant rows, and return a line at this share.

    The share is the precision at a recall of 1. If it differs between curves, or one of them has no such point, there
    is no note and no line.
    """
    ends = [part.filter(pl.col("recall") == 1).select(*tidy.series, "precision").tail(1) for part in tidy.lines()]
    shares = pl.concat(ends)
    if shares["precision"].round(3).n_unique() != 1 or len(shares) < len(ends):
        return tidy, []
    share = shares["precision"].round(3)[0]
    rule = alt.Chart(values_of(pl.DataFrame({"precision": [share]}))).mark_rule(color=NEITHER, strokeWidth=1.5)
    return tidy.with_notes(f"grey line: by chance, the share of {positive} rows, {share:g}"), [rule.encode(y=y)]


def _read(
    kind: str, columns: tuple[str, str], frame: Any, threshold: Any, color: Names, facet: Names, positive: str
) -> tuple[Tidy, Any, Any]:
    """Return the points of a curve, at most about 500 for each line, and both axes.

    These columns are added: "order", the number of the point; "at", its threshold or cutoff as text; "label", the
    text of the chosen threshold; "marked", true at the point of the chosen threshold.
    """
    picture = f"{kind} draws what curve({kind!r}) returns"
    tidy = read_tidy(frame, picture, columns, ("threshold", "k"), color=color, facet=facet)
    if threshold is not None and "threshold" not in tidy.table.columns:
        raise BadValueError("threshold= marks a point of a curve of scores; this frame has no column 'threshold'")
    tidy = _with_marks(with_threshold(tidy, threshold))
    nowhere = int(tidy.table.select(pl.any_horizontal(pl.col(columns).is_null())).to_series().sum())
    tidy = thinned(tidy, columns, kept="marked").with_notes(
        f"{nowhere:,} undefined points are not drawn" if nowhere else ""
    )
    named = next((name for name in ("threshold", "k") if name in tidy.table.columns), None)
    texts = [] if named is None else [_written(value) for value in tidy.table[named].to_list()]
    labels = [_label(*pair) for pair in zip(tidy.table["chosen"].to_list(), texts, strict=True)] if texts else []
    tidy = tidy.with_columns(
        pl.Series("order", np.arange(len(tidy.table))),
        pl.Series("at", texts or None, pl.String),
        pl.Series("label", labels or None, pl.String),
    )
    return tidy, axis_of("X", columns[0], positive), axis_of("Y", columns[1], positive)


def _with_marks(tidy: Tidy) -> Tidy:
    """Add a column "marked": true at the last point of each line whose threshold is at least the chosen one."""
    if "threshold" not in tidy.table.columns:
        return tidy.with_columns(marked=False)
    reached = pl.col("threshold") >= pl.col("chosen")
    return tidy.per_line(marked=only_at(reached.arg_true().last()))


def _written(threshold: float | None) -> str:
    return "all rows" if threshold is None else NOTHING if threshold == np.inf else f"{threshold:.4g}"


def _label(chosen: float | None, at: str) -> str:
    """Return the text of the chosen threshold; if the threshold of the point differs, it follows in brackets."""
    given = _written(chosen)
    return given if given == at else f"{given} ({'no score here is as high' if at == NOTHING else f'score {at}'})"


def axis_of(channel: str, column: str, positive: str = RELEVANT, field: str | None = None) -> Any:
    """Return an axis from 0 to 1 with the title of a column; ``field``: the column to draw, if it is another one."""
    scale = alt.Scale(domain=[0, 1], nice=False)
    title = [line.replace(RELEVANT, positive) for line in TITLES[column]]
    return getattr(alt, channel)(f"{field or column}:Q", title=title, scale=scale)


def _curve(tidy: Tidy, x: Any, y: Any, interpolate: Any = "linear") -> Any:
    """Return a layer with the lines of a curve; points are joined in the order of the frame."""
    names = {"at": "k" if "k" in tidy.table.columns else "threshold"}
    names |= {field: field for field in (_field(x), _field(y))}
    there = " && ".join(f"datum.{_field(channel)} != null" for channel in (x, y))
    line = line_mark(tidy.color, interpolate=interpolate, clip=True).transform_filter(there)
    return line.encode(x=x, y=y, order=alt.Order("order:Q"), tooltip=tooltip(tidy, names), **_channels(tidy))


def diagonal(x: Any, y: Any) -> Any:
    """Return the line on which both axes have the same value: that of chance, or of perfect calibration."""
    ends = pl.DataFrame({_field(x): [0.0, 1.0], _field(y): [0.0, 1.0]})
    return alt.Chart(values_of(ends)).mark_line(**DASHED, color=NEITHER).encode(x=x, y=y)


def _channels(tidy: Tidy) -> dict[str, Any]:
    """Return the channels for the colours of lines; the legend leaves room for texts at the right ends of lines."""
    return colored(tidy.color, dashes=True, offset=TEXT_ROOM)


def _field(channel: Any) -> str:
    return str(channel.shorthand).removesuffix(":Q")


def _marks(tidy: Tidy, x: Any, y: Any) -> list[Any]:
    """Return points at the chosen thresholds; a few points have texts, unless there are small multiples."""
    if not tidy.table["marked"].any():
        return []
    chosen = alt.Chart().transform_filter("datum.marked")
    channels = {"x": x, "y": y, "color": _channels(tidy)["color"]}
    point = chosen.mark_point(filled=True, size=90, opacity=1, shape="diamond").encode(**channels)
    marked = tidy.table.filter("marked")
    if len(marked) > MOST_MARKS_WITH_TEXT or tidy.facet is not None:
        return [point]
    heights = without_overlap(marked[_field(y)].to_list(), LINE / HEIGHT)
    texts = marked.select(
        pl.col(_field(x)), pl.Series(_field(y), heights), pl.format("threshold {}", "label").alias("label")
    )
    text = alt.Chart(values_of(texts)).mark_text(align="left", dx=9).encode(x=x, y=y, text=alt.Text("label:N"))
    return [point, text]


def ring(x: Any, y: Any, field: str, size: int) -> Any:
    """Return a layer with rings around the points where the column ``field`` is true."""
    marked = alt.Chart().transform_filter(f"datum.{field}")
    return marked.mark_point(size=size, strokeWidth=2, color=INK).encode(x=x, y=y)


def equal_f(f: Sequence[float], beta: float, x: Any, y: Any) -> list[Any]:
    """Return lines of equal F over recall and precision, with the value of F at the right end of each."""
    if not is_number(beta) or beta <= 0:
        raise BadValueError(f"beta={quote(beta)} is not a number above 0")
    square, tables = beta**2, []
    for level in f:
        if not is_number(level) or not 0 < level < 1:
            raise BadValueError(f"f={quote(level)} is not a value of F between 0 and 1")
        recall = np.linspace(square * level / (1 + square - level), 1, 60)
        precision = level * recall / ((1 + square) * recall - square * level)
        tables.append(pl.DataFrame({"recall": recall, "precision": precision, "f": f"F{beta:g} = {level:g}"}))
    if not tables:
        return []
    return _labelled(pl.concat(tables), "f", x, y, {**DASHED, "clip": True}, {"dx": 4})


def _labelled(table: pl.DataFrame, name: str, x: Any, y: Any, line: Any, label: Any) -> list[Any]:
    """Return a grey line for each value of the column ``name``, and the value as text at the last point of the line."""
    ends = table.group_by(name, maintain_order=True).last()
    lines = alt.Chart(values_of(table)).mark_line(**line, color=NEITHER)
    labels = alt.Chart(values_of(ends)).mark_text(**label, align="left", fontSize=9)
    lines, labels = lines.encode(detail=alt.Detail(f"{name}:N")), labels.encode(text=alt.Text(f"{name}:N"))
    return [layer.encode(x=x, y=y) for layer in (lines, labels)]


def _costs(costs: Mapping[str, float], prevalence: float | None) -> tuple[float, float]:
    """Return what false alarms add to the mean cost of a row at a rate of 1, and what misses add at a rate of 1."""
    for name, value in costs.items():
        check_choice("costs", name, ("fp", "fn"))
        if not is_number(value) or value <= 0:
            raise BadValueError(f"costs: {name}={quote(value)} is not a number above 0")
    if len(costs) < 2:
        raise BadValueError(f"costs={quote(dict(costs))} has not both, as {{'fp': 1, 'fn': 5}}")
    if not is_number(prevalence) or not 0 < prevalence < 1:
        raise BadValueError(
            f"costs= needs prevalence=, the share of relevant rows between 0 and 1; {quote(prevalence)} is none"
        )
    return costs["fp"] * (1 - prevalence), costs["fn"] * prevalence


def _with_cheapest(tidy: Tidy, fp: float, fn: float, *, of_all_lines: bool) -> Tidy:
    """Add a column "cheapest": true at the point of each line that costs least, the first of equal ones.

    Parameters
    ----------
    fp, fn : what ``_costs`` returns.
    of_all_lines : True for one cheapest point of all lines together.
    """
    least = only_at((fp * pl.col("fpr") + fn * (1 - pl.col("tpr"))).arg_min())
    return tidy.with_columns(cheapest=least) if of_all_lines else tidy.per_line(cheapest=least)


def _equal_costs(fp: float, fn: float, x: Any, y: Any) -> list[Any]:
    """Return lines of equal cost, with the cost at the right end of each."""
    start = pl.DataFrame({"fpr": 0.0, "tpr": COST_LINES, "cost": [f"{fn * (1 - at):.3g}" for at in COST_LINES]})
    right = pl.min_horizontal(1.0, (1 - pl.col("tpr")) * fn / fp)
    end = start.with_columns(fpr=right, tpr=pl.col("tpr") + right * fp / fn)
    line, label = {"strokeDash": [1, 3], "strokeWidth": 1}, {"dx": 3, "dy": -5}
    return _labelled(pl.concat([start, end]), "cost", x, y, line, label)


def _with_ideal(tidy: Tidy, prevalence: Any) -> Tidy:
    """Add the points of an ideal line, in which all relevant rows come first.

    There is a line of three points for each share of relevant rows in each small multiple.
    """
    tidy = with_prevalence(tidy, prevalence)
    each = pl.col("prevalence").round(3).alias("ideal")
    facet = [] if tidy.facet is None else ["facet"]
    added = []
    for keys in tidy.table.select(*facet, each, "prevalence").unique(["ideal", *facet], maintain_order=True).to_dicts():
        if share := keys.pop("prevalence"):
            ends = {"ideal_x": [0.0, share, 1.0], "ideal_y": [0.0, 1.0, 1.0], "order": [0, 1, 2]}
            added.append(pl.DataFrame(ends).with_columns(**{name: pl.lit(one) for name, one in keys.items()}))
    return replace(tidy, table=pl.concat([tidy.table, *added], how="diagonal"))
