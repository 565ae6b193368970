"""Margins of a comparison: the margin of each metric, and the columns of a difference compared with one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite, nan
from typing import Any, TypeAlias

import numpy as np

from frame_metrics.errors import BadValueError, NotComputableError, UnknownNameError, closest, listed, quote
from frame_metrics.inputs import Array, Lists
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.metrics.parameters import is_number, plain
from frame_metrics.metrics.saved_names import metric_of, read_elsewhere
from frame_metrics.stats.margins import SIGNS_OF_MARGIN
from frame_metrics.stats.two_arms import MIN_DIFFERING

Margin: TypeAlias = float | Mapping[str, float]  # one for all metrics, or one for each that has one
OF_MARGIN = ("p_not_worse", "p_equivalent")


def margin_read(margin: Any) -> Any:
    """Return a margin as a float, or as floats by metric; raise for what is none, before anything is read."""
    if isinstance(margin, Mapping):
        if not margin:
            raise BadValueError("margin={} names no metric; pass a number for all metrics, or a number for each")
        return {_name(name): _number(one, f"margin of {quote(name)}: ") for name, one in margin.items()}
    return _number(margin, "")


def _name(name: Any) -> str:
    """Return the name of a metric, as "ndcg@10" or as a metric itself."""
    if not isinstance(name, str | Metric):
        raise BadValueError(f"margin: {quote(name)} is not the name of a metric, as 'ndcg@10'")
    return str(name)


def _number(value: Any, of: str) -> float:
    """Return a margin as a float; ``of``: words before the error, for the metric of the margin."""
    found = plain(value)
    if not is_number(found) or not isfinite(found) or found <= 0:
        raise BadValueError(
            f"{of}margin={quote(value)} is not a number above 0, as 0.01: the loss of a metric that would still be "
            "accepted"
        )
    return float(found)


def margins_of(margin: Any, asked: Asked, *, bounded: bool = False) -> Array:
    """Return the margin of each metric, NaN of one without, shape (metrics,).

    Parameters
    ----------
    margin : as ``margin_read`` returns it; None for none.
    bounded : whether values are known to be within the range of their metric, as computed ones are, so that a margin
        that no difference can reach is an error.
    """
    found = np.full(len(asked), nan)
    if isinstance(margin, Mapping):
        for name, value in margin.items():
            meant = [metric for _, metric in read_elsewhere([name])]
            at = [i for i, (_, metric) in enumerate(asked) if metric in meant]
            if not at:
                names = [name for name, _ in asked]
                raise UnknownNameError(
                    f"margin: {name!r} is none of the metrics that are compared, {listed(names)}{closest(name, names)}"
                )
            if not np.isnan(found[at]).all():
                raise BadValueError(f"margin: {name!r} is a metric that has a margin already; pass one")
            found[at] = value
    elif margin is not None:
        found[:] = margin
    for (name, metric), value in zip(asked, found.tolist(), strict=True):
        if value == value:
            _check_of_queries(name, metric)
            if bounded:
                check_possible(name, metric.range, value)
    return found


def check_possible(name: str, limits: tuple[float, float], margin: float) -> None:
    """Raise for a margin that no difference of a metric can reach; ``limits``: its least and its greatest value."""
    least, most = limits
    if margin >= most - least:
        raise BadValueError(
            f"margin={margin:g}: no difference of {name} is greater, as its values are from {least:g} to {most:g}; "
            "pass a smaller one"
        )


def _check_of_queries(name: str, metric: Metric) -> None:
    """Raise for a metric without values of queries."""
    if metric.input is Lists:
        raise NotComputableError(
            f"margin= applies to means over queries, and {name} has one value for all lists together; leave {name} "
            "out, or name the metrics that have a margin, as margin={'ndcg@10': 0.01}"
        )


def margin_columns(p: Array, metric: Metric) -> dict[str, float]:
    """Return the columns of a difference compared with a margin.

    Parameters
    ----------
    p : the p-values of two claims: that the loss, and that the gain, is less than the margin. If it is not known
        whether more is better, these are the two directions, and "p_not_worse" is null.
    """
    of_loss, of_gain = (float(one) for one in p)
    return dict(zip(OF_MARGIN, (nan if metric.higher is None else of_loss, max(of_loss, of_gain)), strict=True))


def margin_columns_of_error(
    difference: float, error: float, metric: Metric, margin: float, p_of: Callable[[float], float]
) -> dict[str, float]:
    """Return the columns of a margin for one difference; ``p_of``: from standard errors above 0 to a p-value."""
    return margin_columns(
        np.array([p_of((side * metric.sign * difference + margin) / error) for side in SIGNS_OF_MARGIN]), metric
    )


def margin_of(margin: Any, name: str) -> float | None:
    """Return the margin of a metric of a result, None if it has none; ``margin``: as the caller gave it."""
    if not isinstance(margin, Mapping):
        return float(margin)
    metric = metric_of(name)
    each = ((value, read_elsewhere([key])) for key, value in margin.items())
    return next((float(value) for value, meant in each if metric in [one for _, one in meant]), None)


def loss_left(row: Mapping[str, Any], metric: Metric, margin: float) -> float:
    """Return the greatest loss that a row of a comparison does not exclude, but at least the margin."""
    end = row["ci_low"] if metric.sign > 0 else row["ci_high"]
    return margin if end is None else max(margin, -metric.sign * end)


def unknown_why(row: Mapping[str, Any]) -> str:
    """Return why p_not_worse of a row is null, in words."""
    name, n, moved = row["metric"], row["n"], None
    if row.get("wins") is not None and row.get("losses") is not None:
        moved = row["wins"] + row["losses"]
    if metric_of(name).higher is None:
        return (
            f"whether more of {name} is better or worse is not known, so that nothing is a loss; a metric of this name "
            "declares it, as @frame_metrics.metric(range=(0, np.inf), best=np.inf)"
        )
    if moved is not None and moved < MIN_DIFFERING:
        return f"{moved:,} of {n:,} queries moved: too few to exclude a loss in rare ones"
    return "too few differ, or all by the same, to exclude a loss in rare ones"
