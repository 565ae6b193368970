"""Condensed lists: a row that `unjudged="drop"` leaves out is in no cell of any table."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from frame_metrics import IRM

# Retrieved: one relevant, one that nobody judged, one that is not relevant, one of negative grade; known: one relevant.
LOG = pl.DataFrame(
    {
        "query": [1] * 5,
        "doc": [*"abcde"],
        "score": [5.0, 4, 3, 2, None],
        "grade": [1, None, 0, -1, 1],
        "said": [1, 1, 1, 0, 0],
    }
)
CELLS = ("tp", "fp", "fn", "tn")


def cells(irm: IRM[pl.DataFrame]) -> list[float]:
    """Return the counts of the table."""
    return irm.evaluate(*CELLS)["value"].to_list()


@pytest.mark.parametrize(
    ("roles", "tn"),
    [({"collection_size": True}, 0), ({"collection_size": 9}, 4), ({"threshold": 3.0}, 0), ({"predicted": "said"}, 0)],
)
def test_a_dropped_row_is_in_no_cell(roles: dict[str, Any], tn: int) -> None:
    """By hand: a is found, c is found wrongly, e is missed; b and d are nowhere, whatever makes the table."""
    irm = LOG.irm(query="query", unjudged="drop", **roles)
    assert cells(irm) == [1, 1, 1, tn]
    assert cells(
        LOG.filter(pl.col("grade") >= 0).irm(query="query", **(roles | ({"collection_size": 7} if tn else {})))
    ) == cells(irm)


@pytest.mark.parametrize("size", [50, "size"])
def test_a_document_that_was_not_retrieved_is_a_true_negative_wherever_it_stands(size: int | str) -> None:
    """Of 50 documents one is found, one found wrongly: 48 others, also where one of negative grade is in the log.

    It stands in no row, in a row, in a row of one of two equal systems, or in the judgments beside the log.
    """
    log = pl.DataFrame({"query": 1, "doc": [*"abc"], "score": [4.0, 3.0, None], "grade": [1, 0, -1], "size": 50})
    roles: dict[str, Any] = {"query": "query", "collection_size": size, "unjudged": "drop"}
    beside = log[:2].drop("grade").irm(**roles).judge(log.drop("score"))
    for irm in (log[:2].irm(**roles), log.irm(**roles), beside):
        assert cells(irm) == [1, 1, 0, 48]
    two = pl.concat([log.with_columns(system=pl.lit("a")), log[:2].with_columns(system=pl.lit("b"))])
    assert two.irm(**roles, system="system").per_query("tn")["value"].to_list() == [48, 48]


@pytest.mark.parametrize("roles", [{"threshold": 3.0}, {"predicted": "said"}])
def test_pooled_rows_of_queries_are_those_of_the_condensed_lists(roles: dict[str, Any]) -> None:
    """What confusion() counts is what evaluate() counts, negative grades included."""
    irm = LOG.irm(query="query", unjudged="drop", **roles)
    assert irm.confusion()["n"].to_list() == [0, 1, 1, 1]  # tn, fn, fp, tp
    judged = LOG.drop("grade").irm(query="query", unjudged="drop", **roles).judge(LOG.select("query", "doc", "grade"))
    assert judged.confusion()["n"].to_list() == [0, 1, 1, 1]
    assert cells(judged) == cells(irm) == [1, 1, 1, 0]


def test_judged_documents_that_are_not_listed_stay() -> None:
    """Beside the log stands one of negative grade, which is dropped, and one that is not relevant."""
    qrels = pl.DataFrame({"query": [1] * 4, "doc": [*"acxy"], "grade": [1, 0, -1, 0]})
    irm = LOG.drop("grade").head(3).irm(query="query", unjudged="drop", threshold=3.0).judge(qrels)
    assert cells(irm) == [1, 1, 0, 1]
    assert irm.confusion()["n"].to_list() == [1, 0, 1, 1]


def test_scores_of_a_query_that_is_condensed_to_nothing() -> None:
    """Measures of scores are undefined there; nothing but the query is left."""
    log = pl.DataFrame({"query": [1, 1], "score": [1.0, 2.0], "grade": [-1, -1]})
    found = log.irm(unjudged="drop").evaluate("roc_auc", "average_precision")
    assert found.select("n_undefined").to_series().to_list() == [1, 1]
