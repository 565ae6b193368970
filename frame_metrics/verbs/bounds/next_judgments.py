"""The verb to_judge: the documents whose judgments narrow the bounds of a metric most, or that stand highest."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.blocks import codes, to_array
from frame_metrics.data.log import Block, Log
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, check_apart, check_choice, check_whole
from frame_metrics.inputs import ratio
from frame_metrics.inputs.rows import NONE
from frame_metrics.measuring.queries import check_grades, each_ranking
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, read
from frame_metrics.metrics.parameters import plain
from frame_metrics.plan.checks import check_asked, one_of
from frame_metrics.plan.needs import RANKED, Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.roles.columns import judging
from frame_metrics.stats.significance import CLOSE
from frame_metrics.verbs.bounds.bounds import check_open, check_open_ties, scaled
from frame_metrics.verbs.bounds.differences import (
    RATIOS,
    Shared,
    check_baseline,
    each_shared,
    is_exact,
    number_documents,
    system_of,
)

Way = Literal["bounds", "depth"]
DEFAULT = "ndcg@10"
FOUND = {"rank": pl.Int64, "n_systems": pl.Int64, "chosen": pl.Boolean}


def to_judge(irm: Plan, n: int | None, metric: str | Metric, *, baseline: Any, way: Way, max_grade: Any) -> Any:
    """Answer ``irm.to_judge``, which has the parameters."""
    check_choice("way", way, get_args(Way))
    if n is not None:
        check_whole("n", n, 1)
    if way == "depth" and (metric, baseline, max_grade) != (DEFAULT, None, None):
        raise BadValueError("way='depth' looks at ranks alone; leave metric=, baseline= and max_grade= out")
    asked: Asked = [] if way == "depth" else one_of(read([metric]))
    plan = irm.asking(irm.needs_of(asked) | RANKED if asked else Needs(query=True, order=True, judgment=False))
    max_grade = plain(max_grade)
    _check(asked, plan, baseline, max_grade)
    asked, columns = scaled(asked, max_grade), plan.columns
    by = columns.by if plan.judged is None else [name for name in columns.by if name in plan.judged.by]
    keys, result = (*by, *columns.query, str(columns.doc)), ({"moves": pl.Float64} if asked else {}) | FOUND
    check_apart(keys, result)

    def compute(source: Source) -> Answer:
        log = source.log(single=True)
        check_grades(asked, log)
        table = _unjudged(log, asked)
        if asked:
            table = _moving(table, log, asked, baseline, max_grade)
        order = ["moved", "rank", "row"] if asked else ["rank", "n_systems", "row"]
        table = table.sort(order, descending=[bool(asked), not asked, False], nulls_last=True).head(n or len(table))
        grid, ranking = log.grid, table["ranking"].to_numpy()
        named = log.key_rows(segment=grid.segment[ranking], query=grid.query[ranking])
        named[str(columns.doc)] = log.rows(table["row"].to_numpy().astype(np.int64))
        return Answer({name: named[name] for name in keys}, {name: table[name].cast(result[name]) for name in result})

    return answer_of(plan, compute, lambda types: {key: types[key] for key in keys} | result)


def _check(asked: Asked, plan: Plan, baseline: Any, max_grade: Any) -> None:
    """Raise for columns or a metric of which it is not known what a judgment moves; nothing is read."""
    columns = plan.columns
    if columns.relevant:
        raise NotComputableError(f"{columns.relevant} lists all that is relevant, so that nothing is left to judge")
    if columns.doc is None:
        raise ColumnError("no column says which document a row is, and judgments are of documents; name doc=")
    if baseline is not None:
        check_baseline(asked, plan, baseline)
    check_asked(asked, plan)
    for name, metric in asked:
        check_open(asked, plan, max_grade)
        if not is_exact(metric, columns, plan.conventions):
            raise NotComputableError(
                f"{name}: what one judgment moves is not worked out; take {' or '.join(RATIOS)}, or what adds up, "
                "as precision@10 or dcg@10, or say way='depth' for what stands highest"
            )


def _unjudged(log: Log, asked: Asked) -> pl.DataFrame:
    """Return a row for each unjudged document of what a judgment belongs to, a segment and query or a query."""
    grid, n, names = log.grid, len(log.table), judging(log.table)
    ranking, rank = np.zeros(n, np.int64), np.full(n, np.nan)

    def work(block: Block) -> None:
        if asked:
            check_open_ties(block.rows, log)
        block = Block(log, block.at, alike=True)  # which document is where matters here, also among the unjudged
        run = block.ranking()
        every = np.arange(len(run.grade))
        rows = block.rows.frame_rows(grid.rankings, every)
        ranking[rows] = np.arange(len(grid.pair))[block.at][run.query_of(every)]
        seen = run.rows(every, rows)
        rank[seen.value] = seen.rank

    log.each_block(work)
    if asked and len(names) == 2:  # a metric of gains reads grades, another one labels
        names = names[:1] if asked[0][1].graded else names[1:]
    judged = np.zeros(n, bool)
    for name in names:
        judged |= ~np.isnan(to_array(log.table[name]))
    table = pl.DataFrame(
        {
            "of": codes(log.table, _keys(log))[0],
            "document": number_documents(log),
            "row": np.arange(n),
            "ranking": ranking,
            "rank": pl.Series(rank, nan_to_null=True),
            "system": grid.system[ranking],
        }
    )
    seen = pl.col("system").filter(pl.col("rank").is_not_null()).n_unique().alias("n_systems")
    each = table.filter(~judged).group_by("of", "document", maintain_order=True)
    found = each.agg(pl.col("row", "ranking").first(), pl.min("rank"), seen).with_columns(chosen=pl.lit(True))
    return found if asked else found.drop_nulls("rank")


def _keys(log: Log) -> list[str]:
    """Owner of a judgment of a document: a query, and its segment where judgments say it."""
    _, by, query = log.columns.key_names
    return [*by, *query] if log.judged is None else log.judged.keys


def _moving(table: pl.DataFrame, log: Log, asked: Asked, baseline: Any, max_grade: float | None) -> pl.DataFrame:
    """Return the documents that move a metric, or its difference from a baseline, with how much they move its mean."""
    grid, measured, keys = log.grid, each_ranking(log, []), _keys(log)
    base = None if baseline is None else system_of(log, baseline)
    weight = measured.evaluated * (1.0 if measured.weight is None else measured.weight)
    compared = max(len(grid.system_row), 1) - (base is not None)  # systems, as often as which each query has a weight
    total = np.bincount(grid.segment, weight, len(grid.segment_row)) * compared / max(len(grid.system_row), 1)
    names = log.table[keys][codes(log.table, keys)[1]].with_row_index("of")
    group = log.joined(names, keys)["of"].cast(pl.Int64).fill_null(NONE).to_numpy()
    share = np.where(group == NONE, 0, np.nan_to_num(ratio(weight, total[grid.segment])))
    n, others, found = len(log.table), np.zeros(len(share)), [(np.zeros(0, np.int64), np.zeros(0))]

    def take(one: Shared) -> None:
        item, (moved, rest) = one.weights.query, one.narrowed()
        others[one.at] = rest * share[one.at]
        found.append((group[one.at][item] * n + one.doc, (moved - rest[item]) * share[one.at][item]))

    each_shared(log, asked, max_grade, base, take)
    number = table["of"].to_numpy() * n + table["document"].to_numpy()
    each, moved = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(number)
    alone = np.bincount(order[np.searchsorted(number, each, sorter=order)], moved, len(number))
    moves = alone + np.bincount(np.maximum(group, 0), others, len(names))[table["of"].to_numpy()]
    # Equal ones are equal, though sums are rounded.
    table = table.with_columns(pl.Series("moves", moves, pl.Float64)).with_columns(
        moved=pl.col("moves").round_sig_figs(10)
    )
    return table.filter(pl.col("moves") > CLOSE * pl.max("moves"))
