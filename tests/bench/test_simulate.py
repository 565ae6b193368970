"""The simulation runs and prints its table: simulated.md has all that it found, docs/simulation.md some of it."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

from helpers import ROOT, cells, script

PATH = Path(__file__).with_name("simulate.py")
PRINTED = PATH.with_name("simulated.md")
PAGE = ROOT / "docs" / "simulation.md"
HEAD = ["what", "setting", "trials", "rate", "standard error", "asked", "met"]


@pytest.fixture(scope="module")
def simulate() -> Iterator[ModuleType]:
    module = script(PATH)
    yield module
    del sys.modules[module.__name__]


@pytest.mark.slow
def test_every_line_of_the_table_comes_out() -> None:
    """Intervals, then tests, then both of arms, twice, come out, each line once; the second ways agree."""
    command = [sys.executable, "-W", "error", str(PATH), "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "The first 3 trials of each kind were done a second way" in run.stdout
    head, _, *rows = cells(run.stdout)
    assert head == HEAD
    printed = cells(PRINTED.read_text(encoding="utf-8"))[2:]
    assert [[row[0], row[1], row[5]] for row in rows] == [[row[0], row[1], row[5]] for row in printed]
    assert len({(row[0], row[1]) for row in rows}) == len(rows)
    one_by_one = ("systems that may be the best", "small segments")  # each is counted
    assert {row[2] for row in rows if not row[0].endswith(one_by_one)} == {"5"}
    asked = {kind: [row for row in rows if row[0].startswith(kind) and row[5]] for kind in ("interval", "false alarm")}
    assert min(float(row[3].strip("%")) for row in asked["interval"]) > 20
    assert max(float(row[3].strip("%")) for row in asked["false alarm"]) <= 60  # one of so many lines has three of five


def test_a_part_of_the_table_comes_out_alone(
    simulate: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts that are named are printed, and no other."""
    monkeypatch.setattr(sys, "argv", ["simulate.py", "--quick", "--parts", "rows"])
    monkeypatch.setattr(simulate, "PARTS", simulate.PARTS | {"rows": lambda rows, trials: simulate.in_rows(rows, 2)})
    simulate.main()
    rows = cells(capsys.readouterr().out)[2:]
    assert [row[0] for row in rows] == ["interval holds the truth"] * 10


def test_the_page_has_lines_that_were_printed() -> None:
    """Lines of the page were printed so, in this order, and none that missed what is asked is left out."""
    head, _, *shown = cells(PAGE.read_text(encoding="utf-8"))
    assert head == ["what", "setting", "rate", "asked"]
    printed = cells(PRINTED.read_text(encoding="utf-8"))[2:]
    lines = [[what, setting, rate, asked] for what, setting, _, rate, _, asked, _ in printed]
    assert [line for line in lines if line in shown] == shown
    assert all(line in shown for line, (*_, met) in zip(lines, printed, strict=True) if met == "NO")


def test_what_was_printed_is_of_2000_trials() -> None:
    """The table has one head, and each line of it is from 2,000 trials or more."""
    head, _, *rows = cells(PRINTED.read_text(encoding="utf-8"))
    assert head == HEAD
    assert min(int(row[2].replace(",", "")) for row in rows) >= 2000


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


def test_rows_have_the_measures_that_are_known_of_them(simulate: Any) -> None:
    """Many rows that are drawn have the area and the rates of their distribution."""
    area = simulate.ndtr(simulate.APART / 2**0.5)
    assert simulate.scored(10**6, 0).irm.evaluate("roc_auc")["value"].item() == pytest.approx(area, abs=0.003)
    table = simulate.counted(10**8, 0).irm(count="n")
    assert table.evaluate(*simulate.TRUTH)["value"].to_list() == pytest.approx([*simulate.TRUTH.values()], abs=0.001)


def test_a_second_way_that_differs_is_an_error(simulate: Any) -> None:
    """Two ways agree to 1e-12, or the simulation stops."""
    simulate.agree([(0.1, 0.2)], [(0.1, 0.2 + 1e-13)], "intervals")
    with pytest.raises(AssertionError, match="intervals"):
        simulate.agree([(0.1, 0.2)], [(0.1, 0.2 + 1e-9)], "intervals")


def test_rows_of_systems_that_do_not_differ(simulate: Any) -> None:
    """Each of the two systems has the area that is known, and they agree more often than two that know nothing."""
    rows = pl.concat([simulate.alike_rows(trial).with_columns(trial=pl.lit(trial)) for trial in range(200)])
    area = simulate.ndtr(simulate.APART / 2**0.5)
    for system in "ab":
        found = rows.filter(system=system).irm(query=None, doc=None).evaluate("roc_auc")["value"].item()
        assert found == pytest.approx(area, abs=0.02)
    one, other = (rows.filter(system=system)["score"].to_numpy() for system in "ab")
    assert np.corrcoef(one, other)[0, 1] > simulate.EFFECT


def test_a_difference_that_is_there_is_found(simulate: Any) -> None:
    """Where the first system is better by far, every test says so, and compare() says the same."""
    values = np.random.default_rng(0).random((simulate.TOPICS, simulate.SYSTEMS)) / 2
    values[:, 0] += 0.4
    found = simulate.p_values(values, 0)
    assert max(found) < 0.05
    assert simulate.compared(values, 0) == pytest.approx(found, abs=1e-12)


def test_users_are_worth_what_is_known(simulate: Any) -> None:
    """The mean of their queries is a quarter above 0, as those who are worth more ask more, four queries on average."""
    user, value, before, mine = simulate.users_of(200_000, 0)
    assert value.mean() == pytest.approx(0.25, abs=0.01)
    assert len(user) / len(before) == pytest.approx(4, abs=0.02)
    assert mine.mean() == 0.5
    worth = np.bincount(user, value) / np.bincount(user)
    assert 0.5 < np.corrcoef(worth, before)[0, 1] < 0.71


def test_arms_that_differ_much_are_told_apart(simulate: Any) -> None:
    """Every test of arms sees a great difference, and compare() says the same."""
    user, value, before, mine = simulate.users_of(25, 0)
    drawn = (user, 8 + value + 3 * mine[user], before, mine)
    for test in simulate.TESTS_OF_ARMS:
        found = simulate.asked_of(simulate.arms_of(*drawn), test, 0)
        assert found["p_value"] < 0.01
        simulate.same_arms(found, drawn, test, 0, "before")
    with pytest.raises(AssertionError, match="arms by"):
        simulate.same_arms(found | {"difference": 0.0}, drawn, test, 0, "before")


def test_users_of_both_arms_are_the_same(simulate: Any) -> None:
    """So many are of both; their queries in an arm are from 1 to 29, and what they are worth is in both."""
    users = simulate.Users((2000, 1000), 4000, spread=0.0)
    user, value, before, mine, unit = simulate.users_of_both(users, 0, 0.5)
    often = np.bincount(user)
    assert (often.min(), often.max(), len(before)) == (1, 29, 11_000)
    assert (mine.sum(), len(np.unique(unit))) == (6000, 7000)
    mean = np.bincount(user, value) / often
    both = np.flatnonzero(unit[1:] == unit[:-1])
    assert len(both) == 4000
    assert np.corrcoef(mean[both], mean[both + 1])[0, 1] == pytest.approx(1 / 2**0.5, abs=0.1)
    assert value[mine[user]].mean() - value[~mine[user]].mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow
def test_one_of_two_systems_of_clicks_is_better(simulate: Any) -> None:
    """Of the lists of the better one .02 more have a click, as is said, and places are drafted two by two."""
    found = []
    for at in range(2):
        rng = np.random.default_rng(0)
        _, score, chance = simulate.visits(20_000, simulate.BETTER, rng)
        shown = np.argsort(-score[at], axis=1)[:, : simulate.SEEN]
        seen = np.take_along_axis(chance, shown, axis=1) / np.arange(1, simulate.SEEN + 1)
        found.append((1 - np.prod(1 - seen, axis=1)).mean())
    assert found[1] - found[0] == pytest.approx(0.02, abs=0.003)
    team, shown = simulate.drafted(score[:, :100], rng)
    assert (team[:, 0] + team[:, 1] == 1).all()
    assert (team[:, 2] + team[:, 3] == 1).all()
    assert (np.diff(np.sort(shown, axis=1), axis=1) > 0).all()
    assert (shown[np.arange(100), 0] == score[team[:, 0], np.arange(100)].argmax(axis=1)).all()
