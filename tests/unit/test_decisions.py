"""Decisions, classes and scores against scikit-learn, scipy and pycm, and by hand."""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
import pycm
import pytest
import scipy.stats
import sklearn.metrics as skl
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve

from frame_metrics import IRM, BadValueError
from helpers import as_kind, as_polars, real
from inside import REGISTRY, FullConfusion, ratio, small_blocks, threads

Array: TypeAlias = NDArray[Any]
Theirs: TypeAlias = Callable[..., float]

nan = np.nan
CLOSE = 1e-12


class Case(NamedTuple):
    """Rows that are measured together: what is true, what is predicted, and how much each row weighs."""

    truth: Array
    said: Array
    weight: Array


def quiet(of: Theirs, *args: Any, **options: Any) -> float:
    """Return a peer's value without its warnings, NaN where it is undefined there."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return float(of(*args, **options))


def rows_of(cases: Sequence[Case], **columns: Any) -> pl.DataFrame:
    """Return cases as one frame; `case` numbers them."""
    parts = [
        pl.DataFrame({"label": one.truth, "predicted": one.said, "w": one.weight}).with_columns(case=pl.lit(i))
        for i, one in enumerate(cases)
    ]
    return pl.concat(parts).with_columns(**columns)


def found(frame: pl.DataFrame, key: str = "case") -> dict[tuple[Any, str], tuple[float | None, int]]:
    """Return value and n_undefined by case and metric."""
    rows = frame.select(key, "metric", "value", "n_undefined").iter_rows()
    return {(case, metric): (value, undefined) for case, metric, value, undefined in rows}


def wrong(mine: dict[Any, tuple[float | None, int]], theirs: dict[Any, tuple[float | None, int]]) -> list[Any]:
    """Return what differs: key, ours, theirs; ten at most."""
    assert mine.keys() == theirs.keys()
    different = []
    for key, (value, undefined) in theirs.items():
        same = mine[key][0] == value if value is None or mine[key][0] is None else abs(mine[key][0] - value) <= CLOSE
        if not same or mine[key][1] != undefined:
            different.append((key, mine[key], (value, undefined)))
    return different[:10]


def of_some(few: int, many: dict[bool, int]) -> pytest.MarkDecorator:
    """One in so many cases, with weights, and where time does not matter without them too, and more cases of both."""
    slow = [(False, few), *many.items()]
    marked = [pytest.param(*one, marks=pytest.mark.slow) for one in slow]
    return pytest.mark.parametrize(("weighted", "every"), [(True, few), *marked])


# A peer takes milliseconds for a value: every eleventh case is always compared, all of them where time does not matter;
# with weights a third, as what is a/0 does not depend on them.
EVERY = pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
EVERY_WEIGHTED = of_some(11, {False: 1, True: 3})
# Of several classes each is a case, and every other table is enough.
EVERY_OTHER_WEIGHTED = of_some(13, {False: 2, True: 5})


# Two classes


def _both(truth: Array) -> bool:
    return len(set(truth.tolist())) == 2


def _mcc(truth: Array, said: Array, sample_weight: Array | None = None) -> float:
    both = _both(truth) and _both(said)
    return skl.matthews_corrcoef(truth, said, sample_weight=sample_weight) if both else nan


KNOWN: dict[Any, Any] = {}


def _once(function: Theirs, truth: Array, said: Array, weight: Array | None, **options: Any) -> Any:
    """Return what a peer gives of a case, computed once: many tests look at the same cases."""
    arrays = (one.tobytes() for one in (truth, said, weight) if one is not None)
    key = (function, *arrays, *options.values())
    if key not in KNOWN:
        KNOWN[key] = function(truth, said, sample_weight=weight, **options)
    return KNOWN[key]


def _cells(i: int, j: int) -> Theirs:
    return lambda t, p, sample_weight=None: _once(skl.confusion_matrix, t, p, sample_weight, labels=(0, 1))[i, j]


def _of_class(place: int, label: int = 1, *, off: bool = False, beta: float = 1.0) -> Theirs:
    """Precision (0), recall (1) or F (2) of a class; off: how much it lacks to 1."""

    def value(truth: Array, said: Array, sample_weight: Array | None = None) -> float:
        options = {"labels": (0, 1), "beta": beta, "zero_division": nan}
        both = _once(skl.precision_recall_fscore_support, truth, said, sample_weight, **options)[place]
        return 1 - float(both[label]) if off else float(both[label])

    return value


def _share(side: str) -> Theirs:
    def mean(truth: Array, said: Array, sample_weight: Array | None = None) -> float:
        return float(np.average(truth if side == "truth" else said, weights=sample_weight))

    return mean


def _of(function: Theirs, *, off: bool = False, **options: Any) -> Theirs:
    """One of scikit-learn's functions with options; off: how much it lacks to 1."""

    def value(truth: Array, said: Array, sample_weight: Array | None = None) -> float:
        raw = function(truth, said, sample_weight=sample_weight, **options)
        return 1 - raw if off else raw

    return value


def _with_both(function: Theirs, **options: Any) -> Theirs:
    """One of scikit-learn's functions that needs both classes in the truth."""
    return lambda t, p, sample_weight=None: function(t, p, sample_weight=sample_weight, **options) if _both(t) else nan


def _jaccard(truth: Array, said: Array, sample_weight: Array | None = None) -> float:
    return skl.jaccard_score(truth, said, sample_weight=sample_weight) if (truth | said).any() else nan


def _ratio(place: int) -> Theirs:
    return lambda t, p, sample_weight=None: _once(
        skl.class_likelihood_ratios, t, p, sample_weight, labels=(0, 1), replace_undefined_by=nan
    )[place]


# scikit-learn's value where it is defined, NaN where it is a/0.
TWO: dict[str, Theirs] = {
    "tn": _cells(0, 0),
    "fp": _cells(0, 1),
    "fn": _cells(1, 0),
    "tp": _cells(1, 1),
    "prevalence": _share("truth"),
    "bias": _share("said"),
    "accuracy": _of(skl.accuracy_score),
    "error_rate": _of(skl.zero_one_loss),
    "precision": _of_class(0),
    "recall": _of_class(1),
    "specificity": _of_class(1, 0),
    "npv": _of_class(0, 0),
    "fallout": _of_class(1, 0, off=True),
    "miss_rate": _of_class(1, off=True),
    "fdr": _of_class(0, off=True),
    "fomr": _of_class(0, 0, off=True),
    "f1": _of_class(2),
    "fbeta(beta=2)": _of_class(2, beta=2),
    "fbeta(beta=0.5)": _of_class(2, beta=0.5),
    "inverse_f1": _of_class(2, 0),
    "inverse_fbeta(beta=2)": _of_class(2, 0, beta=2),
    "jaccard": _jaccard,
    "mcc": _mcc,
    "kappa": _of(skl.cohen_kappa_score),
    "kappa(weights='linear')": _of(skl.cohen_kappa_score, weights="linear"),
    "kappa(weights='quadratic')": _of(skl.cohen_kappa_score, weights="quadratic"),
    "balanced_accuracy": _of(skl.balanced_accuracy_score),
    "informedness": _with_both(skl.balanced_accuracy_score, adjusted=True),
    "payoff": _with_both(skl.balanced_accuracy_score, adjusted=True),
    "lr_positive": _ratio(0),
    "lr_negative": _ratio(1),
}
# What scikit-learn gives for a/0 unasked (zero_division="warn" is 0); what lacks to 1 is 1 there. It gives NaN, and we
# null, for the others.
ZERO = ("precision", "recall", "f1", "fbeta(beta=2)", "fbeta(beta=0.5)", "jaccard", "mcc")
FILLED = dict.fromkeys(ZERO, 0.0) | {"fdr": 1.0, "miss_rate": 1.0}


@cache
def two_classes() -> list[Case]:
    """Every way to decide about up to three rows, and some larger ones, with weights that add up exactly."""
    rng = np.random.default_rng(0)
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    tables = [list(rows) for n in (1, 2, 3) for rows in itertools.combinations_with_replacement(pairs, n)]
    for share in (0, 0.02, 0.5, 0.9, 1):
        for n in (4, 5, 17, 60, 61, 400):
            truth = rng.random(n) < share
            said = rng.random(n) < rng.choice([0, 0.1, 0.5, 0.9, 1])
            tables.append(list(zip(truth.astype(int), said.astype(int), strict=True)))
    return [
        Case(np.array([t for t, _ in rows]), np.array([p for _, p in rows]), rng.integers(1, 40, len(rows)) / 8)
        for rows in tables
    ]


def asked(of: dict[str, Theirs], name: str, truth: Array, other: Array, weight: Array | None) -> float:
    """A peer's value, without its warnings."""
    return quiet(_once, of[name], truth, other, weight)


def expected_two(names: Iterable[str], cases: Sequence[Case], *, weighted: bool) -> Any:
    """scikit-learn's value of every case, and whether it is a/0."""
    out = {}
    for i, one in enumerate(cases):
        for name in names:
            value = asked(TWO, name, one.truth, one.said, one.weight if weighted else None)
            off = math.isnan(value)
            out[i, name] = (FILLED.get(name) if off else value, int(off))
    return out


@EVERY_WEIGHTED
def test_measures_of_a_decision_are_those_of_scikit_learn(weighted: bool, every: int) -> None:
    """Every measure of two classes, defined or not, is scikit-learn's, with and without weights of rows."""
    assert len(two_classes()) == 64
    cases = two_classes()[::every]
    irm = IRM(rows_of(cases), by="case", weight="w" if weighted else None)
    mine = irm.evaluate(*TWO)
    assert set(mine["average"]) == {"pooled", "sum"}
    assert mine["n"].to_list() == [len(one.truth) for one in cases for _ in TWO]
    assert wrong(found(mine), expected_two(TWO, cases, weighted=weighted)) == []


@EVERY_WEIGHTED
def test_a_decision_alone_is_that_in_a_segment(weighted: bool, every: int) -> None:
    """What is computed of rows alone is what is computed of them as one segment of many."""
    cases = two_classes()
    together = found(IRM(rows_of(cases), by="case", weight="w" if weighted else None).evaluate(*TWO))
    for i in range(0, len(cases), 3 * every):
        alone = IRM(rows_of(cases[i : i + 1]), by="case", weight="w" if weighted else None).evaluate(*TWO)
        pooled = IRM(rows_of(cases[i : i + 1]), weight="w" if weighted else None).evaluate(*TWO)
        assert pooled["value"].to_list() == alone["value"].to_list()
        assert wrong(found(alone), {(0, name): together[i, name] for name in TWO}) == []


@pytest.mark.slow
def test_weights_that_do_not_add_up_exactly_leave_the_same_undefined() -> None:
    """Rounding does not make a/0 of something else, nor something else of a/0."""
    rng = np.random.default_rng(1)
    cases = [one._replace(weight=rng.random(len(one.truth)) + 0.1) for one in two_classes()[::3]]
    defined = expected_two(TWO, cases, weighted=False)
    values = expected_two(TWO, cases, weighted=True)
    expected = {key: values[key] if not undefined else (value, 1) for key, (value, undefined) in defined.items()}
    together = found(IRM(rows_of(cases), by="case", weight="w").evaluate(*TWO))
    assert wrong(together, expected) == []
    for i in range(len(cases)):
        alone = found(IRM(rows_of(cases[i : i + 1]), by="case", weight="w").evaluate(*TWO))
        assert wrong(alone, {(0, name): expected[i, name] for name in TWO}) == []


@pytest.mark.parametrize(
    ("label", "predicted", "roles"),
    [
        (pl.col("label") == 1, pl.col("predicted") == 1, {}),
        (pl.col("label").cast(pl.Float64), pl.col("predicted").cast(pl.Int8), {}),
        (pl.col("label") + 7, pl.col("predicted") + 7, {"positive": 8}),
        (
            pl.col("label").replace_strict({0: "no", 1: "yes"}),
            pl.col("predicted").replace_strict({0: "no", 1: "yes"}),
            {"positive": "yes"},
        ),
        (
            pl.col("label").replace_strict({0: "no", 1: "yes"}).cast(pl.Categorical),
            pl.col("predicted").replace_strict({0: "no", 1: "yes"}).cast(pl.Enum(["no", "yes"])),
            {"positive": "yes"},
        ),
    ],
    ids=["bool", "numbers", "other numbers", "text", "categories"],
)
def test_what_is_relevant_may_be_any_value(label: pl.Expr, predicted: pl.Expr, roles: Any) -> None:
    """Two classes are measured alike, whatever they are called."""
    plain = rows_of(two_classes())
    other = plain.with_columns(label=label, predicted=predicted)
    assert found(IRM(other, by="case", **roles).evaluate(*TWO)) == found(IRM(plain, by="case").evaluate(*TWO))


def test_the_other_class_may_be_the_relevant_one() -> None:
    """`positive=0` turns the table around, as scikit-learn's pos_label does."""
    frame = rows_of(two_classes())
    mine = found(IRM(frame, by="case", positive=0).evaluate("precision", "recall", "f1"))
    turned = IRM(frame.with_columns(pl.col("label", "predicted") == 0), by="case")
    assert mine == found(turned.evaluate("precision", "recall", "f1"))
    at, one = next((i, c) for i, c in enumerate(two_classes()) if len(c.truth) == 60 and _both(c.truth))
    assert mine[at, "f1"][0] == pytest.approx(skl.f1_score(one.truth, one.said, pos_label=0), abs=CLOSE)


def test_a_threshold_predicts_scores_that_reach_it() -> None:
    """`threshold=` takes scores of at least that; a row without a score never."""
    cases = two_classes()
    below = pl.when(pl.int_range(pl.len()) % 2 == 0).then(0.49)
    frame = rows_of(cases).with_columns(score=pl.when(pl.col("predicted") == 1).then(0.5).otherwise(below))
    expected = found(IRM(frame, by="case").evaluate(*TWO))
    assert frame["score"].null_count() > 100
    assert found(IRM(frame, by="case", threshold=0.5).evaluate(*TWO)) == expected
    assert found(IRM(frame.drop("predicted"), by="case", threshold=0.5).evaluate(*TWO)) == expected


def test_rows_may_be_those_of_a_larger_collection() -> None:
    """What the frame does not list is neither relevant nor predicted: of 10 documents, 4 of which are listed."""
    frame = pl.DataFrame({"label": [1, 0, 1, 0], "predicted": [1, 1, 0, 0]})
    by_hand = {"tn": 10 - 3, "accuracy": 8 / 10, "specificity": 7 / 8, "npv": 7 / 8, "prevalence": 2 / 10}
    mine = frame.irm(query=None, collection_size=10).evaluate(*by_hand, layout="wide")
    assert mine.select(*by_hand).row(0) == pytest.approx(tuple(by_hand.values()))


def test_no_row_has_no_value() -> None:
    """Of no rows nothing is measured: null, n 0, nothing undefined; a segment without judged rows is kept."""
    empty = rows_of(two_classes()).clear()
    mine = IRM(empty).evaluate("precision", "kappa", "accuracy")
    assert mine.select("value", "n", "n_undefined").rows() == [(None, 0, 0)] * 3
    assert IRM(empty, by="case").evaluate("precision").is_empty()
    rows = pl.DataFrame({"label": [1, None], "predicted": [1, 1], "day": ["a", "b"]})
    kept = IRM(rows, by="day", unjudged="drop").evaluate("precision", "tp").select("day", "value", "n", "n_undefined")
    assert kept.rows() == [("a", 1, 1, 0), ("a", 1, 1, 0), ("b", None, 0, 0), ("b", None, 0, 0)]
    assert IRM(rows, by="day", unjudged="negative").evaluate("precision")["value"].to_list() == [1, 0]


@pytest.mark.parametrize("average", [None, "macro"])
def test_a_segment_without_labelled_rows_keeps_its_rows(kind: str, average: str | None) -> None:
    """In per_class and thresholds it has its rows too: n 0, and null for what is measured."""
    rows = pl.DataFrame({"label": [1, 0, None], "score": [0.9, 0.2, 0.5], "day": ["a", "a", "b"]})
    irm = IRM(as_kind(rows, kind), by="day", unjudged="drop")
    found = as_polars(irm(threshold=0.5).per_class("recall", average=average)).filter(pl.col("day") == "b")
    expected = [(0, None, 0, 0, 0), (1, None, 0, 0, 0)]
    assert (
        found.filter(pl.col("class").is_not_null()).select("class", "value", "support", "n", "n_undefined").rows()
        == expected
    )
    assert len(found) == (2 if average is None else 3)
    wide = as_polars(irm(threshold=0.5).per_class("recall", average=average, layout="wide"))
    assert wide.filter(pl.col("day") == "b")["recall"].to_list() == [None] * len(found)
    found = as_polars(irm.thresholds("f1", "precision")).filter(pl.col("day") == "b")
    assert found.rows() == [("b", math.inf, 0, 0, 0, 0, None, None)]


@EVERY
@pytest.mark.parametrize("option", ["zero", "one", "null"])
def test_undefined_of_a_decision_becomes_what_is_said(option: str, every: int) -> None:
    """`undefined=` is scikit-learn's zero_division for all measures."""
    cases = two_classes()[::every]
    stands = {"zero": 0.0, "one": 1.0, "null": None}[option]
    expected = {
        key: (stands if undefined else value, undefined)
        for key, (value, undefined) in expected_two(TWO, cases, weighted=False).items()
    }
    assert wrong(found(IRM(rows_of(cases), by="case", undefined=option).evaluate(*TWO)), expected) == []


@pytest.mark.parametrize("label", [0, 1])
def test_balanced_accuracy_of_one_class_is_its_recall_however_classes_are_named(label: int) -> None:
    """As numbers, with the relevant one named, with the classes listed, per class, and of scikit-learn."""
    rows = pl.DataFrame({"label": [label] * 4, "predicted": [1, 1, 1, 0]})
    words = rows.select(pl.all().replace_strict({0: "no", 1: "yes"}, return_dtype=pl.String))
    recall = quiet(skl.balanced_accuracy_score, rows["label"].to_list(), rows["predicted"].to_list())
    assert recall == (0.75 if label else 0.25)
    ways = [rows.irm, IRM(rows, classes=[0, 1]), IRM(words, positive="yes"), IRM(words, classes=["no", "yes"])]
    assert [irm.evaluate("balanced_accuracy").select("value", "n_undefined").row(0) for irm in ways] == 4 * [
        (recall, 0)
    ]


def test_the_table_is_that_of_scikit_learn() -> None:
    """confusion() counts every pair of classes, or sums their weights."""
    cases = two_classes()
    for weighted in (False, True):
        mine = IRM(rows_of(cases), by="case", weight="w" if weighted else None).confusion()
        assert mine.columns == ["case", "predicted", "actual", "n"]
        for i in range(0, len(cases), 7):
            one = cases[i]
            weight = one.weight if weighted else None
            theirs = skl.confusion_matrix(one.truth, one.said, labels=[0, 1], sample_weight=weight)
            rows = mine.filter(case=i).select("predicted", "actual", "n").rows()
            assert rows == [(p, t, theirs[t, p]) for p in (0, 1) for t in (0, 1)]


# Several classes


@cache
def several_classes() -> list[Case]:
    """Rows of up to five classes, some of which are never true, never predicted, neither, or the only one."""
    rng = np.random.default_rng(2)
    cases = []
    for sides in [("a", "b"), ("a", "a"), ("ab", "c"), ("abc", "a"), ("e", "abcde"), ("ace", "ace"), ("ae", "abe")]:
        for n in (1, 2, 7):
            cases.append(Case(*(rng.choice(list(side), n) for side in sides), rng.integers(1, 40, n) / 8))
    for n in (5, 30, 100, 300):
        for right in (0, 0.5, 1):
            truth, guess = rng.choice(list("abcde"), n, p=[0.5, 0.3, 0.1, 0.06, 0.04]), rng.choice(list("abcde"), n)
            said = np.where(rng.random(n) < right, truth, guess)
            cases.append(Case(truth, said, rng.integers(1, 40, n) / 8))
    return cases


def labels_of(one: Case) -> list[str]:
    """The classes on either side."""
    return sorted({*one.truth.tolist(), *one.said.tolist()})


# Measures of each class, with the options that make scikit-learn say NaN where they are a/0 (jaccard never is, of a
# class that is there), and measures of the whole table.
PER_CLASS: dict[str, tuple[Theirs, dict[str, Any]]] = {
    "precision": (skl.precision_score, {"zero_division": nan}),
    "recall": (skl.recall_score, {"zero_division": nan}),
    "f1": (skl.f1_score, {"zero_division": nan}),
    "fbeta(beta=2)": (skl.fbeta_score, {"zero_division": nan, "beta": 2}),
    "jaccard": (skl.jaccard_score, {"zero_division": 0}),
}
WHOLE: dict[str, Theirs] = {
    "accuracy": _of(skl.accuracy_score),
    "error_rate": _of(skl.zero_one_loss),
    "balanced_accuracy": _of(skl.balanced_accuracy_score),
    "kappa": _of(skl.cohen_kappa_score),
    "mcc": _of(skl.matthews_corrcoef),
}
WEIGHTS = ("linear", "quadratic")


def by_classes(name: str, one: Case, weight: Array | None, **more: Any) -> Array:
    """scikit-learn's values of the classes, or their average."""
    function, options = PER_CLASS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(function(one.truth, one.said, sample_weight=weight, **{**options, **more}))


@EVERY_OTHER_WEIGHTED
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_averages_over_classes_are_those_of_scikit_learn(average: Any, weighted: bool, every: int) -> None:
    """Averages over the classes that a segment has are scikit-learn's; n_undefined counts the classes with a/0."""
    cases = several_classes()[::every]
    mine = IRM(rows_of(cases), by="case", weight="w" if weighted else None).evaluate(*PER_CLASS, average=average)
    assert set(mine["average"]) == {average}
    assert mine["n"].to_list() == [len(one.truth) for one in cases for _ in PER_CLASS]
    expected = {}
    for (i, one), name in itertools.product(enumerate(cases), PER_CLASS):
        weight = one.weight if weighted else None
        value = by_classes(name, one, weight, average=average, zero_division=0)
        expected[i, name] = float(value), int(np.isnan(by_classes(name, one, weight, average=None)).sum())
    assert wrong(found(mine), expected) == []


def test_an_undefined_micro_average_of_one_row_is_filled() -> None:
    """Nothing is predicted of a segment's only row: its precision, 0/0, is what undefined= says."""
    rows = pl.DataFrame({"part": [1, 2, 2], "label": [*"aab"], "predicted": [None, *"aa"]})
    for undefined, value in (("zero", 0.0), ("one", 1.0), ("null", None)):
        irm = rows.irm(by="part", classes=["a", "b"], undefined=undefined)
        assert irm.evaluate("precision", average="micro")["value"].to_list() == [value, 0.5]


@EVERY_OTHER_WEIGHTED
def test_undefined_classes_leave_the_mean_where_they_are_null(weighted: bool, every: int) -> None:
    """`undefined="null"` takes classes with a/0 out of the mean, as zero_division=nan does."""
    cases = several_classes()[::every]
    irm = IRM(rows_of(cases), by="case", weight="w" if weighted else None, undefined="null")
    mine = irm.evaluate("precision", "recall", "f1")
    expected: Any = {}
    for (i, one), name in itertools.product(enumerate(cases), ("precision", "recall", "f1")):
        each = by_classes(name, one, one.weight if weighted else None, average=None)
        mean = None if np.isnan(each).all() else float(np.nanmean(each))
        expected[i, name] = mean, int(np.isnan(each).sum())
    assert wrong(found(mine), expected) == []


@EVERY_OTHER_WEIGHTED
def test_measures_of_the_whole_table_are_those_of_scikit_learn(weighted: bool, every: int) -> None:
    """Measures of all classes together are scikit-learn's, whatever average over classes is asked for."""
    cases = several_classes()[::every]
    irm = IRM(rows_of(cases), by="case", weight="w" if weighted else None)
    mine = irm.evaluate(*WHOLE)
    assert set(mine["average"]) == {"pooled"}
    expected: Any = {}
    for (i, one), name in itertools.product(enumerate(cases), WHOLE):
        value = quiet(WHOLE[name], one.truth, one.said, sample_weight=one.weight if weighted else None)
        alone = name == "mcc" and min(len(set(one.truth)), len(set(one.said))) == 1
        expected[i, name] = (None, 1) if math.isnan(value) else (value, int(alone))
    assert wrong(found(mine), expected) == []
    assert found(irm.evaluate(*WHOLE, average="weighted")) == found(mine)


def in_their_order(rows: pl.DataFrame) -> pl.DataFrame:
    """The same rows, whose classes have the order of their letters."""
    return rows.with_columns(pl.col("label", "predicted").cast(pl.Enum([*"abcde"])))


@EVERY_OTHER_WEIGHTED
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_weighs_mistakes_as_scikit_learn_does(weights: Any, given: bool, weighted: bool, every: int) -> None:
    """Classes stand in their order, of the segment's own classes, or of all that `classes=` names."""
    cases = several_classes()[::every]
    classes = [*"abcde"] if given else None
    name = f"kappa(weights='{weights}')"
    rows = rows_of(cases) if given else in_their_order(rows_of(cases))
    mine = IRM(rows, by="case", classes=classes, weight="w" if weighted else None).evaluate(name)
    expected: Any = {}
    for i, one in enumerate(cases):
        options = {"weights": weights, "labels": classes, "sample_weight": one.weight if weighted else None}
        value = quiet(skl.cohen_kappa_score, one.truth, one.said, **options)
        expected[i, name] = (None, 1) if math.isnan(value) else (value, 0)
    assert wrong(found(mine), expected) == []


def against_the_rest(cases: Sequence[Case], *, weighted: bool) -> dict[tuple[int, str], tuple[float | None, int]]:
    """Every measure of two classes, of each class against the rest: by case and class, and metric."""
    out: Any = {}
    for i, one in enumerate(cases):
        labels = labels_of(one)
        each = [Case((one.truth == c).astype(int), (one.said == c).astype(int), one.weight) for c in labels]
        values = expected_two(TWO, each, weighted=weighted)
        out |= {((i, labels[at]), name): value for (at, name), value in values.items()}
    return out


@EVERY_OTHER_WEIGHTED
def test_each_class_is_measured_against_the_rest(weighted: bool, every: int) -> None:
    """per_class() gives every class of a segment the measures of its own decision, of scikit-learn."""
    cases = several_classes()[::every]
    mine = IRM(rows_of(cases), by="case", weight="w" if weighted else None).per_class(*TWO)
    assert mine.columns == ["case", "class", "metric", "value", "support", "n", "n_undefined"]
    keyed = mine.with_columns(case=pl.struct("case", "class")).rows()
    values = {((case["case"], case["class"]), name): (value, off) for case, _, name, value, _, _, off in keyed}
    assert wrong(values, against_the_rest(cases, weighted=weighted)) == []
    for i, c, support in mine.select("case", "class", "support").unique().rows():
        one = cases[i]
        assert support == pytest.approx(np.sum((one.truth == c) * (one.weight if weighted else 1)), abs=CLOSE)
    assert mine.select("case", "class").rows() == [
        (i, c) for i, one in enumerate(cases) for c in labels_of(one) for _ in TWO
    ]


@pytest.mark.parametrize("average", ["macro", "weighted", "predicted"])
def test_any_measure_is_averaged_over_the_classes(average: Any) -> None:
    """Other measures are the mean over the classes, each by its share, undefined ones left out."""
    names = ["specificity", "npv", "fallout", "markedness", "g_measure", "lr_positive", "recall", "f1"]
    cases = several_classes()
    irm = IRM(rows_of(cases), by="case")
    each = irm.per_class(*names).drop_nulls("value")
    shares = []
    for i, one in enumerate(cases):
        for c in labels_of(one):
            share = {"macro": 1, "weighted": (one.truth == c).sum(), "predicted": (one.said == c).sum()}[average]
            shares.append((i, c, float(share)))
    share = pl.DataFrame(shares, schema=["case", "class", "share"], orient="row")
    weighed = each.join(share, on=["case", "class"]).group_by("case", "metric")
    mean = weighed.agg(value=(pl.col("value") * pl.col("share")).sum() / pl.col("share").sum())
    expected = {(case, name): value for case, name, value in mean.filter(pl.col("value").is_not_nan()).iter_rows()}
    mine = irm.evaluate(*names, average=average).drop_nulls("value")
    assert len(expected) > 150
    values = {key: value for key, (value, _) in found(mine).items()}
    assert values == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("classes", [None, [*"edcba"], [*"abcdefg"]])
def test_the_table_of_classes_is_that_of_scikit_learn(classes: list[str] | None) -> None:
    """confusion() gives every pair of classes, sorted or in the order of `classes=`, zeros included."""
    cases = several_classes()
    for weighted in (False, True):
        irm = IRM(rows_of(cases), by="case", classes=classes, weight="w" if weighted else None)
        mine = irm.confusion()
        labels = classes or [*"abcde"]
        for i in range(0, len(cases), 5):
            one = cases[i]
            weight = one.weight if weighted else None
            theirs = skl.confusion_matrix(one.truth, one.said, labels=labels, sample_weight=weight)
            pairs = itertools.product(enumerate(labels), enumerate(labels))
            rows = mine.filter(case=i).select("predicted", "actual", "n").rows()
            assert rows == [(said, true, theirs[t, p]) for (p, said), (t, true) in pairs]


@pytest.mark.slow
def test_classes_that_are_named_are_averaged_though_a_segment_lacks_them() -> None:
    """With `classes=` every segment has all of them, as with scikit-learn's labels."""
    cases, labels = several_classes(), [*"abcdefg"]
    irm = IRM(rows_of(cases), by="case", classes=labels)
    for average in ("macro", "micro", "weighted"):
        mine = found(irm.evaluate(*PER_CLASS, average=average))
        for (i, one), name in itertools.product(enumerate(cases), PER_CLASS):
            value = by_classes(name, one, None, average=average, labels=labels, zero_division=0)
            assert mine[i, name][0] == pytest.approx(float(value), abs=CLOSE)
    assert irm.per_class("recall")["class"].to_list() == labels * len(cases)


def test_two_named_classes_are_averaged_as_several() -> None:
    """`classes=` of two values averages over both, as scikit-learn's average="macro" does."""
    one = next(c for c in two_classes() if len(c.truth) == 60 and _both(c.truth) and _both(c.said))
    mine = IRM(rows_of([one]), classes=[0, 1]).evaluate("precision", "f1", "kappa", "mcc", "balanced_accuracy")
    expected = [
        skl.precision_score(one.truth, one.said, average="macro"),
        skl.f1_score(one.truth, one.said, average="macro"),
        skl.cohen_kappa_score(one.truth, one.said),
        skl.matthews_corrcoef(one.truth, one.said),
        skl.balanced_accuracy_score(one.truth, one.said),
    ]
    assert mine["value"].to_list() == pytest.approx(expected, abs=CLOSE)
    assert mine["average"].to_list() == ["macro", "macro", "pooled", "pooled", "pooled"]


@pytest.mark.slow
def test_weights_of_classes_that_do_not_add_up_exactly_leave_the_same_undefined() -> None:
    """Rounding does not make a/0 of something else among several classes either."""
    rng = np.random.default_rng(3)
    cases = [one._replace(weight=rng.random(len(one.truth)) + 0.1) for one in several_classes()[::4]]
    defined = against_the_rest(cases, weighted=False)
    values = against_the_rest(cases, weighted=True)
    expected = {key: values[key] if not off else (value, 1) for key, (value, off) in defined.items()}
    mine = IRM(rows_of(cases), by="case", weight="w").per_class(*TWO)
    keyed = mine.with_columns(case=pl.struct("case", "class")).rows()
    assert wrong({((k["case"], k["class"]), name): (v, off) for k, _, name, v, _, _, off in keyed}, expected) == []


# Scores


class Scored(NamedTuple):
    """Rows with scores, higher for what is more likely relevant."""

    truth: Array
    score: Array
    weight: Array


@cache
def two_scored() -> list[Scored]:
    """Scores of two classes: every order of up to three rows with ties, and larger ones; probabilities all."""
    rng = np.random.default_rng(4)
    cases = []
    for n in (1, 2, 3):
        for truth in itertools.product([0, 1], repeat=n):
            for score in itertools.product([0.25, 0.5, 0.75], repeat=n):
                if list(score) == sorted(score):
                    cases.append((np.array(truth), np.array(score)))
    for share in (0, 0.03, 0.5, 1):
        for n in (5, 40, 300):
            truth = (rng.random(n) < share).astype(int)
            for score in (rng.random(n), rng.integers(0, 5, n) / 4, np.full(n, 0.125), truth * 0.5 + rng.random(n) / 2):
                cases.append((truth, score))
    return [Scored(t, s, rng.integers(1, 40, len(t)) / 8) for t, s in cases]


def scored_rows(cases: Sequence[Scored]) -> pl.DataFrame:
    """Return cases as one frame, their rows in no order; `case` numbers them."""
    parts = [
        pl.DataFrame({"label": one.truth, "score": one.score, "w": one.weight}).with_columns(case=pl.lit(i))
        for i, one in enumerate(cases)
    ]
    return pl.concat(parts).sample(fraction=1, shuffle=True, seed=5)


def _ks(truth: Array, score: Array, sample_weight: Array | None = None) -> float:
    """scipy's statistic; of rows with weights, the greatest distance on scikit-learn's curve."""
    if not _both(truth):
        return nan
    if sample_weight is None:
        return float(scipy.stats.ks_2samp(score[truth == 1], score[truth == 0]).statistic)
    fpr, tpr, _ = skl.roc_curve(truth, score, sample_weight=sample_weight, drop_intermediate=False)
    return float(np.abs(tpr - fpr).max())


def _auc(**options: Any) -> Theirs:
    return _with_both(skl.roc_auc_score, **options)


def _part_of_curve(low: float, high: float, *, over_recall: bool = False, corrected: bool = True) -> Theirs:
    """The trapezoids below scikit-learn's curve between two fallouts, or right of it between two recalls."""

    def area(truth: Array, score: Array, sample_weight: Array | None = None) -> float:
        fpr, tpr, _ = skl.roc_curve(truth, score, sample_weight=sample_weight, drop_intermediate=False)
        x, y = (tpr, 1 - fpr) if over_recall else (fpr, tpr)
        parts = 0.0
        for (x0, y0), (x1, y1) in itertools.pairwise(zip(x, y, strict=True)):
            a, b = max(x0, low), min(x1, high)
            if a < b:
                parts += (b - a) * (y0 + (y1 - y0) * ((a + b) / 2 - x0) / (x1 - x0))
        least = (high**2 - low**2) / 2
        least = high - low - least if over_recall else least
        return (1 + (parts - least) / (high - low - least)) / 2 if corrected else parts

    return _with_both(area)


def _below_straight_lines(truth: Array, score: Array, sample_weight: Array | None = None) -> float:
    """The trapezoids below scikit-learn's curve of precision and recall."""
    if not truth.any():
        return nan
    precision, recall, _ = skl.precision_recall_curve(truth, score, sample_weight=sample_weight)
    return float(skl.auc(recall, precision))


SCORES: dict[str, Theirs] = {
    "roc_auc": _auc(),
    "roc_auc(max_fpr=0.05)": _auc(max_fpr=0.05),
    "roc_auc(max_fpr=0.3)": _auc(max_fpr=0.3),
    "roc_auc(max_fpr=0.5)": _auc(max_fpr=0.5),
    "roc_auc(max_fpr=1)": _auc(max_fpr=1),
    "roc_auc(fpr=[0, 0.3])": _auc(max_fpr=0.3),
    "roc_auc(fpr=[0.1, 0.3])": _part_of_curve(0.1, 0.3),
    "roc_auc(fpr=[0.5, 0.9], correction=None)": _part_of_curve(0.5, 0.9, corrected=False),
    "roc_auc(tpr=[0.8, 1])": _part_of_curve(0.8, 1, over_recall=True),
    "roc_auc(tpr=[0.1, 0.4], correction=None)": _part_of_curve(0.1, 0.4, over_recall=True, corrected=False),
    "gini": lambda t, s, sample_weight=None: 2 * _auc()(t, s, sample_weight=sample_weight) - 1,
    "average_precision": lambda t, s, sample_weight=None: (
        skl.average_precision_score(t, s, sample_weight=sample_weight) if t.any() else nan
    ),
    "average_precision(area='trapezoid')": _below_straight_lines,
    "ks": _ks,
    "brier": _of(skl.brier_score_loss, labels=[0, 1]),
    "log_loss": _of(skl.log_loss, labels=[0, 1]),
}


def expected_scores(cases: Sequence[Scored], *, weighted: bool, names: Iterable[str] = SCORES) -> Any:
    """scikit-learn's value of every case, and whether it is a/0; it gives 0 for the average precision of nothing."""
    out = {}
    for (i, one), name in itertools.product(enumerate(cases), names):
        value = asked(SCORES, name, one.truth, one.score, one.weight if weighted else None)
        off = math.isnan(value)
        out[i, name] = ((0 if name.startswith("average_precision") else None) if off else value, int(off))
    return out


@EVERY_WEIGHTED
def test_measures_of_scores_are_those_of_scikit_learn(weighted: bool, every: int) -> None:
    """Every measure of scores is scikit-learn's or scipy's, ties, one class and all, with and without weights."""
    cases = two_scored()[::every]
    irm = IRM(scored_rows(cases), by="case", weight="w" if weighted else None)
    mine = irm.evaluate(*SCORES)
    assert set(mine["average"]) == {"pooled"}
    assert mine["n"].to_list() == [len(one.truth) for one in cases for _ in SCORES]
    assert wrong(found(mine), expected_scores(cases, weighted=weighted)) == []


@EVERY_WEIGHTED
def test_scores_alone_are_those_in_a_segment(weighted: bool, every: int) -> None:
    """What is computed of scores alone is what is computed of them as one segment of many."""
    cases = two_scored()[::every]
    expected = expected_scores(cases, weighted=weighted)
    for i in range(0, len(cases), 5 if every == 1 else 2):
        mine = IRM(scored_rows(cases[i : i + 1]), weight="w" if weighted else None).evaluate(*SCORES)
        values = {(0, name): (value, off) for name, value, off in mine.select("metric", "value", "n_undefined").rows()}
        assert wrong(values, {(0, name): expected[i, name] for name in SCORES}) == []


@pytest.mark.slow
def test_weights_of_scores_that_do_not_add_up_exactly_leave_the_same_undefined() -> None:
    """Rounding makes no measure of scores defined where there is one class."""
    rng = np.random.default_rng(6)
    cases = [one._replace(weight=rng.random(len(one.truth)) + 0.1) for one in two_scored()[::2]]
    assert (
        wrong(
            found(IRM(scored_rows(cases), by="case", weight="w").evaluate(*SCORES)),
            expected_scores(cases, weighted=True),
        )
        == []
    )


@pytest.mark.slow
def test_only_the_order_of_scores_counts_where_they_are_no_probabilities() -> None:
    """Any scores have an AUC, an average precision and a KS distance; a row without one stands below all others."""
    names = ["roc_auc", "roc_auc(max_fpr=0.3)", "gini", "average_precision", "ks"]
    cases = two_scored()
    frame = scored_rows(cases)
    expected = expected_scores(cases, weighted=False, names=names)
    logits = frame.with_columns(score=(pl.col("score") * 4).exp() - 30)
    assert wrong(found(IRM(logits, by="case").evaluate(*names)), expected) == []
    # In scikit-learn a row without a score is one with the least; to average precision it adds nothing.
    lacking = frame.with_columns(score=pl.when(pl.col("score") > 0.25).then("score"))
    least = [one._replace(score=np.where(one.score > 0.25, one.score, -1)) for one in cases]
    assert lacking["score"].null_count() > 500
    names.remove("average_precision")
    expected = expected_scores(least, weighted=False, names=names)
    assert wrong(found(IRM(lacking, by="case").evaluate(*names)), expected) == []
    mine = IRM(lacking, by="case").evaluate("average_precision")["value"].to_list()
    for i, one in enumerate(cases):
        kept = one.score > 0.25
        share = one.truth[kept].sum() / max(one.truth.sum(), 1)
        whole = skl.average_precision_score(one.truth[kept], one.score[kept]) if share else 0
        assert mine[i] == pytest.approx(share * whole, abs=CLOSE)
    with pytest.raises(BadValueError):
        IRM(lacking, by="case").evaluate("brier")
    with pytest.raises(BadValueError):
        IRM(logits, by="case").evaluate("log_loss")


@EVERY_WEIGHTED
def test_curves_are_those_of_scikit_learn(weighted: bool, every: int) -> None:
    """The points of "roc", "pr" and "calibration", and the tables at all thresholds, are scikit-learn's."""
    cases = [one for one in two_scored() if _both(one.truth)][::every]
    irm = IRM(scored_rows(cases), by="case", weight="w" if weighted else None)
    curves = {kind: irm.curve(kind) for kind in ("roc", "pr", "calibration")}
    tables = irm.thresholds()
    for i, one in enumerate(cases):
        given = {"sample_weight": one.weight if weighted else None}
        fpr, tpr, thresholds = skl.roc_curve(one.truth, one.score, drop_intermediate=False, **given)
        mine = curves["roc"].filter(case=i).select("fpr", "tpr", "threshold").to_numpy()
        assert mine == pytest.approx(np.column_stack([fpr, tpr, thresholds]), abs=CLOSE)
        precision, recall, thresholds = skl.precision_recall_curve(one.truth, one.score, **given)
        points = np.column_stack([precision, recall, np.append(thresholds, np.inf)])[::-1]
        mine = curves["pr"].filter(case=i).select("precision", "recall", "threshold").to_numpy()
        assert mine == pytest.approx(points, abs=CLOSE)
        tn, fp, fn, tp, thresholds = skl.confusion_matrix_at_thresholds(one.truth, one.score, **given)
        mine = tables.filter(case=i).select("tn", "fp", "fn", "tp", "threshold").to_numpy()
        assert mine[1:] == pytest.approx(np.column_stack([tn, fp, fn, tp, thresholds]), abs=CLOSE)
        assert mine[0].tolist() == [tn[0] + fp[0], 0, tp[0] + fn[0], 0, np.inf]
        if not weighted:
            observed, predicted = calibration_curve(one.truth, one.score, n_bins=10)
            mine = curves["calibration"].filter(case=i).select("observed", "predicted").to_numpy()
            assert mine == pytest.approx(np.column_stack([observed, predicted]), abs=CLOSE)


def test_the_area_of_more_rows_than_are_worked_on_at_a_time() -> None:
    """Rows are sorted and counted some ten thousand at a time; equal scores may stand on both sides of such a cut.

    Of 2 H scores, with three rows each, the upper H have two relevant rows and the lower H one. Relevant upper rows are
    above H (H - 1) other upper rows, equal to 2 H, and above 2 H times 2 H lower ones. Relevant lower rows are above
    H (H - 1) other lower rows and equal to 2 H. Equal ones count by half: 6 H^2 of 3 H times 3 H.
    """
    h = 6667
    level = np.repeat(np.arange(2 * h), 3)
    good = np.where(level < h, np.tile([1, 0, 1], 2 * h), np.tile([0, 1, 0], 2 * h))
    rows = pl.DataFrame({"label": good, "score": -level.astype(float)})
    shuffled = rows.sample(fraction=1, shuffle=True, seed=1)
    for frame in (rows, shuffled):
        assert IRM(frame).evaluate("roc_auc")["value"].item() == pytest.approx(2 / 3, abs=1e-12)
    # At each score the relevant rows and the others that reach it.
    found = IRM(shuffled).thresholds().select("tp", "fp").to_numpy()
    upper = np.minimum(np.arange(1, 2 * h + 1), h)
    lower = np.arange(1, 2 * h + 1) - upper
    assert (found[-2 * h :] == np.column_stack([2 * upper + lower, upper + 2 * lower])).all()


# Scores of several classes


@cache
def several_scored() -> list[tuple[Array, Array, Array]]:
    """True classes, probabilities of four classes (some of them equal), and weights; every class has rows."""
    rng = np.random.default_rng(7)
    cases = []
    for n, tied in ((5, True), (8, False), (40, True), (40, False), (300, False)):
        for _ in range(3):
            truth = np.append(np.arange(4), rng.integers(0, 4, n - 4))
            raw = rng.integers(1, 4, (n, 4)) * 1.0 if tied else rng.random((n, 4))
            raw[np.arange(n), truth] += 0.5 * rng.random()
            cases.append((truth, raw / raw.sum(axis=1, keepdims=True), rng.integers(1, 40, n) / 8))
    return cases


NAMES = [*"abcd"]


def several_rows() -> pl.DataFrame:
    """The cases with scores of several classes as one frame, rows in no order."""
    parts = [
        pl.DataFrame(dict(zip(NAMES, score.T, strict=True)))
        .with_columns(case=pl.lit(i), w=pl.Series(weight), label=pl.Series(np.array(NAMES)[truth]))
        .with_columns(predicted=pl.Series(np.array(NAMES)[score.argmax(axis=1)]))
        for i, (truth, score, weight) in enumerate(several_scored())
    ]
    return pl.concat(parts).sample(fraction=1, shuffle=True, seed=8)


def one_by_one(truth: Array, score: Array, weight: Array | None) -> float:
    """The mean over pairs of classes of scikit-learn's area of each against the other."""
    areas = []
    for a, b in itertools.permutations(range(4), 2):
        kept = (truth == a) | (truth == b)
        given = None if weight is None else weight[kept]
        areas.append(skl.roc_auc_score(truth[kept] == a, score[kept, a], sample_weight=given))
    return float(np.mean(areas))


@EVERY_WEIGHTED
def test_measures_of_the_scores_of_classes_are_those_of_scikit_learn(weighted: bool, every: int) -> None:
    """AUC one against the rest and one against one, average precision, Brier score and log loss of several classes."""
    roles: Any = {"score": dict(zip(NAMES, NAMES, strict=True)), "by": "case", "weight": "w" if weighted else None}
    irm = IRM(several_rows(), **roles)
    names = ["roc_auc", "average_precision", "roc_auc(multi='ovo')", "brier", "log_loss"]
    macro, support = found(irm.evaluate(*names)), found(irm.evaluate(*names, average="weighted"))
    hard = found(irm.evaluate("accuracy", "f1", "mcc"))
    for i, (truth, score, weight) in list(enumerate(several_scored()))[::every]:
        given: Any = {"sample_weight": weight if weighted else None}
        ovr = {"multi_class": "ovr", "labels": range(4), **given}
        one_hot = np.eye(4)[truth]
        theirs = {
            "roc_auc": skl.roc_auc_score(truth, score, average="macro", **ovr),
            "average_precision": skl.average_precision_score(one_hot, score, average="macro", **given),
            "roc_auc(multi='ovo')": one_by_one(truth, score, weight if weighted else None),
            "brier": skl.brier_score_loss(truth, score, **given),
            "log_loss": skl.log_loss(truth, score, **given),
        }
        assert {name: macro[i, name] for name in names} == {
            name: (pytest.approx(value, abs=CLOSE), 0) for name, value in theirs.items()
        }
        share = np.bincount(truth, weight if weighted else None)
        each = [skl.average_precision_score(one_hot[:, c], score[:, c], **given) for c in range(4)]
        theirs["average_precision"] = np.average(each, weights=share)
        theirs["roc_auc"] = skl.roc_auc_score(truth, score, average="weighted", **ovr)
        assert {name: support[i, name][0] for name in names} == pytest.approx(theirs, abs=CLOSE)
        if not weighted:
            pairs = skl.roc_auc_score(truth, score, average="macro", multi_class="ovo")
            assert macro[i, "roc_auc(multi='ovo')"][0] == pytest.approx(pairs, abs=CLOSE)
        said = score.argmax(axis=1)
        assert hard[i, "accuracy"][0] == pytest.approx(skl.accuracy_score(truth, said, **given), abs=CLOSE)
        assert hard[i, "f1"][0] == pytest.approx(skl.f1_score(truth, said, average="macro", **given), abs=CLOSE)
        assert hard[i, "mcc"][0] == pytest.approx(skl.matthews_corrcoef(truth, said, **given), abs=CLOSE)


@EVERY
def test_scores_of_each_class_are_those_of_scikit_learn(every: int) -> None:
    """per_class() has each class's scores against the rest."""
    irm = IRM(several_rows(), score=dict(zip(NAMES, NAMES, strict=True)), by="case")
    mine = irm.per_class("roc_auc", "average_precision", "brier", "ks")
    assert len(mine) == 4 * 4 * len(several_scored())
    values = {(case, c, name): value for case, c, name, value in mine.select("case", "class", "metric", "value").rows()}
    some = list(enumerate(several_scored()))[::every]
    for (i, (truth, score, _)), (c, name) in itertools.product(some, enumerate(NAMES)):
        yes, own = (truth == c).astype(int), score[:, c]
        for metric in ("roc_auc", "average_precision", "brier", "ks"):
            assert values[i, name, metric] == pytest.approx(quiet(SCORES[metric], yes, own), abs=CLOSE)


def test_a_class_that_is_never_true_has_no_auc_and_leaves_the_mean() -> None:
    """A class without rows is no class of the segment; of one class alone nothing can be ranked."""
    frame = pl.DataFrame({"label": ["a", "a", "b"], "x": [0.7, 0.2, 0.1], "y": [0.2, 0.3, 0.7], "z": [0.1, 0.5, 0.2]})
    irm = IRM(frame, score={"a": "x", "b": "y", "c": "z"})
    expected = (skl.roc_auc_score([1, 1, 0], frame["x"]) + skl.roc_auc_score([0, 0, 1], frame["y"])) / 2
    mine = irm.evaluate("roc_auc", "roc_auc(multi='ovo')", "average_precision")
    assert mine["value"].to_list() == pytest.approx([expected, expected, 1.0])
    assert mine["n_undefined"].to_list() == [0, 0, 0]
    all_three = irm(classes=["a", "b", "c"]).evaluate("roc_auc", "average_precision")
    assert all_three.select("value", "n_undefined").rows() == [(pytest.approx(expected), 1), (pytest.approx(2 / 3), 1)]
    alone = IRM(frame.head(2), score={"a": "x", "b": "y", "c": "z"}).evaluate("roc_auc", "roc_auc(multi='ovo')")
    assert alone.select("value", "n_undefined").rows() == [(None, 1), (None, 1)]


def test_the_column_of_a_class_is_not_found_by_name() -> None:
    """A column that is named for the scores of a class plays no other part, whatever it is called."""
    frame = pl.DataFrame({"label": ["a", "b", "c"], "a": [0.7, 0.2, 0.1], "b": [0.2, 0.3, 0.1], "c": [0.1, 0.5, 0.8]})
    expected = IRM(frame, score={"a": "a", "b": "b", "c": "c"}).evaluate("roc_auc")
    for name in ("predicted", "grade"):
        found = IRM(frame.rename({"c": name}), score={"a": "a", "b": "b", "c": name}).evaluate("roc_auc")
        assert found.equals(expected)


def test_long_segments_are_ready_in_one_thread_too() -> None:
    """The scores of a long segment are packed in parts, which wait for no thread where segments are side by side."""
    random = np.random.default_rng(0)
    rows = pl.DataFrame({"segment": np.repeat([0, 1], 40_000), "label": random.integers(0, 2, 80_000)})
    irm = rows.with_columns(score=pl.Series(random.integers(0, 60_000, 80_000))).irm(by="segment")
    with small_blocks(1000), threads(1):
        several = irm.evaluate("roc_auc")
    alone = [irm.frame.filter(segment=i).irm(by="segment").evaluate("roc_auc") for i in (0, 1)]
    assert several.equals(pl.concat(alone))


def test_the_last_class_may_be_absent_from_the_last_segment() -> None:
    """A class weighs nothing in a segment that has no row of it, the last class of the last segment too.

    In the first segment the scores are right. In the second those of a have its rows in places 1 and 3, an average
    precision of (1 + 2/3) / 2, and those of b have its row in place 2, 1/2; a has two rows and b one.
    """
    rows = pl.DataFrame(
        {
            "day": ["mo"] * 3 + ["tu"] * 3,
            "label": ["a", "b", "c", "a", "b", "a"],
            "a": [0.8, 0.1, 0.1, 0.75, 0.5, 0.25],
            "b": [0.1, 0.8, 0.1, 0.25, 0.5, 0.75],
            "c": [0.1, 0.1, 0.8, 0.0, 0.0, 0.0],
        }
    )
    irm = IRM(rows, label="label", score={"a": "a", "b": "b", "c": "c"}, by="day")
    found = irm.evaluate("average_precision", average="weighted")["value"].to_list()
    assert found == pytest.approx([1, (2 * 5 / 6 + 1 / 2) / 3], abs=CLOSE)


# pycm, which says "None" where a measure is a/0


OF_CLASS = {
    "TP": "tp",
    "FP": "fp",
    "FN": "fn",
    "TN": "tn",
    "TPR": "recall",
    "TNR": "specificity",
    "PPV": "precision",
    "NPV": "npv",
    "FNR": "miss_rate",
    "FPR": "fallout",
    "FDR": "fdr",
    "FOR": "fomr",
    "ACC": "accuracy",
    "ERR": "error_rate",
    "F1": "f1",
    "F0.5": "fbeta(beta=0.5)",
    "F2": "fbeta(beta=2)",
    "MCC": "mcc",
    "BM": "informedness",
    "MK": "markedness",
    "PLR": "lr_positive",
    "NLR": "lr_negative",
    "DOR": "odds_ratio",
    "G": "g_measure",
    "J": "jaccard",
    "PRE": "prevalence",
    "TOPR": "bias",
    "AUC": "balanced_accuracy",
    "dInd": "corner_distance",
    "GI": "payoff",
}
OVERALL = {
    "Overall ACC": "accuracy",
    "Kappa": "kappa",
    "Overall MCC": "mcc",
    "Hamming Loss": "error_rate",
    "Mutual Information": "mutual_information",
}
MACRO = {
    "TPR Macro": "recall",
    "TNR Macro": "specificity",
    "PPV Macro": "precision",
    "NPV Macro": "npv",
    "FPR Macro": "fallout",
    "FNR Macro": "miss_rate",
    "F1 Macro": "f1",
}
MICRO = {name.replace("Macro", "Micro"): ours for name, ours in MACRO.items()}


def by_pycm(one: Case) -> Any:
    """The peer's table of a case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pycm.ConfusionMatrix(one.truth.tolist(), one.said.tolist())


def said_by_pycm(value: Any) -> tuple[float | None, int]:
    """The peer's value, and whether it is a/0."""
    return (None, 1) if value == "None" else (float(value), 0)


@cache
def of_several_classes() -> list[Case]:
    """The cases with two classes or more, which is what pycm takes."""
    return [one for one in several_classes() if len(labels_of(one)) > 1]


def test_measures_of_each_class_are_those_of_pycm() -> None:
    """Every measure of a class against the rest is pycm's, and undefined where pycm has none."""
    cases = of_several_classes()
    mine = IRM(rows_of(cases), by="case", undefined="null").per_class(*OF_CLASS.values())
    values = {(case, c, name): (value, off) for case, c, name, value, _, _, off in mine.iter_rows()}
    theirs = {}
    for i, one in enumerate(cases):
        table = by_pycm(one).class_stat
        for (name, ours), c in itertools.product(OF_CLASS.items(), labels_of(one)):
            value, off = said_by_pycm(table[name][c])
            # pycm's odds ratio is PLR / NLR, which is a/0 where tn = 0; ours is (tp tn) / (fp fn), which is 0 there.
            none_right = name == "DOR" and table["TN"][c] == 0 and table["FP"][c] * table["FN"][c] > 0
            # Its balanced accuracy of one class is undefined; ours, as scikit-learn's, is the recall of that class.
            alone = name == "AUC" and off and said_by_pycm(table["TNR" if table["P"][c] == 0 else "TPR"][c])
            theirs[i, c, ours] = (0.0, 0) if none_right else alone or (value, off)
    assert wrong(values, theirs) == []


def test_measures_of_all_classes_are_those_of_pycm() -> None:
    """Accuracy, kappa, MCC and mutual information are pycm's, the conditional entropy that of its turned table."""
    cases = of_several_classes()
    mine = found(IRM(rows_of(cases), by="case").evaluate(*OVERALL.values(), "conditional_entropy", "perplexity"))
    for i, one in enumerate(cases):
        table = by_pycm(one).overall_stat
        for name, ours in OVERALL.items():
            value, off = said_by_pycm(table[name])
            assert mine[i, ours][1] == off, (i, ours)
            assert mine[i, ours][0] == pytest.approx(0 if off and ours == "mcc" else value, abs=CLOSE), (i, ours)
        turned = by_pycm(one._replace(truth=one.said, said=one.truth)).overall_stat
        assert mine[i, "conditional_entropy"] == (pytest.approx(turned["Conditional Entropy"], abs=CLOSE), 0)
        assert mine[i, "perplexity"] == (pytest.approx(2 ** turned["Conditional Entropy"], abs=1e-11), 0)


def test_averages_over_classes_are_those_of_pycm() -> None:
    """Macro and micro averages are pycm's, where every class has a value."""
    cases = of_several_classes()
    irm = IRM(rows_of(cases), by="case")
    theirs = [by_pycm(one).overall_stat for one in cases]
    compared = 0
    for average, names in (("macro", MACRO), ("micro", MICRO)):
        mine = found(irm.evaluate(*names.values(), average=average))
        for (i, stat), (name, ours) in itertools.product(enumerate(theirs), names.items()):
            value, off = said_by_pycm(stat[name])
            if not off:
                compared += 1
                assert mine[i, ours][0] == pytest.approx(value, abs=CLOSE), (i, name)
    assert compared > 300


def test_averages_by_share_are_those_of_pycm() -> None:
    """The weighted average is pycm's weighted_average, and its weighted kappa ours."""
    cases = [one for one in several_classes() if len(set(one.truth)) == len(set(one.said)) == 5]
    irm = IRM(in_their_order(rows_of(cases)), by="case")
    mine = found(irm.evaluate("precision", "specificity", "f1", average="weighted"))
    kappas = found(irm.evaluate("kappa(weights='linear')", "kappa(weights='quadratic')"))
    assert len(cases) >= 6
    for i, one in enumerate(cases):
        table = by_pycm(one)
        for theirs, ours in (("PPV", "precision"), ("TNR", "specificity"), ("F1", "f1")):
            assert mine[i, ours][0] == pytest.approx(table.weighted_average(theirs), abs=CLOSE)
        for name, power in (("linear", 1), ("quadratic", 2)):
            weights = {a: {b: abs(ord(a) - ord(b)) ** power for b in "abcde"} for a in "abcde"}
            assert kappas[i, f"kappa(weights='{name}')"][0] == pytest.approx(table.weighted_kappa(weights), abs=CLOSE)


# Per query, by segment, and pooled


def logged(every: int = 1) -> pl.DataFrame:
    """Rows of queries of two days with decisions, scores and labels; each query has its weight."""
    cases = [one for one in two_classes() if len(one.truth) > 3][::every]
    rng = np.random.default_rng(9)
    rows = rows_of(cases).rename({"case": "query"})
    score = rng.integers(0, 9, len(rows)) / 8
    rows = rows.with_columns(
        score=pl.Series(score), day=pl.when(pl.col("query") % 3 == 0).then(pl.lit("b")).otherwise(pl.lit("a"))
    )
    return rows.with_columns(traffic=pl.col("query") % 4 / 2)


def case_of(rows: pl.DataFrame, said: str = "predicted") -> Case:
    """Rows of a frame as a case."""
    return Case(*(rows[name].to_numpy() for name in ("label", said, "w")))


@EVERY
@pytest.mark.parametrize("way", [{"predicted": "predicted"}, {"threshold": 0.5}], ids=["predicted", "threshold"])
def test_a_decision_of_each_query_is_measured_as_by_scikit_learn(way: dict[str, Any], every: int) -> None:
    """With a query, measures of predicted rows are those of scikit-learn on each query's rows, macro over queries."""
    log = logged(every).with_columns(taken=(pl.col("score") >= 0.5).cast(pl.Int64))
    by_query = log.partition_by("query", maintain_order=True)
    cases = [case_of(rows, "predicted" if "predicted" in way else "taken") for rows in by_query]
    theirs = expected_two(TWO, cases, weighted=False)
    irm = IRM(log, query="query", score="score", **way)
    each = irm.per_query(*TWO)
    values = {(query, name): (value, 0) for query, name, value in each.select("query", "metric", "value").iter_rows()}
    names = [rows["query"][0] for rows in by_query]
    assert wrong(values, {(names[i], name): (value, 0) for (i, name), (value, _) in theirs.items()}) == []
    mean = {name: [value for (_, own), (value, _) in theirs.items() if own == name] for name in TWO}
    macro = irm.evaluate(*TWO)
    for name, value, average, n in macro.select("metric", "value", "average", "n").iter_rows():
        kept = [v for v in mean[name] if v is not None]
        total = name in ("tp", "fp", "fn", "tn")
        assert average == ("sum" if total else "macro")
        assert n == len(kept)
        assert value == pytest.approx(sum(kept) if total else np.mean(kept), abs=1e-11)
    assert macro["n_undefined"].to_list() == [
        sum(off for (_, own), (_, off) in theirs.items() if own == n) for n in TWO
    ]


@pytest.mark.parametrize("way", [{"predicted": "predicted"}, {"threshold": 0.5}], ids=["predicted", "threshold"])
def test_the_micro_average_over_queries_is_scikit_learn_on_all_rows(way: dict[str, Any]) -> None:
    """Summed counts of the queries are the counts of all rows; so are rows that are pooled without a query."""
    log = logged().with_columns(taken=(pl.col("score") >= 0.5).cast(pl.Int64))
    whole = case_of(log, "predicted" if "predicted" in way else "taken")
    theirs = {name: value for (_, name), value in expected_two(TWO, [whole], weighted=False).items()}
    averages: list[tuple[Any, str | None]] = [("micro", "query"), (None, None)]
    for average, role in averages:
        mine = IRM(log, query=role, score="score", **way).evaluate(*TWO, average=average)
        assert {name: (pytest.approx(v, abs=CLOSE), off) for name, (v, off) in theirs.items()} == {
            name: (value, off if role is None else theirs[name][1])
            for name, value, off in mine.select("metric", "value", "n_undefined").iter_rows()
        }


def test_queries_weigh_as_they_are_said_to() -> None:
    """Naming a query's `weight` weighs the queries' values in the mean."""
    log = logged()
    names = ["precision", "kappa", "specificity"]
    irm = IRM(log, query="query", predicted="predicted", weight="traffic")
    mine = irm.evaluate(*names)
    assert mine["average"].to_list() == ["weighted"] * 3
    each = irm.per_query(*names).join(log.select("query", "traffic").unique(), on="query").drop_nulls("value")
    for name, value in mine.select("metric", "value").iter_rows():
        rows = each.filter(metric=name)
        assert value == pytest.approx(np.average(rows["value"], weights=rows["traffic"]), abs=CLOSE)


@EVERY
def test_scores_of_each_query_are_measured_as_by_scikit_learn(every: int) -> None:
    """With a query, measures of scores are those of scikit-learn on each query's rows, macro over queries."""
    log = logged(every)
    irm = IRM(log, query="query", score="score")
    by_query = log.partition_by("query", maintain_order=True)
    cases = [Scored(rows["label"].to_numpy(), rows["score"].to_numpy(), rows["w"].to_numpy()) for rows in by_query]
    names = [rows["query"][0] for rows in by_query]
    theirs = {(names[i], name): value for (i, name), value in expected_scores(cases, weighted=False).items()}
    each = irm.per_query(*SCORES).select("query", "metric", "value").rows()
    values = {(query, name): (value, 0) for query, name, value in each}
    assert wrong(values, {key: (value, 0) for key, (value, _) in theirs.items()}) == []
    for name, value, n in irm.evaluate(*SCORES).select("metric", "value", "n").iter_rows():
        kept = [v for (_, own), (v, _) in theirs.items() if own == name and v is not None]
        assert (value, n) == (pytest.approx(np.mean(kept), abs=CLOSE), len(kept))


def test_scores_are_those_of_the_score_where_ranks_say_another_order() -> None:
    """The rank orders the results; what a score is worth is looked at in the order of the scores."""
    rows = pl.DataFrame(
        {
            "query": ["a", "a", "a", "b", "b", "b"],
            "rank": [1, 2, 3, 1, 2, 3],
            "score": [0.1, 0.9, 0.5, 0.2, 0.3, 0.3],
            "label": [0, 1, 0, 1, 0, 1],
        }
    )
    found = (
        IRM(rows, query="query", rank="rank", score="score").per_query("roc_auc", "rr", layout="wide").drop("answered")
    )
    # b: of two pairs one is in the wrong order, and one is equal.
    assert found.rows() == [("a", 1.0, 0.5), ("b", 0.25, 1.0)]


def test_a_score_at_the_threshold_is_a_yes_in_every_query() -> None:
    """A row of a query whose score is the threshold is predicted relevant, in every verb."""
    rows = pl.DataFrame({"query": ["a", "a", "b", "b"], "score": [2.0, 1.0, 1.0, 0.5], "label": [0, 1, 0, 1]})
    irm = IRM(rows, query="query", score="score", threshold=1)
    assert irm.confusion().rows() == [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 1)]
    assert irm.per_query("tp", "fp", "fn", layout="wide").drop("answered").rows() == [("a", 1, 1, 0), ("b", 0, 1, 1)]


def test_margins_pool_the_rows_of_all_segments() -> None:
    """The total of pooled rows is scikit-learn's on all of them, weighted or not, and a column's margin on its own."""
    log = logged().with_columns(half=pl.col("query") % 2)
    names = ["precision", "kappa", "roc_auc", "average_precision", "brier"]
    for weight in (None, "w"):
        irm = IRM(log, query=None, predicted="predicted", score="score", by=["day", "half"], weight=weight)
        mine = irm.evaluate(*names, margins=True)
        assert mine["total_over"].count() == (2 + 2 + 1) * len(names)
        for day, half in {*log.select("day", "half").iter_rows(), ("a", None), (None, 1), (None, None)}:
            kept = {name: value for name, value in (("day", day), ("half", half)) if value is not None}
            rows = log.filter(**kept) if kept else log
            one = case_of(rows)
            scored = Scored(one.truth, rows["score"].to_numpy(), one.weight)
            expected = expected_two(names[:2], [one], weighted=weight is not None)
            expected |= expected_scores([scored], weighted=weight is not None, names=names[2:])
            here = mine.filter(pl.col("day").eq_missing(day), pl.col("half").eq_missing(pl.lit(half)))
            assert here["value"].to_list() == pytest.approx([expected[0, name][0] for name in names], abs=CLOSE)
            assert here["n"].to_list() == [len(rows)] * len(names)
            over = ", ".join(name for name, value in (("day", day), ("half", half)) if value is None)
            assert here["total_over"].to_list() == [over or None] * len(names)


def test_margins_of_classes_pool_the_rows_of_all_segments() -> None:
    """The total over segments of several classes is that of all rows put together."""
    cases = several_classes()
    whole = Case(*(np.concatenate(side) for side in zip(*cases, strict=True)))
    mine = IRM(rows_of(cases), by="case", weight="w").evaluate("precision", "f1", "kappa", "mcc", margins=True)
    given: Any = {"sample_weight": whole.weight}
    expected = [
        skl.precision_score(whole.truth, whole.said, average="macro", **given),
        skl.f1_score(whole.truth, whole.said, average="macro", **given),
        skl.cohen_kappa_score(whole.truth, whole.said, **given),
        skl.matthews_corrcoef(whole.truth, whole.said, **given),
    ]
    assert mine.filter(total_over="case")["value"].to_list() == pytest.approx(expected, abs=CLOSE)


def test_systems_are_measured_each_on_its_own_rows() -> None:
    """A system and a segment make one table."""
    log = logged().with_columns(model=pl.col("query") % 5)
    mine = IRM(log, query=None, predicted="predicted", system="model", by="day").evaluate("mcc")
    for model, day, value in mine.select("model", "day", "value").iter_rows():
        one = case_of(log.filter(model=model, day=day))
        assert value == pytest.approx(skl.matthews_corrcoef(one.truth, one.said), abs=CLOSE)
    assert len(mine) == 10


# Four classes in ten folds


def folds(source: str) -> pl.DataFrame:
    """Predictions of four classes in ten folds: drawn, or of a real model."""
    if source != "drawn":
        return pl.read_csv(real("yardstick", source))
    rng = np.random.default_rng(11)
    classes = np.array(["F", "L", "M", "VF"])
    scores = rng.dirichlet(np.ones(4), 400)
    truth = classes[[rng.choice(4, p=row) for row in scores]]
    columns = {name: scores[:, i] for i, name in enumerate(classes)}
    fold = [f"Fold{i % 10:02}" for i in range(400)]
    return pl.DataFrame({"obs": truth, "pred": classes[scores.argmax(axis=1)], **columns, "Resample": fold})


FOLDS = pytest.mark.parametrize("source", ["drawn", "hpc_cv.csv"])


@pytest.mark.slow
@FOLDS
def test_real_classes_by_fold_are_those_of_scikit_learn(source: str) -> None:
    """Averages over four classes, kappa, MCC and the area of Hand and Till are scikit-learn's in every fold."""
    data, classes = folds(source), ["VF", "F", "M", "L"]
    roles: Any = {"label": "obs", "predicted": "pred", "by": "Resample"}
    irm = IRM(data, **roles, score={c: c for c in classes})
    parts = data.partition_by("Resample", as_dict=True)
    assert len(parts) == 10
    for average in ("macro", "micro", "weighted"):
        mine = irm.evaluate("precision", "recall", "f1", average=average)
        for (fold,), rows in parts.items():
            theirs = skl.precision_recall_fscore_support(rows["obs"], rows["pred"], average=average, zero_division=0)
            assert mine.filter(Resample=fold)["value"].to_list() == pytest.approx(theirs[:3], abs=CLOSE)
    mine = irm.evaluate("kappa", "mcc", "roc_auc(multi='ovo')", "roc_auc", "log_loss", "brier")
    labels = sorted(classes)
    for (fold,), rows in parts.items():
        truth, said, scores = rows["obs"].to_list(), rows["pred"].to_list(), rows.select(labels).to_numpy()
        expected = [
            skl.cohen_kappa_score(truth, said),
            skl.matthews_corrcoef(truth, said),
            skl.roc_auc_score(truth, scores, multi_class="ovo", labels=labels),
            skl.roc_auc_score(truth, scores, multi_class="ovr", labels=labels),
            skl.log_loss(truth, scores, labels=labels),
            skl.brier_score_loss(truth, scores, labels=labels),
        ]
        assert mine.filter(Resample=fold)["value"].to_list() == pytest.approx(expected, abs=CLOSE)


@FOLDS
def test_real_classes_in_their_order_weigh_mistakes(source: str) -> None:
    """`classes=` orders the classes from very fast to long for a weighted kappa."""
    data, classes = folds(source), ["VF", "F", "M", "L"]
    mine = IRM(data, label="obs", predicted="pred", by="Resample", classes=classes).evaluate(
        "kappa(weights='linear')", "kappa(weights='quadratic')"
    )
    for (fold,), rows in data.partition_by("Resample", as_dict=True).items():
        expected = [skl.cohen_kappa_score(rows["obs"], rows["pred"], labels=classes, weights=w) for w in WEIGHTS]
        assert mine.filter(Resample=fold)["value"].to_list() == pytest.approx(expected, abs=CLOSE)


# Definitions in plain Python


def points_of(one: Scored) -> list[tuple[float, float]]:
    """Precision and recall at every score."""
    out = []
    for score in sorted(set(one.score.tolist()), reverse=True):
        hit = float(one.weight[(one.score >= score) & (one.truth == 1)].sum())
        every = float(one.weight[one.score >= score].sum())
        out.append((hit / every, hit / float(one.weight[one.truth == 1].sum())))
    return out


@cache
def points() -> list[list[tuple[float, float]]]:
    """Precision and recall at every score of each case in which a row is relevant."""
    return [points_of(one) if one.truth.any() else [] for one in two_scored()]


@pytest.mark.parametrize("least", [0, 0.1, 0.5, 0.9, 1])
def test_precision_and_recall_that_a_threshold_can_reach(least: float) -> None:
    """max_precision and max_recall look at every score, and are 0 and undefined where no row is relevant."""
    cases = two_scored()
    irm = IRM(scored_rows(cases), by="case", weight="w")
    names = [f"max_precision(min_recall={least})", f"max_recall(min_precision={least})"]
    mine = found(irm.evaluate(*names))
    for i, reached_at in enumerate(points()):
        if not reached_at:
            assert [mine[i, name] for name in names] == [(0, 1), (0, 1)]
            continue
        precise = max(p for p, r in reached_at if r >= least - 1e-9)
        reached = max((r for p, r in reached_at if p >= least - 1e-9), default=0)
        assert [mine[i, name] for name in names] == [(pytest.approx(precise), 0), (pytest.approx(reached), 0)]


def calibration_error(right: Sequence[float], sure: Sequence[float], weight: Sequence[float], bins: int) -> float:
    """Expected calibration error; a probability on an edge is in the lower bin."""
    sums: dict[int, list[float]] = {}
    for hit, p, w in zip(right, sure, weight, strict=True):
        place = next(b for b in range(bins) if p <= (b + 1) / bins or b == bins - 1)
        one = sums.setdefault(place, [0.0, 0.0])
        one[0] += w * p
        one[1] += w * hit
    return sum(abs(p - hit) for p, hit in sums.values()) / sum(weight)


@pytest.mark.parametrize("bins", [1, 4, 10])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_calibration_error_is_what_it_is_defined_as(weighted: bool, bins: int) -> None:
    """ece is the mean over bins of the distance of the mean probability to the share that came true."""
    cases = two_scored()
    name = f"ece(bins={bins})"
    mine = found(IRM(scored_rows(cases), by="case", weight="w" if weighted else None).evaluate(name))
    for i, one in enumerate(cases):
        weight = one.weight if weighted else np.ones(len(one.truth))
        expected = calibration_error(one.truth.tolist(), one.score.tolist(), weight.tolist(), bins)
        assert mine[i, name] == (pytest.approx(expected, abs=CLOSE), 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_calibration_error_of_classes_is_that_of_the_greatest(weighted: bool) -> None:
    """Of several classes ece looks at the most probable one, and at whether it is true."""
    roles: Any = {"score": dict(zip(NAMES, NAMES, strict=True)), "by": "case", "weight": "w" if weighted else None}
    mine = found(IRM(several_rows(), **roles).evaluate("ece"))
    compared = 0
    for i, (truth, score, weight) in enumerate(several_scored()):
        top = score.max(axis=1)
        if ((score == top[:, None]).sum(axis=1) > 1).any():
            continue  # which of several greatest is meant is nobody's definition
        compared += 1
        right = (score.argmax(axis=1) == truth).astype(float).tolist()
        given = weight.tolist() if weighted else [1.0] * len(truth)
        assert mine[i, "ece"] == (pytest.approx(calibration_error(right, top.tolist(), given, 10), abs=CLOSE), 0)
    assert compared >= 6


# Wide


@pytest.mark.parametrize("counts", [["tp"], ["tp", "fp"]], ids=["a count", "counts"])
@pytest.mark.parametrize(
    ("frame", "roles", "measure", "average", "said"),
    [
        ("two", {}, "precision", None, "pooled"),
        ("two", {"by": "day"}, "roc_auc", None, "pooled"),
        ("many", {}, "accuracy", None, "pooled"),
        ("many", {}, "precision", None, "macro"),
        ("many", {}, "precision", "micro", "micro"),
    ],
)
def test_a_wide_row_says_the_average_where_it_is_the_same_for_all(
    frame: str, roles: dict[str, Any], measure: str, average: Any, said: str, counts: list[str]
) -> None:
    """Counts are sums, so that beside other measures there is no one average, in whatever order."""
    two = pl.DataFrame({"label": [1, 0, 1], "predicted": [1, 1, 0], "score": [0.5, 0.25, 0.125], "day": [*"aab"]})
    many = pl.DataFrame({"label": [*"abcb"], "predicted": [*"abca"]})
    irm = IRM({"two": two, "many": many}[frame], predicted="predicted", **roles)
    for asked in itertools.permutations([measure, *counts]):
        mine = irm.evaluate(*asked, layout="wide", average=average)
        assert mine.columns == [*roles.values(), "n", *(f"{one}{end}" for one in asked for end in ("", "_undefined"))]
        long = irm.evaluate(*asked, average=average)
        assert dict(long.select("metric", "average").rows()) == {measure: said, **dict.fromkeys(counts, "sum")}
    for asked, one in ((counts, "sum"), ([measure], said)):
        assert set(irm.evaluate(*asked, layout="wide", average=average)["average"]) == {one}


def test_counts_of_classes_are_averaged_where_that_is_asked_for() -> None:
    """`average="macro"` is the mean over the classes of a count too; by default, and as micro, it is their sum."""
    irm = IRM(pl.DataFrame({"label": [*"abcb"], "predicted": [*"abca"]}))
    averages: list[tuple[Any, str, float]] = [
        *((None, "sum", 3), ("micro", "sum", 3), ("macro", "macro", 1)),
        *(("weighted", "weighted", 1), ("predicted", "predicted", 1)),
    ]
    for average, said, value in averages:
        assert irm.evaluate("tp", average=average).select("average", "value").rows() == [(said, value)]
        wide = irm.evaluate("tp", "precision", average=average, layout="wide")
        assert ("average" in wide.columns) == (said != "sum")


@pytest.mark.parametrize(
    ("label", "roles", "same"),
    [
        ([1, 0, 1], {}, False),
        ([True, False, True], {}, False),
        ([1, 0, 1], {"positive": 1}, True),
        ([1, 0, 1], {"classes": [0, 1]}, False),
        ([*"abc"], {"match": "best"}, False),
    ],
)
def test_whether_a_wide_row_says_the_average_does_not_depend_on_the_data(
    label: list[Any], roles: dict[str, Any], same: bool
) -> None:
    """Accuracy is pooled, and precision the mean over classes, unless it is said that there are two classes."""
    frame = pl.DataFrame({"label": label, "predicted": label})
    found = frame.irm(predicted="predicted", **roles).evaluate("accuracy", "precision", layout="wide")
    lazy = frame.lazy().irm(predicted="predicted", **roles).evaluate("accuracy", "precision", layout="wide")
    assert ("average" in found.columns) == same
    assert lazy.collect_schema() == found.schema
    for asked in (("accuracy", "mcc"), ("precision", "recall")):
        both = frame.irm(predicted="predicted", **roles).evaluate(*asked, layout="wide")
        long = frame.irm(predicted="predicted", **roles).evaluate(*asked)
        assert set(both["average"]) == set(long["average"])


# No decision


def silent_rows() -> pl.DataFrame:
    """Ten rows of three classes; two of them have no prediction, and two the prediction that is none."""
    return pl.DataFrame(
        {
            "label": ["a", "a", "a", "a", "b", "b", "b", "c", "c", "c"],
            "predicted": ["a", "a", "b", None, "b", "a", "other", "c", None, "other"],
        }
    )


def test_rows_without_a_decision_are_not_right() -> None:
    """Recall is over all rows of a class, precision over the rows predicted so, accuracy over all rows."""
    irm = IRM(silent_rows(), abstain=["other"])
    assert irm.evaluate("coverage", "accuracy", "error_rate")["value"].to_list() == pytest.approx([0.6, 0.4, 0.6])
    each = irm.per_class("recall", "precision", "tp", "fp", "fn", "tn", "up", "un")
    assert each["class"].to_list() == [c for c in "abc" for _ in range(8)]
    # tn: not of the class, and predicted to be of another one.
    expected = [[2 / 4, 2 / 3, 2, 1, 1, 2, 1, 3], [1 / 3, 1 / 2, 1, 1, 1, 3, 1, 3], [1 / 3, 1, 1, 0, 0, 5, 2, 2]]
    assert each["value"].to_list() == pytest.approx([value for row in expected for value in row])
    assert irm.evaluate("recall")["value"].item() == pytest.approx((1 / 2 + 1 / 3 + 1 / 3) / 3)
    assert irm.evaluate("recall", average="micro")["value"].item() == pytest.approx(0.4)
    assert irm.evaluate("precision", average="micro")["value"].item() == pytest.approx(4 / 6)


def test_rows_without_a_decision_of_two_classes_are_not_positive() -> None:
    """A relevant row without a decision is missed; another is not positive, and not right either."""
    frame = pl.DataFrame({"label": [1, 1, 1, 0, 0, 0, 0], "predicted": [1, 0, None, 1, 0, 0, None]})
    mine = IRM(frame).evaluate("tp", "fp", "fn", "tn", "undecided positives", "undecided negatives")
    assert mine.select("average", "value").rows() == [("sum", n) for n in (1, 1, 1, 2, 1, 1)]
    mine = IRM(frame).evaluate("recall", "precision", "specificity", "fallout", "accuracy", "npv", "miss_rate", "fomr")
    expected = [1 / 3, 1 / 2, 2 / 4, 1 / 4, 3 / 7, 2 / 3, 2 / 3, 1 / 3]
    assert mine["value"].to_list() == pytest.approx(expected)
    # Of the decided rows recall is 1/2 and fallout 1/3.
    informed = (1 / 2 - 1 / 3) * 5 / 7
    assert IRM(frame).evaluate("informedness", "coverage")["value"].to_list() == pytest.approx([informed, 5 / 7])
    assert IRM(frame).confusion().rows() == [(0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 1), (None, 0, 1), (None, 1, 1)]


# Eight rows of A, of which two are decided, rightly; two rows of B, of which one is taken for an A.
EIGHT = {"label": [*"AAAAAAAABB"], "predicted": ["A", "A", *[None] * 6, "A", "B"]}


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ({"positive": "A"}, {"tp": 2, "fp": 1, "fn": 0, "tn": 1, "up": 6, "un": 0, "cost(fp=2, fn=3)": 2.0}),
        ({"positive": "B"}, {"tp": 1, "fp": 0, "fn": 1, "tn": 2, "up": 0, "un": 6, "cost(fp=2, fn=3)": 0.3}),
        ({"classes": ["A", "B"]}, {}),
    ],
    ids=["A", "B", "classes"],
)
@pytest.mark.parametrize("weight", [None, "w"])
def test_informedness_is_the_same_whichever_class_is_positive(
    roles: dict[str, Any], expected: dict[str, float], weight: str | None
) -> None:
    """Both A's that are decided are right and one of two B's: recall 1 less fallout 1/2, of 4 of 10 rows, is .2."""
    irm = IRM(pl.DataFrame(EIGHT).with_columns(w=3.0), weight=weight, **roles)
    asked = {"informedness": 0.2, "payoff": 0.2, "coverage": 0.4, "accuracy": 0.3, "error_rate": 0.7, **expected}
    of_cells = {name: 3 if weight and name in ("tp", "fp", "fn", "tn", "up", "un") else 1 for name in asked}
    found = irm.evaluate(*asked)["value"].to_list()
    assert found == pytest.approx([value * of_cells[name] for name, value in asked.items()], abs=CLOSE)


def test_a_worth_is_that_of_a_decision() -> None:
    """A row without a decision pays nothing; in utility, as in cost, a relevant one is missed."""
    irm = IRM(pl.DataFrame(EIGHT), positive="A")
    asked = ("payoff(tp=1, fp=-2, fn=-3, tn=4)", "utility(tp=1, fp=-2, fn=-3, tn=4)", "payoff(fn=-3)")
    assert irm.evaluate(*asked)["value"].to_list() == pytest.approx([(2 - 2 + 4) / 10, 2 - 2 - 3 * 6 + 4, 0])


@pytest.mark.parametrize("roles", [{}, {"positive": 0}, {"classes": [0, 1]}, {"query": "query"}], ids=str)
@pytest.mark.parametrize(
    ("label", "predicted"),
    [([1, 1, 0], [1, 0, None]), ([1, 0, 0], [None, 1, 0]), ([1, 0, 0], [None, None, None]), ([1, 1, 1], [1, 0, None])],
)
def test_informedness_needs_decided_rows_of_two_classes(
    roles: dict[str, Any], label: list[int], predicted: list[int | None]
) -> None:
    """Where the rows with a decision are of one class, or there are none, informedness and payoff are undefined."""
    rows = pl.DataFrame({"query": [1] * 3, "label": label, "predicted": pl.Series(predicted, dtype=pl.Int64)})
    irm = IRM(rows, **({"query": None, "predicted": "predicted"} | roles))
    found = irm.evaluate("informedness", "payoff", "up")
    assert found["value"].to_list()[:2] == [None, None]
    assert found["n_undefined"].to_list() == [1, 1, 0]


def test_what_is_undefined_without_a_decision() -> None:
    """Rows without a decision are rows: they define what divides by all rows or by those of a class, and no more."""
    rows = pl.DataFrame({"label": [1, 1], "predicted": [1, None]})
    names = (
        "recall",
        "precision",
        "prevalence",
        "jaccard",
        "mcc",
        "npv",
        "specificity",
        "inverse_f1",
        "avg_f",
        "avg_g",
    )
    found = IRM(rows, undefined="null").evaluate(*names)["value"].to_list()
    assert found == [0.5, 1, 1, 0.5, None, None, None, None, None, None]
    nothing = IRM(rows.with_columns(label=0, predicted=pl.lit(None, pl.Int64)), undefined="null", positive=1)
    names = (
        "recall",
        "precision",
        "accuracy",
        "specificity",
        "npv",
        "fomr",
        "kappa",
        "inverse_f1",
        "jaccard",
        "up",
        "un",
    )
    assert nothing.evaluate(*names)["value"].to_list() == [None, None, 0, 0, None, None, 0, 0, None, 0, 2]


@pytest.mark.parametrize("roles", [{}, {"classes": [0, 1]}, {"query": "query"}], ids=["two", "classes", "queries"])
def test_agreement_of_two_classes_where_decisions_are_missing(roles: dict[str, Any]) -> None:
    """No decision is an answer of its own, which is never right.

    Of 10 rows 6 are relevant; 4 are predicted so, 3 not, 3 not decided; 3 + 2 are right. Chance would be right in
    (6 4 + 4 3) / 10 = 3.6, so kappa is (5 - 3.6) / (10 - 3.6). The correlation of the two partitions is
    (10 5 - 36) / sqrt(10^2 - 6^2 - 4^2) / sqrt(10^2 - 4^2 - 3^2 - 3^2).
    """
    frame = pl.DataFrame(
        {
            "query": [1] * 10,
            "label": [1] * 6 + [0] * 4,
            "predicted": [1, 1, 1, 0, None, None, 1, 0, 0, None],
        }
    )
    irm = IRM(frame, **({"query": None, "predicted": "predicted"} | roles))
    found = irm.evaluate("kappa", "mcc")["value"].to_list()
    assert found == pytest.approx([1.4 / 6.4, 14 / math.sqrt(48 * 66)], abs=CLOSE)


def test_nothing_predicted_relevant_leaves_the_f_of_the_others() -> None:
    """A side that is never predicted has no weight in the mean of the two: here 2 tn / (2 tn + fp + fn) is left."""
    rows = pl.DataFrame({"label": [1, 0, 0], "predicted": [0, 0, 0]})
    assert IRM(rows).evaluate("avg_f", "inverse_f1")["value"].to_list() == pytest.approx([0.8, 0.8])
    rows = rows.with_columns(predicted=1)  # and now 2 tp / (2 tp + fp + fn)
    assert IRM(rows).evaluate("avg_f", "f1")["value"].to_list() == pytest.approx([0.5, 0.5])


def test_rows_of_one_true_class_inform_of_nothing() -> None:
    """Where all rows are of one class, informedness is undefined, though other classes are predicted."""
    rows = pl.DataFrame({"label": ["a"] * 4, "predicted": ["b", "c", "b", "c"]})
    found = IRM(rows).evaluate("informedness", "payoff").select("value", "n", "n_undefined")
    assert found.rows() == [(None, 4, 1), (None, 4, 1)]


@pytest.mark.parametrize("roles", [{}, {"classes": [0, 1]}, {"query": "query"}], ids=["two", "classes", "queries"])
def test_a_row_without_a_decision_is_an_error_whatever_it_is(roles: dict[str, Any]) -> None:
    """The error rate is what accuracy lacks to 1: a row that is not relevant and not decided is not right either."""
    frame = pl.DataFrame({"query": [7] * 4, "label": [1, 1, 0, 0], "predicted": [1, None, None, 0]})
    mine = IRM(frame, **({"query": None, "predicted": "predicted"} | roles)).evaluate("accuracy", "error_rate")
    assert mine["value"].to_list() == [0.5, 0.5]
    heavy = frame.with_columns(w=pl.Series([1.0, 1, 5, 1]))
    if "query" not in roles:
        mine = IRM(heavy, query=None, weight="w", **roles).evaluate("accuracy", "error_rate")
        assert mine["value"].to_list() == [0.25, 0.75]


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_of_decided_rows_are_those_after_the_others_are_dropped(weighted: bool) -> None:
    """Entropies are of the decided rows; for the rest no decision is one more column of the table."""
    rng = np.random.default_rng(10)
    n = 400
    frame = pl.DataFrame({"label": rng.choice(list("abc"), n), "predicted": rng.choice([*"abc", "?"], n)}).with_columns(
        w=pl.Series(rng.integers(1, 9, n) / 8)
    )
    roles: Any = {"weight": "w"} if weighted else {}
    names = ["conditional_entropy", "perplexity", "mutual_information"]
    decided = IRM(frame.filter(pl.col("predicted") != "?"), **roles)
    silent = IRM(frame, abstain=["?"], **roles)
    assert silent.evaluate(*names)["value"].to_list() == pytest.approx(decided.evaluate(*names)["value"].to_list())
    truth, said = frame["label"].to_list(), frame["predicted"].to_list()
    given: Any = {"sample_weight": frame["w"].to_list()} if weighted else {}
    mine = dict(silent.evaluate("accuracy", "balanced_accuracy", "kappa", "mcc").select("metric", "value").iter_rows())
    # In scikit-learn no decision is a class of its own that is never true.
    assert mine["accuracy"] == pytest.approx(skl.accuracy_score(truth, said, **given), abs=CLOSE)
    assert mine["kappa"] == pytest.approx(skl.cohen_kappa_score(truth, said, **given), abs=CLOSE)
    assert mine["mcc"] == pytest.approx(skl.matthews_corrcoef(truth, said, **given), abs=CLOSE)
    recall = skl.recall_score(truth, said, labels=[*"abc"], average="macro", **given)
    assert mine["balanced_accuracy"] == pytest.approx(recall, abs=CLOSE)
    for average in ("macro", "weighted", "micro"):
        theirs = skl.precision_recall_fscore_support(truth, said, labels=[*"abc"], average=average, **given)[:3]
        found_here = silent.evaluate("precision", "recall", "f1", average=average)["value"].to_list()
        assert found_here == pytest.approx(theirs, abs=CLOSE)


def test_a_segment_that_decides_nothing_is_not_right() -> None:
    """Where no row has a prediction, recall is 0, and what rests on predictions is undefined."""
    frame = pl.DataFrame({"label": [1, 0, 1], "predicted": [None, None, 1], "day": ["a", "a", "b"]})
    mine = IRM(frame, by="day").evaluate("recall", "precision", "coverage", "accuracy", "conditional_entropy")
    rows = mine.filter(day="a").select("value", "n_undefined").rows()
    assert rows == [(0, 0), (0, 1), (0, 0), (0, 0), (None, 1)]


# Clusters


def clusters() -> pl.DataFrame:
    """Twelve rows of classes a (5), b (4) and c (3), found in clusters 1 to 4.

    Rows by class and cluster: a 3 1 1 0, b 2 2 0 0, c 0 0 1 2. One to one, the most rows are right with 1 for a,
    2 for b, 4 for c: 3 + 2 + 2 = 7; cluster 3 is left over. By majority: 1 is a (3 of 5), 2 is b (2 of 3), 3 is a,
    the first of equals, 4 is c.
    """
    cells = {("a", 1): 3, ("a", 2): 1, ("a", 3): 1, ("b", 1): 2, ("b", 2): 2, ("c", 3): 1, ("c", 4): 2}
    rows = [cell for cell, n in cells.items() for _ in range(n)]
    return pl.DataFrame(rows, schema=["label", "predicted"], orient="row")


@pytest.mark.parametrize(
    ("match", "taken", "right", "decided"),
    [("best", {1: "a", 2: "b", 3: None, 4: "c"}, 7, 10), ("majority", {1: "a", 2: "b", 3: "a", 4: "c"}, 8, 12)],
)
def test_clusters_are_taken_for_classes(match: Any, taken: dict[int, str | None], right: int, decided: int) -> None:
    """One to one so that most rows are right, a cluster left over deciding nothing; or each for its majority."""
    irm = IRM(clusters(), match=match)
    table = irm.confusion()
    assert table.columns == ["predicted", "matched", "actual", "n"]
    assert dict(table.select("predicted", "matched").iter_rows()) == taken
    assert len(table) == 4 * 3
    assert table["n"].sum() == 12
    assert table.filter(pl.col("matched") == pl.col("actual"))["n"].sum() == right
    assert irm.evaluate("accuracy", "coverage")["value"].to_list() == pytest.approx([right / 12, decided / 12])
    said = clusters().with_columns(pl.col("predicted").replace_strict(taken, return_dtype=pl.String))
    names = ["precision", "recall", "f1", "kappa", "mcc", "informedness"]
    assert irm.evaluate(*names).equals(IRM(said).evaluate(*names))
    assert irm.per_class("recall").equals(IRM(said).per_class("recall"))


def test_there_may_be_fewer_clusters_than_classes() -> None:
    """Two clusters of three classes: one class is never predicted; with majority two clusters may be one class."""
    frame = pl.DataFrame({"label": [*"aaabbc"], "predicted": [7, 7, 8, 8, 7, 8]})
    # a 2 1, b 1 1, c 0 1: one to one, 7 for a and 8 for b is 2 + 1; so is 8 for c.
    best = IRM(frame, match="best")
    assert best.evaluate("accuracy", "coverage")["value"].to_list() == pytest.approx([3 / 6, 1])
    # by majority 7 is a, and 8, of which a, b and c have one row each, is a, the first.
    majority = IRM(frame, match="majority")
    assert majority.evaluate("accuracy")["value"].item() == pytest.approx(3 / 6)
    assert set(majority.confusion()["matched"]) == {"a"}
    assert majority.per_class("recall")["value"].to_list() == [1, 0, 0]


def test_the_best_assignment_beats_a_greedy_one() -> None:
    """The assignment is the one with the most right rows of all, found here by trying every one."""
    rng = np.random.default_rng(11)
    for found_classes in (2, 3, 4):
        counts = rng.integers(0, 9, (3, found_classes))
        rows = [("xyz"[c], f) for c in range(3) for f in range(found_classes) for _ in range(counts[c, f])]
        frame = pl.DataFrame(rows, schema=["label", "predicted"], orient="row")
        wide = np.hstack([counts, np.zeros((3, 3), int)])
        most = max(
            sum(wide[c, f] for c, f in enumerate(way)) for way in itertools.permutations(range(wide.shape[1]), 3)
        )
        mine = IRM(frame, match="best").evaluate("accuracy")["value"].item()
        assert mine == pytest.approx(most / counts.sum())


def test_clusters_that_are_catch_alls_are_no_decision() -> None:
    """A cluster among `abstain=` is matched to nothing; its rows have no prediction."""
    irm = IRM(clusters(), match="majority", abstain=[3])
    assert irm.evaluate("coverage", "accuracy")["value"].to_list() == pytest.approx([10 / 12, 7 / 12])


def test_clusters_are_matched_in_each_segment() -> None:
    """Every segment has its own matching, and weights count."""
    turned = clusters().with_columns(predicted=5 - pl.col("predicted"))
    both = pl.concat([clusters().with_columns(day=pl.lit("a")), turned.with_columns(day=pl.lit("b"))])
    for match in ("best", "majority"):
        mine = IRM(both, match=match, by="day").evaluate("accuracy", "f1", "mcc")
        alone = IRM(clusters(), match=match).evaluate("accuracy", "f1", "mcc")
        assert mine["value"].to_list() == alone["value"].to_list() * 2
    # b's rows of cluster 1 weigh so much that 1 is taken for b.
    heavy = clusters().with_columns(
        w=pl.when((pl.col("label") == "b") & (pl.col("predicted") == 1)).then(4.0).otherwise(1.0)
    )
    table = IRM(heavy, match="majority", weight="w").confusion()
    assert dict(table.select("predicted", "matched").iter_rows())[1] == "b"


# One formula


def test_one_function_divides_relevant_retrieved_by_retrieved(monkeypatch: pytest.MonkeyPatch) -> None:
    """tp / (tp + fp), the empty places of a cutoff among fp or not, stands in one function of the 2x2 measures."""
    module = inspect.getmodule(REGISTRY["precision"].kernel)
    assert module is not None
    table = FullConfusion(*(np.array([n]) for n in (5.0, 11.0, 3.0, 0.0, 60.0)))
    cut = FullConfusion(*(np.array([n]) for n in (5.0, 11.0, 3.0, 7.0, 60.0)))
    divides: set[str] = set()

    def watched(above: Array, below: Array) -> Array:
        if float(above[0]) == 5 and float(below[0]) in (16, 23):
            divides.add(sys._getframe(1).f_code.co_name)
        return ratio(above, below)

    monkeypatch.setattr(module, "ratio", watched)
    ran = 0
    for metric in REGISTRY.values():
        if metric.input is FullConfusion:
            ran += 1
            for one in (table, cut):
                metric.compute(one)
    assert ran > 35
    assert divides == {"precision"}
    # Nothing is divided there but by ratio, which is watched, or is no count.
    for function in ast.walk(ast.parse(inspect.getsource(module))):
        for division in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(division, ast.BinOp) and isinstance(division.op, ast.Div):
                assert "table" not in ast.unparse(division), function.name


def test_true_may_be_named_as_one() -> None:
    """`positive=1` is true of a boolean column, and the table shows what is positive as true."""
    rows = pl.DataFrame({"label": [True, False, True], "predicted": [True, True, False]})
    expected = [(False, False, 0), (False, True, 1), (True, False, 1), (True, True, 1)]
    assert rows.irm(positive=1).confusion().rows() == expected
    assert rows.irm(positive=True).confusion().rows() == expected
    assert rows.irm(positive=0).confusion()["n"].to_list() == [1, 1, 1, 0]


def test_grades_make_two_classes_of_false_and_true() -> None:
    """A grade that reaches `rel=` is true in the table, and any other is false."""
    rows = pl.DataFrame({"grade": [2, 1, 0, 3], "predicted": [True, True, False, False]})
    expected = [(False, False, 1), (False, True, 1), (True, False, 1), (True, True, 1)]
    assert rows.irm(rel=2).confusion().rows() == expected
    assert rows.irm(rel=1).confusion().rows() == [
        (False, False, 1),
        (False, True, 1),
        (True, False, 0),
        (True, True, 2),
    ]


@pytest.mark.parametrize("match", ["best", "majority"])
def test_clusters_of_rows_without_labels_are_taken_for_no_class(match: Any) -> None:
    """Where no row has a label there are no pairs to count."""
    rows = pl.DataFrame({"label": [None], "predicted": ["a"]}, schema_overrides={"label": pl.String})
    assert rows.irm(match=match, unjudged="drop").confusion().rows() == []
