"""The basis of a report's figures: the frame, the roles of its columns, and the conventions in force."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from frame_metrics.backends.display import versions
from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import class_name
from frame_metrics.measuring.baseline import is_frame
from frame_metrics.report.cells import counted
from frame_metrics.report.content import Basis
from frame_metrics.roles.columns import ROLES
from frame_metrics.roles.conventions import Conventions
from frame_metrics.verbs.overview import note_of

# Values of conventions, in words, if the caller does not give them.
DEFAULTS = {
    "undefined": "as the reference of each metric says",
    "unjudged": "not relevant",
    "duplicates": "an error",
}
RANKING_CONVENTIONS = ("rel", "ties", "unjudged", "duplicates")  # conventions that only rankings have


def basis_of(irm: Any, plan: Any, call: Any) -> Basis:
    """Return the basis of the figures of an irm."""
    now = datetime.now(UTC).replace(microsecond=0)
    return Basis(now, class_name(irm.frame), _roles(plan, call), _conventions(call, irm.roles), versions())


def _roles(plan: Any, call: Any) -> list[dict[str, str]]:
    """Return a row for each role: its column, and whether the caller named it or it was found by its name."""
    rows = []
    for role in ROLES:
        column = plan.columns.segments if role == "by" else getattr(plan.columns, role)
        if not column or hasattr(Conventions, role):  # conventions have their own list
            continue
        rows.append(
            {
                "role": role,
                "column": _value_text(column),
                "source": note_of(plan.roles, plan.found, role) or "named",
            }
        )
    if call is not None and call.judgment_columns is not None:
        for role in ("query", "doc", "grade", "label", "annotator", "subtopic"):
            column = getattr(call.judgment_columns, role)
            if column:
                rows.append({"role": f"{role} of the judgments", "column": _value_text(column), "source": "judge()"})
    return rows


def _value_text(value: Any) -> str:
    """Return as text one or several columns, columns of classes, or values of a convention; of a frame its columns."""
    if is_frame(value):
        backend = backend_of(value)
        known = backend.head_and_height(0)
        rows = "" if known is None else f" of {counted(known[1], 'rows')}"
        return f"a {class_name(value)}{rows}: {', '.join(map(str, backend.names()))}"
    if not isinstance(value, tuple):
        return str(value)
    return ", ".join(f"{one[0]}: {one[1]}" if isinstance(one, tuple) else str(one) for one in value)


def _conventions(call: Any, roles: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return a row for each convention that the caller gives, and for those on which the field disagrees."""
    if call is None:
        return []
    rows = []
    for name, value in vars(call.conventions).items():
        given = roles.get(name) is not None or (name == "several" and value is not None)
        if not given and (
            name not in (*DEFAULTS, *RANKING_CONVENTIONS) or (name in RANKING_CONVENTIONS and not call.columns.query)
        ):
            continue
        text = DEFAULTS.get(name, "") if value is None else _value_text(value)
        rows.append({"convention": name, "value": text, "source": "given" if given else "default"})
    return rows
