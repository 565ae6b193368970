"""Checks of judgments by several annotators: their agreement, and the combination of judgments that differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.fast.codes import codes
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import as_text
from frame_metrics.measuring.annotators import pair_annotators
from frame_metrics.roles.columns import judgment_columns_in
from frame_metrics.stats.agreement import kappa, weighted_kappa
from frame_metrics.verbs.audit.checks import About, Seen, check

MIN_COMMON_DOCUMENTS = 10  # documents that two annotators both judged, so that their agreement says something


class Documents(NamedTuple):
    """The judged documents, with a summary of their judgments."""

    table: pl.DataFrame  # keys, the number of judgments "times", and marks "differ" and, for a majority, "tied"
    keys: list[str]
    rule: str | None  # ``several=``; None if it was not given

    def seen(self, which: str) -> Seen:
        """Count the documents with a mark, among those with several judgments; ``which``: the column of marks."""
        some = self.table.filter(which)
        return Seen(len(some), int((self.table["times"] > 1).sum()), as_text(some.select(self.keys)))


@check("error", "documents")
def documents_judged_in_two_ways(documents: Documents) -> Seen | None:
    """these have different judgments, so other verbs raise an error: combine them with several= in judge(). This audit
    takes the majority
    """
    return documents.seen("differ") if documents.rule is None else None


@check("info", "documents")
def documents_without_a_majority(documents: Documents) -> Seen | None:
    """several judgments are equally frequent, and none is more frequent: several='majority' takes the lowest of them"""
    return documents.seen("tied") if documents.rule == "majority" else None


@check("fact", "documents")
def documents_judged_more_than_once(documents: Documents) -> Seen:
    """documents with several judgments, which differ for {differ} of them{so}"""
    again = documents.table.filter(pl.col("times") > 1)
    words = {"differ": int(again["differ"].sum())}
    return Seen(len(again), len(documents.table), as_text(again.select(documents.keys)) if len(again) else None, words)


@record
class Annotators:
    """The agreement of each two annotators."""

    names: list[str]
    one: Array  # the number of the first of each two, shape (pairs,)
    other: Array  # that of the second
    both: Array  # documents that both judged
    kappa: Array
    weighted: Array | None  # kappa weighted by squared differences; None of labels

    def pair(self, at: int) -> str:
        """Return the names of two annotators."""
        return f"{self.names[self.one[at]]}, {self.names[self.other[at]]}"

    def seen(self, marked: Array) -> Seen:
        """Count the marked pairs of annotators, among those with enough common documents."""
        enough = self.both >= MIN_COMMON_DOCUMENTS
        at = np.flatnonzero(enough & marked)
        example = self.pair(int(at[0])) if len(at) else None
        return Seen(len(at), int(enough.sum()), example, {"both": int(self.both[at[0]])} if len(at) else {})


@check("warning", "pairs of annotators")
def annotators_who_agree_no_better_than_by_chance(annotators: Annotators) -> Seen:
    """kappa is not above 0 for the first pair, who both judged {both} documents. Did they read the same guidelines?
    agreement() compares all pairs
    """
    kappa = annotators.kappa if annotators.weighted is None else annotators.weighted
    return annotators.seen(kappa <= 0)


@check("info", "pairs of annotators")
def annotators_who_never_differ(annotators: Annotators) -> Seen:
    """the first pair gave equal judgments to all {both} documents that both judged. Did each of them judge alone?"""
    return annotators.seen(annotators.kappa == 1)


@check("fact", "annotators", name="annotators")
def number_of_annotators(annotators: Annotators) -> Seen:
    """people or models who judged; {pairs} pairs of them judged the same documents, and agreement() compares them"""
    return Seen(len(annotators.names), None, None, {"pairs": len(annotators.both)})


def about_annotators(log: Log | None, rule: str | None) -> Iterator[About]:
    """Yield the subjects of checks of single judgments, if documents may have several or annotators are named.

    Parameters
    ----------
    log : a log with all judgments; None if none are beside it.
    rule : ``several=`` as the caller gave it; the log may have another value, without which it could not be read.
    """
    if log is None or log.separate_judgments is None or log.separate_judgments.by_annotator is None:
        return
    each, keys = log.separate_judgments.by_annotator, log.separate_judgments.judgment_keys
    so = "" if rule is None else f"; several={rule!r} combines them"
    yield About(_documents(each, keys, rule), {"so": so})
    if "annotator" in each.columns:
        yield About(_agreement(each, keys))


def _documents(each: pl.DataFrame, keys: list[str], rule: str | None) -> Documents:
    """Summarise the judgments of each document: the grades, or the labels if there are no grades."""
    value = pl.col(judgment_columns_in(each)[0]).drop_nulls()
    seen = [pl.len().alias("times"), (value.n_unique() > 1).alias("differ")]
    seen += [(value.mode().len() > 1).alias("tied")] if rule == "majority" else []
    return Documents(each.group_by(keys, maintain_order=True).agg(seen), keys, rule)


def _agreement(each: pl.DataFrame, keys: list[str]) -> Annotators:
    """Compute the agreement of each pair of annotators; pairs with the most common documents come first."""
    value = judgment_columns_in(each)[0]
    pairs = pair_annotators(each, codes(each, keys)[0], value)
    size = np.bincount(pairs.pair, minlength=pairs.n)
    order = np.argsort(-size, kind="stable")
    weighted = weighted_kappa(pairs.pair, pairs.one, pairs.other, pairs.n)[order] if value == "grade" else None
    first, second, both = (side[order] for side in (pairs.first, pairs.second, size))
    return Annotators(pairs.names, first, second, both, kappa(pairs.pair, *pairs.codes, pairs.n)[order], weighted)
