"""The random attack on the command line runs, and finds what is planted."""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from helpers import script
from inside import PlainText

PATH = Path(__file__).with_name("attack_files.py")


@pytest.fixture(scope="module")
def attack() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "attack", script(PATH.with_name("attack.py")))
        module = script(PATH)
        yield module
        del sys.modules[module.__name__]


@pytest.mark.parametrize("drawings", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_files_give_what_their_frames_give(attack: Any, drawings: int) -> None:
    """Every command gives, of every file, the numbers of the frame that it holds, or an error of the package."""
    count: Counter[str] = Counter()
    assert list(attack.attacked(range(drawings), seed=3, count=count)) == []
    assert all(count[f"{verb} {went}"] for verb in attack.VERBS for went in ("result", "error"))


def test_a_number_draws_the_same_files_again(attack: Any) -> None:
    """A call that failed can be tried again by its number."""
    for number in range(20):
        drawn = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                asked = attack.drawn(Random(f"files 7 {number}"), Path(folder))
                files = [path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()]
                said = [part.replace(folder, "") for part in asked.arguments]
                drawn.append((files, said, asked.roles, asked.sure, asked.piped))
        assert drawn[0] == drawn[1]


@pytest.mark.slow
def test_what_is_planted_is_found(attack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that is left out, another number and a fault are seen."""
    with monkeypatch.context() as patch:
        patch.setattr(PlainText, "check_lengths", lambda *_: None)
        patch.setattr(PlainText, "check_kinds", lambda *_: None)
        found = {one.what.partition(": ")[2][:45] for one in attack.attacked(range(15), seed=3)}
        assert "exit code 0, where the frame gives an error: " in found
    with monkeypatch.context() as patch:
        patch.setitem(attack.VERBS, "evaluate", lambda irm, metrics: irm.evaluate(*metrics).with_columns(n=-1))
        assert any("in memory (" in one.what for one in attack.attacked(range(10), seed=3))
    monkeypatch.setattr(attack, "command", lambda _: 1 // 0)
    assert all("ZeroDivisionError" in one.what for one in attack.attacked(range(2), seed=3))


def test_results_that_differ_are_told(attack: Any) -> None:
    one = pl.DataFrame({"query": ["a"], "value": [1.0]})
    assert attack.unlike(one, one) == ""
    for other in (one.with_columns(value=1.0 + 1e-15), one.clear(), one.drop("query")):
        assert attack.unlike(one, other)
