"""Checks of an audit, each one function, and the one pass over a log that checks of rankings share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from string import Formatter
from types import MappingProxyType
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np

from frame_metrics.data.facts import Facts
from frame_metrics.data.log import Log
from frame_metrics.data.sorting import SortedView
from frame_metrics.inputs import Array, FullRanking
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE, mark_codes
from frame_metrics.inputs.scores import FullScores, sorted_levels
from frame_metrics.keys.groups import CellGroups, as_text
from frame_metrics.keys.index import Index
from frame_metrics.metrics.docstrings import docstring
from frame_metrics.roles.columns import Columns

CheckFunction = Callable[[Any], Any]
TOP_RANKS = 10  # the cutoff of checks of the first results
RARE_SHARE = 0.1  # if the share of relevant rows is below this, or above 1 minus this, accuracy says little
SURE = 3.0  # a difference from chance of more standard errors is not chance
POOR = 0.5  # recall below this is poor


NO_ROWS = "the frame has no rows"


class Writer(Formatter):
    """Texts with their figures; a space stands before the sign of percent, as everywhere in words."""

    def format_field(self, value: Any, spec: str) -> str:
        text = str(super().format_field(value, spec))
        return f"{text[:-1]} %" if spec.endswith("%") else text


WRITER = Writer()


class Seen(NamedTuple):
    """The result of a check: the number of cases it found, the number it looked at, and the first case found.

    The number it looked at is None if the cases are not a share of anything.
    """

    n: int
    of: int | None = None
    example: str | None = None
    words: Mapping[str, Any] = MappingProxyType({})  # words about the first case, for the message
    at: int = NONE  # the row of the frame where the first case begins; it says which piece has the first of all


def seen_in(
    segments: CellGroups, marked: Array, looked_at: Array, values: Mapping[str, Array] = MappingProxyType({})
) -> Seen:
    """Count the marked segments.

    Parameters
    ----------
    marked, looked_at : a mark for each segment: found by the check, and looked at, shape (segments,).
    values : numbers of each segment by name; those of the first marked segment become words of the message.
    """
    at = np.flatnonzero(marked & looked_at)
    if not len(at):
        return Seen(0, int(looked_at.sum()))
    words = {name: float(value[at[0]]) for name, value in values.items()}
    return Seen(len(at), int(looked_at.sum()), segments.text(int(at[0])), words)


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
        """The number found over the number looked at; None if there is no such number."""
        return self.n / self.of if self.of else None


class Check(NamedTuple):
    """A function that looks for one problem or fact, the classes that it reads, and the arguments of its decorator."""

    name: str
    severity: str
    unit: str  # the things that are counted, in the plural, as "queries"
    message: str
    look: CheckFunction
    reads: tuple[type, ...]
    of: str
    only: CheckFunction | None
    rises: tuple[float, str] | None

    def run(self, subject: Any) -> Seen | None:
        """Run the check on a subject; None if the check does not read it, or finds nothing to look at."""
        if type(subject) not in self.reads:
            return subject.result(self) if isinstance(subject, Counted) else None
        seen: Seen | None = self.look(subject) if self.only is None or self.only(subject) else None
        return seen

    def finding(self, seen: Seen, words: Mapping[str, Any]) -> Finding:
        """Return a row of the audit. Its message is filled in only if something was found, or if it is a fact."""
        n, of, example, found, _ = seen
        message, severity = "", self.severity
        if self.rises is not None and of and n / of >= self.rises[0]:
            severity = self.rises[1]
        if n or self.severity == "fact":
            words = {**_amount(n, of), **words, **found}
            message, unit = WRITER.format(self.message, **words), self.unit.format(**words)
            if unit not in f"{self.name} {message}":
                message = f"{message} (n counts {unit})"
        return Finding(self.name, severity, n, of, example, message)


def _amount(n: int, of: int | None) -> dict[str, str]:
    """Return what a check found as words of its message."""
    share = 100 * n / (of or 1)
    words = {"n": f"{n:,}", "of": f"{of or 0:,}", "share": f"{share:.{3 if share >= 1 else 1}g} %"}
    return words | ({"are": "is", "have": "has"} if n == 1 else {"are": "are", "have": "have"})


def check(
    severity: str,
    unit: str,
    *,
    of: str = "every",
    only: CheckFunction | None = None,
    name: str = "",
    rises: tuple[float, str] | None = None,
) -> Callable[[CheckFunction], Check]:
    """Make a function a check.

    The function's docstring is the message; words in braces are filled in. The annotation of its parameter is the class
    that it reads, which decides what it returns:

    - ``RankedBlock``: how often the problem occurs in each ranking, shape (rankings,), bool or counts. The unit is
      counted from that (``in_unit``).
    - any other class: a ``Seen``, counted in the unit. Those of a ``Log`` are added up over pieces of whole queries.

    It returns None if there is nothing to look at.

    Parameters
    ----------
    severity : "error", "warning", "info" or "fact"; facts are reported whether or not anything is wrong.
    unit : the things that are counted, in the plural; words in braces are filled in as in the message.
    of : the amount of each ranking of a block that is the whole of the share (``AMOUNTS``). Rankings in which it is 0
        are not looked at.
    only : a function that says if a subject can have the problem at all; of a log in pieces it gets the whole log, and
        of a check of blocks what was ``Counted``. None: any subject can.
    name : the name of the check, if it is not that of the function.
    rises : the share from which on the severity is another one, and that severity.
    """

    def made(look: CheckFunction) -> Check:
        message, read = " ".join(docstring(look).split()), next(iter(get_type_hints(look).values()))
        reads = get_args(read) or (read,)
        return Check(name or look.__name__.replace("_", " "), severity, unit, message, look, reads, of, only, rises)

    return made


class About(NamedTuple):
    """A subject of checks, and the words to fill in the messages about it."""

    subject: Any
    words: Mapping[str, Any] = MappingProxyType({})


def cells_in_words(columns: Columns) -> dict[str, str]:
    """Return the words for the cells of an audit, the segments of each system, and for the classes in them.

    Without ``system`` and ``by`` there is one cell, and no word for it.
    """
    of = {"system": f"values of {columns.system}", "by": f"segments of {', '.join(columns.by)}"}
    named = [of[role] for role in of if getattr(columns, role)]
    return {"cells": " in ".join(named), "classes": " in ".join(["classes", *named])}


class Keys(NamedTuple):
    """The number of systems and the number of segments."""

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


@record
class RankedBlock:
    """A block of rankings: its sorted rows, and the ``FullRanking`` that kernels read."""

    log: Log
    view: SortedView
    run: FullRanking
    of_queries: dict[str, Array]  # numbers of each ranking's query, if known: "size", "n_relevant", "weight", "cluster"
    evaluated: Array  # whether each ranking counts, see ``Block.evaluated``
    answered: Array  # whether it has a row, see ``Log.answered``

    def neighbours(self, compare: Callable[[Array, Array], Array]) -> Array | None:
        """Count the results of each ranking whose score compares in a given way with the score above it.

        Parameters
        ----------
        compare : a function of the scores, and of the scores above them, that returns marks.
        """
        score = self.view.values.get("score") if "rank" in self.view.values else self.view.score
        if score is None:
            return None
        score = self.view.ordered(score)
        marked = np.zeros(len(score), bool)
        marked[1:] = compare(score[1:], score[:-1])
        marked[self.run.starts[self.run.starts < len(score)]] = False
        return self.run.count_of(marked, None)

    @cached_property
    def relevant_against_others(self) -> FullScores | None:
        """The scores of relevant results and of others; None without scores.

        The others are the results judged not relevant or, in a ranking without any, all that are not relevant.
        """
        if "score" not in self.view.values:
            return None
        run, score = self.run, self.view.ordered(self.view.values["score"]).astype(np.float64)
        there = ~np.isnan(score)
        judged = run.judged & there & ~run.good
        alone = run.count_of(judged, None, retrieved=False) == 0
        some = (judged | run.good | np.repeat(alone, run.lengths)) & there
        query = np.repeat(np.arange(run.n_queries), run.lengths)[some]
        return sorted_levels(query, score[some], run.good[some].astype(np.float64), np.ones(len(query)), run.n_queries)

    @property
    def pairs(self) -> Array:
        """The number of pairs of a relevant result and another one in each ranking; 0 without scores."""
        both = self.relevant_against_others
        return np.zeros(self.run.n_queries) if both is None else both.positives * both.negatives

    @property
    def twice_won(self) -> Array:
        """Twice the number of these pairs in which the relevant result has the higher score; equal scores count 1."""
        both = self.relevant_against_others
        area = np.zeros(self.run.n_queries) if both is None else np.nan_to_num(both.area)
        return np.rint(2 * area * self.pairs)

    def numbered(self) -> Array:
        """Return whether the scores that order each ranking are 1, 2, 3 ... in some order."""
        run, score = self.run, self.view.score
        if score is None or "rank" in self.view.values:
            return np.zeros(run.n_queries, bool)
        from_below = np.repeat(run.starts + run.n_ret, run.lengths) - np.arange(len(score))
        return run.count_of(self.view.ordered(score) != from_below, None) == 0


# What is counted in each ranking of a block, whatever checks look for.
AMOUNTS: dict[str, Callable[[RankedBlock], Array]] = {
    "every": lambda block: np.ones(block.run.n_queries),
    "evaluated": lambda block: block.evaluated,  # whether it counts: that of a judged query
    "unanswered": lambda block: block.run.evaluated & ~block.answered,  # whether its query is judged, and it has no row
    "judged": lambda block: block.run.n_judged,  # documents of its query that are judged
    "relevant": lambda block: block.run.n_relevant,  # and those that are relevant
    "results": lambda block: block.run.n_ret,  # documents that it retrieved
    "hits": lambda block: block.run.hits(),  # and those of them that are relevant
    "ranks": lambda block: block.run.total(block.run.rank),  # the sum of the ranks of these
    "pairs": lambda block: block.pairs,
    "twice_won": lambda block: block.twice_won,
    "numbered": RankedBlock.numbered,  # whether its scores are 1, 2, 3 ... in some order
    "results of evaluated": lambda block: np.where(block.evaluated, block.run.n_ret, 0),
    "top of evaluated": lambda block: np.where(block.evaluated, block.run.retrieved(TOP_RANKS), 0),
}


@record
class Counted:
    """A log, and what was counted in its rankings."""

    log: Facts  # the log, or the facts about its pieces
    index: Index  # the system, the segment and the query of each ranking
    # By name, shape (rankings,) each: ``AMOUNTS``; how often a ranking has what each check of blocks looks for; and
    # "size", the documents in the collection, "weight" and "cluster", of the query, where known.
    amounts: Mapping[str, Array]
    log_results: Mapping[Check, Seen]  # what checks of the log saw

    def __getitem__(self, name: str) -> Array:
        return self.amounts[name]

    @property
    def evaluated(self) -> Array:
        """True for rankings that are evaluated, shape (rankings,)."""
        return self["evaluated"] > 0

    def result(self, check: Check) -> Seen | None:
        """Return the result of a check of rankings, for all blocks, or of a check of the log; None for others."""
        if RankedBlock not in check.reads:
            seen = self.log_results.get(check)
            return seen if seen is None or check.only is None or check.only(self.log) else Seen(0, seen.of)
        if check.only is not None and not check.only(self):
            return None
        return seen_of(self.index, check.unit, self[check.name], self[check.of])

    def complement_of(self, check: Check) -> Seen | None:
        """Return the number of results that a check did not find, as the judged ones for a check of unjudged ones."""
        n, of = (in_unit(self.index, "results", self[name]) for name in (check.name, check.of))
        return Seen(of - n, of) if self.log.columns.rank or self.log.columns.score else None


def in_unit(index: Index, unit: str, values: Array) -> int:
    """Return a count in a unit, from the count of each ranking.

    Parameters
    ----------
    unit : "queries" counts the distinct queries with a ranking above 0. "documents" adds up over queries and segments
        the largest count of any system. All others, as "rankings", are sums.
    values : the count of each ranking, shape (rankings,).
    """
    if unit == "queries":
        return int(np.count_nonzero(mark_codes(index.query[values > 0], len(index.queries))))
    if unit == "documents":
        most = np.zeros(index.n_segment_queries, np.int64)
        np.maximum.at(most, index.segment_query, values)
        return int(most.sum())
    return int(values.sum(dtype=np.int64))


def seen_of(index: Index, unit: str, marked: Array, of: Array, words: Mapping[str, Any] = MappingProxyType({})) -> Seen:
    """Count in a unit what is marked, and the whole; the example is the first ranking with a mark.

    ``marked`` and ``of`` are the counts of each ranking, shape (rankings,).
    """
    some = np.flatnonzero(marked)
    example = name_of_ranking(index, int(some[0])) if len(some) else None
    return Seen(in_unit(index, unit, marked), in_unit(index, unit, of), example, words)


def name_of_ranking(index: Index, ranking: int, *, segment: bool = True) -> str:
    """Return the keys of a ranking as text; ``segment``: include those of its segment."""
    by = index.columns.internal_by_role[1]
    names = [name for name in index.columns.internal_keys if segment or name not in by]
    return as_text(index.keys_of(names, np.array([ranking])))
