"""Top-k accuracy: whether the true class is among the k with the highest scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import top_k_accuracy_score

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars
from refusals import check

SCORES = {"a": "p_a", "b": "p_b", "c": "p_c"}
# The true class is first, second, third, and one of two equal ones: b is later than a.
ROWS = pl.DataFrame(
    {"label": [*"abca"], "p_a": [0.6, 0.5, 0.6, 0.4], "p_b": [0.3, 0.3, 0.3, 0.4], "p_c": [0.1, 0.2, 0.1, 0.2]}
).with_columns(w=pl.Series([1.0, 2.0, 1.0, 4.0]), n=pl.Series([1, 1, 2, 3]), side=pl.Series([*"xxyy"]))
SCORED = ROWS.irm(score=SCORES)
TWO = pl.DataFrame({"query": [1, 1], "label": [0, 1], "score": [0.1, 0.6]}).with_columns(other=1 - pl.col("score"))


def drawn(seed: int) -> tuple[pl.DataFrame, Any, Any]:
    """Rows of four classes with few different scores, which are no probabilities."""
    random = np.random.default_rng(seed)
    label, score = random.integers(0, 4, 30), random.integers(-1, 4, (30, 4)).astype(float)
    return pl.DataFrame({"label": label, **{f"s{c}": score[:, c] for c in range(4)}}), label, score


def test_worked_by_hand() -> None:
    """One row is right at once, two more by their second class; of equal scores the later class comes first."""
    found = SCORED.evaluate("top_k_accuracy@1", "top_k_accuracy@2", "top_k_accuracy@3", "top_k_accuracy")
    assert found.select("metric", "k", "average", "value", "n").rows() == [
        ("top_k_accuracy@1", 1, "pooled", 1 / 4, 4),
        ("top_k_accuracy@2", 2, "pooled", 3 / 4, 4),
        ("top_k_accuracy@3", 3, "pooled", 1, 4),
        ("top_k_accuracy", None, "pooled", 1 / 4, 4),
    ]
    others = SCORED.evaluate("top_k_accuracy@1,2", "top-3 accuracy", "top_k_accuracy_score@9")
    assert others["value"].to_list() == [1 / 4, 3 / 4, 1, 1]
    assert SCORED(weight="w").evaluate("top_k_accuracy@2")["value"].item() == (1 + 2 + 4) / 8
    assert SCORED(count="n").evaluate("top_k_accuracy@2").select("value", "n").row(0) == (5 / 7, 7)
    parts = SCORED(by="side").evaluate("top_k_accuracy@2", margins=True)
    assert parts["value"].to_list() == [1, 1 / 2, 3 / 4]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_it_is_that_of_scikit_learn(seed: int, k: int) -> None:
    """Equal scores too, in whatever order the columns are named; there classes are sorted, as here by default."""
    rows, label, score = drawn(seed)
    weight = np.random.default_rng(seed).integers(1, 5, 30).astype(float)
    for order in (range(4), (2, 0, 3, 1)):
        irm = rows.with_columns(w=weight).irm(score={c: f"s{c}" for c in order})
        for role, of in ((None, None), ("w", weight)):
            theirs = top_k_accuracy_score(label, score, k=k, labels=range(4), sample_weight=of)
            found = irm(weight=role).evaluate(f"top_k_accuracy@{k}")["value"].item()
            assert found == pytest.approx(theirs, abs=1e-12)


def test_of_equal_scores_the_order_of_classes_decides() -> None:
    """The last row has equal scores of a and b, and a is its class; where a is later, it comes first."""
    turned = SCORED(classes=["c", "b", "a"])
    assert [irm.evaluate("top_k_accuracy@1")["value"].item() for irm in (SCORED, turned)] == [1 / 4, 2 / 4]


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}, {"count": "n"}, {"by": "user"}], ids=str)
def test_its_interval_is_that_of_the_accuracy_of_the_first_class(roles: dict[str, Any]) -> None:
    """It is a share of rows, and one number has one interval; a share of 1 has one too."""
    rows, _, score = drawn(3)
    first = 3 - score[:, ::-1].argmax(axis=1)  # of equal scores the last class
    random = np.random.default_rng(3)
    more = {"w": random.integers(1, 4, 30), "user": random.integers(0, 6, 30), "n": random.integers(1, 4, 30)}
    rows = rows.with_columns(predicted=first, **more)
    accuracy = rows.irm(**roles).evaluate("accuracy", ci=0.9, resamples=50)
    found = rows.irm(score={c: f"s{c}" for c in range(4)}, **roles).evaluate("top_k_accuracy@1", ci=0.9, resamples=50)
    for name in ("value", "ci_low", "ci_high"):
        assert found[name].to_list() == pytest.approx(accuracy[name].to_list(), abs=1e-12)
    whole = SCORED.evaluate("top_k_accuracy@3", ci=0.9)
    assert whole["ci_high"].item() == 1 > whole["ci_low"].item()


@pytest.mark.parametrize("kind", KINDS)
def test_without_rows_it_is_undefined(kind: str) -> None:
    """In a frame of any kind."""
    rows, _, _ = drawn(1)
    irm = IRM(as_kind(rows[:0], kind), score={c: f"s{c}" for c in range(4)})
    assert as_polars(irm.evaluate("top_k_accuracy@2")).select("value", "n").rows() == [(None, 0)]


def test_systems_are_compared() -> None:
    """Row by row, as by other metrics of scores."""
    rows, _, _ = drawn(2)
    both = pl.concat([rows.with_columns(m=pl.lit(m), doc=pl.int_range(pl.len())) for m in "ab"])
    better = 9.0 * ((pl.col("m") == "b") & (pl.col("label") == 0))
    irm = both.with_columns(s0=pl.col("s0") + better).irm(doc="doc", system="m", score={c: f"s{c}" for c in range(4)})
    found = irm.compare("top_k_accuracy@2", resamples=50, permutations=200)
    values = irm.evaluate("top_k_accuracy@2")["value"].to_list()
    assert found["difference"].abs().to_list() == [pytest.approx(abs(values[1] - values[0]))]


REFUSALS = r"""
ROWS.irm(predicted="side").evaluate("top_k_accuracy@2")
    ColumnError: [...]
    but: ROWS.irm(score=SCORES).evaluate("top_k_accuracy@2")
TWO.irm(query=None).evaluate("top_k_accuracy@1")
    ColumnError: top_k_accuracy@1 reads a score of each class; name them, score={class: column}, or pass threshold= and
        ask for accuracy
    but: TWO.irm(query=None, threshold=0.5).evaluate("accuracy")
    but: TWO.irm(query=None, score={0: "other", 1: "score"}).evaluate("top_k_accuracy@1")
TWO.irm(query="query").evaluate("top_k_accuracy@1")
    NotComputableError: top_k_accuracy@1 has one value for the rows of a segment, and none for a query; pass query=None,
        or name its column with by=
SCORED.per_class("top_k_accuracy@2")
    NotComputableError: top_k_accuracy@2 has one value for all classes together; use evaluate()
    but: SCORED.per_class("roc_auc")
SCORED.evaluate("top_k_accuracy@0")
    BadValueError: top_k_accuracy@0: the cutoff is not a whole number from 1
SCORED.evaluate("top_k_accuracy(top=2)")
    UnknownNameError: top_k_accuracy has no parameter 'top'; [...]
    but: SCORED.evaluate("top_k_accuracy@2")
"""


def test_what_is_refused() -> None:
    """Scores of two classes have a threshold; a query has no value of its own."""
    check(REFUSALS, globals())
