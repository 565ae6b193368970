"""Limits: what holds at the very number where something begins, and what holds just beside it."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import frame_metrics
from frame_metrics import IRM, FrameMetricsError
from inside import large_units

HALVES = {"A": 0.5, "B": 0.5}


def checks(irm: IRM[pl.DataFrame], **options: object) -> list[str]:
    """Return the checks of the audit that found something."""
    return irm.audit(**options)["check"].to_list()


def test_the_seed_of_every_verb_is_0() -> None:
    """Whoever does not name a seed has the same random numbers everywhere."""
    verbs = {name: inspect.signature(verb).parameters for name, verb in inspect.getmembers(IRM, inspect.isfunction)}
    seeds = {name: parameters["seed"].default for name, parameters in verbs.items() if "seed" in parameters}
    assert seeds == dict.fromkeys(seeds, 0)
    assert {"evaluate", "compare", "ab_test", "change", "sample_size", "propensities"} <= {*seeds}


# Statistics


@pytest.mark.parametrize(("differ", "needed"), [(2, 80), (4, 40), (8, 25)])
def test_people_judge_until_four_units_differ(differ: int, needed: int) -> None:
    """Of 40 units so many differ; at least 25 units are judged, however few a machine that is always right leaves."""
    people = np.zeros(40)
    people[:differ] = np.resize([1.0, -1.0], differ)
    grade = np.concatenate([np.full(400, 9.0), 9 + np.tile(people, 10)])
    keys = pl.DataFrame({"query": [*range(400)] * 2, "run": ["a"] * 400 + ["b"] * 400, "score": 1.0})
    every = keys.select("query", doc="run", grade=grade)
    irm = keys.with_columns(doc="run").irm(system="run").judge(every.filter(pl.col("query") < 40), proxy=every)
    found = irm.sample_size("dcg@1", detect=0.05 * np.sqrt(differ / 2), n_all=100_000, resamples=1)
    assert found["needed"].item() == needed


def test_exchanges_that_differ_by_rounding_are_alike() -> None:
    """Three users rise by .2, .1 and .2: 2 of the 8 ways to exchange their arms have the observed distance."""
    arm, value = ["A"] * 3 + ["B"] * 3, [0.1, 0.1, 0.1, 0.3, 0.2, 0.3]
    rows = {"arm": arm, "query": range(6), "user": [0, 1, 2] * 2, "v": value}
    found = pl.DataFrame(rows).irm(arm="arm", cluster="user", value="v").ab_test(resamples=10)
    assert found["p_value"].to_list() == [0.25]


# Thresholds and curves


@pytest.mark.parametrize(("apart", "chosen"), [(2.5e-12, 0.5), (5e-13, 0.9)])
def test_values_are_equal_to_a_billionth_of_a_thousandth(apart: float, chosen: float) -> None:
    """Of thresholds whose accuracy differs by less than 1e-12 the highest is best; by more, the better one."""
    frame = pl.DataFrame({"score": [0.9, 0.5, 0.1], "label": [1, 1, 0], "w": [1.0, 2 * apart, 1.0]})
    assert frame.irm(weight="w").best_threshold("accuracy")["threshold"].to_list() == [chosen]


@pytest.mark.parametrize(("lacks", "chosen"), [(2.5e-12, 0.1), (5e-13, 0.9)])
def test_a_bound_is_met_to_a_billionth_of_a_thousandth(lacks: float, chosen: float) -> None:
    """A recall of 1 is reached by one that lacks less than 1e-12, at a threshold and at a level of a curve."""
    frame = pl.DataFrame({"score": [0.9, 0.5, 0.1], "label": [1, 0, 1], "w": [1.0, 1.0, lacks]})
    irm = frame.irm(weight="w")
    assert irm.best_threshold("precision", subject_to={"recall": 1})["threshold"].to_list() == [chosen]
    assert irm.curve("pr", levels=[1.0])["threshold"].to_list() == [chosen]


@pytest.mark.parametrize(("classes", "by_formula"), [(500, True), (501, False)])
def test_tables_of_up_to_1000_cells_have_an_interval_without_draws(classes: int, by_formula: bool) -> None:
    """Of more cells draws are faster; where all rows are right, these have no interval."""
    rows = pl.DataFrame({"label": range(classes), "predicted": range(classes)})
    found = rows.irm(query=None).evaluate("recall", ci=0.9, resamples=2)
    assert (found["ci_low"].item() is not None) == by_formula


# Arms


def of_many(units: int, one: float = 0.0, shift: float = 0.0) -> dict[str, object]:
    """Two arms of as many units; one unit of the first is moved, and all of them are shifted."""
    values = np.random.default_rng(1).random(2 * units)
    values[0] += one
    values[::2] += shift
    rows = {"arm": [*"AB"] * units, "query": range(2 * units), "v": values}
    return pl.DataFrame(rows).irm(arm="arm", query="query", value="v").ab_test().row(0, named=True)


@pytest.mark.parametrize(("units", "test"), [(9_999, "randomization"), (10_000, "t")])
def test_from_10_000_units_of_each_arm_the_test_is_welchs(units: int, test: str) -> None:
    """Where values do not repeat, and no unit has a great part in the variance."""
    assert of_many(units)["test"] == test


@pytest.mark.parametrize(("apart", "test"), [(1.2, "t"), (1.4, "randomization")])
def test_a_unit_dominates_with_a_thousandth_of_the_variance(apart: float, test: str) -> None:
    """Of 20,000 units with a variance of 1 / 12 one may be 1.29 from the mean."""
    first = np.random.default_rng(1).random(20_000)[0]
    assert of_many(10_000, apart - first + 0.5)["test"] == test


def of_skewed(units: int, shift: float, spread: float = 3.0) -> float:
    """The p-value of an arm of 100 units beside others; values are lognormal, and those of the 100 shifted."""
    values = np.exp(spread * np.random.default_rng(1).normal(size=units))
    values[:100] += shift
    rows = {"arm": ["A"] * 100 + ["B"] * (units - 100), "query": range(units), "v": values}
    p = pl.DataFrame(rows).irm(arm="arm", query="query", value="v").ab_test()["p_value"][0]
    assert isinstance(p, float)
    return p


@pytest.mark.parametrize(
    ("units", "shift", "draws"),
    [(9_999, 0.0, 10_000), (9_999, 10.0, 10_000), (10_000, 10.0, 1_000), (10_000, 166.0, 1_000), (10_000, 168, 10_000)],
)
def test_of_10_000_units_a_thousand_exchanges_are_drawn_first(units: int, shift: float, draws: int) -> None:
    """The others are drawn if the p-value of these is below .1; that of the fourth row is .106, of the last .093."""
    p = of_skewed(units, shift)
    of = [n for n in (1_000, 10_000) if p * (n + 1) == pytest.approx(round(p * (n + 1)), abs=1e-6)]
    assert of == [draws]


@pytest.mark.parametrize(("n", "kept"), [(16, 1), (15, None)])
def test_one_unit_in_16_may_be_large(n: int, kept: int | None) -> None:
    """The sum of the others, which are equal, is known; of more large ones each is drawn."""
    large = large_units(np.append(np.zeros(n - 1), 1.0)[:, None], 0.5)
    assert (None if large is None else int(large.sum())) == kept


# The audit


@pytest.mark.parametrize(("differ", "rare"), [(59, True), (60, False)])
def test_fewer_than_30_units_with_another_value_are_rare(differ: int, rare: bool) -> None:
    """Of two arms of 100 units half of those that differ can be expected in either."""
    values = [*np.arange(1.0, differ + 1), *np.zeros(200 - differ)]
    frame = pl.DataFrame({"arm": [*"AB"] * 100, "query": range(200), "v": values})
    assert ("rare values" in checks(frame.irm(arm="arm", query="query", value="v"), split=HALVES)) == rare


@pytest.mark.parametrize(("differ", "few"), [(9, True), (10, False)])
def test_fewer_than_10_units_with_another_value_are_few(differ: int, few: bool) -> None:
    """The audit warns, and there is no interval of values without a range."""
    of_b = [*np.arange(20.0), *np.zeros(80)]
    values = [*np.arange(1.0, differ + 1), *np.zeros(100 - differ), *of_b]
    frame = pl.DataFrame({"arm": ["A"] * 100 + ["B"] * 100, "query": range(200), "v": values})
    irm = frame.irm(arm="arm", query="query", value="v")
    assert ("few units with another value" in checks(irm, split=HALVES)) == few
    row = irm.ab_test().row(0, named=True)
    assert [row[name] is None for name in ("ci_low", "ci_high", "mde")] == [few] * 3


@pytest.mark.parametrize(("differ", "kinds", "few"), [(9, 1, True), (10, 1, False), (19, 30, True), (20, 30, False)])
def test_looks_say_nothing_of_few_units_with_another_value(differ: int, kinds: int, few: bool) -> None:
    """Of 0 and 1 fewer than ten are few, and of other values fewer than twenty."""
    more = [*np.resize(np.arange(1.0, kinds + 1), 30), *np.zeros(70)]
    values = [*np.resize(np.arange(1.0, kinds + 1), differ), *np.zeros(100 - differ), *more]
    frame = pl.DataFrame({"arm": ["A"] * 100 + ["B"] * 100, "query": range(200), "v": values})
    row = frame.irm(arm="arm", query="query", value="v").ab_test(looks="any").row(0, named=True)
    assert [row[name] is None for name in ("ci_low", "ci_high", "mde")] == [few] * 3
    assert (row["p_value"] == 1) == few


@pytest.mark.parametrize(("units", "few"), [(6, True), (5, False)])
def test_few_units_are_fewer_than_half(units: int, few: bool) -> None:
    """Of an arm of eleven units five differ from the other six, or six from the other five."""
    values = [*[0.0] * units, *np.arange(1.0, 12 - units), *np.arange(11.0)]
    frame = pl.DataFrame({"arm": ["A"] * 11 + ["B"] * 11, "query": range(22), "v": values})
    assert (frame.irm(arm="arm", query="query", value="v").ab_test()["ci_low"].item() is None) == few


@pytest.mark.parametrize(("each", "enough"), [(10, True), (9, False)])
def test_five_rows_by_chance_in_each_cell_are_enough(each: int, enough: bool) -> None:
    """Of 10 rows of each class, all turned round, chance puts 5 in each cell; of 9 rows 4.5."""
    frame = pl.DataFrame({"label": [1] * each + [0] * each, "predicted": [0] * each + [1] * each})
    assert ("decisions worse than chance" in checks(frame.irm())) == enough


# The summary


def standing_out(segments: int, systems: int = 1) -> IRM[pl.DataFrame]:
    """Return saved numbers of systems in segments of 30 queries, of which the last is bad."""
    rows = [
        {"system": system, "part": part, "query": part * 30 + i, "v": float((part == segments - 1) == (i % 10 == 0))}
        for system in range(systems)
        for part in range(segments)
        for i in range(30)
    ]
    return pl.DataFrame(rows).irm(value="v", by="part", system="system")


@pytest.mark.parametrize(("segments", "searched"), [(50, True), (51, False)])
def test_up_to_50_segments_of_rows_are_searched(segments: int, searched: bool) -> None:
    """With more, none is named, as the farthest of many is far by chance; of queries permutations take that in."""
    rows = [
        {"part": part, "label": 1, "predicted": int((part == segments - 1) == (i % 10 == 0))}
        for part in range(segments)
        for i in range(30)
    ]
    of_rows = pl.DataFrame(rows).irm(by="part").summary("accuracy")
    named = [f"part = {segments - 1}"]
    assert of_rows.filter(kind="segment")["of"].to_list() == named * searched
    assert standing_out(segments).summary().filter(kind="segment")["of"].to_list() == named


@pytest.mark.slow
@pytest.mark.parametrize(("segments", "systems", "compared"), [(4, 125, True), (3, 167, False)])
def test_in_up_to_500_segments_of_all_systems_these_are_compared(segments: int, systems: int, compared: bool) -> None:
    """Those of 125 systems with 4 each are 500; of 167 with 3 each they are 501, and a sentence says so."""
    summary = standing_out(segments, systems).summary()
    told = [text for text in summary["sentence"] if text.startswith("Nothing is compared in each segment: part makes")]
    assert len(told) == (not compared)
    assert "segment" in summary["kind"]


@pytest.mark.parametrize(("n", "judged"), [(5, True), (4, False)])
def test_segments_of_five_queries_are_judged(n: int, judged: bool) -> None:
    """A segment of four queries is not named, however far it is."""
    frame = pl.DataFrame(
        {"query": range(40 + n), "part": ["a"] * 20 + ["b"] * 20 + ["c"] * n, "v": [0.0] * 40 + [1.0] * n}
    )
    frame = frame.with_columns(v=pl.col("v") + pl.col("query") % 7 / 100)
    found = frame.irm(value="v", by="part").summary().filter(kind="segment")
    assert found["of"].to_list() == ["part = c"] * judged


# Files


def test_the_line_that_is_too_long_is_named_beside_one_that_is_not(tmp_path: Path) -> None:
    """A line of 100,000 bytes is read, and one of 100,001 after it is named."""
    path, row = tmp_path / "run.txt", "q Q0 d{} 1 2.5 r"
    path.write_text("\n".join([row.format(1).ljust(100_000), row.format(2)]))
    assert frame_metrics.read_run(path)["doc"].to_list() == ["d1", "d2"]
    path.write_text("\n".join([row.format(1).ljust(100_000), row.format(2).ljust(100_001)]))
    with pytest.raises(FrameMetricsError, match="line 2: expected at most 100,000 bytes"):
        frame_metrics.read_run(path)
