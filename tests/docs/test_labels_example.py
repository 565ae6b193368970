"""The example of few labels: its files, and what it prints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from helpers import ROOT, output_of, script


@pytest.fixture(scope="module")
def example() -> Iterator[ModuleType]:
    module = script(ROOT / "examples" / "few_labels.py")
    yield module
    del sys.modules[module.__name__]


def test_people_grade_all_that_is_shown_of_some_searches(example: Any, tmp_path: Path) -> None:
    """The model grades what is shown of every search, people what is shown of sixty, drawn by a seed."""
    log, people, model = example.made(7)
    example.label_files(tmp_path, log, people, model, 7)
    few, many = (pl.read_csv(tmp_path / f"{name}.csv") for name in ("people", "model"))
    assert (few["query"].n_unique(), many["query"].n_unique()) == (example.LABELLED, example.SEARCHES)
    shown = log.select("query", "doc").unique()
    assert many.select("query", "doc").sort(pl.all()).equals(shown.sort(pl.all()))
    assert few.join(many, on=["query", "doc"], how="anti").is_empty()
    counts = log.irm(system="system").judge(few, proxy=many).evaluate("ndcg@10").select("n", "n_proxy")
    assert counts.unique().rows() == [(60, 340)]


def test_the_model_alone_misleads_and_both_together_do_not(example: Any) -> None:
    """The model halves the difference; the interval of both together holds that by people of all searches."""
    log, people, model = example.made(1)
    assert log["system"].unique().sort().to_list() == ["new", "old"]
    irm = log.irm(system="system")
    truth, alone = (
        irm.judge(side.join(log, on=["query", "doc"], how="semi")).compare("ndcg@10", baseline="old", permutations=10)
        for side in (people, model)
    )
    assert alone["difference"].item() < 0.7 * truth["difference"].item()


def test_the_report_is_printed(example: Any, capsys: Any) -> None:
    """Every step is there, as text of at most 100 letters a line, down to the sentence."""
    example.main([])
    printed = capsys.readouterr().out
    assert output_of("few_labels") == printed
    assert max(map(len, printed.splitlines())) <= 100
    assert "By people's judgment the new ranker is better" in printed
