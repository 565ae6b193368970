"""What GitHub and pre-commit run is what .ci/run runs, with actions that cannot change."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from helpers import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
RELEASE = WORKFLOW.with_name("release.yml")
ACTION = ROOT / ".github" / "actions" / "measure" / "action.yml"
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = WHOLE["project"], WHOLE["dependency-groups"]


def test_the_workflow_runs_what_the_project_promises() -> None:
    """Tests run on each Python of the classifiers, as the README says, and .ci/run runs whole."""
    text = WORKFLOW.read_text(encoding="utf-8")
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    for path in (WORKFLOW, RELEASE):
        (listed,) = re.findall(r"^ +python: \[(.*)\]$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert re.findall(r"3\.\d+", listed) == promised
    commands = re.findall(r"^ +- run: (.*)$", text, flags=re.MULTILINE)
    assert {'python -m pip install ".[test]"', "python -m pytest ${{ matrix.folders }}", ".ci/run"} <= set(commands)
    assert f'NEWEST_PYTHON: "{promised[-1]}"' in text
    assert {"ubuntu", "windows", "macos"} <= set(re.findall(r"os: \[?(\w+)-latest", text))


def test_every_night_the_newest_of_everything_is_tested() -> None:
    """Also releases of others that are not final, every combination of cases, and other examples of properties."""
    (nightly,) = re.findall(
        r"^  nightly:\n((?:    .*\n|\n)+)", WORKFLOW.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert "pip install --pre" in nightly
    assert 'pytest -m "" --full-product' in nightly
    assert "HYPOTHESIS_PROFILE: search" in nightly


def test_no_job_hangs_for_hours() -> None:
    """Each job that runs steps has a limit of its own."""
    for path in (WORKFLOW, RELEASE):
        text = path.read_text(encoding="utf-8")
        assert text.count("timeout-minutes: ") == text.count("runs-on: ")


def test_actions_are_pinned_by_commit() -> None:
    """Each action has a commit, and its version beside it; one action has one commit."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (WORKFLOW, RELEASE, ACTION))
    used = [one for one in re.findall(r"uses: (.*)$", text, flags=re.MULTILINE) if not one.startswith("./")]
    pinned = [re.fullmatch(r"([\w/-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+", one) for one in used]
    assert used
    assert all(pinned)
    commits = {(found[1], found[2]) for found in pinned if found}
    assert len(commits) == len({name for name, _ in commits})
    renewed = (ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8")
    assert re.findall("package-ecosystem: (.*)", renewed) == ["github-actions", "pip"]


def test_only_what_was_tested_is_published() -> None:
    """A tag alone starts the release; it waits for all tests and the wheel alone; only publishing gets an identity."""
    text = RELEASE.read_text(encoding="utf-8")
    assert re.search(r'^on:\n  push:\n    tags: \["v\*"\]\n\n', text, flags=re.MULTILINE)
    jobs = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", text.partition("jobs:\n")[2], flags=re.MULTILINE))
    assert list(jobs) == ["tests", "build", "alone", "publish"]
    assert "uses: ./.github/workflows/ci.yml" in jobs["tests"]
    assert "needs: build" in jobs["alone"]
    assert "needs: [tests, alone]" in jobs["publish"]
    assert ["id-token: write" in job for job in jobs.values()] == [False, False, False, True]


def test_built_files_are_checked_as_the_action_that_publishes_checks_them() -> None:
    """Its version of twine is pinned, and checks the files in the release and in .ci/run."""
    (publishing,) = re.findall(r"gh-action-pypi-publish@\w+ # (.*)$", RELEASE.read_text(encoding="utf-8"), re.MULTILINE)
    twine = [one for one in GROUPS["release"] if one.startswith("twine==")]
    assert (publishing, twine) == ("v1.14.2", ["twine==7.0.0"])  # the two change together
    for path in (RELEASE, ROOT / ".ci" / "run"):
        text = path.read_text(encoding="utf-8")
        assert "--group release" in text
        assert "twine" in text
        assert "check --strict" in text


@pytest.mark.slow
def test_the_action_runs_what_it_is_given(tmp_path: Path) -> None:
    """Its arguments are split as a shell splits them, and no shell reads them; the exit code is that of the command."""
    log = tmp_path / "a log.csv"
    log.write_text("query,score,grade\nq1,1,1\nq1,2,0\n", encoding="utf-8")
    (code,) = re.findall(r"-c '\n(.*?)'\n", ACTION.read_text(encoding="utf-8"), flags=re.DOTALL)
    for arguments, expected in ((f"evaluate '{log}' rr", 0), (f"evaluate '{log}' rr '$(touch x)'", 2)):
        environment = os.environ | {"ARGUMENTS": arguments}
        ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=environment, cwd=tmp_path, check=False)
        assert ran.returncode == expected
    assert [one.name for one in tmp_path.iterdir()] == [log.name]


def test_a_version_of_ruff_is_pinned_before_commits() -> None:
    """The hooks have one fixed version."""
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert len(re.findall(r"ruff==\d+\.\d+\.\d+", text)) == 1


@pytest.mark.parametrize("form", ["wrong_number", "wish"])
def test_forms_of_issues_ask_for_something(form: str) -> None:
    """A form has a name, and something that has to be filled in."""
    text = (ROOT / ".github" / "ISSUE_TEMPLATE" / f"{form}.yml").read_text(encoding="utf-8")
    assert text.startswith("name: ")
    assert "required: true" in text
