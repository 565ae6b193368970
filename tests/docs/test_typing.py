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

import frame_metrics
from frame_metrics import IRM, typing
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
    return {name: text for entries in _groups().values() for name, text in entries.items()}


def _groups() -> dict[str, dict[str, str]]:
    """The parameters that the docstring of IRM lists, by the heading above them."""
    text = (inspect.getdoc(IRM) or "").partition("\nRaises\n---")[0]
    sections = re.findall(r"^(\w[\w ]*)\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    entry = re.compile(r"^(\w+) : (.*(?:\n    .*)*)", re.MULTILINE)
    return {heading: dict(entry.findall(section)) for heading, section in sections}


def test_every_role_is_documented() -> None:
    """The docstring of IRM lists the frame and the roles, all of them and nothing else, in one order."""
    assert list(_documented()) == ["frame", *Roles.__annotations__]


def test_roles_stand_in_groups() -> None:
    """The docstring of IRM has the roles below headings, those of all rows first and the rare ones last."""
    groups = {heading: " ".join(entries) for heading, entries in _groups().items()}
    assert groups == {
        "Parameters": "frame",
        "What the rows are": "query doc score rank label grade predicted relevant value",
        "Segments and units": "system arm by weight count cluster team",
        "Conventions": "rel scale ties undefined unjudged unjudged_queries unanswered duplicates n_relevant "
        "collection_size",
        "Decisions and classes": "positive classes threshold abstain match",
        "Clicks": "propensity target_propensity clip",
        "Documents": "group popularity catalogue",
        "Large files": "memory temporary",
        "Own metrics": "extra",
    }


def test_help_is_short() -> None:
    """help() shows each type by its name, which frame_metrics.typing has, and no parameter takes more than a line."""
    shown = {name: str(one) for name, one in inspect.signature(IRM).parameters.items()}
    assert shown["query"] == "query: Columns = ..."
    assert shown["ties"] == "ties: Ties | None = ..."
    assert max(map(len, shown.values())) < 60


def test_types_have_one_place() -> None:
    """frame_metrics.typing has every type that the signatures of IRM and its verbs name, and help() shows no quotes."""
    irm = IRM(pl.DataFrame())
    shown = [*map(str, inspect.signature(IRM).parameters.values())]
    for name in {*dir(irm)} - {"frame", "roles", "plot"}:
        shown += map(str, inspect.signature(getattr(irm, name)).parameters.values())
    types = [one.partition(": ")[2].partition(" = ")[0] for one in shown if not one.startswith("frame:")]
    assert [one for one in types if one.startswith("'")] == []
    names = {name for one in types for name in re.findall(r"\b[A-Z]\w+", one)}
    assert names - {"Any", "IRM", "Literal", "Mapping", "Metric", "None", "Sequence"} <= {*typing.__all__}


def test_dir_is_public() -> None:
    """dir() of a frame's accessor lists the verbs, and nothing private before them."""
    listed = dir(IRM(pl.DataFrame()))
    assert [name for name in listed if name.startswith("_")] == []
    assert {"evaluate", "per_query", "compare", "judge", "frame", "roles", "plot"} <= {*listed}


def test_the_readme_asks_with_every_verb() -> None:
    """The README's table of questions has each verb of a frame's accessor, and no other."""
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    table = text.partition("| question | call |")[2].partition("\n\n")[0]
    called = {*re.findall(r"(?<!\.plot)[.`](\w+)\(", table)} - {"irm", *frame_metrics.__all__}
    assert called - {"test", "clicks", "search"} == {*dir(IRM(pl.DataFrame()))} - {"frame", "roles", "plot"}


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
    assert str(called.parameters["query"]) == "query: Columns = ..."
