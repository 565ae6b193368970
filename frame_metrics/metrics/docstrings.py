"""Docstrings that are data, such as the messages of checks and the help of the command: ``python -OO`` keeps none."""

from __future__ import annotations

import ast
import inspect
import sys
from textwrap import dedent
from typing import Any


def docstring(documented: Any) -> str:
    """Return the docstring of a function or a class, under ``python -OO`` from its source; "" if there is none."""
    if sys.flags.optimize < 2:
        return inspect.getdoc(documented) or ""
    try:
        (node,) = ast.parse(dedent(inspect.getsource(documented))).body
    except (OSError, TypeError, SyntaxError, ValueError):  # without its source, or not in a statement of its own
        return ""
    return (ast.get_docstring(node) or "") if isinstance(node, ast.FunctionDef | ast.ClassDef) else ""
