"""Compare arms without a query: each arm has its own rows, which are counted together."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases, read_cases
from frame_metrics.errors import NotComputableError, cut
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups, segments_of
from frame_metrics.measuring.decided import in_caller_type
from frame_metrics.measuring.each_class import check_each_class, rows_of_class, views_of_classes
from frame_metrics.measuring.resampled_rows import RowDraws
from frame_metrics.measuring.row_effects import correlation_of_arms, less_for_pairs
from frame_metrics.measuring.row_tables import ends_by_formula
from frame_metrics.measuring.rows import SegmentValues, check_cases, inputs_of, one_metric
from frame_metrics.measuring.same_classes import classes_in_mean, error_of_classes, lack_rows, other_classes
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.metrics.shares import are_row_shares
from frame_metrics.plan.source import Source
from frame_metrics.stats.arms import compared, relative_ends
from frame_metrics.stats.exact import detectable, normal_quantile
from frame_metrics.stats.margins import margin_p_of_arms, margin_p_of_ends
from frame_metrics.stats.resampling import vary
from frame_metrics.stats.sequence import level_of_errors
from frame_metrics.stats.shares import hybrid, relative_hybrid
from frame_metrics.stats.significance import CLOSE
from frame_metrics.verbs.compare.arm_losses import arms_of_losses, losses_of_rows
from frame_metrics.verbs.compare.differences import (
    VALUE_COLUMNS,
    Pair,
    Row,
    by_area,
    by_draws,
    least_of_units,
    pairs_among,
    pairs_compared,
)
from frame_metrics.verbs.compare.margins import margin_columns, margins_of
from frame_metrics.verbs.compare.options import CompareOptions, tests_for
from frame_metrics.verbs.compare.splits import splits_of_rows


def arm_rows_compared(source: Source, asked: Asked, options: CompareOptions) -> Answer:
    """Return the answer: a row for each segment, metric and pair of arms."""
    columns = source.call.columns
    cases = read_cases(
        source.table,
        columns,
        source.call.conventions,
        named=options.per_class,
        only_correctness=lambda: not options.per_class and are_row_shares(asked),
    )
    check_cases(asked, cases)
    if options.per_class:
        check_each_class(asked, cases)
    binary = cases.binary or options.per_class
    lacks = [name for name, metric in asked if metric.slope_by_area is None or not binary]
    if options.test == "delong" and lacks:
        raise NotComputableError(
            f"{lacks[0]} has no test by DeLong, which applies to roc_auc and gini of two classes; pass test='bootstrap'"
        )
    views = views_of_classes(cases, [cases.rows], per_class=options.per_class)
    each = [ArmRows.of(replace(view, rows=rows), asked, options) for view, (rows,) in views]
    arms, segments = each[0].arms, each[0].segments
    pairs = pairs_among(arms, options)
    options = options.with_draws_for(len(pairs), len(asked), len(segments), len(each))
    each = [replace(one, options=options) for one in each]
    splits = splits_of_rows(source.table, columns, segments, arms, options)
    compared = splits.with_split_columns(lambda segment, pair: [row for one in each for row in one.rows(segment, pair)])
    classes = cases.classes if options.per_class else None
    return in_caller_type(pairs_compared(asked, segments, arms, pairs, options, compared, classes=classes), source)


@record
class ArmRows:
    """The rows of arms, where each arm in each segment is a group, and the metrics to compare."""

    cases: Cases
    arms: CellGroups  # the arms, sorted by name
    segments: CellGroups  # the segments in which arms are compared
    arm_segments: CellGroups  # each arm in each segment in which it has rows
    asked: Asked
    options: CompareOptions
    _drawn: dict[tuple[int, ...], dict[tuple[int, int], Array]] = field(default_factory=dict)  # see ``drawn``

    @classmethod
    def of(cls, cases: Cases, asked: Asked, options: CompareOptions) -> ArmRows:
        """Find the arms."""
        each = segments_of(cases.cells)
        return cls(cases, *cases.cells.by_system(cases.columns.arm), each, asked, options)

    @cached_property
    def at(self) -> dict[tuple[int, int], int]:
        """The position in ``arm_segments`` of a segment and an arm."""
        first = self.arm_segments.first
        pairs = zip(self.segments.group_of_cell[first].tolist(), self.arms.group_of_cell[first].tolist(), strict=True)
        return {pair: i for i, pair in enumerate(pairs)}

    @cached_property
    def of_areas(self) -> set[int]:
        """The positions of metrics of areas under ROC curves, of independent rows: their variances are DeLong's."""
        independent = "delong" in tests_for("rows of arms", self.cases.columns)
        if not (self.cases.binary and independent) or self.options.test == "bootstrap":
            return set()
        return {i for i, (_, metric) in enumerate(self.asked) if metric.slope_by_area is not None}

    @cached_property
    def margins(self) -> list[float]:
        """The margin of each metric, NaN for none."""
        found: list[float] = margins_of(self.options.margin, self.asked).tolist()
        return found

    @cached_property
    def values(self) -> tuple[list[SegmentValues], Array]:
        """The values of each metric, and the variance of the area under the ROC curve, if it is needed."""
        inputs = self._whole.inputs
        variance = inputs.areas.variance if self.of_areas else np.zeros(0)
        return [one_metric(inputs, *metric, None) for metric in self.asked], variance

    @cached_property
    def _whole(self) -> RowDraws:
        """The resamples of all arms, with the number of their rows or clusters, or Kish's number."""
        inputs = inputs_of(self.cases, self.arm_segments, self._metrics, with_intervals=bool(self.of_areas))
        return RowDraws(inputs, self.options.resamples, self.options.seed)

    @cached_property
    def _in_mean(self) -> list[Array | None]:
        """The classes that each metric is averaged over in each arm; None of one that is no such average."""
        return [classes_in_mean(self._whole.inputs, *metric) for metric in self.asked]

    def _have_other_classes(self, metric: int, at: list[int]) -> bool:
        """Return True if arms have averages over different classes; raise if these are no segments."""
        found = other_classes(self._whole.inputs, self._in_mean[metric], at)
        if found is None or self.segments.keys:
            return found is not None
        names = [cut(str(self.arms.text(arm))) for arm in self.arms.group_of_cell[self.arm_segments.first[at]].tolist()]
        raise error_of_classes(self.asked[metric][0], found, self.cases, names)

    @property
    def _metrics(self) -> list[Metric]:
        """The metrics that are compared."""
        return [metric for _, metric in self.asked]

    @cached_property
    def _by_formula(self) -> list[Array | None]:
        """The ends of the intervals of each metric that a formula gives, shape (2, arms in segments); None of others.

        With ``test=`` all are None.
        """
        if self.options.test:
            return [None] * len(self.asked)
        return [self._ends(metric, self.options.ci) for metric in range(len(self.asked))]

    def _ends(self, metric: int, level: float) -> Array | None:
        """Return the ends of the intervals of a metric by a formula, shape (2, arms in segments); None without one."""
        inputs, asked, value = self._whole.inputs, self.asked[metric][1], self.values[0][metric].value
        if metric in self.of_areas:
            return value + inputs.areas.ends(level, None, float(asked.slope_by_area or 1))
        if self._on_range(metric):
            variance = inputs.cached(("spread", asked), lambda: self._whole.spread((*self.asked[metric], None)))
            return self._whole.ends_on_range(asked, value, variance, level)
        return ends_by_formula(inputs, asked, None, value, level)

    def _on_range(self, metric: int) -> bool:
        """Return True for a metric whose interval is made of the variance of its draws."""
        return metric not in self.of_areas and self._whole.on_range(self.asked[metric][1])

    @cached_property
    def clusters(self) -> list[Array]:
        """The clusters of each arm in each segment; empty without ``cluster=``."""
        if not self.cases.columns.cluster:
            return [np.zeros(0)] * len(self.arm_segments)
        pairs = pl.DataFrame(
            {"at": self.arm_segments.of(self.cases.rows), "cluster": self.cases.rows["cluster"]}
        ).unique()
        at, cluster = (column.to_numpy() for column in pairs.sort("at"))
        return np.split(cluster, np.searchsorted(at, np.arange(1, len(self.arm_segments))))

    @cached_property
    def units(self) -> Array:
        """Number of rows, or of clusters, of each arm in each segment, shape (arms in segments,)."""
        return (
            np.array([len(clusters) for clusters in self.clusters])
            if self.cases.columns.cluster
            else self.arm_segments.n
        )

    @cached_property
    def support(self) -> Array:
        """Number of rows of the class that is compared, of each arm in each segment, shape (arms in segments,)."""
        at = self.arm_segments.of(self.cases.rows)
        return np.bincount(at, rows_of_class(self.cases), minlength=len(self.arm_segments))

    def drawn(self, *systems: int) -> dict[tuple[int, int], Array]:
        """Return resampled values of metrics that need draws of arms, by metric and position of an arm in a segment.

        ``systems``: one arm that is resampled by itself, with its own seed; or several that share clusters and are
        resampled together, so that a drawn cluster brings its rows of all these arms.
        """
        if systems not in self._drawn:
            arm_of_cell, every = self.arms.group_of_cell, self.arm_segments
            rows = self.cases.rows.filter(pl.Series(np.isin(arm_of_cell[self.cases.rows["cell"].to_numpy()], systems)))
            some = replace(every, n=np.where(np.isin(arm_of_cell[every.first], systems), every.n, 0))
            seed = int(np.random.SeedSequence([self.options.seed, *systems]).generate_state(1)[0])
            group = self.segments.group_of_cell[every.first] if len(systems) > 1 else None
            inputs = inputs_of(replace(self.cases, rows=rows), some, self._metrics)
            need = [i for i in range(len(self.asked)) if self._test(i) == "bootstrap" or self._on_range(i)]
            drawn = {i: (*self.asked[i], None) for i in need}
            draws = RowDraws(inputs, self.options.resamples, seed, group, for_ends=True)
            self._drawn[systems] = draws.values(drawn)
        return self._drawn[systems]

    def rows(self, segment: int, pair: Pair) -> list[Row]:
        """Compare two arms in one segment on every metric."""
        return [self._row(metric, segment, pair) for metric in range(len(self.asked))]

    def _row(self, metric: int, segment: int, pair: Pair) -> Row:
        """Compare two arms in one segment on one metric."""
        places = [self.at.get((segment, arm)) for arm in pair]  # None for an arm without rows in the segment
        with_rows, values = [at for at in places if at is not None], self.values[0][metric]
        value, base = (np.nan if at is None else float(values.value[at]) for at in places)
        far = 0.0 if abs(value - base) < CLOSE * max(abs(value), abs(base)) else value - base
        row: Row = {"value": value, "baseline_value": base, "difference": far}
        for prefix, at in zip(("", "baseline_"), places, strict=True):
            row |= {f"{prefix}n": 0 if at is None else self.arm_segments.n[at]}
            row |= {f"{prefix}n_units": 0 if at is None else self.units[at]}
            row |= {f"{prefix}support": 0 if at is None else self.support[at]} if self.options.per_class else {}
        clusters = [self.clusters[at] for at in with_rows]
        row["n_shared"] = np.isin(clusters[0], clusters[1]).sum() if len(clusters) == len(pair) else 0
        row["n_undefined"] = values.n_undefined[with_rows].sum()
        row["test"] = self._test(metric)
        alike = not self._have_other_classes(metric, with_rows)
        if not alike or lack_rows(self._whole.inputs, self.asked[metric][1], values.n_undefined, with_rows):
            row["difference"] = np.nan
        if min(row["n_units"], row["baseline_n_units"]) < 2 or np.isnan(row["difference"]):
            return row
        by_rule = {
            "delong": self._by_area,
            "newcombe": self._by_newcombe,
            "randomization": self._by_exchange,
            "bootstrap": self._by_draws,
        }
        return row | by_rule[row["test"]](metric, with_rows, [value, base])

    def _test(self, metric: int) -> str:
        """Return the test of a metric."""
        if self.options.test:
            return self.options.test
        if self._by_formula[metric] is not None:
            return "newcombe"
        return "bootstrap" if self._losses(metric) is None else "randomization"

    def _losses(self, metric: int) -> Array | None:
        """Return a metric of each row by itself; None of one that is no mean of these."""
        asked, inputs, value = self.asked[metric][1], self._whole.inputs, self.values[0][metric].value
        return inputs.cached(("losses", asked), lambda: losses_of_rows(inputs, asked, value))

    def _by_exchange(self, metric: int, at: list[int], _: list[float]) -> Row:
        """Return intervals and p-value of a mean over rows, as of queries: units are exchanged between the arms."""
        each, asked, options = self._losses(metric), self.asked[metric][1], self.options
        if each is None:
            return {}
        arms = arms_of_losses(self._whole.inputs, asked, each, at)
        drawn = options.permutations, options.resamples, options.seed
        found = compared(arms, "randomization", options.ci, drawn, lambda done: None)
        if "mde" in found:
            found["mde"] = np.where(found["mde"] > arms.widest, np.nan, found["mde"])
        row: Row = {name: column[0] for name, column in found.items() if name not in VALUE_COLUMNS}
        margin = self.margins[metric]
        if np.isnan(margin):
            return row
        sign = np.array([asked.sign])
        return row | margin_columns(
            margin_p_of_arms(arms, np.array([margin]), "randomization", drawn, sign)[:, 0], asked
        )

    def _by_area(self, metric: int, at: list[int], values: list[float]) -> Row:
        """Return intervals and p-value by DeLong, for areas of independent arms."""
        asked, variance = self.asked[metric][1], self.values[1][at]
        (least, most), means = asked.range, np.array(values)[:, None]
        ends, margin = (least - most, most - least), self.margins[metric]
        row = by_area(values[0] - values[1], asked, np.diag(variance), self.options, ends, margin)
        of_logs = float(asked.slope_by_area or 1) ** 2 * variance[:, None] / np.where(means == 0, 1, means) ** 2
        n_errors = np.array([normal_quantile(self.options.ci) if of_logs.any() else np.nan])
        low, high = relative_ends(means, of_logs.sum(axis=0), n_errors)
        return row | {"relative_low": low[0], "relative_high": high[0]}

    def _share_clusters(self, at: list[int]) -> bool:
        """Return True if some clusters have rows of both arms."""
        return bool(np.isin(self.clusters[at[0]], self.clusters[at[1]]).any())

    def _correlation(self, metric: int, at: list[int], values: Array) -> float:
        """Return the correlation of a metric of two arms that share clusters."""
        asked = self.asked[metric][1]
        if not self._on_range(metric):
            return correlation_of_arms(self._whole.inputs, asked, at)
        (least, most), drawn = asked.range, np.array(self._drawn_of(metric, at))
        drawn = drawn[:, ~np.isnan(drawn).any(axis=0)] / (most - least)
        away = drawn - drawn.mean(axis=1, keepdims=True) if drawn.size else drawn
        covariance = away @ away.T / max(away.shape[1], 1)
        return less_for_pairs(covariance[0, 1], np.diag(covariance), (values - least) / (most - least))

    def _drawn_of(self, metric: int, at: list[int]) -> list[Array]:
        """Return resampled values of a metric of two arms; of resamples of both together, if they share clusters."""
        systems = self.arms.group_of_cell[self.arm_segments.first[at]].tolist()
        drawn = [self.drawn(*(sorted(systems) if self._share_clusters(at) else [system])) for system in systems]
        return [draws[metric, arm] for arm, draws in zip(at, drawn, strict=True)]

    def _by_draws(self, metric: int, at: list[int], values: list[float]) -> Row:
        """Return intervals and p-value from resamples of both arms; none if those of one arm do not vary.

        With ``test="bootstrap"`` it is enough that those of the other do.
        """
        each = self._drawn_of(metric, at)
        if not (self.options.test or all(vary(one[~np.isnan(one)]) for one in each)):
            return {}
        most = max(map(len, each))  # an arm with few rows has more draws; those of the other arm are repeated
        units = self._whole.n_units(self.asked[metric][1])[at].tolist()
        asked = self.asked[metric][1], self.margins[metric]
        return by_draws(values, np.array([np.resize(one, most) for one in each]), self.options, units, *asked)

    def _by_newcombe(self, metric: int, at: list[int], values: list[float]) -> Row:
        """Return intervals and p-value by Newcombe, of the intervals of both arms, which may share clusters."""
        ends, asked = self._by_formula[metric], self.asked[metric][1]
        if ends is None or not np.isfinite(ends[:, at]).all():  # too few rows for an interval are too few for a test
            return {}
        correlation = self._correlation(metric, at, np.array(values)) if self._share_clusters(at) else 0.0
        parts, each = np.array(values), ends[:, at].T
        low, high = hybrid(parts, each, 0.0, (1.0, -1.0), correlation).tolist()
        p_of_margin = partial(self._p_of_margin, metric, at, parts, correlation)
        p = min(2 * p_of_margin(0.0).min(), 1.0)
        level, least = self.options.ci, least_of_units(self._whole.n_units(asked)[at].tolist())
        row: Row = {"test": "newcombe", "p_value": max(p, least), "ci_low": low, "ci_high": high}
        row["relative_low"], row["relative_high"] = relative_hybrid(parts, each, correlation)
        error = (high - low) / (2 * normal_quantile(level))
        row["mde"] = detectable(level) * error if least <= 1 - level + CLOSE else np.nan
        margin = self.margins[metric]
        known = not np.isnan(margin)
        return row | (margin_columns(p_of_margin(margin), asked) if known else {})

    def _p_of_margin(self, metric: int, at: list[int], parts: Array, correlation: float, margin: float) -> Array:
        """Return the p-values of the bound of Newcombe's interval, for a loss and for a gain of the margin."""

        def ends(z: float) -> tuple[float, float]:
            each = self._ends(metric, level_of_errors(z))
            if each is None:
                return np.nan, np.nan
            low, high = hybrid(parts, each[:, at].T, 0.0, (1.0, -1.0), correlation).tolist()
            return low, high

        return margin_p_of_ends(ends, margin, self.asked[metric][1].sign)
