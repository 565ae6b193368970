"""The choice of rows if there are too many to show: those of the best systems and of the baseline come first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from frame_metrics.report.cells import sign_of

Frame = TypeVar("Frame", pl.DataFrame, pl.DataFrame | None)


def places_of(
    results: pl.DataFrame,
    system: str | None,
    metric: str,
    baselines: Sequence[Any],
    beaten_by: Mapping[Any, Collection[Any]],
) -> dict[Any, int]:
    """Return the place of each system: the best one first, then the baselines, then all others by a metric.

    Without a direction the highest comes first, as ``leaderboard`` has it.

    Parameters
    ----------
    results : the rows of ``evaluate`` over all segments.
    baselines : the systems with which others are compared; a baseline that is not a system gets no place.
    beaten_by : for ``after_betters``.
    """
    if system is None:
        return {}
    ranked = after_betters(ranked_by(results, system, metric), beaten_by)
    order = dict.fromkeys([*ranked[:1], *(one for one in baselines if one in ranked[1:]), *ranked[1:]])
    return {one: place for place, one in enumerate(order)}


def after_betters(ranked: Sequence[Any], beaten_by: Mapping[Any, Collection[Any]]) -> list[Any]:
    """Return systems in their order, each after those that surely beat it; of those that beat each other the first.

    Means over different queries may place a system before one that is surely better on the queries of both.

    Parameters
    ----------
    beaten_by : the systems that surely beat a system on the queries of both.
    """
    left, found = [*ranked], []
    while left:
        free = (one for one in left if not any(other in left for other in beaten_by.get(one, ()))) if beaten_by else ()
        found.append(left.pop(left.index(next(iter(free), left[0]))))
    return found


def ranked_by(results: pl.DataFrame, system: str, metric: str) -> list[Any]:
    """Return the systems, the best by a metric first (without a direction the highest), those without a value last."""
    own = results.filter(pl.col("metric") == metric)
    order = pl.col("value") * -(sign_of(metric) or 1)  # descending sorts of older polars reverse equal ones
    ranked = own.sort(order, nulls_last=True, maintain_order=True)
    return [*dict.fromkeys([*ranked[system].to_list(), *results[system].to_list()])]


def sorted_by(frame: Frame, system: str, ranked: Sequence[Any]) -> Frame:
    """Return a frame with the rows of the first systems first; unchanged if it has no systems, or is None."""
    if frame is None or system not in frame.columns:
        return frame
    places = {one: place for place, one in enumerate(ranked)}
    return frame[sorted(range(len(frame)), key=[places.get(one, len(places)) for one in frame[system]].__getitem__)]


def best_and_near(ranked: Sequence[Any], baselines: Sequence[Any], most: int) -> list[Any]:
    """Return the first systems, and each baseline with those just before and after it.

    Parameters
    ----------
    ranked : the systems, the best first.
    most : how many of the first.
    """
    near = [at for at, one in enumerate(ranked) if one in baselines]
    return [one for at, one in enumerate(ranked) if at < most or any(abs(at - place) <= 1 for place in near)]


def foremost(
    systems: Sequence[Any], places: Mapping[Any, int], most: int, before: Collection[int] = ()
) -> Sequence[int]:
    """Return the numbers of the rows to show, in ascending order.

    Parameters
    ----------
    systems : the system of each row.
    places : the place of each system; a lower one goes first.
    most : the most rows to show.
    before : the numbers of rows that are chosen before all others.
    """
    if len(systems) <= most:
        return range(len(systems))
    last = len(places)
    order = sorted(range(len(systems)), key=lambda at: (at not in before, places.get(systems[at], last), at))
    return sorted(order[:most])
