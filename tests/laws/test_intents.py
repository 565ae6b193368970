"""Laws of the measures that read subtopics, for every one of the registry, against loops over documents."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import polars.testing as pl_testing
import pytest

from frame_metrics import IRM, Metric
from helpers import KINDS, as_kind, as_polars, ready
from inside import REGISTRY, documents_grouped, in_pieces, small_blocks, threads

OF_SUBTOPICS = [ready(metric) for metric in REGISTRY.values() if metric.of_subtopics]
WITH_OPTIONS = [
    metric(alpha=alpha) for metric in OF_SUBTOPICS if "alpha" in metric.options for alpha in (0.0, 0.25, 1.0)
]
WITH_OPTIONS += [metric(beta=beta) for metric in OF_SUBTOPICS if "beta" in metric.options for beta in (0.0, 0.75)]
CUT = [metric @ k for metric in OF_SUBTOPICS if metric.at == "k" for k in (1, 3, 40)]
EVERY = [*OF_SUBTOPICS, *WITH_OPTIONS, *CUT, *(metric(rel=2) for metric in OF_SUBTOPICS)]


@cache
def made(seed: int = 0, queries: int = 24) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Results of two systems in two segments, and judgments for subtopics: ties, documents unjudged, or not found."""
    rng = np.random.default_rng(seed)
    runs, qrels = [], []
    for query in range(queries):
        docs, many = int(rng.integers(1, 14)), int(rng.integers(1, 6))
        for doc, subtopic in itertools.product(range(docs), range(many)):
            if rng.random() < 0.5:
                qrels.append((query, "mt"[query % 2], f"s{subtopic}", f"d{doc}", int(rng.choice([-1, 0, 1, 1, 2, 3]))))
        for system in "pq"[: 1 + query % 5]:
            found = rng.permutation(docs + 3)[: rng.integers(1, docs + 3)]
            runs += [(system, query, "mt"[query % 2], f"d{doc}", int(rng.integers(0, 6))) for doc in found]
    log = pl.DataFrame(runs, schema=["system", "query", "day", "doc", "score"], orient="row")
    return log, pl.DataFrame(qrels, schema=["query", "day", "aspect", "doc", "grade"], orient="row")


def judged(log: Any, qrels: Any, **roles: Any) -> Any:
    return IRM(log, **{"system": "system", **roles}).judge(qrels, subtopic="aspect")


def table(irm: Any, *asked: Metric) -> pl.DataFrame:
    """A row for each system and query, in their order, and a column for each metric."""
    found = as_polars(irm.per_query(*(asked or EVERY), layout="wide")).drop("answered")
    return found.sort("system", "query").with_columns(pl.col(pl.Float32).cast(pl.Float64))


def same(one: pl.DataFrame, other: pl.DataFrame, tolerance: float = 1e-12) -> bool:
    pl_testing.assert_frame_equal(one, other, abs_tol=tolerance, check_dtypes=False)
    return True


# Plain Python, as an analyst would check it


def by_hand(metric: Metric, ranked: list[str], about: dict[str, set[str]]) -> float:
    """A measure of one ranking, from the subtopics that each relevant document is about; NaN where undefined."""
    every, k = set().union(*about.values()), metric.k or len(ranked)
    given = {name: option.default for name, option in metric.options.items()} | dict(metric.params)
    alpha, beta = given.get("alpha"), given.get("beta")
    if not every:
        return math.nan
    seen: Counter[str] = Counter()
    gains, above, times = [], [], Counter(itertools.chain(*about.values()))
    for doc in ranked[:k]:
        mine = about.get(doc, set())
        gains.append(sum((1 - (alpha or 0)) ** seen[one] for one in sorted(mine)))
        above.append({one: seen[one] for one in mine})
        seen.update(mine)
    if metric.name == "strecall":
        return len(seen) / len(every)
    if metric.name == "p_ia":
        return sum(map(len, above)) / (k * len(every)) if k else math.nan
    if metric.name == "map_ia":
        hits = [(n + 1) / rank / times[one] for rank, found in enumerate(above, 1) for one, n in found.items()]
        return sum(hits) / len(every)
    weight = {
        "alpha": lambda rank: 1 / math.log2(rank + 1),
        "err": lambda rank: 1 / rank,
        "nrbp": lambda rank: beta ** (rank - 1),
    }["nrbp" if beta is not None else "err" if "err" in metric.name else "alpha"]
    value = sum(gain * weight(rank) for rank, gain in enumerate(gains, 1))
    if metric.name in ("alpha_dcg", "err_ia"):
        even = sum((1 - alpha) ** (rank - 1) * weight(rank) for rank in range(1, k + 1))
        return value / (len(every) * even) if k else math.nan
    if metric.name == "nrbp":
        return value * (1 - (1 - alpha) * beta) / len(every)
    best = _greedy(about, alpha)[: metric.k]
    return value / sum(gain * weight(rank) for rank, gain in enumerate(best, 1))


def _greedy(about: dict[str, set[str]], alpha: float) -> list[float]:
    """The gains of documents, of which each is the next best, and of equal ones the last."""
    left, seen, gains = sorted((doc for doc in about if about[doc]), reverse=True), Counter[str](), []
    while left:
        worth = [sum((1 - alpha) ** seen[one] for one in sorted(about[doc])) for doc in left]
        gains.append(max(worth))
        seen.update(about[left.pop(worth.index(gains[-1]))])
    return gains


def oracle(metric: Metric, log: pl.DataFrame, qrels: pl.DataFrame, system: str, query: int) -> float:
    rel = metric.params.get("rel", 1)
    about: dict[str, set[str]] = {}
    for aspect, doc, grade in qrels.filter(query=query).select("aspect", "doc", "grade").iter_rows():
        about.setdefault(doc, set()).update([aspect] * (grade >= rel))
    mine = log.filter(system=system, query=query).sort("score", "doc", descending=[True, True])
    return by_hand(metric, mine["doc"].to_list(), about)


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_values_are_those_of_loops(metric: Metric) -> None:
    """For every system and judged query, also one that a system has no results of."""
    log, qrels = made()
    found = table(judged(log, qrels, undefined="null"), metric)
    assert len(found) == 2 * qrels["query"].n_unique()
    for system, query, value in found.iter_rows():
        expected = oracle(metric, log, qrels, system, query)
        assert (math.nan if value is None else value) == pytest.approx(expected, abs=1e-12, nan_ok=True), (
            system,
            query,
        )


# Laws


def test_values_are_in_the_declared_range() -> None:
    """And a perfect ranking of documents that are all about all subtopics has the best value."""
    for seed in range(3):
        found = table(judged(*made(seed), undefined="null"))
        for metric in EVERY:
            low, high = metric.range
            assert found[str(metric)].drop_nulls().is_between(low - 1e-12, high + 1e-12).all(), metric
    docs, aspects = [f"d{i}" for i in range(200)], ["a", "b", "c"]
    qrels = pl.DataFrame(
        [(1, a, d, 3) for d in docs for a in aspects], ["query", "aspect", "doc", "grade"], orient="row"
    )
    perfect = pl.DataFrame({"system": "p", "query": 1, "doc": docs, "score": np.arange(200.0)})
    assert table(judged(perfect, qrels)).row(0)[2:] == pytest.approx([1.0] * len(EVERY), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_neither_the_order_of_rows_nor_blocks_nor_threads_matter(seed: int) -> None:
    """Nor the order of the judgments; to the last bit."""
    log, qrels = made(seed)
    whole = table(judged(log, qrels))
    shuffled = [one.sample(fraction=1, shuffle=True, seed=seed) for one in (log, qrels)]
    assert table(judged(*shuffled)).equals(whole)
    with small_blocks(7), threads(3):
        assert table(judged(log, qrels)).equals(whole)
        assert table(judged(*shuffled)).equals(whole)


def test_queries_and_systems_do_not_touch_each_other() -> None:
    """A query has the value that it has alone, a system too."""
    log, qrels = made()
    whole = table(judged(log, qrels))
    for part in (pl.col("query") < 5, pl.col("query") % 3 == 1):
        assert table(judged(log.filter(part), qrels.filter(part))).equals(whole.filter(part))
    one = log.filter(system="p")
    assert same(table(judged(one, qrels)), whole.filter(system="p"))
    columns = log.pivot("system", index=["query", "doc"], values="score", sort_columns=True)
    wide = IRM(columns, score=["p", "q"], ties="doc").judge(qrels, subtopic="aspect")
    assert same(
        as_polars(wide.per_query(*EVERY, layout="wide"))
        .drop("answered")
        .cast({"system": pl.String})
        .sort("system", "query"),
        whole,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_frames_agree(kind: str) -> None:
    """Of log and judgments; a log in pieces too."""
    log, qrels = made()
    whole = table(judged(log, qrels))
    assert same(table(judged(as_kind(log, kind), as_kind(qrels, kind))), whole)
    assert same(table(in_pieces(judged(log, as_kind(qrels, kind)))), whole)


@pytest.mark.parametrize("of", ["log", "both", "judgments"])
def test_segments_and_totals(of: str) -> None:
    """Judgments belong to the segments that they name; a total is the call without the column."""
    log, qrels = made()
    log, qrels = (log.drop("day") if of == "judgments" else log), (qrels.drop("day") if of == "log" else qrels)
    found = judged(log, qrels, by="day").evaluate(*OF_SUBTOPICS, margins=True)
    total = found.filter(total_over="day").drop("total_over", "day")
    assert same(total, judged(log, qrels).evaluate(*OF_SUBTOPICS))
    day = pl.col("query") % 2 == 0
    alone = judged(log.filter(day), qrels.filter(day)).evaluate(*OF_SUBTOPICS)
    assert same(found.filter(day="m").drop("day", "total_over"), alone)


def test_without_novelty_the_measures_are_those_of_one_intent() -> None:
    """Of a query with one subtopic map_ia is ap, p_ia precision, strecall success, alpha_ndcg with alpha = 0 ndcg."""
    log, qrels = made()
    one = qrels.filter(aspect="s0")
    irm = judged(log, one, undefined="null")
    pairs = {"map_ia": "ap", "p_ia@3": "precision@3", "strecall@2": "success@2"}
    pairs |= {"alpha_ndcg(alpha=0)@4": "ndcg(gain={-1: 0, 0: 0, 1: 1, 2: 1, 3: 1})@4", "nrbp(alpha=0, beta=0.8)": "rbp"}
    pairs |= {"err_ia(alpha=1)@3": "rr@3"}
    found = as_polars(irm.per_query(*pairs, *pairs.values(), layout="wide")).drop("answered").drop_nulls(["map_ia"])
    for mine, other in pairs.items():
        assert found[mine].to_list() == pytest.approx(found[other].to_list(), abs=1e-12), mine


@pytest.mark.parametrize("seed", range(4))
def test_documents_of_the_same_subtopics_are_taken_as_if_one_by_one(seed: int) -> None:
    """The ideal order of groups of documents is that of single ones, equal gains included."""
    runs, qrels = made(seed)
    irm = runs.irm(system="system", by="day").judge(qrels, subtopic="aspect")
    asked = ["alpha_ndcg", "alpha_ndcg(alpha=0.0)", "alpha_ndcg(alpha=1.0)", "alpha_ndcg@3"]
    with documents_grouped(1 << 40):
        single = irm.per_query(*asked)
    with documents_grouped(0):
        pl_testing.assert_frame_equal(irm.per_query(*asked), single, check_exact=True)
