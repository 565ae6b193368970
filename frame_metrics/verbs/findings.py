"""The rows of an audit: what was found, among it the rows of a frame whose values are bad."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import BadRowsError, BadValueError, FrameMetricsError, bad_rows
from frame_metrics.inputs import Array
from frame_metrics.roles.columns import Columns

SEVERITIES = ("error", "warning", "info", "fact")  # the gravest first
SCHEMA = {
    "check": pl.String,
    "severity": pl.String,
    "n": pl.Int64,
    "share": pl.Float64,
    "example": pl.String,
    "message": pl.String,
}
# What the values of a role are called; the others with an s behind the role.
VALUES = {
    "query": "queries",
    "by": "segments",
    "predicted": "predictions",
    "class_scores": "scores",
    "n_relevant": "counts of relevant documents",
    "collection_size": "collection sizes",
}


@dataclass(frozen=True, eq=False)
class Finding:
    """One row of the audit: how many there are of something, and their share, None where there is no whole."""

    check: str
    severity: str
    n: int
    share: float | None
    example: str | None
    message: str


def found(check: str, severity: str, n: int, of: int | None, example: str | None, message: str) -> Finding:
    """Return ``n`` things of so many as a finding."""
    return Finding(check, severity, int(n), float(n / of) if of else None, example if n else None, message)


def fact(check: str, n: int, of: int | None, message: str) -> Finding:
    """Return a number that is told whether or not anything is wrong."""
    return found(check, "fact", n, of, None, message)


def of_good_rows(frame: pl.DataFrame, columns: Columns, look: Callable[[pl.DataFrame], list[Finding]]) -> list[Finding]:
    """Return the rows whose values are bad as findings, and what is found in the others.

    Parameters
    ----------
    frame : the caller's columns.
    columns : which of them is which.
    look : reads rows; raises for those that are bad in one way, which are then left out, until there are none.

    Raises
    ------
    FrameMetricsError
        Something is wrong that no rows are to blame for. Where rows were left out it is a finding too.
    """
    left, rows = np.arange(len(frame)), frame
    bad: dict[tuple[str, str], tuple[BadRowsError, list[Array]]] = {}
    while True:
        try:
            seen = look(rows)
        except BadRowsError as error:
            good = np.ones(len(rows), bool)
            good[error.rows] = False
            bad.setdefault((error.column, error.what), (error, []))[1].append(left[~good])
            left, rows = left[good], rows.filter(pl.Series(good))
            continue
        except FrameMetricsError as error:
            if not bad:
                raise
            seen = [found("rows that cannot be read", "error", len(rows), len(frame), None, str(error))]
        found_bad = [_bad_values(error, np.sort(np.concatenate(at)), len(frame), columns) for error, at in bad.values()]
        message = "rows of the frame without errors: everything else is about these"
        return [*found_bad, fact("rows", len(rows), len(frame), message), *seen]


def _bad_values(error: BadRowsError, rows: Array, total: int, columns: Columns) -> Finding:
    """Rows of the caller's frame that have a bad value."""
    what = error.what.split(",")[0]
    check = f"{_values(error.column, columns) if what.startswith(('are ', 'differ ')) else 'rows'} that {what}"
    said = bad_rows(error.column, rows, total, error.what, error.remedy)
    return found(check, "error", len(rows), total, f"row {rows[0]}", str(said))


def _values(column: str, columns: Columns) -> str:
    """What the values of a column are called, by the part it plays."""
    for role, named in vars(columns).items():
        several = dict(named).values() if role == "class_scores" else named if isinstance(named, tuple) else (named,)
        if column in several:
            return VALUES.get(role, f"{role}s")
    return column


def report(fail_on: str | None, findings: list[Finding]) -> Answer:
    """Return the findings as rows, the gravest first and facts last; checks that found nothing are left out.

    Raises
    ------
    BadValueError
        There is a finding as grave as ``fail_on``, or graver.
    """
    grave = [] if fail_on is None else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    rows = [one for one in findings if one.n or one.severity == "fact"]
    rows.sort(key=lambda one: SEVERITIES.index(one.severity))
    failed = [_in_words(one) for one in rows if one.severity in grave]
    if failed:
        count = "1 finding" if len(failed) == 1 else f"{len(failed)} findings"
        raise BadValueError("\n".join([f"audit(fail_on={fail_on!r}): {count}", *failed]))
    return Answer({}, {name: pl.Series(name, [getattr(f, name) for f in rows], dtype=t) for name, t in SCHEMA.items()})


def _in_words(one: Finding) -> str:
    """A finding as a line of an error."""
    more = ", ..." if one.n > 1 else ""
    return f"{one.check}: {one.n}{f' ({one.example}{more})' if one.example else ''}; {one.message}"
