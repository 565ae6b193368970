"""Rankings compared with each other, without judgments: values, rows, baselines, frames of any kind, and errors."""

from __future__ import annotations

import math
import random
from itertools import product
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics
from frame_metrics import IRM
from helpers import as_kind, as_polars, error, frame, real
from inside import in_pieces, small_blocks

EACH = ("rbo", "rbo_residual", "overlap@3", "jaccard@3", "kendall_tau", "tau_ap@4")
VALUES = ["run", "baseline", "metric", "value"]


def orders(*runs: str, **more: Any) -> pl.DataFrame:
    """Rankings of one query, each a text of documents, called a, b, c ..."""
    rows = [(name, doc, place) for name, docs in zip("abcd", runs, strict=False) for place, doc in enumerate(docs, 1)]
    return pl.DataFrame(rows, ["run", "doc", "rank"], orient="row").with_columns(query=pl.lit(1), **more)


def made(seed: int = 1) -> pl.DataFrame:
    """Rankings of three systems, some of which lack queries; scores are often equal."""
    rng, rows = random.Random(seed), []
    for query, run in product(range(30), "xyz"):
        for doc in rng.sample(range(12), rng.choice((0, 2, 5, 8))):
            keys = {"query": f"q{query}", "run": run, "day": "mon" if query % 3 else None, "user": query % 7}
            rows.append(keys | {"doc": f"d{doc}", "score": rng.randint(0, 9) / 2, "traffic": 1 + query % 4})
    return pl.DataFrame(rows)


def similar(of: Any, *asked: str, **options: Any) -> pl.DataFrame:
    """Similarities as polars."""
    return as_polars(of.similarity(*(asked or EACH), **options))


# Values


@pytest.mark.parametrize(
    ("one", "other", "name", "value"),
    [
        ("abcde", "bazd", "rbo(p=0.9)", 0.69075),
        ("12345", "21354", "tau_ap", 0.375),
        ("12345", "21354", "kendall_tau", 0.6),
        ("abcd", "abcd", "rbo", 1),
        ("abcd", "efgh", "rbo", 0),
        ("abcd", "dcba", "kendall_tau", -1),
        ("abcd", "dcba", "tau_ap", -1),
        ("abc", "abd", "jaccard", 2 / 4),
        ("abc", "abd", "overlap@2", 1),
        ("abc", "abdefg", "overlap", 2 / 6),
        ("ab", "cd", "kendall_tau", (0 - 4) / 6),  # of six pairs the two within a list are tied in the other
        ("abc", "abc", "rbo_residual(p=0.5)", 0.5**3 - 3 * (math.log(2) - 1 / 2 - 1 / 8 - 1 / 24)),
    ],
)
def test_values_worked_by_hand(one: str, other: str, name: str, value: float) -> None:
    """Of two short lists."""
    found = orders(one, other).irm(system="run").similarity(name, baseline="b")
    assert found["value"].to_list() == pytest.approx([value], abs=1e-12)


def test_a_query_that_one_lacks_is_0_and_one_that_both_lack_is_undefined() -> None:
    """The query is known from a third system."""
    rows = [(1, "a", "x", 1), (1, "a", "y", 2), (2, "b", "x", 1), *((query, "c", "x", 1) for query in (1, 2, 3))]
    log = frame("query run doc rank", *rows)
    irm = log.irm(system="run")
    found = irm.similarity("rbo", "jaccard", "overlap@5", "kendall_tau", "tau_ap", baseline="b", per_query=True)
    a = found.filter(run="a")
    assert a.filter(pl.col("query") < 3)["value"].to_list() == [0] * 10
    assert a.filter(query=3).select("value", "undefined").unique().rows() == [(None, True)]
    means = irm.similarity("rbo", baseline="b").filter(run="a")
    assert means.select("value", "n", "n_undefined").rows() == [(0, 2, 1)]
    assert irm(undefined="zero").similarity("rbo", baseline="b").filter(run="a")["n"].to_list() == [3]


def test_values_of_one_document_are_undefined_where_pairs_are_counted() -> None:
    """There is no pair."""
    found = orders("a", "a").irm(system="run").similarity("kendall_tau", "tau_ap", "rbo")
    assert found["value"].to_list() == [None, None, 1]


def test_ranks_without_a_document_hold_no_place() -> None:
    """Only the order counts, and `@2` is of the first two documents."""
    gaps = orders("abc", "acb").with_columns(rank=pl.col("rank") * 3)
    assert_frame_equal(similar(gaps.irm(system="run")), similar(orders("abc", "acb").irm(system="run")))


def test_values_are_in_the_declared_range() -> None:
    """Lists of any lengths, of equal scores in any order, and of any patience."""
    for ties, p in product(("doc", "order", "expected"), (0, 0.3, 0.999, 1)):
        asked = (f"rbo(p={p})", "overlap@4", "rbo_residual", "jaccard", "kendall_tau", "tau_ap")
        found = similar(made().irm(system="run", ties=ties), *asked, per_query=True)
        ranges = frame_metrics.list_metrics().select(pl.col("name"), "lowest", "highest")
        held = found.with_columns(name=pl.col("metric").str.extract(r"^(\w+)")).join(ranges, on="name")
        assert len(held) == len(found)
        assert held.drop_nulls("value").select(pl.col("value").is_between("lowest", "highest").all()).item()


def test_lists_that_are_alike_have_1() -> None:
    """In every measure, exactly, whatever their length."""
    log = made().filter(run="x")
    twice = pl.concat([log, log.with_columns(run=pl.lit("y"))]).irm(system="run")
    found = similar(twice, "rbo", "rbo(p=0.7)@5", "overlap@3", "jaccard", "kendall_tau", "tau_ap", per_query=True)
    assert found["value"].drop_nulls().to_list() == [1.0] * found["value"].count()


def test_what_does_not_ask_which_is_the_baseline_is_the_same_both_ways() -> None:
    """All measures but AP correlation."""
    irm = made().irm(system="run")
    asked = ("rbo", "rbo@3", "rbo_residual", "overlap@3", "jaccard@3", "kendall_tau", "kendall_tau(variant='b')")
    found = [similar(irm, *asked, baseline=name, per_query=True) for name in "xy"]
    one, other = (each.filter(run=run).drop("run", "baseline") for each, run in zip(found, "yx", strict=True))
    assert_frame_equal(one, other, abs_tol=1e-12)


# Rows


def test_pairs_and_columns() -> None:
    """Every system with all before it, or with the baselines that are named, as `evaluate` averages."""
    irm = orders("abc", "acb", "bca").irm(system="run")
    found = irm.similarity("rbo@2", "tau_ap")
    assert found.columns == ["run", "baseline", "metric", "k", "average", "value", "n", "n_undefined"]
    pairs = [("b", "a"), ("c", "a"), ("c", "b")]
    keys = [(*pair, name, k, "macro") for pair in pairs for name, k in (("rbo@2", 2), ("tau_ap", None))]
    assert found.select("run", "baseline", "metric", "k", "average").rows() == keys
    assert irm.similarity("rbo", baseline=["c", "a"]).select("run", "baseline").rows() == [("b", "c"), ("b", "a")]
    each = irm.similarity("rbo", baseline="a", per_query=True)
    assert each.columns == ["run", "baseline", "query", "metric", "k", "value", "undefined"]


def test_means_are_those_of_the_values() -> None:
    """With segments, weights, clusters, intervals, totals and averages as of numbers that were saved."""
    irm = made().irm(system="run", by="day", weight="traffic", cluster="user")
    options: dict[str, Any] = {"ci": 0.9, "resamples": 50, "margins": True}
    found = irm.similarity("rbo", "tau_ap", baseline="x", **options)
    each = irm.similarity("rbo", "tau_ap", baseline="x", per_query=True)
    of_queries = made().select("query", "traffic", "user").unique()
    saved = each.join(of_queries, on="query").irm(
        query="query", system="run", by="day", value="value", weight="traffic", cluster="user"
    )
    assert_frame_equal(found.drop("baseline"), saved.evaluate(**options).drop("n_unanswered"), check_row_order=False)
    several = irm(weight=None).similarity("rbo", baseline="x", average=["median", "q0.9"])
    assert several["average"].unique(maintain_order=True).to_list() == ["median", "q0.9"]


def test_orders_of_systems_are_lists_too() -> None:
    """What `evaluate` returns ranks the systems by each metric, and the metrics' orders are compared."""
    rows = [
        (query, run, doc, -i, (query * i) % 3)
        for query, run in product(range(5), "pqrs")
        for i, doc in enumerate("xyz")
    ]
    log = frame("query run doc score grade", *rows).with_columns(score=pl.col("score") * pl.col("run").rank("dense"))
    means = log.irm(system="run").evaluate("ndcg@2", "rr")
    means = means.rename({"metric": "order", "average": "all"})
    irm = means.irm(query="all", system="order", doc="run", score="value", ties="expected")
    found = irm.similarity("kendall_tau(variant='b')", "tau_ap")
    assert found.select("order", "baseline").unique().rows() == [("rr", "ndcg@2")]


# Where rankings stand


@pytest.mark.parametrize("options", [{}, {"per_query": True}, {"margins": True, "ci": 0.9}, {"baseline": made()[:3]}])
def test_a_plan_has_the_schema_that_it_says(options: dict[str, Any]) -> None:
    """Nothing is read before it is collected, and keys keep their types."""
    log = made().cast({"run": pl.Categorical, "day": pl.Categorical})
    if "baseline" in options:
        options = options | {"baseline": log.filter(run="y").drop("run")}
    irm = log.lazy().irm(system="run", by="day")
    found = irm.similarity("rbo", "tau_ap", **options)
    assert isinstance(found, pl.LazyFrame)
    assert found.collect_schema() == found.collect().schema
    assert found.collect_schema()["day"] == pl.Categorical
    unread = log.lazy().map_batches(lambda _: 1 / 0, schema=log.schema)
    assert isinstance(unread.irm(system="run", by="day").similarity("rbo", **options), pl.LazyFrame)


def test_a_frame_without_rows_has_no_systems(kind: str) -> None:
    """Two are needed to compare, also with a baseline beside."""
    empty = IRM(as_kind(made().clear(), kind), system="run")
    assert (
        error(lambda: empty.similarity("rbo"))
        == "run has no systems, as the frame has no rows; two are needed to compare"
    )
    assert error(lambda: empty.similarity("rbo", baseline=made().filter(run="x"))).startswith(
        "run has no systems to comp"
    )
    alone = IRM(as_kind(made().clear(), kind)).similarity("rbo", baseline=made().filter(run="x"))
    n = made().filter(run="x")["query"].n_unique()
    assert as_polars(alone).select("value", "n", "n_unpaired").rows() == [(None, 0, n)]


@pytest.mark.parametrize("baseline", ["y", ["z", "x"], None], ids=str)
@pytest.mark.parametrize("per_query", [False, True])
def test_pieces_agree_with_the_whole(baseline: Any, per_query: bool) -> None:
    """Some pieces of a query do not have the baseline, or any other system."""
    irm = made().filter(pl.col("query") < "q2").irm(system="run", by="day", weight="traffic")
    expected = similar(irm, baseline=baseline, per_query=per_query)
    assert_frame_equal(similar(in_pieces(irm), baseline=baseline, per_query=per_query), expected, abs_tol=1e-12)


def test_nothing_depends_on_blocks_or_on_the_order_of_rows() -> None:
    """To the last bit, with what other queries there are."""
    irm = made().irm(system="run")
    expected = similar(irm, per_query=True).sort("run", "baseline", "query", "metric")
    with small_blocks(7):
        assert_frame_equal(
            similar(irm, per_query=True).sort("run", "baseline", "query", "metric"), expected, check_exact=True
        )
    turned = similar(made().reverse().irm(system="run"), per_query=True).sort("run", "baseline", "query", "metric")
    assert_frame_equal(turned, expected, check_exact=True)
    some = similar(made().filter(pl.col("query") < "q2").irm(system="run"), per_query=True)
    assert_frame_equal(
        some.sort("run", "baseline", "query", "metric"), expected.filter(pl.col("query") < "q2"), check_exact=True
    )


def test_systems_in_columns_and_queries_in_rows() -> None:
    """A column of scores for each system, and a row with lists for each ranking."""
    wide = frame("query doc p q", (1, "a", 3.0, 1.0), (1, "b", 2.0, 2.0), (1, "c", None, 3.0))
    assert wide.irm(score=["p", "q"]).similarity("overlap@2", "jaccard")["value"].to_list() == [1 / 2, 2 / 3]
    lists = pl.DataFrame({"query": [1, 1], "run": ["p", "q"], "doc": [["a", "b"], ["c", "b", "a"]]})
    assert lists.irm(system="run").similarity("overlap@2", "jaccard")["value"].to_list() == [1 / 2, 2 / 3]


@pytest.mark.parametrize("baseline", [["a", "1"], ("a", "1"), [["a", "1"]]])
def test_a_system_that_is_called_by_a_list_is_named_as_one(baseline: Any) -> None:
    """By what compares rankings as by what compares values, in memory and in pieces."""
    log = orders("abc", "bca").with_columns(run=pl.concat_list("run", pl.lit("1"))).with_columns(grade=pl.lit(1))
    irms = [log.irm(system="run"), log.lazy().irm(system="run", memory="1GB")]
    for found in [irms[0].compare("rr", baseline=baseline), *(similar(irm, baseline=baseline) for irm in irms)]:
        assert found.select("run", "baseline").unique().rows() == [(["b", "1"], ["a", "1"])]


def test_judgments_are_not_read() -> None:
    """Neither those in the frame, nor those beside it, nor lists of what is relevant."""
    plain = made().irm(system="run")
    judged = made().with_columns(grade=pl.lit(1), relevant=pl.lit(["d1"], pl.List(pl.String)))
    beside = plain.judge(frame("query doc grade", ("q1", "d1", 1), ("new", "d2", 1)))
    for irm in (judged.irm(system="run", relevant=None), beside, judged.irm(system="run", relevant="relevant")):
        assert_frame_equal(similar(irm), similar(plain))


@pytest.mark.parametrize("role", ["label", "grade"])
@pytest.mark.parametrize("says", ["other things of a document by each run", "a word"])
def test_judgments_that_other_verbs_refuse_are_not_read(role: str, says: str) -> None:
    """Systems are compared whatever the judgments say, as by clicks, which differ where two systems show a document."""
    log = made()
    said = pl.Series(range(len(log))) % 2 if says != "a word" else pl.Series([says] * len(log))
    judged = log.with_columns(said.alias(role)).irm(system="run")
    assert_frame_equal(similar(judged), similar(log.irm(system="run")))
    assert_frame_equal(
        judged.similarity("rbo", baseline=judged.frame.filter(run="x").drop("run")),
        log.irm(system="run").similarity("rbo", baseline=log.filter(run="x").drop("run")),
    )


# A baseline beside


def test_a_frame_of_rankings_is_a_baseline(kind: str) -> None:
    """As if its rows were another system of the frame; of a frame without systems there is no column of them."""
    log = made()
    irm, other = log.filter(pl.col("run") != "y").irm(system="run", by="day"), log.filter(run="y")
    both = irm.frame.join(other, on="query", how="semi").select("query").unique()
    apart = log.join(both, on="query", how="anti").group_by("day").agg(pl.col("query").n_unique())
    expected = log.join(both, on="query", how="semi").irm(system="run", by="day").similarity(*EACH, baseline="y")
    alone = dict(apart.iter_rows())
    assert sum(alone.values()) > 0
    unpaired = pl.Series("n_unpaired", [alone.get(day, 0) for day in expected["day"]])
    expected.insert_column(expected.columns.index("n_undefined") + 1, unpaired)
    assert_frame_equal(similar(irm, baseline=as_kind(other, kind)), expected)
    renamed = as_kind(other.rename({"query": "qid", "doc": "id", "score": "s"}), kind)
    named = IRM(renamed, query="qid", doc="id", score="s", by="day")
    found = similar(irm, baseline=named)
    assert_frame_equal(found.drop("baseline"), expected.drop("baseline"))
    assert found["baseline"].unique().to_list() == ["saved"]
    alone = similar(irm.frame.filter(run="x").irm(system=None, by="day"), baseline=as_kind(other.drop("run"), kind))
    assert alone.columns == [name for name in expected.columns if name != "run"]


def test_queries_that_only_one_of_two_frames_names() -> None:
    """They are in no mean and have no row, and are counted; every system is compared on all that both name."""
    old = frame("query doc score day", *((query, "x", 1.0, "mo" if query < 5 else "tu") for query in range(1, 7)))
    new = old.filter(pl.col("query") > 2).vstack(old.with_columns(query=pl.col("query") + 10))
    row = similar(new.irm, "rbo", baseline=old).row(0, named=True)
    assert (row["value"], row["n"], row["n_undefined"], row["n_unpaired"]) == (1, 4, 0, 8)
    for role in ({}, {"by": "day"}):
        each = similar(new.irm(**role), "rbo", baseline=old, per_query=True)
        assert each.select("query", "value").rows() == [(3, 1), (4, 1), (5, 1), (6, 1)]
    by_day = similar(new.irm(by="day"), "rbo", "overlap@3", baseline=old, margins=True, ci=0.9)
    counts = [("mo", 2, 6), ("tu", 2, 2), (None, 4, 8)]
    assert by_day.select("day", "n", "n_unpaired").rows() == [count for count in counts for _ in range(2)]
    moved = similar(old.with_columns(day=pl.lit("tu")).irm(by="day"), "rbo", baseline=old.filter(day="tu"))
    assert moved.select("value", "n", "n_unpaired").rows() == [(1, 2, 4)]
    empty = similar(old.irm(by="day"), "rbo", baseline=old.filter(day="tu"), ci=0.9)
    assert empty.select("value", "n", "n_unpaired").rows() == [(None, 0, 4), (1, 2, 0)]
    runs = pl.concat([new.with_columns(run=pl.lit("a")), new.filter(query=3).with_columns(run=pl.lit("b"))])
    found = similar(runs.irm(system="run"), "rbo", baseline=old)
    assert found.select("run", "value", "n", "n_unpaired").rows() == [("a", 1, 4, 8), ("b", 1 / 4, 4, 8)]
    assert "n_unpaired" not in similar(runs.irm(system="run"), "rbo").columns


def test_a_query_that_both_frames_name_counts_without_results() -> None:
    """As 0 where one frame retrieved nothing, and as undefined where none did."""
    old = frame("query doc score", (1, "x", 1.0), (2, "x", None), (3, "x", None), (4, "x", 1.0))
    new = frame("query doc score", (1, "x", 1.0), (2, "x", 1.0), (3, "x", None), (5, "x", 1.0))
    found = similar(new.irm, "rbo", baseline=old)
    assert found.select("value", "n", "n_undefined", "n_unpaired").rows() == [(1 / 2, 2, 1, 2)]


def test_intervals_of_a_baseline_beside_are_those_of_the_queries_of_both() -> None:
    """Queries of one frame alone change nothing that is drawn."""
    log = made()
    new, old = log.filter(run="x"), log.filter(run="y").drop("run")
    options = {"ci": 0.9, "resamples": 50}
    found = similar(new.irm(cluster="user", system=None), baseline=old, **options)
    both = new.join(old, on="query", how="semi")
    assert_frame_equal(
        found.drop("n_unpaired"),
        similar(both.irm(cluster="user", system=None), baseline=old, **options).drop("n_unpaired"),
    )


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (orders("ab").drop("doc"), "baseline: doc='doc': there is no such column among"),
        (orders("ab", "ba"), "baseline: run: it has several systems, 'a', 'b'"),
        (
            orders("ab").filter(run="a").with_columns(query=pl.lit("1")),
            "query of the baseline is text, and query of the frame is Int32",
        ),
        (orders("ab").with_columns(query=pl.lit(5)), "baseline: it shares no query with the frame"),
        (
            orders("ab").with_columns(doc=pl.lit(5)).head(1),
            "doc of the baseline is Int32, and doc of the frame is text",
        ),
        (orders("ab").irm(ties="worst"), "baseline: ties='worst' orders equal scores by their judgments"),
        (
            orders("ab", w=pl.lit(1)).irm(weight="w"),
            "baseline: weight='w': the weights of queries are those of the frame",
        ),
        (orders("ab").irm(by="run"), r"baseline: its segments are by=\['run'\], and those of the frame by=\[\]"),
        (
            orders("ab").with_columns(doc=pl.concat_str(pl.lit("http://"), "doc")),
            r"baseline: it shares no document with the frame \(the frame has \(a\), the baseline \(http://a\)\)",
        ),
    ],
)
def test_baselines_that_are_refused(baseline: Any, message: str) -> None:
    """In its own names, and before anything is compared."""
    with pytest.raises(frame_metrics.FrameMetricsError, match=f"^{message}"):
        orders("abc", "bca").irm(system="run").similarity("rbo", baseline=baseline)


def test_segments_of_a_baseline_are_called_alike() -> None:
    """The error names the way, which works in frames of both kinds."""
    log = orders("ab", language=pl.lit("de"))
    here = log.rename({"language": "lang"}).irm(by="lang")
    assert error(lambda: here.similarity("rbo", baseline=log)) == (
        "baseline: by='lang': there is no such column among 'run', 'doc', 'rank', 'query', 'language'; where it "
        "has another name, pass baseline=other.irm(by=pl.col(...).alias('lang')); did you mean 'language'?"
    )
    assert error(lambda: here.similarity("rbo", baseline=log.irm(by="language"))) == (
        "baseline: its segments are by=['language'], and those of the frame by=['lang']; "
        "give them one name, as with by=pl.col('language').alias('lang') there"
    )
    column = pl.col("language").alias("lang")
    for kind, by in (("polars", column), ("pandas", column), ("pandas", lambda last: last["language"].rename("lang"))):
        other = IRM(as_kind(log, kind), by=by)
        assert here.similarity("rbo", baseline=other).select("lang", "value").rows() == [("de", 1)]


def test_systems_of_one_frame_may_share_no_document() -> None:
    """They have 0, and a document that both frames have of any query is enough for a baseline beside."""
    assert orders("ab", "cd").irm(system="run").similarity("rbo")["value"].to_list() == [0]
    old, new = (frame("query doc score", (1, doc, 1.0), (2, other, 1.0)) for doc, other in ("xy", "yx"))
    assert new.irm.similarity("rbo", baseline=old)["value"].to_list() == [0]
    nothing = frame("query doc score", (1, "", None), (2, "", None)).cast({"score": pl.Float64})
    assert new.irm.similarity("rbo", baseline=nothing)["value"].to_list() == [0]


def test_an_interval_of_one_query_is_null() -> None:
    """There is nothing to draw."""
    found = orders("ab", "ba").irm(system="run").similarity("rbo", ci=0.95)
    assert found.select("n", "ci_low", "ci_high").rows() == [(1, None, None)]


# Errors


@pytest.mark.parametrize(
    ("roles", "asked", "options", "message"),
    [
        (
            {"doc": None},
            "rbo",
            {},
            "doc=None was passed, but this call needs the doc; leave doc=None out, or name its column, one of",
        ),
        (
            {"system": None, "by": "run"},
            "rbo",
            {},
            "similarity() compares the rankings of systems; name their column with sy",
        ),
        (
            {},
            "ndcg@10",
            {},
            "ndcg@10 reads judgments, and similarity() has none; it has 'jaccard', 'kendall_tau', 'overlap'",
        ),
        (
            {"ties": "worst"},
            "rbo",
            {},
            "ties='worst' orders equal scores by their judgments, and similarity() reads none",
        ),
        ({}, "rbo(p=2)", {}, "rbo: p=2 is not between 0 and 1"),
        ({}, "rbo(rel=2)", {}, "rbo(rel=2): rel= says what is relevant, and this metric reads nothing of that"),
        ({}, "rbo", {"baseline": "x"}, "baseline='x' is not among the systems of run: 'a', 'b'"),
        ({}, "rbo", {"average": "rows"}, "average='rows' weighs queries by their judged rows"),
        ({}, "rbo", {"average": "micro"}, "rbo has no micro average"),
        ({}, "rbo", {"margins": True}, "margins=True adds the totals over segments; name the segments with by="),
        ({}, "rbo", {"per_query": True, "ci": 0.9}, "ci=0.9 applies to means; pass per_query=False"),
    ],
)
def test_what_is_refused(roles: dict[str, Any], asked: str, options: dict[str, Any], message: str) -> None:
    """In the caller's words, with the way out."""
    irm = IRM(orders("abc", "bca"), **{"system": "run", **roles})
    assert error(lambda: irm.similarity(asked, **options)).startswith(message)


@pytest.mark.parametrize("name", ["jaccard@2", "rbo_residual@2", "kendall_tau@2", "tau_ap@2"])
def test_measures_without_a_mean_over_orders_in_closed_form_are_refused(name: str) -> None:
    """Where scores are equal; elsewhere they have their value."""
    tied = frame("query run doc score", (1, "a", "x", 1), (1, "a", "y", 1), (1, "b", "x", 1)).irm(system="run")
    message = f"{name} has no closed form for ties='expected', and some scores are equal; leave ties= out"
    assert error(lambda: tied(ties="expected").similarity(name)).startswith(message)
    assert tied.similarity(name)["n"].to_list() == [1]
    apart = orders("xy", "x").irm(system="run", rank="rank", ties="expected")
    assert apart.similarity(name)["n"].to_list() == [1]


@pytest.mark.parametrize(
    "verb", ["evaluate", "per_query", "compare", "thresholds", "per_class", "curve", "explain", "bounds"]
)
def test_other_verbs_send_to_similarity(verb: str) -> None:
    """A measure of two rankings has no value of one."""
    irm = orders("ab", "ba", label=pl.lit(1), predicted=pl.lit(1)).irm(query="query", system="run")
    options: dict[str, Any] = {"query": 1} if verb == "explain" else {"of": "ties"} if verb == "bounds" else {}
    told = error(lambda: getattr(irm, verb)("rbo@k" if verb == "curve" else "rbo", **options))
    assert "similarity" in told or verb in ("thresholds", "per_class")


def test_compatibility_of_the_data_of_ir_measures() -> None:
    """Two topics of TREC CAsT: .2680976, and .0837291 with p = .8."""
    judgments = frame_metrics.read_qrels(real("ir_measures", "compat.qrels"))
    log = frame_metrics.read_run(real("ir_measures", "compat.run")).irm(system=None).judge(judgments)
    found = log.evaluate("compatibility", "Compat(p=0.8)")["value"].to_list()
    assert found == pytest.approx([0.2680976, 0.0837291], abs=5e-8)


def test_intervals_hold_the_value() -> None:
    """Of the queries of each pair of systems."""
    found = made().irm(system="run").similarity("rbo", ci=0.95, resamples=200)
    assert (found["ci_low"] < found["value"]).all()
    assert (found["ci_high"] > found["value"]).all()
    assert not any(map(math.isnan, found["value"]))


def test_one_more_find_never_lowers_compatibility() -> None:
    """A rank at which nothing is known is a place, down to the last one that was shown."""
    run = pl.DataFrame({"query": ["q"] * 2, "doc": ["x", "y"], "rank": [1, 12]})
    found = []
    for second in ("z", "y"):
        qrels = pl.DataFrame({"query": ["q"] * 2, "doc": ["x", second], "grade": [1, 1]})
        found += run.irm.judge(qrels).evaluate("compatibility")["value"].to_list()
    each = [0.95 ** (d - 1) / d for d in range(1, 13)]
    whole = sum(each) + sum(each[1:])
    assert found == pytest.approx([sum(each) / whole, (sum(each) + each[11]) / whole], abs=1e-12)
