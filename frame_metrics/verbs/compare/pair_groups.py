"""Pairs of systems on the same queries: their differences, and what is known of these before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.measuring.pairs import QueryValues
from frame_metrics.metrics.metric import Metric
from frame_metrics.stats.significance import SpreadOfPairs, spread_of_pairs
from frame_metrics.verbs.compare.differences import Pair, Row

COMPARISONS_AT_ONCE = 64  # comparisons whose values are laid side by side at a time


def range_of_metric(metric: Metric, values: Array) -> tuple[float, float]:
    """Return the range of a metric; NaN if some values are outside, because another metric has its name."""
    least, most = metric.range
    inside = not len(values) or (least <= values.min() and values.max() <= most)
    return (least, most) if inside else (np.nan, np.nan)


@record
class PairDifferences:
    """The differences of a pair of systems on one metric, and the row of the result that they belong to."""

    row: Row
    metric: Metric
    metric_at: int  # the position of the metric
    pair: Pair
    # The difference of each query; if preferences are tested .5 if the system is better, -.5 if worse, else 0. Shape
    # (queries,).
    differences: Array
    magnitude: float  # the greatest absolute value of the system, by which rounding is judged
    # If all values are 0 or 1: how many queries have 1 of both, of the system only, of the baseline only, of neither.
    win_table: Array | None
    mean: float  # of the differences
    ends: tuple[float, float]  # the least and the greatest possible mean


@record
class PairGroup:
    """Pairs of systems on the same queries of a segment."""

    values: QueryValues
    use: Array  # whether each query of the segment is used, shape (queries,)
    comparisons: Sequence[PairDifferences]

    def only(self, some: Sequence[bool]) -> PairGroup:
        """Return the group with some of its comparisons."""
        if all(some):
            return self
        return replace(
            self, comparisons=[comparison for comparison, used in zip(self.comparisons, some, strict=True) if used]
        )

    @cached_property
    def weight(self) -> Array | None:
        """The weight of each query that is used; None if all are equal."""
        return self.values.weights(self.use)

    @cached_property
    def cluster(self) -> Array | None:
        """The number of the cluster of each query that is used; None if each is independent."""
        return self.values.clusters(self.use)

    @cached_property
    def differences(self) -> Array:
        """The differences of all comparisons, shape (queries, comparisons)."""
        return np.column_stack([comparison.differences for comparison in self.comparisons])

    @cached_property
    def magnitude(self) -> Array:
        """The magnitude of each comparison, shape (comparisons,)."""
        return np.array([comparison.magnitude for comparison in self.comparisons])

    @cached_property
    def n(self) -> int:
        """The number of queries with a weight above 0."""
        return int(np.count_nonzero(self.use if self.weight is None else self.weight))

    @cached_property
    def units(self) -> int:
        """The number of queries, or clusters, with a weight above 0."""
        if self.cluster is None:
            return self.n
        return len(np.unique(self.cluster if self.weight is None else self.cluster[self.weight > 0]))

    @cached_property
    def tested(self) -> bool:
        """True if there is something to test: queries with weights, and not of one cluster alone."""
        return self.n > 0 and not self.values.has_one_cluster(self.use)

    @cached_property
    def zero_one(self) -> Array:
        """True where the values of a comparison are 0 and 1, shape (comparisons,)."""
        return np.array([comparison.win_table is not None for comparison in self.comparisons])

    @cached_property
    def spread(self) -> SpreadOfPairs | None:
        """The effect size and standard error of each comparison; None if there are fewer than two queries."""
        return spread_of_pairs(self.differences, self.weight, self.cluster, self.magnitude) if self.n > 1 else None

    def relative_error(self) -> Array:
        """Return the standard error of the logarithm of the ratio of both means, shape (comparisons,)."""
        errors = []
        for begin in range(0, len(self.comparisons), COMPARISONS_AT_ONCE):
            some = self.comparisons[begin : begin + COMPARISONS_AT_ONCE]
            both = [self.values.values[comparison.metric_at, self.use][:, comparison.pair].T for comparison in some]
            value, base = (np.column_stack(side) for side in zip(*both, strict=True))
            means = np.array([[comparison.row["value"], comparison.row["baseline_value"]] for comparison in some]).T
            divisor = np.where(means == 0, 1, means)  # if a mean is 0, the result is not used
            relative = value / divisor[0] - base / divisor[1]
            errors.append(spread_of_pairs(relative, self.weight, self.cluster, np.ones(len(some))).error)
        return np.concatenate(errors)
