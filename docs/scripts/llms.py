"""The pages for language models: llms.txt links each with its first sentence, llms-full.txt has them whole.

docs/scripts/build_site.py writes both beside the site's pages, from the text that these are made from.
"""

from __future__ import annotations

import re
from pathlib import Path

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def write(out: Path, pages: dict[str, str], sections: list[tuple[str, list[str]]]) -> None:
    """Write both files into the folder of the site: pages by path, and the paths of each section in order."""
    (out / "llms.txt").write_text(listed(pages, sections), encoding="utf-8")
    (out / "llms-full.txt").write_text(whole(pages, sections), encoding="utf-8")


def listed(pages: dict[str, str], sections: list[tuple[str, list[str]]]) -> str:
    """A link to each page, with what it is about."""
    lines = [
        f"# {title(pages['index.md'])}",
        "",
        f"> {about(pages['index.md'])}",
        "",
        "All pages in one file: llms-full.txt",
    ]
    for name, paths in sections:
        lines += ["", f"## {name}", ""]
        lines += [f"- [{title(pages[path])}]({path.removesuffix('.md')}.html): {about(pages[path])}" for path in paths]
    return "\n".join(lines) + "\n"


def whole(pages: dict[str, str], sections: list[tuple[str, list[str]]]) -> str:
    """The text of all pages, in the order of the sections, each below its path."""
    parts = [f"<!-- {path} -->\n\n{COMMENT.sub('', pages[path]).strip()}\n" for _, paths in sections for path in paths]
    return "\n".join(parts)


def title(page: str) -> str:
    return page.partition("\n")[0].removeprefix("# ").partition(" <small>")[0]


def about(page: str) -> str:
    """The first sentence of a page that is no table, list or code, without its links."""
    blocks = COMMENT.sub("", FENCE.sub("", page)).split("\n\n")
    prose = next((one for one in blocks if re.match(r"\s*[\w`]", one)), "")
    plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(prose.split()))
    return re.split(r"(?<=[.?:]) (?=[A-Z`])", plain)[0]
