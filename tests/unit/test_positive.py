"""The label that is looked for: none of it in a frame, one, or several."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError, ColumnError
from helpers import error, odd

HAM = pl.DataFrame({"label": ["ham"] * 4, "predicted": ["spam", "ham", "ham", None]})


def counts(irm: IRM[pl.DataFrame]) -> list[tuple[Any, ...]]:
    """Return the cells of the table: what is predicted, what is true, how many rows."""
    return irm.confusion().rows()


@pytest.mark.parametrize("labels", [["ham"] * 3, [0] * 3, [False] * 3, [None] * 3], ids=["text", "0/1", "bool", "null"])
def test_a_frame_without_a_positive_is_a_frame_like_any_other(labels: list[Any]) -> None:
    """A day without spam: nothing is right that was predicted spam, and recall is undefined."""
    positive = "spam" if labels[0] in ("ham", None) else 1
    said = (
        pl.Series(["spam", "ham", "ham"])
        if positive == "spam"
        else pl.Series(labels).cast(pl.Int8) + pl.Series([1, 0, 0])
    )
    day = pl.DataFrame({"label": labels, "predicted": said})
    irm = day.irm(positive=positive, unjudged="negative")
    rows = irm.evaluate("precision", "recall", "accuracy", "fp", "tn").select("value", "n_undefined").rows()
    assert rows == [(0, 0), (0, 1), (2 / 3, 0), (1, 0), (2, 0)]
    assert counts(irm) == [(False, False, 2), (False, True, 0), (True, False, 1), (True, True, 0)] or positive == 1


def test_a_day_without_a_positive_beside_another() -> None:
    """Segments, queries and a frame of their own: the same counts everywhere."""
    both = pl.DataFrame(
        {"day": [1, 1, 2, 2], "label": ["ham", "ham", "spam", "ham"], "predicted": ["spam", "ham", "spam", "spam"]}
    )
    by = both.irm(by="day", positive="spam").evaluate("tp", "fp", "precision")["value"].to_list()
    alone = [
        both.filter(day=day).irm(positive="spam").evaluate("tp", "fp", "precision")["value"].to_list() for day in (1, 2)
    ]
    assert by == [value for values in alone for value in values] == [0, 1, 0, 1, 1, 0.5]
    of_queries = both.irm(query="day", positive="spam").per_query("tp", "fp", "precision")["value"].to_list()
    assert of_queries == by


def test_several_values_are_positive() -> None:
    """Mail of two kinds is looked for: whichever of them is said, it is right."""
    mail = pl.DataFrame({"label": ["spam", "virus", "ham", "news"], "predicted": ["virus", "ham", "spam", "news"]})
    irm = mail.irm(positive=["spam", "virus"])
    assert counts(irm) == [(False, False, 1), (False, True, 1), (True, False, 1), (True, True, 1)]
    assert irm.evaluate("accuracy")["value"].item() == 0.5
    numbers = pl.DataFrame({"label": [1, 2, 3], "predicted": [2, 2, 3]})
    assert numbers.irm(positive=(2, 3)).evaluate("precision", "recall")["value"].to_list() == [2 / 3, 1]
    assert numbers.irm(positive={2}).evaluate("precision", "recall")["value"].to_list() == [0.5, 1]


@pytest.mark.parametrize(("labels", "positive"), [([1, 0, 0, None], 0), ([*"yno", None], [*"no"])])
def test_it_is_the_label_of_judgments_too(labels: list[Any], positive: Any) -> None:
    """Beside the log it says what the same column says in it; where every row is relevant, it is about predictions."""
    own = pl.DataFrame({"query": [1] * 4, "doc": [*"abcd"], "score": [4.0, 3.0, 2.0, 1.0], "label": labels})
    log, qrels = own.drop("label"), own.drop("score")
    irm = log.irm(positive=positive)
    assert own.irm(positive=positive).evaluate("rr", "num_rel")["value"].to_list() == [0.5, 2]
    assert irm.judge(qrels).evaluate("rr", "num_rel")["value"].to_list() == [0.5, 2]
    twice = pl.concat([qrels.with_columns(who=pl.lit("x")), qrels.with_columns(who=pl.lit("y"))])
    judged = irm.judge(twice, annotator="who", several="majority")
    assert judged.evaluate("rr", "num_rel")["value"].to_list() == [0.5, 2]
    assert judged.agreement()["equal"].to_list() == [1, 1]
    assert irm.judge(qrels[:1], label=True).evaluate("rr", "num_rel")["value"].to_list() == [1, 1]


@pytest.mark.parametrize("positive", [[], [None], ["a", "a"], [["a"]], np.array(["a"])])
def test_what_is_no_value_is_an_error(positive: Any) -> None:
    """Nothing, null, a value twice and an array are none."""
    assert error(lambda: HAM.irm(positive=positive), BadValueError).endswith(" a label, or a list of different ones")


def test_grades_are_neither_positive_nor_classes() -> None:
    """What is relevant among grades is said by rel=; positive= is then about predictions alone."""
    graded = pl.DataFrame({"score": [0.9, 0.5, 0.1], "grade": [2, 1, 0], "predicted": ["spam", "ham", "ham"]})
    said = error(lambda: graded.irm(positive="spam", predicted=None).evaluate("roc_auc"))
    assert said == "positive= is a label, and grade is a grade; pass rel=, or name label="
    said = error(lambda: graded.irm(classes=["spam", "ham"]).evaluate("accuracy"))
    assert said == "classes= is about classes, and grade is a grade; name label="
    assert graded.irm(positive="spam").evaluate("recall", "precision")["value"].to_list() == [0.5, 1.0]


@pytest.mark.parametrize("roles", [{}, {"query": "query"}], ids=["pooled", "queries"])
def test_a_positive_that_no_row_has_is_a_warning(roles: dict[str, Any]) -> None:
    """It may be another spelling; where a row has it, predicted or true, it is none."""
    log = HAM.with_columns(query=pl.lit(1)).irm(**{"query": None} | roles)
    found = odd(log(positive="Spam")).filter(check="no positive in any row")
    assert found.select("severity", "n", "share").rows() == [("warning", 4, 1.0)]
    assert found["message"].item().startswith("no label and no prediction is 'Spam'; there are 'ham', 'spam'")
    assert odd(log(positive="spam")).filter(check="no positive in any row").is_empty()
    assert odd(log(positive=["Spam", "ham"])).filter(check="no positive in any row").is_empty()


def test_a_label_is_none_where_judgments_are_grades_or_lists() -> None:
    """positive= beside graded judgments, or lists of relevant ids, is an error, as it is of a log's own grades."""
    run = pl.DataFrame({"query": [1], "doc": ["x"], "score": [1.0], "relevant": [["x"]]})
    qrels = run.select("query", "doc", grade=pl.lit(1))
    said = error(lambda: run.irm(positive=0, relevant=None).judge(qrels).evaluate("rr"), ColumnError)
    assert said == "positive= is a label, and grade is a grade; pass rel=, or name label="
    said = error(lambda: run.irm(positive=0).evaluate("rr"), ColumnError)
    assert said == "positive= is a label, and relevant lists ids; pass positive=None"


@pytest.mark.parametrize(
    ("labels", "positive", "expected"),
    [
        (pd.to_datetime([0, 1, 1, 1000]), pd.Timestamp(1), [0, 1, 1, 0]),
        (pd.to_datetime([0, 1, 1, 1000]), pd.Timestamp(0), [1, 0, 0, 0]),
        (pd.to_datetime([0, 1, 1, 1000]).tz_localize("UTC"), pd.Timestamp(1, tz="Asia/Tokyo"), [0, 1, 1, 0]),
        (pd.to_timedelta([0, 1, 1, 1000]), pd.Timedelta(1), [0, 1, 1, 0]),
        (pd.to_timedelta([0, 1, 1, 1000]).as_unit("us"), pd.Timedelta(1), [0, 0, 0, 0]),
        (pd.to_timedelta([0, 0, 0, 1000]).as_unit("us"), pd.Timedelta(1000), [0, 0, 0, 1]),
        (pd.to_datetime([0, 0, 0, 2], unit="ms").as_unit("ms"), datetime(1970, 1, 1, 0, 0, 0, 5), [0, 0, 0, 0]),
        (pd.to_datetime([0, 0, 0, 2], unit="ms").as_unit("ms"), datetime(1970, 1, 1, 0, 0, 0, 2000), [0, 0, 0, 1]),
    ],
)
def test_times_are_compared_to_the_nanosecond(labels: Any, positive: Any, expected: list[int]) -> None:
    """What is below the unit of a column, or of Python, is not cut off; a moment is the same in every zone."""
    frame = pd.DataFrame({"label": labels, "predicted": labels})
    assert frame.irm(positive=positive).evaluate("tp")["value"].tolist() == [sum(expected)]
    log = pd.DataFrame({"query": labels, "score": [4, 3, 2, 1], "grade": 1})
    if sum(expected):
        assert log.irm.explain("num_ret", query=positive)["query"].tolist() == list(labels[np.array(expected) == 1])


def test_classes_that_python_has_no_values_for_are_an_error() -> None:
    """Two moments that differ in nanoseconds only would be one class."""
    frame = pd.DataFrame({"label": pd.to_datetime([0, 1]), "predicted": pd.to_datetime([0, 1])})
    refused = error(lambda: frame.irm(classes=[*frame["label"]]).confusion(), BadValueError)
    assert refused.startswith("label: <pandas.Timestamp> cannot be one of its values")
