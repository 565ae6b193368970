"""How examples are drawn, and every kind of frame as a fixture."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from operator import is_
from pathlib import Path
from statistics import median
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


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in an empty folder, without settings, on no server."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage among what stays, nor look there later: a quarter and a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


PARAM = type(pytest.param(None))
MANY = 12  # more cases than these are thinned out
FAST = 20  # of so many cases of a test that takes long the first is fast
LONG, LONGEST = 0.01, 0.04  # seconds from which a case takes long, and from which none of the test is fast
LISTED = Path(__file__).with_name("slow_tests.txt")  # tests whose usual case takes long; with " all" none is fast
ALL = " all"


def places(case: pytest.Item) -> Iterator[tuple[int, int]]:
    """Where the values of a case stand, each in its own list, and how long the list is."""
    params = dict(case.callspec.params)  # type: ignore[attr-defined]
    for mark in case.iter_markers("parametrize"):
        names, values = mark.args
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        given = [one.values if isinstance(one, PARAM) else one if len(names) > 1 else (one,) for one in values]
        held = [params.pop(name) for name in names]
        yield next(i for i, one in enumerate(given) if all(map(is_, one, held))), len(given)
    if params.get("kind") in KINDS:  # the fixture, which no mark names
        yield KINDS.index(params["kind"]), len(KINDS)


def each_value(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Of all combinations of some lists, one for each value of the longest; those of the others take turns beside it.

    The turn begins elsewhere in each test.
    """
    lists = [*cases[0].iter_markers("parametrize")]
    if len(lists) + (cases[0].callspec.params.get("kind") in KINDS) < 2:  # type: ignore[attr-defined]
        return cases
    begin = crc32(test_of(cases[0]).encode())
    kept = []
    for case in cases:
        longest, *others = sorted(places(case), key=lambda place: -place[1])
        if all((longest[0] + begin) % size == place for place, size in others):
            kept.append(case)
    return kept


def test_of(case: pytest.Item) -> str:
    """Return the name of the test that a case is of."""
    return case.nodeid.partition("[")[0]


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep of many combinations one for each value, and of a test that takes long mark all but every twentieth as slow.

    Of a test that takes longest every case is slow.

    The cases of a test are put together first, in the order of their names, since a plugin may have shuffled them.
    """
    tests: dict[str, list[pytest.Item]] = {}
    for case in items:
        tests.setdefault(test_of(case), []).append(case)
    left_out: set[pytest.Item] = set()
    long = {*LISTED.read_text(encoding="utf-8").splitlines()}
    for name, cases in tests.items():
        kept = cases = sorted(cases, key=lambda case: case.nodeid)
        if len(cases) > MANY and not config.getoption("full_product"):
            kept = each_value(cases)
        left_out.update(set(cases) - set(kept))
        for number, case in enumerate(kept):
            if name + ALL in long or (number % FAST and name in long):
                case.add_marker("slow")
    items[:] = [case for case in items if case not in left_out]


class Times:
    """The times of tests, and the list of those that take long."""

    def __init__(self) -> None:
        self.of: dict[str, list[float]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name, _, _ = report.nodeid.partition("[")
        if report.when == "call" and report.passed:
            self.of.setdefault(name, []).append(report.duration)

    def pytest_sessionfinish(self) -> None:
        """Write the list; tests that did not run stay as they were."""
        usual = {name: median(times) for name, times in self.of.items()}
        long = {name for name, times in self.of.items() if usual[name] >= LONG and len(times) > 1}
        longest = {name + ALL for name in usual if usual[name] >= LONGEST}
        rest = {one for one in LISTED.read_text(encoding="utf-8").splitlines() if one.removesuffix(ALL) not in self.of}
        long = {name for name in long if name + ALL not in longest}
        LISTED.write_text("".join(f"{name}\n" for name in sorted(long | longest | rest)), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Take the times where they are asked for, in the process that hears of all tests."""
    if config.getoption("write_slow_tests") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times())


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Look for examples in the package and in the pages; scripts and helpers beside the tests have none."""
    beside = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if beside else None
