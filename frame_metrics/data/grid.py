"""Rankings to measure: every system on every query that is judged in a segment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.data.blocks import Pools, RankingRows, codes, constant, rows_at
from frame_metrics.data.judgments import Judged
from frame_metrics.errors import bad_rows
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE, spans
from frame_metrics.roles.columns import Columns
from frame_metrics.threads import BLOCK


@dataclass(frozen=True, eq=False)
class Grid:
    """The rankings to measure, and what each one is.

    The rows that hold the values of a number are of the log, or past its end, of the judgments.
    """

    rankings: RankingRows  # all of them; those that a system lacks have no rows
    system: Array  # the number of each ranking's system, shape (rankings,)
    segment: Array  # the number of each ranking's segment, shape (rankings,)
    query: Array  # the number of each ranking's query, shape (rankings,)
    pair: Array  # the number of each ranking's segment and query together, shape (rankings,)
    system_row: Array  # a row that holds each system, shape (systems,)
    segment_row: Array  # a row that holds each segment, shape (segments,)
    query_row: Array  # a row that holds each query, shape (queries,)
    pool: Pools | None  # the judged documents of each ranking, where its rows are not all there is
    placed: Array | None = None  # whether all key columns of each segment are known, shape (segments,); None: of all

    @property
    def size(self) -> Array:
        """Rows that each ranking has to do with, shape (rankings,)."""
        own = self.rankings.lengths
        return own if self.pool is None else np.maximum(own, self.pool.lengths)

    @property
    def of_log(self) -> Array:
        """True for the rankings that the log has, and no judgments or other systems alone, shape (rankings,)."""
        return np.arange(len(self.pair)) < len(self.rankings.first_row)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs of a segment and a query."""
        return int(self.pair.max(initial=-1)) + 1

    @cached_property
    def first_of_pairs(self) -> Array:
        """The first ranking of each pair of a segment and a query, shape (pairs,)."""
        return np.unique(self.pair, return_index=True)[1]

    @cached_property
    def cell(self) -> Array:
        """The number of each ranking's system and segment together, shape (rankings,)."""
        return self.system * len(self.segment_row) + self.segment

    @cached_property
    def common(self) -> Array:
        """Number of pairs of a segment and a query that two systems have rankings of, shape (systems, systems)."""
        own, n = self.of_log, len(self.system_row)
        order = np.argsort(self.pair[own], kind="stable")
        system, pair = self.system[own][order], self.pair[own][order]
        out = np.zeros((n, n), np.int64)
        step = max(BLOCK // max(n, 1), 1)
        for first in range(0, self.n_pairs, step):
            part = slice(*np.searchsorted(pair, [first, first + step]))
            has = np.zeros((n, step), np.float32)
            has[system[part], pair[part] - first] = 1
            out += (has @ has.T).astype(np.int64)
        return out

    def amounts(self, role: str, column: str) -> Array:
        """Return a column's one value for each ranking's query: NaN where no row has one."""
        values = self.rankings.values[role]
        mine = constant(values, self.rankings, column)
        if role in self.rankings.said:
            said = self.rankings.said[role]
            mine[: len(said)] = np.where(np.isnan(said), mine[: len(said)], said)
        of_pair = np.full(self.n_pairs, np.nan)
        some = np.flatnonzero(~np.isnan(mine))
        of_pair[self.pair[some[::-1]]] = mine[some[::-1]]
        odd = some[of_pair[self.pair[some]] != mine[some]]
        if len(odd):
            rows = np.sort(self.rankings.rows_of(spans(self.rankings.starts[odd], self.rankings.lengths[odd])))
            what = "differ from another system in the value of their query"
            raise bad_rows(column, rows, len(values), what, "give each query one value")
        return of_pair[self.pair]


def build_grid(
    log: pl.DataFrame,
    rankings: RankingRows,
    columns: Columns,
    judged: Judged | None,
    *,
    totals: bool = False,
    systems: int | None = None,
    more: bool = False,
) -> Grid:
    """Number the systems, segments and queries, and add the rankings that are missing.

    Parameters
    ----------
    totals : whether those of judged queries whose segment nobody knows are added too.
    systems : how many there are, where some have no row here; None where all have. Those are the last, in no row.
    more : whether one stands for others, of which it is not known whether there are any; it is the last.
    """
    system, by, query = columns.key_names
    count = len(rankings.first_row)
    if judged is None and not system and not by:
        none, each = np.zeros(count, np.int64), np.arange(count)
        return Grid(rankings, none, none, each, each, none[:1], none[:1], rankings.first_row, None)
    names = rows_at(log, (*system, *by, *query), rankings.first_row)
    if judged is not None and not system and not by:
        return _plain_grid(names, len(log), rankings, query, judged)
    row, both, named = rankings.first_row, names, np.arange(count)  # where pairs of a segment and a query are named
    placed = None
    if judged is not None:
        row = np.concatenate([row, len(log) + judged.row])
        both = pl.concat([names, judged.names.select(judged.keys)], how="diagonal")
        if set(by) <= set(judged.keys):
            named = np.arange(len(both))
        elif totals:
            lost = judged.names.with_row_index("at").join(names, on=judged.keys, how="anti", nulls_equal=True)["at"]
            named = np.concatenate([named, count + lost.sort().to_numpy().astype(np.int64)])
            placed = named < count
    query_code, query_at = codes(both, query)
    segments = both[named] if placed is None else both[named].with_columns(placed=pl.Series(placed))
    segment_code, segment_at = codes(segments, by if placed is None else [*by, "placed"])
    system_code, system_at = codes(names, system)
    absent = int(more) if systems is None else systems - len(system_at)
    number = segment_code * len(query_at) + query_code[named]
    _, first, pair = np.unique(number, return_index=True, return_inverse=True)
    there = np.zeros((len(system_at) + absent, len(first)), bool)  # pairs that a system has a ranking of
    there[system_code, pair[:count]] = True
    lacking = np.flatnonzero(~there)
    pair = np.concatenate([pair[:count], lacking % max(len(first), 1)])
    at = first[pair]
    at_rows = (system_at, named[segment_at] if len(named) else segment_at, query_at)
    system_row, segment_row, query_row = (row[x] if len(row) else x for x in at_rows)
    system_row = np.append(system_row, np.full(absent, NONE))
    grid = Grid(
        _grown(rankings, len(lacking)),
        np.concatenate([system_code, lacking // max(len(first), 1)]),
        segment_code[at],
        query_code[named][at],
        pair,
        system_row,
        segment_row,
        query_row,
        None,
        None if placed is None else placed[segment_at],
    )
    if judged is None:
        return replace(grid, pool=_borrowed(grid)) if columns.own_rows else grid
    key_code = query_code if judged.keys == query else codes(both, judged.keys)[0]
    return replace(grid, pool=_pool_of(key_code[named][at], judged, key_code[count:]))


def with_another(grid: Grid) -> Grid:
    """Return the grid with one more system, which has no rows, after the others: one that stands in another frame."""
    first = grid.first_of_pairs
    return replace(
        grid,
        rankings=_grown(grid.rankings, len(first)),
        system=np.append(grid.system, np.full(len(first), len(grid.system_row))),
        segment=np.append(grid.segment, grid.segment[first]),
        query=np.append(grid.query, grid.query[first]),
        pair=np.append(grid.pair, grid.pair[first]),
        system_row=np.append(grid.system_row, NONE),
    )


def _plain_grid(names: pl.DataFrame, n: int, rankings: RankingRows, query: list[str], judged: Judged) -> Grid:
    """The rankings of one system in one segment: a query each, then the judged queries that the log lacks."""
    both = frame_of({key: pl.concat([names[key], judged.names[key]]) for key in query})  # of frames it starts threads
    code, at = codes(both, query)
    row = np.concatenate([rankings.first_row, n + judged.row])[at]
    none, each = np.zeros(len(at), np.int64), np.arange(len(at))
    pool = _pool_of(each, judged, code[len(names) :])
    return Grid(_grown(rankings, len(at) - len(names)), none, none, each, each, none[:1], none[:1], row, pool)


def _grown(rankings: RankingRows, n: int) -> RankingRows:
    """Rankings, and behind them ``n`` without rows."""
    none = np.zeros(n, np.int64)
    return replace(rankings, starts=np.append(rankings.starts, none), lengths=np.append(rankings.lengths, none))


def _pool_of(code: Array, judged: Judged, judged_code: Array) -> Pools:
    """The judgments of each ranking, by the number of its keys and those of the judged ones."""
    place = np.full(int(max(code.max(initial=-1), judged_code.max(initial=-1))) + 1, -1)
    place[judged_code] = np.arange(len(judged_code))
    mine, pool = place[code], judged.pool
    return replace(pool, starts=np.append(pool.starts, 0)[mine], lengths=np.append(pool.lengths, 0)[mine])


def _borrowed(grid: Grid) -> Pools | None:
    """The rows that systems without a judged row of a query are measured against: those of the system with most."""
    values = grid.rankings.values
    judgment = values.get("label", values.get("grade"))
    if judgment is None:
        return None
    starts, lengths = grid.rankings.starts, grid.rankings.lengths
    known, good = grid.rankings.count(~np.isnan(judgment)), grid.rankings.count(judgment > 0)
    if known.all():
        return None
    best = np.lexsort((np.arange(len(known)), -known, -good, grid.pair))
    _, at = np.unique(grid.pair[best], return_index=True)
    donor = np.where(known > 0, np.arange(len(known)), best[at][grid.pair])
    return Pools(starts[donor], lengths[donor], values.get("grade", judgment), values.get("label"))


def rankings_of_systems(grid: Grid) -> Array:
    """Count the rankings of each system, and those of a pair that another system has too, shape (2, systems).

    A pair is one of a segment and a query.
    """
    own, n = grid.of_log, len(grid.system_row)
    several = np.bincount(grid.pair[own], minlength=grid.n_pairs) > 1
    return np.array([np.bincount(grid.system[some], minlength=n) for some in (own, own & several[grid.pair])])
