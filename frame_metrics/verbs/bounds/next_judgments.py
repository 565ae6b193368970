"""The verb to_judge: the documents whose judgments narrow the bounds of a metric most, or that rank highest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.log import Block, Log, WholeLogFacts
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    NotComputableError,
    check_choice,
    check_key_names,
    check_whole,
)
from frame_metrics.fast.codes import codes
from frame_metrics.fast.take_rows import to_array
from frame_metrics.hidden import ORDER, SYSTEM_NUMBER, THERE
from frame_metrics.inputs import Array, ratio
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE, spans
from frame_metrics.measuring.pieces import fact_columns, gather, work_of
from frame_metrics.measuring.queries import check_grades, measure_rankings
from frame_metrics.measuring.work import PieceWork
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, read
from frame_metrics.metrics.parameters import plain
from frame_metrics.plan.call import Call, bind
from frame_metrics.plan.checks import check_asked, single_metric
from frame_metrics.plan.declared import TO_JUDGE
from frame_metrics.plan.needs import RANKED, Needs, needs_of
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import InPieces, Source, answer_of
from frame_metrics.roles.columns import judgment_columns_in
from frame_metrics.stats.significance import CLOSE
from frame_metrics.verbs.bounds.bounds import check_open_ties, check_unjudged, with_max_grade
from frame_metrics.verbs.bounds.choices import ItemValues, SumsOfItems, best_choice
from frame_metrics.verbs.bounds.differences import (
    NO_POSITION,
    RATIOS,
    WeightsOfUnjudged,
    check_baseline,
    each_weights,
    is_exact,
    keys_of_judgments,
    number_documents,
    system_of,
)

JudgingWay = Literal["bounds", "depth"]
DEFAULT = "ndcg@10"
# The columns that put documents in order, and whether the greatest is first.
SORT_OF_NEXT = {
    "bounds": {"moves_rounded": True, "position": False, "rank": False, "row": False},
    "depth": {"rank": False, "n_systems": True, "row": False},
}
PASS_DEPTH = "where nobody judged yet, begin with what ranks highest: way='depth'"  # the way out in errors
NEXT_COLUMNS = {"rank": pl.Int64, "n_systems": pl.Int64, "chosen": pl.Boolean}


def to_judge(plan: Plan, n: int | None, metric: str | Metric, *, baseline: Any, way: JudgingWay, max_grade: Any) -> Any:
    """Implement ``irm.to_judge``, whose docstring has the parameters."""
    check_choice("way", way, get_args(JudgingWay))
    if n is not None:
        check_whole("n", n, 1)
    if way == "depth" and (metric, baseline, max_grade) != (DEFAULT, None, None):
        raise BadValueError("way='depth' looks at ranks alone; leave metric=, baseline= and max_grade= out")
    # Refuse what cannot be computed, before anything is read.
    asked: Asked = [] if way == "depth" else single_metric(read([metric]))
    if asked and not (plan.judgments_not_in_rows or plan.columns.label or plan.columns.grade):
        raise ColumnError(f"nothing says what is judged already, label= or grade=; {PASS_DEPTH}")
    needs = needs_of(plan, asked) | RANKED if asked else Needs(order=True, judgments_optional=True)
    call = bind(plan, needs | Needs(verb=TO_JUDGE))
    max_grade = plain(max_grade)
    _check(asked, call, baseline, max_grade)
    asked, columns = with_max_grade(asked, max_grade), call.columns
    # A document is judged once for each segment that judgments know.
    by = (
        columns.by
        if call.judgment_columns is None
        else [name for name in columns.by if name in call.judgment_columns.by]
    )
    keys, result = (*by, *columns.query, str(columns.doc)), ({"moves": pl.Float64} if asked else {}) | NEXT_COLUMNS
    check_key_names(keys, result)

    def compute(source: Source) -> Answer:
        if isinstance(source, InPieces):
            return _highest_of_pieces(source, keys, n, way)
        log = source.log(keep_row_numbers=True)
        check_grades(asked, log)
        table = _unjudged(log, asked)
        if asked:
            every, table = table, _with_narrowing(table, log, asked, baseline, max_grade, n)
            if table.is_empty():
                _check_looked_at(every, log, asked[0][0])
        table = _first(table, way, n)
        return Answer(_keys(table, log, keys), {name: table[name].cast(result[name]) for name in result})

    return answer_of(call, compute, lambda types: {key: types[key] for key in keys} | result)


def _first(table: pl.DataFrame, way: JudgingWay, n: int | None, *more: str) -> pl.DataFrame:
    """Return the first documents to judge; ``more``: columns that break ties in the place of the row."""
    first = {name: down for name, down in SORT_OF_NEXT[way].items() if name != "row" or not more}
    down = [*first.values(), *(False for _ in more)]
    return table.sort(*first, *more, descending=down, nulls_last=True).head(n or len(table))


def _keys(table: pl.DataFrame, log: Log, keys: Sequence[str]) -> dict[str, Any]:
    """Return the rows that hold the keys of documents: of their segment and query, and last of the document."""
    ranking = table["ranking"].to_numpy()
    named = log.index.key_rows(segment=log.grid.segment[ranking], query=log.grid.query[ranking])
    named[keys[-1]] = log.rows(table["row"].to_numpy().astype(np.int64))
    return {name: named[name] for name in keys}


@record
class Unjudged(PieceWork):
    """The unjudged documents of a piece that rank highest."""

    named: Sequence[str]  # the key columns of the result
    n: int

    def answer(self, source: Source, whole_log: WholeLogFacts, *, ordered: bool) -> Answer:
        log = source.log(keep_row_numbers=True, whole_log=whole_log)
        table = _first(_unjudged(log, []), "depth", self.n)
        keys = _keys(table, log, self.named)
        keys |= {ORDER: keys[self.named[-1]]} if ordered else {}
        fact, size = fact_columns(log, max(len(table), 1), self), len(table)
        there = pl.Series(THERE, np.arange(max(size, 1)) < size)
        rows = {name: np.append(at, np.full(max(1 - size, 0), NONE)) for name, at in keys.items()}
        found = {
            name: table[name].cast(kind).extend_constant(None, max(1 - size, 0)) for name, kind in NEXT_COLUMNS.items()
        }
        nowhere = pl.Series(SYSTEM_NUMBER, [None] * max(size, 1), dtype=pl.Int64)  # a document is of no one system
        return Answer(rows, found | {THERE: there, SYSTEM_NUMBER: nowhere} | fact)


def _highest_of_pieces(source: InPieces, keys: Sequence[str], n: int | None, way: JudgingWay) -> Answer:
    """Return the unjudged documents that rank highest in all pieces; rows of a cluster break ties by their keys."""
    if way != "depth":
        raise NotComputableError(
            "to_judge() weighs each judgment against those of all other queries, and the rows are not all here; pass "
            "way='depth' and n= for what ranks highest, or give it the rows of some queries"
        )
    if n is None:
        raise NotComputableError(
            "to_judge() without n= has a row for each unjudged document, and the rows are not all here; pass n=, how "
            "many documents you will judge"
        )
    table, _ = gather(work_of(Unjudged, source, keys, n), source)
    place = (ORDER,) if source.pieces.ordered else tuple(keys)
    table = _first(table.filter(THERE), way, n, *place)
    rows = np.arange(len(table))
    return Answer(dict.fromkeys(keys, rows), {name: table[name] for name in NEXT_COLUMNS}, table=table)


def _check(asked: Asked, call: Call, baseline: Any, max_grade: Any) -> None:
    """Raise for columns, or a metric, for which the effect of a judgment is not known; nothing is read."""
    columns = call.columns
    if columns.relevant:
        raise NotComputableError(f"{columns.relevant} lists all that is relevant, so that nothing is left to judge")
    if columns.doc is None:
        raise ColumnError("no column says which document a row is, and a judgment needs its document; name doc=")
    if baseline is not None:
        check_baseline(asked, call, baseline)
    check_asked(asked, call)
    for name, metric in asked:
        check_unjudged(asked, call, max_grade)
        if not is_exact(metric, columns, call.conventions):
            raise NotComputableError(
                f"{name}: the effect of one judgment is not supported; take {' or '.join(RATIOS)}, or what adds up, "
                "as precision@10 or dcg@10, or pass way='depth' for what ranks highest"
            )


def _unjudged(log: Log, asked: Asked) -> pl.DataFrame:
    """Return a row for each unjudged document of a query (and of its segment, see ``keys_of_judgments``)."""
    grid, n, names = log.grid, len(log.table), judgment_columns_in(log.table)
    ranking, rank = np.zeros(n, np.int64), np.full(n, np.nan)

    def work(block: Block) -> None:
        if asked:
            check_open_ties(block.view, log)
        run = block.ranking()
        every = np.arange(len(run.grade))
        rows = block.view.log_rows(grid.rankings, every)
        ranking[rows] = block.ranking_indices[run.query_of(every)]
        seen = run.rows(every, rows)
        rank[seen.value] = seen.rank

    log.for_each_sorted_block(work, order="documents")  # the rank of each document matters here, also of unjudged ones
    if asked and len(names) == 2:  # a metric of gains reads grades, another one labels
        names = names[:1] if asked[0][1].graded else names[1:]
    unjudged = np.all([np.ones(n, bool), *(np.isnan(to_array(log.table[name])) for name in names)], axis=0)
    cells = {"of": codes(log.table, keys_of_judgments(log))[0], "document": number_documents(log), "row": np.arange(n)}
    cells |= {"ranking": ranking, "rank": rank, "system": grid.system[ranking]}
    seen = pl.col("system").filter(pl.col("rank").is_not_null()).n_unique().alias("n_systems")
    each = pl.DataFrame(cells, nan_to_null=True).filter(unjudged).group_by("of", "document", maintain_order=True)
    more_columns = [seen, *(_equal_documents(metric) for _, metric in asked)]
    found = each.agg(pl.col("row", "ranking").first(), pl.min("rank"), *more_columns).with_columns(chosen=pl.lit(True))
    return found if asked else found.drop_nulls("rank")


def _equal_documents(metric: Metric) -> pl.Expr:
    """Return an expression that numbers documents, equally if they have equal ranks, and so weights, in all systems."""
    places = ["ranking"] if metric.name == "recall" else ["ranking", "rank"]
    return pl.struct(places).filter(pl.col("rank") <= (metric.k or np.inf)).hash().sum().alias("alike")


def _with_narrowing(
    table: pl.DataFrame, log: Log, asked: Asked, baseline: Any, max_grade: float | None, n: int | None
) -> pl.DataFrame:
    """Return the documents whose judgments narrow the bounds of a metric, with how much, in the mean over rankings.

    For a ratio, how much a judgment narrows depends on the other judgments. So these are the best ``n`` together, or,
    if there are too many choices to try, the first ``n`` of each query.
    """
    n, summed = min(n or len(table), len(table)), _summing(log, asked, baseline, max_grade)

    def added(table: pl.DataFrame, narrowed: Callable[[WeightsOfUnjudged, Array, Array], Array]) -> pl.DataFrame:
        """Add "moves", how much each document narrows the bounds, and "moves_rounded", so that ties stay ties."""
        moves = summed(table, table["of"].to_numpy(), lambda one, position, count, _: narrowed(one, position, count))
        return table.with_columns(moves=moves).with_columns(moves_rounded=pl.col("moves").round_sig_figs(10))

    table = added(table.sort("of").with_columns(position=0), WeightsOfUnjudged.narrowed)
    found = table.filter(pl.col("moves") > CLOSE * pl.max("moves"))
    if asked[0][1].name not in RATIOS or not len(found):
        return found
    best = best_choice(table.join(found, on="of", how="semi"), n, summed)
    in_order = (found if best is None else best).sort("of", -pl.col("moves_rounded"), "rank", "row", nulls_last=True)
    in_order = in_order.with_columns(position=pl.int_range(pl.len()).over("of")).filter(pl.col("position") < n)
    return added(in_order, WeightsOfUnjudged.narrowed_in_turn).with_columns(
        pl.col("moves", "moves_rounded").cum_min().over("of").clip(0)
    )


def _check_looked_at(unjudged: pl.DataFrame, log: Log, name: str) -> None:
    """Raise if no judgment moves a metric only because queries without a judgment are not evaluated."""
    grid, evaluated = log.grid, measure_rankings(log, []).evaluated
    left_out = ~evaluated
    if not left_out[unjudged["ranking"].to_numpy()].any():
        return
    n, every = len(np.unique(grid.query[left_out])), len(np.unique(grid.query))
    raise NotComputableError(
        f"no judgment moves {name}: {n:,} of {every:,} queries have no judgment yet and are left out, and nothing is "
        "left to judge in the others; pass unjudged_queries='count', which counts those as 0 until somebody judges "
        "them, or way='depth', which looks at ranks alone"
    )


def _summing(log: Log, asked: Asked, baseline: Any, max_grade: float | None) -> SumsOfItems:
    """Return the function that sums values of unjudged documents over rankings, see ``SumsOfItems``."""
    keys, base = keys_of_judgments(log), None if baseline is None else system_of(log.index, baseline)
    share, names = _shares(log, base), log.table[keys][codes(log.table, keys)[1]].with_row_index("of")
    query = log.index.joined(names, keys)["of"].cast(pl.Int64).fill_null(len(names)).to_numpy()

    def summed(table: pl.DataFrame, of: Array, values: ItemValues) -> Array:
        position, found = np.full(len(log.table), NO_POSITION), {-1: (np.zeros(0, np.int64), np.zeros(0))}
        position[table["document"].to_numpy()] = table.select(pl.int_range(pl.len()).over("of")).to_series().to_numpy()
        count = np.bincount(of, minlength=len(names) + 1)
        first = np.cumsum(count) - count

        def take(one: WeightsOfUnjudged) -> None:
            mine = query[one.at]
            at = spans(first[mine], count[mine])
            parts = values(one, position[one.doc], count[mine], at)
            found[int(one.at[0])] = at, parts * np.repeat(share[one.at], count[mine])

        each_weights(log, asked, max_grade, base, take)
        in_order = (found[at] for at in sorted(found))  # sums are then rounded alike, whichever thread was first
        at, parts = map(np.concatenate, zip(*in_order, strict=True))
        return np.bincount(at, parts, len(of)).astype(np.float64)  # without parts: integers

    return summed


def _shares(log: Log, base: int | None) -> Array:
    """Return the share of each ranking in the mean over queries and systems; the baseline does not count."""
    grid, measured = log.grid, measure_rankings(log, [])
    if len(log.table) and not measured.evaluated.any():
        raise NotComputableError(
            f"no query has a judgment, and bounds are those of queries that have one; {PASS_DEPTH}"
        )
    weight = measured.evaluated * (1.0 if measured.weight is None else measured.weight)
    compared = max(len(grid.system_row), 1) - (base is not None)  # number of systems in the mean
    total = np.bincount(grid.segment, weight, len(grid.segment_row)) * compared / max(len(grid.system_row), 1)
    return np.nan_to_num(ratio(weight, total[grid.segment]))
