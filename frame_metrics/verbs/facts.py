"""Plain facts: what the numbers rest on, whether or not anything is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases
from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.roles.columns import Columns
from frame_metrics.verbs.counted import TOP, Counted
from frame_metrics.verbs.findings import Finding, fact


def of_log(log: Log, counts: Counted) -> Iterator[Finding]:
    """Give the facts about rankings."""
    grid, columns, some = log.grid, log.columns, counts.evaluated
    yield from _of_keys(columns, len(grid.system_row), len(grid.segment_row))
    evaluated = np.zeros(int(grid.pair.max(initial=-1)) + 1, bool)
    evaluated[grid.pair[some]] = True
    yield fact(
        "queries",
        int(evaluated.sum()),
        len(evaluated),
        f"queries that are evaluated: those with a judgment{', in each segment' if columns.by else ''}",
    )
    results, top = int(counts.retrieved[some].sum()), int(counts.top[some].sum())
    judged, top_judged = results - counts.unjudged[some].sum(), top - counts.top_unjudged[some].sum()
    if columns.rank or columns.score:
        yield fact("results judged", judged, results, "results of these queries that have a judgment")
        yield fact(f"judged in the top {TOP}", top_judged, top, f"results at ranks up to {TOP} that have a judgment")
    relevant, known = (
        _of_pairs(values[some], grid.pair[some], len(evaluated)) for values in (counts.relevant, counts.judged)
    )
    of = None if columns.n_relevant and log.judges_itself else known
    yield fact("relevant documents", relevant, of, "documents that are relevant, of all that are judged; found or not")
    place = "rank" if columns.rank else "score"
    if place in log.table.columns:
        absent = log.table[place].null_count()
        message = f"rows without a {place}: documents that are known, and were not retrieved"
        yield fact("rows not retrieved", absent, len(log.table), message)


def _of_pairs(values: Array, pair: Array, n: int) -> int:
    """The sum over queries, of what is the same for each system, or of the system that has most."""
    most = np.zeros(n)
    np.maximum.at(most, pair, values)
    return int(most.sum())


def of_cases(cases: Cases, frame: pl.DataFrame) -> Iterator[Finding]:
    """Give the facts about rows without a query.

    Parameters
    ----------
    cases : the rows as they are counted.
    frame : the rows that they were read from.
    """
    columns, rows = cases.columns, cases.rows
    system, by = cases.keys
    yield from _of_keys(columns, *(cases.every.select(keys).n_unique() if keys else 0 for keys in (system, by)))
    n = len(rows)
    judged = len(frame) - frame[str(columns.label or columns.grade)].null_count()
    yield fact("rows judged", judged, len(frame), f"rows with a {'label' if columns.label else 'grade'}")
    if cases.binary:
        yield fact(
            "relevant rows", int(rows["actual"].sum()), n, "rows that are relevant: the prevalence, each counted once"
        )
    else:
        yield fact("classes", cases.k, None, "different classes")
    if "predicted" in rows.columns:
        said = rows["predicted"]
        yield fact("rows decided", n - said.null_count(), n, "rows with a prediction")
        if cases.binary:
            yield fact("rows predicted relevant", int(said.sum()), n, "rows that are predicted relevant: the bias")
    if "score" in rows.columns:
        yield fact("rows without a score", rows["score"].null_count(), n, "rows that stand below every threshold")


def _of_keys(columns: Columns, systems: int, segments: int) -> Iterator[Finding]:
    """How many systems and segments there are, where columns are named for them."""
    if columns.system:
        yield fact("systems", systems, None, f"different values of {columns.system}")
    if columns.by:
        yield fact("segments", segments, None, f"different values of {', '.join(columns.by)}")
