"""How many queries show a difference: against statsmodels, compare's mde, and power that is counted."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from statsmodels.stats.power import TTestPower

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars, error, made_log


def of(differences: Any, **columns: Any) -> IRM[pl.DataFrame]:
    """Saved numbers of two systems that differ so."""
    n = len(differences)
    rows = {"query": [*range(n)] * 2, "run": ["a"] * n + ["b"] * n, "v": [*np.zeros(n), *differences]}
    frame = pl.DataFrame(rows | {name: [*values] * 2 for name, values in columns.items()})
    return frame.irm(system="run", value="v", **{name: name for name in columns})


@pytest.mark.parametrize(
    ("n", "spread", "detect", "power", "tests"),
    [(50, 0.2, 0.05, 0.8, 1), (400, 0.3, 0.02, 0.9, 3), (30, 1, 0.9, 0.8, 1), (60, 0.1, 0.05, 0.5, 10)],
)
def test_needed_queries_are_those_of_statsmodels(
    n: int, spread: float, detect: float, power: float, tests: int
) -> None:
    """The paired t-test of theirs, rounded up; one query apart at most where few are needed."""
    differences = np.random.default_rng(n).normal(0, spread, n)
    (row,) = of(differences).plan(detect=detect, power=power, n_tests=tests).rows(named=True)
    effect = detect / differences.std(ddof=1)
    theirs = TTestPower().solve_power(effect_size=effect, alpha=0.05 / tests, power=power)
    assert abs(row["needed"] - ceil(theirs)) <= 1
    assert row["needed_low"] < row["needed"] < row["needed_high"]
    assert (row["n"], row["n_units"], row["detect"]) == (n, n, detect)


def test_the_power_is_reached() -> None:
    """Where the spread is known, the t-test sees the difference in 80 % of samples of that size, within 2 points."""
    random = np.random.default_rng(5)
    pilot = random.choice([-1, -0.5, 0, 0, 0.5, 1], 20_000)
    needed = of(pilot - pilot.mean()).plan(detect=0.1)["needed"].item()
    drawn = random.choice(pilot - pilot.mean(), (4000, needed)) + 0.1
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * np.sqrt(needed)
    assert np.mean(abs(t) > 1.96) == pytest.approx(0.8, abs=0.02)


def test_a_pilot_that_has_enough_shows_the_difference() -> None:
    """Queries that were enough for ``mde`` are those that are needed for it, but for the term of the t-test."""
    turned = [
        made_log().with_columns(run=pl.lit(run), score=pl.col("score") * sign) for run, sign in (("a", 1), ("b", -1))
    ]
    irm = pl.concat(turned).irm(system="run", rank=None)
    compared = irm.compare("ndcg@5", "rr", test="bootstrap")
    for metric, mde, n in compared.select("metric", "mde", "n").rows():
        (needed,) = irm.plan(metric, detect=mde)["needed"]
        assert needed == ceil(n + 1.959964**2 / 2 - 1e-9)
        few, many = (irm.plan(metric, detect=mde * by)["needed"].item() for by in (2, 0.5))
        assert few == pytest.approx(n / 4, abs=3)
        assert many == pytest.approx(n * 4, abs=3)


def test_clusters_are_what_is_counted() -> None:
    """A pilot of 40 users with three equal queries each needs as many users as it would need queries of one each."""
    differences = np.random.default_rng(1).normal(0, 1, 40)
    alone = of(differences).plan(detect=0.3)
    thrice = of(np.repeat(differences, 3), cluster=np.repeat(np.arange(40), 3)).plan(detect=0.3)
    assert thrice.select("n", "n_units").row(0) == (120, 40)
    assert_frame_equal(thrice.select("^needed.*$"), alone.select("^needed.*$"))


def test_a_weight_of_0_is_no_query() -> None:
    """Queries of weight 0 take no part; equal weights are none."""
    differences = np.random.default_rng(2).normal(0, 1, 40)
    plain = of(differences[:30]).plan(detect=0.3)
    weighted = of(differences, weight=[2.0] * 30 + [0.0] * 10).plan(detect=0.3)
    assert weighted.select("n_units", "needed").rows() == plain.select("n_units", "needed").rows()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_same(kind: str) -> None:
    """By segment, for every pair or a baseline, and for a frame that is larger than memory."""
    scores = {"a": pl.col("score"), "b": -pl.col("score"), "c": pl.col("score") % 3}
    log = pl.concat([made_log().with_columns(run=pl.lit(run), score=score) for run, score in scores.items()])
    log = log.with_columns(half=pl.col("query").str.slice(1).cast(pl.Int64) % 2)
    roles: dict[str, Any] = {"system": "run", "by": "half", "rank": None}
    expected = log.irm(**roles).plan("ndcg@5", "rr", detect=0.05, baseline="a", resamples=50)
    assert expected.columns[:6] == ["half", "run", "baseline", "metric", "k", "detect"]
    found = IRM(as_kind(log, kind), **roles).plan("ndcg@5", "rr", detect=0.05, baseline="a", resamples=50)
    assert_frame_equal(as_polars(found), expected, check_dtypes=False)
    pieces = log.lazy().irm(**roles, memory=20_000).plan("ndcg@5", "rr", detect=0.05, baseline="a", resamples=50)
    assert_frame_equal(pieces.collect(), expected)


def test_a_saved_baseline_is_a_pilot_too() -> None:
    """One side of the pairs may be what per_query() returned."""
    irm = of(np.random.default_rng(3).normal(0, 1, 30))
    saved = irm.frame.filter(run="a").drop("run")
    beside = irm.frame.filter(run="b").drop("run").irm(value="v").plan(detect=0.5, baseline=saved.irm(value="v"))
    assert beside["needed"].to_list() == irm.plan(detect=0.5)["needed"].to_list()


def test_what_says_nothing_of_a_spread_is_null() -> None:
    """One query has none; where none differs, two are enough."""
    assert of([0.5]).plan(detect=0.1).select("n", "needed", "needed_low").row(0) == (1, None, None)
    assert of([0.5] * 5).plan(detect=0.1)["needed"].to_list() == [2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"detect": 0}, "detect=0 is not a difference above 0"),
        ({"detect": "x"}, "detect='x' is not a difference above 0"),
        ({"detect": 0.1, "power": 1}, "power=1 is not a chance between 0 and 1"),
        ({"detect": 0.1, "n_tests": 0}, "n_tests=0 is not a whole number from 1"),
        ({"detect": 0.1, "ci": 95}, "ci=95 is not a level"),
        ({}, "plan(): missing"),
    ],
)
def test_what_cannot_be_planned_is_refused(options: dict[str, Any], words: str) -> None:
    """Before anything is read."""
    assert words in error(lambda: of([0.0, 1.0]).plan(**options))
    rows = pl.DataFrame({"label": [1, 0], "score": [0.2, 0.3], "run": ["a", "b"], "doc": [1, 1]})
    assert "name query=" in error(lambda: rows.irm(system="run", query=None).plan("roc_auc", detect=0.1))
