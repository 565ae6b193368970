"""Parameters of metrics: what an annotation says that a value may be, and whether a value is that."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeGuard, get_args, get_origin

import numpy as np

from frame_metrics.errors import listed
from frame_metrics.inputs import Gain, OfNumber
from frame_metrics.inputs.bins import QUANTILE
from frame_metrics.inputs.gains import LARGEST_GAIN, mapping_of

# The range of a parameter is in its annotation: words, which docs print, and a rule, which checks use.
Share: TypeAlias = Annotated[float, "between 0 and 1", lambda x: 0 <= x <= 1]
Inside: TypeAlias = Annotated[float, "above 0, less than 1", lambda x: 0 < x < 1]
Positive: TypeAlias = Annotated[float, "above 0", lambda x: x > 0]
NotNegative: TypeAlias = Annotated[float, "0 or more", lambda x: x >= 0]
PartOfAll: TypeAlias = Annotated[float, "above 0, at most 1", lambda x: 0 < x <= 1]
Goal: TypeAlias = Annotated[float, "0.5 or more", lambda x: x >= 0.5]
LogBase: TypeAlias = Annotated[float, "above 1", lambda x: 1 < x < math.inf]
Levels: TypeAlias = Annotated[
    Sequence[float], "a list of levels between 0 and 1", lambda xs: 0 <= min(xs) <= max(xs) <= 1
]
Stretch: TypeAlias = Annotated[
    Sequence[float],
    "a list of two numbers between 0 and 1, the lesser first",
    lambda xs: len(xs) == 2 and 0 <= xs[0] < xs[1] <= 1,
]
Count: TypeAlias = Annotated[int, "a whole number from 1", lambda x: x >= 1]
Bins: TypeAlias = Annotated[
    int | str, "a whole number from 1, or 'quantile'", lambda x: x == QUANTILE or (_is_of(x, int) and x >= 1)
]
GainName: TypeAlias = Annotated[
    Gain,
    "'linear', 'exp', a mapping from grades to gains, a list for 0, 1, 2 ..., or a function of one grade",
    lambda gain: _is_one_of(("linear", "exp"), gain) or _is_gain_table(mapping_of(gain)),
]
Norm: TypeAlias = Literal[1, 2, "max"]
Discount: TypeAlias = Annotated[
    str | OfNumber, "'log2', 'jk', or a function of one rank", lambda discount: _is_one_of(("log2", "jk"), discount)
]

EXAMPLES = (0.5, 1, 2.0, True, "a", "linear", "log2", [0.5], [0.25, 0.5])
PLAIN = {float: "a number", int: "a whole number", bool: "True or False", str: "a text"}


def is_number(value: Any) -> TypeGuard[float]:
    """Return True for a number of Python that floats reach; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, float) or abs(value) <= sys.float_info.max


def meaning(hint: Any) -> str | None:
    """Return words for the values that a parameter with this annotation may have; None if any is allowed."""
    kind = _without_none(hint)
    if get_origin(kind) is Literal:
        return "one of " + listed(get_args(kind))
    return str(kind.__metadata__[0]) if get_origin(kind) is Annotated else PLAIN.get(kind)


def example(hint: Any) -> Any:
    """Return a value that a parameter with this annotation may have: the first that fits."""
    kind = _without_none(hint)
    choices = get_args(kind) if get_origin(kind) is Literal else EXAMPLES
    return next(value for value in choices if fits(value, kind))


def fits(value: Any, hint: Any) -> bool:
    """Return True for a value that a parameter's annotation allows."""
    kind = _without_none(hint)
    if value is None:
        return kind is not hint
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_origin(kind) is Annotated:
        return _is_of(value, kind.__origin__) and all(rule(value) for rule in kind.__metadata__[1:])
    return _is_of(value, kind) and bool(value == value)


def _is_of(value: Any, kind: Any) -> bool:
    """Return True for a value of a plain type; other types are left to the rule in the annotation."""
    if kind in (bool, str):
        return isinstance(value, kind)
    if kind is int:
        return is_number(value) and math.isfinite(value) and bool(value == int(value))
    if kind == Sequence[float]:
        return isinstance(value, list | tuple) and len(value) > 0 and all(map(is_number, value))
    return kind is not float or is_number(value)


def stored_value(value: Any, hint: Any) -> Any:
    """Return a value that a parameter's annotation allows as metrics keep it: whole, or gains as a mapping."""
    kind = _without_none(hint)
    whole = kind is Count or (kind is Bins and value != QUANTILE)
    return int(value) if whole else mapping_of(value) if kind is GainName else value


def _without_none(hint: Any) -> Any:
    """The first alternative of an annotation that allows None, else the annotation."""
    optional = get_origin(hint) is not Annotated and type(None) in get_args(hint)
    return get_args(hint)[0] if optional else hint


def _is_one_of(names: Sequence[str], value: Any) -> bool:
    """Return True for one of the names, and for a function."""
    return value in names if isinstance(value, str) else callable(value) and not isinstance(value, type)


def _is_gain_table(value: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    real = all(is_number(x) and abs(x) <= LARGEST_GAIN for x in (*value, *value.values()))
    return real and min(value.values()) >= 0


def wrong_cutoff(at: str, cutoff: Any) -> str:
    """Return words for why a value is no cutoff, a rank "k" or a level of "recall"; "" if it is one."""
    number = is_number(cutoff) or isinstance(cutoff, np.integer)
    if at == "recall":
        return "" if number and 0 <= cutoff <= 1 else "the recall level is not between 0 and 1"
    if number and 1 <= cutoff <= 2**53 and cutoff == int(cutoff):
        return ""
    past = isinstance(cutoff, int | float) and 2**53 < cutoff < math.inf
    return "the cutoff is not a whole number from 1" + " to 2**53" * past


def plain(value: Any) -> Any:
    """Return a copy of a number, list or mapping with plain Python values, so that its text can be read back."""
    if isinstance(value, Mapping):
        return {plain(grade): plain(gain) for grade, gain in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else value
    return value.item() if isinstance(value, np.number | np.bool_) else value
