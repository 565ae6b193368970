"""The column of every part, of a log and of the judgments beside it: as the caller named it, or found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frame_metrics.errors import ColumnError, check_apart, check_parts, closest, did_you_mean, listed
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.roles import COLUMNS, LIKELY, Roles, names_as_text, with_texts

OF_QUERIES = ("rank", "doc")
OF_A_QUERY = ("by", "weight", "cluster")  # which the judgments may say instead of the log
FOUND = ("query", "score", "label", "grade", "predicted", *OF_QUERIES)  # by name too, the last beside a query only
RESULT = ("metric", "k", "value", "average", "n", "n_undefined", "ci_low", "ci_high", "total_over")


def resolve(
    roles: Roles,
    available: list[str],
    *,
    judgments: Sequence[str] | None = None,
    hint: Callable[[str], str] = lambda column: "",
) -> Columns:
    """Find the column of every part that is played, whatever will be asked.

    Parameters
    ----------
    roles : what the caller named; None sets a role aside.
    available : the frame's columns.
    judgments : the columns of the judgments that are kept beside the frame; None where there are none.
    hint : what may help where a column is not there.

    Raises
    ------
    ColumnError
        A column is not there, is ambiguous, or plays two parts.
    """
    roles, judged = with_texts(roles), judgments is not None
    theirs = [column for column in judgments or () if column not in available]
    lent = [column for role in OF_A_QUERY for column in _several(roles.get(role)) if column in theirs]

    def where(role: str, column: str) -> str:
        """A hint that says where a column stands that the log does not have."""
        if column in theirs and role in ("query", "doc", "label", "grade"):
            return f"; the judgments have it: name it there, judge(..., {role}={column!r})"
        return hint(column) or closest(column, theirs)

    named = _named(roles, [*available, *lent], where)
    extra = (column for _, column in named["extra"])
    free = set(available).difference(extra, *(_several(column) for column in named.values()))
    columns = {"query": None, "by": None} | named
    found = [role for role in FOUND if role not in roles and role in free]
    if "query" in found:
        columns["query"] = "query"
    if not columns["query"]:
        found = [role for role in found if role not in OF_QUERIES]
    columns |= {role: role for role in found if role in ("predicted", "doc")}
    columns |= _pair(roles, ("score", "rank"), found)
    columns |= {"label": None, "grade": None} if judged else _pair(roles, ("label", "grade"), found)
    if "query" in found and not judged:
        _check_query(columns, roles)
    resolved = Columns(**columns | {role: _several(columns[role]) for role in ("query", "by")}, lent=tuple(lent))
    _check_parts(resolved)
    return resolved


def _named(roles: Roles, available: list[str], hint: Callable[[str, str], str]) -> dict[str, Any]:
    """The columns that the caller named, by role, all of them there."""
    named: dict[str, Any] = {role: column for role, column in roles.items() if role in COLUMNS and column is not None}
    scores = named.pop("score") if isinstance(named.get("score"), Mapping) else {}
    extra = named.pop("extra", {})
    size = roles.get("collection_size")
    sized = {"collection_size": size} if isinstance(size, str) else {}
    several = {f"score of {one!r}": column for one, column in scores.items()}
    several |= {f"extra of {one!r}": column for one, column in extra.items()}
    for role, value in (named | several | sized).items():
        for column in _several(value):
            if column == "":
                raise ColumnError(f"{role}='': a column without a name plays no part; rename it")
            if column not in available:
                raise ColumnError(
                    f"{role}={column!r}: there is no such column among {listed(available)}{hint(role, column)}"
                )
    return named | sized | {"class_scores": tuple(scores.items()), "extra": tuple(extra.items())}


def _several(value: Any) -> tuple[str, ...]:
    values = value.values() if isinstance(value, Mapping) else value
    return () if value is None else (value,) if isinstance(value, str) else tuple(values)


def _pair(roles: Roles, pair: tuple[str, str], found: Sequence[str]) -> dict[str, str]:
    """The column of one of two roles that stand for each other, found by name where neither was named."""
    there = [role for role in pair if role in found]
    if not there or any(roles.get(role) is not None for role in pair):
        return {}
    if len(there) > 1:
        raise ColumnError(f"both {there[0]!r} and {there[1]!r} are columns; name the one that is meant, or both")
    return {there[0]: there[0]}


def absent(
    pair: tuple[str, ...], roles: Mapping[str, Any], available: list[str], hint: Callable[[str], str] | None = None
) -> str:
    """Return what an error says where a role, or one of two, is needed and no column plays it.

    ``hint`` may say where a column stands that is not among the available ones.
    """
    aside = [role for role in pair if role in roles]
    if aside:
        return f"{aside[0]}=None sets the {aside[0]} aside, and it is needed; name its column among {listed(available)}"
    for role in pair:
        other = next((name for name, value in roles.items() if name in COLUMNS and role in _several(value)), None)
        if other and role in available:
            return f"the column {role!r} is the {other}, and a column plays one part; name the {role} with {role}="
    which = " or ".join(f"{role}=" for role in pair)
    what = f"as the {pair[0]} with" if len(pair) == 1 else "with"
    such = "that" if len(pair) == 1 else "such a"
    hints = [likely(role, available) or (hint(role) if hint else "") for role in pair]
    more = next((words for words in hints if words), "")
    return f"no column is named {what} {which}, and none of {listed(available)} has {such} name{more}"


def likely(role: str, available: list[str]) -> str:
    """Return a hint that names the column that likely has a role, or nothing."""
    known = [name for name in available if str(name).lower() in LIKELY.get(role, ())]
    return closest(role, available) or (did_you_mean(known[0]) if known else "")


def _check_query(columns: dict[str, Any], roles: Roles) -> None:
    """Raise for a query that was found by name where rows are decided about, by themselves or query by query."""
    predicted = columns.get("predicted")
    if predicted or roles.get("threshold") is not None:
        what = f"the column {predicted!r}" if predicted else "threshold="
        raise ColumnError(
            f"{what} decides about rows, and 'query' is a column too; say query='query' for each query's own table, "
            "or query=None for one table of all rows"
        )


def _check_parts(columns: Columns) -> None:
    """Raise for a column that plays two parts, or a key column that is called as a column of the result."""
    several = {"query": columns.query, "system": _several(columns.system), "by": columns.by}
    several["score of a class"] = tuple(column for _, column in columns.class_scores)
    several["extra"] = tuple(column for _, column in columns.extra)
    parts = [(role, column) for role, column in columns.single.items() if role != "collection_size"]
    check_parts([*parts, *((key, column) for key, names in several.items() for column in names)])
    check_apart(columns.keys, RESULT)


def resolve_judgments(given: dict[str, Any], available: list[str], roles: Roles, columns: Columns) -> Columns:
    """Find the columns of judgments: as given, else called as in the log, else called as the role.

    A label may be given as True: every row is relevant. ``roles`` and ``columns`` are those of the log.
    """
    given, roles = {role: names_as_text(value) for role, value in given.items()}, with_texts(roles)
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
    found = named or own or _pair({}, pair, available)
    if not found:
        raise ColumnError(absent(pair, {}, available))
    return found


def _of_judgments(role: str, given: Any, available: list[str], own: str | None = None) -> str:
    """The judgments' column of a role: as given, else called as the log's own, else called as the role."""
    if given == "":
        raise ColumnError(f"judge: {role}='': a column without a name plays no part; rename it")
    if given is not None and given not in available:
        raise ColumnError(f"judge: {role}={given!r} is not among {listed(available)}{closest(given, available)}")
    for name in (own, role) if given is None else (given,):
        if name in available:
            return str(name)
    raise ColumnError(f"judge: name the {role} column of the judgments with {role}=; they have {listed(available)}")
