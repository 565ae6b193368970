"""Compare systems on rows without a query, paired by document; or each system with chance, or with the majority."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.by_document import paired_rows
from frame_metrics.data.cases import Cases, read_cases
from frame_metrics.errors import NotComputableError, cut, listed
from frame_metrics.inputs import Array, Classes, FullConfusion, FullScores, ratio
from frame_metrics.inputs.records import record
from frame_metrics.inputs.scores import LEVELS_AT_ONCE
from frame_metrics.keys.groups import CellGroups
from frame_metrics.measuring.decided import in_caller_type
from frame_metrics.measuring.each_class import check_each_class, rows_of_class, views_of_classes
from frame_metrics.measuring.resampled_rows import RowDraws, columns_read
from frame_metrics.measuring.results import metric_columns
from frame_metrics.measuring.rows import Inputs, check_cases, input_of, inputs_of, one_metric
from frame_metrics.measuring.same_classes import classes_in_mean, error_of_classes, lack_rows, other_classes
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.metrics.shares import are_row_shares, by_chance, marks, share_of
from frame_metrics.plan.compared import MID_P
from frame_metrics.plan.source import Source
from frame_metrics.stats import delong
from frame_metrics.stats.arms import relative_ends
from frame_metrics.stats.exact import fisher, mcnemar, normal_quantile, t_quantile
from frame_metrics.stats.flips import least_p
from frame_metrics.stats.margins import margin_p_of_shares
from frame_metrics.stats.paired_shares import mid_p, newcombe, standard_errors, table_of_pairs
from frame_metrics.stats.significance import CLOSE, deviation
from frame_metrics.stats.two_arms import MIN_DIFFERING
from frame_metrics.verbs.compare.differences import (
    Pair,
    Row,
    by_area,
    by_draws,
    numbers_of_rows,
    pairs_among,
    pairs_compared,
    sorted_rows,
    tabled,
)
from frame_metrics.verbs.compare.inferred import POWER
from frame_metrics.verbs.compare.margins import margin_columns, margins_of
from frame_metrics.verbs.compare.options import CompareOptions, tests_for

MARKS = np.array([0, 1, np.nan])  # a row counts in a metric that is a share of rows as 0 or 1; NaN: not at all


def rows_compared(source: Source, asked: Asked, options: CompareOptions) -> Answer:
    """Return the answer: a row for each segment, metric and pair of systems (or system, against a constant)."""
    columns, conventions = source.call.columns, source.call.conventions
    cases = read_cases(
        source.table,
        columns,
        conventions,
        named=options.per_class,
        keep_row_numbers=True,
        only_correctness=lambda: _only_correct(asked, options),
    )
    check_cases(asked, cases)
    if options.against is not None:
        return _against(cases, asked, options)
    if options.per_class:
        check_each_class(asked, cases)
    by_document = paired_rows(cases, source.table)
    pairs = pairs_among(by_document.systems, options)
    n_classes = len(cases.classes) if options.per_class else 1
    options = options.with_draws_for(len(pairs), len(asked), len(by_document.segments), n_classes)

    def compared(segment: int, pair: Pair) -> list[Row]:
        rows, n_unpaired = by_document.rows(segment, pair)
        # The rows of the system with the smaller number come first, see ``ByDocument.rows``.
        names = [cut(str(by_document.systems.text(system))) for system in pair]
        # With segments, averages over different classes give a null difference; without, an error that names both.
        named = [] if by_document.segments.keys else names
        found = list[Row]()
        for view, of_view in views_of_classes(cases, rows, per_class=options.per_class):
            inputs = _stacked(view, of_view, asked)
            known = {"n_unpaired": n_unpaired}
            known |= {"support": rows_of_class(replace(view, rows=of_view[0])).sum()} if options.per_class else {}
            each = RowComparison(inputs, options, int(pair[0] > pair[1]), named).result_rows(asked)
            found += [row | known for row in each]
        return found

    classes = cases.classes if options.per_class else None
    each = asked, by_document.segments, by_document.systems, pairs, options, compared
    return in_caller_type(pairs_compared(*each, classes=classes), source)


def _only_correct(asked: Asked, options: CompareOptions) -> bool:
    """Return True if all that metrics read is whether predictions are right or wrong."""
    return options.against is None and not options.per_class and are_row_shares(asked)


def _against(cases: Cases, asked: Asked, options: CompareOptions) -> Answer:
    """Return the answer with ``against=``, chance or the majority: a row for each segment, metric and system."""
    (systems, segments), cell = cases.cells.by_system(cases.columns.system), cases.rows["cell"].to_numpy()

    def compared(segment: int, system: int) -> list[Row]:
        some = (segments.group_of_cell[cell] == segment) & (systems.group_of_cell[cell] == system)
        inputs = _with_constant(cases, cases.rows.filter(pl.Series(some)), asked, options)
        named = (
            []
            if segments.keys
            else [cut(systems.text(system) or str(cases.columns.predicted)), f"the {options.against}"]
        )
        return RowComparison(inputs, options, names=named).result_rows(asked)

    rows = sorted_rows(len(segments), range(len(systems)), compared)
    at, metric, system = numbers_of_rows(len(rows), len(asked), len(systems))
    baseline = {"baseline": pl.Series([options.against], dtype=pl.String).new_from_index(0, len(rows))}
    columns_of_rows = baseline | metric_columns(asked, metric) | tabled(rows, len(asked), len(systems), options)
    keys = segments.key_rows(at, totalled=False) | systems.key_rows(system, totalled=False)
    return Answer(keys, columns_of_rows, table=cases.cells.key_table)


def _with_constant(cases: Cases, rows: pl.DataFrame, asked: Asked, options: CompareOptions) -> Inputs:
    """Return the inputs of one system; against the majority also those of its constant prediction on the same rows."""
    if options.against == "chance":
        return _stacked(cases, [rows], asked)
    some = replace(cases, rows=rows)
    majority = int(np.bincount(rows["actual"], some.row_weight * some.times, minlength=max(cases.k, 1)).argmax())
    constant = rows.with_columns(predicted=pl.lit(majority, rows.schema.get("predicted", pl.Int64)))
    return _stacked(cases, [rows, constant], asked)


def _stacked(cases: Cases, rows: Sequence[pl.DataFrame], asked: Asked) -> Inputs:
    """Return the inputs of metrics for several systems on the same rows; each system is a segment."""
    number, n = np.arange(len(rows)), replace(cases, rows=rows[0]).count_rows()
    stacked = pl.concat([frame.with_columns(cell=pl.lit(i, pl.Int8)) for i, frame in enumerate(rows)], how="diagonal")
    segments = CellGroups(cases.cells, ("side",), number, number, np.full(len(rows), n))
    return inputs_of(replace(cases, rows=stacked), segments, [metric for _, metric in asked])


@record
class RowComparison:
    """The comparison of two systems on the same rows, or of one system with chance."""

    # Each system is a segment (a side); all have the same rows in the same order.
    inputs: Inputs
    options: CompareOptions
    system_side: int = 0  # the side of the system; the other one is its baseline
    # Words for both, for an error if their averages are over different classes; without, the difference is null.
    names: Sequence[str] = ()

    @property
    def cases(self) -> Cases:
        """The rows with the decisions of side 0, then the same rows with those of side 1, if there is one."""
        return self.inputs.cases

    @property
    def sides(self) -> list[int]:
        """The side of the system, then that of the baseline, unless this is chance."""
        return [self.system_side, 1 - self.system_side][: len(self.inputs.segments)]

    @property
    def n(self) -> int:
        """Number of rows; a row that stands for several counts as these."""
        return int(self.inputs.segments.n[0])

    def _of_side(self, values: Array) -> Array:
        """Return one side of values that are the same on both, shape (rows,)."""
        return values[: len(values) // len(self.sides)]

    def _actual_and_values(self, kind: type) -> tuple[Array, Array]:
        """Return the true class of each row, shape (rows,), and its prediction or score by system and baseline.

        The second has shape (sides, rows). ``kind``: the class of the input of metrics, which says what they read.
        """
        actual, values = columns_read(self.cases, kind)
        return self._of_side(actual), values.reshape(len(self.sides), -1)[self.sides]

    def result_rows(self, asked: Asked) -> list[Row]:
        """Return the row of each metric."""
        found = [self._described(name, metric) for name, metric in asked]
        if not self.n:
            return found
        asked_by_draws = {i: (*asked[i], None) for i, row in enumerate(found) if row["test"] in ("bootstrap", "fisher")}
        draws = RowDraws(self.inputs, self.options.resamples, self.options.seed, for_ends=True, paired=True)
        values, margins = draws.values(asked_by_draws), margins_of(self.options.margin, asked).tolist()
        for i, (row, (_, metric), margin) in enumerate(zip(found, asked, margins, strict=True)):
            if np.isnan(row["difference"]):
                continue
            if row["test"] == "delong":
                row |= self._by_area(row, metric, margin)
            elif row["test"] not in ("bootstrap", "fisher"):
                row |= self._by_counts(row, metric, margin)
            else:
                n_units = float(draws.n_units(metric)[self.system_side])
                row |= self._by_draws(row, values, i, n_units, (metric, margin))
            if row["test"] == "fisher":
                row["p_value"] = fisher(self._decided())
        return found

    def _described(self, name: str, metric: Metric) -> Row:
        """Return the values of a metric and its test: the part of a row that needs no random draws."""
        share = share_of(metric, binary=self.cases.binary)
        chance_value = self._chance_value(name, metric)
        row: Row = {"n": self.n, "n_unpaired": 0, "n_undefined": 0, "test": self._test(name, metric, share)}
        if not self.n:
            return row
        found = one_metric(self.inputs, name, metric, None)
        value, base = [*found.value[self.sides], chance_value][:2]
        row |= {"value": value, "baseline_value": base, "difference": value - base}
        row["n_undefined"] = int(found.n_undefined.max())
        if self._have_other_classes(name, metric) or lack_rows(self.inputs, metric, found.n_undefined, self.sides):
            row["difference"] = np.nan
        return row if share is None or chance_value is not None else row | self._counted(share, metric.sign)

    def _have_other_classes(self, name: str, metric: Metric) -> bool:
        """Return True if both sides have averages over different classes; raise if they are named."""
        found = other_classes(self.inputs, classes_in_mean(self.inputs, name, metric), self.sides)
        if found is not None and self.names:
            raise error_of_classes(name, found, self.cases, self.names)
        return found is not None

    def _chance_value(self, name: str, metric: Metric) -> float | None:
        """Return the metric's value by chance, if the baseline is chance; else None."""
        if self.options.against != "chance":
            if self.options.against and input_of(self.cases, metric) is not Classes:
                raise NotComputableError(f"{name} reads scores, and the majority is a decision; pass against='chance'")
            return None
        rows = self.cases.rows
        undecided = "predicted" in rows.columns and rows["predicted"].null_count() > 0
        value = by_chance(metric, binary=self.cases.binary, undecided=undecided)
        if value is None:
            raise NotComputableError(
                f"{name} has no value by chance that is the same for all data and lies between its worst and its best; "
                "ask for informedness or roc_auc, or for accuracy against='majority'"
            )
        return value

    def _test(self, name: str, metric: Metric, share: Array | None) -> str:
        """Return the test of a metric: the one asked for, else the first that applies; raise if it does not apply."""
        cases, against = self.cases, self.options.against
        applies = {
            **dict.fromkeys((MID_P, "mcnemar"), share is not None and against != "chance"),
            "delong": cases.binary and metric.slope_by_area is not None and against != "majority",
            "fisher": cases.binary and against == "chance" and metric.input in (FullConfusion, Classes),
            "bootstrap": True,
        }
        tests = [test for test in tests_for("rows", cases.columns) if applies[test]]
        if self.options.test not in (None, *tests):
            raise NotComputableError(
                f"test={self.options.test!r} does not apply to {name} here; "
                f"pass test= as one of {listed(tests)}, or test=None"
            )
        return self.options.test or tests[0]

    def _counted(self, share: Array, sign: int) -> Row:
        """Count wins, ties and losses over rows, and compute the effect size; ``share``: see ``share_of``."""
        mine, base, weight, times = self._marked(share)
        difference = np.nan_to_num(mine - base)
        order = np.lexsort((times, weight, difference))  # so that sums do not depend on the order of rows
        in_share = order[~np.isnan(mine)[order]]
        tied = ~np.isnan(mine) & (difference == 0)
        wins, ties, losses = (int(times[at].sum()) for at in (difference * sign > 0, tied, difference * sign < 0))
        row: Row = {"wins": wins, "ties": ties, "losses": losses}
        row["table"] = table_of_pairs(mine[in_share], base[in_share], times[in_share])
        mass = (weight * times)[in_share]
        if mass.sum() > 0:
            (spread,) = deviation(difference[in_share, None], weight[in_share], times[in_share])
            row["effect_size"] = float(ratio(np.average(difference[in_share], weights=mass), spread))
        return row

    def _marked(self, share: Array) -> tuple[Array, Array, Array, Array]:
        """Return the mark of each row by system and by baseline (see ``MARKS``), its weight, and its times.

        Without weights, rows with equal marks are merged. Shape (rows,) each.
        """
        actual, predicted = self._actual_and_values(Classes)
        times, weight = self._of_side(self.cases.times), self._of_side(self.cases.row_weight)
        if self.cases.weighted:
            mine, base = (marks(share, actual, side, self.cases.k) for side in predicted)
            return mine, base, weight, times
        counts = np.zeros(len(MARKS) ** 2)  # of each pair of marks
        for part in (slice(a, a + LEVELS_AT_ONCE) for a in range(0, len(actual), LEVELS_AT_ONCE)):
            mine, base = (marks(share, actual[part], side[part], self.cases.k) for side in predicted)
            code = np.nan_to_num(mine, nan=2) * len(MARKS) + np.nan_to_num(base, nan=2)
            counts += np.bincount(code.astype(np.int64), times[part], len(counts))
        some = np.flatnonzero(counts)
        mine, base = MARKS[some // len(MARKS)], MARKS[some % len(MARKS)]
        return mine, base, np.ones(len(some)), counts[some]

    def _decided(self) -> Array:
        """Return the 2x2 table of rows with a decision, by true class and prediction, shape (2, 2)."""
        actual, (predicted,) = self._actual_and_values(Classes)
        with_undecided = np.bincount(actual * 3 + predicted, self.cases.times, minlength=6).reshape(2, 3)
        return with_undecided[:, :2]

    def _by_area(self, row: Row, metric: Metric, margin: float) -> Row:
        """Return interval and p-value of a metric of the area under the ROC curve, by DeLong."""
        (actual, score), (least, most) = self._actual_and_values(FullScores), metric.range
        order = np.lexsort((*score, actual))  # so that sums do not depend on the order of rows
        _, covariance = delong.areas(score[:, order], actual[order], self._of_side(self.cases.times)[order])
        base = row["baseline_value"]
        ends = (least - base, most - base) if len(self.sides) == 1 else (least - most, most - least)
        margin = margin if self._enough_differ(metric) else np.nan
        return by_area(row["difference"], metric, covariance, self.options, ends, margin)

    def _enough_differ(self, metric: Metric) -> bool:
        """Return True if the systems differ on ``MIN_DIFFERING`` rows; with fewer, a margin has no p-value."""
        if len(self.sides) < 2:
            return False
        kind = FullScores if metric.slope_by_area is not None else input_of(self.cases, metric)
        _, (mine, base) = self._actual_and_values(kind)
        return int(self._of_side(self.cases.times)[mine != base].sum()) >= MIN_DIFFERING

    def _by_counts(self, row: Row, metric: Metric, margin: float) -> Row:
        """Return interval and p-value of a difference of shares by the table of wins and losses."""
        table, test, level = row["table"], row["test"], self.options.ci
        n = int(table.sum())
        low, high = newcombe(table, normal_quantile(level)) if n > 1 else (np.nan, np.nan)
        # How many standard errors the end of an interval is from the difference, and what ``mde`` adds for power.
        n_errors, n_errors_for_power = (t_quantile(at, n - 1) for at in ((1 + level) / 2, POWER))
        error, error_of_log_ratio = standard_errors(table)
        detectable = least_p(test, n, 0) <= 1 - level + CLOSE
        p = (mid_p if test == MID_P else mcnemar)(row["wins"], row["losses"])
        out: Row = {"ci_low": low, "ci_high": high, "p_value": p}
        out["mde"] = (n_errors + n_errors_for_power) * error if detectable else np.nan
        if not np.isnan(margin):
            out |= margin_columns(margin_p_of_shares(table, margin, metric.sign), metric)
        if error_of_log_ratio >= 0:  # NaN if it is unknown
            means = np.array([[row["value"]], [row["baseline_value"]]])
            ends = relative_ends(means, np.array([error_of_log_ratio**2]), np.array([n_errors]))
            out |= {"relative_low": float(ends[0, 0]), "relative_high": float(ends[1, 0])}
        return out

    def _by_draws(
        self, row: Row, draws: dict[tuple[int, int], Array], i: int, n_units: float, margin: tuple[Metric, float]
    ) -> Row:
        """Return interval and p-value of a difference by the bootstrap; Fisher's test replaces the p-value.

        Parameters
        ----------
        draws : the values in resamples, by the position of the metric and the side.
        i : the position of the metric.
        n_units : how many rows, or clusters, it rests on.
        margin : the metric, and its margin, NaN for none.
        """
        if (i, self.system_side) not in draws:
            return {}
        constant = np.full(len(draws[i, self.system_side]), row["baseline_value"])  # chance does not vary
        drawn = [*(draws[i, side] for side in self.sides), constant][:2]
        metric, most = margin
        most = most if not np.isnan(most) and self._enough_differ(metric) else np.nan
        return by_draws([row["value"], row["baseline_value"]], np.array(drawn), self.options, [n_units], metric, most)
