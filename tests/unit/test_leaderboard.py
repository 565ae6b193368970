"""Leaderboards: ranks, which systems may be the best, reliability, and what is refused."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from frame_metrics import IRM
from helpers import as_kind, as_polars, error

KEYS = ["run", "metric", "k"]


def made(systems: int, queries: int, seed: int = 0, apart: float = 0.1) -> pl.DataFrame:
    """Values of systems on the same queries, the last system being the best."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.1, (queries, systems)) + rng.normal(0, 0.3, (queries, 1)) + apart * np.arange(systems)
    return frame_of(values)


def frame_of(values: Any) -> pl.DataFrame:
    queries, systems = values.shape
    names = [f"s{i:02}" for i in range(systems)]
    return pl.DataFrame({"query": np.repeat(np.arange(queries), systems), "run": names * queries, "rr": values.ravel()})


def board(frame: Any, **roles: Any) -> Any:
    return IRM(frame, query="query", system="run", value="rr", **roles)


# What is said


def test_ranks_are_those_of_all_pairs() -> None:
    """A rank moves by the systems from which all pairs of compare() tell a system."""
    irm = board(made(6, 15, apart=0.05))
    pairs, found = irm.compare(ci=0.9), irm.leaderboard(ci=0.9)
    assert found["rank_high"].max() > found["rank"].min() + 1
    for row in found.rows(named=True):
        own, other = pairs.filter(run=row["run"]), pairs.filter(baseline=row["run"])
        better = (own["ci_high"] < 0).sum() + (other["ci_low"] > 0).sum()
        worse = (own["ci_low"] > 0).sum() + (other["ci_high"] < 0).sum()
        assert (row["rank_low"], row["rank_high"]) == (1 + better, 6 - worse)
    means = irm.evaluate(ci=0.9).sort("value", descending=True)
    assert_frame_equal(
        found.select(*KEYS, "value", "ci_low", "ci_high", "n"), means.select(*KEYS, "value", "ci_low", "ci_high", "n")
    )
    assert found["rank"].to_list() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("seed", range(3))
def test_ranks_hold_together_whatever_is_missing(seed: int) -> None:
    """The ends are those of all pairs, and hold the rank of complete values; means of unlike queries may differ."""
    rng = np.random.default_rng(seed)
    frame = made(5, 40, seed, apart=0.04)
    complete = board(frame).leaderboard()
    assert complete.filter(pl.col("rank").is_between("rank_low", "rank_high")).height == 5
    hard = frame.with_columns(rr=pl.col("rr") - (pl.col("query") < 20))  # s00 and s01 lack most of the hard queries
    kept = ~pl.col("run").is_in(["s00", "s01"]) | (pl.col("query") >= rng.integers(10, 18))
    irm = board(hard.filter(kept))
    found, pairs = irm.leaderboard(), irm.compare()
    for row in found.rows(named=True):
        own, other = pairs.filter(run=row["run"]), pairs.filter(baseline=row["run"])
        better = (own["ci_high"] < 0).sum() + (other["ci_low"] > 0).sum()
        worse = (own["ci_low"] > 0).sum() + (other["ci_high"] < 0).sum()
        assert (row["rank_low"], row["rank_high"]) == (1 + better, 5 - worse)
    assert found.filter(~pl.col("rank").is_between("rank_low", "rank_high")).height


@pytest.mark.parametrize("seed", range(4))
def test_who_may_be_the_best_by_all_flips(seed: int) -> None:
    """A system is left out if its greatest t against the others passes the quantile of that over all flips of signs."""
    values = made(4, 8, seed, apart=0.07)["rr"].to_numpy().reshape(8, 4)
    found = board(frame_of(values)).leaderboard(ci=0.9).sort("run")
    kept = []
    for own in range(4):
        apart = np.delete(values, own, axis=1) - values[:, [own]]
        far = apart - apart.mean(axis=0)

        def t(some: Any) -> Any:
            return some.mean(axis=0) / (some.std(axis=0, ddof=1) / np.sqrt(len(some)))

        draws = np.sort([t(far * np.array(signs)[:, None]).max() for signs in product([1, -1], repeat=8)])
        wide = max(draws[int(np.ceil(0.9 * 255))], stats.t.ppf(0.9, 7))
        kept.append(bool(t(apart).max() <= wide))
    assert found["may_be_best"].to_list() == kept


def test_reliability_is_that_of_an_analysis_of_variance() -> None:
    """It is 1 - MS_residual / MS_systems; it is 0 where that is below 0, and null where values are missing."""
    frame = made(5, 12, apart=0.02)
    values = frame["rr"].to_numpy().reshape(12, 5)
    centred = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    residual, between = (centred**2).sum() / 44, 12 * values.mean(axis=0).var(ddof=1)
    found = board(frame).leaderboard()["reliability"]
    assert found.to_list() == pytest.approx([1 - residual / between] * 5, rel=1e-12)
    noise = frame_of(values - values.mean(axis=0) + [0, 1e-6, 0, 0, 0])
    assert board(noise).leaderboard()["reliability"].to_list() == [0.0] * 5
    lacking = frame.with_columns(rr=pl.when((pl.col("query") > 0) | (pl.col("run") != "s01")).then("rr"))
    assert board(lacking).leaderboard()["reliability"].null_count() == 5
    for role in ("weight", "cluster"):
        with_role = frame.with_columns(unit=1 + pl.col("query") // 3)
        assert board(with_role, **{role: "unit"}).leaderboard()["reliability"].null_count() == 5


def test_equal_means_share_a_rank_and_one_system_has_rank_one() -> None:
    """Equal means have one rank; a system alone has the first, may be the best, and has no reliability."""
    values = np.array([[0.5, 0.5, 0.1], [0.25, 0.25, 0.2], [0.75, 0.75, 0.3]])
    found = board(frame_of(values)).leaderboard()
    assert found.select("run", "rank").rows() == [("s00", 1), ("s01", 1), ("s02", 3)]
    alone = board(frame_of(values[:, :1])).leaderboard().row(0, named=True)
    assert [alone[name] for name in ("rank", "rank_low", "rank_high", "may_be_best", "reliability")] == [
        1,
        1,
        1,
        True,
        None,
    ]


def test_the_least_is_best_where_it_is(ranked: pl.DataFrame) -> None:
    """A metric that is better where it is less is ranked the other way round."""
    found = ranked.irm(query="query", system="run", score="score", label="label").leaderboard("fdr@2", "precision@2")
    either = [
        found.filter(metric=name).select("run", "rank", "rank_low", "rank_high", "may_be_best").rows()
        for name in ("fdr@2", "precision@2")
    ]
    assert either[0] == either[1]
    assert found.filter(metric="fdr@2")["value"].is_sorted()


def test_a_system_without_a_value_has_no_rank() -> None:
    """Its rank is null, at the end, and no other system is measured against it."""
    frame = made(3, 9)
    found = board(frame.with_columns(rr=pl.when(pl.col("run") != "s02").then("rr"))).leaderboard()
    assert found.select("run", "rank", "rank_high", "may_be_best").rows()[-1] == ("s02", None, None, None)
    assert found["rank_high"].max() == 2


def test_segments_stand_for_themselves(kind: str) -> None:
    """Each segment and metric has its own board, the same as by itself, in every kind of frame and order of rows."""
    frame = made(4, 24).with_columns(
        day=pl.when(pl.col("query") % 2 == 0).then(pl.lit("mon")), w=1 + pl.col("query") % 3
    )
    found = board(frame, by="day", weight="w").leaderboard()
    other = frame.sample(fraction=1, shuffle=True, seed=1)
    again = as_polars(board(as_kind(other, kind), by="day", weight="w").leaderboard())
    assert_frame_equal(again, found, check_dtypes=False, abs_tol=1e-12)
    for day in ("mon", None):
        alone = board(frame.filter(pl.col("day").eq_missing(day)), weight="w").leaderboard()
        assert_frame_equal(found.filter(pl.col("day").eq_missing(day)).drop("day"), alone)


@pytest.fixture
def ranked() -> pl.DataFrame:
    """A log of three systems."""
    rng = np.random.default_rng(3)
    rows = [
        (q, run, s, bool(rng.random() < share))
        for q in range(30)
        for run, share in zip("abc", (0.2, 0.5, 0.6), strict=True)
        for s in (3.0, 2.0)
    ]
    return pl.DataFrame(rows, ["query", "run", "score", "label"], orient="row").with_columns(
        score=pl.int_range(pl.len()).cast(float), place=pl.int_range(pl.len()) % 2 + 1
    )


def test_shares_are_told_by_the_intervals_of_shares(ranked: pl.DataFrame) -> None:
    """Values of 0 and 1 have Newcombe's intervals in compare(), and the ranks follow these."""
    irm = ranked.irm(query="query", system="run", score="score", label="label")
    pairs, found = irm.compare("success@1"), irm.leaderboard("success@1")
    told = sum((low > 0) or (high < 0) for low, high in pairs.select("ci_low", "ci_high").rows())
    assert (found["rank_low"] - 1).sum() == told == (3 - found["rank_high"]).sum()
    assert 0 < told < len(pairs) == len([*combinations("abc", 2)])


# What is refused


@pytest.mark.parametrize(
    ("roles", "asked", "words"),
    [
        ({"arm": "run", "system": None}, ["rr"], "leaderboard() ranks systems on the same ones; use ab_test()"),
        ({"system": None}, ["rr"], "leaderboard() ranks systems; name their column with system="),
        (
            {"query": None, "threshold": 100},
            ["precision"],
            "query=None was passed, but this call needs the query",
        ),
        ({"doc": "score", "score": None, "rank": "place", "catalogue": 9}, ["item_coverage"], "all lists together"),
        ({}, ["gm_rr"], "an average of its own"),
    ],
)
def test_what_is_refused(ranked: pl.DataFrame, roles: dict[str, Any], asked: list[str], words: str) -> None:
    """Arms, no systems, no queries, and metrics without a value for each query are errors."""
    irm = ranked.irm(**{"query": "query", "system": "run", "score": "score", "label": "label"} | roles)
    assert words in error(lambda: irm.leaderboard(*asked))


def test_systems_that_always_differ_by_the_same_are_told_apart() -> None:
    """Differences that are all equal have no interval; the flips tell them from 0, as compare() says."""
    frame = pl.DataFrame(
        {"query": [*range(12)] * 3, "run": np.repeat(["a", "b", "c"], 12), "rr": np.repeat([0.6, 0.5, 0.4], 12)}
    )
    irm = frame.irm(system="run", value="rr")
    assert irm.compare()["p_adjusted"].max() < 0.05
    board = irm.leaderboard()
    assert board["may_be_best"].to_list() == [True, False, False]
    assert board["rank_low"].to_list() == board["rank_high"].to_list() == [1, 2, 3]
    few = frame.filter(pl.col("query") < 4).irm(system="run", value="rr").leaderboard()
    assert few["may_be_best"].all()


def test_without_a_direction_none_may_be_the_best() -> None:
    """The greatest has rank 1, and whether that is good is not known."""
    frame = made(2, 20, apart=0.5).rename({"rr": "latency"})
    found = IRM(frame, query="query", system="run", value="latency").leaderboard()
    assert found.select("run", "rank", "rank_high", "may_be_best").rows() == [("s01", 1, 1, None), ("s00", 2, 2, None)]
