"""The verb explain: the contribution of each result to the value of a metric, rank by rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.answer import Answer
from frame_metrics.data.judgments import JudgmentTable
from frame_metrics.data.log import Log, WholeLogFacts
from frame_metrics.errors import BadRowsError, BadValueError, NotComputableError, check_key_names, closest, cut
from frame_metrics.inputs import Array, FullConfusion, FullRanking, Pool, gain_of
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import spans
from frame_metrics.keys.ids import check_castable
from frame_metrics.measuring.pieces import fact_columns, system_numbers, work_of
from frame_metrics.measuring.queries import check_grades, check_n_relevant, check_ties
from frame_metrics.measuring.some_queries import is_query, run_on_queries, with_grades
from frame_metrics.measuring.work import PieceWork
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, read
from frame_metrics.plan.call import bind
from frame_metrics.plan.checks import check_asked, single_metric
from frame_metrics.plan.declared import EXPLAIN
from frame_metrics.plan.needs import Needs, needs_of
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import InPieces, Source, answer_of
from frame_metrics.roles.columns import Columns

SCHEMA: dict[str, Any] = {
    "rank": pl.Int64,
    "gain": pl.Float64,
    "discount": pl.Float64,
    "contribution": pl.Float64,
    "judged": pl.Boolean,
    "undefined": pl.Boolean,
}
QUERIES_SEARCHED = 1000  # queries among which one is sought that is spelt almost as the one asked for


def explain(plan: Plan, metric: str | Metric, *, query: Any) -> Any:
    """Implement ``irm.explain``, whose docstring has the parameters."""
    asked = single_metric(read([metric]))
    ((name, wanted),) = asked
    call = bind(plan, needs_of(plan, asked) | Needs(order=True, verb=EXPLAIN))
    columns, conventions = call.columns, call.conventions
    check_asked(asked, call)
    if wanted.top is not None:
        raise NotComputableError(
            f"{name}: explain() shows the results down to a cutoff; ask for one, as {wanted.name}@10"
        )
    if wanted.input not in (FullRanking, FullConfusion) or columns.predicted:
        raise NotComputableError(f"{name}: explain() is about the results of a ranking")
    if conventions.variant(wanted)[1]:
        raise NotComputableError(
            f"{name}: explain() is about whole rankings, and these are condensed; pass unjudged=None"
        )
    # The keys of the result, and the queries that are explained.
    keys = (*columns.keys, *((columns.doc,) if columns.doc else ()))
    check_key_names(keys, SCHEMA)

    lists = not columns.shape.made and call.plan.backend.holds_lists(columns.query[0])
    queries = _each_query(columns, query, lists=lists)

    def compute(source: Source) -> Answer:
        if isinstance(source, InPieces):
            table = run_on_queries(work_of(Explaining, source, asked, queries), source, queries)
            rows = np.arange(len(table))
            return Answer(dict.fromkeys(keys, rows), {name: table[name] for name in SCHEMA}, table=table)
        log = source.log()
        return _answer(log, _explained(log, asked, queries, source.type_of_docs))

    return answer_of(call, compute, lambda _: SCHEMA, keys=keys)


@record
class Explaining(PieceWork):
    """The explanation of some queries of a frame in pieces; their rows are the whole piece."""

    asked: Asked
    queries: Sequence[tuple[Any, ...]]  # each as a value for each query column
    # Grades of the whole frame that checks need, see ``_extreme_grades`` in some_queries.py.
    grades: pl.Series | None = None

    def answer(self, source: Source, whole_log: WholeLogFacts, *, ordered: bool) -> Answer:
        log = source.log(whole_log=whole_log)
        table = _explained(log, self.asked, self.queries, source.type_of_docs, self.grades)
        answer, named, system = _answer(log, table), {}, log.columns.system
        if system:  # named by value, because the rows here may have no row of a system
            numbers = system_numbers(log.index, self.systems)[log.grid.system[table["ranking"].to_numpy()]]
            named[system] = self.system_names.gather(numbers)
        return Answer({**answer.keys} | named, answer.columns | fact_columns(log, len(table), self))


def _each_query(columns: Columns, query: Any, *, lists: bool) -> list[tuple[Any, ...]]:
    """Return the queries of ``query=``, each as a value for each query column.

    ``lists``: whether the query column holds lists, so that a list is one query and not several.
    """
    if len(columns.query) == 1:
        each: list[Any] = [(one,) for one in query] if isinstance(query, list) and not lists else [(query,)]
    else:
        several = isinstance(query, list) and all(isinstance(one, list | tuple) for one in query)
        each = query if several else [query]
        if not all(isinstance(one, list | tuple) and len(one) == len(columns.query) for one in each):
            raise BadValueError(f"query={cut(repr(query))} is not a value for each of {', '.join(columns.query)}")
    if not each:
        raise BadValueError("query=[] names no query; give one, or several")
    return [tuple(one) for one in each]


def _rankings_of(log: Log, queries: Sequence[tuple[Any, ...]]) -> Array:
    """Return the numbers of the evaluated rankings of some queries, of all systems and segments, ascending.

    Raises
    ------
    BadValueError
        A query is not there, or none of its documents is judged.
    """
    each = log.index.queries.values
    return np.unique(np.concatenate([_rankings_of_one(log, each, one) for one in queries]))


def _rankings_of_one(log: Log, each: pl.DataFrame, values: tuple[Any, ...]) -> Array:
    query = values[0] if len(values) == 1 else values
    mine = is_query(each, values, log.columns.query)
    if not mine.any():
        missing_too = "" if log.separate_judgments is None or log.judged_in_rows else ", and no judgment"
        near = closest(query, each[each.columns[0]][:QUERIES_SEARCHED].to_list()) if isinstance(query, str) else ""
        raise BadValueError(f"query={cut(repr(query))}: no row of the frame has it{missing_too}{near}")
    found = np.flatnonzero(mine.to_numpy()[log.grid.query])
    try:
        block = log.block(found)
        judged = block.evaluated(block.ranking())
    except BadRowsError:
        log.for_each_sorted_block(lambda block: None)  # raises for the rows of other queries too
        raise
    if not judged.any():
        raise BadValueError(f"query={cut(repr(query))}: none of its documents is judged")
    return found[judged]


def _explained(
    log: Log, asked: Asked, queries: Sequence[tuple[Any, ...]], docs: Any, grades: pl.Series | None = None
) -> pl.DataFrame:
    """Return the rows of the result for some queries, ranking by ranking.

    There is a row for each result down to the cutoff, in rank order, and one for each further document with a gain:
    past the cutoff, or not retrieved.

    Parameters
    ----------
    queries : the queries, each as a value for each query column.
    docs : the type of the caller's column of documents.
    grades : grades of the whole frame, where the log is a part of it.
    """
    own, ((name, metric),) = _rankings_of(log, queries), asked
    check_grades(asked, with_grades(log, grades), some=grades is not None)
    grid, document, block = log.grid, log.columns.doc, log.block(own, order="documents")
    rel, condensed = log.conventions.variant(metric)
    run = block.ranking(scored="score" in metric.reads).variant(rel, condensed)
    if block.view.extras_differ:
        check_ties(name, metric, block, log)
    check_n_relevant(run, rel, log)
    # The contribution of the other documents: 0, or null if the metric itself is undefined.
    nothing = np.where(np.isnan(metric.compute(run)), np.nan, 0.0)
    rows = block.view.log_rows(grid.rankings, np.arange(len(run.grade)))
    every = _listed(run, metric, nothing).with_columns(row=rows.astype(np.int64))
    table = every.filter("shown")
    if log.separate_judgments is not None:
        missed = _missed(
            log,
            log.separate_judgments,
            metric,
            own,
            every.select("of", doc=log.table["doc"].gather(every["row"])),
            run.rel,
        )
        check_castable(missed["doc"], docs, str(document), "relevant documents")
        added = pl.Series(nothing[missed["of"].to_numpy()], nan_to_null=True)
        table = pl.concat([table, missed.drop("doc").with_columns(contribution=added)], how="diagonal")
    table = table.sort("of", "rank", -pl.col("gain"), nulls_last=True, maintain_order=True)
    of = table["of"].to_numpy()
    return table.with_columns(ranking=pl.Series(own[of]), undefined=pl.Series(np.isnan(nothing)[of]))


def _answer(log: Log, table: pl.DataFrame) -> Answer:
    """Return the rows of ``_explained`` as an answer, with the keys of their rankings."""
    grid, document, each = log.grid, log.columns.doc, table["ranking"].to_numpy()
    keys = log.index.key_rows(system=grid.system[each], segment=grid.segment[each], query=grid.query[each])
    if document:
        keys[document] = log.rows(table["row"].to_numpy())
    return Answer(keys, {name: table[name].cast(kind) for name, kind in SCHEMA.items()})


def _listed(run: FullRanking, metric: Metric, nothing: Array) -> pl.DataFrame:
    """Return the listed rows of rankings, each with its contribution.

    The column "shown" marks the rows of the result: those up to the cutoff, and others with a gain. ``nothing``: the
    contribution of rows past the cutoff, for each ranking.
    """
    n_listed = run.n_ret if metric.k is None else run.retrieved(metric.k).astype(np.int64)
    every = np.arange(len(run.grade))
    of = run.query_of(every)
    place, gain = every - run.starts[of], _gains(metric, run.grade, run.good)
    found = place < n_listed[of]
    weight, added = np.full(len(every), np.nan), nothing[of]
    weight[found] = _change_of_each_result(run, n_listed, metric.weigher, ones=True)
    added[found] = _change_of_each_result(run, n_listed, metric)
    columns = {
        "of": of,
        "rank": np.where(place < run.n_ret[of], place + 1 if run.logged_rank is None else run.logged_rank, np.nan),
        "judged": ~np.isnan(run.grade) if metric.graded else run.judged,
        "gain": gain,
        "discount": weight,
        "contribution": added,
        "shown": found | (gain > 0),
    }
    return pl.DataFrame(columns, nan_to_null=True)


def _gains(metric: Metric, grade: Array, good: Array) -> Array:
    """Return the gains of documents, 0 for unjudged ones; for a metric that reads no grades, 1 for relevant ones."""
    gain = gain_of(grade, metric.params.get("gain") or "linear") if metric.graded else good
    return gain.astype(np.float64)


def _missed(
    log: Log, judgments: JudgmentTable, metric: Metric, at: Array, listed: pl.DataFrame, rel: float
) -> pl.DataFrame:
    """Return the judged documents with a gain that rankings do not list.

    Parameters
    ----------
    at : the numbers of the rankings.
    listed : their listed documents: the position of the ranking in ``at`` as "of", and "doc".

    Returns
    -------
    A row for each: "of", "doc", "gain", and "row", a row with the document: of the log, or past its end of the
    judgments.
    """
    mine = log.index.keys_of(judgments.keys, at).with_columns(of=pl.Series(np.arange(len(at))))
    pairs = mine.join(judgments.documents, on=judgments.keys, nulls_equal=True, maintain_order="left_right")
    lost = pairs.join(listed, on=["of", "doc"], how="anti", maintain_order="left")
    label, grade = (
        lost[name].cast(pl.Float64).fill_null(np.nan).to_numpy() if name in lost.columns else None
        for name in ("label", "grade")
    )
    pool = Pool(lost["of"].to_numpy(), grade if grade is not None else np.asarray(label), label)
    gain = _gains(metric, pool.grade, pool.relevant(rel))
    row = lost["row"].cast(pl.Int64) + (0 if log.judged_in_rows else log.n_rows)
    out = lost.select("of", "doc").with_columns(row, pl.Series("gain", gain), judged=pl.lit(True))
    return out.filter(pl.col("gain") > 0)


def _change_of_each_result(run: FullRanking, n_listed: Array, metric: Metric | None, *, ones: bool = False) -> Array:
    """Return how much each result of each ranking changes a metric, NaN where the metric is undefined.

    The metric is computed for the first 0, 1, 2 ... results of each ranking, and the differences are taken.

    Parameters
    ----------
    n_listed : the number of results of each ranking to look at.
    metric : the metric; None gives NaN for each result.
    ones : whether all gains are 1, which makes the changes the metric's weights by rank (its discount).
    """
    if metric is None:
        return np.full(n_listed.sum(), np.nan)
    of, n_ret = np.repeat(np.arange(run.n_queries), n_listed + 1), spans(np.zeros_like(n_listed), n_listed + 1)
    parts = np.flatnonzero(np.diff(np.cumsum(run.lengths[of]) // threads.BLOCK)) + 1
    copies = zip(np.split(of, parts), np.split(n_ret, parts), strict=True)
    values = np.concatenate([metric.compute(_shortened(run, some, length, ones)) for some, length in copies])
    none = values[n_ret == 0]
    if (odd := none[np.abs(np.nan_to_num(none)) > 1e-12]).size:
        raise NotComputableError(
            f"{metric} is {odd[0]:g} where nothing is retrieved; explain() takes apart what begins at 0, as ndcg@10"
        )
    added = np.diff(np.nan_to_num(values))[n_ret[1:] > 0]
    added[np.repeat(np.isnan(values[n_ret == n_listed[of]]), n_listed)] = np.nan
    return added


def _shortened(run: FullRanking, of: Array, n_ret: Array, ones: bool) -> FullRanking:
    """Return copies of rankings that are cut off after some results, with all judgments.

    Parameters
    ----------
    of : the ranking that each copy is of; one may be copied several times.
    n_ret : the number of retrieved results of each copy.
    ones : whether all gains are 1.
    """
    rows, length = spans(run.starts[of], run.lengths[of]), run.lengths[of]

    def each(values: Array | None, at: Array = rows) -> Array | None:
        return None if values is None else values[at]

    grade, logged_rank = run.grade[rows], each(run.logged_rank)
    if ones:
        return FullRanking(np.ones(len(grade)), length, n_ret, logged_rank=logged_rank)
    pool = run.pool
    if pool is not None:
        order, n = np.argsort(pool.query, kind="stable"), np.bincount(pool.query, minlength=run.n_queries)
        own = order[spans((np.cumsum(n) - n)[of], n[of])]
        label, document = each(pool.label, own), each(pool.document, own)
        pool = Pool(np.repeat(np.arange(len(of)), n[of]), pool.grade[own], label, document)
    judged = replace(run, pool=pool, n_relevant_given=each(run.n_relevant_given, of), size=each(run.size, of))
    extra = {name: values[rows] for name, values in run.extra.items()}
    beside = replace(judged, score=each(run.score), extra=extra, document=each(run.document))
    return replace(beside, grade=grade, lengths=length, n_ret=n_ret, label=each(run.label), logged_rank=logged_rank)
