"""The rows of each ranking, laid end to end, and the judged documents of its query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np
import polars as pl

from frame_metrics.errors import bad_rows
from frame_metrics.fast.blocks import each_block
from frame_metrics.fast.equal_rows import first_equal_rows
from frame_metrics.fast.take_rows import in_double, to_array
from frame_metrics.inputs import Array, Pool
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import as_grid, spans, sums_between


@record
class RankingRows:
    """The rows of all rankings, laid end to end, in the order in which the rankings first appear.

    A *place* is a position in ``row`` and in the arrays of ``values``. A *row* is a row number of the log's table,
    which ``Log.rows`` maps to rows of the caller's frame.
    """

    # Row of the log where each ranking first appears, shape (rankings,). For a query without results it is that of
    # ``Log.empty_queries``, whose rows are numbered after those of the table.
    first_row: Array
    starts: Array  # the first place of each ranking, shape (rankings,)
    lengths: Array  # number of rows of each ranking, shape (rankings,)
    row: Array | None  # row of the log at each place, shape (rows,); None where row and place are the same
    values: dict[str, Array]  # columns by name, a value for each place, shape (rows,) each; NaN is null
    # By the name of a column: the value that a ranking without rows has, NaN for rankings with rows, shape (rankings,).
    values_of_empty: dict[str, Array] = field(default_factory=dict)

    def rows_of(self, places: Array) -> Array:
        """Return the row of the log at each place."""
        return places if self.row is None else self.row[places]

    def places(self, block: slice | Array) -> slice | Array:
        """Return the places of the rows of some rankings, ranking by ranking; a slice for a slice."""
        lengths, starts = self.lengths[block], self.starts[block]
        if not isinstance(block, slice):
            return spans(starts, lengths)
        begin = int(starts[0]) if len(starts) else 0
        return slice(begin, begin + int(lengths.sum()))

    def with_empty_rankings(self, queries: pl.DataFrame, sort_key: Array) -> RankingRows:
        """Return these rankings and, for each row of ``queries``, a ranking without rows, ordered by ``sort_key``.

        Rankings with rows keep their order, and so their places.

        Parameters
        ----------
        queries : a row for each query without results.
        sort_key : a sort key of each row of the log, then of each row of ``queries``: its place in the caller's frame.
        """
        n_rows, n_rankings = len(sort_key) - len(queries), len(self.first_row)
        first = np.append(self.first_row, n_rows + np.arange(len(queries)))
        order = np.argsort(sort_key[first], kind="stable")
        lengths = np.append(self.lengths, np.zeros(len(queries), np.int64))[order]
        nothing = np.full(n_rankings, np.nan)
        columns = {
            name: np.append(nothing, to_array(queries[name]))[order] for name in self.values if name in queries.columns
        }
        return replace(
            self, first_row=first[order], starts=lengths.cumsum() - lengths, lengths=lengths, values_of_empty=columns
        )

    def count(self, rows: Array) -> Array:
        """Count rows of each ranking, shape (rankings,); ``rows``: True for those to count, one for each place."""
        return sums_between(rows, self.starts, self.starts + self.lengths)


@record
class Pools:
    """The judged documents of each ranking's query, laid end to end, with those that its system does not list.

    Rankings of one query share its documents, so that their starts are equal.
    """

    starts: Array  # where each ranking's documents begin in the arrays of documents, shape (rankings,)
    lengths: Array  # number of judged documents of each ranking, shape (rankings,)
    grade: Array  # of each document
    label: Array | None  # of each document; None where the grade decides what is relevant
    document: Array | None = None  # the index of each document in ``Subtopics``; None where there are no subtopics

    def of(self, block: slice | Array) -> Pool:
        """Return the judged documents of some rankings."""
        lengths = self.lengths[block]
        at = spans(self.starts[block], lengths)
        label, document = (None if values is None else values[at] for values in (self.label, self.document))
        return Pool(np.repeat(np.arange(len(lengths)), lengths), in_double(self.grade[at]), label, document)


def find_duplicates(rankings: RankingRows, table: pl.DataFrame, keys: Sequence[str]) -> Array:
    """Return the rows that repeat a document of their ranking, ascending.

    If ``rankings`` have the column "hash", as large logs do, documents are compared only in rankings where two hashes
    are equal.

    Parameters
    ----------
    rankings : the rows, laid out.
    table : the same rows, with the column "doc".
    keys : columns that identify a ranking.
    """
    if "hash" not in rankings.values:
        return np.flatnonzero(first_equal_rows(table, [*keys, "doc"]) != np.arange(len(table)))
    doc = table["doc"]
    again: list[Array] = []

    def work(block: slice | Array) -> None:
        lengths, starts = rankings.lengths[block], rankings.starts[block]
        # The grid has a row for each ranking: once it is sorted, equal hashes are neighbours. One bit of the hashes is
        # dropped, so that ``empty``, which fills up short rows, is no hash.
        hashes = rankings.values["hash"][rankings.places(block)] >> 1
        empty = np.iinfo(hashes.dtype).max
        grid = as_grid(hashes, lengths, empty)
        grid.sort(axis=1)
        equal = (grid[:, 1:] == grid[:, :-1]) & (grid[:, 1:] != empty)
        suspects = np.flatnonzero(equal.any(axis=1))
        if len(suspects):
            rows = rankings.rows_of(spans(starts[suspects], lengths[suspects]))
            seen = pl.DataFrame({"query": np.repeat(suspects, lengths[suspects]), "doc": doc.gather(rows)})
            again.append(rows[~seen.select(pl.struct("query", "doc").is_first_distinct()).to_series().to_numpy()])

    each_block(rankings.lengths, work)
    return np.sort(np.concatenate(again)) if again else np.zeros(0, np.int64)


def shared_value(values: Array, rankings: RankingRows, column: str) -> Array:
    """Return the value that all rows of a ranking share, shape (rankings,).

    NaN if the ranking has no rows, or if they are all NaN.

    Parameters
    ----------
    values : a value for each row, as laid out in ``rankings``.
    column : the caller's name of the column, for the error.

    Raises
    ------
    BadRowsError
        Rows of one ranking have different values.
    """
    first = np.full(len(rankings.lengths), np.nan)
    some = rankings.lengths > 0
    first[some] = values[rankings.starts[some]]
    at = spans(rankings.starts, rankings.lengths)
    differs = np.flatnonzero(values[at] != np.repeat(first, rankings.lengths))
    wrong = at[differs[~np.isnan(values[at[differs]])]]
    if len(wrong):
        rows = np.sort(rankings.rows_of(wrong))
        raise bad_rows(column, rows, len(values), "differ from another row of their query", "give each query one value")
    return first
