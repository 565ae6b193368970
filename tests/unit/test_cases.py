"""Which cases of a test run, and which of them are fast."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from helpers import ROOT

LISTS = {"number": range(7), "letter": "abc"}
SLOW, QUICK = "tests/unit/test_x.py::test_slow", "tests/unit/test_x.py::test_quick"


class Case:
    """A case of a test with two lists of values, as pytest collects it."""

    def __init__(self, test: str, number: int, letter: str) -> None:
        self.nodeid = f"{test}[{number}-{letter}]"
        self.callspec = SimpleNamespace(params={"number": number, "letter": letter})
        self.slow = False

    def iter_markers(self, name: str) -> Any:
        return iter([pytest.mark.parametrize(name, values) for name, values in LISTS.items()])

    def add_marker(self, name: str) -> None:
        self.slow = name == "slow"


def chosen(request: pytest.FixtureRequest, seed: int | None, **options: Any) -> dict[str, list[Case]]:
    """Return the cases of two tests that are kept, by test, after a shuffle."""
    items = [Case(test, *values) for test in (SLOW, QUICK) for values in product(*LISTS.values())]
    if seed is not None:
        random.Random(seed).shuffle(items)
    tests = request.config.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    with pytest.MonkeyPatch.context() as patch:
        listed = Path(request.getfixturevalue("tmp_path"), "slow.txt")
        listed.write_text(f"{SLOW}\n")
        patch.setattr(tests, "LISTED", listed)
        tests.pytest_collection_modifyitems(SimpleNamespace(getoption=options.get), items)
    return {test: [case for case in items if case.nodeid.startswith(test)] for test in (SLOW, QUICK)}


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_cases_are_those_of_any_order(request: pytest.FixtureRequest, seed: int | None) -> None:
    """Each value of the longest list once, each of the other in its turn, and the first of a slow test is fast."""
    kept, sorted_ones = chosen(request, seed), chosen(request, None)
    for test, cases in kept.items():
        assert {case.nodeid for case in cases} == {case.nodeid for case in sorted_ones[test]}
        assert sorted(case.callspec.params["number"] for case in cases) == [*range(7)]
        assert {case.callspec.params["letter"] for case in cases} == {*"abc"}
    assert [case.callspec.params["number"] for case in kept[SLOW] if not case.slow] == [0]
    assert not any(case.slow for case in kept[QUICK])


def test_a_switch_keeps_every_combination(request: pytest.FixtureRequest) -> None:
    """All 21 of a test, of which two are fast if it takes long."""
    kept = chosen(request, 0, full_product=True)
    assert [len(cases) for cases in kept.values()] == [21, 21]
    assert [sum(not case.slow for case in cases) for cases in kept.values()] == [2, 21]
