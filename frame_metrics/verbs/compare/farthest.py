"""The segments that stand out in a log: by the values of one system, or by its differences from a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.inputs import Array
from frame_metrics.keys.index import Index
from frame_metrics.measuring.pairs import Pairing, number_of_system
from frame_metrics.measuring.values import Values, filled
from frame_metrics.measuring.values_of_source import planned, values_of_source
from frame_metrics.metrics.names import Metrics
from frame_metrics.plan.declared import EVALUATE
from frame_metrics.plan.needs import Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.stats.averages import tally
from frame_metrics.stats.intervals import intervals
from frame_metrics.stats.outstanding import ALPHA, outstanding_with_levels, without_means
from frame_metrics.verbs.compare.options import CompareOptions
from frame_metrics.verbs.compare.pair_groups import range_of_metric
from frame_metrics.verbs.compare.paired import pairing_function

FIGURES = ("value", "whole", "ci_low", "ci_high", "p_value")
COUNTS_OF_FARTHEST = ("n", "n_segments")
COLUMNS_OF_FARTHEST: dict[str, Any] = dict.fromkeys(FIGURES, pl.Float64) | dict.fromkeys(COUNTS_OF_FARTHEST, pl.Int64)
# The column of which it is a level, and those whose means were taken out before, from which ``whole`` is expected.
COLUMNS_OF_FARTHEST |= {"level_of": pl.String, "without": pl.List(pl.String)}
DRAWS = 200, 1000, 40_000  # resamples for each segment, so that some are outside the interval; and the least, the most


def farthest(
    plan: Plan,
    metrics: Sequence[Metrics],
    name: str,
    system: Any,
    ci: float | None,
    options: CompareOptions | None = None,
) -> Any:
    """Return the segments that are farthest from the rest: means, those expected, intervals, p-values and queries.

    Of several columns of segments each level of one is a segment too, and several may be found; else one. Intervals
    hold for all segments together, as they were chosen among these.

    Parameters
    ----------
    metrics, name : the metrics to compute, and the name of the one that is looked at.
    system : the system, or the arm, whose values are looked at; None if there are none.
    ci : the level of the interval, as 0.95; None for none.
    options : those of a comparison with one baseline, to look at differences from it; None to look at values.
    """
    call, asked = planned(plan, metrics, Needs(verb=EVALUATE))
    paired = None if options is None else pairing_function(call, asked, options)

    def compute(source: Source) -> Answer:
        all_values = values_of_source(source, asked)
        at = next(i for i, (text, _) in enumerate(all_values.asked) if text == name)
        if paired is None:
            values, segment, cluster = _of_values(all_values, at, system)
        else:
            values, segment, cluster = _of_differences(paired(all_values), at, system)
        by = [column for column in call.columns.by if column != call.columns.arm]
        by = by if len(by) > 1 else []
        levels = [_levels_of_segments(all_values.index, column)[segment] for column in by]
        found = outstanding_with_levels(values, segment, cluster, levels)
        rows, first = list[tuple[Any, ...]](), list[int]()
        for one in found:
            here = (segment if one.column is None else levels[one.column]) == one.segment
            mean, whole = (float(some.mean()) if len(some) else np.nan for some in (values[here], values))
            rest = values
            for column in one.without:
                rest = without_means(rest, levels[column])
            expected = mean - float(rest[here].mean()) if one.without else whole
            # The interval of the segment, at the level of all segments together (Bonferroni).
            ends = (np.nan, np.nan)
            if ci is not None and one.p < ALPHA:
                between = range_of_metric(all_values.asked[at][1], values) if paired is None else (-np.inf, np.inf)
                ends = _interval(values, here, cluster, 1 - (1 - ci) / one.n, one.n, between)
            level_of = None if one.column is None else by[one.column]
            without = [by[column] for column in one.without]
            p = one.p if one.n else np.nan
            rows.append((mean, expected, *ends, p, int(here.sum()), one.n, level_of, without))
            first.append(int(segment[here][0]) if here.any() else 0)
        table = pl.DataFrame(rows, COLUMNS_OF_FARTHEST, orient="row").fill_nan(None)
        return Answer(
            all_values.index.key_rows(segment=np.array(first)), table.to_dict(), table=all_values.index.key_table
        )

    return answer_of(call, compute, lambda types: dict(COLUMNS_OF_FARTHEST), keys=call.columns.by)


def _levels_of_segments(index: Index, name: str) -> Array:
    """Return the number of each segment's value of a column, shape (segments,)."""
    values = index.segments.values
    return _codes(values.select(index.segments.internal_keys[[*index.segments.columns].index(name)]))


def _codes(values: pl.DataFrame) -> Array:
    """Return a number for each row, the same for equal rows, shape (rows,)."""
    distinct = values.unique(maintain_order=True).with_row_index("code")
    found = values.join(distinct, on=values.columns, how="left", nulls_equal=True, maintain_order="left")
    return found["code"].to_numpy()


def _interval(
    values: Array, here: Array, cluster: Array | None, level: float, n: int, between: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval of the mean of one of ``n`` segments, whose queries are ``here``."""
    all_true = np.ones(len(values), bool)
    mean_tally = tally(None, values, "macro", None, (all_true, ~all_true), between)
    per_segment, least, most = DRAWS
    draws, order = min(max(per_segment * n, least), most), np.argsort(values, kind="stable")
    low, high = intervals([mean_tally], np.where(here, 0, -1), 1, level, draws, 0, cluster, order)
    mean = float(values[here].mean())  # the interval of skewed draws may not hold it
    return min(float(low[0, 0]), mean), max(float(high[0, 0]), mean)


def _of_values(all_values: Values, at: int, system: Any) -> tuple[Array, Array, Array | None]:
    """Return the values of a system, with the numbers of their segments and clusters; undefined ones are left out."""
    segment, values = all_values.index.segment, filled(all_values, at)
    some = all_values.evaluated & np.isfinite(values) & _is_of(system, all_values.index)
    some &= True if all_values.without_value is None else ~all_values.without_value[at]
    return values[some], segment[some], None if all_values.cluster is None else all_values.cluster[some]


def _is_of(system: Any, index: Index) -> Array:
    """Mark the rankings of a system, or of an arm, shape (rankings,)."""
    arm, column = index.columns.arm, index.columns.system
    if arm is None:
        number = 0 if column is None else number_of_system(system, index.system_names, column, "system=")
        return np.asarray(index.system == number)
    names = index.segments.values[index.columns.internal_by_role[1][0]]  # the arm of each segment
    name = names[number_of_system(system, names, arm, "arm=")]
    return names.eq_missing(pl.Series([name], dtype=names.dtype)).to_numpy()[index.segment]


def _of_differences(pairing: Pairing, at: int, system: Any) -> tuple[Array, Array, Array | None]:
    """Return the differences of a system from its only baseline, as ``_of_values``."""
    index, values, segments, clusters = pairing.all_values.index, list[Array](), list[Array](), list[Array]()
    name = index.columns.system
    number = pairing.pairs[0][0]
    if system is not None and name is not None:
        number = number_of_system(system, index.system_names, name, "system=")
    pair = next(pair for pair in pairing.pairs if pair[0] == number)
    for segment in pairing.segments.tolist():
        here = pairing.values_by_query(segment)
        (use,) = here.compared(at, [pair])
        both = here.values[at, use]
        values.append(both[:, pair[0]] - both[:, pair[1]])
        segments.append(np.full(len(both), segment))
        clusters.append(np.zeros(len(both)) if here.cluster is None else here.cluster[use])
    clustered = pairing.all_values.cluster is not None
    return np.concatenate(values), np.concatenate(segments), np.concatenate(clusters) if clustered else None
