"""What goes wrong with decisions, classes and scores, word for word, in the caller's own names."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError, ColumnError, FrameMetricsError, NotComputableError, UnknownNameError
from helpers import as_kind, as_polars, error

NAN, INF = float("nan"), float("inf")
Verb = Callable[[Any], Any]

# Columns by names that no role has, so that a message shows whose names it uses.
TWO: dict[str, Any] = {"clicked": [1, 0, 1, 0], "shown": [1, 1, 0, 0], "bm25": [0.75, 0.5, 0.25, 0.125]}
MANY: dict[str, Any] = {
    "animal": ["cat", "dog", "owl", "cat"],
    "guess": ["cat", "dog", "owl", "dog"],
    "p_cat": [0.5, 0.25, 0.25, 0.25],
    "p_dog": [0.25, 0.5, 0.25, 0.5],
    "p_owl": [0.25, 0.25, 0.5, 0.25],
}
ROLES: dict[str, Any] = {"label": "clicked", "predicted": "shown", "score": "bm25"}
CLASSES: dict[str, Any] = {"label": "animal", "predicted": "guess"}
SCORES = {"cat": "p_cat", "dog": "p_dog", "owl": "p_owl"}


def precision(irm: Any) -> Any:
    return irm.evaluate("precision")


def accuracy(irm: Any) -> Any:
    return irm.evaluate("accuracy")


def auc(irm: Any) -> Any:
    return irm.evaluate("roc_auc")


def two(columns: dict[str, Any] | None = None, /, **roles: Any) -> IRM[pl.DataFrame]:
    """Return rows of two classes, some columns and roles being others."""
    values = {name: pl.Series(column, strict=False) for name, column in (TWO | (columns or {})).items()}
    return IRM(pl.DataFrame(values), **(ROLES | roles))


def many(columns: dict[str, Any] | None = None, /, **roles: Any) -> IRM[pl.DataFrame]:
    """Return rows of several classes."""
    values = {name: pl.Series(column, strict=False) for name, column in (MANY | (columns or {})).items()}
    return IRM(pl.DataFrame(values), **(CLASSES | roles))


# Values in the columns: found when they are read

YES_NO = {"clicked": ["yes", "no", "yes", "no"], "shown": ["yes", "yes", "no", "no"]}
VALUES: dict[str, tuple[IRM[pl.DataFrame], Verb, type[FrameMetricsError], str]] = {
    "two values": (
        two(YES_NO),
        precision,
        NotComputableError,
        "clicked: of the values 'no', 'yes', nothing says which is the relevant one; name it with positive=, or list "
        "the classes with classes= for measures of all of them",
    ),
    "two values, no prediction": (
        two(YES_NO, predicted=None),
        auc,
        NotComputableError,
        "clicked: of the values 'no', 'yes', nothing says which is the relevant one; name it with positive=, or list "
        "the classes with classes= for measures of all of them",
    ),
    "two values of two types": (
        two({"clicked": ["yes"] * 4, "shown": [3, 3, None, 3]}, score=None),
        precision,
        BadValueError,
        "shown: its values are Int64, those of clicked are String; give both one type, or say match= if they are "
        "clusters",
    ),
    "classes of several types, and no label": (
        many({"animal": [None] * 4, "guess": [None] * 4}, classes=["cat", 1]),
        accuracy,
        BadValueError,
        "classes=['cat', 1] are of several types; give them one",
    ),
    "a class that the predictions cannot be, and no label": (
        many({"animal": [None] * 4, "guess": [True] * 4}, classes=["cat", "dog"]),
        accuracy,
        BadValueError,
        "guess: 'cat' cannot be one of its values, which are Boolean",
    ),
    "predictions of another type than the classes": (
        many({"guess": [True, False, True, None]}, classes=["cat", "dog", "owl"]),
        accuracy,
        BadValueError,
        "guess: 3 of 4 rows have a class that is not among classes= (rows 0, 1, 2); add it, or drop them",
    ),
    "predictions that are booleans, and numbers as classes": (
        many({"animal": [0, 1, 2, 0], "guess": [True, True, None, None]}, classes=[0, 1, 2]),
        accuracy,
        BadValueError,
        "guess: 2 of 4 rows have a class that is not among classes= (rows 0, 1); add it, or drop them",
    ),
    "positive is one of several of another type": (
        two(YES_NO, positive=["yes", 1]),
        precision,
        BadValueError,
        "clicked: 1 cannot be one of its values, which are String",
    ),
    "scores of a class that is not among those that are listed": (
        many({"animal": ["cat", "dog", "cat", "dog"]}, classes=["cat", "dog"], predicted=None, score=SCORES),
        auc,
        ColumnError,
        "score= names 'owl', not among the classes",
    ),
    "positive of another type": (
        two(YES_NO, positive=1),
        precision,
        BadValueError,
        "clicked: 1 cannot be one of its values, which are String",
    ),
    "text for a positive number": (
        two(positive="1"),
        precision,
        BadValueError,
        "clicked: '1' cannot be one of its values, which are Int64",
    ),
    "a prediction that cannot be positive": (
        two({"clicked": YES_NO["clicked"]}, positive="yes"),
        precision,
        BadValueError,
        "shown: 'yes' cannot be one of its values, which are Int64",
    ),
    "a true class that is not listed": (
        many(classes=["cat", "dog"]),
        accuracy,
        BadValueError,
        "animal: 1 of 4 rows has a class that is not among classes= (row 2); add it, or drop them",
    ),
    "a predicted class that is not listed": (
        many({"guess": ["cat", "cow", "owl", "cow"]}, classes=["cat", "dog", "owl"]),
        accuracy,
        BadValueError,
        "guess: 2 of 4 rows have a class that is not among classes= (rows 1, 3); add it, or drop them",
    ),
    "classes of another type": (
        many(classes=[1, 2, 3]),
        accuracy,
        BadValueError,
        "animal: 1 cannot be one of its values, which are String",
    ),
    "text predicted of numbers": (
        many({"animal": [1, 2, 3, 1]}),
        accuracy,
        BadValueError,
        "guess: its values are String, those of animal are Int64; give both one type, or say match= if they are "
        "clusters",
    ),
    "numbers predicted of text": (
        many({"guess": [1, 2, 3, 1]}),
        accuracy,
        BadValueError,
        "guess: its values are Int64, those of animal are String; give both one type, or say match= if they are "
        "clusters",
    ),
    "an abstention of another type": (
        many(abstain=[3]),
        accuracy,
        BadValueError,
        "guess: 3 cannot be one of its values, which are String",
    ),
    "ids for classes": (
        IRM(pl.DataFrame({"session": range(1500), "guess": range(1500)}), label="session", predicted="guess"),
        accuracy,
        BadValueError,
        "session: 1500 different values are too many for classes",
    ),
    "no true class": (
        many({"animal": ["cat", None, "owl", None]}),
        accuracy,
        BadValueError,
        "animal: 2 of 4 rows have no class (rows 1, 3); drop them, or say unjudged='drop'",
    ),
    "a threshold between several classes": (
        many(score="p_cat", threshold=0.5, predicted=None),
        accuracy,
        NotComputableError,
        "threshold= decides between two classes; name the relevant one with positive=",
    ),
    "a curve of several classes": (
        many(score="p_cat"),
        lambda irm: irm.curve("roc"),
        ColumnError,
        "there are several classes, and a threshold separates one from the rest; name it with positive=",
    ),
    "thresholds of several classes": (
        many(score="p_cat"),
        lambda irm: irm.thresholds(),
        ColumnError,
        "there are several classes, and a threshold separates one from the rest; name it with positive=",
    ),
    "one score of several classes": (
        many(score="p_cat"),
        auc,
        ColumnError,
        "roc_auc: there are 3 classes; name the score of each, score={class: column}, or the relevant one with "
        "positive=",
    ),
    "a class without a score": (
        many(score={"cat": "p_cat", "dog": "p_dog"}),
        auc,
        ColumnError,
        "score= names no column for the classes 'owl' of animal",
    ),
    "a listed class without a score": (
        many(score=SCORES, classes=["cat", "dog", "owl", "cow"]),
        auc,
        ColumnError,
        "score= names no column for 'cow'",
    ),
    "scores of classes of another type": (
        many(score={1: "p_cat", 2: "p_dog", 3: "p_owl"}),
        auc,
        ColumnError,
        "score= names no column for the classes 'cat', 'dog', 'owl' of animal",
    ),
    "a class score that is missing": (
        many({"p_dog": [0.25, None, 0.25, None]}, score=SCORES),
        auc,
        BadValueError,
        "p_dog: 2 of 4 rows have no score (rows 1, 3); drop them",
    ),
    "a class score that is infinite": (
        many({"p_dog": [0.25, INF, 0.25, 0.5]}, score=SCORES),
        auc,
        BadValueError,
        "p_dog: 1 of 4 rows is infinite (row 1); drop them, or make them null",
    ),
    "NaN score": (
        two({"bm25": [0.75, NAN, 0.25, NAN]}),
        auc,
        BadValueError,
        "bm25: 2 of 4 rows are NaN (rows 1, 3); drop them, or make them null",
    ),
    "infinite score": (
        two({"bm25": [0.75, 0.5, -INF, 0.125]}),
        lambda irm: irm.curve("pr"),
        BadValueError,
        "bm25: 1 of 4 rows is infinite (row 2); drop them, or make them null",
    ),
    "infinite score at a threshold": (
        two({"bm25": [0.75, 0.5, INF, 0.125]}, threshold=0.5, predicted=None),
        precision,
        BadValueError,
        "bm25: 1 of 4 rows is infinite (row 2); drop them, or make them null",
    ),
    "text for a score": (
        two({"bm25": [*"abcd"]}),
        lambda irm: irm.thresholds(),
        BadValueError,
        "bm25: a score is a number, and this column is String; convert it",
    ),
    "huge score": (
        two({"bm25": [2**60, 1, 2, 3]}),
        lambda irm: irm.best_threshold("f1"),
        BadValueError,
        "bm25: 1 of 4 rows is past 2**53, where float64 cannot tell integers apart (row 0); rescale them",
    ),
    "no probability": (
        two({"bm25": [1.5, 0.5, 0.25, -3]}),
        lambda irm: irm.evaluate("roc_auc", "log_loss"),
        BadValueError,
        "bm25: 2 of 4 rows are not between 0 and 1 (rows 0, 3); log_loss needs probabilities",
    ),
    "no score for a probability": (
        two({"bm25": [None, 0.5, 0.25, None]}),
        lambda irm: irm.evaluate("brier"),
        BadValueError,
        "bm25: 2 of 4 rows have no score (rows 0, 3); brier needs one for every row",
    ),
    "negative weight": (
        two({"visits": [1, -1, 1, -2]}, weight="visits"),
        precision,
        BadValueError,
        "visits: 2 of 4 rows are negative (rows 1, 3); 0 is the least",
    ),
    "missing weight": (
        two({"visits": [1, None, 1, 2]}, weight="visits"),
        lambda irm: irm.thresholds(),
        BadValueError,
        "visits: 1 of 4 rows is missing (row 1); give every row one",
    ),
    "NaN weight": (
        two({"visits": [1, 2, NAN, 2]}, weight="visits"),
        lambda irm: irm.confusion(),
        BadValueError,
        "visits: 1 of 4 rows is NaN (row 2); give every row one",
    ),
    "text for a weight": (
        two({"visits": [*"abcd"]}, weight="visits"),
        precision,
        BadValueError,
        "visits: a weight is a number, and this column is String; convert it",
    ),
    "NaN for a segment": (
        two({"day": [1.0, NAN, 2.0, 1.0]}, by="day"),
        lambda irm: irm.curve("roc"),
        BadValueError,
        "day: 1 of 4 rows is NaN (row 1); drop them, or make them null",
    ),
    "no grade that is relevant": (
        two({"rating": [1, 2, 0, 1]}, label=None, grade="rating", rel=3),
        precision,
        NotComputableError,
        "no grade in rating reaches rel=3; the largest is 2",
    ),
    "infinite grade": (
        two({"rating": [1, 2, INF, 1]}, label=None, grade="rating"),
        auc,
        BadValueError,
        "rating: 1 of 4 rows is infinite (row 2); drop them, or make them null",
    ),
    "mistakes weighed in alphabetical order": (
        many(),
        lambda irm: irm.evaluate("kappa(weights='linear')"),
        NotComputableError,
        "kappa(weights='linear') weighs a mistake by how far apart two classes are, and texts of animal have no order; "
        "list 'cat', 'dog', 'owl' from one end to the other with classes=, or make both columns ordered categories "
        "(pandas) or one Enum (polars)",
    ),
    "mistakes weighed where rows have no prediction": (
        many(abstain=["dog"], classes=["cat", "owl", "dog"]),
        lambda irm: irm.evaluate("kappa(weights='linear')"),
        NotComputableError,
        "weights='linear' has no place for rows without a prediction; drop them",
    ),
    "undefined": (
        two({"shown": [0, 0, 0, 0]}, undefined="raise"),
        precision,
        NotComputableError,
        "precision is undefined for 1 of 1 segments",
    ),
}


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas-arrow", "pyarrow"])
@pytest.mark.parametrize("name", VALUES)
def test_bad_values(name: str, kind: str) -> None:
    """A value that cannot be counted honestly is an error that names the column, counts the rows and shows three."""
    irm, verb, cause, message = VALUES[name]
    assert error(lambda: verb(IRM(as_kind(irm.frame, kind), **irm.roles)), cause) == message


OF_ROWS = [name for name, (*_, message) in VALUES.items() if re.search(r": \d+ of \d+ rows ", message)]
OF_METRICS = ("no probability", "no score for a probability")


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_is_refused_of_rows_is_a_finding(name: str, kind: str) -> None:
    """Bad values that are an error elsewhere are a finding of severity error here, in the same words."""
    irm, _, _, message = VALUES[name]
    found = as_polars(IRM(as_kind(irm.frame, kind), **irm.roles).audit()).filter(pl.col("severity") == "error")
    if name in OF_METRICS or (kind == "pandas" and "NaN" in message):  # which is null in pandas' numpy columns
        assert found.filter(pl.col("message").str.contains("NaN|probab")).is_empty()
        return
    assert found["message"][0] == message
    assert found["n"][0] == int(message.split(": ")[1].split()[0])
    assert found["check"].to_list()[1:] == ["rows that cannot be read"] * (name == "no true class")


def test_what_is_no_probability_names_its_column() -> None:
    """Scores of classes, and those of a calibration curve, are probabilities; the error counts those that are not."""
    wrong = many({"p_dog": [0.25, 1.5, 0.25, -1]}, score=SCORES)
    for name in ("brier", "log_loss", "ece"):
        said = error(lambda name=name: wrong.evaluate(name), BadValueError)
        assert said.startswith("p_dog: 2 of 4 rows are not between 0 and 1 (rows 1, 3); ")
    said = error(lambda: two({"bm25": [1.5, 0.5, 0.25, -3]}).curve("calibration"), BadValueError)
    assert said.startswith("bm25: 2 of 4 rows are not between 0 and 1 (rows 0, 3); ")
    said = error(lambda: two({"bm25": [1, 0.5, None, 0]}).curve("calibration"), BadValueError)
    assert said.startswith("bm25: 1 of 4 rows has no score (row 2); ")


@pytest.mark.parametrize(
    ("classes", "column", "name"),
    [
        ([1, 2, 3, 300], pl.Series([1, 2, 3, 1], dtype=pl.UInt8), "300"),
        ([*"abc", 7], pl.Series([*"abca"]), "7"),
    ],
)
def test_the_class_that_cannot_be_is_named(classes: list[Any], column: pl.Series, name: str) -> None:
    """Of the listed classes the error names the one that the column cannot have, and none that it has."""
    irm = IRM(pl.DataFrame({"animal": column, "guess": column}), classes=classes, **CLASSES)
    said = error(lambda: accuracy(irm), BadValueError)
    assert name in said
    assert repr(classes[0]) not in said.replace(str(classes), "")


def test_a_listed_class_may_be_one_that_only_predictions_can_have() -> None:
    """Classes have a type that holds both sides: 300 is a class where predictions are wide enough for it."""
    labels = pl.Series([1, 2, 3, 1], dtype=pl.UInt8)
    irm = many({"animal": labels, "guess": [1, 2, 300, 2]}, classes=[1, 2, 3, 300])
    assert accuracy(irm)["value"].to_list() == [0.5]


def test_class_scores_that_are_no_probabilities_of_one_of_them() -> None:
    """Probabilities of classes add up to 1, to 1e-6; the error names the columns and counts the rows that do not."""
    wrong = many({"p_owl": [0.25, 0.25, 0.75, 0.5]}, score=SCORES)
    for name in ("log_loss", "brier", "ece"):
        assert error(lambda name=name: wrong.evaluate("roc_auc", name), BadValueError) == (
            f"p_cat, p_dog, p_owl: 2 of 4 rows do not add up to 1 (rows 2, 3); {name} needs probabilities"
        )
    assert wrong.evaluate("roc_auc")["value"].is_not_null().all()
    for off in (9e-7, -9e-7):
        near = many({"p_owl": [0.25, 0.25, 0.5, 0.25 + off]}, score=SCORES)
        exact = many(score=SCORES).evaluate("brier")["value"].item()
        assert near.evaluate("brier")["value"].item() == pytest.approx(exact, abs=1e-5)
    for off in (1.1e-6, -1.1e-6):
        far = many({"p_owl": [0.25, 0.25 + off, 0.5, 0.25 + off]}, score=SCORES)
        said = error(lambda far=far: far.evaluate("brier"), BadValueError)
        assert said == "p_cat, p_dog, p_owl: 2 of 4 rows do not add up to 1 (rows 1, 3); brier needs probabilities"


def test_one_row_is_said_of_one_row() -> None:
    """The error about a single row has its verb in the singular."""
    wrong = many({"p_owl": [0.25, 0.25, 0.75, 0.25]}, score=SCORES)
    said = error(lambda: wrong.evaluate("brier"), BadValueError)
    assert "1 of 4 rows does not add up to 1 (row 2)" in said


NANS: dict[str, IRM[pl.DataFrame]] = {
    "true class": many({"animal": [1.0, 2.0, NAN, 3.0], "guess": [1.0, 2.0, 3.0, 3.0]}),
    "predicted class": many({"animal": [1.0, 2.0, 3.0, 3.0], "guess": [1.0, 2.0, NAN, 3.0]}),
    "label": two({"clicked": [1.0, 0.0, NAN, 0.0]}),
    "prediction": two({"shown": [1.0, 0.0, NAN, 0.0]}),
    "label with positive": two({"clicked": [1.0, 0.0, NAN, 0.0]}, positive=1.0),
}


@pytest.mark.parametrize("name", NANS)
def test_nan_is_no_class(name: str) -> None:
    """NaN of polars is no class, nor a missing one; it is an error that counts it."""
    column = (
        "guess"
        if "predicted" in name
        else "animal"
        if "class" in name
        else "shown"
        if name == "prediction"
        else "clicked"
    )
    for verb in (accuracy, lambda irm: irm.confusion()):
        assert error(lambda verb=verb: verb(NANS[name]), BadValueError).startswith(f"{column}: 1 of 4 rows is ")


def test_lists_are_no_classes() -> None:
    """Lists are no classes; the error names the column."""
    frame = pl.DataFrame({"animal": [[1], [2], [3]], "guess": [[1], [2], [3]]})
    assert error(lambda: accuracy(IRM(frame, **CLASSES)), BadValueError).startswith("animal: ")


def test_a_number_is_no_bool() -> None:
    """A positive value that a bool column cannot have names the column."""
    columns = {"clicked": [True, False, True, False], "shown": [True, True, False, False]}
    assert error(lambda: precision(two(columns, positive=2)), BadValueError).startswith("clicked: 2 cannot be one of")


# What is asked of columns that do not say it: found before anything is read


def unread(frame: pl.DataFrame) -> pl.LazyFrame:
    """Return a plan that cannot be run."""

    def fail(_: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError("the plan was run")

    return frame.lazy().map_batches(fail, schema=frame.schema)


LOG: dict[str, Any] = TWO | {"qid": [1, 1, 2, 2]}
ASKED: dict[str, tuple[dict[str, Any], dict[str, Any], Verb, type[FrameMetricsError], str]] = {
    "nothing is predicted": (
        TWO,
        {"label": "clicked"},
        precision,
        ColumnError,
        "precision: nothing says what is predicted among 'clicked', 'shown', 'bm25'; name predicted=, or say "
        "threshold=, or name query= for the retrieved set, or give it a cutoff",
    ),
    "nothing is predicted, in a table": (
        TWO,
        {"label": "clicked"},
        lambda irm: irm.confusion(),
        ColumnError,
        "confusion(): nothing says what is predicted among 'clicked', 'shown', 'bm25'; name predicted=, or say "
        "threshold=",
    ),
    "nothing is predicted of classes": (
        MANY,
        {"label": "animal"},
        lambda irm: irm.evaluate("coverage"),
        ColumnError,
        "coverage: nothing says what is predicted among 'animal', 'guess', 'p_cat', 'p_dog', 'p_owl'; name "
        "predicted=, or say threshold=",
    ),
    "predicted or retrieved": (
        {"label": [1, 0], "predicted": [1, 0], "query": [1, 1]},
        {},
        precision,
        ColumnError,
        "the column 'predicted' decides about rows, and 'query' is a column too; say query='query' for each query's "
        "own table, or query=None for one table of all rows",
    ),
    "label or grade": (
        {"label": [1, 0], "predicted": [1, 0], "grade": [1, 1]},
        {},
        precision,
        ColumnError,
        "both 'label' and 'grade' are columns; name the one that is meant, or both",
    ),
    "no label": (
        TWO,
        {"predicted": "shown"},
        precision,
        ColumnError,
        "no column is named with label= or grade=, and none of 'clicked', 'shown', 'bm25' has such a name; "
        "did you mean 'clicked'?",
    ),
    "no score": (
        TWO,
        {"label": "clicked"},
        lambda irm: irm.curve("roc"),
        ColumnError,
        "no column is named as the score with score=, and none of 'clicked', 'shown', 'bm25' has that name; "
        "did you mean 'bm25'?",
    ),
    "no query to have a curve": (
        TWO,
        ROLES,
        lambda irm: irm.curve("roc", per="query"),
        ColumnError,
        "no column is named as the query with query=, and none of 'clicked', 'shown', 'bm25' has that name",
    ),
    "a prediction that is not there": (
        TWO,
        ROLES | {"predicted": "shwon"},
        precision,
        ColumnError,
        "predicted='shwon': there is no such column among 'clicked', 'shown', 'bm25'; did you mean 'shown'?",
    ),
    "a class score that is not there": (
        MANY,
        CLASSES | {"score": {"cat": "p_cat", "dog": "p_dgo"}},
        auc,
        ColumnError,
        "score of 'dog'='p_dgo': there is no such column among 'animal', 'guess', 'p_cat', 'p_dog', 'p_owl'; did you "
        "mean 'p_dog'?",
    ),
    "one column for two classes": (
        MANY,
        CLASSES | {"score": {"cat": "p_cat", "dog": "p_cat"}},
        auc,
        ColumnError,
        "score of a class='p_cat' is named twice; a column plays one part",
    ),
    "one column for two parts": (
        TWO,
        ROLES | {"predicted": "clicked"},
        precision,
        ColumnError,
        "predicted='clicked' is the label too; a column plays one part",
    ),
    "scores of classes that order a ranking": (
        MANY | {"qid": [1, 1, 2, 2]},
        {"label": "animal", "query": "qid", "score": SCORES},
        lambda irm: irm.evaluate("ndcg"),
        ColumnError,
        "score= names a column for each class, and a ranking is ordered by one; name one",
    ),
    "positive and classes": (
        MANY,
        CLASSES | {"positive": "cat", "classes": ["cat", "dog", "owl"]},
        accuracy,
        ColumnError,
        "positive= is for two classes, classes= for several; name one of them",
    ),
    "abstention of queries": (
        LOG,
        ROLES | {"query": "qid", "abstain": [0]},
        precision,
        ColumnError,
        "abstain= is about the rows of a segment; say query=None",
    ),
    "clusters of queries": (
        LOG,
        ROLES | {"query": "qid", "match": "best"},
        precision,
        ColumnError,
        "match= is about the rows of a segment; say query=None",
    ),
    "classes of queries": (
        LOG,
        ROLES | {"query": "qid", "classes": [0, 1]},
        precision,
        ColumnError,
        "classes= is about the rows of a segment; say query=None",
    ),
    "a measure of classes of queries": (
        LOG,
        ROLES | {"query": "qid"},
        lambda irm: irm.evaluate("coverage"),
        NotComputableError,
        "coverage is of the rows of a segment, and of no query; say query=None, or name it with by=",
    ),
    "rows weighted by queries": (
        LOG | {"visits": [1, 1, 2, 2]},
        ROLES | {"query": "qid", "weight": "visits"},
        lambda irm: irm.curve("roc"),
        ColumnError,
        "rows are pooled here, and visits is the weight of a query; say weight=None",
    ),
    "totals of no segments": (
        TWO,
        ROLES,
        lambda irm: irm.evaluate("precision", margins=True),
        ColumnError,
        "margins=True adds the totals over segments; name the segments with by=",
    ),
    "one threshold among all": (
        TWO,
        ROLES | {"threshold": 0.5},
        lambda irm: irm.thresholds(),
        ColumnError,
        "threshold= is one threshold, and every threshold is looked at; say threshold=None",
    ),
    "one threshold and the best": (
        TWO,
        ROLES | {"threshold": 0.5},
        lambda irm: irm.best_threshold("f1"),
        ColumnError,
        "threshold= is one threshold, and every threshold is looked at; say threshold=None",
    ),
    "undefined at the first threshold": (
        TWO,
        ROLES | {"undefined": "raise"},
        lambda irm: irm.thresholds("precision"),
        NotComputableError,
        "undefined='raise': at the first threshold nothing is predicted; say 'null' or 'zero'",
    ),
    "a ranking at thresholds": (
        TWO,
        ROLES,
        lambda irm: irm.thresholds("ndcg"),
        NotComputableError,
        "ndcg is no measure of the 2x2 table, which a threshold makes",
    ),
    "a cutoff at thresholds": (
        TWO,
        ROLES,
        lambda irm: irm.thresholds("precision@5"),
        NotComputableError,
        "precision@5 is no measure of the 2x2 table, which a threshold makes",
    ),
    "the best area": (
        TWO,
        ROLES,
        lambda irm: irm.best_threshold("roc_auc"),
        NotComputableError,
        "roc_auc is no measure of the 2x2 table, which a threshold makes",
    ),
    "a geometric mean at thresholds": (
        TWO,
        ROLES,
        lambda irm: irm.thresholds("gm_precision"),
        NotComputableError,
        "gm_precision: gm_, rel= and judged_only= are for the results of queries",
    ),
    "another level of relevance at thresholds": (
        TWO,
        ROLES,
        lambda irm: irm.thresholds("f1", "precision(rel=2)"),
        NotComputableError,
        "precision(rel=2): gm_, rel= and judged_only= are for the results of queries",
    ),
    "a column twice": (
        TWO,
        ROLES,
        lambda irm: irm.thresholds("f1", "tp"),
        BadValueError,
        "'tp' is a column of the result already",
    ),
    "no direction": (
        TWO,
        ROLES,
        lambda irm: irm.best_threshold("bias"),
        NotComputableError,
        "bias: no value of it is better than another",
    ),
    "a limit without a direction": (
        TWO,
        ROLES,
        lambda irm: irm.best_threshold("f1", subject_to={"prevalence": 0.5}),
        NotComputableError,
        "prevalence: no value of it is better than another",
    ),
    "two best metrics": (
        TWO,
        ROLES,
        lambda irm: irm.best_threshold("f1@1,2"),
        BadValueError,
        "'f1@1' and 'f1@2' are two metrics; name one",
    ),
    "a limit that is no number": (
        TWO,
        ROLES,
        lambda irm: irm.best_threshold("f1", subject_to={"recall": "0.5"}),
        BadValueError,
        "subject_to: recall='0.5' is not a number",
    ),
    "a limit that is NaN": (
        TWO,
        ROLES,
        lambda irm: irm.best_threshold("f1", subject_to={"recall": NAN}),
        BadValueError,
        "subject_to: recall=nan is not a number",
    ),
    "a limit that does not exist": (
        TWO,
        ROLES,
        lambda irm: irm.best_threshold("f1", subject_to={"recal": 0.5}),
        UnknownNameError,
        "there is no metric 'recal'; did you mean 'recall'?",
    ),
    "a level that is needed": (
        TWO,
        ROLES,
        lambda irm: irm.evaluate("max_precision"),
        NotComputableError,
        "max_precision needs min_recall=, as in max_precision(min_recall=0.5)",
    ),
    "negative costs": (
        TWO,
        ROLES,
        lambda irm: irm.best_threshold("cost(fp=-1)"),
        BadValueError,
        "cost: fp=-1 is not 0 or more",
    ),
    "nothing counts": (
        TWO,
        ROLES,
        lambda irm: irm.evaluate("roc_auc(max_fpr=0)"),
        BadValueError,
        "roc_auc: max_fpr=0 is not above 0, at most 1",
    ),
    "a stretch that is none": (
        TWO,
        ROLES,
        lambda irm: irm.evaluate("roc_auc(fpr=[0.5, 0.2])"),
        BadValueError,
        "roc_auc: fpr=[0.5, 0.2] is not a list of two numbers between 0 and 1, the lesser first",
    ),
    "two stretches of a curve": (
        TWO,
        ROLES,
        lambda irm: irm.evaluate("roc_auc(max_fpr=0.5, tpr=[0.5, 1])"),
        BadValueError,
        "roc_auc: max_fpr=, fpr= and tpr= each name a part of the curve; give one of them",
    ),
    "two weights of recall": (
        TWO,
        ROLES,
        lambda irm: irm.evaluate("inverse_fbeta(beta=2, alpha=0.2)"),
        BadValueError,
        "F with beta=2 and alpha=0.2: they say the same; give one of them",
    ),
    "label sets as rows with one label": (
        TWO,
        ROLES,
        lambda irm: irm(query="bm25", score=None).evaluate("Subset accuracy"),
        ColumnError,
        "Subset accuracy of queries with several labels is the share of those whose value in per_query('accuracy') is "
        "1, and accuracy the share of right labels; ask for that one, or say query=None if each row has one label",
    ),
    "a correction that falls below 0": (
        TWO,
        ROLES,
        lambda irm: irm.evaluate("roc_auc(fpr=[0.5, 0.75])"),
        BadValueError,
        "roc_auc: corrected between 0.5 and 0.75 of fpr it could be below 0; say correction=None",
    ),
    "a correction of recalls that falls below 0": (
        TWO,
        ROLES,
        lambda irm: irm.evaluate("roc_auc(tpr=[0, 0.75])"),
        BadValueError,
        "roc_auc: corrected between 0 and 0.75 of tpr it could be below 0; say correction=None",
    ),
    "a way that classes are not compared": (
        MANY,
        CLASSES | {"score": SCORES},
        lambda irm: irm.evaluate("roc_auc(multi='all')"),
        BadValueError,
        "roc_auc: multi='all' is not one of 'ovr', 'ovo'",
    ),
    "segments called class": (
        TWO | {"class": [*"aabb"]},
        ROLES | {"by": "class"},
        lambda irm: irm.per_class("recall"),
        ColumnError,
        "'class' is a column of the result as well; rename the frame's column",
    ),
    "segments called actual": (
        TWO | {"actual": [*"aabb"]},
        ROLES | {"by": "actual"},
        lambda irm: irm.confusion(),
        ColumnError,
        "'actual' is a column of the result as well; rename the frame's column",
    ),
    "segments called threshold": (
        TWO | {"threshold": [*"aabb"]},
        ROLES | {"by": "threshold"},
        lambda irm: irm.thresholds(),
        ColumnError,
        "'threshold' is a column of the result as well; rename the frame's column",
    ),
    "segments called as a metric": (
        TWO | {"f1": [*"aabb"]},
        ROLES | {"by": "f1"},
        lambda irm: irm.thresholds("f1"),
        ColumnError,
        "a column 'f1' for the metric would stand twice in the wide result; rename the frame's column",
    ),
    "segments called fpr": (
        TWO | {"fpr": [*"aabb"]},
        ROLES | {"by": "fpr"},
        lambda irm: irm.curve("roc"),
        ColumnError,
        "'fpr' is a column of the result as well; rename the frame's column",
    ),
    "a size of each query": (
        TWO | {"docs": [9, 9, 9, 9]},
        ROLES | {"collection_size": "docs"},
        accuracy,
        ColumnError,
        "collection_size='docs' is a column with the size of each query; name query=",
    ),
    "abstention without a prediction": (
        TWO,
        ROLES | {"predicted": None, "threshold": 0.5, "abstain": [0]},
        precision,
        ColumnError,
        "abstain= and match= are about predicted classes; name predicted=",
    ),
    "clusters without a prediction": (
        TWO,
        ROLES | {"predicted": None, "match": "best"},
        auc,
        ColumnError,
        "abstain= and match= are about predicted classes; name predicted=",
    ),
    "a level of labels": (
        TWO,
        ROLES | {"rel": 2},
        precision,
        ColumnError,
        "rel= is a grade, and clicked says already what is relevant",
    ),
    "ties of no queries": (
        TWO,
        ROLES | {"ties": "best"},
        auc,
        ColumnError,
        "ties= is about the documents of a query; name query=",
    ),
    "duplicates of no queries": (
        TWO | {"sku": [*"abcd"]},
        ROLES | {"doc": "sku", "duplicates": "first"},
        precision,
        ColumnError,
        "duplicates= is about the documents of a query; name query=",
    ),
    "relevant documents of no queries": (
        TWO | {"nrel": [2, 2, 2, 2]},
        ROLES | {"n_relevant": "nrel"},
        precision,
        ColumnError,
        "n_relevant= is about the documents of a query; name query=",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_wrong_calls(name: str) -> None:
    """What the columns do not say is an error of the call, before anything is read."""
    columns, roles, verb, cause, message = ASKED[name]
    frame = pl.DataFrame(columns)
    assert error(lambda: verb(IRM(frame, **roles)), cause) == message
    with pytest.raises(cause) as caught:
        verb(IRM(unread(frame), **roles))
    assert str(caught.value) == message


# What depends on whether there are two classes or several is found when labels are read

OF_TWO = "is over several classes, and the rows of two are pooled here; say average=None, or classes= to average both"
READ: dict[str, tuple[IRM[pl.DataFrame], Verb, type[FrameMetricsError], str]] = {
    "an average of two classes": (
        two(),
        lambda irm: irm.evaluate("precision", average="weighted"),
        NotComputableError,
        f"average='weighted' {OF_TWO}",
    ),
    "a mean over two classes": (
        two(),
        lambda irm: irm.evaluate("accuracy", "precision", average="macro"),
        NotComputableError,
        f"average='macro' {OF_TWO}",
    ),
    "a micro average of two classes": (
        two(),
        lambda irm: irm.evaluate("precision", average=["micro", "macro"]),
        NotComputableError,
        f"average='micro' {OF_TWO}",
    ),
    "a median of rows": (
        two(),
        lambda irm: irm.evaluate("precision", average="median"),
        NotComputableError,
        "average='median' is over queries; name query=",
    ),
    "a mean by rows, of rows": (
        two(),
        lambda irm: irm.evaluate("roc_auc", average=["macro", "rows"]),
        NotComputableError,
        "average='rows' is over queries; name query=",
    ),
    "an average by what is predicted": (
        two(),
        lambda irm: irm.evaluate("precision", average="predicted"),
        NotComputableError,
        f"average='predicted' {OF_TWO}",
    ),
    "a geometric mean of rows": (
        two(),
        lambda irm: irm.evaluate("precision", average="gmean"),
        NotComputableError,
        "average='gmean' is over queries; name query=",
    ),
    "a geometric mean of classes": (
        many(),
        lambda irm: irm.evaluate("precision", average="gmean"),
        NotComputableError,
        "average='gmean' is over queries; name query=",
    ),
    "gm_": (
        two(),
        lambda irm: irm.evaluate("gm_precision"),
        NotComputableError,
        "gm_precision is an average over queries; name query=",
    ),
    "judged_only": (
        two(),
        lambda irm: irm.evaluate("precision(judged_only=True)"),
        NotComputableError,
        "precision(judged_only=True): rel= and judged_only= are for queries; say rel= or unjudged= of all rows",
    ),
    "DeLong's interval of several classes": (
        many(score=SCORES),
        lambda irm: irm.evaluate("roc_auc", ci=0.9, method="delong"),
        NotComputableError,
        "there are 3 classes, and method='delong' is for two; say method='bootstrap'",
    ),
    "a micro average of scores": (
        many(score=SCORES),
        lambda irm: irm.evaluate("roc_auc", average="micro"),
        NotComputableError,
        "roc_auc has no micro average over classes: macro and weighted it has",
    ),
    "a parameter of two classes": (
        many(),
        lambda irm: irm.evaluate("balanced_accuracy(sensitivity=0.8)"),
        NotComputableError,
        "balanced_accuracy(sensitivity=0.8): of several classes it takes no sensitivity=",
    ),
    "worths of two classes": (
        many(),
        lambda irm: irm.evaluate("payoff(tp=1)"),
        NotComputableError,
        "payoff(tp=1): of several classes it takes no tp=",
    ),
    "one class of a whole": (
        many(),
        lambda irm: irm.per_class("coverage"),
        NotComputableError,
        "coverage is of all classes together, and of none alone; evaluate() has it",
    ),
    "one class of a ranking of two": (
        two(),
        lambda irm: irm.per_class("roc_auc"),
        NotComputableError,
        "scores of two classes rank one of them; evaluate() has their metrics",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_what_classes_do_not_have(name: str) -> None:
    """What two classes, or several, do not have is an error, of a plan when it is collected."""
    irm, verb, cause, message = READ[name]
    assert error(lambda: verb(irm), cause) == message
    assert error(lambda: verb(IRM(irm.frame.lazy(), **irm.roles)), cause) == message


# Values of roles


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"classes": "abc"}, "classes='abc' is not a list of different classes"),
        ({"classes": []}, "classes=[] is not a list of different classes"),
        ({"classes": ["a", "a"]}, "classes=['a', 'a'] is not a list of different classes"),
        ({"classes": {"a": 1}}, "classes={'a': 1} is not a list of different classes"),
        ({"classes": [["a"], ["b"]]}, "classes=[['a'], ['b']] is not a list of different classes"),
        ({"classes": ["a", None]}, "classes=['a', None] is not a list of different classes"),
        ({"abstain": "other"}, "abstain='other' is not a list of different classes"),
        ({"abstain": [["a"]]}, "abstain=[['a']] is not a list of different classes"),
        ({"threshold": NAN}, "threshold=nan is not a score, or the name of a column"),
        ({"threshold": [0.5]}, "threshold=[0.5] is not a score, or the name of a column"),
        ({"threshold": True}, "threshold=True is not a score, or the name of a column"),
        ({"score": {"a": "p"}}, "score={'a': 'p'} is not a column for each of several classes"),
        ({"score": {}}, "score={} is not a column for each of several classes"),
        ({"score": {"a": 1.5, "b": 2.5}}, "score={'a': 1.5, 'b': 2.5} is not a column for each of several classes"),
        ({"score": ["p", 1.5]}, "score=['p', 1.5] is not the name of a column, or a list of names, each of a system"),
        ({"predicted": []}, "predicted=[] is not the name of a column, or a list of names, each of a system"),
        ({"match": "most"}, "match='most' is not one of 'best', 'majority', 'informedness', 'payoff'"),
        ({"match": True}, "match=True is not one of 'best', 'majority', 'informedness', 'payoff'"),
    ],
)
def test_bad_roles(roles: dict[str, Any], message: str) -> None:
    """A role or option with a value that it cannot have is an error when it is named."""
    assert error(lambda: IRM(pl.DataFrame(TWO), **roles)) == message


@pytest.mark.parametrize("subject", [["recall"], "recall", 0.5])
def test_limits_are_a_mapping(subject: Any) -> None:
    """What a threshold is subject to is a mapping of metrics and values."""
    assert "subject_to" in error(lambda: two().best_threshold("f1", subject_to=subject), BadValueError)


def test_numbers_of_numpy_are_numbers() -> None:
    """Limits and thresholds may be numpy's."""
    plain = two().best_threshold("f1", subject_to={"recall": 0.5})
    assert two().best_threshold("f1", subject_to={"recall": np.float64(0.5)}).equals(plain)
    assert two(threshold=np.float64(0.5)).evaluate("f1").equals(two(threshold=0.5).evaluate("f1"))


# An option that would do nothing


def log(**roles: Any) -> IRM[pl.DataFrame]:
    return IRM(pl.DataFrame(LOG), **(ROLES | {"query": "qid"} | roles))


NOTHING: dict[str, tuple[IRM[pl.DataFrame], Verb, str]] = {
    "the collection of thresholds": (
        two(collection_size=100),
        lambda irm: irm.thresholds("accuracy"),
        "collection_size",
    ),
    "the collection of a curve": (two(collection_size=100), lambda irm: irm.curve("roc"), "collection_size"),
    "the collection of a table": (two(collection_size=100), lambda irm: irm.confusion(), "collection_size"),
    "the collection of classes": (many(collection_size=100), accuracy, "collection_size"),
    "matching of a relevant class": (two(positive=1, match="best"), accuracy, "match"),
    "a relevant grade": (
        IRM(pl.DataFrame(TWO), grade="clicked", score="bm25", positive=3),
        auc,
        "positive",
    ),
    "a relevant grade of queries": (
        IRM(pl.DataFrame(LOG), grade="clicked", score="bm25", query="qid", positive=3),
        lambda irm: irm.evaluate("ndcg"),
        "positive",
    ),
    "classes of grades": (
        IRM(pl.DataFrame(TWO), grade="clicked", predicted="shown", classes=[0, 1]),
        accuracy,
        "classes",
    ),
    "class scores of grades": (
        IRM(pl.DataFrame(MANY | {"rating": [0, 1, 2, 0]}), grade="rating", score={0: "p_cat", 1: "p_dog"}),
        auc,
        "label",
    ),
    "classes of queries": (log(classes=[0, 1]), precision, "classes"),
    "classes of a ranking": (log(classes=[0, 1]), lambda irm: irm.evaluate("ndcg"), "classes"),
    "classes of pooled queries": (log(classes=[0, 1]), lambda irm: irm.curve("roc"), "classes"),
    "class scores with one relevant": (many(score=SCORES, positive="cat"), auc, "positive"),
    "one threshold of a curve": (two(threshold=0.5), lambda irm: irm.curve("roc"), "threshold"),
    "a part of a curve between pairs": (
        many(score=SCORES),
        lambda irm: irm.evaluate("roc_auc(max_fpr=0.5, multi='ovo')"),
        "max_fpr",
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_an_option_that_would_do_nothing(name: str) -> None:
    """An option that would be ignored is an error that names it."""
    irm, verb, option = NOTHING[name]
    assert option in error(lambda: verb(irm))


def test_the_best_match_says_how_to_install_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scipy the best one-to-one match is an error with the command that installs it; majority does without."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    clusters = pl.DataFrame({"label": ["a", "a", "b"], "predicted": [7, 7, 8]})
    said = error(lambda: IRM(clusters, match="best").evaluate("accuracy"), NotComputableError)
    assert said == "match='best' needs scipy, which is not installed: pip install 'frame_metrics[stats]'"
    assert IRM(clusters, match="majority").evaluate("accuracy")["value"].item() == 1


def test_clusters_that_are_called_as_two_classes() -> None:
    """Clusters are matched whatever they are called: 0 and 1 are no decision where match= is said."""
    swapped = two({"clicked": [0, 0, 1, 1], "shown": [1, 1, 0, 0]}, match="best")
    assert accuracy(swapped)["value"].to_list() == [1]
    table = swapped.confusion().filter(pl.col("n") > 0)
    assert table.select("predicted", "matched", "actual", "n").rows() == [(0, 1, 1, 2), (1, 0, 0, 2)]


def test_a_wrong_prediction_of_queries() -> None:
    """With queries named, a prediction that is no decision is an error in words that name its column."""
    assert error(lambda: precision(log()(predicted=None, label=None)), ColumnError).startswith("label=None sets")
    wrong = IRM(pl.DataFrame(LOG | {"shown": [1, 2, 3, 0]}), **(ROLES | {"query": "qid"}))
    assert error(lambda: precision(wrong), BadValueError) == (
        "shown: 2 of 4 rows are neither 0 nor 1 (rows 1, 2); name the relevant one with positive="
    )
    text = IRM(pl.DataFrame(LOG | {"shown": [*"ynyn"]}), **(ROLES | {"query": "qid"}))
    assert error(lambda: precision(text), BadValueError) == (
        "shown: a prediction is 0 or 1, and this column is String; name the one with positive="
    )


def test_a_threshold_that_cannot_be_had_names_the_segment() -> None:
    """Where one of several segments cannot meet a limit, the error says which."""
    rows = {"clicked": [1, 0, 1, 0], "bm25": [2.0, 1.0, 1.0, 2.0], "day": ["mo", "mo", "tu", "tu"]}
    said = error(
        lambda: IRM(pl.DataFrame(rows), label="clicked", score="bm25", by="day").best_threshold(
            "f1", subject_to={"precision": 0.9, "recall": 0.5}
        ),
        NotComputableError,
    )
    assert "tu" in said


@pytest.mark.parametrize("value", ["5.0", "2.5", "0"])
def test_bins_are_counted(value: str) -> None:
    """Bins are a whole number; one that is written as a float counts as well, or is an error in our words."""
    if value == "5.0":
        frame = two()
        assert frame.evaluate("ece(bins=5.0)")["value"].to_list() == frame.evaluate("ece(bins=5)")["value"].to_list()
    else:
        assert error(lambda: two().evaluate(f"ece(bins={value})")) == f"ece: bins={value} is not a whole number from 1"
