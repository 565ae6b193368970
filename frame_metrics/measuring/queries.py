"""Compute metrics for every ranking of a log, after checks that its grades suffice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.data.classes import check_fractional, none_reaches
from frame_metrics.data.facts import Facts
from frame_metrics.data.log import Block, Log
from frame_metrics.data.misread import n_unclear_grades
from frame_metrics.data.sorting import RankOrder
from frame_metrics.errors import BadValueError, NotComputableError, quote
from frame_metrics.inputs import Array, FullRanking, FullScores, Lists
from frame_metrics.inputs.expected import Expected
from frame_metrics.inputs.rows import hash_of_text
from frame_metrics.measuring.lists import (
    Results,
    all_rows_as_results,
    depth_of_lists,
    join_results,
    results_of,
    with_document_numbers,
)
from frame_metrics.measuring.values import Summed, Values, first_of_same_counts, summed_in_cells, with_sums
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.columns import judgment_columns_in
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import refuse
from frame_metrics.stats.averages import Averages

ROLES_OF_QUERIES = ("weight", "cluster", "covariate")  # roles whose values ``Values`` has for each ranking


def of_probabilities(asked: Asked) -> str | None:
    """Return the name of the first metric that reads scores as probabilities; None if none does."""
    return next((name for name, metric in asked if "probability" in metric.reads), None)


def check_probability(name: str, score: pl.Series, column: str) -> None:
    """Raise for scores that are not probabilities."""
    refuse(column, score.is_null(), "have no score", f"{name} needs one for every row")
    refuse(column, (score < 0) | (score > 1), "are not between 0 and 1", f"{name} needs probabilities")


def check_grades(asked: Asked, log: Facts, *, some: bool = False) -> None:
    """Raise for a metric that the grades of a log do not determine.

    ``some``: whether the log has only some of the grades, so that counts in errors say "at least".
    """
    grade, out_of_reach_rels = log.judgment_name, set[float]()
    if judgment_columns_in(log.judgments) == ["grade"]:
        # The values of ``rel`` that no grade reaches, although some grade is positive.
        rels = {log.conventions.variant(metric)[0] for _, metric in asked if "relevant" in metric.reads}
        out_of_reach_rels = {rel for rel in rels if none_reaches(log.judgments["grade"], rel)}
    n_unclear = n_unclear_grades(log) if any(_reads_rel_of_call(metric) for _, metric in asked) else 0
    for name, metric in asked:
        if lacks_scale(metric):
            largest = "" if np.isnan(log.top_grade) else f"; the largest grade in {grade} is {_top_grade(log)}"
            if (highest := log.conventions.highest_grade) is not None:
                largest = f": {highest:g}"
            most = float(log.top_grade if highest is None else highest)
            most = int(most) if most.is_integer() else most
            way = f"; if {most:g} is the highest, ask for '{metric(max_grade=most)}'" if most > 0 else ""
            raise NotComputableError(f"{name} needs max_grade=, the highest grade of the scale{largest}{way}")
        top = metric.params.get("max_grade")
        if top is not None and log.top_grade > top:
            raise BadValueError(f"{name}: max_grade={top:g}, but the largest grade in {grade} is {_top_grade(log)}")
        if "relevant" in metric.reads and (rel := log.conventions.variant(metric)[0]) in out_of_reach_rels:
            raise NotComputableError(f"{name}: {log.conventions.unreached_text(grade, rel, log.top_grade)}")
        if n_unclear and _reads_rel_of_call(metric):
            check_fractional(n_unclear, grade, name, some=some)
        if "group=" in metric.columns and hash_of_text(metric.params["of"]) not in log.document_groups:
            raise BadValueError(f"{name}: no document belongs to {quote(metric.params['of'])} in {log.columns.group}")
    if log.columns.n_relevant:
        check_ideal(asked, log)


def _reads_rel_of_call(metric: Metric) -> bool:
    """Return True for a metric that reads relevance by the call's ``rel=``: it has no ``rel`` of its own."""
    return "relevant" in metric.reads and "rel" not in metric.params


def _top_grade(log: Facts) -> str:
    """Return the largest grade as errors show it."""
    return log.conventions.in_words(log.top_grade)


def lacks_scale(metric: Metric) -> bool:
    """Return True for a metric that needs ``max_grade=`` and does not have it."""
    return "max_grade" in metric.reads and metric.params.get("max_grade") is None


def check_ideal(asked: Asked, log: Facts) -> None:
    """Raise for a metric of the ideal ranking if ``n_relevant=`` only counts relevant documents.

    No error if all relevant documents must have grade 1: the log has no other positive grade, and ``rel`` is at most 1.
    """
    for name, metric in asked:
        counted = log.columns.n_relevant and "ideal" in metric.reads
        if counted and (log.graded or not 0 < log.conventions.rel <= 1):
            raise NotComputableError(
                f"{name} needs the grades of all relevant documents, and {log.columns.n_relevant} only counts them; "
                "list them, or pass n_relevant=None to take the ideal from the listed rows"
            )


def check_n_relevant(run: FullRanking, rel: float, log: Log) -> None:
    """Raise for a ranking that lists more relevant documents than ``n_relevant=`` counts."""
    is_counted = run.n_relevant_given is not None and rel == log.conventions.rel  # the column counts by this ``rel``
    if is_counted and (run.listed_relevant > run.n_relevant).any():
        column = log.columns.n_relevant
        raise BadValueError(f"{column}: a query lists more relevant documents than it is said to have")


def measure(log: Log, asked: Asked, averages: Averages = (None,), *, sums: bool = False) -> Values:
    """Check that the grades determine the metrics, and compute them for every ranking of a log.

    ``sums``: as for ``measure_rankings``.
    """
    check_grades(asked, log)
    found = measure_rankings(log, asked, averages, sums=sums)
    if found.list_results is None:
        return found
    # If the lists show most rows, numbering the documents of all rows is faster. But weighted counts are sums of
    # floats: they are added in the order of the lists, so that the order of the rows does not change the last digit.
    number_results_only = found.weight is not None or 2 * len(found.list_results.doc) < len(log.table)
    # If all rows are results of one cell, and metrics read only how many documents are different, hashes suffice.
    needs_numbers = any(metric.k or "often" in metric.reads for _, metric in asked if metric.input is Lists)
    hashes_suffice = len(found.list_results.doc) == len(log.table) < 2**32 and not (
        needs_numbers or number_results_only or log.columns.cell_keys
    )
    hashes = log.table.get_column("hash", default=None) if hashes_suffice else None
    docs, catalogue = log.table["doc"], log.conventions.catalogue
    results = with_document_numbers(
        found.list_results, docs, catalogue, only_results=number_results_only, hashes=hashes
    )
    return replace(found, list_results=results)


def measure_rankings(log: Log, asked: Asked, averages: Averages = (None,), *, sums: bool = False) -> Values:
    """Compute metrics for every ranking of a log or of a piece of one, block by block.

    ``sums``: whether of each block only the sums over the rankings of each cell are kept, see ``Summed``.
    """
    grid, columns = log.grid, log.columns
    evaluated, unanswered = np.zeros(len(grid.segment_query), bool), ~log.answered
    deep = depth_of_lists(asked)  # None without metrics of sets of lists
    listed: dict[int, Results] = {}
    by_variant = _by_variant(log, asked)
    reads = {fact for _, metric in asked for fact in metric.reads}
    if "tn" in reads:
        log.required_role_values("collection_size")  # raises if it is unknown for a query
    scored = "score" in reads or FullScores in [metric.input for _, metric in asked]
    if "probability" in reads and (name := of_probabilities(asked)):
        check_probability(name, log.table["score"], str(columns.score))
    cutoffs = sorted({metric.k for _, metric in asked if metric.k is not None})
    not_settled_by_tie_rule = [(name, metric) for name, metric in asked if not _tie_rule_settles(metric, log)]

    # If only sums are kept, each block has arrays of its own, and those of all rankings stay empty.
    conventions, n_allocated = log.conventions, 0 if sums else len(grid.segment_query)
    arrays = _arrays_of(asked, averages, conventions, n_allocated) | role_values(log)
    values = Values(log.index, asked, evaluated=evaluated, unanswered=unanswered, **arrays)
    summed: dict[int, Summed] = {}
    order = _order_of(log, asked, deep)
    ordered = order != "none"

    def work(block: Block) -> None:
        for name, metric in not_settled_by_tie_rule:
            check_ties(name, metric, block, log)
        whole = block.ranking(scored=scored, cutoffs=cutoffs)
        if deep is not None and ordered:
            listed[int(block.ranking_indices[0])] = results_of(block, whole, deep)
        # Whether a query is judged is read from the whole ranking: a condensed one leaves some judgments out.
        evaluated[block.rankings] = block.evaluated(whole)
        unanswered[block.rankings] &= whole.evaluated
        into, at = values, block.rankings
        if sums:
            of_block = _arrays_of(asked, averages, conventions, len(block.ranking_indices))
            into, at = values.for_block(at, of_block), slice(None)
        for (rel, condensed), wanted in by_variant.items():
            run = whole.variant(rel, condensed)
            if columns.n_relevant:
                check_n_relevant(run, rel, log)
            _fill(into, wanted, run, block, at)
        if sums:
            summed[int(block.ranking_indices[0])] = summed_in_cells(into, averages, block.ranking_indices)

    log.for_each_sorted_block(work, more_for_relevant=True, order=order)
    if sums:
        return with_sums(values, [summed[at] for at in sorted(summed)])
    if deep is None:
        return values
    results = join_results([listed[at] for at in sorted(listed)]) if ordered else all_rows_as_results(log)
    return replace(values, list_results=results)


def _order_of(log: Log, asked: Asked, deep: int | None) -> RankOrder:
    """Return the order of results that metrics need; ``deep``: see ``depth_of_lists``.

    Metrics of sets of whole lists need no order. But the order of ranks is needed if some results are not retrieved, or
    ranks have gaps; if weights are added up in that order; and for errors that name documents not in the catalogue.
    """
    ordered = any(metric.input is not Lists or metric.k for _, metric in asked) or log.sorter.has_nulls
    if not (ordered or log.columns.rank or log.columns.weight or isinstance(log.conventions.catalogue, pl.Series)):
        return "none"
    return "judgments" if deep is None else "documents"


def role_values(log: Log) -> dict[str, Any]:
    """Return the fields of ``Values`` that depend on roles: weights, clusters ... of the queries, and some facts."""
    columns, fields = log.columns, dict[str, Any]()
    for role in ROLES_OF_QUERIES:
        if role in columns.by_role:
            fields[role] = log.required_role_values(role)
    if columns.team:
        fields["with_results"] = log.with_results
    if (columns.arm or columns.team) and log.judged_in_rows:
        fields["has_nonpositive"] = log.has_nonpositive
    if log.separate_judgments is not None and "sampling" in log.separate_judgments.queries.columns:
        fields["sampling"] = log.judgment_role_values("sampling")
    return fields


def _arrays_of(asked: Asked, averages: Averages, conventions: Conventions, n: int) -> dict[str, Any]:
    """Allocate the arrays for ``n`` rankings, by field of ``Values``: values, and what averages need besides these."""
    arrays: dict[str, Any] = {"value": np.full((len(asked), n), np.nan)}
    if conventions.propensity is not None:
        arrays["weights"] = {i: np.empty((2, n)) for i in range(len(asked))}
    averages_of_each = [(i, metric, (*averages, metric.average)) for i, (_, metric) in enumerate(asked)]
    if any("micro" in names or "rows" in names for *_, names in averages_of_each):
        first = first_of_same_counts(asked, conventions)
        n_counts = {
            first[i]: metric.pooled_sums
            for i, metric, names in averages_of_each
            if "micro" in names and metric.pooled_sums
        }
        arrays["counts"] = {i: np.empty((many, n)) for i, many in n_counts.items()}
        by_rows = dict.fromkeys(first[i] for i, _, names in averages_of_each if "rows" in names)
        arrays["n_rows"] = {i: np.empty(n) for i in by_rows}
    return arrays


def _by_variant(log: Log, asked: Asked) -> dict[tuple[float, bool], list[int]]:
    """Group metrics by the variant of rankings that they read: the value of ``rel``, and whether it is condensed."""
    of: dict[tuple[float, bool], list[int]] = {}
    for i, (_, metric) in enumerate(asked):
        if metric.input is Lists:  # they have no value for a single ranking
            continue
        of.setdefault(log.conventions.variant(metric), []).append(i)
    return of


def _fill(values: Values, wanted: Sequence[int], variant: FullRanking, block: Block, at: slice | Array) -> None:
    """Compute the metrics ``wanted`` for a block's rankings, in the variant that they read; store them at ``at``."""
    run = variant
    over_ties = variant if variant.tie is None else Expected(variant, variant.tie)
    for i in wanted:
        metric = values.asked[i][1]
        if i in values.weights:  # with propensity= every metric has its own weights
            over_ties = run = metric.weighted(variant)
            values.weights[i][:, at] = run.effective(metric.k, off_policy=metric.off_policy)
        # With ties="expected" the ranking itself is faster where no ties matter. Tied rows with equal judgments may
        # still differ in columns that a metric reads; what is pooled counts judgments only.
        values.value[i, at] = metric.compute(over_ties if block.view.judgments_differ or metric.columns else run)
        if i in values.counts:
            values.counts[i][:, at] = metric.pools(over_ties if block.view.judgments_differ else run)
        if i in values.n_rows:
            values.n_rows[i][at] = run.n_rows


def _tie_rule_settles(metric: Metric, log: Log) -> bool:
    """Return True if the tie rule gives the metric one right value for equal scores, see ``Metric.orders``.

    With weighted results (propensity=) only ``ties="doc"`` and "order" do.
    """
    ties, weighted = log.conventions.ties, log.conventions.propensity is not None
    return metric.orders(ties) and not (weighted and ties in ("worst", "best", "expected"))


def _extras_read(metric: Metric) -> str:
    """Return the words for what a metric reads of rows besides judgments, for errors."""
    if metric.of_subtopics:
        return "subtopics"
    if not metric.judges:
        return "popularities, or groups"
    return f"values of run.column({metric.columns[0]!r})" if metric.columns else "propensities"


def check_ties(name: str, metric: Metric, block: Block, log: Log) -> None:
    """Raise for a metric that the tie rule does not settle, if tied rows differ in something that it reads."""
    ties, rows = log.conventions.ties, block.view
    reads_extras = metric.columns or log.conventions.propensity is not None or metric.of_subtopics
    if _tie_rule_settles(metric, log) or not (rows.judgments_differ or (rows.extras_differ and reads_extras)):
        return
    lacking = "has no closed form for" if ties == "expected" else "is not bounded by"
    read = "judgments" if rows.judgments_differ else _extras_read(metric)
    order = "" if log.columns.doc else "name doc= to order equal scores by document, or "
    raise NotComputableError(
        f"{name} {lacking} ties={ties!r}, and rows with equal scores have different {read}; "
        f"{order}pass ties='order' to take the frame's order"
    )
