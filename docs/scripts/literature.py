"""What the literature calls each metric (terms.txt), what users call a place (words.txt) and type (searches.txt)."""

from __future__ import annotations

import re
from pathlib import Path

TERMS = Path(__file__).parents[1] / "terms.txt"
WORDS = TERMS.with_name("words.txt")
SEARCHES = TERMS.with_name("searches.txt")
METRICS = TERMS.with_name("metrics")
ENTRY = re.compile(r"^### (\w+)$", re.MULTILINE)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)


def terms() -> dict[str, list[str]]:
    """The terms by metric; what a term is of may stand behind it in brackets."""
    return lines_of(TERMS)


def lines_of(path: Path) -> dict[str, list[str]]:
    """What a list says of each name: a name, a colon and words between commas in a line, or in several."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, listed = line.partition(": ")
        if not line.startswith("#"):
            found.setdefault(name, []).extend(listed.split(", "))
    return found


def entries() -> dict[str, str]:
    """The page of the site on which each metric has its entry."""
    pages = {f"metrics/{path.name}": path.read_text(encoding="utf-8") for path in sorted(METRICS.glob("*.md"))}
    return {name: page for page, text in pages.items() for name in ENTRY.findall(text)}


def with_terms(text: str, page: str) -> str:
    """Return a page of metrics with the terms in the headings of the entries, where a search finds them first."""
    listed, words = terms(), lines_of(WORDS)

    def heading(entry: re.Match[str]) -> str:
        name = entry[1]
        said = [*listed.get(name, []), *words.get(f"{page}#{name}", [])]
        others = [term for term in dict.fromkeys(one.partition(" (")[0] for one in said) if term.lower() != name]
        return beside("###", name, name, others)

    return ENTRY.sub(heading, text)


def with_words(text: str, page: str) -> str:
    """Return a page's text with the words of docs/words.txt in the headings that they lead to."""
    places = {
        place.partition("#")[2]: words for place, words in lines_of(WORDS).items() if place.partition("#")[0] == page
    }

    def heading(found: re.Match[str]) -> str:
        place = "" if found[1] == "#" else anchor(found[2])
        words = [word for word in places.get(place, []) if word.lower() not in found[2].lower()]
        return beside(found[1], found[2], anchor(found[2]), words) if words else found[0]

    return HEADING.sub(heading, text)


def beside(level: str, title: str, place: str, words: list[str]) -> str:
    """A heading with words beside it, whose anchor and whose line in the table of contents are those of its title."""
    small = f" <small>{', '.join(words)}</small>" if words else ""
    return f'{level} {title}{small} {{ #{place} data-toc-label="{title}" }}'


def searched() -> dict[str, list[str]]:
    """The places of the site where a search for each word may lead: its own, those of a term, the verb of that name."""
    found: dict[str, list[str]] = {}
    pages = entries()
    named = {f"{pages[name]}#{name}": listed for name, listed in terms().items()}
    for place, words in [*lines_of(SEARCHES).items(), *lines_of(WORDS).items(), *named.items()]:
        for word in words:
            found.setdefault(word.partition(" (")[0], []).append(place.replace(".md", ".html"))
    for word, places in found.items():
        places.append(f"api/irm.html#frame_metrics.IRM.{word.lower().replace(' ', '_')}")
    return found


def words_typed() -> set[str]:
    """The words that users type, apart from what only the literature calls a metric."""
    return words_of(WORDS) - words_of(TERMS) | words_of(SEARCHES)


def words_of(path: Path) -> set[str]:
    """All words of a list, without what a word in brackets says of them."""
    return {word.partition(" (")[0] for words in lines_of(path).values() for word in words}


def anchor(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
