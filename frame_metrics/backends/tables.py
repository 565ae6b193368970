"""One table of cells, and its writers: text for a terminal, Markdown, HTML and LaTeX.

Results, the overview of ``df.irm``, the tables of a report and what the command line prints are such tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

NOTHING = "\u2013"  # a dash in place of a missing value
MOST_LETTERS_OF_A_DATE = len("2026-11-30")
MOST_LETTERS_UNBROKEN = 40  # letters of a text that may take several lines
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


@dataclass(frozen=True)
class Cell:
    """One value as text."""

    text: str
    value: float | None = None  # of a number, by which a column is sorted
    bold: bool = False
    mark: str = ""  # a sign right after the text
    subtext: str = ""  # a smaller text below it, or after it in brackets
    kind: str = ""  # a word for its style
    link: str = ""  # the name of a place on the same page, for HTML
    whole: str = ""  # the text that was cut, for a title in HTML

    @property
    def marked(self) -> str:
        """The text with its sign."""
        return f"{self.text}{self.mark}"


@dataclass(frozen=True)
class Table:
    """A table of text; columns of numbers are aligned to the right."""

    names: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: Sequence[bool]  # True for each column of numbers
    caption: str = ""
    notes: Sequence[str] = field(default_factory=list)
    subtext: str = ""  # the meaning of ``Cell.subtext``

    @property
    def explained(self) -> str:
        """The meaning of the texts beside cells, if there are any."""
        return self.subtext if any(cell.subtext for row in self.rows for cell in row) else ""

    @property
    def texts(self) -> list[list[str]]:
        """The texts of the cells of each row."""
        return [[cell.marked for cell in row] for row in self.rows]


def in_text(table: Table, *, width: int | None = None, header: bool) -> str:
    """Return a table as lines with aligned columns.

    Parameters
    ----------
    width : the most characters of a line; a wider table becomes a block of lines for each row. None for no limit.
    header : True for a first line with the names of the columns.
    """
    rows = [[*table.names], *table.texts]
    body = rows[not header :]
    if not body:
        return ""
    sizes = [max(map(len, cells)) for cells in zip(*body, strict=True)]
    if width is not None and table.rows and sum(sizes) + 2 * (len(sizes) - 1) > width:
        return _in_blocks(*rows)
    sides = [f"{{:{'>' if number else '<'}{size}}}" for number, size in zip(table.numbers, sizes, strict=True)]
    return "\n".join("  ".join(map(str.format, sides, row)).rstrip() for row in body)


def _in_blocks(names: Sequence[str], *rows: Sequence[str]) -> str:
    """Return a block of lines for each row; each line has the name of a column and its value."""
    width = max(map(len, names))
    return "\n\n".join("\n".join(f"{n:{width}}  {c}".rstrip() for n, c in zip(names, row, strict=True)) for row in rows)


def in_markdown(table: Table) -> str:
    """Return a table as Markdown, its caption above and its notes below."""
    head = [_line(map(markdown_text, table.names)), _line("--:" if number else ":--" for number in table.numbers)]
    lines = [*head, *(_line(map(_markdown_cell, row)) for row in table.rows)]
    title = [f"**{markdown_text(table.caption)}**", ""] if table.caption else []
    below = [*([f"In brackets: {table.explained}."] if table.explained else []), *table.notes]
    notes = ["", *map(markdown_text, below)] if below else []
    return "\n".join([*title, *lines, *notes])


def markdown_text(text: str) -> str:
    """Return text that Markdown shows as it is."""
    escaped = MARKDOWN.sub(lambda found: f"\\{found[0]}", text)
    for letter, entity in ENTITIES.items():
        escaped = escaped.replace(letter, entity)
    return MENTION.sub(r"\1<!-- -->", escaped)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.marked)
    return (f"**{text}**" if cell.bold else text) + (f" ({markdown_text(cell.subtext)})" if cell.subtext else "")


def in_html(table: Table, name: str = "") -> str:
    """Return a table as HTML, without its notes; ``name``: the name of the caption in links, "" for none."""
    from html import escape  # whose table of names takes long to import

    named = f' id="{name}"' if name else ""
    caption = f"<caption{named}>{escape(table.caption)}</caption>" if table.caption else ""
    number = [' class="number"' if number else "" for number in table.numbers]
    heads = (f'<th scope="col"{side}>{escape(name)}</th>' for side, name in zip(number, table.names, strict=True))
    rows = (
        f"<tr>{''.join(_html_cell(cell, side, first=at == 0) for at, (cell, side) in enumerate(pairs))}</tr>"
        for pairs in (zip(row, table.numbers, strict=True) for row in table.rows)
    )
    body = "\n".join(rows)
    return f"<table>{caption}<thead><tr>{''.join(heads)}</tr></thead><tbody>{body}</tbody></table>"


def _on_one_line(cell: Cell) -> bool:
    """Return True if a text is cut, or so short that it does not end a line at its hyphen, as "2026-W47"."""
    return bool(cell.whole) or ("-" in cell.text and " " not in cell.text and len(cell.text) <= MOST_LETTERS_OF_A_DATE)


def _html_cell(cell: Cell, number: bool, *, first: bool) -> str:
    """Return a cell; the first one of a row, unless it is a number, is the head of this row."""
    from html import escape

    tag, opened = ("th", 'th scope="row"') if first and not number else ("td", "td")
    long = ' class="long"' if len(cell.text) > MOST_LETTERS_UNBROKEN else ' class="cut"' if _on_one_line(cell) else ""
    side = ' class="number"' if number else f' dir="auto"{long}'
    key = "" if cell.value is None else f' data-value="{cell.value}"'
    text = escape(cell.text)
    text = f'<span class="badge {cell.kind}">{text}</span>' if cell.kind else text
    text = f"<strong>{text}</strong>" if cell.bold else text
    text = f'<a href="#{cell.link}">{text}</a>' if cell.link else text
    small = f" <small>{escape(cell.subtext)}</small>" if cell.subtext else ""
    key += f' title="{escape(cell.whole)}"' if cell.whole else ""
    # A sign stands beside aligned digits.
    mark = f'<span class="mark">{cell.mark}</span>' if len(cell.mark) == 1 else cell.mark
    return f"<{opened}{side}{key}>{text}{mark}{small}</{tag}>"


def in_latex(table: Table) -> str:
    """Return a table as LaTeX, with the rules of the package booktabs; notes are comments below."""
    sides = "".join("r" if number else "l" for number in table.numbers)
    lines = [_latex_line(map(latex_text, table.names))]
    lines += [r"\midrule", *(_latex_line(map(_latex_cell, row)) for row in table.rows)]
    body = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"]
    if table.caption:
        title = [r"\begin{table}", r"\centering", rf"\caption{{{latex_text(table.caption)}}}"]
        body = [*title, *body, r"\end{table}"]
    return "".join(f"{line}\n" for line in [*body, *(f"% {note}" for note in table.notes)])


def latex_text(text: str) -> str:
    """Return text that LaTeX prints as it is."""
    return "".join(LATEX.get(letter, letter) for letter in text)


def _latex_line(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.marked)
    return rf"\textbf{{{text}}}" if cell.bold else text
