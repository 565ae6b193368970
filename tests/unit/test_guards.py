"""The guards of audit(): what the literature warns about in decisions and scores, segment by segment."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError
from helpers import as_kind, as_polars, facts
from inside import decision_checks

RARE = "prevalence near 0 or 1"
MAJORITY = "accuracy below the majority class"
BIAS = "bias far from prevalence"
CHANCE = "score worse than chance"


def table(tp: int, fp: int, fn: int, tn: int, **more: Any) -> pl.DataFrame:
    """Return rows that have these counts."""
    label, said = [1] * tp + [0] * fp + [1] * fn + [0] * tn, [1] * (tp + fp) + [0] * (fn + tn)
    return pl.DataFrame({"label": label, "predicted": said}, schema_overrides={"label": pl.Int8}).with_columns(
        **{name: pl.lit(value) for name, value in more.items()}
    )


def checks(irm: IRM[pl.DataFrame]) -> dict[str, tuple[int, float, str | None]]:
    """Return n, share and example of every finding that is no plain fact."""
    found = irm.audit()
    assert found.columns == ["check", "severity", "n", "share", "example", "message"]
    odd = found.filter(pl.col("severity") != "fact")
    return {row["check"]: (row["n"], row["share"], row["example"]) for row in odd.iter_rows(named=True)}


# A table that fires one guard and no other, and what it is about.
FIRED: dict[str, pl.DataFrame] = {
    RARE: table(tp=1, fp=0, fn=0, tn=19),
    f"{RARE}, many": table(tp=19, fp=0, fn=0, tn=1),
    MAJORITY: table(tp=10, fp=15, fn=20, tn=40),
    BIAS: table(tp=10, fp=0, fn=15, tn=75),
    f"{BIAS}, of the others": table(tp=70, fp=16, fn=0, tn=14),
    CHANCE: pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.125, 0.25, 0.5, 0.75]}),
}
CLEAN: dict[str, pl.DataFrame] = {
    "balanced": table(tp=40, fp=10, fn=10, tn=40),
    "one in ten": table(tp=8, fp=2, fn=2, tn=88),
    "nine in ten": table(tp=88, fp=2, fn=2, tn=8),
    "as good as the majority": table(tp=15, fp=15, fn=15, tn=55),
    "twice as many": table(tp=20, fp=20, fn=0, tn=60),
    "scores at chance": pl.DataFrame({"label": [1, 0, 0, 1], "score": [0.25, 0.125, 0.5, 0.375]}),
    "scores that tie": pl.DataFrame({"label": [1, 0], "score": [0.5, 0.5]}),
}


@pytest.mark.parametrize("name", FIRED)
def test_a_guard_fires(name: str) -> None:
    """A frame with one thing odd has that finding and no other; without segments there is no example."""
    assert checks(IRM(FIRED[name])) == {name.split(",")[0]: (1, 1.0, None)}


def test_several_values_beside_the_relevant_one_are_no_hindrance() -> None:
    """An audit names no class, and so asks for no name of what is not relevant."""
    frame = pl.DataFrame({"label": [*"abca"], "predicted": [*"abcb"]})
    assert facts(IRM(frame, positive="a")) == facts(IRM(frame.with_columns(pl.all() == "a")))


def test_several_guards_may_fire() -> None:
    """To predict more than twice as many as are relevant is wrong more often than to predict none."""
    assert checks(IRM(table(tp=20, fp=25, fn=0, tn=55))) == {MAJORITY: (1, 1.0, None), BIAS: (1, 1.0, None)}
    assert set(checks(IRM(table(tp=0, fp=0, fn=1, tn=19)))) == {RARE, BIAS}


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_frame_has_no_finding(name: str) -> None:
    """Where nothing is odd nothing is found, and the columns are the same."""
    found = IRM(CLEAN[name]).audit()
    assert set(found["severity"]) == {"fact"}
    assert found.schema == IRM(FIRED[RARE]).audit().schema


@pytest.mark.parametrize("name", FIRED)
def test_a_guard_looks_at_every_segment(name: str) -> None:
    """A guard counts the systems and segments that it is about, and names the first of them."""
    odd = FIRED[name]
    clean = CLEAN["balanced"] if "predicted" in odd.columns else CLEAN["scores at chance"]
    parts = [("y", "mo", clean), ("x", "mo", clean), ("y", "di", odd), ("x", "tu", odd), ("x", None, clean)]
    frame = pl.concat(part.with_columns(run=pl.lit(run), day=pl.lit(day, dtype=pl.String)) for run, day, part in parts)
    check = name.split(",")[0]
    assert checks(IRM(frame, system="run", by="day")) == {check: (2, 2 / 5, "x, tu")}
    assert checks(IRM(frame.filter(pl.col("day") == "di"), by="day")) == {check: (1, 1.0, "di")}
    assert checks(IRM(frame.filter(pl.col("day") == "mo"), by="day")) == {}


def test_the_example_of_a_null_segment() -> None:
    """A null segment can be the odd one."""
    frame = pl.concat([CLEAN["balanced"].with_columns(day=pl.lit("mo")), FIRED[RARE].with_columns(day=pl.lit(None))])
    assert checks(IRM(frame, by="day")) == {RARE: (1, 0.5, "None")}


def test_a_segment_without_rows_is_not_looked_at() -> None:
    """A segment of which all rows were dropped is neither odd nor counted."""
    frame = pl.concat(
        [
            FIRED[RARE].with_columns(day=pl.lit("mo")),
            CLEAN["balanced"].with_columns(day=pl.lit("tu"), label=pl.lit(None, dtype=pl.Int8)),
        ]
    )
    assert checks(IRM(frame, by="day", unjudged="drop")) == {RARE: (1, 1.0, "mo")}


def test_the_severity_of_guards() -> None:
    """What the guards find are warnings, which stand before what is only worth knowing about the queries."""
    frame = table(tp=1, fp=60, fn=0, tn=39).with_columns(score=pl.int_range(pl.len()).cast(pl.Float64))
    guarded = [(check, "warning") for check in (RARE, MAJORITY, BIAS, CHANCE)]
    found = IRM(frame, predicted="predicted", score="score").audit()
    assert found.filter(pl.col("severity") != "fact").select("check", "severity").rows() == guarded
    found = IRM(frame.with_columns(query=1), predicted="predicted", score="score", query="query").audit()
    severities = found["severity"].to_list()
    assert set(guarded) <= set(found.select("check", "severity").rows())
    assert "info" in severities
    assert severities == sorted(severities, key=["error", "warning", "info", "fact"].index)


def test_a_threshold_is_a_decision() -> None:
    """With `threshold=` the guards look at what it decides, and at the scores."""
    scores = pl.DataFrame({"label": [1, 0, 1, 0] * 5, "score": np.tile([0.75, 0.25, 0.5, 0.5], 5)})
    assert checks(IRM(scores)) == {}
    assert checks(IRM(scores, threshold=0.5)) == {}
    assert set(checks(IRM(scores, threshold=0.8))) == {BIAS}
    assert set(checks(IRM(scores.with_columns(score=1 - pl.col("score")), threshold=0.3))) == {MAJORITY, CHANCE}


def test_scores_alone_have_a_prevalence() -> None:
    """Without a decision the share of relevant rows is looked at all the same, by weight where rows have one."""
    scores = pl.DataFrame({"label": [1, *[0] * 10], "score": [1.0, *[0.5] * 10]})
    assert set(checks(IRM(scores))) == {RARE}
    heavy = scores.with_columns(w=pl.when(pl.col("label") == 1).then(4.0).otherwise(1.0))
    assert checks(IRM(heavy, weight="w")) == {}
    light = table(5, 0, 0, 5).with_columns(w=pl.when(pl.col("label") == 1).then(0.25).otherwise(4.0))
    assert set(checks(IRM(light, weight="w"))) == {RARE}


def test_several_classes_have_a_majority() -> None:
    """Of several classes a guard sees that always saying the most frequent one is right more often."""
    classes = pl.DataFrame({"label": [*"aaabbc"], "predicted": [*"abcbca"]})
    assert checks(IRM(classes)) == {MAJORITY: (1, 1.0, None)}
    assert checks(IRM(classes.with_columns(predicted=pl.Series([*"aabbca"])))) == {}
    assert checks(IRM(classes.with_columns(predicted=pl.Series([None, *"bcbca"])))) == {MAJORITY: (1, 1.0, None)}


def test_what_is_said_of_two_classes_is_not_said_of_several() -> None:
    """Each of many classes is rare, and each of three is seldom predicted where little is decided: both are fine."""
    many = pl.DataFrame({"label": [*"abcdefghijkl"], "predicted": [*"abcdefghijkl"]})
    assert checks(IRM(many)) == {}
    three = pl.DataFrame(
        {"label": [*"aaaabbbbcccc"], "predicted": [*"aa", None, None, *"bb", None, None, "c", *[None] * 3]}
    )
    assert checks(IRM(three)) == {}


def test_scores_of_several_classes_alone_decide_nothing() -> None:
    """Without decisions there is no majority that they could fall below, nor one score that could be upside down."""
    rows = pl.DataFrame({"label": [*"aabbc"], "a": [0.0, 0, 1, 1, 1], "b": [1.0, 1, 0, 0, 1], "c": [1.0, 1, 1, 1, 0]})
    assert checks(IRM(rows, label="label", score={"a": "a", "b": "b", "c": "c"})) == {}
    assert checks(IRM(rows, label="label", score="a")) == {}


def queries(odd: bool) -> pl.DataFrame:
    """Return two queries with decisions, whose rows together are odd or not."""
    rows = FIRED[BIAS] if odd else CLEAN["balanced"]
    return rows.with_columns(
        qid=pl.int_range(pl.len()) % 2,
        doc=pl.int_range(pl.len()),
        score=pl.col("label") + pl.int_range(pl.len()) / 1000,
    )


@pytest.mark.parametrize("role", ["predicted", "threshold"])
def test_queries_that_are_decided_have_both_kinds_of_findings(role: str) -> None:
    """With queries and decisions audit() looks at the rankings and, pooled in each segment, at the decisions."""
    for odd in (False, True):
        frame = pl.concat(
            [
                queries(odd).with_columns(day=pl.lit("mo")),
                queries(False).with_columns(day=pl.lit("tu"), qid=pl.col("qid") + 2),
            ]
        )
        scored = frame.with_columns(score=pl.col("predicted") + pl.col("score") / 100)
        decision = {"predicted": "predicted"} if role == "predicted" else {"threshold": 1.0}
        irm = IRM(frame if role == "predicted" else scored, query="qid", score="score", by="day", **decision)
        found = checks(irm)
        assert ("ideal from the results alone" in found) is True
        assert {name for name in found if name in (RARE, MAJORITY, BIAS, CHANCE)} == ({BIAS} if odd else set())
        if odd:
            assert found[BIAS] == (1, 0.5, "mo")
        assert BIAS not in checks(irm(predicted=None, threshold=None))


def test_judged_documents_that_are_not_listed_are_not_predicted() -> None:
    """With judgments beside the frame the documents that no result lists count as decided against."""
    run = pl.DataFrame({"query": [1] * 8, "doc": range(8), "score": np.arange(8.0), "predicted": [1] * 4 + [0] * 4})
    qrels = pl.DataFrame({"query": [1] * 16, "doc": range(16), "grade": [1] * 4 + [0] * 4 + [1] * 8})
    listed = qrels.head(8)
    irm = IRM(run, query="query", predicted="predicted")
    assert not {RARE, MAJORITY, BIAS} & set(checks(irm.judge(listed)))
    found = checks(irm.judge(qrels))
    assert {RARE, MAJORITY, BIAS} & set(found) == {MAJORITY, BIAS}
    assert found[BIAS] == (1, 1.0, None)


@pytest.mark.parametrize("name", FIRED)
@pytest.mark.grid(5)
def test_guards_fire_in_every_kind_of_frame(name: str, kind: str) -> None:
    """audit() gives every kind of frame the same findings; a plan is not run before it is collected."""
    mine = as_polars(IRM(as_kind(FIRED[name], kind)).audit())
    assert mine.rows() == IRM(FIRED[name]).audit().rows()


def test_a_guard_says_what_follows() -> None:
    """Messages say what to look at."""
    messages = {name: IRM(FIRED[name]).audit()["message"][0] for name in (RARE, MAJORITY, BIAS, CHANCE)}
    assert messages == {
        RARE: "less than 10% of the rows are relevant, or are not: always saying the same has a high accuracy; look at "
        "precision, recall and informedness",
        MAJORITY: "always saying the most frequent class would be right more often",
        BIAS: "much more or fewer rows are predicted relevant than are; precision and recall then say as much of the "
        "bias as of the decisions: look at informedness",
        CHANCE: "roc_auc < 0.5: relevant rows have lower scores than others; is the score a distance, or another "
        "class's?",
    }


def test_every_guard_is_made_to_fire() -> None:
    """There is a case here for each guard but one, that an audit of a log has too."""
    irm = IRM(table(tp=1, fp=1, fn=1, tn=1, score=0.5))
    assert decision_checks(irm) == {n.split(",")[0] for n in FIRED} | {"nothing to evaluate"}


# Plain facts


def test_facts_about_decisions() -> None:
    """How many rows are judged, relevant, decided and predicted relevant, and which share they are."""
    rows = table(tp=3, fp=1, fn=1, tn=3).with_columns(day=pl.int_range(8) % 2, run=pl.int_range(8) % 4)
    rows = rows.with_columns(
        label=pl.when(pl.int_range(8) != 7).then("label"),
        predicted=pl.when(pl.int_range(8) != 6).then("predicted"),
        score=pl.when(pl.int_range(8) < 6).then(0.5),
    )
    irm = IRM(rows, by="day", system="run", score="score", predicted="predicted")
    assert facts(irm) == {
        "rows": (8, 1),
        "systems": (4, None),
        "segments": (2, None),
        "rows judged": (7, 7 / 8),
        "relevant rows": (4, 4 / 8),
        "rows decided": (7, 7 / 8),
        "rows predicted relevant": (4, 4 / 8),
        "rows without a score": (2, 2 / 8),
    }
    assert facts(irm(unjudged="drop"))["relevant rows"] == (4, 4 / 7)
    assert facts(irm(unjudged="drop"))["rows judged"] == (7, 7 / 8)


def test_facts_about_classes() -> None:
    """Several classes have no relevant rows; how many there are is told."""
    classes = pl.DataFrame({"label": [*"aaabbc"], "predicted": [None, *"aabbc"]})
    assert facts(IRM(classes)) == {
        "rows": (6, 1),
        "rows judged": (6, 1),
        "classes": (3, None),
        "rows decided": (5, 5 / 6),
    }


# Bad values


def test_several_bad_values() -> None:
    """Each sort of bad value has its finding, with the rows as they stand in the frame; the rest is looked at."""
    label = [1, 0, 1, 0, 1, 0, 1, 0] + [0] * 40
    frame = pl.DataFrame({"label": label, "score": 0.5})
    frame = frame.with_columns(
        score=pl.Series([0.5, float("nan"), float("inf"), 0.5, 0.5, float("inf"), *[0.5] * 42]),
        w=pl.Series([-1.0, 1, 1, None, *[1] * 44], strict=False),
    )
    irm = IRM(frame, weight="w")
    table = irm.audit()
    assert table.filter(severity="error").select("check", "n", "example").rows() == [
        ("scores that are NaN", 1, "row 1"),
        ("scores that are infinite", 2, "row 2"),
        ("weights that are missing", 1, "row 3"),
        ("weights that are negative", 1, "row 0"),
    ]
    assert table.filter(severity="warning")["check"].to_list() == [RARE]
    assert facts(irm)["rows"] == (43, 43 / 48)
    assert facts(irm)["relevant rows"] == (2, 2 / 43)
    with pytest.raises(BadValueError, match=r"2 of 48 rows are infinite \(rows 2, 5\)"):
        irm.audit(fail_on="error")


def test_grades_of_which_none_is_relevant() -> None:
    """Rows whose grades do not reach `rel=` are a finding, as nothing else can be said of them."""
    graded = pl.DataFrame({"grade": [0.0, 1.0, 0.5, None], "score": [0.5, 0.25, 0.125, 0.75]})
    row = IRM(graded, rel=2).audit().row(0, named=True)
    assert row == {
        "check": "grades that do not reach rel",
        "severity": "error",
        "n": 2,
        "share": 2 / 3,
        "example": "row 1",
        "message": "nothing is relevant at rel=2, as the largest is 1; every metric is an error",
    }
    assert "grades that do not reach rel" not in checks(IRM(graded, rel=1))


@pytest.mark.parametrize("match", ["best", "majority", None])
def test_rows_of_no_class_at_all_can_be_audited(match: Any) -> None:
    """Where every row is left out, as its label is missing, there is no majority to fall below."""
    rows = pl.DataFrame({"label": [None, None], "predicted": ["a", "b"]}, schema_overrides={"label": pl.String})
    found = rows.irm(match=match, classes=["a", "b"] if match is None else None).audit()
    assert found["check"][0] == "rows that have no class"
    assert MAJORITY not in found["check"]
