"""The example of a RAG pipeline: its log, what it prints, and its gate."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers import ROOT, output_of, script


@pytest.fixture(scope="module")
def example() -> Iterator[ModuleType]:
    module = script(ROOT / "examples" / "rag_log.py")
    yield module
    del sys.modules[module.__name__]


def values_of(example: Any, week: pd.DataFrame, metric: str) -> np.ndarray:
    """Return what each question of a week has, in the order of the questions."""
    found = example.named(week)(by=None).per_query(metric).sort_values("question")
    return found["value"].to_numpy()


def test_a_week_is_made_again_from_its_seed(example: Any) -> None:
    week = example.week(100, 3)
    assert week.equals(example.week(100, 3))
    assert not week.equals(example.week(100, 4))
    assert week["doc"].map(len).value_counts().to_dict() == {10: 99, 0: 1}  # for one question nothing is found


def test_means_are_those_of_the_flat_log(example: Any, tmp_path: Path) -> None:
    """The lists as they come back from Parquet, against a row per passage and judgments beside."""
    example.week(60, 1).to_parquet(tmp_path / "log.parquet")
    log = pd.read_parquet(tmp_path / "log.parquet")
    found = example.named(log)(by=None).evaluate(*example.METRICS)
    rows = pl.from_pandas(log)
    flat = rows.select("question", "doc", "score").explode("doc", "score")
    beside = rows.select("question", pl.col("relevant").alias("doc")).explode("doc")
    expected = flat.irm(query="question").judge(beside, label=True).evaluate(*example.METRICS)
    assert found["value"].tolist() == pytest.approx(expected["value"].to_list(), abs=1e-12)


def test_the_gate_corrects_over_its_metrics(example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The printed p-values are those of three metrics together: of the greatest statistic when signs are flipped."""
    last, this = example.week(60, 1), example.week(60, 1, 0.1)
    example.named(last)(by=None).per_query(*example.METRICS).to_parquet(tmp_path / "saved.parquet")
    shown: list[pd.DataFrame] = []
    monkeypatch.setattr(example, "show", lambda says, table: shown.append(table))
    example.gate(this, tmp_path / "saved.parquet")
    alone = example.named(this)(by=None).compare(*example.METRICS, baseline=pd.read_parquet(tmp_path / "saved.parquet"))
    apart = np.stack(
        [values_of(example, this, metric) - values_of(example, last, metric) for metric in example.METRICS]
    )
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (20_000, apart.shape[1]))
    size = np.sqrt((apart**2).sum(axis=1))
    greatest = np.abs(signs @ apart.T / size).max(axis=1)
    share = [(greatest >= own - 1e-9).mean() for own in np.abs(apart.sum(axis=1)) / size]
    assert shown[0]["metric"].tolist() == [*example.METRICS]
    assert shown[0]["p_adjusted"].tolist() == pytest.approx(share, abs=0.015)
    assert (shown[0]["p_adjusted"] >= alone["p_value"]).all()
    assert shown[0]["p_adjusted"].sum() > alone["p_adjusted"].sum()


@pytest.mark.slow
@pytest.mark.parametrize(("lost", "code"), [("0.1", 1), ("0", 0)])
def test_the_gate(example: Any, capsys: pytest.CaptureFixture[str], lost: str, code: int) -> None:
    """A tenth of the index is missed, and the same week again is not worse."""
    assert example.main(["--questions", "200", "--lost", lost]) == code
    told = capsys.readouterr().out
    assert "queries without results" in told
    assert ("Worse than last week: " in told) == bool(code)
    assert ("Not surely worse than last week." in told) == (not code)


def test_the_page_shows_what_is_printed(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The output on its page is that of the script without arguments."""
    example.main([])
    printed = capsys.readouterr().out
    assert output_of("rag_log") == printed
