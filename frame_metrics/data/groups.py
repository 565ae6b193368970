"""Groups: the segments of each system and the totals over them, of rankings or of pooled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases
from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE
from frame_metrics.roles.columns import Columns, key_names


@dataclass(frozen=True, eq=False)
class Segments:
    """Groups that some key columns tell apart, sorted by their values, nulls last.

    Parameters
    ----------
    columns : which column of the frame is which.
    keys : the key columns that tell them apart, by their inside names; the others are totalled.
    table : a row for each group: its key values; before a key "row:", a row of the frame that holds its value; "n",
        how many rows it has.
    """

    columns: Columns
    keys: list[str]
    table: pl.DataFrame

    def __len__(self) -> int:
        return len(self.table)

    @property
    def n(self) -> Array:
        """Rows of each group, shape (groups,)."""
        return self.table["n"].to_numpy().astype(np.int64)

    def place(self, values: pl.DataFrame) -> Array:
        """Return which group each row of key values belongs to, shape (rows,)."""
        if not self.keys:
            return np.zeros(len(values), np.int64)
        numbered = self.table.select(self.keys).with_row_index("group")
        joined = values.select(self.keys).join(
            numbered, on=self.keys, how="left", nulls_equal=True, maintain_order="left"
        )
        return joined["group"].to_numpy().astype(np.int64)

    def key_rows(self, at: Array | slice = slice(None)) -> dict[str, Array]:
        """Return the key rows of an answer, by the caller's names.

        Parameters
        ----------
        at : the number of the group of each row of the answer.
        """
        system, by, query = key_names(self.columns)
        names = dict(zip((*system, *by, *query), self.columns.keys, strict=True))
        nothing = np.full(len(self), NONE)
        return {
            names[key]: (self.table[f"row:{key}"].to_numpy() if key in self.keys else nothing)[at]
            for key in (*system, *by, *(key for key in query if key in self.keys))
        }

    def text(self, group: int) -> str | None:
        """Return the key values of a group as text; None where no key tells groups apart."""
        return as_text(self.table.select(self.keys), group) if self.keys else None


@dataclass(frozen=True, eq=False)
class Groups:
    """Segments, then the totals over them, and their order in a result.

    Parameters
    ----------
    each : the segments; with margins also those of each of several keys alone, then of none.
    order : the groups of all of them in the order of the result: by system, segments before totals, shape (groups,).
    """

    each: list[Segments]
    order: Array

    def key_rows(self) -> dict[str, Array]:
        """Return the key rows of an answer that has a row for each group, in order."""
        rows = [segments.key_rows() for segments in self.each]
        return {name: np.concatenate([one[name] for one in rows])[self.order] for name in rows[0]}

    @property
    def total(self) -> Array:
        """Whether each group is a total, in order, shape (groups,)."""
        return self.order >= len(self.each[0])


def as_text(keys: pl.DataFrame, row: int = 0) -> str:
    """Return the key values of a row as text, which is empty where there is no such row."""
    return ", ".join(str(value) for held in keys[row : row + 1].iter_rows() for value in held)


def find_segments(columns: Columns, rows: pl.DataFrame, keys: list[str], *, query: Sequence[str] = ()) -> Segments:
    """Find the groups that some key columns make.

    Parameters
    ----------
    rows : key columns by their inside names; "row:" before a key, where another row of the frame holds its value;
        "counted", where not all rows count.
    query : more keys, which tell the queries of a segment apart; queries stand as they first appear.
    """
    order = [*keys, *(["first"] if query else [])]
    keys = [*keys, *query]
    n = (pl.col("counted").sum() if "counted" in rows.columns else pl.len()).alias("n")
    if not keys:
        return Segments(columns, keys, rows.select(n))
    own = [f"row:{key}" for key in keys if f"row:{key}" in rows.columns]
    marks = [n, pl.col("first").first(), *(pl.col(name).first() for name in own)]
    table = rows.with_row_index("first").group_by(keys).agg(marks).sort(order, nulls_last=True)
    held = [pl.col("first").cast(pl.Int64).alias(f"row:{key}") for key in keys if f"row:{key}" not in own]
    return Segments(columns, keys, table.with_columns(held) if held else table)


def segments_of(cases: Cases, *, query: Sequence[str] = ()) -> Segments:
    """Find the segments of pooled rows; their queries, where columns tell these apart."""
    system, by = cases.keys
    return find_segments(cases.columns, cases.every, [*system, *by], query=query)


def groups_of(cases: Cases, margins: bool) -> Groups:
    """Find the segments of pooled rows and, if so asked, the totals over them."""
    told_apart = _told_apart(cases.columns, margins)
    return _in_order([find_segments(cases.columns, cases.every, keys) for keys in told_apart])


def groups_of_rankings(log: Log, margins: bool) -> tuple[Groups, list[Array | None]]:
    """Find the segments of each system and, if so asked, the totals over them.

    Returns
    -------
    The groups, and for each of their segments the group of each ranking, shape (rankings,): None where no key tells
    them apart.
    """
    cells, each, places = _cells(log), [], []
    cell = log.grid.system * (len(log.grid.segment_row) if log.columns.by else 1) + log.grid.segment
    for keys in _told_apart(log.columns, margins):
        segments = find_segments(log.columns, cells, keys)
        each.append(segments)
        if len(segments) == len(cells) and keys:  # each stands alone, so that their order says it without a join
            places.append(np.argsort(segments.table["first"].to_numpy())[cell])
        else:
            places.append(segments.place(cells)[cell] if keys else None)
    return _in_order(each), places


def _cells(log: Log) -> pl.DataFrame:
    """The key values of every segment of every system, whether it has rankings or not, and the rows that hold them."""
    grid, (system, by, _) = log.grid, key_names(log.columns)
    systems, segments = len(grid.system_row) if system else 1, len(grid.segment_row) if by else 1
    cells = []
    for keys, rows, code in (
        (system, grid.system_row, np.repeat(np.arange(systems), segments)),
        (by, grid.segment_row, np.tile(np.arange(segments), systems)),
    ):
        if keys:
            at = rows[code]
            held = pl.Series(log.rows(at))
            cells.append(log.keys_at(keys, at).with_columns(held.alias(f"row:{key}") for key in keys))
    return pl.concat(cells, how="horizontal") if cells else pl.DataFrame()


def _told_apart(columns: Columns, margins: bool) -> list[list[str]]:
    """The keys that tell groups apart: those of system and segment, then those of each total."""
    system, by, _ = key_names(columns)
    totals = [*([[key] for key in by] if len(by) > 1 else []), []] if margins else []
    return [[*system, *keys] for keys in (by, *totals)]


def _in_order(each: list[Segments]) -> Groups:
    """Order groups by system, segments before totals."""
    if len(each) == 1:
        return Groups(each, np.arange(len(each[0])))
    order = [*key_names(each[0].columns)[0], "total", "at"]
    at = pl.int_range(pl.len())
    rows = pl.concat(one.table.with_columns(at=at, total=pl.lit(i)).select(order) for i, one in enumerate(each))
    return Groups(each, rows.with_row_index("row").sort(order, nulls_last=True, maintain_order=True)["row"].to_numpy())
