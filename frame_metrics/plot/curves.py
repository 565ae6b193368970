"""Pictures of curves: precision and recall, ROC, gain, calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from frame_metrics.errors import BadValueError, check_choice, shown
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plot.charts import HEIGHT, NEITHER, altair, colored, composed, tooltip, values
from frame_metrics.plot.marked import with_prevalence, with_threshold
from frame_metrics.plot.tidy import Names, Tidy, read_tidy, thinned

if TYPE_CHECKING:
    import altair as alt

RELEVANT = "relevant"  # the word in titles for which there may be another one
TITLES = {  # each a line, or two
    "recall": ["Recall:", "share of the relevant that is found"],
    "precision": ["Precision:", "share of what is found that is relevant"],
    "fpr": ["False positive rate:", "share of the others that is found"],
    "tpr": ["True positive rate:", "share of the relevant that is found"],
    "share": ["Share of all rows,", "the highest scores first"],
    "gain": ["Share of the relevant rows", "that is among them"],
    "predicted": ["Mean score"],
    "observed": ["Share of relevant rows"],
}
DASHED = {"strokeDash": [4, 4], "strokeWidth": 1}
FEW = 3  # marks whose texts do not stand in the way of each other
NOTHING = "nothing is predicted"  # at the first point of a curve
BESIDE = 60  # pixels at the right of a picture for the values of lines
LINES = (0.0, 0.2, 0.4, 0.6, 0.8)  # where lines of equal cost begin on the left


def pr(
    frame: Any,
    *,
    interpolated: bool = False,
    f: Sequence[float] = (0.2, 0.4, 0.6, 0.8),
    beta: float = 1,
    threshold: Any = None,
    color: Names = None,
    facet: Names = None,
    positive: str = RELEVANT,
) -> alt.Chart:
    """Draw precision against recall, with lines of equal F.

    Parameters
    ----------
    frame : what ``curve("pr")`` returned, of any kind.
    interpolated : whether its precision is the greatest at that recall or a higher one, so that the curve has steps.
    f : values of F that have a line each.
    beta : of F, how much more recall counts than precision.
    threshold : a number, or what ``best_threshold`` returned: the point of each curve at which scores of at least so
        much are found, that of the least such score of the frame, is marked. Where that score is another number, the
        label names both, as "0.82 (score 0.9)": of a frame that was thinned (``points=``) the point itself may lack.
    color : the key columns that are told apart by colour; by default the first one.
    facet : the key columns of small multiples; by default all others.
    positive : a word for what is to be found.
    """
    tidy, x, y = _read("pr", ("recall", "precision"), frame, threshold, color, facet, positive)
    layers = [_curve(tidy, x, y, interpolate="step-before" if interpolated else "linear"), *_marks(tidy, x, y)]
    return composed(tidy, [*equal_f(f, beta, x, y), *layers], "Precision and recall", width=HEIGHT)


def roc(
    frame: Any,
    *,
    costs: Mapping[str, float] | None = None,
    prevalence: float | None = None,
    threshold: Any = None,
    color: Names = None,
    facet: Names = None,
    positive: str = RELEVANT,
) -> alt.Chart:
    """Draw the true positive rate against the false positive rate, with the line of chance.

    Parameters
    ----------
    frame : what ``curve("roc")`` returned, of any kind.
    costs : of a mistake, as ``{"fp": 1, "fn": 5}``: lines of equal cost are drawn, and the cheapest point is marked.
    prevalence : the share of relevant rows, which the cost depends on.
    threshold, color, facet, positive : as in ``pr``.
    """
    tidy, x, y = _read("roc", ("fpr", "tpr"), frame, threshold, color, facet, positive)
    layers = [_diagonal(x, y)]
    if costs is not None:
        each = _costs(costs, prevalence)
        tidy = _with_cheapest(tidy, *each)
        layers += _equal_costs(*each, x, y)
        layers.append(_ring(x, y, "cheapest"))
        said = ", ".join(f"{name}={float(value):g}" for name, value in costs.items())
        tidy = tidy.said(f"dotted: equal cost of a row, for {said}, prevalence {prevalence:g}; ring: the least")
    return composed(tidy, [*layers, _curve(tidy, x, y), *_marks(tidy, x, y)], "ROC curve", width=HEIGHT)


def gain(
    frame: Any,
    *,
    prevalence: Any = None,
    threshold: Any = None,
    color: Names = None,
    facet: Names = None,
    positive: str = RELEVANT,
) -> alt.Chart:
    """Draw the share of relevant rows found against the share of rows looked at, with the ideal and the line of chance.

    Parameters
    ----------
    frame : what ``curve("gain")`` returned, of any kind.
    prevalence : the share of relevant rows, a number or a frame with tp, fp, fn and tn of each line, as
        ``best_threshold`` returns: the ideal is drawn, in which all relevant rows stand first.
    threshold, color, facet, positive : as in ``pr``.
    """
    tidy, x, y = _read("gain", ("share", "gain"), frame, threshold, color, facet, positive)
    layers = [_diagonal(x, y), _curve(tidy, x, y), *_marks(tidy, x, y)]
    if prevalence is not None:
        tidy = _with_ideal(tidy, prevalence).said("dashed: the ideal, and chance")
        ideal = altair().Chart().transform_filter("datum.ideal_x != null").mark_line(**DASHED)
        x_of, y_of = _axis("X", "share", positive, "ideal_x"), _axis("Y", "gain", positive, "ideal_y")
        layers.append(ideal.encode(x=x_of, y=y_of, order=altair().Order("order:Q"), color=_channels(tidy)["color"]))
    return composed(tidy, layers, "Cumulated gain", width=HEIGHT)


def calibration(frame: Any, *, color: Names = None, facet: Names = None, positive: str = RELEVANT) -> alt.Chart:
    """Draw the share of relevant rows against the mean score, which are equal where scores are probabilities.

    Parameters
    ----------
    frame : what ``curve("calibration")`` returned, of any kind.
    color, facet, positive : as in ``pr``.
    """
    alt = altair()
    said = "calibration draws what curve('calibration') returns"
    tidy = read_tidy(frame, said, ("predicted", "observed", "n"), color=color, facet=facet)
    tidy = tidy.said("on the dashed line, scores are the shares that came true", "larger points have more rows")
    x, y = _axis("X", "predicted", positive), _axis("Y", "observed", positive)
    size = alt.Size("n:Q", title="rows", scale=alt.Scale(range=[20, 300], zero=True), legend=None)
    shown = tooltip(tidy, {"predicted": "mean score", "observed": f"share of {positive} rows", "n": "rows"})
    channels = {"x": x, "y": y} | colored(tidy.color, dashes=True)
    layers = [
        _diagonal(x, y),
        alt.Chart().mark_line(strokeWidth=1.5, opacity=0.6).encode(**channels),
        alt.Chart().mark_circle(opacity=0.9).encode(x=x, y=y, color=channels["color"], size=size, tooltip=shown),
    ]
    return composed(tidy, layers, "Calibration", width=HEIGHT)


def _read(
    kind: str, columns: tuple[str, str], frame: Any, threshold: Any, color: Names, facet: Names, positive: str
) -> tuple[Tidy, Any, Any]:
    """The points of a curve, thinned and numbered, "at" in words, "marked" where a threshold is reached; its axes."""
    said = f"{kind} draws what curve({kind!r}) returns"
    tidy = read_tidy(frame, said, columns, ("threshold", "k"), color=color, facet=facet)
    if threshold is not None and "threshold" not in tidy.table.columns:
        raise BadValueError("threshold= marks a point of a curve of scores; this frame has no column 'threshold'")
    tidy = _with_marks(with_threshold(tidy, threshold))
    nowhere = int(tidy.table.select(pl.any_horizontal(pl.col(columns).is_null())).to_series().sum())
    tidy = thinned(tidy, columns, kept="marked").said(f"{nowhere:,} undefined points are not drawn" if nowhere else "")
    named = next((name for name in ("threshold", "k") if name in tidy.table.columns), None)
    texts = [] if named is None else [_written(value) for value in tidy.table[named].to_list()]
    labels = [_label(*pair) for pair in zip(tidy.table["chosen"].to_list(), texts, strict=True)] if texts else []
    tidy = tidy.with_columns(
        pl.Series("order", np.arange(len(tidy.table))),
        pl.Series("at", texts or None, pl.String),
        pl.Series("label", labels or None, pl.String),
    )
    return tidy, _axis("X", columns[0], positive), _axis("Y", columns[1], positive)


def _with_marks(tidy: Tidy) -> Tidy:
    """Mark the last row of each line whose threshold is at least the one that was chosen."""
    if "threshold" not in tidy.table.columns:
        return tidy.with_columns(marked=False)
    reached = pl.col("threshold") >= pl.col("chosen")
    last = (pl.int_range(pl.len()) == reached.arg_true().last()).fill_null(False)
    return tidy.in_lines(marked=last)


def _written(threshold: float | None) -> str:
    return "all rows" if threshold is None else NOTHING if threshold == np.inf else f"{threshold:.4g}"


def _label(chosen: float | None, at: str) -> str:
    """The threshold that was given, and where the least score that reaches it is another number that too."""
    given = _written(chosen)
    return given if given == at else f"{given} ({'no score here is as high' if at == NOTHING else f'score {at}'})"


def _axis(channel: str, column: str, positive: str, field: str | None = None) -> Any:
    """A share from 0 to 1 as an axis."""
    alt = altair()
    scale = alt.Scale(domain=[0, 1], nice=False)
    title = [line.replace(RELEVANT, positive) for line in TITLES[column]]
    return getattr(alt, channel)(f"{field or column}:Q", title=title, scale=scale)


def _curve(tidy: Tidy, x: Any, y: Any, interpolate: Any = "linear") -> Any:
    """The lines of a curve, whose points are joined in the order of the frame."""
    names = {"at": "k" if "k" in tidy.table.columns else "threshold"}
    names |= {field: field for field in (_field(x), _field(y))}
    there = " && ".join(f"datum.{_field(channel)} != null" for channel in (x, y))
    line = altair().Chart().transform_filter(there).mark_line(interpolate=interpolate, clip=True)
    return line.encode(x=x, y=y, order=altair().Order("order:Q"), tooltip=tooltip(tidy, names), **_channels(tidy))


def _diagonal(x: Any, y: Any) -> Any:
    """The line on which both axes have the same value: that of chance, or of what came true as often as expected."""
    ends = pl.DataFrame({_field(x): [0.0, 1.0], _field(y): [0.0, 1.0]})
    return altair().Chart(values(ends)).mark_line(**DASHED, color=NEITHER).encode(x=x, y=y)


def _channels(tidy: Tidy) -> dict[str, Any]:
    """The colours of lines, with a legend that leaves room for what stands at the right end of other lines."""
    return colored(tidy.color, dashes=True, offset=BESIDE)


def _field(channel: Any) -> str:
    return str(channel.shorthand).removesuffix(":Q")


def _marks(tidy: Tidy, x: Any, y: Any) -> list[Any]:
    """Points at the thresholds that were chosen, which stand beside them."""
    if not tidy.table["marked"].any():
        return []
    alt = altair()
    chosen = alt.Chart().transform_filter("datum.marked")
    channels = {"x": x, "y": y, "color": _channels(tidy)["color"]}
    point = chosen.mark_point(filled=True, size=90, opacity=1, shape="diamond").encode(**channels)
    text = chosen.mark_text(align="left", dx=8, dy=8).encode(x=x, y=y, text=alt.Text("label:N"))
    few = tidy.color is None or len(tidy.color.values) <= FEW
    return [point, text] if few else [point]


def _ring(x: Any, y: Any, field: str) -> Any:
    alt = altair()
    ring = alt.Chart().transform_filter(f"datum.{field}").mark_point(size=160, strokeWidth=2, color=NEITHER)
    return ring.encode(x=x, y=y)


def equal_f(f: Sequence[float], beta: float, x: Any, y: Any) -> list[Any]:
    """Return lines of equal F over recall and precision, with its value at their right end."""
    alt = altair()
    if not is_number(beta) or beta <= 0:
        raise BadValueError(f"beta={shown(beta)} is not a number above 0")
    square, tables = beta**2, []
    for level in f:
        if not is_number(level) or not 0 < level < 1:
            raise BadValueError(f"f={shown(level)} is not a value of F between 0 and 1")
        recall = np.linspace(square * level / (1 + square - level), 1, 60)
        precision = level * recall / ((1 + square) * recall - square * level)
        tables.append(pl.DataFrame({"recall": recall, "precision": precision, "f": f"F{beta:g} = {level:g}"}))
    if not tables:
        return []
    table = pl.concat(tables)
    line = alt.Chart(values(table)).mark_line(**DASHED, color=NEITHER, clip=True)
    ends = alt.Chart(values(table.group_by("f", maintain_order=True).last()))
    label = ends.mark_text(align="left", dx=4, fontSize=9)
    return [line.encode(x=x, y=y, detail=alt.Detail("f:N")), label.encode(x=x, y=y, text=alt.Text("f:N"))]


def _costs(costs: Mapping[str, float], prevalence: float | None) -> tuple[float, float]:
    """The cost of the whole false positive rate, and of the whole miss rate, of a row in the mean."""
    for name, value in costs.items():
        check_choice("costs", name, ("fp", "fn"))
        if not is_number(value) or value <= 0:
            raise BadValueError(f"costs: {name}={shown(value)} is not a number above 0")
    if len(costs) < 2:
        raise BadValueError(f"costs={shown(dict(costs))} has not both, as {{'fp': 1, 'fn': 5}}")
    if not is_number(prevalence) or not 0 < prevalence < 1:
        raise BadValueError(
            f"costs= needs prevalence=, the share of relevant rows between 0 and 1; {shown(prevalence)} is none"
        )
    return costs["fp"] * (1 - prevalence), costs["fn"] * prevalence


def _with_cheapest(tidy: Tidy, fp: float, fn: float) -> Tidy:
    """Mark the point of each line that costs least, of equal ones the first."""
    cost = fp * pl.col("fpr") + fn * (1 - pl.col("tpr"))
    return tidy.in_lines(cheapest=(pl.int_range(pl.len()) == cost.arg_min()).fill_null(False))


def _equal_costs(fp: float, fn: float, x: Any, y: Any) -> list[Any]:
    """Lines of equal cost, which stands at their right end."""
    alt = altair()
    start = pl.DataFrame({"fpr": 0.0, "tpr": LINES, "cost": [f"{fn * (1 - at):.3g}" for at in LINES]})
    right = pl.min_horizontal(1.0, (1 - pl.col("tpr")) * fn / fp)
    end = start.with_columns(fpr=right, tpr=pl.col("tpr") + right * fp / fn)
    line = alt.Chart(values(pl.concat([start, end]))).mark_line(strokeDash=[1, 3], strokeWidth=1, color=NEITHER)
    label = alt.Chart(values(end)).mark_text(align="left", dx=3, dy=-5, fontSize=9)
    return [line.encode(x=x, y=y, detail=alt.Detail("cost:N")), label.encode(x=x, y=y, text=alt.Text("cost:N"))]


def _with_ideal(tidy: Tidy, prevalence: Any) -> Tidy:
    """Add three points for each line: all relevant rows first, then the others."""
    tidy = with_prevalence(tidy, prevalence)
    added = []
    for part in tidy.parts():
        share = part["prevalence"][0]
        if share:
            ends = {"ideal_x": [0.0, share, 1.0], "ideal_y": [0.0, 1.0, 1.0], "order": [0, 1, 2]}
            keys = part.select(tidy.series).head(1)
            added.append(pl.DataFrame(ends).join(keys, how="cross") if tidy.series else pl.DataFrame(ends))
    return replace(tidy, table=pl.concat([tidy.table, *added], how="diagonal"))
