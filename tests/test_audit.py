"""What audit finds, and that it finds nothing where there is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import frame_metrics
from frame_metrics.errors import BadValueError, FrameMetricsError

COLUMNS = {
    "check": pl.String,
    "severity": pl.String,
    "n": pl.Int64,
    "share": pl.Float64,
    "example": pl.String,
    "message": pl.String,
}


def log(*rows: tuple[Any, ...], columns: str = "query doc score grade") -> pl.DataFrame:
    return pl.DataFrame(rows, schema=columns.split(), orient="row")


PRODUCTS = Path(__file__).parents[2] / "shared" / "data" / "haystack_products"
CLEAN = log(
    ("q1", "a", 2.0, 1),
    ("q1", "b", 1.0, 0),
    ("q1", "c", None, 1),
    ("q2", "a", 1.0, 0),
    ("q2", "b", 2.0, 1),
    ("q2", "c", None, 0),
)
RUN = CLEAN.drop("grade").drop_nulls("score")
QRELS = CLEAN.drop("score")


def six(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame six times, each with queries of its own."""
    return pl.concat([frame.with_columns(query=pl.col("query") + f" {i}") for i in range(6)])


def found(irm: frame_metrics.IRM[pl.DataFrame], check: str) -> dict[str, Any]:
    """The one finding whose check has a word in it."""
    (row,) = irm.audit().filter(pl.col("check").str.contains(check, literal=True)).rows(named=True)
    return dict(row)


def checks(irm: frame_metrics.IRM[pl.DataFrame]) -> list[str]:
    return irm.audit()["check"].to_list()


def test_a_clean_log_has_no_finding() -> None:
    """Nothing is said where everything is judged, ordered, relevant somewhere, and known beyond the results."""
    for irm in (
        CLEAN.irm(query="query"),
        CLEAN.irm(doc="doc", by="doc")(by=None),
        RUN.irm.judge(QRELS),
        RUN.with_columns(run=pl.lit("p")).irm(system="run").judge(QRELS),
        six(RUN).with_columns(seg=pl.lit("u")).irm(by="seg").judge(six(QRELS)),
        CLEAN.with_columns(label=pl.col("grade") > 0).irm(query="query", label="label", grade="grade"),
    ):
        assert irm.audit().rows() == []
        assert irm.audit().schema == COLUMNS


def test_an_empty_log_has_no_finding() -> None:
    """No rows, no finding; the columns are there."""
    assert CLEAN.clear().irm.audit().schema == COLUMNS
    assert CLEAN.clear().irm.audit().is_empty()


def test_the_columns_are_the_same_whatever_is_found() -> None:
    """A finding has a check, its severity, how many, their share, an example and a message."""
    table = pl.concat([CLEAN, log(("q3", "a", 1.0, None)).cast(CLEAN.schema)]).irm.audit()
    assert table.schema == COLUMNS
    assert table.null_count().sum_horizontal().item() == 0


# Each check, fired


def unjudged_query() -> frame_metrics.IRM[pl.DataFrame]:
    more = log(("q3", "a", 1.0, None), ("q3", "b", 2.0, None)).cast(CLEAN.schema)
    return pl.concat([CLEAN, more]).irm(query="query")


def no_results() -> frame_metrics.IRM[pl.DataFrame]:
    return RUN.irm.judge(pl.concat([QRELS, log(("q3", "a", 1), ("q4", "a", 1), columns="query doc grade")]))


def nothing_relevant() -> frame_metrics.IRM[pl.DataFrame]:
    return CLEAN.with_columns(grade=pl.when(pl.col("query") == "q1").then("grade").otherwise(0)).irm(query="query")


def unjudged_results() -> frame_metrics.IRM[pl.DataFrame]:
    return RUN.irm.judge(QRELS.filter(~((pl.col("query") == "q2") & (pl.col("doc") == "a"))))


def tied(ranks: tuple[int, ...] = (10, 11)) -> frame_metrics.IRM[pl.DataFrame]:
    """A query of 15 results of which those at the given ranks have one score, and a clean one."""
    score = [float(100 - min(ranks) if rank in ranks else 100 - rank) for rank in range(1, 16)]
    deep = pl.DataFrame(
        {"query": "deep", "doc": [f"d{i:02}" for i in range(15)], "score": score, "grade": 5 * [1, 0, 0]}
    )
    missed = log(("deep", "missed", None, 1)).cast(CLEAN.schema)
    return pl.concat([CLEAN, deep, missed]).irm(query="query")


def only_results() -> frame_metrics.IRM[pl.DataFrame]:
    return CLEAN.filter((pl.col("query") == "q1") | pl.col("score").is_not_null()).irm(query="query")


def gaps() -> frame_metrics.IRM[pl.DataFrame]:
    ranked = CLEAN.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query"))
    return ranked.with_columns(pl.when(pl.col("query") == "q2").then(pl.col("rank") * 2 - 1).otherwise("rank")).irm(
        rank="rank"
    )


def repeated() -> frame_metrics.IRM[pl.DataFrame]:
    again = log(("q2", "b", 0.5, 1)).cast(CLEAN.schema)
    return pl.concat([CLEAN, again]).irm(doc="doc", duplicates="first")


def lost_segment() -> frame_metrics.IRM[pl.DataFrame]:
    judged = pl.concat([six(QRELS), log(("q9", "a", 1), columns="query doc grade")])
    return six(RUN).with_columns(seg=pl.lit("u")).irm(by="seg").judge(judged)


def late() -> frame_metrics.IRM[pl.DataFrame]:
    return (
        gaps()
        .frame.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query") + 1)
        .irm(rank="rank")
    )


def disordered() -> frame_metrics.IRM[pl.DataFrame]:
    rank = pl.col("score").rank("ordinal", descending=True).over("query")
    turned = pl.when(pl.col("query") == "q2").then(3 - rank).otherwise(rank)
    return CLEAN.with_columns(rank=turned).irm(rank="rank", score="score")


def contradicted() -> frame_metrics.IRM[pl.DataFrame]:
    label = pl.when(pl.col("doc") == "b").then(1 - pl.col("grade")).otherwise("grade")
    one = pl.when(pl.col("query") == "q1").then(label).otherwise("grade") > 0
    return CLEAN.with_columns(label=one).irm(query="query", label="label", grade="grade")


def few() -> frame_metrics.IRM[pl.DataFrame]:
    much, little = six(CLEAN).with_columns(seg=pl.lit("much")), CLEAN.with_columns(seg=pl.lit("little"))
    return pl.concat([much, little]).irm(by="seg")


FIRED: dict[str, tuple[Any, str, int, float, str]] = {
    "queries without judgments": (unjudged_query, "warning", 1, 1 / 3, "q3"),
    "queries without results": (no_results, "warning", 2, 2 / 4, "q3"),
    "queries without relevant documents": (nothing_relevant, "warning", 1, 1 / 2, "q2"),
    "unjudged in the top 10": (unjudged_results, "warning", 1, 1 / 4, "q2"),
    "unjudged results": (unjudged_results, "info", 1, 1 / 4, "q2"),
    "ties across rank 10": (tied, "warning", 1, 1 / 3, "deep"),
    "ideal from the results alone": (only_results, "info", 1, 1 / 2, "q2"),
    "ranks with gaps": (gaps, "info", 1, 1 / 2, "q2"),
    "repeated documents": (repeated, "warning", 1, 1 / 7, "q2"),
    "ranks that begin late": (late, "info", 2, 1, "q1"),
    "scores out of rank order": (disordered, "warning", 1, 1 / 2, "q2"),
    "labels and grades that contradict": (contradicted, "warning", 1, 1 / 6, "q1"),
    "segments of few queries": (few, "warning", 1, 1 / 2, "little"),
    "judged queries of no known segment": (lost_segment, "warning", 1, 1 / 13, "q9"),
}


@pytest.mark.parametrize("check", FIRED)
def test_a_check_counts_what_it_finds(check: str) -> None:
    """How many, their share of what was looked at, and the first of them under the caller's own ids."""
    make, severity, n, share, example = FIRED[check]
    row = found(make(), check)
    assert row["check"] == check
    assert (row["severity"], row["n"], row["share"]) == (severity, n, pytest.approx(share))
    assert row["example"] is not None
    assert example in row["example"]
    assert len(row["message"]) > 20


@pytest.mark.parametrize("check", FIRED)
def test_a_check_is_silent_about_the_rest(check: str) -> None:
    """What fires one check fires no other, but that unjudged results stand in two, and late ranks have a gap."""
    with_it = {
        "unjudged in the top 10": {"unjudged results"},
        "unjudged results": {"unjudged in the top 10"},
        "ranks that begin late": {"ranks with gaps"},
    }
    fired = checks(FIRED[check][0]())
    assert set(fired) - {check} <= with_it.get(check, set())


def test_findings_come_by_severity() -> None:
    """Errors stand before warnings, and warnings before what is only worth knowing."""
    odd = pl.concat(
        [
            CLEAN.drop_nulls(),
            log(("q3", "a", 1.0, None), ("q4", "a", 1.0, 0), ("q1", "z", 0.5, None)).cast(CLEAN.schema),
        ]
    )
    severities = odd.irm.audit()["severity"].to_list()
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    assert set(severities) == {"warning", "info"}


# What each check looks at


def test_a_query_without_judgments_is_no_other_finding() -> None:
    """Its results are not counted as unjudged, nor it as a query without relevant documents."""
    assert checks(unjudged_query()) == ["queries without judgments"]


def test_results_past_rank_10_are_not_in_the_top() -> None:
    """Unjudged results are counted apart up to rank 10 and in all."""
    deep = pl.DataFrame({"query": 1, "score": np.arange(30.0), "grade": 10 * [1, 0, None]})
    irm = deep.irm(query="query")
    assert found(irm, "unjudged in the top")["n"] == 4
    assert found(irm, "unjudged in the top")["share"] == pytest.approx(0.4)
    assert (found(irm, "unjudged results")["n"], found(irm, "unjudged results")["share"]) == (10, pytest.approx(1 / 3))


def test_a_message_says_what_becomes_of_it() -> None:
    """Unjudged results are counted as not relevant or left out, as the conventions say."""
    assert "not relevant" in found(unjudged_results(), "unjudged in the top")["message"]
    dropped = unjudged_results()(unjudged="drop")
    assert "left out" in found(dropped, "unjudged in the top")["message"]
    assert found(dropped, "unjudged in the top")["n"] == 1
    assert "worst" in found(tied(), "ties across")["message"]
    assert "by document" in found(tied()(doc="doc"), "ties across")["message"]


@pytest.mark.parametrize("ranks", [(9, 10), (11, 12), (1, 2)])
def test_ties_that_do_not_cross_rank_10_change_nothing_there(ranks: tuple[int, ...]) -> None:
    """A tie above or below the line is not one across it."""
    assert "ties across rank 10" not in checks(tied(ranks))


def test_a_constant_scorer_is_seen() -> None:
    """A system that gives all documents of a query the same score is said to, in rankings of any length."""
    for n in (3, 10, 40):
        grade = [1, *((n - 1) * [0])]
        constant = pl.DataFrame({"query": np.repeat([1, 2], n), "score": 0.5, "grade": 2 * grade})
        findings = constant.irm.audit().filter(pl.col("check").str.contains("tie|equal|same|constant"))
        assert (findings["n"] >= 2).any()


def test_a_count_of_relevant_documents_makes_the_ideal_known() -> None:
    """With `n_relevant` or judgments beside, the ideal does not rest on the results alone."""
    results = CLEAN.drop_nulls()
    assert checks(results.irm(query="query")) == ["ideal from the results alone"]
    assert checks(results.with_columns(total=pl.lit(2)).irm(n_relevant="total")) == []
    assert checks(RUN.irm.judge(QRELS.join(RUN, on=["query", "doc"], how="semi"))) == []


def test_nothing_relevant_means_at_the_level_asked_for() -> None:
    """`rel=` and labels decide what relevant is."""
    graded = CLEAN.with_columns(grade=pl.when(pl.col("query") == "q1").then(pl.col("grade") * 3).otherwise("grade"))
    assert checks(graded.irm(rel=1)) == []
    assert found(graded.irm(rel=2), "queries without relevant")["example"] == "q2"
    labelled = CLEAN.with_columns(label=pl.col("query") == "q1")
    assert found(labelled.irm(label="label"), "queries without relevant")["example"] == "q2"


# Who is named


def test_an_example_names_system_segment_and_query() -> None:
    """Every key that makes a ranking stands in the example, with the caller's values."""
    run = log(
        ("p", "u", 7, "mo", "x", 1.0),
        ("q", "u", 7, "mo", "x", 1.0),
        ("p", "v", 8, "tu", "x", 1.0),
        columns="run seg user day doc score",
    )
    qrels = log((7, "mo", "x", 1), (8, "tu", "x", 1), columns="user day doc grade")
    irm = run.irm(system="run", by="seg", query=["user", "day"]).judge(qrels)
    row = found(irm, "queries without results")
    assert (row["example"], row["n"], row["share"]) == ("q, v, 8, tu", 1, 1 / 4)


def test_an_example_may_be_a_query_of_the_judgments_alone() -> None:
    """A query that no system answered is named from the judgments."""
    qrels = pl.concat([QRELS, log(("only judged", "a", 1), columns="query doc grade")])
    named = qrels.rename({"query": "topic"})
    irm = RUN.with_columns(run=pl.lit("p")).irm(system="run").judge(named, query="topic")
    assert found(irm, "queries without results")["example"] == "p, only judged"


def test_each_system_counts_by_itself() -> None:
    """A query that a system lacks is a finding of that system's ranking."""
    both = pl.concat([RUN.with_columns(run=pl.lit("p")), RUN.filter(query="q1").with_columns(run=pl.lit("q"))])
    row = found(both.irm(system="run").judge(QRELS), "queries without results")
    assert (row["n"], row["share"], row["example"]) == (1, 1 / 4, "q, q2")


def test_results_do_not_depend_on_the_order_of_rows() -> None:
    """Shuffled rows give the same checks, counts and shares."""
    for make, *_ in FIRED.values():
        irm = make()
        expected = irm.audit().drop("example")
        shuffled = frame_metrics.IRM(irm.frame.sample(fraction=1, shuffle=True, seed=4), **irm.roles)
        if irm.judgments is None:
            assert shuffled.audit().drop("example").equals(expected)


def test_a_query_that_nobody_judged_is_not_missed_by_a_system() -> None:
    """Only judged queries can be without results."""
    extra = log(("p", "q3", "a", 1.0), columns="run query doc score")
    both = [RUN.with_columns(run=pl.lit(run)).select(extra.columns) for run in "pq"]
    irm = pl.concat([*both, extra]).irm(system="run").judge(QRELS)
    assert checks(irm) == ["queries without judgments"]


# Kinds of frames


def test_audit_gives_back_the_callers_kind_of_frame() -> None:
    """pandas in, pandas out; a lazy frame is not run before it is collected."""
    odd = pl.concat([CLEAN, log(("q3", "a", 1.0, None)).cast(CLEAN.schema)])
    expected = odd.irm.audit()
    as_pandas = pd.DataFrame(odd.to_dict(as_series=False)).irm.audit()
    assert isinstance(as_pandas, pd.DataFrame)
    assert as_pandas.to_dict("list") == expected.to_dict(as_series=False)
    ran = []
    lazy = odd.lazy().map_batches(lambda batch: (ran.append(1), batch)[1]).irm.audit()
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect_schema() == COLUMNS
    assert ran == []
    assert lazy.collect().equals(expected)
    table = frame_metrics.IRM(odd.to_arrow()).audit()
    assert pl.DataFrame(table).equals(expected)


def test_audit_needs_no_metric_and_no_order() -> None:
    """Judgments alone can be looked at, without a score or a rank."""
    assert found(nothing_relevant()(score=None), "queries without relevant")["n"] == 1
    unordered = log((1, 0), (2, 1), columns="query grade")
    assert found(unordered.irm(query="query"), "queries without relevant")["example"] == "1"


# Repeated documents


def test_repeated_documents_keep_their_best_place() -> None:
    """`duplicates="first"` keeps the greatest score or the least rank of a document, and audit counts the others."""
    twice = log(("q", "a", 1.0, 1), ("q", "b", 2.0, 0), ("q", "a", 3.0, 1), ("q", "a", None, 1), ("q", "b", 0.5, 0))
    irm = twice.irm(doc="doc", duplicates="first")
    assert irm.per_query("rr", "num_ret", "num_rel")["value"].to_list() == [1, 2, 1]
    assert found(irm, "repeated documents")["n"] == 3
    assert found(irm, "repeated documents")["share"] == pytest.approx(3 / 5)
    ranked = log(("q", "a", 4, 1), ("q", "b", 2, 0), ("q", "a", 3, 1), columns="query doc rank grade")
    assert ranked.irm(doc="doc", duplicates="first").per_query("rr")["value"].to_list() == [1 / 3]


# A gate


@pytest.mark.parametrize(("fail_on", "raised"), [("error", False), ("warning", True), ("info", True)])
def test_an_audit_can_be_a_gate(fail_on: Any, raised: bool) -> None:
    """`fail_on=` raises what is found of that severity or a graver one, and else returns the findings."""
    irm = unjudged_query()
    if not raised:
        assert irm.audit(fail_on=fail_on).equals(irm.audit())
        return
    with pytest.raises(BadValueError) as caught:
        irm.audit(fail_on=fail_on)
    assert "queries without judgments: 1 (q3, ...)" in str(caught.value)
    assert CLEAN.irm(query="query").audit(fail_on=fail_on).is_empty()


def test_a_gate_counts_only_what_is_grave_enough() -> None:
    """A finding that is less grave is not in the message."""
    irm = only_results()
    assert irm.audit()["severity"].to_list() == ["info"]
    assert len(irm.audit(fail_on="warning")) == 1
    with pytest.raises(FrameMetricsError, match="fail_on='bad' is not one of 'error', 'warning', 'info'"):
        irm.audit(fail_on="bad")  # type: ignore[arg-type]


@pytest.mark.skipif(not PRODUCTS.exists(), reason="the data of product search is not beside the project")
def test_scores_of_product_search() -> None:
    """Two of the three systems have scores in another order than what was shown, or one score for a query."""
    runs = pl.read_csv(PRODUCTS / "runs.csv")
    qrels = pl.read_csv(PRODUCTS / "judgments.csv").unique(["query_id", "doc_id"])
    roles: Any = {"query": "query_id", "doc": "doc_id", "duplicates": "first"}
    for run, systems in runs.group_by("run"):
        irm = systems.irm(rank="rank", score="score", **roles).judge(
            qrels, query="query_id", doc="doc_id", grade="rating"
        )
        fired = set(irm.audit()["check"])
        odd = run[0] != "no-vector"
        assert ("scores out of rank order" in fired) == odd, run
        assert ("constant scores" in fired) == odd, run
