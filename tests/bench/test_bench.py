"""The benchmark runs and prints its table; how fast anything is, is not tested."""

import os
import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from helpers import ROOT, cells, script

PATH = Path(__file__).with_name("bench.py")
HEAD = ["part", "case", "rows", "against", "ours", "ratio", "asked", "loop"]


@pytest.fixture(scope="module")
def bench() -> Any:
    module = script(PATH)
    yield module
    del sys.modules[module.__name__]


@pytest.mark.slow
def test_one_part_of_the_table_can_be_had_for_a_page(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A part by itself, in Markdown."""
    monkeypatch.setattr(sys, "argv", ["bench.py", "--quick", "--only", "cutoffs", "--markdown"])
    bench.main()
    head, _, *rows = cells(capsys.readouterr().out)
    assert head == HEAD
    assert [row[0] for row in rows] == ["cutoffs"] * 2


@pytest.mark.parametrize(
    ("flag", "value", "least"), [("--rows", "0", "1,000"), ("--rows", "1e6,1.5", "1,000"), ("--runs", "0", "1")]
)
def test_numbers_that_cannot_be_are_refused(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], flag: str, value: str, least: str
) -> None:
    """What is expected is said."""
    monkeypatch.setattr(sys, "argv", ["bench.py", flag, value])
    with pytest.raises(SystemExit):
        bench.main()
    assert f"expected a whole number of at least {least}" in capsys.readouterr().err


@pytest.mark.slow
def test_every_part_of_the_table_comes_out() -> None:
    """One table holds every part, with the installed peers, and each row has a ratio."""
    run = subprocess.run([sys.executable, str(PATH), "--quick"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    head, _, *rows = cells(run.stdout)
    assert head == HEAD
    peers = sum(find_spec(name) is not None for name in ("pytrec_eval", "ir_measures"))
    memory = Path("/proc/self/clear_refs").exists()
    tables = 4 + (find_spec("fairlearn") is not None)
    compared = 1 + (find_spec("pyterrier") is not None)
    counts = Counter(
        floor=54,
        peers=2 * peers,
        memory=int(memory),
        small=14,
        cutoffs=2,
        join=4,
        tables=tables,
        scores=3,
        compare=compared,
        clicks=2,
    )
    n_backends = 2 * int(memory and find_spec("duckdb") is not None)
    assert Counter(row[0] for row in rows) == counts + Counter(
        {"import": 1, "backends": n_backends, "forms": 8, "large": 2 * memory, "growth": 36, "peaks": 35 * memory}
    )
    assert all(float(row[5]) >= 0 for row in rows)  # rounded: of a slow peer it can be 0.00
    assert all(re.fullmatch(r"([<>]=[0-9.]+( NO)?)?", row[6]) for row in rows)
    assert all(re.fullmatch(r"[0-9.]+ m?s", row[7]) for row in rows)


@pytest.mark.slow
def test_two_states_of_the_package_take_turns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A line has the times and ratios of a call; one that a state lacks is told."""
    trees = script(PATH.with_name("bench_trees.py"))
    monkeypatch.setattr(trees, "SMALL", 1)
    line, *rest = trees.compared([ROOT, ROOT], ["evaluate, ten rows"], pairs=1, runs=2)
    assert re.fullmatch(r"evaluate, ten rows +[0-9.]+ ms +[0-9.]+ ms +clock [0-9.]+ +processor [0-9.]+", line)
    assert not rest
    package = tmp_path / "frame_metrics"
    package.mkdir()
    (package / "__init__.py").write_text("class IRM:\n    def __init__(self, *_: object, **__: object): ...\n")
    assert list(trees.compared([ROOT, tmp_path], ["confusion"], pairs=1, runs=2)) == [
        f"{'confusion':28s} is not in both"
    ]


def test_the_page_shows_what_the_bench_would_print_for_it(bench: Any) -> None:
    """No row of docs/measured.md is one that the page leaves out, and it says what that is."""
    text = (ROOT / "docs" / "measured.md").read_text(encoding="utf-8")
    head, _, *rows = cells(text)
    assert head == HEAD
    assert all(map(bench.on_page, rows))
    assert bench.LEFT_OUT in text


@pytest.mark.parametrize(
    ("case", "rows", "asked", "shown"),
    [
        ("rank order, int ids, polars", "1,000,000", "<=1.5 NO", True),
        ("rank order, int ids, polars", "1,000,000", "<=1.5", False),
        ("rank order, int ids, polars", "10,000,000", "<=1.5", True),
        ("rank order, int ids, pandas", "10,000,000", "<=1.5", False),
        ("queries of 10, rank order, int ids, polars", "10,000,000", "", False),
        ("Pareto lengths, rank order, int ids, polars", "9,999,985", "<=8", False),
        ("Pareto lengths, clustered, int ids, polars", "9,999,985", "<=8", True),
    ],
)
def test_the_page_shows_every_aim_that_is_missed(bench: Any, case: str, rows: str, asked: str, shown: bool) -> None:
    """Of aims that are met, those of the largest logs are enough; other parts are shown whole."""
    assert bench.on_page(["floor", case, rows, "1 s", "1 s", "1", asked, "9 ms"]) is shown
    assert bench.on_page(["small", case, rows, "1 s", "1 s", "1", asked, "9 ms"])


def test_peers_that_are_not_installed_are_told_and_left_out(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line says that a peer is not installed, and the table has no row of it."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.environ.get("NUMBA_CACHE_DIR", ""))
    monkeypatch.setattr(sys, "argv", ["bench.py", "--quick", "--only", "peers"])
    monkeypatch.setattr(bench, "find_spec", lambda name: None)
    bench.main()
    printed = capsys.readouterr().out
    for name in ("pytrec_eval", "ir_measures", "ranx"):
        assert f"{name} is left out: it is not installed." in printed.splitlines()
    assert len(cells(printed)) == 2


@pytest.mark.parametrize("shape", [10, 100, "Pareto lengths", "one long query"])
@pytest.mark.parametrize(
    ("order", "clustered", "ranked"),
    [("rank order", True, True), ("clustered", True, False), ("shuffled", False, False)],
)
def test_a_log_is_in_the_order_that_its_case_names(
    bench: Any, shape: int | str, order: str, clustered: bool, ranked: bool
) -> None:
    """Rows stand as the case says, and polars knows nothing of it."""
    log, _ = bench.make(bench.Case(5000, shape, order))
    same = pl.col("query") == pl.col("query").shift()
    seen = log.select(
        clustered=(~same).sum() + 1 == pl.col("query").n_unique(),
        ranked=(pl.col("score") <= pl.col("score").shift()).filter(same).all() & (same.sum() > 2500),
    )
    assert seen.row(0) == (clustered, ranked)
    assert not any(any(log[name].flags.values()) for name in log.columns)


def test_judgments_match_rows_and_a_document_that_was_not_retrieved(bench: Any) -> None:
    """Every relevant row is judged as in the log, and every query has one relevant document more."""
    log, qrels = bench.make(bench.Case(5000, order="shuffled", ids="str", roles="judge"))
    both = qrels.join(log, on=["query", "doc"], how="left", suffix="_log")
    assert not both.select("query", "doc").is_duplicated().any()
    unseen = both.filter(pl.col("grade_log").is_null())
    assert unseen["query"].n_unique() == len(unseen) == log["query"].n_unique()
    assert (unseen["grade"] == 1).all()
    assert (both["grade"] == both["grade_log"]).all()
    assert both["grade_log"].gt(0).sum() == log["grade"].gt(0).sum() > 0
