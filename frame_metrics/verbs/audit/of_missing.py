"""Checks of rows without a query whose label, or whose score, is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases, read_cases
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups, named_as_text, segments_of
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.verbs.audit.checks import About, Seen, check

SHARE_TO_WARN = 0.01  # from this share of rows without a score on, it is a warning
SHARE_TO_NAME = 0.5  # a segment that lost more than this share of its rows is named
NAMED = 3  # the most segments that are named


@record
class Unlabelled:
    """Rows, some of which have no label, and what becomes of these."""

    cases: Cases  # whose true class is null where the label is
    unjudged: str | None  # the convention, as the caller gave it

    @cached_property
    def segments(self) -> CellGroups:
        """The segments of each system."""
        return segments_of(self.cases.cells)

    def counted(self, marks: pl.Expr) -> Array:
        """Return the number of marked rows in each segment."""
        rows = self.cases.rows.with_columns(marked=marks)
        times = self.cases.times * rows["marked"].fill_null(False).to_numpy()
        return np.bincount(self.segments.of(rows), times, minlength=len(self.segments))

    def where(self, segment: int) -> str:
        """Return a segment as text, as "month = june"; "" if there are no segments."""
        values = self.cases.cells.values
        return named_as_text(values, int(self.segments.first[segment])) if values.width else ""


def _left_out(some: Unlabelled) -> bool:
    return some.unjudged == "drop"


def _of_two_classes(some: Unlabelled) -> bool:
    return some.cases.binary and some.unjudged != "negative"


@check("info", "rows", only=_left_out)
def rows_left_out_without_a_label(some: Unlabelled) -> Seen:
    """{n} of {of} rows {have} no {judgment} and {are} left out{where}"""
    lost, every = some.counted(pl.col("actual").is_null()), some.counted(pl.lit(True))
    n, of = int(lost.sum()), int(every.sum())
    most: list[int] = np.flatnonzero(lost > SHARE_TO_NAME * every).tolist() if some.segments.keys else []
    each = [f"{some.where(at)}: {int(lost[at]):,} of {int(every[at]):,}" for at in most[:NAMED]]
    more = f" and {len(most) - NAMED:,} more" if len(most) > NAMED else ""
    where = f", more than half of them in {'; '.join(each)}{more}" if each else ""
    return Seen(n, of, some.where(most[0]) if each else None, {"where": where})


@check("warning", "{cells}", only=_of_two_classes)
def all_rows_with_a_label_are_positive(some: Unlabelled) -> Seen:
    """{all} positive{where}, and others have no {judgment}: are the labels of the negative rows not in yet?"""
    lost, known = (some.counted(pl.col("actual").is_null() == lacking) for lacking in (True, False))
    marked, there = (known > 0) & (some.counted(pl.col("actual") == 1) == known) & (lost > 0), known > 0
    found = np.flatnonzero(marked)
    if not len(found):
        return Seen(0, int(there.sum()))
    n, where = int(known[found[0]]), some.where(found[0])
    label = "grade" if some.cases.columns.label is None else "label"
    every = f"all {n:,} rows with a {label} are" if n > 1 else f"the only row with a {label} is"
    words = {"all": every, "where": f" in {where}" if where else ""}
    return Seen(len(found), int(there.sum()), where or None, words)


@check("warning", "rows")
def many_rows_without_a_score(cases: Cases) -> Seen | None:
    """{n} of {of} rows {have} no score and {count} as not flagged{where}"""
    if "score" not in cases.rows.columns or not cases.binary:
        return None
    segments, _ = cases.cells.by_system(cases.columns.system)
    lacking = cases.rows["score"].is_null()
    place = segments.of(cases.rows)
    lost, every = (np.bincount(place, cases.times * some, minlength=len(segments)) for some in (lacking.to_numpy(), 1))
    many = np.flatnonzero((lost > 0) & (lost >= SHARE_TO_WARN * every))
    of = int(every.sum())
    if not len(many):
        return Seen(0, of)
    n, where = int(lost.sum()), segments.text(int(many[0])) if segments.keys else None
    words = {"count": "count" if n > 1 else "counts", "where": "" if where is None else f", as of {where}"}
    return Seen(n, of, where, words)


def about_missing(
    rows: pl.DataFrame, columns: Columns, conventions: Conventions, words: dict[str, Any]
) -> Iterator[About]:
    """Yield the subject of checks of rows without a label, if there are such rows.

    ``conventions``: as the caller gave them.
    """
    if not rows[str(columns.label or columns.grade)].null_count() and conventions.scale is None:
        return
    cases = read_cases(rows, columns, replace(conventions, unjudged=None), unjudged=True, audited=True)
    if cases.rows["actual"].null_count():
        yield About(Unlabelled(cases, conventions.unjudged), words)
