"""Scores checked to be probabilities: those of one class, and those of several, which add up to 1."""

from __future__ import annotations

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases
from frame_metrics.errors import BadRowsError, BadValueError, bad_rows_message
from frame_metrics.inputs import Array
from frame_metrics.measuring.queries import check_probability
from frame_metrics.roles.series import refuse

SUM_TOL = 1e-6  # how far the probabilities of a row may be from 1 in sum, for what floats lose
# The decimals of probabilities that count as rounded, how far they are from such numbers, and the most by which their
# sum may be off.
DECIMALS, ROUNDED_TOL, MOST_OFF = (5, 4, 3, 2), 1e-7, 0.01


def check_scores(name: str, cases: Cases) -> None:
    """Raise for scores that are not probabilities.

    If the cases are documents of queries, the error counts documents and shows no rows: they are not rows of the frame.
    """
    try:
        check_probability(name, cases.rows["score"], str(cases.columns.score))
    except BadRowsError as error:
        if not cases.columns.query:
            raise
        message = bad_rows_message(error.column, len(error.rows), [], len(cases.rows), error.what, error.remedy)
        raise BadValueError(message.replace("rows", "documents", 1)) from None


def check_probabilities(name: str, cases: Cases) -> None:
    """Raise if the scores of several classes are not probabilities that add up to 1."""
    columns = dict(cases.columns.class_scores)
    for i, value in enumerate(cases.classes.to_list()):
        check_probability(name, cases.rows[f"score:{i}"], columns[value])
    scores = cases.rows.select(f"score:{i}" for i in range(cases.k)).to_numpy()
    refuse(
        ", ".join(columns.values()),
        pl.Series(np.abs(scores.sum(axis=1) - 1) > _lost_in_sums(scores)),
        "do not add up to 1",
        f"{name} needs probabilities; divide each by the sum of its row",
    )


def _lost_in_sums(scores: Array) -> Array:
    """Return how far the sum of each row may be off: half the last decimal of each number that is rounded, (rows,).

    ``scores``: shape (rows, K).
    """
    off = np.full(len(scores), SUM_TOL)
    for decimals in DECIMALS:
        rounded = (np.abs(scores - scores.round(decimals)) <= ROUNDED_TOL).all(axis=1)
        off[rounded] = max(SUM_TOL, min(scores.shape[1] * 0.5 * 10.0**-decimals, MOST_OFF) + ROUNDED_TOL)
    return off
