"""Equal scores in every order: the mean over all of them, in closed form."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import FrameMetricsError, Metric, NotComputableError, metrics
from inside import REGISTRY, FullConfusion, FullRanking

SCHEMA = {"query": pl.Int64, "doc": pl.String, "score": pl.Float64, "grade": pl.Int64}


def complete(metric: Metric) -> Metric:
    """The metric with what it cannot do without."""
    given: dict[str, Any] = dict.fromkeys(metric.missing, 0.5)
    return metric(**given, **({"max_grade": 3} if "max_grade" in metric.options else {}))


OF_RANKS = [
    complete(m)
    for m in REGISTRY.values()
    if m.input in (FullRanking, FullConfusion) and m.judges and not (m.off_policy or m.of_subtopics)
]
MEAN = [m for m in OF_RANKS if m.expected]
ASKED = [*MEAN, *(m @ k for m in MEAN if m.at == "k" for k in (1, 2, 3, 5))]
ASKED += [
    metrics.ap(norm="min(k, R)") @ 3,
    metrics.dcg(gain={0: 1, 1: 2, 2: 3, 3: 5}) @ 3,
    metrics.fbeta(beta=2) @ 3,
    metrics.ndcg(discount="jk") @ 3,
    metrics.ndcg(gain="exp") @ 3,
    metrics.rbp(gain="linear", max_grade=3, p=0.5) @ 3,
]


def random_query(rng: np.random.Generator, query: int, most: int) -> pl.DataFrame:
    """Results of few scores, some of them unjudged, and some judged documents that were not retrieved."""
    n = int(rng.integers(1, most + 1))
    score = [None if rng.random() < 0.15 else float(rng.integers(0, 3)) for _ in range(n)]
    grade = [None if s is not None and rng.random() < 0.2 else int(rng.integers(0, 4)) for s in score]
    return pl.DataFrame({"query": [query] * n, "doc": [*map(str, range(n))], "score": score, "grade": grade}, SCHEMA)


def every_order(log: pl.DataFrame) -> pl.DataFrame:
    """A query in all orders of its equal scores, each as often as any, as queries of their own."""
    found = log.filter(pl.col("score").is_not_null())
    missed = log.filter(pl.col("score").is_null())
    orders = [[*order, *range(len(found), len(log))] for order in itertools.permutations(range(len(found)))]
    query = pl.Series(np.repeat(np.arange(len(orders)), len(log)))
    return pl.concat([found, missed])[np.ravel(orders)].with_columns(query=query)


@pytest.mark.parametrize("cases", [8, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("unjudged", [None, "drop"])
def test_the_closed_form_is_the_mean_over_all_orders(unjudged: Any, cases: int) -> None:
    """For every metric that says it has one, on random queries of up to six documents."""
    rng = np.random.default_rng(0)
    for rel in (1, 2):
        logs: list[pl.DataFrame] = []
        while len(logs) < cases // 2:
            log = random_query(rng, len(logs), 6)
            if (log["grade"].max() or 0) >= rel:  # type: ignore[operator]
                logs.append(log)
        options: Any = {"rel": rel, "collection_size": 10, "unjudged": unjudged}
        orders = pl.concat([every_order(log).with_columns(case=log["query"][0]) for log in logs])
        every = (
            orders.irm(query=["case", "query"], ties="order", **options)
            .per_query(*ASKED, layout="wide")
            .drop("answered")
        )
        given = (
            pl.concat(logs)
            .irm(query="query", ties="expected", **options)
            .per_query(*ASKED, layout="wide")
            .drop("answered")
        )
        by_case = every.drop("query").group_by("case", maintain_order=True)
        names = given.columns[1:]
        count, mean = by_case.agg(pl.col(names).count() / pl.len()), by_case.mean()
        assert given["query"].equals(mean["case"].rename("query"))
        for name in names:
            assert count[name].is_in([0.0, 1.0]).all(), name
            assert given[name].is_not_null().equals(count[name] == 1), name
            assert (given[name] - mean[name]).abs().drop_nulls().max() < 1e-12, name  # type: ignore[operator]


def test_what_the_literature_gives_a_closed_form_has_one() -> None:
    """The metrics of McSherry and Najork, and those that are sums over ranks."""
    asked = {"precision", "recall", "fbeta", "f1", "success", "dcg", "ndcg", "cg", "rbp", "ap", "rr", "rprec"}
    assert asked <= {metric.name for metric in MEAN}


def test_a_metric_that_does_not_add_up_refuses() -> None:
    """Where equal scores have different judgments, it names the ways out; where they have not, there is no question."""
    log = pl.DataFrame({"query": [1, 1, 2, 2], "score": [1.0, 1.0, 2.0, 1.0], "grade": [1, 0, 1, 0]})
    others = [m for m in OF_RANKS if not m.expected]
    assert {"bpref", "infap", "jaccard", "efficiency", "err"} <= {m.name for m in others}
    for metric in [*others, *(m @ 1 for m in others if m.at == "k")]:
        irm = log.irm(query="query", ties="expected", collection_size=10)
        if metric.orders("expected"):
            irm.per_query(metric)
            continue
        with pytest.raises(NotComputableError, match=rf"{metric.name}.*no closed form.*doc=.*order"):
            irm.per_query(metric)
        irm_of_one = log.filter(pl.col("query") == 2).irm(query="query", ties="expected", collection_size=10)
        irm_of_one.per_query(metric)


def test_without_a_cutoff_a_table_asks_for_no_order() -> None:
    """The retrieved set, a prediction and a threshold are the same in every order."""
    log = pl.DataFrame({"query": [1, 1, 1], "score": [1.0, 1.0, 0.5], "grade": [1, 0, 1]})
    irm = log.irm(query="query", ties="expected", collection_size=5)
    assert irm.per_query("jaccard", "lr_positive").equals(irm(ties="order").per_query("jaccard", "lr_positive"))
    for n in range(2, 12):  # the shares of some ties do not add up to a whole number
        tie = pl.DataFrame({"query": [1] * n, "score": [1.0] * n, "grade": [1] + [0] * (n - 1)}).irm(
            collection_size=n + 2
        )
        asked = ("odds_ratio", "fn", "recall", f"recall@{n}", f"fn@{n}", f"success@{n}", "lr_positive")
        for average in ("macro", "micro"):
            names = [name for name in asked if average == "macro" or "success" not in name]
            assert (
                tie(ties="expected")
                .evaluate(*names[:-1], average=average)
                .equals(tie(ties="order").evaluate(*names[:-1], average=average))
            )
    cut = irm(threshold=1)
    assert cut.per_query("jaccard", "roc_auc").equals(cut(ties="order").per_query("jaccard", "roc_auc"))


def test_by_hand() -> None:
    """One relevant document among three of a score: it stands first, second and third equally often."""
    log = pl.DataFrame({"query": [1] * 4, "score": [2.0, 1.0, 1.0, 1.0], "grade": [0, 1, 0, 0]})
    found = log.irm(query="query", ties="expected").per_query("rr", "ap", "success@2", "dcg@3", "precision@2", "f1@2")
    third = 1 / 3
    mean_rr = third * (1 / 2 + 1 / 3 + 1 / 4)
    mean_dcg = third * (1 / np.log2(3) + 1 / np.log2(4))
    assert found["value"].to_list() == pytest.approx([mean_rr, mean_rr, third, mean_dcg, third / 2, third * 2 / 3])
    two = pl.DataFrame({"query": [1] * 3, "score": [1.0] * 3, "grade": [1, 1, 0]})
    found = two.irm(query="query", ties="expected").per_query("rr", "ap", "success@1", "rprec")
    # the other document stands first, second or third: rr 1/2, 1, 1; ap (1/2 + 2/3) / 2, (1 + 2/3) / 2, 1
    mean_ap = ((1 / 2 + 2 / 3) / 2 + (1 + 2 / 3) / 2 + 1) / 3
    assert found["value"].to_list() == pytest.approx([(1 / 2 + 1 + 1) / 3, mean_ap, 2 / 3, 2 / 3])


@pytest.mark.slow
@pytest.mark.parametrize("queries", [1000, pytest.param(4_000, marks=pytest.mark.slow)])
def test_the_mean_lies_between_the_worst_and_the_best_order(queries: int) -> None:
    """For every metric that declares itself monotone, in its own direction, on random queries."""
    rng = np.random.default_rng(1)
    log = pl.concat([random_query(rng, query, 12) for query in range(queries)])
    asked = [*OF_RANKS, *(m @ k for m in OF_RANKS if m.at == "k" for k in (1, 3, 5))]
    asked = [m for m in asked if m.bounded]
    irm = log.irm(query="query", collection_size=20)
    worst, best = (irm(ties=ties).per_query(*asked, layout="wide").drop("answered") for ties in ("worst", "best"))
    mean = irm(ties="expected").per_query(*(m for m in asked if m.orders("expected")), layout="wide").drop("answered")
    assert len(worst) > 0.95 * queries
    differ = 0
    for metric in asked:
        name, up = str(metric), metric.higher is not False
        low, high = (worst[name], best[name]) if up else (best[name], worst[name])
        assert (low <= high + 1e-12).all(), name
        if name in mean.columns:
            assert ((low <= mean[name] + 1e-12) & (mean[name] <= high + 1e-12)).all(), name
            differ += int(((low + 1e-9 < mean[name]) & (mean[name] < high - 1e-9)).sum() > 0)
    assert differ > 60


def test_judgments_beside_and_known_counts_are_those_of_the_documents() -> None:
    """What a value is divided by comes from the judgments, whatever the order."""
    run = pl.DataFrame({"query": ["a"] * 2, "doc": ["x", "y"], "score": [1.0, 1.0]})
    qrels = pl.DataFrame({"query": ["a"] * 3, "doc": ["x", "y", "z"], "grade": [2, 0, 1]})
    found = run.irm(ties="expected").judge(qrels).per_query("recall@1", "ndcg@1", "cg@1", "ap")["value"].to_list()
    assert found == pytest.approx([1 / 4, 1 / 2, 1, (1 + 1 / 2) / 2 / 2])
    log = run.with_columns(grade=pl.Series([1, 0]), total=pl.lit(4))
    found = log.irm(query="query", ties="expected", n_relevant="total").per_query("recall@1", "ap")["value"].to_list()
    assert found == pytest.approx([1 / 8, 3 / 4 / 4])


def test_one_order_cannot_be_explained_where_there_are_many() -> None:
    """explain() says so."""
    log = pl.DataFrame({"query": [1, 1], "score": [1.0, 1.0], "grade": [1, 0]})
    with pytest.raises(NotComputableError, match="one order"):
        log.irm(query="query", ties="expected").explain("rr", query=1)


def test_averages_and_comparisons_take_the_mean_too() -> None:
    """evaluate(), with micro averages, and compare() rest on the same values."""
    log = pl.DataFrame(
        {"query": [1, 1, 2, 2] * 2, "system": ["a"] * 4 + ["b"] * 4, "score": [1.0] * 8, "grade": [1, 0, 0, 1] * 2}
    ).with_columns(score=pl.when(pl.col("system") == "b").then(pl.col("grade")).otherwise("score"))
    irm = log.irm(query="query", system="system", ties="expected")
    assert irm.evaluate("precision@1", average="micro")["value"].to_list() == [0.5, 1.0]
    assert irm.compare("rr")["difference"].to_list() == [0.25]


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_scikit_learn_averages_over_ties_too(k: int | None) -> None:
    """Its dcg and nDCG of one list are ours, whatever the cutoff."""
    from sklearn.metrics import dcg_score, ndcg_score

    rng = np.random.default_rng(2)
    grade, score = rng.integers(0, 4, (50, 12)), rng.integers(0, 4, (50, 12)).astype(float)
    log = pl.DataFrame({"query": np.repeat(np.arange(50), 12), "score": score.ravel(), "grade": grade.ravel()})
    cut = "" if k is None else f"@{k}"
    ours = log.irm(query="query", ties="expected").per_query(f"dcg{cut}", f"ndcg{cut}", layout="wide").drop("answered")
    for lists, theirs in ((ours[f"dcg{cut}"], dcg_score), (ours[f"ndcg{cut}"], ndcg_score)):
        expected = [theirs([one], [by], k=k) for one, by in zip(grade, score, strict=True)]
        assert lists.to_list() == pytest.approx(expected, abs=1e-12)


def test_a_rank_leaves_no_tie() -> None:
    """Where rank orders the results, equal scores are no tie."""
    log = pl.DataFrame({"query": [1, 1], "rank": [1, 2], "score": [1.0, 1.0], "grade": [0, 1]})
    assert log.irm(query="query", rank="rank", score="score", ties="expected").per_query("rr")["value"].item() == 0.5


def test_an_unknown_rule_is_refused() -> None:
    """The message has the rules that there are."""
    with pytest.raises(FrameMetricsError, match="expected"):
        pl.DataFrame().irm(ties="mean")  # type: ignore[attr-defined]


def test_a_grade_just_below_0_gains_nothing_in_any_order() -> None:
    """Two documents of one score, of grades 1 and -1/2: the gain is 1 at either rank, and 0 at the other."""
    log = pl.DataFrame({"query": [1, 1], "score": [1.0, 1.0], "grade": [1.0, -0.5]}).irm(ties="expected")
    found = log.per_query("cg@1", "dcg@2", "ndcg@2", layout="wide").drop("answered").row(0)[1:]
    dcg = (1 + 1 / np.log2(3)) / 2
    assert found == pytest.approx((1 / 2, dcg, dcg))
