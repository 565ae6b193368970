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
    """The rankings to measure, each with the numbers of its system, segment and query.

    ``system_row``, ``segment_row`` and ``query_row`` are rows of the log; past its end, rows of the judgments.
    """

    rankings: RankingRows  # those of the log first, then those that a system lacks, which have no rows
    system: Array  # the number of each ranking's system, shape (rankings,)
    segment: Array  # the number of each ranking's segment, shape (rankings,)
    query: Array  # the number of each ranking's query, shape (rankings,)
    segment_query: Array  # the number of each ranking's pair of segment and query, shape (rankings,)
    system_row: Array  # a row that holds each system, shape (systems,)
    segment_row: Array  # a row that holds each segment, shape (segments,)
    query_row: Array  # a row that holds each query, shape (queries,)
    pool: Pools | None  # the judged documents of each ranking's query; None: only its rows are judged
    segment_known: Array | None = None  # whether all values of a segment are known, (segments,); None: all are

    @property
    def size(self) -> Array:
        """Size of each ranking's arrays: its rows or its judged documents, the larger number, shape (rankings,)."""
        own = self.rankings.lengths
        return own if self.pool is None else np.maximum(own, self.pool.lengths)

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
        role : of a query: weight, n_relevant ...
        column : the caller's name of its column, for the errors.

        Raises
        ------
        BadRowsError
            Rows of one ranking, or systems, differ in the value of a query.
        """
        values = self.rankings.values[role]
        mine = shared_value(values, self.rankings, column)
        if role in self.rankings.values_of_empty:
            of_empty = self.rankings.values_of_empty[role]
            mine[: len(of_empty)] = np.where(np.isnan(of_empty), mine[: len(of_empty)], of_empty)
        of_pair = np.full(self.n_segment_queries, np.nan)
        some = np.flatnonzero(~np.isnan(mine))
        of_pair[self.segment_query[some[::-1]]] = mine[some[::-1]]
        odd = some[of_pair[self.segment_query[some]] != mine[some]]
        if len(odd):
            rows = np.sort(self.rankings.rows_of(spans(self.rankings.starts[odd], self.rankings.lengths[odd])))
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
    systems: int | None = None,
    other_systems: bool = False,
) -> Grid:
    """Number the systems, segments and queries, and add the rankings that systems lack.

    Parameters
    ----------
    log : the checked columns.
    rankings : those of the log.
    columns : the roles of the columns.
    judgments : the judgments, if they are kept beside the log.
    totals : whether to add judged queries of an unknown segment, which count in totals only.
    systems : the number of systems of the whole log, where ``log`` is a piece of it and some have no row here; these
        get the last numbers. None: all have rows.
    other_systems : whether to add one system without rows, the last. It stands for systems of other pieces, if there
        are any.
    """
    system, by, query = columns.internal_by_role
    count = len(rankings.first_row)
    if judgments is None and not system and not by:
        zeros, numbers = np.zeros(count, np.int64), np.arange(count)
        zero = zeros[:1]  # a row of the only system, and of the only segment
        return Grid(rankings, zeros, zeros, numbers, numbers, zero, zero, rankings.first_row, None)
    names = rows_at(log, (*system, *by, *query), rankings.first_row)
    if judgments is not None and not system and not by:
        return _plain_grid(names, len(log), rankings, query, judgments)
    # ``both``: the keys of the rankings, then of the judged queries; ``row``: the row of each. Positions among these:
    # ``used``: of the keys that make pairs of segment and query; ``query_at``: one of each query (and so on).
    row, both, used, known = rankings.first_row, names, np.arange(count), None
    if judgments is not None:
        row = np.concatenate([row, len(log) + judgments.row])
        both = _with_judged(names, judgments)
        used, known = _keys_of_pairs(names, judgments, by, totals=totals)
    query_code, query_at = codes(both, query)
    segments = both if len(used) == len(both) else both[used]
    segments = segments if known is None else segments.with_columns(known=pl.Series(known))
    segment_code, segment_at = codes(segments, by if known is None else [*by, "known"])
    system_code, system_at = codes(names, system)
    without_rows = int(other_systems) if systems is None else systems - len(system_at)  # number of such systems
    segment_query = segment_code * len(query_at) + query_code[used]  # a number of each used key's pair
    # ``first``: a used key of each pair, (pairs,); ``pair``: the pair of each used key, those of the rankings first
    _, first, pair = np.unique(segment_query, return_index=True, return_inverse=True)
    has_ranking = np.zeros((len(system_at) + without_rows, len(first)), bool)
    has_ranking[system_code, pair[:count]] = True
    lacking_system, lacking_pair = np.divmod(np.flatnonzero(~has_ranking), max(len(first), 1))
    # From here on ``pair`` is that of each ranking, also of those that systems lack, and ``at`` a used key of it.
    pair = np.concatenate([pair[:count], lacking_pair])
    at = first[pair]
    positions = (system_at, used[segment_at] if len(used) else segment_at, query_at)
    system_row, segment_row, query_row = (row[some] if len(row) else some for some in positions)
    grid = Grid(
        _grown(rankings, len(lacking_pair)),
        np.concatenate([system_code, lacking_system]),
        segment_code[at],
        query_code[used][at],
        pair,
        np.append(system_row, np.full(without_rows, NONE)),
        segment_row,
        query_row,
        None,
        None if known is None else known[segment_at],
    )
    if judgments is None:
        return replace(grid, pool=_pools_of_best_judged_system(grid)) if columns.systems_have_rows else grid
    key_code = query_code if judgments.keys == query else codes(both, judgments.keys)[0]
    return replace(grid, pool=_pool_of(key_code[used][at], judgments, key_code[count:]))


def _keys_of_pairs(
    names: pl.DataFrame, judgments: JudgmentTable, by: Sequence[str], *, totals: bool
) -> tuple[Array, Array | None]:
    """Find the keys that make pairs of a segment and a query.

    Returns
    -------
    Their positions among the keys of the rankings, ``names``, and then of the judged queries; and whether the segment
    of each is known, None if all are.
    """
    own = np.arange(len(names))
    if set(by) <= set(judgments.keys):
        return np.arange(len(names) + len(judgments.queries)), None
    if not totals:
        return own, None
    queries = judgments.queries.with_row_index("at")
    lost = queries.join(names, on=judgments.keys, how="anti", nulls_equal=True)["at"]
    used = np.concatenate([own, len(names) + lost.sort().to_numpy().astype(np.int64)])
    return used, used < len(names)


def _with_judged(names: pl.DataFrame, judgments: JudgmentTable) -> pl.DataFrame:
    """Return the keys of the rankings, ``names``, then those of the judged queries, null where these have none.

    Column by column: polars concatenates frames in threads, and starting them slows small calls.
    """
    nothing = {name: pl.Series(name, [None], dtype=dtype) for name, dtype in names.schema.items()}
    judged = {
        name: judgments.queries[name] if name in judgments.keys else null.new_from_index(0, len(judgments.queries))
        for name, null in nothing.items()
    }
    return frame_of({name: pl.concat([names[name], below]) for name, below in judged.items()})


def _plain_grid(names: pl.DataFrame, n: int, rankings: RankingRows, query: list[str], judgments: JudgmentTable) -> Grid:
    """Build the grid of one system in one segment: the queries of the log, then the judged queries that it lacks."""
    code, at = codes(_with_judged(names, judgments), query)
    row = np.concatenate([rankings.first_row, n + judgments.row])[at]
    zeros, numbers = np.zeros(len(at), np.int64), np.arange(len(at))
    zero = zeros[:1]  # a row of the only system, and of the only segment
    pool = _pool_of(numbers, judgments, code[len(names) :])
    return Grid(_grown(rankings, len(at) - len(names)), zeros, zeros, numbers, numbers, zero, zero, row, pool)


def _grown(rankings: RankingRows, n: int) -> RankingRows:
    """Append ``n`` rankings without rows."""
    zeros = np.zeros(n, np.int64)
    return replace(rankings, starts=np.append(rankings.starts, zeros), lengths=np.append(rankings.lengths, zeros))


def _pool_of(code: Array, judgments: JudgmentTable, judged_code: Array) -> Pools:
    """Return the judged documents of each ranking.

    Parameters
    ----------
    code : the number of each ranking's key (its query, and the columns of the segment that judgments carry).
    judgments : the judgments.
    judged_code : the number of the key of each judged query.
    """
    position = np.full(int(max(code.max(initial=-1), judged_code.max(initial=-1))) + 1, -1)
    position[judged_code] = np.arange(len(judged_code))
    mine, pool = position[code], judgments.pool
    return replace(pool, starts=np.append(pool.starts, 0)[mine], lengths=np.append(pool.lengths, 0)[mine])


def _pools_of_best_judged_system(grid: Grid) -> Pools | None:
    """Share judged rows between systems, if judgments are in the log and no document ids tell which are the same.

    A ranking without a judged row gets the rows of another system for the same (segment, query): of the one with most
    positive judgments, then with most judged rows. None if every ranking has a judged row, or nothing is judged here.
    """
    values = grid.rankings.values
    judgment = values.get("label", values.get("grade"))
    if judgment is None:
        return None
    starts, lengths = grid.rankings.starts, grid.rankings.lengths
    known, good = grid.rankings.count(~np.isnan(judgment)), grid.rankings.count(judgment > 0)
    if known.all():
        return None
    best = np.lexsort((np.arange(len(known)), -known, -good, grid.segment_query))
    _, at = np.unique(grid.segment_query[best], return_index=True)
    donor = np.where(known > 0, np.arange(len(known)), best[at][grid.segment_query])
    return Pools(starts[donor], lengths[donor], values.get("grade", judgment), values.get("label"))
