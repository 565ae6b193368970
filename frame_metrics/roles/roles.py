"""Roles and conventions as the caller says them: each declared once, with what it may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, get_args, get_origin, get_type_hints

from frame_metrics.errors import BadValueError, UnknownNameError, check_choice, closest
from frame_metrics.roles.conventions import Conventions, several

Ties = Literal["doc", "worst", "best", "order", "expected"]
Undefined = Literal["zero", "one", "null", "raise"]
Duplicates = Literal["error", "first"]
Match = Literal["best", "majority"]

# What a role or an option may be stands in its annotation, where checks and errors read it.
Column: TypeAlias = Annotated[str | None, "the name of a column"]
Columns: TypeAlias = Annotated[str | Sequence[str] | None, "the name of a column, or a list of names"]
Scores: TypeAlias = Annotated[
    str | Mapping[Any, str] | None, "the name of a column", "a column for each of several classes"
]  # the last is what a mapping may be
Classes: TypeAlias = Annotated[Sequence[Any] | None, "a list of different classes"]
Positive: TypeAlias = Annotated[Any | None, "a label, or a list of different ones"]
Size: TypeAlias = Annotated[str | float | bool | None, "a number of documents, a column, or True"]
Grade: TypeAlias = Annotated[float | None, "a grade"]
Score: TypeAlias = Annotated[float | None, "a score"]


class Roles(TypedDict, total=False):
    """The columns of a log by the part they play, and the conventions; None takes one back."""

    query: Columns
    score: Scores
    rank: Column
    label: Column
    grade: Column
    predicted: Column
    doc: Column
    system: Column
    by: Columns
    weight: Column
    cluster: Column
    n_relevant: Column
    rel: Grade
    collection_size: Size
    ties: Ties | None
    undefined: Undefined | None
    unjudged: Literal["drop"] | None
    duplicates: Duplicates | None
    positive: Positive
    classes: Classes
    threshold: Score
    abstain: Classes
    match: Match | None


_HINTS = get_type_hints(Roles, include_extras=True)
_EXPECTED = {name: hint.__metadata__ for name, hint in _HINTS.items() if get_origin(hint) is Annotated}
CHOICES = {name: get_args(kind) for name, hint in _HINTS.items() if get_origin(kind := get_args(hint)[0]) is Literal}
COLUMNS = tuple(name for name in _HINTS if name not in {option.name for option in fields(Conventions)})


def _are_texts(values: Any) -> bool:
    return bool(values) and all(isinstance(value, str) for value in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _is_size(value: Any) -> bool:
    return isinstance(value, bool | str) or (_is_number(value) and 0 <= value < float("inf") and value == int(value))


def _are_classes(value: Any) -> bool:
    if isinstance(value, str) or not isinstance(value, Sequence) or not len(value):
        return False
    plain = not any(one is None or isinstance(one, list | dict | set) for one in value)
    return plain and len(set(value)) == len(value)


_RULES: dict[str, Callable[[Any], bool]] = {
    "the name of a column": lambda value: isinstance(value, str),
    "the name of a column, or a list of names": lambda value: (
        isinstance(value, str) or (isinstance(value, list | tuple) and _are_texts(value))
    ),
    "a column for each of several classes": lambda value: len(value) > 1 and _are_texts(value.values()),
    "a list of different classes": _are_classes,
    "a label, or a list of different ones": lambda value: _are_classes(several(value)),
    "a number of documents, a column, or True": _is_size,
    "a grade": _is_number,
    "a score": _is_number,
}


def check_roles(roles: dict[str, Any]) -> None:
    """Raise for a role or option that does not exist, or has a value it cannot have."""
    for name, value in roles.items():
        if name not in _HINTS:
            raise UnknownNameError(f"there is no role or option {name!r}{closest(name, _HINTS)}")
        if name in CHOICES and value is not None:
            check_choice(name, value, CHOICES[name])
        if name in _EXPECTED and value is not None:
            expected = _EXPECTED[name][-1 if isinstance(value, Mapping) else 0]
            if not _RULES[expected](value):
                raise BadValueError(f"{name}={value!r} is not {expected}")
