"""Outcomes of gates in the formats of other programs: JUnit's XML, and the log and the summary of GitHub Actions."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import polars as pl

from frame_metrics.backends.display import printable
from frame_metrics.backends.files import file_name, replacing
from frame_metrics.backends.tables import markdown_text
from frame_metrics.command.files.writing import in_markdown_cells
from frame_metrics.command.gates.outcomes import Outcome
from frame_metrics.command.texts import in_command, in_lines

SUITE = "frame-metrics"


def junit(name: str, outcomes: Sequence[Outcome], error: str | None = None) -> None:
    """Write a JUnit file with a test case for each outcome, and one for the error that ended the run, if any."""
    from xml.etree import ElementTree as xml

    failed = sum(one.failed for one in outcomes)
    counts = {"tests": len(outcomes) + (error is not None), "failures": failed, "errors": int(error is not None)}
    suite = xml.Element("testsuite", {"name": SUITE, **{name: str(count) for name, count in counts.items()}})
    for one in outcomes:
        case = xml.SubElement(suite, "testcase", {"classname": SUITE, "name": printable(one.name)})
        if one.failed:
            xml.SubElement(case, "failure", {"message": printable(one.sentence)})
        else:
            xml.SubElement(case, "system-out").text = printable(one.sentence)
    if error is not None:
        case = xml.SubElement(suite, "testcase", {"classname": SUITE, "name": "run"})
        xml.SubElement(case, "error", {"message": in_lines(error)})
    with replacing(file_name(name)) as file:
        xml.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)


def annotate(title: str, message: str) -> None:
    """Print an error on standard error, in the form that GitHub shows beside the run."""
    print(f"::error title={in_command(title, of_property=True)}::{in_command(message)}", file=sys.stderr)


def summarise(title: str, result: pl.DataFrame | None, outcomes: Sequence[Outcome], error: str | None = None) -> None:
    """Append a result, the outcomes of gates or an error to the summary of the GitHub job, if there is one."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    parts = [f"### {title}\n"]
    if result is not None:
        parts.append(in_markdown_cells(result, None))
    if outcomes:
        parts.append("".join(f"- {'❌' if one.failed else '✅'} {markdown_text(one.sentence)}\n" for one in outcomes))
    if error is not None:
        parts.append(f"❌ {markdown_text(printable(error))}\n")
    with open(name, "a", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")
