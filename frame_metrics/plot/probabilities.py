"""Picture of calibration: the shares that came true against the scores."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from frame_metrics.plot.charts import HEIGHT, colored, composed, line_mark, tooltip
from frame_metrics.plot.curves import RELEVANT, axis_of, diagonal
from frame_metrics.plot.tidy import Names, Tidy, column_of, highlight_lines, n_text, read_tidy
from frame_metrics.stats.exact import wilson_interval

HOLLOW = 10  # bins with fewer rows are hollow


def calibration(
    frame: Any, *, chosen: Names = None, color: Names = None, facet: Names = None, positive: str = RELEVANT
) -> alt.Chart:
    """Draw the share of relevant rows against the mean score; they are equal if scores are probabilities.

    Bins with fewer than 10 rows are hollow, and shares have Wilson's intervals unless rows are weighted.

    Parameters
    ----------
    frame : the result of ``curve("calibration")``, of any kind.
    chosen, color, facet, positive : as in ``pr``.
    """
    picture = "calibration draws what curve('calibration') returns"
    tidy = read_tidy(frame, picture, ("predicted", "observed", "n"), color=color, facet=facet)
    tidy = highlight_lines(tidy, None, chosen)
    n = tidy.table["n"]
    tidy = tidy.with_notes("on the dashed line, scores are the shares that came true")
    tidy = _with_intervals(tidy, column_of(frame, "n"))
    tidy = tidy.with_notes(
        "larger points have more rows; hollow: fewer than 10" if (n < HOLLOW).any() else "larger points have more rows"
    )
    x, y = axis_of("X", "predicted", positive), axis_of("Y", "observed", positive)
    size = alt.Size("n:Q", title="rows", scale=alt.Scale(range=[20, 300], zero=True), legend=None)
    tips = tooltip(tidy, {"predicted": "mean score", "observed": f"share of {positive} rows", "n": "rows"})
    channels, point = (
        {"x": x, "y": y} | colored(tidy.color, dashes=True),
        {"x": x, "y": y, "size": size, "tooltip": tips},
    )
    layers, color = [diagonal(x, y), line_mark(tidy.color, strokeWidth=1.5).encode(**channels)], channels["color"]
    if tidy.table["low"].count():
        low, high = axis_of("Y", "observed", positive, "low"), alt.Y2("high:Q")
        layers.append(alt.Chart().mark_rule(opacity=0.5, strokeWidth=2).encode(x=x, y=low, y2=high, color=color))
    for tiny in (False, True):
        some = alt.Chart().transform_filter(f"datum.n {'<' if tiny else '>='} {HOLLOW}")
        layers.append(some.mark_point(filled=not tiny, opacity=0.9).encode(**point, color=color))
    per_line = tidy.table.group_by(tidy.series).agg(pl.col("n").sum())["n"] if tidy.series else pl.Series([n.sum()])
    return composed(tidy, layers, f"Calibration{n_text(per_line)}", width=HEIGHT)


def _with_intervals(tidy: Tidy, rows: pl.Series) -> Tidy:
    """Add the 95 % interval of each share as "low" and "high"; null if rows are weighted or some lines are grey."""
    low, high = wilson_interval(pl.col("observed"), pl.col("n"))
    counted = (tidy.color is None or tidy.color.highlighted is None) and rows.dtype.is_integer()
    tidy = tidy.with_notes("lines: 95 % intervals" if counted else "")
    ends = {"low": low.clip(0, 1), "high": high.clip(0, 1)}
    return tidy.with_columns(**{name: end if counted else pl.lit(None, pl.Float64) for name, end in ends.items()})
