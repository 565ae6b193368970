"""What the literature calls each metric: docs/terms.txt."""

from __future__ import annotations

import re
from pathlib import Path

TERMS = Path(__file__).parents[1] / "terms.txt"
ENTRY = re.compile(r"^### (\w+)$", re.MULTILINE)


def terms() -> dict[str, list[str]]:
    """The terms by metric; what a term is of may stand behind it in brackets."""
    lines = [line for line in TERMS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {name: listed.split(", ") for name, _, listed in (line.partition(": ") for line in lines)}


def with_terms(page: str) -> str:
    """Return the page of metrics with the terms in the headings of the entries, where a search finds them first."""
    listed = terms()

    def heading(entry: re.Match[str]) -> str:
        name = entry[1]
        others = [term for term in (one.partition(" (")[0] for one in listed.get(name, [])) if term.lower() != name]
        beside = f" <small>{', '.join(others)}</small>" if others else ""
        return f'### {name}{beside} {{ #{name} data-toc-label="{name}" }}'

    return ENTRY.sub(heading, page)
