"""Runs and judgments given as dictionaries of dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from polars.testing import assert_frame_equal

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars
from refusals import check

RUN = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d5": 1.0, "d4": 0.5}}
QREL = {"q1": {"d1": 3, "d2": 0, "d9": 1}, "q2": {"d4": 2}}


def rows(nested: dict[Any, dict[Any, Any]], value: str) -> pl.DataFrame:
    """A row for each document."""
    each = [(query, doc, one) for query, docs in nested.items() for doc, one in docs.items()]
    return pl.DataFrame(each, schema=["query", "doc", value], orient="row")


def test_dicts_are_the_frames_of_their_rows() -> None:
    """A run, judgments, and both have the values of frames, and results of polars; pytrec_eval has the same ones."""
    asked = ("map", "ndcg", "recip_rank", "num_rel")
    expected = rows(RUN, "score").irm.judge(rows(QREL, "grade")).per_query(*asked)
    assert_frame_equal(IRM(RUN).judge(QREL).per_query(*asked), expected)
    assert_frame_equal(rows(RUN, "score").irm.judge(QREL).per_query(*asked), expected)
    assert_frame_equal(IRM(RUN).judge(rows(QREL, "grade")).per_query(*asked), expected)
    theirs = pytrec_eval.RelevanceEvaluator(QREL, set(asked)).evaluate(RUN)
    for query, name, value in expected.select("query", "metric", "value").rows():
        assert value == pytest.approx(theirs[query][name], abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_judgments_may_be_a_dict_beside_a_frame_of_any_kind(kind: str) -> None:
    """Its columns are query, doc and grade, whatever the frame calls its own; ids of numbers stay numbers."""
    log = rows(RUN, "score").select(qid="query", docid="doc", bm25="score")
    irm = IRM(as_kind(log, kind), query="qid", doc="docid", score="bm25")
    found = as_polars(irm.judge(QREL).per_query("ndcg"))
    assert found["value"].to_list() == IRM(RUN).judge(QREL).per_query("ndcg")["value"].to_list()
    numbers = pl.DataFrame({"query": [1, 1], "doc": [7, 8], "score": [2.0, 1.0]})
    judged = IRM(as_kind(numbers, kind)).judge({1: {np.int64(8): np.float32(2.5), 7: None}})
    assert as_polars(judged.evaluate("ndcg", "judged@2"))["value"].to_list() == [pytest.approx(1 / np.log2(3)), 0.5]


def test_labels_words_and_a_machine() -> None:
    """A value may be a label, or a word of scale=; proxy= takes a dict too."""
    labels = IRM(RUN).judge({"q1": {"d1": True, "d2": False}, "q2": {"d4": True}}, label="grade", grade=None)
    assert labels.per_query("rr")["value"].to_list() == [0.5, 0.5]
    words = {"q1": {"d1": "good", "d2": "bad"}, "q2": {"d4": "good"}}
    assert IRM(RUN, scale={"good": 2, "bad": 0}).judge(words).evaluate("cg")["value"].to_list() == [2]
    many = {f"q{i}": {"d1": 2.0, "d2": 1.0} for i in range(12)}
    grades = {query: {"d1": int(i % 3 > 0), "d2": 1} for i, query in enumerate(many)}
    human = {query: docs for i, (query, docs) in enumerate(grades.items()) if i % 2}
    frames = rows(many, "score").irm.judge(rows(human, "grade"), proxy=rows(grades, "grade"))
    assert_frame_equal(IRM(many).judge(human, proxy=grades).evaluate("rr"), frames.evaluate("rr"))


def test_a_query_without_documents_was_asked_and_found_nothing() -> None:
    """It counts as answered; among judgments it has none. A query that the run lacks was not asked."""
    run: dict[str, dict[str, float]] = {"q1": {"d1": 1.0}, "q2": {}}
    qrel = {"q1": {"d1": 1}, "q2": {"d4": 2}, "q3": {"d1": 1}}
    found = IRM(run).judge(qrel).per_query("rr")
    assert found.select("query", "value", "answered").rows() == [("q1", 1, True), ("q2", 0, True), ("q3", 0, False)]
    assert IRM({"q2": {}, "q3": {}}).judge(qrel).evaluate("rr", "num_ret")["value"].to_list() == [0, 0]
    assert IRM(RUN).judge(QREL | {"q1": {}}).evaluate("rr")["n"].to_list() == [1]


def test_the_repr_shows_the_frame() -> None:
    """Its columns were found by name."""
    assert repr(IRM(RUN)).splitlines()[:2] == [
        "IRM of a polars.DataFrame, 4 rows",
        "  query  query  'q1', 'q2'             found by name",
    ]


REFUSALS = r"""
IRM({"bm25": {"q1": {"d1": 1.0}}})
    BadValueError: a run is {query: {document: score}}, and 'q1' of 'bm25' has a dict too; give one of them at a time,
        or a frame with a column for each level
    but: IRM({"bm25": {"q1": {"d1": 1.0}}}["bm25"])
IRM(RUN).judge({"q1": {"d1": 1}, "q2": 3})
    BadValueError: judgments are {query: {document: grade}}, and query 'q2' has 3; give it a dict, or none
    but: IRM(RUN).judge({"q1": {"d1": 1}, "q2": {"d4": 3}})
IRM({"q1": {"d1": 1.0, 2: 3.0}})
    BadValueError: doc: the values of the dict are 'int', 'str'; give all of them one type
IRM({"q1": {"d1": 1.0}, 2: {"d1": 3.0}})
    BadValueError: query: the values of the dict are 'int', 'str'; give all of them one type
IRM(RUN).judge({"q1": {"d1": 1, "d2": "good"}})
    BadValueError: grade: the values of the dict are 'int', 'str'; give all of them one type
IRM({"q1": {"d1": "high"}}).judge(QREL).evaluate("rr")
    BadValueError: score: a score is a number, and this column is text, as 'high'; convert it
    but: IRM({"q1": {"d1": 3, "d2": 1.0, "d3": np.float32(2), "d4": None}}).judge(QREL).evaluate("rr")
IRM(RUN).judge({1: {1: 1}}).evaluate("rr")
    BadValueError: query of the judgments is Int64, and query of the log is text; give both one type, integers if
        the texts have leading zeros
    but: IRM(RUN).judge({"q1": {"d1": 1}}).evaluate("rr")
IRM({})
    BadValueError: a dict is not a frame: [...]
IRM(RUN).judge({"query": ["q1"], "doc": ["d1"], "grade": [1]})
    BadValueError: a dict is not a frame: polars.DataFrame(...) or pandas.DataFrame(...) makes it one[...]
    but: IRM(RUN).judge(pl.DataFrame({"query": ["q1"], "doc": ["d1"], "grade": [1]}))
"""


def test_what_is_refused() -> None:
    """An error says what a dict has to be."""
    check(REFUSALS, globals())
