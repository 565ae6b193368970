"""Blocks of code on the site: long lines are broken into the same program, and what is copied runs."""

from __future__ import annotations

import ast
import doctest
import html
import re
from pathlib import Path

import pytest

import code_blocks
from helpers import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONG = 'log.irm(query="qid", score="bm25", grade="rating").evaluate("ndcg@10", "map", "precision@5", average="gmean")'


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("show(1)\n", ["show(1)"]),
        (
            f"show({LONG})\n",
            [
                'show(log.irm(query="qid", score="bm25", grade="rating").evaluate(',
                '    "ndcg@10", "map", "precision@5", average="gmean"',
                "))",
            ],
        ),
        (
            f"found = pl.DataFrame({{'query': {['q'] * 9}, 'grade': {[1] * 9}}})\n",
            [
                "found = pl.DataFrame({",
                f"    'query': {['q'] * 9},",
                f"    'grade': {[1] * 9}",
                "})",
            ],
        ),
        (
            f"x = 1{' ' * 60}# why it is, in many words, at the end\n",
            ["# why it is, in many words, at the end", "x = 1"],
        ),
        (
            f"show(a,{' ' * 70}'a, (text)', 'b'\n)\n",
            ["show(", "    a, 'a, (text)', 'b'", ")"],
        ),
        (f"text = '{'word ' * 20}'\n", [f"text = '{'word ' * 20}'"]),
    ],
)
def test_long_lines_are_broken_between_arguments(source: str, lines: list[str]) -> None:
    """Brackets open, arguments fill lines, a comment goes above; what cannot be broken stays."""
    made = code_blocks.broken(source)
    assert made.rstrip("\n").split("\n") == lines
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(source))


def test_long_messages_are_broken_between_words_and_tables_stay() -> None:
    """An output is a message if no line of it has two spaces in a row."""
    message, row = "word " * 30 + "end\n", "value  n  " * 12 + "\n"
    assert max(map(len, "".join(code_blocks.said(message)).split("\n"))) <= code_blocks.WIDTH
    assert "".join(code_blocks.said(message)).split() == message.split()
    assert list(code_blocks.said(row)) == [row]


def test_long_commands_are_broken_before_options() -> None:
    """Options in quotes stay whole, a comment goes above, and a prompt of the shell is followed by its second one."""
    long = "frame-metrics evaluate log.parquet ndcg@10 --query qid --score bm25 --grade rating --by device"
    first, broken = long.removesuffix(" --by device"), " \\\n"
    assert code_blocks.command(f"$ {long}\n") == f"$ {first}{broken}>     --by device\n"
    assert code_blocks.command(f"{long} # why\n") == f"# why\n{first}{broken}    --by device\n"
    quoted = f"python -c 'print({'1 ' * 40} --by)'\n"
    assert code_blocks.command(quoted) == quoted.replace(" -c", f"{broken}    -c")
    assert "\\" not in code_blocks.console(f"frame-metrics: {'word ' * 20}--by\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions_are_narrow(page: Path) -> None:
    """Code of a page with prompts, and what it prints, is as wide as the column of the site is at least."""
    text = code_blocks.DIRECTIVE.sub("", page.read_text(encoding="utf-8"))
    lines = [line for session in code_blocks.SESSION.findall(text) for line in session.splitlines()]
    assert [line for line in lines if len(line) > code_blocks.WIDTH] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions_stay_what_they_are(page: Path) -> None:
    """Each example of a page is the same program on the site and prints the same words."""
    parser = doctest.DocTestParser()
    there, here = (
        parser.get_examples(text) for text in (page.read_text(), code_blocks.with_narrow_blocks(page.read_text()))
    )
    there = [one for one in there if one.source.strip()]
    assert [ast.dump(ast.parse(one.source)) for one in there] == [ast.dump(ast.parse(one.source)) for one in here]
    assert [one.want.split() for one in there] == [one.want.split() for one in here]


def test_what_is_copied_has_no_prompts_and_no_output() -> None:
    """The attribute that the theme's button looks for holds the input of a session; other blocks have none."""
    session = ">>> for x in [1, 2]:\n...     show(x < 2)\nTrue\nFalse\n\n>>> x\n2\n"
    built = f'<div class="highlight"><pre><span></span><code>{html.escape(session)}</code></pre></div>'
    (found,) = re.findall(r'data-copy="([^"]*)"', code_blocks.with_copies(built))
    assert html.unescape(found) == "for x in [1, 2]:\n    show(x < 2)\nx"
    assert code_blocks.copied("$ a \\\n>     --b\nout\n$ c\n", "$ ", "> ") == "a \\\n    --b\nc"
    plain = '<div class="highlight"><pre><span></span><code>pip install .</code></pre></div>'
    assert code_blocks.with_copies(plain) == plain
