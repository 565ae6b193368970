"""Gains of grades, and calls of users' functions from numbers to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from frame_metrics.errors import BadValueError, KernelError, NotComputableError, listed, quote
from frame_metrics.inputs.rows import Array

OfNumber: TypeAlias = Callable[[float], float]  # a user's function from a number to a number
Gain: TypeAlias = str | Mapping[float, float] | Sequence[float] | OfNumber
LARGEST_GAIN = 1e300  # the largest gain: a hundred million of them can be added without overflow


def mapping_of(gain: Any) -> Any:
    """Return the mapping that a list of the gains of the grades 0, 1, 2 ... stands for; other gains as they are."""
    return dict(enumerate(gain)) if isinstance(gain, list | tuple) else gain


def gain_of(grade: Array, gain: Gain) -> Array:
    """Return the gain of each grade: itself, 2^g - 1 or what a mapping or list says; 0 for negative grades and NaN."""
    value = _unchecked_gain(grade, gain)
    if value.max(initial=0) > LARGEST_GAIN:
        top = grade[np.argmax(value)]
        raise BadValueError(
            f"the gain of grade {top:g} with gain={quote(gain)} overflows where gains are added; rescale it"
        )
    return value


def _unchecked_gain(grade: Array, gain: Gain) -> Array:
    """Return what ``gain_of`` checks for overflow."""
    if callable(gain):
        out, judged = np.zeros(len(grade)), grade >= 0
        out[judged] = values_of_function("gain", gain, grade[judged], rising=True)
        return out
    if not isinstance(gain, str):
        table: Mapping[float, float] = mapping_of(gain)
        known = np.array(sorted(table), dtype=np.float64)
        values = np.array([table[g] for g in sorted(table)], dtype=np.float64)
        at = np.searchsorted(known, grade).clip(max=len(known) - 1)
        mapped = known[at] == grade
        if len(missing := np.unique(grade[~mapped & (grade > 0)])):
            lacking = listed(missing[:3].tolist())
            raise BadValueError(f"gain: there is none for the grades {lacking}; add them")
        return np.where(mapped, values[at], 0.0)
    grade = np.where(grade > 0, grade, 0).astype(np.float64, copy=False)
    if gain != "exp":
        return grade
    with np.errstate(over="ignore"):
        return np.exp2(grade) - 1


def name_of_function(function: Any) -> str:
    """Return the name of a user's function as metrics print it, such as "<double>", which cannot be read back."""
    name = getattr(function, "__name__", type(function).__name__)
    return f"<{name.strip('<>')}>"


def values_of_function(option: str, function: OfNumber, numbers: Array, *, rising: bool) -> Array:
    """Call a user's function once for each distinct number, and return the values, shape (numbers,).

    Parameters
    ----------
    option : the parameter that is the function, for errors.
    rising : whether its values must never fall as the numbers rise; otherwise they must never rise.

    Raises
    ------
    KernelError
        The function fails, returns something other than a number from 0, or its values go the wrong way.
    """
    known, at = np.unique(numbers, return_inverse=True)
    values = np.array(
        [_called_with(f"{option}={name_of_function(function)}", function, x) for x in known.tolist()], np.float64
    )
    wrong = np.flatnonzero(np.diff(values) < 0 if rising else np.diff(values) > 0)
    if len(wrong):
        (a, b), (x, y) = ((pair[wrong[0]], pair[wrong[0] + 1]) for pair in (known, values))
        way = "never falls" if rising else "never rises"
        raise KernelError(
            f"{option}={name_of_function(function)} is {x:g} for {a:g} and {y:g} for {b:g}, and a {option} {way}"
        )
    return values[at]


def _called_with(call: str, function: OfNumber, number: float) -> float:
    """Call a user's function with one number, which it gets as an integer if it is whole."""
    number = int(number) if number == int(number) else number
    try:
        value = function(number)
    except Exception as error:
        raise KernelError(f"{call} raised {type(error).__name__} for {number}: {error}") from error
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not real or not 0 <= value <= LARGEST_GAIN:
        text = quote(value.item() if isinstance(value, np.generic) else value)
        raise KernelError(f"{call} gave {text} for {number}; expected is a number from 0")
    return float(value)


def top_gain(max_grade: float | None, gain: Gain) -> Array:
    """Return the gain of the highest grade of the scale, shape (1,)."""
    if max_grade is None:
        raise NotComputableError("needs max_grade=, the highest grade of the scale")
    return gain_of(np.array([float(max_grade)]), gain)
