"""Build the site: docs/, the README, the examples and the docstrings, as pages that need no other host.

python docs/scripts/build_site.py OUT [--search] [--browser]      into the folder OUT; needs the group docs

It says what is wrong and exits with 1 where a link leads nowhere, a page is in no section, a docstring cannot be read,
or a page fetches something from another host. With --search, which needs node: where the site's own search does not
find what docs/words.txt and docs/terms.txt lead to, each within a few hits, nine of ten first. With --browser, which
needs Chromium: where a block of code scrolls on a small laptop, or what is copied from it does not compile.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import llms
from code_blocks import with_copies, with_marked_blocks
from formulas import typeset
from literature import SEARCHES, entries, with_terms, with_words, words_of
from shelves import API, navigation, sections
from site_checks import lost, problems
from site_looks import looked

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "frame_metrics"

# What pages of a folder, or a page, do without, so that there is room for what is wide.
HIDDEN = {"index.md": ("navigation", "toc"), "examples": ("toc",)}

FORMULA = re.compile(r"^(- Formula: )(.*)$", re.MULTILINE)
CELLS = ("tp", "fp", "fn", "tn", "up", "un")
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: |(?:src|srcset|href)=\")([^)\s\"#]*)")
PICTURE = re.compile(
    r"""<picture>\s*<source [^>]*dark[^>]*srcset="([^"]*)">\s*<img src="([^"]*)"([^>]*)>\s*</picture>"""
)
DRAWN = re.compile(r"!\[([^]]*)\]\(([\w/.]*pictures/\w+)\.svg\)")
NARROW = '<picture><source media="(max-width: 40rem)" srcset="{1}_narrow.svg"><img alt="{0}" src="{1}.svg"></picture>'
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TAB = re.compile(r"^\*\*(\w+)\*\*\n\n((?:```.*?^```\n\n?)+)", re.MULTILINE | re.DOTALL)


def main(arguments: list[str]) -> int:
    paths = [one for one in arguments if one not in ("--search", "--browser")]
    if len(paths) != 1:
        print(__doc__)
        return 2
    out = Path(paths[0]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder))
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        built = subprocess.run(
            command, cwd=folder, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        print(built.stdout)
        if built.returncode or "griffe: " in built.stdout:
            return 1
        shutil.copytree(Path(folder, "site"), out, dirs_exist_ok=True)
    pages = {
        site_path(path): page(path) if path.suffix == ".py" else path.read_text(encoding="utf-8") for path in sources()
    }
    pages |= {path: text.replace("::: ", "") for path, text in api().items()}
    llms.write(out, pages, sections(set(pages)))
    order_of_hits(out / "search.json")
    for path in out.rglob("*.html"):
        path.write_text(with_copies(path.read_text(encoding="utf-8")), encoding="utf-8")
    checks = [problems, *[lost] * ("--search" in arguments), *[looked] * ("--browser" in arguments)]
    found = [problem for check in checks for problem in check(out)]
    print(*found, f"{len(list(out.rglob('*.html')))} pages, {len(found)} problems", sep="\n")
    return int(bool(found))


def lay_out(folder: Path) -> None:
    """Lay the pages, and all that they are made with, into a folder as Zensical wants them."""
    docs = folder / "docs"
    pages = {site_path(path): page(path) for path in sources()} | api()
    for name, text in pages.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        hidden = HIDDEN.get(name.partition("/")[0], ())
        head = f"---\nhide: [{', '.join(hidden)}]\n---\n" if hidden else ""
        (docs / name).write_text(head + with_marked_blocks(text), encoding="utf-8")
    for path in (ROOT / "docs").rglob("*"):
        if path.suffix in (".svg", ".png", ".css", ".json"):
            (docs / path.relative_to(ROOT / "docs")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, docs / path.relative_to(ROOT / "docs"))
    (folder / "frame_metrics").symlink_to(PACKAGE)
    shutil.copy(ROOT / "docs" / "scripts" / "plain_docstrings.py", folder)
    config = (ROOT / "docs" / "zensical.toml").read_text(encoding="utf-8")
    told = f"{config}nav = {navigation(set(pages))}\n\n[project.extra]\n{package()}"
    (folder / "zensical.toml").write_text(told, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "theme", folder / "theme")


def package() -> str:
    """What the foot of each page says of the package, in TOML: release, licence, and where its source is, if known."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = project.get("urls", {}).get("Source", "")
    said = {"release": project["version"], "license": project["license"], "source": source}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in said.items())


def sources() -> list[Path]:
    """Files that become pages: the README, docs/, and the examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*.py"))]


def site_path(path: Path) -> str:
    """Path of a file's page on the site."""
    name = path.relative_to(ROOT).as_posix().removeprefix("docs/")
    return "overview.md" if name == "README.md" else re.sub(r"\.py$", ".md", name)


def page(path: Path) -> str:
    """Text of a page: links lead to pages of the site, and blocks of code that stand side by side are tabs."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        about = ast.get_docstring(ast.parse(text))
        output = path.parent / "output" / f"{path.stem}.txt"
        printed = f"## What it prints\n\n```text\n{output.read_text(encoding='utf-8').strip(chr(10))}\n```\n"
        return f"# {path.name}\n\n{about}\n\n{printed}\n## The script\n\n```python\n{text}```\n"
    name = site_path(path)
    if name == "overview.md":
        text = text.replace("# frame_metrics\n", "# Overview\n", 1)
    if name.startswith("metrics/"):
        names = {*CELLS, *entries()}
        text = with_terms(FORMULA.sub(lambda line: line[1] + typeset(line[2], names), text), name)

    def change(part: str) -> str:
        part = DRAWN.sub(lambda picture: for_both(path.parent, picture), part)
        linked = LINK.sub(lambda link: f"{link[1]}{moved(path, link[2])}", part)
        return with_words(PICTURE.sub(of_scheme, linked), name)

    return tabs(outside_code(text, change))


def for_both(folder: Path, picture: re.Match[str]) -> str:
    """A picture with the narrow one of phones, if there is one."""
    narrow = (folder / f"{picture[2]}_narrow.svg").exists()
    return NARROW.format(picture[1], picture[2]) if narrow else picture[0]


def of_scheme(picture: re.Match[str]) -> str:
    """A picture that is light or dark with the site, which has its own switch, not with the system."""
    dark, light, rest = picture.groups()
    return f'<img src="{light}#only-light"{rest}>\n<img src="{dark}#only-dark"{rest}>'


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change what stands outside of blocks of code."""
    ends = [0, *(end for fence in FENCE.finditer(text) for end in fence.span()), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def moved(source: Path, link: str) -> str:
    """Return a link of a file in the repository as its page on the site has it."""
    target = (source.parent / link).resolve()
    if not link or "://" in link or link.startswith("mailto:"):
        return link
    here = (ROOT / "docs" / site_path(source)).parent
    return Path(os.path.relpath(ROOT / "docs" / site_path(target), here)).as_posix()


def tabs(text: str) -> str:
    """Make tabs of blocks of code that follow each other, each below a word in bold that stands alone."""

    def tab(match: re.Match[str]) -> str:
        return f'=== "{match[1]}"\n\n' + textwrap.indent(match[2].rstrip(), "    ") + "\n\n"

    return TAB.sub(tab, text)


def api() -> dict[str, str]:
    """The pages of the API by their paths; a part that the package does not have is left out."""
    made = {name: [one for one in names if one in public()] for name, (_, names) in API.items()}
    listed = {name: "\n".join(f"::: frame_metrics.{one}\n" for one in names) for name, names in made.items() if names}
    return {f"api/{name}.md": f"# {API[name][0]}\n\n{text}" for name, text in listed.items()}


def public() -> set[str]:
    """The public names of the package, and its public modules."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    assigned = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    modules = {name for name in ("testing", "plot", "report", "typing") if list(PACKAGE.glob(f"{name}*"))}
    return set(ast.literal_eval(assigned["__all__"])) | modules


def order_of_hits(path: Path) -> None:
    """Put headings with words beside them first in the index: of hits that are as good, the search shows the first.
    Pages for developers come last.

    It also finds what only begins with a word. So words with a letter alone, as P and A/B test, stand in the path too,
    with the inputs of docs/searches.txt, and names that other metrics begin with.
    """
    index, names, typed = json.loads(path.read_text(encoding="utf-8")), entries(), words_of(SEARCHES)
    first = {name for name in names if any(other.startswith(f"{name}_") for other in names)}
    for item in index["items"]:
        title, _, small = item["title"].partition(" <small>")
        words = small.removesuffix("</small>").split(", ")
        alone = [word for word in words if word in typed or re.search(r"\b[A-Z]\b", word)]
        name = [title] if item["location"].startswith("metrics/") and title in first else []
        item["path"] = [*alone, *name, *item["path"]]
    index["items"].sort(key=lambda item: ("<small>" not in item["title"], "Developers" in item["path"]))
    path.write_text(json.dumps(index), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
