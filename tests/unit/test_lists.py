"""Rows that are whole queries: lists of results, lists of relevant documents, and a column for each system."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from frame_metrics import IRM, BadRowsError, BadValueError, ColumnError
from helpers import KINDS, as_kind, as_polars, error, facts, found_by_name, odd
from inside import small_blocks, wilson_interval
from refusals import check, refusals_of, run

# Four requests to a store of passages: found at rank 2; nothing found; nothing relevant; nobody said what is relevant.
RAG = pl.DataFrame(
    {
        "qid": ["a", "b", "c", "d"],
        "doc": [["x", "y"], [], None, ["z"]],
        "relevant": [["y"], ["x", "y"], [], None],
        "day": ["mo", "mo", "tu", None],
        "visits": [1, 2, 3, 4],
    }
)


def values(frame: Any, name: str = "value") -> list[Any]:
    """A column of a result of any kind."""
    return as_polars(frame)[name].to_list()


@pytest.mark.parametrize("kind", KINDS)
def test_lists_in_rank_order_against_lists_of_relevant_documents(kind: str) -> None:
    irm = IRM(as_kind(RAG, kind), query="qid")
    found = as_polars(irm.per_query("rr", "recall", layout="wide")).drop("answered")
    assert found["qid"].to_list() == ["a", "b", "c"]  # of the last nobody says what is relevant
    assert found.select("rr", "recall").rows() == [(0.5, 1.0), (0.0, 0.0), (0.0, 0.0)]
    told = as_polars(irm.evaluate("rr", "recall"))
    assert told["n"].to_list() == [3, 3]
    assert told["n_undefined"].to_list() == [1, 1]  # a query without relevant documents
    assert told["value"].to_list() == pytest.approx([0.5 / 3, 1 / 3])


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_a_query_where_none_is_named(kind: str) -> None:
    found = as_polars(IRM(as_kind(RAG, kind)).per_query("rr"))
    assert found.columns == ["row", "metric", "k", "value", "undefined", "answered"]
    assert found["row"].to_list() == [0, 1, 2]
    assert found.schema["row"] == pl.Int64
    lost = as_polars(IRM(as_kind(RAG, kind)).explain("ndcg", query=1))
    assert lost["doc"].to_list() == ["x", "y"]
    assert lost["row"].to_list() == [1, 1]
    assert lost["rank"].null_count() == 2


def test_streams_name_their_queries() -> None:
    said = error(lambda: IRM(RAG.drop("day").to_arrow().to_reader()).per_query("rr"), ColumnError)
    assert said == "the rows of a pyarrow.RecordBatchReader have no numbers; name the queries' column, query="
    assert values(IRM(RAG.to_arrow().to_reader(), query="qid").per_query("rr")) == [0.5, 0.0, 0.0]


def test_a_plan_knows_its_columns() -> None:
    plan = RAG.lazy().irm.per_query("rr")
    assert plan.collect_schema() == plan.collect().schema
    told = RAG.lazy().irm(query="qid").explain("ndcg", query="b")
    assert told.collect_schema() == told.collect().schema
    wide = pl.LazyFrame({"query": [1, 1], "a": [0.1, 0.9], "b": [0.3, 0.2], "label": [0, 1]}).irm(score=["a", "b"])
    assert wide.evaluate("rr").collect_schema() == wide.evaluate("rr").collect().schema


def test_graded_lists_without_results_count() -> None:
    log = pl.DataFrame({"score": [[0.1, 0.9], [0.3], [], None], "grade": [[0, 3], [1], [], None]})
    assert log.irm.per_query("precision@1")["value"].to_list() == [1.0, 1.0, 0.0, 0.0]
    assert log.irm.per_query("precision@1")["row"].to_list() == [0, 1, 2, 3]
    assert facts(log.irm)["queries"][0] == 4
    assert facts(log.irm)["rows"][0] == 3
    found = odd(log.irm).filter(check="queries without results")
    assert found["n"].to_list() == [2]
    first = log.reverse().irm.per_query("precision@1")
    assert first["row"].to_list() == [0, 1, 2, 3]
    assert first["value"].to_list() == [0.0, 0.0, 1.0, 1.0]


def test_what_is_said_of_a_query_without_results_counts() -> None:
    irm = RAG.irm(query="qid")
    # The second query has weight 2 and no result.
    assert values(irm(weight="visits").evaluate("rr")) == [0.5 * 1 / 6]
    assert as_polars(irm(by="day").evaluate("rr")).select("day", "value", "n").rows() == [
        ("mo", 0.25, 2),
        ("tu", 0.0, 1),
        (None, None, 0),
    ]
    clustered = RAG.with_columns(user=pl.Series(["u", "u", "v", "w"])).irm(query="qid", cluster="user")
    ends = as_polars(clustered.evaluate("rr", ci=0.9)).select("ci_low", "ci_high").row(0)
    assert ends == pytest.approx(wilson_interval(1 / 6, 2, 0.9))  # on the range of rr, at the mean of two users
    told = RAG.with_columns(found=pl.lit(5)).irm(query="qid", relevant=None, n_relevant="found", label="hit")
    hits = RAG.with_columns(found=pl.lit(5), hit=pl.Series([[0, 1], [], None, [1]]))
    assert values(hits.irm(query="qid", relevant=None, label="hit", n_relevant="found").per_query("recall")) == [
        0.2,
        0.0,
        0.0,
        0.2,
    ]
    with pytest.raises(ColumnError, match="label='hit'"):
        told.per_query("recall")


def test_nothing_found_by_one_of_two_systems() -> None:
    log = pl.DataFrame(
        {
            "run": ["p", "q", "p", "q"],
            "query": [1, 1, 2, 2],
            "doc": [["x", "y"], ["y", "x"], [], ["z"]],
            "relevant": [["y"], ["y"], ["z"], ["z"]],
        }
    )
    found = log.irm(system="run").per_query("rr")
    assert found.select("run", "query", "value").rows() == [("p", 1, 0.5), ("p", 2, 0.0), ("q", 1, 1.0), ("q", 2, 1.0)]
    assert log.irm(system="run").compare("rr", baseline="p")["difference"].to_list() == [0.75]


def test_relevant_documents_of_a_log_with_a_row_per_result() -> None:
    log = pl.DataFrame({"query": [1, 1, 2], "doc": ["x", "y", "z"], "score": [2.0, 1.0, 1.0]})
    log = log.with_columns(relevant=pl.Series([["y", "v"], ["v", "y"], []], dtype=pl.List(pl.String)))
    assert values(log.irm.per_query("recall")) == [0.5, 0.0]
    assert values(log.irm.explain("ndcg", query=1), "doc") == ["x", "y", "v"]
    said = error(lambda: log.with_columns(relevant=pl.Series([["y"], ["x"], []])).irm.per_query("rr"), BadRowsError)
    assert said == (
        "relevant: 1 of 3 rows differs from another row of its query (row 1); "
        "give each query one list of relevant documents"
    )


JUDGED = pl.DataFrame({"qid": ["a", "b", "e"], "doc": [["y", "q"], ["x"], ["w"]], "grade": [[1, 2], [3], [1]]})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nested", [True, False])
def test_judgments_in_lists(kind: str, nested: bool) -> None:
    log = RAG.select("qid", "doc", place=pl.Series([[1, 2], [], None, [1]]))
    log = log if nested else log.head(1).explode("doc", "place").vstack(log.tail(1).explode("doc", "place"))
    irm = IRM(as_kind(log, kind), query="qid", rank="place").judge(as_kind(JUDGED, kind))
    found = as_polars(irm.per_query("rr", "ndcg", layout="wide")).drop("answered")
    assert found["qid"].to_list() == ["a", "b", "e"]
    assert found["rr"].to_list() == [0.5, 0.0, 0.0]
    ideal = 2 + 1 / math.log2(3)
    assert found["ndcg"].to_list() == pytest.approx([1 / math.log2(3) / ideal, 0.0, 0.0])
    missed = as_polars(irm.explain("ndcg", query="e"))
    assert missed.select("qid", "doc").rows() == [("e", "w")]


def test_judgments_in_lists_that_are_all_relevant() -> None:
    irm = RAG.select("qid", "doc").irm(query="qid").judge(JUDGED.drop("grade"), label=True)
    assert values(irm.per_query("recall")) == [0.5, 0.0, 0.0]
    said = error(
        lambda: RAG.irm(query="qid").judge(JUDGED.with_columns(grade=pl.Series([[1], [3], [1]]))).per_query("rr")
    )
    assert said.startswith("doc and grade (of the judgments): 1 of 3 rows has lists of different lengths (row 0)")
    missing = JUDGED.with_columns(doc=pl.Series([["y", "q"], ["x"], [None]]))
    assert error(lambda: RAG.irm(query="qid").judge(missing).per_query("rr")) == (
        "doc (of the judgments): 1 of 3 rows has a missing id in its list (row 2); drop it"
    )


def test_lists_beside_single_values() -> None:
    log = pd.DataFrame({"query": [1, 2], "doc": [["a"], ["b"]], "label": [[1], [1]]})
    log["score"] = pd.Series([0.3, [0.1]], dtype=object)
    said = error(lambda: log.irm(score="score").per_query("rr"))
    assert "score='score' holds one value for each row" in said
    log["doc"] = pd.Series([["a"], "b"], dtype=object)
    assert error(lambda: log.irm(score=None).per_query("rr"), BadValueError)


def test_lists_of_every_type() -> None:
    held = {"doc": [["x", "y"], ["z", "w"]], "score": [[1.0, 2.0], [2.0, 1.0]], "label": [[0, 1], [0, 1]]}
    kinds = {"doc": pa.string(), "score": pa.float32(), "label": pa.int8()}
    arrays = {"doc": pl.Array(pl.String, 2), "score": pl.Array(pl.Float32, 2), "label": pl.Array(pl.Int8, 2)}
    objects = pd.DataFrame({name: [np.array(one) for one in lists] for name, lists in held.items()})
    fixed = pa.table({name: pa.array(held[name], pa.list_(kind, 2)) for name, kind in kinds.items()})
    large = pa.table({name: pa.array(held[name], pa.large_list(kind)) for name, kind in kinds.items()})
    frames = [pl.DataFrame(held), pl.DataFrame(held, schema=arrays), pd.DataFrame(held), objects, fixed, large]
    frames += [large.to_pandas(types_mapper=pd.ArrowDtype)]
    for frame in frames:
        assert values(IRM(frame).per_query("rr")) == [1.0, 0.5]


def test_missing_values_within_lists_of_pandas() -> None:
    log = pd.DataFrame({"score": [[2.0, np.nan, 1.0], None], "grade": [np.array([0, 1, 2]), []]})
    assert values(log.irm.per_query("recall")) == [0.5, 0.0]  # the second is known and was not retrieved


def test_tuples_are_ids_and_no_lists() -> None:
    log = pd.DataFrame({"query": [1, 1], "doc": [(1, 2), (1, 3)], "score": [2.0, 1.0], "label": [0, 1]})
    assert values(log.irm.per_query("rr")) == [0.5]


def with_scores(*lists: Any) -> pl.DataFrame:
    """The requests with scores."""
    return RAG.with_columns(score=pl.Series(lists, dtype=pl.List(pl.Float64)))


NAN = float("nan")


ROWS = pl.DataFrame({"row": [5, 6], "score": [[0.1, 0.9], [0.3]], "label": [[0, 1], [1]]})


def of(frame: pl.DataFrame, kind: str = "polars", **roles: Any) -> Any:
    """Return the reciprocal ranks of lists in a kind of frame."""
    return IRM(as_kind(frame, kind), **roles).per_query("rr")


BAD_LISTS = r"""
of(with_scores([1.0], [], [], [1.0]), query="qid")
    BadRowsError: doc and score: 1 of 4 rows has lists of different lengths (row 0); row 0 has 2 in doc and 1 in score;
        give each result of a query both
of(RAG, query="qid", score="visits")
    ColumnError: score='visits' holds one value for each row, and doc='doc' a list, the results of a query; give both
        lists of one length, or pass doc=None or score=None
of(pl.concat([RAG, RAG]), query="qid")
    BadRowsError: qid: 4 of 8 rows repeat a query (rows 4, 5, 6); a row has all results of its query: name system= if
        several systems gave them, query=['qid', ...] with the column that tells the rows apart, or join the lists
of(RAG.with_columns(doc=pl.Series([["y", None], [], [], []])), query="qid")
    BadRowsError: doc: 1 of 4 rows has no document (row 0); drop them, or give them one
of(RAG.with_columns(relevant=pl.Series([["y"], ["x", None], [], []])), query="qid")
    BadRowsError: relevant: 1 of 4 rows has a missing id in its list (row 1); drop it
of(RAG.with_columns(relevant=pl.Series([[1], [], [], []])), query="qid")
    BadValueError: relevant of the judgments is Int64, and doc of the log is text; give both one type, integers if
        the texts have leading zeros
of(RAG, query="qid", relevant="day")
    MistakenColumnError: relevant='day' holds no lists of ids; if it has one id for each query, pass
        relevant=[...], or judge(gold, label=True), with a frame of queries and ids; a judgment of a
        row is its label=
of(RAG.with_columns(grade=pl.Series([[1, 0], [], [], [1]])), query="qid")
    ColumnError: both 'grade' and 'relevant' are columns; name the one that is meant, as relevant='relevant'
of(RAG.with_columns(g=pl.Series([[1, 0], [], [], [1]])), query="qid", grade="g", relevant="relevant")
    ColumnError: relevant='relevant' says what is relevant, and grade= does too; name one of them
of(RAG.drop("doc").with_columns(score=pl.Series([[1.0, 2.0], [], [], [1.0]])), query="qid", relevant="relevant")
    ColumnError: the doc is missing; name its column with doc=, one of 'day', 'visits', 'score'
of(ROWS, query="row", by="query")
    ColumnError: by='query': there is no such column among 'row', 'score', 'label'
of(ROWS, by="row")
    ColumnError: by='row' is the query too; a column can have only one role
of(pl.DataFrame({"a": [[0.1, 0.9]], "b": [[0.1, 0.9]], "label": [["a", "b"]]}), score={"a": "a", "b": "b"})
    ColumnError: 'label' holds lists, and the scores of several classes are one to a row
    but: of(with_scores([1.0, 2.0], [], [], [1.0]), query="qid")
    but: of(pl.concat([RAG, RAG.with_columns(pl.col("qid") + "2")]), query="qid")
    but: of(RAG.with_columns(relevant=pl.Series([["y"], ["x", "x"], [], []])), query="qid")
    but: of(RAG.drop("relevant").with_columns(grade=pl.Series([[1, 0], [], [], [1]])), query="qid")
of(RAG.rename({"relevant": "gold"}), query="qid", label="gold")
    BadRowsError: doc and gold: [...]; row 0 has 2 in doc and 1 in gold; give each result of a query both; if gold
        holds the relevant documents, pass relevant='gold' in its place
    but: of(RAG.rename({"relevant": "gold"}), query="qid", relevant="gold")
    but: of(ROWS, query="row")
"""


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_bad_lists(kind: str) -> None:
    """Lists that are not of one length or type, or that say something twice, are refused."""
    check(BAD_LISTS, globals() | {"of": partial(of, kind=kind)})


@pytest.mark.parametrize("kind", KINDS)
def test_a_null_list_of_grades_says_nothing_of_its_results(kind: str) -> None:
    """As a null list of relevant documents: nobody judged, and the query is not evaluated."""
    log = pl.DataFrame({"doc": [["x", "y"], ["z"], [], None, ["w"]], "grade": [None, [1], None, None, [None]]})
    irm = IRM(as_kind(log, kind))
    assert as_polars(irm.per_query("rr")).select("row", "value").rows() == [(1, 1.0), (3, 0.0)]
    found = as_polars(irm.audit()).filter(check="queries without judgments")
    assert found.select("n", "example").rows() == [(3, "0")]


@pytest.mark.parametrize(
    "flags", [[[0, 1, 0], [1, 0, 0]], [[False, True, False], [True, False, False]]], ids=["0", "f"]
)
def test_flags_are_no_ids(flags: list[list[Any]]) -> None:
    log = pl.DataFrame({"query": ["a", "b"], "doc": [[0, 1, 2], [4, 5, 6]], "relevant": flags})
    assert error(lambda: log.irm.evaluate("rr"), BadValueError) == (
        "relevant: its lists hold flags, and relevant= is a list of ids; pass relevant=None, label='relevant', "
        "which has a flag for each result"
    )
    assert values(log.irm(relevant=None, label="relevant").per_query("rr")) == [0.5, 1.0]


def test_few_ids_are_no_flags() -> None:
    log = pl.DataFrame({"query": ["a", "b"], "doc": [[0, 1], [1, 2]], "relevant": [[0, 1], [0, 1]]})
    assert values(log.irm.per_query("recall")) == [1.0, 0.5]


def test_judgments_that_stand_twice() -> None:
    said = error(lambda: RAG.irm(query="qid", relevant="relevant").judge(JUDGED).per_query("rr"), ColumnError)
    assert said == "relevant='relevant': the judgments are those of judge(); pass relevant=None"
    assert values(RAG.irm(query="qid").judge(JUDGED).per_query("rr")) == [0.5, 0.0, 0.0]  # found by name, it gives way


def test_a_bad_list_is_a_finding() -> None:
    found = with_scores([1.0, 2.0], [], [], [NAN]).irm(query="qid").audit().row(0, named=True)
    assert found["check"] == "scores that are NaN"
    assert found["example"] == "row 3"
    assert found["message"].startswith("score: 1 of 4 rows is NaN (row 3); ")


def test_columns_found_by_name() -> None:
    assert found_by_name(RAG.irm) == ["doc", "relevant"]
    scalar = RAG.with_columns(score=pl.Series([1.0, 2.0, 3.0, 4.0]))  # of the answer as a whole, not of a result
    assert found_by_name(scalar.irm(query="qid")) == ["doc", "relevant"]
    assert values(scalar.irm(query="qid").per_query("rr")) == [0.5, 0.0, 0.0]


def test_a_list_that_plays_no_part_makes_no_lists_of_the_others() -> None:
    log = pl.DataFrame(
        {"query": [1, 1], "doc": [["x"], ["y"]], "rank": [[1], [2]], "score": [0.9, 0.1], "label": [1, 0]}
    )
    assert log.irm(query=None).evaluate("roc_auc")["value"].to_list() == [1.0]
    assert log.irm(query="query", score="score", label="label", doc=None).per_query("rr")["value"].to_list() == [1.0]


def test_lists_without_a_query_are_pooled_where_that_is_said() -> None:
    log = pl.DataFrame({"score": [[0.1, 0.9], [0.3], []], "label": [[0, 1], [1], []], "w": [1.0, 2.0, 3.0]})
    assert log.irm(query=None).evaluate("roc_auc").select("value", "n").rows() == [(1.0, 3)]
    flat = log.filter(pl.col("score").list.len() > 0).explode("score", "label")
    for verb in (lambda irm: irm.thresholds("f1"), lambda irm: irm.evaluate("brier", "roc_auc")):
        assert verb(log.irm(query=None, weight="w")).equals(verb(flat.irm(query=None, weight="w")))


# What has no result is looked at too


def test_a_bad_value_of_a_query_without_results_is_that_of_its_row() -> None:
    log = pl.DataFrame({"query": [10, 11, 12, 13], "doc": [["a"], [], ["b"], []], "label": [[1], [], [1], []]})
    irm = log.with_columns(w=pl.Series([1.0, 1.0, 1.0, None])).irm(weight="w")
    said = "w: 1 of 4 rows has no weight (row 3); give every row one"
    assert error(lambda: irm.evaluate("recall"), BadRowsError) == said
    assert irm.audit().row(0, named=True) | {"severity": ""} == {
        "check": "rows that have no weight",
        "severity": "",
        "n": 1,
        "share": 0.25,
        "example": "row 3",
        "message": said,
    }
    assert facts(irm)["rows"] == (2, 1.0)
    asked = pl.DataFrame({"query": [1, 2], "doc": [["a", "b", "c"], ["d"]], "label": [[1, 0, 0], [1]], "w": [None, 1]})
    systems = pl.DataFrame({"query": [1, 2], "old": [0.5, 0.6], "new": [0.7, 0.8], "label": [1, 0], "w": [None, 1]})
    for several in (asked.irm(weight="w"), systems.irm(score=["old", "new"], weight="w")):  # one row of two, not more
        assert several.audit().select("check", "n", "share").row(0) == ("rows that have no weight", 1, 0.5)
    nobody = log.with_columns(query=pl.Series([10, 11, 12, None]))
    assert "query: 1 of 4 rows has no query (row 3)" in error(lambda: nobody.irm.evaluate("recall"), BadRowsError)


def test_systems_share_what_is_not_listed_as_relevant() -> None:
    """One value in every form: a result of one system that is not listed is not relevant for all of them."""
    lists = pl.DataFrame({"query": [0, 0], "system": ["B", "A"], "doc": [["d0"], ["d2"]], "score": [[0.7], [0.7]]})
    lists = lists.with_columns(relevant=pl.Series([["d5", "d2"]] * 2))
    columns = pl.DataFrame({"query": [0], "doc": [["d0", "d2"]], "A": [[None, 0.7]], "B": [[0.7, None]]})
    columns = columns.with_columns(relevant=pl.Series([["d5", "d2"]]))
    rows = lists.explode("doc", "score")
    wanted = ("roc_auc", "bpref", "judged@5")
    expected = columns.irm(score=["A", "B"]).per_query(*wanted, layout="wide").drop("answered").rows()
    assert expected[0][2] == 0.75
    for irm in (lists.irm(system="system"), rows.irm(system="system")):
        assert irm.per_query(*wanted, layout="wide").drop("answered").rows() == expected
    tables = [irm.thresholds("f1") for irm in (lists.irm(system="system"), rows.irm(system="system"))]
    assert tables[0].rows() == tables[1].rows() == columns.irm(score=["A", "B"]).thresholds("f1").rows()


def test_systems_share_what_is_not_listed_where_the_segment_is_null() -> None:
    """A result that is listed is relevant for all systems, and not a second time not relevant, there too."""
    lists = pl.DataFrame({"query": [0, 0], "day": [None, None], "system": [*"BA"], "doc": [["d0"], ["d2"]]})
    irm = lists.with_columns(relevant=pl.Series([["d5", "d2"]] * 2)).irm(system="system")
    asked = ("rr", "recall", "judged@5", "bpref")
    assert irm(by="day").evaluate(*asked)["value"].to_list() == irm.evaluate(*asked)["value"].to_list()


def test_nothing_found_is_no_error_about_ids() -> None:
    log = pl.DataFrame({"query": ["a", "b"], "doc": [["x"], ["z"]], "relevant": [["w"], ["y"]]})
    assert values(log.irm.per_query("rr")) == [0.0, 0.0]
    assert odd(log.irm).filter(check="nothing found that is relevant")["n"].to_list() == [2]
    assert "nothing found that is relevant" not in odd(RAG.irm(query="qid"))["check"].to_list()
    log = pl.DataFrame({"query": ["a", "b"], "doc": [["x"], []], "relevant": [None, ["y"]]})
    assert log.irm.per_query("rr").rows() == [("b", "rr", None, 0.0, False, True)]


def test_a_row_without_results_is_a_query_that_a_system_has() -> None:
    log = pl.DataFrame({"query": [*"abab"], "system": [*"AABB"], "doc": [["x"], [], [], ["y"]]})
    irm = log.with_columns(relevant=pl.Series([["x"], ["y"]] * 2)).irm(system="system")
    assert values(irm.evaluate("rr")) == [0.5, 0.5]
    assert "systems that share almost no query" not in odd(irm)["check"].to_list()


@pytest.mark.parametrize(
    ("log", "check"),
    [
        ({"query": [1, 2], "doc": [["a"], ["b", "c"]], "label": [[1], [1]]}, "have lists of different lengths"),
        ({"query": [1, 1], "doc": [["a"], ["b"]], "label": [[1], [1]]}, "repeat a query"),
        ({"query": [1, 1], "doc": ["a", "b"], "score": [1.0, 2.0], "relevant": [["a"], ["b"]]}, "differ from another"),
        ({"query": [1, 2], "doc": [["a"], ["b"]], "relevant": [["a"], [None]]}, "have a missing id in their list"),
    ],
)
def test_lists_that_cannot_be_read_are_a_finding(log: dict[str, Any], check: str) -> None:
    irm = pl.DataFrame(log).irm
    (found,) = irm.audit().rows(named=True)
    assert found["check"].startswith(f"rows that {check}")
    assert found["severity"] == "error"
    assert found["message"] == error(lambda: irm.evaluate("rr"))


def test_a_query_without_results_is_of_its_segment() -> None:
    log = pl.DataFrame({"query": ["a", "b"], "day": ["m", "t"], "doc": [["x"], []]})
    irm = log.irm(by="day").judge(pl.DataFrame({"query": ["a", "b"], "doc": ["x", "y"], "grade": [1, 1]}))
    assert "judged queries of no known segment" not in irm.audit()["check"].to_list()


# A column for each system


def test_a_result_of_one_system_that_nobody_judged() -> None:
    """A pooled bake-off: null is that this system did not retrieve it, and another one did."""
    log = pl.DataFrame({"query": [1, 1, 1], "doc": [*"xyu"], "bm": [3.0, 2.0, 1.0], "de": [1.0, 2.0, None]})
    irm = log.with_columns(grade=pl.Series([0, 1, None])).irm(score=["bm", "de"])
    assert values(irm.per_query("rr")) == [0.5, 1.0]
    assert values(irm.per_query("unjudged@3")) == [1 / 3, 0.0]
    nothing = log.with_columns(bm=pl.Series([3.0, 2.0, None]), grade=pl.Series([0, 1, None])).irm(score=["bm", "de"])
    assert "(row 2)" in error(lambda: nothing.evaluate("rr"), BadRowsError)


def test_columns_that_are_called_as_what_is_made() -> None:
    log = pl.DataFrame({"query": [1, 2], "a, c": ["x", "y"], "a": [1.0, 2.0], "c": [2.0, 1.0], "label": [1, 0]})
    assert log.irm(query="query", score=["a", "c"], by="a, c").evaluate("rr")["a, c"].to_list() == ["x", "y"] * 2
    lists = pl.DataFrame({"place in the list": [5, 6], "doc": [["a"], ["b"]], "label": [[1], [1]]})
    assert lists.irm(by="place in the list").evaluate("rr")["place in the list"].to_list() == [5, 6]


@pytest.mark.parametrize("verb", ["confusion", "per_class"])
@pytest.mark.parametrize("classes", [["a", "b", "c"], [0, 1, 1]])
def test_plans_of_decisions_of_each_system(verb: str, classes: list[Any]) -> None:
    log = pl.DataFrame({"label": classes, "p": classes, "q": classes[::-1]})
    if verb == "per_class" and classes[0] == 0:
        log = log.cast(pl.String).with_columns(pl.all().replace("1", "yes"))
    ask = (lambda irm: irm.confusion()) if verb == "confusion" else (lambda irm: irm(classes=None).per_class("recall"))
    classed = {"classes": ["0", "yes"]} if log.schema["label"] == pl.String and classes[0] == 0 else {}
    ask = ask if not classed else (lambda irm: irm(**classed).per_class("recall"))
    plan = ask(log.lazy().irm(predicted=["p", "q"]))
    assert plan.collect().equals(ask(log.irm(predicted=["p", "q"])))
    assert plan.collect_schema() == plan.collect().schema


TWO = pl.DataFrame(
    {"query": [1, 1, 1], "doc": ["x", "y", "z"], "a": [3.0, 2.0, 1.0], "b": [1, 2, None], "label": [0, 1, 1]}
)


@pytest.mark.parametrize("kind", KINDS)
def test_each_column_is_a_system(kind: str) -> None:
    found = as_polars(IRM(as_kind(TWO, kind), score=["b", "a"]).per_query("rr", "recall", layout="wide")).drop(
        "answered"
    )
    assert found.rows() == [("a", 1, 0.5, 1.0), ("b", 1, 1.0, 0.5)]
    ranks = TWO.with_columns(a=pl.Series([1, 2, 3]), b=pl.Series([2, 1, None]))
    found = as_polars(IRM(as_kind(ranks, kind), rank=["a", "b"]).per_query("rr", "recall", layout="wide")).drop(
        "answered"
    )
    assert found.rows() == [("a", 1, 0.5, 1.0), ("b", 1, 1.0, 0.5)]


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_blocks_of_queries_without_results_alone(rows: int) -> None:
    """The last queries of the last system found nothing, and stand in blocks of their own."""
    lists = {"doc": [["x", "y"], ["x"], [], []], "label": [[0, 1], [1], [], []]}
    scores = {"a": [[2.0, 1.0], [1.0], [], []], "b": [[1.0, 2.0], [1.0], [], []]}
    with small_blocks(rows):
        found = pl.DataFrame({"query": [1, 2, 3, 4]} | lists | scores).irm(score=["a", "b"]).per_query("rr")
    assert values(found) == [0.5, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]


def test_one_column_may_be_a_list_of_one() -> None:
    assert TWO.irm(score=["a"]).per_query("rr").rows() == [("a", 1, "rr", None, 0.5, False, True)]


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_of_each_system(kind: str) -> None:
    log = pl.DataFrame({"id": [1, 2, 3], "a": ["x", "y", "z"], "b": ["y", "y", "z"], "label": ["x", "y", "z"]})
    irm = IRM(as_kind(log, kind), predicted=["a", "b"], doc="id")
    assert values(irm.evaluate("accuracy")) == pytest.approx([1.0, 2 / 3])
    assert values(irm.compare("accuracy", baseline="a"), "difference") == pytest.approx([-1 / 3])
    assert values(irm(positive="y", classes=None).evaluate("f1")) == pytest.approx([1.0, 2 / 3])


def systems(**roles: Any) -> IRM[pl.DataFrame]:
    """Return what measures the systems that are columns, some of which cannot be."""
    odd = {"text": ["x", "y", "z"], "bad": [1.0, float("inf"), 2.0], "huge": [2**53 + 1, 1, 2], "system": ["s"] * 3}
    return TWO.with_columns(pl.DataFrame(odd).get_columns(), label2="label").irm(**roles)


BAD_COLUMNS = r"""
systems(score=["a", "c"]).evaluate("rr")
    ColumnError: score='c': there is no such column among 'query', 'doc', 'a', 'b', 'label', 'text', 'bad', 'huge',
        'system', 'label2'
systems(score=["a", "a"]).evaluate("rr")
    ColumnError: column of a system='a' is named twice; a column can have only one role
systems(score=["a", "b"], by="a").evaluate("rr")
    ColumnError: column of a system='a' is the by too; a column can have only one role
systems(score=["a", "b"], rank=["a", "b"]).evaluate("rr")
    ColumnError: score= and rank= are lists of columns, each of a system; one of them may be
systems(score=["a", "b"], system="text").evaluate("rr")
    ColumnError: score=['a', 'b']: each of these columns is a system, and system='text' says another; name one column,
        or leave out system=
systems(score=["a", "text"]).evaluate("rr")
    BadValueError: text: a score is a number, and this column is text, as 'x'; convert it
systems(score=["a", "bad"]).evaluate("rr")
    BadRowsError: bad: 1 of 3 rows is infinite (row 1); drop them, or give them finite values: inf one above all
        others, -inf one below
systems(score=["a", "huge"]).evaluate("rr")
    BadRowsError: huge: 1 of 3 rows is past 2**53, where float64 cannot tell integers apart (row 0); rescale them
systems(predicted=["label2", "text"], query=None).evaluate("precision")
    BadValueError: 'label2' is Int64, 'text' is text; give the columns of the systems one type
systems(score=["a", "b"], by="system").evaluate("rr")
    ColumnError: by='system' is the system too; a column can have only one role
    but: systems(score=["a", "b"]).evaluate("rr")
of(with_scores([1.0, 2.0], [], [], [NAN]), query="qid")
    BadRowsError: score: 1 of 4 rows is NaN (row 3); drop them, or make them null if the document was not retrieved
    but: of(with_scores([1.0, 2.0], [], [], [None]), query="qid")
    but: systems(predicted=["label2", "label"], label="a", query=None, positive=1).evaluate("precision")
"""


def test_bad_columns_of_systems() -> None:
    """Columns that are systems are there, of one type, and play no other part."""
    check(BAD_COLUMNS, globals())


@pytest.mark.parametrize("named", [{}, {"grade": "grade"}, {"grade": "grade", "doc": "doc"}])
def test_a_list_of_grades_plays_no_part_where_judgments_stand_beside(named: dict[str, str]) -> None:
    """The log's own grades are not read beside judgments, so its other columns need be no lists."""
    log = pl.DataFrame({"query": [1, 1], "doc": ["x", "y"], "score": [1.0, 2.0], "grade": [[1], [2, 3]]})
    judged = pl.DataFrame({"query": [1], "doc": ["x"], "grade": [1]})
    assert log.irm(**named).judge(judged).evaluate("rr")["value"].item() == 0.5


def test_a_row_that_is_bad_in_one_system_is_left_out_of_all() -> None:
    """Systems are measured on the same rows: two bad scores of two systems take two rows from both."""
    log = pl.DataFrame({"query": [1, 1, 1, 2], "a": [3.0, float("inf"), 1.0, 1.0], "b": [1.0, 2.0, 3.0, NAN]})
    log = log.with_columns(label=pl.Series([0, 1, 1, 1]), w=pl.Series([1.0, 1.0, 1.0, 2.0]))
    irm = log.irm(query="query", score=["a", "b"], weight="w")
    assert facts(irm)["rows"] == (2, 0.5)
    assert odd(irm).filter(severity="error").select("check", "n", "example").rows() == [
        ("scores that are NaN", 1, "row 3"),
        ("scores that are infinite", 1, "row 1"),
    ]
    assert "b: 1 of 4 rows is NaN (row 3)" in odd(irm)["message"][0]


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("roles", [{}, {"duplicates": "first"}, {"by": "day", "cluster": "user"}], ids=str)
def test_rows_in_any_order_are_those_of_each_system(clustered: bool, roles: dict[str, Any]) -> None:
    """Long enough that rows in disorder are laid out by a group-by, which the systems have in common."""
    random = np.random.default_rng(2)
    query = np.repeat(np.arange(300), 8)
    log = pl.DataFrame({"query": query, "doc": np.tile(np.arange(8), 300), "day": query % 3, "user": query % 50})
    log = log.with_columns(pl.Series(name, random.integers(0, 9, len(log))) for name in "abc")
    log = log.with_columns(grade=pl.Series(random.integers(0, 3, len(log))))
    log = log if clustered else log.sample(fraction=1, shuffle=True, seed=1)
    long = pl.concat(log.drop(*"abc").with_columns(log[name].alias("score"), system=pl.lit(name)) for name in "abc")
    found = log.irm(score=["c", "a", "b"], **roles)
    expected = long.irm(system="system", score="score", **roles)
    for call in (
        lambda irm: irm.evaluate("ndcg@3", "map", "roc_auc"),
        lambda irm: irm.compare("rr", baseline="a", permutations=20),
        lambda irm: irm(cluster=None).thresholds("f1"),
        lambda irm: irm.bounds("ndcg@3", of="ties"),
    ):
        assert call(found).equals(call(expected))


# All that is relevant is listed


def lists_and_judgments(seed: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Requests with lists, the same results a row each, and judgments of all results and all relevant documents."""
    random = np.random.default_rng(seed)
    names = np.array([f"d{i}" for i in range(12)])
    docs = [random.permutation(names)[: random.integers(1, 9)].tolist() for _ in range(25)]
    relevant = [random.permutation(names)[: random.integers(1, 5)].tolist() for _ in range(25)]
    nested = pl.DataFrame({"query": np.arange(25), "doc": docs, "relevant": relevant})
    flat = nested.with_columns(rank=pl.int_ranges(1, pl.col("doc").list.len() + 1)).explode("doc", "rank")
    pairs = [
        (q, one, int(one in good))
        for q, (own, good) in enumerate(zip(docs, relevant, strict=True))
        for one in {*own, *good}
    ]
    return nested, flat.drop("relevant"), pl.DataFrame(pairs, schema=["query", "doc", "label"], orient="row")


@pytest.mark.parametrize("roles", [{}, {"unjudged": "drop"}, {"collection_size": 40}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_not_listed_as_relevant_is_not(seed: int, roles: dict[str, Any]) -> None:
    nested, flat, judgments = lists_and_judgments(seed)
    metrics = [
        "ndcg@5",
        "map",
        "rprec",
        "bpref",
        "infap",
        "judged@5",
        "unjudged@5",
        "precision@3",
        "recall",
        "num_rel_ret",
    ]
    metrics += ["mcc", "accuracy", "mcc@3"] if "collection_size" in roles else []
    found = nested.irm(**roles).per_query(*metrics, layout="wide")
    expected = flat.irm(**roles).judge(judgments).per_query(*metrics, layout="wide")
    assert found["judged@5"].to_list() == [1.0] * 25
    assert found.to_dict(as_series=False) == expected.to_dict(as_series=False)
    assert not {"unjudged in the top 10", "unjudged results"} & {*odd(nested.irm(**roles))["check"]}


def test_lists_of_ids_that_are_floats() -> None:
    """Ids may be floats, as those of pandas with a null among them are."""
    log = pl.DataFrame({"q": [1, 2], "doc": [[1.0, 2.0], [3.5]], "relevant": [[1.0], [3.0]]})
    assert log.irm(query="q").per_query("rr")["value"].to_list() == [1.0, 0.0]


# Containers of Python, in columns of pandas

HELD: dict[str, list[Any]] = {
    "doc": ["a", "b"],
    "score": [1.0, 2.0],
    "rank": [2, 1],
    "label": [0, 1],
    "grade": [0, 3],
}


def held(*roles: str, form: Callable[[Any], Any] = list, **others: Any) -> pd.DataFrame:
    """Two queries, with the values of some roles in containers of a form, and with other columns."""
    return pd.DataFrame({"q": [1, 2]} | {role: [form(HELD[role])] * 2 for role in roles} | others)


@pytest.mark.parametrize("form", [list, tuple, np.array])
@pytest.mark.parametrize(
    "roles", [("score", "label"), ("doc", "rank", "grade"), ("rank", "label"), ("doc", "score", "label")]
)
def test_lists_tuples_and_arrays_are_one_kind(roles: tuple[str, ...], form: Any) -> None:
    """In a column of results each is a list, the relevant result coming first here."""
    assert IRM(held(*roles, form=form), query="q").evaluate("rr")["value"].item() == 1


@pytest.mark.parametrize("form", [list, tuple, np.array, set, frozenset])
def test_relevant_documents_in_any_container(form: Any) -> None:
    """Lists, tuples, arrays and sets list the relevant documents alike; rows may differ, be empty or missing."""
    relevant = [form(["b"]), form(["x", "b"])]
    for docs in ([["a", "b"]] * 2, [("a", "b")] * 2):
        frame = pd.DataFrame({"q": [1, 2], "doc": docs, "relevant": relevant})
        assert IRM(frame, query="q").evaluate("recall", "rr")["value"].tolist() == [0.75, 0.5]
    mixed = pd.DataFrame({"q": [1, 2, 3, 4], "doc": [["a"]] * 4, "relevant": [form(["a"]), ["b"], {"a"}, None]})
    assert IRM(mixed, query="q").per_query("recall")["value"].tolist() == [1, 0, 1]


def test_a_tuple_is_an_id_where_a_row_is_a_result() -> None:
    """It is one beside a score, rank, label or grade of the row, and in a list; then it is the text of the tuple."""
    ids = [("a", 1), ("b", 2)]
    rows = pd.DataFrame({"q": [1, 1], "doc": ids, "score": [1.0, 2.0], "label": [0, 1]})
    lists = pd.DataFrame({"q": [1], "doc": [ids[::-1]], "relevant": [[ids[1]]]})
    tuples = pd.DataFrame({"q": [1], "doc": [tuple(ids[::-1])], "relevant": [{ids[1]}]})
    beside = pd.DataFrame({"q": [1], "doc": [ids[1]], "label": [1]})
    relevant = rows.drop(columns="label").assign(relevant=[[ids[1]]] * 2)
    for irm in (
        IRM(rows, query="q"),
        IRM(lists, query="q"),
        IRM(tuples, query="q"),
        IRM(relevant, query="q"),
        IRM(rows.drop(columns="label"), query="q").judge(beside),
        IRM(lists.drop(columns="relevant"), query="q").judge(beside),
        IRM(lists.drop(columns="relevant"), query="q").judge(beside.drop(columns="label"), label=True),
    ):
        assert irm.evaluate("rr")["value"].item() == 1
    assert IRM(rows, query="q").explain("rr", query=1)["doc"].tolist() == ids[::-1]
    classes = pd.DataFrame({"label": [(1, 2), (1,), (2,)], "predicted": [(1, 2), (1,), (1,)]})
    assert IRM(classes).evaluate("accuracy")["value"].item() == pytest.approx(2 / 3)


def test_tuples_beside_a_log() -> None:
    """A tuple of judged documents is a list if the grades of a row are one, or if ids of the log are no tuples."""
    log = IRM(held("doc"), query="q")
    for doc in ([("b",)] * 2, [["b"]] * 2):
        assert log.judge(pd.DataFrame({"q": [1, 2], "doc": doc}), label=True).evaluate("rr")["value"].item() == 0.5
        gold = pd.DataFrame({"q": [1, 2], "doc": doc, "grade": [(3,)] * 2})
        assert log.judge(gold).evaluate("rr")["value"].item() == 0.5


def one_id(**columns: Any) -> pd.DataFrame:
    """Lists of documents with one gold id for each query, and other columns."""
    return held("doc", gold=["b", "b"], **columns)


TEXTS_OF_LISTS = ["[1.0, 2.0]"] * 2
READ_TEXTS = [json.loads(one) for one in TEXTS_OF_LISTS]
CONTAINERS = r"""
IRM(held("doc", form=set, relevant=[["b"]] * 2), query="q").evaluate("rr")
IRM(held("doc", form=frozenset, relevant=[["b"]] * 2), query="q").evaluate("rr")
    MistakenColumnError: doc='doc' holds sets; a set has no order, and a ranking needs one: make them lists
IRM(held("doc", "label").assign(score=[{1.0, 2.0}] * 2), query="q").evaluate("rr")
    MistakenColumnError: score='score' holds sets; a set has no order, and a ranking needs one: make them lists
    but: IRM(held("doc", "score", "label"), query="q").evaluate("rr")
IRM(held("doc"), query="q").judge(pd.DataFrame({"q": [1, 2], "doc": [{"b"}] * 2}), label=True).evaluate("rr")
    BadValueError: doc: the column holds sets, which have no order; make them lists
IRM(held("doc", "label", score=TEXTS_OF_LISTS), query="q").evaluate("rr")
IRM(pl.DataFrame(held("doc", "label", score=TEXTS_OF_LISTS).to_dict("list")), query="q").evaluate("rr")
IRM(pa.table(held("doc", "label", score=TEXTS_OF_LISTS).to_dict("list")), query="q").evaluate("rr")
    MistakenColumnError: score='score' holds texts of lists, as '[1.0, 2.0]'; make them lists, with
        [ast.literal_eval(one) for one in frame['score']], or with json.loads, or pass score=None
    but: IRM(held("doc", "label", score=READ_TEXTS), query="q").evaluate("rr")
    but: IRM(held("doc", "label", score=TEXTS_OF_LISTS), query="q", score=None).evaluate("rr")
    but: IRM(held("doc", "label", score=["good", "bad"]), query="q").evaluate("rr")
IRM(held("doc", "label", s=TEXTS_OF_LISTS), query="q", score="s").evaluate("rr")
    MistakenColumnError: score='s' holds texts of lists, as '[1.0, 2.0]'; make them lists, with [ast.literal_eval(one)
        for one in frame['s']], or with json.loads
IRM(one_id(), query="q", relevant="gold").evaluate("rr")
    MistakenColumnError: relevant='gold' holds no lists of ids; if it has one id for each query, pass relevant=lambda f:
        f['gold'].map(lambda d: [d]), or judge(gold, label=True), with a frame of queries and ids; a judgment of a row
        is its label=
    but: IRM(one_id(), query="q", relevant=lambda f: f["gold"].map(lambda d: [d])).evaluate("rr")
    but: IRM(held("doc"), query="q").judge(pd.DataFrame({"q": [1, 2], "doc": [*"bb"]}), label=True).evaluate("rr")
    but: IRM(pl.DataFrame(one_id().to_dict("list")), query="q", relevant=pl.concat_list("gold")).evaluate("rr")
    but: IRM(pl.DataFrame(one_id().to_dict("list")).lazy(), query="q", relevant=pl.concat_list("gold")).evaluate("rr")
IRM(pa.table(one_id().to_dict("list")), query="q", relevant="gold").evaluate("rr")
    MistakenColumnError: relevant='gold' holds no lists of ids; if it has one id for each query, pass judge(gold,
        label=True), with a frame of queries and ids; a judgment of a row is its label=
IRM(held("doc", gold=["a,b", "b"]), query="q", relevant="gold").evaluate("rr")
    MistakenColumnError: relevant='gold' holds no lists of ids; if it has one id for each query, pass relevant=lambda f:
        f['gold'].map(lambda d: [d]), or judge(gold, label=True), with a frame of queries and ids; if several, as 'a,b',
        make them lists, with frame['gold'].str.split(','); a judgment of a row is its label=
    but: IRM(held("doc", gold=[["a", "b"], ["b"]]), query="q", relevant="gold").evaluate("rr")
IRM(one_id().rename(columns={"gold": "relevant"}), query="q").evaluate("rr")
    MistakenColumnError: relevant='relevant' holds no lists of ids; if it has one id for each query, pass
        relevant=lambda f: f['relevant'].map(lambda d: [d]), or judge(gold, label=True), with a frame of queries and
        ids; a judgment of a row is its label=
    but: IRM(one_id(relevant=[["b"], ["b"]]), query="q").evaluate("rr")
IRM(one_id(texts=["['b']"] * 2), query="q", relevant="texts").evaluate("rr")
    MistakenColumnError: relevant='texts' holds texts of lists, as "['b']"; make them lists, with [ast.literal_eval(one)
        for one in frame['texts']], or with json.loads
    but: IRM(one_id(texts=[["b"]] * 2), query="q", relevant="texts").evaluate("rr")
"""


def test_containers_that_are_no_lists() -> None:
    """Sets where there is an order, texts of lists, and one id for each query: errors whose way out passes."""
    check(CONTAINERS, globals())


def test_containers_that_are_no_lists_are_findings() -> None:
    """The audit reports such a column in the words of the error, and does not raise."""
    for row in refusals_of(CONTAINERS, globals()):
        if row.cause == "MistakenColumnError":
            found = as_polars(run(f"{row.irm}.audit()", globals()))
            assert found.select("severity", "message").rows() == [("error", row.words)]
            with pytest.raises(BadValueError, match="1 finding"):
                run(f"{row.irm}.audit(fail_on='error')", globals())
