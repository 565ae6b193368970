"""An audit of a log that is read in pieces: counts in each ranking of a piece, and notes about its rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.log import Log, WholeLogFacts
from frame_metrics.data.reading import read_log
from frame_metrics.data.row_map import Origin
from frame_metrics.errors import FrameMetricsError
from frame_metrics.fast.codes import sparse_codes
from frame_metrics.hidden import AMOUNT, CLUSTER, MATCHED, NOTE, OF_LOG, ORDER, SIDE, SYSTEM_NUMBER, TIMES
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.measuring.decided import Counting, cases_in_pieces
from frame_metrics.measuring.indexed import indexed
from frame_metrics.measuring.pieces import facts_of_pieces, gather, of_rankings, refuse_unmatched, work_of
from frame_metrics.measuring.work import PieceWork
from frame_metrics.plan.call import Call
from frame_metrics.plan.source import InPieces, Source, source_of
from frame_metrics.roles.series import NO_NUMBERS
from frame_metrics.verbs.audit.bad_rows import NOTES, NamedCount, Readable, added, notes_of, skip_bad_rows
from frame_metrics.verbs.audit.checks import About, Counted, Seen
from frame_metrics.verbs.audit.listed import CHECKS, run_checks
from frame_metrics.verbs.audit.of_rows import about_sides
from frame_metrics.verbs.audit.of_spelling import about_positive


@record
class Audited:
    """A log in the form that checks read, from one frame or from all its pieces."""

    counts: Counted
    sides: Iterable[About]  # subjects about the values of labels and predictions
    judged: Log | None  # the log with all judgments beside the frame, where several are about one; None if none are
    cases: Cases | None  # the rows with decisions; None if there are no decisions
    notes: Sequence[NamedCount] = ()  # about the rows of the pieces


class Unmatched(NamedTuple):
    """Notes about the rows of the pieces, and the error that no judgment has an id of them."""

    notes: Sequence[NamedCount]
    error: FrameMetricsError


def decided(call: Call) -> bool:
    """Return True if rows have decisions: a column of predictions or a threshold."""
    return call.columns.predicted is not None or call.conventions.threshold is not None


@record
class Auditing(PieceWork):
    """The work on each piece of an audit: a row of counts for each ranking, then rows with the notes of the piece."""

    def answer(self, source: Source, whole_log: WholeLogFacts, *, ordered: bool) -> Answer:
        readable = _readable_rows(self, source, whole_log)
        counts: Counted = readable.seen
        amounts = {
            name: values for name, values in counts.amounts.items() if name != "cluster"
        }  # a number of the piece
        columns: dict[str, Any] = {AMOUNT + name: values for name, values in amounts.items()}
        answer = of_rankings(readable.seen.log, self, columns, ordered=ordered)
        notes = pl.concat([_notes(readable, source, ordered=ordered), self._sides(readable.rows)], how="diagonal")
        table = pl.concat([pl.DataFrame(answer.columns), notes], how="diagonal")
        keys = {name: np.append(rows, np.full(len(notes), NONE)) for name, rows in answer.keys.items()}
        return Origin(readable.at, len(source.table)).answer(Answer(keys, table.to_dict(), answer.aliases))

    def _sides(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the distinct pairs of label and prediction with their counts; nothing without ``positive=``."""
        columns = self.call.columns
        sides = [name for name in (columns.label, columns.predicted) if name]
        if self.call.conventions.positive is None or not sides:
            return pl.DataFrame()
        some = rows.select(pl.col(name).alias(SIDE + name) for name in sides)
        return some.group_by(pl.all(), maintain_order=True).agg(pl.len().cast(pl.Int64).alias(TIMES))


def _readable_rows(work: PieceWork, source: Source, whole_log: WholeLogFacts) -> Readable:
    """Leave out the rows of a piece that have errors, and count in the rankings of the others.

    An error that is not about single rows is raised.
    """

    def look(rows: pl.DataFrame, _: bool) -> Counted:
        judgments, named = source.judgments_as_polars(), decided(work.call)
        columns, conventions = source.call.columns, source.call.conventions
        return run_checks(read_log(rows, columns, conventions, judgments, keep_row_numbers=named, whole_log=whole_log))

    readable = skip_bad_rows(source, look)
    if readable.error is not None:
        raise next((error for error, _ in readable.bad if error.what == NO_NUMBERS), readable.error)
    return readable


def _notes(readable: Readable, source: Source, *, ordered: bool) -> pl.DataFrame:
    """Return the notes of a piece, a row each: counts of its rows, and the results of checks of the log."""
    notes, backend = notes_of(readable, source, numbered=ordered), source.judgments.backend
    place = readable.rows[ORDER].to_list() if ordered else [0] * len(readable.rows)
    place += backend.read([ORDER])[ORDER].to_list() if backend is not None and ORDER in backend.names() else []
    for check, saw in readable.seen.log_results.items():
        at = [place[saw.at] if 0 <= saw.at < len(place) else NONE] if saw.n else []
        notes.append(
            NamedCount(check.name, None, saw.n, saw.of, at, example=saw.example, example_words=saw.words.get("said"))
        )
    return pl.DataFrame(notes, schema=NOTES, orient="row").select(pl.struct(pl.all()).alias(NOTE))


@record
class CountingReadable(Counting):
    """The work on each piece that counts equal rows, among those that have no errors."""

    def answer(self, source: Source, whole_log: WholeLogFacts, *, ordered: bool) -> Answer:
        readable = _readable_rows(self, source, whole_log)
        answer = super().answer(replace(source, table=readable.rows), whole_log, ordered=ordered)
        return Origin(readable.at, len(source.table)).answer(answer)


def _words(note: NamedCount) -> dict[str, str]:
    return {} if note.example_words is None else {"said": note.example_words}


def of_pieces(source: InPieces) -> Audited | Unmatched:
    """Run the checks on all pieces, and join the results."""
    work = work_of(Auditing, source)
    if work.judgments is not None:
        work = replace(work, judgments=work.judgments.with_row_index(ORDER))
    gathered, work = gather(work, source, matched=False)
    notes = added(gathered[NOTE].drop_nulls().struct.unnest())
    if work.judgments is not None and not gathered[MATCHED].any():
        try:
            refuse_unmatched(work, source)
        except FrameMetricsError as error:
            return Unmatched(notes, error)
    seen = {note.name: Seen(note.n, note.of, note.example, _words(note)) for note in notes if note.what is None}
    table, work = _of_known_systems(gathered.filter(pl.col(OF_LOG).is_not_null()), work)
    index, table = indexed(table, work)
    amounts = {name.removeprefix(AMOUNT): table[name].to_numpy() for name in table.columns if name.startswith(AMOUNT)}
    of_log = {check: seen[check.name] for check in CHECKS if Log in check.reads and check.name in seen}
    cases = cases_in_pieces(source, CountingReadable) if decided(work.call) else None
    if CLUSTER in table.columns:
        amounts["cluster"] = sparse_codes(table[CLUSTER]).to_numpy()
    facts = facts_of_pieces(table, work)
    counts, sides = Counted(facts, index, amounts, of_log), _sides_of(gathered, source)
    return Audited(counts, sides, _with_all_judgments(work), cases, notes)


def judgment_labels(source: Source) -> pl.Series | None:
    """Return the labels of the separate judgments, of which ``positive=`` names the relevant ones; None without it."""
    judged = source.judgment_columns
    if judged is None or judged.shape.made or not judged.label or source.call.conventions.positive is None:
        return None
    qrels = source.judgments_as_polars()
    return None if qrels is None else qrels[0][judged.label]


def _sides_of(gathered: pl.DataFrame, source: Source) -> Iterable[About]:
    """Return the subjects about labels and predictions, from their counts in all pieces."""
    call, beside = source.call, judgment_labels(source)
    sides = [name for name in gathered.columns if name.startswith(SIDE)]
    if not sides:
        return about_positive([None, None], None, beside, call.conventions)
    some = gathered.filter(pl.col(TIMES).is_not_null()).group_by(sides, maintain_order=True).agg(pl.sum(TIMES))
    some = some.rename({name: name.removeprefix(SIDE) for name in sides})
    return about_sides(some, call.columns, call.conventions, some[TIMES], judgment_labels=beside)


def _of_known_systems(table: pl.DataFrame, work: Auditing) -> tuple[pl.DataFrame, Auditing]:
    """Keep the rankings of systems that have rows without errors, and number these systems in the order of the rows."""
    if not work.columns.systems_have_rows:
        return table, work
    systems = (
        table.filter(OF_LOG)
        .sort(ORDER if ORDER in table.columns else SYSTEM_NUMBER)[SYSTEM_NUMBER]
        .unique(maintain_order=True)
    )
    number = pl.DataFrame({SYSTEM_NUMBER: systems, NOTE: np.arange(len(systems))})
    table = (
        table.drop(NOTE)
        .join(number, on=SYSTEM_NUMBER, maintain_order="left")
        .with_columns(pl.col(NOTE).alias(SYSTEM_NUMBER))
    )
    return table, replace(work, systems=work.system_names.gather(systems))


def _with_all_judgments(work: PieceWork) -> Log | None:
    """Return a log without rows, with all judgments beside the frame, if several are about one document."""
    judged, options = work.call.judgment_columns, work.call.plan.given.judgments
    if judged is None or options is None or not (judged.annotator or work.call.conventions.several):
        return None
    return source_of(work.call, work.empty, work.as_separate(work.judgments), piece=True).log(
        whole_log=WholeLogFacts(None)
    )
