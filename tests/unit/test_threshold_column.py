"""A column of thresholds: each row is decided about by its own, as by the one of its segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, BadRowsError, BadValueError, ColumnError
from helpers import as_kind, as_polars, error
from inside import in_pieces

LIMITS = {"a": 0.3, "b": 0.6, None: 0.5}
Call = Callable[[Any], Any]


def rows(queries: int = 0) -> pl.DataFrame:
    """Scores of rows in three segments, some missing, some labels too, each with the threshold of its segment."""
    draw = np.random.default_rng(3)
    frame = pl.DataFrame({"score": draw.integers(0, 11, 90) / 10, "label": draw.integers(0, 2, 90)})
    frame = frame.with_columns(day=pl.Series(["a", "b", None] * 30), doc=pl.int_range(90))
    frame = frame.with_columns(limit=pl.col("day").replace_strict(LIMITS))
    if queries:
        day = pl.col("day").fill_null("c")
        frame = frame.with_columns(query=day + (pl.int_range(90) // 3 % queries).cast(pl.String))
    hidden = pl.int_range(90) % 11 == 4
    score, label = pl.when(~hidden).then("score"), pl.when(hidden | (pl.int_range(90) % 13 > 0)).then("label")
    return frame.with_columns(score=score, label=label)


ROWS: dict[str, Call] = {
    "evaluate": lambda irm: irm.evaluate("f1", "accuracy", ci=0.9, resamples=20),
    "confusion": lambda irm: irm.confusion(),
    "per_class": lambda irm: irm.per_class("recall"),
}
QUERIES: dict[str, Call] = {
    "evaluate": lambda irm: irm.evaluate("f1", "tp", "fn", average="micro"),
    "per_query": lambda irm: irm.per_query("precision", "recall", layout="wide"),
    "confusion": lambda irm: irm.confusion(),
}


def alone(frame: pl.DataFrame, call: Call, **roles: Any) -> pl.DataFrame:
    """What the call gives of each segment by itself, with its own number."""
    parts = []
    for day, limit in LIMITS.items():
        here = frame.filter(pl.col("day").eq_missing(pl.lit(day, pl.String)))
        parts.append(as_polars(call(IRM(here, threshold=limit, by="day", **roles))))
    return pl.concat(parts)


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_decided_about_by_their_own_threshold(name: str, kind: str) -> None:
    """A column of each segment's threshold gives what each segment gives by itself, with its number."""
    roles: dict[str, Any] = {"query": None, "doc": None, "unjudged": "negative"}
    expected = alone(rows(), ROWS[name], **roles)
    got = as_polars(ROWS[name](IRM(as_kind(rows(), kind), by="day", threshold="limit", **roles)))
    counted = [column for column in got.columns if not column.startswith("ci_")]
    assert got.select(counted).equals(expected.select(counted))


@pytest.mark.parametrize("name", QUERIES)
def test_queries_are_decided_about_by_their_own_threshold(name: str, kind: str) -> None:
    """So does a log with queries, also where it is read in pieces and judged from beside."""
    log = rows(4)
    roles: dict[str, Any] = {"query": "query"}
    expected = alone(log, QUERIES[name], **roles)
    irm = IRM(as_kind(log, kind), by="day", threshold="limit", **roles)
    assert as_polars(QUERIES[name](irm)).sort(pl.all()).equals(expected.sort(pl.all()))
    if kind == "polars":
        assert QUERIES[name](in_pieces(irm)).collect().sort(pl.all()).equals(expected.sort(pl.all()))
        run, qrels = log.drop("label").drop_nulls("score"), log.drop("score", "limit").drop_nulls("label")
        beside = QUERIES[name](IRM(run, by="day", threshold="limit", **roles).judge(qrels))
        assert [name for name in beside.columns if name not in ("n_unanswered", "answered")] == [
            name for name in expected.columns if name != "answered"
        ]


def test_systems_in_columns_of_their_own() -> None:
    """Each column of scores is held against the threshold of the row."""
    frame = pl.DataFrame({"query": [1, 1, 2], "doc": [*"xyx"], "label": [1, 0, 1], "limit": [0.5, 0.5, 2.0]})
    frame = frame.with_columns(one=pl.Series([0.5, 0.4, 1.0]), two=pl.Series([0.4, 0.5, 2.0]))
    irm = frame.irm(query="query", score=["one", "two"], threshold="limit")
    assert irm.per_query("tp", "fp", layout="wide").drop("answered").rows() == [
        ("one", 1, 1.0, 0.0), ("one", 2, 0.0, 0.0), ("two", 1, 0.0, 1.0), ("two", 2, 1.0, 0.0)
    ]  # fmt: skip
    arms = frame.irm(query=None, doc="doc", score=["one", "two"], threshold="limit", by="query")
    assert arms.evaluate("tp")["value"].to_list() == [1.0, 0.0, 0.0, 1.0]


def test_lists_with_a_threshold_for_the_query() -> None:
    """A row that is a query has one threshold for all of its results."""
    frame = pl.DataFrame({"score": [[0.9, 0.2], [0.9, 0.2]], "label": [[1, 0], [1, 0]], "limit": [0.1, 0.95]})
    assert frame.irm(threshold="limit").per_query("tp", "fp", layout="wide").drop("answered").rows() == [
        (0, 1.0, 1.0),
        (1, 0.0, 0.0),
    ]


def test_a_threshold_is_compared_as_the_score_is_held() -> None:
    """0.7 as a column of float64 is reached by a float32 score of 0.7, as the number is."""
    frame = pl.DataFrame({"score": [0.7], "label": [1], "limit": [0.7]}, schema_overrides={"score": pl.Float32})
    for threshold in (0.7, "limit"):
        assert frame.irm(query=None, threshold=threshold).evaluate("tp")["value"].to_list() == [1.0]
        per_query = frame.with_columns(query=1).irm(query="query", threshold=threshold).per_query("tp")
        assert per_query["value"].to_list() == [1.0]


def test_bad_thresholds_are_errors() -> None:
    """A column that is not there, is no number or lacks a value is named; the error about a series says the way."""
    frame = pl.DataFrame({"score": [0.7, 0.1], "label": [1, 0], "limit": [0.7, None], "word": [*"ab"]})
    said = error(lambda: frame.irm(query=None, threshold="limits").evaluate("tp"), ColumnError)
    assert said.startswith("threshold='limits': there is no such column among 'score', 'label', 'limit', 'word'")
    assert said.endswith("did you mean 'limit'?")
    said = error(lambda: frame.irm(query=None, threshold="0.5").evaluate("tp"))
    assert said == "threshold='0.5' is text; pass the number, threshold=0.5"
    for irm in (frame.irm(query=None), frame.with_columns(query=1).irm(query="query")):
        said = error(lambda irm=irm: irm(threshold="limit").evaluate("tp"), BadRowsError)  # type: ignore[misc]
        assert said == "limit: 1 of 2 rows has no threshold (row 1); give every row one"
        said = error(lambda irm=irm: irm(threshold="word").evaluate("tp"), BadValueError)  # type: ignore[misc]
        assert said == "word: a threshold is a number, and this column is text, as 'a'; convert it"
    said = error(lambda: frame.irm(threshold=frame["limit"]), BadValueError)
    assert said.endswith("is not a score, or the name of a column; make it a column of the frame, and give its name")
    assert "pass threshold=None" in error(lambda: frame.irm(query=None, threshold="limit").thresholds("f1"))
