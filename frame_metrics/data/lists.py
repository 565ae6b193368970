"""The documents of rankings in rank order, as numbers, so that rankings can be compared with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from frame_metrics.data.blocks import numbers
from frame_metrics.data.judgments import kind_of_ids, wider
from frame_metrics.data.log import Block, Log
from frame_metrics.errors import BadValueError
from frame_metrics.inputs import Array, TwoRankings
from frame_metrics.inputs.rows import spans


@dataclass(frozen=True, eq=False)
class Lists:
    """The documents that each ranking retrieved, in rank order; the last ranking, number -1, has none."""

    starts: Array  # where each ranking's documents begin below, shape (rankings + 1,)
    lengths: Array  # how many there are, shape (rankings + 1,)
    doc: Array  # the number of each document, equal for equal ids, shape (rows,)
    first: Array | None  # the first place of each document's tie, shape (rows,); None where there are no ties

    def pairs(self, one: Array, other: Array) -> TwoRankings:
        """Find the documents that two rankings have in common, for each pair of numbers of rankings."""
        (own, theirs), n = (self._rows(ranking) for ranking in (one, other)), int(self.doc.max(initial=0)) + 1
        keys = [query * n + self.doc[at] for query, at, _ in (own, theirs)]
        order = np.argsort(keys[1])
        held = np.append(keys[1][order], -1)  # which is no document's
        at = np.searchsorted(held[:-1], keys[0])
        here = np.flatnonzero(held[at] == keys[0])
        there = order[at[here]]
        place = np.array([own[2][here], theirs[2][there]])
        lengths, query = np.array([self.lengths[one], self.lengths[other]]), own[0][here]
        if self.first is None:
            return TwoRankings(lengths, query, place, place, place)
        ends = [self._ties(query, at, place) for query, at, place in (own, theirs)]
        first, last = (
            np.array([side[rows] for side, rows in zip(sides, (here, there), strict=True)])
            for sides in zip(*ends, strict=True)
        )
        return TwoRankings(lengths, query, place, first, last, (ends[0][0], ends[1][0]))

    def _rows(self, rankings: Array) -> tuple[Array, Array, Array]:
        """The documents of some rankings: which of these each is of, where it stands below, and its place from 1."""
        lengths = self.lengths[rankings]
        at = spans(self.starts[rankings], lengths)
        return np.repeat(np.arange(len(rankings)), lengths), at, at - np.repeat(self.starts[rankings], lengths) + 1

    def _ties(self, query: Array, at: Array, place: Array) -> tuple[Array, Array]:
        """The first and the last place of the tie of each document."""
        first = np.zeros(0, np.int64) if self.first is None else self.first[at]
        tie = np.arange(len(at)) - (place - first)  # where it begins
        return first, first + np.bincount(tie)[tie] - 1 if len(tie) else first


def lists_of(*logs: Log) -> Lists:
    """Return the rankings of a log, and behind them those of others; equal scores stand as their rule says."""
    each, tied = zip(*(_ranked(log, doc) for log, doc in zip(logs, _documents(logs), strict=True)), strict=True)
    begins = np.cumsum([0, *(len(one.doc) for one in each[:-1])])
    starts = [one.starts + begin for one, begin in zip(each, begins, strict=True)]
    return Lists(
        np.concatenate([*starts, [0]]),
        np.concatenate([*(one.lengths for one in each), [0]]),
        np.concatenate([one.doc for one in each]),
        np.concatenate([one.first for one in each]) if any(tied) else None,
    )


def _documents(logs: Sequence[Log]) -> list[Array]:
    """The number of the document of each row of each log."""
    columns, ids = [str(log.columns.doc) for log in logs], [log.table["doc"] for log in logs]
    for other, held in zip(columns[1:], ids[1:], strict=True):
        one, two = ids[0].dtype, held.dtype
        if len(ids[0]) and len(held) and kind_of_ids(one) != kind_of_ids(two):
            raise BadValueError(
                f"baseline: its {other} is {two}, and {columns[0]} of the frame is {one}; give both one type"
            )
        ids = [some.cast(wider(one, two)) for some in ids]
    return np.split(numbers(pl.concat(ids)).to_numpy(), np.cumsum([*map(len, ids)])[:-1])


def _ranked(log: Log, doc: Array) -> tuple[Lists, bool]:
    """The rankings of one log, by the number of the document of each of its rows, and whether any scores are equal."""
    rankings, expected = log.grid.rankings, log.conventions.ties == "expected"
    laid = doc if rankings.row is None else doc[rankings.row]
    listed, first, lengths = np.empty_like(laid), np.ones(len(laid), np.int64), np.zeros_like(rankings.lengths)
    tied: list[bool] = []

    def work(block: Block) -> None:
        sheet, at = block.rows, rankings.places(block.at)
        listed[at], lengths[block.at] = sheet.ordered(laid[at]), sheet.n_ret
        row = np.arange(len(listed[at]))
        if expected and (equal := sheet.equal_to_next()).any():
            tied.append(True)
            row[1:] = np.maximum.accumulate(np.where(equal, 0, row[1:]))
        first[at] = row - np.repeat(np.cumsum(sheet.lengths) - sheet.lengths, sheet.lengths) + 1

    log.each_block(work, alike=True)
    return Lists(rankings.starts, lengths, listed, first), bool(tied)
