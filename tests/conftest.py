"""How examples are drawn, and every kind of frame as a fixture."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator
from operator import is_
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from helpers import KINDS

# Machines are shared: how long an example takes says nothing.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run, so that what fails once fails again; few of them.
settings.register_profile("default", settings.get_profile("any machine"), derandomize=True, max_examples=20)
# More of them: .ci/run
settings.register_profile("long", settings.get_profile("any machine"), derandomize=True, max_examples=100)
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


def places(item: pytest.Item) -> Iterator[int]:
    """Where the parameters of a case stand, each in its own list."""
    params = dict(item.callspec.params)  # type: ignore[attr-defined]
    for mark in item.iter_markers("parametrize"):
        names, values = mark.args
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        given = [one.values if isinstance(one, PARAM) else one if len(names) > 1 else (one,) for one in values]
        held = [params.pop(name) for name in names]
        yield next(i for i, one in enumerate(given) if all(map(is_, one, held)))
    if params.get("kind") in KINDS:  # the fixture, which no mark names
        yield KINDS.index(params["kind"])


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark most cases of a grid as slow, and one of seven fast cases of each test as a sample.

    Of a grid the cases on every third diagonal are fast, or on every nth, so that there are some of any long parameter.
    """
    fast: Counter[str] = Counter()
    for item in items:
        grid = item.get_closest_marker("grid")
        if grid and sum(places(item)) % (grid.args[0] if grid.args else 3):
            item.add_marker("slow")
        elif not item.get_closest_marker("slow"):
            test = item.nodeid.partition("[")[0]
            if fast[test] % 7 == 0:
                item.add_marker("sample")
            fast[test] += 1


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Look for examples in the package and in the pages; scripts and helpers beside the tests have none."""
    beside = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if beside else None
