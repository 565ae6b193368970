"""The verb explain: a metric's value taken apart, rank by rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.answer import Answer
from frame_metrics.data.blocks import spans
from frame_metrics.data.log import Block, Log
from frame_metrics.errors import BadRowsError, BadValueError, NotComputableError, check_apart
from frame_metrics.inputs import Array, Confusion, Pool, Ranking, gain_of
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import read
from frame_metrics.roles.columns import Columns, key_names, same_as
from frame_metrics.roles.needs import Needs
from frame_metrics.verbs.measure import check_asked, check_grades
from frame_metrics.verbs.request import Reading, Request, one_of
from frame_metrics.verbs.tidy import number

SCHEMA = {"rank": pl.Int64, "gain": pl.Float64, "discount": pl.Float64, "contribution": pl.Float64}


def explain(request: Request, metric: str | Metric, *, query: Any) -> Any:
    """Answer ``irm.explain``, which has the parameters."""
    asked = one_of(read([metric]))
    ((name, wanted),) = asked
    plan = request.plan(request.needs(asked) | Needs(query=True, order=True))
    columns, conventions = plan.columns, plan.conventions
    check_asked(asked, plan)
    if wanted.input not in (Ranking, Confusion) or columns.predicted or conventions.threshold is not None:
        raise NotComputableError(f"{name}: explain() is about the results of a ranking")
    if conventions.variant(wanted)[1]:
        raise NotComputableError(
            f"{name}: explain() is about whole rankings, and these are condensed; say unjudged=None"
        )
    if conventions.ties == "expected":
        raise NotComputableError("explain() is about one order of the results; say ties='worst', or name doc=")
    keys = (*columns.keys, *((columns.doc,) if columns.doc else ()))
    check_apart(keys, SCHEMA)

    values = _value_of_each(columns, query)

    def compute(reading: Reading) -> Answer:
        log = reading.log()
        return _explained(log, name, wanted, _rankings_of(log, values, query))

    return plan.answer(compute, lambda types: {key: types[key] for key in keys} | SCHEMA)


def _value_of_each(columns: Columns, query: Any) -> tuple[Any, ...]:
    """Return the value of each column of the query."""
    if len(columns.query) == 1:
        return (query,)
    if not isinstance(query, list | tuple) or len(query) != len(columns.query):
        raise BadValueError(f"query={query!r} is not a value for each of {', '.join(columns.query)}")
    return tuple(query)


def _rankings_of(log: Log, values: Sequence[Any], query: Any) -> Array:
    """Return the evaluated rankings of one query.

    Raises
    ------
    BadValueError
        No ranking is of this query, or none of its documents is judged.
    """
    grid, names = log.grid, key_names(log.columns)[2]
    each = log.keys_at(names, grid.query_row)
    mine = pl.Series([True]).new_from_index(0, len(each))
    for inside, column, value in zip(names, log.columns.query, values, strict=True):
        mine &= same_as(each[inside], value, column).fill_null(False)
    if not mine.any():
        beside = "" if log.judged is None or log.judges_itself else ", and no judgment"
        raise BadValueError(f"query={query!r}: no row of the frame has it{beside}")
    own = np.flatnonzero(mine.to_numpy()[grid.query])
    try:
        judged = Block(log, own).ranking().n_judged > 0
    except BadRowsError:
        log.each_block(lambda block: None)  # raises for the rows of other queries too
        raise
    if not judged.any():
        raise BadValueError(f"query={query!r}: none of its documents is judged")
    return own[judged]


def _explained(log: Log, name: str, metric: Metric, own: Array) -> Answer:
    """Return one row per result of some rankings, in rank order."""
    check_grades([(name, metric)], log)
    grid, document = log.grid, log.columns.doc
    block = Block(log, own)
    run = block.ranking().variant(*log.conventions.variant(metric))
    cut = run.n_ret if metric.k is None else run.retrieved(metric.k).astype(np.int64)
    at, of = spans(run.starts, cut), np.repeat(np.arange(run.n_queries), cut)
    rank = at - run.starts[of] + 1 if run.shown is None else run.shown[at]
    gain = gain_of(run.grade, metric.params.get("gain") or "linear") if metric.graded else run.good
    added, weight = _added(run, cut, metric), _added(run, cut, metric.weigher, ones=True)
    columns = (pl.Series(rank.astype(np.int64)), number(gain[at]), number(weight), number(added))
    each = own[of]
    keys = log.key_rows(system=grid.system[each], segment=grid.segment[each], query=grid.query[each])
    if document:
        keys[document] = log.rows(block.rows.frame_rows(grid.rankings, at))
    return Answer(keys, dict(zip(SCHEMA, columns, strict=True)))


def _added(run: Ranking, cut: Array, metric: Metric | None, *, ones: bool = False) -> Array:
    """Changes of a metric with each result of each ranking, NaN where undefined; with ``ones`` all gains are 1."""
    if metric is None:
        return np.full(cut.sum(), np.nan)
    added = [_added_to_one(run, i, int(cut[i]), metric, ones) for i in range(run.n_queries)]
    return np.concatenate([np.zeros(0), *added])


def _added_to_one(run: Ranking, i: int, cut: int, metric: Metric, ones: bool) -> Array:
    step = max(threads.BLOCK // max(int(run.lengths[i]), 1), 1)
    lengths = (np.arange(a, min(a + step, cut + 1)) for a in range(0, cut + 1, step))
    values = np.concatenate([metric.compute(_shortened(run, i, some, ones)) for some in lengths])
    if abs(np.nan_to_num(values[0])) > 1e-12:
        raise NotComputableError(
            f"{metric} is {values[0]:g} where nothing is retrieved; explain() takes apart what begins at 0, as ndcg@10"
        )
    return np.full(cut, np.nan) if np.isnan(values[-1]) else np.diff(np.nan_to_num(values))


def _shortened(run: Ranking, i: int, n_ret: Array, ones: bool) -> Ranking:
    """Copies of one ranking, each with another number of retrieved results; the judgments stay."""
    m, rows, query = len(n_ret), slice(int(run.starts[i]), int(run.starts[i] + run.lengths[i])), slice(i, i + 1)

    def each(values: Array | None, own: slice | Array = rows) -> Array | None:
        return None if values is None else np.tile(values[own], m)

    grade, length, shown = np.tile(run.grade[rows], m), np.full(m, run.lengths[i]), each(run.shown)
    if ones:
        return Ranking(np.ones(len(grade)), length, n_ret, shown=shown)
    pool = run.pool
    if pool is not None:
        own = np.flatnonzero(pool.query == i)
        pool = Pool(np.repeat(np.arange(m), len(own)), np.tile(pool.grade[own], m), each(pool.label, own))
    judged = replace(run, pool=pool, known_relevant=each(run.known_relevant, query), size=each(run.size, query))
    return replace(judged, grade=grade, lengths=length, n_ret=n_ret, label=each(run.label), shown=shown)
