"""Tables of results: long, wide and crossed, with intervals, and with a note on what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.backends.tables import NOTHING, Cell, Table
from frame_metrics.backends.times import ordered_distinct
from frame_metrics.measuring.same_classes import is_mean_of_classes
from frame_metrics.report.cells import (
    ALPHA,
    BEST,
    NAMING,
    best_cells,
    cell_of,
    counted,
    number_text,
    plain_text,
    table_of,
)
from frame_metrics.report.chosen_rows import foremost
from frame_metrics.report.content import Content
from frame_metrics.report.words import MACHINE, PEOPLE, claimed_at_least, metric_words, percent

TABLE_ROWS = 200  # the most rows shown of a table of segments or of differences
LONGEST_CELL = 160  # the most letters of a text in a table
EFFECTIVE = "n_effective"  # a column of weighted results
CALLED = {
    "baseline_value": "value of the baseline",
    "p_adjusted": "p, corrected",
    "p_not_worse": "p, not worse",
    "n_proxy": f"by {MACHINE} alone",
    "n_unpaired": "unpaired",
    "n_undefined": "undefined",
    "n_unanswered": "unanswered",
    "n_unjudged": "without a judgment",
    "baseline_n_unjudged": "of the baseline without",
    "baseline_n": "n of the baseline",
    EFFECTIVE: "effective n",
    "if_calibrated": "if calibrated",
}
ALL_ROWS = "the JSON form has more, and the verbs return all of them."


def interval_cell(row: Mapping[str, Any], of: str = "ci") -> str:
    """Return the interval of a row as text; "" if there is none. ``of``: the beginning of the names of its columns."""
    low, high = row.get(f"{of}_low"), row.get(f"{of}_high")
    return "" if low is None else f"{number_text(low)} to {number_text(high)}"


def difference_interval(row: Mapping[str, Any], level: float | None) -> str:
    """Return the interval of a difference as text, with the near end that sentences claim, rounded towards 0."""
    text, claimed = interval_cell(row), claimed_at_least(row, level or 1 - ALPHA).removeprefix("+")
    if not claimed:
        return text
    low, high = text.split(" to ")
    return f"{claimed} to {high}" if row["difference"] > 0 else f"{low} to {claimed}"


def ci_level(content: Content) -> str:
    return f"{percent(content.ci)} interval"


def with_cells(table: Table, at: int, **fields: Sequence[Any]) -> Table:
    """Return a table in which the cells of a column have other values of a field, as ``subtext=[...]``."""
    rows = [[*row] for row in table.rows]
    for name, each in fields.items():
        for row, value in zip(rows, each, strict=True):
            row[at] = replace(row[at], **{name: value})
    return replace(table, rows=rows)


def long_table(content: Content) -> Table:
    """Return the table of the metrics of one system, a row for each metric."""
    results, level = content.results, ci_level(content)
    texts = [interval_cell(row) or None for row in results.iter_rows(named=True)]
    weighted = [EFFECTIVE] if EFFECTIVE in results.columns else []
    varied = [name for name in ("n", "n_undefined") if results[name].n_unique() > 1]
    only = ["metric", "value", *([level] if content.ci else []), *varied, *weighted]
    named = [_averaged(row["metric"], row["average"], results) for row in results.iter_rows(named=True)]
    results = results.with_columns(pl.Series(level, texts, pl.String), metric=pl.Series(named, dtype=pl.String))
    made = table_of(results, caption=f"The metrics{_over(content, results)}", only=only, called=CALLED)
    notes = [f"{CALLED[name].capitalize()}: {informative_note(content)}." for name in weighted]
    return replace(made, notes=[*made.notes, *notes])


def metrics_note(content: Content) -> list[str]:
    """Return a note of what each metric is, by the first line of its docstring; no note of one without."""
    positive = None if content.query else content.decisions.positive
    found = {name: metric_words(metric, clicks=content.clicks, positive=positive) for name, metric in content.asked}
    words = "; ".join(f"{name}: {text}" for name, text in found.items() if text)
    means = any(is_mean_of_classes(metric, binary=False) for _, metric in content.asked)
    macro = "Each class is the positive one in turn, and macro is the mean over classes."
    of_classes = [macro] if means and content.decisions.classes is not None else []
    return [*([f"{words}."] if words else []), *of_classes]


def _averaged(metric: str, average: str | None, results: pl.DataFrame) -> str:
    """Return the name of a metric, with its average where not all metrics have the same: "f1 (macro)"."""
    same = results["average"].drop_nulls().n_unique() < 2
    return metric if same or average in (None, "pooled") else f"{metric} ({average})"


def informative_note(content: Content) -> str:
    """Return words for what an effective sample size counts."""
    unit = "relevant results" if content.weighted is None else content.unit
    return f"how many {unit} of equal weight are as informative"


def _over(content: Content, results: pl.DataFrame) -> str:
    """Return words for what the means are over, if it is the same for all, and for the threshold."""
    averages, n = results["average"].drop_nulls().unique().to_list(), results["n"].unique().to_list()
    each = f" in each {plain_text(content.system)}" if content.arms else ""
    texts = [
        f"{counted(n[0], content.unit)}{each}{_helped(content)}" if len(n) == 1 else "",
        f"average: {averages[0]}" if len(averages) == 1 else "",
    ]
    words = ", ".join(filter(None, texts))
    propensity = EFFECTIVE in results.columns and content.weighted is None
    decided = f"{', weighted by propensity' if propensity else ''}{decided_note(content)}"
    return f" ({words}){decided}" if words else decided


def _helped(content: Content) -> str:
    """Return words for the queries that only a machine judged, and that the means use too; "" for none."""
    return f" judged by {PEOPLE}, helped by an {MACHINE} on {content.n_proxy:,} more" if content.n_proxy else ""


def wide_table(
    content: Content, results: pl.DataFrame, keys: Sequence[str], title: str, every: pl.DataFrame | None = None
) -> Table:
    """Return a table with a column for each metric and a row for each key; the best systems are bold.

    ``every``: the results of all systems, where ``results`` has some of them.
    """
    best = _best_of(content, results, results if every is None else every)
    several = has_several_averages(results)
    labels = [*keys, *(["average"] if several else [])]
    cells = [
        replace(cell_of("value", row["value"]), bold=(at, "value") in best, subtext=interval_cell(row))
        for at, row in enumerate(results.iter_rows(named=True))
    ]
    counts = results.group_by(labels, maintain_order=True).agg(pl.col("n").unique())["n"].to_list() if labels else []
    # A column for n, if each row has one number and these differ.
    extra_columns = (
        {"n": [cell_of("n", n) for (n,) in counts]}
        if set(map(len, counts)) == {1} and results["n"].n_unique() > 1
        else {}
    )
    table = crossed_table(content, results, labels, "metric", title + _over(content, results), cells, extra_columns)
    few = every is not None and len(results) < len(every)
    notes = [BEST.format(f" of all {content.n_systems:,}" if few else "")] if best else []
    heads = {} if several else dict(results.select("metric", "average").unique(maintain_order=True).iter_rows())
    names = [_averaged(name, heads[name], results) if name in heads else name for name in table.names]
    return replace(
        table, names=names, notes=[*notes, *table.notes], subtext=f"the {ci_level(content)}" if content.ci else ""
    )


def _best_of(content: Content, results: pl.DataFrame, every: pl.DataFrame) -> set[tuple[int, str]]:
    """Return row and column of the values of some systems that are the best of all."""
    if content.system is None:
        return set()
    names = [name for name in results.columns if name in (*content.system_and_segments, *NAMING)]
    found, keys = best_cells(every, content.system), every.select(names).rows()
    best = {repr(key) for at, key in enumerate(keys) if (at, "value") in found}
    return {(at, "value") for at, key in enumerate(results.select(names).rows()) if repr(key) in best}


def has_several_averages(results: pl.DataFrame) -> bool:
    """Return True if a metric has several averages, and so several values for each key."""
    pairs = results.select("metric", "average").unique().drop_nulls()
    return pairs["metric"].n_unique() < len(pairs)


def crossed_table(
    content: Content,
    frame: pl.DataFrame,
    labels: Sequence[str],
    across: str,
    caption: str,
    cells: Sequence[Cell] | None = None,
    extra_columns: Mapping[str, Sequence[Cell]] | None = None,
) -> Table:
    """Return a table with a row for each value of some columns, and a column for each value of another one.

    Parameters
    ----------
    labels, across : columns whose values make the rows, and the column whose values make the columns.
    cells : a cell for each row of the frame; None for cells with its values.
    extra_columns : columns to add after the labels: by name, a cell for each row of the table.

    If there are too many rows, only those with a bold cell and those of the foremost systems are shown.
    """
    columns = frame[across].unique(maintain_order=True).to_list()
    found: dict[str, tuple[list[Cell], dict[Any, Cell], Any]] = {}
    for at, row in enumerate(frame.iter_rows(named=True)):
        named = [cell_of(name, row[name], longest=LONGEST_CELL) for name in labels]
        _, by_column, _ = found.setdefault(
            repr([row[name] for name in labels]), (named, {}, row.get(str(content.system)))
        )
        by_column[row[across]] = cell_of("value", row["value"]) if cells is None else cells[at]
    more, absent = extra_columns or {}, Cell(NOTHING)
    rows = [
        [*named, *(some[at] for some in more.values()), *(by_column.get(one, absent) for one in columns)]
        for at, (named, by_column, _) in enumerate(found.values())
    ]
    bold = {at for at, row in enumerate(rows) if any(cell.bold for cell in row)}
    chosen = foremost([system for _, _, system in found.values()], content.places, TABLE_ROWS, bold)
    names = [
        *map(plain_text, labels),
        *more,
        *(f"{across} = {one}" if isinstance(one, int) else one for one in columns),
    ]
    numbers = [at >= len(labels) for at in range(len(names))]
    notes = (
        [left_out_note(len(rows), content if content.system in frame.columns else None)]
        if len(rows) > TABLE_ROWS
        else []
    )
    return Table(names, [rows[at] for at in chosen], numbers, caption, notes)


def grouped_rows(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows sorted so that those with equal values in the named columns are adjacent, times in order."""
    if not len(frame):
        return frame
    orders = [ordered_distinct(frame[name]) for name in names]
    each = [
        frame[name].unique(maintain_order=True).to_list() if order is None else order
        for name, order in zip(names, orders, strict=True)
    ]
    parts = frame.partition_by(names, maintain_order=True)
    if any(order is not None for order in orders):
        parts.sort(key=lambda part: [order.index(part[name][0]) for name, order in zip(names, each, strict=True)])
    return pl.concat(parts)


def decided_note(content: Content) -> str:
    """Return words about the caller's threshold, for the end of a caption; "" if there is none."""
    at = content.decisions.threshold
    return "" if at is None else f", decided at threshold {at:.4g}"


def first_rows_table(frame: pl.DataFrame, caption: str, **options: Any) -> Table:
    """Return the first rows of a frame as a table, with a note about the rows left out."""
    table = table_of(frame.head(TABLE_ROWS), caption=caption, longest=LONGEST_CELL, **options)
    return replace(table, notes=[*table.notes, *([left_out_note(len(frame))] if len(frame) > TABLE_ROWS else [])])


def left_out_note(n: int, of_systems: Content | None = None) -> str:
    """Return a note about rows that are not shown; ``of_systems``: the content, if rows are of systems."""
    if of_systems is None:
        return f"The first {TABLE_ROWS:,} of {n:,} rows; {ALL_ROWS}"
    system = plain_text(of_systems.system)
    against = " and of the baseline" if of_systems.has_baseline else ""
    best = f"those of the best {system} by {of_systems.first}{against} among them"
    return f"{TABLE_ROWS:,} of {n:,} rows, {best}; {ALL_ROWS}"
