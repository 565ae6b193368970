"""A picture of plans: how likely a difference is to be seen, by how many queries or users there are."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.border.frames import border_of
from frame_metrics.errors import BadValueError, shown
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plot.charts import NEITHER, altair, colored, composed, line_mark, tooltip
from frame_metrics.plot.tidy import Names, column_of, lighted, read_tidy

if TYPE_CHECKING:
    import altair as alt

SAID = "power draws what plan(power=[0.5, 0.8, 0.9]) returns"
NEEDS = ("power", "needed")
COUNTS = ("k", "n", "n_units", "n_all", "baseline_n", "baseline_n_units", "needed_low", "needed_high")
ONCE = {"metric": "", "detect": "to see a difference of ", "baseline": "against "}  # keys that a note has where it can
COUNTED = {"baseline_n_units": "Units of each arm", "n_all": "Queries that people judge, or clusters of them"}
CHANCES = tuple(at / 100 for at in range(10, 100, 2)) + (0.99,)  # of a curve


def power(
    frame: Any, *, goal: float = 0.8, chosen: Names = None, color: Names = None, facet: Names = None
) -> alt.Chart:
    """Draw how likely a true difference is to be seen by how many there are, with the intervals of their number.

    Parameters
    ----------
    frame : what ``plan(power=[...])`` returned for several chances, of any kind.
    goal : the chance that is looked for, a dashed line.
    chosen : lines that have a colour; all others are grey.
    color : the key columns that are told apart by colour; by default the first one.
    facet : the key columns of small multiples; by default all others that have several values.
    """
    if not is_number(goal) or not 0 < goal < 1:
        raise BadValueError(f"goal={shown(goal)} is not a chance between 0 and 1, as 0.8")
    alt = altair()
    there = [name for name in ONCE if name in border_of(frame).names()]
    alone = {name: values[0] for name in there if (values := column_of(frame, name).unique()).len() == 1}
    keys = {*takewhile(lambda name: name != "power", border_of(frame).names())} - {"k"}
    ignored = [*alone, *({"reason"} - keys)]
    counts = [name for name in COUNTS if name not in keys]
    tidy = lighted(read_tidy(frame, SAID, NEEDS, counts, color=color, facet=facet, ignored=ignored), None, chosen)
    if tidy.table["power"].n_unique() < 2:
        raise BadValueError(f"{SAID}; this one has a single chance, which is a point and no line")
    lacking = tidy.table["needed"].null_count()
    said = ", ".join(f"{ONCE[name]}{value}" for name, value in alone.items())
    tidy = tidy.said(said, f"{lacking:,} unknown numbers are not drawn" if lacking else "")
    tidy = tidy.with_columns(goal=pl.lit(goal))
    titles = (said for name, said in COUNTED.items() if name in counts and name in tidy.table.columns)
    title = next(titles, "Queries, or clusters of them")
    y = alt.Y("power:Q", title="Power: the chance to see it", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    x = alt.X("needed:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(format=",d"))
    channels = colored(tidy.color, dashes=True)
    told = tooltip(tidy, {"power": "power", "needed": "needed", "needed_low": "from", "needed_high": "to"})
    ends = {"x": alt.X("needed_low:Q", title=title), "x2": alt.X2("needed_high:Q")}
    layers = [
        alt.Chart().mark_area(opacity=0.15, orient="horizontal").encode(**ends, y=y, color=channels["color"]),
        line_mark(tidy.color).encode(x=x, y=y, **channels, order=alt.Order("power:Q"), tooltip=told),
        alt.Chart().mark_rule(strokeDash=[4, 4], color=NEITHER).encode(y=alt.Y("mean(goal):Q", title="")),
    ]
    chart = composed(tidy, layers, "Power by the size of the sample")
    return chart if tidy.facet is None else chart.resolve_scale(x="independent")
