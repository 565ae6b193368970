"""The rankings of all pieces of a frame, from the tables of these: their systems, order and keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.fast.codes import codes
from frame_metrics.hidden import (
    ANSWERED,
    FACTS,
    FLAGS,
    GRADE,
    LABELLED,
    MATCHED,
    NAMES,
    OF_LOG,
    ORDER,
    SEGMENT_KNOWN,
    SYSTEM_NUMBER,
)
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.index import Index, KeyValues
from frame_metrics.measuring.work import PieceWork
from frame_metrics.roles.columns import Columns, type_of
from frame_metrics.roles.conventions import Conventions


def indexed(table: pl.DataFrame, work: PieceWork) -> tuple[Index, pl.DataFrame]:
    """Return the index of the rankings of all pieces, sorted as in a log that was read at once, and the sorted table.

    The key rows of the index are rows of this table.
    """
    columns = work.call.columns
    table = with_systems(_sorted_as_read(table, columns), work)
    system, key_source = table[SYSTEM_NUMBER].to_numpy(), KeysOfTable(table, columns)
    _, by, query = columns.internal_by_role
    segment_known = table[SEGMENT_KNOWN].to_numpy()
    query_code, query_at = codes(table, columns.query)
    segment_code, segment_at = codes(table, [*columns.by, SEGMENT_KNOWN] if by else [])
    # The first row of each system: rows are written from the last to the first, so that the first one stays.
    system_row = np.zeros(int(system.max(initial=-1)) + 1, np.int64)
    system_row[system[::-1]] = np.arange(len(table))[::-1]
    index = Index(
        columns,
        conventions_of(work, table),
        table[OF_LOG].to_numpy(),
        table[ANSWERED].to_numpy(),
        *(system, segment_code, query_code),
        np.unique(segment_code * max(len(query_at), 1) + query_code, return_inverse=True)[1],
        KeyValues((columns.system,) if columns.system else (), columns.internal_by_role[0], system_row, key_source),
        KeyValues(columns.by, by, segment_at, key_source),
        KeyValues(columns.query, query, query_at, key_source),
        None if segment_known.all() else segment_known[segment_at],
        [name for name in columns.by if name not in work.shared],
        table,
    )
    return index, table


@record
class KeysOfTable:
    """The rows of the table of all pieces, which hold the keys."""

    table: pl.DataFrame
    columns: Columns

    def keys_at(self, keys: list[str], rows: Array) -> pl.DataFrame:
        """Return key values at some rows, by internal names."""
        names = dict(zip(self.columns.internal_keys, self.columns.keys, strict=True))
        return frame_of({key: self.table[names[key]] for key in keys})[rows]

    def key_rows(self, name: str, rows: Array) -> Array:
        """Return the rows themselves: the table is the frame of the answer, and has every key column."""
        return rows


def with_systems_numbered(table: pl.DataFrame, work: Any, systems: pl.Series | None = None) -> tuple[pl.DataFrame, Any]:
    """Number the systems across all pieces, if pieces knew only their own.

    The last system of each piece is a placeholder: it has rankings without rows only, and stands for any system that is
    only in other pieces. Its rankings are repeated for each of these: in a piece with systems A and B they become those
    of C. The facts in the first row of a piece are kept once, also if that row is repeated.

    Parameters
    ----------
    table : the tables of pieces, one after the other.
    work : the work that made them.
    systems : all systems; None: those of these pieces.

    Returns
    -------
    The table with the numbers of systems among all, and the work, which now knows all systems.
    """
    if not work.systems_unknown:
        return table, work
    # Of each piece the systems that it has, by their numbers among all, and those that it lacks.
    piece, names = np.cumsum(table[LABELLED].is_not_null().to_numpy()) - 1, table[NAMES].drop_nulls()
    n = names.list.len().to_numpy().astype(np.int64)
    present = names.filter(pl.Series(n > 0)).explode().rename(NAMES)
    systems = present.unique().sort(nulls_last=True) if systems is None else systems.rename(NAMES)
    numbered = systems.to_frame().with_row_index(SYSTEM_NUMBER)
    code = (
        present.to_frame().join(numbered, on=NAMES, nulls_equal=True, maintain_order="left")[SYSTEM_NUMBER].to_numpy()
    )
    has = np.zeros((len(n), len(systems)), bool)
    has[np.repeat(np.arange(len(n)), n), code] = True
    n_lacked, lacked = (~has).sum(axis=1), np.append(np.nonzero(~has)[1], NONE)

    # A ranking of a placeholder is repeated for each system that the piece lacks; others are kept once.
    has_system, number = table[SYSTEM_NUMBER].is_not_null().to_numpy(), table[SYSTEM_NUMBER].fill_null(0).to_numpy()
    is_placeholder = has_system & (number == n[piece])
    times = np.where(is_placeholder, n_lacked[piece], 1)
    at = np.repeat(np.arange(len(table)), times)
    repeat = np.arange(len(at)) - np.repeat(np.cumsum(times) - times, times)
    first_lacked = np.cumsum(n_lacked) - n_lacked
    of_placeholder = lacked[np.where(is_placeholder[at], first_lacked[piece[at]] + repeat, NONE)]
    named = np.append(code, NONE)[np.where(has_system & ~is_placeholder, (np.cumsum(n) - n)[piece] + number, NONE)]
    system = pl.Series(SYSTEM_NUMBER, np.where(is_placeholder[at], of_placeholder, named[at]).astype(np.int64))
    system = system if has_system.all() else system.set(pl.Series(~has_system[at]), None)
    facts = [name for name in (GRADE, LABELLED, MATCHED, FLAGS, *FACTS) if name in table.columns]
    once = [pl.when(pl.Series(repeat == 0)).then(pl.col(name)).alias(name) for name in facts]
    return table[at].with_columns(system, *once).drop(NAMES), replace(work, systems=systems)


def with_systems(table: pl.DataFrame, work: PieceWork) -> pl.DataFrame:
    """Return the table with the column of systems, made from their numbers, if ``system=`` is named."""
    columns = work.call.columns
    if columns.system is None:
        return table
    return table.with_columns(work.system_names.gather(table[SYSTEM_NUMBER]).alias(columns.system))


def _sorted_as_read(table: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Sort rankings as those of a log that was read at once.

    First those of the log, by their first rows; then the added ones, by system, segment and query.
    """
    sort_by = [ORDER] if ORDER in table.columns else list(columns.query)
    sort_by = [SYSTEM_NUMBER, *sort_by] if columns.shape.per_system else [*sort_by, SYSTEM_NUMBER]
    of_log = table.filter(OF_LOG).sort(sort_by, nulls_last=True, maintain_order=True)
    table, n = pl.concat([of_log, table.filter(pl.col(OF_LOG).not_())]), len(of_log)
    numbers = [codes(table, names)[0] for names in (columns.query, [*columns.by, SEGMENT_KNOWN])]
    added = np.lexsort([number[n:] for number in (*numbers, table[SYSTEM_NUMBER].to_numpy())])
    return table[np.append(np.arange(n), n + added)]


def conventions_of(work: PieceWork, table: pl.DataFrame) -> Conventions:
    """Return the conventions, with ``threshold`` and ``rel`` rounded to the types of scores and grades."""
    columns = work.call.columns
    score = next((name for name in columns.shape.per_system), columns.score)
    return work.call.conventions.in_types(type_of(work.empty, score), type_of(table, GRADE))
