"""The verb propensities: estimate how often each rank is examined, from documents that were shown at several ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import NotComputableError, check_choice, check_whole
from frame_metrics.fast.codes import codes
from frame_metrics.hidden import BELOW, OTHER, RATE
from frame_metrics.inputs import Array, ratio
from frame_metrics.keys.groups import drawing_ranks
from frame_metrics.measuring.impressions import (
    CLICKED,
    RANK,
    ROW,
    SHOWN,
    check_unclicked,
    impression_results,
    impressions_call,
)
from frame_metrics.measuring.results import IntervalOptions, float_column, integer_column
from frame_metrics.plan.call import bind
from frame_metrics.plan.declared import PROPENSITIES
from frame_metrics.plan.needs import RANKED, Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.stats.resampling import percentiles, resampled

Estimator = Literal["pivot", "adjacent", "all_pairs"]
RESULT = {"rank": pl.Int64, "propensity": pl.Float64, "n": pl.Int64, "ci_low": pl.Float64, "ci_high": pl.Float64}
DEEPEST = 10_000  # limit of ranks
OF_WHAT = "if each query is one impression, pass the column of the search text as query_text="
# Limits of the maximum likelihood fit: steps (a few are enough, unless rates are 0 or 1), and the least rate.
STEPS, TINY = 1000, 1e-9
STILL = 1e-12  # a shorter step ends the fit


def propensities(plan: Plan, estimator: str, *, query_text: Any, k: int | None, options: IntervalOptions) -> Any:
    """Implement ``irm.propensities``, whose docstring has the parameters."""
    check_choice("estimator", estimator, get_args(Estimator))
    if k is not None:
        check_whole("k", k, 1)
    call = impressions_call(
        bind(plan, RANKED | Needs(verb=PROPENSITIES)), "propensities", query_text, RESULT, doc=False
    )
    by, queries = call.columns.by, call.columns.query_text or call.columns.query

    keys = [*by, *queries, str(call.columns.doc)]
    per_system = replace(call, columns=call.columns.as_segments())  # each system has impressions of its own

    def compute(source: Source) -> Answer:
        rows, at_rows, counts = impression_results(source, keys)
        check_unclicked(rows, call.columns)
        some = rows if k is None else rows.filter(pl.col(RANK) <= k)
        pairs = _pairs(some, keys, estimator)
        # Each segment has propensities of its own, down to its deepest rank.
        segments = some.group_by(*by, pl.lit(0).alias(RATE)).agg(pl.max(RANK), pl.min(ROW)).drop_nulls(RANK)
        segments = segments.sort(*by, ROW, nulls_last=True)
        tables = [pl.DataFrame(schema=RESULT)]
        for i in range(len(segments)):
            mine = pairs.join(segments[[i]], on=list(by), how="semi", nulls_equal=True) if by else pairs
            tables.append(_of_segment(mine, keys[len(by) :], segments[[i]].select(*by, RANK), estimator, options))
        first = segments[ROW].to_numpy().astype(np.int64)
        at = np.repeat(at_rows(first), [len(one) for one in tables[1:]])
        table = pl.concat(tables)
        return Answer(dict.fromkeys(by, at), {name: table[name] for name in RESULT}, table=counts)

    return answer_of(per_system, compute, lambda _: RESULT, keys=by)


def _pairs(rows: pl.DataFrame, keys: Sequence[str], estimator: str) -> pl.DataFrame:
    """Return a row for each document of a query that was shown at two compared ranks, with its click rates there."""
    rate = (pl.sum(CLICKED) / pl.sum(SHOWN)).alias(RATE)
    each = rows.group_by(*keys, RANK, maintain_order=True).agg(rate)
    other = each.rename({RANK: BELOW, RATE: OTHER})
    some = {"pivot": pl.col(RANK) == 1, "adjacent": pl.col(BELOW) == pl.col(RANK) + 1}.get(estimator, pl.lit(True))
    pairs = each.join(other, on=keys, nulls_equal=True, maintain_order="left_right")
    return pairs.filter(pl.col(RANK) < pl.col(BELOW), some).sort(RANK, BELOW, maintain_order=True)


def _of_segment(
    pairs: pl.DataFrame, keys: Sequence[str], segment: pl.DataFrame, estimator: str, options: IntervalOptions
) -> pl.DataFrame:
    """Return the propensities of the ranks of one segment, as rows of the result.

    Parameters
    ----------
    pairs : a row for each document of a query that was shown at two compared ranks, with its click rates there.
    keys : the columns of the query, then that of the document.
    segment : one row: the values of the segment, then its deepest rank.
    """
    *values, depth = segment.row(0)
    if depth > DEEPEST:
        raise NotComputableError(f"propensities(): a result stood at rank {depth:,}; pass k=, at most {DEEPEST:,}")
    unit, first = codes(pairs, keys[:-1])
    order = np.lexsort(drawing_ranks(pairs.select(keys[:-1])[first])[::-1])
    edge, edges = codes(pairs, [RANK, BELOW])
    compared = [pairs[name].gather(edges).to_numpy() - 1 for name in (RANK, BELOW)]
    rates = np.stack([pairs[RATE].to_numpy(), pairs[OTHER].to_numpy(), np.ones(len(pairs))])
    n_units = max(len(first), 1)
    cell = edge * n_units + np.argsort(order)[unit]
    each = np.stack([np.bincount(cell, rate, len(edges) * n_units) for rate in rates]).reshape(-1, n_units)
    sums = each.sum(axis=1).reshape(3, -1, 1)
    _check_overlap(sums[:2, :, 0], compared, depth, estimator, ", ".join(map(str, values)))
    value, ends = _solved(sums, compared, depth, estimator)[:, 0], np.full((depth, 2), np.nan)
    if n_units > 1 and options.ci is not None:
        drawn = resampled(each, options.resamples, options.seed).reshape(3, len(edges), -1)
        draws = _solved(drawn, compared, depth, estimator)
        ends = np.array([percentiles(one, options.ci) for one in draws])
        ends[np.isnan(draws).any(axis=1)] = np.nan  # some resamples have no document that links the ranks
    both = pl.concat([pairs.select(*keys, RANK), pairs.select(*keys, pl.col(BELOW).alias(RANK))]).unique()
    n = np.bincount(both[RANK].to_numpy() - 1, minlength=depth)
    columns = (integer_column(np.arange(depth) + 1), float_column(value), integer_column(n), *map(float_column, ends.T))
    return pl.DataFrame(dict(zip(RESULT, columns, strict=True)))


def _check_overlap(clicks: Array, compared: Sequence[Array], depth: int, estimator: str, segment: str) -> None:
    """Raise if a rank is not linked to rank 1 by documents that were shown, and clicked, at both of two ranks.

    Parameters
    ----------
    clicks : the summed rates at the higher and at the lower rank of each pair of ranks, shape (2, pairs).
    compared : the higher and the lower rank of each pair, from 0.
    estimator, segment : for the error.
    """
    some = (clicks > 0).all(axis=0)
    one, another = (side[some] for side in compared)
    reached, more = np.arange(depth) == 0, True
    while more:
        before = np.count_nonzero(reached)
        reached[another[reached[one]]] = True
        reached[one[reached[another]]] = True
        more = bool(np.count_nonzero(reached) > before)
    if not reached.all():
        rank = int(np.argmin(reached)) + 1
        fewer = f"k={rank - 1} for fewer ranks, or " if rank > 2 else ""
        other = {"pivot": "rank 1", "adjacent": f"rank {rank - 1}"}.get(estimator, "a rank above that leads to rank 1")
        raise NotComputableError(
            f"propensities({estimator!r}): too little overlap{' in ' * bool(segment)}{segment}: no document of a query "
            f"stood at rank {rank} and at {other}, with clicks at both; pass {fewer}another estimator than "
            f"{estimator!r}; "
            + ("leave out by=, as documents move too little within a segment" if segment else OF_WHAT)
        )


def _solved(sums: Array, compared: Sequence[Array], depth: int, estimator: str) -> Array:
    """Return the propensities of ranks, relative to 1 at rank 1, shape (ranks, draws); NaN if unknown.

    Parameters
    ----------
    sums : for each pair of ranks, the summed click rates at the higher and at the lower one, and the number of
        documents, shape (3, pairs, draws).
    compared : the higher and the lower rank of each pair, from 0.
    """
    if estimator == "all_pairs":
        return _likeliest(sums[:2], sums[2], compared, depth)
    steps = np.ones((depth, sums.shape[2]))
    steps[compared[1]] = ratio(sums[1], sums[0])
    return np.cumprod(steps, axis=0) if estimator == "adjacent" else steps


def _likeliest(clicks: Array, n: Array, compared: Sequence[Array], depth: int) -> Array:
    """Return the propensities p with the greatest likelihood, if a document pair has the click rate p(k) r(pair) at k.

    They are found by iteratively reweighted least squares of the logarithms. The parameters are those of ``_step``.
    """
    fitted, logs, moved = (clicks + 0.5) / (n + 1), np.zeros((depth, n.shape[1])), np.ones(n.shape[1], bool)
    for _ in range(STEPS):
        before = logs[:, moved]
        logs[:, moved], fitted[:, :, moved] = _step(
            clicks[:, :, moved], n[:, moved], fitted[:, :, moved], compared, depth
        )
        moved[moved] = np.abs(logs[:, moved] - before).max(axis=0) > STILL
        if not moved.any():
            break
    return np.exp(logs)


def _step(clicks: Array, n: Array, fitted: Array, compared: Sequence[Array], depth: int) -> tuple[Array, Array]:
    """Take one step of ``_likeliest``.

    Parameters
    ----------
    clicks : the summed click rates at the higher and the lower rank of each pair, shape (2, pairs, draws).
    n : the number of documents of each pair, shape (pairs, draws).
    fitted : the rates of the step before, of the shape of ``clicks``.
    compared : the higher and the lower rank of each pair, from 0.

    Returns
    -------
    The logarithms of the propensities, shape (depth, draws), and the fitted rates.
    """
    high, low = compared
    logs = np.zeros((depth, n.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = n * fitted / (1 - fitted)
        work = np.where(n > 0, np.log(fitted) + clicks / n / fitted - 1, 0)
        joint = np.where(n > 0, weight[0] * weight[1] / weight.sum(axis=0), 0)
    matrix, right = np.zeros((n.shape[1], depth, depth)), np.zeros((depth, n.shape[1]))
    matrix[:, high, low] = matrix[:, low, high] = -joint.T
    matrix[:, np.arange(depth), np.arange(depth)] = TINY - matrix.sum(axis=2)
    np.add.at(right, low, joint * (work[1] - work[0]))
    np.add.at(right, high, joint * (work[0] - work[1]))
    logs[1:] = np.linalg.solve(matrix[:, 1:, 1:], right[1:].T[..., None])[..., 0].T
    each = logs[[high, low]]
    left = np.where(n > 0, (weight * (work - each)).sum(axis=0) / np.maximum(weight.sum(axis=0), TINY), 0)
    return logs, np.clip(np.exp(each + left), TINY, 1 - TINY)
