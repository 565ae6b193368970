"""Compute metrics for a source: in memory at once, else in pieces, which send only sums if averages need no more."""

from __future__ import annotations

from collections.abc import Sequence

from frame_metrics.data.log import Log
from frame_metrics.measuring import pieces, saved_values
from frame_metrics.measuring.all_pieces import measure_in_pieces
from frame_metrics.measuring.found_query import check_found
from frame_metrics.measuring.queries import measure
from frame_metrics.measuring.sums import MIN_TO_SUM, Summing, need_sums_alone
from frame_metrics.measuring.values import Values
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.plan.call import Call, bind, call_of_every_role
from frame_metrics.plan.checks import check_asked
from frame_metrics.plan.needs import Needs, needs_of
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import InPieces, Source
from frame_metrics.plan.verb import check_roles
from frame_metrics.stats.averages import Averages
from frame_metrics.threads import BLOCK

SMALL_TABLE = 1 << 20  # a table of fewer values of metrics is held whole


def planned(plan: Plan, metrics: Sequence[Metrics], more: Needs) -> tuple[Call, Asked | None]:
    """Return the call for some metrics, and the metrics, read from their names.

    The metrics are None if only the data name them (saved numbers, and no metric is asked for): then all are meant.
    ``more``: needs beyond those of metrics.
    """
    if plan.has_saved_numbers:
        if more.verb is not None:
            check_roles(plan, more.verb)
        of_values = call_of_every_role(plan)
        return of_values, saved_values.asked_of(metrics, of_values.columns)
    asked = read(metrics)
    call = bind(plan, needs_of(plan, asked) | more)
    if call.columns.query:
        check_asked(asked, call)
    return call, asked


def values_of_source(
    source: Source,
    asked: Asked | None,
    averages: Averages = (None,),
    *,
    queries: bool = True,
    totals: bool = False,
) -> Values:
    """Compute metrics for every ranking of a source, or only their sums, if no single ranking is needed.

    Numbers of ``value=`` are taken as they are.

    Parameters
    ----------
    source : the rows, in memory or in pieces.
    asked : the metrics; None for all those of ``value=``.
    averages : the averages that will be needed: "micro" needs the counts of each query, "rows" its number of rows.
    queries : whether single queries will be shown or resampled.
    totals : see ``read_log``.
    """
    if asked is None or source.call.has_saved_numbers:
        return saved_values.saved_values_of(source, asked, averages, queries=queries)
    large = isinstance(source, InPieces) or len(source.table) > BLOCK
    sums = large and not queries and need_sums_alone(source.call.conventions, asked, averages)
    if not isinstance(source, InPieces):
        log = source.log(totals=totals)
        check_found(source.call, log, asked, averages)
        return measure(log, asked, averages, sums=sums and _take_less_room(log, len(asked)))
    kind = Summing if sums else pieces.Measuring
    return measure_in_pieces(pieces.work_of(kind, source, asked, averages, totals=totals), source)


def _take_less_room(log: Log, n_metrics: int) -> bool:
    """Return True if values of each ranking take much room, and sums of each cell and block less.

    Values that fit are summed once, which is faster than block by block. The log has rows / BLOCK blocks, each with
    up to a sum for each cell, and a sum takes the room of MIN_TO_SUM values.
    """
    rankings, cells = len(log.grid.segment_query), len(log.index.systems) * len(log.index.segments)
    return rankings * n_metrics > SMALL_TABLE and rankings * BLOCK > MIN_TO_SUM * cells * len(log.table)
