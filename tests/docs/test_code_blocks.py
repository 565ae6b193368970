"""Blocks of code on the site: they fit its column, and what is copied runs."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import build_site
import code_blocks


@pytest.mark.parametrize("source", build_site.sources(), ids=lambda path: path.name)
def test_blocks_are_narrow(source: Path) -> None:
    """A line of a block, or of an example, is no wider than the column of the site."""
    assert list(code_blocks.wide_lines(source)) == []


def test_a_wide_line_is_told_by_file_and_line(tmp_path: Path) -> None:
    """Text outside of blocks may be wide, and so may what only doctest reads."""
    fits, wide = "x" * code_blocks.WIDTH, "x" * (code_blocks.WIDTH + 1)
    page, script = tmp_path / "page.md", tmp_path / "script.py"
    blocks = f"```sh\n{fits}\n```\n{wide}\n- list:\n\n  ```python\n  {fits}\n{fits}  # doctest: +SKIP\n  ```\n"
    page.write_text(f"{wide}\n{blocks}{wide}\n", encoding="utf-8")
    script.write_text(f"1\n\n{wide}\n", encoding="utf-8")
    assert [line.split(" characters")[0] for line in code_blocks.wide_lines(page)] == ["page.md:9 has 90"]
    assert [line.split(" characters")[0] for line in code_blocks.wide_lines(script)] == ["script.py:3 has 89"]


def test_blocks_say_what_they_are() -> None:
    """Sessions are named so, without what only doctest reads; a name becomes a title; other blocks stay."""
    page = "```python\n>>> f(1)  # doctest: +SKIP\n2\n```\n```python\nf(1)\n```\n```sh weekly.sh\nls\n```\n"
    made = '```pycon\n>>> f(1)\n2\n```\n```python\nf(1)\n```\n```sh title="weekly.sh"\nls\n```\n'
    assert code_blocks.with_marked_blocks(page) == made
    tab = "    ```python\n    >>> f(1)\n    2\n    ```\n"
    assert code_blocks.with_marked_blocks(tab) == tab.replace("python", "pycon")


def test_what_is_copied_has_no_prompts_and_no_output() -> None:
    """The attribute that the theme's button looks for holds the input of a session; other blocks have none."""
    session = ">>> for x in [1, 2]:\n...     show(x < 2)\nTrue\nFalse\n\n>>> x\n2\n"
    built = f'<div class="highlight"><pre><span></span><code>{html.escape(session)}</code></pre></div>'
    (found,) = re.findall(r'data-copy="([^"]*)"', code_blocks.with_copies(built))
    assert html.unescape(found) == "for x in [1, 2]:\n    show(x < 2)\nx"
    assert code_blocks.copied("$ a \\\n>     --b\nout\n$ c\n", "$ ", "> ") == "a \\\n    --b\nc"
    plain = '<div class="highlight"><pre><span></span><code>pip install .</code></pre></div>'
    assert code_blocks.with_copies(plain) == plain
