"""Judgments of a machine beside those of people, on the command line."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM
from helpers import called

Captured = pytest.CaptureFixture[str]
ASKED = ["rr", "--system", "system", "--qrels", "people.csv", "--proxy", "machine.csv"]


@pytest.fixture(autouse=True)
def _files(alone: None) -> None:
    """Two rankers on sixty queries, which a machine judged, and people a third of them."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, (60, 5))
    rows = [(f"q{q}", f"d{d}", float(rng.random()), s) for s in "ab" for q in range(60) for d in range(5)]
    pl.DataFrame(rows, schema=["query", "doc", "score", "system"], orient="row").write_csv("log.csv")
    judged = [(f"q{q}", f"d{d}", int(truth[q, d] ^ (rng.random() < 0.2))) for q in range(60) for d in range(5)]
    machine = pl.DataFrame(judged, schema=["query", "doc", "label"], orient="row")
    machine.write_csv("machine.csv")
    people = [(f"q{q}", f"d{d}", int(truth[q, d]), 0.3) for q in range(20) for d in range(5)]
    pl.DataFrame(people, schema=["query", "doc", "label", "chance"], orient="row").write_csv("people.csv")


@pytest.mark.parametrize("more", [{}, {"sampling": "chance"}], ids=["equal chances", "other chances"])
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_numbers_are_those_of_python(command: str, more: dict[str, str], capsys: Captured) -> None:
    """The command reads the files, and no more."""
    flags = [word for name, value in more.items() for word in (f"--{name}", value)]
    code, printed, _ = called(capsys, command, "log.csv", *ASKED, *flags, *["--sort", "system"])
    log, people, machine = map(pl.read_csv, ("log.csv", "people.csv", "machine.csv"))
    irm = IRM(log, system="system").judge(people, proxy=machine, **more)
    expected = pl.read_csv(getattr(irm, command)("rr").sort("system").write_csv().encode())
    assert_frame_equal(pl.read_csv(printed.encode()), expected)
    assert code == 0
    assert {"n_proxy", "lambda"} <= {*expected.columns}


@pytest.mark.parametrize("flags", [("--fail-if-worse-than",), ("--not-worse-than", "--margin", "0.9")])
@pytest.mark.parametrize(("log", "before"), [("a.csv", "b.csv"), ("b.csv", "a.csv")])
def test_a_gate_has_no_other_means_than_the_table(
    flags: tuple[str, ...], log: str, before: str, capsys: Captured
) -> None:
    """Values of a pair have a lambda of their own: gates of differences say the difference, as compare has it."""
    every = pl.read_csv("log.csv").with_columns(score=pl.when(system="b").then(pl.col("doc").rank()).otherwise("score"))
    for (name,), rows in every.group_by("system"):
        rows.drop("system").write_csv(f"{name}.csv")
    capsys.readouterr()
    judged = [ASKED[0], *ASKED[3:]]
    gate, *more = flags
    _, printed, told = called(capsys, "evaluate", log, *judged, gate, before, *more)
    (value,) = pl.read_csv(printed.encode())["value"]
    base = before.removesuffix(".csv")
    pair = called(capsys, "compare", before, log, *judged, "--baseline", base, "--system", "file")
    (row,) = pl.read_csv(pair[1].encode()).to_dicts()
    assert row["value"] != pytest.approx(value, abs=1e-6)
    (line,) = told
    assert f"rr against {base}: " in line
    assert f"{row['value']:.3g}" not in line
    if "difference" in line:
        assert f"{row['difference']:.3g}" in line


def test_what_takes_no_proxy(capsys: Captured) -> None:
    """Other verbs refuse it in the words of the command line, and so does a call without judgments of people."""
    assert "--proxy" in called(capsys, "leaderboard", "log.csv", *ASKED)[2][0]
    told = called(capsys, "evaluate", "log.csv", "rr", "--system", "system", "--proxy", "machine.csv")[2][0]
    assert "--proxy is about judgments in a separate file; name it with --qrels" in told


def test_columns_of_a_machine_are_named_as_those_of_people(capsys: Captured) -> None:
    """The same flags name both, and what a file lacks is said with them."""
    expected = called(capsys, "evaluate", "log.csv", *ASKED)[1]
    told = {"people.csv": "verdict", "machine.csv": "verdict"}
    for name, label in told.items():
        pl.read_csv(name).rename({"query": "qid", "doc": "docid", "label": label}).write_csv(name)
    named = ["--qrels-query", "qid", "--qrels-doc", "docid", "--label", "verdict"]
    assert called(capsys, "evaluate", "log.csv", *ASKED, *named)[:2] == (0, expected)
    machine = pl.read_csv("machine.csv")
    for column, said in (("verdict", "no grade or label as that of --qrels;"), ("qid", "no query or document as")):
        machine.rename({column: "other"}).write_csv("machine.csv")
        assert f"--proxy: its file has {said}" in called(capsys, "evaluate", "log.csv", *ASKED, *named)[2][0]


def test_grades_of_a_machine_may_be_others(capsys: Captured) -> None:
    """Their column, scale and least relevant grade have flags, without which they are as those of people."""
    asked = [*ASKED, "--sort", "system"]
    expected = called(capsys, "evaluate", "log.csv", *asked)[1]
    machine, people = pl.read_csv("machine.csv"), pl.read_csv("people.csv")
    words = ["--proxy-scale", "bad=0", "--proxy-scale", "good=7"]
    good = machine.select("query", "doc", said=pl.when(label=1).then(pl.lit("good")).otherwise(pl.lit("bad")))
    numbers = machine.select("query", "doc", said=3 + 4 * pl.col("label"))
    for frame, more in ((good, words), (numbers, ["--proxy-rel", "7"])):
        frame.write_csv("machine.csv")
        named = ["--proxy-grade", "said", *more]
        assert called(capsys, "evaluate", "log.csv", *asked, *named)[:2] == (0, expected)
    good.write_csv("machine.csv")
    told = called(capsys, "evaluate", "log.csv", *asked, "--proxy-grade", "said")[2][0]
    assert "--proxy: said: a grade is a number" in told
    assert "is text; give each word a grade, as --proxy-scale bad=... --proxy-scale good=..., or" in told
    of_words = people.select("query", "doc", said=pl.when(label=1).then(pl.lit("good")).otherwise(pl.lit("bad")))
    of_words.write_csv("people.csv")
    same = ["--grade", "said", "--scale", "bad=0", "--scale", "good=7", "--rel", "good"]
    assert called(capsys, "evaluate", "log.csv", *asked, *same)[:2] == (0, expected)
    numbers.write_csv("machine.csv")
    told = called(capsys, "evaluate", "log.csv", *asked, *same)[2][0]
    assert told.endswith("good is no word of its grades; name the least of them that is relevant with --proxy-rel")
    assert called(capsys, "evaluate", "log.csv", *asked, *same, "--proxy-rel", "7")[:2] == (0, expected)
    told = called(capsys, "evaluate", "log.csv", "rr", "--proxy-rel", "7")[2][0]
    assert told.endswith("--proxy-rel is about judgments of a machine; name their file with --proxy")
    machine.with_columns(label=pl.col("label") * 9).rename({"label": "said"}).write_csv("machine.csv")
    people.rename({"label": "said"}).write_csv("people.csv")
    told = called(capsys, "audit", "log.csv", *asked[1:-2], "--grade", "said")[1]
    assert "mislead: --proxy-rel, or --proxy-scale, says what its grades mean. If both have one scale, --proxy" in told


def test_all_columns_of_three_files_are_offered(capsys: Captured) -> None:
    """Of a log, of people and of a machine, in one line."""
    names = {"query": "qid", "doc": "docid"}
    for file, label in (("log", "score"), ("people", "rating"), ("machine", "llm_grade")):
        rows = pl.read_csv(f"{file}.csv")
        rows.rename(names | ({} if file == "log" else {"label": label})).write_csv(f"{file}.csv")
    *_, last = called(capsys, "evaluate", "log.csv", *ASKED)[2]
    assert last.endswith("--query qid --doc docid --grade rating --proxy-grade llm_grade")


def test_values_of_a_machine_that_are_wrong(capsys: Captured) -> None:
    """Words, and rows, are those of its file, also beside a log of two files."""
    machine, log = pl.read_csv("machine.csv"), pl.read_csv("log.csv")
    for name, rows in log.group_by("system"):
        rows.drop("system").write_csv(f"{name[0]}.csv")
    asked = ["evaluate", "a.csv", "b.csv", "ndcg@3", "--system", "file", *ASKED[3:], "--grade", "label"]
    pl.concat([machine, machine.head(1).with_columns(label=1 - pl.col("label"))]).write_csv("machine.csv")
    assert "(q0, d0), rows 0, 300)" in called(capsys, *asked)[2][0].replace("query and document ", "")
    machine.with_columns(pl.format("{} words", "label").alias("label")).write_csv("machine.csv")
    way = "this column is text; give each word a grade, as --proxy-scale '0 words'=... --proxy-scale '1 words'=..."
    assert f"--proxy: label: a grade is a number, and {way}" in called(capsys, *asked)[2][0]
