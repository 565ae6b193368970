"""Figures of speed and memory in the pages: all are taken from docs/measured.md, which tests/bench/bench.py printed.

A page says which rows it wants by what stands in their cells (a pattern as in file names), and which columns to show:

    <!-- bench: part=small; case=queries of 5, *, polars; show=ours -->1.7 ms<!-- /bench -->

In a line it is the one cell that fits. Where the mark ends its line, a table of all rows that fit follows.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

MEASURED = Path(__file__).parents[1] / "measured.md"
MARK = re.compile(r"(<!-- bench: ((?:(?!-->).)*) -->)(\n?)(?:(?!<!-- bench:).)*?(<!-- /bench -->)", re.DOTALL)
ANY_MARK = re.compile(r"<!-- *(/?)bench", re.IGNORECASE)


def measured(text: str | None = None) -> list[dict[str, str]]:
    """Rows of the table that the bench printed, each a dict of its cells."""
    lines = (text or MEASURED.read_text(encoding="utf-8")).splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|"))
    return [dict(zip(head, row, strict=True)) for row in rows]


def filled(text: str, rows: list[dict[str, str]]) -> str:
    """Return a page with the figures of the table where it asks for them; a mark that cannot be read is an error."""
    if len(ANY_MARK.findall(text)) != 2 * len(MARK.findall(text)):
        raise ValueError("not every mark is <!-- bench: part=...; show=... --> with a <!-- /bench --> behind it")
    return MARK.sub(lambda mark: f"{mark[1]}{mark[3]}{shown(mark[2], bool(mark[3]), rows)}{mark[4]}", text)


def shown(wanted: str, as_table: bool, rows: list[dict[str, str]]) -> str:
    """Return what one mark asks for."""
    parts = [one.strip().partition("=") for one in wanted.split(";")]
    asked = {name: pattern for name, _, pattern in parts}
    names = [name.strip() for name in asked.pop("show", "").split(",")]
    if unknown := sorted({*asked, *names} - {*rows[0]}):
        raise ValueError(f"{wanted!r}: no column {unknown[0]!r}; there are {', '.join(rows[0])}, and show= names some")
    fitting = [row for row in rows if all(fnmatchcase(row[name], pattern) for name, pattern in asked.items())]
    if not fitting or (not as_table and (len(fitting), len(names)) != (1, 1)):
        raise ValueError(f"{len(fitting)} rows of {MEASURED.name} fit {wanted!r}")
    if not as_table:
        return fitting[0][names[0]]
    lines = [names, ["---"] * len(names), *([row[name] for name in names] for row in fitting)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
