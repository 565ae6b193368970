"""Labels and predictions as numbers of classes: of two, one of which is relevant, or of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, bad_rows, listed
from frame_metrics.roles.columns import TEXTS, Columns, grade_column, label_column, largest_grade, refuse, same_as
from frame_metrics.roles.conventions import Conventions

MOST = 1000  # more different values are ids, and no classes


def class_type(label: Any, predicted: Any = None) -> Any:
    """Return the type that the classes have in a result: one that holds both sides, else that of the labels."""
    one, other = (pl.String if kind in TEXTS else kind for kind in (label, predicted))
    if one == pl.Null and other is not None:
        return other
    if other is None or not (one.is_numeric() and other.is_numeric()):
        return one
    both = [pl.DataFrame(schema={"class": kind}) for kind in (one, other)]
    return pl.concat(both, how="vertical_relaxed")["class"].dtype


def sides_of(
    frame: pl.DataFrame, columns: Columns, conventions: Conventions
) -> tuple[pl.Series | None, pl.Series | None]:
    """Return labels and predictions, each if there are any; catch-alls are no predictions.

    Raises
    ------
    BadValueError
        A value is NaN, or no class.
    """
    found: list[pl.Series | None] = []
    for column in (columns.label, columns.predicted):
        values = None if column is None else frame[column]
        if values is not None and column is not None:
            if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary):
                raise BadValueError(f"{column}: values of type {values.dtype} are no classes; make them text")
            if values.dtype.is_float():
                refuse(column, values.is_nan().fill_null(False), "are NaN", "drop them, or make them null")
        found.append(values)
    label, predicted = found
    if predicted is not None and columns.predicted is not None:
        for value in conventions.abstain:
            predicted = predicted.set(same_as(predicted, value, columns.predicted).fill_null(False), None)
    return label, predicted


def is_binary(label: pl.Series | None, predicted: pl.Series | None, columns: Columns, conventions: Conventions) -> bool:
    """Decide whether there are two classes or several, once for all rows."""
    if conventions.classes is not None or columns.class_scores or conventions.match is not None:
        return False
    if conventions.positive is not None or label is None:
        return True
    sides = [side for side in (label, predicted) if side is not None and side.dtype != pl.Null]
    if sides and all(_zeros_and_ones(values) for values in sides):
        return True
    values = [value for side in sides for value in _plain(side).drop_nulls().unique()[:4].to_list()]
    distinct = list(dict.fromkeys(values))
    if len(distinct) > 2 or not distinct:
        return False
    raise NotComputableError(
        f"{columns.label}: of the values {listed(sorted(distinct))}, nothing says which is the relevant one; "
        "name it with positive=, or list the classes with classes= for measures of all of them"
    )


def _zeros_and_ones(values: pl.Series) -> bool:
    if values.dtype == pl.Boolean:
        return True
    return values.dtype.is_numeric() and bool(((values == 0) | (values == 1)).all())


def relevant(frame: pl.DataFrame, label: pl.Series | None, columns: Columns, conventions: Conventions) -> pl.Series:
    """Return 1 for relevant rows, 0 for others, null for those not judged."""
    if label is not None:
        return label_column(label, str(columns.label), conventions.positive)
    grade = grade_column(frame[str(columns.grade)], str(columns.grade))
    if out_of_reach(grade, conventions.rel):
        top = largest_grade(grade)
        raise NotComputableError(f"no grade in {columns.grade} reaches rel={conventions.rel:g}; the largest is {top:g}")
    return (grade >= conventions.rel).cast(pl.Int8)


def out_of_reach(grade: pl.Series, rel: float) -> bool:
    """Whether some grade is positive and none is relevant; a positive whole number is relevant at 1."""
    if rel <= 1 and grade.dtype.is_integer():
        return False
    return 0 < largest_grade(grade) < rel


def _plain(values: pl.Series) -> pl.Series:
    """Classes as they are compared: categories as text."""
    return values.cast(pl.String) if values.dtype in TEXTS else values


def distinct_values(values: pl.Series) -> pl.Series:
    """Return the distinct values in their order, an Enum's being its own."""
    if values.dtype == pl.Enum:
        return _plain(values.unique().drop_nulls().sort())
    return _plain(values).unique().drop_nulls().sort()


def class_values(
    label: pl.Series, predicted: pl.Series | None, columns: Columns, conventions: Conventions
) -> pl.Series:
    """Return the classes in their order: as given, or sorted, those on either side."""
    kind = class_type(label.dtype, None if predicted is None else predicted.dtype)
    if conventions.classes is not None:
        return _given(conventions.classes, kind, columns, label)
    sides = [side for side in (label, predicted) if side is not None and side.null_count() < len(side)]
    if len(sides) == 2 and not _comparable(sides[0].dtype, sides[1].dtype):
        raise BadValueError(
            f"{columns.predicted}: its values are {sides[1].dtype}, those of {columns.label} are {sides[0].dtype}; "
            "give both one type, or say match= if they are clusters"
        )
    if sides and all(side.dtype == pl.Enum and side.dtype == label.dtype for side in sides):
        values = distinct_values(pl.concat(sides))
    else:
        found = [pl.Series([], dtype=kind), *(_plain(side).unique().cast(kind) for side in sides)]
        values = pl.concat(found).unique().drop_nulls().sort()
    if columns.class_scores:
        named = [value for value, _ in columns.class_scores]
        lacking = [value for value in values.to_list() if value not in named]
        if lacking:
            raise ColumnError(f"score= names no column for the classes {listed(lacking[:3])} of {columns.label}")
        values = _given(named, kind, columns, label).sort()
    if len(values) > MOST:
        raise BadValueError(f"{columns.label}: {len(values)} different values are too many for classes")
    return values


def _comparable(one: Any, other: Any) -> bool:
    return one == other or (one in TEXTS and other in TEXTS) or (one.is_numeric() and other.is_numeric())


def _given(values: Sequence[Any], kind: Any, columns: Columns, label: pl.Series) -> pl.Series:
    """Classes as the caller lists them, in the type of the labels."""
    dtype = None if kind == pl.Null else kind
    for value in values:
        try:
            pl.Series([value], dtype=dtype, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            raise BadValueError(
                f"{columns.label}: {value!r} cannot be one of its values, which are {label.dtype}"
            ) from None
    return pl.Series(list(values), dtype=dtype, strict=True)


def codes(values: pl.Series, classes: pl.Series, column: str) -> pl.Series:
    """Return the number of each value's class; null stays null.

    Raises
    ------
    BadValueError
        A value is none of the classes.
    """
    if not len(classes) or values.null_count() == len(values):
        found = pl.Series([None], dtype=pl.Int32).new_from_index(0, len(values))
    else:
        kind = class_type(values.dtype, classes.dtype)
        names, numbers = classes.cast(kind), np.arange(len(classes))
        found = _plain(values).cast(kind).replace_strict(names, numbers, default=None, return_dtype=pl.Int32)
    unknown = found.is_null() & values.is_not_null()
    if unknown.any():
        rows = unknown.arg_true().to_list()
        raise bad_rows(column, rows, len(values), "have a class that is not among classes=", "add it, or drop them")
    return found


def two_classes(frame: pl.DataFrame, columns: Columns, conventions: Conventions) -> pl.Series:
    """Return the values of two classes, the relevant one last."""
    if not columns.label:
        return pl.Series([False, True])
    values = frame[columns.label]
    kind = class_type(values.dtype, frame[columns.predicted].dtype if columns.predicted else None)
    if conventions.positive is None:
        return pl.Series([0, 1]).cast(kind) if kind.is_numeric() else pl.Series([False, True])
    both = _plain(values).unique().drop_nulls()
    others = both.filter(~same_as(both, conventions.positive, str(columns.label)))
    if len(others) > 1:
        raise NotComputableError(
            f"{columns.label} has {len(others)} values beside {conventions.positive!r}; say classes= to tell them apart"
        )
    positive = bool(conventions.positive) if both.dtype == pl.Boolean else conventions.positive
    return pl.Series([*(others.to_list() or [None]), positive], dtype=both.dtype).cast(kind)
