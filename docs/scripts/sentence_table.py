"""The table of the kinds of sentences of a summary: their places, and what columns hold, from their classes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from frame_metrics.report import data_sentences, difference_sentences, sentences, time_sentences, value_sentences
from frame_metrics.report.sentences import FIGURES, PLAIN, Plain, Sentence

HEAD = "| kind | about | place | columns |\n|---|---|---|---|"
LAST = "9"  # the place of notes in the order of the table
FIELD = re.compile(r"^    (\w+): [^\n#]+  # ([^\n]+)$", re.MULTILINE)
MODULES = data_sentences, value_sentences, difference_sentences, time_sentences, sentences
PLACES = {name: getattr(sentences, name) for name in ("DOUBT", "ANSWER", "WHEN", "WHERE", "NEXT")}


def sentence_table() -> str:
    """Return the table, a row for each kind; columns that are those of another kind are told once."""
    lines, told = [HEAD], dict[str, str]()
    for kind, about, place, columns in sorted(_rows(), key=lambda row: row[2] or LAST):
        first = told.setdefault(columns, kind)
        columns = columns if first == kind or not columns else f"as for `{first}`"
        lines.append(f"| `{kind}` | {about[0].lower()}{about[1:].rstrip('.')} | {place} | {columns} |")
    return "\n".join(lines) + "\n"


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for kind, plain in PLAIN.items():
        yield kind, plain.about, str(plain.place or ""), _columns(Plain)
    for one in (one for module in MODULES for one in vars(module).values() if inspect.isclass(one)):
        if issubclass(one, Sentence) and isinstance(kind := inspect.getattr_static(one, "kind"), str):
            yield kind, str(one.__doc__), _places(one), _columns(one)


def _places(kind: type[Sentence]) -> str:
    """Return the places that a sentence of a class may have, "" for a note."""
    place = inspect.getattr_static(kind, "place")
    if not isinstance(place, property):
        return str(place or "")
    code = inspect.getsource(place.fget or kind)
    return " or ".join(str(value) for name, value in PLACES.items() if name in code)


def _columns(kind: Any) -> str:
    """Return what the columns of a summary hold, for those fields that have a comment."""
    columns = {one.name: one.metadata.get("column", one.name) for one in fields(kind)}
    source = "".join(inspect.getsource(one) for one in reversed(kind.__mro__) if issubclass(one, Sentence))
    own = {columns[name]: comment for name, comment in FIELD.findall(source) if columns.get(name) in FIGURES}
    return "; ".join(f"`{name}`: {comment}" for name, comment in own.items())
