"""Averages over classes of two sides that have different classes: no difference, and the ways out."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score

from helpers import error

Rows = list[tuple[str, str]]
FEW: dict[str, Any] = {"resamples": 100}
NOT_THE_SAME = (
    "recall is an average over classes, and not all segments ({}) have the same; ask for accuracy, a share of rows."
)


def rows_of(label: str, other: str, right: int, wrong: int) -> Rows:
    """Rows of a class, so many of which are predicted."""
    return [(label, label)] * right + [(label, other)] * wrong


def framed(parts: dict[str, Rows], key: str = "week") -> pl.DataFrame:
    """Rows of several weeks."""
    rows = [(name, *row) for name, rows in parts.items() for row in rows]
    return pl.DataFrame(rows, schema=[key, "label", "predicted"], orient="row")


COMMON = rows_of("card", "loan", 36, 4) + rows_of("loan", "card", 36, 4)
FRAUD = rows_of("fraud", "card", 3, 7)
WEEKS = framed({"W10": COMMON + FRAUD, "W11": COMMON})
ARMS = WEEKS.irm(arm="week", query=None)

TRUE = ["bug"] * 20 + ["idea"] * 15 + ["spam"] * 15
OLD = ["bug"] * 14 + ["idea"] * 6 + ["idea"] * 11 + ["bug"] * 4 + ["spam"] * 11 + ["bug"] * 4
NEW = ["bug"] * 17 + ["idea"] * 3 + ["idea"] * 13 + ["bug"] * 2 + ["spam"] * 13 + ["bug"] + ["Spam"]
BOTH = pl.DataFrame({"label": TRUE, "old": OLD, "new": NEW})
CASES = BOTH.irm(predicted=["old", "new"])


@pytest.mark.parametrize("metric", ["recall", "f1", "precision", "balanced_accuracy"])
def test_weeks_with_different_classes_are_not_compared(metric: str) -> None:
    """Also if classes= lists the class that one has no rows of, whichever number stands for its value."""
    expected = f"{metric} of W11 and of W10 are averages over different classes: fraud has rows in W10, and none in W11"
    for irm in (ARMS, ARMS(classes=["card", "fraud", "loan"]), ARMS(undefined="null")):
        for verb in (irm.change, irm.ab_test):
            assert expected in error(lambda verb=verb: verb(metric, **FEW))


def test_without_the_rows_of_a_class_they_are() -> None:
    """And the recall of both weeks, which is equal in each class, is equal."""
    message = error(lambda: ARMS.change("recall", **FEW))
    assert "drop the rows with it and pass classes=['card', 'loan'], or ask for accuracy, a share of rows" in message
    common = WEEKS.filter(pl.col("label") != "fraud").irm(arm="week", query=None, classes=["card", "loan"])
    assert common.change("recall", **FEW)["difference"].to_list() == [0]
    assert ARMS.change("accuracy", "kappa", "mcc", **FEW)["difference"].is_not_null().all()


def test_a_class_that_one_system_made_up() -> None:
    """abstain= and classes= compare both over the same classes, as scikit-learn does with labels=."""
    message = error(lambda: CASES.compare("f1", baseline="old", **FEW))
    assert "f1 of new and of old are averages over different classes: Spam is predicted in new only" in message
    listed = ["Spam", "bug", "idea", "spam"]
    assert f"pass abstain=['Spam'] if it is no decision, classes={listed!r} to have it in both" in message
    assert "or ask for accuracy" in message
    (found,) = CASES(classes=listed).compare("f1", baseline="old", **FEW)["difference"]
    new, old = (f1_score(TRUE, one, labels=listed, average="macro", zero_division=0) for one in (NEW, OLD))
    assert found == pytest.approx(new - old)
    (found,) = CASES(abstain=["Spam"]).compare("f1", baseline="old", **FEW)["difference"]
    new, old = (f1_score(TRUE, one, labels=listed[1:], average="macro", zero_division=0) for one in (NEW, OLD))
    assert found == pytest.approx(new - old)
    assert CASES.compare("accuracy", baseline="old")["difference"][0] > 0


def test_against_the_majority_too() -> None:
    """Its constant prediction makes up no class."""
    message = error(lambda: BOTH.irm(predicted="new").compare("f1", against="majority", **FEW))
    assert "f1 of new and of the majority are averages over different classes: Spam is predicted in new only" in message


def test_a_class_without_a_value() -> None:
    """A class that one system never predicts has no precision with undefined="null", and is left out of one mean."""
    frame = BOTH.with_columns(never=pl.lit("bug"))
    never = frame.irm(predicted=["old", "never"], undefined="null")
    message = error(lambda: never.compare("precision", baseline="old", **FEW))
    assert "idea has no value in never (and so 1 more); pass undefined='zero' to count it as 0" in message
    assert never(undefined="zero").compare("precision", baseline="old", **FEW)["difference"].is_not_null().all()


def test_scores_of_classes() -> None:
    """The mean of areas of pairs of classes, and that of each class against the rest."""
    rng = np.random.default_rng(0)
    label = np.array(["a", "b", "c"])[np.arange(60) % 3]
    frame = pl.DataFrame({"label": label, "week": np.where(np.arange(60) < 30, "W10", "W11")})
    frame = frame.with_columns(pl.Series(one, rng.random(60) + (label == one)) for one in "abc")
    frame = frame.filter((pl.col("week") == "W10") | (pl.col("label") != "c"))
    irm = frame.irm(score={"a": "a", "b": "b", "c": "c"}, arm="week", query=None)
    for metric in ("roc_auc", "roc_auc(multi='ovo')", "average_precision"):
        message = error(lambda metric=metric: irm.change(metric, **FEW))
        assert "c has rows in W10, and none in W11; drop the rows with it, or ask for brier, a mean" in message
    kept = frame.filter(pl.col("label") != "c").irm(**{**irm.roles, "score": {"a": "a", "b": "b", "c": "c"}})
    assert kept.change("roc_auc", **FEW)["difference"].is_not_null().all()


def test_in_segments_the_difference_is_null() -> None:
    """A rare class is missing in some segment of most frames: the others keep their numbers."""
    frame = BOTH.with_columns(part=pl.when(pl.arange(0, 50) % 2 == 0).then(pl.lit("x")).otherwise(pl.lit("y")))
    found = frame.irm(predicted=["old", "new"], by="part").compare("f1", "accuracy", baseline="old", **FEW)
    f1 = found.filter(metric="f1")
    assert f1["part"].to_list() == ["x", "y"]
    assert f1["difference"].is_null().to_list() == [False, True]
    nothing = f1.filter(pl.col("difference").is_null()).select("ci_low", "ci_high", "p_value", "p_adjusted").row(0)
    assert nothing == (None,) * 4
    assert f1["value"].is_not_null().all()
    assert found.filter(metric="accuracy")["difference"].is_not_null().all()
    parts = framed({"W10": COMMON + FRAUD, "W11": COMMON}).with_columns(part=pl.lit("x"))
    parts = pl.concat([parts, parts.filter(pl.col("label") != "fraud").with_columns(part=pl.lit("y"))])
    parts = parts.with_columns(predicted=pl.col("predicted").replace("fraud", "card"))
    arms = parts.irm(arm="week", by="part", query=None).ab_test("recall", **FEW)
    assert arms["difference"].is_null().to_list() == [True, False]


def audited(irm: Any, check: str = "segments without some class") -> list[tuple[int, str, str]]:
    """The findings about segments that lack a class, or have one more."""
    found = irm.audit().filter(check=check)
    return list(found.select("n", "example", "message").iter_rows())


def test_segments_without_some_class_are_a_warning() -> None:
    """One, with their number; not of two classes, nor where all have all classes."""
    days = {f"2026-03-{at:02}": COMMON + FRAUD * (at < 20) for at in range(1, 29)}
    irm = framed(days, "day").irm(by="day", query=None)
    ((n, example, message),) = audited(irm)
    assert (n, example) == (9, "2026-03-20")
    assert message.startswith("fraud is true in no row of 2026-03-20: averages over classes, as macro recall, are over")
    assert audited(framed({"W10": COMMON + FRAUD, "W11": COMMON + FRAUD}).irm(by="week", query=None)) == []
    assert audited(framed({"W10": COMMON, "W11": COMMON}).irm(by="week", query=None, positive="card")) == []
    first = irm.summary("recall")["sentence"].to_list()
    assert first[0].startswith("Segments without some class (9 segments of day): fraud is true in no row of 2026-03-20")
    assert f"No trend, break or outage is looked for: {NOT_THE_SAME.format('day')}" in first
    assert not any(" rose " in one for one in first)
    assert "without some class" not in " ".join(irm.summary("accuracy")["sentence"].to_list())


def test_a_summary_says_what_is_not_compared() -> None:
    """And compares the other metrics."""
    said = ARMS.summary("recall", "accuracy")["sentence"].to_list()
    assert any(one.startswith("recall is not compared: recall of W11 and of W10 are averages") for one in said)
    assert any("accuracy 0.900 against " in one for one in said)
    assert not any("recall 0.900 against" in one for one in said)
    assert not ARMS.summary("recall").filter(kind="difference").height
    assert any("Systems are not compared: f1 of old" in one for one in CASES.summary("f1")["sentence"])


@pytest.mark.parametrize("made_up", ["fraud", "Fraud"])
def test_one_wrong_prediction_makes_no_segment_unusual(made_up: str) -> None:
    """A class without a row in a segment joins its average as 0, if it is predicted there, or made up."""
    right, wrong = [(one, one) for one in ("card", "loan", "fraud")], [("card", "loan")]
    parts = {"north": right * 30 + wrong * 15, "south": right * 30 + wrong * 15}
    frame = framed({**parts, "west": right[:2] * 45 + [("card", made_up)]}, "part")
    frame = frame.filter(pl.lit(made_up == "fraud") | (pl.col("label") != "fraud"))
    irm = frame.irm(by="part", query=None)
    (value,) = irm.evaluate("recall").filter(part="west")["value"]
    assert value == pytest.approx(0.659, abs=1e-3)
    said = irm.summary("recall")
    assert not said.filter(kind="segment").height
    assert f"No segment that stands out is looked for: {NOT_THE_SAME.format('part')}" in said["sentence"].to_list()
    assert any(one.startswith("west (part) is unusually high") for one in irm.summary("accuracy")["sentence"])
    ((n, example, _),) = audited(
        irm, "segments with" + ("out some class" if made_up == "fraud" else " a class never true")
    )
    assert (n, example) == (1, "west")
    if made_up == "Fraud":
        same = irm(abstain=["Fraud"], classes=["card", "loan"])
        assert audited(same, "segments with a class never true") == []
        assert not any("is looked for" in one for one in same.summary("recall")["sentence"])
