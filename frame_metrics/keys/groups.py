"""Groups of rankings or of pooled rows: the segments of each system, and totals over segments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from frame_metrics.backends.display import value_text
from frame_metrics.errors import cut
from frame_metrics.hidden import ORDER
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.roles.columns import Columns


@record
class Cells:
    """The finest groups of rows or rankings: the segments of each system, or the queries in these.

    Rows and rankings have the code of their cell. Segments and totals are groups of cells.
    """

    columns: Columns  # the roles of the columns
    values: pl.DataFrame  # the values of system and segment, by the caller's names, a row for each cell
    rows: dict[str, Array]  # for each key column, by the caller's name, a row of the frame with each cell's value
    n: Array  # number of rows, or rankings, of each cell, shape (cells,)
    # Key columns whose value is unknown for some queries, as only the log or only the judgments have the column. A null
    # is a known value.
    unknown_keys: Sequence[str] = ()
    segment_known: Array | None = None  # whether a cell's values in ``unknown_keys`` are known, (cells,); None: all are
    key_table: pl.DataFrame | None = None  # the table that ``rows`` refer to; None for the caller's frame

    def sort_ranks(self) -> dict[str, Array]:
        """Return for each key column the sort rank of every cell's value among its distinct values, null last."""
        if not self.values.width:
            return {}
        last = pl.lit(len(self.n), pl.Int64)
        ranks = (pl.col(name).rank("dense").cast(pl.Int64).fill_null(last) for name in self.values.columns)
        return {values.name: values.to_numpy() for values in self.values.select(ranks)}

    def group_by(self, keys: Sequence[str], order: dict[str, Array]) -> CellGroups:
        """Return the groups of cells with equal values in some key columns.

        A cell whose value in one of these columns is unknown is in no group.

        ``order``: the sort rank of each cell's value by key column, as from ``sort_ranks``.
        """
        if not keys:  # one group of all
            zeros = np.zeros(len(self.n), np.int64)
            return CellGroups(self, keys, np.zeros(1, np.int64), zeros, np.array([int(self.n.sum())]))
        some = np.arange(len(self.n))  # the cells that are in a group
        if self.segment_known is not None and set(keys) & set(self.unknown_keys):
            some = np.flatnonzero(self.segment_known)
        # Groups by the first key, then each of them by the second key, and so on.
        group = np.zeros(len(some), np.int64)
        for key in keys:
            group_and_key = group * (len(self.n) + 1) + order[key][some]
            _, first, group = np.unique(group_and_key, return_index=True, return_inverse=True)
        n = np.bincount(group, self.n[some], minlength=len(first)).astype(np.int64)
        group_of_cell = np.full(len(self.n), -1)
        group_of_cell[some] = group
        return CellGroups(self, keys, some[first], group_of_cell, n)

    def by_system(self, system: str | None) -> tuple[CellGroups, CellGroups]:
        """Return two groupings of the cells: by system, and by segment; ``system``: the key column of systems."""
        order, by = self.sort_ranks(), [name for name in self.columns.by if name != system]
        return self.group_by([system] if system else [], order), self.group_by(by, order)


@record
class CellGroups:
    """Groups of cells with equal values in some key columns, sorted by these values, nulls last.

    A null is a value like any other: it makes a segment of its own, as in a group-by that keeps nulls.
    """

    cells: Cells
    keys: Sequence[str]  # these key columns, by the caller's names; the other key columns are totalled
    first: Array  # the first cell of each group, shape (groups,)
    group_of_cell: Array  # the code of each cell's group, -1 for none, shape (cells,)
    n: Array  # number of rows, or rankings, of each group, shape (groups,)

    def __len__(self) -> int:
        return len(self.n)

    def of(self, rows: pl.DataFrame) -> Array:
        """Return the code of each row's group, shape (rows,); ``rows`` have the code of their cell in column "cell"."""
        return self.group_of_cell[rows["cell"].to_numpy()] if self.keys else np.zeros(len(rows), np.int64)

    def key_rows(self, at: Array | slice = slice(None), *, totalled: bool = True) -> dict[str, Array]:
        """Return the key rows of an answer: for each key column a row of the frame that holds the value.

        Parameters
        ----------
        at : the code of the group of each row of the answer.
        totalled : whether to include columns that are totalled; they have -1, so that their keys are null.
        """
        names = dict.fromkeys((*(self.cells.columns.cell_keys if totalled else ()), *self.keys))
        rows = {name: self.cells.rows[name][self.first] for name in self.keys}
        return {name: rows[name][at] if name in rows else np.full(len(self), NONE)[at] for name in names}

    def values(self, key: str) -> pl.Series:
        """Return the value of a key column in each group."""
        return self.cells.values[key][self.first]

    def text(self, group: int) -> str | None:
        """Return the key values of a group as text; None if there are no key columns."""
        return as_text(self.cells.values.select(self.keys), int(self.first[group])) if self.keys else None


@record
class ResultGroups:
    """The segments of a result and, with margins, the totals over them, with the order of all in the result."""

    # The segments. With margins also totals: by one ``by`` column each, if there are several; then over all segments.
    each: list[CellGroups]
    order: Array | None  # order of the groups: by system, segments before totals, shape (groups,); None: as they are

    def in_result_order(self, parts: Sequence[Array], axis: int = -1) -> Array:
        """Put values of groups in the order of the result.

        Parameters
        ----------
        parts : an array for each of ``each``, with a value for each of its groups.
        axis : the axis of the groups.
        """
        return parts[0] if self.order is None else np.concatenate(parts, axis).take(self.order, axis)

    def key_rows(self, group: Array) -> dict[str, Array]:
        """Return the key rows of an answer; ``group``: the group of each of its rows, by its place in the result."""
        rows = [segments.key_rows() for segments in self.each]
        return {name: self.in_result_order([one[name] for one in rows])[group] for name in rows[0]}

    @property
    def key_table(self) -> pl.DataFrame | None:
        """The table that key rows refer to; None for the caller's frame."""
        return self.each[0].cells.key_table

    def total_over(self) -> pl.Series:
        """Return the column ``total_over``: the totalled ``by`` columns of each group as text, null for none."""
        by = self.each[0].cells.columns.by
        over = [", ".join(name for name in by if name not in segments.keys) or None for segments in self.each]
        which = self.in_result_order([np.full(len(segments), at) for at, segments in enumerate(self.each)])
        return pl.Series(over, dtype=pl.String).gather(which)


def rows_in(table: pl.DataFrame, keys: pl.DataFrame) -> Array:
    """Return the row of a table that has each of some keys, -1 for none; nulls are equal."""
    rows = table.with_row_index(ORDER)
    at = keys.join(rows, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")[ORDER]
    return at.cast(pl.Int64).fill_null(-1).to_numpy()


def as_text(keys: pl.DataFrame, row: int = 0) -> str:
    """Return the key values of a row as text; "" if the table has no such row."""
    return ", ".join(value_text(value) for values in keys[row : row + 1].iter_rows() for value in values)


def named_as_text(keys: pl.DataFrame, row: int) -> str:
    """Return the names and values of the keys of a row as text, as "month = june"; what is long is cut."""
    named = zip(keys.columns, keys.row(row), strict=True)
    return ", ".join(f"{name} = {cut(value_text(value))}" for name, value in named)


def drawing_ranks(values: pl.DataFrame) -> list[Array]:
    """Return for each column the sort ranks of its values, by which random draws are assigned.

    Null comes first (in results it is last); numbers are sorted by value, all else as text, byte by byte.
    """
    columns = (column if column.dtype.is_numeric() else _column_as_text(column) for column in values.iter_columns())
    return [np.nan_to_num(column.rank("dense").to_numpy()) for column in columns]


def _column_as_text(values: pl.Series) -> pl.Series:
    """Return values as text, or as the integers that they are stored as, for sorting."""
    if values.dtype == pl.Duration:
        return values.to_physical()
    if type(values.dtype).__name__ == "Extension":  # as pandas' periods are
        return values.ext.storage()
    if values.dtype == pl.Binary:
        return values.bin.encode("hex")
    if values.dtype.is_nested():
        return pl.Series([None if value is None else str(value) for value in values.to_list()], dtype=pl.String)
    return values.cast(pl.String)


def segments_of(cells: Cells, *, queries: bool = False) -> CellGroups:
    """Find the segments of each system.

    With ``queries`` the cells are queries, and each is a group by itself. Then this only sorts them by system and
    segment; the queries of a segment keep their order.
    """
    columns, order = cells.columns, cells.sort_ranks()
    if not queries:
        return cells.group_by(columns.cell_keys, order)
    return cells.group_by(columns.keys, order | dict.fromkeys(columns.query, np.arange(len(cells.n))))


def groups_of(cells: Cells, margins: bool) -> ResultGroups:
    """Find the segments of each system and, with margins, the totals over them."""
    columns, order = cells.columns, cells.sort_ranks()
    system = [columns.system] if columns.system else []
    totals = [*([[key] for key in columns.by] if len(columns.by) > 1 else []), []] if margins else []
    each = [cells.group_by([*system, *by], order) for by in (columns.by, *totals)]
    if len(each) == 1:
        return ResultGroups(each, None)
    total = np.repeat(np.arange(len(each)), [len(one) for one in each])
    first = np.concatenate([one.first for one in each])
    return ResultGroups(each, np.lexsort((total, *(order[name][first] for name in system))))
