"""The verb plan: how many queries, or clusters of them, show a difference, by those that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import BadValueError, NotComputableError, check_apart, check_whole, shown
from frame_metrics.inputs import Array, ratio
from frame_metrics.measuring.pairs import QueryValues
from frame_metrics.measuring.results import number, whole
from frame_metrics.metrics.names import Metrics
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plan.needs import WEIGHS
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.stats.exact import detectable, normal_quantile
from frame_metrics.stats.resampling import percentiles, resampled
from frame_metrics.stats.significance import CLOSE, in_clusters
from frame_metrics.verbs.compare.compare import measured_for, paired_by, planned
from frame_metrics.verbs.compare.differences import places, schema_of
from frame_metrics.verbs.compare.options import CompareOptions, check_compared

COUNTS = ("n", "n_units", "needed", "needed_low", "needed_high")


@dataclass(frozen=True, kw_only=True)
class PlanOptions(CompareOptions):
    """Options of a plan; the verb has the parameters."""

    detect: float
    n_tests: int

    def __post_init__(self) -> None:
        """Raise for an option out of its range; nothing is read."""
        super().__post_init__()
        if not is_number(self.detect) or not 0 < self.detect < np.inf:
            raise BadValueError(f"detect={shown(self.detect)} is not a difference above 0")
        if not is_number(self.power) or not 0 < self.power < 1:
            raise BadValueError(f"power={shown(self.power)} is not a chance between 0 and 1, as 0.8")
        check_whole("n_tests", self.n_tests, 1)

    @property
    def level(self) -> float:
        """The level at which each of the tests is made, so that all keep that of the interval."""
        return 1 - (1 - self.ci) / self.n_tests


def plan_queries(irm: Plan, metrics: Sequence[Metrics], options: PlanOptions) -> Any:
    """Answer ``irm.plan``, which has the parameters."""
    plan, asked = planned(irm, metrics, WEIGHS)
    if not plan.columns.query and not plan.of_values:
        raise NotComputableError("plan() counts queries, and rows without a query are counted together; name query=")
    check_compared("queries", plan, asked or (), options)
    check_apart(plan.columns.keys, ("baseline", "metric", "k", "detect", *COUNTS))
    paired = paired_by(plan, asked, options)

    def compute(source: Source) -> Answer:
        pairing = paired(measured_for(source, asked, arms=False))
        each = pairing.each(options.unanswered, together=False)
        rows = [_needed(here, metric, pairing.pairs[i], use, options) for here, (_, metric, i), use in each]
        segments, metrics_of, pairs = places(len(rows), len(pairing.measured.asked), len(pairing.pairs))
        held = np.array(rows).reshape(-1, len(COUNTS)).T
        columns = {"detect": number(np.full(len(rows), options.detect))}
        columns |= {
            name: whole(values) if i < 2 else number(values).cast(pl.Int64)
            for i, (name, values) in enumerate(zip(COUNTS, held, strict=True))
        }
        return pairing.answer(pairing.segments[segments], metrics_of, pairs, columns)

    schema = schema_of(plan.columns, options, {"detect": pl.Float64} | dict.fromkeys(COUNTS, pl.Int64))
    return answer_of(plan, compute, schema, in_pieces=not irm.of_values)


def _needed(
    here: QueryValues, metric: int, pair: tuple[int, int], use: Array, options: PlanOptions
) -> tuple[float, ...]:
    """Return the queries and units of a sample, and how many units are needed, with an interval; NaN of less than two.

    A unit adds t to the sum of the weighted differences and w to that of the weights: the mean is T / W, and the
    variance of the mean of n units is the sum of (t - w T / W) squared, times n / (n - 1) / W squared.
    """
    value, base = here.values[metric, use][:, pair].T
    difference, weight, cluster = value - base, here.weights(use), here.clusters(use)
    n = len(difference)
    each = np.ones(n) if weight is None else weight
    sums = in_clusters(np.column_stack([difference * each, each]), cluster)
    total, weights = sums[sums[:, 1] > 0].T
    units = len(total)
    if units < 2:
        return n, units, np.nan, np.nan, np.nan
    z, least = normal_quantile(options.level), CLOSE * np.abs(difference).max()

    def needed(sums: Array) -> Array:
        t, w, tt, tw, ww = sums
        mean = ratio(t, w)
        spread = np.maximum(tt - 2 * mean * tw + mean**2 * ww, 0)
        spread = np.where(spread < least**2, 0, spread) * units / (units - 1)
        many = units * ratio(spread, w**2) * (detectable(options.level, options.power) / options.detect) ** 2
        return np.maximum(np.ceil(many + z**2 / 2 - 1e-9), 2)

    columns = np.stack([total, weights, total**2, total * weights, weights**2])
    drawn = needed(resampled(columns, options.resamples, options.seed))
    ends = percentiles(drawn, options.ci)
    return n, units, float(needed(columns.sum(axis=1, keepdims=True))[0]), np.floor(ends[0]), np.ceil(ends[1])
