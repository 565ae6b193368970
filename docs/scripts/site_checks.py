"""Find what is wrong with a built site: links that lead nowhere, what other hosts send, words that are not found."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from literature import TERMS, WORDS, searched, words_of, words_typed

SEEN = 3  # hits that somebody looks at; search_site.mjs gives five
FETCHED = re.compile(r"(?:url\(|@import )[\"']?((?:https?:)?//[^)\"']+)")


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
                fetched = name == "src" or (tag == "link" and given.get("rel") not in ("canonical", "prev", "next"))
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
        for address in FETCHED.findall(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(out)} fetches {address}"


def lost(out: Path) -> Iterator[str]:
    """Words that the search of a built site does not find where they lead, those that users type further up."""
    wanted, typed = searched(), words_typed()
    command = ["node", str(Path(__file__).with_name("search_site.mjs")), str(out)]
    asked = subprocess.run(command, input="\n".join(wanted), check=True, capture_output=True, text=True)
    hits = dict(zip(wanted, map(json.loads, asked.stdout.splitlines()), strict=True))
    for word, places in wanted.items():
        seen = hits[word][: SEEN if word in typed else None]
        if not {*seen} & {*places}:
            yield f"a search for {word!r} finds {seen}, not {places}"
    led = words_of(WORDS) | words_of(TERMS)
    later = [word for word in wanted if word in led and hits[word][:1] and hits[word][0] not in wanted[word]]
    print(f"{len(wanted)} words searched; of {len(led)} that lead to a place, these are not first: {', '.join(later)}")
    if len(later) > len(led) / 10:
        yield f"{len(later)} of {len(led)} words are not found first"
