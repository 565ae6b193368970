"""Queries that were asked several times, whose lists are not made one without a word."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest

from helpers import called

SPACES = "has white space in its ids, which a file of TREC cannot hold: each is written as _"
COLUMNS = ["--query", "term", "--doc", "sku", "--score", "bm25"]
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _log(alone: None) -> None:
    """Each term is asked on two days, and gets three other documents each time."""
    rows = [
        (f"term {q}", day, slot, f"d{day}{slot}", -float(slot), int(slot == 1))
        for q in range(6)
        for day in (1, 2)
        for slot in (1, 2, 3)
    ]
    log = pl.DataFrame(rows, schema=["term", "search_date", "slot", "sku", "bm25", "grade"], orient="row")
    log.with_columns(pl.date(2026, 6, pl.col("search_date")).alias("search_date")).write_csv("log.csv")


@pytest.mark.parametrize("name", ["slot", "position", "where"])
def test_places_that_repeat_show_several_searches(name: str, capsys: Captured) -> None:
    """A column of places without a role tells, whatever its name; the line that is offered parts the searches."""
    pl.read_csv("log.csv").rename({"slot": name}).write_csv("log.csv")
    asked = ["evaluate", "log.csv", "precision@1", "--query", "term", "--score", "bm25"]
    code, _, (told, line) = called(capsys, *asked)
    assert (code, f"'{name}': 6 of 6 queries have their first place several times" in told) == (2, True)
    assert line.startswith(
        "    frame-metrics evaluate log.csv precision@1 --score bm25 --query term --query search_date"
    )
    assert called(capsys, *asked, "--query", "search_date")[0] == 0
    assert called(capsys, *asked, "--no-rank")[0] == 0


@pytest.mark.parametrize(
    "values",
    [[1, 0, 0, 1, 0, 0], [0, 1, 0, 1, 0, 1], [1, 2, 3, 4, 5, 6], [5, 5, 7, 7, 9, 9], [0, 0, 1, 1, 2, 3]],
    ids=["clicks", "two values", "one list", "no places", "grades"],
)
def test_other_numbers_are_no_places(values: list[int], capsys: Captured) -> None:
    """Clicks, grades and numbers with gaps say nothing of how often a query was asked."""
    log = pl.read_csv("log.csv").with_columns(slot=pl.Series(values * 6))
    log.write_csv("log.csv")
    assert called(capsys, "evaluate", "log.csv", "precision@1", "--query", "term", "--score", "bm25")[0] == 0


def test_a_run_has_one_list_for_each_search(capsys: Captured) -> None:
    """Searches of several days are refused as in other commands, and the line writes them apart."""
    asked = ["convert", "log.csv", "-o", "my.run", *COLUMNS, "--run-name", "my"]
    code, _, (told, line) = called(capsys, *asked)
    assert (code, "'slot': 6 of 6 queries have their first place several times" in told) == (2, True)
    code, _, said = called(capsys, *shlex.split(line)[1:])
    assert (code, said) == (0, [f"frame-metrics: 'term_search_date' {SPACES}"])
    assert Path("my.run").read_text().startswith("term_0_2026-06-01 Q0 d11 1 -1.0 my\n")
    assert called(capsys, *asked, "--no-rank")[0] == 0
    one = pl.read_csv("log.csv").filter(pl.col("search_date") == "2026-06-01").rename({"slot": "rank", "bm25": "score"})
    one.write_csv("one.csv")
    asked = ["convert", "one.csv", "-o", "one.run", *COLUMNS[:4], "--run-name", "my"]
    assert called(capsys, *asked)[0] == 0
    assert len({row.split()[0] for row in Path("my.run").read_text().splitlines()}) == 6
    code, _, (told, *_) = called(capsys, *asked, "--rank", "slot")
    assert (code, "convert reads no ranks; leave out --rank" in told) == (2, True)


def test_columns_of_queries_that_would_be_one_are_refused(capsys: Captured) -> None:
    """Two values joined by _ may be those of another query."""
    rows = {"a": ["x_y", "x"], "b": ["z", "y_z"], "doc": ["d", "e"], "score": [1.0, 2.0]}
    pl.DataFrame(rows).write_csv("odd.csv")
    asked = ["convert", "odd.csv", "-o", "my.run", "--query", "a", "--query", "b", "--run-name", "my"]
    code, _, (told,) = called(capsys, *asked)
    assert (code, "two queries would be one, with _ between the columns" in told) == (2, True)
