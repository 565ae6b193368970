"""Result frames as cells of text: numbers rounded, the best values bold, significant differences marked."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from frame_metrics.backends.display import (
    NULL,
    main_columns,
    null_segments,
    printable,
    rounded_down,
    simultaneous_words,
    small_text,
    value_text,
)
from frame_metrics.backends.frames import here
from frame_metrics.backends.tables import NOTHING, Cell, Table
from frame_metrics.errors import (
    ColumnError,
    FrameMetricsError,
    check_bool,
    check_whole,
    closest,
    import_needed,
    listed,
)
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import read_text
from frame_metrics.metrics.saved_names import metric_of

# The column of systems or arms of the report that is made, whose null is called by it, as "no week".
SIDE: ContextVar[str | None] = ContextVar("SIDE", default=None)
BETTER = {True: "higher", False: "lower", None: None}  # by a metric's direction
BEST = "Bold: the best value{}, whether the difference is sure or not."
SIGNIFICANT = "*"
UNDEFINED = "_undefined"  # how columns of a wide result end that count undefined values of a metric
ALPHA = 0.05  # the level of significance if none is given
SINGULAR = {"queries": "query", "classes": "class", "searches": "search"}  # other units lose their s
EQUAL = 1e-12  # values that differ by no more than this are equally good
P_VALUES = ("p_value", "p_adjusted", "p_not_worse", "p_equivalent", "p_proxy_bias")
TESTED = ("difference", "preference")  # what p-values are of
# Columns of results that count something; those of keys and cutoffs are shown as they are.
COUNTS = (
    *("n", "n_undefined", "n_unanswered", "n_proxy", "n_unpaired", "n_units", "baseline_n", "baseline_n_units"),
    *("n_tests", "n_unjudged", "baseline_n_unjudged", "n_shared", "needed", "needed_low", "needed_high"),
    *("baseline_needed", "support", "baseline_support", "wins", "ties", "losses", "tp", "fp", "fn", "tn", "up", "un"),
)
NAMING = ("metric", "k", "average", "total_over", "class", "baseline")  # columns that describe a value
NUMBERS = (
    *("value", "baseline_value", "difference", "preference", "relative", "relative_low", "relative_high"),
    *("ci_low", "ci_high", *P_VALUES, "effect_size", "mde", "lower", "upper", "tied", "judged", "share", "threshold"),
    *("n_effective", "if_calibrated", "lambda", "people_value", "proxy_value", "proxy_difference"),
    *("proxy_bias", "proxy_bias_low", "proxy_bias_high", "baseline_proxy_bias"),
)
WORDS = ("test", "correction", "undefined", "answered", "check", "severity", "example", "message")
OF_RESULTS = {*COUNTS, *NAMING, *NUMBERS, *WORDS}


class _Value(NamedTuple):
    """A number that competes with others of its column."""

    signed: float  # higher is better
    at: int  # its row
    name: str  # its column
    text: str  # as it is printed


def library(name: str) -> Any:
    """Return an optional library that reports need; if it is not installed, the error has the command that does it."""
    return import_needed(name, f"reports and tables need {name}", "report")


def plain_text(value: Any, longest: int | None = None) -> str:
    """Return a value as one line of text with escapes for control characters; ``longest``: the most characters."""
    text = value_text(value)
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}…"
    return printable(" ".join(text.split()))


def no_value(column: Any) -> str:
    """Return the name of a system, an arm or a segment that has no value in its column."""
    return f"no {plain_text(column)}"


@contextmanager
def naming_nulls(side: str | None) -> Iterator[None]:
    """Name a system or an arm without a value by their column; ``side``: this column, None without one."""
    token = SIDE.set(side)
    try:
        yield
    finally:
        SIDE.reset(token)


def number_text(number: float | None, digits: int = 3) -> str:
    """Return a number as text; a number that differs from 0 only by rounding is 0."""
    if number is None or math.isnan(number):
        return NOTHING
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    size = abs(number)
    if size >= 1000:
        return f"{number:,.1f}"
    if size <= EQUAL:
        return f"{0:.{digits}f}"
    return small_text(number) if size < 0.5 * 10**-digits else f"{number:.{digits}f}"


def p_text(p: float | None, digits: int = 3) -> str:
    """Return a p-value as text; one that would be rounded to 0, or to 0.05 from below, has a "<"."""
    least = 10**-digits
    if p is not None and p < least:
        return f"<{least:.{digits}f}"
    if p is not None and p < ALPHA <= round(p, digits):
        return f"<{ALPHA:.{digits}f}"
    return number_text(p, digits)


def counted(n: int, unit: str) -> str:
    """Return a number of queries, rows or other things in words, as "1 class" and "2 pairs of systems"."""
    first, space, rest = unit.partition(" ")
    one = f"{SINGULAR.get(first, first.removesuffix('s'))}{space}{rest}"
    return f"{n:,} {one if n == 1 else unit}"


def threshold_text(threshold: float, digits: int) -> str:
    """Return a threshold as text; it is not rounded up, above the score that it stands for."""
    text = number_text(threshold, digits)
    up = math.isfinite(threshold) and float(text.replace(",", "")) > threshold
    return rounded_down(threshold, digits) if up else text


def cell_of(column: str, value: Any, digits: int = 3, longest: int | None = None) -> Cell:
    """Return a value of a result's column as a cell."""
    if value is None:
        side = SIDE.get()
        return Cell(NOTHING if side is None or column not in (side, "baseline") else no_value(side))
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, int):
        return Cell(f"{value:,}" if column in COUNTS else str(value), float(value))
    if isinstance(value, float) and column == "threshold":
        return Cell(threshold_text(value, digits), value)
    if isinstance(value, float) and column == "gain":
        return Cell(f"{value:g}", value)  # a grade, or what one is worth: whole as a rule
    if isinstance(value, float):
        return Cell((p_text if column in P_VALUES else number_text)(value, digits), value)
    if isinstance(value, list):
        return Cell(plain_text(", ".join(map(str, value)), longest))
    return Cell(plain_text(value, longest))


def keys_of(frame: pl.DataFrame) -> list[str]:
    """Return the key columns of a result: system, segment and query."""
    wide = "metric" not in frame.columns
    return [name for name in frame.columns if name not in OF_RESULTS and not (wide and _stem(name, frame.columns))]


def _stem(name: str, names: Sequence[str]) -> str | None:
    """Return the metric to which a column of a wide result belongs, or None."""
    for end in ("", "_low", "_high", "_n", "_n_effective", UNDEFINED):
        stem = name.removesuffix(end) if name.endswith(end) else ""
        if stem in names and _known(stem):
            return stem
    return None


def _known(name: str) -> Metric | None:
    """Return the metric with a name; None if there is none."""
    try:
        ((_, metric),) = read_text(name)
    except (FrameMetricsError, ValueError):
        return None
    return metric


def sign_of(name: Any) -> int:
    """Return 1 if higher values of a metric are better, -1 if lower ones are, 0 if neither."""
    higher = metric_of(str(name), of_result=True).higher
    return 0 if higher is None else 1 if higher else -1


def best_cells(frame: pl.DataFrame, over: str | None, digits: int = 3) -> set[tuple[int, str]]:
    """Return row and column of the best values: of each metric, among the rows that differ in ``over`` alone.

    Values that are printed alike with ``digits`` digits after the point are equally good to a reader.
    """
    wide = "metric" not in frame.columns
    same = [name for name in (*keys_of(frame), *NAMING) if name != over and name in frame.columns]
    values = [name for name in frame.columns if (_known(name) if wide else name in ("value", "baseline_value"))]
    groups: dict[tuple[str, Any], list[_Value]] = defaultdict(list)
    for at, row in enumerate(frame.iter_rows(named=True)):
        for name in values:
            metric, value = name if wide else row["metric"], row[name]
            if isinstance(value, int | float) and value == value:
                found = _Value(sign_of(metric) * value, at, name, cell_of(name, value, digits).text)
                groups[repr([row[key] for key in same]), metric].append(found)
    return {cell for group in groups.values() for cell in _highest(group)}


def _highest(group: Sequence[_Value]) -> list[tuple[int, str]]:
    """Return row and column of the values that are printed as the highest of a group; [] if all are printed alike."""
    most, least = max(group), min(group)
    if most.text == least.text or most.signed - least.signed <= EQUAL:
        return []
    return [(one.at, one.name) for one in group if one.text == most.text or most.signed - one.signed <= EQUAL]


def _nothing_counted(frame: pl.DataFrame) -> list[str]:
    """Return the columns of a wide result that count undefined values, or unanswered queries, and count none."""
    if "metric" in frame.columns:
        return []
    counts = [name for name in frame.columns if name.endswith(UNDEFINED) and _stem(name, frame.columns)]
    counts += ["n_unanswered"] * ("n_unanswered" in frame.columns)
    return [name for name in counts if not frame[name].sum()]


def table_of(
    frame: pl.DataFrame,
    *,
    caption: str = "",
    over: str | None = None,
    digits: int = 3,
    alpha: float = 0.05,
    longest: int | None = None,
    only: Sequence[str] | None = None,
    called: Mapping[str, str] | None = None,
) -> Table:
    """Return a result as a table of text.

    Parameters
    ----------
    over : the column whose values compete: for each metric the best is bold. None for no bold values.
    digits : digits after the decimal point.
    alpha : p-values below this are significant.
    longest : the most characters of a text that are shown.
    only : the columns to show, in this order; None for all.
    called : the heads of columns that are not their names, by name.
    """
    best = best_cells(frame, over, digits) if over is not None else set()
    marked, nulls = _significant(frame, alpha), null_segments(frame)
    names, heads = list(frame.columns if only is None else only), called or {}
    rows: list[list[Cell]] = []
    for at, row in enumerate(frame.iter_rows(named=True)):
        mark = dict.fromkeys(TESTED, SIGNIFICANT) if at in marked else {}
        cells = {name: cell_of(name, row[name], digits, longest) for name in names}
        cells |= {name: Cell(NULL) for name in names if (at, name) in nulls}
        rows.append([replace(one, bold=(at, name) in best, mark=mark.get(name, "")) for name, one in cells.items()])
    notes = [f"Bold: the best {plain_text(over)}."] if best else []
    if marked:
        by = corrections(frame)
        known = not by and "correction" in frame.columns
        each = ", each metric by itself" if known and frame["metric"].n_unique() > 1 else ""
        name = heads.get("p_adjusted", "p_adjusted")
        notes.append(f"{SIGNIFICANT} {name} < {alpha:g}{f' ({by})' if by else each}.")
    if {"ci_low", "difference"} & {*names}:
        notes += [f"Intervals {words}." for words in [simultaneous_words(frame)] if words]
    numbers = [frame[name].dtype.is_numeric() for name in names]
    return Table([plain_text(heads.get(name, name)) for name in names], rows, numbers, plain_text(caption), notes)


def _significant(frame: pl.DataFrame, alpha: float) -> set[int]:
    """Return the rows of a comparison whose corrected p-values are below ``alpha``."""
    tested = "p_adjusted" in frame.columns and {*TESTED} & {*frame.columns}
    return set((frame["p_adjusted"] < alpha).fill_null(False).arg_true()) if tested else set()


def corrections(frame: pl.DataFrame) -> str:
    """Return the corrections of p-values as words; "" if none was made."""
    return ", ".join(frame["correction"].drop_nulls().unique().sort()) if "correction" in frame.columns else ""


def result_table(
    frame: Any, caption: str | None, over: str | None, digits: int, alpha: float, intervals: bool
) -> Table:
    """Return a caller's frame as a table; by default ``over`` is the first key column."""
    check_whole("digits", digits, 0)
    check_bool("intervals", intervals)
    result = here(frame)
    if over is not None and over not in result.columns:
        raise ColumnError(f"over={over!r} is not among {listed(result.columns)}{closest(over, result.columns)}")
    first = next(iter(keys_of(result)), None)
    result = result.drop(_nothing_counted(result))
    only = main_columns(result) if intervals else None
    table = table_of(result, caption=caption or "", over=over or first, digits=digits, alpha=alpha, only=only)
    return _with_intervals(table) if intervals else table


def _with_intervals(table: Table) -> Table:
    """Return a table in which the ends of intervals stand behind their estimates, as "0.435 [0.402, 0.471]"."""
    names = [*table.names]
    estimate = next((name for name in (*TESTED, "value") if name in names), None)
    ends = {estimate: "ci"} | {name: name for name in names if f"{name}_low" in names}
    at = {
        names.index(name): (names.index(f"{stem}_low"), names.index(f"{stem}_high"))
        for name, stem in ends.items()
        if name is not None and f"{stem}_low" in names and f"{stem}_high" in names
    }
    kept = [i for i in range(len(names)) if i not in {end for pair in at.values() for end in pair}]

    def joined(row: Sequence[Cell], i: int) -> Cell:
        low, high = (row[end].text for end in at[i]) if i in at else ("", "")
        return row[i] if NOTHING in (low, high) or not low else replace(row[i], mark=f"{row[i].mark} [{low}, {high}]")

    rows = [[joined(row, i) for i in kept] for row in table.rows]
    return replace(table, names=[names[i] for i in kept], rows=rows, numbers=[table.numbers[i] for i in kept])
