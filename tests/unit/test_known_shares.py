"""Intervals of shares where all values are alike: of metrics between 0 and 1, and of no position and no latency."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

CLICKS = pl.DataFrame({"query": [q for q in range(12) for _ in range(3)], "rank": [1, 2, 3] * 12})


def ends(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return frame.select("ci_low", "ci_high").rows()


@pytest.mark.parametrize("seconds", [0.0, 1.0, 2.0])
def test_equal_values_have_no_interval_whatever_their_unit(seconds: float) -> None:
    """A latency of 1 in each query is no share of 0 and 1; nor are differences of such."""
    frame = pl.DataFrame({"query": range(40), "arm": ["a", "b"] * 20, "seconds": seconds})
    irm = frame.irm(value="seconds")
    assert ends(irm.evaluate(ci=0.95)) == [(None, None)]
    for found in (irm(arm="arm").ab_test(), irm(arm="arm").change()):
        assert ends(found) == [(None, None)]
    pair = frame.with_columns(query=pl.col("query") // 2).irm(system="arm", value="seconds").compare()
    assert (pair["test"][0], *ends(pair)) == ("randomization", (None, None))


def test_equal_areas() -> None:
    """Of two systems with the same scores there is no interval; of two perfect arms there is that of so many rows."""
    rows = {"doc": range(40), "label": [1, 0] * 20, "a": [0.9, 0.1] * 20, "b": [0.9, 0.1] * 20}
    pair = pl.DataFrame(rows).irm(query=None, score=["a", "b"], doc="doc").compare("roc_auc", baseline="a")
    arms = pl.DataFrame(rows).with_columns(arm=pl.col("doc") // 2 % 2).irm(query=None, score="a", arm="arm")
    assert ends(pair) == [(None, None)]
    known = pair.select("difference", "p_value", "mde", "relative_low", "test").row(0)
    assert known == (0, 1, None, None, "delong")
    found = arms.ab_test("roc_auc")
    assert ends(found)[0] == pytest.approx((-0.1998, 0.1998), abs=1e-4)
    assert found.select("difference", "p_value", "test").row(0) == (0, 1, "newcombe")


def test_first_clicks_at_rank_1_are_no_share() -> None:
    """Each search has its click at rank 1: a mean position below 1 cannot be, and one above it can."""
    irm = CLICKS.with_columns(label=pl.col("rank") == 1).irm()
    found = irm.evaluate("first_click_position", "mean_click_position", "clicks_per_query", "success@1", ci=0.95)
    assert ends(found)[:3] == [(None, None)] * 3
    assert ends(found)[3] == pytest.approx((0.7575, 1), abs=1e-4)
    assert irm.summary("first_click_position")["sentence"][0] == "first_click_position is 1.000, over 12 searches."


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_shares_of_0_and_1_keep_theirs(share: float) -> None:
    """Metrics between 0 and 1 whose values are all equal, and saved numbers that hold both 0 and 1."""
    frame = pl.DataFrame({"query": range(40), "arm": ["a", "b"] * 20, "success@1": share})
    irm = frame.irm(value="success@1")
    assert None not in [*ends(irm.evaluate(ci=0.95))[0], *ends(irm(arm="arm").ab_test())[0]]
    both = frame.with_columns(bought=pl.when(pl.col("query") == 7).then(1 - share).otherwise(share)).drop("success@1")
    irm = both.irm(value="bought")
    assert None not in [*ends(irm.evaluate(ci=0.95))[0], *ends(irm(arm="arm").ab_test())[0]]
    pair = both.with_columns(query=pl.col("query") // 2).irm(system="arm", value="bought")
    assert pair.compare()["test"].to_list() == ["mcnemar_mid_p"]


def test_a_test_of_shares_that_is_named_takes_values_that_are_all_1() -> None:
    """McNemar's test reads them as shares, as the caller says; other values remain an error."""
    frame = pl.DataFrame({"query": [*range(20)] * 2, "sys": ["a"] * 20 + ["b"] * 20, "bought": 1.0})
    found = frame.irm(system="sys", value="bought").compare(test="mcnemar_mid_p")
    assert ends(found)[0][1] == pytest.approx(-ends(found)[0][0])
    assert ends(found)[0][1] > 0.1
