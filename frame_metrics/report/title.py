"""The title of a report: what was read, as "2,400 and 2,380 searches of old and new, 1 June to 30 July 2026"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import polars as pl

from frame_metrics.backends.display import value_text
from frame_metrics.backends.time_texts import Time
from frame_metrics.backends.times import times_in
from frame_metrics.report.cells import counted, plain_text
from frame_metrics.report.content import Content
from frame_metrics.report.words import MACHINE, PEOPLE, name_of

MOST_NAMED_ARMS = 3  # the most arms whose sizes are named one by one


def title_of(content: Content, fills: bool) -> str:
    """Return how many queries or rows were read, of how many systems, and from when to when.

    ``fills``: whether undefined values of the first metric count as a number.
    """
    sizes = _judged_by(content) or _sizes(content, fills)
    return ", ".join(filter(None, [sizes, _systems(content), *_times(content)]))


def _sizes(content: Content, fills: bool) -> str:
    rows = content.of_first(content.results)
    n = (rows["n"] + rows["n_undefined"] * (not fills)).to_list() if content.query else rows["n"].to_list()
    if not content.arms:
        return counted(max(n, default=0), content.unit)
    if len(n) <= MOST_NAMED_ARMS:
        arms = rows[str(content.system)]
        of = "" if _between(arms) else f" of {' and '.join(map(name_of, arms.to_list()))}"
        return f"{' and '.join(f'{one:,}' for one in n)} {content.unit}{of}"
    return f"{counted(sum(n), content.unit)}, {len(n):,} of {plain_text(content.system)}"


def _judged_by(content: Content) -> str:
    """Return how many queries people judged, and a machine beside them; "" where there is no machine."""
    if not content.n_proxy:
        return ""
    rows = content.of_first(content.results).select("n", "n_proxy").rows()
    (least, _), (most, others) = min(rows), max(rows)
    if least == most:
        return f"{counted(most, content.unit)} judged by {PEOPLE} and {others:,} by an {MACHINE}"
    every = counted(most + others, content.unit)
    return f"{every} judged by an {MACHINE}, {least:,} to {most:,} of them by {PEOPLE} too"


def _systems(content: Content) -> str:
    """Return how many systems there are; "" for arms, and for systems that are times."""
    if content.arms or content.n_systems < 2 or _between(content.results[str(content.system)].unique().drop_nulls()):
        return ""
    return f"{content.n_systems:,} systems"


def _times(content: Content) -> list[str]:
    """Return the first and the last time of each column of segments, of arms or of systems, that holds times."""
    frame = content.results if content.segments is None else content.segments
    names = [*content.by, *content.system_column]
    return [text for name in names if name in frame.columns if (text := _between(frame[name].unique().drop_nulls()))]


def _between(values: pl.Series) -> str:
    texts = [value_text(one) for one in values.to_list()]
    timed = sorted(zip(times_in(texts, values.name) or [], texts, strict=False))
    if len(timed) < 2:
        return ""
    ends = [_in_words(timed[end][0], timed[end][1]) for end in (0, -1)]
    return _without_first_year(ends)


def _in_words(time: Time, text: str) -> str:
    """Return a day as "1 June 2026"; another time as it is written."""
    unit, number = time
    if "w" in text.lower():  # a week, which is no single day
        return plain_text(text)
    day = date.fromordinal(int(number)) if unit == "day" and number % 1 == 0 else None
    return plain_text(text) if day is None or len(text) > len("2026-01-05") else f"{day.day} {day:%B %Y}"


def _without_first_year(ends: Sequence[Any]) -> str:
    """Return both ends, with the year once where it is the same."""
    first, last = ends
    year = last.rpartition(" ")[2]
    return f"{first.removesuffix(f' {year}') if first != last else first} to {last}"
