"""Checks of judgments by several annotators: their agreement, and what was made of judgments that differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.blocks import codes
from frame_metrics.data.groups import as_text, drawing_places
from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.roles.columns import judging
from frame_metrics.stats.agreement import kappa, weighted_kappa
from frame_metrics.verbs.audit.checks import About, Seen, check

ENOUGH = 10  # documents that two annotators both judged, so that their agreement says something
MOST = 100  # pairs of annotators that an audit lists


class Documents(NamedTuple):
    """The documents that were judged, with what their judgments are."""

    table: pl.DataFrame  # keys and document, "times" judged, whether they "differ", and are "tied" for a majority
    keys: list[str]
    rule: str | None  # that was said; None where none was

    def seen(self, which: str) -> Seen:
        """Return the documents of which this is true, of those with several judgments."""
        some = self.table.filter(which)
        return Seen(len(some), int((self.table["times"] > 1).sum()), as_text(some.select(self.keys)))


@check("error", "documents")
def documents_judged_in_two_ways(documents: Documents) -> Seen | None:
    """other verbs raise for them: say several= in judge(); what is told here is that of the majority"""
    return documents.seen("differ") if documents.rule is None else None


@check("info", "documents")
def documents_without_a_majority(documents: Documents) -> Seen | None:
    """several='majority' takes the lowest of the judgments that were given most often"""
    return documents.seen("tied") if documents.rule == "majority" else None


@check("fact", "documents")
def documents_judged_more_than_once(documents: Documents) -> Seen:
    """documents with several judgments, which differ for {differ} of them{so}"""
    again = documents.table.filter(pl.col("times") > 1)
    words = {"differ": int(again["differ"].sum())}
    return Seen(len(again), len(documents.table), as_text(again.select(documents.keys)) if len(again) else None, words)


@dataclass(frozen=True, eq=False)
class Annotators:
    """The agreement of each two annotators."""

    names: list[str]
    one: Array  # the number of the first of each two, shape (pairs,)
    other: Array  # that of the second
    both: Array  # documents that both judged
    same: Array  # and those of them with equal judgments
    kappa: Array
    weighted: Array | None  # kappa weighted by squared differences; None of labels

    def pair(self, at: int) -> str:
        """Return the names of two annotators."""
        return f"{self.names[self.one[at]]}, {self.names[self.other[at]]}"

    def words(self, at: int) -> dict[str, Any]:
        """Return the words about two annotators that messages leave open."""
        kappas = (self.kappa[at],) if self.weighted is None else (self.kappa[at], self.weighted[at])
        shown = ("undefined" if np.isnan(value) else f"{value:.3f}" for value in kappas)
        return {"pair": self.pair(at), "both": self.both[at], "kappa": ", weighted ".join(shown)}

    def seen(self, marked: Array) -> Seen:
        """Return the marked pairs, of those with enough documents."""
        enough = self.both >= ENOUGH
        at = np.flatnonzero(enough & marked)
        example = (self.pair(int(at[0])), self.words(int(at[0]))) if len(at) else ()
        return Seen(len(at), int(enough.sum()), *example)


@check("warning", "pairs of annotators")
def annotators_who_agree_no_better_than_by_chance(annotators: Annotators) -> Seen:
    """{pair} both judged {both} documents, and kappa is {kappa}: did they read the same guidelines?"""
    kappa = annotators.kappa if annotators.weighted is None else annotators.weighted
    return annotators.seen(kappa <= 0)


@check("info", "pairs of annotators")
def annotators_who_never_differ(annotators: Annotators) -> Seen:
    """{pair} gave equal judgments to all {both} documents that both judged: did each judge alone?"""
    return annotators.seen(annotators.kappa == 1)


@check("fact", "annotators", name="annotators")
def number_of_annotators(annotators: Annotators) -> Seen:
    """people, or models, who judged; pairs of them with documents that both judged: {pairs}{listed}"""
    pairs = len(annotators.both)
    listed = f", of which the {MOST} with the most are listed" if pairs > MOST else ""
    return Seen(len(annotators.names), None, None, {"pairs": pairs, "listed": listed})


class Agreement(NamedTuple):
    """Two of the annotators."""

    annotators: Annotators
    at: int


@check("fact", "documents")
def agreement_of_two_annotators(agreement: Agreement) -> Seen:
    """documents judged alike, of {both} that both judged: kappa is {kappa}"""
    annotators, at = agreement
    return Seen(int(annotators.same[at]), int(annotators.both[at]), annotators.pair(at), annotators.words(at))


def about_annotators(log: Log, rule: str | None) -> Iterator[About]:
    """Give what is looked at of single judgments, where several are of one document, or annotators are named.

    ``rule`` is what was said to make one of them; the log may have another, so that it can be read at all.
    """
    if log.judged is None or log.judged.each is None:
        return
    each, keys = log.judged.each, [*log.judged.keys, "doc"]
    so = "" if rule is None else f"; several={rule!r} makes one of them"
    yield About(_documents(each, keys, rule), {"so": so})
    if "annotator" in each.columns:
        annotators = _agreement(each, keys)
        yield About(annotators)
        yield from (About(Agreement(annotators, at)) for at in range(min(len(annotators.both), MOST)))


def _documents(each: pl.DataFrame, keys: list[str], rule: str | None) -> Documents:
    """Look at the judgments of each document: grades, and labels where there are none."""
    value = pl.col(judging(each)[0]).drop_nulls()
    seen = [pl.len().alias("times"), (value.n_unique() > 1).alias("differ")]
    seen += [(value.mode().len() > 1).alias("tied")] if rule == "majority" else []
    return Documents(each.group_by(keys, maintain_order=True).agg(seen), keys, rule)


def _agreement(each: pl.DataFrame, keys: list[str]) -> Annotators:
    """Compare the judgments of each two annotators, those with the most documents in common first."""
    value = judging(each)[0]
    who = drawing_places(each.select("annotator"))[0].astype(np.int64) - 1
    first = np.unique(who, return_index=True)[1]
    judgments = {"document": codes(each, keys)[0], "who": who, "value": each[value].cast(pl.Float64)}
    table = pl.DataFrame(judgments).drop_nulls("value")
    both = table.join(table, on="document").filter(pl.col("who") < pl.col("who_right"))
    both = both.sort("who", "who_right", "value", "value_right")  # so that sums do not depend on the order of the rows
    code = both["who"].to_numpy() * len(first) + both["who_right"].to_numpy()
    pairs, pair, size = np.unique(code, return_inverse=True, return_counts=True)
    one, other = (both[side].to_numpy() for side in ("value", "value_right"))
    order, n = np.argsort(-size, kind="stable"), len(pairs)
    same = np.bincount(pair, one == other, minlength=n)
    weighted = weighted_kappa(pair, one, other, n)[order] if value == "grade" else None
    names = [as_text(each.select("annotator"), int(row)) for row in first]
    pairs = pairs[order]
    numbers = (pairs // len(first), pairs % len(first), size[order], same[order])
    return Annotators(names, *numbers, kappa(pair, one, other, n)[order], weighted)
