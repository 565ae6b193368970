"""Propensities estimated from clicks, and weights made of them: by hand, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, BadRowsError, BadValueError, ColumnError, NotComputableError, UnknownNameError
from helpers import KINDS, as_kind, as_polars, error

# Ten impressions of "tea" and ten of "cup", half of them with each order of documents; clicks of the impressions.
ORDERS = {"tea": ("xyz", "yxz", "zxy"), "cup": ("xyz", "zyx", "yzx")}


def made(p: tuple[float, ...] = (1, 0.5, 0.25), times: int = 8) -> pl.DataFrame:
    """A log in which each document is clicked exactly as often as its relevance times the propensity of its rank."""
    relevance = {"tea": {"x": 1.0, "y": 0.5, "z": 1.0}, "cup": {"x": 0.5, "y": 1.0, "z": 0.5}}
    rows = [
        (f"{text}{order}{i}", text, doc, rank, int(i < times * p[rank - 1] * relevance[text][doc]))
        for text, orders in ORDERS.items()
        for order in orders
        for i in range(times)
        for rank, doc in enumerate(order, 1)
    ]
    return pl.DataFrame(rows, schema=["search", "text", "doc", "rank", "clicked"], orient="row")


ROLES = {"query": "search", "rank": "rank", "label": "clicked"}
SLATE = pl.DataFrame(
    {"query": [1, 1, 2, 2], "rank": [1, 2, 1, 2], "label": [1, 0, 1, 1], "chance": [1.0, 0.5, 1.0, 0.5]}
)
WEIGHED = {"query": "query", "rank": "rank", "label": "label", "propensity": "chance"}


@pytest.mark.parametrize("estimator", ["pivot", "adjacent", "all_pairs"])
@pytest.mark.parametrize("kind", KINDS)
def test_exact_rates_give_the_propensities_back(estimator: Any, kind: str) -> None:
    """If each rate is relevance times propensity every estimator finds it, in any kind of frame and order of rows."""
    log = made()
    for rows in (log, log.sample(fraction=1, shuffle=True, seed=1)):
        found = as_polars(IRM(as_kind(rows, kind), **ROLES).propensities(estimator, query_text="text", resamples=30))
        assert found.columns == ["rank", "propensity", "n", "ci_low", "ci_high"]
        assert found["propensity"].to_list() == pytest.approx([1, 0.5, 0.25], abs=1e-6)
        assert found["ci_low"].to_list() == pytest.approx([1, 0.5, 0.25], abs=1e-6)


def test_propensities_by_hand() -> None:
    """Sums of rates of the documents that stood at both ranks, one over the other; n counts these documents."""
    rows = [("a", "x", 1, 1), ("a", "y", 2, 1), ("b", "y", 1, 1), ("b", "x", 2, 0), ("c", "x", 1, 0), ("c", "z", 2, 1)]
    rows += [("d", "z", 3, 1), ("d", "y", 1, 1), ("d", "x", 2, 1)]
    log = pl.DataFrame(rows, schema=["search", "doc", "rank", "clicked"], orient="row").with_columns(text=pl.lit("t"))
    irm = log.irm(**ROLES)
    # At ranks 1 and 2 x has 1/2 and 1/2, y 2/2 and 1/1; at ranks 2 and 3 z has 1/1 and 1/1; no document at 1 and 3.
    found = irm.propensities("adjacent", query_text="text")
    assert found.select("rank", "propensity", "n").rows() == [(1, 1.0, 2), (2, 1.0, 3), (3, 1.0, 1)]
    assert found["ci_low"].null_count() == 3  # one thing was searched
    assert log.head(0).irm(**ROLES).propensities(query_text="text").is_empty()
    assert "rank 3 and at rank 1" in error(lambda: irm.propensities(query_text="text"), NotComputableError)
    assert irm.propensities(query_text="text", k=2)["n"].to_list() == [2, 2]
    less = log.with_columns(clicked=pl.when(pl.col("search") == "a").then(0).otherwise("clicked")).irm(**ROLES)
    # Without the clicks of a x has 0/2 and 1/2 there, y 2/2 and 0/1.
    assert less.propensities(query_text="text", k=2)["propensity"].to_list() == [1.0, 0.5]


def test_all_pairs_come_to_the_top_of_the_likelihood() -> None:
    """Also where rates of 1 are fitted, to which steps are short: after 25 of them rank 2 had 0.59994."""
    lists = [("s", "cba", "111"), ("s", "acb", "101"), ("s", "abc", "001"), ("t", "bca", "111"), ("t", "bac", "011")]
    rows = [
        (search, text, doc, rank, int(click))
        for search, (text, docs, clicks) in enumerate(lists)
        for rank, (doc, click) in enumerate(zip(docs, clicks, strict=True), 1)
    ]
    log = pl.DataFrame(rows, schema=["search", "text", "doc", "rank", "clicked"], orient="row")
    found = log.irm(**ROLES).propensities("all_pairs", query_text="text", ci=None)
    assert found["propensity"].to_list() == pytest.approx([1, 0.6, 1.2], abs=1e-9)


def test_a_rank_may_be_linked_through_a_deeper_one() -> None:
    """No document stood at ranks 1 and 2, but x at 1 and 3, and y at 2 and 3: with all pairs that is enough."""
    clicked = {"xuy": ("100", "101"), "vyx": ("010", "011")}
    rows = [
        (order + clicks, "t", doc, rank, int(click))
        for order, each in clicked.items()
        for clicks in each
        for rank, (doc, click) in enumerate(zip(order, clicks, strict=True), 1)
    ]
    log = pl.DataFrame(rows, schema=["search", "text", "doc", "rank", "clicked"], orient="row")
    found = log.irm(**ROLES).propensities("all_pairs", query_text="text", ci=None)
    assert found["propensity"].to_list() == pytest.approx([1, 1, 0.5], abs=1e-6)


def test_segments_have_propensities_of_their_own() -> None:
    """Of each segment, which the frame that is weighted by them finds again; of a plan the types are known before."""
    phone, desk = made((1, 0.5, 0.5)).with_columns(device=pl.lit("phone")), made().with_columns(device=pl.lit("desk"))
    log = pl.concat([phone.with_columns(pl.col("search") + "p"), desk])
    irm = log.irm(**ROLES, by="device")
    found = irm.propensities(query_text="text", resamples=10)
    assert found.select("device", "rank", pl.col("propensity").round(6)).rows() == [
        *(("desk", rank, p) for rank, p in enumerate((1, 0.5, 0.25), 1)),
        *(("phone", rank, p) for rank, p in enumerate((1, 0.5, 0.5), 1)),
    ]
    plan = log.lazy().irm(**ROLES, by="device").propensities(query_text="text", resamples=10)
    assert plan.collect_schema() == found.schema
    assert plan.collect().equals(found)
    assert irm(propensity=plan).evaluate("cg").equals(irm(propensity=found).evaluate("cg"))
    assert irm(propensity=found).evaluate("cg")["value"].to_list() == pytest.approx([2.25, 2.25])


def test_clicks_are_counted_against_propensities() -> None:
    """The rate of a document is then its clicks over how often it was looked at, which is what it is relevant."""
    found = made().irm(**ROLES, propensity={1: 1, 2: 0.5, 3: 0.25}).click_judgments("ctr", query_text="text")
    grades = {(text, doc): grade for text, doc, grade in found.select("text", "doc", "grade").rows()}
    assert grades == pytest.approx({(t, d): 1.0 if (t, d) in {("tea", "x"), ("tea", "z"), ("cup", "y")} else 0.5
                                    for t in ORDERS for d in "xyz"})  # fmt: skip


def test_weighted_values_by_hand() -> None:
    """Clicks at rank 2 count twice; the effective sample size is (1 + 1 + 2)^2 / (1 + 1 + 4); clip=1.5 cuts."""
    found = SLATE.irm(**WEIGHED).evaluate("cg", "precision@2", "click_position_sum", "clicks_per_query@1")
    assert found["value"].to_list() == pytest.approx([(1 + 1 + 2) / 2, (1 + 1 + 2) / 4, (1 + 1 + 4) / 2, 1])
    assert found["n_effective"].to_list() == pytest.approx([16 / 6, 16 / 6, 16 / 6, 2])
    (row,) = SLATE.irm(**WEIGHED, clip=1.5).evaluate("cg").rows(named=True)
    assert (row["value"], row["n_effective"]) == pytest.approx((3.5 / 2, 3.5**2 / (1 + 1 + 1.5**2)))
    seen = SLATE.irm(**WEIGHED, clip=1.5).audit().filter(check="clipped weights")
    assert seen.select("n", "share").rows() == [(1, 1 / 3)]
    (mean,) = SLATE.irm(**WEIGHED).evaluate("mean_click_position", average="micro")["value"]
    assert mean == pytest.approx((1 + 1 + 2 * 2) / (1 + 1 + 2))
    (plain,) = SLATE.irm(**WEIGHED)(propensity=None).evaluate("mean_click_position", average="micro")["value"]
    assert plain == pytest.approx((1 + 1 + 2) / 3)
    scaled = SLATE.irm(**WEIGHED).evaluate("sdcg(max_grade=1)@2")["value"].item()  # a weight is no gain
    assert scaled == pytest.approx((1 + (1 + 2 / np.log2(3)) / 1) / 2 / (1 + 1 / np.log2(3)))
    curve = SLATE.irm(**WEIGHED).curve("ctr", cutoffs=2)
    assert curve["value"].to_list() == pytest.approx([1, 1])
    wide = SLATE.irm(**WEIGHED).evaluate("cg", layout="wide", ci=0.9)
    assert wide.columns == [
        "average",
        "n",
        *(f"cg{end}" for end in ("", "_undefined", "_n_effective", "_low", "_high")),
    ]


def test_effective_sizes_of_other_policies() -> None:
    """Lists whose weights are 2 and 1/2 count as (2 + 1/2)^2 / (4 + 1/4) lists; query weights enter."""
    log = SLATE.with_columns(target=pl.Series([1.0, 0.5, 0.5, 0.25]), share=pl.Series([1, 1, 3, 3]))
    log = log.with_columns(chance=0.5)
    irm = log.irm(**WEIGHED, target_propensity="target")
    found = irm.evaluate("sips", "iips", "rips")
    assert found["value"].to_list() == pytest.approx([(2 + 0.5 * 2) / 2, (2 + 1 + 0.5) / 2, (2 + 1 + 0.5) / 2])
    lists = (2 + 0.5) ** 2 / (4 + 0.25)
    assert found["n_effective"][0] == pytest.approx(lists)
    # Each result is half a list: of iips their weights are 2, 1, 1 and 1/2.
    assert found["n_effective"][1] == pytest.approx((4.5 / 2) ** 2 / (6.25 / 2))
    weighted = irm(weight="share").evaluate("sips")["n_effective"].to_list()
    assert weighted == pytest.approx([(1 * 2 + 3 * 0.5) ** 2 / (1 * 4 + 9 * 0.25)])


HEAVY = ("weights of lists far from 1", "weights of results far from 1", "few effective lists")


def placed(chance: float, lists: int = 200, *, wrong: bool = False) -> pl.DataFrame:
    """Lists of three results that a policy places with a chance, and another one with .95."""
    rng = np.random.default_rng(2)
    good = rng.random((lists, 3)) < chance
    logged, target = np.where(good, chance, 1 - chance), np.where(good, 0.95, 0.05)
    columns = {"query": np.repeat(np.arange(lists), 3), "rank": np.tile([1, 2, 3], lists)}
    columns |= {"label": (rng.random(3 * lists) < 0.3).astype(int), "logged": logged.ravel()}
    return pl.DataFrame(columns | {"target": target.ravel() / (2 if wrong else 1)})


def heavy(irm: Any) -> dict[str, Any]:
    """What the audit finds about weights: the count and the message of each check."""
    found = irm.audit().filter(pl.col("check").is_in((*HEAVY, "few effective results")))
    return {row["check"]: (row["n"], row["message"]) for row in found.iter_rows(named=True)}


def test_the_audit_compares_the_mean_of_weights_with_1() -> None:
    """Policies that overlap pass; one that seldom places what the other does, and wrong chances, are found."""
    chances = {"propensity": "logged", "target_propensity": "target"}
    assert heavy(placed(0.7).irm(**chances)) == {}
    seldom = heavy(placed(0.1).irm(**chances))
    assert [*seldom] == ["weights of lists far from 1", "few effective lists"]
    assert seldom["few effective lists"][0] == 200
    assert "is 0.0" in seldom["weights of lists far from 1"][1]
    wrong = heavy(placed(0.7, wrong=True).irm(**chances))
    assert [*wrong] == ["weights of lists far from 1", "weights of results far from 1"]
    assert "is 0.5 in" in wrong["weights of results far from 1"][1]
    equal = placed(0.7).with_columns(target="logged").irm(**chances)
    assert heavy(equal) == {}


def test_the_audit_looks_at_the_lists_of_each_system_and_of_each_piece(tmp_path: Any) -> None:
    """The finding counts the lists of the system with bad weights, and names it; a file in pieces has the same."""
    both = pl.concat([placed(0.7).with_columns(run=pl.lit("a")), placed(0.1).with_columns(run=pl.lit("b"))])
    chances = {"propensity": "logged", "target_propensity": "target", "system": "run"}
    found = both.irm(**chances).audit()
    row = found.filter(check="few effective lists").row(0, named=True)
    assert (row["n"], row["share"], row["example"]) == (200, 0.5, "b")
    both.write_parquet(tmp_path / "log.parquet")
    pieces = pl.scan_parquet(tmp_path / "log.parquet").irm(**chances).audit()
    assert pieces.collect().filter(pl.col("check").is_in(HEAVY)).equals(found.filter(pl.col("check").is_in(HEAVY)))


def test_the_summary_says_how_many_lists_decide() -> None:
    """Of another policy it counts lists, and says where they are too few; the audit's warning stands there too."""
    chances = {"propensity": "logged", "target_propensity": "target"}
    found = placed(0.1).irm(**chances).summary("sips")
    weighted = found.filter(kind="weighted")["sentence"].item()
    assert "the lists behind sips are as informative as" in weighted
    assert weighted.endswith("of equal weight; fewer than 30 are too few for an interval.")
    assert "Weights of lists far from 1" in found.filter(kind="audit")["sentence"].item()
    good = placed(0.8).irm(**chances).summary("sips").filter(kind="weighted")["sentence"].item()
    assert good.endswith("of equal weight.")


def test_few_heavy_clicks_are_found() -> None:
    """Without another policy it is the relevant results that are counted, with the weights that clip= leaves."""
    log = placed(0.7).with_columns(logged=pl.when(pl.int_range(600) % 60 == 0).then(0.001).otherwise(1.0))
    log = log.with_columns(label=pl.lit(1))
    assert heavy(log.irm(propensity="logged"))["few effective results"][0] == 600
    assert heavy(log.irm(propensity="logged", clip=2.0)) == {}


def test_a_comparison_of_weighted_values_has_no_wins() -> None:
    """Differences, intervals and p-values are there; wins, which are biased, are null, and their tests errors."""
    rng = np.random.default_rng(0)
    n = 60
    log = pl.DataFrame(
        {
            "query": np.repeat(np.arange(n), 4) % (n // 2),
            "system": np.repeat(["p", "q"], n * 2),
            "rank": np.tile([1, 2, 3, 4], n),
            "label": rng.integers(0, 2, n * 4),
        }
    )
    irm = log.irm(system="system", propensity={k: 1 / k for k in range(1, 5)})
    (row,) = irm.compare("dcg", permutations=50, resamples=50).rows(named=True)
    means = dict(irm.evaluate("dcg").select("system", "value").rows())
    assert row["difference"] == pytest.approx(means["q"] - means["p"])
    assert (row["wins"], row["ties"], row["losses"]) == (None, None, None)
    assert row["p_value"] is not None
    assert "only means are without bias" in error(lambda: irm.compare("dcg", test="sign"))


@pytest.mark.parametrize(
    ("roles", "call", "cause", "says"),
    [
        ({}, lambda irm: irm.evaluate("ndcg"), NotComputableError, "ndcg does not add up"),
        ({}, lambda irm: irm.evaluate("mean_click_position"), NotComputableError, "average='micro'"),
        ({}, lambda irm: irm.evaluate("sips"), ColumnError, "target_propensity="),
        ({"target_propensity": {1: 1, 2: 1}}, lambda irm: irm.evaluate("sn_sips"), NotComputableError, "sips@10"),
        ({}, lambda irm: irm.evaluate("sn_cg"), UnknownNameError, "sips, iips and rips"),
        ({}, lambda irm: irm.evaluate("gm_dcg"), NotComputableError, "the gmean of values weighted"),
        *(({}, lambda irm, a=a: irm.evaluate("dcg", average=a), NotComputableError, f"the {a} of values weighted")
          for a in ("median", "min", "max", "q0.9", "gmean")),
        ({}, lambda irm: irm.explain("dcg", query=1), ColumnError, "nothing is weighted here"),
        ({}, lambda irm: irm.bounds("dcg", of="unjudged"), ColumnError, "nothing is weighted here"),
        ({}, lambda irm: irm.propensities(), ColumnError, "nothing is weighted here"),
        ({"unjudged": "drop"}, lambda irm: irm.evaluate("dcg"), NotComputableError, "condensed lists"),
        (
            {"query": None, "rank": None, "score": "rank"},
            lambda irm: irm.evaluate("roc_auc"),
            ColumnError,
            "propensity= is about",
        ),
        ({"propensity": None, "clip": 2}, lambda irm: irm.evaluate("dcg"), ColumnError, "clip= has no effect"),
        ({"clip": 0}, lambda irm: irm.evaluate("dcg"), BadValueError, "a weight above 0"),
        ({"propensity": {1: 0, 2: 1}}, lambda irm: irm.evaluate("dcg"), BadRowsError, "1 of 2 rows is not above 0"),
        ({"target_propensity": {1: 2}}, lambda irm: irm.evaluate("dcg"), BadValueError, "to chances from 0 to 1"),
        ({"propensity": {np.inf: 1}}, lambda irm: irm.evaluate("dcg"), BadValueError, "a mapping from ranks to"),
        (
            {"propensity": {1: 1}},
            lambda irm: irm.evaluate("dcg"),
            BadRowsError,
            "rank: 2 of 4 rows have no propensity (rows 1, 3); propensity= says nothing of their rank",
        ),
        ({"propensity": SLATE}, lambda irm: irm.evaluate("dcg"), ColumnError, "'rank' and 'propensity'"),
        ({"propensity": 0.5}, lambda irm: irm.evaluate("dcg"), BadValueError, "the name of a column, or the frame"),
        ({"rank": None, "score": "chance", "propensity": {1: 1, 2: 1}}, lambda irm: irm.evaluate("dcg"), ColumnError,
         "read at the rank that was shown"),
    ],
)  # fmt: skip
def test_what_is_refused(roles: dict[str, Any], call: Callable[[Any], Any], cause: Any, says: str) -> None:
    """What weights would not correct, or what says nothing of them, is an error that names the way out."""
    assert says in error(lambda: call(IRM(SLATE, **WEIGHED | roles)), cause)


@pytest.mark.parametrize("call", ["evaluate", "per_query", "compare", "audit", "summary", "report"])
def test_results_without_an_order_are_refused(call: str) -> None:
    """Weights are of results that were shown, and these have a rank or a score: the error says so for every verb."""
    log = SLATE.rename({"rank": "position"})
    irm = IRM(log, **{**WEIGHED, "rank": None, "propensity": "chance"}, score=None)
    asked = () if call in ("audit", "summary", "report") else ("precision",)
    said = "is missing|this call needs"
    with pytest.raises(ColumnError, match=said):
        getattr(irm, call)(*asked)


@pytest.mark.parametrize(
    ("chance", "says"),
    [
        ([1.0, 0.0, 1.0, 0.5], "chance: 1 of 4 rows is not above 0 (row 1)"),
        ([1.0, 0.5, 1.0, 1.5], "chance: 1 of 4 rows is not between 0 and 1 (row 3)"),
        ([1.0, None, 1.0, None], "chance: 2 of 4 rows have no propensity (rows 1, 3)"),
        ([1.0, float("nan"), 1.0, 1.0], "chance: 1 of 4 rows is NaN (row 1)"),
        ([1, -1, 1, 1], "not above 0"),
        ([True, True, True, False], "a propensity is a number, and this column is Boolean"),
        ([*"abcd"], "a propensity is a number, and this column is text"),
    ],
)
def test_bad_chances_are_errors(chance: list[Any], says: str) -> None:
    """They name the column, count the rows, and say where they are; an audit tells the same of numbers."""
    log = SLATE.with_columns(chance=pl.Series(chance))
    assert says in error(lambda: log.irm(**WEIGHED).evaluate("dcg"), BadValueError)
    if "of 4 rows" in says:
        (message,) = log.irm(**WEIGHED).audit().filter(pl.col("check").str.contains("propensit"))["message"]
        assert says.split("(")[0] in message


def test_what_was_not_shown_needs_no_chance() -> None:
    """A row without a rank weighs nothing; equal scores whose rows weigh differently need an order."""
    log = pl.concat([SLATE, SLATE.head(1).with_columns(rank=None, chance=None)])
    assert log.irm(**WEIGHED).evaluate("cg")["value"].to_list() == [2.0]
    tied = SLATE.with_columns(score=pl.lit(1.0), label=pl.lit(1)).irm(**WEIGHED | {"rank": None, "score": "score"})
    assert "different propensities" in error(lambda: tied.evaluate("dcg"), NotComputableError)
    assert tied(ties="order").evaluate("cg")["value"].to_list() == [3.0]


@pytest.mark.parametrize(
    ("roles", "options", "says"),
    [
        ({}, {}, "if each query is one impression, pass the column of the search text as query_text="),
        ({"rank": None, "score": "rank"}, {"query_text": "text"}, "propensities() reads what was shown where"),
        (
            {"query": ["search", "text"], "cluster": "user"},
            {"query_text": "text"},
            "cluster='user': propensities() draws",
        ),
        ({}, {"query_text": "text", "estimator": "em"}, "estimator='em'"),
        ({}, {"query_text": "text", "k": 0}, "k=0"),
        ({}, {"query_text": 3.5}, "propensities: query_text=3.5"),
    ],
)
def test_propensities_refuse(roles: dict[str, Any], options: dict[str, Any], says: str) -> None:
    """A log in which nothing overlaps, or that does not say what was shown, and options that there are not."""
    assert says in error(lambda: IRM(made().with_columns(user="search"), **ROLES | roles).propensities(**options))


def test_what_is_shown_and_planned() -> None:
    """The repr names a frame of propensities and does not print it; a plan knows its columns; a summary has dcg."""
    frame = pl.DataFrame({"rank": [1, 2], "propensity": [1.0, 0.5]})
    irm = SLATE.irm(**WEIGHED | {"propensity": frame})
    assert "propensity=<polars" in repr(irm)
    assert "dcg@10" in irm.summary().filter(place=2)["sentence"][0]
    for layout in ("long", "wide"):
        plan = SLATE.lazy().irm(**WEIGHED).evaluate("cg", "precision@2", ci=0.9, layout=layout)
        assert plan.collect_schema() == plan.collect().schema


def test_frames_of_chances_are_of_the_segments_that_are_named() -> None:
    """Their type is that of the log's segments, and no other column is left unread."""
    log = pl.DataFrame({"query": [1, 2], "rank": [1, 1], "label": [1, 1], "hour": [1, 2]})
    chances = pl.DataFrame({"hour": [1.9, 2.9], "rank": [1, 1], "propensity": [0.5, 0.25]})
    assert "give both one type" in error(lambda: log.irm(by="hour", propensity=chances).evaluate("cg"))
    assert "name segments with by=" in error(lambda: log.irm(propensity=chances.head(1)).evaluate("cg"))
    named = log.rename({"hour": "propensity"})
    assert "rename the segment" in error(lambda: named.irm(by="propensity", propensity={1: 0.5}).evaluate("cg"))
    whole = chances.with_columns(pl.col("hour").cast(pl.Int32))
    assert log.irm(by="hour", propensity=whole).evaluate("cg")["value"].to_list() == [2, 4]
    short = log.with_columns(hour=pl.Series([1, None], dtype=pl.Int8))  # a type that does not hold all that is there
    for far in ([1, 300], [1, 300, 301]):
        longer = pl.DataFrame({"hour": far, "rank": 1, "propensity": 0.5})
        said = error(lambda longer=longer: short.irm(by="hour", propensity=longer).evaluate("cg"))
        assert said.startswith("rank: 1 of 2 rows has no propensity (row 1)")


def test_ranks_may_be_linked_by_a_long_chain() -> None:
    """Each document stood at a rank and the next; so deep a rank that nothing can be said says k=."""
    rows = [
        {"query": 2 * rank + turned, "text": f"t{rank}", "rank": rank + place, "doc": doc, "label": 1}
        for rank in range(1, 800)
        for turned, docs in enumerate(("ab", "ba"))
        for place, doc in enumerate(docs)
    ]
    rows.append({"query": 0, "text": "other", "rank": 1, "doc": "c", "label": 0})
    irm = pl.DataFrame(rows).irm(query="query")
    assert irm.propensities("adjacent", query_text="text", ci=None)["propensity"].to_list() == [1.0] * 800
    deep = pl.DataFrame([*rows, {"query": -1, "text": "t1", "rank": 10**9, "doc": "a", "label": 0}]).irm(query="query")
    assert "pass k=" in error(lambda: deep.propensities("adjacent", query_text="text"))


def test_chances_are_made_by_expressions() -> None:
    """As other columns are, in a frame or a plan."""
    log = pl.DataFrame({"query": [1, 1, 2], "rank": [1, 2, 1], "label": [1, 1, 0], "shown": [4, 2, 4]})
    for frame in (log, log.lazy()):
        irm = IRM(frame, propensity=pl.col("shown") / 8, target_propensity=pl.col("shown") / 4)
        assert as_polars(irm.per_query("cg"))["value"].to_list() == [4, 0]


def test_chances_without_segments_are_those_of_each() -> None:
    """Beside by= a table, or a mapping, that has no segments says the same of all of them."""
    log = pl.DataFrame({"query": [1, 1, 2, 2], "rank": [1, 2, 1, 2], "label": [1, 0, 0, 1], "device": [*"ppdd"]})
    for chances in ({1: 1.0, 2: 0.5}, pl.DataFrame({"rank": [1, 2], "propensity": [1.0, 0.5]})):
        found = log.irm(by="device", propensity=chances).evaluate("cg")
        assert found.select("device", "value").sort("device").rows() == [("d", 2.0), ("p", 1.0)]


def test_chances_of_the_segment_that_is_null() -> None:
    """A segment that is null has its own chances, as propensities() gives them."""
    log = pl.DataFrame({"query": [1, 2], "rank": [2, 2], "label": [1, 1], "device": ["phone", None]})
    chances = pl.DataFrame({"device": ["phone", None], "rank": [2, 2], "propensity": [0.5, 0.25]})
    found = log.irm(by="device", propensity=chances).evaluate("cg")
    assert {*found.select("device", "value").rows()} == {("phone", 2.0), (None, 4.0)}
