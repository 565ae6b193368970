"""The command line: each verb is a command, and what readers type first works, or its error has what they mean."""

from __future__ import annotations

import argparse
import gzip
import io
import shlex
import sys
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from command_line import error, named, out, read, write
from frame_metrics import IRM, list_metrics
from frame_metrics.command import main
from frame_metrics.command.call import CommandLine
from frame_metrics.command.commands import COMMANDS, fill
from frame_metrics.command.front import COMMAND_TEXTS
from frame_metrics.command.texts import say
from frame_metrics.verbs.bounds.bounds import BoundsOf
from helpers import VERBS, Terminal

pytestmark = pytest.mark.usefixtures("alone")

HALF = named().rename({"docid": "doc"}).with_columns(grade=pl.when(pl.col("grade") > 0).then("grade"))
CASES = pl.DataFrame({"score": [0.1, 0.4, 0.6, 0.8, 0.9, 0.2], "label": [0, 1, 0, 1, 1, 0]})
GUESSES = pl.DataFrame({"label": ["a", "b", "c", "a"], "predicted": ["a", "b", "a", "c"]})
PEOPLE = pl.DataFrame(
    {"query": ["q0", "q0"] * 2, "doc": ["d0", "d1"] * 2, "grade": [0, 1, 1, 1], "who": ["a", "a", "b", "b"]}
)
CLICKS = pl.DataFrame(
    {"query": [1, 1, 2, 2], "text": ["q"] * 4, "doc": ["a", "b"] * 2, "rank": [1, 2] * 2, "label": [1, 0, 0, 1]}
)

# A command, the frame of its input, and what gives the same in Python.
SAME: dict[str, tuple[pl.DataFrame, Any]] = {
    "explain ndcg@3 --query-id q1": (named(), lambda irm: irm.explain("ndcg@3", query="q1")),
    "explain rr --query-id q1 --query-id q2": (named(), lambda irm: irm.explain("rr", query=["q1", "q2"])),
    "explain rr --query query --query device --query-id q1 --query-id desktop": (
        named(),
        lambda irm: irm(query=["query", "device"]).explain("rr", query=("q1", "desktop")),
    ),
    "bounds ap --of ties": (named(), lambda irm: irm.bounds("ap", of="ties")),
    "confusion --threshold 0.5": (CASES, lambda irm: irm(threshold=0.5).confusion()),
    "thresholds precision": (CASES, lambda irm: irm.thresholds("precision")),
    "best-threshold f1": (CASES, lambda irm: irm.best_threshold("f1")),
    "best-threshold recall --subject-to precision=0.7": (
        CASES,
        lambda irm: irm.best_threshold("recall", subject_to={"precision": 0.7}),
    ),
    "per-class f1": (GUESSES, lambda irm: irm.per_class("f1")),
    "to-judge precision@2 --n 2": (HALF, lambda irm: irm.to_judge(2, "precision@2")),
    "to-judge --n 2 --way depth": (HALF, lambda irm: irm.to_judge(2, way="depth")),
    "click-judgments --query-text text": (CLICKS, lambda irm: irm.click_judgments(query_text="text")),
    "summary rr": (named(), lambda irm: irm.summary("rr")),
}


@pytest.mark.parametrize("call", SAME)
def test_a_command_is_the_verb(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A command prints what the verb returns."""
    frame, verb = SAME[call]
    name, *rest = call.split()
    printed = out(capsys, name, write(frame, "log.parquet"), *rest)
    assert_frame_equal(read(printed), read(verb(IRM(frame)).write_csv()), check_dtypes=False)


def test_annotators(capsys: pytest.CaptureFixture[str]) -> None:
    """Judgments of several people in a file of their own are compared, and those that differ are listed."""
    frame, judged = named().rename({"docid": "doc"}).select("query", "doc", "score"), PEOPLE
    irm = IRM(frame).judge(judged, annotator="who")
    log, qrels = write(frame, "log.parquet"), ["--qrels", write(judged, "people.csv"), "--annotator", "who"]
    for name, found in (("agreement", irm.agreement()), ("disagreements", irm.disagreements())):
        printed = read(out(capsys, name, log, *qrels, "--qrels-from", "csv"))
        assert_frame_equal(printed, read(found.write_csv()), check_dtypes=False)


def test_every_verb_is_a_command() -> None:
    """Each verb that returns a frame, and what writes files, has a command with its line in the help."""
    assert {*COMMANDS} == {*COMMAND_TEXTS}
    assert {name.replace("_", "-") for name in VERBS if " " not in name} <= {*COMMANDS}


def test_two_files_are_two_systems(capsys: pytest.CaptureFixture[str]) -> None:
    """Two files of one log are compared, the second with the first; a column of systems is taken where it is named."""
    new = named().with_columns(score=-pl.col("score"))
    files = write(named(), "old.csv"), write(new, "new.csv")
    both = pl.concat([named().with_columns(file=pl.lit("old")), new.with_columns(file=pl.lit("new"))])
    options = {"permutations": 100, "resamples": 50}
    found = IRM(both, system="file").compare("rr", baseline="old", **options)
    flags = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    assert_frame_equal(read(out(capsys, "compare", *files, "rr", *flags)), read(found.write_csv()), check_dtypes=False)
    write(named().with_columns(file=pl.lit("x")), "old.csv")
    assert "it has a column 'file'; pass --system" in error(capsys, "compare", *files, "rr")


def test_files_are_systems_where_that_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """Two files of one log are an error that names the flag by which each is a system, unless a column says it."""
    new = named().with_columns(score=-pl.col("score")).rename({"docid": "doc"})
    old = named().rename({"docid": "doc"})
    call = ["evaluate", write(old, "old.csv"), write(new, "new.csv"), "rr"]
    assert "pass --system file to measure each file, or --no-system if" in error(capsys, *call)
    both = pl.concat([old.with_columns(file=pl.lit("old")), new.with_columns(file=pl.lit("new"))])
    found = read(IRM(both, system="file").evaluate("rr").write_csv())
    assert_frame_equal(read(out(capsys, *call, "--system", "file")), found, check_dtypes=False)
    call = ["evaluate", *(write(one, f"{name}.csv") for (name,), one in both.group_by("file")), "rr"]
    assert_frame_equal(read(out(capsys, *call, "--system", "file")), found, check_dtypes=False)
    call[1:3] = [write(old.with_columns(run=pl.lit("a")), "a.csv"), write(new.with_columns(run=pl.lit("b")), "b.csv")]
    assert "; pass --system run to measure each" in error(capsys, *call)
    assert out(capsys, *call, "--system", "run").startswith("run,metric")


def test_systems_whose_documents_are_not_named_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    """Metrics of all relevant documents are noted where each system has only its own rows; the way out ends that."""
    rows = {"query": ["q"] * 4, "docno": [*"abac"], "run": [*"xxyy"], "score": [2, 1] * 2, "grade": [2, 1, 2, 0]}
    log = write(pl.DataFrame(rows), "own.csv")
    told = "each system is measured by the relevant documents in its own rows, as none are named"
    for command, metrics in (("evaluate", ["ndcg", "rr"]), ("per-query", ["ndcg"]), ("leaderboard", ["ndcg", "p@1"])):
        call = [command, log, *metrics, "--system", "run"]
        note = main_says(capsys, *call)
        assert note == f"frame-metrics: ndcg: {told}; pass --doc docno to measure all by the same documents\n"
        assert main_says(capsys, *call, "--doc", "docno") == ""
    assert main_says(capsys, "evaluate", log, "rr", "p@1", "--system", "run") == ""


def test_judgments_of_own_rows_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    """A metric of all relevant documents is noted where systems are segments, or lists are cut and judge themselves."""
    found = named().rename({"docid": "doc"})
    log = write(found.with_columns(run=pl.lit("a")), "log.csv")
    segment = "each run is a segment, in which only documents of its own rows can be relevant"
    told = main_says(capsys, "evaluate", log, "ndcg@1", "rr", "p@3", "--by", "run")
    assert told == f"frame-metrics: ndcg@1: {segment}; pass --system run to measure all on the same documents\n"
    told = main_says(capsys, "per-query", log, "map", "recall@3", "rr")
    assert told == (
        "frame-metrics: map, recall@3 may be too high, as only the rows of the log are judged: pass --qrels FILE, or "
        "--collection-size true if no other document is relevant\n"
    )
    told = main_says(capsys, "evaluate", write(found.drop("doc"), "alone.csv"), "ndcg@2")
    assert "ndcg@2 may be too high, as only the rows of the log are judged: pass --qrels FILE and --doc COLUMN" in told
    qrels = ["--qrels", write(found.select("query", "doc", "grade"), "judged.csv")]
    for quiet in (
        ["--system", "run"],
        ["--no-doc"],
        ["--collection-size", "true"],
        qrels,
        ["--by", "device", "--by", "run", "--no-doc"],
    ):
        out(capsys, "evaluate", log, "ndcg@1", *quiet)
    for others in (found[1:], found.with_columns(score=pl.when(pl.col("doc") != "d0").then("score")), found[:5]):
        out(capsys, "evaluate", write(others, "others.csv"), "ndcg@1")


def test_files_of_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Files that are called alike in two folders are told by their folders."""
    files = [write(named(), f"{day}/log.csv") for day in ("monday", "tuesday")]
    assert "tuesday/log.csv,monday/log.csv,rr" in out(capsys, "compare", *files, "rr", "--resamples", "50")


def test_the_list_of_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    """All metrics are listed, or those that have each of some words."""
    assert len(read(out(capsys, "metrics"))) == len(list_metrics())
    assert read(out(capsys, "metrics", "discounted", "Novelty"))["name"].to_list() == ["alpha_dcg", "alpha_ndcg"]


def test_a_report_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    """A report is written to report.html, which is said; with a format it is printed."""
    log = write(named(), "log.parquet")
    assert main_says(capsys, "report", log, "rr") == "frame-metrics: the report is in report.html\n"
    assert Path("report.html").read_text().startswith("<!doctype html>")
    assert out(capsys, "report", log, "rr", "--format", "md").startswith("#")


def test_a_report_has_gates(capsys: pytest.CaptureFixture[str]) -> None:
    """The page is written, and the exit code is that of the gates."""
    log = write(named(), "log.parquet")
    told = error(capsys, "report", log, "rr", "-o", "page.html", "--fail-under", "rr=1", code=1)
    assert told.startswith("frame-metrics: gate failed: rr is ")
    assert Path("page.html").exists()
    assert main_says(capsys, "report", log, "rr", "-o", "page.html", "--fail-under", "rr=0").startswith(
        "frame-metrics: gate passed: rr is 0.75, at least 0"
    )
    saved = write(IRM(named()).per_query("rr"), "saved.parquet")
    told = error(capsys, "report", log, "rr", "-o", "page.html", "--not-worse-than", saved, code=2)
    assert "pass --margin" in told


def main_says(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a call that succeeds prints on standard error."""
    return error(capsys, *arguments, code=0)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_the_help_are_calls(name: str) -> None:
    """Each has options of its command, in values that these take; files are not looked for."""
    for line in COMMANDS[name].examples.strip().split("\n"):
        _, _, typed = line.strip().partition(f"frame-metrics {name}")
        if name != "trec_eval":
            arguments = shlex.split(typed.partition("|")[0].partition(">>")[0])
            parser = argparse.ArgumentParser()
            fill(parser, name)
            call = CommandLine(name, vars(parser.parse_intermixed_args(arguments)))
            call.check()
            assert call.set_options.get("of") in (None, *get_args(BoundsOf))


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The help is a command too, and fits lines of 80 characters."""
    assert out(capsys, "help") == out(capsys, "--help")
    assert out(capsys, "-V") == out(capsys, "--version")
    for name in COMMANDS:
        shown = out(capsys, "help", name)
        assert shown == out(capsys, name, "--help")
        assert max(map(len, shown.split("\n"))) <= 80, name


def test_the_second_file_of_convert_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    """It is, as of cp, if it is not there and its name has the format; else both are read."""
    write(named(), "log.csv")
    assert out(capsys, "convert", "log.csv", "log.parquet") == ""
    assert pl.read_parquet("log.parquet").shape == named().shape
    assert read(out(capsys, "convert", "log.csv", "log.csv")).height == 2 * named().height
    assert "'log.parqet' does not look like the name of a file" in error(capsys, "convert", "log.csv", "log.parqet")


def test_judgments_among_the_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    """Judgments of TREC beside runs are those of --qrels, in any order, by their ending or by what is in them."""
    lines = {
        "judged": "q1 0 d1 1\nq1 0 d2 2\nq2 0 d3 0\nq2 0 d1 1\n",
        "one": "q1 Q0 d1 1 2.0 one\nq2 Q0 d1 1 1.5 one\n",
    }
    for name in ("judged.txt", "judged.qrels", "judged.txt.gz", "one.run", "one.txt", "two.txt"):
        data = lines.get(name.partition(".")[0], "\nq1 Q0 d2 1 2.0 two\n").encode()
        Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    found = out(capsys, "evaluate", "one.run", "ndcg@3", "rr", "--qrels", "judged.qrels")
    for files in ("judged.txt one.run", "one.txt judged.txt.gz", "judged.qrels one.txt"):
        assert out(capsys, "eval", *files.split(), "ndcg@3,rr") == found
    assert out(capsys, "eval", "judged.txt", "one.run", "-m", "ndcg@3,rr") == found
    compared = [out(capsys, "compare", *files, "rr") for files in (["judged.txt", "one.run", "two.txt"],)]
    assert compared == [out(capsys, "compare", "one.run", "two.txt", "rr", "--qrels", "judged.txt")]
    assert "one.run: it has no column 'grade'" in error(
        capsys, "evaluate", "judged.txt", "one.run", "rr", "--qrels", "judged.qrels"
    )


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "json", "jsonl", "arrow", "csv.gz", "jsonl.gz"])
def test_what_is_piped_in_says_its_format(
    ending: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard input, and a file without an ending, are read in the format that they begin with."""
    name = write(named(), f"log.{ending}")
    found = out(capsys, "evaluate", name, "rr")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(name).read_bytes())))
    assert out(capsys, "evaluate", "-", "rr") == found
    assert out(capsys, "evaluate", str(Path(name).rename("log")), "rr") == found


def test_notes_of_an_online_test_have_flags(capsys: pytest.CaptureFixture[str]) -> None:
    """The note on the split names the flag by which users are named."""
    clicks = CLICKS.with_columns(arm=pl.Series(["a", "a", "b", "b"]))
    note = read(out(capsys, "ab-test", write(clicks, "log.csv"), "rr", "--arm", "arm"))["split_note"][0]
    assert "with --cluster" in note


def test_commas_between_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    """A list with commas is several metrics; commas between cutoffs, and in brackets, are of one metric."""
    log = write(named(), "log.parquet")
    found = out(
        capsys,
        "evaluate",
        log,
        "ndcg@1",
        "ndcg@3",
        "rr",
        "utility(tp=1, fp=2, fn=3, tn=4)@2",
        "--collection-size=9",
        "--no-doc",
    )
    assert (
        out(
            capsys,
            "evaluate",
            log,
            "ndcg@1,3,rr",
            "utility(tp=1, fp=2, fn=3, tn=4)@2",
            "--collection-size=9",
            "--no-doc",
        )
        == found
    )


def test_what_was_written_is_said_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job in the background is silent; people see the name of the file."""
    log = write(named(), "log.parquet")
    for call in (["convert", log, "-o", "log.csv"], ["report", log, "rr", "-o", "page.md"]):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", terminal := Terminal(file := io.BytesIO()))
            assert main(call) == 0
            terminal.flush()
        assert file.getvalue().decode().endswith(f" in {call[-1]}\n")


def test_an_audit_with_an_error_does_not_fail_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """It says so, and --fail-on error fails."""
    log = write(pl.concat([named()] * 2).rename({"docid": "doc"}), "log.csv")
    assert "the exit code is 0: pass --fail-on error to fail\n  | doc: 20 of 40 rows" in main_says(capsys, "audit", log)
    assert "gate failed: error" in error(capsys, "audit", log, "--fail-on", "error", code=1)


def test_warnings_in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's name is yellow on a terminal, unless NO_COLOR is set."""
    for unset in ("NO_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.delenv(unset, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for colour in (True, False):
        file = io.BytesIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", terminal := Terminal(file))
            say("few queries")
            terminal.flush()
        shown = file.getvalue().decode()
        assert shown == ("\033[33mframe-metrics\033[0m: few queries\n" if colour else "frame-metrics: few queries\n")
        monkeypatch.setenv("NO_COLOR", "1")


def test_means_are_compared_with_those_of_the_same_keys(capsys: pytest.CaptureFixture[str]) -> None:
    """Saved means of several systems are no baseline of one, whatever their order; a segment that is gone fails."""
    rows = named().rename({"docid": "doc"}).with_columns(run=pl.lit("a"), part=pl.col("query") > "q1")
    both = write(pl.concat([rows, rows.with_columns(run=pl.lit("b"), score=-pl.col("score"))]), "both.csv")
    one, gate = write(rows.drop("run"), "one.csv"), ["--fail-if-worse-than", "means.csv", "--max-drop", "0"]
    out(capsys, "evaluate", both, "rr", "--system", "run", "-o", "means.csv")
    assert "the saved means differ by 'run', and these do not" in error(capsys, "evaluate", one, "rr", *gate)
    assert main(["evaluate", one, "rr", *gate, "--saved-system", "a"]) == 0
    assert "these means differ by 'part', and the saved ones do not" in error(
        capsys, "evaluate", one, "rr", "--by", "part", *gate, "--saved-system", "a"
    )
    out(capsys, "evaluate", one, "rr", "--by", "part", "-o", "means.csv")
    assert main(["evaluate", one, "rr", "--by", "part", *gate]) == 0
    less = write(rows.drop("run").filter("part"), "less.csv")
    gone = error(capsys, "evaluate", less, "rr", "--by", "part", *gate, code=1)
    assert "gate failed: rr has a saved value and none now (part False)" in gone


def test_a_gate_counts_no_query_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """A judged query without a row is compared, as 0, and not one of the saved ones that are left out."""
    Path("a.run").write_text("q1 Q0 a 1 2.0 x\nq2 Q0 b 1 1.0 x\n")
    Path("b.run").write_text("q1 Q0 a 1 2.0 y\n")
    Path("j.qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    out(capsys, "per-query", "a.run", "rr", "--qrels", "j.qrels", "-o", "saved.csv")
    call = ["evaluate", "b.run", "rr", "--qrels", "j.qrels", "--fail-if-worse-than", "saved.csv"]
    assert "saved queries without a row in the log: 1; judged ones count as 0" in main_says(capsys, *call)
    assert "1 of 2 saved queries are not in the log" in main_says(capsys, *call, "--unanswered", "drop")
    assert "without a row in the log: 1" in error(capsys, *call, "--max-drop", "0.1", code=1)
