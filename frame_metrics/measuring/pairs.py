"""Pairs of systems to compare, and the values of metrics by query and system."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.display import value_text
from frame_metrics.errors import BadValueError, NotComputableError, closest, listed, quote
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import all_equal
from frame_metrics.measuring.results import metric_columns
from frame_metrics.measuring.values import Values, filled
from frame_metrics.roles.series import same_as
from frame_metrics.stats.averages import cluster_numbers

ARTICLES = {"arm": "an"}  # of words that do not begin with a consonant


@record
class ByPeople:
    """The values of metrics by people's judgments of some queries, in addition to those by a machine (``proxy=``).

    Every array has shape (..., rankings); what ``by_query`` returns has shape (..., queries, systems), of one segment.
    """

    values: Array  # NaN if people did not judge all that a metric reads, shape (metrics, ...)
    undefined: Array  # whether a value is undefined, shape (metrics, ...)
    judged: Array  # whether people judged a document of the query
    chance: Array | None  # the chance that the query was drawn for people (sampling=); None: all are equal

    def by_query(self, lay: Callable[[Array], Array]) -> ByPeople:
        """Return these values by query and system; ``lay`` does so with the values of rankings."""
        values, undefined = (np.array([*map(lay, of_metrics)]) for of_metrics in (self.values, self.undefined))
        return ByPeople(values, undefined, lay(self.judged), None if self.chance is None else lay(self.chance))


@record
class QueryValues:
    """The values of metrics on the queries of one segment, in the order in which random draws go to the queries."""

    segment_query: Array  # the number of each query's (segment, query) pair, shape (queries,)
    query: Array  # the number of each query, shape (queries,)
    values: Array  # undefined ones are replaced, or NaN if they stay undefined, shape (metrics, queries, systems)
    undefined: Array  # whether the metric was undefined, shape (metrics, queries, systems)
    answered_with_value: Array  # whether the system has a row and a value of the query, (metrics, queries, systems)
    unanswered: Array  # whether the system has no row of the query, shape (queries, systems)
    # Whether the system has no saved value of the query, which is then not compared, shape (metrics, queries, systems).
    without_value: Array
    cluster: Array | None  # of each query; None if queries are independent
    weight: Array | None  # of each query; None if all are equal
    # How many queries are unpaired because of the saved baseline: the frame does not have them; or it has them, and the
    # baseline answered them, but they are not evaluated.
    n_unpaired_of_baseline: int
    people: ByPeople | None = None  # with proxy=: the values by people; ``values`` are those by the machine

    @property
    def unit(self) -> Array:
        """The number of the unit of each query, in all segments the same: its cluster, else the query itself."""
        return self.query if self.cluster is None else self.cluster

    def has_one_cluster(self, use: Array) -> bool:
        """Return True if the queries ``use`` have fewer than two clusters of positive weight: too few to resample."""
        use = use if self.weight is None else use & (self.weight > 0)
        return self.cluster is not None and all_equal(self.cluster[use])

    def clusters(self, use: Array) -> Array | None:
        """Return the numbers of the clusters of some queries; None if each query is independent."""
        return None if self.cluster is None else cluster_numbers(self.cluster[use])

    def weights(self, use: Array) -> Array | None:
        """Return the weights of some queries divided by the greatest, which changes no mean; None without weights."""
        return None if self.weight is None else self.weight[use] / (self.weight[use].max(initial=0) or 1)

    def answered_by_one(self, metric: int, pair: tuple[int, int]) -> Array:
        """Mark the queries that one of two systems answered and the other did not, shape (queries,)."""
        return self.answered_with_value[metric, :, pair[0]] != self.answered_with_value[metric, :, pair[1]]

    def not_compared(self, metric: int, pair: tuple[int, int]) -> Array:
        """Mark the queries that are not compared because a system of the pair has no value, shape (queries,).

        It has none if no number was saved, or if it has no row and ``unanswered="drop"``.
        """
        return self.without_value[metric][:, pair].any(axis=1)

    def compared(self, metric: int, pairs: Sequence[tuple[int, int]]) -> list[Array]:
        """Mark the queries on which each pair of systems is compared, shape (queries,) each.

        ``metric``: its position in ``asked``.
        """
        values = self.values[metric]
        both_known = [~np.isnan(values[:, system] - values[:, base]) for system, base in pairs]
        return [some & ~self.not_compared(metric, pair) for some, pair in zip(both_known, pairs, strict=True)]


@record
class Pairing:
    """The pairs of systems to compare, with their values."""

    all_values: Values  # the values of metrics for every ranking
    filled_values: Sequence[Array]  # for each metric its values, with undefined ones replaced, shape (rankings,) each
    segments: Array  # the numbers of the segments, in the order of the result
    pairs: list[tuple[int, int]]  # the number of a system and that of its baseline, in the order of the result
    saved: str | None = None  # the name of a baseline in another frame; None if baselines are systems of this frame
    n_only_in_baseline: Array | None = None  # how many queries only the saved baseline has, shape (segments,)
    people: ByPeople | None = None  # with proxy=: the values by people; ``all_values`` are those by the machine

    @property
    def n_queries(self) -> int:
        """Number of (segment, query) pairs: a query counts in each of its segments."""
        return self.all_values.index.n_segment_queries

    def query_of(self, segment_query: Array) -> Array:
        """Return the number of the query of each (segment, query) pair."""
        index, query = self.all_values.index, np.zeros(self.n_queries, np.int64)
        query[index.segment_query] = index.query
        return query[segment_query]

    @cached_property
    def segment_queries_in_drawing_order(self) -> Array:
        """The (segment, query) pairs in the order of random draws, which does not depend on the order of the rows."""
        index = self.all_values.index
        is_first = np.zeros(len(index), bool)  # one ranking of each pair
        is_first[index.first_of_segment_queries] = True
        return index.segment_query[is_first][index.drawing_order(is_first)]

    @cached_property
    def _position_of_segment_query(self) -> Array:
        """The position of each (segment, query) pair in ``segment_queries_in_drawing_order``."""
        position = np.empty(len(self.segment_queries_in_drawing_order), np.int64)
        position[self.segment_queries_in_drawing_order] = np.arange(len(position))
        return position

    def values_by_query(self, segment: int) -> QueryValues:
        """Lay out the values of a segment by query and system, for the queries that are evaluated for all systems."""
        all_values, index = self.all_values, self.all_values.index
        here = np.flatnonzero(index.segment == segment)  # the rankings of the segment
        # The queries of the segment in drawing order, and the place of each ranking's query among them.
        positions, place = np.unique(self._position_of_segment_query[index.segment_query[here]], return_inverse=True)
        segment_query = self.segment_queries_in_drawing_order[positions]

        def by_query_and_system(values: Array, fill: Any) -> Array:
            out = np.full((len(segment_query), len(index.systems)), fill)
            out[place, index.system[here]] = values[here]
            return out

        evaluated_for_all = by_query_and_system(all_values.evaluated, False).all(axis=1)

        def of_queries(values: Array | None) -> Array | None:
            if values is None:
                return None
            out = np.zeros(len(segment_query))
            out[place] = values[here]
            return out[evaluated_for_all]

        def of_metrics(values: Sequence[Array] | Array, fill: Any) -> Array:
            return np.array([by_query_and_system(one, fill)[evaluated_for_all] for one in values])

        unanswered_of_all = by_query_and_system(all_values.unanswered > 0, True)
        n_unpaired_of_baseline = 0
        if self.n_only_in_baseline is not None:
            # Queries of both frames are unpaired too if they are not evaluated here, but the saved system (the last)
            # answered them.
            answered_by_saved = ~unanswered_of_all[~evaluated_for_all, -1]
            n_unpaired_of_baseline = int(self.n_only_in_baseline[segment] + answered_by_saved.sum())
        unanswered = unanswered_of_all[evaluated_for_all]
        query = np.zeros(len(segment_query), np.int64)
        query[place] = index.query[here]
        is_missing = all_values.without_value  # of each ranking
        if is_missing is None:
            is_missing = np.zeros(all_values.value.shape, bool)
        undefined = np.isnan(all_values.value) & ~is_missing
        without_value = of_metrics(is_missing, True)
        return QueryValues(
            segment_query[evaluated_for_all],
            query[evaluated_for_all],
            of_metrics(self.filled_values, np.nan),
            undefined=of_metrics(undefined, False),
            answered_with_value=~(without_value | unanswered),
            unanswered=unanswered,
            without_value=without_value,
            cluster=of_queries(all_values.cluster),
            weight=of_queries(all_values.weight),
            n_unpaired_of_baseline=n_unpaired_of_baseline,
            people=self.people and self.people.by_query(lambda values: of_metrics([values], values.dtype.type(0))[0]),
        )

    def each(self) -> Iterator[tuple[QueryValues, tuple[int, int, int], Array]]:
        """Yield the comparison of each segment, metric and pair of systems.

        Yields
        ------
        The values of the segment; the segment, the metric and the pair, by number; the marks of the compared queries.
        """
        for segment in self.segments:
            here = self.values_by_query(segment)
            for metric in range(len(self.all_values.asked)):
                for i, use in enumerate(here.compared(metric, self.pairs)):
                    yield here, (int(segment), metric, i), use

    def answer(
        self, segment: Array, metric: Array, pair: Array, columns: dict[str, pl.Series], query: Array | None = None
    ) -> Answer:
        """Return an answer: ``columns``, and before them the keys, the metric and the baseline of each row.

        ``segment``, ``metric``, ``pair``, ``query``: the number of each in every row, shape (rows,).
        """
        index, columns = self.all_values.index, metric_columns(self.all_values.asked, metric) | columns
        system, base = (index.key_rows(system=side[pair]) for side in np.array(self.pairs).T)
        keys, column = index.key_rows(segment=segment, query=query) | system, str(index.columns.system)
        if self.saved is None:
            return Answer(keys | {"baseline": base[column]}, columns, {"baseline": column}, index.key_table)
        return Answer(
            keys, {"baseline": pl.Series([self.saved] * len(pair), dtype=pl.String)} | columns, table=index.key_table
        )


def pairing_of_systems(values: Values, baseline: Any, one: str = "system") -> Pairing:
    """Pair each system with the baselines; without a baseline, with every system before it in the order of names.

    ``one``: the word for a system, for errors.
    """
    index = values.index
    order, names, columns = index.systems.by_value, index.system_names, index.columns
    # A null team is no team: the others are numbered anew for ``pair_systems``.
    compared = [system for system, name in enumerate(names) if name is not None or not columns.team]
    places, column = [compared.index(system) for system in order if system in compared], str(columns.system)
    pairs = [
        (compared[system], compared[base])
        for system, base in pair_systems(places, names[compared], baseline, column, one)
    ]
    return Pairing(values, all_filled(values), index.segments.by_value, pairs)


def pair_systems(
    order: Sequence[int] | Array, names: pl.Series, baseline: Any, column: str, one: str = "system"
) -> list[tuple[int, int]]:
    """Pair each system with the baselines; without a baseline, with every system before it in the order of names.

    Parameters
    ----------
    order : the numbers of the systems, sorted by name.
    names : the name of each system, by its number.
    baseline : a system, or a list of them; baselines are not compared with each other.
    column, one : the caller's name of the column of systems, and the word for a system, for errors.
    """
    if len(names) < 2:
        there = f"one {one}, {listed(names)}" if len(names) else f"no {one}s, as the frame has no rows"
        raise NotComputableError(f"{column} has {there}; two are needed to compare")
    if baseline is None:
        return [(int(system), int(base)) for i, system in enumerate(order) for base in order[:i]]
    bases = [number_of_system(base, names, column, one=one) for base in bases_of(baseline, names, one)]
    if len(set(bases)) < len(bases):
        raise BadValueError(f"baseline={quote(baseline)} names {ARTICLES.get(one, 'a')} {one} twice; name each once")
    others = [int(system) for system in order if system not in bases]
    if not others:
        raise BadValueError(
            f"baseline={quote(baseline)} names every {one} of {column}; "
            "leave one out, or pass baseline=None for all pairs"
        )
    return [(system, base) for system in others for base in bases]


def bases_of(baseline: Any, names: pl.Series, one: str = "system") -> list[Any]:
    """Return the baselines as a list; ``baseline`` is one system (even if its name is a list), or a list of them."""
    several = isinstance(baseline, list | tuple) and number_if_any(baseline, names) is None
    if several and not baseline:
        raise BadValueError(f"baseline={quote(baseline)} names no {one}; name one, or pass baseline=None for all pairs")
    return [*baseline] if several else [baseline]


def number_of_system(called: Any, names: pl.Series, column: str, option: str = "baseline=", one: str = "system") -> int:
    """Return the number of the system with a name, or raise.

    ``column``: the column of systems; ``option``: the option that named it, and ``one`` the word for a system, for the
    error.
    """
    at = number_if_any(called, names)
    if at is None:
        every = [value_text(name) if isinstance(name, dict) else name for name in names.to_list()]
        problem = f"{option}{quote(called)} is not among the {one}s of {column}: {listed(every[:5])}"
        raise BadValueError(f"{problem}{closest(called, every)}")
    return at


def number_if_any(called: Any, names: pl.Series) -> int | None:
    """Return the number of the system with a name, None if there is none.

    If systems are times or periods, a text or a day may name one: "2024-05-01" for that day, or for its midnight.
    """
    with suppress(BadValueError):  # for a value that cannot be a name by its type
        at = (names.is_null() if called is None else same_as(names, called, "")).arg_true()
        if len(at):
            return int(at[0])
    text = str(called) if isinstance(called, str | date) else ""
    return next((at for at, name in enumerate(names.to_list()) if text and text in _written(name)), None)


def _written(when: Any) -> tuple[str, ...]:
    """Return the texts that name a period, an interval, a date or a time; of midnight also the day alone."""
    if not isinstance(when, date):
        return (value_text(when),) if isinstance(when, dict) else ()
    midnight = isinstance(when, datetime) and when.time() == time()
    return (str(when), when.isoformat(), *([str(when.date())] if midnight else []))  # type: ignore[attr-defined]


def all_filled(values: Values) -> list[Array]:
    """Return the values of each metric with undefined ones replaced, shape (rankings,) each."""
    return [filled(values, i) for i in range(len(values.asked))]
