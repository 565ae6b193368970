"""Metrics of a frame: measured at once where it is in memory, else piece by piece, and put together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.border.pieces import ORDER
from frame_metrics.border.polars import PolarsFrame
from frame_metrics.border.protocol import Beside
from frame_metrics.data.blocks import Rankings, codes, numbers
from frame_metrics.data.grid import Grid
from frame_metrics.data.judgments import read_judgments, refuse_strangers
from frame_metrics.data.log import Log, Piece
from frame_metrics.data.misread import FACTS, check_positions, facts_of, positions
from frame_metrics.data.unfolding import are_flags, flags_for_ids
from frame_metrics.errors import BadRowsError, ColumnError, NotComputableError, in_number
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE
from frame_metrics.measuring.queries import (
    COUNTED,
    Measured,
    answered,
    check_grades,
    check_ideal,
    each_ranking,
    lacks_scale,
    measure,
)
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import InPieces, Source, at_once, check_shared
from frame_metrics.roles.columns import Columns, checked, judging, key_names, type_of
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.resolve import ROW
from frame_metrics.stats.averages import Averages

# Columns of what is gathered, a row for each ranking, beside its keys; those of metrics have their numbers behind.
OWN, ANSWERED, EVALUATED, PLACED, SYSTEM = "\0own", "\0answered", "\0evaluated", "\0placed", "\0system"
VALUE, COUNT, ROWS = "\0value:", "\0count:", "\0rows:"
WEIGHT, CLUSTER, COVARIATE = "\0weight", "\0cluster", "\0covariate"
# Facts of the piece, the same in each of its rows.
GRADE, LABELLED, MATCHED, FLAGS = "\0grade", "\0labelled", "\0matched", "\0flags"


def measured_of(
    source: Source,
    asked: Asked,
    averages: Averages = (None,),
    *,
    queries: bool = True,
    totals: bool = False,
    arms: bool = False,
) -> Measured:
    """Compute metrics for every ranking of what is read.

    Parameters
    ----------
    averages : those that will be asked for, which need counts of some metrics.
    queries, totals, arms : see ``read_log``.
    """
    if isinstance(source, InPieces):
        return gathered_of(work_of(Measuring, source, asked, averages, totals=totals, arms=arms), source)
    return measure(source.log(queries=queries, totals=totals, arms=arms), asked, averages)


def gathered_of(work: Measuring, source: InPieces) -> Measured:
    """Measure every ranking of all pieces."""
    if any(lacks_scale(metric) for _, metric in work.asked):  # the error names the largest grade of all
        nothing = replace(work, asked=[])
        check_grades(work.asked, restored(gather(nothing, source), nothing)[0])
    measured = _restored(gather(work, source), work)
    check_shared(measured.log)
    check_positions(positions(measured.log))
    check_grades(work.asked, measured.log)
    return measured


@dataclass(frozen=True, eq=False)
class Work(ABC):
    """The work on a piece of a frame; it can be sent to another process."""

    plan: Plan  # whose frame is put in its place piece by piece
    empty: pl.DataFrame  # the columns of a piece, without rows
    judgments: pl.DataFrame | None  # beside the frame
    systems: pl.Series | None  # all that there are, where each has rows of its own
    totals: bool
    arms: bool

    @abstractmethod
    def answer(self, source: Source, piece: Piece, *, ordered: bool) -> Answer:
        """Return what is kept of a piece; ``ordered``: whether the numbers of its rows are known."""

    @property
    def shared(self) -> list[str]:
        """The columns of segments that log and judgments both have."""
        columns, judged = self.plan.columns, self.plan.judged
        theirs = () if judged is None else judged.by
        return [name for name in columns.by if name in theirs and name not in columns.from_judgments]

    @property
    def keys(self) -> list[str]:
        """The columns that rows of one query agree in; none where each row is a query."""
        return [name for name in self.plan.columns.query if name not in self.plan.columns.made]

    def __call__(self, piece: pl.DataFrame) -> pl.DataFrame:
        """Return a row for each ranking of a piece that holds whole queries."""
        return self.run(piece, None if self.judgments is None else self._of_queries(piece))

    def run(self, piece: pl.DataFrame, judgments: pl.DataFrame | None) -> pl.DataFrame:
        """Return a row for each ranking of a piece and of judgments, which are all that there are of their queries."""
        try:
            answer = at_once(self.plan, piece, self.beside(judgments), self._answer, piece=True)
        except BadRowsError as error:
            raise _of_a_piece(error, piece) from None
        return PolarsFrame(piece).given_back(answer)

    def beside(self, judgments: pl.DataFrame | None) -> Beside:
        """Return some of the judgments, as a source has them."""
        return Beside(None, {}) if judgments is None else Beside(PolarsFrame(judgments), self.plan.keys_beside)

    def _answer(self, source: Source) -> Answer:
        every = self.systems if self.systems is not None else () if self.arms else self.plan.columns.per_system
        piece = Piece(len(every) or None)
        answer = self.answer(source, piece, ordered=ORDER in source.table.columns)
        if source.unfolded is None or not self.plan.columns.relevant:
            return answer
        flags = pl.Series([source.unfolded.flags], dtype=pl.Int64)
        return replace(answer, columns=answer.columns | {FLAGS: flags.new_from_index(0, len(answer.columns[MATCHED]))})

    def _of_queries(self, piece: pl.DataFrame) -> pl.DataFrame:
        """The judgments of the queries of a piece."""
        return self._joined(piece, "semi")

    def systems_of(self, log: Log, numbers: Array) -> pl.Series:
        """Return the names of systems by their numbers in a piece."""
        return self.names.gather(system_numbers(log, self.systems)[numbers])

    @property
    def columns(self) -> Columns:
        """The column of each part; arms are segments."""
        return self.plan.columns.as_arms() if self.arms else self.plan.columns

    @property
    def names(self) -> pl.Series:
        """All systems."""
        return pl.Series(self.plan.columns.per_system) if self.systems is None else self.systems

    def beyond(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the judgments of queries that are not in a table."""
        return self._joined(table, "anti")

    def _joined(self, table: pl.DataFrame, how: Any) -> pl.DataFrame:
        own, theirs = self.plan.columns.query, () if self.plan.judged is None else self.plan.judged.query
        judgments = pl.DataFrame() if self.judgments is None else self.judgments
        there = table.select(pl.col(name).alias(str(i)) for i, name in enumerate(own)).unique()
        held = pl.DataFrame(
            {str(i): in_type(judgments[name], there.schema[str(i)]) for i, name in enumerate(theirs)}
        ).with_row_index("at")
        rows = held.join(there, on=there.columns, how=how, maintain_order="left")["at"]
        return judgments[rows]


@dataclass(frozen=True, eq=False)
class Measuring(Work):
    """Metrics for each ranking of a piece."""

    asked: Asked
    averages: Averages

    @property
    def single(self) -> bool:
        """True where single rows are asked for."""
        return False

    def answer(self, source: Source, piece: Piece, *, ordered: bool) -> Answer:
        log = source.log(single=self.single, totals=self.totals, arms=self.arms, piece=piece)
        check_ideal(self.asked, log)
        return _kept(self.measured(log), self, ordered=ordered)

    def measured(self, log: Log) -> Measured:
        """Measure every ranking of a piece."""
        return each_ranking(log, self.asked, self.averages)


def in_type(values: pl.Series, kind: Any) -> pl.Series:
    """Return values in another type, null where it does not hold them."""
    try:
        return values.cast(kind, strict=False)
    except pl.exceptions.InvalidOperationError:  # of a type that is never made of theirs
        return pl.Series([None], dtype=kind).new_from_index(0, len(values))


def work_of(kind: type[Any], source: InPieces, *said: Any, totals: bool = False, arms: bool = False) -> Any:
    """Return the work of some kind on the pieces of a frame, and what is said to it alone."""
    plan, pieces = source.plan, source.pieces
    columns = plan.columns
    if plan.conventions.ties == "order" and not columns.rank and not pieces.ordered:
        raise NotComputableError(
            "ties='order' takes the order of the frame, and rows of a cluster have none; leave ties= out to order "
            "equal scores by doc=, or name rank="
        )
    if ROW in columns.made and plan.judged is not None:
        raise ColumnError("rows that are queries have no numbers to judge them by; name the queries' column, query=")
    systems = None
    if columns.own_rows and not arms:
        systems = pieces.counted([str(columns.system)])[str(columns.system)]
    judgments = None if plan.judged is None else source.beside.read(plan.to_read)
    types = pieces.border.types(columns.needed) | ({ORDER: pl.Int64} if pieces.ordered else {})
    return kind(plan.without_frames(), pl.DataFrame(schema=types), judgments, systems, totals, arms, *said)


def gather(work: Work, source: InPieces) -> pl.DataFrame:
    """Return what is kept of all pieces, and of the judged queries that are in none."""
    _check_judgments(work, source)
    nothing = work(work.empty)
    table = source.pieces.gathered(work.plan.columns.needed, work.keys, work, dict(nothing.schema))
    check_flags(table, work)
    if work.judgments is None:
        return table
    known = set(work.keys) <= set(table.columns)
    rest = work.run(work.empty, work.beyond(table if known else source.pieces.counted(work.keys)))
    both = pl.concat([table, rest.cast(nothing.schema)])
    if not both[MATCHED].any():
        refuse_unmatched(work, source)
    return both


def check_flags(table: pl.DataFrame, work: Work) -> None:
    """Raise for lists of relevant ids that hold flags in some piece, and nothing else in any."""
    if FLAGS in table.columns and are_flags(table[FLAGS].unique().to_list()):
        raise flags_for_ids(str(work.plan.columns.relevant))


def _check_judgments(work: Work, source: Source) -> None:
    """Raise for judgments that are bad, by their rows; those of a piece have other ones."""
    qrels = source.qrels()
    if qrels is None or work.plan.columns.unfolds or source.beside.border is None:
        return
    if source.beside.border.holds_lists(str(qrels[1].doc)):
        return
    columns, conventions = work.plan.columns, work.plan.conventions
    log = checked(work.empty, columns, judged_elsewhere=True, scores_later=True, positive=conventions.positive)
    read_judgments(*qrels, log, columns, conventions)


def _of_a_piece(error: BadRowsError, piece: pl.DataFrame) -> BadRowsError:
    """The error about some rows of a piece as one about rows of the frame, of which there may be more."""
    n, shown, rows = len(error.rows), "", error.rows
    if ORDER in piece.columns:
        rows = piece[ORDER].gather(list(error.rows)).to_list()
        shown = f" ({'rows' if n > 1 else 'row'} {', '.join(map(str, rows[:3]))})"
    many = f"at least {n} {'rows' if n > 1 else 'row'} {in_number(error.what, n)}"
    message = f"{error.column}: {many}{shown}; {error.remedy}"
    return BadRowsError(message, column=error.column, rows=rows, what=error.what, remedy=error.remedy)


def _kept(measured: Measured, work: Measuring, *, ordered: bool) -> Answer:
    """A row for each ranking of a piece: its values, and what averages and tests need of it."""
    log = measured.log
    columns: dict[str, Any] = {ANSWERED: answered(measured), EVALUATED: measured.evaluated}
    columns |= {f"{VALUE}{i}": values for i, values in enumerate(measured.values)}
    columns |= {f"{COUNT}{i}:{j}": row for i, counts in measured.counts.items() for j, row in enumerate(counts)}
    columns |= {f"{ROWS}{i}": rows for i, rows in measured.rows.items()}
    columns |= {WEIGHT: measured.weight} if measured.weight is not None else {}
    columns |= {COVARIATE: log.of_queries("covariate")} if log.columns.covariate else {}
    return of_rankings(log, work, columns, ordered=ordered)


def of_rankings(log: Log, work: Work, columns: dict[str, Any], *, ordered: bool) -> Answer:
    """Return a row for each ranking of a piece, with columns, and with what tells which one it is."""
    grid, own = log.grid, len(log.grid.rankings.first_row)
    keys = key_rows(log, grid.segment, grid.query)
    if ordered:
        keys[ORDER] = np.append(log.rows(grid.rankings.first_row), np.full(len(grid.pair) - own, NONE))
    aliases = {}
    if log.columns.cluster:
        keys[CLUSTER], aliases[CLUSTER] = log.rows(_cluster_rows(log)), log.columns.cluster
    which = {SYSTEM: system_numbers(log, work.systems)[grid.system], OWN: grid.of_log}
    which |= {PLACED: placed_of(log, grid.segment)}
    out = {name: pl.Series(np.ascontiguousarray(values)) for name, values in (which | columns).items()}
    return Answer(keys, out | facts(log, len(grid.pair)), aliases)


def key_rows(log: Log, segment: Array, query: Array | None) -> dict[str, Any]:
    """Return the key rows of segments and queries; -1 for unknown."""
    placed = placed_of(log, segment)
    keys: dict[str, Any] = log.key_rows(segment=segment, query=query)
    return keys | {name: np.where(placed, keys[name], NONE) for name in log.unknown if not placed.all()}


def placed_of(log: Log, segment: Array) -> Array:
    """Return whether all that makes each segment is known."""
    return np.ones(len(segment), bool) if log.placed is None else log.placed[segment]


def facts(log: Log, n: int) -> dict[str, pl.Series]:
    """Return what is known of the judgments of a piece: the largest grade, whether there are labels, and any match."""
    table, names = log.judgments, judging(log.judgments)
    top = table["grade"].max() if "grade" in names else None
    kind = table.schema["grade"] if "grade" in names else pl.Float64()
    matched = log.judged is None or any(log.table[name].is_not_nan().any() for name in names)
    known = {GRADE: pl.Series([top], dtype=kind), LABELLED: pl.Series(["label" in names])}
    known[MATCHED] = pl.Series([matched])
    return {name: value.new_from_index(0, n) for name, value in known.items()} | facts_of(log, n)


def system_numbers(log: Log, every: pl.Series | None) -> Array:
    """Return the number, among all systems, of each of a piece."""
    rows = log.grid.system_row
    if every is None:
        return np.arange(len(rows))
    here = log.keys_at(["system"], rows[rows != NONE])["system"]
    known = pl.DataFrame({"system": every, "number": np.arange(len(every))})
    mine = here.to_frame("system").join(known, on="system", how="left", nulls_equal=True, maintain_order="left")
    present = mine["number"].to_numpy()
    return np.append(present, np.setdiff1d(np.arange(len(every)), present))


def _cluster_rows(log: Log) -> Array:
    """A row of the log, or past its end of the judgments, that says the cluster of each ranking's query."""
    grid, row = log.grid, np.full(len(log.grid.pair), NONE)
    if log.judged is not None and "cluster" in log.judged.names.columns:
        keys = log.judged.keys
        at = log.joined(log.judged.names.select(keys).with_columns(at=pl.Series(log.judged.row) + log.n_rows), keys)[
            "at"
        ]
        row = at.fill_null(NONE).to_numpy()
    if log.columns.cluster in log.columns.from_judgments:
        return row
    first = np.full(int(grid.pair.max(initial=-1)) + 1, NONE)
    own = grid.pair[grid.of_log]
    first[own[::-1]] = grid.rankings.first_row[::-1]
    return np.where(first[grid.pair] == NONE, row, first[grid.pair])


def _restored(table: pl.DataFrame, work: Measuring) -> Measured:
    """The values of all pieces, as if measured at once."""
    log, table = restored(table, work)
    values = table.select(f"{VALUE}{i}" for i in range(len(work.asked))).to_numpy().T
    counts = {
        i: table.select(f"{COUNT}{i}:{j}" for j in range(COUNTED)).to_numpy().T
        for i in range(len(work.asked))
        if f"{COUNT}{i}:0" in table
    }
    rows = {i: table[f"{ROWS}{i}"].to_numpy() for i in range(len(work.asked)) if f"{ROWS}{i}" in table}
    weight, cluster = (log.grid.rankings.said.get(role) for role in ("weight", "cluster"))
    return Measured(log, work.asked, values, counts, rows, table[EVALUATED].to_numpy(), weight, cluster)


def restored(table: pl.DataFrame, work: Work) -> tuple[Log, pl.DataFrame]:
    """Return the log of all rankings of pieces, as if it had been read at once, and the table whose rows it names."""
    plan, columns = work.plan, work.columns
    table = with_systems(_in_order(table, columns), work)
    system, by, query = key_names(columns)
    inside = [*system, *by, *query]
    log = table.select(pl.col(name).alias(own) for own, name in zip(inside, columns.keys, strict=True))
    facts = {GRADE: "grade"} | ({LABELLED: "label"} if table[LABELLED].any() else {})
    log = log.with_columns(*(table[name].alias(own) for name, own in facts.items()), *(table[name] for name in FACTS))
    said = {
        role: table[name].to_numpy() for role, name in (("weight", WEIGHT), ("covariate", COVARIATE)) if name in table
    }
    if columns.cluster:
        said["cluster"] = numbers(table[CLUSTER]).to_numpy()
    grid = _grid(log, table, by, query, said)
    shared = [inside for inside, name in zip(by, columns.by, strict=True) if name in work.shared]
    conventions = conventions_of(work, table)
    judging_columns = plan.judged or columns
    columns, name = replace(columns, from_judgments=()), str(judging_columns.grade or judging_columns.label)
    return Log(log, None, len(log), None, columns, conventions, name, grid, None, judged_keys=shared, held=table), table


def with_systems(table: pl.DataFrame, work: Work) -> pl.DataFrame:
    """Return what was gathered with the column of systems, if one is named, in the place of their numbers."""
    columns = work.plan.columns
    if columns.system is None or work.arms:
        return table
    return table.with_columns(work.names.gather(table[SYSTEM]).alias(columns.system))


def conventions_of(work: Work, table: pl.DataFrame) -> Conventions:
    """Return the conventions in the types of scores and grades."""
    columns = work.plan.columns
    score = next((name for name in columns.per_system), columns.score)
    return work.plan.conventions.in_types(type_of(work.empty, score), type_of(table, GRADE))


def _in_order(table: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Rankings as of a frame at once: its own by their first rows, then the others by system, segment and query."""
    place = [ORDER] if ORDER in table.columns else list(columns.query)
    place = [SYSTEM, *place] if columns.per_system else [*place, SYSTEM]
    own = table.filter(OWN).sort(place, nulls_last=True, maintain_order=True)
    table, n = pl.concat([own, table.filter(pl.col(OWN).not_())]), len(own)
    numbers = [codes(table, names)[0] for names in (columns.query, [*columns.by, PLACED])]
    others = np.lexsort([number[n:] for number in (*numbers, table[SYSTEM].to_numpy())])
    return table[np.append(np.arange(n), n + others)]


def _grid(log: pl.DataFrame, table: pl.DataFrame, by: list[str], query: list[str], said: dict[str, Array]) -> Grid:
    """The rankings of all pieces, numbered."""
    n, own = len(log), int(table[OWN].sum())
    query_code, query_at = codes(log, query)
    segment_code, segment_at = codes(log.with_columns(placed=table[PLACED]), [*by, "placed"] if by else [])
    pair = np.unique(segment_code * max(len(query_at), 1) + query_code, return_inverse=True)[1]
    system = table[SYSTEM].to_numpy()
    system_row = np.zeros(int(system.max(initial=-1)) + 1, np.int64)
    system_row[system[::-1]] = np.arange(n)[::-1]
    lengths = table[ANSWERED].to_numpy().astype(np.int64)
    rankings = Rankings(np.arange(own), np.arange(n), lengths, None, said, said)
    placed = table[PLACED].to_numpy()
    known = None if placed.all() else placed[segment_at]
    return Grid(rankings, system, segment_code, query_code, pair, system_row, segment_at, query_at, None, known)


def refuse_unmatched(work: Work, source: InPieces) -> None:
    """Raise where no id of the log is among those of the judgments."""
    columns, judged = work.plan.columns, work.plan.judged
    if judged is None or work.judgments is None or columns.relevant:
        return
    ours, theirs = source.pieces.counted(work.keys).drop_nulls(), work.judgments
    theirs = theirs.rename(dict(zip(judged.query, columns.query, strict=True)))
    kinds: Any = {name: ours.schema[name] for name in columns.query}
    refuse_strangers(ours, theirs.cast(kinds, strict=False), list(columns.query), ", ".join(columns.query))
    doc = str(columns.doc)
    ids, others = source.pieces.counted([doc])[doc], work.judgments[str(judged.doc)]
    ids, others = ((one.explode() if one.dtype.is_nested() else one).drop_nulls() for one in (ids, others))
    refuse_strangers(ids.to_frame(doc), others.cast(ids.dtype, strict=False).to_frame(doc), [doc], doc)
