"""Arms compared without a query: each has rows of its own, whose values are counted together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases, read_cases
from frame_metrics.data.groups import Segments
from frame_metrics.errors import ColumnError, NotComputableError, check_apart, listed
from frame_metrics.inputs import Array
from frame_metrics.measuring import results as tidy
from frame_metrics.measuring.pairs import pairs_of
from frame_metrics.measuring.rows import (
    Values,
    check_cases,
    check_pooled,
    input_of,
    inputs_of,
    one_metric,
    resampled,
    sort_scores,
)
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.stats.arms import as_normal, drawn_ends, relative_ends
from frame_metrics.stats.exact import detectable, normal, normal_quantile
from frame_metrics.verbs.compare.differences import OF_ARMS, Options, answer_of_pairs, schema_of_arms

Row = dict[str, Any]
TESTS = ("delong", "bootstrap")


def arm_rows_compared(plan: Plan, asked: Asked, options: Options) -> Any:
    """Answer ``irm.compare`` where systems have each their own rows, and there is no query."""
    columns, system = plan.columns, str(plan.columns.system)
    _check(plan, asked, options)

    def compute(source: Source) -> Answer:
        cases = read_cases(source.table, source.plan.columns.as_arms(), plan.conventions)
        check_cases(asked, cases)
        lacks = [name for name, metric in asked if metric.of_area is None or not cases.binary]
        if options.test == "delong" and lacks:
            raise NotComputableError(
                f"{lacks[0]} has no test by DeLong, which is of roc_auc and gini of two classes; say test='bootstrap'"
            )
        return _compared(ArmRows(cases, system, asked, options))

    return answer_of(plan, compute, schema_of_arms(columns), in_pieces=True)


def _check(plan: Plan, asked: Asked, options: Options) -> None:
    """Raise for what arms cannot be compared by without a query; nothing is read."""
    columns, test = plan.columns, options.test
    if options.covariate is not None:
        raise NotComputableError(f"covariate={options.covariate!r} is of queries, and there is none; name query=")
    if test not in (None, *TESTS):
        raise NotComputableError(
            f"test={test!r} is of queries, and there is none; name query=, or say test= as one of {listed(TESTS)}"
        )
    if test == "delong" and (dependent := columns.weight or columns.cluster):
        role = "weight" if columns.weight else "cluster"
        raise NotComputableError(
            f"test='delong' is for independent rows that count one each, and {dependent} is their {role}; "
            f"say test='bootstrap', or {role}=None"
        )
    check_pooled(asked)
    plan.check_pooled(())
    check_apart(columns.keys, ("baseline", "metric", "k", *OF_ARMS))
    if plan.conventions.match is not None:
        raise ColumnError(
            "match= chooses the classes of each arm's clusters anew; say match=None, and name a column of classes"
        )


@dataclass(frozen=True, eq=False)
class ArmRows:
    """The rows of arms, each a segment, and what is asked of them."""

    cases: Cases
    system: str  # what the caller calls the column of systems
    asked: Asked
    options: Options
    _known: dict[tuple[int, ...], dict[tuple[int, int], Array]] = field(default_factory=dict)

    @cached_property
    def _order(self) -> dict[str, Array]:
        return self.cases.cells.in_order()

    @cached_property
    def systems(self) -> Segments:
        """The arms, sorted by their names."""
        return self.cases.cells.apart([self.system], self._order)

    @cached_property
    def segments(self) -> Segments:
        """The segments that arms are compared in."""
        return self.cases.cells.apart([name for name in self.cases.columns.by if name != self.system], self._order)

    @cached_property
    def each(self) -> Segments:
        """Each arm in each segment that it has rows in."""
        return self.cases.cells.apart(self.cases.columns.by, self._order)

    @cached_property
    def at(self) -> dict[tuple[int, int], int]:
        """The place among these of a segment and an arm."""
        first = self.each.first
        pairs = zip(self.segments.place[first].tolist(), self.systems.place[first].tolist(), strict=True)
        return {pair: i for i, pair in enumerate(pairs)}

    @cached_property
    def normal(self) -> set[int]:
        """The metrics that are tested by DeLong."""
        cases, test = self.cases, self.options.test
        if not cases.binary or cases.weighted or cases.columns.cluster or test == "bootstrap":
            return set()
        return {i for i, (_, metric) in enumerate(self.asked) if metric.of_area is not None}

    @cached_property
    def values(self) -> tuple[list[Values], Array]:
        """The values of each metric, and the variance of the area, where it is needed."""
        inputs, areas = inputs_of(self.cases, self.each), [metric for _, metric in self.asked]
        if self.cases.binary:
            sort_scores(inputs, areas, vary=bool(self.normal))
        variance = inputs.of_scores[None] if self.normal else np.zeros(0)
        return [one_metric(inputs, *one, None) for one in self.asked], variance

    @cached_property
    def clusters(self) -> list[Array]:
        """The clusters of each arm in each segment, none where no column says them."""
        if not self.cases.columns.cluster:
            return [np.zeros(0)] * len(self.each)
        pairs = pl.DataFrame({"at": self.each.of(self.cases.rows), "cluster": self.cases.rows["cluster"]}).unique()
        at, cluster = (column.to_numpy() for column in pairs.sort("at"))
        return np.split(cluster, np.searchsorted(at, np.arange(1, len(self.each))))

    @cached_property
    def units(self) -> Array:
        """The rows, or clusters, of each arm in each segment, shape (arms,)."""
        return np.array([len(own) for own in self.clusters]) if self.cases.columns.cluster else self.each.n

    def drawn(self, *systems: int) -> dict[tuple[int, int], Array]:
        """The draws of each metric that is not normal, by its number and the place of an arm in a segment.

        Arms that are drawn by themselves have seeds of their own; clusters of several have in a draw all their rows.
        """
        if systems in self._known:
            return self._known[systems]
        pieces: dict[tuple[int, int], list[Array]] = {}
        by_source: dict[type, list[int]] = {}
        for i in set(range(len(self.asked))) - self.normal:
            by_source.setdefault(input_of(self.cases, self.asked[i][1]), []).append(i)
        place = self.systems.place
        rows = self.cases.rows.filter(pl.Series(np.isin(place[self.cases.rows["cell"].to_numpy()], systems)))
        mine = replace(self.each, n=np.where(np.isin(place[self.each.first], systems), self.each.n, 0))
        seed = int(np.random.SeedSequence([self.options.seed, *systems]).generate_state(1)[0])
        drawn = tidy.Options(ci=self.options.ci, resamples=self.options.resamples, seed=seed)
        group = self.segments.place[self.each.first] if len(systems) > 1 else None
        for source, some in by_source.items():
            inputs = inputs_of(replace(self.cases, rows=rows), mine)
            metrics: list[Metric] = [self.asked[i][1] for i in some]
            for g, here in resampled(inputs, source, metrics, drawn, group):
                for i in some:
                    pieces.setdefault((i, g), []).append(one_metric(here, *self.asked[i], None).value)
        self._known[systems] = {at: np.concatenate(some) for at, some in pieces.items()}
        return self._known[systems]

    def row(self, metric: int, segment: int, pair: tuple[int, int]) -> Row:
        """Compare two arms in one segment."""
        places = [self.at.get((segment, arm)) for arm in pair]
        values, n, units = self.values[0][metric], self.each.n, self.units
        found = [np.nan if at is None else float(values.value[at]) for at in places]
        (value, base), counts = found, [(0, 0) if at is None else (n[at], units[at]) for at in places]
        row: Row = dict.fromkeys(OF_ARMS, np.nan) | {"value": value, "baseline_value": base, "difference": value - base}
        row["relative"] = (value - base) / abs(base) if base else np.nan
        row |= zip(("n", "n_units", "baseline_n", "baseline_n_units"), [*counts[0], *counts[1]], strict=True)
        row["n_undefined"] = sum(values.undefined[at] for at in places if at is not None)
        row["test"] = "delong" if metric in self.normal else self.options.test or "bootstrap"
        if min(counts[0][1], counts[1][1]) < 2 or np.isnan(row["difference"]) or None in places:
            return row
        at = [int(one) for one in places if one is not None]
        return row | (self._by_area if metric in self.normal else self._by_draws)(
            metric, at, np.array([[value], [base]])
        )

    def _by_area(self, metric: int, at: list[int], means: Array) -> Row:
        """Intervals and p-value of areas of rows that have nothing to do with each other."""
        slope, (least, most) = float(self.asked[metric][1].of_area or 1), self.asked[metric][1].range
        variances, difference = slope**2 * self.values[1][at][:, None], float(means[0, 0] - means[1, 0])
        error, z = float(np.sqrt(variances.sum())), normal_quantile(self.options.ci)
        relative = variances / np.where(means == 0, 1, means) ** 2
        low, high = relative_ends(means, relative, as_normal(self.options.ci))
        ends = np.clip([difference - z * error, difference + z * error], least - most, most - least)
        row = {"ci_low": ends[0], "ci_high": ends[1], "relative_low": low[0], "relative_high": high[0]}
        return row | {"p_value": normal(difference, error**2), "mde": self._mde(error)}

    def _by_draws(self, metric: int, at: list[int], means: Array) -> Row:
        """Intervals and p-value of the draws of both arms."""
        systems = self.systems.place[self.each.first[at]].tolist()
        if np.isin(self.clusters[at[0]], self.clusters[at[1]]).any():
            found = [self.drawn(*sorted(systems))] * 2
        else:
            found = [self.drawn(system) for system in systems]
        if any((metric, one) not in own for one, own in zip(at, found, strict=True)):
            return {}
        drawn = np.array([own[metric, one] for one, own in zip(at, found, strict=True)])
        drawn = drawn[:, np.isfinite(drawn).all(axis=0)]
        if not drawn.shape[1] or not np.isfinite(means).all():
            return {}
        ends = drawn_ends([*drawn[:, :, None]], means, np.abs(means).max(), self.options.ci)
        row = {name: float(values[0]) for name, values in ends.items()}
        return row | {"mde": self._mde(float((drawn[0] - drawn[1]).std()))}

    def _mde(self, error: float) -> float:
        """The difference that rows like these would show with the power asked for."""
        return detectable(self.options.ci, self.options.power) * error


def _compared(arms: ArmRows) -> Answer:
    """Return one row per segment, metric and pair of arms."""
    column, systems, segments, options = arms.system, arms.systems, arms.segments, arms.options
    names = systems.values(column) if len(arms.cases.rows) else []
    pairs, m = pairs_of(range(len(names)), names, options.baseline, column), len(arms.asked)
    each = ((metric, segment, pair) for segment in range(len(segments)) for metric in range(m) for pair in pairs)
    rows = [arms.row(*one) for one in each]
    return answer_of_pairs(rows, arms.asked, segments, systems, pairs, options, OF_ARMS)
