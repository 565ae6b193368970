"""The results of all lists together, for metrics of sets of lists, such as coverage and Gini."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from frame_metrics.data.log import Block, Log
from frame_metrics.errors import BadValueError, listed
from frame_metrics.fast.codes import codes, n_different, sparse_codes
from frame_metrics.hidden import DOCS, RANKS
from frame_metrics.inputs import Array, FullRanking, Lists, ratio
from frame_metrics.inputs.lists import MOST_CELLS
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import spans
from frame_metrics.keys.ids import in_common_type
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked

if TYPE_CHECKING:
    from frame_metrics.measuring.values import Values

EVERY = 2**62  # a cutoff past all ranks


@record
class Results:
    """The results of lists."""

    ranking: Array  # the number of each result's list, shape (results,)
    rank: Array  # shape (results,)
    # The row of each result in the log; after ``with_document_numbers`` the number of its document, shape (results,).
    doc: Array
    size: int = 0  # the largest number of a document, plus 1
    catalogue: float = np.nan  # how many documents could be shown; NaN if unknown
    n_distinct: int | None = None  # how many documents are different, if only that is needed; None if they are numbered

    def lists(self, metric: Metric, segment: Array, n: int, weight: Array | None) -> Lists:
        """Return the input of a metric: the results down to its cutoff, by segment.

        Parameters
        ----------
        segment : the number of each result's segment, -1 for none, shape (results,).
        n : number of segments.
        weight : of each list's query, shape (rankings,); None: all are equal.
        """
        if self.n_distinct is not None:
            return Lists(segment, self.doc, None, (1, 0), self.catalogue, np.array([self.n_distinct]))
        counts = (segment >= 0) & (self.rank <= (metric.k or EVERY))
        some = slice(None) if counts.all() else np.flatnonzero(counts)
        each = None if weight is None else weight[self.ranking[some]]
        return Lists(segment[some], self.doc[some], each, (n, self.size), self.catalogue)

    def within(self, values: Values, metrics: Sequence[int], group: Array, n: int) -> list[Array]:
        """Compute metrics in groups of lists.

        Parameters
        ----------
        values : the metrics that were asked for, and the weights of queries.
        metrics : the positions of metrics of sets of lists in ``values.asked``.
        group : the number of each list's group, -1 for none, shape (rankings,).
        n : number of groups.

        Returns
        -------
        The value, the number of lists that it rests on, 1 where it is undefined, and the effective number of lists,
        shape (metrics, n) each: the columns "value", "n", "n_undefined" and "n_effective" of averages. A metric of how
        often documents are shown weighs the lists; one of the documents that are shown at all does not.
        """
        counts = (np.bincount(self.ranking, minlength=len(group)) > 0) & (group >= 0)
        n_lists = np.bincount(group[counts], minlength=n)
        weight = np.ones(len(group)) if values.weight is None else values.weight
        sums, squares = (np.bincount(group[counts], weight[counts] ** power, n) for power in (1, 2))
        value, undefined, effective = np.empty((3, len(metrics), n))
        for at, i in enumerate(metrics):
            name, metric = values.asked[i]
            found = metric.compute(self.lists(metric, group[self.ranking], n, values.weight))
            undefined[at] = np.isnan(found) & (n_lists > 0)
            value[at] = values.conventions.filled(name, metric, found, n_lists > 0)
            effective[at] = ratio(sums**2, squares) if "often" in metric.reads else n_lists
        return [value, n_lists * ~np.isnan(value), undefined, np.where(np.isnan(value), 0, effective)]

    def in_lists(self, docs: pl.Series, n: int) -> dict[str, pl.Series]:
        """Return the documents and ranks of each of ``n`` rankings as list columns; ``docs``: ids of the log's rows."""
        rows = pl.DataFrame({"at": self.ranking, DOCS: docs.gather(self.doc), RANKS: self.rank.astype(np.int64)})
        each = rows.group_by("at", maintain_order=True).agg(DOCS, RANKS)
        every = pl.DataFrame({"at": np.arange(n)}).join(each, on="at", how="left", maintain_order="left")
        return {name: every[name] for name in (DOCS, RANKS)}


def depth_of_lists(asked: Asked) -> int | None:
    """Return the largest cutoff of metrics of sets of lists; None if no such metric is asked for."""
    return max((metric.k or EVERY for _, metric in asked if metric.input is Lists), default=None)


def results_of(block: Block, run: FullRanking, deep: int) -> Results:
    """Return the results of the rankings ``run`` of a block, down to the rank ``deep``."""
    many = run.retrieved(deep)
    row = spans(run.starts, many)
    rank = row - np.repeat(run.starts, many) + 1 if run.logged_rank is None else run.logged_rank[row]
    ranking = np.repeat(np.arange(len(block.log.grid.segment_query))[block.rankings], many)
    return Results(ranking, rank, block.view.log_rows(block.log.grid.rankings, row))


def all_rows_as_results(log: Log) -> Results:
    """Return all rows of a log as results, in any order; each has the rank 1, which is not used."""
    rankings = log.grid.rankings
    ranking = np.repeat(np.arange(len(rankings.lengths)), rankings.lengths)
    return Results(ranking, np.ones(len(ranking), np.int64), rankings.rows_of(np.arange(len(ranking))))


def join_results(blocks: Sequence[Results]) -> Results:
    """Join the results of blocks."""
    none = np.zeros(0, np.int64)
    parts = ([none, *(getattr(one, name) for one in blocks)] for name in ("ranking", "rank", "doc"))
    ranking, rank, doc = map(np.concatenate, parts)
    return Results(ranking, rank, doc)


def from_lists(table: pl.DataFrame, catalogue: Any) -> Results:
    """Return the results of all pieces from their list columns, which ``Results.in_lists`` made."""
    rows = table.select(DOCS, RANKS).with_row_index("at").explode(DOCS, RANKS).drop_nulls()
    at, rank = (rows[name].to_numpy().astype(np.int64) for name in ("at", RANKS))
    return with_document_numbers(Results(at, rank, np.arange(len(at))), rows[DOCS], catalogue)


def with_document_numbers(
    results: Results, docs: pl.Series, catalogue: Any, *, only_results: bool = True, hashes: pl.Series | None = None
) -> Results:
    """Return results with documents numbered, and with the size of the catalogue.

    Parameters
    ----------
    results : results whose ``doc`` is a row of the log.
    docs : the document ids of the log's rows.
    catalogue : the documents that could be shown, as a column or a number; None if unknown.
    only_results : whether only the documents of the results are numbered, in their order. Otherwise those of all rows
        are, which is faster if most rows are results.
    hashes : of ``docs``, if only the number of distinct documents is needed; None to number them.

    Raises
    ------
    BadValueError
        A document of the results is not in the catalogue, or there are more than it has.
    """
    numbered = docs.gather(results.doc) if only_results or isinstance(catalogue, pl.Series) else docs
    if hashes is not None:
        found = replace(results, n_distinct=n_different(docs, hashes))
    else:
        doc = sparse_codes(numbered).to_numpy() if only_results else sparse_codes(docs).to_numpy()[results.doc]
        # If results show few of the log's documents, number these anew, so that counts by number take little room.
        if doc.max(initial=0) > 4 * len(doc) + MOST_CELLS:
            doc = codes(pl.DataFrame({"doc": doc}), ["doc"])[0]
        found = replace(results, doc=doc, size=int(doc.max(initial=-1)) + 1)
    if catalogue is None:
        return found
    if isinstance(catalogue, pl.Series):
        called = f"{catalogue.name} of the log", f"{catalogue.name} of catalogue="
        in_lists, ids = (one.unique(maintain_order=True) for one in in_common_type(numbered, catalogue, *called))
        strange, catalogue = in_lists.filter(~in_lists.is_in(ids.implode())), len(ids)
        if len(strange):
            raise BadValueError(
                f"catalogue=: {len(strange)} of {len(in_lists)} documents that the lists show are not in it, as "
                f"{listed(strange.head(3).to_list())}; add them, or drop their rows"
            )
    elif (n := found.n_distinct or np.count_nonzero(np.bincount(found.doc))) > catalogue:
        raise BadValueError(
            f"catalogue={catalogue:g} documents, and the lists show {n} different ones; pass how many there are"
        )
    return replace(found, catalogue=float(catalogue))
