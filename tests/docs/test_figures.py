"""Figures of speed in the pages are those that the benchmark printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers import ROOT, script

figures = script(ROOT / "docs" / "scripts" / "figures.py")

TABLE = """\
# Measured

Two cores.
| part | case | rows | ours | ratio |
| --- | --- | --- | --- | --- |
| floor | queries of 10, polars | 1,000 | 2 ms | 1.50 |
| floor | queries of 10, pandas | 1,000 | 3 ms | 2.50 |
| small | one [call] | 10 | 1 ms |  |
"""
ROWS = figures.measured(TABLE)
PAGES = [ROOT / "README.md", ROOT / "docs" / "performance.md", ROOT / "docs" / "scale.md"]
MEASURE = re.compile(r"\d (?:ms|s|seconds)\b|\d times (?:as|faster|slower|the)\b")


def test_a_figure_in_a_line_is_one_cell() -> None:
    """What stood there is replaced, and the mark stays."""
    mark = "It took <!-- bench: part=floor; case=*polars; show=ours -->{}<!-- /bench -->, that is all."
    assert figures.filled(mark.format("?"), ROWS) == mark.format("2 ms")
    assert figures.filled(mark.format("2 ms"), ROWS) == mark.format("2 ms")


def test_a_mark_on_a_line_of_its_own_has_a_table_below() -> None:
    """All rows that fit, with the columns that are named."""
    mark = "<!-- bench: part=floor; rows=1,000; show=case, ratio -->\n{}<!-- /bench -->\n"
    table = "| case | ratio |\n| --- | --- |\n| queries of 10, polars | 1.50 |\n| queries of 10, pandas | 2.50 |\n"
    assert figures.filled(mark.format("old\n"), ROWS) == mark.format(table)


@pytest.mark.parametrize(
    ("wanted", "fit"),
    [("part=floor; show=ours", 2), ("part=none; show=ours", 0), ("part=small; show=case, ours", 1)],
)
def test_what_does_not_fit_is_an_error(wanted: str, fit: int) -> None:
    """No row, several, or several columns are no figure of a line."""
    with pytest.raises(ValueError, match=f"{fit} rows of measured.md fit '{wanted}'"):
        figures.filled(f"a <!-- bench: {wanted} -->?<!-- /bench -->", ROWS)


@pytest.mark.parametrize(
    "text",
    [
        "a <!-- bench: part=small; show=ours -->1 and <!-- bench: part=small; show=ours -->1<!-- /bench -->",
        "a <!-- bench: part=small; show=ours -->1",
        "a <!-- bench:part=small; show=ours -->1<!-- /bench -->",
        "a <!-- bench: part=small; show=ours -->1<!--/bench-->",
        "a <!-- Bench: part=small; show=ours -->1<!-- /bench -->",
    ],
)
def test_a_mark_that_cannot_be_read_is_an_error(text: str) -> None:
    """Nothing is swallowed between marks, and none is left as it is."""
    with pytest.raises(ValueError, match=r"not every mark is .* with a <!-- /bench --> behind it"):
        figures.filled(text, ROWS)


@pytest.mark.parametrize(
    "wanted", ["part=small", "part=small; show=speed", "part = small; show=ours", "small; show=ours"]
)
def test_a_column_that_is_not_there_is_named(wanted: str) -> None:
    """What the mark asks for is said, and the columns of the table."""
    with pytest.raises(ValueError, match=f"'{wanted}': no column '.*'; there are part, case, rows, ours, ratio"):
        figures.filled(f"a <!-- bench: {wanted} -->?<!-- /bench -->", ROWS)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_figure_stands_in_prose_by_itself(path: Path) -> None:
    """Outside of code and marks no page says how long something takes; a mark in a line does not begin it.

    Markdown takes a line that begins with a comment for a block of its own.
    """
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"^ *<!-- bench: [^>]* -->[^\n]", text, re.MULTILINE)
    plain = re.sub(r"```.*?```|`[^`]*`|^    .*?$", "", figures.MARK.sub("", text), flags=re.DOTALL | re.MULTILINE)
    assert MEASURE.findall(plain) == []
