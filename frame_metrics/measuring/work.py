"""The computation for each piece of a frame, and what its table has besides rankings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.polars import PolarsFrame
from frame_metrics.backends.protocol import NO_JUDGMENTS, SeparateJudgments
from frame_metrics.data.log import WholeLogFacts
from frame_metrics.data.row_map import Origin
from frame_metrics.hidden import (
    FLAGS,
    MATCHED,
    ORDER,
    USED,
    ZEROS,
)
from frame_metrics.inputs.records import record
from frame_metrics.keys.leading_zeros import queries_with_other_zeros
from frame_metrics.keys.spelling import are_texts
from frame_metrics.plan.call import Call
from frame_metrics.plan.source import Source, answer_in_memory
from frame_metrics.roles.columns import Columns

TEXT_LISTS = pl.List(pl.List(pl.String))


@record
class PieceWork(ABC):
    """The computation for each piece of a frame; it can be sent to other processes.

    ``__call__`` is what engines call; it calls ``run``, and that ``_answer``, which calls ``answer`` of the subclass.
    """

    call: Call  # without its frames: pieces take their place
    empty: pl.DataFrame  # the columns of a piece, without rows
    judgments: pl.DataFrame | None  # the separate judgments
    systems: pl.Series | None  # all systems, if they have their own rows and are known beforehand; else None
    totals: bool  # see ``read_log``

    @abstractmethod
    def answer(self, source: Source, whole_log: WholeLogFacts, *, ordered: bool) -> Answer:
        """Reduce a piece to a small table.

        Parameters
        ----------
        source : the piece.
        whole_log : facts about the whole log.
        ordered : whether the row numbers of the whole frame are known, so that the answer has them as ``ORDER``.
        """

    @property
    def systems_unknown(self) -> bool:
        """True if systems have rows of their own, and a piece does not know those of other pieces."""
        return self.systems is None and self.call.columns.systems_have_rows

    @property
    def shared(self) -> list[str]:
        """The ``by`` columns that log and judgments both have."""
        columns, judged = self.call.columns, self.call.judgment_columns
        ours = set(columns.by) - set(columns.shape.from_judgments)
        return [] if judged is None else [name for name in columns.by if name in ours & set(judged.by)]

    @property
    def keys(self) -> list[str]:
        """The query columns, by which rows are brought into pieces; none if each row is a query."""
        return [name for name in self.call.columns.query if name not in self.call.columns.shape.made]

    def __call__(self, piece: pl.DataFrame) -> pl.DataFrame:
        """Reduce a piece, which holds whole queries, with the judgments of these queries."""
        if self.judgments is None:
            return self.run(piece, None)
        queries = self.queries_in(piece)
        used, zeros = self.judged_rows(queries), self.other_zeros(queries)
        table = self.run(piece, self.judgments[used])
        facts = pl.Series(USED, [used], dtype=pl.List(pl.Int64)), pl.Series(ZEROS, [zeros], dtype=TEXT_LISTS)
        return table.with_columns(in_first(len(table), fact) for fact in facts)

    def run(self, piece: pl.DataFrame, judgments: pl.DataFrame | None) -> pl.DataFrame:
        """Reduce a piece and some judgments, which must be all judgments of their queries."""
        with Origin(piece[ORDER].to_numpy() if ORDER in piece.columns else None, None).errors():
            answer = answer_in_memory(self.call, piece, self.as_separate(judgments), self._answer, piece=True)
        return PolarsFrame(piece).to_native(answer)

    def as_separate(self, judgments: pl.DataFrame | None) -> SeparateJudgments:
        """Return some of the judgments in the form that a source has."""
        return NO_JUDGMENTS if judgments is None else SeparateJudgments(PolarsFrame(judgments), self.call.judgment_keys)

    def _answer(self, source: Source) -> Answer:
        """Return the answer of the subclass, with facts about lists of relevant documents."""
        systems = self.systems if self.systems is not None else self.call.columns.shape.per_system
        whole_log = WholeLogFacts(len(systems) or None, other_systems=self.systems_unknown)
        answer = self.answer(source, whole_log, ordered=ORDER in source.table.columns)
        if source.unfolded is None or not self.call.columns.relevant:
            return answer
        flags = pl.Series([source.unfolded.flags], dtype=pl.Int64)
        return replace(answer, columns=answer.columns | {FLAGS: flags.new_from_index(0, len(answer.columns[MATCHED]))})

    @property
    def columns(self) -> Columns:
        """The roles of the columns."""
        return self.call.columns

    @property
    def system_names(self) -> pl.Series:
        """The names of all systems, by their numbers."""
        return pl.Series(self.call.columns.shape.per_system) if self.systems is None else self.systems

    def queries_in(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the distinct queries of a table, with numbers as the names of their columns."""
        return table.select(pl.col(name).alias(str(i)) for i, name in enumerate(self.call.columns.query)).unique()

    def judged_rows(self, queries: pl.DataFrame) -> pl.Series:
        """Return the numbers of the rows of the judgments of some queries, as ``queries_in`` returns these."""
        judged = self._judged_queries(queries.schema)
        return judged.join(queries, on=queries.columns, how="semi", maintain_order="left")["at"].cast(pl.Int64)

    def other_zeros(self, queries: pl.DataFrame) -> list[list[str]]:
        """Return the fact ``ZEROS``: the queries of a piece that are judged with other leading zeros only.

        If rows of another piece have the judged query itself, it is another query.

        ``queries``: as ``queries_in`` returns them.
        """
        columns, judgments = self.call.judgment_columns, self.judgments
        if columns is None or judgments is None or not any(are_texts(queries[name]) for name in queries.columns):
            return []
        all_judged = self._judged_queries(queries.schema)
        unjudged = queries.join(all_judged, on=queries.columns, how="anti", maintain_order="left")
        if not len(unjudged):
            return []
        values = [name for name in (columns.grade, columns.label) if name in judgments.columns]
        given = judgments.select(pl.any_horizontal(pl.col(values).is_not_null())).to_series() if values else True
        judged = all_judged.filter(given)
        found = queries_with_other_zeros(unjudged, judged.select(queries.columns))
        if found is None:
            return []
        return [[str(at), *pair] for at, pair in zip(judged["at"].gather(found[0]), found[1], strict=True)]

    def _judged_queries(self, types: pl.Schema) -> pl.DataFrame:
        """Return the query of each row of the judgments, in the types of the log, with the number of the row."""
        columns, judgments = self.call.judgment_columns, self.judgments
        if columns is None or judgments is None:
            return pl.DataFrame(schema={"at": pl.UInt32, **types})
        keys = {str(i): cast_or_null(judgments[name], types[str(i)]) for i, name in enumerate(columns.query)}
        return pl.DataFrame(keys).with_row_index("at")


def cast_or_null(values: pl.Series, kind: Any) -> pl.Series:
    """Cast values to another type; a value that it cannot hold becomes null."""
    try:
        return values.cast(kind, strict=False)
    except pl.exceptions.InvalidOperationError:  # there is no cast between the types
        return pl.Series([None], dtype=kind).new_from_index(0, len(values))


def in_first(n: int, fact: pl.Series) -> pl.Series:
    """Return a column of ``n`` rows with a fact in the first row, and null in the others."""
    return fact.extend_constant(None, max(n - 1, 0)).head(n)
