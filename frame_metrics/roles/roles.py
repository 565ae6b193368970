"""Which column plays which part: what the caller named, and what a metric cannot do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, get_args

from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    UnknownNameError,
    check_apart,
    check_choice,
    closest,
    listed,
)
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.needs import Needs

Ties = Literal["doc", "worst", "best", "order", "expected"]
Undefined = Literal["zero", "one", "null", "raise"]
Duplicates = Literal["error", "first"]
Match = Literal["best", "majority"]


class Roles(TypedDict, total=False):
    """The columns of a log by the part they play, and the conventions; None takes one back."""

    query: str | Sequence[str] | None
    score: str | Mapping[Any, str] | None
    rank: str | None
    label: str | None
    grade: str | None
    predicted: str | None
    doc: str | None
    system: str | None
    by: str | Sequence[str] | None
    weight: str | None
    cluster: str | None
    n_relevant: str | None
    rel: float | None
    collection_size: str | float | bool | None
    ties: Ties | None
    undefined: Undefined | None
    unjudged: Literal["drop"] | None
    duplicates: Duplicates | None
    positive: Any | None
    classes: Sequence[Any] | None
    threshold: float | None
    abstain: Sequence[Any] | None
    match: Match | None


JUDGED = ("score", "rank", "label", "grade", "predicted", "doc")
COLUMNS = ("query", *JUDGED, "system", "by", "weight", "cluster", "n_relevant")
SEVERAL = ("query", "by")
CHOICES: dict[str, tuple[str, ...]] = {
    "ties": get_args(Ties),
    "undefined": get_args(Undefined),
    "unjudged": ("drop",),
    "duplicates": get_args(Duplicates),
    "match": get_args(Match),
}
LISTS = ("classes", "abstain")
RESULT = ("metric", "k", "value", "average", "n", "n_undefined", "ci_low", "ci_high", "total")


def check_roles(roles: dict[str, Any]) -> None:
    """Raise for a role or option that does not exist, or has a value it cannot have."""
    for name, value in roles.items():
        if name not in Roles.__annotations__:
            raise UnknownNameError(f"there is no role or option {name!r}{closest(name, Roles.__annotations__)}")
        if value is None:
            continue
        if name in CHOICES:
            check_choice(name, value, CHOICES[name])
        elif name == "score" and isinstance(value, Mapping):
            if len(value) < 2 or not all(isinstance(column, str) for column in value.values()):
                raise BadValueError(f"score={dict(value)!r} is not a column for each of several classes")
        elif name in LISTS:
            if not _is_list_of_classes(value):
                raise BadValueError(f"{name}={value!r} is not a list of different classes")
        elif name in COLUMNS:
            texts = [value] if isinstance(value, str) else value
            many = name in SEVERAL and isinstance(value, list | tuple)
            if not (isinstance(value, str) or many) or not texts or not all(isinstance(t, str) for t in texts):
                what = "the name of a column, or a list of names" if name in SEVERAL else "the name of a column"
                raise BadValueError(f"{name}={value!r} is not {what}")
        elif name in ("rel", "threshold") and (
            isinstance(value, bool) or not isinstance(value, int | float) or value != value
        ):
            raise BadValueError(f"{name}={value!r} is not a {'grade' if name == 'rel' else 'score'}")
        elif name == "collection_size" and not _is_size(value):
            raise BadValueError(f"collection_size={value!r} is not a number of documents, a column, or True")


def _is_list_of_classes(value: Any) -> bool:
    if isinstance(value, str) or not isinstance(value, Sequence) or not len(value):
        return False
    plain = not any(one is None or isinstance(one, list | dict | set) for one in value)
    return plain and len(set(value)) == len(value)


def _is_size(value: Any) -> bool:
    if isinstance(value, bool | str):
        return True
    return isinstance(value, int | float) and 0 <= value < float("inf") and value == int(value)


def conventions(roles: Roles, columns: Columns) -> Conventions:
    """Return the conventions that were said, and the defaults of the others."""
    ties = roles.get("ties") or ("doc" if columns.doc else "worst")
    if ties == "doc" and not columns.doc:
        raise ColumnError("ties='doc' orders equal scores by document; name the document column with doc=")
    if roles.get("duplicates") and not columns.doc:
        raise ColumnError("duplicates= is about documents that repeat; name the document column with doc=")
    _check_classes(roles, columns)
    if not columns.query:
        _check_pooled(roles, columns)
    size, rel = roles.get("collection_size"), roles.get("rel")
    return Conventions(
        rel=1 if rel is None else rel,
        ties=ties,
        undefined=roles.get("undefined"),
        unjudged=roles.get("unjudged"),
        duplicates=roles.get("duplicates"),
        size=None if isinstance(size, str) or size is False else size,
        positive=roles.get("positive"),
        classes=None if roles.get("classes") is None else tuple(roles.get("classes") or ()),
        threshold=roles.get("threshold"),
        abstain=tuple(roles.get("abstain") or ()),
        match=roles.get("match"),
    )


def _check_classes(roles: Roles, columns: Columns) -> None:
    """Raise for what is said of classes and leaves nothing to do."""
    positive = roles.get("positive") is not None
    several = [f"{name}=" for name in ("classes", "match") if roles.get(name) is not None]
    several += ["score={class: column}"] * bool(columns.class_scores)
    if positive and several:
        raise ColumnError(f"positive= is for two classes, {several[0]} for several; name one of them")
    if columns.query:
        for name in ("classes", "abstain", "match"):
            if roles.get(name) is not None:
                raise ColumnError(f"{name}= is about the rows of a segment; say query=None")
    if columns.grade and not columns.label and several:
        raise ColumnError(f"{several[0]} is about classes, and {columns.grade} is a grade; name label=")
    if columns.grade and not columns.label and positive and not columns.predicted:
        raise ColumnError(f"positive= is a label, and {columns.grade} is a grade; say rel=, or name label=")


def _check_pooled(roles: Roles, columns: Columns) -> None:
    """Raise for what rows without a query leave nothing to do."""
    for name in ("n_relevant", "duplicates", "ties"):
        if roles.get(name) is not None:
            raise ColumnError(f"{name}= is about the documents of a query; name query=")
    if columns.size:
        raise ColumnError(f"collection_size={columns.size!r} is a column with the size of each query; name query=")
    if roles.get("rel") not in (None, 1) and columns.label:
        raise ColumnError(f"rel= is a grade, and {columns.label} says already what is relevant")
    if roles.get("predicted") is None and columns.predicted is None and (roles.get("abstain") or roles.get("match")):
        raise ColumnError("abstain= and match= are about predicted classes; name predicted=")


def resolve(
    roles: Roles, available: list[str], needs: Needs, *, judged: bool, hint: Callable[[str], str] = lambda column: ""
) -> Columns:
    """Find the column of every part.

    Parameters
    ----------
    roles : what the caller named.
    available : the frame's columns.
    needs : what the metrics cannot do without.
    judged : whether the judgments are kept beside the frame.
    hint : what may help where a column is not there.

    Raises
    ------
    ColumnError
        A column is not there, is ambiguous, or plays two parts.
    """
    named: dict[str, Any] = {name: value for name, value in roles.items() if value is not None and name in COLUMNS}
    size = roles.get("collection_size")
    scores = named.pop("score") if isinstance(named.get("score"), Mapping) else {}
    named |= {f"score of {value!r}": column for value, column in scores.items()}
    for role, value in [*named.items(), ("collection_size", size if isinstance(size, str) else None)]:
        for column in _several(value):
            if column not in available:
                raise ColumnError(f"{role}={column!r}: there is no such column among {listed(available)}{hint(column)}")
    query = _several(named.get("query"))
    if not query and needs.query:
        query = (_taken("query", ("query",), available),)
    pairs = _places(named, bool(scores), available, needs, bool(query))
    if needs.predicted:
        pairs["predicted"] = named.get("predicted") or _taken("predicted", ("predicted",), available)
    pairs |= {} if judged else _pair(named, ("label", "grade"), available, needed=True)
    doc = named.get("doc") or (_taken("doc", ("doc",), available) if judged else None)
    pairs |= {name: named[name] for name in ("system", "weight", "cluster", "n_relevant") if name in named}
    by = _several(named.get("by"))
    sized = size if isinstance(size, str) else None
    columns = replace(Columns(query, by=by, doc=doc, size=sized, class_scores=tuple(scores.items())), **pairs)
    _check_keys(columns)
    return columns


def _places(named: dict[str, Any], several: bool, available: list[str], needs: Needs, queries: bool) -> dict[str, Any]:
    """The columns of score and rank: what orders the results of a query, and what is compared with a threshold."""
    if several:
        if needs.order:
            raise ColumnError("score= names a column for each class, and a ranking is ordered by one; name one")
        return {}
    found = _pair(named, ("score", "rank"), available, needed=needs.order) if queries or needs.order else {}
    if needs.score:
        return found | {"score": named.get("score") or _taken("score", ("score",), available)}
    return {"rank": found["rank"]} if "rank" in found else found


def _several(value: Any) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def _taken(role: str, choices: Sequence[str], available: list[str]) -> str:
    """The column that has the role's own name."""
    found = [name for name in choices if name in available]
    if len(found) > 1:
        raise ColumnError(f"both {found[0]!r} and {found[1]!r} are columns; name the one that is meant, or both")
    if not found:
        hint = closest(role, available)
        raise ColumnError(
            f"no column is named as the {role} with {role}=, and none of {listed(available)} has that name{hint}"
        )
    return found[0]


def _pair(named: dict[str, Any], pair: tuple[str, str], available: list[str], *, needed: bool) -> dict[str, Any]:
    given = {name: named[name] for name in pair if name in named}
    if given:
        return given
    if not needed and not set(pair) & set(available):
        return {}
    found = [name for name in pair if name in available]
    if not found:
        hint = closest(pair[0], available) or closest(pair[1], available)
        raise ColumnError(
            f"no column is named with {pair[0]}= or {pair[1]}=, and none of {listed(available)} has such a name{hint}"
        )
    taken = _taken(pair[0], pair, available)
    return {taken: taken}


def _check_keys(columns: Columns) -> None:
    """Raise for a column that plays two parts, or a key column that is called as a column of the result."""
    played: dict[str, str] = {}
    several = {"query": columns.query, "system": (columns.system,), "by": columns.by}
    single = {name: (getattr(columns, name),) for name in (*JUDGED, "weight", "cluster", "n_relevant")}
    several["score of a class"] = tuple(column for _, column in columns.class_scores)
    for role, names in (*single.items(), *several.items()):
        for column in names:
            if column is None:
                continue
            if column in played:
                also = "named twice" if played[column] == role else f"the {played[column]} too"
                raise ColumnError(f"{role}={column!r} is {also}; a column plays one part")
            played[column] = role
    check_apart(columns.keys, RESULT)


def resolve_judgments(given: dict[str, Any], available: list[str], roles: Roles, columns: Columns) -> Columns:
    """Find the columns of judgments: as named, else called as in the log, else called as the role."""

    def one(role: str, own: str | None) -> str:
        if given.get(role) is not None:
            if given[role] not in available:
                raise ColumnError(
                    f"judge: {role}={given[role]!r} is not among {listed(available)}{closest(given[role], available)}"
                )
            return str(given[role])
        for name in (own, role):
            if name in available:
                return str(name)
        raise ColumnError(f"judge: name the {role} column of the judgments with {role}=; they have {listed(available)}")

    query = given.get("query")
    if query is None:
        query = columns.query if set(columns.query) <= set(available) else (one("query", None),)
    query = tuple(
        one("query", None) if given.get("query") is None and q not in available else q for q in _several(query)
    )
    for column in query:
        if column not in available:
            raise ColumnError(f"judge: query={column!r} is not among {listed(available)}{closest(column, available)}")
    if len(query) != len(columns.query):
        raise ColumnError(
            f"judge: the query is {len(columns.query)} columns in the log and {len(query)} in the judgments"
        )
    judgment: dict[str, Any] = {}
    if given.get("label") is True:
        judgment["label"] = "label"
    else:
        for role in ("label", "grade"):
            if given.get(role) is not None:
                judgment[role] = one(role, None)
        if not judgment:
            own = {role: str(roles.get(role)) for role in ("label", "grade") if roles.get(role) in available}
            judgment = own or _pair({}, ("label", "grade"), available, needed=True)
    by = tuple(column for column in columns.by if column in available)
    of_query: dict[str, Any] = {
        role: own for role in ("weight", "cluster") if (own := getattr(columns, role)) in available
    }
    return replace(Columns(query, by=by, doc=one("doc", columns.doc)), **of_query, **judgment)
