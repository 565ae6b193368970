"""The source of a call: the rows and judgments that were read, at once or in pieces; and the answer made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.protocol import NO_JUDGMENTS, Gathering, Pieces, Request, Schema, SeparateJudgments
from frame_metrics.data.log import Log, WholeLogFacts
from frame_metrics.data.other_spellings import check_leading_zeros
from frame_metrics.data.rank_scores import check_positions
from frame_metrics.data.reading import read_log
from frame_metrics.data.row_map import Origin
from frame_metrics.data.unfolding import Unfolded, type_of_all, unfold
from frame_metrics.errors import ColumnError, FrameMetricsError, check_case, check_names
from frame_metrics.fast.codes import codes
from frame_metrics.hidden import ORDER, ROW_CODE, TIMES
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.keys.index import Index
from frame_metrics.keys.leading_zeros import check_leading_zeros_of_parts
from frame_metrics.keys.spelling import check_positive
from frame_metrics.plan.call import Call
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.resolve import ROW, SYSTEM

TYPES_OF_MADE_KEYS = {ROW: pl.Int64, SYSTEM: pl.String}  # types of key columns that are not in the frame, but made


@record
class Source:
    """The rows that were read for a call, and the separate judgments."""

    call: Call
    table: pl.DataFrame  # the needed columns, a row for each result; empty for a frame in pieces
    judgments: SeparateJudgments  # the frame of ``judge``, in memory, still of the caller's kind
    judgment_columns: Columns | None = None  # of that frame, or of the judgments that were made of ``relevant=``
    unfolded: Unfolded | None = None  # how the rows were made, if those of the frame are not single results
    proxy: Source | None = None  # the same rows with the judgments of a machine, if there are proxies

    def log(self, *, whole_log: WholeLogFacts | None = None, **options: bool) -> Log:
        """Make the log of the rows, and check it if it is whole; the parameters are those of ``read_log``."""
        columns, conventions = self.call.columns, self.call.conventions
        judgments = None if self.judgment_columns is None else self.judgments_as_polars()
        log = read_log(self.table, columns, conventions, judgments, whole_log=whole_log, **options)
        if whole_log is None:
            if judgments is not None:
                check_leading_zeros(log)
            elif columns.system:
                check_leading_zeros_of_parts(log.index, None)
            if columns.system:
                check_shared(log.index)
            if log.spelled:
                check_positive(log.spelled, conventions.positive_text)
            if log.rank_scores:
                check_positions(log.rank_scores)
        return log

    @property
    def type_of_docs(self) -> Any:
        """The type of the column of documents; None without one."""
        doc = self.call.columns.doc
        return self.table[doc].dtype if doc else None

    @property
    def source_of_keys(self) -> Source:
        """The source that key rows of the answer refer to: with ``proxy=`` the machine's, which judged every query."""
        return self.proxy or self

    def judgments_as_polars(self) -> tuple[pl.DataFrame, Columns] | None:
        """Return the separate judgments as polars, and the roles of their columns; None if there are none."""
        if self.judgment_columns is None:
            return None
        unfolded = self.unfolded
        table = (
            self.judgments.read(self.call.to_read) if unfolded is None else unfolded.judgments.read(unfolded.to_read)
        )
        if self.judgment_columns.shape.made:  # the label, where every row is relevant
            table = table.with_columns(pl.lit(1, dtype=pl.Int8).alias(str(self.judgment_columns.label)))
        return table, self.judgment_columns


@record
class InPieces(Source):
    """The source of a call for a frame that is read in pieces: its table is empty."""

    _: KW_ONLY
    pieces: Pieces  # the backend's object that processes or counts the rows piece by piece


ComputeFromSource: TypeAlias = Callable[[Source], Answer]


def answer_of(
    call: Call,
    compute: ComputeFromSource,
    schema: Schema,
    *,
    keys: Sequence[str] = (),
    in_pieces: bool = True,
    by_document: bool = False,
    on_unreadable: Callable[[FrameMetricsError], Answer] | None = None,
) -> Any:
    """Read the columns, compute, and return the answer as a frame of the caller's kind; for a lazy one, a lazy frame.

    Parameters
    ----------
    compute : makes the answer from the rows that were read.
    schema : returns the types of the result, from the types of the columns that are read.
    keys : columns of the frame that come first in the result.
    in_pieces : whether ``compute`` can work on ``InPieces``, a frame that is larger than memory.
    by_document : whether rows without a query are paired by document, so that rows of one document stay together when
        equal rows are counted.
    on_unreadable : returns the answer for an error about the data; None to raise it.
    """

    def read_or_explain(rows: pl.DataFrame | Pieces) -> Answer:
        try:
            return read(rows)
        except FrameMetricsError as error:
            if on_unreadable is None or error.of_call:
                raise
            return on_unreadable(error).of_rows(pl.DataFrame(), NO_JUDGMENTS)

    def read(rows: pl.DataFrame | Pieces) -> Answer:
        judgments = call.judgments_in_memory()
        if isinstance(rows, pl.DataFrame):
            return answer_in_memory(call.with_frames_read(), rows, judgments, compute)
        if call.columns.query:
            # The table has no rows, but types: keys of the judgments are cast to these.
            empty = pl.DataFrame(schema=rows.types(needed))
            source = InPieces(call.with_frames_read(), empty, judgments, call.judgment_columns, pieces=rows)
            if (machine := call.proxy) is not None:
                by_machine, roles = machine.judgments_in_memory(), machine.judgment_columns
                proxy = replace(source, call=machine.with_frames_read(), judgments=by_machine, judgment_columns=roles)
                source = replace(source, proxy=proxy)
            return compute(source).of_rows(source.table, source.source_of_keys.judgments)
        # Rows without a query: equal ones are counted, and computed in memory.
        table, columns = _counted(call, rows, by_document=by_document)
        table = call.plan.backend.as_enums(table, classes)
        times = table[TIMES].to_numpy()
        with Origin(row=None, n=int(times.sum()), times=times).errors():
            return answer_in_memory(replace(call, columns=columns), table, judgments, compute)

    def of_types(types: dict[str, Any]) -> dict[str, Any]:
        types = _types(call, types)
        return {name: types[name] for name in keys} | schema(types)

    needed = call.columns.needed
    classes = [name for name in (call.columns.label, call.columns.predicted) if name in needed]
    check_names([*needed, *call.to_read, *([] if call.proxy is None else call.proxy.to_read)])
    if call.plan.backend.ignores_case and any(key != key.lower() for key in keys):
        check_case(of_types(call.plan.backend.types(needed)))
    run = read if on_unreadable is None else read_or_explain
    return call.plan.backend.answer(Request(needed, run, of_types, call.plan.given.limits, in_pieces, classes))


def read_whole(call: Call) -> Source:
    """Read the columns into memory and return the source, for a second frame, such as a baseline."""
    check_names(call.columns.needed)
    rows = call.plan.backend.in_memory(call.columns.needed).read(call.columns.needed)
    return source_of(call.with_frames_read(), rows, call.judgments_in_memory())


def source_of(call: Call, rows: pl.DataFrame, judgments: SeparateJudgments, *, piece: bool = False) -> Source:
    """Return the source for rows that were read.

    Parameters
    ----------
    rows : the needed columns of the frame.
    piece : whether the rows are a piece of a larger frame.
    """
    proxy, other = None, call.proxy
    if other is not None:
        proxy = source_of(other.with_frames_read(), rows, other.judgments_in_memory(), piece=piece)
    if not call.unfolds:
        return Source(call, rows, judgments, call.judgment_columns, proxy=proxy)
    unfolded = unfold(rows, call.columns, judgments, call.judgment_columns, call.to_read)
    if not piece:
        unfolded.check_flags()
    return Source(call, unfolded.table, judgments, unfolded.judgment_columns, unfolded, proxy)


def judgments_alone(source: Source) -> Source:
    """Return the source for a verb that reads only the separate judgments: a frame in pieces is not read for it."""
    return source_of(source.call, source.table, source.judgments) if isinstance(source, InPieces) else source


def answer_in_memory(
    call: Call, rows: pl.DataFrame, judgments: SeparateJudgments, compute: ComputeFromSource, *, piece: bool = False
) -> Answer:
    """Compute the answer from rows in memory; answers and errors refer to rows of the caller's frame."""
    source = source_of(call, rows, judgments, piece=piece)
    source_of_keys = source.source_of_keys
    if source.unfolded is None:
        answer = compute(source)
    else:
        with source.unfolded.origin.errors():
            answer = compute(source)
    answer = answer if source_of_keys.unfolded is None else source_of_keys.unfolded.folded(answer)
    return answer.of_rows(rows, source_of_keys.judgments)


def _types(call: Call, types: dict[str, Any]) -> dict[str, Any]:
    """Return the types of all columns that may be keys of a result, from the types of the columns that are read."""
    columns = call.columns
    types = types | {name: types[name].inner for name in columns.shape.list_columns if name in types}
    types |= {name: kind for name, kind in TYPES_OF_MADE_KEYS.items() if name in columns.shape.made}
    types |= {columns.shape.stacked_column: type_of_all([types[name] for name in columns.shape.per_system])}
    # A column that the log does not have, or in which it is all null, has the type of the judgments.
    from_judgments = {name: one for name, one in call.judgment_keys.items() if types.get(name, pl.Null) == pl.Null}
    if not from_judgments or not call.judgments_backend:
        return types
    found = call.judgments_backend.types(list(from_judgments.values()))
    return types | {name: found[one] for name, one in from_judgments.items()}


def _counted(call: Call, pieces: Pieces, *, by_document: bool) -> tuple[pl.DataFrame, Columns]:
    """Return the distinct rows of a frame that is not in memory, with their counts, and the roles of the columns."""
    columns = call.columns if by_document else call.columns.changed(doc=None)  # with ids all rows would be distinct
    if by_document and columns.doc and columns.doc not in columns.shape.made:
        merge, types = partial(_merge_documents, columns.doc), pieces.types(columns.needed) | {TIMES: pl.Int64()}
        table = pieces.gathered(Gathering(columns.needed, [columns.doc], merge, types, reduce=merge))
    else:
        table = pieces.counted(columns.needed)
    if columns.count is None:
        return table, columns.changed(count=TIMES)
    if not (table.schema[columns.count].is_numeric() or table.schema[columns.count] == pl.Boolean):
        return table, columns  # an error later, when counts are checked
    return table.with_columns((pl.col(TIMES) * pl.col(columns.count)).alias(columns.count)), columns


def _merge_documents(doc: str, piece: pl.DataFrame) -> pl.DataFrame:
    """Merge documents whose rows are equal but for the id: keep the rows of one, with the number of documents.

    ``doc``: the column of ids; ``piece``: all rows of some documents.
    """
    table = piece.drop(ORDER, strict=False)
    table = table if TIMES in table.columns else table.with_columns(pl.lit(1, pl.Int64).alias(TIMES))
    row_code = codes(table, [name for name in table.columns if name not in (doc, TIMES)])[0]
    by_doc = table.select(doc, TIMES, pl.Series(ROW_CODE, row_code)).group_by(doc, maintain_order=True)
    by_rows = by_doc.agg(pl.col(ROW_CODE).sort(), pl.col(TIMES).first()).group_by(ROW_CODE, maintain_order=True)
    once = by_rows.agg(pl.col(doc).first(), pl.col(TIMES).sum()).drop(ROW_CODE)
    return table.drop(TIMES).join(once, on=doc, nulls_equal=True, maintain_order="left")


def check_shared(index: Index, *, paired: bool = False) -> None:
    """Raise for a system that shares no query with another one: it would be measured on queries that it never had.

    ``paired``: whether systems are compared, so that the queries of all are needed even with ``unanswered="drop"``.
    """
    if index.columns.system and (paired or shares_queries(index.columns, index.conventions)):
        drops = index.conventions.unanswered == "drop"
        check_systems(index.columns, lambda at: index.system_names[at], *index.rankings_of_systems, drops=drops)


def shares_queries(columns: Columns, conventions: Conventions) -> bool:
    """Return True if systems should share queries: not with ``unanswered="drop"``, for means over their own ones."""
    return conventions.unanswered != "drop" or columns.team is not None


def check_systems(
    columns: Columns, name_of: Callable[[int], Any], counts: Array, shared: Array, *, drops: bool = False
) -> None:
    """Raise for a system that shares no query with another one.

    Parameters
    ----------
    columns : the roles of the columns.
    name_of : returns the name of a system, by its code.
    counts, shared : number of each system's rankings, and of those whose query another system has too, (systems,).
    drops : whether ``unanswered="drop"``, for the error.
    """
    alone = np.flatnonzero((counts > 0) & (shared == 0)).tolist()
    alone = [at for at in alone if not columns.team or name_of(at) is not None]  # null: rows of both teams
    if not alone or np.count_nonzero(counts) < 2:
        return
    at, column = alone[0], columns.system
    name, queries = name_of(at), f"{counts[at]} {'query' if counts[at] == 1 else 'queries'}"
    name = name if name is None or isinstance(name, int | float) else str(name)  # a date as it is written
    if columns.team:
        raise ColumnError(
            f"{column}: {name!r} has rows of {queries}, and no other team has any in one of them; in "
            "an interleaved list both have some. If each team has lists of its own, pass "
            f"team=None, arm={column!r} and compare them with ab_test()"
        )
    consequence = "nothing is left to pair" if drops else "each system would be measured on the queries of all"
    raise ColumnError(
        f"{column}: {name!r} has results of {queries}, and no other system has results of any of them; "
        f"{consequence}: pass system=None, arm={column!r} to measure each over "
        "its own queries, and compare them with ab_test(), or two periods with change()"
        + ("" if columns.cluster else "; name users who have queries of several with cluster=")
    )
