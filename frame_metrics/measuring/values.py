"""Values of metrics for every ranking, as kernels gave them, and the sums that averages, intervals and tests need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from frame_metrics.inputs import Array, FullConfusion, Lists, ratio
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.index import Index
from frame_metrics.measuring.lists import Results, join_results
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.stats.averages import (
    Averages,
    Tally,
    averages_of,
    partial_sums_within,
    pooled,
    sums_within,
    tallies_of_sums,
    tally,
)

# Fields with a value for each ranking, besides those of metrics.
RANKING_FIELDS = ("evaluated", "unanswered", "weight", "cluster", "covariate", "sampling", "with_results")


@record
class Values:
    """Values of metrics for every ranking, NaN where undefined: what is left of a log when kernels are done."""

    index: Index  # the system, the segment and the query of each ranking
    asked: Asked
    value: Array  # shape (metrics, rankings)
    evaluated: Array  # whether a ranking counts: its query is judged, see ``Block.evaluated``, shape (rankings,)
    # The number of unanswered rankings of judged queries: 0 or 1, or more if a ranking stands for a sum of several. All
    # are counted, also those that are not evaluated; shape (rankings,).
    unanswered: Array
    # Keyed by the first of the metrics that sum the same counts (its position in ``asked``), see
    # ``first_of_same_counts``:
    counts: dict[int, Array] = field(default_factory=dict)  # for "micro": what is summed, shape (counts, rankings)
    n_rows: dict[int, Array] = field(default_factory=dict)  # for "rows": the number of rows, shape (rankings,)
    # With propensity=: the sums of the weights of its results and of their squares, shape (2, rankings), by metric.
    weights: dict[int, Array] = field(default_factory=dict)
    # Of each ranking's query, shape (rankings,); None if the role is not named.
    weight: Array | None = None
    cluster: Array | None = None  # its number, NaN for a query that has none, and is not evaluated
    covariate: Array | None = None
    sampling: Array | None = None  # the chance with which it was drawn for judging, NaN without one
    # With value=, shape (metrics, rankings) each: whether a ranking has no saved value, and the substitute of an
    # undefined value, else NaN. None without value=.
    without_value: Array | None = None
    fills: Array | None = None
    # the results of all lists, for metrics of sets of lists; None without such metrics
    list_results: Results | None = None
    unpaired: Array | None = None  # where two frames are compared: unmatched queries of each segment, (segments,)
    # Where a row stands for the summed rankings of a piece: what ``tallies_of`` returns, and the number of evaluated
    # rankings that each evaluated row stands for.
    tallies_of_groups: tuple[list[int], list[Tally]] | None = None
    n_rankings: Array | None = None
    with_results: Array | None = None  # whether a ranking has results, shape (rankings,); None without teams
    has_nonpositive: bool = True  # whether some judgment is 0 or below; looked up for arms and teams only

    def for_rankings(self, at: slice | Array, arrays: Mapping[str, Any]) -> Values:
        """Return what is known of some rankings, with the fields ``arrays`` for their values."""
        each: Any = {name: held[at] for name in RANKING_FIELDS if (held := getattr(self, name)) is not None}
        return replace(self, index=self.index.some(at), **each, **arrays)

    @property
    def columns(self) -> Columns:
        """The roles of the columns."""
        return self.index.columns

    @property
    def conventions(self) -> Conventions:
        """The conventions of the call."""
        return self.index.conventions

    @property
    def results(self) -> Results:
        """The results of all lists; empty if no metric reads them."""
        return join_results([]) if self.list_results is None else self.list_results


def first_of_same_counts(asked: Asked, conventions: Conventions) -> list[int]:
    """Return for each metric the position of the first one that sums the same counts over queries.

    Metrics of the 2x2 table do that if they have one cutoff, one least relevant grade, and are condensed alike.
    """
    known: dict[Any, int] = {}

    def key_of(i: int, metric: Metric) -> Any:
        alike = metric.input is FullConfusion and metric.micro is None and conventions.propensity is None
        return (*conventions.variant(metric), metric.k) if alike else i

    return [known.setdefault(key_of(i, metric), i) for i, (_, metric) in enumerate(asked)]


def filled(values: Values, i: int) -> Array:
    """Return a metric's values with undefined ones replaced; NaN where they stay null, or nothing is judged."""
    name, metric = values.asked[i]
    there = values.evaluated if values.without_value is None else values.evaluated & ~values.without_value[i]
    found = values.conventions.filled(name, metric, values.value[i], there, "queries")
    if values.fills is None or values.conventions.undefined is not None:
        return found
    return np.where(np.isnan(found) & there, values.fills[i], found)


def as_saved(values: Values) -> Values:
    """Return saved numbers as they were written: one that stands for an undefined value is like any other."""
    if values.fills is None:
        return values
    return replace(values, value=np.where(np.isnan(values.value), values.fills, values.value))


def without_values_at(all_values: Values, without_value: Array) -> Values:
    """Take away the values of rankings, as if they had none; ``without_value``: marks of these, (rankings,)."""
    values = np.where(without_value, np.nan, all_values.value)
    every = np.ones(len(without_value), bool)  # ``without_value`` says which ones have no value
    none = (
        np.broadcast_to(without_value, values.shape)
        if all_values.without_value is None
        else all_values.without_value | without_value
    )
    return replace(all_values, value=values, evaluated=every, without_value=none)


def tallies_of(all_values: Values, averages: Averages = (None,)) -> tuple[list[int], list[Tally]]:
    """Return the tallies from which averages over the evaluated queries are computed, and the metric of each.

    For two metrics and the averages macro and median these are four tallies, and the metrics [0, 0, 1, 1]. Two names
    of one average give one tally.
    """
    if all_values.tallies_of_groups is not None:
        return all_values.tallies_of_groups
    n = np.count_nonzero(all_values.evaluated)
    some = slice(None) if n == len(all_values.evaluated) else all_values.evaluated
    weight = None if all_values.weight is None else all_values.weight[some]
    metric_of_tally: list[int] = []
    tallies: list[Tally] = []
    # If all queries have a value, many tallies share these two arrays: which have one, and which are undefined.
    defined = np.ones(n, bool)
    shared, squared = (defined, ~defined), None
    if weight is not None:
        with np.errstate(over="ignore", under="ignore"):  # then Kish's number is not known
            squared = weight * weight
    first = (
        first_of_same_counts(all_values.asked, all_values.conventions) if all_values.counts or all_values.n_rows else ()
    )
    for i, (_, metric) in enumerate(all_values.asked):
        if metric.input is Lists:
            continue
        raw = values = all_values.value[i][some]
        lacking = np.isnan(raw)
        undefined = lacking if np.count_nonzero(lacking) else None
        if undefined is not None:
            values = filled(all_values, i)[some]
        ends = (-np.inf, np.inf) if all_values.weights else metric.range  # weighted results may exceed the range
        for average in averages_of(metric, averages, weighted=weight is not None):
            metric_of_tally.append(i)
            if average == "micro":
                tallies.append(
                    pooled(metric, all_values.counts[first[i]][:, some], all_values.conventions.fill(metric), raw)
                )
            else:
                each = all_values.n_rows[first[i]][some] if average == "rows" else weight
                square = squared if each is weight else None
                tallies.append(tally(undefined, values, average, each, shared, ends, square))
    return metric_of_tally, tallies


@record
class Summed:
    """Sums over rankings, from which averages can be computed as from the rankings, to the last bit."""

    representative: Array  # a ranking that stands for each group, shape (groups,)
    sums: Array  # the number of evaluated rankings, then what ``partial_sums_within`` returns, shape (sums, groups)
    metric_of_tally: list[int]  # see ``tallies_of``
    tallies: list[Tally]  # of the sums


def summed_within(values: Values, averages: Averages, group: Array, n: int, representative: Array) -> Summed:
    """Sum rankings within groups; ``group``: of each ranking, -1 for none; ``representative``: see ``Summed``."""
    metric_of_tally, each = tallies_of(values, averages)
    group = group[values.evaluated]
    many = np.bincount(group + 1, minlength=n + 1)[1:]
    sums = partial_sums_within(each, group, n)
    return Summed(representative, np.concatenate([many[None], sums]), metric_of_tally, tallies_of_sums(each, sums))


def summed_in_cells(values: Values, averages: Averages, ranking: Array) -> Summed:
    """Sum the evaluated rankings of each system and segment; ``ranking``: the number of each in all blocks."""
    group = np.full(len(values.evaluated), NONE)
    _, first, group[values.evaluated] = np.unique(
        values.index.cell[values.evaluated], return_index=True, return_inverse=True
    )
    return summed_within(values, averages, group, len(first), ranking[values.evaluated][first])


def with_sums(values: Values, parts: Sequence[Summed]) -> Values:
    """Return values in which one ranking of each group stays evaluated, and stands for the sums of its group."""
    at, of_parts = np.concatenate([part.representative for part in parts]), np.hstack([part.sums for part in parts])
    order, stands = np.argsort(at), np.zeros(len(values.evaluated), bool)
    stands[at] = True
    many, *rest = of_parts[:, order]
    sums = parts[0].metric_of_tally, tallies_of_sums(parts[0].tallies, np.array(rest))
    return replace(values, evaluated=stands, tallies_of_groups=sums, n_rankings=many)


def effective_sizes(
    values: Values, metric_of_tally: Sequence[int], tallies: Sequence[Tally], group: Array | None, n: int
) -> Array:
    """Return the effective sample size of each average in each group, shape (averages, groups); NaN if no weight.

    It is (sum of weights)² / (sum of squared weights), after Kish; the weights are those of the results (propensity=),
    times the query's weight in a weighted mean.

    Parameters
    ----------
    metric_of_tally, tallies : as ``tallies_of`` returns them.
    group : the group of each evaluated ranking; None for one group.
    n : number of groups.
    """
    some = slice(None) if values.evaluated.all() else values.evaluated
    weights, squares = [], []
    for i, one_tally in zip(metric_of_tally, tallies, strict=True):
        each = values.weight if one_tally.average == "weighted" and values.weight is not None else np.ones(1)
        sum_of_weights, sum_of_squares = values.weights[i]
        weights.append((sum_of_weights * each)[some])
        squares.append((sum_of_squares * each**2)[some])
    return ratio(sums_within(group, n, weights) ** 2, sums_within(group, n, squares))
