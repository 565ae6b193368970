"""Differences between systems, whatever the judgments that are missing; and which of these to ask for first."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

TOP = 2
EXACT = (
    "precision@1", "precision", "precision@3", "tp", "num_rel_ret@2", "rbp(p=0.5)", "rbp(gain='exp', max_grade=2)@2",
    "cg@2", "dcg", "dcg(gain='exp')@2", "dcg(gain={0: 0, 1: 5, 2: 2})@2", "ncg(max_grade=2)@2", "ncg(max_grade=2)",
    "ndcg", "ndcg@2", "ndcg(gain='exp')@1", "ndcg(discount='jk')@3", "ndcg(gain={0: 0, 1: 5, 2: 2})@2", "recall@1",
    "recall@2", "recall", "clicks_per_query@2", "click_position_sum",
)  # fmt: skip
SAFE = ("ap", "ap@2", "rr@2", "f1@2", "success@1", "rprec", "err(max_grade=2)@2", "jaccard@2", "fdr@1", "miss_rate@2")


def runs(rng: np.random.Generator, queries: int, systems: str = "xyz", most: int = 4) -> pl.DataFrame:
    """Results of several systems for the same documents, of which some have a grade: the same for all systems."""
    rows = []
    for query in range(queries):
        docs = rng.permutation([*"abcdef"]).tolist()
        n_open = int(rng.integers(0, most + 1))
        grade = dict.fromkeys(docs[:n_open]) | {doc: int(rng.integers(0, TOP + 1)) for doc in docs[n_open:]}
        for run in systems:
            found = rng.permutation(docs)[: rng.integers(1, 7)].tolist()
            rank = np.cumsum(rng.integers(1, 3, len(found)))
            rows += [
                {"query": query, "run": run, "doc": doc, "rank": int(at), "grade": grade[doc]}
                for doc, at in zip(found, rank, strict=True)
            ]
            # Known to be there, and not retrieved.
            rest = [doc for doc in docs if doc not in found and grade[doc] is not None and rng.random() < 0.3]
            rows += [{"query": query, "run": run, "doc": doc, "rank": None, "grade": grade[doc]} for doc in rest]
    log = pl.DataFrame(
        rows, {"query": pl.Int64, "run": pl.String, "doc": pl.String, "rank": pl.Int64, "grade": pl.Int64}
    )
    return log.filter(pl.col("grade").is_not_null().any().over("query"))


def completed(log: pl.DataFrame, top: int = TOP) -> pl.DataFrame:
    """The log with each judgment that the unjudged documents of a query could get, by its number, ``way``."""
    parts = []
    for (query,), rows in log.group_by("query", maintain_order=True):
        docs = rows.filter(pl.col("grade").is_null())["doc"].unique(maintain_order=True).to_list()
        for way, given in enumerate(product(range(top + 1), repeat=len(docs))):
            known = pl.DataFrame({"doc": docs, "given": given}, {"doc": pl.String, "given": pl.Int64})
            grades = pl.coalesce("grade", "given").alias("grade")
            parts.append(rows.join(known, on="doc", how="left").with_columns(grades, way=pl.lit(way)).drop("given"))
        assert query is not None
    return pl.concat(parts)


def irm_of(log: pl.DataFrame, **roles: Any) -> Any:
    return log.irm(**{"query": "query", "doc": "doc", "rank": "rank", "grade": "grade", "system": "run"} | roles)


def apart(irm: Any, *asked: str) -> pl.DataFrame:
    """Differences of each query from the values of system x."""
    each = irm.per_query(*asked).drop("undefined", "k")
    keys = [name for name in each.columns if name not in ("run", "value")]
    both = each.filter(pl.col("run") != "x").join(each.filter(run="x").drop("run"), on=keys, suffix="_x")
    return both.with_columns(difference=pl.col("value") - pl.col("value_x"))


def bounded(irm: Any, *asked: str, **options: Any) -> pl.DataFrame:
    return irm.bounds(*asked, **({"of": "unjudged", "baseline": "x", "max_grade": TOP} | options))


@pytest.mark.parametrize("beside", [False, True])
def test_differences_lie_between_their_bounds_which_are_reached(beside: bool) -> None:
    """Over all judgments, tried one by one; where the bounds are not said to be exact, no difference is beyond them."""
    log = runs(np.random.default_rng(beside), 60)
    keys = ["query", "run", "metric"]
    every = apart(irm_of(completed(log), query=["query", "way"]), *EXACT, *SAFE)
    ends = every.group_by(keys).agg(least=pl.min("difference"), greatest=pl.max("difference"))
    irm = irm_of(log)
    if beside:  # the same judgments in a frame of their own
        known = log.select("query", "doc", "grade").drop_nulls().unique()
        irm = irm_of(log.drop("grade").filter(pl.col("rank").is_not_null()), grade=None).judge(known)
    found = bounded(irm, *EXACT, *SAFE, per_query=True).join(ends, on=keys)
    assert len(found) == len(ends)
    assert found.filter(pl.col("metric").is_in(EXACT))["exact"].all()
    exact, safe = found.filter("exact"), found.filter(~pl.col("exact"))
    assert len(safe) > 100
    np.testing.assert_allclose(exact["lower"], exact["least"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(exact["upper"], exact["greatest"], rtol=0, atol=1e-9)
    assert (safe["lower"] <= safe["least"] + 1e-12).all()
    assert (safe["upper"] >= safe["greatest"] - 1e-12).all()
    now = apart(irm, *EXACT, *SAFE)
    both = found.join(now, on=keys, suffix="_now")
    np.testing.assert_allclose(both["difference"], both["difference_now"], rtol=0, atol=1e-12)
