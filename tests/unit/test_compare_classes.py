"""Classes of classifiers compared one by one, each against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM
from helpers import error

FEW: dict[str, Any] = {"resamples": 200}
CLASSES = ["cat", "dog", "owl"]


def drawn(n: int = 90, seed: int = 0) -> pl.DataFrame:
    """Decisions of two models about the same animals, some of them missing, with a score for each class."""
    rng = np.random.default_rng(seed)
    label = rng.choice(CLASSES, n, p=[0.5, 0.3, 0.2])
    frames = []
    for model in ("a", "b"):
        said = np.where(rng.random(n) < 0.7, label, rng.choice(CLASSES, n))
        predicted = pl.Series(said).set(pl.Series(rng.random(n) < 0.05), None)
        scores = {f"p_{name}": rng.random(n) + (label == name) for name in CLASSES}
        rows = {"model": model, "doc": np.arange(n), "label": label, "predicted": predicted, "half": np.arange(n) % 2}
        frames.append(pl.DataFrame(rows | scores))
    return pl.concat(frames)


def test_each_class_is_compared_as_the_relevant_one_of_two() -> None:
    """The numbers are those of ``positive=``, and the values those of ``per_class``; p-values are corrected by Holm."""
    models = drawn().irm(system="model", doc="doc")
    found = models.compare("recall", "f1", baseline="a", per_class=True, **FEW)
    keys = found.select("model", "baseline", "class", "metric").rows()
    assert keys == [("b", "a", one, metric) for one in CLASSES for metric in ("recall", "f1")]
    corrected = ["p_adjusted", "n_tests", "correction"]
    for one in CLASSES:
        alone = models(positive=one).compare("recall", "f1", baseline="a", **FEW)
        own = found.filter(pl.col("class") == one)
        assert own["support"].to_list() == [drawn().filter(model="a", label=one).height] * 2
        own = own.drop("class", "support", *corrected)
        assert own.equals(alone.drop(corrected))
    for metric in ("recall", "f1"):
        p, adjusted = found.filter(pl.col("metric") == metric).select("p_value", "p_adjusted").to_numpy().T
        order = np.argsort(p)
        holm = np.maximum.accumulate(np.minimum((3 - np.arange(3)) * p[order], 1))
        assert adjusted[order] == pytest.approx(holm)
    assert found["n_tests"].unique().to_list() == [3]
    every = models.compare("recall", "f1", baseline="a", per_class=True, over="all", **FEW)
    assert every["n_tests"].unique().to_list() == [6]
    per_class = models.per_class("recall", "f1")
    values = found.join(per_class.filter(model="b"), on=["class", "metric"], suffix="_alone")
    assert values["value"].to_list() == values["value_alone"].to_list()


def test_arms_and_periods_of_several_classes() -> None:
    """Arms have rows of their own; scores of each class are compared too."""
    arms = drawn().irm(arm="model", doc=None, system=None)
    found = arms.ab_test("recall", baseline="a", per_class=True, **FEW)
    for one in CLASSES:
        alone = arms(positive=one).ab_test("recall", baseline="a", **FEW)
        own = found.filter(pl.col("class") == one)
        corrected = ["p_adjusted", "n_tests", "correction"]
        assert own.drop("class", "support", "baseline_support", *corrected).equals(alone.drop(corrected))
    counts = {
        (model, name): n for model, name, n in arms.per_class("recall").select("model", "class", "support").rows()
    }
    for row in found.iter_rows(named=True):
        assert (row["support"], row["baseline_support"]) == (counts["b", row["class"]], counts["a", row["class"]])
    periods = arms.change("recall", baseline="a", per_class=True, **FEW)
    assert found.select(periods.columns).equals(periods)
    scored = {name: f"p_{name}" for name in CLASSES}
    areas = drawn().irm(system="model", doc="doc", predicted=None, score=scored)
    found = areas.compare("roc_auc", baseline="a", per_class=True)
    assert found["test"].to_list() == ["delong"] * 3
    assert found["value"].to_list() == areas.per_class("roc_auc").filter(model="b")["value"].to_list()


def test_a_segment_without_a_class() -> None:
    """A class without a row has no difference, and is not counted among the tests."""
    rows = drawn().filter((pl.col("half") == 0) | (pl.col("label") != "owl"))
    found = rows.irm(system="model", doc="doc", by="half").compare("recall", baseline="a", per_class=True)
    of_second = found.filter(half=1)
    assert of_second.select("class", "n_tests").rows() == [("cat", 2), ("dog", 2), ("owl", 2)]
    assert of_second["difference"].is_null().to_list() == [False, False, True]


@pytest.mark.parametrize("verb", ["compare", "change"])
def test_a_class_that_is_lost_shows_among_many(verb: str) -> None:
    """The draws grow with the tests that are corrected together: the least p-value is no floor of the corrected one."""
    label = np.repeat(np.arange(60), 12)
    lost = np.where(label == 7, 8, label)
    both = {"model": np.repeat(["a", "b"], len(label)), "doc": np.tile(np.arange(len(label)), 2)}
    rows = pl.DataFrame({**both, "label": np.tile(label, 2), "predicted": np.append(label, lost)})
    irm = rows.irm(system="model", doc="doc") if verb == "compare" else rows.irm(arm="model", doc=None)
    found = getattr(irm, verb)("f1", baseline="a", per_class=True)
    assert found.filter(pl.col("p_adjusted") < 0.05)["class"].to_list() == [7]


def test_classes_are_those_of_the_caller() -> None:
    """Numbers stay numbers."""
    rows = drawn().with_columns(pl.col("label", "predicted").replace_strict(dict(zip(CLASSES, (3, 5, 9), strict=True))))
    found = IRM(rows, system="model", doc="doc").compare("recall", per_class=True)
    assert found["class"].to_list() == [3, 5, 9]


def test_where_classes_are_not_compared() -> None:
    """Of queries, and of metrics of the whole table, the error says what to do."""
    models = drawn().irm(system="model", doc="doc")
    assert "rand_index has one value" in error(lambda: models.compare("rand_index", per_class=True))
    assert "pass one of them" in error(lambda: models.compare("recall", per_class=True, against="chance"))
    ranked = pl.DataFrame({"query": [1, 1], "run": ["a", "b"], "rank": 1, "label": 1}).irm(system="run")
    told = "per_class=True compares classes of rows without a query; leave it out, or pass query=None"
    assert told in error(lambda: ranked.compare("rr", per_class=True))
    assert "per_class='yes'" in error(lambda: models.compare("recall", per_class="yes"))  # type: ignore[arg-type]
