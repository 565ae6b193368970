"""Errors about roles that no column has, and the columns that likely have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frame_metrics.errors import closest, did_you_mean, listed, nearest
from frame_metrics.roles.columns import ROLES
from frame_metrics.roles.list_columns import column_names
from frame_metrics.roles.roles import COLUMNS

PER_QUERY = ("metric", "value", "undefined")  # columns by which a result of per_query() is recognised


def missing_text(
    pair: tuple[str, ...], roles: Mapping[str, Any], available: list[str], hint: Callable[[str], str] | None = None
) -> str:
    """Return the text of an error about a missing role, or about two of which one is needed.

    Parameters
    ----------
    pair : the role, or the two.
    roles : what the caller named.
    available : the frame's columns.
    hint : returns a hint for a column that is missing.
    """
    aside = [role for role in pair if role in roles]
    if aside:
        way = f"leave {aside[0]}=None out, or name its column, one of {listed(available)}"
        return f"{aside[0]}=None was passed, but this call needs the {aside[0]}; {way}"
    for role in pair:
        other = next((name for name, value in roles.items() if name in COLUMNS and role in column_names(value)), None)
        if other and role in available:
            only = "a column can have only one role"
            return f"the column {role!r} is the {other}, and {only}; name the {role} with {role}="
        if role in available and ROLES[role].found:
            return f"the column {role!r} is there, but does not fit the others; pass {role}={role!r} to see why"
    which = " or ".join(f"{role}=" for role in pair)
    if {*PER_QUERY} <= {*available}:
        what = "the frame has numbers of queries, as per_query() returns them; pass value='value'"
        return f"the {' or '.join(pair)} is missing, and {what}"
    free = free_columns(roles, available)
    # The backend's hint may name a similar column; that is cut out, as this column may have a role already.
    hints = [hint_at(role, free) or (hint(role) if hint else "").replace(closest(role, available), "") for role in pair]
    more = next((words for words in hints if words), "")
    if pair == ("query",) and likely_query(roles, available)[0]:
        more = f"; did you mean {roles['cluster']!r}, which is the cluster?"
    among = listed(free or available)
    way = f"; name its column with {which}, one of {among}" if available else " in a frame without columns"
    return f"the {' or '.join(pair)} is missing{way}{more}"


def hint_at(role: str, available: list[str]) -> str:
    """Return a hint at the column that likely has a role; "" if there is none."""
    known = usual_columns(role, available)
    return did_you_mean(known[0]) if known else closest(role, available)


def usual_columns(role: str, available: list[str]) -> list[str]:
    """Return the columns whose names are usual for a role."""
    return [name for name in available if str(name).strip().lower() == role] or ROLES[role].among(available)


def likely_roles(
    pairs: Sequence[tuple[str, ...]], roles: Mapping[str, Any], available: Sequence[str]
) -> dict[str, Any]:
    """Return the likely column of missing roles, or of one of two; ... for the first if it has none."""
    free = free_columns(roles, available)
    near = next(((role, column) for role in pairs[0] if (column := nearest(role, free))), (pairs[0][0], ...))
    usual = _usual(pairs, free)
    return dict(filter(None, [usual[0] or near, *usual[1:]]))


def likely_query(roles: Mapping[str, Any], available: Sequence[str]) -> tuple[dict[str, Sequence[str]], dict[str, Any]]:
    """Return the way out of a missing query: the cluster, if it is called so and no other column is; or a column.

    They are as ``FrameMetricsError.offering`` takes them.
    """
    cluster = roles.get("cluster")
    if isinstance(cluster, str) and _is_query(cluster) and not usual_columns("query", free_columns(roles, available)):
        return {"cluster=": ["query="]}, {}
    return {}, likely_roles([("query",)], roles, available)


def _is_query(column: str) -> bool:
    """Return True for the name of a column of single searches, which may also group rows: no user asks only one."""
    return "session" in column.lower() and bool(usual_columns("query", [column]))


def free_columns(roles: Mapping[str, Any], available: Sequence[str]) -> list[str]:
    """Return the columns that the caller named for no role."""
    named = {column for role, given in roles.items() if role in COLUMNS for column in column_names(given)}
    return [column for column in available if column not in named]


def _usual(pairs: Sequence[tuple[str, ...]], free: list[str]) -> list[tuple[str, str] | None]:
    """Return of each role, or of one of two, the role and the column that is called so; None if none is."""
    return [next(((role, known[0]) for role in pair if (known := usual_columns(role, free))), None) for pair in pairs]


def also_missing(pairs: Sequence[tuple[str, ...]], roles: Mapping[str, Any], available: list[str]) -> str:
    """Return the clause about further roles that are missing, with their likely columns; "" if there are none."""
    free = free_columns(roles, available)
    pairs = [pair for pair in pairs if not any(role in free and ROLES[role].found for role in pair)]
    if not pairs:
        return ""
    add = ", ".join(f"{one[0]}={one[1]!r}" for one in _usual(pairs, free) if one)
    which = " and ".join(f"the {' or '.join(pair)}" for pair in pairs)
    return f"; {which} {'are' if len(pairs) > 1 else 'is'} missing too{f'; add {add}' if add else ''}"
