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
from frame_metrics.verbs.compare.options import CompareOptions
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
    baseline: Any = None
    test: str | None = "randomization"
    by_default: bool = True

    @property
    def one_sided(self) -> bool:
        return True


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

    return answer_of(call, compute, schema, in_pieces=True)


def _check(call: Call, asked: Asked) -> None:
    """Raise for columns and metrics without values that are paired between systems, query by query."""
    columns = call.columns
    if columns.system is None:
        raise ColumnError(f"leaderboard() ranks systems; name their column with system={columns.likely_system_text}")
    for name, metric in asked:
        if metric.input is Lists or metric.average is not None:
            what = "has one value for all lists together" if metric.input is Lists else "is an average of its own"
            raise NotComputableError(f"{name} {what}, and leaderboard() needs metrics of single queries")


@record
class Standing:
    """The systems of a segment by what pairs say of them in each metric, shape (metrics, systems) but for the last."""

    better: Array  # how many systems are surely better
    worse: Array  # how many are surely worse
    beaten: Array  # whether a system is surely not the best
    reliability: Array  # shape (metrics,)


def _ranked(values: Values, pairing: Pairing | None, options: LeaderboardOptions) -> Answer:
    """Return the answer: a row for each segment, metric and system, the best system first."""
    given = EvaluateOptions(ci=options.ci, resamples=options.resamples, seed=options.seed)
    answer = averaged(values, given, counts_unanswered=True)
    index, asked = values.index, values.asked
    groups, m = groups_of(index.cells, margins=False).each[0], len(asked)
    segment, system = np.zeros((2, len(groups)), np.int64)
    place = groups.group_of_cell[index.cell]
    segment[place], system[place] = index.segment, index.system
    segment, system, metric = segment.repeat(m), system.repeat(m), np.tile(np.arange(m), len(groups))
    # Ranks within each segment and metric, and how many systems are surely better or worse.
    by_segment = np.argsort(segment, kind="stable")
    ends = np.cumsum(np.bincount(segment, minlength=1))
    value = answer.columns["value"].fill_null(np.nan).to_numpy() * np.array([one.sign for _, one in asked])[metric]
    board = segment * m + metric
    rank, n = _ranks(value, board)
    (better, worse, beaten), reliable = np.zeros((3, len(value))), np.full(len(value), np.nan)
    for at, found in ({} if pairing is None else _standings(pairing, options)).items():
        rows = by_segment[ends[at - 1] if at else 0 : ends[at]]
        here = metric[rows], system[rows]
        better[rows], worse[rows], beaten[rows] = found.better[here], found.worse[here], found.beaten[here]
        reliable[rows] = found.reliability[metric[rows]]
    no_direction = np.array([one.higher is None for _, one in asked])[metric]
    columns = {
        "rank": rank,
        "rank_low": np.minimum(1 + better, rank),
        "rank_high": np.maximum(n - worse, rank),
        "may_be_best": np.where(no_direction, np.nan, 1 - beaten),
        "reliability": reliable,
    }
    columns = {name: np.where(np.isnan(rank), np.nan, values) for name, values in columns.items()}
    # Sort by segment, metric, rank, and then by name.
    turns = [np.argsort(names.by_value) for names in (index.systems, index.segments)]
    order = np.lexsort((turns[0][system], columns["rank"], metric, turns[1][segment]))
    every = answer.columns | {name: float_column(values) for name, values in columns.items()}
    keys = {name: rows[order] for name, rows in answer.keys.items()}
    return replace(
        answer,
        keys=keys,
        columns={name: every[name].cast(kind)[order] for name, kind in PLACE_COLUMNS.items()},
    )


def _ranks(value: Array, board: Array) -> tuple[Array, Array]:
    """Return the rank of each value on its board, equal ones sharing it, and the number of values of its board.

    ``board``: the number of the segment and metric of each value. A NaN has no rank, and is not counted.
    """
    rank, known = np.full(len(value), np.nan), np.flatnonzero(~np.isnan(value))
    n = np.bincount(board[known], minlength=board.max(initial=0) + 1)
    order = known[np.lexsort((-value[known], board[known]))]
    first = (np.cumsum(n) - n)[board[order]]
    new = np.append(True, (board[order][1:] != board[order][:-1]) | (value[order][1:] != value[order][:-1]))
    equal = np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))[: len(order)]
    rank[order] = 1 + equal - first
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
            better, worse, beaten = np.zeros((3, len(asked), here.values.shape[2]), np.int64)
            for i, row in enumerate(rows):
                (_, metric), (system, base) = asked[i // len(pairs)], pairs[i % len(pairs)]
                low, high = _ends(row, options)
                if low > 0 or high < 0:
                    first, second = (system, base) if (low > 0) == (metric.sign > 0) else (base, system)
                    better[i // len(pairs), second] += 1
                    worse[i // len(pairs), first] += 1
                    beaten[i // len(pairs), second] |= low == high
            for at, system in _beaten(groups, options):
                beaten[at, system] = 1
            found[segment] = Standing(
                better, worse, beaten, np.array([_reliability(here, i) for i in range(len(asked))])
            )
    return found


def _ends(row: Row, options: LeaderboardOptions) -> tuple[float, float]:
    """Return the ends of the interval of a pair; if all differences are equal, and surely not 0, that value."""
    ends, apart = (row.get("ci_low", np.nan), row.get("ci_high", np.nan)), row.get("difference") or np.nan
    told = np.isnan(ends).all() and row.get("p_adjusted", np.nan) <= 1 - options.ci
    return (apart, apart) if told else ends


def _beaten(groups: Sequence[PairGroup], options: LeaderboardOptions) -> Iterator[tuple[int, int]]:
    """Yield the metrics and systems for which some other system is surely better; ``groups``: of one segment."""
    known = [(group, group.spread) for group in groups if group.tested and group.spread is not None]
    alone = [group for group, _ in known if not all(BOUNDS in column.row for column in group.comparisons)]
    bounds = iter(flip_families(alone, options, lambda done: None).bounds if alone else ())
    for group, spread in known:
        wide = next(bounds) if group in alone else np.array([column.row[BOUNDS] for column in group.comparisons]).T
        single = np.where(group.zero_one, NormalDist().inv_cdf(options.ci), t_quantile(options.ci, spread.units - 1))
        low, high = (ends_around(group, spread, np.maximum(one, single))[side] for side, one in enumerate(wide))
        for column, above, below in zip(group.comparisons, low > 0, high < 0, strict=True):
            if above or below:
                yield column.metric_at, column.pair[1 if bool(above) == (column.metric.sign > 0) else 0]


def _reliability(here: QueryValues, metric: int) -> float:
    """Return the reliability of a metric's means in a segment, NaN if it is not known."""
    if here.weight is not None or here.cluster is not None:
        return np.nan
    values = np.where(here.without_value[metric], np.nan, here.values[metric])
    return reliability(values[~np.isnan(values).all(axis=1)])
