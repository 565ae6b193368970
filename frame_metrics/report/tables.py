"""Tables from result frames, as HTML, LaTeX and Markdown."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from html import escape
from typing import Any

import polars as pl

from frame_metrics.report.cells import NOTHING, Cell, Table, library, result_table

# What Markdown reads as more than a letter; within a word an underscore is one.
MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
# What GitHub makes a mention or a link to an issue of; an empty comment stops it.
MENTION = re.compile(r"(?<!\w)([@#])(?=\w)")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # after the end of a row it would begin an option
    NOTHING: "--",
    "…": r"\ldots{}",
    "∞": r"$\infty$",
}


def html(
    frame: Any, *, caption: str | None = None, over: str | None = None, digits: int = 3, alpha: float = 0.05
) -> str:
    """Write the result of a verb as an HTML table, made by great_tables.

    Parameters
    ----------
    frame : the result of ``evaluate``, ``compare``, ``per_class`` or another verb, of any kind, or some of its rows.
    caption : the title of the table.
    over : the column whose rows are compared, as "system": the best of them is bold for each metric, by the metric's
        direction, and so are others that print the same number. By default the first key column.
    digits : digits after the point.
    alpha : in a result of ``compare``, differences with a corrected p-value below it have a star.

    Returns
    -------
    The table as text, with its style. The values of the frame appear as text, whatever characters they contain.

    Raises
    ------
    FrameMetricsError
        There is no such column, this is not a frame, or great_tables is not installed.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> runs = pl.DataFrame({"query": [1, 1], "run": ["a", "b"], "score": [1.0, 1.0], "grade": [1, 0]})
    >>> frame_metrics.report.html(runs.irm(system="run").evaluate("rr")).count('<td style="font-weight: bold;"')
    1
    """
    table = result_table(frame, caption, over, digits, alpha)
    great = library("great_tables")
    names = [f"c{i}" for i in range(len(table.names))]
    texts = {name: [_marked(row[i]) for row in table.rows] for i, name in enumerate(names)}
    data = pl.DataFrame(texts, schema=dict.fromkeys(names, pl.String))
    made = great.GT(data, id=f"frame_metrics_{zlib.crc32(repr(table).encode()):08x}")

    def as_it_is(text: str) -> Any:
        """Text in which no braces are left, which would be units of measurement."""
        return great.html(escape(text).replace("{", "&#123;"))

    made = made.cols_label(dict(zip(names, map(as_it_is, table.names), strict=True)))
    for side in (True, False):
        aligned = [name for name, number in zip(names, table.numbers, strict=True) if number == side]
        made = made.cols_align("right" if side else "left", aligned)
    for i, name in enumerate(names):
        if bold := [at for at, row in enumerate(table.rows) if row[i].bold]:
            made = made.tab_style(great.style.text(weight="bold"), great.loc.body(columns=[name], rows=bold))
    for note in table.notes:
        made = made.tab_source_note(as_it_is(note))
    return str((made.tab_header(as_it_is(table.caption)) if table.caption else made).as_raw_html())


def latex(
    frame: Any, *, caption: str | None = None, over: str | None = None, digits: int = 3, alpha: float = 0.05
) -> str:
    r"""Write the result of a verb as a LaTeX table, made by pandas' Styler.

    It needs the package booktabs, and the font encoding T1 (or XeLaTeX, whose fonts cover more languages).

    Parameters
    ----------
    frame, caption, over, digits, alpha : as in ``html``.

    Raises
    ------
    FrameMetricsError
        There is no such column, this is not a frame, or Jinja2, which the Styler needs, is not installed.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> runs = pl.DataFrame({"query": [1, 1], "run": ["a_1", "b"], "score": [1.0, 1.0], "grade": [1, 0]})
    >>> print(frame_metrics.report.latex(runs.irm(system="run").evaluate("rr", layout="wide")))
    \begin{tabular}{llrrr}
    \toprule
    run & average & n & rr & rr\_undefined \\
    \midrule
    a\_1 & macro & 1 & \textbf{1.000} & 0 \\
    b & macro & 1 & 0.000 & 1 \\
    \bottomrule
    \end{tabular}
    % Bold: the best run.
    <BLANKLINE>
    """
    table = result_table(frame, caption, over, digits, alpha)
    library("jinja2")
    import pandas as pd

    names = range(len(table.names))
    texts = pd.DataFrame({i: pd.Series([_marked(row[i]) for row in table.rows], dtype=object) for i in names})
    bold = pd.DataFrame({i: ["textbf:--rwrap;" if row[i].bold else "" for row in table.rows] for i in names})
    style = texts.style.hide(axis="index").apply(lambda _: bold, axis=None)
    style = style.format(_in_latex).format_index(lambda i: _in_latex(table.names[int(str(i))]), axis="columns")
    sides = "".join("r" if number else "l" for number in table.numbers)
    title = _in_latex(table.caption) or None
    text = style.to_latex(
        hrules=True, column_format=sides, caption=title, position_float="centering" if title else None
    )
    return "".join([str(text), *(f"% {note}\n" for note in table.notes)])


def markdown(
    frame: Any, *, caption: str | None = None, over: str | None = None, digits: int = 3, alpha: float = 0.05
) -> str:
    """Write the result of a verb as a Markdown table, for example for a comment on a pull request.

    Parameters
    ----------
    frame, caption, over, digits, alpha : as in ``html``.

    Raises
    ------
    FrameMetricsError
        There is no such column, or this is not a frame.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> runs = pl.DataFrame({"query": [1, 1], "run": ["a", "b"], "score": [1.0, 1.0], "grade": [1, 0]})
    >>> print(frame_metrics.report.markdown(runs.irm(system="run").evaluate("rr", layout="wide")))
    | run | average | n | rr | rr_undefined |
    | :-- | :-- | --: | --: | --: |
    | a | macro | 1 | **1.000** | 0 |
    | b | macro | 1 | 0.000 | 1 |
    <BLANKLINE>
    Bold: the best run.
    """
    return in_markdown(result_table(frame, caption, over, digits, alpha))


def in_markdown(table: Table) -> str:
    """Return a table as Markdown, its caption above and its notes below."""
    head = [_line(map(markdown_text, table.names)), _line("--:" if number else ":--" for number in table.numbers)]
    lines = [*head, *(_line(map(_bold, row)) for row in table.rows)]
    title = [f"**{markdown_text(table.caption)}**", ""] if table.caption else []
    said = [*([f"In brackets: {table.explained}."] if table.explained else []), *table.notes]
    notes = ["", *map(markdown_text, said)] if said else []
    return "\n".join([*title, *lines, *notes])


def markdown_text(text: str) -> str:
    """Return text that Markdown shows as it is."""
    escaped = MARKDOWN.sub(lambda found: f"\\{found[0]}", text)
    for letter, entity in ENTITIES.items():
        escaped = escaped.replace(letter, entity)
    return MENTION.sub(r"\1<!-- -->", escaped)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _bold(cell: Cell) -> str:
    text = markdown_text(_marked(cell))
    return (f"**{text}**" if cell.bold else text) + (f" ({markdown_text(cell.beside)})" if cell.beside else "")


def _marked(cell: Cell) -> str:
    return f"{cell.text}{cell.mark}"


def _in_latex(text: object) -> str:
    """Return text that LaTeX prints as it is."""
    return "".join(LATEX.get(letter, letter) for letter in str(text))
