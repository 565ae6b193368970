"""Values of metrics for every ranking of a log, and the checks before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from frame_metrics.data.classes import check_level, out_of_reach
from frame_metrics.data.log import Block, Log
from frame_metrics.data.misread import groups, undecided_shares
from frame_metrics.errors import BadValueError, NotComputableError
from frame_metrics.inputs import Array, Lists, Ranking, Scores, ratio
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
    counts: dict[int, Array]  # of each metric that is to be pooled, the counts of its table, shape (counts, rankings)
    rows: dict[int, Array]  # of each metric that is to be weighed by rows, how many there are, shape (rankings,)
    evaluated: Array  # which rankings have a judged document, shape (rankings,)
    weight: Array | None  # of each ranking's query; None where not named
    cluster: Array | None  # of each ranking's query; None where not named
    # Of each metric the rankings without a number from elsewhere, (metrics, rankings); None where all are measured.
    absent: Array | None = None
    # Of each metric whose results are weighted, the sums of their weights and of the squares, shape (2, rankings).
    weights: dict[int, Array] = field(default_factory=dict)
    shown: Results | None = None  # the results of all lists, where some metric is of them together
    unpaired: Array | None = None  # queries of each segment that one of two frames has alone; None where one is read
    # Where rankings were added up, and each stands for many: what ``tallies`` returns, and how many are evaluated.
    sums: tuple[list[int], list[Tally]] | None = None
    many: Array | None = None

    @property
    def results(self) -> Results:
        """The results of all lists; none where no metric is of them together."""
        return together([]) if self.shown is None else self.shown


def of_probabilities(asked: Asked) -> str | None:
    """Return the name of the first metric that reads scores as probabilities; None where none does."""
    return next((name for name, metric in asked if "probability" in metric.reads), None)


def check_probability(name: str, score: pl.Series, column: str) -> None:
    """Raise for scores that are not probabilities."""
    refuse(column, score.is_null(), "have no score", f"{name} needs one for every row")
    refuse(column, (score < 0) | (score > 1), "are not between 0 and 1", f"{name} needs probabilities")


def check_grades(asked: Asked, log: Log, *, some: bool = False) -> None:
    """Raise for a metric that the grades do not determine; ``some``: whether the log has some of its grades only."""
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
    """Raise for a metric of a group to which no document belongs."""
    for name, metric in asked:
        if "group=" in metric.columns and code_of(metric.params["of"]) not in groups(log):
            raise BadValueError(f"{name}: no document belongs to {metric.params['of']!r} in {log.columns.group}")


def _takes_level(metric: Metric) -> bool:
    """Return True for a metric of what is relevant, whose own options do not say from which grade on."""
    return "relevant" in metric.reads and "rel" not in metric.params


def _top_grade(log: Log) -> str:
    """The largest grade as errors show it."""
    return log.conventions.in_words(log.top_grade)


def lacks_scale(metric: Metric) -> bool:
    """Return True for a metric that needs the highest grade, and is not told it."""
    return "max_grade" in metric.reads and metric.params.get("max_grade") is None


def check_ideal(asked: Asked, log: Log) -> None:
    """Raise for a metric that needs grades of documents that are only counted, and need not all have the grade 1."""
    for name, metric in asked:
        counted = log.columns.n_relevant and "ideal" in metric.reads
        if counted and (log.graded or not 0 < log.conventions.rel <= 1):
            raise NotComputableError(
                f"{name} needs the grades of all relevant documents, and {log.columns.n_relevant} only counts them; "
                "list them, or say n_relevant=None to take the ideal from the listed rows"
            )


def _out_of_reach(asked: Asked, log: Log) -> set[float]:
    """The values of rel, of the metrics of what is relevant, that no grade reaches though some is positive."""
    table = log.judgments
    rels = {log.conventions.variant(metric)[0] for _, metric in asked if "relevant" in metric.reads}
    return {rel for rel in rels if judging(table) == ["grade"] and out_of_reach(table["grade"], rel)}


def check_known(run: Ranking, rel: float, log: Log) -> None:
    """Raise for a ranking that lists more relevant documents than its query is said to have."""
    counted = run.known_relevant is not None and rel == log.conventions.rel
    if counted and (run.listed_relevant > run.n_relevant).any():
        column = log.columns.n_relevant
        raise BadValueError(f"{column}: a query lists more relevant documents than it is said to have")


def measure(log: Log, asked: Asked, averages: Averages = (None,)) -> Measured:
    """Compute metrics for every ranking, once the grades are known to determine them."""
    check_grades(asked, log)
    found = each_ranking(log, asked, averages)
    if found.shown is None:
        return found
    # Most rows are numbered faster as they stand, but floats, which weights make of counts, are added up in one order.
    apart = found.weight is not None or 2 * len(found.shown.doc) < len(log.table)
    more = any(metric.k or "often" in metric.reads for _, metric in asked if metric.input is Lists)
    counted = len(found.shown.doc) == len(log.table) < 2**32 and not (more or apart or log.columns.groups)
    by = log.table.get_column("hash", default=None) if counted else None
    return replace(found, shown=numbered(found.shown, log.table["doc"], log.conventions.catalogue, apart=apart, by=by))


def each_ranking(log: Log, asked: Asked, averages: Averages = (None,)) -> Measured:
    """Compute metrics for every ranking, block by block, also of a piece of a log."""
    grid, columns = log.grid, log.columns
    evaluated = np.zeros(len(grid.pair), bool)
    deep = depth_of(asked)
    listed: dict[int, Results] = {}
    by_variant = _by_variant(log, asked)
    reads = frozenset[str]().union(*(metric.reads for _, metric in asked))
    if "tn" in reads:
        log.of_queries("collection_size")  # which raises where it is not known
    scored = "score" in reads or Scores in [metric.input for _, metric in asked]
    if name := of_probabilities(asked):
        check_probability(name, log.table["score"], str(columns.score))
    strict = [(name, metric) for name, metric in asked if not _orders(metric, log)]

    measured = _unfilled(log, asked, averages, evaluated)

    def work(block: Block) -> None:
        for name, metric in strict:
            check_ties(name, metric, block, log)
        whole = block.ranking(scored=scored)
        if deep is not None and ordered:
            listed[int(np.arange(len(grid.pair))[block.at][0])] = results_of(block, whole, deep)
        evaluated[block.at] = whole.evaluated  # a judgment that condensed rankings leave out is one too
        for (rel, condensed), wanted in by_variant.items():
            run = whole.variant(rel, condensed)
            check_known(run, rel, log)
            _fill(measured, wanted, run, block)

    # Of whole lists together no order is looked at, but for what is not retrieved, or is shown after a gap; weights are
    # added up in it, and documents that the catalogue lacks are named in it.
    ordered = any(metric.input is not Lists or metric.k for _, metric in asked) or log.sorter.nulls
    ordered = ordered or bool(columns.rank or columns.weight) or isinstance(log.conventions.catalogue, pl.Series)
    log.each_block(work, busy=True, alike=deep is not None if ordered else None)
    if deep is None and not (columns.weight or columns.cluster):
        return measured
    shown = None if deep is None else together([listed[at] for at in sorted(listed)]) if ordered else every(log)
    return replace(measured, shown=shown, weight=log.of_queries("weight"), cluster=log.of_queries("cluster"))


def _unfilled(log: Log, asked: Asked, averages: Averages, evaluated: Array) -> Measured:
    """Return room for the values of metrics, and for what their averages need beside."""
    n, of = len(log.grid.pair), [(i, metric, (*averages, metric.average)) for i, (_, metric) in enumerate(asked)]
    counts = {i: np.empty((one.pooled_sums, n)) for i, one, how in of if "micro" in how and one.pooled_sums}
    rows = {i: np.empty(n) for i, _, how in of if "rows" in how}
    weights = {i: np.empty((2, n)) for i, *_ in of} if log.conventions.propensity is not None else {}
    values = np.full((len(asked), n), np.nan)
    return Measured(log, asked, values, counts, rows, evaluated, None, None, weights=weights)


def _by_variant(log: Log, asked: Asked) -> dict[tuple[float, bool], list[int]]:
    """Return the metrics of each kind of ranking: the least relevant grade, and whether unjudged rows are left out."""
    of: dict[tuple[float, bool], list[int]] = {}
    for i, (_, metric) in enumerate(asked):
        if metric.input is Lists:  # which no ranking has by itself
            continue
        of.setdefault(log.conventions.variant(metric), []).append(i)
    return of


def _fill(measured: Measured, wanted: Sequence[int], whole: Ranking, block: Block) -> None:
    """Fill in some metrics of a block's rankings; blocks are filled in side by side."""
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
    """Return True where a metric is defined for equal scores as they are ordered, also where results are weighted."""
    weighed = log.conventions.propensity is not None and log.conventions.ties in ("worst", "best", "expected")
    return metric.orders(log.conventions.ties) and not weighed


def check_ties(name: str, metric: Metric, block: Block, log: Log) -> None:
    """Raise for a metric that equal scores leave undetermined, where rows that have them differ in what it reads."""
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
    """Return a metric's values with the undefined ones replaced, NaN where they stay null or nothing is judged."""
    name, metric = measured.asked[i]
    there = measured.evaluated if measured.absent is None else measured.evaluated & ~measured.absent[i]
    return measured.log.conventions.filled(name, metric, measured.values[i], there, "queries")


def tallies(measured: Measured, averages: Averages = (None,)) -> tuple[list[int], list[Tally]]:
    """Return sums over the evaluated queries, one for each average of each metric, and the metric that each is of.

    With two metrics and the averages macro and median that is [0, 0, 1, 1] and four sums. An average that a metric has
    under two names is there once.
    """
    if measured.sums is not None:
        return measured.sums
    some = slice(None) if measured.evaluated.all() else measured.evaluated
    weight = None if measured.weight is None else measured.weight[some]
    of, sums = [], []
    # Which queries have a value, and which are undefined, where all have one: arrays that many sums share.
    defined = np.ones(np.count_nonzero(measured.evaluated), bool)
    shared = defined, ~defined
    for i, (_, metric) in enumerate(measured.asked):
        if metric.input is Lists:
            continue
        raw = values = measured.values[i][some]
        undefined = lacking if np.count_nonzero(lacking := np.isnan(raw)) else None
        if undefined is not None:
            values = filled(measured, i)[some]
        for average in averages_of(metric, averages, weighted=weight is not None):
            of.append(i)
            if average == "micro":
                sums.append(pooled(metric, measured.counts[i][:, some], measured.log.conventions.fill(metric), raw))
            else:
                each = measured.rows[i][some] if average == "rows" else weight
                sums.append(tally(undefined, values, average, each, shared))
    return of, sums


def answered(measured: Measured) -> Array:
    """Return whether each ranking has results."""
    rankings = measured.log.grid.rankings
    place = rankings.values.get("rank", rankings.values.get("score"))
    return (rankings.lengths if place is None else rankings.count(~np.isnan(place))) > 0


def effective_sizes(measured: Measured, of: Sequence[int], sums: Sequence[Tally], group: Array | None, n: int) -> Array:
    """Return the effective sample size of each average in each group, NaN without a weight, shape (averages, groups).

    It is the square of the sum of the weights over the sum of their squares (Kish).
    """
    some = slice(None) if measured.evaluated.all() else measured.evaluated
    columns = []
    for i, average in zip(of, sums, strict=True):
        each = measured.weight if average.average == "weighted" and measured.weight is not None else np.ones(1)
        columns += [measured.weights[i][0] * each, measured.weights[i][1] * each**2]
    total = within(group, n, [column[some] for column in columns])
    return ratio(total[::2] ** 2, total[1::2])
