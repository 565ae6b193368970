"""Labels and predictions as numbers of classes: of two, one of which is relevant, or of several; clusters matched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, bad_rows, listed, needed, said, shown
from frame_metrics.inputs.rows import NONE, Array
from frame_metrics.roles.columns import Columns, role_columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import TEXTS, grade_column, label_column, largest_grade, none_of, refuse_nan, same_as

SCALE = 3  # so many grades are no yes or no
BY_DIGITS = (pl.Float16, pl.Float32, pl.Float64)
MOST = 1000  # more different values are ids, and no classes


def class_type(label: Any, predicted: Any = None) -> Any:
    """Return the type that the classes have in a result: one that holds both sides, else that of the labels."""
    one, other = (pl.String if isinstance(kind, TEXTS) else kind for kind in (label, predicted))
    if one == pl.Null and other is not None:
        return other
    if other is None or not (one.is_numeric() and other.is_numeric()):
        return one
    if pl.UInt64 in (one, other) and (one.is_signed_integer() or other.is_signed_integer()):
        return pl.Int128()  # some versions of polars would say Float64
    if one.is_float() and other.is_float():  # the column with fewer digits rounded what is the same in both
        return min(one, other, key=BY_DIGITS.index)
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
    label, predicted = (
        None if column is None else _side(frame[column]) for column in (columns.label, columns.predicted)
    )
    if predicted is not None:
        for value in conventions.abstain:
            predicted = predicted.set(same_as(predicted, value, predicted.name).fill_null(False), None)
    return label, predicted


def _side(values: pl.Series) -> pl.Series:
    if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary):
        raise BadValueError(f"{values.name}: values of type {said(values.dtype)} are no classes; make them text")
    refuse_nan(values, values.name)
    return values


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
    apart = predicted is not None and unlike(label, predicted, columns) is not None
    if len(distinct) > 2 or not distinct or apart:
        return False
    in_order = sorted(distinct) if len({type(value) for value in distinct}) == 1 else distinct
    raise NotComputableError(
        f"{columns.label} has the values {listed(in_order)}, and nothing says which of them is relevant; "
        "name it with positive=, or list the classes with classes= to measure all of them"
    )


def _zeros_and_ones(values: pl.Series) -> bool:
    if values.dtype == pl.Boolean:
        return True
    return values.dtype.is_numeric() and bool(((values == 0) | (values == 1)).all())


def relevant(frame: pl.DataFrame, label: pl.Series | None, columns: Columns, conventions: Conventions) -> pl.Series:
    """Return 1 for relevant rows, 0 for others, null for those not judged."""
    if label is not None:
        return label_column(label, str(columns.label), conventions.positive)
    grade = grade_column(frame[str(columns.grade)], str(columns.grade), conventions.scale)
    count = role_columns(frame, columns, ("count",))["count"] if columns.count else None
    there = grade if count is None else grade.filter(count > 0)
    marks = shares_among(grade)
    n = int(marks.sum() if count is None else count.filter(marks).sum())
    check_relevance(there, n, str(columns.grade), conventions)
    return (grade >= float(conventions.rel)).cast(pl.Int8)


def shares_among(grade: pl.Series) -> pl.Series:
    """Mark the grades strictly between 0 and 1, as prices and click rates have: is one of them relevant?"""
    return (grade > 0) & (grade < 1) if grade.dtype.is_float() else pl.Series([False])


def undecided(shares: int, top: float, conventions: Conventions) -> int:
    """Return the number of grades between 0 and 1 where none says from where they are relevant, else 0."""
    return shares if top >= 1 and not conventions.rel_given else 0


def check_level(shares: int, column: str, name: str = "", *, some: bool = False) -> None:
    """Raise where so many grades of a column are not said to be relevant or not.

    Parameters
    ----------
    name : of the metric that reads it.
    some : whether there may be more of them.
    """
    if shares:
        lie = f"{name}{': ' * bool(name)}{'at least ' * some}{shares} grade{'s lie' if shares > 1 else ' lies'}"
        level = "say the least grade that is relevant, as rel=1"
        raise NotComputableError(f"{lie} between 0 and 1 in {column}, and others reach 1: {level}")


def none_below(grade: pl.Series, rel: float) -> bool:
    """Return True where there are three grades or more, and each is relevant, as of ratings from 1 to 5."""
    return bool((grade >= float(rel)).all()) and grade.drop_nulls().n_unique() >= SCALE


def check_relevance(grade: pl.Series, shares: int, column: str, conventions: Conventions) -> None:
    """Raise where grades of a column, so many of which lie between 0 and 1, do not say what is relevant."""
    top = largest_grade(grade)
    check_level(undecided(shares, top, conventions), column)
    if out_of_reach(grade, conventions.rel):
        raise NotComputableError(conventions.unreached(column, conventions.rel, top))


def out_of_reach(grade: pl.Series, rel: float) -> bool:
    """Return True where some grade is positive and none is relevant; a positive whole number is relevant at 1."""
    if rel <= 1 and grade.dtype.is_integer():
        return False
    return 0 < largest_grade(grade) < rel


def _plain(values: pl.Series) -> pl.Series:
    """Classes as they are compared: categories as text."""
    return values.cast(pl.String) if isinstance(values.dtype, TEXTS) else values


def distinct_values(values: pl.Series) -> pl.Series:
    """Return the distinct values in their order, an Enum's being its own."""
    in_order = values if values.dtype == pl.Enum else _plain(values)
    return _plain(in_order.unique().drop_nulls().sort())


def _known(label: pl.Series, predicted: pl.Series | None) -> list[pl.Series]:
    """The sides that have a value."""
    return [side for side in (label, predicted) if side is not None and side.null_count() < len(side)]


def _of_one_enum(sides: Sequence[pl.Series]) -> bool:
    return bool(sides) and all(side.dtype == pl.Enum and side.dtype == sides[0].dtype for side in sides)


def in_order(label: pl.Series, predicted: pl.Series | None, conventions: Conventions) -> bool:
    """Return True where the order of the classes means something: as given, of one Enum, or of what is no text."""
    sides = _known(label, predicted)
    given = conventions.classes is not None or _of_one_enum(sides)
    return given or not any(isinstance(side.dtype, TEXTS) for side in sides)


def class_values(
    label: pl.Series, predicted: pl.Series | None, columns: Columns, conventions: Conventions
) -> pl.Series:
    """Return the classes in their order: as given, or sorted, those on either side."""
    kind = class_type(label.dtype, None if predicted is None else predicted.dtype)
    if conventions.classes is not None:
        return _given(conventions.classes, kind, columns, label)
    sides = _known(label, predicted)
    if _of_one_enum(sides):
        values = distinct_values(pl.concat(sides))
    else:
        each = [pl.Series([], dtype=kind), *(_plain(side).unique().cast(kind) for side in sides)]
        values = pl.concat(each).unique().drop_nulls().sort()
    if columns.class_scores:
        named = [value for value, _ in columns.class_scores]
        lacking = [value for value in values.to_list() if value not in named]
        if lacking:
            raise ColumnError(f"score= names no column for the classes {listed(lacking[:3])} of {columns.label}")
        values = _given(named, kind, columns, label).sort()
    if len(values) > MOST:
        raise BadValueError(f"{columns.label}: {len(values)} different values are too many for classes")
    return values


def unlike(label: pl.Series, predicted: pl.Series, columns: Columns) -> BadValueError | None:
    """Return the error for predictions that can be no class, by their type; None where they can."""
    one, other = label.dtype, predicted.dtype
    if one == pl.Null or predicted.null_count() == len(predicted) or _comparable(one, other):
        return None
    return BadValueError(
        f"{columns.predicted}: its values are {other}, those of {columns.label} are {one}; "
        "give both one type, or say match= if they are clusters"
    )


def _comparable(one: pl.DataType, other: pl.DataType) -> bool:
    """Return True for types whose values can be equal."""
    both = one, other
    return one == other or all(isinstance(kind, TEXTS) for kind in both) or all(kind.is_numeric() for kind in both)


def _given(values: Sequence[Any], kind: Any, columns: Columns, label: pl.Series) -> pl.Series:
    """Classes as the caller lists them, in the type of the labels."""
    dtype = None if kind == pl.Null else kind
    column = columns.predicted if label.dtype == pl.Null else columns.label
    held = label.cast(kind) if label.dtype == pl.Null else label
    for value in values:
        try:
            one = pl.Series([value], dtype=dtype, strict=True)
            refuse_nan(one, "classes=", "leave it out")
            if not same_as(one, value, str(column)).all():  # as a moment whose nanoseconds were cut off
                raise TypeError
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            raise none_of(held, value, str(column)) from None
    try:
        return pl.Series(list(values), dtype=dtype, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise BadValueError(f"classes={shown(list(values))} are of several types; give them one") from None


def class_codes(values: pl.Series, classes: pl.Series, column: str) -> pl.Series:
    """Return the number of each value's class; null stays null.

    Raises
    ------
    BadValueError
        A value is none of the classes.
    """
    if not len(classes) or values.null_count() == len(values) or not _comparable(values.dtype, classes.dtype):
        code = pl.Series([None], dtype=pl.Int32).new_from_index(0, len(values))
    else:
        kind = class_type(values.dtype, classes.dtype)
        names, numbers = classes.cast(kind), np.arange(len(classes))
        code = _plain(values).cast(kind).replace_strict(names, numbers, default=None, return_dtype=pl.Int32)
    unknown = code.is_null() & values.is_not_null()
    if unknown.any():
        rows = unknown.arg_true().to_list()
        raise bad_rows(column, rows, len(values), "have a class that is not among classes=", "add it, or drop them")
    return code


def two_classes(frame: pl.DataFrame, columns: Columns, conventions: Conventions) -> pl.Series:
    """Return the values of two classes, the relevant one last: false and true, where the labels are not 0 and 1."""
    if not columns.label:
        return pl.Series([False, True])
    kind = class_type(frame[columns.label].dtype, frame[columns.predicted].dtype if columns.predicted else None)
    binary = conventions.positive is None and kind.is_numeric()
    return pl.Series([0, 1]).cast(kind) if binary else pl.Series([False, True])


def matched(counts: Array, there: Array, conventions: Conventions) -> Array:
    """Take each predicted cluster for a true class, by the rule that ``match=`` says.

    Parameters
    ----------
    counts : rows by true class and predicted cluster, the last column those in none, shape (n, K, F + 1).
    there : True for the classes that have rows, shape (n, K): those that can be taken, unless ``classes=`` lists them.
    conventions : with the rule: "best", one to one, so that as many rows as possible are right; "informedness", one to
        one, by what a bookmaker pays; each by itself, so that several may have one class, "majority" to that which most
        of its rows have, "payoff" to that which it predicts best, for which a bookmaker pays most; of equals the first.

    Returns
    -------
    The class of each cluster, shape (n, F): -1 for one that is left without, whose rows have no prediction.
    """
    of = np.full((len(counts), counts.shape[2] - 1), NONE)
    rule, listed = str(conventions.match), conventions.classes is not None
    for i, classes in enumerate(map(np.flatnonzero, there | listed)):
        table = counts[i, classes, :-1]
        some = np.flatnonzero(table.any(axis=0))
        if rule in ("majority", "payoff"):
            worth = table[:, some] if rule == "majority" else _payoffs(table[:, some])
            of[i, some] = classes[worth.argmax(axis=0)] if len(some) else NONE
            continue
        ways = [_assignment(table[:, some], rule)]
        if rule == "informedness":
            ways = [_assignment(_payoffs(table[:, some]), rule), *ways]
        rows, columns = max(ways, key=lambda way: _informed(table[:, some], *way)) if len(ways) > 1 else ways[0]
        of[i, some[columns]] = classes[rows]
    return of


def _payoffs(table: Array) -> Array:
    """Winnings at a bookmaker of taking each cluster for each class, at the prevalences of the rows, shape (K, F).

    A row of the class is worth 1 over the rows of the class, another row costs 1 over the rows of the others.
    """
    rows, won = table.sum(axis=1, keepdims=True), table
    lost, others = table.sum(axis=0) - table, table.sum() - rows
    return table.sum(axis=0) * (won / np.where(rows > 0, rows, 1) - lost / np.where(others > 0, others, 1))


def _informed(table: Array, rows: Array, columns: Array) -> float:
    """The informedness of clusters taken for these classes, times all rows; less than any where it is undefined."""
    decided = table[:, columns]
    if np.count_nonzero(decided.any(axis=1)) < 2:
        return -np.inf
    return float(_payoffs(decided)[rows, np.arange(len(rows))].sum())


def _assignment(worth: Array, rule: str) -> tuple[Array, Array]:
    """The one-to-one assignment of columns to rows with the greatest sum."""
    optimize = needed("scipy.optimize", f"match={rule!r} needs scipy", "stats", NotComputableError)
    rows, columns = optimize.linear_sum_assignment(worth, maximize=True)
    return np.asarray(rows), np.asarray(columns)
