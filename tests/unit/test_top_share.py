"""Measures of a share of the rows, or of each list: precision, recall and lift with `top=`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM, ColumnError, NotComputableError, Ranking, metrics
from helpers import KINDS, as_kind, as_polars
from refusals import check

SHARES = ("precision(top=0.2)", "recall(top=0.2)", "lift(top=0.2)")
ROWS = pl.DataFrame(
    {
        "score": [0.9, 0.8, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1],
        "label": [1, 0, 1, 0, 1, 0, 0, 0, 0, 0],
        "side": [*"aaaaabbbbb"],
        "other": [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5, 0.5],
        "w": [1.0, 2.0] * 5,
        "n": [1, 2] * 5,
        "kind": [*"xyzxyzxyzx"],
        "yes": [1, 0] * 5,
    }
)
SCORED = ROWS.irm(score="score", label="label")
DECIDED = ROWS.select("label", "yes")
CLASSES = ROWS.irm(label="kind", score={"x": "score", "y": "other", "z": "w"})
LISTS = pl.DataFrame(
    {
        "q": [*"aaaaabbbc"],
        "s": [5.0, 4, 3, 2, 1, 3, 3, 1, None],
        "label": [1, 0, 1, 0, 0, 0, 1, 1, 1],
        "p": [0.5] * 9,
    }
)
RANKED = LISTS.irm(query="q", score="s", label="label", collection_size=20)


def expected_of(rows: pd.DataFrame, top: float) -> dict[str, float]:
    """Compute the measures row by row: each row of the score at the border counts for the places that are left."""
    rows = rows.assign(score=rows["score"].fillna(-np.inf)).sort_values("score", ascending=False)
    n = len(rows)
    k = min(m for m in range(1, n + 1) if m >= top * n - 1e-9)
    border = rows["score"].iloc[k - 1]
    above, tied = rows[rows["score"] > border], rows[rows["score"] == border]
    hits = above["label"].sum() + tied["label"].mean() * (k - len(above))
    r = rows["label"].sum()
    return {"precision": hits / k, "recall": hits / r if r else 0, "lift": hits * n / k / r if r else np.nan}


def drawn(seed: int, n: int = 60) -> pl.DataFrame:
    """Rows of segments of several sizes, with equal scores, and some without a score."""
    random = np.random.default_rng(seed)
    score = random.normal(size=n).round(1)
    return pl.DataFrame(
        {
            "score": pl.Series(np.where(random.random(n) < 0.1, np.nan, score)).fill_nan(None),
            "label": (random.random(n) < 0.3).astype(int),
            "side": random.choice([*"abbccc"], n),
        }
    )


def test_worked_by_hand() -> None:
    """Two of ten rows: the first, and one of the two with the next score, of which one is relevant."""
    found = SCORED.evaluate(*SHARES, "precision(top=1)", "lift(top=1)", "recall(top=.01)")
    assert found.select("metric", "k", "average", "value", "n", "n_undefined").rows() == [
        ("precision(top=0.2)", None, "pooled", 1.5 / 2, 10, 0),
        ("recall(top=0.2)", None, "pooled", 1.5 / 3, 10, 0),
        ("lift(top=0.2)", None, "pooled", (1.5 / 2) / (3 / 10), 10, 0),
        ("precision(top=1)", None, "pooled", 3 / 10, 10, 0),
        ("lift(top=1)", None, "pooled", 1, 10, 0),
        ("recall(top=.01)", None, "pooled", 1 / 3, 10, 0),
    ]
    parts = SCORED(by="side").evaluate("precision(top=0.5)", "lift(top=0.5)", margins=True)
    # Three of five rows of each side, five of all.
    values = parts["value"].to_list()
    assert values[3] is None
    assert values[:3] + values[4:] == pytest.approx([2 / 3, 2 / 3 / (3 / 5), 0, 3 / 5, 2])
    assert ROWS.irm(score="score", count="n").evaluate("precision(top=0.2)")["value"].item() == (1 + 2 / 3) / 3


def test_what_a_float_misses_is_a_whole_number_of_rows() -> None:
    """.07 of 100 is a little more than 7 in floats, and takes 7 rows; a share of few rows takes one."""
    rows = pl.DataFrame({"score": np.arange(100.0, 0, -1), "label": np.arange(100) < 7}).irm()
    assert rows.evaluate("precision(top=0.07)", "precision(top=0.071)")["value"].to_list() == [1, 7 / 8]
    assert rows.evaluate("precision(top=1e-9)")["value"].item() == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("top", [0.07, 0.5])
def test_it_is_what_rows_one_by_one_give(seed: int, top: float) -> None:
    """In every segment, with equal scores and rows without one; it lies on the line of the gain curve."""
    rows = drawn(seed)
    names = [f"{name}(top={top})" for name in ("precision", "recall", "lift")]
    found = rows.irm(by="side").evaluate(*names)
    for (side,), some in rows.group_by("side"):
        values = found.filter(side=side)["value"].to_numpy()
        expected = list(expected_of(some.to_pandas(), top).values())
        assert values == pytest.approx(expected, abs=1e-12, nan_ok=True)
    curve, n = rows.irm().curve("gain"), len(rows)
    share = np.ceil(n * top - 1e-9) / n
    gain = rows.irm().evaluate(f"recall(top={top})")["value"].item()
    assert gain == pytest.approx(np.interp(share, curve["share"], curve["gain"]), abs=1e-12)


def test_of_rankings_it_is_a_cutoff_of_their_own() -> None:
    """Three of five results, two of three, none of none; the second list has a tie at the first place."""
    found = RANKED.per_query("precision(top=0.5)", "recall(top=0.5)", "lift(top=0.5)", layout="wide")
    assert found["precision(top=0.5)"].to_list() == [2 / 3, 1 / 2, 0]
    assert found["recall(top=0.5)"].to_list() == [1, 1 / 2, 0]
    assert found["lift(top=0.5)"].to_list() == [pytest.approx(2 / 3 / (2 / 20)), pytest.approx(1 / 2 / (2 / 20)), None]
    both = RANKED.evaluate("precision(top=0.5)", average=["macro", "micro"])
    assert both.select("k", "value").rows() == [(None, pytest.approx((2 / 3 + 1 / 2) / 3)), (None, 3 / 5)]


@pytest.mark.parametrize(("ties", "value"), [("worst", 0.0), ("best", 1.0), ("order", 0.0), ("expected", 0.5)])
def test_ties_order_rankings_as_at_a_cutoff(ties: Any, value: float) -> None:
    """One of three results: the list has two of equal scores in the first places."""
    irm = RANKED(ties=ties)
    found = irm.per_query("precision(top=0.3)", "precision@1", layout="wide").filter(q="b")
    assert found.select("precision(top=0.3)", "precision@1").row(0) == (value, value)
    if ties == "worst":
        ends = irm.bounds("precision(top=0.3)", of="ties", per_query=True).filter(q="b")
        assert ends.select("lower", "upper", "tied").row(0) == (0, 1, True)


@pytest.mark.parametrize("seed", range(3))
def test_of_rankings_it_is_what_cutoffs_give(seed: int) -> None:
    """A list of n results, each with the cutoff that the share of n is; documents that nobody retrieved count in R."""
    random = np.random.default_rng(seed)
    n = random.integers(1, 9, 6)
    rows = pl.DataFrame({"q": np.repeat(np.arange(6), n), "doc": np.concatenate([np.arange(m) for m in n])})
    score = random.integers(0, 3, len(rows)).astype(float)
    rows = rows.with_columns(score=pl.Series(np.where(random.random(len(rows)) < 0.2, np.nan, score)).fill_nan(None))
    rows = rows.with_columns(grade=pl.Series(random.integers(0, 2, len(rows))))
    for ties in ("doc", "expected"):
        irm = rows.irm(query="q", collection_size=50, ties=ties)
        found = irm.per_query("precision(top=0.4)", "recall(top=0.4)", "lift(top=0.4)", layout="wide")
        for q, amount in rows.group_by("q", maintain_order=True).agg(pl.col("score").count()).rows():
            k = int(np.ceil(0.4 * amount - 1e-9))
            own = found.filter(q=q)
            if k:
                at = irm.per_query(f"precision@{k}", f"recall@{k}", f"lift@{k}").filter(q=q)["value"].to_list()
                assert [own[name].item() for name in own.columns[1:4]] == at


def test_places_that_were_not_logged_are_places() -> None:
    """The last rank is 6: half of the list are three places, of which one has a result."""
    log = pl.DataFrame({"query": [1, 1, 1], "rank": [1, 4, 6], "label": [1, 1, 0]})
    assert log.irm(query="query").per_query("precision(top=0.5)", "recall(top=0.5)")["value"].to_list() == [
        1 / 3,
        1 / 2,
    ]


def test_systems_are_compared_on_queries() -> None:
    """As at a cutoff: lists of ten, a tenth is the first."""
    random = np.random.default_rng(0)
    rows = pl.DataFrame({"q": np.repeat(np.arange(12), 10), "label": random.integers(0, 2, 120)})
    rows = rows.with_columns(a=random.normal(size=120), b=random.normal(size=120))
    irm = rows.irm(query="q", score=["a", "b"], label="label")
    asked: dict[str, Any] = {"resamples": 50, "permutations": 50}
    share, cutoff = (irm.compare(name, **asked).drop("metric", "k") for name in ("precision(top=0.1)", "precision@1"))
    assert share.equals(cutoff)
    share, cutoff = (irm.evaluate(name, ci=0.9).drop("metric", "k") for name in ("precision(top=0.1)", "precision@1"))
    assert share.equals(cutoff)


def test_intervals_are_those_of_one_share() -> None:
    """Lift and recall are one share of the relevant rows; all relevant, or none, has one; each holds its value."""
    rows = drawn(1)
    found = rows.irm().evaluate(*SHARES, ci=0.9, resamples=100)
    low, high = found["ci_low"].to_list(), found["ci_high"].to_list()
    factor = len(rows) / np.ceil(0.2 * len(rows))
    assert [low[2], high[2]] == pytest.approx([low[1] * factor, high[1] * factor])
    assert all(a <= value <= b for a, value, b in zip(low, found["value"], high, strict=True))
    sure = pl.DataFrame({"score": np.arange(40.0, 0, -1), "label": np.arange(40) < 20}).irm()
    one = sure.evaluate("precision(top=0.2)", ci=0.9, resamples=100)
    assert one["ci_low"].item() < one["ci_high"].item() == one["value"].item() == 1
    none = sure(positive=0).evaluate("precision(top=0.2)", "recall(top=0.2)", ci=0.9, resamples=100)
    assert none["value"].to_list() == none["ci_low"].to_list() == [0, 0]
    assert (none["ci_high"] > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_without_rows_they_are_null(kind: str) -> None:
    """In a frame of any kind."""
    empty = as_polars(IRM(as_kind(drawn(2)[:0], kind)).evaluate("lift(top=0.1)"))
    assert empty.select("value", "n").rows() == [(None, 0)]


def test_files_and_duckdb_agree() -> None:
    """Rows that are counted by pieces give what rows in memory give."""
    duckdb = pytest.importorskip("duckdb")
    rows = drawn(3)
    relation = duckdb.connect().from_arrow(rows.to_arrow())
    found = IRM(relation, by="side", score="score", label="label").evaluate(*SHARES, ci=0.9, resamples=30)
    expected = rows.irm(by="side").evaluate(*SHARES, ci=0.9, resamples=30)
    for one, other in zip(found.fetchall(), expected.rows(), strict=True):
        assert one == pytest.approx(other, nan_ok=True)


def test_as_a_value() -> None:
    """It prints as the text that reads back to it, and takes the public inputs."""
    metric = metrics.precision(top=0.25)
    assert str(metric) == "precision(top=0.25)"
    assert SCORED.evaluate(metric)["metric"].item() == "precision(top=0.25)"
    assert metric(Ranking(grade=[1, 0, 0, 0, 1, 1], lengths=[4, 2])).tolist() == [1, 1]
    names = ["ppv(top=.5)", "Lift (top=0.5)", "enrichment_factor(top=0.5)", "sensitivity(top=0.5)"]
    assert SCORED.evaluate(*names)["value"].to_list() == [3 / 5, 2, 2, 1]


REFUSALS = r"""
SCORED.evaluate("precision(top=10)")
    BadValueError: precision: top=10 is not above 0, at most 1; 10 % is top=0.1
    but: SCORED.evaluate("precision(top=0.1)")
SCORED.evaluate("lift(top=0)")
    BadValueError: lift: top=0 is not above 0, at most 1
SCORED.evaluate("lift(top=0.1)@5")
RANKED.evaluate(metrics.lift(top=0.1) @ 5)
RANKED.evaluate((metrics.lift @ 5)(top=0.1))
    BadValueError: lift: top=0.1 takes a share, and @5 a number of results; pass one of them
    but: RANKED.evaluate("lift(top=0.1)", "lift@5")
SCORED.evaluate("f1(top=0.1)")
    UnknownNameError: f1 has no parameter 'top'; it has 'rel', 'judged_only'
SCORED.evaluate("lift@10%")
    BadValueError: 'lift@10%': a cutoff is a number of results; a share is lift(top=0.1)
SCORED.evaluate("precision@0.1")
    BadValueError: precision@0.1: the cutoff is not a whole number from 1; a share is precision(top=0.1)
SCORED.evaluate("ndcg@10%")
    BadValueError: 'ndcg@10%': the cutoff '10%' is not a number
SCORED.evaluate(VALUE)
    for: "top_decile_lift", "Top-decile lift", "lift in the top 10%", "lift_top_10pct", "EF10%"
    UnknownNameError: there is no metric VALUE; did you mean 'lift(top=0.1)'?
    but: SCORED.evaluate("lift(top=0.1)")
SCORED.evaluate("precision at 5 percent")
    UnknownNameError: there is no metric 'precision at 5 percent'; did you mean 'precision(top=0.05)'?
SCORED.evaluate(VALUE)
    for: "cumulative gains", "gain at 10%"
    UnknownNameError: there is no metric VALUE; did you mean 'recall(top=0.1)'?
ROWS.irm(score="score", weight="w").evaluate("lift(top=0.1)")
    NotComputableError: lift(top=0.1) counts the rows with the highest scores, and w weighs them; pass weight=None, or
        count= for rows that stand for several
    but: ROWS.irm(score="score", weight=None).evaluate("lift(top=0.1)")
    but: ROWS.irm(score="score", count="n").evaluate("lift(top=0.1)")
CLASSES.evaluate("precision(top=0.1)")
    NotComputableError: precision(top=0.1) takes the rows with the highest scores, and each of 3 classes has its own;
        name the score of one, score=, and the class, positive=
    but: CLASSES(score="score", positive="x").evaluate("precision(top=0.1)")
DECIDED.irm(predicted="yes").evaluate("precision(top=0.1)")
    ColumnError: the score is missing; name its column with score=, one of 'label'
    but: ROWS.irm(score="score", predicted="yes").evaluate("precision", "precision(top=0.1)")
SCORED(cluster="side").evaluate("lift(top=0.1)", ci=0.9)
    NotComputableError: lift(top=0.1) has no interval of rows in clusters: those with the highest scores may be of few;
        leave ci= out, or pass cluster=None for rows that are independent
    but: SCORED(cluster="side").evaluate("lift(top=0.1)")
    but: SCORED(cluster="side").evaluate("lift(top=0.1)", "brier", ci=0.9)
    but: SCORED(cluster=None).evaluate("lift(top=0.1)", ci=0.9)
ROWS.irm(score=["score", "other"], label="label").compare("lift(top=0.1)")
SCORED.compare("lift(top=0.1)", against="chance")
SCORED(arm="side").ab_test("lift(top=0.1)")
    NotComparedError: lift(top=0.1) is compared over queries only: of rows, systems have different rows with the
        highest scores; ask evaluate() for the value of each, or compare roc_auc or average_precision
    but: ROWS.irm(score=["score", "other"], label="label").evaluate("lift(top=0.1)", ci=0.9)
    but: ROWS.irm(score=["score", "other"], label="label").compare("roc_auc", "average_precision", resamples=50)
SCORED.per_class("lift(top=0.1)")
    NotComputableError: scores of two classes rank one of them; evaluate() has their metrics
SCORED.thresholds("lift(top=0.1)")
    NotComputableError: lift(top=0.1) cannot be computed from a threshold
    but: SCORED.thresholds("lift")
RANKED.explain("precision(top=0.1)", query="a")
    NotComputableError: precision(top=0.1): explain() shows the results down to a cutoff; ask for one, as precision@10
    but: RANKED.explain("precision@10", query="a")
RANKED.bounds("precision(top=0.1)", of="unjudged")
    NotComputableError: precision(top=0.1): bounds of unjudged rows are known at a cutoff; ask for one, as precision@10
    but: RANKED.bounds("precision@10", of="unjudged")
RANKED(collection_size=None).evaluate("lift(top=0.1)")
    NotComputableError: lift(top=0.1) counts true negatives, and so needs collection_size=: [...]
    but: RANKED(collection_size=True).evaluate("lift(top=0.1)")
LISTS.irm(query="q", score="s", propensity="p").evaluate("precision(top=0.1)")
    NotComputableError: precision(top=0.1) does not add up over the results of a ranking, [...]
    but: LISTS.irm(query="q", score="s", propensity=None).evaluate("precision(top=0.1)")
"""


def test_what_is_refused() -> None:
    """A share of rows has no weights, and no differences of systems; of rankings it is no place for bounds."""
    check(REFUSALS, globals())


def test_a_cutoff_without_a_query_and_a_curve_of_lift_lead_to_what_is_meant() -> None:
    """The share of the first rows, and a row for each threshold."""
    offer = r"and the query is missing; .* there is lift\(top=0.1\), of the top tenth, and top=2 / the number of rows"
    with pytest.raises(ColumnError, match=offer):
        SCORED.evaluate("lift@2")
    assert SCORED.evaluate(metrics.lift(top=2 / len(ROWS)))["value"].to_list() == [pytest.approx(0.75 / 0.3)]
    assert len(SCORED.evaluate("lift(top=0.1)"))
    with pytest.raises(NotComputableError, match=r"'lift' at each threshold is thresholds\('lift'\)"):
        SCORED.curve("lift")
    assert "lift" in SCORED.thresholds("lift").columns
