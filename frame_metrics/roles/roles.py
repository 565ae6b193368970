"""Roles and conventions as callers give them: each declared once, with its type, and a check of its values."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal, Protocol, TypeAlias, TypedDict, cast, get_args, get_origin, get_type_hints

import polars as pl

from frame_metrics.errors import BadValueError, UnknownNameError, check_choice, closest, did_you_mean, listed, quote
from frame_metrics.inputs.rows import EXACT
from frame_metrics.metrics.parameters import is_number
from frame_metrics.roles.columns import OF_RESULTS, ROLES
from frame_metrics.roles.conventions import Conventions, as_list
from frame_metrics.roles.memory import is_memory
from frame_metrics.roles.scale import check_scale, least_relevant_grade

Ties = Literal["doc", "worst", "best", "order", "expected"]
Undefined = Literal["zero", "one", "null", "raise"]
Unjudged = Literal["drop", "negative"]
UnjudgedQueries = Literal["count"]
Unanswered = Literal["zero", "drop"]
Duplicates = Literal["error", "first"]
Several = Literal["mean", "median", "max", "majority"]
Match = Literal["best", "majority", "informedness", "payoff"]


def makes_column(value: Any) -> bool:
    """Return True for a value of which a column is made: an expression of polars or pandas, or a function."""
    return isinstance(value, pl.Expr) or (callable(value) and not isinstance(value, type))


def _is_name(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 64
    return isinstance(value, str) or whole or makes_column(value)


def _are_names(values: Any) -> bool:
    return _is_name(values) or (isinstance(values, list | tuple) and bool(values) and all(map(_is_name, values)))


def _are_class_scores(columns: Mapping[Any, Any]) -> bool:
    return len(columns) > 1 and all(map(_is_name, columns.values()))


def _is_extra(value: Any) -> bool:
    named = isinstance(value, Mapping) and bool(value) and all(isinstance(one, str) and one for one in value)
    return named and all(map(_is_name, value.values()))


def _is_whole(value: Any, least: int) -> bool:
    return is_number(value) and least <= value <= EXACT and value == int(value)


def _are_chances(by_rank: Mapping[Any, Any]) -> bool:
    ranks = all(_is_whole(rank, 1) for rank in by_rank)
    return ranks and bool(by_rank) and all(is_number(chance) and 0 <= chance <= 1 for chance in by_rank.values())


def _are_classes(value: Any) -> bool:
    if isinstance(value, str) or not isinstance(value, Sequence) or not len(value):
        return False
    try:
        different = set(value)
    except TypeError:  # a list, an array or another unhashable value, which is no class
        return False
    return len(different) == len(value) and None not in different


MAKE_IT = "; make it a column of the frame, and give its name"


def is_foreign(value: Any) -> bool:
    """Return True for an object of a library (such as a series) that makes no column here, or a list with one."""
    values = value if isinstance(value, list | tuple) else [value]
    return any(quote(one).startswith("<") and not isinstance(one, int) and not makes_column(one) for one in values)


def _is_grade(value: Any) -> bool:
    return isinstance(value, str) or (is_number(value) and value == value)


def _is_frame(value: Any) -> bool:
    return any(hasattr(type(value), one) for one in ("columns", "__arrow_c_stream__"))


def _is_size(value: Any) -> bool:
    return isinstance(value, bool | str) or makes_column(value) or _is_whole(value, 0)


class FrameFunction(Protocol):
    """A function of the frame that returns a column; ``pd.col(...)`` of pandas is one too."""

    def __call__(self, frame: Any, /) -> Any: ...


# The names of these types stand in signatures and in what editors show; ``frame_metrics.typing`` has them for callers.
Expression: TypeAlias = pl.Expr | FrameFunction
ColumnName: TypeAlias = str | int | Expression
Names: TypeAlias = ColumnName | Sequence[ColumnName] | None
# An annotation says which values a role or option may have: in words, which errors repeat, and by a test function.
# Where there are two texts and two tests, the second ones are for a mapping.
Column: TypeAlias = Annotated[ColumnName | None, "the name of a column", _is_name]
Columns: TypeAlias = Annotated[Names, "the name of a column, or a list of names", _are_names]
SystemColumns: TypeAlias = Annotated[Names, "the name of a column, or a list of names, each of a system", _are_names]
ScoreColumns: TypeAlias = Annotated[
    Names | Mapping[Any, ColumnName],
    "the name of a column, or a list of names, each of a system",
    _are_names,
    "a column for each of several classes",
    _are_class_scores,
]
ExtraColumns: TypeAlias = Annotated[
    Mapping[str, ColumnName] | None,
    "a mapping from names to columns, as {'price': 'price_eur'}",
    _is_extra,
]
ClassList: TypeAlias = Annotated[Sequence[Any] | None, "a list of different classes, as ['a', 'b']", _are_classes]
PositiveLabels: TypeAlias = Annotated[
    Any | None, "a label, or a list of different ones", lambda value: _are_classes(as_list(value))
]
CollectionSize: TypeAlias = Annotated[
    str | float | bool | Expression | None, "a number of documents, a column, or True", _is_size
]
GradeScale: TypeAlias = Mapping[Any, float | None]
Grade: TypeAlias = Annotated[float | str | None, "a grade", _is_grade]
Threshold: TypeAlias = Annotated[
    float | str | Expression | None,
    "a score, or the name of a column",
    lambda value: _is_grade(value) or makes_column(value),
]
Propensity: TypeAlias = Annotated[
    str | Mapping[int, float] | Any | None,
    "the name of a column, or the frame that propensities() returns",
    lambda value: isinstance(value, str) or makes_column(value) or _is_frame(value),
    "a mapping from ranks to chances from 0 to 1",
    _are_chances,
]
Popularity: TypeAlias = Annotated[
    str | Mapping[Any, float] | Any | None,
    "the name of a column, or a frame of documents, a row for each time that one was chosen",
    lambda value: isinstance(value, str) or makes_column(value) or _is_frame(value),
    "a mapping from documents to how often each was chosen, from 0",
    lambda chosen: bool(chosen) and all(is_number(n) and 0 <= n < math.inf for n in chosen.values()),
]
Catalogue: TypeAlias = Annotated[
    int | Any | None,
    "a number of documents from 1, or a frame of them",
    lambda value: _is_frame(value) or _is_whole(value, 1),
]
Clip: TypeAlias = Annotated[float | None, "a weight above 0", lambda value: is_number(value) and value > 0]
Memory: TypeAlias = Annotated[int | str | None, "a number of bytes, or a text as '2GB'", is_memory]
Folder: TypeAlias = Annotated[
    str | os.PathLike[str] | None,
    "the path of a folder that is there",
    lambda value: isinstance(value, str | os.PathLike) and os.path.isdir(value),
]


class Roles(TypedDict, total=False):
    """Roles and conventions by name, as ``df.irm`` takes them; None sets one aside."""

    # what the rows are
    query: Columns
    doc: Column
    score: ScoreColumns
    rank: SystemColumns
    label: Column
    grade: Column
    predicted: SystemColumns
    relevant: Column
    value: Columns
    # segments and units
    system: Column
    arm: Column
    by: Columns
    weight: Column
    count: Column
    cluster: Column
    team: Column
    # conventions
    rel: Grade
    scale: GradeScale | None
    ties: Ties | None
    undefined: Undefined | None
    unjudged: Unjudged | None
    unjudged_queries: UnjudgedQueries | None
    unanswered: Unanswered | None
    duplicates: Duplicates | None
    n_relevant: Column
    collection_size: CollectionSize
    # decisions and classes
    positive: PositiveLabels
    classes: ClassList
    threshold: Threshold
    abstain: ClassList
    match: Match | None
    # clicks
    propensity: Propensity
    target_propensity: Propensity
    clip: Clip
    # documents
    group: Column
    popularity: Popularity
    catalogue: Catalogue
    # large files
    memory: Memory
    temporary: Folder
    # own metrics
    extra: ExtraColumns


_HINTS = get_type_hints(Roles, include_extras=True)
_EXPECTED = {name: hint.__metadata__ for name, hint in _HINTS.items() if get_origin(hint) is Annotated}
CHOICES = {name: get_args(kind) for name, hint in _HINTS.items() if get_origin(kind := get_args(hint)[0]) is Literal}
RESOURCES = ("memory", "temporary")  # options of memory and disk, which change no number
_NAME, _NAMES = _EXPECTED["doc"], _EXPECTED["query"]  # what a role of one column expects, and one of several
COLUMNS = tuple(name for name in _HINTS if name not in {*RESOURCES, *(option.name for option in fields(Conventions))})


# Names of roles and options elsewhere: our option, and the verb that has it; "irm" has the roles.
OPTIONS_ELSEWHERE = {
    "wide": ("layout='wide'", "evaluate"),
    "cuped": ("covariate=", "ab_test"),
    **dict.fromkeys(("control", "reference", "ref", "treatment"), ("baseline=, the old arm", "ab_test")),
    **dict.fromkeys(("confidence", "confidence_level", "level"), ("ci=", "ab_test")),
    "alpha": ("ci=, which is 1 - alpha", "ab_test"),
    **dict.fromkeys(("ratio", "allocation", "traffic"), ("split=", "ab_test")),
    **dict.fromkeys(("sequential", "peeking"), ("looks='any'", "ab_test")),
    **dict.fromkeys(("mde", "delta", "difference", "effect", "effect_size", "min_effect"), ("detect=", "sample_size")),
    **dict.fromkeys(("variant", "bucket", "week", "month", "period"), ("arm=", "irm")),
    "ranker": ("system=, or team= of interleaved lists", "irm"),
    "source": ("team=", "irm"),
    **dict.fromkeys(("unit", "visitor"), ("cluster=", "irm")),
    **dict.fromkeys(("user", "user_id"), ("cluster=, who asks, or query= where each user has one list", "irm")),
}


def role_called(name: str) -> str | None:
    """Return the role for which a name is usual, as in logs or other libraries; None if there is none."""
    return next((role for role, declared in ROLES.items() if name.lower() in declared.names), None)


def option_called(name: str, takes: Collection[str]) -> str:
    """Return a hint at our option for a name from another library; "" if there is none.

    ``takes``: the options of the verb that was called.
    """
    option, verb = OPTIONS_ELSEWHERE.get(name.lower(), ("", ""))
    whose = "" if option.partition("=")[0] in takes else f" of {verb}()"
    return f"; did you mean {option}{whose}?" if option else ""


def names_as_text(value: Any) -> Any:
    """Return names of columns as plain text; a column of pandas may have an integer as its name."""
    if isinstance(value, str):
        return str.__str__(value)  # of a member of an Enum, the text that it is
    if isinstance(value, Mapping):
        return {one: names_as_text(column) for one, column in value.items()}
    if isinstance(value, list | tuple):
        return [*map(names_as_text, value)] if isinstance(value, list) else tuple(map(names_as_text, value))
    return str(value) if isinstance(value, int) and _is_name(value) else value


def checked_roles(roles: dict[str, Any], of_verb: Callable[[str], str]) -> Roles:
    """Return roles and conventions with names of columns as text; raise for an unknown one, or a bad value.

    ``of_verb``: returns the end of the message on a name that is an option of a verb.
    """
    for name, value in roles.items():
        if name not in _HINTS:
            role = role_called(name)
            hint = option_called(name, _HINTS) or (did_you_mean(role) if role else of_verb(name))
            hint = hint or closest(name, _HINTS)
            raise UnknownNameError(f"there is no role or option {quote(name)}{hint or f'; there are {listed(_HINTS)}'}")
        if value is not None:
            _check_value(name, value)
    if roles.get("scale") is not None:
        check_scale(roles["scale"])
    if roles.get("rel") is not None:
        least_relevant_grade(roles["rel"], roles.get("scale"))
    return cast(Roles, {name: names_as_text(value) if name in COLUMNS else value for name, value in roles.items()})


def check_column(option: str, value: Any, *, list_allowed: bool) -> None:
    """Raise unless an option that is no role has None or the name of a column; ``list_allowed``: or a list of names."""
    if value is None:
        return
    expected, holds = _NAMES if list_allowed else _NAME
    if not holds(value):
        raise BadValueError(f"{option}={quote(value)} is not {expected}{MAKE_IT if is_foreign(value) else ''}")


def _check_value(name: str, value: Any) -> None:
    """Raise if a role or option cannot have a value."""
    if name in CHOICES:
        check_choice(name, value, CHOICES[name])
    if name in _EXPECTED:
        expected, holds = _EXPECTED[name][-2:] if isinstance(value, Mapping) else _EXPECTED[name][:2]
        if not holds(value):
            way = MAKE_IT if is_foreign(value) and "column" in expected else ""
            if name in OF_RESULTS and isinstance(value, list | tuple) and _are_names(value):
                way = (
                    f"; make one column of them, and name the other one too, irm({name}={name!r}, system='system'): "
                    f"frame.unpivot({quote(value)}, index=..., variable_name='system', value_name={name!r}) in polars, "
                    "melt() in pandas"
                )
            raise BadValueError(f"{name}={quote(value)} is not {expected}{way}")
    if name in ("rel", "threshold") and isinstance(value, int) and abs(value) > EXACT:
        raise BadValueError(
            f"{name}={value} is past 2**53, where float64 cannot tell integers apart; rescale it, and its column"
        )
