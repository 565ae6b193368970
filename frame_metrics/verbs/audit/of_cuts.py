"""Checks of an audit: rankings that ``by=`` cuts into parts."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import begins_run, spans
from frame_metrics.keys.groups import as_text
from frame_metrics.roles.columns import Columns
from frame_metrics.verbs.audit.checks import Seen, check, name_of_ranking
from frame_metrics.verbs.audit.of_spelling import folded_segments

MOST_PARTS = 4  # parts of a search that a message shows
SHARE_OF_CUT_SEARCHES = 0.01  # the share of searches from which on their cuts are a warning


def _in_several(search: Array, segment: Array) -> Array:
    """Mark the rankings of searches in several segments; ``search``, ``segment``: their numbers, (rankings,) each."""
    least = np.full(int(search.max(initial=-1)) + 1, segment.max(initial=0))
    most = np.zeros_like(least)
    np.minimum.at(least, search, segment)
    np.maximum.at(most, search, segment)
    return least[search] < most[search]


@record
class Parts:
    """The rankings of searches that are in several segments, by search and then by their first ranks.

    Segments whose names differ in case or spaces only are one here: they cut a search by mistake.
    """

    at: Array  # the numbers of the rankings, shape (parts,)
    first: Array  # the first rank of each, shape (parts,)
    last: Array  # the last rank of each, shape (parts,)
    starts: Array  # the start of each search, and the end of the last, shape (searches + 1,)
    n_searches: int  # number of searches in the log, each of a system and a query

    @classmethod
    def of_log(cls, log: Log) -> Parts:
        """Find the parts; a search is what a system gave to a query."""
        grid, rankings = log.grid, log.grid.rankings
        rank = rankings.values["rank"]
        listed = np.flatnonzero(rankings.lengths > 0)
        search = grid.query[listed] * max(len(grid.system_row), 1) + grid.system[listed]
        of = len(np.unique(search))
        several = _in_several(search, folded_segments(log.index)[grid.segment[listed]])
        at, search = listed[several], search[several]
        ranks, lengths = rank[spans(rankings.starts[at], rankings.lengths[at])], rankings.lengths[at]
        begins = lengths.cumsum() - lengths
        if not len(at):
            return cls(at, ranks, ranks, np.zeros(1, np.int64), of)
        first, last = (ufunc.reduceat(ranks, begins) for ufunc in (np.fmin, np.fmax))
        known = np.flatnonzero(~np.isnan(first))  # of those that were retrieved
        order = known[np.lexsort((first[known], search[known]))]
        search = search[order]
        starts = np.append(np.flatnonzero(begins_run(search)), len(order))
        return cls(at[order], first[order], last[order], starts, of)

    @property
    def are_consecutive(self) -> Array:
        """True for searches of several parts that are whole runs of ranks, one after the other, shape (searches,)."""
        inside = np.ones(len(self.at), bool)
        inside[1:] = self.last[:-1] < self.first[1:]
        inside[self.starts[:-1]] = True
        return np.logical_and.reduceat(inside, self.starts[:-1]) & self._several if len(self.at) else np.zeros(0, bool)

    def interleaved(self, log: Log) -> Array:
        """Return True for searches whose parts share no rank and are no runs, shape (searches,)."""
        some = np.flatnonzero(self._several & ~self.are_consecutive)
        sizes = np.diff(self.starts)[some]
        at, rankings = self.at[spans(self.starts[:-1][some], sizes)], log.grid.rankings
        lengths = rankings.lengths[at]
        search = np.repeat(np.repeat(some, sizes), lengths)
        rank = rankings.values["rank"][spans(rankings.starts[at], lengths)]
        rows = pl.DataFrame({"search": search, "rank": rank}).filter(pl.col("rank").is_not_nan())
        each = rows.group_by("search").agg(pl.len(), ranks=pl.col("rank").n_unique())
        out = np.zeros(len(self.starts) - 1, bool)
        out[each.filter(pl.col("ranks") == pl.col("len"))["search"].to_numpy()] = True
        return out

    @property
    def _several(self) -> Array:
        return np.diff(self.starts) > 1

    def first_of(self, searches: Array) -> tuple[int, slice]:
        """Return the first ranking of the searches that are marked, and the parts of its search."""
        least = np.minimum.reduceat(self.at, self.starts[:-1])
        search = int(np.flatnonzero(searches)[np.argmin(least[searches])])
        return int(least[search]), slice(*self.starts[search : search + 2])


def _parts(log: Log) -> Parts | None:
    return Parts.of_log(log) if log.columns.by and log.columns.rank else None


@check("warning", "rankings")
def rankings_split_over_segments(log: Log) -> Seen | None:
    """each rank is in one segment only, so {by} describes documents and cuts a ranking into parts, which are measured
    with gaps. by= is for what describes queries: leave {by} out
    """
    if (parts := _parts(log)) is None:
        return None
    split = parts.interleaved(log)
    if not split.any():
        return Seen(0, parts.n_searches)
    first, _ = parts.first_of(split)
    return Seen(
        int(split.sum()), parts.n_searches, name_of_ranking(log.index, first, segment=False), at=_row(log, first)
    )


@check("info", "searches", rises=(SHARE_OF_CUT_SEARCHES, "warning"))
def searches_cut_by_segments(log: Log) -> Seen | None:
    """{n} of {of} searches ({share}) {are} cut by {by}, for example {said}; each part counts as a search. {whole}"""
    if (parts := _parts(log)) is None:
        return None
    cut = parts.are_consecutive
    if not cut.any() or parts.interleaved(log).sum() > cut.sum():  # then by= describes documents
        return Seen(0, parts.n_searches)
    first, these = parts.first_of(cut)
    name = name_of_ranking(log.index, first, segment=False)
    words = {"said": f"{name}: {_parts_text(parts, these, log)}"}
    return Seen(int(cut.sum()), parts.n_searches, name, words, _row(log, first))


def _row(log: Log, ranking: int) -> int:
    """Return the row of the frame at which a ranking begins."""
    return int(log.rows(log.grid.rankings.first_row[[ranking]])[0])


def _parts_text(parts: Parts, these: slice, log: Log) -> str:
    """Return the ranks and the segments of the parts of one search as text."""
    by = log.columns.internal_by_role[1]
    names = log.index.segments.values.select(by)[log.grid.segment[parts.at[these]]]
    word = "on" if all(kind.is_temporal() for kind in names.dtypes) else "in"
    ends = zip(parts.first[these].astype(int).tolist(), parts.last[these].astype(int).tolist(), strict=True)
    ranks = [f"{first} to {last}" if last > first else str(first) for first, last in ends]
    texts = [f"{rank_range} {word} {as_text(names, i)}" for i, rank_range in enumerate(ranks[:MOST_PARTS])]
    more = len(ranks) - MOST_PARTS
    return f"rank{'s' if ' to ' in ranks[0] else ''} {', '.join(texts)}{f', and {more} more parts' if more > 0 else ''}"


def kept_whole(columns: Columns, made: Collection[str]) -> str:
    """Return words for the ``by=`` that gives all results of a search the segment of the first one.

    ``made``: the columns that are made of expressions, whose names are those of other columns of the frame.
    """
    if not columns.by or not columns.query:
        return ""
    query = ", ".join(map(repr, columns.query))
    own = ["(the expression)" if name in made else f"pl.col({name!r})" for name in columns.by]
    each = [f"{name}.first().over({query})" for name in own]
    groups = query if len(columns.query) == 1 else f"[{query}]"
    pandas = "" if {*made} & {*columns.by} else f" (pandas: .groupby({groups})[{columns.by[0]!r}].transform('first'))"
    return f"by={each[0] if len(each) == 1 else '[' + ', '.join(each) + ']'} keeps them whole{pandas}"
