"""Errors if "query" was found by name only, and the caller may mean values of all rows together, not of rankings."""

from __future__ import annotations

import numpy as np

from frame_metrics.data.facts import Facts
from frame_metrics.data.log import Log
from frame_metrics.data.misread import found_query_text, has_single_rows, n_rows, single_rows_text
from frame_metrics.errors import MistakenColumnError
from frame_metrics.inputs import FullRanking, FullScores
from frame_metrics.measuring.queries import measure_rankings
from frame_metrics.metrics.metric import REGISTRY
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.call import Call
from frame_metrics.stats.averages import Averages


def check_found(call: Call, log: Facts, asked: Asked, averages: Averages = (None,)) -> None:
    """Raise for means over queries that were only found by name, if the caller may mean values of all rows together.

    The caller may mean that if no query has two rows, whatever the metrics; and with a metric of the scores of two
    classes, if no average over queries is asked for.

    Parameters
    ----------
    log : the log, or the facts about all pieces.
    asked, averages : the metrics, and the averages that are asked for.
    """
    verb = None if call.needs is None else call.needs.verb
    if verb is None or not (verb.means and call.plan.ranking_is_guessed):
        return
    if has_single_rows(log):
        pooled = not any(metric.input is FullRanking or metric.k for _, metric in asked)
        raise MistakenColumnError(single_rows_text(log, pooled=pooled), check="queries of one row", n=n_rows(log))
    name = next((name for name, metric in asked if metric.input is FullScores and metric.average is None), None)
    if name is not None and not any(averages) and log.row_counts[2] > 1:  # of one query, both values are the same
        error = found_query_text(log, name, _of_one_class(log) if isinstance(log, Log) else 0)
        raise MistakenColumnError(error, check="query found by name", n=log.row_counts[2])


def _of_one_class(log: Log) -> int:
    """Return the number of queries whose rows are all of one class."""
    found = measure_rankings(log, (("roc_auc", REGISTRY["roc_auc"]),))
    return len(np.unique(log.grid.query[found.evaluated & np.isnan(found.value[0])]))
