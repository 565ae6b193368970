"""The caller's columns, checked, under the names of their roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.errors import BadValueError, bad_rows, listed

ABSENT = "drop them, or make them null if the document was not retrieved"
TEXTS = (pl.String, pl.Categorical, pl.Enum)
EXACT = 2**53  # the integers that a float64 tells apart


@dataclass(frozen=True)
class Columns:
    """Which column plays which part, every name known to be there."""

    query: tuple[str, ...]
    system: str | None = None
    by: tuple[str, ...] = ()
    score: str | None = None
    rank: str | None = None
    label: str | None = None
    grade: str | None = None
    predicted: str | None = None
    doc: str | None = None
    weight: str | None = None
    cluster: str | None = None
    n_relevant: str | None = None
    size: str | None = None
    class_scores: tuple[tuple[Any, str], ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns that make a segment of a system."""
        return (*((self.system,) if self.system else ()), *self.by)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that make a ranking: system, segment, query."""
        return (*self.groups, *self.query)

    @property
    def needed(self) -> list[str]:
        """Every column that is read, once."""
        judged = (self.score, self.rank, self.label, self.grade, self.predicted)
        single = (*judged, self.doc, self.weight, self.cluster, self.n_relevant, self.size)
        scores = (name for _, name in self.class_scores)
        return list(dict.fromkeys([*self.keys, *(name for name in single if name), *scores]))


def key_names(columns: Columns) -> tuple[list[str], list[str], list[str]]:
    """Return what the columns of system, segment and query are called inside."""
    by = [f"by:{i}" for i in range(len(columns.by))]
    return (["system"] if columns.system else []), by, [f"query:{i}" for i in range(len(columns.query))]


def checked(
    frame: pl.DataFrame, columns: Columns, *, judged_elsewhere: bool, scores_later: bool, positive: Any = None
) -> pl.DataFrame:
    """Return the needed columns under the names of their roles, every value known to be good.

    Parameters
    ----------
    frame : the caller's columns, as polars.
    columns : which column is which.
    judged_elsewhere : the judgments are in another frame, so that a row without one is nothing odd.
    scores_later : whether scores, if none is null, are found infinite or NaN once they are sorted, where only the ends
        of a ranking have to be looked at.
    positive : the label that is relevant; None for 1 and True.

    Raises
    ------
    BadValueError
        A value is not what its role can hold; names the column, counts the rows, shows three.
    """
    query = key_names(columns)[2]
    out = key_columns(frame, columns)
    for inside, name in zip(query, columns.query, strict=True):
        refuse(name, out[inside].is_null(), "have no query", "drop them, or give them one")
    if columns.score:
        out["score"] = score_column(frame[columns.score], columns.score)
        if columns.rank or not (scores_later and out["score"].null_count() == 0):
            refuse_infinite(out["score"], columns.score, ABSENT)
    if columns.rank:
        out["rank"] = rank_column(frame[columns.rank], columns.rank)
    if columns.grade:
        out["grade"] = grade_column(frame[columns.grade], columns.grade)
    if columns.label:
        out["label"] = label_column(frame[columns.label], columns.label, positive)
    if columns.predicted:
        out["predicted"] = label_column(frame[columns.predicted], columns.predicted, positive, role="prediction")
    if columns.doc:
        out["doc"] = frame[columns.doc]
        refuse(columns.doc, out["doc"].is_null(), "have no document", "drop them, or give them one")
    for inside, column in (("weight", columns.weight), ("n_relevant", columns.n_relevant), ("size", columns.size)):
        if column:
            out[inside] = amount_column(frame[column], column, inside)
    if columns.cluster:
        out["cluster"] = cluster_column(frame[columns.cluster], columns.cluster)
    place = out.get("rank", out.get("score"))
    judgment = out.get("label", out.get("grade"))
    if place is not None and judgment is not None and place.null_count() and judgment.null_count():
        names = f"{columns.rank or columns.score} and {columns.label or columns.grade}"
        if not judged_elsewhere:
            what = f"have neither a {'rank' if columns.rank else 'score'} nor a judgment"
            refuse(names, place.is_null() & judgment.is_null(), what, "drop them")
    return pl.DataFrame(out) if out else frame.select()


def type_of(frame: pl.DataFrame, column: str | None) -> str:
    """Return the name of a column's type; nothing where there is no column."""
    return "" if column is None else str(frame.schema[column])


def key_columns(frame: pl.DataFrame, columns: Columns) -> dict[str, pl.Series]:
    """Return the columns of system, segment and query under their inside names; NaN is no key."""
    out: dict[str, pl.Series] = {}
    for inside, name in zip((name for names in key_names(columns) for name in names), columns.keys, strict=True):
        out[inside] = frame[name]
        if out[inside].dtype.is_float():
            refuse(name, out[inside].is_nan().fill_null(False), "are NaN", "drop them, or make them null")
    return out


def refuse(column: str, bad: pl.Series, what: str, remedy: str) -> None:
    """Raise if any row is marked bad."""
    if bad.any():
        raise bad_rows(column, bad.arg_true().to_numpy(), len(bad), what, remedy)


def number_column(values: pl.Series, column: str, role: str, *, finite: bool = True) -> pl.Series:
    """Return a column of numbers, of finite ones if so asked, booleans as 0 and 1; nulls stay."""
    if values.dtype == pl.Boolean:
        return values.cast(pl.Int8)
    if values.dtype == pl.Null:
        return values.cast(pl.Float64)
    if not values.dtype.is_numeric():
        raise BadValueError(f"{column}: a {role} is a number, and this column is {values.dtype}; convert it")
    if values.dtype.is_decimal() or values.dtype in (pl.Int128, pl.UInt128):
        values = values.cast(pl.Float64)
    if finite:
        refuse_infinite(values, column)
    return values


def refuse_infinite(values: pl.Series, column: str, remedy: str = "drop them, or make them null") -> None:
    """Raise if any number is NaN or infinite."""
    if values.dtype.is_float() and not values.is_finite().all():
        refuse(column, values.is_nan().fill_null(False), "are NaN", remedy)
        refuse(column, values.is_infinite().fill_null(False), "are infinite", remedy)


def score_column(values: pl.Series, column: str) -> pl.Series:
    """Return scores: numbers, null where the document was not retrieved."""
    given, values = values, number_column(values, column, "score", finite=False)
    refuse(column, _past_exact(given), "are past 2**53, where float64 cannot tell integers apart", "rescale them")
    return values


def _past_exact(values: pl.Series) -> pl.Series:
    """Mark the integers that float64 cannot tell from their neighbours."""
    if values.dtype in (pl.Int64, pl.Int128):
        return ((values > EXACT) | (values < -EXACT)).fill_null(False)
    return (values > EXACT).fill_null(False) if values.dtype in (pl.UInt64, pl.UInt128) else pl.Series([False])


def rank_column(values: pl.Series, column: str) -> pl.Series:
    """Return ranks: whole numbers from 1, null where the document was not retrieved."""
    given, values = values, number_column(values, column, "rank")
    refuse(column, (values < 1).fill_null(False), "are below 1", "ranks count from 1: add 1 if these count from 0")
    if values.dtype.is_float():
        broken = (values != values.floor()).fill_null(False)
        refuse(column, broken, "are not whole", "a rank is a position: 1, 2, 3 ...")
    far = _past_exact(given) if given.dtype.is_integer() else (values > EXACT).fill_null(False)
    refuse(column, far, "are past 2**53", "a rank is a position: 1, 2, 3 ...")
    return values


def grade_column(values: pl.Series, column: str) -> pl.Series:
    """Return grades: finite numbers, null where not judged."""
    return number_column(values, column, "grade")


def label_column(values: pl.Series, column: str, positive: Any = None, *, role: str = "label") -> pl.Series:
    """Return labels, or predictions: 1 relevant, 0 not, null where not known."""
    if positive is not None:
        found = same_as(values, positive, column)
        if role == "label" and found.null_count() < len(found) and not found.any():
            known = values.drop_nulls().unique().sort()[:5].to_list()
            raise BadValueError(f"positive={positive!r} is no value of {column}, which has {listed(known)}")
        return found.cast(pl.Int8)
    if values.dtype == pl.Boolean or values.null_count() == len(values):
        return values.cast(pl.Int8, strict=False)
    if values.dtype in TEXTS:
        raise BadValueError(
            f"{column}: a {role} is 0 or 1, and this column is {values.dtype}; name the one with positive="
        )
    values = number_column(values, column, role)
    wrong = ~((values == 0) | (values == 1)).fill_null(True)
    remedy = f"say label=None, grade={column!r} if these are grades, or name the relevant one with positive="
    refuse(column, wrong, "are neither 0 nor 1", remedy if role == "label" else "name the relevant one with positive=")
    return values.cast(pl.Int8)


def same_as(values: pl.Series, value: Any, column: str) -> pl.Series:
    """Mark the values that are the given one; null stays null."""
    if values.null_count() == len(values):
        return values.is_null() & pl.Series([None], dtype=pl.Boolean)
    if values.dtype == pl.Boolean and value in (0, 1):
        return values == bool(value)
    try:
        if isinstance(value, str) != (values.dtype in TEXTS) or values.dtype == pl.Boolean:
            raise TypeError
        return values.cast(pl.String) == value if values.dtype in TEXTS else values == value
    except (TypeError, pl.exceptions.PolarsError):
        raise BadValueError(f"{column}: {value!r} cannot be one of its values, which are {values.dtype}") from None


def amount_column(values: pl.Series, column: str, role: str) -> pl.Series:
    """Return weights or counts: numbers from 0, none missing."""
    values = number_column(values, column, {"size": "collection size"}.get(role, role), finite=False)
    refuse_infinite(values, column, "give every row one")
    refuse(column, values.is_null(), "are missing", "give every row one")
    refuse(column, values < 0, "are negative", "0 is the least")
    if role != "weight" and values.dtype.is_float():
        refuse(column, values != values.floor(), "are not whole", "documents are counted")
    return values.cast(pl.Float64)


def cluster_column(values: pl.Series, column: str) -> pl.Series:
    """Return clusters: values of any type, none missing."""
    if values.dtype.is_float():
        refuse(column, values.is_nan().fill_null(False), "are NaN", "give every row a cluster")
    refuse(column, values.is_null(), "have no cluster", "give every row one")
    return values


def largest_grade(grades: pl.Series) -> float:
    """Return the largest grade, NaN if there is none."""
    top = grades.max()
    return float(top) if isinstance(top, int | float) else np.nan
