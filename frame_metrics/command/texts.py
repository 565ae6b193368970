"""Texts that come from data, written so that nothing that shows them takes them for anything else than text."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

# Control characters, marks of the direction of writing, separators of lines, halves of characters, what XML forbids.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
_MARKS = re.compile(r"[!-/:-@\[-`{-~]")
# A spreadsheet runs a cell that begins so. One with an apostrophe before it gets another, so that the way back is known.
_FORMULA = re.compile("^('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
_NO_FORMULA = re.compile("^'('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")


def visible(text: str, *, keep: str = "") -> str:
    """Return a text with the codes of characters that move the cursor, change colours or turn a line around."""
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


def in_markdown(text: str) -> str:
    """Return a text as a cell of a Markdown table, with no mark-up of its own."""
    return _MARKS.sub(lambda mark: mark[0] if mark[0] in ".,:%()/-" else f"&#{ord(mark[0])};", visible(text))


def no_formula(text: str) -> str:
    """Return a text that a spreadsheet does not run: with an apostrophe before it where it would."""
    return _FORMULA.sub(r"'\1", text)


def with_formulas(text: str) -> str:
    """Return what ``no_formula`` was given."""
    return _NO_FORMULA.sub(r"\1", text)


def in_command(text: str, *, of_property: bool = False) -> str:
    """Return a text as a workflow command of GitHub takes it."""
    codes = {"%": "%25", "\r": "%0D", "\n": "%0A"} | ({":": "%3A", ",": "%2C"} if of_property else {})
    return "".join(codes.get(letter, letter) for letter in visible(text, keep="\r\n"))


def columns_of(text: str) -> int:
    """Return the columns of a terminal that a text fills."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def of_value(value: Any, digits: int | None = None) -> str:
    """Return a value as text; a number with at most so many digits after the point, None for all that it has."""
    if value is None:
        return ""
    if isinstance(value, float) and digits is not None:
        return f"{value:.{digits}g}" if 0 < abs(value) < 10.0**-digits else f"{round(value, digits)!r}"
    return repr(value) if isinstance(value, float) else str(value)
