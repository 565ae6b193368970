"""The index of rankings: the system, the segment and the query of each, as codes, and the values behind these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, Protocol

import numpy as np
import polars as pl

from frame_metrics.answer import NOTHING, frame_of
from frame_metrics.fast.take_rows import rows_at
from frame_metrics.inputs import Array
from frame_metrics.inputs.cached_arrays import computed_once
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.groups import Cells, drawing_ranks
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.threads import BLOCK

# Fields of Index with a value for each ranking.
OF_RANKINGS = ("of_log", "answered", "system", "segment", "query", "segment_query")


class KeySource(Protocol):
    """A protocol that reads the values of keys, and finds their rows in the caller's frame."""

    def keys_at(self, keys: list[str], rows: Array) -> pl.DataFrame:
        """Return key values at some rows; ``keys``: internal names of key columns."""

    def key_rows(self, name: str, rows: Array) -> Array:
        """Return, for each of some rows, the row of the caller's frame where its value of a key column stands.

        ``name``: the caller's name of the column.
        """


@record
class KeptKeys:
    """Keys that were read already, for a process without the rows."""

    values: pl.DataFrame  # the key values, a column for each internal name
    rows: dict[str, Array]  # the row of the caller's frame of each value, by the caller's name of the column

    def keys_at(self, keys: list[str], rows: Array) -> pl.DataFrame:
        """Return key values at some rows of ``values``."""
        return self.values.select(keys)[rows]

    def key_rows(self, name: str, rows: Array) -> Array:
        """Return rows of the caller's frame; NONE stays NONE."""
        return np.append(self.rows[name], NONE)[rows]


@record
class KeyValues:
    """The values of systems, of segments or of queries, by their codes; read when they are first needed."""

    columns: Sequence[str]  # the key columns, by the caller's names
    internal_keys: list[str]  # their internal names
    log_row: Array  # a row of the log with each code's value, NONE if this piece has no such row, shape (codes,)
    key_source: KeySource  # reads the values from the rows

    def __len__(self) -> int:
        return len(self.log_row)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the values that were read, without the rows of the log."""
        at = np.where(self.log_row == NONE, NONE, np.arange(len(self)))
        return KeyValues, (self.columns, self.internal_keys, at, KeptKeys(self.values, self.frame_rows))

    @computed_once
    def values(self) -> pl.DataFrame:
        """The values, a row for each code, a column for each internal name.

        Codes without a row of the log come last, and are not in this table.
        """
        some = self.log_row[self.log_row != NONE]
        return self.key_source.keys_at(self.internal_keys, some) if self.internal_keys else NOTHING

    @computed_once
    def frame_rows(self) -> dict[str, Array]:
        """For each key column, by the caller's name: a row of the caller's frame with each code's value."""
        return {name: self.key_source.key_rows(name, self.log_row) for name in self.columns}

    @computed_once
    def by_value(self) -> Array:
        """The codes, sorted by the values, nulls last."""
        if not self.internal_keys:
            return np.zeros(1, np.int64)
        values = self.values.with_row_index("at")
        return values.sort(self.internal_keys, nulls_last=True, maintain_order=True)["at"].to_numpy().astype(np.int64)


@record
class Index:
    """The system, the segment and the query of each ranking."""

    columns: Columns
    conventions: Conventions
    of_log: Array  # True for rankings of the log, False for those that a system lacks, shape (rankings,)
    # Whether the system answered: mostly as ``of_log``. If systems are columns, True for rankings with a result; of
    # saved numbers with a column "answered", what it says. Shape (rankings,).
    answered: Array
    system: Array  # the code of each ranking's system, shape (rankings,)
    segment: Array  # the code of each ranking's segment, shape (rankings,)
    query: Array  # the code of each ranking's query, by first appearance, shape (rankings,)
    segment_query: Array  # the code of each ranking's pair of segment and query, shape (rankings,)
    systems: KeyValues
    segments: KeyValues
    queries: KeyValues
    # Whether the values of a segment are all known, shape (segments,), and the ``by`` columns whose value is unknown
    # for some queries, as only the log or only the judgments have the column. None: all are known.
    segment_known: Array | None = None
    unknown_keys: Sequence[str] = field(default=())
    key_table: pl.DataFrame | None = None  # the table that key rows refer to; None for the caller's frame

    def __len__(self) -> int:
        return len(self.segment_query)

    @computed_once
    def n_segment_queries(self) -> int:
        """Number of pairs of a segment and a query."""
        return int(self.segment_query.max(initial=-1)) + 1

    @computed_once
    def first_of_segment_queries(self) -> Array:
        """The first ranking of each pair of a segment and a query, shape (pairs,)."""
        return np.unique(self.segment_query, return_index=True)[1]

    @computed_once
    def cell(self) -> Array:
        """The code of each ranking's system and segment together, shape (rankings,)."""
        return self.system * len(self.segments) + self.segment

    @property
    def in_known_segment(self) -> Array:
        """True for rankings whose segment is known, shape (rankings,)."""
        return self.known_at(self.segment)

    def known_at(self, segment: Array) -> Array:
        """Mark the segments whose values are all known; ``segment``: their codes."""
        return np.ones(len(segment), bool) if self.segment_known is None else self.segment_known[segment]

    @property
    def system_names(self) -> pl.Series:
        """The systems, in the order of their codes, without those that have no row in this piece."""
        return self.systems.values["system"] if self.columns.system else pl.Series([])

    @computed_once
    def rankings_of_systems(self) -> Array:
        """Number of each system's rankings, and of those whose (segment, query) others have too, shape (2, systems)."""
        of_log, n = self.of_log, len(self.systems)
        in_several_systems = np.bincount(self.segment_query[of_log], minlength=self.n_segment_queries) > 1
        shared = of_log & in_several_systems[self.segment_query]
        return np.array([np.bincount(self.system[some], minlength=n) for some in (of_log, shared)])

    @computed_once
    def n_common(self) -> Array:
        """Number of pairs (segment, query) for which both of two systems have a ranking, shape (systems, systems)."""
        of_log, n = self.of_log, len(self.systems)
        order = np.argsort(self.segment_query[of_log], kind="stable")
        system, pair = self.system[of_log][order], self.segment_query[of_log][order]
        out = np.zeros((n, n), np.int64)
        step = max(BLOCK // max(n, 1), 1)  # so many pairs at a time, so that ``has_ranking`` stays small
        for first in range(0, self.n_segment_queries, step):
            part = slice(*np.searchsorted(pair, [first, first + step]))
            has_ranking = np.zeros((n, step), np.float32)  # 0 and 1: floats are multiplied fast, and exact here
            has_ranking[system[part], pair[part] - first] = 1
            out += (has_ranking @ has_ranking.T).astype(np.int64)
        return out

    @computed_once
    def cells(self) -> Cells:
        """Every segment of every system, also those without rankings."""
        columns = self.columns
        if not columns.cell_keys:
            return Cells(columns, NOTHING, {}, np.array([len(self.segment_query)]), key_table=self.key_table)
        systems, segments = len(self.systems) if columns.system else 1, len(self.segments) if columns.by else 1
        system, segment = np.divmod(np.arange(systems * segments), segments)
        cells = self.cells_at(system, segment, None, np.bincount(self.cell, minlength=len(system)))
        return (
            cells
            if self.segment_known is None
            else replace(cells, unknown_keys=self.unknown_keys, segment_known=self.segment_known[segment])
        )

    def cells_at(self, system: Array, segment: Array, query: Array | None, n: Array) -> Cells:
        """Return cells; each argument has a value for each cell.

        Parameters
        ----------
        system, segment : the codes.
        query : the codes, if each ranking is a cell by itself (only its key rows have the query); None for cells of a
            system and segment.
        n : the number of rows or rankings.
        """
        parts = (self.systems, system), (self.segments, segment)
        values = [column for part, codes in parts if part.columns for column in part.values[codes]]
        rows = self.key_rows(system=system, segment=segment, query=query)
        keys = frame_of(dict(zip(self.columns.cell_keys, values, strict=True)))
        return Cells(self.columns, keys, rows, n, key_table=self.key_table)

    def key_rows(
        self, *, system: Array | None = None, segment: Array | None = None, query: Array | None = None
    ) -> dict[str, Array]:
        """Return the key rows of an answer: for each key column, a row with the value of each result row.

        Parameters
        ----------
        system, segment, query : the codes of each result row; None leaves out these key columns.
        """
        parts = (self.systems, system), (self.segments, segment), (self.queries, query)
        asked = ((part, codes) for part, codes in parts if codes is not None)
        return {name: rows[codes] for part, codes in asked for name, rows in part.frame_rows.items()}

    def keys_of(self, names: Sequence[str], at: Array | slice = slice(None)) -> pl.DataFrame:
        """Return key values of some rankings; ``names``: internal names of key columns."""
        found: dict[str, pl.Series] = {}
        parts = (self.systems, self.system), (self.segments, self.segment), (self.queries, self.query)
        for part, code in parts:
            if some := [name for name in part.internal_keys if name in names]:
                found |= rows_at(part.values, some, code[at]).to_dict()
        return frame_of({name: found[name] for name in names})

    def joined(self, table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        """Join a table to the rankings by some keys of segment and query, nulls for a ranking without a row there."""
        return self.keys_of(keys).join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")

    def drawing_order(self, some: Array) -> Array:
        """Return the order in which random draws go to some rankings: by query, then segment.

        It depends on the values of the keys alone, so that the order of the rows changes no p-value or interval.

        Parameters
        ----------
        some : True for these rankings, shape (rankings,).

        Returns
        -------
        Positions among the marked rankings, not indices of rankings.
        """
        ranks = [rank[self.query[some]] for rank in drawing_ranks(self.queries.values)]
        if self.segments.columns:
            ranks += [rank[self.segment[some]] for rank in drawing_ranks(self.segments.values)]
        return np.lexsort(ranks[::-1])

    def some(self, at: slice | Array) -> Index:
        """Return the index of some rankings."""
        each: Any = {name: getattr(self, name)[at] for name in OF_RANKINGS}
        return replace(self, **each)

    def of_system(self, system: int, at: Array) -> Index:
        """Return the index of one system; ``at``: its rankings."""
        one = replace(self.systems, log_row=self.systems.log_row[system : system + 1])
        return replace(self.some(at), system=np.zeros(len(at), np.int64), systems=one)

    def with_one_more_system(self) -> Index:
        """Return the index with one more system, the last, with a ranking for every pair of segment and query.

        Its values come from another frame, so that its rankings are not of the log.
        """
        first = self.first_of_segment_queries
        added = np.zeros(len(first), bool)
        return replace(
            self,
            of_log=np.append(self.of_log, added),
            answered=np.append(self.answered, added),
            system=np.append(self.system, np.full(len(first), len(self.systems))),
            segment=np.append(self.segment, self.segment[first]),
            query=np.append(self.query, self.query[first]),
            segment_query=np.append(self.segment_query, self.segment_query[first]),
            systems=replace(self.systems, log_row=np.append(self.systems.log_row, NONE)),
        )
