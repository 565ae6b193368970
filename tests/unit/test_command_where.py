"""The option --where: a call is about some rows alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest

from command_line import error, out, read, write
from helpers import called

pytestmark = pytest.mark.usefixtures("alone")

ROWS = pl.DataFrame(
    {
        "query": ["a", "a", "b", "b", "c", "c", "d", "d"],
        "doc": ["x", "y"] * 4,
        "rank": [1, 2] * 4,
        "label": [0, 1, 1, 0, 0, 0, 1, 1],
        "device": ["web", "web", "app", "app", "app", "app", None, None],
        "seen": ["2026-03-01 08:00", "2026-03-01 09:00", *["2026-03-02 10:00"] * 4, *["2026-03-03 23:59"] * 2],
        "cost": [0.5, 1.5, 10.0, 2.0, 2.0, 2.0, None, 3.0],
        "system": ["u", "v"] * 4,
    }
)
# Conditions, and the rows for which they hold.
KEPT = {
    "device=app": [2, 3, 4, 5],
    "device==app": [2, 3, 4, 5],
    "device = 'app'": [2, 3, 4, 5],
    "device!=app": [0, 1, 6, 7],
    "seen=2026-03-01": [0, 1],
    "seen>=2026-03-02": [2, 3, 4, 5, 6, 7],
    "seen<=2026-03-02": [0, 1, 2, 3, 4, 5],
    "seen>2026-03-02": [6, 7],
    "seen<2026-03-02T09:00": [0, 1],
    "cost>2": [2, 7],
    "cost<=2": [0, 1, 3, 4, 5],
    "device=app and label=1": [2],
    "query='b'": [2, 3],
    "query!='x=1 and y'": [0, 1, 2, 3, 4, 5, 6, 7],
    "device=app && rank<2": [2, 4],
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("condition", KEPT)
def test_the_rows_for_which_a_condition_holds(condition: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They are the only ones that are read, of texts and of values with types, in any command that reads rows."""
    rows = ROWS if kind == "csv" else ROWS.with_columns(pl.col("seen").str.to_datetime("%Y-%m-%d %H:%M"))
    write(rows, f"log.{kind}")
    write(rows[KEPT[condition]], f"some.{kind}")
    for verb in (["per-query", "rr"], ["audit"]):
        some = out(capsys, verb[0], f"some.{kind}", *verb[1:], "--no-system")
        assert out(capsys, verb[0], f"log.{kind}", *verb[1:], "--no-system", "--where", condition) == some


def test_conditions_on_several_columns_all_hold_and_values_of_one_are_alternatives(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(ROWS, "log.csv")
    for typed, queries in (
        ("--where device=app --where query!=b", "c"),
        ("--where query=a --where query=d", "ad"),
        ("--where query=a --where query=b --where device=app", "b"),
    ):
        found = read(out(capsys, *shlex.split(f"per-query log.csv rr --no-system {typed}")))
        assert found["query"].to_list() == [*queries]


def test_judgments_of_queries_that_are_not_asked_for_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """They would count as queries without results; a system that lacks a query is still without results there."""
    write(ROWS.drop("label").with_columns(device=ROWS["device"].fill_null("tv")), "log.csv")
    write(ROWS.select("query", "doc", "label").with_columns(label=1), "judged.csv")
    asked = ["evaluate", "log.csv", "rr", "--no-system", "--qrels", "judged.csv", "--where"]
    code, found, (told,) = called(capsys, *asked, "device=app")
    assert (code, read(found)["value", "n", "n_unanswered"].row(0)) == (0, (1.0, 2, 0))
    assert told == ("frame-metrics: judged.csv: 2 of 4 queries have no row with device=app, and are left out")
    both = called(capsys, *asked, "device=app and query!=b")
    assert read(both[1])["value", "n", "n_unanswered"].row(0) == (1.0, 1, 0)
    write(ROWS.drop("label").filter(~((pl.col("query") == "d") & (pl.col("system") == "u"))), "log.csv")
    assert read(out(capsys, *asked, "system=u"))["n", "n_unanswered"].row(0) == (4, 1)


def test_a_query_of_the_log_of_before_alone_stays_judged(capsys: pytest.CaptureFixture[str]) -> None:
    """What the new log does not find any more counts as 0 in it."""
    log = ROWS.drop("label", "system")
    write(log, "old.csv")
    write(log.filter(pl.col("query") != "c"), "new.csv")
    write(ROWS.select("query", "doc", "label").with_columns(label=1), "judged.csv")
    asked = ["compare", "old.csv", "new.csv", "rr", "--qrels", "judged.csv", "--where", "device=app"]
    for call in (asked, ["compare", "new.csv", *asked[3:], "--fail-if-worse-than", "old.csv"]):
        code, found, told = called(capsys, *call)
        assert (code, read(found)["n", "value", "baseline_value"].row(0)) == (0, (2, 0.5, 1.0))
        assert "judged.csv: 2 of 4 queries have no row with device=app, and are left out" in told[0]


def test_the_log_of_before_has_the_same_condition(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ROWS.drop("doc", "system")
    write(rows, "old.csv")
    write(rows.with_columns(label=1), "new.csv")
    asked = ["compare", "old.csv", "new.csv", "rr", "--where", "device=app"]
    assert read(called(capsys, *asked)[1])["n", "value", "baseline_value"].row(0) == (2, 1.0, 0.5)
    gate = ["evaluate", "new.csv", "rr", "--where", "device=app", "--fail-if-worse-than", "old.csv"]
    assert "rr 1.0 against 0.5" in called(capsys, *gate)[2][-1]
    write(rows.drop("device"), "old.csv")
    assert "--where device=app: there is no such column among 'query'" in error(capsys, *gate)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("device=phone", "no row has that; 'device' has 'app', 'web'"),
        ("device=app and cost>100", "no row has that; 'device' has 'app', 'web'; 'cost' has '0.5'"),
        ("devise=app", "--where devise=app: there is no such column among 'query', 'doc', 'rank'"),
        ("device>app", "> compares numbers, or dates as 2026-03-01, and 'device' has others"),
        ("cost=much", "'much' is no number, and 'cost' has numbers"),
        ("app", "'app' is no condition, as device=phone, score!=0 or day>=2026-03-01"),
    ],
)
def test_wrong_conditions(typed: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    ROWS.write_parquet("log.parquet")
    assert told in error(capsys, "evaluate", "log.parquet", "rr", "--no-system", "--where", typed)


# Calls in other words, and the same in ours.
WORDS = {
    "--filter device=app": "--where device=app",
    "--device app": "--where device=app",
    "--device=app": "--where device=app",
    "--since 2026-03-02": "--where seen>=2026-03-02",
    "--from-date 2026-03-02 --to-date 2026-03-02": "--where seen>=2026-03-02 --where seen<=2026-03-02",
}


@pytest.mark.parametrize("typed", WORDS)
def test_other_words(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They are read as conditions, which is said where no option is called so."""
    write(ROWS, "log.csv")
    asked = ["evaluate", "log.csv", "rr", "--no-system"]
    code, found, told = called(capsys, *asked, *typed.split())
    assert (code, found) == (0, out(capsys, *asked, *WORDS[typed].split()))
    read_as = "frame-metrics: read as frame-metrics evaluate log.csv rr --no-system --where "
    assert all(one.startswith(read_as) for one in told)
    assert bool(told) == ("--filter" not in typed)


def test_a_settings_file_has_conditions(capsys: pytest.CaptureFixture[str]) -> None:
    write(ROWS, "log.csv")
    Path("c.toml").write_text("where = ['device=app']")
    asked = ["evaluate", "log.csv", "rr", "--no-system"]
    assert out(capsys, *asked, "--config", "c.toml") == out(capsys, *asked, "--where", "device=app")
