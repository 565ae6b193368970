"""The table of classes with its totals and shares: those of pandas.crosstab and scikit-learn, and of plain calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.testing as pl_testing
import pytest
import sklearn.metrics as skl

from frame_metrics import BadValueError, ColumnError, UnknownNameError
from helpers import error, made_classes

SHARES = ["share", "share_of_predicted", "share_of_actual"]


def rows(seed: int = 0, n: int = 80) -> pl.DataFrame:
    """Rows of several classes, every ninth without a prediction."""
    undecided = pl.int_range(pl.len()) % 9 == 4
    return made_classes(seed, n).with_columns(predicted=pl.when(~undecided).then("predicted"))


def test_totals_by_hand() -> None:
    """After the pairs those over predictions, over classes, over both: keys null, and named in `total_over`."""
    frame = pl.DataFrame({"label": [1, 1, 0, 0, 0], "predicted": [1, 0, 0, 0, 1]})
    found = frame.irm.confusion(margins=True)
    assert found.columns == ["total_over", "predicted", "actual", "n"]
    assert found.rows() == [
        *((None, 0, 0, 2), (None, 0, 1, 1), (None, 1, 0, 1), (None, 1, 1, 1)),
        *(("predicted", None, 0, 3), ("predicted", None, 1, 2), ("actual", 0, None, 3), ("actual", 1, None, 2)),
        ("predicted, actual", None, None, 5),
    ]
    assert frame.irm.confusion().rows() == [row[1:] for row in found.rows()[:4]]


def test_shares_by_hand() -> None:
    """Of all rows, of those with the same prediction, of those of the same class; of totals by the same rule."""
    frame = pl.DataFrame({"label": [1, 1, 0, 0, 0], "predicted": [1, 0, 0, 0, 1]})
    found = frame.irm.confusion(shares=True)
    assert found.columns == ["predicted", "actual", "n", *SHARES]
    assert found.select(SHARES).rows() == [
        (2 / 5, 2 / 3, 2 / 3),
        (1 / 5, 1 / 3, 1 / 2),
        (1 / 5, 1 / 2, 1 / 3),
        (0.2, 0.5, 0.5),
    ]
    right = found.filter(predicted=1, actual=1)
    assert right["share_of_predicted"].item() == frame.irm.evaluate("precision")["value"].item()
    assert right["share_of_actual"].item() == frame.irm.evaluate("recall")["value"].item()
    totals = frame.irm.confusion(margins=True, shares=True)
    assert totals.head(4).drop("total_over").equals(found)
    assert totals.tail(5).select(SHARES).rows() == [
        *((0.6, 0.6, 1), (0.4, 0.4, 1), (0.6, 1, 0.6), (0.4, 1, 0.4), (1, 1, 1)),
    ]


def test_a_share_of_nothing_is_null() -> None:
    """A class that is never predicted, or never true."""
    frame = pl.DataFrame({"label": ["a", "a", "b", "b"], "predicted": ["a", "c", "a", "a"]})
    found = frame.irm.confusion(shares=True)
    assert found.filter(predicted="b").select("share_of_predicted", "share").unique().rows() == [(None, 0)]
    assert found.filter(actual="c")["share_of_actual"].to_list() == [None] * 3


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("seed", range(3))
def test_totals_and_shares_are_those_of_pandas_and_scikit_learn(seed: int, weight: str | None) -> None:
    """pandas.crosstab(margins=, normalize=), and scikit-learn's confusion_matrix(normalize=)."""
    frame = rows(seed).drop_nulls("predicted")
    found = frame.irm(weight=weight).confusion(margins=True, shares=True).to_pandas()
    label, said = frame["label"].to_pandas(), frame["predicted"].to_pandas()
    weights = None if weight is None else frame["w"].to_pandas()
    given: Any = {} if weights is None else {"values": weights, "aggfunc": "sum"}
    found = found.fillna(dict.fromkeys(SHARES, 0))
    for name, normalize in (
        ("n", False),
        ("share", "all"),
        ("share_of_predicted", "columns"),
        ("share_of_actual", "index"),
    ):
        table = pd.crosstab(label, said, margins=True, normalize=normalize, **given).fillna(0)
        total = found["total_over"].fillna("")
        actual = found["actual"].where(~total.str.contains("actual"), "All")
        predicted = found["predicted"].where(~total.str.contains("predicted"), "All")
        for a, p, value in zip(actual, predicted, found[name], strict=True):
            if a in table.index and p in table.columns:  # which the normalized tables of pandas lack in part
                assert value == pytest.approx(table.loc[a, p], abs=1e-12)
    pairs = found[found["total_over"].isna()]
    for name, over in (("share", "all"), ("share_of_predicted", "pred"), ("share_of_actual", "true")):
        theirs = skl.confusion_matrix(label, said, normalize=over, sample_weight=weights)
        np.testing.assert_allclose(pairs[name].fillna(0).to_numpy().reshape(5, 5).T, theirs, atol=1e-12)


@pytest.mark.parametrize("by", [["day"], ["day", "place"]])
@pytest.mark.parametrize("roles", [{}, {"weight": "w"}], ids=str)
def test_a_total_is_the_call_without_the_columns_it_is_over(by: list[str], roles: dict[str, Any]) -> None:
    """Over segments as in evaluate(), and within each over predictions and classes: sums of the pairs."""
    frame = rows(4)
    found = frame.irm(by=by, **roles).confusion(margins=True, shares=True)
    over = {None, *(by if len(by) > 1 else []), ", ".join(by)}
    kinds = ("predicted", "actual", "predicted, actual")
    assert set(found["total_over"]) == {
        *over,
        *(", ".join(filter(None, [one, kind])) for one in over for kind in kinds),
    }
    for one in over:
        left_out = [] if one is None else one.split(", ")
        kept = [name for name in by if name not in left_out]
        alone = frame.irm(by=kept or None, **roles).confusion(shares=True)
        part = found.filter(pl.col("total_over").eq_missing(pl.lit(one)))
        pl_testing.assert_frame_equal(part.drop("total_over", *left_out), alone, abs_tol=1e-12)
        for kind, key in (("predicted", "actual"), ("actual", "predicted")):
            sums = alone.group_by(*kept, key, maintain_order=True).agg(pl.col("n").sum())
            total = found.filter(pl.col("total_over").eq_missing(pl.lit(", ".join(filter(None, [one, kind])))))
            assert total[kind].null_count() == len(total)
            both = total.join(sums, on=[*kept, key], nulls_equal=True, maintain_order="left", validate="1:1")
            assert len(both) == len(total) == len(sums)
            assert both["n"].to_list() == pytest.approx(both["n_right"].to_list(), abs=1e-12)


def test_totals_stand_behind_the_segments_of_their_system() -> None:
    """As in evaluate(): systems, then segments, then totals over them."""
    frame = pl.concat([rows(1, 20).with_columns(model=pl.lit(name)) for name in "yx"])
    found = frame.irm(system="model", by="place").confusion(margins=True)
    groups = found.select("model", "place", pl.col("total_over").fill_null("").str.contains("place")).unique(
        maintain_order=True
    )
    assert groups.rows() == [(m, p, t) for m in "xy" for p, t in ((0, False), (1, False), (None, True))]


def test_no_prediction_is_told_from_a_total() -> None:
    """Both are null; `total_over` has the key of the total only."""
    frame = pl.DataFrame({"label": [*"abc"], "predicted": ["a", None, "c"]})
    found = frame.irm.confusion(margins=True, shares=True)
    undecided = found.filter(pl.col("predicted").is_null(), actual="b").select("total_over", "n", "share_of_actual")
    assert undecided.rows() == [(None, 1, 1), ("predicted", 1, 1)]
    silent = found.filter(pl.col("predicted").is_null(), total_over="actual")
    assert silent.select("n", "share", "share_of_predicted").rows() == [(1, 1 / 3, 1)]


def test_totals_of_clusters_say_what_they_are_matched_to() -> None:
    """A cluster keeps its class in the total over classes; a total over clusters has none."""
    frame = pl.DataFrame({"label": [*"aabb", *"bbb"], "predicted": [*"yyzy", *"yyz"], "day": [1] * 4 + [2] * 3})
    found = frame.irm(match="majority", by="day").confusion(margins=True)
    named = found.filter(pl.col("predicted").is_not_null())
    for day, over, matched in ((1, "actual", ["a", "b"]), (2, "actual", ["b", "b"]), (None, "day, actual", ["b", "b"])):
        own = named.filter(pl.col("day").eq_missing(day), pl.col("total_over") == over)
        assert own.select("predicted", "matched").rows() == [*zip("yz", matched, strict=True)]
    assert found.filter(total_over="predicted")["matched"].null_count() == 4


def test_totals_have_the_queries_whose_segment_nobody_knows() -> None:
    """A judged query without results counts in the totals over the column that the judgments lack."""
    log = pl.DataFrame({"query": [1, 1, 2], "doc": [*"abc"], "score": [3.0, 1.0, 2.0], "day": ["mo", "mo", "tu"]})
    qrels = pl.DataFrame({"query": [1, 2, 3, 3], "doc": [*"acde"], "grade": [1, 0, 1, 0]})
    irm = log.irm(threshold=2, query="query", by="day").judge(qrels)
    found = irm.confusion(margins=True)
    whole = irm(by=None).confusion(margins=True)
    assert found.filter(pl.col("total_over").str.starts_with("day"))["n"].to_list() == whole["n"].to_list()
    assert whole["n"].to_list()[-1] == 5
    assert found.filter(total_over="predicted, actual")["n"].to_list() == [2, 1]


def test_a_frame_without_rows_has_no_classes() -> None:
    """Its table is that of both classes where there are two, and empty by segments."""
    frame = pl.DataFrame(schema={"label": pl.Int64, "predicted": pl.Int64, "day": pl.String})
    found = frame.irm.confusion(margins=True, shares=True)
    assert found["n"].to_list() == [0] * 9
    assert found["share"].null_count() == 9
    assert frame.irm(by="day").confusion().is_empty()


def test_options_that_are_not_true_or_false() -> None:
    """Each is an error that names it, and so is a key that is called as a column of the result."""
    irm: Any = rows().irm
    for option in ("margins", "shares"):
        with pytest.raises(BadValueError, match=f"^{option}='all' is not True or False$"):
            irm.confusion(**{option: "all"})
    with pytest.raises(UnknownNameError, match="has no option 'normalize'"):
        irm.confusion(normalize="all")
    for name, options in (("total_over", {"margins": True}), ("share", {"shares": True}), ("n", {})):
        with pytest.raises(ColumnError, match=f"'{name}' is a column of the result as well"):
            rows().rename({"day": name}).irm(by=name).confusion(**options)


# Fair odds


@pytest.mark.parametrize(
    ("counts", "cells", "won"),
    [
        ((56, 24, 14, 6), (0.8, -0.8, -0.2, 0.2), 0),
        ((70, 0, 0, 30), (1, 0, 0, 1), 1),
        ((58.1, 20.4, 11.9, 9.6), (0.83, -0.68, -0.17, 0.32), 0.15),
        ((47.6, 24.9, 22.4, 5.1), (0.68, -0.83, -0.32, 0.17), -0.15),
    ],
)
def test_payoffs_of_powers(counts: tuple[float, ...], cells: tuple[float, ...], won: float) -> None:
    """Four models at odds of 7 to 3 (Powers, Recall & Precision versus The Bookmaker, figure 1, where ten is one)."""
    rows = pl.DataFrame({"predicted": [1, 1, 0, 0], "label": [1, 0, 1, 0], "weight": counts})
    found = rows.irm(weight="weight").confusion(margins=True, shares=True, payoffs=True)
    own = found.filter(pl.col("total_over").is_null())
    paid = {(row["predicted"], row["actual"]): row["payoff"] for row in own.rows(named=True)}
    assert paid == pytest.approx(dict(zip([(1, 1), (1, 0), (0, 1), (0, 0)], cells, strict=True)))
    odds = {(row["predicted"], row["actual"]): row["odds"] for row in own.rows(named=True)}
    assert odds == pytest.approx({(1, 1): 10 / 7, (1, 0): -10 / 3, (0, 1): -10 / 7, (0, 0): 10 / 3})
    each = found.filter(total_over="actual")
    assert each["payoff"].to_list() == pytest.approx([won, won])
    whole = found.filter(total_over="predicted, actual")["payoff"].item()
    assert [whole, (each["payoff"] * each["share"]).sum()] == pytest.approx([won, won])
    assert found["odds"].null_count() == 5
    assert found.filter(total_over="predicted")["payoff"].to_list() == [None, None]


@pytest.mark.parametrize("match", [None, "best", "majority", "informedness", "payoff"])
def test_payoffs_add_up_to_the_metric(match: Any) -> None:
    """Over true classes to recall less fallout, over all to the metric, in each segment, null where that is undefined.

    A prediction that is no decision, or a cluster without a class, is no bet.
    """
    rng = np.random.default_rng(5)
    n = 400
    rows = pl.DataFrame(
        {
            "day": rng.integers(0, 12, n),
            "label": rng.choice([*"abc"], n),
            "predicted": rng.choice([*"abcd", None], n),
            "weight": rng.choice([0.5, 1.0, 2.0], n),
        }
    ).filter((pl.col("day") > 0) | (pl.col("label") == "a"))
    irm = rows.irm(by="day", weight="weight", match=match, classes=None if match else [*"abcd"])
    table = irm.confusion(margins=True, payoffs=True)
    whole = table.filter(pl.col("total_over").str.ends_with("predicted, actual"))
    metric = irm.evaluate("payoff", margins=True)
    assert whole["payoff"].to_list() == pytest.approx(metric["value"].to_list(), abs=1e-12, nan_ok=True)
    assert whole.filter(day=0)["payoff"].to_list() == [None]
    said = "predicted" if match is None else "matched"
    assert table.filter(pl.col(said).is_null(), pl.col("total_over").is_null())["odds"].null_count() > 0
    if match is None:
        decided = rows.filter(pl.col("predicted").is_not_null()).irm(by="day", weight="weight", classes=[*"abcd"])
        classes = decided.per_class("recall", "fallout", layout="wide").filter(pl.col("class") != "d")
        won = table.filter(pl.col("total_over") == "actual", pl.col("predicted").is_in([*"abc"]), pl.col("day") > 0)
        both = won.join(classes, left_on=["day", "predicted"], right_on=["day", "class"])
        assert len(both) == 33
        assert both["payoff"].to_list() == pytest.approx((both["recall"] - both["fallout"]).to_list(), abs=1e-12)


@pytest.mark.parametrize("kinds", [(pl.Float32, pl.Float64), (pl.Float64, pl.Float32)])
def test_classes_of_two_kinds_of_floats_meet_where_one_was_rounded(kinds: tuple[Any, Any]) -> None:
    """0.1 of 32 bits is 0.1 of 64 bits; NaN is no class that can be listed."""
    values = [0.1, 0.2, 0.3]
    frame = pl.DataFrame(
        {name: pl.Series(values, dtype=kind) for name, kind in zip(("label", "predicted"), kinds, strict=True)}
    )
    irm = frame.irm(classes=values)
    assert irm.evaluate("accuracy")["value"].item() == 1
    assert irm.confusion()["actual"].n_unique() == 3
    assert frame.lazy().irm(classes=values).confusion().collect().equals(irm.confusion())
    assert "nan cannot be one" in error(lambda: frame.irm(classes=[*values, float("nan")]).confusion())
