"""The words: plain English in the package, the pages and the examples."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import frame_metrics
from helpers import ROOT

PACKAGE = Path(frame_metrics.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
TEXTS = [
    *MODULES,
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "docs" / "scripts" / "generate.py",
    *sorted((ROOT / "examples").glob("*.py")),
]

# Phrases that had to be read twice, as patterns; the usual word for each, and why a reader stumbles.
NOT_SO: dict[str, tuple[str, str]] = {
    r"\ba/0": ("undefined", "one has to guess that a is any number"),
    r"\bsaws\b": ("zigzags", "a saw is a tool, and saw is a form of see"),
    r"\bhangs? together": ("are not independent, belong together", "an argument hangs together; rows do not"),
    r"\bhangs? on (it|them)\b": ("depends on", "a picture in a sentence about numbers"),
    r"\btaken in by": ("misled by", "to take in is also to read, and to include"),
    r"\bparts? (one|it|them|\w+ rows) from": ("separates", "part is first of all a noun"),
    r"\b(is|are|be) had (of|from)": ("is computed from", "had is first of all a past tense"),
    r"\bleaves? the mean": ("is left out of the mean", "it reads as if the mean were left as it is"),
    r"\btold from none": ("detected", "told is first of all said"),
    r"\bnever nothing": ("always above 0", "two negations"),
    r"\bof (un)?like sizes?": ("of similar size, of different sizes", "like is read as a preposition"),
    r"\b(its|their) (kin|like)\b": ("others of the kind", "like is read as a verb"),
    r"\btakes? \w+ for independent": ("assumes that they are independent", "to take for is to mistake for"),
    r"\bif so asked": ("if asked for", "the usual order is also the shorter one"),
    r"\bare no two\b": ("are not independent of each other", "one has to guess what follows from it"),
    r"\bis none of the \w+': ": ("says nothing about the ...", "an apostrophe that stands for a noun"),
    r"\bwhoever hands\b": ("wherever they come from", "nobody hands anything"),
    r"\brows of a cluster have not\b": ("rows of a cluster have no ...", "the noun stands before, and the verb waits"),
    r"\btakes? no \w+ for an?\b": ("counts no ... as", "to take for is to mistake for"),
    r"\bcalled otherwise\b": ("has another name", "otherwise is read as else"),
    r"\band else (those|that|the)\b": ("otherwise they come from ...", "else asks for a verb"),
    r"\bplays? (a|one|two|no|another|which|its) parts?\b": ("has a role", "the word for it is role everywhere else"),
    r"\bheld against\b": ("compared with", "what is held against somebody is a fault"),
    r"\bstands? together\b": ("are adjacent", "friends stand together"),
    r"\bcolumns? beside the keys\b": ("columns that are not keys", "beside is a place"),
}
# The same for messages: for all texts of the package that are no docstrings.
NOT_IN_MESSAGES = {
    r"\b(is|are) of (?!(the )?(same|equal|another|no|one) )": "applies to, requires, belongs to, is an option of",
    r"\bsay \w+=": "pass x=",
    r"\bplays? (one|no|a) part\b": "has a role",
    r"\bsets? .* aside\b": "is passed as None",
}
OPENERS = ("What", "Which", "Whether", "How", "Where")  # a docstring opens with a noun or a verb
BREAK = r'(?:[\s"#]|\bf")+'  # between two words: the end of a line, of a comment's or of a text's too


def places(pattern: str, text: str) -> list[tuple[int, str]]:
    """Return line and text of what matches, over the ends of lines too."""
    broken = re.compile(pattern.replace(" ", BREAK), re.IGNORECASE)
    return [(text.count("\n", 0, match.start()) + 1, match.group()) for match in broken.finditer(text)]


def docstrings(path: Path) -> list[tuple[int, str]]:
    """Return line and text of every docstring of a module."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, documented)]
    found = [(node.body[0].lineno, ast.get_docstring(node)) for node in nodes if node.body]
    return [(line, text) for line, text in found if text]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: "/".join(path.parts[-2:]))
def test_texts_have_the_usual_words(path: Path) -> None:
    """No text has a phrase again that had to be read twice."""
    text = path.read_text(encoding="utf-8")
    found = [
        f"line {line}: {phrase!r}; write: {usual} ({why})"
        for pattern, (usual, why) in NOT_SO.items()
        for line, phrase in places(pattern, text)
    ]
    assert not found, "\n".join([str(path), *found])


def messages(path: Path) -> list[tuple[int, str]]:
    """Return line and text of every text of a module that is no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in alone)
    return [(node.lineno, node.value) for node in nodes if isinstance(node.value, str)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_messages_have_the_usual_words(path: Path) -> None:
    """Messages say what applies, what is required and what to pass."""
    found = [
        f"line {line}: {text!r}; write: {usual}"
        for line, text in messages(path)
        for pattern, usual in NOT_IN_MESSAGES.items()
        if re.search(pattern, text)
    ]
    assert not found, "\n".join([str(path), *found])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_docstrings_open_with_a_noun_or_a_verb(path: Path) -> None:
    """A docstring of the package does not open with a question word."""
    found = [(line, text.partition("\n")[0]) for line, text in docstrings(path) if text.split()[0] in OPENERS]
    assert not found, f"{path}: {found}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("recall is a/0 here", 1),
        ("the curve,\nas it saws, is long", 2),
        ("# where they hang\n    # together", 1),
        ('raise Bad(\n    "a threshold parts one "\n    f"from {all}"\n)', 2),
        ("A/0", 1),
    ],
)
def test_phrases_are_found_over_line_ends(text: str, line: int) -> None:
    """A phrase is found in any case, and where a line of a comment ends in it."""
    assert [where for pattern in NOT_SO for where, _ in places(pattern, text)] == [line]


@pytest.mark.parametrize("text", ["a seesaw", "data/0.csv", "what it saw", "the mean leaves out", "it parts from them"])
def test_usual_words_are_let_be(text: str) -> None:
    """Words that only look like those phrases are no finding."""
    assert not [pattern for pattern in NOT_SO if places(pattern, text)]
