"""Marks of a picture over time: the breaks and outages that a summary tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from frame_metrics.plot.charts import INK, NEITHER, values
from frame_metrics.plot.tidy import Key, Tidy
from frame_metrics.stats.changes import MOST_TOLD, changes

if TYPE_CHECKING:
    from frame_metrics.plot.periods import Axis

NAMED = 2  # the most lines that a mark names
WIDE = 400  # pixels of a picture that has its words above the lines
LATE = 0.5  # the share of the axis behind which words within a narrower one stand to the left of the break
HALF_LETTER = 3  # pixels of half a letter of these words
WORDS = 14  # pixels of a line of words
WHEN = "when"  # the column of periods, as texts


@dataclass(frozen=True)
class Mark:
    """A break or an outage of one metric that a picture marks."""

    what: str  # the name of the metric
    first: str  # the period
    last: str
    kind: str  # of the course: "break", "outage", or "either", a break that may be a gradual change
    lines: list[dict[str, str]]  # the texts "color" and "facet" of the lines that have it, the surest first


def marks_over_time(tidy: Tidy, axis: Axis) -> list[Mark]:
    """Return the breaks and outages that a summary tells, of all lines of each metric together."""
    table = tidy.table
    if "total_over" in table.columns:  # a total is no segment
        total = pl.col("total_over").is_not_null().any()
        table = table.filter(~(total.over(tidy.series) if tidy.series else total))
    return [mark for part in table.partition_by("what", maintain_order=True) for mark in _marks(tidy, part, axis)]


def _marks(tidy: Tidy, table: pl.DataFrame, axis: Axis) -> Iterator[Mark]:
    """Yield the marks of the lines of one metric."""
    lines = table.partition_by(tidy.series, maintain_order=True) if tidy.series else [table]
    for change in changes([axis.periods(line) for line in lines])[:MOST_TOLD]:
        found = change.course
        at = {"break": [found.cut], "either": [found.cut], "outage": [found.cut, found.end - 1]}.get(found.kind, [])
        if at:
            texts = axis.looked_at(lines[change.lines[0]])[WHEN]
            names = [{name: lines[line][name][0] for name in tidy.series} for line in change.lines]
            yield Mark(table["what"][0], texts[at[0]], texts[at[-1]], found.kind, names)


def layers_of_marks(axis: Axis, marks: Sequence[Mark], key: Key, x: Any) -> list[Any]:
    """Return layers that mark breaks with their dates, and shade outages, each with the names of its lines."""
    return [layer for at, mark in enumerate(marks) for layer in _layers_of(axis, mark, at, key, x)]


def _layers_of(axis: Axis, mark: Mark, at: int, key: Key, x: Any) -> list[Any]:
    """Return the layers of a mark; ``at``: how many stand above its words."""
    dates = {
        "outage": " to ".join(dict.fromkeys([mark.first, mark.last])),
        "break": f"{axis.size.label} {mark.first}",
        "either": f"sudden near {mark.first}, or gradual",
    }[mark.kind]
    names = [line.get("color", mark.what) for line in mark.lines]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    every = "both" if len(names) == 2 else f"all {len(names)}"
    whose = every if len(names) == len(key.values) else f"{', '.join(names[:NAMED])}{more}"
    label = f"{whose}: {dates}" if len(key.values) > 1 else dates
    begin, end = axis.texts.index(mark.first), axis.texts.index(mark.last) + 1
    data = values(pl.DataFrame({WHEN: [mark.first], "label": [label]}))
    if mark.kind == "outage":
        every = values(pl.DataFrame({WHEN: axis.texts[begin:end]}))
        bar = alt.Chart(every).mark_bar(opacity=0.25, color=NEITHER, width={"band": 1.25})  # without gaps
        shown = bar.encode(x=x, y=alt.value(0), y2=alt.value(axis.size.height))
    else:
        shown = alt.Chart(data).mark_rule(strokeDash=[4, 4], opacity=0.6, color=INK).encode(x=x)
    n, width, half = len(axis.texts), axis.size.width, HALF_LETTER * len(label)
    if width < WIDE:  # where the name of the small multiple is
        side: dict[str, Any] = {"align": "right", "dx": -5} if begin > LATE * n else {"align": "left", "dx": 5}
        side |= {"baseline": "top", "dy": 3 + WORDS * at}
    else:  # in the middle above what is marked, and within the picture
        side = {"align": "center", "baseline": "bottom", "dy": -4 - WORDS * at}
        end = end if mark.kind == "outage" else begin + 1
        x = alt.value(min(max(width * (begin + end) / 2 / n, half), width - half))
    text = alt.Chart(data).mark_text(**side, color=INK)
    return [shown, text.encode(x=x, y=alt.value(0), text=alt.Text("label:N"))]
