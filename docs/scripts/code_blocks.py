"""Blocks of code as the site shows and copies them: only what a reader would run.

A block with prompts is copied without them and without its output: the copy stands in the attribute that the theme's
button looks for. Lines are shown as they stand in the sources, which keep them as narrow as the column of the site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

WIDTH = 88  # characters of a line that fit the column of the site
SET_UP = "python3 -m venv"
SESSION = re.compile(r"^( *)```python\n(?=\1>>> )(.*?)^\1```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^```(\w+) ([\w.]+)$", re.MULTILINE)
FENCED = re.compile(r"^ *```\w.*?^ *```$", re.MULTILINE | re.DOTALL)
BUILT = re.compile(r'(<div class="(?:[^"]* )?highlight"[^>]*)>(<pre.*?</pre>)', re.DOTALL)
DIRECTIVE = re.compile(r" *# doctest: .*")
PROMPTS = ((">>> ", "... "), ("$ ", "> "))


def with_marked_blocks(text: str) -> str:
    """Return a page whose blocks say what they are: those with prompts are sessions of Python, a name is a title."""
    text = SESSION.sub(lambda block: f"{block[1]}```pycon\n{DIRECTIVE.sub('', block[2])}{block[1]}```", text)
    return NAMED.sub(r'```\1 title="\2"', text)


def wide_lines(path: Path) -> Iterator[str]:
    """Lines of a script, or of the blocks of a page, that are wider than the column of the site: where they stand.

    The commands that set everything up are one line each, to be copied whole.
    """
    text = path.read_text(encoding="utf-8")
    blocks = [(0, len(text))] if path.suffix == ".py" else [block.span() for block in FENCED.finditer(text)]
    for begin, end in blocks:
        for number, line in enumerate(text[begin:end].split("\n"), text.count("\n", 0, begin) + 1):
            width = len(DIRECTIVE.sub("", line))
            if width > WIDTH and not line.startswith(SET_UP):
                yield f"{path.name}:{number} has {width} characters, more than the {WIDTH} that fit: {line}"


def with_copies(html: str) -> str:
    """Return a built page whose sessions carry what their button copies: the input, without prompts and output."""

    def marked(block: re.Match[str]) -> str:
        text = unescape(re.sub(r"<[^>]+>", "", block[2]))
        prompts = next((pair for pair in PROMPTS if text.startswith(pair[0])), None)
        return f'{block[1]} data-copy="{escape(copied(text, *prompts))}">{block[2]}' if prompts else block[0]

    return BUILT.sub(marked, html)


def copied(session: str, first: str, next_: str) -> str:
    """Return the input of a session."""
    found, within = [], False
    for line in session.splitlines():
        within = line.startswith(first) or (within and f"{line} ".startswith(next_))
        if within:
            found.append(line[len(first) :])
    return "\n".join(found)
