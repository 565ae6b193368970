"""The verb sample_size: the number of queries, users or other units that a difference needs, estimated from a pilot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import (
    BadValueError,
    NotComputableError,
    check_ci,
    check_key_names,
    check_once,
    check_whole,
    quote,
)
from frame_metrics.inputs import Array, ratio
from frame_metrics.measuring.pairs import Pairing
from frame_metrics.measuring.split import check_split, shares_of
from frame_metrics.measuring.values import Values
from frame_metrics.measuring.values_of_source import planned, values_of_source
from frame_metrics.metrics.names import Asked, Metrics
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plan.compared import SAMPLE_SIZE, ComparisonKind
from frame_metrics.plan.needs import Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.stats.proxies import FEWEST
from frame_metrics.stats.resampling import percentiles
from frame_metrics.stats.significance import CLOSE, in_clusters
from frame_metrics.stats.size import Proxied, fewest, fewest_of_arm, seen_by, spreads, units_needed
from frame_metrics.stats.two_arms import few_differ
from frame_metrics.verbs.compare.arms import ArmValues, counts_of
from frame_metrics.verbs.compare.differences import (
    NOTE_COLUMN,
    UNIT_COLUMNS,
    UNJUDGED,
    Row,
    answer_with,
    numbers_of_rows,
    pairs_among,
    schema_of,
    sorted_rows,
)
from frame_metrics.verbs.compare.options import CompareOptions, check_compared, kind_of_comparison
from frame_metrics.verbs.compare.paired import pairing_function
from frame_metrics.verbs.compare.proxied import paired_both
from frame_metrics.verbs.compare.splits import splits_of_queries

COUNTS_OF_KINDS: dict[ComparisonKind, tuple[str, ...]] = {
    "queries": ("n", "n_units"),
    "proxies": ("n", "n_units", "n_all"),
    "arms": ("n", "baseline_n", *UNIT_COLUMNS, *UNJUDGED),
}
MOST_UNITS = 2**63  # from this number of units on, the result is null
BASE = "baseline_needed"
NEEDED = ("needed", "needed_low", "needed_high")
OF_SHARES: Row = dict.fromkeys(("share", "baseline_share"), pl.Float64)  # the planned shares of the units
ASKED = {"detect": (np.inf, "a difference above 0"), "power": (1, "a chance between 0 and 1, as 0.8")}


@dataclass(frozen=True, kw_only=True)
class SizeOptions(CompareOptions):
    """Options of a sample size; the verb has the parameters."""

    verb: ClassVar[str] = "sample_size"
    detect: Any
    power: Any
    n_tests: int
    n_all: int | None

    def __post_init__(self) -> None:
        """Raise for an option out of its range; nothing is read."""
        super().__post_init__()
        for name, (most, what) in ASKED.items():
            for one in self.each(name) or [[]]:
                if not is_number(one) or not 0 < one < most:
                    raise BadValueError(f"{name}={quote(one)} is not {what}")
            check_once(name, self.each(name))
        check_whole("n_tests", self.n_tests, 1, MOST_UNITS - 1)
        check_whole("n_all", FEWEST if self.n_all is None else self.n_all, FEWEST, MOST_UNITS - 1)
        check_ci(self.ci, self.n_tests)

    def each(self, name: str) -> list[Any]:
        """Return the values of an option that may have several."""
        given = getattr(self, name)
        several = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)
        return list(given) if several else [given]

    @property
    def cases(self) -> list[tuple[float, float]]:
        """Every combination of a difference to detect and a power; each is a row of each pair of systems and metric."""
        return [*product(self.each("detect"), self.each("power"))]

    @property
    def level(self) -> float:
        """The confidence level of each single test, so that all tests together keep that of ``ci`` (Bonferroni)."""
        return 1 - (1 - self.ci) / self.n_tests

    def check_reach(self, asked: Asked) -> None:
        """Raise for a difference that is larger than the range of a metric."""
        for name, metric in asked:
            least, most = metric.range
            if far := [one for one in self.each("detect") if one > most - least]:
                raise BadValueError(
                    f"detect={quote(far[0])}: values of {name} are from {least:g} to {most:g}, and no two are further "
                    f"apart than {most - least:g}; give the difference in units of the metric, as 0.02"
                )

    def rows(
        self, counts: Row, sums: Array, sizes: Array, proxied: Proxied | None = None, share: float = 0.5
    ) -> list[Row]:
        """Return a row for each difference and power.

        Parameters
        ----------
        counts : the columns that all these rows share.
        sums, sizes : the contributions of the units of a pilot, as ``spreads`` takes them.
        proxied : the judgments of a machine, for prediction-powered differences.
        share : the arm's share of the units of both arms.
        """
        seen = spreads(sums, sizes, self.resamples, self.seed, share)
        if proxied is not None and counts["n_units"] < FEWEST:
            seen = np.full_like(seen, np.nan)
        if proxied is None and seen[0] <= (CLOSE * np.nanmax(np.abs(ratio(sums, sizes)), initial=0)) ** 2:
            seen = np.full_like(seen, np.nan)  # a pilot without any variance does not say how much there is
        known = proxied is not None or not _few_vary(sums, sizes)
        least = [fewest_of_arm(self.level, part) for part in (share, 1 - share)] if self.kind == "arms" else [0, 0]
        least = [fewest(self.ci), 0] if self.kind == "queries" else least
        rows: list[Row] = []
        for detect, power in self.cases:
            n = np.maximum(units_needed(seen, len(sums), detect, power, self.level, proxied, share), least[0])
            base = np.maximum(
                units_needed(seen[:1], len(sums), detect, power, self.level, proxied, 1 - share), least[1]
            )
            with np.errstate(invalid="ignore"):  # between numbers that no units reach
                low, high = percentiles(n[1:], self.ci)
            high = np.ceil(high) if known else np.inf
            numbers = (int(one) if one < MOST_UNITS else None for one in (n[0], np.floor(low), high, base[0]))
            ends = dict(zip((*NEEDED, BASE), numbers, strict=True))
            rows.append({"detect": detect, "power": power} | counts | ends)
            if proxied is not None and ends["needed"] is None:
                rows[-1]["reason"] = self._why_none(counts, proxied.units, seen[0], power)
        return rows

    def _why_none(self, counts: Row, every: int, spread: float, power: float) -> str:
        """Return the reason why no number of judgments by people is enough, as a text.

        Parameters
        ----------
        counts : the numbers of units that people judged.
        every : number of units that the machine judges.
        spread : of the differences, as ``spreads`` returns it.
        power : the wanted power.
        """
        if counts["n_units"] < FEWEST:
            fewer = f"n_units={counts['n_units']}: people judged fewer than {FEWEST}"
            if counts["in_part"]:
                return (
                    f"{fewer} with all that the metric reads: of {counts['n'] + counts['in_part']} queries that they "
                    f"judged, {counts['in_part']} lack judgments of results, or of documents that the machine judged; "
                    "audit() counts them"
                )
            return f"{fewer}, which says nothing of the others"
        least = seen_by(every, spread, power, self.level)
        if not np.isfinite(least):
            return f"n_all={every}: so few show no difference with n_tests={self.n_tests}; let the machine judge more"
        step = 10.0 ** (np.floor(np.log10(least)) - 2) if least > 0 else 1.0
        above = np.ceil(least / step + 1e-9) * step  # rounded up, so that the printed difference can be detected
        return (
            f"n_all={every}: where people judge all of them, {above:.3g} is the least difference that is seen with "
            f"power={power}; let the machine judge more, or ask for a greater difference"
        )


def _few_vary(sums: Array, sizes: Array) -> bool:
    """Return True if few units of a side do not have its commonest value: their variance may be far too small."""
    for own, size in zip(sums, sizes, strict=True):
        _, often = np.unique(own[size > 0] / size[size > 0], return_counts=True)
        if len(often) and bool(few_differ(np.array(often.sum()), np.array(often.max()))):
            return True
    return False


def sample_size(plan: Plan, metrics: Sequence[Metrics], options: SizeOptions) -> Any:
    """Implement ``irm.sample_size``, whose docstring has the parameters."""
    call, asked = planned(plan, metrics, Needs(verb=SAMPLE_SIZE))
    kind = kind_of_comparison(call, arms=call.columns.arm is not None)
    options = replace(options, kind=kind)
    options.check_reach(asked or ())
    if options.split is not None:
        check_split(options.split, call.columns)
    check_compared(kind, call, asked or (), options)
    if call.judgment_columns is not None and call.judgment_columns.sampling:
        raise NotComputableError(
            f"sampling={call.judgment_columns.sampling!r} has a chance for each query, and sample_size() counts "
            "queries that are drawn alike; give judge() a pilot that was drawn so, without sampling="
        )
    if options.n_all is not None and kind != "proxies":
        raise NotComputableError(
            f"n_all={options.n_all} applies to judgments of a machine and of people; leave it out, or judge() "
            "with proxy="
        )
    # The columns of the result, which differ by kind of comparison.
    schema: Row = dict.fromkeys(ASKED, pl.Float64) | dict.fromkeys((*COUNTS_OF_KINDS[kind], *NEEDED), pl.Int64)
    schema |= {"reason": pl.String} if kind == "proxies" else {}
    schema |= {BASE: pl.Int64} | OF_SHARES | NOTE_COLUMN if kind == "arms" else {}
    check_key_names(call.columns.keys, ("baseline", "metric", "k", *schema))
    paired = pairing_function(call, asked, options)

    def compute(source: Source) -> Answer:
        if kind == "proxies":
            pairing = paired_both(source, asked or (), options)
        else:
            values = values_of_source(source, asked)
            if asked is None:  # numbers from elsewhere, whose names are known now
                options.check_reach(values.asked)
            if kind == "arms":
                return _of_arms(values, options, schema)
            pairing = paired(values)
        rows = [*_of_pairs(pairing, options)]
        segment, metric, pair = numbers_of_rows(
            len(rows), len(pairing.all_values.asked), len(pairing.pairs), len(options.cases)
        )
        return pairing.answer(pairing.segments[segment], metric, pair, _columns(rows, schema))

    return answer_of(call, compute, schema_of(call.columns, options, schema))


def _of_pairs(pairing: Pairing, options: SizeOptions) -> Iterator[Row]:
    """Yield the rows of each segment, metric and pair of systems; each unit has both systems, so a difference."""
    for here, (_, metric, i), use in pairing.each():
        pair, by_people = list(pairing.pairs[i]), here.people
        value, base = here.values[metric, use][:, pair].T
        weight = here.weights(use)
        each = np.ones(len(value)) if weight is None else weight
        difference = people = value - base
        if by_people is not None:
            people = np.subtract(*by_people.values[metric][:, pair].T)
        weights = np.where(np.isnan(people), 0, each)
        columns = np.column_stack(
            [np.nan_to_num(people) * weights, difference * weights, weights, difference * each, each]
        )
        *judged, sizes, every, size = in_clusters(columns, here.clusters(use)).T
        some, there = sizes > 0, size > 0
        counts = {"n": len(value), "n_units": some.sum()}
        sums = np.array(judged)[:, some]
        proxied = None
        if by_people is not None:
            drawn = options.resamples, options.seed
            proxied = Proxied.of(sums, sizes[some], np.stack([every, size])[:, there], options.n_all, drawn)
            in_part = by_people.judged[:, pair].any(axis=1) & np.isnan(people)
            counts |= {
                "n": np.count_nonzero(weights),
                "n_all": proxied.units,
                "in_part": np.count_nonzero(in_part * each),
            }
        yield from options.rows(counts, sums[:1], sizes[None, some], proxied)


def users_of_rates(rate: float, other: float, power: float, level: float) -> int:
    """Return how many users of each arm tell two rates apart, where each user counts once, as 0 or 1."""
    spread = rate * (1 - rate) + other * (1 - other)
    return int(units_needed(np.array([spread]), 2, abs(other - rate), power, level)[0])


def _of_arms(values: Values, options: SizeOptions, schema: Row) -> Answer:
    """Return the answer for arms, each of which has its own units."""
    arms = ArmValues.of(values)
    columns, names = values.columns, arms.arms.values(str(values.columns.arm))
    if len(names) == 1:
        unit = columns.cluster or columns.query[0]
        raise NotComputableError(
            f"{columns.arm} has one arm, {quote(names[0])}; two are needed to compare: cut those who ask in two at "
            f"random, as with arm=(pl.col({unit!r}).hash() % 2).alias('half') of polars"
        )
    # The pairs of arms, their shares as observed, and the shares that are planned.
    pairs = pairs_among(arms.arms, options)
    splits = splits_of_queries(values, arms.segments, arms.arms, options)
    planned = np.full(len(names), 1 / len(names))
    if options.split is not None:  # what has no arm may have no share
        asked, shares = shares_of(options.split, names, columns)
        planned = np.zeros(len(names))
        planned[asked] = shares
        pairs = [pair for pair in pairs if planned[list(pair)].all()]

    def between(segment: int, pair: tuple[int, int]) -> list[list[Row]]:
        rows: dict[int, list[Row]] = {}
        arm_share, base = planned[list(pair)].tolist()
        for metrics, _, in_first, units in arms.units(arms.of_pair(segment, pair), pair):
            sums, sizes = units.side_by_side(units.sums), units.side_by_side(units.size[:, None])[:, :, 0]
            counts = counts_of(in_first, units)
            counts |= splits.unit_columns(segment, pair, counts) | {"share": arm_share, "baseline_share": base}
            for i, one in enumerate(metrics):
                rows[one] = options.rows(counts, sums[:, :, i], sizes, share=arm_share / (arm_share + base))
        return [rows[metric] for metric in range(len(arms.asked))]

    rows = [row for each in sorted_rows(len(arms.segments), pairs, between) for row in each]
    at = numbers_of_rows(len(rows), len(arms.asked), len(pairs), len(options.cases))
    return answer_with(_columns(rows, schema), at, arms.asked, arms.segments, arms.arms, pairs)


def _columns(rows: Sequence[Row], schema: Row) -> dict[str, pl.Series]:
    """Return the columns of rows that are not keys, with the types of a schema."""
    return {name: pl.Series([row.get(name) for row in rows], dtype=kind) for name, kind in schema.items()}
