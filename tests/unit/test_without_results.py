"""Queries without results, in the sentences about them: which is the first, and of how many others a share is."""

from __future__ import annotations

import polars as pl

from frame_metrics import IRM

QUERIES = [f"q{at}" for at in range(1, 9)]
RUNS = pl.DataFrame(
    [
        (system, query, f"d{rank}", float(-rank))
        for system in ("old", "new")
        for query in QUERIES
        for rank in range(4)
        if (system, query) != ("new", "q7")
    ],
    schema=["system", "query", "doc", "score"],
    orient="row",
)
QRELS = pl.DataFrame(
    [(query, f"d{rank}", int(rank == 1)) for query in QUERIES for rank in range(3)],
    schema=["query", "doc", "grade"],
    orient="row",
)
IRM_OF_RUNS = IRM(RUNS, system="system").judge(QRELS)


def test_which_query_has_no_results() -> None:
    """And the unjudged share of the others is said to be theirs."""
    said = IRM_OF_RUNS.summary("ndcg@4")["sentence"].to_list()
    assert any("in at least one ranking (the first: new, q7)" in one for one in said)
    share = "25.0 % of the top 4 of old are unjudged, and 25.0 % of new's, on average over "
    assert any(one.startswith(f"{share}the 8 and 7 queries with results.") for one in said)
    some = (pl.col("query") != "q7") & ((pl.col("query") != "q2") | (pl.col("doc") != "d1"))
    whole = IRM(RUNS.filter(some), system="system").judge(QRELS.filter(pl.col("query") != "q7")).summary("ndcg@4")
    assert any(" are unjudged, and " in one and " on average over queries." in one for one in whole["sentence"])
