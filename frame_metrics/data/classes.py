"""Turn labels and predictions into codes of classes, decide between two classes and several, match found clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    MistakenColumnError,
    NotComputableError,
    bad_rows,
    import_needed,
    listed,
    quote,
    type_name,
)
from frame_metrics.inputs.rows import NONE, Array
from frame_metrics.roles.columns import Columns, role_columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import (
    DROP_OR_NULL,
    TEXTS,
    grade_column,
    label_column,
    largest_grade,
    none_of,
    refuse_fractions,
    refuse_nan,
    same_as,
)

NULL_IF_UNJUDGED = "drop them, or make them null and pass unjudged="  # the way out for bad labels without a query
GRADES_OF_A_SCALE = 3  # so many distinct grades, or more, are a scale, not yes and no
BY_DIGITS = (pl.Float16, pl.Float32, pl.Float64)  # from the fewest digits to the most
# Ways out for numbers with fractions in labels and in predictions, of several classes.
LABELS_ARE_NO_CLASSES = (
    "if these are probabilities, decide, as with label=lambda f: f[{column!r}] > 0.5; if grades, pass label=None and "
    "grade=; if classes, list them with classes=[...], or make them text"
)
PREDICTIONS_ARE_NO_CLASSES = (
    "if these are scores, pass predicted=None, score= and threshold=; if classes, list them with classes=[...],"
)
PREDICTIONS_ARE_NO_CLASSES += " or make them text"
MOST_CLASSES = 1000  # more distinct values are probably ids


def class_type(label: Any, predicted: Any = None) -> Any:
    """Return the type of classes in a result: a type of both labels and predictions, or, without one, of the labels."""
    one, other = (pl.String if isinstance(kind, TEXTS) else kind for kind in (label, predicted))
    if one == pl.Null and other is not None:
        return other
    if other is None or not (one.is_numeric() and other.is_numeric()):
        return one
    if pl.UInt64 in (one, other) and (one.is_signed_integer() or other.is_signed_integer()):
        return pl.Int128()  # some versions of polars would say Float64
    if one.is_float() and other.is_float():  # equal classes are rounded in the column with fewer digits: compare there
        return min(one, other, key=BY_DIGITS.index)
    both = [pl.DataFrame(schema={"class": kind}) for kind in (one, other)]
    return pl.concat(both, how="vertical_relaxed")["class"].dtype


def labels_and_predictions(
    frame: pl.DataFrame, columns: Columns, conventions: Conventions
) -> tuple[pl.Series | None, pl.Series | None]:
    """Return the columns of labels and of predictions, None for one that is not named.

    A prediction among ``abstain=`` becomes null: it is no decision.

    Raises
    ------
    BadValueError
        A value is NaN, has a fraction and is not among ``classes=``, or is of a type that no class has, such as a list.
    """
    fractions_allowed = conventions.classes is not None or bool(columns.class_scores)
    label, predicted = (
        None if column is None else _checked_side(frame[column], way_for_nan, None if fractions_allowed else way)
        for column, way_for_nan, way in (
            (columns.label, NULL_IF_UNJUDGED, LABELS_ARE_NO_CLASSES),
            (columns.predicted, DROP_OR_NULL, PREDICTIONS_ARE_NO_CLASSES),
        )
    )
    if predicted is not None:
        for value in conventions.abstain:
            predicted = predicted.set(same_as(predicted, value, predicted.name).fill_null(False), None)
    return label, predicted


def _checked_side(values: pl.Series, way_for_nan: str, way_for_fractions: str | None) -> pl.Series:
    """Return labels or predictions; raise for values that are no classes.

    Parameters
    ----------
    values : the column.
    way_for_nan : the way out for NaN.
    way_for_fractions : the way out for numbers with fractions, None to allow them.
    """
    if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary):
        raise BadValueError(f"{values.name}: values of type {type_name(values.dtype)} are no classes; make them text")
    refuse_nan(values, values.name, way_for_nan)
    if way_for_fractions is not None:
        refuse_fractions(values, values.name, way_for_fractions)
    return values


def is_binary(label: pl.Series | None, predicted: pl.Series | None, columns: Columns, conventions: Conventions) -> bool:
    """Return True if there are two classes, False if there are several; decided once for the whole frame."""
    if conventions.classes is not None or columns.class_scores or conventions.match is not None:
        return False
    if conventions.positive is not None or label is None:
        return True
    sides = [side for side in (label, predicted) if side is not None and side.dtype != pl.Null]
    if all(_only_0_and_1(values) for values in sides):  # True also if all values are null
        return True
    values = [value for side in sides for value in _categories_as_text(side).drop_nulls().unique()[:4].to_list()]
    distinct = list(dict.fromkeys(values))
    unmatched = predicted is not None and unmatched_error(label, predicted, columns) is not None
    if len(distinct) > 2 or not distinct or unmatched:
        return False
    ordered = sorted(distinct) if len({type(value) for value in distinct}) == 1 else distinct
    raise NotComputableError(
        f"{columns.label} has the values {listed(ordered)}, and nothing says which of them is relevant; "
        "name it with positive=, or list the classes with classes= to measure all of them"
    )


def _only_0_and_1(values: pl.Series) -> bool:
    """Return True for a column of booleans, or of 0, 1 and null."""
    if values.dtype == pl.Boolean:
        return True
    return values.dtype.is_numeric() and bool(((values == 0) | (values == 1)).all())


def relevant(frame: pl.DataFrame, label: pl.Series | None, columns: Columns, conventions: Conventions) -> pl.Series:
    """Return 1 for relevant rows, 0 for others, null for unjudged ones; by the label, else by the grade."""
    if label is not None:
        return label_column(label, str(columns.label), conventions.positive)
    grade = grade_column(frame[str(columns.grade)], str(columns.grade), conventions.scale, NULL_IF_UNJUDGED)
    count = role_columns(frame, columns, ("count",))["count"] if columns.count else None
    counted = grade if count is None else grade.filter(count > 0)
    fractional = is_fractional(grade)
    n = int(fractional.sum() if count is None else count.filter(fractional).sum())
    check_relevance(counted, n, str(columns.grade), conventions)
    return (grade >= float(conventions.rel)).cast(pl.Int8)


def is_fractional(grade: pl.Series) -> pl.Series:
    """Mark the grades strictly between 0 and 1, such as click rates; it may be unclear whether they are relevant."""
    return (grade > 0) & (grade < 1) if grade.dtype.is_float() else pl.Series([False])


def n_unclear(n_fractional: int, top: float, conventions: Conventions) -> int:
    """Return ``n_fractional``, the number of grades between 0 and 1, if their relevance is unclear; else 0.

    It is unclear if ``rel=`` was not given and other grades reach 1; ``top``: the largest grade.
    """
    return n_fractional if top >= 1 and not conventions.rel_given else 0


def check_fractional(n: int, column: str, name: str = "", *, some: bool = False) -> None:
    """Raise if it is unclear whether grades between 0 and 1 are relevant.

    Parameters
    ----------
    n : number of these grades, as ``n_unclear`` returns it.
    column : the caller's name of the grades.
    name : the metric that needs relevance, for the message; "" for none.
    some : whether there may be more of them than were counted.
    """
    if n:
        lie = f"{name}{': ' * bool(name)}{'at least ' * some}{n} grade{'s lie' if n > 1 else ' lies'}"
        level = "pass the least grade that is relevant, as rel=1"
        raise NotComputableError(f"{lie} between 0 and 1 in {column}, and others reach 1: {level}")


def all_reach(grade: pl.Series, rel: float) -> bool:
    """Return True if there are three distinct grades or more and all reach ``rel``, as with ratings from 1 to 5."""
    return bool((grade >= float(rel)).all()) and grade.drop_nulls().n_unique() >= GRADES_OF_A_SCALE


def check_relevance(grade: pl.Series, n_fractional: int, column: str, conventions: Conventions) -> None:
    """Raise if grades do not say what is relevant: ``n_fractional`` lie between 0 and 1, or none reaches ``rel``."""
    top = largest_grade(grade)
    check_fractional(n_unclear(n_fractional, top, conventions), column)
    if none_reaches(grade, conventions.rel):
        raise NotComputableError(conventions.unreached_text(column, conventions.rel, top))


def none_reaches(grade: pl.Series, rel: float) -> bool:
    """Return True if some grade is positive and none reaches ``rel``."""
    if rel <= 1 and grade.dtype.is_integer():  # then every positive grade is relevant
        return False
    return 0 < largest_grade(grade) < rel


def _categories_as_text(values: pl.Series) -> pl.Series:
    """Return classes in the type in which they are compared: categories become text."""
    return values.cast(pl.String) if isinstance(values.dtype, TEXTS) else values


def distinct_values(values: pl.Series) -> pl.Series:
    """Return the distinct values, sorted; those of an Enum in its own order."""
    ordered = values if values.dtype == pl.Enum else _categories_as_text(values)
    return _categories_as_text(ordered.unique().drop_nulls().sort())


def _with_values(label: pl.Series, predicted: pl.Series | None) -> list[pl.Series]:
    """Return labels and predictions, without a column that is all null."""
    return [side for side in (label, predicted) if side is not None and side.null_count() < len(side)]


def _of_one_enum(sides: Sequence[pl.Series]) -> bool:
    """Return True if all columns have the same Enum type, whose categories have an order."""
    return bool(sides) and all(side.dtype == pl.Enum and side.dtype == sides[0].dtype for side in sides)


def classes_have_order(label: pl.Series, predicted: pl.Series | None, conventions: Conventions) -> bool:
    """Return True if the order of the classes has a meaning: given by ``classes=``, by one Enum, or not of text."""
    sides = _with_values(label, predicted)
    given = conventions.classes is not None or _of_one_enum(sides)
    return given or not any(isinstance(side.dtype, TEXTS) for side in sides)


def class_values(
    label: pl.Series, predicted: pl.Series | None, columns: Columns, conventions: Conventions
) -> pl.Series:
    """Return the classes in order: those of ``classes=``, else the distinct labels and predictions, sorted.

    Their number is not limited here, see ``are_too_many``.
    """
    kind = class_type(label.dtype, None if predicted is None else predicted.dtype)
    if conventions.classes is not None:
        return _as_classes(conventions.classes, kind, columns, label)
    sides = _with_values(label, predicted)
    if _of_one_enum(sides):
        values = distinct_values(pl.concat(sides))
    else:
        each = [pl.Series([], dtype=kind), *(_categories_as_text(side).unique().cast(kind) for side in sides)]
        values = pl.concat(each).unique().drop_nulls().sort()
    # With a score for each class the classes are those that have one, whether or not a row is of them.
    if columns.class_scores:
        named = [value for value, _ in columns.class_scores]
        lacking = [value for value in values.to_list() if value not in named]
        if lacking:
            raise ColumnError(f"score= names no column for the classes {listed(lacking[:3])} of {columns.label}")
        values = _as_classes(named, kind, columns, label).sort()
    return values


def are_too_many(classes: pl.Series, conventions: Conventions) -> bool:
    """Return True for more classes than can be counted in a table, if the caller did not list them."""
    return conventions.classes is None and len(classes) > MOST_CLASSES


def too_many_classes(classes: pl.Series, label: pl.Series, predicted: pl.Series | None) -> MistakenColumnError:
    """Return the error for too many classes; it names the column with the most different values."""
    sides = [(side.n_unique() - (side.null_count() > 0), side.name) for side in (label, predicted) if side is not None]
    n, name = max(sides, key=lambda side: side[0])
    both = n <= MOST_CLASSES  # then only both columns together have too many
    whose = " and ".join(side for _, side in sides) if both else name
    return MistakenColumnError(
        f"{whose}: {len(classes) if both else n:,} different values are more than {MOST_CLASSES:,}, the most that are "
        "taken for classes; if they are classes, list them with classes=[...]. accuracy and error_rate need no list",
        check="values that are too many for classes",
        n=len(classes),
    )


def unmatched_error(label: pl.Series, predicted: pl.Series, columns: Columns) -> BadValueError | None:
    """Return an error if predictions, by their type, can never equal a label; None if they can."""
    one, other = label.dtype, predicted.dtype
    if one == pl.Null or predicted.null_count() == len(predicted) or _comparable(one, other):
        return None
    return BadValueError(
        f"{columns.predicted}: its values are {type_name(other)}, those of {columns.label} are {type_name(one)}; "
        "give both one type, or pass match= if they are clusters"
    )


def _comparable(one: pl.DataType, other: pl.DataType) -> bool:
    """Return True if values of the two types can be equal."""
    both = one, other
    return one == other or all(isinstance(kind, TEXTS) for kind in both) or all(kind.is_numeric() for kind in both)


def _as_classes(values: Sequence[Any], kind: Any, columns: Columns, label: pl.Series) -> pl.Series:
    """Return the classes that the caller listed, in the type ``kind``; raise for a class that the type cannot hold."""
    dtype = None if kind == pl.Null else kind
    column = columns.predicted if label.dtype == pl.Null else columns.label
    typed = label.cast(kind) if label.dtype == pl.Null else label
    for value in values:
        try:
            one = pl.Series([value], dtype=dtype, strict=True)
            refuse_nan(one, "classes=", "leave it out")
            if not same_as(one, value, str(column)).all():  # for example, a time that lost its nanoseconds
                raise TypeError
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            raise none_of(typed, value, str(column)) from None
    try:
        return pl.Series(list(values), dtype=dtype, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise BadValueError(f"classes={quote(list(values))} have several types; give them one") from None


def class_codes(values: pl.Series, classes: pl.Series, column: str) -> pl.Series:
    """Return the code of each value's class, its position in ``classes``; null stays null.

    Raises
    ------
    BadValueError
        A value is none of the classes.
    """
    if not len(classes) or values.null_count() == len(values) or not _comparable(values.dtype, classes.dtype):
        code = pl.Series([None], dtype=pl.Int32).new_from_index(0, len(values))
    else:
        kind = class_type(values.dtype, classes.dtype)
        names, codes, typed = classes.cast(kind), np.arange(len(classes)), _categories_as_text(values).cast(kind)
        code = typed.replace_strict(names, codes, default=None, return_dtype=pl.Int32)
    unknown = code.is_null() & values.is_not_null()
    if unknown.any():
        rows = unknown.arg_true().to_list()
        raise bad_rows(column, rows, len(values), "have a class that is not among classes=", "add it, or drop them")
    return code


def two_classes(frame: pl.DataFrame, columns: Columns, conventions: Conventions) -> pl.Series:
    """Return the values of two classes, the relevant one last: 0 and 1 for numeric labels, else false and true.

    Labels that are true and false keep their names with ``positive=False`` too.
    """
    if not columns.label:
        return pl.Series([False, True])
    kind = class_type(frame[columns.label].dtype, frame[columns.predicted].dtype if columns.predicted else None)
    if conventions.positive is None and kind.is_numeric():
        return pl.Series([0, 1]).cast(kind)
    turned = kind == pl.Boolean and [*(conventions.positive or ())] == [False]  # positive=False: they keep their names
    return pl.Series([True, False] if turned else [False, True])


def match_clusters(tables: Iterable[Array], has_rows: Array, found: int, conventions: Conventions) -> Array:
    """Assign a true class to each found cluster, in each of n tables, by the rule of ``match=``.

    Parameters
    ----------
    tables : n tables with the number of rows of each true class and found cluster, shape (K, F + 1) each. The last
        column counts rows in no cluster.
    has_rows : True for the classes that have rows, shape (n, K). Only these can be assigned, unless ``classes=`` lists
        the classes: then all can.
    found : the number of found clusters, F.
    conventions : ``match`` is the rule.

    Returns
    -------
    The code of each cluster's class, shape (n, F); -1 for a cluster without a class, whose rows have no prediction.

    Notes
    -----
    Two rules give each class to one cluster at most. "best": most rows are right. "informedness": the informedness is
    greatest, see ``_informedness``. Two rules treat each cluster by itself, so that several may get one class.
    "majority": the class of most of its rows. "payoff": the class with the greatest payoff, see ``_payoffs``. Of equal
    ones the first is taken.
    """
    class_of_cluster = np.full((len(has_rows), found), NONE)
    rule, listed = str(conventions.match), conventions.classes is not None
    for i, (whole, classes) in enumerate(zip(tables, map(np.flatnonzero, has_rows | listed), strict=True)):
        table = whole[classes, :-1]
        some = np.flatnonzero(table.any(axis=0))  # the clusters with rows
        if rule in ("majority", "payoff"):
            worth = table[:, some] if rule == "majority" else _payoffs(table[:, some])
            class_of_cluster[i, some] = classes[worth.argmax(axis=0)] if len(some) else NONE
            continue
        ways = [_assignment(table[:, some], rule)]
        if rule == "informedness":
            ways = [_assignment(_payoffs(table[:, some]), rule), *ways]
        rows, columns = max(ways, key=lambda way: _informedness(table[:, some], *way)) if len(ways) > 1 else ways[0]
        class_of_cluster[i, some[columns]] = classes[rows]
    return class_of_cluster


def _payoffs(table: Array) -> Array:
    """Return the payoff of assigning each class to each cluster, shape (K, F), as in bets at fair odds.

    A row of the cluster wins 1 / (rows of the class) if it is of the class, and loses 1 / (all other rows) if not. The
    sum is multiplied by the number of rows of the cluster.
    """
    rows, won = table.sum(axis=1, keepdims=True), table
    lost, others = table.sum(axis=0) - table, table.sum() - rows
    return table.sum(axis=0) * (won / np.where(rows > 0, rows, 1) - lost / np.where(others > 0, others, 1))


def _informedness(table: Array, rows: Array, columns: Array) -> float:
    """Return the informedness of an assignment, times the number of rows; minus infinity if it is undefined.

    ``rows``: the assigned class of each of the clusters ``columns``.
    """
    decided = table[:, columns]
    if np.count_nonzero(decided.any(axis=1)) < 2:
        return -np.inf
    return float(_payoffs(decided)[rows, np.arange(len(rows))].sum())


def _assignment(worth: Array, rule: str) -> tuple[Array, Array]:
    """Return the one-to-one assignment of rows to columns with the greatest sum of worth, as (rows, columns)."""
    optimize = import_needed("scipy.optimize", f"match={rule!r} needs scipy", "stats", NotComputableError)
    rows, columns = optimize.linear_sum_assignment(worth, maximize=True)
    return np.asarray(rows), np.asarray(columns)
