"""Checks of classes that have so few rows that averages over classes are uncertain."""

from __future__ import annotations

import numpy as np

from frame_metrics.measuring.rows import class_sizes
from frame_metrics.verbs.audit.checks import Seen, check
from frame_metrics.verbs.audit.of_rows import Pooled

MIN_ROWS_OF_CLASS = 5  # rows whose actual class it is, from which on it is in nearly every resample


@check("warning", "{classes}", only=lambda pooled: pooled.decided and not pooled.cases.binary)
def classes_with_few_rows(pooled: Pooled) -> Seen:
    """{name} is true in {rows:.0f} of the rows: with fewer than 5 of a class, intervals of averages over classes, as of
    macro recall, hold the truth in 80 to 95 % of samples. Join rare classes, or label more of their rows
    """
    rows = class_sizes(pooled.cases, pooled.inputs.segments).T
    return pooled.classes(rows < MIN_ROWS_OF_CLASS, rows > 0, rows=rows.astype(np.float64))
