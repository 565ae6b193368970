"""Build the site: docs/, the README, the examples and the docstrings, as pages that need no other host.

python docs/scripts/build_site.py OUT [--search]      into the folder OUT; needs the group docs, --search node too

It says what is wrong and exits with 1 where a link leads nowhere, a page is in no section, a docstring cannot be read,
a page fetches something from another host, or (with --search) where the site's own search does not find what
docs/words.txt and docs/terms.txt lead to: each within five hits, nine of ten first.
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
from collections.abc import Callable, Iterable, Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import llms
from formulas import typeset
from literature import ENTRY, searched, with_terms, with_words

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "frame_metrics"

# The pages of the API, and what stands on each; a name without which the package is left out.
API = {
    "irm": ("IRM", ["IRM"]),
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

# The sections, and the pages of each in their order; an asterisk stands for all others of a folder.
SECTIONS = {
    "Start": ["index.md", "start.md"],
    "Guide": [
        "understand/columns.md",
        "understand/averages.md",
        "understand/comparing.md",
        "understand/audit.md",
        "clicks.md",
        "labels.md",
        "decisions.md",
        "bounds.md",
        "uncertainty.md",
        "simulation.md",
        "scale.md",
        "understand/*.md",
    ],
    "Concepts": ["concepts.md", "which_measure.md", "glossary.md"],
    "Recipes": ["recipes/index.md", "recipes/*.md", "examples/*.md"],
    "Coming from": ["coming_from/index.md", "coming_from/*.md"],
    "Metrics": ["metrics.md", "conventions.md", "look_up/*.md", "developers/*.md"],
    "Results": ["pictures.md", "report.md", "command.md", "errors.md"],
    "API": [f"api/{name}.md" for name in API],
    "About": [
        "performance.md",
        "measured.md",
        "design.md",
        "architecture.md",
        "contributing.md",
        "vocabulary.md",
        "changelog.md",
    ],
}

FORMULA = re.compile(r"^(- Formula: )(.*)$", re.MULTILINE)
CELLS = ("tp", "fp", "fn", "tn", "up", "un")
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: |(?:src|srcset|href)=\")([^)\s\"#]*)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TAB = re.compile(r"^\*\*(\w+)\*\*\n\n((?:```.*?^```\n\n?)+)", re.MULTILINE | re.DOTALL)

FETCHED = re.compile(r"(?:url\(|@import )[\"']?((?:https?:)?//[^)\"']+)")


def main(arguments: list[str]) -> int:
    paths = [one for one in arguments if one != "--search"]
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
    found = [*problems(out), *(lost(out) if "--search" in arguments else ())]
    print(*found, f"{len(list(out.rglob('*.html')))} pages, {len(found)} problems", sep="\n")
    return int(bool(found))


def lay_out(folder: Path) -> None:
    """Lay the pages, and all that they are made with, into a folder as Zensical wants them."""
    docs = folder / "docs"
    pages = {site_path(path): page(path) for path in sources()} | api()
    for name, text in pages.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")
    for path in (ROOT / "docs").rglob("*"):
        if path.suffix in (".svg", ".png", ".css", ".json"):
            (docs / path.relative_to(ROOT / "docs")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, docs / path.relative_to(ROOT / "docs"))
    (folder / "frame_metrics").symlink_to(PACKAGE)
    shutil.copy(ROOT / "docs" / "scripts" / "plain_docstrings.py", folder)
    config = (ROOT / "docs" / "zensical.toml").read_text(encoding="utf-8")
    (folder / "zensical.toml").write_text(f"{config}nav = {navigation(set(pages))}\n", encoding="utf-8")


def sources() -> list[Path]:
    """Files that become pages: the README, docs/, and the examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*.py"))]


def site_path(path: Path) -> str:
    """Path of a file's page on the site."""
    name = path.relative_to(ROOT).as_posix().removeprefix("docs/")
    return "index.md" if name == "README.md" else re.sub(r"\.py$", ".md", name)


def page(path: Path) -> str:
    """Text of a page: links lead to pages of the site, and blocks of code that stand side by side are tabs."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        about = ast.get_docstring(ast.parse(text))
        output = path.parent / "output" / f"{path.stem}.txt"
        printed = f"## What it prints\n\n```text\n{output.read_text(encoding='utf-8').strip(chr(10))}\n```\n"
        return f"# {path.name}\n\n{about}\n\n{printed}\n## The script\n\n```python\n{text}```\n"
    name = site_path(path)
    if name == "metrics.md":
        names = {*CELLS, *ENTRY.findall(text)}
        text = with_terms(FORMULA.sub(lambda line: line[1] + typeset(line[2], names), text))

    def change(part: str) -> str:
        return with_words(LINK.sub(lambda link: f"{link[1]}{moved(path, link[2])}", part), name)

    return tabs(outside_code(text, change))


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
    entries = {name: "\n".join(f"::: frame_metrics.{one}\n" for one in names) for name, names in made.items() if names}
    return {f"api/{name}.md": f"# {API[name][0]}\n\n{text}" for name, text in entries.items()}


def public() -> set[str]:
    """The public names of the package, and its public modules."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    assigned = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    modules = {name for name in ("testing", "plot", "report", "typing") if list(PACKAGE.glob(f"{name}*"))}
    return set(ast.literal_eval(assigned["__all__"])) | modules


def navigation(pages: set[str]) -> str:
    """The sections with their pages, as an array of TOML."""
    return f"[{', '.join(f'{{ {json.dumps(title)} = {json.dumps(paths)} }}' for title, paths in sections(pages))}]"


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
        if of_title:
            found.append((title, of_title))
    if left:
        sys.exit(f"no section of docs/scripts/build_site.py has {', '.join(sorted(left))}")
    return found


def in_order(pages: Iterable[str]) -> list[str]:
    """Pages of a folder as its first page links them; those that it does not link come last."""

    def place(page: str) -> tuple[int, str]:
        index = (ROOT / "docs" / page).with_name("index.md")
        at = index.read_text(encoding="utf-8").find(f"({Path(page).name}") if index.exists() else -1
        return (at if at >= 0 else sys.maxsize), page

    return sorted(pages, key=place)


class Read(HTMLParser):
    """The anchors of a page, its links, and what it fetches to show itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {str(given[name]) for name in ("id", "name") if given.get(name)}
        for name in ("href", "src"):
            if given.get(name):
                fetched = name == "src" or (tag == "link" and given.get("rel") != "canonical")
                (self.fetched if fetched else self.links).append(str(given[name]))


def problems(out: Path) -> Iterator[str]:
    """Links of a built site that lead nowhere, and what its pages fetch from other hosts."""
    read = {path: Read(path.read_text(encoding="utf-8")) for path in sorted(out.rglob("*.html"))}
    for path, found in read.items():
        name = path.relative_to(out)
        for link in dict.fromkeys(found.links + found.fetched):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in found.fetched and parts.scheme != "data":
                    yield f"{name} fetches {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if name.name != "404.html" and not target.exists():
                yield f"{name}: {link} leads nowhere"
            elif parts.fragment and target in read and unquote(parts.fragment) not in read[target].anchors:
                yield f"{name}: {link} has no such place"
    for style in sorted(out.rglob("*.css")):
        for address in re.findall(
            r"(?:url\(|@import )[\"']?((?:https?:)?//[^)\"']+)", style.read_text(encoding="utf-8")
        ):
            yield f"{style.relative_to(out)} fetches {address}"


def order_of_hits(path: Path) -> None:
    """Put headings with words beside them first in the index: of hits that are as good, the search shows the first.

    It also finds what only begins with a word. So words with a letter alone, as P and A/B test, stand in the path too.
    """
    index = json.loads(path.read_text(encoding="utf-8"))
    for item in index["items"]:
        words = item["title"].partition("<small>")[2].removesuffix("</small>").split(", ")
        item["path"] = [*(word for word in words if re.search(r"\b[A-Z]\b", word)), *item["path"]]
    index["items"].sort(key=lambda item: "<small>" not in item["title"])
    path.write_text(json.dumps(index), encoding="utf-8")


def lost(out: Path) -> Iterator[str]:
    """Words that the search of a built site does not find where they lead."""
    wanted = searched()
    command = ["node", str(ROOT / "docs" / "scripts" / "search_site.mjs"), str(out)]
    asked = subprocess.run(command, input="\n".join(wanted), check=True, capture_output=True, text=True)
    hits = dict(zip(wanted, map(json.loads, asked.stdout.splitlines()), strict=True))
    yield from (
        f"a search for {word!r} finds {hits[word]}, not {wanted[word]}"
        for word in wanted
        if not {*hits[word]} & {*wanted[word]}
    )
    later = [word for word in wanted if hits[word][:1] and hits[word][0] not in wanted[word]]
    print(f"{len(wanted)} words searched, {len(wanted) - len(later)} found first; later: {', '.join(later)}")
    if len(later) > len(wanted) / 10:
        yield f"{len(later)} of {len(wanted)} words are not found first"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
