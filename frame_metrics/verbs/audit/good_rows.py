"""The rows of a frame, or of a piece of one, whose values are good; those that are bad become findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.border.pieces import ORDER, TIMES
from frame_metrics.data.cases import number_of
from frame_metrics.data.unfolding import BARE
from frame_metrics.errors import BadRowsError, FrameMetricsError, about_rows
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE
from frame_metrics.plan.source import Source
from frame_metrics.roles.columns import Columns
from frame_metrics.verbs.audit.checks import Finding

# The word for the values of a role; that of the others is the role with an s.
VALUES = {
    "query": "queries",
    "by": "segments",
    "predicted": "predictions",
    "class_scores": "scores",
    "extra": "values",
    "n_relevant": "counts of relevant documents",
    "collection_size": "collection sizes",
}

WHAT = (  # what rows may have that is bad, up to a comma
    *("are NaN", "are infinite", "are missing", "are negative", "are not whole", "are below 1", "are past 2**53"),
    *("are neither 0 nor 1", "are not in scale=", "are not between 0 and 1"),
    "differ from another row of their query and document",
    *("differ from another row of their query", "differ from another system in the value of their query"),
    *("have no query", "have no document", "have no class", "have no metric", "have no cluster", "have no covariate"),
    *(
        "have no score",
        "have no threshold",
        "have a class that is not among classes=",
        "have a missing id in their list",
    ),
    *("have neither a score nor a judgment", "have neither a rank nor a judgment", "have lists of different lengths"),
    *("repeat a query", "repeat a metric of their query", "repeat a rank of their query"),
    *("repeat a document of their query", "repeat a document of their query with another judgment"),
)
OF_VALUES = ("are ", "differ ")  # what begins so is said of values, all else of rows
# Names of findings about rows, without those of values, which begin with the word for a role's.
ROW_CHECKS = (
    "rows",
    *(f"rows that {what}" for what in WHAT if not what.startswith(OF_VALUES)),
    "rows that cannot be read",
)


def is_row_check(name: str) -> bool:
    """Return True for the name of a finding about rows whose values are bad."""
    values, _, what = name.partition(" that ")
    return name in ROW_CHECKS or (bool(values) and what in WHAT and what.startswith(OF_VALUES))


@dataclass(frozen=True, eq=False)
class Good:
    """Rows without errors, and what was seen of them."""

    rows: pl.DataFrame
    at: Array  # which rows of the table they are
    bad: list[tuple[BadRowsError, Array]]  # an error of each kind, and the rows of the table that have it
    seen: Any  # what was seen of the good rows; None where an error was raised
    error: FrameMetricsError | None  # about what is left, where rows were left out before

    def of_table(self, answer: Answer, n: int) -> Answer:
        """Return an answer about the good rows as one about their table, which has ``n`` rows."""
        own = np.append(self.at, NONE)

        def rows(at: Any) -> Any:
            if isinstance(at, pl.Series):
                return at
            return np.where(at < len(self.at), own[np.minimum(at, len(self.at))], at - len(self.at) + n)

        return replace(answer, keys={name: rows(at) for name, at in answer.keys.items()})


def good_rows(source: Source, look: Callable[[pl.DataFrame], Any]) -> Good:
    """Look at the rows whose values are good.

    ``look`` raises for rows that are bad in one way. They are left out, and it looks again, until no row is bad. An
    error that names no rows is raised, or kept if rows were left out before.
    """
    rows = source.table
    left = np.arange(len(rows))
    bad: dict[tuple[str, str], tuple[BadRowsError, list[Array]]] = {}
    seen, lasting = None, None
    while True:
        try:
            seen = look(rows)
            break
        except BadRowsError as error:
            good = np.ones(len(rows), bool)
            good[error.rows] = False
            if source.unfolded is not None:
                good = source.unfolded.in_every_system(good, rows)
            bad.setdefault((error.column, error.what), (error, []))[1].append(left[np.asarray(error.rows)])
            left, rows = left[good], rows.filter(pl.Series(good))
        except FrameMetricsError as error:
            if not bad:
                raise
            lasting = error
            break
    return Good(rows, left, [(error, np.sort(np.concatenate(at))) for error, at in bad.values()], seen, lasting)


@dataclass
class Bad:
    """Rows that are bad in one way."""

    column: str  # as the error names it
    what: str
    n: int  # rows of the table
    told: str  # the column that the message names
    of: int  # rows of the frame that the message counts
    rows: list[int]  # the first three of these; none where rows have no numbers
    remedy: str


@dataclass
class Part:
    """Numbers of rows of a frame, or of a piece of one, and those that are bad."""

    good: int = 0  # results, or rows, without errors
    every: int = 0  # all results, or rows
    left: int = 0  # rows of the table without errors
    n: int = 0  # rows of the table, which has each result of each system
    told: int = 0  # rows of the frame
    bad: list[Bad] = field(default_factory=list)
    seen: dict[str, list[Any]] = field(default_factory=dict)  # what checks of the log saw

    def findings(self, columns: Columns) -> list[Finding]:
        """Return the rows that are bad as findings, and how many are not."""
        what = "results in the lists" if columns.lists else "rows of the frame"
        message = f"{what} without errors; all other counts refer to them"
        order = [name for name in (*columns.needed, columns.together) if name]
        bad = sorted(self.bad, key=lambda one: (order.index(one.column) if one.column in order else -1, one.what))
        found = [self._finding(one, columns) for one in bad]
        return [*found, Finding("rows", "fact", self.good, self.every, None, message)]

    def unread(self, error: FrameMetricsError) -> Finding:
        """Return an error about the rows that are left as a finding."""
        return Finding("rows that cannot be read", "error", self.left, self.n, None, str(error))

    def _finding(self, one: Bad, columns: Columns) -> Finding:
        what, several = one.what.split(",")[0], one.column in (*columns.lists, *columns.per_system, columns.together)
        values = _values(one.column, columns) if what.startswith(OF_VALUES) else "rows"
        # A row of the frame has several of the values that stand in lists, or in a column for each system.
        n, of = (one.n, self.n) if several and values != "rows" else (one.of, self.told)
        message = about_rows(one.told, one.of, one.rows, self.told, one.what, one.remedy)
        return Finding(f"{values} that {what}", "error", n, of, f"row {one.rows[0]}" if one.rows else None, message)


def part_of(good: Good, source: Source, *, numbered: bool = True) -> Part:
    """Count the rows of what was read, and those that are bad; ``numbered``: whether rows have numbers to be shown."""
    table, unfolded = source.table, source.unfolded
    frame = table if unfolded is None else unfolded.frame
    systems = max(len(source.plan.columns.per_system), 1)  # which have the same rows
    found, every = ((_number(some) - _bare(some)) // systems for some in (good.rows, table))
    part = Part(found, every, _number(good.rows), _number(table), _number(frame))
    for error, at in good.bad:
        said, rows = error, at
        if unfolded is not None:
            said = unfolded.told_of_the_frame(error, at)
            rows = np.asarray(said.rows)
        first = frame[ORDER].gather(rows[:3]).to_list() if ORDER in frame.columns else rows[:3].tolist()
        shown = first if numbered and TIMES not in frame.columns else []
        numbers = _number(table[at]), said.column, _number(frame[rows])
        part.bad.append(Bad(error.column, error.what, *numbers, shown, said.remedy))
    return part


def _number(rows: pl.DataFrame) -> int:
    """The number of rows, each as often as it was counted."""
    return number_of(rows.get_column(TIMES, default=None), None, len(rows))


def _bare(rows: pl.DataFrame) -> int:
    """Count the rows that stand for queries without results."""
    return int(rows[BARE].sum()) if BARE in rows.columns else 0


def _values(column: str, columns: Columns) -> str:
    """The word for the values of a column, by its role."""
    for role, named in vars(columns).items():
        several = (
            dict(named).values()
            if role in ("class_scores", "extra")
            else named
            if isinstance(named, tuple)
            else (named,)
        )
        if column in several:
            return VALUES.get(role, f"{role}s")
    return column


def added(parts: Iterable[dict[str, Any]]) -> Part:
    """Return the numbers of all pieces, added up; ``parts`` are those of pieces, as dictionaries."""
    whole = Part()
    bad: dict[tuple[str, str], Bad] = {}
    for one in parts:
        for name in ("good", "every", "left", "n", "told"):
            setattr(whole, name, getattr(whole, name) + one[name])
        for held in one["bad"]:
            new = Bad(**held)
            old = bad.get((new.column, new.what), new)
            if old is not new:
                first, rows = min(old, new, key=lambda one: one.rows), sorted([*old.rows, *new.rows])[:3]
                new = replace(first, n=old.n + new.n, of=old.of + new.of, rows=rows)
            bad[new.column, new.what] = new
        for name, saw in one["seen"].items():
            whole.seen[name] = _both(whole.seen[name], saw) if name in whole.seen else saw
    whole.bad = list(bad.values())
    return whole


def _both(one: list[Any], other: list[Any]) -> list[Any]:
    """The findings of a check in two pieces together: how many, of how many, an example, and its place."""
    first = min((saw for saw in (one, other) if saw[0]), key=lambda saw: saw[3], default=one)
    of = None if one[1] is None else one[1] + other[1]
    return [one[0] + other[0], of, first[2], first[3]]
