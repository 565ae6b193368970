"""Each class against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from frame_metrics.data.cases import UNNAMED, Cases
from frame_metrics.errors import NotComputableError
from frame_metrics.inputs import Array, FullConfusion, FullScores
from frame_metrics.metrics.names import Asked


def check_each_class(asked: Asked, cases: Cases) -> None:
    """Raise for metrics that have no value for each class."""
    for name, metric in asked:
        if metric.input not in (FullConfusion, FullScores):
            raise NotComputableError(f"{name} has one value for all classes together; use evaluate()")
    if cases.binary and any(metric.input is FullScores for _, metric in asked):
        raise NotComputableError("scores of two classes rank one of them; evaluate() has their metrics")


def views_of_classes(
    cases: Cases, rows: Sequence[pl.DataFrame], *, per_class: bool
) -> list[tuple[Cases, list[pl.DataFrame]]]:
    """Return cases and some of their rows, or for each class these with the class as the relevant one of two."""
    return [_against_rest(cases, rows, c) for c in range(cases.k)] if per_class else [(cases, [*rows])]


def rows_of_class(view: Cases) -> Array:
    """Return how many rows of the class each row of ``views_of_classes`` stands for, shape (rows,)."""
    return np.where((view.rows["actual"] == 1).fill_null(value=False).to_numpy(), view.times, 0)


def _against_rest(cases: Cases, rows: Sequence[pl.DataFrame], c: int) -> tuple[Cases, list[pl.DataFrame]]:
    of_class = [pl.col(name) == c for name in ("actual", "predicted") if name in cases.rows.columns]
    scores = [name for name in cases.rows.columns if name.startswith("score:")]
    own = [pl.col(f"score:{c}").alias("score")] if scores else []
    views = [frame.with_columns(*(one.cast(pl.Int64) for one in of_class), *own).drop(scores) for frame in rows]
    columns, conventions = cases.columns.changed(class_scores=()), replace(cases.conventions, classes=None)
    return replace(cases, columns=columns, conventions=conventions, classes=UNNAMED, binary=True), views
