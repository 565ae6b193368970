"""Results as text and as HTML, without anything cut off, and the versions of the installed libraries."""

from __future__ import annotations

import math
import platform
import sys
import textwrap
from collections.abc import Iterator, Mapping
from datetime import datetime, time
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from shutil import get_terminal_size
from typing import Any

import polars as pl

from frame_metrics.backends.frames import here
from frame_metrics.backends.tables import Cell, Table, in_html, in_text

INDENT = " " * 4
MIDNIGHT = time()
DIGITS = 6  # significant digits of numbers
FINDINGS, SENTENCES = {"check", "severity", "n", "share", "message"}, {"kind", "place", "sentence"}  # their columns
OF_FINDINGS = {*FINDINGS, "example"}  # columns of an audit besides its keys; a caller may drop the example
NULL = "null"  # a segment without a value, as pictures call it
WRITTEN = 0.000005  # the least number that is written out
DIGITS_IN_NOTEBOOK = 4  # significant digits of numbers in a notebook
# Columns of a comparison that a notebook shows on demand.
ON_DEMAND = (
    *("k", "p_value", "relative", "relative_low", "relative_high", "effect_size", "n_unpaired", "n_undefined"),
    *("n_unanswered", "test", "n_tests", "correction", "n_shared", "unit_share", "baseline_unit_share", "split_note"),
    *("n_unjudged", "baseline_n_unjudged"),
)
JOINT = ("correction", "n_tests", "metric")  # those of which intervals hold together
JOINERS = "\u200c\u200d"  # characters that decide if their neighbours are shown as one sign
# The libraries whose versions are shown: those of frames, those of computing, and optional ones.
LIBRARIES = ("numpy", "polars", "pandas", "pyarrow", "scipy", "tqdm", "duckdb", "dask", "pyspark", "altair", "jinja2")


def show(frame: Any) -> None:
    """Print a whole result: every row, no text cut; the findings of ``audit`` as a list.

    In a notebook it is a table. A comparison shows its main columns, and the others on demand; in a terminal a line
    below names them.

    Parameters
    ----------
    frame : the result of a verb, of any kind; a lazy one is run.

    Raises
    ------
    FrameMetricsError
        It is not a frame.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [0, None]})
    >>> frame_metrics.show(log.irm.per_query("rr"))
    query  metric  k  value  undefined  answered
        1  rr           0.0  True       True
    >>> frame_metrics.show(log.irm.audit())
    warning  queries without relevant documents: 1 (100 %), for example 1
        metrics that divide by the number of relevant documents are undefined; undefined= sets what they count as
    ...
    """
    table = here(frame)
    notebook = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(notebook, "kernel"):  # not the shell in a terminal
        ways = import_module("IPython.display")
        ways.display(ways.HTML(html_of(table)))
    else:
        main = main_columns(table)
        rest = [name for name in table.columns if name not in main]
        print(text_of(table.select(main), digits=DIGITS_IN_NOTEBOOK if rest else DIGITS))
        if rest:
            print(textwrap.fill(f"also: {', '.join(rest)}", get_terminal_size().columns))


def html_of(table: pl.DataFrame) -> str:
    """Return a result as HTML: findings and sentences as a list, a comparison with its main columns and the rest."""
    from html import escape  # whose table of names takes long to import

    if {*table.columns} >= SENTENCES:
        placed, notes = (table.filter(pl.col("place").is_null() == null) for null in (False, True))
        placed_text, further = (
            "".join(f"<p>{escape(line)}</p>" for line in map(printable, some["sentence"])) for some in (placed, notes)
        )
        folded = f"<details><summary>Notes</summary>{further}</details>" if further else ""
        return placed_text + folded or "<p>nothing can be said</p>"
    if {*table.columns} >= FINDINGS:
        findings = "".join(
            f"<p><strong>{escape(head)}</strong><br>{escape(message)}</p>" for head, message in _each(table)
        )
        return findings or "<p>nothing was found</p>"
    main = main_columns(table)
    rest = f"<details><summary>all columns</summary>{in_html(text_table(table, DIGITS_IN_NOTEBOOK))}</details>"
    return in_html(text_table(table.select(main), DIGITS_IN_NOTEBOOK)) + rest * (len(main) < len(table.columns))


def main_columns(table: pl.DataFrame) -> list[str]:
    """Return the columns of a result; of a comparison with all of its own, those that are read first."""
    whole = is_comparison(table) and {"test", "correction", "n_tests"} <= {*table.columns}
    return [name for name in table.columns if not (whole and name in ON_DEMAND)]


def is_comparison(table: pl.DataFrame) -> bool:
    """Return True for the result of ``compare``, ``ab_test``, ``change`` or ``interleaving``."""
    return {"p_value", "p_adjusted"} <= {*table.columns} and bool({"difference", "preference"} & {*table.columns})


def text_table(table: pl.DataFrame, digits: int | None) -> Table:
    """Return a result as a table of cells, every value as text; ``digits``: significant digits, None for all."""
    names, nulls = table.columns, null_segments(table)
    rows = [
        [
            Cell(NULL if (at, name) in nulls else _cell(name, value, digits))
            for name, value in zip(names, row, strict=True)
        ]
        for at, row in enumerate(table.iter_rows())
    ]
    return Table([*map(printable, names)], rows, [kind.is_numeric() for kind in table.dtypes])


def null_segments(table: pl.DataFrame) -> set[tuple[int, str]]:
    """Return row and column of the null segments of a result with totals, whose keys are null for another reason."""
    if "total_over" not in table.columns:
        return set()
    over = [[] if one is None else str(one).split(", ") for one in table["total_over"].to_list()]
    keys = {name for totals in over for name in totals}
    return {
        (at, name)
        for name in keys.intersection(table.columns)
        for at, (value, totals) in enumerate(zip(table[name], over, strict=True))
        if value is None and name not in totals
    }


def _cell(column: str, value: Any, digits: int | None) -> str:
    """Return a value as text; a threshold is never rounded up, above the score that it stands for."""
    down = column == "threshold" and digits is not None and isinstance(value, float)
    return cell_text(float(rounded_down(value, digits or DIGITS)) if down else value, digits)


def small_text(number: float, sign: str = "") -> str:
    """Return a number that the usual digits would show as 0; ``sign``: "+" for a sign before those above 0, too."""
    return f"{number:{sign}.5f}" if abs(number) >= WRITTEN else f"{number:{sign}.1e}"


def rounded_down(number: float, digits: int) -> str:
    """Return a number with so many significant digits, of those that are not above it."""
    if not math.isfinite(number):
        return str(number)
    text = f"{number:.{digits}g}"
    if float(text) <= number:
        return text
    step = 10.0 ** (math.floor(math.log10(abs(number))) - digits + 1)
    return f"{float(text) - step:.{digits}g}"


def text_of(table: pl.DataFrame, *, digits: int | None = DIGITS, width: int | None = None, header: bool = True) -> str:
    """Return a result as text: findings and sentences as a list, others as a table.

    Parameters
    ----------
    digits : significant digits of numbers; None for all.
    width : the most characters of a line; a wider table becomes a block of lines for each row. None for no limit.
    header : True for a first line with the names of the columns.
    """
    if {*table.columns} >= FINDINGS:
        return _findings(table)
    if {*table.columns} >= SENTENCES:
        return "\n".join(map(printable, table["sentence"])) or "nothing can be said"
    return in_text(text_table(table, digits), width=width, header=header)


@cache
def versions() -> Mapping[str, str]:
    """Return the version of the package, of Python, of the system, and of each library that is installed."""
    found = {"frame_metrics": version("frame_metrics"), "python": platform.python_version()}
    found["system"] = f"{platform.system()} {platform.machine()}"
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def show_versions() -> None:
    """Print the versions of the package, of Python, and of the installed libraries, for a bug report.

    Examples
    --------
    >>> import frame_metrics
    >>> frame_metrics.show_versions()  # doctest: +ELLIPSIS
    frame_metrics  0...
    """
    found = versions()
    width = max(map(len, found))
    print("\n".join(f"{name:{width}}  {its}" for name, its in found.items()))


def value_text(value: Any) -> str:
    """Return a value of a key as text; intervals and periods, which are structs, as pandas writes them.

    The beginning of a day is the day.
    """
    if isinstance(value, datetime) and value.time() == MIDNIGHT and not getattr(value, "nanosecond", 0):
        return value.date().isoformat()
    names = [*value] if isinstance(value, dict) else []
    if names and names[0].startswith("period["):
        from frame_metrics.backends.pandas import period_text

        return period_text(value[names[0]], names[0][len("period[") : -1])
    if len(names) == 2 and names[0] in ("[left", "(left") and names[1] in ("right]", "right)"):
        left, right = names
        return f"{left[0]}{value[left]}, {value[right]}{right[-1]}"
    return str(value)


def printable(text: str) -> str:
    """Return a text in which control characters are escapes, as ``\\x1b``.

    So no text from data moves the cursor, changes colours or reverses the direction of writing.
    """
    return "".join(c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text)


def _findings(table: pl.DataFrame) -> str:
    """Return the findings of an audit as text, one below the other; messages are wrapped at the terminal's width."""
    if table.is_empty():
        return "nothing was found"
    width = min(get_terminal_size().columns, 100) - len(INDENT)
    each = ([head, *(INDENT + line for line in textwrap.wrap(message, width))] for head, message in _each(table))
    return "\n".join(line for lines in each for line in lines)


def _each(table: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the heading and the message of each finding."""
    keys = [name for name in table.columns[: table.columns.index("check")] if name not in OF_FINDINGS]
    for row in table.iter_rows(named=True):
        where = "".join(f" [{name}={cell_text(row[name])}]" for name in keys)
        share = "" if row["share"] is None else f" ({_percent(row['share'])})"
        example = "" if row.get("example") is None else f", for example {cell_text(row['example'])}"
        head = f"{row['severity']:7}  {row['check']}{where}: {row['n']}{share}{example}"
        yield printable(head), printable(str(row["message"]))


def _percent(share: float) -> str:
    """Return a share in percent; only all is 100 %."""
    return f"{min(100 * share, 100 if share == 1 else 99.9):.3g} %"


def cell_text(value: Any, digits: int | None = DIGITS) -> str:
    """Return a value as text, "" for null; ``digits``: significant digits of a float, None for all."""
    if isinstance(value, float):
        text = repr(value) if digits is None else f"{value:.{digits}g}"
        return f"{text}.0" if text.lstrip("-").isdigit() else text
    return "" if value is None else printable(value_text(value))


def simultaneous_words(frame: pl.DataFrame) -> str:
    """Return "hold together for 6 pairs" of the intervals of families of pairs; "" if they are single.

    ``frame``: the result of a comparison, or its columns ``JOINT``.
    """
    if not {*JOINT} <= {*frame.columns}:
        return ""
    joint = frame.filter(correction="max_t")
    if joint.is_empty():
        return ""
    n = int(joint["n_tests"].to_numpy().max())
    each = int(joint.group_by("metric").len()["len"].to_numpy().max())
    return f"hold together for {n:,} {'pairs' if len(joint) == 1 or n <= each else 'differences'}"
