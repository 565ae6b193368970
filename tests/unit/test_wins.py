"""The wins, ties and losses of a comparison: of the better system, whichever direction a metric has."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import frame_metrics
from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars

LESS = ("fdr@1", "fdr@3", "error_rate@3", "miss_rate@3", "fallout@3", "fp@3", "fn@3", "brier", "log_loss")
MORE = ("rr", "ndcg@3", "precision@3", "specificity@3", "roc_auc")
UNKNOWN = ("num_ret", "tn@3", "bias@3")  # the greater value counts
COUNTS = ("wins", "ties", "losses")
FEW: dict[str, Any] = {"permutations": 200, "resamples": 100}


def of_two_queries() -> pl.DataFrame:
    """A log in which "bad" has what is not relevant first, for both queries, and "good" what is."""
    rows = {"query": [1, 1, 2, 2] * 2, "run": ["good"] * 4 + ["bad"] * 4, "score": [2.0, 1.0] * 4}
    return pl.DataFrame({**rows, "label": [1, 0] * 2 + [0, 1] * 2})


def counts(found: Any) -> tuple[int, int, int]:
    """The counts of the only row."""
    (row,) = as_polars(found).select(COUNTS).rows()
    return row


def by_hand(metric: str, value: Any, base: Any) -> tuple[int, int, int]:
    """The counts of two columns of numbers."""
    better = base - value if metric in LESS else value - base
    return int((better > 0).sum()), int((better == 0).sum()), int((better < 0).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_a_worse_share_of_false_results_loses(kind: str) -> None:
    """The share of false results is 1 greater for each query, which is no win; the difference stays as it is."""
    irm = IRM(as_kind(of_two_queries(), kind), system="run")
    found = irm.compare("fdr@1", "precision@1", baseline="good")
    rows = as_polars(found).select("metric", "difference", *COUNTS).rows()
    assert rows == [("fdr@1", 1.0, 0, 0, 2), ("precision@1", -1.0, 0, 0, 2)]
    assert counts(irm.compare("fdr@1", baseline="bad")) == (2, 0, 0)


@pytest.mark.parametrize("metric", LESS + MORE + UNKNOWN)
def test_queries_are_won_by_the_better_system(metric: str) -> None:
    """The counts are those of the values by query, with the metrics for which less is better named by hand."""
    rng = np.random.default_rng(0)
    rows = {"query": np.repeat(np.arange(40), 5), "score": np.round(rng.random(200), 1) * 0.9 + 0.05}
    label = rng.random(200) < 0.5
    runs = [pl.DataFrame({**rows, "label": label, "doc": np.arange(200), "run": "a"})]
    runs += [runs[0].with_columns(score=pl.Series(np.round(rng.random(200), 1) * 0.9 + 0.05), run=pl.lit("b"))]
    irm = pl.concat(runs).irm(system="run", doc="doc", collection_size=True)
    each = irm.per_query(metric).drop_nulls("value").pivot("run", index="query", values="value").drop_nulls()
    assert counts(irm.compare(metric, baseline="a", **FEW)) == by_hand(metric, each["b"], each["a"])
    told = irm.compare(metric, baseline="a", test="sign")
    assert told["p_value"].equals(irm.compare(metric, baseline="b", test="sign")["p_value"])


def test_rows_are_won_by_the_better_system() -> None:
    """Of three rows "b" is right about two more than "a", and wins two in every share of them."""
    rows = {"system": ["a"] * 3 + ["b"] * 3, "doc": [0, 1, 2] * 2, "label": [1, 1, 0] * 2}
    frame = pl.DataFrame(rows | {"predicted": [0, 1, 1, 1, 1, 0]})
    found = frame.irm(system="system", doc="doc").compare("accuracy", "error_rate", "miss_rate", "fallout", "recall")
    assert found.select("metric", *COUNTS).rows() == [
        ("accuracy", 2, 1, 0),
        ("error_rate", 2, 1, 0),
        ("miss_rate", 1, 1, 0),
        ("fallout", 1, 0, 0),
        ("recall", 1, 1, 0),
    ]
    assert found["difference"].round(3).to_list() == [0.667, -0.667, -0.5, -1.0, 0.5]
    always = pl.DataFrame({"label": [1, 1, 0], "predicted": [1, 1, 0]}).irm
    assert counts(always.compare("error_rate", against="majority")) == (1, 2, 0)


def test_saved_numbers_have_the_direction_of_their_name() -> None:
    """A name that is ours is known by any spelling, with its cutoff; of a latency the greater number counts."""
    names = ["nDCG@10", "fdr@5", "Brier score", "latency"]
    rows = {"query": [1, 2, 3] * 2, "run": ["old"] * 3 + ["new"] * 3}
    columns = {name: [0.5] * 3 + [0.6, 0.7, 0.4] for name in names}
    found = pl.DataFrame(rows | columns).irm(value=names, system="run").compare(baseline="old")
    assert found.select("metric", *COUNTS).rows() == [
        ("nDCG@10", 2, 0, 1),
        ("fdr@5", 1, 0, 2),
        ("Brier score", 1, 0, 2),
        ("latency", 2, 0, 1),
    ]
    assert found["difference"].round(12).n_unique() == 1


def test_a_saved_baseline_is_beaten_by_less_where_less_is_better() -> None:
    """This run against saved numbers."""
    runs = of_two_queries().partition_by("run", as_dict=True, include_key=False)
    saved = runs["good",].irm.per_query("fdr@1", "rr")
    found = runs["bad",].irm.compare("fdr@1", "rr", baseline=saved)
    assert found.select("difference", *COUNTS).rows() == [(1.0, 0, 0, 2), (-0.5, 0, 0, 2)]


def test_an_own_metric_has_the_direction_that_it_declares() -> None:
    """The same numbers, declared with the best value 0 and with none."""

    @frame_metrics.metric(best=0)
    def share_of_waste(run: frame_metrics.Ranking) -> np.ndarray:
        return 1 - run.hits(1)

    @frame_metrics.metric(best=None)
    def some_share(run: frame_metrics.Ranking) -> np.ndarray:
        return 1 - run.hits(1)

    found = of_two_queries().irm(system="run").compare(share_of_waste, some_share, baseline="good")
    assert found.select(COUNTS).rows() == [(0, 0, 2), (2, 0, 0)]


def test_the_order_in_which_a_sum_is_rounded_wins_nothing() -> None:
    """1/2 + 2/5 + 3/6 + 4/12 and 1/3 + 2/4 + 3/6 + 4/10 are one sum, and so is the mean of eleven precisions."""
    for metric, ranks in (("ap", ([2, 5, 6, 12], [3, 4, 6, 10])), ("iprec_avg", ([1, 5, 9, 10], [2, 3, 5, 12]))):
        rows = [
            (system, rank, int(rank in some)) for system, some in zip("ab", ranks, strict=True) for rank in range(1, 13)
        ]
        log = pl.DataFrame(rows, schema=["system", "rank", "label"], orient="row").with_columns(query=1)
        irm = log.irm(system="system", rank="rank")
        one, other = irm.per_query(metric)["value"]
        assert one != other
        (row,) = irm.compare(metric, test="sign").to_dicts()
        assert (row["wins"], row["ties"], row["losses"], row["p_value"]) == (0, 1, 0, 1)
        assert irm.compare(metric, per_query=True)["difference"].to_list() == [0]
