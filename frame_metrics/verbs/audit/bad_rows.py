"""Rows with errors, of a frame or of a piece of it: the other checks leave them out, and they become findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.cases import n_marked
from frame_metrics.errors import BadRowsError, FrameMetricsError, ReportedError, bad_rows_message
from frame_metrics.hidden import FRAME, ORDER, RESULTS_LEFT, ROWS_LEFT, TIMES, WITHOUT_RESULTS
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.plan.source import Source
from frame_metrics.roles.columns import ROLES, Columns
from frame_metrics.roles.series import NO_NUMBERS
from frame_metrics.verbs.audit.checks import Finding

ROLES_OF_AMOUNTS = ("weight", "count", "popularity", "n_relevant", "collection size")
# The errors of values, and of rows: the text of an error up to its first comma.
OF_VALUES = (
    *("are NaN", "are infinite", "are negative", "are not whole", "are below 1", "are past 2**53"),
    *("have fractions", "are neither 0 nor 1", "are not in scale=", "are not between 0 and 1", "are not above 0"),
    *("are past 1e100 or below 1e-100", "are past 1e300", NO_NUMBERS),
    *("differ from another row of their query", "differ from another row of their query and document"),
    "differ from another system in the value of their query",
    "are so close to others that float64 cannot tell them apart",
)
OF_ROWS = (
    *("have no query", "have no document", "have no class", "have no label", "have no grade", "have no metric"),
    *("have no cluster", "have no covariate", "have no sampling chance", "have neither true nor false"),
    *(f"have no {name}" for name in ROLES_OF_AMOUNTS),
    *("have no score", "have no threshold", "have no propensity", "have a class that is not among classes="),
    *("have neither a score nor a judgment", "have neither a rank nor a judgment", "have lists of different lengths"),
    *("have a missing id in their list", "repeat a query", "repeat a metric of their query"),
    *("repeat a rank of their query", "repeat a document of their query"),
    "repeat a document of their query with another judgment",
)
# Names of findings about rows. Those about values are not listed: they begin with the word for a role's values.
ROW_CHECKS = ("rows", *(f"rows that {what}" for what in OF_ROWS), "rows that cannot be read")
# Names of findings about whole columns (``ReportedError``).
COLUMN_CHECKS = (
    *("values that are too many for classes", "sets where lists are meant", "texts where lists are meant"),
    *("single ids where lists are meant", "ids that no judgment has"),
)
UNREAD = "data that cannot be read"  # the finding for an error about neither rows nor such a column


def is_row_check(name: str) -> bool:
    """Return True for the name of a finding about bad rows or bad values."""
    values, _, what = name.partition(" that ")
    return name in (*ROW_CHECKS, *COLUMN_CHECKS, UNREAD) or (bool(values) and what in OF_VALUES)


@record
class Readable:
    """The rows of a source that have no errors, and the result of a function of them."""

    rows: pl.DataFrame
    at: Array  # their row numbers in the source's table
    bad: list[tuple[BadRowsError, Array]]  # an error of each kind, and the rows of the table that have it
    seen: Any  # the result of the function; None if it raised an error
    error: FrameMetricsError | None  # an error about the rows that are left, after bad rows were left out, or about all


def skip_bad_rows(source: Source, look: Callable[[pl.DataFrame, bool], Any]) -> Readable:
    """Call a function with the rows of a source that have no errors.

    Parameters
    ----------
    look : a function of rows, which raises for rows with one kind of error. These rows are left out and it is called
        again, until it raises no such error. An error that names no rows is kept in ``Readable.error``; if the call is
        at fault, it is raised. Rows without a label are not left out: from then on its second argument is True.
    """
    rows = source.table
    left = np.arange(len(rows))
    bad: dict[tuple[str, str], tuple[BadRowsError, list[Array]]] = {}
    seen, lasting, unlabelled = None, None, False
    while True:
        try:
            seen = look(rows, unlabelled)
            break
        except BadRowsError as error:
            if error.kept:
                unlabelled = True
                bad[error.column, error.what] = error, [left[np.asarray(error.rows)]]
                continue
            # Leave out the rows of the error; a row of a system takes its row of the frame with it.
            good = np.ones(len(rows), bool)
            good[error.rows] = False
            if source.unfolded is not None:
                good = source.unfolded.in_every_system(good, rows)
            bad.setdefault((error.column, error.what), (error, []))[1].append(left[np.asarray(error.rows)])
            left, rows = left[good], rows.filter(pl.Series(good))
        except FrameMetricsError as error:
            if error.of_call:
                raise
            lasting = error
            break
    return Readable(rows, left, [(error, np.sort(np.concatenate(at))) for error, at in bad.values()], seen, lasting)


class NamedCount(NamedTuple):
    """Counts of a frame, or of a piece of it: of all rows, of the rows with one kind of error, or of a check."""

    name: str  # the name of the count, the check, or the column with the error
    what: str | None  # the error of these rows; None for other counts
    n: int  # rows of the table, in which each system has its own rows; or the number that the check found
    of: int | None  # rows of the frame, for the message; or the number that the check looked at
    rows: list[int] = []  # noqa: RUF012  (numbers of the first three rows; empty if rows have no numbers)
    named: str | None = None  # the column that the message names
    remedy: str | None = None
    example: str | None = None
    example_words: str | None = None  # the words about the first case, for the message of a check
    where: str = ""  # the segment with most of these rows


TYPES: Any = (pl.String, pl.String, pl.Int64, pl.Int64, pl.List(pl.Int64), *[pl.String] * 5)
NOTES = dict(zip(NamedCount._fields, TYPES, strict=True))


def notes_of(readable: Readable, source: Source, *, numbered: bool = True) -> list[NamedCount]:
    """Count the rows of a source, and those with each kind of error; ``numbered``: rows have numbers to show."""
    table, unfolded = source.table, source.unfolded
    frame = table if unfolded is None else unfolded.frame
    systems = max(len(source.call.columns.shape.per_system), 1)  # which have the same rows
    found, every = ((_number(some) - _n_without_results(some)) // systems for some in (readable.rows, table))
    left = NamedCount(ROWS_LEFT, None, _number(readable.rows), _number(table))
    notes = [NamedCount(RESULTS_LEFT, None, found, every), left, NamedCount(FRAME, None, _number(frame), None)]
    for error, at in readable.bad:
        about, rows = error, at
        if unfolded is not None:
            about = unfolded.origin.error(error, at)
            rows = np.asarray(about.rows)
        first = frame[ORDER].gather(rows[:3]).to_list() if ORDER in frame.columns else rows[:3].tolist()
        first_rows = first if numbered and TIMES not in frame.columns else []
        n, of = _number(table[at]), _number(frame[rows])
        notes.append(
            NamedCount(error.column, error.what, n, of, first_rows, about.column, about.remedy, where=about.where)
        )
    return notes


def added(notes: pl.DataFrame) -> list[NamedCount]:
    """Add up the notes of all pieces; the texts are those of the piece with the first rows."""
    by_place = notes.sort(pl.col("rows").list.first(), nulls_last=True, maintain_order=True)
    texts = pl.col("named", "remedy", "example", "example_words", "where").first()
    each = by_place.group_by("name", "what", maintain_order=True)
    whole = each.agg(pl.sum("n", "of"), pl.col("rows").explode().drop_nulls().sort().head(3), texts)
    return [NamedCount(*row) for row in whole.select(*NOTES).iter_rows()]


def row_findings(notes: Sequence[NamedCount], columns: Columns, *, readable: bool = True) -> list[Finding]:
    """Return a finding for each kind of error in rows, and the number of rows without errors as a fact.

    ``readable``: False if an error is about all of these rows.
    """
    numbers = {note.name: note for note in notes}
    what = "results in the lists" if columns.shape.list_columns else "rows of the frame"
    errors = "errors; all other counts refer to them" if readable else "an error of their own"
    message = f"{what} without {errors}"
    order = [name for name in (*columns.needed, columns.shape.stacked_column) if name]
    bad = [(order.index(note.name) if note.name in order else -1, str(note.what), note) for note in notes if note.what]
    rows, frame = numbers[ROWS_LEFT].of or 0, numbers[FRAME].n
    found = [_finding(note, columns, rows, frame) for *_, note in sorted(bad, key=lambda each: each[:2])]
    return [*found, Finding("rows", "fact", numbers[RESULTS_LEFT].n, numbers[RESULTS_LEFT].of, None, message)]


def unread(notes: Sequence[NamedCount], error: FrameMetricsError) -> Finding:
    """Return a finding for an error about the rows that are left after bad rows were left out, or about all of them."""
    if isinstance(error, ReportedError) or not any(note.what for note in notes):
        return of_error(error)
    left = next(note for note in notes if note.name == ROWS_LEFT)
    return Finding("rows that cannot be read", "error", left.n, left.of, None, str(error))


def of_error(error: FrameMetricsError | ReportedError) -> Finding:
    """Return a finding for an error, of rows, of a column, or of neither."""
    if isinstance(error, ReportedError):
        return Finding(error.check, "error", error.n, None, None, str(error))
    if isinstance(error, BadRowsError):
        row = f"row {int(error.rows[0])}" if len(error.rows) else None
        return Finding(f"rows that {error.what}", "error", error.n, None, row, str(error))
    return Finding(UNREAD, "error", 1, None, None, str(error))


def _finding(note: NamedCount, columns: Columns, rows: int, frame: int) -> Finding:
    """Return a finding for the rows with one kind of error; ``rows`` and ``frame``: rows of the table and the frame."""
    column, what = note.name, str(note.what).split(",")[0]
    several = column in (*columns.shape.list_columns, *columns.shape.per_system, columns.shape.stacked_column)
    values = _values(column, columns) if what in OF_VALUES else "rows"
    # A row of the frame has several of the values that stand in lists, or in a column for each system.
    n, of = (note.n, rows) if several and values != "rows" else (note.of or 0, frame)
    message = bad_rows_message(
        str(note.named), note.of or 0, note.rows, frame, str(note.what), str(note.remedy), note.where
    )
    return Finding(f"{values} that {what}", "error", n, of, f"row {note.rows[0]}" if note.rows else None, message)


def _number(rows: pl.DataFrame) -> int:
    """Return the number of rows; a row that stands for several counts as often."""
    return n_marked(rows.get_column(TIMES, default=None), None, len(rows))


def _n_without_results(rows: pl.DataFrame) -> int:
    """Count the rows that stand for queries without results."""
    return int(rows[WITHOUT_RESULTS].sum()) if WITHOUT_RESULTS in rows.columns else 0


def _values(column: str, columns: Columns) -> str:
    """Return the word for the values of a column, from its role."""
    for role, declared in ROLES.items():
        named = getattr(columns, role)
        pairs = role in ("class_scores", "extra")
        if column in (dict(named).values() if pairs else named if isinstance(named, tuple) else (named,)):
            return declared.plural or f"{role}s"
    return column  # one of saved numbers, as "answered"
