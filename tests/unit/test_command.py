"""The command line: files in and out, roles and conventions as flags and in settings, errors and exit codes."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics
from command_line import NAMES, error, log, named, out, read, write
from frame_metrics import IRM
from frame_metrics.command import main
from helpers import Terminal, called, made_log

pytestmark = pytest.mark.usefixtures("alone")
ROLES = ["--query", "qid", "--score", "bm25", "--grade", "rating"]
METRICS = ("dcg@10", "rr")


def evaluated(frame: pl.DataFrame | None = None, **roles: Any) -> pl.DataFrame:
    """The result in Python."""
    return IRM(log() if frame is None else frame, **(NAMES | roles)).evaluate(*METRICS)


# files


FILES = ("parquet", "csv", "tsv", "json", "jsonl", "arrow", "ipc", "csv.gz", "tsv.gz", "jsonl.gz", "json.gz")


@pytest.mark.parametrize("ending", FILES)
def test_every_format_is_read(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in any format, packed or not, gives what its frame gives."""
    name = write(log(), f"log.{ending}")
    assert_frame_equal(read(out(capsys, "evaluate", name, *METRICS, *ROLES)), evaluated())


@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "jsonl", "arrow", "csv.gz"])
def test_standard_input(ending: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is piped in is read in the format that is said."""
    data = Path(write(log(), f"log.{ending}")).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    kind = ending.removesuffix(".gz")
    assert_frame_equal(read(out(capsys, "evaluate", "-", *METRICS, *ROLES, "--from", kind)), evaluated())


def test_standard_input_has_no_name(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert "pass --from, one of 'parquet', 'csv'" in error(capsys, "evaluate", "-", "rr")


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "arrow"])
@pytest.mark.parametrize("argument", ["logs", "logs/", "logs/day=*/*.{}", "logs/**/*.{}"])
def test_folders_whose_names_say_a_column(argument: str, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder for each day, with files of any format, has the column of days that its names say."""
    for (day,), rows in log().group_by("day"):
        for device in ("mobile", "desktop"):
            write(rows.filter(device=device).drop("day"), f"logs/day={day}/{device}.{ending}")
    Path("logs/_SUCCESS").touch()
    Path("logs/day=2026-01-01/.part.crc").touch()
    found = read(out(capsys, "evaluate", argument.format(ending), *METRICS, *ROLES, "--by", "day"))
    assert_frame_equal(found, evaluated(by="day"))


def test_several_files(capsys: pytest.CaptureFixture[str]) -> None:
    """Files that a shell lists are read one below the other, before the metrics or with -i."""
    for device in ("mobile", "desktop"):
        write(log().filter(device=device), f"{device}.parquet")
    flags = ["evaluate", *ROLES, "-i", "mobile.parquet", "-i", "desktop.parquet", *METRICS]
    for arguments in (["evaluate", "mobile.parquet", "desktop.parquet", *METRICS, *ROLES], flags):
        assert_frame_equal(read(out(capsys, *arguments, "--no-system")), evaluated(), check_row_order=False)


@pytest.mark.parametrize(
    ("command", "flags"), [("evaluate", ""), ("summary", " --baseline w1"), ("report", " --baseline w1")]
)
def test_several_files_that_are_one_log_are_said(command: str, flags: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A remark names the flags by which each is an arm, unless it is said that they are one."""
    for name, device in (("w1", "mobile"), ("w2", "desktop")):
        write(named().filter(device=device), f"{name}.csv")
    asked = [command, "w1.csv", "w2.csv", "rr", *(["-o", "page.md"] if command == "report" else [])]
    code, _, (told,) = called(capsys, *asked)
    assert code == 0
    assert told == (
        f"frame-metrics: 2 files are read as one log: --arm file{flags} measures each by itself, and --no-system says "
        "that one log is meant"
    )
    for more in (["--no-system"], f"--arm file{flags}".split()):
        assert called(capsys, *asked, *more)[::2] == (0, [])


def test_names_with_signs_of_patterns(capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is there is read, whatever signs its name has."""
    write(log(), "log[1]*.parquet")
    write(log().clear(), "log1.parquet")
    assert_frame_equal(read(out(capsys, "evaluate", "log[1]*.parquet", *METRICS, *ROLES)), evaluated())


def test_ids_in_text_files(capsys: pytest.CaptureFixture[str]) -> None:
    """In CSV an id is a text, so that 007 stays itself, and ids of files of both kinds meet."""
    rows = pl.DataFrame({"query": ["007", "7"], "doc": ["1", "2"], "score": ["1", "0.5"], "grade": ["1", "0"]})
    write(rows, "log.csv")
    found = pl.read_csv(io.StringIO(out(capsys, "per-query", "log.csv", "rr")), schema_overrides={"query": pl.String})
    assert found.select("query", "value").rows() == [("007", 1.0), ("7", 0.0)]
    write(pl.DataFrame({"topic": ["007", "7"], "page": ["1", "2"], "grade": ["1", "1"]}), "judged.csv")
    columns = ["--no-grade", "--qrels", "judged.csv", "--qrels-query", "topic", "--qrels-doc", "page"]
    assert read(out(capsys, "evaluate", "log.csv", "rr", "num_rel", *columns))["value"].to_list() == [1.0, 2.0]
    write(pl.DataFrame({"query": [7, 7], "doc": [1, 2], "score": [2.0, 1.0]}), "run.parquet")
    Path("judged.qrels").write_text("7 0 2 1\n")
    assert read(out(capsys, "evaluate", "run.parquet", "rr", "--qrels", "judged.qrels"))["value"].to_list() == [0.5]
    write(pl.DataFrame({"query": [7], "doc": [2], "grade": [1]}), "judged.parquet")
    Path("a.run").write_text("7 Q0 1 1 2.0 a\n7 Q0 2 2 1.0 a\n")
    assert read(out(capsys, "evaluate", "a.run", "rr", "--qrels", "judged.parquet"))["value"].to_list() == [0.5]


def test_keys_in_text_files(capsys: pytest.CaptureFixture[str]) -> None:
    """Segments stay apart as they are written, in one file or several; they are numbers where all are."""
    both = pl.DataFrame(
        {"query": [1, 1, 2, 2], "group": ["01", "01", "1", "1"], "score": [2, 1] * 2, "grade": [1, 0, 0, 1]}
    )
    write(both, "log.csv")
    write(both[:2], "a.csv")
    write(both[2:], "b.csv")
    said = "group,metric,k,average,value,n,n_undefined\n01,rr,,macro,1.0,1,0\n1,rr,,macro,0.5,1,0\n"
    for files in (["log.csv"], ["a.csv", "b.csv"], ["b.csv", "a.csv"]):
        assert out(capsys, "evaluate", *files, "rr", "--by", "group", "--no-system") == said
    assert json.loads(out(capsys, "evaluate", "b.csv", "rr", "--by", "group", "--to", "json"))[0]["group"] == 1
    write(both[3:].with_columns(doc=pl.lit("x")).drop("score").with_columns(grade=1), "judged.csv")  # only numbers
    write(both.with_columns(doc=pl.lit("x")), "log.csv")
    judged = ["--by", "group", "--qrels", "judged.csv", "--duplicates", "first"]
    assert "\n1,num_rel,,sum,1.0,1,0" in out(capsys, "evaluate", "log.csv", "num_rel", *judged)


@pytest.mark.skipif(shutil.which("awk") is None, reason="needs awk")
def test_the_way_to_write_ids_of_digits_alike_works(capsys: pytest.CaptureFixture[str]) -> None:
    """Only ids of digits change, and those of more digits than are needed do not."""
    others = [("12345678901234567890", who, 1) for who in "AB"] + [("x", who, 1) for who in "AB"]
    rows = pl.DataFrame([("001", "A", 1), ("1", "B", 1), *others], schema=["query", "system", "rank"], orient="row")
    write(rows.with_columns(label=1), "log.csv")
    asked = "evaluate", "log.csv", "rr", "--system", "system"
    (way,) = re.findall(r"as (awk .* 1') does", " ".join(re.split(r"[\s|]+", error(capsys, *asked))))
    made = subprocess.run(f"{way} log.csv", shell=True, check=True, capture_output=True, text=True).stdout
    Path("log.csv").write_text(made)
    assert [row["n"] for row in json.loads(out(capsys, *asked, "--to", "json"))] == [3, 3]


@pytest.mark.parametrize("judged", ["judged.csv", "judged.parquet"])
@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
@pytest.mark.parametrize("other", ["01", "+1", "north"])
def test_ids_that_are_not_written_as_numbers(
    other: str, name: str, judged: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside judgments of a text as 01 the number 1 is the text 1: segments, queries and documents never merge."""
    shops = pl.DataFrame({"query": ["a", "a", "a"], "doc": ["d", "e", "d"], "grade": [0, 1, 1]})
    log = pl.DataFrame({"query": ["a", "a"], "doc": ["d", "e"], "score": [2.0, 1.0], "shop": [1, 1]})
    write(log, name)
    write(shops.with_columns(shop=pl.Series(["1", "1", other])), judged)
    found = out(capsys, "evaluate", name, "rr", "num_rel", "--by", "shop", "--qrels", judged, "--to", "json")
    values = {(row["shop"], row["metric"]): row["value"] for row in json.loads(found)}
    assert values == {("1", "rr"): 0.5, ("1", "num_rel"): 1, (other, "rr"): 0, (other, "num_rel"): 1}
    write(log.select(query=1, doc=pl.Series([1, 2]), score="score"), name)
    write(pl.DataFrame({"query": ["1", other], "doc": [other, "2"], "grade": [1, 1]}), judged)
    if other == "01":
        assert main(["per-query", name, "rr", "--qrels", judged]) == 2
        assert "judged in their query with other leading zeros, as '1' and '01'" in capsys.readouterr().err
        return
    found = out(capsys, "per-query", name, "rr", "--qrels", judged, "--to", "json")
    assert {row["query"]: row["value"] for row in json.loads(found)} == {"1": 0, other: 0}


def test_saved_numbers_of_queries_that_are_not_written_as_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """The number 1 of a log meets the saved number of query 1, and not that of 01; judgments of 1 stay its own."""
    write(pl.DataFrame({"query": [1, 1], "doc": ["d", "e"], "score": [2.0, 1.0]}), "log.parquet")
    write(pl.DataFrame({"query": [1], "doc": ["e"], "grade": [1]}), "judged.parquet")
    saved = pl.DataFrame({"query": ["01", "1"], "metric": "rr", "value": [1.0, 0.25]})
    write(saved, "saved.csv")
    call = ["compare", "log.parquet", "rr", "--qrels", "judged.parquet", "--saved", "saved.csv", "--to", "json"]
    (row,) = json.loads(out(capsys, *call))
    assert (row["baseline_value"], row["difference"], row["n_unpaired"]) == (0.25, 0.25, 1)
    (row,) = json.loads(out(capsys, "change", *call[1:]))
    assert (row["baseline"], row["baseline_value"], row["n"], row["baseline_n"], row["n_shared"]) == (
        *("saved", 0.625, 1, 2),
        1,
    )


@pytest.mark.parametrize("qrels", ["web.qrels", "judgments", "judged.csv"])
def test_judgments_beside(qrels: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Judgments in a file of their own are joined; a name that says nothing is that of TREC's format."""
    judged = log().select(query="qid", doc="docid", grade="rating")
    if qrels.endswith(".csv"):
        write(judged.rename({"query": "topic", "doc": "page", "grade": "rel"}), qrels)
    else:
        frame_metrics.write_qrels(judged, qrels)
    frame_metrics.write_run(log(), "bm25.run", query="qid", doc="docid", score="bm25", run="new")
    columns = ["--qrels-query", "topic", "--qrels-doc", "page", "--grade", "rel"] if qrels.endswith(".csv") else []
    found = read(out(capsys, "evaluate", "bm25.run", *METRICS, "--qrels", qrels, *columns))
    run = frame_metrics.read_run("bm25.run")
    assert_frame_equal(found, run.irm(doc="doc").judge(judged).evaluate(*METRICS))


def test_ranks_of_a_run_that_contradict_its_scores(capsys: pytest.CaptureFixture[str]) -> None:
    """Scores decide, and standard error says where the ranks do not fit them; --rank takes the ranks."""
    rows = [
        "q1 Q0 a 1 0.5 s",
        "q1 Q0 b 2 0.9 s",
        "q2 Q0 b 2 0.4 s",
        "q2 Q0 a 1 0.5 s",
        "q3 Q0 a 0 1 s",
        "q3 Q0 b 0 2 s",
    ]
    Path("odd.run").write_text("\n".join(rows))
    Path("known.qrels").write_text("q1 0 a 1\nq2 0 b 1\nq3 0 b 1\n")
    call = ["evaluate", "odd.run", "rr", "--qrels", "known.qrels"]
    assert main(call) == 0
    shown = capsys.readouterr()
    assert read(shown.out)["value"].to_list() == [pytest.approx((0.5 + 0.5 + 1) / 3)]
    told = "odd.run: in 1 of 3 queries the ranks are another order than the scores, which decide, as in trec_eval"
    assert shown.err == f"frame-metrics: {told}; --rank rank takes the ranks\n"
    assert main(["convert", "odd.run", "-o", "odd.csv"]) == 0
    assert capsys.readouterr().err == f"frame-metrics: {told}\n"
    Path("odd.run").write_text("\n".join(rows[:4]))
    assert read(out(capsys, *call, "--rank", "rank"))["value"].to_list() == [pytest.approx((1 + 0.5 + 0) / 3)]
    Path("odd.run").write_text("q1 Q0 a first 0.5 s\nq1 Q0 b - 0.9 s\n")
    assert main(call) == 0
    assert capsys.readouterr().err == ""


def test_files_of_documents(capsys: pytest.CaptureFixture[str]) -> None:
    """--catalogue and --popularity take a file where Python takes a frame; its ids meet those of the log."""
    chosen = pl.DataFrame({"doc": [1, 2, 3, 4], "count": [4, 2, 1, 1]})
    write(pl.DataFrame({"query": [1, 1], "doc": [1, 2], "score": [2.0, 1.0]}), "log.parquet")
    write(chosen, "chosen.csv")
    metrics = ["catalogue_coverage@10", "average_popularity@10"]
    call = ["evaluate", "log.parquet", *metrics, "--popularity", "chosen.csv", "--catalogue"]
    found = {given: read(out(capsys, *call, given)) for given in ("chosen.csv", "4")}
    assert found["4"]["value"].to_list() == found["chosen.csv"]["value"].to_list() == [0.5, 3.0]
    assert "it is read as chosen.csv" in error(capsys, *call, "chosen.csv", "-o", "chosen.csv")
    assert "is not a number of documents from 1, or a file of them" in error(capsys, *call, "0")
    assert error(capsys, *call, "none.csv") == "frame-metrics: none.csv: there is no such file\n"
    write(chosen.rename({"doc": "item"}), "items.csv")
    assert "--catalogue: the frame has 'item', 'count', and no column 'doc'" in error(capsys, *call, "items.csv")


def test_ways_out_are_those_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Errors say code that Python would run as the flags that do the same."""
    log = pl.DataFrame(
        {"query": [1, 1, 1], "doc": ["a", "b", "a"], "score": [1, 2, 3], "grade": ["good", "bad one", "bad one"]}
    )
    write(log, "log.csv")
    said = error(capsys, "evaluate", "log.csv", "rr")
    assert "as --scale 'bad one'=... --scale good=..., or convert it" in said
    write(log.with_columns(grade=pl.int_range(3)), "qrels.csv")
    assert "or use judge with --several if" in error(capsys, "evaluate", "log.csv", "rr", "--qrels", "qrels.csv")
    assert error(capsys, "similarity", "qrels.csv", "rbo").endswith("name their column with --system\n")


def test_interleaving(capsys: pytest.CaptureFixture[str]) -> None:
    """Teams are compared by their own command, with flags or settings; teams that are numbers have their names."""
    rows = [(i // 2, i % 2 + 1, 1 + i % 2, int(i % 2 == 1)) for i in range(12)]
    log = pl.DataFrame(rows, ["query", "rank", "team", "label"], orient="row")
    write(log, "lists.csv")
    found = read(out(capsys, "interleaving", "lists.csv", "clicks", "--team", "team", "--baseline", "1"))
    assert found.select("team", "baseline", "preference", "wins").row(0) == (2, 1, 0.5, 6)
    Path("teams.toml").write_text('[interleaving]\nteam = "team"\nbaseline = 1\n', encoding="utf-8")
    assert read(out(capsys, "interleaving", "lists.csv", "clicks", "--config", "teams.toml")).equals(found)
    Path("teams.toml").write_text('[compare]\nteam = "team"\nbaseline = "1"\n', encoding="utf-8")
    said = "interleaving() credits it with the clicks; pass --no-team to read each list as one"
    assert said in error(capsys, "compare", "lists.csv", "clicks", "--config", "teams.toml")
    assert said in error(capsys, "compare", "lists.csv", "clicks", "--team", "team")
    assert "name its column with --team" in error(capsys, "interleaving", "lists.csv", "clicks")


def test_files_of_chances(capsys: pytest.CaptureFixture[str]) -> None:
    """--propensity takes what propensities wrote; segments that are texts of digits meet those of the log."""
    rows = [
        (f"{s}{i}", s, d, r, int(i < 4 / r)) for s in ("01", "02") for i in range(4) for r, d in ((1, "a"), (2, "b"))
    ]
    rows += [
        (f"{s}-{i}", s, d, r, int(i < 4 / r)) for s in ("01", "02") for i in range(4) for r, d in ((1, "b"), (2, "a"))
    ]
    log = pl.DataFrame(rows, ["query", "shop", "doc", "rank", "label"], orient="row").with_columns(text=pl.lit("tea"))
    write(log, "clicks.csv")
    write(log.irm(by="shop").propensities(query_text="text"), "chances.csv")
    call = ["clicks.csv", "--by", "shop"]
    found = read(out(capsys, "evaluate", *call, "cg", "--propensity", "chances.csv"))
    assert found["value"].to_list() == pytest.approx([2.0, 2.0])
    assert "it is read as chances.csv" in error(
        capsys, "evaluate", *call, "cg", "--propensity", "chances.csv", "-o", "chances.csv"
    )


def test_held_out_judgments(capsys: pytest.CaptureFixture[str]) -> None:
    """--all-relevant takes each row of the judgments as relevant."""
    frame_metrics.write_run(log(), "bm25.run", query="qid", doc="docid", score="bm25", run="new")
    write(pl.DataFrame({"query": ["q0", "q1"], "doc": ["d0", "d4"]}), "held.csv")
    found = read(out(capsys, "per-query", "bm25.run", "rr", "--qrels", "held.csv", "--all-relevant"))
    assert found["value"].to_list() == [1.0, 0.2]


def test_larger_than_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """--memory reads a file in pieces, with the same numbers."""
    write(made_log(), "log.parquet")
    roles = ["--no-rank", "--by", "segment"]
    one = out(capsys, "evaluate", "log.parquet", *METRICS, *roles)
    assert out(capsys, "evaluate", "log.parquet", *METRICS, *roles, "--memory", "100KB", "--temporary", ".") == one


# results


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "json", "jsonl", "arrow", "csv.gz"])
def test_results_are_read_back(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A result in a file, of any format that is read, has every value."""
    write(log(), "log.parquet")
    assert out(capsys, "evaluate", "log.parquet", *METRICS, *ROLES, "-o", f"result.{ending}") == ""
    if ending == "csv.gz":
        got = pl.read_csv(gzip.decompress(Path("result.csv.gz").read_bytes()))
    elif ending in ("csv", "tsv"):
        got = pl.read_csv(f"result.{ending}", separator="," if ending == "csv" else "\t")
    else:
        by_ending: dict[str, Callable[[str], pl.DataFrame]] = {"parquet": pl.read_parquet, "arrow": pl.read_ipc}
        by_ending |= {"json": pl.read_json, "jsonl": pl.read_ndjson}
        got = by_ending[ending](f"result.{ending}")
    assert_frame_equal(got, evaluated())


def test_markdown_and_html(capsys: pytest.CaptureFixture[str]) -> None:
    """A result to be read is a table in Markdown, or a page."""
    write(log(), "log.parquet")
    text = out(capsys, "evaluate", "log.parquet", "rr", *ROLES, "--to", "md")
    assert text.splitlines()[:2] == [
        "| metric | k | average | value | n | n_undefined |",
        "| :-- | --: | :-- | --: | --: | --: |",
    ]
    assert text == out(capsys, "evaluate", "log.parquet", "rr", *ROLES, "--to", "markdown")
    page = out(capsys, "evaluate", "log.parquet", "rr", *ROLES, "--to", "html")
    assert '<th scope="row" dir="auto">rr</th>' in page
    assert page.startswith("<!doctype html>")


def test_json_without_end(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has no infinite numbers: a column that holds one is of texts, and the text is JSON."""
    write(pl.DataFrame({"label": [1, 0], "score": [0.9, 0.1]}), "cases.csv")
    rows = json.loads(out(capsys, "curve", "cases.csv", "roc", "--to", "json"))
    assert [row["threshold"] for row in rows] == ["inf", "0.9", "0.1"]


def on_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str, columns: int = 200) -> str:
    """What a call shows on a terminal."""
    file = io.BytesIO()
    monkeypatch.setenv("COLUMNS", str(columns))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Terminal(file, encoding="utf-8"))
        assert main(list(arguments)) == 0
        return file.getvalue().decode()


def test_a_terminal_shows_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table where it has room, else a block of lines for each row; findings of an audit are read whole."""
    write(named().with_columns(score=pl.lit(1.0)), "log.parquet")
    shown = on_terminal(monkeypatch, "evaluate", "log.parquet", "rr")
    assert shown == "metric  k  average  value  n  n_undefined\nrr         macro    0.375  4            0\n"
    assert on_terminal(monkeypatch, "evaluate", "log.parquet", "rr", columns=41) == shown
    assert on_terminal(monkeypatch, "evaluate", "log.parquet", "rr", columns=40) != shown
    narrow = on_terminal(monkeypatch, "evaluate", "log.parquet", "rr", columns=20)
    assert narrow.startswith("metric       rr\nk\naverage      macro\nvalue        0.375\n")
    assert "    rankings in which only retrieved documents are judged" in on_terminal(
        monkeypatch, "audit", "log.parquet"
    )


def test_a_terminal_shows_no_parquet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal(io.BytesIO()))
    assert main(["evaluate", "nothing.parquet", "rr", "--to", "parquet"]) == 2
    assert "a terminal cannot show it" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_told_before_reading(capsys: pytest.CaptureFixture[str]) -> None:
    """The ending and the folder of the output are looked at first."""
    assert "the ending is not one of" in error(capsys, "evaluate", "nothing.parquet", "rr", "-o", "out.xlsx")
    assert "there is no folder 'no'" in error(capsys, "evaluate", "nothing.parquet", "rr", "-o", "no/out.csv")
    assert "the ending is not one of" in error(capsys, "convert", "nothing.parquet", "-o", "out.xlsx")
    assert "does not end in one of '.html'" in error(capsys, "report", "nothing.parquet", "-o", "out.xlsx")
    assert "json has no line of names" in error(capsys, "audit", "nothing.parquet", "--no-header", "--to", "json")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("evaluate", ("out.md", "out.json", "out.csv")),
        ("report", ("page.html", "page.json", "page.md", "more.md")),
        ("convert", ("log.jsonl", "copy.parquet")),
    ],
)
def test_every_output_that_is_named_is_written(
    command: str, names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has what it has alone, whether flags or settings name it; a report is computed once."""
    write(named(), "log.parquet")
    call = [command, "log.parquet", *(["rr"] if command != "convert" else [])]
    out(capsys, *call, *(part for name in names for part in ("-o", name)))
    several = {name: Path(name).read_bytes() for name in names}
    Path("several.toml").write_text(f"output = {json.dumps(names)}")
    for name in names:
        Path(name).unlink()
    out(capsys, *call, "--config", "several.toml")
    for name in names:
        assert Path(name).exists()
        out(capsys, *call, "-o", name)
        day = rb"20\d\d-\d\d-\d\d[T ][\d:]*"  # when it was made
        assert re.sub(day, b"", Path(name).read_bytes()) == re.sub(day, b"", several[name])


def test_outputs_are_checked_before_reading(capsys: pytest.CaptureFixture[str]) -> None:
    """All of them; no file is written twice, however it is spelled."""
    call = ("evaluate", "nothing.parquet", "rr", "-o", "out.md", "-o")
    assert "there is no folder 'no'" in error(capsys, *call, "no/out.csv")
    assert "the ending is not one of" in error(capsys, *call, "out.xlsx")
    assert "--output ./out.md: it is written by --output too" in error(capsys, *call, "./out.md")


def test_an_option_with_one_value_is_given_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Of two values one would be ignored; the same one may be repeated, and a flag overrides the settings."""
    write(named(), "log.parquet")
    call = ("evaluate", "log.parquet", "rr", "--ci", "0.9")
    assert "--ci is given twice, as 0.9 and as 0.8; give it once" in error(capsys, *call, "--ci", "0.8")
    Path("wide.toml").write_text("ci = 0.5")
    assert out(capsys, *call, "--ci", "0.9", "--config", "wide.toml") == out(capsys, *call)
    assert "--saved is given twice" in error(capsys, "compare", "log.parquet", "--saved", "a.csv", "--saved", "b.csv")


def test_an_error_leaves_the_old_file(capsys: pytest.CaptureFixture[str]) -> None:
    """A file is replaced by a whole result, or stays as it was."""
    write(log(), "log.parquet")
    Path("out.csv").write_text("old")
    error(capsys, "evaluate", "log.parquet", "rr", "--query", "qid", "-o", "out.csv")
    assert Path("out.csv").read_text() == "old"
    assert sorted(path.name for path in Path().iterdir()) == ["log.parquet", "out.csv"]


# commands


def test_commands_are_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    """Each command prints what its verb returns, with the options of the verb."""
    write(named().with_columns(run=pl.col("device")), "log.parquet")
    two = pl.concat(
        [named().with_columns(run=pl.lit("a")), named().with_columns(run=pl.lit("b"), score=-pl.col("score"))]
    )
    write(two, "two.parquet")
    apart = two.with_columns(pl.concat_str("query", "run"))
    write(apart, "apart.parquet")
    irm, both = IRM(named()), IRM(two, system="run")
    expected = {
        "per-query log.parquet rr --layout wide": irm.per_query("rr", layout="wide"),
        "evaluate log.parquet rr --ci 0.9 --resamples 50 --average min --average max": irm.evaluate(
            "rr", ci=0.9, resamples=50, average=["min", "max"]
        ),
        "compare two.parquet rr --system run --baseline b --test bootstrap --seed 3": both.compare(
            "rr", baseline="b", test="bootstrap", seed=3
        ),
        "leaderboard two.parquet rr ndcg@2 --system run --doc docid --ci 0.9 --resamples 50 --seed 3": (
            both(doc="docid").leaderboard("rr", "ndcg@2", ci=0.9, resamples=50, seed=3)
        ),
        "change apart.parquet rr --arm run --test z": IRM(apart, arm="run")
        .change("rr", test="z")
        .with_columns(pl.col("split_note").str.replace("cluster=", "--cluster", literal=True)),
        "similarity two.parquet rbo --system run --doc docid --baseline b --per-query": both(doc="docid").similarity(
            "rbo", baseline="b", per_query=True
        ),
        "curve log.parquet rr@k ndcg@k --cutoffs 1 --cutoffs 3": irm.curve(["rr@k", "ndcg@k"], cutoffs=[1, 3]),
        "audit log.parquet --columns check,severity,n,share": irm.audit().select("check", "severity", "n", "share"),
    }
    for call, result in expected.items():
        assert_frame_equal(read(out(capsys, *call.split())), result, check_dtypes=False)


def test_findings_say_options_as_flags(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What an audit advises is said in the words of the shell: it said unjudged='drop'."""
    log = pl.DataFrame({"query": [1, 1], "doc": ["a", "b"], "score": [2.0, 1.0], "grade": [1, None]})
    log.write_parquet(tmp_path / "log.parquet")
    found = read(out(capsys, "audit", str(tmp_path / "log.parquet"))).filter(check="unjudged results")
    assert found["message"].to_list() == ["counted as not relevant; --unjudged drop leaves them out"]


def test_a_report_is_printed_or_written(capsys: pytest.CaptureFixture[str]) -> None:
    """The report that irm.report() writes, of the same roles and metrics; saved numbers are its baseline."""
    write(named(), "log.parquet")
    out(capsys, "per-query", "log.parquet", "rr", "-o", "saved.csv")
    flags = ["rr", "--saved", "saved.csv", "--title", "Week 1", "--queries", "1"]
    printed = json.loads(out(capsys, "report", "log.parquet", *flags, "--format", "json"))
    expected = IRM(named()).report(
        metrics="rr", baseline=pl.read_csv("saved.csv"), title="Week 1", queries=1, format="json"
    )
    assert printed.keys() == json.loads(expected).keys()
    assert printed["title"] == "Week 1"
    assert out(capsys, "report", "log.parquet", *flags, "-o", "report.md") == ""
    assert Path("report.md").read_text().startswith("# Week 1\n")
    assert "does not end in one of '.html'" in error(capsys, "report", "log.parquet", "rr", "-o", "report.xlsx")


@pytest.mark.parametrize("kind", ["md", "json", "html"])
def test_a_report_names_files_and_flags(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A report of the shell is of files, in words of the shell, and what Python writes afterwards is not."""
    judged = pl.DataFrame({"query": ["q0"], "doc": ["d0"], "grade": [1]})
    run = pl.DataFrame({"query": ["q0", "q0"], "doc": ["d0", "d1"], "score": [2.0, 1.0]})
    write(judged, "judged.csv")
    name = write(run, "a<b>*c*.csv")
    call = ["report", name, "rr", "--qrels", "judged.csv", "--format", kind]
    text, python = out(capsys, *call), IRM(run).judge(judged).report(metrics="rr", format=kind)  # type: ignore[arg-type]
    assert ("log in " in text, "LazyFrame" in text, "--unjudged drop leaves" in text) == (True, False, True)
    assert "<b>" not in text or kind == "json"
    assert "*c*" not in text.replace("\\*c\\*", "") or kind != "md"
    assert ("log in " in python, "polars.DataFrame" in python, "--unjudged" in python) == (False, True, False)


def test_systems_that_are_no_texts(capsys: pytest.CaptureFixture[str]) -> None:
    """A baseline, and an arm, is a number or a truth value where the column of systems has such."""
    write(pl.concat([named().with_columns(run=pl.lit(run), old=pl.lit(run < 0)) for run in (1, -2)]), "two.parquet")
    asked = ["compare", "two.parquet", "rr", "--system", "run"]
    got = read(out(capsys, *asked, "--baseline", "-2"))
    assert got.select("run", "baseline", "difference").rows() == [(1, -2, 0.0)]
    Path("c.toml").write_text("baseline = -2")
    assert_frame_equal(read(out(capsys, *asked, "--config", "c.toml")), got)
    assert "'\N{SUPERSCRIPT TWO}' is not among the systems of run: 1, -2" in error(capsys, *asked, "--baseline=\u00b2")
    truth = out(capsys, *asked[:-1], "old", "--baseline", "true", "--columns", "old,baseline,difference")
    assert truth == "old,baseline,difference\nfalse,true,0.0\n"
    for column, arms in (("run", ("1", "-2")), ("old", ("true", "false"))):
        shares = [f"--split={arm}=.5" for arm in arms]
        assert "\nunits split,fact,8," in out(capsys, "audit", "two.parquet", "--arm", column, *shares)
    assert "\nunits split,fact,8," in out(capsys, "audit", "two.parquet", "--arm", "run", "--split", "equal")


def test_convert(capsys: pytest.CaptureFixture[str]) -> None:
    """A frame goes from format to format and back without a change."""
    write(log(), "log.parquet")
    for name in ("a.csv", "b.jsonl", "c.tsv", "d.arrow", "e.json", "f.csv.gz", "g.parquet"):
        assert out(capsys, "convert", "log.parquet", "-o", name) == ""
        out(capsys, "convert", name, "-o", "back.parquet", "--score", "bm25")
        assert_frame_equal(pl.read_parquet("back.parquet"), log())
    assert out(capsys, "convert", "log.parquet", "--to", "csv") == log().write_csv()
    roles = ["--query", "qid", "--doc", "docid", "--score", "bm25", "--run-name", "new"]
    out(capsys, "convert", "log.parquet", "-o", "new.run", *roles)
    got = frame_metrics.read_run("new.run")
    assert got.select("query", "doc", "score").rows() == log().select("qid", "docid", "bm25").rows()
    assert got["run"].unique().to_list() == ["new"]
    out(capsys, "convert", "log.parquet", "-o", "new.qrels", "--query", "qid", "--doc", "docid", "--grade", "rating")
    assert frame_metrics.read_qrels("new.qrels")["grade"].to_list() == log()["rating"].to_list()


def test_convert_keeps_how_whole_numbers_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    """A column with a leading zero or a plus is of texts, in one file or several; others are numbers."""
    rows = pl.DataFrame({"shop": ["01", "1", "1.5"], "zip": ["+1", "1", "2"], "n": ["1", "2", "+1.5"]})
    write(rows, "log.csv")
    out(capsys, "convert", "log.csv", "-o", "c.csv")
    assert Path("c.csv").read_text() == "shop,zip,n\n01,+1,1.0\n1,1,2.0\n1.5,2,1.5\n"
    for at in range(2):
        write(rows[at : at + 1, :2], f"{at}.csv")
    assert out(capsys, "convert", "1.csv", "0.csv", "--to", "csv") == "shop,zip\n1,1\n01,+1\n"


# roles, conventions, settings


def test_every_role_and_option_of_a_verb_is_a_flag(capsys: pytest.CaptureFixture[str]) -> None:
    """Help has each role and convention that the verb does not refuse, with what the documentation says of it."""
    text, teams = (" ".join(out(capsys, verb, "--help", "--all").split()) for verb in ("evaluate", "interleaving"))
    for role in get_type_hints(frame_metrics.roles.roles.Roles):
        assert f"--{role.replace('_', '-')} " in (teams if role == "team" else text)
    assert "--team " not in text
    assert "the column, or columns, of the query id, of any type." in text
    assert "--ci VALUE level of an interval, as 0.95" in text
    assert "frame-metrics evaluate log.parquet ndcg@10 map" in text
    assert "without --label, relevant means" in text
    assert "--sort=-value sorts in descending order" in text


def test_help_is_short_until_all_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Five options, the examples, and the way to the others; all options are in words of the shell."""
    text = out(capsys, "compare", "--help")
    assert re.findall(r"^  (--[a-z-]+)", text, flags=re.MULTILINE) == [
        "--query",
        "--score",
        "--grade",
        "--system",
        "--output",
    ]
    assert "frame-metrics compare --help --all has all options" in text
    assert len(text.splitlines()) < 40
    assert "'score'" not in out(capsys, "compare", "--help", "--all")


@pytest.mark.parametrize(
    "command",
    [
        *("evaluate", "per-query", "compare", "leaderboard", "similarity", "audit", "curve", "report", "convert"),
        "trec_eval",
    ],
)
def test_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command tells its options, exit codes, and at least two calls."""
    text = out(capsys, command, "--help")
    assert text.count(f"\n  frame-metrics {command} ") + text.count(f"| frame-metrics {command} ") >= 2
    assert "exit codes: 0 success; 1 a gate failed; 2 a wrong call or bad data" in text
    assert f"  {command} " in out(capsys, "--help")


FLAGS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "several columns": (["--by", "device", "--by", "day"], {"by": ["device", "day"]}),
    "a role set aside": (["--no-doc"], {"doc": None}),
    "a grade": (["--rel", "2"], {"rel": 2}),
    "a choice": (
        ["--unjudged", "drop", "--ties", "best", "--no-doc"],
        {"unjudged": "drop", "ties": "best", "doc": None},
    ),
    "a size": (["--collection-size", "100"], {"collection_size": 100}),
    "all are listed": (["--collection-size", "true"], {"collection_size": True}),
    "two systems": (["--score", "score", "--score", "other"], {"score": ["score", "other"]}),
    "an extra column": (["--extra", "price=other"], {"extra": {"price": "other"}}),
    "a number as a word": (["--scale", "0=0", "--scale", "1=3", "--scale", "2="], {"scale": {0: 0, 1: 3, 2: None}}),
}


@pytest.mark.parametrize("case", FLAGS)
def test_flags_are_roles(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Flags say what keywords say in Python."""
    flags, roles = FLAGS[case]
    frame = named().with_columns(doc="docid", other=-pl.col("score"))
    write(frame, "log.parquet")
    assert_frame_equal(read(out(capsys, "evaluate", "log.parquet", "rr", *flags)), IRM(frame, **roles).evaluate("rr"))


def test_flags_of_classes(capsys: pytest.CaptureFixture[str]) -> None:
    """Labels are numbers where they look so, texts in quotes, and class scores are columns by class."""
    frame = pl.DataFrame({"label": ["1", "2", "1"], "predicted": ["1", "1", "1"], "cat": [0.9, 0.2, 0.8]})
    write(frame, "cases.parquet")
    got = read(out(capsys, "evaluate", "cases.parquet", "recall", "precision", "--positive", '"1"'))
    assert_frame_equal(got, IRM(frame, positive="1").evaluate("recall", "precision"), check_dtypes=False)
    classes = ["--classes", '"2"', "--classes", '"1"']
    got = read(out(capsys, "evaluate", "cases.parquet", "accuracy", *classes))
    assert_frame_equal(got, IRM(frame, classes=["2", "1"]).evaluate("accuracy"), check_dtypes=False)
    animals = pl.DataFrame({"label": ["cat", "dog", "owl"], "p": [0.9, 0.2, 0.8], "q": [0.0, 0.7, 0.1], "r": [0.1] * 3})
    write(animals, "animals.parquet")
    columns = ["--score", "cat=p", "--score", "dog=q", "--score", "owl=r"]
    got = read(out(capsys, "evaluate", "animals.parquet", "roc_auc", *columns))
    expected = IRM(animals, score={"cat": "p", "dog": "q", "owl": "r"}).evaluate("roc_auc")
    assert_frame_equal(got, expected, check_dtypes=False)


SETTINGS = """
metrics = ["rr"]
by = ["device"]
query = "qid"
rel = 2
fail-under = { rr = 0.0 }

[evaluate]
score = "bm25"
grade = "rating"
ci = 0.9
resamples = 20

[per-query]
metrics = ["dcg@3"]
score = "bm25"
grade = "rating"
"""


@pytest.mark.parametrize("place", ["settings.toml", "pyproject.toml"])
def test_settings_in_a_file(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Options stand in a file too, for all commands or one; those of flags go before them."""
    write(log(), "log.parquet")
    inner = SETTINGS.replace("[evaluate]", "[tool.frame_metrics.evaluate]")
    inner = "[tool.frame_metrics]" + inner.replace("[per-query]", "[tool.frame_metrics.per_query]")
    inner = inner.replace("tool.frame_metrics.per_query", "tool.frame_metrics.per-query")
    Path(place).write_text(SETTINGS if place == "settings.toml" else inner)
    config = ["--config", place] if place == "settings.toml" else []
    irm = IRM(log(), **NAMES, by=["device"], rel=2)
    got = read(out(capsys, "evaluate", "log.parquet", *config))
    assert_frame_equal(got, irm.evaluate("rr", ci=0.9, resamples=20))
    got = read(out(capsys, "evaluate", "log.parquet", "p@3", "--rel", "1", "--by", "day", *config, code=0))
    assert got["metric"].unique(maintain_order=True).to_list() == ["p@3", "rr"]  # which the gate reads
    assert got.columns[0] == "day"
    assert_frame_equal(read(out(capsys, "per-query", "log.parquet", *config)), irm.per_query("dcg@3"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("qurey = 'qid'", "settings.toml: there is no option 'qurey'; did you mean 'query'?"),
        ("[compare]\npaired = false", "no option 'paired'; --arm in the place of --system names the column"),
        ("[evaluate]\nfail-on = 'error'", "settings.toml, table 'evaluate': there is no option 'fail-on'"),
        ("[evalute]\nby = 'device'", "settings.toml: there is no command 'evalute'; did you mean 'evaluate'?"),
        ("ties = 'none'", "settings.toml: --ties none is not one of 'doc', 'worst', 'best', 'order', 'expected'"),
        ("margins = 1", "margins = 1 is not true or false"),
        ("grade = ['score', 'grade']", "settings.toml: grade = ['score', 'grade'] is not one value"),
        ("sort = [1]", "settings.toml: sort = [1] is not a text, or a list of texts"),
        ("columns = 5", "settings.toml: columns = 5 is not a text, or a list of texts"),
        ("query = ", "settings.toml: Invalid value"),
        ("fail_under = { rr = 'x' }", "{'rr': 'x'} is not a metric and its limit"),
        ("by = []", "--by [] is not the name of a column, or a list of names"),
        ("by = 3.5", "--by 3.5 is not the name of a column, or a list of names"),
    ],
)
def test_errors_in_settings(text: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What a file says wrong is an error that names the file, and the nearest option."""
    write(named(), "log.parquet")
    Path("settings.toml").write_text(text)
    assert told in error(capsys, "evaluate", "log.parquet", "rr", "--config", "settings.toml")


@pytest.mark.slow
def test_flags_take_back_what_settings_say(capsys: pytest.CaptureFixture[str]) -> None:
    """--no- before the name of any role, or convention, leaves it as if it was never said."""
    write(named(), "log.parquet")
    Path("settings.toml").write_text("by = 'device'\nsystem = 'day'\nrel = 2\nextra = { price = 'score' }\ndoc = false")
    call = ["evaluate", "log.parquet", "rr", "--config", "settings.toml"]
    assert_frame_equal(
        read(out(capsys, *call, "--no-system", "--no-extra", "--no-rel")),
        IRM(named(), by="device").evaluate("rr"),
    )
    got = read(out(capsys, *call, *(f"--no-{name}" for name in ("by", "system", "rel", "extra"))))
    assert_frame_equal(got, IRM(named()).evaluate("rr"))
    for role in get_type_hints(frame_metrics.roles.roles.Roles):
        if role not in ("query", "score", "grade"):
            assert_frame_equal(read(out(capsys, *call[:3], f"--no-{role.replace('_', '-')}")), got)


def test_false_takes_back_what_settings_say(capsys: pytest.CaptureFixture[str]) -> None:
    """Any role or convention that is false for a command is as if it was never said; positive= may be false."""
    write(named(), "log.parquet")
    kept = ("query", "score", "grade", "positive")
    lines = [f"{role} = false" for role in get_type_hints(frame_metrics.roles.roles.Roles) if role not in kept]
    lines = ["by = 'device'", "system = 'day'", "rel = 2", "extra = { price = 'score' }", "[evaluate]", *lines]
    Path("settings.toml").write_text("\n".join(lines))
    got = read(out(capsys, "evaluate", "log.parquet", "rr", "--config", "settings.toml"))
    assert_frame_equal(got, IRM(named()).evaluate("rr"))
    cases = pl.DataFrame({"label": [True, False, False], "predicted": [True, False, True]})
    write(cases, "cases.parquet")
    Path("settings.toml").write_text("positive = false")
    got = read(out(capsys, "evaluate", "cases.parquet", "recall", "--config", "settings.toml"))
    assert_frame_equal(got, IRM(cases, positive=False).evaluate("recall"))


def test_settings_have_the_input_too(capsys: pytest.CaptureFixture[str]) -> None:
    """An input of the settings leaves all arguments to metrics, but for names of files."""
    write(named(), "log.parquet")
    write(named().with_columns(score=-pl.col("score")), "other.parquet")
    Path("settings.toml").write_text("input = 'log.parquet'\nquery = 'query'\ndoc = false")
    config = ["--config", "settings.toml"]
    assert_frame_equal(read(out(capsys, "evaluate", "rr", *config)), IRM(named()).evaluate("rr"))
    got = read(out(capsys, "evaluate", "other.parquet", "rr", *config))
    assert_frame_equal(got, IRM(pl.read_parquet("other.parquet")).evaluate("rr"))


# errors


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["evalute"], "there is no command 'evalute'; did you mean 'evaluate'?"),
        (["evaluate"], "no input is named: frame-metrics evaluate log.parquet, or - for standard input"),
        (["evaluate", "log.parquet"], "no metric was asked for; name one behind the input, as ndcg@10"),
        (["evaluate", "none.parquet", "rr"], "none.parquet: there is no such file"),
        (["evaluate", "no*.parquet", "rr"], "no*.parquet: there is no such file"),
        (["evaluate", "log.parquet", "ndgc@10"], "there is no metric 'ndgc'; did you mean 'ndcg'?"),
        (["evaluate", "log.parquet", "rr", "--query", "qidd"], "--query qidd: there is no such column among"),
        (["evaluate", "blanks.csv", "rr"], "'label'; did you mean 'query ', including the spaces?"),
        (
            ["evaluate", "dashes.csv", "rr", "--system=--arm"],
            "pass --no-system --arm=--arm to measure each over its own queries",
        ),
        (
            ["compare", "two.parquet", "rr", "--no-paired"],
            "there is no option --no-paired; --arm in the place of --system",
        ),
        (["report", "log.parquet", "--paired"], "there is no option --paired; --arm in the place of --system"),
        (["evaluate", "log.parquet", "rr", "--nothing"], "there is no option --nothing\n  | without --nothing:\n"),
        (["evaluate", "none.parquet", "rr", "--nothing"], "there is no option --nothing; --help has the options"),
        (
            ["evaluate", "log.parquet", "rr", "--qury", "qid"],
            "evaluate: there is no option --qury; did you mean --query?",
        ),
        (["evaluate", "log.parquet", "--qury=qid"], "evaluate: there is no option --qury; did you mean --query?"),
        (
            ["evaluate", "log.parquet", "rr", "--split", "a"],
            "no option --split; it is an option of ab-test, audit, sample-size, summary, report",
        ),
        (["evaluate", "log.parquet", "rr", "--ties", "none"], "argument --ties: invalid choice: 'none'"),
        (["evaluate", "log.parquet", "rr", "--ci", "2"], "--ci 2 is not a level between 0 and 1, as 0.95"),
        (
            ["evaluate", "log.parquet", "rr", "--annotator", "who"],
            "--annotator is about judgments in a separate file",
        ),
        (["evaluate", "log.parquet", "rr", "--fail-under", "rr"], "--fail-under: 'rr' is no limit of a metric"),
        (["evaluate", "log.parquet", "rr", "--fail-under", "rr=x"], "--fail-under: 'x' is not a number"),
        (["evaluate", "log.parquet", "rr", "--layout", "wide", "--fail-under", "rr=1"], "leave out --layout wide"),
        (
            ["evaluate", "log.parquet", "rr", "--fail-under", "rr=.5", "--fail-under", "rr=.9"],
            "--fail-under: 'rr' is given twice, with .5 and with .9; pass it once",
        ),
        (
            ["evaluate", "log.parquet", "rr", "--scale", "3=3", "--scale", "3.0=0"],
            "--scale: '3.0' is given twice, with 3 and with 0; pass it once",
        ),
        (
            ["evaluate", "log.parquet", "rr", "--scale", "true=1", "--scale", "1=0"],
            "--scale: '1' is given twice, with 1 and with 0; pass it once",
        ),
        (
            ["evaluate", "log.parquet", "auc", "--score", "2=p2", "--score", "2.0=px"],
            "--score: '2.0' is given twice, with p2 and with px; pass it once",
        ),
        (["evaluate", "log.parquet", "rr", "--query", "the query"], "--query 'the query': there is no such column"),
        (
            ["evaluate", "log.parquet", "rr", "--junit", "a.xml"],
            "--junit writes the results of gates, and there is none",
        ),
        (["evaluate", "log.parquet", "rr", "--alpha", "0.1"], "--alpha is the level of --fail-if-worse-than"),
        (["evaluate", "log.parquet", "rr", "--config", "no.toml"], "--config: there is no file 'no.toml'"),
        (
            ["evaluate", "log.parquet", "rr", "--system", "--score"],
            "--system needs a value; one that begins with a dash",
        ),
        (["compare", "log.parquet", "rr", "--baseline", "--new"], "a dash is written --baseline=-x;"),
        (["evaluate", "-", "per_class"], "frame-metrics: there is no metric 'per_class';"),
        (["evaluate", "none.parquet", "ndcgg"], "there is no metric 'ndcgg'; did you mean 'ndcg'?"),
        (["report", "none.parquet", "ndcgg"], "there is no metric 'ndcgg'; did you mean 'ndcg'?"),
        (["report", "log.parquet", "-o", "log.xlsx"], "-o log.xlsx does not end in one of '.html'"),
        (["evaluate", "notes.txt", "rr"], "notes.txt: the name does not say the format; pass --from, one of"),
        (
            ["compare", "log.parquet", "rr", "--saved", "notes.txt"],
            "notes.txt: the name does not say the format; give it",
        ),
        (["evaluate", "broken.parquet", "rr"], "broken.parquet: it is no whole file of parquet"),
        (
            ["evaluate", "log.parquet", "rr", "--from", "csv"],
            "log.parquet: it is a file of parquet, and cannot be read as",
        ),
        (["evaluate", "log.parquet", "rr", "--from", "run"], "cannot be read as run; pass --from parquet"),
        (["evaluate", "log.parquet", "rr", "--from", "arrow"], "cannot be read as arrow; pass --from parquet"),
        (["evaluate", "words.csv", "rr", "--from", "parquet"], "words.csv: it is no whole file of parquet"),
        (["evaluate", "words.csv", "rr", "--from", "arrow"], "words.csv: it is no file of arrow"),
        (["evaluate", "wide.csv", "rr"], "wide.csv: it is not text in UTF-8"),
        (["evaluate", "broken.csv.gz", "rr"], "broken.csv.gz: what gzip packed cannot be read"),
        (["evaluate", "broken.txt", "rr"], "broken.txt: what gzip packed cannot be read"),
        (["evaluate", "words.csv", "rr"], "words.csv, line 2: score has 'high', which is no number"),
        (["evaluate", "empty.csv", "rr"], "empty.csv: the file is empty"),
        (["evaluate", "empty", "rr"], "empty: there is no file in a format that is read"),
        (["evaluate", "-", "rr", "--qrels", "-"], "- is standard input, which holds one frame"),
        (["curve", "log.parquet"], "no curve is named; name one, as pr, roc"),
        (["trec_eval", "none.qrels", "none.run"], "none.qrels: there is no such file"),
        (["evaluate", "bm25.run", "rr"], "judgments in a separate file are named with --qrels"),
        (["convert", "log.parquet", "-o", "log.xlsx"], "'.run', '.trec', '.qrels', '.qrel'; name one, or pass --to"),
        (["convert", "log.parquet", "-o", "packed.parquet.gz"], "parquet is not packed by gzip; leave out .gz"),
        (["audit", "log.parquet", "rr"], "audit takes no metrics; leave out 'rr', or ask evaluate for them"),
        (["evaluate", "corrupt.csv.gz", "rr"], "corrupt.csv.gz: what gzip packed cannot be read"),
        (["evaluate", "log.parquet", "rr", "--ci=-1"], "frame-metrics: --ci -1 is not a level between 0 and 1"),
        (
            ["report", "log.parquet", "rr", "--covariate", "score"],
            "requires arms with queries of their own; name their column with --arm",
        ),
        (
            ["evaluate", "log.parquet", "rr", "--qrels", "log.parquet", "--all-relevant", "--grade", "score"],
            "frame-metrics: --all-relevant says that every row is relevant, so --grade has no use; pass one of them",
        ),
        (["convert", "log.parquet", "-o", "a.run", "--doc", "docid"], "'run'; pass --run-name with the name of the"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_wrong_calls(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong call, or bad data, ends with 2, says why on standard error, and prints nothing else."""
    write(named(), "log.parquet")
    Path("notes.txt").write_text("some notes")
    Path("broken.parquet").write_text("no parquet")
    for name in ("broken.csv.gz", "broken.txt"):
        Path(name).write_bytes(gzip.compress(b"query,score,grade\na,1,1")[:-12])
    Path("words.csv").write_text("query,score,grade\na,high,1\n")
    Path("empty.csv").touch()
    Path("wide.csv").write_text("query,score,grade\na,1,1\n", encoding="utf-16")
    Path("blanks.csv").write_text("query , score,label\na,1,1\n")
    Path("dashes.csv").write_text("query,score,label,--arm\na,1,1,x\nb,1,1,y\n")
    Path("bm25.run").write_text("q1 Q0 d1 1 2.5 bm25\n")
    Path("empty").mkdir()
    packed = gzip.compress(b"query,score,grade\n")
    Path("corrupt.csv.gz").write_bytes(packed[:10] + b"\xff" + packed[11:])  # a block of a kind that there is not
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("frame-metrics: ")
    assert told in printed.err


def test_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Without arguments the help goes to standard error, and the call is wrong."""
    assert "per-query       compute metrics for every query" in error(capsys)


def test_a_fault_of_the_program_is_no_failed_gate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect ends with another code than a gate, and with its traceback."""
    write(named(), "log.parquet")
    monkeypatch.setattr(IRM, "evaluate", lambda *_, **__: 1 // 0)
    assert main(["evaluate", "log.parquet", "rr"]) == 3
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_an_interrupt(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C ends with 130, and without a word."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    write(named(), "log.parquet")
    monkeypatch.setattr(IRM, "evaluate", interrupted)
    assert error(capsys, "evaluate", "log.parquet", "rr", code=130) == ""


def test_a_signal_to_terminate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It ends with 143, without a word and without half-written files; then the signal is the caller's again."""
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        monkeypatch.setattr(os, "replace", lambda *_: signal.raise_signal(signal.SIGTERM))
        asked = ["convert", write(named(), "log.parquet"), "-o", "log.csv"]
        assert error(capsys, *asked, code=143) == ""
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert [path.name for path in Path().iterdir()] == ["log.parquet"]
    assert came == [signal.SIGTERM]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert out(capsys, "--version").strip() == f"frame-metrics {frame_metrics.__version__}"


def test_completion_needs_a_library(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without shtab the error says how to install it."""
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert "pip install shtab" in error(capsys, "--completion", "bash")


def test_columns_order_and_digits(capsys: pytest.CaptureFixture[str]) -> None:
    """--columns, --sort, --digits and --no-header say what is printed of a result, in CSV and in tables."""
    asked = ["evaluate", write(log(), "log.parquet"), "rr", "dcg", *ROLES]
    text = out(capsys, *asked, "--columns", "value,metric", "--sort=-value", "--digits", "2", "--no-header")
    rows = [line.split(",") for line in text.splitlines()]
    assert [name for _, name in rows] == ["dcg", "rr"]
    assert rows[0][0] > rows[1][0]
    assert all(len(value) <= 4 for value, _ in rows)
    table = out(capsys, *asked, "--columns", "metric", "--sort", "metric", "--to", "table", "--no-header")
    assert table.split() == ["dcg", "rr"]
    both = (["--columns", "vlue"], ["--sort", "vlue"])
    for flags in both:
        assert main([*asked, *flags]) == 2
        assert f"{flags[0]} vlue: there is no such column among" in capsys.readouterr().err
    assert main([*asked, "--no-header", "--to", "json"]) == 2
    assert main([*asked, "--digits", "0"]) == 2


def test_a_comparison_fits_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A table of a comparison has 80 letters in a line, p-values that can be read, and says what it leaves out."""
    rows = [(s, q, d, d + (s == "b") * (4 - d) * 2, d % 3) for s in "ab" for q in range(20) for d in range(4)]
    frame = pl.DataFrame(rows, ["system", "query", "doc", "score", "grade"], orient="row")
    frame.with_columns(pl.col("doc").cast(pl.String)).write_parquet("runs.parquet")
    assert main(["compare", "runs.parquet", "ndcg@10", "--system", "system", "--to", "table"]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "<0.001" in printed
    assert {"difference", "ci_low", "ci_high", "p_adjusted"} <= {*printed.split()}
    *_, above, note = printed.split("left out")  # below the table
    assert above
    assert " ".join(note.split()).endswith("--to csv has all")
    text = out(capsys, "compare", "runs.parquet", "ndcg@10", "--system", "system", "--to", "table", "--columns", "mde")
    assert text.split()[0] == "mde"


def test_names_that_begin_with_a_dash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They stand behind --, as elsewhere; without it the error says how the file is written."""
    monkeypatch.chdir(tmp_path)
    Path("-x.csv").write_text("query,score,grade\na,1,1\n")
    assert main(["evaluate", "--digits", "2", "--", "-x.csv", "rr"]) == 0
    assert "rr,,macro,1.0" in capsys.readouterr().out
    assert "there is no option -x.csv; the file is written ./-x.csv" in error(capsys, "evaluate", "-x.csv", "rr")


def test_what_is_missing_is_named_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A metric is no input, and a grade that the judgments lack is none of the log."""
    monkeypatch.chdir(tmp_path)
    Path("run.csv").write_text("query,doc,score\na,x,1\n")
    Path("qrels.csv").write_text("query,doc,level\na,x,1\n")
    assert error(capsys, "evaluate", "rr") == (
        "frame-metrics: rr: there is no such file; it is a metric: name the input before it, or - for what is piped\n"
    )
    assert error(capsys, "evaluate", "run.csv", "rr", "--qrels", "qrels.csv") == (
        "frame-metrics: --qrels: the label or grade is missing; name its column with --label or --grade, one of "
        "'query', 'doc', 'level'\n    frame-metrics evaluate run.csv rr --qrels qrels.csv --label level\n"
    )
    assert main(["evaluate", "run.csv", "rr", "--qrels", "qrels.csv", "--grade", "level"]) == 0


def test_systems_in_one_list_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A column that is called as systems are, and has several in a query, is named, or set aside, by an option."""
    rows = {"qid": ["1"] * 4, "bm25": [4.0, 3, 2, 1], "rating": [0, 1, 1, 0], "model": ["a", "b", "a", "b"]}
    call = ["evaluate", write(pl.DataFrame(rows), "mixed.csv"), "rr", *ROLES]
    assert error(capsys, *call) == (
        "frame-metrics: 'model' is a column of several systems, as 'a' and 'b', in 1 of 1 queries; pass --system model "
        "to measure each, or --no-system if the rows of a query are one list\n"
        "    frame-metrics evaluate mixed.csv rr --query qid --score bm25 --grade rating --system model\n"
    )
    assert read(out(capsys, *call, "--no-system"))["value"].to_list() == [0.5]
    assert read(out(capsys, *call, "--system", "model"))["value"].to_list() == [0.5, 1.0]
    assert read(out(capsys, *call, "--by", "model"))["value"].to_list() == [0.5, 1.0]
    hidden = write(pl.DataFrame(rows | {"run": "r"}), "hidden.csv")
    assert "'model' is a column of several systems, as 'a' and 'b', in 1 of 1" in error(
        capsys, call[0], hidden, *call[2:]
    )
    for model, scores in ((["a", None, "a", None], [4.0, 3, 2, 1]), (["a", "a", "a", "qrels"], [4.0, 3, 2, None])):
        one = pl.DataFrame(rows | {"model": model, "bm25": scores})
        assert read(out(capsys, "evaluate", write(one, "one.csv"), "rr", *ROLES))["value"].to_list() == [0.5]
    one = pl.DataFrame(rows | {"model": ["a"] * 4})
    assert read(out(capsys, "evaluate", write(one, "one.csv"), "rr", *ROLES))["value"].to_list() == [0.5]


def test_files_with_the_same_documents_are_not_one_frame_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    """Of rows without a query; parts of a log have documents of their own, or days; ids may be texts in one file."""
    rows = pl.DataFrame({"doc": ["1", "2"], "score": [0.75, 0.25], "label": [1, 0], "day": "mo"})
    later = rows.with_columns(doc=pl.Series(["1", "x"]), score=1 - pl.col("score"))
    old, new = write(rows, "old.csv"), write(later, "new.csv")
    call = ["evaluate", old, new, "roc_auc", "--doc", "doc"]
    for told in (error(capsys, *call), error(capsys, "summary", *call[1:])):
        assert told.startswith(
            "frame-metrics: doc: 1 of 3 documents are in several files, as '1', and one number would be of the rows of "
            "all; pass --system file to measure each file, or --no-system if one number is meant\n    frame-metrics "
        )
        assert told.endswith("old.csv new.csv roc_auc --doc doc --system file\n")
    assert read(out(capsys, *call, "--system", "file"))["value"].to_list() == [0, 1]
    assert read(out(capsys, *call, "--arm", "file"))["value"].to_list() == [0, 1]
    assert read(out(capsys, *call, "--no-system"))["value"].to_list() == [0.5]
    assert "documents that have several rows,warning,1," in out(capsys, "audit", *call[1:3], "--doc", "doc")
    write(later.with_columns(doc=pl.Series(["3", "4"])), "new.csv")
    assert called(capsys, *call)[0] == 0
    write(later.with_columns(day=pl.lit("tu")), "new.csv")
    assert read(out(capsys, *call, "--by", "day", "--no-system"))["value"].to_list() == [1, 0]


def test_columns_of_which_several_may_be_meant_are_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    """The error has the flags that take all."""
    rows = {"query": ["1", "1"], "score": [2.0, 1], "rank": [1, 2], "label": [1, 0], "grade": [2, 0], "run": ["a", "b"]}
    call = ["evaluate", write(pl.DataFrame(rows), "both.csv"), "rr"]
    flags = "--score score --rank rank --label label --grade grade"
    told = error(capsys, *call)
    assert f"both 'score' and 'rank' are columns, and both 'label' and 'grade'; pass {flags} to use all (" in told
    assert "or name one of each; add --system run if that column names the systems\n" in told
    assert told.endswith(f"frame-metrics evaluate both.csv rr {flags} --system run\n")
    assert read(out(capsys, *call, *flags.split(), "--system", "run"))["value"].to_list() == [1.0, 0.0]
