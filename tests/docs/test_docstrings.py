"""Docstrings and comments of the package cite what exists: names in double backticks, files, and parameters.

As a script it lists what they cite and does not exist: ``PYTHONPATH=. python tests/docs/test_docstrings.py
[FOLDER OF A PACKAGE]``.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import frame_metrics

PACKAGE = Path(frame_metrics.__file__).parent
CITED = re.compile(r"``([A-Za-z_][\w.]*)(?:\(\))?``(?: in ([\w/]+\.py)| \(([\w/]+\.py)\))?")
NO_CODE = re.compile(r'""".*?"""|#[^\n"]*$', re.DOTALL | re.MULTILINE)  # docstrings and comments, which are no code
PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=^[A-Z][\w ]*\n-+$|\Z)", re.MULTILINE | re.DOTALL)
Documented = ast.FunctionDef | ast.ClassDef | ast.Module


class Text(NamedTuple):
    """A docstring, or comments in lines that follow each other."""

    where: str
    text: str
    of: Documented | None = None  # what has the docstring


class Defined:
    """What the files of a package define and write, by which a citation is judged."""

    def __init__(self, package: Path) -> None:
        self.files: dict[str, str] = {}  # the text of each file, by its path in the package
        self.texts: list[Text] = []
        self.words: set[str] = {"py"}  # all words of code, and the names of files and folders
        self.stems: set[str] = set()  # the names of files and folders
        self.members: set[str] = {"py"}  # names of modules and classes, which one can cite as those of another
        self.classes: dict[str, set[str]] = defaultdict(set)  # the members of each class
        self.bases: dict[str, set[str]] = defaultdict(set)
        for path in sorted(package.rglob("*.py")):
            at, text = path.relative_to(package), path.read_text(encoding="utf-8")
            self.files[str(at)] = text
            self.stems |= {*at.with_suffix("").parts}
            self.words |= {*re.findall(r"\w+", NO_CODE.sub("", text))}
            self._read(ast.parse(text), str(at), text.splitlines())
            self.texts += _comments(text, str(at))
        self.words |= self.stems

    def _read(self, node: Documented, at: str, lines: Sequence[str]) -> None:
        if text := ast.get_docstring(node):
            self.texts.append(Text(f"{at}:{node.body[0].lineno}", text, node))
        if not isinstance(node, ast.FunctionDef):
            self.members |= {name for one in node.body for name in _named(one)}
        if isinstance(node, ast.ClassDef):
            own = re.findall(r"\bself\.(\w+)", "\n".join(lines[node.lineno - 1 : node.end_lineno]))
            self.bases[node.name] |= {ast.unparse(base).split("[")[0] for base in node.bases}
            self.classes[node.name] |= {*own}.union(*map(_named, node.body))
            self.members |= self.classes[node.name]
        for one in node.body:
            if isinstance(one, ast.FunctionDef | ast.ClassDef):
                self._read(one, at, lines)

    def missing(self) -> Iterator[str]:
        """Yield what a docstring or a comment cites, and does not exist."""
        for where, text, of in self.texts:
            for name, *files in CITED.findall(text):
                if reason := self._unknown(name, *filter(None, files)):
                    yield f"{where} {name}: {reason}"
            known = self._parameters(of)
            for name in _described(text) if known else ():
                if name not in known:
                    yield f"{where} {name}: {of.name} has no such parameter"

    def _parameters(self, of: Documented | None) -> set[str]:
        """Return what the docstring of a function or a class can describe as a parameter."""
        if isinstance(of, ast.ClassDef):
            return {name.strip("_") for name in self._of_class(of.name)} | {
                one.arg for one in ast.walk(of) if isinstance(one, ast.arg)
            }
        taken = of.args if isinstance(of, ast.FunctionDef) else None
        return set() if taken is None else {one.arg for one in ast.walk(taken) if isinstance(one, ast.arg)}

    def _of_class(self, name: str) -> set[str]:
        """Return the members of a class and those that it inherits."""
        return self.classes.get(name, set()).union(*(self._of_class(base) for base in self.bases.get(name, ())))

    def _unknown(self, name: str, file: str = "") -> str:
        """Return why a name is none of the package; empty if it is one."""
        first, *rest = name.split(".")
        if absent := [one for one in (first, *rest) if one not in self.words]:
            return f"{absent[0]} is nowhere in the code"
        if first in self.classes and rest and rest[0] not in self._of_class(first):
            return f"the class has no {rest[0]}"
        if rest and first in self.stems and rest[-1] not in self.members:
            return f"nothing has a {rest[-1]}"
        if file:
            texts = [text for at, text in self.files.items() if f"/{at}".endswith(f"/{file}")]
            if not any(re.search(rf"\b{(rest or [first])[-1]}\b", text) for text in texts):
                return f"it is not in {file}"
        return ""


def _named(node: ast.stmt) -> list[str]:
    """Return what a statement of a module or a class gives a name to."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(one.asname or one.name).split(".")[0] for one in node.names]
    stored = (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    return [one.id for one in stored]


def _comments(text: str, at: str) -> Iterator[Text]:
    """Yield comments; those of lines that follow each other as one."""
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        begins, comment = line.lstrip().startswith("#"), line.partition("#")[2]
        if block and not begins:
            yield Text(f"{at}:{number - len(block)}", " ".join(block))
            block = []
        if begins:
            block.append(comment.strip())
        elif "``" in comment:
            yield Text(f"{at}:{number}", comment)


def _described(text: str) -> Iterator[str]:
    """Yield the names that a docstring describes as parameters."""
    for block in PARAMETERS.findall(text):
        for names in re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?= :|$)", block, re.MULTILINE):
            yield from names.replace("*", "").split(", ")


def test_what_is_cited_exists() -> None:
    """Names in double backticks are those of the code, and documented parameters those of the function."""
    assert list(Defined(PACKAGE).missing()) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('"""See ``nowhere``."""', "nowhere: nowhere is nowhere in the code"),
        ('class One:\n    """See ``One.two``."""\n    three = two = 1', ""),
        ('class One:\n    """See ``One.two``."""\n    three = 1\ntwo = 2', "One.two: the class has no two"),
        ("# See ``one`` in\n# m.py.\none = 1", ""),
        ("one = 1  # see ``one`` in other.py", "one: it is not in other.py"),
        (
            'def f(one: int):\n    """Return it.\n\n    Parameters\n    ----------\n    two : it.\n    """',
            "two: f has no such parameter",
        ),
    ],
)
def test_what_does_not_exist_is_found(tmp_path: Path, code: str, found: str) -> None:
    """A name, a member, a file or a parameter that is missing is an error."""
    (tmp_path / "m.py").write_text(code, encoding="utf-8")
    assert [one.partition(" ")[2] for one in Defined(tmp_path).missing()] == ([found] if found else [])


if __name__ == "__main__":
    print(*Defined(Path(sys.argv[1]) if sys.argv[1:] else PACKAGE).missing(), sep="\n")
