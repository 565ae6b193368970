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
    table : a row for each group: its key values; before a key "row:", a row of the frame that holds its value.
    n : rows of each group, shape (groups,).
    """

    columns: Columns
    keys: list[str]
    table: pl.DataFrame
    n: Array

    def __len__(self) -> int:
        return len(self.n)

    def place(self, values: pl.DataFrame) -> Array:
        """Return the group that each row of key values belongs to, shape (rows,)."""
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
        """True for each group that is a total, in order, shape (groups,)."""
        return self.order >= len(self.each[0])


def as_text(keys: pl.DataFrame, row: int = 0) -> str:
    """Return the key values of a row as text, which is empty where there is no such row."""
    return ", ".join(str(value) for held in keys[row : row + 1].iter_rows() for value in held)


def segments_of(cases: Cases, *, query: Sequence[str] = ()) -> Segments:
    """Find the segments of pooled rows.

    Parameters
    ----------
    query : more keys, which tell the queries of a segment apart; queries stand as they first appear.
    """
    rows, (system, by) = cases.every, cases.keys
    order = [*system, *by, *(["first"] if query else [])]
    keys = [*system, *by, *query]
    n = (pl.col("counted").sum() if "counted" in rows.columns else pl.len()).alias("n")
    if not keys:
        return Segments(cases.columns, keys, pl.DataFrame(), rows.select(n)["n"].to_numpy().astype(np.int64))
    own = [f"row:{key}" for key in keys if f"row:{key}" in rows.columns]
    marks = [n, pl.col("first").first(), *(pl.col(name).first() for name in own)]
    table = rows.with_row_index("first").group_by(keys).agg(marks).sort(order, nulls_last=True)
    held = [pl.col("first").cast(pl.Int64).alias(f"row:{key}") for key in keys if f"row:{key}" not in own]
    return Segments(cases.columns, keys, table.with_columns(held), table["n"].to_numpy().astype(np.int64))


def groups_of(cases: Cases, margins: bool) -> Groups:
    """Find the segments of pooled rows and, with margins, the totals over them."""
    segments = segments_of(cases)
    if not margins:
        return Groups([segments], np.arange(len(segments)))
    first = np.argsort(segments.table["first"].to_numpy()) if segments.keys else np.zeros(1, np.int64)
    cells = segments.table[first] if segments.keys else segments.table
    return _grouped(cases.columns, cells, segments.n[first], margins)[0]


def groups_of_rankings(log: Log, margins: bool) -> tuple[Groups, list[Array | None]]:
    """Find the segments of each system and, with margins, the totals over them.

    Returns
    -------
    The groups, and for each of their segments the group of each ranking, shape (rankings,): None where no key tells
    them apart.
    """
    groups, places = _grouped(log.columns, cells := _cells(log), np.ones(max(len(cells), 1)), margins)
    cell = log.grid.system * (len(log.grid.segment_row) if log.columns.by else 1) + log.grid.segment
    return groups, [place[cell] if one.keys else None for one, place in zip(groups.each, places, strict=True)]


def _grouped(columns: Columns, cells: pl.DataFrame, n: Array, margins: bool) -> tuple[Groups, list[Array]]:
    """The groups that cells of n rows make, each a segment of a system, and for each list of keys each cell's group.

    Each key column is numbered once, and groups are made of the numbers.
    """
    system, by, _ = key_names(columns)
    code = _places_in_order(cells[[*system, *by]]) if system or by else {}
    totals = [*([[key] for key in by] if len(by) > 1 else []), []] if margins else []
    each, places, system_code = [], [], []
    for keys in ([*system, *own] for own in (by, *totals)):
        first, place = np.zeros(1, np.int64), np.zeros(len(n), np.int64)
        for key in keys:
            _, first, place = np.unique(place * len(n) + code[key], return_index=True, return_inverse=True)
        rows = np.bincount(place, n, minlength=len(first)).astype(np.int64)
        each.append(Segments(columns, keys, cells[first] if keys else pl.DataFrame(), rows))
        places.append(place)
        system_code.append(code["system"][first] if system else first)
    total = np.repeat(np.arange(len(each)), [len(one) for one in each])
    order = np.lexsort((total, np.concatenate(system_code))) if system else np.arange(len(total))
    return Groups(each, order), places


def _places_in_order(keys: pl.DataFrame) -> dict[str, Array]:
    """The place of each value of a column among its distinct ones, sorted, null last."""
    order = {key: pl.col(key).arg_sort(nulls_last=True) for key in keys.columns}
    ordered = {key: pl.col(key).gather(at) for key, at in order.items()}
    changes = [values.ne_missing(values.shift()).alias(f"new:{key}") for key, values in ordered.items()]
    table = keys.select(*(at.alias(key) for key, at in order.items()), *changes)
    out = {}
    for key in keys.columns:
        out[key] = np.empty(len(table), np.int64)
        out[key][table[key].to_numpy()] = np.cumsum(table[f"new:{key}"].to_numpy())
    return out


def _cells(log: Log) -> pl.DataFrame:
    """The key values of every segment of every system, whether it has rankings or not, and the rows that hold them."""
    grid, (system, by, _) = log.grid, key_names(log.columns)
    systems, segments = len(grid.system_row) if system else 1, len(grid.segment_row) if by else 1
    cells: dict[str, pl.Series] = {}
    for keys, rows, code in (
        (system, grid.system_row, np.repeat(np.arange(systems), segments)),
        (by, grid.segment_row, np.tile(np.arange(segments), systems)),
    ):
        if keys:
            at = rows[code]
            cells |= log.keys_at(keys, at).to_dict() | dict.fromkeys(
                (f"row:{key}" for key in keys), pl.Series(log.rows(at))
            )
    return pl.DataFrame(cells)
