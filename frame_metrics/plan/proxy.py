"""Judgments of a machine (``proxy=``) beside those of people: their columns and conventions."""

from __future__ import annotations

from typing import Any

from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import ColumnError, quote
from frame_metrics.plan.given import Given

PROXY_COLUMNS = ("query", "doc", "grade", "label")
PROXY_CONVENTIONS = ("rel", "scale")


def judgments_of(named: Given, where: str) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the frame of judgments with roles, the columns that they name, and the conventions that they have.

    ``where``: the option or verb that they are given to, with which errors begin.
    """
    if named.judgments is not None:
        raise ColumnError(
            f"{where}: it has judgments of its own, and has to be the judgments themselves; leave judge() out"
        )
    given = {role: value for role, value in named.roles.items() if value is not None}
    if wrong := next((role for role in given if role not in PROXY_COLUMNS + PROXY_CONVENTIONS), None):
        raise ColumnError(
            f"{where}: {wrong}={quote(given[wrong])} is a role of results; judgments take query=, doc=, grade= or "
            f"label=, rel= and scale=, so pass {wrong}=None there"
        )
    columns, conventions = ({name: given.get(name) for name in names} for names in (PROXY_COLUMNS, PROXY_CONVENTIONS))
    return named.frame, columns, conventions


def proxy_of(proxy: Any) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the frame of a machine's judgments, the options for its columns, and its own conventions.

    Parameters
    ----------
    proxy : the frame, or a frame with roles, whose ``rel`` and ``scale`` replace those of the results. If it has
        neither, ``rel`` is that of the results, as ``scale`` is of a frame without roles.
    """
    frame, columns, conventions = proxy, dict.fromkeys(PROXY_COLUMNS), dict[str, Any]()
    if isinstance(proxy, Given):
        frame, columns, conventions = judgments_of(proxy, "proxy")
    backend_of(frame)  # raises for what is no frame
    if not any(value is not None for value in conventions.values()):
        conventions.pop("rel", None)
    return frame, columns | {"several": None}, conventions
