"""Rows without a query as several systems see them: paired by document, and drawn again together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from frame_metrics.data.blocks import codes
from frame_metrics.data.cases import Cases, number_of
from frame_metrics.data.groups import Segments
from frame_metrics.errors import NotComputableError, bad_rows
from frame_metrics.inputs import Array, Classes, ClassScores, Scores
from frame_metrics.inputs.scores import DrawnScores, drawn_levels
from frame_metrics.roles.columns import OF_ROWS, role_columns
from frame_metrics.stats.resampling import drawn, units_of

OF_DOC = ("actual", *OF_ROWS)  # what systems have to agree about
Drawn = Classes | Scores | ClassScores


@dataclass(frozen=True, eq=False)
class Sides:
    """The same rows of one segment, in the same order, as each of one or two systems sees them."""

    cases: Cases  # of which they are
    rows: list[pl.DataFrame]  # of each system, the columns of ``Cases.rows``
    turned: bool = False  # whether the second one's columns are read first, so that neither is drawn otherwise

    @property
    def n(self) -> int:
        """Number of rows, each as often as it stands for others."""
        return number_of(self._column("count"), None, len(self.rows[0]))

    def _column(self, name: str) -> pl.Series | None:
        return self.rows[0].get_column(name, default=None)

    @cached_property
    def actual(self) -> Array:
        """The number of each row's true class, shape (rows,)."""
        return self.rows[0]["actual"].to_numpy().astype(np.int64)

    @cached_property
    def times(self) -> Array:
        """Number of rows that each one stands for, shape (rows,)."""
        count = self._column("count")
        return np.ones(len(self.actual)) if count is None else count.to_numpy()

    @cached_property
    def each(self) -> Array:
        """The weight of one row of those that each one stands for, shape (rows,)."""
        weight = self._column("each" if self.cases.columns.count else "weight") if self.cases.weighted else None
        return np.ones(len(self.actual)) if weight is None else weight.to_numpy()

    @property
    def found(self) -> int:
        """Number of what may be predicted: classes, or clusters."""
        return self.cases.k if self.cases.clusters is None else len(self.cases.clusters)

    @cached_property
    def predicted(self) -> list[Array]:
        """The number of what each system predicts of each row, ``found`` for nothing, shape (rows,) each."""
        return [rows["predicted"].fill_null(self.found).to_numpy().astype(np.int64) for rows in self.rows]

    @cached_property
    def score(self) -> Array:
        """The scores that each system gives, minus infinity for none, shape (systems, rows)."""
        return np.stack([rows["score"].fill_null(-np.inf).to_numpy() for rows in self.rows])

    def drawn(self, source: type, seen: Sequence[Array], resamples: int, seed: int) -> Iterator[list[Drawn]]:
        """Give what metrics are computed from of each system, for some resamples of the rows, until there are enough.

        Nothing where there are fewer than two rows, or clusters.

        Parameters
        ----------
        source : the input of the metrics: ``Classes``, ``Scores`` or ``ClassScores``.
        seen : the classes that take part for each system, shape (1, K) each.
        """
        held = [self._held(i, source) for i in range(len(self.rows))]
        cluster = self._column("cluster")
        columns = [column for one in (held[::-1] if self.turned else held) for column in one]
        codes_of = None if cluster is None else cluster.to_numpy()
        units = units_of([self.actual, *columns, self.each], self.times, codes_of) if len(self.actual) else None
        if units is None:
            return
        actual, *columns, each = units.columns
        parts = [columns[i : i + len(held[0])] for i in range(0, len(columns), len(held[0]))]
        parts = parts[::-1] if self.turned else parts
        ready = [self._ready(source, actual, part, each, own) for part, own in zip(parts, seen, strict=True)]
        for often in drawn(units, resamples, seed):
            yield [make(often) for make in ready]

    def _held(self, side: int, source: type) -> list[Array]:
        """Columns of the rows that one system gives, as numbers."""
        if source is Classes:
            return [self.predicted[side]]
        if source is Scores:
            return [self.score[side]]
        return [self.rows[side][f"score:{c}"].to_numpy() for c in range(self.cases.k)]

    def _ready(
        self, source: type, actual: Array, held: list[Array], each: Array, seen: Array
    ) -> Callable[[Array], Drawn]:
        """A function that gives the input of metrics by how often each unit is in each resample."""
        shape = self.cases.k, self.found + 1
        if source is Scores:
            order = np.argsort(-held[0], kind="stable")
            score, good = held[0][order], actual[order] == 1
            return lambda often: drawn_levels(score, good, (often * each)[:, order])
        if source is ClassScores:
            own = ClassScores(np.zeros(len(actual), np.int64), actual, np.stack(held, 1), each, 1, seen)
            return lambda often: DrawnScores(own, often)
        cell = (actual * shape[1] + held[0]).astype(np.int64)
        by_cell = np.argsort(cell, kind="stable")
        starts = np.flatnonzero(np.diff(cell[by_cell], prepend=-1))

        def table(often: Array) -> Classes:
            counts = np.zeros((len(often), math.prod(shape)))
            counts[:, cell[by_cell][starts]] = np.add.reduceat((often * each)[:, by_cell], starts, axis=1)
            return Classes(counts.reshape(-1, *shape), np.repeat(seen, len(often), axis=0), apart=self.cases.apart)

        return table


@dataclass(frozen=True, eq=False)
class Paired:
    """The rows of systems, laid out by document within segments."""

    cases: Cases
    systems: Segments  # sorted by name
    segments: Segments
    place: Array  # the row of each document of a segment that each system has, -1 for none, shape (documents, systems)
    segment: Array  # of each document of a segment, shape (documents,)

    @cached_property
    def _by_segment(self) -> list[Array]:
        """The documents of each segment."""
        order = np.argsort(self.segment, kind="stable")
        return np.split(order, np.searchsorted(self.segment[order], np.arange(1, len(self.segments))))

    def sides(self, segment: int, system: int, base: int) -> tuple[Sides, int]:
        """Return the rows of a segment that both systems have, and how many only one of them has."""
        mine, other = self.place[self._by_segment[segment]][:, [system, base]].T
        both = (mine >= 0) & (other >= 0)
        rows = [self.cases.rows[at[both]] for at in (mine, other)]
        alone = self.cases.rows[np.maximum(mine, other)[(mine >= 0) != (other >= 0)]]
        unpaired = number_of(alone.get_column("count", default=None), None, len(alone))
        return Sides(self.cases, rows, turned=system > base), unpaired


def paired_rows(cases: Cases, frame: pl.DataFrame) -> Paired:
    """Pair the rows of systems by document; ``cases`` keep the row of the frame that each is.

    Raises
    ------
    BadRowsError
        A document is missing, or stands twice in a segment of a system, or systems differ in what is true of it.
    """
    columns, rows = cases.columns, cases.rows
    order, cell = cases.cells.in_order(), rows["cell"].to_numpy()
    systems, segments = (cases.cells.apart(keys, order) for keys in ([str(columns.system)], columns.by))
    docs = role_columns(frame, columns, ("doc",))["doc"].gather(rows["row"])
    ids = pl.DataFrame({"doc": docs, "segment": segments.place[cell]})
    code, first = codes(ids, ids.columns)
    system = systems.place[cell]
    _check_once(code * len(systems) + system, cases, frame)
    place = np.full((len(first), len(systems)), -1)
    place[code, system] = np.arange(len(rows))
    if len(rows) and len(systems) > 1 and not ((place >= 0).sum(axis=1) > 1).any():
        raise NotComputableError(
            f"{columns.doc}: no document has rows of two systems, and compare() pairs rows by document; "
            "are its ids those of what the systems decide about?"
        )
    _check_agreement(code, first, cases, frame)
    return Paired(cases, systems, segments, place, segments.place[cell][first])


def _check_once(key: Array, cases: Cases, frame: pl.DataFrame) -> None:
    """Raise for rows that repeat a document of their segment and system."""
    again = ~pl.Series(key).is_first_distinct().to_numpy()
    if again.any():
        at = np.sort(cases.rows["row"].to_numpy()[again])
        what = "repeat a document of their system"
        raise bad_rows(str(cases.columns.doc), at, len(frame), what, "drop them, or name a doc= that tells rows apart")


def _check_agreement(code: Array, first: Array, cases: Cases, frame: pl.DataFrame) -> None:
    """Raise for rows that say something else of their document than another system's."""
    columns, rows = cases.columns, cases.rows
    for name in OF_DOC:
        if name not in rows.columns or (name == "weight" and not columns.weight):
            continue
        values = rows["each" if name == "weight" and columns.count else name].to_numpy()
        wrong = values != values[first][code]
        if wrong.any():
            column = columns.label or columns.grade if name == "actual" else getattr(columns, name)
            at = np.sort(rows["row"].to_numpy()[wrong])
            what = "differ from another row of their document"
            raise bad_rows(str(column), at, len(frame), what, "give each document one value for all systems")
