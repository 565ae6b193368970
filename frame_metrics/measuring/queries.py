"""Compute metrics for every ranking of a log, after checks that its grades suffice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from frame_metrics.data.classes import check_level, out_of_reach
from frame_metrics.data.log import Block, Log
from frame_metrics.data.misread import groups, undecided_shares
from frame_metrics.errors import BadValueError, NotComputableError, shown
from frame_metrics.inputs import Array, FullRanking, FullScores, Lists, ratio
from frame_metrics.inputs.expected import Expected
from frame_metrics.inputs.rows import code_of
from frame_metrics.measuring.lists import Results, depth_of, every, numbered, results_of, together
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.columns import judging
from frame_metrics.roles.series import refuse
from frame_metrics.stats.averages import Averages, Tally, averages_of, pooled, tally, within


@dataclass(frozen=True, eq=False)
class Measured:
    """Values of metrics for every ranking, NaN where undefined."""

    log: Log
    asked: Asked
    values: Array  # shape (metrics, rankings)
    # By the position of a metric in ``asked``:
    counts: dict[int, Array]  # with average="micro": the counts that are summed, shape (counts, rankings)
    rows: dict[int, Array]  # with average="rows": the number of rows of each ranking, shape (rankings,)
    evaluated: Array  # whether a ranking counts: its query is judged, see ``Block.evaluated``, shape (rankings,)
    weight: Array | None  # of each ranking's query; None if not named
    cluster: Array | None  # number of the cluster of each ranking's query; None if not named
    absent: Array | None = None  # with value=: whether a ranking has no number, shape (metrics, rankings); else None
    # With propensity=: the sums of the weights of its results and of their squares, shape (2, rankings).
    weights: dict[int, Array] = field(default_factory=dict)  # by the position of a metric, as ``counts`` and ``rows``
    shown: Results | None = None  # the results of all lists, for metrics of sets of lists; None without such metrics
    unpaired: Array | None = None  # where two frames are compared: unmatched queries of each segment, (segments,)
    # Where a row stands for the summed rankings of a piece: what ``tallies`` returns, and the number of evaluated
    # rankings that each evaluated row stands for.
    sums: tuple[list[int], list[Tally]] | None = None
    many: Array | None = None
    # How many rankings of judged queries each row stands for that have no row (1 or 0, unless rankings were summed),
    # whether or not they are evaluated, shape (rankings,). By default none is.
    unanswered: Array = field(default_factory=lambda: np.zeros(0, bool))

    def __post_init__(self) -> None:
        """Let each ranking be answered, if nothing is said."""
        if len(self.unanswered) != len(self.evaluated):
            object.__setattr__(self, "unanswered", np.zeros(len(self.evaluated), bool))

    @property
    def results(self) -> Results:
        """The results of all lists; empty if no metric reads them."""
        return together([]) if self.shown is None else self.shown


def of_probabilities(asked: Asked) -> str | None:
    """Return the name of the first metric that reads scores as probabilities; None if none does."""
    return next((name for name, metric in asked if "probability" in metric.reads), None)


def check_probability(name: str, score: pl.Series, column: str) -> None:
    """Raise for scores that are not probabilities."""
    refuse(column, score.is_null(), "have no score", f"{name} needs one for every row")
    refuse(column, (score < 0) | (score > 1), "are not between 0 and 1", f"{name} needs probabilities")


def check_grades(asked: Asked, log: Log, *, some: bool = False) -> None:
    """Raise for a metric that the grades of a log do not determine.

    ``some``: whether the log has only some of the grades, so that counts in errors say "at least".
    """
    grade = log.judgment_name
    lost = _out_of_reach(asked, log)
    shares = undecided_shares(log) if any(_takes_level(metric) for _, metric in asked) else 0
    for name, metric in asked:
        if lacks_scale(metric):
            largest = "" if np.isnan(log.top_grade) else f"; the largest grade in {grade} is {_top_grade(log)}"
            if (highest := log.conventions.highest) is not None:
                largest = f": {highest:g}"
            raise NotComputableError(f"{name} needs max_grade=, the highest grade of the scale{largest}")
        top = metric.params.get("max_grade")
        if top is not None and log.top_grade > top:
            raise BadValueError(f"{name}: max_grade={top:g}, but the largest grade in {grade} is {_top_grade(log)}")
        if lost and "relevant" in metric.reads and (rel := log.conventions.variant(metric)[0]) in lost:
            raise NotComputableError(f"{name}: {log.conventions.unreached(grade, rel, log.top_grade)}")
        if shares and _takes_level(metric):
            check_level(shares, grade, name, some=some)
    check_ideal(asked, log)
    _check_groups(asked, log)


def _check_groups(asked: Asked, log: Log) -> None:
    """Raise for a metric of a group (``group=``) without documents."""
    for name, metric in asked:
        if "group=" in metric.columns and code_of(metric.params["of"]) not in groups(log):
            raise BadValueError(f"{name}: no document belongs to {shown(metric.params['of'])} in {log.columns.group}")


def _takes_level(metric: Metric) -> bool:
    """Return True for a metric that reads relevance and has no ``rel`` option of its own set."""
    return "relevant" in metric.reads and "rel" not in metric.params


def _top_grade(log: Log) -> str:
    """Return the largest grade as errors show it."""
    return log.conventions.in_words(log.top_grade)


def lacks_scale(metric: Metric) -> bool:
    """Return True for a metric that needs ``max_grade=`` and does not have it."""
    return "max_grade" in metric.reads and metric.params.get("max_grade") is None


def check_ideal(asked: Asked, log: Log) -> None:
    """Raise for a metric of the ideal ranking if ``n_relevant=`` only counts relevant documents.

    No error if their grades are known to be 1: no grade of the log is another positive one, and ``rel`` is at most 1.
    """
    for name, metric in asked:
        counted = log.columns.n_relevant and "ideal" in metric.reads
        if counted and (log.graded or not 0 < log.conventions.rel <= 1):
            raise NotComputableError(
                f"{name} needs the grades of all relevant documents, and {log.columns.n_relevant} only counts them; "
                "list them, or say n_relevant=None to take the ideal from the listed rows"
            )


def _out_of_reach(asked: Asked, log: Log) -> set[float]:
    """Return the values of ``rel`` of metrics that no grade reaches, although some grade is positive."""
    table = log.judgments
    rels = {log.conventions.variant(metric)[0] for _, metric in asked if "relevant" in metric.reads}
    return {rel for rel in rels if judging(table) == ["grade"] and out_of_reach(table["grade"], rel)}


def check_known(run: FullRanking, rel: float, log: Log) -> None:
    """Raise for a ranking that lists more relevant documents than ``n_relevant=`` counts."""
    counted = run.known_relevant is not None and rel == log.conventions.rel
    if counted and (run.listed_relevant > run.n_relevant).any():
        column = log.columns.n_relevant
        raise BadValueError(f"{column}: a query lists more relevant documents than it is said to have")


def measure(log: Log, asked: Asked, averages: Averages = (None,)) -> Measured:
    """Check that the grades determine the metrics, and compute them for every ranking of a log."""
    check_grades(asked, log)
    found = each_ranking(log, asked, averages)
    if found.shown is None:
        return found
    # If the lists show most rows, numbering the documents of all rows is faster. But weighted counts are sums of
    # floats: they are added in the order of the lists, so that the order of the rows does not change the last digit.
    apart = found.weight is not None or 2 * len(found.shown.doc) < len(log.table)
    more = any(metric.k or "often" in metric.reads for _, metric in asked if metric.input is Lists)
    counted = len(found.shown.doc) == len(log.table) < 2**32 and not (more or apart or log.columns.groups)
    by = log.table.get_column("hash", default=None) if counted else None
    return replace(found, shown=numbered(found.shown, log.table["doc"], log.conventions.catalogue, apart=apart, by=by))


def each_ranking(log: Log, asked: Asked, averages: Averages = (None,)) -> Measured:
    """Compute metrics for every ranking of a log or of a piece of one, block by block."""
    grid, columns = log.grid, log.columns
    evaluated, unanswered = np.zeros(len(grid.pair), bool), ~log.answered
    deep = depth_of(asked)
    listed: dict[int, Results] = {}
    by_variant = _by_variant(log, asked)
    reads = frozenset[str]().union(*(metric.reads for _, metric in asked))
    if "tn" in reads:
        log.of_queries("collection_size")  # raises if it is unknown for a query
    scored = "score" in reads or FullScores in [metric.input for _, metric in asked]
    if name := of_probabilities(asked):
        check_probability(name, log.table["score"], str(columns.score))
    strict = [(name, metric) for name, metric in asked if not _orders(metric, log)]

    measured = _unfilled(log, asked, averages, evaluated, unanswered)

    def work(block: Block) -> None:
        for name, metric in strict:
            check_ties(name, metric, block, log)
        whole = block.ranking(scored=scored)
        if deep is not None and ordered:
            listed[int(np.arange(len(grid.pair))[block.at][0])] = results_of(block, whole, deep)
        evaluated[block.at] = block.evaluated(whole)  # a judgment that condensed rankings leave out counts here too
        unanswered[block.at] &= whole.evaluated
        for (rel, condensed), wanted in by_variant.items():
            run = whole.variant(rel, condensed)
            check_known(run, rel, log)
            _fill(measured, wanted, run, block)

    # Metrics of sets of whole lists do not need the order of results. But it is needed if some are not retrieved, or
    # ranks have gaps; if weights are added up in that order; and for errors that name documents not in the catalogue.
    ordered = any(metric.input is not Lists or metric.k for _, metric in asked) or log.sorter.nulls
    ordered = ordered or bool(columns.rank or columns.weight) or isinstance(log.conventions.catalogue, pl.Series)
    log.each_block(work, busy=True, alike=deep is not None if ordered else None)
    if deep is None and not (columns.weight or columns.cluster):
        return measured
    shown = None if deep is None else together([listed[at] for at in sorted(listed)]) if ordered else every(log)
    return replace(measured, shown=shown, weight=log.of_queries("weight"), cluster=log.of_queries("cluster"))


def _unfilled(log: Log, asked: Asked, averages: Averages, evaluated: Array, unanswered: Array) -> Measured:
    """Allocate the arrays for values of metrics, and for what their averages need beside the values."""
    n, of = len(log.grid.pair), [(i, metric, (*averages, metric.average)) for i, (_, metric) in enumerate(asked)]
    counts = {i: np.empty((one.pooled_sums, n)) for i, one, how in of if "micro" in how and one.pooled_sums}
    rows = {i: np.empty(n) for i, _, how in of if "rows" in how}
    weights = {i: np.empty((2, n)) for i, *_ in of} if log.conventions.propensity is not None else {}
    values = np.full((len(asked), n), np.nan)
    return Measured(log, asked, values, counts, rows, evaluated, None, None, weights=weights, unanswered=unanswered)


def _by_variant(log: Log, asked: Asked) -> dict[tuple[float, bool], list[int]]:
    """Group metrics by the variant of rankings that they read: the value of ``rel``, and whether it is condensed."""
    of: dict[tuple[float, bool], list[int]] = {}
    for i, (_, metric) in enumerate(asked):
        if metric.input is Lists:  # they have no value for a single ranking
            continue
        of.setdefault(log.conventions.variant(metric), []).append(i)
    return of


def _fill(measured: Measured, wanted: Sequence[int], whole: FullRanking, block: Block) -> None:
    """Compute some metrics for a block's rankings ``whole``, and store the values in ``measured``."""
    at, run, expected = block.at, whole, whole if whole.tie is None else Expected(whole, whole.tie)
    for i in wanted:
        metric = measured.asked[i][1]
        if i in measured.weights:
            expected = run = metric.weighted(whole)
            measured.weights[i][:, at] = run.effective(metric.k, off_policy=metric.off_policy)
        measured.values[i, at] = metric.compute(expected if block.rows.tied or metric.columns else run)
        if i in measured.counts:
            measured.counts[i][:, at] = metric.pools(expected if block.rows.tied else run)
        if i in measured.rows:
            measured.rows[i][at] = run.n_rows


def _orders(metric: Metric, log: Log) -> bool:
    """Return True if the metric is known to be right under the tie rule, see ``Metric.orders``.

    With weighted results (propensity=) it is so for ``ties="doc"`` and "order" only.
    """
    weighed = log.conventions.propensity is not None and log.conventions.ties in ("worst", "best", "expected")
    return metric.orders(log.conventions.ties) and not weighed


def check_ties(name: str, metric: Metric, block: Block, log: Log) -> None:
    """Raise for a metric that the tie rule does not settle, if tied rows differ in something that it reads."""
    ties, rows = log.conventions.ties, block.rows
    weighed = log.conventions.propensity is not None
    if _orders(metric, log) or not (rows.tied or (rows.apart and (metric.columns or weighed or metric.of_subtopics))):
        return
    lacking = "has no closed form for" if ties == "expected" else "is not bounded by"
    beside = f"values of run.column({metric.columns[0]!r})" if metric.columns else "propensities"
    beside = "subtopics" if metric.of_subtopics else beside if metric.judges else "popularities, or groups"
    read = "judgments" if rows.tied else beside
    order = "" if log.columns.doc else "name doc= to order equal scores by document, or "
    raise NotComputableError(
        f"{name} {lacking} ties={ties!r}, and rows with equal scores have different {read}; "
        f"{order}say ties='order' to take the frame's order"
    )


def filled(measured: Measured, i: int) -> Array:
    """Return a metric's values with undefined ones replaced; NaN where they stay null, or nothing is judged."""
    name, metric = measured.asked[i]
    there = measured.evaluated if measured.absent is None else measured.evaluated & ~measured.absent[i]
    return measured.log.conventions.filled(name, metric, measured.values[i], there, "queries")


def without(measured: Measured, absent: Array) -> Measured:
    """Take away the values of some rankings, as if they had no number; ``absent``: marks of these, (rankings,)."""
    values, every = np.where(absent, np.nan, measured.values), np.ones(len(absent), bool)
    none = np.broadcast_to(absent, values.shape) if measured.absent is None else measured.absent | absent
    return replace(measured, values=values, evaluated=every, absent=none)


def tallies(measured: Measured, averages: Averages = (None,)) -> tuple[list[int], list[Tally]]:
    """Return the tallies from which averages over the evaluated queries are computed, and the metric of each.

    For two metrics and the averages macro and median these are four tallies, and the metrics [0, 0, 1, 1]. Two names
    of one average give one tally.
    """
    if measured.sums is not None:
        return measured.sums
    some = slice(None) if measured.evaluated.all() else measured.evaluated
    weight = None if measured.weight is None else measured.weight[some]
    of, sums = [], []
    # If all queries have a value, many tallies share these two arrays: which have one, and which are undefined.
    defined = np.ones(np.count_nonzero(measured.evaluated), bool)
    with np.errstate(over="ignore", under="ignore"):  # then Kish's number is not known
        shared, squared = (defined, ~defined), None if weight is None else weight * weight
    for i, (_, metric) in enumerate(measured.asked):
        if metric.input is Lists:
            continue
        raw = values = measured.values[i][some]
        undefined = lacking if np.count_nonzero(lacking := np.isnan(raw)) else None
        if undefined is not None:
            values = filled(measured, i)[some]
        ends = (-np.inf, np.inf) if measured.weights else metric.range  # weighted results may exceed the range
        for average in averages_of(metric, averages, weighted=weight is not None):
            of.append(i)
            if average == "micro":
                sums.append(pooled(metric, measured.counts[i][:, some], measured.log.conventions.fill(metric), raw))
            else:
                each = measured.rows[i][some] if average == "rows" else weight
                square = squared if each is weight else None
                sums.append(tally(undefined, values, average, each, shared, ends, square))
    return of, sums


def effective_sizes(measured: Measured, of: Sequence[int], sums: Sequence[Tally], group: Array | None, n: int) -> Array:
    """Return the effective sample size of each average in each group, shape (averages, groups); NaN if no weight.

    It is (sum of weights)² / (sum of squared weights), after Kish; the weights are those of the results (propensity=),
    times the query's weight in a weighted mean.

    Parameters
    ----------
    of, sums : as ``tallies`` returns them.
    group : the group of each evaluated ranking; None for one group.
    n : number of groups.
    """
    some = slice(None) if measured.evaluated.all() else measured.evaluated
    columns = []
    for i, average in zip(of, sums, strict=True):
        each = measured.weight if average.average == "weighted" and measured.weight is not None else np.ones(1)
        columns += [measured.weights[i][0] * each, measured.weights[i][1] * each**2]
    total = within(group, n, [column[some] for column in columns])
    return ratio(total[::2] ** 2, total[1::2])
