"""Docstrings as the generator of the API pages reads them: words, not types, stand behind a parameter's name."""

from __future__ import annotations

import re
import textwrap
from functools import partial
from typing import Any

from griffe import Extension, Function, Object

SECTION = r"^({})\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)"
GIVEN = re.compile(SECTION.format("Parameters|Attributes"), re.MULTILINE | re.DOTALL)
RETURNED = re.compile(SECTION.format("Returns"), re.MULTILINE | re.DOTALL)
GROUP = re.compile(
    SECTION.format(r"(?!(?:Parameters|Attributes|Returns|Yields|Raises|Notes|Examples)\n)\w[\w ]*"), re.M | re.S
)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \w+)*) : (.*(?:\n +\S.*)*)", re.MULTILINE)
SAYS_SO = re.compile("as in|default|without|None|unless|else", re.IGNORECASE)


class PlainDocstrings(Extension):
    """Put the words about a parameter, or about what is returned, below its name or type, and indented."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        text = GIVEN.sub(lambda section: ENTRY.sub(partial(_entry, obj), section[0]), obj.docstring.value)
        if isinstance(obj, Function) and obj.returns is not None:
            text = RETURNED.sub(
                lambda section: f"Returns\n-------\n{obj.returns}\n{textwrap.indent(section[2], '    ')}", text
            )
        obj.docstring.value = GROUP.sub(lambda group: ENTRY.sub(r"- `\1`: \2", group[0]), text)


def _entry(obj: Object, entry: re.Match[str]) -> str:
    """What is said of parameters, below their names; one whose default is None, which says nothing, may be left out."""
    said = obj.parameters if isinstance(obj, Function) else ()
    names = [name for name in entry[1].split(", ") if name in said]
    left_out = names and all(said[name].default == "None" for name in names) and not SAYS_SO.search(entry[2])
    return f"{entry[1]}\n    {entry[2]}{' By default it is left out.' if left_out else ''}"
