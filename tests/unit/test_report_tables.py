"""Result frames as tables: the best bold, what is significant marked, whatever the frame holds as text."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest
from markdown_it import MarkdownIt

from frame_metrics import IRM, report
from frame_metrics.backends.display import text_of
from helpers import as_kind, error, frame

RUNS = pl.DataFrame({"query": [1, 1, 2, 2], "run": ["a", "b"] * 2, "score": [1.0] * 4, "grade": [1, 0, 1, 1]})
HOSTILE = [
    "<script>alert('1')</script>",
    '"><img src=x onerror="alert(1)">',
    "a | b || c",
    "two\nlines\r\n\tand a tab",
    "{{ 7 * 7 }} {% raw %} {# #}",
    r"50% & $x_1^2$ #1 ~ \textbf{x} \\ [1cm]",
    "**bold** _it_ `code` [link](javascript:alert(1)) ![i](x) <!-- c -->",
    "&lt;b&gt; &amp; &#64;",
    "שלום עולם",
    "مرحبا \u202eright to left",
    "👩🏽‍🚀 emoji 🇺🇳",
    "@someone and #1, me@example.org",
    "\x1b[31mred\x00\x07",
    "~~gone~~ https://example.org/a_b_c",
    "</td></tr></table><h1>x",
    "=cmd()|' /C calc'!A0",
]
# As they are shown: in one line, and nothing hidden in them.
SHOWN = {
    "two\nlines\r\n\tand a tab": "two lines and a tab",
    "مرحبا \u202eright to left": "مرحبا \\u202eright to left",
    "\x1b[31mred\x00\x07": "\\x1b[31mred\\x00\\x07",
}


class Cells(HTMLParser):
    """The texts of the cells of HTML tables, and those that are bold; other tags that are there."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.bold: list[str] = []
        self.tags: set[str] = set()
        self.inside = self.is_bold = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("td", "th", "caption"):
            self.inside, self.is_bold = True, "font-weight: bold" in (dict(attrs).get("style") or "")
            self.cells.append("")
        self.is_bold |= tag == "strong"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "caption"):
            self.inside = False
            if self.is_bold:
                self.bold.append(self.cells[-1])

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells[-1] += data


def of_markdown(text: str) -> Cells:
    return Cells(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))


def bold_in_latex(text: str) -> list[str]:
    return [part.partition("}")[0] for part in text.split(r"\textbf{")[1:]]


WAYS: dict[str, Callable[..., list[str]]] = {
    "html": lambda made, **options: Cells(report.html(made, **options)).bold,
    "latex": lambda made, **options: bold_in_latex(report.latex(made, **options)),
    "markdown": lambda made, **options: of_markdown(report.markdown(made, **options)).bold,
}


@pytest.mark.parametrize("way", WAYS)
def test_the_best_of_each_metric_is_bold(way: str) -> None:
    """The best is the highest, and of an error rate the lowest; among the systems of one segment, long or wide."""
    values = frame("run day metric value", ("a", 1, "rr", 0.5), ("b", 1, "rr", 0.75), ("a", 2, "rr", 0.25))
    more = frame("run day metric value", ("b", 2, "rr", 0.125), ("a", 1, "fdr", 0.1), ("b", 1, "fdr", 0.2))
    assert WAYS[way](pl.concat([values, more])) == ["0.750", "0.250", "0.100"]
    wide = frame("run rr fdr rr_low", ("a", 0.5, 0.1, 0.9), ("b", 0.75, 0.2, 0.8))
    assert WAYS[way](wide) == ["0.100", "0.750"]


@pytest.mark.parametrize(
    ("rows", "bold"),
    [
        ([("a", "rr", 0.5)], []),  # nothing to compare with
        ([("a", "rr", 0.5), ("b", "rr", 0.5)], []),  # all alike
        ([("a", "rr", 0.5), ("b", "rr", 0.5), ("c", "rr", 0.25)], ["0.500", "0.500"]),
        ([("a", "rr", 0.7931), ("b", "rr", 0.7934), ("c", "rr", 0.7928), ("d", "rr", 0.7924)], ["0.793"] * 3),
        ([("a", "fdr", 0.2001), ("b", "fdr", 0.1999), ("c", "fdr", 0.3)], ["0.200", "0.200"]),
        ([("a", "rr", 0.7931), ("b", "rr", 0.7934)], []),  # a reader sees no better one
        ([("a", "rr", None), ("b", "rr", 0.5), ("c", "rr", 0.25)], ["0.500"]),
        ([("a", "num_ret", 5.0), ("b", "num_ret", 7.0)], []),  # no value is better than another
        ([("a", "latency", 5.0), ("b", "latency", 7.0)], []),  # nobody knows which is better
        ([("a", "rr", 0.5), ("b", "ap", 0.75)], []),  # two metrics are not compared
    ],
)
def test_bold_is_what_is_better_than_another(rows: list[Any], bold: list[str]) -> None:
    """Values that print alike are all bold, and none is where there is no better one."""
    assert WAYS["markdown"](frame("run metric value", *rows)) == bold


def test_what_is_printed_decides_what_is_bold() -> None:
    """With more digits values that printed alike are told apart; a report prints three."""
    rows = frame("run metric value", ("a", "rr", 0.7931), ("b", "rr", 0.7934), ("c", "rr", 0.5))
    assert of_markdown(report.markdown(rows, digits=4)).bold == ["0.7934"]


def test_values_are_compared_over_the_column_that_is_said() -> None:
    """With over= the best of another column's values is bold."""
    values = frame("run day metric value", ("a", 1, "rr", 0.5), ("b", 1, "rr", 0.75), ("a", 2, "rr", 0.6))
    assert WAYS["markdown"](values, over="day") == ["0.600"]
    assert error(lambda: report.markdown(values, over="dya")) == (
        "over='dya' is not among 'run', 'day', 'metric', 'value'; did you mean 'day'?"
    )


def test_significant_differences_have_a_star() -> None:
    """A corrected p-value below alpha marks the difference, of comparisons the better of the two values is bold."""
    columns = "run baseline metric value baseline_value difference p_adjusted correction"
    test = frame(
        columns, ("a", "c", "rr", 0.5, 0.4, 0.1, 0.049, "holm"), ("b", "c", "rr", 0.3, 0.4, -0.1, 0.05, "holm")
    )
    made = of_markdown(report.markdown(test))
    assert [cell for cell in made.cells if "*" in cell] == ["0.100*"]
    assert made.bold == ["0.500"]
    assert "p_adjusted < 0.05 (holm)".replace("<", "&lt;") in report.markdown(test)
    assert "0.100*" in Cells(report.html(test)).cells
    assert "-0.100*" in Cells(report.html(test, alpha=0.06)).cells
    assert report.latex(test, alpha=0.01).count("*") == 0
    assert of_markdown(report.markdown(test.tail(1))).bold == ["0.400"]
    teams = of_markdown(report.markdown(test.rename({"difference": "preference"})))
    assert [cell for cell in teams.cells if "*" in cell] == ["0.100*"]


def test_tables_are_of_every_kind_of_frame(kind: str) -> None:
    """A frame of any kind gives the same table, a lazy one too."""
    expected = RUNS.irm(system="run").evaluate("rr", "ndcg@3", ci=0.9)
    found = IRM(as_kind(RUNS, kind), system="run").evaluate("rr", "ndcg@3", ci=0.9)
    for write in (report.html, report.latex, report.markdown):
        assert write(found) == write(expected)


def test_numbers_are_rounded_and_nothing_is_a_dash() -> None:
    """Numbers have three decimals, counts have commas, small p-values are said to be small, nulls are dashes."""
    row = ("q", 0.12345, 1234, None, 0.00001, float("inf"), True, 1e-9, 1234567.0, -1e-17)
    made = frame("query difference n value p_value threshold judged relative mde lower", row)
    cells = of_markdown(report.markdown(made)).cells
    assert cells[10:] == ["q", "0.123", "1,234", "\u2013", "<0.001", "∞", "yes", "1.0e-09", "1,234,567.0", "0.000"]
    assert "0.12" in of_markdown(report.markdown(made, digits=2)).cells
    assert "digits=-1 is not a whole number from 0" in error(lambda: report.html(made, digits=-1))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_out_as_text(text: str) -> None:
    """Whatever letters a cell, a column's name or the caption has, they are read again as they are."""
    made = pl.DataFrame({text: [text, "other"], "metric": ["rr", "rr"], "value": [0.5, 0.25]})
    shown = SHOWN.get(text, text)
    page = Cells(report.html(made, caption=text))
    assert page.cells[:3] == [shown, shown, "metric"]
    assert page.cells[4] == shown
    assert page.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "div", "style", "strong", "p"}
    written = report.markdown(made, caption=text)
    found = of_markdown(written)
    assert found.cells[:4] == [shown, "metric", "value", shown]
    assert found.tags <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    latex = report.latex(made, caption=text)
    assert _read(latex.partition(r"\caption{")[2].partition("}\n")[0]) == shown
    assert _read(latex.partition("\\midrule\n")[2].partition(" & rr")[0]) == shown


def _read(latex: str) -> str:
    """The text that LaTeX prints; what it would take for more than a letter raises."""
    for letter, written in {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
        ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}",
    }.items():  # fmt: skip
        assert letter in ("\\", "[") or letter not in latex
        latex = latex.replace(written, f"\0{ord(letter)}\0")
    for letter in "&%$#_{}":
        latex = latex.replace(f"\\{letter}", f"\0{ord(letter)}\0")
    assert not set(latex) & set("&%$#_{}\\~^<>\n")
    parts = latex.split("\0")
    return "".join(part if i % 2 == 0 else chr(int(part)) for i, part in enumerate(parts))


def test_markdown_calls_nobody() -> None:
    """A name after @ and a number after # are cut by an empty comment, so that no person and no issue is linked."""
    made = report.markdown(frame("query value", ("@someone #12 a@b.org ndcg@10", 1.0)))
    assert "@<!-- -->someone #<!-- -->12 a@b.org ndcg@10" in made


@pytest.mark.parametrize("write", [report.html, report.latex, report.markdown])
def test_tables_need_no_other_library(write: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One writer for each form is all that they take; only whole reports need Jinja2."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert "query" in write(RUNS)


@pytest.mark.parametrize("way", [report.markdown, report.html, report.latex])
def test_intervals_stand_behind_their_estimates(way: Callable[..., str]) -> None:
    """With intervals=True the ends are no columns of their own, and a comparison has its main columns."""
    irm = IRM(RUNS, system="run")
    for result, estimate in ((irm.evaluate("rr", ci=0.9), "value"), (irm.compare("rr"), "difference")):
        row = result.row(0, named=True)
        text = re.sub("<[^>]*>", "", way(result, intervals=True))
        text = text.replace("\\[", "[").replace("\\]", "]").replace("{[}", "[")
        assert f"{row[estimate]:.3f} [{row['ci_low']:.3f}, {row['ci_high']:.3f}]" in text
        assert "ci_low" in way(result).replace("\\", "")
        assert "ci_low" not in text.replace("\\", "")
        assert "p_value" not in text.replace("\\", "")
    wide = way(irm.evaluate("rr", ci=0.9, layout="wide"), intervals=True)
    assert "rr_low" not in wide.replace("\\", "")
    assert "intervals=1 is not True or False" in error(lambda: way(irm.evaluate("rr"), intervals=1))


def test_signs_of_significance_stand_beside_aligned_digits() -> None:
    """A star takes no room in its column."""
    found = pl.DataFrame({"metric": ["rr", "ap"], "difference": [0.2, 0.1], "p_adjusted": [0.01, 0.5]})
    text = report.html(found)
    assert '0.200<span class="mark">*</span></td>' in text
    assert ".mark { display: inline-block; width: 0 }" in text


def test_a_null_segment_is_no_total() -> None:
    """Both have a null key; in tables for people the segment is called null, as in pictures."""
    log = pl.DataFrame({"query": [1, 2], "device": ["web", None], "rr": [1.0, 0.5]})
    found = IRM(log, query="query", value="rr", by="device").evaluate("rr", margins=True)
    rows = [line.split(" | ")[:2] for line in report.markdown(found).splitlines()[2:5]]
    assert rows == [["| web", "\u2013"], ["| null", "\u2013"], ["| \u2013", "device"]]
    assert [line.split()[0] for line in text_of(found).splitlines()[1:]] == ["web", "null", "device"]
