"""The verb plan: how many queries, or clusters of them, show a difference, by those that there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import BadValueError, NotComputableError, check_apart, check_whole, shown
from frame_metrics.inputs import Array, ratio
from frame_metrics.measuring.baseline import paired_with, plan_of
from frame_metrics.measuring.pairs import Pairing, paired_systems
from frame_metrics.measuring.results import number, whole
from frame_metrics.metrics.names import Metrics
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plan.needs import WEIGHS
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.stats.exact import detectable, normal_quantile
from frame_metrics.stats.resampling import percentiles, resampled
from frame_metrics.stats.significance import CLOSE, in_clusters
from frame_metrics.verbs.compare.compare import measured_for, planned
from frame_metrics.verbs.compare.differences import places, schema_of
from frame_metrics.verbs.compare.options import CompareOptions, check_compared

COUNTS = ("n", "n_units", "needed", "needed_low", "needed_high")


@dataclass(frozen=True, kw_only=True)
class PlanOptions(CompareOptions):
    """Options of a plan; the verb has the parameters."""

    detect: float
    likely: float
    n_tests: int

    def __post_init__(self) -> None:
        """Raise for an option out of its range; nothing is read."""
        super().__post_init__()
        if not is_number(self.detect) or not 0 < self.detect < np.inf:
            raise BadValueError(f"detect={shown(self.detect)} is not a difference above 0")
        if not is_number(self.likely) or not 0 < self.likely < 1:
            raise BadValueError(f"power={shown(self.likely)} is not a chance between 0 and 1, as 0.8")
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
    beside = plan_of(options.baseline, plan, asked) if options.saved and asked else None

    def compute(source: Source) -> Answer:
        measured = measured_for(source, asked, arms=False)
        if options.saved:
            pairing = paired_with(measured, beside or plan_of(options.baseline, plan, measured.asked))
        else:
            pairing = paired_systems(measured, options.baseline)
        rows = [row for segment in pairing.segments for row in _of_segment(pairing, segment, options)]
        segment, metric_of, pair_of = places(len(rows), len(measured.asked), len(pairing.pairs))
        held = np.array(rows).reshape(-1, len(COUNTS)).T
        columns = {"detect": number(np.full(len(rows), options.detect))}
        columns |= {
            name: whole(each) if i < 2 else number(each).cast(pl.Int64)
            for i, (name, each) in enumerate(zip(COUNTS, held, strict=True))
        }
        return pairing.answer(pairing.segments[segment], metric_of, pair_of, columns)

    keys = schema_of(plan.columns, options)

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        every = keys(types)
        return (
            {name: every[name] for name in [*every][: [*every].index("k") + 1]}
            | {"detect": pl.Float64}
            | dict.fromkeys(COUNTS, pl.Int64)
        )

    return answer_of(plan, compute, schema, in_pieces=not irm.of_values)


def _of_segment(pairing: Pairing, segment: int, options: PlanOptions) -> Iterator[tuple[float, ...]]:
    """Give what is needed for each metric and pair of systems, in one segment."""
    here = pairing.laid(segment)
    for metric in range(len(pairing.measured.asked)):
        compared = here.compared(metric, pairing.pairs, options.unanswered, together=False)
        for pair, use in zip(pairing.pairs, compared, strict=True):
            value, base = here.values[metric, use][:, pair].T
            yield _needed(value - base, here.weights(use), here.clusters(use), options)


def _needed(difference: Array, weight: Array | None, cluster: Array | None, options: PlanOptions) -> tuple[float, ...]:
    """Return the queries and units of a sample, and how many units are needed, with an interval; NaN of less than two.

    A unit adds t to the sum of the weighted differences and w to that of the weights: the mean is T / W, and the
    variance of the mean of n units is the sum of (t - w T / W) squared, times n / (n - 1) / W squared.
    """
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
        many = units * ratio(spread, w**2) * (detectable(options.level, options.likely) / options.detect) ** 2
        return np.maximum(np.ceil(many + z**2 / 2 - 1e-9), 2)

    columns = np.stack([total, weights, total**2, total * weights, weights**2])
    drawn = needed(resampled(columns, options.resamples, options.seed))
    ends = percentiles(drawn, options.ci)
    return n, units, float(needed(columns.sum(axis=1, keepdims=True))[0]), np.floor(ends[0]), np.ceil(ends[1])
