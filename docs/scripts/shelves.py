"""The shelves of the site: which pages stand on each, in their order."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The pages of the API, and what stands on each; a name without which the package is left out.
API = {
    "irm": ("IRM and its verbs", ["IRM"]),
    "functions": (
        "Functions",
        ["list_metrics", "list_goals", "read_run", "read_qrels", "write_run", "write_qrels", "show", "show_versions"],
    ),
    "own_metrics": ("Metrics as values, and your own", ["metric", "Metric", "Ranking", "Confusion", "Scores"]),
    "testing": ("Testing", ["testing"]),
    "plot": ("Pictures", ["plot"]),
    "report": ("Reports", ["report"]),
    "typing": ("Types", ["typing"]),
    "errors": (
        "Errors",
        [
            "FrameMetricsError",
            "BadRowsError",
            "BadValueError",
            "BrokenLawError",
            "ColumnError",
            "KernelError",
            "MistakenColumnError",
            "NotComputableError",
            "StrangeIdsError",
            "UnknownNameError",
        ],
    ),
}

# The pages of each shelf in their order; an asterisk stands for all others of a folder, so a new page of a folder needs
# no line here. What stands behind a colon is a group of the shelf.
SECTIONS = {
    "Start": ["index.md", "start.md", "overview.md", "start/*.md"],
    "Do": ["recipes/index.md", "recipes/*.md"],
    "Do: Scripts": ["examples/*.md"],
    "Look up: Metrics": [
        "metrics/index.md",
        "which_measure.md",
        *(f"metrics/{name}.md" for name in ("ranking", "decisions", "scores", "classes", "lists")),
        "metrics/*.md",
    ],
    "Look up: Verbs and other calls": [f"api/{name}.md" for name in API],
    "Look up: Rules": [
        "conventions.md",
        "conventions/*.md",
        "errors.md",
        "glossary.md",
        "look_up/*.md",
        "changelog.md",
    ],
    "Look up: Files and output": ["command.md", "report.md", "pictures.md", "scale.md"],
    "Look up: Coming from": ["coming_from/index.md", "coming_from/*.md"],
    "Understand": [
        "concepts.md",
        "understand/columns.md",
        "understand/averages.md",
        "understand/comparing.md",
        "uncertainty.md",
        "understand/audit.md",
        "bounds.md",
        "decisions.md",
        "understand/thresholds.md",
        "understand/classes.md",
        "clicks.md",
        "understand/propensities.md",
        "labels.md",
        "understand/*.md",
    ],
    "Developers": [
        "contributing.md",
        "architecture.md",
        "design.md",
        "vocabulary.md",
        "simulation.md",
        "performance.md",
        "measured.md",
        "developers/*.md",
    ],
}


def navigation(pages: set[str]) -> str:
    """The shelves with their pages and groups, as an array of TOML."""
    shelves = groupby(sections(pages), key=lambda section: section[0].partition(": ")[0])
    return f"[{', '.join(table(shelf, list(groups)) for shelf, groups in shelves)}]"


def table(shelf: str, groups: list[tuple[str, list[str]]]) -> str:
    """A shelf as a table of TOML: its pages, and its groups as tables."""
    parts = [
        f"{{ {json.dumps(group)} = {json.dumps(paths)} }}" if group else json.dumps(paths)[1:-1]
        for title, paths in groups
        for group in [title.partition(": ")[2]]
    ]
    return f"{{ {json.dumps(shelf)} = [{', '.join(parts)}] }}"


def sections(pages: set[str]) -> list[tuple[str, list[str]]]:
    """The sections that have pages, with these in order; a page in no section is an error."""
    left = set(pages)
    named = {name for names in SECTIONS.values() for name in names}
    found = []
    for title, names in SECTIONS.items():
        of_title = []
        for name in names:
            fitting = [one for one in in_order(left) if Path(one).match(name) and (one == name or one not in named)]
            of_title += fitting
            left -= set(fitting)
        found += by_heading(title, of_title) if title == "Do" else [(title, of_title)] * bool(of_title)
    if left:
        sys.exit(f"no section of docs/scripts/shelves.py has {', '.join(sorted(left))}")
    return found


def by_heading(shelf: str, pages: list[str]) -> list[tuple[str, list[str]]]:
    """The pages of a shelf in groups, which are the headings of its first page that link them."""
    index = ROOT / "docs" / pages[0] if pages else ROOT
    parts = re.split(r"^## (.+)\n", index.read_text(encoding="utf-8"), flags=re.MULTILINE) if index.is_file() else [""]
    groups = {
        f"{shelf}: {heading}": [page for page in pages[1:] if f"({Path(page).name}" in links]
        for heading, links in zip(parts[1::2], parts[2::2], strict=True)
    }
    left = [page for page in pages if not any(page in group for group in groups.values())]
    return [(title, group) for title, group in [(shelf, left), *groups.items()] if group]


def in_order(pages: Iterable[str]) -> list[str]:
    """Pages of a folder as its first page links them; those that it does not link come last."""

    def place(page: str) -> tuple[int, str]:
        index = (ROOT / "docs" / page).with_name("index.md")
        at = index.read_text(encoding="utf-8").find(f"({Path(page).name}") if index.exists() else -1
        return (at if at >= 0 else sys.maxsize), page

    return sorted(pages, key=place)
