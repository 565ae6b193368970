"""The table of classes with its totals and shares: those of pandas.crosstab and scikit-learn, and of plain calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.testing as pl_testing
import pytest
import sklearn.metrics as skl

from frame_metrics import IRM, BadValueError, ColumnError, UnknownNameError
from helpers import KINDS, as_kind, as_polars, made_classes

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


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_has_totals_and_shares(kind: str) -> None:
    """The same rows in pandas, polars, plans and Arrow, of which a plan knows the types before."""
    expected = rows().irm(by=["day", "place"], weight="w").confusion(margins=True, shares=True)
    found = IRM(as_kind(rows(), kind), by=["day", "place"], weight="w").confusion(margins=True, shares=True)
    if isinstance(found, pl.LazyFrame):
        assert found.collect_schema() == expected.schema
    pl_testing.assert_frame_equal(as_polars(found), expected, abs_tol=1e-12)


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
