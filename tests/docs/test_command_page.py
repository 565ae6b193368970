"""The page on the command line: its files are written, its commands run, and they print what stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import frame_metrics
from frame_metrics.command import main
from frame_metrics.command.commands import COMMANDS
from helpers import ROOT

PAGE = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
HEAD = "qid,docid,bm25,rating,device"  # of the log of the weekly recipe
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def parts(console: str) -> list[tuple[str, str]]:
    """Each command of a block, and what follows it."""
    _, *split = re.split(r"^\$ (.*)\n", console.replace("\\\n> ", ""), flags=re.MULTILINE)
    return list(zip(split[::2], split[1::2], strict=True))


def test_its_commands_print_what_stands_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The blocks run one after the other, in one folder; a long message stands in several lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    code, ran = 0, 0
    for kind, name, text in BLOCK.findall(PAGE):
        if name:
            Path(name).write_text(text, encoding="utf-8")
        for command, expected in parts(text) if kind == "console" else ():
            if command == "echo $?":
                assert f"{code}\n" == expected
                continue
            program, *arguments = shlex.split(command)
            assert program == "frame-metrics"
            code = main(arguments)
            printed = capsys.readouterr()
            assert (printed.out + printed.err).split() == expected.split(), command
            ran += 1
    assert ran >= 7


@pytest.mark.slow
def test_the_commands_of_the_readme_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each prints a result, or writes its page; a gate may fail."""
    monkeypatch.chdir(tmp_path)
    at, query, doc = pl.col("at"), pl.col("at") // 6, pl.col("at") % 6
    rows = pl.DataFrame({"at": range(360)}).with_columns(
        query=query, doc=doc, device=query % 2, clicked=doc == 3, rating=doc // 2, bm25=at % 7
    )
    rows.select("device", "bm25", "rating", qid="query").write_parquet("log.parquet")
    frame_metrics.write_qrels(rows.select("query", "doc", grade="rating"), "qrels.txt")
    for i, (run, decisions) in enumerate((("old.run", "v1.csv"), ("new.run", "v2.csv"))):
        frame_metrics.write_run(rows.select("query", "doc", score=(at + i) % 7), run, run=run)
        rows.select(ticket="at", truth=doc % 3, guess=(doc + (at % 9 <= i)) % 3).cast(pl.String).write_csv(decisions)
    for i, clicks in enumerate(("clicks.csv", "may.csv", "june.csv")):
        day = pl.date(2026, 6, 1) + pl.duration(days=query % 30)
        rows.select("device", "clicked", search=query + 60 * i, position=doc + 1, day=day).write_csv(clicks)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for line in text.replace("\\\n", "").splitlines() if line.startswith("frame-metrics ")]
    assert len(lines) == 7
    for line in lines:
        code = main(shlex.split(line)[1:])
        printed = capsys.readouterr()
        assert code in (0, 1), printed.err
        assert printed.out or "report.html" in printed.err


@pytest.mark.slow
def test_the_weekly_job_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script of the recipe runs as it stands: a worse week goes on to the page, and an error stops it."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "recipes" / "weekly_report.md").read_text(encoding="utf-8")
    for _, name, text in BLOCK.findall(page):
        if name:
            Path(name).write_text(text, encoding="utf-8")
    rows = [f"q{i // 3},{i},{i % 5},{i % 7 % 3},{'web' if i // 3 % 2 else 'phone'}" for i in range(60)]
    Path("week.csv").write_text("\n".join([HEAD, *rows]), encoding="utf-8")
    program = f'#!/bin/sh\nexec "{sys.executable}" -m frame_metrics "$@"\n'
    (tmp_path / "frame-metrics").write_text(program, encoding="utf-8")
    (tmp_path / "frame-metrics").chmod(0o755)
    paths = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}

    def job(script: str) -> tuple[int, str]:
        done = subprocess.run(["sh", "-c", script], env={**os.environ, **paths}, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    whole = Path("weekly.sh").read_text(encoding="utf-8")
    assert job(whole.splitlines()[-1])[0] == 0
    code, said = job(whole)
    assert code == 0
    of_log = "frame-metrics: ndcg@10 may be too high, as only the rows of the log are judged"
    others = [line for line in said.splitlines() if not line.startswith(of_log)]
    assert {line[: line.index(": ", 15)] for line in others} == {"frame-metrics: gate passed"}
    assert len(others) < len(said.splitlines())
    assert {"audit.csv", "means.csv", "report.html", "saved.parquet"} <= {one.name for one in tmp_path.iterdir()}
    best = [f"q{i // 3},{i},{9 - i % 3},{2 - i % 3},{'web' if i // 3 % 2 else 'phone'}" for i in range(60)]
    worst = [f"q{i // 3},{i},{i % 3},{2 - i % 3},{'web' if i // 3 % 2 else 'phone'}" for i in range(60)]
    Path("week.csv").write_text("\n".join([HEAD, *best]), encoding="utf-8")
    assert job(whole.splitlines()[-1])[0] == 0
    Path("week.csv").write_text("\n".join([HEAD, *worst]), encoding="utf-8")
    code, said = job(whole)
    assert code == 0
    assert "worse than last week" in said
    Path("saved.parquet").write_bytes(b"broken")  # no worse week, but an error
    Path("report.html").unlink()
    code, said = job(whole)
    assert code == 2
    assert "worse than last week" not in said
    assert not Path("report.html").exists()


def test_it_names_every_command() -> None:
    """The table has a row for each command."""
    assert re.findall(r"^\| `([\w-]+)` \| ", PAGE.partition("##")[0], flags=re.MULTILINE) == [*COMMANDS]
