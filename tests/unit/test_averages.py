"""Averages over queries: by hand, by segment, with margins, weights and intervals."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.testing as pl_testing
import pytest
import sklearn.metrics as skl

from frame_metrics import IRM, BadValueError, ColumnError, NotComputableError
from helpers import KINDS, as_kind, as_polars
from inside import REGISTRY, Array, FullConfusion, Units, draws, expanded_level, read, registered, resampled, threads
from refusals import check


def values(frame: pl.DataFrame, column: str = "value") -> list[Any]:
    return frame[column].to_list()


def four_queries() -> pl.DataFrame:
    """Reciprocal ranks 1, 1/2, 1/4 and, with nothing relevant, 0; retrieved relevant documents 2, 1, 1 and 0."""
    rows = {"a": [1, 1], "b": [0, 1], "c": [0, 0, 0, 1], "d": [0, 0]}
    return pl.DataFrame(
        [(query, float(-i), grade) for query, grades in rows.items() for i, grade in enumerate(grades)],
        schema=["query", "score", "grade"],
        orient="row",
    )


def weighted(weights: dict[str, float]) -> pl.DataFrame:
    by_query = pl.DataFrame({"query": list(weights), "w": [float(w) for w in weights.values()]})
    return four_queries().join(by_query, on="query", maintain_order="left")


# By hand


def test_a_macro_average_is_the_mean_over_queries() -> None:
    """Every query counts the same, those without a relevant document with 0."""
    found = four_queries().irm.evaluate("rr", "ap", "recall")
    assert found.columns == ["metric", "k", "average", "value", "n", "n_undefined"]
    assert values(found) == pytest.approx([(1 + 1 / 2 + 1 / 4) / 4, (1 + 1 / 2 + 1 / 4) / 4, 3 / 4])
    assert found.select("average", "n", "n_undefined").unique().rows() == [("macro", 4, 1)]


def test_undefined_values_leave_the_mean_or_stand_in_it() -> None:
    """`undefined=` says what a/0 counts as; n is what the mean rests on, n_undefined how many were a/0."""
    log = four_queries()
    rows = {
        "zero": (1.75 / 4, 4, 1),
        "one": (2.75 / 4, 4, 1),
        "null": (1.75 / 3, 3, 1),
        None: (1.75 / 4, 4, 1),
    }
    for option, expected in rows.items():
        assert log.irm(undefined=option).evaluate("rr").select("value", "n", "n_undefined").row(0) == expected


def test_a_metric_whose_reference_gives_nothing_leaves_undefined_queries_out() -> None:
    """Specificity of a query with relevant documents only is null by default, and not in the mean."""
    log = four_queries().with_columns(size=pl.len().over("query"))
    found = log.irm(collection_size="size").evaluate("specificity", "rr")
    assert found.select("value", "n", "n_undefined").rows() == [(0, 3, 1), (1.75 / 4, 4, 1)]


def test_a_mean_over_nothing_defined_is_null() -> None:
    """Where every query is undefined and left out, the value is null and n is 0."""
    log = pl.DataFrame({"query": [1, 2], "score": [1.0, 1.0], "grade": [0, 0]})
    found = log.irm(undefined="null").evaluate("rr", "num_ret")
    assert found.select("value", "n", "n_undefined").rows() == [(None, 0, 2), (2, 2, 0)]
    assert log.irm(undefined="null").evaluate("rr", average="gmean")["value"].item() is None


def test_weights_are_the_shares_of_queries_in_the_mean() -> None:
    """Naming `weight` makes the macro average a weighted one; weights need not add up to 1."""
    found = weighted({"a": 3, "b": 0.5, "c": 0, "d": 1.5}).irm(weight="w").evaluate("rr", "num_ret")
    assert values(found) == pytest.approx([(3 * 1 + 0.5 / 2) / 5, 10])
    assert values(found, "average") == ["weighted", "sum"]
    assert values(found, "n") == [4, 4]


def test_weights_are_those_of_the_queries_that_are_defined() -> None:
    """A query that is left out takes its weight along."""
    found = weighted({"a": 3, "b": 0.5, "c": 0, "d": 1.5}).irm(weight="w", undefined="null").evaluate("rr")
    assert values(found) == pytest.approx([(3 * 1 + 0.5 / 2) / 3.5])
    assert values(found, "n") == [3]


def test_equal_weights_change_nothing_but_the_name() -> None:
    """Weights that are all the same give the plain mean."""
    log = weighted(dict.fromkeys("abcd", 2.5))
    asked = ("rr", "ap", "ndcg", "precision@2")
    assert values(log.irm(weight="w").evaluate(*asked)) == pytest.approx(values(log.irm.evaluate(*asked)))


def test_weights_that_are_all_0_give_null() -> None:
    """A mean of no weight is undefined."""
    assert values(weighted(dict.fromkeys("abcd", 0)).irm(weight="w").evaluate("rr")) == [None]


def test_weights_can_be_asked_for() -> None:
    """`average="weighted"` is what naming the weights does; without them it is an error."""
    log = weighted({"a": 3, "b": 0.5, "c": 0, "d": 1.5})
    one, other = (log.irm(weight="w").evaluate("rr", average=a) for a in ("weighted", None))
    assert one.equals(other)
    assert one["average"].item() == "weighted"
    with pytest.raises(ColumnError, match="weight="):
        log.irm.evaluate("rr", average="weighted")


def test_the_average_that_is_asked_for_is_the_one_given() -> None:
    """`average="macro"` is the plain mean, weights or not, and of a count too."""
    log = weighted({"a": 3, "b": 0.5, "c": 0, "d": 1.5})
    found = log.irm(weight="w").evaluate("rr", "num_rel_ret", average="macro", ci=0.9)
    assert found.drop("n_effective").equals(log.irm.evaluate("rr", "num_rel_ret", average="macro", ci=0.9))
    assert found["n_effective"].to_list() == [4, 4]
    assert found.select("average", "value").rows() == [("macro", 1.75 / 4), ("macro", 1.0)]
    for average, said in (("weighted", "weighted"), ("gmean", "gmean"), (None, "sum")):
        assert log.irm(weight="w").evaluate("num_rel_ret", average=average)["average"].item() == said


TWO_RUNS = pl.DataFrame({"run": ["x", "y"], "query": [1, 1], "score": [1.0, 1.0], "grade": [1, 0]})
REFUSALS = r"""
four_queries().with_columns(w=pl.int_range(pl.len()).cast(pl.Float64)).irm(weight="w").evaluate("rr")
    BadRowsError: w: 6 of 10 rows differ from another row of their query (rows 1, 3, 5); give each query one value
four_queries().with_columns(w=pl.lit(-1.0)).irm(weight="w").evaluate("rr")
    BadRowsError: w: 10 of 10 rows are negative (rows 0, 1, 2); 0 is the least, and leaves them out of means
four_queries().with_columns(w=pl.lit(None, dtype=pl.Float64)).irm(weight="w").evaluate("rr")
    BadRowsError: w: 10 of 10 rows have no weight (rows 0, 1, 2); give every row one
    but: four_queries().with_columns(w=pl.lit(2)).irm(weight="w").evaluate("rr")
TWO_RUNS.with_columns(w=pl.Series([1.0, 2.0])).irm(system="run", weight="w").evaluate("rr")
    BadRowsError: w: 1 of 2 rows differs from another system in the value of its query (row 1);[...]
    but: TWO_RUNS.with_columns(w=2.0).irm(system="run", weight="w").evaluate("rr")
four_queries().irm.evaluate("rr", average=VALUE)
    for: "MACRO", "", True
    UnknownNameError: average=VALUE is not one of 'macro', [...]
four_queries().irm.evaluate("rr", average="mean")
    UnknownNameError: average='mean' is called 'macro', or 'weighted' where queries or classes have weights
four_queries().irm.evaluate("rr", margins=True)
    ColumnError: margins=True adds the totals over segments; name the segments with by=
    but: four_queries().irm.evaluate("rr", average="macro")
four_queries().irm.evaluate("rr", ci=VALUE)
    for: 0, 1, 95, -0.5, True, "0.95", math.nan
    BadValueError: ci=VALUE is not a level between 0 and 1, as 0.95
four_queries().irm.evaluate("rr", ci=1 - 1e-16)
    BadValueError: ci=0.9999999999999999 is so near to 1 that floats cannot tell them apart; pass a lesser level
    but: four_queries().irm.evaluate("rr", ci=np.float32(0.9999))
    but: four_queries().irm.evaluate("rr", ci=1 - 2.3e-16)
four_queries().irm.evaluate("rr", ci=0.95, resamples=VALUE)
    for: 0, 1.5, True
    BadValueError: resamples=VALUE is not a whole number from 1
four_queries().irm.evaluate("rr", ci=0.95, seed=VALUE)
    for: -1, "x"
    BadValueError: seed=VALUE is not a whole number from 0
    but: four_queries().irm.evaluate("rr", ci=0.95, resamples=1, seed=1)
clicks().with_columns(w=1.0).irm(query="user", weight="w").evaluate("gauc")
    ColumnError: gauc weighs queries by their rows, and w would weigh them too; pass weight=None
clicks().with_columns(w=1.0).irm(query="user", weight="w").evaluate("rr", average="rows")
    ColumnError: average='rows' weighs queries by their rows, and w would weigh them too; pass weight=None
clicks().drop("user").irm.evaluate("gauc")
    NotComputableError: gauc is an average over queries; name query=
pl.concat([clicks().with_columns(model=pl.lit(name)) for name in "xy"]).irm(query="user",
        system="model").compare("gauc")
    NotComputableError: gauc is an average, and compare() needs metrics of single queries
    but: clicks().irm(query="user").evaluate("gauc", "rr", average="rows")
four_queries().with_columns(w=pl.lit(2)).irm(weight="w").evaluate("precision", average="micro")
    ColumnError: average='micro' sums over all queries before it divides, and no weight enters; pass weight=None
    but: four_queries().with_columns(w=pl.lit(2)).irm(weight="w").evaluate("precision", average="weighted")
pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1e308, 1e308]}).irm.evaluate("cg")
pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1e308, 1e308]}).irm.evaluate("ndcg")
    BadValueError: the gain of grade 1e+308 with gain='linear' overflows where gains are added; rescale it
    but: pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1e300, 1e300]}).irm.evaluate("cg", "ndcg")
"""


def test_averages_and_weights_that_there_are_not() -> None:
    """Weights that are not one for a query, and averages and intervals that there are not, are refused."""
    check(REFUSALS, globals())


def test_the_judgments_may_hold_the_weights_of_queries_without_results() -> None:
    """A judged query that no system answered is weighed by the judgments' column, or is an error."""
    log = pl.DataFrame({"query": ["a"], "doc": ["x"], "score": [1.0], "w": [3.0]})
    qrels = pl.DataFrame({"query": ["a", "b"], "doc": ["x", "x"], "grade": [1, 1], "w": [3.0, 1.0]})
    assert values(log.irm(weight="w").judge(qrels).evaluate("rr")) == [0.75]
    with pytest.raises(BadValueError, match="'w'"):
        log.irm(weight="w").judge(qrels.drop("w")).evaluate("rr")


SIZED = {
    "in both": {"in_log": True, "beside": True},
    "in the judgments": {"in_log": False, "beside": True},
}


@pytest.mark.parametrize("where", SIZED)
@pytest.mark.parametrize("kind", KINDS)
def test_the_judgments_may_hold_the_collection_sizes_of_queries_without_results(where: str, kind: str) -> None:
    """A column of sizes gives what the number gives, in all averages: a query without results has true negatives.

    One query of the log has no judgment, and is in no mean.
    """
    log = pl.DataFrame({"query": [1, 2, 9], "doc": [*"xxx"], "score": [2.0, 1.0, 1.0], "size": [100, 50, 7]})
    qrels = pl.DataFrame({"query": [1, 2, 3], "doc": [*"xxq"], "grade": [0, 1, 1], "size": [100, 50, 20]})
    run = as_kind(log if SIZED[where]["in_log"] else log.drop("size"), kind)
    irm = IRM(run, collection_size="size").judge(as_kind(qrels, kind))
    found = as_polars(irm.evaluate("tn", "accuracy", average=["macro", "micro"])).drop("k")
    assert found.select("metric", "average", "value", "n").rows() == [
        ("tn", "macro", pytest.approx((99 + 49 + 19) / 3), 3),
        ("tn", "sum", 99 + 49 + 19, 3),
        ("accuracy", "macro", pytest.approx((0.99 + 1 + 0.95) / 3), 3),
        ("accuracy", "micro", pytest.approx(168 / 170), 3),
    ]


def test_a_collection_size_that_nobody_says_is_an_error_where_it_is_read() -> None:
    """True negatives of a judged query without results need its collection's size, as its mean needs its weight."""
    log = pl.DataFrame({"query": [1], "doc": ["x"], "score": [2.0], "size": [100]})
    irm = log.irm(collection_size="size").judge(pl.DataFrame({"query": [1, 3], "doc": ["x", "q"], "grade": [0, 1]}))
    assert values(irm.evaluate("recall")) == [0]
    for call in (irm.evaluate, irm.per_query):
        with pytest.raises(BadValueError, match="size: 1 judged queries without results have no collection_size"):
            call("fallout")
    assert irm.audit().filter(check="queries without a collection size")["example"].item() == "3"
    other = pl.DataFrame({"query": [1, 3], "doc": ["x", "q"], "grade": [0, 1], "size": [99, 5]})
    with pytest.raises(BadValueError, match="size: log and judgments differ in the value of a query"):
        irm.judge(None).judge(other).evaluate("fallout")


def test_a_geometric_mean_has_a_floor() -> None:
    """exp of the mean of logarithms, values below 1e-5 taken as 1e-5."""
    found = four_queries().irm.evaluate("rr", average="gmean")
    assert values(found) == pytest.approx([(1 * 1 / 2 * 1 / 4 * 1e-5) ** (1 / 4)])
    assert values(found, "average") == ["gmean"]
    assert values(four_queries().irm(undefined="null").evaluate("rr", average="gmean")) == pytest.approx([1 / 2])


def test_a_geometric_mean_is_weighted_too() -> None:
    """With weights, it is exp of the weighted mean of logarithms."""
    found = weighted({"a": 2, "b": 1, "c": 1, "d": 0}).irm(weight="w").evaluate("rr", average="gmean")
    assert values(found) == pytest.approx([(1 / 2 * 1 / 4) ** (1 / 4)])


@pytest.mark.parametrize("average", ["macro", "weighted", "gmean"])
def test_a_mean_of_equal_values_is_that_value(average: str) -> None:
    """Rounded sums take no mean of equal values below or above them, in segments, comparisons and over classes too."""
    equal = pl.DataFrame({"query": range(300), "value": [n / 100 for n in range(1, 101) for _ in range(3)]})
    equal = equal.with_columns(segment="value", w=pl.col("query") % 7 + 1.1, system=pl.lit("a"))
    irm = equal.irm(value="value", by="segment", **({"weight": "w"} if average == "weighted" else {}))
    means = irm.evaluate(average=average)
    assert values(means) == values(means, "segment")
    both = pl.concat([equal, equal.with_columns(pl.col("value") / 2, system=pl.lit("b"))])
    compared = both.irm(value="value", system="system", by="segment").compare(baseline="a")
    assert compared["baseline_value"].to_list() == compared["segment"].to_list()
    classes = pl.DataFrame({"label": [*"abcabc"] * 5, "predicted": [*"abcabc"] * 3 + [*"bcabca"] * 2})
    assert classes.irm().evaluate("recall", average="macro")["value"].item() == 0.6


def test_a_micro_average_is_the_metric_of_the_summed_counts() -> None:
    """Counts are pooled over the queries, and the metric is computed once."""
    found = (
        four_queries()
        .irm(collection_size=10)
        .evaluate("precision", "recall", "f1", "precision@2", "fallout", "mcc", average="micro")
    )
    tp, fp, fn, tn = 4, 6, 0, 30
    mcc = (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert values(found) == pytest.approx([0.4, 1, 2 * 0.4 / 1.4, 3 / 8, 6 / 36, mcc])
    assert values(found, "average") == ["micro"] * 6
    assert values(found, "n") == [4] * 6
    assert values(found, "n_undefined") == [0, 1, 0, 0, 0, 1]


def test_a_micro_average_of_parts_over_no_query_is_null() -> None:
    """A metric whose micro average has sums of its own is asked for where nothing is evaluated."""
    nothing = pl.DataFrame({"query": [1], "rank": [1], "doc": ["a"], "label": pl.Series([None], dtype=pl.Int64)})
    found = nothing.irm(popularity={"a": 1}).evaluate("mean_click_position", "average_popularity", average="micro")
    assert found.select("value", "n", "n_undefined").rows() == [(None, 0, 0)] * 2


def test_a_micro_average_counts_places_that_were_not_filled() -> None:
    """precision@k of the pooled counts divides by k for each query."""
    log = pl.DataFrame({"query": [1, 2, 2, 2], "score": [1.0, 3.0, 2.0, 1.0], "grade": [1, 0, 1, 1]})
    assert values(log.irm.evaluate("precision@3", "f1@3", average="micro")) == pytest.approx([3 / 6, 2 * 3 / (6 + 3)])


def test_a_micro_average_of_undefined_queries_rests_on_their_counts() -> None:
    """A query for which the metric is a/0 still brings its counts; only counts that sum to a/0 are undefined."""
    log = pl.DataFrame({"query": [1, 2], "score": [1.0, 1.0], "grade": [1, 0]})
    found = log.irm(undefined="null").evaluate("recall", "f1", average="micro")
    assert found.select("value", "n", "n_undefined").rows() == [(1, 2, 1), (pytest.approx(2 / 3), 2, 0)]
    nothing = log.filter(pl.col("query") == 2)
    assert values(nothing.irm(undefined="null").evaluate("recall", average="micro")) == [None]
    assert values(nothing.irm(undefined="one").evaluate("recall", average="micro")) == [1]
    assert values(nothing.irm.evaluate("recall", average="micro")) == [0]


def test_every_micro_average_is_the_metric_of_one_table() -> None:
    """For every measure of the 2x2 table, pooling queries is the metric of one query with the same counts."""
    random = np.random.default_rng(0)
    n = 200
    log = pl.DataFrame({"query": np.arange(n) // 10, "score": random.random(n), "grade": random.integers(0, 2, n)})
    log = log.with_columns(
        score=pl.when(pl.col("grade").is_not_null() & (pl.int_range(pl.len()) % 3 > 0)).then("score")
    )
    asked = ["precision", "recall", "accuracy", "kappa", "mcc", "jaccard", "informedness", "markedness", "odds_ratio"]
    asked += ["avg_f", "avg_g", "fbeta(beta=2)", "balanced_accuracy", "npv", "bias", "prevalence", "payoff", "utility"]
    one = log.with_columns(query=pl.lit(1)).irm(collection_size=20 * 100).per_query(*asked)
    assert values(log.irm(collection_size=100).evaluate(*asked, average="micro")) == pytest.approx(values(one))


def test_only_measures_of_the_table_have_a_micro_average() -> None:
    """A metric of a ranking has no counts to sum, and says so; counts are summed unless another mean is asked for."""
    with pytest.raises(NotComputableError, match="ndcg has no micro average"):
        four_queries().irm.evaluate("precision", "ndcg", average="micro")
    for average in (None, "micro"):
        found = four_queries().irm.evaluate("num_rel_ret", "tp", "num_q", average=average)
        assert values(found) == [4, 4, 4]
        assert values(found, "average") == ["sum"] * 3


# Quantiles


QUANTILES = {"median": 0.5, "min": 0.0, "max": 1.0, "q0.9": 0.9, "q.25": 0.25, "q0": 0.0, "q1": 1.0, "q0.333": 0.333}


def spread(queries: int = 40) -> pl.DataFrame:
    """Queries of one to six results, of some of which nothing is relevant, with users and devices."""
    random = np.random.default_rng(8)
    parts = []
    for query in range(queries):
        n = int(random.integers(1, 7))
        one = {"query": [query] * n, "score": random.random(n), "grade": random.integers(0, 2, n)}
        where = {"user": [query % 11] * n, "device": [["phone", "desk", None][query % 3]] * n}
        parts.append(pl.DataFrame(one | where))
    return pl.concat(parts)


def test_the_median_by_hand() -> None:
    """Reciprocal ranks 1, 1/2, 1/4 and 0; of an even number, the middle between the two in the middle."""
    said: list[tuple[Any, float]] = [
        *(("median", 0.375), ("min", 0), ("max", 1), ("q0.9", 1 / 2 + 0.7 * 1 / 2), ("q0.5", 0.375)),
    ]
    for average, value in said:
        row = four_queries().irm.evaluate("rr", average=average).row(0, named=True)
        assert (row["average"], row["n"], row["n_undefined"]) == (average, 4, 1)
        assert row["value"] == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("average", QUANTILES)
def test_a_quantile_is_that_of_numpy_polars_and_pandas(average: Any) -> None:
    """Of the values of queries, in every segment and total, with and without undefined ones; of a count too."""
    level, log = QUANTILES[average], spread()
    for undefined in (None, "null"):
        irm = log.irm(by="device", undefined=undefined)
        each = irm.per_query("rr", "num_rel_ret", "recall", layout="wide").drop("answered")
        found = irm.evaluate("rr", "num_rel_ret", "recall", average=average, margins=True)
        assert found["average"].unique().to_list() == [average]
        for device in (None, "phone", "desk"):
            for name in ("rr", "num_rel_ret", "recall"):
                here = pl.col("device").eq_missing(pl.lit(device))
                own = each.filter(here)[name].drop_nulls()
                row = found.filter(here, pl.col("total_over").is_null(), metric=name).row(0, named=True)
                assert row["n"] == len(own)
                assert row["value"] == pytest.approx(np.quantile(own.to_numpy(), level), abs=1e-14)
                assert row["value"] == pytest.approx(own.quantile(level, interpolation="linear"), abs=1e-14)
        by_pandas = each.to_pandas().groupby("device", dropna=False)["rr"].quantile(level)
        own = found.filter(pl.col("total_over").is_null(), metric="rr")
        assert values(own) == pytest.approx(by_pandas.tolist(), abs=1e-14)
        total = found.filter(total_over="device").drop("device", "total_over")
        assert total.equals(log.irm(undefined=undefined).evaluate("rr", "num_rel_ret", "recall", average=average))


def test_a_quantile_of_values_without_an_end() -> None:
    """Infinite values are in order too, and between a finite one and an infinite one it is infinite."""

    @registered(undefined=None, range=(0, math.inf), best=None)
    def odds(table: FullConfusion) -> Array:
        """Relevant documents by other ones."""
        with np.errstate(divide="ignore"):
            return table.tp / table.fp

    log = pl.DataFrame({"query": [1, 2, 3, 3, 4], "score": [1.0] * 5, "label": [1, 1, 1, 0, 1]})
    try:
        for average, value in (("min", 1), ("q0.1", math.inf), ("median", math.inf), ("max", math.inf)):
            asked: Any = average
            assert values(log.irm.evaluate(odds, average=asked)) == [value]
    finally:
        del REGISTRY["odds"]


@pytest.mark.parametrize("average", ["median", "q0.9", "max"])
def test_the_interval_of_a_quantile_is_that_of_a_plain_bootstrap(average: Any) -> None:
    """The ends are those of the quantiles of whole clusters that are drawn with the same seed."""
    log = spread().filter(pl.col("device") == "phone")
    irm = log.irm(cluster="user", undefined="null")
    found = irm.evaluate("rr", average=average, ci=0.9, resamples=200, seed=3)
    each = irm.per_query("rr").join(log.select("query", "user").unique(), on="query", maintain_order="left")
    own, unit = each["value"].to_list(), each["user"].to_list()
    units = list(dict.fromkeys(unit))
    often = 10_000 if len(units) < 20 else 200
    drawn = np.random.default_rng([3, 0]).integers(0, len(units), (often, len(units)))
    ends = []
    for draw in drawn:
        some = [v for u in draw for v, of in zip(own, unit, strict=True) if of == units[u] and v is not None]
        ends += [np.quantile(some, QUANTILES[average])] if some else []
    tail = (1 - expanded_level(0.9, len({of for v, of in zip(own, unit, strict=True) if v is not None}))) / 2
    expected = tuple(np.quantile(ends, [tail, 1 - tail]))
    assert found.select("ci_low", "ci_high").row(0) == pytest.approx(expected, abs=1e-12)


def test_intervals_of_other_averages_are_not_moved_by_a_quantile() -> None:
    """Averages that are asked for together have the intervals that they have alone."""
    log, both = spread(), ["macro", "median", "gmean", "q0.9"]
    averages: Any = both
    found = log.irm(by="device", cluster="user").evaluate("rr", "num_ret", average=averages, ci=0.8, margins=True)
    for average in both:
        one: Any = average
        alone = log.irm(by="device", cluster="user").evaluate("rr", "num_ret", average=one, ci=0.8, margins=True)
        pl_testing.assert_frame_equal(found.filter(average=average), alone, abs_tol=1e-12)


def test_fewer_than_two_defined_queries_have_a_quantile_without_an_interval() -> None:
    """One value is its own quantile; none has none."""
    log = pl.DataFrame({"query": [1, 2, 3], "score": [1.0] * 3, "grade": [1, 0, 0], "seg": [*"uuv"]})
    found = log.irm(by="seg", undefined="null").evaluate("rr", average="median", ci=0.9)
    assert found.select("value", "n", "ci_low", "ci_high").rows() == [(1, 1, None, None), (None, 0, None, None)]


@pytest.mark.parametrize("average", ["median", "min", "max", "q0.9"])
def test_a_quantile_takes_no_weight(average: Any) -> None:
    """It is an error that says so, in a list of averages too, before anything is read."""
    log = weighted({"a": 3, "b": 0.5, "c": 0, "d": 1.5}).irm(weight="w")
    said = f"average='{average}' puts the values of queries in order, and no weight enters; pass weight=None"
    for averages in (average, ["macro", average]):
        with pytest.raises(ColumnError, match=f"^{re.escape(said)}$"):
            log.evaluate("rr", average=averages)
    assert log(weight=None).evaluate("rr", average=average)["n"].item() == 4


def test_a_quantile_in_a_wide_row() -> None:
    """Its columns are those of any average."""
    found = spread().irm(undefined="null").evaluate("rr", "num_ret", average="median", layout="wide", ci=0.9)
    assert found.columns[:4] == ["average", "n", "rr", "rr_n"]
    assert found.row(0)[:2] == ("median", 40)


# Several averages


def test_several_averages_in_one_call() -> None:
    """A row for each, in their order, behind each metric; a list of one is a list."""
    averages: Any = ["micro", "macro", "median"]
    found = four_queries().irm.evaluate("recall", "num_ret", average=averages)
    assert found.select("metric", "average").rows() == [
        *(("recall", "micro"), ("recall", "macro"), ("recall", "median")),
        *(("num_ret", "sum"), ("num_ret", "macro"), ("num_ret", "median")),
    ]
    assert values(found) == [1, 0.75, 1, 10, 2.5, 2]
    one = four_queries().irm
    assert one.evaluate("recall", average=["macro"]).equals(one.evaluate("recall", average="macro"))


def test_a_metric_with_an_average_of_its_own_has_one_row() -> None:
    """`gm_` names it, whatever is asked for."""
    found = four_queries().irm.evaluate("gm_rr", "rr", average=["macro", "max"])
    assert found.select("metric", "average").rows() == [("gm_rr", "gmean"), ("rr", "macro"), ("rr", "max")]


def test_each_of_several_averages_is_the_one_it_is_alone() -> None:
    """With segments, totals, weights, systems and intervals."""
    log = pl.concat([spread().with_columns(run=pl.lit(run)) for run in "ab"]).with_columns(w=pl.col("query") + 1.0)
    averages: Any
    for averages, weight in ((["weighted", "macro", "gmean"], "w"), (["max", "macro", "rows", "micro"], None)):
        irm = log.irm(system="run", by="device", weight=weight)
        found = irm.evaluate("precision", "recall", average=averages, margins=True, ci=0.8, resamples=50)
        assert found["average"].to_list()[: len(averages)] == averages
        for average in averages:
            alone = irm.evaluate("precision", "recall", average=average, margins=True, ci=0.8, resamples=50)
            pl_testing.assert_frame_equal(found.filter(average=average), alone, abs_tol=1e-12)


def test_a_wide_row_for_each_of_several_averages() -> None:
    """`average` says which one it is; a metric is null in the rows of averages that it does not have."""
    averages: Any = ["macro", "micro"]
    irm = spread().irm(by="device", undefined="null", collection_size=9)
    found = irm.evaluate("recall", "num_ret", "gm_rr", average=averages, layout="wide", margins=True, ci=0.9)
    ends = ("", "_n", "_undefined", "_low", "_high")
    parts = [f"{name}{end}" for name in ("recall", "num_ret", "gm_rr") for end in ends]
    assert found.columns == ["device", "total_over", "average", "n", *parts]
    assert found["average"].to_list() == ["macro", "micro", "sum", "gmean"] * 4
    long = irm.evaluate("recall", "num_ret", "gm_rr", average=averages, margins=True, ci=0.9)
    rows = found.iter_rows(named=True)
    laid = {(r["device"], r["total_over"], r["average"], m): tuple(r[f"{m}{end}"] for end in ends)
            for r in rows for m in ("recall", "num_ret", "gm_rr")}  # fmt: skip
    keys = [(r["device"], r["total_over"], r["average"], r["metric"]) for r in long.iter_rows(named=True)]
    for key, row in zip(keys, long.select("value", "n", "n_undefined", "ci_low", "ci_high").rows(), strict=True):
        assert laid.pop(key) == row
    assert set(laid.values()) == {(None,) * 5}
    lazy = spread().lazy().irm(by="device", undefined="null", collection_size=9)
    plan = lazy.evaluate("recall", "num_ret", "gm_rr", average=averages, layout="wide", margins=True, ci=0.9)
    assert plan.collect_schema() == found.schema
    one = irm.evaluate("recall", average=["macro"], layout="wide")
    assert one.equals(irm.evaluate("recall", average="macro", layout="wide"))


# By the rows of queries, and GAUC


def clicks() -> pl.DataFrame:
    """Three users who saw 4, 2 and 2 things: of the first two the areas are 3/4 and 0, the third clicked on nothing."""
    return pl.DataFrame(
        {
            "user": [*"aaaabbcc"],
            "score": [0.9, 0.8, 0.7, 0.1, 0.3, 0.6, 0.2, 0.4],
            "label": [1, 0, 1, 0, 1, 0, 0, 0],
        }
    )


def test_gauc_by_hand() -> None:
    """(4 * 3/4 + 2 * 0) / (4 + 2): users are weighted by what they saw, and those of one class are left out."""
    irm = clicks().irm(query="user")
    for found in (irm.evaluate("gauc"), irm.evaluate("GAUC"), irm.evaluate("roc_auc", average="rows")):
        assert found.select("average", "value", "n", "n_undefined").row(0) == ("rows", 0.5, 2, 1)
    assert irm.evaluate("roc_auc")["value"].item() == 0.375
    assert irm(undefined="one").evaluate("gauc").select("value", "n").row(0) == (5 / 8, 3)
    assert irm.per_query("gauc", layout="wide")["gauc"].to_list() == [0.75, 0, None]
    assert str(read(["gauc"])[0][1]) == "gauc"


def test_gauc_is_a_plain_loop_over_users() -> None:
    """scikit-learn's area of every user with both classes, by how many rows the user has."""
    random = np.random.default_rng(4)
    n = 600
    log = pl.DataFrame(
        {
            "user": random.integers(0, 60, n),
            "score": random.integers(0, 20, n) / 20,
            "label": random.integers(0, 4, n) // 3,
            "day": random.integers(0, 2, n),
        }
    ).with_columns(day=pl.col("user") % 2)
    found = log.irm(query="user", by="day").evaluate("gauc", margins=True, ci=0.9, resamples=50)
    for day, over in ((0, None), (1, None), (None, "day")):
        some = log if day is None else log.filter(day=day)
        users = [one for _, one in some.group_by("user") if one["label"].n_unique() == 2]
        areas = [skl.roc_auc_score(one["label"], one["score"]) for one in users]
        value = np.average(areas, weights=[len(one) for one in users])
        row = found.filter(pl.col("day").eq_missing(day), pl.col("total_over").eq_missing(pl.lit(over)))
        assert row["value"].item() == pytest.approx(value, abs=1e-12)
        assert row["n"].item() == len(users)
    assert (found["ci_low"] < found["value"]).all()
    named = log.with_columns(seen=pl.len().over("user"))
    by_weight = named.irm(query="user", by="day", weight="seen").evaluate("roc_auc", margins=True, ci=0.9, resamples=50)
    columns = ["value", "n", "n_undefined", "ci_low", "ci_high"]
    assert found.select(columns).equals(by_weight.select(columns))


def test_the_rows_of_a_query_are_those_its_metric_is_about() -> None:
    """Judged documents that were not retrieved are rows; unjudged ones that are dropped are none."""
    run = pl.DataFrame({"query": [1, 1, 2, 2], "doc": [*"abab"], "score": [2.0, 1.0, 2.0, 1.0]})
    qrels = pl.DataFrame({"query": [1, 1, 1, 1, 2], "doc": [*"acdea"], "grade": [1, 0, 0, 0, 0]})
    judged = run.irm.judge(qrels)
    assert judged.per_query("rr")["value"].to_list() == [1, 0]
    assert judged.evaluate("rr", average="rows")["value"].item() == 5 / 7
    assert judged(unjudged="drop").evaluate("rr", average="rows")["value"].item() == 4 / 5
    assert judged.evaluate("num_ret", average="rows")["average"].item() == "rows"


def test_a_count_has_a_geometric_mean_by_its_name_too() -> None:
    """`gm_num_ret` is what `average="gmean"` gives."""
    named = four_queries().irm.evaluate("gm_num_ret")
    assert named.select("metric", "average", "value").row(0) == ("gm_num_ret", "gmean", pytest.approx(32 ** (1 / 4)))
    asked = four_queries().irm.evaluate("num_ret", average="gmean")
    assert named.drop("metric").equals(asked.drop("metric"))


# Segments


def segmented() -> pl.DataFrame:
    """Ten queries on two devices and in three locales, one of them null."""
    random = np.random.default_rng(1)
    parts = []
    for query in range(10):
        n = int(random.integers(2, 6))
        where = {"device": ["phone", "desk"][query % 2], "locale": ["de", None, "at"][query % 3]}
        part = pl.DataFrame({"query": n * [query], "score": random.random(n), "grade": random.integers(0, 3, n)})
        parts.append(part.with_columns(*(pl.lit(v, dtype=pl.String).alias(k) for k, v in where.items())))
    return pl.concat(parts)


ASKED = ("ndcg@3", "rr", "precision@2", "num_rel")


def test_each_segment_is_evaluated_by_itself() -> None:
    """The rows of a segment are those of evaluating it alone; they come sorted, null last."""
    log = segmented()
    found = log.irm(by="locale").evaluate(*ASKED)
    assert values(found, "locale") == ["at"] * 4 + ["de"] * 4 + [None] * 4
    assert values(found, "metric") == list(ASKED) * 3
    for locale in ("at", "de", None):
        alone = log.filter(pl.col("locale").eq_missing(pl.lit(locale))).irm.evaluate(*ASKED)
        assert values(found.filter(pl.col("locale").eq_missing(pl.lit(locale)))) == pytest.approx(values(alone))


def test_segments_may_be_made_of_several_columns() -> None:
    """Each combination that occurs is a segment; they are sorted by the columns in the order named."""
    log = segmented()
    found = log.irm(by=["device", "locale"]).evaluate("rr")
    expected = log.select("device", "locale").unique().sort("device", "locale", nulls_last=True)
    assert found.select("device", "locale").equals(expected)
    other = log.irm(by=["locale", "device"]).evaluate("rr")
    assert other.columns[:2] == ["locale", "device"]
    assert other.select("locale", "device").equals(expected.select("locale", "device").sort(pl.all(), nulls_last=True))
    assert values(other.sort("device", "locale", nulls_last=True)) == values(found)


def test_a_query_of_two_segments_is_a_query_in_each() -> None:
    """The same query id in two segments is two rankings."""
    log = pl.DataFrame({"query": [1, 1, 1, 1], "seg": list("xxyy"), "score": [2.0, 1, 2, 1], "grade": [1, 0, 0, 1]})
    assert values(log.irm(by="seg").evaluate("rr")) == [1, 0.5]
    found = log.irm(by="seg").per_query("rr").rows()
    assert found == [("x", 1, "rr", None, 1.0, False, True), ("y", 1, "rr", None, 0.5, False, True)]


def test_a_segment_in_which_nothing_can_be_evaluated_keeps_its_row() -> None:
    """Queries without judgments leave a row of their segment with value null and n 0."""
    log = pl.DataFrame({"query": [1, 2], "seg": ["x", "y"], "score": [1.0, 1.0], "grade": [1, None]})
    found = log.irm(by="seg").evaluate("rr", "num_q", ci=0.9)
    assert found.select("seg", "metric", "value", "n", "n_undefined").rows() == [
        ("x", "rr", 1, 1, 0),
        ("x", "num_q", 1, 1, 0),
        ("y", "rr", None, 0, 0),
        ("y", "num_q", None, 0, 0),
    ]
    wide = log.irm(by="seg").evaluate("rr", "num_q", layout="wide")
    assert wide.rows() == [("x", 1, 1, 0, 1, 0), ("y", 0, None, 0, None, 0)]


@pytest.mark.parametrize("name", ["row", "cell", "segment", "at", "first", "hash", "0", "by:0"])
@pytest.mark.parametrize("query", ["q", None])
def test_a_column_may_be_called_as_what_is_worked_out(name: str, query: str | None) -> None:
    """The name of a segment's or cluster's column changes nothing but the name of the result's."""
    log = pl.DataFrame({"q": list("aabbcc"), "s": [0.9, 0.1, 0.3, 0.7, 0.2, 0.6], "good": [1, 0, 1, 0, 0, 1]})
    log = log.with_columns(mine=pl.Series([0.5, 0.5, 1.5, 1.5, 0.5, 0.5]))
    roles: dict[str, Any] = {"query": query, "score": "s", "label": "good", "threshold": 0.5}
    for role in ("by", "cluster"):
        renamed = log.rename({"mine": name}).irm(**roles, **{role: name}).evaluate("precision", ci=0.9)
        assert renamed.rename({name: "mine"}, strict=False).equals(
            log.irm(**roles, **{role: "mine"}).evaluate("precision", ci=0.9)
        )


def test_the_numbers_of_segments_are_sorted_by_value_and_not_as_text() -> None:
    """Keys sort as what they are: numbers as numbers, nulls last."""
    days = [10, 9, None, 2]
    log = pl.DataFrame({"query": [1, 2, 3, 4], "day": days, "score": 4 * [1.0], "grade": 4 * [1]})
    assert values(log.irm(by="day").evaluate("rr"), "day") == [2, 9, 10, None]
    assert values(log.with_columns(query=1).irm(system="day").evaluate("num_q"), "day") == [2, 9, 10, None]


def test_systems_come_before_segments_and_metrics_in_the_order_asked_for() -> None:
    """Rows are sorted by system, then segment, then as the metrics were asked for."""
    log = pl.DataFrame(
        {
            "query": 4 * [1, 2],
            "run": ["b", "b", None, None, "a", "a", "b", "b"],
            "seg": ["v", "u"] * 4,
            "doc": ["x", "x", "x", "x", "x", "x", "y", "y"],
            "score": [2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            "grade": [1, 0, 1, 0, 1, 0, 0, 1],
        }
    )
    found = log.irm(system="run", by="seg", doc="doc").evaluate("rr", "ap")
    assert found.columns[:2] == ["run", "seg"]
    keys = [(run, seg, metric) for run in ("a", "b", None) for seg in "uv" for metric in ("rr", "ap")]
    assert found.select("run", "seg", "metric").rows() == keys
    assert found.filter(metric="rr")["value"].to_list() == [0, 1, 0.5, 1, 0, 1]


def test_a_system_is_measured_in_every_segment() -> None:
    """A system without results in a segment has 0 there, on the same queries as the others."""
    log = pl.DataFrame(
        {"query": [1, 2, 1], "run": list("aab"), "seg": list("uvu"), "score": [1.0, 1.0, 1.0], "grade": [1, 1, 1]}
    )
    found = log.irm(system="run", by="seg").evaluate("rr")
    assert found.select("run", "seg", "value", "n").rows() == [
        ("a", "u", 1, 1),
        ("a", "v", 1, 1),
        ("b", "u", 1, 1),
        ("b", "v", 0, 1),
    ]


# Margins


def test_the_grand_total_is_that_of_evaluating_without_segments() -> None:
    """`margins=True` adds a row with null keys and the name of the key as its total, equal to leaving out `by`."""
    log = segmented()
    found = log.irm(by="device").evaluate(*ASKED, margins=True)
    assert found.columns[:3] == ["device", "total_over", "metric"]
    total = found.filter(total_over="device")
    assert values(total, "device") == [None] * 4
    plain = log.irm.evaluate(*ASKED)
    assert values(total) == pytest.approx(values(plain))
    assert total.select("metric", "k", "average", "n", "n_undefined").equals(
        plain.select("metric", "k", "average", "n", "n_undefined")
    )
    own = found.filter(pl.col("total_over").is_null()).drop("total_over")
    assert own.equals(log.irm(by="device").evaluate(*ASKED))


def test_each_column_has_its_margin() -> None:
    """With several `by` columns, each has rows of its own, the others null, equal to segmenting by it alone."""
    log = segmented()
    found = log.irm(by=["device", "locale"]).evaluate("ndcg", "rr", margins=True)
    is_total = pl.col("total_over").is_not_null()
    segments, totals = found.filter(~is_total), found.filter(is_total)
    assert segments.drop("total_over").equals(log.irm(by=["device", "locale"]).evaluate("ndcg", "rr"))
    over = [(one["device"] is None, one["total_over"]) for one in totals[::2].iter_rows(named=True)]
    assert over == [(False, "locale")] * 2 + [(True, "device")] * 3 + [(True, "device, locale")]
    expected = [
        log.irm(by="device").evaluate("ndcg", "rr"),
        log.irm(by="locale").evaluate("ndcg", "rr"),
        log.irm.evaluate("ndcg", "rr"),
    ]
    parts = pl.concat(expected, how="diagonal")
    assert totals.select("device", "locale", "metric", "n").equals(parts.select("device", "locale", "metric", "n"))
    assert values(totals) == pytest.approx(values(parts))


def test_a_null_segment_is_told_from_a_total() -> None:
    """`total_over` is null for a segment whose key is null, and names the key of a total."""
    found = segmented().irm(by="locale").evaluate("rr", margins=True)
    assert found.select("locale", "total_over").rows() == [("at", None), ("de", None), (None, None), (None, "locale")]


def test_the_total_of_a_null_segment_is_told_from_the_grand_total() -> None:
    """With two keys the two have the same keys, and are totals over different columns, in the order of `by`."""
    found = segmented().irm(by=["locale", "device"]).evaluate("num_q", margins=True)
    both = found.filter(pl.col("locale").is_null() & pl.col("device").is_null())
    assert both.select("total_over", "value").rows() == [("device", 3), ("locale, device", 10)]


def test_margins_are_those_of_each_system() -> None:
    """Totals stand behind the segments of their system."""
    log = pl.concat([segmented().with_columns(run=pl.lit(run)) for run in "ab"])
    log = log.with_columns(score=pl.when(pl.col("run") == "a").then("score").otherwise(-pl.col("score")))
    found = log.irm(system="run", by="device").evaluate("ndcg", margins=True)
    assert found.select("run", "device", "total_over").rows() == [
        (run, device, over) for run in "ab" for device, over in (("desk", None), ("phone", None), (None, "device"))
    ]
    assert values(found.filter(total_over="device")) == pytest.approx(values(log.irm(system="run").evaluate("ndcg")))


@pytest.mark.parametrize("average", ["macro", "micro", "gmean"])
def test_margins_are_averages_over_queries_and_not_over_segments(average: str) -> None:
    """The total of every average rests on the queries, weighted where they are."""
    log = segmented().with_columns(w=pl.col("query").cast(pl.Float64))
    weight = None if average == "micro" else "w"
    one = log.irm(by="device", weight=weight).evaluate("precision@2", average=average, margins=True)
    other = log.irm(weight=weight).evaluate("precision@2", average=average)
    assert values(one.filter(total_over="device")) == pytest.approx(values(other))
    assert values(one.filter(total_over="device"), "n") == [10]


def test_margins_have_intervals_and_a_wide_layout() -> None:
    """The total has the interval of evaluating without segments, in a column per metric too."""
    log = segmented()
    found = log.irm(by="device").evaluate("ndcg", "rr", margins=True, ci=0.9, layout="wide")
    assert found.columns == [
        "device",
        "total_over",
        "average",
        "n",
        *(n + e for n in ("ndcg", "rr") for e in ("", "_undefined", "_low", "_high")),
    ]
    plain = log.irm.evaluate("ndcg", "rr", ci=0.9, layout="wide")
    assert found.filter(total_over="device").drop("device", "total_over").row(0) == pytest.approx(plain.row(0))


@pytest.mark.parametrize("query", ["query", None], ids=["queries", "rows"])
def test_the_totals_of_a_null_system_stand_last(query: str | None) -> None:
    """Systems are sorted, null last, and each has its segments, null last, before its totals."""
    log = pl.DataFrame(
        {
            "run": [None, None, "b", "b"],
            "day": [None, "mo", None, "mo"],
            "query": [1, 2, 1, 2],
            "predicted": [1, 1, 1, 1],
            "label": [1, 0, 0, 0],
        }
    )
    irm = log.irm(query=query, system="run", by="day", predicted="predicted")
    found = irm.evaluate("precision", margins=True).select("run", "day", "total_over", "value")
    assert found.rows() == [
        *(("b", "mo", None, 0), ("b", None, None, 0), ("b", None, "day", 0)),
        *((None, "mo", None, 0), (None, None, None, 1), (None, None, "day", 0.5)),
    ]


# Layouts, and nothing to average


def test_the_wide_layout_has_a_column_per_metric() -> None:
    """Its values are those of the long one, in the order asked for."""
    log = segmented()
    long, wide = (log.irm(by="device").evaluate(*ASKED, layout=layout) for layout in ("long", "wide"))
    assert wide.columns == ["device", "n", *(f"{one}{end}" for one in ASKED for end in ("", "_undefined"))]
    assert (
        wide.select("device", *ASKED)
        .unpivot(index="device", variable_name="metric")
        .sort("device", "metric")
        .equals(long.select("device", "metric", "value").sort("device", "metric"))
    )
    assert wide["n"].to_list() == [5, 5]
    assert wide.dtypes == [pl.String, pl.Int64, *[pl.Float64, pl.Int64] * 4]


def sparse() -> pl.DataFrame:
    """Three queries: one without a relevant result, one with nothing else, one with both."""
    return pl.DataFrame({"query": [1, 1, 2, 2, 3, 3], "score": 3 * [2.0, 1.0], "grade": [0, 0, 1, 1, 1, 0]})


def test_a_wide_row_says_how_many_queries_each_mean_rests_on() -> None:
    """`n` is the queries that are evaluated; a metric that leaves some out has its own beside it, whatever the data."""
    found = sparse().irm.evaluate("rr", "roc_auc", "num_ret", layout="wide")
    assert found.columns == [
        *("n", "rr", "rr_undefined", "roc_auc", "roc_auc_n", "roc_auc_undefined", "num_ret", "num_ret_undefined")
    ]
    assert found.row(0) == (3, 2 / 3, 1, 1.0, 1, 2, 6.0, 0)
    for log in (sparse(), sparse().filter(pl.col("query") == 3), sparse().clear()):
        names = log.irm(undefined="null").evaluate("rr", "roc_auc", layout="wide", ci=0.9).columns
        both = [f"{name}{end}" for name in ("rr", "roc_auc") for end in ("", "_n", "_undefined", "_low", "_high")]
        assert names == ["average", "n", *both]
        lazy = log.lazy().irm(undefined="null").evaluate("rr", "roc_auc", layout="wide", ci=0.9)
        assert lazy.collect_schema().names() == names == lazy.collect().columns
        for rule in ("zero", "raise"):
            assert "roc_auc_n" not in log.lazy().irm(undefined=rule).evaluate("roc_auc", layout="wide").collect_schema()
    assert sparse().irm(undefined="null").evaluate("rr", layout="wide").row(0) == ("macro", 3, 1.0, 2, 1)


def test_what_is_summed_over_queries_leaves_none_out() -> None:
    """A micro average rests on all queries that are evaluated."""
    found = sparse().irm(collection_size=5).evaluate("specificity", average="micro", layout="wide")
    assert found.columns == ["average", "n", "specificity", "specificity_undefined"]


@pytest.mark.parametrize(
    ("asked", "average", "said"),
    [
        (("rr", "ap"), None, "macro"),
        (("rr", "ap"), "gmean", "gmean"),
        (("num_ret", "tp"), None, "sum"),
        (("num_ret", "tp", "rr"), "macro", "macro"),
        (("recall", "num_ret"), None, None),
        (("num_ret", "recall"), "micro", None),
        (("map", "gm_map"), None, None),
        (("gm_map", "rr"), "gmean", "gmean"),
        (("gm_map",), None, "gmean"),
    ],
)
def test_the_average_of_a_wide_row_is_that_of_all_its_metrics(
    asked: tuple[str, ...], average: Any, said: str | None
) -> None:
    """Where metrics have different averages, no column says one, whichever stands first."""
    for names in (asked, asked[::-1]):
        found = four_queries().irm.evaluate(*names, average=average, layout="wide")
        assert (found["average"].item() if "average" in found else None) == said
        long = set(four_queries().irm.evaluate(*names, average=average)["average"])
        assert (len(long) == 1) == (said is not None)
        lazy = four_queries().lazy().irm.evaluate(*names, average=average, layout="wide")
        assert lazy.collect_schema() == found.schema


def test_the_wide_layout_puts_intervals_beside_their_metric() -> None:
    """With `ci`, each metric has its low and high end in columns of their own."""
    log = segmented()
    wide = log.irm.evaluate("ndcg", "rr", ci=0.95, layout="wide")
    ends = ("", "_undefined", "_low", "_high")
    assert wide.columns == ["average", "n", *(f"{name}{end}" for name in ("ndcg", "rr") for end in ends)]
    long = log.irm.evaluate("ndcg", "rr", ci=0.95)
    assert wide.row(0)[2:] == tuple(long.select("value", "n_undefined", "ci_low", "ci_high").to_numpy().ravel())


@pytest.mark.parametrize("layout", ["long", "wide"])
@pytest.mark.parametrize("ci", [None, 0.9])
def test_without_rows_there_is_one_row_of_nothing(layout: str, ci: float | None) -> None:
    """An empty frame has a row with value null and n 0, and none where rows are by system or segment."""
    empty = segmented().clear()
    full = segmented().irm.evaluate("rr", "ndcg", layout=layout, ci=ci)
    found = empty.irm.evaluate("rr", "ndcg", layout=layout, ci=ci)
    assert found.schema == full.schema
    assert len(found) == len(full)
    assert set(found["n"]) == {0}
    names = ["value"] if layout == "long" else ["rr", "ndcg"]
    assert found.select(names).null_count().sum_horizontal().item() == 2
    for roles in ({"by": "device"}, {"system": "device"}, {"by": ["device", "locale"]}):
        assert empty.irm(**roles).evaluate("rr", layout=layout, ci=ci).height == 0
    assert empty.irm.per_query("rr", layout=layout).height == 0


def test_without_a_judged_query_there_is_one_row_of_nothing() -> None:
    """A log in which no row is judged is not evaluated."""
    log = pl.DataFrame({"query": [1, 2], "score": [1.0, 1.0], "grade": pl.Series([None, None], dtype=pl.Int64)})
    assert log.irm.evaluate("rr").select("value", "n", "n_undefined").rows() == [(None, 0, 0)]
    assert log.irm.per_query("rr").height == 0


def test_a_metric_may_name_its_own_average() -> None:
    """Beside others it keeps it."""
    assert four_queries().irm.evaluate("gm_map", "recall")["average"].to_list() == ["gmean", "macro"]


# Intervals


def simulated(queries: int, segments: int = 1, seed: int = 0) -> pl.DataFrame:
    """Queries of two results, the first of them relevant or else the second, with probability one half."""
    first = np.random.default_rng(seed).random(queries * segments) < 0.5
    n = queries * segments
    return pl.DataFrame(
        {
            "query": np.repeat(np.arange(n), 2),
            "segment": np.repeat(np.arange(n) // queries, 2),
            "score": np.tile([2.0, 1.0], n),
            "grade": np.stack([first, ~first], axis=1).ravel().astype(int),
        }
    )


def test_an_interval_is_drawn_from_its_seed() -> None:
    """The same seed gives the same interval, in pandas as in polars; another seed another one."""
    log = segmented()
    one = log.irm.evaluate("ndcg", "rr", ci=0.95)
    assert one.columns[-2:] == ["ci_low", "ci_high"]
    assert one.equals(log.irm.evaluate("ndcg", "rr", ci=0.95))
    assert not one.equals(log.irm.evaluate("ndcg", "rr", ci=0.95, seed=1))
    pandas = pd.DataFrame(log.to_dict(as_series=False)).irm.evaluate("ndcg", "rr", ci=0.95)
    for column in ("value", "ci_low", "ci_high"):
        assert pandas[column].tolist() == values(one, column)


def test_an_interval_is_of_1000_resamples_by_seed_0_unless_told_otherwise() -> None:
    """The defaults are those of the signature, so that numbers that were printed can be had again."""
    log = segmented().irm
    assert log.evaluate("ndcg", ci=0.9).equals(log.evaluate("ndcg", ci=0.9, resamples=1000, seed=0))


def test_an_interval_does_not_depend_on_the_other_metrics() -> None:
    """A metric has the same interval whatever is asked for beside it."""
    log = segmented()
    many = log.irm.evaluate("rr", "ndcg", "precision@2", "num_rel", ci=0.8).select("ci_low", "ci_high").row(1)
    assert many == pytest.approx(log.irm.evaluate("ndcg", ci=0.8).select("ci_low", "ci_high").row(0), rel=1e-12)


def test_an_interval_does_not_depend_on_the_other_segments() -> None:
    """A segment has the same interval alone as beside others."""
    log = segmented()
    found = log.irm(by="device").evaluate("ndcg", "rr", ci=0.9)
    for device in ("desk", "phone"):
        alone = log.filter(pl.col("device") == device).irm.evaluate("ndcg", "rr", ci=0.9)
        for column in ("ci_low", "ci_high"):
            assert values(found.filter(device=device), column) == pytest.approx(values(alone, column), rel=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted", "gmean", "micro"])
def test_an_interval_is_that_of_a_plain_bootstrap(average: str) -> None:
    """Low and high are percentiles of the average over resampled queries at the level of so many, but for chance."""
    random = np.random.default_rng(11)
    n = 60
    log = pl.DataFrame(
        {
            "query": np.repeat(np.arange(n), 5),
            "score": random.random(5 * n),
            "grade": random.integers(0, 3, 5 * n),
            "w": np.repeat(random.integers(0, 5, n).astype(float), 5),
        }
    )
    asked = "precision" if average == "micro" else "ndcg"
    log = log.with_columns(score=pl.when(pl.col("score") > 0.3).then("score")) if average == "micro" else log
    irm = log.irm(weight="w" if average == "weighted" else None)
    resamples = 20_000
    found = irm.evaluate(asked, ci=0.9, average=average, resamples=resamples)
    drawn = np.random.default_rng(5).integers(0, n, (resamples, n))
    if average == "micro":
        counts = (
            irm.per_query("tp", "num_ret", layout="wide").drop("answered").drop("query").to_numpy()[drawn].sum(axis=1)
        )
        means = counts[:, 0] / counts[:, 1]
    else:
        value = irm.per_query(asked)["value"].to_numpy()
        weight = log["w"].to_numpy()[::5] if average == "weighted" else np.ones(n)
        value = np.log(np.maximum(value, 1e-5)) if average == "gmean" else value
        means = (value * weight)[drawn].sum(axis=1) / weight[drawn].sum(axis=1)
        means = np.exp(means) if average == "gmean" else means
    spread, each = means.std(), log["w"].to_numpy()[::5] if average == "weighted" else np.ones(n)
    tail = (1 - expanded_level(0.9, each.sum() ** 2 / (each**2).sum())) / 2
    assert found["ci_low"].item() == pytest.approx(np.quantile(means, tail), abs=0.06 * spread)
    assert found["ci_high"].item() == pytest.approx(np.quantile(means, 1 - tail), abs=0.06 * spread)
    assert found["ci_low"].item() < found["value"].item() < found["ci_high"].item()


def test_a_sum_has_the_interval_of_a_sum() -> None:
    """The interval of a count is that of the sum over resampled queries."""
    log = simulated(400)
    found = log.irm.evaluate("tp@1", ci=0.95, resamples=5000)
    half = 1.96 * math.sqrt(400 * 0.25)
    (row,) = found.select("value", "ci_low", "ci_high").rows()
    assert row[1:] == pytest.approx((row[0] - half, row[0] + half), abs=0.1 * half)


def test_intervals_cover_as_often_as_they_say() -> None:
    """Of 300 simulated logs of 60 queries, about 90 in 100 intervals at level 0.9 hold the true value."""
    found = simulated(60, segments=300).irm(by="segment").evaluate("precision@1", ci=0.9, resamples=400)
    covered = (found["ci_low"] <= 0.5) & (found["ci_high"] >= 0.5)
    assert 0.83 < covered.mean() < 0.97


def test_a_higher_level_gives_a_wider_interval() -> None:
    """Intervals of one seed are nested by level, and hold the value."""
    log = segmented()
    rows = [
        log.irm.evaluate("ndcg", ci=level).select("ci_low", "value", "ci_high").row(0) for level in (0.99, 0.9, 0.5)
    ]
    low, value, high = zip(*rows, strict=True)
    assert low == tuple(sorted(low))
    assert high == tuple(sorted(high, reverse=True))
    assert low[-1] <= value[0] <= high[-1]


def test_fewer_than_two_queries_have_no_interval() -> None:
    """One query, or one that is defined, has a value and a null interval; two have one."""
    log = four_queries()
    for names, undefined, there in (("a", None, False), ("ad", "null", False), ("ab", None, True), ("ad", None, True)):
        some = log.filter(pl.col("query").is_in(list(names))).irm(undefined=undefined)
        row = some.evaluate("rr", ci=0.95).row(0, named=True)
        assert row["value"] is not None
        assert (row["ci_low"] is not None) == (row["ci_high"] is not None) == there


def test_a_value_that_every_resample_leaves_undefined_has_no_interval() -> None:
    """Weights that are all 0, and counts of which the metric divides by 0."""
    nowhere = four_queries().with_columns(grade=0, w=0.0).irm(undefined="null")
    pooled = nowhere.evaluate("recall", average="micro", ci=0.9)
    assert pooled.select("value", "ci_low", "ci_high", "n_undefined").rows() == [(None, None, None, 4)]
    weighed = four_queries().with_columns(w=0.0).irm(weight="w").evaluate("rr", ci=0.9)
    assert weighed.select("value", "ci_low", "ci_high").rows() == [(None, None, None)]


def test_queries_of_equal_value_are_not_certain() -> None:
    """Without spread the interval is Wilson's on the range of the metric, null if that has no end."""
    log = pl.DataFrame({"query": [1, 2, 3], "score": 3 * [1.0], "grade": 3 * [3]})
    found = log.irm.evaluate("rr", "ndcg", "dcg", ci=0.95).select("ci_low", "ci_high").rows()
    low = pytest.approx(3 / (3 + 1.959964**2), abs=1e-6)  # a share of 1 of 3
    assert found == [(low, 1), (low, 1), (None, None)]


def test_totals_name_no_segment_where_repeated_documents_are_left_out() -> None:
    """The key of a total is null, whichever rows of the frame are gone."""
    log = pl.DataFrame(
        {
            "query": [1, 1, 2],
            "doc": ["x", "x", "y"],
            "seg": ["u", "u", "v"],
            "score": [2.0, 1.0, 1.0],
            "grade": [1, 1, 0],
        }
    )
    found = log.irm(doc="doc", by="seg", duplicates="first").evaluate("precision", margins=True)
    rows = [("u", None, 1.0), ("v", None, 0.0), (None, "seg", 0.5)]
    assert found.select("seg", "total_over", "value").rows() == rows


def test_blocks_of_resamples_are_drawn_apart() -> None:
    """Each block has draws of its own, of as many units as there are, and the first is what the seed alone gives."""
    blocks = list(draws(Units.without_values(3000), 1000, 5))
    often = np.concatenate(blocks)
    assert len(blocks) > 1
    assert len(np.unique(often, axis=0)) == 1000
    assert (often.sum(axis=1) == 3000).all()
    first = np.random.default_rng(5).integers(0, 3000, 3000)
    assert np.array_equal(often[0], np.bincount(first, minlength=3000))


def test_many_units_are_drawn_block_by_block() -> None:
    """Sums over resamples of many units are those of the counts that are drawn, in any number of threads."""
    n = 70_001
    values = np.random.default_rng(1).normal(size=(2, n))
    often = np.concatenate(list(draws(Units.without_values(n), 40, 5)))
    assert (often.sum(axis=1) == n).all()
    for units in np.split(often, [1 << 15, 1 << 16], axis=1):  # the draws of a block are not always as many
        expected = (units.shape[1] * (1 - units.shape[1] / n)) ** 0.5
        assert units.sum(axis=1).std() == pytest.approx(expected, rel=0.4)
    assert np.bincount(often.ravel())[:4] / often.size == pytest.approx(np.exp(-1) / np.array([1, 1, 2, 6]), abs=2e-3)
    with threads(1):
        one = resampled(values, 40, 5)
    with threads(3):
        assert np.array_equal(resampled(values, 40, 5), one)
    assert one == pytest.approx(values @ often.T, abs=1e-9)


def test_many_rows_that_stand_for_several_are_drawn_by_row() -> None:
    """A unit that stands for many rows is drawn as often as they are, and one that stands for none never."""
    rows = np.arange(30_000) % 5
    often = np.concatenate(list(draws(Units([rows], rows), 60, 5)))
    assert (often.sum(axis=1) == rows.sum()).all()
    assert [often[:, rows == row].mean() for row in range(5)] == pytest.approx(range(5), abs=0.02)


def test_options_of_one_call_are_not_those_of_the_next() -> None:
    """An irm that is asked the same metrics with other options answers each call as a new one does."""
    log = pl.DataFrame({"query": [1, 1, 2, 2, 3], "score": [2, 1, 2, 1, 1], "grade": [0, 1, 1, 0, 1], "by": [*"aabba"]})
    kept = log.irm(by="by")
    asked: list[dict[str, Any]] = [{}, {"layout": "wide"}, {"average": "max"}, {"average": ["macro", "max"]}]
    asked += [{"margins": True}, {"ci": 0.9}, {"ci": 0.5, "resamples": 50}, {"ci": 0.5, "resamples": 50, "seed": 3}]
    for options in (*asked, *asked):
        expected = log.irm(by="by").evaluate("rr", "precision@1", **options)
        pl_testing.assert_frame_equal(kept.evaluate("rr", "precision@1", **options), expected)


def test_a_query_of_several_segments_is_one_unit_of_their_total() -> None:
    """The total of 20 values on four days has the interval of 20 values, and that of each day is as before."""
    value = np.linspace(0.1, 0.9, 20) ** 2
    rows = {"term": np.tile(np.arange(20), 4), "day": np.repeat([*"abcd"], 20), "value": np.tile(value, 4)}
    log = pl.DataFrame(rows).irm(query="term", value="value", by="day")
    found = log.evaluate(ci=0.95, margins=True)
    assert found["n"].to_list() == [20] * 4 + [80]
    assert found["ci_low"].n_unique() == 1
    assert found.equals(log(cluster="term").evaluate(ci=0.95, margins=True))
