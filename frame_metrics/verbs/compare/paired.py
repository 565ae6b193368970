"""Differences of pairs of systems, query by query: means, intervals, tests, and the differences themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from frame_metrics.answer import Answer
from frame_metrics.backends.progress import progress
from frame_metrics.errors import NotComputableError
from frame_metrics.inputs import Array, Lists
from frame_metrics.measuring.baseline import paired_with, saved_call
from frame_metrics.measuring.pairs import Pairing, QueryValues, pairing_of_systems
from frame_metrics.measuring.results import float_column
from frame_metrics.measuring.values import Values, without_values_at
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.call import Call
from frame_metrics.plan.compared import MID_P
from frame_metrics.plan.source import check_shared
from frame_metrics.stats.averages import means_of
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.paired_shares import table_of_pairs
from frame_metrics.stats.shares import are_shares
from frame_metrics.verbs.compare.differences import VALUE_COLUMNS, Pair, Row, numbers_of_rows, tabled
from frame_metrics.verbs.compare.inferred import infer
from frame_metrics.verbs.compare.lists import HEAVIER, by_cutoff, lists_compared
from frame_metrics.verbs.compare.margin_tests import add_margin_columns
from frame_metrics.verbs.compare.margins import margins_of
from frame_metrics.verbs.compare.options import CompareOptions
from frame_metrics.verbs.compare.pair_groups import PairDifferences, PairGroup, range_of_metric

WINS = ("wins", "ties", "losses")
ROUNDED = 1e-14  # differences that are a smaller share of the values are only rounding


def pairing_function(call: Call, asked: Asked | None, options: CompareOptions) -> Callable[[Values], Pairing]:
    """Return a function that pairs the values of systems; a saved baseline is checked before anything is read."""
    baseline_call = saved_call(options.baseline, call, asked) if options.saved and asked else None

    def paired(values: Values) -> Pairing:
        if values.conventions.unanswered == "drop":
            judged = values.evaluated | (values.unanswered > 0)
            check_shared(values.index, paired=not options.saved)
            # Judged queries that a system did not answer stay, without a value, so that n_unanswered counts them.
            values = without_values_at(values, ~values.evaluated, evaluated=judged)
        if options.saved:
            return paired_with(values, baseline_call or saved_call(options.baseline, call, values.asked))
        return pairing_of_systems(values, options.baseline)

    return paired


def pairs_tested(pairing: Pairing, options: CompareOptions) -> Answer:
    """Return the answer: a row for each segment, metric and pair of systems."""
    m, segments, pairs = len(pairing.all_values.asked), pairing.segments, pairing.pairs
    rows: list[Row] = []
    groups: list[PairGroup] = []
    of_lists = [*product(by_cutoff(pairing.all_values.asked), enumerate(pairs))]
    zero_one = are_zero_one(pairing, options)
    margins = margins_of(options.margin, pairing.all_values.asked)
    n_tests_of_lists = sum(len(metrics) for metrics, _ in of_lists) * len(segments)
    with progress(*work_of_flips(pairing, options, len(of_lists))) as tick:
        for segment in segments:
            described, new_groups = described_pairs(
                pairing.values_by_query(segment), pairing.all_values.asked, pairs, zero_one, options
            )
            row_of = dict(enumerate(described))  # the rows of the segment, by their place
            # Tests of lists replace the rows of metrics of lists.
            for metrics, (at, pair) in of_lists:
                found = lists_compared(pairing, segment, metrics, pair, options, tick)
                row_of |= {i * len(pairs) + at: row for i, row in zip(metrics, found, strict=True)}
            # Each comparison of a group holds its row, to which ``infer`` adds interval and p-value.
            rows += row_of.values()
            groups += new_groups
            add_margin_columns(new_groups, margins, options)
            if options.over == "metric":  # no family is of two segments; ``infer`` makes one of each metric
                infer(groups, options, tick)
                groups = []
        # With over="all": one family of all segments and metrics. Else nothing is left to infer.
        infer(groups, options, tick, n_tested_elsewhere=n_tests_of_lists)
    if pairing.all_values.conventions.propensity is not None:  # of weighted values only means are unbiased, not wins
        rows = [{name: value for name, value in row.items() if name not in WINS} for row in rows]
    # The rows by segment, metric and pair, with corrected p-values.
    segment, metric, pair_at = numbers_of_rows(len(rows), m, len(pairs))
    return pairing.answer(segments[segment], metric, pair_at, tabled(rows, m, len(pairs), options))


def are_zero_one(pairing: Pairing, options: CompareOptions) -> list[bool]:
    """Return for each metric whether its values ``are_shares``; False if queries have weights or clusters."""
    values = pairing.all_values
    if options.tests_preference or values.weight is not None or values.cluster is not None:
        return [False] * len(values.asked)
    # Whoever asks for a test of shares has named them.
    ends = [(0, 1) if options.test == MID_P else metric.range for _, metric in values.asked]
    each = zip(pairing.filled_values, ends, strict=True)
    zero_one = [are_shares(one[values.evaluated], of_metric) for one, of_metric in each]
    others = [name for (name, _), is_zero_one in zip(values.asked, zero_one, strict=True) if not is_zero_one]
    if options.test == MID_P and others:
        raise NotComputableError(
            f"test={MID_P!r} applies to values of 0 and 1, and {others[0]} has others; pass test='randomization'"
        )
    return zero_one


def work_of_flips(pairing: Pairing, options: CompareOptions, exchanges: int) -> tuple[int, str, int]:
    """Return what the progress bar shows: the number of steps, the word for one, and the work in sign flips of a query.

    A step is a query in one test. ``exchanges``: the number of exchange tests of lists in each segment.
    """
    flips = options.test == "randomization"  # whether signs are flipped, in addition to the resampling
    tests_queries = any(metric.input is not Lists for _, metric in pairing.all_values.asked)
    queries = tests_queries * (1 + flips) * pairing.n_queries
    work = queries * (options.permutations if flips else options.resamples)
    results = pairing.all_values.results.ranking.size if exchanges else 0
    work += HEAVIER * options.permutations * exchanges * results
    return queries + exchanges * pairing.n_queries, "query", work


def described_pairs(
    values: QueryValues, asked: Asked, pairs: list[Pair], zero_one: Sequence[bool], options: CompareOptions
) -> tuple[list[Row], list[PairGroup]]:
    """Describe all pairs of systems on every metric in one segment, and group those on the same queries.

    ``zero_one``: whether the values of each metric are 0 and 1.
    """
    rows: list[Row] = []
    groups: dict[bytes, list[PairDifferences]] = {}
    for i, (_, metric) in enumerate(asked):
        for pair, use in zip(pairs, values.compared(i, pairs), strict=True):
            value, base = values.values[i, use][:, pair].T
            weight = None if values.weight is None else values.weight[use]
            difference = _rounded_difference(value, base)
            row = _described(value, base, difference * metric.sign, weight) | {"test": options.test}
            row["n_unpaired"] = values.answered_by_one(i, pair).sum() + values.n_unpaired_of_baseline
            row["n_unanswered"] = values.unanswered[:, pair].any(axis=1).sum()
            has_values = ~values.not_compared(i, pair)
            row["n_undefined"] = (values.undefined[i][:, pair].any(axis=1) & has_values).sum()
            rows.append(row)
            if use.any() and (weight is None or weight.any()):
                differences = (value, base, difference)
                one = _pair_differences(row, metric, i, pair, differences, options, zero_one=zero_one[i])
                groups.setdefault(use.tobytes(), []).append(one)
    return rows, [PairGroup(values, np.frombuffer(use, bool), comparisons) for use, comparisons in groups.items()]


def _pair_differences(
    row: Row,
    metric: Metric,
    at: int,
    pair: Pair,
    values: tuple[Array, Array, Array],
    options: CompareOptions,
    *,
    zero_one: bool,
) -> PairDifferences:
    """Return the differences of a pair of systems on the metric at the position ``at``.

    ``values``: those of the system, those of the baseline, and their differences, shape (queries,) each.
    """
    value, base, difference = values
    if options.tests_preference:
        preference = np.sign(difference) * metric.sign / 2
        mean, ends = row["preference"], (-0.5, 0.5)
        return PairDifferences(row, metric, at, pair, preference, magnitude=0.0, win_table=None, mean=mean, ends=ends)
    least, most = range_of_metric(metric, np.concatenate([value, base]))
    widest = np.inf if np.isnan(most - least) else most - least
    return PairDifferences(
        row,
        metric,
        at,
        pair,
        difference,
        magnitude=float(np.abs(value).max(initial=0)),
        win_table=table_of_pairs(value, base) if zero_one else None,
        mean=row["difference"],
        ends=(-widest, widest),
    )


def _rounded_difference(value: Array, base: Array) -> Array:
    """Return the differences of values; 0 for those that are only rounding.

    The size by which rounding is judged is without what all values have in common, see ``offsets``.
    """
    difference, common_offset = value - base, offsets(np.concatenate([value, base]))
    return np.where(np.abs(difference) < ROUNDED * np.abs(base - common_offset), 0, difference)


def _described(value: Array, base: Array, better: Array, weight: Array | None) -> Row:
    """Return the columns of a pair that need no test: means, their difference, wins, ties and losses, and n.

    ``better``: the difference of each query, above 0 if the system is better than its baseline.
    """
    n = len(value)
    row: Row = {"wins": (better > 0).sum(), "ties": (better == 0).sum(), "losses": (better < 0).sum(), "n": n}
    if n and (weight is None or weight.any()):
        means = means_of(np.stack([value, base, value - base, np.sign(better) / 2]), weight)
        row |= zip((*VALUE_COLUMNS, "preference"), means.tolist(), strict=True)
    return row


def query_differences(pairing: Pairing) -> Answer:
    """Return the answer with ``per_query=True``: a row for each comparison and query, greatest differences first."""
    numbers: list[Array] = []  # of segment, metric, pair and (segment, query) pair of each row, shape (4, rows) each
    values: list[Array] = []  # of both systems, shape (2, rows) each
    for here, (segment, metric, i), use in pairing.each():
        both, segment_query = here.values[metric, use][:, pairing.pairs[i]], here.segment_query[use]
        order = np.argsort(-np.abs(both[:, 0] - both[:, 1]), kind="stable")  # of equal ones in drawing order
        comparison = np.broadcast_to([[segment], [metric], [i]], (3, len(order)))
        numbers.append(np.vstack([comparison, segment_query[order]]))
        values.append(both[order].T)
    segments, metrics, pairs, segment_queries = np.concatenate(numbers, axis=1)
    value, base = np.concatenate(values, axis=1)
    columns = dict(zip(VALUE_COLUMNS, map(float_column, (value, base, _rounded_difference(value, base))), strict=True))
    return pairing.answer(segments, metrics, pairs, columns, pairing.query_of(segment_queries))
