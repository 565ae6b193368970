"""What readers type first works, or its error has the whole command that they mean."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from command_line import error, named, out, read, write
from frame_metrics.command import main

pytestmark = pytest.mark.usefixtures("alone")


def write_runs() -> None:
    """Write two runs of TREC, and judgments."""
    Path("a.run").write_text("q1 Q0 d1 1 2.0 a\nq1 Q0 d2 2 1.0 a\n")
    Path("b.run").write_text("q1 Q0 d2 1 2.0 b\nq1 Q0 d3 2 1.0 b\n")
    for name in ("q.txt", "q.trec"):
        Path(name).write_text("q1 0 d1 1\n")


def write_searches() -> None:
    """Write the clicks of four sessions with two queries, in two arms."""
    searches = {"query": list("abab"), "session": [1, 2, 3, 4], "user": list("uvwx"), "arm": list("ABBA")}
    write(pl.DataFrame(searches | {"rank": [1, 1, 2, 2], "clicked": [0, 1, 1, 0]}), "searches.csv")


# What is typed first, and a part of the error that leads on.
GUESSED = {
    "evaluate log.csv rr --quiet": "for the number alone pass --columns value --no-header",
    "evaluate log.csv rr --save x.json": "--fail-if-worse-than old.csv, the log of before, or what per-query wrote",
    "evaluate log.csv rr --baseline x.json": "saved numbers are those of the gate --fail-if-worse-than old.csv",
    "evaluate log.csv rr --fail-if-worse": "pass --fail-if-worse-than old.csv",
    "evaluate log.csv rr --precision 0.9": "name the metric behind the input, as log.csv precision",
    "evaluate log.csv device": "The column is named --label device, beside a metric, as clicks or ctr@10.",
    "roc-auc": "it is a metric: frame-metrics evaluate FILE roc-auc",
    "agreement log.csv --annotator score --doc docid": "--annotator score: no document has judgments of two annotators",
    "evaluate log.csv rr map --fail-under 0.99": "name the metric, as ndcg@10=0.99",
    "evaluate log.csv rr --fail-under x": "'x' is no limit of a metric: it is no number; pass one, as ndcg@10=0.4",
    "evaluate log.csv rr --fail-under nan": "'nan' is no limit of a metric: it is no number; pass one, as ndcg@10=0.4",
    "evaluate log.csv rr --fail-under 0.3 --fail-under 0.4": "name the metric, as ndcg@10=0.3",
    "evaluate log.csv rr --by device day": "lists them. For segments of day too, pass --by device --by day",
    "agreement log.csv --annotator device --grade grade": "--doc, one of 'query', 'docid', 'grade', ",
    "log.csv rr --ci 95": "--ci 95 is not a level",
    "log.csv nosuchmetric": "there is no metric 'nosuchmetric'; frame-metrics metrics lists them",
    "labels.csv roc_auc": "the score is missing; name its column with --score",
    "rr twice.csv": "pass --system model to measure each",
    "twice.csv rr": "pass --system model to measure each",
    "metrics zzz": "there is no metric with 'zzz' in its name or text; frame-metrics metrics lists all",
    "metrics ndgc": "there is no metric with 'ndgc' in its name or text; did you mean 'ndcg'?",
    "evaluate log.csv rr --where x": "'x' is no condition, as device=phone, score!=0 or day>=2026-03-01",
    "evaluate cases.csv f1": "pass --threshold 0.5 to decide by the score",
    "convert log.csv log.csv log.parquet": "frame-metrics convert log.csv log.csv -o log.parquet",
    "report log.csv page.html": "frame-metrics report log.csv -o page.html",
    "report log.csv rr page.html": "frame-metrics report log.csv rr -o page.html",
    "explain log.csv --query-id q1": "explain requires a metric; name one behind the input",
    "explain log.csv rr map --query-id q1": "explain takes one metric, and 2 are named, 'rr', 'map'",
    "evaluate cases.csv f1 --threshold 0.5 --fail-if-worse-than means.csv": "--max-drop with the loss that is accepted",
    "evaluate log.csv rr --max-drop 0.1": "--max-drop requires --fail-if-worse-than, with the log of before, or",
    "ab-test log.csv rr --arm device --fail-if-worse 0.1": "--max-drop requires --fail-if-worse-than, with the log",
    "ab-test log.csv rr --arm device --fail-if-worse": "the gate names the arm that others are compared with, as",
    "ab-test log.csv rr --arm device --split 90:10": "name each, as --split desktop=0.9 --split mobile=0.1",
    "ab-test log.csv rr --arm device --split 50:30:20": "50:30:20: 3 shares, and device has 'desktop', 'mobile'",
    "ab-test log.csv rr --arm device --split half": "as --split A=0.5 --split B=0.5, nor equal",
    "evaluate log.csv rr --fail-if-worse 0.1": "--max-drop requires --fail-if-worse-than",
    "best-threshold cases.csv --cost-ratio 20": "parameters of a metric are in its name, as cost(",
    "best-threshold cases.csv --beta 2": "fbeta, inverse_fbeta, nrbp, nnrbp have it",
    "compare log.csv f1_weighted": "ask for 'f1' with --average weighted of evaluate, as this command has no option",
    "compare cases.csv f1_macro --threshold 0.5": "ask for 'f1' with --average macro of evaluate",
    "evaluate cases.csv log_loss --max-log-loss 0.5": "a gate is --fail-over log_loss=VALUE",
    "evaluate log.csv rr --by weekday": "--every makes hours, days, weeks and longer periods of dates; a weekday is",
    "audit log.csv --k 10": "audit takes no metrics, and has no cutoff; it looks at the first 10 results as it is",
    "agreement log.csv log.csv --doc docid --grade x": (
        "frame-metrics: --grade x is not among 'query', 'docid', 'grade', 'device', 'day'\n"
    ),
    "evaluate log.csv rr --fail-under 0.1 --gate-level high": "there is no option --gate-level; --help has the options",
    "evaluate log.csv rr --fail-hard": "there is no option --fail-hard; --help has the options",
    "bounds log.csv rr": "pass --of unjudged --max-grade 3, or --of ties",
    "sample-size log.csv rr": "sample-size requires --detect",
    "threshold cases.csv --precision 0.9": "frame-metrics best-threshold cases.csv --subject-to precision=0.9 recall",
    "threshold cases.csv --max-precision 0.9": "there is no option --max-precision; the metric that is chosen by comes",
    "wish log.csv": "the nearest are metrics, thresholds and disagreements, and frame-metrics help lists all",
    "explain rr --query-id q1": "explain requires a metric; rr is one: name the input before it",
    "explain rr": "name the input before it, as log.csv rr --query-id ...",
    "eval log.csv text.txt": "text.txt: the name does not say the format; pass --from",
    "eval log.csv xyzzy": "there is no metric 'xyzzy'; frame-metrics metrics lists them",
    "leaderboard log.csv rr": "leaderboard ranks systems; name their column with --system",
    "leaderboard runs.csv rr": "leaderboard ranks systems; name their column with --system model",
    "compare runs.csv rr": "compare pairs systems query by query; name their column with --system model",
    "change log.csv rr": "change compares each period over its own queries; name the column of periods with --arm",
    "convert q.txt log.csv": "q.txt has judgments, which convert does not join with results; other commands take them",
    "compare log.csv rr --max-drop 0.01": "--max-drop requires --fail-if-worse-than, with the log of before, or",
    "evaluate log.csv rr --limit 2": "rows of the input are not left out here, and those that are printed are cut by",
    "evaluate log.csv rr --top 2": "a cutoff follows the name of a metric, as ndcg@10",
    "compare a.run b.run rr --delta 0.01": "--detect of sample-size, and the loss of a metric that is",
    "gate log.csv rr": "it is evaluate with a gate, as --fail-under ndcg@10=0.4, or against a log of before",
    "to-judge a.run --qrels q.txt --k 10": "--n is how many documents are printed, and a cutoff follows the name of",
    "drfit log.csv": "it is change, for two periods",
    "evaluate log.csv rr --delta 0.02": "the difference to detect is --detect of sample-size",
    "fuse a.run b.run": "rankings are not fused here; a run that another tool fused is read as any other",
    "test log.csv log.csv rr": "it is compare, for the same queries, or ab-test, for arms with queries of their own",
    "evaluate log.csv rr --decompose": "change with --by COLUMN takes a difference apart into mix and within",
}


@pytest.mark.parametrize(
    "flags",
    [
        "--fail-if-worse 5%",
        "--fail-if-worse-than b.run --max-drop 5%",
        "--not-worse-than b.run --margin=rr=5%",
        "--fail-if-worse-than b.run --tolerance 5%",
        "--baseline b.run --max-relative-drop 5%",
    ],
)
def test_no_line_is_without_a_loss_that_is_accepted(flags: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A share of the value of before is an error, whose line would be without the gate or its tolerance."""
    write_runs()
    told = error(capsys, "evaluate", "a.run", "rr", "--qrels", "q.txt", *flags.split())
    if flags != "--fail-if-worse 5%":
        assert "in units of the metric: 5% of a value of 0.5 is 0.025" in told
    assert "    frame-metrics" not in told


@pytest.mark.parametrize(
    ("word", "name"), [("lift(top=.1)", "lift"), ("roc-auc", "roc_auc"), ("ndcg_cut_10", "ndcg"), ("nDCG@10", "ndcg")]
)
def test_help_of_a_metric(word: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A metric with parameters, or as other tools spell it, is described by help and by metrics."""
    assert name in read(out(capsys, "help", word))["name"].to_list()
    assert out(capsys, "help", word) == out(capsys, "metrics", word)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("describe ndcg@10", "metrics ndcg@10"),
        ("summarize log.csv rr --format text", "summary log.csv rr --to table"),
        ("click-metrics log.csv rr", "evaluate log.csv rr"),
        ("evaluate log.csv rr --query-col query -s score --rel-col grade", "evaluate log.csv rr"),
    ],
)
def test_other_words_are_taken(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(named().rename({"docid": "doc"}), "log.csv")
    assert out(capsys, *typed.split()) == out(capsys, *meant.split())


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
    write(pl.DataFrame({"metric": ["f1"], "average": "pooled", "value": 0.5, "n": 2}), "means.csv")
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
    "evaluate cases.csv f1 --predicted guess --per-class": "per-class cases.csv f1 --predicted guess",
    "ab-test weeks.csv rr --arm file --expected-split 50:50": "ab-test weeks.csv rr --arm file --split equal",
    "audit weeks.csv --arm file --split 1/1": "audit weeks.csv --arm file --split equal",
    "eval log.csv rr --by day,device": "evaluate log.csv rr --by day --by device",
    "compare log.csv rr --score score,before": "compare log.csv rr --score score --score before --baseline score",
    "confusion-matrix cases.csv --y-true label --y-pred guess": "confusion cases.csv --label label --predicted guess",
    "threshold cases.csv f1 --y-true label --y-score score": "best-threshold cases.csv f1",
    "roc-auc cases.csv": "evaluate cases.csv roc-auc",
    "ndcg@3 log.csv --query-col query": "evaluate log.csv ndcg@3 --query query",
    "evaluate log.csv rr --fail-under 0.1": "evaluate log.csv rr --fail-under rr=0.1",
    "evaluate log.csv rr --fail_under 0.1": "evaluate log.csv rr --fail-under rr=0.1",
    "evaluate log.csv rr --fail-below 0.1": "evaluate log.csv rr --fail-under rr=0.1",
    "per_query log.csv rr": "per-query log.csv rr",
    "compare runs.csv rr --system run --test ttest": "compare runs.csv rr --system run --test t",
    "sample-size runs.csv rr --system run --mde 0.1": "sample-size runs.csv rr --system run --detect 0.1",
    "ab-test arms.csv rr --variant arm --unit device": "ab-test arms.csv rr --arm arm --cluster device",
    "change week1.csv week2.csv rr": "change weeks.csv rr --arm file",
    "change week1.csv week2.csv rr --arm file": "change weeks.csv rr --arm file",
    "agreement who.csv --rater who": "agreement log.csv --qrels who.csv --annotator who",
    "disagreements who.csv --annotator who": "disagreements log.csv --qrels who.csv --annotator who",
    "list": "metrics",
    "evaluate log.csv rr -q": "per-query log.csv rr",
    "to-judge 2 a.run b.run --qrels q.txt --system file --max-grade 1": (
        "to-judge a.run b.run --n 2 --qrels q.txt --system file --max-grade 1"
    ),
    "evaluate log.csv rr --ci --format json": "evaluate log.csv rr --ci 0.95 --to json",
    "evaluate --ci log.csv rr": "evaluate log.csv rr --ci 0.95",
    'evaluate log.csv --require "rr > 0.1" --fail-if rr>1': (
        "evaluate log.csv rr --fail-under rr=0.1 --fail-over rr=1"
    ),
    "evaluate log.csv --threshold rr=0.1 --at-most rr=1": ("evaluate log.csv rr --fail-under rr=0.1 --fail-over rr=1"),
    "evaluate log.csv rr -q query": "evaluate log.csv rr --query query",
    "evaluate log.csv rr --per-query": "per-query log.csv rr",
    "evaluate log.csv rr --json": "evaluate log.csv rr --to json",
    "compare runs.csv rr --model=run": "compare runs.csv rr --system run",
    "evaluate --run a.run --groundtruth q.txt -m rr": "evaluate a.run rr --qrels q.txt",
    "pr-curve cases.csv": "curve cases.csv pr",
    "overlap a.run b.run": "similarity a.run b.run overlap",
    "rank a.run b.run rr --gold q.txt": "leaderboard a.run b.run rr --qrels q.txt --system file",
    "compare a.run b.run rr --qrels q.txt --baseline a.run": "compare a.run b.run rr --qrels q.txt",
    "help ndcg@10": "metrics ndcg",
    "evaluate a.run rr --qrels q.trec": "evaluate a.run rr --qrels q.txt",
    **dict.fromkeys(
        (
            "evaluate a.run rr --human q.txt --llm q.txt",
            "evaluate a.run rr --qrels q.txt --machine=q.txt",
            "evaluate a.run rr --qrels q.txt --people q.txt",
        ),
        "evaluate a.run rr --qrels q.txt --proxy q.txt",
    ),
    "per-query a.run b.run rr --qrels q.txt --baseline a": "compare a.run b.run rr --qrels q.txt --per-query",
    "compare a.run b.run rr --qrels q.txt --baseline b --fail-if-worse": (
        "compare a.run rr --qrels q.txt --fail-if-worse-than b.run"
    ),
    **dict.fromkeys(
        (
            "agreement x.csv y.csv",
            "agreement x.csv --with y.csv",
            "agreement --human x.csv --llm y.csv --grade grade",
            "agreement x.csv y.csv --grade grade llm_grade",
            "agreement x.csv y.csv --grade llm_grade --grade grade",
            "agreement x.csv y.csv --grade grade,llm_grade",
        ),
        "agreement both_who.csv --annotator file",
    ),
    'best-threshold cases.csv recall --subject-to "precision >= 0.5"': (
        "best-threshold cases.csv recall --subject-to precision=0.5"
    ),
    "evaluate log.csv rr --by iso_week": "evaluate log.csv rr --by day --every 1w",
    "evaluate log.csv rr --by week": "evaluate log.csv rr --by day --every 1w",
    "evaluate log.csv rr --by device --by=monthly": "evaluate log.csv rr --by device --by day --every 1mo",
    "evaluate log.csv rr --group-by date": "evaluate log.csv rr --by day",
    **dict.fromkeys(
        (
            "compare b.run rr --qrels q.txt --baseline a.run --fail-if-worse 1",
            "compare b.run rr --qrels q.txt --baseline=a.run --fail-if-worse=rr=1",
            "compare a.run b.run rr --qrels q.txt --fail-on-drop 1",
            "compare a.run b.run rr --qrels q.txt --baseline a --tolerance 1",
            "compare b.run a.run rr --qrels q.txt --baseline a --fail-if-worse-by rr=1",
            "compare b.run rr --qrels q.txt --saved a.run --max-regression 1",
            "compare b.run rr --qrels q.txt --against=a.run --max-loss 1",
            "compare a.run b.run rr --qrels q.txt --baseline a.run --fail-if-worse-than 1",
            "compare b.run rr --qrels q.txt --fail-if-worse-than a.run --baseline a.run --max-drop 1",
            "compare a.run b.run rr --qrels q.txt --min-diff -1",
        ),
        "compare b.run rr --qrels q.txt --fail-if-worse-than a.run --max-drop 1",
    ),
    "evaluate log.csv rr map --baseline log.csv --max-loss rr=1 map=1": (
        "evaluate log.csv rr map --fail-if-worse-than log.csv --max-drop rr=1 --max-drop map=1"
    ),
    **dict.fromkeys(
        (
            "best-threshold cases.csv --cost-fp 5 --cost-fn 100",
            "best-threshold cases.csv --fp_cost=5 --fn_cost=100",
            "best-threshold cases.csv cost --fp 5 --fn 100",
            "best-threshold cases.csv --cost fp=5,fn=100",
            "best-threshold cases.csv --cost fp=5 fn=100",
            "best-threshold cases.csv -m cost --false-positive-cost 5 --cost-miss 100",
        ),
        "best-threshold cases.csv 'cost(fp=5, fn=100)'",
    ),
    "evaluate log.csv rbp map --p 0.9": "evaluate log.csv rbp(p=0.9),map",
    "evaluate log.csv ndcg@2 --gain exp": """evaluate log.csv "ndcg(gain='exp')@2" """,
    "evaluate cases.csv f1 --threshold 0.5 --beta 2": "evaluate cases.csv 'fbeta(beta=2)' --threshold 0.5",
    "evaluate cases.csv ece --n-bins 3": "evaluate cases.csv 'ece(bins=3)'",
    "evaluate cases.csv lift --top 50%": "evaluate cases.csv 'lift(top=0.5)'",
    "evaluate kinds.csv --query id --value f1_macro --fail-under f1_macro=0": (
        "evaluate kinds.csv f1_macro --query id --value f1_macro --fail-under f1_macro=0"
    ),
    "evaluate kinds.csv macro_f1 --predicted guess": "evaluate kinds.csv f1 --predicted guess --average macro",
    "evaluate kinds.csv -m F1-weighted,accuracy --predicted guess --fail-under f1_weighted=0.1": (
        "evaluate kinds.csv -m f1,accuracy --predicted guess --fail-under f1=0.1 --average weighted"
    ),
    "evaluate kinds.csv recall f1_weighted --predicted guess": (
        "evaluate kinds.csv recall f1 --predicted guess --average macro --average weighted"
    ),
    "evaluate cases.csv f1_macro --predicted guess": (
        "evaluate cases.csv f1 --predicted guess --average macro --classes 0 --classes 1"
    ),
    "compare kinds.csv others.csv f1 --id id --predicted guess": (
        "compare kinds.csv others.csv f1 --doc id --predicted guess"
    ),
    "compare kinds.csv others.csv macro_f1 f1 --doc id --predicted guess": (
        "compare kinds.csv others.csv f1 --doc id --predicted guess"
    ),
    "evaluate log.csv precision_macro@2": "evaluate log.csv precision@2 --average macro",
    **dict.fromkeys(
        (
            "compare b.run rr --qrels q.txt --baseline a.run --fail-if-worse",
            "compare a.run b.run rr --qrels q.txt --no-regression",
        ),
        "compare b.run rr --qrels q.txt --fail-if-worse-than a.run",
    ),
    "compare a.run b.run rr --qrels q.txt --fail-if-significantly-worse 0.9": (
        "compare b.run rr --qrels q.txt --fail-if-worse-than a.run --margin 0.9"
    ),
    "compare a.run b.run rr map --qrels q.txt --fail-if-worse rr": (
        "compare b.run rr map --qrels q.txt --fail-if-worse-than a.run"
    ),
    "compare runs.csv rr --system run --baseline a --fail-if-worse 1": (
        "compare runs.csv rr --system run --fail-if-worse-than a --max-drop 1"
    ),
}


@pytest.mark.parametrize("call", OTHERWISE)
def test_other_words(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What other tools call so prints the same here."""
    rows, less = named().rename({"docid": "doc"}), -pl.col("score")
    write(rows.with_columns(before=less), "log.csv")
    write(pl.concat([rows.with_columns(run=pl.lit("a")), rows.with_columns(less, run=pl.lit("b"))]), "runs.csv")
    weeks = [rows.with_columns(pl.format("{} {}", "query", pl.lit(week)).alias("query")) for week in (1, 2)]
    for week, one in enumerate(weeks, 1):
        write(one, f"week{week}.csv")
    each = pl.concat(one.with_columns(file=pl.lit(f"week{week}")) for week, one in enumerate(weeks, 1))
    write(each, "weeks.csv")
    write(each.rename({"file": "arm"}), "arms.csv")
    judged = rows.select("query", "doc", "grade")
    write(pl.concat([judged.with_columns(who=pl.lit(who)) for who in ("x", "y")]), "who.csv")
    machine = judged.with_columns(grade=2 - pl.col("grade"))
    write(judged, "x.csv")
    write(machine.rename({"grade": "llm_grade"}), "y.csv")
    both = [one.with_columns(file=pl.lit(name)) for name, one in (("x", judged), ("y", machine))]
    write(pl.concat(both), "both_who.csv")
    write(pl.DataFrame({"label": [0, 1, 1], "score": [0.2, 0.7, 0.1], "guess": [0, 1, 0]}), "cases.csv")
    kinds = pl.DataFrame({"id": range(6), "label": list("abcabc"), "guess": list("abcaab"), "f1_macro": 0.5})
    write(kinds, "kinds.csv")
    write(kinds.with_columns(guess=pl.Series(list("abcbac"))), "others.csv")
    write_runs()
    found = [(main(shlex.split(one)), capsys.readouterr()) for one in (call, OTHERWISE[call])]
    assert found[0][0] == found[1][0] == 0
    assert found[0][1].out == found[1][1].out
    gates = [one for _, (_, told) in found for one in told.splitlines() if ": gate " in one]
    assert gates[: len(gates) // 2] == gates[len(gates) // 2 :]


# Calls, and the whole command that their error ends with.
WHOLE = {
    "compare found_a.jsonl found_b.jsonl rr --relevant gold --max-drop 0.1": (
        "per-query found_a.jsonl rr --relevant gold -o found_a_values.csv && frame-metrics compare found_b.jsonl rr "
        "--relevant gold --fail-if-worse-than found_a_values.csv --max-drop 0.1"
    ),
    "thresholds cases.csv f1 --at 0.3,0.5": (
        "evaluate cases.csv f1 --threshold 0.3 && frame-metrics evaluate cases.csv f1 --threshold 0.5"
    ),
    "evaluate runs.csv rr --system run --fail-if-worse-than a": (
        "compare runs.csv rr --system run --fail-if-worse-than a"
    ),
    "compare found_a.jsonl found_b.jsonl rr --relevant gold": (
        "per-query found_a.jsonl rr --relevant gold -o found_a_values.csv && "
        "frame-metrics compare found_b.jsonl rr --relevant gold --saved found_a_values.csv"
    ),
    "evaluate cases.csv precision@2 --label label --score score": (
        "evaluate cases.csv 'precision(top=0.6666666666666666)' --label label --score score"
    ),
    "evaluate log.csv rr --ci 95": "evaluate log.csv rr --ci 0.95",
    "log.csv": "evaluate log.csv ndcg@10",
    "wide.csv": "evaluate wide.csv ndcg@10",
    "log.csv --groupby device": "evaluate log.csv --by device ndcg@10",
    "evaluate log.csv ndcg map --cutoff 3": "evaluate log.csv ndcg@3 map@3",
    "per-query log.csv rr --limit 2": "per-query log.csv rr | head -3",
    "per-query log.csv rr --limit 2 --output few.csv": "per-query log.csv rr | head -3 > few.csv",
    "per-query log.csv rr --tail 2": "per-query log.csv rr | tail -2",
    "worst odd.csv rr --n 2": "per-query odd.csv rr --sort value --query qid --score sim --grade relevance | head -3",
    "evaluate log.csv rr --worst 2": "per-query log.csv rr --sort value | head -3",
    "similarity a.run b.run rbo overlap@2 --per-query --bottom 1": (
        "similarity a.run b.run rbo --per-query --sort=value | head -2"
    ),
    "similarity a.run b.run -m rbo -m overlap@2 --per-query --top 1": (
        "similarity a.run b.run -m rbo --per-query --sort=-value | head -2"
    ),
    "compare a.run b.run rr --qrels q.txt --lowest 1": (
        "compare a.run b.run rr --qrels q.txt --per-query --sort=difference | head -2"
    ),
    "compare a.run b.run rr --qrels q.txt --per-query --best 1": (
        "compare a.run b.run rr --qrels q.txt --per-query --sort=-difference | head -2"
    ),
    "per-query log.csv rr --top 1": "per-query log.csv rr --sort=-value | head -2",
    "agreement who.csv --annotator who krippendorff_alpha": "agreement who.csv --annotator who",
    "agreement who.csv --annotator who cohen_kappa --weights quadratic --pairwise": "agreement who.csv --annotator who",
    "change log.csv rr --arm device --fail-if-worse": "change log.csv rr --arm device",
    "evaluate a.run rr --qrels odd_qrels.csv": (
        "evaluate a.run rr --qrels odd_qrels.csv --qrels-query qid --qrels-doc docid --grade rating"
    ),
    "evaluate a.run rr --qrels odd_qrels.csv --query qid --doc docid --grade rating": (
        "evaluate a.run rr --qrels odd_qrels.csv --grade rating --qrels-query qid --qrels-doc docid"
    ),
    "evaluate log.csv rr --bootstrap": "evaluate log.csv rr --ci 0.95",
    "evaluate log.csv rr --bootstrap 50 --confidence 0.9": "evaluate log.csv rr --resamples 50 --ci 0.9",
    "compare runs.csv rr --system run --alpha 0.1": "compare runs.csv rr --system run --ci 0.9",
    "evaluate risks.csv --metric auc --y-pred risk": "evaluate risks.csv --metric auc --score risk",
    "calibrate risks.csv --score risk": "evaluate risks.csv --score risk --metric ece",
    "evaluate odd.csv --k 5": "evaluate odd.csv ndcg@5 --query qid --score sim --grade relevance",
    "evaluate log.csv rr --save x.csv": "evaluate log.csv rr -o x.csv",
    "significance runs.csv rr --group-col run": "compare runs.csv rr --system run",
    "classify both.csv --y-true grade --y-pred machine --no-query": (
        "evaluate both.csv --label grade --predicted machine --no-query f1"
    ),
    "evaluate log.csv rr --min 0.1": "evaluate log.csv rr --fail-under 0.1",
    "evaluate log.csv rr --compare-to old.csv": "compare old.csv log.csv rr",
    "evaluate log.csv rr --by device day": "evaluate log.csv rr --by device --by day",
    "evaluate log.csv rr --by devise --by day": "evaluate log.csv rr --by device --by day",
    "leaderboard runs.csv rr --system run --sort-by rr": "leaderboard runs.csv rr --system run",
    "evaluate log.csv rr map --sort-by rr": "evaluate log.csv rr map --sort rr --layout wide",
    "agreement items.csv --item thing --annotator who --label said": (
        "agreement items.csv --doc thing --annotator who --grade said --level nominal "
        "--scale a=0 --scale b=1 --scale c=2"
    ),
    "agreement parts.csv --query batch --item page,line --annotator who": (
        "agreement parts.csv --annotator who --query batch --query page --doc line"
    ),
    "agreement stuff.csv": "agreement stuff.csv --annotator who --doc item",
    "agreement items.csv --label said --item thing": (
        "agreement items.csv --doc thing --annotator who --grade said --level nominal "
        "--scale a=0 --scale b=1 --scale c=2"
    ),
    "per-query both.csv kappa --predicted machine --label grade --no-query": (
        "evaluate both.csv kappa --predicted machine --label grade --no-query"
    ),
    "per-query risks.csv f1 --score risk --threshold 0.5 -o x.csv": (
        "evaluate risks.csv f1 --score risk --threshold 0.5 -o x.csv"
    ),
    "agreement gaps.csv --raters machine,grade --weights quadratic": (
        "evaluate gaps.csv --no-query --label grade --predicted machine --metric "
        """'kappa(weights='"'"'quadratic'"'"')' --unjudged drop"""
    ),
    "agreement gaps.csv --rater1 machine --rater2 grade": (
        "evaluate gaps.csv --metric kappa --no-query --label grade --predicted machine --unjudged drop"
    ),
    "agreement gaps.csv kappa --rater-a machine --rater-b grade --weights linear": (
        "evaluate gaps.csv --no-query --label grade --predicted machine --metric "
        """'kappa(weights='"'"'linear'"'"')' --unjudged drop"""
    ),
    "agreement gaps.csv machine grade": (
        "evaluate gaps.csv --label grade --predicted machine --metric kappa --no-query --unjudged drop"
    ),
    "agreement who.csv --item query,doc --annotator who": "agreement who.csv --annotator who --query query --doc doc",
    "explain runs.csv rr --query q1 --system run": "explain runs.csv rr --system run --query-id q1",
    "pool ranks.csv --depth 1": (
        "to-judge ranks.csv --way depth --to csv --rank position --doc docno --system run "
        "| awk -F, 'NR == 1 || $(NF - 2) && $(NF - 2) <= 1'"
    ),
    "per-query cases.csv roc_auc --query id": "evaluate cases.csv roc_auc --no-query",
    "report odd.csv --query qid -o page.md": "report odd.csv --query qid -o page.md --score sim --grade relevance",
    "evaluate log.csv rr --qury query": "evaluate log.csv rr --query query",
    "evaluate log.csv rr --label grade": "evaluate log.csv rr --grade grade",
    "evaluate log.csv clicked": "evaluate log.csv ctr@10 --label clicked",
    "explain log.csv rr --query q1": "explain log.csv rr --query-id q1",
    "show q1 log.csv": "explain log.csv --query-id q1 ndcg@10",
    "power runs.csv rr --mde 0.1": "sample-size runs.csv rr --detect 0.1 --system run",
    "plot log.csv rr -o page.png": "report log.csv rr -o page.html",
    "agreement who.csv": "agreement who.csv --annotator who",
    "kappa who.csv --rater who": "agreement who.csv --annotator who",
    "judge both.csv --human grade --llm machine": (
        "evaluate both.csv --metric kappa --no-query --label grade --predicted machine"
    ),
    "confusion both.csv grade machine --no-query": "confusion both.csv --no-query --label grade --predicted machine",
    "next q.txt a.run b.run -n 5": "to-judge q.txt a.run b.run --n 5 --system file --max-grade 1",
    "bounds a.run ndcg@10 --qrels q.txt": "bounds a.run ndcg@10 --qrels q.txt --of unjudged --max-grade 1",
    "baseline save log.csv --name prod": "per-query log.csv -o prod.csv ndcg@10",
    "unjudged a.run --qrels q.txt --k 10": "to-judge a.run --qrels q.txt --max-grade 1",
    "agreement both.csv --raters grade,machine": (
        "evaluate both.csv --metric kappa --no-query --label grade --predicted machine"
    ),
    "ctr searches.csv": "evaluate searches.csv --metric ctr@10 --label clicked",
    "convert log.csv base.parquet": "convert log.csv --output base.parquet",
    "agreement who.csv --annotator who --method alpha": "agreement who.csv --annotator who",
    "explain odd.csv --query-col qid --query q0 --score sim --metric rr": (
        "explain odd.csv --query qid --query-id q0 --score sim --metric rr --grade relevance"
    ),
    "roc cases.csv --label label --out roc.csv": "curve cases.csv --label label --output roc.csv --metric roc",
    "confusion both.csv --actual grade --predicted machine --normalize true --no-query": (
        "confusion both.csv --label grade --predicted machine --shares --no-query"
    ),
    "clicks taps.csv --session session --position place --click clicked --metrics success": (
        "evaluate taps.csv --query session --rank place --label clicked --metric success"
    ),
    "audit odd.csv": "audit odd.csv --grade relevance --query qid --score sim",
    "sample-size runs.csv rr --mde 0.1 --alpha 0.1": "sample-size runs.csv rr --detect 0.1 --ci 0.9 --system run",
    "evluate log.csv rr": "evaluate log.csv rr",
    "srm searches.csv --arm arm --cluster user --expected 50:50 --query session": (
        "ab-test searches.csv --arm arm --cluster user --split 50:50 --query session ndcg@10 --label clicked"
    ),
    "odd.csv rr": "evaluate odd.csv rr --query qid --score sim --grade relevance",
}


@pytest.mark.parametrize("call", WHOLE)
def test_whole_commands(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line of an error is the whole command with what was typed, and it runs."""
    rows = named().rename({"docid": "doc"}).with_columns(clicked=pl.col("grade") > 0)
    write(rows, "log.csv")
    write(rows.with_columns(-pl.col("score")), "old.csv")
    write(pl.concat([rows.with_columns(run=pl.lit(one)) for one in ("a", "b")]), "runs.csv")
    judged = rows.select("query", "doc", "grade")
    write(pl.concat([judged.with_columns(who=pl.lit(who)) for who in ("x", "y")]), "who.csv")
    write(judged.with_columns(machine=pl.col("grade")), "both.csv")
    write(rows.select("query", "doc", "score", "grade", tablet=pl.col("device") == "tablet"), "wide.csv")
    write(rows.select(qid="query", sim="score", relevance="grade"), "odd.csv")
    write(pl.DataFrame({"qid": ["q1", "q1", "q2"], "docid": ["d1", "d2", "d3"], "rating": [2, 0, 1]}), "odd_qrels.csv")
    gaps = pl.when(pl.int_range(pl.len()) > 0).then(pl.col("grade"))
    write(judged.with_columns(machine=pl.col("grade"), grade=gaps), "gaps.csv")
    ranks = pl.DataFrame({"query": "q", "run": list("aabb"), "docno": list("xyyx"), "position": [1, 2, 1, 2]})
    write(ranks, "ranks.csv")
    write(pl.DataFrame({"thing": list("xxyyzz"), "who": list("uvuvuv"), "said": list("aabbcb")}), "items.csv")
    parts = {"batch": 1, "page": list("aabb"), "line": [1, 1, 2, 2], "who": list("uvuv"), "grade": [1, 0, 2, 1]}
    write(pl.DataFrame(parts), "parts.csv")
    write(pl.DataFrame({"item": list("xxyy"), "who": list("uvuv"), "grade": [1, 0, 2, 1]}), "stuff.csv")
    write(pl.DataFrame({"label": [0, 1, 1], "risk": [0.2, 0.7, 0.1]}), "risks.csv")
    write(pl.DataFrame({"session": [1, 1, 2, 2], "place": [1, 2, 1, 2], "clicked": [0, 1, 1, 0]}), "taps.csv")
    write(pl.DataFrame({"id": [1, 2, 3], "label": [0, 1, 1], "score": [0.2, 0.7, 0.1]}), "cases.csv")
    for name, gold in (("a", "x"), ("b", "y")):
        write(pl.DataFrame({"query": ["q", "r"], "doc": [["x", "y"]] * 2, "gold": [[gold]] * 2}), f"found_{name}.jsonl")
    write_searches()
    write_runs()
    main(["per-query", "log.csv", "rr", "-o", "base.csv", "-o", "base.parquet"])
    capsys.readouterr()
    *_, last = error(capsys, *call.split()).splitlines()
    assert last == f"    frame-metrics {WHOLE[call]}"
    assert main(shlex.split(re.split(r" \| | && ", WHOLE[call])[0])) == 0


def test_help_of_several(capsys: pytest.CaptureFixture[str]) -> None:
    """The help of several commands is that of each, and that of metrics begins with them; P is precision alone."""
    assert out(capsys, "help", "compare", "audit") == out(capsys, "compare", "-h") + out(capsys, "audit", "-h")
    assert read(out(capsys, "help", "rr@3", "map"))["name"].to_list()[:2] == ["ap", "rr"]
    assert read(out(capsys, "help", "P@10"))["name"].to_list() == ["precision"]


def test_all_that_is_wrong_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """An error names all columns that are missing, and what its own way out would run into."""
    rank = pl.int_range(1, pl.len() + 1).over("query")
    write(named().select("score", qid="query", rank=rank, relevance="grade"), "odd.csv")
    first, second, last = error(capsys, "odd.csv", "rr").splitlines()
    assert first.endswith("; the label or grade is missing too; add --grade relevance")
    assert second.startswith("  | both 'score' and 'rank' are columns")
    assert last.endswith("evaluate odd.csv rr --query qid --grade relevance --score score --rank rank")


def test_a_unit_that_differs_within_a_query_leads_to_the_column_of_searches(capsys: pytest.CaptureFixture[str]) -> None:
    """The error says which column was taken as the query, and ends with the command with that of searches."""
    columns = {"query": list("aabb"), "session": [1, 2, 3, 4], "user": list("uvwx"), "arm": list("AABB")}
    write(pl.DataFrame(columns | {"rank": [1, 2, 1, 2], "clicked": [0, 1, 1, 0]}), "clicks.csv")
    call = "ab-test clicks.csv success --arm arm --cluster user --label clicked"
    told, last = error(capsys, *call.split()).splitlines()
    assert "the query is 'query', and the same one may be asked again: pass --query session" in told
    assert last == f"    frame-metrics {call} --query session"
    assert main(shlex.split(call) + ["--query", "session"]) == 0
    write(pl.read_csv("clicks.csv").rename({"rank": "position"}), "clicks.csv")  # which precision does not read
    *_, last = error(capsys, *call.replace("success", "precision").split()).splitlines()
    assert last.endswith(" precision --arm arm --cluster user --label clicked --query session")


# Calls with flags or commands that no list has, the note above the command, and the command.
BY_RULE = {
    "curve cases.csv calibration --bins 5 --strategy quantile": (
        "with --bins quantile (",
        "curve cases.csv calibration --bins quantile",
    ),
    "evaluate log.csv rr --avg median": (
        "with --average median (",
        "evaluate log.csv rr --average median",
    ),
    "evaluate log.csv rr --wide": ("with --layout wide", "evaluate log.csv rr --layout wide"),
    "evaluate log.csv rr --relevance-cut 1": ("with --rel 1 (", "evaluate log.csv rr --rel 1"),
    "compare runs.csv rr --system run --confidence-level 0.9": (
        "with --ci 0.9 (",
        "compare runs.csv rr --system run --ci 0.9",
    ),
    "compare runs.csv rr --system run --adjust holm": (
        "with --correction holm (",
        "compare runs.csv rr --system run --correction holm",
    ),
    "compare runs.csv rr --system run --n-bootstrap 50": (
        "intervals are --ci, and resamples --resamples",
        "compare runs.csv rr --system run --ci 0.95 --resamples 50",
    ),
    "evaluate odd.csv rr --foo qid --bar sim --judged relevance": (
        "with --query qid (",
        "evaluate odd.csv rr --query qid --score sim --grade relevance",
    ),
    "evaluate log.csv rr --dimensions day,device": (
        "with --by day --by device",
        "evaluate log.csv rr --by day --by device",
    ),
    "evaluate log.csv rr --foo 3 --bar": ("without --foo 3, without --bar:", "evaluate log.csv rr"),
    "evaluate log.csv rr --by device day": ("pass --by device --by day", "evaluate log.csv rr --by device --by day"),
    "evaluate wide.csv rr --scores old new --grade grade": (
        "there is no metric 'new'",
        "evaluate wide.csv rr --score old --score new --grade grade",
    ),
    "compare wide.csv rr --baseline old --candidate new --grade grade": (
        "with --score old --score new in the place of --candidate new:",
        "compare wide.csv rr --baseline old --score old --score new --grade grade",
    ),
    "evaluate log.csv rr --floor-of rr=0.1": ("with --fail-under rr=0.1 (", "evaluate log.csv rr --fail-under rr=0.1"),
    "evaluate --judged-by q.txt a.run rr": ("with --qrels q.txt (", "evaluate --qrels q.txt a.run rr"),
    "evaluate log.csv rr --into x.csv": ("with --output x.csv (", "evaluate log.csv rr --output x.csv"),
    "evaluate log.csv --from trec rr": ("without --from trec:", "evaluate log.csv rr"),
    "gate log.csv -m rr>=0.1": ("it is evaluate with a gate", "evaluate log.csv --fail-under rr=0.1 rr"),
    "explain terms.csv rr --query-id b": (
        "name its column with --query",
        "explain terms.csv rr --query-id b --query term",
    ),
    "leaderboard a.run b.run --qrels q.txt --sort-by rr": (
        "no metric was asked for",
        "leaderboard a.run b.run --qrels q.txt rr",
    ),
    "evaluate labels.csv accuracy": (
        "nothing says which of them is relevant",
        "evaluate labels.csv accuracy --positive fail",
    ),
    "trec q.txt a.run": ("did you mean 'trec_eval'?", "trec_eval q.txt a.run"),
    "find-more a.run --qrels q.txt --way depth": (
        "by its options it may be to-judge",
        "to-judge a.run --qrels q.txt --way depth",
    ),
    "ab-analysis visits.csv --group-of arm --outcome bought": (
        "as the means of columns of numbers, pass --value bought --query session",
        "ab-test visits.csv --arm arm --value bought --query session",
    ),
    "compare runs.csv rr --system run --method wilcoxon": (
        "with --test wilcoxon (two-sided) in the place of --method wilcoxon:",
        "compare runs.csv rr --system run --test wilcoxon",
    ),
    "evaluate log.csv rr --ties random": ("without --ties random:", "evaluate log.csv rr"),
    "evaluate log.csv rr --average wide": ("without --average wide:", "evaluate log.csv rr"),
    "evaluate log.csv rr --average medain": ("did you mean 'median'?", "evaluate log.csv rr --average median"),
    "regression-test log.csv rr --previous old.csv --tolerance 0.9": (
        "it is evaluate with a gate, as --fail-if-worse-than old.csv, whose --max-drop is the greatest fall of a mean",
        "evaluate log.csv rr --fail-if-worse-than old.csv --max-drop 0.9",
    ),
    "tune-threshold cases.csv recall --constraint precision>=0.5": (
        "with --subject-to precision=0.5 (",
        "best-threshold cases.csv recall --subject-to precision=0.5",
    ),
    "evaluate a.run rr --truth q.txt": ("with --qrels q.txt (", "evaluate a.run rr --qrels q.txt"),
    "reliability cases.csv": ("did you mean 'reliability-diagram'?", "curve cases.csv --metric calibration"),
    "to-parquet log.csv -o x.parquet": ("did you mean 'convert'?", "convert log.csv -o x.parquet"),
    "sample-size-calculator --baseline-rate 0.3 --minimum-detectable-effect 0.03": (
        "did you mean 'sample-size'?",
        "sample-size --baseline-rate 0.3 --minimum-detectable-effect 0.03",
    ),
    "rank-eval log.csv rr": ("did you mean 'eval'?", "evaluate log.csv rr"),
    "ab-test visits.csv --arm arm --metric bought --unit user": (
        "as the means of columns of numbers, pass --value bought --query session",
        "ab-test visits.csv --arm arm --cluster user --value bought --query session",
    ),
    "ab-test visits.csv --arm arm --metrics bought,paid --agg mean": (
        "pass --value bought --value paid --query session",
        "ab-test visits.csv --arm arm --value bought --value paid --query session",
    ),
    "classification-report teams.csv true_team guessed": (
        "there is no metric 'true_team'",
        "per-class teams.csv --metric precision --metric recall --metric f1 --label true_team --predicted guessed",
    ),
    "compare guess_a.csv guess_b.csv accuracy --id ticket --predicted guess": (
        "nothing says which of them is relevant",
        "compare guess_a.csv guess_b.csv accuracy --doc ticket --predicted guess --positive a",
    ),
    "compare guess_a.csv guess_b.csv accuracy --label team --predicted guess": (
        "to pair rows without a query, name the document they are about with --doc; 'ticket' has the same ids",
        "compare guess_a.csv guess_b.csv accuracy --label team --predicted guess --doc ticket",
    ),
    "compare guess_a.csv guess_b.csv recall --per-class --query ticket --label team --predicted guess": (
        "'ticket' has the same ids in both files: pass --doc ticket in the place of --query",
        "compare guess_a.csv guess_b.csv recall --per-class --label team --predicted guess --doc ticket",
    ),
    "compare guess_a.csv guess_b.csv accuracy --no-query --label team --predicted guess": (
        "pairs rows by document; name their column with --doc; 'ticket' has the same ids in both files",
        "compare guess_a.csv guess_b.csv accuracy --no-query --label team --predicted guess --doc ticket",
    ),
    "compare guess_a.csv guess_b.csv accuracy --query ticket --doc ticket --label team --predicted guess": (
        "--query ticket is the doc too; a column can have only one role; 'ticket' has the same ids in both files",
        "compare guess_a.csv guess_b.csv accuracy --label team --predicted guess --doc ticket",
    ),
    "evaluate guess_b.csv accuracy --label team --predicted guess --fail-if-worse-than guess_a.csv --margin 0.9": (
        "'ticket' has the same ids in both files: pass --doc ticket",
        "evaluate guess_b.csv accuracy --label team --predicted guess --fail-if-worse-than guess_a.csv --margin 0.9 "
        "--doc ticket",
    ),
    "compare sorted_a.csv sorted_b.csv accuracy --label team --predicted guess": (
        "'key' has the same ids in both files: pass --doc key",
        "compare sorted_a.csv sorted_b.csv accuracy --label team --predicted guess --doc key",
    ),
    "compare sorted_a.csv sorted_c.csv accuracy --label team --predicted guess": (
        "change compares logs of other queries or rows",  # numbers of rows alone say nothing of sorted labels
        "change sorted_a.csv sorted_c.csv accuracy --label team --predicted guess",
    ),
    "per-class guess_b.csv f1 --label team --predicted guess --fail-if-worse-than guess_a.csv": (
        "compared with those of before by compare, or of other rows by change, with --per-class",
        "compare guess_b.csv f1 --label team --predicted guess --per-class --fail-if-worse-than guess_a.csv --doc "
        "ticket",
    ),
    "evaluate shown.csv rr --label clicked --fail-if-worse-than shown.csv": (
        "keep one of each, or pass --no-doc, as rows have ranks",
        "evaluate shown.csv rr --label clicked --fail-if-worse-than shown.csv --no-doc",
    ),
    "compare guess_a.csv others.csv accuracy --label team --predicted guess": (
        "change compares logs of other queries or rows",
        "change guess_a.csv others.csv accuracy --label team --predicted guess",
    ),
    "sample-size runs.csv --systems a b rr --detect 0.5": (
        "'run' is the column of 'a', 'b': pass --system run",
        "sample-size runs.csv rr --detect 0.5 --system run --baseline a",
    ),
    "evaluate guess_a.csv accuracy --query ticket --label team --predicted guess": (
        "rows that are decided about have no query: pass --doc ticket in the place of --query",
        "evaluate guess_a.csv accuracy --label team --predicted guess --doc ticket",
    ),
    "evaluate lists.jsonl recall@2 --retrieved found --expected gold": (
        "'found' holds lists; pass --doc found (the ids that were found, the best first)",
        "evaluate lists.jsonl recall@2 --relevant gold --query question --doc found",
    ),
    "evaluate rated.csv err": (
        "if 2 is the highest, ask for 'err(max_grade=2)'",
        "evaluate rated.csv 'err(max_grade=2)'",
    ),
}


@pytest.mark.parametrize("call", BY_RULE)
def test_unknown_words_are_read_by_rule(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Words, values and columns show what a flag or a command stands for, or that it is left out; the command runs."""
    rows = named().rename({"docid": "doc"})
    write(rows, "log.csv")
    write(pl.concat([rows.with_columns(run=pl.lit(one)) for one in ("a", "b")]), "runs.csv")
    write(rows.select(qid="query", sim="score", relevance="grade"), "odd.csv")
    write(rows.select("query", "grade", old="score", new=-pl.col("score")), "wide.csv")
    terms = {"term": list("aabb"), "score": [2.5, 1.5] * 2, "grade": [1, 0, 0, 1], "thing": list("xyxy")}
    write(pl.DataFrame(terms), "terms.csv")
    write(pl.DataFrame({"query": "q", "score": [3.5, 2.5, 1.5], "grade": [2, 0, 1]}), "rated.csv")
    write(pl.DataFrame({"label": [0, 1, 1], "score": [0.2, 0.7, 0.1]}), "cases.csv")
    write(pl.DataFrame({"label": ["pass", "fail"] * 2, "predicted": ["pass", "fail", "fail", "fail"]}), "labels.csv")
    write(pl.DataFrame({"true_team": list("abcab"), "guessed": list("abcba")}), "teams.csv")
    visits = {"session": list("stuv"), "user": list("wxyz"), "arm": list("ABAB"), "bought": [0, 1, 1, 0]}
    write(pl.DataFrame(visits | {"paid": [0.0, 2.5, 3.5, 0.0]}), "visits.csv")
    write(rows.with_columns(-pl.col("score")), "old.csv")
    tickets = pl.DataFrame({"ticket": range(4), "label": list("abab"), "team": list("abca")})
    for name in ("guess_a", "guess_b"):
        write(tickets.with_columns(guess=pl.Series(list("abba") if name == "guess_a" else list("abab"))), f"{name}.csv")
    write(tickets.with_columns(team=pl.Series(list("bcab")), guess=pl.Series(list("abca"))), "others.csv")
    for name, keys in (("a", "stuvwxyz"), ("b", "utswvyxz"), ("c", "ABCDEFGH")):
        of_rows = {"row": range(8), "key": list(keys), "team": list("aaabbccc"), "guess": list("abcabcab")}
        write(pl.DataFrame(of_rows), f"sorted_{name}.csv")
    shown = {"query": list("uuvv"), "doc": list("xxyz"), "rank": [1, 2] * 2, "clicked": [0, 1, 1, 0]}
    write(pl.DataFrame(shown), "shown.csv")
    lists = {"question": ["u", "v"], "found": [["a", "b"], ["c"]], "gold": [["b"], ["d"]]}
    pl.DataFrame(lists).write_ndjson("lists.jsonl")
    write_runs()
    words, command = BY_RULE[call]
    told = error(capsys, *call.split())
    assert words in told
    assert "--help" not in told
    assert told.splitlines()[-1] == f"    frame-metrics {command}"
    assert main(shlex.split(command)) == 0


def test_ids_that_pair_rows_otherwise_are_named_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Of two columns that pair the rows of two files in different ways none is chosen, until one is named."""
    rows = pl.DataFrame({"team": list("aaabbccc"), "guess": list("abcabcab"), "key": list("stuvwxyz")})
    for name, codes in (("a", "ABCDEFGH"), ("b", "CBADEFGH")):
        write(rows.with_columns(code=pl.Series(list(codes))), f"{name}.csv")
    call = ["compare", "a.csv", "b.csv", "accuracy", "--label", "team", "--predicted", "guess"]
    told = error(capsys, *call)
    assert "'key', 'code' have the same ids in both files each, and pair rows otherwise: --doc is the one" in told
    assert "frame-metrics compare" not in told
    assert main([*call, "--doc", "code"]) == 0


# Calls that mean several commands, the flags that their lines have, and words of the error.
STEPS = {
    "convert odd.csv --to trec --run out.run --qrels out.qrels": (
        "files that end with .run and .qrels",
        [
            "convert odd.csv -o out.run --query qid --doc docid --score sim --run-name out",
            "convert odd.csv -o out.qrels --query qid --doc docid --grade relevance",
        ],
    ),
    "trend log.csv rr": (
        "it is evaluate with --by, the column of dates, and --every 1w for weeks, or summary, which says since when",
        ["evaluate log.csv rr --by day", "summary log.csv rr --by day"],
    ),
    "gate log.csv rr --baseline log.csv --max-drop 0.9": (
        "whose --max-drop is the greatest fall of a mean",
        ["evaluate log.csv rr --fail-if-worse-than log.csv --max-drop 0.9"],
    ),
    "check log.csv rr --not-worse-than log.csv --margin 0.9": (
        "it is audit, for the data, or evaluate with a gate",
        ["evaluate log.csv rr --not-worse-than log.csv --margin 0.9"],
    ),
    "agreement who.csv --rater who --metric kappa": (
        "every measure of agreement is printed, kappa and alpha among them, which is that of --level; "
        "leave out --metric",
        ["agreement who.csv --annotator who"],
    ),
    "agreement who2.csv --annotator who": (
        "the query is missing; name its column with --query, one of 'qid'",
        ["agreement who2.csv --annotator who --query qid --doc docid"],
    ),
    "pool a.run b.run --qrels q.txt --depth 10": (
        "or with --way depth those that rank highest",
        ["--qrels q.txt --way depth --to csv --system file | awk -F, 'NR == 1 || $(NF - 2) && $(NF - 2) <= 10'"],
    ),
    "ab-test searches.csv ctr --arm arm --cluster user": (
        "'ctr' means two things: success (the share of searches with a click; so is ctr@10), or precision",
        [f"ab-test searches.csv {one} --arm arm --cluster user --label clicked" for one in ("success", "precision")],
    ),
    "clicks searches.csv --metrics ctr,rr --by arm": (
        "write the one you mean",
        [f"evaluate searches.csv --metric {one},rr --by arm --label clicked" for one in ("success", "precision")],
    ),
    'check log.csv --min rr=0.1 --max "rr <= 1"': (
        "it is audit, for the data, or evaluate with a gate, as --fail-under ndcg@10=0.4",
        ["evaluate log.csv --fail-under rr=0.1 --fail-over rr=1 rr"],
    ),
    "assert log.csv rr>=0.1": ("it is evaluate with a gate", ["evaluate log.csv --fail-under rr=0.1 rr"]),
    "ab searches.csv --variant arm --click clicked --session session": (
        "it is ab-test",
        ["ab-test searches.csv --arm arm --label clicked --cluster session success"],
    ),
    "confusion cases.csv --threshold 0.5 precision recall": (
        "confusion takes no metrics; leave out 'precision', 'recall', or ask evaluate for them",
        ["confusion cases.csv --threshold 0.5", "evaluate cases.csv --threshold 0.5 precision recall"],
    ),
    "report ranked.csv -o page.md": (
        "the label or grade is missing",
        ["report ranked.csv -o page.md --score score --rank rank --grade relevance"],
    ),
}


@pytest.mark.parametrize("call", STEPS)
def test_all_steps_run(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An error ends with each command that is meant, one in Python too, and they run one after the other."""
    rows = named().rename({"docid": "doc"}).with_columns(pl.col("day").cast(pl.String))
    write(rows, "log.csv")
    write(rows.select(qid="query", docid="doc", sim="score", relevance="grade"), "odd.csv")
    rank = pl.col("score").rank("ordinal", descending=True).over("query")
    write(rows.select("query", "doc", "score", rank=rank, relevance="grade"), "ranked.csv")
    judged = rows.select("query", "doc", "grade")
    who = pl.concat([judged.with_columns(who=pl.lit(who)) for who in ("x", "y")])
    write(who, "who.csv")
    write(who.rename({"query": "qid", "doc": "docid"}), "who2.csv")
    write(pl.DataFrame({"label": [0, 1, 1], "score": [0.2, 0.7, 0.1]}), "cases.csv")
    write_searches()
    write_runs()
    words, parts = STEPS[call]
    told = error(capsys, *shlex.split(call))
    assert words in told
    lines = [line[4:] for line in told.splitlines() if line.startswith("    frame-metrics ")]
    assert len(lines) == len(parts)
    for line, part in zip(lines, parts, strict=True):
        assert part in line
        assert main(shlex.split(line.partition(" | ")[0])[1:]) == 0, line


@pytest.mark.parametrize(
    "flags",
    ["--baseline 0.31 --mde 0.01 --alpha 0.05", "--baseline 0.31 --detect 0.01", "--rate=.31 --delta .01"],
)
def test_two_rates_need_no_log(flags: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The size of an online test of two rates is printed, and a note says what it counts.

    By hand: (1.95996 + 0.84162)^2 (0.31 * 0.69 + 0.32 * 0.68) / 0.01^2 + 1.95996^2 / 4 = 33868.9.
    """
    assert main(["sample-size", *flags.split(), "--power", "0.8"]) == 0
    told = capsys.readouterr()
    assert read(told.out).row(0) == (0.31, 0.32, 0.01, 0.8, 0.95, 33_869)
    assert "users in each of two arms, each counted once" in told.err


def test_a_rate_without_a_difference_leads_on(capsys: pytest.CaptureFixture[str]) -> None:
    """The error has a whole command of two rates."""
    told = error(capsys, *["sample-size", "--baseline", "0.31", "--power", "0.8"])
    *_, last = told.strip().split("of two rates alone: frame-metrics ")
    assert main(last.split()) == 0


def test_a_correction_of_one_comparison_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    """A note says that p-values are as they were, and how metrics are corrected together."""
    write_runs()
    call = ["compare", "a.run", "b.run", "rr", "map", "--qrels", "q.txt", "--correction", "bonferroni"]
    note = "--correction bonferroni corrects nothing, as each metric has one comparison"
    assert main(call) == 0
    assert f"{note}; pass --over all to correct all rows together" in capsys.readouterr().err
    assert main([*call, "--over", "all"]) == 0
    told = capsys.readouterr()
    assert note not in told.err
    assert read(told.out)["n_tests"].to_list() == [2, 2]
    assert main([one for one in call if one != "map"]) == 0
    assert f"{note}\n" in capsys.readouterr().err


def test_what_has_no_interval_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    """A note says why, beside metrics that have one; without these the call is an error."""
    write(pl.DataFrame({"label": [0, 1, 1], "score": [0.2, 0.7, 0.1]}), "cases.csv")
    assert main(["evaluate", "cases.csv", "brier", "ece", "--ci"]) == 0
    note = "ece has no interval: chance moves it one way, and further the fewer rows there are"
    assert f"frame-metrics: {note}\n" == capsys.readouterr().err
    assert f"{note}; pass no --ci" in error(capsys, "evaluate", "cases.csv", "ece", "--ci")


def test_queries_without_judgments_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Documents to judge are those of queries that have a judgment, and so is the share of judged results."""
    write_runs()
    with Path("a.run").open("a") as run:
        run.write("q2 Q0 d1 1 2.0 a\n")
    Path("q.txt").write_text("q1 0 d2 1\n")
    call = ["to-judge", "a.run", "--qrels", "q.txt", "--max-grade", "1"]
    assert main(call) == 0
    told = capsys.readouterr()
    assert set(read(told.out)["query"]) == {"q1"}
    note = "1 of 2 queries have no judgment, and are left out; --unjudged-queries count takes them in"
    assert told.err == f"frame-metrics: {note}\n"
    assert set(read(out(capsys, *call, "--unjudged-queries", "count"))["query"]) == {"q1", "q2"}
    assert main(["evaluate", "a.run", "judged@2", "--qrels", "q.txt"]) == 0
    assert capsys.readouterr().err == f"frame-metrics: {note}\n"
    out(capsys, "evaluate", "a.run", "rr", "--qrels", "q.txt")


def test_ids_with_spaces_are_written_for_trec(capsys: pytest.CaptureFixture[str]) -> None:
    """A file of TREC cannot hold them; both files are written with other ids, and a remark says so."""
    rows = {
        "term": ["red shoe", "red shoe", "hat"],
        "sku": list("aba"),
        "es_score": [2.5, 1.5, 3.5],
        "grade": [1, 0, 2],
    }
    write(pl.DataFrame(rows), "log.csv")
    call = "convert log.csv --to trec --query term --run-out my.run --qrels-out my.qrels"
    first, one, then, other = [told[4:] for told in error(capsys, *call.split(" ")).splitlines()[1:]]
    assert (first, then) == ("first:", "then:")
    for line in (one, other):
        assert main(line.split(" ")[1:]) == 0
        assert "'term' has white space in its ids, which a file of TREC cannot hold" in capsys.readouterr().err
    assert Path("my.run").read_text().split("\n")[0] == "red_shoe Q0 a 1 2.5 my"
    assert Path("my.qrels").read_text().split("\n")[1] == "red_shoe 0 b 0"


def test_all_that_a_file_of_trec_lacks_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """No line is offered while columns are unknown, or where two ids would become one."""
    write(pl.DataFrame({"term": ["a b", "a_b"], "thing": ["x", "y"], "grade": [1, 0]}), "log.csv")
    told = error(capsys, *["convert", "log.csv", "--to", "trec", "--run-out", "my.run"])
    assert "none is called as the query or the doc or the score; name it with --query and --doc and --score" in told
    told = error(capsys, *["convert", "log.csv", "--to", "qrels", "--query", "term", "--doc", "thing"])
    assert "'term': two ids would be one, with _ in the place of white space" in told
    assert "| frame-metrics" not in told
    told = error(capsys, *["convert", "log.csv", "-o", "my.run", "--run-name", "a"])
    assert "none is called as the query or the doc or the score; name it with --query and --doc and --score" in told
    write(pl.DataFrame({"qid": ["a", "b"], "docid": ["x", "y"], "grade": [1, 0]}), "judged.csv")
    *_, last = error(capsys, *["convert", "judged.csv", "-o", "my.qrels"]).splitlines()
    assert last == "    frame-metrics convert judged.csv -o my.qrels --query qid --doc docid"
    assert main(last.split()[1:]) == 0
    write(pl.DataFrame({"query": "q", "doc": ["x"], "score": 1.0}), "log.jsonl")
    told = error(capsys, *["convert", "log.jsonl", "--to", "run"])
    assert told.endswith("    frame-metrics convert log.jsonl -o out.run --run-name out\n")


def test_a_pool_in_a_file_is_as_deep_as_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """The line writes the documents down to a rank, whatever the ids have in them, and no file if it fails."""
    for name, order in (("a", "xyz"), ("b", "zyx")):
        Path(f"{name}.txt").write_text(
            "".join(f"q,1 Q0 {doc} {at} {9 - at} {name}\n" for at, doc in enumerate(order, 1))
        )
    *_, last = error(capsys, *["pool", "a.txt", "b.txt", "--depth", "1", "-o", "pool.csv"]).splitlines()
    assert "--system file" in last
    line = last.strip().replace("frame-metrics", f"{sys.executable} -m frame_metrics")
    assert subprocess.run(
        ["bash", "-c", line.replace("a.txt", "none.txt")], check=False, capture_output=True
    ).returncode
    assert not Path("pool.csv").exists()
    subprocess.run(["bash", "-c", line], check=True)
    assert read(Path("pool.csv").read_text())["doc"].sort().to_list() == ["x", "z"]
    *_, last = error(capsys, *["pool", "a.txt", "b.txt", "--depth", "1", "-o", "pool.json"]).splitlines()
    line = last.strip().replace("frame-metrics", f"{sys.executable} -m frame_metrics")
    subprocess.run(["bash", "-c", line], check=True)
    assert pl.read_json("pool.json")["doc"].sort().to_list() == ["x", "z"]


@pytest.mark.parametrize(
    "call",
    [
        *(f"evaluate log.csv rr --filter {one}" for one in ("score>x", "device=a;b", "mobile")),
        "best-threshold cases.csv --cost-ratio 20",
        "best-threshold cases.csv --beta 2",
        "ab-test cases.csv --arm label --expected 90:10",
        "best-threshold cases.csv recall --subject-to precision<=0.5",
        "evaluate cases.csv --weigh 5",
    ],
)
def test_other_questions_have_no_line(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A line without the rows, or the number, that is asked for would answer another question."""
    write(named(), "log.csv")
    write(pl.DataFrame({"label": [0, 1, 1], "score": [0.2, 0.7, 0.1]}), "cases.csv")
    assert f"frame-metrics {call.split()[0]} " not in error(capsys, *shlex.split(call))


def test_a_fault_of_the_offers_is_no_failed_gate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exit code is that of an internal error."""
    monkeypatch.setattr("frame_metrics.command.run.with_lines", lambda *_: 1 / 0)
    assert main(["evaluate", "none.csv", "rr"]) == 3
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_help_has_no_heading_without_options(capsys: pytest.CaptureFixture[str]) -> None:
    """A command without gates has no heading of gates."""
    assert "\ngates:" not in out(capsys, "summary", "--help", "--all")
    assert "\ngates:" in out(capsys, "evaluate", "--help", "--all")


def test_the_size_of_a_comparison_with_saved_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """What the error about a single system advises is taken: the saved numbers are the other system."""
    rows = named().rename({"docid": "doc"})
    write(rows, "log.csv")
    write(rows.with_columns(-pl.col("score")), "old.csv")
    main(["per-query", "old.csv", "rr", "-o", "base.csv"])
    call = "sample-size log.csv rr --detect 0.1"
    assert "give what per-query wrote of another one, as --saved FILE" in error(capsys, *call.split())
    assert read(out(capsys, *call.split(), "--saved", "base.csv"))["baseline"].to_list() == ["saved"]
