"""Laws of intervals over the registry: they hold their estimate, do not depend on names, order, threads or segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from helpers import ready
from inside import REGISTRY, Classes, FullConfusion, FullRanking, FullScores, threads

OF_QUERIES = [
    ready(metric) @ 3 if metric.at == "k" else ready(metric)
    for metric in REGISTRY.values()
    if metric.input in (FullRanking, FullConfusion)
    and not (metric.missing or metric.columns or metric.of_subtopics or metric.off_policy)
]
OF_ROWS = [
    ready(metric)
    for metric in REGISTRY.values()
    if metric.input in (Classes, FullConfusion, FullScores) and not metric.biased
]
GIVEN: dict[str, Any] = {"ci": 0.8, "resamples": 60}


def log(queries: int, seed: int = 0) -> pl.DataFrame:
    """Rankings of six documents, of two systems, with users and weights."""
    rng = np.random.default_rng(seed)
    query = np.tile(np.repeat(np.arange(queries), 6), 2)
    rows = {"system": np.repeat(["a", "b"], 6 * queries), "query": query, "doc": np.tile(np.arange(6), 2 * queries)}
    rows |= {"score": rng.permuted(np.tile(np.arange(6.0), (2 * queries, 1)), axis=1).ravel()}
    grade = np.tile(rng.integers(0, 3, 6 * queries) * (rng.random(6 * queries) < 0.5), 2)
    return pl.DataFrame(rows | {"grade": grade, "day": query % 2, "user": query // 3, "w": 1.0 + query % 4})


def cases(n: int, seed: int = 0) -> pl.DataFrame:
    """Rows with a label, a prediction and a score, with users and weights."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    rows = {"label": label, "predicted": np.where(rng.random(n) < 0.7, label, 1 - label), "score": rng.random(n)}
    return pl.DataFrame(rows | {"day": np.arange(n) % 2, "user": np.arange(n) // 3, "w": 1.0 + np.arange(n) % 4})


def hold(found: pl.DataFrame) -> bool:
    """Return True if all intervals that there are hold their values."""
    low, high = pl.col("ci_low") <= pl.col("value"), pl.col("ci_high") >= pl.col("value")
    return bool(found.select((low.fill_null(True) & high.fill_null(True)).all()).item())


@pytest.mark.parametrize("ci", [0.05, 0.95])
@pytest.mark.parametrize("roles", [{}, {"cluster": "user"}, {"weight": "w"}], ids=str)
@pytest.mark.parametrize("metric", OF_QUERIES, ids=str)
def test_an_interval_of_queries_holds_its_estimate(metric: Any, roles: dict[str, str], ci: float) -> None:
    """Whatever the level, of few queries and of more, of means, medians and geometric means."""
    averages: Any = ["weighted"] if "weight" in roles else ["macro", "median", "gmean"]
    for n in (3, 12):
        irm = log(n).irm(system="system", collection_size=9, **roles)
        assert hold(irm.evaluate(metric, average=averages, ci=ci, resamples=60))


@pytest.mark.parametrize("ci", [0.05, 0.95])
@pytest.mark.parametrize("roles", [{}, {"cluster": "user"}, {"weight": "w"}], ids=str)
@pytest.mark.parametrize("metric", OF_ROWS, ids=str)
def test_an_interval_of_rows_holds_its_estimate(metric: Any, roles: dict[str, str], ci: float) -> None:
    """Whatever the level, of few rows and of more."""
    for n in (8, 40):
        assert hold(cases(n).irm(query=None, **roles).evaluate(metric, ci=ci, resamples=60))


NAMES = [
    ("rr@1", "precision@1", "success@1"),
    ("precision@3", "p@3"),
    ("recall@1", "tpr@1"),
    ("dcg@1", "cg@1"),
]


@pytest.mark.parametrize("roles", [{}, {"cluster": "user"}, {"weight": "w"}], ids=str)
@pytest.mark.parametrize("names", NAMES, ids=str)
def test_a_number_has_one_interval_whatever_it_is_called(names: tuple[str, ...], roles: dict[str, str]) -> None:
    """Two names of one number have one interval, also where another metric of the call is no share."""
    irm = log(20).with_columns(grade=pl.col("grade").clip(0, 1)).irm(system="system", **roles)
    found = irm.evaluate(*names, "ndcg@3", **GIVEN).filter(pl.col("metric") != "ndcg@3")
    ends = found.group_by("system", maintain_order=True).agg(pl.col("value", "ci_low", "ci_high"))
    for row in ends.rows():
        for numbers in row[1:]:
            assert numbers == pytest.approx([numbers[0]] * len(names), abs=1e-12)


def test_shares_of_rows_have_one_interval_whatever_they_are_called() -> None:
    """Accuracy and what it completes, f1 and its other name, and the micro mean over queries of one row each."""
    irm = cases(40).irm(query=None)
    found = irm.evaluate("accuracy", "error_rate", "f1", "fbeta", "recall", "miss_rate", **GIVEN)
    low, high = found["ci_low"].to_list(), found["ci_high"].to_list()
    assert (low[0], high[0]) == pytest.approx((1 - high[1], 1 - low[1]))
    assert (low[2], high[2]) == (low[3], high[3])
    assert (low[4], high[4]) == pytest.approx((1 - high[5], 1 - low[5]))
    one = log(20).with_columns(grade=pl.col("grade").clip(0, 1)).irm(system="system")
    mean, micro = (one.evaluate("precision@1", average=how, **GIVEN) for how in ("macro", "micro"))
    assert_frame_equal(mean.select("ci_low", "ci_high"), micro.select("ci_low", "ci_high"))


@pytest.mark.parametrize("roles", [{}, {"cluster": "user"}, {"weight": "w"}], ids=str)
def test_a_total_has_the_interval_of_the_call_without_segments(roles: dict[str, str]) -> None:
    """Of queries and of rows."""
    ranked, decided = log(20).irm(system="system", **roles), cases(40).irm(query=None, **roles)
    for make, asked in ((ranked, ("ndcg@3", "rr", "success@1", "tp@3")), (decided, ("f1", "mcc"))):
        every = make(by="day").evaluate(*asked, margins=True, **GIVEN)
        total = every.filter(total_over="day").drop("total_over", "day")
        assert_frame_equal(total, make.evaluate(*asked, **GIVEN), abs_tol=1e-12)


@pytest.mark.parametrize("roles", [{}, {"cluster": "user"}, {"weight": "w"}], ids=str)
def test_neither_the_order_of_rows_nor_threads_change_an_interval(roles: dict[str, str]) -> None:
    """Shuffled rows, and one thread, give the same to the last bits."""
    averages: Any = ["macro", "gmean"] if "weight" not in roles else None
    frame, rows = log(24), cases(40)

    def found(frame: pl.DataFrame, rows: pl.DataFrame) -> list[pl.DataFrame]:
        irm = frame.irm(system="system", **roles)
        return [
            irm.evaluate("ndcg@3", "success@1", "ap", average=averages, **GIVEN).sort("system", "metric", "average"),
            rows.irm(query=None, **roles).evaluate("recall", "f1", "informedness", "mcc", **GIVEN),
        ]

    first = found(frame, rows)
    with threads(1):
        alone = found(*(one.sample(fraction=1, shuffle=True, seed=1) for one in (frame, rows)))
    for one, other in zip(first, alone, strict=True):
        assert_frame_equal(one, other, abs_tol=1e-12)
