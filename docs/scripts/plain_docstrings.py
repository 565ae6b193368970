"""Docstrings as the generator of the API pages reads them: words, not types, stand behind a parameter's name."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from griffe import Extension, Function, Object

SECTION = r"^({})\n-+\n(.*?)(?=^\w+\n-+\n|\Z)"
GIVEN = re.compile(SECTION.format("Parameters|Attributes"), re.MULTILINE | re.DOTALL)
RETURNED = re.compile(SECTION.format("Returns"), re.MULTILINE | re.DOTALL)
NAMES = re.compile(r"^(\*{0,2}\w+(?:, \w+)*) : ", re.MULTILINE)


class PlainDocstrings(Extension):
    """Put the words about a parameter, or about what is returned, below its name or type, and indented."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        text = GIVEN.sub(lambda section: NAMES.sub(r"\1\n    ", section[0]), obj.docstring.value)
        if isinstance(obj, Function) and obj.returns is not None:
            text = RETURNED.sub(
                lambda section: f"Returns\n-------\n{obj.returns}\n{textwrap.indent(section[2], '    ')}", text
            )
        obj.docstring.value = text
