"""What GitHub and pre-commit run is what .ci/run runs, with actions that cannot change."""

from __future__ import annotations

import re
import tomllib

import pytest

from helpers import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_workflow_runs_what_the_project_promises() -> None:
    """Tests run on each Python of the classifiers, as the README says, and .ci/run runs whole."""
    text = WORKFLOW.read_text(encoding="utf-8")
    (listed,) = re.findall(r"^ +python: \[(.*)\]$", text, flags=re.MULTILINE)
    assert re.findall(r"3\.\d+", listed) == re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    commands = re.findall(r"^ +- run: (.*)$", text, flags=re.MULTILINE)
    assert {'python -m pip install ".[test]"', "python -m pytest", ".ci/run"} <= set(commands)


def test_actions_are_pinned_by_commit() -> None:
    """Each action has a commit, and its version beside it; one action has one commit."""
    used = re.findall(r"uses: (.*)$", WORKFLOW.read_text(encoding="utf-8"), flags=re.MULTILINE)
    pinned = [re.fullmatch(r"([\w/-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+", one) for one in used]
    assert used
    assert all(pinned)
    commits = {(found[1], found[2]) for found in pinned if found}
    assert len(commits) == len({name for name, _ in commits})
    assert "package-ecosystem: github-actions" in (ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8")


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
