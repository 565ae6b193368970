"""Checks of classes with few rows, or none in some segment, for averages over classes."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs import Array
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


@check("warning", "{cells}", only=lambda pooled: not pooled.cases.binary)
def segments_without_some_class(pooled: Pooled) -> Seen | None:
    """{name} is true in no row of {segment}: averages over classes, as macro recall, are over other classes there, and
    are not to be compared. Look at per_class(), or leave out the rows of this class everywhere
    """
    segments, sizes = pooled.inputs.segments, class_sizes(pooled.cases, pooled.inputs.segments)
    if len(segments) < 2 or not pooled.cases.k:
        return None
    absent = (sizes == 0) & (sizes > 0).any(axis=0)
    return _segments_with(absent & (segments.n > 0)[:, None], pooled)


@check("warning", "{cells}", only=lambda pooled: pooled.decided and not pooled.cases.binary)
def segments_with_a_class_never_true(pooled: Pooled) -> Seen | None:
    """{name} is predicted in {segment}, not in some others, and never true: averages over classes count it there only,
    and are not to be compared. Pass abstain=['{name}'] if it is no decision
    """
    segments, sizes = pooled.inputs.segments, class_sizes(pooled.cases, pooled.inputs.segments)
    if not pooled.cases.columns.by or not pooled.cases.k:
        return None
    seen = pooled.inputs.tables.seen
    return _segments_with(seen & ~(sizes > 0).any(axis=0) & ~seen[segments.n > 0].all(axis=0), pooled)


def _segments_with(marked: Array, pooled: Pooled) -> Seen:
    """Count the segments with a marked class, and name the first such class; ``marked``: shape (segments, classes)."""
    some = np.asarray(marked.any(axis=1))
    seen, first = pooled.segments(some), marked[int(some.argmax())].argmax()
    return seen._replace(words={"segment": seen.example, "name": str(pooled.cases.classes[int(first)])})
