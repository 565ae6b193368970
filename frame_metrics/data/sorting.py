"""A block of rankings in rank order: an exact sort of packed scores, and the rule for equal scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.data.blocks import RankingRows, in_double
from frame_metrics.errors import BadRowsError, BadValueError, bad_rows
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import as_grid, sums_between
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import ABSENT, refuse_infinite

WIDE = 1 << 16  # from here on, one sort of indices beats sorting packed values
STRIP = 1 << 16  # rows that are sorted at a time: less is done in the caches of a core, in which a block has no room
SIGN = np.int64(0x7FFFFFFFFFFFFFFF)


@dataclass(frozen=True, eq=False)
class Sorter:
    """Puts the rows of a block of rankings in rank order, those of equal score by the tie rule."""

    rankings: RankingRows
    table: pl.DataFrame  # the checked columns by role
    columns: Columns
    conventions: Conventions

    @cached_property
    def nulls(self) -> bool:
        """True where any score or rank is null."""
        place = next((name for name in ("rank", "score") if name in self.table.columns), None)
        return place is not None and self.table.get_column(place).null_count() > 0

    def sort(self, block: slice | Array, *, alike: bool | None = False) -> Sorted:
        """Sort the rows of some rankings.

        Parameters
        ----------
        alike : whether documents also order those that no metric tells apart; None where no order is looked at, so that
            scores, of which none is null, are checked and no more.
        """
        lengths, at = self.rankings.lengths[block], self.rankings.places(block)
        cells = {name: in_double(values[at]) for name, values in self.rankings.values.items()}
        score, n_ret = -cells["rank"].astype(np.float64) if "rank" in cells else cells.get("score"), lengths
        if score is None:
            return Sorted(cells, lengths, n_ret, None, at, None)
        score = score.astype(np.float64, copy=False)
        if self.nulls and (absent := np.isnan(score)).any():
            score = np.where(absent, -np.inf, score)
            end = lengths.cumsum()
            n_ret = lengths - sums_between(absent, end - lengths, end)
        order, equal = (None, False) if alike is None else rank_order(score, lengths)
        every = order is not None or alike is None or len(score) <= threads.SMALL
        stop = lengths[lengths > 0].cumsum()  # rows in rank order are infinite or NaN at the ends of a ranking only
        looked_at = score if every else score[np.concatenate([[0], stop[:-1], stop - 1])]
        if not (self.nulls or np.isfinite(looked_at).all() or "rank" in self.table.columns):  # else looked at before
            refuse_infinite(self.table["score"], str(self.columns.score), ABSENT)
        sheet = Sorted(cells, lengths, n_ret, order, at, score)
        return self._settled(sheet, bool(alike) and self.conventions.ties == "doc") if equal else sheet

    def _settled(self, sheet: Sorted, alike: bool) -> Sorted:
        """Order the rows of equal score by the tie rule; those that look alike only if ``alike``."""
        tied = sheet.equal_to_next()
        if not tied.any():
            return sheet
        if "rank" in sheet.cells:
            raise self._repeated(sheet.frame_rows(self.rankings, np.flatnonzero(tied) + 1))
        unknown, relevant, worth = self._worth(sheet)
        mixed = (worth[1:] != worth[:-1]) | (unknown[1:] != unknown[:-1]) | (relevant[1:] != relevant[:-1])
        mixed &= tied
        apart = tied & self._apart(sheet)
        if not (mixed.any() or apart.any() or alike):
            return sheet
        tie = np.concatenate([[0], np.cumsum(~tied)])
        sheet = replace(sheet, tied=bool(mixed.any()), apart=bool(apart.any()))
        if self.conventions.ties == "expected":
            return replace(sheet, tie=tie)
        mixed |= apart
        matters = np.zeros(tie[-1] + 1, bool)
        matters[tie[1:][tied if alike else mixed]] = True
        rows = np.flatnonzero(matters[tie])
        if self.conventions.ties in ("worst", "best"):
            sign = 1.0 if self.conventions.ties == "worst" else -1.0
            keys = [unknown[rows], sign * relevant[rows], sign * worth[rows]]
        else:
            keys = [self._by_document(sheet.frame_rows(self.rankings, rows))]
        new = rows[np.lexsort((*keys, tie[rows]))]
        order = np.arange(len(tie)) if sheet.order is None else sheet.order
        settled = order.copy()
        settled[rows] = order[new]
        return replace(sheet, order=settled)

    def _apart(self, sheet: Sorted) -> Array:
        """True for each row but the last that differs from the next in a column that only some metrics read."""
        out = np.zeros(max(int(sheet.lengths.sum()) - 1, 0), bool)
        for name in (*self.columns.extra_names, *(one for one in ("ratio", "document") if one in sheet.cells)):
            value = sheet.ordered(sheet.cells[name])
            out |= (value[1:] != value[:-1]) & ~(np.isnan(value[1:]) & np.isnan(value[:-1]))
        return out

    def _worth(self, sheet: Sorted) -> tuple[Array, Array, Array]:
        """Facts that tell rows of equal score apart: no judgment, relevance, grade; shape (rows,) each."""
        grade, label = sheet.judgments()
        unknown = np.isnan(grade if label is None else label)
        worth = np.where(np.isnan(grade), 0, grade)
        return unknown, (worth >= self.conventions.rel) & ~unknown if label is None else label == 1, worth

    def _repeated(self, rows: Array) -> BadRowsError:
        columns, total = self.columns, len(self.rankings.values["rank"])
        query = ", ".join(map(repr, columns.query))
        ways = [] if columns.system else ["name system= if several systems gave them"]
        ways += [f"say query=[{query}, the session's column] if a query was asked several times"]
        ways += [f"say score= with the negative of {columns.rank} if equal places are meant"]
        what = "repeat a rank of their query"
        return bad_rows(str(columns.rank), rows, total, what, f"a query has each rank once: {', '.join(ways)}")

    def _by_document(self, rows: Array) -> Array:
        """Keys that order tied rows of the frame: their own order, or their documents from the last to the first."""
        if self.conventions.ties != "doc":
            return rows
        doc = self.table["doc"].gather(rows)
        try:
            text = doc.cast(pl.String)
        except pl.exceptions.PolarsError:
            raise BadValueError(
                f"documents of type {doc.dtype} have no text to order equal scores by; say ties='worst' or 'order'"
            ) from None
        return -text.rank("dense").to_numpy().astype(np.int64)


@dataclass(frozen=True, eq=False)
class Sorted:
    """The rows of a block and the order that puts each ranking in rank order."""

    cells: dict[str, Array]  # columns of the rows by name, shape (rows,) each
    lengths: Array  # rows of each ranking, shape (rankings,)
    n_ret: Array  # those of them that were retrieved, shape (rankings,)
    order: Array | None  # the rows in rank order; None where they stand in it
    at: slice | Array  # places of the rows among those of all rankings
    score: Array | None  # what the rows are ordered by; None where nothing orders them
    tied: bool = False  # whether rows of equal score have different judgments
    apart: bool = False  # whether they have different values of columns that only users' metrics read
    tie: Array | None = None  # in either case, where they are to stand in every order, the number of each row's tie

    def ordered(self, values: Array) -> Array:
        """Return values of the block's rows in rank order."""
        return values if self.order is None else values[self.order]

    def column(self, name: str) -> Array | None:
        """Return a column in rank order; None if there is none of this name."""
        return self.ordered(self.cells[name]) if name in self.cells else None

    def equal_to_next(self) -> Array:
        """Return True for each row but the last that was retrieved with the score of the next one of its ranking."""
        score = self.ordered(np.zeros(0) if self.score is None else self.score)
        equal = (score[1:] == score[:-1]) & (score[1:] > -np.inf)
        ends = self.lengths.cumsum()[:-1] - 1
        equal[ends[(ends >= 0) & (ends < len(equal))]] = False
        return equal

    def judgments(self) -> tuple[Array, Array | None]:
        """Return grades and labels in rank order; a label is a grade where there is none."""
        grade, label = self.column("grade"), self.column("label")
        if grade is not None:
            return grade, label
        return np.full(int(self.lengths.sum()), np.nan) if label is None else label, label

    def frame_rows(self, rankings: RankingRows, rows: Array) -> Array:
        """Return rows of the frame for rows in rank order."""
        places = rows if self.order is None else self.order[rows]
        return rankings.rows_of(places + self.at.start if isinstance(self.at, slice) else self.at[places])

    def shown(self) -> Array | None:
        """Return the ranks as they were shown, if any position is missing among them."""
        rank = self.column("rank")
        if rank is None:
            return None
        last = (self.lengths.cumsum() - self.lengths + self.n_ret - 1)[self.n_ret > 0]
        if (rank[last] == self.n_ret[self.n_ret > 0]).all():
            return None
        return np.where(np.isnan(rank), 0, rank).astype(np.int64)


def rank_order(score: Array, lengths: Array) -> tuple[Array | None, bool]:
    """Return the places of a block's rows in rank order, equal scores in any order, and whether some may be equal.

    None for places where no ranking's score rises from one row to the next.
    """
    starts = lengths.cumsum() - lengths
    falls, inner = score[1:] < score[:-1], starts[(starts > 0) & (starts < len(score))]
    falls[inner - 1] = True
    if falls.all() or (falls | (score[1:] == score[:-1])).all():
        return None, not falls.all()
    order, equal = np.empty(len(score), np.int64), False
    step = max(STRIP // int(lengths.max()), 1)
    for some in (slice(a, a + step) for a in range(0, len(lengths), step)):
        start, many = starts[some], lengths[some]
        rows = slice(int(start[0]), int(start[-1] + many[-1]))
        columns, near = _descending(as_grid(score[rows], many, -np.inf))
        columns += start[:, None]
        even = columns.size == rows.stop - rows.start
        order[rows] = columns.ravel() if even else columns[np.arange(columns.shape[1]) < many[:, None]]
        equal |= near
    return order, equal


def _descending(score: Array) -> tuple[Array, bool]:
    """Return for each row of a grid the order of its columns by falling score, and whether some may be equal.

    The score's bits, made to order as integers, give their lowest places to the column, so that sorting values sorts
    columns with them. Where neighbours agree in all that is left of their scores and the scores differ, the row is
    sorted again by comparing.
    """
    n = score.shape[1]
    if n >= WIDE:
        return np.argsort(-score, axis=1), True
    low = np.int64((1 << max(n - 1, 1).bit_length()) - 1)
    key = falling_bits(score)
    key &= ~low
    key |= np.arange(n)
    key.sort(axis=1)
    order = key & low
    key ^= order
    near = np.flatnonzero(key.ravel()[1:] == key.ravel()[:-1])
    near = near[near % n < n - 1] if len(near) else near  # the last of a row is no neighbour of the first of the next
    if not len(near):
        return order, False
    row, column = np.divmod(near, n)
    here = score[row, order[row, column]]
    differ = here != score[row, order[row, column + 1]]
    again = np.unique(row[differ])
    order[again] = np.argsort(-score[again], axis=1, kind="stable")
    return order, bool((differ | (here > -np.inf)).any())


def falling_bits(score: Array) -> Array:
    """Return the bits of scores as integers, which rise as the scores fall; those of -0.0 are those of 0.0."""
    key = (0.0 - score).view(np.int64)
    key ^= (key >> 63) & SIGN
    return key


def scores_of(key: Array) -> Array:
    """Return the scores whose falling bits these are; the bits are overwritten."""
    key ^= (key >> 63) & SIGN
    return 0.0 - key.view(np.float64)
