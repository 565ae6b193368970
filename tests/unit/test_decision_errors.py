"""What goes wrong with decisions, classes and scores, word for word, in the caller's own names."""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError, NotComputableError
from helpers import as_kind, as_polars, error
from refusals import check, refusals_of, run

NAN, INF = float("nan"), float("inf")

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
LOG: dict[str, Any] = TWO | {"qid": [1, 1, 2, 2]}


def of(columns: dict[str, Any], /, kind: str = "polars", **roles: Any) -> IRM[Any]:
    """Return rows with their roles, in a kind of frame; one that is unread is a plan that cannot be run."""
    frame = pl.DataFrame({name: pl.Series(column, strict=False) for name, column in columns.items()})
    return IRM(unread(frame) if kind == "unread" else as_kind(frame, kind), **roles)


def unread(frame: pl.DataFrame) -> pl.LazyFrame:
    """Return a plan that cannot be run."""

    def fail(_: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError("the plan was run")

    return frame.lazy().map_batches(fail, schema=frame.schema)


def two(columns: dict[str, Any] | None = None, /, **roles: Any) -> IRM[Any]:
    """Return rows of two classes, some columns and roles being others."""
    return of(TWO | (columns or {}), **(ROLES | roles))


def many(columns: dict[str, Any] | None = None, /, **roles: Any) -> IRM[Any]:
    """Return rows of several classes."""
    return of(MANY | (columns or {}), **(CLASSES | roles))


def log(columns: dict[str, Any] | None = None, /, **roles: Any) -> IRM[Any]:
    """Return rows of two queries."""
    return of(LOG | (columns or {}), **(ROLES | {"query": "qid"} | roles))


def both(**roles: Any) -> IRM[Any]:
    """Return rows of two classes with a score for each, which may be of queries."""
    return of({"qid": [1, 1, 2, 2], "label": [0, 1] * 2, "no": [0.2, 0.7] * 2, "yes": [0.8, 0.3] * 2}, **SCORED | roles)


def made_of(kind: str) -> dict[str, Any]:
    """Return the names of a table, its frames being of a kind."""
    return globals() | {make.__name__: partial(make, kind=kind) for make in (of, two, many, log, both)}


# Values in the columns: found when they are read

IDS = {"session": range(1500), "guess": range(1500)}
SCORED: dict[str, Any] = {"label": "label", "score": {0: "no", 1: "yes"}}
SHARES = {"label": [1, 0, 1, 0], "predicted": [0.9, 1.0, 0.0, 0.2]}
SIZES = {"label": [7.5, 8, 9, 10], "predicted": [8, 8, 9, 10]}
YES_NO = {"clicked": ["yes", "no", "yes", "no"], "shown": ["yes", "yes", "no", "no"]}
VALUES = r"""
two({"rows": [2**53, 1, 0, 0]}, count="rows").confusion()
    BadValueError: rows: the counts add up to 9,007,199,254,740,993, past 2**53, and sums would be rounded; rescale them
    but: two({"rows": [2**53 - 1, 1, 0, 0]}, count="rows").confusion()
two(YES_NO).evaluate("precision")
two(YES_NO, predicted=None).evaluate("roc_auc")
    NotComputableError: clicked has the values 'no', 'yes', and nothing says which of them is relevant; name it with
        positive=, or list the classes with classes= to measure all of them
    but: two(YES_NO, positive="yes").evaluate("precision")
    but: two(YES_NO, positive="yes", predicted=None).evaluate("roc_auc")
two({"clicked": ["yes"] * 4, "shown": [3, 3, None, 3]}, score=None).evaluate("precision")
    BadValueError: shown: its values are Int64, those of clicked are text; give both one type, or pass match= if they
        are clusters
    but: two({"clicked": ["yes"] * 4, "shown": [3, 3, None, 3]}, score=None, match="majority").evaluate("accuracy")
many({"animal": [None] * 4, "guess": [None] * 4}, classes=["cat", 1]).evaluate("accuracy")
    BadValueError: classes=['cat', 1] have several types; give them one
many({"animal": [None] * 4, "guess": [True] * 4}, classes=["cat", "dog"]).evaluate("accuracy")
    BadValueError: guess: 'cat' cannot be one of its values, which are Boolean
    but: many({"animal": [None] * 4}, classes=["cat", "dog", "owl"], unjudged="drop").evaluate("accuracy")
many({"guess": [True, False, True, None]}, classes=["cat", "dog", "owl"]).evaluate("accuracy")
    BadRowsError: guess: 3 of 4 rows have a class that is not among classes= (rows 0, 1, 2); add it, or drop them
many({"animal": [0, 1, 2, 0], "guess": [True, True, None, None]}, classes=[0, 1, 2]).evaluate("accuracy")
    BadRowsError: guess: 2 of 4 rows have a class that is not among classes= (rows 0, 1); add it, or drop them
    but: many({"animal": [0, 1, 2, 0], "guess": [1, 1, None, None]}, classes=[0, 1, 2]).evaluate("accuracy")
two(YES_NO, positive=["yes", 1]).evaluate("precision")
    BadValueError: clicked: 1 cannot be one of its values, which are text
    but: two(YES_NO, positive=["yes"]).evaluate("precision")
many({"animal": ["cat", "dog", "cat", "dog"]}, classes=["cat", "dog"], predicted=None, score=SCORES).evaluate("roc_auc")
    ColumnError: score= names 'owl', not among the classes
    but: many(classes=["cat", "dog", "owl"], predicted=None, score=SCORES).evaluate("roc_auc")
two(YES_NO, positive=1).evaluate("precision")
    BadValueError: clicked: 1 cannot be one of its values, which are text
two(positive="1").evaluate("precision")
    BadValueError: clicked: '1' cannot be one of its values, which are Int64
two({"clicked": YES_NO["clicked"]}, positive="yes").evaluate("precision")
    BadValueError: shown: 'yes' cannot be one of its values, which are Int64
    but: two(positive=1).evaluate("precision")
many(classes=["cat", "dog"]).evaluate("accuracy")
    BadRowsError: animal: 1 of 4 rows has a class that is not among classes= (row 2); add it, or drop them
many({"guess": ["cat", "cow", "owl", "cow"]}, classes=["cat", "dog", "owl"]).evaluate("accuracy")
    BadRowsError: guess: 2 of 4 rows have a class that is not among classes= (rows 1, 3); add it, or drop them
many(classes=[1, 2, 3]).evaluate("accuracy")
    BadValueError: animal: 1 cannot be one of its values, which are text
    but: many(classes=["cat", "dog", "owl", "cow"]).evaluate("accuracy")
many({"animal": [1, 2, 3, 1]}).evaluate("accuracy")
    BadValueError: guess: its values are text, those of animal are Int64; give both one type, or pass match= if they
        are clusters
many({"guess": [1, 2, 3, 1]}).evaluate("accuracy")
    BadValueError: guess: its values are Int64, those of animal are text; give both one type, or pass match= if they
        are clusters
    but: many({"guess": [1, 2, 3, 1]}, match="majority").evaluate("accuracy")
many(abstain=[3]).evaluate("accuracy")
    BadValueError: guess: 3 cannot be one of its values, which are text
    but: many(abstain=["dog"]).evaluate("accuracy")
of(IDS, label="session", predicted="guess").evaluate("accuracy", "f1")
of(IDS, label="session", predicted="guess").per_class("f1")
of(IDS, label="session", predicted="guess").confusion()
    MistakenColumnError: session: 1,500 different values are more than 1,000, the most that are taken for classes; if
        they are classes, list them with classes=[...]. accuracy and error_rate need no list
    but: of(IDS, label="session", predicted="guess").evaluate("accuracy", "error_rate")
    but: of(IDS, label="session", predicted="guess", classes=range(1500)).evaluate("accuracy", "f1")
    but: of({"session": range(100), "guess": range(100)}, label="session", predicted="guess").evaluate("f1")
of(SHARES).evaluate("accuracy", "f1", "mcc")
of(SHARES).confusion()
of(SHARES).per_class("f1")
of(SHARES, positive=1).evaluate("f1")
of(SHARES | {"predicted": pl.Series([0.9, 1, 0, 0.2]).cast(pl.Decimal(5, 2))}).evaluate("f1")
    BadRowsError: predicted: 2 of 4 rows have fractions (rows 0, 3); if these are scores, pass predicted=None, score=
        and threshold=; if classes, list them with classes=[...], or make them text
    but: of(SHARES, predicted=None, score="predicted", threshold=0.5).evaluate("accuracy", "f1", "mcc")
    but: of(SHARES, classes=[0, 1, 0.9, 0.2]).evaluate("accuracy")
    but: of(SHARES | {"predicted": ["0.9", "1", "0", "0.2"], "label": [*"1010"]}, positive="1").evaluate("f1")
of(SIZES).evaluate("accuracy")
of(SIZES, positive=8).evaluate("accuracy")
    BadRowsError: label: 1 of 4 rows has fractions (row 0); if these are probabilities, decide, as with
        label=lambda f: f['label'] > 0.5; if grades, pass label=None and grade=; if classes, list them with
        classes=[...], or make them text
    but: of(SIZES, classes=[7.5, 8, 9, 10]).evaluate("f1")
log({"shown": [0.75, 1.0, 0.0, 0.25]}).evaluate("f1")
log({"shown": [0.75, 1.0, 0.0, 0.25]}, positive=1).evaluate("f1")
    BadRowsError: shown: 2 of 4 rows have fractions (rows 0, 3); if these are scores, pass predicted=None, score= and
        threshold=; if classes, make them text, and name the relevant one with positive=
    but: log({"shown": [0.75, 1.0, 0.0, 0.25]}, predicted=None, score="shown", threshold=0.5).evaluate("f1")
log({"clicked": [0.75, 1.0, 0.0, 0.25]}, positive=1).evaluate("f1")
    BadRowsError: clicked: 2 of 4 rows have fractions (rows 0, 3); if these are grades, pass label=None, positive=None
        and grade=; if classes, make them text
    but: log({"clicked": [0.75, 1.0, 0.0, 0.25]}, label=None, grade="clicked", rel=0.5).evaluate("f1")
many({"animal": ["cat", None, "owl", None]}).evaluate("accuracy")
many({"animal": ["cat", None, "owl", None]}, unjudged="negative").evaluate("accuracy")
    BadRowsError: animal: 2 of 4 rows have no class (rows 1, 3). unjudged='drop' leaves them out; do so only if all
        classes become known at the same time.
    but: many({"animal": ["cat", None, "owl", None]}, unjudged="drop").evaluate("accuracy")
two({"clicked": [1, None, 0, None]}).evaluate("precision")
two({"clicked": [1, None, 0, None]}).per_class("precision")
two({"clicked": [1, None, 0, None]}).confusion()
two({"clicked": [1, None, 0, None]}).compare("accuracy", against="majority")
two({"clicked": [1, None, 0, None]}, predicted=None).evaluate("roc_auc")
two({"clicked": [1, None, 0, None]}, predicted=None).thresholds("recall")
two({"clicked": [1, None, 0, None]}, predicted=None).best_threshold("recall")
two({"clicked": [1, None, 0, None]}, predicted=None).curve("calibration")
two({"clicked": [True, None, False, None]}, predicted=None, threshold=2.5).evaluate("precision")
two({"clicked": ["yes", None, "no", None]}, predicted=None, positive="yes").evaluate("roc_auc")
two({"clicked": [1, None, 0, None]}, score=None, weight="bm25").confusion()
    BadRowsError: clicked: 2 of 4 rows have no label (rows 1, 3). unjudged='drop' leaves them out; do so only if yes and
        no become known at the same time. unjudged='negative' counts them as no, as after a left join with clicks.
    but: two({"clicked": [1, None, 0, None]}, unjudged="drop").compare("accuracy", against="majority")
    but: two({"clicked": [1, None, 0, None]}, unjudged="negative").per_class("precision")
    but: two({"clicked": [1, None, 0, None]}, predicted=None, unjudged="negative").best_threshold("recall")
    but: two({"clicked": [1, None, 0, None]}, predicted=None).curve("distribution")
    but: log({"clicked": [1, None, 0, None]}).confusion()
    but: log({"clicked": [1, None, 0, None]}, unjudged="negative").confusion()
many(score="p_cat", threshold=0.5, predicted=None).evaluate("accuracy")
    NotComputableError: threshold= makes two classes; name the relevant animal with positive=
    but: many(score="p_cat", threshold=0.5, predicted=None, positive="cat").evaluate("accuracy")
many(score="p_cat").curve("roc")
many(score="p_cat").thresholds()
    ColumnError: there are several classes, and a threshold separates one from the rest; name it with positive=
    but: many(score="p_cat", positive="cat").curve("roc")
    but: many(score="p_cat", positive="cat").thresholds()
many(score="p_cat").evaluate("roc_auc")
    ColumnError: roc_auc: there are 3 classes; name the score of each, score={class: column}, or the relevant one with
        positive=
many(score={"cat": "p_cat", "dog": "p_dog"}).evaluate("roc_auc")
    ColumnError: score= names no column for the classes 'owl' of animal
many(score=SCORES, classes=["cat", "dog", "owl", "cow"]).evaluate("roc_auc")
    ColumnError: score= names no column for 'cow'
many(score={1: "p_cat", 2: "p_dog", 3: "p_owl"}).evaluate("roc_auc")
    ColumnError: score= names no column for the classes 'cat', 'dog', 'owl' of animal
many({"p_dog": [0.25, None, 0.25, None]}, score=SCORES).evaluate("roc_auc")
    BadRowsError: p_dog: 2 of 4 rows have no score (rows 1, 3); drop them
many({"p_dog": [0.25, INF, 0.25, 0.5]}, score=SCORES).evaluate("roc_auc")
    BadRowsError: p_dog: 1 of 4 rows is infinite (row 1); drop them, or give them finite values: inf one above all
        others, -inf one below
    but: many(score=SCORES).evaluate("roc_auc")
    but: many(score="p_cat", positive="cat").evaluate("roc_auc")
two({"bm25": [0.75, NAN, 0.25, NAN]}).evaluate("roc_auc")
    BadRowsError: bm25: 2 of 4 rows are NaN (rows 1, 3); drop them, or make them null
two({"bm25": [0.75, 0.5, -INF, 0.125]}).curve("pr")
two({"bm25": [0.75, 0.5, INF, 0.125]}, threshold=0.5, predicted=None).evaluate("precision")
    BadRowsError: bm25: 1 of 4 rows is infinite (row 2); drop them, or give them finite values: inf one above all
        others, -inf one below
two({"bm25": [*"abcd"]}).thresholds()
    BadValueError: bm25: a score is a number, and this column is text, as 'a'; convert it
two({"bm25": [2 ** 60, 1, 2, 3]}).best_threshold("f1")
    BadRowsError: bm25: 1 of 4 rows is past 2**53, where float64 cannot tell integers apart (row 0); rescale them
    but: two().evaluate("roc_auc")
    but: two().curve("pr")
    but: two(threshold=0.5, predicted=None).evaluate("precision")
    but: two({"bm25": [2**53, 1, 2, 3]}).best_threshold("f1")
two({"bm25": [1.5, 0.5, 0.25, -3]}).evaluate("roc_auc", "log_loss")
    BadRowsError: bm25: 2 of 4 rows are not between 0 and 1 (rows 0, 3); log_loss needs probabilities
two({"bm25": [None, 0.5, 0.25, None]}).evaluate("brier")
    BadRowsError: bm25: 2 of 4 rows have no score (rows 0, 3); brier needs one for every row
    but: two({"bm25": [1, 0.5, 0.25, 0]}).evaluate("log_loss", "brier")
two({"visits": [1, -1, 1, -2]}, weight="visits").evaluate("precision")
    BadRowsError: visits: 2 of 4 rows are negative (rows 1, 3); 0 is the least, and leaves them out of means
two({"visits": [1, None, 1, 2]}, weight="visits").thresholds()
    BadRowsError: visits: 1 of 4 rows has no weight (row 1); give every row one
two({"visits": [1, 2, NAN, 2]}, weight="visits").confusion()
    BadRowsError: visits: 1 of 4 rows is NaN (row 2); give every row one
two({"visits": [*"abcd"]}, weight="visits").evaluate("precision")
    BadValueError: visits: a weight is a number, and this column is text, as 'a'; convert it
    but: two({"visits": [1, 0, 1, 2.5]}, weight="visits").evaluate("precision")
two({"day": [1.0, NAN, 2.0, 1.0]}, by="day").curve("roc")
    BadRowsError: day: 1 of 4 rows is NaN (row 1); drop them, or make them null
    but: two({"day": [1.0, None, 2.0, 1.0]}, by="day").curve("roc")
two({"rating": [1, 2, 0, 1]}, label=None, grade="rating", rel=3).evaluate("precision")
    NotComputableError: no grade in rating reaches rel=3; the largest is 2[...]
two({"rating": [1, 2, INF, 1]}, label=None, grade="rating").evaluate("roc_auc")
    BadRowsError: rating: 1 of 4 rows is infinite (row 2); drop them, or give them finite values: inf one above all
        others, -inf one below
    but: two({"rating": [1, 2, 3, 1]}, label=None, grade="rating", rel=3).evaluate("precision", "roc_auc")
many().evaluate("kappa(weights='linear')")
    NotComputableError: kappa(weights='linear') weighs a mistake by how far apart two classes are, and texts of animal
        have no order; list 'cat', 'dog', 'owl' from one end to the other with classes=, or make both columns ordered
        categories (pandas), one Enum (polars) or one ordered dictionary (Arrow)
many(abstain=["dog"], classes=["cat", "owl", "dog"]).evaluate("kappa(weights='linear')")
    NotComputableError: weights='linear' has no place for rows without a prediction; drop them
    but: many(classes=["cat", "owl", "dog"]).evaluate("kappa(weights='linear')")
two({"shown": [0, 0, 0, 0]}, undefined="raise").evaluate("precision")
    NotComputableError: precision is undefined for 1 of 1 segments
    but: two({"shown": [0, 0, 0, 1]}, undefined="raise").evaluate("precision")
"""


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas-arrow", "pyarrow"])
def test_bad_values(kind: str) -> None:
    """A value that cannot be counted honestly is an error that names the column, counts the rows and shows three."""
    check(VALUES, made_of(kind))


def test_what_is_refused_of_rows_is_a_finding(kind: str) -> None:
    """Bad values that are an error elsewhere are a finding of severity error here, in the same words."""
    for row in refusals_of(VALUES, globals()):
        if not re.search(r": \d+ of \d+ rows? ", row.words):
            continue
        found = as_polars(run(f"{row.irm}.audit()", made_of(kind))).filter(pl.col("severity") == "error")
        of_a_metric = row.words.endswith(("needs probabilities", "needs one for every row"))
        if of_a_metric or (kind == "pandas" and "NaN" in row.words):  # which is null in pandas' numpy columns
            assert found.filter(pl.col("message").str.contains("NaN|probab")).is_empty()
            continue
        assert found["message"][0] == row.words
        assert found["n"][0] == int(row.words.split(": ")[1].split()[0])
        assert found["check"].to_list()[1:] == ["rows that cannot be read"] * ("have no class" in row.words)


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
    said = error(lambda: irm.evaluate("accuracy"), BadValueError)
    assert name in said
    assert repr(classes[0]) not in said.replace(str(classes), "")


def test_a_listed_class_may_be_one_that_only_predictions_can_have() -> None:
    """Classes have a type that holds both sides: 300 is a class where predictions are wide enough for it."""
    labels = pl.Series([1, 2, 3, 1], dtype=pl.UInt8)
    irm = many({"animal": labels, "guess": [1, 2, 300, 2]}, classes=[1, 2, 3, 300])
    assert irm.evaluate("accuracy")["value"].to_list() == [0.5]


def test_class_scores_that_are_no_probabilities_of_one_of_them() -> None:
    """Probabilities of classes add up to 1, to 1e-6; the error names the columns and counts the rows that do not."""
    wrong = many({"p_owl": [0.25, 0.25, 0.75, 0.5]}, score=SCORES)
    for name in ("log_loss", "brier", "ece"):
        assert error(lambda name=name: wrong.evaluate("roc_auc", name), BadValueError) == (
            f"p_cat, p_dog, p_owl: 2 of 4 rows do not add up to 1 (rows 2, 3); {name} needs probabilities; divide "
            "each by the sum of its row"
        )
    assert wrong.evaluate("roc_auc")["value"].is_not_null().all()
    for off in (9e-7, -9e-7):
        near = many({"p_owl": [0.25, 0.25, 0.5, 0.25 + off]}, score=SCORES)
        exact = many(score=SCORES).evaluate("brier")["value"].item()
        assert near.evaluate("brier")["value"].item() == pytest.approx(exact, abs=1e-5)
    for off in (1.1e-6, -1.1e-6):
        far = many({"p_owl": [0.25, 0.25 + off, 0.5, 0.25 + off]}, score=SCORES)
        said = error(lambda far=far: far.evaluate("brier"), BadValueError)
        assert said == (
            "p_cat, p_dog, p_owl: 2 of 4 rows do not add up to 1 (rows 1, 3); brier needs probabilities; divide each "
            "by the sum of its row"
        )


def test_rounded_probabilities_add_up() -> None:
    """Each may be off by half its last decimal, all together by .01 at most; others are divided by their sum."""
    thirds = {"p_cat": [0.3333] * 4, "p_dog": [0.3333] * 4, "p_owl": [0.3333] * 4}
    exact = many(dict.fromkeys(thirds, [1 / 3] * 4), score=SCORES)
    for digits, off in ((4, 1e-4), (3, 1e-3), (2, 1e-2)):
        rounded = {name: [round(1 / 3, digits)] * 4 for name in thirds}
        for name in ("log_loss", "brier", "ece"):
            found = many(rounded, score=SCORES).evaluate(name)["value"].item()
            assert found == pytest.approx(exact.evaluate(name)["value"].item(), abs=4 * off)
    for some in ([0.3331, 0.25, 0.2, 0.1], [0.333, 0.25, 0.29, 0.3]):
        wrong = {**thirds, "p_owl": some}
        said = error(lambda wrong=wrong: many(wrong, score=SCORES).evaluate("log_loss"), BadValueError)
        assert said.endswith("log_loss needs probabilities; divide each by the sum of its row")
        total = [sum(row) for row in zip(*wrong.values(), strict=True)]
        whole = {name: [one / of for one, of in zip(each, total, strict=True)] for name, each in wrong.items()}
        assert many(whole, score=SCORES).evaluate("log_loss")["value"].is_finite().all()


OTHER_VALUES = r"""
many({"p_dog": [0.25, 1.5, 0.25, -1]}, score=SCORES).evaluate("brier")
    BadRowsError: p_dog: 2 of 4 rows are not between 0 and 1 (rows 1, 3); brier needs probabilities
many({"p_dog": [0.25, 1.5, 0.25, -1]}, score=SCORES).evaluate("log_loss")
    BadRowsError: p_dog: 2 of 4 rows are not between 0 and 1 (rows 1, 3); log_loss needs probabilities
many({"p_dog": [0.25, 1.5, 0.25, -1]}, score=SCORES).evaluate("ece")
    BadRowsError: p_dog: 2 of 4 rows are not between 0 and 1 (rows 1, 3); ece needs probabilities
many({"p_owl": [0.25, 0.25, 0.75, 0.25]}, score=SCORES).evaluate("brier")
    BadRowsError: p_cat, p_dog, p_owl: 1 of 4 rows does not add up to 1 (row 2); brier needs [...] by the sum of its row
    but: many(score=SCORES).evaluate("brier", "log_loss", "ece")
two({"bm25": [1.5, 0.5, 0.25, -3]}).curve("calibration")
    BadRowsError: bm25: 2 of 4 rows are not between 0 and 1 (rows 0, 3); curve('calibration') needs probabilities
two({"bm25": [1, 0.5, None, 0]}).curve("calibration")
    BadRowsError: bm25: 1 of 4 rows has no score (row 2); curve('calibration') needs one for every row
    but: two().curve("calibration")
many({"animal": [1.0, 2.0, NAN, 3.0], "guess": [1.0, 2.0, 3.0, 3.0]}).evaluate("accuracy")
many({"animal": [1.0, 2.0, NAN, 3.0], "guess": [1.0, 2.0, 3.0, 3.0]}).confusion()
    BadRowsError: animal: 1 of 4 rows is NaN (row 2); drop them, or make them null and pass unjudged=
many({"animal": [1.0, 2.0, 3.0, 3.0], "guess": [1.0, 2.0, NAN, 3.0]}).evaluate("accuracy")
many({"animal": [1.0, 2.0, 3.0, 3.0], "guess": [1.0, 2.0, NAN, 3.0]}).confusion()
    BadRowsError: guess: 1 of 4 rows is NaN (row 2); drop them, or make them null
    but: many({"animal": [1.0, 2.0, 3.0, 3.0], "guess": [1.0, 2.0, None, 3.0]}).confusion()
two({"clicked": [1.0, 0.0, NAN, 0.0]}).evaluate("accuracy")
two({"clicked": [1.0, 0.0, NAN, 0.0]}).confusion()
two({"clicked": [1.0, 0.0, NAN, 0.0]}, positive=1.0).evaluate("accuracy")
two({"clicked": [1.0, 0.0, NAN, 0.0]}, positive=1.0).confusion()
    BadRowsError: clicked: 1 of 4 rows is NaN (row 2); drop them, or make them null and pass unjudged=
two({"shown": [1.0, 0.0, NAN, 0.0]}).evaluate("accuracy")
two({"shown": [1.0, 0.0, NAN, 0.0]}).confusion()
    BadRowsError: shown: 1 of 4 rows is NaN (row 2); drop them, or make them null
    but: two({"shown": [1.0, 0.0, None, 0.0]}).confusion()
    but: two({"clicked": [1.0, 0.0, None, 0.0]}, unjudged="negative").confusion()
of({"animal": [[1], [2], [3]], "guess": [[1], [2], [3]]}, **CLASSES).evaluate("accuracy")
    BadRowsError: animal: 2 of 3 rows are neither 0 nor 1 (rows 1, 2); pass label=None, grade='animal' if these are
        grades, or name the relevant one with positive=
two({"clicked": [True, False, True, False], "shown": [True, True, False, False]}, positive=2).evaluate("precision")
    BadValueError: clicked: 2 cannot be one of its values, which are Boolean
    but: two({"clicked": [True, False, True, False], "shown": [True, True, False, False]},
        positive=1).evaluate("precision")
log(predicted=None, label=None).evaluate("precision")
    ColumnError: label=None was passed, but this call needs the label; leave label=None out, or name its column,
        one of 'clicked', 'shown',[...]
log({"shown": [1, 2, 3, 0]}).evaluate("precision")
    BadRowsError: shown: 2 of 4 rows are neither 0 nor 1 (rows 1, 2); name the relevant one with positive=
log({"shown": [*"ynyn"]}).evaluate("precision")
    BadValueError: shown: a prediction is 0 or 1, and this column is text; name the one with positive=
    but: log({"shown": [*"ynyn"], "clicked": [*"ynyn"]}, positive="y").evaluate("precision")
two().best_threshold("f1", subject_to=VALUE)
    for: ["recall"], "recall", 0.5
    BadValueError: subject_to=VALUE is not a mapping from metrics to values
two({"clicked": [1, 0, 1, 0], "bm25": [2, 1, 1, 2], "day": ["mo", "mo", "tu", "tu"]}, predicted=None,
        by="day").best_threshold("f1", subject_to={"precision": 0.9, "recall": 0.5})
    NotComputableError: 1 segment has no such threshold (tu: no threshold meets precision >= 0.9 (the best that can be
        had is 0.5) and recall >= 0.5 (the best that can be had is 1), each where the others hold)
    but: two().best_threshold("f1", subject_to={"recall": 0.5, "fallout": np.int64(1)})
two().evaluate("ece(bins=2.5)")
    BadValueError: ece: bins=2.5 is not a whole number from 1, or 'quantile'
two().evaluate("ece(bins=0)")
    BadValueError: ece: bins=0 is not a whole number from 1, or 'quantile'
    but: two().evaluate("ece(bins=5)")
"""


def test_other_bad_values() -> None:
    """Values of the kinds that metrics, queries and options read are refused in the caller's names too."""
    check(OTHER_VALUES, globals())


# What is asked of columns that do not say it: found before anything is read


ASKED = r"""
of(TWO, label="clicked").evaluate("precision")
    ColumnError: precision needs a decision for each row: name its column with predicted=, one of 'shown', 'bm25', or
        set threshold= before, as search(threshold=0.5), to decide by the score; of a ranking, name query=
of(TWO, label="clicked").confusion()
    ColumnError: confusion() needs a decision for each row: name its column with predicted=, one of 'shown', 'bm25', or
        set threshold= before, as search(threshold=0.5), to decide by the score
of(MANY, label="animal").evaluate("coverage")
    ColumnError: coverage needs a decision for each row: name its column with predicted=, one of 'guess', 'p_cat',
        'p_dog', 'p_owl', or set threshold= before, as search(threshold=0.5), to decide by the score
of(MANY, label="animal", score={"cat": "p_cat", "dog": "p_dog", "owl": "p_owl"}).evaluate("f1")
    ColumnError: f1 needs a decision for each row: name its column with predicted=, one of 'guess', or make a column
        of the class with the greatest score, and name it with predicted=; of a ranking, name query=
    but: of(TWO, label="clicked", predicted="shown").confusion()
    but: of(MANY, label="animal", predicted="guess").evaluate("coverage")
of({"label": [1, 0], "predicted": [1, 0], "query": [1, 1]}).evaluate("precision")
    MistakenColumnError: the column 'predicted' decides about rows, and 'query' is a column too; pass query='query' for
        each query's own table, or query=None for one table of all rows
    but: of({"label": [1, 0], "predicted": [1, 0], "query": [1, 1]}, query="query").evaluate("precision")
    but: of({"label": [1, 0], "predicted": [1, 0], "query": [1, 1]}, query=None).evaluate("precision")
of({"label": [1, 0], "predicted": [1, 0], "grade": [1, 1]}).evaluate("precision")
    ColumnError: both 'label' and 'grade' are columns; pass label='label', grade='grade' to use both (grades are the
        gains, and labels say what is relevant), or name one
    but: of({"label": [1, 0], "predicted": [1, 0], "grade": [1, 1]}, label="label").evaluate("precision")
of(TWO, predicted="shown").evaluate("precision")
    ColumnError: the label or grade is missing; name its column with label= or grade=, one of 'clicked', 'bm25';
        did you mean 'clicked'?
of({"qid": [1, 2], "shown": [1, 0]}, label="shown").evaluate("precision")
    ColumnError: precision needs a decision for each row: of a ranking, pass query='qid'; of rows, name its column with
        predicted=, one of 'qid', or set threshold= before, as search(threshold=0.5), to decide by the score
    but: of({"qid": [1, 2], "shown": [1, 0], "score": [1, 0]}, label="shown", query="qid").evaluate("precision")
of(TWO, label="clicked").curve("roc")
    ColumnError: the score is missing; name its column with score=, one of 'shown', 'bm25'; did you mean 'bm25'?
two().curve("roc", per="query")
    ColumnError: the query is missing; name its column with query=, one of 'clicked', 'shown', 'bm25'
    but: two().curve("roc")
    but: log().curve("roc", per="query")
two(predicted="shwon").evaluate("precision")
    ColumnError: predicted='shwon': there is no such column among 'clicked', 'shown', 'bm25'; did you mean 'shown'?
many(score={"cat": "p_cat", "dog": "p_dgo"}).evaluate("roc_auc")
    ColumnError: score of 'dog'='p_dgo': there is no such column among 'animal', 'guess', 'p_cat', 'p_dog', 'p_owl'; did
        you mean 'p_dog'?
many(score={"cat": "p_cat", "dog": "p_cat"}).evaluate("roc_auc")
    ColumnError: score of a class='p_cat' is named twice; a column can have only one role
two(predicted="clicked").evaluate("precision")
    ColumnError: predicted='clicked' is the label too; a column can have only one role
    but: two().evaluate("precision")
    but: many(score=SCORES).evaluate("roc_auc")
of(MANY | {"qid": [1, 1, 2, 2]}, label="animal", query="qid", score=SCORES).evaluate("ndcg")
    ColumnError: score= names a column for each class, and a ranking is ordered by one; name one, or pass query=None in
        the place of 'qid'
    but: of(MANY | {"qid": [1, 1, 2, 2]}, label="animal", query=None, score=SCORES).evaluate("roc_auc")
    but: of(MANY | {"qid": [1, 1, 2, 2]}, label="animal", query="qid", score="p_cat", positive="cat").evaluate("ndcg")
many(positive="cat", classes=["cat", "dog", "owl"]).evaluate("accuracy")
    ColumnError: positive= is for two classes, classes= for several; name one of them
    but: many(positive="cat").evaluate("accuracy")
both(query="qid").thresholds("precision")
    ColumnError: score= names a column for each class, and a ranking is ordered by one; name one, or pass query=None in
        the place of 'qid'
    but: both(query=None).evaluate("roc_auc")
both(query="qid").evaluate("roc_auc")
    ColumnError: score= names a column for each class, and a ranking is ordered by one; name one, or pass query=None in
        the place of 'qid'
    but: both(query="qid", score="yes").evaluate("roc_auc")
both(query="qid", threshold=0.5).confusion()
    ColumnError: score= names a column for each class, and a ranking is ordered by one; name one, or pass query=None in
        the place of 'qid'
    but: both(query=None).evaluate("log_loss")
log(abstain=[0]).evaluate("precision")
    ColumnError: abstain= is about the rows of a segment; pass query=None
log(match="best").evaluate("precision")
    ColumnError: match= is about the rows of a segment; pass query=None
log(classes=[0, 1]).evaluate("precision")
    ColumnError: classes= is about the rows of a segment; pass query=None
log().evaluate("coverage")
    NotComputableError: coverage has one value for the rows of a segment, and none for a query; pass query=None, or
        name its column with by=
log({"visits": [1, 1, 2, 2]}, weight="visits").curve("roc")
    ColumnError: weight='visits' is the weight of a query, and rows are pooled here; pass weight=None
    but: log(query=None, classes=[0, 1], abstain=[0], score=None).evaluate("coverage")
    but: log({"visits": [1, 1, 2, 2]}, weight="visits").evaluate("ndcg")
two().evaluate("precision", margins=True)
    ColumnError: margins=True adds the totals over segments; name the segments with by=
    but: two({"day": [*"aabb"]}, by="day").evaluate("precision", margins=True)
two(threshold=0.5).thresholds()
two(threshold=0.5).best_threshold("f1")
    ColumnError: threshold=0.5 is one threshold, and every threshold is looked at; pass threshold=None
two(undefined="raise").thresholds("precision")
    NotComputableError: undefined='raise': at the first threshold nothing is predicted; pass 'null' or 'zero'
    but: two().thresholds()
    but: two().best_threshold("f1")
    but: two(undefined="null").thresholds("precision")
two().thresholds("ndcg")
    NotComputableError: ndcg cannot be computed from a threshold
two().thresholds("precision@5")
    NotComputableError: precision@5 cannot be computed from a threshold
two().best_threshold("roc_auc")
    NotComputableError: roc_auc cannot be computed from a threshold
two().thresholds("gm_precision")
    NotComputableError: gm_precision: gm_, rel= and judged_only= are for the results of queries
two().thresholds("f1", "precision(rel=2)")
    NotComputableError: precision(rel=2): gm_, rel= and judged_only= are for the results of queries
two().thresholds("f1", "tp")
    BadValueError: 'tp' is a column of the result already
    but: two().thresholds("f1", "precision")
two().best_threshold("bias")
    NotComputableError: bias: no value of it is better than another
two().best_threshold("f1", subject_to={"prevalence": 0.5})
    NotComputableError: prevalence: no value of it is better than another
two().best_threshold("f1@1,2")
    BadValueError: 'f1@1' and 'f1@2' are two metrics; name one
two().best_threshold("f1", subject_to={"recall": "0.5"})
    BadValueError: subject_to: recall='0.5' is not a number
two().best_threshold("f1", subject_to={"recall": NAN})
    BadValueError: subject_to: recall=nan is not a number
two().best_threshold("f1", subject_to={"recal": 0.5})
    UnknownNameError: there is no metric 'recal'; did you mean 'recall'?
    but: two().best_threshold("f1", subject_to={"recall": 0.5})
two().evaluate("max_precision")
    NotComputableError: max_precision needs min_recall=, as in max_precision(min_recall=0.5)
two().best_threshold("cost(fp=-1)")
    BadValueError: cost: fp=-1 is not 0 or more
two().evaluate("roc_auc(max_fpr=0)")
    BadValueError: roc_auc: max_fpr=0 is not above 0, at most 1
two().evaluate("roc_auc(fpr=[0.5, 0.2])")
    BadValueError: roc_auc: fpr=[0.5, 0.2] is not a list of two numbers between 0 and 1, the lesser first
two().evaluate("roc_auc(max_fpr=0.5, tpr=[0.5, 1])")
    BadValueError: roc_auc: max_fpr=, fpr= and tpr= each name a part of the curve; give one of them
two().evaluate("inverse_fbeta(beta=2, alpha=0.2)")
    BadValueError: F with beta=2 and alpha=0.2: they mean the same; pass one of them
    but: two().evaluate("max_precision(min_recall=0.5)", "inverse_fbeta(beta=2)")
    but: two().evaluate("roc_auc(max_fpr=0.5)", "roc_auc(fpr=[0, 0.5])")
two()(query="bm25", score=None).evaluate("Subset accuracy")
    ColumnError: Subset accuracy of queries with several labels is the share of those whose value in
        per_query('accuracy') is 1, and accuracy the share of right labels; ask for that one, or pass query=None if each
        row has one label
    but: two().evaluate("Subset accuracy")
two().evaluate("roc_auc(fpr=[0.5, 0.75])")
    BadValueError: roc_auc: corrected between 0.5 and 0.75 of fpr it could be below 0; pass correction=None
two().evaluate("roc_auc(tpr=[0, 0.75])")
    BadValueError: roc_auc: corrected between 0 and 0.75 of tpr it could be below 0; pass correction=None
    but: two().evaluate("roc_auc(fpr=[0.5, 0.75], correction=None)")
many(score=SCORES).evaluate("roc_auc(multi='all')")
    BadValueError: roc_auc: multi='all' is not one of 'ovr', 'ovo'
    but: many(score=SCORES).evaluate("roc_auc(multi='ovo')")
two({"class": [*"aabb"]}, by="class").per_class("recall")
    ColumnError: 'class' is a column of the result as well; rename the frame's column
two({"actual": [*"aabb"]}, by="actual").confusion()
    ColumnError: 'actual' is a column of the result as well; rename the frame's column
two({"threshold": [*"aabb"]}, by="threshold").thresholds()
    ColumnError: 'threshold' is a column of the result as well; rename the frame's column
two({"f1": [*"aabb"]}, by="f1").thresholds("f1")
    ColumnError: a column 'f1' for the metric would be twice in the wide result; rename the frame's column
two({"fpr": [*"aabb"]}, by="fpr").curve("roc")
    ColumnError: 'fpr' is a column of the result as well; rename the frame's column
    but: two({"fpr": [*"aabb"]}, by="fpr").thresholds("f1")
    but: two({"f1": [*"aabb"]}, by="f1").curve("roc")
two({"docs": [9, 9, 9, 9]}, collection_size="docs").evaluate("accuracy")
    ColumnError: collection_size='docs' is a column with the size of each query; name query=
    but: log({"docs": [9, 9, 9, 9]}, predicted=None, collection_size="docs").evaluate("accuracy")
two(predicted=None, threshold=0.5, abstain=[0]).evaluate("precision")
two(predicted=None, match="best").evaluate("roc_auc")
    ColumnError: abstain= and match= are about predicted classes; name predicted=
    but: two(score=None, match="majority").evaluate("accuracy")
two(rel=2).evaluate("precision")
    ColumnError: rel= is a grade, and clicked says already what is relevant
two(ties="best").evaluate("roc_auc")
    ColumnError: ties= is about the documents of a query; name query=
two({"sku": [*"abcd"]}, doc="sku", duplicates="first").evaluate("precision")
    ColumnError: duplicates= is about the documents of a query; name query=
two({"nrel": [2, 2, 2, 2]}, n_relevant="nrel").evaluate("precision")
    ColumnError: n_relevant= is about the documents of a query; name query=
    but: log({"sku": [*"abcd"]}, doc="sku", duplicates="first", ties="best").evaluate("ndcg")
    but: log({"nrel": [2, 2, 2, 2]}, n_relevant="nrel").evaluate("recall")
"""


@pytest.mark.parametrize("kind", ["polars", "unread"])
def test_wrong_calls(kind: str) -> None:
    """What the columns do not say is an error of the call, before anything is read."""
    check(ASKED, made_of(kind), neighbours=kind == "polars")


# What depends on whether there are two classes or several is found when labels are read

READ = r"""
two().evaluate("precision", average="weighted")
    NotComputableError: average='weighted' is over several classes, and the rows of two are pooled here; pass
        average=None, or classes= to average both
two().evaluate("accuracy", "precision", average="macro")
    NotComputableError: average='macro' is over several classes, and the rows of two are pooled here; pass average=None,
        or classes= to average both
two().evaluate("precision", average=["micro", "macro"])
    NotComputableError: average='micro' is over several classes, and the rows of two are pooled here; pass average=None,
        or classes= to average both
two().evaluate("precision", average="median")
    NotComputableError: average='median' is over queries; name query=
two().evaluate("roc_auc", average=["macro", "rows"])
    NotComputableError: average='rows' is over queries; name query=
two().evaluate("precision", average="predicted")
    NotComputableError: average='predicted' is over several classes, and the rows of two are pooled here; pass
        average=None, or classes= to average both
two().evaluate("precision", average="gmean")
many().evaluate("precision", average="gmean")
    NotComputableError: average='gmean' is over queries; name query=
    but: many().evaluate("precision", average=["weighted", "macro", "micro", "predicted"])
two().evaluate("gm_precision")
    NotComputableError: gm_precision is an average over queries; name query=
two().evaluate("precision(judged_only=True)")
    NotComputableError: precision(judged_only=True): rel= and judged_only= are for queries; pass rel= or unjudged= of
        all rows
    but: log().evaluate("gm_map", "precision(judged_only=True)@2")
many(score=SCORES).evaluate("roc_auc", ci=0.9, method="delong")
    NotComputableError: there are 3 classes, and method='delong' is for two; pass method='bootstrap'
many(score=SCORES).evaluate("roc_auc", average="micro")
    NotComputableError: roc_auc has no micro average over classes; it has macro and weighted
    but: two().evaluate("roc_auc", ci=0.9, method="delong")
    but: many(score=SCORES).evaluate("roc_auc", average="weighted")
many().evaluate("balanced_accuracy(sensitivity=0.8)")
    NotComputableError: balanced_accuracy(sensitivity=0.8): of several classes it takes no sensitivity=
many().evaluate("payoff(tp=1)")
    NotComputableError: payoff(tp=1): of several classes it takes no tp=
    but: two().evaluate("balanced_accuracy(sensitivity=0.8)", "payoff(tp=1)")
many().per_class("coverage")
    NotComputableError: coverage has one value for all classes together; use evaluate()
two().per_class("roc_auc")
    NotComputableError: scores of two classes rank one of them; evaluate() has their metrics
    but: many().per_class("recall")
    but: many().evaluate("coverage")
"""


@pytest.mark.parametrize("kind", ["polars", "lazy"])
def test_what_classes_do_not_have(kind: str) -> None:
    """What two classes, or several, do not have is an error, of a plan when it is collected."""
    check(READ, made_of(kind))


# Values of roles


ROLES_ALONE = r"""
of(TWO, classes=VALUE)
    for: "abc", [], ["a", "a"], {"a": 1}, [["a"], ["b"]], ["a", None]
    BadValueError: classes=VALUE is not a list of different classes, as ['a', 'b']
of(TWO, abstain=VALUE)
    for: "other", [["a"]]
    BadValueError: abstain=VALUE is not a list of different classes, as ['a', 'b']
    but: of(TWO, classes=["a", "b"], abstain=["a"])
of(TWO, threshold=VALUE)
    for: NAN, [0.5], True
    BadValueError: threshold=VALUE is not a score, or the name of a column
    but: of(TWO, threshold=0.5)
of(TWO, score=VALUE)
    for: {"a": "p"}, {}, {"a": 1.5, "b": 2.5}
    BadValueError: score=VALUE is not a column for each of several classes
of(TWO, score=["p", 1.5])
    BadValueError: score=['p', 1.5] is not the name of a column, or a list of names, each of a system
of(TWO, predicted=[])
    BadValueError: predicted=[] is not the name of a column, or a list of names, each of a system
    but: of(TWO, score={"a": "p", "b": "q"})
    but: of(TWO, score=["p", "q"], predicted=["p", "q"])
of(TWO, match=VALUE)
    for: "most", True
    UnknownNameError: match=VALUE is not one of 'best', 'majority', 'informedness'[...]
    but: of(TWO, match="majority")
"""


def test_bad_roles() -> None:
    """A role or option with a value that it cannot have is an error when it is named."""
    check(ROLES_ALONE, globals())


def test_numbers_of_numpy_are_numbers() -> None:
    """Limits and thresholds may be numpy's."""
    plain = two().best_threshold("f1", subject_to={"recall": 0.5})
    assert two().best_threshold("f1", subject_to={"recall": np.float64(0.5)}).equals(plain)
    assert two(threshold=np.float64(0.5)).evaluate("f1").equals(two(threshold=0.5).evaluate("f1"))


# An option that would do nothing


NOTHING = r"""
two(collection_size=100).thresholds("accuracy")
two(collection_size=100).curve("roc")
two(collection_size=100).confusion()
    ColumnError: collection_size=100: what is counted here are the rows; pass collection_size=None
many(collection_size=100).evaluate("accuracy")
    NotComputableError: collection_size= is for two classes: documents that are listed nowhere have no class
    but: log(collection_size=100, predicted=None).evaluate("accuracy")
two(positive=1, match="best").evaluate("accuracy")
    ColumnError: positive= is for two classes, match= for several; name one of them
    but: two(positive=1).evaluate("accuracy")
of(TWO, grade="clicked", score="bm25", positive=3).evaluate("roc_auc")
of(LOG, grade="clicked", score="bm25", query="qid", positive=3).evaluate("ndcg")
    ColumnError: positive= is a label, and clicked is a grade; pass rel=, or name label=
of(TWO, grade="clicked", predicted="shown", classes=[0, 1]).evaluate("accuracy")
    ColumnError: classes= is about classes, and clicked is a grade; name label=
of(MANY | {"rating": [0, 1, 2, 0]}, grade="rating", score={0: "p_cat", 1: "p_dog"}).evaluate("roc_auc")
    ColumnError: score={class: column} is about classes, and rating is a grade; name label=
    but: of(TWO, grade="clicked", score="bm25").evaluate("roc_auc")
    but: of(LOG, grade="clicked", score="bm25", query="qid").evaluate("ndcg")
log(classes=[0, 1]).evaluate("precision")
log(classes=[0, 1]).evaluate("ndcg")
log(classes=[0, 1]).curve("roc")
    ColumnError: classes= is about the rows of a segment; pass query=None
    but: log().evaluate("precision", "ndcg")
    but: log().curve("roc")
many(score=SCORES, positive="cat").evaluate("roc_auc")
    ColumnError: positive= is for two classes, score={class: column} for several; name one of them, as score='p_cat'
        for this class against the rest
    but: many(score="p_cat", positive="cat").evaluate("roc_auc")
many(score=SCORES).best_threshold("f1")
    ColumnError: there are several classes, and a threshold separates one from the rest; pass score='p_cat',
        positive='cat'
    but: many(score="p_cat", positive="cat").best_threshold("f1")
two(threshold=0.5).curve("roc")
    ColumnError: threshold=0.5 is one threshold, and every threshold is looked at; pass threshold=None
many(score=SCORES).evaluate("roc_auc(max_fpr=0.5, multi='ovo')")
    NotComputableError: roc_auc(max_fpr=0.5, multi='ovo'): of several classes it takes no max_fpr=
    but: two().curve("roc")
    but: many(score=SCORES).evaluate("roc_auc(multi='ovo')")
"""


def test_an_option_that_would_do_nothing() -> None:
    """An option that would be ignored is an error that names it."""
    check(NOTHING, globals())


def test_the_best_match_says_how_to_install_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scipy the best one-to-one match is an error with the command that installs it; majority does without."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    clusters = pl.DataFrame({"label": ["a", "a", "b"], "predicted": [7, 7, 8]})
    said = error(lambda: IRM(clusters, match="best").evaluate("accuracy"), NotComputableError)
    assert said == "match='best' needs scipy, which is not installed: pip install scipy"
    assert IRM(clusters, match="majority").evaluate("accuracy")["value"].item() == 1


def test_clusters_that_are_called_as_two_classes() -> None:
    """Clusters are matched whatever they are called: 0 and 1 are no decision where match= is said."""
    swapped = two({"clicked": [0, 0, 1, 1], "shown": [1, 1, 0, 0]}, match="best")
    assert swapped.evaluate("accuracy")["value"].to_list() == [1]
    table = swapped.confusion().filter(pl.col("n") > 0)
    assert table.select("predicted", "matched", "actual", "n").rows() == [(0, 1, 1, 2), (1, 0, 0, 2)]


def test_bins_are_counted() -> None:
    """Bins are a whole number; one that is written as a float counts as well."""
    assert two().evaluate("ece(bins=5.0)")["value"].to_list() == two().evaluate("ece(bins=5)")["value"].to_list()
