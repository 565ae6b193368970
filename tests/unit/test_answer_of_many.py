"""The answer of a summary with a baseline: all others that surely differ are named, and of periods the latest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest


def arms(names: Sequence[str], clicked: Sequence[int], n: int = 300) -> Any:
    """Arms with clicks in so many of each 100 searches."""
    rows = [(name, int(at % 100 < share)) for name, share in zip(names, clicked, strict=True) for at in range(n)]
    frame = pl.DataFrame(rows, ["arm", "label"], orient="row").with_columns(query=pl.int_range(pl.len()), rank=1)
    return frame.irm(query="query", rank="rank", label="label", arm="arm")


def answer(summary: pl.DataFrame) -> str:
    return str(summary.filter(place=2)["sentence"][0])


def test_an_arm_that_is_surely_worse_is_in_the_answer() -> None:
    """B is the best beside control, and C lost by a fifth: both are in the answer, which counts as one claim."""
    summary = arms(["control", "B", "C"], [50, 49, 30]).summary("success@1", baseline="control")
    assert answer(summary).startswith("B and control cannot be told apart: ")
    assert answer(summary).endswith(". Surely worse than control: C by 0.200.")
    of_cost = arms(["control", "B", "C"], [50, 49, 30]).summary("abandonment", baseline="control")
    assert answer(of_cost).endswith(". Surely worse than control: C by 0.200.")
    both = answer(arms([*"abcdefg"], [50, 90, 80, 30, 5, 10, 20]).summary("success@1", baseline="a"))
    assert both.startswith("b beats a: ")
    lost = "Surely worse than a: e by 0.450, f by 0.400, g by 0.300 and 1 more"
    assert both.endswith(f". {lost}; surely better than a: c by 0.300.")


@pytest.mark.parametrize("seed", range(4))
def test_each_that_surely_differs_from_a_baseline_is_told(seed: int) -> None:
    """A law: of arms, and of systems on the same queries, the answer has the name of each sure difference."""
    rng = np.random.default_rng(seed)
    names, n = ["base", "b1", "b2", "b3"], 60
    values = np.concatenate([rng.normal(rng.choice([0, 0.3, -0.3]), 0.3, n) for _ in names])
    frame = pl.DataFrame({"who": np.repeat(names, n), "rr": values, "query": np.arange(4 * n)})
    for irm in (
        frame.irm(arm="who", value="rr"),
        frame.with_columns(pl.col("query") % n).irm(system="who", value="rr"),
    ):
        verb = irm.compare if irm.roles.get("arm") is None else irm.ab_test
        sure = verb(baseline="base").filter(pl.col("p_adjusted") < 0.05)["who"].to_list()
        told = answer(irm.summary(baseline="base"))
        assert [one for one in sure if f"{one} by 0." not in told and not told.startswith(one)] == []


def test_of_periods_the_latest_is_the_question() -> None:
    """The latest week is held against the one that was named, whatever came between, and others are added."""
    weeks = ["2025-W01", "2025-W02", "2025-W03"]
    summary = arms(weeks, [50, 49, 30]).summary("success@1", baseline="2025-W01")
    assert answer(summary).startswith("2025-W03 is below 2025-W01: success@1 0.300 against 0.500 ")
    later = answer(arms(weeks, [50, 20, 49]).summary("success@1", baseline="2025-W01"))
    assert later.startswith("2025-W03 and 2025-W01 cannot be told apart: ")
    assert later.endswith(". Surely below 2025-W01: 2025-W02 by 0.300.")
    last = answer(arms(weeks, [50, 20, 49]).summary("success@1", baseline="2025-W03"))
    assert last.startswith("2025-W02 is below 2025-W03: ")


def test_without_a_direction_the_latest_period_comes_first() -> None:
    """Each that differs has a sentence of its own, and the latest has the first."""
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(level, 1, 100) for level in (10, 5, 10, 8)])
    frame = pl.DataFrame({"query": range(400), "week": np.repeat([f"2025-W0{at}" for at in range(1, 5)], 100)})
    summary = frame.with_columns(seconds=values).irm(arm="week", value="seconds").summary(baseline="2025-W01")
    assert summary.filter(kind="difference")["week"].to_list() == ["2025-W04", "2025-W02"]
    assert answer(summary).startswith("2025-W04 is below 2025-W01: ")


def test_weighted_shares_are_of_the_weight() -> None:
    """70 of 100 searches that weigh 3 are 88 % of the weight, and not of searches."""
    phones = ["p"] * 20 + ["w"] * 80 + ["p"] * 70 + ["w"] * 30
    label = [int(at % 10 < (1 if one == "p" else 9)) for at, one in enumerate(phones)]
    frame = pl.DataFrame({"query": range(200), "week": ["W1"] * 100 + ["W2"] * 100, "dev": phones, "rank": 1})
    frame = frame.with_columns(label=pl.Series(label), w=pl.when(pl.col("dev") == "p").then(3.0).otherwise(1.0))
    irm = frame.irm(arm="week", by="dev")
    weighted, plain = (
        " ".join(one.summary("success@1").filter(kind="mix")["sentence"]) for one in (irm(weight="w"), irm)
    )
    assert "p grew from 43 to 88 % of the weight" in weighted
    assert "p grew from 20 to 70 % of searches" in plain


def test_undefined_values_are_told_of_each_arm() -> None:
    """Of the first one named, of two more with their numbers, and of many only how many these are."""
    frame = pl.DataFrame({"query": range(60), "arm": [*"abbbbb"] * 10, "rank": 1, "label": [1, 0, 0, 0, 1, 1] * 10})
    (said,) = frame.irm(arm="arm").summary("first_click_position").filter(kind="undefined")["sentence"]
    assert said == "30 of 50 searches have no click and are left out, for b."
    many = frame.with_columns(arm=pl.col("query") % 5).irm(arm="arm").summary("rr")
    (said,) = many.filter(kind="undefined")["sentence"]
    assert said.endswith("; 4 other arms have some, too.")


def test_too_few_that_people_judged_are_the_reason() -> None:
    """Four queries have values on both sides; a machine's judgments help from five on."""
    keys = pl.DataFrame({"query": np.repeat(np.arange(30), 2), "doc": ["a", "b"] * 30})
    scores = {"new": [1, 2] * 30, "old": [2, 1] * 30}
    run = pl.concat(keys.with_columns(sys=pl.lit(one), score=pl.Series(scores[one])) for one in scores)
    machine = keys.with_columns(grade=pl.Series([0, 1] * 30))
    irm = run.irm(system="sys").judge(machine.filter(pl.col("query") < 4), proxy=machine)
    told = "new and old are not compared: people judged 4 queries whole, fewer than 5."
    assert told in irm.summary("precision@1")["sentence"]


def test_what_judgments_could_turn_is_not_sure_beside_the_first() -> None:
    """Half of the results are unjudged: c is worse as judged so far, and may turn out better."""
    rng = np.random.default_rng(0)
    rows = [(q, one, f"{one}{at}", at) for q in range(60) for one in ("base", "b", "c") for at in range(1, 6)]
    frame = pl.DataFrame(rows, ["query", "sys", "doc", "rank"], orient="row")
    relevant = rng.random(len(rows)) < np.where(frame["sys"] == "c", 0.1, 0.6)
    judged = pl.Series(rng.random(len(rows)) < 0.5)
    frame = frame.with_columns(label=pl.when(judged).then(pl.Series(relevant)))
    complete = frame.with_columns(pl.col("label").fill_null(False))
    beside = [answer(one.irm(system="sys").summary("precision@5", baseline="base")) for one in (frame, complete)]
    assert " As judged so far, surely worse than base: c by 0." in beside[0]
    assert " Surely worse than base: c by 0." in beside[1]
