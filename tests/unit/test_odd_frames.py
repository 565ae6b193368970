"""Small odd frames that an attack at random found: each is a result, or an error in the caller's words."""

from __future__ import annotations

from datetime import time  # noqa: F401  which a table names
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from frame_metrics import IRM, FrameMetricsError  # noqa: F401
from helpers import error
from refusals import check

SCORES = {"query": [1, 1], "score": [0.5, 0.2], "grade": [1, 0]}
REFUSALS = r"""
pl.LazyFrame(SCORES | {"a": [1, 2], "b": pl.Series(["x", "y"], dtype=pl.Categorical)}).irm(score=["a",
        "b"]).evaluate("rr").collect()
    BadValueError: b: a score is a number, and this column is text, as 'x'; convert it
pl.DataFrame({"score": [0.5, 0.2], "grade": [1.0, 0.5], "n": [time(1), time(2)]}).irm(count="n").evaluate("roc_auc")
    BadValueError: n: a count is a number, and this column is Time; convert it
pl.DataFrame(SCORES | {"n": [3, 3]}).irm(n_relevant="n").curve("calibration")
    BadValueError: score: 2 of 4 documents have no score; curve('calibration') needs one for every row
pl.DataFrame({"query": [0, 2, 2], "system": [1, 2, 1], "score": [[0.2], [0.5],
        [0.5]]}).with_columns(grade=pl.Series([[2], [1], [0]])).irm(system="system").per_class("brier")
    BadValueError: score: 1 of 4 documents has no score; brier needs one for every row
pl.DataFrame(SCORES | {"other": [0.1, None], "n": [3, 3]}).irm(score=["score", "other"],
        n_relevant="n").curve("calibration")
    BadValueError: score, other: 5 of 8 documents have no score; curve('calibration') needs one for every row
pl.DataFrame({"label": pl.Series([None] * 3, dtype=pl.Int64), "predicted": ["a", "b", "c"]}).irm(label="label",
        predicted="predicted", unjudged="drop").per_class("f1")
    BadValueError: predicted: its values are text, those of label are Int64;[...]
pl.DataFrame({"row": [True], "predicted": [[[1.0]]]}).irm(label="row").confusion()
    ColumnError: query='row' is the label too; a column can have only one role
IRM(pa.table({"query": [1], "score": [1.0], "grade": pa.array([(1, 2, 3)],
        pa.month_day_nano_interval())})).evaluate("rr")
    BadValueError: grade: the column is month_day_nano_interval, which cannot be read; cast it to another type
    but: pl.DataFrame(SCORES | {"other": [0.1, 0.3], "n": [1, 1]}).irm(score=["score", "other"],
        n_relevant="n").evaluate("rr")
    but: pl.DataFrame({"label": [1], "predicted": [1], "n": [2]}).irm(count="n").evaluate("recall")
"""


def test_what_is_odd_is_an_error_in_the_callers_words() -> None:
    """No error of another library comes of it, and none about rows that the frame does not have."""
    check(REFUSALS, globals())


def test_lists_of_nulls_from_arrow_are_read() -> None:
    """A cast to the type that they have already would break them."""
    nothing = pd.array([[None, None], [None]], dtype=pd.ArrowDtype(pa.list_(pa.null())))
    lists = pd.DataFrame({"query": [1, 2], "score": nothing, "grade": [[0, 1], [1]]})
    assert lists.irm.per_query("rr")["value"].to_list() == [0.0, 0.0]


def test_lists_in_pieces_have_the_classes_of_their_values() -> None:
    """The types of a plan that has not run are those of its result."""
    frame = pl.LazyFrame({"query": [1], "label": [[0, 1]], "predicted": [[True, False]], "score": [[0.2, 0.1]]})
    table = frame.irm(query="query", predicted="predicted", memory=200).confusion()
    assert table.collect().schema == table.collect_schema()


def test_totals_over_intervals_of_whole_numbers() -> None:
    """A null beside them makes intervals of floats, as pandas does."""
    by = pd.arrays.IntervalArray.from_arrays([0, 1], [1, 2])
    frame = pd.DataFrame({"by": by, "label": [True, False], "predicted": [True, True]})
    table = frame.irm(by="by", predicted="predicted").confusion(margins=True)
    assert [str(key) for key in table["by"].dropna().unique()] == ["(0.0, 1.0]", "(1.0, 2.0]"]
    assert table["by"].isna().any()


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.String])
def test_a_count_that_is_no_number_is_refused_in_pieces_too(dtype: Any) -> None:
    """In the words of a frame that is read at once."""
    frame = pl.LazyFrame({"label": [0, 1], "predicted": [True, False], "count": pl.Series(["a", "b"], dtype=dtype)})
    irm = frame.irm(count="count", predicted="predicted", memory=1)
    at_once = error(frame.collect().irm(count="count", predicted="predicted").confusion, FrameMetricsError)
    assert error(irm.confusion, FrameMetricsError) == at_once


def test_intervals_and_periods_are_shown_as_pandas_does() -> None:
    """As systems, queries and segments; a struct of another kind is shown as it is."""
    runs, months = pd.interval_range(0, 2, closed="left"), pd.period_range("2026-01", periods=2, freq="M")
    rows = [(run, month, doc) for run in runs for month in months for doc in "ab"]
    log = pd.DataFrame(rows, columns=["run", "query", "doc"]).astype({"run": runs.dtype, "query": months.dtype})
    log = log.assign(score=[2.0, 1, 1, 2, 1, 2, 2, 1], grade=[1, 0, 0, 1] * 2)
    irm = log.irm(system="run")
    assert "2026-01, 2026-02" in repr(irm)
    assert irm.summary("rr").set_index("kind")["run"].fillna("").to_dict() == {"difference": "[0, 1)", "audit": ""}
    for text in (irm.report(metrics="rr", format="md"), irm.audit()["example"].str.cat(na_rep="")):
        assert "[0, 1)" in text.replace("\\", "")
        assert "2026-01" in text
        assert "{'" not in text
    weeks = log.assign(week=log["query"], query=[1, 1, 2, 2] * 2).irm(system="run", by="week")
    assert "| 2026-01 |" in weeks.report(metrics="rr", format="md")
    sides = pl.DataFrame({"query": [1], "score": [1.0], "grade": [1], "at": [{"left": 1, "right": 2}]})
    assert "{'left': 1, 'right': 2}" in sides.irm(by="at").report(metrics="rr", format="md")
    structs = pl.DataFrame({"query": [{"a": 1}], "score": [1.0], "grade": [1]})
    assert "{'a': 1}" in repr(structs.irm())
