"""Each refusal that offers a way out has a test that takes it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import frame_metrics
from helpers import ROOT
from refusals import BUT, lines_of

# A clause that offers an option, and the options that a call has.
WAY_OUT = re.compile(
    r"\b(say|pass|give|name|use|leave out|leave|ask for|make|set|add|requires?) [^;]*?\b[a-z_]+=(?!=).*", re.S
)
OPTION = re.compile(r"\b([a-z][a-z_]*)=(?!=)")
LEAST = 10  # letters of a clause that are no chance in a test
HOLE = "\0"  # in the place of what is filled in

# How many refusals of a file are left, of which no test takes a way out. None is added; a test is.
LEFT = Counter(
    {
        "frame_metrics/backends/trec.py": 1,
        "frame_metrics/command/texts.py": 1,
        "frame_metrics/data/classes.py": 1,
        "frame_metrics/data/judgments.py": 2,
        "frame_metrics/inputs/expected.py": 1,
        "frame_metrics/measuring/proxies.py": 1,
        "frame_metrics/metrics/foreign_names.py": 2,
        "frame_metrics/plan/checks.py": 1,
        "frame_metrics/roles/conventions.py": 1,
        "frame_metrics/roles/resolve.py": 1,
        "frame_metrics/verbs/compare/options.py": 1,
        "frame_metrics/verbs/propensities.py": 1,
    }
)
MOST = 30


class Tried(NamedTuple):
    """What a test, or a part of a table of refusals, quotes of messages, and the options of its calls that pass."""

    quotes: list[str]
    options: set[str]


def clauses(text: str) -> list[str]:
    """Return the parts of a text between what is filled in and semicolons, without short ones."""
    parts = (part.strip(" ,;") for part in re.split(rf"{HOLE}|\[\.\.\.\]|; ", text))
    return [part for part in parts if len(part) >= LEAST]


def texts_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that are no docstrings, and their lines, with a hole for each value in them."""
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in inner or id(node) in docs:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values),
            )


def refusals() -> Iterator[tuple[str, str, set[str]]]:
    """Yield the file, the text and the offered options of each refusal that offers some."""
    package = Path(frame_metrics.__file__).parent  # which may be installed elsewhere
    for file in sorted(package.rglob("*.py")):
        for _, text in texts_of(ast.parse(file.read_text(encoding="utf-8"))):
            if "<" not in text and (found := WAY_OUT.search(text)):  # no page of HTML
                yield file.relative_to(package.parent).as_posix(), text, {*OPTION.findall(found.group())}


def of_table(table: str) -> Iterator[Tried]:
    """Yield what each part of a table of refusals tries: some errors, and the calls that pass below them."""
    tried, before = Tried([], set()), ""
    for mark, said in lines_of(table):
        if before == BUT != mark:
            yield tried
            tried = Tried([], set())
        if mark == "error":
            tried.quotes.append(said)
        elif mark == BUT:
            tried.options.update(OPTION.findall(said))
        before = mark
    yield tried


def of_test(node: ast.AST) -> Iterator[Tried]:
    """Yield what a test, or another statement of its module, tries."""
    texts = [text for _, text in texts_of(node)]
    calls = {word.arg for call in ast.walk(node) if isinstance(call, ast.Call) for word in call.keywords if word.arg}
    keys = (key for each in ast.walk(node) if isinstance(each, ast.Dict) for key in each.keys)
    names = {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    tables = [text for text in texts if f"\n    {BUT}" in text]
    for table in tables:
        yield from of_table(table)
    yield Tried([text for text in texts if text not in tables], calls | names)


def tried() -> list[Tried]:
    """Return what all tests try."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in sorted((ROOT / "tests").rglob("test_*.py"))]
    return [one for tree in trees for node in tree.body for one in of_test(node)]


def left() -> list[tuple[str, str]]:
    """Return the refusals, and their files, that no test quotes, in part, beside a call with an option they offer."""
    every = [
        ("\n".join(one.quotes), {part for quote in one.quotes for part in clauses(quote)}, one.options)
        for one in tried()
    ]

    def is_tried(text: str, offered: set[str]) -> bool:
        own, near = clauses(text), [one for one in every if offered & one[2]]
        return any(any(part in quoted for part in own) for quoted, _, _ in near) or any(
            any(part in text for part in parts) for _, parts, _ in near
        )

    return [(file, text) for file, text, offered in refusals() if not is_tried(text, offered)]


def test_each_way_out_is_taken() -> None:
    """A refusal says how to go on; a test quotes it, and a call of that test has an option that is offered."""
    found = left()
    lacking = Counter(file for file, _ in found) - LEFT
    shown = [f"{file}: {text}" for file, text in found if file in lacking]
    assert not lacking, "\n".join(["no test takes a way out of these; a table of refusals may, after but:", *shown])
    assert LEFT.total() <= MOST
