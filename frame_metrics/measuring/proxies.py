"""Values of metrics by the judgments of people and by those of a machine, side by side for every ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.groups import groups_of
from frame_metrics.data.judgments import kind_of_ids, wider
from frame_metrics.data.log import Log
from frame_metrics.errors import BadValueError, NotComputableError, told_of
from frame_metrics.inputs import Array
from frame_metrics.measuring.pairs import all_filled
from frame_metrics.measuring.pieces import measured_of
from frame_metrics.measuring.queries import Measured
from frame_metrics.measuring.results import PROXIES, Averaged, EvaluateOptions, tidied
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.metrics.ranking import judged
from frame_metrics.plan.checks import check_asked
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source
from frame_metrics.stats.averages import Averages, averages_of
from frame_metrics.stats.proxies import powered, students_t

MEANS = ("macro", "weighted")


def check_proxies(asked: Asked, plan: Plan, averages: Averages = (None,)) -> None:
    """Raise for what is no mean over queries, or would be of two rankings; nothing is read."""
    said = plan.conventions
    odd = {
        f"ties={said.ties!r} orders equal scores by their judgments, which are two": said.ties in ("worst", "best"),
        f"unjudged={said.unjudged!r} makes two rankings of one": said.unjudged is not None,
        f"unjudged_queries={said.unjudged_queries!r} takes queries without judgments for judged ones": (
            said.unjudged_queries is not None
        ),
        "propensity= corrects clicks": said.propensity is not None,
    }
    for what, is_odd in odd.items():
        if is_odd:
            name = what.partition("=")[0]
            raise NotComputableError(
                f"{what}, and proxy= gives each query judgments of people and of a machine; say {name}=None"
            )
    for name, metric in asked:
        wrong = [average for average in averages_of(metric, averages, weighted=True) if average not in MEANS]
        if wrong:
            raise NotComputableError(
                f"{name}: {wrong[0]!r} is no mean over queries, and only means are prediction-powered; say "
                "average='macro', or judge() without proxy="
            )
    if plan.proxy is not None:
        with told_of("proxy"):
            check_asked(asked, plan.proxy, averages)


def check_interval(options: EvaluateOptions) -> None:
    """Raise for another table, or another interval, than prediction-powered means have."""
    if options.layout == "wide":
        raise NotComputableError("layout='wide' has no room for lambda and n_proxy of each metric; say layout='long'")
    if options.method not in (None, "t", "normal"):
        raise NotComputableError(f"method={options.method!r} is not one of proxy=; say method='t' or 'normal'")
    if options.ci is not None and options.method != "normal":
        students_t()


@dataclass(frozen=True, eq=False)
class Both:
    """Values of metrics for every ranking, by people and by a machine."""

    measured: Measured  # by the machine
    proxy: Array  # its values with undefined ones replaced, shape (metrics, rankings)
    human: Array  # those by people, NaN where they did not judge all that a metric reads, shape (metrics, rankings)
    undefined: Array  # whether a metric was undefined by people, shape (metrics, rankings)
    chance: Array | None  # with which each ranking's query was drawn for people; None where all are alike
    partly: Array  # rankings some of whose documents people judged, and not all that a metric reads, as ``human``
    lost: tuple[int, str]  # queries that only people judged: how many, and the first


def both_of(source: Source, asked: Asked, *, totals: bool = False) -> Both:
    """Compute metrics for every ranking by both; raise for queries that only people judged.

    ``totals``: see ``read_log``.
    """
    both = side_by_side(source, asked, totals=totals)
    if both.lost[0]:
        raise BadValueError(
            f"proxy: {both.lost[0]} queries that people judged have no judgment of the machine, as {both.lost[1]}; let "
            "it judge all that people judged, or leave them out"
        )
    known = np.array([~np.isnan(values) for values in both.human])
    lacking = np.isnan(both.proxy) & both.measured.evaluated
    for i, (name, _) in enumerate(asked):
        if n := np.count_nonzero(lacking[i] | (both.undefined[i] & ~known[i])):
            raise NotComputableError(
                f"{name} is undefined for {n} rankings, which the mean leaves out, so that people and the machine "
                "would be asked about different queries; say undefined='zero', or ask for a metric that is defined"
            )
    if both.chance is not None and np.isnan(both.chance[known.any(axis=0)]).any():
        raise BadValueError("sampling: not every query that people judged has a chance; give each one its own")
    return both


def side_by_side(source: Source, asked: Asked, *, totals: bool = False) -> Both:
    """Compute metrics for every ranking by both, and match their rankings."""
    m, depths = len(asked), list(dict.fromkeys(metric.k for _, metric in asked))
    whole: list[tuple[str, Metric]] = [("judged", replace(judged, cutoff=k)) for k in depths]
    human = measured_of(source, [*asked, *whole], totals=totals)
    with told_of("proxy"):
        there = measured_of(source.proxy or source, asked, totals=totals)
    at = _matched(there.log, human.log)
    shares = human.values[[m + depths.index(metric.k) for _, metric in asked]]
    all_judged = human.evaluated & ~(shares < 1)  # NaN where nothing is retrieved, so that nothing is left to judge
    known = np.zeros(len(human.evaluated), bool)
    known[at[there.evaluated & (at >= 0)]] = True
    lost = human.evaluated & ~known
    first = np.flatnonzero(lost)[:1]
    name = ", ".join(str(value) for value in _keys(human.log)[first].row(0)[:-1]) if len(first) else ""

    def of_theirs(values: Array, nothing: float) -> Array:
        return np.where(
            (at < 0) | ~there.evaluated, nothing, np.append(values, [[nothing]] * len(values), axis=1)[:, at]
        )

    filled = np.array(all_filled(human))[:m]
    chance = human.log.sampling
    return Both(
        there,
        np.array(all_filled(there)).reshape(m, -1),
        of_theirs(np.where(all_judged, filled, np.nan), np.nan),
        of_theirs(np.isnan(human.values[:m]) & all_judged, 0) > 0,
        None if chance is None else np.append(chance, np.nan)[at],
        of_theirs(human.evaluated & ~all_judged, 0) > 0,
        (len(np.unique(human.log.grid.query[lost])), name),
    )


def _keys(log: Log) -> pl.DataFrame:
    """The system, segment and query of every ranking, and whether its segment is known."""
    grid, (system, by, query) = log.grid, log.columns.key_names
    rows = (grid.system_row[grid.system], grid.segment_row[grid.segment], grid.query_row[grid.query])
    parts = [log.keys_at(names, at) for names, at in zip((system, by, query), rows, strict=True) if names]
    placed = np.ones(len(grid.pair), bool) if log.placed is None else log.placed[grid.segment]
    return pl.concat([*parts, pl.DataFrame({"placed": placed})], how="horizontal")


def _matched(there: Log, here: Log) -> Array:
    """The number of each ranking of one log in another, -1 where it has none, shape (rankings,)."""
    theirs, ours = _keys(there), _keys(here)
    for key in theirs.columns:
        one, two = theirs.schema[key], ours.schema[key]
        if pl.Null not in (one, two) and kind_of_ids(one) != kind_of_ids(two):
            raise BadValueError(
                f"proxy: a column of its queries is {one}, and that of people {two}; give both one type"
            )
        theirs, ours = (table.with_columns(pl.col(key).cast(wider(one, two))) for table in (theirs, ours))
    rows = ours.with_row_index("at")
    at = theirs.join(rows, on=theirs.columns, how="left", nulls_equal=True, maintain_order="left")["at"]
    return at.cast(pl.Int64).fill_null(-1).to_numpy()


def powered_means(source: Source, asked: Asked, options: EvaluateOptions) -> Answer:
    """Return one row per group and metric, with the prediction-powered mean."""
    both = both_of(source, asked, totals=options.margins)
    measured, groups = both.measured, groups_of(both.measured.log.cells, options.margins)
    wanted = [
        (i, average)
        for i, (_, metric) in enumerate(asked)
        for average in averages_of(metric, options.averages, weighted=measured.weight is not None)
    ]
    tables: list[list[Array]] = []
    evaluated: list[Array] = []
    width = 3 + len(PROXIES) + 2 * (options.ci is not None)
    for segments in groups.each:
        group = np.where(measured.evaluated, segments.place[measured.log.grid.cell], -1)
        order, count = np.argsort(group, kind="stable"), len(segments)
        members = np.split(order, np.searchsorted(group[order], np.arange(count)))[1:]
        rows = [_row(both, i, average, at, options) for i, average in wanted for at in members]
        tables.append([*np.moveaxis(np.array(rows).reshape(len(wanted), count, width), 2, 0)])
        evaluated.append(np.bincount(group[group >= 0], minlength=count))
    beside = {name: [table.pop(3) for table in tables] for name in PROXIES}
    each = Averaged(asked, [i for i, _ in wanted], [average for _, average in wanted], tables, evaluated, beside=beside)
    return tidied(each, options, groups, None)


def _row(both: Both, metric: int, average: str, at: Array, options: EvaluateOptions) -> Sequence[float]:
    """The value, n, n_undefined, n_proxy, lambda, the machine's mean, and the ends if any, of some rankings."""
    measured, human = both.measured, both.human[metric, at]
    weight = measured.weight[at] if average == "weighted" and measured.weight is not None else None
    cluster, chance = (None if one is None else one[at] for one in (measured.cluster, both.chance))
    found = powered(human, both.proxy[metric, at], weight, chance, cluster)
    least, most = measured.asked[metric][1].range
    inside = min(least, found.value), max(most, found.value)
    ends = () if options.ci is None else np.clip(found.ends(options.ci, options.method or "t"), *inside)
    undefined = both.undefined[metric, at].sum()
    return (found.value, found.n, undefined, found.n_proxy, found.tuned, found.proxy, *ends)
