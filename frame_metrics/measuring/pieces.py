"""Measure a frame in pieces: each piece of whole queries becomes a small table, and the tables are combined here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.pieces import CATEGORIES
from frame_metrics.backends.protocol import Gathering, Pieces
from frame_metrics.data.classes import check_relevance
from frame_metrics.data.facts import Facts, FactsOfPieces
from frame_metrics.data.judgments import read_judgments
from frame_metrics.data.log import Log, WholeLogFacts
from frame_metrics.data.misread import check_positive_in, facts_of
from frame_metrics.data.other_spellings import DOCUMENTS, QUERIES, documents_of
from frame_metrics.data.rank_scores import check_positions
from frame_metrics.data.unfolding import are_flags, flags_for_ids
from frame_metrics.errors import ColumnError, NotComputableError
from frame_metrics.fast.codes import codes, sparse_codes
from frame_metrics.hidden import (
    ABSENT,
    ANSWERED,
    CLUSTER,
    COUNT,
    DOCS,
    EVALUATED,
    FACTS,
    FILLS,
    FLAGS,
    GRADE,
    LABELLED,
    MATCHED,
    NAMES,
    NONPOSITIVE,
    OF_LOG,
    OF_SYSTEMS,
    ORDER,
    QUERY_VALUES,
    RESULTS,
    ROWS,
    SEGMENT_KNOWN,
    SHARES,
    SYSTEM_NUMBER,
    UNANSWERED,
    USED,
    VALUE,
    WEIGHTS,
    ZERO_DOCS,
    ZEROS,
)
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.ids import check_id_overlap
from frame_metrics.keys.index import Index
from frame_metrics.keys.leading_zeros import IdsOfParts, other_zeros
from frame_metrics.measuring.indexed import conventions_of, with_systems_numbered
from frame_metrics.measuring.lists import from_lists
from frame_metrics.measuring.queries import check_grades, check_ideal, lacks_scale, measure_rankings
from frame_metrics.measuring.values import Values
from frame_metrics.measuring.work import TEXT_LISTS, PieceWork, in_first
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.source import InPieces, Source, check_systems, shares_queries
from frame_metrics.roles.columns import checked_columns, judgment_columns_in
from frame_metrics.roles.resolve import ROW
from frame_metrics.stats.averages import Averages

OF_SAVED = {"without_value": ABSENT, "fills": FILLS}  # fields of ``Values`` that saved numbers have for each metric


def check_max_grade(work: Measuring, source: InPieces) -> None:
    """Raise for a metric that needs ``max_grade=`` and does not have it; the error names the largest grade of all."""
    if any(lacks_scale(metric) for _, metric in work.asked):
        check_grades(work.asked, facts_of_pieces(*gather(replace(work, asked=[]), source)))


@record
class Measuring(PieceWork):
    """The metrics of each ranking of a piece."""

    asked: Asked
    averages: Averages
    keep_row_numbers: ClassVar[bool] = False  # whether single rows are needed, see ``read_log``

    def answer(self, source: Source, whole_log: WholeLogFacts, *, ordered: bool) -> Answer:
        log = source.log(keep_row_numbers=self.keep_row_numbers, totals=self.totals, whole_log=whole_log)
        check_ideal(self.asked, log)
        return self.to_table(log, self.measure(log), ordered=ordered)

    def to_table(self, log: Log, all_values: Values, *, ordered: bool) -> Answer:
        """Return a row for each ranking of a piece, with all that averages, intervals and tests need."""
        columns: dict[str, Any] = {EVALUATED: all_values.evaluated}
        columns |= {UNANSWERED: np.zeros(len(all_values.evaluated), np.int64) + all_values.unanswered}
        columns |= {f"{VALUE}{i}": values for i, values in enumerate(all_values.value)}
        for role, name in OF_SAVED.items():
            own = getattr(all_values, role)
            columns |= {} if own is None else {f"{name}{i}": row for i, row in enumerate(own)}
        columns |= {f"{COUNT}{i}:{j}": row for i, counts in all_values.counts.items() for j, row in enumerate(counts)}
        columns |= {f"{WEIGHTS}{i}:{j}": row for i, sums in all_values.weights.items() for j, row in enumerate(sums)}
        if all_values.list_results is not None:
            columns |= all_values.list_results.in_lists(log.table["doc"], len(all_values.evaluated))
        columns |= {f"{ROWS}{i}": rows for i, rows in all_values.n_rows.items()}
        of_queries = {name: getattr(all_values, role) for role, name in QUERY_VALUES.items()}
        columns |= {name: values for name, values in of_queries.items() if values is not None}
        return of_rankings(log, self, columns | counts_of_systems(log, log.grid.system), ordered=ordered)

    def from_table(self, index: Index, table: pl.DataFrame) -> Values:
        """Return the values of all pieces, as if measured at once; the parameters are what ``indexed`` returns."""
        value = table.select(f"{VALUE}{i}" for i in range(len(self.asked))).to_numpy().T
        counts, weights = (_of_metrics(table, name, len(self.asked)) for name in (COUNT, WEIGHTS))
        rows = {i: table[f"{ROWS}{i}"].to_numpy() for i in range(len(self.asked)) if f"{ROWS}{i}" in table}
        fields: dict[str, Any] = {role: table[name].to_numpy() for role, name in QUERY_VALUES.items() if name in table}
        if index.columns.cluster:
            fields["cluster"] = sparse_codes(table[CLUSTER]).to_numpy()
        if DOCS in table.columns:
            fields["list_results"] = from_lists(table, index.conventions.catalogue)
        if RESULTS in table.columns:
            fields["with_results"] = table[RESULTS].to_numpy()
        saved = {role: name for role, name in OF_SAVED.items() if f"{name}0" in table.columns}
        fields |= {
            role: table.select(f"{name}{i}" for i in range(len(self.asked))).to_numpy().T
            for role, name in saved.items()
        }
        fields["has_nonpositive"] = bool(table[NONPOSITIVE].any())
        marks = table[EVALUATED].to_numpy(), table[UNANSWERED].to_numpy()
        return Values(index, self.asked, value, *marks, counts, rows, weights, **fields)

    def measure(self, log: Log) -> Values:
        """Measure every ranking of a piece."""
        return measure_rankings(log, self.asked, self.averages)

    def one_by_one(self) -> Measuring:
        """Return the work that sends a row for each ranking, also where this one sends sums."""
        return self


def work_of(kind: type[Any], source: InPieces, *fields: Any, totals: bool = False, **named: bool) -> Any:
    """Prepare the work for each piece of a frame.

    Parameters
    ----------
    kind : a subclass of ``PieceWork``.
    source : the frame.
    fields, named : values of the fields that the subclass adds.
    totals : see ``read_log``.
    """
    call, pieces = source.call, source.pieces
    columns = call.columns
    if call.conventions.ties == "order" and not columns.rank and not pieces.ordered:
        raise NotComputableError(
            "ties='order' takes the order of the frame, and rows of a cluster have none; leave ties= out to order "
            "equal scores by doc=, or name rank="
        )
    if ROW in columns.shape.made and call.judgment_columns is not None:
        raise ColumnError(
            "in a frame that is read in pieces rows have no row numbers, by which judgments would find them; "
            "name the column of queries, query="
        )
    systems = None
    if columns.systems_have_rows and pieces.ordered:  # not on a cluster, which would compute its frame twice
        systems = pieces.counted([str(columns.system)])[str(columns.system)]
    judgments = None if call.judgment_columns is None else source.judgments.read(call.to_read)
    types = pieces.types(columns.needed) | ({ORDER: pl.Int64} if pieces.ordered else {})
    return kind(call.without_frames(), pl.DataFrame(schema=types), judgments, systems, totals, *fields, **named)


def gather(work: Any, source: InPieces, *, matched: bool = True) -> tuple[pl.DataFrame, Any]:
    """Run work on all pieces, and on the judged queries that are in no piece.

    ``matched``: whether to raise if no judgment has the ids of a row.

    Returns
    -------
    The tables of all pieces as one, in which systems are numbered; and the work, which now knows all systems.
    """
    check_judgments(work, source)
    nothing = work(work.empty)
    table = source.pieces.gathered(Gathering(work.call.columns.needed, work.keys, work, nothing.schema))
    check_flags(table, work)
    if work.judgments is None:
        return with_systems_numbered(table, work)
    unused = np.ones(len(work.judgments), bool)
    unused[table[USED].drop_nulls().explode().drop_nulls().to_numpy()] = False
    rest = work.run(work.empty, work.judgments.filter(pl.Series(unused)))
    rest = rest.with_columns(pl.lit(None, TEXT_LISTS).alias(ZEROS)).cast(nothing.drop(USED).schema)
    both = pl.concat([table.drop(USED), rest])
    if matched:
        if not both[MATCHED].any():
            refuse_unmatched(work, source)
        check_leading_zeros_of_pieces(table, np.flatnonzero(unused), work, source.pieces)
    return with_systems_numbered(both, work)


def counts_of_systems(log: Log, system: Array) -> dict[str, pl.Series]:
    """Return the columns ``OF_SYSTEMS``; ``system``: the number of each row's system. None without systems."""
    if not log.columns.system:
        return {}
    here, first = np.unique(system, return_index=True)
    counts = np.zeros((2, len(system)), np.int64)
    counts[:, first] = log.index.rankings_of_systems[:, here]
    return dict(zip(OF_SYSTEMS, map(pl.Series, counts), strict=True))


def check_shared_of_pieces(table: pl.DataFrame, work: PieceWork) -> None:
    """Raise for a system that shares no query with another one, by the counts of all pieces."""
    if work.columns.system and shares_queries(work.columns, work.call.conventions):
        number, *each = table.group_by(SYSTEM_NUMBER).agg(pl.sum(*OF_SYSTEMS)).sort(SYSTEM_NUMBER)
        names = work.system_names.gather(number)
        check_systems(work.columns, names.__getitem__, *(one.to_numpy() for one in each))


def check_relevant_of_pieces(table: pl.DataFrame, work: PieceWork) -> None:
    """Raise if the grades of all pieces do not say what is relevant."""
    label_columns = work.call.judgment_columns or work.columns
    if not label_columns.label:
        check_relevance(table[GRADE], int(table[SHARES].sum()), str(label_columns.grade), conventions_of(work, table))


def check_whole_frame(table: pl.DataFrame, work: Measuring) -> Facts:
    """Raise for faults that only the whole frame shows, and return the facts; ``table``: the tables of all pieces."""
    facts = facts_of_pieces(table, work)
    check_shared_of_pieces(table, work)
    check_positive_in(table, work.call.conventions.positive_text)
    check_positions(facts.rank_scores)
    check_grades(work.asked, facts)
    return facts


def facts_of_pieces(table: pl.DataFrame, work: PieceWork) -> Facts:
    """Return the facts about all pieces; ``table``: the tables of these."""
    label_columns, grades = work.call.judgment_columns or work.columns, {GRADE: "grade"}
    grades |= {LABELLED: "label"} if table[LABELLED].any() else {}
    fact_columns = table.select(*(pl.col(name).alias(own) for name, own in grades.items()), *FACTS)
    name = str(label_columns.grade or label_columns.label)
    return FactsOfPieces(fact_columns, work.columns, conventions_of(work, table), name)


def check_flags(table: pl.DataFrame, work: PieceWork) -> None:
    """Raise if ``relevant=`` holds flags and not ids, by the facts of all pieces."""
    if FLAGS in table.columns and are_flags(table[FLAGS].unique().to_list()):
        raise flags_for_ids(str(work.call.columns.relevant))


def check_judgments(work: PieceWork, source: Source) -> None:
    """Raise for bad judgments, once for all, so that errors name their own row numbers, not those within a piece."""
    qrels = source.judgments_as_polars()
    if qrels is None or work.call.unfolds:
        return
    columns, conventions = work.call.columns, work.call.conventions
    log = checked_columns(work.empty, columns, judged_elsewhere=True, scores_later=True, positive=conventions.positive)
    read_judgments(*qrels, log, columns, conventions)


def of_rankings(log: Log, work: PieceWork, columns: dict[str, Any], *, ordered: bool) -> Answer:
    """Return the answer for a piece: ``columns`` with a row for each ranking, the keys, and the facts of the piece."""
    grid, index, own = log.grid, log.index, len(log.grid.rankings.first_row)
    keys = key_rows(index, grid.segment, grid.query)
    if ordered:
        keys[ORDER] = np.append(log.rows(grid.rankings.first_row), np.full(len(grid.segment_query) - own, NONE))
    aliases = {}
    if log.columns.cluster:
        keys[CLUSTER], aliases[CLUSTER] = log.rows(_cluster_rows(log)), log.columns.cluster
    which = {
        SYSTEM_NUMBER: system_numbers(index, work.systems)[grid.system],
        OF_LOG: index.of_log,
        ANSWERED: index.answered,
    }
    which |= {SEGMENT_KNOWN: index.in_known_segment} | ({RESULTS: log.with_results} if log.columns.team else {})
    lists = {name: values for name, values in columns.items() if isinstance(values, pl.Series)}
    arrays = {name: values for name, values in (which | columns).items() if name not in lists}
    out = {name: pl.Series(np.ascontiguousarray(values)) for name, values in arrays.items()} | lists
    return Answer(keys, out | fact_columns(log, len(grid.segment_query), work), aliases)


def key_rows(index: Index, segment: Array, query: Array | None) -> dict[str, Any]:
    """Return the key rows of segments and queries, -1 for an unknown value; ``segment``, ``query``: their numbers."""
    keys: dict[str, Any] = index.key_rows(segment=segment, query=query)
    known = index.known_at(segment)
    return keys | {name: np.where(known, keys[name], NONE) for name in index.unknown_keys if not known.all()}


def fact_columns(log: Log, n: int, work: PieceWork) -> dict[str, pl.Series]:
    """Return the facts about a piece as columns of ``n`` rows, with values in the first row only."""
    table, names = log.judgments, judgment_columns_in(log.judgments)
    top = table["grade"].max() if "grade" in names else None
    kind = table.schema["grade"] if "grade" in names else pl.Float64()
    matched = log.separate_judgments is None or any(log.table[name].is_not_nan().any() for name in names)
    known = {GRADE: pl.Series([top], dtype=kind), LABELLED: pl.Series(["label" in names])}
    known |= {MATCHED: pl.Series([matched])} | facts_of(log)
    if log.separate_judgments is not None:
        known[ZERO_DOCS] = pl.Series([documents_of(log)[:1]], dtype=TEXT_LISTS)
    if work.systems_unknown:
        here = _plain(log.index.system_names)
        known[NAMES] = pl.Series([here], dtype=pl.List(here.dtype))
    return {name: in_first(n, value) for name, value in known.items()}


def _plain(names: pl.Series) -> pl.Series:
    """Return names as text if they are categories, which each piece may define for itself."""
    return names.cast(pl.String) if isinstance(names.dtype, CATEGORIES) else names


def system_numbers(index: Index, every: pl.Series | None) -> Array:
    """Return, for each system of a piece, its number among ``every`` system.

    If all systems are not known yet (None), the numbers are those within the piece.
    """
    if every is None:
        return np.arange(len(index.systems))  # the last one stands for systems of other pieces
    here = _plain(index.system_names)
    known = pl.DataFrame({"system": _plain(every), "number": np.arange(len(every))})
    mine = here.to_frame("system").join(known, on="system", how="left", nulls_equal=True, maintain_order="left")
    present = mine["number"].to_numpy()
    return np.append(present, np.setdiff1d(np.arange(len(every)), present))


def _cluster_rows(log: Log) -> Array:
    """Return a row that holds the cluster of each ranking's query, NONE if there is none.

    It is a row of the log, or else one of the judgments, counted on from the end of the log.
    """
    grid, row = log.grid, np.full(len(log.grid.segment_query), NONE)
    if log.separate_judgments is not None and "cluster" in log.separate_judgments.queries.columns:
        keys = log.separate_judgments.keys
        at = log.index.joined(
            log.separate_judgments.queries.select(keys).with_columns(
                at=pl.Series(log.separate_judgments.row) + log.n_rows
            ),
            keys,
        )["at"]
        row = at.fill_null(NONE).to_numpy()
    if log.columns.cluster in log.columns.shape.from_judgments:
        return row
    # The log goes before the judgments: the first row of the first ranking of each (segment, query) pair.
    first = np.full(grid.n_segment_queries, NONE)
    pair = grid.segment_query[grid.of_log]
    first[pair[::-1]] = grid.rankings.first_row[::-1]
    return np.where(first[grid.segment_query] == NONE, row, first[grid.segment_query])


def _of_metrics(table: pl.DataFrame, name: str, metrics: int) -> dict[int, Array]:
    """Return, by the number of a metric, its columns whose name starts with ``name``, shape (columns, rankings)."""
    names = {i: [column for column in table.columns if column.startswith(f"{name}{i}:")] for i in range(metrics)}
    return {i: table.select(mine).to_numpy().T for i, mine in names.items() if mine}


def refuse_unmatched(work: PieceWork, source: InPieces) -> None:
    """Raise if no id of the log is among those of the judgments."""
    for ids in ids_of(work, source.pieces.counted):
        check_id_overlap(*ids)


def check_leading_zeros_of_pieces(
    table: pl.DataFrame, without_rows: Array, work: PieceWork, pieces: Pieces | None = None
) -> None:
    """Raise for queries, and then for documents, that are judged with other leading zeros only.

    See ``check_leading_zeros``.

    Parameters
    ----------
    table : the tables of the pieces, with the facts ``ZEROS`` and ``ZERO_DOCS``.
    without_rows : the rows of the judgments whose query has no row in any piece.
    pieces : those of the frame, which are read again for the error; None if that cannot be.
    """
    queries, documents = (table[name].drop_nulls().explode().drop_nulls().to_list() for name in (ZEROS, ZERO_DOCS))
    lost = {*without_rows.tolist()} if queries else set()
    if pairs := [(ours, theirs) for row, ours, theirs in queries if int(row) in lost]:
        raise other_zeros(", ".join(work.call.columns.query), QUERIES, pairs, there=_queries_of_parts(work, pieces))
    if documents:
        raise other_zeros(str(work.call.columns.doc), DOCUMENTS, [(ours, theirs) for ours, theirs in documents])


def _queries_of_parts(work: PieceWork, pieces: Pieces | None) -> IdsOfParts | None:
    """Return the queries of each system in each segment, and the judged ones; None if they are too many to read."""
    columns, judged = work.columns, work.call.judgment_columns
    if work.judgments is None or judged is None or pieces is None:
        return None
    parts = [name for name in columns.cell_keys if name in work.empty.columns]
    try:
        rows = pieces.counted([*parts, *work.keys])
    except NotComputableError:
        return None
    theirs = pl.DataFrame(dict(zip(work.keys, map(work.judgments.get_column, judged.query), strict=True)))
    ids = pl.concat([table.select(pl.col(work.keys).cast(pl.String)) for table in (rows, theirs)])
    return IdsOfParts(ids, np.append(codes(rows, parts)[0], np.full(len(theirs), NONE)))


def ids_of(
    work: PieceWork, distinct: Callable[[list[str]], pl.DataFrame]
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, list[str], str]]:
    """Yield arguments of ``check_id_overlap``: first for queries, then for documents, of the log and the judgments.

    ``distinct``: a function that returns the distinct rows of some columns of the log.
    """
    columns, judged = work.call.columns, work.call.judgment_columns
    if judged is None or work.judgments is None or columns.relevant:
        return
    ours = distinct(work.keys).drop_nulls()
    theirs = work.judgments.rename(dict(zip(judged.query, columns.query, strict=True)))
    kinds: Any = {name: ours.schema[name] for name in columns.query}
    yield ours, theirs.cast(kinds, strict=False), list(columns.query), ", ".join(columns.query)
    doc = str(columns.doc)
    ids, others = distinct([doc])[doc], work.judgments[str(judged.doc)]
    ids, others = ((one.explode() if one.dtype.is_nested() else one).drop_nulls() for one in (ids, others))
    yield ids.to_frame(doc), others.cast(ids.dtype, strict=False).to_frame(doc), [doc], doc
