"""The simulation runs and prints its table; what it found in full is in docs/simulation.md."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from helpers import ROOT, cells, script

PATH = Path(__file__).with_name("simulate.py")
PAGE = ROOT / "docs" / "simulation.md"
HEAD = ["what", "setting", "trials", "rate", "standard error", "asked", "met"]


@pytest.fixture(scope="module")
def simulate() -> Iterator[ModuleType]:
    module = script(PATH)
    yield module
    del sys.modules[module.__name__]


@pytest.mark.slow
def test_every_line_of_the_table_comes_out() -> None:
    """Ten lines of intervals and eight tests for each of two metrics are printed, and the second ways agree."""
    command = [sys.executable, "-W", "error", str(PATH), "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "The first 3 trials of each kind were done a second way" in run.stdout
    head, _, *rows = cells(run.stdout)
    assert head == HEAD
    assert [row[0].partition(":")[0] for row in rows] == ["interval holds the mean"] * 10 + ["false alarm"] * 16
    assert len({(row[0], row[1]) for row in rows}) == 26
    assert {row[2] for row in rows} == {"20"}
    rates = [float(row[3].strip("%")) for row in rows]
    assert min(rates[:8]) > 60
    assert max(rates[10:]) < 40


def test_the_page_shows_what_the_simulation_prints(simulate: Any) -> None:
    """The table of the page has the lines of the simulation, with what is asked of each, from 2,000 trials or more."""
    head, _, *rows = cells(PAGE.read_text(encoding="utf-8"))
    assert head == HEAD
    intervals = [
        (f"{measure}, {n} queries", asked) for n, asked in simulate.COVERED.items() for measure in simulate.MEASURES
    ]
    intervals += [
        (f"{measure}-like, {n} clusters of {simulate.SIZE} queries, {named}", asked)
        for (n, named), asked in simulate.CLUSTERED.items()
        for measure in simulate.MEASURES
    ]
    tests = [(test, asked) for _ in simulate.MEASURES for (test, _), asked in simulate.TESTS.items()]
    assert [row[1] for row in rows[:10]] == [setting for setting, _ in intervals]
    assert [row[0] for row in rows[10:]] == [f"false alarm: {test}" for test, _ in tests]
    for row, (_, asked) in zip(rows, intervals + tests, strict=True):
        trials = int(row[2].replace(",", ""))
        assert trials >= 2000
        happened = round(float(row[3].strip("%")) / 100 * trials)
        assert tuple(row) == simulate.Line(row[0], row[1], trials, happened, asked).cells


@pytest.mark.parametrize(
    ("happened", "asked", "cells"),
    [
        (186, (0.93, 0.97), ("93.00%", "1.80%", "93% to 97%", "yes")),
        (185, (0.93, 0.97), ("92.50%", "1.86%", "93% to 97%", "NO")),
        (195, (0.93, 0.97), ("97.50%", "1.10%", "93% to 97%", "NO")),
        (12, (0.0, 0.06), ("6.00%", "1.68%", "at most 6%", "yes")),
        (13, (0.0, 0.06), ("6.50%", "1.74%", "at most 6%", "NO")),
        (50, None, ("25.00%", "3.06%", "", "")),
    ],
)
def test_a_line_says_whether_its_rate_is_as_asked(
    simulate: Any, happened: int, asked: tuple[float, float] | None, cells: tuple[str, ...]
) -> None:
    """A rate has its standard error, and is met from the least to the most that is asked, both among them."""
    assert simulate.Line("what", "setting", 200, happened, asked).cells == ("what", "setting", "200", *cells)


def test_values_stand_for_themselves(simulate: Any) -> None:
    """A log made of values gives them back as its metric, to the last bit."""
    values = np.random.default_rng(0).random((7, 3))
    values[2] = 0
    found = simulate.as_log(values).per_query("dcg@1")["value"].to_numpy().reshape(3, 7)
    assert (found == values.T).all()


def test_systems_that_do_not_differ_have_the_values_of_the_population(simulate: Any) -> None:
    """Each system has the mean of the values that it is drawn from, and queries are harder or easier for all alike."""
    values = np.repeat([0.0, 0.25, 1.0], [50, 30, 20])
    drawn = np.concatenate([simulate.alike(values, trial) for trial in range(200)])
    assert drawn.shape == (200 * simulate.TOPICS, simulate.SYSTEMS)
    assert np.isin(drawn, values).all()
    assert drawn.mean(axis=0) == pytest.approx(values.mean(), abs=0.02)
    assert (np.corrcoef(drawn.T) > 0.4).all()


def test_clusters_of_queries_have_the_values_of_the_population(simulate: Any) -> None:
    """Queries drawn in clusters have the mean of the population, and those of one cluster are alike, others not."""
    values = np.random.default_rng(1).permutation(np.repeat([0.0, 0.25, 1.0], [50, 30, 20]))
    drawn = np.concatenate([values[simulate.at_place(simulate.together(50, trial), values)] for trial in range(100)])
    assert drawn.mean() == pytest.approx(values.mean(), abs=0.02)
    by_cluster = drawn.reshape(-1, simulate.SIZE)
    assert 0.1 < np.corrcoef(by_cluster[:, 0], by_cluster[:, 1])[0, 1] < simulate.SHARED + 0.05
    assert abs(np.corrcoef(by_cluster[:-1, 0], by_cluster[1:, 0])[0, 1]) < 0.05


def test_a_second_way_that_differs_is_an_error(simulate: Any) -> None:
    """Two ways agree to 1e-12, or the simulation stops."""
    simulate.agree([(0.1, 0.2)], [(0.1, 0.2 + 1e-13)], "intervals")
    with pytest.raises(AssertionError, match="intervals"):
        simulate.agree([(0.1, 0.2)], [(0.1, 0.2 + 1e-9)], "intervals")


def test_a_difference_that_is_there_is_found(simulate: Any) -> None:
    """Where the first system is better by far, every test says so, and compare() says the same."""
    values = np.random.default_rng(0).random((simulate.TOPICS, simulate.SYSTEMS)) / 2
    values[:, 0] += 0.4
    found = simulate.p_values(values, 0)
    assert max(found) < 0.05
    assert simulate.compared(values, 0) == pytest.approx(found, abs=1e-12)
