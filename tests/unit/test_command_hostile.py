"""Hostile texts in files, names and arguments come out as text wherever the command line writes them."""

from __future__ import annotations

import html.parser
import io
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as xml

import polars as pl
import pytest
from markdown_it import MarkdownIt
from polars.testing import assert_frame_equal

from frame_metrics import IRM
from frame_metrics.command import main
from helpers import Terminal

Captured = pytest.CaptureFixture[str]
HOSTILE = (
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "'plain",
    "\uff1d1",
    "<script>alert(1)</script>",
    "a|b `c` *d* _e_ [f](http://x) @user #1 &amp;",
    'say "hi", now',
    "two\nlines",
    "::error::x%0A",
    "\x1b[2J\x1b[31mred\x07",
    "\u202eright to left",
    "\u2028line",
    "ש 🙂 👩\u200d🚀",
    "nul\x00\x0b\ufffe",
    "",
    " ",
)
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


@pytest.fixture(autouse=True)
def _log(alone: None) -> None:
    """A folder with a log whose ids, segments and columns are hostile."""
    log().write_parquet("log.parquet")


BY, QUERY = "=by|<b>\x1b[31m\n", "@query"


def log() -> pl.DataFrame:
    """A query for each hostile text, which is its segment as well."""
    return pl.DataFrame({QUERY: HOSTILE, BY: HOSTILE, "score": 1.0, "grade": 1})


def result() -> pl.DataFrame:
    return IRM(log(), query=QUERY, by=BY).per_query("rr")


def called(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    """The exit code of a call with the roles of the log, and what it prints."""
    code = main([*arguments, "--query", QUERY, "--by", BY])
    return code, *capsys.readouterr()


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_csv_runs_no_formula(kind: str, capsys: Captured) -> None:
    """No cell of a text, and no name of a column, begins as a formula does; numbers stay as they are."""
    _, printed, _ = called(capsys, "per-query", "log.parquet", "rr", "--to", kind)
    cells = pl.read_csv(io.StringIO(printed), separator="," if kind == "csv" else "\t", infer_schema=False)
    texts = [*cells.columns, *cells[:, 0], *cells[:, 1]]
    assert [text for text in texts if text and text[0] in "=+-@\t\r\n\uff1d"] == []
    assert cells["value"].to_list() == ["1.0"] * len(HOSTILE)
    exact = called(capsys, "per-query", "log.parquet", "rr", "--to", kind, "--formulas", "keep")[1]
    back = pl.read_csv(io.StringIO(exact), separator="," if kind == "csv" else "\t", infer_schema=False)
    assert_frame_equal(back.select(BY, QUERY).fill_null(""), result().select(BY, QUERY))


@pytest.mark.parametrize("formulas", ["text", "keep"])
@pytest.mark.parametrize("name", ["saved.csv", "saved.tsv", "saved.parquet", "saved.json"])
def test_saved_numbers_find_their_queries(name: str, formulas: str, capsys: Captured) -> None:
    """What per-query saved, with apostrophes or without, is compared query by query, and none is lost."""
    # In CSV an empty text is a null, and an apostrophe before a formula is taken as ours.
    log().filter(~pl.col(QUERY).is_in(["", "'=1"] if formulas == "keep" else [""])).write_parquet("log.parquet")
    columns = ["--query", "query", "--by", "by"]
    pl.read_parquet("log.parquet").rename({QUERY: "query", BY: "by"}).write_parquet("plain.parquet")
    assert main(["per-query", "plain.parquet", "rr", *columns, "-o", name, "--formulas", formulas]) == 0
    assert main(["compare", "plain.parquet", "rr", *columns, "--saved", name, "--to", "json"]) == 0
    compared = pl.read_json(io.StringIO(capsys.readouterr().out))
    assert compared.select("n", "n_unpaired").unique().rows() == [(1, 0)]
    assert compared["difference"].unique().to_list() == [0.0]


@pytest.mark.parametrize("name", ["saved.parquet", "saved.arrow", "saved.json", "saved.jsonl"])
def test_other_formats_keep_every_text(name: str, capsys: Captured) -> None:
    """Formats that nobody runs have the texts as they are."""
    assert called(capsys, "per-query", "log.parquet", "rr", "-o", name)[0] == 0
    by_ending = {"parquet": pl.read_parquet, "arrow": pl.read_ipc, "json": pl.read_json, "jsonl": pl.read_ndjson}
    got = by_ending[name.partition(".")[2]](name)
    assert_frame_equal(got.with_columns(pl.col("k").cast(pl.Int64)), result())


@pytest.mark.parametrize("kind", [None, "csv", "md", "html", "json"])
def test_a_terminal_is_not_commanded(kind: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal gets no control character, nor one that turns the direction of writing, in any format."""
    file = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Terminal(file, encoding="utf-8"))
        to = ["--to", kind] if kind else []
        assert main(["per-query", "log.parquet", "rr", "--query", QUERY, "--by", BY, *to]) == 0
        shown = file.getvalue().decode()
    assert CONTROLS.findall(shown) == []
    assert "red" in shown
    assert "👩\u200d🚀" in shown


def test_a_terminal_of_few_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Letters that a terminal cannot show are written as codes."""
    file = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Terminal(file, encoding="ascii"))
        assert main(["per-query", "log.parquet", "rr", "--query", QUERY]) == 0
        assert b"\\u05e9 \\U0001f642" in file.getvalue()


def test_markdown_has_a_row_for_each(capsys: Captured) -> None:
    """A reader of Markdown finds the texts in the cells, on one line each, and no mark-up."""
    _, printed, _ = called(capsys, "per-query", "log.parquet", "rr", "--to", "md")
    tokens = MarkdownIt().enable("table").parse(printed)
    cells = [token for token in tokens if token.type == "inline"]
    assert len(cells) == 7 * (len(HOSTILE) + 1)
    assert {child.type for cell in cells for child in cell.children or ()} <= {"text", "text_special", "html_inline"}
    shown = ["".join(child.content for child in cell.children or () if child.type != "html_inline") for cell in cells]
    for text in ("<script>alert(1)</script>", "=cmd|' /C calc'!A0", "a|b `c` *d* _e_ [f](http://x) @user #1 &amp;"):
        assert text in shown


class Texts(html.parser.HTMLParser):
    """The elements of a page, and the texts of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def test_html_has_no_other_elements(capsys: Captured) -> None:
    """A page has the texts in its cells, and no element of theirs."""
    page = Texts()
    page.feed(called(capsys, "per-query", "log.parquet", "rr", "--to", "html")[1])
    assert page.tags == {"html", "meta", "title", "style", "table", "thead", "tbody", "tr", "th", "td"}
    assert "<script>alert(1)</script>" in page.cells


def test_junit_is_xml(capsys: Captured) -> None:
    """A file of JUnit is read by a parser of XML, whatever segments are called."""
    arguments = ["evaluate", "log.parquet", "rr", "--fail-over", "rr=0", "--junit", "gates.xml"]
    assert called(capsys, *arguments)[0] == 1
    suite = xml.parse("gates.xml").getroot()
    assert len(suite) == len(HOSTILE)
    names = " ".join(case.attrib["name"] for case in suite)
    assert "<script>alert(1)</script>" in names
    assert CONTROLS.findall(names) == []


def test_github_takes_no_command_of_the_data(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each failure is one command of ours, and no line of the data begins one."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    _, _, said = called(capsys, "evaluate", "log.parquet", "rr", "--fail-over", "rr=0")
    lines = said.splitlines()
    assert len(lines) == 2 * len(HOSTILE)
    assert [line.startswith("::error title=frame-metrics evaluate::") for line in lines].count(True) == len(HOSTILE)
    assert "::error::x%250A" in said
    assert CONTROLS.findall(said) == []
    tokens = MarkdownIt().enable("table").parse(Path("summary.md").read_text())
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "text_special", "html_inline"}


def test_errors_have_no_control_characters(capsys: Captured) -> None:
    """Arguments and names of files come back in errors as text."""
    for arguments in (
        ["evaluate", "\x1b[31m\u202e.parquet", "rr"],
        ["evaluate", "log.parquet", "\x1b[31m\n::error::"],
        ["evaluate", "log.parquet", "rr", "--\x1b[31m"],
        ["\x1b[31m"],
        ["evaluate", "log.parquet", "rr", "--query", "\x1b[31m\udc80"],
        ["trec_eval", "-m", "\x1b[31m", "a", "b"],
    ):
        assert main(arguments) == 2
        said = capsys.readouterr().err
        assert CONTROLS.findall(said) == []
        assert not [line for line in said.splitlines() if line.startswith("::")]


@pytest.mark.parametrize("kind", ["csv", "tsv", "table", "md", "html", "json"])
@pytest.mark.parametrize("command", ["per-query", "convert"])
def test_github_finds_no_command_in_a_result(
    command: str, kind: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line of standard output begins a command in a workflow; elsewhere and in files texts are as they were."""
    texts = ["a\n::error::one", "::error::two", " ::error::three", "a\r::error::four"]
    pl.DataFrame({"query": texts, "score": 1.0, "grade": 1}).write_parquet("log.parquet")
    arguments = [command, "log.parquet", *(["rr"] if command == "per-query" else []), "--to", kind]
    assert main(arguments) == 0
    before = capsys.readouterr().out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert [line for line in re.split("[\r\n]", printed) if line.lstrip().startswith("::")] == []
    assert (printed == before) == (kind == "json")
    assert main([*arguments[:-2], "-o", "exact.csv", "--to", "csv", "--formulas", "keep"]) == 0
    assert pl.read_csv("exact.csv")["query"].sort().to_list() == sorted(texts)


def test_github_finds_no_command_of_the_old_kind(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.DataFrame({"query": ["a ##[error]b"], "##[x]": 1.0, "grade": 1}).write_parquet("log.parquet")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["convert", "log.parquet"]) == 0
    assert capsys.readouterr().out == "query,##\\[x],grade\na ##\\[error]b,1.0,1\n"
    assert main(["convert", "##[error].parquet"]) == 2
    assert "##[" not in capsys.readouterr().err.splitlines()[0]
