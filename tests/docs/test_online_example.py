"""The example of an online test: its log, and what it prints."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from helpers import ROOT, output_of, script


@pytest.fixture(scope="module")
def example() -> Iterator[ModuleType]:
    module = script(ROOT / "examples" / "online_test.py")
    yield module
    del sys.modules[module.__name__]


@pytest.fixture(scope="module")
def log(example: Any) -> pl.DataFrame:
    return example.log_of(2000, 1)


def test_the_log_is_a_test_of_users(example: Any, log: pl.DataFrame) -> None:
    """Each user has one arm, one device and one mean of before; each search shows ten products, one at most clicked."""
    assert log.select("user", "arm", "device", "before").n_unique() == log["user"].n_unique() == 2000
    searches = log.group_by("search").agg(pl.len(), pl.col("clicked").sum(), pl.col("user", "rank").n_unique())
    assert searches.select(pl.exclude("search", "clicked")).unique().rows() == [(10, 1, 10)]
    assert searches["clicked"].max() == 1
    assert example.log_of(30, 4).equals(example.log_of(30, 4))
    assert not example.log_of(30, 4).equals(example.log_of(30, 5))


@pytest.mark.slow
def test_the_new_arm_is_better_for_the_same_users(example: Any) -> None:
    """With far more users the truth shows: the new ranker is better, and what was before is in no arm better."""
    users = example.log_of(40_000, 0)
    found = example.named(users).ab_test("rr", baseline="old", covariate="before", test="z")
    assert 0 < found["ci_low"].item() < 0.03 < found["ci_high"].item() + 0.01
    before = users.unique("user").group_by("arm").agg(pl.col("before").mean())["before"]
    assert before[0] == pytest.approx(before[1], abs=0.01)


def test_a_split_that_lost_users_is_seen(example: Any, log: pl.DataFrame) -> None:
    """The whole log has a fact, and one without some users of the new arm a warning."""
    assert example.split_of(log)["severity"].to_list() == ["fact"]
    lost = log.filter((pl.col("arm") == "old") | (pl.col("user") % 3 > 0))
    assert example.split_of(lost)["check"].to_list() == ["sample ratio mismatch", "units split"]


@pytest.mark.slow
def test_the_report_is_printed(example: Any, capsys: Any) -> None:
    """Every step is there, as text of at most 100 letters a line, and the covariate makes intervals shorter."""
    example.main([])
    printed = capsys.readouterr().out
    assert output_of("online_test") == printed
    for expected in (
        "sample ratio mismatch",
        "device",
        "CUPED",
        "num_rel_ret",
        "relative_low",
        "With system= and compare(), which pairs, there is an error",
        "arm='arm'",
    ):
        assert expected in printed
    assert max(map(len, printed.splitlines())) <= 100
    shorter = [int(percent) for percent in re.findall(r"(\d+)%", printed)]
    assert len(shorter) == 3
    assert all(15 < percent < 50 for percent in shorter)
