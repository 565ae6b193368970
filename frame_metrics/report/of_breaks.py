"""A report over time: its column of times, and the queries that lost most across a break."""

from __future__ import annotations

import polars as pl

from frame_metrics.backends.tables import Table
from frame_metrics.backends.times import ordered_distinct, times_of
from frame_metrics.report.cells import cell_of, plain_text, sign_of
from frame_metrics.report.content import Content
from frame_metrics.report.result_tables import LONGEST_CELL
from frame_metrics.report.words import when_text

MOST_QUERIES = 10  # queries that are listed


def time_of_segments(content: Content) -> str | None:
    """Return the column of segments if it is the only one, and has times; else None."""
    if content.segments is None or len(content.by) != 1:
        return None
    return content.by[0] if _are_times(content.segments[content.by[0]]) else None


def time_of_lines(content: Content) -> str | None:
    """Return the column of segments that has times, the only one, or the one of several of one system; else None."""
    if content.segments is None or len(content.by) < 2 or content.n_systems > 1:
        return time_of_segments(content)
    found = [name for name in content.by if _are_times(content.segments[name])]
    return found[0] if len(found) == 1 else None


def _are_times(column: pl.Series) -> bool:
    values = column.drop_nulls().unique(maintain_order=True).to_list()
    return len(values) > 1 and times_of(values, column.name) is not None


def lost_across(content: Content) -> Table | None:
    """Return the queries of the best system that lost most of the first metric across the break of the summary.

    They are those that were asked before it and from then on. None without a break, and if there are no such queries.
    """
    name, breaks = time_of_segments(content), content.summary.filter(pl.col("kind").is_in(["break", "trend or break"]))
    sign = sign_of(content.first)
    if name is None or breaks.is_empty() or content.queries.values is None or not sign:
        return None
    # The periods from the break on.
    order = ordered_distinct(content.queries.values[name]) or []
    texts = [*map(when_text, order)]
    if breaks["of"][0] not in texts:
        return None
    later = order[texts.index(breaks["of"][0]) :]
    values = content.queries.values.drop_nulls(["value", name])
    if content.system:
        values = values.filter(pl.col(content.system).eq_missing(breaks[content.system][0]))
    # The mean of each query before and after it, those that lost most first.
    is_later, keys = pl.col(name).is_in(pl.Series(later, dtype=values.schema[name]).implode()), [*content.query]
    sides = {
        "before": pl.col("value").filter(~is_later).mean(),
        "from then on": pl.col("value").filter(is_later).mean(),
    }
    found = values.group_by(keys, maintain_order=True).agg(**sides).drop_nulls([*sides])
    found = found.with_columns(change=pl.col("from then on") - pl.col("before"))
    found = (
        found.filter(pl.col("change") * sign < 0).sort(pl.col("change") * sign, maintain_order=True).head(MOST_QUERIES)
    )
    if found.is_empty():
        return None
    names = ["change", *sides]
    rows = [
        [
            *(cell_of(key, row[key], longest=LONGEST_CELL) for key in keys),
            *(cell_of("value", row[one]) for one in names),
        ]
        for row in found.iter_rows(named=True)
    ]
    caption = f"Queries that lost most of {content.first} across the break at or near {when_text(later[0])}"
    return Table([*map(plain_text, keys), *names], rows, [*[False] * len(keys), *[True] * len(names)], caption)
