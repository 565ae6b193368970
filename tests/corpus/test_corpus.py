"""The corpus of calls: what came of each is what is kept, to the byte, and so is all that is public."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from frame_metrics import IRM, list_metrics
from helpers import script
from inside import Roles

CORPUS = script(Path(__file__).with_name("corpus.py"))
SHOWN = 20  # differences in a message


def _fail(told: list[str]) -> None:
    more = [f"... and {len(told) - SHOWN} more"] * (len(told) > SHOWN)
    way = f"If this is meant, run `{CORPUS.RENEW}`, look at what it prints, and say in the commit why."
    pytest.fail("\n".join([*told[:SHOWN], *more, "", way]), pytrace=False)


def _test_of(name: str) -> Callable[[], None]:
    def test() -> None:
        if told := [*CORPUS.differences(CORPUS.kept(name), CORPUS.made(name))]:
            _fail(told)

    test.__doc__ = f"Each call of calls/{name}.txt gives what is kept."
    return test


# Functions of their own, since of the cases of one test only some are fast.
globals().update({f"test_{name}": _test_of(name) for name in CORPUS.names_of_lists()})


def test_each_option_has_a_call() -> None:
    """Each role, each option of a verb, each picture and each metric is in some call."""
    calls = [call for name in CORPUS.names_of_lists() for call in CORPUS.calls_in(name)]
    assert len(set(calls)) == len(calls)
    nodes = [node for call in calls for node in ast.walk(ast.parse(call, mode="eval"))]
    given = {(called(node), one.arg) for node in nodes if isinstance(node, ast.Call) for one in node.keywords}
    named = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    verbs = {name: verb for name, verb in vars(IRM).items() if hasattr(verb, "__wrapped__") and name[0] != "_"}
    options = {
        (name, one.name)
        for name, verb in verbs.items()
        for one in inspect.signature(verb).parameters.values()
        if one.kind is one.KEYWORD_ONLY
    }
    pictures = {name for name in dir(list_metrics().irm.plot) if name[0] != "_"} - {"irm"}
    metrics = {name for name in list_metrics()["name"] if not any(re.search(rf"\b{name}\b", call) for call in calls)}
    assert options - given == set()
    assert set(Roles.__annotations__) - {role for verb, role in given if verb in ("irm", "IRM")} == set()
    assert {*verbs, *pictures} - named == set()
    assert metrics == set()


def called(node: ast.Call) -> str:
    """Return the name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)


def test_what_is_public() -> None:
    """Signatures and the columns of results are those that are kept."""
    results = {file: text for name in CORPUS.names_of_lists() for file, text in CORPUS.kept(name).items()}
    told = []
    for file, text in CORPUS.snapshots(results).items():
        before = (CORPUS.RESULTS / file).read_text(encoding="utf-8")
        told += [f"{file}: {line}" for line in CORPUS.lines_apart(before, text)]
    if told:
        _fail(told)
