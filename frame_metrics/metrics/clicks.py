"""The measures of clicks on shown results: a clicked result is a relevant one, and its position is its rank."""

from __future__ import annotations

from functools import partial

import numpy as np

from frame_metrics.inputs import Array, FullRanking, ratio
from frame_metrics.metrics.ranking import success
from frame_metrics.metrics.registry import metric

# What adds up over clicks.
_clicks = partial(metric, best=None, unjudged="rises", adds=True)


@metric(completes="success", monotone=True, expected=True, unjudged="turns", also=("abandonment_rate", "no_click_rate"))
def abandonment(run: FullRanking, k: int | None = None) -> Array:
    """Absence of a click at ranks up to k: the mean is the share of abandoned searches.

    Formula: 1 if nothing was clicked, else 0.
    Undefined: nothing was clicked, at any rank.
    Source: F. Radlinski, M. Kurup, T. Joachims, How does clickthrough data reflect retrieval quality?, CIKM 2008.
    """
    return 1 - success(run, k)


@_clicks(range=(0, np.inf), monotone=True, expected=True, also=("clicks", "clicks_per_search", "clicks_per_impression"))
def clicks_per_query(run: FullRanking, k: int | None = None) -> Array:
    """Number of clicked results at ranks up to k: the mean is the clicks per search.

    Formula: number of clicked results r <= k.
    Undefined: never.
    Source: F. Radlinski, M. Kurup, T. Joachims, How does clickthrough data reflect retrieval quality?, CIKM 2008.
    """
    return run.hits(k)


@metric(best=None, also=("reciprocal_rank_of_the_last_click", "minimum_reciprocal_rank"))
def last_click_rr(run: FullRanking) -> Array:
    """Reciprocal rank of the lowest click in the list: how far down the user went; rr is for the highest click.

    Formula: 1 / rank of the lowest clicked result.
    Undefined: nothing that was shown was clicked.
    """
    return ratio(np.minimum(run.hits(), 1), run.relevant.reduce(np.maximum, run.rank))


@metric(
    range=(1, np.inf), best=1, undefined=None, monotone=True, also=("first_click_rank", "position_of_the_first_click")
)
def first_click_position(run: FullRanking) -> Array:
    """Position of the highest click.

    Formula: rank of the first clicked result.
    Undefined: nothing that was shown was clicked.
    """
    return ratio(run.relevant.reduce(np.minimum, run.rank), np.minimum(run.hits(), 1))


@_clicks(range=(0, np.inf), expected=True, also=("sum_of_click_positions", "sum_of_click_ranks"))
def click_position_sum(run: FullRanking) -> Array:
    """Sum of the positions of the clicks of a search.

    Formula: the sum of the ranks of the clicked results.
    Undefined: never.
    Source: T. Joachims, A. Swaminathan, T. Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017.
    """
    return run.total(run.rank)


@metric(
    range=(1, np.inf),
    best=None,
    undefined=None,
    micro=lambda run: (run.total(run.rank)[None], run.hits()[None]),
    also=("average_click_position", "mean_click_rank"),
)
def mean_click_position(run: FullRanking) -> Array:
    """Mean position of the clicks of a search.

    Formula: the sum of the ranks of the clicked results, over their number; with average="micro", both over all
        searches together.
    Undefined: nothing that was shown was clicked.
    """
    return ratio(run.total(run.rank), run.hits())


@_clicks(undefined=None, also=("ctr_of_a_position", "click_through_rate_by_position"))
def position_ctr(run: FullRanking, k: int | None = None) -> Array:
    """Click on the result at rank k itself: the mean is the position's click-through rate; curve("ctr") gives all.

    Formula: 1 if the result at rank k was clicked, else 0; without a cutoff, clicked results over those shown.
    Undefined: nothing was shown at rank k.
    """
    clicks, results = run.hits(k), run.retrieved(k)
    if k is not None and k > 1:
        clicks, results = clicks - run.hits(k - 1), results - run.retrieved(k - 1)
    return ratio(clicks, results)
