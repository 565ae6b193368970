"""The column of every part, of a log and of the judgments beside it: as the caller named it, or found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from frame_metrics.errors import ColumnError, check_apart, closest, listed
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.needs import Needs
from frame_metrics.roles.roles import COLUMNS, Roles

FOUND = ("query", "score", "rank", "label", "grade", "predicted")  # by name too, where they are read
RESULT = ("metric", "k", "value", "average", "n", "n_undefined", "ci_low", "ci_high", "total")


def resolve(
    roles: Roles, available: list[str], needs: Needs, *, judged: bool, hint: Callable[[str], str] = lambda column: ""
) -> Columns:
    """Find the column of every part; raise for one that is not there, is ambiguous, or plays two parts.

    ``judged`` says that the judgments are kept beside the frame; ``hint``, what may help where a column is not there.
    """
    named = _named(roles, available, hint)
    columns = {role: column for role, column in named.items() if role not in FOUND}
    columns["by"] = _several(named.get("by"))
    columns["query"] = _several(named.get("query")) or ((_called("query", available),) if needs.query else ())
    columns |= _places(named, available, needs, queries=bool(columns["query"]))
    if needs.predicted:
        columns["predicted"] = named.get("predicted") or _called("predicted", available)
    if judged:
        columns["doc"] = named.get("doc") or _called("doc", available)
    else:
        columns |= _pair(named, ("label", "grade"), available, needed=True)
    resolved = Columns(**columns)
    _check_parts(resolved)
    return resolved


def _named(roles: Roles, available: list[str], hint: Callable[[str], str]) -> dict[str, Any]:
    """The columns that the caller named, by role, all of them there."""
    named: dict[str, Any] = {role: column for role, column in roles.items() if role in COLUMNS and column is not None}
    scores = named.pop("score") if isinstance(named.get("score"), Mapping) else {}
    size = roles.get("collection_size")
    sized = {"collection_size": size} if isinstance(size, str) else {}
    for role, value in (named | {f"score of {one!r}": column for one, column in scores.items()} | sized).items():
        for column in _several(value):
            if column not in available:
                raise ColumnError(f"{role}={column!r}: there is no such column among {listed(available)}{hint(column)}")
    return named | sized | {"class_scores": tuple(scores.items())}


def _places(named: dict[str, Any], available: list[str], needs: Needs, *, queries: bool) -> dict[str, Any]:
    """The columns of score and rank: what orders the results of a query, and what is compared with a threshold."""
    if named["class_scores"] and needs.order:
        raise ColumnError("score= names a column for each class, and a ranking is ordered by one; name one")
    if named["class_scores"]:
        return {}
    places = _pair(named, ("score", "rank"), available, needed=needs.order) if queries or needs.order else {}
    if needs.score:
        return places | {"score": named.get("score") or _called("score", available)}
    return {"rank": places["rank"]} if "rank" in places else places


def _several(value: Any) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def _called(role: str, available: list[str]) -> str:
    """The column that has the role's own name."""
    if role not in available:
        raise ColumnError(
            f"no column is named as the {role} with {role}=, and none of {listed(available)} has that name"
            f"{closest(role, available)}"
        )
    return role


def _pair(named: dict[str, Any], pair: tuple[str, str], available: list[str], *, needed: bool) -> dict[str, Any]:
    """The columns of two roles that stand for each other: those that were named, or else the one that has its name."""
    given = {role: named[role] for role in pair if role in named}
    there = [role for role in pair if role in available]
    if given or not (there or needed):
        return given
    if len(there) > 1:
        raise ColumnError(f"both {there[0]!r} and {there[1]!r} are columns; name the one that is meant, or both")
    if not there:
        hint = closest(pair[0], available) or closest(pair[1], available)
        raise ColumnError(
            f"no column is named with {pair[0]}= or {pair[1]}=, and none of {listed(available)} has such a name{hint}"
        )
    return {there[0]: there[0]}


def _check_parts(columns: Columns) -> None:
    """Raise for a column that plays two parts, or a key column that is called as a column of the result."""
    several = {"query": columns.query, "system": _several(columns.system), "by": columns.by}
    several["score of a class"] = tuple(column for _, column in columns.class_scores)
    parts = [(role, column) for role, column in columns.single.items() if role != "collection_size"]
    played: dict[str, str] = {}
    for role, column in [*parts, *((key, column) for key, names in several.items() for column in names)]:
        if column in played:
            also = "named twice" if played[column] == role else f"the {played[column]} too"
            raise ColumnError(f"{role}={column!r} is {also}; a column plays one part")
        played[column] = role
    check_apart(columns.keys, RESULT)


def resolve_judgments(given: dict[str, Any], available: list[str], roles: Roles, columns: Columns) -> Columns:
    """Find the columns of judgments: as given, else called as in the log, else called as the role.

    A label may be given as True: every row is relevant. ``roles`` and ``columns`` are those of the log.
    """
    query = _query_of_judgments(given.get("query"), available, columns.query)
    judgment = _judgment(given, available, roles)
    by = tuple(column for column in columns.by if column in available)
    of_query: dict[str, Any] = {role: getattr(columns, role) for role in ("weight", "cluster")}
    of_query = {role: column for role, column in of_query.items() if column in available}
    doc = _of_judgments("doc", given.get("doc"), available, columns.doc)
    return Columns(query, by=by, doc=doc, **of_query, **judgment)


def _query_of_judgments(given: Any, available: list[str], own: tuple[str, ...]) -> tuple[str, ...]:
    if given is not None:
        query = tuple(_of_judgments("query", column, available) for column in _several(given))
    else:
        query = own if set(own) <= set(available) else (_of_judgments("query", None, available),)
    if len(query) != len(own):
        raise ColumnError(f"judge: the query is {len(own)} columns in the log and {len(query)} in the judgments")
    return query


def _judgment(given: dict[str, Any], available: list[str], roles: Roles) -> dict[str, Any]:
    """The columns of the label and the grade of judgments."""
    if given.get("label") is True:
        return {"label": "label"}
    pair = ("label", "grade")
    named = {role: _of_judgments(role, given[role], available) for role in pair if given.get(role) is not None}
    own = {role: str(roles.get(role)) for role in pair if roles.get(role) in available}
    return named or own or _pair({}, pair, available, needed=True)


def _of_judgments(role: str, given: Any, available: list[str], own: str | None = None) -> str:
    """The judgments' column of a role: as given, else called as the log's own, else called as the role."""
    if given is not None and given not in available:
        raise ColumnError(f"judge: {role}={given!r} is not among {listed(available)}{closest(given, available)}")
    for name in (own, role) if given is None else (given,):
        if name in available:
            return str(name)
    raise ColumnError(f"judge: name the {role} column of the judgments with {role}=; they have {listed(available)}")
