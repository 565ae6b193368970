"""Check the systems and metrics that a report shall compare, before anything is computed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.protocol import Backend, Pieces, Request
from frame_metrics.errors import NotComputableError, listed
from frame_metrics.measuring.baseline import saved_call
from frame_metrics.measuring.pairs import bases_of, number_of_system, pair_systems
from frame_metrics.measuring.saved_values import MOST_LISTED, named_in
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.metrics.saved_names import is_known, metric_of
from frame_metrics.plan.given import Given
from frame_metrics.plan.plan import Plan, plan_of
from frame_metrics.roles.columns import Columns


def check_baselines(plan: Plan, baseline: Any) -> None:
    """Raise for a baseline that is not a system of the frame, or if baselines leave no system to compare with them."""
    column = str(plan.columns.side)
    names = _systems(plan, column)
    if not len(names):  # a frame without rows has no systems, which its audit says
        return
    for base in bases_of(baseline, names):
        number_of_system(base, names, column)
    if len(names) > 1:
        pair_systems(range(len(names)), names, baseline, column)


def _systems(plan: Plan, column: str) -> pl.Series:
    """Return the distinct systems of a frame; no other column is read."""
    if plan.columns.shape.per_system:
        return pl.Series(column, plan.columns.shape.per_system)
    found: list[pl.Series] = []

    def read(rows: pl.DataFrame | Pieces) -> Answer:
        table = rows.counted([column]) if isinstance(rows, Pieces) else rows
        found.append(table[column].unique(maintain_order=True))
        return Answer({}, {column: found[0][:0]}).of_rows(pl.DataFrame(), None)

    backend = plan.backend
    backend.collected(backend.answer(Request([column], read, lambda types: types, plan.given.limits, True)))
    return found[0]


def not_saved(plan: Plan, baseline: Any, asked: Asked) -> dict[str, str]:
    """Return the metrics that saved numbers do not have, each with the reason.

    Parameters
    ----------
    plan : the plan of the frame that is compared with them.
    baseline : the frame of saved numbers, which may have roles.
    asked : the metrics to compare.

    Raises
    ------
    FrameMetricsError
        The columns of the saved numbers do not fit those of the frame.
    """
    names, wanted = _saved(plan, baseline), {_plain(metric) for _, metric in asked}
    names = [name for name in names if is_known(metric_of(name)) or _plain(metric_of(name)) in wanted]
    saved = {_plain(metric_of(name)) for name in names}
    names_text = f"{listed(names[:MOST_LISTED])}{', ...' if len(names) > MOST_LISTED else ''}"
    why = {
        name: f"the baseline has no numbers of {name!r}; it has {names_text}"
        for name, metric in asked
        if _plain(metric) not in saved
    }
    available = [one for one in asked if one[0] not in why]
    for one in available:
        try:
            saved_call(baseline, plan, [one])
        except NotComputableError as error:  # the metric has a function without a name
            why[one[0]] = str(error)
    if not available:
        saved_call(baseline, plan, None, audited=True)
    return why


def _plain(metric: Metric) -> str:
    """Return the text of a metric whatever its average: saved numbers are those of queries."""
    return str(replace(metric, average=None))


def _saved(plan: Plan, baseline: Any) -> list[str]:
    """Return the names of the metrics that saved numbers have."""
    if isinstance(baseline, Given):
        columns = plan_of(baseline).columns
        return [name for name, _ in _named(baseline.backend, columns)] if columns.metric else [*columns.value]
    backend = backend_of(baseline)
    available = backend.names()
    if {"metric", "value"} <= {*available}:
        return [name for name, _ in _named(backend, Columns.of(query=(), metric="metric"))]
    keys = {*plan.columns.query, *plan.columns.by, "query", plan.columns.system or "system"}
    return [name for name in available if isinstance(name, str) and name not in keys]


def _named(backend: Backend, columns: Columns) -> Asked:
    """Return the metrics that the column of metrics names."""
    column = str(columns.metric)
    return named_in(backend.in_memory([column]).read([column]), columns) or []
