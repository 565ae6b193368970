"""Sentences of a summary are made of the numbers of the verbs, and never say more than intervals and p-values do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_metrics import IRM
from helpers import LONG

SHAPES = ("normal", "ones", "rare", "equal")
CLAIMS = ("difference", "winner", "not worse", "best")
VERBS = {" beats ": 1, " loses to ": -1}
NUMBER = r"[+-]?[\d,]*\.?\d+(?:e-\d+)?"
MARGIN = 0.05


def drawn(seed: int, shape: str, systems: int, queries: int, apart: float) -> pl.DataFrame:
    """Values of systems on the same queries; the first ones are better."""
    rng, parts = np.random.default_rng(seed), []
    for i in range(systems):
        more = apart * (systems - 1 - i) / systems
        value = {
            "normal": 0.5 + more + 0.1 * rng.normal(size=queries),
            "ones": (rng.random(queries) < 0.4 + more).astype(float),
            "rare": 0.8 - 0.4 * (rng.random(queries) < 0.2 - 0.15 * more),
            "equal": np.full(queries, 0.5 + more),
        }[shape]
        columns = {"query": range(queries), "run": f"s{i}", "rr": value.clip(0, 1), "user": np.arange(queries) // 2}
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)


def number(text: str) -> float:
    return float(text.replace(",", ""))


def found_of(said: dict[str, Any], compared: list[dict[str, Any]]) -> tuple[dict[str, Any], int]:
    """Return the row of a comparison that a sentence is about, and -1 if it stands the other way round there."""
    pair = said["run"], said["baseline"]
    row = next(row for row in compared if {row["run"], row["baseline"]} == {*pair})
    return row, 1 if row["run"] == pair[0] else -1


def check_difference(said: dict[str, Any], compared: list[dict[str, Any]]) -> None:
    """Raise where the sentence of a difference says more than the row of ``compare``."""
    row, way = found_of(said, compared)
    text, p, difference = said["sentence"], row["p_adjusted"], way * row["difference"]
    ends = sorted(way * end for end in (row["ci_low"], row["ci_high"]) if end is not None)
    told = [sign for verb, sign in VERBS.items() if verb in text]
    assert bool(told) == (p < 0.05 and difference != 0)
    assert all(np.sign(difference) == sign for sign in told)
    assert (" cannot be told apart: " in text) <= (p >= 0.05)
    if least := re.search(rf", at least ({NUMBER})( less)?, [\d.]+ % interval", text):
        near, said_least = (ends[0] if difference > 0 else ends[1]), number(least[1]) * (-1 if least[2] else 1)
        assert told
        assert row["correction"] in (None, "max_t")
        assert (least[2] is None) == (difference > 0)
        assert 0 < abs(said_least) <= abs(near) + 1e-12
        assert np.sign(near) == np.sign(said_least) == np.sign(difference)
    elif told and ends:  # where the interval holds 0, or begins so near that a text would be 0
        assert ends[0] < 0.0005
        assert ends[1] > -0.0005
    if floor := re.search(rf"no p can be below ({NUMBER})", text):
        assert not told
        assert p >= number(floor[1]) * 0.99
        assert number(floor[1]) >= 0.05
        assert "told apart" not in text
    if shows := re.search(rf"only differences above about ({NUMBER}) are likely to show", text):
        assert abs(number(shows[1]) - row["mde"]) <= 0.00051
        assert ends[0] <= 0 <= ends[1]


def check_not_worse(said: dict[str, Any], compared: list[dict[str, Any]]) -> None:
    """Raise where the sentence of a margin says more than ``p_not_worse``, and the interval."""
    row, _ = found_of(said, compared)
    text, p = said["sentence"], row["p_not_worse"]
    assert (" is not worse than " in text and "shown" not in text and "Whether" not in text) == (
        p is not None and p < 0.05
    )
    assert ("cannot be told" in text) == (p is None)
    if loss := re.search(rf"a loss of up to ({NUMBER}) is not excluded", text):
        assert number(loss[1]) >= max(MARGIN, -row["ci_low"] if row["ci_low"] is not None else MARGIN) - 0.00051


def check_best(said: dict[str, Any], irm: IRM[Any]) -> None:
    """Raise where a system that may be the best is left out."""
    board = irm.leaderboard()
    may = board.filter("may_be_best")["run"].to_list()
    if len(may) == len(board):
        assert said["sentence"] == f"Any of {len(board)} systems may be the best by rr."
        return
    assert said["sentence"].startswith(f"The best of {len(board)} systems by rr is ")
    named, _, untold = said["sentence"].partition(" by rr ")[2].partition(" (95 % sure)")
    assert re.findall(r"\bs\d\b", named) == may
    for other in re.findall(r"\bs\d\b", untold):  # a test of both sides does not tell it from the best
        (pair,) = (row for row in irm.compare().to_dicts() if {row["run"], row["baseline"]} == {may[0], other})
        assert pair["p_adjusted"] >= 0.05


@pytest.mark.slow
@settings(max_examples=settings().max_examples if LONG else 12, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(SHAPES),
    st.integers(2, 4),
    st.integers(2, 30),
    st.sampled_from([0.0, 0.1, 0.3]),
    st.sampled_from([None, "s1", "s0"]),
    st.booleans(),
)
def test_no_sentence_says_more_than_its_numbers(
    seed: int, shape: str, systems: int, queries: int, apart: float, baseline: str | None, clustered: bool
) -> None:
    """Every claim is that of the rows of compare() and leaderboard(), and the last line counts them."""
    roles = {"cluster": "user"} if clustered and queries > 3 else {}
    irm = IRM(drawn(seed, shape, systems, queries, apart), query="query", system="run", value="rr", **roles)
    given: dict[str, Any] = {} if baseline is None else {"baseline": baseline, "margin": MARGIN}
    compared, pairs = irm.compare(**given).to_dicts(), irm.compare().to_dicts()
    rows = irm.summary(**given).to_dicts()
    claims = 0
    for said in rows:
        text = said["sentence"]
        assert said["kind"] in CLAIMS or not any(verb in text for verb in (*VERBS, "not worse", "may be the best"))
        if "too few to test" in text or "have the same" in text:
            continue
        if said["kind"] == "difference":
            check_difference(said, compared)
        elif said["kind"] == "winner":
            check_difference(said, pairs)
        elif said["kind"] == "not worse":
            check_not_worse(said, compared)
        elif said["kind"] == "best":
            check_best(said, irm)
        claims += any(verb in text for verb in VERBS) or bool(re.match(r"The best of \d|s\d is not worse", text))
    (last,) = [said for said in rows if said["kind"] == "tests"] or [None]
    assert (last is not None) == (claims > 1)
    if last is not None:
        assert (last["n"], last["share"]) == (claims, claims * last["value"])
        assert last["sentence"].startswith(f"{claims} of these sentences rest on tests: each is wrong in at most 5 %")


COLUMNS = ("rr", "fdr", "latency")  # more is better, less is, and neither


def several_columns(arms: bool) -> pl.DataFrame:
    """Values of three systems by four metrics that order the systems differently, in two segments."""
    rng, n = np.random.default_rng(5), 60
    keys = pl.DataFrame([(q, s) for s in ("new", "next", "old") for q in range(n)], ["query", "run"], orient="row")
    keys = keys.with_columns(place=pl.when(pl.col("query") % 3 > 0).then(pl.lit("a")).otherwise(pl.lit("b")))
    made = {name: rng.normal(0.5, 0.1, 3 * n) + 0.1 * np.repeat(rng.permutation(3), n) for name in COLUMNS}
    frame = keys.with_columns(pl.Series(name, its.clip(0, 1)) for name, its in made.items())
    return frame.with_columns(pl.concat_str("run", "query").alias("query")) if arms else frame


SIDES = [("system", None), ("system", "old"), ("system", "saved"), ("arm", None), ("arm", "old")]


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, "place"])
@pytest.mark.parametrize("first", COLUMNS)
@pytest.mark.parametrize(("side", "baseline"), SIDES, ids=["-".join(map(str, one)) for one in SIDES])
def test_sentences_have_the_numbers_of_the_metric_that_they_name(
    side: str, baseline: str | None, first: str, by: str | None
) -> None:
    """Columns of other metrics, which nobody named, change nothing; and the values are the means of the first."""
    frame = several_columns(side == "arm")
    roles: dict[str, Any] = {"query": "query", side: "run", "by": by}
    every = sorted(COLUMNS, key=lambda name: name != first)
    several, one = (IRM(frame, **roles, value=value) for value in (every, [first]))
    saved = IRM(frame.filter(run="old").drop("run"), **{**roles, side: None}, value=every)
    given: dict[str, Any] = {} if baseline is None else {"baseline": saved if baseline == "saved" else baseline}
    rows = several.summary(**given).to_dicts()
    assert [row["sentence"] for row in rows] == [row["sentence"] for row in one.summary(**given).to_dicts()]
    means = dict(frame.group_by("run").agg(pl.col(first).mean()).iter_rows())
    told = [row for row in rows if row["kind"] in ("difference", "winner", "value")]
    assert told
    for row in told:
        assert row["metric"] == first
        if row["kind"] == "winner" or row["of"] is None:
            assert row["value"] == pytest.approx(means[row["run"]])
        if row["kind"] == "winner":
            assert row["baseline_value"] == pytest.approx(means[row["baseline"]])


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_the_highest_is_above_those_that_compare_tells_apart(seed: int, shape: str) -> None:
    """Without a direction; what is not named as surely above or below is none of them."""
    frame = drawn(seed, shape, 4, 25, 0.3).rename({"rr": "latency"})
    irm = IRM(frame, query="query", system="run", value="latency")
    compared = irm.compare()
    (row,) = irm.summary().filter(kind="highest").to_dicts()
    top, low = row["sentence"].split("; ")
    means = dict(frame.group_by("run").agg(pl.col("latency").mean()).iter_rows())
    assert means[row["run"]] == max(means.values())
    assert means[row["baseline"]] == min(means.values())
    for text, end, side in ((top, row["run"], "above"), (low, row["baseline"], "below")):
        pairs = compared.filter((pl.col("run") == end) | (pl.col("baseline") == end))
        sure = pairs.filter(pl.col("p_adjusted") < 0.05, pl.col("difference") != 0)
        named = re.search(rf" surely {side} (.*?)(?:, not surely|\.?$)", re.sub(r", not surely .*", "", text))
        expected = {one for pair in sure.select("run", "baseline").rows() for one in pair} - {end}
        assert {*re.findall(r"\bs\d\b", named[1] if named else "")} == expected
