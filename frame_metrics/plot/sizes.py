"""Picture of sample sizes: the chance to detect a difference, by the number of queries or users."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import altair as alt
import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import BadValueError, quote
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plot.charts import NEITHER, colored, composed, line_mark, tooltip
from frame_metrics.plot.tidy import Names, Tidy, column_of, highlight_lines, read_tidy

PICTURE = "sample_size draws what sample_size(power=[0.5, 0.8, 0.9]) returns"
NEEDS = ("power", "needed")
COUNTS = (
    *("k", "n", "n_units", "n_all", "baseline_n", "baseline_n_units", "needed_low", "needed_high"),
    *("n_shared", "n_unjudged", "baseline_n_unjudged", "baseline_needed", "share", "baseline_share"),
)
TEXTS = {"reason", "split_note"}
# Key columns that go to a note if they have a single value, and the words before this value.
SINGLE = {"metric": "", "detect": "to see a difference of ", "baseline": "against "}
TITLES = {"baseline_n_units": "Units of each arm", "n_all": "Queries that people judge, or clusters of them"}
CHANCES = tuple(at / 100 for at in range(10, 100, 2)) + (0.99,)  # of a curve, if none are given


def sample_size(
    frame: Any, *, goal: float = 0.8, chosen: Names = None, color: Names = None, facet: Names = None
) -> alt.Chart:
    """Draw the chance to detect a true difference against the number of queries or units, with its intervals.

    Parameters
    ----------
    frame : the result of ``sample_size(power=[...])`` for several chances, of any kind. Several results stacked, with a
        column that names them, are one picture with that column as ``color``.
    goal : the desired chance, a dashed line.
    chosen : lines in colour; all others are grey.
    color : the key columns shown by colour; by default the first one.
    facet : the key columns of small multiples; by default all others that have several values.
    """
    if not is_number(goal) or not 0 < goal < 1:
        raise BadValueError(f"goal={quote(goal)} is not a chance between 0 and 1, as 0.8")
    keys = {*takewhile(lambda name: name != "power", backend_of(frame).names())} - {"k"}
    counts = [name for name in COUNTS if name not in keys]
    alone = _single_values(frame, keys, color, facet)
    ignored = [*alone, *(TEXTS - keys)]
    tidy = highlight_lines(
        read_tidy(frame, PICTURE, NEEDS, counts, color=color, facet=facet, ignored=ignored), None, chosen
    )
    if tidy.table["power"].n_unique() < 2:
        raise BadValueError(f"{PICTURE}; this one has a single chance, which is a point and no line")
    if tidy.table["needed"].is_null().all():
        has_reason = "reason" in backend_of(frame).names() and "reason" not in keys
        known = column_of(frame, "reason").drop_nulls().to_list() if has_reason else []
        why = known[0] if known else "the queries of the pilot say nothing, or the difference is too small"
        raise BadValueError(f"sample_size: no number is known, of any chance ({why})")
    note = ", ".join(f"{SINGLE.get(name, f'{name} ')}{value}" for name, value in alone.items())
    tidy = _within_reach(tidy.with_notes(note, _note_on_unknown(tidy))).with_columns(goal=pl.lit(goal))
    titles = (text for name, text in TITLES.items() if name in counts and name in tidy.table.columns)
    title = next(titles, "Queries, or clusters of them")
    if "share" in tidy.table.columns and (tidy.table["share"] != tidy.table["baseline_share"]).any():
        title = "Units of the arm; the baseline has others"
    y = alt.Y("power:Q", title="Power: the chance to see it", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    x = alt.X("needed:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(format=",d"))
    channels = colored(tidy.color, dashes=True)
    tips = tooltip(tidy, {"power": "power", "needed": "needed", "needed_low": "from", "to": "to"})
    ends = {"x": alt.X("needed_low:Q", title=title), "x2": alt.X2("needed_high:Q")}
    layers = [
        alt.Chart().mark_area(opacity=0.15, orient="horizontal").encode(**ends, y=y, color=channels["color"]),
        line_mark(tidy.color).encode(x=x, y=y, **channels, order=alt.Order("power:Q"), tooltip=tips),
        alt.Chart().mark_rule(strokeDash=[4, 4], color=NEITHER).encode(y=alt.Y("mean(goal):Q", title="")),
    ]
    chart = composed(tidy, layers, "Power by the size of the sample")
    return chart if tidy.facet is None else chart.resolve_scale(x="independent")


def _single_values(frame: Any, keys: set[str], color: Names, facet: Names) -> dict[str, Any]:
    """Return the key columns that have a single value, and this value.

    Only columns in ``SINGLE`` are returned, or all if ``color`` is given; those in ``color`` and ``facet`` never are.
    """
    named = {name for one in (color, facet) for name in ([one] if isinstance(one, str) else one or [])}
    not_keys = {*NEEDS, *COUNTS, *TEXTS} - keys | named
    there = [name for name in backend_of(frame).names() if name not in not_keys]
    able = [name for name in dict.fromkeys([*SINGLE, *there]) if name in there and (name in SINGLE or color)]
    return {name: values[0] for name in able if (values := column_of(frame, name).unique()).len() == 1}


def _within_reach(tidy: Tidy) -> Tidy:
    """Let the band end at ``n_all``, or else at the greatest number, where ``needed_high`` is null.

    The column "to" keeps ``needed_high`` as it was.
    """
    numbers = ("needed_low", "needed", "needed_high")
    edge = pl.col("n_all") if "n_all" in tidy.table.columns else pl.max_horizontal(numbers).max()
    cut = pl.when(pl.col("needed_low").is_not_null()).then(pl.coalesce("needed_high", edge))
    return tidy.with_columns(cut.alias("needed_high"), to=pl.col("needed_high"))


def _note_on_unknown(tidy: Tidy) -> str:
    """Return a note about chances whose number is unknown; "" if there are none."""
    lacking = tidy.table.filter(pl.col("needed").is_null())
    if lacking.is_empty():
        return ""
    if "n_all" not in lacking.columns:
        return f"{len(lacking):,} unknown numbers are not drawn"
    if len(tidy.lines()) > 1:
        return f"{len(lacking):,} numbers are not drawn, which are unknown or above all that a machine judges"
    every, least = lacking["n_all"][0], lacking.select(100 * pl.col("power").min()).item()
    return f"{least:.4g} % or more is not reached where people judge all {every:,.0f}"
