"""Differences between systems, whatever the judgments that are missing; and which of these to ask for first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM, NotComputableError
from helpers import as_polars, error
from inside import REGISTRY, choices_tried, small_blocks, threads

TOP = 2
EXACT = (
    "precision@1", "precision", "precision@3", "tp", "num_rel_ret@2", "rbp(p=0.5)", "rbp(gain='exp', max_grade=2)@2",
    "cg@2", "dcg", "dcg(gain='exp')@2", "dcg(gain={0: 0, 1: 5, 2: 2})@2", "ncg(max_grade=2)@2", "ncg(max_grade=2)",
    "ndcg", "ndcg@2", "ndcg(gain='exp')@1", "ndcg(discount='jk')@3", "ndcg(gain={0: 0, 1: 5, 2: 2})@2", "recall@1",
    "recall@2", "recall", "clicks_per_query@2", "click_position_sum",
)  # fmt: skip
# And what else is said to add up over results, without parameters that have to be given.
EXACT += tuple(
    f"{own.name}@2" if own.at == "k" else own.name
    for own in REGISTRY.values()
    if own.adds is True and own.unjudged and own.undefined == 0 and not own.missing and "max_grade" not in own.options
)
EXACT = tuple(dict.fromkeys(EXACT))
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


def completed(log: pl.DataFrame, grades: Sequence[int | None] = range(TOP + 1)) -> pl.DataFrame:
    """The log with each judgment that the unjudged documents of a query could get, by its number, ``way``."""
    parts = []
    for (query,), rows in log.group_by("query", maintain_order=True):
        docs = rows.filter(pl.col("grade").is_null())["doc"].unique(maintain_order=True).to_list()
        for way, given in enumerate(product(grades, repeat=len(docs))):
            known = pl.DataFrame({"doc": docs, "given": given}, {"doc": pl.String, "given": pl.Int64})
            judged = pl.coalesce("grade", "given").alias("grade")
            parts.append(rows.join(known, on="doc", how="left").with_columns(judged, way=pl.lit(way)).drop("given"))
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


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("beside", [False, True])
def test_differences_lie_between_their_bounds_which_are_reached(beside: bool, tied: bool) -> None:
    """Over all judgments, tried one by one; where the bounds are not said to be exact, no difference is beyond them.

    So it is with equal scores too, which documents order, the unjudged ones among themselves as well.
    """
    log = runs(np.random.default_rng(2 * beside + tied), 35)
    place: Any = {"rank": None, "score": "score"} if tied else {}
    log = log.with_columns(score=-(pl.col("rank") // 2).cast(pl.Float64))
    keys = ["query", "run", "metric"]
    every = apart(irm_of(completed(log), query=["query", "way"], **place), *EXACT, *SAFE)
    ends = every.group_by(keys).agg(least=pl.min("difference"), greatest=pl.max("difference"))
    irm = irm_of(log, **place)
    if beside:  # the same judgments in a frame of their own
        known = log.select("query", "doc", "grade").drop_nulls().unique()
        irm = irm_of(log.drop("grade").filter(pl.col("rank").is_not_null()), grade=None, **place).judge(known)
    found = bounded(irm, *EXACT, *SAFE, per_query=True).join(ends, on=keys)
    assert len(found) == len(ends)
    assert found.filter(pl.col("metric").is_in(EXACT))["exact"].all()
    exact, safe = found.filter("exact"), found.filter(~pl.col("exact"))
    assert len(safe) > 60
    np.testing.assert_allclose(exact["lower"], exact["least"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(exact["upper"], exact["greatest"], rtol=0, atol=1e-9)
    assert (safe["lower"] <= safe["least"] + 1e-12).all()
    assert (safe["upper"] >= safe["greatest"] - 1e-12).all()
    now = apart(irm, *EXACT, *SAFE)
    both = found.join(now, on=keys, suffix="_now")
    np.testing.assert_allclose(both["difference"], both["difference_now"], rtol=0, atol=1e-12)


def test_by_hand() -> None:
    """One known gain, 1, of x, and z, which both list: the first of b, the third of a.

    With z at 0 nDCG differs by 1 / log2(3) - 1. With z at 1 the ideal is 1 + 1 / log2(3), of b, and a has 1 + 1 / 2.
    """
    rows = {
        "query": [1] * 5,
        "run": [*"aaabb"],
        "doc": [*"xyzzx"],
        "rank": [1, 2, 3, 1, 2],
        "grade": [1, 0, None, None, 1],
    }
    found = irm_of(pl.DataFrame(rows)).bounds("ndcg", "precision@1", "rr", of="unjudged", baseline="a", max_grade=1)
    first, second = 1 - 1 / np.log2(3), (1 / np.log2(3) - 1 / 2) / (1 + 1 / np.log2(3))
    assert found.columns[2:] == ["metric", "k", "average", "difference", "lower", "upper", "can_turn", "exact", "n"]
    assert found["run"].to_list() == ["b"] * 3
    np.testing.assert_allclose(found["lower"], [-first, -1, -1 / 2])
    np.testing.assert_allclose(found["upper"], [second, 0, 0])
    assert found["difference"].to_list() == pytest.approx([-first, -1, -1 / 2])
    assert found["can_turn"].to_list() == [True, False, False]
    assert found["exact"].to_list() == [True, True, True]  # of rr, as a's first document is judged


def test_a_system_is_apart_from_one_that_finds_nothing_by_its_own_bounds() -> None:
    """In segments, with weights, and with a judged document that nobody but the other one lists, far down."""
    log = runs(np.random.default_rng(3), 20, "y").filter(pl.col("rank").is_not_null())
    empty = log.unique("query").with_columns(
        run=pl.lit("x"), rank=pl.lit(99, pl.Int64), doc=pl.lit("none"), grade=pl.lit(0, pl.Int64)
    )
    both = pl.concat([log, empty]).with_columns(by=pl.col("query") % 2, weight=pl.col("query") % 3 + 1.0)
    asked = [name for name in EXACT if "@" in name]
    irm = irm_of(both, by="by", weight="weight")
    alone = irm.bounds(*asked, of="unjudged", max_grade=TOP).filter(run="y")
    found = bounded(irm, *asked).join(alone, on=["by", "run", "metric"], suffix="_alone")
    found = found.filter(pl.col("average_alone") == "weighted")  # counts are summed, where they are no differences
    assert len(found) >= 2 * len(asked) - 6
    for end in ("lower", "upper"):
        np.testing.assert_allclose(found[end], found[f"{end}_alone"], rtol=0, atol=1e-12)


def test_the_difference_is_that_of_compare() -> None:
    """With weights and segments; and a query that one system does not answer counts as 0."""
    log = runs(np.random.default_rng(4), 12).with_columns(by=pl.col("query") % 2, weight=pl.col("query") % 3 + 1.0)
    irm = irm_of(log.filter((pl.col("query") != 3) | (pl.col("run") == "x")), by="by", weight="weight")
    found = bounded(irm, "ndcg@3", "rr").select("by", "run", "baseline", "metric", "difference", "n")
    compared = irm.compare("ndcg@3", "rr", baseline="x", test="bootstrap", resamples=10)
    assert_frame_equal(found, compared.select(found.columns), check_row_order=False)


def test_equal_systems_cannot_turn() -> None:
    """A shared document moves both alike; where systems stand level, any difference turns them."""
    log = runs(np.random.default_rng(5), 6, "x")
    same = pl.concat([log, log.with_columns(run=pl.lit("y"))])
    found = bounded(irm_of(same), *EXACT)
    assert found.select("lower", "upper").unique().rows() == [(0, 0)]
    assert not found["can_turn"].any()
    level = pl.DataFrame(
        {"query": [1] * 3, "run": [*"xyx"], "doc": [*"abc"], "rank": [1, 1, 2], "grade": [None, None, 1]}
    )
    assert bounded(irm_of(level), "precision@1", max_grade=1).select("lower", "upper", "can_turn").row(0) == (
        -1,
        1,
        True,
    )
    # Ahead by .1 and .2 and behind by .3, which as floats leave a little above 0.
    hits = [(query, run, n) for run, each in (("x", (1, 2, 0)), ("y", (0, 0, 3))) for query, n in enumerate(each)]
    ranked = [(*key, f"{key[1]}{rank}", rank, int(rank <= n)) for *key, n in hits for rank in range(1, 11)]
    near = pl.DataFrame(ranked, ["query", "run", "doc", "rank", "grade"], orient="row")
    near = near.with_columns(grade=pl.when(pl.col("doc") != "x10").then("grade"))
    (found,) = bounded(irm_of(near), "precision@10", baseline="y", max_grade=1).rows(named=True)
    assert (abs(found["difference"]) < 1e-15, found["can_turn"]) == (True, True)


def test_systems_in_columns_need_no_documents() -> None:
    """Their rows are the same; the result is that of the frame with a row for each, with documents."""
    log = pl.DataFrame(
        {
            "query": [1] * 4 + [2] * 4,
            "x": [4.0, 3, 2, 1] * 2,
            "y": [1.0, 2, 3, 4] * 2,
            "grade": [1, None, None, 0, None, 2, 0, 1],
        }
    )
    asked = ("precision@2", "ndcg@3", "ap")
    found = bounded(log.irm(score=["x", "y"]), *asked)
    long = log.with_row_index("doc").unpivot(["x", "y"], index=["query", "doc", "grade"], variable_name="run")
    apart = bounded(long.irm(query="query", score="value", doc="doc", system="run"), *asked)
    assert_frame_equal(found.rename({"system": "run"}), apart)
    table = (
        log.with_row_index("doc")
        .irm(score=["x", "y"], doc="doc")
        .to_judge(metric="ndcg@3", baseline="x", max_grade=TOP)
    )
    of_long = long.irm(query="query", score="value", doc="doc", system="run").to_judge(
        metric="ndcg@3", baseline="x", max_grade=TOP
    )
    assert_frame_equal(table, of_long)


@pytest.mark.parametrize(
    ("roles", "options", "match"),
    [
        ({"system": None}, {}, "name system="),
        ({"doc": None}, {}, "name doc="),
        ({}, {"baseline": ["x"]}, "one system"),
        ({}, {"baseline": pl.DataFrame({"query": [1]})}, "one system"),
        ({}, {"baseline": "z"}, "'z' is not among the systems of run"),
        ({"run": ["x", "x"]}, {}, "run has one system, 'x'; two are needed"),
        ({}, {"of": "ties", "max_grade": None}, "of='unjudged'"),
        ({"by": "lower"}, {}, "'lower' is a column of the result"),
    ],
)
def test_baselines_that_are_none(roles: Any, options: Any, match: str) -> None:
    log = pl.DataFrame(
        {"query": [1] * 2, "run": [*"xy"], "doc": [*"ab"], "rank": [1, 2], "grade": [1, None], "lower": [1] * 2}
    )
    log = log.with_columns(run=pl.Series(roles.get("run", ["x", "y"])))
    roles = {role: said for role, said in roles.items() if role != "run"}
    assert match in error(lambda: bounded(irm_of(log, **roles), "rr", **options))


def test_bounds_of_one_order_are_not_those_of_all() -> None:
    """Where judged results have equal scores, ties='expected' has no bounds of unjudged rows."""
    log = pl.DataFrame({"query": [1] * 3, "score": [3.0, 3.0, 1.0], "grade": [1, 0, None]})
    with pytest.raises(NotComputableError, match="ties='expected'"):
        log.irm(ties="expected").bounds("rr", of="unjudged")
    assert log.irm(ties="worst").bounds("rr", of="unjudged")["value"].item() == 0.5


# What to judge next


def unjudged(log: pl.DataFrame) -> pl.DataFrame:
    return log.filter(pl.col("grade").is_null()).select("query", "doc").unique(maintain_order=True)


def widths(
    log: pl.DataFrame, picks: list[pl.DataFrame], truth: pl.DataFrame, metric: str, baseline: str | None, **roles: Any
) -> Any:
    """The width of the bounds, the mean over systems, once each of several choices of documents is judged."""
    each = pl.concat([one.select("query", "doc").with_columns(choice=pl.lit(i)) for i, one in enumerate(picks)])
    every = log.join(pl.DataFrame({"choice": range(len(picks))}, {"choice": pl.Int32}), how="cross")
    every = every.join(each.join(truth, on=["query", "doc"]), on=["choice", "query", "doc"], how="left")
    irm = irm_of(every.with_columns(pl.coalesce("grade", "truth").alias("grade")), by="choice", **roles)
    found = irm.bounds(metric, of="unjudged", baseline=baseline, max_grade=TOP)
    return (
        found.group_by("choice")
        .agg(width=(pl.col("upper") - pl.col("lower")).mean())
        .sort("choice")["width"]
        .to_numpy()
    )


@pytest.mark.parametrize("baseline", [None, "x"])
@pytest.mark.parametrize("metric", ["precision@2", "dcg(gain='exp')@3", "ncg@3", "rbp", "ndcg@2", "ndcg", "recall@2"])
def test_what_a_judgment_moves_is_what_the_bounds_narrow_by(metric: str, baseline: str | None) -> None:
    """On average over its lowest and highest grade; all others narrow nothing, and all together leave nothing open.

    Of ratios this is so of the first of each query, which is the best of it.
    """
    log = runs(np.random.default_rng(6), 4).with_columns(weight=pl.col("query") % 3 + 1.0)
    found = irm_of(log, weight="weight").to_judge(metric=metric, baseline=baseline, max_grade=TOP)
    docs = unjudged(log)
    each = [docs[:0], *(docs[[i]] for i in range(len(docs)))]
    lowest, highest = (
        widths(log, each, docs.with_columns(truth=truth), metric, baseline, weight="weight") for truth in (0, TOP)
    )
    narrowed = docs.with_columns(narrowed=pl.Series(lowest[0] - (lowest[1:] + highest[1:]) / 2))
    first = found.unique("query", keep="first", maintain_order=True)
    alone = narrowed.filter(pl.col("narrowed") > 1e-12)
    assert_frame_equal(alone.select("query", "doc"), found.select("query", "doc"), check_row_order=False)
    best = alone.group_by("query").agg(pl.max("narrowed"))
    both = first.join(narrowed, on=["query", "doc"]).join(best, on="query", suffix="_best")
    np.testing.assert_allclose(both["moves"], both["narrowed"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(both["moves"], both["narrowed_best"], rtol=0, atol=1e-12)
    if metric not in ("ndcg@2", "ndcg", "recall@2"):
        both = found.join(narrowed, on=["query", "doc"])
        np.testing.assert_allclose(both["moves"], both["narrowed"], rtol=0, atol=1e-12)
    assert (found["moves"].diff().drop_nulls() <= 1e-12).all()
    assert found["chosen"].all()
    assert widths(log, [found], docs.with_columns(truth=1), metric, baseline) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("baseline", [None, "x"])
@pytest.mark.parametrize("metric", ["dcg@3", "ndcg@2", "ndcg", "recall@2", "recall"])
def test_a_judgment_moves_what_those_before_it_leave_open(metric: str, baseline: str | None) -> None:
    """Those before it of its query are judged in turn, in two ways; and it moves no more than each of them.

    Where not all choices are tried, fewer documents are the first of all.
    """
    log = runs(np.random.default_rng(12), 6, most=5).with_columns(weight=pl.col("query") % 3 + 1.0)
    irm, options = irm_of(log, weight="weight"), {"metric": metric, "baseline": baseline, "max_grade": TOP}
    found = irm.to_judge(**options).with_columns(turn=pl.int_range(pl.len()).over("query"))
    keys = found.select("query", "turn").rows()
    picks = [
        found.filter(pl.col("query") == query, pl.col("turn") < turn + more) for query, turn in keys for more in (0, 1)
    ]
    ways = (found.select("query", "doc", truth=(pl.col("turn") + way) % 2 * TOP) for way in (0, 1))
    left = np.mean([widths(log, picks, truth, metric, baseline, weight="weight") for truth in ways], axis=0)
    narrowed = found.with_columns(narrowed=pl.Series(left[::2] - left[1::2]))
    at_most = narrowed.select(pl.col("narrowed").cum_min().over("query")).to_series()
    np.testing.assert_allclose(found["moves"], at_most, rtol=0, atol=1e-12)
    assert found["turn"].max() > 1
    with choices_tried(0):
        assert_frame_equal(irm.to_judge(5, **options), irm.to_judge(**options).head(5))


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["ndcg@10", "recall@10"])
def test_one_query_does_not_take_all(metric: str) -> None:
    """Where its documents do much each by itself, and together little more: what is promised is about what is kept."""
    systems = [(s, q, f"{s}{rank}", rank) for q in range(20) for s in "xy" for rank in range(1, 21)]
    log = pl.DataFrame(systems, ["run", "query", "doc", "rank"], orient="row")
    few = pl.col("query").eq(0) & pl.col("run").eq("x") & (pl.col("rank") <= 2)
    grade = pl.when(pl.col("query") > 0).then(2).when(few).then(1).otherwise(0).cast(pl.Int64)
    log = log.with_columns(grade=pl.when(pl.col("rank") <= 5).then(grade))
    every = irm_of(log).to_judge(metric=metric, baseline="x", max_grade=TOP)
    mine, of_each = every.head(20), every.unique("query", keep="first", maintain_order=True)
    assert every["moves"].sum() <= widths(log, [log.head(0)], unjudged(log).with_columns(truth=0), metric, "x")[0]
    rng, docs = np.random.default_rng(0), unjudged(log)
    truths = [docs.with_columns(truth=pl.Series(rng.choice([0, TOP], len(docs)))) for _ in range(20)]
    left = np.mean([widths(log, [mine, of_each, log.head(0)], truth, metric, "x") for truth in truths], axis=0)
    assert left[0] <= left[1] + 1e-12
    assert mine["moves"].sum() == pytest.approx(left[2] - left[0], rel=0.1)


KEYS = ["metric", "query", "docs"]


def of_choices(log: pl.DataFrame, metrics: Sequence[str], baseline: str | None) -> pl.DataFrame:
    """How much narrower the bounds of a query are once some of its documents are judged, over all these judgments.

    Each document gets 0 or the highest grade; ``least`` and ``most`` are those of any, ``narrowed`` is their mean.
    """
    every, keys = completed(log, (None, 0, TOP)), ["query", "way"]
    found = irm_of(every, query=keys).bounds(*metrics, of="unjudged", baseline=baseline, max_grade=TOP, per_query=True)
    width = found.group_by("metric", *keys).agg(width=(pl.col("upper") - pl.col("lower")).mean())
    asked = every.filter(pl.col("grade").is_not_null()).join(unjudged(log), on=["query", "doc"], how="semi")
    docs = asked.group_by(keys).agg(docs=pl.col("doc").unique().sort().str.join())
    each = width.join(docs, on=keys, how="left").with_columns(pl.col("docs").fill_null(""))
    whole = each.filter(docs="").select("metric", "query", whole="width")
    narrowed = each.join(whole, on=["metric", "query"]).with_columns(narrowed=pl.col("whole") - pl.col("width"))
    ends = (pl.min("narrowed").alias("least"), pl.max("narrowed").alias("most"))
    return narrowed.group_by(KEYS).agg(*ends, pl.mean("narrowed"))


def by_choice(picks: pl.DataFrame, each: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """How much narrower all bounds are by each of several choices of documents."""
    own = picks.group_by(*keys, "query").agg(docs=pl.col("doc").sort().str.join())
    both = own.join(each, on=[key for key in KEYS if key in own.columns])
    return both.group_by("metric", *(key for key in keys if key != "metric")).agg(pl.sum("narrowed"))


def lists_of(
    log: pl.DataFrame, n: int, metrics: Sequence[str], baseline: str | None, each: pl.DataFrame
) -> pl.DataFrame:
    """How much narrower the bounds of metrics are by the first ``n`` documents that are listed."""
    irm = irm_of(log)
    found = [irm.to_judge(n, own, baseline=baseline, max_grade=TOP).with_columns(metric=pl.lit(own)) for own in metrics]
    asked = pl.DataFrame({"metric": metrics}, {"metric": pl.String})
    return asked.join(by_choice(pl.concat(found), each, "metric"), on="metric", how="left").fill_null(0)


CASES = [(None, 3), *(pytest.param(*case, marks=pytest.mark.slow) for case in (("x", 3), (None, 10), ("x", 10)))]


@pytest.mark.parametrize(("baseline", "size"), CASES)
def test_no_choice_of_as_many_documents_narrows_the_bounds_more(baseline: str | None, size: int) -> None:
    """Over all judgments: of all choices in logs of three queries, of 1,000 random ones in logs of ten.

    Of what adds up it is so whatever the judgments are.
    """
    rng = np.random.default_rng(7)
    metrics = [
        metric.replace("1: 5, 2: 2", "1: 2, 2: 5") for metric in EXACT
    ]  # the highest grade has the greatest gain
    logs = runs(rng, 9 if size == 3 else 20).with_columns(log=pl.col("query") // size)
    each = of_choices(logs, metrics, baseline)
    adds = ~pl.col("metric").str.contains("ndcg|recall")
    assert each.filter(adds, pl.col("most") - pl.col("least") > 1e-12).is_empty()
    for turn, (_, log) in enumerate(logs.group_by("log", maintain_order=True), 2):
        n, docs = turn * (1 if size == 3 else 3), unjudged(log)
        some = combinations(range(len(docs)), n) if size == 3 else (rng.permutation(len(docs))[:n] for _ in range(1000))
        choices = np.array([*some])
        picks = docs[choices.ravel()].with_columns(choice=np.arange(len(choices)).repeat(n))
        best = by_choice(picks, each, "choice").group_by("metric").agg(best=pl.max("narrowed"))
        found = lists_of(log, n, metrics, baseline, each).join(best, on="metric")
        assert len(found) == len(metrics)
        assert found.filter(pl.col("narrowed") < pl.col("best") - 1e-9).is_empty()


@pytest.mark.slow
@pytest.mark.parametrize("baseline", [None, "x"])
def test_where_not_all_choices_are_tried_the_first_are_nearly_the_best(baseline: str | None) -> None:
    """A single document is the best one; several narrow the bounds nearly as much as the best choice, or as much."""
    metrics = ["ndcg@3", "recall@3"]
    logs = runs(np.random.default_rng(100), 24).with_columns(log=pl.col("query") // 4)
    each, shares = of_choices(logs, metrics, baseline), []
    for _, log in logs.group_by("log", maintain_order=True):
        for n in (1, 4):
            best = lists_of(log, n, metrics, baseline, each)["narrowed"]
            with choices_tried(0):
                first = lists_of(log, n, metrics, baseline, each)["narrowed"]
            shares.append((first / best).to_list())
    share = np.array(shares)
    assert (share <= 1 + 1e-9).all()
    assert (share[::2] > 1 - 1e-9).all()
    assert share.min() > 0.75
    assert 0.97 < share[1::2].mean() < 1 - 1e-9


def test_the_first_are_the_first_of_all() -> None:
    """With n= there are as many rows, the ones that all begin with; equal ones stand in the order of the frame."""
    log = runs(np.random.default_rng(8), 10)
    every = irm_of(log).to_judge(metric="precision@3")
    assert_frame_equal(irm_of(log).to_judge(4, "precision@3"), every.head(4))
    assert len(every) == len(every.unique(["query", "doc"]))
    assert irm_of(log).to_judge(10_000, "precision@3").equals(every)


def test_rows_of_equal_scores_have_the_ranks_that_documents_give_them() -> None:
    """Also where neither of them has a judgment."""
    log = pl.DataFrame({"query": [1] * 3, "doc": [*"abc"], "score": [1.0, 1.0, 2.0], "grade": [None, None, 1]})
    assert log.irm.to_judge(way="depth").select("doc", "rank").rows() == [("b", 2), ("a", 3)]
    assert log.irm.to_judge(metric="precision@2")["doc"].to_list() == ["b"]


def test_pooling_by_depth() -> None:
    """The best rank in any system, then what more systems found; also of queries without a judgment, or of none."""
    rows = {"query": [1] * 6, "run": [*"aaabbb"], "doc": [*"xyzzyw"], "rank": [1, 2, 3] * 2, "grade": [1, *[None] * 5]}
    log = pl.concat([pl.DataFrame(rows), pl.DataFrame(rows).with_columns(query=pl.lit(2, pl.Int64), grade=None)])
    found = irm_of(log).to_judge(way="depth")
    assert found.columns == ["query", "doc", "rank", "n_systems", "chosen"]
    first = [
        (1, "z", 1, 2),
        (2, "z", 1, 2),
        (2, "x", 1, 1),
        (1, "y", 2, 2),
        (2, "y", 2, 2),
        (1, "w", 3, 1),
        (2, "w", 3, 1),
    ]
    assert [row[:4] for row in found.rows()] == first
    nothing = irm_of(log.drop("grade"), grade=None).to_judge(way="depth")
    assert len(nothing) == 8
    assert irm_of(log).to_judge(metric="precision@2")["query"].unique().to_list() == [1]
    assert irm_of(log, unjudged_queries="count").to_judge(metric="precision@2")["query"].unique().to_list() == [1, 2]


def test_an_empty_list_says_which_queries_were_left_out() -> None:
    """Where only queries without a judgment have something to judge; each way out that it offers gives documents."""
    run = pl.DataFrame({"query": [1, 1, 2, 2, 3, 3], "doc": [*"abcdef"], "score": [2.0, 1.0] * 3})
    people = pl.DataFrame({"query": [1, 1], "doc": [*"ab"], "grade": [1, 0]})
    judged = run.irm.judge(people)
    assert error(lambda: judged.to_judge(4, "precision@2")) == (
        "no judgment moves precision@2: 2 of 3 queries have no judgment yet and are left out, and nothing is left to "
        "judge in the others; pass unjudged_queries='count', which counts those as 0 until somebody judges them, or "
        "way='depth', which looks at ranks alone"
    )
    assert len(judged(unjudged_queries="count").to_judge(4, "precision@2")) == 4
    assert len(judged.to_judge(4, way="depth")) == 4
    assert run[:2].irm.judge(people).to_judge(4, "precision@2").is_empty()  # all is judged


def test_judgments_belong_to_segments_that_they_name() -> None:
    """Else a document that stands in two segments is one row, which moves both."""
    log = runs(np.random.default_rng(9), 4, "xy").filter(pl.col("rank").is_not_null())
    both = pl.concat([log.with_columns(by=pl.lit(by)) for by in "uv"])
    qrels = log.select("query", "doc", "grade").drop_nulls().unique(maintain_order=True)
    irm = irm_of(both.drop("grade"), grade=None, by="by")
    alone = irm.judge(qrels).to_judge(metric="dcg@3", max_grade=TOP)
    once = irm_of(log).to_judge(metric="dcg@3", max_grade=TOP)
    assert_frame_equal(alone, once.with_columns(pl.col("moves") * 2))
    named = pl.concat([qrels.with_columns(by=pl.lit(by)) for by in "uv"])
    each = irm.judge(named).to_judge(metric="dcg@3", max_grade=TOP)
    assert each.columns == ["by", *alone.columns]
    assert_frame_equal(each.filter(by="v").drop("by"), once)
    assert_frame_equal(irm_of(both, by="by").to_judge(metric="dcg@3", max_grade=TOP), each)


@pytest.mark.slow
def test_the_order_in_which_threads_are_done_changes_nothing() -> None:
    """What a document moves in several segments is added up in their order, to the last bit."""
    log = runs(np.random.default_rng(14), 12).filter(pl.col("rank").is_not_null())
    each = [log.with_columns(pl.col("rank") + by, by=pl.lit(by)) for by in range(4)]
    qrels = log.select("query", "doc", "grade").drop_nulls().unique(maintain_order=True)
    irm = irm_of(pl.concat(each).drop("grade"), grade=None, by="by").judge(qrels)
    found = irm.to_judge(metric="dcg@6", max_grade=TOP)
    with small_blocks(1), threads(4):
        for _ in range(5):
            assert irm.to_judge(metric="dcg@6", max_grade=TOP).equals(found)


@pytest.mark.slow
def test_every_kind_of_frame_gives_the_same() -> None:
    """Types are known before anything is read; lists, repeated documents, and judgments beside are no matter."""
    log = runs(np.random.default_rng(10), 5).filter(pl.col("rank").is_not_null())
    asked: Any = {"metric": "ndcg@3", "baseline": "x", "max_grade": TOP}
    found, apart = irm_of(log).to_judge(**asked), bounded(irm_of(log), "ndcg@3", "ap")
    lazy = irm_of(log.lazy())
    assert lazy.to_judge(**asked).collect_schema() == found.schema
    assert bounded(lazy, "ndcg@3", "ap").collect_schema() == apart.schema
    roles = {"query": "query", "doc": "doc", "rank": "rank", "grade": "grade", "system": "run"}
    for frame in (log.lazy(), log.to_pandas(), log.to_arrow()):
        irm = IRM(frame, **roles)  # type: ignore[call-overload]
        assert as_polars(irm.to_judge(**asked)).rows() == found.rows()
        assert as_polars(bounded(irm, "ndcg@3", "ap")).rows() == apart.rows()
    assert isinstance(IRM(log.to_pandas(), **roles).to_judge(**asked), pd.DataFrame)  # type: ignore[call-overload]
    assert isinstance(IRM(log.to_arrow(), **roles).to_judge(**asked), pa.Table)  # type: ignore[call-overload]
    lists = irm_of(log.group_by("query", "run", maintain_order=True).agg("doc", "rank", "grade"))
    twice = irm_of(pl.concat([log, log.with_columns(pl.col("rank") + 20)]), duplicates="first")
    qrels = log.select("query", "doc", "grade").drop_nulls().unique(maintain_order=True)
    beside = irm_of(log.drop("grade"), grade=None).judge(qrels)
    for irm in (lists, twice, beside):
        assert_frame_equal(irm.to_judge(**asked), found)
        assert_frame_equal(bounded(irm, "ndcg@3", "ap"), apart)


@pytest.mark.parametrize(
    ("roles", "options", "match"),
    [
        ({"doc": None, "system": None}, {}, "name doc="),
        ({}, {"n": 0}, "n=0"),
        ({}, {"metric": "ap"}, "ap: the effect of one judgment is not supported; take ndcg or recall"),
        ({}, {"metric": "bpref"}, "bpref has no bounds"),
        ({}, {"metric": "gm_ndcg", "max_grade": 1}, "gm_ndcg: the effect of one judgment is not supported"),
        ({}, {"metric": "gm_ndcg", "max_grade": 1, "baseline": "x"}, "gm_ndcg is an average"),
        ({}, {"metric": "ndcg@10"}, "pass max_grade="),
        ({}, {"way": "best"}, "way='best' is not one of 'bounds', 'depth'"),
        ({}, {"way": "depth"}, "leave metric=, baseline= and max_grade= out"),
        ({}, {"baseline": "z"}, "'z' is not among the systems of run"),
        ({}, {"baseline": ["x", "y"]}, "baseline= is one system here"),
        ({}, {"baseline": ("x", "y")}, "baseline= is one system here"),
        ({"system": None, "by": "run"}, {"baseline": "x"}, "name system="),
        ({"grade": None, "relevant": "lists"}, {}, "lists lists all that is relevant"),
        ({"by": "moves"}, {}, "'moves' is a column of the result"),
        ({"unjudged": "drop"}, {}, "unjudged='drop'"),
    ],
)
def test_what_is_refused(roles: Any, options: Any, match: str) -> None:
    """Before anything is read, in the caller's words."""
    log = pl.DataFrame({"query": [1] * 2, "run": [*"xy"], "doc": [*"ab"], "rank": [1, 1], "grade": [1, None]})
    log = log.with_columns(moves=1, lists=pl.Series([["a"]] * 2))
    assert match in error(lambda: irm_of(log, **roles).to_judge(**({"metric": "precision@1"} | options)))


def test_where_nobody_judged_the_error_says_how_to_begin() -> None:
    """Without a column of judgments, or with one that is empty; other queries may have none."""
    log = runs(np.random.default_rng(13), 3).filter(pl.col("rank").is_not_null())
    begin = "where nobody judged yet, begin with what ranks highest: way='depth'"
    assert begin in error(lambda: irm_of(log.drop("grade"), grade=None).to_judge(3, max_grade=TOP))
    empty = log.with_columns(grade=pl.lit(None, pl.Int64))
    assert begin in error(lambda: irm_of(empty).to_judge(3, max_grade=TOP))
    judged = irm_of(log.drop("grade"), grade=None).judge(log.select("query", "doc", "grade").head(0))
    assert begin in error(lambda: judged.to_judge(3, max_grade=TOP))
    assert len(judged.to_judge(3, way="depth")) == 3
    some = pl.concat([log, empty.with_columns(pl.col("query") + 10)])
    assert irm_of(some).to_judge(max_grade=TOP)["query"].max() < 10


def test_nothing_to_ask_for() -> None:
    """Of an empty log, where all is judged, and where nothing that is open moves anything, there are no rows."""
    log = runs(np.random.default_rng(11), 3)
    assert irm_of(log.clear()).to_judge(metric="precision@1").is_empty()
    assert "run has no systems" in error(lambda: bounded(irm_of(log.clear()), "ndcg@3"))
    assert irm_of(log.with_columns(pl.col("grade").fill_null(0))).to_judge(metric="precision@1").is_empty()
    alike = pl.concat([log.filter(run="x"), log.filter(run="x").with_columns(run=pl.lit("y"))])
    assert irm_of(alike).to_judge(metric="ndcg@3", baseline="x", max_grade=TOP).is_empty()
