"""The guards of audit(): what the literature warns about in decisions and scores, segment by segment."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from frame_metrics import IRM, BadValueError
from helpers import as_kind, as_polars, facts
from inside import decision_checks

RARE = "prevalence near 0 or 1"
MAJORITY = "accuracy below the majority class"
BIAS = "bias far from prevalence"
ROUNDED = "rows of equal scores past 2**53"
UNSCORED = "many rows without a score"
CHANCE = "score worse than chance"
HIDDEN = "accuracy that hides the recall"
WORSE = "decisions worse than chance"
BELOW = "classes worse than chance"
FEW = "rare classes among several"
LITTLE = "classes with few rows"
NEVER = "classes predicted and never true"
SPELLED = "classes that differ in case or spaces only"


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


def classes(cells: dict[str, int], **more: Any) -> pl.DataFrame:
    """Return rows of several classes, so many of each pair of a true and a predicted class."""
    rows = [(pair[0], pair[1]) for pair, n in cells.items() for _ in range(n)]
    return pl.DataFrame(rows, schema=["label", "predicted"], orient="row").with_columns(
        **{name: pl.lit(value) for name, value in more.items()}
    )


# A table that fires one guard and no other, and what it is about.
FIRED: dict[str, pl.DataFrame] = {
    RARE: table(tp=1, fp=0, fn=0, tn=19),
    f"{RARE}, many": table(tp=19, fp=0, fn=0, tn=1),
    MAJORITY: table(tp=10, fp=15, fn=20, tn=40),
    BIAS: table(tp=10, fp=0, fn=15, tn=75),
    f"{BIAS}, of the others": table(tp=70, fp=16, fn=0, tn=14),
    CHANCE: pl.DataFrame({"label": [1, 0, 1, 0] * 13, "score": [0.125, 0.25, 0.5, 0.75] * 13}),
    HIDDEN: table(tp=5, fp=1, fn=7, tn=87),
}
# Tables of several classes that do, and the class.
FIRED_CLASSES: dict[str, tuple[pl.DataFrame, int, float, str]] = {
    # b is taken for c, and c for b, and yet most are right.
    BELOW: (classes({"aa": 100, "bc": 40, "cb": 40, "bb": 1, "cc": 1}), 2, 2 / 3, "b"),
    FEW: (classes({"aa": 150, "bb": 90, "cc": 10}), 1, 1 / 3, "c"),
    LITTLE: (classes({"aa": 20, "bb": 20, "cc": 4}), 1, 1 / 3, "c"),
    NEVER: (classes({"aa": 20, "bb": 18, "bB": 2, "cc": 20}), 2, 2 / 60, "B"),
    SPELLED: (classes({"aa": 20, "bb": 20, "BB": 20}), 2, 2 / 3, "'B', 'b'"),
}
CLEAN: dict[str, pl.DataFrame] = {
    "balanced": table(tp=40, fp=10, fn=10, tn=40),
    "one in ten": table(tp=8, fp=2, fn=2, tn=88),
    "nine in ten": table(tp=88, fp=2, fn=2, tn=8),
    "as good as the majority": table(tp=15, fp=15, fn=15, tn=55),
    "twice as many": table(tp=20, fp=20, fn=0, tn=60),
    "scores at chance": pl.DataFrame({"label": [1, 0, 0, 1], "score": [0.25, 0.125, 0.5, 0.375]}),
    "half of few": table(tp=6, fp=1, fn=6, tn=87),
    "few against chance": table(tp=0, fp=4, fn=0, tn=6).vstack(table(tp=4, fp=0, fn=0, tn=0)),
    "three classes": classes({"aa": 60, "bb": 32, "cc": 8}),
    "as chance has it": classes({"aa": 10, "ab": 10, "ba": 10, "bb": 10, "cc": 10}),
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
    assert set(checks(IRM(table(tp=0, fp=0, fn=1, tn=19)))) == {RARE, BIAS, HIDDEN}


# Decisions and classes that are worse than chance


def test_decisions_worse_than_chance() -> None:
    """Twenty rows of each class that are turned round are no chance; nor is a small share of many rows."""
    assert checks(IRM(table(tp=0, fp=20, fn=20, tn=0))) == {MAJORITY: (1, 1.0, None), WORSE: (1, 1.0, None)}
    assert set(checks(IRM(table(tp=4500, fp=5500, fn=5500, tn=4500)))) == {MAJORITY, WORSE}
    irm = IRM(
        table(tp=0, fp=20, fn=20, tn=0).rename({"label": "spam", "predicted": "guess"}), label="spam", predicted="guess"
    )
    assert irm.audit().filter(check=WORSE)["message"].item() == (
        "informedness is -1.000, and chance gives 0: guess and spam agree less often than at random. Is the other "
        "class the relevant one (positive=), or are the values reversed?"
    )
    turned = IRM(pl.DataFrame({"label": [1, 0] * 20, "score": [0.25, 0.75] * 20}), threshold=0.5)
    assert "score >= 0.5 and label agree less often" in turned.audit().filter(check=WORSE)["message"].item()


def test_decisions_about_queries_with_weights_that_are_worse_than_chance() -> None:
    """The weight of a query is none of its rows: they are counted as they are."""
    log = table(tp=0, fp=20, fn=20, tn=0).with_columns(query=pl.int_range(40) % 2, visits=pl.int_range(40) % 2 + 1)
    irm = log.irm(query="query", predicted="predicted")
    assert WORSE in checks(irm)
    assert WORSE in checks(irm(weight="visits"))


@pytest.mark.slow
def test_scores_are_worse_than_chance_by_no_accident() -> None:
    """Random scores fall below half of the time; three deviations of Mann and Whitney's test are no accident."""
    name, random = "score worse than chance", np.random.default_rng(0)
    found = 0
    for _ in range(100):
        n = int(random.integers(2, 200))
        frame = pl.DataFrame({"label": np.arange(n) % 2, "score": random.random(n)})
        found += name in checks(IRM(frame))
    assert found <= 2
    assert name not in checks(IRM(pl.DataFrame({"label": [1, 0], "score": [0.1, 0.2]})))
    # 4 and 4 rows turned round: (0.5 - 0) / sqrt(9 / (12 * 16)) = 2.31; 8 and 8: 3.36
    for n, expected in ((4, False), (8, True)):
        turned = pl.DataFrame({"label": [1] * n + [0] * n, "score": [0.0] * n + [1.0] * n})
        assert (name in checks(IRM(turned))) is expected
        counted = turned.unique(maintain_order=True).with_columns(count=pl.lit(n))
        assert (name in checks(IRM(counted, count="count"))) is expected


def test_decisions_that_a_few_rows_may_put_below_chance() -> None:
    """With few rows, or few beyond what chance does, nothing is said; undecided rows say nothing."""
    assert WORSE not in checks(IRM(table(tp=0, fp=4, fn=4, tn=0)))
    assert WORSE not in checks(IRM(table(tp=45, fp=55, fn=55, tn=45)))
    assert WORSE not in checks(IRM(table(tp=0, fp=18, fn=1, tn=1)))
    assert WORSE not in checks(IRM(table(tp=10, fp=3, fn=87, tn=0)))  # three of a hundred rows are not relevant
    assert WORSE not in checks(IRM(table(tp=10, fp=87, fn=3, tn=0)))  # or not predicted
    some = table(tp=0, fp=20, fn=20, tn=0).with_columns(pl.when(pl.int_range(40) % 5 == 0).then("predicted"))
    assert WORSE not in checks(IRM(some))


def test_decisions_worse_than_chance_are_seldom_chance() -> None:
    """Where it is said Fisher's exact test says it too, at 1 %, and where that is beyond doubt it is said."""
    rng = np.random.default_rng(5)
    counts = [rng.multinomial(n, rng.dirichlet([1] * 4)) for n in rng.integers(5, 400, 60)]
    tables = [table(*map(int, cells)).with_columns(day=pl.lit(i)) for i, cells in enumerate(counts)]
    said = 0
    for i, (tp, fp, fn, tn) in enumerate(counts):
        p = stats.fisher_exact([[tp, fp], [fn, tn]], alternative="less").pvalue
        fired = WORSE in checks(IRM(tables[i]))
        said += fired
        assert p < 0.01 if fired else p > 1e-6, (tp, fp, fn, tn)
    assert said > 5


@pytest.mark.parametrize("name", FIRED_CLASSES)
def test_a_guard_of_several_classes_fires(name: str) -> None:
    """A frame of several classes with one thing odd has that finding and no other, with a class as its example."""
    frame, n, share, example = FIRED_CLASSES[name]
    beside = {SPELLED: (2, 1 / 2, "'B', 'b'")} if name == NEVER else {}
    assert checks(IRM(frame)) == {name: (n, pytest.approx(share), example)} | beside


@pytest.mark.parametrize("name", [BELOW, LITTLE])
def test_a_guard_of_several_classes_looks_at_every_segment(name: str) -> None:
    """It counts the classes of every segment, and names the first segment and class."""
    odd, n, _, example = FIRED_CLASSES[name]
    parts = [("mo", CLEAN["three classes"]), ("tu", odd), ("we", odd)]
    frame = pl.concat(part.with_columns(day=pl.lit(day)) for day, part in parts)
    assert checks(IRM(frame, by="day")) == {name: (2 * n, pytest.approx(2 * n / 9), f"tu, {example}")}


def test_a_class_is_rare_among_all_rows() -> None:
    """A class that is rare in one segment only is not rare; the share is that of the rows of all segments."""
    parts = [("mo", CLEAN["three classes"]), ("tu", FIRED_CLASSES[FEW][0]), ("we", FIRED_CLASSES[FEW][0])]
    frame = pl.concat(part.with_columns(day=pl.lit(day)) for day, part in parts)
    assert checks(IRM(frame, by="day")) == {FEW: (1, pytest.approx(1 / 3), "c")}
    told = IRM(frame, by="day").audit().filter(check=FEW)["message"].item()
    assert told.startswith("c is 4.67 % of all rows, ")
    often = pl.concat([frame, classes({"cc": 40}, day="mo")])
    assert FEW not in checks(IRM(often, by="day"))


def test_classes_below_chance_that_make_the_whole_worse() -> None:
    """Where the informedness of all is below 0 too, both are said."""
    found = checks(IRM(classes({"ab": 30, "ba": 30, "cc": 9})))
    assert set(found) == {MAJORITY, WORSE, BELOW}
    assert found[BELOW] == (2, pytest.approx(2 / 3), "a")


def test_messages_about_classes() -> None:
    """A message has the class, what was found and what to do, in the caller's columns."""
    frames = {
        name: frame.rename({"label": "animal", "predicted": "guess"}) for name, (frame, *_) in FIRED_CLASSES.items()
    }
    messages = {
        name: IRM(frame, label="animal", predicted="guess").audit().filter(check=name)["message"].item()
        for name, frame in frames.items()
    }
    assert messages == {
        SPELLED: "'B', 'b' differ in case or spaces only, and count as different classes: make them alike if they mean "
        "the same",
        BELOW: "informedness of b is -0.259, and chance gives 0: guess is b less often where animal is b than "
        "elsewhere; confusion() shows what is predicted instead",
        FEW: "c is 4.00 % of all rows, less than a fifth of an equal share: accuracy and averages weighted by rows "
        "hardly depend on it, but the macro average counts it as much as any other class; look at per_class()",
        NEVER: "guess has 'B', which animal never has (there are 'a', 'b', 'c'); without true rows its precision is 0, "
        "also in macro averages. Correct it, or name it with abstain= if it is no decision; did you mean 'b'?",
        LITTLE: "c is true in 4 of the rows: with fewer than 5 of a class, intervals of averages over classes, as of "
        "macro recall, hold the truth in 80 to 95 % of samples. Join rare classes, or label more of their rows",
    }


def test_a_misspelt_class() -> None:
    """Beside a relevant class it counts as not relevant; what is named, or found as a cluster, is no mistake."""
    rows = pl.DataFrame({"label": ["spam", "ham"] * 20, "predicted": ["spam", "ham"] * 19 + ["Spam", "ham"]})
    found = IRM(rows, positive="spam").audit().filter(check=NEVER)
    assert found.select("n", "share", "example").rows() == [(1, 1 / 40, "Spam")]
    assert found["message"].item() == (
        "predicted has 'Spam', which label never has (there are 'ham', 'spam'); it counts as not positive. Correct it, "
        "or name it with abstain= if it is no decision; did you mean 'spam'? (n counts rows)"
    )
    assert NEVER not in checks(IRM(rows, positive=["spam", "Spam"]))
    assert NEVER in checks(IRM(rows))
    ways: list[dict[str, Any]] = [{"abstain": ["Spam"], "classes": ["ham", "spam"]}, {"match": "majority"}]
    for way in ways:
        assert NEVER not in checks(IRM(rows, **way))
    counted = rows.with_columns(n=pl.when(pl.int_range(40) == 38).then(7).otherwise(1))
    assert checks(IRM(counted, positive="spam", count="n"))[NEVER] == (7, 7 / 46, "Spam")
    query = rows.with_columns(query=pl.int_range(40) % 2, score=pl.lit(1.0))
    assert checks(IRM(query, query="query", predicted="predicted", positive="spam"))[NEVER][2] == "Spam"


def test_nothing_true_at_all_is_no_misspelling() -> None:
    """Of labels 0 and 1 a day without a positive is a day like any other."""
    assert NEVER not in checks(IRM(table(tp=0, fp=5, fn=0, tn=5)))


def test_weights_are_no_rows() -> None:
    """Weights of a thousand leave four rows four; and rows that stand for many are so many."""
    four = pl.DataFrame({"label": [1, 1, 0, 0], "predicted": [0, 0, 1, 1], "n": [1000] * 4})
    assert WORSE not in checks(IRM(four, weight="n"))
    assert WORSE in checks(IRM(four, count="n"))
    many = table(tp=0, fp=200, fn=200, tn=0).with_columns(w=0.001, n=pl.lit(3))
    assert WORSE in checks(IRM(many, weight="w"))
    assert WORSE in checks(IRM(many, weight="w", count="n"))
    assert WORSE not in checks(IRM(four.with_columns(n=5), weight="n"))


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
    left_out = {"rows left out without a label": (100, 100 / 120, "day = tu")}
    assert checks(IRM(frame, by="day", unjudged="drop")) == {RARE: (1, 1.0, "mo")} | left_out


def test_the_severity_of_guards() -> None:
    """What the guards find are warnings, which stand before what is only worth knowing about the queries."""
    frame = table(tp=4, fp=60, fn=0, tn=36).with_columns(score=pl.int_range(pl.len()).cast(pl.Float64))
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
    scores = pl.DataFrame({"label": [1, 0, 1, 0] * 6, "score": np.tile([0.75, 0.25, 0.5, 0.5], 6)})
    assert checks(IRM(scores)) == {}
    assert checks(IRM(scores, threshold=0.5)) == {}
    assert set(checks(IRM(scores, threshold=0.8))) == {BIAS, "threshold outside the scores"}
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
    classes = pl.DataFrame({"label": [*"aaabbc"] * 5, "predicted": [*"abcbca"] * 5})
    assert checks(IRM(classes)) == {MAJORITY: (1, 1.0, None)}
    assert checks(IRM(classes.with_columns(predicted=pl.Series([*"aabbca"] * 5)))) == {}
    assert checks(IRM(classes.with_columns(predicted=pl.Series([None, *"bcbca"] * 5)))) == {MAJORITY: (1, 1.0, None)}


def test_what_is_said_of_two_classes_is_not_said_of_several() -> None:
    """Each of many classes is rare, and each of three is seldom predicted where little is decided: both are fine."""
    many = pl.DataFrame({"label": [*"abcdefghijkl"] * 5, "predicted": [*"abcdefghijkl"] * 5})
    assert checks(IRM(many)) == {}
    said = [*"aa", None, None, *"bb", None, None, "c", *[None] * 3]
    three = pl.DataFrame({"label": [*"aaaabbbbcccc"] * 2, "predicted": said * 2})
    assert checks(IRM(three)) == {}


def test_true_rows_of_a_class_are_counted() -> None:
    """Rows count as many as they stand for, whatever their weight; a class that is never true has none."""
    few = classes({"aa": 5, "bb": 5, "cc": 4, "ad": 1})
    assert checks(IRM(few, classes=[*"abcd"]))[LITTLE] == (1, pytest.approx(1 / 3), "c")
    heavy = few.with_columns(w=pl.lit(9.0))
    assert checks(IRM(heavy, classes=[*"abcd"], weight="w"))[LITTLE][0] == 1
    counted = few.with_columns(n=pl.lit(2))
    assert LITTLE not in checks(IRM(counted, classes=[*"abcd"], count="n"))
    assert LITTLE not in checks(IRM(table(tp=1, fp=0, fn=1, tn=1)))


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
        assert ("only results are judged" in found) is True
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
def test_guards_fire_in_every_kind_of_frame(name: str, kind: str) -> None:
    """audit() gives every kind of frame the same findings; a plan is not run before it is collected."""
    mine = as_polars(IRM(as_kind(FIRED[name], kind)).audit())
    assert mine.rows() == IRM(FIRED[name]).audit().rows()


def test_a_guard_says_what_follows() -> None:
    """Messages say what to look at."""
    messages = {name: IRM(FIRED[name]).audit()["message"][0] for name in (RARE, MAJORITY, BIAS, CHANCE, HIDDEN)}
    assert messages == {
        RARE: "5.00 % of the rows are relevant, so giving every row the same answer has an accuracy of 95.00 %; look "
        "at precision, recall and informedness",
        MAJORITY: "accuracy is 58.82 %, less than the 64.71 % of always predicting the most frequent class; look at "
        "confusion()",
        BIAS: "10.00 % of the rows are predicted relevant, but 25.00 % are relevant: precision and recall then show "
        "this difference as much as the quality of the decisions; look at informedness",
        CHANCE: "roc_auc is 0.250, and chance gives 0.5: relevant rows have lower scores than others, more clearly "
        "than chance explains. Is score a distance, or the score of another class?",
        HIDDEN: "accuracy is 92.00 %, and recall 41.7 %: predicting nothing has an accuracy of 88.00 %, because few "
        "rows are relevant; look at recall, precision and informedness",
    }


def test_every_guard_is_made_to_fire() -> None:
    """There is a case here for each guard but one, that an audit of a log has too."""
    irm = IRM(table(tp=1, fp=1, fn=1, tn=1, score=0.5))
    # beside another one, always, or with a test of its own
    beside = {"nothing to evaluate", "only one class", WORSE, ROUNDED, UNSCORED}
    assert decision_checks(irm) == {n.split(",")[0] for n in FIRED} | beside
    assert decision_checks(IRM(classes({"aa": 1, "bc": 1}, score=0.5))) == {
        *FIRED_CLASSES,
        MAJORITY,
        WORSE,
        "nothing to evaluate",
    }


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
        "relevant rows": (4, 4 / 7),  # here and below of the rows with a label
        "rows decided": (6, 6 / 7),
        "rows predicted relevant": (4, 4 / 7),
        "rows without a score": (1, 1 / 7),
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


def test_equal_scores_that_may_be_rounded() -> None:
    """Rows of one segment whose scores are so large that a text of them is read as another number."""
    scores = [float(f"{2**53 + i}.0") for i in range(3)] + [0.5, 0.5, None]
    rows = pl.DataFrame({"label": [1, 0, 1, 0, 1, 0], "score": scores, "day": [1, 1, 2, 1, 1, 2]})
    for irm in (IRM(rows), IRM(rows, by="day"), IRM(rows.with_columns(n=1), count="n")):
        assert irm.audit().filter(check=ROUNDED).select("severity", "n", "share").rows() == [("warning", 2, 2 / 6)]
    assert ROUNDED not in IRM(rows.with_columns(pl.col("score") / 4)).audit()["check"]


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
        ("weights that are negative", 1, "row 0"),
        ("rows that have no weight", 1, "row 3"),
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
        "message": "nothing is relevant at rel=2, because the largest grade is 1; every metric raises an error: "
        "set a lower rel=",
    }
    assert "grades that do not reach rel" not in checks(IRM(graded, rel=1))


def test_grades_that_are_all_relevant() -> None:
    """Ratings of rows without a query, all of which are relevant, are a finding with an example, as those of a log."""
    table = IRM(pl.DataFrame({"grade": [3, 4, 5, 3], "score": [0.1, 0.2, 0.3, 0.4]})).audit()
    assert table.filter(check="no grade below rel").select("n", "share", "example").row(0) == (4, 1, "row 0")


@pytest.mark.parametrize("match", ["best", "majority", None])
def test_rows_of_no_class_at_all_can_be_audited(match: Any) -> None:
    """Where every row is left out, as its label is missing, there is no majority to fall below."""
    rows = pl.DataFrame({"label": [None, None], "predicted": ["a", "b"]}, schema_overrides={"label": pl.String})
    found = rows.irm(match=match, classes=["a", "b"] if match is None else None).audit()
    assert found["check"][0] == "rows that have no class"
    assert MAJORITY not in found["check"]
