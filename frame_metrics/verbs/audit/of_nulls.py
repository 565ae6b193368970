"""Checks of columns of arms and of periods: queries, or rows, that have no value there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from frame_metrics.backends.times import are_times
from frame_metrics.data.cases import Cases
from frame_metrics.keys.index import Index
from frame_metrics.verbs.audit.checks import About, Seen, check, in_unit

SHARE_TO_WARN = 0.01  # the share of queries, or of rows, from which on it is a warning


class Nulls(NamedTuple):
    """A column of arms or of segments, and how many queries or rows have no value in it."""

    column: str
    is_arm: bool
    values: pl.Series  # its values, some of them more than once
    n: int  # number without a value
    of: int


@check("info", "{units}", only=lambda nulls: not nulls.is_arm, rises=(SHARE_TO_WARN, "warning"))
def nulls_among_periods(nulls: Nulls) -> Seen:
    """{n} of {of} {units} ({share}) {have} no {nulls.column}, and {are} in values over all, but in no period"""
    values = nulls.values.drop_nulls()
    are_some = nulls.n > 0 and (values.is_empty() or are_times(values.to_list(), nulls.column))
    return Seen(nulls.n if are_some else 0, nulls.of)


@check("info", "{units}", only=lambda nulls: nulls.is_arm, rises=(SHARE_TO_WARN, "warning"))
def nulls_among_arms(nulls: Nulls) -> Seen:
    """{n} of {of} {units} ({share}) {have} no {nulls.column}, and {are} an arm too; leave out what is in no arm"""
    return Seen(nulls.n, nulls.of)


def about_nulls(of: Index | Cases) -> Iterator[About]:
    """Yield the subjects of checks of columns without a value, of rankings or of rows without a query."""
    columns, values = of.columns, of.cells.values
    for name in columns.by:
        null = values[name].is_null().to_numpy()
        if isinstance(of, Cases):
            n, every = (int((of.times * some).sum()) for some in (null[of.rows["cell"].to_numpy()], True))
        else:
            marked = null[of.cell] & of.in_known_segment
            n, every = (in_unit(of, "queries", some) for some in (marked, np.ones(len(marked))))
        unit = "rows" if isinstance(of, Cases) else "queries"
        nulls = Nulls(name, name == columns.arm, values[name], n, every)
        yield About(nulls, {"nulls": nulls, "units": unit})
