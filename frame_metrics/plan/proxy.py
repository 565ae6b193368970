"""Judgments of a machine (``proxy=``) beside those of people: their columns and conventions."""

from __future__ import annotations

from typing import Any

from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import ColumnError, quote
from frame_metrics.plan.given import Given

PROXY_COLUMNS = ("query", "doc", "grade", "label")
PROXY_CONVENTIONS = ("rel", "scale")


def proxy_of(proxy: Any) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the frame of a machine's judgments, the options for its columns, and its own conventions.

    Parameters
    ----------
    proxy : the frame, or a frame with roles, whose ``rel`` and ``scale`` replace those of the results. If it has
        neither, ``rel`` is that of the results, as ``scale`` is of a frame without roles.
    """
    roles: Any = proxy.roles if isinstance(proxy, Given) else {}
    if isinstance(proxy, Given) and proxy.judgments is not None:
        raise ColumnError(
            "proxy: it has judgments of its own, and has to be the judgments themselves; leave judge() out"
        )
    given = (role for role, value in roles.items() if value is not None)
    if wrong := next((role for role in given if role not in PROXY_COLUMNS + PROXY_CONVENTIONS), None):
        raise ColumnError(
            f"proxy: {wrong}={quote(roles[wrong])} is a role of results; judgments take query=, doc=, grade= or "
            f"label=, rel= and scale=, so pass {wrong}=None there"
        )
    frame = proxy.frame if isinstance(proxy, Given) else proxy
    backend_of(frame)  # raises for what is no frame
    conventions = {name: roles.get(name) for name in PROXY_CONVENTIONS} if isinstance(proxy, Given) else {}
    if not any(value is not None for value in conventions.values()):
        conventions.pop("rel", None)
    return frame, {name: roles.get(name) for name in PROXY_COLUMNS} | {"several": None}, conventions
