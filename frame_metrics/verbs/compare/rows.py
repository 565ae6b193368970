"""Rows without a query compared: those of systems, paired by document, or each system with chance or the majority."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases, read_cases
from frame_metrics.data.groups import Segments
from frame_metrics.data.sides import Sides, paired_rows
from frame_metrics.errors import ColumnError, NotComputableError, check_apart, listed
from frame_metrics.inputs import Array, Classes, ClassScores, Confusion, Scores, ratio
from frame_metrics.measuring.pairs import pairs_of
from frame_metrics.measuring.results import labels
from frame_metrics.measuring.rows import (
    Inputs,
    check_cases,
    check_pooled,
    input_of,
    inputs_of,
    one_metric,
    without_errors,
)
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.metrics.shares import by_chance, marks, share_of
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.roles.resolve import absent, likely
from frame_metrics.stats import delong
from frame_metrics.stats.exact import detectable, fisher, mcnemar, normal, normal_quantile
from frame_metrics.stats.significance import CLOSE, deviation
from frame_metrics.verbs.compare.differences import (
    COUNTS,
    NUMBERS,
    RESULT,
    SCHEMA,
    OfRows,
    Options,
    answer_of_pairs,
    places,
    tabled,
)

Row = dict[str, Any]


def rows_compared(plan: Plan, asked: Asked, options: Options, *, per_query: bool) -> Any:
    """Answer ``irm.compare`` where there is no query."""
    columns = plan.columns
    _check(plan, asked, options, per_query=per_query)

    def compute(source: Source) -> Answer:
        cases = read_cases(source.table, source.plan.columns, plan.conventions, single=True)
        check_cases(asked, cases)
        if options.against is not None:
            return _against(cases, asked, options)
        return _by_document(cases, source.table, asked, options)

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        keys = (*columns.by, *([columns.system] if columns.system else []))
        baseline = pl.String if options.against or columns.system is None else types[columns.system]
        first = {name: types[name] for name in keys} | {"baseline": baseline}
        return first | {"metric": pl.String, "k": pl.Int64} | SCHEMA

    return answer_of(plan, compute, schema, in_pieces=True, documents=options.against is None)


def _check(plan: Plan, asked: Asked, options: Options, *, per_query: bool) -> None:
    """Raise for what rows without a query cannot be compared by; nothing is read."""
    columns, test = plan.columns, options.test
    if options.against is None and columns.system is None:
        raise ColumnError(
            "compare() pairs the rows of systems by document; name their column with system=, "
            "or say against='chance' or 'majority' to test one by itself"
        )
    if options.against is None and columns.doc is None:
        raise _no_document(plan)
    if per_query:
        raise NotComputableError("per_query=True lists the differences of queries; name query=")
    check_pooled(asked)
    plan.check_pooled(())
    check_apart(columns.keys, RESULT)
    if plan.conventions.match is not None:
        raise NotComputableError(
            "match= chooses the classes of each system's clusters anew; say match=None, and name a column of classes"
        )
    if test is not None and test not in get_args(OfRows):
        raise NotComputableError(
            f"test={test!r} is of queries, and there is none; "
            f"name query=, or say test= as one of {listed(get_args(OfRows))}"
        )
    dependent = columns.weight or columns.cluster
    if dependent and test not in (None, "bootstrap"):
        role, what = (
            ("weight", "counts every row alike") if columns.weight else ("cluster", "takes rows as independent")
        )
        raise NotComputableError(
            f"test={test!r} {what}, and {dependent} is their {role}; say test='bootstrap', or {role}=None"
        )


def _no_document(plan: Plan) -> ColumnError:
    """The error where nothing tells which rows belong together."""
    if "query" in plan.roles:
        hint = likely("doc", plan.available)
        return ColumnError(f"compare() without a query pairs rows by document; name their column with doc={hint}")
    lacking = absent(("query",), plan.roles, plan.available, plan.border.hint)
    return ColumnError(f"{lacking}; to pair rows without a query, name the document they are about with doc=")


def _by_document(cases: Cases, frame: pl.DataFrame, asked: Asked, options: Options) -> Answer:
    """Return one row per segment, metric and pair of systems."""
    paired, column = paired_rows(cases, frame), str(cases.columns.system)
    names = paired.systems.values(column)
    pairs = pairs_of(range(len(names)), names if len(cases.rows) else [], options.baseline, column)
    rows: list[Row] = []
    for segment in range(len(paired.segments)):
        each: list[list[Row]] = []
        for system, base in pairs:
            sides, unpaired = paired.sides(segment, system, base)
            each.append([row | {"n_unpaired": unpaired} for row in Contest(sides, options).rows(asked)])
        rows += [row for of_metric in zip(*each, strict=True) for row in of_metric]
    return answer_of_pairs(rows, asked, paired.segments, paired.systems, pairs, options)


def _against(cases: Cases, asked: Asked, options: Options) -> Answer:
    """Return one row per segment, metric and system, each of which is compared with chance or with the majority."""
    order, columns = cases.cells.in_order(), cases.columns
    systems = cases.cells.apart([columns.system] if columns.system else [], order)
    segments = cases.cells.apart(columns.by, order)
    cell = cases.rows["cell"].to_numpy()
    rows: list[Row] = []
    for segment in range(len(segments)):
        each = []
        for system in range(len(systems)):
            mine = cases.rows.filter(pl.Series((segments.place[cell] == segment) & (systems.place[cell] == system)))
            each.append(Contest(_opposed(cases, mine, options), options).rows(asked))
        rows += [row for of_metric in zip(*each, strict=True) for row in of_metric]
    at, metric, of = places(len(rows), len(asked), len(systems))
    keys = segments.own_rows(at) | ({columns.system: systems.key_rows(of)[columns.system]} if columns.system else {})
    baseline = {"baseline": pl.Series([options.against], dtype=pl.String).new_from_index(0, len(rows))}
    return Answer(
        keys, baseline | labels(asked, metric) | tabled(rows, len(asked), len(systems), options), table=cases.cells.held
    )


def _opposed(cases: Cases, rows: pl.DataFrame, options: Options) -> Sides:
    """The rows of one system, and beside them those of a constant prediction where it is compared with the majority."""
    one = Sides(cases, [rows])
    if options.against == "chance":
        return one
    most = int(np.bincount(one.actual, one.each * one.times, minlength=max(cases.k, 1)).argmax())
    said = one.rows[0].with_columns(predicted=pl.lit(most, rows.schema.get("predicted", pl.Int64)))
    return Sides(cases, [*one.rows, said])


@dataclass(frozen=True, eq=False)
class Contest:
    """Two systems on the same rows, or one beside what chance gives."""

    sides: Sides
    options: Options

    @cached_property
    def inputs(self) -> list[Inputs]:
        """Tables and scores that metrics are computed from, of each system."""
        cases, none = self.sides.cases, np.zeros(1, np.int64)
        one = Segments(cases.cells, (), none, none, np.array([self.sides.n]))
        return [inputs_of(replace(cases, rows=rows), one) for rows in self.sides.rows]

    def rows(self, asked: Asked) -> list[Row]:
        """Return the row of each metric."""
        found = [self._described(name, metric) for name, metric in asked]
        if self.sides.n:
            drawn = self._drawn(asked, {i: row for i, row in enumerate(found) if row["test"] != "delong"})
            for i, (row, (_, metric)) in enumerate(zip(found, asked, strict=True)):
                row |= self._by_area(row, metric) if row["test"] == "delong" else self._by_draws(row, drawn[i])
                if row["test"] in ("mcnemar", "fisher") and not np.isnan(row["difference"]):
                    counted = row["test"] == "mcnemar"
                    row["p_value"] = mcnemar(row["wins"], row["losses"]) if counted else fisher(self._decided())
        return found

    def _described(self, name: str, metric: Metric) -> Row:
        """Values of a metric, and the test that it gets: all that is known without drawing."""
        share, level = self._share(metric), self._level(name, metric)
        row: Row = dict.fromkeys((*NUMBERS, *COUNTS, "mde"), np.nan)
        row |= {"n": self.sides.n, "n_unpaired": 0, "n_undefined": 0, "test": self._test(name, metric, share)}
        if not self.sides.n:
            return row
        values = [one_metric(inputs, name, metric, None) for inputs in self.inputs]
        value, base = float(values[0].value[0]), float(values[1].value[0]) if level is None else level
        row |= {"value": value, "baseline_value": base, "difference": value - base}
        row["relative"] = (value - base) / abs(base) if base else np.nan
        row["n_undefined"] = max(int(one.undefined[0]) for one in values)
        return row if share is None or level is not None else row | self._counted(share, metric.sign)

    def _share(self, metric: Metric) -> Array | None:
        """Part that a row of each cell has in the metric, if it is a share of rows."""
        return share_of(metric, binary=self.sides.cases.binary)

    def _level(self, name: str, metric: Metric) -> float | None:
        """The metric's value by chance, where that is what the system is compared with."""
        if self.options.against != "chance":
            if self.options.against and input_of(self.sides.cases, metric) is not Classes:
                raise NotComputableError(f"{name} is of scores, and the majority is a decision; say against='chance'")
            return None
        rows = self.sides.cases.rows
        undecided = "predicted" in rows.columns and rows["predicted"].null_count() > 0
        level = by_chance(metric, binary=self.sides.cases.binary, undecided=undecided)
        if level is None:
            raise NotComputableError(
                f"{name} has no single value by chance, with room for better and for worse; "
                "ask for informedness or roc_auc, or for accuracy against='majority'"
            )
        return level

    def _test(self, name: str, metric: Metric, share: Array | None) -> str:
        """The test that is asked for, or else the first that the metric has."""
        cases, against = self.sides.cases, self.options.against
        has = ["bootstrap"]
        if not (cases.weighted or cases.columns.cluster):
            if cases.binary and metric.of_area is not None and against != "majority":
                has = ["delong", *has]
            elif share is not None and against != "chance":
                has = ["mcnemar", *has]
            elif cases.binary and against == "chance" and metric.input in (Confusion, Classes):
                has = ["fisher", *has]
        if self.options.test not in (None, *has):
            raise NotComputableError(
                f"test={self.options.test!r} is none of {name} here; say test= as one of {listed(has)}, or test=None"
            )
        return self.options.test or has[0]

    def _counted(self, share: Array, sign: int) -> Row:
        """Count the rows on which one system is the better, by the sign of that; the effect size of differences."""
        sides, k = self.sides, self.sides.cases.k
        mine, other = (marks(share, sides.actual, predicted, k) for predicted in sides.predicted)
        differs = np.nan_to_num(mine - other)
        order = np.lexsort((sides.times, sides.each, differs))  # so that sums do not depend on where rows stand
        about = order[~np.isnan(mine)[order]]
        same = ~np.isnan(mine) & (differs == 0)  # of the rows that the share is about
        wins, ties, losses = (int(sides.times[which].sum()) for which in (differs * sign > 0, same, differs * sign < 0))
        row: Row = {"wins": wins, "ties": ties, "losses": losses}
        heavy = (sides.each * sides.times)[about]
        if heavy.sum() > 0:
            (spread,) = deviation(differs[about, None], sides.each[about], sides.times[about])
            row["effect_size"] = float(ratio(np.average(differs[about], weights=heavy), spread))
        return row

    def _decided(self) -> Array:
        """The 2x2 table of the rows with a decision, by true class and prediction."""
        (predicted,) = self.sides.predicted
        cell = self.sides.actual * 3 + predicted
        return np.bincount(cell, self.sides.times, minlength=6).reshape(2, 3)[:, :2]

    def _by_area(self, row: Row, metric: Metric) -> Row:
        """Interval and p-value of a metric of the area under the ROC curve, by DeLong."""
        sides, slope, (least, most) = self.sides, float(metric.of_area or 1), metric.range
        order = np.lexsort((*sides.score[::-1], sides.actual))  # so that sums do not depend on where rows stand
        _, covariance = delong.areas(sides.score[:, order], sides.actual[order], sides.times[order])
        sign = np.array([1.0, -1.0])[: len(sides.rows)] * slope
        variance = float(sign @ covariance @ sign)
        variance = 0.0 if variance < CLOSE * np.trace(covariance) else variance
        difference = 0.0 if abs(row["difference"]) < CLOSE else row["difference"]
        wide, base = normal_quantile(self.options.ci) * np.sqrt(variance), row["baseline_value"]
        ends = (least - base, most - base) if len(sides.rows) == 1 else (least - most, most - least)
        low, high = np.clip([difference - wide, difference + wide], *ends)
        return {"ci_low": low, "ci_high": high, "p_value": normal(difference, variance)} | self._mde(variance)

    def _by_draws(self, row: Row, drawn: Array) -> Row:
        """Interval of a difference, and its p-value if it is the bootstrap's: draws moved by what was seen."""
        drawn, seen = drawn[~np.isnan(drawn)], abs(row["difference"])
        if not len(drawn) or np.isnan(seen):
            return {}
        with np.errstate(invalid="ignore"):  # differences may be infinite, as those of odds are
            low, high = np.quantile(drawn, [(1 - self.options.ci) / 2, (1 + self.options.ci) / 2])
            found = {"ci_low": low, "ci_high": high} | self._mde(drawn.var())
            reached = np.abs(drawn - row["difference"]) >= seen - CLOSE * max(seen, 1)
        if row["test"] == "bootstrap":
            found["p_value"] = (reached.sum() + 1) / (len(drawn) + 1) if np.isfinite(seen) else np.nan
        return found

    def _mde(self, variance: float) -> Row:
        """The difference that rows like these would show with the power asked for."""
        return {"mde": detectable(self.options.ci, self.options.power) * float(np.sqrt(variance))}

    def _drawn(self, asked: Asked, wanted: dict[int, Row]) -> dict[int, Array]:
        """The differences of resampled rows, for each row of the result that wants them."""
        by_source: dict[type, list[int]] = {}
        for i in wanted:
            by_source.setdefault(input_of(self.sides.cases, asked[i][1]), []).append(i)
        pieces: dict[int, list[Array]] = {i: [] for i in wanted}
        for source, some in by_source.items():
            for sides in self._resampled(source, [asked[i][1] for i in some]):
                for i in some:
                    value, *base = (one_metric(here, *asked[i], None).value for here in sides)
                    with np.errstate(invalid="ignore"):
                        pieces[i].append(value - (base[0] if base else wanted[i]["baseline_value"]))
        return {i: np.concatenate(some) if some else np.zeros(0) for i, some in pieces.items()}

    def _resampled(self, source: type, metrics: Sequence[Metric]) -> Any:
        """Give what metrics are computed from of each system, for some resamples, until there are enough."""
        cases, options = without_errors(self.sides.cases), self.options
        full = [here.by_class if source is ClassScores else here.table for here in self.inputs]
        seen = [np.ones((1, cases.k), bool) if one is None else one.seen for one in full]
        for each in self.sides.drawn(source, seen, options.resamples, options.seed):
            here = []
            for drawn in each:
                n = drawn.n if isinstance(drawn, Classes) else drawn.n_queries
                segments = replace(self.inputs[0].segments, n=np.full(n, self.sides.n))
                if isinstance(drawn, Scores):
                    known: dict[Metric | None, Array] = {metric: metric.compute(drawn) for metric in metrics}
                    here.append(Inputs(cases, segments, None, None, known))
                else:
                    table, scores = (drawn, None) if isinstance(drawn, Classes) else (None, drawn)
                    here.append(Inputs(cases, segments, table, scores))
            yield here
