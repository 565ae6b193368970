"""The scale (``scale=``), a mapping from words to grades: its checks, and ``rel=`` given as a word."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from frame_metrics.errors import BadValueError, closest, listed, quote
from frame_metrics.inputs.rows import EXACT
from frame_metrics.metrics.parameters import is_number

Scale: TypeAlias = Mapping[Any, float | None]
KINDS = {str: "text", bool: "True and False", float: "numbers"}  # the kinds of words, as errors call them


def check_scale(scale: Any) -> None:
    """Raise for a bad scale: it maps words of one kind to finite numbers, or to None for "not judged"."""
    if not isinstance(scale, Mapping) or not scale:
        raise BadValueError(f"scale={quote(scale)} is not a mapping from words to grades, as {{'good': 2, 'bad': 0}}")
    kinds = {kind_of_word(word) for word in scale}
    if len(kinds) > 1:
        raise BadValueError(f"scale=: the words {listed(scale)} have several types; give them that of the column")
    for word, grade in scale.items():
        if grade is not None and not _is_exact(grade):
            raise BadValueError(f"scale=: the grade of {word!r} is {quote(grade)}, and no number; None is not judged")
    if all(grade is None for grade in scale.values()):
        raise BadValueError("scale=: no word has a grade, so that nothing would be judged; give one a number")
    _check_case(scale)


def kind_of_word(word: Any) -> type:
    """Return the kind of a word of a scale: str, bool, or float for any number; raise for another value."""
    if isinstance(word, bool | str):
        return bool if isinstance(word, bool) else str
    if not _is_exact(word):
        what = "a missing grade is not judged, and needs no word" if word is None or word != word else "it is no word"
        raise BadValueError(f"scale= has {quote(word)} among its words; {what}")
    return float


def _is_exact(value: Any) -> bool:
    return is_number(value) and math.isfinite(value) and abs(value) < EXACT


def _check_case(scale: Scale) -> None:
    """Raise for words with two grades that differ only in case, or in spaces at their ends."""
    seen: dict[str, Any] = {}
    for word in scale:
        same = seen.setdefault(str(word).strip().casefold(), word)
        if scale[same] != scale[word]:
            raise BadValueError(
                f"scale= has {quote(same)} and {quote(word)}, which are one word but for case, with two grades; give "
                "them one"
            )


def least_relevant_grade(rel: float | str, scale: Scale | None) -> float:
    """Return the least relevant grade as a number; ``rel`` may be a word of the scale."""
    if not isinstance(rel, str):
        return rel
    if scale is None:
        raise BadValueError(f"rel={quote(rel)} is not a grade; a word needs scale= too, with the grade of each")
    grade = scale.get(rel)
    if grade is None:
        graded = [word for word, grade in scale.items() if grade is not None]
        what = "has no grade in" if rel in scale else "is no word of"
        raise BadValueError(f"rel={quote(rel)} {what} scale=; there are {listed(graded)}{closest(rel, graded)}")
    return grade
