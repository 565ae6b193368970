"""Pictures of F: over precision and recall, and against beta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from frame_metrics.errors import BadValueError, quote
from frame_metrics.inputs import Array, FullConfusion
from frame_metrics.metrics.confusion import fbeta
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plot.charts import COLORS, HEIGHT, colored, composed, tooltip, values, with_title
from frame_metrics.plot.curves import TEXT_ROOM, axis_of, equal_f
from frame_metrics.plot.extra_values import pairs_of
from frame_metrics.plot.tidy import Names, Tidy, highlight_lines

CELLS = 25  # on each side of the surface
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
BETAS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
STEPS = 12  # points of a line for each value of beta
PAIR = ("precision", "recall")


def f_surface(frame: Any = None, *, beta: float = 1, color: Names = None) -> alt.Chart:
    """Draw F over precision and recall, darker for higher values, with systems as points.

    Parameters
    ----------
    frame : the result of ``evaluate("precision", "recall")`` in the long layout; None for the surface alone.
    beta : of F, how much more recall counts than precision.
    color : the key columns whose points have different colours; by default all.
    """
    centre = (np.arange(CELLS) + 0.5) / CELLS
    recall, precision = (grid.ravel() for grid in np.meshgrid(centre, centre))
    half, surface = 0.5 / CELLS, {"f": f_of(precision, recall, beta)}
    surface |= {"left": recall - half, "right": recall + half, "low": precision - half, "high": precision + half}
    x, y = axis_of("X", "recall"), axis_of("Y", "precision")
    cells = alt.Chart(values(pl.DataFrame(surface))).mark_rect(color=COLORS[0], aria=False).encode(
        x=axis_of("X", "recall", field="left"),
        x2=alt.X2("right:Q"),
        y=axis_of("Y", "precision", field="low"),
        y2=alt.Y2("high:Q"),
        opacity=alt.Opacity("f:Q", scale=alt.Scale(domain=[0, 1], range=[0, 0.6]), legend=None),
    )  # fmt: skip
    layers, title = [cells, *equal_f(LEVELS, beta, x, y)], f"F{beta:g} of precision and recall"
    if frame is None:
        return with_title(alt.layer(*layers).properties(width=HEIGHT, height=HEIGHT), title)
    tidy = _pairs("f_surface", frame, color)
    of_systems = [tidy.table[name].to_numpy() for name in PAIR]
    each = pl.Series(f_of(of_systems[0], of_systems[1], beta))
    best = [] if tidy.color is None else tidy.table.with_columns(f=each).sort("f", descending=True)["color"].to_list()
    tidy = highlight_lines(tidy, best, None)
    tips = tooltip(tidy, {name: name for name in PAIR})
    point = alt.Chart().mark_point(filled=True, size=90, opacity=1, stroke="white", strokeWidth=1)
    layers.append(point.encode(x=x, y=y, tooltip=tips, **colored(tidy.color, offset=TEXT_ROOM)))
    return composed(tidy, layers, title, width=HEIGHT)


def f_beta(frame: Any, *, betas: Sequence[float] = BETAS, color: Names = None) -> alt.Chart:
    """Draw F against beta: precision on the left, where beta is small, and recall on the right.

    Parameters
    ----------
    frame : the result of ``evaluate("precision", "recall")`` in the long layout, of any kind.
    betas : the ends of the axis, and values of beta between them.
    color : the key columns whose lines have different colours; by default all.
    """
    for beta in betas:
        if not is_number(beta) or beta <= 0:
            raise BadValueError(f"betas: {quote(beta)} is not a number above 0")
    tidy = _pairs("f_beta", frame, color)
    steps = np.geomspace(min(betas), max(betas), STEPS * len(betas))
    precision, recall = (tidy.table[name].to_numpy() for name in PAIR)
    each = [
        tidy.table.with_columns(beta=pl.lit(beta), f=pl.Series(f_of(precision, recall, beta)))
        for beta in np.unique([*steps, *betas]).tolist()
    ]
    tidy = replace(tidy, table=pl.concat(each))
    ticks = alt.Axis(values=list(betas), format="~g")
    title, log = "beta: how much more recall counts than precision", alt.Scale(type="log", nice=False)
    x = alt.X("beta:Q", title=title, scale=log, axis=ticks)
    y = alt.Y("f:Q", title="F (higher is better)", scale=alt.Scale(domain=[0, 1], nice=False))
    line = alt.Chart().mark_line().encode(
        x=x, y=y, tooltip=tooltip(tidy, {"beta": "beta", "f": "F"}), **colored(tidy.color, dashes=True)
    )  # fmt: skip
    return composed(tidy, [line], "F by beta")


def f_of(precision: Array, recall: Array, beta: float) -> Array:
    """Return F of precision and recall, as the metric computes it."""
    tp = precision * recall
    table = FullConfusion(tp, recall - tp, precision - tp, np.zeros(len(tp)))
    return np.nan_to_num(fbeta(beta=beta).compute(table))


def _pairs(picture: str, frame: Any, color: Names) -> Tidy:
    return pairs_of(
        f"{picture} draws what evaluate('precision', 'recall') returns in the long layout", frame, PAIR, color
    )
