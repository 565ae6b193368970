"""Conventions: the rules of a call where tools differ, and the checks that they go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import Any

import numpy as np

from frame_metrics.errors import ColumnError, NotComputableError, listed, quote
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.metrics.metric import Metric
from frame_metrics.roles.columns import Columns, roles_where
from frame_metrics.roles.scale import Scale, least_relevant_grade

# Types of columns to which rel= and threshold= are rounded before they are compared with their values.
FLOATS: dict[str, Any] = {"Float16": np.float16, "Float32": np.float32}
OF_ROWS_ALONE = roles_where(lambda role: role.describes == ("row",))
UNDEFINED = {"zero": 0.0, "one": 1.0, "null": None, "raise": None}


@record
class Conventions:
    """The conventions of a call, as given or by default."""

    rel: float = 1  # the least grade that is relevant
    rel_given: bool = False  # whether the caller gave rel=
    several: str | None = None  # the rule that combines several separate judgments of a document
    scale: Scale | None = None  # the grade of each word, if grades are words
    ties: str = "worst"
    undefined: str | None = None
    unjudged: str | None = None
    unjudged_queries: str | None = None
    unanswered: str | None = None
    duplicates: str | None = None
    collection_size: float | bool | None = None
    positive: tuple[Any, ...] | None = None  # the labels that are relevant; None for 1 and True
    positive_listed: bool = False  # whether ``positive`` was given as a list
    classes: tuple[Any, ...] | None = None
    threshold: float | str | None = None  # one for all rows, or the column with the threshold of each row
    abstain: tuple[Any, ...] = ()
    match: str | None = None
    propensity: Any = None  # its column, or propensities by rank in a mapping or a frame
    target_propensity: Any = None  # as ``propensity``
    clip: float | None = None  # the largest weight of a result
    catalogue: Any = None  # the documents that could be shown: their number, or a frame of them
    popularity: Any = None  # how often each document was chosen: a mapping, a frame, or the column of it
    grade_type: str = "Float64"  # the type of the column of grades

    @property
    def positive_text(self) -> str | None:
        """The text that was given as ``positive=``; None for a list, or another type.

        Values of the column may be variants of it in case or spaces, by mistake; the texts of a list are meant as they
        are.
        """
        is_text = self.positive is not None and not self.positive_listed and isinstance(self.positive[0], str)
        return str(self.positive[0]) if is_text and self.positive else None

    @property
    def collection_size_number(self) -> float | None:
        """The collection size, if it was given as a number."""
        return None if self.collection_size is None or self.collection_size is True else float(self.collection_size)

    def fill(self, metric: Metric) -> float | None:
        """Return the substitute for an undefined value of a metric; None for null."""
        return metric.undefined if self.undefined is None else UNDEFINED[self.undefined]

    def filled(
        self, name: str, metric: Metric, values: Array, measured: Array | None = None, whose: str = "segments"
    ) -> Array:
        """Return the values of a metric with undefined ones (NaN) replaced; NaN where they stay null.

        Parameters
        ----------
        name : the metric's name, for the error.
        measured : True for values that were measured; the others stay as they are. None: all were.
        whose : the plural of what a value belongs to, for the error.

        Raises
        ------
        NotComputableError
            A value is undefined, and ``undefined="raise"``.
        """
        undefined = np.isnan(values) if measured is None else np.isnan(values) & measured
        if not undefined.any():
            return values
        if self.undefined == "raise":
            n = undefined.size if measured is None else int(measured.sum())
            raise NotComputableError(f"{name} is undefined for {int(undefined.sum())} of {n} {whose}")
        fill = self.fill(metric)
        return values if fill is None else np.where(undefined, fill, values)

    def variant(self, metric: Metric) -> tuple[float, bool]:
        """Return the least relevant grade for a metric, and True if it reads condensed rankings."""
        rel, condensed = metric.variant(self.rel, self.unjudged == "drop")
        return _rounded_to_type(rel, self.grade_type), condensed

    def in_types(self, score: str, grade: str) -> Conventions:
        """Return the same with ``threshold`` and ``rel`` rounded to the types of the scores and of the grades.

        For example, 0.1 in a Float32 column is not 0.1 as a Python float, and would not reach ``threshold=0.1``.
        """
        if FLOATS.keys().isdisjoint((score, grade)):
            return self
        threshold = (
            _rounded_to_type(self.threshold, score) if isinstance(self.threshold, int | float) else self.threshold
        )
        grade = grade if self.scale is None else "Float64"
        return replace(self, rel=_rounded_to_type(self.rel, grade), threshold=threshold, grade_type=grade)

    def in_words(self, grade: float) -> str:
        """Return a grade as text for errors, with its words if there is a scale."""
        words = [word for word, number in (self.scale or {}).items() if number == grade]
        return f"{grade:g} ({listed(words)})" if words else f"{grade:g}"

    def unreached_text(self, column: str, rel: float, top: float) -> str:
        """Return the text of errors about a column of grades that do not reach ``rel``; ``top``: the largest."""
        largest = f"the largest is {self.in_words(top)}: set rel= lower"
        return f"no grade in {column} reaches rel={self.in_words(rel)}; {largest}"

    @property
    def highest_grade(self) -> float | None:
        """The highest grade of the scale; None without a scale."""
        return None if self.scale is None else max(grade for grade in self.scale.values() if grade is not None)


OPTIONS = {option.name for option in fields(Conventions)}


def _rounded_to_type(value: float, dtype: str) -> float:
    """Return a number rounded to a type of floats; unchanged for other types."""
    if dtype not in FLOATS:
        return value
    with np.errstate(over="ignore"):
        return float(FLOATS[dtype](value))


def conventions(roles: Mapping[str, Any], columns: Columns, judgment_columns: Columns | None = None) -> Conventions:
    """Return the conventions, those given and the defaults of the others; raise for one that would have no effect.

    Parameters
    ----------
    roles : the roles and conventions as the caller gave them.
    columns : the roles of the columns.
    judgment_columns : the roles of the columns of separate judgments; None if there are none.
    """
    judging = judgment_columns or columns
    errors = chain(_without_columns(roles, columns, judging), _of_classes(roles, columns, judging))
    errors = chain(errors, _without_propensity(roles, columns))
    for reason in errors if columns.query else chain(errors, _of_queries(roles, columns)):
        raise ColumnError(reason)
    given = {name: value for name, value in roles.items() if name in OPTIONS and value is not None}
    given |= {name: tuple(given[name]) for name in ("classes", "abstain") if name in given}
    if "positive" in given:
        is_list = isinstance(given["positive"], list | tuple | set | frozenset)
        given |= {"positive": tuple(as_list(given["positive"])), "positive_listed": is_list}
    if "rel" in given:
        given |= {"rel": least_relevant_grade(given["rel"], given.get("scale")), "rel_given": True}
    if isinstance(size := given.get("collection_size"), str) or size is False:
        del given["collection_size"]  # a column, which is among the roles; False is the same as None
    # Equal scores are ordered by document, as in trec_eval. Without documents they are in the worst order: otherwise
    # the order of the rows, which an engine may change, would change values, and a lucky one would flatter.
    return Conventions(**{"ties": "doc" if columns.doc else "worst"} | given)


def as_list(value: Any) -> list[Any]:
    """Return the values of an option as a list; it may be one value or several."""
    return [*value] if isinstance(value, list | tuple | set | frozenset) else [value]


def _without_columns(roles: Mapping[str, Any], columns: Columns, judging: Columns) -> Iterator[str]:
    """Yield errors about conventions that need documents or grades, if no column has them.

    ``judging``: the roles of the columns of the judgments, whether in the log or in a frame of their own.
    """
    if roles.get("ties") == "doc" and not columns.doc:
        yield "ties='doc' orders equal scores by document; name the document column with doc="
    for role in ("catalogue", "popularity"):
        if roles.get(role) is not None and not isinstance(roles[role], str) and not columns.doc:
            yield f"{role}= is about documents; name the document column with doc="
    if roles.get("duplicates") and not columns.doc:
        yield "duplicates= is about documents that repeat; name the document column with doc="
    if roles.get("scale") is not None and not judging.grade:
        way = f"{judging.label} is a label; name it with grade=, or the relevant word with positive="
        other = f"{judging.relevant} lists ids; pass scale=None" if judging.relevant else way
        yield f"scale= is about words that are grades, and {other}"
    if roles.get("several") in ("mean", "median") and judging is not columns and judging.label:
        way = "pass 'majority' or 'max', or name it with grade="
        yield f"several={roles['several']!r} applies to grades, and {judging.label} is a label; {way}"


def _without_propensity(roles: Mapping[str, Any], columns: Columns) -> Iterator[str]:
    """Yield errors about conventions of propensities without ``propensity=``, or without a rank to look them up."""
    if roles.get("propensity") is None:
        yield from (
            f"{name}= has no effect without propensity=" for name in _given(roles, ("target_propensity", "clip"))
        )
    for name in _given(roles, ("propensity", "target_propensity")):
        if isinstance(roles[name], str) or not columns.query:
            continue
        if columns.rank is None:
            yield f"{name}= is read at the rank that was shown; name rank=, or of another order a column of {name}="
        elif columns.shape.per_system:
            yield f"{name}= is read at the rank that was shown, and there are several; name a column of {name}="


def _of_classes(roles: Mapping[str, Any], columns: Columns, judging: Columns) -> Iterator[str]:
    """Yield errors about conventions of classes that would have no effect, or contradict each other."""
    positive = roles.get("positive") is not None
    for_several = [f"{name}=" for name in ("classes", "match") if roles.get(name) is not None]
    for_several += ["score={class: column}"] * bool(columns.class_scores)
    if positive and for_several:
        column = dict(columns.class_scores).get(roles["positive"]) if isinstance(roles["positive"], str) else None
        one = f", as score={quote(column)} for this class against the rest" if column and len(for_several) == 1 else ""
        yield f"positive= is for two classes, {for_several[0]} for several; name one of them{one}"
    if columns.query:
        of_rows = (*OF_ROWS_ALONE, "classes", "abstain", "match")
        yield from (f"{name}= is about the rows of a segment; pass query=None" for name in _given(roles, of_rows))
    graded = judging.grade and not judging.label
    if graded and for_several:
        yield f"{for_several[0]} is about classes, and {judging.grade} is a grade; name label="
    if positive and not columns.predicted and graded:
        yield f"positive= is a label, and {judging.grade} is a grade; pass rel=, or name label="
    if positive and not columns.predicted and judging.relevant:
        yield f"positive= is a label, and {judging.relevant} lists ids; pass positive=None"


def _of_queries(roles: Mapping[str, Any], columns: Columns) -> Iterator[str]:
    """Yield errors about conventions that have no effect on rows without a query."""
    of_queries = ["n_relevant", "duplicates", "ties", "unjudged_queries", "unanswered", "propensity"]
    of_queries += ["target_propensity", "catalogue", "popularity", "group"]
    yield from (f"{name}= is about the documents of a query; name query=" for name in _given(roles, of_queries))
    if size := columns.collection_size:
        yield f"collection_size={size!r} is a column with the size of each query; name query="
    if columns.label and roles.get("rel") not in (None, 1):
        yield f"rel= is a grade, and {columns.label} says already what is relevant"
    predicted = roles.get("predicted") is not None or columns.predicted is not None
    if not predicted and (roles.get("abstain") or roles.get("match")):
        yield "abstain= and match= are about predicted classes; name predicted="


def _given(roles: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return those of some roles and conventions that the caller gave."""
    return [name for name in names if roles.get(name) is not None]
