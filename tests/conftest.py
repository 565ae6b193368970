"""How examples are drawn, and every kind of frame as a fixture."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from itertools import groupby
from operator import is_
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from helpers import KINDS

# Machines are shared: how long an example takes says nothing.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run, so that what fails once fails again; few of them.
settings.register_profile("default", settings.get_profile("any machine"), derandomize=True, max_examples=20)
# More of them: .ci/run
settings.register_profile("long", settings.get_profile("any machine"), derandomize=True, max_examples=50)
# Others in every run, to look for what nobody has thought of: HYPOTHESIS_PROFILE=search
settings.register_profile("search", settings.get_profile("any machine"), max_examples=500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Every kind of frame, one after the other."""
    return str(request.param)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage among what stays, nor look there later: a quarter and a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Free at the end what collecting kept: libraries tell of what is left over."""
    gc.unfreeze()


PARAM = type(pytest.param(None))
DOZEN = 12  # of so few cases each may be the only one of its kind


def places(item: pytest.Item) -> Iterator[tuple[int, int]]:
    """Where the parameters of a case stand, each in its own list, and how long the list is."""
    params = dict(item.callspec.params)  # type: ignore[attr-defined]
    for mark in item.iter_markers("parametrize"):
        names, values = mark.args
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        given = [one.values if isinstance(one, PARAM) else one if len(names) > 1 else (one,) for one in values]
        held = [params.pop(name) for name in names]
        yield next(i for i, one in enumerate(given) if all(map(is_, one, held))), len(given)
    if params.get("kind") in KINDS:  # the fixture, which no mark names
        yield KINDS.index(params["kind"]), len(KINDS)


def diagonal(case: pytest.Item) -> int:
    """The number of the diagonal, in the product of its lists, that a case stands on; each test begins elsewhere."""
    return sum(place for place, _ in places(case)) + crc32(test_of(case).encode())


def is_fast(case: pytest.Item) -> bool:
    """Whether a case of many is among the fast ones.

    Of a grid those on every third diagonal are, or on every nth, so that there are some of any long parameter; else two
    of the five kinds of frames are. Which ones differs from test to test.
    """
    if grid := case.get_closest_marker("grid"):
        return diagonal(case) % (grid.args[0] if grid.args else 3) == 0
    if getattr(case, "callspec", None) and case.callspec.params.get("kind") in KINDS:
        return diagonal(case) % len(KINDS) in (0, 2)
    return True


def is_thorough(case: pytest.Item) -> bool:
    """Whether a case of two lists or more is left to who runs all: any but those on every fourth diagonal.

    Where the shorter lists are so short that a value of the longest would then have no case, every third or second one.
    """
    shorter = sorted(size for _, size in places(case))[:-1]
    return (diagonal(case) + 1) % min(4, 1 + sum(shorter) - len(shorter)) != 0


def test_of(case: pytest.Item) -> str:
    """Return the name of the test that a case is of."""
    return case.nodeid.partition("[")[0]


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark most of many cases as slow: of a test one of seven stays fast, and one at least.

    Of many cases of two lists or more most of the others are thorough too. Half of the fast ones are for the newest
    Python, the others for the lowest versions, with half of those of border.
    """
    for _, cases in groupby(items, test_of):
        some = [case for case in cases if not case.get_closest_marker("slow")]
        fast = ([*filter(is_fast, some)] or some[len(some) // 2 :][:1])[::7]
        for case in some:
            if case not in fast:
                case.add_marker("slow")
                if len(some) > DOZEN and is_thorough(case):
                    case.add_marker("thorough")
    for case in items:
        half = "lowest" if crc32(case.nodeid.encode()) % 2 else "newest"
        if not case.get_closest_marker("slow") or (half == "lowest" and case.get_closest_marker("border")):
            case.add_marker(half)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Look for examples in the package and in the pages; scripts and helpers beside the tests have none."""
    beside = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if beside else None
