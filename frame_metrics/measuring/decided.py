"""Read rows that are decided about (cases): of a frame in memory, or of a log in pieces, with equal ones merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import UNNAMED, Cases, cases_of, ranked_rows, read_cases
from frame_metrics.data.classes import class_type, two_classes
from frame_metrics.data.log import WholeLogFacts
from frame_metrics.data.misread import check_positive_in, check_relevant
from frame_metrics.data.rank_scores import check_positions, positions_in
from frame_metrics.errors import ColumnError, quote
from frame_metrics.fast.codes import codes
from frame_metrics.hidden import ORDER, SEGMENT_KNOWN, SYSTEM_NUMBER, TIMES
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.groups import Cells
from frame_metrics.measuring.indexed import conventions_of, with_systems
from frame_metrics.measuring.pieces import (
    check_relevant_of_pieces,
    check_shared_of_pieces,
    counts_of_systems,
    fact_columns,
    gather,
    key_rows,
    system_numbers,
    work_of,
)
from frame_metrics.measuring.work import PieceWork
from frame_metrics.plan.call import Call
from frame_metrics.plan.source import InPieces, Source

CLASSES = {"class", "predicted", "matched", "actual"}  # columns of results that hold classes
CASE = ("actual", "predicted", "score")  # columns of a case; cases with equal values are counted together


@record
class Counting(PieceWork):
    """The distinct cases of a piece, with their counts.

    There is also a row with the count 0 for each cell (for each system, if cases are counted by query). It keeps
    systems and segments without cases in the result.
    """

    queries: bool = False  # whether cases are counted by query, not only by segment
    ranks: bool = False  # whether the score is minus the rank
    unjudged: bool = False  # whether unjudged rows keep a null as their true class

    def answer(self, source: Source, whole_log: WholeLogFacts, *, ordered: bool) -> Answer:
        log = source.log(keep_row_numbers=True, totals=self.totals, whole_log=whole_log)
        grid, rows = log.grid, ranked_rows(log, ranks=self.ranks, unjudged=self.unjudged)
        ranking = rows["cell"].to_numpy()
        cell = ranking if self.queries else log.index.cell[ranking]
        rows = rows.select(pl.Series("cell", cell), *(name for name in CASE if name in rows.columns))
        rows = rows.group_by(pl.all(), maintain_order=True).len(TIMES).cast({TIMES: pl.Int64})
        # The rows with the count 0.
        segments = len(grid.segment_row)
        cells = np.unique(grid.system, return_index=True)[1] if self.queries else np.unique(log.index.cell)
        without_cases = pl.DataFrame({"cell": cells, TIMES: 0}, schema_overrides={TIMES: pl.Int64})
        rows = pl.concat([rows, without_cases.cast({"cell": rows.schema["cell"]})], how="diagonal")
        if self.queries:
            rows = rows[np.argsort(grid.query[rows["cell"].to_numpy()], kind="stable")]
        cell = rows["cell"].to_numpy()
        system, segment = (grid.system[cell], grid.segment[cell]) if self.queries else divmod(cell, max(segments, 1))
        query = grid.query[cell] if self.queries else None
        keys = key_rows(log.index, segment, query)
        if ordered and query is not None:
            row = grid.query_row[query]
            keys[ORDER] = np.where(row < log.n_rows, log.rows(row), NONE)
        which = {
            SYSTEM_NUMBER: system_numbers(log.index, self.systems)[system],
            SEGMENT_KNOWN: log.index.known_at(segment),
        }
        out = {name: pl.Series(values) for name, values in which.items()} | counts_of_systems(log, system)
        return Answer(keys, out | rows.drop("cell").to_dict() | fact_columns(log, len(rows), self))


def cases_read(
    source: Source,
    *,
    named: bool = False,
    queries: bool = False,
    totals: bool = False,
    ranks: bool = False,
    unjudged: bool = False,
    only_correctness: Callable[[], bool] = lambda: False,
) -> Cases:
    """Read the cases of a source: the rows of a frame without a query, or the documents of judged queries.

    Parameters
    ----------
    named : whether the result shows the values of the classes.
    queries : whether the result has rows of single queries.
    totals : whether the result has totals, if there are queries; see ``read_log``.
    ranks : whether the score of a document is minus its rank.
    unjudged : whether unjudged rows keep a null as their true class, where there are two classes.
    only_correctness : called only if there are too many classes for a table, see ``read_cases``.
    """
    columns, conventions = source.call.columns, source.call.conventions
    if not columns.query:
        return read_cases(
            source.table, columns, conventions, named=named, unjudged=unjudged, only_correctness=only_correctness
        )
    if isinstance(source, InPieces):
        types = source.pieces.types(columns.needed)
        table = pl.DataFrame(schema=types | {name: types[name].inner for name in columns.shape.list_columns})
        cases = cases_in_pieces(source, queries=queries, totals=totals, ranks=ranks, unjudged=unjudged)
    else:
        log = source.log(keep_row_numbers=True, totals=totals)
        check_relevant(log)
        table, cases = source.table, cases_of(log, queries=queries, ranks=ranks, unjudged=unjudged)
    return replace(cases, classes=two_classes(table, columns, conventions)) if named else cases


def binary_read(source: Source, **asked: Any) -> Cases:
    """Read cases of two classes; raise if there are several. The parameters are those of ``cases_read``."""
    cases = cases_read(source, **asked)
    if not cases.binary:
        named = source.call.columns.class_scores
        way = f"pass score={quote(named[0][1])}, positive={quote(named[0][0])}" if named else "name it with positive="
        raise ColumnError(f"there are several classes, and a threshold separates one from the rest; {way}")
    return cases


def cases_in_pieces(source: InPieces, kind: type[Counting] = Counting, **asked: bool) -> Cases:
    """Return the cases of a log in pieces: a row for each distinct case, with its count.

    Parameters
    ----------
    source : the log.
    kind : the work on each piece.
    asked : parameters of ``cases_read``.
    """
    work = work_of(kind, source, **asked)
    columns = work.columns
    names = [*columns.by, *(columns.query if work.queries else ())]
    table, work = gather(work, source)
    if kind is Counting:  # not for an audit, which reports these faults instead of raising
        check_shared_of_pieces(table, work)
        check_positive_in(table, work.call.conventions.positive_text)
        check_positions(positions_in(table, columns))
        check_relevant_of_pieces(table, work)
    table = table.filter(pl.col(TIMES) > 0) if work.queries else table
    conventions, order = conventions_of(work, table), [pl.min(ORDER)] if ORDER in table.columns else []
    case = [name for name in CASE if name in table.columns]
    # Add up equal cases of all pieces, and number the systems in the order of the rows.
    table = table.group_by(SYSTEM_NUMBER, SEGMENT_KNOWN, *names, *case, maintain_order=True).agg(pl.sum(TIMES), *order)
    by = [ORDER] if order else names[len(columns.by) :]
    table = with_systems(table.sort(by, nulls_last=True, maintain_order=True) if by else table, work)
    # The cells, and the rows with their counts as weights.
    cell, first = codes(table, [SYSTEM_NUMBER, SEGMENT_KNOWN, *names])
    n = np.bincount(cell, table[TIMES].to_numpy(), minlength=len(first)).astype(np.int64)
    values = table[first].select(columns.cell_keys)
    segment_known = table[SEGMENT_KNOWN].to_numpy()[first]
    unknown = [name for name in columns.by if work.call.judgment_columns is None or name not in work.shared]
    keys = dict.fromkeys((*columns.cell_keys, *names), first)
    cells = Cells(columns, values, keys, n, unknown, None if segment_known.all() else segment_known, table)
    count = table[TIMES].cast(pl.Float64)
    rows = table.select(pl.Series("cell", cell), *case, count=count, weight=count).filter(pl.col("count") > 0)
    return Cases(rows, cells, columns.changed(count=TIMES), conventions, UNNAMED, None, True)


def in_caller_type(answer: Answer, source: Source) -> Answer:
    """Return an answer that tells the backend which caller's columns its classes come from, to restore their type."""
    columns, types, caller_columns = source.call.columns, source.table.schema, {}
    for name in CLASSES & answer.columns.keys() if source.unfolded is None else ():
        sides = [str(side) for side in (columns.label, columns.predicted) if side in types]
        caller_columns[name] = [side for side in sides if class_type(types[side]) == answer.columns[name].dtype]
    return replace(answer, classes=caller_columns)


def type_of_classes(types: dict[str, Any], call: Call) -> Any:
    """Return the type of the classes in a result, before anything is read; ``types``: those of the columns."""
    columns = call.columns
    if not columns.label or call.conventions.positive is not None:
        return pl.Boolean
    matched = columns.predicted is None or call.conventions.match is not None
    kind = class_type(types[columns.label], None if matched else types[str(columns.predicted)])
    if columns.query:
        return kind if kind.is_numeric() else pl.Boolean
    named = call.conventions.classes or [value for value, _ in columns.class_scores]
    if kind == pl.Null and not named and (not matched or columns.predicted is None):  # nothing says otherwise
        return pl.Boolean
    return pl.Series(list(named), strict=False).dtype if kind == pl.Null else kind
