"""Checks of an audit, each one function, and the one pass over a log that checks of rankings share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np

from frame_metrics.data.groups import Segments, as_text
from frame_metrics.data.log import Log
from frame_metrics.data.sorting import Sorted
from frame_metrics.inputs import Array, Ranking
from frame_metrics.inputs.rows import NONE
from frame_metrics.roles.columns import Columns

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
    """A function that looks for one thing, the classes that it reads, and the arguments of its decorator."""

    name: str
    severity: str
    unit: str  # what a count is of, which the name or the message says
    message: str
    look: Look
    reads: tuple[type, ...]
    of: str
    only: Look | None

    def seen(self, subject: Any) -> Seen | None:
        """Return what the check sees of a subject that it reads; None where there is nothing to look at."""
        if type(subject) not in self.reads:
            return subject.seen(self) if isinstance(subject, Counted) else None
        seen: Seen | None = self.look(subject) if self.only is None or self.only(subject) else None
        return seen

    def finding(self, seen: Seen, words: Mapping[str, Any]) -> Finding:
        """Return what was seen as a row of the audit; where it is nothing, no word of its message is known."""
        n, of, example, found, _ = seen
        message = ""
        if n or self.severity == "fact":
            words = {**words, **found}
            message, unit = self.message.format(**words), self.unit.format(**words)
            if unit not in f"{self.name} {message}":
                message = f"{message} (n counts {unit})"
        return Finding(self.name, self.severity, n, of, example, message)


def check(
    severity: str, unit: str, *, of: str = "every", only: Look | None = None, name: str = ""
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
    of : the amount of each ranking of a block that the share is of (``AMOUNTS``). Where it is 0, nothing is looked for.
    only : whether a subject, of what is counted in pieces the whole log, may have what is looked for; None: any may.
    name : the check's, where that of the function does not do.
    """

    def made(look: Look) -> Check:
        message, read = " ".join((look.__doc__ or "").split()), next(iter(get_type_hints(look).values()))
        reads = get_args(read) or (read,)
        return Check(name or look.__name__.replace("_", " "), severity, unit, message, look, reads, of, only)

    return made


class About(NamedTuple):
    """A subject of checks, and the words that messages about it leave open."""

    subject: Any
    words: Mapping[str, Any] = MappingProxyType({})


def cells_in_words(columns: Columns) -> dict[str, str]:
    """Return the words for segments of each system, and for classes in them; there is one where neither is named."""
    of = {"system": f"values of {columns.system}", "by": f"segments ({', '.join(columns.by)})"}
    named = [of[role] for role in of if getattr(columns, role)]
    return {"cells": " in ".join(named), "classes": " in ".join(["classes", *named])}


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
    of_queries: dict[str, Array]  # of each ranking's query, where it is said: "size", "n_relevant", "weight", "cluster"

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


# What is counted in each ranking of a block, whatever checks look for.
AMOUNTS: dict[str, Callable[[RankedBlock], Array]] = {
    "every": lambda block: np.ones(block.run.n_queries),
    "evaluated": lambda block: block.run.evaluated,  # whether it is: that of a judged query
    "judged": lambda block: block.run.n_judged,  # documents of its query that are judged
    "relevant": lambda block: block.run.n_relevant,  # and those that are relevant
    "results": lambda block: block.run.n_ret,  # documents that it retrieved
    "hits": lambda block: block.run.hits(),  # and those of them that are relevant
    "ranks": lambda block: block.run.total(block.run.rank),  # the sum of the ranks of these
    "numbered": RankedBlock.numbered,  # whether its scores are 1, 2, 3 ... in some order
    "results of evaluated": lambda block: np.where(block.run.evaluated, block.run.n_ret, 0),
    "top of evaluated": lambda block: np.where(block.run.evaluated, block.run.retrieved(TOP), 0),
}


@dataclass(frozen=True, eq=False)
class Counted:
    """A log, and what was counted in its rankings."""

    log: Log
    # By name, shape (rankings,) each: ``AMOUNTS``; how often a ranking has what each check of blocks looks for; and
    # "size", the documents in the collection, and "weight", of the query, where these are known.
    amounts: Mapping[str, Array]
    of_log: Mapping[Check, Seen]  # what checks of the log saw

    def __getitem__(self, name: str) -> Array:
        return self.amounts[name]

    @property
    def evaluated(self) -> Array:
        """True for rankings that are evaluated, shape (rankings,)."""
        return self["evaluated"] > 0

    def seen(self, check: Check) -> Seen | None:
        """Return what a check of blocks saw in all of them, or one of the log; None for others."""
        if RankedBlock not in check.reads:
            seen = self.of_log.get(check)
            return seen if seen is None or check.only is None or check.only(self.log) else Seen(0, seen.of)
        return seen_of(self.log, check.unit, self[check.name], self[check.of])

    def but_for(self, unjudged: Check) -> Seen | None:
        """Return how many results there are beside those that a check saw."""
        n, of = (in_unit(self.log, "results", self[name]) for name in (unjudged.name, unjudged.of))
        return Seen(of - n, of) if self.log.columns.rank or self.log.columns.score else None


def in_unit(log: Log, unit: str, values: Array) -> int:
    """Return how many of a unit there are, from those of each ranking, shape (rankings,).

    Queries are distinct, and counted where one ranking has any; rankings are those of each system and segment.
    Documents are those of a query in a segment: the same for each system, or of the one with most. All else is added
    up.
    """
    if unit == "queries":
        return len(np.unique(log.grid.query[values > 0]))
    if unit == "documents":
        most = np.zeros(log.grid.n_pairs, np.int64)
        np.maximum.at(most, log.grid.pair, values)
        return int(most.sum())
    return int(values.sum(dtype=np.int64))


def seen_of(log: Log, unit: str, marked: Array, of: Array, words: Mapping[str, Any] = MappingProxyType({})) -> Seen:
    """Return how many of a unit are marked, of how many, shape (rankings,) each, with the first such ranking."""
    some = np.flatnonzero(marked)
    example = name_of(log, int(some[0])) if len(some) else None
    return Seen(in_unit(log, unit, marked), in_unit(log, unit, of), example, words)


def name_of(log: Log, ranking: int, *, segment: bool = True) -> str:
    """Return the keys of a ranking as text, those of its segment only if asked for."""
    by = log.columns.key_names[1]
    names = [name for name in log.columns.inside if segment or name not in by]
    return as_text(log.keys_of(names, np.array([ranking])))
