"""The verb confusion: counts of every pair of a predicted and a true class, their totals and shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.classes import class_type, match_clusters
from frame_metrics.data.segments import Crossed, crossed
from frame_metrics.errors import ColumnError, check_bool, check_key_names
from frame_metrics.inputs import Array, ratio
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.groups import ResultGroups, groups_of
from frame_metrics.measuring.decided import cases_read, in_caller_type, type_of_classes
from frame_metrics.measuring.results import float_column, integer_column
from frame_metrics.plan.call import bind
from frame_metrics.plan.declared import CONFUSION
from frame_metrics.plan.needs import Needs, needs_of_decision
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of

SHARES = ("share", "share_of_predicted", "share_of_actual")
PAYOFFS = ("odds", "payoff")


def confusion(plan: Plan, *, margins: bool, shares: bool, payoffs: bool) -> Any:
    """Implement ``irm.confusion``, whose docstring has the parameters."""
    for name, given in (("margins", margins), ("shares", shares), ("payoffs", payoffs)):
        check_bool(name, given)
    call = bind(plan, needs_of_decision(plan, "confusion()", retrieved=False) | Needs(verb=CONFUSION))
    total = {"total_over": pl.String} if margins else {}
    share = dict.fromkeys(SHARES * shares + PAYOFFS * payoffs, pl.Float64)
    check_key_names(call.columns.keys, (*total, "predicted", "matched", "actual", "n", *share))
    columns, match = call.columns, call.conventions.match
    if match is not None and columns.predicted is None:
        raise ColumnError("match= is about predicted clusters; name predicted=")

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        kind = type_of_classes(types, call)
        predicted = {"predicted": kind}
        if match is not None:
            predicted = {"predicted": class_type(types[str(columns.predicted)]), "matched": kind}
        return total | predicted | {"actual": kind, "n": pl.Float64 if columns.weight else pl.Int64} | share

    def compute(source: Source) -> Answer:
        cases = cases_read(source, named=True, totals=margins)
        return in_caller_type(_counts(cases, margins=margins, shares=shares, payoffs=payoffs), source)

    return answer_of(call, compute, schema, keys=call.columns.cell_keys)


def _counts(cases: Cases, *, margins: bool, shares: bool, payoffs: bool) -> Answer:
    """Return the answer: for each group a row for each pair of a predicted and a true class, then totals."""
    if cases.unmatched_error is not None:
        raise cases.unmatched_error
    groups = groups_of(cases.cells, margins and bool(cases.columns.by))
    each = [crossed(cases, segments) for segments in groups.each]
    table = groups.in_result_order([_with_totals(part, some=any(one.undecided for one in each)) for part in each], 0)
    group, predicted, actual = _rows_of(*table.shape, margins=margins)
    amounts = table[group, actual, predicted]
    names = cases.classes if cases.found_clusters is None else cases.found_clusters
    columns = {"total_over": _over(groups, group, table, predicted, actual)} if margins else {}
    columns["predicted"] = _named(names, predicted)
    # Clusters stand for the class that they are matched to.
    taken = np.full((len(table), table.shape[2]), NONE)  # the class that each prediction stands for
    if cases.conventions.match is None:
        taken[:, : len(names)] = np.arange(len(names))
    else:
        there = groups.in_result_order([part.has_rows for part in each], 0)
        taken[:, : len(names)] = match_clusters(table[:, :-1, : len(names) + 1], there, len(names), cases.conventions)
        columns["matched"] = _named(cases.classes, taken[group, predicted])
    columns |= {
        "actual": _named(cases.classes, actual),
        "n": (float_column if cases.weighted else integer_column)(amounts),
    }
    if shares:
        of = table[group, -1, -1], table[group, -1, predicted], table[group, actual, -1]
        columns |= {name: float_column(ratio(amounts, rows)) for name, rows in zip(SHARES, of, strict=True)}
    if payoffs:
        paid = _payoffs(table[:, :-1, :-1], taken[:, :-1])
        columns |= {
            name: float_column(each[group, actual, predicted]) for name, each in zip(PAYOFFS, paid, strict=True)
        }
    return Answer(groups.key_rows(group), columns, table=groups.key_table)


def _with_totals(cells: Crossed, *, some: bool) -> Array:
    """Return all cells, with totals appended: by true class and prediction, shape (groups, K + 1, F + 1).

    ``some``: whether some rows have no prediction, which is a column of its own.
    """
    groups, k, found = cells.shape
    table = np.zeros((groups, k + 1, found + 1 + some))
    table[cells.segment, cells.true, cells.found] = cells.amount
    table[:, -1, :-1] = table[:, :-1, :-1].sum(axis=1)
    table[:, :, -1] = table[:, :, :-1].sum(axis=2)
    return table


def _payoffs(counts: Array, taken: Array) -> tuple[Array, Array]:
    """Return fair odds and payoff of each cell, and payoffs of totals, as Powers (2003) prints them; NaN for none.

    Parameters
    ----------
    counts : number of rows by true class and prediction, shape (groups, K, F).
    taken : the class that each prediction stands for, -1 for none, shape (groups, F).

    Returns
    -------
    Odds and payoffs, with totals as in ``_with_totals``, shape (groups, K + 1, F + 1) each.
    """
    right, says = taken[:, None] == np.arange(counts.shape[1])[:, None], (taken != NONE)[:, None]
    bets = counts * says
    actual, rows = bets.sum(axis=2, keepdims=True), bets.sum(axis=(1, 2), keepdims=True)
    of_class = (right * actual).sum(axis=1, keepdims=True)  # rows of the class that a prediction stands for
    there = says & ((actual > 0).sum(axis=1, keepdims=True) > 1)
    against = np.where(right, of_class, of_class - rows)
    odds, paid = np.full((2, len(counts), counts.shape[1] + 1, counts.shape[2] + 1), np.nan)
    odds[:, :-1, :-1] = np.where(there, ratio(rows, against), np.nan)
    paid[:, :-1, :-1] = np.where(there, np.where(bets == 0, 0, ratio(bets, against)), np.nan)
    paid[:, -1, :-1] = won = paid[:, :-1, :-1].sum(axis=1)
    payoffs = (right * (right * bets.sum(axis=1, keepdims=True)).sum(axis=2, keepdims=True)).sum(axis=1)
    paid[:, -1, -1] = np.where(there.any(axis=(1, 2)), np.nansum(won * payoffs, axis=1), np.nan)
    paid[:, -1, -1] /= counts.sum(axis=(1, 2))
    return odds, paid


def _rows_of(groups: int, actual: int, predicted: int, *, margins: bool) -> tuple[Array, Array, Array]:
    """Return the group, prediction and true class of each row of the result, as positions in a table with totals.

    In each group first every pair, by prediction; with ``margins`` then the totals over predictions, those over true
    classes, and the total over both. ``actual``, ``predicted``: the sizes of the table, totals included.
    """
    sizes = (predicted, actual) if margins else (predicted - 1, actual - 1)
    prediction, true = (at.ravel() for at in np.indices(sizes, np.int32))
    if margins:
        # 1 over predictions, 2 over classes, 3 over both.
        over = 2 * (true == actual - 1) + (prediction == predicted - 1)
        order = np.argsort(over, kind="stable")
        prediction, true = prediction[order], true[order]
    return (
        np.repeat(np.arange(groups, dtype=np.int32), len(prediction)),
        np.tile(prediction, groups),
        np.tile(true, groups),
    )


def _over(groups: ResultGroups, group: Array, table: Array, predicted: Array, actual: Array) -> pl.Series:
    """Return the column ``total_over``: the keys that each row is a total over, null for none.

    ``group``, ``predicted``, ``actual``: as ``_rows_of`` returns them.
    """
    kinds = [(), ("predicted",), ("actual",), ("predicted", "actual")]
    over = [", ".join([*([] if by is None else [by]), *kind]) or None for by in groups.total_over() for kind in kinds]
    kind = (predicted == table.shape[2] - 1) + 2 * (actual == table.shape[1] - 1)
    return pl.Series(over, dtype=pl.String)[4 * group + kind]


def _named(names: pl.Series, places: Array) -> pl.Series:
    """Return the name at each position, null for a position without one: a total, or no prediction."""
    at = pl.Series(places)
    return names.gather(at.set((at < 0) | (at >= len(names)), None))
