"""Compare arms: parts of the traffic with queries of their own, as in an online test, or one and saved numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.progress import Tick, progress
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    check_one_role_each,
    listed,
    no_column,
    prefix_errors,
    quote,
)
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups, named_as_text
from frame_metrics.keys.index import Index
from frame_metrics.measuring.baseline import every_segment, name_of_saved, read_saved, same_query, same_segment
from frame_metrics.measuring.pairs import all_filled
from frame_metrics.measuring.saved_values import unfilled
from frame_metrics.measuring.values import Values, filled
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.call import Call
from frame_metrics.roles.columns import Columns
from frame_metrics.stats.arms import compared, effect_size
from frame_metrics.stats.averages import cluster_numbers, means_of, sums_within
from frame_metrics.stats.margins import margin_p_of_arms
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.shares import are_shares, kish
from frame_metrics.stats.significance import weigh_unlike
from frame_metrics.stats.strata import Strata
from frame_metrics.stats.two_arms import Arms
from frame_metrics.verbs.compare.differences import Pair, Row, pairs_among, pairs_compared
from frame_metrics.verbs.compare.joint_arms import ArmsJoint, BlockOfArms, families_of_arms, permute_families
from frame_metrics.verbs.compare.margins import check_possible, margin_columns, margins_of
from frame_metrics.verbs.compare.options import MIN_FIRST_LOOK, SEQUENCE, CompareOptions
from frame_metrics.verbs.compare.pair_groups import range_of_metric
from frame_metrics.verbs.compare.splits import splits_of_queries, splits_with_saved
from frame_metrics.verbs.compare.strata import StrataOfQueries, check_exchanged, n_of_several_values

HARDER = 4  # for the progress bar: the exchange of a unit takes as long as 4 sign flips of a query


def with_covariate(columns: Columns, available: Sequence[Any], name: Any) -> Columns:
    """Return the columns of a call with that of ``covariate=``, if it is given; ``available``: those of the frame."""
    if name is None:
        return columns
    if not isinstance(name, str) or name not in available:
        raise no_column(f"covariate={quote(name)}", name, available)
    keys = [("arm", str(columns.arm)), *(("query", key) for key in columns.query)]
    keys += [("by", key) for key in columns.segments]
    check_one_role_each([*keys, *columns.by_role.items(), ("covariate", name)])
    return columns.changed(covariate=name)


class SummedUnits(NamedTuple):
    """Sums over the queries of units in each arm."""

    sums: Array  # sums of the values of each metric less the offset, times the weights, shape (metrics, rows)
    size: Array  # sums of the weights, shape (rows,)
    first: Array  # the position of the first query of each row, shape (rows,)
    offset: Array  # the offset that was subtracted from the values of each metric, shape (metrics,)
    clustered: bool  # whether some row has several queries


@record
class ArmValues:
    """The values of metrics on the evaluated queries, segment after segment; each query is of one arm."""

    index: Index
    asked: Asked
    arms: CellGroups  # sorted by their names
    segments: CellGroups  # sorted by their values
    edges: Array  # the start of each segment's queries, and the end of the last, shape (segments + 1,)
    arm: Array  # the number of each query's arm, shape (queries,)
    values: Array  # NaN where undefined, shape (metrics, queries)
    undefined: Array  # whether a metric was undefined, shape (metrics, queries)
    weight: Array  # the weight of each query, shape (queries,)
    unit: Array  # the number of each query's cluster, else of the query, the same in both arms, shape (queries,)
    covariate: Array | None  # the covariate of each query; None if none is named
    strata: StrataOfQueries | None = None  # of each query; None without strata
    saved: str | None = None  # the name of the last arm, if its values are saved numbers; else None
    # The values of ``by`` of each segment, if some segments are only in saved numbers; else None.
    segment_values: pl.DataFrame | None = None

    @classmethod
    def of(cls, all_values: Values) -> ArmValues:
        """Lay out the measured values in the order of random draws."""
        index, cells, columns = all_values.index, all_values.index.cells, all_values.columns
        order, key = cells.sort_ranks(), [columns.arm] if columns.arm else []
        arms, segments = cells.group_by(key, order), cells.group_by(columns.segments, order)
        arm, segment = arms.group_of_cell[index.cell], segments.group_of_cell[index.cell]
        some = all_values.evaluated & (segment >= 0) & (arm >= 0)
        at = np.flatnonzero(some)[index.drawing_order(some)]
        at = at[np.argsort(segment[at], kind="stable")]
        edges = np.searchsorted(segment[at], np.arange(len(segments) + 1))
        values = np.array([filled(all_values, i)[at] for i in range(len(all_values.asked))])
        weight = np.ones(len(at)) if all_values.weight is None else all_values.weight[at]
        unit = (index.query if all_values.cluster is None else all_values.cluster)[at]
        covariate = None if all_values.covariate is None else all_values.covariate[at]
        _check_constant(columns, None if all_values.cluster is None else unit, covariate)
        undefined = np.isnan(all_values.value[:, at])
        named = cells.group_by(columns.strata, order) if columns.strata else None
        strata = None if named is None else StrataOfQueries.of(named, named.group_of_cell[index.cell][at], unit)
        each = (arm[at], values, undefined, weight, unit, covariate)
        return cls(index, all_values.asked, arms, segments, edges, *each, strata)

    def with_saved(self, saved: Call, *, allow_new_segments: bool = False) -> ArmValues:
        """Return these arms and saved numbers as one more, the last; a query of both is one unit, as in two arms.

        Parameters
        ----------
        saved : as ``saved_call`` returns it.
        allow_new_segments : whether there may be segments that only the saved numbers have; they are then the last.
        """
        there = read_saved(saved, unfilled(self.asked))
        index, theirs = self.index, there.index
        some = there.evaluated
        at = np.flatnonzero(some)[theirs.drawing_order(some)]
        query = theirs.query[at]
        unit = same_query(index, theirs)[query]
        unit = np.where(unit < 0, len(index.queries) + query, unit)
        segment = np.repeat(np.arange(len(self.segments)), np.diff(self.edges))
        # The number of each saved segment among all.
        if allow_new_segments:
            number, segment_values = every_segment(self.segments, theirs)
        else:
            number, segment_values = same_segment(self.segments, theirs), None
        segment = np.append(segment, number[theirs.segment[at]])
        n = len(self.segments if segment_values is None else segment_values)
        order = np.argsort(segment, kind="stable")
        with prefix_errors("baseline"):
            values = np.array([of_metric[at] for of_metric in all_filled(there)])
        return replace(
            self,
            edges=np.searchsorted(segment[order], np.arange(n + 1)),
            arm=np.append(self.arm, np.full(len(at), len(self.arms)))[order],
            values=np.concatenate([self.values, values], axis=1)[:, order],
            undefined=np.concatenate([self.undefined, np.isnan(there.value[:, at])], axis=1)[:, order],
            weight=np.append(self.weight, np.ones(len(at)))[order],
            unit=np.append(self.unit, unit)[order],
            saved=name_of_saved(theirs),
            segment_values=segment_values,
        )

    def pairs(self, options: CompareOptions) -> list[Pair]:
        """Return the pairs of arms to compare; raise if there are none."""
        if self.saved is None:
            return pairs_among(self.arms, options)
        names = self.arms.values(*self.arms.keys) if self.arms.keys else [""]
        return [(at, len(names)) for at, name in enumerate(names) if options.null_is_an_arm or name is not None]

    def of_pair(self, segment: int, pair: Pair) -> Array:
        """Return the positions of the queries of two arms in one segment."""
        here = slice(*self.edges[segment : segment + 2])
        return np.flatnonzero((self.arm[here] == pair[0]) | (self.arm[here] == pair[1])) + here.start

    def units(self, both: Array, pair: Pair) -> Iterator[tuple[list[int], Array, Array, Arms]]:
        """Yield the units of two arms, for each group of metrics that are defined for the same queries.

        Parameters
        ----------
        both : the positions of the queries of the two arms.
        pair : the numbers of the arms.

        Yields
        ------
        The metrics, the positions of their queries, whether each query is of the first arm, and the units.
        """
        for metrics, at in self._by_defined(both):
            in_first = self.arm[at] == pair[0]
            yield metrics, at, in_first, self._arms(at, in_first, metrics)

    def _units_within(self, both: Array, pair: Pair) -> Iterator[tuple[list[int], Array, Array, Arms | Strata]]:
        """Yield the units of two arms as ``units`` does, with ``strata=`` stratum by stratum."""
        for metrics, at, in_first, arms in self.units(both, pair):
            by_stratum = None
            if self.strata is not None:
                words_for = partial(self._words_for, at, metrics, pair)
                by_stratum = self.strata.split(at, in_first, partial(self._arms, metrics=metrics), words_for)
            yield metrics, at, in_first, arms if by_stratum is None else by_stratum

    def _words_for(self, at: Array, metrics: Sequence[int], pair: Pair, first: bool) -> str:
        """Return words for one arm of a pair, with its segment, and the metric if some queries have no value of it."""
        arms, segments = self.arms, self.segments
        words = named_as_text(arms.cells.values.select(arms.keys), int(arms.first[pair[0 if first else 1]]))
        if segments.keys:
            segment = int(np.searchsorted(self.edges, at[0], side="right")) - 1
            words += f" in {named_as_text(segments.cells.values.select(segments.keys), int(segments.first[segment]))}"
        return words + (
            f" with a value of {self.asked[metrics[0]][0]}" if np.isnan(self.values[metrics[0]]).any() else ""
        )

    def _by_defined(self, at: Array) -> Iterator[tuple[list[int], Array]]:
        """Yield groups of metrics that are defined for the same ones of some queries, and the positions of these.

        ``at``: the positions of the queries.
        """
        groups: dict[bytes, list[int]] = {}
        for metric in range(len(self.asked)):
            groups.setdefault((~np.isnan(self.values[metric, at])).tobytes(), []).append(metric)
        for key, metrics in groups.items():
            yield metrics, at[np.frombuffer(key, bool)]

    def blocks(self, pairs: Sequence[Pair]) -> Iterator[BlockOfArms]:
        """Yield the units of all arms of some pairs, by segment, and by metrics that are defined for the same ones."""
        arms = np.unique(np.array(pairs))
        for segment in range(len(self.segments)):
            here = slice(*self.edges[segment : segment + 2])
            of_arms = np.flatnonzero(np.isin(self.arm[here], arms)) + here.start
            for metrics, at in self._by_defined(of_arms):
                summed = self._summed(at, self.arm[at], metrics)
                some, first = summed.size > 0, at[summed.first]
                rows = summed.sums[:, some].T, summed.size[some], self.arm[first][some], self.unit[first][some]
                yield BlockOfArms.of(segment, metrics, pairs, rows)

    def between(self, segment: int, pair: Pair, options: CompareOptions, tick: Tick, joint: ArmsJoint) -> list[Row]:
        """Compare two arms in one segment on every metric; metrics on the same queries share random draws."""
        rows: dict[int, Row] = {}
        drawn, both = (options.permutations, options.resamples, options.seed), self.of_pair(segment, pair)
        for metrics, at, in_first, arms in self._units_within(both, pair):
            check_exchanged(arms, self.index.columns, options)
            counts: Row = counts_of(in_first, arms) | {"test": SEQUENCE}
            information = None
            if options.looks is not None:
                information = self._information(counts, arms, options.first_look or MIN_FIRST_LOOK)
            n_errors = joint.n_errors_of(segment, metrics)
            found = compared(arms, str(options.test), options.ci, drawn, tick, information, n_errors)
            if "mde" in found:
                found["mde"] = np.where(found["mde"] > arms.widest, np.nan, found["mde"])
            p = None if options.margin is None else self._p_of_margin(arms, metrics, options, information)
            found |= zip(("value", "baseline_value"), self._means(metrics, at, in_first, arms), strict=True)
            for i, metric in enumerate(metrics):
                row: Row = {name: each[i] if name == "test" else float(each[i]) for name, each in found.items()}
                values = self.values[metric, at] - arms.offset[i]
                row |= {} if p is None else margin_columns(p[:, i], self.asked[metric][1])
                row["effect_size"] = effect_size(row["difference"], values, self.weight[at], in_first)
                if (known := joint.adjusted.get((segment, metric, pair))) is not None:
                    row["p_adjusted"] = max(known, row["p_value"])
                rows[metric] = counts | row | {"n_undefined": self.undefined[metric, both].sum()}
        return [rows[metric] for metric in range(len(self.asked))]

    def _p_of_margin(
        self, arms: Arms | Strata, metrics: Sequence[int], options: CompareOptions, information: float | None
    ) -> Array:
        """Return the p-values that losses, and that gains, are less than the margins, shape (2, metrics)."""
        asked = [self.asked[metric] for metric in metrics]
        margin, widest = margins_of(options.margin, self.asked)[metrics], np.broadcast_to(arms.widest, len(asked))
        for (name, metric), one, most in zip(asked, margin.tolist(), widest.tolist(), strict=True):
            if not np.isnan(one) and np.isfinite(most):
                check_possible(name, metric.range, one)
        sign = np.array([metric.sign for _, metric in asked])
        drawn = (options.permutations, options.resamples, options.seed)
        return margin_p_of_arms(arms, margin, str(options.test), drawn, sign, information)

    def _means(self, metrics: Sequence[int], at: Array, in_first: Array, arms: Arms | Strata) -> Iterator[Array]:
        """Yield the means of both arms, shape (metrics,) each; without a covariate they equal those of ``evaluate``.

        The parameters are those that ``units`` yields.
        """
        if isinstance(arms, Strata):  # their means are not those of all queries
            yield from arms.means
            return
        plain = (self.weight == 1).all()
        for arm, mean in zip((in_first, ~in_first), arms.means, strict=True):
            some = at[arm & (self.weight[at] > 0)]
            if len(some):
                exact = means_of(self.values[np.ix_(np.array(metrics), some)], None if plain else self.weight[some])
                yield np.where((mean == 0) | (arms.slope != 0), mean, exact)  # 0: what is only rounding
            else:
                yield mean

    def _information(self, counts: Row, arms: Arms | Strata, first_look: int) -> float:
        """Return how many times as much is known as at the first look; 0 before it.

        It is the harmonic mean of the numbers of queries in both arms, divided by ``first_look``. The information about
        a difference grows no faster, even if units come back, or if a few units are large.
        """
        columns, n_shared = self.index.columns, arms.shared.shape[1]
        if n_shared and not columns.cluster:
            raise ColumnError(
                f"looks='any': {n_shared} queries ({listed(columns.query)}) are in both arms, so that whoever asks "
                "comes back; name who asks with cluster="
            )
        if min(arms.n) < first_look:
            return 0.0
        return float(2 / (1 / counts["n"] + 1 / counts["baseline_n"]) / first_look)

    def _arms(self, at: Array, in_first: Array, metrics: Sequence[int]) -> Arms:
        """Return the units of two arms, with sums of some metrics over their queries.

        ``at``: the positions of the queries; ``in_first``: whether each is of the first arm.
        """
        summed, weight = self._summed(at, in_first, metrics), self.weight[at]
        limits = [range_of_metric(self.asked[metric][1], self.values[metric, at]) for metric in metrics]
        some, first = summed.size > 0, summed.first  # units of weight 0 are left out
        covariate = None if self.covariate is None else self.covariate[at][first][some]
        unit = self.unit[at][first][some]
        return Arms(
            *(summed.sums[:, some].T, summed.size[some], in_first[first][some], covariate, unit, summed.offset),
            limits=np.array(limits, float).T,
            zero_one=self.zero_one[metrics],
            rows=(kish(weight[in_first]), kish(weight[~in_first])),
            clustered=summed.clustered,
            weighted=weigh_unlike(weight),
        )

    def _summed(self, at: Array, side: Array, metrics: Sequence[int]) -> SummedUnits:
        """Return the sums of some metrics over the queries of each unit in each arm.

        ``at``: the positions of the queries; ``side``: the arm of each.
        """
        weight, unit = self.weight[at], self.unit[at]
        values = [self.values[metric, at] for metric in metrics]
        offset = [offsets(of_metric) for of_metric in values]
        weighted = [(of_metric - low) * weight for of_metric, low in zip(values, offset, strict=True)]
        row = cluster_numbers((len(self.arms) + 2) * unit + side)
        first = np.arange(len(at)) if row is None else np.unique(row, return_index=True)[1]
        *sums, size = [*weighted, weight] if row is None else sums_within(row, len(first), [*weighted, weight])
        return SummedUnits(np.array(sums), size, first, np.array(offset), clustered=row is not None)

    @cached_property
    def zero_one(self) -> Array:
        """True where the values of a metric are shares, in all arms and segments, shape (metrics,)."""
        each = zip(self.values, self.asked, strict=True)
        return np.array([are_shares(values, metric.range) for values, (_, metric) in each], bool)


def counts_of(in_first: Array, arms: Arms | Strata) -> Row:
    """Return the numbers of queries and units of two arms; ``in_first``: whether each query is of the first arm."""
    n_units = {"n_units": arms.n[0], "baseline_n_units": arms.n[1], "n_shared": arms.shared.shape[1]}
    return {"n": in_first.sum(), "baseline_n": (~in_first).sum()} | n_units


def _check_constant(columns: Columns, cluster: Array | None, covariate: Array | None) -> None:
    """Raise for a covariate with several values in one cluster."""
    if cluster is None or covariate is None:
        return
    odd, n_clusters = n_of_several_values(cluster, covariate)
    if odd:
        raise BadValueError(
            f"{columns.covariate}: {odd} of {n_clusters} clusters ({columns.cluster}) have several values; "
            "give each one, as its mean before the test"
        )


def arms_compared(values: Values, options: CompareOptions, saved: Call | None) -> Answer:
    """Return the answer: a row for each segment, metric and pair of arms; ``saved``: numbers that are the baseline."""
    arms = ArmValues.of(values)
    arms = arms if saved is None else arms.with_saved(saved)
    pairs = arms.pairs(options)
    splits = (splits_of_queries if saved is None else splits_with_saved)(values, arms.segments, arms.arms, options)
    families = families_of_arms([*arms.blocks(pairs)], options) if options.tests_families and len(pairs) else []
    each, draws = (arms.asked, arms.segments, arms.arms, pairs), options.permutations * len(pairs)
    rounds = draws * len(arms.segments) + options.permutations * sum(map(len, families))
    with progress(rounds, "draw", work=HARDER * draws * len(arms.arm)) as tick:
        joint = permute_families(families, options, tick)
        between = partial(arms.between, options=options, tick=tick, joint=joint)
        return pairs_compared(*each, options, splits.with_split_columns(between), arms.saved)
