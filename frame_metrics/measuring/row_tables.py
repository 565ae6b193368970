"""Intervals of pooled rows by a formula: of shares, and of other measures of true and predicted classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from frame_metrics.inputs import Array, Classes, FullConfusion, ratio
from frame_metrics.inputs.rows import rows_by_group
from frame_metrics.measuring.resampled_rows import columns_read, effective_counts, inputs_of_drawn
from frame_metrics.measuring.row_shares import ends_by_shares, share_of_marks
from frame_metrics.measuring.rows import Inputs, one_metric
from frame_metrics.metrics.metric import Metric
from frame_metrics.stats.averages import sums_within
from frame_metrics.stats.shares import effective, wilson_on_range
from frame_metrics.stats.sums import sum_of

ADDED = 2  # the rows that are added to each class: one that is right, and one that is not
MOST_CELLS = 1000  # with more cells their effects take longer than draws
STEP = 0.01  # by what part of itself a cell is made greater, and smaller, to see its effect


class RowsOfTable(NamedTuple):
    """Rows of a segment: true class, prediction, how many there are, the weight of one, and their cluster if any."""

    true: Array
    found: Array  # the number of classes for none
    times: Array
    weight: Array
    cluster: Array | None = None


def ends_by_formula(
    inputs: Inputs, metric: Metric, average: str | None, value: Array, level: float, c: int | None = None
) -> Array | None:
    """Return the ends of the intervals of a metric of rows, shape (2, segments); None if no formula gives them.

    Shares, and what is made of them, have the ends of ``ends_by_shares``, whose parameters these are. Other measures of
    the table, as averages over classes, have Wilson's interval on their range, of as many rows as would have their
    variance. Of rows that are all right it would be 0; so it is that of a table with two more rows of each class, one
    of them right, at the size that the class had.

    Source: A. Agresti, B. A. Coull, Approximate is better than "exact" for interval estimation of binomial proportions,
    The American Statistician 52(2), 1998.
    """
    of_shares = ends_by_shares(inputs, metric, average, value, level, c)
    if of_shares is not None or not _is_of_table(inputs, metric):
        return of_shares
    found = inputs.cached(("spread", metric, average, c), lambda: _spread(inputs, metric, average, c))
    if found is None:
        return None
    least, most = metric.range
    share, variance, units = (found[0] - least) / (most - least), found[1] / (most - least) ** 2, _units(inputs)
    rows = effective(share, variance, units, np.inf, level, clustered=False)
    if found[2].any():
        rows = np.where(found[2], effective(share, variance, units, np.inf, level, clustered=True), rows)
    known = (units > 1) & (variance > 0)
    return wilson_on_range(np.where(known, value, np.nan), np.where(known, rows, np.nan), level, metric.range)


def _units(inputs: Inputs) -> Array:
    """Return the number of rows, or clusters, of each segment, Kish's if they have weights, shape (segments,)."""
    return inputs.cached(
        "units", lambda: effective_counts(inputs.cases, inputs.segments.of(inputs.cases.rows), len(inputs.segments))
    )


def _is_of_table(inputs: Inputs, metric: Metric) -> bool:
    """Return True for a measure of two classes, or its form for several, with a range, where classes are predicted."""
    cases = inputs.cases
    if metric.input is not FullConfusion or not np.isfinite(metric.range).all() or inputs.table is None:
        return False
    return cases.found_clusters is None and cases.conventions.collection_size_number is None


def _spread(inputs: Inputs, metric: Metric, average: str | None, c: int | None) -> Array | None:
    """Return what ``_spread_of`` returns of each segment, shape (3, segments); None if one has too many cells."""
    cases, size, place = inputs.cases, len(inputs.segments), inputs.segments.of(inputs.cases.rows)
    actual, k = cases.rows["actual"].to_numpy(), max(cases.k, 1) if c is None else 2
    group = np.where(place < 0, place, place * k + (actual if c is None else actual == c))
    n_of_class = _counts_of_classes(inputs, group, size * k).reshape(size, k)
    found = np.full((3, size), np.nan)
    for segment, rows in enumerate(_each_segment(inputs)):
        measure = partial(measured, inputs, metric, average, segment)
        if c is not None:
            measure = partial(_measured_of_two, metric)
            predicted = np.where(rows.found == cases.k, 2, rows.found == c)
            rows = rows._replace(true=(rows.true == c).astype(np.int64), found=predicted)
        spread = _spread_of(rows, n_of_class[segment], measure)
        if spread is None:
            return None
        found[:, segment] = spread
    return found


def _counts_of_classes(inputs: Inputs, group: Array, n: int) -> Array:
    """Return how many independent rows each class has, Kish's number if they have weights, shape (n,).

    In clusters they are fewer by as much as the share of right rows varies more, but no fewer than the clusters. These
    they are where it does not vary.

    ``group``: the number of each row's segment and class, shape (rows,); a segment has as many groups as any other.
    """
    cases = inputs.cases
    n_units = effective_counts(cases, group, n)
    if not cases.columns.cluster:
        return n_units
    actual, predicted = columns_read(cases, Classes)
    right = (actual == predicted).astype(np.float64)
    _, _, of_rows, _, of_clusters = inputs.cached("right rows", lambda: share_of_marks(inputs, right))
    n_rows = effective_counts(cases, group, n, clustered=False)
    times = np.repeat(np.nan_to_num(ratio(of_rows, of_clusters)), n // len(of_rows))
    return np.maximum(n_rows * np.minimum(times, 1.0), n_units)


def _each_segment(inputs: Inputs) -> Iterator[RowsOfTable]:
    """Yield the rows with a weight of each segment; of independent rows those of each cell of the table together."""
    cases, size = inputs.cases, len(inputs.segments)
    if cases.independent:
        for segment in range(size):
            true, found, amount = inputs.tables.cells_of(segment)
            yield RowsOfTable(true, found, amount, np.ones(len(true)))
        return
    rows = np.flatnonzero(cases.row_weight * cases.times > 0)
    weight = cases.row_weight / (cases.row_weight.max(initial=0) or 1.0)  # whose scale changes no bit
    columns = [*(column.astype(np.int64) for column in columns_read(cases, Classes)), cases.times, weight]
    columns += [cases.rows["cluster"].to_numpy()] if cases.columns.cluster else []
    for at in rows_by_group(inputs.segments.of(cases.rows), size, rows):
        yield RowsOfTable(*(column[at] for column in columns))


def measured(inputs: Inputs, metric: Metric, average: str | None, segment: int, cell: Array, amount: Array) -> Array:
    """Return a measure of tables in place of that of a segment, shape (tables,).

    ``cell``: the code of each cell, true class by prediction; ``amount``: that of each in each table, (tables, cells).
    """
    true, found = np.divmod(cell, inputs.tables.f + 1)
    tables = inputs_of_drawn(inputs, segment, inputs.tables.drawn(segment, true, found, amount))
    return one_metric(tables, metric.name, metric, average).value


def _measured_of_two(metric: Metric, cell: Array, amount: Array) -> Array:
    """Return a measure of tables of a class and the rest, as ``measured`` does."""
    shape, zeros = (len(amount), 2, 2), np.zeros(len(cell), np.int64)
    return metric.compute(Classes(zeros, *np.divmod(cell, 3), amount, shape, np.ones(shape[:2], bool)).rest(1))


def effects_of_cells(cell: Array, amount: Array, measure: Callable[[Array, Array], Array]) -> tuple[float, Array]:
    """Return the measure of a table, and how it rises with the amount of each cell, shape (cells,).

    The parameters are those of ``measured``, but for one table; ``measure`` is this function.
    """
    step = STEP * np.diag(amount)
    value, *others = measure(cell, np.concatenate([amount[None], amount + step, amount - step]))
    more, less = np.reshape(others, (2, -1))
    return float(value), np.nan_to_num((more - less) / (2 * STEP * amount))


def _spread_of(
    rows: RowsOfTable, n_of_class: Array, measure: Callable[[Array, Array], Array]
) -> tuple[float, float, bool] | None:
    """Return a measure of the rows of a segment and two more of each class, its variance, and if rows are clustered.

    None if there are too many cells. If each row is a cluster by itself, there are no clusters.
    The row that is wrong is predicted to be of the next class, in the order of their sizes. The variance is that of the
    sum over rows, or clusters, of what each adds to the measure, which its cell shows as it becomes larger and smaller.

    Parameters
    ----------
    n_of_class : how many rows, or clusters, each class has, or Kish's number, shape (K,).
    measure : a function from cells and their amounts in some tables to the measure of each table.
    """
    (true, found, times, weight, cluster), k = rows, len(n_of_class)
    mass, right, heavy = sums_within(true, k, times * weight * np.array([np.ones(len(true)), true == found, weight]))
    there = np.flatnonzero(mass)
    predicted = sums_within(found, k + 1, [times * weight])[0]
    order = there[np.lexsort((predicted[there], right[there], mass[there]))]
    following = np.roll(order, -1) if len(order) > 1 else (order + 1) % k
    added_true, added_found = np.tile(order, 2), np.concatenate([order, following])
    left = n_of_class / (n_of_class + ADDED)
    added = (mass / (n_of_class + ADDED))[added_true]
    code = np.concatenate([true, added_true]) * (k + 1) + np.concatenate([found, added_found])
    cell, at = np.unique(code, return_inverse=True)
    if len(cell) > MOST_CELLS:
        return None
    amount = sums_within(at, len(cell), [np.concatenate([times * weight * left[true], added])])[0]
    value, effect = effects_of_cells(cell, amount, measure)
    of_rows, of_added = np.split(effect[at], [len(true)])
    each = np.sqrt(left[true]) * weight * of_rows
    squares = [times * each**2, added**2 / left[added_true] * of_added**2]
    number = np.zeros(0, np.int64) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    clustered = cluster is not None and number.max(initial=-1) + 1 < times.sum()
    if clustered:
        squares[0] = sums_within(number, int(number.max()) + 1, [times * each])[0] ** 2
    # It is at least that of as many independent rows, and Kish's number: few large weights show far too little of it.
    least = np.sum(amount * ratio(heavy, mass)[cell // (k + 1)] * effect**2)
    return value, float(max(sum_of(np.concatenate(squares).tolist()), least)), bool(clustered)
