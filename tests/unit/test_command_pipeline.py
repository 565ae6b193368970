"""The command line as it is installed: a job in a shell, completion, the start."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import frame_metrics
from helpers import ROOT

HERE = Path(__file__).parent


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """Variables of a shell that finds this Python, and frame-metrics as it is installed, or as pip would write it."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    installed = Path(sys.executable).with_name("frame-metrics")
    if not installed.exists():
        module, _, function = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"][
            "frame-metrics"
        ].partition(":")
        code = f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"
        (scripts / "frame-metrics").write_text(code)
        (scripts / "frame-metrics").chmod(0o755)
    package = str(Path(frame_metrics.__file__).parents[1])
    path = f"{scripts}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": package, "GITHUB_ACTIONS": ""}


def test_it_is_an_entry_point() -> None:
    """An installed package has the program; what it calls is there."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert named == {"frame-metrics": "frame_metrics.command:main"}
    for point in entry_points(group="console_scripts", name="frame-metrics"):
        assert point.value == named["frame-metrics"]


@pytest.mark.slow
def test_a_job_in_a_shell(tmp_path: Path, shell: dict[str, str]) -> None:
    """The script says what it did step by step, and at the end that all was fine."""
    work = tmp_path / "work"
    work.mkdir()
    command = ["bash", str(HERE / "command_pipeline.sh")]
    done = subprocess.run(command, cwd=work, env=shell, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "fine"), done.stdout + done.stderr


@pytest.mark.slow
def test_python_m(tmp_path: Path, shell: dict[str, str]) -> None:
    """``python -m frame_metrics`` is the same program."""
    command = [sys.executable, "-m", "frame_metrics", "evalute"]
    done = subprocess.run(command, cwd=tmp_path, env=shell, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (
        2,
        "frame-metrics: there is no command 'evalute'; did you mean 'evaluate'?\n",
    )


@pytest.mark.slow
def test_what_only_some_commands_need_is_imported_by_them() -> None:
    """A command that begins imports no other verb, and no library that it may do without."""
    code = """
import sys, frame_metrics
before = set(sys.modules)
from frame_metrics.command import main
main(["evaluate", "--help"])
new = {name.partition(".")[0] for name in set(sys.modules) - before} | {n for n in sys.modules if "verbs.audit" in n}
sys.exit(sorted(new & {"shtab", "pandas", "pyarrow", "scipy", "altair", "jinja2", "frame_metrics.verbs.audit.audit"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.stderr.strip() in ("", "[]"), done.stderr


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "tcsh"])
def test_completion(shell_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The script of a shell knows commands and flags."""
    from frame_metrics.command import main

    assert main(["--completion", shell_name]) == 0
    script = capsys.readouterr().out
    assert "per-query" in script
    assert "fail-under" in script
