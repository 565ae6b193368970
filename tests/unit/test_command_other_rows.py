"""Logs of other queries or rows than before: their gate, and the way there from commands that pair."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM
from helpers import called

Captured = pytest.CaptureFixture[str]
DECIDED = ["--label", "true", "--predicted", "said"]
OF_BOTH = {"old": (20, 1), "new": (20, 5)}  # in each period: of how many rows how many are wrong


@pytest.fixture(autouse=True)
def _logs(alone: None) -> None:
    """Two weeks, each of its own tickets and searches."""
    for at, (week, (every, wrong)) in enumerate(OF_BOTH.items()):
        truth = list("aabbc" * 40)
        said = ["abc"["abc".index(one) - 1] if n % every < wrong else one for n, one in enumerate(truth)]
        tickets = {"ticket": [f"{week}{n}" for n in range(200)], "true": truth, "said": said}
        pl.DataFrame(tickets).with_columns(side=pl.Series(["x", "y"] * 100)).write_csv(f"{week}_tickets.csv")
        places = [(f"{week}{n}", 1 + (n + at) % (2 + at), True, "xy"[n % 2]) for n in range(60)]
        log = pl.DataFrame(places, schema=["query", "rank", "label", "side"], orient="row")
        log.write_csv(f"{week}.csv")


def read(text: str) -> pl.DataFrame:
    """A result that was printed as CSV."""
    return pl.read_csv(text.encode())


def arms(name: str, by: str | None = None, **roles: object) -> IRM[pl.DataFrame]:
    """The rows of both weeks, as arms."""
    files = [pl.read_csv(f"{week}{name}.csv").with_columns(file=pl.lit(f"{week}{name}")) for week in OF_BOTH]
    return IRM(pl.concat(files), arm="file", by=by, **roles)


def test_a_gate_on_other_rows_is_the_difference_of_two_periods(capsys: Captured) -> None:
    """It reads the interval and the p-value that ab_test gives, which are those of change."""
    asked = ["change", "new_tickets.csv", "accuracy", *DECIDED, "--fail-if-worse-than", "old_tickets.csv"]
    code, printed, (said,) = called(capsys, *asked)
    expected = arms("_tickets", label="true", predicted="said").ab_test("accuracy", baseline="old_tickets")
    assert_frame_equal(read(printed).select("difference", "p_value"), expected.select("difference", "p_value"))
    assert (code, "accuracy is 0.75 against 0.95: a difference of -0.2," in said) == (1, True)
    assert called(capsys, "change", "old_tickets.csv", *asked[1:]) == (code, printed, [said])
    code, _, (said,) = called(capsys, *asked, "--margin", "0.02")
    assert (code, "worse by at least 0.1" in said, "up to 0.02 worse is accepted" in said) == (1, True, True)
    code, _, (said,) = called(capsys, *asked, "--margin", "0.3")
    assert (code, said.startswith("frame-metrics: gate passed: accuracy 0.75 against 0.95: a")) == (0, True)
    assert called(capsys, *asked, "--max-drop", "0.21")[0] == 0
    assert called(capsys, *asked[:-2], "--not-worse-than", asked[-1], "--margin", "0.3")[0] == 0
    assert called(capsys, *asked[:-2], "--not-worse-than", asked[-1], "--margin", "0.02")[0] == 1


def test_segments_and_their_total_are_gated(capsys: Captured) -> None:
    """Segments are corrected together; the notes of the result are in the words of the command line."""
    asked = ["change", "new.csv", "rr", "--by", "side", "--fail-if-worse-than", "old.csv", "--alpha", "1e-6"]
    code, printed, (said,) = called(capsys, *asked)
    found, named = read(printed), {"rank": "rank", "label": "label", "query": "query"}
    each = arms("", "side", **named).ab_test("rr", baseline="old", over="all")
    total = arms("", **named).ab_test("rr", baseline="old")
    numbers = ["difference", "ci_low", "p_adjusted"]
    assert_frame_equal(found.select(numbers), pl.concat([each.select(numbers), total.select(numbers)]))
    assert found["total_over"].to_list() == [None, None, "side"]
    assert (code, said.endswith("with so few permutations, so that the gate cannot fail")) == (4, True)
    passed = called(capsys, *asked[:-2], "--max-drop", "1")[2][-1]
    assert "gate passed: rr " in passed
    assert ", the worst of 3; " in passed
    assert "cluster=" not in printed
    assert called(capsys, "per-query", "old.csv", "rr", "-o", "saved.csv")[0] == 0
    asked[6] = "saved.csv"
    code, _, (told, line) = called(capsys, *asked)
    assert (code, "reads the log of before, and not numbers that were saved of it; pass --no-by" in told) == (2, True)
    of_saved = read(called(capsys, *shlex.split(line)[1:])[1])
    assert_frame_equal(of_saved.select(numbers), total.select(numbers))


def test_a_gate_on_each_class(capsys: Captured) -> None:
    asked = ["change", "new_tickets.csv", "recall", "--per-class", *DECIDED, "--fail-if-worse-than", "old_tickets.csv"]
    code, _, said = called(capsys, *asked)
    assert (code, any("(class a)" in one for one in said)) == (1, True)


def test_a_gate_keeps_what_is_asked_of_it(capsys: Captured) -> None:
    """Systems are corrected together, and an option of another command leads to that command."""
    asked = ["change", "new.csv", "rr", "--system", "side", "--fail-if-worse-than", "old.csv", "--alpha", "1e-6"]
    assert read(called(capsys, *asked)[1])["n_tests"].to_list() == [2, 2]
    gate = ["--per-class", "--fail-if-worse-than", "old_tickets.csv"]
    code, _, (told, *_, line) = called(capsys, "evaluate", "new_tickets.csv", "recall", *DECIDED, *gate)
    assert (code, "there is no option --per-class; it is an option of compare" in told) == (2, True)
    assert line == f"    frame-metrics {' '.join(['change', 'new_tickets.csv', 'recall', *DECIDED, *gate])}"
    assert called(capsys, *shlex.split(line)[1:])[0] == 1


@pytest.mark.parametrize(
    ("call", "told", "line"),
    [
        (
            "evaluate new_tickets.csv accuracy {} --fail-if-worse-than old_tickets.csv --margin 0.3",
            "to pair rows without a query, name the document they are about with --doc",
            "change new_tickets.csv accuracy {} --fail-if-worse-than old_tickets.csv --margin 0.3",
        ),
        (
            "compare new_tickets.csv accuracy {} --doc ticket --not-worse-than old_tickets.csv --margin 0.3",
            "ticket: no document has rows of two systems: none of their ids is in both, as 'new0' and 'old0'",
            "change new_tickets.csv accuracy {} --doc ticket --not-worse-than old_tickets.csv --margin 0.3",
        ),
        ("compare old.csv new.csv rr", "no other system has results of any of them", "change old.csv new.csv rr"),
        (
            "compare old_tickets.csv new_tickets.csv accuracy {}",
            "to pair rows without a query, name the document they are about with --doc",
            "change old_tickets.csv new_tickets.csv accuracy {}",
        ),
        (
            "leaderboard old.csv new.csv rr",
            "pass --arm file to measure each over its own queries",
            "evaluate old.csv new.csv rr --arm file",
        ),
        (
            "change old_tickets.csv new_tickets.csv accuracy {} --by side",
            "rows without a query are counted together",
            "ab-test old_tickets.csv new_tickets.csv accuracy {} --by side --arm file --baseline old_tickets",
        ),
        (
            "summary new_tickets.csv f1 {} --doc ticket --saved old_tickets.csv",
            "logs of other rows are two inputs: pass --arm file --baseline old_tickets",
            "summary new_tickets.csv f1 {} --doc ticket --input old_tickets.csv --arm file --baseline old_tickets",
        ),
        (
            "change same.csv rr --saved old.csv",
            "in every period of file, as if systems had answered the same queries: compare pairs these",
            "compare same.csv rr --saved old.csv",
        ),
    ],
)
def test_the_command_for_other_rows_is_offered(call: str, told: str, line: str, capsys: Captured) -> None:
    """The message says what has nothing in common, and the line compares it."""
    Path("same.csv").write_text(Path("old.csv").read_text())
    call, line = (one.format(" ".join(DECIDED)) for one in (call, line))
    code, _, said = called(capsys, *call.split())
    assert (code, told in said[0], said[-1]) == (2, True, f"    frame-metrics {line}")
    assert called(capsys, *line.split())[0] == 0


def test_equal_ids_in_other_segments_are_told(capsys: Captured) -> None:
    """As those of weeks, which are never the same."""
    for week in OF_BOTH:
        log = pl.read_csv(f"{week}_tickets.csv").with_columns(ticket=pl.int_range(pl.len()), side=pl.lit(week))
        log.write_csv(f"{week}_tickets.csv")
    gate = ["--fail-if-worse-than", "old_tickets.csv", "--max-drop", "0.3"]
    asked = ["evaluate", "new_tickets.csv", "accuracy", *DECIDED, "--doc", "ticket"]
    _, _, (told, line) = called(capsys, *asked, "--by", "side", "--fail-if-worse-than", "old_tickets.csv")
    assert "no document has rows of two systems; ids are in both, but in other segments: leave out --by" in told
    assert line == f"    frame-metrics {' '.join([*asked, *gate[:2]])}"
    assert called(capsys, *asked, *gate)[0] == 0


def test_segments_of_searches_name_the_query(capsys: Captured) -> None:
    """Where a column is called as the query usually is, segments are those of queries."""
    for week in OF_BOTH:
        pl.read_csv(f"{week}.csv").rename({"query": "search_term", "rank": "slot"}).write_csv(f"{week}.csv")
    code, _, said = called(capsys, "change", "old.csv", "new.csv", "rr", "--by", "side")
    line = "change old.csv new.csv rr --by side --query search_term --rank slot"
    assert (code, said[-1]) == (2, f"    frame-metrics {line}")
    assert called(capsys, *line.split())[0] == 0


def test_a_part_of_a_query_leads_to_a_whole_one(capsys: Captured) -> None:
    """A term that was asked on several days is explained on one, and several are named one after the other."""
    rows = [(term, day, n, n % 2) for term in ("hat", "cap") for day in ("mo", "tu") for n in (1, 2)]
    pl.DataFrame(rows, schema=["term", "day", "rank", "label"], orient="row").write_csv("log.csv")
    asked = ["explain", "log.csv", "rr", "--query", "term", "--query", "day"]
    code, _, (told, line) = called(capsys, *asked, "--query-id", "hat")
    assert (code, "--query-id hat: a query has a value for each of 'term', 'day', and 2 have" in told) == (2, True)
    assert line == f"    frame-metrics {' '.join(asked)} --query-id hat --query-id mo"
    printed = called(capsys, *shlex.split(line)[1:])[1]
    two = called(capsys, *shlex.split(line)[1:], "--query-id", "cap", "--query-id", "tu")[1]
    assert (len(read(printed)), len(read(two))) == (2, 4)
    assert "and none has this one" in called(capsys, *asked, "--query-id", "scarf")[2][0]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("evaluate new.csv rr --fail-if-worse-than old.csv", "rank: 2 of 180 rows are below 1 (rows 3, 40 of old.csv)"),
        ("compare old.csv new.csv rr", "rank: 2 of 180 rows are below 1 (rows 3, 40 of old.csv)"),
        (
            "evaluate new.csv rr --fail-if-worse-than old.csv --max-drop 1",
            "--fail-if-worse-than old.csv: rank: 2 of 90 rows",
        ),
        ("evaluate more.csv old.csv rr", "rank: 3 of 180 rows are below 1 (row 5 of more.csv, rows 3, 40 of old.csv)"),
        ("evaluate new.csv rr --qrels judged.csv", "label (of the judgments): 1 of 2 rows is neither 0 nor 1 (row 1)"),
    ],
)
def test_rows_are_those_of_their_file(call: str, told: str, capsys: Captured) -> None:
    """Rows of files one below the other are counted in each file."""
    rows = {"rank": [1, 2, 3] * 30, "label": 1, "query": [f"q{n // 3}" for n in range(90)]}
    new = pl.DataFrame(rows).with_columns(doc=pl.format("{} {}", "query", "rank"))
    new.write_csv("new.csv")
    at = pl.int_range(pl.len())
    new.with_columns(pl.when(at.is_in([3, 40])).then(0).otherwise("rank").alias("rank")).write_csv("old.csv")
    more = new.with_columns(pl.when(at == 5).then(0).otherwise("rank").alias("rank"), query=pl.format("m{}", "query"))
    more.write_csv("more.csv")
    pl.DataFrame({"query": "q1", "doc": ["q1 1", "q1 2"], "label": [1, 2]}).write_csv("judged.csv")
    code, _, said = called(capsys, *call.split())
    assert (code, told in " ".join(said)) == (2, True)
