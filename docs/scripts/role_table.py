"""The table of the roles that each verb reads, ignores and refuses, from the declarations of the verbs."""

from __future__ import annotations

from collections.abc import Collection

from frame_metrics.plan.declared import VERBS
from frame_metrics.plan.verb import ROLE_NAMES, RoleRules, Verb

HEAD = "| verb | rows | reads | refuses |\n|---|---|---|---|"


def role_table() -> str:
    """Return the table, a row for each verb and kind of rows."""
    verbs = [verb for verb in VERBS.values() if "baseline" not in verb.form]
    return "\n".join([HEAD, *(row for verb in verbs for row in _rows(verb))]) + "\n"


def _rows(verb: Verb) -> list[str]:
    """Return the rows of a verb."""
    title = f"`{verb.name}` {verb.form}".strip()
    return [f"| {title} | {rows} | {_read(kind)} | {_refused(kind)} |" for rows, kind in verb.kinds.items()]


def _read(kind: RoleRules) -> str:
    """Return the roles that are read, or those that are not, whichever are fewer."""
    unread = [role for role in ROLE_NAMES if kind.status(role) == "ignores" and not _sometimes(kind, role)]
    reads = [role for role in ROLE_NAMES if kind.status(role) == "reads"]
    said = _named(reads) if len(reads) <= len(unread) else f"all but {_named(unread)}" if unread else "all"
    also = [f"{_named(roles)} with `{option}=`" for option, roles in kind.when.items()]
    less = [f"not {_named(roles)} with `{option}=`" for option, roles in kind.unless.items()]
    return "; ".join([said, *also, *less])


def _sometimes(kind: RoleRules, role: str) -> bool:
    return any(role in roles for roles in kind.when.values())


def _refused(kind: RoleRules) -> str:
    """Return the roles that are refused, apart from those that such rows cannot have."""
    return ", ".join(f"`{key.replace('=', '=' + chr(34)) + chr(34) * ('=' in key)}`" for key in kind.refuses)


def _named(roles: Collection[str]) -> str:
    return ", ".join(f"`{role}`" for role in sorted(roles, key=ROLE_NAMES.index))
