"""Print how easily each page reads (Flesch's reading ease: 60 is plain English, 30 is hard); nothing depends on it.

python docs/scripts/readability.py
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for ease, page in sorted((reading_ease(page.read_text(encoding="utf-8")), page) for page in pages):
        print(f"{ease:5.0f}  {page.relative_to(ROOT)}")


def reading_ease(text: str) -> float:
    """Flesch's formula of the prose of a page: 206.835 - 1.015 words a sentence - 84.6 syllables a word."""
    prose = re.sub(r"^```.*?^```|<!--.*?-->|^\|.*?$|^#.*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "", prose)
    sentences = [one for one in re.split(r"[.!?]\s|\n\n|\n(?=- |\d)", prose) if re.search(r"[a-z]", one)]
    words = re.findall(r"[A-Za-z]+", prose)
    syllables = sum(map(syllables_of, words))
    return 206.835 - 1.015 * len(words) / max(1, len(sentences)) - 84.6 * syllables / max(1, len(words))


def syllables_of(word: str) -> int:
    """Groups of vowels, without a silent e at the end."""
    return max(1, len(re.findall(r"[aeiouy]+", re.sub(r"(?<=[^aeiouyl])es?$|ed$", "", word.lower()))))


if __name__ == "__main__":
    main()
