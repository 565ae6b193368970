"""Means are one number, to the last digit: in every verb, of rows in any order, in memory, in pieces and engines."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM
from helpers import as_polars
from inside import sums_and_remainders, sums_of

ONE = np.zeros(1, np.int64)
NUMBERS = {
    "shares": lambda random, n: random.random(n),
    "discounts": lambda random, n: 1 / np.log2(random.integers(2, 12, n)),
    "logarithms": lambda random, n: np.log(random.random(n)),
    "whole": lambda random, n: random.integers(0, 9, n) * 1.0,
    "of all sizes": lambda random, n: random.normal(size=n) * 10.0 ** random.integers(-30, 30, n),
    "near the ends of floats": lambda random, n: random.normal(size=n) * 10.0 ** random.integers(-300, 280, n),
}


@pytest.mark.parametrize("n", [1, 7, 600, 20_000])
@pytest.mark.parametrize("kind", NUMBERS)
def test_a_sum_is_rounded_once(kind: str, n: int) -> None:
    """A sum in groups is that of math.fsum, in any order; with what it lost, sums of sums are the sum of all."""
    random = np.random.default_rng(n)
    values = NUMBERS[kind](random, n)
    starts = np.unique(np.append(0, random.integers(0, n, 9)))
    found, lost = sums_and_remainders(values, starts)
    np.testing.assert_array_equal(found, sums_of(values, starts))
    assert found.tolist() == [math.fsum(values[a:b]) for a, b in pairwise([*starts, n])]
    assert sums_of(random.permutation(values), ONE)[0] == math.fsum(values)
    if "all sizes" not in kind and "ends" not in kind:
        assert sums_of(np.append(found, lost), ONE)[0] == math.fsum(values)


def test_sums_that_are_no_numbers() -> None:
    """Infinite and undefined numbers give what floats give, and lose nothing."""
    for n in (3, 1000):
        values = np.ones(n)
        for value in (np.inf, -np.inf, np.nan, 1e308):
            values[1] = value
            found, lost = sums_and_remainders(values, np.array([0, 2]))
            np.testing.assert_array_equal(found, [1 + value, n - 2])
            np.testing.assert_array_equal(lost[1:], [0])
    assert sums_of(np.array([True, True, False]), np.array([0, 1])).tolist() == [1, 1]


def log(seed: int, systems: str = "ab") -> pl.DataFrame:
    """Queries in an order of their own for each system, whose means need rounding."""
    random, n = np.random.default_rng(seed), 400
    rows = {"query": random.permutation(np.repeat(np.arange(40), 10)), "score": random.random(n)}
    one = pl.DataFrame(rows).with_columns(
        weight=pl.col("query") / 7 + 0.1, user=pl.col("query") % 9, day=pl.col("query") % 3
    )
    each = (one.with_columns(system=pl.lit(s), grade=random.integers(0, 3, n)) for s in systems)
    return pl.concat(each).with_columns(doc=pl.int_range(pl.len()))


ASKED = ("precision@3", "ndcg", "rr")
ROLES: list[dict[str, Any]] = [{}, {"weight": "weight"}, {"cluster": "user"}, {"weight": "weight", "cluster": "user"}]


@pytest.mark.parametrize("roles", ROLES)
def test_one_mean_is_one_number_in_every_verb(roles: dict[str, Any]) -> None:
    """evaluate, both sides of compare, of arms too, and a summary have the same digits."""
    for seed in range(10):
        irm = log(seed).irm(system="system", **roles)
        apart = log(seed).with_columns(query=pl.format("{}{}", "system", "query")).irm(arm="system", **roles)
        draws: dict[str, Any] = {"baseline": "a", "resamples": 10, "permutations": 10}
        for averages, compared in (
            (irm.evaluate(*ASKED), irm.compare(*ASKED, **draws)),
            (irm.evaluate(*ASKED), irm.summary("rr", baseline="a").filter(kind="difference")),
            (apart.evaluate(*ASKED), apart.ab_test(*ASKED, **draws)),
        ):
            means = {(s, m): v for s, m, v in averages.select("system", "metric", "value").rows()}
            for metric, value, base in compared.select("metric", "value", "baseline_value").rows():
                assert {value, base} == {means["a", metric], means["b", metric]}


def test_a_mean_of_saved_numbers_is_that_of_the_log() -> None:
    """What per_query() returned, in another order, has the mean of the log on either side of compare."""
    for seed in range(10):
        here = log(seed, "a").irm
        saved = here.per_query("ndcg").sample(fraction=1, shuffle=True, seed=seed)
        row = here.compare("ndcg", baseline=saved, resamples=10, permutations=10).row(0, named=True)
        mean = here.evaluate("ndcg")["value"][0]
        assert (row["value"], row["baseline_value"], row["difference"]) == (mean, mean, 0)
        assert saved.irm(value="value", query="query").evaluate("ndcg")["value"][0] == mean


CALLS = {
    "averages": lambda irm: irm(by="day").evaluate(*ASKED, "gm_map", margins=True, average=["macro", "gmean", "rows"]),
    "weighted": lambda irm: irm(weight="weight").evaluate(*ASKED),
    "pooled": lambda irm: irm.evaluate("precision@3", "recall@3", average="micro"),
    "intervals": lambda irm: irm(cluster="user").evaluate("ndcg", ci=0.9, resamples=20),
    "comparisons": lambda irm: irm.compare("ndcg", "rr", baseline="a", resamples=20, permutations=20),
    "bounds": lambda irm: irm.bounds("ap", "rr", of="ties"),
    "cutoffs": lambda irm: irm.curve("ndcg@k", cutoffs=3),
    "levels": lambda irm: irm.curve("pr", per="query", levels=5),
}


def forms(frame: pl.DataFrame, folder: Path) -> dict[str, Any]:
    """Return a frame in memory, in files that are read in pieces, in DuckDB and in Dask."""
    for i, part in enumerate(frame.iter_slices(150)):
        part.write_parquet(folder / f"{i}.parquet")
    held = {f"{n} partitions": dd.from_pandas(frame.to_pandas(), npartitions=n) for n in (1, 7)}
    relation = duckdb.connect().from_arrow(frame.to_arrow())
    return {"memory": frame, "files": pl.scan_parquet(folder / "*.parquet"), "DuckDB": relation} | held


@pytest.mark.parametrize("call", CALLS)
def test_no_form_of_a_log_changes_a_digit(call: str, tmp_path: Path) -> None:
    """Rows in any order, pieces of files and the partitions of engines give the numbers of the frame in memory."""
    every = log(3, "abc")
    expected = CALLS[call](every.irm(system="system"))
    keys = [name for name in expected.columns if not expected[name].dtype.is_float() or name == "recall"]
    for form, frame in forms(every.sample(fraction=1, shuffle=True, seed=5), tmp_path).items():
        small = {"memory": 40_000} if form == "files" else {}
        found = CALLS[call](IRM(frame, system="system", **small))
        found = as_polars(found.compute() if hasattr(found, "compute") else found)
        found = found.select(expected.columns).sort(keys)
        differ = [pair for pair in zip(found.rows(), expected.sort(keys).rows(), strict=True) if pair[0] != pair[1]]
        assert (form, differ) == (form, [])
