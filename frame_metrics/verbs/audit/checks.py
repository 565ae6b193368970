"""Checks of an audit, each one function, and the one pass over a log that checks of rankings share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import polars as pl

from frame_metrics.data.groups import Segments, as_text
from frame_metrics.data.log import Block, Log, rows_of_the_frame
from frame_metrics.data.sorting import Sorted
from frame_metrics.inputs import Array, Ranking
from frame_metrics.inputs.rows import NONE
from frame_metrics.roles.columns import Columns, judging

Look = Callable[[Any], Any]
TOP = 10  # the cutoff that is looked at
RARE = 0.1  # with less than this share, or more than the rest, accuracy says little
SURE = 3.0  # standard errors below chance that are no chance
POOR = 0.5  # recall below this is poor


class Seen(NamedTuple):
    """The number of things seen, the number looked at (None where there is no whole), and the first one seen."""

    n: int
    of: int | None = None
    example: str | None = None
    words: Mapping[str, Any] = MappingProxyType({})  # what the message says of the first one
    at: int = NONE  # the row of the frame that the first one begins at, by which those of pieces are told apart


def seen_in(
    segments: Segments, marked: Array, there: Array, values: Mapping[str, Array] = MappingProxyType({})
) -> Seen:
    """Return the marked segments, of those that are there, with the values of the first."""
    at = np.flatnonzero(marked & there)
    if not len(at):
        return Seen(0, int(there.sum()))
    words = {name: float(value[at[0]]) for name, value in values.items()}
    return Seen(len(at), int(there.sum()), segments.text(int(at[0])), words)


class Finding(NamedTuple):
    """One row of the audit."""

    check: str
    severity: str
    n: int
    of: int | None
    example: str | None
    message: str

    @property
    def share(self) -> float | None:
        """The share of those that have it; None where there is no whole."""
        return self.n / self.of if self.of else None


class Check(NamedTuple):
    """A function that looks for one thing, the class that it reads, and the arguments of its decorator."""

    name: str
    severity: str
    unit: str  # what a count is of, which the name or the message says
    message: str
    look: Look
    reads: type
    of: Look | None
    only: Look | None


CHECKS: list[Check] = []  # in the order of the audit's rows, within a severity


def check(
    severity: str, unit: str, *, of: Look | None = None, only: Look | None = None, name: str = ""
) -> Callable[[Look], Check]:
    """Make a function a check.

    Its docstring is the message, with words in braces that are filled in. The annotation of its parameter says what it
    reads: of a ``RankedBlock`` it returns how often each ranking has it, shape (rankings,), bool or counts, from which
    the unit is counted (``Counted.number``); of all else what it saw, in that unit. None: there is nothing to look at.
    What is seen of a ``Log`` is added up over pieces of whole queries.

    Parameters
    ----------
    severity : "error", "warning", "info" or "fact"; facts are told whether or not anything is wrong.
    unit : what a count is of, in the plural; words in braces are filled in as in the message.
    of : what the share is of, in each ranking of a block; None for 1. Where it is 0, there is nothing to find.
    only : whether a whole log has what is looked for; None where any may.
    name : the check's, where that of the function does not do.
    """

    def add(look: Look) -> Check:
        message = " ".join((look.__doc__ or "").split())
        reads = next(iter(get_type_hints(look).values()))
        CHECKS.append(Check(name or look.__name__.replace("_", " "), severity, unit, message, look, reads, of, only))
        return CHECKS[-1]

    return add


def run_checks(words: dict[str, Any], *subjects: Any, known: dict[Check, Seen] | None = None) -> Iterator[Finding]:
    """Give the findings of all checks that read one of the subjects, or that are known, those of nothing too.

    Messages leave ``words`` open, and those that the check fills in where there is something.
    """
    of_class = {type(subject): subject for subject in subjects}
    for one in CHECKS:
        seen: Seen | None = one.look(of_class[one.reads]) if one.reads in of_class else (known or {}).get(one)
        if seen is not None:
            n, of, example, own, _ = seen
            told = n or one.severity == "fact"
            yield Finding(one.name, one.severity, n, of, example, _message(one, {**words, **own}) if told else "")


def _message(one: Check, words: dict[str, Any]) -> str:
    """The message of a check, with the unit of its count behind it where neither the message nor the name says it."""
    message, unit = one.message.format(**words), one.unit.format(**words)
    return message if unit in f"{one.name} {message}" else f"{message} (n counts {unit})"


def cells_in_words(columns: Columns) -> dict[str, str]:
    """Return the words for segments of each system, and for classes in them; there is one where neither is named."""
    of = {"system": f"values of {columns.system}", "by": f"segments ({', '.join(columns.by)})"}
    told = [of[role] for role in of if getattr(columns, role)]
    return {"cells": " in ".join(told), "classes": " in ".join(["classes", *told])}


class Keys(NamedTuple):
    """The numbers of systems and of segments."""

    columns: Columns
    systems: int
    segments: int


@check("fact", "systems")
def systems(keys: Keys) -> Seen | None:
    """different values of {columns.system}"""
    return Seen(keys.systems) if keys.columns.system else None


@check("fact", "segments")
def segments(keys: Keys) -> Seen | None:
    """different values of {by}"""
    return Seen(keys.segments) if keys.columns.by else None


@dataclass(frozen=True, eq=False)
class RankedBlock:
    """A block of rankings, its rows as they were sorted, and as kernels read them."""

    log: Log
    rows: Sorted
    run: Ranking
    said: dict[str, Array]  # of each ranking's query, where it is said: "size", "n_relevant", "weight", "cluster"

    def evaluated(self) -> Array:
        """Return whether each ranking is evaluated: that of a judged query."""
        return self.run.evaluated

    def results(self) -> Array:
        """Return how many results each evaluated ranking has."""
        return np.where(self.evaluated(), self.run.n_ret, 0)

    def top(self) -> Array:
        """Return how many results each evaluated ranking has in the top."""
        return np.where(self.evaluated(), self.run.retrieved(TOP), 0)

    def neighbours(self, compare: Callable[[Array, Array], Array]) -> Array | None:
        """Return how many results of each ranking have a score that compares so with the one above them."""
        score = self.rows.cells.get("score") if "rank" in self.rows.cells else self.rows.score
        if score is None:
            return None
        score = self.rows.ordered(score)
        marked = np.zeros(len(score), bool)
        marked[1:] = compare(score[1:], score[:-1])
        marked[self.run.starts[self.run.starts < len(score)]] = False
        return self.run.count_of(marked, None)

    def numbered(self) -> Array:
        """Return whether the scores that order each ranking are 1, 2, 3 ... in some order."""
        run, score = self.run, self.rows.score
        if score is None or "rank" in self.rows.cells:
            return np.zeros(run.n_queries, bool)
        from_below = np.repeat(run.starts + run.n_ret, run.lengths) - np.arange(len(score))
        return run.count_of(self.rows.ordered(score) != from_below, None) == 0


@dataclass(frozen=True, eq=False)
class Counted:
    """A log, and what was counted in its rankings."""

    log: Log
    evaluated: Array  # whether each ranking is, shape (rankings,)
    judged: Array  # documents of each ranking's query that are judged, shape (rankings,)
    relevant: Array  # and those that are relevant
    results: Array  # documents that each ranking retrieved
    hits: Array  # and those of them that are relevant
    ranks: Array  # the sum of the ranks of these
    numbered: Array  # whether the scores of each ranking are 1, 2, 3 ... in some order
    size: Array | None  # documents in the collection, of each ranking's query; None where not known
    has: Array  # how often each ranking has what each check of blocks looks for, shape (checks, rankings)
    looked: Array  # what the shares are of, shape (WHOLES, rankings)
    of_log: Mapping[Check, Seen]  # what checks of the log saw

    def number(self, unit: str, values: Array) -> int:
        """Return how many of a unit there are, from those of each ranking, shape (rankings,).

        Queries are distinct, and counted where one ranking has any; rankings are those of each system and segment.
        Labels and documents are those of a query in a segment: the same for each system, or of the one with most.
        All else is added up.
        """
        if unit == "queries":
            return len(np.unique(self.log.grid.query[values > 0]))
        if unit in ("labels", "documents"):
            pair = self.log.grid.pair
            most = np.zeros(int(pair.max(initial=-1)) + 1, np.int64)
            np.maximum.at(most, pair, values)
            return int(most.sum())
        return int(values.sum(dtype=np.int64))

    @cached_property
    def seen(self) -> dict[Check, Seen]:
        """The findings of the checks of blocks, in all of them, and of those of the log."""
        seen = {}
        for one, has in zip(of_blocks(), self.has, strict=True):
            of, some = self.looked[wholes().index(one.of)], np.flatnonzero(has)
            example = name_of(self.log, int(some[0])) if len(some) else None
            seen[one] = Seen(self.number(one.unit, has), self.number(one.unit, of), example)
        for one, saw in self.of_log.items():
            seen[one] = saw if one.only is None or one.only(self.log) else Seen(0, saw.of)
        return seen

    def but_for(self, unjudged: Check) -> Seen | None:
        """Return how many results there are beside those that a check saw."""
        n, of, *_ = self.seen[unjudged]
        return Seen((of or 0) - n, of) if self.log.columns.rank or self.log.columns.score else None


def of_blocks() -> list[Check]:
    """Return the checks of rankings, which share one pass over a log."""
    return [one for one in CHECKS if one.reads is RankedBlock]


def wholes() -> list[Look | None]:
    """Return what the shares of these checks are of, each once."""
    return list(dict.fromkeys(one.of for one in of_blocks()))


def counted(log: Log) -> Counted:
    """Look at every ranking once.

    Raises
    ------
    BadRowsError
        Values are bad that show in rank order only, or beside others of their query; with the rows of the frame that
        the log was read from.
    """
    n, checks, shares = len(log.grid.pair), of_blocks(), wholes()
    judged, relevant, results, hits, ranks = np.zeros((5, n), np.int64)
    evaluated, numbered = np.zeros((2, n), bool)
    has, looked = np.zeros((len(checks), n), np.int32), np.zeros((len(shares), n), np.int32)

    def work(block: Block) -> None:
        at, rows = block.at, block.rows
        run = block.ranking(scored="score" in rows.cells and "rank" not in rows.cells)
        evaluated[at] = run.evaluated
        judged[at], relevant[at], results[at], hits[at] = run.n_judged, run.n_relevant, run.n_ret, run.hits()
        ranks[at] = run.total(run.rank)
        ranked = RankedBlock(log, rows, run, {role: values[at] for role, values in said.items() if values is not None})
        numbered[at] = ranked.numbered()
        for share, of in zip(looked, shares, strict=True):
            share[at] = 1 if of is None else of(ranked)
        for own, one in zip(has, checks, strict=True):
            marks = one.look(ranked)
            own[at] = 0 if marks is None else np.where(looked[shares.index(one.of)][at] > 0, marks, 0)

    with rows_of_the_frame(log):
        said = {"size": log.sizes(slice(None)), "n_relevant": log.known_relevant}
    said |= {role: log.said_of_queries(role) for role in ("weight", "cluster")} | {"beyond": _beyond(log)}
    log.each_block(work)
    amounts = (evaluated, judged, relevant, results, hits, ranks, numbered)
    return Counted(log, *amounts, said["size"], has, looked, seen_of(log))


def seen_of(log: Log) -> dict[Check, Seen]:
    """Return what checks of a log see."""
    seen = {one: one.look(log) for one in CHECKS if one.reads is Log}
    return {one: saw for one, saw in seen.items() if saw is not None}


def _beyond(log: Log) -> Array | None:
    """Mark rankings whose query has a judged document that no system retrieved; None unless they share judgments."""
    if not (log.judges_itself and log.columns.doc and log.columns.system):
        return None
    place = "rank" if log.columns.rank else "score"
    _, by, query = log.columns.key_names
    keys = [*by, *query]
    rows = log.table if place in log.table.columns else log.table.with_columns(pl.lit(1).alias(place))
    found = rows.filter(pl.col(place).is_not_null())
    judgment = judging(log.judgments)
    judged = log.judgments.filter(pl.any_horizontal(pl.col(judgment).cast(pl.Float64).fill_nan(None).is_not_null()))
    unfound = judged.join(found, on=[*keys, "doc"], how="anti", nulls_equal=True)
    beyond = log.joined(unfound.select(keys).unique().with_columns(beyond=pl.lit(True)), keys)["beyond"]
    return beyond.fill_null(False).to_numpy()


def name_of(log: Log, ranking: int) -> str:
    """Return the keys of a ranking as text."""
    grid, keys = log.grid, log.columns.key_names
    codes, rows = (grid.system, grid.segment, grid.query), (grid.system_row, grid.segment_row, grid.query_row)
    at = [row[code[[ranking]]] for code, row in zip(codes, rows, strict=True)]
    held = [log.keys_at(names, row) for names, row in zip(keys, at, strict=True) if names]
    return as_text(pl.concat(held, how="horizontal"))
