"""Rows to decide about, without queries: each with its true class, what is predicted of it, and its scores."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from frame_metrics.data.blocks import numbers
from frame_metrics.data.classes import class_values, codes, distinct_values, is_binary, relevant, sides_of, two_classes
from frame_metrics.errors import ColumnError, NotComputableError, listed
from frame_metrics.roles.columns import (
    Columns,
    key_columns,
    key_names,
    label_column,
    refuse,
    role_columns,
    score_column,
    type_of,
)
from frame_metrics.roles.conventions import Conventions


@dataclass(frozen=True, eq=False)
class Cases:
    """The rows of a frame, checked.

    Parameters
    ----------
    rows : the key columns by their inside names; "actual" and "predicted", the number of the class of each row, null
        where nothing was predicted; "score", null for those not retrieved, or "score:0" and so on for each class;
        "weight"; "cluster", its number.
    kept : the key columns of all rows and "counted", where rows without a judgment were dropped.
    columns, conventions : which column is which, and what is done where the field disagrees.
    classes : the classes in their order; of two the relevant one is the last. None where nothing needs their names.
    clusters : the predicted classes, where they are not the true ones but are yet to be matched to them.
    binary : whether there are two classes, one of which is the relevant one.
    """

    rows: pl.DataFrame
    kept: pl.DataFrame | None
    columns: Columns
    conventions: Conventions
    classes: pl.Series | None
    clusters: pl.Series | None
    binary: bool

    @property
    def every(self) -> pl.DataFrame:
        """All rows, and "counted" where some were dropped."""
        return self.rows if self.kept is None else self.kept

    @property
    def k(self) -> int:
        """Number of classes."""
        return 2 if self.binary or self.classes is None else len(self.classes)

    @property
    def weighted(self) -> bool:
        """True where rows have weights."""
        return "weight" in self.rows.columns

    @property
    def keys(self) -> tuple[list[str], list[str]]:
        """Inside names of the columns of system and segment."""
        system, by, _ = key_names(self.columns)
        return system, by


def read_cases(frame: pl.DataFrame, columns: Columns, conventions: Conventions, *, named: bool = False) -> Cases:
    """Check the columns and number the classes.

    Parameters
    ----------
    named : whether the classes will be named in the result.

    Raises
    ------
    FrameMetricsError
        A value is not what its role can hold, or what is relevant is not said.
    """
    conventions = conventions.in_types(type_of(frame, columns.score), type_of(frame, columns.grade))
    out = key_columns(frame, columns)
    keys = list(out)
    label, predicted = sides_of(frame, columns, conventions)
    binary = is_binary(label, predicted, columns, conventions)
    classes, clusters = None, None
    if binary:
        out["actual"] = relevant(frame, label, columns, conventions)
        if predicted is not None:
            out["predicted"] = label_column(predicted, str(columns.predicted), conventions.positive, role="prediction")
        classes = two_classes(frame, columns, conventions) if named else None
    elif label is None:
        raise ColumnError("several classes are in labels, and a grade is none; name label=")
    else:
        if conventions.threshold is not None:
            raise NotComputableError("threshold= decides between two classes; name the relevant one with positive=")
        classes = class_values(label, predicted if conventions.match is None else None, columns, conventions)
        out["actual"] = codes(label, classes, str(columns.label))
        if predicted is not None:
            clusters = distinct_values(predicted) if conventions.match is not None else None
            out["predicted"] = codes(predicted, classes if clusters is None else clusters, str(columns.predicted))
    if columns.score:
        out["score"] = score_column(frame[columns.score], columns.score).cast(pl.Float64)
        if conventions.threshold is not None:
            out["predicted"] = (out["score"] >= conventions.threshold).fill_null(False).cast(pl.Int8)
    out |= _class_scores(frame, columns, classes)
    out |= role_columns(frame, columns, ("weight", "cluster"))
    if columns.cluster:
        out["cluster"] = numbers(out["cluster"])
    rows = pl.DataFrame(out)
    rows, kept = _judged(rows, keys, columns, conventions, binary)
    return Cases(rows, kept, columns, conventions, classes, clusters, binary)


def _judged(
    rows: pl.DataFrame, keys: list[str], columns: Columns, conventions: Conventions, binary: bool
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Drop rows that are not judged, count them as not relevant, or raise: the rows, and all if some were dropped."""
    if not rows["actual"].null_count():
        return rows, None
    if conventions.unjudged == "drop":
        judged = pl.col("actual").is_not_null()
        return rows.filter(judged), rows.select(*keys, judged.alias("counted"))
    if binary:
        return rows.with_columns(pl.col("actual").fill_null(0)), None
    refuse(str(columns.label), rows["actual"].is_null(), "have no class", "drop them, or say unjudged='drop'")
    return rows, None


def _class_scores(frame: pl.DataFrame, columns: Columns, classes: pl.Series | None) -> dict[str, pl.Series]:
    """The scores of each class, in the order of the classes."""
    if not columns.class_scores or classes is None:
        return {}
    named = dict(columns.class_scores)
    extra = [value for value in named if value not in classes.to_list()]
    missing = [value for value in classes.to_list() if value not in named]
    if extra or missing:
        wrong = f"{listed(extra[:3])}, not among the classes" if extra else f"no column for {listed(missing[:3])}"
        raise ColumnError(f"score= names {wrong}")
    out = {}
    for i, value in enumerate(classes.to_list()):
        scores = score_column(frame[named[value]], named[value])
        refuse(named[value], scores.is_null(), "have no score", "drop them")
        out[f"score:{i}"] = scores.cast(pl.Float64)
    return out
