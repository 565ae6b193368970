"""Classes one by one and averaged over, as in a classification report: support, the wide layout, several averages."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import polars.testing as pl_testing
import pytest
import sklearn.metrics as skl

from frame_metrics import IRM, BadValueError, ColumnError, NotComputableError, UnknownNameError
from helpers import KINDS, as_kind, as_polars, made_classes

REPORT = ("precision", "recall", "f1")
AVERAGES: Any = ["macro", "micro", "weighted"]


def by_sklearn(frame: pl.DataFrame, weight: str | None, **given: Any) -> dict[str, Any]:
    weights = None if weight is None else frame[weight].to_numpy()
    truth, said = frame["label"].to_numpy(), frame["predicted"].to_numpy()
    return dict(
        skl.classification_report(truth, said, sample_weight=weights, output_dict=True, zero_division=0, **given)
    )


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("seed", range(4))
def test_the_classification_report_is_that_of_scikit_learn(seed: int, weight: str | None) -> None:
    """Precision, recall, F1 and support of each class, their averages, and the accuracy, in one call."""
    frame = made_classes(seed)
    irm = frame.irm(weight=weight)
    found = irm.per_class(*REPORT, "accuracy", average=AVERAGES, layout="wide")
    assert found.columns == ["class", "average", "support", "n", *REPORT, "accuracy"]
    theirs = by_sklearn(frame, weight)
    rows = {row["class"] or row["average"]: row for row in found.iter_rows(named=True)}
    assert set(theirs) == {*frame["label"], *frame["predicted"], "accuracy", "macro avg", "weighted avg"}
    for name, ours in (("accuracy", "pooled"), ("macro avg", "macro"), ("weighted avg", "weighted")):
        theirs[ours] = theirs.pop(name)
    assert rows["pooled"]["accuracy"] == pytest.approx(theirs.pop("pooled"), abs=1e-12)
    for name, values in theirs.items():
        for theirs_called, ours in zip(
            ("precision", "recall", "f1-score", "support"), (*REPORT, "support"), strict=True
        ):
            assert rows[name][ours] == pytest.approx(values[theirs_called], abs=1e-12)
    truth, said = frame["label"].to_numpy(), frame["predicted"].to_numpy()
    weights = None if weight is None else frame["w"].to_numpy()
    micro = skl.precision_recall_fscore_support(truth, said, average="micro", sample_weight=weights)[:3]
    assert [rows["micro"][name] for name in REPORT] == pytest.approx(micro, abs=1e-12)
    assert rows["pooled"]["precision"] is None
    assert rows["macro"]["accuracy"] is None
    assert set(found["n"]) == {60}
    assert found["support"].dtype == (pl.Int64 if weight is None else pl.Float64)


def test_the_report_of_two_classes_is_that_of_scikit_learn() -> None:
    """Labels of 0 and 1 are averaged over both classes, as the rows of each are there."""
    random = np.random.default_rng(3)
    frame = pl.DataFrame({"label": random.integers(0, 2, 40), "predicted": random.integers(0, 2, 40)})
    found = frame.irm.per_class(*REPORT, "accuracy", average=["macro", "weighted"], layout="wide")
    theirs = by_sklearn(frame, None)
    rows = {str(row["class"]) if row["average"] is None else row["average"]: row for row in found.iter_rows(named=True)}
    for name, ours in (("0", "0"), ("1", "1"), ("macro avg", "macro"), ("weighted avg", "weighted")):
        assert [rows[ours][one] for one in (*REPORT, "support")] == pytest.approx(
            [theirs[name][one] for one in ("precision", "recall", "f1-score", "support")], abs=1e-12
        )
    assert rows["pooled"]["accuracy"] == pytest.approx(theirs["accuracy"])
    assert found["class"].to_list() == [0, 1, None, None, None]


def test_the_rows_of_averages_by_hand() -> None:
    """Behind the classes, one average after the other, each with its metrics; what is of the whole table is pooled."""
    frame = pl.DataFrame({"label": [*"aab"], "predicted": [*"abb"]}).irm(classes=["a", "b"])
    found = frame.per_class("recall", "tp", "accuracy", average=["micro", "macro"])
    assert found.columns == ["class", "average", "metric", "value", "support", "n", "n_undefined"]
    assert found.rows() == [
        *(
            ("a", None, "recall", 1 / 2, 2, 3, 0),
            ("a", None, "tp", 1, 2, 3, 0),
            ("a", None, "accuracy", 2 / 3, 2, 3, 0),
        ),
        *(("b", None, "recall", 1, 1, 3, 0), ("b", None, "tp", 1, 1, 3, 0), ("b", None, "accuracy", 2 / 3, 1, 3, 0)),
        *((None, "micro", "recall", 2 / 3, 3, 3, 0), (None, "macro", "recall", 3 / 4, 3, 3, 0)),
        *((None, "macro", "tp", 1, 3, 3, 0), (None, "sum", "tp", 2, 3, 3, 0)),
        (None, "pooled", "accuracy", 2 / 3, 3, 3, 0),
    ]
    plain = frame.per_class("recall", "tp", "accuracy")
    assert plain.equals(found.filter(pl.col("average").is_null()).drop("average"))
    assert frame.per_class("tp", average="macro")["average"].to_list() == [None, None, "macro"]


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"by": "day"}, {"undefined": "null"}], ids=str)
def test_averages_are_those_of_evaluate(roles: dict[str, Any]) -> None:
    """Value and n_undefined, in every segment, of several classes."""
    irm = made_classes(9).irm(**roles)
    asked = (*REPORT, "specificity", "accuracy", "mcc", "fp")
    over: Any = ["weighted", "predicted", "micro", "macro"]
    keys = [*([roles["by"]] if "by" in roles else []), "average", "metric"]
    found = irm.per_class(*asked, average=over).filter(pl.col("average").is_not_null())
    theirs = irm.evaluate(*asked, average=over)
    columns = [*keys, "value", "n", "n_undefined"]
    pl_testing.assert_frame_equal(found.select(columns), theirs.select(columns), check_row_order=False)


def test_a_wide_row_has_what_the_long_ones_have() -> None:
    """A column per metric, null for a class that the metric does not see."""
    frame = made_classes(2, 12).with_columns(
        (pl.col("label") == name).cast(pl.Float64).alias(f"p_{name}") for name in "abcde"
    )
    irm = frame.irm(by="day", score={name: f"p_{name}" for name in "abcde"})
    long = irm.per_class("recall", "roc_auc", average="macro")
    wide = irm.per_class("recall", "roc_auc", average="macro", layout="wide")
    assert wide.columns == ["day", "class", "average", "support", "n", "recall", "roc_auc"]
    index = ["day", "class", "average", "support", "n"]
    laid = wide.unpivot(index=index, variable_name="metric")
    both = laid.join(long, on=[*index, "metric"], how="left", nulls_equal=True, suffix="_long")
    assert both["value"].equals(both["value_long"])
    assert len(long) <= len(laid) == 2 * len(wide)


def test_support_counts_rows_as_often_as_they_stand() -> None:
    """A counted table has the support of the rows that it stands for; with a weight, it is theirs."""
    frame = pl.DataFrame({"label": [*"aab"], "predicted": [*"abb"], "times": [3, 2, 4], "w": [0.5, 1.0, 2.0]})
    found = frame.irm(count="times", classes=["a", "b"]).per_class("recall", average="weighted")
    assert found.select("class", "support", "n").rows() == [("a", 5, 9), ("b", 4, 9), (None, 9, 9)]
    found = frame.irm(count="times", weight="w", classes=["a", "b"]).per_class("recall")
    assert found.select("class", "support", "n").rows() == [("a", 3.5, 9), ("b", 8.0, 9)]


def test_support_of_scores_alone() -> None:
    """Without a decision, it is the rows of each class all the same."""
    birds = pl.DataFrame(
        {"label": [*"xxyz"], "x": [0.8, 0.2, 0.1, 0.3], "y": [0.1, 0.5, 0.9, 0.3], "z": [0.1, 0.3, 0, 0.4]}
    )
    found = birds.irm(score={"x": "x", "y": "y", "z": "z"}).per_class("roc_auc", average=["macro", "weighted"])
    assert found["support"].to_list() == [2, 1, 1, 4, 4]


def test_a_row_without_a_decision_is_in_the_support() -> None:
    """Recall is over all rows of a class."""
    frame = pl.DataFrame({"label": [*"aabc"], "predicted": ["a", None, "b", "c"]})
    found = frame.irm.per_class("recall", "precision", layout="wide")
    assert found.select("class", "support", "recall").rows() == [("a", 2, 0.5), ("b", 1, 1), ("c", 1, 1)]


def test_a_segment_without_a_row_that_counts() -> None:
    """It has all classes, and its averages too are null over no rows."""
    frame = pl.DataFrame({"label": ["a", "b", "c", None], "predicted": [*"abca"], "day": [1, 1, 1, 2]})
    found = frame.irm(by="day", unjudged="drop").per_class("recall", average="macro")
    rows = found.filter(day=2).select("class", "average", "value", "support", "n").rows()
    assert rows == [*((name, None, None, 0, 0) for name in "abc"), (None, "macro", None, 0, 0)]


def test_rows_of_queries_are_pooled() -> None:
    """The classes of decisions about the rows of queries are those without a query."""
    frame = pl.DataFrame({"query": [1, 1, 2, 2], "label": [1, 0, 1, 1], "predicted": [1, 1, 0, 1]})
    one, other = (
        frame.irm(query=query).per_class("recall", "accuracy", average="macro", layout="wide")
        for query in ("query", None)
    )
    assert one["recall"].to_list() == other["recall"].to_list()
    assert one["support"].to_list() == other["support"].to_list() == [1, 3, 4, 4]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_every_kind_of_frame_has_a_report(kind: str, layout: Any) -> None:
    """The same rows in pandas, polars, plans and Arrow, of which a plan knows the types before."""
    frame = made_classes(5)
    expected = frame.irm(by="day").per_class(*REPORT, "accuracy", average=AVERAGES, layout=layout)
    found = IRM(as_kind(frame, kind), by="day").per_class(*REPORT, "accuracy", average=AVERAGES, layout=layout)
    if isinstance(found, pl.LazyFrame):
        assert found.collect_schema() == expected.schema
    pl_testing.assert_frame_equal(as_polars(found), expected, abs_tol=1e-12)


def test_an_average_over_queries_is_none_over_classes() -> None:
    """Each wrong average is an error that says what there is."""
    irm = made_classes(0).irm
    over = "'macro', 'weighted', 'micro', 'predicted'"
    wrong: list[tuple[Any, type[Exception], str]] = [
        ("median", NotComputableError, f"average='median' is over queries; over classes there are {over}"),
        (["macro", "gmean"], NotComputableError, f"average='gmean' is over queries; over classes there are {over}"),
        (["macro", "macro"], BadValueError, "average='macro' is asked for twice"),
        ([], BadValueError, "average=[] names no average; name one, or pass average=None"),
    ]
    for average, cause, words in wrong:
        with pytest.raises(cause, match=f"^{re.escape(words)}$"):
            irm.per_class("recall", average=average)
    with pytest.raises(UnknownNameError, match="layout='broad' is not one of 'long', 'wide'"):
        irm.per_class("recall", layout="broad")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["class", "support", "average", "n"])
def test_a_key_that_is_called_as_a_column_of_the_report(name: str) -> None:
    """It would stand there twice."""
    frame = made_classes(0).rename({"day": name})
    with pytest.raises(ColumnError, match=f"'{name}' is a column of the result as well"):
        frame.irm(by=name).per_class("recall", average="macro", layout="wide")


def test_a_threshold_needs_a_score_whatever_is_asked() -> None:
    """Ranks decide nothing; a metric at a cutoff is no exception."""
    log = pl.DataFrame({"query": [1, 1], "rank": [1, 2], "grade": [1.0, 0.5]})
    for metric in ("precision@2", "precision", "rr"):
        with pytest.raises(ColumnError, match="the score is missing"):
            log.irm(query="query", threshold=0.5).per_class(metric)
