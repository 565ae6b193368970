"""Values of a result in which changes are looked for: those that say something about the rows of their segment."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import takewhile

import polars as pl

from frame_metrics.measuring.same_classes import is_mean_of_classes, says_nothing_without
from frame_metrics.metrics.metric import MEANS_OF_CLASSES, Metric
from frame_metrics.metrics.saved_names import metric_of

# Findings of the audit that segments have other classes, so that averages over classes are not alike.
OTHER_CLASSES = ("segments without some class", "segments with a class never true")
PREVALENCE = "prevalence"


def is_filled(results: pl.DataFrame) -> pl.Series:
    """Return True for values of pooled rows that stand for an undefined one."""
    metrics = [metric_of(name) for name in results["metric"].unique()]
    # Of a debiased calibration error bins are counted.
    counting = [str(metric) for metric in metrics if "bins_left_out" in metric.companions]
    filled = (pl.col("average") == "pooled") & (pl.col("n_undefined") > 0) & ~pl.col("metric").is_in(counting)
    known = {"average", "n_undefined"} <= {*results.columns}
    return results.select(filled.fill_null(False) if known else pl.repeat(False, pl.len())).to_series()


def is_comparable(results: pl.DataFrame) -> pl.Series:
    """Return True for values in which a change may be looked for, as far as results tell.

    They stand for no undefined one, and are of no metric that ``drifts``.
    """
    drifting = [name for name in results["metric"].unique() if metric_of(name).drifts]
    return ~is_filled(results) & ~results["metric"].is_in(drifting)


def is_measured(
    results: pl.DataFrame, findings: Callable[[], Collection[str]], prevalence: Callable[[], pl.DataFrame | None]
) -> pl.Series:
    """Return True for the values of rows without a query that are measurements, in which a change may be looked for.

    The others are not comparable, are those that any prediction would have without a row of some class, or averages
    over other classes in some segments.

    Parameters
    ----------
    results : what ``evaluate`` returned.
    findings : returns the checks of the audit that found something; called only if they matter.
    prevalence : returns the share of relevant rows in the same segments, as ``evaluate`` does, or None if there are no
        decisions; called only if it matters.
    """
    every, lacking = is_comparable(results), None
    if "average" not in results.columns:
        return every
    for name in results["metric"].unique():
        rows, metric = results["metric"] == name, metric_of(name)
        pooled = rows & (results["average"] == "pooled")
        classes = [c for c in (0, 1) if pooled.any() and says_nothing_without(metric, c)]
        if classes:
            lacking = _lacking(results, prevalence()) if lacking is None else lacking
            every &= ~(pooled & lacking.is_in(classes).fill_null(False))
        if (metric.name in MEANS_OF_CLASSES or rows.sum() > pooled.sum()) and over_other_classes(metric, findings()):
            every &= ~rows
    return every


def over_other_classes(metric: Metric, findings: Collection[str]) -> bool:
    """Return True if a metric is an average over classes, and the audit found that segments have not the same ones."""
    return is_mean_of_classes(metric, binary=False) and not {*OTHER_CLASSES}.isdisjoint(findings)


def _lacking(results: pl.DataFrame, shares: pl.DataFrame | None) -> pl.Series:
    """Return which of two classes has no row in the segment of each value, null for none."""
    none = pl.Series([None], dtype=pl.Int64).new_from_index(0, len(results))
    if shares is None:
        return none
    shares = shares.filter(pl.col("average") == "pooled")
    keys = [*takewhile(lambda name: name != "metric", results.columns)]
    keys = [name for name in (*keys, "total_over") if name in results.columns and name in shares.columns]
    lacking = shares.select(*keys, lacking=pl.when(pl.col("value") == 0).then(1).when(pl.col("value") == 1).then(0))
    if not keys:
        return none if lacking.is_empty() else lacking["lacking"].new_from_index(0, len(results))
    return results.select(keys).join(lacking, on=keys, how="left", nulls_equal=True, maintain_order="left")["lacking"]
