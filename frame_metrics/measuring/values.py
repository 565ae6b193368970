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
    # Whether a ranking counts in averages: its query is judged and, with unanswered="drop", the system answered it, see
    # ``Block.evaluated``; shape (rankings,).
    evaluated: Array
    # How many unanswered rankings of judged queries a ranking is: 0 or 1, or more if it stands for a sum of several.
    # With unanswered="drop" these are not evaluated, but still counted here; shape (rankings,).
    unanswered: Array
    # By the position of a metric in ``asked``. Metrics that sum the same counts share the entry of the first of them,
    # see ``first_of_same_counts``:
    counts: dict[int, Array] = field(default_factory=dict)  # for "micro": what is summed, shape (counts, rankings)
    n_rows: dict[int, Array] = field(default_factory=dict)  # for "rows": the number of rows, shape (rankings,)
    # With propensity=, by metric: the sum of the weights of each ranking's results, and that of their squares, shape
    # (2, rankings).
    weights: dict[int, Array] = field(default_factory=dict)
    # Of each ranking's query, shape (rankings,); None if the role is not named.
    weight: Array | None = None
    cluster: Array | None = None  # the number of the cluster; NaN for a query without one, which is not evaluated
    covariate: Array | None = None
    sampling: Array | None = None  # the chance with which the query was drawn for judging, NaN if it has none
    # With value=, shape (metrics, rankings) each: whether a ranking has no saved value; and what was saved in place of
    # an undefined value, NaN where the value is defined. None without value=.
    without_value: Array | None = None
    fills: Array | None = None
    # the results of all lists, for metrics of sets of lists; None without such metrics
    list_results: Results | None = None
    n_unpaired: Array | None = None  # with a baseline in another frame: the queries of only one frame, (segments,)
    # With sums alone (``with_sums``) one ranking stands for all rankings of its cell in a block or piece. The tallies
    # of these sums, as ``tallies_of`` returns them:
    tallies_of_groups: tuple[list[int], list[Tally]] | None = None
    n_summed: Array | None = None  # the number of evaluated rankings that each evaluated one stands for
    with_results: Array | None = None  # whether a ranking has results, shape (rankings,); None without teams
    has_nonpositive: bool = True  # whether some judgment is 0 or below; looked up for arms and teams only

    def for_block(self, at: slice | Array, arrays: Mapping[str, Any]) -> Values:
        """Return the same for some rankings, with new arrays for their metrics, which the caller fills.

        Only ``RANKING_FIELDS`` are cut to the rankings; ``arrays`` has the other fields that have a value for each.
        """
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
        is_of_table = metric.input is FullConfusion and metric.micro is None and conventions.propensity is None
        return (*conventions.variant(metric), metric.k) if is_of_table else i

    return [known.setdefault(key_of(i, metric), i) for i, (_, metric) in enumerate(asked)]


def filled(values: Values, i: int) -> Array:
    """Return a metric's values with undefined ones replaced; NaN where they stay null, or nothing is judged."""
    name, metric = values.asked[i]
    measured = values.evaluated if values.without_value is None else values.evaluated & ~values.without_value[i]
    found = values.conventions.filled(name, metric, values.value[i], measured, "queries")
    if values.fills is None or values.conventions.undefined is not None:
        return found
    return np.where(np.isnan(found) & measured, values.fills[i], found)


def as_saved(values: Values) -> Values:
    """Return saved numbers as they were written, also those that were written for undefined values."""
    if values.fills is None:
        return values
    return replace(values, value=np.where(np.isnan(values.value), values.fills, values.value))


def without_values_at(all_values: Values, removed: Array, evaluated: Array) -> Values:
    """Return values without those of some rankings.

    Parameters
    ----------
    removed : marks of the rankings that lose their value, shape (rankings,).
    evaluated : the marks of evaluated rankings from now on. One that lost its value may still be evaluated, so that
        it is counted.
    """
    values = np.where(removed, np.nan, all_values.value)
    without_value = (
        np.broadcast_to(removed, values.shape)
        if all_values.without_value is None
        else all_values.without_value | removed
    )
    return replace(all_values, value=values, evaluated=evaluated, without_value=without_value)


def tallies_of(all_values: Values, averages: Averages) -> tuple[list[int], list[Tally]]:
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
    # Tallies of metrics that are defined for all queries share these two arrays: marks of defined and of undefined.
    defined = np.ones(n, bool)
    shared = defined, ~defined
    squared_weight = None
    if weight is not None:
        with np.errstate(over="ignore", under="ignore"):  # Kish's effective number is then unknown
            squared_weight = weight * weight
    first = (
        first_of_same_counts(all_values.asked, all_values.conventions) if all_values.counts or all_values.n_rows else ()
    )
    for i, (_, metric) in enumerate(all_values.asked):
        if metric.input is Lists:
            continue
        raw = values = all_values.value[i][some]
        is_undefined = np.isnan(raw)
        undefined = is_undefined if np.count_nonzero(is_undefined) else None
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
                weight_in_mean = all_values.n_rows[first[i]][some] if average == "rows" else weight
                square = squared_weight if weight_in_mean is weight else None
                tallies.append(tally(undefined, values, average, weight_in_mean, shared, ends, square))
    return metric_of_tally, tallies


@record
class Summed:
    """Sums over rankings, from which averages can be computed as from the rankings, to the last bit."""

    representative: Array  # the index of the ranking that stands for each group, shape (groups,)
    sums: Array  # the number of evaluated rankings, then what ``partial_sums_within`` returns, shape (sums, groups)
    metric_of_tally: list[int]  # see ``tallies_of``
    tallies: list[Tally]  # of the sums


def summed_within(values: Values, averages: Averages, group: Array, n: int, representative: Array) -> Summed:
    """Sum rankings within ``n`` groups; ``group``: of each ranking, -1 for none; ``representative``: see ``Summed``."""
    metric_of_tally, tallies = tallies_of(values, averages)
    group = group[values.evaluated]
    n_summed = np.bincount(group + 1, minlength=n + 1)[1:]
    sums = partial_sums_within(tallies, group, n)
    both = np.concatenate([n_summed[None], sums])
    return Summed(representative, both, metric_of_tally, tallies_of_sums(tallies, sums))


def summed_in_cells(values: Values, averages: Averages, ranking: Array) -> Summed:
    """Sum the evaluated rankings of each cell; ``ranking``: the index of each of the rankings in the whole log."""
    group = np.full(len(values.evaluated), NONE)
    _, first, group[values.evaluated] = np.unique(
        values.index.cell[values.evaluated], return_index=True, return_inverse=True
    )
    return summed_within(values, averages, group, len(first), ranking[values.evaluated][first])


def with_sums(values: Values, parts: Sequence[Summed]) -> Values:
    """Return values in which one ranking of each group stays evaluated, and stands for the sums of its group."""
    representative = np.concatenate([part.representative for part in parts])
    is_representative = np.zeros(len(values.evaluated), bool)
    is_representative[representative] = True
    # Sort the sums by the ranking that stands for them: what ``evaluated`` selects is in that order.
    n_summed, *sums = np.hstack([part.sums for part in parts])[:, np.argsort(representative)]
    tallies = parts[0].metric_of_tally, tallies_of_sums(parts[0].tallies, np.array(sums))
    return replace(values, evaluated=is_representative, tallies_of_groups=tallies, n_summed=n_summed)


def effective_sizes(
    values: Values, metric_of_tally: Sequence[int], tallies: Sequence[Tally], group: Array | None, n: int
) -> Array:
    """Return the effective sample size of each average in each group, shape (averages, groups); NaN if weights are 0.

    It is (sum of weights)² / (sum of squared weights), after Kish. The weights are those of results (propensity=), in
    a weighted mean times the weight of the query.

    Parameters
    ----------
    metric_of_tally, tallies : as ``tallies_of`` returns them.
    group : the group of each evaluated ranking; None for one group.
    n : number of groups.
    """
    some = slice(None) if values.evaluated.all() else values.evaluated
    weights, squares = [], []
    for i, one_tally in zip(metric_of_tally, tallies, strict=True):
        of_query = values.weight if one_tally.average == "weighted" and values.weight is not None else np.ones(1)
        sum_of_weights, sum_of_squares = values.weights[i]
        weights.append((sum_of_weights * of_query)[some])
        squares.append((sum_of_squares * of_query**2)[some])
    return ratio(sums_within(group, n, weights) ** 2, sums_within(group, n, squares))
