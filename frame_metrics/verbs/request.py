"""The start of every verb, a request, and the way from the caller's columns to the caller's kind of frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.border.frames import border_of
from frame_metrics.border.pieces import ORDER, TIMES
from frame_metrics.border.protocol import Beside, Border, Limits, Question, Schema
from frame_metrics.data.blocks import codes
from frame_metrics.data.grid import systems_apart
from frame_metrics.data.log import Log, Piece, read_log
from frame_metrics.data.unfolding import Unfolded, type_of_all, unfold
from frame_metrics.errors import BadRowsError, BadValueError, ColumnError, about_rows, check_apart, check_names, kind_of
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions, conventions
from frame_metrics.roles.memory import bytes_of
from frame_metrics.roles.needs import Needs, needs_of, read_by
from frame_metrics.roles.resolve import FOUND, RESULT, ROW, SYSTEM, resolve, resolve_judgments
from frame_metrics.roles.roles import Roles

WORTH = "\0worth"  # how many rows a row that was counted stands for, where each stands for some already
MADE = {ROW: pl.Int64, SYSTEM: pl.String}  # types of key columns that the frame has not


@dataclass(frozen=True, eq=False)
class Request:
    """A frame, the roles of its columns, and the judgments beside it; nothing is read."""

    frame: Any  # the caller's, of any kind
    roles: Roles  # and conventions, as the caller gave them
    judgments: tuple[Any, dict[str, Any]] | None  # a frame of them, and what the caller said of its columns

    @property
    def judged(self) -> bool:
        """True where judgments are kept beside the results: in another frame, or in lists of relevant documents."""
        return self.judgments is not None or self.columns.relevant is not None

    @property
    def of_values(self) -> bool:
        """True where the frame has numbers that were computed elsewhere."""
        return self.roles.get("value") is not None

    @property
    def limits(self) -> Limits:
        """Memory and temporary files that a large frame may use."""
        said = self.roles.get("memory")
        return Limits(None if said is None else bytes_of(said), self.roles.get("temporary"))

    @cached_property
    def border(self) -> Border:
        """The border of the frame."""
        return border_of(self.frame)

    @cached_property
    def beside(self) -> Border | None:
        """The border of the judgments; None where there are none beside the frame."""
        return None if self.judgments is None else border_of(self.judgments[0])

    @cached_property
    def available(self) -> list[Any]:
        """The names of the frame's columns."""
        return self.border.names()

    @cached_property
    def columns(self) -> Columns:
        """The column of every part that is played, whatever is asked."""
        names = None if self.beside is None else self.beside.names()
        border, has = self.border, self.available
        columns = resolve(self.roles, has, judgments=names, hint=border.hint, holds_lists=border.holds_lists)
        if ROW in columns.made and not border.numbered:
            raise ColumnError(f"the rows of a {kind_of(self.frame)} have no numbers; name the queries' column, query=")
        return columns

    @property
    def found(self) -> list[str]:
        """The roles whose columns are found by name; none where the columns cannot be told."""
        try:
            columns = self.columns
        except Exception:  # whatever the frame, its repr is no place for an error
            return []
        played = ((role, getattr(columns, role)) for role in FOUND if role not in self.roles)
        return [role for role, column in played if column and not {*columns.made} & {column, *column}]

    def needs(self, asked: Asked) -> Needs:
        """Return what metrics cannot do without."""
        return needs_of(asked, self.columns, self.roles, self.available, judged=self.judged)

    def plan(self, needs: Needs) -> Plan:
        """Choose the columns that are read, and the conventions; raise for those that do not go together."""
        hint = self.border.hint
        columns = read_by(self.columns, needs, self.roles, self.available, judged=self.judged, hint=hint)
        judged = None
        if self.judgments is not None and self.beside is not None:
            judged = resolve_judgments(self.judgments[1], self.beside.names(), self.roles, columns)
        several = None if self.judgments is None else self.judgments[1]["several"]
        return Plan(self, columns, conventions({**self.roles, "several": several}, columns, judged), judged)


@dataclass(frozen=True, eq=False)
class Plan:
    """The columns that a verb reads, and the conventions it follows."""

    request: Request
    columns: Columns  # which column of the frame is which
    conventions: Conventions
    judged: Columns | None  # which column of the judgments is which, where there are any beside the frame
    also: tuple[str, ...] = ()  # columns of the frame that are read too
    piece: bool = False  # whether the frame is some whole queries of a larger one

    @property
    def to_read(self) -> list[str]:
        """Columns of the judgments that are there: not a label where every row is relevant."""
        if self.judged is None or self.request.judgments is None:
            return []
        every = self.request.judgments[1]["label"] is True
        return [name for name in self.judged.needed if not every or name != self.judged.label]

    def _read_judgments(self) -> Beside:
        """Read the judgments, once: where a plan or a stream is read again, its rows may come in another order."""
        if self.request.beside is None or self.judged is None:
            return Beside(None, {})
        return Beside(self.request.beside.in_memory(self.to_read), self._keys_beside)

    @property
    def _keys_beside(self) -> dict[str, str]:
        """The column of the judgments for each key column of the log that they have."""
        if self.judged is None:
            return {}
        own, theirs = (*self.columns.query, self.columns.doc), (*self.judged.query, self.judged.doc)
        pairs = {name: beside for name, beside in zip(own, theirs, strict=True) if name and beside}
        said = {str(self.columns.cluster): self.judged.cluster} if self.judged.cluster else {}
        return pairs | said | {name: name for name in self.judged.by}

    def answer(
        self,
        compute: Callable[[Reading], Answer],
        schema: Schema,
        unreadable: Callable[[BadRowsError], Answer] | None = None,
        *,
        in_pieces: bool = False,
        documents: bool = False,
    ) -> Any:
        """Read the columns, compute, and return the answer as a frame of the caller's kind; of a lazy one, the plan.

        Parameters
        ----------
        unreadable : what to answer where rows cannot be taken apart; None for an error.
        in_pieces : whether ``compute`` asks for no more than ``measured_of`` and ``cases_read`` give, also of a frame
            that is larger than memory.
        documents : whether rows without a query are paired by document, so that all those of one are counted together.
        """

        def run(table: pl.DataFrame, beside: Beside) -> Answer:
            return self._answered(table, beside, compute, unreadable)

        def of_types(types: dict[str, Any]) -> dict[str, Any]:
            types = types | {name: types[name].inner for name in self.columns.lists if name in types}
            types |= {name: kind for name, kind in MADE.items() if name in self.columns.made}
            types |= {self.columns.together: type_of_all([types[name] for name in self.columns.per_system])}
            # What the log does not have, or has without a type, is of the judgments' type.
            lent = {name: own for name, own in self._keys_beside.items() if types.get(name, pl.Null) == pl.Null}
            found = self.request.beside.types(list(lent.values())) if lent and self.request.beside else {}
            return schema(types | {name: found[own] for name, own in lent.items()})

        def apart(source: Any, beside: Beside) -> tuple[Answer, pl.DataFrame]:
            if self.columns.query:
                reading = Reading(self, pl.DataFrame(), beside, self.judged, source=source)
                return compute(reading), reading.gathered[-1]
            table, columns = self._counted(source, documents=documents)
            try:
                return replace(self, columns=columns)._answered(table, beside, compute, unreadable), table
            except BadRowsError as error:
                raise _of_counted(error, table, self.columns) from None

        if not self.piece:
            check_names([*self.columns.needed, *self.to_read])
        gathers = apart if in_pieces else None
        question = Question(self._read, run, of_types, self._read_judgments, gathers, self.request.limits)
        return self.request.border.answer(question)

    def at_once(self, compute: Callable[[Reading], Any]) -> Any:
        """Read the columns into memory and compute, as ``answer`` does; what is computed is given as it is."""
        check_names(self.columns.needed)
        table = self.request.border.in_memory(self._read).read(self._read)
        return self._answered(table, self._read_judgments(), compute, None)

    @property
    def _read(self) -> list[str]:
        """The columns of the frame that are read."""
        return [*self.columns.needed, *self.also]

    def _answered(
        self,
        table: pl.DataFrame,
        beside: Beside,
        compute: Callable[[Reading], Any],
        unreadable: Callable[[BadRowsError], Answer] | None,
    ) -> Any:
        """Compute from a table that was read, with a row for each result; the parameters are those of ``answer``."""
        if not self._unfolds:
            return compute(Reading(self, table, beside, self.judged))
        try:
            unfolded = unfold(table, self.columns, beside, self.judged, self.to_read)
        except BadRowsError as error:
            if unreadable is None:
                raise
            return unreadable(error)
        if not self.piece:
            unfolded.check_flags()
        with unfolded.rows_of_the_frame():
            answer = compute(Reading(self, unfolded.table, unfolded.beside, unfolded.judged, unfolded))
        return unfolded.folded(answer)

    def _counted(self, source: Any, *, documents: bool) -> tuple[pl.DataFrame, Columns]:
        """The rows that differ of a frame that is not in memory, which have a count, and which column is which."""
        columns = (
            self.columns if documents else replace(self.columns, doc=None)
        )  # which tells rows apart that are alike
        if documents and columns.doc:
            work, types = Documents(columns.doc), source.border.types(columns.needed) | {TIMES: pl.Int64()}
            table = source.gathered(columns.needed, [columns.doc], work, types, together=work)
        else:
            table = source.counted(columns.needed)
        if columns.count is None:
            return table, replace(columns, count=TIMES)
        worth = (pl.col(TIMES) * pl.col(columns.count)).alias(WORTH)
        return table.with_columns(worth), replace(columns, count=WORTH)

    @property
    def _unfolds(self) -> bool:
        """True where rows of the frame, or of the judgments beside it, are not one result, or one judgment, each."""
        beside = self.request.beside
        nested = self.judged is not None and beside is not None and beside.holds_lists(str(self.judged.doc))
        return self.columns.unfolds or nested

    def answer_of_segments(
        self,
        compute: Callable[[Reading], Answer],
        schema: Schema,
        keys: Sequence[str] | None = None,
        *,
        in_pieces: bool = False,
    ) -> Any:
        """Answer with a column for system and segment, or other keys, before those of the schema."""
        own = self.columns.groups if keys is None else keys

        def of_types(types: dict[str, Any]) -> dict[str, Any]:
            return {name: types[name] for name in own} | schema(types)

        return self.answer(compute, of_types, in_pieces=in_pieces)

    def check_pooled(self, result: Sequence[str]) -> None:
        """Raise where pooled rows would not be what the roles say, or a key is called as a column of the result."""
        if self.columns.collection_size or self.conventions.documents is not None:
            raise ColumnError("collection_size=: what is counted here are the rows; say collection_size=None")
        if self.columns.query and self.columns.weight:
            raise ColumnError(
                f"rows are pooled here, and {self.columns.weight} is the weight of a query; say weight=None"
            )
        check_apart(self.columns.keys, result)


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents whose rows are alike but for their id, counted."""

    doc: str  # the column of ids

    def __call__(self, piece: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of one of those that are alike, and for how many documents it stands."""
        table = piece.drop(ORDER, strict=False)
        table = table if TIMES in table.columns else table.with_columns(pl.lit(1, pl.Int64).alias(TIMES))
        row = codes(table, [name for name in table.columns if name not in (self.doc, TIMES)])[0]
        each = table.select(self.doc, TIMES, pl.Series(ORDER, row)).group_by(self.doc, maintain_order=True)
        alike = each.agg(pl.col(ORDER).sort(), pl.col(TIMES).first()).group_by(ORDER, maintain_order=True)
        once = alike.agg(pl.col(self.doc).first(), pl.col(TIMES).sum()).drop(ORDER)
        return table.drop(TIMES).join(once, on=self.doc, nulls_equal=True, maintain_order="left")


@dataclass(frozen=True, eq=False)
class Reading:
    """The tables that were read for a plan."""

    plan: Plan
    table: pl.DataFrame  # the needed columns of the frame, a row for each result
    beside: Beside  # the judgments beside it
    judged: Columns | None = None  # which of their columns is which; None without any
    unfolded: Unfolded | None = None  # where the rows of the frame are others
    source: Any = None  # what gathers or counts pieces of the frame, where the table does not hold it
    gathered: list[pl.DataFrame] = field(default_factory=list)  # from the pieces: what key rows of the answer are of

    def log(
        self,
        *,
        queries: bool = True,
        single: bool = False,
        totals: bool = False,
        arms: bool = False,
        piece: Piece | None = None,
    ) -> Log:
        """Make the log ready; the parameters are those of ``read_log``."""
        columns, conventions, qrels = self.plan.columns, self.plan.conventions, self.qrels()
        log = read_log(
            self.table,
            columns,
            conventions,
            qrels,
            queries=queries,
            single=single,
            totals=totals,
            arms=arms,
            piece=piece,
        )
        if piece is None:
            from frame_metrics.verbs.misread import check_positions, positions  # not before a log is read

            check_shared(log)
            check_positions(positions(log))
        return log

    def qrels(self) -> tuple[pl.DataFrame, Columns] | None:
        """Return the judgments as polars, and which of their columns is which; None without any beside the frame."""
        judged = self.judged
        if judged is None:
            return None
        table = self.beside.read(self.plan.to_read if self.unfolded is None else self.unfolded.to_read)
        if len(table.columns) < len(judged.needed):
            table = table.with_columns(pl.lit(1, dtype=pl.Int8).alias(str(judged.label)))
        return table, judged


def _of_counted(error: BadRowsError, table: pl.DataFrame, columns: Columns) -> BadRowsError:
    """The error about rows that were counted as one about the rows that they stand for."""
    n, column = int(table[TIMES].gather([int(row) for row in error.rows]).sum()), error.column
    column = str(columns.count) if column == WORTH else column
    message = about_rows(column, n, [], int(table[TIMES].sum()), error.what, error.remedy)
    return BadRowsError(message, column=column, what=error.what, remedy=error.remedy)


def check_shared(log: Log) -> None:
    """Raise for a system that shares no query with another: it would be measured on the queries of the others."""
    apart = systems_apart(log.grid) if log.columns.system else np.zeros(0)
    if apart.any():
        system = int(np.argmax(apart > 0))
        name = str(log.keys_at(["system"], log.grid.system_row[[system]])["system"][0])
        column, by = log.columns.system, list(log.columns.by)
        raise ColumnError(
            f"{column}: {name!r} has results of {apart[system]} queries, and no other system has any of one of them; "
            "each system would be measured on the queries of all: say system=None, "
            f"by={[*by, column] if by else column!r} for the mean of each over its own, "
            "or compare(..., paired=False) for their difference"
            + ("" if log.columns.cluster else ", with cluster= for users who have queries of several")
        )


def check_wide(names: Sequence[str], columns: Columns, others: Sequence[str] = RESULT) -> None:
    """Raise if a metric's column, or one beside it, would be called as another one of a wide result is."""
    for i, name in enumerate(names):
        if name in (*columns.keys, *others):
            raise ColumnError(
                f"a column {name!r} for the metric would stand twice in the wide result; rename the frame's column"
            )
        if name in names[:i]:
            raise ColumnError(
                f"a column {name!r} would stand twice in the wide result, for a metric and beside one; "
                "ask for one of the two, or say layout='long'"
            )


def one_of(asked: Asked) -> Asked:
    """Return the one metric that is asked for."""
    if len(asked) > 1:
        raise BadValueError(f"{asked[0][0]!r} and {asked[1][0]!r} are two metrics; name one")
    return asked
