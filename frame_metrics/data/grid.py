"""The grid of rankings to measure: every system on every pair of a segment and a query.

A pair comes from the log, of whichever system, or from the judgments. A ranking that a system lacks has no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.data.judgments import JudgmentTable
from frame_metrics.data.ranking_rows import Pools, RankingRows, shared_value
from frame_metrics.errors import bad_rows
from frame_metrics.fast.codes import codes
from frame_metrics.fast.take_rows import rows_at
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE, spans
from frame_metrics.roles.columns import Columns


@record
class Grid:
    """The rankings to measure, each with the codes of its system, segment and query.

    ``system_row``, ``segment_row`` and ``query_row`` are rows of the log; past its end, rows of the judgments.
    """

    rankings: RankingRows  # the rows of each ranking: first the rankings of the log, then those that a system lacks
    system: Array  # the code of each ranking's system, shape (rankings,)
    segment: Array  # the code of each ranking's segment, shape (rankings,)
    query: Array  # the code of each ranking's query, shape (rankings,)
    segment_query: Array  # the code of each ranking's pair of segment and query, shape (rankings,)
    system_row: Array  # a row with the value of each system, shape (systems,)
    segment_row: Array  # a row with the values of each segment, shape (segments,)
    query_row: Array  # a row with the values of each query, shape (queries,)
    pool: Pools | None  # the judged documents of each ranking's query; None: only its rows can be judged
    segment_known: Array | None = None  # whether all values of a segment are known, (segments,); None: all are

    @property
    def size(self) -> Array:
        """Number of each ranking's rows or of its judged documents, whichever is greater, shape (rankings,)."""
        lengths = self.rankings.lengths
        return lengths if self.pool is None else np.maximum(lengths, self.pool.lengths)

    @property
    def of_log(self) -> Array:
        """True for the rankings of the log, False for those that were added without rows, shape (rankings,)."""
        return np.arange(len(self.segment_query)) < len(self.rankings.first_row)

    @cached_property
    def n_segment_queries(self) -> int:
        """Number of pairs of a segment and a query."""
        return int(self.segment_query.max(initial=-1)) + 1

    def amounts(self, role: str, column: str) -> Array:
        """Return the value of a role for each ranking's (segment, query) pair, NaN if no system's rows have one.

        Parameters
        ----------
        role : a role with one value for each query: weight, n_relevant ...
        column : the caller's name of its column, for the errors.

        Raises
        ------
        BadRowsError
            Rows of one ranking, or systems, differ in the value of a query.
        """
        values = self.rankings.values[role]
        of_ranking = shared_value(values, self.rankings, column)
        if role in self.rankings.values_of_empty:
            of_empty = self.rankings.values_of_empty[role]
            of_ranking[: len(of_empty)] = np.where(np.isnan(of_empty), of_ranking[: len(of_empty)], of_empty)
        # The value of each pair is that of its first ranking with a value, which is written last here.
        of_pair = np.full(self.n_segment_queries, np.nan)
        some = np.flatnonzero(~np.isnan(of_ranking))
        of_pair[self.segment_query[some[::-1]]] = of_ranking[some[::-1]]
        differing = some[of_pair[self.segment_query[some]] != of_ranking[some]]
        if len(differing):
            places = spans(self.rankings.starts[differing], self.rankings.lengths[differing])
            rows = np.sort(self.rankings.rows_of(places))
            what = "differ from another system in the value of their query"
            raise bad_rows(column, rows, len(values), what, "give each query one value")
        return of_pair[self.segment_query]


def build_grid(
    log: pl.DataFrame,
    rankings: RankingRows,
    columns: Columns,
    judgments: JudgmentTable | None,
    *,
    totals: bool = False,
    systems: int | None,
    other_systems: bool,
) -> Grid:
    """Find the systems, segments and queries, and add the rankings that systems lack.

    Parameters
    ----------
    log : the checked columns.
    rankings : those of the log.
    columns : the roles of the columns.
    judgments : the judgments that all systems share; None if each row has its own.
    totals : whether to add judged queries of an unknown segment, which count in totals only.
    systems : number of systems of the whole log, where ``log`` is a piece of it and some have no row here; these get
        the last codes. None: all have rows.
    other_systems : whether to add one system without rows, the last. It stands for systems of other pieces, if there
        are any.
    """
    system, by, query = columns.internal_by_role
    n = len(rankings.first_row)
    if judgments is None and not system and not by:
        zeros, each = np.zeros(n, np.int64), np.arange(n)
        zero = zeros[:1]  # a row of the only system, and of the only segment
        return Grid(rankings, zeros, zeros, each, each, zero, zero, rankings.first_row, None)
    ranking_keys = rows_at(log, (*system, *by, *query), rankings.first_row)
    if judgments is not None and not system and not by:
        return _grid_of_one_cell(ranking_keys, len(log), rankings, query, judgments)
    # ``keys``: those of the rankings, then those of the judged queries; ``row``: the row of each. ``used``: the indices
    # of the keys that make pairs of segment and query; the first ``n`` are those of the rankings.
    keys, row = ranking_keys, rankings.first_row
    used, known = np.arange(n), None
    if judgments is not None:
        keys, row = _with_judged(ranking_keys, judgments), np.concatenate([row, len(log) + judgments.row])
        used, known = _keys_of_pairs(ranking_keys, judgments, by, totals=totals)
    # The codes of each key's query, of each used key's segment, and of each ranking's system; and for each code the
    # first that has it, as an index in ``keys``, in ``used``, and among the rankings.
    query_code, first_of_query = codes(keys, query)
    segments = keys if len(used) == len(keys) else keys[used]
    # A segment of which the values are unknown is not the segment of which they are null.
    segments = segments if known is None else segments.with_columns(known=pl.Series(known))
    segment_code, first_of_segment = codes(segments, by if known is None else [*by, "known"])
    system_code, first_of_system = codes(ranking_keys, system)
    # The pair of each used key; and for each pair the first key that has it, as an index in ``used``.
    segment_query = segment_code * len(first_of_query) + query_code[used]
    _, first_of_pair, pair_of_key = np.unique(segment_query, return_index=True, return_inverse=True)
    # The systems and pairs that have no ranking. Then, of every ranking with these, the pair, and an index in ``used``.
    n_without_rows = int(other_systems) if systems is None else systems - len(first_of_system)  # number of such systems
    has_ranking = np.zeros((len(first_of_system) + n_without_rows, len(first_of_pair)), bool)
    has_ranking[system_code, pair_of_key[:n]] = True
    lacking_system, lacking_pair = np.divmod(np.flatnonzero(~has_ranking), max(len(first_of_pair), 1))
    pair = np.concatenate([pair_of_key[:n], lacking_pair])
    at = first_of_pair[pair]
    # Without any key, the only system and the only segment still have a first key, 0.
    first_keys = (first_of_system, used[first_of_segment] if len(used) else first_of_segment, first_of_query)
    system_row, segment_row, query_row = (row[first] if len(row) else first for first in first_keys)
    grid = Grid(
        _with_added(rankings, len(lacking_pair)),
        np.concatenate([system_code, lacking_system]),
        segment_code[at],
        query_code[used][at],
        pair,
        np.append(system_row, np.full(n_without_rows, NONE)),
        segment_row,
        query_row,
        None,
        None if known is None else known[first_of_segment],
    )
    if judgments is None:
        return replace(grid, pool=_pools_from_other_systems(grid)) if columns.systems_have_rows else grid
    key_code = query_code if judgments.keys == query else codes(keys, judgments.keys)[0]
    return replace(grid, pool=_pool_of(key_code[used][at], judgments, key_code[n:]))


def _keys_of_pairs(
    ranking_keys: pl.DataFrame, judgments: JudgmentTable, by: Sequence[str], *, totals: bool
) -> tuple[Array, Array | None]:
    """Find the keys that make pairs of a segment and a query.

    If the judgments lack a ``by`` column, the segment of a judged query is unknown. Then its key makes no pair; with
    ``totals`` it makes one if the query has no rows.

    Returns
    -------
    Their positions among ``ranking_keys`` and, after these, the keys of the judged queries; and True for keys whose
    segment is known, None if all are.
    """
    of_rankings = np.arange(len(ranking_keys))
    if set(by) <= set(judgments.keys):
        return np.arange(len(ranking_keys) + len(judgments.queries)), None
    if not totals:
        return of_rankings, None
    queries = judgments.queries.with_row_index("at")
    without_rows = queries.join(ranking_keys, on=judgments.keys, how="anti", nulls_equal=True)["at"]
    used = np.concatenate([of_rankings, len(ranking_keys) + without_rows.sort().to_numpy().astype(np.int64)])
    return used, used < len(ranking_keys)


def _with_judged(ranking_keys: pl.DataFrame, judgments: JudgmentTable) -> pl.DataFrame:
    """Return the keys of the rankings, ``ranking_keys``, then those of the judged queries, null where these have none.

    This is done column by column: polars concatenates frames in threads, and starting them slows small calls.
    """
    nulls = {name: pl.Series(name, [None], dtype=dtype) for name, dtype in ranking_keys.schema.items()}
    judged = {
        name: judgments.queries[name] if name in judgments.keys else null.new_from_index(0, len(judgments.queries))
        for name, null in nulls.items()
    }
    return frame_of({name: pl.concat([ranking_keys[name], below]) for name, below in judged.items()})


def _grid_of_one_cell(
    ranking_keys: pl.DataFrame, n: int, rankings: RankingRows, query: list[str], judgments: JudgmentTable
) -> Grid:
    """Build the grid of one system in one segment: the queries of the log, then the judged queries that it lacks.

    ``ranking_keys``: the keys of the rankings; ``n``: number of rows of the log.
    """
    # Each ranking has a query of its own here: ``at``, the first key of each query, is every ranking, then the others.
    code, at = codes(_with_judged(ranking_keys, judgments), query)
    row = np.concatenate([rankings.first_row, n + judgments.row])[at]
    zeros, each = np.zeros(len(at), np.int64), np.arange(len(at))
    zero = zeros[:1]  # a row of the only system, and of the only segment
    pool = _pool_of(each, judgments, code[len(ranking_keys) :])
    rankings = _with_added(rankings, len(at) - len(ranking_keys))
    return Grid(rankings, zeros, zeros, each, each, zero, zero, row, pool)


def _with_added(rankings: RankingRows, n: int) -> RankingRows:
    """Return the rankings with ``n`` more, which have no rows."""
    zeros = np.zeros(n, np.int64)
    return replace(rankings, starts=np.append(rankings.starts, zeros), lengths=np.append(rankings.lengths, zeros))


def _pool_of(code: Array, judgments: JudgmentTable, judged_code: Array) -> Pools:
    """Return the judged documents of each ranking.

    Parameters
    ----------
    code : the code of each ranking's key (its query, and the columns of the segment that judgments have too).
    judged_code : the code of each judged query's key.
    """
    # The index of each code in ``judgments.pool``; -1, the empty pool that is appended below, for an unjudged query.
    position = np.full(int(max(code.max(initial=-1), judged_code.max(initial=-1))) + 1, -1)
    position[judged_code] = np.arange(len(judged_code))
    at, pool = position[code], judgments.pool
    return replace(pool, starts=np.append(pool.starts, 0)[at], lengths=np.append(pool.lengths, 0)[at])


def _pools_from_other_systems(grid: Grid) -> Pools | None:
    """Share judged rows between systems, if judgments are in the log and no document ids tell which are the same.

    A ranking without a judged row gets the judged rows of another system for the same (segment, query): of the system
    with most positive judgments, and of equal ones with most judged rows. None if every ranking has a judged row, or
    nothing is judged here.
    """
    values = grid.rankings.values
    judgment = values.get("label", values.get("grade"))
    if judgment is None:
        return None
    starts, lengths = grid.rankings.starts, grid.rankings.lengths
    n_judged, n_positive = grid.rankings.count(~np.isnan(judgment)), grid.rankings.count(judgment > 0)
    if n_judged.all():
        return None
    best_first = np.lexsort((np.arange(len(n_judged)), -n_judged, -n_positive, grid.segment_query))
    _, at = np.unique(grid.segment_query[best_first], return_index=True)
    donor = np.where(n_judged > 0, np.arange(len(n_judged)), best_first[at][grid.segment_query])
    return Pools(starts[donor], lengths[donor], values.get("grade", judgment), values.get("label"))
