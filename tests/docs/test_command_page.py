"""The page on the command line: its files are written, its commands run, and they print what stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from frame_metrics.command import main
from frame_metrics.command.commands import COMMANDS
from helpers import ROOT

PAGE = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def parts(console: str) -> list[tuple[str, str]]:
    """Each command of a block, and what follows it."""
    _, *split = re.split(r"^\$ (.*)\n", console, flags=re.MULTILINE)
    return list(zip(split[::2], split[1::2], strict=True))


def test_its_commands_print_what_stands_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The blocks run one after the other, in one folder."""
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
            assert printed.out + printed.err == expected, command
            ran += 1
    assert ran >= 7


@pytest.mark.slow
def test_the_weekly_job_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of the recipe run as they stand: the last one in the first week, all in the next."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "recipes" / "weekly_report.md").read_text(encoding="utf-8")
    for _, name, text in BLOCK.findall(page):
        if name:
            Path(name).write_text(text, encoding="utf-8")
    rows = [f"q{i // 3},{i},{i % 5},{i % 7 % 3},{'web' if i // 3 % 2 else 'phone'}" for i in range(60)]
    Path("week.csv").write_text("\n".join(["qid,docid,bm25,rating,device", *rows]), encoding="utf-8")
    lines = [one.partition(" || ")[0] for one in Path("weekly.sh").read_text(encoding="utf-8").splitlines()[1:]]
    for line in [lines[-1], *lines]:
        program, *arguments = shlex.split(line)
        assert (program, main(arguments)) == ("frame-metrics", 0), line
    assert {"audit.csv", "means.csv", "report.html", "saved.parquet"} <= {one.name for one in tmp_path.iterdir()}


def test_it_names_every_command() -> None:
    """The table has a row for each command."""
    assert re.findall(r"^\| `([\w-]+)` \| ", PAGE.partition("##")[0], flags=re.MULTILINE) == [*COMMANDS]
