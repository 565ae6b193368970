"""What a type checker sees: the frame that went in comes out, and a role that is not there is an error."""

import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import polars as pl
import pytest

from frame_metrics import IRM
from inside import CHOICES, COLUMNS, Roles

USES = Path(__file__).with_name("uses.py").read_text(encoding="utf-8")


@pytest.mark.slow
def test_pyright(tmp_path: Path) -> None:
    """pyright, strict, sees the frame that went in come out, and refuses what is wrong, as mypy does."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    (tmp_path / "uses.py").write_text(USES, encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text('{"enableTypeIgnoreComments": false}', encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    found = json.loads(ran.stdout)["generalDiagnostics"]
    errors = {one["range"]["start"]["line"] + 1: one["message"] for one in found if one["severity"] == "error"}
    wrong = {number: held for number, held in enumerate(USES.splitlines(), start=1) if "# type: ignore[" in held}
    assert sorted(errors) == [*wrong], ran.stdout
    (misspelt,) = (number for number, held in wrong.items() if 'log(querry="q")' in held)
    assert 'No parameter named "querry"' in errors[misspelt]


# The roles, written down once


def _documented() -> dict[str, str]:
    """The parameters that the docstring of IRM lists, with what it says of them."""
    section = re.search(r"Parameters\n-+\n(.*?)\n\n", inspect.getdoc(IRM) or "", re.DOTALL)
    assert section is not None
    entries = re.findall(r"^(\S[^:\n]*) : (.*(?:\n    .*)*)", section[1], re.MULTILINE)
    return {name: text for names, text in entries for name in names.split(", ")}


def test_every_role_is_documented() -> None:
    """The docstring of IRM lists the frame and the roles, all of them and nothing else, in one order."""
    assert list(_documented()) == ["frame", *Roles.__annotations__]


@pytest.mark.parametrize("option", CHOICES)
def test_every_choice_is_documented(option: str) -> None:
    """What an option may be is said where it is documented."""
    assert set(re.findall(r'"(\w+)"', _documented()[option])) == set(CHOICES[option])


def test_every_role_can_be_taken_back() -> None:
    """Any role may be None, and every column role is a text, but for those that have several columns by name."""
    hints: dict[str, Any] = get_type_hints(Roles)
    assert all(NoneType in get_args(hint) for hint in hints.values())
    assert [name for name in hints if name in COLUMNS and str not in get_args(hints[name])] == ["extra"]
    assert set(COLUMNS) <= set(hints)
    assert Roles.__total__ is False


def test_the_accessor_takes_the_same_roles() -> None:
    """A frame's accessor is called with the roles that IRM is made with."""
    made, called = inspect.signature(IRM), inspect.signature(IRM(pl.DataFrame()))
    assert list(made.parameters) == ["frame", *get_type_hints(Roles)]
    assert list(called.parameters) == [*get_type_hints(Roles)]
    assert called.parameters["query"].kind is inspect.Parameter.KEYWORD_ONLY
    assert "str | int | collections.abc.Sequence[str | int] | None" in str(called.parameters["query"])
