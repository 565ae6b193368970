"""Checks of queries and their results: of each ranking."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import EXACT
from frame_metrics.verbs.audit.checks import TOP_RANKS, Counted, RankedBlock, Seen, check, seen_of


@check("warning", "queries")
def queries_without_judgments(block: RankedBlock) -> Array:
    """not evaluated: none of their documents is judged{in_a_segment}"""
    return ~block.run.evaluated


@check("warning", "queries", of="evaluated")
def queries_without_results(block: RankedBlock) -> Array:
    """evaluated as if nothing was found{in_a_ranking}"""
    return block.run.n_ret == 0


def _labelled_throughout(counts: Counted) -> bool:
    """Return True if every row has a label of its own and nothing else says what is relevant, as in a log of clicks."""
    columns, conventions = counts.log.columns, counts.log.conventions
    elsewhere = columns.grade or columns.relevant or columns.n_relevant
    if not columns.label or elsewhere or not counts.log.judged_in_rows or conventions.unjudged is not None:
        return False
    return not (counts["queries without judgments"].any() or counts["unjudged results"].any())


@check("warning", "queries", of="evaluated", only=lambda counts: not _labelled_throughout(counts))
def queries_without_relevant_documents(block: RankedBlock) -> Array:
    """metrics that divide by the number of relevant documents are undefined{in_a_ranking}; undefined= sets what they
    count as
    """
    return block.run.n_relevant == 0


@check("info", "queries", name="queries without relevant documents", only=_labelled_throughout)
def searches_without_a_relevant_row(counts: Counted) -> Seen:
    """all their rows have a label, and none is relevant{in_a_ranking}, as in searches without a click; undefined= sets
    what they count as, by default 0 in most metrics of rankings
    """
    return seen_of(counts.index, "queries", counts["queries without relevant documents"], counts["evaluated"])


@check("info", "queries", of="evaluated")
def queries_whose_documents_have_one_grade(block: RankedBlock) -> Array:
    """all results are judged, and all judged documents have the same grade{in_a_ranking}: ndcg is 1 in any order, or
    lower for what was not found, and tells no order from another
    """
    run, pool = block.run, block.run.pool
    query = np.repeat(np.arange(run.n_queries), run.lengths) if pool is None else pool.query
    grade = run.grade if pool is None else pool.grade
    gains, highest, lowest = grade > 0, np.zeros(run.n_queries), np.full(run.n_queries, np.inf)
    np.maximum.at(highest, query[gains], grade[gains])
    np.minimum.at(lowest, query[gains], grade[gains])
    alike = (highest == lowest) & (np.bincount(query[gains], minlength=run.n_queries) == run.n_judged)
    return alike & (run.n_ret > 1) & (run.count_of(run.judged, None) == run.n_ret)


@check("warning", "results", of="top of evaluated", name=f"unjudged in the top {TOP_RANKS}")
def unjudged_in_the_top(block: RankedBlock) -> Array:
    """results {unjudged}"""
    return block.run.retrieved(TOP_RANKS) - block.run.count_of(block.run.judged, TOP_RANKS)


@check("info", "results", of="results of evaluated")
def unjudged_results(block: RankedBlock) -> Array:
    """{unjudged}"""
    return block.run.n_ret - block.run.count_of(block.run.judged, None)


@check("warning", "rankings", of="evaluated", name=f"ties across rank {TOP_RANKS}")
def ties_across_the_top(block: RankedBlock) -> Array | None:
    """rankings whose results at ranks {top} and {below} have equal scores; {order}"""
    by_score = "score" in block.view.values and "rank" not in block.view.values
    return block.run.tied_at(TOP_RANKS) if by_score else None


@check("warning", "results", of="results", name="equal scores past 2**53")
def equal_scores_that_may_be_rounded(block: RankedBlock) -> Array | None:
    """results with the same score as the one above, so large that float64 rounds whole numbers: if the exact scores
    differ, name their order with rank=
    """
    return None if "rank" in block.view.values else block.neighbours(lambda s, above: (s == above) & (abs(s) >= EXACT))


@check("info", "rankings", of="evaluated")
def only_results_are_judged(block: RankedBlock) -> Array | None:
    """rankings in which only {found} are judged, so recall, ap and ndcg may be too high; judge() adds other
    judgments, and n_relevant the number of relevant documents
    """
    if block.log.conventions.collection_size is True:  # the results are all documents
        return None
    if "beyond" in block.of_queries and "n_relevant" not in block.of_queries:
        return ~block.of_queries["beyond"]
    if block.log.separate_judgments is not None or "n_relevant" in block.of_queries:
        return None
    return block.run.count_of(block.run.judged, None) == block.run.n_judged


def _is_read_as_sets(counts: Counted) -> bool:
    return bool(counts.log.columns.shape.likely_order)


@check("warning", "queries", of="evaluated", only=_is_read_as_sets)
def queries_read_as_sets(block: RankedBlock) -> Array:
    """no column is named that orders their results, so that the rows of a query are a set; {order_column} is called as
    a {order_role} is: pass {order_role}={order_column}, or {order_role}=None if they are a set
    """
    return block.run.n_ret > 1


@check("info", "rankings")
def ranks_with_gaps(block: RankedBlock) -> Array:
    """rankings with positions that the frame does not list; what was there counts as not relevant"""
    return block.run.has_gaps


@check("info", "rankings")
def ranks_that_begin_late(block: RankedBlock) -> Array:
    """rankings that do not list rank 1; what was there counts as not relevant"""
    return block.run.starts_late


@check("warning", "rankings")
def scores_out_of_rank_order(block: RankedBlock) -> Array | None:
    """the rank orders the results, but in these rankings a result has a higher score than the one above it: do rank and
    score belong together?
    """
    rises = block.neighbours(np.greater) if "rank" in block.view.values else None
    return None if rises is None else rises > 0


@check("warning", "results", of="hits")
def clipped_weights(block: RankedBlock) -> Array | None:
    """relevant results that weigh more than clip={log.conventions.clip:g} count with that weight; this biases values"""
    ratio, clip = block.run.ratio, block.run.clip
    return None if ratio is None or clip is None else block.run.count_of(block.run.good & (ratio > clip), None)


@check("warning", "rankings")
def constant_scores(block: RankedBlock) -> Array | None:
    """rankings whose results all have the same score; {order}"""
    level, n_ret = block.neighbours(np.equal), block.run.n_ret
    return None if level is None else (n_ret > 1) & (level == n_ret - 1)


@check("error", "queries", name="more relevant documents than n_relevant")
def more_relevant_documents_than_n_relevant(block: RankedBlock) -> Array | None:
    """more relevant documents are listed than {columns.n_relevant} says there are{in_a_ranking}; correct the column"""
    return block.run.listed_relevant > block.of_queries["n_relevant"] if "n_relevant" in block.of_queries else None


@check("error", "rankings", name="more documents than collection_size")
def more_documents_than_collection_size(block: RankedBlock) -> Array | None:
    """rankings with more retrieved or judged documents than collection_size= says there are: true negatives would be
    too few
    """
    return block.run.n_known > block.of_queries["size"] if "size" in block.of_queries else None


@check("error", "queries", of="evaluated")
def queries_without_a_weight(block: RankedBlock) -> Array | None:
    """judged queries without results have no {columns.weight}: add this column to the judgments too"""
    return np.isnan(block.of_queries["weight"]) if "weight" in block.of_queries else None


@check("error", "queries", of="evaluated")
def queries_without_a_cluster(block: RankedBlock) -> Array | None:
    """judged queries without results have no {columns.cluster}: add this column to the judgments too"""
    return np.isnan(block.of_queries["cluster"]) if "cluster" in block.of_queries else None


@check("error", "queries", of="evaluated")
def queries_without_a_collection_size(block: RankedBlock) -> Array | None:
    """judged queries without results have no {columns.collection_size}: add this column to the judgments too"""
    return np.isnan(block.of_queries["size"]) if "size" in block.of_queries else None
