"""Changes between periods taken apart by segments: what each adds by its share, and by its own mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.progress import Tick, progress
from frame_metrics.backends.times import times_in
from frame_metrics.errors import NotComputableError
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE
from frame_metrics.keys.groups import CellGroups
from frame_metrics.measuring.results import float_column, integer_column, metric_columns
from frame_metrics.measuring.values import Values
from frame_metrics.plan.call import Call
from frame_metrics.roles.columns import Columns
from frame_metrics.stats.mix import MIX_PARTS, Grouping, TwoMixes
from frame_metrics.verbs.compare.arms import ArmValues
from frame_metrics.verbs.compare.differences import Pair
from frame_metrics.verbs.compare.options import ChangeOptions
from frame_metrics.verbs.compare.splits import check_not_pairs

OF_PARTS: dict[str, Any] = dict.fromkeys(("share", "baseline_share", "value", "baseline_value"), pl.Float64)
OF_PARTS |= dict.fromkeys((f"{part}{end}" for part in MIX_PARTS for end in ("", "_low", "_high")), pl.Float64)
OF_PARTS |= dict.fromkeys(("n", "baseline_n", "n_undefined"), pl.Int64)
TOTAL_AND_METRIC = ("total_over", "metric", "k")


def schema_of_parts(columns: Columns, *, saved: bool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function from the types of the frame's columns to the types of the result's columns."""

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        arm = {columns.arm: types[columns.arm]} if columns.arm else {}
        baseline = pl.String if saved else types[str(columns.arm)]
        keys = arm | {"baseline": baseline} | {name: types[name] for name in columns.segments}
        return keys | dict(zip(TOTAL_AND_METRIC, (pl.String, pl.String, pl.Int64), strict=True)) | OF_PARTS

    return schema


@record
class Totals:
    """Segments and totals over them: by one column each, if there are several, then over all."""

    segments: CellGroups
    values: pl.DataFrame  # of the segments, also of those that are not in the frame, which are the last

    @cached_property
    def keys(self) -> list[Sequence[str]]:
        """The columns that each grouping keeps."""
        by = self.segments.keys
        return [by, *([[name] for name in by] if len(by) > 1 else []), []]

    @cached_property
    def groupings(self) -> list[Grouping]:
        """The group of each segment, in each grouping; groups are sorted by their values, nulls last."""
        n, found = len(self.values), list[Grouping]()
        for keys in self.keys:
            of = np.zeros(n, np.int64)
            for key in keys:
                place = self.values[key].rank("dense").cast(pl.Int64).fill_null(n + 1).to_numpy()
                of = np.unique(of * (n + 2) + place, return_inverse=True)[1]
            found.append(Grouping(of, int(of.max(initial=-1)) + 1))
        return found

    def key_rows(self) -> dict[str, Any]:
        """Return the key of each group by column: a row of the frame that holds it, -1 for a total, or the value."""
        rows, n = self.segments.key_rows(), len(self.segments)
        found: dict[str, Any] = {}
        for name in self.segments.keys:
            at = np.concatenate(
                [
                    np.unique(grouping.group_of, return_index=True)[1] if name in keys else np.full(grouping.n, NONE)
                    for keys, grouping in zip(self.keys, self.groupings, strict=True)
                ]
            )
            if len(self.values) == n:
                found[name] = np.append(rows[name], NONE)[at]
            else:
                place = pl.Series(at)
                found[name] = self.values[name].gather(place.set(place < 0, None))
        return found

    def total_over(self) -> pl.Series:
        """Return the columns that each group is a total over, as text; null for a segment."""
        by = self.segments.keys
        over = [", ".join(name for name in by if name not in keys) or None for keys in self.keys]
        each = np.repeat(np.arange(len(over)), [grouping.n for grouping in self.groupings])
        return pl.Series(over, dtype=pl.String).gather(each)


def _queries_of(arms: ArmValues, pair: Pair, some: Array) -> tuple[Array, Array]:
    """Return the positions of some queries of two arms, and the segment of each; ``some``: marks, shape (queries,)."""
    at = np.flatnonzero(((arms.arm == pair[0]) | (arms.arm == pair[1])) & some)
    return at, _segment_of(arms)[at]


def _segment_of(arms: ArmValues) -> Array:
    """Return the segment of each query, shape (queries,)."""
    return np.repeat(np.arange(len(arms.edges) - 1), np.diff(arms.edges))


def two_mixes(arms: ArmValues, pair: Pair, metric: int) -> TwoMixes:
    """Return the queries of two arms that a metric is defined for."""
    at, segment = _queries_of(arms, pair, ~np.isnan(arms.values[metric]))
    each = (
        arms.values[metric, at],
        arms.weight[at],
        arms.arm[at] == pair[0],
        segment,
        arms.unit[at].astype(np.int64),
    )
    return TwoMixes(*each, len(arms.edges) - 1)


def _n_undefined(arms: ArmValues, pair: Pair, metric: int, groupings: Sequence[Grouping]) -> Array:
    """Count the queries of two arms for which a metric is undefined, in each group, as ``change`` without segments."""
    _, segment = _queries_of(arms, pair, arms.undefined[metric])
    n = np.bincount(segment, minlength=len(arms.edges) - 1)
    return np.concatenate([grouping.summed(n) for grouping in groupings])


def changes_by_part(values: Values, options: ChangeOptions, saved: Call | None) -> Answer:
    """Return the answer: a row for each pair of arms, segment or total, and metric; ``saved``: as in other changes."""
    arms = ArmValues.of(values)
    if saved is None:
        check_not_pairs(values, arms.segments, arms.arms, options)
    else:
        arms = arms.with_saved(saved, allow_new_segments=True)
    of_frame = pl.DataFrame({name: arms.segments.values(name) for name in arms.segments.keys})
    segment_values = of_frame if arms.segment_values is None else arms.segment_values
    totals, pairs = Totals(arms.segments, segment_values), arms.pairs(options)
    _check_times(arms, segment_values, pairs)
    given, metrics = (totals.groupings, options.ci, options.resamples, options.seed), range(len(arms.asked))
    rounds = options.resamples * len(pairs) * len(metrics)
    with progress(rounds, "draw", work=rounds * len(arms.arm)) as tick:
        changes = [
            [
                {
                    **_numbers_of(two_mixes(arms, pair, metric), given, tick),
                    "n_undefined": _n_undefined(arms, pair, metric, totals.groupings),
                }
                for metric in metrics
            ]
            for pair in pairs
        ]
    return _answer(arms, pairs, totals, changes)


def _check_times(arms: ArmValues, segment_values: pl.DataFrame, pairs: Sequence[Pair]) -> None:
    """Raise for a column of times of which two periods have none in common: all of a change would be one of the mix."""
    segment = _segment_of(arms)
    for name in segment_values.columns:
        values = segment_values[name]
        if times_in(values.unique().to_list()) is None:
            continue
        for pair in pairs:
            one, other = (values.gather(np.unique(segment[arms.arm == arm])) for arm in pair)
            if not one.is_in(other.implode()).any():
                raise NotComputableError(
                    f"by={name!r}: no time is in both periods, so that all of a change would come from the mix; leave "
                    f"{name} out of by="
                )


def _numbers_of(mixes: TwoMixes, given: tuple[Sequence[Grouping], float, int, int], tick: Tick) -> Mapping[str, Array]:
    """Return the numbers of two arms as columns; ``given``: groupings, and what intervals need."""
    found = mixes.columns_of(*given)
    tick(given[2])
    return found


def _answer(
    arms: ArmValues, pairs: Sequence[Pair], totals: Totals, numbers: Sequence[Sequence[Mapping[str, Array]]]
) -> Answer:
    """Return the columns with their keys; ``numbers``: by pair and metric, the columns of ``TwoMixes.columns_of``."""
    n_groups, n_metrics = sum(grouping.n for grouping in totals.groupings), len(arms.asked)
    columns: dict[str, pl.Series] = {}
    for name, kind in OF_PARTS.items():
        values = np.array([[of_metric[name] for of_metric in of_pair] for of_pair in numbers])
        flat = values.reshape(-1, n_metrics, n_groups).transpose(0, 2, 1).ravel()
        columns[name] = integer_column(flat) if kind == pl.Int64 else float_column(flat)
    pair, group = (one.repeat(n_metrics) for one in np.divmod(np.arange(len(pairs) * n_groups), n_groups))
    first = {"total_over": totals.total_over().gather(group)}
    first |= metric_columns(arms.asked, np.tile(np.arange(n_metrics), len(pairs) * n_groups))
    keys, aliases = _keys_of_pairs(arms, np.array(pairs)[pair])
    keys |= {name: rows[group] for name, rows in totals.key_rows().items()}
    return Answer(keys, first | columns, aliases, arms.segments.cells.key_table)


def _keys_of_pairs(arms: ArmValues, pairs: Array) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the keys of arms and of their baselines, and the column that these are taken from."""
    systems, (arm, base) = arms.arms, pairs.T
    keys: dict[str, Any] = dict(systems.key_rows(arm, totalled=False))
    if arms.saved is not None:
        return keys | {"baseline": pl.Series([arms.saved], dtype=pl.String).new_from_index(0, len(pairs))}, {}
    (column,) = systems.keys
    return keys | {"baseline": systems.key_rows(base)[column]}, {"baseline": column}
