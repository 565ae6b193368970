"""Columns without a part of their own, which users' metrics read: ``extra=``."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import frame_metrics
from frame_metrics import (
    IRM,
    BadRowsError,
    ColumnError,
    Confusion,
    KernelError,
    NotComputableError,
    Ranking,
    metric,
)
from helpers import KINDS, as_kind, as_polars, error
from inside import FullRanking, small_blocks, threads

Array = np.ndarray[Any, Any]
PRICE = {"price": "price_eur"}


@pytest.fixture(autouse=True)
def _own() -> None:
    """Put three metrics of a shop in the registry."""

    @metric(range=(0, math.inf), best=None, undefined=None)
    def mean_price(run: Ranking, k: int | None = None) -> Array:
        """Mean price of the first k results that have one."""
        price = run.column("price")
        known = run.within(k) & ~np.isnan(price)
        return run.total(np.where(known, price, 0)) / run.total(known)

    @metric(range=(0, math.inf), best=None, expected=True, undefined=None)
    def revenue(run: Ranking, k: int | None = None) -> Array:
        """Sum of the prices of the relevant documents among the first k."""
        price = run.column("price", relevant=True)
        return run.total(np.where(run.within(k), price, 0))

    @metric(range=(0, math.inf), best=None)
    def dearest_first(run: Ranking) -> Array:
        """Price of the first result."""
        price = run.column("price")
        return np.where(run.lengths > 0, run.total(np.where(run.rank == 1, price, 0)), np.nan)


@pytest.fixture
def log() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "query": ["a", "b", "a", "b", "a", "a"],
            "doc": ["x", "x", "y", "z", "z", "w"],
            "score": [1.0, 5.0, 3.0, 4.0, 2.0, None],
            "grade": [1, 0, 0, 1, 2, 1],
            "price_eur": [10.0, 7.0, 20.0, None, 60.0, 99.0],
            "stock": [1, 2, 3, 4, 5, 6],
        }
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_price_of_the_first_results(log: pl.DataFrame, kind: str) -> None:
    """By hand: a lists y 20, z 60, x 10, and w was not retrieved; b lists x 7 and z, which has no price."""
    of = IRM(as_kind(log, kind), extra=PRICE)
    found = as_polars(of.per_query("mean_price", "mean_price@2", "mean_price@1", "revenue@2", layout="wide")).drop(
        "answered"
    )
    assert found.rows() == [("a", 30.0, 40.0, 20.0, 60.0), ("b", 7.0, 7.0, 7.0, None)]
    assert as_polars(of.evaluate("mean_price@2"))["value"].to_list() == [23.5]


def test_a_null_is_nan_and_ours_to_count(log: pl.DataFrame) -> None:
    """The kernel decides what no value means: revenue adds NaN up, and is then undefined."""
    of = log.irm(extra=PRICE)
    assert of.per_query("revenue")["value"].to_list() == [70.0, None]
    assert of(undefined="zero").per_query("revenue")["value"].to_list() == [70.0, 0.0]


@pytest.mark.parametrize("verb", ["evaluate", "per_query", "compare", "curve", "explain"])
def test_without_extra_the_error_names_the_metric_and_the_column(log: pl.DataFrame, verb: str) -> None:
    """Of a lazy frame too, whose plan was not run; with the nearest of those that are named."""
    asked = "mean_price@k" if verb == "curve" else "mean_price"
    more: dict[str, Any] = {"query": "a"} if verb == "explain" else {}
    two = log.lazy().with_columns(run=pl.lit(1))
    for roles, rest in (({}, ""), ({"extra": {"prize": "price_eur"}}, ", beside 'prize'; did you mean 'prize'?")):
        said = error(lambda: getattr(two.irm(system="run", **roles), verb)(asked, **more), ColumnError)  # noqa: B023
        name = "mean_price@1" if verb == "curve" else asked
        assert said == f"{name} reads run.column('price'); name it with extra={{'price': ...}}{rest}"


def test_only_the_columns_that_are_asked_for_are_read(log: pl.DataFrame) -> None:
    """Another one may even hold texts, and the cast of a lazy column that is not needed is not run."""
    lazy = log.lazy().with_columns(bad=pl.col("doc").map_batches(_unread, return_dtype=pl.Float64))
    of = lazy.irm(extra={**PRICE, "bad": "bad"})
    assert of.evaluate("mean_price@1", "ndcg").collect()["value"].to_list()[0] == 13.5
    assert of.evaluate("ndcg").collect().height == 1


def _unread(values: pl.Series) -> pl.Series:
    raise AssertionError("it was read")


BAD: dict[str, tuple[Any, str]] = {
    "a text": ("price_eur", "extra='price_eur' is not a mapping from names to columns, as {'price': 'price_eur'}"),
    "a list": (["price_eur"], "extra=['price_eur'] is not a mapping from names to columns"),
    "nothing": ({}, "extra={} is not a mapping from names to columns"),
    "a number as a name": ({3: "stock"}, "extra={3: 'stock'} is not a mapping from names to columns"),
    "no column": ({"price": "prize_eur"}, "extra of 'price'='prize_eur': there is no such column among"),
    "a column without a name": ({"price": ""}, "extra of 'price'='': column names must not be empty"),
    "two parts": ({"price": "score"}, "is the score too; a column can have only one role"),
    "one column twice": (
        {"price": "stock", "amount": "stock"},
        "extra='stock' is named twice; a column can have only one role",
    ),
    "a column of texts": (
        {"price": "name"},
        "name: a value of extra= is a number, and this column is text, as 'x'; convert",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_extra_column_is_refused(log: pl.DataFrame, case: str) -> None:
    """In the caller's names."""
    extra, why = BAD[case]
    roles = {"score": "score"} if case == "two parts" else {}
    assert why in error(lambda: log.with_columns(name=pl.lit("x")).irm(extra=extra, **roles).evaluate("mean_price"))


@pytest.mark.parametrize(("value", "what"), [(math.nan, "is NaN"), (math.inf, "is infinite")])
def test_bad_values_are_an_error_and_a_finding(log: pl.DataFrame, value: float, what: str) -> None:
    """Of the metrics that read them; audit() looks at every part."""
    odd = log.with_columns(price_eur=pl.when(pl.col("doc") == "w").then(value).otherwise("price_eur"))
    of = odd.irm(extra=PRICE)
    assert f"price_eur: 1 of 6 rows {what} (row 5)" in error(lambda: of.evaluate("mean_price"), BadRowsError)
    assert of.evaluate("ndcg").height == 1
    assert of.audit().filter(pl.col("check").str.starts_with("values that"))["n"].to_list() == [1]
    assert log.irm(extra=PRICE).audit().equals(log.irm.audit())


def test_integers_that_floats_do_not_tell_apart_are_refused(log: pl.DataFrame) -> None:
    """As scores are."""
    far = log.with_columns(price_eur=pl.lit(2**53 + 1))
    assert "price_eur: 6 of 6 rows are past 2**53" in error(lambda: far.irm(extra=PRICE).evaluate("mean_price"))


def test_a_column_of_nulls_or_of_booleans_is_read(log: pl.DataFrame) -> None:
    """No value at all is undefined everywhere; True is 1."""
    assert log.with_columns(price_eur=None).irm(extra=PRICE).evaluate("mean_price")["n"].to_list() == [0]
    true = log.with_columns(price_eur=pl.col("stock") > 2)
    assert true.irm(extra=PRICE).per_query("mean_price@2")["value"].to_list() == [1.0, 0.5]


def test_judged_queries_without_results_and_condensed_lists(log: pl.DataFrame) -> None:
    """Nothing retrieved is no row; the rows that condensed lists leave out take their values with them."""
    qrels = pl.DataFrame({"query": ["a", "a", "c"], "doc": ["z", "x", "x"], "grade": [0, 1, 1]})
    of = log.drop("grade").irm(extra=PRICE, undefined="null").judge(qrels)
    assert of.per_query("mean_price", "revenue", layout="wide").drop("answered").rows() == [
        ("a", 30.0, 10.0),
        ("c", None, 0.0),
    ]
    dropped = of(unjudged="drop").per_query("mean_price@1", "mean_price", layout="wide").drop("answered")
    assert dropped.row(0) == ("a", 60.0, 35.0)
    own = of.per_query("mean_price(judged_only=True)@1")
    assert own["value"].to_list() == dropped["mean_price@1"].to_list()


def test_the_best_place_of_a_document_keeps_its_value(log: pl.DataFrame) -> None:
    """duplicates="first" leaves the other row out, and its price."""
    again = pl.concat([log, log.filter(doc="y").with_columns(score=0.5, price_eur=1000.0)])
    assert again.irm(extra=PRICE, duplicates="first").per_query("mean_price")["value"].to_list()[0] == 30.0


def tied() -> pl.DataFrame:
    """One query, two ties; in the first all are judged alike, and prices differ."""
    return pl.DataFrame(
        {
            "query": 5 * [1],
            "doc": ["a", "b", "c", "d", "e"],
            "score": [2.0, 2.0, 2.0, 1.0, 1.0],
            "grade": [1, 1, 1, 0, 1],
            "price_eur": [1.0, 2.0, 6.0, 10.0, 30.0],
        }
    )


def test_equal_scores_are_ordered_by_document_whatever_the_order_of_the_rows() -> None:
    """Also where their judgments are the same, and only a price tells them apart."""
    for rows in itertools.permutations(range(3)):
        some = tied()[[*rows, 4, 3]]
        assert some.irm(extra=PRICE).per_query("dearest_first", "mean_price@4")["value"].to_list() == [6.0, 39 / 4]
        ordered = some.irm(extra=PRICE, ties="order").per_query("dearest_first")["value"].to_list()
        assert ordered == [some["price_eur"][0]]


@pytest.mark.parametrize("ties", ["worst", "best"])
def test_the_order_of_judgments_does_not_settle_prices(ties: str) -> None:
    """A metric that reads a column refuses it, whatever it declares; one that does not is what it is alone."""
    of = tied()[:3].irm(extra=PRICE, ties=ties, doc=None)
    for name in ("revenue@1", "mean_price"):
        why = rf"{name} is not bounded by ties='{ties}', and rows with equal scores have different values of run.column"
        assert why in error(lambda: of.evaluate(name), NotComputableError)  # noqa: B023
        with pytest.raises(NotComputableError, match="is not bounded by"):
            of.explain(name, query=1)
    assert of.evaluate("ndcg_rel")["value"].to_list() == [1.0]
    equal = tied()[:3].with_columns(price_eur=2.0).irm(extra=PRICE, ties=ties, doc=None)
    assert equal.evaluate("mean_price")["value"].to_list() == [2.0]


@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_the_expected_value_is_the_mean_over_all_orders(k: int) -> None:
    """Of what is added up by rank; a metric that does not say so is refused."""
    log = tied()
    orders = [log[[*first, *last]] for first in itertools.permutations(range(3)) for last in ([3, 4], [4, 3])]
    each = [one.irm(extra=PRICE, ties="order").per_query(f"revenue@{k}")["value"][0] for one in orders]
    of = log.irm(extra=PRICE, ties="expected")
    assert of.per_query(f"revenue@{k}")["value"].to_list() == pytest.approx([np.mean(each)], abs=1e-12)
    why = f"mean_price@{k} has no closed form for ties='expected'"
    assert why in error(lambda: of.evaluate(f"mean_price@{k}"), NotComputableError)


def test_a_tie_with_and_without_values_has_no_mean() -> None:
    """Nulls are not taken for anything."""
    some = tied().with_columns(price_eur=pl.when(pl.col("doc") != "b").then("price_eur"))
    said = error(lambda: some.irm(extra=PRICE, ties="expected").evaluate("revenue@1"), NotComputableError)
    assert said.startswith("run.column('price'): of rows with equal scores some have no value")


def test_a_metric_that_reads_a_column_changes_no_other_metric_beside_it() -> None:
    """ndcg_rel has no closed form for ties of different judgments; ties of different prices are none."""
    log = tied()[:3]
    of = log.irm(extra=PRICE, ties="expected")
    assert of.evaluate("revenue@1", "ndcg_rel")["value"].to_list() == [3.0, 1.0]


def test_blocks_and_threads_make_no_difference() -> None:
    """Values are the same to the last bit."""
    random = np.random.default_rng(0)
    n = 600
    log = pl.DataFrame(
        {
            "query": random.integers(0, 60, n),
            "score": random.random(n),
            "grade": random.integers(0, 3, n),
            "price_eur": random.random(n).round(2),
            "run": random.integers(0, 2, n),
        }
    )
    of = log.irm(extra=PRICE, system="run")
    asked = ["mean_price@3", "revenue", "ndcg@3"]
    whole = of.per_query(*asked)
    assert whole.filter(metric="ndcg@3").equals(log.irm(system="run").per_query("ndcg@3"))
    with small_blocks(7), threads(3):
        assert of.per_query(*asked).equals(whole)
    shuffled = log.sample(fraction=1, shuffle=True, seed=1).irm(extra=PRICE, system="run").per_query(*asked)
    assert sorted(shuffled.rows()) == sorted(whole.rows())


def test_verbs_that_take_values_apart_or_compare_them(log: pl.DataFrame) -> None:
    """By hand: revenue of a rises with z, by 60, and x, by 10; a system that turns the list round is compared."""
    of = log.irm(extra=PRICE)
    assert of.explain("revenue", query="a")["contribution"].to_list() == [0.0, 60.0, 10.0, 0.0]
    assert of.curve("revenue@k", cutoffs=3, per="query")["value"].to_list() == [0, 60, 70, 0, None, None]
    two = pl.concat([log.with_columns(run=pl.lit("one")), log.with_columns(run=pl.lit("two"), score=-pl.col("score"))])
    compared = two.filter(query="a").irm(extra=PRICE, system="run").compare("revenue@1", baseline="one")
    assert compared["difference"].to_list() == [10.0]
    assert "is not bounded by the worst and the best order" in error(lambda: of.bounds("revenue", of="ties"))


def test_bounds_of_unjudged_rows_are_about_judgments_alone(log: pl.DataFrame) -> None:
    """A declaration does not help where a column is read."""

    @metric(range=(0, math.inf), best=None, unjudged="rises")
    def spent(run: Ranking) -> Array:
        return run.total(run.column("price", relevant=True))

    why = "spent reads run.column('price'), and bounds of unjudged rows are about judgments alone"
    assert why in error(lambda: log.irm(extra=PRICE).bounds("spent", of="unjudged"), NotComputableError)


def test_a_column_that_is_read_only_now_and_then_is_an_error_that_says_so(log: pl.DataFrame) -> None:
    """The kernel is tried on one row, and what it reads there is read from the frame."""

    @metric(best=None, range=(0, math.inf))
    def moody(run: Ranking) -> Array:
        return run.hits() if run.n_queries == 1 else run.total(run.column("price"))

    said = error(lambda: log.irm(extra=PRICE).evaluate("moody"), KernelError)
    assert said.startswith(
        "moody: its function moody() raised LookupError: the ranking has no column 'price'; call run."
    )


def test_a_column_is_no_item_of_extra(log: pl.DataFrame) -> None:
    """``run.extra["price"]`` is an error that lists what there is, ``run.column`` among it."""

    @metric(best=None, range=(0, math.inf))
    def direct(run: Ranking) -> Array:
        return run.total(run.extra["price"])  # type: ignore[attr-defined]

    said = error(lambda: log.irm(extra=PRICE).evaluate("direct"), KernelError)
    assert "a Ranking has no 'extra'; it has lengths, n_relevant, rank, grade, relevant, judged, gains, column" in said


def test_tables_have_no_rows_to_read_a_column_of(log: pl.DataFrame) -> None:
    """Counts do not say which row is which; the error names the input that does, in any verb."""

    @metric()
    def priced(table: Confusion) -> Array:
        return table.column("price")

    said = error(lambda: log.irm(extra=PRICE).evaluate("priced@3"), KernelError)
    assert said.startswith("priced@3: its function priced() raised AttributeError: a Confusion has no 'column'; it has")
    assert said.endswith("; annotate the first parameter as Ranking to read it")


def test_scores_are_read_by_a_kernel_of_rankings_too(log: pl.DataFrame) -> None:
    """They are then needed; where ranks order the rows there may be none."""

    @metric(best=None, range=(0, math.inf), unjudged="rises")
    def margin(run: FullRanking) -> Array:
        """Distance of the best score to the next."""
        assert run.score is not None
        first = run.starts[run.n_ret > 1]
        out = np.full(run.n_queries, np.nan)
        out[run.n_ret > 1] = run.score[first] - run.score[first + 1]
        return out

    assert log.irm.per_query("margin")["value"].to_list() == [1.0, 1.0]
    assert log.irm.explain("margin", query="a")["contribution"].to_list() == [0.0, 1.0, 0.0, 0.0]
    assert log.irm.bounds("margin", of="unjudged")["upper"].to_list() == [1.0]
    ranks = log.select("query", "doc", "grade", rank="stock")
    assert "margin" not in error(lambda: ranks.irm.evaluate("margin"), ColumnError)


def test_the_list_of_metrics_says_what_is_needed() -> None:
    """Beside what ours need."""
    assert frame_metrics.list_metrics().filter(name="mean_price")["needs"].to_list() == ["extra price"]


def test_pandas_columns_that_are_called_by_numbers_are_named() -> None:
    """As other roles are."""
    import pandas as pd

    frame = pd.DataFrame({0: ["a", "a"], 1: [2.0, 1.0], 2: [1, 0], 3: [5.0, None]})
    of: Any = frame.irm(query=0, score=1, grade=2, extra={"price": 3})  # type: ignore[operator]
    assert of.evaluate("mean_price")["value"].tolist() == [5.0]
    assert "extra  price=3" in repr(of)
    assert "extra" not in of(extra=None).roles


@pytest.mark.parametrize("kind", KINDS)
def test_lists_of_values_are_those_of_the_results_and_one_value_is_that_of_each(kind: str) -> None:
    """Where a row is a query; a list column that no metric reads is left alone."""
    rows = {"query": ["a", "b"], "doc": [["x", "y"], ["x"]], "grade": [[1, 0], [1]]}
    rows |= {"price_eur": [[3.0, 5.0], [None]], "fee": [1.0, 2.0], "odd": [[1.0], [1.0, 2.0]]}
    of = IRM(as_kind(pl.DataFrame(rows), kind), extra={**PRICE, "odd": "odd"})
    assert as_polars(of.per_query("mean_price", layout="wide")).drop("answered").rows() == [("a", 4.0), ("b", None)]
    assert as_polars(of(extra={"price": "fee"}).per_query("mean_price", "ndcg", layout="wide")).drop(
        "answered"
    ).rows() == [
        ("a", 1.0, 1.0),
        ("b", 2.0, 1.0),
    ]


def test_each_of_several_systems_reads_the_values_of_the_rows() -> None:
    """Where each system is a column of scores."""
    rows = {"query": [1, 1], "bm25": [2.0, 1.0], "dense": [1.0, 2.0], "grade": [1, 0], "price_eur": [3.0, 5.0]}
    of = pl.DataFrame(rows).irm(score=["bm25", "dense"], extra=PRICE)
    assert of.evaluate("mean_price@1")["value"].to_list() == [3.0, 5.0]
