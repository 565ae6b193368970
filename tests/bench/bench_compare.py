"""What comparing two systems costs: the part "compare" of the table that bench.py prints."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from timing import by_turns, row, show

import frame_metrics

METRICS = ("ndcg@10", "ap", "rr")
DEPTH = 5  # results of each query and system
BESIDE = 20_000  # queries that peers are measured on
FLIPS = 10_000


def made(queries: int) -> pl.DataFrame:
    """Build the results of two systems that find the same documents, of grades 0 to 2; one is a little better."""
    rng = np.random.default_rng(0)
    n = queries * DEPTH
    query, place = np.repeat(np.arange(queries), DEPTH), np.tile(np.arange(DEPTH), queries)
    grade = rng.integers(0, 3, n)
    ids = {"query": pl.Series(query).cast(pl.String), "doc": "d" + pl.Series(place).cast(pl.String)}
    shared = pl.DataFrame({**ids, "grade": grade})
    runs = (
        shared.with_columns(system=pl.lit(name), score=rng.random(n) + gain * grade)
        for name, gain in (("old", 0.0), ("new", 0.02))
    )
    return pl.concat(runs)


def ours(log: Any, test: str) -> Callable[[], Any]:
    """Return the call that is measured: from a frame to the table of differences."""
    irm = frame_metrics.IRM(log, query="query", system="system")
    return lambda: irm.compare(*METRICS, baseline="old", test=test, permutations=FLIPS)  # type: ignore[arg-type]


def by_pyterrier(log: pd.DataFrame) -> Callable[[], Any]:
    """Return PyTerrier's experiment with a baseline: a paired t-test of each measure."""
    import pyterrier as pt
    from pyterrier.measures import AP, RR, nDCG

    named = log.rename(columns={"query": "qid", "doc": "docno", "grade": "label"})
    runs = [named.loc[named["system"] == name, ["qid", "docno", "score"]] for name in ("old", "new")]
    topics = pd.DataFrame({"qid": named["qid"].unique(), "query": ""})
    qrels = named.loc[named["system"] == "old", ["qid", "docno", "label"]]
    asked = [nDCG @ 10, AP, RR]
    return lambda: pt.Experiment(runs, topics, qrels, eval_metrics=asked, names=["old", "new"], baseline=0)


def by_ranx(log: pd.DataFrame) -> Callable[[], Any]:
    """Return ranx's comparison with Fisher's randomization test, from its own objects, which are built before."""
    import ranx

    log = log.astype({"query": object, "doc": object})  # it takes ids as Python objects only
    qrels = ranx.Qrels.from_df(log[log["system"] == "old"], "query", "doc", "grade")
    runs = []
    for name in ("old", "new"):
        run = ranx.Run.from_df(log[log["system"] == name], "query", "doc", "score")
        run.name = name
        runs.append(run)
    return lambda: ranx.compare(qrels, runs, ["ndcg@10", "map", "mrr"], stat_test="fisher", n_permutations=FLIPS)


def compared(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure a comparison of two systems with three metrics, and other packages beside it."""
    queries = min(BESIDE, max(options.rows) // DEPTH)
    log = made(queries)
    frame = log.to_pandas()
    case = f"{queries:,} queries, 2 systems, 3 metrics"
    if find_spec("ranx") is not None and not options.quick:
        its, own = by_turns([by_ranx(frame), ours(frame, "randomization")], min(options.runs, 3))
        label = f"{case}, {FLIPS:,} flips, pandas"
        yield row("compare", label, len(log), [f"{show(its)} (ranx, built objects)", show(own)], its / own, None)
    if find_spec("pyterrier") is not None:
        theirs, mine = by_pyterrier(frame), ours(frame, "t")
        p_values = theirs()[["nDCG@10 p-value", "AP p-value", "RR p-value"]].iloc[1].astype(float)
        assert np.allclose(p_values, mine()["p_value"])
        its, own = by_turns([theirs, mine], min(options.runs, 3))
        yield row(
            "compare", f"{case}, t-test, pandas", len(log), [f"{show(its)} (PyTerrier)", show(own)], its / own, None
        )
    plain, flipped = by_turns([ours(log, "t"), ours(log, "randomization")], min(options.runs, 3))
    label = f"{case}, {FLIPS:,} flips, polars"
    yield row("compare", label, len(log), [f"{show(plain)} (t-test)", show(flipped)], flipped / plain, None)


def left_out_comparisons() -> dict[str, str]:
    """Return what cannot be measured, and why."""
    return {} if find_spec("pyterrier") is not None else {"pyterrier": "it is not installed"}
