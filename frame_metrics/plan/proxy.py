"""Judgments of a machine beside those of people: what a caller says of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from frame_metrics.border.frames import border_of
from frame_metrics.errors import ColumnError, shown
from frame_metrics.plan.plan import Plan
from frame_metrics.roles.roles import Roles

COLUMNS = ("query", "doc", "grade", "label")
OWN = ("rel", "scale")


@dataclass(frozen=True, eq=False)
class Proxy:
    """A frame of judgments, and what was said of it."""

    frame: Any
    given: dict[str, Any]  # its columns, as those of other judgments
    roles: Roles  # conventions that are its own; none where they are those of the frame


def proxy_of(proxy: Any) -> Proxy:
    """Return the judgments of a machine: a frame, or the plan of one with its roles, which then has its own scale."""
    roles: Any = proxy.roles if isinstance(proxy, Plan) else {}
    for role, said in roles.items():
        if said is not None and role not in COLUMNS + OWN:
            raise ColumnError(
                f"proxy: {role}={shown(said)} is said of results; judgments take query=, doc=, grade= or label=, rel= "
                f"and scale=, so say {role}=None there"
            )
    frame = proxy.frame if isinstance(proxy, Plan) else proxy
    border_of(frame)
    own: Any = {name: roles.get(name) for name in OWN} if isinstance(proxy, Plan) else {}
    return Proxy(frame, {name: roles.get(name) for name in COLUMNS} | {"several": None}, own)
