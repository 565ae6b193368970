"""The verb leaderboard: systems in the order of their means, which of them may be the best, and the ranks of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.progress import progress
from frame_metrics.errors import ColumnError, NotComputableError, check_key_names
from frame_metrics.inputs import Array, Lists
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import begins_run
from frame_metrics.keys.groups import groups_of
from frame_metrics.measuring.pairs import Pairing, QueryValues
from frame_metrics.measuring.results import EvaluateOptions, averaged, float_column
from frame_metrics.measuring.values import Values
from frame_metrics.measuring.values_of_source import planned, values_of_source
from frame_metrics.metrics.names import Asked, Metrics
from frame_metrics.plan.call import Call
from frame_metrics.plan.compared import LEADERBOARD
from frame_metrics.plan.needs import Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.stats.exact import t_quantile
from frame_metrics.stats.reliability import reliability
from frame_metrics.verbs.compare.differences import Row
from frame_metrics.verbs.compare.inferred import BOUNDS, ends_around, infer
from frame_metrics.verbs.compare.options import CompareOptions, check_tested
from frame_metrics.verbs.compare.pair_families import flip_families
from frame_metrics.verbs.compare.pair_groups import PairGroup
from frame_metrics.verbs.compare.paired import are_zero_one, described_pairs, pairing_function, work_of_flips

ENDS = ("value", "ci_low", "ci_high")
RANKS = ("rank", "rank_low", "rank_high")
BEST_COLUMNS = {"may_be_best": pl.Boolean, "reliability": pl.Float64}
PLACE_COLUMNS: dict[str, Any] = {"metric": pl.String, "k": pl.Int64} | dict.fromkeys(ENDS, pl.Float64)
PLACE_COLUMNS |= (
    dict.fromkeys(RANKS, pl.Int64) | BEST_COLUMNS | dict.fromkeys(("n", "n_undefined", "n_unanswered"), pl.Int64)
)


@dataclass(frozen=True, kw_only=True)
class LeaderboardOptions(CompareOptions):
    """Options of ``leaderboard``, which documents them."""

    verb: ClassVar[str] = "leaderboard"
    one_sided: ClassVar[bool] = True
    baseline: Any = None
    test: str | None = "randomization"
    by_default: bool = True


def leaderboard(plan: Plan, metrics: Sequence[Metrics], options: LeaderboardOptions) -> Any:
    """Implement ``irm.leaderboard``, whose docstring has the parameters."""
    call, asked = planned(plan, metrics, Needs(verb=LEADERBOARD))
    _check(call, asked or ())
    check_key_names(call.columns.keys, PLACE_COLUMNS)
    paired = pairing_function(call, asked, options)

    def compute(source: Source) -> Answer:
        values = values_of_source(source, asked)
        pairing = paired(values) if len(values.index.systems) > 1 else None
        return _ranked(values if pairing is None else pairing.all_values, pairing, options)

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        return {name: types[name] for name in call.columns.cell_keys} | PLACE_COLUMNS

    return answer_of(call, compute, schema)


def _check(call: Call, asked: Asked) -> None:
    """Raise for columns and metrics without values that are paired between systems, query by query."""
    columns = call.columns
    if columns.system is None:
        raise ColumnError(f"leaderboard() ranks systems; name their column with system={columns.likely_system_text}")
    for name, metric in asked:
        if metric.input is Lists or metric.average is not None:
            what = "has one value for all lists together" if metric.input is Lists else "is an average of its own"
            raise NotComputableError(f"{name} {what}, and leaderboard() needs metrics of single queries")
        check_tested(name, metric)


@record
class Standing:
    """The figures that pairs give of the systems of a segment, by metric; shape (metrics, systems) unless stated."""

    n_better: Array  # how many other systems are significantly better
    n_worse: Array  # how many other systems are significantly worse
    beaten: Array  # 1 if the system is significantly not the best, else 0
    reliability: Array  # of the means of systems, shape (metrics,)


def _ranked(values: Values, pairing: Pairing | None, options: LeaderboardOptions) -> Answer:
    """Return the answer: a row for each segment, metric and system, the best system first."""
    given = EvaluateOptions(ci=options.ci, resamples=options.resamples, seed=options.seed)
    answer = averaged(values, given, counts_unanswered=True)
    index, asked = values.index, values.asked
    groups, m = groups_of(index.cells, margins=False).each[0], len(asked)
    # The segment, the system and the metric of each row.
    segment, system = np.zeros((2, len(groups)), np.int64)
    group = groups.group_of_cell[index.cell]
    segment[group], system[group] = index.segment, index.system
    segment, system, metric = segment.repeat(m), system.repeat(m), np.tile(np.arange(m), len(groups))
    # Ranks within each segment and metric, and how many systems are significantly better or worse.
    by_segment = np.argsort(segment, kind="stable")
    ends = np.cumsum(np.bincount(segment, minlength=1))
    value = answer.columns["value"].fill_null(np.nan).to_numpy() * np.array([one.sign for _, one in asked])[metric]
    board = segment * m + metric
    rank, n = _ranks(value, board)
    (n_better, n_worse, beaten), reliability_of_means = np.zeros((3, len(value))), np.full(len(value), np.nan)
    for at, found in ({} if pairing is None else _standings(pairing, options)).items():
        rows = by_segment[ends[at - 1] if at else 0 : ends[at]]
        here = metric[rows], system[rows]
        n_better[rows], n_worse[rows], beaten[rows] = found.n_better[here], found.n_worse[here], found.beaten[here]
        reliability_of_means[rows] = found.reliability[metric[rows]]
    no_direction = np.array([one.higher is None for _, one in asked])[metric]
    columns = {
        "rank": rank,
        # Means of different queries may place a system elsewhere: ranks hold together only as pairs have them.
        "rank_low": 1 + n_better,
        "rank_high": n - n_worse,
        "may_be_best": np.where(no_direction, np.nan, 1 - beaten),
        "reliability": reliability_of_means,
    }
    columns = {name: np.where(np.isnan(rank), np.nan, values) for name, values in columns.items()}
    # Sort by segment, metric, rank, and then by name.
    by_name, segment_by_value = (np.argsort(names.by_value) for names in (index.systems, index.segments))
    order = np.lexsort((by_name[system], columns["rank"], metric, segment_by_value[segment]))
    all_columns = answer.columns | {name: float_column(values) for name, values in columns.items()}
    keys = {name: rows[order] for name, rows in answer.keys.items()}
    return replace(
        answer,
        keys=keys,
        columns={name: all_columns[name].cast(kind)[order] for name, kind in PLACE_COLUMNS.items()},
    )


def _ranks(value: Array, board: Array) -> tuple[Array, Array]:
    """Return the rank of each value on its board, which equal values share, and the number of values on this board.

    ``board``: one number for the segment and metric of each value. NaN has no rank, and is not counted.
    """
    rank, known = np.full(len(value), np.nan), np.flatnonzero(~np.isnan(value))
    n = np.bincount(board[known], minlength=board.max(initial=0) + 1)
    order = known[np.lexsort((-value[known], board[known]))]
    first = (np.cumsum(n) - n)[board[order]]
    first_equal = np.maximum.accumulate(np.where(begins_run(board[order], value[order]), np.arange(len(order)), 0))
    rank[order] = 1 + first_equal - first
    return rank, n[board]


def _standings(pairing: Pairing, options: LeaderboardOptions) -> dict[int, Standing]:
    """Return what all pairs say of the systems, for each segment."""
    asked, pairs = pairing.all_values.asked, pairing.pairs
    shares, found = are_zero_one(pairing, options), {}
    with progress(*work_of_flips(pairing, options, 0)) as tick:
        for segment in pairing.segments.tolist():
            here = pairing.values_by_query(segment)
            rows, groups = described_pairs(here, asked, pairs, shares, options)
            infer(groups, options, tick)
            n_better, n_worse, beaten = np.zeros((3, len(asked), here.values.shape[2]), np.int64)
            for i, row in enumerate(rows):
                at, (system, base) = i // len(pairs), pairs[i % len(pairs)]
                low, high = _ends(row, options)
                if low > 0 or high < 0:
                    better, worse = (system, base) if (low > 0) == (asked[at][1].sign > 0) else (base, system)
                    n_better[at, worse] += 1
                    n_worse[at, better] += 1
                    beaten[at, worse] |= low == high
            for at, system in _beaten(groups, options):
                beaten[at, system] = 1
            reliabilities = np.array([_reliability(here, i) for i in range(len(asked))])
            found[segment] = Standing(n_better, n_worse, beaten, reliabilities)
    return found


def _ends(row: Row, options: LeaderboardOptions) -> tuple[float, float]:
    """Return the ends of the interval of a pair; if all differences are equal, and significant, this value twice."""
    ends, difference = (row.get("ci_low", np.nan), row.get("ci_high", np.nan)), row.get("difference") or np.nan
    is_significant = row.get("p_adjusted", np.nan) <= 1 - options.ci
    return (difference, difference) if np.isnan(ends).all() and is_significant else ends


def _beaten(groups: Sequence[PairGroup], options: LeaderboardOptions) -> Iterator[tuple[int, int]]:
    """Yield each metric, by position, and system that is significantly not the best; ``groups``: of one segment."""
    with_spread = [(group, group.spread) for group in groups if group.tested and group.spread is not None]
    # Groups that were not tested as families have no bounds of one side yet.
    without_bounds = [group for group, _ in with_spread if not all(BOUNDS in one.row for one in group.comparisons)]
    more_bounds = iter(flip_families(without_bounds, options, lambda done: None).bounds if without_bounds else ())
    for group, spread in with_spread:
        bounds = (
            next(more_bounds) if group in without_bounds else np.array([one.row[BOUNDS] for one in group.comparisons]).T
        )
        # No bound of a family is nearer than that of one pair.
        single = np.where(group.zero_one, NormalDist().inv_cdf(options.ci), t_quantile(options.ci, spread.units - 1))
        low, high = (ends_around(group, spread, np.maximum(one, single))[side] for side, one in enumerate(bounds))
        for comparison, above, below in zip(group.comparisons, low > 0, high < 0, strict=True):
            if above or below:
                worse = 1 if bool(above) == (comparison.metric.sign > 0) else 0
                yield comparison.metric_at, comparison.pair[worse]


def _reliability(here: QueryValues, metric: int) -> float:
    """Return the reliability of a metric's means in a segment, NaN if it is not known."""
    if here.weight is not None or here.cluster is not None:
        return np.nan
    values = np.where(here.without_value[metric], np.nan, here.values[metric])
    return reliability(values[~np.isnan(values).all(axis=1)])
