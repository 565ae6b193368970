"""A log that is ready: its rankings, block by block, what is said of their queries, and the way back to its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.answer import NOTHING, frame_of
from frame_metrics.data import blocks
from frame_metrics.data.grid import Grid
from frame_metrics.data.groups import Cells, drawing_places
from frame_metrics.data.judgments import Judged
from frame_metrics.data.origin import Origin
from frame_metrics.data.sorting import Sorted, Sorter
from frame_metrics.errors import BadRowsError, BadValueError, FrameMetricsError, bad_rows
from frame_metrics.inputs import Array, Pool, Ranking
from frame_metrics.inputs.rows import NONE
from frame_metrics.roles.columns import EXTRA, Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import largest_grade


@dataclass(frozen=True, eq=False)
class Log:
    """A log read and checked, its rankings found, its judgments joined."""

    table: pl.DataFrame  # the checked columns by role
    columns: Columns
    conventions: Conventions
    judgment_name: str  # what the caller calls the column of grades, or of labels where there are none
    grid: Grid  # the rankings to measure
    judged: Judged | None = None  # the judgments, where they are kept beside
    origin: Origin | None = None  # the rows of the caller's frame; None where they are the same
    repeated: str | None = None  # the query of the first repeated document that was left out
    # Past the rows of the table, one for each query without results, with what is said of it.
    bare: pl.DataFrame = field(default_factory=pl.DataFrame)
    # True for rankings of whose query the caller says what is relevant, which may be nothing, as an empty list does;
    # None where only judgments say it.
    relevance_known: Array | None = None
    # The key columns that the judgments had, where those stood beside the pieces of which this log was put together.
    judged_keys: Sequence[str] = ()
    held: pl.DataFrame | None = None  # the table whose rows key rows are; None for the caller's frame

    @cached_property
    def judgments(self) -> pl.DataFrame:
        """The table that grades and labels come from; where each system is a column, all have those of the first."""
        if self.judged is not None:
            return self.judged.pairs
        systems = len(self.columns.per_system)
        return self.table.head(len(self.table) // systems) if systems else self.table

    @property
    def systems(self) -> pl.Series:
        """The systems by their numbers; those that a piece does not have are not among them."""
        rows = self.grid.system_row
        return self.keys_at(["system"], rows[rows != NONE])["system"] if self.columns.system else pl.Series([])

    @property
    def n_rows(self) -> int:
        """Rows of the log, with those that stand for queries without results."""
        return len(self.table) + len(self.bare)

    @property
    def judges_itself(self) -> bool:
        """True where grades and labels stand in the log, and not in a table of their own."""
        return bool(self.columns.grade or self.columns.label)

    @cached_property
    def top_grade(self) -> float:
        """The largest grade, NaN if there is none."""
        return largest_grade(self.judgments["grade"]) if "grade" in self.judgments.columns else np.nan

    @cached_property
    def graded(self) -> bool:
        """True where some grade is positive and is not 1."""
        grade = self.judgments.get_column("grade", default=pl.Series([0]))
        return bool(((grade > 0) & (grade != 1)).any())

    @cached_property
    def known_relevant(self) -> Array | None:
        """Relevant documents of each ranking's query, where a column counts them."""
        values = self.grid.rankings.values
        return self.grid.amounts("n_relevant", str(self.columns.n_relevant)) if "n_relevant" in values else None

    def of_queries(self, role: str) -> Array | None:
        """The value for each ranking's query, by the log or else the judgments; None for a role that is not named."""
        column = getattr(self.columns, role)
        if column is None or (values := self.said_of_queries(role)) is None:
            return None
        left_out = column in self.columns.from_judgments and self.conventions.unjudged_queries is None
        if left_out and self.grid.pool is not None:
            values = np.where(self.grid.pool.lengths > 0, values, 0)  # a query without judgments is in no mean
        if (lacking := np.isnan(values)).any():
            raise BadValueError(
                f"{column}: {len(np.unique(self.grid.pair[lacking]))} judged queries without results have no {role}; "
                f"give the judgments a column {column!r} too"
            )
        return values

    def said_of_queries(self, role: str) -> Array | None:
        """The same, NaN where neither log nor judgments say it."""
        column, grid = getattr(self.columns, role), self.grid
        if column is None:
            return None
        ours = np.full(len(grid.pair), np.nan)
        if column not in self.columns.from_judgments:
            with self.rows_of_the_frame():
                ours = grid.amounts(role, column)
        if (theirs := self._said_by_judgments(role)) is not None:
            if (~np.isnan(ours) & ~np.isnan(theirs) & (ours != theirs)).any():
                raise BadValueError(f"{column}: log and judgments differ in the value of a query; give each query one")
            return np.where(np.isnan(ours), theirs, ours)
        return ours

    @property
    def sampling(self) -> Array | None:
        """The chance with which each ranking's query was drawn for people, NaN where none is said; None without."""
        return self.grid.rankings.said.get("sampling") if self.judged is None else self._said_by_judgments("sampling")

    def _said_by_judgments(self, role: str) -> Array | None:
        """The value for each ranking's query, NaN where judgments have none; None where they have no such column."""
        if self.judged is None or role not in self.judged.names.columns:
            return None
        keys = self.judged.keys
        said = self.joined(self.judged.names.select(*keys, role), keys)[role]
        return said.cast(pl.Float64).fill_null(np.nan).to_numpy()

    def joined(self, table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        """Return the row of a table for each ranking by keys of its segment and query, nulls where it has none."""
        return self.keys_of(keys).join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")

    def keys_of(self, names: Sequence[str], at: Array | slice = slice(None)) -> pl.DataFrame:
        """Return the key values of some rankings, by the inside names of the columns."""
        grid, held = self.grid, dict[str, pl.Series]()
        numbers = (grid.system, grid.system_row), (grid.segment, grid.segment_row), (grid.query, grid.query_row)
        for own, (code, row) in zip(self.columns.key_names, numbers, strict=True):
            if some := [name for name in own if name in names]:
                held |= self.keys_at(some, row[code[at]]).to_dict()
        return frame_of({name: held[name] for name in names})

    def sizes(self, block: slice | Array) -> Array | None:
        """Documents in the collection, for the rankings of a block; NaN where neither log nor judgments say it."""
        if self.conventions.documents is not None:
            return np.full(len(self.grid.pair[block]), self.conventions.documents)
        return None if self._sizes is None else self._sizes[block]

    @cached_property
    def _sizes(self) -> Array | None:
        """Documents in the collection of each ranking's query: as a column says, or the most that a system lists."""
        grid = self.grid
        if self.conventions.collection_size is not True:
            return self.said_of_queries("collection_size")
        most = np.zeros(grid.n_pairs)
        np.maximum.at(most, grid.pair, grid.rankings.lengths)
        return most[grid.pair]

    @cached_property
    def cells(self) -> Cells:
        """Every segment of every system, whether it has rankings or not."""
        grid, columns = self.grid, self.columns
        if not columns.groups:
            return Cells(columns, NOTHING, {}, np.array([len(grid.pair)]), held=self.held)
        systems, segments = len(grid.system_row) if columns.system else 1, len(grid.segment_row) if columns.by else 1
        system, segment = np.divmod(np.arange(systems * segments), segments)
        cells = self.cells_at(system, segment, None, np.bincount(grid.cell, minlength=len(system)))
        return cells if self.placed is None else replace(cells, unknown=self.unknown, placed=self.placed[segment])

    @cached_property
    def placed(self) -> Array | None:
        """True for segments whose values are all known, shape (segments,); None where those of all are."""
        grid = self.grid
        if not set(self.columns.by) & set(self.columns.from_judgments) or self.judged is None:
            return grid.placed
        # What the judgments say of a query nobody knows of one without judgments.
        known = 0 if grid.pool is None else grid.pool.lengths > 0
        mine = np.bincount(grid.segment, known, minlength=len(grid.segment_row)) > 0
        return mine if grid.placed is None else grid.placed & mine

    @property
    def unknown(self) -> list[str]:
        """The columns of segments whose value is known of some only: those that the log or the judgments have alone."""
        by = self.columns.key_names[1]
        theirs = self.judged_keys if self.judged is None else self.judged.keys
        return [
            name
            for name, key in zip(self.columns.by, by, strict=True)
            if key not in theirs or name in self.columns.from_judgments
        ]

    def cells_at(self, system: Array, segment: Array, query: Array | None, n: Array) -> Cells:
        """Return cells by the numbers of their systems, segments and queries, with their numbers of rows."""
        grid, columns, (system_key, by, _) = self.grid, self.columns, self.columns.key_names
        parts = ((system_key, grid.system_row, system), (by, grid.segment_row, segment))
        values = [held for names, rows, at in parts if names for held in self.keys_at(names, rows[at])]
        rows = self.key_rows(system=system, segment=segment, query=query)
        return Cells(columns, frame_of(dict(zip(columns.groups, values, strict=True))), rows, n, held=self.held)

    def drawing_order(self, some: Array) -> Array:
        """Return the order in which some rankings are drawn: by query, then segment, whatever the order of the rows.

        Parameters
        ----------
        some : whether each ranking is one of them, shape (rankings,).
        """
        grid, (_, by, query) = self.grid, self.columns.key_names
        places = [place[grid.query[some]] for place in drawing_places(self.keys_at(query, grid.query_row))]
        if by:
            places += [place[grid.segment[some]] for place in drawing_places(self.keys_at(by, grid.segment_row))]
        return np.lexsort(places[::-1])

    @cached_property
    def sorter(self) -> Sorter:
        """Puts the rows of rankings in order."""
        return Sorter(self.grid.rankings, self.table, self.columns, self.conventions)

    def each_block(self, work: Callable[[Block], None], *, busy: bool = False, alike: bool | None = False) -> None:
        """Call ``work`` with blocks of all rankings, side by side.

        Parameters
        ----------
        busy : whether a ranking keeps ``work`` the busier, the more of its rows are relevant.
        alike : see ``Sorter.sort``.

        Raises
        ------
        BadRowsError
            Values are bad that show in rank order only; with such rows of every block, by their rows of the caller's
            frame. Other errors come after it, that of the first ranking before others.
        """
        broken: list[BadRowsError] = []
        other: dict[int, FrameMetricsError] = {}

        def tried(at: slice | Array) -> None:
            block, first = Block(self, at, alike), at.start if isinstance(at, slice) else int(at[0])
            try:
                _ = block.rows
                if not broken and first < min(other, default=len(self.grid.pair)):
                    work(block)
            except BadRowsError as error:
                broken.append(error)
            except FrameMetricsError as error:
                other[first] = error

        blocks.each_block(self._load() if busy and len(self.table) > threads.SMALL else self.grid.size, tried)
        if broken:
            with self.rows_of_the_frame():
                raise _of_all(broken, len(self.table))
        if other:
            raise other[min(other)]

    def _load(self) -> Array:
        """Rows that each ranking keeps busy: its own, and as many more as are likely to be relevant."""
        values = self.grid.rankings.values
        sample = values.get("label", values.get("grade", np.zeros(0)))[: 1 << 14]
        share = np.count_nonzero(sample > 0) / max(len(sample), 1)
        return (self.grid.size * (1 if share < 0.25 else 1 + share)).astype(np.int64)

    def keys_at(self, keys: list[str], rows: Array) -> pl.DataFrame:
        """Return key values at rows of the log, or of the judgments past its end."""
        n, own = self.n_rows, self.table[keys]
        if len(self.bare):
            own = pl.concat([own, self.bare.select(keys)])
        if self.judged is None or not (rows >= n).any():
            return own[rows]
        place = n + np.searchsorted(self.judged.row, np.maximum(rows - n, 0))
        names = self.judged.names
        unknown = (pl.lit(None, own.schema[key]).alias(key) for key in keys if key not in names.columns)
        both = pl.concat([own, names.with_columns(unknown).select(keys)])
        return both[np.where(rows < n, rows, place)]

    def rows(self, at: Array) -> Array:
        """Return rows of the caller's frame, or of the judgments past its end."""
        return at if self.origin is None else self.origin.rows(at)

    def rows_of_the_frame(self) -> AbstractContextManager[None]:
        """Let errors about rows name those of the caller's frame."""
        return nullcontext() if self.origin is None else self.origin.errors()

    def key_rows(
        self, *, system: Array | None = None, segment: Array | None = None, query: Array | None = None
    ) -> dict[str, Array]:
        """Return the key rows of an answer, by the caller's names, from the numbers of each row's keys, where given."""
        columns, grid = self.columns, self.grid
        held: dict[str, Array] = {}
        for names, code, rows in (
            ((columns.system,) if columns.system else (), system, grid.system_row),
            (columns.by, segment, grid.segment_row),
            (columns.query, query, grid.query_row),
        ):
            if names and code is not None:
                beside = columns.from_judgments
                held |= {name: self.rows(self._beside(name) if name in beside else rows)[code] for name in names}
        return held

    def _beside(self, name: str) -> Array:
        """Row of the judgments, past the log's end, that holds each segment's value of a column that only they have."""
        inside = self.columns.key_names[1][self.columns.by.index(name)]
        mine = self.keys_at([inside], self.grid.segment_row)
        if self.judged is None or not len(mine):
            return self.grid.segment_row
        theirs = self.judged.names.select(inside, at=pl.Series(self.judged.row)).unique(inside, keep="first")
        at = mine.join(theirs, on=inside, how="left", nulls_equal=True, maintain_order="left")["at"]
        return (at + self.n_rows).fill_null(NONE).to_numpy()


@dataclass(frozen=True)
class Piece:
    """Facts of a whole log where some of its queries, with all of their rows, are worked on."""

    systems: int | None  # how many there are; None where each has a column, none is named, or it is not known
    more: bool = False  # whether there may be others than those here, for which one stands that has no rows


@dataclass(frozen=True, eq=False)
class Block:
    """Some rankings of a log, which are worked on together."""

    log: Log
    at: slice | Array  # which of its rankings
    alike: bool | None = False  # see ``Sorter.sort``

    @cached_property
    def rows(self) -> Sorted:
        """The rows, in rank order; raises for scores and ranks that cannot be ordered."""
        return self.log.sorter.sort(self.at, alike=self.alike)

    def ranking(self, *, scored: bool = False) -> Ranking:
        """Return the rankings as kernels read them, with scores if ``scored``, at the log's level of relevance."""
        log, rows, threshold = self.log, self.rows, self.log.conventions.threshold
        grade, label = rows.judgments()
        score = rows.column("score") if scored or threshold is not None else None
        decision = rows.column("predicted")  # where each row has a threshold, they have been compared
        if isinstance(threshold, int | float) and score is not None:
            decision = score >= threshold
        known = log.known_relevant
        return Ranking(
            grade,
            rows.lengths,
            rows.n_ret,
            rel=log.conventions.rel,
            label=label,
            shown=rows.shown(),
            pool=self._pool(label),
            known_relevant=None if known is None else known[self.at],
            size=log.sizes(self.at),
            decision=decision,
            score=score,
            tie=rows.tie,
            extra={name.removeprefix(EXTRA): rows.ordered(rows.cells[name]) for name in log.columns.extra_names},
            relevance_known=None if log.relevance_known is None else log.relevance_known[self.at],
            ratio=rows.column("ratio"),
            clip=log.conventions.clip,
            document=rows.column("document"),
            subtopics=None if log.judged is None else log.judged.subtopics,
        )

    def _pool(self, label: Array | None) -> Pool | None:
        """The judged documents; where all that is relevant is listed, the other results are judged too.

        Where systems have rows of their own, the results of all are among the judgments already.
        """
        log = self.log
        pool = None if log.grid.pool is None else log.grid.pool.of(self.at)
        if pool is None or label is None or not log.columns.relevant or log.columns.own_rows:
            return pool
        lengths = self.rows.lengths
        return pool.with_others(np.repeat(np.arange(len(lengths)), lengths)[label == 0])


def _of_all(broken: list[BadRowsError], total: int) -> BadRowsError:
    """Return the error that blocks have in common, with the rows of all."""
    first = min(broken, key=lambda error: error.what)
    odd = np.zeros(total, bool)
    for error in broken:
        odd[error.rows] |= error.what == first.what
    return bad_rows(first.column, np.flatnonzero(odd), total, first.what, first.remedy)
