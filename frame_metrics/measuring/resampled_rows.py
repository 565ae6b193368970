"""Resamples of rows without a query, and the value of metrics in each resample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from frame_metrics.backends.progress import progress
from frame_metrics.data.cases import Cases
from frame_metrics.inputs import Array, Classes, ClassScores, FullScores, ratio
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import rows_by_group
from frame_metrics.inputs.scores import DrawnRows, DrawnScores, FallingRows
from frame_metrics.measuring.rows import Inputs, class_cells, class_sizes, each_class, input_of, one_metric
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.shares import share_of_top
from frame_metrics.stats.averages import sums_within
from frame_metrics.stats.exact import expanded_level
from frame_metrics.stats.resampling import (
    NUMBERS_AT_ONCE,
    Units,
    draws,
    enough_resamples,
    percentile_interval,
    units_of,
)
from frame_metrics.stats.shares import effective, wilson_on_range

MIN_ROWS_TO_EXPAND = 2  # the fewest rows that an interval is expanded for: for one row it would have no ends
# An area near 1 varies as a share of up to so many times the rows of the rarer class (``area_between``).
MOST_ROWS = 4
FLIPS_PER_ROW = 20  # for the progress bar: drawing and sorting a row takes as long as 20 sign flips of a query
Drawn = Classes | DrawnRows | ClassScores  # the input of metrics, in which each resample is one group
MetricAndAverage = tuple[str, Metric, str | None]  # a name, its metric, and an average; None for the metric's own
# A function from how often each unit is in each resample, shape (resamples, units), to the input of metrics.
ToInput = Callable[[Array], Drawn]


@record
class RowGroup:
    """Rows that are resampled together, of one segment or of several."""

    units: Units
    # For each segment: which of the units it has, and the columns of these, the weight last.
    by_segment: dict[int, tuple[slice, list[Array]]]


@record
class RowDraws:
    """The resampling of rows in segments; a segment of fewer than two rows, or clusters, is not resampled.

    By default each segment is resampled by itself.
    """

    inputs: Inputs
    resamples: int
    seed: int
    group: Array | None = None  # the group of each segment; a group is resampled together, shape (segments,)
    for_ends: bool = False  # whether few rows, or clusters, are drawn more often, as ends of intervals need
    percentiles: bool = False  # whether all intervals are percentiles of draws
    paired: bool = False  # whether all segments have the same rows in the same order, and each draw is for all of them

    def values(self, wanted: Mapping[int, MetricAndAverage]) -> dict[tuple[int, int], Array]:
        """Compute metrics in all resamples.

        Parameters
        ----------
        wanted : metrics, by any number.

        Returns
        -------
        The values in the resamples, NaN where undefined, by the metric's number and the segment. If segments are
        resampled together, values at one position are of one resample, and a resample that lacks rows of one of these
        segments is left out.
        """
        blocks: dict[tuple[int, int], list[Array]] = {}
        for kind in INPUT_OF_RESAMPLES:
            some = {i: one for i, one in wanted.items() if input_of(self.inputs.cases, one[1]) is kind}
            for segment, drawn in self._drawn(kind) if some else ():
                inputs = inputs_of_drawn(self.inputs, segment, drawn, [metric for _, metric, _ in some.values()])
                for i, (name, metric, average) in some.items():
                    blocks.setdefault((i, segment), []).append(one_metric(inputs, name, metric, average).value)
        return {at: np.concatenate(values) for at, values in blocks.items()}

    def ends(self, wanted: Mapping[int, MetricAndAverage], value: Array, level: float) -> dict[tuple[int, int], Array]:
        """Return the ends of percentile intervals, at the level that is expanded for so many rows, or clusters.

        Measures ``on_range`` have ``ends_on_range`` instead, but for ``percentiles``. Measures of the order of two
        classes' scores depend most on the rarer class: its rows are those that count. If there are several classes, a
        resample may lack some, and measures that are not linear are then too low on average: resampled values are
        shifted, so that their mean is the value. Few rows are drawn more often.

        Parameters
        ----------
        wanted : metrics, by any number.
        value : their values, by this number and the segment, shape (metrics, segments).
        level : of the intervals.

        Returns
        -------
        The ends by the metric's number and the segment, shape (2,) each; NaN if no draw is defined, or all are equal.
        """
        ends: dict[tuple[int, int], Array] = {}
        for (i, segment), drawn in replace(self, for_ends=True).values(wanted).items():
            metric, estimate = wanted[i][1], value[i, segment]
            drawn = drawn[~np.isnan(drawn)]
            if self.on_range(metric) and not self.percentiles:
                spread = drawn.var() if len(drawn) else np.nan
                ends[i, segment] = self.ends_on_range(metric, estimate, spread, level, segment)
                continue
            if not self.inputs.cases.binary and np.isfinite(drawn).all() and np.isfinite(estimate) and len(drawn):
                drawn = np.clip(drawn + (estimate - drawn.mean()), *metric.range)
            expanded = expanded_level(level, max(float(self.n_units(metric)[segment]), MIN_ROWS_TO_EXPAND))
            found = percentile_interval(drawn, expanded)
            if metric.top is not None:
                found = self._widened(found, metric, segment, estimate, drawn, level)
            ends[i, segment] = found
        return ends

    def _widened(self, ends: Array, metric: Metric, segment: int, value: float, drawn: Array, level: float) -> Array:
        """Return the ends of a measure of the rows with the highest scores, wide enough in two cases.

        If few rows have the highest scores, all of them may be relevant in most draws. So the interval is at least
        Wilson's, of the share that the measure is, for as many rows as would have the variance of the draws. If the
        share of relevant rows jumps at the least of the highest scores, draws lie on one side of the value. So the
        interval is as wide on the other side.

        Parameters
        ----------
        ends : of the percentile interval, shape (2,).
        metric, segment, value, level : the metric, and its value in a segment; the level of the interval.
        drawn : its values in the draws, shape (draws,).
        """
        rows, factor = (numbers[segment] for numbers in self._rows_of_share(metric))
        share, variance = value / factor, drawn.var() / factor**2 if len(drawn) else np.nan
        wilson = wilson_on_range(share, effective(share, variance, rows, rows, level, clustered=False), level)
        mirrored = np.clip(2 * value - ends[::-1], 0, factor)
        each = np.array([ends, mirrored, factor * wilson])
        return np.array([np.fmin.reduce(each[:, 0]), np.fmax.reduce(each[:, 1])])

    def on_range(self, metric: Metric) -> bool:
        """Return True for an area, or another measure of the order of two classes' scores over all thresholds."""
        return self.inputs.cases.binary and metric.of_all_thresholds

    def spread(self, wanted: MetricAndAverage) -> Array:
        """Return the variance of the draws of a metric in each segment, NaN without draws, shape (segments,)."""
        variance = np.full(len(self.inputs.segments), np.nan)
        for (_, segment), drawn in replace(self, for_ends=True).values({0: wanted}).items():
            known = drawn[~np.isnan(drawn)]
            variance[segment] = known.var() if len(known) else np.nan
        return variance

    def ends_on_range(self, metric: Metric, value: Any, variance: Any, level: float, segment: Any = ...) -> Array:
        """Return Wilson's interval on the range of a metric, of as many rows as have its variance, shape (2, ...).

        Where no draw differs it is that of as many rows, or clusters, as the rarer class has.

        Parameters
        ----------
        value, variance : the values, and the variances of draws, of one segment or of all.
        segment : the segment; all by default.
        """
        least, most = metric.range
        units, rows = self._rarest[segment], MOST_ROWS * self._rarest_rows[segment]
        share, width = (np.asarray(value) - least) / (most - least), (most - least) ** 2
        alike = effective(share, np.asarray(variance) / width, units, rows, level, clustered=True)
        known = (units > 1) & ~np.isnan(variance)
        return wilson_on_range(np.where(known, value, np.nan), np.where(known, alike, np.nan), level, metric.range)

    def n_units(self, metric: Metric) -> Array:
        """Return how many rows, or clusters, of each segment a metric rests on, shape (segments,)."""
        if metric.top is not None:
            return np.nan_to_num(self._rows_of_share(metric)[0])
        return self._rarest if metric.of_order and self.inputs.cases.binary else self._sizes

    def _rows_of_share(self, metric: Metric) -> tuple[Array, Array]:
        """Return how many rows of each segment a metric with ``top=`` is a share of, and its factor in each segment."""
        sizes = class_sizes(self.inputs.cases, self.inputs.segments)
        return share_of_top(metric, sizes.sum(axis=1), sizes[:, 1])

    def ends_of_classes(self, wanted: Mapping[int, Metric], level: float) -> dict[tuple[int, int], Array]:
        """Return the ends of percentile intervals of metrics of each class against the rest, shape (2, K) each.

        Draws that lack the class are left out. The parameters and the keys are those of ``ends``.
        """
        blocks: dict[tuple[int, int], list[Array]] = {}
        for kind in (Classes, ClassScores):
            some = {i: one for i, one in wanted.items() if (one.input is FullScores) is (kind is ClassScores)}
            for segment, drawn in replace(self, for_ends=True)._drawn(kind) if some else ():
                inputs = inputs_of_drawn(self.inputs, segment, drawn)
                for i, metric in some.items():
                    blocks.setdefault((i, segment), []).append(each_class(inputs, metric))
        found: dict[tuple[int, int], Array] = {}
        for at, parts in blocks.items():
            expanded = expanded_level(level, max(float(self._sizes[at[1]]), MIN_ROWS_TO_EXPAND))
            found[at] = np.array([percentile_interval(one, expanded) for one in np.concatenate(parts, axis=1)]).T
        return found

    @cached_property
    def _sizes(self) -> Array:
        """Number of rows, or clusters, of each segment, shape (segments,); Kish's number if they have weights."""
        return effective_counts(
            self.inputs.cases, self.inputs.segments.of(self.inputs.cases.rows), len(self.inputs.segments)
        )

    @cached_property
    def _rarest(self) -> Array:
        """Number of rows, or clusters, of the rarest class of each segment, as ``_sizes`` counts them, (segments,)."""
        return self._of_rarest(clustered=True)

    @cached_property
    def _rarest_rows(self) -> Array:
        """Number of rows of the rarest class of each segment, Kish's if they have weights, shape (segments,)."""
        return self._of_rarest(clustered=False)

    def _of_rarest(self, *, clustered: bool) -> Array:
        """Return the number of rows, or of clusters, of the rarest class of each segment, shape (segments,)."""
        cases, n, k = self.inputs.cases, len(self.inputs.segments), max(self.inputs.cases.k, 1)
        counts = effective_counts(cases, class_cells(cases, self.inputs.segments), n * k, clustered=clustered)
        return counts.reshape(n, k).min(axis=1)

    def _drawn(self, kind: type) -> Iterator[tuple[int, Drawn]]:
        """Yield a segment and the input of metrics for a block of its resamples; ``kind``: the class of the input."""
        step = max(NUMBERS_AT_ONCE // max(self.inputs.cases.k, 1), 1)
        for rows in self._merged_rows(kind):
            to_input = {
                segment: INPUT_OF_RESAMPLES[kind](self.inputs, segment, *columns)
                for segment, (_, columns) in rows.by_segment.items()
            }
            resamples = enough_resamples(self.resamples, rows.units.n_drawn) if self.for_ends else self.resamples
            with progress(resamples, "resample", work=FLIPS_PER_ROW * resamples * len(rows.units.times)) as tick:
                for often in draws(rows.units, resamples, self.seed):
                    tick(len(often))
                    if self.group is not None:
                        has_rows = [often[:, units].any(axis=1) for units, _ in rows.by_segment.values()]
                        often = often[np.all(has_rows, axis=0)]
                    for part in np.split(often, range(step, len(often), step)):
                        for segment, (units, _) in rows.by_segment.items():
                            yield segment, to_input[segment](part[:, units])

    def _merged_rows(self, kind: type) -> Iterator[RowGroup]:
        """Yield rows that are resampled together, equal ones merged; ``kind``: the class of the input of metrics."""
        cases, n = self.inputs.cases, len(self.inputs.segments)
        if self.paired:
            return self._same_rows(kind, n)
        if kind is Classes and cases.independent:
            return self._cells()
        return self._rows(kind, n)

    def _same_rows(self, kind: type, n: int) -> Iterator[RowGroup]:
        """Yield the rows that all ``n`` segments have: one group of units, with the columns of every segment."""
        cases = self.inputs.cases
        actual, *columns = columns_read(cases, kind)
        by_segment = [[column[at] for column in columns] for at in np.split(np.arange(len(actual)), n)]
        first, k = slice(len(actual) // n), len(columns)
        units = self._units(first, [actual[first], *chain(*by_segment), cases.row_weight[first]])
        if units is not None:
            actual, *values, weight = units.columns
            columns_of = [[actual, *values[i * k : (i + 1) * k], weight] for i in range(n)]
            yield RowGroup(units, {i: (slice(None), columns) for i, columns in enumerate(columns_of)})

    def _cells(self) -> Iterator[RowGroup]:
        """Yield the cells of each segment's table as units: the metrics read the same of all rows of a cell."""
        table, n = self.inputs.tables, self.inputs.segments.n
        for segment in np.flatnonzero(n > 1).tolist():
            *classes, n_rows = table.cells_of(segment)
            columns = [*classes, np.ones(len(n_rows))]
            yield RowGroup(Units(columns, n_rows), {segment: (slice(None), columns)})

    def _rows(self, kind: type, n: int) -> Iterator[RowGroup]:
        """Yield the rows of each of ``n`` segments, or of each group of segments."""
        cases = self.inputs.cases
        segment = self.inputs.segments.of(cases.rows)
        group = segment if self.group is None else np.append(self.group, -1)[segment]
        columns = [segment, *columns_read(cases, kind), cases.row_weight]
        for rows in rows_by_group(group, n):
            units = self._units(rows, [column[rows] for column in columns])
            if units is not None:
                # The units are sorted by their first column, the segment.
                of_units, *values = units.columns
                spans = {int(g): slice(*np.searchsorted(of_units, [g, g + 1])) for g in np.unique(of_units)}
                by_segment = {g: (span, [column[span] for column in values]) for g, span in spans.items()}
                yield RowGroup(units, by_segment)

    def _units(self, rows: Array | slice, columns: Sequence[Array]) -> Units | None:
        """Return the units of some rows; None for fewer than two rows, or clusters."""
        cases = self.inputs.cases
        cluster = cases.rows["cluster"].to_numpy()[rows] if cases.columns.cluster else None
        return units_of(columns, cases.times[rows], cluster)


def inputs_of_drawn(inputs: Inputs, segment: int, drawn: Drawn, metrics: Sequence[Metric] = ()) -> Inputs:
    """Return the inputs of metrics for other tables or scores in place of a segment, in which each is a segment.

    A resample may be undefined without an error: ``undefined="raise"`` is replaced by "null".
    """
    cases, segments = inputs.cases, inputs.segments
    if cases.conventions.undefined == "raise":
        cases = replace(cases, conventions=replace(cases.conventions, undefined="null"))
    segments = replace(segments, n=np.repeat(segments.n[segment], drawn.n_queries))
    drawn_from = inputs, segment
    if isinstance(drawn, Classes):
        return Inputs(cases, segments, drawn, None, drawn_from=drawn_from)
    if isinstance(drawn, ClassScores):
        return Inputs(cases, segments, None, drawn, drawn_from=drawn_from)
    values = {metric: metric.compute(drawn.order_scores if metric.of_order else drawn.scores) for metric in metrics}
    return Inputs(cases, segments, None, None, drawn_from=drawn_from, values_drawn=values)


def effective_counts(cases: Cases, group: Array, n: int, *, clustered: bool = True) -> Array:
    """Return the number of rows, or of clusters, in each group, shape (n,); Kish's number if they have weights.

    ``group``: of each row, -1 for none, shape (rows,). A cluster counts in each group in which it has rows.
    """
    here = group >= 0
    group, mass = group[here], (cases.row_weight * cases.times)[here]
    squares = mass * cases.row_weight[here]
    if cases.columns.cluster and clustered:
        _, cluster = np.unique(cases.rows["cluster"].to_numpy()[here], return_inverse=True)
        pairs, of = np.unique(cluster * n + group, return_inverse=True)
        mass = sums_within(of, len(pairs), [mass])[0]
        group, squares = pairs % n, mass**2
    total, heavy = sums_within(group, n, [mass, squares])
    return np.nan_to_num(ratio(total**2, heavy))


def columns_read(cases: Cases, kind: type) -> list[Array]:
    """Return the columns that metrics with this kind of input read: the true class, then predictions or scores."""
    rows = cases.rows
    if kind is Classes:
        read = [rows["predicted"].fill_null(cases.n_predictable)]
    elif kind is FullScores:
        read = [rows["score"].fill_null(-np.inf)]
    else:
        read = [rows[f"score:{i}"] for i in range(cases.k)]
    return [column.to_numpy() for column in (rows["actual"], *read)]


def _tables(inputs: Inputs, segment: int, actual: Array, predicted: Array, weight: Array) -> ToInput:
    """Return a function from resamples to their tables of true and predicted classes."""
    table = inputs.tables
    cell = actual.astype(np.int64) * (table.f + 1) + predicted
    order: Any = np.argsort(cell, kind="stable") if (cell[1:] < cell[:-1]).any() else slice(None)
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    actual_of_cell, predicted_of_cell = actual[order][starts], predicted[order][starts]

    def to_tables(often: Array) -> Classes:
        amount = np.add.reduceat((often * weight)[:, order], starts, axis=1)
        return table.drawn(segment, actual_of_cell, predicted_of_cell, amount)

    return to_tables


def _scores(_: Inputs, __: int, actual: Array, score: Array, weight: Array) -> ToInput:
    """Return a function from resamples to their sorted scores, for two classes."""
    rows, all_one = FallingRows(score, actual == 1), bool((weight == 1).all())
    merged = FallingRows(score, actual == 1, rows.order, merged=True)
    return lambda often: DrawnRows(rows, merged, often if all_one else often * weight)


def _class_scores(inputs: Inputs, segment: int, actual: Array, *scores_and_weight: Array) -> ToInput:
    """Return a function from resamples to their sorted scores, for several classes."""
    *scores, weight = scores_and_weight
    seen = inputs.class_scores.seen[[segment]]
    units = ClassScores(np.zeros(len(actual), np.int64), actual, np.stack(scores, 1), weight, 1, seen)
    return lambda often: DrawnScores(units, often)


# For each kind of input: the function that makes this input of each resample.
INPUT_OF_RESAMPLES: dict[type, Callable[..., ToInput]] = {
    Classes: _tables,
    FullScores: _scores,
    ClassScores: _class_scores,
}
