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
    assert "pass --system file if each file is a system" in error(capsys, *call)
    both = pl.concat([old.with_columns(file=pl.lit("old")), new.with_columns(file=pl.lit("new"))])
    found = read(IRM(both, system="file").evaluate("rr").write_csv())
    assert_frame_equal(read(out(capsys, *call, "--system", "file")), found, check_dtypes=False)
    call = ["evaluate", *(write(one, f"{name}.csv") for (name,), one in both.group_by("file")), "rr"]
    assert_frame_equal(read(out(capsys, *call, "--system", "file")), found, check_dtypes=False)
    call[1:3] = [write(old.with_columns(run=pl.lit("a")), "a.csv"), write(new.with_columns(run=pl.lit("b")), "b.csv")]
    assert "; pass --system run to measure each" in error(capsys, *call)
    assert out(capsys, *call, "--system", "run").startswith("run,metric")


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
    out(capsys, "report", log, "rr", "-o", "page.html", "--fail-under", "rr=0")
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


# What is typed first, and a part of the error that leads on.
GUESSED = {
    "evaluate log.csv rr -q": "values of queries are frame-metrics per-query log.csv rr; trec_eval's own call is",
    "evaluate log.csv rr --quiet": "for the number alone pass --columns value --no-header",
    "evaluate log.csv rr --save x.json": "pass --fail-if-worse-than base.csv after per-query old.csv ndcg@10 -o",
    "evaluate log.csv rr --baseline x.json": "saved numbers are those of --fail-if-worse-than base.csv",
    "evaluate log.csv rr --fail-if-worse": "pass --fail-if-worse-than base.csv",
    "evaluate log.csv rr --precision 0.9": "name the metric behind the input, as log.csv precision",
    "evaluate log.csv device": "The column is named --label device, beside a metric, as clicks or ctr@10.",
    "plot log.csv": "it is report, as report log.csv ndcg@10 -o report.html",
    "judge log.csv": "it is agreement, as agreement judgments.csv --annotator who",
    "pool q.txt a.run": "it is to-judge, as to-judge qrels.txt a.run b.run --system run --n 50 --max-grade 3",
    "roc-auc": "it is a metric: frame-metrics evaluate FILE roc-auc",
    "agreement log.csv --annotator score --doc docid": "--annotator score: no document has judgments of two annotators",
    "evaluate log.csv rr --out x.csv": "pass --output FILE, or -o",
    "evaluate log.csv rr --json": "pass --to json",
    "evaluate log.csv ndcg -k 10": "as ndcg@10",
    "evaluate log.csv rr map --fail-under 0.99": "name the metric, as ndcg@10=0.99",
    "evaluate log.csv rr --fail-under x": "'x' is no limit of a metric: it is no number; pass one, as ndcg@10=0.4",
    "evaluate log.csv rr --fail-under nan": "'nan' is no limit of a metric: it is no number; pass one, as ndcg@10=0.4",
    "evaluate log.csv rr --fail-under 0.3 --fail-under 0.4": "name the metric, as ndcg@10=0.3",
    "evaluate log.csv rr --by device day": "lists them. For segments of day too, pass --by device --by day. The column",
    "log.csv rr --ci 95": "--ci 95 is not a level",
    "log.csv nosuchmetric": "there is no metric 'nosuchmetric'; frame-metrics metrics lists them",
    "labels.csv roc_auc": "the score is missing; name its column with --score",
    "rr twice.csv": "pass --system model to measure each",
    "twice.csv rr": "pass --system model to measure each",
    "metrics zzz": "there is no metric with 'zzz' in its name or text; frame-metrics metrics lists all",
    "metrics ndgc": "there is no metric with 'ndgc' in its name or text; did you mean 'ndcg'?",
    "evaluate log.csv rr --where x": "rows are not filtered here; --by COLUMN splits them",
    "ctr log.csv": "it is evaluate, as evaluate clicks.csv ctr@10 --label click",
    "evaluate cases.csv f1": "pass --threshold 0.5 to decide by the score",
    "convert log.csv log.csv log.parquet": "frame-metrics convert log.csv log.csv -o log.parquet",
    "report log.csv page.html": "frame-metrics report log.csv -o page.html",
    "report log.csv rr page.html": "frame-metrics report log.csv rr -o page.html",
    "explain log.csv rr": "explain requires --query-id",
    "explain log.csv --query-id q1": "explain requires a metric; name one behind the input",
    "explain log.csv rr map --query-id q1": "explain takes one metric, and 2 are named",
    "bounds log.csv rr": "pass --of unjudged --max-grade 3, or --of ties",
    "sample-size log.csv rr": "sample-size requires --detect",
    "threshold log.csv --precision 0.9": "frame-metrics best-threshold log.csv recall --subject-to precision=0.9",
    "list": "it is metrics",
    "power log.csv": "it is sample-size, as sample-size old.csv new.csv",
    "check log.csv": "it is audit, for the data; for a gate it is evaluate, as evaluate new.csv",
    "validate log.csv": "it is audit",
    "trend log.csv": "it is evaluate, as evaluate log.csv ndcg@10 --by day",
    "diff log.csv log.csv": "and change, as change week1.csv week2.csv ndcg@10 --by device, for two periods",
    "show q1 log.csv": "it is explain, as explain log.csv",
    "wish log.csv": "the nearest are metrics, thresholds and disagreements, and frame-metrics help lists all",
    "log.csv": "no metric was asked for; name one behind the input, as ndcg@10",
    "explain rr --query-id q1": "explain requires a metric; rr is one: name the input before it",
    "explain rr": "name the input before it, as log.csv rr --query-id ...",
    "eval log.csv rr --json": "evaluate: there is no option --json",
    "eval log.csv rr --by day,device": "'device', 'day'; pass --by day --by device",
    "eval log.csv text.txt": "text.txt: the name does not say the format; pass --from",
    "eval log.csv xyzzy": "there is no metric 'xyzzy'; frame-metrics metrics lists them",
    "leaderboard log.csv rr": "leaderboard ranks systems; name their column with --system",
    "leaderboard runs.csv rr": "leaderboard ranks systems; name their column with --system model",
    "compare runs.csv rr": "compare pairs systems query by query; name their column with --system model",
    "change log.csv rr": "change compares each period over its own queries; name the column of periods with --arm",
    "evaluate log.csv rr --fail-if-worse-than log.csv": "it has to be what frame-metrics per-query old.csv ndcg@10 -o",
    "convert q.txt log.csv": "q.txt has judgments, which convert does not join with results; other commands take them",
    "compare log.csv rr --max-drop 0.01": "pass --not-worse-than base.csv --margin 0.01, after per-query old.csv",
    "compare log.csv rr --stat-test student": "pass --test, as --test t",
    "evaluate log.csv rr --delta 0.02": "the difference to detect is --detect of sample-size",
    "evaluate log.csv rr --decompose": "change with --by COLUMN takes a difference apart into mix and within",
}


@pytest.mark.parametrize(
    ("word", "name"), [("lift(top=.1)", "lift"), ("roc-auc", "roc_auc"), ("ndcg_cut_10", "ndcg"), ("nDCG@10", "ndcg")]
)
def test_help_of_a_metric(word: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A metric with parameters, or as other tools spell it, is described by help and by metrics."""
    assert name in read(out(capsys, "help", word))["name"].to_list()
    assert out(capsys, "help", word) == out(capsys, "metrics", word)


def test_help_of_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The help of help is the list of commands."""
    assert "per-query       compute metrics for every query" in out(capsys, "help", "help")


@pytest.mark.parametrize("call", GUESSED)
def test_guesses(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What readers type first leads to what they mean."""
    write(named(), "log.csv")
    write(named().with_columns(model=pl.lit("a")), "runs.csv")
    write(pl.DataFrame({"label": [0, 1], "score": [0.2, 0.7]}), "cases.csv")
    write(
        pl.concat([named().with_columns(model=pl.lit(one)) for one in ("a", "b")]).rename({"docid": "doc"}), "twice.csv"
    )
    write(pl.DataFrame({"label": [0, 1], "risk": [0.2, 0.7]}), "labels.csv")
    Path("q.txt").write_text("q1 0 d1 1\n")
    Path("text.txt").write_text("some words\n")
    assert GUESSED[call] in error(capsys, *call.split())


@pytest.mark.parametrize(
    "call",
    [
        "log.csv rr --by device --to json",
        "-m rr log.csv --group-by device --format json",
        "log.csv --metrics rr --groupby=device --to=json",
        "eval log.csv -m rr --by device --format=json",
    ],
)
def test_other_words_for_evaluate_and_its_options(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without a command is evaluated, and options have the names that other tools give them."""
    write(named(), "log.csv")
    assert out(capsys, *call.split()) == out(capsys, *["evaluate", "log.csv", "rr", "--by", "device", "--to", "json"])


# Calls in other words, and the same in ours.
OTHERWISE = {
    "confusion-matrix cases.csv --y-true label --y-pred guess": "confusion cases.csv --label label --predicted guess",
    "threshold cases.csv f1 --y-true label --y-score score": "best-threshold cases.csv f1",
    "roc-auc cases.csv": "evaluate cases.csv roc-auc",
    "ndcg@3 log.csv --query-col query": "evaluate log.csv ndcg@3 --query query",
    "evaluate log.csv rr --fail-under 0.1": "evaluate log.csv rr --fail-under rr=0.1",
    "evaluate log.csv rr --fail_under 0.1": "evaluate log.csv rr",
    "evaluate log.csv rr --fail-below 0.1": "evaluate log.csv rr --fail-under rr=0.1",
    "per_query log.csv rr": "per-query log.csv rr",
    "compare runs.csv rr --system run --test ttest": "compare runs.csv rr --system run --test t",
    "sample-size runs.csv rr --system run --mde 0.1": "sample-size runs.csv rr --system run --detect 0.1",
    "ab-test arms.csv rr --variant arm --unit device": "ab-test arms.csv rr --arm arm --cluster device",
    "change week1.csv week2.csv rr": "change weeks.csv rr --arm file",
    "change week1.csv week2.csv rr --arm file": "change weeks.csv rr --arm file",
    "agreement who.csv --rater who": "agreement log.csv --qrels who.csv --annotator who",
    "disagreements who.csv --annotator who": "disagreements log.csv --qrels who.csv --annotator who",
    "--list-metrics": "metrics",
    "help ndcg@10": "metrics ndcg",
}


@pytest.mark.parametrize("call", OTHERWISE)
def test_other_words(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What other tools call so prints the same here."""
    rows, less = named().rename({"docid": "doc"}), -pl.col("score")
    write(rows, "log.csv")
    write(pl.concat([rows.with_columns(run=pl.lit("a")), rows.with_columns(less, run=pl.lit("b"))]), "runs.csv")
    weeks = [rows.with_columns(pl.format("{} {}", "query", pl.lit(week)).alias("query")) for week in (1, 2)]
    for week, one in enumerate(weeks, 1):
        write(one, f"week{week}.csv")
    each = pl.concat(one.with_columns(file=pl.lit(f"week{week}")) for week, one in enumerate(weeks, 1))
    write(each, "weeks.csv")
    write(each.rename({"file": "arm"}), "arms.csv")
    judged = rows.select("query", "doc", "grade")
    write(pl.concat([judged.with_columns(who=pl.lit(who)) for who in ("x", "y")]), "who.csv")
    write(pl.DataFrame({"label": [0, 1, 1], "score": [0.2, 0.7, 0.1], "guess": [0, 1, 0]}), "cases.csv")
    found = [(main(one.split()), capsys.readouterr().out) for one in (call, OTHERWISE[call])]
    assert found[0] == found[1]
    assert found[0][0] == 0


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
        capsys, "evaluate", log, "ndcg@1", "ndcg@3", "rr", "utility(tp=1, fp=2, fn=3, tn=4)@2", "--collection-size", "9"
    )
    assert (
        out(capsys, "evaluate", log, "ndcg@1,3,rr", "utility(tp=1, fp=2, fn=3, tn=4)@2", "--collection-size", "9")
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
    assert main_says(capsys, "audit", log).endswith("the exit code is 0: pass --fail-on error to fail\n")
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
