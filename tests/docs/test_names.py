"""The names of the package: words that say what a thing is, one word for each thing, and one place for each name.

As a script it counts them: ``PYTHONPATH=.:tests python tests/docs/test_names.py [FOLDER OF A PACKAGE]``.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import frame_metrics
from helpers import ROOT

PACKAGE = Path(frame_metrics.__file__).parent
VOCABULARY = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")

# Names with such a word that users know: a law, a fact of a page, a finding.
KNOWN = {"testing.laws": {"apart"}, "verbs.audit.of_clicks": {"clicks_without_what_was_shown"}}
# Public names that are in several modules: a picture is called as the verb that it draws; an entry of a table that is
# read by its name, such as a metric or a finding, and the function of that name below it.
SEVERAL = {
    **dict.fromkeys(("bounds", "confusion", "leaderboard", "sample_size", "thresholds"), "a verb, and its picture"),
    "queries": "a picture, and a fact of the audit",
    "kappa": "a metric of tables, and its formula for pairs of annotators",
    "unjudged": "a metric, and a declaration that check_metric tests",
    **dict.fromkeys(("accuracy_that_hides_the_recall", "nothing_to_evaluate"), "a finding, of logs and of rows"),
    **dict.fromkeys(
        ("systems_that_share_almost_no_query", "systems_that_share_few_queries"),
        "a finding, of logs and of saved numbers",
    ),
}


class Name(NamedTuple):
    """A name that the package defines."""

    module: str
    line: int
    what: str  # module, class, function, attribute, parameter
    name: str
    types: frozenset[str]  # of an attribute, a parameter, or what a function returns; without None
    public: bool  # whether it is a function or a class of a module

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.what} {self.name}"


def _types(node: ast.expr | None) -> frozenset[str]:
    """Return the alternatives of an annotation."""
    text = "" if node is None else ast.unparse(node).strip("'\"")
    return frozenset(one.strip() for one in text.split("|")) - {"None", ""}


def _of_class(module: str, node: ast.ClassDef) -> Iterator[Name]:
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            yield Name(module, one.lineno, "attribute", one.target.id, _types(one.annotation), False)
        for target in one.targets if isinstance(one, ast.Assign) else ():
            if isinstance(target, ast.Name):
                yield Name(module, one.lineno, "attribute", target.id, frozenset(), False)


def _names_of(module: str, tree: ast.Module) -> Iterator[Name]:
    yield Name(module, 1, "module", module.rpartition(".")[2], frozenset(), False)
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield Name(module, node.lineno, "class", node.name, frozenset(), id(node) in top)
            yield from _of_class(module, node)
        elif isinstance(node, ast.FunctionDef):
            yield Name(module, node.lineno, "function", node.name, _types(node.returns), id(node) in top)
        elif isinstance(node, ast.arg):
            yield Name(module, node.lineno, "parameter", node.arg, _types(node.annotation), False)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield Name(module, node.lineno, "attribute", node.attr, frozenset(), False)


@cache
def names(package: Path = PACKAGE) -> list[Name]:
    """Return the functions, classes, attributes, parameters and modules of the package."""
    found = []
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package).with_suffix("").parts).removesuffix(".__init__")
        found += _names_of(module, ast.parse(path.read_text(encoding="utf-8")))
    return found


def words(name: str) -> str:
    """Return the words of a name in small letters, between blanks: KeyRows and _key_rows are " key rows "."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    return f" {' '.join(part for part in parts if part)} "


def empty_words() -> list[str]:
    """Return the words of the page that say nothing."""
    (text,) = re.findall(r"has one of these in its name: (.*?)\. The test", VOCABULARY, re.DOTALL)
    listed = re.sub(r"\(.*?\)", "", " ".join(text.split()))
    return [one.strip().replace("_", " ") for one in re.split(r"[,;]", listed) if one.strip()]


class Concept(NamedTuple):
    """A row of the page's table."""

    word: str
    refused: list[str]
    types: set[str]


def concepts() -> list[Concept]:
    """Return the rows of the table of concepts."""
    table = VOCABULARY.split("| what | word | not | type |")[1].split("\n\n")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    return [
        Concept(word.strip(), re.findall("`(.*?)`", no), {*re.findall("`(.*?)`", types)}) for _, word, no, types in rows
    ]


def without_meaning(every: list[Name]) -> list[Name]:
    """Return the names that have a word that says nothing, but for those that users know."""
    empty = empty_words()
    unknown = [one for one in every if one.name not in KNOWN.get(one.module, ())]
    return [one for one in unknown if any(f" {word} " in words(one.name) for word in empty)]


def against(concept: Concept, every: list[Name]) -> list[Name]:
    """Return the names that are another word for a concept: of its type or, without a type, wherever the word is."""
    if concept.types:
        wrong = [one for one in every if one.types & concept.types and one.name.strip("_") in concept.refused]
    else:
        wrong = [one for one in every if any(f" {word} " in words(one.name) for word in concept.refused)]
    return [one for one in wrong if one.name not in KNOWN.get(one.module, ())]


def in_several_modules(every: list[Name]) -> dict[str, list[str]]:
    """Return the public functions and classes that are defined in several modules, with these."""
    where: dict[str, set[str]] = defaultdict(set)
    for one in every:
        if one.public and not one.name.startswith("_"):
            where[one.name].add(one.module)
    return {name: sorted(modules) for name, modules in where.items() if len(modules) > 1}


def test_names_say_what_a_thing_is() -> None:
    """No name has a word that says nothing, but for those that users know."""
    empty = empty_words()
    assert {"said", "shown", "apart", "in order"} <= {*empty}
    assert len(empty) == 13
    found = without_meaning(names())
    assert not found, f"{len(found)} names:\n" + "\n".join(map(str, found))


@pytest.mark.parametrize("concept", concepts(), ids=lambda concept: concept.word)
def test_each_thing_has_its_word(concept: Concept) -> None:
    """What has the type of a concept is not called by another word for it; a word without a type is in no name."""
    assert concept.refused
    wrong = against(concept, names())
    assert not wrong, f"{len(wrong)} names; write: {concept.word}\n" + "\n".join(map(str, wrong))


def test_a_public_name_is_defined_once() -> None:
    """A public function or class of a module has a name of its own in the package."""
    twice = [
        f"{name}: {', '.join(modules)}" for name, modules in in_several_modules(names()).items() if name not in SEVERAL
    ]
    assert not twice, f"{len(twice)} names:\n" + "\n".join(twice)


@pytest.mark.parametrize(
    ("name", "split"), [("KeyRows", " key rows "), ("_key_rows", " key rows "), ("of2x2", " of2x2 "), ("_", "  ")]
)
def test_words_of_names(name: str, split: str) -> None:
    """A name is split at underscores, and before a capital letter."""
    assert words(name) == split


if __name__ == "__main__":
    package = Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE
    every, several = names(package), in_several_modules(names(package))
    print(f"{len(every):,} names of {package}")
    print(f"with a word that says nothing: {len(without_meaning(every))}")
    print(f"another word for a thing of the vocabulary: {sum(len(against(one, every)) for one in concepts())}")
    print(
        f"public names defined in several modules: {len(several)}, listed as exceptions: {len({*several} & {*SEVERAL})}"
    )
