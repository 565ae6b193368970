"""Find the queries of a system that are judged, or that other systems have, under another spelling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from frame_metrics.inputs import Array
from frame_metrics.keys.groups import as_text
from frame_metrics.keys.index import Index
from frame_metrics.keys.spelling import in_quotes, plain_ids, spelling_codes
from frame_metrics.verbs.audit.checks import Seen


class OtherSpelling(NamedTuple):
    """Queries of a system that are those of the judgments, or of other systems, under another spelling."""

    n: int  # the number of these queries
    of: int  # and of all queries that the system has
    lost: int  # the number of queries that it lacks, as it writes them otherwise
    example: str  # the first of its queries, and the one that it is like

    @property
    def way(self) -> str:
        """The way out; a query that the log writes in several ways can only be judged in each of them."""
        if self.n > self.lost:
            return "the log writes some in several ways, so copy the judgments to each spelling"
        return "write ids alike first"


def written_otherwise(index: Index, judged: Array | None) -> dict[int, OtherSpelling]:
    """Return the queries that a system writes otherwise, by the system's number; only systems that have some.

    A query is like another one if both are equal as ``plain_ids``, without case, spaces and some zeros, and if that is
    clear: no two judged queries, or, without judgments beside the log, no two queries of one system are so equal.

    Parameters
    ----------
    index : the rankings of a log. Without systems it is one.
    judged : the queries of the judgments beside it, shape (queries,); None if systems are compared with each other.
    """
    has = np.zeros((max(len(index.systems), 1), len(index.queries)), bool)
    has[index.system[index.answered], index.query[index.answered]] = True
    some: Array = np.any(has, axis=0)
    every: Array = np.all(has, axis=0)
    wanted: Array = some if judged is None else judged
    candidates: Array = some if judged is None else ~judged
    if not (wanted & ~every).any() or not (some & candidates).any():
        return {}
    # Only queries that some systems lack can have another spelling; compare their folded forms.
    at = np.flatnonzero(some & ~every if judged is None else some | judged)
    names = index.queries.values[at]
    form = spelling_codes(names, plain_ids)
    if form is None:
        return {}
    several = np.bincount(form)[form] > 1
    at, form, names = at[several], form[several], names.filter(pl.Series(several))
    has, wanted, candidates, total = has[:, at], wanted[at], candidates[at], has.sum(axis=1)
    # A form is clear if it means one query: then a query of that form is the other one, misspelt.
    if judged is None:
        clear: Array = np.max([np.bincount(form, mine) for mine in has], axis=0) < 2
    else:
        clear = np.bincount(form, wanted) == 1
    found = {}
    for system, mine in enumerate(has):
        ours, lost = mine & candidates & clear[form], ~mine & wanted & clear[form]
        ours, lost = (one & (np.bincount(form, other) > 0)[form] for one, other in ((ours, lost), (lost, ours)))
        if ours.any():
            first = int(ours.argmax())
            like = int((lost & (form == form[first])).argmax())
            example = " and ".join(in_quotes(names.row(first), names.row(like)))
            found[system] = OtherSpelling(int(ours.sum()), int(total[system]), int(lost.sum()), example)
    return found


def most_otherwise(index: Index, found: dict[int, OtherSpelling]) -> Seen:
    """Count what is written otherwise, for the system that does so most."""
    if not found:
        return Seen(0)
    system = max(found, key=lambda one: found[one].n / found[one].of)
    most, more = found[system], len(found) - 1
    whose = as_text(index.systems.values, system) if index.columns.system else "the log"
    others = f", and some of {more} more system{'s' if more > 1 else ''}" if more else ""
    way = f"{most.way[0].upper()}{most.way[1:]}"
    return Seen(most.n, most.of, most.example, {"whose": whose, "others": others, "said": most.example, "way": way})
