"""Columns that are named for another part than they have, and the line that the error holds."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest

from helpers import called

SHORT = ["--metric", "ndcg@2", "-q", "q", "-r", "rel", "-p", "pos", "--by", "lang"]
GRADED = ["--rank", "pos", "--label", "rel"]
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _logs(alone: None) -> None:
    """Searches of two weeks in which each term was asked once, clicks, and grades of two raters."""
    rows = [
        (term, f"2026-11-{day:02}", place, f"{term}{day}{place}", (term + place + day) % 3, "de" if term % 2 else "en")
        for term in range(12)
        for day in (4 + term % 5, 11 + term % 5)
        for place in (1, 2, 3)
    ]
    log = pl.DataFrame(rows, schema=["q", "event_dt", "pos", "item", "rel", "lang"], orient="row")
    log.with_columns(pl.format("t{}", "q").alias("q"), model_score=-pl.col("pos") / 10).write_csv("log.csv")
    shown = [(f"s{n}", place, int(n % 4 == place), "ab"[n % 2], f"u{n // 2}") for n in range(24) for place in (1, 2, 3)]
    clicks = pl.DataFrame(shown, schema=["session", "pos", "clicked", "variant", "visitor"], orient="row")
    clicks.write_csv("clicks.csv")
    rated = {"human_rel": [0, 1, 2, 1] * 5, "llm_rel": [0, 1, 1, 1] * 5, "lang": ["de", "en"] * 10}
    pl.DataFrame(rated).write_csv("pairs.csv")
    seen = pl.DataFrame(shown, schema=["session", "pos", "clicked", "plan", "visitor"], orient="row")
    days = pl.format("2026-11-{}", 10 + pl.col("search_id").str.slice(1).cast(pl.Int64) % 14)
    seen.rename({"clicked": "applied", "session": "search_id"}).with_columns(
        days.alias("ts"), quality=(pl.col("pos") * 7 + seen["clicked"]) % 4
    ).write_csv("seen.csv")


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        (
            "decompose log.csv --date event_dt --before 2026-11-09 --after 2026-11-10 --segment lang --metric p@2 "
            "--query q --rel rel --rank pos",
            [
                "change log.csv --since 2026-11-10 --metric p@2 --query q --rank pos --arm event_dt --by lang "
                "--cluster q --grade rel"
            ],
        ),
        (
            "evaluate log.csv --group-by q --metrics ndcg@2 --by lang --label-col rel --score-col model_score",
            [
                "evaluate log.csv --metric ndcg@2 --score model_score --by lang --query q --query event_dt --grade rel "
                "--doc item"
            ],
        ),
        (
            "report log.csv --query q --rank pos --rel rel --by lang --html -o page.html",
            ["report log.csv --rank pos --grade rel --by lang --format html -o page.html --query q --query event_dt"],
        ),
        (
            "ctr clicks.csv --groupby pos --click clicked",
            ["curve clicks.csv --label clicked --query session --rank pos --metric ctr"],
        ),
        (
            "abtest clicks.csv --variant variant --user visitor --metric clicked --control a",
            [
                f"ab-test clicks.csv --arm variant --cluster visitor --metric {metric} --baseline a --label clicked "
                "--query session --rank pos"
                for metric in ("clicks", "ctr@10")
            ],
        ),
    ],
)
def test_the_part_of_a_column_is_found(typed: str, lines: list[str], capsys: Captured) -> None:
    """Each line that is offered runs, and none merges searches or drops what was asked."""
    code, _, said = called(capsys, *typed.split())
    offered = [one.removeprefix("    frame-metrics ") for one in said if one.startswith("    frame-metrics ")]
    assert code == 2
    assert [sorted(one.split()) for one in offered] == [sorted(one.split()) for one in lines]
    for line in offered:
        assert called(capsys, *shlex.split(line))[0] == 0


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("audit seen.csv", "audit seen.csv --query search_id --rank pos"),
        (
            "explain seen.csv --query_id=s1 --metric=dcg@3",
            "explain seen.csv --query-id=s1 --metric=dcg@3 --query search_id --rank pos",
        ),
        (
            "evaluate seen.csv --date ts --grain week --measure mrr --dimension plan",
            "evaluate seen.csv --by ts --every week --metric mrr --by plan --query search_id --rank pos",
        ),
        (
            "decompose seen.csv --period ts --split-at 2026-11-16 --by plan --metric p@2",
            "change seen.csv --arm ts --since 2026-11-16 --by plan --metric p@2 --query search_id --rank pos",
        ),
        (
            "report seen.csv --html page.html --segments plan -m rr",
            "report seen.csv --output page.html --by plan -m rr --query search_id --rank pos",
        ),
    ],
)
def test_a_column_of_labels_and_one_of_grades_have_a_line_each(typed: str, line: str, capsys: Captured) -> None:
    """As nothing says which of them is meant; both run, and neither drops what was asked."""
    code, _, said = called(capsys, *typed.split())
    lines = [f"{line} --grade quality", f"{line} --label applied"]
    offered = [f"    frame-metrics {one}" for one in lines]
    assert (code, said[-4:]) == (2, ["  | either:", offered[0], "  | or:", offered[1]])
    for one in lines:
        assert called(capsys, *one.split())[0] == 0


def test_files_with_commas_between(capsys: Captured) -> None:
    """They are read one after the other, behind a flag and without one."""
    for name, places in (("a", (1, 2, 3)), ("b", (3, 1, 2))):
        lines = [f"q{n} Q0 d{at} {place} {-place} {name}\n" for n in range(4) for at, place in enumerate(places)]
        Path(f"{name}.run").write_text("".join(lines))
    Path("qrels.txt").write_text("".join(f"q{n} 0 d{n % 3} 1\n" for n in range(4)))
    asked = ["--qrels", "qrels.txt", "--metric", "rr"]
    expected = called(capsys, "compare", "a.run", "b.run", *asked)
    assert expected[0] == 0
    for typed in (["--runs", "a.run,b.run"], ["--runs=a.run,b.run"], ["a.run,b.run"]):
        assert called(capsys, "compare", *typed, *asked) == expected


def test_small_other_spellings(capsys: Captured) -> None:
    """Of the list of metrics, of the sign of a gate and of a test."""
    assert called(capsys, "list", "metrics", "ndcg") == called(capsys, "metrics", "ndcg")
    graded = ["--query", "search_id", "--rank", "pos", "--label", "applied"]
    for limit, code in (("rr>=0.1", 0), ("rr>=0.99", 1), ("rr=0.99", 1)):
        assert called(capsys, "evaluate", "seen.csv", "rr", "--fail-under", limit, *graded)[0] == code
    tested = ["ab-test", "seen.csv", "rr", "--arm", "plan", *graded, "--test"]
    assert called(capsys, *tested, "t.test") == called(capsys, *tested, "t")


@pytest.mark.parametrize("columns", ["human_rel llm_rel", "--cols human_rel llm_rel", "--columns human_rel,llm_rel"])
def test_two_columns_beside_kappa_are_those_of_raters(columns: str, capsys: Captured) -> None:
    """Whatever the flag before them."""
    expected = called(
        capsys, *["evaluate", "pairs.csv", "kappa", "--label", "human_rel", "--predicted", "llm_rel", "--by", "lang"]
    )
    assert called(capsys, "kappa", "pairs.csv", *columns.split(), "--by", "lang") == expected
    assert expected[0] == 0


def test_lists_are_never_made_one_by_an_offered_line(capsys: Captured) -> None:
    """Where no column tells searches apart, there is no line."""
    pl.read_csv("log.csv").drop("event_dt").write_csv("log.csv")
    asked = ["evaluate", "log.csv", "ndcg@2", "--query", "q", "--score", "model_score", "--grade", "rel"]
    code, _, said = called(capsys, *asked)
    assert (code, len(said)) == (2, 1)
    assert "name the column of single searches with --query; --no-rank says that they are one list" in said[0]
    assert called(capsys, *asked, "--no-rank")[0] == 0


def test_one_note_stands_above_several_lines(capsys: Captured) -> None:
    """A long error is not cut within the commands that it holds."""
    pl.read_csv("log.csv").filter(pl.col("event_dt") < "2026-11-09").write_csv("before.csv")
    pl.read_csv("log.csv").filter(pl.col("event_dt") > "2026-11-09").write_csv("after.csv")
    code, _, said = called(capsys, "diff", "before.csv", "after.csv", *SHORT)
    notes, lines = (
        [one for one in said if part in one]
        for part in ("in the place of -p pos", "    frame-metrics compare before.csv")
    )
    assert (code, len(notes), len(lines), any("..." in one for one in said)) == (2, 1, 2, False)
    for line in lines:
        assert called(capsys, *shlex.split(line)[1:])[0] == 0


def test_an_error_of_the_audit_is_said(capsys: Captured) -> None:
    """With the way out, beside the table whose exit code is 0."""
    code, _, (told, first) = called(capsys, "audit", "log.csv", "--query", "q", "--query", "event_dt", *GRADED)
    assert (code, "the exit code is 0: pass --fail-on error to fail" in told) == (0, True)
    assert "rows are neither 0 nor 1" in first
    assert "--grade rel if these are grades" in first


def test_judgments_of_two_files_are_said_to_count_in_both(capsys: Captured) -> None:
    """Where a relevant document of one file is not in the other, for metrics that count what was not found."""
    log = pl.read_csv("log.csv").rename({"q": "query", "rel": "grade", "item": "doc"}).unique(["query", "pos"])
    log.write_csv("one.csv")
    log.with_columns(model_score=-pl.col("model_score")).write_csv("two.csv")
    asked = ["compare", "one.csv", "two.csv", "ndcg@2", "--score", "model_score"]
    assert called(capsys, *asked)[::2] == (0, [])
    log.with_columns(doc=pl.format("{}x", "doc")).write_csv("two.csv")
    code, _, (told,) = called(capsys, *asked)
    what = "documents that are judged in one file count in all, so that values may be below those of a file alone"
    assert (code, told) == (0, f"frame-metrics: ndcg@2: {what}")
    assert called(capsys, *asked[:3], "precision@2", *asked[4:])[::2] == (0, [])


def test_rows_in_another_segment_of_the_other_file_are_counted(capsys: Captured) -> None:
    """Decisions about a row are compared if both files put it into the same segment; a note counts the others."""
    rows = pl.DataFrame(
        {"id": range(40), "label": list("abca") * 10, "guess": list("abab") * 10, "lang": ["de", "en"] * 20}
    )
    rows.write_csv("one.csv")
    moved = pl.when(pl.col("id") < 3).then(pl.lit("fr")).otherwise("lang").alias("lang")
    rows.with_columns(moved, guess=pl.Series(list("abca") * 10)).write_csv("two.csv")
    asked = ["compare", "one.csv", "two.csv", "accuracy", "--doc", "id", "--label", "label", "--predicted", "guess"]
    code, _, told = called(capsys, *asked, "--by", "lang")
    what = "3 of 40 rows have another lang in another file, and are left out (n_unpaired)"
    assert (code, told) == (0, [f"frame-metrics: {what}"])
    assert called(capsys, *asked)[::2] == (0, [])
