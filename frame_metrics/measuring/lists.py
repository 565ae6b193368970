"""The results of all lists, of which some metrics are together, and not list by list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from frame_metrics.data.blocks import codes, numbers
from frame_metrics.data.documents import in_type_of
from frame_metrics.data.log import Block, Log
from frame_metrics.errors import BadValueError, NotComputableError, listed
from frame_metrics.inputs import Array, Lists, Ranking
from frame_metrics.inputs.lists import ROOM
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import TEXTS

if TYPE_CHECKING:
    from frame_metrics.measuring.queries import Measured

DOCS, RANKS = "\0docs", "\0ranks"  # of each list of a piece
EVERY = 2**62  # a cutoff past all ranks


@dataclass(frozen=True, eq=False)
class Results:
    """The results of lists, each with its document."""

    ranking: Array  # the number of each result's list, shape (results,)
    rank: Array  # shape (results,)
    doc: pl.Series  # the document, of results in one block its row in the log
    catalogue: float | None = None  # documents that could be shown

    @cached_property
    def documents(self) -> tuple[Array, int]:
        """The number of each result's document, and what is above all of these, though not far above the results."""
        number = numbers(self.doc).to_numpy()
        if int(number.max(initial=0)) > 4 * len(number) + ROOM:
            number = codes(pl.DataFrame({"doc": number}), ["doc"])[0]
        return number, int(number.max(initial=-1)) + 1

    def at(self, some: Array) -> Results:
        """Return some of the results; which document each is stays known."""
        number, size = self.documents
        part = replace(self, ranking=self.ranking[some], rank=self.rank[some], doc=self.doc.head(0))
        vars(part)["documents"] = number[some], size
        return part

    def lists(self, metric: Metric, segment: Array, n: int, weight: Array | None = None) -> Lists:
        """Return what a metric reads.

        Parameters
        ----------
        segment : the number of each result's segment, -1 for none, shape (results,), or in draws (draws, results).
        n : number of segments.
        weight : of each list's query, shape (rankings,).
        """
        number, size = self.documents
        some = (segment >= 0) & (self.rank <= (metric.k or EVERY))
        at = some.nonzero()[-1]
        each = None if weight is None else weight[self.ranking[at]]
        return Lists.of_results(segment[some], number[at], each, (n, size), self.catalogue)

    def within(self, measured: Measured, metrics: Sequence[int], group: Array, n: int) -> list[Array]:
        """Return the values of metrics in groups of lists, how many lists they are of, and 0 for undefined ones.

        Parameters
        ----------
        group : the number of each list's group, -1 for none, shape (rankings,).

        Returns
        -------
        Shape (metrics, n) each.
        """
        there = np.bincount(self.ranking, minlength=len(group)) > 0
        counted = np.bincount(group[there & (group >= 0)], minlength=n)
        value = np.empty((len(metrics), n))
        for at, i in enumerate(metrics):
            name, metric = measured.asked[i]
            found = metric.compute(self.lists(metric, group[self.ranking], n, measured.weight))
            value[at] = measured.log.conventions.filled(name, metric, found, counted > 0)
        lacking = np.isnan(value) & (counted > 0)
        return [value, np.tile(counted, (len(metrics), 1)) - lacking, lacking]

    def in_lists(self, n: int) -> dict[str, pl.Series]:
        """Return documents and ranks as lists, one for each of ``n`` rankings."""
        doc = self.doc.cast(pl.String) if self.doc.dtype in TEXTS else self.doc
        rows = pl.DataFrame({"at": self.ranking, DOCS: doc, RANKS: pl.Series(self.rank, dtype=pl.Int64)})
        each = rows.group_by("at", maintain_order=True).agg(DOCS, RANKS)
        every = pl.DataFrame({"at": np.arange(n)}).join(each, on="at", how="left", maintain_order="left")
        return {name: every[name] for name in (DOCS, RANKS)}


def depth_of(asked: Asked) -> int | None:
    """Return the last rank that metrics of all lists together look at; None where no metric is such."""
    return max((metric.k or EVERY for _, metric in asked if metric.input is Lists), default=None)


def check_depth(asked: Asked) -> None:
    """Raise for whole lists of a frame that is larger than memory."""
    for name, metric in asked:
        if metric.input is Lists and metric.k is None:
            raise NotComputableError(
                f"{name} is of whole lists together, and this frame is read in pieces; say of how many results, as "
                f"{metric.name}@10, or read it into memory before"
            )


def results_of(block: Block, run: Ranking, deep: int) -> Results:
    """Return the results of a block, down to a rank; the documents by their rows in the log."""
    every = np.arange(len(run.grade))
    seen = run.rows(every, every)
    some = seen.rank <= deep
    ranking = np.arange(len(block.log.grid.pair))[block.at]
    row = block.rows.frame_rows(block.log.grid.rankings, seen.value[some])
    return Results(ranking[seen.query[some]], seen.rank[some], pl.Series(row))


def together(blocks: Sequence[Results], log: Log) -> Results:
    """Return the results of all blocks, with their documents."""
    if not blocks:
        none = np.zeros(0, np.int64)
        return of_catalogue(Results(none, none, log.table["doc"].head(0)), log.conventions)
    ranking, rank, row = (np.concatenate([getattr(one, name) for one in blocks]) for name in ("ranking", "rank", "doc"))
    return of_catalogue(Results(ranking, rank, log.table["doc"].gather(row)), log.conventions)


def from_lists(table: pl.DataFrame, conventions: Conventions) -> Results:
    """Return the results of all pieces, from their documents and ranks in lists."""
    rows = table.select(DOCS, RANKS).with_row_index("at").explode(DOCS, RANKS).drop_nulls()
    at, rank = (rows[name].to_numpy().astype(np.int64) for name in ("at", RANKS))
    return of_catalogue(Results(at, rank, rows[DOCS]), conventions)


def of_catalogue(results: Results, conventions: Conventions) -> Results:
    """Return results with the size of the catalogue; raise for documents that it has not."""
    said: Any = conventions.catalogue
    if said is None or isinstance(said, int | float):
        n = 0 if said is None else np.count_nonzero(np.bincount(results.documents[0]))
        if said is not None and n > said:
            raise BadValueError(f"catalogue={said:g} documents, and the lists show {n} different ones; say how many")
        found = replace(results, catalogue=said)
        vars(found).update(documents=results.documents)
        return found
    ids = in_type_of(said, results.doc, "catalogue", said.name).unique()
    own = results.doc.cast(ids.dtype).unique(maintain_order=True)
    strange = own.filter(~own.is_in(ids.implode()))
    if len(strange):
        raise BadValueError(
            f"catalogue=: {len(strange)} of {len(own)} documents that the lists show are not in it, as "
            f"{listed(strange.head(3).to_list())}; add them, or drop their rows"
        )
    return replace(results, catalogue=float(len(ids)))
